/* fact_classes.h - closed classes of words by language, part of facts.h. Lists of our own; a language without one merely has
 * fewer marks. */
#ifndef FORAGE_RETRIEVAL_FACT_CLASSES_H
#define FORAGE_RETRIEVAL_FACT_CLASSES_H

#include <stddef.h>
#include <stdint.h>

/* WORD_* of a word (any case) of a language other than English, by its number (index/sparse/language.h);
 * 0 where it is in no class, or the language has no lists. Any thread. */
uint32_t fact_class_of(int language, const char *word, size_t len);

#endif
