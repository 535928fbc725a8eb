/* language.h - which language a text is in, so that its words are stemmed as that language's.
 *
 * Told by its script where that says it (Han, Kana, Hangul, Thai, Devanagari, Greek, Arabic ...); a text in
 * Latin letters by its function words (stopwords.h), and where those are few or of several
 * languages, by libexttextcat's fingerprints, which must agree. In doubt it is what was expected: a
 * text that is wrongly told is stemmed wrongly, and found by fewer words. */
#ifndef FORAGE_INDEX_LANGUAGE_H
#define FORAGE_INDEX_LANGUAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Languages that are told apart: Snowball's names, and "chinese", "japanese", "korean", "thai", of
 * which every pair of characters is a term. -1 where the name is none of them. Any thread. */
enum { LANGUAGE_MAX = 40 };
int language_number(const char *name);
const char *language_name(int number);          /* static; NULL for -1 and beyond the last */
bool language_is(int number, const char *name); /* false for -1 */

/* The row of a language in a static table whose rows begin with its name, `struct { const char *language; ... } table[]`; NULL: it
 * has none. What is several such tables in one is looked through with language_is. */
#define LANGUAGE_ROW(table, number)                                                                \
    language_row(table, sizeof(table) / sizeof *(table), sizeof *(table), number)
const void *language_row(const void *rows, size_t n, size_t row_bytes, int number);

/* Is it written in another script than Latin? False for -1. */
bool language_has_other_script(int number);
/* Does it write every noun with a capital, so that one tells no name? False for -1. */
bool language_capitalises_nouns(int number);

/* Does it write compounds as one word? False for -1. */
bool language_joins_words(int number);

/* The language of text[0..len), where `expected` (any name) is what it is in if nothing says otherwise:
 * its number, or -1 for "as expected". Reads the first few thousand bytes. Any thread. */
int language_of(const char *text, size_t len, const char *expected);

enum { LANGUAGE_UNTOLD = -2 };

/* The same of a question, of which there are a few words only: of the languages in `among` (bits by
 * number) the one that has most of its words as function words or words to ask with ("¿" tells Spanish); -1 where none has more than the
 * expected one, LANGUAGE_UNTOLD where it has no function word at all. */
int language_of_question(const char *text, size_t len, const char *expected, uint64_t among);

/* The number of the language that a question is plainly in, where that is another than that of the texts (its name): another
 * script, or two function words more than of theirs. -1: it is not, or cannot be told. Any thread. */
int language_across(const char *question, size_t len, const char *of_texts);

#endif
