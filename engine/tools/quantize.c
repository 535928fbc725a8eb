#include "engine/tools/quantize.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "kernels/buf.h"

static const struct {
    const char *name;
    quant_type type;
    uint32_t file_type; /* general.file_type */
} targets[] = {
    [QUANTIZE_F16] = {"f16", QUANT_F16, 1},         [QUANTIZE_BF16] = {"bf16", QUANT_BF16, 32},
    [QUANTIZE_Q8_0] = {"q8_0", QUANT_Q8_0, 7},      [QUANTIZE_Q4_0] = {"q4_0", QUANT_Q4_0, 2},
    [QUANTIZE_Q4_K_M] = {"q4_k_m", QUANT_Q4_K, 15}, [QUANTIZE_Q6_K] = {"q6_k", QUANT_Q6_K, 18},
};

bool quantize_target_from_name(const char *name, quantize_target *out) {
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        if (strcasecmp(targets[i].name, name)) continue;
        *out = (quantize_target)i;
        return true;
    }
    return false;
}

static bool ends_with(gguf_str s, const char *end) {
    size_t n = strlen(end);
    return s.len >= n && !memcmp(s.ptr + s.len - n, end, n);
}

static bool is_matrix(const gguf_tensor *t) {
    if (t->n_dims < 2 || !ends_with(t->name, "weight")) return false;
    static const char *const kept[] = {"_norm.weight", "ffn_gate_inp.weight",
                                       "position_embd.weight", "token_types.weight"};
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (ends_with(t->name, kept[i])) return false;
    return true;
}

/* Number of the layer in "blk.12.ffn_down.weight", -1 where there is none. */
static int64_t layer_of(gguf_str name) {
    if (name.len < 5 || memcmp(name.ptr, "blk.", 4)) return -1;
    int64_t n = 0;
    size_t i = 4;
    for (; i < name.len && i < 12 && name.ptr[i] >= '0' && name.ptr[i] <= '9'; i++)
        n = 10 * n + (name.ptr[i] - '0');
    return i > 4 && i < name.len && name.ptr[i] == '.' ? n : -1;
}

static int64_t count_layers(const gguf *g) {
    int64_t n = 0;
    for (size_t i = 0; i < gguf_n_tensors(g); i++) {
        int64_t layer = layer_of(gguf_tensor_at(g, i)->name);
        if (layer >= n) n = layer + 1;
    }
    return n;
}

/* Errors in the first and last layers cost most; the rest get the extra bits in turn. */
static bool gets_more_bits(int64_t layer, int64_t n_layers) {
    return layer < n_layers / 8 || layer >= 7 * n_layers / 8 || (layer - n_layers / 8) % 3 == 2;
}

static quant_type mixed_type(const gguf *g, const gguf_tensor *t, quantize_target target) {
    quant_type type = targets[target].type;
    if (type == QUANT_F16 || type == QUANT_BF16 || type == QUANT_Q8_0) return type;
    if (gguf_str_equal(t->name, "output.weight") ||
        (gguf_str_equal(t->name, "token_embd.weight") && !gguf_find_tensor(g, "output.weight")))
        return QUANT_Q6_K;
    if (target != QUANTIZE_Q4_K_M) return type;
    if (ends_with(t->name, "attn_qkv.weight")) return QUANT_Q5_K;
    int64_t layer = layer_of(t->name);
    if (layer >= 0 &&
        (ends_with(t->name, "attn_v.weight") || ends_with(t->name, "ffn_down.weight")) &&
        gets_more_bits(layer, count_layers(g)))
        return QUANT_Q6_K;
    return type;
}

static bool fits(quant_type type, const gguf_tensor *t) {
    return t->dims[0] % quant_type_traits(type)->block_size == 0;
}

quant_type quantize_type_for(const gguf *g, const gguf_tensor *t, quantize_target target) {
    if (!is_matrix(t)) return t->type;
    quant_type type = mixed_type(g, t, target);
    if (fits(type, t)) return type;
    type = type == QUANT_Q4_K   ? QUANT_Q5_0
           : type == QUANT_Q5_K ? QUANT_Q5_1
           : type == QUANT_Q6_K ? QUANT_Q8_0
                                : type;
    return fits(type, t) ? type : QUANT_F16;
}

/* The same with what the caller says of the embedding. */
static quant_type type_for(const gguf *g, const gguf_tensor *t, const quantize_options *o) {
    bool own = o->token_embedding && gguf_str_equal(t->name, "token_embd.weight");
    return own ? o->token_embedding : quantize_type_for(g, t, o->target);
}

static int check_embedding(const gguf *g, quant_type type, fo_err *err) {
    const gguf_tensor *t = gguf_find_tensor(g, "token_embd.weight");
    if (!type) return FO_OK;
    if (!quant_can_pack(type))
        return fo_fail(err, FO_EINVAL, "the token embedding cannot be written as type %d",
                       (int)type);
    if (!t)
        return fo_fail(err, FO_EINVAL, "there is no token_embd.weight to write in its own type");
    if (!fits(type, t))
        return fo_fail(err, FO_EINVAL,
                       "token_embd.weight has rows of %llu values, which %s cannot have: it takes "
                       "multiples of %u",
                       (unsigned long long)t->dims[0], quant_type_traits(type)->name,
                       quant_type_traits(type)->block_size);
    return FO_OK;
}

/* --- rows, in parallel --- */
typedef struct piece {
    const gguf_tensor *t;
    quant_type type;
    size_t first; /* row */
    size_t out_row_bytes;
    unsigned char *out;
    float *scratch; /* [threads][dims[0]] */
} piece;

static void convert_rows(void *arg, size_t begin, size_t end, int thread) {
    piece *p = arg;
    size_t n = (size_t)p->t->dims[0];
    float *row = p->scratch + (size_t)thread * n;
    for (size_t i = begin; i < end; i++) {
        const char *in = (const char *)p->t->data + (p->first + i) * p->t->row_bytes;
        quant_unpack_row(p->t->type, in, row, n);
        quant_pack_row(p->type, row, p->out + i * p->out_row_bytes, n);
    }
}

typedef struct run {
    const quantize_options *o;
    gguf_writer *w;
    uint64_t done, total;
} run;

static void report(run *r, size_t bytes) {
    r->done += bytes;
    if (r->o->progress) r->o->progress(r->o->progress_arg, r->done, r->total);
}

static int convert_tensor(run *r, const gguf_tensor *t, quant_type type, fo_err *err) {
    enum { PIECE_BYTES = 8 << 20 };
    piece p = {.t = t, .type = type};
    size_t n = (size_t)t->dims[0], scratch_values, scratch_bytes, out_bytes;
    int threads = r->o->pool ? fo_pool_threads(r->o->pool) : 1;
    if (!quant_row_bytes(type, n, &p.out_row_bytes) ||
        !fo_mul_size(n, (size_t)threads, &scratch_values) ||
        !fo_mul_size(scratch_values, sizeof(float), &scratch_bytes))
        return fo_fail(err, FO_ECORRUPT, "rows of %zu values are too long", n);
    size_t rows = PIECE_BYTES / p.out_row_bytes;
    if (rows < 1) rows = 1;
    if (rows > t->n_rows) rows = (size_t)t->n_rows;
    if (!fo_mul_size(rows, p.out_row_bytes, &out_bytes))
        return fo_fail(err, FO_ECORRUPT, "rows of %zu values are too long", n);
    p.out = malloc(out_bytes);
    p.scratch = malloc(scratch_bytes);
    int rc = p.out && p.scratch ? FO_OK : fo_fail(err, FO_ENOMEM, "out of memory for a tensor");
    for (; !rc && p.first < t->n_rows; p.first += rows) {
        size_t take = (size_t)t->n_rows - p.first < rows ? (size_t)t->n_rows - p.first : rows;
        if (r->o->pool)
            fo_pool_run(r->o->pool, take, 8, convert_rows, &p);
        else
            convert_rows(&p, 0, take, 0);
        rc = gguf_write_data(r->w, p.out, take * p.out_row_bytes, err);
        report(r, take * t->row_bytes);
    }
    free(p.out);
    free(p.scratch);
    return rc;
}

static void put_metadata(gguf_writer *w, const gguf *g, quantize_target target) {
    bool file_type = false, version = false;
    for (size_t i = 0; i < gguf_n_kv(g); i++) {
        const gguf_kv *kv = gguf_kv_at(g, i);
        if (gguf_str_equal(kv->key, "general.file_type")) {
            gguf_put_u32(w, "general.file_type", targets[target].file_type);
            file_type = true;
        } else if (!gguf_str_equal(kv->key, "general.alignment")) { /* the writer has its own */
            if (gguf_str_equal(kv->key, "general.quantization_version")) version = true;
            gguf_put_kv(w, kv);
        }
    }
    if (!file_type) gguf_put_u32(w, "general.file_type", targets[target].file_type);
    if (!version) gguf_put_u32(w, "general.quantization_version", 2);
}

static int put_tensors(run *r, const gguf *g, quantize_result *result, fo_err *err) {
    for (size_t i = 0; i < gguf_n_tensors(g); i++) {
        const gguf_tensor *t = gguf_tensor_at(g, i);
        quant_type type = type_for(g, t, r->o), wanted = mixed_type(g, t, r->o->target);
        if (r->o->token_embedding && gguf_str_equal(t->name, "token_embd.weight")) wanted = type;
        char *name = strndup(t->name.ptr, t->name.len);
        if (!name || strlen(name) != t->name.len) {
            free(name);
            return fo_fail(err, FO_ECORRUPT, "tensor %zu has a name with a zero byte", i);
        }
        gguf_put_tensor(r->w, name, type, t->n_dims, t->dims);
        free(name);
        size_t out_row = 0;
        quant_row_bytes(type, t->dims[0], &out_row);
        result->in_bytes += t->size_bytes;
        result->out_bytes += out_row * t->n_rows;
        result->n_kept += type == t->type;
        result->n_converted += type != t->type;
        result->n_fallback += type != t->type && type != wanted;
    }
    r->total = result->in_bytes;
    return FO_OK;
}

int quantize_file(const char *in_path, const char *out_path, const quantize_options *options,
                  quantize_result *result, fo_err *err) {
    quantize_result local, *res = result ? result : &local;
    *res = (quantize_result){0};
    gguf *g;
    int rc = gguf_open(&g, in_path, err);
    if (rc) return rc;
    run r = {.o = options};
    if ((rc = check_embedding(g, options->token_embedding, err))) {
        gguf_close(g);
        return rc;
    }
    if (!(rc = gguf_writer_create(&r.w, out_path, err))) {
        put_metadata(r.w, g, options->target);
        rc = put_tensors(&r, g, res, err);
        for (size_t i = 0; !rc && i < gguf_n_tensors(g); i++) {
            const gguf_tensor *t = gguf_tensor_at(g, i);
            quant_type type = type_for(g, t, options);
            if (type != t->type) {
                rc = convert_tensor(&r, t, type, err);
            } else {
                rc = gguf_write_data(r.w, t->data, t->size_bytes, err);
                report(&r, t->size_bytes);
            }
        }
        /* What the disk did not give was read as zeroes: no model is made of them. */
        const int lost = gguf_intact(g, err);
        if (rc || lost) {
            gguf_writer_abort(r.w);
            if (lost) rc = lost;
        } else {
            rc = gguf_writer_commit(r.w, err);
        }
    }
    gguf_close(g);
    return rc;
}
