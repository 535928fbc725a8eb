/* small_names.h - names that a question writes in small letters, as most people type: "does it sync with feedly?" asks no less of Feedly
 * than with a capital.
 *
 * No list knows all names, and no capital tells these. What tells them is where they stand, and that hardly a passage says them: alone behind a
 * preposition, without an article or a plural, as names do ("with feedly", "connect it to discord") and things hardly ever ("with a
 * phone", "from spaces"), in a collection that is large enough to say every ordinary word of its subjects. English. */
#ifndef FORAGE_RETRIEVAL_SMALL_NAMES_H
#define FORAGE_RETRIEVAL_SMALL_NAMES_H

#include "retrieval/text/facts.h"

/* Is word w of the question such a name? Not what may be a slip of the keys for a word that the index has: "githbu", "gitub".
 * False where the lexicon knows no frequencies. */
bool small_names_is_one(const fact_text *t, size_t w, const lexicon *lx);

#endif
