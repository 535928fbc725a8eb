/* PowerPoint presentations: slides in their order, titles as headings, paragraphs, tables, notes. Source:
 * ECMA-376 part 1, section 19. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/extract/extract_internal.h"
#include "data/extract/table_rows.h"
#include "data/extract/xml_part.h"

enum { MAX_SLIDES = 10000 };

typedef struct slide_id {
    char id[40];
} slide_id;

typedef struct reader {
    builder *b;
    slide_id *slides;
    size_t n_slides;
    /* the slide at hand */
    text_place place;
    fo_buf text;
    bool in_text, title, notes, said_notes;
    int skip;     /* depth below what is passed over */
    int left_out; /* depth below a shape that is no text of the slide: its number, its date */
    int tables;
    uint32_t column, span;
    table_rows *rows;
    fo_buf cell;
} reader;

static void show_open(void *ctx, const xml_element *e) {
    reader *r = ctx;
    if (strcmp(e->name, "sldId") != 0 || r->n_slides == MAX_SLIDES) return;
    slide_id *s = &r->slides[r->n_slides];
    if (xml_attribute(e, ":id", s->id, sizeof s->id)) r->n_slides++;
}

static void flush(reader *r) {
    builder *b = r->b;
    if (r->text.failed || r->cell.failed) b->failure = FO_ENOMEM;
    if (r->text.len && !b->failure && r->tables) {
        if (r->cell.len) fo_buf_char(&r->cell, ' ');
        fo_buf_add(&r->cell, r->text.data, r->text.len);
    } else if (r->text.len && !b->failure) {
        bool heading = r->title && !r->notes;
        if (r->notes && !r->said_notes) {
            builder_begin(b, TEXT_HEADING, 3);
            builder_str(b, "Notes");
            r->said_notes = true;
        }
        builder_begin(b, heading ? TEXT_HEADING : TEXT_PARAGRAPH, heading ? 2 : 0);
        size_t from = b->text.len;
        builder_add_flowing(b, r->text.data, r->text.len);
        if (heading && r->place.slide == 1 && !b->failure)
            builder_set_title(b, b->text.data + from, b->text.len - from);
        builder_end(b);
    }
    fo_buf_clear(&r->text);
}

static void add(reader *r, const char *s, size_t n) {
    if (r->text.len + r->cell.len + n > r->b->max_bytes)
        r->b->failure = FO_ELIMIT;
    else
        fo_buf_add(&r->text, s, n);
}

static void on_open(void *ctx, const xml_element *e) {
    reader *r = ctx;
    const char *name = e->name;
    char value[24];
    if (r->skip || !strcmp(name, "Fallback")) {
        r->skip++;
    } else if (!strcmp(name, "t")) {
        r->in_text = true;
    } else if (!strcmp(name, "sp")) {
        r->title = false;
        r->left_out = 0;
    } else if (!strcmp(name, "ph")) {
        xml_attribute(e, "type", value, sizeof value);
        r->title = xml_is(value, "title ctrTitle");
        r->left_out = xml_is(value, "sldNum dt ftr hdr sldImg");
    } else if (!strcmp(name, "p")) {
        flush(r);
    } else if (!strcmp(name, "br")) {
        add(r, " ", 1);
    } else if (!strcmp(name, "tbl")) {
        flush(r);
        if (!r->tables++) table_rows_begin(r->rows, r->b, false);
    } else if (!strcmp(name, "tr")) {
        r->column = 0;
    } else if (!strcmp(name, "tc")) {
        fo_buf_clear(&r->cell);
        long n = xml_number(e, "gridSpan", 1);
        r->span = n > 0 && n < TABLE_MAX_COLUMNS ? (uint32_t)n : 1;
        if (xml_attribute(e, "hMerge", value, sizeof value) && xml_is(value, "1 true")) r->span = 0;
    }
}

static void on_close(void *ctx, const char *name) {
    reader *r = ctx;
    if (r->skip) {
        r->skip--;
    } else if (!strcmp(name, "t")) {
        r->in_text = false;
    } else if (xml_is(name, "p sp")) {
        flush(r);
        if (!strcmp(name, "p")) return;
        r->title = false;
        r->left_out = 0;
    } else if (!strcmp(name, "tc") && r->tables) {
        flush(r);
        table_rows_cell(r->rows, r->column, r->cell.data ? r->cell.data : "", r->cell.len);
        r->column += r->span;
        fo_buf_clear(&r->cell);
    } else if (!strcmp(name, "tr") && r->tables) {
        if (r->rows->n_cells) table_rows_end_row(r->rows, &r->place, false);
        builder_set_place(r->b, &r->place);
    } else if (!strcmp(name, "tbl") && r->tables) {
        r->tables--;
    }
}

static void on_text(void *ctx, const char *s, size_t n) {
    reader *r = ctx;
    if (r->in_text && !r->skip && !r->left_out && !r->b->failure) add(r, s, n);
}

static int read_part(reader *r, zip_parts *z, const char *part, fo_err *err) {
    static const xml_events events = {on_open, on_close, on_text};
    r->skip = r->tables = r->left_out = 0;
    r->title = r->in_text = false;
    fo_buf_clear(&r->text);
    return xml_part_read(z, r->b, part, &events, r, err);
}

static int read_parts(reader *r, zip_parts *z, fo_err *err) {
    static const xml_events of_show = {.open = show_open};
    fo_buf show = {0}, part = {0}, notes = {0};
    int rc = xml_part_related(z, r->b, "", "/officeDocument", NULL, &show, err);
    if (!rc && !show.len) fo_buf_str(&show, "ppt/presentation.xml");
    xml_part_title(z, r->b, "docProps/core.xml");
    if (!rc) rc = xml_part_read(z, r->b, show.data, &of_show, r, err);
    for (size_t i = 0; !rc && !r->b->failure && i < r->n_slides; i++) {
        rc = xml_part_related(z, r->b, show.data, NULL, r->slides[i].id, &part, err);
        if (rc || !part.len || !zip_parts_has(z, part.data)) continue;
        r->place = (text_place){.slide = (uint32_t)i + 1};
        builder_set_place(r->b, &r->place);
        r->notes = r->said_notes = false;
        rc = read_part(r, z, part.data, err);
        if (!rc) rc = xml_part_related(z, r->b, part.data, "/notesSlide", NULL, &notes, err);
        r->notes = true;
        if (!rc && notes.len && zip_parts_has(z, notes.data)) rc = read_part(r, z, notes.data, err);
    }
    fo_buf_free(&show);
    fo_buf_free(&part);
    fo_buf_free(&notes);
    return rc;
}

int extract_pptx(builder *b, extract_input *in, fo_err *err) {
    zip_parts *z;
    int rc = zip_parts_open(&z, b, in->bytes, in->n, err);
    if (rc) return rc;
    reader r = {
        .b = b, .slides = calloc(MAX_SLIDES, sizeof *r.slides), .rows = calloc(1, sizeof *r.rows)};
    rc = r.slides && r.rows ? read_parts(&r, z, err) : fo_no_memory(err);
    if (r.rows) table_rows_free(r.rows);
    free(r.rows);
    free(r.slides);
    fo_buf_free(&r.text);
    fo_buf_free(&r.cell);
    zip_parts_close(z);
    return rc;
}
