/* A backup file of a home:
 *
 *   BACKUP                          "forage backup 1", the time
 *   index/TENANT/NAME-ID.EDITION/   MANIFEST and the files that it names
 *   forage.db                       the store
 *   SHA256SUMS
 *
 * Indexes come first. A manifest's epoch has been committed, and the store is copied after it was read: so
 * no index of the file is ahead of the store, and what it is behind is added from the store as it is
 * opened. Segments never change and stay readable once opened, so nobody waits. */
#include "retrieval/home/home_backup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "data/files/backup_file.h"
#include "index/search/search_index.h"
#include "kernels/buf.h"
#include "kernels/file.h"
#include "retrieval/home/home.h"
#include "retrieval/home/home_store.h"

#define HEAD     "BACKUP"
#define MAGIC    "forage backup "
#define UNPACKED "restore.tmp" /* below the home */
enum { PATH = 4096, VERSION = 1 };

static int path_of(char out[PATH], const char *dir, const char *name, fo_err *err) {
    return snprintf(out, PATH, "%s/%s", dir, name) < PATH
               ? FO_OK
               : fo_fail(err, FO_ELIMIT, "the home folder's name is too long");
}

/* ---- there ---------------------------------------------------------------------------------- */

/* A row that leads out of index/ is nothing that Forage makes (store_verify names it): files of others are not read for
 * its sake, and no home could be restored from a copy of such a database. */
static bool leads_out(const char *name) {
    return !*name || *name == '.' || strchr(name, '/');
}

static int add_index(backup_writer *w, const char *home, const store_collection *c, int edition,
                     fo_err *err) {
    char below[PATH], dir[PATH], name[PATH];
    search_held held;
    if (leads_out(c->tenant) || leads_out(c->name))
        return fo_fail(
            err, FO_ECORRUPT,
            "the database is damaged: the name of collection %lld, or that of its tenant, "
            "is none",
            (long long)c->id);
    if (snprintf(below, sizeof below, "index/%s/%s-%lld.%d", c->tenant, c->name, (long long)c->id,
                 edition) >= (int)sizeof below)
        return fo_fail(err, FO_ELIMIT, "the name of collection '%s' is too long", c->name);
    int rc = path_of(dir, home, below, err);
    if (rc) return rc;
    rc = search_index_hold(&held, dir, err);
    /* None yet, or one that is damaged: what is left out is made anew. */
    if (rc == FO_ENOTFOUND || rc == FO_ECORRUPT) return FO_OK;
    if (rc) return rc;
    for (size_t i = 0; !rc && i < held.n; i++) {
        snprintf(name, sizeof name, "%.3000s/%.23s", below, held.files[i].name);
        rc = backup_add_fd(w, name, held.files[i].fd, held.files[i].size, err);
    }
    snprintf(name, sizeof name, "%.3000s/MANIFEST", below);
    if (!rc) rc = backup_add_bytes(w, name, held.manifest, held.manifest_bytes, err);
    search_index_unhold(&held);
    return rc;
}

static int add_indexes(backup_writer *w, store *s, const char *home, fo_err *err) {
    store_collection *list = NULL;
    size_t n = 0;
    int rc = store_list_collections(s, NULL, &list, &n, err);
    for (size_t i = 0; i < n; i++) {
        for (int edition = 0; !rc && edition < 2; edition++)
            rc = add_index(w, home, &list[i], edition, err);
        store_collection_deinit(&list[i]);
    }
    free(list);
    return rc;
}

/* By way of a copy beside the file: a tar says how long a member is before it begins. */
static int add_store(backup_writer *w, store *s, const char *file, const atomic_bool *cancel,
                     fo_err *err) {
    char *copy;
    if (asprintf(&copy, "%s.tmp-store-%ld", file, (long)getpid()) < 0) return fo_no_memory(err);
    int rc = store_backup(s, copy, cancel, err);
    if (!rc) rc = backup_add_file(w, home_backend()->file, copy, err);
    unlink(copy);
    free(copy);
    return rc;
}

int home_backup_open(store *s, const char *home, const char *file, const atomic_bool *cancel,
                     fo_err *err) {
    backup_writer *w;
    char head[80];
    time_t now = time(NULL);
    struct tm tm;
    gmtime_r(&now, &tm);
    size_t n = (size_t)snprintf(head, sizeof head, "%s%d\n", MAGIC, VERSION);
    n += strftime(head + n, sizeof head - n, "time %Y-%m-%dT%H:%M:%SZ\n", &tm);
    int rc = backup_create(&w, file, err);
    if (rc) return rc;
    backup_set_cancel(w, cancel);
    rc = backup_add_bytes(w, HEAD, head, n, err);
    if (!rc) rc = add_indexes(w, s, home, err);
    if (!rc) rc = add_store(w, s, file, cancel, err);
    if (!rc) return backup_commit(w, err);
    backup_abort(w);
    return rc;
}

int home_backup(const char *home, const char *file, fo_err *err) {
    store *s;
    int rc = home_must_exist(home, err);
    if (!rc)
        rc = store_open(&s, home_backend(), home,
                        &(store_options){.read_only = true, .no_ledger = true}, err);
    if (rc) return rc;
    rc = home_backup_open(s, home, file, NULL, err);
    store_close(s);
    return rc;
}

/* ---- the way back --------------------------------------------------------------------------- */

/* The lock a server holds on its home. */
static int lock_home(const char *home, int *fd, fo_err *err) {
    char path[PATH];
    int rc = path_of(path, home, "lock", err);
    if (rc) return rc;
    *fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (*fd < 0) return fo_fail_errno(err, "cannot open %s", path);
    if (flock(*fd, LOCK_EX | LOCK_NB) == 0) return FO_OK;
    close(*fd);
    *fd = -1;
    return fo_fail(err, FO_EBUSY, "another process works on %s; stop it first", home);
}

/* BACKUP of an unpacked file: which version of the format it has. */
static int check_head(const char *unpacked, const char *file, fo_err *err) {
    char path[PATH], *text = NULL;
    size_t n;
    fo_err why = {0};
    int rc = path_of(path, unpacked, HEAD, err);
    if (rc) return rc;
    rc = fo_file_read(path, 4096, &text, &n, &why);
    int version = !rc && !strncmp(text, MAGIC, strlen(MAGIC)) ? atoi(text + strlen(MAGIC)) : 0;
    free(text);
    if (version == VERSION) return FO_OK;
    return version > VERSION
               ? fo_fail(err, FO_EMISMATCH,
                         "%s is a backup of version %d, this program reads %d: use the newer "
                         "program that wrote it",
                         file, version, VERSION)
               : fo_fail(err, FO_ECORRUPT, "%s is no backup of Forage", file);
}

static int stage(const store_backend *be, const char *home, const char *file, const char *unpacked,
                 fo_err *err) {
    char copy[PATH];
    bool whole = false;
    if (!be->stage_backup || !be->take_staged)
        return fo_fail(err, FO_EUNSUPPORTED, "a store of %s cannot be restored", be->name);
    int rc = backup_is(file, &whole, err);
    if (!rc && whole) {
        rc = fo_remove_tree(unpacked, err); /* what a restore that was killed left */
        if (!rc) rc = backup_extract(file, unpacked, err);
        if (!rc) rc = check_head(unpacked, file, err);
        if (!rc) rc = path_of(copy, unpacked, be->file, err);
        return rc ? rc : be->stage_backup(home, copy, true, err);
    }
    if (rc) return rc;
    rc = store_backup_check(file, err);
    if (rc == FO_ENOTFOUND) rc = FO_OK; /* a bare copy need not have a checksum beside it */
    if (rc) return fo_fail_prefix(err, "%s is damaged", file);
    return be->stage_backup(home, file, false, err);
}

/* Is index/TENANT/FOLDER that of a collection? */
static bool belongs(const store_collection *list, size_t n, const char *tenant,
                    const char *folder) {
    for (size_t i = 0; i < n; i++) {
        char name[400];
        int k = snprintf(name, sizeof name, "%.200s-%lld.", list[i].name, (long long)list[i].id);
        if (!strcmp(list[i].tenant, tenant) && !strncmp(folder, name, (size_t)k)) return true;
    }
    return false;
}

static int drop_foreign(const char *top, const char *tenant, const store_collection *list, size_t n,
                        fo_err *err) {
    char dir[PATH], path[PATH];
    int rc = path_of(dir, top, tenant, err);
    DIR *d = !rc ? opendir(dir) : NULL;
    for (struct dirent *e; !rc && d && (e = readdir(d));) {
        if (e->d_name[0] == '.' || belongs(list, n, tenant, e->d_name)) continue;
        rc = path_of(path, dir, e->d_name, err);
        if (!rc) rc = fo_remove_tree(path, err);
    }
    if (d) closedir(d);
    return rc;
}

/* Collections that were deleted between the copies of the indexes and of the store have files in the
 * backup, and nobody who knows them. */
static int drop_unknown(const store_backend *be, const char *home, const char *top, fo_err *err) {
    store *s;
    store_collection *list = NULL;
    size_t n = 0;
    int rc = store_open(&s, be, home, &(store_options){.read_only = true, .no_ledger = true}, err);
    if (rc) return rc;
    rc = store_list_collections(s, NULL, &list, &n, err);
    store_close(s);
    DIR *d = !rc ? opendir(top) : NULL;
    for (struct dirent *e; !rc && d && (e = readdir(d));)
        if (e->d_name[0] != '.') rc = drop_foreign(top, e->d_name, list, n, err);
    if (d) closedir(d);
    for (size_t i = 0; i < n; i++) store_collection_deinit(&list[i]);
    free(list);
    return rc;
}

/* Indexes of the old store and its copies of PDFs must never meet the new one: they go before it comes, and the new ones
 * come after it (the copies when their files are ingested again). Whoever is killed in between leaves a store without
 * indexes, which are made anew. */
static int exchange(const store_backend *be, const char *home, const char *unpacked, fo_err *err) {
    char index[PATH], fresh[PATH], originals[PATH];
    int rc = path_of(index, home, "index", err);
    if (!rc) rc = path_of(originals, home, "originals", err);
    if (!rc) rc = path_of(fresh, unpacked, "index", err);
    if (!rc) rc = fo_remove_tree(index, err);
    if (!rc) rc = fo_remove_tree(originals, err);
    if (!rc) rc = be->take_staged(home, err);
    if (rc || access(fresh, F_OK) != 0) return rc;
    rc = drop_unknown(be, home, fresh, err);
    if (!rc && rename(fresh, index) != 0)
        rc = fo_fail_errno(err, "cannot move %s to %s", fresh, index);
    return rc ? rc : fo_sync_dir_of(index, err);
}

/* A folder that was made for a home that did not come: nothing is in it but the lock. */
static void remove_empty(const char *home) {
    char path[PATH];
    if (path_of(path, home, "lock", NULL) == FO_OK) unlink(path);
    rmdir(home);
}

int home_restore(const char *home, const char *file, bool replace, fo_err *err) {
    const store_backend *be = home_backend();
    char unpacked[PATH];
    const bool made = access(home, F_OK) != 0;
    int fd = -1, rc = fo_make_dirs(home, err);
    if (!rc) rc = lock_home(home, &fd, err);
    if (!rc) rc = path_of(unpacked, home, UNPACKED, err);
    if (!rc && !replace && home_must_exist(home, NULL) == FO_OK)
        rc = fo_fail(err, FO_ECONFLICT, "%s holds documents already; --force replaces them", home);
    if (!rc) rc = stage(be, home, file, unpacked, err);
    if (!rc) rc = exchange(be, home, unpacked, err);
    if (fd < 0) return rc;
    if (be->drop_staged) be->drop_staged(home);
    fo_remove_tree(unpacked, NULL);
    if (rc && made) remove_empty(home);
    close(fd);
    return rc;
}
