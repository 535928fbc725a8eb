/* openai_responses.h - POST /v1/responses, as far as it can be done without keeping anything: a body of
 * it becomes one of /v1/chat/completions, and what is answered to that goes out in its shape, whole or
 * as its events. */
#ifndef FORAGE_SERVER_OPENAI_RESPONSES_H
#define FORAGE_SERVER_OPENAI_RESPONSES_H

#include "server/openai/openai_reply.h"

/* The body of /v1/chat/completions that asks for the same; caller frees *out. What has no place there
 * is refused by name. *given: what was asked for here, which errors and the reply tell of; caller deletes it. Both are
 * NULL with an error. */
int openai_responses_translate(const char *body, size_t len, char **out, cJSON **given,
                               fo_err *err);
/* An error about a field of that body names the field of this one, also at the head of its sentence: of a message the
 * item of the input, of a call among those of a message its own item. */
void openai_responses_name(const cJSON *given, fo_err *err);

/* What openai_send_chunk and openai_send_end do for such a call: with a stream events go out, and at
 * the end the whole response does, either way. */
int openai_responses_chunk(openai_reply *p, const openai_chunk *k);
int openai_responses_end(openai_reply *p);
/* What ends a stream that has begun, as an event of its own kind: "error". */
int openai_responses_error(openai_reply *p, int status, const char *code, const fo_err *err);
void openai_responses_deinit(openai_reply *p);

#endif
