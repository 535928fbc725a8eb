/* Where the server listens. */
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server/http/http_internal.h"

typedef struct place {
    char host[128], port[16]; /* host "": every address */
} place;

/* The system would take one that is too large for what is left of it in 16 bits. */
static bool is_port(const char *s) {
    const size_t n = strlen(s);
    return n && n < 6 && strspn(s, "0123456789") == n && atoi(s) <= 65535;
}

/* "HOST:PORT", "[V6]:PORT", ":PORT", "PORT", "HOST". */
static int split(const char *listen_at, place *out, fo_err *err) {
    const char *host = listen_at, *colon = strrchr(listen_at, ':');
    const char *bracket = strchr(listen_at, ']');
    size_t n = strlen(listen_at);
    const char *port = HTTP_PORT_DEFAULT;
    if (listen_at[0] == '[' && bracket) {
        host = listen_at + 1, n = (size_t)(bracket - listen_at - 1);
        if (bracket[1] == ':') port = bracket + 2;
    } else if (colon) {
        n = (size_t)(colon - listen_at);
        port = colon + 1;
    } else if (strspn(listen_at, "0123456789") == n) {
        host = "127.0.0.1", port = listen_at;
        n = strlen(host);
    }
    if (n >= sizeof out->host || strlen(port) >= sizeof out->port)
        return fo_fail_field(err, FO_EINVAL, "listen", "cannot listen on '%.100s': too long",
                             listen_at);
    if (!is_port(port))
        return fo_fail_field(err, FO_EINVAL, "listen",
                             "cannot listen on '%.100s': a port is a number from 0 to 65535, as in "
                             "127.0.0.1:8080",
                             listen_at);
    memcpy(out->host, host, n);
    out->host[n] = 0;
    for (char *c = out->host; *c; c++) *c = (char)tolower((unsigned char)*c);
    strcpy(out->port, port);
    return FO_OK;
}

/* The addresses of a place; the caller frees them with freeaddrinfo. */
static int look_up(const char *listen_at, place *p, struct addrinfo **out, fo_err *err) {
    struct addrinfo hints = {.ai_family = AF_UNSPEC,
                             .ai_socktype = SOCK_STREAM,
                             .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    int rc = split(listen_at, p, err);
    if (rc) return rc;
    rc = getaddrinfo(*p->host ? p->host : NULL, p->port, &hints, out);
    return rc == 0 ? FO_OK
                   : fo_fail_field(err, FO_EINVAL, "listen", "cannot listen on '%s': %s", listen_at,
                                   gai_strerror(rc));
}

static bool is_loopback(const struct sockaddr *at) {
    if (at->sa_family == AF_INET)
        return ntohl(((const struct sockaddr_in *)at)->sin_addr.s_addr) >> 24 == 127;
    return at->sa_family == AF_INET6 &&
           IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)at)->sin6_addr);
}

int http_listen_is_loopback(const char *listen, bool *out, fo_err *err) {
    place p;
    struct addrinfo *found = NULL;
    int rc = look_up(listen, &p, &found, err);
    if (rc) return rc;
    *out = true;
    for (struct addrinfo *a = found; a; a = a->ai_next) *out = *out && is_loopback(a->ai_addr);
    freeaddrinfo(found);
    return FO_OK;
}

/* "0.0.0.0" or "::" however it is written; AF_UNSPEC: neither. */
static int every_address(const struct sockaddr *at) {
    if (at->sa_family == AF_INET)
        return ((const struct sockaddr_in *)at)->sin_addr.s_addr == INADDR_ANY ? AF_INET
                                                                               : AF_UNSPEC;
    return at->sa_family == AF_INET6 &&
                   IN6_IS_ADDR_UNSPECIFIED(&((const struct sockaddr_in6 *)at)->sin6_addr)
               ? AF_INET6
               : AF_UNSPEC;
}

int http_listen_url(const char *listen, char *out, size_t n, fo_err *err) {
    place p;
    struct addrinfo *found = NULL;
    int rc = look_up(listen, &p, &found, err);
    if (rc) return rc;
    int family = found ? every_address(found->ai_addr) : AF_UNSPEC;
    freeaddrinfo(found);
    const char *host = family == AF_INET ? "127.0.0.1" : family == AF_INET6 ? "::1" : p.host;
    int len = snprintf(out, n, strchr(host, ':') ? "http://[%s]:%s" : "http://%s:%s", host, p.port);
    return len >= 0 && (size_t)len < n
               ? FO_OK
               : fo_fail_field(err, FO_EINVAL, "listen", "'%.100s' is too long", listen);
}

int http_listen_inherited(int *fd, bool *loopback, fo_err *err) {
    const char *pid = getenv("LISTEN_PID"), *n = getenv("LISTEN_FDS");
    *fd = 0;
    if (!pid || !n || strtol(pid, NULL, 10) != (long)getpid()) return FO_OK;
    bool one = !strcmp(n, "1");
    unsetenv("LISTEN_PID");
    unsetenv("LISTEN_FDS");
    unsetenv("LISTEN_FDNAMES");
    if (!one)
        return fo_fail_field(err, FO_EINVAL, "listen", "one socket is taken over, not %.20s", n);
    enum { FIRST_FD = 3 };
    struct sockaddr_storage at = {0};
    socklen_t len = sizeof at;
    int listens = 0;
    socklen_t size = sizeof listens;
    if (getsockname(FIRST_FD, (struct sockaddr *)&at, &len) != 0 ||
        getsockopt(FIRST_FD, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) != 0 || !listens ||
        (at.ss_family != AF_INET && at.ss_family != AF_INET6))
        return fo_fail_field(err, FO_EINVAL, "listen",
                             "the socket that was handed over is none of TCP that listens "
                             "(ListenStream=127.0.0.1:8080)");
    fcntl(FIRST_FD, F_SETFD, FD_CLOEXEC);
    fcntl(FIRST_FD, F_SETFL, fcntl(FIRST_FD, F_GETFL) | O_NONBLOCK);
    *fd = FIRST_FD;
    *loopback = is_loopback((const struct sockaddr *)&at);
    return FO_OK;
}

/* The first of the addresses that can be listened on; -1 and errno. */
static int listen_on(const struct addrinfo *found) {
    int fd = -1;
    for (const struct addrinfo *a = found; a && fd < 0; a = a->ai_next) {
        fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (fd < 0) continue;
        int one = 1;
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
        if (bind(fd, a->ai_addr, a->ai_addrlen) != 0 || listen(fd, 511) != 0) {
            int saved = errno;
            close(fd);
            fd = -1;
            errno = saved;
        }
    }
    return fd;
}

/* What errno says, and what to do about it where that is known. */
static int fail_listen(const char *listen_at, fo_err *err) {
    const char *help =
        errno == EADDRINUSE      ? "; stop what listens there, or name another place with --listen"
        : errno == EACCES        ? "; ports below 1024 need root, --listen 8080 does not"
        : errno == EADDRNOTAVAIL ? "; this machine has no such address, 127.0.0.1 it always has"
                                 : "";
    int rc = fo_fail_errno(err, "cannot listen on '%.300s'", listen_at);
    size_t n = err ? strlen(err->msg) : 0;
    if (err) snprintf(err->msg + n, sizeof err->msg - n, "%s", help);
    return rc;
}

int http_listen(http_server *s, const char *listen_at, fo_err *err) {
    place p = {0};
    struct addrinfo *found = NULL;
    int fd = s->opt.listen_fd;
    int rc = fd ? FO_OK : look_up(listen_at, &p, &found, err);
    if (rc) return rc;
    if (!fd) {
        fd = listen_on(found);
        int saved = errno;
        freeaddrinfo(found);
        errno = saved;
    }
    if (fd < 0) return fail_listen(listen_at, err);
    struct sockaddr_storage at;
    socklen_t len = sizeof at;
    getsockname(fd, (struct sockaddr *)&at, &len);
    char name[64] = "", service[16] = "";
    getnameinfo((struct sockaddr *)&at, len, name, sizeof name, service, sizeof service,
                NI_NUMERICHOST | NI_NUMERICSERV);
    s->port = atoi(service);
    snprintf(s->address, sizeof s->address, strchr(name, ':') ? "[%s]:%s" : "%s:%s", name, service);
    /* Of every address: as ":8080" has it. */
    bool any = !strcmp(name, "0.0.0.0") || !strcmp(name, "::");
    snprintf(s->listen_host, sizeof s->listen_host, "%s",
             s->opt.listen_fd ? any ? "" : name : p.host);
    s->listen_fd = fd;
    return FO_OK;
}
