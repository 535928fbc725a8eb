/* stopwords.h - the commonest function words of a language, written by us. They stay in the index
 * (a query of nothing else must work); queries leave them out where other words carry the search.
 */
#ifndef FORAGE_INDEX_STOPWORDS_H
#define FORAGE_INDEX_STOPWORDS_H

#include <stdbool.h>

/* Words of a language (Snowball's name), case-folded, divided by single spaces; "" where we have
 * no list. Static string. */
const char *stopwords_of(const char *language);

/* More words that tell the language of a question, "combien", "faut", "cuánto", "could": they are terms of the index and stay
 * such. said: others, that say something of what is asked for, too, "kostet". "" where we have no list. Static string. */
const char *asking_words_of(const char *language, bool said);

#endif
