#include "retrieval/service/home_backup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

#include "kernels/file.h"
#include "retrieval/service/home.h"
#include "retrieval/service/home_store.h"

int home_backup(const char *home, const char *file, fo_err *err) {
    store *s;
    int rc = home_must_exist(home, err);
    if (!rc) rc = home_open_store(&s, home, &(store_options){.read_only = true}, err);
    if (rc) return rc;
    rc = store_backup(s, file, err);
    store_close(s);
    return rc;
}

/* ---- the way back --------------------------------------------------------------------------- */

static int copy_file(const char *from, const char *to, fo_err *err) {
    fo_map m;
    fo_file_writer *w;
    int rc = fo_map_open(&m, from, err);
    if (rc) return rc;
    rc = fo_file_create(&w, to, err);
    if (!rc) {
        rc = fo_file_write(w, m.data, m.size, err);
        if (rc)
            fo_file_abort(w);
        else
            rc = fo_file_commit(w, err);
    }
    fo_map_close(&m);
    return rc;
}

/* The lock a server holds on its home. */
static int lock_home(const char *home, int *fd, fo_err *err) {
    char path[4096];
    snprintf(path, sizeof path, "%s/lock", home);
    *fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (*fd < 0) return fo_fail_errno(err, "cannot open %s", path);
    if (flock(*fd, LOCK_EX | LOCK_NB) == 0) return FO_OK;
    close(*fd);
    *fd = -1;
    return fo_fail(err, FO_EBUSY, "another process works on %s; stop it first", home);
}

/* The copy, beside the home's database: brought up to date, looked through, made a store of its own. */
static int prepare(const char *file, const char *part, fo_err *err) {
    store *s;
    int rc = store_backup_check(file, err);
    if (rc == FO_ENOTFOUND) rc = FO_OK; /* copies made by `forage backup` have no checksum beside */
    if (rc) return fo_fail_prefix(err, "%s is damaged", file);
    rc = copy_file(file, part, err);
    if (!rc && (rc = store_open(&s, part, NULL, err)))
        return fo_fail_prefix(err, "%s is no backup of Forage", file);
    if (rc) return rc;
    rc = store_verify(s, err);
    if (rc) fo_fail_prefix(err, "%s is damaged", file);
    if (!rc) rc = store_adopt(s, err);
    store_close(s);
    return rc;
}

static int remove_tail(const char *db, const char *tail, fo_err *err) {
    char path[4200];
    snprintf(path, sizeof path, "%s%s", db, tail);
    if (unlink(path) == 0 || errno == ENOENT) return FO_OK;
    return fo_fail_errno(err, "cannot remove %s", path);
}

int home_restore(const char *home, const char *file, bool replace, fo_err *err) {
    char db[4096], part[4120], path[4096];
    snprintf(db, sizeof db, "%s/forage.db", home);
    snprintf(part, sizeof part, "%s.restore", db);
    int fd = -1, rc = fo_make_dirs(home, err);
    if (!rc) rc = lock_home(home, &fd, err);
    if (!rc && access(db, F_OK) == 0 && !replace)
        rc = fo_fail(err, FO_ECONFLICT, "%s holds documents already; --force replaces them", home);
    if (!rc) rc = prepare(file, part, err);
    /* An old log must never meet a new database, nor what was acknowledged of the old one: they go
     * first. */
    static const char *const tails[] = {"-wal", "-shm", "-journal"};
    for (int i = 0; i < 3 && !rc; i++) rc = remove_tail(db, tails[i], err);
    snprintf(path, sizeof path, "%s/ledger", home);
    if (!rc) rc = remove_tail(path, "", err);
    snprintf(path, sizeof path, "%s/index", home);
    if (!rc) rc = fo_remove_tree(path, err);
    if (!rc && rename(part, db) != 0) rc = fo_fail_errno(err, "cannot move %s to %s", part, db);
    if (!rc) rc = fo_sync_dir_of(db, err);
    for (int i = 0; i < 3 && fd >= 0; i++) remove_tail(part, tails[i], NULL);
    if (rc && fd >= 0) unlink(part);
    if (fd >= 0) close(fd);
    return rc;
}
