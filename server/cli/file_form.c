/* See file_form.h. Source: RFC 7578. */
#include "server/cli/file_form.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "kernels/hex.h"

enum { RANDOM_BYTES = 16 };

static char boundary[sizeof "forage-" + 2 * RANDOM_BYTES];
static char type[sizeof "multipart/form-data; boundary=" + sizeof boundary];
static char stream_end[sizeof boundary + 8];

int file_form_draw(fo_err *err) {
    unsigned char bytes[RANDOM_BYTES];
    char hex[2 * RANDOM_BYTES + 1];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return fo_fail(err, FO_EIO, "the system gives no random bytes");
    fo_hex_write(hex, bytes, sizeof bytes);
    snprintf(boundary, sizeof boundary, "forage-%s", hex);
    snprintf(type, sizeof type, "multipart/form-data; boundary=%s", boundary);
    snprintf(stream_end, sizeof stream_end, "\r\n--%s--\r\n", boundary);
    return FO_OK;
}

const char *file_form_type(void) {
    return type;
}

static void field(fo_buf *b, const char *name, const char *value) {
    fo_buf_printf(b, "--%s\r\nContent-Disposition: form-data; name=\"%s\"\r\n\r\n", boundary, name);
    fo_buf_str(b, value);
    fo_buf_str(b, "\r\n");
}

void file_form_begin(fo_buf *b, const char *id, const char *uri, const char *name) {
    if (id) field(b, "id", id);
    field(b, "uri", uri);
    fo_buf_printf(b, "--%s\r\nContent-Disposition: form-data; name=\"file\"; filename=\"",
                  boundary);
    for (const char *p = name; *p; p++) {
        if (*p == '"' || *p == '\\') fo_buf_char(b, '\\');
        fo_buf_char(b, *p == '\r' || *p == '\n' ? '_' : *p);
    }
    fo_buf_str(b, "\"\r\nContent-Type: application/octet-stream\r\n\r\n");
}

void file_form_next(fo_buf *b) {
    fo_buf_str(b, "\r\n");
}

void file_form_end(fo_buf *b) {
    fo_buf_printf(b, "--%s--\r\n", boundary);
}

/* The next of n_all bytes. */
static ssize_t some_of(file_form_stream *f, const char *s, size_t n_all, char *buf, size_t n) {
    size_t left = n_all - f->sent, k = left < n ? left : n;
    memcpy(buf, s + f->sent, k);
    f->sent += k;
    return (ssize_t)k;
}

ssize_t file_form_read(void *stream, char *buf, size_t n, fo_err *err) {
    file_form_stream *f = stream;
    if (!f->ended && f->sent < f->begins.len)
        return some_of(f, f->begins.data, f->begins.len, buf, n);
    if (!f->ended) {
        ssize_t got;
        do got = read(f->fd, buf, n);
        while (got < 0 && errno == EINTR);
        if (got < 0) return fo_fail_errno(err, "cannot read the file");
        if (got > 0) return got;
        f->ended = true;
        f->sent = 0;
    }
    return some_of(f, stream_end, strlen(stream_end), buf, n);
}

bool file_form_rewind(void *stream) {
    file_form_stream *f = stream;
    f->sent = 0;
    f->ended = false;
    return lseek(f->fd, 0, SEEK_SET) == 0;
}
