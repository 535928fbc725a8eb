/* The query log and what is summed up from it. */
#include <stdlib.h>
#include <string.h>

#include "data/sqlite/sqlite_internal.h"

#define DAY_S INT64_C(86400)

static const int64_t STEPS[] = {60, 3600, DAY_S};

static int roll_up(sqlite_txn *t, const store_query_log *q, fo_err *err) {
    int rc = FO_OK;
    for (size_t k = 0; k < STORE_N_LAYERS; k++) {
        if (q->layers[k].lookups == 0) continue;
        for (size_t i = 0; !rc && i < 3; i++) {
            int64_t at = q->t_ms / 1000 / STEPS[i] * STEPS[i];
            rc = sqlite_run(
                t->c, err,
                "INSERT INTO cache_rollups (tenant, step_s, t_s, layer, lookups, hits, "
                "saved_ms, saved_tokens) VALUES (?,?,?,?,?,?,?,?) ON CONFLICT DO UPDATE "
                "SET lookups = lookups + excluded.lookups, hits = hits + excluded.hits, "
                "saved_ms = saved_ms + excluded.saved_ms, "
                "saved_tokens = saved_tokens + excluded.saved_tokens",
                "siisiidi", q->tenant, STEPS[i], at,
                store_cache_layer_name((enum store_cache_layer)k), (int64_t)q->layers[k].lookups,
                (int64_t)q->layers[k].hits, q->layers[k].saved_ms, q->layers[k].saved_tokens);
        }
    }
    return rc;
}

int sqlite_log_queries(store *base, const store_query_log *rows, size_t n, fo_err *err) {
    sqlite_store *s = sqlite_of(base);
    if (n == 0) return FO_OK;
    sqlite_txn *t;
    int rc = sqlite_txn_begin(s, &t, err);
    if (rc) return rc;
    store_query_log sum = rows[0];
    for (size_t i = 0; !rc && i < n; i++) {
        const store_query_log *q = &rows[i];
        rc = sqlite_run(
            t->c, err,
            "INSERT INTO query_log (t_ms, tenant, collection, query, status, "
            "answer_source, total_ms, n_contexts, cache_hit) VALUES (?,?,?,?,?,?,?,?,?)",
            "isssssdii", q->t_ms, q->tenant, q->collection, q->query, q->status, q->answer_source,
            q->total_ms, (int64_t)q->n_contexts, (int64_t)q->cache_hit);
        /* A run of rows of one tenant and minute is summed before it is written. */
        if (i == 0 || strcmp(q->tenant, sum.tenant) != 0 || q->t_ms / 60000 != sum.t_ms / 60000) {
            if (!rc && i > 0) rc = roll_up(t, &sum, err);
            sum = *q;
            continue;
        }
        for (size_t k = 0; k < STORE_N_LAYERS; k++) {
            sum.layers[k].lookups += q->layers[k].lookups;
            sum.layers[k].hits += q->layers[k].hits;
            sum.layers[k].saved_ms += q->layers[k].saved_ms;
            sum.layers[k].saved_tokens += q->layers[k].saved_tokens;
        }
    }
    if (!rc) rc = roll_up(t, &sum, err);
    if (!rc) rc = sqlite_roll_up_latency(t, rows, n, err);
    if (!rc) return sqlite_txn_commit(t, err);
    sqlite_txn_rollback(t);
    return rc;
}

int sqlite_trim_analytics(store *base, int64_t now_ms, fo_err *err) {
    sqlite_store *s = sqlite_of(base);
    sqlite_txn *t;
    int rc = sqlite_txn_begin(s, &t, err);
    if (rc) return rc;
    int64_t now_s = now_ms / 1000;
    rc = sqlite_run(t->c, err, "DELETE FROM query_log WHERE t_ms < ?", "i",
                    now_ms - 30 * DAY_S * 1000);
    static const int64_t days[] = {2, 60, 730};
    static const char *const trims[] = {"DELETE FROM cache_rollups WHERE step_s = ? AND t_s < ?",
                                        "DELETE FROM latency_rollups WHERE step_s = ? AND t_s < ?"};
    for (size_t i = 0; !rc && i < 6; i++)
        rc = sqlite_run(t->c, err, trims[i / 3], "ii", STEPS[i % 3], now_s - days[i % 3] * DAY_S);
    if (!rc) return sqlite_txn_commit(t, err);
    sqlite_txn_rollback(t);
    return rc;
}

/* Room for one more item of `size` bytes; the list doubles. */
static void *grow(void *list, size_t n, size_t size) {
    return n & (n - 1) ? list : realloc(list, (n ? 2 * n : 1) * size);
}

int sqlite_cache_series(store *base, const char *tenant, int64_t since_s, int64_t step_s,
                        store_rollup **out, size_t *n, fo_err *err) {
    sqlite_store *s = sqlite_of(base);
    *out = NULL;
    *n = 0;
    int64_t from = STEPS[0];
    for (size_t i = 1; i < 3; i++)
        if (step_s % STEPS[i] == 0) from = STEPS[i];
    sqlite_conn *c;
    int rc = sqlite_reader(s, false, &c, err);
    if (rc) return rc;
    sqlite3_stmt *st;
    rc = sqlite_query(c, &st, err,
                      "SELECT t_s / ?1 * ?1 AS at, layer, SUM(lookups), SUM(hits), SUM(saved_ms), "
                      "SUM(saved_tokens) FROM cache_rollups WHERE tenant = ?2 AND step_s = ?3 AND "
                      "t_s >= ?4 GROUP BY at, layer ORDER BY at, layer",
                      "isii", step_s, tenant, from, since_s / step_s * step_s);
    store_rollup *list = NULL;
    while (!rc && (rc = sqlite_step(c, st, err)) == 1) {
        rc = FO_OK;
        store_rollup *more = grow(list, *n, sizeof *list);
        if (!more) {
            rc = fo_no_memory(err);
            sqlite3_reset(st);
            break;
        }
        list = more;
        const char *name = (const char *)sqlite3_column_text(st, 1);
        size_t layer = 0;
        while (layer < STORE_N_LAYERS && name &&
               strcmp(name, store_cache_layer_name((enum store_cache_layer)layer)))
            layer++;
        if (!name || layer == STORE_N_LAYERS) continue; /* of a later program */
        list[(*n)++] = (store_rollup){.t_s = sqlite3_column_int64(st, 0),
                                      .layer = (enum store_cache_layer)layer,
                                      .lookups = sqlite3_column_int64(st, 2),
                                      .hits = sqlite3_column_int64(st, 3),
                                      .saved_ms = sqlite3_column_double(st, 4),
                                      .saved_tokens = sqlite3_column_int64(st, 5)};
    }
    sqlite_reader_release(s, c);
    if (!rc)
        *out = list;
    else
        free(list), *n = 0;
    return rc;
}

#define QUERY_SUMS                                                                                 \
    "SELECT query, collection, COUNT(*) AS asked, SUM(cache_hit), SUM(status <> 'answered') AS "   \
    "missed, MAX(t_ms) AS last, AVG(total_ms) AS mean, MAX(total_ms) FROM query_log WHERE "        \
    "tenant = ?1 AND t_ms >= ?2 AND " SQLITE_OF_COLLECTIONS(                                       \
        "?3") " GROUP BY collection, lower(trim(query)) "

int sqlite_list_queries(store *base, const char *tenant, const char *collections, int64_t since_ms,
                        enum store_query_order order, size_t limit, store_query_row **out,
                        size_t *n, fo_err *err) {
    sqlite_store *s = sqlite_of(base);
    static const char *const sql[] = {QUERY_SUMS "ORDER BY asked DESC, last DESC LIMIT ?4",
                                      QUERY_SUMS "ORDER BY mean DESC, last DESC LIMIT ?4",
                                      QUERY_SUMS
                                      "HAVING missed > 0 ORDER BY missed DESC, last DESC LIMIT ?4"};
    *out = NULL;
    *n = 0;
    sqlite_conn *c;
    int rc = sqlite_reader(s, false, &c, err);
    if (rc) return rc;
    sqlite3_stmt *st;
    rc = sqlite_query(c, &st, err, sql[order], "sisi", tenant, since_ms, collections,
                      (int64_t)limit);
    store_query_row *list = NULL;
    while (!rc && (rc = sqlite_step(c, st, err)) == 1) {
        store_query_row *more = grow(list, *n, sizeof *list);
        bool oom = !more;
        if (more) {
            list = more;
            store_query_row *r = &list[(*n)++];
            *r = (store_query_row){.count = sqlite3_column_int64(st, 2),
                                   .hits = sqlite3_column_int64(st, 3),
                                   .unanswered = sqlite3_column_int64(st, 4),
                                   .last_ms = sqlite3_column_int64(st, 5),
                                   .mean_ms = sqlite3_column_double(st, 6),
                                   .max_ms = sqlite3_column_double(st, 7)};
            r->query = sqlite_column(st, 0, &oom);
            r->collection = sqlite_column(st, 1, &oom);
        }
        rc = oom ? fo_no_memory(err) : FO_OK;
        if (oom) sqlite3_reset(st);
    }
    sqlite_reader_release(s, c);
    if (!rc)
        *out = list;
    else
        store_query_rows_free(list, *n), *n = 0;
    return rc;
}
