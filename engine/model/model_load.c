/* model_load.c - the helpers that architectures read their files with. Every size out of the file
 * is bounded here, before anything is multiplied or allocated. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/model/lm_head.h"
#include "engine/model/model_internal.h"
#include "engine/model/placement.h"
#include "kernels/buf.h"

enum { MAX_WIDTH = 1 << 20, MAX_LAYERS = 1024, MAX_CONTEXT = 1 << 24, NAME_BYTES = 128 };

void *model_own(model *m, void *block) {
    if (!block) return NULL;
    if (m->n_owned == m->cap_owned) {
        int cap = m->cap_owned ? 2 * m->cap_owned : 64;
        void **grown = realloc(m->owned, (size_t)cap * sizeof *grown);
        if (!grown) {
            free(block);
            return NULL;
        }
        m->owned = grown;
        m->cap_owned = cap;
    }
    m->owned[m->n_owned++] = block;
    return block;
}

/* --- metadata --- */
static void full_key(const model_loader *l, const char *key, char out[NAME_BYTES]) {
    snprintf(out, NAME_BYTES, "%s.%s", l->arch, key);
}

int loader_int(model_loader *l, const char *key, int min, int max, int *out) {
    char name[NAME_BYTES];
    full_key(l, key, name);
    if (!gguf_has(l->m->file, name)) return FO_OK;
    int64_t v;
    int rc = gguf_get_i64(l->m->file, name, &v, l->err);
    if (rc) return rc;
    if (v < min || v > max)
        return fo_fail(l->err, FO_ECORRUPT, "%s is %lld, outside %d to %d", name, (long long)v, min,
                       max);
    *out = (int)v;
    return FO_OK;
}

static int need_int(model_loader *l, const char *key, int min, int max, int *out) {
    char name[NAME_BYTES];
    full_key(l, key, name);
    if (!gguf_has(l->m->file, name))
        return fo_fail(l->err, FO_ECORRUPT, "the model lacks the metadata %s", name);
    return loader_int(l, key, min, max, out);
}

static int bool_of(model_loader *l, const char *key, bool *out) {
    char name[NAME_BYTES];
    full_key(l, key, name);
    return gguf_has(l->m->file, name) ? gguf_get_bool(l->m->file, name, out, l->err) : FO_OK;
}

int loader_float(model_loader *l, const char *key, float *out) {
    char name[NAME_BYTES];
    full_key(l, key, name);
    if (!gguf_has(l->m->file, name)) return FO_OK;
    double v;
    int rc = gguf_get_f64(l->m->file, name, &v, l->err);
    if (rc) return rc;
    if (!(v > -1e30 && v < 1e30)) return fo_fail(l->err, FO_ECORRUPT, "%s is no number", name);
    *out = (float)v;
    return FO_OK;
}

int loader_need_float(model_loader *l, const char *key, float *out) {
    char name[NAME_BYTES];
    full_key(l, key, name);
    if (!gguf_has(l->m->file, name))
        return fo_fail(l->err, FO_ECORRUPT, "the model lacks the metadata %s", name);
    return loader_float(l, key, out);
}

/* Absent: empty. */
static int str_of(model_loader *l, const char *key, gguf_str *out) {
    char name[NAME_BYTES];
    full_key(l, key, name);
    return gguf_get_optional_str(l->m->file, name, out, l->err);
}

/* Of one expert. Files of Mixtral have no key of its own for it, and others divide feed_forward_length by the experts
 * of a token: the matrices say it whatever the family does. What they are not, need_experts refuses. */
static int expert_width(model_loader *l) {
    const gguf_tensor *down = gguf_find_tensor(l->m->file, "blk.0.ffn_down_exps.weight");
    if (down && down->n_dims == 3 && down->dims[0] >= 1 && down->dims[0] <= MAX_WIDTH)
        l->m->d_ff = (int)down->dims[0];
    return loader_int(l, "expert_feed_forward_length", 1, MAX_WIDTH, &l->m->d_ff);
}

static int common_experts(model_loader *l) {
    enum { MOST_USED = 64 };
    model *m = l->m;
    int rc, used = 0, gating = 1, groups = 1;
    m->expert_scale = 1;
    if ((rc = loader_int(l, "expert_count", 0, 4096, &m->n_experts)) || !m->n_experts) return rc;
    if ((rc = need_int(l, "expert_used_count", 1, MOST_USED, &used)) ||
        (rc = loader_int(l, "expert_shared_count", 0, 4096, &m->n_experts_shared)) ||
        (rc = loader_int(l, "expert_gating_func", 0, 64, &gating)) ||
        (rc = loader_int(l, "expert_group_count", 0, 4096, &groups)) ||
        (rc = bool_of(l, "expert_weights_norm", &m->expert_norm)) ||
        (rc = loader_float(l, "expert_weights_scale", &m->expert_scale)))
        return rc;
    if (used > m->n_experts)
        return fo_fail(l->err, FO_ECORRUPT, "%s.expert_used_count is %d of %d experts", l->arch,
                       used, m->n_experts);
    if (gating > 1 || groups > 1)
        return fo_fail(l->err, FO_EUNSUPPORTED,
                       "%s.%s is %d: of routers only the softmax over all experts is supported",
                       l->arch, gating > 1 ? "expert_gating_func" : "expert_group_count",
                       gating > 1 ? gating : groups);
    m->n_experts_used = used;
    return expert_width(l);
}

int loader_common(model_loader *l) {
    model *m = l->m;
    model_info *i = &m->info;
    int rc;
    if ((rc = need_int(l, "block_count", 1, MAX_LAYERS, &i->n_layers)) ||
        (rc = need_int(l, "embedding_length", 1, MAX_WIDTH, &i->d_model)) ||
        (rc = need_int(l, "feed_forward_length", 1, MAX_WIDTH, &m->d_ff)) ||
        (rc = need_int(l, "attention.head_count", 1, 4096, &i->n_heads)) ||
        (rc = need_int(l, "context_length", 1, MAX_CONTEXT, &i->n_context)))
        return rc;
    i->n_kv_heads = i->n_heads;
    if ((rc = loader_int(l, "attention.head_count_kv", 1, 4096, &i->n_kv_heads))) return rc;
    if (i->n_heads % i->n_kv_heads)
        return fo_fail(l->err, FO_ECORRUPT, "%d heads cannot share %d KV heads evenly", i->n_heads,
                       i->n_kv_heads);
    m->group = i->n_heads / i->n_kv_heads;
    i->k_dim = i->d_model / i->n_heads;
    if ((rc = loader_int(l, "attention.key_length", 1, 1024, &i->k_dim))) return rc;
    i->v_dim = i->d_model / i->n_heads;
    if ((rc = loader_int(l, "attention.value_length", 1, 1024, &i->v_dim))) return rc;
    if (i->k_dim < 1 || i->v_dim < 1 || i->k_dim > 1024 || i->v_dim > 1024 || i->k_dim % 2)
        return fo_fail(l->err, FO_ECORRUPT, "heads of %d and %d channels are not possible",
                       i->k_dim, i->v_dim);
    if ((rc = common_experts(l))) return rc;
    m->token_embd = gguf_find_tensor(m->file, "token_embd.weight");
    if (!m->token_embd) return fo_fail(l->err, FO_ECORRUPT, "the model lacks token_embd.weight");
    if (m->token_embd->n_dims != 2 || m->token_embd->dims[0] != (uint64_t)i->d_model ||
        m->token_embd->dims[1] > (1u << 24))
        return fo_fail(l->err, FO_ECORRUPT, "token_embd.weight is %llu x %llu, not %d wide",
                       (unsigned long long)m->token_embd->dims[0],
                       (unsigned long long)m->token_embd->dims[1], i->d_model);
    i->n_vocab = (int)m->token_embd->dims[1];
    m->attn_scale = 1.0f / __builtin_sqrtf((float)i->k_dim);
    m->embed_scale = 1.0f;
    m->layers = model_own(m, calloc((size_t)i->n_layers, sizeof *m->layers));
    return m->layers ? FO_OK : fo_fail(l->err, FO_ENOMEM, "no memory for the layers");
}

/* What a model stretched by YaRN says of itself. Queries and keys both carry the magnitude. */
static int yarn(model_loader *l, int n_rot, float base, float **factors, float *magnitude) {
    int original = l->m->info.n_context, rc;
    float scale = 1, fast = 32, slow = 1, attention = 1;
    if ((rc = loader_float(l, "rope.scaling.factor", &scale)) ||
        (rc = loader_int(l, "rope.scaling.original_context_length", 1, MAX_CONTEXT, &original)) ||
        (rc = loader_float(l, "rope.scaling.attn_factor", &attention)) ||
        (rc = loader_float(l, "rope.scaling.yarn_beta_fast", &fast)) ||
        (rc = loader_float(l, "rope.scaling.yarn_beta_slow", &slow)))
        return rc;
    *factors = model_own(l->m, calloc((size_t)n_rot / 2, sizeof **factors));
    if (!*factors) return fo_fail(l->err, FO_ENOMEM, "no memory for the RoPE table");
    if (!rope_yarn_factors(*factors, n_rot, (double)base, (double)scale, original, (double)fast,
                           (double)slow))
        return fo_fail(l->err, FO_ECORRUPT, "%s.rope.scaling: YaRN by %g of %d is not possible",
                       l->arch, (double)scale, original);
    *magnitude = attention * (1.0f + 0.1f * logf(scale));
    return FO_OK;
}

/* How much a model is stretched linearly: older files say it under a key of their own. */
static int linear_scale(model_loader *l, float *scale) {
    char name[NAME_BYTES];
    const char *key = "rope.scaling.factor";
    full_key(l, key, name);
    if (!gguf_has(l->m->file, name)) key = "rope.scale_linear";
    int rc = loader_float(l, key, scale);
    if (rc) return rc;
    if (!(*scale >= 1e-4f && *scale <= 1e6f))
        return fo_fail(l->err, FO_ECORRUPT, "%s.%s: RoPE cannot be stretched by %g", l->arch, key,
                       (double)*scale);
    return FO_OK;
}

int loader_rope(model_loader *l, rope_table *t, double default_base, bool adjacent) {
    const model_info *i = &l->m->info;
    int n_rot = i->k_dim, rc;
    float base = (float)default_base, scale = 1.0f, magnitude = 1.0f;
    gguf_str type;
    if ((rc = loader_int(l, "rope.dimension_count", 2, i->k_dim, &n_rot)) ||
        (rc = loader_float(l, "rope.freq_base", &base)) ||
        (rc = str_of(l, "rope.scaling.type", &type)))
        return rc;
    /* Files that name no type are stretched linearly, if at all. */
    bool by_factor = !type.len || gguf_str_equal(type, "linear"),
         by_yarn = gguf_str_equal(type, "yarn");
    /* What longrope does stands in tensors. */
    if (!by_factor && !by_yarn && !gguf_str_equal(type, "none") &&
        !gguf_str_equal(type, "longrope"))
        return fo_fail(l->err, FO_EUNSUPPORTED,
                       "%s.rope.scaling.type is \"%.*s\": only none, linear, yarn and longrope "
                       "are known",
                       l->arch, (int)(type.len < 40 ? type.len : 40), type.ptr);
    if (n_rot % 2 || !(base > 0))
        return fo_fail(l->err, FO_ECORRUPT, "RoPE over %d channels with base %g is not possible",
                       n_rot, (double)base);
    float *factors = NULL;
    if (by_factor && (rc = linear_scale(l, &scale))) return rc;
    if (by_yarn)
        rc = yarn(l, n_rot, base, &factors, &magnitude);
    else if (loader_has_tensor(l, "rope_freqs.weight"))
        rc = loader_vector(l, "rope_freqs.weight", n_rot / 2, &factors);
    else if (loader_has_tensor(l, "rope_factors_short.weight")) {
        /* Long-context Phi-3: the short factors hold up to the original context, which is what we
         * serve. One set for all positions keeps cached keys valid whatever the length. */
        int original = i->n_context;
        rc = loader_vector(l, "rope_factors_short.weight", n_rot / 2, &factors);
        if (!rc)
            rc = loader_int(l, "rope.scaling.original_context_length", 1, MAX_CONTEXT, &original);
        if (!rc) rc = loader_float(l, "rope.scaling.attn_factor", &magnitude);
        if (!rc && original < l->m->info.n_context) l->m->info.n_context = original;
    }
    if (rc) return rc;
    for (int j = 0; factors && j < n_rot / 2; j++)
        if (!(factors[j] > 0)) return fo_fail(l->err, FO_ECORRUPT, "a RoPE factor is not positive");
    if (!rope_init(t, n_rot, (double)base, (double)scale, factors, adjacent, magnitude))
        return fo_fail(l->err, FO_ENOMEM, "no memory for the RoPE table");
    return FO_OK;
}

/* --- tensors --- */
static void layer_name(const model_loader *l, const char *name, const char *suffix,
                       char out[NAME_BYTES]) {
    if (l->layer >= 0)
        snprintf(out, NAME_BYTES, "blk.%d.%s%s", l->layer, name, suffix);
    else
        snprintf(out, NAME_BYTES, "%s%s", name, suffix);
}

bool loader_has_tensor(model_loader *l, const char *name) {
    char full[NAME_BYTES];
    layer_name(l, name, "", full);
    return gguf_find_tensor(l->m->file, full) != NULL;
}

int loader_vector(model_loader *l, const char *name, int n, float **out) {
    char full[NAME_BYTES];
    const gguf_tensor *t;
    layer_name(l, name, "", full);
    int rc = gguf_need_tensor(l->m->file, full, (uint64_t)n, 1, &t, l->err);
    if (rc) return rc;
    float *v = model_own(l->m, malloc((size_t)n * sizeof *v));
    if (!v) return fo_fail(l->err, FO_ENOMEM, "no memory for %s", full);
    quant_unpack_row(t->type, t->data, v, (size_t)n);
    l->m->info.n_parameters += (uint64_t)n;
    *out = v;
    return FO_OK;
}

int loader_vector_optional(model_loader *l, const char *name, int n, float **out) {
    return loader_has_tensor(l, name) ? loader_vector(l, name, n, out) : FO_OK;
}

/* A tensor's weights are not kept as they are. */
static bool is_rounded(const gguf_tensor *t, const linear *w) {
    return w->wide || (mm_kind_for(t->type, true) == MM_W8 && t->type != QUANT_Q8_0);
}

static int compare_floats(const void *a, const void *b) {
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* The median of up to VEC_GROUP magnitudes of a norm's weights. */
static float median_of(const float *norm, int n) {
    float size[VEC_GROUP];
    for (int i = 0; i < n; i++) size[i] = __builtin_fabsf(norm[i]);
    qsort(size, (size_t)n, sizeof *size, compare_floats);
    return size[n / 2];
}

/* Whether one of a norm's weights is out of all proportion to this median of its group's. */
static bool is_outlier(float weight, float median) {
    enum { OUTLIER_RATIO = 6 };
    return __builtin_fabsf(weight) > OUTLIER_RATIO * median;
}

/* What reads a norm that blows a channel up has learnt to weigh that channel down: its small
 * weights would get the roundings of their large neighbours. Where the weights are rounded anyway,
 * a power of 2 goes from the norm's weights to theirs (w->columns), so that both are of one size.
 */
static int balance_outliers(model_loader *l, linear *w, const gguf_tensor *const *t, int n_parts) {
    for (int i = 0; i < n_parts; i++)
        if (!is_rounded(t[i], w)) return FO_OK;
    if (!l->norm || !l->m->info.fast) return FO_OK;
    for (int g = 0; g < w->k; g += VEC_GROUP) {
        const int n = w->k - g < VEC_GROUP ? w->k - g : VEC_GROUP;
        const float median = median_of(l->norm + g, n);
        for (int i = g; i < g + n; i++) {
            if (median == 0 || !is_outlier(l->norm[i], median)) continue;
            if (!w->columns) {
                w->columns = model_own(l->m, malloc((size_t)w->k * sizeof *w->columns));
                if (!w->columns) return fo_fail(l->err, FO_ENOMEM, "no memory for a row");
                for (int c = 0; c < w->k; c++) w->columns[c] = 1;
            }
            const int shift = ilogbf(l->norm[i] / median);
            w->columns[i] = ldexpf(1, shift);
            l->norm[i] = ldexpf(l->norm[i], -shift);
        }
    }
    return FO_OK;
}

typedef struct pack_job {
    const gguf *file;
    mm_weights *w;
    quant_type type;
    const unsigned char *rows;
    size_t row_bytes;
    const float *columns; /* what weights are multiplied with before they are rounded, or NULL */
    float *scratch;       /* [threads][k_padded] */
} pack_job;

/* Neither a matrix's rows nor its panels lie in memory twice: rows are forgotten as they are packed. */
static void pack_some(void *arg, size_t begin, size_t end, int thread) {
    pack_job *j = arg;
    mm_weights_pack(j->w, (int)begin, (int)end, j->type, j->rows, j->row_bytes, j->columns,
                    j->scratch + (size_t)thread * (size_t)j->w->k_padded);
    const size_t first = begin * MM_PANEL, n = (size_t)j->w->n, last = end * MM_PANEL;
    gguf_forget(j->file, j->rows + first * j->row_bytes,
                ((last < n ? last : n) - first) * j->row_bytes);
}

void loader_rotate(model_loader *l, bool on) {
    l->wide = on && l->m->info.fast && l->m->mm->wide != MM_F32;
}

/* Parts of these types, as far as that decides how they are kept. */
static linear linear_of(const model_loader *l, int k, const gguf_tensor *const *t, int n_parts) {
    linear w = {.k = k, .wide = l->wide};
    for (int i = 0; i < n_parts; i++) w.wide = w.wide && mm_kind_for(t[i]->type, true) == MM_W8;
    return w;
}

/* A part without its panels. */
static int add_part(model_loader *l, linear *out, quant_type type, int n) {
    model *m = l->m;
    const mm_kind kind = out->wide ? m->mm->wide : mm_kind_for(type, m->info.fast);
    size_t bytes;
    if (!mm_weights_bytes(kind, n, out->k, &bytes))
        return fo_fail(l->err, FO_ECORRUPT, "a matrix of %d x %d is out of bounds", n, out->k);
    m->info.weight_bytes += bytes;
    m->info.n_parameters += (uint64_t)n * (uint64_t)out->k;
    if (l->layer >= 0) m->info.layer_parameters += (uint64_t)n * (uint64_t)out->k;
    if (l->options && l->options->max_bytes && m->info.weight_bytes > l->options->max_bytes)
        return fo_fail(l->err, FO_ENOMEM,
                       "the model's weights take more than the %llu MiB allowed for them",
                       (unsigned long long)(l->options->max_bytes >> 20));
    out->int16_sums = out->int16_sums || (mm_has_8_bits(kind) && m->mm->int16_sums);
    int p = out->n_parts++;
    out->offset[p] = out->n_out;
    out->n_out += (n + MM_PANEL - 1) / MM_PANEL * MM_PANEL;
    return l->probe ? FO_OK : mm_weights_init(&out->w[p], kind, n, out->k, m->weights, l->err);
}

/* The panels of a part: its rows are tensor t's from row `first` on. */
static int pack_part(model_loader *l, linear *out, int part, const gguf_tensor *t, int first) {
    model *m = l->m;
    if (l->probe) return FO_OK;
    const size_t threads = m->pool ? (size_t)fo_pool_threads(m->pool) : 1;
    float *scratch = malloc(threads * (size_t)out->w[part].k_padded * sizeof *scratch);
    if (!scratch) return fo_fail(l->err, FO_ENOMEM, "no memory to repack a matrix");
    pack_job job = {.file = m->file,
                    .w = &out->w[part],
                    .type = t->type,
                    .rows = (const unsigned char *)t->data + (size_t)first * t->row_bytes,
                    .row_bytes = t->row_bytes,
                    .columns = out->columns,
                    .scratch = scratch};
    if (m->pool)
        fo_pool_run(m->pool, (size_t)out->w[part].n_panels, 4, pack_some, &job);
    else
        pack_some(&job, 0, (size_t)out->w[part].n_panels, 0);
    free(scratch);
    if (l->options && l->options->progress)
        l->options->progress(l->options->progress_arg, m->info.weight_bytes, 0);
    return FO_OK;
}

static int add_bias(model_loader *l, linear *out, const char *name, int part, int first, int n) {
    char full[NAME_BYTES];
    layer_name(l, name, ".bias", full);
    const gguf_tensor *t = gguf_find_tensor(l->m->file, full);
    if (!t) return FO_OK;
    if (t->n_dims != 1 || t->dims[0] < (uint64_t)(first + n))
        return fo_fail(l->err, FO_ECORRUPT, "%s has not %d values", full, first + n);
    if (!out->bias) {
        out->bias = model_own(l->m, calloc((size_t)out->n_out, sizeof *out->bias));
        if (!out->bias) return fo_fail(l->err, FO_ENOMEM, "no memory for %s", full);
    }
    float *all = malloc((size_t)t->dims[0] * sizeof *all);
    if (!all) return fo_fail(l->err, FO_ENOMEM, "no memory for %s", full);
    quant_unpack_row(t->type, t->data, all, (size_t)t->dims[0]);
    memcpy(out->bias + out->offset[part], all + first, (size_t)n * sizeof *all);
    free(all);
    l->m->info.n_parameters += (uint64_t)n;
    return FO_OK;
}

int loader_linear(model_loader *l, linear *out, int k, int n_parts, const char *const *names,
                  const int *n) {
    const gguf_tensor *t[LINEAR_PARTS] = {NULL};
    int rc = FO_OK;
    for (int i = 0; !rc && i < n_parts; i++) {
        char full[NAME_BYTES];
        layer_name(l, names[i], ".weight", full);
        rc = gguf_need_tensor(l->m->file, full, (uint64_t)k, (uint64_t)n[i], &t[i], l->err);
    }
    if (!rc) *out = linear_of(l, k, t, n_parts);
    for (int i = 0; !rc && !l->probe && i < n_parts; i++)
        gguf_want(l->m->file, t[i]->data, t[i]->size_bytes);
    for (int i = 0; !rc && i < n_parts; i++) rc = add_part(l, out, t[i]->type, n[i]);
    if (!rc && !l->probe) placement_touch(l->m, out);
    if (!rc) rc = balance_outliers(l, out, t, n_parts);
    for (int i = 0; !rc && i < n_parts; i++) rc = pack_part(l, out, i, t[i], 0);
    for (int i = 0; !rc && !l->probe && i < n_parts; i++)
        gguf_forget(l->m->file, t[i]->data, t[i]->size_bytes);
    for (int i = 0; !rc && i < n_parts; i++) rc = add_bias(l, out, names[i], i, 0, n[i]);
    return rc;
}

int loader_linear_1(model_loader *l, linear *out, int k, const char *name, int n) {
    return loader_linear(l, out, k, 1, &name, &n);
}

int loader_linear_split(model_loader *l, linear *out, int k, const char *name, int n_parts,
                        const int *n) {
    char full[NAME_BYTES];
    const gguf_tensor *t;
    int total = 0, first = 0, rc;
    for (int i = 0; i < n_parts; i++) total += n[i];
    layer_name(l, name, ".weight", full);
    if ((rc = gguf_need_tensor(l->m->file, full, (uint64_t)k, (uint64_t)total, &t, l->err)))
        return rc;
    *out = linear_of(l, k, &t, 1);
    if (!l->probe) gguf_want(l->m->file, t->data, t->size_bytes);
    for (int i = 0; i < n_parts; i++)
        if ((rc = add_part(l, out, t->type, n[i]))) return rc;
    if (!l->probe) placement_touch(l->m, out);
    if ((rc = balance_outliers(l, out, &t, 1))) return rc;
    for (int i = 0; i < n_parts; first += n[i++])
        if ((rc = pack_part(l, out, i, t, first))) return rc;
    if (!l->probe) gguf_forget(l->m->file, t->data, t->size_bytes);
    first = 0;
    for (int i = 0; i < n_parts; first += n[i++])
        if ((rc = add_bias(l, out, name, i, first, n[i]))) return rc;
    return FO_OK;
}

/* Give w->fine_groups the groups in which one norm weight is an outlier; norm[w->k] is
 * what scales the rows that w reads. */
static int mark_outliers(model_loader *l, linear *w, const float *norm) {
    int n = 0, groups = (w->k + VEC_GROUP - 1) / VEC_GROUP;
    if (w->wide) return FO_OK; /* its weights took them all */
    int *list = malloc((size_t)groups * sizeof *list);
    if (!list) return fo_fail(l->err, FO_ENOMEM, "no memory for a list of channels");
    for (int g = 0; g < groups; g++) {
        const float *of = norm + g * VEC_GROUP;
        const int count = w->k - g * VEC_GROUP < VEC_GROUP ? w->k - g * VEC_GROUP : VEC_GROUP;
        const float median = median_of(of, count);
        bool any = false;
        for (int i = 0; i < count; i++) any = any || is_outlier(of[i], median);
        if (any) list[n++] = g;
    }
    if (!n) {
        free(list);
        return FO_OK;
    }
    w->fine_groups = model_own(l->m, list);
    w->n_fine_groups = n;
    return w->fine_groups ? FO_OK : fo_fail(l->err, FO_ENOMEM, "no memory for a list of channels");
}

/* --- mixtures of experts --- */
/* Matrices [n_experts][n][k] of "NAME.weight". */
static int need_experts(model_loader *l, const char *name, int k, int n, const gguf_tensor **out) {
    char full[NAME_BYTES];
    layer_name(l, name, ".weight", full);
    const gguf_tensor *t = gguf_find_tensor(l->m->file, full);
    if (!t) return fo_fail(l->err, FO_ECORRUPT, "the model lacks %s", full);
    if (t->n_dims != 3 || t->dims[0] != (uint64_t)k || t->dims[1] != (uint64_t)n ||
        t->dims[2] != (uint64_t)l->m->n_experts)
        return fo_fail(l->err, FO_ECORRUPT, "%s is not %d x %d for %d experts", full, k, n,
                       l->m->n_experts);
    *out = t;
    return FO_OK;
}

/* Part of every expert: number e's rows of each tensor are those from n e on. */
static int expert_linear(model_loader *l, linear *out, int k, int n, int n_parts,
                         const gguf_tensor *const *t, int e) {
    int rc = FO_OK;
    *out = linear_of(l, k, t, n_parts);
    for (int i = 0; !rc && i < n_parts; i++) rc = add_part(l, out, t[i]->type, n);
    if (!rc && !l->probe) placement_touch(l->m, out);
    for (int i = 0; !rc && i < n_parts; i++) rc = pack_part(l, out, i, t[i], e * n);
    return rc;
}

/* What every row goes through beside the experts that the router names: one FFN, as wide as all shared
 * experts together. */
static int load_shared(model_loader *l, layer *y) {
    static const char *const names[] = {"ffn_gate_shexp", "ffn_up_shexp"};
    model *m = l->m;
    const int d = m->info.d_model;
    char full[NAME_BYTES];
    layer_name(l, names[0], ".weight", full);
    const gguf_tensor *gate = gguf_find_tensor(m->file, full);
    if (!gate && !m->n_experts_shared && !loader_has_tensor(l, "ffn_up_shexp.weight") &&
        !loader_has_tensor(l, "ffn_down_shexp.weight"))
        return FO_OK;
    if (!gate && m->n_experts_shared)
        return fo_fail(l->err, FO_ECORRUPT, "%s.expert_shared_count is %d, but the model lacks %s",
                       l->arch, m->n_experts_shared, full);
    if (!gate) return fo_fail(l->err, FO_ECORRUPT, "the model lacks %s", full);
    if (gate->n_dims != 2 || gate->dims[1] < 1 || gate->dims[1] > MAX_WIDTH)
        return fo_fail(l->err, FO_ECORRUPT, "%s is no matrix of at most %d rows", full, MAX_WIDTH);
    const int width = (int)gate->dims[1], n[] = {width, width};
    y->shared = model_own(m, calloc(1, sizeof *y->shared));
    if (!y->shared) return fo_fail(l->err, FO_ENOMEM, "no memory for shared experts");
    int rc = loader_linear(l, &y->shared->up, d, 2, names, n);
    if (!rc) rc = loader_linear_1(l, &y->shared->down, width, "ffn_down_shexp", d);
    if (!rc) rc = mark_outliers(l, &y->shared->up, y->ffn_norm);
    if (!rc) rc = loader_vector_optional(l, "ffn_gate_inp_shexp.weight", d, &y->shared_gate);
    return rc;
}

static int load_experts(model_loader *l, layer *y) {
    model *m = l->m;
    const int d = m->info.d_model, n = m->n_experts;
    const gguf_tensor *up[2], *down, *router;
    char full[NAME_BYTES];
    int rc;
    if (loader_has_tensor(l, "exp_probs_b.bias") || loader_has_tensor(l, "exp_probs_b"))
        return fo_fail(l->err, FO_EUNSUPPORTED,
                       "blk.%d.exp_probs_b: routers whose choice has a bias are not supported",
                       l->layer);
    layer_name(l, "ffn_gate_inp", ".weight", full);
    if ((rc = gguf_need_tensor(m->file, full, (uint64_t)d, (uint64_t)n, &router, l->err)) ||
        (rc = need_experts(l, "ffn_gate_exps", d, m->d_ff, &up[0])) ||
        (rc = need_experts(l, "ffn_up_exps", d, m->d_ff, &up[1])) ||
        (rc = need_experts(l, "ffn_down_exps", m->d_ff, d, &down)))
        return rc;
    y->router = model_own(m, malloc((size_t)n * (size_t)d * sizeof *y->router));
    y->experts = model_own(m, calloc((size_t)n, sizeof *y->experts));
    if (!y->router || !y->experts) return fo_fail(l->err, FO_ENOMEM, "no memory for experts");
    for (int e = 0; e < n; e++)
        quant_unpack_row(router->type,
                         (const unsigned char *)router->data + (size_t)e * router->row_bytes,
                         y->router + (size_t)e * (size_t)d, (size_t)d);
    m->info.n_parameters += (uint64_t)n * (uint64_t)d;
    loader_rotate(l, true);
    const uint64_t others = m->info.layer_parameters;
    for (int e = 0; !rc && e < n; e++) {
        layer *x = &y->experts[e];
        rc = expert_linear(l, &x->up, d, m->d_ff, 2, up, e);
        if (!rc) rc = expert_linear(l, &x->down, m->d_ff, d, 1, &down, e);
        if (!rc) rc = mark_outliers(l, &x->up, y->ffn_norm);
    }
    m->info.layer_parameters =
        others + (m->info.layer_parameters - others) / (uint64_t)n * (uint64_t)m->n_experts_used;
    for (int i = 0; !l->probe && i < 2; i++) gguf_forget(m->file, up[i]->data, up[i]->size_bytes);
    if (!l->probe) gguf_forget(m->file, down->data, down->size_bytes);
    if (!rc) rc = load_shared(l, y);
    loader_rotate(l, false);
    return rc;
}

/* --- the Llama family --- */
static int decoder_layer(model_loader *l, layer *y) {
    model *m = l->m;
    const model_info *i = &m->info;
    int d = i->d_model, nq = i->n_heads * i->k_dim, nk = i->n_kv_heads * i->k_dim;
    int nv = i->n_kv_heads * i->v_dim, rc;
    const int qkv[] = {nq, nk, nv}, up[] = {m->d_ff, m->d_ff};
    static const char *const qkv_names[] = {"attn_q", "attn_k", "attn_v"};
    static const char *const up_names[] = {"ffn_gate", "ffn_up"};
    if ((rc = loader_vector(l, "attn_norm.weight", d, &y->attn_norm)) ||
        (rc = loader_vector(l, "ffn_norm.weight", d, &y->ffn_norm)) ||
        (rc = loader_vector_optional(l, "attn_q_norm.weight", i->k_dim, &y->q_norm)) ||
        (rc = loader_vector_optional(l, "attn_k_norm.weight", i->k_dim, &y->k_norm)) ||
        (rc = loader_vector_optional(l, "post_attention_norm.weight", d, &y->attn_post_norm)) ||
        (rc = loader_vector_optional(l, "post_ffw_norm.weight", d, &y->ffn_post_norm)))
        return rc;
    l->norm = y->attn_norm;
    rc = loader_has_tensor(l, "attn_qkv.weight")
             ? loader_linear_split(l, &y->qkv, d, "attn_qkv", 3, qkv)
             : loader_linear(l, &y->qkv, d, 3, qkv_names, qkv);
    l->norm = NULL;
    if (rc || (rc = loader_linear_1(l, &y->out, i->n_heads * i->v_dim, "attn_output", d)))
        return rc;
    if (m->n_experts) {
        rc = load_experts(l, y);
        return rc ? rc : mark_outliers(l, &y->qkv, y->attn_norm);
    }
    loader_rotate(l, true);
    l->norm = y->ffn_norm;
    rc = loader_has_tensor(l, "ffn_gate.weight")
             ? loader_linear(l, &y->up, d, 2, up_names, up)
             : loader_linear_split(l, &y->up, d, "ffn_up", 2, up);
    l->norm = NULL;
    if (!rc) rc = loader_linear_1(l, &y->down, m->d_ff, "ffn_down", d);
    loader_rotate(l, false);
    if (rc || (rc = mark_outliers(l, &y->qkv, y->attn_norm))) return rc;
    return mark_outliers(l, &y->up, y->ffn_norm);
}

int loader_decoder_layers(model_loader *l) {
    for (l->layer = 0; l->layer < l->m->info.n_layers; l->layer++) {
        int rc = decoder_layer(l, &l->m->layers[l->layer]);
        if (rc) return rc;
    }
    l->layer = -1;
    return FO_OK;
}

int loader_decoder_head(model_loader *l) {
    model *m = l->m;
    int rc = loader_vector(l, "output_norm.weight", m->info.d_model, &m->output_norm);
    if (rc) return rc;
    const char *name = loader_has_tensor(l, "output.weight") ? "output" : "token_embd";
    if ((rc = loader_linear_1(l, &m->head, m->info.d_model, name, m->info.n_vocab))) return rc;
    if (!m->info.fast) return FO_OK;
    m->head.two_terms = true;
    if (l->probe) return FO_OK;
    char full[NAME_BYTES];
    layer_name(l, name, ".weight", full);
    const gguf_tensor *head = gguf_find_tensor(m->file, full);
    rc = lm_head_measure(m, head, l->err);
    gguf_forget(m->file, head->data, head->size_bytes);
    return rc;
}

int loader_llama_family(model_loader *l, double rope_base, bool adjacent) {
    model *m = l->m;
    int rc;
    m->info.causal = true;
    m->ffn = FFN_SILU_GATED;
    if ((rc = loader_common(l)) ||
        (rc = loader_need_float(l, "attention.layer_norm_rms_epsilon", &m->norm_eps)) ||
        (rc = loader_rope(l, &m->ropes[0], rope_base, adjacent)) ||
        (rc = loader_decoder_layers(l)) || (rc = loader_decoder_head(l)))
        return rc;
    for (int i = 0; i < m->info.n_layers; i++) m->layers[i].rope = &m->ropes[0];
    return FO_OK;
}

int loader_bidirectional(model_loader *l) {
    static const char key[] = "diffusion.attention_block";
    enum { MOST = 1024 };
    model_info *i = &l->m->info;
    uint64_t n = 0;
    int rc = gguf_has(l->m->file, key) ? gguf_get_u64(l->m->file, key, &n, l->err) : FO_OK;
    if (rc) return rc;
    if (n > MOST)
        return fo_fail(l->err, FO_ECORRUPT, "%s is %llu, at most %d", key, (unsigned long long)n,
                       MOST);
    i->causal = false;
    i->attention_block = (int)n;
    return FO_OK;
}
