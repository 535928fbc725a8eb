/* page_sums.h - a checksum in every page of a SQLite database: a VFS laid over another one.
 *
 * A database whose header reserves 8 bytes at the end of each page carries there a CRC-32 of the
 * page and its number, and the bytes "PSUM". Sums are made as pages are written to the database
 * file (the WAL has its own) and checked as they are read; a page that fails reads as
 * SQLITE_IOERR_DATA. A database that reserves no bytes is passed through as it is. Nothing maps the
 * file. Other programs may read such a database; what they write to it fails here.
 *
 *     sqlite3_open_v2(path, &db, flags, fo_page_sums_vfs(NULL));
 *     fo_page_sums_reserve(db); // before the first statement: a database made now gets sums
 */
#ifndef FORAGE_KERNELS_PAGE_SUMS_H
#define FORAGE_KERNELS_PAGE_SUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sqlite3;

enum { FO_PAGE_SUM_BYTES = 8 };

/* The name of the VFS over `base` (NULL: the default), registered at the first call. NULL: no such
 * base, or no memory. Any thread; the name is valid for good. */
const char *fo_page_sums_vfs(const char *base);

/* Reserve the bytes, where the database is new. */
void fo_page_sums_reserve(struct sqlite3 *db);
/* Does the database that db has open reserve them? False also where its header cannot be read. */
bool fo_page_sums_on(struct sqlite3 *db);
/* Sums are made from the first page that db writes on, its header or not (a copy in the making). */
void fo_page_sums_begin(struct sqlite3 *db);

/* A URI for SQLITE_OPEN_URI that opens path as a file that nobody writes to: without locks, shared
 * memory or a look at its log. Caller frees; NULL: no memory. */
char *fo_sqlite_unchanging(const char *path);

/* The page (from 1) that failed last in this thread; 0: none. */
int64_t fo_page_sums_failed(void);

/* Does a page of n bytes with this number (from 1) carry its sum? */
bool fo_page_sum_good(const unsigned char *page, size_t n, int64_t number);

#endif
