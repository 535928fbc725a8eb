#include "engine/embed/reader_pair.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/embed/reader_builtin.h"
#include "engine/embed/weight_changes.h"
#include "kernels/quant.h"
#include "kernels/vec.h"

void pair_encoder_free(pair_encoder *p) {
    if (!p) return;
    encoder_free(p->run);
    model_close(p->weights);
    free(p->rows[0]);
    free(p->rows[1]);
    free(p);
}

/* --- what is known of which encoder --- */
typedef const void *builtin_fn(size_t *size);

/* Changes of a kind stand upon those of all kinds before it. */
typedef struct pair_source {
    builtin_fn *changes;               /* NULL: there are none of this kind */
    const char *name, *rows[2], *bias; /* bias NULL: it has none */
} pair_source;

struct pair_family {
    bool
        builtin; /* of the reader inside the binary; else of weights like those in the first file of changes */
    pair_source kinds[PAIR_KINDS];
};

#define CROSS_ROWS {"cross.mean.weight", "cross.most.weight"}, "forage.cross.bias"
#define SPAN_ROWS  {"span.begin.weight", "span.end.weight"}, NULL

static const pair_family families[] = {
    {.builtin = true,
     .kinds = {[PAIR_CROSS] = {reader_builtin_cross, "the built-in cross-encoder", CROSS_ROWS},
               [PAIR_SPANS] = {reader_builtin_spans, "the built-in reader of spans", SPAN_ROWS}}},
    {.kinds = {[PAIR_CROSS] = {reader_builtin_cross_e5,
                               "the cross-encoder of multilingual-e5-small", CROSS_ROWS}}},
};

/* Norms stay floats whatever the matrices are packed as, and no training leaves them as they were: a file of changes has some
 * of those that it was made for, as "base.NAME". */
static bool is_like(const gguf *changes, const gguf *file) {
    static const char prefix[] = "base.";
    static const double within = 0.01; /* of their length */
    const size_t n = sizeof prefix - 1;
    size_t compared = 0;
    for (size_t i = 0; i < gguf_n_tensors(changes); i++) {
        const gguf_tensor *t = gguf_tensor_at(changes, i);
        char name[96];
        if (t->name.len <= n || t->name.len - n >= sizeof name || memcmp(t->name.ptr, prefix, n))
            continue;
        memcpy(name, t->name.ptr + n, t->name.len - n);
        name[t->name.len - n] = 0;
        const gguf_tensor *of = gguf_find_tensor(file, name);
        if (!of || t->type != QUANT_F32 || of->type != QUANT_F32 || of->n_values != t->n_values)
            return false;
        double length = 0, apart = 0;
        for (size_t k = 0; k < t->n_values; k++) {
            float x[2];
            memcpy(&x[0], (const char *)t->data + 4 * k, 4);
            memcpy(&x[1], (const char *)of->data + 4 * k, 4);
            length += (double)x[0] * (double)x[0];
            apart += (double)(x[0] - x[1]) * (double)(x[0] - x[1]);
        }
        if (!(apart <= within * within * length)) return false;
        compared++;
    }
    return compared > 0;
}

int pair_family_find(reader *r, fo_err *err) {
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        const pair_family *f = &families[i];
        bool fits = f->builtin && r->builtin;
        if (!f->builtin && !r->builtin) {
            size_t size;
            gguf *changes = NULL;
            const void *data = f->kinds[0].changes(&size);
            int rc = gguf_open_memory(&changes, data, size, err);
            if (rc) return rc;
            fits = is_like(changes, model_gguf(r->weights));
            gguf_close(changes);
        }
        if (fits) r->family = f;
    }
    return FO_OK;
}

bool pair_can(const reader *r, enum pair_kind kind) {
    const pair_family *f = r->of ? r->of->family : r->family;
    return f && f->kinds[kind].changes;
}

/* --- opening --- */
static int read_head(pair_encoder *p, const pair_source *from, const gguf *changes, fo_err *err) {
    double bias = 0;
    int rc = FO_OK;
    for (int i = 0; !rc && i < 2; i++) {
        const gguf_tensor *t;
        rc = gguf_need_tensor(changes, from->rows[i], p->dim, 1, &t, err);
        if (!rc && !(p->rows[i] = malloc(p->dim * sizeof *p->rows[i]))) rc = fo_no_memory(err);
        if (!rc) quant_unpack_row(t->type, t->data, p->rows[i], p->dim);
    }
    if (!rc && from->bias) rc = gguf_get_f64(changes, from->bias, &bias, err);
    p->bias = (float)bias;
    return rc;
}

static int prepare(pair_encoder *p, const reader *r, enum pair_kind kind, fo_err *err) {
    const pair_source *kinds = r->family->kinds;
    gguf *changes[PAIR_KINDS] = {NULL}, *file = NULL;
    size_t n = 0;
    int rc = FO_OK;
    for (; !rc && n <= kind; n++) {
        size_t size;
        const void *data = kinds[n].changes(&size);
        rc = gguf_open_memory(&changes[n], data, size, err);
    }
    p->dim = r->dim;
    if (!rc)
        rc = weights_changed(&file, model_gguf(r->weights), (const gguf *const *)changes, n,
                             r->pool, err);
    if (!rc) rc = read_head(p, &kinds[kind], changes[kind], err);
    for (size_t i = 0; i < n; i++) gguf_close(changes[i]);
    if (rc) {
        gguf_close(file);
        return rc;
    }
    const model_options o = {.pool = r->pool, .fast = !r->exact};
    rc = model_open_gguf(&p->weights, file, kinds[kind].name, &o, err);
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
