/* A question's path: embed -> dense and sparse search -> fusion -> contexts -> answer -> citations.
 * Each stage is one function over the `run`, in the order of service_query at the end; the answer
 * is answer.c's. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/clock.h"
#include "kernels/utf8.h"
#include "index/sparse/language.h"
#include "retrieval/text/dedupe.h"
#include "retrieval/collections/kv_warm.h"
#include "retrieval/collections/title_vectors.h"
#include "retrieval/pipeline/leading.h"
#include "retrieval/pipeline/query_run.h"
#include "retrieval/pipeline/readers.h"
#include "retrieval/pipeline/spoken_of.h"
#include "retrieval/conversation/courtesy.h"
#include "retrieval/conversation/model_rewrite.h"
#include "retrieval/question/plain_words.h"
#include "retrieval/answer/refusal.h"
#include "retrieval/question/relative_days.h"
#include "retrieval/conversation/rewrite.h"
#include "retrieval/pipeline/spelt.h"

enum {
    FUSION_DEPTH = 100, /* of each list; min-max scales depend on it, so it does not follow top_k */
    RERANK_DEPTH = 50,  /* candidates that a cross-encoder reads */
    RERANK_PIECE = 16,  /* ... at a time: between them it may be over */
    READ_DEPTH = 20,    /* candidates that the reader puts in order where it is asked to */
    ANSWER_DEPTH = 20,  /* ... for an answer: each costs some six milliseconds the first time */
    MAX_TOP_K = 1000,
    MAX_QUERY_BYTES = 64 << 10,
    MAX_EF = 10000,
    MAX_RRF_K = 10000,
    MAX_ANSWER_TOKENS = 1 << 24,
};
static const double LEADS = 20;        /* on the reader's score, in standard deviations */
static const double SPOKEN_OF = 1.5;   /* ... and so much, of the document that the talk is of */
static const double NOTHING_NEW = 0.8; /* of a context's shingles, met in those before it */

/* The number of the language that the best context is written in; -1: there is none, or it cannot be told. */
static int language_of_best(const run *r) {
    if (!r->out->n_contexts) return -1;
    const store_chunk *c = &r->out->contexts[0].chunk;
    int told = language_of(c->text, c->text_len, r->c->language);
    return told >= 0 ? told : language_number(r->c->language);
}

/* The language of most of the best contexts, or of the collection where there are none; NULL: they are in several. */
static const char *language_of_documents(const run *r) {
    enum { BEST = 5 };
    const size_t n = r->out->n_contexts < BEST ? r->out->n_contexts : BEST;
    const int home = language_number(r->c->language);
    size_t of[LANGUAGE_MAX] = {0};
    for (size_t i = 0; i < n; i++) {
        const store_chunk *c = &r->out->contexts[i].chunk;
        const int told = language_of(c->text, c->text_len, r->c->language),
                  language = told >= 0 ? told : home;
        if (language >= 0 && ++of[language] * 2 > n) return language_name(language);
    }
    return n ? NULL : r->c->language;
}

int run_take_reader(run *r) {
    reader *all = NULL;
    if (r->reader) return FO_OK;
    /* The built-in one learnt English. An embedder that knows more languages reads those in its place. Without one it helps
     * with French and Portuguese; of Chinese, Japanese and Arabic it knows some letters, and words alone answer better
     * (docs/measurements/quality.md). Who asks for its order gets it. */
    const int language = r->s->reads_english ? language_of_best(r) : -1;
    const char *name = language >= 0 ? language_name(language) : "english";
    const bool others = r->s->reads_others &&
                        (language != language_number("english") ||
                         language_across(r->q->query, strlen(r->q->query), name) >= 0) &&
                        language >= 0;
    if (!others && r->q->search.rerank != RERANK_READER && language_has_other_script(language))
        return FO_OK;
    int rc = service_take_reader(r->s, others, &all, r->err);
    if (rc || !all) return rc;
    unsigned char space[32]; /* what others read is not to be told by the time it takes */
    service_kv_salt(r->q->tenant, r->q->sees, space);
    r->reader = reader_apart(all, space);
    return r->reader ? FO_OK : fo_no_memory(r->err);
}

static int time_limit_ms(const run *r) {
    return r->q->timeout_ms > 0 ? r->q->timeout_ms : 60000;
}

double run_time_left_ms(const run *r) {
    return time_limit_ms(r) - (fo_now_ms() - r->started);
}

int run_check_alive(run *r) {
    if (r->q->cancel && atomic_load(r->q->cancel))
        return fo_fail(r->err, FO_ECANCELLED, "cancelled by the client");
    if (run_time_left_ms(r) < 0)
        return fo_fail_field(r->err, FO_ETIMEOUT, "timeout_ms", "no answer within timeout_ms = %d",
                             time_limit_ms(r));
    return FO_OK;
}

int run_read_chunks(run *r, const int64_t *ids, size_t n, store_chunk *chunks) {
    fo_err own = {0};
    int rc = store_get_chunks(r->s->store, ids, n, chunks, &own);
    if (rc == FO_ECORRUPT) { /* it says not which one */
        rc = FO_OK;
        for (size_t i = 0; !rc && i < n; i++) {
            rc = store_get_chunks(r->s->store, &ids[i], 1, &chunks[i], &own);
            if (rc == FO_ECORRUPT) {
                chunks[i] = (store_chunk){0};
                rc = FO_OK;
            }
        }
    }
    if (rc && r->err) *r->err = own;
    return rc;
}

int run_read_fused(run *r, size_t n) {
    if (n > r->n_fused) n = r->n_fused;
    if (n <= r->n_read) return FO_OK;
    if (!r->read) r->read = calloc(r->n_fused, sizeof *r->read);
    const size_t n_new = n - r->n_read;
    int64_t *ids = calloc(n_new, sizeof *ids);
    int rc = r->read && ids ? FO_OK : fo_no_memory(r->err);
    for (size_t i = 0; !rc && i < n_new; i++) ids[i] = r->fused[r->n_read + i].id;
    if (!rc) {
        rc = run_read_chunks(r, ids, n_new, r->read + r->n_read);
        r->n_read = n;
    }
    free(ids);
    return rc;
}

void run_drop_read(run *r) {
    for (size_t i = 0; i < r->n_read; i++) store_chunk_deinit(&r->read[i]);
    free(r->read);
    r->read = NULL;
    r->n_read = 0;
}

static int out_of_range(run *r, const char *field) {
    return fo_fail_field(r->err, FO_EINVAL, field, "%s is out of range", field);
}

/* Numbers that every path takes as they are: from a caller, or from a file of hot questions. The
 * comparisons are written so that a NaN fails them. */
static int check_ranges(run *r) {
    const query_request *q = r->q;
    const search_params *p = &q->search;
    if ((unsigned)p->mode > SEARCH_SPARSE) return out_of_range(r, "search.mode");
    if ((unsigned)p->fusion > FUSION_DBSF) return out_of_range(r, "search.fusion");
    if (p->rrf_k < 0 || p->rrf_k > MAX_RRF_K) return out_of_range(r, "search.rrf_k");
    if (p->ef > MAX_EF) return out_of_range(r, "search.ef");
    if (!isfinite(p->score_threshold)) return out_of_range(r, "search.score_threshold");
    if (q->max_tokens > MAX_ANSWER_TOKENS) return out_of_range(r, "max_tokens");
    if (!(q->temperature >= 0 && q->temperature <= 2)) return out_of_range(r, "temperature");
    if (!(q->top_p >= 0 && q->top_p <= 1)) return out_of_range(r, "top_p");
    if (q->sampling_top_k < 0) return out_of_range(r, "sampling_top_k");
    if (!(q->min_p >= 0 && q->min_p <= 1)) return out_of_range(r, "min_p");
    if (!(fabs(q->presence_penalty) <= 2)) return out_of_range(r, "presence_penalty");
    if (!(fabs(q->frequency_penalty) <= 2)) return out_of_range(r, "frequency_penalty");
    double repetition = q->repetition_penalty; /* 0: none */
    if (repetition != 0 && !(repetition >= .01 && repetition <= 10))
        return out_of_range(r, "repetition_penalty");
    if (q->priority < -100 || q->priority > 100) return out_of_range(r, "priority");
    return FO_OK;
}

static int check_request(run *r) {
    const query_request *q = r->q;
    size_t bad, n = strlen(q->query);
    if (fo_only_blanks(q->query, n))
        return fo_fail_field(r->err, FO_EINVAL, "query", "query must not be empty");
    if (n > MAX_QUERY_BYTES)
        return fo_fail_field(r->err, FO_EINVAL, "query", "query is longer than %d bytes",
                             MAX_QUERY_BYTES);
    if (!fo_utf8_valid(q->query, n, &bad))
        return fo_fail_field(r->err, FO_EINVAL, "query", "query is not UTF-8 at byte %zu", bad);
    if (q->top_k > MAX_TOP_K)
        return fo_fail_field(r->err, FO_EINVAL, "top_k", "top_k must be between 1 and %d",
                             MAX_TOP_K);
    if (!(q->search.alpha <= 1))
        return fo_fail_field(r->err, FO_EINVAL, "search.alpha",
                             "search.alpha must be between 0 and 1");
    if (q->search.rerank == RERANK_MODEL && !r->s->reranker)
        return fo_fail_field(r->err, FO_EUNSUPPORTED, "search.rerank",
                             "no reranking model is loaded; start the service with --rerank-model");
    if (q->search.rerank == RERANK_READER && !r->s->reads)
        return fo_fail_field(r->err, FO_EUNSUPPORTED, "search.rerank",
                             "the service was started with --reader none");
    if (q->without && q->cache != CACHE_BYPASS)
        return fo_fail(r->err, FO_EINVAL, "what is found without a document is not to be kept");
    if (q->prefill_only && !r->s->generator)
        return fo_fail_field(r->err, FO_EUNSUPPORTED, "prefill_only",
                             "prefill_only needs a language model; start the service with --model");
    return check_ranges(r);
}

float run_idf(void *ctx, const char *term, size_t len) {
    return search_idf(ctx, term, len);
}

/* The model's rewriting, r->rewritten, of a question that leans on the turns before it. */
static int rewrite_by_model(run *r, const lexicon *lx, const prompt_turn *turns, size_t n) {
    enum { REWRITE_MS = 4000 }; /* nothing is seen of an answer meanwhile */
    const query_request *q = r->q;
    unsigned char salt[32];
    size_t wanted = 0;
    bool may =
        r->s->generator && (q->rewrite == REWRITE_MODEL ||
                            (q->rewrite == REWRITE_AUTO && q->generate && r->s->prompts->rewrites));
    int rc = may ? query_rewrite_wants(&wanted, lx, r->asked, r->err) : FO_OK;
    if (rc || !wanted) return rc;
    double left = run_time_left_ms(r) / 4;
    service_kv_salt(q->tenant, q->sees, salt);
    model_rewrite_input in = {
        .generator = r->s->generator,
        .prompts = r->s->prompts,
        .lx = lx,
        .turns = turns,
        .n_turns = n,
        .question = r->asked,
        .salt = salt,
        .reuse = q->kv_reuse,
        .drop_kv = q->drop_kv,
        .priority = q->priority,
        .time_ms = (int64_t)(q->rewrite == REWRITE_AUTO && left > REWRITE_MS ? REWRITE_MS : left),
        .cancel = q->cancel,
        .n_tokens = &r->rewriting_tokens};
    rc = model_rewrite_make(&r->rewritten, &in, r->err);
    r->out->rewritten_by_model = r->rewritten != NULL;
    return rc;
}

/* "And who built it?" finds nothing by itself: a model says what is meant, or names and words of the
 * turns before are added (docs/measurements/answers.md): r->rewritten. */
static int rewrite_turn(run *r, analyzer *words) {
    const query_request *q = r->q;
    prompt_turn *turns = calloc(q->n_messages, sizeof *turns);
    if (!turns) return fo_no_memory(r->err);
    size_t n = 0;
    for (size_t i = 0; i < q->n_messages; i++) {
        bool assistant = strcmp(q->messages[i].role, "assistant") == 0;
        if (!assistant && strcmp(q->messages[i].role, "user") != 0) continue;
        turns[n++] = (prompt_turn){assistant, q->messages[i].content};
    }
    lexicon lx = {words, run_idf, r->snapshot};
    int rc = q->generate || r->reads ? spoken_of_find(r, &lx, turns, n) : FO_OK;
    if (!rc) rc = rewrite_by_model(r, &lx, turns, n);
    if (!rc && !r->rewritten)
        rc = query_rewrite(&r->rewritten, &r->whole_again, &lx, turns, n, r->asked, r->err);
    free(turns);
    if (rc) return rc;
    /* what stands alone is asked as if nothing had been said before it */
    if (strcmp(r->asked, r->rewritten) == 0) r->whole_again = true;
    const size_t n_asked = strlen(r->asked);
    if (!strncmp(r->rewritten, r->asked, n_asked) && r->rewritten[n_asked] == ' ')
        r->n_asked = n_asked;
    r->asked = r->sought = r->rewritten;
    return FO_OK;
}

/* The question as it is searched for: without greetings, its slips of spelling mended, in plain words, and whole. */
static int rewrite(run *r) {
    const query_request *q = r->q;
    analyzer *words = NULL;
    int rc = collection_take_analyzer(r->s, r->c, &words, r->err);
    if (rc) return rc;
    r->asked = question_behind_courtesy(q->query);
    /* "&&" with words of the turns before it is a question of theirs. */
    const bool whole = q->rewrite == REWRITE_OFF || !question_has_words(r->asked);
    if (!whole) rc = spelt_mend(r, words);
    if (!rc && (plain_words(&r->plain, r->asked) ||
                (q->n_messages == 0 && plain_words_subject(&r->plain, r->asked))))
        r->asked = r->plain.data;
    if (!rc && r->plain.failed) rc = fo_no_memory(r->err);
    r->sought = !rc && r->asked[0] ? r->asked : q->query;
    if (!rc && q->n_messages && !whole) rc = rewrite_turn(r, words);
    collection_give_analyzer(r->s, r->c, words);
    return rc;
}

/* What was searched for in the question's place, where that is another one. */
static int tell_rewritten(run *r) {
    query_result *out = r->out;
    const char *turn = r->plain.data   ? r->plain.data
                       : r->spelt.data ? r->spelt.data
                                       : question_behind_courtesy(r->q->query);
    if (r->rewritten && strcmp(r->rewritten, turn) != 0) {
        out->rewritten = r->rewritten;
        r->rewritten = NULL;
    } else if (r->spelt.data) {
        out->rewritten = strdup(r->spelt.data);
        out->respelt = true;
        if (!out->rewritten) return fo_no_memory(r->err);
    }
    return FO_OK;
}

static double alpha_of(const run *r) {
    static const double strange =
        0.1; /* words find what such vectors lose: docs/measurements/quality.md */
    const double tuned = atomic_load(&r->c->alpha);
    if (r->q->search.alpha >= 0) return r->q->search.alpha;
    if (tuned >= 0) return tuned;
    if (!r->c->embedder) return 0;
    return (double)embedder_alpha(r->c->embedder) * (r->strange_script ? strange : 1);
}

static int prepare(run *r) {
    const query_request *q = r->q;
    if (r->c->foreign_vectors && q->search.mode != SEARCH_SPARSE)
        return fo_fail_field(
            r->err, FO_EMISMATCH, "collection",
            "collection '%s' was embedded by another model than the one loaded (%s); start with "
            "that model, run `forage index rebuild --embed-model ...`, or search with mode sparse",
            q->collection, embedder_name(r->s->embedder));
    r->n_wanted = q->top_k ? q->top_k : 8;
    r->reads = r->s->reads && (q->search.rerank == RERANK_READER ||
                               (q->search.rerank == RERANK_NONE && q->generate));
    size_t candidates = q->search.rerank == RERANK_MODEL    ? RERANK_DEPTH
                        : q->search.rerank == RERANK_READER ? READ_DEPTH
                        : r->reads                          ? ANSWER_DEPTH
                                                            : 0;
    r->top_k = r->n_wanted < candidates ? candidates : r->n_wanted;
    r->depth = r->top_k > FUSION_DEPTH ? r->top_k : FUSION_DEPTH;
    r->strange_script =
        r->c->embedder && !embedder_has_learnt(r->c->embedder, q->query, strlen(q->query));
    r->alpha = alpha_of(r);
    r->fused = calloc(2 * r->depth, sizeof *r->fused);
    if (!r->fused) return fo_no_memory(r->err);
    int rc = search_filter_both(&r->filter, q->filter, q->sees, r->err);
    if (rc) return rc;
    r->lookup.n_index_drops = atomic_load(&r->s->n_index_drops);
    r->snapshot = search_index_acquire(r->c->index);
    r->lookup.has_gap = search_snapshot_has_gap(r->snapshot);
    r->out->epoch = search_snapshot_epoch(r->snapshot);
    rc = rewrite(r);
    if (!rc) rc = titled_take(r);
    if (rc) return rc;
    r->lookup.titles = title_vectors_serial(r->titled.of);
    return query_memory_begin(r->s->memory, &r->lookup, q, r->c, r->sought, r->alpha, r->out,
                              r->err);
}

static int fuse(run *r) {
    const double t0 = fo_now_ms();
    const search_params *p = &r->q->search;
    const int rc = lists_fuse(r, &r->lists, r->fused, &r->n_fused);
    if (rc) return rc;
    size_t n = 0;
    while (n < r->n_fused && r->fused[n].score >= p->score_threshold) n++;
    if (p->score_threshold != 0) r->n_fused = n; /* a cosine may be below 0, other scores are not */
    r->out->ms.fuse = fo_now_ms() - t0;
    return FO_OK;
}

/* Does the chunk say something that those in *seen do not? Then it is added to them. */
static int says_more(shingle_set *seen, const store_chunk *k, bool *more, fo_err *err) {
    shingle_set mine;
    int rc = shingle_set_init(&mine, k->text, k->text_len);
    *more = !rc && (seen->n == 0 || shingle_share(&mine, seen) < NOTHING_NEW);
    if (*more) rc = shingle_set_add(seen, &mine);
    shingle_set_deinit(&mine);
    return rc ? fo_no_memory(err) : FO_OK;
}

/* Chunks [at, at + n) of r->fused: those that are read already as long as they are there, the others from the store, which says
 * what is wrong with them. */
static int take_chunks(run *r, size_t at, size_t n, int64_t *ids, store_chunk *chunks) {
    size_t taken = 0;
    memset(chunks, 0, n * sizeof *chunks);
    for (; taken < n && at + taken < r->n_read && r->read[at + taken].id; taken++) {
        chunks[taken] = r->read[at + taken];
        r->read[at + taken] = (store_chunk){0};
    }
    for (size_t i = taken; i < n; i++) ids[i] = r->fused[at + i].id;
    return taken < n ? store_get_chunks(r->s->store, ids + taken, n - taken, chunks + taken, r->err)
                     : FO_OK;
}

/* Take contexts in order of rank until top_k stand, skipping chunks that were deleted since the
 * snapshot and, for an answer, those that repeat what earlier ones say. */
static int gather_contexts(run *r) {
    query_result *out = r->out;
    bool collapse = r->q->generate;
    out->contexts = calloc(r->top_k, sizeof *out->contexts);
    shingle_set seen = {0};
    int64_t *ids = calloc(r->top_k, sizeof *ids);
    store_chunk *chunks = calloc(r->top_k, sizeof *chunks);
    int rc = FO_OK;
    if (!out->contexts || !ids || !chunks) rc = fo_no_memory(r->err);
    for (size_t at = 0; !rc && at < r->n_fused && out->n_contexts < r->top_k;) {
        size_t n = r->top_k - out->n_contexts;
        if (n > r->n_fused - at) n = r->n_fused - at;
        rc = take_chunks(r, at, n, ids, chunks);
        for (size_t i = 0; i < n; i++) {
            store_chunk *k = &chunks[i];
            bool keep =
                !rc && k->id != 0 && (!r->q->without || strcmp(k->document_id, r->q->without) != 0);
            if (keep && collapse) {
                rc = says_more(&seen, k, &keep, r->err);
                if (!keep) out->n_collapsed++;
            }
            if (!keep) {
                store_chunk_deinit(k);
                continue;
            }
            const fused_hit *f = &r->fused[at + i];
            out->contexts[out->n_contexts++] =
                (query_context){*k, f->score, f->dense, f->sparse, NAN, NAN};
        }
        at += n;
    }
    shingle_set_deinit(&seen);
    free(ids);
    free(chunks);
    return rc;
}

static int by_rerank(const void *a, const void *b) {
    const query_context *x = a, *y = b;
    if (x->rerank != y->rerank) return x->rerank < y->rerank ? 1 : -1;
    return (x->chunk.id > y->chunk.id) - (x->chunk.id < y->chunk.id);
}

/* Score the contexts with the cross-encoder. */
static int score_by_model(run *r) {
    query_result *out = r->out;
    size_t n = out->n_contexts;
    const char **texts = calloc(n, sizeof *texts);
    size_t *lens = calloc(n, sizeof *lens);
    float *scores = calloc(n, sizeof *scores);
    int rc = texts && lens && scores ? FO_OK : fo_no_memory(r->err);
    for (size_t i = 0; !rc && i < n; i++) {
        texts[i] = out->contexts[i].chunk.text;
        lens[i] = out->contexts[i].chunk.text_len;
    }
    for (size_t at = 0; !rc && at < n; at += RERANK_PIECE) {
        const size_t piece = n - at < RERANK_PIECE ? n - at : RERANK_PIECE;
        rc = run_check_alive(r);
        if (!rc)
            rc = reranker_score(r->s->reranker, r->sought, strlen(r->sought), texts + at, lens + at,
                                piece, scores + at, NULL, r->err);
    }
    for (size_t i = 0; !rc && i < n; i++) out->contexts[i].rerank = (double)scores[i];
    free(texts);
    free(lens);
    free(scores);
    return rc;
}

/* Score the contexts by what the reader sees, with the scores of both lists beside it; beyond what it reads at a time they
 * have no score. */
static int score_by_reader(run *r) {
    query_result *out = r->out;
    size_t n = out->n_contexts;
    int rc = run_take_reader(r);
    if (rc || !r->reader) return rc;
    if (n > READING_MAX_PASSAGES) n = READING_MAX_PASSAGES;
    passage *passages = calloc(n, sizeof *passages);
    reading_rank *ranks = calloc(n, sizeof *ranks);
    double titled[READING_MAX_PASSAGES];
    reading *view = NULL;
    rc = passages && ranks ? FO_OK : fo_no_memory(r->err);
    for (size_t i = 0; !rc && i < n; i++) {
        passages[i] = run_passage(r, &out->contexts[i]);
        titled[i] = titled_near(r, out->contexts[i].chunk.document);
    }
    if (!rc) rc = reading_create(&view, r->reader, r->sought, passages, n, r->q->cancel, r->err);
    if (!rc) reading_rank_passages(view, titled, ranks);
    double most = -INFINITY;
    for (size_t i = 0; !rc && i < n; i++) {
        bool leads = leading_has(&r->leading, out->contexts[i].chunk.id);
        const bool spoken_of =
            r->spoken_of && strcmp(r->spoken_of, out->contexts[i].chunk.document_id) == 0;
        const double alone = ranks[i].score + (leads ? LEADS : 0);
        out->contexts[i].rerank = alone + (spoken_of ? SPOKEN_OF : 0);
        if (r->spoken_of && alone > most) most = alone, r->best_alone = out->contexts[i].chunk.id;
        out->contexts[i].answers = ranks[i].answers;
    }
    reading_free(view);
    free(passages);
    free(ranks);
    return rc;
}

/* However many chunks the document of the talk has, the one that would be first without it is not left out. */
static void keep_best_alone(run *r) {
    query_context *c = r->out->contexts;
    for (size_t i = r->n_wanted; r->n_wanted > 1 && i < r->out->n_contexts; i++) {
        if (c[i].chunk.id != r->best_alone) continue;
        const query_context best = c[i];
        c[i] = c[r->n_wanted - 1];
        c[r->n_wanted - 1] = best;
    }
}

/* Put the contexts in order by the cross-encoder or the reader; those without a score stay behind, in their order. The fused
 * score stays as it is. */
static int rerank(run *r) {
    query_result *out = r->out;
    bool by_model = r->q->search.rerank == RERANK_MODEL;
    if (!out->n_contexts || !(by_model || r->reads)) return FO_OK;
    double t0 = fo_now_ms();
    int rc = by_model ? score_by_model(r) : score_by_reader(r);
    size_t scored = 0;
    while (scored < out->n_contexts && !isnan(out->contexts[scored].rerank)) scored++;
    if (!rc && scored) qsort(out->contexts, scored, sizeof *out->contexts, by_rerank);
    if (!rc && r->best_alone) keep_best_alone(r);
    while (!rc && out->n_contexts > r->n_wanted)
        store_chunk_deinit(&out->contexts[--out->n_contexts].chunk);
    out->ms.rerank = fo_now_ms() - t0;
    return rc;
}

/* The cosine of the hundredth dense hit: what the support of an answer measures the best against.
 * A list too short to have a tail gives none. */
static double dense_floor(const run *r) {
    const found_lists *l = &r->lists;
    if (l->n_dense < FUSION_DEPTH / 4) return NAN;
    return l->dense[l->n_dense < FUSION_DEPTH ? l->n_dense - 1 : FUSION_DEPTH - 1].score;
}

/* Contexts of this snapshot, from the last query that looked for the same or by searching. */
static int find_contexts(run *r) {
    if (query_memory_contexts(&r->lookup, &r->tail)) return FO_OK;
    r->out->index_incomplete = r->lookup.has_gap; /* then memory took no part */
    int rc = lists_search(r, r->filter, r->depth, &r->lists);
    if (!rc) rc = run_check_alive(r);
    if (!rc) rc = fuse(r);
    if (!rc) rc = titled_compare(r);
    if (!rc && r->reads) rc = leading_put_first(r);
    if (!rc && !r->leading.n) rc = titled_put_in(r);
    if (!rc) rc = gather_contexts(r);
    run_drop_read(r);
    if (!rc) rc = rerank(r);
    if (!rc && r->asks_command && !r->leading.n) rc = titled_keep_name(r);
    r->tail = dense_floor(r);
    if (!rc) query_memory_keep_contexts(&r->lookup, r->tail);
    return rc;
}

/* Contexts are told before the first word of an answer. */
static int tell_contexts(run *r) {
    const query_sink *k = r->sink;
    if (k && k->contexts && k->contexts(k->ctx, r->out))
        return fo_fail(r->err, FO_ECANCELLED, "cancelled by the client");
    return run_check_alive(r);
}

/* Nothing but "thanks", or "????": there is nothing to look for. */
static bool is_courtesy(const run *r) {
    const query_request *q = r->q;
    return q->generate && !q->prefill_only && !r->asked[0] && q->answer_by != ANSWER_BY_MODEL;
}

static int answer_courtesy(run *r) {
    query_result *out = r->out;
    r->lookup.passing = true;
    free(out->answer);
    out->answer = strdup(courtesy_reply(r->q->query));
    if (!out->answer) return fo_no_memory(r->err);
    out->status = QUERY_ANSWERED;
    out->finish_reason = "stop";
    int rc = tell_contexts(r);
    return rc ? rc : run_emit_answer(r);
}

/* What was found is worth to be read ahead. */
static void tell_warm(const run *r) {
    kv_warm_asked(r->s->warm);
    for (size_t i = 0; i < r->out->n_contexts; i++)
        kv_warm_touch(r->s->warm, r->c, r->out->contexts[i].chunk.document_id);
}

static int answer_from_documents(run *r) {
    const query_request *q = r->q;
    bool known = false; /* the answer: from memory, or of the same contexts */
    int rc = query_memory_answer(&r->lookup, &known, r->err);
    if (!rc && !known) rc = find_contexts(r);
    if (!rc) rc = tell_contexts(r);
    if (!rc && !known) known = query_memory_same_contexts(&r->lookup);
    if (!rc) rc = known && q->generate ? run_emit_answer(r) : run_answer(r);
    if (!rc && !q->background) tell_warm(r);
    return rc;
}

/* ---- the whole --------------------------------------------------------------------------- */

void query_result_deinit(query_result *r) {
    for (size_t i = 0; i < r->n_citations; i++) free(r->citations[i].quote);
    for (size_t i = 0; i < r->n_contexts; i++) store_chunk_deinit(&r->contexts[i].chunk);
    free(r->citations);
    free(r->contexts);
    free(r->answer);
    free(r->stop_sequence);
    free(r->rewritten);
    free(r->prompt.contexts);
    *r = (query_result){0};
}

/* Of a question that failed. */
static void keep_costs(query_result *out) {
    const int64_t retry = out->retry_after_ms;
    const bool computed = out->cache.answer != CACHE_HIT; /* else by whoever asked first */
    const generator_usage usage = computed ? out->usage : (generator_usage){0};
    query_result_deinit(out);
    out->retry_after_ms = retry;
    out->usage = usage;
}

int service_query(service *s, const query_request *q, const query_sink *sink, query_result *out,
                  fo_err *err) {
    fo_err unasked; /* the stages take back an error that they mend, so there is always one */
    if (!err) err = &unasked;
    *err = (fo_err){0};
    *out = (query_result){.finish_reason = ""};
    query_request own = *q;
    if (!own.query && own.n_messages) own.query = own.messages[--own.n_messages].content;
    if (!own.query) own.query = "";                 /* refused, as an empty one is */
    if (!own.today) own.today = calendar_day_now(); /* one day for the answer and its key */
    q = &own;
    run r = {.s = s, .q = q, .sink = sink, .out = out, .err = err, .started = fo_now_ms()};
    int rc = service_enter(s, err);
    if (rc) return rc;
    out->answer = strdup("");
    if (!out->answer) rc = fo_no_memory(err);
    if (!rc) rc = check_request(&r);
    if (!rc) rc = collection_acquire(s, q->tenant, q->collection, &r.c, err);
    if (!rc) rc = prepare(&r);
    if (!rc) rc = is_courtesy(&r) ? answer_courtesy(&r) : answer_from_documents(&r);
    query_memory_end(&r.lookup, rc);
    if (out->status == QUERY_ANSWERED)
        out->refusal = "";
    else
        out->refusal =
            refusal_text(q->query, r.c ? language_of_documents(&r) : NULL, out->n_contexts > 0);
    if (r.snapshot) search_index_release(r.snapshot);
    if (r.c) collection_release(s, r.c);
    lists_deinit(&r.lists);
    lists_words_deinit(&r.words);
    titled_deinit(&r.titled);
    free(r.vector);
    free(r.fused);
    free(r.spoken_of);
    if (!rc) rc = tell_rewritten(&r);
    free(r.rewritten);
    fo_buf_free(&r.plain);
    fo_buf_free(&r.spelt);
    search_filter_free(r.filter);
    reader_close(r.reader); /* its own view of the service's */
    leading_deinit(&r.leading);
    service_leave(s);
    out->ms.total = fo_now_ms() - r.started;
    if (out->ms.first_visible == 0) out->ms.first_visible = out->ms.total;
    if (!q->background) atomic_fetch_add_explicit(&s->n_queries, 1, memory_order_relaxed);
    if (rc) keep_costs(out);
    out->rewriting_tokens = r.rewriting_tokens;
    return rc;
}
