/* What all tokenizers share (spans of tokens in the text, room that ends, decoding), and
 * WordPiece. */
#include "tests/test.h"

#include <time.h>

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

/* "begin-end" of every token, as the text's own bytes. */
static void assert_spans(const tokenizer *t, const char *text, const char *want) {
    int32_t ids[64], plain[64];
    tokenizer_span spans[64];
    char got[512] = "";
    int64_t n = tokenizer_encode_spans(t, text, strlen(text), ids, spans, 64);
    assert_int_equal(tokenizer_encode(t, text, strlen(text), 0, plain, 64), n);
    assert_memory_equal(ids, plain, (size_t)n * sizeof *ids);
    for (int64_t i = 0; i < n; i++)
        sprintf(got + strlen(got), "|%.*s", (int)(spans[i].end - spans[i].begin),
                text + spans[i].begin);
    if (strcmp(got, want)) fail_msg("\"%s\": got %s, want %s", text, got, want);
}

static void spans_are_the_bytes_a_token_stands_for(void **state) {
    (void)state;
    tokenizer *t = make_wordpiece(vocab, N_VOCAB);
    assert_spans(t, "", "");
    assert_spans(t, " \n the  ", "|the");
    assert_spans(t, "UNaffABLE, wanted", "|UN|aff|ABLE|,|want|ed");
    assert_spans(t, "the unaffablez, the", "|the|unaffablez|,|the"); /* an unknown word, whole */
    assert_spans(t, "R\xC3\xA9sum\xC3\xA9", "|R\xC3\xA9sum\xC3\xA9");
    assert_spans(t, "Re\xCC\x81sume\xCC\x81 the", "|Re\xCC\x81sume\xCC\x81|the");
    assert_spans(t, "\xE4\xB8\xAD\xE5\x9B\xBDthe", "|\xE4\xB8\xAD|\xE5\x9B\xBD|the");
    assert_spans(t,
                 "th\xE2\x80\x8B"
                 "e\x01,",
                 "|th\xE2\x80\x8B"
                 "e|,");
    assert_spans(t, "\xCC\x81,\xCC\x81the", "|,|the"); /* an accent on nothing */
    assert_spans(t, "the\xFFthe\xF0\x9F", "|the\xFFthe");
    tokenizer_free(t);
}

/* A hostile text, cut into pieces at random: spans ascend, lie in it, and the ids are encode's. */
static void spans_of_any_bytes_are_in_order(void **state) {
    (void)state;
    tokenizer *t = make_wordpiece(vocab, N_VOCAB);
    uint64_t seed = test_seed();
    static const char *const parts[] = {"the",
                                        " ",
                                        "a",
                                        "un",
                                        "\xCC\x81",
                                        "\xC3\xA9",
                                        "\xFF",
                                        "\xE4\xB8\xAD",
                                        "\xF0\x9F\x98\x80",
                                        ",",
                                        "z",
                                        "\xED\xA0",
                                        "\x01",
                                        "aaaaaaaaaaaaaaaaaaaaaaaaa",
                                        "\xE0\xA4\xBE"};
    for (int round = 0; round < 2000; round++) {
        char text[1024];
        size_t len = 0;
        for (int k = (int)(test_random(&seed) % 60); k > 0; k--) {
            const char *p = parts[test_random(&seed) % (sizeof parts / sizeof *parts)];
            memcpy(text + len, p, strlen(p));
            len += strlen(p);
        }
        int32_t ids[512], plain[512];
        tokenizer_span spans[512];
        const size_t cap = round % 3 ? 512 : test_random(&seed) % 20;
        int64_t n = tokenizer_encode_spans(t, text, len, ids, spans, cap);
        int64_t all = tokenizer_encode(t, text, len, 0, plain, 512);
        assert_int_equal(n, all > (int64_t)cap ? (int64_t)cap + 1 : all);
        if (n > (int64_t)cap) n = (int64_t)cap;
        assert_memory_equal(ids, plain, (size_t)n * sizeof *ids);
        for (int64_t i = 0; i < n; i++) {
            assert_true(spans[i].begin < spans[i].end && spans[i].end <= len);
            if (i) assert_true(spans[i].begin >= spans[i - 1].begin);
            if (i) assert_true(spans[i].end >= spans[i - 1].end);
        }
    }
    tokenizer_free(t);
}

static void spans_stop_where_the_room_ends(void **state) {
    (void)state;
    tokenizer *t = make_wordpiece(vocab, N_VOCAB);
    enum { LEN = 4 << 20 };
    char *text = malloc(LEN);
    for (size_t i = 0; i < LEN; i++) text[i] = "the "[i % 4];
    int32_t ids[8];
    tokenizer_span spans[8];
    assert_int_equal(tokenizer_encode_spans(t, text, LEN, ids, spans, 8), 9);
    assert_int_equal(spans[7].begin, 28);
    assert_int_equal(spans[7].end, 31);
    memset(text, 'a', LEN); /* one word of four million letters */
    assert_int_equal(tokenizer_encode_spans(t, text, LEN, ids, spans, 8), 1);
    assert_int_equal(ids[0], 1);
    assert_int_equal(spans[0].end, LEN);
    free(text);
    tokenizer_free(t);
}

/* A chat template may write it: it has to be whole to be a control token again. */
static void a_special_tokens_text_is_whole_however_long(void **state) {
    (void)state;
    char end[101];
    memset(end, 'x', 100);
    end[100] = 0;
    const tokenizer_string pieces[] = {{"<unk>", 5}, {end, 100}, {"a", 1}};
    const int32_t types[] = {2, 3, 1};
    tokenizer_spec spec = tokenizer_spec_default(TOKENIZER_SPM);
    spec.tokens = pieces;
    spec.n_tokens = 3;
    spec.types = types;
    spec.unk = 0;
    spec.eos = 1;
    tokenizer *t = NULL;
    fo_err err = {0};
    assert_ok(tokenizer_create(&t, &spec, &err), &err);
    char *eos = tokenizer_special_text(t, TOKENIZER_EOS);
    char *eot = tokenizer_special_text(t, TOKENIZER_EOT);
    assert_string_equal(eos, end);
    assert_string_equal(eot, ""); /* there is none */
    free(eos);
    free(eot);
    tokenizer_free(t);
}

/* With the keys of its hash known, each pair of words of eight bytes could be written in two ways of one hash: the top
 * bit of the first is undone by two of the second. 65,536 such pieces took 17 seconds to open. */
static void no_file_knows_which_pieces_meet(void **state) {
    (void)state;
    enum { PAIRS = 16, N = 1 << PAIRS, LEN = 16 * PAIRS };
    char *bytes = malloc((size_t)N * LEN);
    tokenizer_string *pieces = malloc((N + 1) * sizeof *pieces);
    for (int i = 0; i < N; i++) {
        char *piece = bytes + (size_t)i * LEN;
        memset(piece, 'a', LEN);
        for (int k = 0; k < PAIRS; k++)
            if (i >> k & 1)
                for (int at = 7; at < 16; at += 4) piece[16 * k + at] ^= (char)0x80;
        pieces[i] = (tokenizer_string){piece, LEN};
    }
    pieces[N] = (tokenizer_string){"<unk>", 5};
    tokenizer_spec spec = tokenizer_spec_default(TOKENIZER_SPM);
    spec.tokens = pieces;
    spec.n_tokens = N + 1;
    spec.unk = N;
    tokenizer *t = NULL;
    fo_err err = {0};
    const clock_t begin = clock();
    assert_ok(tokenizer_create(&t, &spec, &err), &err);
    const double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    if (seconds > 2) fail_msg("%.1f s", seconds);
    for (int i = 0; i < N; i += 97)
        assert_int_equal(tokenizer_find(t, pieces[i].data, pieces[i].len), i);
    tokenizer_free(t);
    free(pieces);
    free(bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spans_are_the_bytes_a_token_stands_for),
        cmocka_unit_test(spans_of_any_bytes_are_in_order),
        cmocka_unit_test(spans_stop_where_the_room_ends),
        cmocka_unit_test(wordpiece_takes_the_longest_piece_first),
        cmocka_unit_test(wordpiece_normalises_as_bert_does),
        cmocka_unit_test(wordpiece_gives_up_on_words_over_100_characters),
        cmocka_unit_test(no_file_knows_which_pieces_meet),
        cmocka_unit_test(a_special_tokens_text_is_whole_however_long),
        cmocka_unit_test(encode_counts_beyond_the_room_given),
        cmocka_unit_test(decode_joins_words_and_drops_controls),
        cmocka_unit_test(wordpiece_refuses_a_vocabulary_without_unk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
