#include "engine/embed/reader_pair.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/embed/builtin_changes.h"
#include "kernels/quant.h"
#include "kernels/vec.h"

void pair_encoder_free(pair_encoder *p) {
    if (!p) return;
    encoder_free(p->run);
    model_close(p->weights);
    free(p->rows[0]);
    free(p->rows[1]);
    free(p->bytes);
    free(p);
}

/* --- opening --- */
typedef const void *builtin_fn(size_t *size);

/* The changes of a kind stand upon those of all kinds before it. */
static const struct {
    builtin_fn *changes;
    const char *name, *rows[2], *bias; /* bias NULL: it has none */
} kinds[PAIR_KINDS] = {
    [PAIR_CROSS] = {reader_builtin_cross,
                    "the built-in cross-encoder",
                    {"cross.mean.weight", "cross.most.weight"},
                    "forage.cross.bias"},
    [PAIR_SPANS] = {reader_builtin_spans,
                    "the built-in reader of spans",
                    {"span.begin.weight", "span.end.weight"},
                    NULL},
};

static int read_head(pair_encoder *p, enum pair_kind kind, const gguf *changes, fo_err *err) {
    double bias = 0;
    int rc = FO_OK;
    for (int i = 0; !rc && i < 2; i++) {
        const gguf_tensor *t;
        rc = gguf_need_tensor(changes, kinds[kind].rows[i], p->dim, 1, &t, err);
        if (!rc && !(p->rows[i] = malloc(p->dim * sizeof *p->rows[i]))) rc = fo_no_memory(err);
        if (!rc) quant_unpack_row(t->type, t->data, p->rows[i], p->dim);
    }
    if (!rc && kinds[kind].bias) rc = gguf_get_f64(changes, kinds[kind].bias, &bias, err);
    p->bias = (float)bias;
    return rc;
}

static int prepare(pair_encoder *p, const reader *r, enum pair_kind kind, fo_err *err) {
    gguf *changes[PAIR_KINDS] = {NULL};
    size_t size, n = 0;
    int rc = FO_OK;
    for (; !rc && n <= kind; n++) {
        const void *data = kinds[n].changes(&size);
        rc = gguf_open_memory(&changes[n], data, size, err);
    }
    p->dim = r->dim;
    if (!rc) rc = builtin_changed(&p->bytes, &size, (const gguf *const *)changes, n, r->pool, err);
    if (!rc) rc = read_head(p, kind, changes[kind], err);
    for (size_t i = 0; i < n; i++) gguf_close(changes[i]);
    const model_options o = {.pool = r->pool, .fast = !r->exact};
    if (!rc) rc = model_open_memory(&p->weights, p->bytes, size, kinds[kind].name, &o, err);
    const encoder_limits limits = {.batch_tokens = (int)r->step_tokens, .pool = r->pool};
    return rc ? rc : encoder_create(&p->run, p->weights, &limits, err);
}

int pair_need(reader *r, enum pair_kind kind, pair_encoder **out, fo_err *err) {
    pair_slot *slot = &r->pairs[kind];
    if (!slot->opened) {
        pair_encoder *p = calloc(1, sizeof *p);
        int rc = p ? prepare(p, r, kind, err) : fo_no_memory(err);
        if (rc) {
            pair_encoder_free(p);
            return rc;
        }
        slot->opened = p;
    }
    *out = slot->opened;
    return FO_OK;
}

/* --- reading --- */
int pair_tokens(const reader *r, const char *text, size_t len, size_t most, int32_t *ids,
                tokenizer_span *spans, size_t *n, fo_err *err) {
    const int64_t got = tokenizer_encode_spans(r->tokens, text, len, ids, spans, most);
    if (got < 0) return fo_fail(err, (int)got, "a passage of %zu bytes cannot be read", len);
    *n = (size_t)got > most ? most : (size_t)got;
    return FO_OK;
}

int pair_head(const reader *r, const char *question, const char *title, int32_t *ids, size_t *n,
              fo_err *err) {
    tokenizer_span
        spans[PAIR_QUESTION_TOKENS > PAIR_TITLE_TOKENS ? PAIR_QUESTION_TOKENS : PAIR_TITLE_TOKENS];
    size_t at = 0, got = 0;
    if (!title) title = "";
    ids[at++] = r->first;
    int rc = pair_tokens(r, question, strlen(question), PAIR_QUESTION_TOKENS, ids + at, spans, &got,
                         err);
    if (rc) return rc;
    at += got;
    ids[at++] = r->last;
    rc = pair_tokens(r, title, strlen(title), PAIR_TITLE_TOKENS, ids + at, spans, &got, err);
    if (rc) return rc;
    at += got;
    ids[at++] = r->last;
    *n = at;
    return FO_OK;
}

void pair_products(const pair_encoder *p, const float *vector, float *first, float *second) {
    const vec_kernels *vec = vec_get();
    const int n = (int)p->dim;
    const float length = sqrtf(vec->dot(vector, vector, n));
    const float by = length > 1e-12f ? 1 / length : 0;
    *first = by * vec->dot(vector, p->rows[0], n);
    *second = by * vec->dot(vector, p->rows[1], n);
}
