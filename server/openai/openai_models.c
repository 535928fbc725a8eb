/* /v1/models, /v1/embeddings and /v1/rerank. */
#include <math.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/tokenizer/tokenizer.h"
#include "server/base/log.h"
#include "server/base/request_limits.h"
#include "server/openai/model_names.h"
#include "server/openai/openai.h"
#include "server/openai/openai_fields.h"

enum { MAX_INPUTS = 2048, MAX_RERANK = 1000 };

/* ---- models --------------------------------------------------------------------------------- */

static void write_model(json_out *o, const app *a, const char *id, enum model_kind kind,
                        const char *alias_of) {
    json_out_open(o, NULL, '{');
    json_out_string(o, "id", id);
    json_out_string(o, "object", "model");
    json_out_int(o, "created", a->started_ms / 1000);
    json_out_string(o, "owned_by", "forage");
    json_out_string(o, "kind", model_kind_name(kind));
    if (alias_of) json_out_string(o, "alias_of", alias_of);
    json_out_close(o, '}');
}

typedef struct models_reply {
    json_out o;
    const app *a;
    const char *wanted; /* NULL: all */
} models_reply;

static bool add_model(void *ctx, const char *id, enum model_kind kind, const char *alias_of) {
    models_reply *m = ctx;
    if (m->wanted && strcmp(m->wanted, id)) return false;
    write_model(&m->o, m->a, id, kind, alias_of);
    return m->wanted != NULL;
}

void route_models(http_request *r, void *ctx) {
    app *a = ctx;
    fo_buf b = {0};
    models_reply m = {{&b, false}, a, NULL};
    json_out_open(&m.o, NULL, '{');
    json_out_string(&m.o, "object", "list");
    json_out_open(&m.o, "data", '[');
    model_names_each(a, r, add_model, &m);
    json_out_close(&m.o, ']');
    json_out_close(&m.o, '}');
    http_reply_json(r, 200, &b);
}

void route_model(http_request *r, void *ctx) {
    app *a = ctx;
    fo_buf b = {0};
    models_reply m = {{&b, false}, a, http_param(r, "model")};
    if (model_names_each(a, r, add_model, &m)) {
        http_reply_json(r, 200, &b);
        return;
    }
    fo_buf_free(&b);
    fo_err err = {0};
    model_names_refuse(a, r, m.wanted,
                       MODEL_GENERATOR | MODEL_EMBEDDER | MODEL_RERANKER | MODEL_GROUNDED, &err);
    openai_error(r, &err);
}

unsigned openai_read_model(json_in *in, http_request *r, app *a, unsigned kinds) {
    model_choice m = {0};
    const char *asked = json_in_string(in, "model", NULL, 0, 256);
    if (!json_in_failed(in)) model_names_find(&m, a, r, asked, kinds, in->err);
    return m.kind;
}

/* ---- bodies --------------------------------------------------------------------------------- */

cJSON *openai_read_body(http_request *r, json_in *in, fo_err *err) {
    size_t len;
    const char *body = http_body(r, &len);
    cJSON *root = NULL;
    if (!json_parse(body, len, &root, err)) {
        json_in_object(in, root, "", err);
        if (!in->object && !err->code) fo_fail(err, FO_EINVAL, "the body must be a JSON object");
    }
    return root;
}

typedef struct text_list {
    const char **texts;
    size_t *lens, n;
    size_t *tokens; /* [n], of count_all */
    char **owned;   /* [n], NULL where the text is the request's */
} text_list;

static void text_list_deinit(text_list *l) {
    for (size_t i = 0; l->owned && i < l->n; i++) free(l->owned[i]);
    free(l->texts);
    free(l->lens);
    free(l->tokens);
    free(l->owned);
}

static bool text_list_init(text_list *l, size_t n) {
    *l = (text_list){calloc(n + 1, sizeof *l->texts), calloc(n + 1, sizeof *l->lens), n,
                     calloc(n + 1, sizeof *l->tokens), calloc(n + 1, sizeof *l->owned)};
    return l->texts && l->lens && l->tokens && l->owned;
}

/* Tokens of the embedder's own vocabulary are turned back into the text they came from. */
static int decode_tokens(const tokenizer *t, const cJSON *list, char **out, fo_err *err) {
    int n = cJSON_GetArraySize(list), i = 0;
    int32_t *ids = malloc((size_t)(n + 1) * sizeof *ids);
    if (!ids) return fo_no_memory(err);
    const cJSON *v;
    cJSON_ArrayForEach(v, list) ids[i++] = (int32_t)v->valuedouble;
    fo_buf b = {0};
    fo_buf_str(&b, "");
    fo_err why = {0};
    int rc = tokenizer_decode(t, ids, (size_t)n, false, &b, &why);
    free(ids);
    if (rc) {
        fo_buf_free(&b);
        return fo_fail_field(err, rc, "input", "input holds tokens of another model: %s", why.msg);
    }
    *out = fo_buf_take(&b, NULL);
    return *out ? FO_OK : fo_no_memory(err);
}

static const char no_ids[] =
    "input holds token ids, and of ids nobody can tell whose vocabulary they are of. Send text: "
    "with "
    "LangChain's OpenAIEmbeddings set check_embedding_ctx_length=False. Ids of this embedder "
    "(POST /v1/tokenize) are taken by a service that was started with --allow-token-ids";

/* t: the vocabulary of token ids; NULL: they are refused. */
static int read_inputs(text_list *l, const tokenizer *t, const cJSON *input, fo_err *err) {
    bool one = cJSON_IsString(input) || openai_is_tokens(input);
    int n = one ? 1 : cJSON_IsArray(input) ? cJSON_GetArraySize(input) : 0;
    *l = (text_list){0};
    if (n < 1 || n > MAX_INPUTS)
        return fo_fail_field(
            err, FO_EINVAL, "input",
            "input must be a string, an array of tokens, or an array of 1 to %d of "
            "them",
            MAX_INPUTS);
    if (!text_list_init(l, (size_t)n)) return fo_no_memory(err);
    const cJSON *item = one ? input : input->child;
    for (size_t i = 0; i < l->n; i++, item = one ? NULL : item->next) {
        const char *text = cJSON_GetStringValue(item);
        if (!text && openai_is_tokens(item)) {
            if (!t) return fo_fail_field(err, FO_EINVAL, "input", "%s", no_ids);
            int rc = decode_tokens(t, item, &l->owned[i], err);
            if (rc) return rc;
            text = l->owned[i];
        }
        if (!text || (!*text && !l->owned[i]))
            return fo_fail_field(err, FO_EINVAL, "input",
                                 text ? "input[%zu] must not be empty"
                                      : "input[%zu] must be a string or an array of tokens",
                                 i);
        l->texts[i] = text;
        l->lens[i] = strlen(text);
    }
    return FO_OK;
}

/* ---- within a time limit -------------------------------------------------------------------- */

/* timeout_ms of a body, from when the request was there; none by default. */
static void read_timeout(json_in *in, http_request *r) {
    int64_t ms = json_in_int(in, "timeout_ms", 0, 1, REQUEST_TIMEOUT_MAX_MS);
    if (ms && !json_in_failed(in)) http_set_timeout(r, ms - (int64_t)http_queue_ms(r));
}

/* Texts go to the models in pieces (a vector or a score does not depend on the others), since a whole body of
 * them takes an encoder minutes: before each one, has the client left, or is its time over? */
enum { PIECE = 16 };

static bool left(http_request *r, fo_err *err) {
    return atomic_load(http_cancel(r)) && fo_fail(err, FO_ECANCELLED, "cancelled");
}

/* l: counted. *tokens grows with each piece, so that what was computed is known where it ends early. */
static int embed_all(http_request *r, embedder *e, enum embed_kind kind, const text_list *l,
                     float *v, uint64_t *tokens, fo_err *err) {
    for (size_t i = 0; i < l->n; i += PIECE) {
        size_t n = l->n - i < PIECE ? l->n - i : PIECE;
        if (left(r, err) ||
            embedder_embed(e, kind, l->texts + i, l->lens + i, n, v + i * embedder_dim(e), err))
            return err->code;
        for (size_t k = i; k < i + n; k++) *tokens += l->tokens[k];
    }
    return FO_OK;
}

static int rerank_all(http_request *r, reranker *rr, const char *query, const text_list *l,
                      float *scores, uint64_t *tokens, fo_err *err) {
    for (size_t i = 0; i < l->n; i += PIECE) {
        size_t n = l->n - i < PIECE ? l->n - i : PIECE;
        if (left(r, err) || reranker_score(rr, query, strlen(query), l->texts + i, l->lens + i, n,
                                           scores + i, tokens, err))
            return err->code;
    }
    return FO_OK;
}

/* ---- embeddings ----------------------------------------------------------------------------- */

/* One of more than `most` tokens is refused, where that is no EMBEDDER_NO_LIMIT. */
static int count_all(http_request *r, embedder *e, const text_list *l, size_t most, fo_err *err) {
    for (size_t i = 0; i < l->n; i++) {
        l->tokens[i] = embedder_count_tokens(e, l->texts[i], l->lens[i]);
        if (left(r, err)) return err->code;
        if (l->tokens[i] > most && most < EMBEDDER_NO_LIMIT)
            return fo_fail_field(err, FO_EINVAL, "input",
                                 "input[%zu] has %zu tokens; %s takes at most %zu of a text", i,
                                 l->tokens[i], embedder_name(e), most);
    }
    return FO_OK;
}

static void write_vector(json_out *o, const float *v, size_t dim, bool base64) {
    if (base64) { /* little-endian float32, as on every machine this runs on */
        size_t n = dim * sizeof *v;
        unsigned char *text = malloc(n / 3 * 4 + 8);
        if (text) {
            int len = EVP_EncodeBlock(text, (const unsigned char *)v, (int)n);
            json_out_bytes(o, "embedding", (const char *)text, (size_t)len);
        } else {
            o->b->failed = true;
        }
        free(text);
        return;
    }
    json_out_open(o, "embedding", '[');
    for (size_t i = 0; i < dim; i++) {
        if (i) fo_buf_char(o->b, ',');
        fo_buf_printf(o->b, "%.9g", (double)v[i]);
    }
    o->comma = true;
    json_out_close(o, ']');
}

static void reply_vectors(http_request *r, embedder *e, const text_list *l, const float *v,
                          uint64_t tokens, bool base64) {
    fo_buf b = {0};
    json_out o = {&b, false};
    size_t dim = embedder_dim(e);
    json_out_open(&o, NULL, '{');
    json_out_string(&o, "object", "list");
    json_out_open(&o, "data", '[');
    for (size_t i = 0; i < l->n; i++) {
        json_out_open(&o, NULL, '{');
        json_out_string(&o, "object", "embedding");
        json_out_int(&o, "index", (int64_t)i);
        write_vector(&o, v + i * dim, dim, base64);
        json_out_close(&o, '}');
    }
    json_out_close(&o, ']');
    json_out_string(&o, "model", embedder_name(e));
    json_out_open(&o, "usage", '{');
    json_out_int(&o, "prompt_tokens", (int64_t)tokens);
    json_out_int(&o, "total_tokens", (int64_t)tokens);
    json_out_close(&o, '}');
    json_out_close(&o, '}');
    http_reply_json(r, 200, &b);
}

void route_embeddings(http_request *r, void *ctx) {
    static const char *const formats[] = {"float", "base64", NULL};
    static const char *const kinds[] = {"passage", "document",     "search_document",
                                        "query",   "search_query", NULL};
    app *a = ctx;
    embedder *e = service_embedder(a->service);
    fo_err err = {0};
    json_in in;
    text_list l = {0};
    float *v = NULL;
    cJSON *root = openai_read_body(r, &in, &err);
    if (!err.code) {
        openai_read_model(&in, r, a, MODEL_EMBEDDER);
        bool base64 = json_in_enum(&in, "encoding_format", 0, formats) == 1;
        bool query = json_in_enum(&in, "input_type", 0, kinds) >= 3;
        int64_t dim = json_in_int(&in, "dimensions", 0, 1, 65536);
        if (!err.code && dim && (size_t)dim != embedder_dim(e))
            fo_fail_field(&err, FO_EINVAL, "dimensions",
                          "this model's vectors have %zu dimensions and cannot be cut",
                          embedder_dim(e));
        const cJSON *input = json_in_any(&in, "input");
        read_timeout(&in, r);
        openai_fields_read(&in, OPENAI_EMBEDDING);
        json_in_end(&in);
        if (!err.code)
            read_inputs(&l, a->allow_token_ids ? embedder_tokenizer(e) : NULL, input, &err);
        uint64_t tokens = 0;
        /* One that the model would cut is refused: its vector would be another text's. */
        if (!err.code) count_all(r, e, &l, embedder_max_tokens(e), &err);
        if (!err.code && !(v = malloc(l.n * embedder_dim(e) * sizeof *v))) fo_no_memory(&err);
        if (!err.code) embed_all(r, e, query ? EMBED_QUERY : EMBED_PASSAGE, &l, v, &tokens, &err);
        app_charge(r, tokens); /* also of a client that left, or whose time was over */
        if (!err.code) reply_vectors(r, e, &l, v, tokens, base64);
    }
    if (err.code) openai_error(r, &err);
    text_list_deinit(&l);
    free(v);
    cJSON_Delete(root);
}

/* ---- rerank --------------------------------------------------------------------------------- */

typedef struct ranked {
    size_t index;
    double score;
} ranked;

static int by_score(const void *a, const void *b) {
    const ranked *x = a, *y = b;
    if (x->score != y->score) return x->score < y->score ? 1 : -1;
    return (x->index > y->index) - (x->index < y->index);
}

/* v[l->n + 1, dim]: of the texts, and of the query behind them. */
static int embed_query_and_all(http_request *r, embedder *e, const char *query, const text_list *l,
                               float *v, uint64_t *tokens, fo_err *err) {
    const size_t q_len = strlen(query);
    if (count_all(r, e, l, EMBEDDER_NO_LIMIT, err) ||
        embedder_embed(e, EMBED_QUERY, &query, &q_len, 1, v + l->n * embedder_dim(e), err))
        return err->code;
    *tokens += embedder_count_tokens(e, query, q_len);
    return embed_all(r, e, EMBED_PASSAGE, l, v, tokens, err);
}

/* The cross-encoder's probability where one is loaded, else the embedder's cosine: the reply says
 * which under "scored_by". *tokens: of what was computed, also where it ends early. */
static int score_all(http_request *r, service *s, const char *query, const text_list *l,
                     ranked *out, uint64_t *tokens, fo_err *err) {
    reranker *rr = service_reranker(s);
    embedder *e = service_embedder(s);
    const size_t dim = embedder_dim(e);
    float *v = malloc((rr ? l->n : (l->n + 1) * dim) * sizeof *v);
    if (!v) return fo_no_memory(err);
    int rc = rr ? rerank_all(r, rr, query, l, v, tokens, err)
                : embed_query_and_all(r, e, query, l, v, tokens, err);
    for (size_t i = 0; !rc && i < l->n; i++) {
        double score = 0;
        if (rr)
            score = 1 / (1 + exp(-(double)v[i]));
        else
            for (size_t k = 0; k < dim; k++)
                score += (double)v[i * dim + k] * (double)v[l->n * dim + k];
        out[i] = (ranked){i, score};
    }
    free(v);
    return rc;
}

static int read_documents(text_list *l, const cJSON *list, fo_err *err) {
    if (!list || !list->child)
        return fo_fail_field(err, FO_EINVAL, "documents", "documents must hold at least one");
    if (!text_list_init(l, (size_t)cJSON_GetArraySize(list))) return fo_no_memory(err);
    const cJSON *item;
    size_t i = 0;
    cJSON_ArrayForEach(item, list) {
        const char *text = cJSON_GetStringValue(item);
        if (cJSON_IsObject(item)) {
            char path[64];
            json_in in;
            snprintf(path, sizeof path, "documents[%zu]", i);
            json_in_object(&in, item, path, err);
            text = json_in_string(&in, "text", NULL, 0, SIZE_MAX);
            if (json_in_end(&in)) return err->code;
        }
        if (!text)
            return fo_fail_field(err, FO_EINVAL, "documents",
                                 "documents[%zu] must be a string or {\"text\": string}", i);
        l->texts[i] = text;
        l->lens[i++] = strlen(text);
    }
    return FO_OK;
}

static void reply_ranked(http_request *r, service *s, const text_list *l, const ranked *order,
                         size_t n, bool with_documents, uint64_t tokens) {
    reranker *rr = service_reranker(s);
    char id[32];
    app_make_id(id, "rr_");
    fo_buf b = {0};
    json_out o = {&b, false};
    json_out_open(&o, NULL, '{');
    json_out_string(&o, "id", id);
    json_out_string(&o, "object", "list");
    json_out_string(&o, "model", rr ? reranker_name(rr) : embedder_name(service_embedder(s)));
    json_out_string(&o, "scored_by", rr ? "cross_encoder" : "embedding_cosine");
    json_out_open(&o, "results", '[');
    for (size_t i = 0; i < n; i++) {
        json_out_open(&o, NULL, '{');
        json_out_int(&o, "index", (int64_t)order[i].index);
        json_out_number(&o, "relevance_score", order[i].score);
        if (with_documents) {
            json_out_open(&o, "document", '{');
            json_out_string(&o, "text", l->texts[order[i].index]);
            json_out_close(&o, '}');
        }
        json_out_close(&o, '}');
    }
    json_out_close(&o, ']');
    json_out_open(&o, "usage", '{');
    json_out_int(&o, "total_tokens", (int64_t)tokens);
    json_out_close(&o, '}');
    json_out_close(&o, '}');
    http_reply_json(r, 200, &b);
}

void route_rerank(http_request *r, void *ctx) {
    app *a = ctx;
    fo_err err = {0};
    json_in in;
    text_list l = {0};
    ranked *order = NULL;
    cJSON *root = openai_read_body(r, &in, &err);
    if (!err.code) {
        openai_read_model(&in, r, a,
                          service_reranker(a->service) ? MODEL_RERANKER : MODEL_EMBEDDER);
        const char *query = json_in_string(&in, "query", NULL, 1, 65536);
        int64_t top = json_in_int(&in, "top_n", 0, 1, 1 << 20);
        bool with = json_in_bool(&in, "return_documents", false);
        const cJSON *list = json_in_array(&in, "documents", MAX_RERANK);
        read_timeout(&in, r);
        json_in_end(&in);
        uint64_t tokens = 0;
        if (!err.code && !query) fo_fail_field(&err, FO_EINVAL, "query", "query is missing");
        if (!err.code) read_documents(&l, list, &err);
        if (!err.code && !(order = calloc(l.n + 1, sizeof *order))) fo_no_memory(&err);
        if (!err.code) score_all(r, a->service, query, &l, order, &tokens, &err);
        app_charge(r, tokens); /* also of a client that left, or whose time was over */
        if (!err.code) {
            qsort(order, l.n, sizeof *order, by_score);
            size_t n = top && (size_t)top < l.n ? (size_t)top : l.n;
            reply_ranked(r, a->service, &l, order, n, with, tokens);
        }
    }
    if (err.code) openai_error(r, &err);
    text_list_deinit(&l);
    free(order);
    cJSON_Delete(root);
}
