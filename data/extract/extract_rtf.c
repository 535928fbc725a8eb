/* Rich Text: paragraphs, items with their numbers, tables, the title; footnotes stand in brackets where the text refers to
 * them; without fonts, styles, pictures, headers, notes of layout, and what is deleted or hidden. Characters come as bytes of a code page or as code points with a replacement behind them. Source: the
 * Rich Text Format specification, version 1.9.1. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/extract/encoding.h"
#include "data/extract/extract_internal.h"
#include "data/extract/superscript.h"
#include "data/extract/table_rows.h"
#include "kernels/hex.h"
#include "kernels/utf8.h"
#include "kernels/words.h"

enum { MAX_DEPTH = 512, MAX_PARAGRAPH = 4 << 20, MAX_MARK = 40 };

typedef struct group {
    bool skip;  /* what it holds is no text of the document */
    bool title; /* it is the document's title */
    bool mark;  /* it is the number or bullet of an item */
    bool note;  /* it is a footnote */
    bool hidden, deleted, raised;
    int n_after;         /* bytes of replacement behind a code point: \ucN */
    bool fonts;          /* within the table of fonts */
    const char *charset; /* of its bytes: that of its font; NULL: the document's */
} group;

enum { MAX_FONTS = 1024 };
typedef struct font {
    long number;
    const char *charset; /* NULL: the document's */
} font;

typedef struct reader {
    builder *b;
    const char *s;
    size_t n, at;
    group groups[MAX_DEPTH];
    int depth;
    size_t beyond;       /* groups deeper than MAX_DEPTH: passed over */
    bool left_out;       /* text stood in one of them */
    int to_skip;         /* bytes of replacement that are still to come */
    int high;            /* the first half of a surrogate pair; 0: none */
    const char *charset; /* of the document */
    font fonts[MAX_FONTS];
    size_t n_fonts;
    fo_buf bytes; /* of the code page, not decoded yet */
    fo_buf text;  /* the paragraph, UTF-8 */
    fo_buf title;
    fo_buf mark;    /* of the item whose text is to come */
    size_t note_at; /* of text: behind the bracket of the footnote at hand */
    bool raised;    /* the end of text is raised */
    bool in_table, item;
    size_t
        row_end; /* of text: behind the last row of a table within the cell at hand; 0: there is none */
    int level; /* of a heading, 1-6 */
    table_rows *rows;
    uint32_t column;
} reader;

static group *now(reader *r) {
    return &r->groups[r->depth];
}

static fo_buf *target(reader *r) {
    return now(r)->title ? &r->title : now(r)->mark ? &r->mark : &r->text;
}

/* The item at hand has text: its number stands before it. */
static void put_mark(reader *r) {
    if (!r->mark.len) return;
    fo_buf_add(&r->text, r->mark.data, r->mark.len);
    fo_buf_char(&r->text, ' ');
    fo_buf_clear(&r->mark);
    r->item = true;
}

/* Text was added behind text[0..before): where it is raised, it is no part of the number before it. */
static void part_raised(reader *r, size_t before) {
    fo_buf *text = &r->text;
    const bool begins = now(r)->raised && !r->raised;
    if (text->failed || text->len == before) return;
    r->raised = now(r)->raised;
    if (!begins) return;
    const char *sign =
        superscript_mark(text->data, before, text->data + before, text->len - before, false);
    if (!*sign) return;
    fo_buf_char(text, ' ');
    if (text->failed) return;
    memmove(text->data + before + 1, text->data + before, text->len - before - 1);
    text->data[before] = *sign;
}

/* Bytes of the code page become text. */
static void settle(reader *r) {
    if (!r->bytes.len) return;
    const char *name;
    encoding_limits limits = {.max_bytes = SIZE_MAX, .certain = true};
    fo_buf *to = target(r);
    if (to == &r->text) put_mark(r);
    const size_t before = to->len;
    if (r->text.len > MAX_PARAGRAPH)
        r->b->failure = FO_ELIMIT;
    else if (encoding_decode(to, (const unsigned char *)r->bytes.data, r->bytes.len,
                             now(r)->charset ? now(r)->charset : r->charset, &limits, &name,
                             &r->b->n_replaced, NULL))
        r->b->failure = FO_ENOMEM;
    else if (to == &r->text)
        part_raised(r, before);
    fo_buf_clear(&r->bytes);
}

static bool wanted(reader *r) {
    const group *g = now(r);
    return !r->beyond && !g->hidden && !g->deleted && (!g->skip || g->title || g->mark);
}

/* Is this the text itself, whose paragraphs and tables are told by its words of control? Those within a footnote, or
 * an item's number, are of that alone. What is hidden has cells all the same. */
static bool in_body(reader *r) {
    return !r->beyond && !now(r)->skip && !now(r)->note;
}

/* A footnote is said within the sentence that refers to it. */
static void begin_note(reader *r) {
    group *g = now(r);
    settle(r);
    if (g->note || !r->depth || r->groups[r->depth - 1].skip) return;
    g->skip = g->raised = false;
    if (!wanted(r)) { /* as what refers to it */
        g->skip = true;
        return;
    }
    g->note = true;
    put_mark(r);
    fo_buf_str(&r->text, " (");
    r->note_at = r->text.len;
    r->raised = false;
}

static void end_note(reader *r) {
    fo_buf *text = &r->text;
    if (text->failed || text->len < r->note_at) return;
    size_t blanks = 0;
    while (r->note_at + blanks < text->len && fo_is_blank(text->data[r->note_at + blanks]))
        blanks++;
    memmove(text->data + r->note_at, text->data + r->note_at + blanks,
            text->len - r->note_at - blanks);
    text->len -= blanks;
    while (text->len > r->note_at && fo_is_blank(text->data[text->len - 1])) text->len--;
    if (text->len == r->note_at) text->len -= 2; /* it says nothing */
    text->data[text->len] = 0;
    if (text->len > r->note_at) fo_buf_char(text, ')');
}

/* "1." or "(b)": a bullet says nothing, whichever letter of which font it is. */
static bool is_number(const char *s, size_t n) {
    bool digit = false, letter = false;
    if (!n || n > MAX_MARK) return false;
    for (size_t i = 0; i < n; i++) {
        digit |= fo_is_digit(s[i]);
        letter |= isalpha((unsigned char)s[i]) || (unsigned char)s[i] >= 0x80;
    }
    return digit || (letter && n > 1 && strchr(".)", s[n - 1]));
}

static void begin_mark(reader *r) {
    group *g = now(r);
    settle(r);
    g->mark = !g->note && r->depth && !r->groups[r->depth - 1].skip;
    g->skip = true;
    if (g->mark) fo_buf_clear(&r->mark);
}

static void end_mark(reader *r) {
    fo_buf *mark = &r->mark;
    while (mark->len && fo_is_blank(mark->data[mark->len - 1])) mark->data[--mark->len] = 0;
    if (!is_number(mark->data, mark->len)) fo_buf_clear(mark);
}

static void add_byte(reader *r, char c) {
    if (r->to_skip > 0) {
        r->to_skip--;
        return;
    }
    r->left_out |= r->beyond && !now(r)->skip && !now(r)->hidden && !now(r)->deleted &&
                   !isspace((unsigned char)c);
    if (wanted(r)) fo_buf_char(&r->bytes, c);
}

static void add_code_point(reader *r, int32_t cp) {
    if (!wanted(r)) return;
    settle(r);
    if (cp >= 0xD800 && cp < 0xDC00) {
        r->high = cp;
        return;
    }
    if (cp >= 0xDC00 && cp < 0xE000)
        cp = r->high ? 0x10000 + ((r->high - 0xD800) << 10) + (cp - 0xDC00) : 0xFFFD;
    r->high = 0;
    if (cp < 0x20 || (cp >= 0x7F && cp < 0xA0)) return;
    char out[4];
    fo_buf *to = target(r);
    if (to == &r->text) put_mark(r);
    const size_t before = to->len;
    fo_buf_add(to, out, fo_utf8_encode(cp, out));
    if (to == &r->text) part_raised(r, before);
}

static void write_paragraph(reader *r) {
    settle(r);
    builder *b = r->b;
    if (r->text.len && !b->failure) {
        builder_begin(b,
                      r->level  ? TEXT_HEADING
                      : r->item ? TEXT_LIST_ITEM
                                : TEXT_PARAGRAPH,
                      (uint8_t)r->level);
        builder_add_flowing(b, r->text.data, r->text.len);
        builder_end(b);
    }
    fo_buf_clear(&r->text);
    r->row_end = 0;
}

static void end_paragraph(reader *r) {
    const group *g = now(r);
    if (!wanted(r) || g->title || g->mark) return;
    if (r->in_table || g->note) {
        settle(r);
        fo_buf_char(&r->text, ' ');
        return;
    }
    write_paragraph(r);
    fo_buf_clear(&r->mark);
}

/* Cells and rows of a table within a cell are parted there. A row's end stands in {\*\nesttableprops}, which is passed
 * over: whether it counts is to be seen by the group around that. */
static void end_nested_cell(reader *r) {
    if (!in_body(r)) return;
    settle(r);
    fo_buf_char(&r->text, ' ');
}

static void trim_end(fo_buf *text) {
    while (text->len && text->data[text->len - 1] == ' ') text->data[--text->len] = 0;
}

static void end_nested_row(reader *r) {
    if (r->beyond || (now(r)->skip && (!r->depth || r->groups[r->depth - 1].skip))) return;
    settle(r);
    trim_end(&r->text);
    fo_buf_str(&r->text, "; ");
    r->row_end = r->text.len;
}

/* Behind the last row of a table there is nothing to be parted from. */
static void trim_last_row(reader *r) {
    trim_end(&r->text);
    if (r->row_end && r->text.len == r->row_end - 1) r->text.data[--r->text.len] = 0;
    r->row_end = 0;
}

static void end_cell(reader *r) {
    if (!in_body(r)) return;
    settle(r);
    trim_last_row(r);
    table_rows_cell(r->rows, r->column++, r->text.data ? r->text.data : "", r->text.len);
    fo_buf_clear(&r->text);
    fo_buf_clear(&r->mark);
}

static void end_row(reader *r) {
    if (!in_body(r)) return;
    if (r->rows->n_cells) table_rows_end_row(r->rows, NULL, false);
    r->column = 0;
}

/* ---- control words -------------------------------------------------------------------------------- */

static const char skipped[] =
    "fonttbl colortbl stylesheet listtable listoverridetable rsidtbl generator info pict object "
    "header headerl headerr headerf footer footerl footerr footerf themedata colorschememapping "
    "datastore "
    "latentstyles xmlnstbl fldinst bkmkstart bkmkend filetbl revtbl pgptbl nonshppict xe tc "
    "tcn";

static void code_page(reader *r, long page) {
    char name[32];
    snprintf(name, sizeof name, page == 65001 ? "utf-8" : "windows-%ld", page);
    const char *known = encoding_find(name, strlen(name));
    if (known) r->charset = known;
}

/* \fcharsetN of a font: a code page, where it is another than the document's. */
static const char *font_charset(long n) {
    static const struct {
        int n;
        const char *name;
    } known[] = {{77, "macintosh"},     {128, "shift_jis"},    {129, "euc-kr"},
                 {134, "gb18030"},      {136, "big5"},         {161, "windows-1253"},
                 {162, "windows-1254"}, {163, "windows-1258"}, {177, "windows-1255"},
                 {178, "windows-1256"}, {186, "windows-1257"}, {204, "windows-1251"},
                 {222, "windows-874"},  {238, "windows-1250"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].n == n) return encoding_find(known[i].name, strlen(known[i].name));
    return NULL;
}

/* \fN: in the table of fonts one begins, elsewhere it is chosen. */
static void choose_font(reader *r, long n) {
    group *g = now(r);
    if (g->fonts) {
        if (r->n_fonts < MAX_FONTS) r->fonts[r->n_fonts++] = (font){n, NULL};
        return;
    }
    settle(r);
    g->charset = NULL;
    for (size_t i = 0; i < r->n_fonts && !g->charset; i++)
        if (r->fonts[i].number == n) g->charset = r->fonts[i].charset;
}

/* How the characters that follow look: whether they are there, and whether they are raised. */
static bool character_word(reader *r, const char *w, bool given, long v) {
    group *g = now(r);
    const bool on = !given || v != 0;
    if (!fo_words_have("v deleted super sub nosupersub up dn plain", w, strlen(w))) return false;
    settle(r);
    if (!strcmp(w, "v")) {
        g->hidden = on;
    } else if (!strcmp(w, "deleted")) {
        g->deleted = on;
    } else if (!strcmp(w, "plain")) {
        g->charset = NULL;
        g->hidden = g->deleted = g->raised = false;
    } else {
        g->raised = on && (*w == 'u' || !strcmp(w, "super"));
    }
    return true;
}

/* Of the paragraphs and tables of the text itself. */
static bool paragraph_word(reader *r, const char *w, long v) {
    if (!fo_words_have("pard outlinelevel ls intbl", w, strlen(w))) return false;
    if (!in_body(r)) return true;
    if (!strcmp(w, "pard")) {
        r->level = 0;
        r->item = false;
        if (r->in_table && !r->rows->n_cells && !r->text.len) r->in_table = false;
    } else if (!strcmp(w, "outlinelevel")) {
        r->level = v >= 0 && v < 6 ? (int)v + 1 : 0;
    } else if (!strcmp(w, "ls")) {
        r->item = true;
    } else if (!r->in_table) {
        write_paragraph(r); /* the number of an item may be waiting */
        if (!r->rows->begun) table_rows_begin(r->rows, r->b, false);
        r->in_table = true;
    }
    return true;
}

static void word(reader *r, const char *w, bool given, long v) {
    group *g = now(r);
    if (character_word(r, w, given, v) || paragraph_word(r, w, v)) return;
    if (fo_words_have(skipped, w, strlen(w))) {
        g->skip = true;
        g->fonts |= !strcmp(w, "fonttbl");
    } else if (!strcmp(w, "footnote")) {
        begin_note(r);
    } else if (!strcmp(w, "listtext") || !strcmp(w, "pntext")) {
        begin_mark(r);
    } else if (!strcmp(w, "f") && given) {
        choose_font(r, v);
    } else if (!strcmp(w, "fcharset") && g->fonts && r->n_fonts) {
        r->fonts[r->n_fonts - 1].charset = font_charset(v);
    } else if (!strcmp(w, "title") && g->skip) {
        settle(r);
        g->title = true;
    } else if (!strcmp(w, "par") || !strcmp(w, "sect") || !strcmp(w, "page")) {
        end_paragraph(r);
    } else if (!strcmp(w, "cell")) {
        end_cell(r);
    } else if (!strcmp(w, "row")) {
        end_row(r);
    } else if (!strcmp(w, "nestcell")) {
        end_nested_cell(r);
    } else if (!strcmp(w, "nestrow")) {
        end_nested_row(r);
    } else if (!strcmp(w, "line") || !strcmp(w, "tab")) {
        add_byte(r, ' ');
    } else if (!strcmp(w, "u") && given) {
        add_code_point(r, (int32_t)(v < 0 ? v + 65536 : v) & 0xFFFF);
        r->to_skip = g->n_after;
    } else if (!strcmp(w, "uc") && given) {
        g->n_after = v >= 0 && v < 16 ? (int)v : 1;
    } else if (!strcmp(w, "ansicpg") && given) {
        code_page(r, v);
    } else if (!strcmp(w, "mac")) {
        r->charset = encoding_find(w, strlen(w));
    } else {
        static const struct {
            const char *name;
            int32_t cp;
        } signs[] = {{"emdash", 0x2014}, {"endash", 0x2013},    {"lquote", 0x2018},
                     {"rquote", 0x2019}, {"ldblquote", 0x201C}, {"rdblquote", 0x201D},
                     {"bullet", 0x2022}, {"emspace", ' '},      {"enspace", ' '}};
        for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
            if (!strcmp(w, signs[i].name)) add_code_point(r, signs[i].cp);
    }
    if (!r->in_table && r->rows->begun && (!strcmp(w, "par")))
        table_rows_begin(r->rows, r->b, false);
}

/* Behind a backslash. */
static void control(reader *r) {
    if (r->at >= r->n) return;
    char c = r->s[r->at++];
    if (c == '\'') {
        int high = r->at < r->n ? fo_hex_digit(r->s[r->at]) : -1;
        int low = r->at + 1 < r->n ? fo_hex_digit(r->s[r->at + 1]) : -1;
        if (high < 0 || low < 0) return;
        r->at += 2;
        add_byte(r, (char)(high * 16 + low));
    } else if (c == '\\' || c == '{' || c == '}') {
        add_byte(r, c);
    } else if (c == '~') {
        add_byte(r, ' ');
    } else if (c == '_') {
        add_byte(r, '-');
    } else if (c == '*') { /* a destination that who does not know it passes over */
        now(r)->skip = true;
    } else if (c == '\n' || c == '\r') {
        end_paragraph(r);
    } else if (isalpha((unsigned char)c)) {
        char w[33], number[12];
        size_t k = 0, d = 0;
        for (r->at--; r->at < r->n && isalpha((unsigned char)r->s[r->at]); r->at++)
            if (k < sizeof w - 1) w[k++] = r->s[r->at];
        w[k] = 0;
        if (r->at < r->n && r->s[r->at] == '-') number[d++] = r->s[r->at++];
        for (; r->at < r->n && isdigit((unsigned char)r->s[r->at]); r->at++)
            if (d < sizeof number - 1) number[d++] = r->s[r->at];
        number[d] = 0;
        if (r->at < r->n && r->s[r->at] == ' ') r->at++;
        long v = strtol(number, NULL, 10);
        if (!strcmp(w, "bin") && v > 0) { /* so many bytes of something else */
            r->at = (size_t)v < r->n - r->at ? r->at + (size_t)v : r->n;
            return;
        }
        if (!r->beyond) word(r, w, d > 0, v);
    }
}

static void open_group(reader *r) {
    settle(r);
    r->to_skip = 0;
    if (r->depth + 1 == MAX_DEPTH) {
        r->beyond++;
        return;
    }
    r->groups[r->depth + 1] = r->groups[r->depth];
    r->depth++;
    now(r)->title = false;
}

static void close_group(reader *r) {
    settle(r);
    r->to_skip = 0;
    if (r->beyond) {
        r->beyond--;
    } else if (r->depth) {
        const group *inner = now(r), *outer = inner - 1;
        if (inner->note && !outer->note) end_note(r);
        if (inner->mark && !outer->mark) end_mark(r);
        r->depth--;
    }
}

static void read_all(reader *r) {
    while (r->at < r->n && !r->b->failure) {
        if ((r->at & 1023) == 0 && !builder_go_on(r->b, 1024)) return;
        char c = r->s[r->at++];
        if (c == '{')
            open_group(r);
        else if (c == '}')
            close_group(r);
        else if (c == '\\')
            control(r);
        else if (c != '\n' && c != '\r' && c)
            add_byte(r, c);
        if (r->bytes.failed || r->text.failed || r->title.failed || r->mark.failed)
            r->b->failure = FO_ENOMEM;
    }
    r->depth = 0;
    r->beyond = 0;
    r->groups[0] = (group){.charset = r->groups[0].charset};
    r->in_table = false;
    end_row(r);
    end_paragraph(r);
    if (r->left_out) {
        builder_begin(r->b, TEXT_PARAGRAPH, 0);
        builder_str(r->b,
                    "(Groups of this text are too deep within each other; what stands in them "
                    "was not read.)");
        builder_end(r->b);
    }
    if (r->title.data) builder_set_title(r->b, r->title.data, r->title.len);
}

int extract_rtf(builder *b, extract_input *in, fo_err *err) {
    reader *r = calloc(1, sizeof *r);
    table_rows *rows = calloc(1, sizeof *rows);
    if (r && rows) {
        r->b = b;
        r->s = (const char *)in->bytes;
        r->n = in->n;
        r->rows = rows;
        r->charset = encoding_find("windows-1252", 12);
        r->groups[0].n_after = 1;
        table_rows_begin(rows, b, false);
        read_all(r);
        fo_buf_free(&r->bytes);
        fo_buf_free(&r->text);
        fo_buf_free(&r->title);
        fo_buf_free(&r->mark);
    }
    bool lost = !r || !rows;
    if (rows) table_rows_free(rows);
    free(rows);
    free(r);
    return lost ? fo_no_memory(err) : FO_OK;
}
