/* Org: headings by their stars, lists, terms, tables, blocks of code; keywords, drawers, tags and comments are
 * dropped, marks and links give their text. Source: the Org syntax description (orgmode.org). */
#include <string.h>
#include <strings.h>

#include "data/extract/markup.h"
#include "kernels/words.h"

typedef struct reader {
    markup m;
    size_t comment_level; /* all below this heading is a comment; 0: nothing is */
} reader;

/* ---- marks in a line ------------------------------------------------------------------------------ */

static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (unsigned char)c >= 0x80;
}

/* The end of what *bold* begins: no blank before it, no letter behind it. */
static size_t mark_end(const char *s, size_t n, size_t from) {
    size_t most = from + 2000 < n ? from + 2000 : n;
    for (size_t at = from + 2; at < most; at++)
        if (s[at] == s[from] && s[at - 1] != ' ' && (at + 1 == n || !is_word(s[at + 1]))) return at;
    return 0;
}

static void strip_within(const char *s, size_t n, fo_buf *out, int depth) {
    for (size_t at = 0; at < n;) {
        char c = s[at];
        bool starts = at == 0 || strchr(" \t-({'\"[", s[at - 1]);
        size_t end;
        const char *close;
        if (c == '[' && at + 3 < n && s[at + 1] == '[' &&
            (close = memmem(s + at, n - at < 1000 ? n - at : 1000, "]]", 2))) {
            const char *part = memmem(s + at, (size_t)(close - s) - at, "][", 2);
            const char *from = part ? part + 2 : s + at + 2;
            if (part && depth < 8)
                strip_within(from, (size_t)(close - from), out, depth + 1);
            else
                fo_buf_add(out, from, (size_t)(close - from));
            at = (size_t)(close - s) + 2;
        } else if (strchr("*/_=~+", c) && depth < 8 && starts && at + 2 < n && s[at + 1] != ' ' &&
                   s[at + 1] != c && (end = mark_end(s, n, at))) {
            if (c == '=' || c == '~')
                fo_buf_add(out, s + at + 1, end - at - 1);
            else
                strip_within(s + at + 1, end - at - 1, out, depth + 1);
            at = end + 1;
        } else if (c == '<' && at + 2 < n && s[at + 1] == '<' &&
                   (close = memmem(s + at, n - at < 200 ? n - at : 200, ">>", 2))) {
            size_t open = at + 2 < n && s[at + 2] == '<' ? 3 : 2; /* <<target>>, <<<radio>>> */
            if (open == 3) fo_buf_add(out, s + at + 3, (size_t)(close - s) - at - 3);
            at = (size_t)(close - s) + open;
            if (at > n) at = n;
        } else if (c == '{' && at + 3 < n && !memcmp(s + at, "{{{", 3) &&
                   (close = memmem(s + at, n - at < 200 ? n - at : 200, "}}}", 3))) {
            at = (size_t)(close - s) + 3; /* a macro */
        } else {
            fo_buf_char(out, c);
            at++;
        }
    }
}

static void strip(markup *m, const char *s, size_t n, fo_buf *out) {
    (void)m;
    if (n > 2 && s[n - 1] == '\\' && s[n - 2] == '\\') n -= 2; /* a break of lines */
    strip_within(s, n, out, 0);
}

/* ---- blocks --------------------------------------------------------------------------------------- */

static bool begins(const char *s, size_t n, const char *with) {
    size_t k = strlen(with);
    return n >= k && strncasecmp(s, with, k) == 0;
}

static void read_heading(reader *r, const text_line *l, size_t stars) {
    const char *s = l->s + stars;
    size_t n = l->n - stars;
    while (n && *s == ' ') s++, n--;
    size_t word = 0;
    while (word < n && s[word] >= 'A' && s[word] <= 'Z') word++;
    if (fo_words_have("TODO DONE NEXT WAITING CANCELLED CANCELED STARTED HOLD PROJ", s, word) &&
        (word == n || s[word] == ' ')) {
        s += word, n -= word;
        while (n && *s == ' ') s++, n--;
    }
    if (n > 3 && s[0] == '[' && s[1] == '#' && s[3] == ']') {
        s += 4, n -= 4;
        while (n && *s == ' ') s++, n--;
    }
    /* ":tag:other:" at the end */
    size_t tags = n;
    if (n > 2 && s[n - 1] == ':') {
        while (tags > 0 && (is_word(s[tags - 1]) || strchr("_@#%:", s[tags - 1]))) tags--;
        if (tags && s[tags - 1] == ' ' && s[tags] == ':' && n - tags > 2) n = tags;
    }
    while (n && s[n - 1] == ' ') n--;
    markup_close(&r->m);
    if (r->comment_level && stars > r->comment_level) return;
    /* In capitals alone: "Comment period" is a heading like others. */
    const bool comment = n >= 7 && !memcmp(s, "COMMENT", 7) && (n == 7 || s[7] == ' ');
    r->comment_level = comment ? stars : 0;
    if (!r->comment_level) markup_heading(&r->m, (uint8_t)(stars < 6 ? stars : 6), s, n);
}

/* "#+begin_NAME" to "#+end_NAME": code as it stands, prose as prose, what is for other formats nowhere. */
static void read_block(reader *r, const text_line *top) {
    const char *name = top->s + top->blanks + 8;
    size_t n = 0, left = top->n - top->blanks - 8;
    while (n < left && name[n] != ' ') n++;
    static const char code[] = "src example", dropped[] = "comment export";
    char word[12] = "";
    for (size_t i = 0; i < n && i < sizeof word - 1; i++) word[i] = (char)(name[i] | 32);
    markup_close(&r->m);
    bool is_code = fo_words_have(code, word, strlen(word));
    if (!is_code && !fo_words_have(dropped, word, strlen(word))) return;
    text_line l;
    while (markup_next(&r->m, &l)) {
        const char *s = l.s + l.blanks;
        size_t k = l.n - l.blanks;
        if (begins(s, k, "#+end_") && k >= 6 + n && !strncasecmp(s + 6, name, n)) break;
        if (!is_code) continue;
        if (k > 1 && s[0] == ',' &&
            (s[1] == '*' || s[1] == '#')) { /* ",*" is a star that is none of Org's */
            text_line kept = {.s = s + 1, .n = k - 1};
            markup_code(&r->m, &kept);
        } else {
            markup_code(&r->m, &l);
        }
    }
    markup_code_end(&r->m);
}

/* "| a | b |", and rules between: rows above the first rule are the header. */
static void read_table(reader *r, const text_line *first) {
    markup *m = &r->m;
    text_line l = *first, ahead;
    text_lines look = m->in;
    bool ruled = false;
    size_t above = 1;
    while (text_lines_next(&look, &ahead) && ahead.n > ahead.blanks &&
           ahead.s[ahead.blanks] == '|' && !ruled && above < 4) {
        ruled = ahead.n > ahead.blanks + 1 && ahead.s[ahead.blanks + 1] == '-';
        above += !ruled;
    }
    markup_table(m);
    for (size_t row = 0;;) {
        const char *s = l.s + l.blanks;
        size_t n = l.n - l.blanks;
        if (n > 1 && s[1] != '-') {
            uint32_t column = 0;
            for (size_t at = 1; at < n; column++) {
                const char *bar = memchr(s + at, '|', n - at);
                size_t end = bar ? (size_t)(bar - s) : n;
                markup_cell(m, column, s + at, end - at);
                at = end + 1;
            }
            markup_row_end(m, ruled && row == 0 && above == 1);
            row++;
        }
        if (!text_lines_peek(&m->in, 0, &l) || l.n == l.blanks || l.s[l.blanks] != '|' ||
            !markup_next(m, &l))
            break;
    }
}

/* A drawer or the like, to ":end:"; false where none ends. */
static bool skip_drawer(reader *r) {
    text_lines before = r->m.in;
    text_line l;
    for (int i = 0; i < 200 && markup_next(&r->m, &l); i++) {
        if (begins(l.s + l.blanks, l.n - l.blanks, ":end:") && l.n - l.blanks == 5) return true;
        if (l.n && l.s[0] == '*') break;
    }
    r->m.in = before;
    return false;
}

static size_t list_mark(const text_line *l) {
    const char *s = l->s + l->blanks;
    size_t n = l->n - l->blanks, i = 0;
    if (n > 1 && (strchr("-+", *s) || (*s == '*' && l->blanks)) && s[1] == ' ') return 1;
    while (i < n && i < 4 && s[i] >= '0' && s[i] <= '9') i++;
    return i && i + 1 < n && (s[i] == '.' || s[i] == ')') && s[i + 1] == ' ' ? i + 1 : 0;
}

static void read_item(reader *r, const text_line *l, size_t mark) {
    const char *s = l->s + l->blanks;
    size_t n = l->n - l->blanks, at = mark;
    while (at < n && s[at] == ' ') at++;
    if (n - at > 3 && s[at] == '[' && s[at + 1] == '@') { /* "[@5]": where numbers begin */
        const char *close = memchr(s + at, ']', n - at);
        if (close) at = (size_t)(close - s) + 1;
    }
    const char *term = memmem(s + at, n - at, " ::", 3);
    markup_item(&r->m, s, mark, s + at, term ? (size_t)(term - s) - at : n - at);
    if (!term) return;
    fo_buf_char(&r->m.words, ':');
    size_t from = (size_t)(term - s) + 3;
    if (from < n) markup_words(&r->m, s + from + (s[from] == ' '), n - from - (s[from] == ' '));
}

static void read_line(reader *r, text_line *l) {
    markup *m = &r->m;
    const char *s = l->s + l->blanks;
    size_t n = l->n - l->blanks, mark, stars = 0;
    while (stars < l->n && l->s[stars] == '*') stars++;
    if (stars && stars < l->n && l->s[stars] == ' ') {
        read_heading(r, l, stars);
    } else if (r->comment_level) {
        return;
    } else if (begins(s, n, "#+begin_") && n > 8) {
        read_block(r, l);
    } else if (begins(s, n, "#+title:")) {
        builder_set_title(m->b, s + 8, n - 8);
        markup_heading(m, 1, s + 8, n - 8);
    } else if (begins(s, n, "#+caption:")) {
        markup_open(m, TEXT_PARAGRAPH, 0);
        markup_words(m, s + 10, n - 10);
        markup_close(m);
    } else if (n >= 2 && s[0] == '#' && (s[1] == '+' || s[1] == ' ')) {
        markup_close(m);
    } else if (n == 1 && s[0] == '#') {
        markup_close(m);
    } else if (n > 2 && s[0] == ':' && s[n - 1] == ':' && !memchr(s, ' ', n) && skip_drawer(r)) {
        markup_close(m);
    } else if (n >= 1 && s[0] == ':' && (n == 1 || s[1] == ' ')) { /* ": as it stands" */
        text_line code = *l;
        do {
            size_t skip = code.blanks + (code.n > code.blanks + 1 ? 2 : 1);
            text_line kept = {.s = code.s + skip, .n = code.n - skip};
            if (!m->in_code) kept.blanks = 0;
            markup_code(m, &kept);
        } while (text_lines_peek(&m->in, 0, &code) && code.n > code.blanks &&
                 code.s[code.blanks] == ':' &&
                 (code.n == code.blanks + 1 || code.s[code.blanks + 1] == ' ') &&
                 markup_next(m, &code));
        markup_code_end(m);
    } else if (n > 1 && s[0] == '|') {
        read_table(r, l);
    } else if (n >= 5 && strspn(s, "-") == n) {
        markup_close(m);
    } else if (begins(s, n, "CLOCK:")) {
        return;
    } else if ((mark = list_mark(l)) != 0) {
        read_item(r, l, mark);
    } else if (n > 4 && !l->blanks && !memcmp(s, "[fn:", 4)) {
        markup_open(m, TEXT_PARAGRAPH, 0);
        markup_words(m, s, n);
    } else {
        markup_words(m, s, n);
    }
}

int extract_org(builder *b, extract_input *in, fo_err *err) {
    fo_buf text = {0};
    int rc = extract_decode(b, in, NULL, &text, err);
    if (!rc) {
        reader r = {.m = {.b = b, .in = {.s = text.data, .n = text.len}, .strip = strip}};
        text_line l;
        while (markup_next(&r.m, &l)) {
            if (l.n)
                read_line(&r, &l);
            else
                markup_close(&r.m);
        }
        markup_end(&r.m);
    }
    extract_drop(b, &text);
    return rc;
}
