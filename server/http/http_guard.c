/* Who may ask. A server on a loopback address is reached by every page that a browser of the
 * machine shows, so what a browser says of a request is held against what is known of the server:
 *
 *   Host    is a name that this server answers to, else 421. A page of a foreign name that was made
 *           to lead here ("DNS rebinding") has that name in Host, and may send what it likes.
 *   Origin  is http or https at such a name, or one of allow_origins, else 403. Browsers send it with all that writes; a
 * page may send text/plain and forms to any server without asking first. Sec-Fetch-Site  where
 * there is no Origin: "cross-site" is 403 too, but for a link that a person followed (a GET of a
 * whole page).
 *
 * Names that it answers to: loopback's (localhost, *.localhost, 127.0.0.0/8, ::1), the address it
 * listens on (where that is all of them: the one that the connection came to), and allow_hosts.
 * Ports are not compared: a tunnel or a proxy has another, and it is the name that a page cannot
 * choose. Programs that are no browser send no Origin, and a Host that is right. */
#include <arpa/inet.h>
#include <ctype.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "server/http/http_internal.h"

#define HOST_MAX  254
#define ASKED_MAX 2048 /* bytes of the names of headers that a page asks for */

/* A host as we compare it: an address in binary, else a name in small letters. */
typedef struct host {
    char name[HOST_MAX];
    bool is_address;
    struct in6_addr address; /* of IPv4: mapped into IPv6 */
} host;

static bool read_address(const char *s, struct in6_addr *out) {
    struct in_addr v4;
    if (inet_pton(AF_INET6, s, out) == 1) return true;
    if (inet_pton(AF_INET, s, &v4) != 1) return false;
    memset(out, 0, sizeof *out);
    out->s6_addr[10] = out->s6_addr[11] = 0xff;
    memcpy(&out->s6_addr[12], &v4, 4);
    return true;
}

/* "name", "name:80", "1.2.3.4:80", "[::1]:80"; false where it is none of them. */
static bool read_host(const char *s, host *out) {
    size_t n;
    const char *rest;
    memset(out, 0, sizeof *out);
    if (*s == '[') {
        const char *end = strchr(s, ']');
        if (!end || (n = (size_t)(end - s - 1)) >= HOST_MAX) return false;
        memcpy(out->name, s + 1, n);
        rest = end + 1;
        if (inet_pton(AF_INET6, out->name, &out->address) != 1) return false;
        out->is_address = true;
    } else {
        n = strcspn(s, ":");
        rest = s + n;
        if (n && s[n - 1] == '.') n--; /* the root of names */
        if (!n || n >= HOST_MAX) return false;
        for (size_t i = 0; i < n; i++) {
            if (!isalnum((unsigned char)s[i]) && !strchr("-_.", s[i])) return false;
            out->name[i] = (char)tolower((unsigned char)s[i]);
        }
        out->is_address = read_address(out->name, &out->address);
    }
    if (*rest == ':') rest += 1 + strspn(rest + 1, "0123456789");
    return !*rest;
}

bool http_host_valid(const char *s) {
    host h;
    const char *end = strrchr(s, ']');
    return !strchr(end ? end : s, ':') && read_host(s, &h);
}

static bool same(const host *a, const host *b) {
    if (a->is_address != b->is_address) return false;
    return a->is_address ? !memcmp(&a->address, &b->address, sizeof a->address)
                         : !strcmp(a->name, b->name);
}

static bool is_loopback(const host *h) {
    if (h->is_address)
        return IN6_IS_ADDR_LOOPBACK(&h->address) ||
               (IN6_IS_ADDR_V4MAPPED(&h->address) && h->address.s6_addr[12] == 127);
    size_t n = strlen(h->name);
    return !strcmp(h->name, "localhost") || (n > 10 && !strcmp(h->name + n - 10, ".localhost"));
}

/* The address of this machine that the connection came to. */
static bool local_address(const http_request *r, host *out) {
    struct sockaddr_storage at;
    socklen_t len = sizeof at;
    memset(out, 0, sizeof *out);
    if (r->fd < 0 || getsockname(r->fd, (struct sockaddr *)&at, &len) != 0) return false;
    out->is_address = true;
    if (at.ss_family == AF_INET6) {
        out->address = ((struct sockaddr_in6 *)&at)->sin6_addr;
        return true;
    }
    char text[INET_ADDRSTRLEN];
    return at.ss_family == AF_INET &&
           inet_ntop(AF_INET, &((struct sockaddr_in *)&at)->sin_addr, text, sizeof text) &&
           read_address(text, &out->address);
}

/* Does this server answer to that name? */
static bool is_ours(const http_request *r, const host *h) {
    const http_server *s = r->server;
    host other;
    if (is_loopback(h)) return true;
    /* An address that is this very connection's says the same as the one that was listened on, and
     * holds where that was a name or every address. */
    if (h->is_address && local_address(r, &other) && same(h, &other)) return true;
    if (!h->is_address && *s->listen_host && !strcmp(h->name, s->listen_host)) return true;
    for (size_t i = 0; i < s->opt.n_allow_hosts; i++)
        if (read_host(s->opt.allow_hosts[i], &other) && same(h, &other)) return true;
    return false;
}

static bool origin_is_ours(const http_request *r, const char *origin) {
    host h;
    const char *name = !strncasecmp(origin, "http://", 7)    ? origin + 7
                       : !strncasecmp(origin, "https://", 8) ? origin + 8
                                                             : NULL;
    return name && read_host(name, &h) && is_ours(r, &h);
}

bool http_origin_valid(const char *s) {
    host h;
    const char *name = !strncmp(s, "http://", 7) ? s + 7 : !strncmp(s, "https://", 8) ? s + 8 : "";
    return read_host(name, &h);
}

static bool origin_is_listed(const http_request *r, const char *origin) {
    const http_options *o = &r->server->opt;
    for (size_t i = 0; i < o->n_allow_origins; i++)
        if (!strcasecmp(o->allow_origins[i], origin)) return true;
    return false;
}

static size_t count(const http_request *r, const char *name) {
    size_t n = 0;
    for (size_t i = 0; i < r->n_headers; i++) n += !strcasecmp(r->headers[i].name, name);
    return n;
}

/* Names of headers, as a page that asks first lists them (RFC 9110, 5.6.2: tokens). */
static bool are_names(const char *s) {
    size_t n = strlen(s);
    if (!n || n > ASKED_MAX) return false;
    for (size_t i = 0; i < n; i++)
        if (!isalnum((unsigned char)s[i]) && !strchr("!#$%&'*+-.^_`|~, ", s[i])) return false;
    return true;
}

/* What a page of that origin may send and see. No cookies: a key goes with each request. Any header may be sent,
 * since no list of ours would hold for long: OpenAI's library, MCP and tracing have some of their own. */
static void let_page(http_request *r, const char *origin) {
    bool asks_first = !strcmp(r->method, "OPTIONS");
    const char *asked = http_header(r, "Access-Control-Request-Headers");
    http_set_header(r, "Access-Control-Allow-Origin", origin);
    http_set_header(r, "Vary", asks_first ? "Origin, Access-Control-Request-Headers" : "Origin");
    http_set_header(
        r, "Access-Control-Expose-Headers",
        "X-Request-Id, Retry-After, WWW-Authenticate, Idempotent-Replayed, traceresponse");
    if (!asks_first) return;
    bool named = asked && count(r, "Access-Control-Request-Headers") == 1 && are_names(asked);
    http_set_header(r, "Access-Control-Allow-Methods", "GET, POST, PUT, PATCH, DELETE");
    http_set_header(r, "Access-Control-Allow-Headers",
                    named ? asked : "Authorization, Content-Type, Idempotency-Key, X-Request-Id");
    http_set_header(r, "Access-Control-Max-Age", "600");
}

static bool header_is(const http_request *r, const char *name, const char *value) {
    const char *v = http_header(r, name);
    return v && !strcasecmp(v, value);
}

bool http_guard(http_request *r) {
    const char *name = http_header(r, "Host"), *origin = http_header(r, "Origin");
    host h;
    if (count(r, "Host") > 1 || (name && !read_host(name, &h))) {
        http_error(r, 400, "bad_request", "Host",
                   "Host must stand there once, as NAME or NAME:PORT");
        return false;
    }
    /* Which of two counts is not for a proxy and this server to see differently. */
    if (count(r, "Authorization") > 1) {
        http_error(r, 400, "bad_request", "Authorization", "Authorization must stand there once");
        return false;
    }
    /* No Host at all: HTTP/1.0, which no browser speaks. */
    if (name && !is_ours(r, &h)) {
        http_error(r, 421, "foreign_host", "Host",
                   "this server does not answer to the name '%.200s'; if it should, start it with "
                   "--allow-host %.200s",
                   h.name, h.name);
        return false;
    }
    if (origin) {
        if (count(r, "Origin") == 1 && origin_is_listed(r, origin)) {
            let_page(r, origin);
            return true;
        }
        if (count(r, "Origin") == 1 && origin_is_ours(r, origin)) return true;
        http_error(r, 403, "foreign_origin", "Origin",
                   "pages of '%.200s' may not use this server; those of its own names and of "
                   "--allow-host and --allow-origin may",
                   origin);
        return false;
    }
    bool page = (!strcmp(r->method, "GET") || !strcmp(r->method, "HEAD")) &&
                header_is(r, "Sec-Fetch-Mode", "navigate") &&
                header_is(r, "Sec-Fetch-Dest", "document");
    if (header_is(r, "Sec-Fetch-Site", "cross-site") && !page) {
        http_error(r, 403, "foreign_origin", "Sec-Fetch-Site",
                   "pages of other sites may not use this server");
        return false;
    }
    return true;
}
