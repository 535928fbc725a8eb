#include "engine/diffusion/diffusion.h"

#include <stdio.h>
#include <string.h>

#include "kernels/splitmix.h"

enum { BLOCK = 32, MAX_STEPS = 1 << 20, MAX_BLOCK = 1 << 20 };
static const float DREAM_EPS = .001f, SURE = .9f;

static const char *const remaskings[] = {"confidence", "entropy", "margin", "random", "origin"};
static const char *const kvs[] = {"off", "prompt", "prefix", "dual"};

diffusion_params diffusion_params_default(void) {
    return (diffusion_params){.steps = -1,
                              .block_length = -1,
                              .remasking = -1,
                              .eps = -1,
                              .guidance = -1,
                              .threshold = -1,
                              .verify = -1,
                              .kv = -1,
                              .refresh = -1,
                              .top_p = -1,
                              .top_k = -1};
}

bool diffusion_is(const model_info *info) {
    return !info->encoder && !info->causal;
}

static int read_int(const gguf *g, const char *key, int *out, fo_err *err) {
    uint64_t v;
    int rc = gguf_get_u64(g, key, &v, err);
    if (!rc) *out = v > MAX_STEPS ? MAX_STEPS + 1 : (int)v;
    return rc == FO_ENOTFOUND ? FO_OK : rc;
}

static int read_float(const gguf *g, const char *key, float *out, fo_err *err) {
    double v;
    int rc = gguf_get_f64(g, key, &v, err);
    if (!rc && !(v >= 0 && v < 1e6)) return fo_fail(err, FO_ECORRUPT, "%s is out of range", key);
    if (!rc) *out = (float)v;
    return rc == FO_ENOTFOUND ? FO_OK : rc;
}

typedef int name_fn(const char *name, int *out, fo_err *err);

static int read_name(const gguf *g, const char *key, name_fn *from_name, int *out, fo_err *err) {
    gguf_str s;
    char name[32];
    int rc = gguf_get_optional_str(g, key, &s, err);
    if (rc || !s.len) return rc;
    snprintf(name, sizeof name, "%.*s", (int)(s.len < 31 ? s.len : 31), s.ptr);
    rc = from_name(name, out, err);
    return rc ? fo_fail_prefix(err, "%s", key) : FO_OK;
}

/* What the file says of how the model wants to write. */
static int read_own(diffusion_model *m, const gguf *g, fo_err *err) {
    diffusion_params *p = &m->own;
    int rc;
    *p = diffusion_params_default();
    if ((rc = read_int(g, "diffusion.steps", &p->steps, err)) ||
        (rc = read_int(g, "diffusion.block_length", &p->block_length, err)) ||
        (rc = read_int(g, "diffusion.refresh", &p->refresh, err)) ||
        (rc = read_int(g, "diffusion.top_k", &p->top_k, err)) ||
        (rc = read_float(g, "diffusion.top_p", &p->top_p, err)) ||
        (rc = read_float(g, "diffusion.eps", &p->eps, err)) ||
        (rc = read_float(g, "diffusion.guidance", &p->guidance, err)) ||
        (rc = read_float(g, "diffusion.threshold", &p->threshold, err)) ||
        (rc = read_name(g, "diffusion.remasking", diffusion_remasking_from_name, &p->remasking,
                        err)))
        return rc;
    bool verify = false;
    rc = gguf_get_bool(g, "diffusion.verify", &verify, err);
    if (!rc) p->verify = verify;
    if (rc && rc != FO_ENOTFOUND) return rc;
    return read_name(g, "diffusion.kv", diffusion_kv_from_name, &p->kv, err);
}

int diffusion_model_read(diffusion_model *out, const model_info *info, const gguf *g, fo_err *err) {
    static const char mask_key[] = "tokenizer.ggml.mask_token_id";
    *out = (diffusion_model){.attention_block = info->attention_block,
                             .dream = !strcmp(info->arch, "dream")};
    uint64_t mask = 0;
    int rc = gguf_get_u64(g, mask_key, &mask, err);
    if (rc == FO_ENOTFOUND)
        return fo_fail(err, FO_EUNSUPPORTED, "a diffusion model needs a mask token (%s)", mask_key);
    if (rc) return rc;
    if (mask >= (uint64_t)info->n_vocab)
        return fo_fail(err, FO_ECORRUPT, "%s is %llu of %d tokens", mask_key,
                       (unsigned long long)mask, info->n_vocab);
    out->mask = (int32_t)mask;
    out->shift = out->dream;
    rc = gguf_get_bool(g, "diffusion.shift_logits", &out->shift, err);
    if (rc && rc != FO_ENOTFOUND) return rc;
    rc = read_own(out, g, err);
    diffusion_params p = out->own; /* they fit each other */
    if (!rc) rc = diffusion_params_resolve(&p, out, 1, err);
    if (rc != FO_EINVAL) return rc;
    fo_fail_prefix(err, "the file's own settings (diffusion.*)");
    if (err) err->code = FO_ECORRUPT;
    return FO_ECORRUPT;
}

static int in_range(const char *field, double v, double lo, double hi, fo_err *err) {
    if (v >= lo && v <= hi) return FO_OK;
    char name[64];
    snprintf(name, sizeof name, "diffusion.%s", field);
    return fo_fail_field(err, FO_EINVAL, name, "%s must be between %g and %g", name, lo, hi);
}

/* How many blocks an answer has. Those of a block-causal model stand where its attention's do, which
 * depends on the prompt: one more at most. */
static int n_blocks(const diffusion_params *p, const diffusion_model *m, int n_answer) {
    int n = p->block_length ? (n_answer + p->block_length - 1) / p->block_length : 1;
    return n + (m->attention_block && n < n_answer);
}

/* Verification computes a block again for each step that is guessed: what stands before it must be
 * there, and there for good. */
static int check_verify(const diffusion_params *p, const diffusion_model *m, fo_err *err) {
    static const char field[] = "diffusion.verify";
    if (!p->verify) return FO_OK;
    if (!m->attention_block)
        return fo_fail_field(
            err, FO_EINVAL, field,
            "%s is for models whose attention goes by blocks: here a token changes "
            "what every position computes",
            field);
    if (p->guidance > 0)
        return fo_fail_field(err, FO_EINVAL, field, "%s is not with diffusion.guidance", field);
    if (p->kv == DIFFUSION_KV_OFF)
        return fo_fail_field(err, FO_EINVAL, field,
                             "%s needs KV that is kept, and diffusion.kv is off", field);
    if (p->threshold <= 0)
        return fo_fail_field(err, FO_EINVAL, field,
                             "%s needs a diffusion.threshold above 0: nothing else is verified",
                             field);
    return FO_OK;
}

int diffusion_params_resolve(diffusion_params *p, const diffusion_model *m, int n_answer,
                             fo_err *err) {
    const diffusion_params *own = &m->own;
    if (p->steps < 0) p->steps = own->steps;
    if (p->block_length < 0) p->block_length = own->block_length;
    if (p->remasking < 0) p->remasking = own->remasking;
    if (p->eps < 0) p->eps = own->eps;
    if (p->guidance < 0) p->guidance = own->guidance;
    if (p->verify < 0) p->verify = own->verify > 0;
    if (p->threshold < 0 && (p->remasking <= DIFFUSION_CONFIDENCE || p->verify))
        p->threshold = own->threshold;
    if (p->threshold < 0 && p->verify) p->threshold = SURE;
    if (p->kv < 0) p->kv = own->kv;
    if (p->refresh < 0) p->refresh = own->refresh;
    if (p->top_p < 0) p->top_p = own->top_p;
    if (p->top_k < 0) p->top_k = own->top_k;
    if (p->top_p < 0) p->top_p = 1;
    if (p->top_k < 0) p->top_k = 0;
    if (p->block_length < 0)
        p->block_length = m->attention_block ? m->attention_block : m->dream ? 0 : BLOCK;
    if (p->steps < 0) p->steps = 0;
    if (p->remasking < 0) p->remasking = m->dream ? DIFFUSION_ENTROPY : DIFFUSION_CONFIDENCE;
    if (p->eps < 0) p->eps = m->dream ? DREAM_EPS : 0;
    if (p->guidance < 0) p->guidance = 0;
    if (p->threshold < 0) p->threshold = 0;
    if (p->kv < 0) p->kv = m->attention_block ? DIFFUSION_KV_PREFIX : DIFFUSION_KV_OFF;
    if (p->refresh < 0) p->refresh = 0;
    int rc = in_range("steps", p->steps, 0, MAX_STEPS, err);
    if (!rc) rc = in_range("block_length", p->block_length, 0, MAX_BLOCK, err);
    if (!rc) rc = in_range("remasking", p->remasking, 0, DIFFUSION_REMASKINGS - 1, err);
    if (!rc) rc = in_range("eps", (double)p->eps, 0, .999, err);
    if (!rc) rc = in_range("guidance", (double)p->guidance, 0, 100, err);
    if (!rc) rc = in_range("threshold", (double)p->threshold, 0, 1, err);
    if (!rc) rc = in_range("kv", p->kv, 0, DIFFUSION_KVS - 1, err);
    if (!rc) rc = in_range("refresh", p->refresh, 0, MAX_STEPS, err);
    if (!rc && !(p->top_p >= 0 && p->top_p <= 1))
        rc = fo_fail_field(err, FO_EINVAL, "top_p", "top_p must be between 0 and 1");
    if (!rc && !(p->temperature >= 0 && p->temperature <= 2))
        rc = fo_fail_field(err, FO_EINVAL, "temperature", "temperature must be between 0 and 2");
    if (rc) return rc;
    rc = check_verify(p, m, err);
    if (rc) return rc;
    if (p->threshold > 0 && p->remasking != DIFFUSION_CONFIDENCE && !p->verify)
        return fo_fail_field(err, FO_EINVAL, "diffusion.threshold",
                             "diffusion.threshold needs remasking by confidence, not by %s",
                             remaskings[p->remasking]);
    if (m->attention_block && p->block_length != m->attention_block)
        return fo_fail_field(err, FO_EINVAL, "diffusion.block_length",
                             "diffusion.block_length is %d: this model's attention goes by blocks "
                             "of %d",
                             p->block_length, m->attention_block);
    const int blocks = n_blocks(p, m, n_answer);
    if (p->steps == 0) p->steps = n_answer > blocks ? n_answer : blocks;
    if (p->steps < blocks)
        return fo_fail_field(
            err, FO_EINVAL, "diffusion.steps",
            "diffusion.steps is %d, but an answer of %d tokens has up to %d blocks "
            "of %d",
            p->steps, n_answer, blocks, p->block_length);
    return FO_OK;
}

const char *diffusion_kv_note(const diffusion_params *p, const diffusion_model *m) {
    if (m->attention_block || p->kv == DIFFUSION_KV_OFF || p->refresh == 1) return "";
    switch (p->kv) {
    case DIFFUSION_KV_PROMPT:
        return p->refresh ? "approximate: the prompt's KV is kept for diffusion.refresh passes, "
                            "though what is written meanwhile would change it"
                          : "approximate: the prompt's KV is computed once, though what is written "
                            "would change it";
    case DIFFUSION_KV_PREFIX:
        return "approximate: KV before the block is kept until the next block or refresh, though "
               "what is written meanwhile would change it";
    default:
        return "approximate: KV before and behind the block is kept until the next block or "
               "refresh, though what is written meanwhile would change it";
    }
}

const char *diffusion_remasking_name(int remasking) {
    return remaskings[remasking];
}

const char *diffusion_kv_name(int kv) {
    return kvs[kv];
}

static int from_name(const char *field, const char *const *names, int n, const char *name, int *out,
                     fo_err *err) {
    char all[80] = "", full[64];
    for (int i = 0; i < n; i++) {
        if (!strcmp(names[i], name)) {
            *out = i;
            return FO_OK;
        }
        strcat(strcat(all, i ? ", " : ""), names[i]);
    }
    snprintf(full, sizeof full, "diffusion.%s", field);
    return fo_fail_field(err, FO_EINVAL, full, "%s is one of %s, not \"%.40s\"", full, all, name);
}

int diffusion_remasking_from_name(const char *name, int *out, fo_err *err) {
    return from_name("remasking", remaskings, DIFFUSION_REMASKINGS, name, out, err);
}

int diffusion_kv_from_name(const char *name, int *out, fo_err *err) {
    return from_name("kv", kvs, DIFFUSION_KVS, name, out, err);
}

double diffusion_uniform(uint64_t seed, uint64_t step, int position, int32_t token) {
    uint64_t z = fo_mix64(seed + FO_SPLITMIX_STEP);
    z = fo_mix64(z + (step + 1) * FO_SPLITMIX_STEP);
    z = fo_mix64(z ^ ((uint64_t)(uint32_t)position << 32 | (uint32_t)token));
    return ((double)(z >> 11) + .5) * 0x1p-53;
}
