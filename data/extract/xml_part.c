/* See xml_part.h. */
#include "data/extract/xml_part.h"

#include <libxml/parser.h>
#include <libxml/xmlerror.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/extract/xml_guard.h"
#include "kernels/paths.h"
#include "kernels/words.h"

typedef struct reader {
    const xml_events *events;
    void *ctx;
    xmlParserCtxt *parser;
    xml_guard guard;
    bool doctype, crowded; /* crowded: with more attributes than the guard lets pass */
} reader;

static void on_open(void *ctx, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri,
                    int n_namespaces, const xmlChar **namespaces, int n_attributes, int n_defaulted,
                    const xmlChar **attributes) {
    (void)prefix, (void)uri, (void)n_namespaces, (void)namespaces, (void)n_defaulted;
    reader *r = ctx;
    xml_element e = {(const char *)name, attributes, n_attributes};
    if (r->events->open) r->events->open(r->ctx, &e);
}

static void on_close(void *ctx, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri) {
    (void)prefix, (void)uri;
    reader *r = ctx;
    if (r->events->close) r->events->close(r->ctx, (const char *)name);
}

static void on_text(void *ctx, const xmlChar *s, int n) {
    reader *r = ctx;
    if (r->events->text && n > 0) r->events->text(r->ctx, (const char *)s, (size_t)n);
}

/* One that only names what it is passes, for nothing is loaded; declarations of its own would stand behind "[". */
static void on_doctype(void *ctx, const xmlChar *name, const xmlChar *id, const xmlChar *system) {
    (void)name, (void)id, (void)system;
    reader *r = ctx;
    if (!r->parser->input || *r->parser->input->cur != '[') return;
    r->doctype = true;
    xmlStopParser(r->parser);
}

static void keep_quiet(void *ctx, xmlError *error) {
    (void)ctx, (void)error; /* the parser's verdict says it */
}

static bool on_piece(void *ctx, const char *piece, size_t n) {
    reader *r = ctx;
    r->crowded = !xml_guard_pass(&r->guard, piece, n);
    if (r->crowded) return false;
    xmlParseChunk(r->parser, piece, (int)n, 0); /* what it returns may be a warning */
    return r->parser->wellFormed && !r->doctype;
}

int xml_part_read(zip_parts *z, builder *b, const char *name, const xml_events *events, void *ctx,
                  fo_err *err) {
    xmlSAXHandler sax = {.initialized = XML_SAX2_MAGIC,
                         .startElementNs = on_open,
                         .endElementNs = on_close,
                         .characters = on_text,
                         .cdataBlock = on_text,
                         .ignorableWhitespace = on_text,
                         .internalSubset = on_doctype,
                         .serror = (xmlStructuredErrorFunc)keep_quiet};
    reader r = {.events = events, .ctx = ctx};
    r.parser = xmlCreatePushParserCtxt(&sax, &r, NULL, 0, NULL);
    if (!r.parser) return fo_no_memory(err);
    /* NOENT: "&amp;" in an attribute is "&", and not "&#38;". No entity but the five of XML is known, as no declaration
     * is read. */
    xmlCtxtUseOptions(r.parser, XML_PARSE_NONET | XML_PARSE_NOENT);
    int rc = zip_parts_each_piece(z, name, on_piece, &r, err);
    if (!rc && r.crowded)
        rc =
            fo_fail(err, FO_EINVAL,
                    "its part %.100s has an element with more than %d attributes, which no file of "
                    "this kind has",
                    name, XML_GUARD_ATTRIBUTES);
    if (!rc && !b->failure) {
        if (!r.doctype) xmlParseChunk(r.parser, "", 0, 1);
        if (r.doctype)
            rc = fo_fail(err, FO_EINVAL,
                         "its part %.100s declares a document type with rules of its own, which no "
                         "file of this kind does",
                         name);
        else if (!r.parser->wellFormed)
            rc = fo_fail(err, FO_EINVAL, "its part %.100s is no XML at line %d: it is damaged",
                         name, r.parser->input ? r.parser->input->line : 0);
    }
    if (r.parser->myDoc) xmlFreeDoc(r.parser->myDoc);
    xmlFreeParserCtxt(r.parser);
    return rc;
}

bool xml_attribute(const xml_element *e, const char *name, char *out, size_t cap) {
    out[0] = 0;
    bool prefixed = name[0] == ':';
    name += prefixed;
    for (int i = 0; i < e->n_attributes; i++) {
        const xmlChar **a =
            e->attributes + (ptrdiff_t)5 * i; /* name, prefix, URI, value, its end */
        if (strcmp((const char *)a[0], name) != 0 || (prefixed && !a[1])) continue;
        size_t n = (size_t)(a[4] - a[3]);
        if (n >= cap) {
            n = cap - 1;
            while (n && (a[3][n] & 0xC0) == 0x80) n--;
        }
        memcpy(out, a[3], n);
        out[n] = 0;
        return true;
    }
    return false;
}

long xml_number(const xml_element *e, const char *name, long fallback) {
    char value[24], *end;
    if (!xml_attribute(e, name, value, sizeof value) || !value[0]) return fallback;
    long v = strtol(value, &end, 10);
    return *end ? fallback : v;
}

bool xml_is(const char *name, const char *one_of) {
    return fo_words_have(one_of, name, strlen(name));
}

/* ---- relationships ------------------------------------------------------------------------------- */

typedef struct related {
    const char *part, *type, *id;
    fo_buf *out;
} related;

static bool is_external(const xml_element *e) {
    char value[16];
    return xml_attribute(e, "TargetMode", value, sizeof value) && !strcmp(value, "External");
}

static void on_relation(void *ctx, const xml_element *e) {
    related *r = ctx;
    char value[512];
    if (strcmp(e->name, "Relationship") != 0 || r->out->len) return;
    if (is_external(e)) return;
    xml_attribute(e, r->type ? "Type" : "Id", value, sizeof value);
    size_t n = strlen(value), k = r->type ? strlen(r->type) : 0;
    if (r->type ? n < k || strcmp(value + n - k, r->type) != 0 : strcmp(value, r->id) != 0) return;
    if (xml_attribute(e, "Target", value, sizeof value)) zip_parts_resolve(r->out, r->part, value);
}

/* The part that says what another one is related to; "": there is none. */
static void name_relations(zip_parts *z, const char *part, char out[600]) {
    const char *name = fo_base_name(part);
    snprintf(out, 600, "%.*s_rels/%.250s.rels", (int)(name - part < 300 ? name - part : 300), part,
             name);
    if (!zip_parts_has(z, out)) out[0] = 0;
}

int xml_part_related(zip_parts *z, builder *b, const char *part, const char *type, const char *id,
                     fo_buf *out, fo_err *err) {
    static const xml_events events = {.open = on_relation};
    char rels[600];
    fo_buf_clear(out);
    name_relations(z, part, rels);
    related r = {part, type, id, out};
    int rc = *rels ? xml_part_read(z, b, rels, &events, &r, err) : FO_OK;
    if (!rc && !out->data) fo_buf_str(out, "");
    return rc || !out->failed ? rc : fo_no_memory(err);
}

typedef struct relations {
    const char *part;
    part_names *out;
    fo_buf target;
} relations;

static void on_any_relation(void *ctx, const xml_element *e) {
    relations *r = ctx;
    char id[512], value[512];
    if (strcmp(e->name, "Relationship") != 0 || is_external(e) ||
        !xml_attribute(e, "Id", id, sizeof id) || !xml_attribute(e, "Target", value, sizeof value))
        return;
    zip_parts_resolve(&r->target, r->part, value);
    if (r->target.failed)
        r->out->b->failure = FO_ENOMEM;
    else
        part_names_add(r->out, id, r->target.data);
}

int xml_part_relations(zip_parts *z, const char *part, part_names *out, fo_err *err) {
    static const xml_events events = {.open = on_any_relation};
    char rels[600];
    name_relations(z, part, rels);
    relations r = {.part = part, .out = out};
    int rc = *rels ? xml_part_read(z, out->b, rels, &events, &r, err) : FO_OK;
    fo_buf_free(&r.target);
    return rc;
}

/* ---- titles -------------------------------------------------------------------------------------- */

typedef struct titled {
    fo_buf text;
    bool in;
} titled;

static void title_open(void *ctx, const xml_element *e) {
    titled *t = ctx;
    t->in = !t->text.len && !strcmp(e->name, "title");
}
static void title_close(void *ctx, const char *name) {
    (void)name;
    ((titled *)ctx)->in = false;
}
static void title_text(void *ctx, const char *s, size_t n) {
    titled *t = ctx;
    if (t->in && t->text.len < 4096) fo_buf_add(&t->text, s, n);
}

void xml_part_title(zip_parts *z, builder *b, const char *name) {
    static const xml_events events = {title_open, title_close, title_text};
    titled t = {0};
    if (zip_parts_has(z, name) && !xml_part_read(z, b, name, &events, &t, NULL) && t.text.data)
        builder_set_title(b, t.text.data, t.text.len);
    fo_buf_free(&t.text);
}
