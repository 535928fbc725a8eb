/* completions_logprobs.h - "logprobs" of what was written, as /v1/chat/completions and /v1/completions have
 * them. The prompt has none: nobody computes them. */
#ifndef FORAGE_SERVER_COMPLETIONS_LOGPROBS_H
#define FORAGE_SERVER_COMPLETIONS_LOGPROBS_H

#include "engine/generate/engine.h"
#include "server/base/json.h"

/* Fields of an object that the caller opened: "content" and "refusal". */
void completions_write_chat_logprobs(json_out *o, const tokenizer *t,
                                     const generation_token *tokens, size_t n);
/* "tokens", "token_logprobs", "top_logprobs" and "text_offset": the character of the text in which each token begins.
 * *chars: the characters of the tokens before, 0 at first; those of these are added. */
void completions_write_text_logprobs(json_out *o, const tokenizer *t,
                                     const generation_token *tokens, size_t n, size_t *chars);

#endif
