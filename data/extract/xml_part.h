/* xml_part.h - a part of an Office document as XML events, by libxml2, in pieces as it is unpacked. A
 * document type that declares anything itself is refused: with it go entities, and so bombs of them. One that only
 * names what it is passes, and nothing that it names is loaded. */
#ifndef FORAGE_DATA_XML_PART_H
#define FORAGE_DATA_XML_PART_H

#include "data/extract/part_names.h"
#include "data/extract/zip_parts.h"

typedef struct xml_element { /* good until the callback returns */
    const char *name;        /* without its prefix */
    const unsigned char **attributes;
    int n_attributes;
} xml_element;

typedef struct xml_events {
    void (*open)(void *ctx, const xml_element *e);
    void (*close)(void *ctx, const char *name);       /* without its prefix */
    void (*text)(void *ctx, const char *s, size_t n); /* clean UTF-8, maybe in several pieces */
} xml_events;

/* Errors as of zip_parts_each_piece; FO_EINVAL names the part and line that is no XML. */
int xml_part_read(zip_parts *z, builder *b, const char *name, const xml_events *events, void *ctx,
                  fo_err *err);

/* The value of an attribute (its name without prefix; ":id": one that has a prefix) in out[cap], cut
 * where it is longer; "" and false where there is none. */
bool xml_attribute(const xml_element *e, const char *name, char *out, size_t cap);
/* The same as a number: the fallback where there is none, or no number. */
long xml_number(const xml_element *e, const char *name, long fallback);

/* Is the name one of these, which are parted by blanks? */
bool xml_is(const char *name, const char *one_of);

/* The targets of a part's relationships ("_rels/NAME.rels" beside it). type: the end of the relation's
 * type ("/notesSlide"), or NULL: that with this id. *out: its part's name, "" where there is none. */
int xml_part_related(zip_parts *z, builder *b, const char *part, const char *type, const char *id,
                     fo_buf *out, fo_err *err);

/* All of them, by their ids, for who asks for many: *out gets their parts' names. Errors: as of xml_part_read; part_names' own are
 * out->b's. */
int xml_part_relations(zip_parts *z, const char *part, part_names *out, fo_err *err);

/* dc:title of a part with properties, to b; none where the part is missing or damaged. */
void xml_part_title(zip_parts *z, builder *b, const char *name);

#endif
