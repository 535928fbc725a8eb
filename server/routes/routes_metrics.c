/* GET /metrics: what metrics.c counted, and what caches, engine, index and store say of themselves
 * when asked. It runs on the HTTP thread, so that it answers while every worker is busy: nothing
 * here may wait for the database. */
#include <stdio.h>
#include <sys/resource.h>

#include "kernels/cpu.h"
#include "kernels/heap.h"
#include "retrieval/service/budgets.h"
#include "server/routes/app.h"
#include "server/base/damage.h"
#include "server/base/log.h"
#include "server/local/engine_figures.h"

/* One family over both caches of the query path. */
static void write_caches(fo_buf *b, const char *name, const char *type, const char *help,
                         double answer, double retrieval) {
    metrics_write_head(b, name, type, help);
    fo_buf_printf(b, "%s{layer=\"answer\"} %.17g\n", name, answer);
    fo_buf_printf(b, "%s{layer=\"retrieval\"} %.17g\n", name, retrieval);
}

static void write_cache_metrics(app *a, fo_buf *b) {
    service_cache_stats st;
    service_get_cache_stats(a->service, &st);
    const query_cache_stats *x = &st.answer, *y = &st.retrieval;
    write_caches(b, "forage_cache_evictions_total", "counter", "Entries pushed out.",
                 (double)x->evictions, (double)y->evictions);
    write_caches(b, "forage_cache_rejections_total", "counter",
                 "Entries not admitted because others are asked for more.", (double)x->rejected,
                 (double)y->rejected);
    write_caches(b, "forage_cache_entries", "gauge", "Entries kept.", (double)x->entries,
                 (double)y->entries);
    write_caches(b, "forage_cache_bytes", "gauge", "Bytes kept.", (double)x->bytes,
                 (double)y->bytes);
    write_caches(b, "forage_cache_budget_bytes", "gauge", "Bytes that may be kept.",
                 (double)x->budget_bytes, (double)y->budget_bytes);
    metrics_write_value(b, "forage_cache_coalesced_total", "counter",
                        "Queries that waited for a concurrent, identical one.",
                        (double)st.coalesced);
    metrics_write_value(b, "forage_cache_revalidated_total", "counter",
                        "Answers served after a change because their contexts were the same.",
                        (double)st.revalidated);
    metrics_write_value(b, "forage_cache_semantic_total", "counter",
                        "Answers given to questions asked in other words.", (double)st.semantic);
    metrics_write_value(b, "forage_cache_primed_total", "counter",
                        "Hot questions answered again in the background.", (double)st.primed);
}

static void write_warm_metrics(service *s, fo_buf *b) {
    service_warm_stats st;
    service_get_warm_stats(s, &st);
    if (st.mode == KV_WARM_OFF) return;
    metrics_write_value(b, "forage_kv_warm_chunks_total", "counter",
                        "Chunks read before anybody asked.", (double)st.chunks);
    metrics_write_value(b, "forage_kv_warm_tokens_total", "counter", "Their tokens.",
                        (double)st.tokens);
    metrics_write_value(b, "forage_kv_warm_computed_tokens_total", "counter",
                        "Tokens that were computed for it; the others were known.",
                        (double)st.computed_tokens);
    metrics_write_value(b, "forage_kv_warm_bytes", "gauge", "KV made so far.", (double)st.bytes);
    metrics_write_value(b, "forage_kv_warm_budget_bytes", "gauge", "KV it may make.",
                        (double)st.budget_bytes);
}

static void write_index_metrics(app *a, fo_buf *b) {
    search_index_stats sum = {0};
    size_t n_open = 0;
    service_get_index_stats(a->service, &sum, &n_open, NULL);
    metrics_write_value(b, "forage_open_collections", "gauge",
                        "Collections whose index is open: the figures of indexes are theirs.",
                        (double)n_open);
    metrics_write_head(b, "forage_index_bytes", "gauge", "Size of the indexes.");
    fo_buf_printf(b, "forage_index_bytes{place=\"files\"} %llu\n",
                  (unsigned long long)sum.bytes_files);
    fo_buf_printf(b, "forage_index_bytes{place=\"memory\"} %llu\n",
                  (unsigned long long)sum.bytes_memory);
    metrics_write_value(b, "forage_index_segments", "gauge", "Segments of the open collections.",
                        (double)sum.n_segments);
    metrics_write_value(b, "forage_index_chunks", "gauge", "Chunks that can be found.",
                        (double)sum.n_chunks);
    metrics_write_value(b, "forage_index_deleted_chunks", "gauge",
                        "Chunks marked as gone, until a merge.", (double)sum.n_deleted);
    metrics_write_value(b, "forage_index_postings", "gauge", "Entries of the inverted indexes.",
                        (double)sum.n_postings);
    metrics_write_value(b, "forage_index_written_bytes_total", "counter",
                        "Written to index files since the start; over the ingested bytes: "
                        "write amplification.",
                        (double)sum.bytes_written);
    metrics_write_value(b, "forage_index_ingested_bytes_total", "counter",
                        "Text, metadata and vectors that the indexes took.",
                        (double)sum.bytes_ingested);
    metrics_write_value(b, "forage_index_checked_bytes_total", "counter",
                        "Of index files whose checksums were verified in the background.",
                        (double)sum.bytes_checked);
    metrics_write_value(b, "forage_index_damaged_segments_total", "counter",
                        "Index files found damaged, put aside and made anew from the store.",
                        (double)sum.n_damaged);
    metrics_write_value(
        b, "forage_index_background_failures_total", "counter",
        "Seals and merges of indexes in the background that failed; the log says why.",
        (double)sum.n_failures);
    metrics_write_head(b, "forage_damage_total", "counter",
                       "What was found out of order and gone on from, by kind; the log says what.");
    for (size_t i = 0; damage_kind(i); i++)
        fo_buf_printf(b, "forage_damage_total{kind=\"%s\"} %llu\n", damage_kind(i),
                      (unsigned long long)damage_count(i));
    metrics_write_value(b, "forage_store_refused_total", "counter",
                        "Reads refused because what is stored is not what was ingested.",
                        (double)service_n_refused(a->service));
    metrics_write_value(b, "forage_index_dense_scored_total", "counter",
                        "Points that dense searches compared a question with.",
                        (double)sum.n_dense_scored);
    metrics_write_value(b, "forage_database_bytes", "gauge", "The SQLite file and its log.",
                        (double)service_database_bytes(a->service));
    metrics_write_head(
        b, "forage_sqlite_seconds", "histogram",
        "Writers: wait for the write lock (turn), statements, commit. Readers: the whole read.");
    for (int i = 0; i < STORE_N_TIMINGS; i++) {
        char labels[64];
        snprintf(labels, sizeof labels, "operation=\"%s\"", store_timing_name(i));
        metrics_write_histogram(b, "forage_sqlite_seconds", labels,
                                service_get_store_timing(a->service, i));
    }
}

static void write_ingest_memory(app *a, fo_buf *b) {
    memory_budget_stats st;
    service_get_ingest_memory(a->service, &st);
    metrics_write_value(b, "forage_ingest_memory_limit_bytes", "gauge",
                        "That documents on their way in may take together (--ingest-memory).",
                        (double)st.bytes);
    metrics_write_value(b, "forage_ingest_memory_bytes", "gauge", "That they hold now.",
                        (double)st.used);
    metrics_write_value(b, "forage_ingest_memory_waits_total", "counter",
                        "Calls that had to wait for others to be done with theirs.",
                        (double)st.n_waited);
    metrics_write_value(b, "forage_ingest_memory_refused_total", "counter",
                        "Of these, those that waited in vain.", (double)st.n_refused);
}

/* Where memory goes that is no index, KV or work: each bounded part by name, and what malloc keeps. */
static void write_memory(app *a, fo_buf *b) {
    service_budget parts[SERVICE_MAX_BUDGETS];
    size_t n = service_get_budgets(a->service, parts);
    metrics_write_head(
        b, "forage_memory_bytes", "gauge",
        "What bounded parts hold: kept answers and contexts, the reader's vectors of "
        "passages, documents on their way in.");
    for (size_t i = 0; i < n; i++)
        fo_buf_printf(b, "forage_memory_bytes{part=\"%s\"} %llu\n", parts[i].name,
                      (unsigned long long)parts[i].bytes);
    metrics_write_head(b, "forage_memory_budget_bytes", "gauge", "What they may hold at most.");
    for (size_t i = 0; i < n; i++)
        fo_buf_printf(b, "forage_memory_budget_bytes{part=\"%s\"} %llu\n", parts[i].name,
                      (unsigned long long)parts[i].budget_bytes);
    fo_heap_stats heap = fo_heap_get_stats();
    metrics_write_head(b, "forage_malloc_bytes", "gauge",
                       "Of the C library's allocator: blocks in use, free for the next, mapped by "
                       "themselves.");
    fo_buf_printf(b, "forage_malloc_bytes{state=\"used\"} %zu\n", heap.used_bytes);
    fo_buf_printf(b, "forage_malloc_bytes{state=\"free\"} %zu\n", heap.free_bytes);
    fo_buf_printf(b, "forage_malloc_bytes{state=\"mapped\"} %zu\n", heap.mapped_bytes);
}

static void write_http_metrics(app *a, fo_buf *b) {
    http_load load;
    http_get_load(a->http, &load);
    metrics_write_value(b, "forage_http_connections", "gauge", "Open connections.",
                        load.connections);
    metrics_write_value(b, "forage_http_in_flight", "gauge", "Requests being answered.",
                        load.in_flight);
    static const char *const lanes[] = {"inline", "query", "ingest"};
    metrics_write_head(b, "forage_http_queued", "gauge", "Requests waiting for a worker.");
    for (int i = HTTP_LANE_QUERY; i < HTTP_N_LANES; i++)
        fo_buf_printf(b, "forage_http_queued{lane=\"%s\"} %d\n", lanes[i], load.queued[i]);
    metrics_write_head(b, "forage_http_running", "gauge", "Workers at work.");
    for (int i = HTTP_LANE_QUERY; i < HTTP_N_LANES; i++)
        fo_buf_printf(b, "forage_http_running{lane=\"%s\"} %d\n", lanes[i], load.running[i]);
    metrics_write_value(b, "forage_http_rejected_total", "counter",
                        "Requests refused because a queue was full.", (double)load.rejected);
    metrics_write_value(b, "forage_http_evicted_total", "counter",
                        "Idle connections ended to make room for others (--max-connections).",
                        (double)load.evicted);
    if (a->tracer) {
        tracer_stats st;
        tracer_get_stats(a->tracer, &st);
        metrics_write_head(
            b, "forage_trace_spans_total", "counter",
            "Spans by what became of them: sent, dropped for want of room, not taken "
            "by the collector.");
        fo_buf_printf(b, "forage_trace_spans_total{outcome=\"sent\"} %llu\n",
                      (unsigned long long)st.sent);
        fo_buf_printf(b, "forage_trace_spans_total{outcome=\"dropped\"} %llu\n",
                      (unsigned long long)st.dropped);
        fo_buf_printf(b, "forage_trace_spans_total{outcome=\"failed\"} %llu\n",
                      (unsigned long long)st.failed);
    }
    if (a->keys)
        metrics_write_value(b, "forage_keys", "gauge", "Keys in force.",
                            (double)key_ring_count(a->keys));
    if (a->limits)
        metrics_write_value(b, "forage_rate_buckets", "gauge",
                            "Keys and addresses whose rate is known; at most 8,192.",
                            (double)rate_limits_count(a->limits));
    metrics_write_value(b, "forage_query_log_dropped_total", "counter",
                        "Rows of the query log that could not be kept.",
                        (double)query_log_dropped(a->query_log));
}

/* One sample of a family for each source; what NULL: no second label. */
static void write_source(fo_buf *b, const char *family, const char *source, const char *what,
                         double v) {
    fo_buf_printf(b, "%s{source=", family);
    metrics_write_label(b, source);
    if (what) fo_buf_printf(b, ",outcome=\"%s\"", what);
    fo_buf_printf(b, "} %.17g\n", v);
}

enum sync_family {
    SYNC_RUNS,
    SYNC_FILES,
    SYNC_STATE,
    SYNC_SECONDS,
    SYNC_FINISHED,
    N_SYNC_FAMILIES
};

static void write_sync_family(fo_buf *b, enum sync_family f, const char *name, const char *source,
                              const struct source_sums *s) {
    if (f == SYNC_RUNS) {
        write_source(b, name, source, "whole", (double)(s->runs - s->away));
        write_source(b, name, source, "away", (double)s->away);
    } else if (f == SYNC_FILES) {
        write_source(b, name, source, "created", (double)s->created);
        write_source(b, name, source, "updated", (double)s->updated);
        write_source(b, name, source, "moved", (double)s->moved);
        write_source(b, name, source, "removed", (double)s->removed);
        write_source(b, name, source, "withheld", (double)s->withheld);
        write_source(b, name, source, "failed", (double)s->failed);
    } else if (f == SYNC_STATE) {
        write_source(b, name, source, "unchanged", (double)s->unchanged);
        write_source(b, name, source, "skipped", (double)s->skipped);
        write_source(b, name, source, "failed", (double)s->failing);
    } else if (f == SYNC_SECONDS) {
        write_source(b, name, source, NULL, s->seconds);
    } else {
        write_source(b, name, source, NULL, (double)s->finished_ms / 1000);
    }
}

static void write_sync_metrics(app *a, fo_buf *b) {
    static const struct {
        const char *name, *type, *help;
    } families[N_SYNC_FAMILIES] = {
        {"forage_sync_runs_total", "counter",
         "Runs of a source; away: its folder was not there, or the run could not go on."},
        {"forage_sync_files_total", "counter", "What runs did with files of a source."},
        {"forage_sync_last_files", "gauge",
         "Files of a source that its last run had nothing to do with."},
        {"forage_sync_seconds_total", "counter", "Time that runs of a source took."},
        {"forage_sync_last_success_timestamp_seconds", "gauge",
         "When a run of a source last went through, since 1970; 0: none has."},
    };
    size_t n = source_runner_count(a->sources);
    for (int f = 0; n && f < N_SYNC_FAMILIES; f++) {
        metrics_write_head(b, families[f].name, families[f].type, families[f].help);
        for (size_t i = 0; i < n; i++) {
            source_state s;
            if (!source_runner_get(a->sources, source_runner_name(a->sources, i), &s)) continue;
            write_sync_family(b, (enum sync_family)f, families[f].name, s.spec.name, &s.sums);
        }
    }
}

static void write_process_metrics(app *a, fo_buf *b) {
    struct rusage u = {0};
    getrusage(RUSAGE_SELF, &u);
    metrics_write_value(b, "process_resident_memory_bytes", "gauge", "Resident memory.",
                        (double)app_resident_bytes());
    metrics_write_value(b, "process_cpu_seconds_total", "counter", "CPU time, user and system.",
                        (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
                            (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6);
    metrics_write_value(b, "process_start_time_seconds", "gauge", "Start, since 1970.",
                        (double)a->started_ms / 1000);
    metrics_write_value(b, "forage_uptime_seconds", "gauge", "Since the start.",
                        (double)(log_now_ms() - a->started_ms) / 1000);
    generator *g = service_generator(a->service);
    metrics_write_head(b, "forage_build_info", "gauge", "What runs, always 1.");
    fo_buf_printf(b, "forage_build_info{version=\"%s\",isa=\"%s\",compiler=", FORAGE_VERSION,
                  fo_cpu_level_name(fo_cpu()->level));
    metrics_write_label(b, __VERSION__);
    fo_buf_str(b, ",embedder=");
    metrics_write_label(b, embedder_name(service_embedder(a->service)));
    fo_buf_str(b, ",generator=");
    metrics_write_label(b, g ? generator_get_info(g)->name : "");
    fo_buf_str(b, "} 1\n");
}

static void write_refine_metrics(service *s, fo_buf *b) {
    service_refine_stats st;
    service_get_refine_stats(s, &st);
    metrics_write_value(b, "forage_refining", "gauge",
                        "1 while a collection is being embedded anew with the built-in encoder.",
                        st.at_work ? 1 : 0);
    metrics_write_value(b, "forage_refined_collections_total", "counter",
                        "Collections whose vectors became those of the encoder.",
                        (double)st.collections);
    metrics_write_value(b, "forage_refined_chunks_total", "counter",
                        "Chunks that were embedded with the encoder for that.", (double)st.chunks);
    metrics_write_value(b, "forage_embedded_titles_total", "counter",
                        "Titles of documents that were embedded with the encoder.",
                        (double)st.titles);
}

void route_metrics(http_request *r, void *ctx) {
    app *a = ctx;
    fo_buf b = {0};
    metrics_write(a->metrics, &b);
    write_ingest_memory(a, &b);
    write_memory(a, &b);
    write_http_metrics(a, &b);
    write_cache_metrics(a, &b);
    write_index_metrics(a, &b);
    engine_figures_metrics(service_generator(a->service), &b);
    write_warm_metrics(a->service, &b);
    write_refine_metrics(a->service, &b);
    write_sync_metrics(a, &b);
    write_process_metrics(a, &b);
    http_reply(r, 200, "text/plain; version=0.0.4; charset=utf-8", b.data, b.len);
    fo_buf_free(&b);
}
