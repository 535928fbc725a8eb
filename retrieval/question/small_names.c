#include "retrieval/question/small_names.h"

#include <math.h>
#include <string.h>

#include "kernels/utf8.h"

enum { SHORTEST = 4, LONGEST = 32 };

/* Passages that a collection has to have, and of how many only one may say a name: below, ordinary words lack as well. */
static const double fewest = 1000, one_in = 2000;

/* Things that have no article there, either. */
static const char bare_things[] =
    "bank bread bus cash card change cheque church class college court credit debit experience "
    "foot food hand heart home hospital inside luggage memory milk money night noon outside "
    "overseas abroad phone prison school scratch start sugar text town train university water "
    "within work";

/* Behind these "to" may stand before a place or a service; else mostly before a verb: "get it to autoplay". */
static const char moves[] =
    "connect connects connecting connected export exporting import link linking linked migrate "
    "migrating move moving publish post push save saving send sending share sharing switch "
    "switching sync syncing synchronise synchronize upload uploading forward login log backup";

static bool is_of_small_letters(const char *s, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (s[i] < 'a' || s[i] > 'z') return false;
    return true;
}

static bool ends_in(const char *s, size_t n, const char *end) {
    const size_t k = strlen(end);
    return n > k && !memcmp(s + n - k, end, k);
}

/* "With feedly", "connect weechat to discord", and nothing more of the clause that is no stop word: not "with encrypted archives". */
static bool stands_as_name(const fact_text *t, size_t w) {
    if (w < 2 || !fact_is_content(&t->words[w])) return false;
    const fact_word *next = w + 1 < t->n_words ? &t->words[w + 1] : NULL;
    if (next && !(next->flags & (WORD_STOP | WORD_CLAUSE | WORD_INITIAL))) return false;
    if (t->words[w].flags & WORD_CLAUSE) return false;
    if (fact_word_in(t, w - 1, "with into via from")) return true;
    for (size_t i = w - 1; fact_word_in(t, w - 1, "to") && i-- > 0;)
        if (fact_word_in(t, i, moves)) return true;
    return false;
}

/* How many passages say the term. */
static double passages_with(const lexicon *lx, double absent, const char *term, size_t n) {
    return exp(absent - (double)lx->idf(lx->idf_ctx, term, n)) / 2 - 0.5;
}

/* Does the index have a term of which two letters changed places, or one was left out? Two passages are no slip themselves. */
static bool is_a_slip(const lexicon *lx, double absent, const char *term, size_t n) {
    char other[LONGEST + 1];
    for (size_t i = 0; i + 1 < n; i++) {
        memcpy(other, term, n);
        other[i] = term[i + 1];
        other[i + 1] = term[i];
        if (other[i] != other[i + 1] && passages_with(lx, absent, other, n) > 1.5) return true;
    }
    for (size_t i = 1; i <= n; i++)
        for (char c = 'a'; c <= 'z'; c++) {
            memcpy(other, term, i);
            other[i] = c;
            memcpy(other + i + 1, term + i, n - i);
            if (passages_with(lx, absent, other, n + 1) > 1.5) return true;
        }
    return false;
}

bool small_names_is_one(const fact_text *t, size_t w, const lexicon *lx) {
    const fact_word *word = &t->words[w];
    const char *s = t->text + word->start, *stem = t->stems.data + word->stem_at;
    const size_t n = word->end - word->start;
    if (!lx->idf || t->language >= 0 || n < SHORTEST || n >= LONGEST || word->stem_len >= LONGEST ||
        !is_of_small_letters(s, n) || (word->flags & (WORD_CALENDAR | WORD_TIME | WORD_NUMERAL)))
        return false;
    if ((ends_in(s, n, "s") && !ends_in(s, n, "ss")) || ends_in(s, n, "ing") ||
        ends_in(s, n, "ed") || fact_word_in(t, w, bare_things) || !stands_as_name(t, w))
        return false;
    /* a blank is in no term: what the index lacks weighs as much */
    const double absent = (double)lx->idf(lx->idf_ctx, " ", 1), all = exp(absent) / 2 - 1;
    return all >= fewest &&
           passages_with(lx, absent, stem, word->stem_len) < fmax(0.5, all / one_in) &&
           !is_a_slip(lx, absent, stem, word->stem_len);
}
