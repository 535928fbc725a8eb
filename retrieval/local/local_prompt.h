/* local_prompt.h - from the pieces of a prompt to the tokens that the model of this process reads.
 *
 *     local_prompts *b;                                   // one a model, any thread
 *     local_prompts_create(&b, &(local_prompt_model){...}, &err);
 *     local_layout *l;
 *     local_prompts_lay_out(b, &prompt, NULL, NULL, &l, &err);
 *     engine_submit(e, &(generation_request){.prompt = l->tokens, .n_prompt = l->base.n_tokens, ...});
 *
 * Order: system, contexts, turns, question, or (turns_first) system, turns, contexts, question. Every piece is tokenised alone and the lists are joined,
 * so the tokens of a context depend on nothing but its content: the KV cache meets them again at
 * another rank or in other company. Text of documents and users is never searched for special
 * tokens. The model's own chat template wraps the whole: it is rendered with sentinels where text
 * goes, and cut there. */
#ifndef FORAGE_RETRIEVAL_LOCAL_PROMPT_H
#define FORAGE_RETRIEVAL_LOCAL_PROMPT_H

#include "engine/generate/engine.h"
#include "retrieval/generator/generator.h"

typedef struct local_prompts local_prompts; /* any thread */

typedef struct local_prompt_model {
    const tokenizer *tokenizer; /* must outlive what is made of it */
    const char *chat_template;  /* Jinja; NULL: ChatML. One that does not parse: ChatML too */
    size_t n_chat_template;
    size_t window; /* tokens of prompt and answer together */
} local_prompt_model;

int local_prompts_create(local_prompts **out, const local_prompt_model *m, fo_err *err);
void local_prompts_free(local_prompts *b); /* NULL is fine */

/* Why prompts are ChatML instead of what the model's template makes of them, as a try at creation told; NULL: they
 * are the template's. A template may still fail on what some prompt holds: that one is ChatML then. */
const char *local_prompts_chatml(const local_prompts *b);

typedef struct local_layout {
    generator_layout base;
    int32_t *tokens;          /* [base.n_tokens] */
    generation_piece *pieces; /* [base.n_used + 2]: prefix, contexts in order, tail; no gaps */
    size_t n_pieces;
    unsigned char salt[32];
} local_layout;

/* How many tokens of this prompt a cache holds already, for the salt. */
typedef int local_probe_fn(void *ctx, const unsigned char salt[32], const int32_t *tokens, int n);

/* probe: asked where p->cached_first; NULL: contexts stay in order of rank. base.generator is the
 * caller's to set. FO_ELIMIT where not even the question fits. FO_ENOMEM. */
int local_prompts_lay_out(local_prompts *b, const generator_prompt *p, local_probe_fn *probe,
                          void *probe_ctx, local_layout **out, fo_err *err);
void local_layout_free(local_layout *l); /* NULL is fine */

#endif
