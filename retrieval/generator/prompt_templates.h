/* prompt_templates.h - what a model is told, by its size. All instructions stand in the .c file. */
#ifndef FORAGE_RETRIEVAL_PROMPT_TEMPLATES_H
#define FORAGE_RETRIEVAL_PROMPT_TEMPLATES_H

#include "retrieval/generator/generator.h"

typedef struct prompt_template {
    const char *name;
    uint64_t max_parameters; /* for models up to this size */
    prompt_instructions
        instructions; /* where the documents are known to answer (extractive_answer.abstain: no) */
    prompt_instructions
        unsure; /* where they may not: with leave to say so, which a model takes too often else */
    /* For a turn of a conversation to be made into a question that stands alone (model_rewrite.h). They
     * begin as the first do, so that what was read of the turns serves both. */
    prompt_instructions rewriting;
    bool rewrites; /* ... where nobody says who is to do it */
    bool labels;   /* contexts carry labels and the model is asked to cite them */
    size_t max_contexts;
    bool only_needed;     /* ... that hold an answer nearly as good as the best */
    size_t prompt_tokens; /* budget */
    /* Of what the best unit says beyond the question, by idf, the first sentence must say so much: a
     * model that copies badly drops the point. 0: it may be shorter and use other words. */
    double least_agreement;
} prompt_template;

const prompt_template *prompt_template_for(uint64_t n_parameters);

#endif
