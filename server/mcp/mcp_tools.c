/* What an assistant may do: a row of `tools` each, with the schemas of what it takes and gives. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/chunk/chunk_places.h"
#include "kernels/spool.h"
#include "kernels/utf8.h"
#include "retrieval/collections/catalog.h"
#include "server/base/log.h"
#include "server/base/request_limits.h"
#include "server/http/http.h"
#include "server/mcp/mcp_internal.h"
#include "server/routes/documents_json.h"
#include "server/routes/ingest_batch.h"
#include "server/routes/query_json.h"

enum {
    SEARCH_LIMIT_MAX = 50,
    PASSAGES_A_DOCUMENT = 4, /* looked at for each that is given: several may be of one document */
    FETCH_CHARS = 100000,
    FETCH_CHARS_MAX = 1000000,
    INGEST_DOCUMENTS_MAX = 100,
    TOOLS_TTL_MS = 300000,
};

/* What a tool gives: an object for programs, words for the model. An error is for the model too: it can mend what it
 * asked. */
typedef struct tool_reply {
    fo_buf object; /* JSON */
    fo_buf words;  /* "": the object as text */
    fo_err err;
} tool_reply;

typedef int tool_run(const mcp_host *h, json_in *args, tool_reply *out);

/* ---- collections ---------------------------------------------------------------------------------- */

static void name_them(fo_buf *b, const store_collection *all, size_t n) {
    for (size_t i = 0; i < n && i < 20; i++) fo_buf_printf(b, "%s%s", i ? ", " : "", all[i].name);
    if (n > 20) fo_buf_str(b, ", ...");
}

/* The one that is asked for; without a word the only one there is, or "default". */
static int choose_collection(const mcp_host *h, const char *asked, char out[72], fo_err *err) {
    store_collection *all = NULL;
    size_t n = 0, at = 0;
    int rc = mcp_collections(h, &all, &n, err);
    const char *want = asked ? asked : n == 1 ? all[0].name : "default";
    while (!rc && at < n && strcmp(all[at].name, want)) at++;
    if (!rc && at < n) {
        snprintf(out, 72, "%s", want);
    } else if (!rc && n == 0) {
        rc = fo_fail(err, FO_ENOTFOUND, "there are no documents here yet");
    } else if (!rc) {
        fo_buf names = {0};
        name_them(&names, all, n);
        rc = fo_fail_field(err, FO_ENOTFOUND, "collection", "%s; there are: %s",
                           asked ? "there is no such collection" : "say which collection",
                           names.data ? names.data : "");
        fo_buf_free(&names);
    }
    for (size_t i = 0; i < n; i++) store_collection_deinit(&all[i]);
    free(all);
    return rc;
}

static int list_collections(const mcp_host *h, json_in *args, tool_reply *out) {
    if (json_in_end(args)) return out->err.code;
    store_collection *all = NULL;
    size_t n = 0;
    int rc = mcp_collections(h, &all, &n, &out->err);
    json_out o = {&out->object, false};
    json_out_open(&o, NULL, '{');
    json_out_open(&o, "collections", '[');
    for (size_t i = 0; i < n; i++) {
        json_out_open(&o, NULL, '{');
        json_out_string(&o, "name", all[i].name);
        json_out_int(&o, "documents", all[i].n_documents);
        json_out_string(&o, "language", all[i].language);
        json_out_close(&o, '}');
        store_collection_deinit(&all[i]);
    }
    json_out_close(&o, ']');
    json_out_close(&o, '}');
    free(all);
    return rc;
}

/* ---- search --------------------------------------------------------------------------------------- */

/* What a document is called by the tools, and where it is. */
static void write_name(json_out *o, const char *collection, const store_chunk *k) {
    fo_buf id = {0}, uri = {0};
    mcp_write_document_id(&id, collection, k->document_id);
    json_out_string(o, "id", id.data);
    json_out_string(o, "title", k->title && *k->title ? k->title : k->document_id);
    if (k->uri && mcp_is_address(k->uri)) {
        json_out_string(o, "url", k->uri);
    } else {
        mcp_write_resource_uri(&uri, collection, k->document_id);
        json_out_string(o, "url", uri.data);
    }
    fo_buf_free(&id);
    fo_buf_free(&uri);
}

/* Fields that search and ask share, and the end of them; *filter is the caller's. */
static int read_question(const mcp_host *h, json_in *args, const char *field, char collection[72],
                         query_request *q, search_filter **filter, fo_err *err) {
    const char *question = json_in_string(args, field, NULL, 1, SIZE_MAX);
    const char *asked = json_in_string(args, "collection", NULL, 1, 64);
    const cJSON *condition = json_in_any(args, "filter");
    if (!json_in_failed(args) && !question)
        fo_fail_field(err, FO_EINVAL, field, "%s is missing", field);
    if (!json_in_failed(args)) request_limits_check(question, field, q->top_k, "limit", err);
    if (!json_in_end(args) && condition) query_json_filter(filter, condition, err);
    if (!err->code) choose_collection(h, asked, collection, err);
    q->tenant = h->tenant;
    q->collection = collection;
    q->query = question;
    q->filter = *filter;
    q->sees = h->sees;
    q->search.alpha = -1;
    q->search.rerank = h->reranks ? RERANK_MODEL : RERANK_NONE;
    q->cancel = h->cancel;
    q->timeout_ms = REQUEST_TIMEOUT_MS;
    if (!err->code) request_limits_spend_wait(&q->timeout_ms, h->waited_ms, err);
    return err->code;
}

/* Who keeps account of questions is told what became of this one. */
static void end_question(const mcp_host *h, int rc, const query_request *q, query_result *r,
                         search_filter *filter) {
    if (!rc && h->asked) h->asked(h->ctx, q, r);
    if (rc && h->failed) h->failed(h->ctx, r);
    query_result_deinit(r);
    search_filter_free(filter);
}

static bool seen_before(const query_result *r, size_t i) {
    for (size_t k = 0; k < i; k++)
        if (r->contexts[k].chunk.document == r->contexts[i].chunk.document) return true;
    return false;
}

static void write_found(json_out *o, const char *collection, const query_result *r, size_t limit) {
    json_out_open(o, "results", '[');
    for (size_t i = 0, n = 0; i < r->n_contexts && n < limit; i++) {
        const store_chunk *k = &r->contexts[i].chunk;
        if (seen_before(r, i)) continue;
        n++;
        json_out_open(o, NULL, '{');
        write_name(o, collection, k);
        if (k->heading && *k->heading) json_out_string(o, "heading", k->heading);
        json_out_bytes(o, "text", k->text ? k->text : "", k->text_len);
        chunk_place place;
        if (chunk_places_whole(k->place, &place)) query_json_write_place(o, &place);
        json_out_close(o, '}');
    }
    json_out_close(o, ']');
}

static int search(const mcp_host *h, json_in *args, tool_reply *out) {
    char collection[72];
    search_filter *filter = NULL;
    query_request q = {0};
    query_result r = {0};
    const int64_t top_k = (int64_t)request_limits_now()->top_k;
    const int64_t most = top_k < SEARCH_LIMIT_MAX ? top_k : SEARCH_LIMIT_MAX;
    size_t limit = (size_t)json_in_int(args, "limit", (int64_t)request_limits_top_k(), 1, most);
    q.top_k = limit;
    int rc = read_question(h, args, "query", collection, &q, &filter, &out->err);
    q.top_k =
        limit * PASSAGES_A_DOCUMENT < (size_t)top_k ? limit * PASSAGES_A_DOCUMENT : (size_t)top_k;
    if (!h->reranks && service_has_reader(h->service)) q.search.rerank = RERANK_READER;
    if (!rc) rc = service_query(h->service, &q, NULL, &r, &out->err);
    if (!rc) {
        json_out o = {&out->object, false};
        json_out_open(&o, NULL, '{');
        write_found(&o, collection, &r, limit);
        if (r.index_incomplete) json_out_bool(&o, "index_incomplete", true);
        json_out_close(&o, '}');
    }
    end_question(h, rc, &q, &r, filter);
    return rc;
}

/* ---- ask ------------------------------------------------------------------------------------------ */

static void write_cited(json_out *o, fo_buf *words, const char *collection, const query_result *r) {
    json_out_open(o, "citations", '[');
    for (size_t i = 0; i < r->n_citations; i++) {
        const query_citation *c = &r->citations[i];
        if (c->context >= r->n_contexts) continue;
        const store_chunk *k = &r->contexts[c->context].chunk;
        chunk_place place;
        bool placed = chunk_places_find(k->place, c->source_start, &place);
        json_out_open(o, NULL, '{');
        json_out_int(o, "index", c->index);
        json_out_string(o, "quote", c->quote);
        json_out_bool(o, "verified", c->verified);
        write_name(o, collection, k);
        if (placed) query_json_write_place(o, &place);
        json_out_close(o, '}');
        fo_buf_printf(words, "%s[%d] %s", i ? "\n" : "\n\nSources:\n", c->index,
                      k->title && *k->title ? k->title : k->document_id);
        if (placed && place.page) fo_buf_printf(words, ", p. %u", place.page);
        fo_buf_printf(words, " (%s/%s)%s", collection, k->document_id,
                      c->verified ? "" : " - not verified");
    }
    json_out_close(o, ']');
}

static int ask(const mcp_host *h, json_in *args, tool_reply *out) {
    char collection[72];
    search_filter *filter = NULL;
    query_request q = {
        .top_k = request_limits_top_k(), .generate = true, .strict = true, .top_p = 1};
    query_result r = {0};
    int rc = read_question(h, args, "question", collection, &q, &filter, &out->err);
    if (!rc) rc = service_query(h->service, &q, NULL, &r, &out->err);
    if (!rc) {
        json_out o = {&out->object, false};
        json_out_open(&o, NULL, '{');
        json_out_string(&o, "status", query_status_names[r.status]);
        json_out_string(&o, "answer", r.answer);
        json_out_number(&o, "support", r.support);
        json_out_string(&o, "collection", collection);
        fo_buf_str(&out->words, r.answer[0] ? r.answer : r.refusal);
        write_cited(&o, &out->words, collection, &r);
        if (r.index_incomplete) {
            json_out_bool(&o, "index_incomplete", true);
            fo_buf_str(&out->words,
                       "\n\nA part of the index is being made again: documents may be missing from "
                       "this answer. Ask again in a moment.");
        }
        json_out_close(&o, '}');
    }
    end_question(h, rc, &q, &r, filter);
    return rc;
}

/* ---- fetch ---------------------------------------------------------------------------------------- */

static void write_document(json_out *o, const char *collection, const store_document *d,
                           size_t offset, size_t most) {
    store_chunk name = {.document_id = d->id, .title = d->title, .uri = d->uri};
    const char *text = d->text ? d->text : "";
    size_t len = strlen(text), all = fo_utf8_count(text, len);
    size_t from = fo_utf8_offset(text, len, offset);
    size_t to = from + fo_utf8_offset(text + from, len - from, most);
    json_out_open(o, NULL, '{');
    write_name(o, collection, &name);
    json_out_bytes(o, "text", text + from, to - from);
    documents_json_metadata(o, d->metadata, false);
    json_out_int(o, "total_chars", (int64_t)all);
    if (to < len)
        json_out_int(o, "next_offset", (int64_t)(offset + most));
    else
        json_out_null(o, "next_offset");
    json_out_close(o, '}');
}

static int fetch(const mcp_host *h, json_in *args, tool_reply *out) {
    char collection[72];
    store_document d = {0};
    const char *id = json_in_string(args, "id", NULL, 1, 4096);
    size_t offset = (size_t)json_in_int(args, "offset", 0, 0, INT32_MAX);
    size_t most = (size_t)json_in_int(args, "max_chars", FETCH_CHARS, 1, FETCH_CHARS_MAX);
    int rc = json_in_end(args);
    if (!rc && !id) rc = fo_fail_field(&out->err, FO_EINVAL, "id", "id is missing");
    if (!rc) rc = mcp_find_document(h, id, collection, sizeof collection, &d, &out->err);
    if (!rc) {
        json_out o = {&out->object, false};
        write_document(&o, collection, &d, offset, most);
    }
    store_document_deinit(&d);
    return rc;
}

/* ---- ingest --------------------------------------------------------------------------------------- */

static int copy_results(fo_buf *to, spool *from, fo_err *err) {
    size_t n = (size_t)spool_size(from);
    if (!fo_buf_reserve(to, n)) return fo_no_memory(err);
    for (size_t done = 0; done < n;) {
        ssize_t got = spool_read(from, done, to->data + to->len, n - done, err);
        if (got < 0) return (int)got;
        if (got == 0) break;
        to->len += (size_t)got;
        done += (size_t)got;
    }
    to->data[to->len] = 0;
    return FO_OK;
}

static int take_documents(const mcp_host *h, const char *collection, const cJSON *documents,
                          fo_buf *results, const ingest_totals **totals, ingest_batch **batch,
                          fo_err *err) {
    spool *told = NULL;
    const char *dir = h->spool_dir ? h->spool_dir : "/tmp";
    int rc = spool_create(&told, dir, err);
    const ingest_batch_options opt = {.service = h->service,
                                      .ingest = {.tenant = h->tenant,
                                                 .collection = collection,
                                                 .overlap = SIZE_MAX,
                                                 .cancel = h->cancel,
                                                 .sees = h->sees},
                                      .spool_dir = dir,
                                      .results = told};
    if (!rc) rc = ingest_batch_create(batch, &opt, err);
    int i = 0;
    const cJSON *item;
    cJSON_ArrayForEach(item, documents) {
        char label[32];
        snprintf(label, sizeof label, "documents[%d]", i++);
        if (!rc) rc = ingest_batch_add_object(*batch, item, label, err);
    }
    if (!rc) rc = ingest_batch_flush(*batch, err);
    if (!rc) rc = copy_results(results, told, err);
    if (!rc) *totals = ingest_batch_totals(*batch);
    spool_free(told);
    return rc;
}

static int ingest(const mcp_host *h, json_in *args, tool_reply *out) {
    const char *collection = json_in_string(args, "collection", "default", 1, 64);
    const cJSON *documents = json_in_array(args, "documents", INGEST_DOCUMENTS_MAX);
    int rc = json_in_end(args);
    if (!rc && !cJSON_GetArraySize(documents))
        rc = fo_fail_field(&out->err, FO_EINVAL, "documents", "documents is missing or empty");
    if (!rc && !service_name_valid(collection))
        rc = fo_fail_field(&out->err, FO_EINVAL, "collection",
                           "collection must be 1 to 64 of A-Z a-z 0-9 _ - . and not begin with a "
                           "dot");
    if (!rc && !mcp_may_use(h, collection))
        rc = fo_fail_field(&out->err, FO_EDENIED, "collection",
                           "this key may not use the collection '%.64s'", collection);
    fo_buf results = {0};
    ingest_batch *batch = NULL;
    const ingest_totals *t = NULL;
    if (!rc) rc = take_documents(h, collection, documents, &results, &t, &batch, &out->err);
    if (batch && h->ingested) h->ingested(h->ctx, ingest_batch_totals(batch));
    if (!rc) {
        json_out o = {&out->object, false};
        json_out_open(&o, NULL, '{');
        json_out_string(&o, "collection", collection);
        json_out_int(&o, "created", (int64_t)t->n[INGEST_CREATED]);
        json_out_int(&o, "updated", (int64_t)t->n[INGEST_UPDATED]);
        json_out_int(&o, "unchanged", (int64_t)t->n[INGEST_UNCHANGED]);
        json_out_int(&o, "failed", (int64_t)t->n[INGEST_FAILED]);
        json_out_open(&o, "results", '[');
        if (results.len) fo_buf_add(o.b, results.data, results.len);
        json_out_close(&o, ']');
        json_out_close(&o, '}');
    }
    ingest_batch_free(batch);
    fo_buf_free(&results);
    return rc;
}

/* ---- the table ------------------------------------------------------------------------------------ */

#define OBJECT(properties, required)                                                               \
    "{\"type\":\"object\",\"properties\":{" properties "},\"required\":[" required                 \
    "],\"additionalProperties\":false}"
#define GIVES(properties, required)                                                                \
    "{\"type\":\"object\",\"properties\":{" properties "},\"required\":[" required "]}"
#define LIST_OF(items) "{\"type\":\"array\",\"items\":" items "}"
#define INCOMPLETE                                                                                 \
    "\"index_incomplete\":{\"type\":\"boolean\",\"description\":\"True while a part of the "       \
    "index is being made again: documents may be missing, ask again in a moment.\"}"
#define COLLECTION                                                                                 \
    "\"collection\":{\"type\":\"string\",\"description\":\"Where to look, as list_collections "    \
    "names it. May be left out where there is only one.\"}"
#define FILTER                                                                                     \
    "\"filter\":{\"type\":\"object\",\"description\":\"A condition on the documents' metadata: "   \
    "{\\\"type\\\":\\\"eq\\\",\\\"key\\\":\\\"year\\\",\\\"value\\\":2026}; types are eq ne gt "   \
    "gte lt lte in "                                                                               \
    "nin exists, and and, or, not around others in filters.\"}"
#define NAME                                                                                       \
    "\"id\":{\"type\":\"string\"},\"title\":{\"type\":\"string\"},\"url\":{\"type\":\"string\"}"
#define READS "{\"readOnlyHint\":true,\"openWorldHint\":false}"
#define WRITES                                                                                     \
    "{\"readOnlyHint\":false,\"destructiveHint\":true,\"idempotentHint\":true,"                    \
    "\"openWorldHint\":false}"

static const struct {
    const char *name, *title, *description;
    const char *input, *output, *annotations; /* JSON */
    tool_run *run;
    bool writes;
} tools[] = {
    {"search", "Search the documents",
     "Find the documents that a question or some words are about. Each result has the passage that "
     "fits best; fetch gives the whole document by its id.",
     OBJECT("\"query\":{\"type\":\"string\",\"description\":\"A question or words, in the language "
            "of the documents.\"},\"limit\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":50,"
            "\"description\":\"Documents wanted; 8 where it is left out.\"}," COLLECTION "," FILTER,
            "\"query\""),
     GIVES(
         "\"results\":" LIST_OF(GIVES(NAME ",\"heading\":{\"type\":\"string\"},\"text\":{\"type\":"
                                           "\"string\"},\"page\":{\"type\":\"integer\"}",
                                      "\"id\",\"title\",\"url\",\"text\"")) "," INCOMPLETE,
         "\"results\""),
     READS, search, false},
    {"fetch", "Read a document",
     "The text of a document, by the id or url that search or ask gave. A long one comes in "
     "pieces: "
     "go on with next_offset.",
     OBJECT("\"id\":{\"type\":\"string\",\"description\":\"As search gives it: "
            "COLLECTION/DOCUMENT, or its url.\"},\"offset\":{\"type\":\"integer\",\"minimum\":0,"
            "\"description\":\"The first character wanted.\"},\"max_chars\":{\"type\":\"integer\","
            "\"minimum\":1,\"maximum\":1000000}",
            "\"id\""),
     GIVES(NAME ",\"text\":{\"type\":\"string\"},\"metadata\":{\"type\":[\"object\",\"null\"]},"
                "\"total_chars\":{\"type\":\"integer\"},\"next_offset\":{\"type\":[\"integer\","
                "\"null\"]}",
           "\"id\",\"title\",\"text\",\"url\""),
     READS, fetch, false},
    {"ask", "Ask the documents",
     "Answer a question from the documents. Every sentence is cited, and each citation was checked "
     "against the text it quotes. Where the documents do not hold the answer, it says so: do not "
     "answer from memory then, but say that they do not.",
     OBJECT("\"question\":{\"type\":\"string\",\"description\":\"A whole question.\"}," COLLECTION
            "," FILTER,
            "\"question\""),
     GIVES("\"status\":{\"enum\":[\"answered\",\"abstained\",\"no_context\"]},\"answer\":{\"type\":"
           "\"string\"},\"support\":{\"type\":\"number\",\"minimum\":0,\"maximum\":1},"
           "\"collection\":{\"type\":\"string\"},\"citations\":" LIST_OF(
               GIVES("\"index\":{\"type\":\"integer\"},\"quote\":{\"type\":\"string\"},"
                     "\"verified\":{\"type\":\"boolean\"}," NAME ",\"page\":{\"type\":\"integer\"}",
                     "\"index\",\"quote\",\"verified\",\"id\"")) "," INCOMPLETE,
           "\"status\",\"answer\",\"citations\""),
     READS, ask, false},
    {"list_collections", "List the collections",
     "The collections of documents, with how many each has.",
     "{\"type\":\"object\",\"additionalProperties\":false}",
     GIVES(
         "\"collections\":" LIST_OF(GIVES("\"name\":{\"type\":\"string\"},\"documents\":{\"type\":"
                                          "\"integer\"},\"language\":{\"type\":\"string\"}",
                                          "\"name\",\"documents\"")),
         "\"collections\""),
     READS, list_collections, false},
    {"ingest", "Add documents",
     "Put texts into a collection, which is made where it is new; they can be found as soon as "
     "this "
     "returns. A document with an id that is there already takes that one's place.",
     OBJECT(
         "\"documents\":{\"type\":\"array\",\"minItems\":1,\"maxItems\":100,\"items\":" OBJECT(
             "\"text\":{\"type\":\"string\"},\"id\":{\"type\":\"string\"},\"title\":{\"type\":"
             "\"string\"},\"uri\":{\"type\":\"string\",\"description\":\"Where it came from.\"},"
             "\"content_type\":{\"type\":\"string\",\"description\":\"text/plain, text/markdown, "
             "text/html, ...\"},\"metadata\":{\"type\":\"object\"},\"acl\":{\"type\":\"array\","
             "\"items\":{\"type\":\"string\"},\"description\":\"Groups that may see it.\"}",
             "\"text\"") "},\"collection\":{\"type\":\"string\",\"description\":\"default where it "
                         "is "
                         "left out.\"}",
         "\"documents\""),
     GIVES("\"collection\":{\"type\":\"string\"},\"created\":{\"type\":\"integer\"},\"updated\":{"
           "\"type\":\"integer\"},\"unchanged\":{\"type\":\"integer\"},\"failed\":{\"type\":"
           "\"integer\"},\"results\":{\"type\":\"array\"}",
           "\"created\",\"updated\",\"unchanged\",\"failed\",\"results\""),
     WRITES, ingest, true},
};
enum { N_TOOLS = sizeof tools / sizeof *tools };

void mcp_tools_list(mcp_call *c, json_out *o) {
    if (mcp_param(c, "cursor")) {
        mcp_fail(c, MCP_INVALID_PARAMS, "params.cursor is none of those that were given out");
        return;
    }
    json_out_open(o, "tools", '[');
    for (size_t i = 0; i < N_TOOLS; i++) {
        if (tools[i].writes && !c->host->may_ingest) continue;
        json_out_open(o, NULL, '{');
        json_out_string(o, "name", tools[i].name);
        json_out_string(o, "title", tools[i].title);
        json_out_string(o, "description", tools[i].description);
        json_out_raw(o, "inputSchema", tools[i].input);
        json_out_raw(o, "outputSchema", tools[i].output);
        json_out_raw(o, "annotations", tools[i].annotations);
        json_out_close(o, '}');
    }
    json_out_close(o, ']');
    mcp_write_cache_hint(c, o, TOOLS_TTL_MS);
}

static void write_reply(json_out *o, const tool_reply *r) {
    const fo_buf *words = r->words.len ? &r->words : &r->object;
    json_out_open(o, "content", '[');
    json_out_open(o, NULL, '{');
    json_out_string(o, "type", "text");
    char told[HTTP_MESSAGE];
    if (r->err.code)
        json_out_string(o, "text", http_message_of(&r->err, told));
    else
        json_out_bytes(o, "text", words->data ? words->data : "", words->len);
    json_out_close(o, '}');
    json_out_close(o, ']');
    if (!r->err.code) json_out_raw(o, "structuredContent", r->object.data);
    json_out_bool(o, "isError", r->err.code != 0);
}

void mcp_tools_call(mcp_call *c, json_out *o) {
    const char *name = mcp_param(c, "name");
    const cJSON *arguments = cJSON_GetObjectItemCaseSensitive(c->params, "arguments");
    size_t i = 0;
    while (i < N_TOOLS &&
           (!name || strcmp(tools[i].name, name) || (tools[i].writes && !c->host->may_ingest)))
        i++;
    if (i == N_TOOLS) {
        mcp_fail(c, MCP_INVALID_PARAMS, "there is no tool '%.100s'", name ? name : "");
        return;
    }
    tool_reply reply = {0};
    json_in args;
    json_in_object(&args, arguments, "", &reply.err);
    int rc = json_in_failed(&args) ? reply.err.code : tools[i].run(c->host, &args, &reply);
    if (rc && !reply.err.code) fo_fail(&reply.err, rc, "the tool failed");
    if (!rc) reply.err = (fo_err){0}; /* of something that was mended on the way */
    if (!rc && (reply.object.failed || reply.words.failed)) fo_no_memory(&reply.err);
    const char *code;
    if (reply.err.code &&
        http_status_of(&reply.err, &code) == 500) /* its reply says 200 and no more than a name */
        log_event(LOG_LEVEL_WARN, NULL, "tool_failed", LOG_STR("tool", name),
                  LOG_STR("error", reply.err.msg));
    write_reply(o, &reply);
    fo_buf_free(&reply.object);
    fo_buf_free(&reply.words);
}
