/* courtesy_test.c - greetings and thanks before a question are told from the question, and words that
 * only look like them stay. */
#include "tests/test.h"

#include <string.h>

#include "retrieval/conversation/courtesy.h"

static void what_is_asked_is_left(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"How do I sort?", "How do I sort?"},
        {"thanks! and how do I sort?", "how do I sort?"},
        {"Thanks and how do I sort?", "how do I sort?"},
        {"Hello, where is the key?", "where is the key?"},
        {"hi how do I list files", "how do I list files"},
        {"Great, thank you. Who keeps them?", "Who keeps them?"},
        {"OK, and who keeps them?", "who keeps them?"},
        {"Vielen Dank! Und wie wird der Filter gereinigt?", "wie wird der Filter gereinigt?"},
        {"Please, list the fees.", "list the fees."},
        {"  bonjour, quand ouvre la piscine ?", "quand ouvre la piscine ?"},
        /* nothing is asked */
        {"thanks!", ""},
        {"Hello", ""},
        {"ok, great, thank you very much.", ""},
        /* nor is it by signs alone: of sentences, and faces */
        {"????", ""},
        {"hmm ok", ""},
        {"hm", ""},
        {"Aha!", ""},
        {"ok?", ""},
        {"hmm, where is the key?", "where is the key?"},
        {"Nice?", "Nice?"},
        {" \t", ""},
        {"...!", ""},
        {"\xEF\xBC\x9F", ""},     /* full-width */
        {"\xE3\x80\x82", ""},     /* the end of a sentence in Chinese */
        {"\xF0\x9F\x91\x8D", ""}, /* a thumb */
        {"Thanks! \xF0\x9F\x91\x8D", ""},
        {"thank you \xF0\x9F\x91\x8D", ""},
        /* but by those that documents explain, and by any digit */
        {"&&", "&&"},
        {"$?", "$?"},
        {"\xE2\x89\xA5?", "\xE2\x89\xA5?"},
        {"5?", "5?"},
        {"\xD9\xA3", "\xD9\xA3"}, /* three in Arabic */
        {"\xE4\xB8\xBA\xE4\xBB\x80\xE4\xB9\x88\xEF\xBC\x9F",
         "\xE4\xB8\xBA\xE4\xBB\x80\xE4\xB9\x88\xEF\xBC\x9F"},
        /* words of a question, not said to anybody */
        {"Hello world in C", "Hello world in C"},
        {"hello.c does not compile", "hello.c does not compile"},
        {"nice -n 10 make", "nice -n 10 make"},
        {"Great Britain's capital?", "Great Britain's capital?"},
        {"Thanksgiving, when is it?", "Thanksgiving, when is it?"},
        {"OK button of the form", "OK button of the form"},
        {"and who keeps them?", "and who keeps them?"},
        {"OK is which exit status?", "OK is which exit status?"},
        /* an adjective may be the subject, or its name */
        {"Nice is how far from the airport?", "Nice is how far from the airport?"},
        {"Cool is what setting?", "Cool is what setting?"},
        {"Excellent is which grade?", "Excellent is which grade?"},
        {"Super does how many miles?", "Super does how many miles?"},
        {"Nice, is it far?", "is it far?"},
        {"Great and is the pool open?", "is the pool open?"},
        {"great is it open on Sunday?", "is it open on Sunday?"},
        {"cool how do I get there?", "how do I get there?"},
        {"ok is the pool open?", "is the pool open?"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(question_behind_courtesy(cases[i][0]), cases[i][1]);
}

static void words_are_of_any_script(void **state) {
    (void)state;
    assert_true(question_has_words("a") && question_has_words("?7") &&
                question_has_words("\xD9\xA3") && question_has_words("\xE4\xB8\xBA"));
    assert_false(question_has_words("") || question_has_words("&& $?") ||
                 question_has_words("\xEF\xBC\x9F \xF0\x9F\x91\x8D"));
}

/* Any bytes: the result points into the text. */
static void odd_bytes_are_bounded(void **state) {
    (void)state;
    static const char *const odd[] = {
        "thanks\xC3", "ok,\xFF\xFE", "hi hi hi hi hi hi", "hello,,,,,,", "!!!!", "thanks?", "ok ?"};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        const char *p = question_behind_courtesy(odd[i]);
        assert_true(p >= odd[i] && p <= odd[i] + strlen(odd[i]));
    }
}

static void a_reply_fits_what_was_said(void **state) {
    (void)state;
    static const char *const cases[][2] = {{"Thanks!", "You are welcome."},
                                           {"ok, thank you", "You are welcome."},
                                           {"Vielen Dank!", "Gern geschehen."},
                                           {"hello, muchas gracias", "De nada."},
                                           {"bye", "Goodbye."},
                                           {"Goodbye!", "Goodbye."},
                                           {"thanks, goodbye", "You are welcome."},
                                           {"Hi there", "Hello. What would you like to know?"},
                                           {"nice", "All right. What would you like to know?"},
                                           {"thi", "All right. What would you like to know?"},
                                           {"????", "What would you like to know?"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(courtesy_reply(cases[i][0]), cases[i][1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_asked_is_left),
        cmocka_unit_test(a_reply_fits_what_was_said),
        cmocka_unit_test(words_are_of_any_script),
        cmocka_unit_test(odd_bytes_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
