/* admission.h - how much work may come in: queries and tokens a second over a moving window.
 *
 * The window is a second, in 20 buckets: a burst is let through up to the limit, then callers are
 * told when to come again. For a limit below 1 it is 1/limit seconds (at most a day), in which one
 * is let through. Threads: any (a lock inside). */
#ifndef FORAGE_ENGINE_ADMISSION_H
#define FORAGE_ENGINE_ADMISSION_H

#include <stdint.h>
#include "kernels/error.h"

typedef struct admission admission;

/* Limits <= 0: none. */
int admission_create(admission **out, double max_qps, double max_tps, fo_err *err);
void admission_free(admission *a); /* NULL is fine */

/* Ask for a query of n_tokens (prompt and answer) at now_ms (monotonic). FO_OK counts it; FO_EBUSY
 * counts nothing, *retry_after_ms says when it would fit, and the sentence names the limit. A query
 * larger than a whole second's tokens is let in when the window is empty. */
int admission_ask(admission *a, double now_ms, int64_t n_tokens, int64_t *retry_after_ms,
                  fo_err *err);
/* Of what was asked for at asked_ms, n_tokens were not computed (cache hits, early stops): they
 * come off again, if that time is still in the window. */
void admission_refund(admission *a, double now_ms, double asked_ms, int64_t n_tokens);

#endif
