/* JSON, one value or many of them (JSON lines), read as it goes: data_text.h says what becomes of it. Numbers
 * stay as they are written (1.10 is no 1.1, and identifiers have more digits than a double), so no library
 * that turns them into numbers is asked. Comments and commas at the end of lists, which people write into
 * settings, are let pass. Source: RFC 8259. */
#include <string.h>

#include "data/extract/data_text.h"
#include "data/extract/encoding.h"
#include "data/extract/extract_internal.h"
#include "kernels/utf8.h"

typedef struct reader {
    data_text d;
    const char *s;
    size_t n, at;
    uint32_t line;
    bool open[DATA_MAX_DEPTH + 1]; /* of what is open: is it a list? */
    int depth;
    fo_buf string;
} reader;

static int no_json(const reader *r, const char *what, fo_err *err) {
    return fo_fail(err, FO_EINVAL, "it is no JSON at line %u, byte %zu: %s", r->line, r->at, what);
}

static void skip_space(reader *r) {
    while (r->at < r->n) {
        char c = r->s[r->at];
        const char *end;
        if (c == '\n') {
            r->line++;
            r->at++;
        } else if (c == ' ' || c == '\t' || c == '\r') {
            r->at++;
        } else if (c == '/' && r->at + 1 < r->n && r->s[r->at + 1] == '/') {
            end = memchr(r->s + r->at, '\n', r->n - r->at);
            r->at = end ? (size_t)(end - r->s) : r->n;
        } else if (c == '/' && r->at + 1 < r->n && r->s[r->at + 1] == '*' &&
                   (end = memmem(r->s + r->at + 2, r->n - r->at - 2, "*/", 2))) {
            for (; r->s + r->at < end + 2; r->at++) r->line += r->s[r->at] == '\n';
        } else {
            return;
        }
    }
}

static int hex4(const char *s, size_t n) {
    int v = 0;
    if (n < 4) return -1;
    for (int i = 0; i < 4; i++) {
        char c = s[i];
        int digit = c >= '0' && c <= '9'                 ? c - '0'
                    : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
                                                         : -1;
        if (digit < 0) return -1;
        v = v * 16 + digit;
    }
    return v;
}

/* "\\u00e4" behind the backslash: bytes taken, 0: it is none. Two of them may make one character. */
static size_t add_escape(reader *r, const char *s, size_t n) {
    static const char names[] = "bfnrt\"\\/", values[] = "\b\f\n\r\t\"\\/";
    const char *p = n && *s ? strchr(names, *s) : NULL;
    if (p) {
        char c = values[p - names];
        if (c == '\b' || c == '\f') c = ' ';
        if (c == '\r') return 1;
        fo_buf_char(&r->string, c);
        return 1;
    }
    int32_t cp = n && *s == 'u' ? hex4(s + 1, n - 1) : -1;
    if (cp < 0) return 0;
    size_t took = 5;
    if (cp >= 0xD800 && cp < 0xDC00 && n >= 11 && s[5] == '\\' && s[6] == 'u') {
        int low = hex4(s + 7, n - 7);
        if (low >= 0xDC00 && low < 0xE000) {
            cp = 0x10000 + ((cp - 0xD800) << 10) + (low - 0xDC00);
            took = 11;
        }
    }
    if (cp >= 0xD800 && cp < 0xE000) cp = 0xFFFD;
    if (cp < 0x20 && cp != '\n' && cp != '\t') return took; /* a NUL is no text */
    if (cp == 0x7F || (cp >= 0x80 && cp < 0xA0)) return took;
    char out[4];
    fo_buf_add(&r->string, out, fo_utf8_encode(cp, out));
    return took;
}

static int read_string(reader *r, fo_err *err) {
    fo_buf_clear(&r->string);
    for (r->at++;;) {
        size_t from = r->at;
        while (r->at < r->n && r->s[r->at] != '"' && r->s[r->at] != '\\' && r->s[r->at] != '\n')
            r->at++;
        fo_buf_add(&r->string, r->s + from, r->at - from);
        if (r->at == r->n || r->s[r->at] == '\n') return no_json(r, "a string does not end", err);
        if (r->s[r->at] == '"') break;
        size_t took = add_escape(r, r->s + r->at + 1, r->n - r->at - 1);
        if (!took) return no_json(r, "a backslash that means nothing", err);
        r->at += 1 + took;
    }
    r->at++;
    if (!r->string.data) fo_buf_str(&r->string, "");
    return r->string.failed ? fo_no_memory(err) : FO_OK;
}

static bool is_number(const char *s, size_t n) {
    size_t i = n && *s == '-', digits = i;
    while (i < n && s[i] >= '0' && s[i] <= '9') i++;
    if (i == digits) return false;
    if (i < n && s[i] == '.') {
        digits = ++i;
        while (i < n && s[i] >= '0' && s[i] <= '9') i++;
        if (i == digits) return false;
    }
    if (i < n && (s[i] | 32) == 'e') {
        i++;
        i += i < n && (s[i] == '+' || s[i] == '-');
        digits = i;
        while (i < n && s[i] >= '0' && s[i] <= '9') i++;
        if (i == digits) return false;
    }
    return i == n;
}

/* A number, true, false or null. */
static int read_word(reader *r, fo_err *err) {
    size_t from = r->at;
    while (r->at < r->n && !strchr(" \t\r\n,:]}[{\"/", r->s[r->at])) r->at++;
    const char *s = r->s + from;
    size_t n = r->at - from;
    bool word = (n == 4 && !memcmp(s, "true", 4)) || (n == 5 && !memcmp(s, "false", 5));
    bool null = n == 4 && !memcmp(s, "null", 4);
    if (!word && !null && !is_number(s, n)) {
        r->at = from;
        return no_json(r, "neither a value nor its end", err);
    }
    data_text_value(&r->d, s, null ? 0 : n, r->line);
    return FO_OK;
}

/* A value, or the beginning of one that holds others. */
static int read_value(reader *r, fo_err *err) {
    char c = r->s[r->at];
    int rc = FO_OK;
    if (c == '{' || c == '[') {
        rc = data_text_begin(&r->d, c == '[', r->line, err);
        if (!rc) r->open[++r->depth] = c == '[';
        r->at++;
    } else if (c == '"') {
        uint32_t line = r->line;
        rc = read_string(r, err);
        if (!rc) data_text_value(&r->d, r->string.data, r->string.len, line);
    } else {
        rc = read_word(r, err);
    }
    return rc;
}

static int read_key(reader *r, fo_err *err) {
    if (r->s[r->at] != '"') return no_json(r, "a key in quotes is missing", err);
    int rc = read_string(r, err);
    if (rc) return rc;
    data_text_key(&r->d, r->string.data, r->string.len);
    skip_space(r);
    if (r->at == r->n || r->s[r->at] != ':') return no_json(r, "a key without a colon", err);
    r->at++;
    skip_space(r);
    return r->at == r->n ? no_json(r, "it ends behind a key", err) : FO_OK;
}

static int read_all(reader *r, fo_err *err) {
    int rc = FO_OK;
    bool after = false; /* a value: a comma or an end comes */
    size_t n_values = 0;
    for (skip_space(r); !rc && r->at < r->n && builder_go_on(r->d.b, 8); skip_space(r)) {
        char c = r->s[r->at];
        bool end = r->depth && c == (r->open[r->depth] ? ']' : '}');
        if (end) {
            data_text_end(&r->d);
            r->depth--;
            r->at++;
            after = true;
        } else if (r->depth && after) {
            if (c != ',') return no_json(r, "a comma is missing", err);
            r->at++;
            after = false;
            continue;
        } else {
            if (r->depth && !r->open[r->depth]) rc = read_key(r, err);
            int depth = r->depth;
            if (!rc) rc = read_value(r, err);
            after = r->depth == depth;
        }
        if (!r->depth && after) { /* of JSON lines one is done */
            data_text_flush(&r->d);
            n_values++;
        }
    }
    if (rc || r->d.b->failure) return rc;
    if (r->depth) return no_json(r, "it ends before what it holds does", err);
    return n_values ? FO_OK : no_json(r, "it holds no value", err);
}

int extract_json(builder *b, extract_input *in, fo_err *err) {
    fo_buf text = {0};
    int rc = extract_decode(b, in, "utf-8", &text, err);
    if (!rc) {
        reader r = {.d = {.b = b}, .s = text.data, .n = text.len, .line = 1};
        rc = read_all(&r, err);
        data_text_free(&r.d);
        fo_buf_free(&r.string);
    }
    extract_drop(b, &text);
    return rc;
}
