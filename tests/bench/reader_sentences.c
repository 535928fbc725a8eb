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
    char *id, *title, *text, *joined; /* joined: title, full stop, text */
    size_t n_sentences, ends[MAX_SENTENCES];
    reader_text *read, *read_title, *read_joined;
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
            .id = copy_of(o, "id"), .title = copy_of(o, "title"), .text = copy_of(o, "text")};
        const size_t len = strlen(p->text);
        if (asprintf(&p->joined, "%s. %s", p->title, p->text) < 0) die("out of memory");
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
    static const char *texts[3 * PASSAGES_AT_ONCE];
    static passage *of[PASSAGES_AT_ONCE];
    size_t lens[3 * PASSAGES_AT_ONCE], n = 0;
    reader_text *out[3 * PASSAGES_AT_ONCE];
    for (size_t i = 0; i <= n_questions; i++) {
        passage *p = i < n_questions ? questions[i].passage : NULL;
        bool known = !p || p->read != NULL;
        for (size_t k = 0; k < n; k++) known = known || of[k] == p;
        if (!known) {
            texts[3 * n] = p->text;
            texts[3 * n + 1] = p->title;
            texts[3 * n + 2] = p->joined;
            of[n++] = p;
        }
        if (n < PASSAGES_AT_ONCE && p) continue;
        for (size_t k = 0; k < 3 * n; k++) lens[k] = strlen(texts[k]);
        if (reader_encode(r, texts, lens, 3 * n, NULL, out, &err)) die("reader_encode");
        for (size_t k = 0; k < n; k++) {
            of[k]->read = out[3 * k];
            of[k]->read_title = out[3 * k + 1];
            of[k]->read_joined = out[3 * k + 2];
        }
        n = 0;
    }
}

static void forget_all(void) {
    for (size_t i = 0; i < n_passages; i++) {
        reader_text_release(passages[i].read);
        reader_text_release(passages[i].read_title);
        reader_text_release(passages[i].read_joined);
        passages[i].read = passages[i].read_title = passages[i].read_joined = NULL;
    }
}

/* --- the best sentence --- */
/* What is scored: the sentence; the title too; the sentence in a text that begins with its title. */
enum { BARE, TITLED, JOINED, N_UNITS };
/* What a token of the question counts: one; by idf among all passages; the root of that; that
 * without punctuation; by idf among the sentences, without and with their title. */
enum { ONE, IDF, ROOT, WORDS_ALONE, IDF_HERE, IDF_TITLED, N_WEIGHTS };

static const struct {
    const char *name;
    int units, weights;
} ways[] = {{"mean", BARE, ONE},
            {"idf", BARE, IDF},
            {"root_idf", BARE, ROOT},
            {"idf_without_marks", BARE, WORDS_ALONE},
            {"idf_of_sentences", BARE, IDF_HERE},
            {"title_mean", TITLED, ONE},
            {"title_idf", TITLED, IDF},
            {"title_root_idf", TITLED, ROOT},
            {"title_idf_of_sentences", TITLED, IDF_HERE},
            {"title_idf_of_titled", TITLED, IDF_TITLED},
            {"joined_mean", JOINED, ONE},
            {"joined_idf", JOINED, IDF},
            {"joined_root_idf", JOINED, ROOT},
            {"joined_idf_of_sentences", JOINED, IDF_HERE}};
enum { N_WAYS = sizeof ways / sizeof *ways };

typedef struct totals {
    size_t n, right[N_WAYS], words, first, tokens, cut;
} totals;

static reader_part sentence_of(const passage *p, size_t i, bool joined) {
    const size_t skip = joined ? strlen(p->joined) - strlen(p->text) : 0;
    return reader_part_of(joined ? p->read_joined : p->read, skip + (i ? p->ends[i - 1] : 0),
                          skip + p->ends[i], 1);
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

static reader_part parts[MAX_SENTENCES][2];

static void make_units(const passage *p, int units, reader_unit list[MAX_SENTENCES]) {
    for (size_t i = 0; i < p->n_sentences; i++) {
        parts[i][0] = sentence_of(p, i, units == JOINED);
        parts[i][1] = reader_part_of(p->read_title, 0, SIZE_MAX, .9f);
        list[i] = (reader_unit){parts[i], units == TITLED ? 2 : 1};
    }
}

static void weigh(const question *q, const reader_text *read, const reader_unit *among,
                  size_t n_among, float w[N_WEIGHTS][READER_MAX_TOKENS]) {
    reader_unit list[MAX_SENTENCES];
    reader_idf(read, among, n_among, w[IDF]);
    make_units(q->passage, BARE, list);
    reader_idf(read, list, q->passage->n_sentences, w[IDF_HERE]);
    make_units(q->passage, TITLED, list);
    reader_idf(read, list, q->passage->n_sentences, w[IDF_TITLED]);
    for (size_t k = 0; k < reader_text_tokens(read); k++) {
        const char c = q->text[reader_text_span(read, k).begin];
        w[ONE][k] = 1;
        w[ROOT][k] = sqrtf(w[IDF][k]);
        w[WORDS_ALONE][k] = strchr("?!.,;:'\"()-", c) ? 0 : w[IDF][k];
    }
}

/* best[sentences][tokens of the question] */
static void align(const question *q, const reader_text *read, int units, float *best) {
    reader_unit list[MAX_SENTENCES];
    make_units(q->passage, units, list);
    if (reader_align(read, list, q->passage->n_sentences, best, &err)) die("reader_align");
}

static void ask(reader *r, question *q, const reader_unit *among, size_t n_among, totals *t) {
    static float best[N_UNITS][MAX_SENTENCES * READER_MAX_TOKENS];
    static float weights[N_WEIGHTS][READER_MAX_TOKENS];
    const size_t len = strlen(q->text), n = q->passage->n_sentences;
    reader_text *read;
    if (reader_encode(r, (const char *const *)&q->text, &len, 1, NULL, &read, &err))
        die("reader_encode");
    const size_t nq = reader_text_tokens(read);
    weigh(q, read, among, n_among, weights);
    for (int u = 0; u < N_UNITS; u++) align(q, read, u, best[u]);
    double scores[MAX_SENTENCES];
    for (int w = 0; w < N_WAYS; w++) {
        for (size_t i = 0; i < n; i++)
            scores[i] =
                (double)reader_score(best[ways[w].units] + i * nq, weights[ways[w].weights], nq);
        t->right[w] += holds_answer(q, best_of(scores, n));
    }
    for (size_t i = 0; i < n; i++) {
        const reader_part s = sentence_of(q->passage, i, false);
        scores[i] = 0;
        for (size_t k = 0; k < nq; k++)
            scores[i] += holds_piece(&s, read->ids[k + 1]) ? (double)weights[IDF][k] : 0;
    }
    t->words += holds_answer(q, best_of(scores, n));
    t->first += holds_answer(q, 0);
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

static void measure(const char *name) {
    reader *r;
    reader_options o = {.exact = !strncmp(name, "exact:", 6)};
    const char *path = o.exact ? name + 6 : name;
    const double began = fo_now_ms();
    if (reader_open(&r, strcmp(path, "builtin") ? path : NULL, &o, &err)) die(name);
    const double opened = fo_now_ms();
    read_all(r);
    totals t = {0};
    reader_unit *among = allocate(n_questions, sizeof *among);
    reader_part *whole = allocate(n_questions, sizeof *whole);
    for (size_t i = 0; i < n_questions; i++) {
        whole[i] = reader_part_of(questions[i].passage->read, 0, SIZE_MAX, 1);
        among[i] = (reader_unit){&whole[i], 1};
    }
    for (size_t i = 0; i < n_questions; i++) {
        const passage *p = questions[i].passage;
        t.tokens += reader_text_tokens(p->read);
        t.cut += reader_text_bytes(p->read) < strlen(p->text);
        ask(r, &questions[i], among, n_questions, &t);
    }
    printf("{\"model\":\"%s\",\"questions\":%zu,\"mean_tokens\":%.1f,\"cut\":%zu,\"open_ms\":%.0f",
           name, t.n, (double)t.tokens / (double)t.n, t.cut, opened - began);
    for (int w = 0; w < N_WAYS; w++)
        printf(",\"%s\":%.3f", ways[w].name, (double)t.right[w] / (double)t.n);
    printf(",\"words\":%.3f,\"first_sentence\":%.3f", (double)t.words / (double)t.n,
           (double)t.first / (double)t.n);
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
    free(whole);
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
