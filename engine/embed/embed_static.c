#include "engine/embed/embed_static.h"

#include <assert.h>
#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "engine/embed/embedder_impl.h"
#include "engine/tokenizer/tokenizer.h"
#include "engine/tokenizer/tokenizer_gguf.h"
#include "engine/tokenizer/vocabulary.h"
#include "kernels/buf.h"
#include "kernels/file.h"

enum { MAX_DIM = 8192, ON_STACK = 2048, TF_TABLE = 64, MAX_JSON = 1 << 20 };

typedef struct embed_static { /* immutable after open */
    embedder base;
    tokenizer *tokens;
    int32_t unk;
    gguf *file;          /* owns the table, or */
    safetensors *folder; /* this does */
    const char *rows;    /* [n_rows] rows of row_bytes; not aligned */
    quant_type type;
    size_t row_bytes, n_rows;
    float *scale;     /* [n_vocab] factor of a token's row; NULL: 1 */
    uint32_t *row_of; /* [n_vocab]; NULL: the token's id */
    float *bias;      /* [dim] or NULL */
    float tf_power;
    float tf_weight[TF_TABLE]; /* c^tf_power */
} embed_static;

static void close_static(embedder *e) {
    embed_static *s = (embed_static *)e;
    tokenizer_free(s->tokens);
    gguf_close(s->file);
    safetensors_close(s->folder);
    free(s->scale);
    free(s->row_of);
    free(s->bias);
    free(s);
}

static void add_row(const embed_static *s, int32_t id, float weight, float *out, float *scratch) {
    size_t dim = s->base.dim;
    const char *row = s->rows + s->row_bytes * (s->row_of ? s->row_of[id] : (size_t)id);
    float scale = s->scale ? weight * s->scale[id] : weight;
    if (s->type == QUANT_I8) {
        const int8_t *q = (const int8_t *)row;
        for (size_t i = 0; i < dim; i++) out[i] += scale * (float)q[i];
        return;
    }
    quant_unpack_row(s->type, row, scratch, dim);
    for (size_t i = 0; i < dim; i++) out[i] += scale * scratch[i];
}

static int by_id(const void *a, const void *b) {
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Sorts ids. Each piece once, weighted by how often it stands. */
static void add_text(const embed_static *s, int32_t *ids, size_t n, float *out, float *scratch) {
    size_t dim = s->base.dim;
    float sum = 0;
    memset(out, 0, dim * sizeof *out);
    qsort(ids, n, sizeof *ids, by_id);
    for (size_t i = 0, j; i < n; i = j) {
        for (j = i + 1; j < n && ids[j] == ids[i]; j++) continue;
        if (ids[i] == s->unk) continue;
        float weight = j - i < TF_TABLE ? s->tf_weight[j - i] : powf((float)(j - i), s->tf_power);
        add_row(s, ids[i], weight, out, scratch);
        sum += weight;
    }
    for (size_t i = 0; s->bias && i < dim; i++) out[i] += sum * s->bias[i];
}

/* Was all of the table that was read given by the disk? */
static int intact(const embedder *e, fo_err *err) {
    const embed_static *s = (const embed_static *)e;
    return s->folder ? safetensors_intact(s->folder, err) : gguf_intact(s->file, err);
}

static int embed(embedder *e, enum embed_kind kind, const char *const *texts, const size_t *lens,
                 size_t n_texts, float *out, fo_err *err) {
    (void)kind; /* a table knows no prefixes */
    embed_static *s = (embed_static *)e;
    int32_t small[ON_STACK], *ids = small, *grown = NULL;
    size_t cap = ON_STACK;
    float scratch[MAX_DIM];
    int rc = intact(e, err); /* one that was lost is read no further */
    for (size_t t = 0; t < n_texts && !rc; t++) {
        int64_t n = tokenizer_encode(s->tokens, texts[t], lens[t], 0, ids, cap);
        if (n > (int64_t)cap) {
            free(grown);
            cap = (size_t)n;
            ids = grown = malloc(cap * sizeof *ids);
            if (!ids) return fo_fail(err, FO_ENOMEM, "out of memory for %zu tokens", cap);
            n = tokenizer_encode(s->tokens, texts[t], lens[t], 0, ids, cap);
        }
        if (n < 0)
            rc = fo_fail(err, (int)n, "text %zu of %zu bytes cannot be split into pieces", t,
                         lens[t]);
        else
            add_text(s, ids, (size_t)n, out + t * s->base.dim, scratch);
    }
    free(grown);
    return rc ? rc : intact(e, err);
}

static size_t count_tokens(embedder *e, const char *text, size_t len) {
    int64_t n = tokenizer_count(((embed_static *)e)->tokens, text, len, 0);
    return n < 0 ? len : (size_t)n;
}

static const embedder_ops static_ops = {close_static, embed, count_tokens, intact};

/* What decides the vectors, in the order of its use. */
static int take_fingerprint(embed_static *s, fo_err *err) {
    fingerprint *f = embedder_fingerprint_begin("forage static table, numerics 2");
    if (!f) return fo_no_memory(err);
    size_t n_vocab = (size_t)tokenizer_vocab_size(s->tokens);
    for (size_t i = 0; i < n_vocab; i++) {
        tokenizer_string p = tokenizer_piece(s->tokens, (int32_t)i);
        embedder_fingerprint_add(f, p.data, p.len);
    }
    uint64_t shape[3] = {s->base.dim, s->n_rows, s->type};
    embedder_fingerprint_add(f, shape, sizeof shape);
    embedder_fingerprint_add(f, s->rows, s->n_rows * s->row_bytes);
    embedder_fingerprint_add(f, &s->tf_power, sizeof s->tf_power);
    if (s->scale) embedder_fingerprint_add(f, s->scale, n_vocab * sizeof *s->scale);
    if (s->row_of) embedder_fingerprint_add(f, s->row_of, n_vocab * sizeof *s->row_of);
    if (s->bias) embedder_fingerprint_add(f, s->bias, s->base.dim * sizeof *s->bias);
    return embedder_fingerprint_end(f, s->base.fingerprint, err);
}

static embed_static *new_static(void) {
    embed_static *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    s->base.ops = &static_ops;
    s->base.max_tokens = EMBEDDER_NO_LIMIT; /* no position could run out */
    s->base.alpha = EMBED_STATIC_ALPHA;
    s->tf_power = 1;
    return s;
}

static int check_finite(const float *v, size_t n, const char *what, fo_err *err) {
    for (size_t i = 0; i < n; i++)
        if (!isfinite(v[i])) return fo_fail(err, FO_ECORRUPT, "%s %zu is not finite", what, i);
    return FO_OK;
}

/* n floats out of any number type, in fresh memory. */
static int unpack_floats(float **out, quant_type type, const void *data, size_t n, const char *what,
                         fo_err *err) {
    *out = malloc(n * sizeof **out);
    if (!*out) return fo_fail(err, FO_ENOMEM, "out of memory for %zu floats", n);
    quant_unpack_row(type, data, *out, n);
    return check_finite(*out, n, what, err);
}

/* The caller owns s; vocabulary, table and shape are set. */
static int finish(embedder **out, embed_static *s, fo_err *err) {
    if (s->base.dim < 1 || s->base.dim > MAX_DIM)
        return fo_fail(err, FO_EUNSUPPORTED, "vectors of %zu dimensions: 1 to %d are possible",
                       s->base.dim, MAX_DIM);
    s->base.vocabulary = s->tokens;
    if (tokenizer_get_kind(s->tokens) != TOKENIZER_WORDPIECE)
        return fo_fail(err, FO_EUNSUPPORTED, "a static table needs a WordPiece vocabulary");
    size_t n_vocab = (size_t)tokenizer_vocab_size(s->tokens);
    if (!s->row_of && s->n_rows < n_vocab)
        return fo_fail(err, FO_ECORRUPT, "the table has %zu rows for %zu pieces", s->n_rows,
                       n_vocab);
    s->unk = tokenizer_special_id(s->tokens, TOKENIZER_UNK);
    for (int c = 0; c < TF_TABLE; c++) s->tf_weight[c] = powf((float)c, s->tf_power);
    int rc = take_fingerprint(s, err);
    if (!rc) rc = intact(&s->base, err);
    if (!rc) *out = &s->base;
    return rc;
}

/* --- the GGUF form --- */
static int load_gguf(embedder **out, embed_static *s, const gguf *g, fo_err *err) {
    int rc = tokenizer_from_gguf(&s->tokens, g, err);
    if (rc) return rc;
    size_t n_vocab = (size_t)tokenizer_vocab_size(s->tokens);
    uint64_t dim;
    if ((rc = gguf_get_u64(g, EMBED_STATIC_ARCH ".embedding_length", &dim, err))) return rc;
    const gguf_tensor *table, *scale = gguf_find_tensor(g, "token_embd.scale"),
                              *bias = gguf_find_tensor(g, "output.bias");
    if ((rc = gguf_need_tensor(g, "token_embd.weight", dim, n_vocab, &table, err))) return rc;
    s->base.dim = (size_t)dim;
    s->rows = table->data;
    s->type = table->type;
    s->row_bytes = table->row_bytes;
    s->n_rows = (size_t)table->n_rows;
    if (scale) {
        if ((rc = gguf_need_tensor(g, "token_embd.scale", n_vocab, 1, &scale, err))) return rc;
        if (quant_type_traits(scale->type)->block_size != 1)
            return fo_fail(err, FO_EUNSUPPORTED, "token_embd.scale must hold plain numbers");
        if ((rc = unpack_floats(&s->scale, scale->type, scale->data, n_vocab, "scale", err)))
            return rc;
    }
    if (bias) {
        if ((rc = gguf_need_tensor(g, "output.bias", dim, 1, &bias, err))) return rc;
        if ((rc = unpack_floats(&s->bias, bias->type, bias->data, (size_t)dim, "bias", err)))
            return rc;
    }
    double alpha = (double)s->base.alpha;
    rc = gguf_get_f64(g, EMBED_STATIC_ARCH ".alpha", &alpha, err);
    if (rc && rc != FO_ENOTFOUND) return rc;
    if (!(alpha >= 0 && alpha <= 1))
        return fo_fail(err, FO_ECORRUPT, EMBED_STATIC_ARCH ".alpha is %g, not within 0 to 1",
                       alpha);
    s->base.alpha = (float)alpha;
    double power = 1;
    rc = gguf_get_f64(g, EMBED_STATIC_ARCH ".tf_power", &power, err);
    if (rc && rc != FO_ENOTFOUND) return rc;
    if (!(power > 0 && power <= 1))
        return fo_fail(err, FO_ECORRUPT, EMBED_STATIC_ARCH ".tf_power is %g, not within 0 to 1",
                       power);
    s->tf_power = (float)power;
    return finish(out, s, err);
}

int embed_static_open_gguf(embedder **out, gguf *g, const char *path, fo_err *err) {
    embed_static *s = new_static();
    if (!s) {
        gguf_close(g);
        return fo_no_memory(err);
    }
    s->file = g;
    gguf_str name;
    int rc = gguf_get_optional_str(g, "general.name", &name, err);
    embedder_set_name(&s->base, name.len ? name.ptr : path, name.len ? name.len : strlen(path));
    if (!rc) rc = load_gguf(out, s, g, err);
    if (rc) {
        close_static(&s->base);
        return err ? fo_fail_prefix(err, "%s", path) : rc;
    }
    return FO_OK;
}

/* --- the model2vec form --- */
static int read_json(const char *folder, const char *name, cJSON **out, fo_err *err) {
    fo_buf path = {0};
    fo_buf_printf(&path, "%s/%s", folder, name);
    if (path.failed) return fo_no_memory(err);
    char *text;
    size_t n;
    int rc = fo_file_read(path.data, MAX_JSON, &text, &n, err);
    fo_buf_free(&path);
    if (rc) return rc;
    *out = cJSON_ParseWithLength(text, n);
    free(text);
    return *out ? FO_OK : fo_fail(err, FO_ECORRUPT, "%s is not JSON", name);
}

static int load_vocabulary(embed_static *s, const char *folder, fo_err *err) {
    fo_buf path = {0};
    vocabulary v = {0};
    fo_buf_printf(&path, "%s/tokenizer.json", folder);
    int rc = path.failed ? fo_no_memory(err) : vocabulary_read_json(&v, path.data, err);
    if (!rc) rc = tokenizer_from_wordpiece(&s->tokens, v.pieces, v.n, err);
    vocabulary_free(&v);
    fo_buf_free(&path);
    return rc;
}

static int load_mapping(embed_static *s, const safetensors_tensor *t, size_t n_vocab, fo_err *err) {
    if (t->n_values != n_vocab || (t->type != QUANT_I64 && t->type != QUANT_I32))
        return fo_fail(err, FO_ECORRUPT, "mapping has %llu numbers of %s for %zu pieces",
                       (unsigned long long)t->n_values, t->dtype, n_vocab);
    s->row_of = malloc(n_vocab * sizeof *s->row_of);
    if (!s->row_of) return fo_no_memory(err);
    for (size_t i = 0; i < n_vocab; i++) {
        int64_t row = 0;
        int32_t narrow;
        if (t->type == QUANT_I64) {
            memcpy(&row, (const char *)t->data + 8 * i, 8);
        } else {
            memcpy(&narrow, (const char *)t->data + 4 * i, 4);
            row = narrow;
        }
        if (row < 0 || (uint64_t)row >= s->n_rows)
            return fo_fail(err, FO_ECORRUPT, "mapping sends piece %zu to row %lld of %zu", i,
                           (long long)row, s->n_rows);
        s->row_of[i] = (uint32_t)row;
    }
    return FO_OK;
}

static int load_table(embed_static *s, fo_err *err) {
    const safetensors_tensor *t = safetensors_find(s->folder, "embeddings");
    if (!t || t->n_dims != 2 || t->type == QUANT_TYPE_END || !t->dims[0] || !t->dims[1])
        return fo_fail(err, FO_ECORRUPT,
                       "model.safetensors has no two-dimensional tensor 'embeddings' of numbers");
    s->n_rows = (size_t)t->dims[0];
    s->base.dim = (size_t)t->dims[1];
    s->rows = t->data;
    s->type = t->type;
    s->row_bytes = t->size_bytes / s->n_rows;
    size_t n_vocab = (size_t)tokenizer_vocab_size(s->tokens);
    const safetensors_tensor *mapping = safetensors_find(s->folder, "mapping");
    const safetensors_tensor *weights = safetensors_find(s->folder, "weights");
    int rc = mapping ? load_mapping(s, mapping, n_vocab, err) : FO_OK;
    if (rc || !weights) return rc;
    if (weights->n_values != n_vocab || weights->type == QUANT_TYPE_END)
        return fo_fail(err, FO_ECORRUPT, "weights has %llu numbers for %zu pieces",
                       (unsigned long long)weights->n_values, n_vocab);
    return unpack_floats(&s->scale, weights->type, weights->data, n_vocab, "weight", err);
}

static int load_folder(embedder **out, embed_static *s, const char *path, fo_err *err) {
    cJSON *json = NULL;
    int rc = read_json(path, "config.json", &json, err);
    if (rc) return rc;
    const cJSON *type = cJSON_GetObjectItemCaseSensitive(json, "model_type");
    if (!cJSON_IsString(type) || strcmp(type->valuestring, "model2vec"))
        rc = fo_fail(err, FO_EUNSUPPORTED,
                     "config.json says model_type %.40s: a folder must hold a model2vec model; "
                     "make a GGUF of an encoder with `forage convert`",
                     cJSON_IsString(type) ? type->valuestring : "nothing");
    cJSON_Delete(json);
    if (!rc) rc = load_vocabulary(s, path, err);
    if (rc) return rc;
    fo_buf file = {0};
    fo_buf_printf(&file, "%s/model.safetensors", path);
    rc = file.failed ? fo_no_memory(err) : safetensors_open(&s->folder, file.data, err);
    fo_buf_free(&file);
    if (!rc) rc = load_table(s, err);
    return rc ? rc : finish(out, s, err);
}

int embed_static_open_folder(embedder **out, const char *path, fo_err *err) {
    embed_static *s = new_static();
    if (!s) return fo_no_memory(err);
    size_t end = strlen(path);
    while (end > 1 && path[end - 1] == '/') end--;
    size_t begin = end;
    while (begin > 0 && path[begin - 1] != '/') begin--;
    embedder_set_name(&s->base, path + begin, end - begin);
    int rc = load_folder(out, s, path, err);
    if (rc) {
        close_static(&s->base);
        return err ? fo_fail_prefix(err, "%s", path) : rc;
    }
    return FO_OK;
}
