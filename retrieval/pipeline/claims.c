#include "retrieval/pipeline/claims.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/utf8.h"
#include "retrieval/claims/citations.h"
#include "retrieval/text/facts.h"
#include "retrieval/pipeline/query_run.h"

typedef struct checking {
    run *r;
    lexicon lx;
    const service_claim *claim;
    query_citation *found;
} checking;

/* The span [start, end) of text, which a document's code point start_cp begins. */
static int take_span(checking *c, const char *text, size_t start_cp, size_t start, size_t end,
                     size_t context) {
    query_citation *to = c->found;
    *to = (query_citation){.quote = strndup(text + start, end - start),
                           .verified = true,
                           .context = context,
                           .source_start = start_cp + fo_utf8_count(text, start),
                           .source_end = start_cp + fo_utf8_count(text, end)};
    return to->quote ? FO_OK : fo_no_memory(c->r->err);
}

/* What a claim that is a number says. */
typedef struct claimed_number {
    double value;     /* with its sign */
    bool exponent;    /* 1.5e3: said by its value alone */
    fact_number said; /* else */
} claimed_number;

/* A claim that no double holds, nor nearly, says nothing that could be compared: *out is not set then. */
static int read_claim(claimed_number *out, bool *readable, const service_claim *claim,
                      fo_err *err) {
    fact_numbers own = {0};
    errno = 0;
    out->value = strtod(claim->text, NULL);
    out->exponent = memchr(claim->text, 'e', claim->len) || memchr(claim->text, 'E', claim->len);
    *readable = !errno && isfinite(out->value);
    if (!*readable || out->exponent) return FO_OK;
    int rc = fact_numbers_read(&own, claim->text, claim->len, err);
    *readable = !rc && own.n == 1 && !own.n_codes;
    if (*readable) {
        out->said = own.v[0];
        out->said.version = false; /* without a word beside it; the text tells what it is of */
    }
    fact_numbers_deinit(&own);
    return rc;
}

/* Products such as 1.1 million differ in their last bits; whole numbers do not. */
static bool is_value(double x, double value) {
    const bool whole = x == floor(x) && value == floor(value);
    return fabs(x - value) <= (whole ? 0 : 1e-12 * value);
}

/* Digits that a double cannot tell from others are compared as digits, or not at all: 9007199254740993.0 and
 * 9.007199254740993e15 have none that could be. */
static bool is_claimed(const fact_number *x, const claimed_number *claim) {
    if (x->weak) return false;
    if (!claim->exponent)
        return !x->digits == !claim->said.digits && fact_numbers_equal(x, &claim->said);
    return !x->digits && is_value(x->value, fabs(claim->value)) &&
           (claim->value == 0 || x->minus == (claim->value < 0));
}

static bool states(const fact_numbers *all, const claimed_number *claim) {
    for (size_t i = 0; i < all->n; i++)
        if (is_claimed(&all->v[i], claim)) return true;
    return false;
}

/* The first sentence that states the number. */
static int find_number(checking *c, const char *text, size_t len, size_t *start, size_t *end) {
    fact_text t = {0};
    claimed_number claim = {0};
    bool readable;
    int rc = read_claim(&claim, &readable, c->claim, c->r->err);
    if (rc || !readable) return rc;
    rc = fact_text_read(&t, c->lx.analyzer, text, len, c->r->err);
    for (size_t i = 0; !rc && *end == 0 && i < t.n_sentences; i++) {
        const fact_sentence *s = &t.sentences[i];
        fact_numbers all = {0};
        rc = fact_numbers_read(&all, text + s->start, s->end - s->start, c->r->err);
        if (!rc && states(&all, &claim)) *start = s->start, *end = s->end;
        fact_numbers_deinit(&all);
    }
    fact_text_deinit(&t);
    return rc;
}

static int find_words(checking *c, const char *text, size_t len, const char *title, size_t *start,
                      size_t *end) {
    support_check check;
    citation_search in = {.sentence = c->claim->text,
                          .sentence_len = c->claim->len,
                          .passage = text,
                          .passage_len = len,
                          .title = title,
                          .reader = c->r->reader};
    int rc = citation_find(start, end, &check, &c->lx, &in, c->r->err);
    if (!check.verified) *start = *end = 0;
    return rc;
}

/* *end stays 0 where the text does not bear the claim out. */
static int find(checking *c, const char *text, size_t len, const char *title, size_t *start,
                size_t *end) {
    *start = *end = 0;
    return c->claim->number ? find_number(c, text, len, start, end)
                            : find_words(c, text, len, title, start, end);
}

static int check(checking *c) {
    const query_result *out = c->r->out;
    size_t start, end;
    int rc = FO_OK;
    for (size_t i = 0; !rc && !c->found->quote && i < out->n_citations; i++) {
        const query_citation *k = &out->citations[i];
        const char *title =
            k->context < out->n_contexts ? out->contexts[k->context].chunk.title : NULL;
        rc = find(c, k->quote, strlen(k->quote), title, &start, &end);
        if (!rc && end > start)
            rc = take_span(c, k->quote, k->source_start, start, end, k->context);
    }
    for (size_t i = 0; !rc && !c->found->quote && i < out->n_contexts; i++) {
        const store_chunk *k = &out->contexts[i].chunk;
        rc = find(c, k->text, k->text_len, k->title, &start, &end);
        if (!rc && end > start) rc = take_span(c, k->text, k->start_cp, start, end, i);
    }
    return rc;
}

static int check_all(run *r, const service_claim *claims, size_t n, query_citation *found) {
    const store_chunk *first = &r->out->contexts[0].chunk;
    analyzer *words = NULL;
    int rc = run_take_reader(r);
    if (!rc) rc = collection_take_analyzer(r->s, r->c, &words, r->err);
    if (!rc) {
        checking c = {.r = r,
                      .lx = {analyzer_for_text(words, first->text, first->text_len, NULL), run_idf,
                             r->snapshot}};
        for (size_t i = 0; !rc && i < n; i++) {
            if (!claims[i].len) continue;
            c.claim = &claims[i];
            c.found = &found[i];
            if (r->q->cancel && atomic_load(r->q->cancel))
                rc = fo_fail(r->err, FO_ECANCELLED, "cancelled by the client");
            else
                rc = check(&c);
        }
    }
    collection_give_analyzer(r->s, r->c, words);
    return rc;
}

int service_check_claims(service *s, const query_request *q, const query_result *result,
                         const service_claim *claims, size_t n, query_citation *found,
                         fo_err *err) {
    if (!n || !result->n_contexts) return FO_OK;
    query_result own = *result; /* read only: a run has one that it may fill */
    run r = {.s = s, .q = q, .out = &own, .err = err};
    int rc = service_enter(s, err);
    if (rc) return rc;
    rc = collection_acquire(s, q->tenant, q->collection, &r.c, err);
    if (!rc) {
        r.snapshot = search_index_acquire(r.c->index);
        rc = check_all(&r, claims, n, found);
        search_index_release(r.snapshot);
        collection_release(s, r.c);
    }
    reader_close(r.reader);
    service_leave(s);
    return rc;
}
