#include "engine/tools/random_model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct shape {
    const char *name, *arch;
    int d, layers, heads, kv_heads, ff, vocab, context;
    float rope_base, eps;
    bool tied;
} shape;

static const shape shapes[] = {
    {"qwen2.5-0.5b", "qwen2", 896, 24, 14, 2, 4864, 151936, 32768, 1e6f, 1e-6f, true},
    {"qwen2.5-1.5b", "qwen2", 1536, 28, 12, 2, 8960, 151936, 32768, 1e6f, 1e-6f, true},
    {"llama3.2-3b", "llama", 3072, 28, 24, 8, 8192, 128256, 131072, 5e5f, 1e-5f, true},
    {"llama3.1-8b", "llama", 4096, 32, 32, 8, 14336, 128256, 131072, 5e5f, 1e-5f, false},
    {"smollm2-135m", "llama", 576, 30, 9, 3, 1536, 49152, 8192, 1e5f, 1e-5f, true},
    {"llama3.2-1b", "llama", 2048, 16, 32, 8, 8192, 128256, 131072, 5e5f, 1e-5f, true},
    {"tiny", "llama", 576, 6, 9, 3, 1536, 2048, 2048, 1e5f, 1e-5f, true},
    {"toy", "llama", 64, 2, 2, 1, 128, 512, 1024, 1e4f, 1e-5f, true},
    {"minilm-l6", "bert", 384, 6, 12, 12, 1536, 30522, 512, 0, 1e-12f, true},
};
enum { N_SHAPES = sizeof shapes / sizeof *shapes, NAME_BYTES = 64, OUTLIER_EVERY = 97 };

typedef struct maker {
    gguf_writer *w;
    const shape *s;
    uint64_t state;
    bool outliers;
    struct {
        int k, n;
        float size, middle; /* of a uniform draw */
        bool half;          /* F16 or F32 */
        bool reads_norm;    /* its input is a normed row */
    } t[1024];
    int n;
} maker;

static uint64_t next(maker *m) { /* xorshift64* */
    m->state ^= m->state >> 12;
    m->state ^= m->state << 25;
    m->state ^= m->state >> 27;
    return m->state * 0x2545F4914F6CDD1Du;
}

static void tensor(maker *m, int layer, const char *name, int k, int n, float size, float middle,
                   bool half) {
    char full[NAME_BYTES];
    if (layer >= 0)
        snprintf(full, sizeof full, "blk.%d.%s", layer, name);
    else
        snprintf(full, sizeof full, "%s", name);
    uint64_t dims[2] = {(uint64_t)k, (uint64_t)n};
    gguf_put_tensor(m->w, full, half ? QUANT_F16 : QUANT_F32, n > 1 ? 2 : 1, dims);
    m->t[m->n].k = k, m->t[m->n].n = n, m->t[m->n].size = size, m->t[m->n].middle = middle;
    m->t[m->n].half = half;
    m->t[m->n].reads_norm =
        half && (strstr(name, "attn_q") || strstr(name, "attn_k") || strstr(name, "attn_v") ||
                 strstr(name, "ffn_gate") || strstr(name, "ffn_up"));
    m->n++;
}

static void matrix(maker *m, int layer, const char *name, int k, int n) {
    tensor(m, layer, name, k, n, 1.73f / sqrtf((float)k), 0, true);
}

static void vector(maker *m, int layer, const char *name, int n, float middle) {
    tensor(m, layer, name, n, 1, 0.1f, middle, false);
}

static void put_key(maker *m, const char *key, int v) {
    char name[NAME_BYTES];
    snprintf(name, sizeof name, "%s.%s", m->s->arch, key);
    gguf_put_u32(m->w, name, (uint32_t)v);
}

static void put_float(maker *m, const char *key, float v) {
    char name[NAME_BYTES];
    snprintf(name, sizeof name, "%s.%s", m->s->arch, key);
    gguf_put_f32(m->w, name, v);
}

/* GPT-2's printable stand-ins for the 256 bytes, UTF-8. */
static size_t byte_piece(int b, char *out) {
    bool plain = (b >= 33 && b <= 126) || (b >= 161 && b <= 172) || b >= 174;
    int code = b;
    if (!plain) {
        code = 256;
        for (int i = 0; i < b; i++)
            code += !((i >= 33 && i <= 126) || (i >= 161 && i <= 172) || i >= 174);
    }
    if (code < 128) {
        out[0] = (char)code;
        return 1;
    }
    out[0] = (char)(0xC0 | code >> 6);
    out[1] = (char)(0x80 | (code & 63));
    return 2;
}

/* Byte-level BPE (or word pieces of single characters) and filler up to the vocabulary's size. */
static int put_tokenizer(maker *m, fo_err *err) {
    const int n = m->s->vocab;
    const bool bert = !strcmp(m->s->arch, "bert");
    char *text = malloc((size_t)n * 24);
    gguf_str *tokens = malloc((size_t)n * sizeof *tokens);
    int32_t *types = malloc((size_t)n * sizeof *types);
    if (!text || !tokens || !types) {
        free(text), free(tokens), free(types);
        return fo_fail(err, FO_ENOMEM, "no memory for a vocabulary of %d", n);
    }
    static const char *const special[] = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};
    char *at = text;
    for (int i = 0; i < n; i++) {
        size_t len;
        types[i] = 1;
        if (bert && i < 5) {
            len = (size_t)sprintf(at, "%s", special[i]);
            types[i] = 3;
        } else if (bert && i < 5 + 94) {
            len = (size_t)sprintf(at, "\xE2\x96\x81%c", 33 + i - 5); /* begins a word */
        } else if (bert && i < 5 + 2 * 94)
            len = (size_t)sprintf(at, "%c", 33 + i - 99);
        else if (!bert && i < 256)
            len = byte_piece(i, at);
        else if (!bert && i == 256) {
            len = (size_t)sprintf(at, "<|endoftext|>");
            types[i] = 3;
        } else
            len = (size_t)sprintf(at, "<filler_%d>", i), types[i] = 5;
        tokens[i] = (gguf_str){at, len};
        at += len;
    }
    gguf_put_str(m->w, "tokenizer.ggml.model", bert ? "bert" : "gpt2");
    if (!bert) {
        gguf_put_str(m->w, "tokenizer.ggml.pre", "gpt-2");
        gguf_str merge = {"t h", 3};
        gguf_put_strs(m->w, "tokenizer.ggml.merges", &merge, 1);
        gguf_put_u32(m->w, "tokenizer.ggml.bos_token_id", 256);
        gguf_put_u32(m->w, "tokenizer.ggml.eos_token_id", 256);
        gguf_put_bool(m->w, "tokenizer.ggml.add_bos_token", false);
    } else {
        gguf_put_u32(m->w, "tokenizer.ggml.bos_token_id", 2);
        gguf_put_u32(m->w, "tokenizer.ggml.eos_token_id", 3);
        gguf_put_u32(m->w, "tokenizer.ggml.cls_token_id", 2);
        gguf_put_u32(m->w, "tokenizer.ggml.seperator_token_id", 3);
        gguf_put_u32(m->w, "tokenizer.ggml.unknown_token_id", 1);
        gguf_put_u32(m->w, "tokenizer.ggml.padding_token_id", 0);
    }
    gguf_put_strs(m->w, "tokenizer.ggml.tokens", tokens, (size_t)n);
    gguf_put_i32s(m->w, "tokenizer.ggml.token_type", types, (size_t)n);
    free(text), free(tokens), free(types);
    return FO_OK;
}

static void put_tensors(maker *m) {
    const shape *s = m->s;
    const bool bert = !strcmp(s->arch, "bert"),
               qwen = !strcmp(s->arch, "qwen2") || !strcmp(s->arch, "dream");
    int nk = s->d / s->heads * s->kv_heads;
    tensor(m, -1, "token_embd.weight", s->d, s->vocab, 0.05f, 0, true);
    if (bert) {
        tensor(m, -1, "position_embd.weight", s->d, s->context, 0.02f, 0, false);
        tensor(m, -1, "token_types.weight", s->d, 2, 0.02f, 0, false);
        vector(m, -1, "token_embd_norm.weight", s->d, 1);
        vector(m, -1, "token_embd_norm.bias", s->d, 0);
    } else
        vector(m, -1, "output_norm.weight", s->d, 1);
    for (int i = 0; i < s->layers; i++) {
        static const char *const names[] = {"attn_q", "attn_k", "attn_v"};
        for (int j = 0; j < 3; j++) {
            char name[NAME_BYTES];
            snprintf(name, sizeof name, "%s.weight", names[j]);
            matrix(m, i, name, s->d, j ? nk : s->d);
            snprintf(name, sizeof name, "%s.bias", names[j]);
            if (bert || qwen) vector(m, i, name, j ? nk : s->d, 0);
        }
        matrix(m, i, "attn_output.weight", s->d, s->d);
        if (!bert) {
            vector(m, i, "attn_norm.weight", s->d, 1);
            vector(m, i, "ffn_norm.weight", s->d, 1);
            matrix(m, i, "ffn_gate.weight", s->d, s->ff);
        } else {
            vector(m, i, "attn_output.bias", s->d, 0);
            vector(m, i, "ffn_up.bias", s->ff, 0);
            vector(m, i, "ffn_down.bias", s->d, 0);
            vector(m, i, "attn_output_norm.weight", s->d, 1);
            vector(m, i, "attn_output_norm.bias", s->d, 0);
            vector(m, i, "layer_output_norm.weight", s->d, 1);
            vector(m, i, "layer_output_norm.bias", s->d, 0);
        }
        matrix(m, i, "ffn_up.weight", s->d, s->ff);
        matrix(m, i, "ffn_down.weight", s->ff, s->d);
    }
}

static int write_tensors(maker *m, fo_err *err) {
    const int widest = 16384;
    float *row = malloc((size_t)widest * sizeof *row);
    void *packed = malloc((size_t)widest * sizeof *row);
    int rc = row && packed ? FO_OK : fo_fail(err, FO_ENOMEM, "no memory for a row");
    for (int i = 0; !rc && i < m->n; i++)
        for (int r = 0; !rc && r < m->t[i].n; r++) {
            int k = m->t[i].k;
            for (int j = 0; j < k; j++)
                row[j] = ((float)(next(m) >> 40) * 0x1p-23f - 1.0f) * m->t[i].size + m->t[i].middle;
            /* As in trained models, a norm blows some channels up and what reads them has learnt
             * to weigh them down. */
            bool norm = m->t[i].n == 1 && m->t[i].middle != 0;
            for (int j = 11; m->outliers && j < k; j += OUTLIER_EVERY) {
                if (norm)
                    row[j] *= 100.0f;
                else if (m->t[i].reads_norm)
                    row[j] /= 100.0f;
            }
            quant_type type = m->t[i].half ? QUANT_F16 : QUANT_F32;
            size_t bytes = (size_t)k * (m->t[i].half ? 2 : 4);
            quant_pack_row(type, row, packed, (size_t)k);
            rc = gguf_write_data(m->w, packed, bytes, err);
        }
    free(row);
    free(packed);
    return rc;
}

static int write_f16(const char *path, const shape *s, const random_model_options *o, fo_err *err) {
    maker *m = calloc(1, sizeof *m);
    if (!m) return fo_fail(err, FO_ENOMEM, "no memory for a model");
    m->s = s;
    m->state = o->seed ? o->seed : 88172645463325252u;
    m->outliers = o->outliers;
    int rc = gguf_writer_create(&m->w, path, err);
    if (rc) {
        free(m);
        return rc;
    }
    gguf_put_str(m->w, "general.architecture", s->arch);
    gguf_put_str(m->w, "general.name", s->name);
    put_key(m, "block_count", s->layers);
    put_key(m, "context_length", s->context);
    put_key(m, "embedding_length", s->d);
    put_key(m, "feed_forward_length", s->ff);
    put_key(m, "attention.head_count", s->heads);
    put_key(m, "attention.head_count_kv", s->kv_heads);
    bool bert = !strcmp(s->arch, "bert");
    put_float(m, bert ? "attention.layer_norm_epsilon" : "attention.layer_norm_rms_epsilon",
              s->eps);
    if (bert)
        put_key(m, "pooling_type", 1);
    else
        put_float(m, "rope.freq_base", s->rope_base);
    if (o->diffusion) {
        gguf_put_u32(m->w, "tokenizer.ggml.mask_token_id", (uint32_t)s->vocab - 1);
        gguf_put_bool(m->w, "diffusion.shift_logits", !strcmp(s->arch, "dream"));
        if (o->attention_block)
            gguf_put_u32(m->w, "diffusion.attention_block", (uint32_t)o->attention_block);
    }
    rc = put_tokenizer(m, err);
    if (!rc) {
        put_tensors(m);
        rc = write_tensors(m, err);
    }
    if (!rc)
        rc = gguf_writer_commit(m->w, err);
    else
        gguf_writer_abort(m->w);
    free(m);
    return rc;
}

int random_model_write(const char *path, const random_model_options *o, fo_err *err) {
    const shape *s = NULL;
    char names[256] = "", *half;
    for (int i = 0; i < N_SHAPES; i++) {
        if (!strcmp(shapes[i].name, o->shape)) s = &shapes[i];
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", i ? ", " : "",
                 shapes[i].name);
    }
    if (!s)
        return fo_fail_field(err, FO_EINVAL, "shape", "there is no shape '%.40s' (there are: %s)",
                             o->shape, names);
    shape own = *s;
    if (o->diffusion) {
        own.arch = !strcmp(s->arch, "llama") ? "llada" : !strcmp(s->arch, "qwen2") ? "dream" : NULL;
        if (!own.arch)
            return fo_fail_field(err, FO_EINVAL, "diffusion",
                                 "there is no diffusion model of shape %s", s->name);
        s = &own;
    }
    if (asprintf(&half, "%s.f16", path) < 0) return fo_fail(err, FO_ENOMEM, "no memory");
    int rc = write_f16(o->type == QUANTIZE_F16 ? path : half, s, o, err);
    if (!rc && o->type != QUANTIZE_F16) {
        rc = quantize_file(half, path, &(quantize_options){.target = o->type, .pool = o->pool},
                           NULL, err);
        unlink(half);
    }
    free(half);
    return rc;
}
