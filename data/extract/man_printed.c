#include "data/extract/man_printed.h"

#include <string.h>

#include "data/extract/list_marker.h"
#include "data/extract/text_lines.h"
#include "kernels/utf8.h"

enum {
    TAB = 8,
    SLACK = 3,          /* columns that a line may leave free though the next word had fit */
    HEADING_BYTES = 78, /* a longer line in the first column says something */
    TERM_BYTES = 160,
    TERM_COLUMNS = 7,    /* from a term to what is said of it: groff's own */
    BESIDE_COLUMNS = 40, /* a term that has its text beside it is no longer */
};

typedef struct page {
    builder *b;
    text_lines lines;
    size_t width; /* columns of its lines */
    size_t body;  /* column where a section's text begins; 0: none has been seen */
    size_t said;  /* column of what is said of the open term; 0: none is open */
    bool first;   /* in the first section, which names the page */
} page;

/* ---- lines ------------------------------------------------------------------------------------ */

/* Bytes of the hyphen that ends s where a word was parted; 0: there is none. */
static size_t hyphen_at_end(const char *s, size_t n) {
    static const char soft[] = "\xE2\x80\x90"; /* groff's, where it parts a word */
    return n > 3 && memcmp(s + n - 3, soft, 3) == 0 ? 3 : 0;
}

/* The column behind the first n bytes of a line. */
static size_t columns_of(const char *s, size_t n) {
    size_t column = 0;
    for (size_t i = 0; i < n; i++)
        if (s[i] == '\t')
            column = (column / TAB + 1) * TAB;
        else
            column += fo_utf8_boundary(s[i]);
    return column;
}

/* The first gap of two columns or more behind a line's first word: *column, where the text behind it begins. Bytes of the line up
 * to there; 0: there is none. */
static size_t behind_gap(const text_line *l, size_t *column) {
    for (size_t i = l->blanks; i < l->n; i++) {
        size_t k = i;
        while (k < l->n && fo_is_blank(l->s[k])) k++;
        if (k == i) continue;
        *column = columns_of(l->s, k);
        if (*column >= columns_of(l->s, i) + 2) return k;
        i = k;
    }
    return 0;
}

/* A line of a page's head or foot: "LS(1)      User Commands      LS(1)". */
static bool is_margin(const text_line *l) {
    enum { WIDE = 3 };
    size_t column, k = l->indent ? 0 : behind_gap(l, &column), from = k;
    while (from && fo_is_blank(l->s[from - 1])) from--;
    return k && column >= columns_of(l->s, from) + WIDE;
}

/* Bytes of "ls(1)", "open(3posix)" at s; 0: there is no such thing. */
static size_t page_name(const char *s, size_t n) {
    size_t i = 0;
    while (i < n && !fo_is_blank(s[i]) && s[i] != '(') i++;
    if (i == 0 || i + 2 >= n || s[i] != '(' || !(fo_is_digit(s[i + 1]) || s[i + 1] == 'n'))
        return 0;
    for (i += 2; i < n && (fo_is_letter(s[i]) || fo_is_digit(s[i]));) i++;
    return i < n && s[i] == ')' ? i + 1 : 0;
}

/* The page's name at both ends of the line. */
static bool is_head(const text_line *l) {
    const size_t k = page_name(l->s, l->n);
    return k && l->n > 2 * k && memcmp(l->s, l->s + l->n - k, k) == 0 && is_margin(l);
}

static bool next_inked(text_lines *t, text_line *out) {
    bool any;
    while ((any = text_lines_next(t, out)) && !out->n) continue;
    return any;
}

bool man_printed_is(const char *s, size_t n) {
    text_lines lines = {.s = s, .n = n};
    text_line head, section, text;
    return next_inked(&lines, &head) && is_head(&head) && next_inked(&lines, &section) &&
           !section.indent && section.n <= HEADING_BYTES && !is_margin(&section) &&
           text_lines_next(&lines, &text) && text.n && text.indent >= 3;
}

/* ---- text ------------------------------------------------------------------------------------- */

/* Words of a line go on in the open block: one that was parted is whole again. */
static void add_words(page *p, const char *s, size_t n) {
    builder *b = p->b;
    const bool begun = b->open && b->text.len > b->start && b->text.data[b->text.len - 1] != '\n';
    const size_t cut = begun ? hyphen_at_end(b->text.data + b->start, b->text.len - b->start) : 0;
    const bool small = n && s[0] >= 'a' && s[0] <= 'z';
    const char last = begun ? b->text.data[b->text.len - 1] : 0;
    const char before = begun && b->text.len > b->start + 1 ? b->text.data[b->text.len - 2] : ' ';
    if (cut && small) {
        b->text.len -= cut;
        doc_budget_give(b->budget, cut);
    } else if (begun && !(last == '-' && n && fo_is_letter(s[0]) && fo_is_of_word(before))) {
        builder_str(b, " ");
    }
    builder_add_flowing(b, s, n);
}

/* A line as it stands, with what it is indented by beyond `indent` columns. */
static void add_line(page *p, const text_line *l, size_t indent) {
    for (size_t i = indent; i < l->indent; i++) builder_str(p->b, " ");
    for (size_t i = l->blanks, column = l->indent; i < l->n; i++) {
        const size_t next = l->s[i] == '\t' ? (column / TAB + 1) * TAB : column + 1;
        if (l->s[i] == '\t')
            for (size_t k = column; k < next; k++) builder_str(p->b, " ");
        else
            builder_add(p->b, l->s + i, 1);
        column = fo_utf8_boundary(l->s[i]) ? next : column;
    }
    builder_str(p->b, "\n");
}

static size_t first_word(const text_line *l) {
    size_t k = l->blanks;
    while (k < l->n && !fo_is_blank(l->s[k])) k++;
    return columns_of(l->s, k) - l->indent;
}

/* Do the lines of a paragraph that begins with l, the others behind it, break where no word fits any more? */
static bool flows(const page *p, const text_line *l, size_t column) {
    text_lines ahead = p->lines;
    text_line above = *l, below;
    for (; text_lines_next(&ahead, &below) && below.n && below.indent == column; above = below)
        if (columns_of(above.s, above.n) + 1 + first_word(&below) + SLACK <= p->width) return false;
    return true;
}

/* The next line, where it goes on with what stands in that column. */
static bool go_on(page *p, text_line *l, size_t column) {
    text_line next;
    if (!text_lines_peek(&p->lines, 0, &next) || !next.n || next.indent != column) return false;
    text_lines_next(&p->lines, l);
    return builder_go_on(p->b, l->n);
}

/* The paragraph of l from byte `from` on and of the lines behind it that begin in that column, to the open block. */
static void add_paragraph(page *p, text_line l, size_t from, size_t column) {
    const bool flowing = flows(p, &l, column);
    add_words(p, l.s + from, l.n - from);
    while (go_on(p, &l, column)) {
        if (!flowing) builder_str(p->b, "\n");
        add_words(p, l.s + l.blanks, l.n - l.blanks);
    }
}

/* ---- terms ------------------------------------------------------------------------------------ */

static bool begins_option(const text_line *l) {
    const char *s = l->s + l->blanks;
    return l->n > l->blanks + 1 && (s[0] == '-' || s[0] == '+') && !fo_is_blank(s[1]);
}

/* Bytes up to the text behind an option that is as wide as terms are, "--help Output a usage message"; 0: it has none. */
static size_t behind_full_option(const text_line *l, size_t *column) {
    const size_t end = l->blanks + TERM_COLUMNS - 1;
    *column = l->indent + TERM_COLUMNS;
    if (!begins_option(l) || end + 1 >= l->n || l->s[end] != ' ' || fo_is_blank(l->s[end + 1]))
        return 0;
    for (size_t i = l->blanks; i < end; i++)
        if (fo_is_blank(l->s[i]) || strchr(".:;,", l->s[i])) return 0;
    return fo_is_upper(l->s[end + 1]) ? end + 1 : 0;
}

/* Is the term that ends at byte `end` a sign before an item of a list, a bullet or "1."? */
static bool is_mark(const text_line *l, size_t end) {
    const char *s = l->s + l->blanks;
    const size_t n = end - l->blanks;
    if (n == 1 && strchr("-*o", s[0])) return true;
    if (list_bullet(s, l->n - l->blanks) == n) return true;
    return n < 5 && fo_is_digit(s[0]) && (s[n - 1] == '.' || s[n - 1] == ')');
}

/* Has the line further columns behind byte `from`, as a table's rows have? Justified text has gaps, too, and narrower ones. */
static bool has_cells(const text_line *l, size_t from) {
    enum { WIDE = 4 };
    for (size_t i = from, blanks = 0; i < l->n; i++) {
        blanks = fo_is_blank(l->s[i]) ? blanks + 1 : 0;
        if (blanks == WIDE || l->s[i] == '\t') return true;
    }
    return false;
}

/* Bytes up to the text beside the term that l begins with: "-a     do not ignore entries"; 0: it is none. *column: of that text,
 * where the lines below it go on, or the terms below have theirs. */
static size_t term_beside(const page *p, const text_line *l, size_t *column) {
    size_t from = behind_full_option(l, column), end, column_below;
    text_line below;
    if (!from) from = behind_gap(l, column);
    for (end = from; end && fo_is_blank(l->s[end - 1]);) end--;
    if (!from || *column > l->indent + BESIDE_COLUMNS ||
        (strchr(".:;,", l->s[end - 1]) && !is_mark(l, end)))
        return 0;
    const bool far = *column == l->indent + TERM_COLUMNS || *column == p->said;
    const bool any = text_lines_peek(&p->lines, 0, &below) && below.n;
    if (any && below.indent == *column) return from;
    if (has_cells(l, from)) return 0;
    if (!any || below.indent < l->indent) return far || begins_option(l) ? from : 0;
    if (below.indent != l->indent) return 0;
    const bool alike = *column <= l->indent + TERM_COLUMNS && behind_gap(&below, &column_below) &&
                       column_below == *column;
    return begins_option(l) || alike ? from : 0;
}

/* May the line be a term whose text stands below it, further in? */
static bool is_term(const text_line *l) {
    const size_t n = l->n - l->blanks;
    return n <= TERM_BYTES && (begins_option(l) || !strchr(".:;,!?\\", l->s[l->n - 1]));
}

/* Names of an option on lines of their own, l the first: how many more stand below it; the text of all is further in. */
static bool is_term_above(const page *p, const text_line *l, size_t *more) {
    text_lines ahead = p->lines;
    text_line below;
    bool any;
    *more = 0;
    if (!is_term(l)) return false;
    while ((any = text_lines_next(&ahead, &below)) && below.n && below.indent == l->indent) {
        if (!begins_option(l) || !begins_option(&below) || behind_gap(&below, &(size_t){0}))
            return false;
        ++*more;
    }
    return any && below.n && below.indent > l->indent + 1;
}

static void add_term(page *p, const text_line *l, size_t n) {
    builder_add_flowing(p->b, l->s + l->blanks, n - l->blanks);
    builder_str(p->b, "\n");
}

/* Terms with what is said of them; false: l is none. */
static bool read_term(page *p, text_line l) {
    size_t column = 0, more = 0, beside = term_beside(p, &l, &column);
    if (!beside && !is_term_above(p, &l, &more)) return false;
    builder_begin(p->b, TEXT_LIST_ITEM, 0);
    size_t end = beside;
    while (end && fo_is_blank(l.s[end - 1])) end--;
    if (beside && is_mark(&l, end)) {
        const bool number = fo_is_digit(l.s[l.blanks]);
        builder_add(p->b, number ? l.s + l.blanks : "-", number ? end - l.blanks : 1);
    } else {
        add_term(p, &l, beside ? end : l.n);
    }
    for (; more && text_lines_next(&p->lines, &l); more--) add_term(p, &l, l.n);
    if (!beside && text_lines_next(&p->lines, &l)) {
        beside = l.blanks;
        column = l.indent;
    }
    p->said = column;
    add_paragraph(p, l, beside, column);
    return true;
}

/* ---- the page --------------------------------------------------------------------------------- */

static void read_heading(page *p, const text_line *l, uint8_t level) {
    p->said = 0;
    builder_end(p->b);
    p->first = p->b->n_blocks == 0;
    builder_begin(p->b, TEXT_HEADING, level);
    builder_add_flowing(p->b, l->s + l->blanks, l->n - l->blanks);
    builder_end(p->b);
}

/* Lines that stand as they are, an example or a table, up to a blank one or one that stands further out. */
static void read_example(page *p, text_line l) {
    const size_t indent = l.indent;
    text_line next;
    builder_begin(p->b, TEXT_CODE, 0);
    add_line(p, &l, indent);
    while (text_lines_peek(&p->lines, 0, &next) && next.n && next.indent >= indent &&
           text_lines_next(&p->lines, &l) && builder_go_on(p->b, l.n))
        add_line(p, &l, indent);
    builder_end(p->b);
}

static void read_text(page *p, const text_line *l) {
    builder *b = p->b;
    if (!p->body) p->body = l->indent;
    if (p->said == l->indent && b->open && !begins_option(l)) { /* more of what is said of a term */
        builder_str(b, "\n");
        add_paragraph(p, *l, l->blanks, l->indent);
        return;
    }
    if (read_term(p, *l)) return;
    p->said = 0;
    if (l->s[l->n - 1] == '\\' || !flows(p, l, l->indent)) { /* a command that goes on? */
        read_example(p, *l);
        return;
    }
    builder_begin(b, TEXT_PARAGRAPH, 0);
    add_paragraph(p, *l, l->blanks, l->indent);
    if (p->first) builder_set_title(b, b->text.data + b->start, b->text.len - b->start);
    p->first = false;
    builder_end(b);
}

void man_printed_read(builder *b, const char *s, size_t n) {
    page p = {.b = b, .lines = {.s = s, .n = n}};
    text_line l;
    while (text_lines_next(&p.lines, &l) && builder_go_on(b, l.n)) {
        if (!p.width && l.n) p.width = columns_of(l.s, l.n);
        if (!l.n || is_margin(&l)) continue;
        if (l.indent == 0 && l.n <= HEADING_BYTES)
            read_heading(&p, &l, 1);
        else if (l.indent && l.indent < p.body && l.n <= HEADING_BYTES)
            read_heading(&p, &l, 2);
        else
            read_text(&p, &l);
    }
    builder_end(b);
}
