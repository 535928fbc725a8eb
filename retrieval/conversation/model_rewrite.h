/* model_rewrite.h - the last turn of a conversation made into a question that stands alone, by a language
 * model, and held against the conversation: it may say nothing that nobody said.
 *
 *     char *text;
 *     model_rewrite_make(&text, &(model_rewrite_input){.generator = g, ...}, &err);
 *     if (!text) ...                      // take the words of the turns instead (rewrite.h)
 *
 * The prompt begins with the instructions and turns that an answer's prompt begins with, so their KV
 * serves both. The model writes greedily, at most 48 tokens and a line.
 * What was measured: docs/measurements/answers.md. */
#ifndef FORAGE_RETRIEVAL_MODEL_REWRITE_H
#define FORAGE_RETRIEVAL_MODEL_REWRITE_H

#include <stdatomic.h>
#include "retrieval/generator/prompt.h"
#include "retrieval/text/support.h"

typedef struct model_rewrite_input {
    generator *generator;
    const prompt_template *prompts;
    const lexicon *lx;
    const prompt_turn *turns; /* earlier ones, oldest first */
    size_t n_turns;
    const char *question;
    const unsigned char *salt; /* [32] */
    enum generator_reuse reuse;
    bool drop_kv;
    int priority;
    int64_t time_ms;           /* that it may take */
    const atomic_bool *cancel; /* NULL: none */
    size_t *
        n_tokens; /* NULL, or gets how many tokens the model read and wrote, whatever comes of it */
} model_rewrite_input;

/* *out: fresh memory; NULL where the model could not be asked, took too long, or wrote what does not
 * hold. FO_ENOMEM, FO_ECANCELLED; what goes wrong with the model is no error. */
int model_rewrite_make(char **out, const model_rewrite_input *in, fo_err *err);

/* Does the text ask what the question asks, in this conversation? It points back less than the question
 * and names something that the turns name; names and numbers of the question are kept, others are those of
 * the turns, and at most two words of weight are nobody's. */
int model_rewrite_holds(bool *holds, const lexicon *lx, const prompt_turn *turns, size_t n_turns,
                        const char *question, const char *text, fo_err *err);

#endif
