/* openai.h - what the OpenAI-compatible routes share. Shapes and defaults are those of OpenAI's API
 * reference; what a request carries beyond them is ignored, as its clients expect. Errors have the
 * body that every route has, which is OpenAI's. */
#ifndef FORAGE_SERVER_OPENAI_H
#define FORAGE_SERVER_OPENAI_H

#include <cjson/cJSON.h>
#include <time.h>

#include "engine/generate/engine.h"
#include "server/routes/app.h"
#include "server/base/json.h"

enum { OPENAI_MAX_CHOICES = 16, OPENAI_MAX_STOPS = 16, OPENAI_MAX_BIAS = 1024 };

/* A request for text, plain or grounded. */
typedef struct openai_call {
    cJSON *root;            /* owned; strings below point into it */
    bool chat;              /* else /v1/completions */
    const char *model;      /* as asked for; NULL: any */
    const char *collection; /* of "forage/<collection>", NULL: plain */
    bool stream, include_usage, echo;
    int n; /* choices of each prompt */
    bool seeded;
    size_t max_tokens;          /* 0: not given */
    generation_request request; /* prompt and seed apart; stop and bias point below */
    const char *stop[OPENAI_MAX_STOPS];
    sampler_bias bias[OPENAI_MAX_BIAS];
    cJSON *messages; /* chat: owned, roles and contents as plain strings */
} openai_call;

/* Read a body of /v1/chat/completions or /v1/completions. n_vocab: of the loaded model, 0: none. */
int openai_call_read(openai_call *c, bool chat, int32_t n_vocab, const char *body, size_t len,
                     fo_err *err);
void openai_call_deinit(openai_call *c);

/* A prompt in tokens. Text of the user never becomes a control token. Caller frees *out. */
int openai_chat_prompt(const engine *e, const cJSON *messages, int32_t **out, size_t *n,
                       fo_err *err);
/* The prompts of /v1/completions, item `i` of `openai_prompt_count`. */
int openai_prompt_count(const cJSON *prompt, fo_err *err);
int openai_text_prompt(const engine *e, const cJSON *prompt, int i, int32_t **out, size_t *n,
                       fo_err *err);

/* The name a loaded model goes by. */
const char *openai_model_name(const engine *e);

/* Is item an array of whole numbers? */
bool openai_is_tokens(const cJSON *item);
/* {"prompt_tokens":..,"completion_tokens":..,"total_tokens":..,"prompt_tokens_details":{...}} */
void openai_write_usage(json_out *o, size_t prompt, size_t completion, size_t cached);

#endif
