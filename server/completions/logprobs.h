/* logprobs.h - the log probabilities of tokens, as chats and completions have them.
 *
 * A token is named by its text. In a completion one that is part of a character, or holds a NUL, is named by its
 * bytes, "bytes:\xf0\x9f", as OpenAI does; among the best ones so is the second of two that have the same text, a
 * letter and the byte of it: each name stands once. In a chat the bytes stand beside the text. The prompt has none: nobody
 * computes them. */
#ifndef FORAGE_SERVER_LOGPROBS_H
#define FORAGE_SERVER_LOGPROBS_H

#include "engine/generate/engine.h"
#include "server/base/json.h"

/* The members of "logprobs", which is open. */
void logprobs_write_chat(json_out *o, const tokenizer *t, const generation_token *list, size_t n);
/* ... with "text_offset", the character of the text in which each token begins. *chars: the characters of the tokens before, 0
 * at first; those of these are added. */
void logprobs_write_text(json_out *o, const tokenizer *t, const generation_token *list, size_t n,
                         size_t *chars);

#endif
