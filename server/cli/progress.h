/* progress.h - what long work shows on stderr: a bar with rate and time left, one JSON line a second,
 * or nothing. --progress chooses; by itself it is lines with --json, the bar on a terminal, and nothing
 * elsewhere: a log or a script sees what was asked for and what went wrong.
 *
 *     static const cli_option options[] = {..., CLI_PROGRESS_OPTION, {0}};
 *
 *     progress *p = progress_begin("ingest", "documents", n_total, o.json);
 *     progress_add(p, 64);                 // from any thread
 *     progress_end(p);                     // draws the last state
 *
 * Work of several stages has a bar for each, begun one after the other and seen together:
 *
 *     progress *p = progress_begin_stages(NULL, NULL, o.json);
 *     int embed = progress_stage(p, "embed", "documents", n_total);
 *     progress_stage_set(p, embed, done);
 *
 * A thread of its own draws, so that a slow step is seen to be slow. */
#ifndef FORAGE_SERVER_PROGRESS_H
#define FORAGE_SERVER_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include "retrieval/service/service.h"

typedef struct progress progress;

/* The row of an option table. */
/* clang-format off */
#define CLI_PROGRESS_OPTION \
    {"progress", CLI_CHOICE, &progress_form, "auto|bar|json|none", \
     "on stderr: a bar, JSON lines, or nothing (default auto: lines with --json, else a bar on a terminal)"}
/* clang-format on */
extern const char *progress_form; /* what the row reads */

enum { PROGRESS_MAX_STAGES = 8 };

/* total 0: unknown (no bar, no time left). json: --json was given. NULL where nothing is to be shown or
 * memory ran out: every call takes NULL. */
progress *progress_begin(const char *what, const char *unit, uint64_t total, bool json);
void progress_add(progress *p, uint64_t n);
void progress_set(progress *p, uint64_t done);
void progress_set_total(progress *p, uint64_t total);
void progress_end(progress *p);

/* refresh (NULL: none) is called before each drawing, by the thread that draws: it may set stages
 * from counters that others keep. */
progress *progress_begin_stages(void (*refresh)(void *ctx), void *ctx, bool json);
/* The number of a new stage, for the calls below. From one thread at a time, refresh among them; the first
 * PROGRESS_MAX_STAGES are shown. */
int progress_stage(progress *p, const char *what, const char *unit, uint64_t total);
void progress_stage_set(progress *p, int stage, uint64_t done);
void progress_stage_set_total(progress *p, int stage, uint64_t total);

/* Documents that go in: their number; and where that stands still for some seconds, the pages that were read and the passages
 * that were embedded meanwhile, so that a long one is seen to go on. counts must live as long. Where a bar is drawn and nobody
 * has asked for SIGINT, it is answered with a word on what stays until the end, and ends the process then as it did. */
progress *progress_begin_ingest(const char *what, const ingest_counts *counts, bool json);

#endif
