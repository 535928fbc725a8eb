/* What is said beside the best sentence so that it is not half of the answer. */
#include "tests/test.h"

#include "retrieval/answer/extractive.h"
#include "tests/retrieval/text/lexicon_fixture.h"

static void answers(const char *text, const char *question, const char *want) {
    extractive_answer a;
    fo_err err = {0};
    const passage p = {.text = text, .len = strlen(text), .title = "Rules"};
    const extractive_input in = {.question = question,
                                 .passages = &p,
                                 .n_passages = 1,
                                 .lx = &lx,
                                 .max_sentences = 2,
                                 .min_support = -1};
    assert_ok(extractive_answer_make(&a, &in, &err), &err);
    if (strncmp(a.text, want, strlen(want)) != 0)
        fail_msg("%s: %s, wanted %s", question, a.text, want);
    extractive_answer_deinit(&a);
}

static void an_exception_stands_behind_its_rule(void **state) {
    (void)state;
    static const char rules[] = "Guests pay in advance. Alcohol and parking fines are not paid. "
                                "First class by rail is fine if "
                                "it was cheaper. Keep the receipt.";
    answers(
        rules, "May I go first class by rail?",
        "Alcohol and parking fines are not paid. First class by rail is fine if it was cheaper. "
        "[1]");
    static const char flat[] = "Please leave the flat by 10 am. In August we make no exceptions to "
                               "that. The pool closes at nine.";
    answers(flat, "Are there exceptions in August?",
            "Please leave the flat by 10 am. In August we make no exceptions to that. [1]");
    /* what points back at the rule and says what holds beyond it */
    static const char *const beyond[] = {"Work outside of these hours needs a written permission.",
                                         "Whoever comes outside those hours asks Dr. Gill.",
                                         "At other times Dr. Gill has the key.",
                                         "Ask Dr. Gill in other cases.",
                                         "For any other time Dr. Gill is asked.",
                                         "All others have the door opened for them."};
    for (size_t i = 0; i < sizeof beyond / sizeof *beyond; i++) {
        char text[256], want[264];
        snprintf(text, sizeof text, "The laboratory is open from 07:00 to 20:00. %s", beyond[i]);
        snprintf(want, sizeof want, "%s [1]", text);
        strcat(text, " The laboratory has ten benches.");
        answers(text, "When is the laboratory open?", want);
    }
    answers("The laboratory is open from 07:00 to 20:00. Other doors have bells.",
            "When is the laboratory open?", "The laboratory is open from 07:00 to 20:00. [1]");
    /* a rule alone is whole */
    answers("The kitchen is shared. Dogs are allowed on a lead. Cats stay at home.",
            "Are dogs allowed?", "Dogs are allowed on a lead.");
}

/* What stands before the best sentence and answers less is said behind it, unless that one points back at it. */
static void the_best_sentence_comes_first(void **state) {
    (void)state;
    answers("A single room costs 312 euros and a studio 405 euros a month. The deposit is 600 "
            "euros for rooms and 900 euros for studios.",
            "How much is the deposit for studios?",
            "The deposit is 600 euros for rooms and 900 euros for studios.");
    static const char heating[] = "From October to April the heating runs from 6 to 23 o'clock. "
                                  "When it is freezing it runs all night.";
    answers(heating, "Does the heating run all night when it is freezing?", heating);
    static const char duty[] = "Duty is paid with 180 pounds a week. Over Christmas the weekly sum "
                               "is doubled.";
    answers(duty, "What of the duty is doubled over Christmas?", duty);
}

/* What the best sentence names is spoken of in the next one, which has the rest of what was asked for. */
static void the_next_sentence_says_the_rest(void **state) {
    (void)state;
    static const char work[] = "Holidays are thirty days. The trial period is six months. During "
                               "it either side may give two "
                               "weeks' notice. The canteen is on the first floor.";
    answers(
        work, "What is the notice in the trial period?",
        "The trial period is six months. During it either side may give two weeks' notice. [1]");
}

/* A message is said whole, with its speaker; one that somebody asks stands before the answer. */
static void a_message_answers_with_its_speaker(void **state) {
    (void)state;
    static const char chat[] =
        "[28/05/2026, 18:02:11] Imke: the shed is locked at night\n"
        "[28/05/2026, 18:03:02] Bo: who has the spare key of the shed\n"
        "[28/05/2026, 18:03:40] Sunniva: Henk. He hides it behind the clock\n"
        "[28/05/2026, 18:05:01] Imke: the boiler is loud";
    answers(chat, "Who has the spare key of the shed?",
            "[28/05/2026, 18:03:02] Bo: who has the spare key of the shed "
            "[28/05/2026, 18:03:40] Sunniva: Henk. He hides it behind the clock [1]");
    answers(chat, "Is the boiler loud?", "[28/05/2026, 18:05:01] Imke: the boiler is loud [1]");
}

/* What was said before and has more of the question stands before it, with its time. */
static void a_message_stands_behind_what_it_speaks_of(void **state) {
    (void)state;
    answers("[11:03] Bo: the licence of the viewer expires, somebody should renew it.\n"
            "[11:05] Sunniva: I will. It was 1,140 euros last year.",
            "What did the licence of the viewer cost last year?",
            "[11:03] Bo: the licence of the viewer expires, somebody should renew it: "
            "[11:05] Sunniva: I will. It was 1,140 euros last year. [1]");
}

/* When it was sent is no time that a message names. */
static void the_time_of_a_message_is_none_that_it_says(void **state) {
    (void)state;
    static const char chat[] = "[28/05/2026, 18:02:11] Imke: the regatta starts at the island\n"
                               "[28/05/2026, 18:02:30] Sunniva: bring cups and tea\n"
                               "[28/05/2026, 18:03:40] Bo: the regatta starts at 11:30";
    answers(chat, "At what time does the regatta start?",
            "[28/05/2026, 18:03:40] Bo: the regatta starts at 11:30 [1]");
}

/* A whole answer, markers and all. */
static void answers_only(const char *text, const char *question, const char *want) {
    extractive_answer a;
    fo_err err = {0};
    const passage p = {.text = text, .len = strlen(text), .title = "Lake house"};
    const extractive_input in = {
        .question = question, .passages = &p, .n_passages = 1, .lx = &lx, .min_support = -1};
    assert_ok(extractive_answer_make(&a, &in, &err), &err);
    if (strcmp(a.text, want) != 0) fail_msg("%s: %s, wanted %s", question, a.text, want);
    for (size_t i = 0; i < a.n_citations; i++) assert_true(a.citations[i].verified);
    extractive_answer_deinit(&a);
}

static void an_item_is_said_with_the_item_it_stands_in(void **state) {
    (void)state;
    static const char boats[] =
        "# Boat hire\n\n- Kayak\n  - half day: 20 euros\n  - full day: 35 euros\n- Canoe\n"
        "  - half day: 30 euros\n  - full day: 50 euros\n- Pedal boat\n  - half day: 40 euros\n"
        "  - full day: 70 euros\n";
    answers_only(boats, "What does a canoe cost for a full day?", "Canoe: full day: 50 euros [1]");
    answers_only(boats, "What about the canoe?",
                 "Canoe: half day: 30 euros [1] full day: 50 euros [2]");
    answers_only(boats, "What does a canoe cost?",
                 "Canoe: half day: 30 euros [1] full day: 50 euros [2]");
    static const char rooms[] =
        "- **Kitchen**\n  - Lead: Anna Hart\n  - Phone: 21\n- **Workshop**\n  - Lead: Ben Lowe\n"
        "  - Phone: 22\n- **Garden**\n  - Lead: Cara Dunn\n  - Phone: 23\n";
    answers_only(rooms, "Who leads the kitchen?", "Kitchen: Lead: Anna Hart [1]");
    static const char paths[] =
        "# Paths\n\n- Heron loop\n  - gravel, flat\n  - 40 minutes\n  - prams: yes\n- Mill loop\n"
        "  - steps, mud\n  - two hours\n  - prams: no\n";
    answers_only(paths, "Heron loop?",
                 "Heron loop: gravel, flat [1] 40 minutes [2] prams: yes [3]");
    answers_only(
        paths, "What paths are there?",
        "Paths:\n- Heron loop\n - gravel, flat\n - 40 minutes\n - prams: yes\n- Mill loop\n"
        " - steps, mud\n - two hours\n - prams: no [1]");
    static const char bins[] = "# House rules\n\n- The bins stand behind the shed.\n"
                               "  - They are emptied on Tuesdays.\n- Cats are allowed.\n";
    answers_only(bins, "When are the bins emptied?",
                 "The bins stand behind the shed. They are emptied on Tuesdays. [1]");
    static const char hours[] =
        "## Opening hours\n\n- Monday\n  - Kitchen\n    - 9 to 5\n  - Hall\n"
        "    - 8 to 6\n- Tuesday\n  - Kitchen\n    - 10 to 4\n  - Hall\n"
        "    - 7 to 3\n";
    answers_only(hours, "When is the kitchen open on Tuesday?",
                 "Tuesday:\n- Kitchen\n - 10 to 4 [1]");
}

static void each_paragraph_is_a_quote_of_its_own(void **state) {
    (void)state;
    static const char plays[] = "Bring a coat. The first play has an interval.\n\n"
                                "The second one, by the judge, is a short play.\n";
    answers_only(plays, "Has the play by the judge an interval?",
                 "The second one, by the judge, is a short play. [1] The first play has an "
                 "interval. [2]");
}

static void a_sentence_is_said_with_the_name_of_its_paragraph(void **state) {
    (void)state;
    static const char plays[] =
        "The plays\n\nWinter Guests by Lotte Brandt. Directed by Hugh Sorley. "
        "It lasts 110 minutes.\n\nNine Buttons, for children. Directed by "
        "Beate Falke. It lasts 60 minutes.\n";
    answers(plays, "How many minutes does Winter Guests last?",
            "Winter Guests by Lotte Brandt: Directed by Hugh Sorley. It lasts 110 minutes. [1]");
    /* ... which is not said by itself besides */
    answers(plays, "Who directed Nine Buttons?",
            "Nine Buttons, for children: Directed by Beate Falke. It lasts 60 minutes. [1]");
}

static void a_short_reply_is_said_with_the_question_it_replies_to(void **state) {
    (void)state;
    static const char text[] = "### Does the mill need a motor?\n\nNo. The mill is driven by water "
                               "alone, also in winter.\n";
    answers(text, "Does the mill need a motor?",
            "No. The mill is driven by water alone, also in winter.");
    answers(text, "Is the mill driven by water in winter?",
            "Does the mill need a motor? No. The mill is driven by water alone, also in winter.");
}

static void a_line_of_chinese_breaks_without_a_blank(void **state) {
    (void)state;
    /* The deposit is given back three months after the works were found in order; "QF-12 washes quietly". */
    answers("装修完工后\n  经验收合格，押金在三个月后\n无息退还。", "押金什么时候退还？",
            "装修完工后经验收合格，押金在三个月后无息退还。 [1]");
    answers("装修完工后\nQF-12 经验收合格，押金退还。", "押金什么时候退还？",
            "装修完工后 QF-12 经验收合格，押金退还。 [1]");
}

static void a_word_that_breaks_at_its_hyphen_is_one_word(void **state) {
    (void)state;
    answers("The party in the hall ends shortly after mid-\nnight on every day.",
            "When does the party end?",
            "The party in the hall ends shortly after mid-night on every day. [1]");
    answers("The party in the hall has a half-\nand a full-day rate at 12 euros.",
            "What rate has the party?",
            "The party in the hall has a half- and a full-day rate at 12 euros. [1]");
}

/* What "this" would do cannot be read without what is typed. */
static void what_an_example_does_is_said_behind_it(void **state) {
    (void)state;
    static const char text[] = "Ports are chosen at random.\n\n"
                               "An example of the directive is:\n\nacquisitionport 1123\n\n"
                               "This would change the source port of requests to 1123.\n\n"
                               "The cache is small.\n";
    answers(text, "How can I change the source port of requests?",
            "An example of the directive is:\nacquisitionport 1123 [1] "
            "This would change the source port of requests to 1123. [2]");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_an_example_does_is_said_behind_it),
        cmocka_unit_test(a_short_reply_is_said_with_the_question_it_replies_to),
        cmocka_unit_test(a_line_of_chinese_breaks_without_a_blank),
        cmocka_unit_test(a_word_that_breaks_at_its_hyphen_is_one_word),
        cmocka_unit_test(an_exception_stands_behind_its_rule),
        cmocka_unit_test(the_best_sentence_comes_first),
        cmocka_unit_test(the_next_sentence_says_the_rest),
        cmocka_unit_test(a_message_answers_with_its_speaker),
        cmocka_unit_test(a_message_stands_behind_what_it_speaks_of),
        cmocka_unit_test(the_time_of_a_message_is_none_that_it_says),
        cmocka_unit_test(an_item_is_said_with_the_item_it_stands_in),
        cmocka_unit_test(each_paragraph_is_a_quote_of_its_own),
        cmocka_unit_test(a_sentence_is_said_with_the_name_of_its_paragraph),
    };
    return cmocka_run_group_tests(tests, open_lexicon, close_lexicon);
}
