/* pointers_test.c - sentences that only say where something stands are no answers. */
#include "retrieval/answer/pointers.h"

#include "tests/retrieval/text/lexicon_fixture.h"
#include "tests/test.h"

static bool points(const char *s) {
    return pointer_is_all(s, strlen(s));
}

static void who_is_sent_elsewhere_is_told_nothing(void **state) {
    (void)state;
    assert_true(points("See the section Caching."));
    assert_true(points("For more information about backups, see the manual."));
    assert_true(points("For other systems, please refer to the tutorial."));
    assert_true(points("More information can be found in the handbook."));
    assert_true(points("The cache is described in the section Caching."));
    assert_true(points("This document describes how backups are made."));
    assert_true(points("Where it lies depends on the system; see Caching."));
    assert_true(points("See ssh(1) for all of them."));
    assert_true(points("Please consult the Postfix documentation."));
    assert_false(points("See a doctor if the cause is lime."));
    assert_true(points("See our guide on moving."));
    assert_true(points("See How to set up storage for hints on how to set up a server."));
    assert_true(points("See how it is done for more details."));
    assert_false(points("See how to turn the key for a start."));
    assert_false(points("See your doctor if it hurts below the knee."));
    assert_false(points("Consult your GP when it gets worse."));
    assert_false(points("See the caretaker in the morning."));
    assert_false(points("See that the door is shut."));
    assert_false(points("Hold the key for three seconds (see below)."));
    assert_false(points("For the cache 2 GB are kept."));
    assert_false(points("This setting describes the port."));
    assert_false(points("The house is described as cold in winter."));
    assert_false(points("The price depends on the size."));
}

/* CAND_QUESTION of the unit that begins with `words`. */
static double marked(const char *asked, const char *text, const char *words) {
    fo_err err = {0};
    candidate_set set = {0};
    const passage p = {.text = text, .len = strlen(text)};
    const extractive_input in = {.question = asked, .passages = &p, .n_passages = 1, .lx = &lx};
    assert_ok(candidate_set_read(&set, &in, &err), &err);
    double found = -1;
    for (size_t i = 0; i < set.n && found < 0; i++)
        if (!strncmp(text + set.c[i].unit.start, words, strlen(words)))
            found = set.c[i].f[CAND_QUESTION];
    candidate_set_deinit(&set);
    return found;
}

static void a_pointer_answers_who_asks_for_a_place_to_read(void **state) {
    (void)state;
    static const char text[] = "The cache keeps what was read. For more information about the "
                               "cache, see the manual.";
    const double yes = 1, no = 0;
    assert_float_equal(marked("How does the cache work?", text, "For more"), yes, 0);
    assert_float_equal(marked("How does the cache work?", text, "The cache"), no, 0);
    assert_float_equal(marked("Where is the cache documented?", text, "For more"), no, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_is_sent_elsewhere_is_told_nothing),
        cmocka_unit_test(a_pointer_answers_who_asks_for_a_place_to_read),
    };
    return cmocka_run_group_tests(tests, open_lexicon, close_lexicon);
}
