/* The check compares two small sets of facts. It reads no meaning: a claim that swaps two names of one
 * sentence passes (docs/measurements/answers.md says how often such things happen). */
#include "retrieval/claims/citations.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "retrieval/claims/claim_dates.h"
#include "retrieval/claims/claim_names.h"
#include "retrieval/claims/claim_reading.h"
#include "retrieval/text/facts.h"
#include "kernels/utf8.h"

static const double citation_min_coverage = 0.6;
/* Where the reader vouches for the words that are not the support's. */
static const double min_coverage_read = 0.35;

enum { NEGATION_REACH = 3 };

/* What is compared: the claim, or the quote with its title. */
typedef struct side {
    fact_text text;
    fact_numbers numbers;
    bool *negated;  /* per word: in reach of a negation */
    bool *denied;   /* per word: the first content word behind one */
    bool negations; /* there is one at all */
} side;

static bool listed(const fact_text *t, size_t i, const char *list) {
    return i < t->n_words && fact_word_in(t, i, list);
}

/* "No. 5" is a number, "whether or not" denies nothing. */
static bool is_negation(const fact_text *t, size_t i) {
    const fact_word *w = &t->words[i];
    if (!(w->flags & WORD_NEGATION)) return false;
    if (listed(t, i, "no") && i + 1 < t->n_words &&
        isdigit((unsigned char)t->text[t->words[i + 1].start]) &&
        t->words[i + 1].start - w->end <= 2)
        return false;
    return !(i > 0 && listed(t, i, "not") && listed(t, i - 1, "or"));
}

/* Function words that carry the meaning where they are denied: not only, not all, not yet. */
static const char *const deniable = "only merely just simply yet all every everyone both always "
                                    "many much necessarily";

/* Marks what each negation reaches: up to NEGATION_REACH content words behind it in its clause. */
static void mark_negations(side *s) {
    const fact_text *t = &s->text;
    for (size_t i = 0; i < t->n_words; i++) {
        if (!is_negation(t, i)) continue;
        bool limits = listed(t, i + 1, "only merely just simply"); /* not only X: X still holds */
        s->negations |= !limits;
        if (listed(t, i + 1, deniable)) s->denied[i + 1] = s->negated[i + 1] = true;
        size_t content = 0;
        for (size_t j = i + 1; j < t->n_words && content < NEGATION_REACH && !limits; j++) {
            if (t->words[j].flags & (WORD_CLAUSE | WORD_INITIAL)) break;
            bool negation = is_negation(t, j);
            if ((t->words[j].flags & WORD_PART) || (!negation && (t->words[j].flags & WORD_STOP)))
                continue;
            s->negated[j] = true;
            if (content++ == 0) s->denied[j] = true;
        }
    }
}

static int side_read(side *s, analyzer *a, const char *text, size_t len, fo_err *err) {
    int rc = fact_text_read(&s->text, a, text, len, err);
    if (!rc) rc = fact_numbers_read(&s->numbers, text, len, err);
    if (rc) return rc;
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

/* ---- numbers ----------------------------------------------------------------------------- */

/* Numbers of `list` equal to x; those of dates that both sides say are compared as dates. */
static size_t count_equal(const fact_numbers *list, const fact_number *x) {
    size_t n = 0;
    for (size_t i = 0; i < list->n; i++)
        n += !list->v[i].dated && fact_numbers_equal(&list->v[i], x);
    return n;
}

/* The year of a date, "in 2024" of 17.3.2024. */
static bool has_year(const fact_numbers *list, const fact_number *x) {
    for (size_t i = 0; i < list->n_dates; i++)
        if (list->dates[i].said.year && list->dates[i].said.year == x->value) return true;
    return false;
}

static bool has_code(const fact_numbers *list, uint64_t id) {
    for (size_t i = 0; i < list->n_codes; i++)
        if (list->codes[i].id == id) return true;
    return false;
}

/* Does the text say s[n], digits with letters behind them, with a space between: 40 kWh for 40kWh? */
static bool says_apart(const side *text, const char *s, size_t n) {
    const char *t = text->text.text;
    size_t digits = n;
    while (digits && fo_is_letter(s[digits - 1])) digits--;
    for (size_t i = 0; i < text->numbers.n && digits && digits < n; i++) {
        const fact_number *x = &text->numbers.v[i];
        const size_t behind = x->end + 1, end = behind + n - digits;
        if (x->end - x->start == digits && memcmp(t + x->start, s, digits) == 0 &&
            end <= text->text.len && t[x->end] == ' ' &&
            strncasecmp(t + behind, s + digits, n - digits) == 0 &&
            (end == text->text.len || !(fo_is_letter(t[end]) || fo_is_digit(t[end]))))
            return true;
    }
    return false;
}

/* Addresses and versions in digits, and dates that are not met. */
static bool codes_agree(const side *claim, const side *quote, const fact_numbers *title) {
    for (size_t i = 0; i < claim->numbers.n_codes; i++) {
        const fact_code *c = &claim->numbers.codes[i];
        const fact_date *date = fact_date_of(&claim->numbers, c->start);
        if (date && date->met) continue;
        if (!has_code(&quote->numbers, c->id) && !has_code(title, c->id) &&
            !says_apart(quote, claim->text.text + c->start, c->end - c->start))
            return false;
    }
    return true;
}

/* A number that the claim says twice must stand twice: 2-1 does not become 2-2. */
static bool numbers_agree(const side *claim, const side *quote, const fact_numbers *title) {
    for (size_t i = 0; i < claim->numbers.n; i++) {
        const fact_number *x = &claim->numbers.v[i];
        if (x->weak || x->dated) continue;
        size_t there = count_equal(&quote->numbers, x) + count_equal(title, x);
        if (there == 0 && (has_year(&quote->numbers, x) || has_year(title, x))) continue;
        if (there == 0 || there < count_equal(&claim->numbers, x)) return false;
    }
    return codes_agree(claim, quote, title);
}

/* ---- names ------------------------------------------------------------------------------- */

/* A title's name may stand for what the quote calls it, she, the company: only where the quote has
 * such a word, and only before anything else that the claim takes from the quote. */
static bool speaks_of_its_title(const side *claim, const side *quote) {
    const fact_text *t = &quote->text;
    for (size_t i = 0; i < t->n_words; i++) {
        if (listed(t, i, "it its he his him she her they their them this these who")) return true;
        if ((t->words[i].flags & WORD_INITIAL) && listed(t, i, "the") && i + 1 < t->n_words &&
            !(t->words[i + 1].flags & WORD_CAPITAL) && !fact_has(&claim->text, t->words[i + 1].id))
            return true;
    }
    return false;
}

/* Does the quote name somebody or something that neither its title nor the claim does? */
static bool names_another(const side *claim, const side *quote, const fact_text *title) {
    for (size_t i = 0; i < quote->text.n_words; i++) {
        const fact_word *w = &quote->text.words[i];
        if ((w->flags & (WORD_CALENDAR | WORD_INITIAL)) || !claim_is_name(&quote->text, w) ||
            fact_date_of(&quote->numbers, w->start))
            continue;
        if (!fact_has(title, w->id) && !fact_has(&claim->text, w->id)) return true;
    }
    return false;
}

/* asked: the question, NULL: not known. What it names and the title too is what the passage is about: a quote that names
 * nothing else need not say it again. */
static bool names_agree(const side *claim, const side *quote, const fact_text *title,
                        const fact_text *asked) {
    bool by_title = title->n_words > 0 && speaks_of_its_title(claim, quote);
    bool about_it = asked && title->n_words > 0 && !names_another(claim, quote, title);
    for (size_t i = 0; i < claim->text.n_words; i++) {
        const fact_word *w = &claim->text.words[i];
        if (about_it && fact_has(title, w->id) && fact_has(asked, w->id)) continue;
        if (fact_has(&quote->text, w->id) || (w->flags & WORD_DATED)) {
            by_title &= (w->flags & WORD_STOP) != 0;
            continue;
        }
        if (!claim_is_name(&claim->text, w) || (by_title && fact_has(title, w->id))) continue;
        const char *s = claim->text.text + w->start;
        size_t n = w->end - w->start;
        if (says_apart(quote, s, n)) continue;
        if (!claim_acronym_stands(s, n, &quote->text, 0, quote->text.n_words) &&
            !(by_title && claim_acronym_stands(s, n, title, 0, title->n_words)))
            return false;
    }
    return true;
}

/* ---- company ----------------------------------------------------------------------------- */

enum { COMPANY = 3 };

/* Does the sentence say a word of the claim, or the date that it is of? */
static bool sentence_says(const side *quote, const fact_sentence *s, const fact_word *w) {
    if (fact_says(&quote->text, s->w0, s->w1, w->id)) return true;
    for (size_t i = 0; (w->flags & WORD_DATED) && i < quote->numbers.n_dates; i++) {
        const fact_date *d = &quote->numbers.dates[i];
        if (d->met && d->start >= s->start && d->end <= s->end) return true;
    }
    return false;
}

/* Does sentence `s` of the quote have the COMPANY content words that stand before claim word i, or
 * those behind it? With several sentences quoted, a fact of one must not be told of the other. */
static bool keeps_company(const side *claim, size_t i, const side *quote, const fact_sentence *s) {
    const fact_text *t = &claim->text;
    for (int step = -1; step <= 1; step += 2) {
        size_t taken = 0, shared = 0;
        for (size_t j = i + (size_t)step; j < t->n_words && taken < COMPANY; j += (size_t)step) {
            if (!fact_is_content(&t->words[j])) continue;
            taken++;
            shared += sentence_says(quote, s, &t->words[j]);
        }
        if (taken > 0 && shared == taken) return true;
    }
    return t->n_words < 2;
}

/* Digits of other scripts, too. */
static bool is_of_a_number(const side *s, const fact_word *w) {
    if (w->flags & (WORD_DIGIT | WORD_NUMERAL)) return true;
    for (size_t i = 0; i < s->numbers.n; i++) {
        const fact_number *x = &s->numbers.v[i];
        if (!x->weak && w->start < x->end && x->start < w->end) return true;
    }
    return false;
}

/* True when every name and digit of the claim stands in a sentence of the quote with its company.
 */
static bool facts_keep_company(const side *claim, const side *quote) {
    const fact_text *q = &quote->text;
    for (size_t i = 0; i < claim->text.n_words && q->n_sentences > 1; i++) {
        const fact_word *w = &claim->text.words[i];
        if (!is_of_a_number(claim, w) && !claim_is_name(&claim->text, w)) continue;
        bool found = false, kept = false;
        for (size_t s = 0; s < q->n_sentences && !kept; s++) {
            for (size_t k = q->sentences[s].w0; k < q->sentences[s].w1; k++) {
                if (q->words[k].id != w->id) continue;
                found = true;
                kept = keeps_company(claim, i, quote, &q->sentences[s]);
                break;
            }
        }
        if (found && !kept) return false;
    }
    return true;
}

/* ---- negations --------------------------------------------------------------------------- */

/* Is word i of `a`, which is denied there, denied in one sentence of b together with what it is denied of? "It eats fish.
 * It does not eat bread." does not say that it does not eat fish. */
static bool denied_together(const side *a, size_t i, const side *b) {
    const fact_text *ta = &a->text, *tb = &b->text;
    for (size_t s = 0; s < tb->n_sentences; s++) {
        size_t from = tb->sentences[s].w0, to = tb->sentences[s].w1;
        bool here = false, whole = true;
        for (size_t j = from; j < to; j++)
            here |= tb->words[j].id == ta->words[i].id && b->negated[j];
        for (size_t k = i + 1; here && whole && k < ta->n_words && k <= i + 2 * NEGATION_REACH;
             k++) {
            if (ta->words[k].flags & (WORD_CLAUSE | WORD_INITIAL)) break;
            whole = !a->negated[k] || fact_says(tb, from, to, ta->words[k].id) ||
                    !fact_has(tb, ta->words[k].id);
        }
        if (here && whole) return true;
    }
    return false;
}

/* Every word that `a` denies must be in reach of a negation in `b`, where b has the word; together: where b says it without
 * one, too, in the sentence that denies the same of it. */
static bool denials_agree(const side *a, const side *b, bool need_one, bool together) {
    for (size_t i = 0; i < a->text.n_words; i++) {
        if (!a->denied[i]) continue;
        bool negated = false, plain = false;
        for (size_t j = 0; j < b->text.n_words; j++) {
            if (b->text.words[j].id != a->text.words[i].id) continue;
            negated |= b->negated[j];
            plain |= !b->negated[j];
        }
        bool function_word = (a->text.words[i].flags & WORD_STOP) != 0;
        if (!negated && !plain && need_one && !function_word && !b->negations) return false;
        if (plain && (!negated || (together && !denied_together(a, i, b)))) return false;
    }
    return true;
}

/* written: the claim is in somebody's own words, and the quote was looked for. */
static bool negations_agree(const side *claim, const side *quote, bool written) {
    if (claim->negations && !quote->negations) return false;
    return denials_agree(claim, quote, true, written) && denials_agree(quote, claim, false, false);
}

/* ---- coverage ---------------------------------------------------------------------------- */

/* Is the word a number that the quote says in other signs (8, eight), or the unit behind one (litres, liters)? */
static bool says_number(const side *claim, const side *quote, const fact_word *w) {
    enum { BEHIND = 2 };
    for (size_t i = 0; i < claim->numbers.n; i++) {
        const fact_number *x = &claim->numbers.v[i];
        const bool within = w->start >= x->start && w->start < x->end;
        const bool unit = x->unit != UNIT_NONE && w->start >= x->end && w->start <= x->end + BEHIND;
        if ((within || unit) && count_equal(&quote->numbers, x)) return true;
    }
    return false;
}

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
        if ((w->flags & WORD_DATED) || fact_has(&quote->text, w->id) || fact_has(title, w->id) ||
            says_number(claim, quote, w))
            covered += v;
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
    fact_text asked;
    bool has_asked;
    bool written; /* by a model: the quote is looked for */
} checker;

static dated_text dates_of(side *s) {
    return (dated_text){&s->text, &s->numbers};
}

static void compare(support_check *out, checker *c, double least) {
    const dated_text claim = dates_of(&c->claim), quote = dates_of(&c->quote),
                     title = dates_of(&c->title);
    claim_dates_mark(&claim, &quote, &title);
    *out = (support_check){.reason = ""};
    out->coverage = coverage_of(c->lx, &c->claim, &c->quote, &c->title.text);
    if (c->claim.text.n_words == 0 || c->quote.text.n_words == 0)
        out->reason = "empty";
    else if (!numbers_agree(&c->claim, &c->quote, &c->title.numbers))
        out->reason = "number";
    else if (!names_agree(&c->claim, &c->quote, &c->title.text, c->has_asked ? &c->asked : NULL) ||
             !facts_keep_company(&c->claim, &c->quote))
        out->reason = "name";
    else if (!claim_dates_hold(&claim, &quote, &title))
        out->reason = "number";
    else if (!negations_agree(&c->claim, &c->quote, c->written))
        out->reason = "negation";
    else if (out->coverage < least)
        out->reason = "coverage";
    out->verified = out->reason[0] == 0;
}

/* text: the quote, or all that it was looked for in, where another sentence may be nearer to the claim. */
static void check_places(support_check *out, checker *c, const fact_text *text) {
    const dated_text claim = dates_of(&c->claim);
    if (!out->verified) return;
    claim_dates_mark_all(&claim);
    if (claim_names_keep_place(&c->claim.text, text)) return;
    out->verified = false;
    out->reason = "name";
}

static int open_checker(checker *c, char **copy, const lexicon *lx, const char *sentence, size_t n,
                        const char *title, fo_err *err) {
    *c = (checker){.lx = lx};
    size_t len = 0;
    *copy = without_markers(sentence, n, &len);
    if (!*copy) return fo_fail(err, FO_ENOMEM, "out of memory for a citation");
    int rc = side_read(&c->claim, lx->analyzer, *copy, len, err);
    const char *t = title ? title : "";
    return !rc ? side_read(&c->title, lx->analyzer, t, strlen(t), err) : rc;
}

static void close_checker(checker *c, char *copy) {
    side_deinit(&c->claim);
    side_deinit(&c->quote);
    side_deinit(&c->title);
    fact_text_deinit(&c->asked);
    free(copy);
}

/* True when both are the same text but for white space: what extractive answers say. */
static bool is_copy(const char *a, size_t n, const char *b, size_t m) {
    size_t i = 0, j = 0;
    for (;;) {
        while (i < n && fo_is_blank(a[i])) i++;
        while (j < m && fo_is_blank(b[j])) j++;
        if (i == n || j == m) return i == n && j == m;
        if (a[i++] != b[j++]) return false;
    }
}

static int any_word(void *ctx, const analyzed_term *t) {
    (void)ctx, (void)t;
    return 1;
}

int citation_check(support_check *out, const lexicon *lx, const citation_claim *claim,
                   fo_err *err) {
    *out = (support_check){.reason = "span"};
    if (claim->start > claim->end || claim->end > claim->stored_len ||
        claim->end - claim->start != claim->quote_len ||
        memcmp(claim->stored + claim->start, claim->quote, claim->quote_len) != 0)
        return FO_OK;
    if (is_copy(claim->sentence, claim->sentence_len, claim->quote, claim->quote_len)) {
        bool said = analyze(lx->analyzer, claim->quote, claim->quote_len, any_word, NULL) != 0;
        *out = (support_check){.verified = said, .coverage = said, .reason = said ? "" : "empty"};
        return FO_OK;
    }
    checker c;
    char *copy;
    int rc = open_checker(&c, &copy, lx, claim->sentence, claim->sentence_len, claim->title, err);
    if (!rc) rc = side_read(&c.quote, lx->analyzer, claim->quote, claim->quote_len, err);
    if (!rc) compare(out, &c, citation_min_coverage);
    if (!rc) check_places(out, &c, &c.quote.text);
    close_checker(&c, copy);
    return rc;
}

typedef struct found_span {
    size_t start, end;
    support_check check;
    bool answers;
} found_span;

/* A verified span beats an unverified one; then one that answers; then more coverage; then the shorter. */
static bool is_better(const found_span *a, const found_span *b) {
    if (a->check.verified != b->check.verified) return a->check.verified;
    if (a->answers != b->answers) return a->answers;
    double more = a->check.coverage - b->check.coverage;
    if (fabs(more) > 0.02) return more > 0;
    return a->end - a->start < b->end - b->start;
}

/* The best span of `width` sentences whose coverage is not below `least`, if better than *best. */
static int find_span(found_span *best, checker *c, const citation_search *in, const fact_text *text,
                     size_t width, double least, fo_err *err) {
    int rc = FO_OK;
    for (size_t i = 0; !rc && i + width <= text->n_sentences; i++) {
        found_span s = {.start = text->sentences[i].start,
                        .end = text->sentences[i + width - 1].end};
        side_deinit(&c->quote);
        rc = side_read(&c->quote, c->lx->analyzer, text->text + s.start, s.end - s.start, err);
        if (rc) break;
        compare(&s.check, c, least);
        s.answers = in->answers && in->answers(in->answers_ctx, s.start, s.end);
        if (best->end == best->start || is_better(&s, best)) *best = s;
    }
    return rc;
}

/* What a sentence says of itself, not of its subject. */
static const char *const framing =
    "answer passage passages context contexts text document documents given "
    "according stated states mentioned described question "
    "occurred happened considered known called named";

/* Words of weight of the claim that stand in neither quote, title nor question. */
static size_t unmet_words(const checker *c, claim_word *out, size_t most) {
    const fact_text *t = &c->claim.text;
    size_t n = 0;
    for (size_t i = 0; i < t->n_words && n < most; i++) {
        const fact_word *w = &t->words[i];
        if (w->flags &
            (WORD_STOP | WORD_PART | WORD_DIGIT | WORD_NUMERAL | WORD_NEGATION | WORD_DATED))
            continue;
        if (fact_has(&c->quote.text, w->id) || fact_has(&c->title.text, w->id)) continue;
        if (fact_has(&c->asked, w->id) || listed(t, i, framing)) continue;
        out[n++] = (claim_word){w->start, w->end};
    }
    return n;
}

/* The words of a verified claim that its span does not have are read. */
static int read_claim(support_check *out, checker *c, const citation_search *in, const char *copy,
                      size_t start, size_t end, fo_err *err) {
    enum { MOST_UNMET = 32 };
    claim_word words[MOST_UNMET];
    side_deinit(&c->quote);
    int rc = side_read(&c->quote, c->lx->analyzer, in->passage + start, end - start, err);
    bool holds = true;
    if (!rc) {
        const dated_text claim = dates_of(&c->claim), quote = dates_of(&c->quote),
                         title = dates_of(&c->title);
        claim_dates_mark(&claim, &quote, &title);
        claim_reading_input r = {.reader = in->reader,
                                 .sentence = copy,
                                 .sentence_len = strlen(copy),
                                 .words = words,
                                 .n_words = unmet_words(c, words, MOST_UNMET),
                                 .passage = in->passage,
                                 .passage_len = in->passage_len,
                                 .start = start,
                                 .end = end,
                                 .title = in->title};
        rc = claim_reading_holds(&holds, &r, err);
    }
    if (!holds) {
        out->verified = false;
        out->reason = "word";
    }
    return rc;
}

int citation_find(size_t *start, size_t *end, support_check *out, const lexicon *lx,
                  const citation_search *in, fo_err *err) {
    found_span best = {.check.reason = "empty"};
    checker c;
    char *copy;
    int rc = open_checker(&c, &copy, lx, in->sentence, in->sentence_len, in->title, err);
    fact_text text = {0};
    if (!rc && in->asked)
        rc = fact_text_read(&c.asked, lx->analyzer, in->asked, strlen(in->asked), err);
    c.has_asked = in->asked != NULL;
    c.written = true;
    if (!rc) rc = fact_text_read(&text, lx->analyzer, in->passage, in->passage_len, err);
    double least = in->reader ? min_coverage_read : citation_min_coverage;
    for (size_t width = 1; !rc && width <= 3 && !best.check.verified; width++) {
        rc = find_span(&best, &c, in, &text, width, least, err);
        if (!rc && in->reader && best.check.verified)
            rc = read_claim(&best.check, &c, in, copy, best.start, best.end, err);
    }
    if (!rc) check_places(&best.check, &c, &text);
    fact_text_deinit(&text);
    close_checker(&c, copy);
    *start = best.start;
    *end = best.end;
    *out = best.check;
    return rc;
}
