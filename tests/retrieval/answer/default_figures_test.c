/* An amount of a setting stands in the line that says its default. */
#include "tests/test.h"

#include "retrieval/answer/extractive.h"
#include "tests/retrieval/text/lexicon_fixture.h"

static char *ask(const char *text, const char *question) {
    extractive_answer a;
    fo_err err = {0};
    const passage p = {.text = text, .len = strlen(text), .title = "quillpool.ini - settings"};
    const extractive_input in = {
        .question = question, .passages = &p, .n_passages = 1, .lx = &lx, .max_sentences = 2};
    assert_ok(extractive_answer_make(&a, &in, &err), &err);
    char *out = strdup(a.text);
    extractive_answer_deinit(&a);
    return out;
}

static const char settings[] =
    "card_wait\n\nHow long a card is looked for. [seconds]\n\nDefault: 15.0\n\nidle_close\n\nIf a "
    "reader has "
    "been idle more than this many seconds it will be closed. If 0 then this is disabled.\n\n"
    "Default: 600.0\n\nlog_colour\n\nThe colour of the log.\n\nDefault: 7\n";

static void the_default_is_said_with_what_an_amount_is_of(void **state) {
    (void)state;
    char *answer = ask(settings, "After how many seconds will an idle reader be closed?");
    if (strncmp(answer, "idle_close: ", 12) != 0 || !strstr(answer, "Default: 600.0") ||
        strstr(answer, "15.0"))
        fail_msg("%s", answer);
    free(answer);
    /* who asks for no amount is told none */
    answer = ask(settings, "What will be closed if a reader has been idle?");
    if (strstr(answer, "Default:")) fail_msg("%s", answer);
    free(answer);
}

/* What states no amount by itself does, where its entry goes on with one. */
static void an_amount_is_met_by_the_default_of_the_entry(void **state) {
    (void)state;
    static const char text[] = "max_body\n\nThe maximum size of the request body. "
                               "(bytes)\n\nDefault: 100000000\n\nOTHERS\n\n"
                               "A request body may have 3 parts.\n";
    char *answer = ask(text, "What is the largest request body it accepts?");
    if (!strstr(answer, "max_body: ") || !strstr(answer, "100000000")) fail_msg("%s", answer);
    free(answer);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_default_is_said_with_what_an_amount_is_of),
        cmocka_unit_test(an_amount_is_met_by_the_default_of_the_entry),
    };
    return cmocka_run_group_tests(tests, open_lexicon, close_lexicon);
}
