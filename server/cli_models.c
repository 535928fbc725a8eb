#include "server/cli_models.h"

#include <string.h>

#include "engine/engine.h"

cli_models cli_model_flags;

static bool parse_kv_type(const char *s, kv_type *out) {
    static const struct {
        const char *name;
        kv_type type;
    } types[] = {{"f32", KV_F32}, {"bf16", KV_BF16}, {"q8_0", KV_Q8_0}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (!strcmp(s, types[i].name)) return *out = types[i].type, true;
    return false;
}

int cli_models_open(service **out, const service_options *o, fo_err *err) {
    const cli_models *f = &cli_model_flags;
    engine_options e = {.max_batch_tokens = (int)f->max_batch_tokens,
                        .max_sequences = (int)f->max_sequences,
                        .kv_page_tokens = (int)f->kv_page_tokens,
                        .kv_ram = (uint64_t)f->kv_ram,
                        .kv_type = KV_BF16,
                        .defrag_threshold = f->defrag_threshold,
                        .batch_wait_us = (int)f->batch_wait_us,
                        .max_qps = f->max_qps,
                        .max_tps = f->max_tps};
    if (f->kv_type && !parse_kv_type(f->kv_type, &e.kv_type))
        return fo_fail_field(err, FO_EINVAL, "kv-type", "--kv-type must be f32, bf16 or q8_0");
    service_options with = *o;
    with.embed_model = f->embed;
    with.query_prefix = f->query_prefix;
    with.passage_prefix = f->passage_prefix;
    with.rerank_model = f->rerank;
    with.model = f->model;
    with.engine = &e;
    return service_open(out, &with, err);
}
