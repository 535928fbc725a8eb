/* forage backup, restore, stats. The store is the truth: a backup is one database file, and what is
 * derived from it is built again. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernels/clock.h"
#include "kernels/file.h"
#include "retrieval/service.h"
#include "server/cli.h"
#include "server/cli_models.h"
#include "server/client.h"
#include "server/json.h"

static struct {
    const char *home, *url, *key;
    bool force, json;
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
        fprintf(stderr, "forage: %s exists; --force writes over it\n", argv[0]);
        return 1;
    }
    snprintf(path, sizeof path, "%s/forage.db", o.home);
    if (access(path, F_OK) != 0) {
        fprintf(stderr, "forage: %s is no home: it holds no forage.db\n", o.home);
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
    printf("%s: %.1f MB\n", argv[0], (double)st.st_size / 1e6);
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

static int check_backup(const char *file, fo_err *err) {
    store *s;
    int rc = store_open(&s, file, &(store_options){.read_only = true}, err);
    if (rc) return fo_fail_prefix(err, "%s is no backup of Forage", file);
    rc = store_verify(s, err);
    store_close(s);
    return rc ? fo_fail_prefix(err, "%s is damaged", file) : FO_OK;
}

static int restore(const char *file, fo_err *err) {
    char db[4096], other[4104], index[4096];
    snprintf(db, sizeof db, "%s/forage.db", o.home);
    snprintf(index, sizeof index, "%s/index", o.home);
    int fd = -1, rc = check_backup(file, err);
    if (!rc) rc = fo_make_dirs(o.home, err);
    if (!rc) rc = lock_home(&fd, err);
    if (!rc && access(db, F_OK) == 0 && !o.force)
        rc =
            fo_fail(err, FO_ECONFLICT, "%s holds documents already; --force replaces them", o.home);
    /* An old WAL must never meet a new database: it goes first. */
    static const char *const tails[] = {"-wal", "-shm"};
    for (int i = 0; i < 2 && !rc; i++) {
        snprintf(other, sizeof other, "%s%s", db, tails[i]);
        if (unlink(other) != 0 && errno != ENOENT)
            rc = fo_fail_errno(err, "cannot remove %s", other);
    }
    if (!rc) rc = fo_remove_tree(index, err);
    if (!rc) rc = copy_file(file, db, err);
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
    printf("%s: %zu collections, %zu documents, %zu chunks\n", o.home, st.n_collections,
           st.n_documents, st.n_chunks);
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

/* ---- stats ---------------------------------------------------------------------------------- */

static const cli_option stats_options[] = {
    {"home", CLI_STRING, &o.home, "DIR", "default: home; a server may run on it"},
    {"url", CLI_STRING, &o.url, "URL", "a running service instead"},
    {"api-key", CLI_STRING, &o.key, "KEY", "for --url"},
    CLI_EMBED_OPTIONS,
    {"json", CLI_BOOL, &o.json, NULL, "one JSON object on stdout"},
    {0}};

/* What the caches did for the default tenant in the last 30 days. */
static int cache_stats(service *s, json_out *out, fo_err *err) {
    store_rollup *rows, sum[STORE_N_LAYERS] = {0};
    size_t n;
    int rc = store_cache_series(service_store(s), "default", fo_unix_ms() / 1000 - 30 * 86400,
                                86400, &rows, &n, err);
    if (rc) return rc;
    for (size_t i = 0; i < n; i++) {
        sum[rows[i].layer].lookups += rows[i].lookups;
        sum[rows[i].layer].hits += rows[i].hits;
        sum[rows[i].layer].saved_ms += rows[i].saved_ms;
        sum[rows[i].layer].saved_tokens += rows[i].saved_tokens;
    }
    free(rows);
    json_out_open(out, "cache_30_days", '{');
    for (int i = 0; i < STORE_N_LAYERS; i++) {
        json_out_open(out, store_cache_layer_name(i), '{');
        json_out_int(out, "lookups", sum[i].lookups);
        json_out_int(out, "hits", sum[i].hits);
        json_out_number(out, "saved_ms", sum[i].saved_ms);
        json_out_int(out, "saved_tokens", sum[i].saved_tokens);
        json_out_close(out, '}');
    }
    json_out_close(out, '}');
    return FO_OK;
}

static int stats_of_home(fo_buf *b, fo_err *err) {
    service *s;
    int rc = cli_models_open(&s, &(service_options){.home = o.home, .read_only = true}, err);
    if (rc) return rc;
    service_stats st = {0};
    rc = service_get_stats(s, &st, err);
    json_out out = {b, false};
    json_out_open(&out, NULL, '{');
    json_out_int(&out, "collections", (int64_t)st.n_collections);
    json_out_int(&out, "documents", (int64_t)st.n_documents);
    json_out_int(&out, "chunks", (int64_t)st.n_chunks);
    json_out_int(&out, "segments", (int64_t)st.n_segments);
    json_out_int(&out, "index_file_bytes", (int64_t)st.index_file_bytes);
    json_out_int(&out, "index_memory_bytes", (int64_t)st.index_memory_bytes);
    json_out_int(&out, "database_bytes", (int64_t)st.database_bytes);
    json_out_int(&out, "free_disk_bytes", store_free_disk_bytes(service_store(s)));
    json_out_string(&out, "embedder", embedder_name(service_embedder(s)));
    if (!rc) rc = cache_stats(s, &out, err);
    json_out_close(&out, '}');
    service_close(s);
    return rc;
}

static void print_object(const cJSON *root, int indent) {
    const cJSON *v;
    cJSON_ArrayForEach(v, root) {
        if (cJSON_IsObject(v)) {
            printf("%*s%s\n", indent, "", v->string);
            print_object(v, indent + 2);
        } else if (cJSON_IsString(v)) {
            printf("%*s%-20s %s\n", indent, "", v->string, v->valuestring);
        } else if (cJSON_IsNumber(v)) {
            printf("%*s%-20s %.0f\n", indent, "", v->string, v->valuedouble);
        }
    }
}

static int stats_run(int argc, char **argv) {
    (void)argc, (void)argv;
    fo_err err = {0};
    fo_buf b = {0};
    int rc;
    if (o.url) {
        client *c;
        rc = client_open(&c, o.url, o.key, &err);
        if (!rc) {
            rc = client_get(c, "/stats", &b, &err);
            client_close(c);
        }
    } else {
        rc = stats_of_home(&b, &err);
    }
    if (rc) {
        cli_fail(&err);
    } else if (o.json) {
        puts(b.data);
    } else {
        cJSON *root = cJSON_ParseWithLength(b.data, b.len);
        print_object(root, 0);
        cJSON_Delete(root);
    }
    fo_buf_free(&b);
    return rc ? 1 : 0;
}

const cli_command cli_command_stats = {"stats",
                                       "what a home or a running service holds",
                                       "forage stats [--home DIR | --url URL] [--json]",
                                       NULL,
                                       stats_options,
                                       0,
                                       0,
                                       stats_run};
