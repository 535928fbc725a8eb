/* forage ingest: files, folders, .jsonl and stdin into a home or a running service. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/extract/archive.h"
#include "data/extract/extract.h"
#include "data/extract/text_parts.h"
#include "data/files/folder_walk.h"
#include "kernels/file.h"
#include "retrieval/collections/catalog.h"
#include "server/cli/cli.h"
#include "server/cli/cli_models.h"
#include "server/cli/file_names.h"
#include "server/cli/folder_report.h"
#include "server/cli/ingest_sender.h"
#include "server/cli/json_lines.h"
#include "server/http/client.h"
#include "server/routes/ingest_batch.h"
#include "server/routes/ingest_call.h"
#include "server/base/json.h"
#include "server/base/log.h"
#include "server/base/printable.h"
#include "server/cli/output_form.h"
#include "server/cli/progress.h"

#define BATCH_BYTES     ((size_t)4 << 20)
#define BATCH_DOCUMENTS 256
#define ID_MAX_BYTES    512
#define PARTS_HEAD      (32 << 10) /* of a file, that tell whether it goes in by parts */
#define READ_BYTES      (64 << 10)

static struct {
    const char *home, *url, *key, *collection, *language, *files_from, *base, *acl;
    int64_t max_tokens, overlap, threads, max_file;
} o = {.home = "home", .collection = "default", .overlap = -1, .max_file = 64 << 20};

static const cli_option options[] = {
    {"home", CLI_STRING, &o.home, "DIR", "the home to fill (default: home)"},
    {"url", CLI_STRING, &o.url, "URL", "a running service to send to instead"},
    {"api-key", CLI_STRING, &o.key, "KEY", "for --url"},
    {"collection", CLI_STRING, &o.collection, "NAME", "default: default"},
    {"acl", CLI_STRING, &o.acl, "A,B",
     "groups that may see these documents, but those that have an acl of their own (default: "
     "everybody)",
     .flag_only = true},
    CLI_CHUNK_OPTIONS(o),
    CLI_INGEST_MEMORY_OPTION,
    CLI_ORIGINALS_OPTION,
    {"base", CLI_STRING, &o.base, "DIR",
     "name files by their paths below this folder (default: the working folder)"},
    {"max-file", CLI_BYTES, &o.max_file, "BYTES",
     "larger files of a folder are left out and named; 0: any size (default 64M)"},
    {"files-from", CLI_STRING, &o.files_from, "FILE", "a path a line; - for stdin",
     .flag_only = true},
    CLI_EMBED_OPTIONS,
    CLI_OCR_OPTIONS,
    {"threads", CLI_INT, &o.threads, "N", "for --home (default: all)", .max = 1024},
    CLI_PROGRESS_OPTION,
    CLI_OUTPUT_OPTION,
    {0}};

/* ---- where documents go: a home, or a service ---------------------------------------------- */

typedef struct target {
    progress *progress;
    ingest_counts counts; /* within documents; of a home alone */
    ingest_totals totals;
    size_t n_unread; /* failed here, before any document was made of them */
    skip_counts skipped;
    fo_buf failures; /* JSON: the first ones */
    size_t n_failures;
    /* of the path that is being read: file_names.h */
    file_names names;
    bool look_up; /* the collection may hold its files under another name than the new one */
    enum { UNKNOWN, SOME, NONE } from_root; /* are documents named from the root, below the base? */
    /* home */
    service *service;
    ingest_batch *batch;
    char *acl; /* as JSON; NULL: none */
    size_t n_titles;
    double titles_s;
    /* service */
    client *client;
    ingest_sender *sender;
    textless_names textless;
} target;

/* Said, and kept for the report. Ids are names of files here. */
static void on_failed(void *ctx, const char *id, const fo_err *cause) {
    target *t = ctx;
    fo_err of_file = *cause;
    const fo_err *why = &of_file;
    ingest_error_of_file(&of_file);
    if (t->n_failures++ < FOLDER_SYNC_FAILURES) {
        json_out w = {&t->failures, t->n_failures > 1};
        json_out_open(&w, NULL, '{');
        json_out_string(&w, "file", id ? id : "document");
        json_out_string(&w, "reason", why->msg);
        json_out_close(&w, '}');
    }
    if (isatty(STDERR_FILENO)) fputs("\r\033[K", stderr); /* over the bar, which is drawn again */
    printable_say(stderr, "forage: %s: %s", id ? id : "document", why->msg);
}

static void on_textless(void *ctx, const char *id) {
    target *t = ctx;
    folder_report_note_textless(&t->textless, id ? id : "document");
}

/* A member of an archive that is of no kind that is read. */
static void on_skipped(void *ctx, const char *id, const char *kind) {
    target *t = ctx;
    (void)id;
    skip_counts_add(&t->skipped, kind);
}

/* A file or folder that could not be read. */
static void unread(target *t, const char *path, const fo_err *why) {
    t->n_unread++;
    on_failed(t, path, why);
}

static void on_progress(void *ctx, const ingest_totals *totals) {
    target *t = ctx;
    progress_set(t->progress, totals->n_all);
}

/* The route, with what the options say. */
static void ingest_path_of(fo_buf *path) {
    fo_buf_str(path, "/ingest?wait=true");
    if (o.acl) client_query_part(path, "acl", o.acl);
    client_query_part(path, "collection", o.collection);
    if (o.language) client_query_part(path, "language", o.language);
    if (o.max_tokens) fo_buf_printf(path, "&max_tokens=%lld", (long long)o.max_tokens);
    if (cli_model_flags.ocr) client_query_part(path, "ocr", cli_model_flags.ocr);
    if (cli_model_flags.ocr_language)
        client_query_part(path, "ocr_language", cli_model_flags.ocr_language);
    if (o.overlap >= 0) fo_buf_printf(path, "&overlap=%lld", (long long)o.overlap);
}

static int flush(target *t, fo_err *err) {
    return t->sender ? ingest_sender_flush(t->sender, err) : ingest_batch_flush(t->batch, err);
}

/* One that is too long is none: the document is then called by its content. */
static const char *known_id(const char *id) {
    return strlen(id) <= ID_MAX_BYTES ? id : NULL;
}

static int add_file(target *t, const char *id, const char *path, const void *data, size_t n,
                    fo_err *err) {
    const char *name = strrchr(path, '/');
    name = name ? name + 1 : path;
    if (!t->client) {
        ingest_document d = {
            .id = known_id(id), .uri = id, .file_name = name, .bytes = data, .n_bytes = n};
        return ingest_batch_add(t->batch, &d, err);
    }
    return ingest_sender_add_file(t->sender, known_id(id), id, name, data, n, err);
}

static int add_line(void *ctx, const char *line, size_t n, const char *label, fo_err *err) {
    target *t = ctx;
    if (!t->client) return ingest_batch_add_json(t->batch, line, n, label, err);
    return ingest_sender_add_line(t->sender, line, n, label, err);
}

static bool ends_with(const char *s, const char *end) {
    size_t n = strlen(s), k = strlen(end);
    return n >= k && !strcasecmp(s + n - k, end);
}

static bool is_lines(const char *path) {
    return ends_with(path, ".jsonl") || ends_with(path, ".ndjson");
}

/* ---- what files are called ------------------------------------------------------------------ */

static int none(int rc, bool *held) {
    if (rc == FO_ECORRUPT) { /* it is there, and damaged: what comes in replaces it */
        *held = true;
        return FO_OK;
    }
    if (rc != FO_ENOTFOUND) return rc;
    *held = false;
    return FO_OK;
}

/* Does the collection hold this document? */
static int holds(target *t, const char *id, bool *held, fo_err *err) {
    *held = false;
    if (strlen(id) > ID_MAX_BYTES || !*id) return FO_OK;
    fo_err own = {0};
    int rc;
    if (t->client) {
        fo_buf path = {0}, reply = {0};
        fo_buf_str(&path, "/documents/");
        client_escape(&path, id);
        fo_buf_str(&path, "?text=false");
        client_query_part(&path, "collection", o.collection);
        rc = path.failed ? fo_no_memory(&own) : client_get(t->client, path.data, &reply, &own);
        fo_buf_free(&path);
        fo_buf_free(&reply);
    } else {
        store_document d = {0};
        rc = catalog_get_document(service_catalog(t->service), "default", o.collection, id, NULL,
                                  false, &d, &own);
        store_document_deinit(&d);
    }
    *held = !rc;
    rc = none(rc, held);
    if (rc) *err = own;
    return rc;
}

/* Does it hold documents whose ids begin with these folders? */
static int holds_below(target *t, const char *folder, bool *held, fo_err *err) {
    *held = false;
    fo_buf prefix = {0}, path = {0}, reply = {0};
    fo_err own = {0};
    int rc = FO_OK;
    fo_buf_str(&prefix, folder);
    if (prefix.len && prefix.data[prefix.len - 1] != '/') fo_buf_char(&prefix, '/');
    if (!prefix.data || prefix.failed) {
        rc = prefix.failed ? fo_no_memory(&own) : FO_OK;
    } else if (t->client) {
        fo_buf_str(&path, "/documents?limit=1");
        client_query_part(&path, "collection", o.collection);
        client_query_part(&path, "after", prefix.data);
        rc = path.failed ? fo_no_memory(&own) : client_get(t->client, path.data, &reply, &own);
        cJSON *root = rc ? NULL : cJSON_ParseWithLength(reply.data, reply.len);
        const char *id = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(root, "last_id"));
        *held = id && !strncmp(id, prefix.data, prefix.len);
        cJSON_Delete(root);
    } else {
        store_document *docs = NULL;
        size_t n = 0;
        bool more;
        rc = catalog_list_documents(service_catalog(t->service), "default", o.collection,
                                    prefix.data, 1, &docs, &n, &more, &own);
        *held = n && !strncmp(docs[0].id, prefix.data, prefix.len);
        for (size_t i = 0; i < n; i++) store_document_deinit(&docs[i]);
        free(docs);
    }
    fo_buf_free(&prefix);
    fo_buf_free(&path);
    fo_buf_free(&reply);
    rc = none(rc, held);
    if (rc) *err = own;
    return rc;
}

/* Before the files of a path are read: is there any need to look for their other names? */
static int begin_names(target *t, bool folder, fo_err *err) {
    const file_names *f = &t->names;
    t->look_up = false;
    for (int i = 0; i < FILE_NAMES && !t->look_up; i++) {
        const char *name = f->name[i];
        if (!name || name == f->new_name) continue;
        if (i == 0) { /* once for all paths: most collections hold none such */
            size_t base = strlen(name) - strlen(f->new_name);
            char *above = strndup(name, base);
            bool some = false;
            int rc = !above                    ? fo_no_memory(err)
                     : t->from_root != UNKNOWN ? FO_OK
                                               : holds_below(t, above, &some, err);
            free(above);
            if (rc) return rc;
            if (t->from_root == UNKNOWN) t->from_root = some ? SOME : NONE;
            if (t->from_root == NONE) continue;
        }
        int rc = folder ? holds_below(t, name, &t->look_up, err) : holds(t, name, &t->look_up, err);
        if (rc) return rc;
    }
    return FO_OK;
}

/* The id of a file: of the path itself (child "") or of one below it. */
static int name_file(target *t, const char *child, fo_buf *out, fo_err *err) {
    for (int i = 0; i < FILE_NAMES && t->look_up; i++) {
        if (!t->names.name[i]) continue;
        bool held;
        file_names_join(out, t->names.name[i], child);
        if (out->failed) break;
        int rc = holds(t, out->data ? out->data : "", &held, err);
        if (rc || held) return rc;
    }
    file_names_join(out, t->names.new_name, child);
    return out->failed || !out->data ? fo_no_memory(err) : FO_OK;
}

/* ---- large texts ---------------------------------------------------------------------------- */

static int add_large(target *t, int fd, const char *id, const char *name, const char *head,
                     size_t n_head, const text_kind *kind, fo_err *err) {
    ingest_document d = {
        .id = known_id(id), .uri = id, .file_name = name, .bytes = head, .n_bytes = n_head};
    char *piece = malloc(READ_BYTES);
    int rc = piece ? ingest_batch_begin_parts(t->batch, &d, kind, err) : fo_no_memory(err);
    for (ssize_t n = 1; !rc && n > 0;) {
        n = read(fd, piece, READ_BYTES);
        if (n < 0 && errno == EINTR) {
            n = 1;
            continue;
        }
        if (n < 0) rc = fo_fail_errno(err, "cannot read %s", id);
        if (n > 0) rc = ingest_batch_feed_parts(t->batch, piece, (size_t)n, err);
    }
    free(piece);
    return ingest_batch_end_parts(t->batch, rc, err);
}

/* *taken: it is such a text, and went in; child is what name_file takes. fd is left open. */
static int ingest_parts(target *t, int fd, const char *path, const char *child, bool *taken,
                        fo_err *err) {
    struct stat st;
    char head[PARTS_HEAD];
    text_kind kind;
    *taken = false;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) ||
        !text_file_may_be_large(fd, (uint64_t)st.st_size))
        return FO_OK;
    ssize_t n = pread(fd, head, sizeof head, 0);
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    if (n <= 0 || !extract_in_parts(head, (size_t)n, NULL, name, &kind)) return FO_OK;
    *taken = true;
    fo_buf id = {0};
    int rc = name_file(t, child, &id, err);
    if (!rc)
        rc = t->sender
                 ? ingest_sender_stream_file(t->sender, fd, known_id(id.data), id.data, name, err)
                 : add_large(t, fd, id.data, name, head, (size_t)n, &kind, err);
    fo_buf_free(&id);
    return rc;
}

/* A file that was named itself: never skipped. */
static int ingest_file(target *t, const char *path, fo_err *err) {
    char *data;
    size_t n;
    fo_err why = {0};
    if (is_lines(path)) {
        FILE *f = fopen(path, "re");
        if (!f) {
            fo_fail_errno(&why, "cannot open it");
            return unread(t, path, &why), FO_OK;
        }
        int rc = json_lines_read(f, path, add_line, t, err);
        fclose(f);
        return rc;
    }
    bool taken = false;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    int rc = fd < 0 ? FO_OK : ingest_parts(t, fd, path, "", &taken, err);
    if (fd >= 0) close(fd);
    if (rc || taken) return rc;
    size_t most = o.max_file ? (size_t)o.max_file : SIZE_MAX;
    rc = fo_file_read(path, most, &data, &n, &why);
    if (rc == FO_ELIMIT)
        fo_fail(&why, rc, "it is larger than the %lld bytes that --max-file allows",
                (long long)o.max_file);
    if (!rc && !n) {
        free(data);
        rc = fo_fail(&why, FO_EINVAL, "it is empty");
    }
    if (rc) return unread(t, path, &why), FO_OK;
    fo_buf id = {0};
    rc = name_file(t, "", &id, err);
    if (!rc) rc = add_file(t, id.data, path, data, n, err);
    fo_buf_free(&id);
    free(data);
    return rc;
}

/* ---- folders ---------------------------------------------------------------------------- */

typedef struct ingest_walk {
    target *t;
    const char *path;
    fo_buf joined;
} ingest_walk;

/* What lies at `child` of it, as it would be typed. */
static const char *join(ingest_walk *f, const char *child) {
    file_names_join(&f->joined, f->path, child);
    return f->joined.data && !f->joined.failed ? f->joined.data : f->path;
}

static void on_walk_failed(void *ctx, const char *child, const fo_err *why) {
    ingest_walk *f = ctx;
    unread(f->t, join(f, child), why);
}

static void on_left_out(void *ctx, const char *child, const char *kind, int64_t size) {
    ingest_walk *f = ctx;
    folder_report_left_out(join(f, child), kind, size, o.max_file);
}

static int is_wanted(const char *name) {
    return is_lines(name) ? 2
           : extract_knows_file(name) || archive_knows_file(name)
               ? 1
               : cli_ocr_is_on() && extract_knows_image(name);
}

static int ingest_file_of(ingest_walk *f, int fd, const char *child, fo_err *err) {
    target *t = f->t;
    const char *path = join(f, child);
    struct stat st;
    fo_err why = {0};
    if (is_lines(child)) {
        int file = folder_open_file(fd, child, &st, &why);
        FILE *lines = file < 0 ? NULL : fdopen(file, "r");
        if (!lines) return unread(t, path, &why), FO_OK;
        int rc = json_lines_read(lines, path, add_line, t, err);
        fclose(lines);
        return rc;
    }
    bool taken = false;
    int file = folder_open_file(fd, child, &st, &why);
    if (file < 0) return unread(t, path, &why), FO_OK;
    int rc = ingest_parts(t, file, path, child, &taken, err);
    close(file);
    if (rc || taken) return rc;
    char *data;
    size_t n;
    if (folder_read_file(fd, child, o.max_file, &data, &n, &st, &why))
        return unread(t, path, &why), FO_OK;
    fo_buf id = {0};
    rc = name_file(t, child, &id, err);
    if (!rc) rc = add_file(t, id.data, path, data, n, err);
    fo_buf_free(&id);
    free(data);
    return rc;
}

/* A folder in order of names; what is left out is counted. */
static int ingest_folder(target *t, const char *path, fo_err *err) {
    ingest_walk f = {t, path, {0}};
    fo_err why = {0};
    int fd = folder_open(path, &why);
    if (fd < 0) return unread(t, path, &why), FO_OK;
    struct stat home;
    bool at_home = !t->client && stat(o.home, &home) == 0;
    folder_walk w = {.wanted = is_wanted,
                     .except = at_home ? &home : NULL,
                     .max_file_bytes = o.max_file,
                     .failed = on_walk_failed,
                     .left_out = on_left_out,
                     .ctx = &f};
    folder_listing found;
    int rc = folder_walk_run(&w, fd, &found, err);
    skip_counts_join(&t->skipped, &found.skipped);
    for (size_t i = 0; i < found.n && !rc; i++)
        rc = ingest_file_of(&f, fd, found.files[i].path, err);
    folder_listing_deinit(&found);
    fo_buf_free(&f.joined);
    close(fd);
    return rc;
}

static int ingest_path(target *t, const char *path, fo_err *err) {
    if (!strcmp(path, "-")) return json_lines_read(stdin, "stdin", add_line, t, err);
    struct stat st;
    fo_err why = {0};
    if (stat(path, &st) != 0) {
        fo_fail_errno(&why, "cannot open it");
        return unread(t, path, &why), FO_OK;
    }
    if (file_names_make(&t->names, path, o.base, &why)) return unread(t, path, &why), FO_OK;
    bool folder = S_ISDIR(st.st_mode);
    int rc = is_lines(path) && !folder ? FO_OK : begin_names(t, folder, err);
    if (!rc) rc = folder ? ingest_folder(t, path, err) : ingest_file(t, path, err);
    file_names_deinit(&t->names);
    return rc;
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
    if (!rc && ferror(f)) rc = fo_fail_errno(err, "cannot read %s", list);
    free(line);
    if (f != stdin) fclose(f);
    return rc;
}

/* ---- the command ---------------------------------------------------------------------------- */

static int open_sender(target *t, fo_err *err) {
    int rc = client_open(&t->client, o.url, o.key, err);
    if (rc) return rc;
    fo_buf path = {0};
    ingest_path_of(&path);
    const ingest_sender_options opt = {.client = t->client,
                                       .path = path.data,
                                       .max_docs = BATCH_DOCUMENTS,
                                       .max_bytes = BATCH_BYTES,
                                       .progress = on_progress,
                                       .failed = on_failed,
                                       .textless = on_textless,
                                       .skipped = on_skipped,
                                       .ctx = t};
    rc = path.failed ? fo_no_memory(err) : ingest_sender_create(&t->sender, &opt, err);
    fo_buf_free(&path);
    return rc;
}

static int open_target(target *t, fo_err *err) {
    if (o.url) return open_sender(t, err);
    int rc = cli_models_open(&t->service,
                             &(service_options){.home = o.home, .n_threads = (int)o.threads}, err);
    if (rc) return rc;
    store_collection c = {0};
    fo_err why = {0};
    rc = catalog_get_collection(service_catalog(t->service), "default", o.collection, &c, &why);
    if (!rc) {
        embedder *of = NULL;
        if (c.embedder[0]) rc = service_embedder_of(t->service, c.embedder, &of, &why);
        if (!rc && c.embedder[0] && !of)
            rc = service_foreign_sentence(t->service, c.name, &why); /* of every document, else */
    }
    store_collection_deinit(&c);
    if (rc && rc != FO_ENOTFOUND) {
        *err = why;
        return rc;
    }
    if (o.acl && (rc = ingest_acl_read(&t->acl, o.acl, err))) return rc;
    ingest_batch_options opt = {.service = t->service,
                                .acl = t->acl,
                                .ingest = {.tenant = "default",
                                           .collection = o.collection,
                                           .language = o.language,
                                           .max_tokens = (size_t)o.max_tokens,
                                           .overlap = o.overlap < 0 ? SIZE_MAX : (size_t)o.overlap,
                                           .counts = &t->counts},
                                .max_docs = BATCH_DOCUMENTS,
                                .max_bytes = BATCH_BYTES,
                                .progress = on_progress,
                                .failed = on_failed,
                                .textless = on_textless,
                                .skipped = on_skipped,
                                .spool_dir = o.home,
                                .ctx = t};
    return ingest_batch_create(&t->batch, &opt, err);
}

static void print_totals(target *t, double seconds) {
    const size_t *n = t->totals.n;
    if (output_asked() == OUTPUT_TABLE) {
        printf("%zu created, %zu updated, %zu unchanged, %zu failed; %zu chunks; %.1f s\n",
               n[INGEST_CREATED], n[INGEST_UPDATED], n[INGEST_UNCHANGED], n[INGEST_FAILED],
               t->totals.n_chunks, seconds);
        const ingest_report *r = &t->totals.report; /* of all threads together */
        printf("seconds in: extract %.2f, chunk %.2f, embed %.2f, index %.2f, commit %.2f",
               r->extract_ms / 1000, r->chunk_ms / 1000, r->embed_ms / 1000, r->index_ms / 1000,
               r->commit_ms / 1000);
        if (t->service) printf(", titles %.2f", t->titles_s);
        puts("");
        if (t->totals.n_outdated)
            printf(
                "%zu of earlier versions deleted: what was one text is another number of parts\n",
                t->totals.n_outdated);
        if (t->totals.n_textless) printf("%zu without text\n", t->totals.n_textless);
        folder_report_print_skipped(&t->skipped);
        return;
    }
    fo_buf b = {0};
    json_out out = {&b, false};
    json_out_open(&out, NULL, '{');
    json_out_string(&out, "collection", o.collection);
    for (int i = 0; i < 4; i++)
        json_out_int(&out, ingest_status_name((enum ingest_status)i), (int64_t)n[i]);
    json_out_int(&out, "skipped", (int64_t)t->skipped.n);
    json_out_open(&out, "skipped_by_kind", '{');
    skip_counts_sort(&t->skipped);
    for (size_t i = 0; i < t->skipped.n_kinds; i++)
        json_out_int(&out, t->skipped.by[i].kind, (int64_t)t->skipped.by[i].n);
    json_out_close(&out, '}');
    json_out_open(&out, "failures", '[');
    if (t->failures.len) fo_buf_add(&b, t->failures.data, t->failures.len);
    json_out_close(&out, ']');
    json_out_int(&out, "without_text", (int64_t)t->totals.n_textless);
    json_out_int(&out, "outdated", (int64_t)t->totals.n_outdated);
    json_out_int(&out, "chunks", (int64_t)t->totals.n_chunks);
    json_out_int(&out, "titles_embedded", (int64_t)t->n_titles);
    json_out_number(&out, "seconds", seconds);
    fo_buf_str(&b, ",\"timings_ms\":");
    ingest_write_timings(&b, &t->totals.report, seconds * 1000);
    json_out_close(&out, '}');
    if (!b.failed) output_print(&b);
    fo_buf_free(&b);
}

static bool in_time(void *ctx) {
    return log_now_ms() < *(const int64_t *)ctx;
}

/* Titles are met by meaning as soon as the encoder has seen them (docs/answers.md). That shall not take longer than the
 * documents did; what is left over, a service does. */
static void embed_titles(target *t, int64_t began) {
    enum { AT_LEAST_MS = 5000 };
    if (!t->service || !(t->totals.n[INGEST_CREATED] + t->totals.n[INGEST_UPDATED])) return;
    const int64_t now = log_now_ms(), took = now - began;
    int64_t until = now + (took > AT_LEAST_MS ? took : AT_LEAST_MS);
    fo_err why = {0};
    const int rc = service_embed_titles(t->service, "default", o.collection, in_time, &until,
                                        &t->n_titles, &why);
    t->titles_s = (double)(log_now_ms() - now) / 1000;
    if (rc && rc != FO_ECANCELLED && rc != FO_EUNSUPPORTED)
        fprintf(stderr, "forage: titles were not embedded: %s\n", why.msg);
}

/* A home that nobody serves keeps the vectors of the table: a person is told what finds more. */
static void advise(const target *t) {
    enum { LEAST = 500 }; /* chunks: of fewer, words find what there is */
    size_t n = 0;
    if (!t->service || output_asked() != OUTPUT_TABLE || !isatty(STDOUT_FILENO)) return;
    if (service_is_refinable(t->service, "default", o.collection, &n) && n >= LEAST)
        printf(
            "%zu chunks have vectors of the built-in table. What is said in other words is found "
            "better after\n  forage index rebuild --home %s --embed-model builtin-encoder\n(some "
            "hundred chunks a second); 'forage serve' does it by itself while nothing comes "
            "in.\n",
            n, o.home);
}

static int check_for_url(void) {
    if (cli_flagged("threads"))
        return cli_wrong_usage("with --url the service does the work: --threads is for --home");
    return cli_models_refuse_for_url(options);
}

static int run(int argc, char **argv) {
    if (!argc && !o.files_from) return cli_wrong_usage("ingest needs a path, or --files-from");
    if (!service_name_valid(o.collection))
        return cli_wrong_usage("--collection must be 1 to 64 of A-Z a-z 0-9 _ - .");
    if (o.overlap >= 0 && o.overlap >= (o.max_tokens ? o.max_tokens : 256) / 2)
        return cli_wrong_usage("--overlap must be less than half of --max-tokens");
    if (o.url && check_for_url()) return 2;
    struct stat st;
    if (o.base && (stat(o.base, &st) != 0 || !S_ISDIR(st.st_mode)))
        return cli_wrong_usage("--base %s is no folder", o.base);
    fo_err err = {0};
    if (argc && !o.files_from && !o.url && stat(o.home, &st) != 0 &&
        !file_names_one_there(argv, argc)) {
        fo_fail(&err, FO_ENOTFOUND, "there is no file or folder %s; no home is made in %s", argv[0],
                o.home);
        return cli_fail(&err);
    }
    target t = {0};
    int64_t began = log_now_ms();
    int rc = open_target(&t, &err);
    if (!rc) {
        t.progress = progress_begin_ingest("ingest", &t.counts, output_is_json());
        for (int i = 0; i < argc && !rc; i++) rc = ingest_path(&t, argv[i], &err);
        if (!rc && o.files_from) rc = ingest_list(&t, o.files_from, &err);
        if (!rc) rc = flush(&t, &err);
        t.totals = t.sender ? *ingest_sender_totals(t.sender) : *ingest_batch_totals(t.batch);
        t.totals.n[INGEST_FAILED] += t.n_unread;
        progress_end(t.progress);
    }
    ingest_batch_free(t.batch);
    ingest_sender_free(t.sender);
    client_close(t.client);
    free(t.acl);
    folder_report_say_textless(&t.textless, t.totals.n_textless);
    if (!rc) embed_titles(&t, began);
    if (!rc) print_totals(&t, (double)(log_now_ms() - began) / 1000);
    if (!rc) advise(&t);
    service_close(t.service);
    fo_buf_free(&t.failures);
    if (rc) return cli_fail(&err);
    return t.totals.n[INGEST_FAILED] ? 1 : 0;
}

const cli_command cli_command_ingest = {
    "ingest",
    "take documents in: files, folders, .jsonl, stdin",
    "forage ingest PATH... [--home DIR | --url URL] [--collection C] [--output "
    "text|table|json|md]\n"
    "forage ingest --files-from LIST ...\n"
    "producer | forage ingest - ...",
    "A folder is read with all below it, in formats that are known by their ending; what is left\n"
    "out (other endings, hidden files, node_modules, what machines make for machines such as\n"
    "lock files and .min.js, links, empty files, what .gitignore and .forageignore files say) is\n"
    "counted by kind. A .jsonl file, and stdin (-), hold a document a line:\n"
    "  "
    "{\"id\":\"kb-1\",\"text\":\"...\",\"title\":\"...\",\"uri\":\"...\",\"metadata\":{\"year\":"
    "2026}}\n"
    "A file's id and address are its path below --base (the working folder), or from the root\n"
    "where it lies elsewhere: notes, ./notes/ and /home/me/notes are the same documents, and the\n"
    "same file again is unchanged or updated. Exit status 1 where anything failed.",
    options,
    0,
    -1,
    run};
