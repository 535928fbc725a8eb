/* file_names.h - what a file is called as a document: one name, however its path was typed.
 *
 * The rule: a file's id and address are its path, without `.`, `..`, doubled and trailing slashes; of
 * what lies below the base (the working folder, or --base) only what is below it, of everything else
 * the whole path from the root. `notes`, `./notes/` and `/home/me/notes` are so the same documents when
 * asked for from /home/me. Links in the folders on the way to a path are resolved, the path's own last
 * name is kept though it be a link.
 *
 * Collections hold documents that were named otherwise: by an absolute path though it lies below the
 * base, or through a link. A file that a collection holds under such a name keeps it, so that nothing
 * is there twice. */
#ifndef FORAGE_SERVER_FILE_NAMES_H
#define FORAGE_SERVER_FILE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include "kernels/buf.h"
#include "kernels/error.h"

/* The names that a path may have, in the order in which they are looked for: from the root, below the
 * base, as it was typed. NULL: there is none, or it is one of those before. `new_name` is one of the
 * three: what a file is called that the collection holds under none. */
enum { FILE_NAMES = 3 };
typedef struct file_names {
    char *name[FILE_NAMES];
    const char *new_name;
} file_names;

/* path must exist. base: NULL is the working folder. The name of the base itself is "". */
int file_names_make(file_names *out, const char *path, const char *base, fo_err *err);
void file_names_deinit(file_names *n);

/* Is one of the n paths of a file or folder that is there, or "-", standard input? */
bool file_names_one_there(char *const *paths, int n);

/* `child` (a path below the folder, "" for the folder itself) put behind a folder's name; *out is
 * cleared first. */
void file_names_join(fo_buf *out, const char *folder, const char *child);

#endif
