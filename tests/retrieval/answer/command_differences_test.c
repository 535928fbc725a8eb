/* What two commands differ in, their pages say each for itself. */
#include "tests/test.h"

#include "retrieval/answer/extractive.h"
#include "retrieval/text/compared_names.h"
#include "tests/retrieval/text/lexicon_fixture.h"

static void names_that_are_compared_are_told(void **state) {
    (void)state;
    static const struct {
        const char *question, *a, *b; /* NULL: none */
    } cases[] = {
        {"What is the difference between cp and mv?", "cp", "mv"},
        {"What's the difference between the commands `cp` and `git-mv`?", "cp", "git-mv"},
        {"difference between apt-get and the apt command", "apt-get", "apt"},
        {"How does head differ from tail?", "head", "tail"},
        {"How is gzip different from xz?", "gzip", "xz"},
        {"gzip vs. xz", "gzip", "xz"},
        {"gzip versus xz", "gzip", "xz"},
        {"What is the difference between cp and mv options?", NULL, NULL},
        {"What is the difference between hard and soft limits?", NULL, NULL},
        {"What is between the lake and the sea?", NULL, NULL},
        {"What is the difference?", NULL, NULL},
        {"", NULL, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        compared_names x;
        const char *want[2] = {cases[i].a, cases[i].b};
        const bool read = compared_names_read(&x, cases[i].question, strlen(cases[i].question));
        if (read != (want[0] != NULL)) fail_msg("%s", cases[i].question);
        for (size_t k = 0; k < 2 && read; k++)
            if (x.n[k] != strlen(want[k]) || memcmp(x.name[k], want[k], x.n[k]) != 0)
                fail_msg("%s: %.*s", cases[i].question, (int)x.n[k], x.name[k]);
    }
}

static const char cp[] = "cp - copy files and directories", mv[] = "mv - move (rename) files",
                  both[] = "moving - copies and moves";

/* expected: NULL where it is refused. */
static void is(const char *question, const passage *p, size_t n, const char *expected) {
    extractive_answer a;
    fo_err err = {0};
    const extractive_input in = {
        .question = question, .passages = p, .n_passages = n, .lx = &lx, .max_sentences = 2};
    assert_ok(extractive_answer_make(&a, &in, &err), &err);
    if (a.abstain != (expected == NULL) || (expected && strcmp(a.text, expected) != 0))
        fail_msg("%s: %s", question, a.text);
    for (size_t i = 0; i < a.n_citations; i++) assert_true(a.citations[i].verified);
    extractive_answer_deinit(&a);
}

static void each_says_what_it_does(void **state) {
    (void)state;
    static const char cp_text[] = "NAME\n\ncp - copy files and directories\n\nDESCRIPTION\n\nWith "
                                  "cp the difference between files is lost.\n",
                      mv_text[] = "NAME\n\nmv - move (rename) files\n",
                      both_text[] = "The difference between cp and mv is that mv leaves nothing.\n";
    const passage p[] = {{.text = cp_text, .len = strlen(cp_text), .title = cp},
                         {.text = mv_text, .len = strlen(mv_text), .title = mv},
                         {.text = both_text, .len = strlen(both_text), .title = both}};
    is("What is the difference between mv and cp?", p, 2,
       "mv - move (rename) files [1]\ncp - copy files and directories [2]");
    /* a sentence of both says more */
    is("What is the difference between cp and mv?", p, 3,
       "The difference between cp and mv is that mv leaves nothing. [1]");
    /* of one of them nothing is known */
    is("What is the difference between cp and copycat?", p, 3, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_that_are_compared_are_told),
        cmocka_unit_test(each_says_what_it_does),
    };
    return cmocka_run_group_tests(tests, open_lexicon, close_lexicon);
}
