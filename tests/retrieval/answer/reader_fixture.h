/* reader_fixture.h - an English lexicon and the reader inside the binary, as group set-up and tear-down, and what is answered with
 * both. */
#ifndef FORAGE_TESTS_READER_FIXTURE_H
#define FORAGE_TESTS_READER_FIXTURE_H

#include "retrieval/answer/extractive.h"
#include "tests/retrieval/text/lexicon_fixture.h"
#include "tests/test.h"

static reader *model;

static int open_reader(void **state) {
    fo_err err = {0};
    return open_lexicon(state) ||
           reader_open(&model, NULL, &(reader_options){.cache_bytes = 1 << 20}, &err);
}

static int close_reader(void **state) {
    reader_close(model);
    return close_lexicon(state);
}

/* Almost any support is enough. The caller has the answer. */
static extractive_answer ask_passages(const char *question, const passage *p, size_t n) {
    fo_err err = {0};
    extractive_answer a;
    const extractive_input in = {.question = question,
                                 .passages = p,
                                 .n_passages = n,
                                 .lx = &lx,
                                 .min_support = 0.01,
                                 .reader = model};
    assert_ok(extractive_answer_make(&a, &in, &err), &err);
    return a;
}

/* Does the answer of one passage say the one thing, and not the other? If not, it is printed. */
static inline bool answer_says(const char *question, const char *text, const char *said,
                               const char *never) {
    const passage p = {.text = text, .len = strlen(text), .title = "Papers", .sparse = 5};
    extractive_answer a = ask_passages(question, &p, 1);
    const bool met = strstr(a.text, said) && !strstr(a.text, never);
    if (!met) fprintf(stderr, "%s\n  %s\n", question, a.text);
    extractive_answer_deinit(&a);
    return met;
}

/* Is it also sure enough of it? */
static inline bool answer_surely_says(const char *question, const char *text, const char *said,
                                      const char *never, double least) {
    const passage p = {.text = text, .len = strlen(text), .title = "Papers", .sparse = 5};
    extractive_answer a = ask_passages(question, &p, 1);
    const bool met = a.support >= least && strstr(a.text, said) && !strstr(a.text, never);
    if (!met) fprintf(stderr, "%s\n  %.2f %s\n", question, a.support, a.text);
    extractive_answer_deinit(&a);
    return met;
}

#endif
