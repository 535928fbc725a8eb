/* symbol_font.h - what a sign of a font of signs shows, as Unicode. Word names such a sign by its font and its code there
 * (w:sym), and no text says what it is: a cell of a table of features may hold nothing but a tick. */
#ifndef FORAGE_DATA_SYMBOL_FONT_H
#define FORAGE_DATA_SYMBOL_FONT_H

#include <stdint.h>

/* code: as the file says it, 0xF0FC or 0xFC. 0: it is not known. Of a font of letters the code is that of the letter. */
int32_t symbol_font_char(const char *font, long code);

#endif
