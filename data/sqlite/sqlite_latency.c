/* How long queries took, stage by stage, in counts that add up: a time falls into a geometric
 * bucket (4 an octave from a microsecond on), a batch is summed in memory and written as one
 * upsert for each bucket that was met, and quantiles are read back from the sums. Four an octave
 * means that a quantile is known within 2^(1/8) = 9 %. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/sqlite/sqlite_internal.h"
#include "kernels/clock.h"

enum { N_BUCKETS = 121 }; /* the last begins at 2^30 microseconds, 18 minutes */

typedef struct tally {
    const char *tenant;
    int64_t step_s, t_s, n;
    int stage, bucket;
    double sum_ms;
} tally;

static int bucket_of(double ms) {
    double b = ceil(4 * log2(ms * 1000));
    return b > 0 ? (b < N_BUCKETS - 1 ? (int)b : N_BUCKETS - 1) : 0;
}

/* The geometric middle of a bucket. */
static double middle_ms(int bucket) {
    return exp2((bucket - 0.5) / 4) / 1000;
}

static int compare(const void *x, const void *y) {
    const tally *a = x, *b = y;
    int d = strcmp(a->tenant, b->tenant);
    if (!d) d = (a->step_s > b->step_s) - (a->step_s < b->step_s);
    if (!d) d = (a->t_s > b->t_s) - (a->t_s < b->t_s);
    if (!d) d = a->stage - b->stage;
    return d ? d : a->bucket - b->bucket;
}

int sqlite_roll_up_latency(sqlite_txn *t, const store_query_log *rows, size_t n, fo_err *err) {
    static const int64_t steps[] = {60, 3600, 86400};
    tally *all = calloc(n * STORE_N_STAGES * 3 + 1, sizeof *all);
    if (!all) return fo_no_memory(err);
    size_t k = 0;
    for (size_t i = 0; i < n; i++)
        for (int stage = 0; stage < STORE_N_STAGES; stage++) {
            double ms = rows[i].stage_ms[stage];
            if (!(ms > 0 && ms < 1e12)) continue;
            for (size_t s = 0; s < 3; s++)
                all[k++] = (tally){.tenant = rows[i].tenant,
                                   .step_s = steps[s],
                                   .t_s = rows[i].t_ms / 1000 / steps[s] * steps[s],
                                   .n = 1,
                                   .stage = stage,
                                   .bucket = bucket_of(ms),
                                   .sum_ms = ms};
        }
    qsort(all, k, sizeof *all, compare);
    int rc = FO_OK;
    for (size_t i = 0; !rc && i < k;) {
        tally one = all[i++];
        for (; i < k && compare(&one, &all[i]) == 0; i++) one.n++, one.sum_ms += all[i].sum_ms;
        rc = sqlite_run(t->c, err,
                        "INSERT INTO latency_rollups (tenant, step_s, t_s, stage, bucket, n, "
                        "sum_ms) VALUES (?,?,?,?,?,?,?) ON CONFLICT DO UPDATE SET n = n + "
                        "excluded.n, sum_ms = sum_ms + excluded.sum_ms",
                        "siisiid", one.tenant, one.step_s, one.t_s,
                        store_stage_name((enum store_stage)one.stage), (int64_t)one.bucket, one.n,
                        one.sum_ms);
    }
    free(all);
    return rc;
}

static double quantile(const int64_t counts[N_BUCKETS], int64_t total, double q) {
    int64_t rank = (int64_t)ceil(q * (double)total), below = 0;
    for (int b = 0; b < N_BUCKETS; b++) {
        below += counts[b];
        if (below >= rank && counts[b]) return middle_ms(b);
    }
    return 0;
}

static store_latency summary(int64_t t_s, int stage, const int64_t counts[N_BUCKETS],
                             double sum_ms) {
    store_latency l = {.t_s = t_s, .stage = (enum store_stage)stage};
    for (int b = 0; b < N_BUCKETS; b++) l.count += counts[b];
    if (!l.count) return l;
    l.mean_ms = sum_ms / (double)l.count;
    l.p50_ms = quantile(counts, l.count, 0.5);
    l.p95_ms = quantile(counts, l.count, 0.95);
    l.p99_ms = quantile(counts, l.count, 0.99);
    return l;
}

/* Room for one more; the list doubles. */
static bool push(store_latency **list, size_t *n, store_latency one) {
    if (!(*n & (*n - 1))) {
        store_latency *more = realloc(*list, (*n ? 2 * *n : 1) * sizeof *more);
        if (!more) return false;
        *list = more;
    }
    (*list)[(*n)++] = one;
    return true;
}

int sqlite_latency_series(store *base, const char *tenant, int64_t since_s, int64_t step_s,
                          store_latency **out, size_t *n, fo_err *err) {
    sqlite_store *s = sqlite_of(base);
    *out = NULL;
    *n = 0;
    int64_t from = step_s % 86400 == 0 ? 86400 : step_s % 3600 == 0 ? 3600 : 60;
    if (step_s == 0) { /* of the finest sums that are still kept */
        int64_t age_s = fo_unix_ms() / 1000 - since_s;
        from = age_s <= 2 * 86400 ? 60 : age_s <= 60 * 86400 ? 3600 : 86400;
        step_s = INT64_MAX;
        since_s = since_s / from * from;
    } else {
        since_s = since_s / step_s * step_s;
    }
    sqlite_conn *c;
    int rc = sqlite_reader(s, false, &c, err);
    if (rc) return rc;
    sqlite3_stmt *st;
    rc =
        sqlite_query(c, &st, err,
                     "SELECT t_s / ?1 * ?1 AS at, stage, bucket, SUM(n), SUM(sum_ms) FROM "
                     "latency_rollups WHERE tenant = ?2 AND step_s = ?3 AND t_s >= ?4 GROUP BY at, "
                     "stage, bucket ORDER BY at, stage",
                     "isii", step_s, tenant, from, since_s);
    store_latency *list = NULL;
    int64_t counts[N_BUCKETS] = {0}, at = -1;
    double sum_ms = 0;
    int stage = -1;
    while (!rc && (rc = sqlite_step(c, st, err)) == 1) {
        rc = FO_OK;
        int64_t t_s = sqlite3_column_int64(st, 0), bucket = sqlite3_column_int64(st, 2);
        const char *name = (const char *)sqlite3_column_text(st, 1);
        int k = 0;
        while (k < STORE_N_STAGES && name && strcmp(name, store_stage_name((enum store_stage)k)))
            k++;
        if (!name || k == STORE_N_STAGES || bucket < 0 || bucket >= N_BUCKETS) continue;
        if (t_s != at || k != stage) {
            if (stage >= 0 && !push(&list, n, summary(at, stage, counts, sum_ms)))
                rc = fo_no_memory(err);
            memset(counts, 0, sizeof counts);
            sum_ms = 0;
            at = t_s;
            stage = k;
        }
        counts[bucket] += sqlite3_column_int64(st, 3);
        sum_ms += sqlite3_column_double(st, 4);
        if (rc) sqlite3_reset(st);
    }
    if (!rc && stage >= 0 && !push(&list, n, summary(at, stage, counts, sum_ms)))
        rc = fo_no_memory(err);
    sqlite_reader_release(s, c);
    if (!rc)
        *out = list;
    else
        free(list), *n = 0;
    return rc;
}
