/* spelt_test.c - a question with a misspelt word is answered as it is meant, says so, and takes no word from documents that the asker
 * does not see. */
#include "tests/test.h"

#include "retrieval/service/service.h"
#include "tests/retrieval/service/home_fixture.h"

static const char house[] =
    "# The house\n\nThe library is open on Monday from nine to five. The rowing boat Willowmere "
    "lies at the jetty and carries four people. Books are lent for three weeks. The lane to "
    "Quenninsby is closed.\n";
static const char board[] =
    "# The board\n\nThe board means to sell the meadow at Quenningsby in the spring, for 40,000 "
    "pounds.\n";
static const char haus[] =
    "# Das Haus\n\nDie Werkstatt ist am Montag von neun bis f\xC3\xBCnf ge\xC3\xB6"
    "ffnet. Fahrr\xC3\xA4"
    "der werden dort am Dienstag repariert, und das Werkzeug liegt im Keller.\n";

static void ask(service *s, const query_request *how, const char *question, const char *sought,
                const char *want) {
    fo_err err = {0};
    query_request q = *how;
    query_result r;
    q.tenant = q.collection = "default";
    q.query = question;
    q.generate = q.strict = true;
    q.search = (search_params){.alpha = -1};
    assert_ok(service_query(s, &q, NULL, &r, &err), &err);
    const char *got = r.rewritten ? r.rewritten : "";
    if (strcmp(got, sought) != 0 || r.respelt != (*sought != '\0') || !strstr(r.answer, want))
        fail_msg("%s: as \"%s\": %s", question, got, r.answer);
    query_result_deinit(&r);
}

static void is_answered_as_it_is_meant(void **state) {
    service *s = *state;
    const query_request plain = {0}, as_it_is = {.rewrite = REWRITE_OFF};
    ask(s, &plain, "When is the libary open?", "When is the library open?", "nine to five");
    ask(s, &plain, "When is the library open?", "", "nine to five");
    ask(s, &as_it_is, "When is the libary open?", "", "");
    /* by a word of the documents, as they write it */
    ask(s, &plain, "How many people does the willowmre carry?",
        "How many people does the Willowmere carry?", "four");
    /* again, from memory */
    ask(s, &plain, "When is the libary open?", "When is the library open?", "nine to five");
    ask(s, &plain,
        "Wann ist die Werksttatt ge\xC3\xB6"
        "ffnet?",
        "Wann ist die Werkstatt ge\xC3\xB6"
        "ffnet?",
        "Montag");
}

static void takes_no_word_from_what_is_not_seen(void **state) {
    service *s = *state;
    fo_err err = {0};
    const char *const groups[] = {"staff"};
    search_filter *staff = NULL;
    assert_ok(search_filter_sees(&staff, groups, 1, &err), &err);
    const query_request all = {0}, some = {.sees = staff};
    ask(s, &all, "What is sold at Quenniingsby?", "What is sold at Quenningsby?", "");
    ask(s, &some, "What is sold at Quenniingsby?", "", "");
    /* nor does it tell that a word stands there */
    ask(s, &all, "Where is the lane to Quenningsby?", "", "");
    ask(s, &some, "Where is the lane to Quenningsby?", "Where is the lane to Quenninsby?", "");
    search_filter_free(staff);
}

static void a_turn_of_a_talk_is_mended_too(void **state) {
    service *s = *state;
    fo_err err = {0};
    const query_message turns[] = {{"user", "When is the library open?"},
                                   {"assistant", "On Monday from nine to five."},
                                   {"user", "And for how long are boooks lent?"}};
    query_request q = {.tenant = "default",
                       .collection = "default",
                       .messages = turns,
                       .n_messages = 3,
                       .generate = true,
                       .strict = true,
                       .search = {.alpha = -1}};
    query_result r;
    assert_ok(service_query(s, &q, NULL, &r, &err), &err);
    assert_non_null(r.rewritten);
    assert_non_null(strstr(r.rewritten, "books"));
    assert_non_null(strstr(r.answer, "three weeks"));
    query_result_deinit(&r);
}

static char *home;

static int open_it(void **state) {
    home = test_folder();
    service *s = open_home(home);
    ingest_options into = {.tenant = "default", .collection = "default", .overlap = SIZE_MAX};
    ingest_document d = {.id = "board.md",
                         .file_name = "board.md",
                         .acl = "[\"board\"]",
                         .bytes = board,
                         .n_bytes = sizeof board - 1};
    put(s, "default", "house.md", house, sizeof house - 1, 256);
    put(s, "default", "haus.md", haus, sizeof haus - 1, 256);
    ingest_one(s, &into, &d);
    *state = s;
    return 0;
}

static int close_it(void **state) {
    service_close(*state);
    test_remove(home);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_answered_as_it_is_meant),
        cmocka_unit_test(takes_no_word_from_what_is_not_seen),
        cmocka_unit_test(a_turn_of_a_talk_is_mended_too),
    };
    return cmocka_run_group_tests(tests, open_it, close_it);
}
