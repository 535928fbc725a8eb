/* metrics_text.h - the text format of Prometheus.
 * Source: prometheus.io/docs/instrumenting/exposition_formats. */
#ifndef FORAGE_SERVER_METRICS_TEXT_H
#define FORAGE_SERVER_METRICS_TEXT_H

#include "kernels/buf.h"
#include "kernels/histogram.h"

/* The head of a family; type "gauge", "counter" or "histogram". */
void metrics_write_head(fo_buf *b, const char *name, const char *type, const char *help);
/* Samples of one histogram, in seconds. labels: `route="/query"` or "". */
void metrics_write_histogram(fo_buf *b, const char *name, const char *labels,
                             const fo_histogram *h);
/* A family of one sample without labels. */
void metrics_write_value(fo_buf *b, const char *name, const char *type, const char *help, double v);
/* A label's value with its quotes. */
void metrics_write_label(fo_buf *b, const char *value);

#endif
