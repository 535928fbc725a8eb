/* GET /analytics/latency, /analytics/memory and /analytics/kv: how long queries took, stage by
 * stage, and what the process holds in memory. */
#include <math.h>
#include <stdlib.h>

#include "retrieval/service/activity.h"
#include "server/routes/analytics_args.h"
#include "server/routes/app.h"
#include "server/base/json.h"
#include "server/base/log.h"
#include "server/local/engine_figures.h"

static void write_stage(json_out *o, const store_latency *l) {
    json_out_open(o, store_stage_name(l->stage), '{');
    json_out_int(o, "count", l->count);
    json_out_number(o, "mean_ms", round(l->mean_ms * 1e4) / 1e4);
    json_out_number(o, "p50_ms", round(l->p50_ms * 1e4) / 1e4);
    json_out_number(o, "p95_ms", round(l->p95_ms * 1e4) / 1e4);
    json_out_number(o, "p99_ms", round(l->p99_ms * 1e4) / 1e4);
    json_out_close(o, '}');
}

static void write_latency_csv(fo_buf *b, const store_latency *rows, size_t n) {
    fo_buf_str(b, "t,stage,count,mean_ms,p50_ms,p95_ms,p99_ms\r\n");
    for (size_t i = 0; i < n; i++) {
        char t[32];
        analytics_stamp(t, rows[i].t_s);
        fo_buf_printf(b, "%s,%s,%lld,%.4f,%.4f,%.4f,%.4f\r\n", t, store_stage_name(rows[i].stage),
                      (long long)rows[i].count, rows[i].mean_ms, rows[i].p50_ms, rows[i].p95_ms,
                      rows[i].p99_ms);
    }
}

void route_analytics_latency(http_request *r, void *ctx) {
    app *a = ctx;
    int64_t window, step;
    if (!analytics_series_args(r, &window, &step)) return;
    store_latency *rows;
    size_t n;
    fo_err err = {0};
    int64_t since = log_now_ms() / 1000 - window;
    if (service_latency_series(a->service, app_tenant(r), since, step, &rows, &n, &err)) {
        http_error_from(r, &err);
        return;
    }
    fo_buf b = {0};
    if (analytics_wants_csv(r)) {
        write_latency_csv(&b, rows, n);
        http_reply(r, 200, "text/csv; charset=utf-8", b.data, b.len);
        fo_buf_free(&b);
        free(rows);
        return;
    }
    store_latency *totals;
    size_t n_totals;
    if (service_latency_series(a->service, app_tenant(r), since, 0, &totals, &n_totals, &err)) {
        free(rows);
        http_error_from(r, &err);
        return;
    }
    json_out o = {&b, false};
    json_out_open(&o, NULL, '{');
    json_out_open(&o, "totals", '{');
    for (int stage = 0; stage < STORE_N_STAGES; stage++) /* in the order of a query */
        for (size_t i = 0; i < n_totals; i++)
            if ((int)totals[i].stage == stage) write_stage(&o, &totals[i]);
    json_out_close(&o, '}');
    free(totals);
    json_out_open(&o, "series", '[');
    for (size_t i = 0; i < n;) {
        char t[32];
        int64_t t_s = rows[i].t_s;
        analytics_stamp(t, t_s);
        json_out_open(&o, NULL, '{');
        json_out_string(&o, "t", t);
        for (; i < n && rows[i].t_s == t_s; i++) write_stage(&o, &rows[i]);
        json_out_close(&o, '}');
    }
    json_out_close(&o, ']');
    json_out_close(&o, '}');
    free(rows);
    http_reply_json(r, 200, &b);
}

void route_analytics_memory(http_request *r, void *ctx) {
    app *a = ctx;
    int64_t window, step;
    if (!analytics_series_args(r, &window, &step)) return;
    gauge_point *rows;
    size_t n;
    fo_err err = {0};
    if (gauges_series(a->gauges, log_now_ms() / 1000 - window, step, &rows, &n, &err)) {
        http_error_from(r, &err);
        return;
    }
    fo_buf b = {0};
    json_out o = {&b, false};
    bool csv = analytics_wants_csv(r);
    if (csv) {
        fo_buf_str(&b, "t");
        for (int g = 0; g < N_GAUGES; g++) fo_buf_printf(&b, ",%s_bytes", gauge_name(g));
        fo_buf_str(&b, "\r\n");
    } else {
        json_out_open(&o, NULL, '{');
        json_out_open(&o, "series", '[');
    }
    for (size_t i = 0; i < n; i++) {
        char t[32];
        analytics_stamp(t, rows[i].t_s);
        if (csv) {
            fo_buf_str(&b, t);
            for (int g = 0; g < N_GAUGES; g++)
                fo_buf_printf(&b, ",%llu", (unsigned long long)rows[i].max_bytes[g]);
            fo_buf_str(&b, "\r\n");
            continue;
        }
        json_out_open(&o, NULL, '{');
        json_out_string(&o, "t", t);
        for (int g = 0; g < N_GAUGES; g++)
            json_out_int(&o, gauge_name(g), (int64_t)rows[i].max_bytes[g]);
        json_out_close(&o, '}');
    }
    free(rows);
    if (csv) {
        http_reply(r, 200, "text/csv; charset=utf-8", b.data, b.len);
        fo_buf_free(&b);
        return;
    }
    json_out_close(&o, ']');
    json_out_close(&o, '}');
    http_reply_json(r, 200, &b);
}

void route_analytics_kv(http_request *r, void *ctx) {
    app *a = ctx;
    fo_buf b = {0};
    json_out o = {&b, false};
    if (engine_figures_kv_map(&o, service_generator(a->service))) {
        http_error(r, 500, "internal", NULL, "out of memory");
        return;
    }
    http_reply_json(r, 200, &b);
}
