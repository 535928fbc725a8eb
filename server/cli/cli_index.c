/* forage index stats | compact: the derived files of a home, counted and tidied. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "retrieval/home/home.h"
#include "retrieval/service/service.h"
#include "server/cli/cli.h"
#include "server/cli/cli_models.h"
#include "server/cli/output_form.h"
#include "server/base/json.h"
#include "server/base/printable.h"

static struct {
    const char *home, *collection;
    int64_t threads;
} o = {.home = "home"};

#define HOME_OPTION                                                                                \
    { "home", CLI_STRING, &o.home, "DIR", "the home to work on (default: home)" }
#define COLLECTION(t)                                                                              \
    { "collection", CLI_STRING, &o.collection, "NAME", t }
#define THREADS_OPTION                                                                             \
    { "threads", CLI_INT, &o.threads, "N", "default: all", .max = 1024 }

static int open_home(service **s, bool read_only, fo_err *err) {
    service_options so = {.home = o.home, .n_threads = (int)o.threads, .read_only = read_only};
    return cli_models_open(s, &so, err);
}

/* ---- stats, compact ----------------------------------------------------------------- */

static const cli_option work_options[] = {HOME_OPTION,       COLLECTION("default: all of them"),
                                          CLI_EMBED_OPTIONS, THREADS_OPTION,
                                          CLI_OUTPUT_OPTION, {0}};

typedef struct each {
    service *service;
    json_out out;
    int n;
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
    double ingested = (double)st.bytes_ingested, written = (double)st.bytes_written;
    json_out_number(out, "write_amplification", ingested > 0 ? written / ingested : 0);
    json_out_int(out, "epoch", search_index_epoch(ix));
    if (output_asked() != OUTPUT_TABLE) return;
    char ratio[96] = "";
    if (ingested > 0)
        snprintf(ratio, sizeof ratio, "; %.1f MB written for %.1f MB ingested: %.2f times",
                 written / 1e6, ingested / 1e6, written / ingested);
    printable_say(stdout,
                  "%s/%s: %zu segments, %zu chunks (%zu deleted), %zu terms, %zu postings, %.1f MB "
                  "in files, %.1f MB in memory%s",
                  tenant, collection, st.n_segments, st.n_chunks, st.n_deleted, st.n_terms,
                  st.n_postings, (double)st.bytes_files / 1e6, (double)st.bytes_memory / 1e6,
                  ratio);
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

static int compact_one(void *ctx, const char *tenant, const char *collection, search_index *ix,
                       fo_err *err) {
    int rc = search_index_seal(ix, err);
    if (!rc) rc = search_index_compact(ix, err);
    return rc ? rc : stats_one(ctx, tenant, collection, ix, err);
}

static int each_run(service_index_fn *fn, bool writes) {
    fo_err err = {0};
    service *s = NULL;
    /* Opening for writing would make one. */
    if (home_must_exist(o.home, &err) || open_home(&s, !writes, &err)) return cli_fail(&err);
    fo_buf text = {0};
    each e = {.service = s, .out = {&text, false}};
    json_out_open(&e.out, NULL, '{');
    json_out_open(&e.out, "collections", '[');
    int rc = service_each_index(s, o.collection ? "default" : NULL, o.collection, fn, &e, &err);
    json_out_close(&e.out, ']');
    json_out_close(&e.out, '}');
    service_close(s);
    if (rc)
        cli_fail(&err);
    else if (output_asked() != OUTPUT_TABLE)
        output_print(&text);
    else if (!e.n)
        puts("no collections");
    fo_buf_free(&text);
    return rc ? 1 : 0;
}

static int stats_run(int argc, char **argv) {
    (void)argc, (void)argv;
    return each_run(stats_one, false);
}

static int compact_run(int argc, char **argv) {
    (void)argc, (void)argv;
    return each_run(compact_one, true);
}

const cli_command cli_command_index_stats = {
    "index stats",
    "segments, chunks, postings, bytes of every index",
    "forage index stats --home DIR [--collection C] [--output text|table|json|md]",
    "Written and ingested bytes are counted since the index was made, up to its last file; their\n"
    "ratio is the write amplification of sealing and merging.",
    work_options,
    0,
    0,
    stats_run};
const cli_command cli_command_index_compact = {
    "index compact",
    "merge all segments of an index into one, without what was deleted",
    "forage index compact --home DIR [--collection C] [--output text|table|json|md]",
    NULL,
    work_options,
    0,
    0,
    compact_run};
