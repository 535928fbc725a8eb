#include "server/routes/cache_sums.h"

#include <stdlib.h>

#include "kernels/clock.h"
#include "retrieval/service/activity.h"

int cache_sums_write(json_out *out, service *s, const char *tenant, fo_err *err) {
    store_rollup *rows, sum[STORE_N_LAYERS] = {0};
    size_t n;
    int rc =
        service_cache_series(s, tenant, fo_unix_ms() / 1000 - 30 * 86400, 86400, &rows, &n, err);
    if (rc == FO_EUNSUPPORTED) { /* its store keeps no log */
        json_out_null(out, "cache_30_days");
        return FO_OK;
    }
    if (rc) return rc;
    for (size_t i = 0; i < n; i++) {
        store_rollup *to = &sum[rows[i].layer];
        to->lookups += rows[i].lookups;
        to->hits += rows[i].hits;
        to->saved_ms += rows[i].saved_ms;
        to->saved_tokens += rows[i].saved_tokens;
    }
    free(rows);
    json_out_open(out, "cache_30_days", '{');
    for (int i = 0; i < STORE_N_LAYERS; i++) {
        json_out_open(out, store_cache_layer_name(i), '{');
        json_out_int(out, "lookups", sum[i].lookups);
        json_out_int(out, "hits", sum[i].hits);
        json_out_number(out, "hit_ratio",
                        sum[i].lookups ? (double)sum[i].hits / (double)sum[i].lookups : 0);
        json_out_number(out, "saved_ms", sum[i].saved_ms);
        json_out_int(out, "saved_tokens", sum[i].saved_tokens);
        json_out_close(out, '}');
    }
    json_out_close(out, '}');
    return FO_OK;
}
