/* file.h - files read by mapping and written so that a crash leaves the old one or the new one.
 * Every derived file of Forage is written through fo_file_writer: temp file in the same folder,
 * fsync, rename, fsync of the folder. */
#ifndef FORAGE_KERNELS_FILE_H
#define FORAGE_KERNELS_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "kernels/error.h"

typedef struct fo_map {
    const unsigned char *data; /* read-only, valid until fo_map_close */
    size_t size;               /* bytes */
} fo_map;

/* Map a regular file read-only. An empty file gives size 0 and data that must not be read. */
int fo_map_open(fo_map *out, const char *path, fo_err *err);
void fo_map_close(fo_map *m);
/* What of a map lies in [at, at + n): wanted soon, so that the system reads ahead; or not wanted any
 * more, so that it takes no memory of the process (whoever looks all the same finds it as before).
 * Hints: any thread, no errors. */
void fo_map_want(const void *at, size_t n);
void fo_map_forget(const void *at, size_t n);

/* The whole file in memory (NUL-terminated; the NUL is not counted). Caller frees *data.
 * Larger than max_bytes: FO_ELIMIT. */
int fo_file_read(const char *path, size_t max_bytes, char **data, size_t *size, fo_err *err);

typedef struct fo_file_writer fo_file_writer;

/* Begin the file that shall appear at `path`. Nothing is there until fo_file_commit. Only its owner
 * may read it; _shared: everybody whom the umask lets (models, exports). */
int fo_file_create(fo_file_writer **out, const char *path, fo_err *err);
int fo_file_create_shared(fo_file_writer **out, const char *path, fo_err *err);
int fo_file_write(fo_file_writer *w, const void *data, size_t n, fo_err *err);
/* Overwrite bytes already written (a header whose sums are known last). */
int fo_file_patch(fo_file_writer *w, uint64_t offset, const void *data, size_t n, fo_err *err);
uint64_t fo_file_offset(const fo_file_writer *w);                  /* bytes written so far */
int fo_file_pad(fo_file_writer *w, size_t alignment, fo_err *err); /* zeroes up to a multiple */
/* A descriptor of one's own of the file, for reading and writing at places (pread, pwrite): it stays the
 * file's after the commit. Close it. */
int fo_file_dup(const fo_file_writer *w, int *fd, fo_err *err);
/* fsync, rename into place, fsync the folder. Frees w whatever happens. */
int fo_file_commit(fo_file_writer *w, fo_err *err);
void fo_file_abort(fo_file_writer *w); /* removes the temp file; NULL is fine */

/* All of that at once: the n bytes as the file at `path`, 0600. */
int fo_file_put(const char *path, const void *data, size_t n, fo_err *err);
int fo_file_copy(const char *from, const char *to, fo_err *err); /* the same of a file's bytes */

/* All n bytes to a descriptor, a pipe's too, however many calls that takes and whatever signals come. False: errno says why. */
bool fo_write_all(int fd, const void *bytes, size_t n);

/* Where a file could not be made, or opened to be written (verb: "create", "write"): by errno, as fo_fail_errno, with what to
 * do about it: "cannot write a/b: No such file or directory; the folder that it is to stand in does not exist: make it, ...". */
int fo_fail_make(fo_err *err, const char *verb, const char *path);

/* mkdir -p, mode 0700 for what it makes. FO_EINVAL: path is empty. */
int fo_make_dirs(const char *path, fo_err *err);
int fo_sync_dir_of(const char *path, fo_err *err); /* fsync the folder that holds path */
int fo_remove_tree(const char *path, fo_err *err); /* rm -rf; absent is fine; never follows links */

#endif
