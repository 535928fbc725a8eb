#include "retrieval/home/home.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "data/sqlite/sqlite_store.h"
#include "kernels/file.h"
#include "kernels/utf8.h"
#include "retrieval/home/home_store.h"

enum { PATH = 4096, MAX_DEPTH = 6 };

static bool join(char out[PATH], const char *dir, const char *name) {
    return snprintf(out, PATH, "%s/%s", dir, name) < PATH;
}

/* ---- is the store there? ----------------------------------------------------------------- */

static bool is_dir(const char *path) {
    struct stat st;
    return lstat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Does index/TENANT/ hold a folder of any tenant? */
static bool has_indexes(const char *home) {
    char top[PATH], sub[PATH], one[PATH];
    bool found = false;
    DIR *d = join(top, home, "index") ? opendir(top) : NULL;
    for (struct dirent *e; d && !found && (e = readdir(d));) {
        if (e->d_name[0] == '.' || !join(sub, top, e->d_name)) continue;
        DIR *t = opendir(sub);
        for (struct dirent *f; t && !found && (f = readdir(t));)
            found = f->d_name[0] != '.' && join(one, sub, f->d_name) && is_dir(one);
        if (t) closedir(t);
    }
    if (d) closedir(d);
    return found;
}

bool home_is_backup(const char *name) {
    size_t n = strlen(name);
    return (n > 3 && strcmp(name + n - 3, ".db") == 0) ||
           (n > 8 && strcmp(name + n - 8, ".tar.zst") == 0);
}

/* The newest copy below backups/, by its name, which begins with the time; "": none. */
static void newest_backup(const char *home, char out[256]) {
    char path[PATH];
    out[0] = 0;
    DIR *d = join(path, home, "backups") ? opendir(path) : NULL;
    for (struct dirent *e; d && (e = readdir(d));) {
        size_t n = strlen(e->d_name);
        if (n < 200 && home_is_backup(e->d_name) && strcmp(e->d_name, out) > 0)
            snprintf(out, 256, "%s", e->d_name);
    }
    if (d) closedir(d);
}

const store_backend *home_backend(void) {
    return &sqlite_store_backend;
}

int home_check_store(const store_backend *be, const char *home, fo_err *err) {
    char backup[256];
    enum store_presence is;
    bool ledger = false, indexes = has_indexes(home);
    int rc = be->look(home, &is, &ledger, err);
    if (rc) return rc;
    newest_backup(home, backup);
    if (!ledger && !indexes && !backup[0]) return FO_OK; /* nothing was ever here */
    if (is == STORE_THERE) return FO_OK;
    const char *what = is == STORE_GONE ? "gone" : "empty";
    fo_fail(err, FO_ECORRUPT, "%.100s has lost its store: %s is %s, but there is %s%s%s%s", home,
            be->file, what,
            indexes  ? "index/"
            : ledger ? be->ledger
                     : "backups/",
            indexes && ledger ? ", " : "", indexes && ledger ? be->ledger : "",
            (indexes || ledger) && backup[0] ? ", backups/" : "");
    size_t n = strlen(err ? err->msg : "");
    if (err && backup[0])
        fo_utf8_print(
            err->msg + n, sizeof err->msg - n,
            ". Restore it: forage restore %.60s/backups/%s --home %.60s; or begin with an "
            "empty one: --force-empty puts the rest aside",
            home, backup, home);
    else if (err)
        fo_utf8_print(
            err->msg + n, sizeof err->msg - n,
            ". Restore a backup: forage restore FILE --home %.60s; or begin with an empty "
            "one: --force-empty puts the rest aside",
            home);
    return FO_ECORRUPT;
}

int home_fail_file(const char *home, fo_err *err) {
    return fo_fail(err, FO_EINVAL, "%.300s is a file, and a home is a folder", home);
}

int home_fail_others(const char *home, fo_err *err) {
    return fo_fail(err, FO_EIO,
                   "cannot look into %.300s: it belongs to another user; be that one, or ask a "
                   "service on it with --url",
                   home);
}

int home_must_exist(const char *home, fo_err *err) {
    char path[PATH];
    if (!join(path, home, home_backend()->file))
        return fo_fail(err, FO_ELIMIT, "the home folder's name is too long");
    if (access(path, F_OK) == 0) return FO_OK;
    if (errno == ENOTDIR) return home_fail_file(home, err);
    if (errno == EACCES) return home_fail_others(home, err);
    if (home_check_store(home_backend(), home, err) == FO_ECORRUPT) return FO_ECORRUPT;
    return fo_fail(err, FO_ENOTFOUND,
                   "there is no home in %.300s; 'forage ingest FILE --home %.300s' makes one", home,
                   home);
}

static int make_lost(const char *home, char dir[PATH], fo_err *err) {
    char stamp[64];
    time_t now = time(NULL);
    struct tm tm;
    gmtime_r(&now, &tm);
    strftime(stamp, sizeof stamp, "lost-%Y%m%dT%H%M%SZ", &tm);
    if (!join(dir, home, stamp)) return fo_fail(err, FO_ELIMIT, "the home's name is too long");
    return fo_make_dirs(dir, err);
}

int home_copy_aside(const char *home, const char *name, fo_err *err) {
    char dir[PATH], from[PATH], to[PATH];
    int rc = make_lost(home, dir, err);
    if (rc) return rc;
    if (!join(from, home, name) || !join(to, dir, name))
        return fo_fail(err, FO_ELIMIT, "the home's name is too long");
    return fo_file_copy(from, to, err);
}

int home_put_aside(const char *home, const char *const *names, fo_err *err) {
    char dir[PATH], from[PATH], to[PATH];
    int rc = make_lost(home, dir, err);
    for (size_t i = 0; !rc && names[i]; i++) {
        if (!join(from, home, names[i]) || !join(to, dir, names[i]))
            return fo_fail(err, FO_ELIMIT, "the home's name is too long");
        if (access(from, F_OK) != 0) continue;
        if (strchr(names[i], '/')) { /* its folder, below the new one */
            char parent[PATH];
            snprintf(parent, sizeof parent, "%s", to);
            *strrchr(parent, '/') = 0;
            rc = fo_make_dirs(parent, err);
        }
        if (!rc && rename(from, to) != 0) rc = fo_fail_errno(err, "cannot move %s to %s", from, to);
    }
    return !rc ? fo_sync_dir_of(dir, err) : rc;
}

/* ---- who may read it --------------------------------------------------------------------- */

typedef struct tighten {
    size_t n, n_failed;
    char failed[PATH]; /* the first */
} tighten;

static void tighten_one(tighten *t, const char *path, const struct stat *st) {
    if ((st->st_mode & 077) == 0) return;
    if (chmod(path, st->st_mode & 0700) == 0) {
        t->n++;
    } else if (t->n_failed++ == 0) {
        snprintf(t->failed, sizeof t->failed, "%s", path);
    }
}

/* Links are left alone: what they lead to is not ours to change. */
static void tighten_tree(tighten *t, const char *path, int depth) {
    struct stat st;
    if (lstat(path, &st) != 0 || (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))) return;
    tighten_one(t, path, &st);
    DIR *d = S_ISDIR(st.st_mode) && depth < MAX_DEPTH ? opendir(path) : NULL;
    for (struct dirent *e; d && (e = readdir(d));) {
        char sub[PATH];
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
        if (join(sub, path, e->d_name)) tighten_tree(t, sub, depth + 1);
    }
    if (d) closedir(d);
}

/* A folder of our own, which mkdir made 0700 but a person may have made before us. Not one that
 * others use too: /tmp, a folder full of other things. */
static bool is_ours(const store_backend *be, const char *home, const struct stat *st,
                    bool *has_store) {
    char path[PATH];
    *has_store = join(path, home, be->file) && access(path, F_OK) == 0;
    if ((st->st_mode & S_ISVTX) || st->st_uid != geteuid()) return false;
    if (*has_store) return true;
    DIR *d = opendir(home);
    bool empty = d != NULL;
    for (struct dirent *e; d && (e = readdir(d));)
        empty = empty && (e->d_name[0] == '.' || strcmp(e->d_name, "lock") == 0 ||
                          strcmp(e->d_name, "forage.conf") == 0 || strcmp(e->d_name, "keys") == 0 ||
                          strncmp(e->d_name, "audit.log", 9) == 0);
    if (d) closedir(d);
    return empty;
}

void home_tighten(const store_backend *be, const char *home, const fo_notices *tell) {
    static const char *const ours[] = {"lock", "index", "kv",        "hot",      "backups",
                                       "tmp",  "keys",  "audit.log", "originals"};
    tighten t = {0};
    char path[PATH];
    struct stat st;
    if (stat(home, &st) != 0) return;
    bool there = false, own = is_ours(be, home, &st, &there);
    if (own) tighten_one(&t, home, &st);
    if (!there) t.n = 0; /* a folder made for a new home: nothing was ever open to anybody */
    for (size_t i = 0; be->files[i]; i++)
        if (join(path, home, be->files[i])) tighten_tree(&t, path, 0);
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        if (join(path, home, ours[i])) tighten_tree(&t, path, 0);
    if (t.n)
        fo_notice(tell, "modes_tightened",
                  "%zu files and folders of %s could be read or written by others: they are their "
                  "owner's alone now",
                  t.n, home);
    if (t.n_failed)
        fo_notice(tell, "modes_open",
                  "%zu files and folders of %s can be read or written by others, and belong to "
                  "somebody else: %s is the first",
                  t.n_failed, home, t.failed);
    if (!own && (st.st_mode & 077))
        fo_notice(tell, "modes_open",
                  "others may look into %s (mode %03o); what Forage keeps in it is its owner's "
                  "alone",
                  home, (unsigned)st.st_mode & 0777);
}
