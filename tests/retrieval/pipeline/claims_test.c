/* claims_test.c - values and sentences that somebody wrote from a question's contexts: what is borne
 * out gets the sentence that says it, and nothing else does. */
#include "retrieval/pipeline/claims.h"
#include "retrieval/service/service.h"
#include "tests/test.h"

static service *s;
static char *dir;

static const char heron[] =
    "The grey heron stands one metre tall and weighs 1,500 grams. It eats fish and frogs. "
    "It does not eat bread. It lays 4 eggs. In winter it was seen at -7 degrees near Lake Orrin. "
    "Its ring has the number 4930123457, one of 1.1 million rings.";

static const char tool[] =
    "The order number is 9007199254740993. The kite weighs 2.5 kilograms. "
    "Python 3.10 is needed for the tool. The ticket for the tool costs 6.40.";

static int setup(void **state) {
    (void)state;
    fo_err err = {0};
    dir = test_folder();
    assert_ok(service_open(&s, &(service_options){.home = dir, .n_threads = 2}, &err), &err);
    ingest_document docs[] = {
        {.id = "heron", .title = "The grey heron", .bytes = heron, .n_bytes = sizeof heron - 1},
        {.id = "owl", .bytes = "The barn owl hunts mice at night.", .n_bytes = 33},
        {.id = "tool", .bytes = tool, .n_bytes = sizeof tool - 1}};
    enum { N = sizeof docs / sizeof *docs };
    ingest_result results[N];
    ingest_report report;
    ingest_options opt = {.tenant = "default", .collection = "default", .overlap = SIZE_MAX};
    assert_ok(service_ingest(s, &opt, docs, N, results, &report, &err), &err);
    for (int i = 0; i < N; i++) ingest_result_deinit(&results[i]);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    service_close(s);
    test_remove(dir);
    return 0;
}

/* The quote that bears the claim out, "" where none does; the next call frees it. */
static const char *borne_out_by(const char *claim, bool number) {
    static char quote[512];
    query_request q = {.tenant = "default",
                       .collection = "default",
                       .query = "How tall is the grey heron?",
                       .search = {.alpha = -1},
                       .generate = true,
                       .strict = true};
    query_result r;
    fo_err err = {0};
    query_citation found = {0};
    service_claim one = {claim, strlen(claim), number};
    assert_ok(service_query(s, &q, NULL, &r, &err), &err);
    assert_ok(service_check_claims(s, &q, &r, &one, 1, &found, &err), &err);
    snprintf(quote, sizeof quote, "%s", found.quote ? found.quote : "");
    if (found.quote) {
        assert_true(found.verified);
        const char *all = strstr(claim, "mice") || strstr(claim, "owl") ? "The barn" : heron;
        const char *stands = strstr(all, found.quote); /* ASCII: a byte is a code point */
        if (stands) assert_int_equal(found.source_start, stands - all);
        if (stands) assert_int_equal(found.source_end - found.source_start, strlen(found.quote));
    }
    free(found.quote);
    query_result_deinit(&r);
    return quote;
}

static void words_that_a_context_says_get_its_sentence(void **state) {
    (void)state;
    assert_non_null(strstr(borne_out_by("one metre", false), "stands one metre tall"));
    assert_non_null(strstr(borne_out_by("fish and frogs", false), "It eats fish"));
    assert_non_null(strstr(borne_out_by("Lake Orrin", false), "near Lake Orrin"));
    assert_non_null(strstr(borne_out_by("hunts mice", false), "barn owl"));
}

static void words_that_no_context_says_get_none(void **state) {
    (void)state;
    static const char *const claims[] = {"two metres", "purple", "Lake Vettern", "eats bread", ""};
    for (size_t i = 0; i < sizeof claims / sizeof *claims; i++) {
        const char *quote = borne_out_by(claims[i], false);
        if (*quote) fail_msg("'%s' is borne out by '%s'", claims[i], quote);
    }
}

static void numbers_are_compared_as_numbers(void **state) {
    (void)state;
    assert_non_null(strstr(borne_out_by("4", true), "lays 4 eggs"));
    assert_non_null(strstr(borne_out_by("1.5e3", true), "1,500 grams"));
    assert_non_null(strstr(borne_out_by("-7", true), "-7 degrees"));
    assert_non_null(strstr(borne_out_by("4930123457", true), "4930123457"));
    assert_non_null(strstr(borne_out_by("1100000", true), "1.1 million"));
    static const char *const wrong[] = {"7", "-4", "5", "15", "1500.5", "4930123456"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const char *quote = borne_out_by(wrong[i], true);
        if (*quote) fail_msg("%s is borne out by '%s'", wrong[i], quote);
    }
}

static void numbers_are_compared_to_their_last_digit(void **state) {
    (void)state;
    static const char *const right[] = {"9007199254740993", "2.5",  "2.50", "25e-1",
                                        "0.25E+1",          "3.10", "6.4",  "6.40"};
    for (size_t i = 0; i < sizeof right / sizeof *right; i++)
        if (!*borne_out_by(right[i], true)) fail_msg("%s is not borne out", right[i]);
    static const char *const wrong[] = {"9007199254740992",
                                        "9007199254740994.0",
                                        "9007199254740992.0",
                                        "9.007199254740992e15",
                                        "1e999",
                                        "-1e999",
                                        "1e-999",
                                        "3.1",
                                        "-2.5",
                                        "-25e-1",
                                        "25e-2",
                                        "2.51"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const char *quote = borne_out_by(wrong[i], true);
        if (*quote) fail_msg("%s is borne out by '%s'", wrong[i], quote);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_that_a_context_says_get_its_sentence),
        cmocka_unit_test(words_that_no_context_says_get_none),
        cmocka_unit_test(numbers_are_compared_as_numbers),
        cmocka_unit_test(numbers_are_compared_to_their_last_digit),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
