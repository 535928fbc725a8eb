#include "server/base/metrics_text.h"

#include <stdatomic.h>

void metrics_write_head(fo_buf *b, const char *name, const char *type, const char *help) {
    fo_buf_printf(b, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

void metrics_write_value(fo_buf *b, const char *name, const char *type, const char *help,
                         double v) {
    metrics_write_head(b, name, type, help);
    fo_buf_printf(b, "%s %.17g\n", name, v);
}

void metrics_write_histogram(fo_buf *b, const char *name, const char *labels,
                             const fo_histogram *h) {
    const char *comma = *labels ? "," : "";
    unsigned long long below = 0;
    for (int k = 0; k <= FO_HISTOGRAM_BOUNDS; k++) {
        below += atomic_load(&h->counts[k]);
        fo_buf_printf(b, "%s_bucket{%s%s", name, labels, comma);
        if (k < FO_HISTOGRAM_BOUNDS)
            fo_buf_printf(b, "le=\"%g\"} %llu\n", fo_histogram_bounds_ms[k] / 1000, below);
        else
            fo_buf_printf(b, "le=\"+Inf\"} %llu\n", below);
    }
    const char *open = *labels ? "{" : "", *close = *labels ? "}" : "";
    fo_buf_printf(b, "%s_sum%s%s%s %.6f\n", name, open, labels, close,
                  (double)atomic_load(&h->sum_us) / 1e6);
    fo_buf_printf(b, "%s_count%s%s%s %llu\n", name, open, labels, close, below);
}

void metrics_write_label(fo_buf *b, const char *value) {
    fo_buf_char(b, '"');
    for (const char *p = value; *p; p++) {
        if (*p == '"' || *p == '\\')
            fo_buf_printf(b, "\\%c", *p);
        else
            fo_buf_char(b, *p == '\n' ? ' ' : *p);
    }
    fo_buf_char(b, '"');
}
