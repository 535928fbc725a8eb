/* The store of a home as files: forage.db, what SQLite keeps beside it, and the ledger. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/sqlite/sqlite_internal.h"
#include "kernels/file.h"
#include "kernels/page_sums.h"
#include "kernels/sqlite_files.h"

#define FILE_NAME   "forage.db"
#define LEDGER_NAME "ledger"

enum { PATH = 4096 };

static int path_of(char out[PATH], const char *home, const char *name, fo_err *err) {
    if (snprintf(out, PATH, "%s/%s", home, name) < PATH - 16)
        return FO_OK; /* room for "-journal" */
    return fo_fail(err, FO_ELIMIT, "the home folder's name is too long");
}

static int open_home(store **out, const char *home, const store_options *opt, fo_err *err) {
    char path[PATH], known[PATH];
    int rc = path_of(path, home, FILE_NAME, err);
    if (!rc) rc = path_of(known, home, LEDGER_NAME, err);
    sqlite_options with = {.store = *opt, .ledger = opt->no_ledger ? NULL : known};
    return rc ? rc : sqlite_store_open(out, path, &with, err);
}

static int look(const char *home, enum store_presence *out, bool *acknowledged, fo_err *err) {
    char path[PATH];
    struct stat st;
    int rc = path_of(path, home, LEDGER_NAME, err);
    if (rc) return rc;
    *acknowledged = access(path, F_OK) == 0;
    rc = path_of(path, home, FILE_NAME, err);
    if (rc) return rc;
    *out = STORE_GONE;
    if (stat(path, &st) != 0)
        return errno == ENOENT ? FO_OK : fo_fail_errno(err, "cannot open %s", path);
    bool empty = st.st_size == 0;
    /* One that cannot be read is damaged, not lost: opening it says so. */
    if (!empty && sqlite_is_empty(path, &empty, NULL) != FO_OK) empty = false;
    *out = empty ? STORE_EMPTY : STORE_THERE;
    return FO_OK;
}

/* ---- files as they lie -------------------------------------------------------------------- */

typedef struct listener {
    store_finding_fn *fn;
    void *ctx;
} listener;

static void tell(void *ctx, bool unused, const char *what) {
    const listener *to = ctx;
    enum store_fault fault = unused ? STORE_FAULT_UNUSED : STORE_FAULT_FILE;
    to->fn(to->ctx, &(store_finding){.fault = fault, .what = what});
}

int sqlite_check_files(const char *path, store_finding_fn *fn, void *ctx, fo_err *err) {
    return fo_sqlite_check_files(path, tell, &(listener){fn, ctx}, err);
}

static int check_home(const char *home, store_finding_fn *fn, void *ctx, fo_err *err) {
    char path[PATH];
    int rc = path_of(path, home, FILE_NAME, err);
    return rc ? rc : sqlite_check_files(path, fn, ctx, err);
}

/* ---- from a backup ------------------------------------------------------------------------ */

#define STAGED_NAME FILE_NAME ".restore"

static int remove_file(const char *path, const char *tail, fo_err *err) {
    char name[PATH + 16];
    snprintf(name, sizeof name, "%s%s", path, tail);
    if (unlink(name) == 0 || errno == ENOENT) return FO_OK;
    return fo_fail_errno(err, "cannot remove %s", name);
}

static const char *const TAILS[] = {"-wal", "-shm", "-journal"};
enum { N_TAILS = sizeof TAILS / sizeof *TAILS };

static int remove_tails(const char *path, fo_err *err) {
    int rc = FO_OK;
    for (int i = 0; i < N_TAILS && !rc; i++) rc = remove_file(path, TAILS[i], err);
    return rc;
}

/* The main file alone takes the store's place: all commits must have arrived in it, which nobody would
 * hear of if closing did that. */
static int make_own(store *s, fo_err *err) {
    int rc = sqlite_adopt(s, err);
    return rc ? rc : sqlite_checkpoint(s, err);
}

/* It begins as SQLite's files do. */
static bool is_database(const char *path) {
    char head[16] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : pread(fd, head, sizeof head, 0);
    if (fd >= 0) close(fd);
    return n == sizeof head && !memcmp(head, "SQLite format 3", sizeof head);
}

static int stage_backup(const char *home, const char *file, bool move, fo_err *err) {
    char staged[PATH];
    store *s;
    int rc = path_of(staged, home, STAGED_NAME, err);
    /* The log of a restore that was killed would be played into this copy. */
    if (!rc) rc = remove_tails(staged, err);
    if (!rc && !move) rc = fo_file_copy(file, staged, err);
    if (!rc && move && rename(file, staged) != 0)
        rc = fo_fail_errno(err, "cannot move %s to %s", file, staged);
    /* SQLite takes an empty file for a database, and would make a store of it. */
    bool empty = false;
    if (!rc && sqlite_is_empty(staged, &empty, NULL) == FO_OK && empty)
        return fo_fail(err, FO_ECORRUPT, "%s is no backup of Forage: it is empty", file);
    if (!rc && !is_database(staged)) /* SQLite would name the copy, which nobody knows */
        return fo_fail(err, FO_ECORRUPT,
                       "%s is no backup of Forage: neither a file that 'forage backup' wrote nor a "
                       "copy of a home's database",
                       file);
    if (!rc && (rc = sqlite_store_open(&s, staged, NULL, err)))
        return fo_fail_prefix(err, "%s is no backup of Forage", file);
    if (rc) return rc;
    rc = store_verify(s, err);
    if (rc) fo_fail_prefix(err, "%s is damaged", file);
    if (!rc) rc = make_own(s, err);
    store_close(s);
    return rc;
}

/* An old log must never meet a new database. So the old one takes its log up before: killed from here
 * on, it is whole without one. Where it is too damaged for that, the log goes with it. */
static void empty_log(const char *path) {
    sqlite3 *db = NULL;
    if (access(path, F_OK) == 0 &&
        sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, fo_page_sums_vfs(NULL)) == SQLITE_OK)
        sqlite3_exec(db, "PRAGMA wal_checkpoint(TRUNCATE)", NULL, NULL, NULL);
    sqlite3_close(db);
}

/* A log beside the staged file holds commits that the file lacks. */
static int refuse_log(const char *staged, fo_err *err) {
    char log[PATH + 16];
    struct stat st;
    snprintf(log, sizeof log, "%s-wal", staged);
    if (stat(log, &st) != 0)
        return errno == ENOENT ? FO_OK : fo_fail_errno(err, "cannot look at %s", log);
    if (st.st_size == 0) return FO_OK;
    return fo_fail(err, FO_EIO, "%s is not whole: its last commits are still in %s", staged, log);
}

/* The old log goes first, and what was acknowledged of the old store. */
static int take_staged(const char *home, fo_err *err) {
    char path[PATH], staged[PATH], known[PATH];
    int rc = path_of(path, home, FILE_NAME, err);
    if (!rc) rc = path_of(staged, home, STAGED_NAME, err);
    if (!rc) rc = path_of(known, home, LEDGER_NAME, err);
    if (!rc) rc = refuse_log(staged, err);
    if (!rc) empty_log(path);
    if (!rc) rc = remove_tails(path, err);
    if (!rc) rc = remove_file(known, "", err);
    if (!rc && rename(staged, path) != 0)
        rc = fo_fail_errno(err, "cannot move %s to %s", staged, path);
    if (!rc) rc = fo_sync_dir_of(path, err);
    return rc;
}

static void drop_staged(const char *home) {
    char staged[PATH];
    if (path_of(staged, home, STAGED_NAME, NULL) != FO_OK) return;
    for (int i = 0; i < N_TAILS; i++) remove_file(staged, TAILS[i], NULL);
    remove_file(staged, "", NULL);
}

static const char *const FILES[] = {
    FILE_NAME, FILE_NAME "-wal", FILE_NAME "-shm", FILE_NAME "-journal", LEDGER_NAME, NULL};

const store_backend sqlite_store_backend = {
    .name = "SQLite",
    .file = FILE_NAME,
    .ledger = LEDGER_NAME,
    .log = FILE_NAME "-wal",
    .files = FILES,
    .open = open_home,
    .look = look,
    .check_files = check_home,
    .check_backup = sqlite_check_files,
    .stage_backup = stage_backup,
    .take_staged = take_staged,
    .drop_staged = drop_staged,
};
