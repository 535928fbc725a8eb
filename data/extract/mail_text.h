/* mail_text.h - the text of a mail: its paragraphs, with what it quotes told apart.
 *
 * Lines stay as they are, save those of a quotation: programs wrapped them, and put a mark before each. Here a quoted
 * paragraph is one line with its marks before it, "> It is due on 1 June. I will pay it.", so that its sentences hold
 * none, and the marks still tell what is quoted and in what. */
#ifndef FORAGE_DATA_MAIL_TEXT_H
#define FORAGE_DATA_MAIL_TEXT_H

#include "data/extract/builder.h"

/* Write the n bytes of clean text s to b, as far as its limits allow. */
void mail_text_write(builder *b, const char *s, size_t n);

#endif
