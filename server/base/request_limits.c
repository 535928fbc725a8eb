#include "server/base/request_limits.h"

static request_limits now = {64u << 10, 1000, 100000, 1024, 64};

const request_limits *request_limits_now(void) {
    return &now;
}

void request_limits_set(const request_limits *l) {
    now = *l;
}
