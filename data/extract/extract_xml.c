/* XML of any vocabulary, by libxml2: what reads like a document (elements of text with elements in them) becomes
 * paragraphs and headings, what reads like data becomes rows, names beside the values and those around them as
 * headings. No entity is defined, whatever the document says, and nothing is fetched. */
#include <libxml/parser.h>
#include <libxml/SAX2.h>
#include <libxml/parserInternals.h>
#include <libxml/tree.h>
#include <libxml/xmlerror.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/extract/data_text.h"
#include "data/extract/encoding.h"
#include "data/extract/extract_internal.h"
#include "data/extract/superscript.h"
#include "data/extract/table_spans.h"
#include "data/extract/xml_guard.h"
#include "kernels/utf8.h"
#include "kernels/words.h"

enum {
    BYTES_PER_BYTE = 12, /* of memory for the tree, roughly */
    SHORT_TEXT = 200,    /* bytes of what may stand in a row */
    SHORT_ROW = 1500,
    MAX_FIELDS = 60, /* of a row */
};

typedef struct reader {
    data_text d; /* rows */
    table_spans *tables;
    const xmlNode *table; /* whose row was written last; NULL: none was */
    bool document;
    const xmlNode *under; /* whose path was written last; NULL: none was */
} reader;

/* ---- what an element is ----------------------------------------------------------------------------- */

static bool is_element(const xmlNode *n) {
    return n->type == XML_ELEMENT_NODE;
}

static bool named(const xmlNode *n, const char *one_of) {
    const char *name = (const char *)n->name;
    return fo_words_have_any_case(one_of, name, strlen(name));
}

static bool is_blank(const xmlChar *s) {
    for (; s && *s; s++)
        if (*s > ' ') return false;
    return true;
}

static bool has_elements(const xmlNode *n) {
    for (const xmlNode *c = n->children; c; c = c->next)
        if (is_element(c)) return true;
    return false;
}

static bool has_words(const xmlNode *n) { /* between its elements */
    for (const xmlNode *c = n->children; c; c = c->next)
        if ((c->type == XML_TEXT_NODE || c->type == XML_CDATA_SECTION_NODE) &&
            !is_blank(c->content))
            return true;
    return false;
}

/* The node that comes after n within top, which is never left: children first unless `over` is set. */
static const xmlNode *next_within(const xmlNode *n, const xmlNode *top, bool over) {
    if (!over && n->type == XML_ELEMENT_NODE && n->children) return n->children;
    while (n && n != top && !n->next) n = n->parent;
    return !n || n == top ? NULL : n->next;
}

static size_t text_length(const xmlNode *top, size_t most) {
    size_t n = 0;
    for (const xmlNode *c = top; c && n <= most; c = next_within(c, top, false))
        if (c->type == XML_TEXT_NODE || c->type == XML_CDATA_SECTION_NODE)
            n += c->content ? strnlen((const char *)c->content, most + 1) : 0;
    return n;
}

/* ---- its text --------------------------------------------------------------------------------------- */

/* By name; a title or a term may stand within a sentence. */
static const char apart[] =
    "para simpara formalpara p footnote fn note tip warning caution important blockquote "
    "itemizedlist "
    "orderedlist variablelist simplelist list listitem item li ul ol dl dt dd varlistentry member "
    "step "
    "substeps procedure programlisting screen literallayout example figure mediaobject table "
    "informaltable simpletable row strow entry stentry tr td th cell br sbr lb div section l lg";

typedef struct flow {
    fo_buf *out;
    size_t replaced;
    bool verbatim; /* blanks are as they are */
    bool edge;     /* a block begins or ends here */
    bool raised, link;
    int depth;
    uint64_t records; /* a bit for each depth: that element holds several and no words */
} flow;

/* Elements side by side, such as <menuchoice><guimenu>File</guimenu><guimenuitem>Save</...>. */
static bool is_record(const xmlNode *n) {
    int elements = 0;
    for (const xmlNode *c = n->children; c && elements < 2; c = c->next) elements += is_element(c);
    return elements > 1 && !has_words(n);
}

static bool is_set_apart(const flow *f, const xmlNode *n) {
    return named(n, apart) || (f->depth && f->depth <= 64 && f->records >> (f->depth - 1) & 1);
}

static void enter(flow *f, const xmlNode *n) {
    f->edge |= is_set_apart(f, n);
    f->raised |= named(n, "superscript sup");
    f->link |= named(n, "xref link ulink a footnoteref");
    if (f->depth < 64 && is_record(n)) f->records |= UINT64_C(1) << f->depth;
    f->depth++;
}

static void leave(flow *f, const xmlNode *n) {
    f->depth--;
    if (f->depth < 64) f->records &= ~(UINT64_C(1) << f->depth);
    f->edge |= is_set_apart(f, n);
    f->raised &= !named(n, "superscript sup");
    f->link &= !named(n, "xref link ulink a footnoteref");
}

/* Blocks within a text are parted by a blank, but from the stop behind them. */
static void add_words(flow *f, const char *s, size_t n) {
    fo_buf *out = f->out;
    if (!n) return;
    if (f->edge && !f->verbatim && out->len && !fo_is_blank(out->data[out->len - 1]) &&
        !strchr(",.;:!?)", *s))
        fo_buf_char(out, ' ');
    if (f->raised) {
        const size_t before = out->len;
        fo_buf_str(out, superscript_mark(before ? out->data : "", before, s, n, f->link));
    }
    f->edge = f->raised = false;
    encoding_clean(out, s, n, &f->replaced);
}

/* All of the text in it; what is said for an index alone is none. */
static void add_text(const xmlNode *top, bool verbatim, fo_buf *out) {
    flow f = {.out = out, .verbatim = verbatim};
    for (const xmlNode *c = top; c;) {
        if ((c->type == XML_TEXT_NODE || c->type == XML_CDATA_SECTION_NODE) && c->content)
            add_words(&f, (const char *)c->content, strlen((const char *)c->content));
        const bool element = is_element(c), index = element && c != top && named(c, "indexterm");
        if (element) enter(&f, c);
        if (element && c->children && !index) {
            c = c->children;
            continue;
        }
        if (element) leave(&f, c);
        while (c != top && !c->next) {
            c = c->parent;
            leave(&f, c);
        }
        c = c == top ? NULL : c->next;
    }
    if (!out->data) fo_buf_str(out, "");
}

/* Its elements hold short texts and nothing else: one row. */
static bool is_row(const xmlNode *n) {
    size_t bytes = 0, fields = 0;
    for (const xmlNode *c = n->children; c; c = c->next) {
        if (!is_element(c)) continue;
        if (has_elements(c) || ++fields > MAX_FIELDS) return false;
        size_t k = text_length(c, SHORT_TEXT);
        if (k > SHORT_TEXT || (bytes += k) > SHORT_ROW) return false;
    }
    return fields > 0 || n->properties;
}

/* ---- writing ---------------------------------------------------------------------------------------- */

static uint32_t line_of(const xmlNode *n) {
    long line = xmlGetLineNo((xmlNode *)n);
    return line > 0 ? (uint32_t)line : 1;
}

static void write_block(reader *r, const xmlNode *n, uint8_t kind, uint8_t level) {
    builder *b = r->d.b;
    fo_buf text = {0};
    data_text_flush(&r->d);
    add_text(n, kind == TEXT_CODE, &text);
    if (text.failed) b->failure = FO_ENOMEM;
    builder_set_place(b, &(text_place){.line = line_of(n)});
    builder_begin(b, kind, level);
    if (!text.failed && kind == TEXT_CODE)
        builder_add(b, text.data, text.len);
    else if (!text.failed)
        builder_add_flowing(b, text.data, text.len);
    builder_end(b);
    if (kind == TEXT_HEADING && !text.failed) builder_title_heading(b, level, text.data, text.len);
    fo_buf_free(&text);
}

static void write_pair(reader *r, const char *name, const xmlNode *text_of, const xmlChar *value,
                       uint32_t line) {
    fo_buf text = {0};
    size_t replaced = 0;
    if (text_of)
        add_text(text_of, false, &text);
    else if (value)
        encoding_clean(&text, (const char *)value, strlen((const char *)value), &replaced);
    if (text.failed) r->d.b->failure = FO_ENOMEM;
    if (text.data) data_text_pair(&r->d, name, strlen(name), text.data, text.len, line);
    fo_buf_free(&text);
}

/* Attributes say something; where things are defined (namespaces, schemas) does not. */
static void write_attributes(reader *r, const xmlNode *n) {
    static const char of_documents[] = "version date name label";
    for (const xmlAttr *a = n->properties; a; a = a->next) {
        const char *name = (const char *)a->name;
        if (r->document && !fo_words_have(of_documents, name, strlen(name))) continue;
        if (a->ns && a->ns->prefix && !strcmp((const char *)a->ns->prefix, "xsi")) continue;
        if (a->children && a->children->content)
            write_pair(r, (const char *)a->name, NULL, a->children->content, line_of(n));
    }
}

static void write_row(reader *r, const xmlNode *n) {
    data_text_flush(&r->d);
    write_attributes(r, n);
    for (const xmlNode *c = n->children; c; c = c->next) {
        if (!is_element(c)) continue;
        write_pair(r, (const char *)c->name, c, NULL, line_of(n));
        for (const xmlAttr *a = c->properties; a && !r->document; a = a->next) {
            char name[128];
            const char *of = (const char *)c->name, *its = (const char *)a->name;
            snprintf(name, sizeof name, "%.*s %.*s", (int)fo_utf8_cut(of, strlen(of), 60), of,
                     (int)fo_utf8_cut(its, strlen(its), 60), its);
            if (a->children && a->children->content)
                write_pair(r, name, NULL, a->children->content, line_of(n));
        }
    }
    data_text_flush(&r->d);
}

/* ---- tables: those of CALS (DocBook, DITA) and of pages ----------------------------------------------- */

static bool is_table_row(const xmlNode *n) {
    if (!named(n, "row tr strow sthead") || !n->parent || has_words(n) ||
        !named(n->parent, "table informaltable simpletable tgroup thead tbody tfoot"))
        return false;
    for (const xmlNode *c = n->children; c; c = c->next)
        if (is_element(c) && !named(c, "entry stentry td th cell")) return false;
    return has_elements(n) && text_length(n, 1 << 16) <= 1 << 16;
}

static const char *attribute(const xmlNode *n, const char *name) {
    for (const xmlAttr *a = n->properties; a; a = a->next)
        if (!strcmp((const char *)a->name, name) && a->children && a->children->content)
            return (const char *)a->children->content;
    return NULL;
}

static uint32_t number_in(const xmlNode *n, const char *name) {
    const char *s = attribute(n, name);
    const long v = s ? strtol(s, NULL, 10) : 0;
    return v < 0 ? 0 : v > UINT16_MAX ? UINT16_MAX : (uint32_t)v;
}

/* Which column of the table has this name, from 0; `none` where none has. Columns are named before the rows. */
static uint32_t column_named(const xmlNode *table, const char *name, uint32_t none) {
    enum { MOST = 4 * TABLE_SPANS_COLUMNS };
    uint32_t column = 0;
    const xmlNode *c = table->children;
    for (int i = 0; i < MOST && c && name; i++, c = c->next) {
        if (!is_element(c) || !named(c, "colspec")) continue;
        const char *its = attribute(c, "colname");
        if (its && !strcmp(its, name)) return column;
        column++;
    }
    return none;
}

static void write_cell(reader *r, const xmlNode *cell, uint32_t *column) {
    table_spans *t = r->tables;
    fo_buf text = {0};
    const char *name =
        attribute(cell, "namest") ? attribute(cell, "namest") : attribute(cell, "colname");
    const uint32_t first = column_named(r->table, name, *column);
    for (; *column < TABLE_SPANS_COLUMNS && (*column < first || t->below[*column].rows); ++*column)
        table_spans_covered(t, *column, 1);
    const uint32_t last = column_named(r->table, attribute(cell, "nameend"), *column);
    uint32_t width = last > *column ? last - *column + 1 : number_in(cell, "colspan");
    const uint32_t more = number_in(cell, "morerows"), rows = number_in(cell, "rowspan");
    add_text(cell, false, &text);
    if (text.failed) r->d.b->failure = FO_ENOMEM;
    if (!width) width = 1;
    table_spans_cell(t, *column, width, more ? more + 1 : rows, text.data ? text.data : "",
                     text.len);
    *column += width;
    fo_buf_free(&text);
}

static void write_table_row(reader *r, const xmlNode *n) {
    const xmlNode *table = n->parent;
    if (named(table, "thead tbody tfoot") && table->parent && is_element(table->parent))
        table = table->parent;
    data_text_flush(&r->d);
    if (table != r->table) table_spans_begin(r->tables, r->d.b, false);
    r->table = table;
    table_spans_row(r->tables);
    bool heads = true;
    uint32_t column = 0;
    for (const xmlNode *c = n->children; c && builder_go_on(r->d.b, 16); c = c->next) {
        if (!is_element(c)) continue;
        heads &= named(c, "th");
        write_cell(r, c, &column);
    }
    for (; column < TABLE_SPANS_COLUMNS && column < r->tables->n_below; column++)
        if (r->tables->below[column].rows) table_spans_covered(r->tables, column, 1);
    heads |= named(n, "sthead") || named(n->parent, "thead");
    table_spans_end_row(r->tables, &(text_place){.line = line_of(n)}, 0, heads);
}

/* What comes is no row. */
static void leave_table(reader *r) {
    if (r->table) table_spans_end(r->tables);
}

/* ---- blocks ------------------------------------------------------------------------------------------- */

static const char titles[] =
    "title head heading h1 h2 h3 h4 h5 h6 bridgehead caption refname label-title";
static const char codes[] =
    "programlisting screen synopsis literallayout pre code-block codeblock verbatim listing "
    "cmdsynopsis funcsynopsis";
static const char items[] = "listitem li item";

/* An element of text. */
static void write_leaf(reader *r, const xmlNode *n, int depth) {
    bool code = named(n, codes);
    if (r->document && named(n, titles))
        write_block(r, n, TEXT_HEADING, (uint8_t)(depth < 1 ? 1 : depth > 6 ? 6 : depth));
    else if (code)
        write_block(r, n, TEXT_CODE, 0);
    else if (r->document || has_elements(n) || text_length(n, SHORT_TEXT) > SHORT_TEXT)
        write_block(r, n, named(n, items) ? TEXT_LIST_ITEM : TEXT_PARAGRAPH, 0);
    else
        write_pair(r, (const char *)n->name, n, NULL, line_of(n));
}

/* "catalog > shelf": the names of those around it. */
static void write_path(reader *r, const xmlNode *n, int depth) {
    const xmlNode *above[8];
    int k = 0;
    for (const xmlNode *p = n; p && p->type == XML_ELEMENT_NODE && k < 8 && p->parent &&
                               p->parent->type == XML_ELEMENT_NODE;
         p = p->parent)
        above[k++] = p;
    if (!k) return;
    fo_buf name = {0};
    size_t replaced = 0;
    while (k--) {
        if (name.len) fo_buf_str(&name, " > ");
        encoding_clean(&name, (const char *)above[k]->name, strlen((const char *)above[k]->name),
                       &replaced);
    }
    builder *b = r->d.b;
    data_text_flush(&r->d);
    if (name.failed) b->failure = FO_ENOMEM;
    builder_set_place(b, &(text_place){.line = line_of(n)});
    builder_begin(b, TEXT_HEADING, (uint8_t)(depth < 1 ? 1 : depth > 6 ? 6 : depth));
    if (!name.failed) builder_add(b, name.data, name.len);
    builder_end(b);
    fo_buf_free(&name);
}

/* Does a path belong above it, because it holds more than one row of the kind it stands among? */
static bool wants_path(const reader *r, const xmlNode *n) {
    return !r->document && has_elements(n) && !has_words(n);
}

/* Words between the elements of one that is too long for a paragraph. */
static bool inline_words(const xmlNode *n) {
    return (n->type == XML_TEXT_NODE || n->type == XML_CDATA_SECTION_NODE) && !is_blank(n->content);
}

/* Back among the elements of one further out: whose they are is said again. */
static void stand_under(reader *r, const xmlNode *n, const xmlNode *top, int depth) {
    if (r->document || !r->under || r->under == n->parent) return;
    write_path(r, n->parent == top ? n : n->parent, depth);
    r->under = n->parent;
}

static void walk(reader *r, const xmlNode *top) {
    int depth = 0;
    for (const xmlNode *n = top; n && builder_go_on(r->d.b, 64);) {
        bool over = true;
        if (is_element(n) && n->parent) {
            depth = 0;
            for (const xmlNode *p = n; p != top; p = p->parent) depth++;
            bool text_in_it = !has_elements(n) || has_words(n);
            bool inline_too = text_in_it && has_elements(n), row = n != top && is_table_row(n);
            if (!row) leave_table(r);
            if (row) {
                stand_under(r, n, top, depth);
                write_table_row(r, n);
            } else if (n != top && text_in_it &&
                       (!inline_too || text_length(n, 1 << 16) <= 1 << 16)) {
                stand_under(r, n, top, depth);
                if (!r->document && !inline_too && n->properties && !n->children)
                    write_row(r, n);
                else
                    write_leaf(r, n, depth);
            } else if (!r->document && n != top && is_row(n)) {
                stand_under(r, n, top, depth);
                write_row(r, n);
            } else {
                if (wants_path(r, n)) {
                    write_path(r, n, depth);
                    r->under = n;
                }
                write_attributes(r, n);
                over = false;
            }
        } else if (inline_words(n)) {
            leave_table(r);
            write_block(r, n, TEXT_PARAGRAPH, 0);
        }
        n = next_within(n, top, over);
    }
    leave_table(r);
    data_text_flush(&r->d);
}

/* ---- the format --------------------------------------------------------------------------------------- */

static void keep_quiet(void *ctx, xmlError *error) {
    (void)ctx, (void)error;
}

/* The first error by which it is no XML. No such error are entities which nobody defines any more, what only a schema would
 * refuse, and what stands before the declaration of some feeds, an empty line. */
typedef struct verdict {
    int line;
    char what[160];
} verdict;

typedef struct parsing { /* _private of the parser */
    builder *b;
    verdict v;
    xmlEntity entity; /* of the reference at hand */
    char said[72];
} parsing;

static void judge(verdict *v, const xmlError *e) {
    if (e->level < XML_ERR_FATAL || e->code == XML_ERR_UNDECLARED_ENTITY ||
        e->code == XML_ERR_RESERVED_XML_NAME || e->domain == XML_FROM_NAMESPACE || v->line)
        return;
    v->line = e->line > 0 ? e->line : 1;
    size_t n = e->message ? strcspn(e->message, "\n") : 0, replaced = 0;
    fo_buf clean = {0};
    encoding_clean(&clean, e->message ? e->message : "", n, &replaced);
    snprintf(v->what, sizeof v->what, "%.*s", 150, clean.data ? clean.data : "");
    for (size_t k = strlen(v->what); k && (unsigned char)v->what[k - 1] >= 0x80; k--)
        v->what[k - 1] = 0;
    fo_buf_free(&clean);
}

/* What is no XML is refused, so that nothing behind its first error is read: each one more would take a copy of the comment that
 * it stands in. Within a call that goes on over the input, only this ends the parser: xmlStopParser would free what that call reads. */
static void on_error(void *ctx, xmlError *e) {
    xmlParserCtxt *p = ctx;
    verdict *v = &((parsing *)p->_private)->v;
    judge(v, e);
    if (!v->line) return;
    p->instate = XML_PARSER_EOF;
    p->disableSAX = 1;
}

/* Of no parser. */
static void on_other_error(void *ctx, xmlError *e) {
    judge(&((parsing *)ctx)->v, e);
}

/* <?xml version="1.0" encoding="iso-8859-1"?> */
static const char *declared_charset(const extract_input *in) {
    const char *s = (const char *)in->bytes;
    size_t n = in->n < 200 ? in->n : 200;
    const char *end = n > 5 && !memcmp(s, "<?xml", 5) ? memmem(s, n, "?>", 2) : NULL;
    const char *p = end ? memmem(s, (size_t)(end - s), "encoding", 8) : NULL;
    if (!p) return NULL;
    p += 8;
    while (p < end && strchr(" =\"'", *p)) p++;
    size_t k = 0;
    while (p + k < end && !strchr(" \"'", p[k])) k++;
    return encoding_find(p, k);
}

/* The parser is stopped where the budget says no. */
static void on_element(void *ctx, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri,
                       int n_namespaces, const xmlChar **namespaces, int n_attributes,
                       int n_defaulted, const xmlChar **attributes) {
    xmlParserCtxt *p = ctx;
    if (builder_go_on(((parsing *)p->_private)->b, 64))
        xmlSAX2StartElementNs(ctx, name, prefix, uri, n_namespaces, namespaces, n_attributes,
                              n_defaulted, attributes);
    else
        xmlStopParser(p);
}

static void on_text(void *ctx, const xmlChar *s, int n) {
    xmlParserCtxt *p = ctx;
    if (builder_go_on(((parsing *)p->_private)->b, (size_t)n))
        xmlSAX2Characters(ctx, s, n);
    else
        xmlStopParser(p);
}

/* What a reference stands for that no DTD is at hand to define: "&szlig;" is a letter as in HTML, and of others the reference itself
 * stays. In the value of an attribute it is left as a reference; unknown there, it would count as an error, behind which the parser
 * drops all references, "&lt;" as well. */
static xmlEntity *on_reference(void *ctx, const xmlChar *name) {
    const xmlParserCtxt *p = ctx;
    parsing *of = p->_private;
    const size_t n = strlen((const char *)name);
    const bool attribute = p->instate == XML_PARSER_ATTRIBUTE_VALUE;
    if (n + sizeof "&;" > sizeof of->said) return NULL;
    const int32_t cp = extract_html_entity((const char *)name, n);
    if (cp)
        of->said[fo_utf8_encode(cp, of->said)] = 0;
    else
        snprintf(of->said, sizeof of->said, "&%s;", (const char *)name);
    of->entity = (xmlEntity){.type = XML_ENTITY_DECL,
                             .name = name,
                             .content = (xmlChar *)of->said,
                             .orig = (xmlChar *)of->said,
                             .length = (int)strlen(of->said),
                             .etype = attribute ? XML_INTERNAL_GENERAL_ENTITY
                                                : XML_INTERNAL_PREDEFINED_ENTITY};
#if LIBXML_VERSION < 21100
    of->entity.checked = 1; /* there is nothing to be looked through */
#endif
    return &of->entity;
}

/* The line of the first element that has more attributes than the guard lets pass; 0: there is none. */
static int crowded_line(builder *b, const fo_buf *text) {
    enum { PIECE = 64 << 10 };
    xml_guard g = {0};
    int line = 1;
    for (size_t at = 0; at < text->len && builder_go_on(b, PIECE / 16); at += PIECE) {
        const char *s = text->data + at,
                   *end = s + (text->len - at < PIECE ? text->len - at : PIECE);
        if (!xml_guard_pass(&g, s, (size_t)(end - s))) return line;
        for (; (s = memchr(s, '\n', (size_t)(end - s))); s++) line++;
    }
    return 0;
}

static xmlDoc *parse(parsing *of, const fo_buf *text) {
    xmlParserCtxt *p = xmlCreateMemoryParserCtxt(text->data, (int)text->len);
    if (!p) return NULL;
    xmlCtxtUseOptions(p, XML_PARSE_NONET | XML_PARSE_RECOVER | XML_PARSE_BIG_LINES |
                             XML_PARSE_COMPACT | XML_PARSE_IGNORE_ENC);
    /* Declarations of entities are read and not kept: none is filled in, none grows. */
    p->_private = of;
    p->sax->startElementNs = on_element;
    p->sax->characters = p->sax->ignorableWhitespace = on_text;
    p->sax->getEntity = on_reference;
    p->sax->entityDecl = NULL;
    p->sax->unparsedEntityDecl = NULL;
    p->sax->serror = on_error;
    p->userData = p;
    xmlSetStructuredErrorFunc(of, on_other_error);
    xmlParseDocument(p);
    xmlSetStructuredErrorFunc(NULL, keep_quiet);
    xmlDoc *doc = p->myDoc;
    xmlFreeParserCtxt(p);
    return doc;
}

bool extract_looks_like_xml(const extract_input *in) {
    return in->n_head > 6 && !memcmp(in->head, "<?xml ", 6);
}

int extract_xml(builder *b, extract_input *in, fo_err *err) {
    fo_buf text = {0};
    size_t bytes = 0;
    int line = 0;
    int rc = extract_decode(b, in, declared_charset(in), &text, err);
    if (!rc && (text.len > INT32_MAX || !fo_mul_size(text.len, BYTES_PER_BYTE, &bytes) ||
                !doc_budget_take(b->budget, bytes))) {
        b->failure = b->budget && b->budget->failure ? b->budget->failure : FO_ELIMIT;
        bytes = 0;
    } else if (!rc && (line = crowded_line(b, &text))) {
        rc = fo_fail(err, FO_EINVAL,
                     "from line %d on it has an element with more than %d attributes", line,
                     XML_GUARD_ATTRIBUTES);
    } else if (!rc && !b->failure) {
        parsing of = {.b = b};
        xmlDoc *doc = parse(&of, &text);
        const verdict *v = &of.v;
        const xmlNode *root = doc ? xmlDocGetRootElement(doc) : NULL;
        if (b->failure) {
            rc = FO_OK;
        } else if (v->line || !root) {
            rc = fo_fail(err, FO_EINVAL, "it is no XML at line %d: %s", v->line ? v->line : 1,
                         v->what[0] ? v->what : "it has no element");
        } else {
            reader r = {.d = {.b = b}, .tables = calloc(1, sizeof *r.tables)};
            if (!r.tables) b->failure = FO_ENOMEM;
            for (const xmlNode *n = root; n && !r.document && builder_go_on(b, 16);
                 n = next_within(n, root, false))
                r.document = is_element(n) && (named(n, "p para simpara paragraph") ||
                                               (has_words(n) && has_elements(n)));
            if (r.tables) {
                walk(&r, root);
                table_spans_free(r.tables);
            }
            free(r.tables);
            data_text_free(&r.d);
        }
        if (doc) xmlFreeDoc(doc);
    }
    doc_budget_give(b->budget, bytes);
    extract_drop(b, &text);
    return rc;
}
