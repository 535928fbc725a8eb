#include "server/routes/analytics_args.h"

#include <stdlib.h>
#include <string.h>

#include "server/base/log.h"

enum { SERIES_MAX = 2000 };

bool analytics_span(http_request *r, const char *name, int64_t def, int64_t *out) {
    const char *s = http_arg(r, name);
    *out = def;
    if (!s) return true;
    char *end;
    long long v = strtoll(s, &end, 10);
    int64_t unit = *end == 's'   ? 1
                   : *end == 'm' ? 60
                   : *end == 'h' ? 3600
                   : *end == 'd' ? 86400
                                 : 0;
    if (*s < '0' || *s > '9' || !unit || end[1] || v < 1 || v > 730 * 86400 / unit) {
        http_error(r, 400, "bad_field", name,
                   "%s must be a number with s, m, h or d, of at most 730d: 24h", name);
        return false;
    }
    *out = v * unit;
    return true;
}

bool analytics_series_args(http_request *r, int64_t *window_s, int64_t *step_s) {
    if (!analytics_span(r, "window", 3600, window_s)) return false;
    int64_t fits = *window_s <= 7200 ? 60 : *window_s <= 86400 * 7 ? 3600 : 86400;
    if (!analytics_span(r, "step", fits, step_s)) return false;
    /* Sums are kept by the minute, hour and day, so long (store_trim_analytics). */
    const int64_t kept_days = *step_s % 86400 == 0 ? 730 : *step_s % 3600 == 0 ? 60 : 2;
    if (*window_s > kept_days * 86400) {
        const bool hours_reach = *window_s <= 60 * 86400;
        http_error(r, 400, "bad_field", "step",
                   "sums of a step like this one are kept for %d days only: a window of more than "
                   "%d days takes steps of whole %s",
                   (int)kept_days, hours_reach ? 2 : 60, hours_reach ? "hours" : "days");
        return false;
    }
    if (*step_s % 60 == 0 && *window_s / *step_s <= SERIES_MAX) return true;
    http_error(r, 400, "bad_field", "step",
               "step must be whole minutes, and a window holds at most %d of them", SERIES_MAX);
    return false;
}

bool analytics_wants_csv(const http_request *r) {
    const char *accept = http_header(r, "Accept");
    return accept && strstr(accept, "text/csv");
}

void analytics_stamp(char out[32], int64_t t_s) {
    log_time(out, t_s * 1000);
    strcpy(out + 19, "Z"); /* whole seconds */
}
