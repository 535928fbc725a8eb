/* folder_report.h - what came of a folder, for people: a table, what was skipped by kind, what failed and why. */
#ifndef FORAGE_SERVER_FOLDER_REPORT_H
#define FORAGE_SERVER_FOLDER_REPORT_H

#include "kernels/buf.h"
#include "retrieval/sync/folder_sync.h"

/* On stdout. */
void folder_report_print(const folder_sync_report *r);
/* "12 skipped: .pdf 9, hidden 3", a line of its own; nothing where nothing was. Sorts. */
void folder_report_print_skipped(skip_counts *skipped);
/* On stderr: a file that is wanted was left out, and why; kinds that say it all ("empty") are only counted. */
void folder_report_left_out(const char *path, const char *kind, int64_t size, int64_t max_bytes);

typedef struct textless_names { /* zero-initialised: of documents that hold no text, the first */
    fo_buf names;
    size_t n;
} textless_names;

void folder_report_note_textless(textless_names *t, const char *name);
/* On stderr, in one line, for a folder of manual pages holds a hundred that only name another: how many these are of all, and
 * the first of them; nothing where none is. Frees t's names. */
void folder_report_say_textless(textless_names *t, size_t n_all);

#endif
