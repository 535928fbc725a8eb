#include "kernels/error.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "kernels/utf8.h"

static void set_message(fo_err *err, int code, const char *field, const char *fmt, va_list ap) {
    if (!err) return;
    err->code = code;
    fo_utf8_print(err->field, sizeof err->field, "%s", field);
    fo_utf8_vprint(err->msg, sizeof err->msg, fmt, ap);
}

int fo_fail(fo_err *err, int code, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    set_message(err, code, "", fmt, ap);
    va_end(ap);
    return code;
}

int fo_fail_field(fo_err *err, int code, const char *field, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    set_message(err, code, field, fmt, ap);
    va_end(ap);
    return code;
}

/* A long path must not cost the reason: the sentence is cut to leave room for it. */
static void append_reason(fo_err *err, int number) {
    char reason[128];
    fo_utf8_print(reason, sizeof reason, ": %s", strerror(number));
    const size_t room = sizeof err->msg - strlen(reason);
    const size_t n = fo_utf8_cut(err->msg, strlen(err->msg), room - 1);
    fo_utf8_print(err->msg + n, sizeof err->msg - n, "%s", reason);
}

int fo_fail_errno(fo_err *err, const char *fmt, ...) {
    int saved = errno;
    int code = saved == ENOSPC || saved == EDQUOT || saved == EFBIG ? FO_ENOSPC
               : saved == ENOMEM                                    ? FO_ENOMEM
               : saved == ENOENT                                    ? FO_ENOTFOUND
                                                                    : FO_EIO;
    va_list ap;
    va_start(ap, fmt);
    set_message(err, code, "", fmt, ap);
    va_end(ap);
    if (err) append_reason(err, saved);
    return code;
}

int fo_no_memory(fo_err *err) {
    return fo_fail(err, FO_ENOMEM, "out of memory");
}

int fo_fail_prefix(fo_err *err, const char *fmt, ...) {
    if (!err) return FO_EINVAL;
    char rest[sizeof err->msg];
    memcpy(rest, err->msg, sizeof rest);
    va_list ap;
    va_start(ap, fmt);
    fo_utf8_vprint(err->msg, sizeof err->msg, fmt, ap);
    va_end(ap);
    size_t n = strlen(err->msg);
    fo_utf8_print(err->msg + n, sizeof err->msg - n, ": %s", rest);
    return err->code;
}

const char *fo_code_name(int code) {
    switch (code) {
    case FO_OK:
        return "FO_OK";
    case FO_EINVAL:
        return "FO_EINVAL";
    case FO_EIO:
        return "FO_EIO";
    case FO_ECORRUPT:
        return "FO_ECORRUPT";
    case FO_ENOMEM:
        return "FO_ENOMEM";
    case FO_ENOTFOUND:
        return "FO_ENOTFOUND";
    case FO_ECONFLICT:
        return "FO_ECONFLICT";
    case FO_EUNSUPPORTED:
        return "FO_EUNSUPPORTED";
    case FO_ELIMIT:
        return "FO_ELIMIT";
    case FO_ECANCELLED:
        return "FO_ECANCELLED";
    case FO_ETIMEOUT:
        return "FO_ETIMEOUT";
    case FO_EBUSY:
        return "FO_EBUSY";
    case FO_ENOSPC:
        return "FO_ENOSPC";
    case FO_EMISMATCH:
        return "FO_EMISMATCH";
    case FO_EDENIED:
        return "FO_EDENIED";
    default:
        return "FO_?";
    }
}
