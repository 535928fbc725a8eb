/* path_names.h - a path that a question has is another's than "/etc/shadow-" or "/etc/shadow.d/" in a text. */
#ifndef FORAGE_RETRIEVAL_PATH_NAMES_H
#define FORAGE_RETRIEVAL_PATH_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* Does the question have a path, "/etc/shadow" or "~/.profile", and does text[n] speak of others that begin with it, and nowhere of
 * itself? */
bool path_names_other(const char *question, size_t len, const char *text, size_t n);

#endif
