#include "retrieval/service/home_backup.h"

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
    if (!rc)
        rc = store_open(&s, home_backend(), home,
                        &(store_options){.read_only = true, .no_ledger = true}, err);
    if (rc) return rc;
    rc = store_backup(s, file, err);
    store_close(s);
    return rc;
}

/* ---- the way back --------------------------------------------------------------------------- */

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

static int stage(const store_backend *be, const char *home, const char *file, fo_err *err) {
    if (!be->stage_backup || !be->take_staged)
        return fo_fail(err, FO_EUNSUPPORTED, "a store of %s cannot be restored", be->name);
    int rc = store_backup_check(file, err);
    if (rc == FO_ENOTFOUND) rc = FO_OK; /* copies made by `forage backup` have no checksum beside */
    if (rc) return fo_fail_prefix(err, "%s is damaged", file);
    return be->stage_backup(home, file, err);
}

int home_restore(const char *home, const char *file, bool replace, fo_err *err) {
    const store_backend *be = home_backend();
    char index[4096];
    int fd = -1, rc = fo_make_dirs(home, err);
    if (!rc) rc = lock_home(home, &fd, err);
    if (!rc && !replace && home_must_exist(home, NULL) == FO_OK)
        rc = fo_fail(err, FO_ECONFLICT, "%s holds documents already; --force replaces them", home);
    if (!rc) rc = stage(be, home, file, err);
    /* Indexes of the old store must never meet the new one. */
    if (!rc && snprintf(index, sizeof index, "%s/index", home) >= (int)sizeof index)
        rc = fo_fail(err, FO_ELIMIT, "the home folder's name is too long");
    if (!rc) rc = fo_remove_tree(index, err);
    if (!rc) rc = be->take_staged(home, err);
    if (fd < 0) return rc;
    if (be->drop_staged) be->drop_staged(home);
    close(fd);
    return rc;
}
