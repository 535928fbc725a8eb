/* query_json.h - questions and answers between JSON and the structs of retrieval/pipeline/query.h:
 * the one place that knows the field names of POST /query and POST /search, for HTTP and CLI alike.
 */
#ifndef FORAGE_SERVER_QUERY_JSON_H
#define FORAGE_SERVER_QUERY_JSON_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include "kernels/buf.h"
#include "kernels/stop_match.h"
#include "server/base/json.h"
#include "retrieval/service/service.h"
#include "data/chunk/chunk_places.h"

enum { QUERY_STOP_MAX = STOP_MATCH_STRINGS };

typedef struct query_call {
    query_request request; /* strings point into root */
    bool stream;
    bool with_contexts, with_scores; /* `include` */
    /* owned */
    cJSON *root;
    search_filter *filter;
    query_message *messages;
    const char *stop[QUERY_STOP_MAX]; /* into root */
} query_call;

/* search_filter_parse within --max-filter. */
int query_json_filter(search_filter **out, const struct cJSON *json, fo_err *err);

/* Read a body. search_only: POST /search, which knows no fields of generation. FO_EINVAL and
 * FO_EUNSUPPORTED (a feature this build or home does not have) name the field. */
int query_json_read(query_call *out, const char *body, size_t len, bool search_only, fo_err *err);
void query_call_deinit(query_call *c);

/* The whole answer object. id: "q_…". queue_ms: what the request waited before the pipeline. */
void query_json_write(fo_buf *b, const char *id, const query_call *call, const query_result *r,
                      double queue_ms);
/* Ask, and write the answer object, with an id of its own, behind what is in b. Without a request of HTTP: nothing waited. */
int query_json_ask(service *s, const query_call *call, const query_sink *sink, fo_buf *b,
                   fo_err *err);
/* {"contexts":[...]} and {"index":1,...}: what event streams carry. */
void query_json_write_contexts(fo_buf *b, const query_call *call, const query_result *r);
/* {"answer":..,"citations":[...]} of a result that is not whole yet. */
void query_json_write_draft(fo_buf *b, const query_result *r);
/* path: of the value of a JSON answer that it bears out; NULL: none. */
void query_json_write_citation(fo_buf *b, const query_result *r, const query_citation *c,
                               const char *path);
/* Page and box, slide, line, time, sheet and cells, what the document has of them: into an object that is open. */
void query_json_write_place(json_out *o, const chunk_place *p);

#endif
