/* answer_growth_test.c - passages that are made to be slow to answer from: a chunk may have half a megabyte, and a question looks at
 * each of its units. */
#include "tests/test.h"

#include <math.h>
#include <time.h>

#include "kernels/buf.h"
#include "retrieval/answer/contents_lists.h"
#include "retrieval/answer/extractive.h"
#include "tests/retrieval/text/lexicon_fixture.h"

enum { BYTES = 16 << 10 };

static double thread_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static double answer_ms(const char *asked, const fo_buf *text) {
    const passage p = {.text = text->data,
                       .len = text->len,
                       .document = "rules.txt",
                       .heading = "",
                       .score = 1,
                       .dense = NAN,
                       .sparse = 1};
    const extractive_input in = {.question = asked, .passages = &p, .n_passages = 1, .lx = &lx};
    extractive_answer a;
    fo_err err = {0};
    const double began = thread_ms();
    assert_ok(extractive_answer_make(&a, &in, &err), &err);
    const double took = thread_ms() - began;
    extractive_answer_deinit(&a);
    return took;
}

/* Where each unit was held against each status, and all of that again for each unit, this took minutes. */
static void states_of_sections_are_read_once(void **state) {
    (void)state;
    static const struct {
        const char *first, *second;
    } texts[] = {
        {"- Status: withdrawn\n", "- Status: withdrawn\n"},
        {"The boat is kept. ", "We wrote it. "},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        fo_buf b = {0};
        while (b.len < BYTES) fo_buf_str(&b, texts[i].first);
        fo_buf_str(&b, "\n\n# Correction\n\n");
        while (b.len < 2 * BYTES) fo_buf_str(&b, texts[i].second);
        const double took = answer_ms("What is the status of the boat that is kept?", &b);
        if (took > 1500) fail_msg("'%s': %.0f ms for %zu bytes", texts[i].first, took, b.len);
        fo_buf_free(&b);
    }
}

/* All that is told of the units of a text, but their reading. */
static double mark_ms(const char *asked, const fo_buf *text) {
    const passage p = {.text = text->data, .len = text->len, .document = "boats.txt"};
    const extractive_input in = {.question = asked, .passages = &p, .n_passages = 1, .lx = &lx};
    candidate_set set = {0};
    fo_err err = {0};
    assert_ok(candidate_set_read(&set, &in, &err), &err);
    const double began = thread_ms();
    assert_ok(contents_lists_mark(&set, &err), &err);
    const double took = thread_ms() - began;
    candidate_set_deinit(&set);
    return took;
}

/* Each line was held against each other one that may be its heading, a list was read from its first item for each of them, and a line
 * from its beginning for each sentence in it: seconds. */
static void lines_of_contents_are_looked_up(void **state) {
    (void)state;
    static const struct {
        const char *first, *line[2], *heading[2]; /* each with its number between two pieces */
    } texts[] = {
        {"", {"- The ", " boat is kept in here\n"}, {"\n\nThe ", " boat was kept in there\n"}},
        {"Boats:\n\n", {"- boat ", "\n"}, {0}},
        {"- It: boat\n", {"- boat ", "\n"}, {0}},
        {"Boats of the lake.\n\n", {"We keep ", ". "}, {0}},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char *const *line = texts[i].line, *const *heading = texts[i].heading;
        fo_buf b = {0};
        fo_buf_str(&b, texts[i].first);
        for (size_t n = 0; b.len < 4 * BYTES; n++)
            fo_buf_printf(&b, "%s%zu%s", line[0], n, line[1]);
        for (size_t n = 0; *heading && b.len < 8 * BYTES; n++)
            fo_buf_printf(&b, "%s%zu%s", heading[0], n, heading[1]);
        const double took = mark_ms("Which boat is kept?", &b);
        if (took > 60) fail_msg("'%s': %.0f ms for %zu bytes", line[0], took, b.len);
        fo_buf_free(&b);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(states_of_sections_are_read_once),
        cmocka_unit_test(lines_of_contents_are_looked_up),
    };
    return cmocka_run_group_tests(tests, open_lexicon, close_lexicon);
}
