/* answer_print.h - an answer of POST /query on the terminal. */
#ifndef FORAGE_SERVER_ANSWER_PRINT_H
#define FORAGE_SERVER_ANSWER_PRINT_H

#include <cjson/cJSON.h>
#include <stdbool.h>

/* The answer, or the sentence that says why there is none. */
void answer_print_text(const cJSON *a);
const char *answer_print_nothing(const cJSON *a); /* that sentence; static */
/* Of a question with a misspelt word, a line with what was asked in its place; the text of an answer and contexts alone begin with it. */
void answer_print_asked_as(const cJSON *a);
/* Where the index lacked documents when it was searched, a line that says so; the next two print it as well
 * (answer_print_sources of contexts alone). */
void answer_print_incomplete(const cJSON *a);
/* What is cited; the nearest passages where nothing is. contexts_only: a reply of POST /search. */
void answer_print_sources(const cJSON *a, bool contexts_only);
/* The same as a table, a row each (output_form.h). Where the answer is a refusal, its sentence goes to stderr: a table of
 * passages alone would pass for sources. */
void answer_print_table(const cJSON *a, bool contexts_only);
/* All of it as Markdown: the markers of the answer are footnotes, passages are a list. */
void answer_print_markdown(const cJSON *a, bool contexts_only);

#endif
