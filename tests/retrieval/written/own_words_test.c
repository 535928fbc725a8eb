/* own_words_test.c - a short answer is said as its document says it, and a sentence is left alone. */
#include "tests/test.h"

#include <string.h>

#include "retrieval/written/own_words.h"
#include "tests/retrieval/text/lexicon_fixture.h"

static void check(const char *question, const char *answer, const char *span, const char *want) {
    fo_buf out = {0};
    fo_err err = {0};
    assert_ok(own_words(&out,
                        &(own_words_input){.analyzer = lx.analyzer,
                                           .answer = answer,
                                           .n_answer = strlen(answer),
                                           .span = span,
                                           .n_span = strlen(span),
                                           .question = question},
                        &err),
              &err);
    fo_buf_add(&out, "", 0);
    const char *said = out.len ? out.data : "";
    if (strcmp(said, want) != 0) fail_msg("%s: '%s' became '%s'", question, answer, said);
    fo_buf_free(&out);
}

static void a_phrase_is_said_as_the_document_says_it(void **state) {
    (void)state;
    check("When was the gun ordered?", "July 8, 1914", "On 8 July 1914 the first\ngun was ordered.",
          "8 July 1914");
    check("What are the most popular sports?", "Hockey, cycling",
          "The most popular sports are hockey\nand cycling.", "Hockey and cycling");
    check("What is the lowest temperature?",
          "\xE2\x88\x92"
          "2.8 \xC2\xB0"
          "C",
          "The lowest was \xE2\x88\x92"
          "2.8 \xC2\xB0"
          "C (27.0 \xC2\xB0"
          "F), in July.",
          "\xE2\x88\x92"
          "2.8 \xC2\xB0"
          "C (27.0 \xC2\xB0"
          "F)");
    check("Who blocked the relief?", "Imke", "It was blocked by Imke's boats at night.",
          "Imke's boats");
    check("When did they close?", "Night, 1:00 a.m. to 6:00 a.m.",
          "They closed at night from 1:00 a.m. to 6:00 a.m., and on Sundays.",
          "Night from 1:00 a.m. to 6:00 a.m.");
    check("Who helped?", "Poets, sailors",
          "They were helped by sailors and poets.[citation needed]", "Sailors and poets");
    check("Which kind of grapes has no seeds?", "Table.", "Table grapes have no seeds.",
          "Table grapes.");
    check("How tall is the heron?", "one metre", "It stands one metre tall.", "one metre tall");
    check("Which temperature is kept?",
          "12\xC2\xB0"
          "C",
          "The house is kept at 12 \xC2\xB0"
          "C by day.",
          "12 \xC2\xB0"
          "C");
    check("What was it about?", "The heat", "It was about the heat of the sun.", "");
    check("What was it about?", "The radiation heat", "It was about the heat, and the radiation.",
          "The heat, and the radiation");
}

/* An amount is half an answer without what limits it. */
static void an_amount_keeps_its_limits(void **state) {
    (void)state;
    static const char ticket[] =
        "A ticket may be changed free of charge until 24 hours before departure; after that, half "
        "the price is kept.";
    check("How late may it be changed?", "24 hours", ticket, "24 hours before departure");
    check("What is kept?", "half the price", ticket, "");
    check("What does the card cost?", "24 euros", "It costs 24 euros a year, and is worth it.",
          "24 euros a year");
    check("How many come?", "12", "At least 12 people come, and not more than 30 stay.",
          "At least 12");
    check("How many stay?", "30", "At least 12 come, and not more than 30 visitors stay.",
          "not more than 30");
    check("How long does it last?", "3 hours", "It lasts 3 hours. Until then, wait.", "");
    check("How much room?", "40 cm", "It has 40 cm of room.", "");
    check("What does it burn?", "2 litres", "It burns 2 litres of oil an hour, or less.",
          "2 litres of oil an hour");
}

static void what_is_no_phrase_of_the_document_stays(void **state) {
    (void)state;
    const char *heron = "The grey heron, which is common, stands one metre tall in spring.";
    check("How tall is the heron?", "The heron stands one metre tall.", heron, "");
    check("Which height?", "one metre", heron, "");
    check("What does it do?", "It stands in spring.", "Tall in spring it stands.", "");
    check("How tall is the heron?", "two metres", heron, "");              /* a word is missing */
    check("When does it breed?", "Common in spring", heron, "");           /* too far apart */
    check("When?", "1914", "He left in 1914 (and his wife in 1920).", ""); /* no amount */
    check("What may be used?", "Grebe and Teal", "Teal, not Grebe, may be used.", ""); /* denied */
    check("Who?", "", heron, "");
    check("Who?", "...", heron, "");
    check("Who?", "The", heron, "");
    check("", "Grey", "", "");
}

/* Any bytes: what is said is the span's, and short. */
static void any_bytes_give_words_of_the_span(void **state) {
    (void)state;
    static const char *const bits[] = {"Imke", "'s",           " ",     "(",  ")",
                                       "7",    "\xE2\x88\x92", " the ", ", ", "\xFF",
                                       "not ", "boats",        "\n",    ".",  "\xC2\xB0"};
    unsigned seed = 7;
    for (int round = 0; round < 20000; round++) {
        char text[3][64];
        for (int k = 0; k < 3; k++) {
            text[k][0] = 0;
            for (int i = 0; i < 6; i++) {
                seed = seed * 1103515245u + 12345u;
                strcat(text[k], bits[(seed >> 16) % (sizeof bits / sizeof *bits)]);
            }
        }
        fo_buf out = {0};
        fo_err err = {0};
        own_words_input in = {lx.analyzer, text[0],         strlen(text[0]),
                              text[1],     strlen(text[1]), text[2]};
        assert_ok(own_words(&out, &in, &err), &err);
        assert_true(out.len <= strlen(text[1]) + 1);
        fo_buf_free(&out);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_phrase_is_said_as_the_document_says_it),
        cmocka_unit_test(an_amount_keeps_its_limits),
        cmocka_unit_test(what_is_no_phrase_of_the_document_stays),
        cmocka_unit_test(any_bytes_give_words_of_the_span),
    };
    return cmocka_run_group_tests(tests, open_lexicon, close_lexicon);
}
