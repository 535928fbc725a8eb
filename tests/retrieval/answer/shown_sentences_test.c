/* How much of a sentence an answer shows: all of it or what an ellipsis bounds; and any text at all, whose citations must be
 * exact. */
#include "tests/test.h"

#include <math.h>

#include "retrieval/answer/extractive.h"
#include "tests/retrieval/text/lexicon_fixture.h"

#define ELLIPSIS "\xE2\x80\xA6"

static extractive_answer ask_in(const char *question, const passage *p, size_t room) {
    extractive_answer a;
    fo_err err = {0};
    assert_ok(extractive_answer_make(&a,
                                     &(extractive_input){.question = question,
                                                         .passages = p,
                                                         .n_passages = 1,
                                                         .lx = &lx,
                                                         .max_chars = room,
                                                         .min_support = -1},
                                     &err),
              &err);
    assert_int_equal(a.n_citations, 1);
    return a;
}

/* A restriction may stand anywhere in a sentence, so all of it is shown where it fits, and where not
 * an ellipsis says that it goes on. */
static void a_sentence_is_shown_whole_or_with_an_ellipsis(void **state) {
    (void)state;
    const char *text =
        "The committee met in the old hall beside the river, and after many hours of "
        "talk it chose the blue design, although nobody had asked for it";
    passage p = {text, strlen(text), "", 1, NAN, NAN, false, false, 0, NULL, false, NULL};
    static const char question[] = "Which design did the committee choose?";
    for (size_t room = 1; room < strlen(text) + 5; room++) {
        extractive_answer a = ask_in(question, &p, room);
        const answer_citation *c = &a.citations[0];
        assert_true(c->end - c->start <= room);
        bool first = c->start == 0, last = c->end == strlen(text);
        assert_int_equal(first && last, room >= strlen(text));
        size_t head = first ? 0 : 4, tail = last ? 0 : 3;
        assert_int_equal(c->answer_end - c->answer_start, head + c->end - c->start + tail);
        assert_memory_equal(a.text + head, text + c->start, c->end - c->start);
        if (!first) assert_memory_equal(a.text, ELLIPSIS " ", 4);
        if (!last) assert_memory_equal(a.text + c->answer_end - 3, ELLIPSIS, 3);
        assert_true(c->verified || room < 4); /* a scrap of one letter has no word of the claim */
        extractive_answer_deinit(&a);
    }
    extractive_answer a = ask_in("Which design did it choose?", &p, 70);
    assert_string_equal(a.text, ELLIPSIS " and after many hours of talk it chose the blue design, "
                                         "although nobody" ELLIPSIS " [1]");
    extractive_answer_deinit(&a);
    a = ask_in("Where did the committee meet?", &p, 50);
    assert_string_equal(a.text,
                        "The committee met in the old hall beside the river" ELLIPSIS " [1]");
    extractive_answer_deinit(&a);
}

static void what_a_passage_does_not_hold_of_a_sentence_is_marked(void **state) {
    (void)state;
    static const char text[] = "that may be used\non the lake. Teal leaks. The rowing boat carries";
    passage p = {text, strlen(text), "", 1, NAN, NAN, true, true, 0, NULL, false, NULL};
    extractive_answer a = ask_in("What may be used on the lake?", &p, 17);
    assert_string_equal(a.text, ELLIPSIS " that may be used" ELLIPSIS " [1]");
    extractive_answer_deinit(&a);
    a = ask_in("What may be used on the lake?", &p, 40);
    assert_string_equal(a.text, ELLIPSIS " that may be used on the lake. [1]");
    assert_true(a.citations[0].verified);
    extractive_answer_deinit(&a);
    a = ask_in("What does the rowing boat carry?", &p, 40);
    assert_string_equal(a.text, "The rowing boat carries" ELLIPSIS " [1]");
    extractive_answer_deinit(&a);
    a = ask_in("Does Teal leak?", &p, 12);
    assert_string_equal(a.text, "Teal leaks. [1]");
    extractive_answer_deinit(&a);
}

/* Any bytes, any language: quotes stand where they are said to, markers count up, all verified. */
static void any_text_gives_exact_and_verified_citations(void **state) {
    (void)state;
    uint64_t seed = test_seed();
    static const char *const bits[] = {"the ",
                                       "river ",
                                       "Paris ",
                                       "1,000 ",
                                       "not ",
                                       ". ",
                                       ", ",
                                       "\n",
                                       "\n\n",
                                       "- ",
                                       "# ",
                                       "| ",
                                       "who ",
                                       "bridge ",
                                       "\xE6\xBC\xA2\xE5\xAD\x97",
                                       "\xE3\x80\x82",
                                       "\xFF",
                                       "\xC3",
                                       "\xC3\x9C"
                                       "ber ",
                                       "? ",
                                       "isn't ",
                                       "only ",
                                       "[1] ",
                                       "(",
                                       ") ",
                                       "5 % ",
                                       "e.g. ",
                                       "I. "};
    size_t answered = 0;
    for (int round = 0; round < 2000; round++) {
        passage p[3];
        char *texts[3], question[200];
        for (int k = 0; k < 4; k++) {
            char buffer[1500];
            size_t n = 0, most = k == 3 ? 150 : 1400;
            while (n < most && test_random(&seed) % 150) {
                const char *b = bits[test_random(&seed) % (sizeof bits / sizeof *bits)];
                memcpy(buffer + n, b, strlen(b));
                n += strlen(b);
            }
            if (k == 3) {
                memcpy(question, buffer, n);
                question[n] = 0;
                break;
            }
            texts[k] = malloc(n ? n : 1);
            memcpy(texts[k], buffer, n);
            p[k] = (passage){
                texts[k], n,   k ? "Bridge of Paris" : NULL, 1, NAN, NAN, false, false, 0, NULL,
                false,    NULL};
        }
        extractive_answer a;
        fo_err err = {0};
        assert_ok(extractive_answer_make(&a,
                                         &(extractive_input){.question = question,
                                                             .passages = p,
                                                             .n_passages = 3,
                                                             .lx = &lx,
                                                             .max_chars = round % 2 ? 60 : 0,
                                                             .min_support = -1},
                                         &err),
                  &err);
        answered += !a.abstain;
        size_t at = 0;
        for (size_t i = 0; i < a.n_citations; i++) {
            const answer_citation *c = &a.citations[i];
            assert_true(c->passage < 3 && c->start < c->end && c->end <= p[c->passage].len);
            assert_true(c->answer_start == at + (i > 0) && c->answer_end <= strlen(a.text));
            if (!c->verified) fail_msg("not verified: %s", a.text);
            char marker[16];
            int m = snprintf(marker, sizeof marker, " [%zu]", i + 1);
            assert_memory_equal(a.text + c->answer_end, marker, m);
            at = c->answer_end + (size_t)m;
        }
        assert_int_equal(at, strlen(a.text));
        extractive_answer_deinit(&a);
        for (int k = 0; k < 3; k++) free(texts[k]);
    }
    assert_true(answered > 1000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sentence_is_shown_whole_or_with_an_ellipsis),
        cmocka_unit_test(what_a_passage_does_not_hold_of_a_sentence_is_marked),
        cmocka_unit_test(any_text_gives_exact_and_verified_citations),
    };
    return cmocka_run_group_tests(tests, open_lexicon, close_lexicon);
}
