#include "data/extract/text_lines.h"

#include <string.h>

static size_t line_at(const char *s, size_t n, size_t at, text_line *out) {
    const char *newline = memchr(s + at, '\n', n - at);
    size_t end = newline ? (size_t)(newline - s) : n, next = newline ? end + 1 : n;
    while (end > at && (s[end - 1] == ' ' || s[end - 1] == '\t' || s[end - 1] == '\r')) end--;
    *out = (text_line){.s = s + at, .n = end - at};
    while (out->blanks < out->n && (out->s[out->blanks] == ' ' || out->s[out->blanks] == '\t')) {
        out->indent = out->s[out->blanks] == '\t' ? (out->indent / 8 + 1) * 8 : out->indent + 1;
        out->blanks++;
    }
    return next;
}

bool text_lines_next(text_lines *t, text_line *out) {
    *out = (text_line){.s = t->s + t->n};
    if (t->at >= t->n) return false;
    t->at = line_at(t->s, t->n, t->at, out);
    t->number++;
    return true;
}

bool text_lines_peek(const text_lines *t, size_t skip, text_line *out) {
    text_lines ahead = *t;
    for (;;) {
        if (!text_lines_next(&ahead, out)) return false;
        if (!skip--) return true;
    }
}
