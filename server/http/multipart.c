#include "server/http/multipart.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "kernels/buf.h"

#define HEADERS_MAX_BYTES 8192
#define BLANKS_MAX        128 /* behind a delimiter */

struct multipart {
    char delimiter[80]; /* CR LF "--" boundary */
    size_t delimiter_len;
    multipart_sink sink;
    fo_buf held; /* not yet decided */
    enum { PREAMBLE, AFTER_DELIMITER, HEADERS, BODY, EPILOGUE } state;
};

/* The value of parameter `name` of a header into out; false where absent, and where it is too long or its quotation mark is
 * not closed, which sets *broken. */
static bool parameter(const char *header, const char *name, char *out, size_t size, bool *broken) {
    size_t len = strlen(name);
    for (const char *p = strchr(header, ';'); p; p = strchr(p, ';')) {
        p++;
        while (*p == ' ' || *p == '\t') p++;
        if (strncasecmp(p, name, len) || p[len] != '=') {
            while (*p && *p != ';') { /* a ; inside quotes ends nothing */
                if (*p == '"')
                    for (p++; *p && *p != '"'; p++)
                        if (*p == '\\' && p[1]) p++;
                if (*p) p++;
            }
            if (!*p) return false;
            continue;
        }
        p += len + 1;
        size_t n = 0;
        if (*p == '"') {
            for (p++; *p && *p != '"'; p++) {
                if (*p == '\\' && (p[1] == '"' || p[1] == '\\')) p++;
                if (n + 1 >= size) return *broken = true, false;
                out[n++] = *p;
            }
            if (*p != '"') return *broken = true, false;
        } else {
            for (; *p && *p != ';' && !isspace((unsigned char)*p); p++) {
                if (n + 1 >= size) return *broken = true, false;
                out[n++] = *p;
            }
        }
        out[n] = 0;
        return true;
    }
    return false;
}

int multipart_create(multipart **out, const char *content_type, const multipart_sink *sink,
                     fo_err *err) {
    char boundary[72];
    bool broken = false; /* as bad as none */
    if (!content_type || !parameter(content_type, "boundary", boundary, sizeof boundary, &broken) ||
        !*boundary)
        return fo_fail(err, FO_EINVAL,
                       "multipart/form-data needs a boundary of 1 to 70 characters");
    multipart *m = calloc(1, sizeof *m);
    if (!m) return fo_no_memory(err);
    m->sink = *sink;
    memcpy(m->delimiter, "\r\n--", 4);
    strcpy(m->delimiter + 4, boundary);
    m->delimiter_len = strlen(m->delimiter);
    fo_buf_str(&m->held, "\r\n"); /* the first delimiter may stand at the very beginning */
    *out = m;
    return FO_OK;
}

void multipart_free(multipart *m) {
    if (!m) return;
    fo_buf_free(&m->held);
    free(m);
}

static int begin_part(multipart *m, char *headers, fo_err *err) {
    char name[256] = "", file_name[1024], type[256] = "";
    bool has_name = false, has_file = false, broken = false;
    for (char *line = headers; line && *line;) {
        char *next = strstr(line, "\r\n");
        if (next) *next = 0, next += 2;
        if (!strncasecmp(line, "Content-Disposition:", 20)) {
            has_name = parameter(line, "name", name, sizeof name, &broken);
            has_file = parameter(line, "filename", file_name, sizeof file_name, &broken);
        } else if (!strncasecmp(line, "Content-Type:", 13)) {
            const char *v = line + 13;
            while (*v == ' ') v++;
            if (strlen(v) < sizeof type) strcpy(type, v);
        }
        line = next;
    }
    /* A file whose name was passed over would be taken for a field. */
    if (broken)
        return fo_fail(err, FO_EINVAL,
                       "a name in Content-Disposition is too long (%zu bytes of a field, %zu of a "
                       "file), or its quotation mark is not closed",
                       sizeof name - 1, sizeof file_name - 1);
    if (!has_name)
        return fo_fail(err, FO_EINVAL, "a part of the form has no name in Content-Disposition");
    multipart_part part = {name, has_file ? file_name : NULL, *type ? type : NULL};
    return m->sink.begin(m->sink.ctx, &part, err);
}

static void drop(fo_buf *b, size_t n) {
    memmove(b->data, b->data + n, b->len - n);
    b->len -= n;
    b->data[b->len] = 0;
}

/* One step over m->held; *more: another step may get further. */
static int step(multipart *m, bool *more, fo_err *err) {
    fo_buf *b = &m->held;
    *more = false;
    int rc = FO_OK;
    if (m->state == PREAMBLE || m->state == BODY) {
        char *at = b->len ? memmem(b->data, b->len, m->delimiter, m->delimiter_len) : NULL;
        /* Without the delimiter all but what may be its beginning is settled. */
        size_t settled = at                           ? (size_t)(at - b->data)
                         : b->len >= m->delimiter_len ? b->len - m->delimiter_len + 1
                                                      : 0;
        if (m->state == BODY && settled) rc = m->sink.data(m->sink.ctx, b->data, settled, err);
        if (rc) return rc;
        if (at) {
            if (m->state == BODY) rc = m->sink.end(m->sink.ctx, err);
            drop(b, settled + m->delimiter_len);
            m->state = AFTER_DELIMITER;
            *more = true;
        } else if (settled) {
            drop(b, settled);
        }
        return rc;
    }
    if (m->state == AFTER_DELIMITER) {
        size_t i = 0;
        while (i < b->len && (b->data[i] == ' ' || b->data[i] == '\t')) i++;
        if (i > BLANKS_MAX) return fo_fail(err, FO_EINVAL, "malformed boundary in the form");
        if (b->len - i < 2) return FO_OK;
        if (b->data[i] == '-' && b->data[i + 1] == '-') {
            m->state = EPILOGUE;
        } else if (b->data[i] == '\r' && b->data[i + 1] == '\n') {
            drop(b,
                 i); /* the CR LF stays: headers may be absent, then CR LF CR LF follows at once */
            m->state = HEADERS;
        } else {
            return fo_fail(err, FO_EINVAL, "malformed boundary in the form");
        }
        *more = true;
        return FO_OK;
    }
    if (m->state == HEADERS) {
        char *end = memmem(b->data, b->len, "\r\n\r\n", 4);
        /* However it arrives: whole, or with what follows still to come. */
        const size_t n = end ? (size_t)(end - b->data) + 4 : b->len + 1;
        if (n > HEADERS_MAX_BYTES)
            return fo_fail(err, FO_EINVAL, "headers of a form part are too long");
        if (!end) return FO_OK;
        if (memchr(b->data, 0, n)) return fo_fail(err, FO_EINVAL, "a NUL in a form part's headers");
        *end = 0;
        rc = begin_part(m, end > b->data ? b->data + 2 : b->data, err);
        drop(b, n);
        m->state = BODY;
        *more = true;
        return rc;
    }
    fo_buf_clear(b);
    return FO_OK;
}

int multipart_feed(multipart *m, const char *data, size_t n, fo_err *err) {
    fo_buf_add(&m->held, data, n);
    if (m->held.failed) return fo_no_memory(err);
    for (bool more = true; more;) {
        int rc = step(m, &more, err);
        if (rc) return rc;
    }
    return FO_OK;
}

int multipart_finish(multipart *m, fo_err *err) {
    if (m->state != EPILOGUE)
        return fo_fail(err, FO_EINVAL, "the form ends before its closing boundary");
    return FO_OK;
}
