/* reader_sentences SET [-n LIMIT] MODEL... - what a reader's numbers are worth: of questions whose
 * gold passage is known, how often the sentence that it scores best holds a gold answer; and how
 * far each model's token vectors are from those of the first one.
 *
 * SET is a folder with corpus.jsonl, queries.jsonl (with answers) and qrels.tsv; LIMIT questions of
 * it (1000), evenly spread. A MODEL is a GGUF file or "builtin", with "exact:" before it in F32
 * arithmetic. One JSON object a model on stdout. Only passages of at least two sentences count. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cjson/cJSON.h>

#include "data/chunk/chunk.h"
#include "engine/embed/reader.h"
#include "engine/embed/reader_impl.h"
#include "kernels/clock.h"
#include "retrieval/rank/measures.h"

enum { MAX_ANSWERS = 16, MAX_SENTENCES = 64, PASSAGES_AT_ONCE = 64 };

typedef struct passage {
    char *id, *title, *text;
    size_t n_sentences, ends[MAX_SENTENCES];
    reader_text *read, *read_title;
} passage;

typedef struct question {
    char *id, *text;
    char *answers[MAX_ANSWERS];
    size_t n_answers;
    const char *gold; /* id */
    passage *passage;
} question;

static fo_err err;

static _Noreturn void die(const char *what) {
    fprintf(stderr, "%s: %s\n", what, err.msg);
    exit(1);
}

static void *allocate(size_t n, size_t size) {
    void *p = calloc(n ? n : 1, size);
    if (!p) die("out of memory");
    return p;
}

static FILE *open_in(const char *set, const char *name) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", set, name);
    FILE *f = fopen(path, "r");
    if (!f) {
        perror(path);
        exit(1);
    }
    return f;
}

static char *copy_of(const cJSON *o, const char *key) {
    const char *s = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(o, key));
    return strdup(s ? s : "");
}

/* --- the set --- */
static passage *passages;
static question *questions;
static size_t n_passages, n_questions;

static int by_id(const void *a, const void *b) {
    return strcmp(((const passage *)a)->id, ((const passage *)b)->id);
}

static int question_by_id(const void *a, const void *b) {
    return strcmp(((const question *)a)->id, ((const question *)b)->id);
}

static void read_passages(const char *set) {
    char *line = NULL;
    size_t room = 0, cap = 0;
    FILE *f = open_in(set, "corpus.jsonl");
    while (getline(&line, &room, f) > 0) {
        if (n_passages == cap) {
            cap = cap ? 2 * cap : 1024;
            if (!(passages = realloc(passages, cap * sizeof *passages))) die("out of memory");
        }
        cJSON *o = cJSON_Parse(line);
        passage *p = &passages[n_passages++];
        *p = (passage){
            copy_of(o, "id"), copy_of(o, "title"), copy_of(o, "text"), 0, {0}, NULL, NULL};
        const size_t len = strlen(p->text);
        for (size_t at = 0; at < len && p->n_sentences < MAX_SENTENCES;) {
            size_t end = sentence_end(p->text, len, at);
            p->ends[p->n_sentences++] = end;
            at = end;
        }
        cJSON_Delete(o);
    }
    fclose(f);
    free(line);
    qsort(passages, n_passages, sizeof *passages, by_id);
}

static void read_questions(const char *set) {
    char *line = NULL;
    size_t room = 0, cap = 0;
    FILE *f = open_in(set, "queries.jsonl");
    while (getline(&line, &room, f) > 0) {
        if (n_questions == cap) {
            cap = cap ? 2 * cap : 1024;
            if (!(questions = realloc(questions, cap * sizeof *questions))) die("out of memory");
        }
        cJSON *o = cJSON_Parse(line), *a;
        question *q = &questions[n_questions];
        *q = (question){.id = copy_of(o, "id"), .text = copy_of(o, "text")};
        cJSON_ArrayForEach(a, cJSON_GetObjectItemCaseSensitive(o, "answers")) {
            if (cJSON_IsString(a) && q->n_answers < MAX_ANSWERS)
                q->answers[q->n_answers++] = strdup(a->valuestring);
        }
        n_questions += q->n_answers > 0;
        cJSON_Delete(o);
    }
    fclose(f);
    qsort(questions, n_questions, sizeof *questions, question_by_id);
    f = open_in(set, "qrels.tsv");
    while (getline(&line, &room, f) > 0) {
        char *query = strtok(line, "\t"), *document = strtok(NULL, "\t\n");
        if (!query || !document) continue;
        question *q =
            bsearch(&(question){.id = query}, questions, n_questions, sizeof *q, question_by_id);
        passage *p = bsearch(&(passage){.id = document}, passages, n_passages, sizeof *p, by_id);
        if (q && p && p->n_sentences > 1 && !q->passage) q->passage = p;
    }
    fclose(f);
    free(line);
}

/* Those with a passage, at most `limit`, evenly spread over the set. */
static void choose(size_t limit) {
    size_t n = 0, kept = 0;
    for (size_t i = 0; i < n_questions; i++)
        if (questions[i].passage) questions[n++] = questions[i];
    if (limit > n) limit = n;
    for (size_t i = 0; i < limit; i++) questions[kept++] = questions[i * n / limit];
    n_questions = kept;
}

/* --- reading --- */
static void read_all(reader *r) {
    static const char *texts[2 * PASSAGES_AT_ONCE];
    static passage *of[PASSAGES_AT_ONCE];
    size_t lens[2 * PASSAGES_AT_ONCE], n = 0;
    reader_text *out[2 * PASSAGES_AT_ONCE];
    for (size_t i = 0; i <= n_questions; i++) {
        passage *p = i < n_questions ? questions[i].passage : NULL;
        bool known = !p || p->read != NULL;
        for (size_t k = 0; k < n; k++) known = known || of[k] == p;
        if (!known) {
            texts[2 * n] = p->text;
            texts[2 * n + 1] = p->title;
            of[n++] = p;
        }
        if (n < PASSAGES_AT_ONCE && p) continue;
        for (size_t k = 0; k < 2 * n; k++) lens[k] = strlen(texts[k]);
        if (reader_encode(r, texts, lens, 2 * n, NULL, out, &err)) die("reader_encode");
        for (size_t k = 0; k < n; k++) {
            of[k]->read = out[2 * k];
            of[k]->read_title = out[2 * k + 1];
        }
        n = 0;
    }
}

static void forget_all(void) {
    for (size_t i = 0; i < n_passages; i++) {
        reader_text_release(passages[i].read);
        reader_text_release(passages[i].read_title);
        passages[i].read = passages[i].read_title = NULL;
    }
}

/* --- the best sentence --- */
enum { MEAN, IDF_SET, IDF_PASSAGE, IDF_TITLE, WORDS, FIRST, N_WAYS };
static const char *const ways[N_WAYS] = {"mean",          "idf",   "idf_of_sentences",
                                         "idf_and_title", "words", "first_sentence"};

typedef struct totals {
    size_t n, right[N_WAYS], tokens, cut;
} totals;

static reader_part sentence_of(const passage *p, size_t i) {
    return reader_part_of(p->read, i ? p->ends[i - 1] : 0, p->ends[i], 1);
}

static bool holds_piece(const reader_part *p, int32_t id) {
    for (uint32_t i = p->begin; i < p->end; i++)
        if (p->text->ids[i + 1] == id) return true;
    return false;
}

static bool holds_answer(const question *q, size_t sentence) {
    const passage *p = q->passage;
    const size_t from = sentence ? p->ends[sentence - 1] : 0;
    char *text = strndup(p->text + from, p->ends[sentence] - from);
    bool held = measure_contains(text, (const char *const *)q->answers, q->n_answers);
    free(text);
    return held;
}

static size_t best_of(const double *scores, size_t n) {
    size_t best = 0;
    for (size_t i = 1; i < n; i++)
        if (scores[i] > scores[best]) best = i;
    return best;
}

static void ask(reader *r, question *q, const reader_text *const *among, size_t n_among,
                totals *t) {
    const passage *p = q->passage;
    const size_t len = strlen(q->text), n = p->n_sentences;
    reader_text *read;
    if (reader_encode(r, (const char *const *)&q->text, &len, 1, NULL, &read, &err))
        die("reader_encode");
    const size_t nq = reader_text_tokens(read);
    static float bare[MAX_SENTENCES][READER_MAX_TOKENS], titled[MAX_SENTENCES][READER_MAX_TOKENS];
    static reader_part parts[MAX_SENTENCES][2];
    reader_unit units[MAX_SENTENCES];
    for (size_t i = 0; i < n; i++) {
        parts[i][0] = sentence_of(p, i);
        parts[i][1] = reader_part_of(p->read_title, 0, SIZE_MAX, .9f);
    }
    float *best = malloc(n * nq * sizeof *best + 1);
    for (int with = 0; with < 2; with++) {
        for (size_t i = 0; i < n; i++) units[i] = (reader_unit){parts[i], (size_t)with + 1};
        if (reader_align(read, units, n, best, &err)) die("reader_align");
        for (size_t i = 0; i < n; i++)
            memcpy(with ? titled[i] : bare[i], best + i * nq, nq * sizeof *best);
    }
    free(best);
    float one[READER_MAX_TOKENS], idf[READER_MAX_TOKENS], local[READER_MAX_TOKENS];
    reader_idf(read, among, n_among, idf);
    for (size_t k = 0; k < nq; k++) {
        size_t df = 0;
        for (size_t i = 0; i < n; i++) df += holds_piece(&parts[i][0], read->ids[k + 1]);
        one[k] = 1;
        local[k] = logf(1 + ((float)(n - df) + .5f) / ((float)df + .5f));
    }
    double scores[N_WAYS][MAX_SENTENCES];
    for (size_t i = 0; i < n; i++) {
        double words = 0;
        for (size_t k = 0; k < nq; k++)
            words += holds_piece(&parts[i][0], read->ids[k + 1]) ? (double)idf[k] : 0;
        scores[MEAN][i] = (double)reader_score(bare[i], one, nq);
        scores[IDF_SET][i] = (double)reader_score(bare[i], idf, nq);
        scores[IDF_PASSAGE][i] = (double)reader_score(bare[i], local, nq);
        scores[IDF_TITLE][i] = (double)reader_score(titled[i], idf, nq);
        scores[WORDS][i] = words;
        scores[FIRST][i] = -(double)i;
    }
    for (int w = 0; w < N_WAYS; w++) t->right[w] += holds_answer(q, best_of(scores[w], n));
    t->n++;
    reader_text_release(read);
}

/* --- token vectors beside the first model's --- */
static float **reference; /* [questions][tokens * dim], exact or rounded */

static float *vectors_of(const reader_text *t) {
    float *v = allocate((size_t)t->n_tokens * t->dim, sizeof *v);
    for (size_t i = 0; i < t->n_tokens; i++)
        for (size_t k = 0; k < t->dim; k++)
            v[i * t->dim + k] = t->vectors ? t->vectors[i * t->dim + k]
                                           : t->scale[i] * (float)t->codes[i * t->len + k];
    return v;
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void compare(void) {
    size_t n = 0, cap = 0;
    for (size_t i = 0; i < n_questions; i++) cap += questions[i].passage->read->n_tokens;
    double *cosines = allocate(cap, sizeof *cosines), sum = 0;
    for (size_t i = 0; i < n_questions; i++) {
        const reader_text *t = questions[i].passage->read;
        float *v = vectors_of(t);
        for (size_t k = 0; k < t->n_tokens; k++) {
            double dot = 0, a = 0, b = 0;
            for (size_t c = 0; c < t->dim; c++) {
                const double x = (double)v[k * t->dim + c];
                const double y = (double)reference[i][k * t->dim + c];
                dot += x * y;
                a += x * x;
                b += y * y;
            }
            sum += cosines[n++] = dot / sqrt(a * b);
        }
        free(v);
    }
    qsort(cosines, n, sizeof *cosines, ascending);
    printf(",\"cosine\":{\"mean\":%.5f,\"one_in_100\":%.5f,\"one_in_10000\":%.5f,\"least\":%.5f}",
           sum / (double)n, cosines[n / 100], cosines[n / 10000], cosines[0]);
    free(cosines);
}

static void measure(const char *model) {
    reader *r;
    reader_options o = {.exact = !strncmp(model, "exact:", 6)};
    const char *path = o.exact ? model + 6 : model;
    const double began = fo_now_ms();
    if (reader_open(&r, strcmp(path, "builtin") ? path : NULL, &o, &err)) die(model);
    const double opened = fo_now_ms();
    read_all(r);
    totals t = {0};
    const reader_text **among = allocate(n_questions, sizeof *among);
    for (size_t i = 0; i < n_questions; i++) among[i] = questions[i].passage->read;
    for (size_t i = 0; i < n_questions; i++) {
        const passage *p = questions[i].passage;
        t.tokens += reader_text_tokens(p->read);
        t.cut += reader_text_bytes(p->read) < strlen(p->text);
        ask(r, &questions[i], among, n_questions, &t);
    }
    printf("{\"model\":\"%s\",\"questions\":%zu,\"mean_tokens\":%.1f,\"cut\":%zu,\"open_ms\":%.0f",
           model, t.n, (double)t.tokens / (double)t.n, t.cut, opened - began);
    for (int w = 0; w < N_WAYS; w++)
        printf(",\"%s\":%.3f", ways[w], (double)t.right[w] / (double)t.n);
    if (reference) {
        compare();
    } else {
        reference = allocate(n_questions, sizeof *reference);
        for (size_t i = 0; i < n_questions; i++)
            reference[i] = vectors_of(questions[i].passage->read);
    }
    puts("}");
    fflush(stdout);
    free(among);
    forget_all();
    reader_close(r);
}

int main(int argc, char **argv) {
    size_t limit = 1000;
    int at = 2;
    if (argc > 3 && !strcmp(argv[2], "-n")) {
        limit = strtoull(argv[3], NULL, 10);
        at = 4;
    }
    if (argc <= at) {
        fputs("usage: reader_sentences SET [-n LIMIT] MODEL...\n", stderr);
        return 2;
    }
    read_passages(argv[1]);
    read_questions(argv[1]);
    choose(limit);
    for (; at < argc; at++) measure(argv[at]);
    return 0;
}
