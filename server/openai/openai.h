/* openai.h - what the OpenAI-compatible routes share. Shapes and defaults are those of OpenAI's API
 * reference. What a request carries is honoured or refused by name: openai_fields.h says of which
 * fields a value that asks for nothing passes. Errors have the body that every route has, which is
 * OpenAI's, and status 400 or 404 for whatever is wrong with a request. */
#ifndef FORAGE_SERVER_OPENAI_H
#define FORAGE_SERVER_OPENAI_H

#include <cjson/cJSON.h>
#include <time.h>

#include "kernels/stop_match.h"
#include "server/routes/app.h"
#include "server/base/json.h"

enum {
    OPENAI_MAX_CHOICES = 16,
    OPENAI_MAX_STOPS = STOP_MATCH_STRINGS,
    OPENAI_MAX_BIAS = 1024,
    OPENAI_MAX_STOP_TOKENS = 64,
    OPENAI_MAX_TOOLS = 60,
    OPENAI_MAX_LOGPROBS = 20
};

/* Of logit_bias: a token of the loaded model. */
typedef struct openai_bias {
    int32_t token;
    float bias; /* -INFINITY: never */
} openai_bias;

/* Functions that the model may ask the client to call. */
typedef struct openai_tools {
    const cJSON *list; /* as the request has them: {"type":"function","function":{...}}; NULL: none
                          may be called */
    const char *only;  /* the one that must be called, NULL: any */
    bool required;     /* one must be called */
    bool one;          /* not several in an answer */
} openai_tools;

/* A request for text, plain or grounded. */
typedef struct openai_call {
    cJSON *root; /* owned; strings below point into it */
    bool chat;   /* else /v1/completions */
    const cJSON
        *response; /* of chat: the body of /v1/responses that it is for, the caller's; or NULL */
    const char *model;      /* as asked for; NULL: what is loaded */
    const char *collection; /* of "forage/<collection>", NULL: plain; set by who finds the model */
    bool stream, include_usage, echo;
    int n;                     /* choices of each prompt */
    bool seeded, warm;         /* seed, temperature are given: not null */
    size_t max_tokens;         /* 0: not given */
    generator_options options; /* sampling, stop, priority, reuse; stop points below */
    int timeout_ms;            /* 0: not given; once it has begun: any */
    double until_ms;           /* of fo_now_ms: its time is over then; 0: never */
    int n_logprobs;            /* -1: none are asked for */
    bool json;                 /* the answer is to be JSON: */
    const cJSON *schema;       /* valid under this; NULL: one object, whatever is in it */
    openai_tools tools;
    int32_t stop_tokens[OPENAI_MAX_STOP_TOKENS];
    size_t n_stop_tokens;
    const char *stop[OPENAI_MAX_STOPS];
    openai_bias bias[OPENAI_MAX_BIAS];
    size_t n_bias;
    cJSON *messages; /* chat: owned, roles and contents as plain strings */
} openai_call;

/* Read a body of /v1/chat/completions or /v1/completions. n_vocab: of the loaded model, 0: none. */
int openai_call_read(openai_call *c, bool chat, int32_t n_vocab, const char *body, size_t len,
                     fo_err *err);
/* Of stream_options, here and in /v1/responses: false passes, true is refused. */
void openai_obfuscation_read(json_in *options);
/* tools, tool_choice and parallel_tool_calls (openai_tools.c). Errors stick in in->err. */
void openai_tools_read(openai_tools *out, json_in *in);
/* The tool calls of an assistant's message, in the shape that chat templates expect: arguments are an
 * object. NULL where it has none or with an error in m->err; caller deletes it. */
cJSON *openai_tool_calls_read(json_in *m);

/* Once c->collection is known: what an answer from documents, or one from the model alone, cannot
 * honour is refused (FO_EUNSUPPORTED names the field). has_engine: there is a model of this process. */
int openai_call_check(const openai_call *c, bool has_engine, fo_err *err);
/* Its time begins, of which it waited some already; from documents it has REQUEST_TIMEOUT_MS where it says nothing.
 * FO_ETIMEOUT: it waited too long. */
int openai_call_begin(openai_call *c, double waited_ms, fo_err *err);
/* What is left of that, for all that is still to be done: search, what a model writes, each of n choices. *ms 0: any.
 * FO_ETIMEOUT. */
int openai_call_time_left(const openai_call *c, int *ms, fo_err *err);
/* Is the answer to be written from documents by a rule (JSON, calls of tools), not as sentences? */
bool openai_call_is_ruled(const openai_call *c);
void openai_call_deinit(openai_call *c);

/* As http_error_from, with OpenAI's codes: 404 model_not_found, 400 for what is not supported. */
void openai_error(http_request *r, const fo_err *err);
int openai_status_of(const fo_err *err, const char **code);

/* The JSON object of a request's body, caller deletes it, and its fields. Its "model" must be one of
 * `kinds` (model_names.h). Errors go into *err and in->err, which are the same. */
cJSON *openai_read_body(http_request *r, json_in *in, fo_err *err);
unsigned openai_read_model(json_in *in, http_request *r, app *a, unsigned kinds);

/* A string of a message, "" where it has none. */
const char *openai_text_of(const cJSON *message, const char *key);
/* Is item an array of whole numbers? */
bool openai_is_tokens(const cJSON *item);
/* {"prompt_tokens":..,"completion_tokens":..,"total_tokens":..,"prompt_tokens_details":{...}} */
void openai_write_usage(json_out *o, size_t prompt, size_t completion, size_t cached);

#endif
