/* Excel workbooks: each sheet a heading and its rows, each row with its header and its cells' names.
 * Values are written as they are shown where that follows from the format of their cell: dates, times, shares,
 * currencies and units; of other numbers all digits. Source: ECMA-376 part 1, section 18. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "data/extract/extract_internal.h"
#include "data/extract/number_format.h"
#include "data/extract/sheet_merges.h"
#include "data/extract/superscript.h"
#include "data/extract/table_spans.h"
#include "data/extract/xml_part.h"
#include "kernels/utf8.h"

enum { MAX_FORMATS = 65536, MAX_TOLD = 1024, NAME_BYTES = 128 };

typedef struct reader {
    builder *b;
    part_names sheets, relations; /* ids, and the sheets' names; ids, and parts */
    bool from_1904;
    /* strings that cells share: at[i] .. at[i + 1] of `strings` */
    fo_buf strings;
    size_t *at, n_strings, cap_strings;
    size_t taken; /* of the budget for them */
    /* formats of numbers: those of each kind first, then those that the file tells; and which of them a numFmtId is, and a
     * style of cells */
    number_format formats[MAX_TOLD];
    size_t n_formats;
    uint16_t *ids, *styles; /* [MAX_FORMATS] */
    size_t n_styles;
    bool in_cell_formats;
    /* the sheet at hand */
    const char *sheet; /* its name */
    table_spans table;
    sheet_merges merges;
    uint32_t row, column;
    char type[12]; /* of the cell at hand */
    long style;
    fo_buf value;
    bool in_value, in_phonetic;
    bool raised, raised_before; /* the run at hand of a string; its text that was added last */
} reader;

/* ---- runs of a string ------------------------------------------------------------------------------- */

/* Strings of several runs say of each how it looks. */
static void open_run(reader *r, const xml_element *e) {
    char value[16];
    if (xml_is(e->name, "si is")) r->raised = r->raised_before = false;
    if (!strcmp(e->name, "r")) r->raised = false;
    if (strcmp(e->name, "vertAlign") != 0) return;
    xml_attribute(e, "val", value, sizeof value);
    r->raised = !strcmp(value, "superscript");
}

/* Behind to[from..], what the string has so far. */
static void add_run(reader *r, fo_buf *to, size_t from, const char *s, size_t n) {
    const char *before = to->data ? to->data + from : "";
    if (r->raised && !r->raised_before)
        fo_buf_str(to, superscript_mark(before, to->len - from, s, n, false));
    r->raised_before = r->raised;
    fo_buf_add(to, s, n);
}

/* ---- characters that a string names --------------------------------------------------------------------- */

/* The UTF-16 unit of "_x000D_" at s[0..n); -1: that is not there. */
static int32_t read_unit(const char *s, size_t n) {
    if (n < 7 || s[0] != '_' || s[1] != 'x' || s[6] != '_') return -1;
    int32_t v = 0;
    for (int i = 2; i < 6; i++) {
        if (!isxdigit((unsigned char)s[i])) return -1;
        v = v * 16 + (fo_is_digit(s[i]) ? s[i] - '0' : (s[i] | 32) - 'a' + 10);
    }
    return v;
}

/* The same as a character, of two units where those are a pair: the bytes that it takes; 0: none begins here. */
static size_t read_escape(const char *s, size_t n, int32_t *cp) {
    *cp = read_unit(s, n);
    if (*cp < 0) return 0;
    if (*cp < 0xD800 || *cp > 0xDFFF) return *cp < 0xFFFE ? 7 : 0;
    const int32_t low = *cp < 0xDC00 ? read_unit(s + 7, n - 7) : -1;
    if (low < 0xDC00 || low > 0xDFFF) return 0;
    *cp = 0x10000 + ((*cp - 0xD800) << 10) + (low - 0xDC00);
    return 14;
}

static bool is_control(int32_t cp) {
    return (cp < 0x20 && cp != '\t' && cp != '\r' && cp != '\n') || (cp >= 0x7F && cp < 0xA0);
}

/* What XML cannot hold, and what would be read as such, stands as _xHHHH_: "_x005F_x" is "_x". In place, for it is shorter so;
 * controls are no text. Source: ECMA-376 part 1, 22.9.2.19. */
static void decode_escapes(fo_buf *text, size_t from) {
    if (!text->data || text->len < from + 7) return;
    char *s = text->data;
    size_t to = from;
    for (size_t at = from; at < text->len;) {
        int32_t cp;
        const size_t k = read_escape(s + at, text->len - at, &cp);
        if (!k)
            s[to++] = s[at++];
        else if (!is_control(cp))
            to += fo_utf8_encode(cp, s + to);
        at += k;
    }
    s[to] = 0;
    text->len = to;
}

/* ---- the workbook: sheets, strings, formats --------------------------------------------------------- */

static void book_open(void *ctx, const xml_element *e) {
    reader *r = ctx;
    char value[16];
    if (!strcmp(e->name, "workbookPr") && xml_attribute(e, "date1904", value, sizeof value))
        r->from_1904 = xml_is(value, "1 true");
    if (strcmp(e->name, "sheet") != 0) return;
    char name[NAME_BYTES], id[64];
    xml_attribute(e, "name", name, sizeof name);
    xml_attribute(e, ":id", id, sizeof id);
    part_names_add(&r->sheets, id, name);
}

static bool keep_string(reader *r) {
    if (r->n_strings + 2 > r->cap_strings) {
        size_t more = r->cap_strings ? 2 * r->cap_strings : 1024;
        size_t *grown = realloc(r->at, more * sizeof *grown);
        if (!grown) {
            r->b->failure = FO_ENOMEM;
            return false;
        }
        r->at = grown;
        r->cap_strings = more;
        if (!r->n_strings) r->at[0] = 0;
    }
    decode_escapes(&r->strings, r->at[r->n_strings]);
    r->at[++r->n_strings] = r->strings.len;
    size_t now = r->strings.len + r->cap_strings * sizeof *r->at;
    if (now > r->taken && !doc_budget_take(r->b->budget, now - r->taken))
        r->b->failure = r->b->budget->failure;
    else if (now > r->taken)
        r->taken = now;
    if (r->strings.failed) r->b->failure = FO_ENOMEM;
    return !r->b->failure;
}

static void strings_open(void *ctx, const xml_element *e) {
    reader *r = ctx;
    open_run(r, e);
    if (!strcmp(e->name, "t")) r->in_value = true;
    if (!strcmp(e->name, "rPh")) r->in_phonetic = true; /* how it is read aloud: not its text */
}
static void strings_close(void *ctx, const char *name) {
    reader *r = ctx;
    if (!strcmp(name, "t")) r->in_value = false;
    if (!strcmp(name, "rPh")) r->in_phonetic = false;
    if (!strcmp(name, "si") && !r->b->failure) keep_string(r);
}
static void strings_text(void *ctx, const char *s, size_t n) {
    reader *r = ctx;
    if (r->in_value && !r->in_phonetic && !r->b->failure)
        add_run(r, &r->strings, r->n_strings ? r->at[r->n_strings] : 0, s, n);
}

/* What many formats have in common has one place; where there are too many, the kind is told. */
static uint16_t keep_format(reader *r, const char *code) {
    number_format f;
    number_format_read(&f, code);
    const bool plain = !f.digits && !*f.before && !*f.behind;
    if (plain || r->n_formats == MAX_TOLD) return f.kind;
    r->formats[r->n_formats] = f;
    return (uint16_t)r->n_formats++;
}

static void formats_open(void *ctx, const xml_element *e) {
    reader *r = ctx;
    if (!strcmp(e->name, "numFmt")) {
        char code[256];
        long id = xml_number(e, "numFmtId", -1);
        xml_attribute(e, "formatCode", code, sizeof code);
        if (id >= 0 && id < MAX_FORMATS) r->ids[id] = keep_format(r, code);
    } else if (!strcmp(e->name, "cellXfs")) {
        r->in_cell_formats = true;
    } else if (r->in_cell_formats && !strcmp(e->name, "xf") && r->n_styles < MAX_FORMATS) {
        long id = xml_number(e, "numFmtId", 0);
        r->styles[r->n_styles++] = id >= 0 && id < MAX_FORMATS ? r->ids[id] : NUMBER_PLAIN;
    }
}
static void formats_close(void *ctx, const char *name) {
    if (!strcmp(name, "cellXfs")) ((reader *)ctx)->in_cell_formats = false;
}

/* ---- a sheet --------------------------------------------------------------------------------------- */

/* Cells that are not there, or empty, may be part of others. */
static void cover(reader *r, uint32_t until) {
    if (r->column < until) table_spans_covered(&r->table, r->column, until - r->column);
}

/* What is said of a cell stands in all that are merged with it. figure: it is a number, whatever stands beside that. */
static void say_cell(reader *r, const char *s, size_t n, bool figure) {
    table_rows *rows = &r->table.rows;
    const size_t before = rows->n_cells;
    const sheet_merge *m = n ? sheet_merges_at(&r->merges, r->row, r->column) : NULL;
    if (!n)
        table_spans_covered(&r->table, r->column, 1);
    else if (m)
        table_spans_cell(&r->table, r->column, m->last_column - m->column + 1,
                         m->last_row - m->row + 1, s, n);
    else
        table_spans_cell(&r->table, r->column, 1, 1, s, n);
    for (size_t i = before; figure && i < rows->n_cells; i++) rows->cells[i].figure = true;
    r->column++;
}

static void end_cell(reader *r) {
    if (xml_is(r->type, "str inlineStr")) decode_escapes(&r->value, 0);
    const char *s = r->value.data ? r->value.data : "";
    size_t n = r->value.len;
    char shown[NUMBER_SHOWN];
    bool worded = false;
    if (!strcmp(r->type, "s")) {
        char *end;
        unsigned long i = strtoul(s, &end, 10);
        bool known = *s && !*end && i < r->n_strings;
        n = known ? r->at[i + 1] - r->at[i] : 0;
        s = known ? r->strings.data + r->at[i] : "";
    } else if (!strcmp(r->type, "b")) {
        s = n && *s == '1' ? "yes" : n ? "no" : "";
        n = strlen(s);
    } else if (!*r->type || !strcmp(r->type, "n")) {
        const bool styled = r->style >= 0 && (size_t)r->style < r->n_styles;
        const number_format *f = &r->formats[styled ? r->styles[r->style] : NUMBER_PLAIN];
        size_t k = number_format_show(f, s, r->from_1904, shown);
        if (k) s = shown, n = k; /* what is no number stays as it is written */
        worded = k && f >= r->formats + NUMBER_KINDS;
    }
    say_cell(r, s ? s : "", n, worded);
}

static void sheet_open(void *ctx, const xml_element *e) {
    reader *r = ctx;
    char name[16];
    open_run(r, e);
    if (!strcmp(e->name, "row")) {
        long row = xml_number(e, "r", (long)r->row + 1);
        table_spans_row(&r->table);
        /* An empty row, though it is not there at all, parts two tables. */
        if (row > (long)r->row + 1 && r->row && row <= 1048576 &&
            !table_spans_pass(&r->table, (uint32_t)(row - r->row) - 1))
            table_spans_end_row(&r->table, NULL, 0, false);
        r->row = row > 0 && row <= 1048576 ? (uint32_t)row : r->row + 1;
        r->column = 0;
    } else if (!strcmp(e->name, "c")) {
        uint32_t column = r->column;
        if (xml_attribute(e, "r", name, sizeof name)) sheet_cell_read(name, &column, &r->row);
        cover(r, column);
        r->column = column;
        xml_attribute(e, "t", r->type, sizeof r->type);
        r->style = xml_number(e, "s", 0);
        r->raised = r->raised_before = false;
        fo_buf_clear(&r->value);
    } else if (xml_is(e->name, "v t")) {
        r->in_value = true;
    } else if (!strcmp(e->name, "rPh")) {
        r->in_phonetic = true;
    }
}

static void sheet_close(void *ctx, const char *name) {
    reader *r = ctx;
    if (xml_is(name, "v t")) r->in_value = false;
    if (!strcmp(name, "rPh")) r->in_phonetic = false;
    if (r->b->failure) return;
    if (!strcmp(name, "c")) end_cell(r);
    if (strcmp(name, "row") != 0) return;
    cover(r, TABLE_SPANS_COLUMNS);
    table_spans_end_row(&r->table, &(text_place){.sheet = r->sheet}, r->row, false);
}

static void sheet_text(void *ctx, const char *s, size_t n) {
    reader *r = ctx;
    if (!r->in_value || r->in_phonetic || r->b->failure) return;
    if (r->value.len + n > r->b->max_bytes)
        r->b->failure = FO_ELIMIT;
    else
        add_run(r, &r->value, 0, s, n);
    if (r->value.failed) r->b->failure = FO_ENOMEM;
}

/* ---- the whole ------------------------------------------------------------------------------------- */

static int read_sheets(reader *r, zip_parts *z, const char *book, fo_err *err) {
    static const xml_events events = {sheet_open, sheet_close, sheet_text};
    int rc = xml_part_relations(z, book, &r->relations, err);
    for (size_t i = 0; !rc && builder_go_on(r->b, 0) && i < r->sheets.n; i++) {
        r->sheet = part_names_says(&r->sheets, i);
        const char *part = part_names_find(&r->relations, part_names_at(&r->sheets, i));
        if (!part || !zip_parts_has(z, part)) continue; /* a chart has no part here */
        size_t n_blocks, n_text;
        builder_set_place(r->b, &(text_place){.sheet = r->sheet});
        n_blocks = r->b->n_blocks;
        n_text = r->b->text.len;
        builder_begin(r->b, TEXT_HEADING, 1);
        builder_add_flowing(r->b, r->sheet, strlen(r->sheet));
        builder_end(r->b);
        size_t headed = r->b->n_blocks;
        table_spans_begin(&r->table, r->b, true);
        r->row = r->column = 0;
        rc = sheet_merges_find(&r->merges, z, part, err);
        if (!rc && !r->b->failure) rc = xml_part_read(z, r->b, part, &events, r, err);
        table_spans_end(&r->table);
        if (r->b->n_blocks == headed && !r->b->failure) builder_rewind(r->b, n_blocks, n_text);
    }
    return rc;
}

static int read_parts(reader *r, zip_parts *z, fo_err *err) {
    static const xml_events of_book = {.open = book_open},
                            of_strings = {strings_open, strings_close, strings_text},
                            of_formats = {.open = formats_open, .close = formats_close};
    fo_buf book = {0}, part = {0};
    for (uint8_t i = 0; i < NUMBER_KINDS; i++) r->formats[i].kind = i;
    r->n_formats = NUMBER_KINDS;
    for (long i = 0; i < 60; i++) r->ids[i] = number_format_builtin(i);
    int rc = xml_part_related(z, r->b, "", "/officeDocument", NULL, &book, err);
    if (!rc && !book.len) fo_buf_str(&book, "xl/workbook.xml");
    xml_part_title(z, r->b, "docProps/core.xml");
    if (!rc) rc = xml_part_read(z, r->b, book.data, &of_book, r, err);
    if (!rc) rc = xml_part_related(z, r->b, book.data, "/sharedStrings", NULL, &part, err);
    if (!rc && part.len && zip_parts_has(z, part.data))
        rc = xml_part_read(z, r->b, part.data, &of_strings, r, err);
    r->in_value = r->in_phonetic = false;
    if (!rc) rc = xml_part_related(z, r->b, book.data, "/styles", NULL, &part, err);
    if (!rc && part.len && zip_parts_has(z, part.data))
        rc = xml_part_read(z, r->b, part.data, &of_formats, r, err);
    if (!rc) rc = read_sheets(r, z, book.data, err);
    fo_buf_free(&part);
    fo_buf_free(&book);
    return rc;
}

int extract_xlsx(builder *b, extract_input *in, fo_err *err) {
    zip_parts *z;
    int rc = zip_parts_open(&z, b, in->bytes, in->n, err);
    if (rc) return rc;
    reader *r = calloc(1, sizeof *r);
    if (r) {
        r->b = r->sheets.b = r->relations.b = b;
        r->ids = calloc(MAX_FORMATS, sizeof *r->ids);
        r->styles = calloc(MAX_FORMATS, sizeof *r->styles);
    }
    rc = r && r->ids && r->styles ? read_parts(r, z, err) : fo_no_memory(err);
    if (r) {
        table_spans_free(&r->table);
        sheet_merges_free(&r->merges);
        part_names_free(&r->sheets);
        part_names_free(&r->relations);
        doc_budget_give(b->budget, r->taken);
        free(r->at);
        free(r->ids);
        free(r->styles);
        fo_buf_free(&r->strings);
        fo_buf_free(&r->value);
    }
    free(r);
    zip_parts_close(z);
    return rc;
}
