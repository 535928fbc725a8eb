/* Manual pages in man(7) and mdoc(7), as text: what a reader would see, without troff.
 *
 * roff is a programming language; this reads the part that pages use: requests that shape text
 * are obeyed, definitions and conditions are skipped (a condition holds if it asks for a
 * terminal, "n"), fonts and motions vanish, special characters become Unicode.
 * Sources: man(7), mdoc(7), groff_char(7), roff(7). */
#include <stdio.h>
#include <string.h>

#include "data/extract/extract_internal.h"
#include "data/extract/man_lines.h"
#include "data/extract/mdoc_phrases.h"
#include "data/extract/roff.h"
#include "kernels/utf8.h"

enum {
    MAX_NAME = 256, /* bytes of .Nm's: each .Nm writes it anew */
    MAX_LISTS = 32, /* within each other; deeper ones are like the last */
};

/* A list of mdoc, .Bl to .El. */
typedef struct mdoc_list {
    enum { LIST_PLAIN, LIST_TAGGED, LIST_NUMBERED, LIST_COLUMNS } kind;
    int n_items;
} mdoc_list;

typedef struct reader {
    builder *b;
    const char *text;
    size_t n, at;
    fo_buf line;          /* the logical line at hand, continued lines joined */
    fo_buf out;           /* escapes of it resolved */
    fo_buf name;          /* of the page: .Nm without an argument */
    roff_strings strings; /* that the page defines */
    size_t pieces;        /* of text that the open block has */
    bool no_fill, joined; /* joined: \c, the next text follows without a space */
    bool tag_next;        /* the next line is the tag of a .TP */
    bool heading_next;    /* .SH without argument: the next line is it */
    bool in_name, else_holds;
    mdoc_list lists[MAX_LISTS]; /* from 1: those that are open */
    size_t n_lists;             /* of them, those beyond MAX_LISTS too */
} reader;

/* ---- lines ------------------------------------------------------------------------------- */

/* Next line without its end; one that ends in an odd number of backslashes goes on. */
static bool read_line(reader *r) {
    if (r->at >= r->n) return false;
    fo_buf_clear(&r->line);
    while (r->at < r->n) {
        const char *s = r->text + r->at;
        const char *newline = memchr(s, '\n', r->n - r->at);
        size_t len = newline ? (size_t)(newline - s) : r->n - r->at;
        r->at += len + (newline != NULL);
        if (!builder_go_on(r->b, len)) return false;
        size_t slashes = 0;
        while (slashes < len && s[len - 1 - slashes] == '\\') slashes++;
        bool more = slashes % 2 == 1;
        fo_buf_add(&r->line, s, len - more);
        if (!more) break;
    }
    fo_buf_reserve(&r->line, 1);
    if (r->line.failed) {
        r->b->failure = FO_ENOMEM;
        return false;
    }
    r->line.data[r->line.len] = 0;
    return r->b->failure == FO_OK;
}

/* ---- text -------------------------------------------------------------------------------- */

static void remember_name(reader *r) {
    builder *b = r->b;
    if (!r->in_name || builder_block_empty(b)) return;
    builder_set_title(b, b->text.data + b->start, b->text.len - b->start);
    r->in_name = false;
}

static void end_block(reader *r) {
    remember_name(r);
    builder_end(r->b);
    r->joined = false;
    r->pieces = 0;
}

static void begin_block(reader *r, uint8_t kind, uint8_t level) {
    end_block(r);
    builder_begin(r->b, kind, level);
}

static void add_resolved(reader *r, bool space) {
    builder *b = r->b;
    if (r->no_fill) {
        if (b->open && b->kind != TEXT_CODE) builder_end(b);
        if (!b->open) builder_begin(b, TEXT_CODE, 0);
        builder_add(b, r->out.data, r->out.len);
        builder_str(b, "\n");
        return;
    }
    if (b->open && space && !r->joined && b->text.len > b->start) builder_add_flowing(b, " ", 1);
    builder_add_flowing(b, r->out.data, r->out.len);
}

static void resolve(reader *r, const char *s, bool *joined) {
    fo_buf_clear(&r->out);
    fo_buf_reserve(&r->out, 1);
    *joined = roff_resolve(&r->out, s, strlen(s), &r->strings);
    if (r->out.failed || !r->out.data) {
        r->b->failure = FO_ENOMEM;
        return;
    }
    r->out.data[r->out.len] = 0;
}

static void add_text(reader *r, const char *s) {
    bool joined;
    resolve(r, s, &joined);
    if (r->b->failure) return;
    add_resolved(r, true);
    r->joined = joined;
    r->pieces++;
}

/* Text of a macro's arguments: one string, then as if it were a line. */
static void add_args(reader *r, const man_arguments *a, size_t from, const char *between) {
    fo_buf whole = {0};
    for (size_t i = from; i < a->n; i++) {
        if (i > from) fo_buf_str(&whole, between);
        fo_buf_str(&whole, a->at[i]);
    }
    if (whole.failed) r->b->failure = FO_ENOMEM;
    if (whole.len) add_text(r, whole.data);
    fo_buf_free(&whole);
}

static void heading(reader *r, const man_arguments *a, uint8_t level) {
    r->no_fill = false;
    begin_block(r, TEXT_HEADING, level);
    add_args(r, a, 1, " ");
    builder *b = r->b;
    r->in_name = !builder_block_empty(b) && b->text.len - b->start == 4 &&
                 memcmp(b->text.data + b->start, "NAME", 4) == 0;
    bool in_name = r->in_name;
    r->in_name = false;
    end_block(r);
    r->in_name = in_name;
}

static void tag_done(reader *r) {
    if (r->b->open) builder_str(r->b, "\n");
    r->tag_next = false;
    r->joined = false;
}

/* A paragraph of one line, no sentence, and what comes stands farther in: what programs that write manual pages make of a term and
 * its description. The description goes on in its block, as behind .TP. */
static bool is_term(const reader *r) {
    enum { LONGEST = 160 };
    const builder *b = r->b;
    const size_t n = b->open ? b->text.len - b->start : 0;
    return n && n <= LONGEST && r->pieces == 1 && b->kind == TEXT_PARAGRAPH && !r->no_fill &&
           !strchr(".:;,!?", b->text.data[b->text.len - 1]);
}

static bool is(const char *a, const char *b) {
    return strcmp(a, b) == 0;
}

static bool among(const char *name, const char *list) {
    size_t n = strlen(name);
    for (const char *p = list; *p;) {
        size_t k = strcspn(p, " ");
        if (k == n && memcmp(p, name, n) == 0) return true;
        p += k + (p[k] == ' ');
    }
    return false;
}

/* ---- what is skipped --------------------------------------------------------------------- */

/* Past the body of .de, .am, .ig: up to ".." (or the end mark given). */
static void skip_definition(reader *r, const char *mark) {
    char end[32];
    snprintf(end, sizeof end, ".%s", mark && *mark ? mark : ".");
    while (read_line(r))
        if (strncmp(r->line.data, end, strlen(end)) == 0) return;
}

static void skip_braces(reader *r, long depth) {
    while (depth > 0 && read_line(r)) depth += man_braces(r->line.data);
}

/* .if, .ie, .el: what of `rest` is to be read; NULL: nothing, and a body in braces is passed. */
static char *condition(reader *r, char *rest, bool is_else, bool remember) {
    bool holds;
    while (*rest == ' ' || *rest == '\t') rest++;
    if (is_else) {
        holds = r->else_holds;
    } else {
        bool negated = *rest == '!';
        rest += negated;
        holds = *rest == 'n' && (rest[1] == ' ' || rest[1] == '\\' || !rest[1]);
        if (*rest == '\'' || *rest == '"') { /* 'a'b' may hold blanks */
            char quote = *rest++;
            for (int i = 0; i < 2 && *rest; rest++) i += *rest == quote;
        } else if (*rest == '(') {
            int depth = 0;
            do depth += (*rest == '(') - (*rest == ')');
            while (*rest++ && depth > 0 && *rest);
        }
        while (*rest && *rest != ' ' && *rest != '\\') rest++;
        if (rest[0] == '\\' && rest[1] == 'n') /* a register: its value is not known here */
            while (*rest && *rest != ' ') rest++;
        holds = holds != negated;
        if (remember) r->else_holds = !holds;
    }
    while (*rest == ' ' || *rest == '\t') rest++;
    if (!holds) {
        skip_braces(r, man_braces(rest));
        return NULL;
    }
    if (rest[0] == '\\' && rest[1] == '{') rest += 2;
    while (*rest == ' ' || *rest == '\t') rest++;
    return *rest ? rest : NULL;
}

/* ---- tables ------------------------------------------------------------------------------ */

/* The first row of a table stands apart from one that ends right before it. */
static void table_row(reader *r, char *s, char tab, bool first) {
    if (first)
        builder_go_on_with(r->b, TEXT_TABLE_ROW, 0, "\n\n");
    else
        builder_begin(r->b, TEXT_TABLE_ROW, 0);
    while (s) {
        char *next = strchr(s, tab);
        if (next) *next++ = 0;
        builder_cell(r->b);
        bool joined;
        resolve(r, strcmp(s, "T{") == 0 || strcmp(s, "\\_") == 0 ? "" : s, &joined);
        if (r->b->failure) return;
        builder_add_flowing(r->b, r->out.data, r->out.len);
        s = next;
    }
}

static void table(reader *r) {
    end_block(r);
    char tab = '\t';
    size_t n_cells = 0;
    bool in_format = true, in_cell = false, has_rows = false;
    for (bool first = true; read_line(r); first = false) {
        char *s = r->line.data;
        size_t n = r->line.len;
        if (strncmp(s, ".TE", 3) == 0) break;
        if (strncmp(s, ".T&", 3) == 0) {
            in_format = true;
            continue;
        }
        if (in_format) {
            if (first && n && s[n - 1] == ';') {
                char *option = strstr(s, "tab(");
                if (option && option[4] > 0) tab = option[4];
            } else if (memchr(s, '.', n)) {
                in_format = false;
            }
            continue;
        }
        if (in_cell) {
            if (s[0] == 'T' && s[1] == '}') {
                in_cell = false;
                if (!s[2]) continue;
                builder_cell(r->b);
                s += 3;
                in_cell = strcmp(s, "T{") == 0;
                if (!in_cell) add_text(r, s);
            } else if (s[0] != '.' && s[0] != '\'') {
                add_text(r, s);
            }
            continue;
        }
        if (s[0] == '.' || s[0] == '\'' || is(s, "_") || is(s, "=")) continue;
        in_cell = n >= 2 && s[n - 1] == '{' && s[n - 2] == 'T';
        char *rest = in_cell ? NULL : man_rest_of_row(s, tab, n_cells);
        if (rest) {
            add_text(r, rest);
            continue;
        }
        n_cells = man_cells_of(s, tab);
        if (in_cell) s[n - 2] = 0;
        table_row(r, s, tab, !has_rows);
        has_rows = true;
    }
    end_block(r);
}

/* ---- man --------------------------------------------------------------------------------- */

static void font_line(reader *r, const man_arguments *a, const char *between) {
    if (a->n > 1) add_args(r, a, 1, between);
    if (r->tag_next && a->n > 1) tag_done(r);
}

/* The sign of an item: "*", "o". Of "0" and "1" the item is what a number means, an exit status, say. */
static bool is_bullet(const char *s, size_t n) {
    return n == 1 ? !fo_is_digit(*s) : fo_utf8_count(s, n) == 1;
}

/* "- -e / --exit-status:": an item that is an option's name alone, with a colon, as pages made from Markdown have them. What comes is
 * said of the option: it becomes a term. */
static bool opens_option(reader *r) {
    enum { LONGEST = 100 };
    builder *b = r->b;
    if (!b->open || b->kind != TEXT_LIST_ITEM) return false;
    char *s = b->text.data + b->start;
    const size_t n = b->text.len - b->start;
    if (n < 5 || n > LONGEST || memcmp(s, "- -", 3) != 0 || s[3] == ' ' || s[n - 1] != ':' ||
        memchr(s, '\n', n))
        return false;
    memmove(s, s + 2, n - 3);
    b->text.len -= 3;
    builder_str(b, "\n");
    r->joined = false;
    return true;
}

static bool man_macro(reader *r, const man_arguments *a) {
    const char *name = a->at[0];
    builder *b = r->b;
    if (is(name, "TH") || is(name, "IX")) return true;
    if (is(name, "SH") || is(name, "SS")) {
        r->heading_next = a->n < 2;
        if (a->n > 1) heading(r, a, name[1] == 'H' ? 1 : 2);
    } else if (is(name, "RS") && is_term(r)) {
        b->kind = TEXT_LIST_ITEM;
        tag_done(r);
    } else if (among(name, "PP P LP HP sp Sp RS RE SY YS")) {
        end_block(r);
        if (is(name, "SY")) add_args(r, a, 1, " ");
    } else if (is(name, "br")) {
        if (!r->no_fill && !builder_block_empty(b)) builder_str(b, "\n");
    } else if (is(name, "TP")) {
        begin_block(r, TEXT_LIST_ITEM, 0);
        r->tag_next = true;
    } else if (is(name, "TQ")) {
        r->tag_next = true;
    } else if (is(name, "IP")) {
        const bool tagged = a->n > 1 && a->at[1][0];
        if (!tagged && opens_option(r)) return true;
        begin_block(r, TEXT_LIST_ITEM, 0);
        if (tagged) {
            bool joined;
            resolve(r, a->at[1], &joined);
            if (b->failure) return true;
            const bool bullet = is_bullet(r->out.data, r->out.len);
            builder_add_flowing(b, bullet ? "-" : r->out.data, bullet ? 1 : r->out.len);
            builder_str(b, bullet ? " " : "\n");
        }
    } else if (among(name, "B I SM SB R")) {
        font_line(r, a, " ");
    } else if (among(name, "BR BI IB IR RB RI")) {
        font_line(r, a, "");
    } else if (among(name, "nf EX Vb")) {
        end_block(r);
        r->no_fill = true;
    } else if (among(name, "fi EE Ve")) {
        r->no_fill = false;
        end_block(r);
    } else if (among(name, "UR MT")) {
        font_line(r, a, " ");
    } else if (is(name, "OP")) {
        add_text(r, "[");
        r->joined = true;
        add_args(r, a, 1, " ");
        r->joined = true;
        add_text(r, "]");
    } else if (is(name, "TS")) {
        table(r);
    } else {
        return false;
    }
    return true;
}

/* ---- mdoc -------------------------------------------------------------------------------- */

static const struct inline_macro {
    const char *name, *before, *after; /* around each word (flags) or around all (quotes) */
    bool each;
} inline_macros[] = {
    {"Ad", "", "", true},    {"An", "", "", true},      {"Ar", "", "", true},
    {"Cd", "", "", true},    {"Cm", "", "", true},      {"Dv", "", "", true},
    {"Em", "", "", true},    {"Er", "", "", true},      {"Ev", "", "", true},
    {"Fa", "", "", true},    {"Fd", "", "", true},      {"Fl", "-", "", true},
    {"Ft", "", "", true},    {"Ic", "", "", true},      {"In", "#include <", ">", true},
    {"Li", "", "", true},    {"Lk", "", "", true},      {"Ms", "", "", true},
    {"Mt", "", "", true},    {"No", "", "", true},      {"Pa", "", "", true},
    {"St", "", "", true},    {"Sx", "", "", true},      {"Sy", "", "", true},
    {"Tn", "", "", true},    {"Va", "", "", true},      {"Vt", "", "", true},
    {"Op", "[", "]", false}, {"Dq", "\"", "\"", false}, {"Qq", "\"", "\"", false},
    {"Sq", "'", "'", false}, {"Ql", "'", "'", false},   {"Pq", "(", ")", false},
    {"Bq", "[", "]", false}, {"Brq", "{", "}", false},  {"Aq", "<", ">", false},
    {"Oo", "[", "", false},  {"Po", "(", "", false},    {"Do", "\"", "", false},
    {"Qo", "\"", "", false}, {"So", "'", "", false},    {"Bo", "[", "", false},
    {"Ao", "<", "", false},  {"Xo", "", "", false},     {"Xc", "", "", false},
    {"%A", "", "", true},    {"%T", "\"", "\"", false}, {"%B", "", "", true},
    {"%J", "", "", true},    {"%D", "", "", true},      {"%R", "", "", true},
    {"%U", "", "", true},    {"%I", "", "", true},      {"%N", "", "", true},
    {"%O", "", "", true},    {"%P", "", "", true},      {"%V", "", "", true},
};
static const struct {
    const char *name, *text; /* stands without a space before it */
} closing_macros[] = {{"Oc", "]"}, {"Pc", ")"}, {"Dc", "\""}, {"Qc", "\""},
                      {"Sc", "'"}, {"Bc", "]"}, {"Ac", ">"},  {"Ap", "'"}};

static const struct inline_macro *find_inline(const char *name) {
    for (size_t i = 0; i < sizeof inline_macros / sizeof *inline_macros; i++)
        if (is(inline_macros[i].name, name)) return &inline_macros[i];
    return NULL;
}

static bool is_closing_mark(const char *s) {
    return s[0] && !s[1] && strchr(".,;:!?)]", s[0]);
}

typedef struct sentence {
    fo_buf out;
    bool tight; /* the next word follows without a space */
} sentence;

static void put(sentence *s, const char *before, const char *word, const char *after) {
    if (s->out.len && !s->tight) fo_buf_char(&s->out, ' ');
    s->tight = false;
    fo_buf_str(&s->out, before);
    fo_buf_str(&s->out, word);
    fo_buf_str(&s->out, after);
}

static bool is_closing_macro(const char *s) {
    for (size_t i = 0; i < sizeof closing_macros / sizeof *closing_macros; i++)
        if (is(closing_macros[i].name, s)) return true;
    return false;
}

static bool is_callable(const char *s) {
    return find_inline(s) || is_closing_macro(s) || mdoc_phrase_is(s) || among(s, "Nm Xr Fn Fo Ns");
}

/* How many words follow, from argument i on, to the next macro or mark. */
static size_t plain_words(const man_arguments *a, size_t i) {
    size_t n = 0;
    while (i + n < a->n && !is_closing_mark(a->at[i + n]) && !is_callable(a->at[i + n])) n++;
    return n;
}

/* Words and callable macros of one line, from argument i on, as text. */
static void mdoc_words(reader *r, const man_arguments *a, size_t i, sentence *s) {
    const struct inline_macro *macro = NULL;
    const char *closers[MAN_MAX_ARGS];
    size_t n_closers = 0;
    bool fresh = false; /* macro has had no word yet */
    for (; i < a->n; i++) {
        const char *w = a->at[i];
        const struct inline_macro *m = find_inline(w);
        bool handled = true;
        if (m) {
            if (macro && fresh && is(macro->name, "Fl")) {
                put(s, "-", "", "");
                s->tight = true; /* "Fl Fl brief" is --brief */
            }
            macro = m->each ? m : NULL;
            fresh = true;
            if (!m->each && (m->before[0] || m->after[0])) {
                put(s, m->before, "", "");
                s->tight = true;
                if (m->after[0] && n_closers < MAN_MAX_ARGS) closers[n_closers++] = m->after;
            }
        } else if (is(w, "Ns")) {
            s->tight = true;
            macro = NULL;
        } else if (is(w, "Nm")) {
            macro = NULL;
            bool named =
                i + 1 < a->n && !is_closing_mark(a->at[i + 1]) && !find_inline(a->at[i + 1]);
            if (named) {
                i++;
                if (!r->name.len && strlen(a->at[i]) <= MAX_NAME) fo_buf_str(&r->name, a->at[i]);
            }
            put(s, "", named ? a->at[i] : r->name.data ? r->name.data : "", "");
        } else if (mdoc_phrase_is(w) && (!i || !among(w, "Ex Rv"))) {
            macro = NULL;
            put(s, "", "", "");
            i += mdoc_phrase(&s->out, w, a->at + i + 1, plain_words(a, i + 1), r->name.data);
        } else if (is(w, "Xr") && i + 1 < a->n) {
            macro = NULL;
            put(s, "", a->at[++i], "");
            if (i + 1 < a->n && !is_closing_mark(a->at[i + 1])) {
                fo_buf_printf(&s->out, "(%s)", a->at[++i]);
            }
        } else if ((is(w, "Fn") || is(w, "Fo")) && i + 1 < a->n) {
            macro = NULL;
            put(s, "", a->at[++i], "(");
            bool first = true;
            while (i + 1 < a->n && !is_closing_mark(a->at[i + 1])) {
                fo_buf_printf(&s->out, "%s%s", first ? "" : ", ", a->at[++i]);
                first = false;
            }
            fo_buf_char(&s->out, ')');
        } else {
            handled = false;
            for (size_t k = 0; k < sizeof closing_macros / sizeof *closing_macros; k++) {
                if (!is(closing_macros[k].name, w)) continue;
                s->tight = true;
                put(s, "", closing_macros[k].text, "");
                s->tight = is(w, "Ap");
                handled = true;
            }
        }
        if (handled) continue;
        if (is_closing_mark(w)) {
            if (macro && fresh && is(macro->name, "Fl")) put(s, "-", "", "");
            fresh = false;
            if (i + 1 == a->n) /* what an enclosure began ends before the final stop */
                while (n_closers) fo_buf_str(&s->out, closers[--n_closers]);
            fo_buf_str(&s->out, w);
            continue;
        }
        bool opens = (w[0] == '(' || w[0] == '[') && !w[1];
        put(s, macro ? macro->before : "", w, macro ? macro->after : "");
        if (opens) s->tight = true;
        fresh = false;
    }
    if (macro && fresh && is(macro->name, "Fl")) put(s, "-", "", "");
    while (n_closers) fo_buf_str(&s->out, closers[--n_closers]);
}

static mdoc_list *innermost(reader *r) {
    return &r->lists[r->n_lists < MAX_LISTS ? r->n_lists : MAX_LISTS - 1];
}

static void add_sentence(reader *r, const man_arguments *a, size_t from) {
    sentence s = {0};
    mdoc_words(r, a, from, &s);
    if (s.out.failed || r->name.failed) r->b->failure = FO_ENOMEM;
    if (s.out.len) add_text(r, s.out.data);
    if (s.tight) r->joined = true;
    fo_buf_free(&s.out);
}

/* The same in a list of columns, where Ta begins the next cell. */
static void add_cells(reader *r, const man_arguments *a, size_t from) {
    for (size_t i = from; i <= a->n; i++) {
        if (i < a->n && !is(a->at[i], "Ta")) continue;
        man_arguments cell = *a;
        cell.n = i;
        add_sentence(r, &cell, from);
        if (i == a->n) return;
        builder_cell(r->b);
        r->joined = true;
        from = i + 1;
    }
}

static void begin_list(reader *r, const man_arguments *a) {
    end_block(r);
    r->n_lists++;
    mdoc_list *l = innermost(r);
    *l = (mdoc_list){0};
    for (size_t i = 1; i < a->n; i++) {
        if (among(a->at[i], "-tag -hang -ohang -inset -diag")) l->kind = LIST_TAGGED;
        if (is(a->at[i], "-enum")) l->kind = LIST_NUMBERED;
        if (is(a->at[i], "-column")) l->kind = LIST_COLUMNS;
    }
}

static void list_item(reader *r, const man_arguments *a) {
    mdoc_list *l = innermost(r);
    char mark[16] = "- ";
    l->n_items++;
    if (l->kind == LIST_NUMBERED) snprintf(mark, sizeof mark, "%d. ", l->n_items);
    begin_block(r, l->kind == LIST_COLUMNS ? TEXT_TABLE_ROW : TEXT_LIST_ITEM, 0);
    if (l->kind == LIST_COLUMNS) {
        if (l->n_items == 1) builder_go_on_with(r->b, TEXT_TABLE_ROW, 0, "\n\n");
        builder_cell(r->b);
        add_cells(r, a, 1);
        return;
    }
    if (l->kind == LIST_NUMBERED || (l->kind == LIST_PLAIN && a->n < 2)) builder_str(r->b, mark);
    add_sentence(r, a, 1);
    if (l->kind == LIST_TAGGED && r->b->open) tag_done(r);
}

static bool mdoc_macro(reader *r, const man_arguments *a) {
    const char *name = a->at[0];
    if (among(name, "Dd Dt Os Bk Ek Rs Re Fc El")) {
        if (is(name, "El") || is(name, "Re")) end_block(r);
        if (is(name, "El") && r->n_lists) r->n_lists--;
    } else if (is(name, "Sh") || is(name, "Ss")) {
        heading(r, a, name[1] == 'h' ? 1 : 2);
    } else if (among(name, "Pp Lp")) {
        end_block(r);
    } else if (is(name, "Nd")) {
        add_text(r, "-");
        add_sentence(r, a, 1);
    } else if (is(name, "Bl")) {
        begin_list(r, a);
    } else if (is(name, "It")) {
        list_item(r, a);
    } else if (is(name, "Ta") && innermost(r)->kind == LIST_COLUMNS) {
        add_cells(r, a, 0);
    } else if (is(name, "Bd")) {
        end_block(r);
        for (size_t i = 1; i < a->n; i++)
            if (among(a->at[i], "-literal -unfilled")) r->no_fill = true;
    } else if (is(name, "Ed")) {
        r->no_fill = false;
        end_block(r);
    } else if (is(name, "D1") || is(name, "Dl")) {
        begin_block(r, TEXT_CODE, 0);
        add_sentence(r, a, 1);
        end_block(r);
    } else if (name[0] && strlen(name) <= 3) {
        man_arguments whole = *a;
        const bool closing = is_closing_macro(name);
        if (!is_callable(name)) return false;
        if (closing || is(name, "Ns")) r->joined = true;
        add_sentence(r, &whole, 0);
    } else {
        return false;
    }
    return true;
}

/* ---- the page ---------------------------------------------------------------------------- */

/* Requests without a visible effect here. */
static const char silent[] =
    "ad na hy nh ne ft ta in ti ll nr ps vs rm rn rr tr mk rt fam ev lf als cc c2 ec eo pl "
    "po ss cs bd lt nm nn ns rs pc wh ch it em bp pn so mso nx ex ab fl tm warn hw hc hla hpf do "
    "cflags char color fp PD DT AT UC UE ME EQ EN ce ul cu Sm TE lg kern it1 \\} LO IN na1 do1";

/* .ds NAME text, .as NAME text: from a first quote on blanks count, and one at the end is of the text. */
static void define_string(reader *r, char *s, bool append) {
    s += strspn(s, " \t");
    char *end = s + strcspn(s, " \t"), *text = end + strspn(end, " \t");
    *end = 0;
    if (*text == '"') text++;
    if (!roff_strings_define(&r->strings, s, text, append)) r->b->failure = FO_ENOMEM;
}

static void request(reader *r) {
    char *line = r->line.data;
    for (;;) {
        char *s = line + 1;
        while (*s == ' ' || *s == '\t') s++;
        if (!*s || (s[0] == '\\' && s[1] == '"')) return;
        size_t k = strcspn(s, " \t\\("); /* ".el\{", ".if(1)": no blank is needed */
        bool is_if = k == 2 && s[0] == 'i' && (s[1] == 'f' || s[1] == 'e');
        bool is_el = k == 2 && s[0] == 'e' && s[1] == 'l';
        if (!is_if && !is_el) break;
        line = condition(r, s + k, is_el, s[1] == 'e');
        if (!line) return;
        if (line[0] != '.' && line[0] != '\'') {
            add_text(r, line);
            return;
        }
    }
    char *name = line + 1 + strspn(line + 1, " \t");
    if ((name[0] == 'd' || name[0] == 'a') && name[1] == 's' && strchr(" \t", name[2]) && name[2]) {
        define_string(r, name + 2, name[0] == 'a');
        return;
    }
    fo_buf copy = {0};
    fo_buf_add(&copy, line + 1, strlen(line + 1) + 1);
    if (copy.failed) {
        r->b->failure = FO_ENOMEM;
        return;
    }
    man_arguments a = man_split(copy.data);
    if (a.n && among(a.at[0], "de de1 am am1 dei ig")) {
        size_t mark = is(a.at[0], "ig") ? 1 : 2;
        skip_definition(r, a.n > mark ? a.at[mark] : NULL);
    } else if (a.n && !among(a.at[0], silent) && !man_macro(r, &a) && !mdoc_macro(r, &a)) {
        /* A macro of the page's own: its words. Before the first heading they set the page up. */
        if (a.at[0][0] != '\\' && r->b->n_blocks > 0) add_args(r, &a, 1, " ");
    }
    fo_buf_free(&copy);
}

bool extract_looks_like_man(const extract_input *in) {
    const char *s = in->head;
    const size_t n = in->n_head;
    static const char *const begins[] = {".TH ",    ".Dd ",  ".Sh ",  ".SH ", ".so man",
                                         "'\\\" t", ".\\\"", "'\\\"", ".Dt "};
    size_t at = 0;
    bool goes_on = false; /* a line that ends in a backslash */
    for (int lines = 0; lines < 200 && at < n; lines++) {
        for (size_t i = 0; i < sizeof begins / sizeof *begins; i++) {
            size_t k = strlen(begins[i]);
            if (n - at >= k && memcmp(s + at, begins[i], k) == 0) return true;
        }
        if (n - at >= 4 && memcmp(s + at, ".ig", 3) == 0) { /* a licence, as a rule */
            const char *end = memmem(s + at, n - at, "\n..", 3);
            if (!end) return false;
            at = (size_t)(end - s) + 1;
        }
        /* Comments, requests and blank lines may come first, prose may not. */
        if (!goes_on && !strchr(".'\n\\", s[at])) return false;
        const char *newline = memchr(s + at, '\n', n - at);
        if (!newline) return false;
        goes_on = newline > s + at && newline[-1] == '\\';
        at = (size_t)(newline - s) + 1;
    }
    return false;
}

static void extract_man_text(builder *b, const char *text, size_t n) {
    reader r = {.b = b, .text = text, .n = n};
    while (read_line(&r)) {
        char *s = r.line.data;
        if ((s[0] == '.' || s[0] == '\'') && s[1]) {
            request(&r);
        } else if (s[0] == '.' || s[0] == '\'') {
            continue;
        } else if (!s[strspn(s, " \t")]) {
            if (r.no_fill && b->open)
                builder_str(b, "\n");
            else
                end_block(&r);
        } else if (r.heading_next) {
            r.heading_next = false;
            man_arguments a = {.at = {s, s}, .n = 2};
            heading(&r, &a, 1);
        } else {
            if (!r.no_fill && (s[0] == ' ' || s[0] == '\t') && !builder_block_empty(b))
                builder_str(b, "\n"); /* an indented line starts anew */
            add_text(&r, s);
            if (r.tag_next) tag_done(&r);
        }
    }
    end_block(&r);
    fo_buf_free(&r.line);
    fo_buf_free(&r.out);
    fo_buf_free(&r.name);
    roff_strings_free(&r.strings);
}

int extract_man(builder *b, extract_input *in, fo_err *err) {
    fo_buf text = {0};
    int rc = extract_decode(b, in, NULL, &text, err);
    if (!rc) extract_man_text(b, text.data, text.len);
    extract_drop(b, &text);
    return rc;
}
