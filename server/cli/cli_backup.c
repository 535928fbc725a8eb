/* forage backup, restore. The store is the truth: a backup is one database file, and what is
 * derived from it is built again. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernels/file.h"
#include "retrieval/service/service.h"
#include "server/cli/cli.h"
#include "server/cli/cli_models.h"
#include "server/base/printable.h"

static struct {
    const char *home;
    bool force;
} o = {.home = "home"};

/* ---- backup --------------------------------------------------------------------------------- */

static const cli_option backup_options[] = {
    {"home", CLI_STRING, &o.home, "DIR",
     "the home to copy (default: home); a server may run on it"},
    {"force", CLI_BOOL, &o.force, NULL, "write over FILE", .flag_only = true},
    {0}};

static int backup_run(int argc, char **argv) {
    (void)argc;
    fo_err err = {0};
    char path[4096];
    if (!o.force && access(argv[0], F_OK) == 0) {
        printable_say(stderr, "forage: %s exists; --force writes over it", argv[0]);
        return 1;
    }
    snprintf(path, sizeof path, "%s/forage.db", o.home);
    if (access(path, F_OK) != 0) {
        printable_say(stderr, "forage: %s is no home: it holds no forage.db", o.home);
        return 1;
    }
    store *s;
    if (store_open(&s, path, &(store_options){.read_only = true}, &err)) return cli_fail(&err);
    /* Beside the target and then renamed: FILE is the old one or a whole new one. */
    char temp[4096];
    snprintf(temp, sizeof temp, "%s.part", argv[0]);
    int rc = store_backup(s, temp, &err);
    store_close(s);
    if (!rc && rename(temp, argv[0]) != 0) rc = fo_fail_errno(&err, "cannot write %s", argv[0]);
    if (!rc) rc = fo_sync_dir_of(argv[0], &err);
    if (rc) {
        unlink(temp);
        return cli_fail(&err);
    }
    struct stat st = {0};
    stat(argv[0], &st);
    printable_say(stdout, "%s: %.1f MB", argv[0], (double)st.st_size / 1e6);
    return 0;
}

const cli_command cli_command_backup = {
    "backup",
    "copy a home's database, also while a server runs on it",
    "forage backup FILE [--home DIR]",
    "The copy is consistent as of one moment, and synced. It holds documents, vectors and\n"
    "settings; indexes are built again from it. 'forage restore FILE' is the way back.",
    backup_options,
    1,
    1,
    backup_run};

/* ---- restore -------------------------------------------------------------------------------- */

static const cli_option restore_options[] = {
    {"home", CLI_STRING, &o.home, "DIR", "where to (default: home); no server may run on it"},
    CLI_EMBED_OPTIONS,
    {"force", CLI_BOOL, &o.force, NULL, "replace what the home holds", .flag_only = true},
    {0}};

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
static int lock_home(int *fd, fo_err *err) {
    char path[4096];
    snprintf(path, sizeof path, "%s/lock", o.home);
    *fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (*fd < 0) return fo_fail_errno(err, "cannot open %s", path);
    if (flock(*fd, LOCK_EX | LOCK_NB) == 0) return FO_OK;
    close(*fd);
    *fd = -1;
    return fo_fail(err, FO_EBUSY, "another process works on %s; stop it first", o.home);
}

/* The copy, beside the home's database: brought up to date, looked through, made a store of its own.
 */
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

static int restore(const char *file, fo_err *err) {
    char db[4096], part[4120], path[4096];
    snprintf(db, sizeof db, "%s/forage.db", o.home);
    snprintf(part, sizeof part, "%s.restore", db);
    int fd = -1, rc = fo_make_dirs(o.home, err);
    if (!rc) rc = lock_home(&fd, err);
    if (!rc && access(db, F_OK) == 0 && !o.force)
        rc =
            fo_fail(err, FO_ECONFLICT, "%s holds documents already; --force replaces them", o.home);
    if (!rc) rc = prepare(file, part, err);
    /* An old log must never meet a new database, nor what was acknowledged of the old one: they go
     * first. */
    static const char *const tails[] = {"-wal", "-shm", "-journal"};
    for (int i = 0; i < 3 && !rc; i++) rc = remove_tail(db, tails[i], err);
    snprintf(path, sizeof path, "%s/ledger", o.home);
    if (!rc) rc = remove_tail(path, "", err);
    snprintf(path, sizeof path, "%s/index", o.home);
    if (!rc) rc = fo_remove_tree(path, err);
    if (!rc && rename(part, db) != 0) rc = fo_fail_errno(err, "cannot move %s to %s", part, db);
    if (!rc) rc = fo_sync_dir_of(db, err);
    for (int i = 0; i < 3 && fd >= 0; i++) remove_tail(part, tails[i], NULL);
    if (rc && fd >= 0) unlink(part);
    if (fd >= 0) close(fd);
    return rc;
}

static int restore_run(int argc, char **argv) {
    (void)argc;
    fo_err err = {0};
    if (restore(argv[0], &err)) return cli_fail(&err);
    service *s; /* builds the indexes from the store */
    if (cli_models_open(&s, &(service_options){.home = o.home}, &err)) return cli_fail(&err);
    service_stats st = {0};
    int rc = service_get_stats(s, &st, &err);
    service_close(s);
    if (rc) return cli_fail(&err);
    printable_say(stdout, "%s: %zu collections, %zu documents, %zu chunks", o.home,
                  st.n_collections, st.n_documents, st.n_chunks);
    return 0;
}

const cli_command cli_command_restore = {"restore",
                                         "make a home from a backup",
                                         "forage restore FILE [--home DIR] [--force]",
                                         "The backup is checked first; indexes are built from it.",
                                         restore_options,
                                         1,
                                         1,
                                         restore_run};
