/* Word documents: paragraphs, headings by their styles, lists, tables with their header, notes. Source:
 * ECMA-376 part 1, section 17. */
#include <stdlib.h>
#include <string.h>

#include "data/extract/extract_internal.h"
#include "data/extract/formula_line.h"
#include "data/extract/office_text.h"
#include "data/extract/superscript.h"
#include "data/extract/symbol_font.h"
#include "data/extract/word_notes.h"
#include "data/extract/word_numbers.h"
#include "data/extract/xml_part.h"

enum { MAX_STYLES = 4096, STYLE_BYTES = WORD_STYLE_BYTES, CONTENTS = -3, MAX_WITHIN = 16 };

/* In the text of a paragraph: what XML cannot hold, for there an end of a line is a blank. */
static const char LINE_END[] = "\v";

typedef struct style {
    char id[STYLE_BYTES], based_on[STYLE_BYTES];
    int level; /* of a heading, 1-6; 0: none; -1: the document's title; -2: not known yet; -3: a line of the
                table of contents */
    long list, list_level; /* -1: not said */
    size_t at;             /* which of them it is in the file */
} style;

typedef struct paragraph {
    int level;
    long list, list_level; /* that it names itself; -1: none */
    char style[STYLE_BYTES];
    bool counted; /* its beginning was written, with its number */
} paragraph;

typedef struct reader {
    builder *b;
    office_text t;
    style *styles;
    size_t n_styles;
    paragraph p;                  /* the one at hand */
    paragraph around[MAX_WITHIN]; /* those that a box stands in, from the outermost */
    int boxes;
    bool raised, raised_before; /* its run; the text that was added last */
    int raised_math;            /* depth of exponents */
    formula_line formula;       /* its fractions and roots */
    bool link;                  /* one has begun, and no text since */
    bool in_text;               /* in w:t: its characters count */
    bool hidden;                /* its run is shown to nobody, or struck out */
    bool form_box, ticked;      /* a box of a form is being told of; it has a tick */
    int skip;                   /* depth below what is passed over */
    bool header;                /* the row at hand is one */
    word_notes notes;
    word_numbers *numbers;
    fo_buf behind; /* notes of a heading, which stand below it */
} reader;

/* ---- styles --------------------------------------------------------------------------------------- */

/* "heading 2" is what the style is called in every language; "Heading2" its id in most. */
static int level_of_name(const char *name) {
    if (!strcasecmp(name, "title")) return -1;
    if (!strncasecmp(name, "toc ", 4)) return CONTENTS;
    if (strncasecmp(name, "heading", 7) != 0) return 0;
    name += 7 + (name[7] == ' ');
    int n = *name >= '1' && *name <= '9' && !name[1] ? *name - '0' : 0;
    return n > 6 ? 6 : n;
}

static void style_open(void *ctx, const xml_element *e) {
    reader *r = ctx;
    style *s = r->n_styles ? &r->styles[r->n_styles - 1] : NULL;
    char value[STYLE_BYTES];
    if (!strcmp(e->name, "style")) {
        if (r->n_styles == MAX_STYLES) return;
        s = &r->styles[r->n_styles++];
        *s = (style){.level = -2, .list = -1, .list_level = -1, .at = r->n_styles};
        xml_attribute(e, "styleId", s->id, sizeof s->id);
    } else if (s && !strcmp(e->name, "name")) {
        xml_attribute(e, "val", value, sizeof value);
        int level = level_of_name(value);
        if (level) s->level = level;
    } else if (s && !strcmp(e->name, "basedOn")) {
        xml_attribute(e, "val", s->based_on, sizeof s->based_on);
    } else if (s && s->level == -2 && !strcmp(e->name, "outlineLvl")) {
        long n = xml_number(e, "val", 9);
        s->level = n >= 0 && n < 6 ? (int)n + 1 : 0;
    } else if (s && !strcmp(e->name, "numId")) {
        s->list = xml_number(e, "val", 0);
    } else if (s && !strcmp(e->name, "ilvl")) {
        s->list_level = xml_number(e, "val", 0);
    }
}

static int by_id(const void *a, const void *b) {
    const style *x = a, *y = b;
    const int order = strcmp(x->id, y->id);
    return order ? order : (x->at > y->at) - (x->at < y->at);
}

/* By their ids, each of which one style has: the first. */
static void sort_styles(reader *r) {
    size_t n = 0;
    qsort(r->styles, r->n_styles, sizeof *r->styles, by_id);
    for (size_t i = 0; i < r->n_styles; i++)
        if (!n || strcmp(r->styles[n - 1].id, r->styles[i].id) != 0) r->styles[n++] = r->styles[i];
    r->n_styles = n;
}

static int is_id(const void *id, const void *s) {
    return strcmp(id, ((const style *)s)->id);
}

static const style *find_style(const reader *r, const char *id) {
    return bsearch(id, r->styles, r->n_styles, sizeof *r->styles, is_id);
}

static int level_of_style(const reader *r, const char *id) {
    for (int depth = 0; depth < 8 && *id; depth++) {
        const style *s = find_style(r, id);
        if (!s) return depth ? 0 : level_of_name(id);
        if (s->level != -2) return s->level;
        id = s->based_on;
    }
    return 0;
}

/* ---- lists ---------------------------------------------------------------------------------------- */

/* What stands before the paragraph at hand: by its own list, else by that of its style. */
static word_mark next_mark(reader *r, char mark[WORD_MARK_BYTES]) {
    long list = r->p.list, level = r->p.list_level;
    mark[0] = 0;
    const style *s = *r->p.style ? find_style(r, r->p.style) : NULL;
    for (int depth = 0; s && depth < 8 && list; depth++) {
        if (list < 0 && s->list >= 0) {
            list = s->list;
            if (level < 0 && s->list_level < 0) level = word_numbers_level(r->numbers, list, s->id);
        }
        if (level < 0) level = s->list_level;
        if (list >= 0 && level >= 0) break;
        s = *s->based_on ? find_style(r, s->based_on) : NULL;
    }
    if (list <= 0) return WORD_UNMARKED;
    word_mark what = word_numbers_next(r->numbers, list, level < 0 ? 0 : level, mark);
    if (what != WORD_UNKNOWN) return what;
    return r->p.list > 0 ? WORD_BULLET : WORD_UNMARKED;
}

static void put_before(fo_buf *text, const char *mark) {
    const size_t n = strlen(mark) + 1;
    if (!fo_buf_reserve(text, n)) return;
    memmove(text->data + n, text->data, text->len + 1);
    memcpy(text->data, mark, n - 1);
    text->data[n - 1] = ' ';
    text->len += n;
}

/* ---- paragraphs ----------------------------------------------------------------------------------- */

static void write_behind(reader *r) {
    if (!r->behind.len) return;
    builder_begin(r->b, TEXT_PARAGRAPH, 0);
    builder_add_flowing(r->b, r->behind.data, r->behind.len);
    builder_end(r->b);
    fo_buf_clear(&r->behind);
}

/* A note stands in brackets where the text refers to it: far from there, what it excepts is not seen. */
static void say_note(reader *r, const xml_element *e) {
    const char *s;
    size_t n;
    const bool endnote = *e->name == 'e';
    if (r->p.level == CONTENTS ||
        !word_notes_take(&r->notes, endnote, xml_number(e, "id", -1), &s, &n))
        return;
    if (r->p.level && !r->t.tables) {
        fo_buf_str(&r->behind, " (");
        fo_buf_add(&r->behind, s, n);
        fo_buf_char(&r->behind, ')');
    } else {
        office_text_add(&r->t, " (", 2);
        office_text_add(&r->t, s, n);
        office_text_add(&r->t, ")", 1);
    }
    if (r->behind.failed) r->b->failure = FO_ENOMEM;
}

/* Lines that somebody ended by hand stay: an address, the hours of each day. */
static void add_lines(builder *b, const fo_buf *text) {
    for (size_t at = 0; at < text->len;) {
        const char *s = text->data + at, *end = memchr(s, *LINE_END, text->len - at);
        const size_t n = end ? (size_t)(end - s) : text->len - at;
        builder_add_flowing(b, s, n);
        if (end && !builder_block_empty(b)) builder_str(b, "\n");
        at += n + (end != NULL);
    }
}

static void write_paragraph(reader *r, word_mark what, const char *mark) {
    builder *b = r->b;
    const fo_buf *text = &r->t.text;
    const bool heading = r->p.level != 0, item = what == WORD_BULLET || what == WORD_NUMBER;
    builder_begin(b,
                  heading ? TEXT_HEADING
                  : item  ? TEXT_LIST_ITEM
                          : TEXT_PARAGRAPH,
                  (uint8_t)(!heading         ? 0
                            : r->p.level < 0 ? 1
                                             : r->p.level));
    if (what == WORD_BULLET && !heading) mark = "\xE2\x80\xA2";
    builder_str(b, mark);
    if (*mark) builder_str(b, " ");
    add_lines(b, text);
    builder_end(b);
    if (r->p.level < 0) builder_set_title(b, text->data, text->len);
}

static const paragraph no_paragraph = {.list = -1, .list_level = -1};

/* A paragraph without words counts too, and in a table its number may be all that a cell says. */
static void flush(reader *r) {
    char mark[WORD_MARK_BYTES];
    if (r->p.level != CONTENTS) {
        word_mark what = WORD_UNMARKED;
        mark[0] = 0;
        if (!r->p.counted) what = next_mark(r, mark);
        if (r->t.tables && *mark) put_before(&r->t.text, mark);
        if (office_text_end(&r->t)) write_paragraph(r, what, mark);
    }
    if (!r->t.tables) write_behind(r);
    fo_buf_clear(&r->t.text);
    formula_drop(&r->formula);
    r->p = no_paragraph;
    r->raised_before = false;
}

/* What of a paragraph stands before a box in it is a block of its own, and what comes behind goes on with it: a heading is
 * one whether its box is anchored before its words or among them. */
static void begin_box(reader *r) {
    paragraph p = r->p;
    p.counted |= r->t.text.len > 0;
    if (r->t.text.len) flush(r);
    if (r->boxes < MAX_WITHIN) r->around[r->boxes] = p;
    r->boxes++;
    r->p = no_paragraph;
}

static void end_box(reader *r) {
    flush(r);
    if (!r->boxes || --r->boxes >= MAX_WITHIN) return;
    r->p = r->around[r->boxes];
}

static void add_sign(void *ctx, const char *s) {
    reader *r = ctx;
    if (!r->b->failure) office_text_add(&r->t, s, strlen(s));
}

/* Of a run, or a part of one. */
static void add_text(reader *r, const char *s, size_t n) {
    const fo_buf *text = &r->t.text;
    if (r->hidden) return;
    const bool raised = r->raised || r->raised_math;
    if (raised && !r->raised_before) {
        const char *mark = superscript_mark(text->data, text->len, s, n, r->link);
        office_text_add(&r->t, mark, strlen(mark));
    }
    r->raised_before = raised;
    r->link = false;
    office_text_add(&r->t, s, n);
}

static void add_symbol(reader *r, const xml_element *e) {
    char font[64], code[16], s[4], *end;
    xml_attribute(e, "font", font, sizeof font);
    xml_attribute(e, "char", code, sizeof code);
    const long v = strtol(code, &end, 16);
    const int32_t cp = *code && !*end ? symbol_font_char(font, v) : 0;
    if (cp) add_text(r, s, fo_utf8_encode(cp, s));
}

/* Is what e says so? "<w:vanish/>" is, and `w:val="0"` is not. */
static bool is_on(const xml_element *e) {
    char value[8];
    xml_attribute(e, "val", value, sizeof value);
    return !xml_is(value, "0 false off");
}

/* Signs that stand for characters, and boxes of forms, which are fields and no text. */
static bool open_sign(reader *r, const xml_element *e) {
    const char *name = e->name;
    char value[16];
    if (xml_is(name, "br cr") && !r->t.tables && !r->p.level) {
        xml_attribute(e, "type", value, sizeof value);
        add_text(r, xml_is(value, "page column") ? " " : LINE_END, 1);
    } else if (xml_is(name, "tab ptab br cr")) {
        add_text(r, " ", 1);
    } else if (!strcmp(name, "noBreakHyphen")) {
        add_text(r, "-", 1);
    } else if (!strcmp(name, "sym")) {
        add_symbol(r, e);
    } else if (!strcmp(name, "checkBox")) {
        r->form_box = true;
        r->ticked = false;
    } else if (r->form_box && xml_is(name, "default checked")) {
        r->ticked = is_on(e); /* what was made of it stands behind what it began as */
    } else {
        return false;
    }
    return true;
}

static void open_table_part(reader *r, const xml_element *e) {
    const char *name = e->name;
    char value[STYLE_BYTES];
    if (!strcmp(name, "tbl")) {
        flush(r);
        office_text_begin_table(&r->t);
    } else if (!strcmp(name, "tr") && r->t.tables == 1) {
        office_text_begin_row(&r->t);
        r->header = false;
    } else if (!strcmp(name, "tblHeader") && r->t.tables == 1) {
        r->header = is_on(e);
    } else if (!strcmp(name, "gridBefore") &&
               r->t.tables == 1) { /* columns that the row leaves out */
        long n = xml_number(e, "val", 0);
        if (n > 0 && n < TABLE_MAX_COLUMNS) r->t.column += (uint32_t)n;
    } else if (!strcmp(name, "tc") && r->t.tables == 1) {
        office_text_begin_cell(&r->t, 1);
    } else if (!strcmp(name, "gridSpan") && r->t.tables == 1) {
        long n = xml_number(e, "val", 1);
        if (n > 1 && n < TABLE_MAX_COLUMNS) r->t.span = (uint32_t)n;
    } else if (!strcmp(name, "vMerge") && r->t.tables == 1) {
        xml_attribute(e, "val", value, sizeof value);
        r->t.covered = strcmp(value, "restart") != 0;
        r->t.rows = TABLE_SPANS_ON;
    }
}

static void on_open(void *ctx, const xml_element *e) {
    reader *r = ctx;
    const char *name = e->name;
    char value[STYLE_BYTES];
    /* Moved and deleted text, what properties were before, what stands in for what this reader takes (mc:Fallback), and how
     * words are read aloud. */
    if (r->skip ||
        xml_is(name, "Fallback moveFrom del pPrChange rPrChange trPrChange tcPrChange rt")) {
        r->skip++;
    } else if (!strcmp(name, "t")) {
        r->in_text = true;
    } else if (!strcmp(name, "p")) {
        flush(r);
    } else if (!strcmp(name, "txbxContent")) {
        begin_box(r);
    } else if (!strcmp(name, "r")) {
        r->raised = r->hidden = false;
    } else if (xml_is(name, "vanish strike dstrike")) { /* what is struck out is said no more */
        r->hidden |= is_on(e);
    } else if (!strcmp(name, "vertAlign")) {
        xml_attribute(e, "val", value, sizeof value);
        r->raised = !strcmp(value, "superscript");
    } else if (!strcmp(name, "sup")) {
        r->raised_math++;
    } else if (xml_is(name, "num den rad deg e")) {
        formula_open(&r->formula, name);
    } else if (!strcmp(name, "hyperlink")) {
        r->link = true;
    } else if (!strcmp(name, "pStyle")) {
        xml_attribute(e, "val", r->p.style, sizeof r->p.style);
        r->p.level = level_of_style(r, r->p.style);
    } else if (!strcmp(name, "outlineLvl") && !r->p.level) {
        long n = xml_number(e, "val", 9);
        r->p.level = n >= 0 && n < 6 ? (int)n + 1 : 0;
    } else if (!strcmp(name, "numId")) {
        r->p.list = xml_number(e, "val", 0);
    } else if (!strcmp(name, "ilvl")) {
        r->p.list_level = xml_number(e, "val", 0);
    } else if (open_sign(r, e)) {
        return;
    } else if (xml_is(name, "footnoteReference endnoteReference")) {
        say_note(r, e);
    } else {
        open_table_part(r, e);
    }
}

static void on_close(void *ctx, const char *name) {
    reader *r = ctx;
    if (r->skip) {
        r->skip--;
        return;
    }
    if (!strcmp(name, "t")) {
        r->in_text = false;
    } else if (!strcmp(name, "r")) {
        r->hidden = false;
    } else if (!strcmp(name, "checkBox")) {
        r->form_box = false;
        add_text(r, r->ticked ? "[x] " : "[ ] ", 4);
    } else if (!strcmp(name, "p")) {
        flush(r);
    } else if (!strcmp(name, "txbxContent")) {
        end_box(r);
    } else if (!strcmp(name, "sup")) {
        r->raised_math -= r->raised_math > 0;
    } else if (xml_is(name, "num den rad deg e")) {
        formula_close(&r->formula, name);
    } else if (!strcmp(name, "hyperlink")) {
        r->link = false;
    } else if (!strcmp(name, "tc") && r->t.tables == 1) {
        flush(r);
        office_text_end_cell(&r->t);
    } else if (!strcmp(name, "tr") && r->t.tables == 1) {
        office_text_end_row(&r->t, NULL, r->header);
    } else if (!strcmp(name, "tbl") && r->t.tables) {
        flush(r);
        office_text_end_table(&r->t);
    }
}

static void on_text(void *ctx, const char *s, size_t n) {
    reader *r = ctx;
    if (!r->skip && r->in_text && !r->b->failure) add_text(r, s, n);
}

static const xml_events events = {on_open, on_close, on_text};

/* Notes that nothing refers to. */
static void write_left(reader *r) {
    const char *s;
    size_t n;
    while (word_notes_left(&r->notes, &s, &n)) {
        builder_begin(r->b, TEXT_PARAGRAPH, 0);
        builder_add_flowing(r->b, s, n);
        builder_end(r->b);
    }
}

static int read_parts(reader *r, zip_parts *z, fo_err *err) {
    static const xml_events of_styles = {.open = style_open};
    fo_buf main = {0};
    int rc = xml_part_related(z, r->b, "", "/officeDocument", NULL, &main, err);
    const char *part = main.len ? main.data : "word/document.xml";
    xml_part_title(z, r->b, "docProps/core.xml");
    if (!rc && zip_parts_has(z, "word/styles.xml"))
        rc = xml_part_read(z, r->b, "word/styles.xml", &of_styles, r, err);
    sort_styles(r);
    if (!rc && !r->b->failure) rc = word_numbers_read(r->numbers, z, r->b, err);
    if (!rc && !r->b->failure) rc = word_notes_read(&r->notes, z, r->b, err);
    if (!rc && !r->b->failure) rc = xml_part_read(z, r->b, part, &events, r, err);
    if (!rc && !r->b->failure) write_left(r);
    fo_buf_free(&main);
    return rc;
}

int extract_docx(builder *b, extract_input *in, fo_err *err) {
    zip_parts *z;
    int rc = zip_parts_open(&z, b, in->bytes, in->n, err);
    if (rc) return rc;
    reader r = {.b = b,
                .styles = calloc(MAX_STYLES, sizeof *r.styles),
                .numbers = calloc(1, sizeof *r.numbers),
                .p = no_paragraph};
    rc = office_text_init(&r.t, b, err);
    r.formula = (formula_line){.text = &r.t.text, .add = add_sign, .ctx = &r};
    if (!rc) rc = r.styles && r.numbers ? read_parts(&r, z, err) : fo_no_memory(err);
    office_text_deinit(&r.t);
    word_notes_free(&r.notes);
    fo_buf_free(&r.behind);
    free(r.styles);
    free(r.numbers);
    zip_parts_close(z);
    return rc;
}
