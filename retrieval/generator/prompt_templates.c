/* A model of a hundred million parameters repeats instructions instead of following them. Larger ones follow them, and are
 * asked for few words: what they say besides is where they err, and a phrase can be held against the sentence that it is
 * from. Below some four billion parameters they copy labels into their text, so they get none, and citations are found
 * afterwards (generated_answer.c). Who may refuse does so too often: only where the documents may hold no answer is that
 * allowed. Figures: docs/measurements/answers.md. */
#include "retrieval/generator/prompt_templates.h"

#define FROM_CONTEXTS "You answer questions from the given contexts."
#define TINY_INSTRUCTIONS                                                                          \
    {                                                                                              \
        .system = FROM_CONTEXTS, .before_contexts = "", .after_contexts = "",                      \
        .before_question = "Question: ", .after_question = "\nAnswer:"                             \
    }
#define READ_PASSAGES                                                                              \
    "You answer questions from the passages that the user gives, and from nothing else. "
#define REFUSE                                                                                     \
    " If the passages do not answer the question, say only: The documents do not answer this."
#define SHORTLY READ_PASSAGES "Keep to what they say, in as few words as the question needs."
#define LABELLED                                                                                   \
    READ_PASSAGES                                                                                  \
    "Keep to what they say, in as few sentences as the question needs. End every sentence with "   \
    "the label of the passage that says it, in square brackets, as it stands before the passage."
#define INSTRUCTIONS(says)                                                                         \
    {                                                                                              \
        .system = says, .before_contexts = "Passages:\n\n", .after_contexts = "",                  \
        .before_question = "Question: ", .after_question = ""                                      \
    }

#define REWRITING(says)                                                                            \
    {                                                                                              \
        .system = says, .before_contexts = "", .after_contexts = "",                               \
        .before_question = "What do I ask for with \"",                                            \
        .after_question = "\"? Say it as one whole question, with the name of what we talked of."  \
    }

static const prompt_template templates[] = {
    {.name = "tiny-1",
     .max_parameters = 250000000,
     .instructions = TINY_INSTRUCTIONS,
     .unsure = TINY_INSTRUCTIONS,
     .rewriting = REWRITING(FROM_CONTEXTS),
     .labels = false,
     .max_contexts = 1,
     .only_needed = true,
     .prompt_tokens = 1024,
     .least_agreement = 0.8},
    {.name = "small-3",
     .max_parameters = 700000000,
     .instructions = INSTRUCTIONS(SHORTLY),
     .unsure = INSTRUCTIONS(SHORTLY REFUSE),
     .rewriting = REWRITING(FROM_CONTEXTS),
     .labels = false,
     .max_contexts = 1,
     .only_needed = true,
     .prompt_tokens = 1024},
    /* Short of some four billion parameters a model reads slowly on a CPU, and what it reads besides
     * misleads it; a larger one is trusted to tell. */
    {.name = "medium-2",
     .max_parameters = 4000000000,
     .instructions = INSTRUCTIONS(SHORTLY),
     .unsure = INSTRUCTIONS(SHORTLY REFUSE),
     .rewriting = REWRITING(SHORTLY),
     .labels = false,
     .max_contexts = 3,
     .only_needed = true,
     .prompt_tokens = 2048},
    {.name = "large-2",
     .max_parameters = UINT64_MAX,
     .instructions = INSTRUCTIONS(LABELLED),
     .unsure = INSTRUCTIONS(LABELLED REFUSE),
     .rewriting = REWRITING(LABELLED),
     .labels = true,
     .max_contexts = 8,
     .prompt_tokens = 4096},
};

const prompt_template *prompt_template_for(uint64_t n_parameters) {
    const prompt_template *t = templates;
    while (n_parameters > t->max_parameters) t++;
    return t;
}
