/* unit_reader.h - what the parts of units.c share: the lines of a text, and the units that are made of them.
 *
 *     rc = unit_reader_add(r, l->start, l->end, TEXT_UNIT_ITEM, r->heading_start, r->heading_end, TEXT_UNIT_HEADING);
 *
 * Bytes are of the text, heads as text_unit has them (units.h). */
#ifndef FORAGE_RETRIEVAL_UNIT_READER_H
#define FORAGE_RETRIEVAL_UNIT_READER_H

#include "retrieval/units/unit_lines.h"
#include "retrieval/units/units.h"

enum {
    UNIT_WHOLE_ENTRY = 420
}; /* bytes: a description up to here stays one unit with its option, an item one */

typedef struct unit_reader {
    unit_lines in;
    bool asks; /* its paragraphs begin with questions: asks_often */
    text_units *out;
    uint32_t heading_start, heading_end; /* the last heading seen */
    fo_err *err;
} unit_reader;

/* One unit more; an empty one is left out. FO_ENOMEM. */
int unit_reader_add(unit_reader *r, uint32_t start, uint32_t end, uint8_t kind, uint32_t head_start,
                    uint32_t head_end, uint8_t head_kind);
/* The sentences of a stretch, each hanging on the same head; one of a single word with the next, one
 * that only denies ("Cats, no.") with the one before. FO_ENOMEM. */
int unit_reader_add_sentences(unit_reader *r, uint32_t start, uint32_t end, uint8_t kind,
                              uint32_t head_start, uint32_t head_end, uint8_t head_kind);

/* The end of the sentence right behind `at` where it only denies, else `at`. */
uint32_t unit_reader_denial_end(const unit_reader *r, uint32_t end, uint32_t at);

/* Where the sentence that begins at `at` ends, which the lines before the text have a say in. */
size_t unit_reader_stop(const unit_reader *r, size_t end, size_t at);
/* Does nothing say that the sentence of line i goes on in the next one? */
bool unit_reader_ends_line(const unit_reader *r, size_t i);
/* Where the last sentence of a stretch begins. */
uint32_t unit_reader_last_sentence(const unit_reader *r, uint32_t start, uint32_t stop);

#endif
