/* printable.h - text of others made safe for a terminal and for a line of a log.
 *
 * Titles, ids, addresses, passages, answers, names in model files, paths of requests, sentences of
 * a server: whoever wrote them may have put in bytes that move a cursor, retitle a window, answer
 * for the reader or turn text around. Whatever the command line or the log prints of them goes
 * through here; only the program's own words are printed as they are.
 *
 * Escaped are controls (C0 but for what a form allows, DEL, C1 in either coding), the characters
 * that control the direction of text (Unicode's Bidi_Control), the separators of lines and
 * paragraphs U+2028 and U+2029, and bytes that are not UTF-8. What is shown in their place, \u{1b}
 * or \x9b, is for eyes and cannot be read back; --json is for programs. */
#ifndef FORAGE_SERVER_PRINTABLE_H
#define FORAGE_SERVER_PRINTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "kernels/buf.h"

enum printable_form {
    PRINTABLE_LINE, /* part of a line: line ends and tabs are escaped too */
    PRINTABLE_TEXT, /* \n and \t stay */
    PRINTABLE_JSON, /* s is JSON: escaped as \u001b, which means the same (not UTF-8: \ufffd) */
};

/* True when this code point is to be escaped, tabs and line ends included. */
bool printable_escapes(int32_t cp);

void printable_add(fo_buf *b, const char *s, size_t n, enum printable_form form);
void printable_put(FILE *f, const char *s, size_t n, enum printable_form form);

/* A line: the text that fmt makes, everything in it escaped, and a line end. */
void printable_say(FILE *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Output that is promised byte for byte (of `tokenize --decode`, say): as it is into a file or a
 * pipe, PRINTABLE_TEXT where f is a terminal. */
void printable_exact(FILE *f, const char *s, size_t n);

#endif
