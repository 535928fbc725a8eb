/* tokenizer_unigram_test.c - SentencePiece's unigram model against the definition (the best of all
 * cuts, tried one by one), and its charsmap, against maps made here and against hostile bytes. */
#include "tests/test.h"

#include <math.h>

#include "engine/tokenizer/charsmap.h"
#include "engine/tokenizer/tokenizer.h"

/* ---- a charsmap of a few keys: a double-array trie, built the slow and obvious way ---- */

enum { N_UNITS = 4096 };

typedef struct rule {
    const char *from, *to;
} rule;

typedef struct map_maker {
    uint32_t unit[N_UNITS];
    bool used[N_UNITS];
    const rule *rules;
    size_t n_rules;
    uint32_t value[16]; /* where each rule's text begins */
} map_maker;

static void place(map_maker *m, uint32_t at, const char *prefix) {
    size_t n = strlen(prefix);
    bool child[256] = {false};
    int leaf = -1;
    for (size_t r = 0; r < m->n_rules; r++) {
        if (strncmp(m->rules[r].from, prefix, n) != 0) continue;
        if (m->rules[r].from[n])
            child[(unsigned char)m->rules[r].from[n]] = true;
        else
            leaf = (int)r;
    }
    uint32_t offset =
        1; /* at ^ offset ^ c must be free for every child, and at ^ offset for a leaf */
    for (;; offset++) {
        assert_true((at ^ offset ^ 255) < N_UNITS - 256);
        bool fits = leaf < 0 || !m->used[at ^ offset];
        for (uint32_t c = 1; c < 256; c++) fits &= !child[c] || !m->used[at ^ offset ^ c];
        if (fits) break;
    }
    m->unit[at] |= offset << 10 | (leaf >= 0 ? 1u << 8 : 0);
    if (leaf >= 0) {
        m->used[at ^ offset] = true;
        m->unit[at ^ offset] = m->value[leaf] | 1u << 31;
    }
    for (uint32_t c = 1; c < 256; c++) {
        if (!child[c]) continue;
        m->used[at ^ offset ^ c] = true;
        m->unit[at ^ offset ^ c] = c;
    }
    for (uint32_t c = 1; c < 256; c++) {
        if (!child[c]) continue;
        char longer[64];
        snprintf(longer, sizeof longer, "%s%c", prefix, (char)c);
        place(m, at ^ offset ^ c, longer);
    }
}

static fo_buf make_map(const rule *rules, size_t n) {
    map_maker *m = calloc(1, sizeof *m);
    fo_buf blob = {0}, texts = {0};
    m->rules = rules;
    m->n_rules = n;
    for (size_t r = 0; r < n; r++) {
        m->value[r] = (uint32_t)texts.len;
        fo_buf_add(&texts, rules[r].to, strlen(rules[r].to) + 1);
    }
    m->used[0] = true;
    place(m, 0, "");
    uint32_t bytes = sizeof m->unit;
    fo_buf_add(&blob, &bytes, 4);
    fo_buf_add(&blob, m->unit, bytes);
    fo_buf_add(&blob, texts.data, texts.len);
    fo_buf_free(&texts);
    free(m);
    return blob;
}

static const rule rules[] = {{"\xEF\xAC\x81", "fi"},
                             {"A", "a"},
                             {"AB", "x"},
                             {"\t", " "},
                             {"Z", ""},
                             {"\xC2\xBD", "1\xE2\x81\x84"
                                          "2"},
                             {"ABCD", "long"}};
enum { N_RULES = sizeof rules / sizeof *rules };

static void a_charsmap_that_was_built_says_what_its_rules_say(void **state) {
    (void)state;
    enum { N = 3000 };
    static char keys[N][4], texts[N][8];
    charsmap_rule many[N];
    fo_err err = {0};
    fo_buf blob = {0};
    charsmap m;
    for (int i = 0; i < N;
         i++) { /* of two and three bytes, many with one beginning; some texts empty */
        keys[i][0] = (char)(0xC0 + i % 24);
        keys[i][1] = (char)(0x80 + i / 24 % 63);
        if (i >= 1512) keys[i][2] = (char)(1 + i % 200);
        snprintf(texts[i], sizeof texts[i], "%.*d", i % 5, i % 5 ? i : 0);
        many[i] = (charsmap_rule){keys[i], texts[i], strlen(keys[i]), strlen(texts[i])};
    }
    assert_ok(charsmap_build(many, N, &blob, &err), &err);
    assert_ok(charsmap_init(&m, blob.data, blob.len, &err), &err);
    for (int i = 0; i < N; i++) {
        char longer[8];
        const char *to = NULL;
        size_t len = 0;
        snprintf(longer, sizeof longer, "%s\xFB", many[i].key);
        assert_int_equal(charsmap_match(&m, longer, strlen(longer), &to, &len), many[i].key_len);
        assert_int_equal(len, many[i].text_len);
        assert_memory_equal(to, many[i].text, len);
    }
    const char *to;
    size_t len;
    assert_int_equal(charsmap_match(&m, "plain", 5, &to, &len), 0);
    charsmap_deinit(&m);
    fo_buf_free(&blob);
    many[1] = many[0];
    assert_int_equal(charsmap_build(many, N, &blob, &err), FO_EINVAL); /* one key twice */
    fo_buf_free(&blob);
    assert_ok(charsmap_build(many, 0, &blob, &err), &err);
    assert_ok(charsmap_init(&m, blob.data, blob.len, &err), &err);
    assert_int_equal(charsmap_match(&m, "a", 1, &to, &len), 0);
    charsmap_deinit(&m);
    fo_buf_free(&blob);
}

static void a_charsmap_replaces_the_longest_match(void **state) {
    (void)state;
    fo_buf blob = make_map(rules, N_RULES);
    charsmap m;
    fo_err err = {0};
    assert_ok(charsmap_init(&m, blob.data, blob.len, &err), &err);
    static const struct {
        const char *text;
        size_t used;
        const char *to;
    } cases[] = {{"ABC", 2, "x"}, {"ABCD", 4, "long"},       {"AC", 1, "a"},    {"B", 0, NULL},
                 {"Zx", 1, ""},   {"\xEF\xAC\x81", 3, "fi"}, {"\xEF", 0, NULL}, {"", 0, NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *to = NULL;
        size_t len = 0;
        assert_int_equal(charsmap_match(&m, cases[i].text, strlen(cases[i].text), &to, &len),
                         cases[i].used);
        if (cases[i].to) assert_string_equal(to, cases[i].to);
        if (cases[i].to) assert_int_equal(len, strlen(cases[i].to));
    }
    charsmap_deinit(&m);
    static const size_t cuts[] = {0, 3, 4, 5, 100};
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++)
        assert_int_equal(charsmap_init(&m, blob.data, cuts[i], &err), FO_ECORRUPT);
    assert_int_equal(charsmap_init(&m, blob.data, blob.len - 1, &err), FO_ECORRUPT);
    fo_buf_free(&blob);
}

static void a_hostile_charsmap_is_walked_inside_its_bounds(void **state) {
    (void)state;
    uint64_t seed = test_seed();
    fo_buf blob = make_map(rules, N_RULES);
    for (int round = 0; round < 300; round++) {
        char *copy = malloc(blob.len); /* of its own size: a sanitizer sees a step outside */
        memcpy(copy, blob.data, blob.len);
        for (int k = 0; k < 400; k++) /* the last byte stays: the texts must end */
            copy[4 + test_random(&seed) % (blob.len - 5)] = (char)test_random(&seed);
        charsmap m;
        fo_err err = {0};
        assert_ok(charsmap_init(&m, copy, blob.len, &err), &err);
        for (int k = 0; k < 200; k++) {
            char s[8];
            for (size_t i = 0; i < sizeof s; i++)
                s[i] =
                    k & 1 ? rules[test_random(&seed) % N_RULES].from[0] : (char)test_random(&seed);
            const char *to = NULL;
            size_t len = 0, used = charsmap_match(&m, s, sizeof s, &to, &len);
            assert_true(used <= sizeof s);
            if (used) assert_true(to >= m.texts && to + len < m.texts + m.n_texts);
        }
        charsmap_deinit(&m);
        free(copy);
    }
    fo_buf_free(&blob);
}

/* ---- the model ---- */

enum { MAX_PIECES = 64, UNK = 0 };

typedef struct made {
    char text[MAX_PIECES][32];
    tokenizer_string tokens[MAX_PIECES];
    float scores[MAX_PIECES];
    int32_t types[MAX_PIECES];
    size_t n;
} made;

static void add(made *m, const char *s, float score, int type) {
    snprintf(m->text[m->n], sizeof m->text[0], "%s", s);
    m->tokens[m->n] = (tokenizer_string){m->text[m->n], strlen(s)};
    m->scores[m->n] = score;
    m->types[m->n++] = type;
}

static tokenizer *create(const made *m, const fo_buf *map, bool prefix, bool squeeze) {
    tokenizer_spec spec = tokenizer_spec_default(TOKENIZER_UNIGRAM);
    spec.tokens = m->tokens;
    spec.n_tokens = m->n;
    spec.types = m->types;
    spec.scores = m->scores;
    spec.unk = UNK;
    spec.add_space_prefix = prefix;
    spec.remove_extra_whitespaces = squeeze;
    if (map) spec.charsmap = (tokenizer_string){map->data, map->len};
    tokenizer *t = NULL;
    fo_err err = {0};
    assert_ok(tokenizer_create(&t, &spec, &err), &err);
    return t;
}

/* The best sum over all cuts of s, every character c of which is one byte; spaces are pieces'
 * U+2581. */
static double best_cut(const made *m, const char *s, double unknown) {
    if (!*s) return 0;
    double best = -INFINITY;
    bool known = false;
    for (size_t i = 1; i < m->n; i++) {
        char piece[32];
        size_t n = 0;
        for (const char *p = m->text[i]; *p; n++) {
            bool mark = strncmp(p, "\xE2\x96\x81", 3) == 0;
            piece[n] = mark ? ' ' : *p;
            p += mark ? 3 : 1;
        }
        if (strncmp(s, piece, n) != 0) continue;
        known |= n == 1;
        best = fmax(best, (double)m->scores[i] + best_cut(m, s + n, unknown));
    }
    return known ? best : fmax(best, unknown + best_cut(m, s + 1, unknown));
}

/* "begin-end" of every token, as the text's own bytes. */
static void expect_spans(const tokenizer *t, const char *text, const char *want) {
    int32_t ids[64], plain[64];
    tokenizer_span spans[64];
    char got[512] = "";
    const int64_t n = tokenizer_encode_spans(t, text, strlen(text), ids, spans, 64);
    assert_int_equal(tokenizer_encode(t, text, strlen(text), 0, plain, 64), n);
    assert_memory_equal(ids, plain, (size_t)n * sizeof *ids);
    for (int64_t i = 0; i < n; i++)
        sprintf(got + strlen(got), "|%.*s", (int)(spans[i].end - spans[i].begin),
                text + spans[i].begin);
    if (strcmp(got, want)) fail_msg("\"%s\": got %s, want %s", text, got, want);
}

static void spans_are_the_bytes_a_piece_was_made_of(void **state) {
    (void)state;
    made *m = calloc(1, sizeof *m);
    add(m, "<unk>", 0, 2);
    add(m, "\xE2\x96\x81gar", -1, 1);
    add(m, "ten", -1, 1);
    add(m, "\xE2\x96\x81", -3, 1);
    add(m, "haus", -1, 1);
    add(m, ",", -1, 1);
    charsmap_rule made_of[] = {{"\xEF\xBC\x8C", ",", 3, 1}, {"G", "g", 1, 1}, {"\n", " ", 1, 1}};
    fo_buf map = {0};
    fo_err err = {0};
    assert_ok(charsmap_build(made_of, 3, &map, &err), &err);
    tokenizer *t = create(m, &map, true, true);
    expect_spans(t, "", "");
    expect_spans(t, "Garten,haus", "|Gar|ten|,|haus");
    expect_spans(t, "  haus \n garten",
                 "|h|haus|gar|ten"); /* the space in front is of what follows */
    expect_spans(t, "garten\xEF\xBC\x8C", "|gar|ten|\xEF\xBC\x8C"); /* three bytes became one */
    expect_spans(t, "garxyten", "|gar|xy|ten"); /* two unknown characters are one token */
    int32_t ids[2];
    tokenizer_span spans[2];
    assert_int_equal(tokenizer_encode_spans(t, "garten,haus", 11, ids, spans, 2), 3);
    uint64_t seed = test_seed();
    for (int round = 0; round < 2000; round++) {
        static const char *const parts[] = {"gar",          "ten",  " ", "\n", "G",
                                            "\xEF\xBC\x8C", "\xFF", "x", ",",  "\xE2\x96\x81"};
        char text[256] = "";
        tokenizer_span all[256];
        int32_t some[256];
        for (int k = (int)(test_random(&seed) % 40); k > 0; k--)
            strcat(text, parts[test_random(&seed) % (sizeof parts / sizeof *parts)]);
        const size_t len = strlen(text);
        const int64_t n = tokenizer_encode_spans(t, text, len, some, all, 256);
        for (int64_t i = 0; i < n; i++) {
            if (!(all[i].begin < all[i].end && all[i].end <= len))
                fail_msg("'%s': token %d", text, (int)i);
            if (i) assert_true(all[i].begin >= all[i - 1].begin);
        }
    }
    tokenizer_free(t);
    fo_buf_free(&map);
    free(m);
}

static void the_best_of_all_cuts_is_found(void **state) {
    (void)state;
    uint64_t seed = test_seed();
    for (int round = 0; round < 60; round++) {
        made *m = calloc(1, sizeof *m);
        double least = 0;
        add(m, "<unk>", 0, 2);
        static const char *const single[] = {"a", "b", "c", "\xE2\x96\x81"};
        for (size_t i = 0; i < 4; i++) {
            float score = -(float)test_uniform(&seed) * 10;
            least = fmin(least, (double)score);
            add(m, single[i], score, 1);
        }
        for (int i = 0; i < 24;
             i++) { /* pieces of a, b, c; spaces in front, in some rounds anywhere */
            char s[32] = "";
            int n = 1 + (int)(test_random(&seed) % 4);
            for (int k = 0; k < n; k++) {
                bool space = test_random(&seed) % 6 == 0 && (k == 0 || round % 3 == 0);
                char letter[2] = {(char)('a' + test_random(&seed) % 3), 0};
                strcat(s, space ? "\xE2\x96\x81" : letter);
            }
            bool twin = false;
            for (size_t j = 1; j < m->n; j++) twin |= strcmp(m->text[j], s) == 0;
            if (twin) continue;
            float score = -(float)test_uniform(&seed) * 10;
            least = fmin(least, (double)score);
            add(m, s, score, 1);
        }
        tokenizer *t = create(m, NULL, false, false);
        for (int k = 0; k < 40; k++) {
            char text[16];
            size_t n = 1 + test_random(&seed) % 12;
            for (size_t i = 0; i < n; i++) text[i] = "abcabcd "[test_random(&seed) % 8];
            text[n] = 0;
            int32_t ids[32];
            int64_t got = tokenizer_encode(t, text, n, 0, ids, 32);
            assert_in_range(got, 1, 32);
            /* What was chosen, read back. Only 'd' is in no piece; a run of them is one token. */
            double sum = 0;
            size_t at = 0;
            for (int64_t i = 0; i < got; i++) {
                if (ids[i] == UNK) {
                    assert_int_equal(text[at], 'd');
                    for (; text[at] == 'd'; at++) sum += least - 10;
                    continue;
                }
                tokenizer_string p = tokenizer_piece(t, ids[i]);
                assert_memory_equal(text + at, p.data, p.len);
                sum += (double)m->scores[ids[i]];
                at += p.len;
            }
            assert_int_equal(at, n);
            double want = best_cut(m, text, least - 10);
            if (fabs(sum - want) > 1e-4) fail_msg("'%s': %g instead of %g", text, sum, want);
        }
        tokenizer_free(t);
        free(m);
    }
}

static void assert_ids(const tokenizer *t, const char *text, unsigned flags, const char *want) {
    int32_t ids[64];
    int64_t n = tokenizer_encode(t, text, strlen(text), flags, ids, 64);
    assert_in_range(n, 0, 64);
    fo_buf got = {0};
    for (int64_t i = 0; i < n; i++) fo_buf_printf(&got, i ? " %d" : "%d", (int)ids[i]);
    fo_buf_char(&got, 0);
    if (strcmp(got.data, want) != 0) fail_msg("'%s': %s instead of %s", text, got.data, want);
    fo_buf_free(&got);
}

static void text_is_normalised_first(void **state) {
    (void)state;
    made *m = calloc(1, sizeof *m);
    add(m, "<unk>", 0, 2);
    add(m, "<s>", 0, 3);
    add(m, "</s>", 0, 3);
    add(m, "\xE2\x96\x81", -3, 1); /* 3 */
    add(m,
        "\xE2\x96\x81"
        "fi",
        -2, 1);                /* 4 */
    add(m, "a", -2, 1);        /* 5 */
    add(m, "fi", -4, 1);       /* 6 */
    add(m, "<mask>", 0, 4);    /* 7 */
    add(m, "\xC3\xA9", -2, 1); /* 8 */
    fo_buf map = make_map(rules, N_RULES);
    tokenizer *t = create(m, &map, true, true);
    assert_ids(t, "\xEF\xAC\x81", 0, "4");     /* the ligature is two letters */
    assert_ids(t, "  a \t  a ", 0, "3 5 3 5"); /* white space is squeezed */
    assert_ids(t, "qqAq", 0, "3 0 5 0");       /* a run of unknown characters is one token */
    assert_ids(t, "q q", 0, "3 0 3 0");
    assert_ids(t, "ZZ", 0, "");                /* nothing is left, not even the prefix */
    assert_ids(t, "a<mask>a", 0, "3 5 7 3 5"); /* user-defined: whole, wherever it stands */
    assert_ids(t, "\xC3\xA9\xC3", 0, "3 8 0"); /* what is not UTF-8 is unknown, no more */
    assert_ids(t, "a</s>", TOKENIZER_PARSE_SPECIAL, "3 5 2");
    assert_ids(t, "a", TOKENIZER_CONTINUES, "5"); /* behind other text no space is due */
    assert_ids(t, "a</s>a", TOKENIZER_CONTINUES | TOKENIZER_PARSE_SPECIAL, "5 2 3 5");
    assert_ids(t, "a<mask>a", TOKENIZER_CONTINUES, "5 7 3 5");
    assert_int_equal(tokenizer_special_at(t, "</s>a", 5), 4);
    assert_int_equal(tokenizer_special_at(t, "</s>a", 3), 0);
    assert_int_equal(tokenizer_special_at(t, "", 0), 0);
    tokenizer_free(t);
    t = create(m, &map, false, false);
    assert_ids(t, " a  a", 0, "3 5 3 3 5");
    char *text = malloc(5000); /* a word longer than the scratch on the stack */
    memset(text, 'a', 5000);
    assert_int_equal(tokenizer_count(t, text, 5000, 0), 5000);
    free(text);
    tokenizer_free(t);
    m->scores[5] = NAN;
    tokenizer_spec spec = tokenizer_spec_default(TOKENIZER_UNIGRAM);
    spec.tokens = m->tokens;
    spec.n_tokens = m->n;
    spec.scores = m->scores;
    fo_err err = {0};
    assert_int_equal(tokenizer_create(&t, &spec, &err), FO_ECORRUPT);
    assert_non_null(strstr(err.msg, "scores[5]"));
    fo_buf_free(&map);
    free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_charsmap_that_was_built_says_what_its_rules_say),
        cmocka_unit_test(a_charsmap_replaces_the_longest_match),
        cmocka_unit_test(a_hostile_charsmap_is_walked_inside_its_bounds),
        cmocka_unit_test(spans_are_the_bytes_a_piece_was_made_of),
        cmocka_unit_test(the_best_of_all_cuts_is_found),
        cmocka_unit_test(text_is_normalised_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
