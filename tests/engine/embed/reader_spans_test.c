/* reader_spans_test.c - which words of a text answer: scores against those of the program that trained the model, the best
 * span of a part, and texts that nobody would send in good faith. */
#include "engine/embed/reader_spans.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/test.h"

static const char question[] = "How early must cars be at the quay?";
static const char text[] =
    "Vehicles must be at the quay 40 minutes before departure, people on foot 15 "
    "minutes.";

static reader *open_reader(bool exact) {
    reader *r = NULL;
    fo_err err = {0};
    assert_ok(reader_open(&r, NULL, &(reader_options){.exact = exact}, &err), &err);
    assert_true(reader_has_spans(r));
    return r;
}

static reader_ends read_text(reader *r, const char *q, const char *s, size_t len) {
    reader_ends e;
    fo_err err = {0};
    assert_ok(reader_spans(r, q, "The ferry", s, len, &e, &err), &err);
    return e;
}

static void expect(const char *s, reader_answer a, const char *want) {
    if (a.end - a.begin != strlen(want) || memcmp(s + a.begin, want, strlen(want)) != 0)
        fail_msg("'%.*s', not '%s'", (int)(a.end - a.begin), s + a.begin, want);
}

/* What data/models/reader/train/span_train.py computes in F32 for this text, the matrices not rounded: the ones here
 * are, twice, to 8 bits, and on the serving path their inputs too. */
static void scores_are_those_of_the_trainer(void **state) {
    (void)state;
    static const struct {
        size_t token;
        double begin, end;
    } want[] = {{6, 5.71, -0.68}, {7, -0.47, 5.65}, {14, 2.73, -2.43}, {15, -3.53, 3.90}};
    for (int exact = 0; exact < 2; exact++) {
        reader *r = open_reader(exact);
        const reader_ends e = read_text(r, question, text, strlen(text));
        assert_int_equal(e.n, 17);
        for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
            const double begin = (double)e.begin[want[i].token], end = (double)e.end[want[i].token];
            if (fabs(begin - want[i].begin) > 0.5 || fabs(end - want[i].end) > 0.5)
                fail_msg("token %zu: %f and %f, not %f and %f", want[i].token, begin, end,
                         want[i].begin, want[i].end);
        }
        assert_true(fabs((double)e.none - 0.37) < 0.7);
        reader_close(r);
    }
}

static void the_best_span_is_told_within_a_part(void **state) {
    (void)state;
    reader *r = open_reader(false);
    const reader_ends e = read_text(r, question, text, strlen(text));
    const reader_answer whole = reader_ends_best(&e, 0, (uint32_t)strlen(text));
    expect(text, whole, "40 minutes");
    const uint32_t foot = (uint32_t)(strstr(text, "people") - text);
    const reader_answer part = reader_ends_best(&e, foot, (uint32_t)strlen(text));
    expect(text, part, "15 minutes");
    assert_true(part.score < whole.score && whole.score > e.none);
    const reader_answer none = reader_ends_best(&e, 5, 5);
    assert_true(none.begin == none.end && isinf(none.score));
    reader *apart = reader_apart(r, (const unsigned char[32]){1});
    const reader_ends same = read_text(apart, question, text, strlen(text));
    assert_memory_equal(e.begin, same.begin, e.n * sizeof *e.begin);
    reader_close(apart);
    reader_close(r);
}

static void another_question_has_another_answer(void **state) {
    (void)state;
    reader *r = open_reader(false);
    const reader_ends e =
        read_text(r, "How early must people on foot be at the quay?", text, strlen(text));
    expect(text, reader_ends_best(&e, 0, (uint32_t)strlen(text)), "15 minutes");
    reader_close(r);
}

static void anything_is_bounded(void **state) {
    (void)state;
    reader *r = open_reader(false);
    static char junk[9000];
    uint64_t seed = test_seed();
    for (size_t i = 0; i < sizeof junk; i++) junk[i] = (char)test_random(&seed);
    junk[sizeof junk - 1] = 0;
    reader_ends e = read_text(r, junk, junk, sizeof junk);
    assert_true(e.n <= READER_SPANS_TOKENS);
    for (size_t i = 0; i < e.n; i++) {
        assert_true(isfinite(e.begin[i]) && isfinite(e.end[i]));
        assert_true(e.at[i].begin <= e.at[i].end && e.at[i].end <= sizeof junk);
    }
    e = read_text(r, "", "", 0);
    assert_int_equal(e.n, 0);
    assert_true(isinf(reader_ends_best(&e, 0, 10).score));
    memset(junk, 'a', sizeof junk - 1);
    for (size_t i = 1; i < sizeof junk - 1; i += 2) junk[i] = ' ';
    e = read_text(r, question, junk, sizeof junk);
    assert_int_equal(e.n, READER_SPANS_TOKENS);
    reader_close(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scores_are_those_of_the_trainer),
        cmocka_unit_test(the_best_span_is_told_within_a_part),
        cmocka_unit_test(another_question_has_another_answer),
        cmocka_unit_test(anything_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
