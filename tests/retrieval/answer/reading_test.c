/* reading_test.c - what the built-in reader says of passages and their units, and its bounds. */
#include "retrieval/answer/reading.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/test.h"

static reader *model;

static passage passage_of(const char *title, const char *text) {
    return (passage){
        .text = text, .len = strlen(text), .title = title, .score = 1, .dense = NAN, .sparse = NAN};
}

static const char *const texts[] = {
    "The generator burns 2.5 litres of diesel an hour. It is serviced in May.",
    "The rowing boat may be used on the lake. The punts carry three persons.",
    "In spring the cranes rest on the meadows. Nobody goes there before noon.",
};
enum { N = sizeof texts / sizeof *texts };

static reading *read_all(const char *question, passage *p) {
    for (int i = 0; i < N; i++) p[i] = passage_of("Handbook", texts[i]);
    reading *r;
    fo_err err = {0};
    assert_ok(reading_create(&r, model, question, p, N, NULL, &err), &err);
    return r;
}

static void the_passage_that_answers_comes_first(void **state) {
    (void)state;
    static const struct {
        const char *question;
        int answers;
    } asked[] = {{"How much fuel does the engine need?", 0},
                 {"Where can I row?", 1},
                 {"Which birds come at that time of the year?", 2}};
    for (size_t k = 0; k < sizeof asked / sizeof *asked; k++) {
        passage p[N];
        reading *r = read_all(asked[k].question, p);
        reading_rank ranks[N];
        reading_rank_passages(r, NULL, ranks);
        for (int i = 0; i < N; i++) {
            assert_true(ranks[i].answers >= 0 && ranks[i].answers <= 1);
            if (i == asked[k].answers) continue;
            assert_true(ranks[asked[k].answers].score > ranks[i].score);
            assert_true(ranks[asked[k].answers].answers > ranks[i].answers);
        }
        reading_free(r);
    }
}

static void the_unit_that_answers_is_nearest(void **state) {
    (void)state;
    passage p[N];
    reading *r = read_all("When is the machine maintained?", p);
    reading_unit units[2] = {{0, {.start = 0, .end = 49}}, {0, {.start = 50, .end = 72}}};
    reading_values v[2];
    fo_err err = {0};
    assert_ok(reading_units_measure(r, units, 2, v, &err), &err);
    assert_true(v[1].align > v[0].align);
    assert_true(v[1].back > v[0].back); /* the other one says much besides */
    for (int i = 0; i < 2; i++) {
        assert_true(v[i].least <= v[i].align + 1e-6 && v[i].align <= 1 + 1e-3);
    }
    /* What a unit hangs on counts: an option's name is found through it. */
    reading_unit with_head = {0,
                              {.start = 50,
                               .end = 72,
                               .head_start = 4,
                               .head_end = 13,
                               .head_kind = TEXT_UNIT_DEFINITION}};
    reading_values more;
    assert_ok(reading_units_measure(r, &with_head, 1, &more, &err), &err);
    assert_true(more.align >= v[1].align - 1e-3);
    assert_float_equal(more.back, v[1].back, 1e-3); /* of the unit's own words */
    reading_free(r);
}

static void odd_passages_are_read(void **state) {
    (void)state;
    fo_err err = {0};
    reading *r;
    char *long_text = malloc(1 << 20);
    memset(long_text, 'x', 1 << 20);
    passage p[] = {passage_of(NULL, ""),
                   passage_of("", "\xFF\xFE"),
                   {.text = long_text, .len = 1 << 20, .title = "t"}};
    assert_ok(reading_create(&r, model, "?", p, 3, NULL, &err), &err);
    reading_rank ranks[3];
    reading_rank_passages(r, NULL, ranks);
    for (int i = 0; i < 3; i++) assert_true(isfinite(ranks[i].score) && isfinite(ranks[i].answers));
    reading_free(r);
    assert_ok(reading_create(&r, model, "no passage", NULL, 0, NULL, &err), &err);
    assert_ok(reading_units_measure(r, NULL, 0, NULL, &err), &err);
    reading_free(r);
    free(long_text);
}

static int open_model(void **state) {
    (void)state;
    fo_err err = {0};
    return reader_open(&model, NULL, &(reader_options){.cache_bytes = 1 << 20}, &err);
}

static int close_model(void **state) {
    (void)state;
    reader_close(model);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_passage_that_answers_comes_first),
        cmocka_unit_test(the_unit_that_answers_is_nearest),
        cmocka_unit_test(odd_passages_are_read),
    };
    return cmocka_run_group_tests(tests, open_model, close_model);
}
