/* segment.h - the container of an immutable index segment: named sections in one file, or the very
 * same bytes in memory (small parts that have not been sealed yet).
 *
 *   offset 0    header, 64 bytes: magic "FORAGESG", version, number of sections, size of the file,
 *               CRC of the table, CRC of the header
 *   offset 64   table: SEGMENT_MAX_SECTIONS rows of 32 bytes (type, CRC-32, offset, size)
 *   then        the sections, each at a multiple of 64 bytes, zeroes between them
 *
 * All integers little-endian. Opening checks header and table, and the CRC of every section of a
 * file up to SEGMENT_EAGER_BYTES; larger sections are checked by segment_verify. Whoever follows an
 * offset inside a section checks it: a checksum is no proof of good will. */
#ifndef FORAGE_INDEX_SEGMENT_H
#define FORAGE_INDEX_SEGMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "kernels/error.h"
#include "kernels/file.h"

enum {
    SEGMENT_VERSION = 2,
    SEGMENT_MAX_SECTIONS = 24,
    SEGMENT_ALIGN = 64,
    SEGMENT_EAGER_BYTES = 1 << 20,
};

typedef enum segment_section {
    SECTION_INFO = 1,     /* segment_info */
    SECTION_INVERTED = 2, /* inverted.c: counts */
    SECTION_POSTINGS = 3,
    SECTION_DICT = 4,
    SECTION_DICT_BLOCKS = 5,
    SECTION_DICT_HASH = 6,
    SECTION_LENGTHS = 7,       /* u32 words of each document */
    SECTION_NORMS = 8,         /* u8 code of the length */
    SECTION_CHUNK_IDS = 9,     /* i64 of each document number */
    SECTION_DOCUMENT_IDS = 10, /* i64 */
    SECTION_ID_ORDER = 11,     /* u32 document numbers by ascending chunk id */
    SECTION_METADATA = 12,     /* metadata.c */
    SECTION_HNSW = 13,         /* the first of HNSW_N_SECTIONS */
} segment_section;

typedef struct segment_info {
    char tenant[64], fingerprint[72], language[31]; /* NUL-terminated */
    uint8_t
        analysis;  /* ANALYZER_EDITION (index/sparse/analyze.h) that made its terms; 0: the first */
    int64_t epoch; /* of the store when it was written */
    uint32_t dim, n_docs;
} segment_info;

typedef struct segment segment; /* immutable after open; any thread */

int segment_open(segment **out, const char *path, fo_err *err);
/* Takes data (malloc'd, `size` bytes) over, freed by segment_close or on error. */
int segment_adopt(segment **out, void *data, size_t size, fo_err *err);
void segment_close(segment *s); /* NULL is fine */

/* Bytes of a section, 64-byte aligned in a file (16 in memory), valid until close. Absent: NULL and
 * size 0. */
const void *segment_get(const segment *s, unsigned type, size_t *size);
/* The same, which must be `count` items of `width` bytes: else FO_ECORRUPT. */
int segment_get_array(const segment *s, unsigned type, size_t count, size_t width, const void **out,
                      fo_err *err);
size_t segment_size(const segment *s);
/* Was something read of the file since it was opened that the disk did not give (map_guard.h)? Zeroes
 * stand there until it is closed, also where the file would give it now: what was made of them is void.
 * FO_ECORRUPT names the byte. */
int segment_readable(const segment *s, fo_err *err);
/* The checksum of every section, and that nothing but zeroes lies between them. Of a file the bytes are
 * read from its path while it has one: what cannot be read of it, or was cut off since, is FO_ECORRUPT
 * too. Any other error says nothing of the file. */
int segment_verify(const segment *s, fo_err *err);
/* The same bit by bit: goes on over at most n bytes from where *at (at first zeroes) stands. *done:
 * everything was checked. */
typedef struct segment_check {
    size_t section, offset;
    uint32_t crc;
} segment_check;
int segment_verify_some(const segment *s, segment_check *at, size_t n, bool *done, fo_err *err);

typedef struct segment_writer segment_writer;

/* path NULL: in memory. */
int segment_writer_create(segment_writer **out, const char *path, fo_err *err);
/* Asked before each write of n bytes (at most SEGMENT_GATE_BYTES) may wait, or fail: then the
 * writer does. */
enum { SEGMENT_GATE_BYTES = 1 << 18 };
typedef int segment_gate(void *ctx, size_t n, fo_err *err);
void segment_writer_set_gate(segment_writer *w, segment_gate *gate, void *ctx);
/* Begin a section; what is written from here on belongs to it. */
int segment_writer_begin(segment_writer *w, unsigned type, fo_err *err);
int segment_writer_write(segment_writer *w, const void *data, size_t n, fo_err *err);
int segment_writer_section(segment_writer *w, unsigned type, const void *data, size_t n,
                           fo_err *err);
uint64_t segment_writer_bytes(const segment_writer *w);
/* Durable at its path. Frees w whatever happens. */
int segment_writer_commit(segment_writer *w, fo_err *err);
/* In memory: as an open segment. Frees w whatever happens. */
int segment_writer_adopt(segment_writer *w, segment **out, fo_err *err);
void segment_writer_abort(segment_writer *w); /* NULL is fine */

#endif
