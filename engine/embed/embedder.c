/* embedder.c - recognises what a path holds and hands the work to its kind. */
#include "engine/embed/embedder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "engine/embed/embed_builtin.h"
#include "engine/embed/embed_static.h"
#include "engine/embed/embedder_impl.h"
#include "engine/tokenizer/tokenizer.h"
#include "kernels/hex.h"
#include "kernels/sha256.h"
#include "kernels/utf8.h"

struct fingerprint {
    fo_sha256 sum;
};

fingerprint *embedder_fingerprint_begin(const char *kind) {
    fingerprint *f = calloc(1, sizeof *f);
    if (!f) return NULL;
    fo_sha256_begin(&f->sum);
    embedder_fingerprint_add(f, kind, strlen(kind));
    return f;
}

void embedder_fingerprint_add(fingerprint *f, const void *p, size_t n) {
    uint64_t len = n;
    if (!f) return;
    fo_sha256_add(&f->sum, &len, sizeof len);
    fo_sha256_add(&f->sum, p, n);
}

int embedder_fingerprint_end(fingerprint *f, char hex[65], fo_err *err) {
    unsigned char sum[32];
    if (!f) return fo_no_memory(err);
    fo_sha256_end(&f->sum, sum);
    free(f);
    fo_hex_write(hex, sum, sizeof sum);
    return FO_OK;
}

void embedder_set_name(embedder *e, const char *s, size_t n) {
    if (n >= sizeof e->name) {
        n = sizeof e->name - 1;
        while (n && !fo_utf8_boundary(s[n])) n--;
    }
    memcpy(e->name, s, n);
    e->name[n] = 0;
}

static int open_gguf(embedder **out, const char *path, const embedder_options *o, fo_err *err) {
    gguf *g;
    int rc = gguf_open(&g, path, err);
    if (rc) return rc;
    gguf_str arch;
    rc = gguf_get_str(g, "general.architecture", &arch, err);
    if (!rc && gguf_str_equal(arch, EMBED_STATIC_ARCH))
        return embed_static_open_gguf(out, g, path, err);
    gguf_close(g);
    if (rc) return err ? fo_fail_prefix(err, "%s", path) : rc;
    return embed_encoder_open(out, path, o, err); /* names what it cannot run */
}

static int open_builtin(embedder **out, fo_err *err) {
    size_t size;
    const void *data = embed_builtin(&size);
    gguf *g;
    int rc = gguf_open_memory(&g, data, size, err);
    return rc ? rc : embed_static_open_gguf(out, g, "the built-in table", err);
}

int embedder_open_with(embedder **out, const char *path, const embedder_options *options,
                       fo_err *err) {
    struct stat st;
    if (!path || !path[0] || !strcmp(path, EMBEDDER_TABLE)) return open_builtin(out, err);
    if (!strcmp(path, EMBEDDER_ENCODER)) return embed_encoder_open(out, NULL, options, err);
    if (stat(path, &st)) return fo_fail_errno(err, "cannot open the embedding model %s", path);
    return S_ISDIR(st.st_mode) ? embed_static_open_folder(out, path, err)
                               : open_gguf(out, path, options, err);
}

int embedder_open(embedder **out, const char *path, fo_err *err) {
    return embedder_open_with(out, path, &(embedder_options){0}, err);
}

void embedder_close(embedder *e) {
    if (e) e->ops->close(e);
}

const char *embedder_name(const embedder *e) {
    return e->name;
}

const char *embedder_fingerprint(const embedder *e) {
    return e->fingerprint;
}

const tokenizer *embedder_tokenizer(const embedder *e) {
    return e->vocabulary;
}
model *embedder_model(const embedder *e) {
    return e->weights;
}

int embedder_intact(const embedder *e, fo_err *err) {
    return e->ops->intact(e, err);
}

size_t embedder_dim(const embedder *e) {
    return e->dim;
}

bool embedder_has_languages(const embedder *e) {
    return embedder_model(e) && tokenizer_get_kind(embedder_tokenizer(e)) == TOKENIZER_UNIGRAM;
}

/* A character is a word there, or nearly. */
static bool is_a_word(int32_t cp) {
    return (cp >= 0x3040 && cp < 0x3100) || (cp >= 0x3400 && cp < 0xA000) ||
           (cp >= 0x20000 && cp < 0x40000);
}

bool embedder_has_learnt(const embedder *e, const char *text, size_t len) {
    enum { BYTES = 400 };
    const tokenizer *t = embedder_tokenizer(e);
    if (tokenizer_get_kind(t) != TOKENIZER_WORDPIECE) return true;
    const int32_t unknown = tokenizer_special_id(t, TOKENIZER_UNK);
    int32_t ids[BYTES];
    size_t letters = 0, words = 0, others = 0, n_unknown = 0;
    if (len > BYTES) {
        len = BYTES;
        while (len && !fo_utf8_boundary(text[len])) len--;
    }
    for (size_t i = 0; i < len;) {
        int32_t cp;
        i += fo_utf8_decode(text + i, len - i, &cp);
        words += is_a_word(cp);
        letters += cp >= 0x80 && !is_a_word(cp);
        others += cp > ' ' && cp < 0x80;
    }
    const int64_t made = tokenizer_encode(t, text, len, 0, ids, BYTES);
    const size_t n = made < 0 ? 0 : made < BYTES ? (size_t)made : BYTES;
    for (size_t i = 0; i < n; i++) n_unknown += ids[i] == unknown;
    if (n_unknown * 8 > n) return false;
    return n <= others + words + letters * 6 / 10;
}

float embedder_alpha(const embedder *e) {
    return e->alpha;
}

size_t embedder_max_tokens(const embedder *e) {
    return e->max_tokens;
}

/* Unit length in double, in a fixed order; a vector that has no direction becomes zero. */
static void normalize(float *v, size_t dim) {
    double sum = 0;
    for (size_t i = 0; i < dim; i++) sum += (double)v[i] * (double)v[i];
    double scale = sum > 1e-24 && isfinite(sum) ? 1.0 / sqrt(sum) : 0;
    for (size_t i = 0; i < dim; i++) v[i] = scale > 0 ? (float)((double)v[i] * scale) : 0;
}

int embedder_embed(embedder *e, enum embed_kind kind, const char *const *texts, const size_t *lens,
                   size_t n_texts, float *out, fo_err *err) {
    int rc = e->ops->embed(e, kind, texts, lens, n_texts, out, err);
    for (size_t i = 0; !rc && i < n_texts; i++) normalize(out + i * e->dim, e->dim);
    return rc;
}

size_t embedder_count_tokens(void *e, const char *text, size_t len) {
    embedder *self = e;
    return self->ops->count_tokens(self, text, len);
}
