/* people_kinds.h - kinds of people that prices are told apart by: what adults and children pay is not what seniors do. English. */
#ifndef FORAGE_RETRIEVAL_PEOPLE_KINDS_H
#define FORAGE_RETRIEVAL_PEOPLE_KINDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The kinds that a text names, a bit for each: seniors, adults, children, students ... */
uint16_t people_kinds_in(const char *text, size_t len);

/* Does the text name kinds of people, and neither one of those asked for, by a word, an age or as "reduced", nor everybody? Of
 * text[len] from byte 0 on; never where none is asked for. */
bool people_kinds_are_others(uint16_t asked, const char *text, size_t len);

#endif
