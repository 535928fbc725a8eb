#include "engine/tokenizer/vocabulary.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "kernels/buf.h"
#include "kernels/file.h"

enum { MAX_FILE = 256 << 20 };

void vocabulary_free(vocabulary *v) {
    free(v->pieces);
    free(v->bytes);
    *v = (vocabulary){0};
}

int vocabulary_read_text(vocabulary *out, const char *path, fo_err *err) {
    vocabulary v = {0};
    size_t size, lines = 1;
    int rc = fo_file_read(path, MAX_FILE, &v.bytes, &size, err);
    if (rc) return rc;
    for (size_t i = 0; i < size; i++) lines += v.bytes[i] == '\n';
    if (!(v.pieces = malloc(lines * sizeof *v.pieces))) {
        vocabulary_free(&v);
        return fo_fail(err, FO_ENOMEM, "out of memory for %zu pieces", lines);
    }
    for (char *line = v.bytes, *end = v.bytes + size; line < end;) {
        char *stop = memchr(line, '\n', (size_t)(end - line));
        if (!stop) stop = end;
        size_t len = (size_t)(stop - line);
        if (len && line[len - 1] == '\r') len--;
        v.pieces[v.n++] = (tokenizer_string){line, len};
        line = stop + 1;
    }
    if (!v.n) {
        vocabulary_free(&v);
        return fo_fail(err, FO_EINVAL, "%s holds no pieces", path);
    }
    *out = v;
    return FO_OK;
}

static int read_pieces(vocabulary *v, const cJSON *root, fo_err *err) {
    const cJSON *model = cJSON_GetObjectItemCaseSensitive(root, "model"), *item;
    const cJSON *type = cJSON_GetObjectItemCaseSensitive(model, "type");
    const cJSON *vocab = cJSON_GetObjectItemCaseSensitive(model, "vocab");
    if (!cJSON_IsString(type) || strcmp(type->valuestring, "WordPiece"))
        return fo_fail(err, FO_EUNSUPPORTED,
                       "a tokenizer of type %.40s: Forage takes WordPiece here",
                       cJSON_IsString(type) ? type->valuestring : "unknown");
    if (!cJSON_IsObject(vocab) || !vocab->child) return fo_fail(err, FO_ECORRUPT, "no model.vocab");
    size_t bytes = 0;
    cJSON_ArrayForEach(item, vocab) {
        v->n++;
        bytes += strlen(item->string);
    }
    v->pieces = calloc(v->n, sizeof *v->pieces);
    v->bytes = malloc(bytes + 1);
    if (!v->pieces || !v->bytes)
        return fo_fail(err, FO_ENOMEM, "out of memory for %zu pieces", v->n);
    char *at = v->bytes;
    cJSON_ArrayForEach(item, vocab) {
        double id = cJSON_IsNumber(item) ? item->valuedouble : -1;
        if (!(id >= 0 && id < (double)v->n) || id != floor(id) || v->pieces[(size_t)id].data)
            return fo_fail(err, FO_ECORRUPT, "piece '%.60s' has no id of its own", item->string);
        size_t len = strlen(item->string);
        memcpy(at, item->string, len);
        v->pieces[(size_t)id] = (tokenizer_string){at, len};
        at += len;
    }
    return FO_OK;
}

int vocabulary_read_json(vocabulary *out, const char *path, fo_err *err) {
    char *text;
    size_t size;
    int rc = fo_file_read(path, MAX_FILE, &text, &size, err);
    if (rc) return rc;
    cJSON *root = cJSON_ParseWithLength(text, size);
    free(text);
    vocabulary v = {0};
    rc = root ? read_pieces(&v, root, err) : fo_fail(err, FO_ECORRUPT, "not JSON");
    cJSON_Delete(root);
    if (rc) {
        vocabulary_free(&v);
        return err ? fo_fail_prefix(err, "%s", path) : rc;
    }
    *out = v;
    return FO_OK;
}

int vocabulary_read_gguf(vocabulary *out, const gguf *g, fo_err *err) {
    const gguf_str *strs;
    size_t bytes = 0;
    vocabulary v = {0};
    int rc = gguf_get_strs(g, "tokenizer.ggml.tokens", &strs, &v.n, err);
    if (rc) return rc;
    for (size_t i = 0; i < v.n; i++) bytes += strs[i].len; /* all within one file: no overflow */
    v.pieces = malloc((v.n + 1) * sizeof *v.pieces);
    v.bytes = malloc(bytes + 1);
    if (!v.pieces || !v.bytes) {
        vocabulary_free(&v);
        return fo_fail(err, FO_ENOMEM, "out of memory for a vocabulary");
    }
    char *at = v.bytes;
    for (size_t i = 0; i < v.n; i++) {
        memcpy(at, strs[i].ptr, strs[i].len);
        v.pieces[i] = (tokenizer_string){at, strs[i].len};
        at += strs[i].len;
    }
    *out = v;
    return FO_OK;
}

static bool is_continuation(tokenizer_string p) {
    return p.len > 2 && p.data[0] == '#' && p.data[1] == '#';
}

/* GGUF writes WordPiece with U+2581 before what begins a word and nothing before what continues
 * one; names in brackets stay. */
int vocabulary_put(gguf_writer *w, const tokenizer_string *pieces, size_t n, const tokenizer *t,
                   fo_err *err) {
    fo_buf bytes = {0};
    gguf_str *strs = malloc(n * sizeof *strs);
    int32_t *types = malloc(n * sizeof *types);
    size_t *ends = malloc(n * sizeof *ends);
    int rc = FO_OK;
    if (!strs || !types || !ends) {
        rc = fo_fail(err, FO_ENOMEM, "out of memory for %zu pieces", n);
        goto done;
    }
    bool hashes = false; /* else the pieces are in GGUF's convention already */
    for (size_t i = 0; i < n; i++) hashes |= is_continuation(pieces[i]);
    for (size_t i = 0; i < n; i++) {
        tokenizer_string p = pieces[i];
        unsigned attributes = tokenizer_attributes(t, (int32_t)i);
        bool unused = p.len > 7 && !memcmp(p.data, "[unused", 7);
        bool special = unused || attributes & (TOKENIZER_CONTROL | TOKENIZER_UNKNOWN);
        bool continues = is_continuation(p);
        if (!special && !continues && hashes) fo_buf_str(&bytes, "\xE2\x96\x81");
        fo_buf_add(&bytes, p.data + (continues ? 2 : 0), p.len - (continues ? 2 : 0));
        ends[i] = bytes.len;
        types[i] = attributes & TOKENIZER_UNKNOWN   ? 2
                   : attributes & TOKENIZER_CONTROL ? 3
                   : unused                         ? 5
                                                    : 1;
    }
    if (bytes.failed) {
        rc = fo_fail(err, FO_ENOMEM, "out of memory for %zu pieces", n);
        goto done;
    }
    for (size_t i = 0, at = 0; i < n; at = ends[i++])
        strs[i] = (gguf_str){bytes.data + at, ends[i] - at};
    gguf_put_str(w, "tokenizer.ggml.model", "bert");
    gguf_put_str(w, "tokenizer.ggml.pre", "default");
    gguf_put_u32(w, "tokenizer.ggml.token_type_count", 2);
    gguf_put_strs(w, "tokenizer.ggml.tokens", strs, n);
    gguf_put_i32s(w, "tokenizer.ggml.token_type", types, n);
    static const struct {
        const char *key;
        tokenizer_special which;
    } ids[] = {
        {"tokenizer.ggml.unknown_token_id", TOKENIZER_UNK},
        {"tokenizer.ggml.bos_token_id", TOKENIZER_CLS},
        {"tokenizer.ggml.eos_token_id", TOKENIZER_SEP},
        {"tokenizer.ggml.cls_token_id", TOKENIZER_CLS},
        {"tokenizer.ggml.seperator_token_id", TOKENIZER_SEP},
        {"tokenizer.ggml.padding_token_id", TOKENIZER_PAD},
        {"tokenizer.ggml.mask_token_id", TOKENIZER_MASK},
    };
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        int32_t id = tokenizer_special_id(t, ids[i].which);
        if (id >= 0) gguf_put_u32(w, ids[i].key, (uint32_t)id);
    }
done:
    free(strs);
    free(types);
    free(ends);
    fo_buf_free(&bytes);
    return rc;
}
