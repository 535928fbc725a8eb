/* See mime.h. */
#include "data/extract/mime.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "data/extract/encoding.h"

enum { MAX_FIELD = 64 << 10 };

mime_part mime_split(const char *s, size_t n) {
    for (size_t at = 0; at < n;) {
        const char *newline = memchr(s + at, '\n', n - at);
        size_t end = newline ? (size_t)(newline - s) : n;
        size_t len = end - at - (end > at && s[end - 1] == '\r');
        if (len == 0) {
            size_t body = end < n ? end + 1 : n;
            return (mime_part){s, s + body, at, n - body};
        }
        at = end + 1;
    }
    return (mime_part){s, s + n, n, 0};
}

bool mime_field(const mime_part *p, const char *name, fo_buf *out) {
    size_t k = strlen(name), begun = out->len;
    bool in = false;
    for (size_t at = 0; at < p->n_head;) {
        const char *line = p->head + at, *newline = memchr(line, '\n', p->n_head - at);
        size_t len = newline ? (size_t)(newline - line) : p->n_head - at;
        at += len + 1;
        if (len && line[len - 1] == '\r') len--;
        bool folded = len && (line[0] == ' ' || line[0] == '\t');
        if (in && !folded) break;
        if (!in) {
            in = len > k && line[k] == ':' && strncasecmp(line, name, k) == 0;
            if (!in) continue;
            line += k + 1;
            len -= k + 1;
        }
        while (len && (*line == ' ' || *line == '\t')) line++, len--;
        if (out->len > begun) fo_buf_char(out, ' ');
        if (out->len - begun + len < MAX_FIELD) fo_buf_add(out, line, len);
    }
    if (in && !out->data) fo_buf_str(out, "");
    return in;
}

/* ---- transfer encodings --------------------------------------------------------------------------- */

static int hex(char c) {
    return c >= '0' && c <= '9'                 ? c - '0'
           : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
                                                : -1;
}

/* words: of a header, where _ is a blank. */
static void decode_quoted(const char *s, size_t n, bool words, fo_buf *out) {
    for (size_t i = 0; i < n; i++) {
        int high = s[i] == '=' && i + 1 < n ? hex(s[i + 1]) : -1;
        int low = high >= 0 && i + 2 < n ? hex(s[i + 2]) : -1;
        if (low >= 0) {
            fo_buf_char(out, (char)(high * 16 + low));
            i += 2;
        } else if (s[i] == '=') { /* a line that goes on */
            size_t k = i + 1;
            while (k < n && (s[k] == ' ' || s[k] == '\t' || s[k] == '\r')) k++;
            if (k < n && s[k] == '\n')
                i = k;
            else
                fo_buf_char(out, s[i]);
        } else {
            fo_buf_char(out, words && s[i] == '_' ? ' ' : s[i]);
        }
    }
}

static int base64_value(char c) {
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

static void decode_base64(const char *s, size_t n, fo_buf *out) {
    unsigned bits = 0;
    int have = 0;
    for (size_t i = 0; i < n && s[i] != '='; i++) {
        int v = base64_value(s[i]);
        if (v < 0) continue;
        bits = (bits << 6 | (unsigned)v) & 0xFFFFFF;
        have += 6;
        if (have < 8) continue;
        have -= 8;
        fo_buf_char(out, (char)(bits >> have & 0xFF));
    }
}

void mime_decode(const char *encoding, const char *s, size_t n, fo_buf *out) {
    if (strncasecmp(encoding, "base64", 6) == 0)
        decode_base64(s, n, out);
    else if (strncasecmp(encoding, "quoted-printable", 16) == 0)
        decode_quoted(s, n, false, out);
    else
        fo_buf_add(out, s, n);
}

/* ---- encoded words -------------------------------------------------------------------------------- */

static bool decode_text(const char *charset, size_t n_charset, const fo_buf *bytes, fo_buf *out) {
    const char *known = encoding_find(charset, n_charset), *name;
    size_t replaced = 0;
    encoding_limits limits = {.max_bytes = MAX_FIELD};
    return !encoding_decode(out, (const unsigned char *)(bytes->data ? bytes->data : ""),
                            bytes->len, known, &limits, &name, &replaced, NULL);
}

/* "=?charset?Q?text?=" at s: bytes that it takes, 0 where there is none. */
static size_t decode_word(const char *s, size_t n, fo_buf *out) {
    if (n < 8 || s[0] != '=' || s[1] != '?') return 0;
    const char *charset = s + 2, *end = s + n, *kind = memchr(charset, '?', n - 2);
    if (!kind || end - kind < 4 || kind[2] != '?') return 0;
    const char *text = kind + 3, *close = text;
    while (close + 1 < end && !(close[0] == '?' && close[1] == '=') && *close != '\n') close++;
    if (close + 1 >= end || *close != '?') return 0;
    const char *star = memchr(charset, '*', (size_t)(kind - charset)); /* and a language */
    fo_buf bytes = {0};
    if ((kind[1] | 32) == 'b')
        decode_base64(text, (size_t)(close - text), &bytes);
    else
        decode_quoted(text, (size_t)(close - text), true, &bytes);
    bool ok = decode_text(charset, (size_t)((star ? star : kind) - charset), &bytes, out);
    fo_buf_free(&bytes);
    return ok ? (size_t)(close + 2 - s) : 0;
}

bool mime_field_text(const mime_part *p, const char *name, fo_buf *out) {
    fo_buf raw = {0};
    size_t replaced = 0, plain = 0, at = 0;
    bool there = mime_field(p, name, &raw), after_word = false;
    while (there && at < raw.len) {
        size_t k = decode_word(raw.data + at, raw.len - at, out);
        if (!k) {
            at++;
            after_word &= isspace((unsigned char)raw.data[at - 1]) != 0;
            if (at < raw.len && raw.data[at] == '=' && !after_word) {
                encoding_clean(out, raw.data + plain, at - plain, &replaced);
                plain = at;
            }
            continue;
        }
        at += k;
        plain = at;
        after_word = true; /* blanks between two such words are none of the text */
    }
    if (there && plain < raw.len) encoding_clean(out, raw.data + plain, raw.len - plain, &replaced);
    if (there && !out->data) fo_buf_str(out, "");
    fo_buf_free(&raw);
    return there;
}

bool mime_parameter(const char *value, const char *name, char *out, size_t cap) {
    size_t k = strlen(name);
    out[0] = 0;
    for (const char *p = strchr(value, ';'); p; p = strchr(p, ';')) {
        p++;
        while (*p == ' ' || *p == '\t') p++;
        if (strncasecmp(p, name, k) != 0) continue;
        const char *v = p + k;
        bool extended = *v == '*'; /* name*=utf-8''caf%C3%A9.txt */
        v += extended;
        if (*v++ != '=') continue;
        size_t n = 0;
        bool quoted = *v == '"';
        v += quoted;
        const char *mark = extended ? strchr(v, '\'') : NULL;
        if (mark && (mark = strchr(mark + 1, '\''))) v = mark + 1;
        for (; *v && n + 1 < cap; v++) {
            if (quoted ? *v == '"' : *v == ';' || *v == ' ' || *v == '\t') break;
            int high = extended && *v == '%' ? hex(v[1]) : -1, low = high >= 0 ? hex(v[2]) : -1;
            out[n++] = low >= 0 ? (char)(high * 16 + low) : *v;
            v += low >= 0 ? 2 : 0;
        }
        out[n] = 0;
        return n > 0;
    }
    return false;
}
