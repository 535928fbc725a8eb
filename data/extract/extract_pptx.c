/* PowerPoint presentations: slides in their order, titles as headings, paragraphs, tables, notes. Source:
 * ECMA-376 part 1, section 19. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/extract/extract_internal.h"
#include "data/extract/formula_line.h"
#include "data/extract/office_text.h"
#include "data/extract/superscript.h"
#include "data/extract/xml_part.h"

enum { MAX_DIAGRAMS = 32 };

typedef struct slide_id {
    char id[40];
} slide_id;

typedef struct reader {
    builder *b;
    office_text t;
    part_names slides, relations; /* ids; ids, and parts */
    /* the slide at hand */
    text_place place;
    bool paragraph, in_text, title, notes, said_notes;
    slide_id
        diagrams[MAX_DIAGRAMS]; /* SmartArt that it shows, whose words have a part of their own */
    size_t n_diagrams;
    bool diagram; /* it is being read: each of its points is one */
    bool
        titles; /* the slide's title alone is read: it may be drawn, and told, behind what it stands above */
    bool points;  /* the shape holds the slide's points: each of its paragraphs has a bullet */
    bool bullet;  /* the paragraph at hand has one */
    int skip;     /* depth below what is passed over */
    int left_out; /* depth below a shape that is no text of the slide: its number, its date */
    bool raised, raised_before; /* the run at hand; the text that was added last */
    int raised_math;            /* depth of exponents */
    formula_line formula;       /* its fractions and roots */
    bool link;                  /* the run leads somewhere */
} reader;

static void show_open(void *ctx, const xml_element *e) {
    reader *r = ctx;
    char id[sizeof(slide_id)];
    if (!strcmp(e->name, "sldId") && xml_attribute(e, ":id", id, sizeof id))
        part_names_add(&r->slides, id, "");
}

static void flush(reader *r) {
    builder *b = r->b;
    if (office_text_end(&r->t)) {
        bool heading = r->title && !r->notes;
        if (r->notes && !r->said_notes) {
            builder_begin(b, TEXT_HEADING, 3);
            builder_str(b, "Notes");
            r->said_notes = true;
        }
        const bool item = !heading && !r->notes && r->bullet;
        builder_begin(b,
                      heading ? TEXT_HEADING
                      : item  ? TEXT_LIST_ITEM
                              : TEXT_PARAGRAPH,
                      heading ? 2 : 0);
        size_t from = b->text.len;
        if (item) builder_str(b, "\xE2\x80\xA2 ");
        builder_add_flowing(b, r->t.text.data, r->t.text.len);
        if (heading && r->place.slide == 1 && !b->failure)
            builder_set_title(b, b->text.data + from, b->text.len - from);
        builder_end(b);
    }
    fo_buf_clear(&r->t.text);
    formula_drop(&r->formula);
    r->raised_before = false;
}

static void add_sign(void *ctx, const char *s) {
    reader *r = ctx;
    if (!r->b->failure) office_text_add(&r->t, s, strlen(s));
}

/* What says of the run at hand that it is raised. */
static bool open_run(reader *r, const xml_element *e) {
    char value[16];
    if (xml_is(e->name, "r fld"))
        r->raised = r->link = false;
    else if (!strcmp(e->name, "rPr"))
        r->raised =
            xml_attribute(e, "baseline", value, sizeof value) && atoi(value) > 0; /* "30%" too */
    else if (!strcmp(e->name, "hlinkClick"))
        r->link = true;
    else if (!strcmp(e->name, "sup"))
        r->raised_math++;
    else
        return false;
    return true;
}

static void add_text(reader *r, const char *s, size_t n) {
    const bool raised = r->raised || r->raised_math;
    if (raised && !r->raised_before) {
        const char *mark = superscript_mark(r->t.text.data, r->t.text.len, s, n, r->link);
        office_text_add(&r->t, mark, strlen(mark));
    }
    r->raised_before = raised;
    office_text_add(&r->t, s, n);
}

static void keep_diagram(reader *r, const xml_element *e) {
    if (r->notes || r->diagram || r->n_diagrams == MAX_DIAGRAMS) return;
    slide_id *d = &r->diagrams[r->n_diagrams];
    if (xml_attribute(e, ":dm", d->id, sizeof d->id)) r->n_diagrams++;
}

/* The shape at hand: a slide is read for its title first. */
static bool is_read(const reader *r) {
    return r->notes || r->diagram || r->title == r->titles;
}

static void on_open(void *ctx, const xml_element *e) {
    reader *r = ctx;
    const char *name = e->name;
    char value[24];
    if (r->skip || !strcmp(name, "Fallback")) {
        r->skip++;
    } else if (!is_read(r) && xml_is(name, "br num den rad deg e")) {
        return;
    } else if (open_run(r, e)) {
        return;
    } else if (!strcmp(name, "t")) {
        r->in_text = r->paragraph; /* a point of a diagram has its paragraphs in one */
    } else if (!strcmp(name, "relIds")) {
        keep_diagram(r, e);
    } else if (!strcmp(name, "sp")) {
        r->title = r->points = false;
        r->left_out = 0;
    } else if (!strcmp(name, "ph")) {
        if (!xml_attribute(e, "type", value, sizeof value)) strcpy(value, "obj");
        r->title = xml_is(value, "title ctrTitle");
        r->points = xml_is(value, "body obj");
        r->left_out = xml_is(value, "sldNum dt ftr hdr sldImg");
    } else if (!strcmp(name, "p")) {
        flush(r);
        r->paragraph = true;
        r->bullet = (r->points || r->diagram) && !r->t.tables;
    } else if (xml_is(name, "buChar buAutoNum buNone")) {
        r->bullet = strcmp(name, "buNone") != 0 && !r->t.tables;
    } else if (xml_is(name, "num den rad deg e")) {
        formula_open(&r->formula, name);
    } else if (!strcmp(name, "br")) {
        office_text_add(&r->t, " ", 1);
    } else if (!strcmp(name, "tbl")) {
        flush(r);
        office_text_begin_table(&r->t);
    } else if (!strcmp(name, "tr")) {
        office_text_begin_row(&r->t);
    } else if (!strcmp(name, "tc")) {
        long n = xml_number(e, "gridSpan", 1);
        bool merged = xml_attribute(e, "hMerge", value, sizeof value) && xml_is(value, "1 true");
        office_text_begin_cell(&r->t, merged                           ? 0
                                      : n > 0 && n < TABLE_MAX_COLUMNS ? (uint32_t)n
                                                                       : 1);
        n = xml_number(e, "rowSpan", 1);
        if (n > 1) r->t.rows = n < UINT16_MAX ? (uint32_t)n : UINT16_MAX;
        r->t.covered = xml_attribute(e, "vMerge", value, sizeof value) && xml_is(value, "1 true");
    }
}

static void on_close(void *ctx, const char *name) {
    reader *r = ctx;
    if (r->skip) {
        r->skip--;
    } else if (!strcmp(name, "t")) {
        r->in_text = false;
    } else if (!strcmp(name, "sup")) {
        r->raised_math -= r->raised_math > 0;
    } else if (is_read(r) && xml_is(name, "num den rad deg e")) {
        formula_close(&r->formula, name);
    } else if (xml_is(name, "p sp")) {
        flush(r);
        r->paragraph = false;
        if (!strcmp(name, "p")) return;
        r->title = r->points = false;
        r->left_out = 0;
    } else if (!strcmp(name, "tc") && r->t.tables) {
        flush(r);
        office_text_end_cell(&r->t);
    } else if (!strcmp(name, "tr") && r->t.tables) {
        office_text_end_row(&r->t, &r->place, false);
        builder_set_place(r->b, &r->place);
    } else if (!strcmp(name, "tbl") && r->t.tables) {
        office_text_end_table(&r->t);
        builder_set_place(r->b, &r->place);
    }
}

static void on_text(void *ctx, const char *s, size_t n) {
    reader *r = ctx;
    if (is_read(r) && r->in_text && !r->skip && !r->left_out && !r->b->failure) add_text(r, s, n);
}

static int read_part(reader *r, zip_parts *z, const char *part, fo_err *err) {
    static const xml_events events = {on_open, on_close, on_text};
    r->skip = r->t.tables = r->left_out = 0;
    r->paragraph = r->title = r->in_text = r->points = r->bullet = r->raised = r->raised_before =
        r->link = false;
    r->raised_math = 0;
    fo_buf_clear(&r->t.text);
    return xml_part_read(z, r->b, part, &events, r, err);
}

/* The slide in this part: its title, its other words, those of its diagrams, its notes. */
static int read_slide(reader *r, zip_parts *z, const char *part, fo_err *err) {
    fo_buf other = {0};
    r->notes = r->said_notes = r->diagram = false;
    r->titles = true;
    int rc = read_part(r, z, part, err);
    r->titles = false;
    r->n_diagrams = 0;
    if (!rc && !r->b->failure) rc = read_part(r, z, part, err);
    r->diagram = true;
    for (size_t i = 0; !rc && !r->b->failure && i < r->n_diagrams; i++) {
        rc = xml_part_related(z, r->b, part, NULL, r->diagrams[i].id, &other, err);
        if (!rc && other.len && zip_parts_has(z, other.data)) rc = read_part(r, z, other.data, err);
    }
    r->diagram = false;
    r->notes = true;
    if (!rc) rc = xml_part_related(z, r->b, part, "/notesSlide", NULL, &other, err);
    if (!rc && other.len && zip_parts_has(z, other.data)) rc = read_part(r, z, other.data, err);
    fo_buf_free(&other);
    return rc;
}

static int read_parts(reader *r, zip_parts *z, fo_err *err) {
    static const xml_events of_show = {.open = show_open};
    fo_buf show = {0};
    int rc = xml_part_related(z, r->b, "", "/officeDocument", NULL, &show, err);
    if (!rc && !show.len) fo_buf_str(&show, "ppt/presentation.xml");
    xml_part_title(z, r->b, "docProps/core.xml");
    if (!rc) rc = xml_part_read(z, r->b, show.data, &of_show, r, err);
    if (!rc) rc = xml_part_relations(z, show.data, &r->relations, err);
    for (size_t i = 0; !rc && builder_go_on(r->b, 0) && i < r->slides.n; i++) {
        const char *part = part_names_find(&r->relations, part_names_at(&r->slides, i));
        if (!part || !zip_parts_has(z, part)) continue;
        r->place = (text_place){.slide = (uint32_t)i + 1};
        builder_set_place(r->b, &r->place);
        rc = read_slide(r, z, part, err);
    }
    fo_buf_free(&show);
    return rc;
}

int extract_pptx(builder *b, extract_input *in, fo_err *err) {
    zip_parts *z;
    int rc = zip_parts_open(&z, b, in->bytes, in->n, err);
    if (rc) return rc;
    reader r = {.b = b, .slides = {.b = b}, .relations = {.b = b}};
    rc = office_text_init(&r.t, b, err);
    r.formula = (formula_line){.text = &r.t.text, .add = add_sign, .ctx = &r};
    if (!rc) rc = read_parts(&r, z, err);
    office_text_deinit(&r.t);
    part_names_free(&r.slides);
    part_names_free(&r.relations);
    zip_parts_close(z);
    return rc;
}
