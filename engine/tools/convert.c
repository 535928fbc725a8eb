#include "engine/tools/convert_internal.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/gguf/gguf.h"
#include "engine/gguf/safetensors.h"
#include "engine/tokenizer/tokenizer.h"
#include "engine/tokenizer/vocabulary.h"
#include "kernels/buf.h"
#include "kernels/file.h"
#include "kernels/paths.h"

enum { MAX_JSON = 16 << 20, MAX_LAYERS = 512, MAX_WIDTH = 1 << 20 };
enum { POOL_MEAN = 1, POOL_CLS = 2, POOL_LAST = 3, POOL_RANK = 4 };

typedef struct source {
    const char *folder;
    cJSON *config;
    safetensors *weights;
    vocabulary words;
    tokenizer *tokens;
    const char *prefix; /* of tensor names: "", "bert." or "model." */
    uint64_t n_layers, d_model, d_ff, n_heads, n_context, n_types, n_vocab;
    double epsilon;
    int pooling;
    bool classifier;
} source;

/* --- the small files --- */
static int path_of(const source *s, const char *name, fo_buf *path, fo_err *err) {
    fo_buf_printf(path, "%s/%s", s->folder, name);
    return path->failed ? fo_no_memory(err) : FO_OK;
}

static int read_json(const source *s, const char *name, cJSON **out, fo_err *err) {
    fo_buf path = {0};
    char *text = NULL;
    size_t n;
    int rc = path_of(s, name, &path, err);
    if (!rc) rc = fo_file_read(path.data, MAX_JSON, &text, &n, err);
    if (!rc && !(*out = cJSON_ParseWithLength(text, n)))
        rc = fo_fail(err, FO_ECORRUPT, "%s is not JSON", path.data);
    free(text);
    fo_buf_free(&path);
    return rc;
}

/* The same where the file may lack: *out stays NULL. */
static int read_optional(const source *s, const char *name, cJSON **out, fo_err *err) {
    int rc = read_json(s, name, out, err);
    return rc == FO_ENOTFOUND ? FO_OK : rc;
}

static int need_count(const source *s, const char *key, uint64_t most, uint64_t *out, fo_err *err) {
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(s->config, key);
    if (!cJSON_IsNumber(v) || !(v->valuedouble >= 1 && v->valuedouble <= (double)most) ||
        v->valuedouble != (double)(uint64_t)v->valuedouble)
        return fo_fail(err, FO_ECORRUPT, "config.json has no %s between 1 and %llu", key,
                       (unsigned long long)most);
    *out = (uint64_t)v->valuedouble;
    return FO_OK;
}

/* config.json must say `want` under `key`, or nothing. */
static int need_word(const source *s, const char *key, const char *want, fo_err *err) {
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(s->config, key);
    if (!v || (cJSON_IsString(v) && !strcmp(v->valuestring, want))) return FO_OK;
    return fo_fail(err, FO_EUNSUPPORTED, "config.json says %s is %.60s; Forage converts %s", key,
                   cJSON_IsString(v) ? v->valuestring : "no string", want);
}

static int read_config(source *s, fo_err *err) {
    int rc;
    if ((rc = read_json(s, "config.json", &s->config, err)) ||
        (rc = need_word(s, "model_type", "bert", err)) ||
        (rc = need_word(s, "hidden_act", "gelu", err)) ||
        (rc = need_word(s, "position_embedding_type", "absolute", err)) ||
        (rc = need_count(s, "num_hidden_layers", MAX_LAYERS, &s->n_layers, err)) ||
        (rc = need_count(s, "hidden_size", MAX_WIDTH, &s->d_model, err)) ||
        (rc = need_count(s, "intermediate_size", MAX_WIDTH, &s->d_ff, err)) ||
        (rc = need_count(s, "num_attention_heads", 1024, &s->n_heads, err)) ||
        (rc = need_count(s, "max_position_embeddings", MAX_WIDTH, &s->n_context, err)) ||
        (rc = need_count(s, "type_vocab_size", 1024, &s->n_types, err)) ||
        (rc = need_count(s, "vocab_size", 1 << 24, &s->n_vocab, err)))
        return rc;
    if (s->d_model % s->n_heads)
        return fo_fail(err, FO_ECORRUPT, "config.json: %llu heads do not divide a width of %llu",
                       (unsigned long long)s->n_heads, (unsigned long long)s->d_model);
    const cJSON *eps = cJSON_GetObjectItemCaseSensitive(s->config, "layer_norm_eps");
    s->epsilon = cJSON_IsNumber(eps) ? eps->valuedouble : 1e-12;
    return FO_OK;
}

static bool is_true(const cJSON *object, const char *key) {
    return cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(object, key));
}

/* What a model of sentence-transformers is made of, in modules.json: another module than these would change its
 * vectors. name: the pooling's config.json. */
static int read_module(const cJSON *m, char *name, size_t size, fo_err *err) {
    const char *type = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(m, "type"));
    const char *path = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(m, "path"));
    const char *dot = type ? strrchr(type, '.') : NULL, *kind = dot ? dot + 1 : type;
    if (!kind) return fo_fail(err, FO_ECORRUPT, "modules.json has a module without a type");
    if (!strcmp(kind, "Transformer") || !strcmp(kind, "Normalize")) return FO_OK;
    if (strcmp(kind, "Pooling"))
        return fo_fail(err, FO_EUNSUPPORTED,
                       "modules.json has a module %.60s; Forage converts Transformer, Pooling and "
                       "Normalize",
                       kind);
    if (!path) return FO_OK;
    if (strstr(path, "..") || path[0] == '/')
        return fo_fail(err, FO_ECORRUPT, "modules.json points outside the folder");
    snprintf(name, size, "%.200s/config.json", path);
    return FO_OK;
}

/* Several modes make a vector of all of them, one behind the other. */
static int pooling_of(const cJSON *pooling, const char *name, int *out, fo_err *err) {
    const cJSON *mode;
    int n = 0;
    cJSON_ArrayForEach(mode, pooling) n +=
        cJSON_IsTrue(mode) && !strncmp(mode->string, "pooling_mode_", 13);
    if (n > 1) return fo_fail(err, FO_EUNSUPPORTED, "%s: %d modes of pooling at once", name, n);
    *out = is_true(pooling, "pooling_mode_mean_tokens") ? POOL_MEAN
           : is_true(pooling, "pooling_mode_cls_token") ? POOL_CLS
           : is_true(pooling, "pooling_mode_lasttoken") ? POOL_LAST
                                                        : 0;
    if (*out) return FO_OK;
    return fo_fail(err, FO_EUNSUPPORTED, "%s: pooling is neither mean, cls nor last token", name);
}

/* The pooling module's folder, "1_Pooling" where modules.json is silent. */
static int read_pooling(source *s, fo_err *err) {
    cJSON *modules = NULL, *pooling = NULL;
    const cJSON *m;
    char name[512] = "1_Pooling/config.json";
    int rc = read_optional(s, "modules.json", &modules, err);
    cJSON_ArrayForEach(m, modules) if (!rc) rc = read_module(m, name, sizeof name, err);
    cJSON_Delete(modules);
    if (!rc) rc = read_optional(s, name, &pooling, err);
    if (rc) return rc;
    s->pooling = s->classifier ? POOL_RANK : POOL_MEAN;
    if (pooling && !s->classifier) rc = pooling_of(pooling, name, &s->pooling, err);
    cJSON_Delete(pooling);
    return rc;
}

static int read_words(source *s, fo_err *err) {
    fo_buf path = {0};
    int rc = path_of(s, "vocab.txt", &path, err);
    if (!rc) rc = vocabulary_read_text(&s->words, path.data, err);
    if (rc == FO_ENOTFOUND) {
        fo_buf_clear(&path);
        if (!(rc = path_of(s, "tokenizer.json", &path, err)))
            rc = vocabulary_read_json(&s->words, path.data, err);
    }
    fo_buf_free(&path);
    if (rc) return rc;
    if (s->words.n != s->n_vocab)
        return fo_fail(err, FO_ECORRUPT, "%zu pieces for a vocabulary of %llu in config.json",
                       s->words.n, (unsigned long long)s->n_vocab);
    return tokenizer_from_wordpiece(&s->tokens, s->words.pieces, s->words.n, err);
}

static int open_weights(source *s, fo_err *err) {
    fo_buf path = {0};
    int rc = path_of(s, "model.safetensors", &path, err);
    if (!rc) rc = safetensors_open(&s->weights, path.data, err);
    fo_buf_free(&path);
    if (rc) return rc;
    static const char *const prefixes[] = {"", "bert.", "model.", "0.auto_model."};
    char name[128];
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        snprintf(name, sizeof name, "%sembeddings.word_embeddings.weight", prefixes[i]);
        if (!safetensors_find(s->weights, name)) continue;
        s->prefix = prefixes[i];
        s->classifier = safetensors_find(s->weights, "classifier.weight") != NULL;
        return FO_OK;
    }
    return fo_fail(err, FO_ENOTFOUND,
                   "model.safetensors has no embeddings.word_embeddings.weight: no BERT encoder");
}

/* --- tensors --- */
typedef struct plan {
    const safetensors_tensor *t;
    quant_type type;
} plan;

typedef struct job {
    source s;
    gguf_writer *w;
    plan *plans;
    size_t n, cap;
    const convert_options *o;
    uint64_t total, done;
} job;

static const safetensors_tensor *find(const source *s, const char *prefix, const char *name,
                                      const char *end) {
    char full[256];
    const safetensors_tensor *t;
    snprintf(full, sizeof full, "%s%s.%s", prefix, name, end);
    if ((t = safetensors_find(s->weights, full))) return t;
    /* Checkpoints of TensorFlow's days call a norm's weight gamma, its bias beta. */
    snprintf(full, sizeof full, "%s%s.%s", prefix, name, strcmp(end, "bias") ? "gamma" : "beta");
    return safetensors_find(s->weights, full);
}

/* List one tensor of [rows, cols] (rows 0: a vector) under its GGUF name. */
static int add(job *j, const char *prefix, const char *from, const char *end, const char *to,
               uint64_t rows, uint64_t cols, bool matrix, fo_err *err) {
    const safetensors_tensor *t = find(&j->s, prefix, from, end);
    if (!t)
        return fo_fail(err, FO_ENOTFOUND, "model.safetensors has no %s%s.%s", prefix, from, end);
    bool shape = rows ? t->n_dims == 2 && t->dims[0] == rows && t->dims[1] == cols
                      : t->n_dims == 1 && t->dims[0] == cols;
    if (!shape || t->type == QUANT_TYPE_END)
        return fo_fail(err, FO_ECORRUPT, "tensor %.100s (%s) is not %llu x %llu numbers", t->name,
                       t->dtype, (unsigned long long)(rows ? rows : 1), (unsigned long long)cols);
    if (j->n == j->cap) {
        size_t cap = j->cap ? 2 * j->cap : 256;
        plan *grown = realloc(j->plans, cap * sizeof *grown);
        if (!grown) return fo_no_memory(err);
        j->plans = grown;
        j->cap = cap;
    }
    quant_type type = convert_row_type(matrix ? j->o->type : QUANT_F32, cols);
    char name[128];
    snprintf(name, sizeof name, "%s.%s", to, end);
    gguf_put_tensor(j->w, name, type, rows ? 2 : 1, (uint64_t[]){cols, rows});
    j->plans[j->n++] = (plan){t, type};
    j->total += t->size_bytes;
    return FO_OK;
}

static int add_norm(job *j, const char *from, const char *to, fo_err *err) {
    int rc = add(j, j->s.prefix, from, "weight", to, 0, j->s.d_model, false, err);
    return rc ? rc : add(j, j->s.prefix, from, "bias", to, 0, j->s.d_model, false, err);
}

static int add_linear(job *j, const char *prefix, const char *from, const char *to, uint64_t rows,
                      uint64_t cols, fo_err *err) {
    int rc = add(j, prefix, from, "weight", to, rows, cols, true, err);
    return rc ? rc : add(j, prefix, from, "bias", to, 0, rows, false, err);
}

static int add_layer(job *j, uint64_t layer, fo_err *err) {
    uint64_t d = j->s.d_model, ff = j->s.d_ff;
    const struct {
        const char *from, *to;
        uint64_t rows, cols; /* 0: a norm */
    } parts[] = {
        {"attention.self.query", "attn_q", d, d},
        {"attention.self.key", "attn_k", d, d},
        {"attention.self.value", "attn_v", d, d},
        {"attention.output.dense", "attn_output", d, d},
        {"attention.output.LayerNorm", "attn_output_norm", 0, 0},
        {"intermediate.dense", "ffn_up", ff, d},
        {"output.dense", "ffn_down", d, ff},
        {"output.LayerNorm", "layer_output_norm", 0, 0},
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        char from[96], to[64];
        snprintf(from, sizeof from, "encoder.layer.%llu.%s", (unsigned long long)layer,
                 parts[i].from);
        snprintf(to, sizeof to, "blk.%llu.%s", (unsigned long long)layer, parts[i].to);
        int rc = parts[i].rows
                     ? add_linear(j, j->s.prefix, from, to, parts[i].rows, parts[i].cols, err)
                     : add_norm(j, from, to, err);
        if (rc) return rc;
    }
    return FO_OK;
}

static int add_tensors(job *j, fo_err *err) {
    source *s = &j->s;
    int rc;
    if ((rc = add(j, s->prefix, "embeddings.word_embeddings", "weight", "token_embd", s->n_vocab,
                  s->d_model, true, err)) ||
        (rc = add(j, s->prefix, "embeddings.position_embeddings", "weight", "position_embd",
                  s->n_context, s->d_model, false, err)) ||
        (rc = add(j, s->prefix, "embeddings.token_type_embeddings", "weight", "token_types",
                  s->n_types, s->d_model, false, err)) ||
        (rc = add_norm(j, "embeddings.LayerNorm", "token_embd_norm", err)))
        return rc;
    for (uint64_t i = 0; i < s->n_layers; i++)
        if ((rc = add_layer(j, i, err))) return rc;
    if (!s->classifier) return FO_OK;
    const safetensors_tensor *score = safetensors_find(s->weights, "classifier.weight");
    uint64_t n_scores = score->n_dims == 2 ? score->dims[0] : 0;
    if (n_scores < 1 || n_scores > 1024)
        return fo_fail(err, FO_EUNSUPPORTED, "classifier.weight has no 1 to 1024 rows");
    rc = add_linear(j, s->prefix, "pooler.dense", "cls", s->d_model, s->d_model, err);
    return rc ? rc : add_linear(j, "", "classifier", "cls.output", n_scores, s->d_model, err);
}

static int write_tensor(job *j, const plan *p, fo_err *err) {
    const safetensors_tensor *t = p->t;
    size_t cols = (size_t)t->dims[t->n_dims - 1], rows = (size_t)(t->n_values / cols);
    size_t in_bytes = t->size_bytes / rows, out_bytes;
    quant_row_bytes(p->type, cols, &out_bytes);
    float *row = malloc(cols * sizeof *row);
    char *packed = malloc(out_bytes);
    int rc = row && packed ? FO_OK : fo_no_memory(err);
    for (size_t i = 0; !rc && i < rows; i++) {
        quant_unpack_row(t->type, (const char *)t->data + i * in_bytes, row, cols);
        quant_pack_row(p->type, row, packed, cols);
        rc = gguf_write_data(j->w, packed, out_bytes, err);
    }
    free(row);
    free(packed);
    j->done += t->size_bytes;
    if (!rc && j->o->progress) j->o->progress(j->o->progress_arg, j->done, j->total);
    return rc;
}

/* --- metadata --- */
static void put_prefixes(job *j, const cJSON *st) {
    const cJSON *prompts = cJSON_GetObjectItemCaseSensitive(st, "prompts");
    static const struct {
        const char *name, *key;
    } names[] = {
        {"query", "forage.embedding.query_prefix"},
        {"passage", "forage.embedding.passage_prefix"},
        {"document", "forage.embedding.passage_prefix"},
    };
    bool passage = false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const cJSON *v = cJSON_GetObjectItemCaseSensitive(prompts, names[i].name);
        if (!cJSON_IsString(v) || !v->valuestring[0] || (i > 0 && passage)) continue;
        gguf_put_str(j->w, names[i].key, v->valuestring);
        passage |= i > 0;
    }
}

static int put_extras(job *j, fo_err *err) {
    cJSON *st = NULL, *bert = NULL;
    int rc = read_optional(&j->s, "config_sentence_transformers.json", &st, err);
    if (!rc) rc = read_optional(&j->s, "sentence_bert_config.json", &bert, err);
    const cJSON *most = cJSON_GetObjectItemCaseSensitive(bert, "max_seq_length");
    if (cJSON_IsNumber(most) && most->valuedouble >= 3 &&
        most->valuedouble <= (double)j->s.n_context)
        gguf_put_u32(j->w, "forage.embedding.max_tokens", (uint32_t)most->valuedouble);
    put_prefixes(j, st);
    cJSON_Delete(st);
    cJSON_Delete(bert);
    return rc;
}

static void put_name(gguf_writer *w, const char *name, const char *out_path) {
    size_t len = name ? strlen(name) : 0;
    if (!name) {
        name = fo_base_name(out_path);
        const char *dot = strrchr(name, '.');
        len = dot && dot > name ? (size_t)(dot - name) : strlen(name);
    }
    gguf_put_str_n(w, "general.name", (gguf_str){name, len});
}

void convert_put_shape(gguf_writer *w, const convert_shape *s, quant_type type, const char *name,
                       const char *out_path) {
    gguf_put_str(w, "general.architecture", "bert");
    put_name(w, name, out_path);
    gguf_put_u32(w, "bert.block_count", (uint32_t)s->n_layers);
    gguf_put_u32(w, "bert.context_length", (uint32_t)s->n_context);
    gguf_put_u32(w, "bert.embedding_length", (uint32_t)s->d_model);
    gguf_put_u32(w, "bert.feed_forward_length", (uint32_t)s->d_ff);
    gguf_put_u32(w, "bert.attention.head_count", (uint32_t)s->n_heads);
    gguf_put_f32(w, "bert.attention.layer_norm_epsilon", (float)s->epsilon);
    gguf_put_bool(w, "bert.attention.causal", false);
    gguf_put_u32(w, "bert.pooling_type", (uint32_t)s->pooling);
    gguf_put_u32(w, "bert.vocab_size", (uint32_t)s->n_vocab);
    gguf_put_u32(w, "general.file_type",
                 type == QUANT_Q8_0   ? 7
                 : type == QUANT_Q4_0 ? 2
                 : type == QUANT_F16  ? 1
                                      : 0);
    if (type == QUANT_Q8_0 || type == QUANT_Q4_0)
        gguf_put_u32(w, "general.quantization_version", 2);
}

quant_type convert_row_type(quant_type type, uint64_t cols) {
    return cols % quant_type_traits(type)->block_size ? QUANT_F16 : type;
}

static int put_metadata(job *j, const char *out_path, fo_err *err) {
    const source *s = &j->s;
    const convert_shape shape = {s->n_layers, s->n_context, s->d_model, s->d_ff,
                                 s->n_heads,  s->n_vocab,   s->epsilon, s->pooling};
    convert_put_shape(j->w, &shape, j->o->type, j->o->name, out_path);
    int rc = put_extras(j, err);
    return rc ? rc : vocabulary_put(j->w, s->words.pieces, s->words.n, s->tokens, err);
}

static void describe(const job *j, convert_result *r) {
    static const char *const poolings[] = {"none", "mean", "cls", "last", "rank"};
    *r = (convert_result){.n_tensors = j->n,
                          .n_layers = (int)j->s.n_layers,
                          .d_model = (int)j->s.d_model,
                          .n_vocab = (int)j->s.n_vocab};
    for (size_t i = 0; i < j->n; i++) {
        size_t cols = (size_t)j->plans[i].t->dims[j->plans[i].t->n_dims - 1], row;
        quant_row_bytes(j->plans[i].type, cols, &row);
        r->out_bytes += row * (j->plans[i].t->n_values / cols);
    }
    snprintf(r->pooling, sizeof r->pooling, "%s", poolings[j->s.pooling]);
}

static int write_all(job *j, const char *out_path, convert_result *result, fo_err *err) {
    int rc = gguf_writer_create(&j->w, out_path, err);
    if (rc) return rc;
    rc = put_metadata(j, out_path, err);
    if (!rc) rc = add_tensors(j, err);
    for (size_t i = 0; !rc && i < j->n; i++) rc = write_tensor(j, &j->plans[i], err);
    /* What the disk did not give was read as zeroes: no model is made of them. */
    const int lost = safetensors_intact(j->s.weights, err);
    if (rc || lost) {
        gguf_writer_abort(j->w);
        return lost ? lost : rc;
    }
    rc = gguf_writer_commit(j->w, err);
    if (!rc && result) describe(j, result);
    return rc;
}

int convert_folder(const char *folder, const char *out_path, const convert_options *options,
                   convert_result *result, fo_err *err) {
    job j = {.s = {.folder = folder}, .o = options};
    int rc;
    if (!(rc = read_config(&j.s, err)) && !(rc = open_weights(&j.s, err)) &&
        !(rc = read_pooling(&j.s, err)) && !(rc = read_words(&j.s, err)))
        rc = write_all(&j, out_path, result, err);
    cJSON_Delete(j.s.config);
    safetensors_close(j.s.weights);
    tokenizer_free(j.s.tokens);
    vocabulary_free(&j.s.words);
    free(j.plans);
    return rc && err ? fo_fail_prefix(err, "%s", folder) : rc;
}
