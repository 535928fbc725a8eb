/* http_say.h - a client that asks once a connection and is not surprised when the service dies. */
#ifndef FORAGE_TESTS_TRIALS_HTTP_SAY_H
#define FORAGE_TESTS_TRIALS_HTTP_SAY_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>
#include "kernels/buf.h"

/* The status, 0: no whole answer came. *reply (NULL: not wanted) is the body. */
static inline int http_say(int port, const char *method, const char *path, const char *type,
                           const char *body, size_t n, fo_buf *reply) {
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct timeval patience = {.tv_sec = 120};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), status = 0;
    fo_buf out = {0}, in = {0};
    fo_buf_printf(&out, "%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n", method, path);
    if (type) fo_buf_printf(&out, "Content-Type: %s\r\n", type);
    fo_buf_printf(&out, "Content-Length: %zu\r\n\r\n", n);
    fo_buf_add(&out, body, n);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    bool sent = fd >= 0 && connect(fd, (struct sockaddr *)&at, sizeof at) == 0;
    for (size_t i = 0; sent && i < out.len;) {
        ssize_t k = send(fd, out.data + i, out.len - i, MSG_NOSIGNAL);
        sent = k > 0;
        if (sent) i += (size_t)k;
    }
    while (sent && fo_buf_reserve(&in, 65536)) {
        ssize_t k = recv(fd, in.data + in.len, 65536, 0);
        if (k <= 0) break;
        in.len += (size_t)k;
    }
    if (fd >= 0) close(fd);
    fo_buf_char(&in, 0);
    const char *end = strstr(in.data, "\r\n\r\n");
    const char *length = end ? strcasestr(in.data, "\r\nContent-Length: ") : NULL;
    if (end && length && length < end) {
        size_t got = in.len - 1 - (size_t)(end + 4 - in.data);
        if (got == strtoul(length + 18, NULL, 10)) status = atoi(in.data + 9);
    }
    if (reply && status) fo_buf_str(reply, end + 4);
    fo_buf_free(&in);
    fo_buf_free(&out);
    return status;
}

#endif
