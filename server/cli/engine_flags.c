#include "server/cli/engine_flags.h"

engine_flags engine_flag_values = {.kv_type = "bf16",
                                   .defrag_threshold = .5,
                                   .kv_disk = -1,
                                   .kv_chunk_budget = .15,
                                   .read_stretch = 2};

int engine_flags_apply(engine_options *out, fo_err *err) {
    const engine_flags *f = &engine_flag_values;
    if (f->kv_page_tokens % KV_BLOCK)
        return fo_fail_field(err, FO_EINVAL, "kv-page-tokens",
                             "--kv-page-tokens must be a multiple of %d", KV_BLOCK);
    out->n_threads = (int)f->threads;
    out->max_batch_tokens = (int)f->max_batch_tokens;
    out->max_sequences = (int)f->max_sequences;
    out->kv_page_tokens = (int)f->kv_page_tokens;
    out->kv_ram = (uint64_t)f->kv_ram;
    if (f->kv_disk > 0) out->kv_disk = (uint64_t)f->kv_disk;
    out->no_lookup = f->no_lookup;
    out->defrag_threshold = f->defrag_threshold;
    out->kv_chunk_budget = f->kv_chunk_budget > 0 ? f->kv_chunk_budget : -1;
    out->read_stretch = f->read_stretch > 0 ? f->read_stretch : -1;
    out->batch_wait_us = (int)f->batch_wait_us;
    out->max_qps = f->max_qps;
    out->max_tps = f->max_tps;
    return kv_type_from_name(f->kv_type, &out->kv_type, err);
}
