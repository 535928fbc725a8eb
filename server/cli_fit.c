/* cli_fit.c - `forage fit`: a static embedding table distilled from an encoder's vectors. */
#include <cjson/cJSON.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "engine/fit.h"
#include "engine/fit_vectors.h"
#include "engine/vocabulary.h"
#include "kernels/buf.h"
#include "server/cli.h"
#include "server/progress.h"

static struct {
    cli_list input, vectors;
    const char *vocab, *pieces, *out, *name, *license;
    int64_t dim, teacher_dim, steps, threads;
    double lambda, sif, whiten;
    bool json;
} o = {.dim = 256, .teacher_dim = 384, .name = "forage-embed-256"};

static const cli_option options[] = {
    {"input", CLI_LIST, &o.input, "FILE", "corpus, a JSON object with title and text a line",
     .required = true},
    {"vectors", CLI_LIST, &o.vectors, "FILE",
     "the encoder's vectors of those lines (.f32, or .i8 with .scale.f32), one file an --input",
     .required = true},
    {"vocab", CLI_STRING, &o.vocab, "FILE", "WordPiece vocabulary, a piece a line",
     .required = true},
    {"pieces", CLI_STRING, &o.pieces, "FILE", "the encoder's vectors of the single pieces"},
    {"out", CLI_STRING, &o.out, "FILE", "the table to write (GGUF)", .required = true},
    {"dim", CLI_INT, &o.dim, "N", "dimensions of the table (default 256)", .min = 1, .max = 8192},
    {"teacher-dim", CLI_INT, &o.teacher_dim, "N", "dimensions of the vectors (default 384)",
     .min = 1, .max = 8192},
    {"steps", CLI_INT, &o.steps, "N", "steps of conjugate gradients", .min = 1, .max = 10000},
    {"lambda", CLI_DOUBLE, &o.lambda, "X", "weight of the start in the fit", .min = 1e-9,
     .max = 1e9},
    {"sif", CLI_DOUBLE, &o.sif, "A", "frequency at which a piece's start weighs half", .min = 1e-9,
     .max = 1},
    {"whiten", CLI_DOUBLE, &o.whiten, "W", "power of the variance that axes are divided by",
     .min = 1e-9, .max = 0.5},
    {"name", CLI_STRING, &o.name, "NAME", "name stored in the file"},
    {"license", CLI_STRING, &o.license, "SPDX", "licence stored in the file"},
    {"threads", CLI_INT, &o.threads, "N", "threads (default: all)", .min = 1, .max = 1024},
    {"json", CLI_BOOL, &o.json, NULL, "progress as JSON lines, the report as one JSON object"},
    {0}};

static int set_pieces(fit *f, size_t n_pieces, fo_err *err) {
    size_t dim = fit_teacher_dim(f);
    fit_vectors *v;
    int rc = fit_vectors_open(&v, o.pieces, dim, err);
    if (rc) return rc;
    float *all = NULL;
    if (fit_vectors_count(v) != n_pieces)
        rc = fo_fail(err, FO_EINVAL, "%s has %zu vectors for the %zu pieces of %s", o.pieces,
                     fit_vectors_count(v), n_pieces, o.vocab);
    else if (!(all = malloc(n_pieces * dim * sizeof *all)))
        rc = fo_fail(err, FO_ENOMEM, "out of memory for %zu vectors", n_pieces);
    for (size_t i = 0; !rc && i < n_pieces; i++) fit_vectors_row(v, i, all + i * dim);
    if (!rc) rc = fit_set_pieces(f, all, err);
    free(all);
    fit_vectors_close(v);
    return rc;
}

/* "title text" of one line. */
static int add_line(fit *f, const char *line, size_t len, const float *vector, fo_err *err) {
    cJSON *doc = cJSON_ParseWithLength(line, len);
    const cJSON *text = cJSON_GetObjectItemCaseSensitive(doc, "text");
    const cJSON *title = cJSON_GetObjectItemCaseSensitive(doc, "title");
    int rc;
    if (!cJSON_IsString(text)) {
        rc = fo_fail(err, FO_EINVAL, "no JSON object with a text");
    } else {
        fo_buf whole = {0};
        if (cJSON_IsString(title)) {
            fo_buf_str(&whole, title->valuestring);
            fo_buf_char(&whole, ' ');
        }
        fo_buf_str(&whole, text->valuestring);
        rc = whole.failed ? fo_fail(err, FO_ENOMEM, "out of memory")
                          : fit_add_text(f, whole.data, whole.len, vector, err);
        fo_buf_free(&whole);
    }
    cJSON_Delete(doc);
    return rc;
}

static int add_corpus(fit *f, const char *input, const char *vectors, fo_err *err) {
    fit_vectors *v;
    int rc = fit_vectors_open(&v, vectors, fit_teacher_dim(f), err);
    if (rc) return rc;
    float *row = malloc(fit_teacher_dim(f) * sizeof *row);
    FILE *in = fopen(input, "r");
    if (!row) rc = fo_fail(err, FO_ENOMEM, "out of memory");
    if (!in && !rc) rc = fo_fail_errno(err, "cannot read %s", input);
    char *line = NULL;
    size_t cap = 0, n = 0;
    for (ssize_t len; !rc && (len = getline(&line, &cap, in)) > 0;) {
        if (line[len - 1] == '\n') len--;
        if (!len) continue;
        if (n == fit_vectors_count(v)) {
            rc = fo_fail(err, FO_EINVAL, "%s has more lines than %s has vectors (%zu)", input,
                         vectors, n);
            break;
        }
        fit_vectors_row(v, n++, row);
        if ((rc = add_line(f, line, (size_t)len, row, err)))
            fo_fail_prefix(err, "%s: document %zu", input, n);
    }
    if (!rc && n < fit_vectors_count(v))
        rc = fo_fail(err, FO_EINVAL, "%s has %zu lines for the %zu vectors of %s", input, n,
                     fit_vectors_count(v), vectors);
    free(line);
    free(row);
    if (in) fclose(in);
    fit_vectors_close(v);
    return rc;
}

static void on_step(void *arg, uint64_t step, uint64_t n_steps) {
    progress_set_total(arg, n_steps);
    progress_set(arg, step);
}

static void print_report(const fit_report *r) {
    if (o.json)
        printf("{\"texts\":%zu,\"tokens\":%zu,\"pieces_seen\":%zu,\"held_out\":%zu,"
               "\"start_cosine\":%.4f,\"cosine\":%.4f,\"kept_variance\":%.4f,\"out\":\"%s\"}\n",
               r->n_texts, r->n_tokens, r->n_seen, r->n_held_out, r->start_cosine, r->cosine,
               r->kept_variance, o.out);
    else
        printf("%zu texts, %zu tokens, %zu pieces seen\n"
               "mean cosine with the teacher on %zu texts held out: %.4f before, %.4f after\n"
               "%lld dimensions keep %.1f %% of the variance; written to %s\n",
               r->n_texts, r->n_tokens, r->n_seen, r->n_held_out, r->start_cosine, r->cosine,
               (long long)o.dim, 100 * r->kept_variance, o.out);
}

static int fit_all(fit *f, fo_err *err) {
    int rc = FO_OK;
    for (size_t i = 0; !rc && i < o.input.n; i++)
        rc = add_corpus(f, o.input.items[i], o.vectors.items[i], err);
    if (rc) return rc;
    fo_pool *pool = fo_pool_create((int)o.threads);
    if (!pool) return fo_fail(err, FO_ENOMEM, "out of memory for threads");
    progress *p = progress_begin("fit", "steps", 0, o.json);
    fit_options options_ = {.dim = (int)o.dim,
                            .steps = (int)o.steps,
                            .lambda = o.lambda,
                            .sif = o.sif,
                            .whiten = o.whiten,
                            .pool = pool,
                            .progress = on_step,
                            .progress_arg = p};
    fit_report report;
    rc = fit_solve(f, &options_, &report, err);
    progress_end(p);
    fo_pool_free(pool);
    if (!rc) rc = fit_write(f, o.out, &(fit_about){.name = o.name, .license = o.license}, err);
    if (!rc) print_report(&report);
    return rc;
}

static int run(int argc, char **argv) {
    (void)argc;
    (void)argv;
    if (o.input.n != o.vectors.n)
        return cli_wrong_usage("fit takes one --vectors for each --input");
    fo_err err = {0};
    vocabulary v = {0};
    fit *f = NULL;
    int rc = vocabulary_read_text(&v, o.vocab, &err);
    if (!rc) rc = fit_create(&f, v.pieces, v.n, (size_t)o.teacher_dim, &err);
    if (!rc && o.pieces) rc = set_pieces(f, v.n, &err);
    if (!rc) rc = fit_all(f, &err);
    fit_free(f);
    vocabulary_free(&v);
    return rc ? cli_fail(&err) : 0;
}

const cli_command cli_command_fit = {
    "fit",
    "distil an encoder into a static embedding table",
    "forage fit --input texts.jsonl --vectors V.f32 --vocab vocab.txt [--pieces P.f32] --out "
    "e.gguf",
    "The table's mean over a text's word pieces comes as near as it can to the vector that the\n"
    "encoder gives the whole text. --input and --vectors may be given again and again, in pairs.\n"
    "--pieces (the encoder's vector of every piece alone) is where the fit starts; without it,\n"
    "pieces that the texts do not show stay without meaning.",
    options,
    0,
    0,
    run};
