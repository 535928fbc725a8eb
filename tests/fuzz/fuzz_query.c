/* The service asked with any options, as its callers may ask it: with an error to fill or none, a
 * sink or none, members of it missing, answers longer than the model's window, documents that come
 * and go in between, hot questions primed, and the whole closed and opened again. The model is a
 * small one with random weights, so what it writes is anything at all.
 *
 * An auditor knows what was acknowledged: of each document its content, or that it is gone. After each change
 * and each restart the store says the same, contexts are of documents that are there, and in the end the
 * store is sound and both indexes hold what it holds.
 *
 * An input is a string of steps; each takes the bytes it needs, and what is missing counts as 0. A few services of different
 * options stay open from one input to the next, without their documents, and begin anew after INPUTS_A_HOME: opening
 * one takes longer than most inputs. */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "retrieval/local/local_generator.h"
#include "engine/tools/random_model.h"
#include "kernels/file.h"
#include "kernels/utf8.h"
#include "retrieval/collections/catalog.h"
#include "retrieval/pipeline/query_memory_internal.h"
#include "retrieval/collections/service_internal.h"
#include "retrieval/service/service.h"
#include "tests/fuzz/fuzz.h"

enum { MAX_STEPS = 48, MAX_RESTARTS = 2, MAX_TEXT = 300, KEPT = 8, INPUTS_A_HOME = 100 };

typedef struct input {
    const uint8_t *p;
    size_t n;
} input;

static unsigned take(input *in) {
    if (in->n == 0) return 0;
    in->n--;
    return *in->p++;
}

#define PICK(in, list) ((list)[take(in) % (sizeof(list) / sizeof *(list))])

static const char *const documents[] = {
    "The north pump is serviced every 400 hours. It stands in the cellar.",
    "The north pump [2] is serviced every 500 hours [1]. See [the manual](pump.html).",
    "Charge the batteries before noon.\n\nThey are kept for three years, which\nis the longest "
    "time\nthat is allowed. [7]",
    "# Keys\n\nThe key of the boat house hangs behind the door of the office\nof the warden.",
    "-x, --exclude\n    Leave out what matches.\n-y  Say yes.",
    "",
};
static const char *const questions[] = {
    "How often is the north pump serviced?",
    "How long are the batteries kept?",
    "Where is the key of the boat house?",
    "How often is the north pump serviced? [2]",
    "What?",
    "\n",
    "",
};

/* ---- the service --------------------------------------------------------------------------- */

typedef struct options {
    bool with_model, semantic;
    int64_t cache_bytes;
    enum kv_warm_mode warm;
} options;

static char folder[128], model_file[192];
static struct kept {
    service *s;
    options o;
    int inputs;
    char home[192];
    char known[2][5]
              [65]; /* by collection and document: the content's hash, "" where there is none */
} slots[KEPT], *at; /* the one of this input */

static void remove_all(void) {
    for (int i = 0; i < KEPT; i++)
        if (slots[i].s) service_close(slots[i].s);
    fo_remove_tree(folder, NULL);
}

static void prepare(void) {
    if (folder[0]) return;
    const char *below = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    snprintf(folder, sizeof folder, "%s/forage-fuzz-XXXXXX", below);
    FUZZ_CHECK(mkdtemp(folder));
    atexit(remove_all);
    for (int i = 0; i < KEPT; i++)
        snprintf(slots[i].home, sizeof slots[i].home, "%s/home%d", folder, i);
    snprintf(model_file, sizeof model_file, "%s/toy.gguf", folder);
    fo_pool *pool = fo_pool_create(1);
    random_model_options o = {.shape = "toy", .type = QUANTIZE_Q8_0, .seed = 1, .pool = pool};
    fo_err err = {0};
    if (random_model_write(model_file, &o, &err)) {
        fprintf(stderr, "%s\n", err.msg);
        abort();
    }
    fo_pool_free(pool);
}

static service *start(const options *o) {
    service *s;
    engine_options e = {
        .model = o->with_model ? model_file : NULL, .kv_ram = 1 << 20, .n_threads = 1};
    service_options opt = {.home = at->home,
                           .generator = local_generator(&e),
                           .n_threads = 1,
                           .cache_bytes = o->cache_bytes,
                           .primes_per_s = -1, /* by the steps below alone */
                           .semantic_threshold = o->semantic ? .5 : 0,
                           .warm = o->warm};
    fo_err err = {0};
    if (service_open(&s, &opt, &err)) {
        fprintf(stderr, "%s\n", err.msg);
        abort();
    }
    return s;
}

/* ---- what a result must look like ---------------------------------------------------------- */

static int see_contexts(void *ctx, const query_result *r) {
    FUZZ_CHECK(r->n_contexts == 0 || r->contexts);
    return *(int *)ctx == 1;
}

static int see_token(void *ctx, const char *text, size_t len) {
    FUZZ_CHECK(len > 0 && text[len - 1]);
    return *(int *)ctx == 2;
}

static int see_citation(void *ctx, const query_result *r, const query_citation *c) {
    FUZZ_CHECK(c->quote && c->index >= 1 && c->context < r->n_contexts);
    return *(int *)ctx == 3;
}

/* Every [n] of an answer is ours: it stands behind what the n-th citation supports. */
static void check_markers(const query_result *r) {
    size_t found = 0;
    for (const char *s = r->answer; (s = strchr(s, '[')); s++) {
        size_t n = strspn(s + 1, "0123456789");
        if (n == 0 || s[1 + n] != ']') continue;
        FUZZ_CHECK(found < r->n_citations && (size_t)atoi(s + 1) == found + 1);
        FUZZ_CHECK(fo_utf8_count(r->answer, (size_t)(s - r->answer)) ==
                   r->citations[found].answer_end + 1);
        found++;
    }
    FUZZ_CHECK(found == r->n_citations);
}

static void check_result(const query_request *q, const query_result *r) {
    size_t bad;
    FUZZ_CHECK(r->answer && r->finish_reason);
    FUZZ_CHECK(q->prefill_only || q->answer_by == ANSWER_BY_MODEL || r->n_citations == 0 ||
               r->status == QUERY_ANSWERED);
    size_t len = fo_utf8_count(r->answer, strlen(r->answer));
    FUZZ_CHECK(r->source == ANSWER_GENERATED || fo_utf8_valid(r->answer, strlen(r->answer), &bad));
    for (size_t i = 0; i < r->n_citations; i++) {
        const query_citation *c = &r->citations[i];
        FUZZ_CHECK(c->index == (int)i + 1 && c->quote && c->context < r->n_contexts);
        FUZZ_CHECK(c->answer_start <= c->answer_end && c->answer_end <= len);
        FUZZ_CHECK(c->source_start <= c->source_end);
    }
    if (q->answer_by != ANSWER_BY_MODEL) check_markers(r);
    for (size_t i = 0; i < r->prompt.n_contexts; i++)
        FUZZ_CHECK(r->prompt.contexts[i] < r->n_contexts);
}

/* ---- steps --------------------------------------------------------------------------------- */

static void audit(service *s) {
    for (int c = 0; c < 2; c++)
        for (int k = 0; k < 5; k++) {
            char id[8], name[8];
            store_document d = {0};
            snprintf(id, sizeof id, "d%d", k);
            snprintf(name, sizeof name, "c%d", c);
            int rc = catalog_get_document(service_catalog(s), "default", name, id, NULL, false, &d,
                                          NULL);
            FUZZ_CHECK(rc == (at->known[c][k][0] ? FO_OK : FO_ENOTFOUND));
            FUZZ_CHECK(rc || strcmp(d.content_sha256, at->known[c][k]) == 0);
            if (!rc) store_document_deinit(&d);
        }
}

static void audit_all(service *s) {
    static const char *const names[] = {"c0", "c1"};
    fo_err err = {0};
    audit(s);
    FUZZ_CHECK(store_verify(s->store, &err) == FO_OK);
    for (int c = 0; c < 2; c++) {
        search_id_report report;
        int rc = service_compare_ids(s, "default", names[c], &report, &err);
        FUZZ_CHECK(rc == FO_OK || rc == FO_ENOTFOUND);
    }
}

static void ingest(service *s, input *in) {
    static uint8_t raw[MAX_TEXT];
    char id[8], name[8];
    unsigned which = take(in);
    snprintf(id, sizeof id, "d%u", which % 5);
    snprintf(name, sizeof name, "c%u", which / 5 % 2);
    const char *text = PICK(in, documents);
    ingest_document d = {.id = id, .bytes = text, .n_bytes = strlen(text)};
    if (which & 128) { /* the input's own bytes */
        size_t n = take(in);
        if (n > in->n) n = in->n;
        memcpy(raw, in->p, n);
        in->p += n;
        in->n -= n;
        d.bytes = raw;
        d.n_bytes = n;
    }
    bool with_error = take(in) & 1;
    ingest_options opt = {
        .tenant = "default", .collection = name, .overlap = SIZE_MAX, .max_tokens = 16};
    ingest_result r;
    fo_err err = {0};
    if (service_ingest(s, &opt, &d, 1, &r, NULL, with_error ? &err : NULL)) return;
    char *now = at->known[which / 5 % 2][which % 5];
    if (r.status != INGEST_FAILED) memcpy(now, r.content_sha256, 65);
    ingest_result_deinit(&r);
    audit(s);
}

static void take_out(service *s, unsigned what) {
    char id[8];
    int c = what & 128 ? 1 : 0;
    snprintf(id, sizeof id, "d%u", what / 8 % 5);
    int rc = service_delete_document(s, "default", c ? "c1" : "c0", id, NULL, NULL, NULL);
    FUZZ_CHECK(rc == FO_OK || rc == FO_ENOTFOUND);
    FUZZ_CHECK((rc == FO_OK) == (at->known[c][what / 8 % 5][0] != 0));
    at->known[c][what / 8 % 5][0] = 0;
    audit(s);
}

static void check_contexts(const query_request *q, const query_result *r) {
    for (size_t i = 0; i < r->n_contexts; i++) {
        const char *id = r->contexts[i].chunk.document_id;
        FUZZ_CHECK(id[0] == 'd' && at->known[q->collection[1] - '0'][id[1] - '0'][0]);
    }
}

static void ask(service *s, input *in) {
    static const size_t tokens[] = {0, 1, 2, 16, 100, 1000, 1024, 65536, 1 << 24, SIZE_MAX};
    static const double levels[] = {0, .5, 1, 2, -1, NAN, INFINITY, 1e300};
    static const size_t counts[] = {0, 1, 2, 8, 1000, SIZE_MAX};
    static const int times[] = {0, 0, 0, 1, 600000, -5};
    static const char *const stops[] = {"a", "\n", "the"};
    static const char *const roles[] = {"user", "assistant", "system", "nobody"};
    char text[MAX_TEXT + 1], name[8];
    atomic_bool cancelled = false;
    unsigned flags = take(in), more = take(in), sinks = take(in);
    snprintf(name, sizeof name, "c%u", flags >> 7 & 1);
    const char *question = PICK(in, questions);
    size_t top_k = PICK(in, counts);
    query_request q = {.tenant = "default",
                       .collection = name,
                       .query = question,
                       .top_k = top_k,
                       .generate = !(flags & 1),
                       .strict = flags & 2,
                       .max_tokens = PICK(in, tokens),
                       .prefill_only = (flags & 4) && (flags & 8),
                       .drop_kv = flags & 16,
                       .no_lookup = flags & 32,
                       .background = flags & 64,
                       .search = {.alpha = -1}};
    query_message turns[3];
    if (more & 1) {
        q.search.mode = (enum search_mode)(take(in) % 4);
        q.search.fusion = (enum fusion_kind)(take(in) % 4);
        q.search.alpha = PICK(in, levels);
        q.search.rrf_k = (int)take(in) - 1;
        q.search.ef = PICK(in, counts);
        q.search.score_threshold = PICK(in, levels);
        q.search.rerank = take(in) == 255;
    }
    if (more & 2) {
        q.temperature = PICK(in, levels);
        q.top_p = PICK(in, levels);
        q.seed = take(in);
        q.n_stop = take(in) % 4;
        q.stop = stops;
        q.max_sentences = PICK(in, counts);
        q.priority = (int)take(in) - 128;
    }
    if (more & 64) {
        q.sampling_top_k = (int)take(in) - 1;
        q.min_p = PICK(in, levels);
        q.presence_penalty = PICK(in, levels);
        q.frequency_penalty = PICK(in, levels);
        q.repetition_penalty = PICK(in, levels);
    }
    if (more & 4) {
        q.order = (enum context_order)(take(in) % 2);
        q.kv_reuse = (enum generator_reuse)(take(in) % 3);
        q.answer_by = (enum answer_by)(take(in) % 3);
        q.cache = (enum cache_mode)(take(in) % 3);
        q.timeout_ms = PICK(in, times);
    }
    if (more & 8) {
        q.n_messages = take(in) % 4;
        for (size_t i = 0; i < q.n_messages; i++)
            turns[i].role = PICK(in, roles), turns[i].content = PICK(in, questions);
        q.messages = turns;
    }
    if (more & 16) { /* the input's own bytes for a question */
        size_t n = take(in);
        if (n > in->n) n = in->n;
        memcpy(text, in->p, n);
        text[n] = 0;
        in->p += n;
        in->n -= n;
        q.query = text;
    }
    if (more & 32) {
        atomic_store(&cancelled, take(in) & 1);
        q.cancel = &cancelled;
    }
    int stop_at = (int)(sinks >> 4 & 3);
    query_sink sink = {.ctx = &stop_at,
                       .contexts = sinks & 1 ? see_contexts : NULL,
                       .token = sinks & 2 ? see_token : NULL,
                       .citation = sinks & 4 ? see_citation : NULL};
    fo_err err = {0};
    bool with_error = sinks & 64;
    query_result r;
    int rc = service_query(s, &q, sinks & 8 ? &sink : NULL, &r, with_error ? &err : NULL);
    if (!rc) {
        check_result(&q, &r);
        check_contexts(&q, &r);
        query_result_deinit(&r);
    } else {
        FUZZ_CHECK(!r.answer && !r.contexts && !r.citations);
        if (with_error) FUZZ_CHECK(err.code == rc && err.msg[0]);
    }
}

static bool same(const options *a, const options *b) {
    return a->with_model == b->with_model && a->semantic == b->semantic &&
           a->cache_bytes == b->cache_bytes && a->warm == b->warm;
}

/* A service of these options without documents. */
static service *begin(const options *o, unsigned slot) {
    at = &slots[slot % KEPT];
    bool goes_on = at->s && same(&at->o, o) && at->inputs < INPUTS_A_HOME;
    for (int c = 0; goes_on && c < 2; c++)
        for (unsigned k = 0; k < 5; k++)
            if (at->known[c][k][0]) take_out(at->s, (unsigned)c * 128 + k * 8);
    at->inputs++;
    if (goes_on) return at->s;
    if (at->s) service_close(at->s);
    fo_remove_tree(at->home, NULL);
    memset(at->known, 0, sizeof at->known);
    at->o = *o;
    at->inputs = 1;
    return start(o);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const int64_t caches[] = {0, -1, 4096, 1 << 20};
    input in = {data, size};
    prepare();
    unsigned first = take(&in);
    options o = {.with_model = !(first & 1),
                 .semantic = first & 2,
                 .cache_bytes = caches[first >> 2 & 3],
                 .warm = (enum kv_warm_mode)((first >> 4 & 3) % 3)};
    service *s = begin(&o, first % 64 * 37 / 8);
    for (int step = 0, restarts = 0; step < MAX_STEPS && in.n; step++) {
        unsigned what = take(&in);
        double allowance = 8;
        switch (what % 8) {
        case 0:
        case 1:
            ingest(s, &in);
            break;
        case 2:
            take_out(s, what);
            break;
        case 3:
            query_heat_prime(s->memory, &allowance);
            break;
        case 4:
            if (restarts++ == MAX_RESTARTS) break;
            service_close(s);
            s = start(&o);
            audit_all(s);
            break;
        default:
            ask(s, &in);
        }
    }
    audit_all(s);
    at->s = s;
    return 0;
}
