/* Ours: rules for how mail programs quote and wrap (RFC 3676 section 4.5 for the marks), tested in
 * tests/data/extract/mail_test.c. */
#include "data/extract/mail_text.h"

#include <string.h>

#include "data/extract/list_marker.h"
#include "kernels/utf8.h"

enum {
    LEAST_WIDTH = 60, /* to which programs wrap ... */
    MOST_WIDTH = 100, /* a longer line was not wrapped */
    NARROWER = 8,     /* programs count the marks, or do not */
};

typedef struct quoted_line {
    const char *s; /* behind its marks */
    size_t n;      /* without blanks at its end */
    size_t depth;  /* of the quotation; 0: it is new */
    size_t marks;  /* bytes of them, with a blank behind */
} quoted_line;

typedef struct writer {
    builder *b;
    size_t width; /* of the longest quoted line that was wrapped */
    bool open;    /* a paragraph is */
    quoted_line last;
} writer;

/* "> ", ">> ", "> > ": more than the sign alone, which stands before other things too (">From", ">5 km"). */
static quoted_line read_line(const char *s, size_t n) {
    size_t depth = 0, i = 0;
    while (n && strchr(" \t\r", s[n - 1])) n--;
    for (; i < n && (s[i] == '>' || (depth && s[i] == ' ' && i + 1 < n && s[i + 1] == '>')); i++)
        depth += s[i] == '>';
    if (!depth || (i < n && s[i] != ' ')) return (quoted_line){s, n, 0, 0};
    i += i < n;
    return (quoted_line){s + i, n - i, depth, i};
}

/* The next line from *at on; false: there is none. */
static bool next_line(const char *s, size_t n, size_t *at, quoted_line *out) {
    if (*at >= n) return false;
    const char *newline = memchr(s + *at, '\n', n - *at);
    const size_t end = newline ? (size_t)(newline - s) : n;
    *out = read_line(s + *at, end - *at);
    *at = end + 1;
    return true;
}

static size_t quoted_width(const char *s, size_t n) {
    size_t width = LEAST_WIDTH, at = 0;
    for (quoted_line l; next_line(s, n, &at, &l);) {
        const size_t whole = l.marks + l.n;
        if (l.depth && whole <= MOST_WIDTH && whole > width) width = whole;
    }
    return width;
}

/* Does a long line break off in a sentence, "... tell me by", which goes on with a small letter? Who wrote it wrapped at another width than
 * the longest quotation has. */
static bool breaks_off(const quoted_line *before, const quoted_line *l) {
    enum { LONG = 40 };
    return before->n >= LONG && l->s[0] >= 'a' && l->s[0] <= 'z' &&
           (fo_is_letter(before->s[before->n - 1]) || fo_is_digit(before->s[before->n - 1]) ||
            before->s[before->n - 1] == ',');
}

/* Was the line before broken because the first word of l did not fit in it? */
static bool goes_on(const writer *w, const quoted_line *l) {
    size_t word = 0;
    int number;
    if (!w->open || !l->depth || l->depth != w->last.depth) return false;
    if (l->s[0] == ' ' || list_marker(l->s, l->n, 0, &number)) return false;
    if (breaks_off(&w->last, l)) return true;
    while (word < l->n && l->s[word] != ' ') word++;
    const size_t whole = w->last.marks + w->last.n;
    return whole <= MOST_WIDTH && whole + 1 + word + NARROWER >= w->width;
}

static void end_paragraph(writer *w) {
    if (w->open) builder_end(w->b);
    w->open = false;
}

static void add_line(writer *w, const quoted_line *l) {
    if (goes_on(w, l)) {
        builder_str(w->b, " ");
        builder_add(w->b, l->s, l->n);
        w->last = *l;
        return;
    }
    if (l->depth > (w->open ? w->last.depth : 0)) end_paragraph(w); /* "Ann wrote:" stands above */
    if (w->open)
        builder_str(w->b, "\n");
    else
        builder_begin(w->b, TEXT_PARAGRAPH, 0);
    builder_add(w->b, l->s - l->marks, l->n + l->marks);
    w->open = true;
    w->last = *l;
}

void mail_text_write(builder *b, const char *s, size_t n) {
    writer w = {.b = b, .width = quoted_width(s, n)};
    size_t at = 0;
    for (quoted_line l; builder_go_on(b, 0) && next_line(s, n, &at, &l);) {
        if (l.n)
            add_line(&w, &l);
        else
            end_paragraph(&w);
    }
    end_paragraph(&w);
}
