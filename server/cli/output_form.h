/* output_form.h - a report of a command in the form that was asked for: a table for people, JSON for programs, Markdown for
 * a note or a ticket. A command makes its report once, as one JSON object, and the two other forms are made of that.
 *
 *     static const cli_option options[] = {..., CLI_OUTPUT_OPTION, {0}};
 *
 *     fo_buf b = {0};                 // {"collection":"default","created":12,"failures":[{"file":"a","reason":"b"}]}
 *     ...
 *     output_print(&b);
 *
 * Where sentences say it better than a table, a command prints those for OUTPUT_TABLE itself. Rows that come one by one go
 * out one by one:
 *
 *     static const output_column columns[] = {{"documents", 10}, {"name", 0}};
 *     output_head(columns, 2);
 *     output_row(columns, 2, (const char *[]){count, name});
 *
 * What others wrote cannot leave its cell: what Markdown would read is escaped, and controls as everywhere (printable.h). */
#ifndef FORAGE_SERVER_OUTPUT_FORM_H
#define FORAGE_SERVER_OUTPUT_FORM_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

#include "kernels/buf.h"

enum output_form { OUTPUT_TABLE, OUTPUT_JSON, OUTPUT_MARKDOWN };

/* The rows of an option table. Every command that prints a result takes the four words, in the flag, in FORAGE_OUTPUT and in
 * forage.conf alike; a report for people is a table or sentences already, so text and table are one thing but to query, whose
 * text is the answer and whose table is its sources. */
/* clang-format off */
#define CLI_OUTPUT_OPTION \
    {"output", CLI_CHOICE, &output_choice.form, "text|table|json|md", \
     "the report on stdout: for people (text and table, the default), programs, or in Markdown"}, \
    {"json", CLI_BOOL, &output_choice.json, NULL, "short for --output json"}
/* clang-format on */
extern struct output_choice { /* what the rows read */
    const char *form;
    bool json;
} output_choice;

/* What was asked for. A flag goes before a variable or forage.conf, and --output before --json where neither or both are flags. */
enum output_form output_asked(void);
bool output_is_json(void); /* is it JSON? For progress.h, and what would stand beside the object */

/* A report, which is JSON, on stdout as it was asked for. */
void output_print(const fo_buf *report);

/* As a table (OUTPUT_TABLE: names and figures line by line, arrays of objects with their columns aligned) or Markdown. */
void output_write(fo_buf *to, enum output_form form, const cJSON *report);

typedef struct output_column {
    const char *name;
    int width; /* of the table, at least, in characters: to the right; negative: to the left; 0: as wide as it is */
} output_column;

/* On stdout, in the form that was asked for; nothing for JSON. cells[n]; NULL is an empty one. */
void output_head(const output_column *columns, size_t n);
void output_row(const output_column *columns, size_t n, const char *const *cells);

/* A text of many lines on stdout: as it is, or for Markdown in a fence that it cannot close. */
void output_text(const char *text);

#endif
