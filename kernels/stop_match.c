#include "kernels/stop_match.h"

#include <string.h>

int stop_match_check(const char *const *strings, size_t n, fo_err *err) {
    if (n > STOP_MATCH_STRINGS)
        return fo_fail_field(err, FO_EINVAL, "stop", "stop holds more than %d strings",
                             STOP_MATCH_STRINGS);
    for (size_t i = 0; i < n; i++) {
        if (!strings[i] || !strings[i][0])
            return fo_fail_field(err, FO_EINVAL, "stop", "stop holds an empty string");
        if (strnlen(strings[i], STOP_MATCH_BYTES + 1) > STOP_MATCH_BYTES)
            return fo_fail_field(err, FO_EINVAL, "stop",
                                 "stop holds a string of more than %d bytes", STOP_MATCH_BYTES);
    }
    return FO_OK;
}

int stop_match_init(stop_match *m, const char *const *strings, size_t n, fo_err *err) {
    *m = (stop_match){.found = -1};
    int rc = stop_match_check(strings, n, err);
    if (rc) return rc;
    m->strings = strings;
    m->n_strings = n;
    for (size_t i = 0; i < n; i++) m->lengths[i] = (uint16_t)strlen(strings[i]);
    return FO_OK;
}

void stop_match_deinit(stop_match *m) {
    fo_buf_free(&m->held);
}

/* The first place in held where a stop string stands, or may still be growing unless it is the end. */
static size_t first_suspect(const stop_match *m, bool end, int *found) {
    *found = -1;
    for (size_t at = 0; at < m->held.len; at++) {
        size_t left = m->held.len - at;
        bool growing = false;
        for (size_t i = 0; i < m->n_strings; i++) {
            size_t n = m->lengths[i];
            if (memcmp(m->held.data + at, m->strings[i], n < left ? n : left) != 0) continue;
            if (n <= left) {
                *found = (int)i;
                return at;
            }
            growing = !end;
        }
        if (growing) return at;
    }
    return m->held.len;
}

int stop_match_push(stop_match *m, const char *text, size_t len, fo_buf *out) {
    if (m->found >= 0) return 1;
    if (m->n_strings == 0) {
        fo_buf_add(out, text, len);
        return 0;
    }
    fo_buf_add(&m->held, text, len);
    int found;
    size_t n = first_suspect(m, false, &found);
    if (n) fo_buf_add(out, m->held.data, n);
    if (found >= 0) {
        m->found = found;
        fo_buf_clear(&m->held);
        return 1;
    }
    if (n) {
        memmove(m->held.data, m->held.data + n, m->held.len - n);
        m->held.len -= n;
    }
    return 0;
}

int stop_match_end(stop_match *m, fo_buf *out) {
    if (m->found < 0 && m->held.len) {
        /* What was held for a long one may hold a short one. */
        size_t n = first_suspect(m, true, &m->found);
        fo_buf_add(out, m->held.data, n);
    }
    fo_buf_clear(&m->held);
    return m->found >= 0;
}

int stop_match_cease(stop_match *m, fo_buf *out) {
    int met = stop_match_end(m, out);
    m->n_strings = 0;
    return met;
}
