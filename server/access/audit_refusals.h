/* audit_refusals.h - which refused requests the audit log tells of by themselves: a few a minute of each key, and then how
 * many more there were. A key that may next to nothing could otherwise push out what others did.
 *
 *     if (audit_refusals_take(&l, id, tenant, now_ms)) ... write a line of it
 *     while (audit_refusals_due(&l, now_ms, &some)) ... write a line of some.n
 *
 * At most AUDIT_REFUSERS keys are told apart within a minute; those of further ones are only counted, together. No thread
 * but the one whose it is. All zero is empty. */
#ifndef FORAGE_SERVER_AUDIT_REFUSALS_H
#define FORAGE_SERVER_AUDIT_REFUSALS_H

#include <stdbool.h>
#include <stddef.h>

#include "server/access/keys.h"

enum { AUDIT_REFUSERS = 64, AUDIT_REFUSALS_A_MINUTE = 5 };

/* Of a key, in the minute that began with the first of them. */
typedef struct audit_refused {
    char who[KEY_ID_CHARS + 1]; /* "": nobody's in particular */
    char tenant[KEY_NAME_MAX + 1];
    double since_ms;  /* monotonic */
    size_t n_told, n; /* lines of their own; others */
} audit_refused;

typedef struct audit_refusals {
    audit_refused of[AUDIT_REFUSERS + 1]; /* the last: of keys that found no place */
    size_t n_waiting;                     /* of these that have others to tell of */
} audit_refusals;

/* May this one have a line of its own? Else it is counted. who, tenant NULL: nobody's in particular. */
bool audit_refusals_take(audit_refusals *l, const char *who, const char *tenant, double now_ms);
/* Those of a key whose minute is over by now_ms (INFINITY: of any), which are forgotten here; false: there are none.
 * who "": nobody's in particular; AUDIT_REFUSED_OTHERS: of several keys. */
bool audit_refusals_due(audit_refusals *l, double now_ms, audit_refused *out);
#define AUDIT_REFUSED_OTHERS "other keys"

#endif
