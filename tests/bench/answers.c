/* answers HOME SET [LIMIT] - extractive answers and abstention, end to end through the service.
 *
 * SET is a folder with corpus.jsonl, queries.jsonl (with answers) and qrels.tsv, whose document ids
 * are ARTICLE#n. HOME is filled with it unless it holds it already. Every question is asked three
 * times: for one sentence, for up to three, and with the whole article of its gold paragraph
 * filtered out, which makes it unanswerable (save by chance). One JSON object on stdout. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cjson/cJSON.h>

#include "kernels/buf.h"
#include "retrieval/rank/measures.h"
#include "retrieval/service/service.h"
#include "retrieval/text/support.h"
#include "tests/bench/set_home.h"

enum { MAX_ANSWERS = 16 };

/* {"article": the id up to its #} */
static char *article_of(const cJSON *document) {
    const char *id = string_of(document, "id");
    char article[512];
    snprintf(article, sizeof article, "%.*s", (int)strcspn(id, "#"), id);
    cJSON *m = cJSON_CreateObject();
    cJSON_AddStringToObject(m, "article", article);
    char *text = cJSON_PrintUnformatted(m);
    cJSON_Delete(m);
    return text;
}

typedef struct totals {
    size_t n, one, three, citations, verified, kept, refused;
    double *with, *without; /* support, with and without the gold article */
    double ms;
} totals;

static query_result ask(service *s, const char *question, size_t sentences, const char *without) {
    search_filter *filter = NULL;
    if (without) {
        cJSON *j = cJSON_CreateObject();
        cJSON_AddStringToObject(j, "type", "ne");
        cJSON_AddStringToObject(j, "key", "article");
        cJSON_AddStringToObject(j, "value", without);
        if (search_filter_parse(&filter, j, &err)) die("filter");
        cJSON_Delete(j);
    }
    query_request q = {.tenant = "default",
                       .collection = "default",
                       .query = question,
                       .filter = filter,
                       .search = {.alpha = -1},
                       .generate = true,
                       .max_sentences = sentences,
                       .cache = CACHE_BYPASS};
    query_result r = {0};
    if (service_query(s, &q, NULL, &r, &err)) die(question);
    search_filter_free(filter);
    return r;
}

static bool holds_gold(const query_result *r, const char *const *gold, size_t n) {
    fo_buf plain = {0}; /* the sentences without their markers */
    for (size_t i = 0; i < r->n_citations; i++) {
        fo_buf_str(&plain, r->citations[i].quote);
        fo_buf_char(&plain, ' ');
    }
    bool held = plain.data && measure_contains(plain.data, gold, n);
    fo_buf_free(&plain);
    return held;
}

static void ask_all(service *s, const char *question, const char *article, const char *const *gold,
                    size_t n_gold, totals *t) {
    query_result r = ask(s, question, 1, NULL);
    t->one += holds_gold(&r, gold, n_gold);
    query_result_deinit(&r);
    r = ask(s, question, 3, NULL);
    t->three += holds_gold(&r, gold, n_gold);
    t->citations += r.n_citations;
    for (size_t i = 0; i < r.n_citations; i++) t->verified += r.citations[i].verified;
    t->kept += r.support >= support_threshold;
    t->ms += r.ms.decode;
    t->with[t->n] = r.support;
    query_result_deinit(&r);
    r = ask(s, question, 3, article);
    t->refused += r.support < support_threshold;
    t->without[t->n++] = r.support;
    query_result_deinit(&r);
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Probability that an answerable question's support exceeds an unanswerable one's. */
static double auroc(const double *pos, const double *neg, size_t n) { /* both ascending */
    double wins = 0;
    for (size_t i = 0, below = 0, upto = 0; i < n; i++) {
        while (below < n && neg[below] < pos[i]) below++;
        if (upto < below) upto = below;
        while (upto < n && neg[upto] <= pos[i]) upto++;
        wins += (double)below + 0.5 * (double)(upto - below);
    }
    return wins / ((double)n * (double)n);
}

int main(int argc, char **argv) {
    if (argc < 3) {
        fprintf(stderr, "usage: answers HOME SET [LIMIT]\n");
        return 2;
    }
    size_t limit = argc > 3 ? strtoul(argv[3], NULL, 10) : SIZE_MAX;
    service *s = open_filled(argv[1], argv[2], article_of);
    FILE *queries = open_in(argv[2], "queries.jsonl"), *qrels = open_in(argv[2], "qrels.tsv");
    char *line = NULL, *judged = NULL;
    size_t cap = 0, judged_cap = 0, room = 1 << 16;
    totals t = {.with = calloc(room, sizeof *t.with), .without = calloc(room, sizeof *t.without)};
    while (t.n < limit && t.n < room && getline(&line, &cap, queries) > 0 &&
           getline(&judged, &judged_cap, qrels) > 0) {
        cJSON *q = cJSON_Parse(line);
        char id[256] = "", document[512] = "";
        if (sscanf(judged, "%255[^\t]\t%511[^\t]", id, document) != 2 ||
            strcmp(id, string_of(q, "id")) != 0) {
            fprintf(stderr, "answers: queries and qrels must run in step (%s)\n", id);
            return 1;
        }
        document[strcspn(document, "#")] = 0;
        const char *gold[MAX_ANSWERS];
        size_t n_gold = 0;
        const cJSON *a;
        cJSON_ArrayForEach(a, cJSON_GetObjectItemCaseSensitive(q, "answers")) {
            if (cJSON_IsString(a) && n_gold < MAX_ANSWERS) gold[n_gold++] = a->valuestring;
        }
        ask_all(s, string_of(q, "text"), document, gold, n_gold, &t);
        cJSON_Delete(q);
    }
    qsort(t.with, t.n, sizeof *t.with, by_value);
    qsort(t.without, t.n, sizeof *t.without, by_value);
    double n = (double)t.n, at_90 = t.n ? t.with[t.n / 10] : 0;
    size_t below = 0;
    while (below < t.n && t.without[below] < at_90) below++;
    printf("{\"questions\":%zu,\"one_sentence\":%.4f,\"three_sentences\":%.4f,\"citations\":%zu,"
           "\"verified\":%.5f,\"auroc\":%.4f,\"threshold_at_90\":%.4f,\"refused_at_90\":%.4f,"
           "\"default_threshold\":%.2f,\"kept\":%.4f,\"refused\":%.4f,\"answer_ms\":%.3f}\n",
           t.n, (double)t.one / n, (double)t.three / n, t.citations,
           (double)t.verified / (double)t.citations, auroc(t.with, t.without, t.n), at_90,
           (double)below / n, support_threshold, (double)t.kept / n, (double)t.refused / n,
           t.ms / n);
    service_close(s);
    free(t.with);
    free(t.without);
    free(line);
    free(judged);
    fclose(queries);
    fclose(qrels);
    return 0;
}
