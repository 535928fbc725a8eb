/* See pdf_scan.h. */
#include "data/extract/pdf_scan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WINDOW = 64 << 10 }; /* of the stream; a tag or a word that is longer is cut */

void pdf_scan_begin(pdf_scanner *s, builder *b, const extract_stream *from) {
    *s = (pdf_scanner){.from = from, .b = b, .data = malloc(WINDOW)};
    if (!s->data) b->failure = FO_ENOMEM;
    s->over = !s->data;
}

void pdf_scan_end(pdf_scanner *s) {
    free(s->data);
    s->data = NULL;
}

/* More bytes behind those that are not used up; false where there are none, or no room. */
static bool refill(pdf_scanner *s) {
    if (s->at) {
        memmove(s->data, s->data + s->at, s->n - s->at);
        s->n -= s->at;
        s->at = 0;
    }
    if (s->over || s->n == WINDOW) return false;
    ptrdiff_t got = s->from->read(s->from->ctx, s->data + s->n, WINDOW - s->n);
    if (got <= 0 || !builder_go_on(s->b, (size_t)got)) {
        s->over = true;
        return false;
    }
    doc_budget_grant(s->b->budget, (size_t)got / 8); /* it is that much longer than its text */
    s->n += (size_t)got;
    return true;
}

const char *pdf_scan_until(pdf_scanner *s, char stop, size_t *n) {
    size_t seen = s->at;
    for (;;) {
        const char *end = memchr(s->data + seen, stop, s->n - seen);
        if (end) {
            const char *begin = s->data + s->at;
            *n = (size_t)(end - begin);
            s->at += *n + 1;
            return begin;
        }
        size_t had = s->n - s->at;
        if (!refill(s)) {
            if (s->over || s->n < WINDOW) return NULL;
            *n = s->n; /* no end in sight: cut */
            s->at = s->n;
            return s->data;
        }
        seen = had;
    }
}

bool pdf_scan_is(const char *tag, size_t n, const char *name) {
    size_t k = strlen(name);
    return n >= k && memcmp(tag, name, k) == 0 && (n == k || tag[k] == ' ' || tag[k] == '/');
}

float pdf_scan_number(const char *tag, size_t n, const char *name) {
    size_t k = strlen(name);
    for (const char *p = tag; (p = memmem(p, n - (size_t)(p - tag), name, k)); p += k) {
        const char *v = p + k;
        size_t left = n - (size_t)(v - tag);
        if (left < 3 || v[0] != '=' || v[1] != '"') continue;
        char number[32] = "";
        for (size_t i = 0; i < sizeof number - 1 && i + 2 < left && v[i + 2] != '"'; i++)
            number[i] = v[i + 2];
        double d = strtod(number, NULL);
        return isfinite(d) && fabs(d) < 1e6 ? (float)d : 0;
    }
    return 0;
}
