/* Byte-level BPE and SentencePiece BPE against the slow, obvious algorithms. */
#include "tests/test.h"

#include "engine/tokenizer/pretokenize.h"
#include "engine/tokenizer/tokenizer.h"
#include "kernels/pool.h"
#include "kernels/utf8.h"

enum { MAX_VOCAB = 600, MAX_LEN = 400 };

typedef struct made {
    tokenizer_string tokens[MAX_VOCAB], merges[MAX_VOCAB];
    float scores[MAX_VOCAB];
    int32_t types[MAX_VOCAB];
    size_t n, n_merges;
    char pool[1 << 16];
    size_t used;
} made;

static tokenizer_string keep(made *m, const char *s, size_t n) {
    assert_true(m->used + n < sizeof m->pool);
    memcpy(m->pool + m->used, s, n);
    m->used += n;
    return (tokenizer_string){m->pool + m->used - n, n};
}

static int find_token(const made *m, const char *s, size_t n) {
    for (size_t i = 0; i < m->n; i++)
        if (m->types[i] != 6 && m->tokens[i].len == n && memcmp(m->tokens[i].data, s, n) == 0)
            return (int)i;
    return -1;
}

static void add_token(made *m, const char *s, size_t n, int type, float score) {
    assert_true(m->n < MAX_VOCAB);
    m->types[m->n] = type;
    m->scores[m->n] = score;
    m->tokens[m->n++] = keep(m, s, n);
}

/* Letters a-e and tokens built by merging pairs of earlier ones at random. */
static void grow_merges(made *m, size_t n_merges, uint64_t *seed) {
    size_t letters = m->n;
    for (size_t tries = 0; m->n_merges < n_merges && tries < 10000; tries++) {
        size_t a = test_random(seed) % m->n, b = test_random(seed) % m->n;
        if (tries % 2) a = test_random(seed) % letters;
        char both[64], line[64];
        size_t la = m->tokens[a].len, lb = m->tokens[b].len;
        if (la + lb > 12) continue;
        memcpy(both, m->tokens[a].data, la);
        memcpy(both + la, m->tokens[b].data, lb);
        int len = snprintf(line, sizeof line, "%.*s %.*s", (int)la, m->tokens[a].data, (int)lb,
                           m->tokens[b].data);
        m->merges[m->n_merges++] = keep(m, line, (size_t)len);
        if (find_token(m, both, la + lb) < 0) add_token(m, both, la + lb, 1, 0);
    }
}

/* One word by the definition: again and again the merge of lowest rank, leftmost first. */
static size_t slow_bpe(const made *m, const char *s, size_t n, int32_t *out) {
    tokenizer_string part[MAX_LEN];
    for (size_t i = 0; i < n; i++) part[i] = (tokenizer_string){s + i, 1};
    for (;;) {
        size_t best_rank = SIZE_MAX, at = 0;
        for (size_t i = 0; i + 1 < n; i++) {
            char line[2 * MAX_LEN];
            int len = snprintf(line, sizeof line, "%.*s %.*s", (int)part[i].len, part[i].data,
                               (int)part[i + 1].len, part[i + 1].data);
            for (size_t r = 0; r < m->n_merges && r < best_rank; r++)
                if (m->merges[r].len == (size_t)len &&
                    memcmp(m->merges[r].data, line, (size_t)len) == 0) {
                    best_rank = r;
                    at = i;
                }
        }
        if (best_rank == SIZE_MAX) break;
        part[at].len += part[at + 1].len;
        n--;
        memmove(&part[at + 1], &part[at + 2], (n - at - 1) * sizeof *part);
    }
    for (size_t i = 0; i < n; i++) out[i] = find_token(m, part[i].data, part[i].len);
    return n;
}

static tokenizer *create(const made *m, tokenizer_kind kind, int8_t prefix) {
    tokenizer_spec spec = tokenizer_spec_default(kind);
    spec.pre = "gpt-2";
    spec.tokens = m->tokens;
    spec.n_tokens = m->n;
    spec.types = m->types;
    spec.scores = m->scores;
    spec.merges = m->merges;
    spec.n_merges = m->n_merges;
    spec.add_space_prefix = prefix;
    tokenizer *t = NULL;
    fo_err err = {0};
    assert_ok(tokenizer_create(&t, &spec, &err), &err);
    return t;
}

static void assert_same(const int32_t *got, int64_t n_got, const int32_t *want, size_t n_want,
                        const char *text) {
    if (n_got == (int64_t)n_want && memcmp(got, want, n_want * sizeof *want) == 0) return;
    fail_msg("%lld ids, want %zu: %s", (long long)n_got, n_want, text);
}

static void bpe_merges_as_the_definition_says(void **state) {
    (void)state;
    uint64_t seed = test_seed();
    for (int round = 0; round < 20; round++) {
        made *m = calloc(1, sizeof *m);
        for (char c = 'a'; c <= 'e'; c++) add_token(m, &c, 1, 1, 0);
        grow_merges(m, 20 + (size_t)round * 10, &seed);
        tokenizer *t = create(m, TOKENIZER_BPE, -1);
        for (int k = 0; k < 60; k++) { /* short words and, past 48, the heap's */
            char text[MAX_LEN];
            size_t n = 1 + test_random(&seed) % (k % 10 == 0 ? 300 : 60);
            int letters = 1 + (int)(test_random(&seed) % 5);
            for (size_t i = 0; i < n; i++)
                text[i] = (char)('a' + test_random(&seed) % (unsigned)letters);
            text[n] = 0;
            int32_t want[MAX_LEN], got[MAX_LEN];
            size_t n_want = slow_bpe(m, text, n, want);
            for (int again = 0; again < 2; again++) { /* the second time from what was learnt */
                int64_t n_got = tokenizer_encode(t, text, n, 0, got, MAX_LEN);
                assert_same(got, n_got, want, n_want, text);
            }
        }
        tokenizer_free(t);
        free(m);
    }
}

/* Over the whole text: the pair whose union is the token of the highest score, leftmost first. */
static size_t slow_spm(const made *m, const char *s, size_t n, int32_t *out) {
    tokenizer_string part[MAX_LEN];
    size_t count = 0, n_out = 0;
    for (size_t i = 0; i < n;) {
        int32_t cp;
        size_t len = fo_utf8_decode(s + i, n - i, &cp);
        part[count++] = (tokenizer_string){s + i, len};
        i += len;
    }
    for (;;) {
        int best = -1;
        size_t at = 0;
        for (size_t i = 0; i + 1 < count; i++) {
            int id = find_token(m, part[i].data, part[i].len + part[i + 1].len);
            if (id >= 0 && (best < 0 || m->scores[id] > m->scores[best])) {
                best = id;
                at = i;
            }
        }
        if (best < 0) break;
        part[at].len += part[at + 1].len;
        count--;
        memmove(&part[at + 1], &part[at + 2], (count - at - 1) * sizeof *part);
    }
    for (size_t i = 0; i < count; i++) {
        int id = find_token(m, part[i].data, part[i].len);
        if (id >= 0)
            out[n_out++] = id;
        else
            for (size_t k = 0; k < part[i].len; k++) out[n_out++] = (unsigned char)part[i].data[k];
    }
    return n_out;
}

static void spm_merges_as_the_definition_says(void **state) {
    (void)state;
    uint64_t seed = test_seed();
    static const char alphabet[][4] = {"\xE2\x96\x81", "a", "b", "c", "\xC3\xA9"};
    for (int round = 0; round < 24; round++) {
        made *m = calloc(1, sizeof *m);
        for (int b = 0; b < 256; b++) {
            char name[8];
            snprintf(name, sizeof name, "<0x%02X>", b);
            add_token(m, name, 6, 6, 0);
        }
        bool crossing = round % 2; /* pieces with a space behind another character */
        for (int i = 0; i < 60 + round; i++) {
            char piece[64] = "";
            int len = 1 + (int)(test_random(&seed) % 5);
            for (int k = 0; k < len; k++)
                strcat(piece, alphabet[test_random(&seed) % (k && !crossing ? 4 : 5) +
                                       (k && !crossing ? 1 : 0)]);
            if (find_token(m, piece, strlen(piece)) < 0)
                add_token(m, piece, strlen(piece), 1, -(float)(test_random(&seed) % 40));
        }
        tokenizer *t = create(m, TOKENIZER_SPM, 0);
        for (int k = 0; k < 60; k++) {
            char marked[MAX_LEN * 3] = "", text[MAX_LEN * 3] = "";
            size_t n = 1 + test_random(&seed) % (k % 10 == 0 ? 120 : 30);
            for (size_t i = 0; i < n; i++) {
                size_t c = test_random(&seed) % 5;
                strcat(marked, alphabet[c]);
                strcat(text, c ? alphabet[c] : " ");
            }
            int32_t want[MAX_LEN * 3], got[MAX_LEN * 3];
            size_t n_want = slow_spm(m, marked, strlen(marked), want);
            for (int again = 0; again < 2; again++) {
                int64_t n_got = tokenizer_encode(t, text, strlen(text), 0, got, MAX_LEN * 3);
                /* Byte tokens of a space come from a space, not from U+2581's three bytes. */
                if (find_token(m, alphabet[0], 3) >= 0) assert_same(got, n_got, want, n_want, text);
            }
        }
        tokenizer_free(t);
        free(m);
    }
}

/* ---- special tokens, decoding ---- */

/* Tokens 0 to 255: the bytes. */
static void add_bytes(made *m) {
    for (int b = 0, extra = 0; b < 256; b++) {
        char text[4];
        bool plain = (b >= 0x21 && b <= 0x7E) || (b >= 0xA1 && b <= 0xAC) || b >= 0xAE;
        add_token(m, text, fo_utf8_encode(plain ? b : 0x100 + extra, text), 1, 0);
        extra += !plain;
    }
}

static tokenizer *make_small(bool strip) {
    made *m = calloc(1, sizeof *m);
    add_bytes(m);
    add_token(m, "<|im_end|>", 10, 3, 0); /* 256 */
    add_token(m, "<user>", 6, 4, 0);      /* 257 */
    add_token(m, "<|im_end|>>", 11, 3, 0);
    add_token(m, "\xE4\xB8\xAD", 3, 1, 0); /* 259: raw, not in the alphabet of bytes */
    tokenizer_spec spec = tokenizer_spec_default(TOKENIZER_BPE);
    spec.pre = "gpt-2";
    spec.tokens = m->tokens;
    spec.n_tokens = m->n;
    spec.types = m->types;
    spec.bos = spec.eos = 256;
    spec.add_bos = 1;
    spec.strip_special = strip;
    tokenizer *t = NULL;
    fo_err err = {0};
    assert_ok(tokenizer_create(&t, &spec, &err), &err);
    free(m);
    return t;
}

static void special_tokens_in_text_need_permission(void **state) {
    (void)state;
    tokenizer *t = make_small(false);
    int32_t ids[64];
    assert_int_equal(tokenizer_encode(t, "a<|im_end|>", 11, 0, ids, 64), 11);
    assert_int_equal(tokenizer_encode(t, "a<|im_end|>", 11, TOKENIZER_PARSE_SPECIAL, ids, 64), 2);
    assert_int_equal(ids[1], 256);
    assert_int_equal(tokenizer_encode(t, "<|im_end|>>", 11, TOKENIZER_PARSE_SPECIAL, ids, 64), 1);
    assert_int_equal(ids[0], 258); /* the longest wins */
    assert_int_equal(tokenizer_encode(t, "a<user>b", 8, 0, ids, 64), 3);
    assert_int_equal(ids[1], 257);
    assert_int_equal(tokenizer_encode(t, "a", 1, TOKENIZER_ADD_SPECIAL, ids, 64), 2);
    assert_int_equal(ids[0], 256);
    assert_true(tokenizer_is_end(t, 256));
    assert_false(tokenizer_is_end(t, 'a'));
    assert_int_equal(tokenizer_attributes(t, 257), TOKENIZER_USER_DEFINED);
    assert_int_equal(tokenizer_find(t, "<|im_end|>", 10), 256);
    tokenizer_free(t);
    t = make_small(true);
    assert_int_equal(tokenizer_encode(t, "<|im_end|> \n a", 14, TOKENIZER_PARSE_SPECIAL, ids, 64),
                     2);
    tokenizer_free(t);
}

/* Files name a token of plain text as padding, and no type for "<s>". */
static void a_token_of_text_stays_one_whatever_names_it(void **state) {
    (void)state;
    static const struct {
        const char *name;
        unsigned attributes;
    } tokens[] = {{"<s>", TOKENIZER_CONTROL},
                  {"[SEP]", TOKENIZER_CONTROL},
                  {"<\xEF\xBD\x9C"
                   "end\xE2\x96\x81\xEF\xBD\x9C>",
                   TOKENIZER_CONTROL},
                  {"[]", TOKENIZER_NORMAL}};
    static const char text[] = "Hi! [what]? \nYes.";
    made *m = calloc(1, sizeof *m);
    tokenizer *t = NULL;
    fo_err err = {0};
    fo_buf out = {0};
    int32_t ids[64];
    add_bytes(m);
    for (size_t i = 0; i < 4; i++) add_token(m, tokens[i].name, strlen(tokens[i].name), 1, 0);
    tokenizer_spec spec = tokenizer_spec_default(TOKENIZER_BPE);
    spec.pre = "gpt-2";
    spec.tokens = m->tokens;
    spec.n_tokens = m->n;
    spec.pad = '!';
    spec.mask = '?';
    spec.cls = 259;
    spec.eot = '\n';
    spec.bos = 256;
    spec.sep = 257;
    spec.eos = 258;
    assert_ok(tokenizer_create(&t, &spec, &err), &err);
    for (int32_t i = 0; i < 4; i++)
        assert_int_equal(tokenizer_attributes(t, 256 + i) & 0xff, tokens[i].attributes);
    for (unsigned flags = 0; flags <= TOKENIZER_PARSE_SPECIAL; flags += TOKENIZER_PARSE_SPECIAL) {
        int64_t n = tokenizer_encode(t, text, sizeof text - 1, flags, ids, 64);
        assert_int_equal(n, sizeof text - 1);
        for (int64_t i = 0; i < n; i++) assert_int_equal(ids[i], text[i]);
    }
    assert_ok(tokenizer_decode(t, ids, sizeof text - 1, false, &out, &err), &err);
    assert_string_equal(out.data, text);
    assert_true(tokenizer_is_end(t, 258) && tokenizer_is_end(t, '\n'));
    fo_buf_free(&out);
    tokenizer_free(t);
    free(m);
}

static void a_raw_token_is_never_made_of_text(void **state) {
    (void)state;
    tokenizer *t = make_small(false);
    int32_t ids[8], raw = 259;
    assert_int_equal(tokenizer_encode(t, "\xE4\xB8\xAD", 3, 0, ids, 8), 3);
    assert_int_equal(tokenizer_attributes(t, raw), TOKENIZER_NORMAL);
    fo_buf out = {0};
    fo_err err = {0};
    assert_ok(tokenizer_decode(t, &raw, 1, false, &out, &err), &err);
    assert_string_equal(out.data, "\xE4\xB8\xAD");
    fo_buf_free(&out);
    tokenizer_free(t);
}

static void a_stream_never_splits_a_code_point(void **state) {
    (void)state;
    tokenizer *t = make_small(false);
    static const char text[] = "a\xC3\xA9\xE4\xB8\xAD\xF0\x9F\x98\x80<user>\xE2\x82"
                               "b\xF0\x9F";
    static const char want[] = "a\xC3\xA9\xE4\xB8\xAD\xF0\x9F\x98\x80<user>\xEF\xBF\xBD"
                               "b\xEF\xBF\xBD";
    int32_t ids[64];
    int64_t n = tokenizer_encode(t, text, sizeof text - 1, 0, ids, 64);
    detokenizer d;
    detokenizer_init(&d, t, false, false);
    fo_buf out = {0}, whole = {0};
    fo_err err = {0};
    for (int64_t i = 0; i < n; i++) {
        assert_ok(detokenizer_push(&d, ids[i], &out, &err), &err);
        assert_true(fo_utf8_valid(out.data, out.len, NULL));
    }
    assert_int_equal(out.len, sizeof want - 1 - 3); /* the last part may yet be completed */
    assert_ok(detokenizer_end(&d, &out, &err), &err);
    assert_string_equal(out.data, want);
    assert_ok(tokenizer_decode(t, ids, (size_t)n, false, &whole, &err), &err);
    assert_string_equal(whole.data, want);
    assert_int_equal(detokenizer_push(&d, 260, &out, &err), FO_EINVAL);
    fo_buf_free(&out);
    fo_buf_free(&whole);
    tokenizer_free(t);
}

/* ---- pre-tokenisers: pieces that Hugging Face's tokenizers give for the published patterns ----
 */

static int join_piece(void *arg, const char *s, size_t n) {
    fo_buf_add(arg, s, n);
    fo_buf_char(arg, '|');
    return 0;
}

static void pretokenisers_cut_as_their_patterns_say(void **state) {
    (void)state;
    static const struct {
        const char *pre, *text, *want;
    } cases[] = {
        {"gpt-2", "I'll  go 12345!!\n\n x", "I|'ll| | go| 12345|!!|\n\n| x|"},
        {"llama-bpe", "I'LL  go 12345!!\n\n x", "I|'LL| | go| |123|45|!!\n\n| x|"},
        {"qwen2", "a 12 \n\n b", "a| |1|2| \n\n| b|"},
        {"llada-moe", "I'Ll a.b 12!\r\n \n\n  b", "I|'Ll| a|.b| |1|2|!\r\n| \n\n| | b|"},
        {"bailingmoe", "a \n \n\r\n b\n\n", "a| \n \n\r\n| b|\n\n|"},
        {"bailingmoe2", "x'd 3", "x|'d| |3|"},
        {"starcoder", " 12 ab", " |1|2| ab|"},
        {"falcon", "a, b 1234 x=y", "a|,| b| |123|4| x|=|y|"},
        {"deepseek-llm", "if x\n  \xC3\xA4y1234,z \xE4\xB8\xAD\xE3\x80\x82  ",
         "if| x|\n| | \xC3\xA4|y|1234|,|z| |\xE4\xB8\xAD|\xE3\x80\x82|  |"},
        {"deepseek-coder", "if x\n  y1,z", "if| x|\n| | y|1|,|z|"},
        {"deepseek-v3", "foo_bar 1234 \xE4\xB8\xAD!", "foo|_bar| |123|4| |\xE4\xB8\xAD|!|"},
        {"tekken", "CamelCase HTMLParser 12/\n", "Camel|Case| HTMLParser| |1|2|/\n|"},
        {"gpt-4o", "We'll go IPhone12's", "We'll| go| IPhone|12|'s|"},
        {"bloom", " ab, c(d", " ab|,| c|(|d|"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const pretokenizer *p = pretokenizer_find(cases[i].pre);
        assert_non_null(p);
        fo_buf b = {0};
        pretokenize(p, cases[i].text, strlen(cases[i].text), join_piece, &b);
        if (strcmp(b.data, cases[i].want) != 0)
            fail_msg("%s: got %s, want %s", cases[i].pre, b.data, cases[i].want);
        fo_buf_free(&b);
    }
    assert_null(pretokenizer_find("no-such"));
}

static void bad_vocabularies_are_refused(void **state) {
    (void)state;
    tokenizer_string tokens[] = {{"a", 1}, {"b", 1}}, merges[] = {{"ab", 2}};
    int32_t types[] = {1, 9};
    fo_err err = {0};
    tokenizer *t = NULL;
    tokenizer_spec spec = tokenizer_spec_default(TOKENIZER_BPE);
    spec.pre = "gpt-2";
    assert_int_equal(tokenizer_create(&t, &spec, &err), FO_ECORRUPT);
    spec.tokens = tokens;
    spec.n_tokens = 2;
    spec.eos = 2;
    assert_int_equal(tokenizer_create(&t, &spec, &err), FO_ECORRUPT);
    assert_non_null(strstr(err.msg, "eos_token_id"));
    spec.eos = 1;
    spec.merges = merges;
    spec.n_merges = 1;
    assert_int_equal(tokenizer_create(&t, &spec, &err), FO_ECORRUPT);
    spec.n_merges = 0;
    spec.pre = "martian";
    assert_int_equal(tokenizer_create(&t, &spec, &err), FO_EUNSUPPORTED);
    spec.pre = "gpt-2";
    spec.types = types;
    assert_int_equal(tokenizer_create(&t, &spec, &err), FO_ECORRUPT);
    assert_null(t);
}

typedef struct shared_work {
    const tokenizer *t;
    const char *text;
    size_t len;
    int64_t want;
} shared_work;

static void encode_once(void *arg, size_t begin, size_t end, int thread) {
    (void)thread;
    const shared_work *w = arg;
    for (size_t i = begin; i < end; i++)
        assert_int_equal(tokenizer_count(w->t, w->text, w->len, 0), w->want);
}

static void threads_share_a_tokenizer(void **state) {
    (void)state;
    uint64_t seed = test_seed();
    made *m = calloc(1, sizeof *m);
    for (char c = 'a'; c <= 'e'; c++) add_token(m, &c, 1, 1, 0);
    grow_merges(m, 150, &seed);
    char text[2000];
    for (size_t i = 0; i < sizeof text; i++) text[i] = (char)('a' + test_random(&seed) % 5);
    for (size_t i = 7; i < sizeof text; i += 1 + test_random(&seed) % 12) text[i] = '\n';
    tokenizer *alone = create(m, TOKENIZER_BPE, -1), *t = create(m, TOKENIZER_BPE, -1);
    shared_work w = {t, text, sizeof text, tokenizer_count(alone, text, sizeof text, 0)};
    fo_pool *pool = fo_pool_create(4);
    fo_pool_run(pool, 200, 1, encode_once, &w);
    fo_pool_free(pool);
    tokenizer_free(alone);
    tokenizer_free(t);
    free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bpe_merges_as_the_definition_says),
        cmocka_unit_test(spm_merges_as_the_definition_says),
        cmocka_unit_test(special_tokens_in_text_need_permission),
        cmocka_unit_test(a_token_of_text_stays_one_whatever_names_it),
        cmocka_unit_test(a_raw_token_is_never_made_of_text),
        cmocka_unit_test(a_stream_never_splits_a_code_point),
        cmocka_unit_test(pretokenisers_cut_as_their_patterns_say),
        cmocka_unit_test(bad_vocabularies_are_refused),
        cmocka_unit_test(threads_share_a_tokenizer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
