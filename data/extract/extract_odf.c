/* OpenDocument: texts, sheets and presentations, which are one language (content.xml). Headings, lists,
 * tables, notes; of sheets the names of cells, of presentations the slides. Source: OpenDocument 1.2,
 * part 1. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/extract/extract_internal.h"
#include "data/extract/odf_numbers.h"
#include "data/extract/superscript.h"
#include "data/extract/table_spans.h"
#include "data/extract/xml_part.h"

enum { MAX_BLANKS = 64, MAX_ROWS = 1 << 20, MAX_WITHIN = 16 };

typedef struct reader {
    builder *b;
    bool sheets, slides; /* which of the three it is */
    text_place place;
    char sheet[256];
    /* the paragraph at hand */
    fo_buf text;
    int open;               /* headings and paragraphs around it: a frame in one holds others */
    int levels[MAX_WITHIN]; /* of those, from the outermost; 0: a paragraph */
    odf_numbers numbers;
    char mark
        [ODF_MARK_BYTES]; /* the number before the outermost paragraph at hand, until it is said */
    odf_mark marked;      /* in a list: what stands before it */
    int skip;             /* depth below what is passed over */
    bool title, in_notes, said_notes;
    /* text that is raised: the styles that say so, each between blanks, and the span that has one */
    fo_buf raised_styles, hidden_styles; /* hidden: or struck out */
    char style[128];                     /* the one that is being told */
    int spans, raised_at;                /* how many are open; which of them raises; 0: none */
    bool raised, link;                   /* it, a link, has begun, and no text since */
    /* notes of a text stand where they are called, in brackets; those of a heading below it */
    int in_note;
    fo_buf note, behind;
    /* tables; one within another is part of a cell */
    int tables;
    table_spans table;
    fo_buf cell;
    uint32_t column, row, repeat, row_repeat;
    uint32_t wide, high; /* columns and rows that the cell at hand goes over */
    bool covered;        /* another one goes over it */
    size_t again;        /* bytes of values that many cells repeat, of the whole document */
    bool header;
} reader;

/* ---- paragraphs ----------------------------------------------------------------------------------- */

static void add(reader *r, const char *s, size_t n) {
    fo_buf *to = r->in_note ? &r->note : &r->text;
    if (r->text.len + r->cell.len + r->note.len + r->behind.len + n > r->b->max_bytes)
        r->b->failure = FO_ELIMIT;
    else
        fo_buf_add(to, s, n);
}

static void write_block(reader *r, uint8_t kind, uint8_t level, const char *mark,
                        const fo_buf *text) {
    builder *b = r->b;
    if (!text->len || b->failure) return;
    if (r->in_notes && !r->said_notes) {
        builder_begin(b, TEXT_HEADING, 3);
        builder_str(b, "Notes");
        r->said_notes = true;
    }
    builder_begin(b, kind, level);
    builder_str(b, mark);
    if (*mark) builder_str(b, " ");
    builder_add_flowing(b, text->data, text->len);
    builder_end(b);
}

static int level_here(const reader *r) {
    return r->open && r->open <= MAX_WITHIN ? r->levels[r->open - 1] : 0;
}

/* What stands before a block at hand, once. */
static const char *take_mark(reader *r, uint8_t kind, char mark[ODF_MARK_BYTES]) {
    if (kind == TEXT_LIST_ITEM && r->marked == ODF_BULLET) return "\xE2\x80\xA2";
    memcpy(mark, r->open > 1 ? "" : r->mark, r->open > 1 ? 1 : sizeof r->mark);
    if (r->open <= 1) r->mark[0] = 0;
    return mark;
}

static void add_to_cell(reader *r) {
    char mark[ODF_MARK_BYTES];
    if (!r->text.len) return;
    take_mark(r, TEXT_PARAGRAPH, mark);
    if (r->cell.len) fo_buf_char(&r->cell, ' ');
    if (*mark) fo_buf_printf(&r->cell, "%s ", mark);
    fo_buf_add(&r->cell, r->text.data, r->text.len); /* add() bounds both */
}

static void flush(reader *r) {
    builder *b = r->b;
    char mark[ODF_MARK_BYTES];
    if (r->text.failed || r->cell.failed || r->note.failed || r->behind.failed || r->numbers.failed)
        b->failure = FO_ENOMEM;
    if (r->tables) {
        add_to_cell(r);
    } else {
        int own = level_here(r), level = own ? own : r->title && !r->in_notes ? 2 : 0;
        uint8_t kind = level                               ? TEXT_HEADING
                       : r->numbers.n_open && !r->in_notes ? TEXT_LIST_ITEM
                                                           : TEXT_PARAGRAPH;
        if (r->text.len)
            write_block(r, kind, (uint8_t)(level > 6 ? 6 : level), take_mark(r, kind, mark),
                        &r->text);
        if (level && r->slides && r->place.slide == 1)
            builder_set_title(b, r->text.data, r->text.len);
        else if (level && !r->slides)
            builder_title_heading(b, (uint8_t)level, r->text.data, r->text.len);
        write_block(r, TEXT_PARAGRAPH, 0, "", &r->behind);
        fo_buf_clear(&r->behind);
    }
    fo_buf_clear(&r->text);
}

static void end_note(reader *r) {
    if (!r->in_note || --r->in_note) return;
    fo_buf *to = level_here(r) && !r->tables ? &r->behind : &r->text;
    if (r->note.len) { /* add() bounds both */
        fo_buf_str(to, " (");
        fo_buf_add(to, r->note.data, r->note.len);
        fo_buf_char(to, ')');
    }
    fo_buf_clear(&r->note);
}

/* What stands before it in the one around it is a block of its own, and so is what comes behind. */
static void begin_paragraph(reader *r, const xml_element *e) {
    flush(r);
    long n = *e->name == 'h' ? xml_number(e, "outline-level", 1) : 0;
    const long level = n;
    if (*e->name == 'h' && (n < 1 || n > 6)) n = 6;
    if (r->open < MAX_WITHIN) r->levels[r->open] = (int)n;
    if (r->open++ || r->sheets) return;
    r->mark[0] = 0;
    r->marked = ODF_BULLET;
    if (r->in_notes || r->title) return;
    if (r->numbers.n_open)
        r->marked = odf_numbers_next(&r->numbers, r->mark);
    else if (*e->name == 'h')
        odf_numbers_heading(&r->numbers, e, level, r->mark);
}

/* ---- tables --------------------------------------------------------------------------------------- */

static void begin_table(reader *r, const xml_element *e) {
    flush(r);
    if (r->tables++) return;
    table_spans_begin(&r->table, r->b, r->sheets);
    r->row = 0;
    if (!r->sheets) return;
    xml_attribute(e, "name", r->sheet, sizeof r->sheet);
    r->place = (text_place){.sheet = r->sheet};
    builder_set_place(r->b, &r->place);
    builder_begin(r->b, TEXT_HEADING, 1);
    builder_add_flowing(r->b, r->sheet, strlen(r->sheet));
    builder_end(r->b);
}

static uint32_t repeated(const xml_element *e, const char *name, uint32_t most) {
    long n = xml_number(e, name, 1);
    return n < 1 ? 1 : n > (long)most ? most : (uint32_t)n;
}

/* In how many cells the value at hand is said. One in more columns than a row is told of fills the sheet; and a small file may
 * repeat without end. */
static uint32_t times_said(reader *r) {
    enum { FEW = 16, PART = 8, BESIDE = 16 }; /* beside: what a name and the bars take, about */
    if (r->repeat < FEW) return r->repeat;
    const size_t bytes = (size_t)r->repeat * (r->cell.len + BESIDE);
    if (r->repeat > TABLE_MAX_COLUMNS || r->cell.len > TABLE_SPANS_WORDS ||
        bytes > r->b->max_bytes / PART - r->again)
        return 1;
    r->again += bytes;
    return r->repeat;
}

static void end_cell(reader *r) {
    flush(r);
    const char *s = r->cell.data ? r->cell.data : "";
    if (r->covered && (r->sheets || !r->cell.len))
        table_spans_covered(&r->table, r->column, r->repeat);
    else if (r->cell.len || r->repeat < 16)
        for (uint32_t i = 0, times = times_said(r); i < times; i++)
            table_spans_cell(&r->table, r->column + i, r->wide, r->high, s, r->cell.len);
    r->column += r->repeat;
    fo_buf_clear(&r->cell);
}

static void end_row(reader *r) {
    const bool placed = r->sheets || r->slides;
    table_spans_end_row(&r->table, placed ? &r->place : NULL, r->sheets ? r->row + 1 : 0,
                        r->header);
    if (r->row_repeat > 1) table_spans_pass(&r->table, r->row_repeat - 1);
    if (r->row < MAX_ROWS) r->row += r->row_repeat;
}

/* ---- events --------------------------------------------------------------------------------------- */

static void open_table_part(reader *r, const xml_element *e) {
    const char *name = e->name;
    if (!strcmp(name, "table"))
        begin_table(r, e);
    else if (!strcmp(name, "table-header-rows") && r->tables == 1)
        r->header = true;
    else if (!strcmp(name, "table-row") && r->tables == 1) {
        r->column = 0;
        table_spans_row(&r->table);
        r->row_repeat = repeated(e, "number-rows-repeated", MAX_ROWS);
    } else if (xml_is(name, "table-cell covered-table-cell") && r->tables == 1) {
        fo_buf_clear(&r->cell);
        r->repeat = repeated(e, "number-columns-repeated", 16384);
        r->covered = *name == 'c';
        r->wide = repeated(e, "number-columns-spanned", 16384);
        r->high = repeated(e, "number-rows-spanned", MAX_ROWS);
    }
}

/* ---- raised text ---------------------------------------------------------------------------------- */

static void keep_style(reader *r, fo_buf *to) {
    enum { MOST = 64 << 10 };
    if (to->len > MOST || strchr(r->style, ' ')) return;
    fo_buf_printf(to, " %s ", r->style);
    if (to->failed) r->b->failure = FO_ENOMEM;
}

/* Does e have one of these styles? */
static bool has_style(const xml_element *e, const fo_buf *styles) {
    char name[128], between[132];
    if (!styles->len || !xml_attribute(e, "style-name", name, sizeof name)) return false;
    snprintf(between, sizeof between, " %s ", name);
    return strstr(styles->data, between) != NULL;
}

/* "super 58%", "33% 58%"; lowered text is below 0. */
static void read_style(reader *r, const xml_element *e) {
    char value[32];
    if (!*r->style) return;
    if (xml_attribute(e, "text-position", value, sizeof value) &&
        (strncmp(value, "super", 5) == 0 || atoi(value) > 0))
        keep_style(r, &r->raised_styles);
    const bool hidden = xml_attribute(e, "display", value, sizeof value) && !strcmp(value, "none");
    if (hidden || (xml_attribute(e, "text-line-through-style", value, sizeof value) && *value &&
                   strcmp(value, "none") != 0))
        keep_style(r, &r->hidden_styles);
}

/* By its style, or as a section or a field that is shown to nobody. */
static bool is_hidden(const reader *r, const xml_element *e) {
    char value[16];
    if (xml_is(e->name, "p h span")) return has_style(e, &r->hidden_styles);
    if (!xml_is(e->name, "section hidden-text hidden-paragraph")) return false;
    if (xml_attribute(e, "display", value, sizeof value) && !strcmp(value, "none")) return true;
    xml_attribute(e, "is-hidden", value, sizeof value);
    return !strcmp(value, "true");
}

static void begin_span(reader *r, const xml_element *e) {
    r->spans++;
    if (r->raised_at || !has_style(e, &r->raised_styles)) return;
    r->raised_at = r->spans;
    r->raised = true;
}

static void end_span(reader *r) {
    if (r->raised_at == r->spans) {
        r->raised_at = 0;
        r->raised = false;
    }
    r->spans -= r->spans > 0;
}

static void on_open(void *ctx, const xml_element *e) {
    reader *r = ctx;
    const char *name = e->name;
    char value[64];
    /* What was deleted, remarks, the numbers of notes, numbers of pages and what they are made of. */
    if (r->skip || is_hidden(r, e) ||
        xml_is(name, "tracked-changes annotation note-citation forms page-number ruby-text "
                     "header footer date-time table-of-content illustration-index "
                     "table-index alphabetical-index")) {
        r->skip++;
    } else if (odf_numbers_style(&r->numbers, e)) {
        return;
    } else if (xml_is(name, "h p")) {
        if (r->in_note) {
            if (r->note.len) add(r, " ", 1);
        } else {
            begin_paragraph(r, e);
        }
    } else if (!strcmp(name, "style")) {
        xml_attribute(e, "name", r->style, sizeof r->style);
    } else if (!strcmp(name, "text-properties")) {
        read_style(r, e);
    } else if (!strcmp(name, "span")) {
        begin_span(r, e);
    } else if (!strcmp(name, "a")) {
        r->link = true;
    } else if (!strcmp(name, "s")) {
        long n = xml_number(e, "c", 1);
        for (long i = 0; i < n && i < MAX_BLANKS; i++) add(r, " ", 1);
    } else if (xml_is(name, "tab line-break")) {
        add(r, " ", 1);
    } else if (!strcmp(name, "list")) {
        odf_numbers_begin_list(&r->numbers, e);
    } else if (xml_is(name, "list-item list-header")) {
        odf_numbers_begin_item(&r->numbers, e);
    } else if (!strcmp(name, "note")) {
        r->in_note++;
        if (r->note.len) add(r, " ", 1);
    } else if (!strcmp(name, "page") && r->slides) {
        r->place = (text_place){.slide = r->place.slide + 1};
        r->in_notes = r->said_notes = false;
        builder_set_place(r->b, &r->place);
    } else if (!strcmp(name, "notes") && r->slides) {
        r->in_notes = true;
    } else if (!strcmp(name, "frame")) {
        xml_attribute(e, "class", value, sizeof value);
        r->title = !strcmp(value, "title");
    } else {
        open_table_part(r, e);
    }
}

static void on_close(void *ctx, const char *name) {
    reader *r = ctx;
    if (r->skip) {
        r->skip--;
    } else if (xml_is(name, "h p")) {
        if (r->in_note) return;
        flush(r);
        r->open -= r->open > 0;
    } else if (!strcmp(name, "style")) {
        r->style[0] = 0;
    } else if (!strcmp(name, "span")) {
        end_span(r);
    } else if (!strcmp(name, "a")) {
        r->link = false;
    } else if (!strcmp(name, "list")) {
        odf_numbers_end_list(&r->numbers);
    } else if (!strcmp(name, "note")) {
        end_note(r);
    } else if (!strcmp(name, "notes")) {
        r->in_notes = false;
    } else if (!strcmp(name, "frame")) {
        r->title = false;
    } else if (xml_is(name, "table-cell covered-table-cell") && r->tables == 1) {
        end_cell(r);
    } else if (!strcmp(name, "table-row") && r->tables == 1) {
        end_row(r);
    } else if (!strcmp(name, "table-header-rows")) {
        r->header = false;
    } else if (!strcmp(name, "table") && r->tables) {
        flush(r);
        r->tables--;
        if (!r->tables) table_spans_end(&r->table);
        if (!r->tables && r->slides) builder_set_place(r->b, &r->place);
    }
}

static void on_text(void *ctx, const char *s, size_t n) {
    reader *r = ctx;
    if (r->skip || !(r->open || r->in_note) || r->b->failure) return;
    const fo_buf *before = r->in_note ? &r->note : &r->text;
    if (r->raised) {
        const char *mark = superscript_mark(before->data, before->len, s, n, r->link);
        add(r, mark, strlen(mark));
    }
    r->raised = r->link = false;
    add(r, s, n);
}

/* ---- the whole ------------------------------------------------------------------------------------ */

typedef struct manifest {
    bool encrypted;
} manifest;

static void manifest_open(void *ctx, const xml_element *e) {
    if (!strcmp(e->name, "encryption-data")) ((manifest *)ctx)->encrypted = true;
}

static void styles_open(void *ctx, const xml_element *e) {
    odf_numbers_style(&((reader *)ctx)->numbers, e);
}

static int read_parts(reader *r, zip_parts *z, fo_err *err) {
    static const xml_events events = {on_open, on_close, on_text};
    static const xml_events of_manifest = {.open = manifest_open},
                            of_styles = {.open = styles_open};
    manifest m = {0};
    fo_buf type = {0};
    int rc = zip_parts_read(z, "mimetype", 4096, &type, err);
    if (!rc) {
        r->sheets = strstr(type.data, "spreadsheet") != NULL;
        r->slides = strstr(type.data, "presentation") != NULL;
    }
    fo_buf_free(&type);
    if (!rc && zip_parts_has(z, "META-INF/manifest.xml"))
        rc = xml_part_read(z, r->b, "META-INF/manifest.xml", &of_manifest, &m, err);
    if (!rc && m.encrypted)
        rc = fo_fail(err, FO_EUNSUPPORTED, "it is encrypted and asks for a password");
    if (!rc && !r->sheets && zip_parts_has(z, "styles.xml"))
        rc = xml_part_read(z, r->b, "styles.xml", &of_styles, r, err);
    if (rc || r->b->failure) return rc;
    xml_part_title(z, r->b, "meta.xml");
    return xml_part_read(z, r->b, "content.xml", &events, r, err);
}

int extract_odf(builder *b, extract_input *in, fo_err *err) {
    zip_parts *z;
    int rc = zip_parts_open(&z, b, in->bytes, in->n, err);
    if (rc) return rc;
    reader *r = calloc(1, sizeof *r);
    if (r) r->b = b;
    rc = r ? read_parts(r, z, err) : fo_no_memory(err);
    if (r) {
        table_spans_free(&r->table);
        fo_buf_free(&r->text);
        fo_buf_free(&r->cell);
        fo_buf_free(&r->note);
        fo_buf_free(&r->behind);
        fo_buf_free(&r->raised_styles);
        fo_buf_free(&r->hidden_styles);
        odf_numbers_free(&r->numbers);
    }
    free(r);
    zip_parts_close(z);
    return rc;
}
