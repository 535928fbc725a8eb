/* From text to terms: stems, accents, apostrophes by language, identifiers whole and in parts,
 * scripts without spaces, stop words, any bytes at all. */
#include "tests/test.h"

#include "index/sparse/analyze.h"

typedef struct words {
    char text[4096];
    size_t n, n_stop, last_end;
    bool ordered;
} words;

static int collect(void *ctx, const analyzed_term *t) {
    words *w = ctx;
    size_t at = strlen(w->text);
    snprintf(w->text + at, sizeof w->text - at, "%s%s%.*s", at ? " " : "", t->part ? "+" : "",
             (int)t->len, t->term);
    w->n++;
    w->n_stop += t->stop;
    return 0;
}

static void expect(const char *language, const char *text, const char *terms) {
    analyzer *a;
    fo_err err = {0};
    assert_ok(analyzer_create(&a, language, &err), &err);
    for (int twice = 0; twice < 2; twice++) { /* the second time from the cache */
        words w = {0};
        assert_int_equal(analyze(a, text, strlen(text), collect, &w), 0);
        assert_string_equal(w.text, terms);
    }
    analyzer_free(a);
}

static void stems_and_folds_words(void **state) {
    (void)state;
    expect("english", "The Running dogs' ponies, 42nd STREET.", "the run dog poni 42nd street");
    expect("none", "The Running dogs", "the running dogs");
    expect("german", "Die H\xC3\xA4user laufen", "die haus lauf");
    expect("english", "\xEF\xAC\x81nal \xE2\x85\xA7 \xEF\xBC\xA1\xEF\xBC\xA2", "final viii ab");
    expect("english", "", "");
    expect("english", "... -- !", "");
}

static void finds_accented_words_without_their_accents(void **state) {
    (void)state;
    expect("english", "Beyonc\xC3\xA9 Beyonce cafe\xCC\x81 na\xC3\xAFve",
           "beyonc beyonc cafe naiv");
    expect("none", "\xC3\xA9t\xC3\xA9", "ete");
    expect("french", "\xC3\xA9t\xC3\xA9", "\xC3\xA9t\xC3\xA9");
}

static void arabic_ends_are_written_in_two_ways(void **state) {
    (void)state;
    static const char *const pairs[][2] = {{"المكتبة", "المكتبه"},
                                           {"الجمعة", "الجمعه"},
                                           {"قهوة", "قهوه"},
                                           {"أسئلة", "اسئله"},
                                           {"مستشفى", "مستشفي"}};
    analyzer *a;
    fo_err err = {0};
    assert_ok(analyzer_create(&a, "arabic", &err), &err);
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        words w[2];
        memset(w, 0, sizeof w);
        for (int k = 0; k < 2; k++)
            assert_int_equal(analyze(a, pairs[i][k], strlen(pairs[i][k]), collect, &w[k]), 0);
        assert_string_equal(w[0].text, w[1].text);
    }
    analyzer_free(a);
    expect("arabic", "المكتبه وجه", "مكتب وجه"); /* a short word keeps what it ends in */
}

static void folds_the_spellings_of_hindi(void **state) {
    (void)state;
    /* the dot below, of one point or two, the moon-dot, figures */
    expect("hindi", "\xE0\xA5\x9Bरूर ज\xE0\xA4\xBCरूर जरूर", "जरूर जरूर जरूर");
    expect("hindi", "गाँव गांव १४ 14", "गांव गांव 14 14");
    expect("hindi", "पत्रिका पत्रिकाएँ", "पत्रिक पत्रिक");
    expect("hindi", "\xE0\xA5\x9C ड\xE0\xA4\xBC ड", "ड\xE0\xA4\xBC ड\xE0\xA4\xBC ड");
}

static void handles_apostrophes_by_language(void **state) {
    (void)state;
    expect("english", "Charleston's don't O\xE2\x80\x99Neill dog\xE2\x80\x99s 'quoted'",
           "charleston don't o'neil dog quot");
    expect("french", "l'homme", "l homm");
}

static void gives_identifiers_whole_and_in_parts(void **state) {
    (void)state;
    expect("none", "run_target DiffExecutor HTTPServer __init__ foo__bar x_ utf8",
           "run_target +run +target diffexecutor +diff +executor httpserver +http +server init "
           "foo__bar +foo +bar x utf8");
}

static void gives_unspaced_scripts_as_characters_and_pairs(void **state) {
    (void)state;
    expect("english", "\xE6\xB1\x89\xE5\xAD\x97\xE5\xAD\xA6 ok",
           "\xE6\xB1\x89 \xE5\xAD\x97 +\xE6\xB1\x89\xE5\xAD\x97 \xE5\xAD\xA6 "
           "+\xE5\xAD\x97\xE5\xAD\xA6 ok");
}

static int check_span(void *ctx, const analyzed_term *t) {
    words *w = ctx;
    w->ordered &= t->start < t->end && (t->part || t->start >= w->last_end);
    w->ordered &= t->len > 0 && t->len <= 255;
    if (!t->part) w->last_end = t->end;
    w->n++;
    return 0;
}

static void survives_any_bytes_with_spans_in_order(void **state) {
    (void)state;
    uint64_t seed = test_seed();
    const char *languages[] = {"english", "none", "french", "russian", "tamil"};
    for (size_t l = 0; l < 5; l++) {
        analyzer *a;
        fo_err err = {0};
        assert_ok(analyzer_create(&a, languages[l], &err), &err);
        for (int round = 0; round < 400; round++) {
            char text[600];
            size_t len = test_random(&seed) % sizeof text;
            for (size_t i = 0; i < len; i++) {
                uint64_t r = test_random(&seed);
                text[i] = round % 2 ? (char)r : "aB_'\xE2\x80\x99\xCC\x81 9\xE6\xB1\x89"[r % 14];
            }
            words w = {.ordered = true};
            assert_int_equal(analyze(a, text, len, check_span, &w), 0);
            assert_true(w.ordered);
        }
        static char longword[5000];
        memset(longword, 'x', sizeof longword);
        words w = {.ordered = true};
        analyze(a, longword, sizeof longword, check_span, &w);
        assert_int_equal(w.n, 1);
        for (size_t i = 0; i + 1 < sizeof longword; i += 2) memcpy(longword + i, "\xC3\x9F", 2);
        w = (words){.ordered = true};
        analyze(a, longword, sizeof longword, check_span, &w);
        assert_int_equal(w.n, 1);
        assert_true(w.ordered);
        analyzer_free(a);
    }
}

static int stop_at_third(void *ctx, const analyzed_term *t) {
    (void)ctx;
    return t->position == 2 ? 7 : 0;
}

static void marks_stop_words_and_returns_what_the_callback_says(void **state) {
    (void)state;
    analyzer *a;
    fo_err err = {0};
    assert_ok(analyzer_create(&a, "english", &err), &err);
    words w = {0};
    analyze(a, "What is the Capital of it", 25, collect, &w);
    assert_int_equal(w.n, 6);
    assert_int_equal(w.n_stop, 5);
    assert_int_equal(analyze(a, "a b c d", 7, stop_at_third, NULL), 7);
    analyzer_free(a);
    assert_int_equal(analyzer_create(&a, "klingon", &err), FO_EINVAL);
    assert_non_null(strstr(err.msg, "klingon"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stems_and_folds_words),
        cmocka_unit_test(finds_accented_words_without_their_accents),
        cmocka_unit_test(arabic_ends_are_written_in_two_ways),
        cmocka_unit_test(folds_the_spellings_of_hindi),
        cmocka_unit_test(handles_apostrophes_by_language),
        cmocka_unit_test(gives_identifiers_whole_and_in_parts),
        cmocka_unit_test(gives_unspaced_scripts_as_characters_and_pairs),
        cmocka_unit_test(survives_any_bytes_with_spans_in_order),
        cmocka_unit_test(marks_stop_words_and_returns_what_the_callback_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
