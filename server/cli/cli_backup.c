/* forage backup, restore: a home in one file, and a home from one. */
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "retrieval/home/home_backup.h"
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
    struct stat st = {0};
    if (stat(argv[0], &st) == 0 && S_ISDIR(st.st_mode))
        return cli_wrong_usage("%s is a folder; name the file to be made, such as %s/home.backup",
                               argv[0], argv[0]);
    if (!o.force && access(argv[0], F_OK) == 0) {
        printable_say(stderr, "forage: %s exists; --force writes over it", argv[0]);
        return 1;
    }
    if (home_backup(o.home, argv[0], &err)) return cli_fail(&err);
    stat(argv[0], &st);
    printable_say(stdout, "%s: %.1f MB", argv[0], (double)st.st_size / 1e6);
    return 0;
}

const cli_command cli_command_backup = {
    "backup",
    "copy a home into one file, also while a server runs on it",
    "forage backup FILE [--home DIR] [--force]",
    "The file is a tar, compressed with zstd, with a checksum of all of it at its end: documents\n"
    "and vectors as of one moment, and index files. Keys, the audit log, forage.conf and what is\n"
    "computed (kv, hot) are not in it. While it is made, a copy of the database lies beside FILE.\n"
    "'forage restore FILE' is the way back.",
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

static int restore_run(int argc, char **argv) {
    (void)argc;
    fo_err err = {0};
    if (home_restore(o.home, argv[0], o.force, &err)) return cli_fail(&err);
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

const cli_command cli_command_restore = {
    "restore",
    "make a home from a backup",
    "forage restore FILE [--home DIR] [--force]",
    "The backup is checked first: one that is damaged is refused, and changes nothing.\n"
    "So is a home that holds documents, without --force. A bare copy of a database\n"
    "(forage.db, or a snapshot of an older version) is taken as well.",
    restore_options,
    1,
    1,
    restore_run};
