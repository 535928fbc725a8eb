#include "retrieval/claims/claim_names.h"

#include <string.h>

#include "kernels/utf8.h"

static bool ends_in(const char *s, size_t n, const char *tail) {
    size_t m = strlen(tail);
    return n > m && memcmp(s + n - m, tail, m) == 0;
}

bool claim_acronym_stands(const char *s, size_t n, const fact_text *t, size_t first, size_t end) {
    if (n < 2 || n > 8) return false;
    for (size_t i = 0; i < n; i++)
        if (!(s[i] >= 'A' && s[i] <= 'Z')) return false;
    for (size_t at = first; at + n <= end; at++) {
        size_t k = 0;
        for (size_t w = at; w < end && k < n; w++) {
            char c = t->text[t->words[w].start];
            if (!fact_is_content(&t->words[w]) && (c | 0x20) != (s[k] | 0x20)) continue;
            if ((c & ~0x20) != s[k]) break;
            k++;
        }
        if (k == n) return true;
    }
    return false;
}

/* "Uhr" behind a figure is of a time, which is compared as a number. */
static bool is_of_time(const fact_text *t, const fact_word *w) {
    static const char hour[] = "Uhr";
    size_t i = w->start;
    if (w->end - w->start != strlen(hour) || memcmp(t->text + i, hour, strlen(hour)) != 0)
        return false;
    while (i > 0 && !fo_is_digit(t->text[i - 1]) && w->start - i < 3 &&
           (fo_is_blank(t->text[i - 1]) || (unsigned char)t->text[i - 1] >= 0x80))
        i--;
    return i > 0 && fo_is_digit(t->text[i - 1]);
}

bool claim_is_name(const fact_text *t, const fact_word *w) {
    if (w->flags & (WORD_STOP | WORD_PART | WORD_NUMERAL | WORD_DATED)) return false;
    const char *s = t->text + w->start;
    size_t n = w->end - w->start;
    if (w->flags & WORD_DIGIT) { /* a number names nothing: citations.c compares those */
        if (fo_is_digit(s[0])) return fact_digits_name(s, n);
        for (size_t i = 0; i < n; i++)
            if (fo_is_letter(s[i])) return true;
        return false;
    }
    if (!(w->flags & WORD_CAPITAL) || is_of_time(t, w)) return false;
    if (!(w->flags & WORD_INITIAL)) return true;
    static const char *const common[] = {"s",    "ing",  "ly",   "ed",  "tion", "ment",
                                         "ness", "ance", "ence", "ity", "ough", "ever",
                                         "ide",  "ause", "ward", "ore"};
    for (size_t i = 0; i < sizeof common / sizeof *common; i++)
        if (ends_in(s, n, common[i])) return false;
    return n > 3;
}

enum {
    MOST_WORDS = 128, /* of claim and sentence that are laid side by side; more are not looked at */
    MOST_BETWEEN = 4, /* words of weight that may have been put in, or taken out, at one place */
};

/* Words of claim and sentence that follow each other in both: the longest common subsequence. */
typedef struct alignment {
    const fact_text *claim, *quote;
    size_t n, w0, n_quote; /* words of the claim; the sentence's first; how many it has */
    uint8_t longest[MOST_WORDS + 1][MOST_WORDS + 1];
} alignment;

static bool same_word(const alignment *a, size_t i, size_t j) {
    return a->claim->words[i].id == a->quote->words[a->w0 + j].id;
}

/* False where either is too long. */
static bool align(alignment *a, const fact_text *claim, const fact_text *quote,
                  const fact_sentence *s) {
    *a = (alignment){
        .claim = claim, .quote = quote, .n = claim->n_words, .w0 = s->w0, .n_quote = s->w1 - s->w0};
    if (a->n > MOST_WORDS || a->n_quote > MOST_WORDS) return false;
    for (size_t i = a->n; i-- > 0;)
        for (size_t j = a->n_quote; j-- > 0;) {
            uint8_t skip = a->longest[i + 1][j] > a->longest[i][j + 1] ? a->longest[i + 1][j]
                                                                       : a->longest[i][j + 1];
            uint8_t both = (uint8_t)(a->longest[i + 1][j + 1] + 1);
            a->longest[i][j] = same_word(a, i, j) && both > skip ? both : skip;
        }
    return true;
}

static size_t times(const fact_text *t, size_t first, size_t end, uint64_t id) {
    size_t n = 0;
    for (size_t i = first; i < end; i++) n += t->words[i].id == id;
    return n;
}

/* A name among words [first, end) of t, whose [t0, t1) say it more often than [w0, w1) of `other` do; few words
 * beside it. */
static const fact_word *only_name(const fact_text *t, size_t t0, size_t t1, size_t first,
                                  size_t end, const fact_text *other, size_t w0, size_t w1) {
    const fact_word *name = NULL;
    size_t content = 0;
    for (size_t i = first; i < end; i++) {
        const fact_word *w = &t->words[i];
        content += fact_is_content(w);
        if (!name && claim_is_name(t, w) && times(t, t0, t1, w->id) > times(other, w0, w1, w->id))
            name = w;
    }
    return content <= MOST_BETWEEN ? name : NULL;
}

/* What stands between two words that claim and sentence share. */
typedef struct gap {
    size_t i0, i, j0, j; /* words [i0, i) of the claim, [j0, j) of the sentence */
} gap;

/* "Barack Obama" and "President Obama" are one; so are a name and its initials. */
static bool may_be_one(const alignment *a, const gap *g, const fact_word *claimed,
                       const fact_word *quoted) {
    const fact_text *c = a->claim, *q = a->quote;
    if (g->i < a->n && g->j < a->n_quote && claim_is_name(c, &c->words[g->i]) &&
        c->words[g->i].start == c->words[g->i - 1].end + 1)
        return true;
    return claim_acronym_stands(c->text + claimed->start, claimed->end - claimed->start, q,
                                a->w0 + g->j0, a->w0 + g->j) ||
           claim_acronym_stands(q->text + quoted->start, quoted->end - quoted->start, c, g->i0,
                                g->i);
}

static bool is_another(const alignment *a, const gap *g) {
    const size_t w0 = a->w0, w1 = w0 + a->n_quote;
    const fact_word *claimed = only_name(a->claim, 0, a->n, g->i0, g->i, a->quote, w0, w1);
    const fact_word *quoted = only_name(a->quote, w0, w1, w0 + g->j0, w0 + g->j, a->claim, 0, a->n);
    return claimed && quoted && !may_be_one(a, g, claimed, quoted);
}

/* Where the sentence has one name, the claim has another. */
static bool displaces(const alignment *a) {
    gap g = {0};
    for (;;) {
        bool end = g.i == a->n || g.j == a->n_quote;
        if (end) g.i = a->n, g.j = a->n_quote;
        if (end ||
            (same_word(a, g.i, g.j) && a->longest[g.i][g.j] == a->longest[g.i + 1][g.j + 1] + 1)) {
            if (is_another(a, &g)) return true;
            if (end) return false;
            g.i0 = ++g.i;
            g.j0 = ++g.j;
        } else if (a->longest[g.i + 1][g.j] >= a->longest[g.i][g.j + 1]) {
            g.i++;
        } else {
            g.j++;
        }
    }
}

/* The sentence that has most of the claim is held against it; where two have as much, one that agrees will do. */
bool claim_names_keep_place(const fact_text *claim, const fact_text *text) {
    alignment a;
    uint8_t most = 0;
    bool kept = true;
    for (size_t s = 0; s < text->n_sentences; s++) {
        if (!align(&a, claim, text, &text->sentences[s])) continue;
        uint8_t n = a.longest[0][0];
        if (n < most || 2 * (size_t)n < a.n) continue;
        bool keeps = !displaces(&a);
        kept = n > most ? keeps : kept || keeps;
        most = n;
    }
    return kept;
}
