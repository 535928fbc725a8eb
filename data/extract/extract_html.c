/* HTML by libxml2's forgiving parser, as a stream of events: no tree is built, so neither the
 * depth nor the size of a page costs more than its text.
 *
 * Left out: scripts, styles, forms' controls, navigation and footers, what is hidden or struck out, and how words are read aloud (ruby);
 * but a button in a heading is what pages have that open a part by it. If that leaves nothing (a page whose <nav> never
 * closes), the page is read again with navigation kept. */
#include <libxml/HTMLparser.h>
#include <libxml/parser.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "data/extract/encoding.h"
#include "data/extract/extract_internal.h"
#include "data/extract/formula_line.h"
#include "data/extract/html_chrome.h"
#include "data/extract/html_guard.h"
#include "data/extract/list_number.h"
#include "data/extract/superscript.h"
#include "data/extract/term_words.h"
#include "data/extract/text_table.h"
#include "kernels/utf8.h"

enum tag_kind {
    TAG_INLINE, /* no boundary */
    TAG_BLOCK,  /* text before and after stands apart */
    TAG_SKIP,   /* never text */
    TAG_CHROME, /* text, but of the site and not of the page */
    TAG_HEADING,
    TAG_ITEM,
    TAG_LIST,
    TAG_ORDERED,
    TAG_PRE,
    TAG_TABLE,
    TAG_ROW,
    TAG_CELL,
    TAG_BREAK,
    TAG_TITLE,
    TAG_TERMS, /* a list of them */
    TAG_TERM,
    TAG_MEANING, /* of the term, on the line below it */
};

static const struct {
    const char *name;
    uint8_t kind;
} tags[] = {
    {"address", TAG_BLOCK},    {"article", TAG_BLOCK},    {"aside", TAG_BLOCK},
    {"blockquote", TAG_BLOCK}, {"body", TAG_BLOCK},       {"br", TAG_BREAK},
    {"button", TAG_SKIP},      {"canvas", TAG_SKIP},      {"caption", TAG_BLOCK},
    {"center", TAG_BLOCK},     {"dd", TAG_MEANING},       {"del", TAG_SKIP},
    {"details", TAG_BLOCK},    {"dialog", TAG_BLOCK},     {"dir", TAG_LIST},
    {"div", TAG_BLOCK},        {"dl", TAG_TERMS},         {"dt", TAG_TERM},
    {"fieldset", TAG_BLOCK},   {"figcaption", TAG_BLOCK}, {"figure", TAG_BLOCK},
    {"footer", TAG_CHROME},    {"form", TAG_BLOCK},       {"frameset", TAG_SKIP},
    {"h1", TAG_HEADING},       {"h2", TAG_HEADING},       {"h3", TAG_HEADING},
    {"h4", TAG_HEADING},       {"h5", TAG_HEADING},       {"h6", TAG_HEADING},
    {"header", TAG_BLOCK},     {"hr", TAG_BLOCK},         {"iframe", TAG_SKIP},
    {"legend", TAG_BLOCK},     {"li", TAG_ITEM},          {"listing", TAG_PRE},
    {"main", TAG_BLOCK},       {"menu", TAG_LIST},        {"nav", TAG_CHROME},
    {"noscript", TAG_SKIP},    {"object", TAG_SKIP},      {"ol", TAG_ORDERED},
    {"option", TAG_SKIP},      {"p", TAG_BLOCK},          {"pre", TAG_PRE},
    {"rp", TAG_SKIP},          {"rt", TAG_SKIP},          {"rtc", TAG_SKIP},
    {"s", TAG_SKIP},           {"script", TAG_SKIP},      {"section", TAG_BLOCK},
    {"select", TAG_SKIP},      {"strike", TAG_SKIP},      {"style", TAG_SKIP},
    {"summary", TAG_BLOCK},    {"svg", TAG_SKIP},         {"table", TAG_TABLE},
    {"tbody", TAG_BLOCK},      {"td", TAG_CELL},          {"template", TAG_SKIP},
    {"textarea", TAG_SKIP},    {"tfoot", TAG_BLOCK},      {"th", TAG_CELL},
    {"thead", TAG_BLOCK},      {"title", TAG_TITLE},      {"tr", TAG_ROW},
    {"ul", TAG_LIST},          {"xmp", TAG_PRE},
};

enum { MAX_LIST_DEPTH = 32, MAX_IMAGE = 33 };

/* Elements open at a time. A closing tag is looked for among all of them, so that a deep page with
 * tags that close nothing would cost the square of its length; browsers stop at 512 as well. */
enum { MAX_DEPTH = 512 };

typedef struct reader {
    builder *b;
    htmlParserCtxtPtr parser;
    fo_buf title, first_heading; /* of those that may be the title: builder_may_title */
    uint8_t heading_level;
    size_t skip_depth; /* open elements since the one that is left out, itself included */
    size_t n_lists;
    struct {
        bool numbered;
        uint8_t form; /* enum list_form */
        int next;     /* number of the next item */
    } lists[MAX_LIST_DEPTH];
    size_t pre_depth;
    text_table table;
    bool keep_chrome, in_title, in_row, item_fresh, skipped_chrome;
    char image[MAX_IMAGE];    /* what the cell at hand is, as far as it has an image alone; "" */
    bool raised, link;        /* a <sup>, an <a> has begun, and no text since */
    formula_line formula;     /* of MathML */
    bool in_term, after_term; /* after: nothing has begun since it ended */
    char term[TERM_WORDS_BYTES +
              1];                /* of words, that what is read here is the meaning of; "": none */
    bool several_words, meaning; /* ... and is open */
    size_t term_lists;           /* that were open at its end */
    size_t
        itself; /* where the text of a link of the page to itself begins, one byte later; 0: none is open */
    size_t n_named; /* open elements that name what comes: headings, terms, summaries */
} reader;

static uint8_t kind_of(const char *name) {
    size_t low = 0, high = sizeof tags / sizeof *tags;
    while (low < high) {
        size_t mid = (low + high) / 2;
        int order = strcasecmp(name, tags[mid].name);
        if (order == 0) return tags[mid].kind;
        if (order < 0)
            high = mid;
        else
            low = mid + 1;
    }
    return TAG_INLINE;
}

static bool names_a_part(uint8_t kind, const char *name) {
    return kind == TAG_HEADING || kind == TAG_TERM || strcasecmp(name, "summary") == 0;
}

/* Does the style say "property:value", with any blanks around the colon? */
static bool style_says(const char *style, const char *property, const char *value) {
    const size_t k = strlen(property), n = strlen(value);
    for (const char *s = style; (s = strcasestr(s, property)); s += k) {
        const bool begins = s == style || s[-1] == ';' || fo_is_blank(s[-1]);
        const char *at = s + k + strspn(s + k, " \t\n");
        if (!begins || *at++ != ':') continue;
        at += strspn(at, " \t\n");
        if (strncasecmp(at, value, n) == 0 && !fo_is_letter(at[n]) && at[n] != '-') return true;
    }
    return false;
}

static bool is_hidden(const xmlChar **attributes) {
    for (; attributes && attributes[0]; attributes += 2) {
        const char *name = (const char *)attributes[0], *value = (const char *)attributes[1];
        if (strcasecmp(name, "hidden") == 0) return true;
        if (!value) continue;
        if (strcasecmp(name, "style") == 0 &&
            (style_says(value, "display", "none") ||
             style_says(value, "text-decoration", "line-through")))
            return true;
    }
    return false;
}

/* The fallback where there is no such attribute, or no number in it. */
static int number_in(const xmlChar **attributes, const char *name, int fallback) {
    enum { MOST = 1000000000 };
    for (; attributes && attributes[0]; attributes += 2) {
        if (!attributes[1] || strcasecmp((const char *)attributes[0], name) != 0) continue;
        const char *value = (const char *)attributes[1];
        char *end;
        const long n = strtol(value, &end, 10);
        return end == value ? fallback : n > MOST ? MOST : n < -MOST ? -MOST : (int)n;
    }
    return fallback;
}

/* How the items of <ol type="a"> are numbered; a style sheet of its own may say it, too. */
static uint8_t form_of(const xmlChar **attributes) {
    static const struct {
        const char *type, *style;
        uint8_t form;
    } forms[] = {{"a", "lower-alpha", LIST_LOWER_COLUMN}, {"a", "lower-latin", LIST_LOWER_COLUMN},
                 {"A", "upper-alpha", LIST_UPPER_COLUMN}, {"A", "upper-latin", LIST_UPPER_COLUMN},
                 {"i", "lower-roman", LIST_LOWER_ROMAN},  {"I", "upper-roman", LIST_UPPER_ROMAN}};
    uint8_t form = LIST_DECIMAL;
    for (; attributes && attributes[0]; attributes += 2) {
        const char *name = (const char *)attributes[0], *value = (const char *)attributes[1];
        const bool type = strcasecmp(name, "type") == 0, style = strcasecmp(name, "style") == 0;
        for (size_t i = 0; value && (type || style) && i < sizeof forms / sizeof *forms; i++)
            if (type ? strcmp(value, forms[i].type) == 0
                     : strcasestr(value, forms[i].style) != NULL)
                form = forms[i].form;
    }
    return form;
}

/* "3. ", or "c) ", which no sentence begins with, as "C. Holt is the chair." does with a letter and a stop. */
static void write_mark(builder *b, int number, uint8_t form) {
    char mark[32], letters[17];
    if (form == LIST_DECIMAL || number < 1) {
        snprintf(mark, sizeof mark, "%d. ", number);
    } else {
        list_number_write(letters, number, form);
        snprintf(mark, sizeof mark, "%s) ", letters);
    }
    builder_str(b, mark);
}

/* A tick is often an image: a cell behind the first that holds nothing else says what the image shows. A long one is described,
 * and one that leads somewhere is a button. */
static void keep_image(reader *r, const xmlChar **attributes) {
    const text_table *t = &r->table;
    if (!r->in_row || !t->cell_open || !t->cell_column || r->link || *r->image) return;
    const fo_buf *text = &r->b->text;
    if (text->len > t->cell_at && !fo_only_blanks(text->data + t->cell_at, text->len - t->cell_at))
        return;
    for (; attributes && attributes[0]; attributes += 2) {
        const char *value = (const char *)attributes[1];
        if (!value || strcasecmp((const char *)attributes[0], "alt") != 0) continue;
        if (strlen(value) < MAX_IMAGE) strcpy(r->image, value);
    }
}

/* The cell has ended. */
static void say_image(reader *r) {
    fo_buf clean = {0};
    encoding_clean(&clean, r->image, strlen(r->image), &r->b->n_replaced);
    if (clean.len && r->in_row) builder_add_flowing(r->b, clean.data, clean.len);
    if (clean.failed) r->b->failure = FO_ENOMEM;
    fo_buf_free(&clean);
    r->image[0] = 0;
}

/* A table whose cells hold headings, lists or tables is layout: its parts are blocks. */
static void leave_row(reader *r) {
    if (!r->in_row) return;
    r->image[0] = 0;
    r->in_row = false;
    text_table_leave_row(&r->table);
}

/* The term that ends with the open block. */
static void keep_term(reader *r) {
    const builder *b = r->b;
    const char *s = b->text.data + b->start;
    size_t n = b->text.len - b->start;
    while (n && fo_is_blank(s[n - 1])) n--;
    r->term[0] = 0;
    r->term_lists = r->n_lists;
    if (!r->in_row && term_words_are(s, n, &r->several_words)) {
        memcpy(r->term, s, n);
        r->term[n] = 0;
    }
}

static void drop_term(reader *r) {
    r->term[0] = 0;
    r->meaning = false;
}

/* What it means is a list: the term leads in. */
static void lead_in_by_term(reader *r) {
    builder *b = r->b;
    if (!r->meaning || !r->item_fresh || !r->term[0] || !builder_block_empty(b)) return;
    builder_end(b);
    builder_extend(b, ":");
}

/* A further paragraph of what a term means says it again: alone it tells of nothing. */
static void begin_meaning(reader *r, const char *s, size_t n) {
    builder *b = r->b;
    if (!r->meaning || !r->term[0] || b->open || r->in_row || r->n_lists != r->term_lists ||
        fo_only_blanks(s, n))
        return;
    builder_begin(b, TEXT_PARAGRAPH, 0);
    builder_str(b, r->term);
    builder_str(b, ": ");
}

static void begin_list_item(reader *r, const xmlChar **attributes) {
    leave_row(r);
    builder_begin(r->b, TEXT_LIST_ITEM, 0);
    size_t depth = r->n_lists < MAX_LIST_DEPTH ? r->n_lists : MAX_LIST_DEPTH;
    for (size_t i = 1; i < depth; i++) builder_str(r->b, "  ");
    if (depth && r->lists[depth - 1].numbered) {
        const int number = number_in(attributes, "value", r->lists[depth - 1].next);
        r->lists[depth - 1].next = number + 1;
        write_mark(r->b, number, r->lists[depth - 1].form);
    } else {
        builder_str(r->b, "- ");
    }
    r->item_fresh = true;
}

static void boundary(reader *r) {
    if (r->in_row) {
        builder_add_flowing(r->b, " ", 1);
        return;
    }
    if (!r->item_fresh) builder_end(r->b); /* <li><p>: the item has begun already */
}

/* Once nothing more can be added, the parser is to end: false. */
static bool go_on(reader *r, size_t bytes) {
    if (builder_go_on(r->b, bytes)) return true;
    xmlStopParser(r->parser);
    return false;
}

/* An element beyond MAX_DEPTH is taken from the parser's stack again: its text belongs to the one
 * around it, and no end of it will be told. Scripts and styles stay: nothing can stand in them. */
static bool too_deep(reader *r, const char *name) {
    htmlParserCtxtPtr p = r->parser;
    if (p->nameNr <= MAX_DEPTH || !strcasecmp(name, "script") || !strcasecmp(name, "style"))
        return false;
    p->nameTab[--p->nameNr] = NULL;
    p->name = p->nameTab[p->nameNr - 1];
    return true;
}

/* In a heading or a term: "<a href="#os">#</a>", which is there to be copied. */
static void begin_anchor(reader *r, const xmlChar **attributes) {
    r->itself = 0;
    if (!r->n_named || !r->b->open) return;
    for (; attributes && attributes[0]; attributes += 2)
        if (attributes[1] && attributes[1][0] == '#' &&
            !strcasecmp((const char *)attributes[0], "href"))
            r->itself = r->b->text.len + 1;
}

static void end_anchor(reader *r) {
    static const char *const signs[] = {"#", "\xC2\xB6", "\xC2\xA7", "\xF0\x9F\x94\x97",
                                        "\xE2\x97\x86"};
    builder *b = r->b;
    const size_t at = r->itself ? r->itself - 1 : 0;
    r->itself = 0;
    if (!at || !b->open || at <= b->start || at >= b->text.len)
        return; /* alone, it may be a name */
    const char *s = b->text.data + at;
    size_t n = b->text.len - at;
    while (n && *s == ' ') s++, n--;
    while (n && s[n - 1] == ' ') n--;
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        if (strlen(signs[i]) != n || memcmp(signs[i], s, n) != 0) continue;
        b->text.len = at;
        b->text.data[at] = 0;
    }
}

static void begin_inline(reader *r, const char *name) {
    r->raised |= strcasecmp(name, "sup") == 0;
    r->link |= strcasecmp(name, "a") == 0;
}

static void end_inline(reader *r, const char *name) {
    if (strcasecmp(name, "a") == 0) end_anchor(r);
    r->raised &= strcasecmp(name, "sup") != 0;
    r->link &= strcasecmp(name, "a") != 0;
}

static void add_sign(void *ctx, const char *s) {
    builder_str(ctx, s);
}

/* What is bracketed begins in its paragraph, so that one is open before a formula is. */
static void begin_formula(reader *r, const char *name) {
    builder *b = r->b;
    if (!strcmp(name, "math")) {
        begin_meaning(r, "=", 1);
        if (!b->open) builder_begin(b, TEXT_PARAGRAPH, 0);
    }
    r->formula.text = &b->text;
    r->formula.add = add_sign;
    r->formula.ctx = b;
    r->formula.begin = b->start;
    formula_tag_open(&r->formula, name);
}

/* What no reader of the page sees, or what stands around the text on every page: none of it is read, to its end tag. */
static bool skips_element(reader *r, uint8_t kind, const char *name, const xmlChar **attributes) {
    const html_chrome around = html_chrome_of(name, attributes);
    const bool chrome = (kind == TAG_CHROME || around == HTML_CHROME) && !r->keep_chrome;
    if (kind != TAG_SKIP && !chrome && around != HTML_MARK && !is_hidden(attributes)) return false;
    if (chrome) r->skipped_chrome = true;
    r->skip_depth = 1;
    if (kind == TAG_CHROME || (chrome && kind != TAG_INLINE && kind != TAG_CELL)) boundary(r);
    return true;
}

static void begin_list(reader *r, bool numbered, const xmlChar **attributes) {
    leave_row(r);
    lead_in_by_term(r);
    builder_end(r->b);
    if (r->n_lists < MAX_LIST_DEPTH) {
        r->lists[r->n_lists].numbered = numbered;
        r->lists[r->n_lists].next = number_in(attributes, "start", 1);
        r->lists[r->n_lists].form = form_of(attributes);
    }
    r->n_lists++;
}

static void begin_cell(reader *r, const char *name, const xmlChar **attributes) {
    say_image(r);
    if (r->in_row)
        text_table_cell(&r->table, strcasecmp(name, "th") == 0, number_in(attributes, "colspan", 1),
                        number_in(attributes, "rowspan", 1));
    else
        builder_end(r->b);
}

/* What an element that is read begins. */
static void begin_element(reader *r, uint8_t kind, const char *name, const xmlChar **attributes) {
    builder *b = r->b;
    const bool open_term =
        r->in_term && b->open && !builder_block_empty(b); /* without an end tag */
    const bool after_term = r->after_term || open_term;
    if (open_term) keep_term(r);
    if (kind != TAG_INLINE) r->in_term = r->after_term = false;
    switch (kind) {
    case TAG_HEADING:
        leave_row(r);
        drop_term(r);
        builder_begin(b, TEXT_HEADING, (uint8_t)(name[1] - '0'));
        break;
    case TAG_ITEM:
        begin_list_item(r, attributes);
        break;
    case TAG_LIST:
    case TAG_ORDERED:
        begin_list(r, kind == TAG_ORDERED, attributes);
        break;
    case TAG_PRE:
        leave_row(r);
        if (!r->pre_depth++) builder_begin(b, TEXT_CODE, 0);
        break;
    case TAG_TABLE:
        leave_row(r);
        builder_end(b);
        text_table_begin(&r->table, b);
        break;
    case TAG_ROW:
        if (!r->table.b) text_table_begin(&r->table, b); /* a row of no table */
        text_table_row(&r->table);
        r->in_row = true;
        break;
    case TAG_CELL:
        begin_cell(r, name, attributes);
        break;
    case TAG_BREAK:
        if (r->in_row)
            builder_add_flowing(b, " ", 1);
        else if (b->open)
            builder_str(b, "\n");
        break;
    case TAG_TITLE:
        r->in_title = true;
        break;
    case TAG_MEANING:
        boundary(r);
        if (after_term && !r->in_row) {
            builder_go_on_with(b, TEXT_PARAGRAPH, 0, r->term[0] && r->several_words ? ": " : "\n");
            r->item_fresh = true;
        }
        r->meaning = true;
        break;
    case TAG_TERM:
        r->in_term = true;
        drop_term(r);
        boundary(r);
        break;
    case TAG_TERMS:
        drop_term(r);
        boundary(r);
        break;
    case TAG_BLOCK:
    case TAG_CHROME:
        boundary(r);
        break;
    default:
        if (strcasecmp(name, "img") == 0) keep_image(r, attributes);
        if (strcasecmp(name, "a") == 0) begin_anchor(r, attributes);
        begin_inline(r, name);
        break;
    }
}

static void start_element(void *arg, const xmlChar *xml_name, const xmlChar **attributes) {
    reader *r = arg;
    const char *name = (const char *)xml_name;
    if (!go_on(r, 0)) return;
    if (too_deep(r, name)) {
        if (!r->skip_depth && kind_of(name) != TAG_INLINE) boundary(r);
        return;
    }
    if (r->skip_depth) {
        r->skip_depth++;
        return;
    }
    uint8_t kind = kind_of(name);
    if (r->n_named && strcasecmp(name, "button") == 0) kind = TAG_INLINE;
    if (skips_element(r, kind, name, attributes)) return;
    begin_formula(r, name);
    r->n_named += names_a_part(kind, name);
    begin_element(r, kind, name, attributes);
}

/* The open heading, where it is the title unless the page says another. */
static void keep_heading(reader *r) {
    builder *b = r->b;
    const bool better = !r->first_heading.len || b->level < r->heading_level;
    if (!better || !builder_may_title(b, b->level)) return;
    fo_buf_clear(&r->first_heading);
    fo_buf_add(&r->first_heading, b->text.data + b->start, b->text.len - b->start);
    r->heading_level = b->level;
}

static void end_element(void *arg, const xmlChar *xml_name) {
    reader *r = arg;
    builder *b = r->b;
    if (!go_on(r, 0)) return;
    if (r->skip_depth) {
        r->skip_depth--;
        return;
    }
    r->formula.begin = b->start;
    formula_tag_close(&r->formula);
    uint8_t kind = kind_of((const char *)xml_name);
    r->n_named -= r->n_named && names_a_part(kind, (const char *)xml_name);
    switch (kind) {
    case TAG_HEADING:
        if (b->kind == TEXT_HEADING && !builder_block_empty(b)) keep_heading(r);
        builder_end(b);
        break;
    case TAG_ITEM:
        r->item_fresh = false;
        boundary(r);
        break;
    case TAG_LIST:
    case TAG_ORDERED:
        if (r->n_lists) r->n_lists--;
        r->item_fresh = false;
        boundary(r);
        break;
    case TAG_PRE:
        if (r->pre_depth && !--r->pre_depth) builder_end(b);
        break;
    case TAG_ROW:
        say_image(r);
        if (r->in_row) text_table_end_row(&r->table);
        r->in_row = false;
        break;
    case TAG_TABLE:
        r->in_row = false;
        r->image[0] = 0;
        builder_end(b);
        text_table_begin(&r->table, b);
        break;
    case TAG_TITLE:
        r->in_title = false;
        break;
    case TAG_TERM:
        if (r->in_term) r->after_term = b->open && !builder_block_empty(b);
        if (r->after_term) keep_term(r);
        r->in_term = false;
        boundary(r);
        break;
    case TAG_MEANING:
        r->item_fresh = r->meaning = false;
        boundary(r);
        break;
    case TAG_TERMS:
        drop_term(r);
        boundary(r);
        break;
    case TAG_BLOCK:
    case TAG_CHROME:
        boundary(r);
        break;
    default:
        end_inline(r, (const char *)xml_name);
        break;
    }
}

/* Before these words of the page. */
static void mark_raised(reader *r, const char *s, size_t n) {
    if (r->raised) builder_str(r->b, superscript_mark_in(r->b, s, n, r->link));
    r->raised = r->link = false;
}

static void characters(void *arg, const xmlChar *text, int len) {
    reader *r = arg;
    if (len <= 0 || !go_on(r, (size_t)len) || r->skip_depth) return;
    fo_buf clean = {0}; /* character references may have made controls */
    encoding_clean(&clean, (const char *)text, (size_t)len, &r->b->n_replaced);
    if (clean.failed) {
        r->b->failure = FO_ENOMEM;
    } else if (clean.len == 0 ||
               (formula_has_tags(&r->formula) && fo_only_blanks(clean.data, clean.len))) {
        /* nothing but controls, or what stands between the elements of a formula */
    } else if (r->in_title) {
        if (r->title.len < 4096) fo_buf_add(&r->title, clean.data, clean.len);
    } else if (r->pre_depth) {
        mark_raised(r, clean.data, clean.len);
        builder_add(r->b, clean.data, clean.len);
    } else {
        begin_meaning(r, clean.data, clean.len);
        if (*r->image && !fo_only_blanks(clean.data, clean.len)) r->image[0] = 0;
        mark_raised(r, clean.data, clean.len);
        builder_add_flowing(r->b, clean.data, clean.len);
        for (size_t i = 0; r->item_fresh && i < clean.len; i++)
            if (clean.data[i] > ' ' || clean.data[i] < 0) r->item_fresh = false;
    }
    fo_buf_free(&clean);
}

static void ignore_message(void *arg, const char *format, ...) {
    (void)arg;
    (void)format;
}

static bool parse(reader *r, const char *text, size_t n) {
    /* libxml2 sets itself up at its first use without a lock: two threads whose first pages meet
     * there leave a mutex that waits for ever. */
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, xmlInitParser);
    htmlParserCtxtPtr parser = htmlNewParserCtxt();
    if (!parser) return false;
    xmlSAXHandler events = {
        .startElement = start_element,
        .endElement = end_element,
        .characters = characters,
        .ignorableWhitespace = characters,
        .cdataBlock = characters,
        .warning = ignore_message,
        .error = ignore_message,
    };
    *parser->sax = events;
    parser->userData = r;
    r->parser = parser;
    htmlCtxtReadMemory(parser, text, (int)n, NULL, "UTF-8",
                       HTML_PARSE_RECOVER | HTML_PARSE_NOERROR | HTML_PARSE_NOWARNING |
                           HTML_PARSE_NONET | HTML_PARSE_IGNORE_ENC);
    bool ok = parser->errNo != XML_ERR_NO_MEMORY;
    if (parser->myDoc) xmlFreeDoc(parser->myDoc);
    htmlFreeParserCtxt(parser);
    return ok;
}

int32_t extract_html_entity(const char *name, size_t n) {
    char copy[16];
    if (n >= sizeof copy) return 0;
    memcpy(copy, name, n);
    copy[n] = 0;
    const htmlEntityDesc *e = htmlEntityLookup((const xmlChar *)copy);
    return e ? (int32_t)e->value : 0;
}

static void take_heading(builder *b, const reader *r) {
    fo_buf_clear(&b->title);
    builder_set_title(b, r->first_heading.data, r->first_heading.len);
    b->title_level = r->heading_level;
}

void extract_html_text(builder *b, const char *text, size_t n) {
    fo_buf guarded = {0};
    if (n > INT_MAX / 2) b->failure = FO_ELIMIT;
    if (b->failure || !html_guard_attributes(b, text, n, &guarded)) {
        fo_buf_free(&guarded);
        return;
    }
    if (guarded.len) {
        text = guarded.data;
        n = guarded.len;
    }
    size_t n_blocks = b->n_blocks;
    reader r = {.b = b};
    bool ok = parse(&r, text, n);
    builder_end(b);
    if (ok && b->n_blocks == n_blocks && r.skipped_chrome && !b->failure) {
        fo_buf_free(&r.title);
        fo_buf_free(&r.first_heading);
        r = (reader){.b = b, .keep_chrome = true};
        ok = parse(&r, text, n);
        builder_end(b);
    }
    if (!b->failure && (!ok || r.title.failed || r.first_heading.failed)) b->failure = FO_ENOMEM;
    builder_set_title(b, r.title.data ? r.title.data : "", r.title.len);
    if (r.first_heading.len && (!b->title.len || r.heading_level < b->title_level))
        take_heading(b, &r);
    fo_buf_free(&r.title);
    fo_buf_free(&r.first_heading);
    extract_drop(b, &guarded);
}

bool extract_looks_like_html(const extract_input *in) {
    const char *s = in->head;
    size_t n = in->n_head < 4096 ? in->n_head : 4096;
    static const char *const begins[] = {"<!doctype html", "<html", "<head", "<body", "<?xml"};
    size_t at = 0;
    while (at < n && (s[at] == ' ' || (s[at] >= '\t' && s[at] <= '\r'))) at++;
    while (n - at > 7 && memcmp(s + at, "<!--", 4) == 0) {
        const char *end = memmem(s + at, n - at, "-->", 3);
        if (!end) return false;
        at = (size_t)(end - s) + 3;
        while (at < n && (s[at] == ' ' || (s[at] >= '\t' && s[at] <= '\r'))) at++;
    }
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++) {
        size_t k = strlen(begins[i]);
        if (n - at < k || strncasecmp(s + at, begins[i], k) != 0) continue;
        return i < 4 || memmem(s + at, n - at, "<html", 5) != NULL;
    }
    return false;
}

/* A charset that an HTML page names in its first kilobyte, NULL if none. */
static const char *html_charset(const char *s, size_t n) {
    if (n > 2048) n = 2048;
    for (size_t at = 0; at + 8 < n; at++) {
        if (strncasecmp(s + at, "charset", 7) != 0) continue;
        size_t k = at + 7;
        while (k < n && (s[k] == ' ' || s[k] == '=' || s[k] == '"' || s[k] == '\'')) k++;
        size_t end = k;
        while (end < n && end - k < 32 && !strchr(" \"'/>;", s[end])) end++;
        return encoding_find(s + k, end - k);
    }
    return NULL;
}

int extract_html(builder *b, extract_input *in, fo_err *err) {
    fo_buf text = {0};
    int rc = extract_decode(b, in, html_charset((const char *)in->bytes, in->n), &text, err);
    if (!rc) extract_html_text(b, text.data, text.len);
    extract_drop(b, &text);
    return rc;
}
