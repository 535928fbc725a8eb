/* path_names.h - a path that a question has is another's than "/etc/shadow-" or "/etc/shadow.d/" in a text. */
#ifndef FORAGE_RETRIEVAL_PATH_NAMES_H
#define FORAGE_RETRIEVAL_PATH_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes of the path of a file that begins at byte i of s[len], "/etc/shadow", "~/.profile"; 0: none does, as in "in/out" and "/etc". A
 * full stop behind it ends the sentence. */
size_t path_name_at(const char *s, size_t len, size_t i);
/* Where the path begins that byte i may be a part of; i: nowhere before it. */
size_t path_name_start(const char *s, size_t i);

/* Bytes of the first path that the question has, at *path; 0: it has none. */
size_t path_name_asked(const char **path, const char *question, size_t len);

/* Does text[n] speak of other paths that begin with path[n_path], and nowhere of itself? */
bool path_names_other(const char *path, size_t n_path, const char *text, size_t n);

#endif
