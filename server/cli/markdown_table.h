/* markdown_table.h - rows of a Markdown table on standard output, for --output md.
 *
 *     markdown_head(2, (const char *[]){"name", "documents"});
 *     markdown_row(2, (const char *[]){name, count});
 *
 * What others wrote cannot leave its cell: bars are escaped, and controls as everywhere (printable.h). */
#ifndef FORAGE_SERVER_MARKDOWN_TABLE_H
#define FORAGE_SERVER_MARKDOWN_TABLE_H

#include <stddef.h>

/* cells[n]; NULL is an empty one. */
void markdown_head(size_t n, const char *const *cells);
void markdown_row(size_t n, const char *const *cells);

#endif
