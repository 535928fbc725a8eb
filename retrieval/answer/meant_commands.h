/* meant_commands.h - the command that does what is asked, told by the title of its page.
 *
 * Who says what is to be done and names no command, "turn a pdf into text", is answered by "pdftotext - Portable Document Format (PDF) to
 * text converter", of which no sentence has his words: an encoder has seen how near that title comes (extractive.h: meant). */
#ifndef FORAGE_RETRIEVAL_MEANT_COMMANDS_H
#define FORAGE_RETRIEVAL_MEANT_COMMANDS_H

#include "retrieval/answer/candidates.h"

/* From here on a command is taken for the one that is meant. */
extern const double meant_commands_least;

/* Could a command be the answer? Where it is said what is to be done, or asked which or what, and no option is named. English. */
bool meant_commands_asked(const question *q);
/* Sets meant of passages that are read: those of the command whose page is likeliest, if it is likely. English. */
void meant_commands_mark(candidate_set *set, const extractive_input *in);
/* Are they to lead? Not where what is first is theirs and is an answer, or is surely one. Then their candidates are marked, to be
 * put in order again. */
bool meant_commands_lead(candidate_set *set, double support);
/* The line that names the command stands before what its page says besides, once they are in order. */
void meant_commands_put_name_first(candidate_set *set);
/* "Print the first 10 lines of each FILE" does not say what prints them: the line that names the command is said beside. chosen[n]; how many. */
size_t meant_commands_name_beside(const candidate_set *set, size_t most, candidate *chosen,
                                  size_t n);

#endif
