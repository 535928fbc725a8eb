#include "retrieval/question/foreign_often.h"

#include <string.h>

#include "retrieval/question/demand_words.h"
#include "retrieval/text/fact_classes.h"
#include "retrieval/text/facts.h"
#include "retrieval/text/word_tokens.h"

/* Two words, one behind the other or with one between them ("de quanto em quanto"), as they are written without case and accents. */
static const struct {
    const char *first, *then;
    bool apart;
} asking[] = {
    {"wie", "oft haufig regelmassig", false},
    {"welchen", "abstanden zeitabstanden", false},
    {"quelle quelles", "frequence frequences", false},
    {"les", "combien", false},
    {"cada", "cuanto cuantos cuantas quanto quantos quantas", false},
    {"que", "frecuencia frequencia", false},
    {"ogni", "quanto quanti quante", false},
    {"che quale", "frequenza", false},
    {"quanto", "quanto", true},
    {"как", "часто", false},
};

bool foreign_often_asked(const char *question, size_t len) {
    char words[3][DEMAND_WORD_MOST] = {"", "",
                                       ""}; /* the last, the one before it, the one before that */
    bool asked = false;
    size_t at = 0;
    for (word_token t; (t = word_token_next(question, len, &at)).n;) {
        memcpy(words[2], words[1], sizeof words[2]);
        memcpy(words[1], words[0], sizeof words[1]);
        demand_word_fold(words[0], &t);
        if (demand_word_in("kann darf konnen durfen", words[0]) &&
            demand_word_in("oft haufig", words[1]))
            return false; /* "Wie oft kann ich verlängern?" counts */
        for (size_t i = 0; i < sizeof asking / sizeof *asking; i++)
            asked |= demand_word_in(asking[i].then, words[0]) &&
                     demand_word_in(asking[i].first, words[asking[i].apart ? 2 : 1]);
    }
    return asked;
}

/* Of all six languages: where one of them writes a word of another, that is one of these mostly. */
static const char turns[] =
    "jede jeder jedes jeden jedem alle einmal zweimal dreimal viermal immer nie niemals stets "
    "standig selten "
    "oft haufig nach vor bei sobald wenn bevor nachdem morgens abends nachts montags dienstags "
    "mittwochs donnerstags "
    "freitags samstags sonntags werktags wochentags "
    "chaque tous toutes quotidien quotidienne hebdomadaire mensuel mensuelle annuel annuelle "
    "trimestriel trimestrielle "
    "semestriel semestrielle fois toujours jamais souvent rarement apres avant lorsque quand "
    "cada todos todas diario diaria semanal quincenal mensual anual trimestral semestral vez veces "
    "siempre nunca tras "
    "despues antes cuando "
    "ogni tutti tutte giornaliero giornaliera quotidiano quotidiana settimanale mensile annuale "
    "trimestrale semestrale "
    "volta volte sempre mai dopo prima quando "
    "quinzenal mensal vezes sempre apos depois "
    "каждыи каждая каждое каждую каждые каждого каждои раз раза ежедневно еженедельно ежемесячно "
    "ежегодно "
    "ежеквартально всегда никогда регулярно после перед";
static const char ends[] =
    "mal taglich wochentlich monatlich jahrlich stundlich massig ement mente";

bool foreign_often_in(int language, const char *text, size_t len) {
    const demand_words *w = demand_words_of(language);
    char word[DEMAND_WORD_MOST];
    word_token t;
    for (size_t at = word_tokens_mark(text, len); (t = word_token_next(text, len, &at)).n;) {
        demand_word_fold(word, &t);
        const char *behind = t.s + t.n, *end = text + len;
        while (behind < end && *behind == ' ') behind++;
        const bool degrees = (size_t)(end - behind) > 1 && !memcmp(behind, "\xC2\xB0", 2),
                   code = t.s > text && word_token_letter(t.s[-1]); /* "E7" */
        if (t.digits ? !degrees && !code
                     : ((fact_class_of(language, t.s, t.n) & (WORD_TIME | WORD_NUMERAL)) &&
                        !(w && demand_word_in(w->articles, word))) ||
                           demand_word_in(turns, word) || demand_word_ends(ends, word))
            return true;
    }
    return false;
}
