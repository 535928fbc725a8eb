#include "engine/tokenizer/tokenizer_gguf.h"

#include <stdlib.h>
#include <string.h>

/* The id under `key`; -1 where the file has none. */
static int get_id(const gguf *g, const char *key, int32_t *id, fo_err *err) {
    int64_t v = -1;
    int rc = gguf_get_i64(g, key, &v, err);
    if (rc && rc != FO_ENOTFOUND) return rc;
    if (v == UINT32_MAX) v = -1; /* how some writers say "none" */
    if (v < -1 || v > INT32_MAX) return fo_fail(err, FO_ECORRUPT, "%s is %lld", key, (long long)v);
    *id = (int32_t)v;
    return FO_OK;
}

static int get_ids(const gguf *g, tokenizer_spec *s, fo_err *err) {
    const struct {
        const char *key;
        int32_t *id;
    } ids[] = {
        {"tokenizer.ggml.bos_token_id", &s->bos},
        {"tokenizer.ggml.eos_token_id", &s->eos},
        {"tokenizer.ggml.eot_token_id", &s->eot},
        {"tokenizer.ggml.eom_token_id", &s->eom},
        {"tokenizer.ggml.unknown_token_id", &s->unk},
        {"tokenizer.ggml.seperator_token_id", &s->sep},
        {"tokenizer.ggml.padding_token_id", &s->pad},
        {"tokenizer.ggml.cls_token_id", &s->cls},
        {"tokenizer.ggml.mask_token_id", &s->mask},
    };
    int rc = FO_OK;
    for (size_t i = 0; i < sizeof ids / sizeof *ids && !rc; i++)
        rc = get_id(g, ids[i].key, ids[i].id, err);
    if (!rc && s->sep < 0) rc = get_id(g, "tokenizer.ggml.separator_token_id", &s->sep, err);
    return rc;
}

static int get_flag(const gguf *g, const char *key, int8_t *flag, fo_err *err) {
    bool v;
    int rc = gguf_get_bool(g, key, &v, err);
    if (rc == FO_ENOTFOUND) return FO_OK;
    if (!rc) *flag = v;
    return rc;
}

/* An array of n strings under `key`, as tokenizer strings in fresh memory. */
static int get_strings(const gguf *g, const char *key, tokenizer_string **out, size_t *n,
                       fo_err *err) {
    const gguf_str *strs;
    int rc = gguf_get_strs(g, key, &strs, n, err);
    if (rc) return rc;
    tokenizer_string *s = malloc((*n + 1) * sizeof *s);
    if (!s) return fo_fail(err, FO_ENOMEM, "tokenizer: out of memory");
    for (size_t i = 0; i < *n; i++) s[i] = (tokenizer_string){strs[i].ptr, strs[i].len};
    *out = s;
    return FO_OK;
}

/* A number for each of n tokens, read by `get`, or *kv = NULL where the file has none. */
static int get_numbers(const gguf *g, const char *key, size_t n,
                       int (*get)(const gguf *, const char *, const gguf_kv **, fo_err *),
                       const gguf_kv **kv, fo_err *err) {
    *kv = NULL;
    int rc = get(g, key, kv, err);
    if (rc == FO_ENOTFOUND) return FO_OK;
    if (!rc && (*kv)->n != n)
        return fo_fail(err, FO_ECORRUPT, "%s has %zu elements for %zu tokens", key, (*kv)->n, n);
    return rc;
}

static bool contains(gguf_str s, const char *part) {
    return s.len && memmem(s.ptr, s.len, part, strlen(part)) != NULL;
}

static int kind_of(gguf_str model, tokenizer_kind *kind, fo_err *err) {
    if (gguf_str_equal(model, "bert"))
        *kind = TOKENIZER_WORDPIECE;
    else if (gguf_str_equal(model, "gpt2"))
        *kind = TOKENIZER_BPE;
    else if (gguf_str_equal(model, "llama"))
        *kind = TOKENIZER_SPM;
    else if (gguf_str_equal(model, "t5"))
        *kind = TOKENIZER_UNIGRAM;
    else
        return fo_fail(err, FO_EUNSUPPORTED,
                       "tokenizer.ggml.model is \"%.*s\": only bert, gpt2, llama and t5 are known",
                       (int)(model.len < 40 ? model.len : 40), model.ptr);
    return FO_OK;
}

int tokenizer_from_gguf(tokenizer **out, const gguf *g, fo_err *err) {
    gguf_str model, pre, name, charsmap = {"", 0};
    tokenizer_kind kind = TOKENIZER_WORDPIECE;
    int rc = gguf_get_str(g, "tokenizer.ggml.model", &model, err);
    if (!rc) rc = kind_of(model, &kind, err);
    if (rc || (rc = gguf_get_optional_str(g, "tokenizer.ggml.pre", &pre, err)) ||
        (rc = gguf_get_optional_str(g, "general.name", &name, err)))
        return rc;
    rc = gguf_get_bytes(g, "tokenizer.ggml.precompiled_charsmap", &charsmap, err);
    if (rc && rc != FO_ENOTFOUND) return rc;

    tokenizer_spec spec = tokenizer_spec_default(kind);
    tokenizer_string *tokens = NULL, *merges = NULL;
    float *scores = NULL;
    int32_t *types = NULL;
    char pre_name[64];
    const gguf_kv *kv;
    if (pre.len >= sizeof pre_name)
        return fo_fail(err, FO_EUNSUPPORTED, "tokenizer.ggml.pre has a name of %zu bytes", pre.len);
    if (pre.len) {
        memcpy(pre_name, pre.ptr, pre.len);
        pre_name[pre.len] = 0;
        spec.pre = pre_name;
    }
    rc = get_strings(g, "tokenizer.ggml.tokens", &tokens, &spec.n_tokens, err);
    if (rc) return rc;
    spec.tokens = tokens;
    if (kind == TOKENIZER_BPE) {
        rc = get_strings(g, "tokenizer.ggml.merges", &merges, &spec.n_merges, err);
        if (rc) goto done;
        spec.merges = merges;
    }
    rc = get_numbers(g, "tokenizer.ggml.token_type", spec.n_tokens, gguf_get_integers, &kv, err);
    if (rc) goto done;
    if (kv) {
        types = malloc((spec.n_tokens + 1) * sizeof *types);
        if (!types) goto no_memory;
        for (size_t i = 0; i < spec.n_tokens; i++) {
            int64_t v = gguf_integer_at(kv, i);
            types[i] = v < 0 || v > INT32_MAX ? -1 : (int32_t)v;
        }
        spec.types = types;
    }
    rc = get_numbers(g, "tokenizer.ggml.scores", spec.n_tokens, gguf_get_numbers, &kv, err);
    if (rc) goto done;
    if (kv) {
        scores = malloc((spec.n_tokens + 1) * sizeof *scores);
        if (!scores) goto no_memory;
        for (size_t i = 0; i < spec.n_tokens; i++) scores[i] = (float)gguf_number_at(kv, i);
        spec.scores = scores;
    }
    spec.charsmap = (tokenizer_string){charsmap.ptr, charsmap.len};
    rc = get_ids(g, &spec, err);
    if (!rc) rc = get_flag(g, "tokenizer.ggml.add_bos_token", &spec.add_bos, err);
    if (!rc) rc = get_flag(g, "tokenizer.ggml.add_eos_token", &spec.add_eos, err);
    if (!rc) rc = get_flag(g, "tokenizer.ggml.add_space_prefix", &spec.add_space_prefix, err);
    int8_t remove_extra = 0;
    if (!rc) rc = get_flag(g, "tokenizer.ggml.remove_extra_whitespaces", &remove_extra, err);
    spec.remove_extra_whitespaces = remove_extra;
    /* No key in GGUF says so, but Phi-3's special tokens swallow the space behind them. */
    spec.strip_special = contains(name, "phi-3") || contains(name, "phi3") ||
                         contains(name, "Phi-3") || contains(name, "Phi 3");
    if (!rc) rc = tokenizer_create(out, &spec, err);
    goto done;
no_memory:
    rc = fo_fail(err, FO_ENOMEM, "tokenizer: out of memory");
done:
    free(tokens);
    free(merges);
    free(scores);
    free(types);
    return rc;
}
