/* The check compares two small sets of facts. It reads no meaning: a claim that swaps two names
 * which both stand in the quote passes (docs/answers.md says how often such things happen). */
#include "retrieval/citations.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "retrieval/facts.h"

const double citation_min_coverage = 0.6;

enum { NEGATION_REACH = 3 };

/* What is compared: the claim, or the quote with its title. */
typedef struct side {
    fact_text text;
    fact_numbers numbers;
    bool *negated;  /* per word: in reach of a negation */
    bool *denied;   /* per word: the first content word behind one */
    bool negations; /* there is one at all */
} side;

/* "No. 5" is a number, "not only" denies nothing, "no longer/more than" only limits. */
static bool is_negation(const fact_text *t, size_t i) {
    const fact_word *w = &t->words[i];
    if (!(w->flags & WORD_NEGATION)) return false;
    size_t n = w->end - w->start;
    const char *s = t->text + w->start;
    if (n == 2 && (s[0] | 0x20) == 'n' && s[1] == 'o' && w->end + 2 < t->len &&
        (t->text[w->end] == '.' || t->text[w->end] == ' ') &&
        isdigit((unsigned char)t->text[w->end + 1 + (t->text[w->end + 1] == ' ')]))
        return false;
    if (i + 1 < t->n_words) {
        const fact_word *next = &t->words[i + 1];
        size_t m = next->end - next->start;
        const char *p = t->text + next->start;
        if (n == 3 && (m == 4 || m == 6) &&
            (memcmp(p, "only", 4) == 0 || (m == 6 && memcmp(p, "merely", 6) == 0)))
            return false;
    }
    return true;
}

/* Marks what each negation reaches: up to NEGATION_REACH content words behind it in its clause. */
static void mark_negations(side *s) {
    const fact_text *t = &s->text;
    for (size_t i = 0; i < t->n_words; i++) {
        if (!is_negation(t, i)) continue;
        s->negations = true;
        size_t content = 0;
        for (size_t j = i + 1; j < t->n_words && content < NEGATION_REACH; j++) {
            if (t->words[j].flags & (WORD_CLAUSE | WORD_INITIAL)) break;
            if (t->words[j].flags & (WORD_STOP | WORD_PART)) continue;
            s->negated[j] = true;
            if (content++ == 0) s->denied[j] = true;
        }
    }
}

static int side_read(side *s, analyzer *a, const char *text, size_t len, fo_err *err) {
    int rc = fact_text_read(&s->text, a, text, len, err);
    if (rc == FO_OK) rc = fact_numbers_read(&s->numbers, text, len, err);
    if (rc != FO_OK) return rc;
    s->negated = calloc(s->text.n_words + 1, sizeof *s->negated);
    s->denied = calloc(s->text.n_words + 1, sizeof *s->denied);
    if (!s->negated || !s->denied) return fo_fail(err, FO_ENOMEM, "out of memory for a citation");
    mark_negations(s);
    return FO_OK;
}

static void side_deinit(side *s) {
    fact_text_deinit(&s->text);
    fact_numbers_deinit(&s->numbers);
    free(s->negated);
    free(s->denied);
    *s = (side){0};
}

static bool has_word(const fact_text *t, uint64_t id) {
    for (size_t i = 0; i < t->n_words; i++)
        if (t->words[i].id == id) return true;
    return false;
}

/* ---- numbers ----------------------------------------------------------------------------- */

static bool same_value(double a, double b) {
    return fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b));
}

static bool number_stands(const fact_number *x, const side *quote, const fact_numbers *title) {
    bool found = false;
    for (size_t i = 0; i < quote->numbers.n; i++) {
        const fact_number *y = &quote->numbers.v[i];
        if (!same_value(x->value, y->value)) continue;
        if (x->unit == UNIT_NONE || y->unit == UNIT_NONE || x->unit == y->unit) return true;
    }
    for (size_t i = 0; i < title->n && !found; i++) found = same_value(x->value, title->v[i].value);
    return found;
}

static bool numbers_agree(const side *claim, const side *quote, const fact_numbers *title) {
    for (size_t i = 0; i < claim->numbers.n; i++) {
        const fact_number *x = &claim->numbers.v[i];
        if (!x->weak && !number_stands(x, quote, title)) return false;
    }
    return true;
}

/* ---- names ------------------------------------------------------------------------------- */

static bool ends_in(const char *s, size_t n, const char *tail) {
    size_t m = strlen(tail);
    return n > m && memcmp(s + n - m, tail, m) == 0;
}

/* Letters of an acronym against the initials of consecutive words: WHO, World Health Organization.
 */
static bool acronym_stands(const char *s, size_t n, const fact_text *t) {
    if (n < 2 || n > 8) return false;
    for (size_t i = 0; i < n; i++)
        if (!(s[i] >= 'A' && s[i] <= 'Z')) return false;
    for (size_t at = 0; at + n <= t->n_words; at++) {
        size_t k = 0;
        for (size_t w = at; w < t->n_words && k < n; w++) {
            char c = t->text[t->words[w].start];
            if ((t->words[w].flags & (WORD_STOP | WORD_PART)) && (c | 0x20) != (s[k] | 0x20))
                continue;
            if ((c & ~0x20) != s[k]) break;
            k++;
        }
        if (k == n) return true;
    }
    return false;
}

/* A word that names something: a capital inside a sentence, a month, digits among letters. The
 * first word of a sentence counts unless its ending is one of common words. */
static bool is_name(const fact_text *t, const fact_word *w) {
    if (w->flags & (WORD_STOP | WORD_PART | WORD_NUMERAL)) return false;
    const char *s = t->text + w->start;
    size_t n = w->end - w->start;
    if (w->flags & WORD_DIGIT) { /* pure numbers are numbers_agree's */
        for (size_t i = 0; i < n; i++)
            if (isalpha((unsigned char)s[i]) && !isdigit((unsigned char)s[0])) return true;
        return false;
    }
    if (!(w->flags & WORD_CAPITAL)) return false;
    if (!(w->flags & WORD_INITIAL)) return true;
    static const char *const common[] = {"s",    "ing",  "ly",   "ed",  "tion", "ment",
                                         "ness", "ance", "ence", "ity", "ough", "ever",
                                         "ide",  "ause", "ward", "ore"};
    for (size_t i = 0; i < sizeof common / sizeof *common; i++)
        if (ends_in(s, n, common[i])) return false;
    return n > 3;
}

static bool names_agree(const side *claim, const side *quote, const fact_text *title) {
    for (size_t i = 0; i < claim->text.n_words; i++) {
        const fact_word *w = &claim->text.words[i];
        if (!is_name(&claim->text, w)) continue;
        if (has_word(&quote->text, w->id) || has_word(title, w->id)) continue;
        const char *s = claim->text.text + w->start;
        size_t n = w->end - w->start;
        if (!acronym_stands(s, n, &quote->text) && !acronym_stands(s, n, title)) return false;
    }
    return true;
}

/* ---- negations --------------------------------------------------------------------------- */

/* Every word that `a` denies must be in reach of a negation in `b`, where b has the word. */
static bool denials_agree(const side *a, const side *b, bool need_one) {
    for (size_t i = 0; i < a->text.n_words; i++) {
        if (!a->denied[i]) continue;
        bool found = false, negated = false;
        for (size_t j = 0; j < b->text.n_words; j++) {
            if (b->text.words[j].id != a->text.words[i].id) continue;
            found = true;
            negated |= b->negated[j];
        }
        if (found ? !negated : need_one && !b->negations) return false;
    }
    return true;
}

static bool negations_agree(const side *claim, const side *quote) {
    if (claim->negations && !quote->negations) return false;
    return denials_agree(claim, quote, true) && denials_agree(quote, claim, false);
}

/* ---- coverage ---------------------------------------------------------------------------- */

static double coverage_of(const lexicon *lx, const side *claim, const side *quote,
                          const fact_text *title) {
    double mass = 0, covered = 0;
    const fact_text *t = &claim->text;
    bool stop_words_too = true;
    for (size_t i = 0; i < t->n_words; i++) stop_words_too &= (t->words[i].flags & WORD_STOP) != 0;
    for (size_t i = 0; i < t->n_words; i++) {
        const fact_word *w = &t->words[i];
        if ((w->flags & WORD_PART) || ((w->flags & WORD_STOP) && !stop_words_too)) continue;
        double v = fact_word_idf(lx, t, w);
        mass += v;
        if (has_word(&quote->text, w->id) || has_word(title, w->id)) covered += v;
    }
    return mass > 0 ? covered / mass : 0;
}

/* ---- the check --------------------------------------------------------------------------- */

/* The sentence without its markers [1], [2, 3]; caller frees. */
static char *without_markers(const char *s, size_t n, size_t *len) {
    char *out = malloc(n + 1);
    if (!out) return NULL;
    size_t m = 0;
    for (size_t i = 0; i < n; i++) {
        size_t j = i + 1, digits = 0;
        if (s[i] == '[') {
            while (j < n && (isdigit((unsigned char)s[j]) || s[j] == ',' || s[j] == ' '))
                digits += isdigit((unsigned char)s[j++]) != 0;
            if (digits && j < n && s[j] == ']') {
                i = j;
                continue;
            }
        }
        out[m++] = s[i];
    }
    out[m] = 0;
    *len = m;
    return out;
}

typedef struct checker {
    const lexicon *lx;
    side claim, quote, title;
} checker;

static void compare(support_check *out, const checker *c) {
    *out = (support_check){.reason = ""};
    out->coverage = coverage_of(c->lx, &c->claim, &c->quote, &c->title.text);
    if (c->claim.text.n_words == 0 || c->quote.text.n_words == 0)
        out->reason = "empty";
    else if (!numbers_agree(&c->claim, &c->quote, &c->title.numbers))
        out->reason = "number";
    else if (!names_agree(&c->claim, &c->quote, &c->title.text))
        out->reason = "name";
    else if (!negations_agree(&c->claim, &c->quote))
        out->reason = "negation";
    else if (out->coverage < citation_min_coverage)
        out->reason = "coverage";
    out->verified = out->reason[0] == 0;
}

static int open_checker(checker *c, char **copy, const lexicon *lx, const char *sentence, size_t n,
                        const char *title, fo_err *err) {
    *c = (checker){.lx = lx};
    size_t len = 0;
    *copy = without_markers(sentence, n, &len);
    if (!*copy) return fo_fail(err, FO_ENOMEM, "out of memory for a citation");
    int rc = side_read(&c->claim, lx->analyzer, *copy, len, err);
    const char *t = title ? title : "";
    return rc == FO_OK ? side_read(&c->title, lx->analyzer, t, strlen(t), err) : rc;
}

static void close_checker(checker *c, char *copy) {
    side_deinit(&c->claim);
    side_deinit(&c->quote);
    side_deinit(&c->title);
    free(copy);
}

int citation_check(support_check *out, const lexicon *lx, const citation_claim *claim,
                   fo_err *err) {
    *out = (support_check){.reason = "span"};
    if (claim->start > claim->end || claim->end > claim->stored_len ||
        claim->end - claim->start != claim->quote_len ||
        memcmp(claim->stored + claim->start, claim->quote, claim->quote_len) != 0)
        return FO_OK;
    checker c;
    char *copy;
    int rc = open_checker(&c, &copy, lx, claim->sentence, claim->sentence_len, claim->title, err);
    if (rc == FO_OK) rc = side_read(&c.quote, lx->analyzer, claim->quote, claim->quote_len, err);
    if (rc == FO_OK) compare(out, &c);
    close_checker(&c, copy);
    return rc;
}

/* A verified span beats an unverified one; then more coverage; then the shorter. */
static bool is_better(const support_check *a, size_t a_len, const support_check *b, size_t b_len) {
    if (a->verified != b->verified) return a->verified;
    if (fabs(a->coverage - b->coverage) > 0.02) return a->coverage > b->coverage;
    return a_len < b_len;
}

int citation_find(size_t *start, size_t *end, support_check *out, const lexicon *lx,
                  const char *sentence, size_t sentence_len, const char *passage,
                  size_t passage_len, const char *title, fo_err *err) {
    *start = *end = 0;
    *out = (support_check){.reason = "empty"};
    checker c;
    char *copy;
    int rc = open_checker(&c, &copy, lx, sentence, sentence_len, title, err);
    fact_text text = {0};
    if (rc == FO_OK) rc = fact_text_read(&text, lx->analyzer, passage, passage_len, err);
    for (size_t width = 1; rc == FO_OK && width <= 3 && !out->verified; width++) {
        for (size_t i = 0; rc == FO_OK && i + width <= text.n_sentences; i++) {
            size_t a = text.sentences[i].start, b = text.sentences[i + width - 1].end;
            side_deinit(&c.quote);
            rc = side_read(&c.quote, lx->analyzer, passage + a, b - a, err);
            if (rc != FO_OK) break;
            support_check s;
            compare(&s, &c);
            if (*end > *start && !is_better(&s, b - a, out, *end - *start)) continue;
            *out = s;
            *start = a;
            *end = b;
        }
    }
    fact_text_deinit(&text);
    close_checker(&c, copy);
    return rc;
}
