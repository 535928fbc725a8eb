/* span_reading_test.c - of words that stand in one support, those hold that answer the question. */
#include "tests/test.h"

#include <string.h>

#include "retrieval/written/span_reading.h"
#include "tests/retrieval/text/lexicon_fixture.h"

static reader *open_reader(void) {
    reader *r = NULL;
    fo_err err = {0};
    assert_ok(reader_open(&r, NULL, &(reader_options){.cache_bytes = 1 << 20}, &err), &err);
    return r;
}

static passage page_of(const char *text) {
    return (passage){.text = text, .len = strlen(text), .title = ""};
}

static span_reading_input input_of(reader *r, const char *question, const passage *p,
                                   const char *answer) {
    return (span_reading_input){.reader = r,
                                .lx = &lx,
                                .question = question,
                                .passage = p,
                                .end = p->len,
                                .answer = answer,
                                .n_answer = strlen(answer)};
}

static bool holds(reader *r, const char *question, const char *text, const char *answer) {
    bool out;
    fo_err err = {0};
    const passage p = page_of(text);
    const span_reading_input in = input_of(r, question, &p, answer);
    assert_ok(span_reading_holds(&out, &in, &err), &err);
    return out;
}

static void words_that_answer_hold(void **state) {
    (void)state;
    static const struct {
        const char *text, *question, *right, *wrong;
    } cases[] = {
        {"Vehicles must be at the quay 40 minutes before departure, people on foot 15 minutes.",
         "How early must cars be at the quay?", "40 minutes", "15 minutes"},
        {"Dogs stay outside, except guide dogs. Food stays in the bag.",
         "Which dogs may enter the library?", "Guide dogs", "Outside"},
        {"The refrigerator is kept at 5 degrees Celsius; the freezer at minus 18.",
         "How cold is the freezer kept?", "Minus 18", "5 degrees Celsius"},
        {"The council chose a new president, Ada Stroem, and a new harbour master, Nils Berg.",
         "Who is the new harbour master?", "Nils Berg.", "Ada Stroem."},
    };
    reader *r = open_reader();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (!holds(r, cases[i].question, cases[i].text, cases[i].right))
            fail_msg("'%s' does not hold", cases[i].right);
        if (holds(r, cases[i].question, cases[i].text, cases[i].wrong))
            fail_msg("'%s' holds", cases[i].wrong);
        assert_true(holds(NULL, cases[i].question, cases[i].text, cases[i].wrong));
    }
    reader_close(r);
}

/* The support says it, and another unit says what was asked for. */
static void the_unit_that_answers_best_is_held_against_another(void **state) {
    (void)state;
    const passage lost = page_of("A card that was lost costs 2 euros."),
                  card = page_of("The full card costs 24 euros a year; for students it is free.");
    bool out;
    fo_err err = {0};
    reader *r = open_reader();
    span_reading_input in = input_of(r, "What does the full card cost?", &lost, "2 euros");
    assert_ok(span_reading_holds(&out, &in, &err), &err);
    assert_true(out);
    in.lead = &card;
    in.lead_end = card.len;
    assert_ok(span_reading_holds(&out, &in, &err), &err);
    assert_false(out);
    reader_close(r);
}

static void points_at(reader *r, const char *question, const char *text, const char *answer,
                      const char *want) {
    size_t from, to;
    fo_err err = {0};
    const passage p = page_of(text);
    const span_reading_input in = input_of(r, question, &p, answer);
    assert_ok(span_reading_short(&from, &to, &in, &err), &err);
    if (to - from != strlen(want) || memcmp(answer + from, want, to - from) != 0)
        fail_msg("%s '%.*s', not '%s'", question, (int)(to - from), answer + from, want);
}

static void the_few_words_that_answer_are_pointed_out(void **state) {
    (void)state;
    reader *r = open_reader();
    static const char ferry[] =
        "Tickets may be changed until 24\nhours before departure; the office opens at noon.";
    static const char said[] =
        "Tickets may be changed until 24 hours before departure; the office opens at noon.";
    points_at(r, "Until when may tickets be changed?", ferry, said, "24 hours before departure");
    points_at(r, "When does the office open?", ferry, said, "noon");
    points_at(r, "When does the office open?", ferry, "Something else.", "");
    points_at(r, "When does the office open?", "The office\nopens\n\nat noon",
              "The office\nopens\nat noon", "at noon");
    points_at(r, "How do I open the office?", "1. Take the key.\n2. Open the door.",
              "1. Take the key.\n2. Open the door.", ""); /* all of it is the answer */
    points_at(r, "Who wrote the opera about the whale?", ferry, said, ""); /* not sure */
    points_at(r, "How cold is the freezer kept?",
              "The refrigerator is kept at 5 degrees Celsius; the freezer at minus 18.",
              "The refrigerator is kept at 5 degrees Celsius; the freezer at minus 18.",
              "minus 18");
    points_at(NULL, "When does the office open?", ferry, said, "");
    points_at(r, "When?", "", "", "");
    reader_close(r);
}

static void points_at_of(reader *r, const char *title, const char *question, const char *want) {
    size_t from, to;
    fo_err err = {0};
    passage p = page_of(title);
    p.title = title;
    const span_reading_input in = input_of(r, question, &p, title);
    assert_ok(span_reading_short(&from, &to, &in, &err), &err);
    if (to - from != strlen(want) || memcmp(title + from, want, to - from) != 0)
        fail_msg("%s '%.*s', not '%s'", question, (int)(to - from), title + from, want);
}

/* Of the line by which a page of a manual is called, all that stands at one side of the dash is the answer. */
static void a_line_of_a_name_answers_with_one_side_of_it(void **state) {
    (void)state;
    reader *r = open_reader();
    static const char sum[] = "cksum - compute and verify file checksums",
                      h2xs[] = "h2xs - convert .h C header files to Perl extensions",
                      sasl[] = "libsasl - authentication library",
                      tick[] = "tick - wake the machine at midnight",
                      node[] = "mknod - make block or character special files";
    points_at_of(r, sum, "What does cksum do?", "compute and verify file checksums");
    points_at_of(r, h2xs, "What is h2xs?", "convert .h C header files to Perl extensions");
    points_at_of(r, sasl, "What is libsasl?", "authentication library");
    points_at_of(r, "wordlist2dawg - convert a wordlist to a DAWG for Tesseract",
                 "What does wordlist2dawg do?", "convert a wordlist to a DAWG for Tesseract");
    points_at_of(r, tick, "When does tick wake the machine?", "midnight");
    points_at_of(r, tick, "When is the machine woken?", "at midnight");
    points_at_of(r, node, "Which command can make block or character special files?", "mknod");
    points_at_of(r, h2xs, "Which command can convert .h C header files to Perl extensions?",
                 "h2xs");
    reader_close(r);
}

static void what_cannot_be_told_holds(void **state) {
    (void)state;
    reader *r = open_reader();
    static const char ferry[] = "The ferry leaves at noon.", *const none[] = {"", "...", "Soon",
                                                                              "12:00"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_true(holds(r, "When does the ferry leave?", ferry, none[i]));
    assert_true(holds(r, "", ferry, "noon"));
    assert_true(holds(r, "When?", "", "noon"));
    static char junk[3000];
    uint64_t seed = test_seed();
    for (size_t i = 0; i + 1 < sizeof junk; i++) junk[i] = (char)(1 + test_random(&seed) % 255);
    (void)holds(r, junk, junk, "a b c");
    (void)holds(r, "When does the ferry leave?", junk, junk);
    reader_close(r);
}

/* Nobody waits for it: the places are counted as stretches grow, not each anew. */
static void a_long_claim_is_held_against_a_long_sentence(void **state) {
    (void)state;
    enum { WORDS = 1000 };
    static char text[WORDS * 16], claim[WORDS * 16];
    static const char *const small[] = {"the", "ferry", "of", "and", "leaves", "with"};
    for (int i = 0; i < WORDS; i++) {
        sprintf(text + strlen(text), "%s%s%d ", small[i % 6], i % 6 ? "" : " pier", i);
        sprintf(claim + strlen(claim), "%s%s%d ", small[i % 6], i % 6 ? "" : " pier", WORDS - i);
    }
    reader *r = open_reader();
    (void)holds(r, "When does the ferry leave?", text, claim);
    (void)holds(r, "When does the ferry leave?", text, text);
    reader_close(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_that_answer_hold),
        cmocka_unit_test(the_unit_that_answers_best_is_held_against_another),
        cmocka_unit_test(the_few_words_that_answer_are_pointed_out),
        cmocka_unit_test(a_line_of_a_name_answers_with_one_side_of_it),
        cmocka_unit_test(what_cannot_be_told_holds),
        cmocka_unit_test(a_long_claim_is_held_against_a_long_sentence),
    };
    return cmocka_run_group_tests(tests, open_lexicon, close_lexicon);
}
