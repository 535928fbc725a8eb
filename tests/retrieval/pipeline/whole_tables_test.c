/* whole_tables_test.c - a table that chunks cut is compared as a whole, or not at all. */
#include "tests/test.h"

#include "kernels/buf.h"
#include "retrieval/collections/service_internal.h"
#include "retrieval/pipeline/whole_passages.h"
#include "tests/retrieval/service/home_fixture.h"

static query_result ask(service *s, const char *in, const char *asked, bool strict) {
    fo_err err = {0};
    query_request q = {.tenant = "default",
                       .collection = in,
                       .query = asked,
                       .top_k = 3,
                       .generate = true,
                       .strict = strict,
                       .short_answer = true,
                       .cache = CACHE_BYPASS,
                       .search = {.alpha = -1}};
    query_result r;
    assert_ok(service_query(s, &q, NULL, &r, &err), &err);
    return r;
}

/* A price list of n pots, of which the cheapest is the `cheapest`-th. */
static char *price_list(size_t n, size_t cheapest, const char *glaze) {
    fo_buf b = {0};
    fo_buf_str(&b, "# Pots of the workshop\n\nEvery pot is thrown by hand.\n\n| Pot | Glaze | "
                   "Price of the pot |\n"
                   "|---|---|---|\n");
    for (size_t i = 1; i <= n; i++)
        fo_buf_printf(&b, "| Pot no. P%zu | %s | %zu EUR |\n", i, glaze,
                      i == cheapest ? 3 : 20 + i % 7 * 5 + i);
    fo_buf_str(&b, "\nPots are packed in straw and sent on Fridays.\n");
    assert_false(b.failed);
    return fo_buf_take(&b, NULL);
}

static void the_cheapest_is_found_wherever_the_chunks_are_cut(void **state) {
    (void)state;
    static const size_t sizes[] = {32, 64, 256};
    char *home = test_folder();
    service *s = open_home(home);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t cheapest = 1; cheapest <= 29; cheapest += 14) {
            char name[32], want[32];
            snprintf(name, sizeof name, "c%zu-%zu", sizes[i], cheapest);
            snprintf(want, sizeof want, "Pot no. P%zu;", cheapest);
            char *text = price_list(29, cheapest, "ash and iron");
            put(s, name, "prices.md", text, strlen(text), sizes[i]);
            query_result r = ask(s, name, "Which pot is the cheapest?", true);
            if (r.status != QUERY_ANSWERED || !strstr(r.answer, want))
                fail_msg("chunks of %zu, %s: %s (%.2f)", sizes[i], want, r.answer, r.support);
            assert_true(r.n_citations > 0);
            for (size_t k = 0; k < r.n_citations; k++) assert_true(r.citations[k].verified);
            query_result_deinit(&r);
            free(text);
        }
    service_close(s);
    test_remove(home);
}

/* Of a list of 24 boats every third needs a licence: all eight are the answer, wherever it is cut. */
static void all_rows_that_answer_alike_are_said(void **state) {
    (void)state;
    static const size_t sizes[] = {48, 96, 256};
    char *home = test_folder();
    service *s = open_home(home);
    fo_buf b = {0};
    fo_buf_str(&b, "# Boats of the club\n\n| Boat | Berth | Licence needed |\n|---|---|---|\n");
    for (size_t i = 1; i <= 24; i++)
        fo_buf_printf(&b, "| Boat W%zu | pier %zu | %s |\n", i, i % 4 + 1, i % 3 ? "no" : "yes");
    fo_buf_str(&b, "\nKeys hang in the boathouse.\n");
    assert_false(b.failed);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char name[32], want[32];
        size_t said = 0;
        snprintf(name, sizeof name, "b%zu", sizes[i]);
        put(s, name, "boats.md", b.data, b.len, sizes[i]);
        query_result r = ask(s, name, "Which boats need a licence?", false);
        for (size_t k = 1; k <= 24; k++) {
            snprintf(want, sizeof want, "Boat: Boat W%zu;", k);
            if ((strstr(r.answer, want) != NULL) != (k % 3 == 0))
                fail_msg("chunks of %zu, %s: %s (%.2f)", sizes[i], want, r.answer, r.support);
        }
        for (const char *at = r.answer; (at = strstr(at, "yes")); at++) said++;
        assert_int_equal(said, 8);
        query_result_deinit(&r);
    }
    fo_buf_free(&b);
    service_close(s);
    test_remove(home);
}

/* A question that names two things is answered by the rows of both, one that denies by none of those it names. */
static void rows_of_both_things_are_said(void **state) {
    (void)state;
    static const char rota[] = "# Who is on duty\n\n| Day | Name | Post |\n|---|---|---|\n"
                               "| Monday | Ida Berg | desk |\n| Monday | Ravi Shah | gate |\n"
                               "| Tuesday | Lena Ott | desk |\n| Wednesday | Tom Wren | desk |\n"
                               "| Monday | Olu Ade | kitchen |\n| Tuesday | Pia Roth | gate |\n";
    static const struct {
        const char *question, *says[5], *says_not[5];
    } cases[] = {
        {"Who is on duty on Monday?", {"Ida", "Ravi", "Olu"}, {"Lena", "Tom", "Pia"}},
        {"Who is on duty on Monday and Tuesday?", {"Ida", "Ravi", "Olu", "Lena", "Pia"}, {"Tom"}},
        {"Who is at the gate?", {"Ravi", "Pia"}, {"Ida", "Lena", "Tom", "Olu"}},
        {"Who is at the gate or in the kitchen?", {"Ravi", "Pia", "Olu"}, {"Ida", "Lena", "Tom"}},
    };
    char *home = test_folder();
    service *s = open_home(home);
    put(s, "rota", "rota.md", rota, sizeof rota - 1, 256);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        query_result r = ask(s, "rota", cases[i].question, false);
        for (size_t k = 0; k < 5; k++)
            if ((cases[i].says[k] && !strstr(r.answer, cases[i].says[k])) ||
                (cases[i].says_not[k] && strstr(r.answer, cases[i].says_not[k])))
                fail_msg("%s: %s", cases[i].question, r.answer);
        assert_int_equal(r.short_answer.end, 0); /* a name alone would be a part of the answer */
        query_result_deinit(&r);
    }
    query_result r = ask(s, "rota", "Who is not on duty on Monday?", true);
    if (strstr(r.answer, "Ida")) fail_msg("%s", r.answer);
    query_result_deinit(&r);
    service_close(s);
    test_remove(home);
}

/* Rows of other dates do not answer; the last bus is the last of the rows of its day, wherever a chunk ends. */
static void rows_are_of_their_dates_and_turns(void **state) {
    (void)state;
    static const char rota[] = "# Who is on call\n\n| Day | Name |\n|---|---|\n"
                               "| Monday 3 March | Ida Berg |\n| Tuesday 4 March | Ravi Shah |\n"
                               "| Monday 10 March | Olu Ade |\n";
    static const char buses[] = "Buses of line 7\n\nTrip   Days      Market   Mill\n"
                                "101    Mon-Fri   06:10    06:31\n103    daily     07:40    08:01\n"
                                "105    Mon-Sat   12:05    12:26\n107    Mon-Fri   19:30    19:51\n"
                                "109    Fri-Sat   22:45    23:06\n";
    static const struct {
        const char *in, *question, *says, *says_not;
    } cases[] = {
        {"rota", "Who is on call on Monday 10 March?", "Olu", "Ida"},
        {"rota", "Who is on call on Monday 17 March?", NULL, "Ida"},
        {"buses", "When does the last bus leave the Market on Monday?", "19:30", "22:45"},
        {"buses", "When does the last bus leave the Market on Saturday?", "22:45", "19:30"},
        {"buses", "What time is the first bus from the Market?", "06:10", "07:40"},
    };
    char *home = test_folder();
    service *s = open_home(home);
    put(s, "rota", "rota.md", rota, sizeof rota - 1, 256);
    put(s, "buses", "line7.txt", buses, sizeof buses - 1, 48);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        query_result r = ask(s, cases[i].in, cases[i].question, true);
        if ((cases[i].says && !strstr(r.answer, cases[i].says)) ||
            strstr(r.answer, cases[i].says_not))
            fail_msg("%s: %s", cases[i].question, r.answer);
        query_result_deinit(&r);
    }
    service_close(s);
    test_remove(home);
}

/* 50 KB of table are not read for one question: which row is the cheapest is not known then. */
static void a_table_beyond_all_bounds_is_not_compared(void **state) {
    (void)state;
    char *home = test_folder();
    service *s = open_home(home);
    char *text = price_list(
        400, 390,
        "ash and iron, fired twice over cherry wood for a night and a day, and signed on the foot");
    put(s, "long", "prices.md", text, strlen(text), 64);
    query_result r = ask(s, "long", "Which pot is the cheapest?", true);
    if (r.status == QUERY_ANSWERED && strstr(r.answer, "EUR")) fail_msg("%s", r.answer);
    query_result_deinit(&r);
    free(text);
    service_close(s);
    test_remove(home);
}

typedef struct patience {
    size_t n_asked, last; /* last: the client leaves then; 0: it stays */
} patience;

static int still_there(void *ctx, fo_err *err) {
    patience *p = ctx;
    p->n_asked++;
    return p->n_asked == p->last ? fo_fail(err, FO_ECANCELLED, "the client left") : FO_OK;
}

/* Completes the table of the first context found in the collection; *whole: it is all there. */
static int complete_table(service *s, const char *in, patience *p, bool *whole) {
    fo_err err = {0};
    query_request q = {.tenant = "default",
                       .collection = in,
                       .query = "Pot no. P40 20 EUR",
                       .top_k = 1,
                       .search = {.alpha = -1, .mode = SEARCH_SPARSE}};
    query_result r;
    assert_ok(service_query(s, &q, NULL, &r, &err), &err);
    assert_int_equal(r.n_contexts, 1);
    const store_chunk *k = &r.contexts[0].chunk;
    passage at = {.text = k->text, .len = k->text_len, .before = k->n_before};
    whole_passage grown = {0};
    whole_source from = {.store = s->store, .alive = still_there, .ctx = p};
    bool changed;
    int rc = whole_passages_tables(&from, r.contexts, 1, &at, &grown, NULL, &changed, &err);
    *whole = at.whole_tables;
    free(grown.memory);
    query_result_deinit(&r);
    return rc;
}

/* A table in very many chunks is not followed to its end, and not at all for a client that has left. */
static void the_steps_along_a_table_are_bounded(void **state) {
    (void)state;
    enum { MOST = 256, LAST_ONES = 2 };
    char *home = test_folder();
    service *s = open_home(home);
    for (int is_long = 0; is_long < 2; is_long++) {
        const char *name = is_long ? "long" : "short";
        char *text = price_list(is_long ? 900 : 60, 7, "ash");
        bool whole;
        assert_true(strlen(text) < 32768);
        put(s, name, "prices.md", text, strlen(text), 16);
        patience stays = {0};
        assert_int_equal(complete_table(s, name, &stays, &whole), FO_OK);
        assert_int_equal(whole, !is_long);
        assert_in_range(stays.n_asked, 20, MOST + LAST_ONES);
        for (size_t last = 1; last <= stays.n_asked; last += 37) {
            patience leaves = {.last = last};
            assert_int_equal(complete_table(s, name, &leaves, &whole), FO_ECANCELLED);
            assert_int_equal(leaves.n_asked, last);
        }
        free(text);
    }
    service_close(s);
    test_remove(home);
}

/* What is kept of a table that goes on behind the context serves until that document changes, however little. */
static void a_kept_answer_ends_with_the_rest_of_its_table(void **state) {
    (void)state;
    static const struct {
        size_t cheapest; /* of the list that comes in; 0: another document does */
        const char *says;
        enum cache_outcome outcome;
    } steps[] = {{27, "Pot no. P27;", CACHE_MISS},
                 {0, "Pot no. P27;", CACHE_HIT}, /* the list is what it was */
                 {29, "Pot no. P29;", CACHE_MISS},
                 {0, "Pot no. P29;", CACHE_HIT}};
    static const char other[] = "# Harbour\n\nThe ferry leaves at nine.\n";
    char *home = test_folder(), *context = NULL;
    service *s = open_home(home);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        char name[32];
        fo_err err = {0};
        char *text = price_list(29, steps[i].cheapest, "ash and iron");
        snprintf(name, sizeof name, "ferry%zu.md", i);
        if (steps[i].cheapest)
            put(s, "kept", "prices.md", text, strlen(text), 64);
        else
            put(s, "kept", name, other, sizeof other - 1, 64);
        query_request q = {.tenant = "default",
                           .collection = "kept",
                           .query = "Which pot of the workshop, thrown by hand, is the cheapest?",
                           .top_k = 1,
                           .generate = true,
                           .search = {.alpha = -1}};
        query_result r;
        assert_ok(service_query(s, &q, NULL, &r, &err), &err);
        assert_int_equal(r.n_contexts, 1);
        if (context) assert_string_equal(r.contexts[0].chunk.text, context);
        if (!context) context = strdup(r.contexts[0].chunk.text);
        if (!strstr(r.answer, steps[i].says) || r.cache.answer != steps[i].outcome)
            fail_msg("step %zu, %d: %s", i, (int)r.cache.answer, r.answer);
        query_result_deinit(&r);
        free(text);
    }
    free(context);
    service_close(s);
    test_remove(home);
}

/* Rows behind the chunk that has their header are read with it. */
static void rows_far_behind_their_header_have_it(void **state) {
    (void)state;
    char *home = test_folder();
    service *s = open_home(home);
    fo_buf b = {0};
    fo_buf_str(&b, "# Courses\n\n| No. | Course | Level | Place | Students | Staff |\n"
                   "|---|---|---|---|---|---|\n");
    static const char *const names[] = {"Badminton", "Yoga",    "Climbing", "Rowing",
                                        "Fencing",   "Archery", "Judo",     "Swimming"};
    for (size_t i = 0; i < 16; i++)
        fo_buf_printf(&b, "| %zu | %s | %s | Hall %zu behind the town pool | %zu EUR | %zu EUR |\n",
                      110 + i, names[i / 2], i % 2 ? "advanced" : "beginners", i % 3 + 1, 20 + i,
                      40 + i);
    fo_buf_str(&b, "\n## Gym\n\nThe gym costs students 18 EUR a month; staff pay 27 EUR.\n");
    assert_false(b.failed);
    put(s, "c", "courses.md", b.data, b.len, 96);
    query_result r = ask(s, "c", "How much do staff pay for advanced swimming?", false);
    if (!strstr(r.answer, "Course: Swimming; Level: advanced") || !strstr(r.answer, "55 EUR"))
        fail_msg("%s (%.2f)", r.answer, r.support);
    query_result_deinit(&r);
    fo_buf_free(&b);
    service_close(s);
    test_remove(home);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_cheapest_is_found_wherever_the_chunks_are_cut),
        cmocka_unit_test(all_rows_that_answer_alike_are_said),
        cmocka_unit_test(rows_of_both_things_are_said),
        cmocka_unit_test(rows_are_of_their_dates_and_turns),
        cmocka_unit_test(rows_far_behind_their_header_have_it),
        cmocka_unit_test(a_table_beyond_all_bounds_is_not_compared),
        cmocka_unit_test(the_steps_along_a_table_are_bounded),
        cmocka_unit_test(a_kept_answer_ends_with_the_rest_of_its_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
