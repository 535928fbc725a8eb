/* The small helpers that every room shares: hexadecimal digits (hex.h), bitmaps (bits.h), lists of words and names
 * (words.h). */
#include "kernels/bits.h"
#include "kernels/hex.h"
#include "kernels/words.h"
#include "tests/test.h"

static void digits_go_there_and_back(void **state) {
    (void)state;
    unsigned char bytes[256], back[256];
    char text[2 * sizeof bytes + 1];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (unsigned char)i;
    fo_hex_write(text, bytes, sizeof bytes);
    assert_int_equal(strlen(text), 2 * sizeof bytes);
    assert_memory_equal(text, "000102", 6);
    assert_string_equal(text + 2 * 253, "fdfeff");
    assert_true(fo_hex_read(back, sizeof back, text));
    assert_memory_equal(back, bytes, sizeof bytes);
    assert_true(fo_hex_read(back, 2, "aBCd") && back[0] == 0xab && back[1] == 0xcd);
    assert_true(fo_hex_read(back, 0, ""));
    fo_hex_write(text, bytes, 0);
    assert_string_equal(text, "");
}

static void what_is_no_digit_is_refused(void **state) {
    (void)state;
    unsigned char back[2];
    const char *const wrong[] = {"",     "a",    "ab",   "abc",  "abcde",
                                 "abc ", "ab-d", "0x12", "abcg", "ab\xc3\xa9"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(fo_hex_read(back, sizeof back, wrong[i]));
    for (int c = -128; c < 128; c++) {
        bool digit = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
        assert_true((fo_hex_digit((char)c) >= 0) == digit);
    }
}

static void bits_are_alone(void **state) {
    (void)state;
    uint64_t words[3] = {0};
    assert_int_equal(fo_bits_words(0), 0);
    assert_int_equal(fo_bits_words(1), 1);
    assert_int_equal(fo_bits_words(64), 1);
    assert_int_equal(fo_bits_words(65), 2);
    for (size_t i = 0; i < 192; i++) {
        fo_bits_set(words, i);
        for (size_t k = 0; k < 192; k++) assert_true(fo_bits_get(words, k) == (k == i));
        fo_bits_clear(words, i);
    }
    assert_true(!words[0] && !words[1] && !words[2]);
}

static void a_word_is_one_of_a_list_as_a_whole(void **state) {
    (void)state;
    const char *list = "weighted rrf dbsf";
    const char *const in[] = {"weighted", "rrf", "dbsf"};
    const char *const out[] = {"",   "w",        "weight", "rr",   "f",
                               "sf", "rrf dbsf", "RRF",    " rrf", "rrf "};
    for (size_t i = 0; i < 3; i++) assert_true(fo_words_have(list, in[i], strlen(in[i])));
    for (size_t i = 0; i < sizeof out / sizeof *out; i++)
        assert_false(fo_words_have(list, out[i], strlen(out[i])));
    assert_true(fo_words_have(list, "rrfs", 3)); /* n says how long it is */
    assert_true(fo_words_have("  two  blanks ", "blanks", 6));
    assert_false(fo_words_have("", "x", 1) || fo_words_have("a b", "", 0));
    assert_true(fo_words_have_any_case("not No n't", "NO", 2));
    assert_false(fo_words_have_any_case("not No n't", "N", 1));
}

static void a_name_has_its_place(void **state) {
    (void)state;
    const char *const names[] = {"hybrid", "dense", "sparse", NULL};
    for (int i = 0; i < 3; i++) assert_int_equal(fo_names_find(names, names[i]), i);
    assert_int_equal(fo_names_find(names, "dens"), -1);
    assert_int_equal(fo_names_find(names, ""), -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digits_go_there_and_back),
        cmocka_unit_test(what_is_no_digit_is_refused),
        cmocka_unit_test(bits_are_alone),
        cmocka_unit_test(a_word_is_one_of_a_list_as_a_whole),
        cmocka_unit_test(a_name_has_its_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
