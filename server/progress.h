/* progress.h - what long work shows on stderr: a bar with rate and time left on a terminal, one
 * JSON line a second with --json or where stderr is no terminal.
 *
 *     progress *p = progress_begin("ingest", "documents", n_total, o.json);
 *     progress_add(p, 64);                 // from any thread
 *     progress_end(p);                     // draws the last state
 *
 * A thread of its own draws, so that a slow step is seen to be slow. */
#ifndef FORAGE_SERVER_PROGRESS_H
#define FORAGE_SERVER_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct progress progress;

/* total 0: unknown (no bar, no time left). NULL when out of memory: every call takes NULL. */
progress *progress_begin(const char *what, const char *unit, uint64_t total, bool json);
void progress_add(progress *p, uint64_t n);
void progress_set(progress *p, uint64_t done);
void progress_set_total(progress *p, uint64_t total);
void progress_end(progress *p);

#endif
