/* request_limits.h - how large a request may be, beyond its bytes: set once before the service starts,
 * within what the code can take at most. */
#ifndef FORAGE_SERVER_REQUEST_LIMITS_H
#define FORAGE_SERVER_REQUEST_LIMITS_H

#include <stddef.h>

#include "kernels/error.h"

typedef struct request_limits {
    size_t query_bytes; /* of a question: up to 64 KiB */
    size_t top_k;       /* up to 1,000 */
    size_t batch;       /* documents of one JSON body: up to 100,000 */
    size_t conditions;  /* of a filter: up to 1,024 */
    size_t json_depth;  /* of a body: up to 64 */
} request_limits;
#define REQUEST_LIMITS_MOST ((request_limits){64u << 10, 1000, 100000, 1024, 64})

enum {
    REQUEST_TIMEOUT_MAX_MS = 600000, /* of timeout_ms in a body */
    REQUEST_TIMEOUT_MS = 60000       /* of a question that does not say */
};

/* What it waited for a worker is part of the time that a request may take: nobody waits for an answer that comes later.
 * *timeout_ms: what is left. FO_ETIMEOUT (timeout_ms): nothing. */
int request_limits_spend_wait(int *timeout_ms, double waited_ms, fo_err *err);

/* Contexts of a question that does not say how many it wants, within those in force. */
size_t request_limits_top_k(void);
/* A question and its number of contexts, whose fields have these names, against those in force: every door asks here.
 * FO_EINVAL names the field. */
int request_limits_check(const char *question, const char *question_field, size_t top_k,
                         const char *top_k_field, fo_err *err);

/* Those in force; REQUEST_LIMITS_MOST until others are set. */
const request_limits *request_limits_now(void);
void request_limits_set(const request_limits *l); /* before threads start */

#endif
