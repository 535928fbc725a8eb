/* Follow-up questions made whole. */
#include "tests/test.h"

#include "index/sparse/analyze.h"
#include "retrieval/conversation/rewrite.h"

static float flat(void *ctx, const char *term, size_t len) {
    (void)ctx, (void)term;
    return len > 4 ? 3 : 1; /* longer words are rarer */
}

static char *rewrite(const prompt_turn *turns, size_t n, const char *question) {
    fo_err err = {0};
    analyzer *words = NULL;
    assert_ok(analyzer_create(&words, "english", &err), &err);
    lexicon lx = {words, flat, NULL};
    char *out = NULL;
    bool whole;
    assert_ok(query_rewrite(&out, &whole, &lx, turns, n, question, &err), &err);
    analyzer_free(words);
    return out;
}

static const prompt_turn bridge[] = {{false, "When was the Harbour Bridge of Sydney opened?"},
                                     {true, "It was opened in 1932 by the premier Lang."}};

static void a_question_that_stands_alone_is_left_as_it_is(void **state) {
    (void)state;
    static const char whole[] = "Which rivers of Brazil carry the most water in April?";
    char *s = rewrite(bridge, 2, whole);
    assert_string_equal(s, whole);
    free(s);
    s = rewrite(NULL, 0, "And who built it?");
    assert_string_equal(s, "And who built it?");
    free(s);
}

static void a_question_that_stands_alone_does_not_lean(void **state) {
    (void)state;
    static const struct {
        const char *question;
        bool leans;
    } cases[] = {{"How do I start the server?", false},           {"Who built it?", true},
                 {"And how do I start the server?", false},       {"And how does it start?", true},
                 {"What about tunnels, and them?", true},         {"Why?", true},
                 {"Where do the ferries of Manly depart?", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *s = rewrite(bridge, 2, cases[i].question);
        assert_memory_equal(s, cases[i].question, strlen(cases[i].question));
        size_t n_added = 0;
        for (const char *p = s + strlen(cases[i].question); *p; p++) n_added += *p == ' ';
        assert_true(cases[i].leans ? n_added >= 3 : n_added <= 2);
        free(s);
    }
}

static void a_pronoun_brings_the_names_it_stands_for(void **state) {
    (void)state;
    char *s = rewrite(bridge, 2, "And who built it?");
    assert_non_null(strstr(s, "And who built it? "));
    assert_non_null(strstr(s, "Harbour"));
    assert_non_null(strstr(s, "Bridge"));
    assert_null(strstr(s, "premier")); /* of the user's turns alone */
    free(s);
}

static void nothing_is_said_twice_and_the_latest_turn_counts_most(void **state) {
    (void)state;
    const prompt_turn turns[] = {
        {false, "Penguins penguins penguins antarctica icebergs glaciers fjords tundra walrus"},
        {true, "Yes."},
        {false, "Elephants savannah"},
        {true, "Yes."}};
    char *s = rewrite(turns, 4, "Where do they sleep, the elephants?");
    const char *first = strstr(s, "lephants");
    assert_null(strstr(first + 1, "lephants")); /* the question says it already */
    const char *savannah = strstr(s, "savannah");
    assert_non_null(savannah);
    const char *penguins = strstr(s, "enguins");
    assert_true(!penguins || !strstr(penguins + 1, "enguins"));
    free(s);
}

static void expect_rewritten(const prompt_turn *turns, size_t n, const char *asked,
                             const char *want) {
    char *s = rewrite(turns, n, asked);
    assert_string_equal(s, want);
    free(s);
}

static void a_short_question_that_stands_alone_is_given_no_words(void **state) {
    (void)state;
    static const char *const alone[] = {"is there anywhere to park?", "can I smoke?",
                                        "do I need a licence?", "can I bring two things?",
                                        "is there a toilet at the quay?"};
    for (size_t i = 0; i < sizeof alone / sizeof *alone; i++)
        expect_rewritten(bridge, 2, alone[i], alone[i]);
    expect_rewritten(bridge, 2, "how do we get there?",
                     "how do we get there? Harbour Bridge Sydney opened");
    expect_rewritten(bridge, 2, "what if it's windy?",
                     "what if it's windy? Harbour Bridge Sydney opened");
    expect_rewritten(bridge, 2, "until when is it walked on then",
                     "until when is it walked on then Harbour Bridge Sydney opened");
}

static void what_is_counted_was_said_before(void **state) {
    (void)state;
    static const prompt_turn turns[] = {{false, "What about the boats?"}, {true, "Two punts."}};
    expect_rewritten(turns, 2, "how many are there?", "how many are there? boats");
    expect_rewritten(turns, 2, "And how many do you have?", "And how many do you have? boats");
    expect_rewritten(turns, 2, "how many beds are there?", "how many beds are there?");
}

static void things_are_taken_before_what_was_done_with_them(void **state) {
    (void)state;
    const prompt_turn turns[] = {
        {false, "hi! we'd really quickly gladly simply cheaply like wanting travelling to rent the "
                "old houseboat in the harbour for a weekend"}};
    char *s = rewrite(turns, 1, "what does it cost?");
    assert_true(strstr(s, "houseboat") && strstr(s, "harbour") && strstr(s, "weekend"));
    assert_false(strstr(s, "we'd") || strstr(s, "hi "));
    free(s);
}

static void half_a_question_without_a_place_leaves_the_one_before_it(void **state) {
    (void)state;
    const prompt_turn turns[] = {{false, "What does an adult pay for the outdoor pool?"},
                                 {true, "6.50"},
                                 {false, "and for both?"},
                                 {true, "9.00"}};
    expect_rewritten(turns, 4, "children?", "What does children pay for the outdoor pool?");
}

static void what_is_put_right_is_not_asked_again(void **state) {
    (void)state;
    const prompt_turn turns[] = {{false, "How many people fit into the ballroom?"},
                                 {true, "120."},
                                 {false, "and the pavilion?"},
                                 {true, "40."},
                                 {false, "what does it cost? we are no members"},
                                 {true, "15 euros."}};
    char *s = rewrite(turns, 6, "no, the larger one");
    assert_null(strstr(s, "pavilion"));
    assert_non_null(strstr(s, "ballroom"));
    free(s);
}

static void what_is_spoken_of_outlasts_turns_that_name_nothing(void **state) {
    (void)state;
    const prompt_turn turns[] = {{false, "What about the rowing boats?"},
                                 {true, "They are drawn up."},
                                 {false, "how many are there?"},
                                 {true, "Three."},
                                 {false, "And what do they cost?"},
                                 {true, "Nothing."},
                                 {false, "thanks!"},
                                 {true, "You are welcome."}};
    char *s = rewrite(turns, 8, "which of them has an engine?");
    assert_non_null(strstr(s, "boats"));
    free(s);
    s = rewrite(turns, 8, "why?");
    assert_non_null(strstr(s, "boats"));
    free(s);
    const prompt_turn other[] = {
        {false, "What about the rowing boats?"}, {true, "They are drawn up."},
        {false, "Where is the harbour office?"}, {true, "At the quay."},
        {false, "Who has the spare lantern?"},   {true, "The warden."}};
    s = rewrite(other, 6, "why?"); /* two others were spoken of since */
    assert_null(strstr(s, "boats"));
    free(s);
    const prompt_turn newer[] = {{false, "How long do the batteries last?"},
                                 {true, "Four months."},
                                 {false, "Thank you!"},
                                 {true, "You are welcome."},
                                 {false, "What about the weather station?"},
                                 {true, "It stands on the knoll."}};
    expect_rewritten(newer, 6, "when was it serviced?",
                     "when was it serviced? weather station"); /* the nearest thing */
}

/* "Who does it in winter?" is about the same thing as the question before it. */
static void a_circumstance_is_no_thing_to_speak_of(void **state) {
    (void)state;
    prompt_turn turns[] = {{false, "How often is the moth trap emptied?"},
                           {true, "Each morning."},
                           {false, "Who does it?"},
                           {true, "The warden."},
                           {false, "and in winter?"},
                           {true, "Nobody."}};
    expect_rewritten(turns, 6, "What is it powered by?",
                     "What is it powered by? often moth trap emptied winter");
    turns[4].text = "and the lantern?"; /* this is one */
    char *s = rewrite(turns, 6, "What is it powered by?");
    assert_non_null(strstr(s, "lantern"));
    assert_null(strstr(s, "moth"));
    free(s);
}

static void a_lengthy_or_hostile_history_is_no_trouble(void **state) {
    (void)state;
    size_t n = 1 << 20;
    char *flood = malloc(n + 1);
    for (size_t i = 0; i < n; i++) flood[i] = i % 7 == 6 ? ' ' : (char)('a' + i % 26);
    flood[n] = 0;
    flood[4095] = '\xe2'; /* a character cut where the turn is */
    const prompt_turn turns[] = {{false, flood}, {true, flood}, {false, ""}};
    char *s = rewrite(turns, 3, "why?");
    assert_true(strlen(s) < 1000);
    assert_memory_equal(s, "why?", 4);
    free(s);
    free(flood);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_question_that_stands_alone_is_left_as_it_is),
        cmocka_unit_test(a_pronoun_brings_the_names_it_stands_for),
        cmocka_unit_test(nothing_is_said_twice_and_the_latest_turn_counts_most),
        cmocka_unit_test(a_question_that_stands_alone_does_not_lean),
        cmocka_unit_test(a_short_question_that_stands_alone_is_given_no_words),
        cmocka_unit_test(what_is_counted_was_said_before),
        cmocka_unit_test(things_are_taken_before_what_was_done_with_them),
        cmocka_unit_test(half_a_question_without_a_place_leaves_the_one_before_it),
        cmocka_unit_test(what_is_put_right_is_not_asked_again),
        cmocka_unit_test(what_is_spoken_of_outlasts_turns_that_name_nothing),
        cmocka_unit_test(a_circumstance_is_no_thing_to_speak_of),
        cmocka_unit_test(a_lengthy_or_hostile_history_is_no_trouble),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
