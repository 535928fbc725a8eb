/* chunk_places.h - where a chunk stands in its document, in the form in which the store keeps it: a
 * JSON list of places, each with the code point of the document's text from which on it holds.
 *
 *     [{"at":4100,"page":12,"bbox":[72,90,523,131]},{"at":4380,"page":13,"bbox":[72,72,523,140]}]
 *
 * A citation is a part of a chunk and has the place that holds where it begins. */
#ifndef FORAGE_DATA_CHUNK_PLACES_H
#define FORAGE_DATA_CHUNK_PLACES_H

#include "data/chunk/chunk.h"
#include "kernels/buf.h"

typedef struct chunk_place { /* 0, "" and false: not known, or not of such a document */
    uint32_t page, slide;    /* from 1 */
    uint32_t line;           /* of the file, from 1 */
    bool has_time;
    double time[2]; /* of a recording: from, to, in seconds */
    bool has_bbox;
    double bbox[4];  /* x0, y0, x1, y1 on the page, in points from its upper left corner */
    char sheet[256]; /* its name, maybe cut */
    char range[64];  /* of cells, "B2:D9" */
} chunk_place;

/* Append the places of the blocks that c is made of; nothing where none has one. */
void chunk_places_write(fo_buf *out, const extracted *x, const chunk *c);

/* The place that holds at this code point of the document's text, of the stored form (NULL and ""
 * are fine). False where there is none. */
bool chunk_places_find(const char *places, size_t at_cp, chunk_place *out);
/* The place where the chunk begins; of a sheet, the range from its first cells to its last; of a
 * recording, the time from its beginning to its end. */
bool chunk_places_whole(const char *places, chunk_place *out);

#endif
