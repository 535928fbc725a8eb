/* cli_bench_bm25.c - `forage bench bm25`: the inverted index on a file of passages. */
#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "index/sparse/analyze.h"
#include "index/sparse/inverted.h"
#include "index/sparse/inverted_hot.h"
#include "index/sparse/postings.h"
#include "kernels/clock.h"
#include "kernels/cpu.h"
#include "kernels/file.h"
#include "kernels/order.h"
#include "server/cli/cli.h"

static struct {
    const char *passages, *questions, *language;
    int64_t k, repeat;
    bool check, json;
} o = {.language = "english", .k = 10, .repeat = 1};

static const cli_option options[] = {
    {"passages", CLI_STRING, &o.passages, "FILE", "a passage a line", .required = true},
    {"questions", CLI_STRING, &o.questions, "FILE",
     "lines of gold line number (from 0), tab, question", .required = true},
    {"language", CLI_STRING, &o.language, "NAME", "of stems and stop words (default english)"},
    {"k", CLI_INT, &o.k, "N", "passages asked for (default 10)", .min = 1, .max = 1000},
    {"repeat", CLI_INT, &o.repeat, "N",
     "passes over the questions; the fastest time of each counts "
     "(default 1)",
     .min = 1, .max = 1000},
    {"check", CLI_BOOL, &o.check, NULL,
     "compare every answer with a scan of all postings and report the share that is equal"},
    {"json", CLI_BOOL, &o.json, NULL, "one JSON object on stdout (the only form there is)"},
    {0}};

enum { MAX_WORDS = 256 };

typedef struct bench {
    fo_map passages, questions;
    segment *file;
    inverted inv;
    inverted_hot *hot;
    int64_t *ids;
    analyzer *analyzer;
    inverted_scratch *scratch;
    inverted_hit *hits;
    /* terms of the question at hand */
    char texts[MAX_WORDS][256];
    inverted_query_term terms[MAX_WORDS];
    bool stop[MAX_WORDS];
    size_t n_terms;
    /* for --check */
    double *scores;
    uint32_t *docs, *tfs;
} bench;

static const bm25_params params = {0.9, 0.4};

static int take_word(void *ctx, const analyzed_term *t) {
    inverted_builder_word(ctx, t->term, t->len);
    return 0;
}

static size_t line_length(const fo_map *m, size_t at) {
    const void *end = memchr(m->data + at, '\n', m->size - at);
    return end ? (size_t)((const unsigned char *)end - (m->data + at)) : m->size - at;
}

static int build(bench *b, cJSON *out, fo_err *err) {
    char path[] = "/tmp/forage-bench-XXXXXX";
    int fd = mkstemp(path);
    if (fd < 0) return fo_fail_errno(err, "cannot make a file in /tmp");
    close(fd);
    inverted_builder *builder = NULL;
    segment_writer *w = NULL;
    double start = fo_now_ms();
    int rc = inverted_builder_create(&builder, err);
    for (size_t at = 0; !rc && at < b->passages.size;) {
        size_t n = line_length(&b->passages, at);
        analyze(b->analyzer, (const char *)b->passages.data + at, n, take_word, builder);
        rc = inverted_builder_end_document(builder, err);
        at += n + 1;
    }
    if (!rc) rc = segment_writer_create(&w, path, err);
    if (!rc) {
        rc = inverted_build(builder, &params, w, err);
        if (!rc)
            rc = segment_writer_commit(w, err);
        else
            segment_writer_abort(w);
    }
    cJSON_AddNumberToObject(out, "index_s", (fo_now_ms() - start) / 1e3);
    inverted_builder_free(builder);
    if (!rc) rc = segment_open(&b->file, path, err);
    unlink(path);
    if (!rc) rc = inverted_open(&b->inv, b->file, err);
    return rc;
}

static void report_size(const bench *b, cJSON *out) {
    size_t postings;
    segment_get(b->file, SECTION_POSTINGS, &postings);
    cJSON_AddNumberToObject(out, "bytes", (double)segment_size(b->file));
    cJSON_AddNumberToObject(out, "bits_per_posting",
                            8.0 * (double)postings / (double)b->inv.n_postings);
    cJSON_AddNumberToObject(out, "passages", b->inv.n_docs);
    cJSON_AddNumberToObject(out, "postings", (double)b->inv.n_postings);
    cJSON_AddNumberToObject(out, "terms", b->inv.n_terms);
    cJSON_AddStringToObject(out, "isa", fo_cpu_level_name(fo_cpu()->level));
}

static int take_term(void *ctx, const analyzed_term *t) {
    bench *b = ctx;
    for (size_t i = 0; i < b->n_terms; i++)
        if (b->terms[i].len == t->len && memcmp(b->texts[i], t->term, t->len) == 0) return 0;
    if (b->n_terms == MAX_WORDS) return 1;
    size_t n = b->n_terms++;
    memcpy(b->texts[n], t->term, t->len);
    b->terms[n] = (inverted_query_term){b->texts[n], t->len, 1};
    b->stop[n] = t->stop;
    return 0;
}

static void drop_stop_words(bench *b) {
    size_t kept = 0;
    for (size_t i = 0; i < b->n_terms; i++) kept += !b->stop[i];
    if (kept == 0) return;
    kept = 0;
    for (size_t i = 0; i < b->n_terms; i++)
        if (!b->stop[i]) b->terms[kept++] = b->terms[i];
    b->n_terms = kept;
}

static int search(bench *b, const char *text, size_t len, bool no_stop, size_t *n, fo_err *err) {
    b->n_terms = 0;
    analyze(b->analyzer, text, len, take_term, b);
    if (no_stop) drop_stop_words(b);
    inverted_part part = {.inv = &b->inv, .hot = b->hot, .ids = b->ids};
    return inverted_search(&part, 1, &params, b->terms, b->n_terms, (size_t)o.k, b->scratch,
                           b->hits, n, err);
}

/* Is what search returned what scoring every posting gives? */
static int check(bench *b, size_t n, bool *equal, fo_err *err) {
    uint32_t n_docs = b->inv.n_docs;
    double average = (double)b->inv.sum_length / n_docs;
    memset(b->scores, 0, n_docs * sizeof *b->scores);
    for (size_t t = 0; t < b->n_terms; t++) {
        inverted_list l;
        if (!inverted_find(&b->inv, b->terms[t].term, b->terms[t].len, &l)) continue;
        int rc = inverted_decode(&b->inv, &l, b->docs, b->tfs, err);
        if (rc) return rc;
        double idf = bm25_idf(n_docs, l.n);
        for (uint32_t i = 0; i < l.n; i++)
            b->scores[b->docs[i]] +=
                bm25_term_score(&params, idf, b->tfs[i], b->inv.lengths[b->docs[i]], average);
    }
    *equal = true;
    size_t found = 0;
    for (size_t rank = 0; rank < (size_t)o.k; rank++) {
        uint32_t best = 0;
        for (uint32_t d = 1; d < n_docs; d++)
            if ((float)b->scores[d] > (float)b->scores[best]) best = d;
        if (b->scores[best] <= 0) break;
        found++;
        *equal &=
            rank < n && b->hits[rank].id == best && b->hits[rank].score == (float)b->scores[best];
        b->scores[best] = 0;
    }
    *equal &= found == n;
    return FO_OK;
}

static void report(cJSON *out, double *us, size_t n, const size_t *success, double mrr) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += us[i];
    qsort(us, n, sizeof *us, fo_order_doubles);
    double d = n ? (double)n : 1;
    cJSON_AddNumberToObject(out, "mean_us", sum / d);
    cJSON_AddNumberToObject(out, "p50_us", n ? us[n / 2] : 0);
    cJSON_AddNumberToObject(out, "p99_us", n ? us[n * 99 / 100] : 0);
    cJSON *at = cJSON_AddObjectToObject(out, "success_at");
    cJSON_AddNumberToObject(at, "1", (double)success[0] / d);
    cJSON_AddNumberToObject(at, "5", (double)success[1] / d);
    cJSON_AddNumberToObject(at, "10", (double)success[2] / d);
    cJSON_AddNumberToObject(out, "mrr", mrr / d);
}

static int measure(bench *b, bool no_stop, cJSON *out, fo_err *err) {
    size_t n_lines = 1, n_questions = 0, success[3] = {0}, n_equal = 0;
    for (size_t i = 0; i < b->questions.size; i++) n_lines += b->questions.data[i] == '\n';
    double *us = malloc(n_lines * sizeof *us), mrr = 0;
    if (!us) return fo_no_memory(err);
    int rc = FO_OK;
    for (int64_t pass = -1; pass < o.repeat && !rc; pass++) {
        n_questions = 0;
        for (size_t at = 0; at < b->questions.size && !rc;) {
            const char *line = (const char *)b->questions.data + at;
            size_t len = line_length(&b->questions, at), n;
            const char *tab = memchr(line, '\t', len);
            at += len + 1;
            if (!tab) continue;
            if (pass < 0 && n_questions >= 50) break; /* to warm up */
            long gold = strtol(line, NULL, 10);
            double start = fo_now_ms();
            rc = search(b, tab + 1, (size_t)(line + len - tab - 1), no_stop, &n, err);
            double took = (fo_now_ms() - start) * 1e3;
            size_t i = n_questions++;
            if (pass <= 0 || took < us[i]) us[i] = took;
            for (size_t j = 0; pass == 0 && j < n && j < 10; j++) {
                if (b->hits[j].id != gold) continue;
                success[0] += j < 1;
                success[1] += j < 5;
                success[2]++;
                mrr += 1.0 / (double)(j + 1);
            }
            bool equal = false;
            if (pass == 0 && o.check && !rc) rc = check(b, n, &equal, err);
            n_equal += equal;
        }
    }
    if (!rc) {
        report(out, us, n_questions, success, mrr);
        if (o.check)
            cJSON_AddNumberToObject(out, "equal_to_exhaustive",
                                    n_questions ? (double)n_equal / (double)n_questions : 0);
    }
    free(us);
    return rc;
}

static int run_bench(bench *b, cJSON *out, fo_err *err) {
    int rc = fo_map_open(&b->passages, o.passages, err);
    if (!rc) rc = fo_map_open(&b->questions, o.questions, err);
    if (!rc) rc = analyzer_create(&b->analyzer, o.language, err);
    if (!rc) rc = build(b, out, err);
    if (rc) return rc;
    report_size(b, out);
    size_t n = (size_t)b->inv.n_docs + POSTINGS_BLOCK;
    b->ids = malloc(n * sizeof *b->ids);
    b->scratch = inverted_scratch_create();
    b->hot = inverted_hot_create(&b->inv);
    b->hits = malloc((size_t)o.k * sizeof *b->hits);
    b->scores = malloc(n * sizeof *b->scores);
    b->docs = malloc(n * sizeof *b->docs);
    b->tfs = malloc(n * sizeof *b->tfs);
    if (!b->ids || !b->scratch || !b->hits || !b->scores || !b->docs || !b->tfs)
        return fo_no_memory(err);
    for (uint32_t i = 0; i < b->inv.n_docs; i++) b->ids[i] = i;
    rc = measure(b, false, out, err);
    cJSON *without = cJSON_AddObjectToObject(out, "without_stop_words");
    return !rc ? measure(b, true, without, err) : rc;
}

static int run(int argc, char **argv) {
    (void)argc;
    (void)argv;
    fo_err err = {0};
    cJSON *out = cJSON_CreateObject();
    bench *b = calloc(1, sizeof *b);
    int rc = b && out ? run_bench(b, out, &err) : fo_no_memory(&err);
    if (!rc) {
        char *text = cJSON_PrintUnformatted(out);
        puts(text ? text : "{}");
        cJSON_free(text);
    }
    cJSON_Delete(out);
    if (b) {
        inverted_hot_free(b->hot);
        segment_close(b->file);
        fo_map_close(&b->passages);
        fo_map_close(&b->questions);
        analyzer_free(b->analyzer);
        inverted_scratch_free(b->scratch);
        free(b->ids);
        free(b->hits);
        free(b->scores);
        free(b->docs);
        free(b->tfs);
    }
    free(b);
    return rc ? cli_fail(&err) : 0;
}

const cli_command cli_command_bench_bm25 = {
    "bench bm25",
    "speed and quality of the inverted index on a file of passages",
    "forage bench bm25 --passages P.txt --questions Q.tsv [--k 10] [--repeat 1] [--check]",
    "Builds the index on one thread in a file that is removed again, then asks every question on "
    "one thread, analysis included. Prints index_s, bytes, bits_per_posting, mean_us, p50_us, "
    "p99_us, success_at, mrr, and the same under without_stop_words.",
    options,
    0,
    0,
    run};
