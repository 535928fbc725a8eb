/* Copies of the whole database: one file each. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "data/sqlite/sqlite_internal.h"
#include "kernels/file.h"
#include "kernels/page_sums.h"

enum { STEP_PAGES = 1024 };

/* By pieces, so that it can be ended. `from` has begun to read: all pieces are of that moment. */
static int copy_pages(sqlite3_backup *b, const atomic_bool *cancel, int *got, fo_err *err) {
    do {
        if (cancel && atomic_load(cancel)) return fo_fail(err, FO_ECANCELLED, "cancelled");
        *got = sqlite3_backup_step(b, STEP_PAGES);
    } while (*got == SQLITE_OK);
    return FO_OK;
}

static int backup_to(sqlite_conn *from, const char *path, const atomic_bool *cancel, fo_err *err) {
    sqlite3 *to = NULL;
    int rc = FO_OK;
    if (sqlite3_open_v2(path, &to, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
                        fo_page_sums_vfs(NULL)) != SQLITE_OK) {
        rc = sqlite_fail(to, err, "could not make the backup file");
        sqlite3_close(to);
        return rc;
    }
    if (fo_page_sums_on(from->db)) fo_page_sums_begin(to);
    sqlite3_backup *b = sqlite3_backup_init(to, "main", from->db, "main");
    int got = SQLITE_ERROR;
    if (b) rc = copy_pages(b, cancel, &got, err);
    if (b && sqlite3_backup_finish(b) != SQLITE_OK) got = SQLITE_ERROR;
    /* One file, no WAL beside it: that is what a person copies away. */
    if (!rc && got == SQLITE_DONE &&
        sqlite3_exec(to, "PRAGMA synchronous = FULL; PRAGMA journal_mode = DELETE", NULL, NULL,
                     NULL) != SQLITE_OK)
        got = SQLITE_ERROR;
    if (!rc && got != SQLITE_DONE) rc = sqlite_fail(to, err, "could not write the backup");
    if (sqlite3_close(to) != SQLITE_OK && !rc)
        rc = fo_fail(err, FO_EIO, "could not close the backup");
    return rc;
}

int sqlite_backup(store *base, const char *path, const atomic_bool *cancel, fo_err *err) {
    sqlite_store *s = sqlite_of(base);
    char *temp = NULL;
    if (asprintf(&temp, "%s.tmp-%ld", path, (long)getpid()) < 0) return fo_no_memory(err);
    unlink(temp);
    sqlite_conn *c;
    int rc = sqlite_make_private(temp, err);
    if (!rc) rc = sqlite_reader(s, true, &c, err);
    if (!rc) {
        rc = sqlite_run(c, err, "SELECT 1 FROM sqlite_schema LIMIT 1", "");
        if (!rc) rc = backup_to(c, temp, cancel, err);
        sqlite_reader_release(s, c);
    }
    if (!rc && rename(temp, path) != 0)
        rc = fo_fail_errno(err, "could not move the backup to %s", path);
    if (!rc) rc = fo_sync_dir_of(path, err);
    if (rc) {
        static const char *const endings[] = {"", "-journal", "-wal", "-shm"};
        for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
            char *leftover;
            if (asprintf(&leftover, "%s%s", temp, endings[i]) < 0) continue;
            unlink(leftover);
            free(leftover);
        }
    }
    free(temp);
    return rc;
}
