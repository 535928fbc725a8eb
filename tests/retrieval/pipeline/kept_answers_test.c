/* kept_answers_test.c - a kept answer is not given for what it was not made of: another beginning of its document, which no
 * context holds, and turns that count or do not. */
#include "retrieval/service/service.h"
#include "tests/retrieval/service/home_fixture.h"

static query_request question(const char *text) {
    return (query_request){.tenant = "default",
                           .collection = "default",
                           .query = text,
                           .top_k = 1,
                           .generate = true,
                           .strict = true,
                           .search = {.alpha = -1}};
}

static query_result ask(service *s, query_request q) {
    fo_err err = {0};
    query_result r;
    assert_ok(service_query(s, &q, NULL, &r, &err), &err);
    return r;
}

static void put_contract(service *s, const char *firm) {
    char text[2000];
    snprintf(text, sizeof text,
             "CONTRACT OF EMPLOYMENT\nbetween %s Optics Ltd and Ms Ines Vidal\n\n"
             "1. Work\n\nThe work is that of an optician in the workshop and in the shop, as the "
             "plan of "
             "the week says. The hours are those of the shop, and the breaks are those of the law. "
             "Tools are lent by the house and stay in the workshop over night.\n\n"
             "2. Leave\n\nLeave is a good thing for all. Unpaid leave must be requested six weeks "
             "ahead, "
             "in writing, to the head of the house. What is not taken by the end of March is lost. "
             "Leave is taken in whole days.\n",
             firm);
    ingest_options into = {
        .tenant = "default", .collection = "default", .overlap = 0, .max_tokens = 72};
    ingest_document d = {
        .id = "a.txt", .title = "Contract", .bytes = text, .n_bytes = strlen(text)};
    ingest_one(s, &into, &d);
}

static void a_name_at_the_beginning_of_a_document_is_of_it(void **state) {
    (void)state;
    char *home = test_folder();
    service *s = open_home(home);
    const query_request q = question("When must unpaid leave be requested at Harrow Optics?");
    put_contract(s, "Harrow");
    query_result r = ask(s, q);
    assert_int_equal(r.status, QUERY_ANSWERED);
    assert_non_null(strstr(r.answer, "six weeks"));
    assert_null(strstr(r.contexts[0].chunk.text, "Harrow"));
    query_result_deinit(&r);
    put_contract(s, "Marlow");
    r = ask(s, q);
    assert_int_equal(r.cache.answer, CACHE_MISS);
    assert_int_equal(r.status, QUERY_ABSTAINED);
    query_result_deinit(&r);
    service_close(s);
    test_remove(home);
}

static void turns_that_do_not_count_leave_no_answer_for_those_that_do(void **state) {
    (void)state;
    static const char *const documents[][2] = {
        {"hotel", "Guests park in the yard behind the house, which costs 8 euros a day."},
        {"practice",
         "The practice is open from eight to five. Patients park in the street before the door for "
         "one hour free of charge."},
        {"museum", "Visitors find parking in the garage at the station. Tickets cost 9 euros."}};
    query_message turns[] = {{"user", "When is the dental practice open?"},
                             {"assistant", "The practice is open from eight to five."}};
    char *home = test_folder();
    service *s = open_home(home);
    for (size_t i = 0; i < sizeof documents / sizeof *documents; i++)
        put(s, "default", documents[i][0], documents[i][1], strlen(documents[i][1]), 256);
    query_request q = question("Where can I park?");
    q.top_k = 8;
    q.messages = turns;
    q.n_messages = 2;
    q.rewrite = REWRITE_OFF;
    query_result off = ask(s, q);
    q.rewrite = REWRITE_AUTO;
    query_result with = ask(s, q);
    q.cache = CACHE_BYPASS;
    query_result fresh = ask(s, q);
    assert_int_not_equal(with.cache.answer, CACHE_HIT);
    assert_string_equal(with.answer, fresh.answer);
    query_result_deinit(&off);
    query_result_deinit(&with);
    query_result_deinit(&fresh);
    service_close(s);
    test_remove(home);
}

/* The collection is opened anew, with what was tuned meanwhile, and is the same to the epoch. */
static void what_was_withheld_by_another_bound_is_not_withheld_still(void **state) {
    (void)state;
    static const char text[] = "The pump was replaced on Monday by Rosa Holt.";
    char *home = test_folder();
    service *s = open_home_with((service_options){
        .home = home, .n_threads = 2, .primes_per_s = -1, .max_open_collections = 1});
    put(s, "default", "a.txt", text, strlen(text), 256);
    put(s, "other", "a.txt", text, strlen(text), 256);
    query_request q = question("Who replaced the pump?"), other = q;
    other.collection = "other";
    query_result r = ask(s, q);
    assert_int_equal(r.status, QUERY_ABSTAINED);
    const double least = r.support / 2;
    query_result_deinit(&r);
    fo_err err = {0};
    assert_true(least > 0);
    assert_ok(service_set_tuning(s, "default", "default", NULL, &least, &err), &err);
    for (int i = 0; i < 2; i++) { /* in place of the first */
        r = ask(s, other);
        query_result_deinit(&r);
    }
    r = ask(s, q);
    assert_int_equal(r.cache.answer, CACHE_MISS);
    assert_int_equal(r.status, QUERY_ANSWERED);
    query_result_deinit(&r);
    service_close(s);
    test_remove(home);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_at_the_beginning_of_a_document_is_of_it),
        cmocka_unit_test(turns_that_do_not_count_leave_no_answer_for_those_that_do),
        cmocka_unit_test(what_was_withheld_by_another_bound_is_not_withheld_still),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
