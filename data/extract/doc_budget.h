/* doc_budget.h - what reading one document may cost: time, memory, and the word of who waits.
 *
 * A document comes from anybody, and a library's worst case may be quadratic or worse. So whatever
 * goes through a document's bytes or text says so as it goes, and asks before it keeps memory; at
 * the first "no" it drops what it does and returns:
 *
 *     doc_budget b = {.cancel = &client_left, .max_bytes = 16 << 20};
 *     doc_budget_begin(&b);
 *     ...
 *     if (!doc_budget_go_on(&b, n)) return doc_budget_fail(&b, err);
 *
 * One document, one thread: the time is the computing time of the thread that calls, so that a busy
 * machine takes nothing off it. A NULL budget never says no. */
#ifndef FORAGE_DATA_DOC_BUDGET_H
#define FORAGE_DATA_DOC_BUDGET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include "kernels/error.h"

typedef struct doc_budget {
    /* the caller's; 0 and NULL mean no bound */
    const atomic_bool *cancel; /* true: stop */
    double cpu_ms;             /* whatever the document */
    double cpu_ms_per_mib;     /* and more of it for each MiB gone through */
    size_t max_bytes;          /* of memory kept at a time */
    /* doc_budget.c's */
    double began_ms;
    double granted; /* bytes that cpu_ms_per_mib counts */
    size_t used, most;
    size_t wanted; /* where memory was refused: what would have been kept */
    size_t owed;   /* work since the clock was last looked at */
    int failure;   /* FO_ECANCELLED, FO_ELIMIT (time), FO_ENOMEM (memory); it stays */
} doc_budget;

/* What a service grants: 2 s, and 2 s more for each MiB. Ordinary text takes a fiftieth of that. */
#define DOC_BUDGET_CPU_MS         2000.0
#define DOC_BUDGET_CPU_MS_PER_MIB 2000.0

/* The thread's clock starts; what was counted is forgotten. */
void doc_budget_begin(doc_budget *b);
/* The document turned out to have this many bytes (unpacked, say): time is granted for them. */
void doc_budget_grant(doc_budget *b, size_t bytes);

/* Out of line: look at the flag and the clock. */
bool doc_budget_look(doc_budget *b);

/* Some `bytes` were gone through. False: stop now. A call costs next to nothing; the flag and the
 * clock are looked at every 64 KiB of work, a call counting as 64 bytes at least. */
static inline bool doc_budget_go_on(doc_budget *b, size_t bytes) {
    if (!b) return true;
    b->owed += bytes + 64;
    return b->owed < 65536 ? b->failure == FO_OK : doc_budget_look(b);
}

/* Keep this many bytes more, or fewer. False: too many; nothing was taken. */
bool doc_budget_take(doc_budget *b, size_t bytes);
void doc_budget_give(doc_budget *b, size_t bytes);

/* The sentence for b->failure; returns it. FO_OK where there is none. */
int doc_budget_fail(const doc_budget *b, fo_err *err);

#endif
