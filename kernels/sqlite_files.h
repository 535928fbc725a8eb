/* sqlite_files.h - the files of a SQLite database as they lie, read without SQLite: the checksum of
 * every page (page_sums.h), and of every frame of its log, also where SQLite would stop reading
 * without a word. */
#ifndef FORAGE_KERNELS_SQLITE_FILES_H
#define FORAGE_KERNELS_SQLITE_FILES_H

#include <stdbool.h>
#include "kernels/error.h"

/* unused: what is damaged is not in use, so that nothing is lost. what: a sentence that begins "its
 * log ...", "page 3 ...", until the callback returns. */
typedef void fo_sqlite_files_fn(void *ctx, bool unused, const char *what);

/* A database that nobody has open, and PATH-wal where it is there. Findings (200 at most, and a word
 * where there are more) do not make it fail; what the disk does not give is one, too. */
int fo_sqlite_check_files(const char *path, fo_sqlite_files_fn *fn, void *ctx, fo_err *err);

#endif
