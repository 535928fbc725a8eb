/* plain_words_test.c - manners of speaking put plainly. */
#include "tests/test.h"

#include "retrieval/question/plain_words.h"

static void what_is_paid_is_asked_for_by_how_much(void **state) {
    (void)state;
    static const struct {
        const char *asked, *plain; /* NULL: as it is */
    } cases[] = {
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
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fo_buf b = {0};
        assert_int_equal(plain_words(&b, cases[i].asked), cases[i].plain != NULL);
        assert_string_equal(b.len ? b.data : "", cases[i].plain ? cases[i].plain : "");
        fo_buf_free(&b);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_paid_is_asked_for_by_how_much),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
