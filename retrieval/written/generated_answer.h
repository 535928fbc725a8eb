/* generated_answer.h - an answer written by the model, let through sentence by sentence as it is verified.
 *
 *     generated_answer a;
 *     generated_answer_make(&a, &(generated_answer_input){.generator = g, .layout = l, ...}, &err);
 *     if (!a.accepted) ...               // give the extractive answer instead
 *     generated_answer_deinit(&a);
 *
 * What was streamed cannot be taken back, so nothing leaves before its sentence is finished and
 * checked. Each sentence is given the span that best supports it (citation_find); one without
 * support gets no marker: under strict grounding it ends the answer, and where it is the first the
 * whole is refused. The first sentence must also answer the question, since a small model writes
 * sentences that are true and beside it: what supports it must be, by the ranking that the
 * extractive answer was chosen with, nearly as good an answer as the best; and where the question
 * asks for a number, a time, a name, the sentence must say one that the support has. It may be
 * shorter than what it is taken from, and use other words.
 */
#ifndef FORAGE_RETRIEVAL_GENERATED_ANSWER_H
#define FORAGE_RETRIEVAL_GENERATED_ANSWER_H

#include <stdatomic.h>
#include "retrieval/answer/extractive.h"
#include "retrieval/generator/prompt.h"

/* How far behind the best unit what supports the first sentence may be (extractive_rank). */
extern const double generated_answer_most_behind;

/* Called from the thread that runs generated_answer_make. FO_ECANCELLED: the client has left; another code, whose sentence
 * the sink has put into the same error, ends it too. */
typedef struct generated_answer_sink {
    void *ctx;
    int (*text)(void *ctx, const char *text, size_t len);
    int (*citation)(void *ctx, const char *answer, const answer_citation *c, int index);
} generated_answer_sink;

typedef struct generated_answer_input {
    generator *generator;
    const generator_layout *layout;
    const size_t *order; /* [layout->n_used]: the contexts of the prompt, as indices of passages */
    const passage *passages;
    const prompt_context *contexts; /* the same passages, as they stand in the prompt */
    const lexicon *lx;
    reader *reader; /* judges with the words; NULL: words alone */
    const char *question;
    const extractive_answer *extract; /* NULL or abstained: no agreement is asked for */
    bool strict;
    double least_agreement; /* prompt_template; 0: none is asked for */
    bool unchecked; /* the model's text as it comes, no citations: to measure the model alone */
    size_t max_sentences; /* 0: 3 */
    generator_options options;
    const atomic_bool *cancel; /* NULL: none */
    generated_answer_sink sink;
} generated_answer_input;

typedef struct generated_answer {
    bool accepted;
    const char
        *refused; /* static: why not: "unsupported", "beside", "stop" (a stop string stands in what
                             the document says), "empty", "error" */
    char *text;   /* with markers [n]; "" unless accepted */
    answer_citation *citations;
    size_t n_citations;
    double agreement;        /* of what supports the first sentence with the best unit: e^-behind,
                                0..1 */
    generator_event outcome; /* usage, times, finish_reason */
} generated_answer;

/* FO_ECANCELLED (client or sink), what else the sink fails with, FO_EBUSY (with *retry_after_ms), FO_ELIMIT, FO_EINVAL as
 * generator_start has them, FO_ENOMEM. A generation that fails on the way is a refusal, not an error,
 * while nothing has been let through. After an error out->outcome.usage is what was used until then. */
int generated_answer_make(generated_answer *out, const generated_answer_input *in,
                          int64_t *retry_after_ms, fo_err *err);
void generated_answer_deinit(generated_answer *a);

#endif
