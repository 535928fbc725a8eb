/* Names for what has none. */
#include <stdio.h>
#include <sys/random.h>

#include "server/base/log.h"
#include "server/routes/app.h"

void app_make_id(char out[32], const char *prefix) {
    uint64_t v = 0;
    if (getrandom(&v, sizeof v, 0) != sizeof v) v = (uint64_t)log_now_ms();
    snprintf(out, 32, "%s%016llx", prefix, (unsigned long long)v);
}
