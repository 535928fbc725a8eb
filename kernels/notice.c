#include "kernels/notice.h"

#include <stdarg.h>
#include <stdio.h>

void fo_notice(const fo_notices *to, const char *kind, const char *fmt, ...) {
    if (!to || !to->fn) return;
    char text[1001];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    to->fn(to->ctx, kind, text);
}
