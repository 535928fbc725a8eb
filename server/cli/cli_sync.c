/* forage sync: a folder and the documents that came from it kept in step, once or for as long as it runs. */
#include <cjson/cJSON.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/files/folder_watch.h"
#include "retrieval/sync/folder_sync.h"
#include "retrieval/home/home.h"
#include "server/base/json.h"
#include "server/base/printable.h"
#include "server/cli/cli.h"
#include "server/cli/cli_models.h"
#include "server/cli/folder_report.h"
#include "server/cli/output_form.h"
#include "server/cli/progress.h"
#include "server/http/client.h"

static struct {
    const char *home, *url, *key, *name, *collection, *language, *max_deletes;
    int64_t max_tokens, overlap, threads, max_file, interval;
    bool dry_run, watch, relocate;
} o = {.home = "home", .overlap = -1, .max_file = 64 << 20, .interval = 600};

static const cli_option options[] = {
    {"home", CLI_STRING, &o.home, "DIR", "the home to fill (default: home)"},
    {"url", CLI_STRING, &o.url, "URL",
     "a running service that keeps this folder in step (serve --source): have it look now"},
    {"api-key", CLI_STRING, &o.key, "KEY", "for --url"},
    {"name", CLI_STRING, &o.name, "NAME",
     "of the source: its documents are NAME/PATH (default: the folder's name)", .flag_only = true},
    {"collection", CLI_STRING, &o.collection, "NAME",
     "default: that of the source's last run, or default"},
    {"dry-run", CLI_BOOL, &o.dry_run, NULL, "say what would be done, change nothing",
     .flag_only = true},
    {"watch", CLI_BOOL, &o.watch, NULL, "go on, and follow each change within seconds",
     .flag_only = true},
    {"sync-interval", CLI_INT, &o.interval, "SECONDS",
     "with --watch: look at all files this often, too (default 600)", .min = 1, .max = 1000000},
    {"max-deletes", CLI_STRING, &o.max_deletes, "N|P%",
     "remove nothing where more documents than this would go (default 50%, but 5 in any case)"},
    {"max-file", CLI_BYTES, &o.max_file, "BYTES",
     "larger files are left out and named; 0: any size (default 64M)"},
    {"relocate", CLI_BOOL, &o.relocate, NULL, "the source's folder has another path than last time",
     .flag_only = true},
    CLI_CHUNK_OPTIONS(o),
    CLI_INGEST_MEMORY_OPTION,
    CLI_ORIGINALS_OPTION,
    CLI_EMBED_OPTIONS,
    CLI_OCR_OPTIONS,
    {"threads", CLI_INT, &o.threads, "N", "default: all", .max = 1024},
    CLI_PROGRESS_OPTION,
    CLI_OUTPUT_OPTION,
    {0}};

/* ---- while it runs ----------------------------------------------------------------------- */

static folder_watch *watching; /* for the handler */
static atomic_bool stop;

static void on_signal(int sig) {
    (void)sig;
    stop = true;
    folder_watch_wake(watching);
}

static void on_step(void *ctx, enum sync_kind kind, const char *path, const char *from) {
    (void)ctx;
    const char *what = kind == SYNC_MOVED      ? "move"
                       : kind == SYNC_REMOVED  ? "remove"
                       : kind == SYNC_WITHHELD ? "remove (refused)"
                       : kind != SYNC_PUT      ? NULL
                       : from                  ? "update"
                                               : "create";
    if (!what || output_asked() != OUTPUT_TABLE || !o.dry_run) return;
    if (kind == SYNC_MOVED)
        printable_say(stdout, "would move: %s -> %s", from, path);
    else
        printable_say(stdout, "would %s: %s", what, path);
}

static void on_left_out(void *ctx, const char *path, const char *kind, int64_t size) {
    (void)ctx;
    folder_report_left_out(path, kind, size, o.max_file);
}

static void on_entering(void *ctx, const char *path) {
    (void)ctx;
    if (watching) folder_watch_enter(watching, path);
}

static textless_names textless;
static void on_textless(void *ctx, const char *path) {
    (void)ctx;
    folder_report_note_textless(&textless, path);
}

static progress *bar;
static ingest_counts counts; /* within documents */
static void on_progress(void *ctx, size_t done, size_t all) {
    (void)ctx;
    progress_set_total(bar, all);
    progress_set(bar, done);
}

/* ---- a run ------------------------------------------------------------------------------- */

static void print_report(const folder_sync_request *q, const folder_sync_report *r) {
    char *report = folder_sync_report_json(r);
    fo_buf b = {0};
    json_out w = {&b, false};
    json_out_open(&w, NULL, '{');
    json_out_string(&w, "source", q->name);
    json_out_string(&w, "path", q->path);
    json_out_string(&w, "collection", r->collection);
    if (report && report[0] == '{' && report[1] != '}') {
        fo_buf_char(&b, ',');
        fo_buf_str(&b, report + 1); /* its members and its end */
    }
    static bool again;
    if (again && output_asked() == OUTPUT_MARKDOWN)
        putchar('\n'); /* else the tables of two runs were one */
    again = true;
    if (report && !b.failed) output_print(&b);
    fo_buf_free(&b);
    free(report);
}

static bool changed_anything(const folder_sync_report *r) {
    return r->created || r->updated || r->moved || r->removed;
}

/* 0 done, 1 something failed, < 0: the run as a whole did. */
static int run_once(service *s, const folder_sync_request *q, bool quiet, fo_err *err) {
    folder_sync_report r;
    bar = progress_begin_ingest("sync", &counts, output_is_json());
    int rc = folder_sync_run(s, q, &r, err);
    progress_end(bar);
    bar = NULL;
    folder_report_say_textless(&textless, rc ? 0 : r.textless);
    bool whole = folder_sync_is_whole(&r);
    if (!rc && !(quiet && !changed_anything(&r))) {
        if (output_asked() != OUTPUT_TABLE) {
            print_report(q, &r);
        } else {
            if (!quiet)
                printable_say(stdout, "source %s: %s, in collection %s", q->name, q->path,
                              r.collection);
            folder_report_print(&r);
        }
        fflush(stdout);
    }
    folder_sync_report_deinit(&r);
    return rc ? rc : !whole;
}

/* Until a signal. A run that fails as a whole (the folder is away) is said once, and tried again. */
static int run_watching(service *s, folder_sync_request *q, int status, fo_err *err) {
    struct sigaction act = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
    sigaction(SIGINT, &act, NULL);
    sigaction(SIGTERM, &act, NULL);
    q->cancel = &stop;
    q->retry_failed = false;
    bool said = false, away = false;
    while (!stop) {
        if (*folder_watch_trouble(watching) && !said)
            printable_say(stderr, "forage: %s; looking every %lld seconds",
                          folder_watch_trouble(watching), (long long)o.interval);
        said = said || *folder_watch_trouble(watching);
        enum folder_watch_event event;
        int rc = folder_watch_wait(watching, (int)(away && o.interval > 5 ? 5 : o.interval) * 1000,
                                   &event, err);
        if (rc) return cli_fail(err);
        if (stop) break;
        fo_err why = {0};
        rc = run_once(s, q, true, &why);
        if (rc < 0 && stop) break;
        if (rc < 0 && !away) cli_fail(&why);
        away = rc < 0;
        if (rc) status = 1;
    }
    return status;
}

/* ---- a service's source ------------------------------------------------------------------ */

static size_t count_of(const cJSON *report, const char *key) {
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(report, key);
    return cJSON_IsNumber(v) && v->valuedouble > 0 ? (size_t)v->valuedouble : 0;
}

static const char *text_of(const cJSON *item, const char *key) {
    const char *s = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, key));
    return s ? s : "";
}

/* A report as the service gave it, as it was. */
static int read_report(const cJSON *from, folder_sync_report *r, fo_err *err) {
    const cJSON *seconds = cJSON_GetObjectItemCaseSensitive(from, "seconds"), *k;
    *r = (folder_sync_report){.dry_run = o.dry_run,
                              .created = count_of(from, "created"),
                              .updated = count_of(from, "updated"),
                              .moved = count_of(from, "moved"),
                              .unchanged = count_of(from, "unchanged"),
                              .removed = count_of(from, "removed"),
                              .failed = count_of(from, "failed"),
                              .withheld = count_of(from, "withheld"),
                              .kept = count_of(from, "kept"),
                              .textless = count_of(from, "without_text"),
                              .chunks = count_of(from, "chunks"),
                              .seconds = cJSON_IsNumber(seconds) ? seconds->valuedouble : 0};
    if (*text_of(from, "refused"))
        fo_fail(&r->refused, FO_ECONFLICT, "%.500s", text_of(from, "refused"));
    const cJSON *kinds = cJSON_GetObjectItemCaseSensitive(from, "skipped_by_kind");
    cJSON_ArrayForEach(k, kinds) {
        skip_counts one = {.n_kinds = 1};
        snprintf(one.by[0].kind, sizeof one.by[0].kind, "%s", k->string);
        one.by[0].n = cJSON_IsNumber(k) && k->valuedouble > 0 ? (size_t)k->valuedouble : 0;
        skip_counts_join(&r->skipped, &one);
    }
    const cJSON *failures = cJSON_GetObjectItemCaseSensitive(from, "failures");
    r->failures = calloc((size_t)cJSON_GetArraySize(failures) + 1, sizeof *r->failures);
    if (!r->failures) return fo_no_memory(err);
    cJSON_ArrayForEach(k, failures) {
        folder_sync_failure f = {strdup(text_of(k, "file")), strdup(text_of(k, "reason"))};
        r->failures[r->n_failures++] = f;
        if (!f.path || !f.why) return fo_no_memory(err);
    }
    return FO_OK;
}

/* The source as the service has it; path (NULL: whatever it is) must be its folder. */
static int check_source(client *c, const char *name, const char *path, char **collection, char **is,
                        fo_err *err) {
    fo_buf at = {0}, reply = {0};
    cJSON *root = NULL;
    fo_buf_str(&at, "/sources/");
    client_escape(&at, name);
    int rc = at.failed ? fo_no_memory(err) : client_get(c, at.data, &reply, err);
    if (!rc) rc = json_parse(reply.data ? reply.data : "", reply.len, &root, err);
    if (!rc && path && strcmp(text_of(root, "path"), path) != 0)
        rc = fo_fail(err, FO_ECONFLICT, "the service's source '%s' is the folder %.300s", name,
                     text_of(root, "path"));
    if (!rc && (!(*collection = strdup(text_of(root, "collection"))) ||
                !(*is = strdup(text_of(root, "path")))))
        rc = fo_no_memory(err);
    cJSON_Delete(root);
    fo_buf_free(&at);
    fo_buf_free(&reply);
    return rc;
}

static int sync_by_service(const char *name, const char *path, bool *whole, fo_err *err) {
    client *c = NULL;
    char *collection = NULL, *is = NULL;
    fo_buf at = {0}, reply = {0};
    cJSON *root = NULL, *step;
    folder_sync_report r = {0};
    int rc = client_open(&c, o.url, o.key, err);
    if (!rc) rc = check_source(c, name, path, &collection, &is, err);
    fo_buf_str(&at, "/sources/");
    client_escape(&at, name);
    fo_buf_printf(&at, "/sync?dry_run=%s&relocate=%s", o.dry_run ? "true" : "false",
                  o.relocate ? "true" : "false");
    if (o.max_deletes) client_query_part(&at, "max_deletes", o.max_deletes);
    if (!rc && at.failed) rc = fo_no_memory(err);
    if (!rc) rc = client_post(c, at.data, "application/json", "", 0, &reply, err);
    if (!rc) rc = json_parse(reply.data ? reply.data : "", reply.len, &root, err);
    if (!rc) rc = read_report(cJSON_GetObjectItemCaseSensitive(root, "report"), &r, err);
    if (!rc) {
        folder_sync_request q = {.name = name, .path = is};
        r.collection = collection;
        *whole = folder_sync_is_whole(&r);
        const cJSON *steps = cJSON_GetObjectItemCaseSensitive(root, "steps");
        cJSON_ArrayForEach(step, steps) {
            const char *from = text_of(step, "from");
            if (output_asked() == OUTPUT_TABLE)
                printable_say(stdout, "would %s: %s%s%s", text_of(step, "action"), from,
                              *from ? " -> " : "", text_of(step, "file"));
        }
        if (output_asked() != OUTPUT_TABLE) {
            print_report(&q, &r);
        } else {
            printable_say(stdout, "source %s: %s, in collection %s", name, is, collection);
            folder_report_print(&r);
        }
        r.collection = NULL;
    }
    folder_sync_report_deinit(&r);
    cJSON_Delete(root);
    fo_buf_free(&at);
    fo_buf_free(&reply);
    free(collection);
    free(is);
    client_close(c);
    return rc;
}

/* How files are read, and when, is settled where the service was started (serve --source). */
static int check_for_url(void) {
    if (cli_flagged("threads"))
        return cli_wrong_usage("with --url the service does the work: --threads is for --home");
    if (cli_flagged("sync-interval"))
        return cli_wrong_usage("with --url the service looks as often as it was started to (serve "
                               "--sync-interval): --sync-interval is for --watch");
    static const char *const settled[] = {"max-file", "language", "max-tokens",
                                          "overlap",  "ocr",      "ocr-language"};
    for (size_t i = 0; i < sizeof settled / sizeof *settled; i++)
        if (cli_flagged(settled[i]))
            return cli_wrong_usage("with --url the service reads the files as it was started to: "
                                   "--%s is for --home",
                                   settled[i]);
    return cli_models_refuse_for_url(options);
}

static int run(int argc, char **argv) {
    char path[PATH_MAX];
    struct stat st;
    sync_limit limit = SYNC_LIMIT_DEFAULT;
    if (o.max_deletes && !sync_limit_read(&limit, o.max_deletes))
        return cli_wrong_usage("--max-deletes must be a number of documents, or a share such as "
                               "30%%, not '%.40s'",
                               o.max_deletes);
    if (o.overlap >= 0 && o.overlap >= (o.max_tokens ? o.max_tokens : 256) / 2)
        return cli_wrong_usage("--overlap must be less than half of --max-tokens");
    if (o.collection && !service_name_valid(o.collection))
        return cli_wrong_usage("--collection must be 1 to 64 of A-Z a-z 0-9 _ - .");
    if (cli_flagged("sync-interval") && !o.watch && !o.url)
        return cli_wrong_usage("--sync-interval says how often --watch looks: give that, too");
    if (o.watch && o.dry_run) return cli_wrong_usage("--watch and --dry-run exclude each other");
    if (argc ? !*argv[0] : !(o.url && o.name))
        return cli_wrong_usage("sync needs a folder, or --url and --name");
    if (o.url && (o.watch || cli_flagged("collection")))
        return cli_wrong_usage(
            "with --url the service watches, into the collection that it was told");
    if (o.url && check_for_url()) return 2;
    fo_err err = {0};
    if (!argc)
        path[0] = 0;
    else if (!realpath(argv[0], path))
        return fo_fail_errno(&err, "cannot open the folder %.300s", argv[0]), cli_fail(&err);
    if (argc && stat(path, &st) == 0 && !S_ISDIR(st.st_mode))
        return cli_wrong_usage("%s is no folder; 'forage ingest' takes files", argv[0]);
    const char *slash = strrchr(path, '/'), *name = o.name ? o.name : slash ? slash + 1 : path;
    if (!service_name_valid(name))
        return cli_wrong_usage(
            "%s'%s' is no name of a source: it needs 1 to 64 of A-Z a-z 0-9 _ - . "
            "and no dot in front%s",
            o.name ? "--name " : "", name, o.name ? "" : "; say --name NAME");
    if (o.url) {
        bool whole = false;
        int failed = sync_by_service(name, argc ? path : NULL, &whole, &err);
        return failed ? cli_fail(&err) : !whole;
    }
    service *s = NULL;
    int rc = o.watch ? folder_watch_create(&watching, path, &err) : FO_OK;
    if (!rc && o.dry_run) rc = home_must_exist(o.home, &err);
    if (!rc)
        rc = cli_models_open(&s,
                             &(service_options){.home = o.home,
                                                .n_threads = (int)o.threads,
                                                .read_only = o.dry_run,
                                                .cache_bytes = -1},
                             &err);
    folder_sync_request q = {.tenant = "default",
                             .name = name,
                             .collection = o.collection,
                             .path = path,
                             .relocate = o.relocate,
                             .language = o.language,
                             .max_tokens = (size_t)o.max_tokens,
                             .overlap = o.overlap < 0 ? SIZE_MAX : (size_t)o.overlap,
                             .max_file_bytes = o.max_file,
                             .limit = limit,
                             .retry_failed = true,
                             .dry_run = o.dry_run,
                             .step = on_step,
                             .left_out = on_left_out,
                             .entering = on_entering,
                             .textless = on_textless,
                             .progress = on_progress,
                             .counts = &counts};
    if (!rc) rc = run_once(s, &q, false, &err);
    int status = rc < 0 ? cli_fail(&err) : rc;
    if (o.watch && rc >= 0) status = run_watching(s, &q, status, &err);
    service_close(s);
    if (o.watch) { /* the handler may still come */
        signal(SIGINT, SIG_DFL);
        signal(SIGTERM, SIG_DFL);
    }
    folder_watch_free(watching);
    return status;
}

const cli_command cli_command_sync = {
    "sync",
    "keep a folder and its documents in step",
    "forage sync FOLDER [--name NAME] [--home DIR] [--collection C] [--dry-run]\n"
    "            [--watch] [--max-deletes N|P%] [--output text|table|json|md]\n"
    "forage sync [FOLDER] --name NAME --url URL [--dry-run] [--max-deletes N|P%]",
    "What is new in the folder is taken in, what has changed is updated, what has moved keeps its\n"
    "document under the new name, and the documents of files that are gone are removed: those "
    "that\n"
    "came from this folder and no others. Nothing is removed where the folder is missing, cannot "
    "be\n"
    "read or has become empty, or where more than --max-deletes would go.\n"
    "Left out, and counted by kind: what the .gitignore and .forageignore files in the folder "
    "say,\n"
    "hidden files, node_modules, what machines make for machines (lock files, .min.js,\n"
    "searchindex.js), links, empty files and formats that nobody reads.\n"
    "Ends with a table, or a JSON object for each run; status 1 where anything failed.",
    options,
    0,
    1,
    run};
