/* prompt.h - from contexts, turns and a question to the tokens a model reads, within a budget.
 *
 *     prompt_builder *b;                                  // one a model, any thread
 *     prompt_builder_create(&b, &(prompt_model){...}, &err);
 *     prompt p;
 *     prompt_build(b, &(prompt_input){.contexts = c, .n_contexts = n, .question = q}, &p, &err);
 *     engine_submit(e, &(generation_request){.prompt = p.tokens, .n_prompt = p.n_tokens, ...});
 *
 * Order: system, contexts, turns, question (ARCHITECTURE: the path of a query). Every piece is
 * tokenised alone and the lists are joined, so the tokens of a context, its label included, depend
 * on nothing but its content: the KV cache meets them again at another rank or in other company.
 * Labels derive from the content; prompt_label_find maps them back. Text of documents and users
 * is never searched for special tokens. The model's own chat template wraps the whole: it is
 * rendered with sentinels where text goes, and cut there. */
#ifndef FORAGE_RETRIEVAL_PROMPT_H
#define FORAGE_RETRIEVAL_PROMPT_H

#include "engine/generate/engine.h"
#include "retrieval/answer/prompt_templates.h"

typedef struct prompt_builder prompt_builder; /* immutable */

typedef struct prompt_model {
    const tokenizer *tokenizer; /* must outlive the builder */
    const char *chat_template;  /* Jinja; NULL: ChatML. One that does not parse: ChatML too */
    size_t n_chat_template;
    uint64_t n_parameters; /* chooses the instructions */
    size_t window;         /* tokens of prompt and answer together */
    size_t max_contexts;   /* 0: what the instructions say */
} prompt_model;

int prompt_builder_create(prompt_builder **out, const prompt_model *m, fo_err *err);
void prompt_builder_free(prompt_builder *b); /* NULL is fine */
const prompt_template *prompt_builder_template(const prompt_builder *b);
/* Names template and wrapping: part of an answer cache's key. */
const unsigned char *prompt_builder_fingerprint(const prompt_builder *b); /* [32] */

typedef struct prompt_context {
    const char *text;
    size_t len;
    const char *title; /* NULL or "": none */
} prompt_context;

typedef struct prompt_turn {
    bool assistant; /* else the user's */
    const char *text;
} prompt_turn;

/* How many tokens of this prompt a cache holds already. */
typedef int prompt_probe_fn(void *ctx, const int32_t *tokens, int n);

typedef struct prompt_input {
    const prompt_context *contexts; /* best first */
    size_t n_contexts;
    const prompt_turn *turns; /* earlier ones, oldest first */
    size_t n_turns;
    const char *question;
    size_t max_tokens;      /* of the answer: room kept free; 0: 256 */
    size_t budget;          /* tokens of the prompt; 0: what the template says */
    prompt_probe_fn *probe; /* order by what is cached; NULL: by score */
    void *probe_ctx;
} prompt_input;

typedef struct prompt {
    int32_t *tokens;
    size_t n_tokens;
    generation_piece *pieces; /* [n_used + 2]: prefix, contexts in order, tail; without gaps */
    size_t n_pieces;
    size_t *order; /* contexts in the order of the prompt, as indices into the input */
    size_t n_used;
    size_t n_dropped;       /* contexts left out for the budget */
    size_t n_turns_dropped; /* turns left out, the oldest */
    bool cut;               /* the first context alone was too long and lost its end */
} prompt;

/* FO_ELIMIT where not even the question fits. FO_ENOMEM. On error *out is empty. */
int prompt_build(prompt_builder *b, const prompt_input *in, prompt *out, fo_err *err);
void prompt_deinit(prompt *p);

enum { PROMPT_LABEL_BYTES = 8 };
/* The label of a context, NUL-terminated: a letter and five hexadecimal digits of its content. */
void prompt_label(char out[PROMPT_LABEL_BYTES], const prompt_context *c);
/* The context that a label in a model's text names, or -1. */
ptrdiff_t prompt_label_find(const prompt_context *c, size_t n, const char *label, size_t len);

#endif
