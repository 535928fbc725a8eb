/* spool.h - bytes of unknown number, kept without keeping memory: the first MiB in memory, the rest
 * in a file without a name, which is gone when the spool or the process is. Written once, then
 * read from the start as often as wanted. One thread at a time. */
#ifndef FORAGE_KERNELS_SPOOL_H
#define FORAGE_KERNELS_SPOOL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "kernels/error.h"

typedef struct spool spool;

/* dir: where the file is made once it is needed (a folder on a disk, not a RAM one). */
int spool_create(spool **out, const char *dir, fo_err *err);
void spool_free(spool *s); /* NULL is fine */
int spool_write(spool *s, const void *data, size_t n, fo_err *err);
uint64_t spool_size(const spool *s);
size_t spool_memory(const spool *s); /* bytes of memory that it holds */
/* SHA-256 of all that was written. */
void spool_sha256(const spool *s, unsigned char out[32]);
/* Bytes at `offset` into buf: how many (0 at the end), negative FO_*. */
ssize_t spool_read(spool *s, uint64_t offset, void *buf, size_t n, fo_err *err);

#endif
