/* First questions: what sentences, lines and titles make of them, and what they make none of. */
#include "tests/test.h"

#include "retrieval/service/suggestions.h"
#include "tests/other_embedder.h"
#include "tests/retrieval/service/damaged_page.h"
#include "tests/retrieval/scripted_generator.h"
#include "tests/retrieval/service/home_fixture.h"

static void sentences_make_questions(void **state) {
    (void)state;
    static const char *const made[][2] = {
        {"When the red flag is up, the mill is closed", "What happens when the red flag is up?"},
        {"If a lamp of the pump fails, call the warden",
         "What happens if a lamp of the pump fails?"},
        {"The north pump is serviced every 400 hours", "How often is the north pump serviced?"},
        {"The peat cores are kept in the cellar", "Where are the peat cores kept?"},
        {"If it rains on the day, it is put off", "What happens if it rains on the day?"},
        {"The gate is closed at 22:00", "When is the gate closed?"},
        {"The bottles are\nchanged before the frost", "When are the bottles changed?"},
    };
    static const char *const none[] = {
        "",
        "It is kept in the cellar",
        "The heron is tall",
        "The heron is a bird that nests in trees",
        "When it rains, stay",
        "If it is more than ten days late, a fee is due",
        "When they are in the cellar again, close the door",
        "When the pump of the (old) mill is on, wait",
        "The pump /etc/x is kept in the cellar",
        "The cellar is closed",
        "The north pump is serviced by the warden",
        "When",
        "The  is kept in a",
        "The question being asked is named in the log",
        "The market is held in March",
    };
    char q[200];
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
        if (!suggestion_of_sentence(made[i][0], strlen(made[i][0]), q, sizeof q))
            fail_msg("no question of '%s'", made[i][0]);
        assert_string_equal(q, made[i][1]);
    }
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        if (suggestion_of_sentence(none[i], strlen(none[i]), q, sizeof q))
            fail_msg("'%s' of '%s'", q, none[i]);
}

static void lines_and_titles_make_questions(void **state) {
    (void)state;
    static const struct {
        const char *line;
        bool title;
        const char *question; /* NULL: none */
    } cases[] = {
        {"How do I leave?", false, "How do I leave?"},
        {"  Where is the key?  ", false, "Where is the key?"},
        {"Really?", false, NULL},
        {"Drinking water", false, "What is said about drinking water?"},
        {"A reading as a line", false, "What is said about a reading as a line?"},
        {"How to change a lamp", false, "How do I change a lamp?"},
        {"Cooking", false, NULL},
        {"a line of text that goes on", false, NULL},
        {"GET /documents and others", false, NULL},
        {"grep, egrep - print lines that match patterns", true,
         "How can I print lines that match patterns?"},
        {"2. Duties of the hirer", false, "What is said about duties of the hirer?"},
        {"Q: Where is the key?", false, "Where is the key?"},
        {"Hi all,", false, NULL},
        {"Dear residents", false, NULL},
        {"Drinking water", true, NULL},
        {"capsh - capability shell wrapper", true, NULL},
        {"cut - Remove sections from each line", true, NULL},
        {"", false, NULL},
        {"COMMAND SYNOPSIS", false, NULL},
    };
    char q[200];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool made =
            suggestion_of_line(cases[i].line, strlen(cases[i].line), cases[i].title, q, sizeof q);
        if (made != (cases[i].question != NULL)) fail_msg("%s: %s", cases[i].line, made ? q : "-");
        if (made) assert_string_equal(q, cases[i].question);
    }
    assert_false(suggestion_of_line("Where is the key?", 17, false, q, 8)); /* no room */
}

static void rows_make_questions(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"Name: Amira Holt; Joined: 2019; Phone: 555-0101", "What is the phone of Amira Holt?"},
        {"Item: Rent; Per month: 1,150; Remark: rises", NULL},
        {"Instrument: Tuba; Lent to: L. Kerr; In stock: 1", NULL},
        {"Item: cordless drill; Number: 3; Price: 119.9",
         "What is the number of the cordless drill?"},
        {"Item: saw; Bought: 2019", NULL},
        {"Week: 31; Opens: Ada", NULL},
        {"Room: Great hall; Residents: 180; Others: 260", NULL},
        {"It rains; bring a coat.", NULL},
        {"", NULL},
    };
    char q[200];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool made = suggestion_of_row(cases[i][0], strlen(cases[i][0]), q, sizeof q);
        if (made != (cases[i][1] != NULL)) fail_msg("%s: %s", cases[i][0], made ? q : "-");
        if (made) assert_string_equal(q, cases[i][1]);
    }
    assert_false(suggestion_of_row("Name: Amira Holt; Phone: 555-0101", 33, q, 8)); /* no room */
}

static void put_text(service *s, const char *id, const char *text) {
    assert_int_equal(put_note(s, id, NULL, text, strlen(text)), INGEST_CREATED);
}

static size_t suggest(service *s, suggestion **list) {
    suggestion_request q = {
        .tenant = "default", .owner = "", .collection = "notes", .limit = 4, .budget_ms = 60000};
    size_t n;
    fo_err err = {0};
    assert_ok(service_suggest(s, &q, list, &n, &err), &err);
    return n;
}

static void expect_none(service *s) {
    suggestion *list;
    assert_int_equal(suggest(s, &list), 0);
    free(list);
}

/* What the caches say where the one that is suggested is asked as the page asks it. */
static void take_up(service *s, enum cache_outcome answer, enum cache_outcome retrieval) {
    fo_err err = {0};
    suggestion *list;
    put_text(s, "pump", "The north pump is serviced every 400 hours.");
    assert_int_equal(suggest(s, &list), 1);
    query_request ask = {.tenant = "default",
                         .collection = "notes",
                         .query = list[0].query,
                         .search = {.alpha = -1},
                         .generate = true,
                         .strict = true,
                         .short_answer = true};
    query_result r;
    assert_ok(service_query(s, &ask, NULL, &r, &err), &err);
    assert_int_equal(r.cache.answer, answer);
    assert_int_equal(r.cache.retrieval, retrieval);
    query_result_deinit(&r);
    free(list[0].query);
    free(list);
}

static void what_is_suggested_is_answered_already(void **state) {
    (void)state;
    char *home = test_folder();
    service *s = open_home(home);
    take_up(s, CACHE_HIT, CACHE_BYPASSED);
    service_close(s);
    test_remove(home);
}

static void of_what_a_model_would_answer_the_contexts_are_at_hand(void **state) {
    (void)state;
    static script p = {.says = "The north pump is serviced every 400 hours."};
    char *home = test_folder();
    service *s = open_home_with((service_options){
        .home = home, .n_threads = 2, .primes_per_s = -1, .generator = scripted_generator(&p)});
    take_up(s, CACHE_MISS, CACHE_HIT);
    service_close(s);
    test_remove(home);
}

/* The damaged one is among the contexts of each question. */
static void a_question_that_fails_is_no_error(void **state) {
    (void)state;
    char *home = test_folder(), *text = long_text("The peat cores are kept in the cellar. ");
    service *s = open_home(home);
    put_text(s, "peat", text);
    put_text(s, "pump", "The peat pump is serviced every 400 hours.");
    service_close(s);
    damage_mark(home);
    s = open_home(home);
    expect_none(s);
    service_close(s);
    free(text);
    test_remove(home);
}

static void of_another_model_none_is_suggested(void **state) {
    (void)state;
    char *home = test_folder(), *model = other_embedder(home);
    service *s = open_home_with(
        (service_options){.home = home, .n_threads = 2, .primes_per_s = -1, .embed_model = model});
    put_text(s, "pump", "The north pump is serviced every 400 hours.");
    service_close(s);
    s = open_home(home);
    expect_none(s);
    service_close(s);
    free(model);
    test_remove(home);
}

/* To be sure of a text all of it is read: too much for a question, of one or of many. */
static void of_very_long_texts_none_is_made(void **state) {
    (void)state;
    enum { LONG = 9 << 20 };
    char *home = test_folder(), *text = malloc(LONG);
    assert_non_null(text);
    static const char first[] = "The north pump is serviced every 400 hours. ";
    memset(text, '-', LONG); /* rules, of which hardly a chunk is made */
    memcpy(text, first, sizeof first - 1);
    service *s = open_home(home);
    assert_int_equal(put_note(s, "long", NULL, text, LONG), INGEST_CREATED);
    expect_none(s);
    suggestion *list;
    put_text(s, "peat", "The peat cores are kept in the cellar.");
    assert_int_equal(suggest(s, &list), 1);
    assert_string_equal(list[0].query, "Where are the peat cores kept?");
    free(list[0].query);
    free(list);
    service_close(s);
    free(text);
    test_remove(home);
}

static void who_has_left_waits_for_no_document(void **state) {
    (void)state;
    char *home = test_folder();
    service *s = open_home(home);
    put_text(s, "heron", "The heron is tall."); /* of which no question is made */
    expect_none(s);
    atomic_bool gone = true;
    suggestion_request q = {.tenant = "default",
                            .owner = "",
                            .collection = "notes",
                            .limit = 4,
                            .budget_ms = 60000,
                            .cancel = &gone};
    suggestion *list;
    size_t n;
    fo_err err = {0};
    assert_int_equal(service_suggest(s, &q, &list, &n, &err), FO_ECANCELLED);
    service_close(s);
    test_remove(home);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sentences_make_questions),
        cmocka_unit_test(lines_and_titles_make_questions),
        cmocka_unit_test(rows_make_questions),
        cmocka_unit_test(a_question_that_fails_is_no_error),
        cmocka_unit_test(of_very_long_texts_none_is_made),
        cmocka_unit_test(who_has_left_waits_for_no_document),
        cmocka_unit_test(of_another_model_none_is_suggested),
        cmocka_unit_test(what_is_suggested_is_answered_already),
        cmocka_unit_test(of_what_a_model_would_answer_the_contexts_are_at_hand),
    };
    return cmocka_run_group_tests_name("suggestions", tests, NULL, NULL);
}
