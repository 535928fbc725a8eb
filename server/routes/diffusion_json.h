/* diffusion_json.h - how a diffusion model is to write, in requests and replies. */
#ifndef FORAGE_SERVER_DIFFUSION_JSON_H
#define FORAGE_SERVER_DIFFUSION_JSON_H

#include "retrieval/generator/generator.h"
#include "server/base/json.h"

/* The field "diffusion" of a request, an object; errors name its fields as "diffusion.steps". Absent:
 * *out is {0}. */
void diffusion_json_read(json_in *in, generator_diffusion *out);

/* The same object out of text, as commands take it. FO_EINVAL. */
int diffusion_json_parse(const char *text, generator_diffusion *out, fo_err *err);

/* "diffusion" of a reply: steps, tokens a step, and note where there is one; nothing where passes is
 * 0, as of models that write token by token. */
void diffusion_json_write(json_out *o, size_t passes, size_t tokens, const char *note);

#endif
