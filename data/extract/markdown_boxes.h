/* markdown_boxes.h - what definitions and boxes of Markdown hold, as MkDocs has it, which is text and no code.
 *
 *     fo_buf plain = {0};
 *     if (markdown_boxes_write(&plain, s, n)) ... plain is the Markdown to read instead ...
 *     fo_buf_free(&plain);
 *
 * Paragraphs that belong to a definition (": Customize the language") are indented by four blanks or a tab, as code is elsewhere,
 * and so is what stands in a box (`!!! warning "Hot"`, `??? tip`) or in a tab (`=== "Linux"`). The indent goes; of a box or a tab
 * its title stays, a paragraph of its own. A box without one has its kind for it ("Deprecated"), but for note, info, tip and hint,
 * which tell nothing. The mark of a definition stays. Fences stay as they are, but for the indent. A line that begins as a box
 * does and has nothing indented below it ("!!! Do not run this") is none, and stays. */
#ifndef FORAGE_DATA_MARKDOWN_BOXES_H
#define FORAGE_DATA_MARKDOWN_BOXES_H

#include "kernels/buf.h"

/* False: there is nothing of the kind, and nothing is written. Where memory runs out out->failed says so. */
bool markdown_boxes_write(fo_buf *out, const char *s, size_t n);

#endif
