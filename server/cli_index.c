/* forage index build | verify | stats | compact | rebuild: the derived files of a home, offline. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "retrieval/service.h"
#include "server/cli.h"
#include "server/cli_models.h"
#include "server/ingest_batch.h"
#include "server/json.h"
#include "server/log.h"
#include "server/progress.h"

static struct {
    const char *home, *collection, *language;
    cli_list input;
    int64_t threads, max_tokens, overlap;
    bool json;
} o = {.home = "home", .overlap = -1};

#define HOME_OPTION                                                                                \
    { "home", CLI_STRING, &o.home, "DIR", "the home to work on (default: home)" }
#define COLLECTION(t)                                                                              \
    { "collection", CLI_STRING, &o.collection, "NAME", t }
#define THREADS_OPTION                                                                             \
    { "threads", CLI_INT, &o.threads, "N", "default: all", .max = 1024 }
#define JSON_OPTION                                                                                \
    { "json", CLI_BOOL, &o.json, NULL, "one JSON object on stdout" }

static int open_home(service **s, bool read_only, fo_err *err) {
    service_options so = {.home = o.home, .n_threads = (int)o.threads, .read_only = read_only};
    return cli_models_open(s, &so, err);
}

/* ---- build ---------------------------------------------------------------------------------- */

static const cli_option build_options[] = {
    {"input", CLI_LIST, &o.input, "FILE",
     "a .jsonl corpus, a document a line; - for stdin; may be "
     "given again",
     .required = true, .flag_only = true},
    HOME_OPTION,
    COLLECTION("default: default"),
    {"language", CLI_STRING, &o.language, "NAME", "of a new collection (default: english)"},
    {"max-tokens", CLI_INT, &o.max_tokens, "N", "tokens of a chunk (default 256)", .min = 16,
     .max = 8192},
    {"overlap", CLI_INT, &o.overlap, "N", "tokens that neighbouring chunks share (default 32)",
     .min = 0, .max = 4095},
    CLI_EMBED_OPTIONS,
    THREADS_OPTION,
    JSON_OPTION,
    {0}};

static void on_progress(void *ctx, const ingest_totals *t) {
    progress_set(ctx, t->n_all);
}

static void on_failed(void *ctx, const char *id, const fo_err *why) {
    (void)ctx;
    fprintf(stderr, "forage: %s: %s\n", id ? id : "document", why->msg);
}

static int read_corpus(ingest_batch *b, const char *path, fo_err *err) {
    FILE *f = strcmp(path, "-") ? fopen(path, "re") : stdin;
    if (!f) return fo_fail_errno(err, "cannot open %s", path);
    char *line = NULL;
    size_t cap = 0, number = 0;
    ssize_t n;
    int rc = FO_OK;
    while (!rc && (n = getline(&line, &cap, f)) >= 0) {
        number++;
        while (n && (line[n - 1] == '\n' || line[n - 1] == '\r' || line[n - 1] == ' ')) n--;
        if (!n) continue;
        char label[96];
        snprintf(label, sizeof label, "%.64s:%zu", path, number);
        rc = ingest_batch_add_json(b, line, (size_t)n, label, err);
    }
    if (!rc && ferror(f)) rc = fo_fail_errno(err, "cannot read %s", path);
    free(line);
    if (f != stdin) fclose(f);
    return rc;
}

static int build_run(int argc, char **argv) {
    (void)argc, (void)argv;
    const char *collection = o.collection ? o.collection : "default";
    if (!service_name_valid(collection))
        return cli_wrong_usage("--collection must be 1 to 64 of A-Z a-z 0-9 _ - .");
    if (o.overlap >= 0 && o.overlap >= (o.max_tokens ? o.max_tokens : 256) / 2)
        return cli_wrong_usage("--overlap must be less than half of --max-tokens");
    fo_err err = {0};
    service *s = NULL;
    int64_t began = log_now_ms();
    int rc = open_home(&s, false, &err);
    if (rc) return cli_fail(&err);
    progress *p = progress_begin("index build", "documents", 0, o.json);
    /* Large batches: a commit and a publish each, against which nobody waits. */
    ingest_batch_options opt = {.service = s,
                                .ingest = {.tenant = "default",
                                           .collection = collection,
                                           .language = o.language,
                                           .max_tokens = (size_t)o.max_tokens,
                                           .overlap = o.overlap < 0 ? SIZE_MAX : (size_t)o.overlap},
                                .max_docs = 4096,
                                .max_bytes = (size_t)32 << 20,
                                .progress = on_progress,
                                .failed = on_failed,
                                .ctx = p};
    ingest_batch *b = NULL;
    rc = ingest_batch_create(&b, &opt, &err);
    for (size_t i = 0; i < o.input.n && !rc; i++) rc = read_corpus(b, o.input.items[i], &err);
    if (!rc) rc = ingest_batch_flush(b, &err);
    progress_end(p);
    ingest_totals t = b ? *ingest_batch_totals(b) : (ingest_totals){0};
    ingest_batch_free(b);
    service_close(s); /* seals the indexes */
    if (rc) return cli_fail(&err);
    double seconds = (double)(log_now_ms() - began) / 1000;
    if (o.json) {
        fo_buf text = {0};
        json_out out = {&text, false};
        json_out_open(&out, NULL, '{');
        json_out_string(&out, "collection", collection);
        for (int i = 0; i < 4; i++)
            json_out_int(&out, ingest_status_name((enum ingest_status)i), (int64_t)t.n[i]);
        json_out_int(&out, "chunks", (int64_t)t.n_chunks);
        json_out_number(&out, "seconds", seconds);
        fo_buf_str(&text, ",\"timings_ms\":");
        ingest_write_timings(&text, &t.report, seconds * 1000);
        json_out_close(&out, '}');
        puts(text.data);
        fo_buf_free(&text);
    } else {
        printf("%zu created, %zu updated, %zu unchanged, %zu failed; %zu chunks; %.1f s\n", t.n[0],
               t.n[1], t.n[2], t.n[3], t.n_chunks, seconds);
    }
    return t.n[INGEST_FAILED] ? 1 : 0;
}

const cli_command cli_command_index_build = {
    "index build",
    "build a home's indexes from a corpus, offline",
    "forage index build --input corpus.jsonl --home DIR [--collection C] [--threads N]",
    "Writes the very files that the server maps. Documents are stored too, so that a server can\n"
    "go on from there.",
    build_options,
    0,
    0,
    build_run};

/* ---- verify, stats, compact ----------------------------------------------------------------- */

static const cli_option work_options[] = {HOME_OPTION,       COLLECTION("default: all of them"),
                                          CLI_EMBED_OPTIONS, THREADS_OPTION,
                                          JSON_OPTION,       {0}};

typedef struct each {
    json_out out;
    int n, n_bad;
} each;

static void write_stats(json_out *out, const char *tenant, const char *collection,
                        search_index *ix) {
    search_index_stats st = {0};
    search_index_get_stats(ix, &st);
    json_out_string(out, "tenant", tenant);
    json_out_string(out, "collection", collection);
    json_out_int(out, "segments", (int64_t)st.n_segments);
    json_out_int(out, "chunks", (int64_t)st.n_chunks);
    json_out_int(out, "deleted", (int64_t)st.n_deleted);
    json_out_int(out, "terms", (int64_t)st.n_terms);
    json_out_int(out, "postings", (int64_t)st.n_postings);
    json_out_int(out, "bytes_files", (int64_t)st.bytes_files);
    json_out_int(out, "bytes_memory", (int64_t)st.bytes_memory);
    json_out_int(out, "bytes_written", (int64_t)st.bytes_written);
    json_out_int(out, "bytes_ingested", (int64_t)st.bytes_ingested);
    json_out_int(out, "epoch", search_index_epoch(ix));
    if (o.json) return;
    printf("%s/%s: %zu segments, %zu chunks (%zu deleted), %zu terms, %zu postings, %.1f MB in "
           "files, %.1f MB in memory\n",
           tenant, collection, st.n_segments, st.n_chunks, st.n_deleted, st.n_terms, st.n_postings,
           (double)st.bytes_files / 1e6, (double)st.bytes_memory / 1e6);
}

static int stats_one(void *ctx, const char *tenant, const char *collection, search_index *ix,
                     fo_err *err) {
    (void)err;
    each *e = ctx;
    e->n++;
    json_out_open(&e->out, NULL, '{');
    write_stats(&e->out, tenant, collection, ix);
    json_out_close(&e->out, '}');
    return FO_OK;
}

static int verify_one(void *ctx, const char *tenant, const char *collection, search_index *ix,
                      fo_err *err) {
    (void)err;
    each *e = ctx;
    fo_err why = {0};
    bool bad = search_index_verify(ix, &why) != FO_OK;
    e->n++;
    e->n_bad += bad;
    json_out_open(&e->out, NULL, '{');
    json_out_string(&e->out, "tenant", tenant);
    json_out_string(&e->out, "collection", collection);
    json_out_bool(&e->out, "sound", !bad);
    json_out_string(&e->out, "error", bad ? why.msg : NULL);
    json_out_close(&e->out, '}');
    if (!o.json) printf("%s/%s: %s\n", tenant, collection, bad ? why.msg : "sound");
    return FO_OK; /* the others are looked at too */
}

static int compact_one(void *ctx, const char *tenant, const char *collection, search_index *ix,
                       fo_err *err) {
    int rc = search_index_seal(ix, err);
    if (!rc) rc = search_index_compact(ix, err);
    return rc ? rc : stats_one(ctx, tenant, collection, ix, err);
}

static int each_run(service_index_fn *fn, bool writes, bool check_store) {
    fo_err err = {0};
    service *s = NULL;
    if (open_home(&s, !writes, &err)) return cli_fail(&err);
    fo_buf text = {0};
    each e = {.out = {&text, false}};
    json_out_open(&e.out, NULL, '{');
    fo_err store_err = {0};
    if (check_store) {
        bool bad = store_verify(service_store(s), &store_err) != FO_OK;
        e.n_bad += bad;
        json_out_bool(&e.out, "store_sound", !bad);
        json_out_string(&e.out, "store_error", bad ? store_err.msg : NULL);
        if (!o.json) printf("store: %s\n", bad ? store_err.msg : "sound");
    }
    json_out_open(&e.out, "collections", '[');
    int rc = service_each_index(s, o.collection ? "default" : NULL, o.collection, fn, &e, &err);
    json_out_close(&e.out, ']');
    json_out_close(&e.out, '}');
    service_close(s);
    if (rc)
        cli_fail(&err);
    else if (o.json)
        puts(text.data);
    else if (!e.n)
        puts("no collections");
    fo_buf_free(&text);
    return rc || e.n_bad ? 1 : 0;
}

static int verify_run(int argc, char **argv) {
    (void)argc, (void)argv;
    return each_run(verify_one, false, true);
}

static int stats_run(int argc, char **argv) {
    (void)argc, (void)argv;
    return each_run(stats_one, false, false);
}

static int compact_run(int argc, char **argv) {
    (void)argc, (void)argv;
    return each_run(compact_one, true, false);
}

const cli_command cli_command_index_verify = {
    "index verify",
    "check every checksum and invariant of store and indexes",
    "forage index verify --home DIR [--collection C] [--json]",
    "Exit status 1 where anything is not sound; 'forage index rebuild' makes indexes anew.",
    work_options,
    0,
    0,
    verify_run};
const cli_command cli_command_index_stats = {
    "index stats",
    "segments, chunks, postings, bytes of every index",
    "forage index stats --home DIR [--collection C] [--json]",
    NULL,
    work_options,
    0,
    0,
    stats_run};
const cli_command cli_command_index_compact = {
    "index compact",
    "merge all segments of an index into one, without what was deleted",
    "forage index compact --home DIR [--collection C]",
    NULL,
    work_options,
    0,
    0,
    compact_run};
