/* extract_internal.h - what a row of the registry provides. */
#ifndef FORAGE_DATA_EXTRACT_INTERNAL_H
#define FORAGE_DATA_EXTRACT_INTERNAL_H

#include "data/extract/builder.h"

/* Text (decoded, cleaned, NUL-terminated) in, blocks out. Failures besides b->failure: none. */
typedef void extract_fn(builder *b, const char *text, size_t n);

void extract_plain(builder *b, const char *text, size_t n);
void extract_code(builder *b, const char *text, size_t n);
void extract_markdown(builder *b, const char *text, size_t n);
void extract_html(builder *b, const char *text, size_t n);
void extract_man(builder *b, const char *text, size_t n);

/* "amp" -> '&': a named character reference of HTML 4, 0 if it is not known. */
int32_t extract_html_entity(const char *name, size_t n);
/* Could text of this beginning be a page of man? */
bool extract_looks_like_man(const char *text, size_t n);

#endif
