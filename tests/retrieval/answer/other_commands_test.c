/* The page of a command does not answer what is asked of another one, nor what the command is not for. */
#include "tests/test.h"

#include "retrieval/answer/extractive.h"
#include "tests/retrieval/text/lexicon_fixture.h"

static double answer_of(const char *question, const passage *p, size_t n, const char *expected) {
    extractive_answer a;
    fo_err err = {0};
    const extractive_input in = {
        .question = question, .passages = p, .n_passages = n, .lx = &lx, .max_sentences = 1};
    assert_ok(extractive_answer_make(&a, &in, &err), &err);
    const double support = a.support;
    if (a.abstain != (expected == NULL) || (expected && strcmp(a.text, expected) != 0))
        fail_msg("%s: %s", question, a.text);
    extractive_answer_deinit(&a);
    return support;
}

#define is(question, p, n, expected) answer_of(question, p, n, expected)

static void an_option_is_that_of_its_command(void **state) {
    (void)state;
    static const char tolls[] = "OPTIONS\n\n-e set\nTrace the set of signals.\n",
                      shell[] = "BUILTINS\n\nset -e\nExit at once when a command fails.\n";
    const passage p[] = {
        {.text = tolls, .len = strlen(tolls), .title = "tolltrace - trace what a toll does"},
        {.text = shell, .len = strlen(shell), .title = "tollsh - a shell"}};
    is("What does set -e do?", p, 1, NULL);
    is("What does tolltrace -e do?", p, 1, "-e set: Trace the set of signals. [1]");
    is("What does set -e do?", p, 2, "set -e: Exit at once when a command fails. [1]");
}

static passage titled(const char *title, const char *text) {
    return (passage){.text = text, .len = strlen(text), .title = title};
}

/* Of two commands that have such an option, the one that is for what is asked about is meant. */
static void a_command_is_for_what_its_title_says(void **state) {
    (void)state;
    static const char text[] = "OPTIONS\n\n-n NUM\nPrint only the first NUM lines of the file.\n";
    const passage p[] = {titled("tolldiff - modify a patch", text),
                         titled("tollhead - output the beginning of files", text)};
    answer_of("How do I print only the first 3 lines of a file?", p, 2,
              "tollhead -n NUM: Print only the first NUM lines of the file. [1]");
    /* a task is one without a question mark, too; what is asked of the command by its name is answered whatever it is for */
    static const struct {
        const char *question;
        bool lowers;
    } cases[] = {
        {"How do I print only the first 3 lines of a file?", true},
        {"print only the first 3 lines of a file", true},
        {"Who prints only the first 3 lines of a file?", false},
        {"How does tolldiff print only the first 3 lines of a file?", false},
        {"How do I print only the first 3 lines of tolldiffs?", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const passage other = titled("tolldiff - modify a patch", text),
                      own = titled("tolldiff - print lines", text);
        extractive_answer a, b;
        fo_err err = {0};
        extractive_input in = {
            .question = cases[i].question, .passages = &other, .n_passages = 1, .lx = &lx};
        assert_ok(extractive_answer_make(&a, &in, &err), &err);
        in.passages = &own;
        assert_ok(extractive_answer_make(&b, &in, &err), &err);
        const bool lowers = a.support < b.support / 2;
        if (lowers != cases[i].lowers)
            fail_msg("%s: %g, %g", cases[i].question, a.support, b.support);
        extractive_answer_deinit(&a);
        extractive_answer_deinit(&b);
    }
}

static void a_term_that_is_another_path_tells_nothing_of_this_one(void **state) {
    (void)state;
    static const char text[] =
        "FILES\n\n/etc/toll-\nBackup file of what is stored in /etc/toll.\n\n"
        "/etc/toll\nWhat each of them has paid.\n";
    const passage p = titled("toll - the file of tolls", text);
    answer_of("What is stored in /etc/toll?", &p, 1, "/etc/toll: What each of them has paid. [1]");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_option_is_that_of_its_command),
        cmocka_unit_test(a_command_is_for_what_its_title_says),
        cmocka_unit_test(a_term_that_is_another_path_tells_nothing_of_this_one),
    };
    return cmocka_run_group_tests(tests, open_lexicon, close_lexicon);
}
