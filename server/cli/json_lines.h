/* json_lines.h - documents a line: .jsonl files and stdin as commands read them, and what a service says of lines that
 * it was sent.
 *
 *     static int add(void *ctx, const char *line, size_t n, const char *label, fo_err *err) { ... }
 *     json_lines_read(f, "notes.jsonl", add, &target, &err);   // label: "notes.jsonl:4711"
 *
 * A service numbers the lines of each request from 1; json_lines_sent keeps where they came from:
 *
 *     json_lines_sent_add(&sent, label, &err);   // for each line of the body
 *     json_lines_sent_name(&sent, &why);         // "line 7.text is missing" is "notes.jsonl:4711.text is missing" now
 *     sent.n = 0;                                // another request
 *     json_lines_sent_deinit(&sent); */
#ifndef FORAGE_SERVER_JSON_LINES_H
#define FORAGE_SERVER_JSON_LINES_H

#include <stddef.h>
#include <stdio.h>

#include "kernels/error.h"

enum { JSON_LINES_LABEL = 96 }; /* bytes, with the NUL */

/* A line without its end and the spaces before that, never empty; both texts are valid until it returns. Not 0 ends the
 * reading. */
typedef int json_lines_fn(void *ctx, const char *line, size_t n, const char *label, fo_err *err);

/* Each line from where f stands to its end; f stays open. A byte order mark before the first is no part of it. Returns
 * what `each` did, or FO_EIO and the like where f cannot be read. */
int json_lines_read(FILE *f, const char *name, json_lines_fn *each, void *ctx, fo_err *err);

/* Zeros: none. */
typedef struct json_lines_sent {
    char (*labels)[JSON_LINES_LABEL];
    size_t n, cap;
} json_lines_sent;

int json_lines_sent_add(json_lines_sent *s, const char *label, fo_err *err); /* FO_ENOMEM */
/* Puts the label in place of the first "line N" in why's message, where such a line was sent. */
void json_lines_sent_name(const json_lines_sent *s, fo_err *why);
void json_lines_sent_deinit(json_lines_sent *s);

#endif
