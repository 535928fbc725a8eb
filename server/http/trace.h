/* trace.h - spans of requests, sent to an OpenTelemetry collector (OTLP over HTTP, as JSON).
 *
 *     tracer_start(&t, &(tracer_options){.url = "http://127.0.0.1:4318"}, &err);
 *     tracer_begin(t, http_header(r, "traceparent"), &span);        a request comes
 *     trace_stages(&span, http_now_us(), total_ms, stages, n);      it was worked on
 *     tracer_record(t, &span, &summary);                            it was answered
 *     tracer_stop(t);
 *
 * A request is one span of kind server, in the trace that its traceparent names (W3C Trace Context, level 1) or in one
 * of its own; its stages are spans below. No word of a question, a document or a key is in them.
 *
 * Nobody waits for a collector: a record is a copy into a ring of fixed size, and is dropped and counted where that is
 * full. A thread makes JSON of what has gathered, and a process of its own sends it: that one is forked before the
 * service gives up the right to connect to others, so that the service need not keep it. It has none of the service's files
 * and connections, and gives up all but sending itself. */
#ifndef FORAGE_SERVER_TRACE_H
#define FORAGE_SERVER_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/error.h"

enum { TRACE_MAX_STAGES = 12, TRACE_PARENT_BYTES = 56 };

typedef struct tracer tracer;

/* A part of a request's work. The name is a literal. */
typedef struct trace_stage {
    const char *name;
    double ms;
} trace_stage;

typedef struct trace_span {
    unsigned char trace_id[16], parent_id[8], span_id[8];
    bool on;         /* there is a tracer */
    bool has_parent; /* parent_id is who asked */
    bool sampled;    /* it is recorded */
    int n_stages;
    trace_stage stages[TRACE_MAX_STAGES];
    int64_t work_began_us, work_ended_us; /* monotonic; of the stages together */
} trace_span;

typedef struct tracer_options {
    const char *url;            /* of the collector; /v1/traces is added where it has no path */
    const char *const *headers; /* "Name: value", [n_headers] */
    size_t n_headers;
    double sample; /* share of requests without a traceparent that are recorded; 0 < sample <= 1 */
    bool confined; /* the process that sends is held to that (server/base/serve_sandbox.h) */
} tracer_options;

typedef struct tracer_stats {
    uint64_t sent, dropped,
        failed; /* spans: taken by the collector, not kept for want of room, refused by it */
} tracer_stats;

/* Forks the process that sends: call it while this one has one thread. FO_EINVAL: the address or a header is none. */
int tracer_start(tracer **out, const tracer_options *opt, fo_err *err);
/* Start the thread that hands spans to it; once, before the first record. */
int tracer_run(tracer *t, fo_err *err);
/* What has gathered is sent within two seconds, or not at all. NULL is fine. */
void tracer_stop(tracer *t);
void tracer_get_stats(const tracer *t, tracer_stats *out);

/* t NULL: *out is off, and so is all that is done with it. traceparent NULL or ill-formed: a trace of its own. */
void tracer_begin(const tracer *t, const char *traceparent, trace_span *out);
/* "00-TRACE-SPAN-FLAGS" with this span as parent. */
void trace_parent(const trace_span *s, char out[TRACE_PARENT_BYTES]);
/* The work of total_ms that ends now consisted of these, one after another; what is left of it is of the last, named
 * `rest` (NULL: nobody's). Stages of 0 ms were not run. Work that was told of before goes on: times of equal names are
 * added, and all of them lie between its begin and now. Names beyond TRACE_MAX_STAGES are left out. */
void trace_stages(trace_span *s, int64_t now_us, double total_ms, const trace_stage *stages,
                  size_t n, const char *rest);

/* What is told of an answered request; strings are copied, and cut where they are long. */
typedef struct trace_request {
    const char *method, *route, *request_id; /* route NULL: none matched */
    int status;
    int64_t began_us, ended_us; /* monotonic */
} trace_request;
/* Any thread. */
void tracer_record(tracer *t, const trace_span *s, const trace_request *r);

#endif
