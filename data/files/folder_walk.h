/* folder_walk.h - the files of a folder with all below it: what is there to be taken in, and what is not.
 *
 *     folder_walk w = {.wanted = extract_knows_file, .max_file_bytes = 64 << 20};
 *     folder_listing found;
 *     int fd = folder_open("/home/me/notes", &err);
 *     folder_walk_run(&w, fd, &found, &err);
 *     int file = folder_open_file(fd, found.files[0].path, &st, &err);
 *     folder_listing_deinit(&found);
 *
 * Out by default, and counted by kind: links (never followed, so that none leads out of the folder or in
 * a circle), hidden names, node_modules, what machines make for machines (lock files, indexes of pages, packed scripts),
 * what the .gitignore and .forageignore of the folder and of those below it leave out (ignore_rules.h; .forageignore goes before .gitignore), what is no file, files that
 * are empty or too large, what `wanted` does not want, and the folder `except`. A rule with `!` takes hidden names and
 * node_modules in; .git stays out whatever rules say.
 *
 * A folder that cannot be read is a failure and not an empty one: it is among the unseen, and so is one whose rules are more
 * than FOLDER_RULES_MAX_BYTES. */
#ifndef FORAGE_DATA_FOLDER_WALK_H
#define FORAGE_DATA_FOLDER_WALK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include "data/files/skip_counts.h"
#include "kernels/error.h"

enum { FOLDER_DEPTH_MAX = 64, FOLDER_RULES_MAX_BYTES = 64 << 10 /* of one file */ };

typedef struct folder_file {
    char *path; /* below the folder */
    int64_t size, mtime_ns, ctime_ns;
    uint64_t inode;
    size_t
        member; /* for who lists files of archives as well: his number of one, from 1. 0: it is a file of the folder */
} folder_file;

typedef struct folder_listing {
    folder_file *files; /* in byte order of their paths */
    size_t n, cap;
    char *
        *unseen; /* folders and files of which nothing could be learned; "" is the folder itself */
    size_t n_unseen;
    skip_counts skipped;
} folder_listing;
void folder_listing_deinit(folder_listing *l);

/* Paths are below the folder, "" is the folder itself. */
typedef struct folder_walk {
    /* By its name; 0: not, and it counts by its ending; 2: of any size. NULL: all are wanted. */
    int (*wanted)(const char *file_name);
    int64_t max_file_bytes;    /* 0: any size */
    const struct stat *except; /* NULL, or a folder that is left out wherever it lies */
    const atomic_bool *cancel; /* NULL, or ends it (FO_ECANCELLED) */
    /* NULL, or called: a path could not be read; a file that is wanted was left out as "empty" or
     * "too large"; a folder is about to be read (watch it now, and no change is missed). */
    void (*failed)(void *ctx, const char *path, const fo_err *why);
    void (*left_out)(void *ctx, const char *path, const char *kind, int64_t size);
    void (*entering)(void *ctx, const char *path);
    void *ctx;
} folder_walk;

/* A descriptor for the calls below, to be closed; path may be a link to a folder. FO_ENOTFOUND, FO_EIO;
 * FO_EINVAL: it is no folder. */
int folder_open(const char *path, fo_err *err);
/* *out is to be deinited whatever is returned. */
int folder_walk_run(const folder_walk *w, int folder, folder_listing *out, fo_err *err);
/* A regular file below the folder for reading, on the way to which no link is followed: a descriptor
 * (to be closed), or an error code, all of which are negative. */
int folder_open_file(int folder, const char *path, struct stat *st, fo_err *err);
/* The same, whole: caller frees *data. *st is that of the file as it was read, with an mtime of 0 where it changed
 * meanwhile. More than max_bytes (0: any number): FO_ELIMIT. */
int folder_read_file(int folder, const char *path, int64_t max_bytes, char **data, size_t *n,
                     struct stat *st, fo_err *err);

int64_t folder_time_ns(const struct timespec *t);

#endif
