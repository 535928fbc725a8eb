/* xml_guard.h - XML that would keep the parser busy for minutes is known before it is parsed.
 *
 *     xml_guard g = {0};
 *     while (there is a piece) if (!xml_guard_pass(&g, piece, n)) refuse it;
 *
 * libxml2 holds each attribute of an element, and each namespace that it declares, against all before it, and nothing can stop it
 * inside a tag: an element of 90,000 attributes, 200 kB of an Office file, took half a minute. No file that people make has more
 * than some hundred. */
#ifndef FORAGE_DATA_XML_GUARD_H
#define FORAGE_DATA_XML_GUARD_H

#include <stdbool.h>
#include <stddef.h>

enum { XML_GUARD_ATTRIBUTES = 4096 };

typedef struct xml_guard {
    int in;          /* xml_guard.c's: what the last byte stands in */
    char quote;      /* of the value at hand; 0: none */
    unsigned behind; /* bytes of what would end a comment or the like that were seen last */
    size_t n;        /* attributes of the element at hand */
} xml_guard;

/* False: an element has more attributes than that. Pieces may be cut anywhere. */
bool xml_guard_pass(xml_guard *g, const char *s, size_t n);

#endif
