/* LaTeX: what is written between \begin{document} and its end. Sections are headings, lists, tables and code are such,
 * accents and ligatures become characters; comments, settings, labels and pictures are dropped, of commands that
 * nobody knows the braces' text stays. Formulas are a line of text (latex_formula.h). Source: Lamport, LaTeX, 2nd edition. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#include "data/extract/extract_internal.h"
#include "data/extract/latex_commands.h"
#include "data/extract/latex_formula.h"
#include "data/extract/latex_reader.h"
#include "data/extract/superscript.h"
#include "kernels/utf8.h"
#include "kernels/words.h"

static uint32_t line_here(latex_reader *r) {
    for (; r->counted < r->at; r->counted++) r->line += r->s[r->counted] == '\n';
    return r->line;
}

static void end_block(latex_reader *r) {
    if (r->words.failed) r->b->failure = FO_ENOMEM;
    if (r->words.len && !r->in_table && !r->b->failure) {
        builder_set_place(r->b, &(text_place){.line = r->words_line});
        builder_begin(r->b, r->kind, r->level);
        builder_add_flowing(r->b, r->words.data, r->words.len);
        builder_end(r->b);
    }
    if (!r->in_table) fo_buf_clear(&r->words);
    if (!r->in_table) r->kind = TEXT_PARAGRAPH;
}

static void add(latex_reader *r, const char *s, size_t n) {
    if (!r->words.len) r->words_line = line_here(r);
    fo_buf_add(&r->words, s, n);
}

static void add_str(latex_reader *r, const char *s) {
    add(r, s, strlen(s));
}

/* ---- formulas ----------------------------------------------------------------------------------------- */

static void add_formula(latex_reader *r, const char *s, size_t n) {
    if (!r->words.len) r->words_line = line_here(r);
    latex_formula(&r->words, s, n);
}

/* A formula between marks, the first of which, of so many bytes, is at s[at]; false: nothing closes it. */
static bool read_formula(latex_reader *r, size_t end, size_t n_open, const char *close) {
    size_t from = r->at + n_open, to = from < end ? latex_formula_end(r, from, end, close) : end;
    if (to >= end) return false;
    const bool shown = n_open == 2 && strcmp(close, "\\)");
    if (shown && r->words.len) add(r, " ", 1);
    add_formula(r, r->s + from, to - from);
    if (shown) add(r, " ", 1);
    r->at = to + strlen(close);
    return true;
}

/* \SI{10}{\metre}: a command that is read as a formula, whose name ends here, with so many groups. */
static void read_command_as_formula(latex_reader *r, size_t from, int n_groups) {
    latex_drop_groups(r, n_groups);
    add_formula(r, r->s + from, r->at - from);
}

/* ---- characters --------------------------------------------------------------------------------------- */

/* \"o, \'{e}, \v{c}: the letter and its accent as one character. */
static void add_accent(latex_reader *r, uint32_t mark) {
    bool braced = false;
    while (r->at < r->n && r->s[r->at] == ' ') r->at++;
    if (r->at < r->n && r->s[r->at] == '{') braced = true, r->at++;
    if (r->at < r->n && r->s[r->at] == '\\') r->at++; /* \'{\i} */
    if (r->at >= r->n || r->s[r->at] == '}') {
        r->at += r->at < r->n && braced;
        return;
    }
    int32_t cp;
    size_t n = fo_utf8_decode(r->s + r->at, r->n - r->at, &cp);
    char pair[9] = "", out[4];
    memcpy(pair, r->s + r->at, n);
    size_t k = n + fo_utf8_encode((int32_t)mark, out);
    memcpy(pair + n, out, k - n);
    pair[k] = 0;
    utf8proc_uint8_t *composed = utf8proc_NFC((const utf8proc_uint8_t *)pair);
    add_str(r, composed ? (const char *)composed : pair);
    free(composed);
    r->at += n;
    if (braced && r->at < r->n && r->s[r->at] == '}') r->at++;
}

static uint32_t accent_of(char c) {
    static const char names[] = "`'^\"~=.uvHckrdbt";
    static const uint16_t marks[] = {0x300, 0x301, 0x302, 0x308, 0x303, 0x304, 0x307, 0x306,
                                     0x30C, 0x30B, 0x327, 0x328, 0x30A, 0x323, 0x331, 0x361};
    const char *p = c ? strchr(names, c) : NULL;
    return p ? marks[p - names] : 0;
}

/* ---- tables ------------------------------------------------------------------------------------------- */

/* & within a cell's own table parts words. */
static void end_cell(latex_reader *r) {
    if (r->inner) return add(r, " ", 1);
    if (r->table && fo_only_blanks(r->words.data, r->words.len))
        table_spans_covered(r->table, r->column, r->wide);
    else if (r->table)
        table_spans_cell(r->table, r->column, r->wide, r->high, r->words.data, r->words.len);
    r->row_begun = r->row_begun || r->words.len;
    fo_buf_clear(&r->words);
    r->column += r->wide;
    r->wide = r->high = 1;
}

/* Does the row at hand name the columns? A rule below the first row sets it apart; one below a wide cell may stand above
 * another row of names. */
static bool names_columns(const latex_reader *r) {
    const table_spans *t = r->table;
    size_t at = r->at;
    while (at < r->n && strchr(" \t\n[]", r->s[at])) at++;
    const bool ruled = r->n - at > 6 &&
                       (!memcmp(r->s + at, "\\hline", 6) || !memcmp(r->s + at, "\\midr", 5)),
               first = !t->rows.begun && !t->rows.n_header && !(t->holding && t->held.header);
    return first && ruled && !t->now.wide && t->rows.n_cells > 1 &&
           !table_rows_has_number(&t->rows);
}

static void end_row(latex_reader *r) {
    const bool cells = r->column > 0;
    end_cell(r);
    if (r->inner) return;
    if (r->table && (r->row_begun || cells))
        table_spans_end_row(r->table, &(text_place){.line = line_here(r)}, 0, names_columns(r));
    if (r->table) table_spans_row(r->table);
    r->column = 0;
    r->row_begun = false;
}

static void begin_table(latex_reader *r) {
    if (r->in_table) {
        r->inner++;
        return;
    }
    end_block(r);
    if (!r->table) r->table = calloc(1, sizeof *r->table);
    if (!r->table) {
        r->b->failure = FO_ENOMEM;
        return;
    }
    table_spans_begin(r->table, r->b, false);
    r->in_table = true;
    r->braces = 0;
    r->column = 0;
    r->wide = r->high = 1;
    r->row_begun = false;
}

static void end_table(latex_reader *r) {
    if (r->inner) {
        r->inner--;
        return;
    }
    end_row(r);
    if (r->table) table_spans_end(r->table);
    r->in_table = false;
}

/* A long table's caption, before its rows: the words at hand are none of a cell. */
static bool caption_stands_alone(const latex_reader *r) {
    return r->in_table && !r->inner && !r->column && fo_only_blanks(r->words.data, r->words.len);
}

/* Behind \endfirsthead the header comes again for the pages that follow, behind \endhead what stands below a page. */
static void skip_page_heads(latex_reader *r, bool first) {
    static const char *const ends[] = {"\\endfoot", "\\endhead"};
    const char *s = r->s + r->at, *end = memmem(s, latex_within_reach(r), "\\end{", 5);
    size_t n = end ? (size_t)(end - s) : latex_within_reach(r);
    builder_go_on(r->b, n);
    for (int i = 0; i < 1 + first; i++) {
        const char *head = memmem(s, n, ends[i], strlen(ends[i]));
        if (!head) continue;
        fo_buf_clear(&r->words);
        r->at = (size_t)(head - r->s) + strlen(ends[i]);
        return;
    }
}

/* ---- environments --------------------------------------------------------------------------------------- */

static void take_raw(latex_reader *r, const char *name, size_t n, bool code) {
    end_block(r);
    if (code) latex_drop_options(r);
    const char *s;
    size_t k;
    if (n == 6 && !memcmp(name, "minted", 6)) latex_take_group(r, '{', '}', &s, &k);
    size_t end = latex_environment_end(r, name, n);
    if (code && end > r->at) {
        size_t from = r->at;
        while (from < end && r->s[from] != '\n' && strchr(" \t", r->s[from])) from++;
        from += from < end && r->s[from] == '\n';
        builder_set_place(r->b, &(text_place){.line = line_here(r) + (from > r->at)});
        builder_begin(r->b, TEXT_CODE, 0);
        builder_add(r->b, r->s + from, end - from);
        builder_end(r->b);
    }
    r->at = end + n + 6 < r->n ? end + n + 6 : r->n;
}

/* Those of the second list have their width before their columns. */
static const char tables[] = "tabular longtable array supertabular xtabular longtabu tabu tblr "
                             "longtblr NiceTabular tabular* tabularx tabulary xltabular "
                             "NiceTabular* NiceTabularX";
static const char wide_tables[] = "tabular* tabularx tabulary xltabular NiceTabular* NiceTabularX";

static void read_group(latex_reader *r, const char *s, size_t n);
static void read_group_as(latex_reader *r, uint8_t kind, uint8_t level, const char *s, size_t n);

static void begin_environment(latex_reader *r) {
    static const char code[] = "verbatim verbatim* lstlisting minted Verbatim alltt BVerbatim";
    static const char dropped[] =
        "comment tikzpicture picture pgfpicture filecontents filecontents* axis";
    static const char lists[] =
        "itemize enumerate description list compactitem compactenum thebibliography";
    static const char formulas[] =
        "equation equation* align align* displaymath math eqnarray eqnarray* gather gather* "
        "multline multline* alignat alignat* flalign flalign* dmath dmath* IEEEeqnarray";
    static const char named[] =
        "theorem lemma proposition corollary definition example remark proof claim conjecture";
    const char *name, *s;
    size_t n, k;
    if (!latex_take_group(r, '{', '}', &name, &n)) return;
    if (fo_words_have(code, name, n)) return take_raw(r, name, n, true);
    if (fo_words_have(dropped, name, n)) return take_raw(r, name, n, false);
    if (fo_words_have(formulas, name, n)) {
        end_block(r);
        if (fo_words_have("alignat alignat* IEEEeqnarray", name, n))
            latex_take_group(r, '{', '}', &s, &k);
        size_t end = latex_environment_end(r, name, n);
        add_formula(r, r->s + r->at, end - r->at);
        end_block(r);
        r->at = end + n + 6 < r->n ? end + n + 6 : r->n;
        return;
    }
    if (fo_words_have(tables, name, n)) {
        latex_drop_options(r);
        if (fo_words_have("tabu longtabu", name, n)) /* to \textwidth {lX} */
            while (r->at < r->n && r->s[r->at] != '{' && r->s[r->at] != '\n') r->at++;
        latex_drop_groups(r, 1 + fo_words_have(wide_tables, name, n));
        return begin_table(r);
    }
    end_block(r);
    latex_drop_overlay(r);
    if (fo_words_have(named, name, n) && latex_take_group(r, '[', ']', &s, &k)) {
        read_group(r, s, k); /* [Pythagoras] */
        add_str(r, ": ");
    }
    latex_drop_options(r);
    if (fo_words_have("frame block exampleblock alertblock", name, n) && r->at < r->n &&
        r->s[r->at] == '{' && latex_take_group(r, '{', '}', &s, &k))
        read_group_as(r, TEXT_HEADING, n == 5 && *name == 'f' ? 2 : 3, s, k);
    if (fo_words_have(lists, name, n) && r->depth < LATEX_MAX_ENVIRONMENTS - 1)
        r->item[++r->depth] = n > 4 && !memcmp(name, "enum", 4) ? 0 : UINT32_MAX;
    latex_drop_groups(r, latex_environment_settings(name, n));
    if (n == 6 && !memcmp(name, "letter", 6) && latex_take_group(r, '{', '}', &s, &k))
        read_group_as(r, TEXT_PARAGRAPH, 0, s, k); /* to whom */
}

static void end_environment(latex_reader *r) {
    const char *name;
    size_t n;
    if (!latex_take_group(r, '{', '}', &name, &n)) return;
    if (r->in_table && fo_words_have(tables, name, n)) end_table(r);
    end_block(r);
    if (r->depth &&
        fo_words_have("itemize enumerate description list compactitem compactenum thebibliography",
                      name, n))
        r->depth--;
    if (n == 8 && !memcmp(name, "document", 8)) r->at = r->n;
}

/* ---- commands ------------------------------------------------------------------------------------------- */

static uint8_t section_level(const latex_reader *r, const char *name, size_t n) {
    if (fo_words_have("frametitle framesubtitle", name, n)) return n == 10 ? 2 : 3;
    static const char *const names[] = {"part",          "chapter",   "section",     "subsection",
                                        "subsubsection", "paragraph", "subparagraph"};
    static const uint8_t with_chapters[] = {1, 1, 2, 3, 4, 5, 6}, without[] = {1, 1, 1, 2, 3, 4, 5};
    for (size_t i = 0; i < 7; i++)
        if (strlen(names[i]) == n && !memcmp(names[i], name, n))
            return r->chapters ? with_chapters[i] : without[i];
    return 0;
}

static void read_text(latex_reader *r, size_t end);

/* A group's text, with the commands in it. */
static void read_group(latex_reader *r, const char *s, size_t n) {
    size_t back = r->at;
    r->at = (size_t)(s - r->s);
    read_text(r, r->at + n);
    r->at = back;
}

/* The same, as a block. */
static void read_group_as(latex_reader *r, uint8_t kind, uint8_t level, const char *s, size_t n) {
    end_block(r);
    r->kind = kind;
    r->level = level;
    read_group(r, s, n);
    if (kind == TEXT_HEADING && r->words.len)
        builder_title_heading(r->b, level, r->words.data, r->words.len);
    end_block(r);
}

/* Words before and behind it stay apart. */
static void add_blank(latex_reader *r) {
    if (r->words.len && r->words.data[r->words.len - 1] != ' ') add(r, " ", 1);
}

/* Of \newcommand{\name}{text} and \def\name{text}, whose name is next: the text stands for the name from here on. Those with
 * arguments are not kept, and none that begins what it does not end. */
static void keep_macro(latex_reader *r) {
    enum { MOST_BYTES = 200 };
    const size_t back = r->at;
    const char *s, *name;
    size_t n;
    if (r->at < r->n && r->s[r->at] == '{') r->at++;
    if (r->at < r->n && r->s[r->at] == '\\') {
        name = r->s + r->at + 1;
        latex_drop_name(r);
        const size_t n_name = (size_t)(r->s + r->at - name);
        if (r->at < r->n && r->s[r->at] == '}') r->at++;
        const bool kept = n_name && latex_take_group(r, '{', '}', &s, &n) && n <= MOST_BYTES &&
                          !memchr(s, '#', n) && !memmem(s, n, "\\begin", 6) &&
                          !memmem(s, n, "\\end", 4) && !memmem(s, n, "\\verb", 5);
        if (kept && r->n_macros < LATEX_MAX_MACROS)
            r->macros[r->n_macros++] =
                (latex_macro){.name = name, .n_name = n_name, .s = s, .n = n};
    }
    r->at = back;
}

/* The text that the document's author gave this name; false: none. */
static bool read_macro(latex_reader *r, const char *name, size_t n) {
    enum { MOST_NESTED = 4, MOST_WORDS = 1 << 20, MOST_OF_ALL = 100000 };
    int i = r->n_macros - 1;
    while (i >= 0 && (r->macros[i].n_name != n || memcmp(r->macros[i].name, name, n))) i--;
    if (i < 0) return false;
    if (r->in_macros == MOST_NESTED || r->words.len > MOST_WORDS) return true;
    if (r->n_read_macros == MOST_OF_ALL) { /* its name stands for it */
        line_here(r);
        add(r, name, n);
        return true;
    }
    r->n_read_macros++;
    const latex_macro *m = &r->macros[i];
    line_here(r); /* what comes of it is here, not where it is defined */
    r->in_macros++;
    read_group(r, m->s, m->n);
    r->in_macros--;
    if (!memmem(m->s, m->n, "xspace", 6) && r->at < r->n && r->s[r->at] == ' ') r->at++;
    return true;
}

/* \def\name#1{...}, \newcommand\name[1]{...}: the name takes the place of a group. */
static void drop_definition(latex_reader *r, const char *name, size_t n, int groups) {
    bool def = n >= 3 && !memcmp(name + n - 3, "def", 3);
    if (r->at < r->n && r->s[r->at] == '*') r->at++;
    if (def ||
        fo_words_have("newcommand renewcommand providecommand DeclareRobustCommand", name, n))
        keep_macro(r);
    if (groups && latex_drop_name(r) && !def) groups--;
    while (def && r->at < r->n && r->s[r->at] != '{' && r->s[r->at] != '\n') r->at++;
    latex_drop_groups(r, groups);
    if (fo_words_have("newtheorem pagebreak linebreak nolinebreak nopagebreak footnotemark "
                      "printbibliography addlinespace",
                      name, n))
        latex_drop_options(r);
}

/* The groups of an entry as one paragraph, empty ones left out. */
static void read_entry(latex_reader *r, const char *name, size_t n, latex_command c) {
    const bool person = n == 4 && !memcmp(name, "name", 4);
    const char *s;
    size_t k;
    end_block(r);
    if (c.does == LATEX_LABEL) {
        add(r, name, n);
        add_str(r, ": ");
    }
    size_t from = r->words.len;
    for (int i = 0; i < c.groups; i++) {
        latex_drop_options(r);
        if (!latex_take_group(r, '{', '}', &s, &k)) break;
        const size_t before = r->words.len;
        if (before > from) add_str(r, person ? " " : c.does == LATEX_PAIR && i == 1 ? ": " : ", ");
        const size_t begin = r->words.len;
        read_group(r, s, k);
        if (r->words.len >= begin && fo_only_blanks(r->words.data + begin, r->words.len - begin))
            r->words.len = before;
    }
    if (r->words.len == from) r->words.len = 0;
    if (person && r->words.len) builder_set_title(r->b, r->words.data, r->words.len);
    end_block(r);
}

/* A command that lists know, or nobody: \emph{text}. */
static void read_known(latex_reader *r, const char *name, size_t n) {
    latex_command c = latex_command_named(name, n);
    const char *s;
    size_t k;
    if (c.does == LATEX_FIELD || c.does == LATEX_LABEL) {
        if (r->preamble) return read_entry(r, name, n, c);
        c = (latex_command){LATEX_TEXT, 0};
    }
    if (!r->in_table && (c.does == LATEX_ENTRY || c.does == LATEX_PAIR))
        return read_entry(r, name, n, c);
    if (c.does == LATEX_ENTRY || c.does == LATEX_PAIR) c = (latex_command){LATEX_TEXT, 0};
    if (c.does == LATEX_TEXT && !c.groups && read_macro(r, name, n)) return;
    if (c.does == LATEX_TEXT) {
        latex_drop_groups(r, c.groups);
        latex_drop_options(r);
        if (r->at < r->n && r->s[r->at] == ' ') r->at++;
        return;
    }
    if (c.does == LATEX_BLANK) add_blank(r);
    if (c.does == LATEX_LENGTH) latex_drop_length(r);
    if (c.does == LATEX_LET && latex_drop_name(r)) latex_drop_name(r);
    if (n == 8 && !memcmp(name, "cmidrule", 8)) latex_take_group(r, '(', ')', &s, &k);
    drop_definition(r, name, n, c.groups);
}

/* \verb|as it stands|, on one line. */
static void read_verbatim(latex_reader *r) {
    latex_drop_options(r);
    if (r->at >= r->n) return;
    const char mark = r->s[r->at], close = mark == '{' ? '}' : mark;
    size_t from = r->at + 1, to = from;
    while (to < r->n && r->s[to] != '\n' && r->s[to] != close) to++;
    if ((unsigned char)mark >= 0x80 || to >= r->n || r->s[to] != close) return;
    add(r, r->s + from, to - from);
    r->at = to + 1;
}

/* The item's own mark, \item[Rope], where it is more than a sign. */
static void read_term(latex_reader *r, const char *s, size_t n) {
    const size_t from = r->words.len;
    bool says = false;
    read_group(r, s, n);
    for (size_t i = from; i < r->words.len; i++) {
        const char c = r->words.data[i];
        says |= fo_is_letter(c) || fo_is_digit(c) || ((unsigned char)c >= 0xC3 && c != '\xE2');
    }
    if (says)
        add_str(r, ": ");
    else if (r->words.len > from)
        r->words.len = from;
}

/* A command of one sign, \\, \% or \'e: it begins at r->at. */
static void read_sign(latex_reader *r) {
    const size_t from = r->at;
    const char c = r->s[from];
    int32_t cp; /* it may be longer than a byte, and means nothing then */
    r->at += fo_utf8_decode(r->s + from, r->n - from, &cp);
    if ((unsigned char)c >= 0x80) return;
    if (c == '\\') {
        latex_drop_options(r);
        if (r->in_table && !r->braces)
            end_row(r);
        else
            add(r, " ", 1); /* also of \makecell{12\\13} */
    } else if (strchr("&%$#_{}", c)) {
        add(r, &c, 1);
    } else if (strchr(" ,;:!\n/", c)) {
        if (c != '/' && c != '!') add(r, " ", 1);
    } else if (c == '[' || c == '(') { /* of a formula */
        r->at = from - 1;
        if (!read_formula(r, r->n, 2, c == '[' ? "\\]" : "\\)")) r->at = from + 1;
    } else if (accent_of(c)) {
        add_accent(r, accent_of(c));
    }
}

/* What stands for characters: \ss, \textdegree, \alpha. */
static bool read_character(latex_reader *r, const char *name, size_t n) {
    const char *known = latex_character(name, n);
    if (!known) return false;
    add_str(r, known);
    latex_drop_end_of_name(r, strlen(known) < 3);
    return true;
}

static bool read_symbol(latex_reader *r, const char *name, size_t n) {
    size_t n_sign;
    bool apart;
    const char *sign = latex_symbol(name, n, &n_sign, &apart);
    if (!sign) return false;
    add(r, sign, n_sign);
    latex_drop_end_of_name(r, !apart);
    return true;
}

/* \section, \title and \author, whose group is a block of its own. */
static bool read_heading(latex_reader *r, const char *name, size_t n) {
    const char *s;
    size_t k;
    const uint8_t level = section_level(r, name, n);
    const bool title = n == 5 && !memcmp(name, "title", 5);
    if (!level && !title && !(n == 6 && !memcmp(name, "author", 6))) return false;
    latex_drop_options(r);
    if (!latex_take_group(r, '{', '}', &s, &k)) return level != 0;
    if (level)
        read_group_as(r, TEXT_HEADING, level, s, k);
    else
        read_group_as(r, title ? TEXT_HEADING : TEXT_PARAGRAPH, title, s, k);
    return true;
}

static void read_caption(latex_reader *r, bool of_kind) {
    const char *s;
    size_t k;
    if (of_kind) latex_take_group(r, '{', '}', &s, &k);
    latex_drop_options(r);
    if (!latex_take_group(r, '{', '}', &s, &k)) return;
    const bool alone = caption_stands_alone(r);
    if (r->in_table && !alone) return;
    if (alone) fo_buf_clear(&r->words);
    if (alone && r->table) table_spans_end(r->table);
    r->in_table = false;
    read_group_as(r, TEXT_PARAGRAPH, 0, s, k);
    r->in_table = alone;
}

static void read_item(latex_reader *r, bool of_bibliography) {
    char mark[16] = "- ";
    const char *s;
    size_t k;
    end_block(r);
    r->kind = TEXT_LIST_ITEM;
    uint32_t *number = &r->item[r->depth];
    if (r->depth && *number != UINT32_MAX) snprintf(mark, sizeof mark, "%u. ", ++*number);
    add_str(r, mark);
    latex_drop_overlay(r);
    if (latex_take_group(r, '[', ']', &s, &k)) read_term(r, s, k);
    if (of_bibliography) latex_take_group(r, '{', '}', &s, &k);
}

/* A command that begins, ends or fills a block: an environment, an item, a caption, a row. */
static bool read_block_command(latex_reader *r, const char *name, size_t n) {
    if (read_heading(r, name, n)) return true;
    if (fo_words_have("caption captionof", name, n))
        read_caption(r, n > 7);
    else if (r->in_table && fo_words_have("endfirsthead endhead", name, n))
        skip_page_heads(r, n > 7);
    else if (r->in_table && fo_words_have("tabularnewline cr", name, n))
        latex_drop_options(r), end_row(r);
    else if (fo_words_have("begin", name, n))
        begin_environment(r);
    else if (fo_words_have("end", name, n))
        end_environment(r);
    else if (fo_words_have("item bibitem", name, n))
        read_item(r, n == 7);
    else if (fo_words_have("par", name, n))
        end_block(r);
    else
        return false;
    return true;
}

/* A command within a block's text. */
static bool read_inline_command(latex_reader *r, const char *name, size_t n) {
    const char *s;
    size_t k;
    if (fo_words_have("footnote footnotetext endnote marginpar marginnote todo", name, n)) {
        latex_drop_options(r);
        if (latex_take_group(r, '{', '}', &s, &k)) {
            add_str(r, " (");
            read_group(r, s, k);
            add_str(r, ")");
        }
    } else if (fo_words_have("textsuperscript", name, n)) {
        if (latex_take_group(r, '{', '}', &s, &k)) {
            add_str(r, superscript_mark(r->words.data, r->words.len, s, k, false));
            read_group(r, s, k);
        }
    } else if (fo_words_have("and And AND", name, n)) { /* of authors */
        while (r->words.len && r->words.data[r->words.len - 1] == ' ') r->words.len--;
        add_str(r, ", ");
    } else if (fo_words_have("url nolinkurl path", name, n) &&
               latex_take_group(r, '{', '}', &s, &k)) {
        add(r, s, k); /* as it stands: its per cent signs begin no remark */
    } else if (fo_words_have("verb lstinline mintinline", name, n)) {
        if (n == 10) latex_take_group(r, '{', '}', &s, &k);
        read_verbatim(r);
    } else if (fo_words_have("iffalse", name, n)) {
        latex_drop_false_branch(r);
    } else if (fo_words_have("multicolumn", name, n)) {
        latex_begin_wide_cell(r);
    } else if (fo_words_have("multirow", name, n)) {
        latex_begin_high_cell(r);
    } else {
        return false;
    }
    return true;
}

/* What a backslash at r->at begins. */
static void read_command(latex_reader *r) {
    const size_t from = ++r->at;
    if (from >= r->n) return;
    while (r->at < r->n && ((r->s[r->at] | 32) >= 'a' && (r->s[r->at] | 32) <= 'z')) r->at++;
    const char *name = r->s + from;
    const size_t n = r->at - from;
    if (!n) return read_sign(r);
    if (n == 1 && accent_of(*name) && strchr("uvHckrdbt", *name) && r->at < r->n &&
        (r->s[r->at] == '{' || r->s[r->at] == ' '))
        return add_accent(r, accent_of(*name));
    if (latex_formula_groups(name, n))
        return read_command_as_formula(r, from - 1, latex_formula_groups(name, n));
    if (!read_character(r, name, n) && !read_block_command(r, name, n) &&
        !read_inline_command(r, name, n) && !read_symbol(r, name, n))
        read_known(r, name, n);
}

static void read_text(latex_reader *r, size_t end) {
    enum { MOST_NESTED = 20 };
    if (end > r->n) end = r->n;
    if (r->nested == MOST_NESTED) return;
    r->nested++;
    while (r->at < end && builder_go_on(r->b, 1)) {
        const char *s = r->s + r->at;
        size_t left = end - r->at;
        switch (*s) {
        case '\\':
            read_command(r);
            break;
        case '%': {
            const char *newline = memchr(s, '\n', left);
            r->at = newline ? (size_t)(newline - r->s) + 1 : end;
            while (r->at < end && (r->s[r->at] == ' ' || r->s[r->at] == '\t')) r->at++;
            if (newline && r->at < end && r->s[r->at] == '\n') end_block(r); /* a blank line */
            break;
        }
        case '}': /* \unheard{one}{two} */
            if (left > 1 && s[1] == '{') add_blank(r);
            r->braces -= r->braces > 0;
            r->at++;
            break;
        case '{':
            r->braces++;
            r->at++;
            break;
        case '~':
            add(r, " ", 1);
            r->at++;
            break;
        case '&':
            if (r->in_table) end_cell(r);
            r->braces = 0; /* no cell ends within a group */
            r->at++;
            break;
        case '$': {
            const bool shown = left > 1 && s[1] == '$';
            if (read_formula(r, end, shown ? 2 : 1, shown ? "$$" : "$")) break;
            if (!shown) add(r, s, 1); /* of an amount */
            r->at += shown ? 2 : 1;
            break;
        }
        case '\n': {
            size_t k = 1;
            while (k < left && (s[k] == ' ' || s[k] == '\t')) k++;
            if (k < left && s[k] == '\n') {
                end_block(r);
                r->at += k;
            } else {
                if (r->words.len) add(r, " ", 1);
                r->at++;
            }
            break;
        }
        case '-':
        case '`':
        case '\'': {
            static const char *const from[] = {"---", "--", "``", "''"}, *const to[] = {"—", "–",
                                                                                        "“", "”"};
            size_t i = 0;
            while (i < 4 && !(left >= strlen(from[i]) && !memcmp(s, from[i], strlen(from[i])))) i++;
            if (i < 4)
                add_str(r, to[i]);
            else
                add(r, *s == '`' ? "'" : s, 1);
            r->at += i < 4 ? strlen(from[i]) : 1;
            break;
        }
        default: {
            size_t k = 1;
            while (k < left && !strchr("\\%{}~&$\n-`'", s[k])) k++;
            add(r, s, k);
            r->at += k;
            builder_go_on(r->b, k);
        }
        }
    }
    r->nested--;
}

/* ---- the preamble --------------------------------------------------------------------------------------- */

static bool is_title(const char *name, size_t n) {
    return n == 5 && !memcmp(name, "title", 5);
}

static bool is_field(const char *name, size_t n) {
    const int does = latex_command_named(name, n).does;
    return does == LATEX_FIELD || does == LATEX_LABEL;
}

/* Every command of s[0..end) that `wanted` knows is read, no remark and no definition's inside: with the title the first alone. */
static void read_preamble(latex_reader *r, size_t end, bool (*wanted)(const char *, size_t)) {
    r->at = r->counted = 0;
    r->line = 1;
    r->n_macros = 0; /* they are met once more */
    while (r->at < end && builder_go_on(r->b, 1)) {
        const char c = r->s[r->at];
        if (c == '%') {
            while (r->at < end && r->s[r->at] != '\n') r->at++;
        } else if (c == '\\') {
            const char *name = r->s + r->at + 1;
            size_t n = latex_name_length(r, r->at + 1), next = r->at + 1 + n;
            while (next < end && fo_is_blank(r->s[next])) next++;
            bool has_text = next < end && (r->s[next] == '{' || r->s[next] == '[');
            if (n && has_text && wanted(name, n)) {
                read_command(r);
                if (wanted == is_title) return;
            } else {
                r->at += 1 + (n ? n : 1);
                latex_command k = latex_command_named(name, n);
                if (n && k.does == LATEX_GONE) drop_definition(r, name, n, k.groups);
            }
        } else {
            r->at++;
        }
    }
}

int extract_latex(builder *b, extract_input *in, fo_err *err) {
    fo_buf text = {0};
    int rc = extract_decode(b, in, NULL, &text, err);
    latex_reader *r = rc ? NULL : calloc(1, sizeof *r);
    if (!rc && !r) rc = fo_no_memory(err);
    if (!rc) {
        *r = (latex_reader){
            .b = b, .s = text.data, .n = text.len, .line = 1, .kind = TEXT_PARAGRAPH};
        r->chapters = memmem(r->s, r->n, "\\chapter", 8) != NULL;
        const char *begin = latex_document_begin(r);
        r->preamble = true;
        if (begin) read_preamble(r, (size_t)(begin - r->s), is_title);
        if (begin) read_preamble(r, (size_t)(begin - r->s), is_field);
        r->preamble = false;
        if (begin) r->at = (size_t)(begin - r->s) + 16;
        read_text(r, r->n);
        r->inner = 0;
        if (r->in_table) end_table(r);
        end_block(r);
        if (r->table) table_spans_free(r->table);
        free(r->table);
        fo_buf_free(&r->words);
    }
    free(r);
    extract_drop(b, &text);
    return rc;
}
