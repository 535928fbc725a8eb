#include "engine/generate/engine_memory.h"

#include "engine/generate/scheduler.h"
#include "engine/model/model_memory.h"

int engine_memory_check(engine_memory_plan *out, const model_info *info, const engine_options *opt,
                        int batch_tokens, int logit_rows, fo_err *err) {
    *out =
        (engine_memory_plan){.weights = info->weight_bytes, .available = model_memory_available()};
    out->page_tokens = opt->kv_page_tokens > 0 ? opt->kv_page_tokens : KV_BLOCK;
    if (opt->kv_page_tokens <= 0 && info->attention_block % KV_BLOCK == 0 && info->attention_block)
        out->page_tokens = info->attention_block; /* a page that others find holds whole blocks */
    kv_layout l = {.n_layers = info->n_layers,
                   .n_kv_heads = info->n_kv_heads,
                   .k_dim = info->k_dim,
                   .v_dim = info->v_dim,
                   .page_tokens = out->page_tokens,
                   .type = opt->kv_type};
    int rc = kv_layout_init(&l, err);
    if (rc) return rc;
    /* And a row of logits each. */
    out->scratch = model_memory_of_batch(info, batch_tokens + SCHEDULER_BACKGROUND_TOKENS) +
                   (uint64_t)logit_rows * (uint64_t)info->n_vocab * 8;
    uint64_t fixed = out->weights + out->scratch + opt->reserved_bytes;
    uint64_t window = ((uint64_t)info->n_context / (uint64_t)l.page_tokens + 1) * l.page_bytes;
    uint64_t kv = opt->kv_ram;
    if (!kv) {
        uint64_t left = out->available > fixed ? out->available - fixed : 0;
        kv = left / 4 < 8 * window ? left / 4 : 8 * window;
        if (kv < l.page_bytes * 64) kv = l.page_bytes * 64;
    }
    uint64_t pages = kv / l.page_bytes;
    if (pages > INT32_MAX / 2) pages = INT32_MAX / 2;
    if (pages < 1)
        return fo_fail_field(err, FO_EINVAL, "kv-ram",
                             "a page of KV takes %zu bytes, --kv-ram "
                             "allows %llu",
                             l.page_bytes, (unsigned long long)kv);
    out->n_pages = (int)pages;
    out->kv = pages * l.page_bytes;
    if (out->available && fixed + out->kv > out->available)
        return fo_fail(
            err, FO_ENOMEM,
            "%s needs %llu MiB of weights, %llu MiB of KV cache and %llu MiB of scratch, beside "
            "%llu MiB for other models and caches; %llu MiB are available",
            opt->model, (unsigned long long)(out->weights >> 20),
            (unsigned long long)(out->kv >> 20), (unsigned long long)(out->scratch >> 20),
            (unsigned long long)(opt->reserved_bytes >> 20),
            (unsigned long long)(out->available >> 20));
    out->store = opt->kv_store_ram ? opt->kv_store_ram : out->kv / 4;
    uint64_t left = out->available - fixed - out->kv;
    if (out->available && !opt->kv_store_ram && out->store > left) out->store = left;
    return FO_OK;
}
