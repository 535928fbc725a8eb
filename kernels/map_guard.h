/* map_guard.h - reading from a mapped file whose disk fails, or that was cut off, is an error and no end.
 *
 *     fo_guarded_file f = {0};
 *     int rc = fo_guarded_file_open(&f, path, &err);
 *     ... reads from f.map.data ...
 *     if (!rc) rc = fo_guarded_file_check(&f, &err);   // FO_EIO: what was made of it is void
 *     fo_guarded_file_close(&f);
 *
 * The system says it by SIGBUS. For a guarded map the handler puts a page of zeroes in the place of the
 * one that cannot be read, and notes where: the reader goes on, and whoever has its result asks whether
 * it counts. So what reads a guarded map must bear zeroes anywhere (files are hostile: it bears any
 * bytes). Elsewhere SIGBUS goes to the handler that was there before, or ends the process as ever. The
 * handler is the process's and stays when the last guard ends. The zeroes stay until the map is closed.
 *
 * The guarded maps of the process are in a table of fixed size (FO_MAP_GUARDS), which the handler reads
 * without a lock; where it is full a map goes unguarded, which is told. */
#ifndef FORAGE_KERNELS_MAP_GUARD_H
#define FORAGE_KERNELS_MAP_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include "kernels/error.h"
#include "kernels/file.h"

enum { FO_MAP_GUARDS = 1 << 15 };

typedef struct fo_map_guard {
    size_t place; /* in the table, from 1; 0: not guarded */
} fo_map_guard;

/* false: the table is full, or the map is empty. One thread at a time per guard, as for begin and end. */
bool fo_map_guard_begin(fo_map_guard *g, const fo_map *m);
void fo_map_guard_end(fo_map_guard *g);
/* Any thread. at (may be NULL): the first byte of the page that could not be read last. */
bool fo_map_guard_failed(const fo_map_guard *g, size_t *at);

/* A file that is mapped and guarded for as long as it is open. Zeroed it is none: intact, and closing it is fine.
 * May be moved; has one owner, who closes it. */
typedef struct fo_guarded_file {
    fo_map map;
    fo_map_guard guard;
    char *path; /* as it was opened, NULL: none is open */
} fo_guarded_file;

/* As fo_map_open, and FO_ENOMEM. On error *out is none. */
int fo_guarded_file_open(fo_guarded_file *out, const char *path, fo_err *err);
void fo_guarded_file_close(fo_guarded_file *f);
/* As fo_map_guard_failed; _check: the same as an error that names the file, FO_EIO, else FO_OK. Any thread. */
bool fo_guarded_file_failed(const fo_guarded_file *f, size_t *at);
int fo_guarded_file_check(const fo_guarded_file *f, fo_err *err);

#endif
