/* part_names.h - what a part of an archive lists by name, and what it says of each: the sheets of a workbook, relations, the items of
 * a book. As many as the document's budget allows, for who reads the first thousand alone leaves out the rest without a word.
 *
 *     part_names names = {.b = b};
 *     part_names_add(&names, "rId1", "xl/worksheets/sheet1.xml");
 *     ... part_names_find(&names, "rId1") ...
 *     part_names_free(&names); */
#ifndef FORAGE_DATA_PART_NAMES_H
#define FORAGE_DATA_PART_NAMES_H

#include "data/extract/builder.h"

typedef struct part_name {
    size_t name, says; /* into text */
    const char *sorted;
} part_name;

typedef struct part_names {
    builder *b; /* whose budget counts them */
    fo_buf text;
    part_name *list;
    size_t n, cap, taken;
    bool sorted;
} part_names;

/* Strings are copied. What fails is b->failure. */
void part_names_add(part_names *p, const char *name, const char *says);
/* By number, from 0, in the order in which they were added; only until one is looked for by its name. */
const char *part_names_at(const part_names *p, size_t i);
const char *part_names_says(const part_names *p, size_t i);
/* What is said of the first that was added by this name; NULL: there is none. In the logarithm of their number. */
const char *part_names_find(part_names *p, const char *name);
void part_names_free(part_names *p);

#endif
