/* reader_cross_test.c - question and passage read together: odds against those of the program that trained the
 * model, windows of long passages, company, texts that nobody would send in good faith. */
#include "engine/embed/reader_cross.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

#include "tests/test.h"

static const char question[] = "Can I bring my dog?";
static const char rules[] = "The station is open to visitors on Saturdays. Animals stay outside. "
                            "Tea costs two euros.";
static const reader_span sentences[] = {{0, 45}, {46, 67}, {68, 88}};
enum { N = 3 };

static reader *open_reader(bool exact) {
    reader *r = NULL;
    fo_err err = {0};
    assert_ok(reader_open(&r, NULL, &(reader_options){.exact = exact}, &err), &err);
    return r;
}

static reader_passage page_of(const char *text, const reader_span *units, size_t n) {
    return (reader_passage){"Rules for visitors", text, strlen(text), units, n};
}

/* What data/models/reader/train/cross_train.py computes in F32 for this page, the matrices not rounded: the
 * ones here are, to 8 bits, and on the serving path their inputs too. */
static void odds_are_those_of_the_trainer(void **state) {
    (void)state;
    static const double want[N] = {-5.4189, 2.8807, -8.1348};
    for (int exact = 0; exact < 2; exact++) {
        reader *r = open_reader(exact);
        reader_passage p = page_of(rules, sentences, N);
        float odds[N];
        fo_err err = {0};
        assert_true(reader_has_cross(r));
        assert_ok(reader_cross(r, question, &p, 1, NULL, odds, &err), &err);
        for (int i = 0; i < N; i++)
            if (fabs((double)odds[i] - want[i]) > 0.25)
                fail_msg("sentence %d: %f, not %f", i, (double)odds[i], want[i]);
        reader_close(r);
    }
}

/* Bit for bit, whatever is read beside it. */
static void company_changes_nothing(void **state) {
    (void)state;
    reader *r = open_reader(false);
    static const char other[] = "Boats are for the staff. Dogs are washed on Mondays.";
    static const reader_span two[] = {{0, 24}, {25, 51}};
    reader_passage alone = page_of(rules, sentences, N);
    reader_passage both[] = {page_of(other, two, 2), alone, {NULL, "", 0, NULL, 0}};
    float odds[N], beside[2 + N];
    fo_err err = {0};
    assert_ok(reader_cross(r, question, &alone, 1, NULL, odds, &err), &err);
    assert_ok(reader_cross(r, question, both, 3, NULL, beside, &err), &err);
    assert_memory_equal(odds, beside + 2, sizeof odds);
    reader *apart = reader_apart(r, (const unsigned char[32]){1});
    assert_ok(reader_cross(apart, question, &alone, 1, NULL, beside, &err), &err);
    assert_memory_equal(odds, beside, sizeof odds);
    reader_close(apart);
    reader_close(r);
}

/* The sentence that answers stands behind what one window holds, and is found there; behind the last window
 * nothing is read, and that is said. */
static void a_long_passage_is_read_in_windows(void **state) {
    (void)state;
    enum { FILL = 60, MAX = 200 };
    static char text[MAX * 100];
    static reader_span units[MAX];
    static float odds[MAX];
    size_t len = 0;
    for (int i = 0; i < MAX; i++) {
        const char *s = i == FILL ? "Animals stay outside. " : "Tea costs two euros at the till. ";
        units[i] = (reader_span){(uint32_t)len, (uint32_t)(len + strlen(s) - 1)};
        len += (size_t)sprintf(text + len, "%s", s);
    }
    reader *r = open_reader(false);
    fo_err err = {0};
    reader_passage p = {"Rules for visitors", text, len, units, MAX};
    assert_ok(reader_cross(r, question, &p, 1, NULL, odds, &err), &err);
    int best = 0;
    for (int i = 0; i < MAX; i++)
        if (isfinite(odds[i]) && odds[i] > odds[best]) best = i;
    assert_int_equal(best, FILL);
    assert_true(isfinite(odds[80]));
    assert_true(isnan(odds[MAX - 1]));
    reader_close(r);
}

static void anything_is_bounded(void **state) {
    (void)state;
    reader *r = open_reader(false);
    fo_err err = {0};
    static char junk[5000];
    uint64_t seed = test_seed();
    for (size_t i = 0; i < sizeof junk; i++) junk[i] = (char)test_random(&seed);
    /* No units, units without tokens, behind the end, the wrong way round, one over another. */
    const reader_span odd[] = {{0, 0}, {4000, 9000}, {90000, 90001}, {50, 20}, {0, 5000}, {10, 40}};
    reader_passage p = {junk, junk, sizeof junk, odd, 6};
    junk[sizeof junk - 1] = 0;
    float odds[6];
    assert_ok(reader_cross(r, junk, &p, 1, NULL, odds, &err), &err);
    assert_true(isnan(odds[0]) && isnan(odds[2]) && isnan(odds[3]));
    for (int i = 0; i < 6; i++) assert_true(isnan(odds[i]) || fabsf(odds[i]) < 1000);
    p.n_units = 0;
    assert_ok(reader_cross(r, "", &p, 1, NULL, odds, &err), &err);
    p = (reader_passage){NULL, "", 0, sentences, N};
    assert_ok(reader_cross(r, "", &p, 1, NULL, odds, &err), &err);
    for (int i = 0; i < N; i++) assert_true(isnan(odds[i]));
    assert_ok(reader_cross(r, question, NULL, 0, NULL, odds, &err), &err);
    static reader_passage many[READER_CROSS_PASSAGES + 1];
    assert_int_equal(reader_cross(r, question, many, READER_CROSS_PASSAGES + 1, NULL, odds, &err),
                     FO_ELIMIT);
    p = page_of(rules, sentences, N);
    assert_int_equal(reader_cross(r, question, &p, 1, &(atomic_bool){true}, odds, &err),
                     FO_ECANCELLED);
    reader_close(r);
}

typedef struct asking {
    reader *r;
    float odds[N];
    int rc;
} asking;

static void *ask(void *arg) {
    asking *a = arg;
    reader_passage p = page_of(rules, sentences, N);
    fo_err err = {0};
    a->rc = reader_cross(a->r, question, &p, 1, NULL, a->odds, &err);
    return NULL;
}

/* The first calls of several threads meet while the model is prepared. */
static void threads_share_it(void **state) {
    (void)state;
    enum { THREADS = 4 };
    reader *r = open_reader(false);
    asking a[THREADS];
    pthread_t t[THREADS];
    for (int i = 0; i < THREADS; i++) {
        a[i].r = r;
        assert_int_equal(pthread_create(&t[i], NULL, ask, &a[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) pthread_join(t[i], NULL);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(a[i].rc, FO_OK);
        assert_memory_equal(a[i].odds, a[0].odds, sizeof a[i].odds);
    }
    reader_close(r);
}

static void another_model_has_none(void **state) {
    (void)state;
    reader *r = NULL;
    fo_err err = {0};
    assert_ok(reader_open(&r, "data/models/forage-reader.gguf", &(reader_options){0}, &err), &err);
    reader_passage p = page_of(rules, sentences, N);
    float odds[N];
    assert_false(reader_has_cross(r));
    assert_int_equal(reader_cross(r, question, &p, 1, NULL, odds, &err), FO_EUNSUPPORTED);
    reader_close(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(odds_are_those_of_the_trainer),
        cmocka_unit_test(company_changes_nothing),
        cmocka_unit_test(a_long_passage_is_read_in_windows),
        cmocka_unit_test(anything_is_bounded),
        cmocka_unit_test(threads_share_it),
        cmocka_unit_test(another_model_has_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
