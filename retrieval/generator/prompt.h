/* prompt.h - what a generator is asked: instructions, contexts with their labels, turns, question.
 *
 *     const prompt_template *t = prompt_template_for(generator_get_info(g)->n_parameters);
 *     prompt p;
 *     prompt_make(&p, t, &(prompt_input){.contexts = c, .n_contexts = n, .question = q}, &err);
 *     generator_lay_out(g, &p.prompt, &layout, &err);
 *     prompt_deinit(&p);
 *
 * The text of a context, its label included, depends on nothing but its content: a generator that
 * keeps what it read of it meets it again at another rank or in other company. Labels derive from
 * the content; prompt_label_find maps them back. */
#ifndef FORAGE_RETRIEVAL_PROMPT_H
#define FORAGE_RETRIEVAL_PROMPT_H

#include "retrieval/generator/prompt_templates.h"

typedef struct prompt_context {
    const char *text;
    size_t len;
    const char *title; /* NULL or "": none */
} prompt_context;

typedef struct prompt_input {
    const prompt_context *contexts; /* best first */
    size_t n_contexts;
    const prompt_turn *turns; /* earlier ones, oldest first */
    size_t n_turns;
    bool turns_first; /* generator_prompt */
    const char *question;
    bool unsure;               /* the documents may not answer it */
    size_t max_tokens;         /* of the answer: room kept free; 0: PROMPT_ANSWER_TOKENS */
    size_t budget;             /* tokens of the prompt; 0: what the template says */
    size_t max_contexts;       /* 0: what the template says */
    bool cached_first;         /* as in generator_prompt; else by score */
    const unsigned char *salt; /* [32]; NULL: zeros */
} prompt_input;

enum { PROMPT_ANSWER_TOKENS = 256 };

typedef struct prompt {
    generator_prompt prompt; /* turns and question are those of the input */
    prompt_text *contexts;
    fo_buf texts;
} prompt;

/* FO_ENOMEM; *out is empty then. */
int prompt_make(prompt *out, const prompt_template *t, const prompt_input *in, fo_err *err);
void prompt_deinit(prompt *p);

enum { PROMPT_LABEL_BYTES = 8 };
/* The label of a context, NUL-terminated: a letter and five hexadecimal digits of its content. */
void prompt_label(char out[PROMPT_LABEL_BYTES], const prompt_context *c);
/* The context that a label in a model's text names, or -1. */
ptrdiff_t prompt_label_find(const prompt_context *c, size_t n, const char *label, size_t len);

#endif
