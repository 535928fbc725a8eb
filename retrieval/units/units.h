/* units.h - what of a text can stand alone as an answer.
 *
 * A sentence is one; but an option without its description, a table's row without its header, one
 * step of a procedure without the others answer nothing. The layout of the text tells which is
 * which: it is what data/extract leaves of any format (lines, blank lines, "a | b" for the cells of
 * a row, "1." and "-" for the items of a list), so nothing but the text is needed.
 *
 *     text_units u = {0};
 *     int rc = text_units_read(&u, text, len, 0, &err);
 *     for (size_t i = 0; i < u.n; i++) use(text + u.v[i].start, u.v[i].end - u.v[i].start);
 *     text_units_deinit(&u);
 *
 * Units come in order of their start; a procedure stands before its items and overlaps them. */
#ifndef FORAGE_RETRIEVAL_UNITS_H
#define FORAGE_RETRIEVAL_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "kernels/error.h"

enum text_unit_kind {
    TEXT_UNIT_SENTENCE,
    TEXT_UNIT_HEADING,    /* a line, or an item, that names what follows; no answer by itself */
    TEXT_UNIT_DEFINITION, /* an option or term and (the beginning of) what is said of it */
    TEXT_UNIT_ITEM,   /* of a list; head: the line that leads in, or the item that it stands in */
    TEXT_UNIT_ROW,    /* of a table; head: its first row, or none where its cells are named */
    TEXT_UNIT_HEADER, /* the first row of a table; no answer by itself */
    TEXT_UNIT_STEPS,  /* a list with the line that leads in, whole */
    TEXT_UNIT_TURN,   /* what somebody said in a chat log; head: what was said before */
};

typedef struct text_unit {
    uint32_t start, end; /* bytes of the text, half-open, no white space at the ends */
    /* What it hangs on, elsewhere in the text: the option that a later sentence describes, the
     * header of a row, the lead-in of an item, the heading above a sentence. Empty: nothing. */
    uint32_t head_start, head_end;
    /* Of an item that stands in another one: what that one hangs on, an item too or what the list does. Of a sentence that hangs on
     * the name its paragraph begins with: the heading above. */
    uint32_t outer_start, outer_end;
    uint32_t
        body; /* of a definition: where what is said of it begins; of a turn: behind its time; else start */
    uint8_t kind;      /* enum text_unit_kind */
    uint8_t head_kind; /* TEXT_UNIT_HEADING: the head is context; else it belongs to the answer */
    bool record;       /* a row whose cells say which columns they are of: table_row.h */
    bool named; /* a list below a heading that names it: an answer only to who asks for that */
    bool
        names; /* an item that only names those in it: said with all of them, which are `named` right before it */
    bool nested; /* an item in an item, which is its head: "Canoe: full day: 50 euros" */
    bool asks;   /* a turn that asks, with a question mark or without, and says nothing else */
    bool mail;   /* the lines that a mail begins with */
    bool lines;  /* an example, of code or the like: its line breaks are part of it */
} text_unit;

typedef struct text_units {
    text_unit *v;
    size_t n, cap;
} text_units;

/* Fill *out (zeroed or used before: its memory is kept). `before`: bytes of the document that stand
 * before text[0] in memory; they help to tell how its lines were broken. FO_ENOMEM, FO_ELIMIT. */
int text_units_read(text_units *out, const char *text, size_t len, size_t before, fo_err *err);
/* ... of a text that more of its document stands behind: where `followed`, a line in capitals that it ends with heads that. Whoever
 * does not know says false, and the line says something itself: "NO DOGS ALLOWED". */
int text_units_read_part(text_units *out, const char *text, size_t len, size_t before,
                         bool followed, fo_err *err);
void text_units_deinit(text_units *u);

/* Bytes of a bullet (list_bullet of data/extract/list_marker.h) or number before an item's text at the beginning of a line: "- ",
 * "* ", "3. ", "b) ", "iv) ". 0: none. */
size_t text_item_mark(const char *s, size_t n);

/* Bytes of the label that the text begins with, "Needles and blades" of "Needles and blades: yellow box": so many words at most, and
 * a colon with a blank behind it. 0: it begins with none. */
size_t text_label(const char *s, size_t n, size_t most_words);

#endif
