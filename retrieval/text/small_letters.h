/* small_letters.h - a question that is written in capitals, "WHO IS THE TREASURER?", in small letters: its capitals tell no names
 * and no acronyms, and texts hardly ever look like it. */
#ifndef FORAGE_RETRIEVAL_SMALL_LETTERS_H
#define FORAGE_RETRIEVAL_SMALL_LETTERS_H

#include <stdbool.h>
#include <stddef.h>

#include "kernels/buf.h"

/* Has the text letters with a case, and none of them small? */
bool small_letters_lack(const char *text, size_t len);

/* Appends such a question in small letters, but for codes ("E04") and options ("-Z"); false, and nothing appended, where it has small
 * letters, or no word but codes and acronyms of three letters. */
bool small_letters_question(fo_buf *out, const char *question);

#endif
