/* What a question wants to the letter, of programs: where they keep things, what letters stand for, the largest that they take. */
#include "tests/test.h"

#include "retrieval/question/demand_details.h"
#include "retrieval/question/demands.h"

static demands asked(const char *question) {
    return demands_read(question, strlen(question), -1);
}

static void where_a_program_keeps_things_is_a_path(void **state) {
    (void)state;
    static const struct {
        const char *question;
        enum demand_detail detail;
        const char *has, *lacks;
    } cases[] = {
        {"Where does tolld keep its log?", DETAIL_KEPT, "The default is /var/log/tolld.",
         "Logs that are larger than so much are kept longer."},
        {"Where are the cookies stored?", DETAIL_KEPT, "They are in $TOLLHOME.", "Three files."},
        {"Where is its configuration saved?", DETAIL_KEPT, "In the working directory.",
         "Configuration files may be many."},
        {"Where do we keep the spare keys?", DETAIL_NONE, "", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const enum demand_detail d = asked(cases[i].question).detail;
        const char *has = cases[i].has, *lacks = cases[i].lacks;
        if (d != cases[i].detail) fail_msg("%s: %d", cases[i].question, (int)d);
        if (!demand_detail_in(d, has, strlen(has))) fail_msg("%s: %s", cases[i].question, has);
        if (d && demand_detail_in(d, lacks, strlen(lacks)))
            fail_msg("%s: %s", cases[i].question, lacks);
    }
}

static void the_largest_that_is_taken_is_a_number(void **state) {
    (void)state;
    assert_int_equal(asked("What is the largest request body tolld accepts?").amount, AMOUNT_ANY);
    assert_int_equal(asked("Which TCP port does tolld use?").amount, AMOUNT_ANY);
    assert_int_equal(asked("What is the largest room that allows dogs?").amount, AMOUNT_NONE);
    assert_int_equal(asked("Which port does the ferry use?").amount, AMOUNT_NONE);
}

static void letters_are_told_by_words_that_begin_so(void **state) {
    (void)state;
    static const struct {
        const char *question, *text;
        bool in;
    } cases[] = {
        {"What does MD stand for in Linux?", "MD is an abbreviation for many devices.", true},
        {"What does MD stand for?", "The multiple device driver (MD) reads it.", true},
        {"What does MD stand for?", "Many drives have it.", false},
        {"What does MD stand for?", "tolladm - manage MD devices", false},
        {"What does MD stand for?", "hence RAID, which stands for a redundant array.", false},
        {"What does the acronym ISEC stand for?", "The Institute of Smart Electric Cars.", true},
        {"What is ISEC short for?", "ISEC meets on Mondays.", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *letters, *q = cases[i].question, *text = cases[i].text;
        const size_t n = demand_letters_of(q, strlen(q), &letters);
        assert_int_equal(asked(q).detail, DETAIL_LETTERS);
        if (demand_letters_in(letters, n, text, strlen(text)) != cases[i].in)
            fail_msg("%s: %s", q, text);
    }
    assert_int_equal(asked("What does it stand for?").detail, DETAIL_NONE);
    assert_int_equal(asked("What does the MD do?").detail, DETAIL_NONE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(where_a_program_keeps_things_is_a_path),
        cmocka_unit_test(letters_are_told_by_words_that_begin_so),
        cmocka_unit_test(the_largest_that_is_taken_is_a_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
