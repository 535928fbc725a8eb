/* cli_bench_chunk_quality.c - `forage bench chunk-quality`: what chunk KV costs in quality.
 *
 * A prompt is a prefix, the gold paragraph of a question and its two neighbours, the question. The
 * yardstick is the prompt computed in full and its greedy answer. The same prompt is then put
 * together from KV: the first chunk as it was computed (or moved like the others), the later ones
 * computed behind prefix and lead alone and moved to their place; a share of their tokens is
 * computed again. Along the yardstick's answer: KL divergence of the next-token distributions and
 * agreement of the likeliest tokens; and whether the answer that comes out by itself holds a gold
 * answer. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/generate/chunk_lead.h"
#include "engine/kv/kv_chunk.h"
#include "engine/model/model.h"
#include "engine/tokenizer/tokenizer_gguf.h"
#include "kernels/cpu.h"
#include "kernels/file.h"
#include "kernels/vec.h"
#include "retrieval/rank/measures.h"
#include "server/cli/cli.h"
#include "server/base/json.h"
#include "server/cli/progress.h"

enum {
    CHUNKS = 3,
    MAX_TOKENS = 2048,
    ANSWER = 24,
    MAX_VARIANTS = 64,
    MAX_GOLD = 16,
    PAGE_TOKENS = 16,
    TABLE = MAX_TOKENS / PAGE_TOKENS,
    STEP = 512,
    SEED = 12345
};
static const size_t max_file_bytes = (size_t)1 << 30;

static struct {
    const char *model, *eval;
    int64_t questions, skip, threads;
    cli_list variants;
    bool exact, random_others, all_moved, no_lead, json;
} o = {.questions = 200};

static const cli_option options[] = {
    {"model", CLI_STRING, &o.model, "FILE", "the GGUF file", .required = true},
    {"eval", CLI_STRING, &o.eval, "DIR",
     "a set with corpus.jsonl, queries.jsonl (with answers) and qrels.tsv", .required = true,
     .flag_only = true},
    {"questions", CLI_INT, &o.questions, "N", "so many of them (default 200)", .min = 1,
     .max = 1e6},
    {"skip", CLI_INT, &o.skip, "N", "leave out the first N", .min = 0, .max = 1e6},
    {"variant", CLI_LIST, &o.variants, "RULE:SHARE",
     "may be given again; rules: attention, attention-A-B (of layers A to B in percent of their "
     "number), plain, plain-A-B (the same, not weighed by place), values, both, first, random "
     "(default: attention at 0, .05, .15, .3)",
     .flag_only = true},
    {"random-others", CLI_BOOL, &o.random_others, NULL,
     "put any two paragraphs beside the gold one instead of its neighbours in the corpus"},
    {"all-moved", CLI_BOOL, &o.all_moved, NULL, "move the first chunk, too"},
    {"no-lead", CLI_BOOL, &o.no_lead, NULL, "compute chunks directly behind the prefix"},
    {"exact", CLI_BOOL, &o.exact, NULL, "F32 arithmetic and KV instead of what the server runs"},
    {"threads", CLI_INT, &o.threads, "N", "threads (default: one a core)", .max = 1024},
    CLI_PROGRESS_OPTION,
    {"json", CLI_BOOL, &o.json, NULL, "one JSON object on stdout (always)"},
    {0}};

enum rule { RULE_ATTENTION, RULE_PLAIN, RULE_VALUES, RULE_BOTH, RULE_FIRST, RULE_RANDOM };

typedef struct variant {
    const char *name;
    enum rule rule;
    int from, to; /* layers whose attention counts, in percent of their number; 0, 0: as served */
    double share;
    /* sums over questions */
    double kl, agree, computed;
    size_t contains, same;
} variant;

typedef struct question {
    const char *text, *id;
    const char *gold[MAX_GOLD];
    size_t n_gold;
} question;

typedef struct assembled {
    int32_t tokens[MAX_TOKENS];
    int n_prefix, n_prompt;
    kv_chunk_range chunk[CHUNKS];
} assembled;

typedef struct bench {
    fo_pool *pool;
    model *m;
    tokenizer *tok;
    kv_pages *kv;
    model_context *c;
    const vec_kernels *vec;
    int32_t full[TABLE], alone[TABLE], reused[TABLE];
    int32_t lead[CHUNK_LEAD_TOKENS];
    int n_lead, first; /* the first chunk that is moved */
    cJSON **documents;
    size_t n_documents;
    variant v[MAX_VARIANTS];
    size_t n_variants;
    float *full_logits, *logits; /* [ANSWER][n_vocab] */
    uint64_t state;
    /* of the question in work */
    assembled p;
    int32_t answer[ANSWER];
    int n_answer; /* its end token included */
    unsigned char *bytes[CHUNKS];
    size_t n_asked, full_contains;
    double answer_tokens;
} bench;

/* ---- the set -------------------------------------------------------------------------------- */

static int read_lines(const char *name, cJSON ***out, size_t *n, size_t most, fo_err *err) {
    char path[4096], *text;
    size_t size, cap = 0;
    snprintf(path, sizeof path, "%s/%s", o.eval, name);
    int rc = fo_file_read(path, max_file_bytes, &text, &size, err);
    if (rc) return rc;
    for (char *line = text, *end; line < text + size && *n < most && !rc; line = end + 1) {
        end = memchr(line, '\n', (size_t)(text + size - line));
        if (!end) end = text + size;
        if (end == line) continue;
        if (*n == cap) {
            cap = cap ? 2 * cap : 256;
            cJSON **grown = realloc(*out, cap * sizeof *grown);
            if (!grown) {
                rc = fo_no_memory(err);
                break;
            }
            *out = grown;
        }
        rc = json_parse(line, (size_t)(end - line), &(*out)[*n], err);
        if (!rc) ++*n;
    }
    free(text);
    return rc ? fo_fail_prefix(err, "%s", path), rc : FO_OK;
}

static const char *text_of(const cJSON *line, const char *name) {
    const char *s = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(line, name));
    return s ? s : "";
}

/* The number of the document that is judged relevant for a query, -1: none. */
static ptrdiff_t gold_document(const bench *b, const char *qrels, const char *query) {
    size_t n = strlen(query);
    for (const char *line = qrels; line && *line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, query, n) != 0 || line[n] != '\t') continue;
        const char *id = line + n + 1, *end = strchr(id, '\t');
        for (size_t i = 0; end && i < b->n_documents; i++) {
            const char *d = text_of(b->documents[i], "id");
            if (strlen(d) == (size_t)(end - id) && !memcmp(d, id, (size_t)(end - id)))
                return (ptrdiff_t)i;
        }
    }
    return -1;
}

/* ---- the prompt ----------------------------------------------------------------------------- */

static int add_text(bench *b, const char *text, bool special, int *n, fo_err *err) {
    int32_t *ids;
    size_t k;
    unsigned flags = special ? TOKENIZER_PARSE_SPECIAL : 0u;
    int rc = tokenizer_encode_alloc(b->tok, text, strlen(text), flags, &ids, &k, err);
    if (rc) return rc;
    if (b->p.n_prompt + (int)k > MAX_TOKENS - ANSWER)
        rc = fo_fail(err, FO_ELIMIT, "a prompt of more than %d tokens", MAX_TOKENS - ANSWER);
    else
        memcpy(b->p.tokens + b->p.n_prompt, ids, k * sizeof *ids);
    if (!rc) b->p.n_prompt += (int)k, *n = (int)k;
    free(ids);
    return rc;
}

static uint64_t draw(bench *b) {
    b->state = b->state * 6364136223846793005u + 1442695040888963407u;
    return b->state >> 33;
}

/* Each piece is tokenised alone, as the server does. Gold comes first, second or third in turn. */
static int assemble(bench *b, size_t gold, size_t which, const char *text, fo_err *err) {
    assembled *p = &b->p;
    p->n_prompt = 0;
    int unused, rc = add_text(b,
                              "<|im_start|>system\nYou answer questions from the passages that you "
                              "are given, in a few words.<|im_end|>\n<|im_start|>user\nPassages:\n",
                              true, &p->n_prefix, err);
    size_t first = gold < which ? 0 : gold - which;
    if (first + CHUNKS > b->n_documents) first = b->n_documents - CHUNKS;
    for (int i = 0; i < CHUNKS && !rc; i++) {
        char chunk[16384];
        size_t at = first + (size_t)i;
        if (o.random_others && at != gold) at = draw(b) % b->n_documents;
        const cJSON *d = b->documents[at];
        snprintf(chunk, sizeof chunk, "%s: %s\n\n", text_of(d, "title"), text_of(d, "text"));
        p->chunk[i].start = p->n_prompt;
        rc = add_text(b, chunk, false, &p->chunk[i].n, err);
    }
    if (!rc) rc = add_text(b, "Question: ", false, &unused, err);
    if (!rc) rc = add_text(b, text, false, &unused, err);
    if (!rc) rc = add_text(b, "<|im_end|>\n<|im_start|>assistant\n", true, &unused, err);
    return rc;
}

/* ---- the model ------------------------------------------------------------------------------ */

static int forward(bench *b, const int32_t *table, const int32_t *tokens, int start, int n,
                   int n_logits, float *logits, fo_err *err) {
    int rc = FO_OK;
    for (int at = 0, k; at < n && !rc; at += k) {
        k = n - at < STEP ? n - at : STEP;
        model_sequence s = {.tokens = tokens + at,
                            .n_tokens = k,
                            .start = start + at,
                            .pages = table,
                            .n_pages = TABLE,
                            .n_logits = at + k == n ? n_logits : 0};
        rc = model_forward(b->c, b->kv, &s, 1, logits, err);
    }
    return rc;
}

static int best_of(const bench *b, const float *logits) {
    int best = 0, n = model_get_info(b->m)->n_vocab;
    for (int i = 1; i < n; i++)
        if (logits[i] > logits[best]) best = i;
    return best;
}

static float *row(bench *b, float *rows, int i) {
    return rows + (size_t)i * (size_t)model_get_info(b->m)->n_vocab;
}

/* Go on greedily: logits[0 .. n) are those of the tokens answer[0 .. n) that were given so far. */
static int write_on(bench *b, const int32_t *table, float *logits, int32_t *answer, int *n,
                    fo_err *err) {
    while (*n < ANSWER) {
        if (*n && tokenizer_is_end(b->tok, answer[*n - 1])) break;
        if (*n) {
            int rc = forward(b, table, &answer[*n - 1], b->p.n_prompt + *n - 1, 1, 1,
                             row(b, logits, *n), err);
            if (rc) return rc;
        }
        answer[*n] = best_of(b, row(b, logits, *n));
        ++*n;
    }
    return FO_OK;
}

static bool holds_gold(const bench *b, const int32_t *answer, int n, const question *q) {
    fo_buf text = {0};
    detokenizer d;
    detokenizer_init(&d, b->tok, false, true);
    for (int i = 0; i < n && !tokenizer_is_end(b->tok, answer[i]); i++)
        detokenizer_push(&d, answer[i], &text, NULL);
    detokenizer_end(&d, &text, NULL);
    bool holds = text.len && measure_contains(text.data, q->gold, q->n_gold);
    fo_buf_free(&text);
    return holds;
}

static int compute_full(bench *b, const question *q, fo_err *err) {
    int rc = forward(b, b->full, b->p.tokens, 0, b->p.n_prompt, 1, b->full_logits, err);
    b->n_answer = 0;
    if (!rc) rc = write_on(b, b->full, b->full_logits, b->answer, &b->n_answer, err);
    b->full_contains += holds_gold(b, b->answer, b->n_answer, q);
    b->answer_tokens += b->n_answer;
    return rc;
}

static int alone_at(const bench *b) {
    return b->p.n_prefix + b->n_lead;
}

static int compute_alone(bench *b, fo_err *err) {
    size_t each = kv_layout_token_bytes(kv_pages_layout(b->kv));
    int rc = forward(b, b->alone, b->p.tokens, 0, b->p.n_prefix, 0, NULL, err);
    if (!rc && b->n_lead)
        rc = forward(b, b->alone, b->lead, b->p.n_prefix, b->n_lead, 0, NULL, err);
    for (int i = b->first; i < CHUNKS && !rc; i++) {
        const kv_chunk_range *r = &b->p.chunk[i];
        rc = forward(b, b->alone, b->p.tokens + r->start, alone_at(b), r->n, 0, NULL, err);
        free(b->bytes[i]);
        b->bytes[i] = malloc((size_t)r->n * each);
        if (!b->bytes[i]) return fo_no_memory(err);
        if (!rc) kv_chunk_take(b->kv, b->alone, alone_at(b), r->n, b->bytes[i]);
    }
    return rc;
}

/* What stands before the first moved chunk as computed in full, the others moved. */
static int compose(bench *b, fo_err *err) {
    int exact = b->p.chunk[b->first].start;
    for (int i = 0; i <= exact / PAGE_TOKENS; i++) kv_pages_copy(b->kv, b->reused[i], b->full[i]);
    int rc = FO_OK;
    for (int i = b->first; i < CHUNKS && !rc; i++)
        rc = kv_chunk_place(b->m, b->kv, b->reused, b->p.chunk[i].start, b->p.chunk[i].n,
                            b->bytes[i], alone_at(b), err);
    return rc;
}

static int body_end(const bench *b) {
    return b->p.chunk[CHUNKS - 1].start + b->p.chunk[CHUNKS - 1].n;
}

/* ---- which tokens --------------------------------------------------------------------------- */

/* Attention of the tail over what was put together, in the variant's layers. */
static int attend(bench *b, const variant *v, uint64_t *mass, fo_err *err) {
    int n_layers = model_get_info(b->m)->n_layers, end = body_end(b);
    model_sequence s = {.tokens = b->p.tokens + end,
                        .n_tokens = b->p.n_prompt - end,
                        .start = end,
                        .pages = b->reused,
                        .n_pages = TABLE,
                        .attention = mass,
                        .n_attention = end,
                        .attention_layers = {v->from * n_layers / 100, v->to * n_layers / 100}};
    if (v->to == 0) kv_chunk_layers(n_layers, s.attention_layers);
    return model_forward(b->c, b->kv, &s, 1, NULL, err);
}

/* How far the second layer's values stand from those of the full computation, in fixed point. */
static uint64_t deviation(bench *b, int position) {
    const kv_layout *l = kv_pages_layout(b->kv);
    float x[1024], y[1024];
    double sum = 0;
    int layer = l->n_layers > 1 ? 1 : 0, page = position / PAGE_TOKENS;
    for (int h = 0; h < l->n_kv_heads; h++) {
        kv_pages_load(b->kv, b->full[page], position % PAGE_TOKENS, layer, h, NULL, x);
        kv_pages_load(b->kv, b->reused[page], position % PAGE_TOKENS, layer, h, NULL, y);
        for (int d = 0; d < l->v_dim; d++) sum += (double)(x[d] - y[d]) * (double)(x[d] - y[d]);
    }
    return (uint64_t)(sqrt(sum) * 0x1p24);
}

static int weigh(bench *b, const variant *v, uint64_t *mass, fo_err *err) {
    memset(mass, 0, MAX_TOKENS * sizeof *mass);
    if (v->rule == RULE_ATTENTION || v->rule == RULE_PLAIN || v->rule == RULE_BOTH) {
        int rc = attend(b, v, mass, err);
        if (rc) return rc;
    }
    for (int i = b->first; i < CHUNKS; i++)
        for (int k = 0; k < b->p.chunk[i].n; k++) {
            int at = b->p.chunk[i].start + k;
            if (v->rule == RULE_VALUES) mass[at] = deviation(b, at);
            if (v->rule == RULE_BOTH)
                mass[at] = (uint64_t)((double)mass[at] * (double)deviation(b, at) * 0x1p-24);
            if (v->rule == RULE_FIRST) mass[at] = (uint64_t)(b->p.chunk[i].n - k);
            if (v->rule == RULE_RANDOM) {
                mass[at] = draw(b);
            }
        }
    if (v->rule == RULE_ATTENTION) kv_chunk_weigh(mass, b->p.chunk + b->first, CHUNKS - b->first);
    return FO_OK;
}

/* ---- one variant on one question ------------------------------------------------------------ */

static double log_sum(const float *x, int n) {
    double top = x[0], sum = 0;
    for (int i = 1; i < n; i++)
        if (x[i] > top) top = x[i];
    for (int i = 0; i < n; i++) sum += exp(x[i] - top);
    return top + log(fmax(sum, 1)); /* the largest alone gives 1 */
}

static double divergence(const float *p, const float *q, int n) {
    double lp = log_sum(p, n), lq = log_sum(q, n), kl = 0;
    for (int i = 0; i < n; i++) kl += exp(p[i] - lp) * (p[i] - lp - q[i] + lq);
    return kl > 0 ? kl : 0;
}

static void compare(bench *b, variant *v) {
    int n_vocab = model_get_info(b->m)->n_vocab;
    for (int i = 0; i < b->n_answer; i++) {
        v->kl += divergence(row(b, b->full_logits, i), row(b, b->logits, i), n_vocab);
        v->agree += best_of(b, row(b, b->logits, i)) == b->answer[i];
    }
}

static int run_variant(bench *b, variant *v, const question *q, fo_err *err) {
    static uint64_t mass[MAX_TOKENS];
    static int32_t rows[MAX_TOKENS], again[MAX_TOKENS];
    int rc = compose(b, err), end = body_end(b);
    if (!rc) rc = weigh(b, v, mass, err);
    if (rc) return rc;
    int n = kv_chunk_select(mass, b->p.chunk + b->first, CHUNKS - b->first, v->share, rows);
    v->computed += (double)n / (end - b->p.chunk[b->first].start);
    for (int i = 0; i < n; i++) again[i] = b->p.tokens[rows[i]];
    for (int at = 0; at < n && !rc; at += STEP) {
        model_sequence s = {.tokens = again + at,
                            .n_tokens = n - at < STEP ? n - at : STEP,
                            .positions = rows + at,
                            .pages = b->reused,
                            .n_pages = TABLE};
        rc = model_forward(b->c, b->kv, &s, 1, NULL, err);
    }
    /* Tail and the yardstick's answer, all but its last token, in one step. */
    int32_t *to = b->p.tokens + b->p.n_prompt;
    memcpy(to, b->answer, (size_t)b->n_answer * sizeof *to);
    if (!rc)
        rc = forward(b, b->reused, b->p.tokens + end, end, b->p.n_prompt - end + b->n_answer - 1,
                     b->n_answer, b->logits, err);
    if (rc) return rc;
    compare(b, v);
    int32_t answer[ANSWER];
    int written = 0;
    for (bool same = true; same && written < b->n_answer; written++) {
        answer[written] = best_of(b, row(b, b->logits, written));
        same = answer[written] == b->answer[written];
    }
    rc = write_on(b, b->reused, b->logits, answer, &written, err);
    v->contains += holds_gold(b, answer, written, q);
    v->same +=
        written == b->n_answer && !memcmp(answer, b->answer, (size_t)written * sizeof *answer);
    return rc;
}

/* ---- all of it ------------------------------------------------------------------------------ */

static int parse_variant(variant *v, const char *text, fo_err *err) {
    static const char *const names[] = {"attention", "plain", "values", "both", "first", "random"};
    const char *colon = strchr(text, ':');
    *v = (variant){.name = text};
    char *end = NULL;
    if (colon) v->share = strtod(colon + 1, &end);
    size_t n = colon ? (size_t)(colon - text) : 0, word = strcspn(text, "-:");
    bool known = false;
    for (int i = 0; i < 6; i++)
        if (strlen(names[i]) == word && !strncmp(names[i], text, word))
            v->rule = (enum rule)i, known = true;
    if (known && word < n)
        known = sscanf(text + word, "-%d-%d:", &v->from, &v->to) == 2 && v->from >= 0 &&
                v->from < v->to && v->to <= 100;
    if (!known || !end || *end || end == colon + 1 || v->share < 0 || v->share > 1)
        return fo_fail_field(err, FO_EINVAL, "variant", "--variant: '%.40s' is no RULE:SHARE",
                             text);
    return FO_OK;
}

static int open_model(bench *b, fo_err *err) {
    b->pool = fo_pool_create_bound((int)o.threads, NULL);
    if (!b->pool) return fo_fail(err, FO_ENOMEM, "no memory for threads");
    int rc = model_open(&b->m, o.model, &(model_options){.pool = b->pool, .fast = !o.exact}, err);
    if (!rc) rc = tokenizer_from_gguf(&b->tok, model_gguf(b->m), err);
    kv_layout l;
    if (!rc) rc = model_kv_layout(b->m, PAGE_TOKENS, o.exact ? KV_F32 : KV_BF16, &l, err);
    if (!rc) rc = kv_pages_create(&b->kv, &l, 3 * TABLE, err);
    if (!rc) rc = model_context_create(&b->c, b->m, &(model_limits){STEP, ANSWER}, err);
    if (rc) return rc;
    b->first = o.all_moved ? 0 : 1;
    if (!o.no_lead) b->n_lead = chunk_lead_tokens(b->tok, model_get_info(b->m)->n_vocab, b->lead);
    for (int i = 0; i < TABLE; i++)
        b->full[i] = i, b->alone[i] = TABLE + i, b->reused[i] = 2 * TABLE + i;
    size_t n = (size_t)ANSWER * (size_t)model_get_info(b->m)->n_vocab;
    b->full_logits = malloc(n * sizeof(float));
    b->logits = malloc(n * sizeof(float));
    return b->full_logits && b->logits ? FO_OK : fo_no_memory(err);
}

static int ask(bench *b, const cJSON *line, const char *qrels, fo_err *err) {
    question q = {.text = text_of(line, "text"), .id = text_of(line, "id")};
    const cJSON *item;
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(line, "answers")) {
        if (cJSON_IsString(item) && q.n_gold < MAX_GOLD) q.gold[q.n_gold++] = item->valuestring;
    }
    ptrdiff_t gold = gold_document(b, qrels, q.id);
    if (gold < 0 || !q.n_gold) return FO_OK;
    int rc = assemble(b, (size_t)gold, b->n_asked % CHUNKS, q.text, err);
    if (rc == FO_ELIMIT) return FO_OK; /* a prompt that is too long is left out */
    if (!rc) rc = compute_full(b, &q, err);
    if (!rc) rc = compute_alone(b, err);
    for (size_t i = 0; i < b->n_variants && !rc; i++) rc = run_variant(b, &b->v[i], &q, err);
    b->n_asked++;
    return rc;
}

static void report(const bench *b) {
    fo_buf text = {0};
    json_out out = {&text, false};
    double n = b->n_asked ? (double)b->n_asked : 1;
    double tokens = b->answer_tokens > 0 ? b->answer_tokens : 1;
    json_out_open(&out, NULL, '{');
    json_out_int(&out, "questions", (int64_t)b->n_asked);
    json_out_int(&out, "lead_tokens", b->n_lead);
    json_out_number(&out, "full_contains_gold", (double)b->full_contains / n);
    json_out_open(&out, "variants", '[');
    for (size_t i = 0; i < b->n_variants; i++) {
        const variant *v = &b->v[i];
        json_out_open(&out, NULL, '{');
        json_out_string(&out, "variant", v->name);
        json_out_number(&out, "recomputed", v->computed / n);
        json_out_number(&out, "kl", v->kl / tokens);
        json_out_number(&out, "agreement", v->agree / tokens);
        json_out_number(&out, "contains_gold", (double)v->contains / n);
        json_out_number(&out, "same_answer", (double)v->same / n);
        json_out_close(&out, '}');
    }
    json_out_close(&out, ']');
    json_out_string(&out, "arithmetic", o.exact ? "f32" : "serving");
    json_out_string(&out, "isa", fo_cpu_level_name(fo_cpu()->level));
    json_out_close(&out, '}');
    printf("%s\n", text.data);
    fo_buf_free(&text);
}

static int run(int argc, char **argv) {
    (void)argc, (void)argv;
    static const char *const usual[] = {"attention:0", "attention:0.05", "attention:0.15",
                                        "attention:0.3"};
    fo_err err = {0};
    char path[4096], *qrels = NULL;
    size_t size, n_queries = 0;
    cJSON **queries = NULL;
    bench *b = calloc(1, sizeof *b);
    if (!b) return cli_fail(&(fo_err){.code = FO_ENOMEM, .msg = "out of memory"});
    b->state = SEED;
    int rc = FO_OK;
    b->n_variants = o.variants.n ? o.variants.n : sizeof usual / sizeof *usual;
    if (b->n_variants > MAX_VARIANTS)
        rc = fo_fail(&err, FO_EINVAL, "at most %d variants", MAX_VARIANTS);
    for (size_t i = 0; i < b->n_variants && !rc; i++)
        rc = parse_variant(&b->v[i], o.variants.n ? o.variants.items[i] : usual[i], &err);
    if (!rc) rc = read_lines("corpus.jsonl", &b->documents, &b->n_documents, SIZE_MAX, &err);
    if (!rc)
        rc =
            read_lines("queries.jsonl", &queries, &n_queries, (size_t)(o.skip + o.questions), &err);
    snprintf(path, sizeof path, "%s/qrels.tsv", o.eval);
    if (!rc) rc = fo_file_read(path, max_file_bytes, &qrels, &size, &err);
    if (!rc && b->n_documents < CHUNKS)
        rc = fo_fail(&err, FO_EINVAL, "%s holds fewer than %d documents", o.eval, CHUNKS);
    if (!rc) rc = open_model(b, &err);
    progress *p = progress_begin("bench", "questions", n_queries, o.json);
    for (size_t i = (size_t)o.skip; i < n_queries && !rc; i++) {
        rc = ask(b, queries[i], qrels, &err);
        progress_set(p, i + 1);
    }
    progress_end(p);
    if (!rc) report(b);
    for (size_t i = 0; i < b->n_documents; i++) cJSON_Delete(b->documents[i]);
    for (size_t i = 0; i < n_queries; i++) cJSON_Delete(queries[i]);
    for (int i = 0; i < CHUNKS; i++) free(b->bytes[i]);
    free(b->documents), free(queries), free(qrels);
    free(b->full_logits), free(b->logits);
    model_context_free(b->c);
    kv_pages_free(b->kv);
    tokenizer_free(b->tok);
    model_close(b->m);
    fo_pool_free(b->pool);
    free(b);
    return rc ? cli_fail(&err) : 0;
}

const cli_command cli_command_bench_chunk_quality = {
    "bench chunk-quality",
    "what chunk KV reuse costs in answer quality",
    "forage bench chunk-quality --model M --eval DIR --json",
    "Prompts of a gold paragraph and two others, the later ones from KV that was computed\n"
    "without the first, behind other text (the lead), a share of their tokens computed again:\n"
    "KL divergence and agreement along the answer of the prompt computed in full, and answers\n"
    "that hold a gold answer. The model must speak ChatML (<|im_start|>).",
    options,
    0,
    0,
    run};
