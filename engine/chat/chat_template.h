/* chat_template.h - turn a conversation into the prompt that a model was trained on.
 *
 *     chat_template *t;
 *     if (chat_template_parse(&t, text, len, &err)) ...      // the GGUF's tokenizer.chat_template
 *     chat_template_input in = {.messages = messages, .add_generation_prompt = true,
 *                               .bos = "<s>", .eos = "</s>", .year = 2026, .month = 11, .day = 20};
 *     if (chat_template_render(t, &in, &out, &err)) ...
 *
 * The templates are Jinja as Hugging Face's transformers run it (trim_blocks, lstrip_blocks,
 * raise_exception, strftime_now, tojson without HTML escapes, break/continue, generation blocks).
 * They are hostile input: steps, memory, nesting and output are bounded, and nothing outside the
 * template's own values can be reached. `enable_thinking` is true unless given.
 *
 * Two things that templates get wrong are mended: where a template refuses or silently drops a
 * system message, the message is put before the first user message, a newline between; where it
 * fails altogether, chat_template_render_or_chatml falls back to ChatML and says so. */
#ifndef FORAGE_ENGINE_CHAT_TEMPLATE_H
#define FORAGE_ENGINE_CHAT_TEMPLATE_H

#include <stdbool.h>
#include <stddef.h>
#include "kernels/buf.h"
#include "kernels/error.h"

struct cJSON;

typedef struct chat_template chat_template; /* immutable after parsing; any thread may render */

typedef struct chat_template_input {
    const struct cJSON *messages; /* array of {"role", "content", ...} */
    const struct cJSON *tools;    /* array, or NULL: not defined in the template */
    const struct cJSON *extra;    /* object of further variables, or NULL; its
                                   * messages and tools are left out */
    bool add_generation_prompt;
    const char *bos, *eos; /* NULL: "" */
    int year, month, day;  /* what strftime_now prints */
} chat_template_input;

/* text is copied. FO_EINVAL (syntax; the message names the line), FO_EUNSUPPORTED (a statement
 * that is not known), FO_ELIMIT (over 1 MiB or too deep), FO_ENOMEM. */
int chat_template_parse(chat_template **out, const char *text, size_t len, fo_err *err);
void chat_template_free(chat_template *t); /* NULL is fine */

/* Append the prompt to *out; on error *out is as it was. FO_EINVAL (the template raised an
 * exception, or failed; the message names the line), FO_EUNSUPPORTED, FO_ELIMIT, FO_ENOMEM. */
int chat_template_render(const chat_template *t, const chat_template_input *in, fo_buf *out,
                         fo_err *err);

/* The same, with ChatML where t is NULL or fails: then *fell_back is true and *why (NULL is fine)
 * says why. FO_EINVAL only where the messages themselves are unusable. */
int chat_template_render_or_chatml(const chat_template *t, const chat_template_input *in,
                                   fo_buf *out, bool *fell_back, fo_err *why, fo_err *err);

#endif
