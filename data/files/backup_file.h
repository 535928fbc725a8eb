/* backup_file.h - a backup is one file: a tar of named files, compressed with zstd, and behind it the
 * SHA-256 of every byte of that.
 *
 *     backup_writer *w;
 *     backup_create(&w, "home.tar.zst", &err);
 *     backup_add_bytes(w, "BACKUP", text, n, &err);
 *     backup_add_file(w, "forage.db", "/tmp/copy.db", &err);
 *     backup_commit(w, &err);                    // nothing is at the path before
 *
 *     backup_extract("home.tar.zst", "folder", &err);
 *
 * The checksum stands in a frame that zstd skips, so `tar --zstd -xf` reads the file as well; the last
 * member, SHA256SUMS, is for `sha256sum -c` behind that. One thread a writer. */
#ifndef FORAGE_DATA_FILES_BACKUP_FILE_H
#define FORAGE_DATA_FILES_BACKUP_FILE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "kernels/error.h"

#define BACKUP_SUMS "SHA256SUMS"

typedef struct backup_writer backup_writer;

/* Begin the file that shall be at `path`, 0600; nothing is there until backup_commit. */
int backup_create(backup_writer **out, const char *path, fo_err *err);
/* Where *cancel becomes true, adding a file ends with FO_ECANCELLED. It outlives w. */
void backup_set_cancel(backup_writer *w, const atomic_bool *cancel);
/* name: relative, of parts divided by '/', none of them "." or "..". */
int backup_add_bytes(backup_writer *w, const char *name, const void *data, size_t n, fo_err *err);
/* The first `size` bytes of an open file, from its beginning. FO_EIO where it is shorter. */
int backup_add_fd(backup_writer *w, const char *name, int fd, uint64_t size, fo_err *err);
int backup_add_file(backup_writer *w, const char *name, const char *path, fo_err *err); /* whole */
int backup_commit(backup_writer *w, fo_err *err); /* synced; frees w whatever happens */
void backup_abort(backup_writer *w);              /* leaves nothing; NULL is fine */

/* Does the file begin as a backup does? FO_EIO, FO_ENOTFOUND where it cannot be read. */
int backup_is(const char *path, bool *is, fo_err *err);
/* FO_ECORRUPT where any byte of it, or its length, is another than when it was written. */
int backup_check(const char *path, fo_err *err);
/* Check it, then make its files below `folder`, which is made if absent, each synced. Names that lead
 * out of the folder, links and anything but files are FO_ECORRUPT; FO_ENOSPC before a file is made that the disk has no
 * room for. What was made stays on an error. */
int backup_extract(const char *path, const char *folder, fo_err *err);

#endif
