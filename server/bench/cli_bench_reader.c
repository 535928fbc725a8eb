/* cli_bench_reader.c - `forage bench reader`: what reading the best passages of a question costs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/embed/reader.h"
#include "kernels/clock.h"
#include "kernels/cpu.h"
#include "kernels/order.h"
#include "server/cli/cli.h"

enum { PASSAGES = 8, WORDS = 160, QUESTION = 12, SENTENCE = 20, TEXT = WORDS * 12, MAX_RUNS = 200 };

static struct {
    const char *reader;
    int64_t threads, runs;
    bool json;
} o = {.runs = 15};

static const cli_option options[] = {
    {"reader", CLI_STRING, &o.reader, "FILE", "a GGUF file (default: the model in the binary)"},
    {"runs", CLI_INT, &o.runs, "N", "of which the median counts (default 15)", .min = 1,
     .max = MAX_RUNS, .flag_only = true},
    {"threads", CLI_INT, &o.threads, "N", "threads (default: one a core)", .min = 0, .max = 1024},
    {"json", CLI_BOOL, &o.json, NULL, "one JSON object on stdout (always)"},
    {0}};

/* Words that are one piece each in the vocabularies of BERT's family, so that sizes are tokens. */
static const char *const words[] = {
    "the",   "of",    "and",   "in",    "to",    "was",   "is",     "for",   "on",    "with",
    "water", "river", "house", "stone", "year",  "city",  "north",  "south", "field", "group",
    "king",  "music", "power", "light", "sound", "study", "system", "law",   "trade", "army",
    "ship",  "road",  "tree",  "bird",  "fish",  "horse", "child",  "woman", "book",  "school",
    "built", "made",  "found", "began", "left",  "held",  "known",  "large", "small", "early",
    "late",  "first", "great", "white", "black", "red",   "green",  "open",  "long",  "high"};
enum { N_WORDS = sizeof words / sizeof *words };

typedef struct bench {
    reader *r;
    uint64_t state;
    char text[1 + PASSAGES][TEXT]; /* the question, then the passages */
    const char *list[1 + PASSAGES];
    size_t lens[1 + PASSAGES];
    size_t tokens; /* of the passages read last */
    double score;  /* so that nothing is left out */
} bench;

static void draw_text(bench *b, int which, int n_words) {
    char *p = b->text[which];
    for (int i = 0; i < n_words; i++) {
        b->state = b->state * 6364136223846793005u + 1442695040888963407u;
        p += sprintf(p, i ? " %s" : "%s", words[(b->state >> 33) % N_WORDS]);
    }
    b->list[which] = b->text[which];
    b->lens[which] = (size_t)(p - b->text[which]);
}

/* A question, its passages and their sentences of twenty tokens: read and scored. */
static int ask(bench *b, double *ms, fo_err *err) {
    enum { UNITS = PASSAGES * WORDS / SENTENCE };
    reader_text *t[1 + PASSAGES];
    reader_part parts[UNITS];
    reader_unit units[UNITS];
    float best[UNITS * READER_MAX_TOKENS], weights[READER_MAX_TOKENS];
    size_t n = 0;
    const double began = fo_now_ms();
    int rc = reader_encode(b->r, b->list, b->lens, 1 + PASSAGES, NULL, t, err);
    if (rc) return rc;
    b->tokens = 0;
    for (int i = 1; i <= PASSAGES; i++) {
        const uint32_t all = (uint32_t)reader_text_tokens(t[i]);
        b->tokens += all;
        for (uint32_t at = 0; at < all && n < UNITS; at += SENTENCE, n++) {
            const uint32_t end = at + SENTENCE < all ? at + SENTENCE : all;
            parts[n] = (reader_part){t[i], at, end, 1};
            units[n] = (reader_unit){&parts[n], 1};
        }
    }
    reader_idf(t[0], units, n, weights);
    rc = reader_align(t[0], units, n, best, err);
    for (size_t i = 0; !rc && i < n; i++)
        b->score += (double)reader_score(best + i * reader_text_tokens(t[0]), weights,
                                         reader_text_tokens(t[0]));
    *ms = fo_now_ms() - began;
    reader_texts_release(t, 1 + PASSAGES);
    return rc;
}

/* Median over questions: each with passages of its own, or all with the same ones. */
static int measure(bench *b, bool same, double *median, fo_err *err) {
    double ms[1 + MAX_RUNS];
    int rc = FO_OK;
    for (int run = 0; !rc && run <= o.runs; run++) { /* the first warms up and is not counted */
        draw_text(b, 0, QUESTION);
        for (int i = 1; i <= PASSAGES && !(same && run); i++) draw_text(b, i, WORDS);
        rc = ask(b, &ms[run], err);
    }
    qsort(ms + 1, (size_t)o.runs, sizeof *ms, fo_order_doubles);
    *median = ms[1 + o.runs / 2];
    return rc;
}

static int run(int argc, char **argv) {
    (void)argc, (void)argv;
    fo_err err = {0};
    static bench b = {.state = 1};
    double ms = 0, cached = 0, opened = 0, began = fo_now_ms();
    fo_pool *pool = fo_pool_create_bound((int)o.threads, NULL);
    int rc = pool ? FO_OK : fo_fail(&err, FO_ENOMEM, "no memory for threads");
    const reader_options options_of = {.pool = pool, .cache_bytes = 16 << 20};
    if (!rc) rc = reader_open(&b.r, o.reader, &options_of, &err);
    opened = fo_now_ms() - began;
    if (!rc) rc = measure(&b, false, &ms, &err);
    if (!rc) rc = measure(&b, true, &cached, &err);
    if (!rc)
        printf("{\"ms_8x160\":%.2f,\"ms_8x160_cached\":%.2f,\"pairs_per_s\":%.1f,"
               "\"tokens_per_s\":%.0f,\"tokens\":%zu,\"open_ms\":%.0f,\"runs\":%lld,\"isa\":\"%s\","
               "\"threads\":%d}\n",
               ms, cached, 1e3 * PASSAGES / ms, 1e3 * (double)b.tokens / ms, b.tokens, opened,
               (long long)o.runs,
               fo_cpu()->level == FO_CPU_AVX2 && fo_cpu()->avx_vnni
                   ? "avxvnni"
                   : fo_cpu_level_name(fo_cpu()->level),
               fo_pool_threads(pool));
    reader_close(b.r);
    fo_pool_free(pool);
    return rc ? cli_fail(&err) : 0;
}

const cli_command cli_command_bench_reader = {
    "bench reader",
    "what reading the best passages of a question costs",
    "forage bench reader [--reader FILE] [--threads N] --json",
    "ms_8x160: a question and eight passages of 160 tokens that were never seen, read and scored\n"
    "sentence by sentence; ms_8x160_cached: a new question over the same passages; pairs_per_s: "
    "of\n"
    "question and passage, never seen. Medians; the texts are random words.",
    options,
    0,
    0,
    run};
