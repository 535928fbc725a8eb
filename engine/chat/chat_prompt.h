/* chat_prompt.h - a conversation as the tokens that a model was trained to see it in: its own chat
 * template out of the GGUF, or ChatML where there is none or it fails. */
#ifndef FORAGE_ENGINE_CHAT_PROMPT_H
#define FORAGE_ENGINE_CHAT_PROMPT_H

#include <time.h>

#include "engine/chat/chat_template.h"
#include "engine/gguf/gguf.h"
#include "engine/tokenizer/tokenizer.h"

typedef struct chat_prompt chat_prompt; /* immutable after creation; any thread */

/* The text of a model's template in *out, which lives as long as file; empty where it has none.
 * FO_ECORRUPT where the metadata is no text. */
int chat_prompt_source(const gguf *file, gguf_str *out, fo_err *err);

/* file and t outlive it. A template that is absent or cannot be parsed is no error: *why (may be
 * NULL) says so, and ChatML is used. FO_ECORRUPT as above, FO_ENOMEM. */
int chat_prompt_create(chat_prompt **out, const gguf *file, const tokenizer *t, fo_err *why,
                       fo_err *err);
void chat_prompt_free(chat_prompt *p); /* NULL is fine */

/* The day that templates are told: of UTC, wherever the machine stands. */
void chat_prompt_date(chat_template_input *in, time_t now);

/* Does the text hold the name of a control token? */
bool chat_prompt_has_control(const tokenizer *t, const char *text);

/* The tokens of what a template (NULL: ChatML) makes of in->messages, in fresh memory, BOS in front where
 * the model wants it; caller frees *ids (NULL where there are none). What contents hold, a string or the "text" of
 * parts, is text: names of control tokens in them are no control tokens, unless `control` says that they are. *why
 * (may be NULL) says so where ChatML was written instead of what the template makes of it; its code is 0 else.
 * FO_EINVAL: something else in a message names one (its role, a call), or a template cuts or changes a content that
 * does, or asks what stands in it. FO_ENOMEM. */
int chat_prompt_render_tokens(const tokenizer *t, const chat_template *template,
                              const chat_template_input *in, bool control, int32_t **ids, size_t *n,
                              fo_err *why, fo_err *err);
/* The same of messages (array of {"role", "content"}) up to where the assistant's answer begins. */
int chat_prompt_tokens(const chat_prompt *p, const struct cJSON *messages, bool control,
                       int32_t **ids, size_t *n, fo_err *why, fo_err *err);

#endif
