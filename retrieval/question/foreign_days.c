#include "retrieval/question/foreign_days.h"

#include <string.h>

#include "index/sparse/language.h"
#include "kernels/utf8.h"
#include "retrieval/question/demand_words.h"

enum {
    DAYS = 7,
    NO_DAY = -1,
    EVERY_DAY = 0x7F,
    WEEKEND = 0x60,
    WORKING_DAYS = 0x1F,
    SIX_DAYS = 0x3F
};

/* As demand_word_fold has them. */
typedef struct day_words {
    const char *language;
    const char *full[DAYS];
    const char *in_short[DAYS];
    /* Names that are other words, too: days beside one of `beside`, before `tail`, or in a range ("segunda", the second). */
    const char *beside, *tail;
    const char *parts; /* behind a full name, in one word: "mittwochnachmittag" */
    const char *to;    /* between the ends of a range */
    const char *small; /* ... with an article: "du lundi au vendredi" */
    const char *opens; /* before a day of which no other end is said */
    const char *daily, *weekend, *working, *six; /* phrases, a comma between them */
} day_words;

/* clang-format off */
static const day_words tables[] = {
    {.language = "german",
     .full = {"montag montags montage montagen", "dienstag dienstags dienstage dienstagen", "mittwoch mittwochs mittwoche mittwochen",
              "donnerstag donnerstags donnerstage donnerstagen", "freitag freitags freitage freitagen",
              "samstag samstags samstage samstagen sonnabend sonnabends sonnabende sonnabenden", "sonntag sonntags sonntage sonntagen"},
     .in_short = {"mo", "di", "mi", "do", "fr", "sa", "so"},
     .parts = "vormittag vormittags mittag mittags nachmittag nachmittags abend abends morgen fruh nacht nachts",
     .to = "bis", .small = "den der dem zum einschliesslich", .opens = "ab bis",
     .daily = "taglich, jeden tag, alle tage, jeder tag, rund um die uhr", .weekend = "wochenende, wochenenden",
     .working = "unter der woche, wochentags, arbeitstags", .six = "werktags, werktag, werktagen, werktage"},
    {.language = "french",
     .full = {"lundi lundis", "mardi mardis", "mercredi mercredis", "jeudi jeudis", "vendredi vendredis", "samedi samedis", "dimanche dimanches"},
     .in_short = {"lun", "mar", "mer", "jeu", "ven", "sam", "dim"},
     .to = "au a jusqu", .small = "le du les au", .opens = "partir jusqu des",
     .daily = "tous les jours, chaque jour, quotidiennement, 7 jours sur 7", .weekend = "week end, weekend, week ends, weekends",
     .working = "en semaine, jours de semaine", .six = "jours ouvrables, jour ouvrable, jours ouvres"},
    {.language = "spanish",
     .full = {"lunes", "martes", "miercoles", "jueves", "viernes", "sabado sabados", "domingo domingos"},
     .in_short = {"lun l", "mar m", "mie mier x", "jue j", "vie v", "sab s", "dom d"},
     .to = "a al hasta", .small = "el los", .opens = "desde hasta partir",
     .daily = "todos los dias, cada dia, diariamente, a diario", .weekend = "fin de semana, fines de semana",
     .working = "entre semana, dias laborables, dia laborable, laborables", .six = NULL},
    {.language = "italian",
     .full = {"lunedi", "martedi", "mercoledi", "giovedi", "venerdi", "sabato sabati", "domenica domeniche"},
     .in_short = {"lun", "mar", "mer", "gio", "ven", "sab", "dom"},
     .to = "a al alla fino", .small = "il la al alla", .opens = "dal dalla fino partire",
     .daily = "tutti i giorni, ogni giorno, quotidianamente", .weekend = "fine settimana, weekend, week end",
     .working = "infrasettimanali, in settimana", .six = "feriali, giorno feriale"},
    {.language = "portuguese",
     .full = {"segunda segundas", "terca tercas", "quarta quartas", "quinta quintas", "sexta sextas", "sabado sabados", "domingo domingos"},
     .in_short = {"seg", "ter", "qua", "qui", "sex", "sab", "dom"},
     .beside = "a as na nas aos toda todas", .tail = "feira feiras",
     .to = "a as ate", .small = "o a os as", .opens = "desde ate partir",
     .daily = "todos os dias, cada dia, diariamente", .weekend = "fim de semana, fins de semana, final de semana, finais de semana",
     .working = "dias uteis, dia util, durante a semana", .six = NULL},
    {.language = "russian",
     .full = {"понедельник понедельника понедельнику понедельники понедельникам", "вторник вторника вторнику вторники вторникам",
              "среда среды среду среде средам", "четверг четверга четвергу четверги четвергам", "пятница пятницы пятницу пятнице пятницам",
              "суббота субботы субботу субботе субботам", "воскресенье воскресенья воскресенью воскресеньям"},
     .in_short = {"пн", "вт", "ср", "чт", "пт", "сб", "вс"},
     .to = "по до", .small = "", .opens = "с до",
     .daily = "ежедневно, каждыи день, без выходных", .weekend = "выходные, выходным, по выходным, в выходные",
     .working = "будни, будням, будние, будние дни, рабочие дни, рабочим дням", .six = NULL},
};
/* clang-format on */

static const day_words *words_of(int language) {
    return LANGUAGE_ROW(tables, language);
}

enum { MOST = 256 }; /* tokens that are kept at a time */

typedef struct token {
    word_token t;
    char folded[DEMAND_WORD_MOST];
} token;

typedef struct days_reader {
    const day_words *w;
    token v[MOST];
    size_t n;
} days_reader;

static bool is(const days_reader *r, size_t i, const char *list) {
    return i < r->n && demand_word_in(list, r->v[i].folded);
}

static bool is_dash(const days_reader *r, size_t i) {
    return i < r->n &&
           (word_token_is_dash(&r->v[i].t) || word_token_is(&r->v[i].t, "\xE2\x80\x94"));
}

static int listed(const char *const lists[DAYS], const char *folded) {
    for (int d = 0; d < DAYS; d++)
        if (demand_word_in(lists[d], folded)) return d;
    return NO_DAY;
}

/* "Mittwochnachmittag" */
static int with_part(const day_words *w, const char *folded) {
    for (int d = 0; w->parts && d < DAYS; d++) {
        const size_t n = strcspn(w->full[d], " ");
        if (!strncmp(folded, w->full[d], n) && demand_word_in(w->parts, folded + n)) return d;
    }
    return NO_DAY;
}

/* The day that token i says; *sure: it is no other word. */
static int name_at(const days_reader *r, size_t i, bool *sure) {
    const day_words *w = r->w;
    *sure = true;
    int d = i < r->n ? listed(w->full, r->v[i].folded) : NO_DAY;
    if (d == NO_DAY && i < r->n) d = with_part(w, r->v[i].folded);
    if (d != NO_DAY) {
        const bool other = w->beside && d < 5; /* the ordinals are Portuguese */
        *sure = !other || is(r, i + 1, w->tail) || (is_dash(r, i + 1) && is(r, i + 2, w->tail)) ||
                (i > 0 && is(r, i - 1, w->beside) && !(i + 1 < r->n && r->v[i + 1].t.letters));
        return d;
    }
    *sure = false;
    return i < r->n ? listed(w->in_short, r->v[i].folded) : NO_DAY;
}

/* One past the name of a day at token i, with its point and "-feira". */
static size_t behind_name(const days_reader *r, size_t i) {
    i++;
    if (i < r->n && word_token_is(&r->v[i].t, ".")) i++;
    if (is_dash(r, i) && is(r, i + 1, r->w->tail)) return i + 2;
    return is(r, i, r->w->tail) ? i + 1 : i;
}

/* The token at which the range that begins with the name before token i ends; 0: there is none. */
static size_t range_end(const days_reader *r, size_t i) {
    const bool dash = is_dash(r, i);
    bool sure;
    if (!dash && !is(r, i, r->w->to)) return 0;
    do i++;
    while (is(r, i, r->w->small) || (!dash && is(r, i, r->w->to)));
    return name_at(r, i, &sure) != NO_DAY ? i : 0;
}

/* Is a short form that ends before token i one: before a figure, a colon, a bar, or in a list with other days ("Sa, So 10-12")? */
static bool is_marked(const days_reader *r, size_t i) {
    bool sure;
    if (i >= r->n) return false;
    const word_token *t = &r->v[i].t;
    if (t->digits || word_token_is(t, ":") || word_token_is(t, "|")) return true;
    return (word_token_is(t, ",") || word_token_is(t, "/") || word_token_is(t, "+") ||
            demand_word_in("und et y e u и", r->v[i].folded)) &&
           name_at(r, i + 1, &sure) != NO_DAY;
}

/* A letter alone is a day in a range or before a colon only: "L-V". */
static bool is_letter(const days_reader *r, size_t i) {
    return r->v[i].t.n == 1;
}

static bool has_capital(const days_reader *r, size_t i) {
    return fo_is_upper(r->v[i].t.s[0]);
}

/* Short forms begin as their language writes its days: "Mo", "Di" in German, a capital or none in the others, and single letters large. */
static bool is_short_form(const days_reader *r, size_t i) {
    const bool large = !strcmp(r->w->language, "german") || is_letter(r, i);
    return !large || has_capital(r, i);
}

static uint8_t range(int a, int b) {
    uint8_t days = 0;
    for (int d = a;; d = (d + 1) % DAYS) {
        days |= (uint8_t)(1 << d);
        if (d == b) return days;
    }
}

/* Tokens from i on are the words of a phrase; how many, 0: they are not. */
static size_t phrase_at(const days_reader *r, size_t i, const char *phrase, size_t n) {
    size_t k = 0, at = 0;
    while (at < n) {
        const size_t word = strcspn(phrase + at, " ,");
        while (k && i + k < r->n && is_dash(r, i + k)) i++;
        if (i + k >= r->n || strlen(r->v[i + k].folded) != word ||
            memcmp(r->v[i + k].folded, phrase + at, word))
            return 0;
        k++;
        at += word + (at + word < n);
    }
    return k;
}

static bool phrase_of(const days_reader *r, size_t i, const char *phrases) {
    for (const char *s = phrases; s && *s;) {
        const size_t n = strcspn(s, ",");
        if (phrase_at(r, i, s, n)) return true;
        s += n;
        s += strspn(s, ", ");
    }
    return false;
}

static uint8_t days_of_phrase(const days_reader *r, size_t i) {
    const day_words *w = r->w;
    if (phrase_of(r, i, w->daily)) return EVERY_DAY;
    if (phrase_of(r, i, w->weekend)) return WEEKEND;
    if (phrase_of(r, i, w->working)) return WORKING_DAYS;
    return phrase_of(r, i, w->six) ? SIX_DAYS : 0;
}

/* "Ab Donnerstag", "à partir de jeudi", "hasta el viernes" */
static bool is_opened(const days_reader *r, size_t i) {
    while (i > 0 && (is(r, i - 1, "de del du d do da") || is(r, i - 1, r->w->small))) i--;
    return i > 0 && is(r, i - 1, r->w->opens);
}

static uint8_t read_days(const days_reader *r, bool *open) {
    uint8_t days = 0;
    bool listed_short =
        false; /* the name before is in a list, whose last one has no sign behind it */
    for (size_t i = 0; i < r->n;) {
        bool sure;
        const int d = name_at(r, i, &sure);
        days |= days_of_phrase(r, i);
        if (d == NO_DAY) {
            listed_short &= word_token_is(&r->v[i].t, ",") || is(r, i, "und et y e u и");
            i++;
            continue;
        }
        const size_t behind = behind_name(r, i), end = range_end(r, behind);
        if (!sure && (!is_short_form(r, i) ||
                      !(end || listed_short || (is_marked(r, behind) && !is_letter(r, i))))) {
            i++;
            continue;
        }
        bool end_sure;
        days |= end ? range(d, name_at(r, end, &end_sure)) : range(d, d);
        if (!end && is_opened(r, i)) *open = true;
        listed_short = true;
        i = end ? end + 1 : behind;
    }
    return days;
}

uint8_t foreign_days_in(int language, const char *text, size_t len, bool *open) {
    days_reader r; /* large: nothing is written ahead */
    bool unasked = false;
    uint8_t days = 0;
    if (!open) open = &unasked;
    *open = false;
    r.w = words_of(language);
    r.n = 0;
    if (!r.w) return 0;
    for (size_t at = 0;;) {
        token *t = &r.v[r.n];
        t->t = word_token_next(text, len, &at);
        if (t->t.n) demand_word_fold(t->folded, &t->t);
        if (t->t.n && ++r.n < MOST) continue;
        days |= read_days(&r, open);
        if (!t->t.n) return days;
        r.n = 0;
    }
}

bool foreign_days_question_asks(int language, const char *text, size_t len) {
    enum { FIRST = 4 }; /* the word that asks is among the first few */
    const demand_words *w = demand_words_of(language);
    size_t at = 0;
    for (size_t i = 0; w && i < FIRST; i++) {
        char folded[DEMAND_WORD_MOST];
        const word_token t = word_token_next(text, len, &at);
        if (!t.n) return false;
        demand_word_fold(folded, &t);
        const char *const lists[] = {w->when, w->who,  w->what, w->what_does,
                                     w->how,  w->much, w->many, w->where};
        for (size_t k = 0; k < sizeof lists / sizeof *lists; k++)
            if (demand_word_in(lists[k], folded)) return true;
    }
    return false;
}

bool foreign_day_named(int language, const char *word, size_t n) {
    const day_words *w = words_of(language);
    char folded[DEMAND_WORD_MOST];
    const word_token t = {.s = word, .n = n, .letters = true};
    if (!w || !demand_word_fold(folded, &t)[0]) return false;
    return listed(w->full, folded) != NO_DAY || with_part(w, folded) != NO_DAY ||
           listed(w->in_short, folded) != NO_DAY || demand_word_in(w->tail, folded) ||
           demand_word_in("wochenende wochenenden werktags werktag werktagen weekend week end "
                          "будни будням выходные выходным",
                          folded);
}
