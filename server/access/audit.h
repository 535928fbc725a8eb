/* audit.h - HOME/audit.log: who did what cannot be taken back, one JSON object a line, appended.
 *
 * Keys made and revoked, and every request that changes something by a route of the scope admin, done
 * or refused, but for those of strangers where keys are asked for, and of refused ones for a few a minute of each key and
 * the number of the others (audit_refusals.h). A line is written by one write(2) and synced, unless nothing was done, and
 * stands there whole or not at all; past 16 MiB the file becomes audit.log.1. Any thread of any process: the file is
 * locked while one writes. */
#ifndef FORAGE_SERVER_AUDIT_H
#define FORAGE_SERVER_AUDIT_H

#include <stdbool.h>
#include <stddef.h>

#include "kernels/error.h"

enum { AUDIT_WHAT_BYTES = 200 }; /* of `what` that are written, at most */

typedef struct audit_act {
    const char *act;    /* "keys create", "DELETE /collections/{name}" */
    const char *what;   /* it was done to: a key's id, a path; UTF-8 */
    const char *who;    /* a key's id; NULL: nobody's, keys are off; "command line" */
    const char *tenant; /* NULL: not known */
    const char *from;   /* address of a client, NULL: of this machine */
    int status;         /* of HTTP; 0: it was no request */
    bool refused;       /* nothing was done: nobody waits for the disk */
    size_t left_out;    /* such requests that have no line of their own; 0: it is one act */
} audit_act;

/* Durable when it returns FO_OK, but for what was refused. FO_ENOSPC: the disk is full, and nothing of the line was kept. */
int audit_write(const char *home, const audit_act *a, fo_err *err);

/* Does the log, or the one before it, tell of a key that somebody made or wanted to make? False where neither can be read. */
bool audit_tells_of_keys(const char *home);

#endif
