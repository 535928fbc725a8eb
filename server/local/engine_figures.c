#include "server/local/engine_figures.h"

#include <stdlib.h>

#include "retrieval/local/local_generator.h"
#include "server/base/metrics_text.h"

enum { MAP_MAX = 65536 };

const char *engine_figures_name(generator *g) {
    engine *e = local_generator_engine(g);
    if (!e) return NULL;
    const char *name = engine_model(e)->name;
    return *name ? name : engine_model(e)->arch;
}

const char *engine_figures_chatml(generator *g) {
    return local_generator_chatml(g);
}

/* ---- GET /metrics -------------------------------------------------------------------------- */

static void write_kv_metrics(const kv_cache_stats *kv, fo_buf *b) {
    metrics_write_head(b, "forage_kv_pages", "gauge", "Pages of KV by what they hold.");
    fo_buf_printf(b, "forage_kv_pages{state=\"free\"} %d\n", kv->n_free);
    fo_buf_printf(b, "forage_kv_pages{state=\"cached\"} %d\n", kv->n_cached);
    fo_buf_printf(b, "forage_kv_pages{state=\"used\"} %d\n", kv->n_used - kv->n_shared);
    fo_buf_printf(b, "forage_kv_pages{state=\"shared\"} %d\n", kv->n_shared);
    metrics_write_value(b, "forage_kv_sequences", "gauge", "Sequences that hold pages.",
                        kv->n_sequences);
    metrics_write_value(b, "forage_kv_fragmentation_ratio", "gauge",
                        "Free share of the pages below the highest used one.", kv->fragmentation);
    metrics_write_value(b, "forage_kv_lookup_tokens_total", "counter",
                        "Prompt tokens looked for in the pages.", (double)kv->lookup_tokens);
    metrics_write_value(b, "forage_kv_hit_tokens_total", "counter",
                        "Prompt tokens found there and not computed.", (double)kv->hit_tokens);
    metrics_write_value(b, "forage_kv_copies_total", "counter",
                        "Pages copied before a write because others read them.",
                        (double)kv->copies);
    metrics_write_value(b, "forage_kv_evictions_total", "counter",
                        "Findable pages given up for others.", (double)kv->evictions);
    metrics_write_value(b, "forage_kv_compactions_total", "counter", "Times pages were moved up.",
                        (double)kv->compactions);
}

static void write_kind(fo_buf *b, const char *name, const char *kind, uint64_t n) {
    fo_buf_printf(b, "%s{kind=\"%s\"} %llu\n", name, kind, (unsigned long long)n);
}

static void write_tier(fo_buf *b, const char *name, unsigned long long ram,
                       unsigned long long disk) {
    fo_buf_printf(b, "%s{tier=\"ram\"} %llu\n%s{tier=\"disk\"} %llu\n", name, ram, name, disk);
}

/* KV beyond the pages: blocks on disk, chunks in RAM and on disk. */
static void write_kv_store_metrics(const kv_cache_stats *kv, const kv_store_stats *st, fo_buf *b) {
    static const char *const kinds[KV_STORE_KINDS] = {"block", "chunk"};
    metrics_write_value(b, "forage_kv_restored_blocks_total", "counter",
                        "Blocks read back from disk into pages.", (double)kv->restored_blocks);
    metrics_write_value(b, "forage_kv_saved_blocks_total", "counter",
                        "Blocks given to the disk tier.", (double)kv->saved_blocks);
    metrics_write_head(b, "forage_kv_store_lookups_total", "counter",
                       "Records asked for of the KV store.");
    for (int k = 0; k < KV_STORE_KINDS; k++)
        write_kind(b, "forage_kv_store_lookups_total", kinds[k], st->lookups[k]);
    metrics_write_head(b, "forage_kv_store_hits_total", "counter", "Records found there.");
    for (int k = 0; k < KV_STORE_KINDS; k++)
        write_kind(b, "forage_kv_store_hits_total", kinds[k], st->hits[k]);
    metrics_write_head(b, "forage_kv_store_hit_tokens_total", "counter",
                       "Tokens of the records found.");
    for (int k = 0; k < KV_STORE_KINDS; k++)
        write_kind(b, "forage_kv_store_hit_tokens_total", kinds[k], st->hit_tokens[k]);
    metrics_write_head(b, "forage_kv_store_records", "gauge", "Records kept.");
    write_tier(b, "forage_kv_store_records", st->ram.records, st->disk.records);
    metrics_write_head(b, "forage_kv_store_bytes", "gauge",
                       "Bytes kept; on disk those of whole files.");
    write_tier(b, "forage_kv_store_bytes", st->ram.bytes, st->disk.bytes);
    metrics_write_head(b, "forage_kv_store_budget_bytes", "gauge", "What the tiers may take.");
    write_tier(b, "forage_kv_store_budget_bytes", st->ram.budget_bytes, st->disk.budget_bytes);
    metrics_write_head(b, "forage_kv_store_evictions_total", "counter",
                       "Records given up for others.");
    write_tier(b, "forage_kv_store_evictions_total", st->ram.evictions, st->disk.evictions);
    metrics_write_value(b, "forage_kv_store_written_bytes_total", "counter",
                        "Records written to disk.", (double)st->disk.written_bytes);
    metrics_write_value(b, "forage_kv_store_read_seconds_total", "counter",
                        "Time inside reads from disk.", st->read_ms / 1000);
    metrics_write_value(b, "forage_kv_store_queue_bytes", "gauge", "Waiting to be written.",
                        (double)st->queue_bytes);
    metrics_write_value(b, "forage_kv_store_corrupt_total", "counter",
                        "Records dropped because their bytes were damaged.", (double)st->corrupt);
    metrics_write_value(b, "forage_kv_store_write_errors_total", "counter",
                        "Writes that the disk refused.", (double)st->write_errors);
}

void engine_figures_metrics(generator *g, fo_buf *b) {
    engine *e = local_generator_engine(g);
    if (!e) return;
    engine_stats st;
    engine_get_stats(e, &st);
    engine_latencies times = engine_get_latencies(e);
    metrics_write_head(b, "forage_generation_first_token_seconds", "histogram",
                       "From submit to the first token, the wait for a place included.");
    metrics_write_histogram(b, "forage_generation_first_token_seconds", "", times.first_token);
    metrics_write_head(b, "forage_generation_inter_token_seconds", "histogram",
                       "From one token of an answer to its next.");
    metrics_write_histogram(b, "forage_generation_inter_token_seconds", "", times.inter_token);
    metrics_write_head(b, "forage_generation_tokens_total", "counter",
                       "Tokens computed; their rate is tokens per second.");
    write_kind(b, "forage_generation_tokens_total", "prompt", st.prefill_tokens);
    write_kind(b, "forage_generation_tokens_total", "answer", st.decode_tokens);
    metrics_write_head(b, "forage_generation_guessed_tokens_total", "counter",
                       "Tokens guessed ahead from the prompt and computed, and those of them that "
                       "came true.");
    write_kind(b, "forage_generation_guessed_tokens_total", "drafted", st.drafted_tokens);
    write_kind(b, "forage_generation_guessed_tokens_total", "kept", st.kept_tokens);
    if (engine_denoises(e)) {
        metrics_write_value(b, "forage_generation_denoise_passes_total", "counter",
                            "Passes over the canvas of an answer.", (double)st.denoise_passes);
        metrics_write_head(b, "forage_generation_denoise_rows_total", "counter",
                           "Rows that these computed, and those of them with logits.");
        write_kind(b, "forage_generation_denoise_rows_total", "computed", st.denoise_rows);
        write_kind(b, "forage_generation_denoise_rows_total", "logits", st.denoise_logit_rows);
    }
    metrics_write_head(b, "forage_generation_requests_total", "counter",
                       "Requests to the language model that ended, and those not taken.");
    fo_buf_printf(b, "forage_generation_requests_total{outcome=\"finished\"} %llu\n",
                  (unsigned long long)(st.finished - st.cancelled));
    fo_buf_printf(b, "forage_generation_requests_total{outcome=\"cancelled\"} %llu\n",
                  (unsigned long long)st.cancelled);
    fo_buf_printf(b, "forage_generation_requests_total{outcome=\"refused\"} %llu\n",
                  (unsigned long long)st.refused);
    metrics_write_value(b, "forage_generation_waiting", "gauge", "Requests waiting for a place.",
                        st.n_waiting);
    metrics_write_value(b, "forage_generation_running", "gauge", "Requests in work.", st.n_running);
    metrics_write_value(b, "forage_generation_preemptions_total", "counter",
                        "Requests put back because pages ran out.", (double)st.preemptions);
    metrics_write_value(b, "forage_generation_steps_total", "counter", "Forward passes.",
                        (double)st.steps);
    metrics_write_value(b, "forage_generation_background_steps_total", "counter",
                        "Forward passes that nobody waited for.", (double)st.background_steps);
    metrics_write_value(b, "forage_generation_gave_way_total", "counter",
                        "Such passes that stopped in the middle for a request, to go on later.",
                        (double)st.gave_way);
    metrics_write_value(b, "forage_generation_busy_seconds_total", "counter",
                        "Time inside forward passes.", st.busy_ms / 1000);
    write_kv_metrics(&st.kv, b);
    write_kv_store_metrics(&st.kv, &st.store, b);
}

/* ---- GET /stats ---------------------------------------------------------------------------- */

static void write_kv_tier(json_out *o, const char *name, const kv_store_tier_stats *t) {
    json_out_open(o, name, '{');
    json_out_int(o, "records", (int64_t)t->records);
    json_out_int(o, "bytes", (int64_t)t->bytes);
    json_out_int(o, "budget_bytes", (int64_t)t->budget_bytes);
    json_out_int(o, "hits", (int64_t)t->hits);
    json_out_int(o, "hit_tokens", (int64_t)t->hit_tokens);
    json_out_int(o, "evictions", (int64_t)t->evictions);
    json_out_close(o, '}');
}

static void write_kv_store(json_out *o, const kv_store_stats *st) {
    json_out_open(o, "kv_store", '{');
    json_out_int(o, "lookups",
                 (int64_t)(st->lookups[KV_STORE_BLOCK] + st->lookups[KV_STORE_CHUNK]));
    write_kv_tier(o, "ram", &st->ram);
    write_kv_tier(o, "disk", &st->disk);
    json_out_int(o, "written_bytes", (int64_t)st->disk.written_bytes);
    json_out_int(o, "corrupt", (int64_t)st->corrupt);
    json_out_int(o, "write_errors", (int64_t)st->write_errors);
    json_out_close(o, '}');
}

static void write_engine(json_out *o, engine *e) {
    engine_stats st;
    engine_get_stats(e, &st);
    json_out_string(o, "arch", engine_model(e)->arch);
    json_out_int(o, "waiting", st.n_waiting);
    json_out_int(o, "running", st.n_running);
    json_out_int(o, "prompt_tokens", (int64_t)st.prefill_tokens);
    json_out_int(o, "answer_tokens", (int64_t)st.decode_tokens);
    json_out_number(o, "busy_ms", st.busy_ms);
    json_out_open(o, "kv", '{');
    json_out_int(o, "pages", st.kv.n_pages);
    json_out_int(o, "free", st.kv.n_free);
    json_out_int(o, "cached", st.kv.n_cached);
    json_out_int(o, "used", st.kv.n_used);
    json_out_int(o, "shared", st.kv.n_shared);
    json_out_int(o, "hit_tokens", (int64_t)st.kv.hit_tokens);
    json_out_int(o, "evictions", (int64_t)st.kv.evictions);
    json_out_int(o, "saved_blocks", (int64_t)st.kv.saved_blocks);
    json_out_int(o, "restored_blocks", (int64_t)st.kv.restored_blocks);
    json_out_close(o, '}');
    write_kv_store(o, &st.store);
}

void engine_figures_json(json_out *o, generator *g) {
    if (!g) {
        json_out_null(o, "generator");
        return;
    }
    json_out_open(o, "generator", '{');
    json_out_string(o, "name", generator_get_info(g)->name);
    engine *e = local_generator_engine(g);
    const char *chatml = engine_figures_chatml(g);
    if (e) json_out_string(o, "chat_template", chatml ? "chatml" : "own");
    if (chatml) json_out_string(o, "chat_template_why", chatml);
    if (e) write_engine(o, e);
    json_out_close(o, '}');
}

/* ---- GET /analytics/... -------------------------------------------------------------------- */

int engine_figures_kv_map(json_out *o, generator *g) {
    engine *e = local_generator_engine(g);
    engine_stats st = {0};
    char *map = calloc(MAP_MAX + 1, 1);
    if (!map) return FO_ENOMEM;
    int n = 0;
    if (e) {
        engine_get_stats(e, &st);
        n = engine_kv_map(e, (unsigned char *)map, MAP_MAX);
    }
    for (int i = 0; i < n; i++) map[i] = "fcus"[(unsigned char)map[i]];
    json_out_open(o, NULL, '{');
    json_out_int(o, "pages", st.kv.n_pages);
    json_out_int(o, "page_tokens", st.kv.page_tokens);
    json_out_int(o, "page_bytes", (int64_t)st.kv.page_bytes);
    json_out_int(o, "free", st.kv.n_free);
    json_out_int(o, "cached", st.kv.n_cached);
    json_out_int(o, "used", st.kv.n_used);
    json_out_int(o, "shared", st.kv.n_shared);
    json_out_int(o, "sequences", st.kv.n_sequences);
    json_out_number(o, "fragmentation", st.kv.fragmentation);
    json_out_string(o, "map", map);
    json_out_close(o, '}');
    free(map);
    return FO_OK;
}

void engine_figures_kv_use(generator *g, engine_kv_use *out) {
    *out = (engine_kv_use){0};
    engine *e = local_generator_engine(g);
    if (!e) return;
    engine_stats st;
    engine_get_stats(e, &st);
    out->page_bytes = (uint64_t)(st.kv.n_used + st.kv.n_cached) * (uint64_t)st.kv.page_bytes;
    out->page_evictions = st.kv.evictions;
    out->ram_bytes = st.store.ram.bytes;
    out->ram_evictions = st.store.ram.evictions;
    out->disk_bytes = st.store.disk.bytes;
    out->disk_evictions = st.store.disk.evictions;
}
