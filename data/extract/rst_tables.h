/* rst_tables.h - tables of reStructuredText: drawn as a grid, marked by rules above and below, or written in a directive.
 *
 *     if (rst_is_grid(&l)) rst_read_grid(m, &l);            // takes the lines below that belong to it
 *     else if (rst_is_simple(&l)) rst_read_simple(m, &l);
 *     ...
 *     rst_read_list_table(m, l.indent);                     // the body below ".. list-table::"
 *
 * Source: the reStructuredText markup specification and the directives of docutils. */
#ifndef FORAGE_DATA_RST_TABLES_H
#define FORAGE_DATA_RST_TABLES_H

#include "data/extract/markup.h"

/* A line of one and the same punctuation sign; 0: it is none. */
char rst_rule_of(const text_line *l);
/* ":name: value" */
bool rst_is_option(const text_line *l);

/* "+-----+---+": the top of a table whose cells are drawn. */
bool rst_is_grid(const text_line *l);
/* "=====  ===": the top of a table whose columns are marked above and below. */
bool rst_is_simple(const text_line *l);

/* The rows below `top`. A cell that goes over several rows or columns is said in each: in a grid by how it is drawn, between
 * rules by the dashes below it. */
void rst_read_grid(markup *m, const text_line *top);
void rst_read_simple(markup *m, const text_line *top);

/* The options and rows of a directive at `indent`: those are indented more. */
void rst_read_csv_table(markup *m, size_t indent);
void rst_read_list_table(markup *m, size_t indent);

#endif
