/* trace_sender.h - the process that sends spans to a collector (trace.h), and what it is told.
 *
 * A message is the bytes of its JSON and its spans (two uint32_t), then the JSON. The sender ends when the other end is
 * closed. What a collector refuses for load (429, 502, 503, 504) or does not answer is sent again after 1, 2 and 4 s. */
#ifndef FORAGE_SERVER_TRACE_SENDER_H
#define FORAGE_SERVER_TRACE_SENDER_H

#include <stdatomic.h>
#include <stdbool.h>

#include "kernels/buf.h"
#include "server/http/trace.h"

/* Spans. In memory that both processes share; written by the sender. */
typedef struct trace_counts {
    atomic_ullong sent, failed;
} trace_counts;

/* Give a message to the sender, which takes none while it waits for its collector: the thread of the tracer waits
 * here, and nobody else. False where the sender is gone, or has not taken it a second after *stop was set. */
bool trace_sender_put(int fd, const fo_buf *json, uint32_t n_spans, const atomic_bool *stop);
/* The sender's whole life; what its process ends with. */
int trace_sender_main(int fd, const tracer_options *opt, trace_counts *counts);

#endif
