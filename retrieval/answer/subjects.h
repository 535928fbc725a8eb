/* subjects.h - documents that are about something else: who asks what guide dogs cost in the hotel is not answered by what a
 * museum says of them, where another document's title says that it is the hotel's. */
#ifndef FORAGE_RETRIEVAL_SUBJECTS_H
#define FORAGE_RETRIEVAL_SUBJECTS_H

#include "retrieval/answer/candidates.h"

/* Terms of the question in the name of a document's file, "docs/ferry-timetable.txt"; words is read anew. */
int subjects_named_by(uint64_t *named, const question *q, const lexicon *lx, const char *document,
                      fact_text *words, fo_err *err);

/* Sets off_subject of the passages: the question names a thing that stands in the title of a passage of another document, and
 * nowhere in the passages or the title of this one, whose title says nothing else of what it names. Or it names one by two words side by
 * side, which another one has in its title or its file's name, and no unit of this one both. What has no title may be
 * about anything; pages of commands are told apart by their names. */
void subjects_mark(candidate_set *set);

/* Sets CAND_SPOKEN_OF; where the talk is of a document, that another one has a heading for what is asked says half as much. */
void subjects_keep_to_the_talk(candidate_set *set);

/* Takes that back, and what was read of single candidates with the question: what was first by it may be none. */
void subjects_forget_the_talk(candidate_set *set);

/* Does a name of the question, no number, stand nowhere in the passages of that one's document, nor in its title? Where it has
 * none, all passages may be of its document. */
bool subjects_lose_a_name(const candidate_set *set, const candidate_passage *p);

/* ... and of a document that bears a name of the question as a whole, another word that weighs: at this bank nothing is said of
 * mortgages. */
bool subjects_lose_a_word(const candidate_set *set, const candidate_passage *p);

/* ... a kind that others are none of: breakfast, diesel, adults, a season ticket whose price is asked for. English. */
bool subjects_lose_a_kind(const candidate_set *set, const candidate_passage *p);

#endif
