#include "server/cli/fit_questions.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/file.h"
#include "kernels/sha256.h"
#include "retrieval/text/support.h"
#include "retrieval/service/own_questions.h"
#include "server/base/json.h"
#include "server/cli/progress.h"

enum { WEIGHTS = 21, DEPTH = 10, CONTEXTS = 8, LEAST_QUESTIONS = 20 };
/* Less than this is noise, on as many questions as a model writes in some minutes. */
static const double least_gain = .005;

typedef struct fitting {
    service *s;
    const fit_questions_options *o;
    own_question *q;
    size_t n;
    bool *held_out;  /* [n] */
    double *gain;    /* [n][WEIGHTS]: discounted gain of its document at each dense weight */
    double *with;    /* [n]: support; NAN: its document was not among the contexts */
    double *without; /* [n]: support where its document is left out */
    progress *p;
} fitting;

/* Questions of one document are all of one half: else a document would be seen by both. */
static bool is_held_out(const char *document) {
    unsigned char sum[32];
    fo_sha256_of(sum, document, strlen(document));
    return sum[0] & 1;
}

/* ---- the dense weight ------------------------------------------------------------------------- */

static int search(const fitting *f, size_t i, double alpha, double *gain, fo_err *err) {
    query_request ask = {.tenant = "default",
                         .collection = f->o->collection,
                         .query = f->q[i].text,
                         .top_k = 3 * DEPTH,
                         .search = {.alpha = alpha},
                         .cache = CACHE_BYPASS,
                         .background = true};
    query_result r = {0};
    int rc = service_query(f->s, &ask, NULL, &r, err);
    size_t rank = 0; /* of documents, not of chunks */
    *gain = 0;
    for (size_t k = 0; !rc && k < r.n_contexts && rank < DEPTH; k++) {
        const char *id = r.contexts[k].chunk.document_id;
        bool met = false;
        for (size_t e = 0; e < k && !met; e++) met = !strcmp(r.contexts[e].chunk.document_id, id);
        if (met) continue;
        if (!strcmp(id, f->q[i].document)) {
            *gain = 1 / log2((double)rank + 2);
            break;
        }
        rank++;
    }
    query_result_deinit(&r);
    return rc;
}

static double mean_gain(const fitting *f, bool held_out, int weight) {
    double sum = 0;
    size_t n = 0;
    for (size_t i = 0; i < f->n; i++)
        if (f->held_out[i] == held_out) sum += f->gain[i * WEIGHTS + (size_t)weight], n++;
    return n ? sum / (double)n : 0;
}

/* As near to the usual weight as is equally good. */
static int best_weight(const fitting *f, int usual) {
    int best = usual;
    for (int w = 0; w < WEIGHTS; w++) {
        const double ahead = mean_gain(f, false, w) - mean_gain(f, false, best);
        if (ahead > 1e-9 || (ahead > -1e-9 && abs(w - usual) < abs(best - usual))) best = w;
    }
    return best;
}

/* ---- support ---------------------------------------------------------------------------------- */

static int measure_support(const fitting *f, size_t i, double alpha, const char *without,
                           double *support, fo_err *err) {
    query_request ask = {.tenant = "default",
                         .collection = f->o->collection,
                         .query = f->q[i].text,
                         .top_k = CONTEXTS,
                         .without = without,
                         .search = {.alpha = alpha},
                         .generate = true,
                         .answer_by = ANSWER_BY_EXTRACTION,
                         .cache = CACHE_BYPASS,
                         .background = true};
    query_result r = {0};
    int rc = service_query(f->s, &ask, NULL, &r, err);
    bool there = without != NULL;
    for (size_t k = 0; !rc && k < r.n_contexts && !there; k++)
        there = !strcmp(r.contexts[k].chunk.document_id, f->q[i].document);
    *support = there ? r.support : NAN;
    query_result_deinit(&r);
    return rc;
}

static double balance(const double *answered, size_t n_answered, const double *others,
                      size_t n_others, double t) {
    size_t kept = 0, refused = 0;
    for (size_t i = 0; i < n_answered; i++) kept += answered[i] >= t;
    for (size_t i = 0; i < n_others; i++) refused += others[i] < t;
    return ((double)kept / (double)n_answered + (double)refused / (double)n_others) / 2;
}

double fit_threshold(const double *answered, size_t n_answered, const double *others,
                     size_t n_others, double usual) {
    double best = usual;
    if (!n_answered || !n_others) return best;
    for (int k = 5; k <= 95; k++) {
        const double t = k / 100.0;
        const double ahead = balance(answered, n_answered, others, n_others, t) -
                             balance(answered, n_answered, others, n_others, best);
        if (ahead > 1e-9 || (ahead > -1e-9 && fabs(t - usual) < fabs(best - usual))) best = t;
    }
    return best;
}

/* Supports of one half, without those that are not known; how many. */
static size_t of_half(const fitting *f, bool held_out, const double *from, double *to) {
    size_t n = 0;
    for (size_t i = 0; i < f->n; i++)
        if (f->held_out[i] == held_out && isfinite(from[i])) to[n++] = from[i];
    return n;
}

/* ---- the run ---------------------------------------------------------------------------------- */

static void on_written(void *ctx, uint64_t done, uint64_t n) {
    const fitting *f = ctx;
    progress_set_total(f->p, n);
    progress_set(f->p, done);
}

static int prepare(fitting *f, fo_err *err) {
    const own_question_request ask = {.tenant = "default",
                                      .collection = f->o->collection,
                                      .n = f->o->count,
                                      .seed = f->o->seed,
                                      .progress = on_written,
                                      .ctx = f};
    f->p = progress_begin("write", "passages", f->o->count, f->o->json);
    int rc = service_write_questions(f->s, &ask, &f->q, &f->n, err);
    progress_end(f->p);
    if (rc) return rc;
    f->held_out = calloc(f->n, sizeof *f->held_out);
    f->gain = calloc(f->n * WEIGHTS, sizeof *f->gain);
    f->with = calloc(f->n, sizeof *f->with);
    f->without = calloc(f->n, sizeof *f->without);
    if (!f->held_out || !f->gain || !f->with || !f->without) return fo_no_memory(err);
    size_t n_held_out = 0;
    for (size_t i = 0; i < f->n; i++) n_held_out += f->held_out[i] = is_held_out(f->q[i].document);
    if (n_held_out < LEAST_QUESTIONS || f->n - n_held_out < LEAST_QUESTIONS)
        return fo_fail(err, FO_EINVAL,
                       "the model wrote %zu questions, %zu of them to choose by and %zu to check: "
                       "%d of each are the "
                       "least; ask about more passages (--count), of more documents",
                       f->n, f->n - n_held_out, n_held_out, LEAST_QUESTIONS);
    return FO_OK;
}

static int measure(fitting *f, fo_err *err) {
    int rc = FO_OK;
    f->p = progress_begin("search", "questions", f->n, f->o->json);
    for (size_t i = 0; !rc && i < f->n; i++) {
        for (int w = 0; !rc && w < WEIGHTS; w++)
            rc = search(f, i, (double)w / (WEIGHTS - 1), &f->gain[i * WEIGHTS + (size_t)w], err);
        progress_add(f->p, 1);
    }
    progress_end(f->p);
    return rc;
}

static int measure_supports(fitting *f, double alpha, fo_err *err) {
    int rc = FO_OK;
    f->p = progress_begin("answer", "questions", f->n, f->o->json);
    for (size_t i = 0; !rc && i < f->n; i++) {
        rc = measure_support(f, i, alpha, NULL, &f->with[i], err);
        if (!rc) rc = measure_support(f, i, alpha, f->q[i].document, &f->without[i], err);
        progress_add(f->p, 1);
    }
    progress_end(f->p);
    return rc;
}

static void rounded(json_out *o, const char *name, double v) {
    json_out_number(o, name, round(v * 1000) / 1000);
}

typedef struct choice {
    double usual, chosen, before, after; /* before, after: on the questions held out */
    bool kept;
} choice;

static void write_choice(json_out *o, const char *name, const char *measure_name, const choice *c) {
    json_out_open(o, name, '{');
    rounded(o, "usual", c->usual);
    rounded(o, "chosen", c->chosen);
    json_out_open(o, "held_out", '{');
    json_out_string(o, "measure", measure_name);
    rounded(o, "before", c->before);
    rounded(o, "after", c->after);
    json_out_close(o, '}');
    json_out_bool(o, "kept", c->kept);
    json_out_close(o, '}');
}

static choice choose_weight(const fitting *f) {
    const double usual =
        (double)embedder_alpha(service_embedder_for(f->s, "default", f->o->collection));
    const int at = (int)lround(usual * (WEIGHTS - 1)), best = best_weight(f, at);
    choice c = {.usual = (double)at / (WEIGHTS - 1),
                .chosen = (double)best / (WEIGHTS - 1),
                .before = mean_gain(f, true, at),
                .after = mean_gain(f, true, best)};
    c.kept = c.after > c.before + least_gain;
    return c;
}

static int choose_threshold(const fitting *f, choice *out, fo_err *err) {
    double *a = calloc(f->n, sizeof *a), *b = calloc(f->n, sizeof *b);
    int rc = a && b ? FO_OK : fo_no_memory(err);
    if (!rc) {
        size_t na = of_half(f, false, f->with, a), nb = of_half(f, false, f->without, b);
        choice c = {.usual = support_threshold, .chosen = support_threshold};
        c.chosen = fit_threshold(a, na, b, nb, support_threshold);
        na = of_half(f, true, f->with, a);
        nb = of_half(f, true, f->without, b);
        if (na && nb) {
            c.before = balance(a, na, b, nb, c.usual);
            c.after = balance(a, na, b, nb, c.chosen);
        }
        c.kept = c.after > c.before + least_gain;
        *out = c;
    }
    free(a);
    free(b);
    return rc;
}

static int write_questions(const fitting *f, fo_err *err) {
    fo_buf lines = {0}, qrels = {0}, name = {0};
    for (size_t i = 0; i < f->n; i++) {
        json_out o = {&lines, false};
        char id[24];
        snprintf(id, sizeof id, "q%zu", i + 1);
        json_out_open(&o, NULL, '{');
        json_out_string(&o, "id", id);
        json_out_string(&o, "text", f->q[i].text);
        json_out_string(&o, "document", f->q[i].document);
        json_out_bool(&o, "held_out", f->held_out[i]);
        json_out_close(&o, '}');
        fo_buf_char(&lines, '\n');
        fo_buf_printf(&qrels, "%s\t%s\t1\n", id, f->q[i].document);
    }
    fo_buf_printf(&name, "%s.qrels", f->o->out);
    int rc = lines.failed || qrels.failed || name.failed ? fo_no_memory(err) : FO_OK;
    if (!rc) rc = fo_file_put(f->o->out, lines.data, lines.len, err);
    if (!rc) rc = fo_file_put(name.data, qrels.data, qrels.len, err);
    fo_buf_free(&lines);
    fo_buf_free(&qrels);
    fo_buf_free(&name);
    return rc;
}

static int conclude(fitting *f, fo_buf *report, fo_err *err) {
    choice weight = choose_weight(f), threshold;
    const double alpha = weight.kept ? weight.chosen : -1;
    int rc = measure_supports(f, weight.kept ? weight.chosen : weight.usual, err);
    if (!rc) rc = choose_threshold(f, &threshold, err);
    const double least = !rc && threshold.kept ? threshold.chosen : -1;
    if (!rc && !f->o->dry_run)
        rc = service_set_tuning(f->s, "default", f->o->collection, &alpha, &least, err);
    if (!rc && f->o->out) rc = write_questions(f, err);
    if (rc) return rc;
    size_t n_held_out = 0;
    for (size_t i = 0; i < f->n; i++) n_held_out += f->held_out[i];
    json_out o = {report, false};
    json_out_open(&o, NULL, '{');
    json_out_string(&o, "collection", f->o->collection);
    json_out_string(&o, "embedder",
                    embedder_name(service_embedder_for(f->s, "default", f->o->collection)));
    json_out_int(&o, "questions", (int64_t)f->n);
    json_out_int(&o, "held_out", (int64_t)n_held_out);
    write_choice(&o, "dense_weight", "ndcg@10", &weight);
    write_choice(&o, "support_threshold", "mean of kept and refused", &threshold);
    json_out_bool(&o, "stored", !f->o->dry_run && (weight.kept || threshold.kept));
    json_out_close(&o, '}');
    return FO_OK;
}

int fit_questions_run(service *s, const fit_questions_options *o, fo_buf *report, fo_err *err) {
    fitting f = {.s = s, .o = o};
    int rc = prepare(&f, err);
    if (!rc) rc = measure(&f, err);
    if (!rc) rc = conclude(&f, report, err);
    own_questions_free(f.q, f.n);
    free(f.held_out);
    free(f.gain);
    free(f.with);
    free(f.without);
    return rc;
}
