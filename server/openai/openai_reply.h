/* openai_reply.h - how /v1/chat/completions and /v1/completions answer: whole, or as a stream of chunks.
 * Who writes the text is not known here. */
#ifndef FORAGE_SERVER_OPENAI_REPLY_H
#define FORAGE_SERVER_OPENAI_REPLY_H

#include "server/openai/openai.h"

typedef struct openai_reply {
    http_request *r;
    openai_call *call;
    const char *model;
    char id[40];
    int64_t created;
    bool begun;
    size_t prompt_tokens, completion_tokens, cached_tokens;
} openai_reply;

void openai_reply_init(openai_reply *p, http_request *r, openai_call *call, const char *name);

/* The fields in which a body begins; chunk: of a stream. */
void openai_write_head(const openai_reply *p, json_out *o, bool chunk);
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
    /* Writes "logprobs" of the new tokens; NULL: none. */
    void (*logprobs)(void *ctx, json_out *o);
    void *logprobs_ctx;
} openai_chunk;

/* Both begin the stream where it has not begun. Non-zero: the client went away, or no memory. */
int openai_send_chunk(openai_reply *p, const openai_chunk *k);
int openai_send_end(openai_reply *p);
/* Streams have said 200 already: the error comes as an event, as OpenAI's do. */
void openai_fail(openai_reply *p, const fo_err *err);

/* The answer from the documents of c->collection (openai_grounded.c). */
void openai_answer_grounded(openai_reply *p, app *a);

#endif
