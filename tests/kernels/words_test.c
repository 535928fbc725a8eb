/* The small helpers that every room shares: hexadecimal digits (hex.h), bitmaps (bits.h), lists of words and names
 * (words.h), names of files (paths.h), orders (order.h), random bits (splitmix.h), SHA-256 (sha256.h). */
#include "kernels/bits.h"
#include "kernels/hex.h"
#include "kernels/order.h"
#include "kernels/paths.h"
#include "kernels/sha256.h"
#include "kernels/splitmix.h"
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

static const char *digest_of(const void *p, size_t n) {
    static char text[65];
    unsigned char sum[32];
    fo_sha256_of(sum, p, n);
    fo_hex_write(text, sum, sizeof sum);
    return text;
}

/* The examples of FIPS 180-2, and a million letters. */
static void digests_are_the_standards(void **state) {
    (void)state;
    assert_string_equal(digest_of(NULL, 0),
                        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    assert_string_equal(digest_of("abc", 3),
                        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    static char million[1000000];
    memset(million, 'a', sizeof million);
    assert_string_equal(digest_of(million, sizeof million),
                        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

static void a_digest_goes_on_in_pieces_and_copies(void **state) {
    (void)state;
    unsigned char text[300], whole[32], pieces[32], copied[32], half[32];
    for (size_t i = 0; i < sizeof text; i++) text[i] = (unsigned char)(i * 7);
    for (size_t cut = 0; cut <= sizeof text; cut += 13) {
        fo_sha256 h, copy;
        fo_sha256_of(whole, text, sizeof text);
        fo_sha256_of(half, text, cut);
        fo_sha256_begin(&h);
        fo_sha256_add(&h, text, cut);
        copy = h;
        fo_sha256_end(&copy, copied);
        assert_memory_equal(copied, half, 32);
        fo_sha256_add(&h, text + cut, sizeof text - cut);
        fo_sha256_end(&h, pieces);
        assert_memory_equal(pieces, whole, 32);
    }
}

static void a_path_is_told_by_its_last_name_and_by_its_end(void **state) {
    (void)state;
    assert_string_equal(fo_base_name("a/b/notes.md"), "notes.md");
    assert_string_equal(fo_base_name("notes.md"), "notes.md");
    assert_string_equal(fo_base_name("a/b/"), "");
    assert_true(fo_ends_with("notes.md", ".md") && fo_ends_with(".md", ".md"));
    assert_true(fo_ends_with("notes", "") && !fo_ends_with("", ".md"));
    assert_false(fo_ends_with("md", ".md") || fo_ends_with("notes.MD", ".md"));
}

static void what_is_sorted_is_in_its_order(void **state) {
    (void)state;
    const char *names[] = {"b", "", "ab", "a"};
    int64_t numbers[] = {INT64_MAX, -1, INT64_MIN, 0};
    double values[] = {.5, -1e300, 1e300, 0};
    qsort(names, 4, sizeof *names, fo_order_strings);
    qsort(numbers, 4, sizeof *numbers, fo_order_int64);
    qsort(values, 4, sizeof *values, fo_order_doubles);
    for (int i = 0; i < 3; i++) {
        assert_true(strcmp(names[i], names[i + 1]) < 0);
        assert_true(numbers[i] < numbers[i + 1] && values[i] < values[i + 1]);
    }
}

/* The first numbers of the published generator. */
static void random_bits_are_those_of_splitmix(void **state) {
    (void)state;
    uint64_t at = 1234567;
    assert_true(fo_splitmix(&at) == 6457827717110365317u);
    assert_true(fo_splitmix(&at) == 3203168211198807973u);
    assert_true(fo_mix64(1234567 + 2 * FO_SPLITMIX_STEP) == 3203168211198807973u);
    assert_true(fo_uniform(UINT64_MAX) < 1 && fo_uniform(0) == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digits_go_there_and_back),
        cmocka_unit_test(what_is_no_digit_is_refused),
        cmocka_unit_test(bits_are_alone),
        cmocka_unit_test(a_word_is_one_of_a_list_as_a_whole),
        cmocka_unit_test(a_name_has_its_place),
        cmocka_unit_test(a_path_is_told_by_its_last_name_and_by_its_end),
        cmocka_unit_test(what_is_sorted_is_in_its_order),
        cmocka_unit_test(random_bits_are_those_of_splitmix),
        cmocka_unit_test(digests_are_the_standards),
        cmocka_unit_test(a_digest_goes_on_in_pieces_and_copies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
