/* keys.h - the keys of a home: who may ask, for what, in whose name.
 *
 * HOME/keys is a text file of its own beside the store, so that a key is made and revoked while a
 * server runs on the home: a head line "forage keys 1 SHA256" over the JSON behind it. Of a key its
 * secret is not kept, but SHA-256 of a salt of its own and the secret; the text that a client sends
 * is "fk_ID_SECRET", made of 192 random bits, shown once. Revoked keys stay in the file, by name.
 *
 *     access_secret secret;
 *     keys_create("home", &(key_spec){.name = "site", .scopes = 1 << ACCESS_READ}, &secret, &err);
 *     key_table *t;
 *     keys_read(&t, "home", &err);
 *     const access_key *k = key_table_find(t, secret.text);   // NULL: nobody's, or revoked
 *     key_table_drop(t);
 *
 * A table is immutable; any thread. */
#ifndef FORAGE_SERVER_KEYS_H
#define FORAGE_SERVER_KEYS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "index/filter/filter.h"
#include "kernels/error.h"
#include "server/base/json.h"

/* What a route asks for. A key has any number of those from ACCESS_READ to ACCESS_METRICS. */
enum access_scope {
    ACCESS_UNDECLARED, /* of no route: app_serve refuses to begin */
    ACCESS_OPEN,       /* nothing: probes, the web page's own files */
    ACCESS_READ,       /* questions, documents, collections, analytics of what was measured */
    ACCESS_INGEST,     /* documents in and out, jobs */
    ACCESS_ADMIN,      /* the three others too, and what cannot be taken back */
    ACCESS_METRICS,    /* figures of the whole process */
    ACCESS_OPERATE,    /* what concerns the whole process: no key has this by name */
    ACCESS_N_SCOPES
};
/* The whole process is the business of the tenant "default" alone: metrics are for its keys of that
 * scope or of admin, ACCESS_OPERATE for those of admin, and both for no key that is bound to some
 * collections. */
#define ACCESS_OWNER "default"
const char *access_scope_name(int scope);

enum { KEY_ID_CHARS = 18, KEY_NAME_MAX = 64, KEY_LIST_MAX = 64, KEYS_MAX = 100000 };

typedef struct access_key {
    char id[KEY_ID_CHARS + 1];  /* "k_" and 16 hex digits */
    char *name, *tenant, *tier; /* tier NULL: the default one */
    unsigned scopes;            /* 1 << each */
    char **collections;         /* [n_collections]; 0: all of the tenant's */
    size_t n_collections;
    char **groups; /* [n_groups]: documents with an acl are seen by those on it */
    size_t n_groups;
    bool all_groups;     /* documents are seen whatever their acl says */
    search_filter *sees; /* that as a condition; NULL: all documents */
    unsigned char salt[16], hash[32];
    int64_t created_ms, revoked_ms; /* revoked 0: it was not taken back */
    int64_t expires_ms;             /* since 1970; 0: never */
} access_key;

/* Neither revoked nor past its time. */
bool access_key_in_force(const access_key *k, int64_t now_ms);

bool access_key_has(const access_key *k, int scope);
bool access_key_may_use(const access_key *k, const char *collection);

typedef struct key_table key_table;
size_t key_table_count(const key_table *t);
const access_key *key_table_at(const key_table *t, size_t i); /* in order of making */
/* By what a client sent; NULL: nobody's, revoked or past its time. The time it takes tells nothing about which part of a secret is right. */
const access_key *key_table_find(const key_table *t, const char *text);
key_table *key_table_keep(key_table *t);
void key_table_drop(key_table *t); /* NULL is fine */

/* FO_ENOTFOUND: no key was ever made here; FO_ECORRUPT: the file is damaged; FO_ELIMIT: it is larger than
 * 64 MiB or has more than JSON_MOST_VALUES values. FO_EIO and FO_ENOMEM may pass. */
int keys_read(key_table **out, const char *home, fo_err *err);

/* Strings are the caller's. */
typedef struct key_spec {
    const char *name, *tenant, *tier; /* tenant NULL: "default" */
    unsigned scopes;
    /* groups: "*" is all of them; none: all of them for a key with the scope admin */
    const char *const *collections, *const *groups;
    size_t n_collections, n_groups;
    int64_t expires_ms; /* since 1970; 0: never */
} key_spec;

typedef struct access_secret {
    char id[KEY_ID_CHARS + 1];
    char text[72];
} access_secret;

/* Durable when they return FO_OK; a running server sees it within a second. FO_EINVAL names the
 * field; create: FO_ELIMIT (more than KEYS_MAX, or than keys_read would take); revoke: FO_ENOTFOUND,
 * FO_ECONFLICT (it was revoked already). The folder is made if absent. */
int keys_create(const char *home, const key_spec *spec, access_secret *out, fo_err *err);
int keys_revoke(const char *home, const char *id, fo_err *err);
/* A key without what is secret, as list and the audit log show it. */
void access_key_write(json_out *o, const access_key *k);

#endif
