/* completions_prompt.h - a request's prompts in the tokens of the model of this process. */
#ifndef FORAGE_SERVER_COMPLETIONS_PROMPT_H
#define FORAGE_SERVER_COMPLETIONS_PROMPT_H

#include <cjson/cJSON.h>

#include "retrieval/local/local_generator.h"

/* Messages in the model's own wrapping, with tools (NULL: none) as tool_prompt.h says. Text of the
 * user never becomes a control token: tools, calls and their ids that name one are refused. Caller frees
 * *out. */
int completions_chat_tokens(const engine *e, const cJSON *messages, const cJSON *tools,
                            int32_t **out, size_t *n, fo_err *err);
/* The prompts of /v1/completions: how many; and the tokens of the i-th, caller frees *out. */
int completions_prompt_count(const cJSON *prompt, fo_err *err);
int completions_prompt_tokens(const engine *e, const cJSON *prompt, int i, int32_t **out, size_t *n,
                              fo_err *err);
/* Its text, appended to *out: as it was given, or what those tokens say, control tokens left out. */
int completions_prompt_text(const engine *e, const cJSON *prompt, int i, const int32_t *ids,
                            size_t n, fo_buf *out, fo_err *err);

#endif
