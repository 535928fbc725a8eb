/* tool_prompt.h - tools in a prompt, and the rule that calls of them keep to.
 *
 * A call is written as <tool_call>{"name": ..., "arguments": {...}}</tool_call>, which many models
 * were trained on. A chat template that knows tools and writes this form is given them; for any
 * other the tools, calls and results are put into the messages in the same words. */
#ifndef FORAGE_SERVER_TOOL_PROMPT_H
#define FORAGE_SERVER_TOOL_PROMPT_H

#include "engine/grammar/answer_filter.h"
#include "server/openai/openai.h"

#define TOOL_OPEN  "<tool_call>\n"
#define TOOL_CLOSE "\n</tool_call>"

/* Does a template (its source; NULL: none) know tools in this form? */
bool tool_prompt_native(const char *template, size_t len);
/* Messages for a template that does not; caller deletes them. NULL: no memory. */
cJSON *tool_prompt_messages(const cJSON *messages, const cJSON *tools);

/* The rule of a request: JSON under its schema, or calls of its tools; {0} where it has neither.
 * *schema is what the caller frees once nothing is written by the rule. Arguments are held to a
 * tool's parameters; where these have keywords that are not supported they are one JSON object,
 * unless the tool is strict. FO_EINVAL, FO_EUNSUPPORTED and FO_ELIMIT name the field. */
int tool_prompt_rule(const openai_call *c, answer_rule *rule, json_schema **schema, fo_err *err);

#endif
