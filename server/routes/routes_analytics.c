/* GET /analytics/cache and /analytics/queries: what the caches saved and what was asked. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "retrieval/service/activity.h"
#include "server/routes/analytics_args.h"
#include "server/routes/app.h"
#include "server/base/json.h"
#include "server/base/log.h"
#include "server/local/engine_figures.h"

static void csv_text(fo_buf *b, const char *s) {
    fo_buf_char(b, '"');
    /* A leading apostrophe keeps a spreadsheet from running what a user asked. */
    if (s && strchr("=+-@\t\r", *s) && *s) fo_buf_char(b, '\'');
    for (; s && *s; s++) {
        if (*s == '"') fo_buf_char(b, '"');
        fo_buf_char(b, *s);
    }
    fo_buf_char(b, '"');
}

typedef struct totals {
    store_rollup sum;
    uint64_t bytes, evictions;
} totals;

/* owner: what the whole process holds is told too; others could watch in it what another tenant asks. */
static void write_layer(json_out *o, const char *name, const totals *t, bool owner) {
    json_out_open(o, name, '{');
    json_out_int(o, "lookups", t->sum.lookups);
    json_out_int(o, "hits", t->sum.hits);
    json_out_number(o, "hit_ratio",
                    t->sum.lookups ? (double)t->sum.hits / (double)t->sum.lookups : 0);
    json_out_number(o, "saved_ms", t->sum.saved_ms);
    json_out_int(o, "saved_tokens", t->sum.saved_tokens);
    if (owner) {
        json_out_int(o, "bytes", (int64_t)t->bytes);
        json_out_int(o, "evictions", (int64_t)t->evictions);
    }
    json_out_close(o, '}');
}

static void add(store_rollup *to, const store_rollup *r) {
    to->lookups += r->lookups;
    to->hits += r->hits;
    to->saved_ms += r->saved_ms;
    to->saved_tokens += r->saved_tokens;
}

static void write_csv_series(fo_buf *b, const store_rollup *rows, size_t n) {
    fo_buf_str(b, "t,layer,lookups,hits,hit_ratio,saved_ms,saved_tokens\r\n");
    for (size_t i = 0; i < n; i++) {
        char t[32];
        analytics_stamp(t, rows[i].t_s);
        fo_buf_printf(b, "%s,%s,%lld,%lld,%.6f,%.3f,%lld\r\n", t,
                      store_cache_layer_name(rows[i].layer), (long long)rows[i].lookups,
                      (long long)rows[i].hits,
                      rows[i].lookups ? (double)rows[i].hits / (double)rows[i].lookups : 0,
                      rows[i].saved_ms, (long long)rows[i].saved_tokens);
    }
}

/* What the layers of KV hold now. */
static void add_kv_memory(generator *g, totals sums[STORE_N_LAYERS]) {
    engine_kv_use kv;
    engine_figures_kv_use(g, &kv);
    sums[STORE_LAYER_KV_PREFIX].bytes = kv.page_bytes;
    sums[STORE_LAYER_KV_PREFIX].evictions = kv.page_evictions;
    sums[STORE_LAYER_KV_CHUNK].bytes = kv.ram_bytes;
    sums[STORE_LAYER_KV_CHUNK].evictions = kv.ram_evictions;
    sums[STORE_LAYER_KV_DISK].bytes = kv.disk_bytes;
    sums[STORE_LAYER_KV_DISK].evictions = kv.disk_evictions;
}

void route_analytics_cache(http_request *r, void *ctx) {
    app *a = ctx;
    int64_t window, step, now = log_now_ms() / 1000;
    if (!analytics_series_args(r, &window, &step)) return;
    store_rollup *rows;
    size_t n;
    fo_err err = {0};
    if (service_cache_series(a->service, app_tenant(r), now - window, step, &rows, &n, &err)) {
        http_error_from(r, &err);
        return;
    }
    fo_buf b = {0};
    if (analytics_wants_csv(r)) {
        write_csv_series(&b, rows, n);
        http_reply(r, 200, "text/csv; charset=utf-8", b.data, b.len);
        fo_buf_free(&b);
        free(rows);
        return;
    }
    totals sums[STORE_N_LAYERS] = {0};
    for (size_t i = 0; i < n; i++) add(&sums[rows[i].layer].sum, &rows[i]);
    service_cache_stats st;
    service_get_cache_stats(a->service, &st);
    sums[0].bytes = st.answer.bytes, sums[0].evictions = st.answer.evictions;
    sums[1].bytes = st.retrieval.bytes, sums[1].evictions = st.retrieval.evictions;
    add_kv_memory(service_generator(a->service), sums);
    bool owner = app_may(a, r, ACCESS_METRICS);
    json_out o = {&b, false};
    json_out_open(&o, NULL, '{');
    json_out_open(&o, "totals", '{');
    for (int k = 0; k < STORE_N_LAYERS; k++)
        write_layer(&o, store_cache_layer_name(k), &sums[k], owner);
    json_out_close(&o, '}');
    json_out_open(&o, "series", '[');
    for (size_t i = 0; i < n;) {
        char t[32];
        analytics_stamp(t, rows[i].t_s);
        totals at[STORE_N_LAYERS] = {0};
        int64_t t_s = rows[i].t_s;
        for (; i < n && rows[i].t_s == t_s; i++) add(&at[rows[i].layer].sum, &rows[i]);
        json_out_open(&o, NULL, '{');
        json_out_string(&o, "t", t);
        for (int k = 0; k < STORE_N_LAYERS; k++)
            write_layer(&o, store_cache_layer_name(k), &at[k], false);
        json_out_close(&o, '}');
    }
    json_out_close(&o, ']');
    if (owner) {
        json_out_int(&o, "coalesced", (int64_t)st.coalesced);
        json_out_int(&o, "revalidated", (int64_t)st.revalidated);
        json_out_int(&o, "semantic", (int64_t)st.semantic);
        json_out_int(&o, "primed", (int64_t)st.primed);
        json_out_int(&o, "dropped", (int64_t)query_log_dropped(a->query_log));
    }
    json_out_close(&o, '}');
    free(rows);
    http_reply_json(r, 200, &b);
}

void route_analytics_queries(http_request *r, void *ctx) {
    app *a = ctx;
    static const char *const orders[] = {"hot", "slow", "unanswered"};
    const char *order = http_arg(r, "order");
    int kind = 0;
    while (order && kind < 3 && strcmp(order, orders[kind])) kind++;
    if (kind == 3) {
        http_error(r, 400, "bad_field", "order", "order must be hot, slow or unanswered");
        return;
    }
    int64_t window, limit;
    if (!analytics_span(r, "window", 86400, &window)) return;
    if (!http_arg_int(r, "limit", 50, 1, 1000, &limit)) return;
    store_query_row *rows;
    size_t n;
    fo_err err = {0};
    const char *tenant = app_tenant(r);
    char *collections;
    int rc = app_collections(r, &collections, &err);
    if (!rc)
        rc = service_list_queries(a->service, tenant, collections, log_now_ms() - window * 1000,
                                  (enum store_query_order)kind, (size_t)limit, &rows, &n, &err);
    free(collections);
    if (rc) {
        http_error_from(r, &err);
        return;
    }
    bool csv = analytics_wants_csv(r);
    fo_buf b = {0};
    json_out o = {&b, false};
    if (csv) {
        fo_buf_str(&b,
                   "query,collection,count,estimate,cache_hits,unanswered,mean_ms,max_ms,last\r\n");
    } else {
        json_out_open(&o, NULL, '{');
        json_out_string(&o, "order", orders[kind]);
        json_out_open(&o, "data", '[');
    }
    for (size_t i = 0; i < n; i++) {
        const store_query_row *q = &rows[i];
        char last[32];
        log_time(last, q->last_ms);
        uint32_t estimate =
            q->query ? service_hot_estimate(a->service, tenant, q->collection, q->query) : 0;
        if (csv) {
            csv_text(&b, q->query);
            fo_buf_char(&b, ',');
            csv_text(&b, q->collection);
            fo_buf_printf(&b, ",%lld,%u,%lld,%lld,%.3f,%.3f,%s\r\n", (long long)q->count, estimate,
                          (long long)q->hits, (long long)q->unanswered, q->mean_ms, q->max_ms,
                          last);
            continue;
        }
        json_out_open(&o, NULL, '{');
        json_out_string(&o, "query", q->query);
        json_out_string(&o, "collection", q->collection);
        json_out_int(&o, "count", q->count);
        json_out_int(&o, "estimate", estimate);
        json_out_int(&o, "cache_hits", q->hits);
        json_out_int(&o, "unanswered", q->unanswered);
        json_out_number(&o, "mean_ms", q->mean_ms);
        json_out_number(&o, "max_ms", q->max_ms);
        json_out_string(&o, "last", last);
        json_out_close(&o, '}');
    }
    store_query_rows_free(rows, n);
    if (csv) {
        http_reply(r, 200, "text/csv; charset=utf-8", b.data, b.len);
        fo_buf_free(&b);
    } else {
        json_out_close(&o, ']');
        json_out_close(&o, '}');
        http_reply_json(r, 200, &b);
    }
}
