#include "server/base/request_limits.h"

#include <string.h>

enum { TOP_K = 8 }; /* where nothing is said */

static request_limits now = {64u << 10, 1000, 100000, 1024, 64};

const request_limits *request_limits_now(void) {
    return &now;
}

void request_limits_set(const request_limits *l) {
    now = *l;
}

size_t request_limits_top_k(void) {
    return now.top_k < TOP_K ? now.top_k : TOP_K;
}

int request_limits_check(const char *question, const char *question_field, size_t top_k,
                         const char *top_k_field, fo_err *err) {
    if (strlen(question) > now.query_bytes)
        return fo_fail_field(err, FO_EINVAL, question_field, "%s must have at most %zu bytes",
                             question_field, now.query_bytes);
    if (top_k < 1 || top_k > now.top_k)
        return fo_fail_field(err, FO_EINVAL, top_k_field, "%s must be between 1 and %zu",
                             top_k_field, now.top_k);
    return FO_OK;
}

int request_limits_spend_wait(int *timeout_ms, double waited_ms, fo_err *err) {
    if (waited_ms >= *timeout_ms)
        return fo_fail_field(err, FO_ETIMEOUT, "timeout_ms",
                             "it waited %.0f ms for others, of timeout_ms = %d", waited_ms,
                             *timeout_ms);
    *timeout_ms -= (int)waited_ms;
    return FO_OK;
}
