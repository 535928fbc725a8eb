/* EPUB books: chapters in the order of the spine, each an XHTML page. Source: EPUB 3.3, packages. */
#include <stdlib.h>
#include <string.h>

#include "data/extract/extract_internal.h"
#include "data/extract/xml_part.h"

enum { MAX_CHAPTER = 32 << 20 };

typedef struct reader {
    builder *b;
    fo_buf package;                     /* the name of the part that lists all others */
    part_names items, spine, protected; /* ids, and of pages their parts; ids; parts */
    bool in_title, in_language;
    fo_buf title, joined;
} reader;

static void container_open(void *ctx, const xml_element *e) {
    reader *r = ctx;
    char path[512];
    if (strcmp(e->name, "rootfile") != 0 || r->package.len) return;
    if (xml_attribute(e, "full-path", path, sizeof path)) fo_buf_str(&r->package, path);
}

/* "my%20chapter.xhtml#part" is "my chapter.xhtml". */
static void unescape(char *s) {
    char *out = s;
    for (; *s && *s != '#'; s++) {
        char hex[3] = {0}, *end;
        if (*s == '%' && s[1] && s[2]) {
            hex[0] = s[1];
            hex[1] = s[2];
        }
        long c = *hex ? strtol(hex, &end, 16) : 0;
        if (*hex && !*end && c > 0) {
            *out++ = (char)c;
            s += 2;
        } else {
            *out++ = *s;
        }
    }
    *out = 0;
}

static void package_open(void *ctx, const xml_element *e) {
    reader *r = ctx;
    char value[512];
    if (!strcmp(e->name, "item")) {
        xml_attribute(e, "media-type", value, sizeof value);
        const bool page = xml_is(value, "application/xhtml+xml text/html");
        if (!xml_attribute(e, "href", value, sizeof value)) return;
        unescape(value);
        zip_parts_resolve(&r->joined, r->package.data, value);
        if (r->joined.failed) r->b->failure = FO_ENOMEM;
        xml_attribute(e, "id", value, sizeof value);
        part_names_add(&r->items, value, page && r->joined.data ? r->joined.data : "");
    } else if (!strcmp(e->name, "itemref")) {
        if (xml_attribute(e, "idref", value, sizeof value)) part_names_add(&r->spine, value, "");
    } else if (!strcmp(e->name, "title")) {
        r->in_title = !r->title.len;
    }
}
static void package_close(void *ctx, const char *name) {
    if (!strcmp(name, "title")) ((reader *)ctx)->in_title = false;
}
static void package_text(void *ctx, const char *s, size_t n) {
    reader *r = ctx;
    if (r->in_title && r->title.len < 4096) fo_buf_add(&r->title, s, n);
}

/* META-INF/encryption.xml: fonts are often garbled, which is no matter; chapters are under protection. */
static void encryption_open(void *ctx, const xml_element *e) {
    reader *r = ctx;
    char value[512];
    if (strcmp(e->name, "CipherReference") != 0 || !xml_attribute(e, "URI", value, sizeof value))
        return;
    unescape(value);
    part_names_add(&r->protected, value, "");
}

static int read_chapter(reader *r, zip_parts *z, const char *part, fo_err *err) {
    if (part_names_find(&r->protected, part))
        return fo_fail(err, FO_EUNSUPPORTED,
                       "its chapters are encrypted: it is under protection "
                       "against copies");
    fo_buf page = {0}, text = {0};
    int rc = zip_parts_read(z, part, MAX_CHAPTER, &page, err);
    extract_input in = {.bytes = (const unsigned char *)page.data, .n = page.len, .head = ""};
    if (!rc) rc = extract_decode(r->b, &in, "utf-8", &text, err);
    if (!rc) extract_html_text(r->b, text.data, text.len);
    extract_drop(r->b, &text);
    fo_buf_free(&page);
    return rc;
}

static int read_parts(reader *r, zip_parts *z, fo_err *err) {
    static const xml_events of_container = {.open = container_open};
    static const xml_events of_package = {package_open, package_close, package_text};
    static const xml_events of_encryption = {.open = encryption_open};
    int rc = xml_part_read(z, r->b, "META-INF/container.xml", &of_container, r, err);
    if (!rc && !r->package.len) rc = fo_fail(err, FO_EINVAL, "it names no package of its parts");
    if (!rc) rc = xml_part_read(z, r->b, r->package.data, &of_package, r, err);
    if (!rc && zip_parts_has(z, "META-INF/encryption.xml"))
        rc = xml_part_read(z, r->b, "META-INF/encryption.xml", &of_encryption, r, err);
    if (rc) return rc;
    builder_set_title(r->b, r->title.data ? r->title.data : "", r->title.len);
    size_t n_read = 0;
    for (size_t i = 0; !rc && builder_go_on(r->b, 0) && i < r->spine.n; i++) {
        const char *part = part_names_find(&r->items, part_names_at(&r->spine, i));
        if (!part || !*part || !zip_parts_has(z, part)) continue;
        rc = read_chapter(r, z, part, err);
        n_read++;
    }
    if (!rc && !r->b->failure && !n_read) rc = fo_fail(err, FO_EINVAL, "it has no chapters");
    r->b->encoding = NULL; /* of its chapters, each its own */
    return rc;
}

int extract_epub(builder *b, extract_input *in, fo_err *err) {
    zip_parts *z;
    int rc = zip_parts_open(&z, b, in->bytes, in->n, err);
    if (rc) return rc;
    reader r = {.b = b, .items = {.b = b}, .spine = {.b = b}, .protected = {.b = b}};
    rc = read_parts(&r, z, err);
    part_names_free(&r.items);
    part_names_free(&r.spine);
    part_names_free(&r.protected);
    fo_buf_free(&r.package);
    fo_buf_free(&r.title);
    fo_buf_free(&r.joined);
    zip_parts_close(z);
    return rc;
}
