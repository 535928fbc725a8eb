/* word_table.h - closed lists of words by language, each word with a number: what fact_classes.c and question_words.c look up.
 *
 *     static word_table t;  // all zero
 *     word_table_add(&t, language_number("german"), "nicht nie kein", WORD_NEGATION);
 *     word_table_find(&t, language_number("german"), "Nie", 3);  // WORD_NEGATION
 */
#ifndef FORAGE_RETRIEVAL_WORD_TABLE_H
#define FORAGE_RETRIEVAL_WORD_TABLE_H

#include <stddef.h>
#include <stdint.h>

enum { WORD_TABLE_SLOTS = 4096 }; /* more than the lists have words, by far */

typedef struct word_table {
    struct {
        const char *word; /* borrowed, ends at a space or the list's end; NULL: free */
        uint32_t len;
        int language; /* index/sparse/language.h */
        uint32_t value;
    } slots[WORD_TABLE_SLOTS];
} word_table;

/* words: lower-cased, a space between them, static. A word that is in several lists of its language has the bits of all. */
void word_table_add(word_table *t, int language, const char *words, uint32_t value);

/* As above, but a word that is in several lists has what the first one says. */
void word_table_add_first(word_table *t, int language, const char *words, uint32_t value);

/* Of a word in any case; 0: in no list, language < 0, or no UTF-8. Any thread, once nothing is added any more. */
uint32_t word_table_find(const word_table *t, int language, const char *word, size_t len);

#endif
