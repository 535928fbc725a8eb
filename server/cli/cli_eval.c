/* forage eval: how good retrieval and answers of a home are, against judged queries.
 *
 * Rankings are of documents: each stands at the rank of its best chunk. A query without a relevant
 * document in the qrels is left out of the ranking measures, as trec_eval does. */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/order.h"
#include "kernels/words.h"
#include "kernels/cpu.h"
#include "kernels/file.h"
#include "kernels/utf8.h"
#include "retrieval/rank/measures.h"
#include "retrieval/collections/catalog.h"
#include "retrieval/home/home.h"
#include "retrieval/service/service.h"
#include "server/cli/cli.h"
#include "server/cli/cli_models.h"
#include "server/cli/exact_judge.h"
#include "server/base/json.h"
#include "server/base/log.h"
#include "server/base/printable.h"
#include "server/cli/output_form.h"
#include "server/cli/progress.h"
#include "server/routes/query_json.h"

#define FILE_MAX_BYTES ((size_t)1 << 30)
#define RANKED_MAX     1000

static struct {
    const char *home, *queries, *qrels, *collection, *mode, *fusion, *rerank, *run_file,
        *answers_file, *judge;
    int64_t k, skip, limit, threads, sentences, max_tokens, rrf_k, ef, depth;
    double alpha;
    bool no_answers, loose, short_answer, generate, tune;
} o = {.home = "home",
       .collection = "default",
       .mode = "hybrid",
       .fusion = "weighted",
       .rerank = "none",
       .k = 10,
       .sentences = 3,
       .max_tokens = 96,
       .alpha = -1};

static const cli_option options[] = {
    {"home", CLI_STRING, &o.home, "DIR", "the home that holds the documents (default: home)"},
    {"queries", CLI_STRING, &o.queries, "FILE", "JSON lines: id, text; answers, answerability",
     .required = true, .flag_only = true},
    {"qrels", CLI_STRING, &o.qrels, "FILE",
     "query-id TAB document-id TAB relevance, or TREC's form", .flag_only = true},
    {"collection", CLI_STRING, &o.collection, "NAME", "default: default"},
    {"k", CLI_INT, &o.k, "K", "depth of nDCG, MRR and recall (default 10)", .min = 1, .max = 100},
    {"mode", CLI_CHOICE, &o.mode, NULL, "by both, by vectors or by words (default hybrid)",
     .names = search_mode_names},
    {"fusion", CLI_CHOICE, &o.fusion, NULL, "of both rankings (default weighted)",
     .names = fusion_names},
    {"rerank", CLI_CHOICE, &o.rerank, NULL,
     "puts the best in order: the reader, or the cross-encoder of --rerank-model (default none)",
     .names = rerank_names},
    {"alpha", CLI_DOUBLE, &o.alpha, "A", "dense weight (default: the embedder's)", .min = 0,
     .max = 1},
    {"rrf-k", CLI_INT, &o.rrf_k, "N", "of rrf (default 60)", .min = 1, .max = 10000},
    {"ef", CLI_INT, &o.ef, "N", "breadth of the dense search", .min = 1, .max = 10000},
    {"depth", CLI_INT, &o.depth, "N", "chunks retrieved a query (default 3 k + 20)", .min = 1,
     .max = RANKED_MAX},
    {"max-sentences", CLI_INT, &o.sentences, "N", "of an answer (default 3)", .min = 1, .max = 20},
    {"skip", CLI_INT, &o.skip, "N", "leave the first N queries out", .min = 0, .max = 1e9},
    {"limit", CLI_INT, &o.limit, "N", "only so many queries", .min = 0, .max = 1e9},
    {"no-answers", CLI_BOOL, &o.no_answers, NULL, "rankings only, even where answers are given"},
    {"loose", CLI_BOOL, &o.loose, NULL, "answer even where the support is weak"},
    {"short", CLI_BOOL, &o.short_answer, NULL,
     "of answers in the documents' words hold the few that answer against the gold"},
    {"judge", CLI_STRING, &o.judge, "exact",
     "right, partial, wrong or refused, by the questions' own accept and refuse; needs no qrels",
     .flag_only = true},
    {"run-file", CLI_STRING, &o.run_file, "FILE", "write the rankings in TREC's run format",
     .flag_only = true},
    {"tune-alpha", CLI_BOOL, &o.tune, NULL,
     "try dense weights of the fusion; store the best with the collection if it beats the default"},
    {"generate", CLI_BOOL, &o.generate, NULL,
     "answers three ways: extractive, by --model alone, by the service with --model"},
    {"max-tokens", CLI_INT, &o.max_tokens, "N", "of a written answer (default 96)", .min = 1,
     .max = 4096},
    {"answers-file", CLI_STRING, &o.answers_file, "FILE", "write every answer as a line of JSON",
     .flag_only = true},
    CLI_GENERATE_OPTIONS,
    CLI_EMBED_OPTIONS,
    CLI_RERANK_OPTION,
    CLI_READER_OPTION,
    {"threads", CLI_INT, &o.threads, "N", "queries at once (default: all)", .max = 256},
    CLI_PROGRESS_OPTION,
    CLI_OUTPUT_OPTION,
    {0}};

typedef struct judgement {
    char *query, *document; /* into the text of the file */
    int relevance;
} judgement;

/* One way of answering one query. */
typedef struct judged_answer {
    bool made, answered, contains;
    double exact, f1, support, agreement, ms, first_token_ms;
    size_t n_citations, n_verified, completion_tokens;
    enum answer_source source;
    enum exact_verdict verdict; /* where the query has a judge */
    char *text;                 /* without markers */
} judged_answer;

typedef struct judged_query {
    cJSON *root; /* of the line; owns the strings */
    const char *id, *text;
    query_message *messages;
    size_t n_messages;
    const char **answers;
    size_t n_answers;
    int answerable; /* 1, 0, -1: not said */
    exact_judge *judge;
    /* outcome */
    bool failed, ranked;
    fo_err err;
    double ndcg, mrr, recall, success[3], ms;
    judged_answer by[3]; /* enum answer_by; [0] alone without --generate */
    char *run_lines;
} judged_query;

typedef struct evaluation {
    char *qrels_text;
    judgement *judgements; /* sorted by query, document */
    size_t n_judgements;
    judged_query *queries;
    size_t n_queries;
    service *service;
    atomic_size_t next;
    progress *progress;
} evaluation;

/* ---- reading -------------------------------------------------------------------------------- */

static int compare_judgements(const void *a, const void *b) {
    const judgement *x = a, *y = b;
    int c = strcmp(x->query, y->query);
    return c ? c : strcmp(x->document, y->document);
}

/* "q TAB d TAB rel" (fields may hold blanks), or "q 0 d rel" apart by blanks or tabs. */
static bool parse_judgement(char *line, judgement *j) {
    char *fields[5];
    int n = 0;
    const char *apart = strchr(line, '\t') ? "\t" : " ";
    char *state = NULL;
    for (char *f = strtok_r(line, apart, &state); f && n < 5; f = strtok_r(NULL, apart, &state))
        fields[n++] = f;
    if (n != 3 && n != 4) return false;
    char *end;
    double relevance = strtod(fields[n - 1], &end);
    if (end == fields[n - 1] || *end) return false;
    *j = (judgement){fields[0], fields[n - 2], (int)relevance};
    return true;
}

static int read_qrels(evaluation *e, fo_err *err) {
    size_t size;
    int rc = fo_file_read(o.qrels, FILE_MAX_BYTES, &e->qrels_text, &size, err);
    if (rc) return rc;
    size_t cap = 0, number = 0;
    for (char *next = e->qrels_text; next && *next;) {
        char *line = next;
        next = strchr(line, '\n');
        if (next) *next++ = 0;
        number++;
        size_t n = strlen(line);
        while (n && (line[n - 1] == '\r' || line[n - 1] == ' ')) line[--n] = 0;
        if (!n) continue;
        if (e->n_judgements == cap) {
            cap = cap ? cap * 2 : 1024;
            judgement *more = realloc(e->judgements, cap * sizeof *more);
            if (!more) return fo_no_memory(err);
            e->judgements = more;
        }
        if (!parse_judgement(line, &e->judgements[e->n_judgements])) {
            if (number == 1) continue; /* a heading */
            return fo_fail(err, FO_EINVAL, "%s:%zu: expected query, document, relevance", o.qrels,
                           number);
        }
        e->n_judgements++;
    }
    if (!e->n_judgements)
        return fo_fail(err, FO_EINVAL,
                       "%s holds no judgement: a line is query-id TAB document-id TAB relevance",
                       o.qrels);
    qsort(e->judgements, e->n_judgements, sizeof *e->judgements, compare_judgements);
    return FO_OK;
}

static int read_query(judged_query *q, char *line, size_t len, fo_err *err) {
    *q = (judged_query){.answerable = -1};
    int rc = json_parse(line, len, &q->root, err);
    if (rc) return rc;
    const cJSON *root = q->root;
    q->id = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(root, "id"));
    q->text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(root, "text"));
    if (!q->id || !q->text) return fo_fail(err, FO_EINVAL, "a query needs an id and a text");
    if (o.judge && (rc = exact_judge_create(&q->judge, root, err)) != FO_OK) return rc;
    const char *a = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(root, "answerability"));
    if (a) /* PARTIAL has an answer in the documents; UNDERSPECIFIED asks back: neither is counted
            */
        q->answerable = !strcasecmp(a, "answerable") ? 1 : !strcasecmp(a, "unanswerable") ? 0 : -1;
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(root, "answers"), *item;
    size_t n = cJSON_IsArray(list) ? (size_t)cJSON_GetArraySize(list) : 0;
    q->answers = calloc(n + 1, sizeof *q->answers);
    const cJSON *turns = cJSON_GetObjectItemCaseSensitive(root, "messages");
    size_t n_turns = cJSON_IsArray(turns) ? (size_t)cJSON_GetArraySize(turns) : 0;
    q->messages = calloc(n_turns + 1, sizeof *q->messages);
    if (!q->answers || !q->messages) return fo_no_memory(err);
    if (n) {
        cJSON_ArrayForEach(item, list) {
            if (cJSON_IsString(item)) q->answers[q->n_answers++] = item->valuestring;
        }
    }
    if (n_turns) {
        cJSON_ArrayForEach(item, turns) {
            const char *role = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, "role"));
            const char *text =
                cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, "content"));
            if (role && text) q->messages[q->n_messages++] = (query_message){role, text};
        }
    }
    return FO_OK;
}

static int read_queries(evaluation *e, fo_err *err) {
    FILE *f = fopen(o.queries, "re");
    if (!f) return fo_fail_errno(err, "cannot open %s", o.queries);
    char *line = NULL;
    size_t cap = 0, room = 0, number = 0;
    int64_t skipped = 0;
    ssize_t n;
    int rc = FO_OK;
    while (!rc && (n = getline(&line, &cap, f)) >= 0) {
        number++;
        while (n && (line[n - 1] == '\n' || line[n - 1] == '\r')) line[--n] = 0;
        if (!n) continue;
        if (o.limit && e->n_queries == (size_t)o.limit) break;
        if (skipped < o.skip) {
            skipped++;
            continue;
        }
        if (e->n_queries == room) {
            room = room ? room * 2 : 256;
            judged_query *more = realloc(e->queries, room * sizeof *more);
            if (!more) {
                rc = fo_no_memory(err);
                break;
            }
            e->queries = more;
        }
        rc = read_query(&e->queries[e->n_queries++], line, (size_t)n, err);
        if (rc) fo_fail_prefix(err, "%s:%zu", o.queries, number);
    }
    if (!rc && ferror(f)) rc = fo_fail_errno(err, "cannot read %s", o.queries);
    free(line);
    fclose(f);
    return rc;
}

/* ---- one query ------------------------------------------------------------------------------ */

static const judgement *judgements_of(const evaluation *e, const char *query, size_t *n) {
    size_t low = 0, high = e->n_judgements;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (strcmp(e->judgements[mid].query, query) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    for (*n = 0; low + *n < e->n_judgements && !strcmp(e->judgements[low + *n].query, query);) ++*n;
    return e->judgements + low;
}

static int relevance_of(const judgement *j, size_t n, const char *document) {
    for (size_t i = 0; i < n; i++)
        if (!strcmp(j[i].document, document)) return j[i].relevance;
    return 0;
}

static void measure_ranking(const evaluation *e, judged_query *q, const query_result *r) {
    size_t n_judged, n_ideal = 0, n = 0;
    const judgement *j = judgements_of(e, q->id, &n_judged);
    int gains[RANKED_MAX];
    int *ideal = calloc(n_judged + 1, sizeof *ideal);
    fo_buf lines = {0};
    for (size_t i = 0; ideal && i < n_judged; i++)
        if (j[i].relevance > 0) ideal[n_ideal++] = j[i].relevance;
    for (size_t i = 0; i < r->n_contexts && n < RANKED_MAX; i++) {
        bool seen = false; /* a document counts once, at its best chunk */
        for (size_t p = 0; p < i && !seen; p++)
            seen = r->contexts[p].chunk.document == r->contexts[i].chunk.document;
        if (seen) continue;
        const char *id = r->contexts[i].chunk.document_id;
        gains[n++] = relevance_of(j, n_judged, id);
        if (o.run_file)
            fo_buf_printf(&lines, "%s\tQ0\t%s\t%zu\t%.6f\tforage\n", q->id, id, n,
                          r->contexts[i].score);
    }
    free(q->run_lines);
    q->run_lines = fo_buf_take(&lines, NULL);
    if (ideal && n_ideal) {
        size_t k = (size_t)o.k;
        static const size_t at[] = {1, 5, 10};
        q->ranked = true;
        q->ndcg = measure_ndcg(gains, n, ideal, n_ideal, k);
        q->mrr = measure_mrr(gains, n, k);
        q->recall = measure_recall(gains, n, n_ideal, k);
        for (int i = 0; i < 3; i++) q->success[i] = measure_success(gains, n, at[i]);
    }
    free(ideal);
}

/* The answer without its markers [n], for comparison with gold answers. */
static char *plain_answer(const char *answer) {
    fo_buf b = {0};
    for (const char *p = answer; *p;) {
        size_t digits = *p == '[' ? strspn(p + 1, "0123456789") : 0;
        if (digits && p[1 + digits] == ']')
            p += digits + 2;
        else
            fo_buf_char(&b, *p++);
    }
    fo_buf_add(&b, "", 0);
    return b.data ? fo_buf_take(&b, NULL) : strdup("");
}

static bool wants_answer(const judged_query *q) {
    return !o.no_answers && (q->n_answers || q->answerable >= 0 || q->judge);
}

/* What is held against the gold answers: the few words that answer where they were told, or all of it. */
static char *text_to_judge(const query_result *r) {
    if (r->status != QUERY_ANSWERED || !r->answer) return strdup("");
    const size_t n = strlen(r->answer), from = fo_utf8_offset(r->answer, n, r->short_answer.start),
                 to = fo_utf8_offset(r->answer, n, r->short_answer.end);
    return to > from ? strndup(r->answer + from, to - from) : plain_answer(r->answer);
}

static void judge_answer(evaluation *e, judged_query *q, query_request *request,
                         enum answer_by by) {
    judged_answer *a = &q->by[by];
    query_result r = {0};
    request->answer_by = by;
    q->failed = service_query(e->service, request, NULL, &r, &q->err) != 0;
    if (!q->failed) {
        q->ms = a->ms = r.ms.total;
        a->made = true;
        a->answered = r.status == QUERY_ANSWERED;
        a->source = r.source;
        a->support = r.support;
        a->agreement = r.agreement;
        a->first_token_ms = r.ms.first_token;
        a->completion_tokens = r.usage.completion_tokens;
        a->text = text_to_judge(&r);
        if (a->text && a->answered) {
            a->exact = measure_exact(a->text, q->answers, q->n_answers);
            a->f1 = measure_f1(a->text, q->answers, q->n_answers);
            a->contains = measure_contains(a->text, q->answers, q->n_answers);
        }
        if (q->judge) a->verdict = exact_judge_answer(q->judge, a->answered ? a->text : NULL);
        a->n_citations = r.n_citations;
        for (size_t i = 0; i < r.n_citations; i++) a->n_verified += r.citations[i].verified;
    }
    query_result_deinit(&r);
}

static void run_query(evaluation *e, judged_query *q) {
    query_request request = {
        .tenant = "default",
        .collection = o.collection,
        .query = q->text,
        .messages = q->n_messages ? q->messages : NULL,
        .n_messages = q->n_messages,
        .search = {.mode = (enum search_mode)fo_names_find(search_mode_names, o.mode),
                   .fusion = (enum fusion_kind)fo_names_find(fusion_names, o.fusion),
                   .rerank = (enum rerank_kind)fo_names_find(rerank_names, o.rerank),
                   .alpha = o.alpha,
                   .rrf_k = (int)o.rrf_k,
                   .ef = (size_t)o.ef},
        .cache = CACHE_BYPASS};
    size_t depth = o.depth ? (size_t)o.depth : 3 * (size_t)o.k + 20;
    request.top_k = depth < RANKED_MAX ? depth : RANKED_MAX;
    query_result r = {0};
    int rc = service_query(e->service, &request, NULL, &r, &q->err);
    q->failed = rc != 0;
    if (!rc) {
        q->ms = r.ms.total;
        measure_ranking(e, q, &r);
    }
    query_result_deinit(&r);
    if (rc || !wants_answer(q)) return;
    request.top_k = 8; /* answers are made as the service makes them by default */
    request.generate = true;
    request.strict = !o.loose;
    request.short_answer = o.short_answer;
    request.max_sentences = (size_t)o.sentences;
    request.max_tokens = (size_t)o.max_tokens;
    request.timeout_ms = 600000;
    /* The service comes last: it finds the prompt's KV there and writes the same tokens again. */
    static const enum answer_by order[] = {ANSWER_BY_EXTRACTION, ANSWER_BY_MODEL,
                                           ANSWER_BY_SERVICE};
    for (int i = o.generate ? 0 : 2; i < 3 && !q->failed; i++)
        judge_answer(e, q, &request, order[i]);
}

static void *work(void *arg) {
    evaluation *e = arg;
    for (;;) {
        size_t i = atomic_fetch_add(&e->next, 1);
        if (i >= e->n_queries) return NULL;
        run_query(e, &e->queries[i]);
        progress_add(e->progress, 1);
    }
}

/* ---- the report ----------------------------------------------------------------------------- */

static void figure(json_out *out, const char *name, double v) {
    json_out_number(out, name, round(v * 1e5) / 1e5);
}

static double share(double part, double whole) {
    return whole > 0 ? part / whole : NAN;
}

typedef struct answer_sums {
    double exact, f1;
    size_t asked, answered, generated, with_gold, contains, citations, verified;
    size_t refused, rightly, unanswerable, answerable, kept, n_first;
    double *first_ms;
} answer_sums;

static void add_answer(answer_sums *t, const judged_query *q, const judged_answer *a) {
    t->asked++;
    t->answered += a->answered;
    t->generated += a->source == ANSWER_GENERATED;
    t->citations += a->n_citations;
    t->verified += a->n_verified;
    if (a->answered) t->first_ms[t->n_first++] = a->first_token_ms;
    if (q->n_answers && q->answerable != 0) {
        t->with_gold++;
        t->exact += a->exact;
        t->f1 += a->f1;
        t->contains += a->contains;
    }
    if (q->answerable < 0) return;
    t->refused += !a->answered;
    t->rightly += !a->answered && q->answerable == 0;
    t->unanswerable += q->answerable == 0;
    t->answerable += q->answerable == 1;
    t->kept += a->answered && q->answerable == 1;
}

static void write_answers(const evaluation *e, json_out *out, enum answer_by by, const char *name) {
    answer_sums t = {.first_ms = calloc(e->n_queries + 1, sizeof(double))};
    for (size_t i = 0; t.first_ms && i < e->n_queries; i++) {
        const judged_query *q = &e->queries[i];
        if (!q->failed && q->by[by].made) add_answer(&t, q, &q->by[by]);
    }
    if (t.asked) {
        qsort(t.first_ms, t.n_first, sizeof(double), fo_order_doubles);
        json_out_open(out, name, '{');
        json_out_int(out, "asked", (int64_t)t.asked);
        json_out_int(out, "answered", (int64_t)t.answered);
        json_out_int(out, "generated", (int64_t)t.generated);
        json_out_int(out, "with_gold", (int64_t)t.with_gold);
        figure(out, "exact_match", share(t.exact, (double)t.with_gold));
        figure(out, "f1", share(t.f1, (double)t.with_gold));
        figure(out, "contains_gold", share((double)t.contains, (double)t.with_gold));
        json_out_int(out, "citations", (int64_t)t.citations);
        figure(out, "citations_verified", share((double)t.verified, (double)t.citations));
        figure(out, "first_token_ms_p50", t.n_first ? t.first_ms[t.n_first / 2] : NAN);
        json_out_close(out, '}');
    }
    if (t.unanswerable + t.answerable) {
        char title[64];
        snprintf(title, sizeof title, "%s%s", by == ANSWER_BY_SERVICE ? "" : name,
                 by == ANSWER_BY_SERVICE ? "abstention" : "_abstention");
        json_out_open(out, title, '{');
        json_out_int(out, "answerable", (int64_t)t.answerable);
        json_out_int(out, "unanswerable", (int64_t)t.unanswerable);
        figure(out, "precision", share((double)t.rightly, (double)t.refused));
        figure(out, "recall", share((double)t.rightly, (double)t.unanswerable));
        figure(out, "answerable_kept", share((double)t.kept, (double)t.answerable));
        json_out_close(out, '}');
    }
    free(t.first_ms);
}

static embedder *embedder_here(const evaluation *e) {
    return service_embedder_for(e->service, "default", o.collection);
}

/* What the questions' own expressions say of the service's answers. */
static void write_verdicts(const evaluation *e, json_out *out) {
    size_t n[2][EXACT_VERDICTS] = {{0}}, asked[2] = {0};
    for (size_t i = 0; i < e->n_queries; i++) {
        const judged_query *q = &e->queries[i];
        if (q->failed || !q->judge || !q->by[ANSWER_BY_SERVICE].made) continue;
        bool refuse = exact_judge_wants_refusal(q->judge);
        asked[refuse]++;
        n[refuse][q->by[ANSWER_BY_SERVICE].verdict]++;
    }
    double all = (double)(asked[0] + asked[1]);
    json_out_open(out, "judged_exactly", '{');
    json_out_int(out, "answerable", (int64_t)asked[0]);
    for (int v = 0; v < EXACT_VERDICTS; v++)
        json_out_int(out, exact_verdict_names[v], (int64_t)n[0][v]);
    json_out_int(out, "to_refuse", (int64_t)asked[1]);
    json_out_int(out, "refused_rightly", (int64_t)n[1][EXACT_RIGHT]);
    figure(out, "right_share", share((double)n[0][EXACT_RIGHT], (double)asked[0]));
    figure(out, "refused_rightly_share", share((double)n[1][EXACT_RIGHT], (double)asked[1]));
    figure(out, "wrong_share", share((double)(n[0][EXACT_WRONG] + n[1][EXACT_WRONG]), all));
    json_out_close(out, '}');
}

static void write_report(const evaluation *e, fo_buf *b) {
    double ndcg = 0, mrr = 0, recall = 0, success[3] = {0}, ms_sum = 0;
    size_t ranked = 0, failed = 0;
    double *ms = calloc(e->n_queries + 1, sizeof *ms);
    size_t n_ms = 0;
    for (size_t i = 0; i < e->n_queries; i++) {
        const judged_query *q = &e->queries[i];
        failed += q->failed;
        if (!q->failed && ms) ms[n_ms++] = q->ms, ms_sum += q->ms;
        if (q->ranked) {
            ranked++;
            ndcg += q->ndcg, mrr += q->mrr, recall += q->recall;
            for (int k = 0; k < 3; k++) success[k] += q->success[k];
        }
    }
    if (n_ms) qsort(ms, n_ms, sizeof *ms, fo_order_doubles);
    if (o.qrels && !ranked) /* scores of none would look like those of a bad ranking */
        printable_say(stderr, "forage: %s judges no query of %s: ids must be the same in both",
                      o.qrels, o.queries);
    double n = (double)ranked;
    char name[32];
    json_out out = {b, false};
    json_out_open(&out, NULL, '{');
    json_out_string(&out, "collection", o.collection);
    json_out_string(&out, "mode", o.mode);
    json_out_string(&out, "fusion", o.fusion);
    json_out_string(&out, "rerank", o.rerank);
    if (o.alpha >= 0) json_out_number(&out, "alpha", o.alpha);
    json_out_string(&out, "embedder", embedder_name(embedder_here(e)));
    json_out_int(&out, "queries", (int64_t)e->n_queries);
    json_out_int(&out, "judged", (int64_t)ranked);
    json_out_int(&out, "failed", (int64_t)failed);
    snprintf(name, sizeof name, "ndcg@%d", (int)o.k);
    figure(&out, name, share(ndcg, n));
    snprintf(name, sizeof name, "mrr@%d", (int)o.k);
    figure(&out, name, share(mrr, n));
    snprintf(name, sizeof name, "recall@%d", (int)o.k);
    figure(&out, name, share(recall, n));
    figure(&out, "success@1", share(success[0], n));
    figure(&out, "success@5", share(success[1], n));
    figure(&out, "success@10", share(success[2], n));
    write_answers(e, &out, ANSWER_BY_SERVICE, "answers");
    if (o.generate) {
        write_answers(e, &out, ANSWER_BY_EXTRACTION, "extraction_alone");
        write_answers(e, &out, ANSWER_BY_MODEL, "model_alone");
    }
    if (o.judge) write_verdicts(e, &out);
    json_out_open(&out, "ms", '{');
    figure(&out, "mean", n_ms ? ms_sum / (double)n_ms : NAN);
    figure(&out, "p50", n_ms ? ms[n_ms / 2] : NAN);
    figure(&out, "p99", n_ms ? ms[(n_ms * 99) / 100 < n_ms ? (n_ms * 99) / 100 : n_ms - 1] : NAN);
    json_out_close(&out, '}');
    json_out_close(&out, '}');
    free(ms);
}

static int write_run_file(const evaluation *e, fo_err *err) {
    FILE *f = fopen(o.run_file, "we");
    if (!f) return fo_fail_make(err, "write", o.run_file);
    for (size_t i = 0; i < e->n_queries; i++)
        if (e->queries[i].run_lines) fputs(e->queries[i].run_lines, f);
    bool bad = ferror(f) != 0;
    if (fclose(f) != 0 || bad) return fo_fail_errno(err, "cannot write %s", o.run_file);
    return FO_OK;
}

static int write_answers_file(const evaluation *e, fo_err *err) {
    static const char *const names[] = {"service", "extractive", "model"};
    FILE *f = fopen(o.answers_file, "we");
    if (!f) return fo_fail_make(err, "write", o.answers_file);
    for (size_t i = 0; i < e->n_queries; i++) {
        const judged_query *q = &e->queries[i];
        fo_buf b = {0};
        json_out out = {&b, false};
        json_out_open(&out, NULL, '{');
        json_out_string(&out, "id", q->id);
        json_out_string(&out, "text", q->text);
        for (int k = 0; k < 3; k++) {
            const judged_answer *a = &q->by[k];
            if (!a->made) continue;
            json_out_open(&out, names[k], '{');
            json_out_string(&out, "answer", a->text);
            json_out_string(&out, "source", answer_source_names[a->source]);
            if (q->judge) json_out_string(&out, "verdict", exact_verdict_names[a->verdict]);
            json_out_bool(&out, "contains", a->contains);
            json_out_number(&out, "f1", a->f1);
            json_out_number(&out, "support", a->support);
            json_out_number(&out, "agreement", a->agreement);
            json_out_int(&out, "tokens", (int64_t)a->completion_tokens);
            json_out_number(&out, "first_token_ms", a->first_token_ms);
            json_out_close(&out, '}');
        }
        json_out_close(&out, '}');
        fprintf(f, "%s\n", b.data ? b.data : "");
        fo_buf_free(&b);
    }
    bool bad = ferror(f) != 0;
    if (fclose(f) != 0 || bad) return fo_fail_errno(err, "cannot write %s", o.answers_file);
    return FO_OK;
}

static void evaluation_deinit(evaluation *e) {
    for (size_t i = 0; i < e->n_queries; i++) {
        cJSON_Delete(e->queries[i].root);
        exact_judge_free(e->queries[i].judge);
        free(e->queries[i].messages);
        free(e->queries[i].answers);
        free(e->queries[i].run_lines);
        for (int k = 0; k < 3; k++) free(e->queries[i].by[k].text);
    }
    free(e->queries);
    free(e->judgements);
    free(e->qrels_text);
    service_close(e->service);
}

static int run_all(evaluation *e, fo_err *err) {
    int n = o.threads > 0 ? (int)o.threads : fo_cpu_count();
    pthread_t threads[256];
    int started = 0;
    e->next = 0;
    for (; started < n - 1 && started < 255; started++)
        if (pthread_create(&threads[started], NULL, work, e) != 0) break;
    work(e);
    for (int i = 0; i < started; i++) pthread_join(threads[i], NULL);
    size_t failed = 0;
    for (size_t i = 0; i < e->n_queries; i++)
        if (e->queries[i].failed && failed++ < 3)
            printable_say(stderr, "forage: query %s: %s", e->queries[i].id, e->queries[i].err.msg);
    return failed == e->n_queries ? fo_fail(err, FO_EIO, "every query failed") : FO_OK;
}

static int evaluate(evaluation *e, fo_err *err) {
    e->progress = progress_begin("eval", "queries", e->n_queries, output_is_json());
    int rc = run_all(e, err);
    progress_end(e->progress);
    if (rc) return rc;
    if (o.answers_file) rc = write_answers_file(e, err);
    return !rc && o.run_file ? write_run_file(e, err) : rc;
}

/* ---- the dense weight ----------------------------------------------------------------------- */

enum { WEIGHTS = 21 }; /* 0, .05, ... 1 */

static double mean_ndcg(const evaluation *e) {
    double sum = 0;
    size_t n = 0;
    for (size_t i = 0; i < e->n_queries; i++) {
        const judged_query *q = &e->queries[i];
        if (q->failed || !q->ranked) continue;
        sum += q->ndcg;
        n++;
    }
    return n ? sum / (double)n : 0;
}

/* Of weights that are equally good, the one nearest to the embedder's own: it was measured on more
 * questions than these. */
static int tune(evaluation *e, fo_buf *b, fo_err *err) {
    double ndcg[WEIGHTS], own = (double)embedder_alpha(embedder_here(e));
    int best = -1, rc = FO_OK;
    o.no_answers = true;
    e->progress = progress_begin("eval", "queries", (WEIGHTS + 1) * e->n_queries, output_is_json());
    o.alpha = own;
    rc = run_all(e, err);
    double base = mean_ndcg(e);
    for (int i = 0; !rc && i < WEIGHTS; i++) {
        o.alpha = (double)i / (WEIGHTS - 1);
        rc = run_all(e, err);
        ndcg[i] = mean_ndcg(e);
        double ahead = best < 0 ? 1 : ndcg[i] - ndcg[best];
        bool nearer = best >= 0 && fabs(o.alpha - own) < fabs((double)best / (WEIGHTS - 1) - own);
        if (ahead > 1e-9 || (ahead > -1e-9 && nearer)) best = i;
    }
    progress_end(e->progress);
    if (rc) return rc;
    bool better = ndcg[best] > base + 1e-9;
    double chosen = better ? (double)best / (WEIGHTS - 1) : own;
    const double kept = better ? chosen : -1;
    rc = service_set_tuning(e->service, "default", o.collection, &kept, NULL, err);
    json_out out = {b, false};
    json_out_open(&out, NULL, '{');
    json_out_string(&out, "collection", o.collection);
    json_out_string(&out, "embedder", embedder_name(embedder_here(e)));
    json_out_int(&out, "queries", (int64_t)e->n_queries);
    figure(&out, "alpha", chosen);
    figure(&out, "ndcg", better ? ndcg[best] : base);
    figure(&out, "default_alpha", own);
    figure(&out, "default_ndcg", base);
    json_out_open(&out, "weights", '{');
    for (int i = 0; i < WEIGHTS; i++) {
        char name[16];
        snprintf(name, sizeof name, "%.2f", (double)i / (WEIGHTS - 1));
        figure(&out, name, ndcg[i]);
    }
    json_out_close(&out, '}');
    json_out_close(&out, '}');
    return rc;
}

/* ---- the command ---------------------------------------------------------------------------- */

static int open_all(evaluation *e, fo_err *err) {
    int rc = o.qrels ? read_qrels(e, err) : FO_OK;
    if (!rc) rc = read_queries(e, err);
    if (!rc && !e->n_queries)
        rc = fo_fail(err, FO_EINVAL,
                     o.skip ? "%s holds no query behind --skip" : "%s holds no query", o.queries);
    /* opening for writing would make a home where there is none */
    if (!rc && o.tune) rc = home_must_exist(o.home, err);
    service_options with = {
        .home = o.home, .read_only = !o.tune, .n_threads = (int)o.threads, .primes_per_s = -1};
    if (!rc) rc = cli_models_open(&e->service, &with, err);
    store_collection c = {0};
    if (!rc)
        rc = catalog_get_collection(service_catalog(e->service), "default", o.collection, &c, err);
    store_collection_deinit(&c);
    return rc;
}

static int run(int argc, char **argv) {
    (void)argc, (void)argv;
    if (o.judge && strcmp(o.judge, "exact")) return cli_wrong_usage("--judge knows exact alone");
    if (!o.qrels && (!o.judge || o.tune))
        return cli_wrong_usage("eval needs --qrels or --judge exact");
    if (o.generate && !cli_model_flags.model) return cli_wrong_usage("--generate needs --model");
    if (o.tune && (strcmp(o.mode, "hybrid") || strcmp(o.fusion, "weighted") || o.generate))
        return cli_wrong_usage("--tune-alpha is about --mode hybrid with --fusion weighted");
    fo_err err = {0};
    evaluation e = {0};
    fo_buf b = {0};
    int rc = open_all(&e, &err);
    if (!rc) rc = o.tune ? tune(&e, &b, &err) : evaluate(&e, &err);
    if (rc) {
        cli_fail(&err);
    } else {
        if (!o.tune) write_report(&e, &b);
        output_print(&b);
    }
    fo_buf_free(&b);
    evaluation_deinit(&e);
    return rc ? 1 : 0;
}

const cli_command cli_command_eval = {
    "eval",
    "measure retrieval and answers against judged queries",
    "forage eval --home DIR --queries q.jsonl --qrels qrels.tsv [--k 10] [--mode sparse]\n"
    "            [--output text|table|json|md]\n"
    "forage eval --home DIR --queries q.jsonl --judge exact ...",
    "nDCG (linear gain), MRR, recall and success of documents, each at its best chunk. Where "
    "queries\n"
    "carry answers: exact match and F1 as SQuAD has them, contains-gold, verified citations; "
    "where\n"
    "they carry answerability: precision and recall of abstaining. With --judge exact, where they\n"
    "carry accept (expressions, or lists of parts), beside it reject, or refuse: true: right, "
    "partial, wrong, "
    "refused.",
    options,
    0,
    0,
    run};
