#include "server/access/key_ring.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "kernels/clock.h"
#include "server/base/log.h"

enum { LOOK_MS = 200 };

struct key_ring {
    char *home, *path; /* immutable */
    bool required;     /* immutable */
    pthread_mutex_t mu;
    /* guarded by mu */
    key_table *table; /* NULL: none were ever made, or they cannot be told */
    bool on;
    double looked_ms;
    struct stat seen; /* of the file that the table is of; st_ino 0: there was none, or it is to be
                         read yet */
    int trouble;      /* of the last look, that is told once however long it lasts; FO_OK: none */
};

static bool same_file(const struct stat *a, const struct stat *b) {
    return a->st_ino == b->st_ino && a->st_size == b->st_size && a->st_dev == b->st_dev &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
           a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

/* Does it lie in the bytes of the file, so that they are the same at the next look? Any other error may pass. */
static bool is_lasting(int rc) {
    return rc == FO_ECORRUPT || rc == FO_ELIMIT;
}

/* The file is another than the one that was read: read it. mu held. */
static int look(key_ring *r, fo_err *err) {
    struct stat now = {0};
    if (stat(r->path, &now) != 0) memset(&now, 0, sizeof now);
    if (same_file(&now, &r->seen)) return FO_OK;
    key_table *fresh = NULL;
    int rc = now.st_ino ? keys_read(&fresh, r->home, err) : FO_OK;
    if (!now.st_ino && r->table)
        log_event(LOG_LEVEL_ERROR, NULL, "keys_gone", LOG_STR("file", r->path),
                  LOG_STR("meaning", "nobody gets in until the server is started again"));
    if (fresh && !r->on && r->looked_ms > 0)
        log_event(LOG_LEVEL_WARN, NULL, "keys_on",
                  LOG_STR("meaning", "a key was made: from now on everybody needs one"));
    key_table_drop(r->table);
    r->table = fresh;
    r->on = r->on || now.st_ino;
    r->seen = !rc || is_lasting(rc) ? now : (struct stat){0};
    return rc;
}

/* mu held. */
static void look_again(key_ring *r) {
    double now = fo_now_ms();
    if (now - r->looked_ms < LOOK_MS) return;
    fo_err why = {0};
    int rc = look(r, &why);
    if (rc && rc != r->trouble)
        log_event(LOG_LEVEL_ERROR, NULL, is_lasting(rc) ? "keys_damaged" : "keys_unread",
                  LOG_STR("why", why.msg));
    r->trouble = is_lasting(rc) ? FO_OK : rc; /* a lasting one comes back with another file only */
    r->looked_ms = now;
}

int key_ring_open(key_ring **out, const char *home, bool required, fo_err *err) {
    key_ring *r = calloc(1, sizeof *r);
    if (!r) return fo_no_memory(err);
    pthread_mutex_init(&r->mu, NULL);
    r->required = r->on = required;
    r->home = strdup(home);
    if (asprintf(&r->path, "%s/keys", home) < 0) r->path = NULL;
    int rc = r->home && r->path ? look(r, err) : fo_no_memory(err);
    r->looked_ms = fo_now_ms();
    if (rc) return key_ring_close(r), rc;
    *out = r;
    return FO_OK;
}

void key_ring_close(key_ring *r) {
    if (!r) return;
    key_table_drop(r->table);
    pthread_mutex_destroy(&r->mu);
    free(r->home);
    free(r->path);
    free(r);
}

bool key_ring_on(key_ring *r) {
    pthread_mutex_lock(&r->mu);
    look_again(r);
    bool on = r->on;
    pthread_mutex_unlock(&r->mu);
    return on;
}

size_t key_ring_count(key_ring *r) {
    size_t n = 0;
    int64_t now = log_now_ms();
    pthread_mutex_lock(&r->mu);
    look_again(r);
    for (size_t i = 0; r->table && i < key_table_count(r->table); i++)
        n += access_key_in_force(key_table_at(r->table, i), now);
    pthread_mutex_unlock(&r->mu);
    return n;
}

access_grant *key_ring_admit(key_ring *r, const char *text) {
    pthread_mutex_lock(&r->mu);
    look_again(r);
    key_table *t = r->table ? key_table_keep(r->table) : NULL;
    pthread_mutex_unlock(&r->mu);
    const access_key *k = t ? key_table_find(t, text) : NULL;
    access_grant *g = k ? calloc(1, sizeof *g) : NULL;
    if (!g) return key_table_drop(t), NULL;
    g->refs = 1;
    g->key = k;
    g->table = t;
    return g;
}

access_grant *access_grant_keep(access_grant *g) {
    if (g) atomic_fetch_add(&g->refs, 1);
    return g;
}

void access_grant_drop(void *grant) {
    access_grant *g = grant;
    if (!g || atomic_fetch_sub(&g->refs, 1) != 1) return;
    key_table_drop(g->table);
    free(g);
}
