/* skip_counts.h - what a folder held that was not read, counted by kind. */
#ifndef FORAGE_DATA_SKIP_COUNTS_H
#define FORAGE_DATA_SKIP_COUNTS_H

#include <stddef.h>
#include "kernels/buf.h"

enum { SKIP_KINDS = 64, SKIP_KIND_BYTES = 24 };

typedef struct skip_kind {
    char kind[SKIP_KIND_BYTES];
    size_t n;
} skip_kind;

typedef struct skip_counts {
    skip_kind by[SKIP_KINDS]; /* the last one is "other" once there are that many */
    size_t n_kinds, n;
} skip_counts;

/* kind: ".pdf", "hidden", "link"; what is longer than its room counts as "other". */
void skip_counts_add(skip_counts *c, const char *kind);
/* By the ending of a file's name, in small letters: ".docx", ".tar.gz"; "no ending", also behind .gz. */
void skip_counts_add_file(skip_counts *c, const char *name);
/* Those of `from` on top. */
void skip_counts_join(skip_counts *to, const skip_counts *from);
/* The most frequent first, then by name; nothing can be added afterwards. */
void skip_counts_sort(skip_counts *c);
/* "12 skipped: .pdf 9, hidden 2, .docx 1"; nothing where nothing was skipped. Sorts. */
void skip_counts_write(skip_counts *c, fo_buf *b);

#endif
