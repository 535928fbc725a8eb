/* contents_lists.h - lists of what a document holds: "19. INSERT is really slow" among the contents of a page of frequent questions,
 * which stands again above the answer, is none itself. */
#ifndef FORAGE_RETRIEVAL_CONTENTS_LISTS_H
#define FORAGE_RETRIEVAL_CONTENTS_LISTS_H

#include "retrieval/answer/candidates.h"

/* Sets CAND_QUESTION of entries of a list whose very words stand again, as a line of their own with a blank line before and behind it, in
 * what was found of the same document, and of that line where it is a unit; of a list as a whole where some entry of it asks. Not
 * of entries of a few words: "Which plans are there?" is answered by the list of their names, each of which may head a section.
 * Of a list of names alone, without a line that leads in, all entries are such where one of them stands again as a heading in what was
 * found, of this document or another: the contents of a manual by chapters. FO_ENOMEM. */
int contents_lists_mark(candidate_set *set, fo_err *err);

enum { CONTENTS_NAME = 128 }; /* bytes that hold a section's name and a NUL */

/* Of the entries of such lists, lists of names that nothing leads in, in a text: the one that says most of the question, half of it at
 * least, without its mark, in name; "" where there is none. FO_ENOMEM, FO_ELIMIT. */
int contents_lists_named(char name[CONTENTS_NAME], const question *q, const lexicon *lx,
                         const char *text, size_t len, fo_err *err);

/* Is the first line of a text, a chunk's, that name, as a heading has it? */
bool contents_lists_begins(const char *name, const char *text, size_t len);

#endif
