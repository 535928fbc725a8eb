/* plain_words_test.c - manners of speaking put plainly. */
#include "tests/test.h"

#include "retrieval/question/plain_words.h"

typedef struct manner {
    const char *asked, *plain; /* NULL: as it is */
} manner;

static void put_plainly(const manner *cases, size_t n) {
    for (size_t i = 0; i < n; i++) {
        fo_buf b = {0};
        assert_int_equal(plain_words(&b, cases[i].asked), cases[i].plain != NULL);
        assert_string_equal(b.len ? b.data : "", cases[i].plain ? cases[i].plain : "");
        fo_buf_free(&b);
    }
}

static void what_is_paid_is_asked_for_by_how_much(void **state) {
    (void)state;
    static const manner cases[] = {
        {"How high is the deposit?", "How much is the deposit?"},
        {"how big is the student discount in May", "how much is the student discount in May"},
        {"How high are the yearly fees?", "How much are the yearly fees?"},
        {"How high is the water?", NULL},
        {"How high is the tower that was built for all of the rent?", NULL},
        {"How high may hedges be?", NULL},
        {"How high?", NULL},
        {"How", NULL},
        {"", NULL},
        {"How is the rent?", NULL},
        {"Who is how high is the rent?", NULL},
    };
    put_plainly(cases, sizeof cases / sizeof *cases);
}

static void what_holds_if_nothing_is_said_is_the_default(void **state) {
    (void)state;
    static const manner cases[] = {
        {"How often does it try again, out of the box?",
         "How often does it try again, by default?"},
        {"which port does it listen on unless changed?",
         "which port does it listen on by default?"},
        {"How much does it keep if I don't say anything?", "How much does it keep by default?"},
        {"If nothing is set, how long does it wait?", NULL}, /* begins with the case */
        {"How long does it wait if I give none, in seconds?",
         "How long does it wait by default, in seconds?"},
        {"What happens if I don't change it?", NULL},
        {"What must I pay if I don't give any notice?", NULL},
        {"What was taken out of the box of tools?", NULL},
        {"What is the default unless changed?", NULL},
        {"Can I leave if I say nothing?", NULL},
    };
    put_plainly(cases, sizeof cases / sizeof *cases);
}

static void what_exists_since_a_version_is_of_it(void **state) {
    (void)state;
    static const manner cases[] = {
        {"Since which version does server.port exist?", "Since which version is server.port?"},
        {"In which release do nested tags exist", "In which release are nested tags"},
        {"Which version does exist?", NULL},
        {"Since when does the club exist?", NULL},
        {"Which version does not exist in the archive?", NULL},
        {"Which version exist", NULL},
    };
    put_plainly(cases, sizeof cases / sizeof *cases);
}

static void who_wants_to_be_told_about_a_thing_gives_a_subject(void **state) {
    (void)state;
    static const manner cases[] = {
        {"Tell me about the weir", "What about the weir?"},
        {"Can you tell me something about the boats?", "What about the boats?"},
        {"I'd like to know more about the drone.", "What about the drone?"},
        {"what do you know about bitterns", "What about bitterns?"},
        {"Tell me about it", NULL}, /* points back */
        {"Tell me about what happened", NULL},
        {"Tell me about", NULL},
        {"Tell me when it opens", NULL},
        {"What do you know of the weir?", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fo_buf b = {0};
        assert_int_equal(plain_words_subject(&b, cases[i].asked), cases[i].plain != NULL);
        assert_string_equal(b.len ? b.data : "", cases[i].plain ? cases[i].plain : "");
        fo_buf_free(&b);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_exists_since_a_version_is_of_it),
        cmocka_unit_test(what_is_paid_is_asked_for_by_how_much),
        cmocka_unit_test(who_wants_to_be_told_about_a_thing_gives_a_subject),
        cmocka_unit_test(what_holds_if_nothing_is_said_is_the_default),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
