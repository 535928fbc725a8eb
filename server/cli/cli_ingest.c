/* forage ingest: files, folders, .jsonl and stdin into a home or a running service. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/extract/extract.h"
#include "kernels/file.h"
#include "server/cli/cli.h"
#include "server/cli/cli_models.h"
#include "server/http/client.h"
#include "server/routes/ingest_batch.h"
#include "server/base/json.h"
#include "server/base/log.h"
#include "server/base/printable.h"
#include "server/cli/progress.h"

#define FILE_MAX_BYTES  ((size_t)64 << 20)
#define BATCH_BYTES     ((size_t)4 << 20)
#define BATCH_DOCUMENTS 256
#define DEPTH_MAX       64

static struct {
    const char *home, *url, *key, *collection, *language, *files_from;
    int64_t max_tokens, overlap, threads;
    bool json;
} o = {.home = "home", .collection = "default", .overlap = -1};

static const cli_option options[] = {
    {"home", CLI_STRING, &o.home, "DIR", "the home to fill (default: home)"},
    {"url", CLI_STRING, &o.url, "URL", "a running service to send to instead"},
    {"api-key", CLI_STRING, &o.key, "KEY", "for --url"},
    {"collection", CLI_STRING, &o.collection, "NAME", "default: default"},
    {"language", CLI_STRING, &o.language, "NAME",
     "of a new collection: english, german, ... or none"},
    {"max-tokens", CLI_INT, &o.max_tokens, "N", "tokens of a chunk (default 256)", .min = 16,
     .max = 8192},
    {"overlap", CLI_INT, &o.overlap, "N", "tokens that neighbouring chunks share (default 32)",
     .min = 0, .max = 4095},
    {"files-from", CLI_STRING, &o.files_from, "FILE", "a path a line; - for stdin",
     .flag_only = true},
    CLI_EMBED_OPTIONS,
    {"threads", CLI_INT, &o.threads, "N", "for --home (default: all)", .max = 1024},
    {"json", CLI_BOOL, &o.json, NULL,
     "one JSON object on stdout, progress as JSON lines on stderr"},
    {0}};

/* ---- where documents go: a home, or a service ---------------------------------------------- */

typedef struct target {
    progress *progress;
    ingest_totals totals;
    bool named_failed; /* a path given by name failed, or a line of a .jsonl */
    bool has_lines;    /* a .jsonl or stdin was given by name */
    char **paths;      /* argv */
    int n_paths;
    /* home */
    service *service;
    ingest_batch *batch;
    /* service */
    client *client;
    fo_buf form, lines;
    size_t n_waiting;
} target;

static const char *document_id(const char *path) {
    while (!strncmp(path, "./", 2)) path += 2;
    return path;
}

static void on_failed(void *ctx, const char *id, const fo_err *why) {
    target *t = ctx;
    if (isatty(STDERR_FILENO)) fputs("\r\033[K", stderr); /* over the bar, which is drawn again */
    printable_say(stderr, "forage: %s: %s", id ? id : "document", why->msg);
    if (t->has_lines) t->named_failed = true;
    for (int i = 0; id && i < t->n_paths; i++)
        if (!strcmp(document_id(t->paths[i]), document_id(id))) t->named_failed = true;
}

static void on_progress(void *ctx, const ingest_totals *totals) {
    target *t = ctx;
    progress_set(t->progress, totals->n_all);
}

static void query_part(fo_buf *b, const char *name, const char *value) {
    fo_buf_printf(b, "&%s=", name);
    client_escape(b, value);
}

static void count_timings(ingest_report *sum, const cJSON *timings) {
    const struct {
        const char *name;
        double *to;
    } rows[] = {{"extract", &sum->extract_ms},
                {"chunk", &sum->chunk_ms},
                {"embed", &sum->embed_ms},
                {"index", &sum->index_ms},
                {"commit", &sum->commit_ms}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const cJSON *v = cJSON_GetObjectItemCaseSensitive(timings, rows[i].name);
        if (cJSON_IsNumber(v)) *rows[i].to += v->valuedouble;
    }
}

/* Add what a reply of /ingest says to the totals. */
static int count_reply(target *t, const fo_buf *reply, fo_err *err) {
    cJSON *root;
    int rc = json_parse(reply->data ? reply->data : "", reply->len, &root, err);
    if (rc) return fo_fail_prefix(err, "the server's reply");
    const cJSON *results = cJSON_GetObjectItemCaseSensitive(root, "results"), *r;
    cJSON_ArrayForEach(r, results) {
        const char *status = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(r, "status"));
        const cJSON *chunks = cJSON_GetObjectItemCaseSensitive(r, "chunks");
        int s = INGEST_FAILED;
        for (int i = 0; i < 4; i++)
            if (status && !strcmp(status, ingest_status_name((enum ingest_status)i))) s = i;
        t->totals.n[s]++;
        t->totals.n_all++;
        if (cJSON_IsNumber(chunks)) t->totals.n_chunks += (size_t)chunks->valuedouble;
        if (s != INGEST_FAILED) continue;
        const cJSON *e = cJSON_GetObjectItemCaseSensitive(r, "error");
        fo_err why = {0};
        const char *message = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(e, "message"));
        fo_fail(&why, FO_EINVAL, "%.400s", message ? message : "failed");
        on_failed(t, cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(r, "id")), &why);
    }
    count_timings(&t->totals.report, cJSON_GetObjectItemCaseSensitive(root, "timings_ms"));
    cJSON_Delete(root);
    progress_set(t->progress, t->totals.n_all);
    return FO_OK;
}

#define BOUNDARY "forage-7c1d0e5f9a3b42d8"

static int send_waiting(target *t, fo_err *err) {
    int rc = FO_OK;
    fo_buf path = {0};
    fo_buf_str(&path, "/ingest?wait=true");
    query_part(&path, "collection", o.collection);
    if (o.language) query_part(&path, "language", o.language);
    if (o.max_tokens) fo_buf_printf(&path, "&max_tokens=%lld", (long long)o.max_tokens);
    if (o.overlap >= 0) fo_buf_printf(&path, "&overlap=%lld", (long long)o.overlap);
    for (int k = 0; k < 2 && !rc; k++) {
        fo_buf *body = k ? &t->lines : &t->form, reply = {0};
        if (!body->len) continue;
        if (!k) fo_buf_str(body, "--" BOUNDARY "--\r\n");
        if (body->failed || path.failed)
            rc = fo_fail(err, FO_ENOMEM, "out of memory");
        else
            rc = client_post(t->client, path.data,
                             k ? "application/x-ndjson" : "multipart/form-data; boundary=" BOUNDARY,
                             body->data, body->len, &reply, err);
        if (!rc) rc = count_reply(t, &reply, err);
        fo_buf_free(&reply);
        fo_buf_clear(body);
    }
    fo_buf_free(&path);
    t->n_waiting = 0;
    return rc;
}

static int flush(target *t, fo_err *err) {
    return t->client ? send_waiting(t, err) : ingest_batch_flush(t->batch, err);
}

static int maybe_send(target *t, fo_err *err) {
    t->n_waiting++;
    if (t->n_waiting < BATCH_DOCUMENTS && t->form.len + t->lines.len < BATCH_BYTES) return FO_OK;
    return send_waiting(t, err);
}

static void form_field(fo_buf *b, const char *name, const char *value) {
    fo_buf_printf(b, "--" BOUNDARY "\r\nContent-Disposition: form-data; name=\"%s\"\r\n\r\n", name);
    fo_buf_str(b, value);
    fo_buf_str(b, "\r\n");
}

static int add_file(target *t, const char *id, const char *path, const void *data, size_t n,
                    fo_err *err) {
    const char *name = strrchr(path, '/');
    name = name ? name + 1 : path;
    if (!t->client) {
        ingest_document d = {.id = strlen(id) <= 512 ? id : NULL,
                             .uri = path,
                             .file_name = name,
                             .bytes = data,
                             .n_bytes = n};
        return ingest_batch_add(t->batch, &d, err);
    }
    fo_buf *b = &t->form;
    if (strlen(id) <= 512) form_field(b, "id", id);
    form_field(b, "uri", path);
    fo_buf_str(b, "--" BOUNDARY "\r\nContent-Disposition: form-data; name=\"file\"; filename=\"");
    for (const char *p = name; *p; p++) {
        if (*p == '"' || *p == '\\') fo_buf_char(b, '\\');
        fo_buf_char(b, *p == '\r' || *p == '\n' ? '_' : *p);
    }
    fo_buf_str(b, "\"\r\nContent-Type: application/octet-stream\r\n\r\n");
    fo_buf_add(b, data, n);
    fo_buf_str(b, "\r\n");
    return maybe_send(t, err);
}

static int add_line(target *t, const char *line, size_t n, const char *label, fo_err *err) {
    if (!t->client) return ingest_batch_add_json(t->batch, line, n, label, err);
    fo_buf_add(&t->lines, line, n);
    fo_buf_char(&t->lines, '\n');
    return maybe_send(t, err);
}

static bool ends_with(const char *s, const char *end) {
    size_t n = strlen(s), k = strlen(end);
    return n >= k && !strcasecmp(s + n - k, end);
}

static bool is_lines(const char *path) {
    return ends_with(path, ".jsonl") || ends_with(path, ".ndjson");
}

/* ---- what is read --------------------------------------------------------------------------- */

static int ingest_lines(target *t, FILE *f, const char *name, fo_err *err) {
    char *line = NULL;
    size_t cap = 0, number = 0;
    ssize_t n;
    int rc = FO_OK;
    errno = 0;
    while (!rc && (n = getline(&line, &cap, f)) >= 0) {
        number++;
        while (n && (line[n - 1] == '\n' || line[n - 1] == '\r' || line[n - 1] == ' ')) n--;
        if (!n) continue;
        char label[96];
        snprintf(label, sizeof label, "%.64s:%zu", name, number);
        rc = add_line(t, line, (size_t)n, label, err);
    }
    if (!rc && ferror(f)) rc = fo_fail_errno(err, "cannot read %s", name);
    free(line);
    return rc;
}

static int ingest_file(target *t, const char *path, fo_err *err) {
    char *data;
    size_t n;
    fo_err why = {0};
    if (is_lines(path)) {
        FILE *f = fopen(path, "re");
        if (!f) {
            fo_fail_errno(&why, "cannot open it");
            t->totals.n[INGEST_FAILED]++;
            return on_failed(t, path, &why), FO_OK;
        }
        int rc = ingest_lines(t, f, path, err);
        fclose(f);
        return rc;
    }
    if (fo_file_read(path, FILE_MAX_BYTES, &data, &n, &why)) {
        t->totals.n[INGEST_FAILED]++;
        return on_failed(t, path, &why), FO_OK;
    }
    int rc = add_file(t, document_id(path), path, data, n, err);
    free(data);
    return rc;
}

static int compare_names(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* A folder in order of names; hidden entries and links are left out. */
static int ingest_folder(target *t, const char *path, int depth, fo_err *err) {
    DIR *d = opendir(path);
    fo_err why = {0};
    if (!d || depth > DEPTH_MAX) {
        if (d)
            fo_fail(&why, FO_ELIMIT, "nested deeper than %d folders", DEPTH_MAX);
        else
            fo_fail_errno(&why, "cannot open the folder");
        if (d) closedir(d);
        on_failed(t, path, &why);
        return FO_OK;
    }
    char **names = NULL;
    size_t n = 0;
    int rc = FO_OK;
    for (struct dirent *e; !rc && (e = readdir(d));) {
        if (e->d_name[0] == '.') continue;
        char **more = realloc(names, (n + 1) * sizeof *more);
        if (more) names = more;
        if (!more || !(names[n] = strdup(e->d_name)))
            rc = fo_fail(err, FO_ENOMEM, "out of memory");
        else
            n++;
    }
    closedir(d);
    if (n) qsort(names, n, sizeof *names, compare_names);
    for (size_t i = 0; i < n; i++) {
        char child[4096];
        struct stat st;
        bool fits = snprintf(child, sizeof child, "%s%s%s", path, ends_with(path, "/") ? "" : "/",
                             names[i]) < (int)sizeof child;
        if (!rc && fits && lstat(child, &st) == 0) {
            if (S_ISDIR(st.st_mode))
                rc = ingest_folder(t, child, depth + 1, err);
            else if (S_ISREG(st.st_mode) && (extract_knows_file(child) || is_lines(child)))
                rc = ingest_file(t, child, err);
        }
        free(names[i]);
    }
    free(names);
    return rc;
}

static int ingest_path(target *t, const char *path, fo_err *err) {
    if (!strcmp(path, "-")) return ingest_lines(t, stdin, "stdin", err);
    struct stat st;
    if (stat(path, &st) != 0) {
        fo_err why = {0};
        fo_fail_errno(&why, "cannot open it");
        t->totals.n[INGEST_FAILED]++;
        return on_failed(t, path, &why), FO_OK;
    }
    if (!S_ISDIR(st.st_mode)) return ingest_file(t, path, err);
    return ingest_folder(t, path, 0, err);
}

static int ingest_list(target *t, const char *list, fo_err *err) {
    FILE *f = strcmp(list, "-") ? fopen(list, "re") : stdin;
    if (!f) return fo_fail_errno(err, "cannot open %s", list);
    char *line = NULL;
    size_t cap = 0;
    ssize_t n;
    int rc = FO_OK;
    while (!rc && (n = getline(&line, &cap, f)) >= 0) {
        while (n && (line[n - 1] == '\n' || line[n - 1] == '\r')) line[--n] = 0;
        if (n) rc = ingest_path(t, line, err);
    }
    free(line);
    if (f != stdin) fclose(f);
    return rc;
}

/* ---- the command ---------------------------------------------------------------------------- */

static int open_target(target *t, fo_err *err) {
    if (o.url) return client_open(&t->client, o.url, o.key, err);
    int rc = cli_models_open(&t->service,
                             &(service_options){.home = o.home, .n_threads = (int)o.threads}, err);
    if (rc) return rc;
    ingest_batch_options opt = {.service = t->service,
                                .ingest = {.tenant = "default",
                                           .collection = o.collection,
                                           .language = o.language,
                                           .max_tokens = (size_t)o.max_tokens,
                                           .overlap = o.overlap < 0 ? SIZE_MAX : (size_t)o.overlap},
                                .max_docs = BATCH_DOCUMENTS,
                                .max_bytes = BATCH_BYTES,
                                .progress = on_progress,
                                .failed = on_failed,
                                .ctx = t};
    return ingest_batch_create(&t->batch, &opt, err);
}

static void print_totals(const target *t, double seconds) {
    const size_t *n = t->totals.n;
    if (!o.json) {
        printf("%zu created, %zu updated, %zu unchanged, %zu failed; %zu chunks; %.1f s\n",
               n[INGEST_CREATED], n[INGEST_UPDATED], n[INGEST_UNCHANGED], n[INGEST_FAILED],
               t->totals.n_chunks, seconds);
        const ingest_report *r = &t->totals.report; /* of all threads together */
        printf("seconds in: extract %.2f, chunk %.2f, embed %.2f, index %.2f, commit %.2f\n",
               r->extract_ms / 1000, r->chunk_ms / 1000, r->embed_ms / 1000, r->index_ms / 1000,
               r->commit_ms / 1000);
        return;
    }
    fo_buf b = {0};
    json_out out = {&b, false};
    json_out_open(&out, NULL, '{');
    json_out_string(&out, "collection", o.collection);
    for (int i = 0; i < 4; i++)
        json_out_int(&out, ingest_status_name((enum ingest_status)i), (int64_t)n[i]);
    json_out_int(&out, "chunks", (int64_t)t->totals.n_chunks);
    json_out_number(&out, "seconds", seconds);
    fo_buf_str(&b, ",\"timings_ms\":");
    ingest_write_timings(&b, &t->totals.report, seconds * 1000);
    json_out_close(&out, '}');
    if (!b.failed) cli_print_json(&b);
    fo_buf_free(&b);
}

static int run(int argc, char **argv) {
    if (!argc && !o.files_from) return cli_wrong_usage("ingest needs a path, or --files-from");
    if (!service_name_valid(o.collection))
        return cli_wrong_usage("--collection must be 1 to 64 of A-Z a-z 0-9 _ - .");
    if (o.overlap >= 0 && o.overlap >= (o.max_tokens ? o.max_tokens : 256) / 2)
        return cli_wrong_usage("--overlap must be less than half of --max-tokens");
    fo_err err = {0};
    target t = {.paths = argv, .n_paths = argc};
    for (int i = 0; i < argc; i++)
        if (!strcmp(argv[i], "-") || is_lines(argv[i])) t.has_lines = true;
    int64_t began = log_now_ms();
    int rc = open_target(&t, &err);
    if (!rc) {
        t.progress = progress_begin("ingest", "documents", 0, o.json);
        for (int i = 0; i < argc && !rc; i++) rc = ingest_path(&t, argv[i], &err);
        if (!rc && o.files_from) rc = ingest_list(&t, o.files_from, &err);
        if (!rc) rc = flush(&t, &err);
        if (t.batch) {
            size_t unread = t.totals.n[INGEST_FAILED]; /* counted here, never reached the batch */
            t.totals = *ingest_batch_totals(t.batch);
            t.totals.n[INGEST_FAILED] += unread;
        }
        progress_end(t.progress);
    }
    ingest_batch_free(t.batch);
    service_close(t.service);
    client_close(t.client);
    fo_buf_free(&t.form);
    fo_buf_free(&t.lines);
    if (rc) return cli_fail(&err);
    print_totals(&t, (double)(log_now_ms() - began) / 1000);
    const size_t *n = t.totals.n;
    bool nothing =
        n[INGEST_FAILED] && !n[INGEST_CREATED] && !n[INGEST_UPDATED] && !n[INGEST_UNCHANGED];
    return t.named_failed || nothing ? 1 : 0;
}

const cli_command cli_command_ingest = {
    "ingest",
    "take documents in: files, folders, .jsonl, stdin",
    "forage ingest PATH... [--home DIR | --url URL] [--collection C]\n"
    "forage ingest --files-from LIST ...\n"
    "producer | forage ingest - ...",
    "A folder is read with all below it, in formats that are known by their ending (hidden files\n"
    "and links are left out). A .jsonl file, and stdin (-), hold a document a line:\n"
    "  "
    "{\"id\":\"kb-1\",\"text\":\"...\",\"title\":\"...\",\"uri\":\"...\",\"metadata\":{\"year\":"
    "2026}}\n"
    "A file's id is its path, so that the same path again means unchanged or updated.\n"
    "Exit status 1 where a path that was named, or everything, failed.",
    options,
    0,
    -1,
    run};
