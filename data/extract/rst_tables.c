/* See rst_tables.h. */
#include "data/extract/rst_tables.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "kernels/utf8.h"

enum { MAX_COLUMNS = 64 };

char rst_rule_of(const text_line *l) {
    if (!l->n || l->blanks || !strchr("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", l->s[0])) return 0;
    for (size_t i = 1; i < l->n; i++)
        if (l->s[i] != l->s[0]) return 0;
    return l->s[0];
}

bool rst_is_option(const text_line *l) {
    size_t n = l->n - l->blanks;
    return n > 2 && l->s[l->blanks] == ':' && memchr(l->s + l->blanks + 1, ':', n - 1) != NULL;
}

/* ---- columns -------------------------------------------------------------------------------------- */

typedef struct grid {
    markup *m;
    size_t left;                   /* bytes of blanks before the table */
    size_t edges[MAX_COLUMNS + 1]; /* of its columns: characters from its left side */
    size_t n;                      /* columns */
    fo_buf cells[MAX_COLUMNS];     /* of the row at hand */
    uint32_t wide[MAX_COLUMNS];    /* columns that the cell goes over, 0: not known yet */
    uint32_t head_line;            /* the rule below the header; 0: there is none */
    bool covered
        [MAX_COLUMNS]; /* of a drawn one: a cell of a row above goes on, its words are known */
} grid;

/* Where the first n edges are in a line, in bytes: columns are as wide as the rules have it, in characters, and begin where
 * the table does, whatever blanks the line begins with. */
static void measure(const grid *g, const text_line *l, size_t n, size_t *at) {
    size_t byte = g->left < l->blanks ? g->left : l->blanks;
    for (size_t i = 0, chars = 0; i < n; i++) {
        for (; chars < g->edges[i] && byte < l->n; chars++) {
            byte++;
            while (byte < l->n && !fo_utf8_boundary(l->s[byte])) byte++;
        }
        at[i] = byte;
    }
}

static void add_words(grid *g, size_t column, const char *s, size_t n) {
    fo_buf *cell = &g->cells[column];
    while (n && *s == ' ') s++, n--;
    while (n && s[n - 1] == ' ') n--;
    if (n && cell->len) fo_buf_char(cell, ' ');
    fo_buf_add(cell, s, n);
}

static void add_cell(grid *g, size_t column, const char *s, size_t n) {
    const size_t before = g->cells[column].len;
    add_words(g, column, s, n);
    if (g->cells[column].len > before && !g->m->row_line) g->m->row_line = g->m->in.number;
}

static bool has_words(const grid *g) {
    for (size_t i = 0; i < g->n; i++)
        if (g->cells[i].len) return true;
    return false;
}

static void free_grid(grid *g) {
    for (size_t i = 0; i < MAX_COLUMNS; i++) {
        if (g->cells[i].failed) g->m->b->failure = FO_ENOMEM;
        fo_buf_free(&g->cells[i]);
    }
}

/* Behind an edge's sign. */
static size_t behind(const text_line *l, size_t at) {
    if (at < l->n) at++;
    while (at < l->n && !fo_utf8_boundary(l->s[at])) at++;
    return at;
}

/* ---- drawn tables --------------------------------------------------------------------------------- */

bool rst_is_grid(const text_line *l) {
    size_t n = l->n - l->blanks;
    return n > 4 && l->s[l->blanks] == '+' && l->s[l->n - 1] == '+' &&
           strspn(l->s + l->blanks, "+-=") >= n;
}

static bool is_drawn(const text_line *l) {
    return l->n > l->blanks && (l->s[l->blanks] == '|' || l->s[l->blanks] == '+');
}

/* Does the cell in this column end at the line, which is a rule there? */
static bool is_underlined(const text_line *l, const size_t *at, size_t column) {
    const size_t from = at[column], to = at[column + 1];
    if (to >= l->n || !strchr("+-=", l->s[from]) || !strchr("+-=", l->s[to])) return false;
    for (size_t i = from + 1; i < to; i++)
        if (l->s[i] != '-' && l->s[i] != '=') return false;
    return true;
}

static bool is_rule(const grid *g, const text_line *l, const size_t *at) {
    for (size_t i = 0; i < g->n; i++)
        if (is_underlined(l, at, i)) return true;
    return false;
}

/* An edge between those that are known; one right beside another is the same, not drawn well. */
static void add_edge(grid *g, size_t edge) {
    size_t i = 0;
    while (i <= g->n && g->edges[i] < edge) i++;
    if (i > g->n || g->n == MAX_COLUMNS || g->edges[i] - edge < 2 || edge - g->edges[i - 1] < 2)
        return;
    memmove(g->edges + i + 1, g->edges + i, (g->n + 1 - i) * sizeof *g->edges);
    g->edges[i] = edge;
    g->n++;
}

/* The edges at the ends of "+---+" within a line. */
static void add_edges(grid *g, const text_line *l) {
    size_t chars = 0, from = 0; /* from: behind the last '+', in characters */
    bool rule = false;          /* nothing but a rule since */
    for (size_t i = g->left < l->blanks ? g->left : l->blanks; i < l->n; i++) {
        if (!fo_utf8_boundary(l->s[i])) continue;
        if (l->s[i] == '+' && rule && chars > from) {
            add_edge(g, from - 1);
            add_edge(g, chars);
        }
        rule = l->s[i] == '+' || (rule && (l->s[i] == '-' || l->s[i] == '='));
        if (l->s[i] == '+') from = chars + 1;
        chars++;
    }
}

/* Columns are those of all rules: the top has none where its cells go over several. Then the rule below the header. */
static void find_shape(grid *g, const text_line *top) {
    text_lines ahead = g->m->in;
    size_t at[MAX_COLUMNS + 1];
    g->n = 1;
    g->edges[1] = top->n - g->left - 1;
    add_edges(g, top);
    for (text_line l; text_lines_next(&ahead, &l) && is_drawn(&l);) {
        add_edges(g, &l);
        measure(g, &l, g->n + 1, at);
        if (!g->head_line && is_underlined(&l, at, 0) && l.s[at[0] + 1] == '=')
            g->head_line = ahead.number;
    }
}

/* The cell goes on below a rule of other columns: its words to where it ends, and the rows that it goes over. */
static uint32_t take_rest(grid *g, size_t column, size_t wide, const text_line *rule) {
    text_lines ahead = g->m->in;
    text_line l = *rule;
    uint32_t rows = 1;
    do {
        size_t at[MAX_COLUMNS + 1];
        measure(g, &l, g->n + 1, at);
        if (is_underlined(&l, at, column)) break;
        rows += is_rule(g, &l, at);
        const size_t from = behind(&l, at[column]), to = at[column + wide];
        if (from < to) add_words(g, column, l.s + from, to - from);
    } while (builder_go_on(g->m->b, l.n + 1) && text_lines_next(&ahead, &l) && is_drawn(&l));
    return rows;
}

/* The row's cells that `rule` ends, and those that go on below it. NULL: the table ends without a rule. */
static void end_row(grid *g, const text_line *rule, bool header) {
    size_t at[MAX_COLUMNS + 1];
    if (rule) measure(g, rule, g->n + 1, at);
    for (size_t i = 0, wide; i < g->n; i += wide) {
        wide = 1;
        if (g->covered[i]) {
            markup_covered(g->m, (uint32_t)i);
            continue;
        }
        while (wide < g->wide[i] && !g->cells[i + wide].len && !g->covered[i + wide]) wide++;
        const bool on = rule && !is_underlined(rule, at, i);
        const uint32_t high = on ? take_rest(g, i, wide, rule) : 1;
        const fo_buf *cell = &g->cells[i];
        markup_cell_over(g->m, (uint32_t)i, (uint32_t)wide, high, cell->data ? cell->data : "",
                         cell->len);
    }
    markup_row_end(g->m, header);
    for (size_t i = 0; i < g->n; i++) {
        fo_buf_clear(&g->cells[i]);
        g->wide[i] = 0;
        g->covered[i] = rule && !is_underlined(rule, at, i);
    }
}

static void add_line(grid *g, const text_line *l, const size_t *at) {
    for (size_t i = 0; i < g->n; i++) {
        const size_t from = behind(l, at[i]);
        if (g->covered[i] || from > at[i + 1]) continue;
        size_t last = i + 1; /* no edge there: the cell goes over this column and the next */
        while (last < g->n && at[last] < l->n && !strchr("|+", l->s[at[last]])) last++;
        add_cell(g, i, l->s + from, at[last] - from);
        if (last - i > g->wide[i]) g->wide[i] = (uint32_t)(last - i);
        i = last - 1;
    }
}

void rst_read_grid(markup *m, const text_line *top) {
    grid g = {.m = m, .left = top->blanks};
    text_line l;
    markup_table(m);
    find_shape(&g, top);
    for (text_lines before = m->in; markup_next(m, &l); before = m->in) {
        size_t at[MAX_COLUMNS + 1];
        if (!is_drawn(&l)) {
            m->in = before;
            break;
        }
        measure(&g, &l, g.n + 1, at);
        if (is_rule(&g, &l, at))
            end_row(&g, &l, m->in.number <= g.head_line);
        else
            add_line(&g, &l, at);
    }
    if (has_words(&g)) end_row(&g, NULL, false);
    free_grid(&g);
}

/* ---- tables between rules ------------------------------------------------------------------------- */

bool rst_is_simple(const text_line *l) {
    size_t n = l->n - l->blanks;
    return n > 3 && l->s[l->blanks] == '=' && memchr(l->s + l->blanks, ' ', n) &&
           strspn(l->s + l->blanks, "= ") >= n;
}

static bool is_simple_rule(const text_line *l) {
    return rst_is_simple(l) || (l->n && rst_rule_of(l) == '=');
}

/* Dashes below cells, some of which go over several columns. */
static bool is_span_rule(const text_line *l) {
    return l->n && strspn(l->s + l->blanks, "- ") >= l->n - l->blanks;
}

static bool ends_simple(const text_lines *in) {
    text_line next;
    return !text_lines_peek(in, 0, &next) || !next.n;
}

/* Columns are those of the top; then the rule below the header, if the table goes on behind it. */
static void find_simple_shape(grid *g, const text_line *top) {
    for (size_t i = top->blanks; i < top->n && g->n < MAX_COLUMNS; i++)
        if (top->s[i] == '=' && (i == top->blanks || top->s[i - 1] == ' '))
            g->edges[g->n++] = i - top->blanks;
    text_lines ahead = g->m->in;
    for (text_line l; text_lines_next(&ahead, &l);)
        if (is_simple_rule(&l)) {
            if (!ends_simple(&ahead)) g->head_line = ahead.number;
            return;
        }
}

/* A sign that says that a row begins here whose first cell is empty. */
static bool is_placeholder(const fo_buf *cell) {
    return (cell->len == 1 && *cell->data == '\\') ||
           (cell->len == 2 && !memcmp(cell->data, "..", 2));
}

static void end_simple_row(grid *g) {
    if (!has_words(g)) return;
    if (is_placeholder(&g->cells[0])) fo_buf_clear(&g->cells[0]);
    for (size_t i = 0; i < g->n; i++) {
        if (g->cells[i].len)
            markup_cell_over(g->m, (uint32_t)i, g->wide[i], 1, g->cells[i].data, g->cells[i].len);
        fo_buf_clear(&g->cells[i]);
    }
    markup_row_end(g->m, g->m->in.number <= g->head_line);
}

/* Nothing in the first column: the row goes on. */
static bool goes_on(const grid *g, const text_line *l, size_t *at) {
    measure(g, l, g->n, at);
    at[g->n] = l->n; /* the last column is as wide as it likes */
    for (size_t i = at[0]; i < at[1]; i++)
        if (l->s[i] != ' ') return false;
    return true;
}

/* The cells of the row that begins: as wide as the parts of the rule right below it. */
static void find_spans(grid *g) {
    text_lines ahead = g->m->in;
    text_line l;
    size_t at[MAX_COLUMNS + 1];
    bool rule = false;
    while (!rule && text_lines_next(&ahead, &l) && l.n) {
        rule = is_span_rule(&l) || is_simple_rule(&l);
        if (!rule && !goes_on(g, &l, at)) break;
    }
    if (rule) measure(g, &l, g->n, at);
    for (size_t i = 0, wide; i < g->n; i += wide) {
        wide = 1;
        while (rule && i + wide < g->n && at[i + wide] < l.n && l.s[at[i + wide] - 1] != ' ')
            wide++;
        g->wide[i] = (uint32_t)wide;
        for (size_t k = 1; k < wide; k++) g->wide[i + k] = 1; /* no cell begins there */
    }
}

static void read_simple_line(grid *g, const text_line *l) {
    size_t at[MAX_COLUMNS + 1];
    if (!goes_on(g, l, at)) end_simple_row(g);
    if (!has_words(g)) find_spans(g);
    for (size_t i = 0; i < g->n; i += g->wide[i])
        if (at[i] < at[i + g->wide[i]]) add_cell(g, i, l->s + at[i], at[i + g->wide[i]] - at[i]);
}

void rst_read_simple(markup *m, const text_line *top) {
    grid g = {.m = m, .left = top->blanks};
    text_line l;
    markup_table(m);
    find_simple_shape(&g, top);
    while (markup_next(m, &l)) {
        if (is_simple_rule(&l)) {
            end_simple_row(&g);
            if (ends_simple(&m->in)) break;
        } else if (is_span_rule(&l)) {
            end_simple_row(&g);
        } else if (l.n) {
            read_simple_line(&g, &l);
        }
    }
    end_simple_row(&g);
    free_grid(&g);
}

/* ---- directives ----------------------------------------------------------------------------------- */

/* The next line of a body that is indented more than `indent`, empty ones included. */
static bool next_of_body(markup *m, size_t indent, text_line *l) {
    return text_lines_peek(&m->in, 0, l) && (!l->n || l->indent > indent) && markup_next(m, l);
}

/* The value of ":name: value"; NULL: it is another option. */
static const char *option_value(const text_line *l, const char *name, size_t *n) {
    const char *s = l->s + l->blanks, *end = l->s + l->n;
    const size_t k = strlen(name);
    if ((size_t)(end - s) < k || memcmp(s, name, k) != 0) return NULL;
    for (s += k; s < end && *s == ' ';) s++;
    *n = (size_t)(end - s);
    return s;
}

static void read_header_rows(const text_line *l, long *rows) {
    size_t n;
    const char *value = option_value(l, ":header-rows:", &n);
    if (value && n == 1 && fo_is_digit(*value)) *rows = *value - '0';
}

/* A field in quotes or up to the next separator; returns where the next one begins. */
static size_t csv_field(const char *s, size_t n, size_t at, char separator, fo_buf *out) {
    fo_buf_clear(out);
    while (at < n && s[at] == ' ') at++;
    bool quoted = at < n && s[at] == '"';
    at += quoted;
    for (; at < n; at++) {
        if (quoted && s[at] == '"') {
            if (at + 1 < n && s[at + 1] == '"')
                at++;
            else {
                quoted = false;
                continue;
            }
        } else if (!quoted && s[at] == separator) {
            break;
        }
        fo_buf_char(out, s[at]);
    }
    return at + 1;
}

static void csv_row(markup *m, const char *s, size_t n, char separator, bool header) {
    fo_buf field = {0};
    uint32_t column = 0;
    for (size_t at = 0; at < n; column++) {
        at = csv_field(s, n, at, separator, &field);
        markup_cell(m, column, field.data ? field.data : "", field.len);
    }
    if (field.failed) m->b->failure = FO_ENOMEM;
    fo_buf_free(&field);
    markup_row_end(m, header);
}

/* ":delim: ;", or the name of what is not to be seen. */
static char separator_of(const char *s, size_t n) {
    if (n == 3 && !strncasecmp(s, "tab", n)) return '\t';
    if (n == 5 && !strncasecmp(s, "space", n)) return ' ';
    return n == 1 ? *s : ',';
}

/* Of names above the rows: docutils parts them by commas, its manual by what parts the rows. */
static char header_separator(const char *s, size_t n, char separator) {
    bool quoted = false;
    for (size_t i = 0; i < n; i++) {
        quoted ^= s[i] == '"';
        if (s[i] == ',' && !quoted) return ',';
    }
    return separator;
}

void rst_read_csv_table(markup *m, size_t indent) {
    text_line l;
    long header_rows = 0;
    char separator = ',';
    const char *header = NULL;
    size_t n_header = 0, n, left = SIZE_MAX;
    markup_table(m);
    while (text_lines_peek(&m->in, 0, &l) && l.n && l.indent > indent && rst_is_option(&l)) {
        markup_next(m, &l);
        const char *value = option_value(&l, ":delim:", &n);
        if (value) separator = separator_of(value, n);
        value = option_value(&l, ":header:", &n);
        if (value) {
            header = value, n_header = n;
            m->row_line = m->in.number;
        }
        read_header_rows(&l, &header_rows);
    }
    if (header) csv_row(m, header, n_header, header_separator(header, n_header, separator), true);
    while (next_of_body(m, indent, &l)) {
        if (!l.n) continue;
        if (l.blanks < left) left = l.blanks; /* a tab behind that is an empty field */
        csv_row(m, l.s + left, l.n - left, separator, header_rows-- > 0);
    }
}

/* "* - cell": where the mark of a row's first cell is behind the row's own; 0: no row begins. */
static size_t first_mark(const char *s, size_t n) {
    size_t at = 1;
    if (n < 3 || !strchr("*+-", *s) || s[1] != ' ') return 0;
    while (at < n && s[at] == ' ') at++;
    return at < n && strchr("*+-", s[at]) && (at + 1 == n || s[at + 1] == ' ') ? at : 0;
}

typedef struct list_table {
    markup *m;
    fo_buf cell;
    uint32_t column;
    size_t row_indent, cell_indent; /* of the marks of rows, and of the cells of the row at hand */
    bool row;                       /* one has begun */
    long header_rows;
} list_table;

static void end_list_row(list_table *t) {
    if (!t->row) return;
    markup_cell(t->m, t->column, t->cell.data ? t->cell.data : "", t->cell.len);
    markup_row_end(t->m, t->header_rows-- > 0);
    fo_buf_clear(&t->cell);
    t->column = 0;
}

/* Marks further in than those of the row's cells are of a list in a cell. */
static void read_list_line(list_table *t, const text_line *l) {
    const char *s = l->s + l->blanks;
    size_t n = l->n - l->blanks, skip = 0;
    const size_t mark = !t->row || l->indent <= t->row_indent ? first_mark(s, n) : 0;
    if (mark) {
        end_list_row(t);
        t->row = true;
        t->row_indent = l->indent;
        t->cell_indent = l->indent + mark;
        t->m->row_line = t->m->in.number;
        skip = mark + 1;
    } else if (t->row && n && l->indent <= t->cell_indent && strchr("*+-", *s) &&
               (n == 1 || s[1] == ' ')) {
        markup_cell(t->m, t->column++, t->cell.data ? t->cell.data : "", t->cell.len);
        fo_buf_clear(&t->cell);
        skip = 1;
    }
    if (!t->row || n <= skip) return;
    if (t->cell.len) fo_buf_char(&t->cell, ' ');
    fo_buf_add(&t->cell, s + skip, n - skip);
}

void rst_read_list_table(markup *m, size_t indent) {
    list_table t = {.m = m};
    markup_table(m);
    for (text_line l; next_of_body(m, indent, &l);) {
        if (!t.row && rst_is_option(&l))
            read_header_rows(&l, &t.header_rows);
        else
            read_list_line(&t, &l);
    }
    end_list_row(&t);
    if (t.cell.failed) m->b->failure = FO_ENOMEM;
    fo_buf_free(&t.cell);
}
