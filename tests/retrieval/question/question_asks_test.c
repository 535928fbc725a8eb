/* question_asks_test.c - what a question says anywhere in it, also behind much else. */
#include "retrieval/question/question.h"
#include "tests/retrieval/text/lexicon_fixture.h"
#include "tests/test.h"

static question_asks asks(const char *asked) {
    question q = {0};
    fo_err err = {0};
    assert_ok(question_read(&q, &lx, asked, strlen(asked), &err), &err);
    question_asks found = q.asks;
    /* the terms by how many they are */
    found.without = (uint64_t)__builtin_popcountll(found.without);
    question_deinit(&q);
    return found;
}

static void what_is_asked_for_is_read_once(void **state) {
    (void)state;
    assert_true(asks("Who is the treasurer at the moment?").latest);
    assert_true(asks("Where is it kept these days?").latest);
    assert_false(asks("Who is the treasurer of the moment?").latest);
    assert_true(asks("Who was the previous treasurer?").past);
    assert_false(asks("Who is the treasurer?").past);
    assert_true(asks("She made the cake, what was her name?").name);
    assert_true(asks("the cake's maker: whats their name").name);
    assert_false(asks("What does it cost to change their name?").name);
    assert_true(asks("What is the name of the football coach from Odde?").persons_name);
    assert_true(asks("What's the name of Theodora Vesk's sister?").persons_name);
    assert_true(asks("what was the captain's name").persons_name);
    assert_true(asks("What is Ida's sister called?").persons_name);
    assert_false(asks("What is the name of the coach company?").persons_name);
    assert_false(asks("What is the name of the director's film?").persons_name);
    assert_false(asks("What is the river called?").persons_name);
    assert_true(asks("Which version of nginx is used?").version_of >= 0);
    assert_int_equal(asks("Is nginx used?").version_of, -1);
    assert_true(asks("How many bicycles are there?").how_many >= 0);
    assert_int_equal(asks("How are bicycles lent?").how_many, -1);
    assert_int_equal(asks("What is there without a registered association?").without, 2);
    assert_int_equal(asks("What is there for a registered association?").without, 0);
}

static bool is_task(const char *asked, bool *procedure) {
    question q = {0};
    fo_err err = {0};
    assert_ok(question_read(&q, &lx, asked, strlen(asked), &err), &err);
    const bool task = q.task;
    *procedure = q.procedure;
    question_deinit(&q);
    return task;
}

static void what_is_to_be_done_is_a_task(void **state) {
    (void)state;
    bool procedure;
    assert_true(is_task("shuffle the lines of a file", &procedure));
    assert_true(is_task("cancel a planned run", &procedure));
    assert_true(is_task("trace the calls of a program", &procedure));
    assert_true(is_task("pin a process to one processor", &procedure));
    assert_true(is_task("shut down in 10 minutes", &procedure));
    assert_false(is_task("Which command shows the routes?", &procedure));
    assert_true(procedure);
    assert_false(is_task("trace the calls of a program?", &procedure));
    assert_false(is_task("the calls of a program", &procedure));
    assert_false(procedure);
    assert_false(is_task("command to change my shell", &procedure));
    assert_true(procedure);
    assert_false(is_task("Who has command of the ship?", &procedure));
    assert_false(procedure);
}

static void the_end_of_a_long_question_is_read(void **state) {
    (void)state;
    char *asked = malloc(65536);
    size_t n = 0;
    while (n < 60000) n += (size_t)sprintf(asked + n, "The hall %zu is cold. ", n);
    strcpy(asked + n, "Who is the treasurer now?");
    assert_true(asks(asked).latest);
    free(asked);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_asked_for_is_read_once),
        cmocka_unit_test(what_is_to_be_done_is_a_task),
        cmocka_unit_test(the_end_of_a_long_question_is_read),
    };
    return cmocka_run_group_tests(tests, open_lexicon, close_lexicon);
}
