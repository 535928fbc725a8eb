/* cli_logits.c - what a model makes of a text: `forage logits`, `forage perplexity`. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/model/encoder.h"
#include "engine/model/model.h"
#include "engine/tokenizer/tokenizer_gguf.h"
#include "kernels/buf.h"
#include "kernels/file.h"
#include "kernels/vec.h"
#include "server/cli/cli.h"

enum { STEP_TOKENS = 256, PAGE_TOKENS = 16 };

/* A model with pages for one sequence of up to max_tokens. */
typedef struct session {
    fo_pool *pool;
    model *m;
    kv_pages *kv;
    model_context *c;
    int32_t *table;
    int n_pages;
    float *logits; /* [STEP_TOKENS][n_vocab] */
} session;

static void session_close(session *s) {
    model_context_free(s->c);
    kv_pages_free(s->kv);
    model_close(s->m);
    fo_pool_free(s->pool);
    free(s->table);
    free(s->logits);
}

static int session_open(session *s, const char *path, bool fast, int threads, fo_err *err) {
    *s = (session){0};
    s->pool = fo_pool_create_bound(threads, NULL);
    if (!s->pool) return fo_fail(err, FO_ENOMEM, "no memory for threads");
    return model_open(&s->m, path, &(model_options){.pool = s->pool, .fast = fast}, err);
}

static int session_prepare(session *s, bool fast, size_t max_tokens, fo_err *err) {
    const model_info *i = model_get_info(s->m);
    kv_layout l;
    if (max_tokens > (size_t)i->n_context)
        return fo_fail(err, FO_ELIMIT, "%zu tokens are more than the model's context of %d",
                       max_tokens, i->n_context);
    s->n_pages = (int)(max_tokens + PAGE_TOKENS - 1) / PAGE_TOKENS;
    int rc = model_kv_layout(s->m, PAGE_TOKENS, fast ? KV_BF16 : KV_F32, &l, err);
    if (!rc) rc = kv_pages_create(&s->kv, &l, s->n_pages, err);
    if (!rc) rc = model_context_create(&s->c, s->m, &(model_limits){STEP_TOKENS, STEP_TOKENS}, err);
    if (rc) return rc;
    s->table = malloc((size_t)s->n_pages * sizeof *s->table);
    s->logits = malloc((size_t)STEP_TOKENS * (size_t)i->n_vocab * sizeof *s->logits);
    if (!s->table || !s->logits) return fo_fail(err, FO_ENOMEM, "no memory for the logits");
    for (int p = 0; p < s->n_pages; p++) s->table[p] = p;
    return FO_OK;
}

/* Tokens at [start, start + n) of the sequence, n <= STEP_TOKENS; their logits. */
static int session_step(session *s, const int32_t *tokens, size_t start, size_t n, size_t n_logits,
                        fo_err *err) {
    model_sequence q = {.tokens = tokens + start,
                        .n_tokens = (int)n,
                        .start = (int)start,
                        .pages = s->table,
                        .n_pages = s->n_pages,
                        .n_logits = (int)n_logits};
    return model_forward(s->c, s->kv, &q, 1, s->logits, err);
}

/* --- forage logits --- */
static struct {
    const char *model, *tokens, *out;
    bool fast;
    int64_t threads;
} o;

static const cli_option logits_options[] = {
    {"model", CLI_STRING, &o.model, "FILE", "the GGUF file", .required = true},
    {"tokens", CLI_STRING, &o.tokens, "IDS", "token ids, separated by commas", .required = true,
     .flag_only = true},
    {"out", CLI_STRING, &o.out, "FILE", "where the float32 rows go", .required = true,
     .flag_only = true},
    {"fast", CLI_BOOL, &o.fast, NULL, "the serving path (int8 activations, BF16 KV)"},
    {"threads", CLI_INT, &o.threads, "N", "threads (default: one a core)", .min = 0, .max = 1024},
    {0}};

static int parse_tokens(const char *text, int32_t **out, size_t *n, fo_err *err) {
    size_t cap = 1;
    for (const char *p = text; *p; p++) cap += *p == ',';
    int32_t *ids = malloc(cap * sizeof *ids);
    if (!ids) return fo_fail(err, FO_ENOMEM, "no memory for %zu tokens", cap);
    *n = 0;
    for (const char *p = text;;) {
        char *end;
        errno = 0;
        long v = strtol(p, &end, 10);
        while (*end == ' ') end++;
        if (end == p || errno || v < 0 || v > INT32_MAX || (*end && *end != ',')) {
            free(ids);
            return fo_fail_field(err, FO_EINVAL, "tokens", "'%.20s' is no list of token ids", p);
        }
        ids[(*n)++] = (int32_t)v;
        if (!*end) break;
        p = end + 1;
    }
    *out = ids;
    return FO_OK;
}

static int write_embedding(session *s, const int32_t *ids, size_t n, fo_file_writer *w,
                           fo_err *err) {
    const model_info *i = model_get_info(s->m);
    encoder *e;
    int rc = encoder_create(&e, s->m, NULL, err);
    if (rc) return rc;
    float *v = malloc((size_t)i->d_model * sizeof *v);
    if (!v) rc = fo_fail(err, FO_ENOMEM, "no memory for a vector");
    if (!rc) rc = encoder_embed(e, &(encoder_text){ids, (int)n, 0}, 1, v, err);
    if (!rc) rc = fo_file_write(w, v, (size_t)i->d_model * sizeof *v, err);
    free(v);
    encoder_free(e);
    return rc;
}

static int write_logits(session *s, const int32_t *ids, size_t n, fo_file_writer *w, fo_err *err) {
    const model_info *i = model_get_info(s->m);
    int rc = session_prepare(s, o.fast, n, err);
    if (!rc && !i->causal && n > STEP_TOKENS)
        rc = fo_fail(err, FO_ELIMIT, "a bidirectional model takes at most %d tokens here",
                     STEP_TOKENS);
    for (size_t at = 0; !rc && at < n; at += STEP_TOKENS) {
        size_t m = n - at < STEP_TOKENS ? n - at : STEP_TOKENS;
        rc = session_step(s, ids, at, m, m, err);
        if (!rc) rc = fo_file_write(w, s->logits, m * (size_t)i->n_vocab * sizeof(float), err);
    }
    return rc;
}

static int run_logits(int argc, char **argv) {
    (void)argc, (void)argv;
    fo_err err = {0};
    session s = {0};
    int32_t *ids = NULL;
    size_t n = 0;
    fo_file_writer *w = NULL;
    int rc = parse_tokens(o.tokens, &ids, &n, &err);
    if (!rc) rc = session_open(&s, o.model, o.fast, (int)o.threads, &err);
    if (!rc) rc = fo_file_create(&w, o.out, &err);
    if (!rc)
        rc = model_get_info(s.m)->encoder ? write_embedding(&s, ids, n, w, &err)
                                          : write_logits(&s, ids, n, w, &err);
    if (!rc)
        rc = fo_file_commit(w, &err);
    else
        fo_file_abort(w);
    session_close(&s);
    free(ids);
    return rc ? cli_fail(&err) : 0;
}

const cli_command cli_command_logits = {
    "logits",
    "what a model predicts for a list of tokens, as raw floats",
    "forage logits --model m.gguf --tokens 1,20,300 --out f.f32 [--fast]",
    "Writes row-major float32 [n_tokens, n_vocab]; for an embedding model the pooled vector, not\n"
    "normalised. F32 arithmetic and KV unless --fast.",
    logits_options,
    0,
    0,
    run_logits};

/* --- forage perplexity --- */
static struct {
    const char *model, *file;
    int64_t ctx, threads;
    bool fast;
} p = {.ctx = 512};

static const cli_option perplexity_options[] = {
    {"model", CLI_STRING, &p.model, "FILE", "the GGUF file", .required = true},
    {"file", CLI_STRING, &p.file, "FILE", "the text", .required = true, .flag_only = true},
    {"ctx", CLI_INT, &p.ctx, "N", "tokens of a window (default 512)", .min = 8, .max = 1 << 20},
    {"fast", CLI_BOOL, &p.fast, NULL, "the serving path (int8 activations, BF16 KV)"},
    {"threads", CLI_INT, &p.threads, "N", "threads (default: one a core)", .min = 0, .max = 1024},
    {0}};

/* -log p of ids[i] for i in (ctx / 2, ctx) of one window that starts afresh. */
static int window_nll(session *s, const int32_t *ids, size_t ctx, double *nll, size_t *count,
                      fo_err *err) {
    const int n_vocab = model_get_info(s->m)->n_vocab;
    const vec_kernels *vec = vec_get();
    for (size_t at = 0; at < ctx; at += STEP_TOKENS) {
        size_t n = ctx - at < STEP_TOKENS ? ctx - at : STEP_TOKENS;
        size_t wanted = at + n <= ctx / 2 ? 0 : n;
        int rc = session_step(s, ids, at, n, wanted, err);
        if (rc) return rc;
        for (size_t i = 0; i < wanted; i++) {
            size_t next = at + i + 1; /* the row at position next - 1 predicts it */
            if (next <= ctx / 2 || next >= ctx) continue;
            const float *x = s->logits + i * (size_t)n_vocab;
            float top = vec->max(x, n_vocab);
            *nll += (double)top + log(vec->sum_exp(x, top, n_vocab)) - (double)x[ids[next]];
            ++*count;
        }
    }
    return FO_OK;
}

static int run_perplexity(int argc, char **argv) {
    (void)argc, (void)argv;
    fo_err err = {0};
    session s = {0};
    tokenizer *t = NULL;
    char *text = NULL;
    size_t size, n = 0, count = 0, ctx = (size_t)p.ctx;
    int32_t *ids = NULL;
    double nll = 0;
    int rc = fo_file_read(p.file, (size_t)1 << 30, &text, &size, &err);
    if (!rc) rc = session_open(&s, p.model, p.fast, (int)p.threads, &err);
    if (!rc && (model_get_info(s.m)->encoder || !model_get_info(s.m)->causal))
        rc = fo_fail(&err, FO_EUNSUPPORTED, "%s does not predict the next token",
                     model_get_info(s.m)->arch);
    if (!rc) rc = tokenizer_from_gguf(&t, model_gguf(s.m), &err);
    if (!rc) rc = tokenizer_encode_alloc(t, text, size, 0, &ids, &n, &err);
    if (!rc && n < ctx)
        rc = fo_fail(&err, FO_EINVAL, "%s has %zu tokens, fewer than a window of %zu", p.file, n,
                     ctx);
    if (!rc) rc = session_prepare(&s, p.fast, ctx, &err);
    for (size_t at = 0; !rc && at + ctx <= n; at += ctx)
        rc = window_nll(&s, ids + at, ctx, &nll, &count, &err);
    if (!rc && count)
        printf("{\"ppl\":%.4f,\"nll\":%.6f,\"tokens\":%zu}\n", exp(nll / (double)count),
               nll / (double)count, count);
    tokenizer_free(t);
    session_close(&s);
    free(ids);
    free(text);
    return rc ? cli_fail(&err) : 0;
}

const cli_command cli_command_perplexity = {
    "perplexity",
    "how well a model predicts a text",
    "forage perplexity --model m.gguf --file T [--ctx 512] [--fast]",
    "Prints {\"ppl\",\"nll\",\"tokens\"}. The text is cut into windows of --ctx tokens; each "
    "starts\n"
    "afresh and its second half counts; a last partial window is dropped.",
    perplexity_options,
    0,
    0,
    run_perplexity};
