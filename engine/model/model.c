/* model.c - opening, closing and naming a model. The weights are repacked once (model_load.c); the
 * mapped file stays for the embedding rows and the tokenizer, but its matrices take no memory once
 * they are repacked. */
#include "engine/model/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/model/model_internal.h"
#include "kernels/sha256.h"

static const architecture *const architectures[] = {
    &arch_llama, &arch_qwen2, &arch_qwen3,     &arch_gemma3, &arch_phi3,       &arch_qwen3moe,
    &arch_dream, &arch_llada, &arch_llada_moe, &arch_bert,   &arch_nomic_bert,
};
enum { N_ARCHITECTURES = sizeof architectures / sizeof *architectures };

/* --- fingerprint: every byte counts, so two fine-tunes never share a cache. A tree, so that the
 * threads share the work: SHA-256 over the version, the path and the SHA-256 of each 4 MiB. */
enum { HASH_CHUNK = 4 << 20 };
static const char numerics_version[] = "forage numerics 2";

enum { ARITHMETIC = 64 };

/* What decides the last bits of KV beside the model: processor levels that agree in it compute the same KV,
 * one of another must not find it. An encoder keeps none, and its vectors stay a home's own wherever that
 * goes: "". */
static void arithmetic(char out[ARITHMETIC], const model *m) {
    const bool fast = m->info.fast;
    out[0] = 0;
    if (m->info.encoder) return;
    snprintf(out, ARITHMETIC, "%s%s%s%s", m->vec == &vec_generic ? "plain floats" : "vectors",
             fast && m->mm->wide != MM_F32 ? ", rotated" : "",
             fast && m->mm->int16_sums ? ", 16-bit sums" : "",
             fast && m->attention == &attention_amx ? ", bf16 pairs" : "");
}

typedef struct hash_job {
    const gguf *file;
    unsigned char *sums; /* [chunks][32] */
} hash_job;

static void hash_some(void *arg, size_t begin, size_t end, int thread) {
    (void)thread;
    hash_job *j = arg;
    const unsigned char *data = gguf_bytes(j->file);
    const size_t size = gguf_file_bytes(j->file);
    for (size_t i = begin; i < end; i++) {
        size_t at = i * HASH_CHUNK, n = size - at < HASH_CHUNK ? size - at : HASH_CHUNK;
        fo_sha256_of(j->sums + 32 * i, data + at, n);
        gguf_forget(j->file, data + at, n);
    }
}

/* Of the bytes that the weights were read from: by now another file may lie at the path. */
static int fingerprint(model *m, fo_err *err) {
    char class[ARITHMETIC];
    arithmetic(class, m);
    const size_t chunks = (gguf_file_bytes(m->file) + HASH_CHUNK - 1) / HASH_CHUNK,
                 n_class = strlen(class), head = sizeof numerics_version + 1 + n_class;
    unsigned char *all = malloc(head + 32 * chunks);
    if (!all) return fo_fail(err, FO_ENOMEM, "no memory for the fingerprint");
    memcpy(all, numerics_version, sizeof numerics_version);
    all[sizeof numerics_version] = m->info.fast;
    memcpy(all + sizeof numerics_version + 1, class, n_class);
    hash_job job = {m->file, all + head};
    if (m->pool)
        fo_pool_run(m->pool, chunks, 1, hash_some, &job);
    else
        hash_some(&job, 0, chunks, 0);
    fo_sha256_of(m->info.fingerprint, all, head + 32 * chunks);
    free(all);
    return FO_OK;
}

/* Where the bytes come from: a file, or memory or a file that is open, called `path`. */
typedef struct source {
    const char *path;
    const void *data;
    size_t size;
    gguf *opened;
} source;

static int find_architecture(const architecture **out, gguf *file, char name[32], fo_err *err) {
    static const char key[] = "general.architecture";
    gguf_str s;
    if (!gguf_has(file, key))
        return fo_fail(err, FO_ECORRUPT, "the model lacks the metadata %s", key);
    int rc = gguf_get_str(file, key, &s, err);
    if (rc) return rc;
    for (int i = 0; i < N_ARCHITECTURES; i++)
        if (gguf_str_equal(s, architectures[i]->name)) {
            snprintf(name, 32, "%s", architectures[i]->name);
            *out = architectures[i];
            return FO_OK;
        }
    char known[256] = "";
    for (int i = 0; i < N_ARCHITECTURES; i++)
        snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", i ? ", " : "",
                 architectures[i]->name);
    return fo_fail(err, FO_EUNSUPPORTED, "the architecture '%.*s' is not supported (these are: %s)",
                   (int)(s.len < 40 ? s.len : 40), s.ptr, known);
}

/* What is wrong with the file itself names it already. */
static int open_file(model *m, const source *from, fo_err *err) {
    m->file = from->opened;
    if (from->opened) return FO_OK;
    if (!from->data) return gguf_open(&m->file, from->path, err);
    int rc = gguf_open_memory(&m->file, from->data, from->size, err);
    if (rc) fo_fail_prefix(err, "%s", from->path);
    return rc;
}

static int read_model(model *m, const model_options *options, bool probe, fo_err *err) {
    const architecture *a = NULL;
    gguf_str name;
    int rc;
    m->weights = fo_huge_create();
    if (!m->weights) return fo_fail(err, FO_ENOMEM, "no memory for the model");
    m->info.file_bytes = gguf_file_bytes(m->file);
    if ((rc = find_architecture(&a, m->file, m->info.arch, err)) ||
        (rc = gguf_get_optional_str(m->file, "general.name", &name, err)))
        return rc;
    snprintf(m->info.name, sizeof m->info.name, "%.*s", (int)(name.len < 120 ? name.len : 120),
             name.ptr);
    model_loader l = {
        .m = m, .arch = a->name, .probe = probe, .options = options, .layer = -1, .err = err};
    if ((rc = a->load(&l))) return rc;
    return probe ? FO_OK : fingerprint(m, err);
}

static int load(model **out, const source *from, const model_options *options, bool probe,
                fo_err *err) {
    model *m = calloc(1, sizeof *m);
    if (!m) {
        gguf_close(from->opened);
        return fo_fail(err, FO_ENOMEM, "no memory for the model");
    }
    m->pool = options->pool;
    m->info.fast = options->fast;
    m->vec = vec_get();
    m->mm = options->kernels ? options->kernels : mm_get();
    m->attention = attention_get();
    int rc = open_file(m, from, err);
    if (!rc && (rc = read_model(m, options, probe, err))) fo_fail_prefix(err, "%s", from->path);
    const int lost = m->file ? gguf_intact(m->file, err) : FO_OK;
    if (lost) rc = lost; /* and what was found in place of it is void */
    if (rc)
        model_close(m);
    else
        *out = m;
    return rc;
}

int model_probe(model_info *out, const char *path, bool fast, fo_err *err) {
    model *m;
    int rc = load(&m, &(source){.path = path}, &(model_options){.fast = fast}, true, err);
    if (rc) return rc;
    *out = m->info;
    model_close(m);
    return FO_OK;
}

static int open_from(model **out, const source *from, const model_options *options, fo_err *err) {
    fo_pool_visit visit = {0};
    if (options->pool) fo_pool_enter(options->pool, &visit); /* its share is touched first, too */
    int rc = load(out, from, options, false, err);
    fo_pool_leave(&visit);
    return rc;
}

int model_open(model **out, const char *path, const model_options *options, fo_err *err) {
    return open_from(out, &(source){.path = path}, options, err);
}

int model_open_memory(model **out, const void *data, size_t size, const char *name,
                      const model_options *options, fo_err *err) {
    return open_from(out, &(source){.path = name, .data = data, .size = size}, options, err);
}

int model_open_gguf(model **out, gguf *file, const char *name, const model_options *options,
                    fo_err *err) {
    return open_from(out, &(source){.path = name, .opened = file}, options, err);
}

void model_close(model *m) {
    if (!m) return;
    fo_huge_free(m->weights);
    for (int i = 0; i < MODEL_ROPES; i++) rope_deinit(&m->ropes[i]);
    for (int i = 0; i < m->n_owned; i++) free(m->owned[i]);
    free(m->owned);
    gguf_close(m->file);
    free(m);
}

const model_info *model_get_info(const model *m) {
    return &m->info;
}

const gguf *model_gguf(const model *m) {
    return m->file;
}

static bool of_experts(const gguf_tensor *t) {
    static const char end[] = "_exps.weight";
    const size_t n = sizeof end - 1;
    return t->name.len > n && !memcmp(t->name.ptr + t->name.len - n, end, n);
}

double model_step_bytes(const model *m, int n_rows) {
    double bytes = (double)m->info.file_bytes, experts = 0;
    const gguf_tensor *t = gguf_find_tensor(m->file, "token_embd.weight");
    if (t && gguf_find_tensor(m->file, "output.weight")) bytes -= (double)t->size_bytes;
    if (!m->n_experts) return bytes;
    for (size_t i = 0; i < gguf_n_tensors(m->file); i++) {
        t = gguf_tensor_at(m->file, i);
        if (of_experts(t)) experts += (double)t->size_bytes;
    }
    /* An expert is left out by a row with this probability, and by all rows with its power. */
    return bytes - experts * pow(1 - (double)m->n_experts_used / m->n_experts, n_rows);
}

int model_kv_layout(const model *m, int page_tokens, kv_type type, kv_layout *out, fo_err *err) {
    kv_layout l = {.n_layers = m->info.n_layers,
                   .n_kv_heads = m->info.n_kv_heads,
                   .k_dim = m->info.k_dim,
                   .v_dim = m->info.v_dim,
                   .page_tokens = page_tokens,
                   .type = type};
    int rc = kv_layout_init(&l, err);
    if (!rc) *out = l;
    return rc;
}

int model_shift_keys(const model *m, kv_pages *kv, int page, int slot, int n, int delta,
                     fo_err *err) {
    const kv_layout *l = kv_pages_layout(kv);
    if (page < 0 || page >= kv_pages_count(kv) || slot < 0 || n < 0 || slot > l->page_tokens - n ||
        l->n_layers != m->info.n_layers || l->n_kv_heads != m->info.n_kv_heads ||
        l->k_dim != m->info.k_dim)
        return fo_fail(err, FO_EINVAL, "slots %d to %d of page %d cannot be shifted for this model",
                       slot, slot + n, page);
    if (delta == 0) return FO_OK;
    float c[MODEL_ROPES][512], s[MODEL_ROPES][512], k[1024];
    for (int i = 0; i < MODEL_ROPES; i++) {
        rope_table shift = m->ropes[i]; /* a shift keeps the length that the key has already */
        shift.magnitude = 1.0f;
        rope_angles(&shift, delta, c[i], s[i]);
    }
    for (int y = 0; y < l->n_layers; y++) {
        const rope_table *t = m->layers[y].rope;
        if (!t) continue;
        for (int h = 0; h < l->n_kv_heads; h++)
            for (int i = slot; i < slot + n; i++) {
                kv_pages_load(kv, page, i, y, h, k, NULL);
                (t->adjacent ? m->vec->rope_pairs : m->vec->rope_halves)(
                    k, c[t - m->ropes], s[t - m->ropes], t->n_pairs);
                kv_pages_store_key(kv, page, i, y, h, k);
            }
    }
    return FO_OK;
}
