/* What an error is called outside, by a status and a word, and what is said of it. */
#include "kernels/utf8.h"
#include "server/base/hidden_paths.h"
#include "server/http/http.h"

int http_status_of(const fo_err *err, const char **code) {
    switch (err->code) {
    case FO_EINVAL:
        *code = err->field[0] ? "bad_field" : "bad_request";
        return 400;
    case FO_ENOTFOUND:
        *code = "not_found";
        return 404;
    case FO_ECONFLICT:
        *code = "conflict";
        return 409;
    case FO_ELIMIT:
        *code = "too_large";
        return 413;
    case FO_EUNSUPPORTED:
        *code = "unsupported";
        return 422;
    case FO_EMISMATCH:
        *code = "mismatch";
        return 409;
    case FO_ETIMEOUT:
        *code = "timeout";
        return 408;
    case FO_ECANCELLED:
        *code = "cancelled";
        return 503;
    case FO_EBUSY:
        *code = "busy";
        return 503;
    case FO_ENOSPC:
        *code = "disk_low";
        return 507;
    case FO_EDENIED:
        *code = "forbidden";
        return 403;
    case FO_ECORRUPT:
        *code = "damaged";
        return 500;
    default:
        *code = "internal";
        return 500;
    }
}

const char *http_message_of(const fo_err *err, char room[HTTP_MESSAGE]) {
    const char *code;
    const int status = http_status_of(err, &code);
    fo_utf8_print(room, HTTP_MESSAGE, "%s", err->msg);
    if (status >= 500 && status != 503) hide_paths(room);
    return room;
}
