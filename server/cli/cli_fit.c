/* cli_fit.c - `forage fit`: a static embedding table distilled from an encoder's vectors; with --questions, a
 * collection's own weights (fit_questions.h). */
#include <cjson/cJSON.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "engine/embed/embed_builtin.h"
#include "engine/embed/embedder.h"
#include "engine/fit/fit.h"
#include "engine/fit/fit_teacher.h"
#include "engine/fit/fit_vectors.h"
#include "engine/tokenizer/vocabulary.h"
#include "kernels/buf.h"
#include "kernels/utf8.h"
#include "retrieval/home/home.h"
#include "retrieval/service/own_questions.h"
#include "server/base/json.h"
#include "server/base/printable.h"
#include "server/cli/cli.h"
#include "server/cli/cli_models.h"
#include "server/cli/fit_questions.h"
#include "server/cli/fit_texts.h"
#include "server/cli/output_form.h"
#include "server/cli/progress.h"

static struct {
    cli_list input, vectors;
    const char *vocab, *pieces, *out, *name, *license, *teacher;
    int64_t texts, dim, teacher_dim, steps, threads;
    double lambda, sif, whiten;
    const char *home, *collection;
    int64_t count, seed;
    bool questions, dry_run;
} o = {.collection = "default",
       .count = 200,
       .seed = 1,
       .dim = 256,
       .teacher_dim = 384,
       .name = "forage-embed-256"};

static const cli_option options[] = {
    {"input", CLI_LIST, &o.input, "PATH",
     "corpus, a JSON object with title and text a line; for the teacher, also a folder"},
    {"teacher", CLI_STRING, &o.teacher, "FILE", "the encoder to learn from (GGUF)"},
    {"texts-per-document", CLI_INT, &o.texts, "N",
     "paragraphs or sentences that the teacher embeds of each document (0: documents whole)",
     .max = 10000},
    {"vectors", CLI_LIST, &o.vectors, "FILE",
     "an encoder's vectors of an input's lines (.f32, or .i8 with .scale.f32), instead of a "
     "teacher"},
    {"vocab", CLI_STRING, &o.vocab, "FILE", "WordPiece vocabulary, a piece a line"},
    {"pieces", CLI_STRING, &o.pieces, "FILE", "the encoder's vectors of the single pieces"},
    {"out", CLI_STRING, &o.out, "FILE",
     "the table to write (GGUF); with --questions, the questions (JSON Lines, and FILE.qrels)"},
    {"questions", CLI_BOOL, &o.questions, NULL,
     "let --model ask about the home's documents, and fit the collection to that"},
    {"home", CLI_STRING, &o.home, "DIR", "the home of that collection"},
    {"collection", CLI_STRING, &o.collection, "NAME", "of the home (default: default)"},
    {"count", CLI_INT, &o.count, "N", "passages that are asked about (default 200)", .min = 1,
     .max = OWN_QUESTIONS_MOST},
    {"seed", CLI_INT, &o.seed, "N", "another one draws other passages (default 1)"},
    {"dry-run", CLI_BOOL, &o.dry_run, NULL, "report, and leave the collection as it is"},
    CLI_GENERATE_OPTIONS,
    CLI_EMBED_OPTIONS,
    CLI_READER_OPTION,
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
    {"threads", CLI_INT, &o.threads, "N", "threads (default: one a core)", .min = 1, .max = 1024},
    CLI_PROGRESS_OPTION,
    CLI_OUTPUT_OPTION,
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
    if (!rc) rc = fit_vectors_intact(v, err);
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
        rc = whole.failed ? fo_no_memory(err) : fit_add_text(f, whole.data, whole.len, vector, err);
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
    if (!row) rc = fo_no_memory(err);
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
    if (!rc && ferror(in)) rc = fo_fail_errno(err, "cannot read %s", input);
    if (!rc && n < fit_vectors_count(v))
        rc = fo_fail(err, FO_EINVAL, "%s has %zu lines for the %zu vectors of %s", input, n,
                     fit_vectors_count(v), vectors);
    const int lost = fit_vectors_intact(v, err); /* a text may be refused for the zeroes of that */
    if (lost) rc = lost;
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

static void write_figure(json_out *out, const char *name, double v) {
    char text[32];
    snprintf(text, sizeof text, "%.4f", v);
    json_out_raw(out, name, text);
}

static void print_report(const fit_report *r) {
    if (output_asked() == OUTPUT_TABLE) {
        printf("%zu texts, %zu tokens, %zu pieces seen\n"
               "mean cosine with the teacher on %zu texts held out: %.4f before, %.4f after\n"
               "%lld dimensions keep %.1f %% of the variance; written to %s\n",
               r->n_texts, r->n_tokens, r->n_seen, r->n_held_out, r->start_cosine, r->cosine,
               (long long)o.dim, 100 * r->kept_variance, o.out);
        return;
    }
    fo_buf b = {0};
    json_out out = {&b, false};
    json_out_open(&out, NULL, '{');
    json_out_int(&out, "texts", (int64_t)r->n_texts);
    json_out_int(&out, "tokens", (int64_t)r->n_tokens);
    json_out_int(&out, "pieces_seen", (int64_t)r->n_seen);
    json_out_int(&out, "held_out", (int64_t)r->n_held_out);
    write_figure(&out, "start_cosine", r->start_cosine);
    write_figure(&out, "cosine", r->cosine);
    write_figure(&out, "kept_variance", r->kept_variance);
    json_out_string(&out, "out", o.out);
    json_out_close(&out, '}');
    output_print(&b);
    fo_buf_free(&b);
}

static int solve(fit *f, fo_pool *pool, fo_err *err) {
    progress *p = progress_begin("fit", "steps", 0, output_is_json());
    fit_options options_ = {.dim = (int)o.dim,
                            .steps = (int)o.steps,
                            .lambda = o.lambda,
                            .sif = o.sif,
                            .whiten = o.whiten,
                            .pool = pool,
                            .progress = on_step,
                            .progress_arg = p};
    fit_report report;
    int rc = fit_solve(f, &options_, &report, err);
    progress_end(p);
    if (!rc) rc = fit_write(f, o.out, &(fit_about){.name = o.name, .license = o.license}, err);
    if (!rc) print_report(&report);
    return rc;
}

/* --- texts whose vectors the teacher gives now --- */
enum { TEXTS_AT_ONCE = 256 };

typedef struct lesson {
    fit *f;
    embedder *teacher;
    progress *p;
    char *text[TEXTS_AT_ONCE];
    size_t len[TEXTS_AT_ONCE], n;
} lesson;

static int embed_batch(lesson *l, fo_err *err) {
    size_t dim = embedder_dim(l->teacher);
    float *v = malloc((l->n + 1) * dim * sizeof *v);
    int rc = v ? embedder_embed(l->teacher, EMBED_PASSAGE, (const char *const *)l->text, l->len,
                                l->n, v, err)
               : fo_fail(err, FO_ENOMEM, "out of memory for %zu vectors", l->n);
    for (size_t i = 0; i < l->n; i++) {
        const float *row = v + i * dim;
        bool said = false; /* a text without a token has a vector of zeros */
        for (size_t k = 0; !rc && !said && k < dim; k++) said = row[k] != 0;
        if (said) rc = fit_add_text(l->f, l->text[i], l->len[i], row, err);
        free(l->text[i]);
    }
    progress_add(l->p, l->n);
    l->n = 0;
    free(v);
    return rc;
}

static int take_text(void *arg, const char *text, size_t len, fo_err *err) {
    lesson *l = arg;
    /* Much longer than the tokens that count, and never a whole book. */
    if (len > 64 * FIT_MAX_TOKENS) len = 64 * FIT_MAX_TOKENS;
    while (len && !fo_utf8_boundary(text[len])) len--;
    if (!(l->text[l->n] = strndup(text, len)))
        return fo_fail(err, FO_ENOMEM, "out of memory for a text");
    l->len[l->n] = strlen(l->text[l->n]);
    l->n++;
    return l->n == TEXTS_AT_ONCE ? embed_batch(l, err) : FO_OK;
}

static void say_left_out(void *arg, const char *name, const char *why) {
    (void)arg;
    if (isatty(STDERR_FILENO)) fputs("\r\033[K", stderr); /* over the bar, which is drawn again */
    printable_say(stderr, "forage: %s: left out: %s", name, why);
}

static int add_taught(fit *f, fo_pool *pool, fo_err *err) {
    lesson *l = calloc(1, sizeof *l);
    if (!l) return fo_no_memory(err);
    l->f = f;
    int rc = embedder_open_with(&l->teacher, o.teacher, &(embedder_options){.pool = pool}, err);
    l->p = progress_begin("embed", "texts", 0, output_is_json());
    for (size_t i = o.vectors.n; !rc && i < o.input.n; i++)
        rc = fit_texts_walk(o.input.items[i], (int)o.texts, take_text, say_left_out, l, err);
    if (!rc && l->n) rc = embed_batch(l, err);
    for (size_t i = 0; i < l->n; i++) free(l->text[i]);
    progress_end(l->p);
    embedder_close(l->teacher);
    free(l);
    return rc;
}

/* Vocabulary, teacher's dimensions and vectors of the pieces, from wherever they are given. */
static int begin(fit **f, fo_pool *pool, fo_err *err) {
    fit_teacher t = {.dim = (size_t)o.teacher_dim};
    int rc;
    if (o.teacher) {
        progress *p = progress_begin("pieces", "pieces", 0, output_is_json());
        rc = fit_teacher_read(&t, o.teacher, pool, on_step, p, err);
        progress_end(p);
    } else if (o.vocab) {
        rc = vocabulary_read_text(&t.words, o.vocab, err);
    } else {
        size_t size;
        const void *data = embed_builtin(&size);
        gguf *g;
        if (!(rc = gguf_open_memory(&g, data, size, err))) {
            rc = vocabulary_read_gguf(&t.words, g, err);
            gguf_close(g);
        }
    }
    if (!rc) rc = fit_create(f, t.words.pieces, t.words.n, t.dim, err);
    if (!rc && o.pieces)
        rc = set_pieces(*f, t.words.n, err);
    else if (!rc && t.pieces)
        rc = fit_set_pieces(*f, t.pieces, err);
    fit_teacher_deinit(&t);
    return rc;
}

/* --- a collection's own weights --- */
static int fit_collection(void) {
    if (!o.home || !cli_model_flags.model)
        return cli_wrong_usage("fit --questions needs the --home and a --model that writes them");
    if (o.input.n || o.vectors.n || o.teacher || o.vocab || o.pieces)
        return cli_wrong_usage(
            "fit --questions fits a collection, no table: --input, --teacher, --vectors, --vocab "
            "and --pieces do not go with it");
    fo_err err = {0};
    fo_buf report = {0};
    service *s = NULL;
    const service_options with = {.home = o.home, .read_only = o.dry_run, .primes_per_s = -1};
    const fit_questions_options how = {.collection = o.collection,
                                       .out = o.out,
                                       .count = (size_t)o.count,
                                       .seed = (uint64_t)o.seed,
                                       .dry_run = o.dry_run,
                                       .json = output_is_json()};
    engine_flag_values.threads = o.threads;
    int rc = home_must_exist(o.home, &err);
    if (!rc) rc = cli_models_open(&s, &with, &err);
    if (!rc) rc = fit_questions_run(s, &how, &report, &err);
    service_close(s);
    if (!rc) output_print(&report);
    fo_buf_free(&report);
    return rc ? cli_fail(&err) : 0;
}

static int run(int argc, char **argv) {
    (void)argc;
    (void)argv;
    if (o.questions) return fit_collection();
    if (!o.input.n || !o.out) return cli_wrong_usage("fit needs --input and --out, or --questions");
    if (o.vectors.n > o.input.n || (o.vectors.n < o.input.n && !o.teacher))
        return cli_wrong_usage("fit takes one --vectors for each --input, or a --teacher");
    if (o.teacher && o.vocab)
        return cli_wrong_usage("the --teacher has a vocabulary of its own: leave --vocab out");
    fo_err err = {0};
    fit *f = NULL;
    fo_pool *pool = fo_pool_create_bound((int)o.threads, NULL);
    int rc = pool ? begin(&f, pool, &err) : fo_fail(&err, FO_ENOMEM, "out of memory for threads");
    for (size_t i = 0; !rc && i < o.vectors.n; i++)
        rc = add_corpus(f, o.input.items[i], o.vectors.items[i], &err);
    if (!rc && o.vectors.n < o.input.n) rc = add_taught(f, pool, &err);
    if (!rc) rc = solve(f, pool, &err);
    fit_free(f);
    fo_pool_free(pool);
    return rc ? cli_fail(&err) : 0;
}

const cli_command cli_command_fit = {
    "fit",
    "distil an encoder into a static embedding table, or fit a collection to questions",
    "forage fit --teacher encoder.gguf --input corpus.jsonl|DIR ... --out e.gguf [--dim 256]\n"
    "forage fit --input texts.jsonl --vectors V.f32 [--vocab vocab.txt] [--pieces P.f32] --out "
    "e.gguf\n"
    "forage fit --questions --home DIR --model m.gguf [--collection NAME] [--count 200] "
    "[--dry-run]\n"
    "Each: [--output text|table|json|md]",
    "The table's mean over a text's word pieces comes as near as it can to the vector that the\n"
    "encoder gives the whole text. --input may be given again and again; the first ones pair with\n"
    "the --vectors, the teacher embeds the others. Without a teacher, --pieces (the encoder's\n"
    "vector of every piece alone) is where the fit starts; without either, pieces that the texts\n"
    "do not show stay without meaning. The vocabulary is the teacher's, else the built-in "
    "table's.\n"
    "\n"
    "With --questions the model writes questions over a collection's documents. Half of them "
    "choose the\n"
    "weight of the dense side and the support below which the collection refuses; the other half, "
    "of\n"
    "other documents, is what the report is about, and what is not better on it is not kept.",
    options,
    0,
    0,
    run};
