#include "retrieval/question/compounds.h"

#include <string.h>

#include "index/sparse/language.h"
#include "kernels/words.h"

enum {
    SHORTEST = 4, /* bytes of a stem that may be part of another */
    FRONT = 3,    /* ... of what stands before it */
    REST = 4,     /* ... behind it */
};

/* Before a verb they make it another, and before a noun its opposite: "verkaufen" is no "kaufen", "Unfall" no "Fall". */
static const char bound[] = "be ent er ge miss ver zer un nicht";
/* They stand before a verb or, in a sentence, behind it. */
static const char particles[] =
    "ab an auf aus bei ein her hin los mit nach um vor weg weiter zu zur\xC3\xBC"
    "ck zuruck zusammen";

static bool says(const fact_text *t, const char *word, size_t n) {
    for (size_t i = 0; i < t->n_words; i++) {
        const fact_word *w = &t->words[i];
        if (w->end - w->start == n && memcmp(t->text + w->start, word, n) == 0) return true;
    }
    return false;
}

/* What stands before the stem in the longer one. */
static bool may_stand_before(const question *q, const char *front, size_t n) {
    if (fo_words_have_any_case(particles, front, n)) return says(&q->text, front, n);
    return n >= FRONT && !fo_words_have_any_case(bound, front, n);
}

static bool is_part(const question *q, const char *part, size_t n, const char *whole, size_t len) {
    if (n < SHORTEST || len <= n) return false;
    if (memcmp(whole + len - n, part, n) == 0) return may_stand_before(q, whole, len - n);
    return len - n >= REST && memcmp(whole, part, n) == 0;
}

bool compound_has_part(const char *whole, size_t len, const char *part, size_t n) {
    if (n < SHORTEST || len <= n) return false;
    if (len - n >= REST && memcmp(whole, part, n) == 0) return true;
    return len - n >= FRONT && memcmp(whole + len - n, part, n) == 0 &&
           !fo_words_have_any_case(particles, whole, len - n) &&
           !fo_words_have_any_case(bound, whole, len - n);
}

int compound_term_of(const question *q, const fact_text *t, size_t i) {
    const fact_word *w = &t->words[i];
    if (!language_joins_words(t->language) || t->language != q->text.language) return -1;
    if (!fact_is_content(w) || (w->flags & WORD_DIGIT)) return -1;
    const char *whole = t->stems.data + w->stem_at;
    for (size_t k = 0; k < q->n_words; k++) {
        const fact_word *asked = &q->text.words[q->words[k]];
        if (is_part(q, q->text.stems.data + asked->stem_at, asked->stem_len, whole, w->stem_len))
            return question_term_of(q, asked->id);
    }
    return -1;
}
