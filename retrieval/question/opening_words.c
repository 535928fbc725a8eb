#include "retrieval/question/opening_words.h"

#include "index/sparse/language.h"
#include "kernels/utf8.h"
#include "retrieval/question/demand_words.h"

/* As demand_word_fold has them. */
/* clang-format off */
typedef struct opening_table { const char *language, *is_open, *hours; } opening_table;
static const opening_table tables[] = {
    {"german", "offnet offnen geoffnet offen aufmacht schliesst schliessen geschlossen zumacht",
     "offnungszeiten offnungszeit sprechzeiten sprechzeit sprechstunden sprechstunde geschaftszeiten burozeiten betriebszeiten ladenzeiten badezeiten"},
    {"french", "ouvre ouvrent ouvrir ouvert ouverte ouverts ouvertes ferme ferment fermer fermee fermes fermees",
     "horaires horaire ouverture fermeture permanence permanences"},
    {"spanish", "abre abren abrir abierto abierta abiertos abiertas cierra cierran cerrar cerrado cerrada cerrados cerradas atiende atienden",
     "horario horarios apertura cierre"},
    {"italian", "apre aprono aprire aperto aperta aperti aperte chiude chiudono chiudere chiuso chiusa chiusi chiuse",
     "orario orari apertura chiusura"},
    {"portuguese", "abre abrem abrir aberto aberta abertos abertas fecha fecham fechar fechado fechada encerra encerram encerrado encerrada atende funciona funcionam",
     "horario horarios funcionamento atendimento expediente"},
    {"russian", "открыт открыта открыто открыты открывается открываются закрыт закрыта закрыто закрыты закрывается закрываются работает работают",
     "режим график часы расписание"},
};
/* clang-format on */

static bool word_in(const char *list, const fact_text *t, size_t i) {
    char folded[DEMAND_WORD_MOST];
    const fact_word *w = &t->words[i];
    const word_token token = {.s = t->text + w->start, .n = w->end - w->start, .letters = true};
    return demand_word_in(list, demand_word_fold(folded, &token));
}

static bool asks_for_hours(const demands *d) {
    return d->days || d->detail == DETAIL_CLOCK || d->detail == DETAIL_WHEN;
}

/* "Por la tarde", "le matin": a part of the day, and the hours that are of it. */
/* clang-format off */
static const struct { const char *words; int from, to; } parts[] = {
    {"vormittag vormittags morgen morgens matin matinee mattina mattino mattinata manha утром утра", 5, 12},
    {"nachmittag nachmittags tarde midi pomeriggio днем", 13, 19},
    {"abend abends soir soiree noche sera serata noite вечером вечера", 17, 24},
};
/* clang-format on */

/* The hour that word i begins with; -1: none. */
static int hour_of(const fact_text *t, size_t i) {
    const fact_word *w = &t->words[i];
    int hour = 0;
    size_t n = 0;
    while (w->start + n < w->end && n < 3 && fo_is_digit(t->text[w->start + n]))
        hour = 10 * hour + t->text[w->start + n++] - '0';
    return n == 1 || n == 2 ? hour : -1;
}

/* "16:00-19:30" is in the afternoon. */
static int part_of_day_of(const question *q, const fact_text *t, size_t i) {
    const int hour = (t->words[i].flags & WORD_DIGIT) ? hour_of(t, i) : -1;
    for (size_t k = 0; hour >= 0 && k < sizeof parts / sizeof *parts; k++) {
        if (hour < parts[k].from || hour > parts[k].to) continue;
        for (size_t j = 0; j < q->text.n_words; j++) {
            const int term = question_term_of(q, q->text.words[j].id);
            if (term >= 0 && word_in(parts[k].words, &q->text, j)) return term;
        }
    }
    return -1;
}

/* The term of its word for being open or closed; -1: the question has none. */
static int term_for_open(const question *q, const opening_table *table) {
    for (size_t j = 0; j < q->text.n_words; j++) {
        const int term = question_term_of(q, q->text.words[j].id);
        if (term >= 0 && word_in(table->is_open, &q->text, j)) return term;
    }
    return -1;
}

int opening_term_of(const question *q, const fact_text *t, size_t i) {
    const opening_table *table = LANGUAGE_ROW(tables, t->language);
    if (!table || t->language != q->text.language || !asks_for_hours(&q->demands)) return -1;
    const int open = term_for_open(q, table);
    if (open >= 0 && (t->words[i].flags & WORD_DIGIT)) return part_of_day_of(q, t, i);
    return word_in(table->is_open, t, i) || word_in(table->hours, t, i) ? open : -1;
}
