/* task_titles.h - titles that say what somebody does: "Add a printer", "Changing the layout". English, by their first words.
 *
 *     if (task_title_names_one("Adding a printer")) ...   // its page says how that is done
 */
#ifndef FORAGE_RETRIEVAL_TASK_TITLES_H
#define FORAGE_RETRIEVAL_TASK_TITLES_H

#include <stdbool.h>

/* "Adding a printer" and "How to add a printer" name a task; "Printers" and "Report of 2024" name a thing. */
bool task_title_names_one(const char *title);

/* "What is a virtual machine?", "Why is it slow?": its page says something else than how. */
bool task_title_asks_else(const char *title);

/* The side of a pair of opposites that the question says and the title does not, where the title says the other side: "unblock
 * unblocking" of "Blocking a member". NULL: there is none. A list for word_tokens_say. */
const char *task_title_opposes(const char *title, const char *question);

#endif
