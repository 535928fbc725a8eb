/* forage index build: a corpus into a home, offline. Documents go through the same extraction,
 * chunking and embedding as POST /ingest into the store; then the index files are made from the
 * store in bounded memory (retrieval/collections/collections.h, service_catch_up). Both halves go on where
 * a killed run left off: what the store holds is unchanged, what sealed files hold is not built
 * again. */
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "retrieval/service/service.h"
#include "server/cli/cli.h"
#include "server/cli/cli_models.h"
#include "server/cli/json_lines.h"
#include "server/routes/ingest_batch.h"
#include "server/base/json.h"
#include "server/base/log.h"
#include "server/base/printable.h"
#include "server/cli/output_form.h"
#include "server/cli/progress.h"

static struct {
    const char *home, *collection, *language;
    cli_list input;
    int64_t threads, max_tokens, overlap, memory, time_limit;
} o = {.home = "home", .overlap = -1, .memory = (int64_t)1 << 30};

static const cli_option options[] = {
    {"input", CLI_LIST, &o.input, "FILE",
     "a .jsonl corpus, a document a line; - for stdin; may be "
     "given again",
     .required = true, .flag_only = true},
    {"home", CLI_STRING, &o.home, "DIR", "the home to work on (default: home)"},
    {"collection", CLI_STRING, &o.collection, "NAME", "default: default"},
    CLI_CHUNK_OPTIONS(o),
    {"memory", CLI_BYTES, &o.memory, "BYTES",
     "working memory, roughly; what exceeds it becomes another segment (default 1G)"},
    CLI_EMBED_OPTIONS,
    {"threads", CLI_INT, &o.threads, "N", "default: all", .max = 1024},
    {"time-limit", CLI_INT, &o.time_limit, "SECONDS",
     "end after so long, with status 1: what was done stays, and the same command goes on from "
     "there "
     "(default: none)",
     .min = 1, .max = 1000000},
    CLI_PROGRESS_OPTION,
    CLI_OUTPUT_OPTION,
    {0}};

enum { EXTRACT, CHUNK, EMBED, STORE, POSTINGS, GRAPH, COMMIT, N_STAGES };

typedef struct build {
    progress *progress;
    int stages[N_STAGES];
    ingest_counts counts;
} build;

/* Lines of the regular files among the inputs: what the bars run towards; 0 where one is a pipe. */
static uint64_t count_documents(void) {
    uint64_t n = 0;
    char *block = malloc(1 << 20);
    for (size_t i = 0; block && i < o.input.n; i++) {
        struct stat st;
        FILE *f = NULL;
        if (stat(o.input.items[i], &st) || !S_ISREG(st.st_mode) ||
            !(f = fopen(o.input.items[i], "re"))) {
            n = 0;
            break;
        }
        size_t got;
        char last = '\n';
        while ((got = fread(block, 1, 1 << 20, f)) > 0) {
            for (const char *p = block; (p = memchr(p, '\n', (size_t)(block + got - p))); p++) n++;
            last = block[got - 1];
        }
        if (last != '\n') n++;
        fclose(f);
    }
    free(block);
    return n;
}

static void show_counts(void *ctx) {
    build *b = ctx;
    progress_stage_set(b->progress, b->stages[EXTRACT], b->counts.extracted);
    progress_stage_set(b->progress, b->stages[CHUNK], b->counts.chunked);
    progress_stage_set(b->progress, b->stages[EMBED], b->counts.embedded);
    progress_stage_set(b->progress, b->stages[STORE], b->counts.stored);
}

static void on_failed(void *ctx, const char *id, const fo_err *why) {
    (void)ctx;
    printable_say(stderr, "forage: %s: %s", id ? id : "document", why->msg);
}

static void on_index(void *ctx, enum search_bulk_stage stage, uint64_t done, uint64_t total) {
    build *b = ctx;
    int i = b->stages[stage == SEARCH_BULK_POSTINGS ? POSTINGS
                      : stage == SEARCH_BULK_GRAPH  ? GRAPH
                                                    : COMMIT];
    if (total) progress_stage_set_total(b->progress, i, total);
    progress_stage_set(b->progress, i, stage == SEARCH_BULK_COMMIT ? done / 1000000 : done);
}

/* --time-limit: SIGALRM says that it is over. */
static atomic_bool over;

static void on_alarm(int signal_number) {
    (void)signal_number;
    atomic_store(&over, true);
}

static void begin_time_limit(void) {
    struct sigaction a = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
    sigemptyset(&a.sa_mask);
    sigaction(SIGALRM, &a, NULL);
    alarm((unsigned)o.time_limit);
}

static int add_line(void *ctx, const char *line, size_t n, const char *label, fo_err *err) {
    if (atomic_load(&over)) return fo_fail(err, FO_ECANCELLED, "cancelled");
    return ingest_batch_add_json(ctx, line, n, label, err);
}

static int read_corpus(ingest_batch *b, const char *path, fo_err *err) {
    FILE *f = strcmp(path, "-") ? fopen(path, "re") : stdin;
    if (!f) return fo_fail_errno(err, "cannot open %s", path);
    int rc = json_lines_read(f, path, add_line, b, err);
    if (f != stdin) fclose(f);
    return rc;
}

/* The first half: documents into the store. */
static int store_documents(service *s, build *b, ingest_totals *totals, fo_err *err) {
    static const char *const names[] = {"extract", "chunk", "embed", "store"};
    uint64_t total = count_documents();
    for (int i = EXTRACT; i <= STORE; i++)
        b->stages[i] = progress_stage(b->progress, names[i], "documents", total);
    /* Large batches, against which nobody waits; a sixteenth of the memory holds one as it came,
     * and some four times that is what it becomes. */
    size_t max_bytes = (size_t)o.memory / 16;
    if (max_bytes > (size_t)64 << 20) max_bytes = (size_t)64 << 20;
    ingest_batch_options opt = {.service = s,
                                .ingest = {.tenant = "default",
                                           .collection = o.collection,
                                           .language = o.language,
                                           .max_tokens = (size_t)o.max_tokens,
                                           .overlap = o.overlap < 0 ? SIZE_MAX : (size_t)o.overlap,
                                           .cancel = &over,
                                           .counts = &b->counts},
                                .max_docs = 16384,
                                .max_bytes = max_bytes,
                                .failed = on_failed,
                                .ctx = b};
    ingest_batch *batch = NULL;
    int rc = ingest_batch_create(&batch, &opt, err);
    for (size_t i = 0; i < o.input.n && !rc; i++) rc = read_corpus(batch, o.input.items[i], err);
    if (!rc) rc = ingest_batch_flush(batch, err);
    if (batch) *totals = *ingest_batch_totals(batch);
    ingest_batch_free(batch);
    return rc;
}

static void write_result(const ingest_totals *t, double seconds) {
    if (output_asked() == OUTPUT_TABLE) {
        printf("%zu created, %zu updated, %zu unchanged, %zu failed; %zu chunks; %.1f s\n", t->n[0],
               t->n[1], t->n[2], t->n[3], t->n_chunks, seconds);
        return;
    }
    fo_buf text = {0};
    json_out out = {&text, false};
    json_out_open(&out, NULL, '{');
    json_out_string(&out, "collection", o.collection);
    for (int i = 0; i < 4; i++)
        json_out_int(&out, ingest_status_name((enum ingest_status)i), (int64_t)t->n[i]);
    json_out_int(&out, "chunks", (int64_t)t->n_chunks);
    json_out_number(&out, "seconds", seconds);
    fo_buf_str(&text, ",\"timings_ms\":");
    ingest_write_timings(&text, &t->report, seconds * 1000);
    json_out_close(&out, '}');
    output_print(&text);
    fo_buf_free(&text);
}

static int run(int argc, char **argv) {
    (void)argc, (void)argv;
    if (!o.collection) o.collection = "default";
    if (!service_name_valid(o.collection))
        return cli_wrong_usage("--collection must be 1 to 64 of A-Z a-z 0-9 _ - .");
    if (o.overlap >= 0 && o.overlap >= (o.max_tokens ? o.max_tokens : 256) / 2)
        return cli_wrong_usage("--overlap must be less than half of --max-tokens");
    if (o.memory < (int64_t)64 << 20) return cli_wrong_usage("--memory must be at least 64M");
    fo_err err = {0};
    service *s = NULL;
    int64_t began = log_now_ms();
    service_options so = {.home = o.home,
                          .n_threads = (int)o.threads,
                          .offline = true,
                          .build_memory = (uint64_t)o.memory,
                          .cache_bytes = -1};
    if (cli_models_open(&s, &so, &err)) return cli_fail(&err);
    if (o.time_limit) begin_time_limit();
    build b = {0};
    b.progress = progress_begin_stages(show_counts, &b, output_is_json());
    ingest_totals totals = {0};
    int rc = store_documents(s, &b, &totals, &err);
    if (!rc && totals.n_all > totals.n[INGEST_FAILED]) {
        b.stages[POSTINGS] = progress_stage(b.progress, "postings", "chunks", 0);
        b.stages[GRAPH] = progress_stage(b.progress, "graph", "chunks", 0);
        b.stages[COMMIT] = progress_stage(b.progress, "commit", "MB", 0);
        rc = service_catch_up(s, "default", o.collection, on_index, &b, &over, &err);
    }
    progress_end(b.progress);
    service_close(s);
    if (rc && atomic_load(&over))
        rc =
            fo_fail_field(&err, FO_ETIMEOUT, "--time-limit",
                          "%lld s are over; what was done stays, and the same command goes on from "
                          "there",
                          (long long)o.time_limit);
    if (rc) return cli_fail(&err);
    write_result(&totals, (double)(log_now_ms() - began) / 1000);
    return totals.n[INGEST_FAILED] ? 1 : 0;
}

const cli_command cli_command_index_build = {
    "index build",
    "build a home's indexes from a corpus, offline",
    "forage index build --input corpus.jsonl --home DIR [--collection C] [--threads N]\n"
    "                    [--memory 2G] [--time-limit SECONDS] [--output text|table|json|md]",
    "Writes the very files that the server maps. Documents are stored too, so that a server can\n"
    "go on from there. A build that was killed goes on where it was when it is run again.",
    options,
    0,
    0,
    run};
