#include "tests/test.h"

#include "engine/tokenizer/tokenizer.h"

static tokenizer *make_wordpiece(const char *const *words, size_t n) {
    tokenizer_string s[64];
    for (size_t i = 0; i < n; i++) s[i] = (tokenizer_string){words[i], strlen(words[i])};
    tokenizer *t = NULL;
    fo_err err = {0};
    assert_ok(tokenizer_from_wordpiece(&t, s, n, &err), &err);
    return t;
}

static void assert_ids(const tokenizer *t, const char *text, unsigned flags, const char *want) {
    int32_t ids[256];
    int64_t n = tokenizer_encode(t, text, strlen(text), flags, ids, 256);
    assert_in_range(n, 0, 256);
    assert_int_equal(tokenizer_count(t, text, strlen(text), flags), n);
    char got[2048] = "";
    for (int64_t i = 0; i < n; i++) sprintf(got + strlen(got), i ? " %d" : "%d", ids[i]);
    if (strcmp(got, want)) fail_msg("\"%s\": got %s, want %s", text, got, want);
}

static const char *const vocab[] = {"[PAD]", "[UNK]", "[CLS]",          "[SEP]",        "[MASK]",
                                    "un",    "##aff", "##able",         "want",         "##ed",
                                    ",",     "the",   "\xE4\xB8\xAD",   "\xE5\x9B\xBD", "resume",
                                    "a",     "##a",   "##\xE0\xA4\xBE", "\xE0\xA4\x95", "[",
                                    "]"};
enum { N_VOCAB = sizeof vocab / sizeof *vocab };

static void wordpiece_takes_the_longest_piece_first(void **state) {
    (void)state;
    tokenizer *t = make_wordpiece(vocab, N_VOCAB);
    assert_ids(t, "unaffable, WANTED", 0, "5 6 7 10 8 9");
    assert_ids(t, "unaffable", TOKENIZER_ADD_SPECIAL, "2 5 6 7 3");
    assert_ids(t, "unaffablez the", 0, "1 11"); /* one bad part makes the whole word unknown */
    assert_ids(t, "", TOKENIZER_ADD_SPECIAL, "2 3");
    assert_ids(t, "the[SEP]the", 0, "11 19 1 20 11");
    assert_ids(t, "the[SEP]the", TOKENIZER_PARSE_SPECIAL, "11 3 11");
    tokenizer_free(t);
}

static void wordpiece_normalises_as_bert_does(void **state) {
    (void)state;
    tokenizer *t = make_wordpiece(vocab, N_VOCAB);
    assert_ids(t, "R\xC3\xA9sum\xC3\xA9", 0, "14");
    assert_ids(t, "Re\xCC\x81sume\xCC\x81", 0, "14");            /* combining accents */
    assert_ids(t, "\xE4\xB8\xAD\xE5\x9B\xBDthe", 0, "12 13 11"); /* ideographs stand alone */
    assert_ids(t, "\xE0\xA4\x95\xE0\xA4\xBE", 0, "18 17");       /* a spacing vowel sign stays */
    assert_ids(t,
               "th\xE2\x80\x8B"
               "e\x01",
               0, "11"); /* controls vanish */
    assert_ids(t, "the\xC2\xA0the\tthe\nthe", 0, "11 11 11 11");
    assert_ids(t, "the\xFFthe the", 0, "1 11"); /* bad UTF-8 is dropped: "thethe" */
    tokenizer_free(t);
}

static void wordpiece_gives_up_on_words_over_100_characters(void **state) {
    (void)state;
    tokenizer *t = make_wordpiece(vocab, N_VOCAB);
    for (int n = 99; n <= 102; n++) {
        char word[128];
        memset(word, 'a', (size_t)n);
        word[n] = 0;
        int32_t ids[128];
        int64_t got = tokenizer_encode(t, word, (size_t)n, 0, ids, 128);
        assert_int_equal(got, n <= 100 ? n : 1);
        assert_int_equal(ids[0], n <= 100 ? 15 : 1);
    }
    tokenizer_free(t);
}

static void encode_counts_beyond_the_room_given(void **state) {
    (void)state;
    tokenizer *t = make_wordpiece(vocab, N_VOCAB);
    int32_t ids[3] = {-7, -7, -7};
    assert_int_equal(tokenizer_encode(t, "the the the", 11, TOKENIZER_ADD_SPECIAL, ids, 2), 5);
    assert_int_equal(ids[1], 11);
    assert_int_equal(ids[2], -7);
    tokenizer_free(t);
}

static void decode_joins_words_and_drops_controls(void **state) {
    (void)state;
    tokenizer *t = make_wordpiece(vocab, N_VOCAB);
    int32_t ids[] = {2, 5, 6, 7, 11, 3};
    fo_buf out = {0};
    fo_err err = {0};
    assert_ok(tokenizer_decode(t, ids, 6, false, &out, &err), &err);
    assert_string_equal(out.data, "unaffable the");
    ids[3] = N_VOCAB;
    assert_int_equal(tokenizer_decode(t, ids, 6, false, &out, &err), FO_EINVAL);
    fo_buf_free(&out);
    assert_int_equal(tokenizer_find(t, "[SEP]", 5), 3);
    assert_int_equal(tokenizer_find(t, " the", 4), 11);
    assert_int_equal(tokenizer_find(t, "able", 4), 7);
    assert_int_equal(tokenizer_find(t, "[SE", 3), -1);
    tokenizer_free(t);
}

static void wordpiece_refuses_a_vocabulary_without_unk(void **state) {
    (void)state;
    tokenizer_string s[] = {{"a", 1}};
    tokenizer *t = NULL;
    fo_err err = {0};
    assert_int_equal(tokenizer_from_wordpiece(&t, s, 1, &err), FO_ECORRUPT);
    assert_int_equal(tokenizer_from_wordpiece(&t, s, 0, &err), FO_ECORRUPT);
    assert_null(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wordpiece_takes_the_longest_piece_first),
        cmocka_unit_test(wordpiece_normalises_as_bert_does),
        cmocka_unit_test(wordpiece_gives_up_on_words_over_100_characters),
        cmocka_unit_test(encode_counts_beyond_the_room_given),
        cmocka_unit_test(decode_joins_words_and_drops_controls),
        cmocka_unit_test(wordpiece_refuses_a_vocabulary_without_unk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
