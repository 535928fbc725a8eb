#include "kernels/notice.h"
#include "kernels/utf8.h"

#include <stdarg.h>

void fo_notice(const fo_notices *to, const char *kind, const char *fmt, ...) {
    if (!to || !to->fn) return;
    char text[1001];
    va_list ap;
    va_start(ap, fmt);
    fo_utf8_vprint(text, sizeof text, fmt, ap);
    va_end(ap);
    to->fn(to->ctx, kind, text);
}
