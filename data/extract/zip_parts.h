/* zip_parts.h - the parts of a document that is a ZIP archive (Office Open XML, OpenDocument, EPUB), by
 * libzip. A part is unpacked as it is read, and all of them together within a bound: an archive of a few
 * kilobytes may say that it holds terabytes. For worker processes (extract_host.h). */
#ifndef FORAGE_DATA_ZIP_PARTS_H
#define FORAGE_DATA_ZIP_PARTS_H

#include "data/extract/builder.h"

typedef struct zip_parts zip_parts;

/* The archive in these bytes, which must stay. b's budget bounds what is read of it. FO_EINVAL. */
int zip_parts_open(zip_parts **out, builder *b, const void *bytes, size_t n, fo_err *err);
void zip_parts_close(zip_parts *z); /* NULL is fine */

bool zip_parts_has(zip_parts *z, const char *name);

/* Gives the part to fn in pieces; false from fn ends it. FO_ENOTFOUND where there is none of the name;
 * FO_EUNSUPPORTED: it is encrypted; FO_EINVAL: it is damaged; FO_ELIMIT: it unpacks to too much, where a part that is read
 * twice on end counts once.
 * A failure of the budget is told in b->failure alone. */
typedef bool zip_piece_fn(void *ctx, const char *piece, size_t n);
int zip_parts_each_piece(zip_parts *z, const char *name, zip_piece_fn *fn, void *ctx, fo_err *err);

/* The whole part appended to *out (freed by the caller), of at most `most` bytes; not counted by the
 * budget: for small parts, and for those that are handed on at once. */
int zip_parts_read(zip_parts *z, const char *name, size_t most, fo_buf *out, fo_err *err);

/* "ppt/slides/slide1.xml" and "../media/a.png" give "ppt/media/a.png"; a target from the root ("/ppt/x")
 * loses its slash. *out is cleared first. */
void zip_parts_resolve(fo_buf *out, const char *base, const char *target);

#endif
