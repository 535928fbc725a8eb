/* openai_reply.h - how /v1/chat/completions and /v1/completions answer: whole, or as a stream of chunks.
 * Who writes the text is not known here. */
#ifndef FORAGE_SERVER_OPENAI_REPLY_H
#define FORAGE_SERVER_OPENAI_REPLY_H

#include "server/openai/openai.h"

/* Of /v1/responses: what of it stands (openai_responses_reply.c). */
typedef struct openai_response {
    bool begun, open, in_call, cut_off;
    int64_t n_events, n_items;
    char item_id[32], call_id[40], name[72];
    fo_buf text;      /* of the item in hand: text, or arguments */
    fo_buf output;    /* items that are whole, with commas between */
    fo_buf citations; /* JSON of an array; empty: none */
    fo_buf checked;   /* JSON of an object; empty: none */
    bool refused;     /* the text of the item is why there is no answer */
} openai_response;

/* Where the time of a reply went, in milliseconds; of several choices the last to end, but for the first token. */
typedef struct openai_timings {
    double queue_ms, retrieval_ms, prefill_ms, decode_ms, first_visible_ms, total_ms;
    double first_token_ms; /* since the start; told to analytics alone. 0: none came */
} openai_timings;

typedef struct openai_reply {
    http_request *r;
    openai_call *call;
    const char *model;
    char id[40];
    int64_t created;
    bool begun;
    size_t prompt_tokens, completion_tokens, cached_tokens;
    size_t passes;         /* of a diffusion model */
    const char *kv_note;   /* static, or NULL */
    bool index_incomplete; /* when any of its choices was searched for */
    generator_held held;   /* of the choice that ended last */
    openai_timings timings;
    double started_ms;
    openai_response response;
} openai_reply;

void openai_reply_init(openai_reply *p, http_request *r, openai_call *call, const char *name);
void openai_reply_deinit(openai_reply *p);

/* The fields in which a body begins; chunk: of a stream. */
void openai_write_head(const openai_reply *p, json_out *o, bool chunk);
/* "usage", and beside it "timings", "tokens_per_s", "diffusion" and "sparse", which are ours. */
void openai_write_figures(openai_reply *p, json_out *o);
void openai_write_timings(openai_reply *p, json_out *o);
/* What OpenAI calls the ways an answer ends. Static. */
const char *openai_finish_name(const char *reason);

/* One chunk of a stream. */
typedef struct openai_chunk {
    size_t index; /* of the choice */
    bool role;    /* the first of a chat */
    const char *text;
    size_t len;
    const char *finish;    /* NULL: more follows */
    const char *citations; /* JSON of an array, or NULL */
    const char *checked;   /* of what a model wrote under a rule: JSON of an object, or NULL */
    const char *refusal;   /* instead of text; NULL: none */
    const char *calls;     /* "tool_calls": JSON of an array, or NULL */
    /* Writes "logprobs" of the new tokens; NULL: none. */
    void (*logprobs)(void *ctx, json_out *o);
    void *logprobs_ctx;
} openai_chunk;

/* Both begin the stream where it has not begun. Non-zero: the client went away, or no memory. */
int openai_send_chunk(openai_reply *p, const openai_chunk *k);
int openai_send_end(openai_reply *p);
/* Streams have said 200 already: the error comes as an event, as OpenAI's do. A prompt that is too long for the
 * model is context_length_exceeded; another limit (FO_ELIMIT) is a bad value of err->field. */
void openai_fail(openai_reply *p, const fo_err *err);

/* ---- answers from the documents of c->collection (openai_grounded.c) --------------------------- */

void openai_answer_grounded(openai_reply *p, app *a);
/* What service_query is asked for such a call. *turns: the earlier ones, which *q points to; the caller
 * frees them in any case. FO_EINVAL (messages), FO_ENOTFOUND (the collection), FO_ETIMEOUT, FO_ENOMEM. */
int openai_grounded_ask(query_request *q, query_message **turns, const openai_reply *p,
                        fo_err *err);
/* openai_fail, in which a collection that is not there is a model that is not there. Returns err->code. */
int openai_grounded_fail(openai_reply *p, app *a, fo_err *err);

#endif
