/* See mime.h. */
#include "data/extract/mime.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "data/extract/encoding.h"
#include "kernels/hex.h"
#include "kernels/utf8.h"

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

/* Bytes of a line that is longer than `most`: between characters, where it is UTF-8. */
static size_t cut_line(const char *line, size_t most) {
    size_t n = most;
    while (n && most - n < 3 && !fo_utf8_boundary(line[n])) n--;
    return n && fo_utf8_boundary(line[n]) ? n : most;
}

static bool read_field(const mime_part *p, const char *name, size_t most, fo_buf *out) {
    size_t k = strlen(name), begun = out->len;
    bool in = false, cut = false;
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
        if (cut) continue;
        while (len && (*line == ' ' || *line == '\t')) line++, len--;
        if (out->len > begun) fo_buf_char(out, ' ');
        cut = out->len - begun + len > most;
        if (cut && out->len > begun) len = 0; /* between the lines that are whole */
        if (len > most) len = cut_line(line, most);
        fo_buf_add(out, line, len);
        if (cut) fo_buf_str(out, "\xE2\x80\xA6"); /* what is left out is seen */
    }
    if (in && !out->data) fo_buf_str(out, "");
    return in;
}

bool mime_field(const mime_part *p, const char *name, fo_buf *out) {
    return read_field(p, name, MIME_FIELD, out);
}

/* ---- transfer encodings --------------------------------------------------------------------------- */

/* words: of a header, where _ is a blank. */
static void decode_quoted(const char *s, size_t n, bool words, fo_buf *out) {
    for (size_t i = 0; i < n; i++) {
        int high = s[i] == '=' && i + 1 < n ? fo_hex_digit(s[i + 1]) : -1;
        int low = high >= 0 && i + 2 < n ? fo_hex_digit(s[i + 2]) : -1;
        if (low >= 0) {
            fo_buf_char(out, (char)(high * 16 + low));
            i += 2;
        } else if (s[i] == '=') { /* a line that goes on */
            size_t k = i + 1;
            while (k < n && (s[k] == ' ' || s[k] == '\t' || s[k] == '\r')) k++;
            if (k < n ? s[k] == '\n' : !words) /* the last line's end is the boundary's */
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
    encoding_limits limits = {.max_bytes = bytes->len, .certain = true}; /* a field is bounded */
    return !encoding_decode(out, (const unsigned char *)(bytes->data ? bytes->data : ""),
                            bytes->len, known, &limits, &name, &replaced, NULL);
}

typedef struct encoded_word { /* into the value that it stands in */
    const char *charset, *text;
    size_t n_charset, n_text, n; /* n: of all of it */
    bool base64;
} encoded_word;

/* "=?charset?Q?text?=" at s; false: there is none. */
static bool read_word(const char *s, size_t n, encoded_word *out) {
    if (n < 8 || s[0] != '=' || s[1] != '?') return false;
    const char *charset = s + 2, *end = s + n, *kind = memchr(charset, '?', n - 2);
    if (!kind || end - kind < 4 || kind[2] != '?') return false;
    const char *text = kind + 3, *close = text;
    while (close + 1 < end && !(close[0] == '?' && close[1] == '=') && *close != '\n') close++;
    if (close + 1 >= end || *close != '?') return false;
    const char *star = memchr(charset, '*', (size_t)(kind - charset)); /* and a language */
    *out = (encoded_word){.charset = charset,
                          .n_charset = (size_t)((star ? star : kind) - charset),
                          .text = text,
                          .n_text = (size_t)(close - text),
                          .n = (size_t)(close + 2 - s),
                          .base64 = (kind[1] | 32) == 'b'};
    return true;
}

/* Words of one character set that stand behind each other: programs cut a text where they like, within a character too. */
typedef struct word_group {
    encoded_word first;
    fo_buf bytes;
    size_t from, to; /* of the value; none: from == to */
} word_group;

static void end_group(word_group *g, const char *s, fo_buf *out) {
    size_t replaced = 0;
    if (g->from == g->to) return;
    if (!decode_text(g->first.charset, g->first.n_charset, &g->bytes, out))
        encoding_clean(out, s + g->from, g->to - g->from, &replaced);
    out->failed |= g->bytes.failed;
    fo_buf_clear(&g->bytes);
    g->from = g->to;
}

static void add_word(word_group *g, const char *s, size_t at, const encoded_word *w, fo_buf *out) {
    const encoded_word *first = &g->first;
    if (first->n_charset != w->n_charset ||
        strncasecmp(first->charset, w->charset, w->n_charset) != 0)
        end_group(g, s, out);
    if (g->from == g->to) {
        g->from = at;
        g->first = *w;
    }
    if (w->base64)
        decode_base64(w->text, w->n_text, &g->bytes);
    else
        decode_quoted(w->text, w->n_text, true, &g->bytes);
    g->to = at + w->n;
}

/* Where the last word may end at most: none is looked for behind it, where each would be looked for up to the end. */
static size_t end_of_words(const char *s, size_t n) {
    while (n > 1 && !(s[n - 2] == '?' && s[n - 1] == '=')) n--;
    return n > 1 ? n : 0;
}

/* A value as it stands in a head, with its encoded words decoded. */
static void decode_words(const char *s, size_t n, fo_buf *out) {
    size_t replaced = 0, plain = 0, at = 0;
    bool after_word = false; /* blanks between two words are none of the text */
    word_group g = {0};
    const size_t end = end_of_words(s, n);
    while (at < end) {
        encoded_word w;
        if (!read_word(s + at, end - at, &w)) {
            after_word &= isspace((unsigned char)s[at++]) != 0;
            continue;
        }
        if (!after_word) {
            end_group(&g, s, out);
            encoding_clean(out, s + plain, at - plain, &replaced);
        }
        add_word(&g, s, at, &w, out);
        at += w.n;
        plain = at;
        after_word = true;
    }
    end_group(&g, s, out);
    if (plain < n) encoding_clean(out, s + plain, n - plain, &replaced);
    fo_buf_free(&g.bytes);
    if (!out->data) fo_buf_str(out, "");
}

bool mime_field_text(const mime_part *p, const char *name, size_t most, fo_buf *out) {
    fo_buf raw = {0};
    bool there = read_field(p, name, most, &raw);
    if (there) decode_words(raw.data ? raw.data : "", raw.len, out);
    fo_buf_free(&raw);
    return there;
}

/* ---- parameters ----------------------------------------------------------------------------------- */

typedef struct parameter { /* into the field's value */
    const char *name, *value;
    size_t n_name, n;
    bool quoted;
} parameter;

/* The next one behind *p, which moves on; false: there is none. */
static bool next_parameter(const char **p, parameter *out) {
    for (const char *s = strchr(*p, ';'); s; s = strchr(s, ';')) {
        s += 1 + strspn(s + 1, " \t");
        size_t k = strcspn(s, "=; \t");
        *out = (parameter){.name = s, .n_name = k};
        s += k + strspn(s + k, " \t");
        if (*s != '=') continue;
        s += 1 + strspn(s + 1, " \t");
        out->quoted = *s == '"';
        if (out->quoted) s++;
        out->value = s;
        while (*s && !(out->quoted ? *s == '"' : strchr("; \t", *s) != NULL))
            s += out->quoted && *s == '\\' && s[1] ? 2 : 1;
        out->n = (size_t)(s - out->value);
        *p = s;
        return true;
    }
    return false;
}

/* How a name is written: itself, with a * where its value names a character set ("name*"), or in pieces of which some may
 * do that ("name*0*", "name*1"). */
enum { PLAIN = -2, EXTENDED = -1, MAX_PIECES = 64 };

static bool is_named(const parameter *p, const char *name, int which, bool *extended) {
    size_t k = strlen(name);
    if (p->n_name < k || strncasecmp(p->name, name, k) != 0) return false;
    char mark[16] = "";
    if (which == EXTENDED) snprintf(mark, sizeof mark, "*");
    if (which >= 0) snprintf(mark, sizeof mark, "*%d", which);
    size_t n_mark = strlen(mark), left = p->n_name - k;
    if (left < n_mark || memcmp(p->name + k, mark, n_mark) != 0) return false;
    left -= n_mark;
    *extended = which == EXTENDED || (which >= 0 && left == 1 && p->name[k + n_mark] == '*');
    return left == (*extended && which >= 0);
}

static bool find_parameter(const char *value, const char *name, int which, parameter *out,
                           bool *extended) {
    while (next_parameter(&value, out))
        if (is_named(out, name, which, extended)) return true;
    return false;
}

/* utf-8''caf%C3%A9.txt: its bytes; the character set stands before the first piece of it. */
static void add_extended(const parameter *p, fo_buf *out) {
    for (size_t i = 0; i < p->n; i++) {
        int high = p->value[i] == '%' && i + 2 < p->n ? fo_hex_digit(p->value[i + 1]) : -1;
        int low = high >= 0 ? fo_hex_digit(p->value[i + 2]) : -1;
        fo_buf_char(out, low >= 0 ? (char)(high * 16 + low) : p->value[i]);
        i += low >= 0 ? 2 : 0;
    }
}

static void add_plain(const parameter *p, fo_buf *out) {
    for (size_t i = 0; i < p->n; i++) {
        bool escape = p->quoted && p->value[i] == '\\' && i + 1 < p->n &&
                      (p->value[i + 1] == '"' || p->value[i + 1] == '\\');
        i += escape;
        fo_buf_char(out, p->value[i]);
    }
}

/* The character set goes from *p to *charset. */
static void split_charset(parameter *p, parameter *charset) {
    const char *mark = memchr(p->value, '\'', p->n);
    const char *end = p->value + p->n;
    const char *language = mark ? memchr(mark + 1, '\'', (size_t)(end - mark - 1)) : NULL;
    if (!language) return;
    *charset = (parameter){.value = p->value, .n = (size_t)(mark - p->value)};
    p->value = language + 1;
    p->n = (size_t)(end - p->value);
}

/* Its bytes, appended; charset->n: what they are in, where that is said. */
static bool add_parameter(const char *value, const char *name, fo_buf *out, parameter *charset) {
    parameter p;
    bool extended = false, found = false;
    *charset = (parameter){0};
    if (find_parameter(value, name, EXTENDED, &p, &extended)) {
        split_charset(&p, charset);
        add_extended(&p, out);
        return true;
    }
    for (int i = 0; i < MAX_PIECES && find_parameter(value, name, i, &p, &extended); i++) {
        if (extended && !i) split_charset(&p, charset);
        if (extended)
            add_extended(&p, out);
        else
            add_plain(&p, out);
        found = true;
    }
    if (found || !find_parameter(value, name, PLAIN, &p, &extended)) return found;
    add_plain(&p, out);
    return true;
}

bool mime_parameter(const char *value, const char *name, char *out, size_t cap) {
    fo_buf raw = {0};
    parameter charset;
    out[0] = 0;
    if (add_parameter(value, name, &raw, &charset) && raw.data && !raw.failed) {
        size_t n = raw.len < cap ? raw.len : cap - 1;
        memcpy(out, raw.data, n);
        out[n] = 0;
    }
    fo_buf_free(&raw);
    return out[0] != 0;
}

bool mime_parameter_text(const char *value, const char *name, fo_buf *out) {
    fo_buf raw = {0};
    parameter charset;
    size_t begun = out->len;
    bool there = add_parameter(value, name, &raw, &charset) && raw.len;
    if (there && charset.n)
        there = decode_text(charset.value, charset.n, &raw, out);
    else if (there)
        decode_words(raw.data, raw.len, out);
    out->failed |= raw.failed;
    fo_buf_free(&raw);
    return there && out->len > begun;
}
