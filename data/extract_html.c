#include <libxml/HTMLparser.h>
#include <string.h>
#include "data/extract_internal.h"
int32_t extract_html_entity(const char *name, size_t n) {
    char copy[16];
    if (n >= sizeof copy) return 0;
    memcpy(copy, name, n);
    copy[n] = 0;
    const htmlEntityDesc *e = htmlEntityLookup((const xmlChar *)copy);
    return e ? (int32_t)e->value : 0;
}
void extract_html(builder *b, const char *text, size_t n) {
    extract_plain(b, text, n);
}
