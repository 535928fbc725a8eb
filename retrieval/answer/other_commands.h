/* other_commands.h - the page of one command does not answer what is asked of another. */
#ifndef FORAGE_RETRIEVAL_OTHER_COMMANDS_H
#define FORAGE_RETRIEVAL_OTHER_COMMANDS_H

#include "retrieval/answer/candidates.h"

/* Sets other_command of passages that are read: "with ls" is not answered by what gio would do, where a page of ls is there, nor
 * "What does set -e do?" by the option -e of strace, whether there is one of set or not. */
void other_commands_mark(candidate_set *set);

#endif
