/* The keys that kept results stand under: SHA-256 over everything that decides them. */
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#include "retrieval/pipeline/query_memory_internal.h"
#include "retrieval/text/exact_names.h"
#include "retrieval/written/generated_answer.h"
#include "retrieval/question/relative_days.h"
#include "kernels/sha256.h"

char *query_normalise(const char *text) {
    utf8proc_uint8_t *folded = NULL;
    bool ascii = true;
    for (const char *p = text; *p && ascii; p++) ascii = (unsigned char)*p < 0x80;
    if (!ascii)
        utf8proc_map((const utf8proc_uint8_t *)text, 0, &folded,
                     UTF8PROC_NULLTERM | UTF8PROC_STABLE | UTF8PROC_COMPAT | UTF8PROC_COMPOSE |
                         UTF8PROC_CASEFOLD);
    char *out = folded ? (char *)folded : strdup(text);
    if (!out) return NULL;
    size_t n = 0;
    bool blank = false;
    for (const char *p = out; *p; p++) {
        char ch = *p;
        if (ch == ' ' || (ch >= '\t' && ch <= '\r')) {
            blank = n > 0;
            continue;
        }
        if (blank) out[n++] = ' ';
        blank = false;
        out[n++] = ch >= 'A' && ch <= 'Z' ? (char)(ch + 32) : ch;
    }
    out[n] = 0;
    return out;
}

void query_key_text(fo_buf *b, const char *s) {
    uint64_t n = s ? strlen(s) : UINT64_MAX;
    fo_buf_add(b, &n, sizeof n);
    if (s) fo_buf_str(b, s);
}

static void key_int(fo_buf *b, uint64_t v) {
    fo_buf_add(b, &v, sizeof v);
}

static void key_number(fo_buf *b, double v) {
    fo_buf_add(b, &v, sizeof v);
}

/* Has NFKC made plain figures of raised or lowered ones, or of fractions: 10² is not 102. */
static bool has_small_figures(const char *text) {
    const utf8proc_uint8_t *p = (const utf8proc_uint8_t *)text;
    for (utf8proc_ssize_t n; *p; p += n) {
        utf8proc_int32_t c;
        n = utf8proc_iterate(p, -1, &c);
        if (n <= 0) return true; /* ill-formed: as it is written */
        if (c < 0x80) continue;
        const utf8proc_propval_t kind = utf8proc_get_property(c)->decomp_type;
        if (kind == UTF8PROC_DECOMP_TYPE_SUPER || kind == UTF8PROC_DECOMP_TYPE_SUB ||
            kind == UTF8PROC_DECOMP_TYPE_FRACTION)
            return true;
    }
    return false;
}

/* What folding takes away though the answer turns on it: -v and -V are two options, zone A is not any zone a. */
static void key_exact(fo_buf *b, const char *asked) {
    exact_names x;
    exact_names_read(&x, asked, strlen(asked));
    const bool all = has_small_figures(asked) || x.n_options == EXACT_NAMES_MAX ||
                     x.n_numbered == EXACT_NAMES_MAX;
    query_key_text(b, all ? asked : NULL); /* further names were not read */
    for (size_t i = 0; i < x.n_options; i++) {
        key_int(b, x.options[i].n);
        fo_buf_add(b, x.options[i].s, x.options[i].n);
    }
    for (size_t i = 0; i < x.n_numbered; i++) {
        const char *blank = memchr(x.numbered[i].s, ' ', x.numbered[i].n), *name = blank + 1;
        if (*name < 'A' || *name > 'Z')
            continue; /* a number: its word may be written as one likes */
        const size_t n = (size_t)(x.numbered[i].s + x.numbered[i].n - name);
        key_int(b, n);
        fo_buf_add(b, name, n);
    }
}

/* Of the language model all that decides what it writes, and the instructions. A reranker
 * has no part: it is the same as long as the service is open, and nothing kept outlives it. */
static void key_written(fo_buf *b, const service *s, const query_request *q) {
    query_key_text(b, "answer: written 3");
    const prompt_instructions *says = &s->prompts->instructions;
    fo_buf_add(b, generator_get_info(s->generator)->fingerprint, 32);
    query_key_text(b, s->prompts->name);
    query_key_text(b, says->system);
    query_key_text(b, says->before_contexts);
    query_key_text(b, says->after_contexts);
    query_key_text(b, says->before_question);
    query_key_text(b, says->after_question);
    key_number(b, generated_answer_most_behind);
    key_number(b, q->temperature);
    key_number(b, q->top_p > 0 ? q->top_p : 1);
    key_int(b, (uint64_t)q->sampling_top_k);
    key_number(b, q->min_p);
    key_number(b, q->presence_penalty);
    key_number(b, q->frequency_penalty);
    key_number(b, q->repetition_penalty > 0 ? q->repetition_penalty : 1);
    key_int(b, q->seed);
    key_int(b, q->order);
    key_int(b, q->kv_reuse);
    key_int(b, q->prefill_only);
    key_int(b, q->answer_by);
    const generator_sparse *keep = &q->sparse;
    key_int(b, keep->asked);
    if (keep->asked) {
        const int parts[] = {keep->delay, keep->block, keep->sink, keep->window, keep->refresh};
        key_number(b, keep->retention);
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) key_int(b, (uint64_t)parts[i]);
    }
    const generator_diffusion *d = &q->diffusion;
    key_int(b, d->asked);
    if (!d->asked) return;
    key_int(b, (uint64_t)d->steps);
    key_int(b, (uint64_t)d->block_length);
    key_int(b, (uint64_t)d->refresh);
    key_int(b, (uint64_t)d->remasking);
    key_int(b, (uint64_t)d->kv);
    key_int(b, (uint64_t)d->verify);
    key_number(b, d->eps);
    key_number(b, d->guidance);
    key_number(b, d->threshold);
}

bool query_keys_make(query_lookup *t, const collection *c, double alpha, const char *question,
                     const char *sought) {
    const query_request *q = t->q;
    const search_params *p = &q->search;
    const service *s = t->m->s;
    fo_buf b = {0};
    query_key_text(&b, "forage query 1");
    query_key_text(&b, q->tenant);
    key_int(&b, (uint64_t)c->id);
    key_int(&b, (uint64_t)c->edition * 2 + c->foreign_vectors);
    key_int(&b, t->n_index_drops);
    key_int(&b, t->titles);
    query_key_text(&b, embedder_fingerprint(c->embedder ? c->embedder : s->embedder));
    query_key_text(&b, question);
    key_exact(&b, q->query ? q->query : "");
    if (q->n_messages) query_key_text(&b, sought); /* made of this epoch's word counts */
    key_int(&b, q->n_messages);
    if (q->n_messages) key_int(&b, q->rewrite); /* what was said before counts, or not */
    for (size_t i = 0; i < q->n_messages; i++) {
        query_key_text(&b, q->messages[i].role);
        query_key_text(&b, q->messages[i].content);
    }
    key_int(&b, q->top_k ? q->top_k : 8);
    key_int(&b, q->generate); /* near-duplicates are collapsed for an answer alone */
    key_int(&b, p->mode);
    key_int(&b, p->fusion);
    key_number(&b, alpha);
    key_int(&b, p->rrf_k ? (uint64_t)p->rrf_k : 60);
    key_int(&b, p->ef);
    key_int(&b, p->rerank);
    key_number(&b, p->score_threshold);
    key_int(&b, q->filter != NULL);
    if (q->filter) search_filter_write(q->filter, &b);
    key_int(&b, q->sees != NULL);
    if (q->sees) search_filter_write(q->sees, &b);
    if (!b.failed) fo_sha256_of(t->contexts_key, b.data, b.len);
    query_key_text(&b, "answer: extractive 3");
    if (relative_days_in(question) || relative_days_in(sought)) /* it holds for a day */
        key_int(&b, (uint64_t)q->today);
    key_int(&b, q->strict);
    key_number(&b, c->min_support); /* tuned, it is another where the collection was opened anew */
    key_int(&b, q->max_tokens ? q->max_tokens : 256);
    key_int(&b, q->max_sentences ? q->max_sentences : 3);
    key_int(&b, q->short_answer);
    key_int(&b, q->n_stop);
    for (size_t i = 0; i < q->n_stop; i++) query_key_text(&b, q->stop[i]);
    if (s->generator && q->answer_by != ANSWER_BY_EXTRACTION) key_written(&b, s, q);
    if (!b.failed) fo_sha256_of(t->answer_key, b.data, b.len);
    bool ok = !b.failed;
    fo_buf_free(&b);
    return ok;
}
