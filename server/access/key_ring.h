/* key_ring.h - the keys of a home as a running server sees them: a look at the file's name and time
 * a few times a second, so that what was revoked is refused at once.
 *
 * Whose keys cannot be told (a damaged file, one that has gone) lets nobody in; where it is the system that
 * cannot read them now (no memory, too many open files), until a later look can. Any thread. */
#ifndef FORAGE_SERVER_KEY_RING_H
#define FORAGE_SERVER_KEY_RING_H

#include "server/access/keys.h"

typedef struct key_ring key_ring;

/* required: without a key nobody gets in, whether there are keys or not; else once there are any.
 * FO_ECORRUPT: the file is damaged; else what keys_read says. */
int key_ring_open(key_ring **out, const char *home, bool required, fo_err *err);
void key_ring_close(key_ring *r); /* NULL is fine */

/* Does everybody need a key now? */
bool key_ring_on(key_ring *r);
/* Keys in force. */
size_t key_ring_count(key_ring *r);

/* Who somebody is: a key and the table that it is of. */
typedef struct access_grant {
    atomic_int refs;
    const access_key *key;
    key_table *table;
} access_grant;

/* The grant of what a client sent as its key; NULL: it is nobody's, or there was no memory. */
access_grant *key_ring_admit(key_ring *r, const char *text);
access_grant *access_grant_keep(access_grant *g); /* NULL is fine */
void access_grant_drop(void *grant);              /* NULL is fine */

#endif
