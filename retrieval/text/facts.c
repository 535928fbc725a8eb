/* The closed classes are looked up by the hash of the lower-cased word in a table that is built
 * once; everything else is a single pass over the words of the analysis. */
#include "retrieval/text/facts.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "data/chunk/chunk.h"
#include "index/sparse/language.h"
#include "kernels/utf8.h"
#include "retrieval/text/fact_classes.h"
#include "retrieval/text/small_letters.h"

enum { CLASS_SLOTS = 1024, CLASS_WORD = 15 };

/* clang-format off */
static const struct { uint32_t flags; const char *words; } class_lists[] = {
    {WORD_STOP, "i me my we our us you your he him his she her hers them itself himself themselves would "
     "should could can may might must shall than too very just up down out about over under again "
     "also any all each both some more most other only own same many much were am been being "
     "having do does did so s t re ve ll d m"},
    {WORD_NUMERAL, "one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
     "fifteen sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty "
     "ninety hundred thousand million billion trillion dozen half quarter twice once first second "
     "third fourth fifth sixth seventh eighth ninth tenth"},
    {WORD_CALENDAR, "january february march april may june july august september october november "
     "december jan feb mar apr jun jul aug sep sept oct nov dec monday tuesday wednesday thursday "
     "friday saturday sunday"},
    {WORD_TIME, "century centuries decade decades year years month months week weeks day days hour "
     "hours minute minutes bc ad bce ce era spring summer autumn winter morning night today "
     "yesterday tomorrow midnight noon"},
    {WORD_NEGATION | WORD_STOP, "not no never none neither nor cannot without except nobody nothing nowhere "
     "dont doesnt didnt isnt arent wasnt werent cant couldnt wont wouldnt "
     "nicht kein keine keinen keiner keinem niemals ohne ne pas jamais sans aucun aucune nunca "
     "ninguno não niet geen nooit zonder inte aldrig ikke ei не нет никогда без"},
    {WORD_REASON, "because due since therefore hence thus result reason caused cause causes causing led "
     "leading order allow avoid prevent enable purpose owing"},
    {WORD_PLACE, "in at near from between through across along within outside inside around "
     "north south east west northern southern eastern western"},
    {WORD_CLAUSE, "but although though whereas while however yet unless because"},
};
/* clang-format on */

typedef struct class_slot {
    char word[CLASS_WORD + 1];
    uint32_t flags;
} class_slot;

static class_slot classes[CLASS_SLOTS]; /* immutable after classes_build */
static pthread_once_t classes_once = PTHREAD_ONCE_INIT;

static uint64_t hash_bytes(const char *s, size_t n) { /* FNV-1a, finished by a multiply-shift */
    uint64_t h = 0xCBF29CE484222325u;
    for (size_t i = 0; i < n; i++) h = (h ^ (unsigned char)s[i]) * 0x100000001B3u;
    h ^= h >> 32;
    h *= 0xD6E8FEB86659FD93u;
    return h ^ h >> 32;
}

static class_slot *class_find(const char *word, size_t n) {
    for (uint64_t h = hash_bytes(word, n);; h++) {
        class_slot *c = &classes[h % CLASS_SLOTS];
        if (!c->word[0] || (strncmp(c->word, word, n) == 0 && c->word[n] == 0)) return c;
    }
}

static void classes_build(void) {
    for (size_t i = 0; i < sizeof class_lists / sizeof *class_lists; i++) {
        for (const char *s = class_lists[i].words; *s;) {
            size_t n = strcspn(s, " ");
            class_slot *c = class_find(s, n);
            memcpy(c->word, s, n);
            c->flags |= class_lists[i].flags;
            s += n + (s[n] == ' ');
        }
    }
}

static char to_lower(char c) {
    return fo_is_upper(c) ? (char)(c | 0x20) : c;
}

/* Upper case beyond ASCII, for the scripts that have it: Latin-1, Latin Extended-A, Greek,
 * Cyrillic, by their code ranges. */
static bool is_capital(const char *s, size_t n) {
    if (n == 0) return false;
    if ((unsigned char)*s < 0x80) return fo_is_upper(*s);
    int32_t cp;
    fo_utf8_decode(s, n, &cp);
    if (cp >= 0xC0 && cp <= 0xDE) return cp != 0xD7;
    if (cp >= 0x100 && cp <= 0x17F) return (cp <= 0x137 || cp >= 0x14A) == !(cp & 1);
    return (cp >= 0x391 && cp <= 0x3A9) || (cp >= 0x400 && cp <= 0x42F) || cp == 0x386 ||
           (cp >= 0x388 && cp <= 0x38F);
}

/* Of two nouns of German, is the first one how much there is of the second, or when: "eine Maschine Wäsche", "zwei Tage Urlaub",
 * "am Tag Klavier"? Such are no name of two words. */
static bool measures_next(const fact_text *t, size_t i) {
    static const char counts[] =
        "ein eine einen einem einer pro je jede jeder jedes jeden wieviel wieviele viele";
    if (t->words[i].flags & (WORD_TIME | WORD_CALENDAR)) return true;
    return i > 0 && (fact_word_in(t, i - 1, counts) ||
                     (t->words[i - 1].flags & (WORD_NUMERAL | WORD_DIGIT)));
}

bool fact_is_named(const fact_text *t, size_t i) {
    const fact_word *w = &t->words[i];
    if (!(w->flags & WORD_CAPITAL) || (w->flags & WORD_INITIAL)) return false;
    if (t->capitals) return false;
    if (!language_capitalises_nouns(t->language)) return true;
    const bool behind = i > 0 && (w[-1].flags & (WORD_CAPITAL | WORD_INITIAL)) == WORD_CAPITAL,
               before = i + 1 < t->n_words && (w[1].flags & WORD_CAPITAL);
    return (behind && !measures_next(t, i - 1)) || (before && !measures_next(t, i));
}

static uint32_t word_flags(const char *s, size_t n) {
    uint32_t flags = is_capital(s, n) ? WORD_CAPITAL : 0;
    for (size_t i = 0; i < n; i++)
        if (fo_is_digit(s[i])) flags |= WORD_DIGIT;
    if (n >= 3 && to_lower(s[n - 1]) == 't' &&
        (s[n - 2] == '\'' || (n >= 5 && memcmp(s + n - 4, "\xE2\x80\x99", 3) == 0)))
        flags |= WORD_NEGATION | WORD_STOP;
    if (n > CLASS_WORD) return flags;
    char lower[CLASS_WORD] = "";
    for (size_t i = 0; i < n; i++) lower[i] = to_lower(s[i]);
    return flags | class_find(lower, n)->flags;
}

/* True when the gap text[from..to) ends a clause. A single line break does not: text is wrapped. */
static bool gap_divides(const char *text, size_t from, size_t to) {
    size_t lines = 0;
    for (size_t i = from; i < to; i++) {
        switch (text[i]) {
        case ',':
        case ';':
        case ':':
        case '(':
        case ')':
        case '.':
        case '!':
        case '?':
            return true;
        case '\n':
            if (++lines > 1) return true;
            break;
        case '\xE2': /* en and em dash */
            if (i + 2 < to && text[i + 1] == '\x80' &&
                (text[i + 2] == '\x93' || text[i + 2] == '\x94'))
                return true;
            break;
        default:
            break;
        }
    }
    return false;
}

typedef struct reading {
    fact_text *t;
    int language; /* other than English; -1 */
    fo_err *err;
} reading;

static int take_word(void *ctx, const analyzed_term *x) {
    reading *r = ctx;
    fact_text *t = r->t;
    if (t->n_words == t->cap_words) {
        size_t cap = t->cap_words ? 2 * t->cap_words : 256, bytes;
        fact_word *p = fo_mul_size(cap, sizeof *p, &bytes) ? realloc(t->words, bytes) : NULL;
        if (!p) return fo_fail(r->err, FO_ENOMEM, "out of memory for the words of a text");
        t->words = p;
        t->cap_words = cap;
    }
    const fact_word *before = t->n_words ? &t->words[t->n_words - 1] : NULL;
    uint32_t flags = word_flags(t->text + x->start, x->end - x->start);
    if (r->language >= 0)
        flags |= fact_class_of(r->language, t->text + x->start, x->end - x->start);
    if (x->stop) flags |= WORD_STOP;
    if (x->part) flags |= WORD_PART;
    if (before && before->end < x->start && gap_divides(t->text, before->end, x->start))
        flags |= WORD_CLAUSE;
    t->words[t->n_words++] = (fact_word){.id = hash_bytes(x->term, x->len),
                                         .start = (uint32_t)x->start,
                                         .end = (uint32_t)x->end,
                                         .stem_at = (uint32_t)t->stems.len,
                                         .stem_len = (uint32_t)x->len,
                                         .position = (uint32_t)x->position,
                                         .flags = flags};
    fo_buf_add(&t->stems, x->term, x->len);
    return t->stems.failed ? fo_fail(r->err, FO_ENOMEM, "out of memory for the words of a text")
                           : 0;
}

static int read_sentences(fact_text *t, fo_err *err) {
    size_t at = 0, w = 0;
    while (at < t->len) {
        size_t b0 = t->before, end = sentence_end(t->text - b0, b0 + t->len, b0 + at) - b0;
        if (end <= at || end > t->len) end = t->len;
        size_t a = at, b = end;
        while (a < b && fo_is_blank(t->text[a])) a++;
        while (b > a && fo_is_blank(t->text[b - 1])) b--;
        at = end;
        if (a == b) continue;
        if (t->n_sentences == t->cap_sentences) {
            size_t cap = t->cap_sentences ? 2 * t->cap_sentences : 32, bytes;
            fact_sentence *p =
                fo_mul_size(cap, sizeof *p, &bytes) ? realloc(t->sentences, bytes) : NULL;
            if (!p) return fo_fail(err, FO_ENOMEM, "out of memory for the sentences of a text");
            t->sentences = p;
            t->cap_sentences = cap;
        }
        size_t w0 = w;
        while (w < t->n_words && t->words[w].start < b) w++;
        if (w > w0) t->words[w0].flags |= WORD_INITIAL;
        t->sentences[t->n_sentences++] =
            (fact_sentence){(uint32_t)a, (uint32_t)b, (uint32_t)w0, (uint32_t)w};
    }
    return FO_OK;
}

int fact_text_read(fact_text *out, analyzer *a, const char *text, size_t len, fo_err *err) {
    return fact_passage_read(out, a, text, len, 0, err);
}

int fact_passage_read(fact_text *out, analyzer *a, const char *text, size_t len, size_t before,
                      fo_err *err) {
    pthread_once(&classes_once, classes_build);
    out->text = text;
    out->len = len;
    out->before = before;
    out->capitals = small_letters_lack(text, len);
    out->n_words = out->n_sentences = 0;
    fo_buf_clear(&out->stems);
    if (len >= UINT32_MAX) return fo_fail(err, FO_ELIMIT, "a text of 4 GiB or more");
    out->language = analyzer_language(a);
    reading r = {out, out->language, err};
    int rc = analyze(a, text, len, take_word, &r);
    return !rc ? read_sentences(out, err) : rc;
}

void fact_text_deinit(fact_text *t) {
    free(t->words);
    free(t->sentences);
    fo_buf_free(&t->stems);
    *t = (fact_text){0};
}

double fact_word_idf(const lexicon *lx, const fact_text *t, const fact_word *w) {
    if (!lx->idf) return 1;
    double v = lx->idf(lx->idf_ctx, t->stems.data + w->stem_at, w->stem_len);
    return v > 1e-3 ? v : 1e-3; /* NAN too: a share needs a positive mass */
}
