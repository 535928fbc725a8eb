/* First byte: which tokenizer (0-15) and flags; the rest is text. Or, from 128 on: the rest is a
 * vocabulary, a zero byte, and text. Promises: ids are in range, counting agrees with encoding,
 * text survives byte-level BPE, streaming agrees with decoding at once, WordPiece's spans ascend
 * within the text and come with the same ids. */
#include <stdbool.h>
#include <string.h>

#include "engine/tokenizer/tokenizer.h"
#include "kernels/utf8.h"
#include "tests/fuzz/fuzz.h"

static const char *const pres[] = {
    "gpt-2",  "llama-bpe", "qwen2", "starcoder", "falcon",  "deepseek-coder", "deepseek-v3",
    "tekken", "gpt-4o",    "bloom", "viking",    "default", "command-r",      "qwen35"};
enum { N_PRE = sizeof pres / sizeof *pres, N_KINDS = N_PRE + 2, MAX_TOKENS = 400 };

/* Tokens in an arena: 256 bytes in GPT-2's alphabet or as <0x00>, then some words. */
typedef struct vocab {
    tokenizer_string s[MAX_TOKENS];
    int32_t types[MAX_TOKENS];
    float scores[MAX_TOKENS];
    char pool[8192];
    size_t n, used;
} vocab;

static void add(vocab *v, const char *p, size_t n, int type, float score) {
    if (v->n == MAX_TOKENS || sizeof v->pool - v->used < n) return;
    memcpy(v->pool + v->used, p, n);
    v->s[v->n] = (tokenizer_string){v->pool + v->used, n};
    v->types[v->n] = type;
    v->scores[v->n++] = score;
    v->used += n;
}

static void add_bytes(vocab *v, bool spm) {
    for (int b = 0, extra = 0; b < 256; b++) {
        char text[8];
        if (spm) {
            snprintf(text, sizeof text, "<0x%02X>", b);
            add(v, text, 6, 6, 0);
            continue;
        }
        bool plain = (b >= 0x21 && b <= 0x7E) || (b >= 0xA1 && b <= 0xAC) || b >= 0xAE;
        add(v, text, fo_utf8_encode(plain ? b : 0x100 + extra, text), 1, 0);
        extra += !plain;
    }
}

static tokenizer *make(int kind) {
    static const char *const words[] = {
        "th",  "the", "\xC4\xA0t",        "\xC4\xA0the",     "aa", "aaaa", "ab", "ba", "in",
        "ing", "00",  "\xC3\x83\xC2\xA9", "\xC4\xA0\xC4\xA0"};
    static const tokenizer_string merges[] = {{"t h", 3},
                                              {"th e", 4},
                                              {"a a", 3},
                                              {"\xC4\xA0 the", 6},
                                              {"\xC4\xA0 t", 4},
                                              {"aa aa", 5},
                                              {"a b", 3},
                                              {"b a", 3},
                                              {"i n", 3},
                                              {"in g", 4},
                                              {"0 0", 3},
                                              {"\xC3\x83 \xC2\xA9", 5},
                                              {"\xC4\xA0 \xC4\xA0", 5}};
    static const char *const marks[] = {"\xE2\x96\x81",
                                        "\xE2\x96\x81t",
                                        "\xE2\x96\x81the",
                                        "t",
                                        "h",
                                        "e",
                                        "th",
                                        "aa",
                                        "a",
                                        "b",
                                        "ab",
                                        "\xE2\x96\x81\xE2\x96\x81",
                                        "\xC3\xA9"};
    static const char *const pieces[] = {"[UNK]", "[CLS]", "[SEP]", "the",          "th",   "##e",
                                         "a",     "##a",   ",",     "\xE4\xB8\xAD", "##ing"};
    vocab *v = calloc(1, sizeof *v);
    tokenizer_spec spec = tokenizer_spec_default(kind < N_PRE ? TOKENIZER_BPE : TOKENIZER_SPM);
    tokenizer *t = NULL;
    fo_err err = {0};
    if (kind == N_PRE + 1) {
        for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++)
            v->s[v->n++] = (tokenizer_string){pieces[i], strlen(pieces[i])};
        FUZZ_CHECK(tokenizer_from_wordpiece(&t, v->s, v->n, &err) == FO_OK);
        free(v);
        return t;
    }
    add_bytes(v, kind == N_PRE);
    if (kind < N_PRE) {
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
            add(v, words[i], strlen(words[i]), 1, 0);
        spec.pre = pres[kind];
        spec.merges = merges;
        spec.n_merges = sizeof merges / sizeof *merges;
    } else {
        for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
            add(v, marks[i], strlen(marks[i]), 1, -(float)i);
    }
    add(v, "<|end|>", 7, 3, 0);
    spec.eos = (int32_t)v->n - 1;
    add(v, "<user>", 6, 4, 0);
    spec.tokens = v->s;
    spec.n_tokens = v->n;
    spec.types = v->types;
    spec.scores = v->scores;
    FUZZ_CHECK(tokenizer_create(&t, &spec, &err) == FO_OK);
    free(v);
    return t;
}

static void check_spans(const tokenizer *t, const char *text, size_t len) {
    int32_t *ids;
    size_t n;
    fo_err err = {0};
    FUZZ_CHECK(tokenizer_encode_alloc(t, text, len, 0, &ids, &n, &err) == FO_OK);
    for (int few = 0; few < 2; few++) {
        const size_t cap = few ? n / 2 : n;
        int32_t *again = malloc((cap + 1) * sizeof *again);
        tokenizer_span *spans = malloc((cap + 1) * sizeof *spans);
        const int64_t got = tokenizer_encode_spans(t, text, len, again, spans, cap);
        FUZZ_CHECK(got == (int64_t)(cap < n ? cap + 1 : n));
        FUZZ_CHECK(!cap || !memcmp(ids, again, cap * sizeof *ids));
        for (size_t i = 0; i < cap; i++) {
            FUZZ_CHECK(spans[i].begin < spans[i].end && spans[i].end <= len);
            FUZZ_CHECK(!i ||
                       (spans[i].begin >= spans[i - 1].begin && spans[i].end >= spans[i - 1].end));
        }
        free(again);
        free(spans);
    }
    free(ids);
}

static void check_text(const tokenizer *t, const char *text, size_t len, unsigned flags,
                       bool lossless) {
    int32_t *ids;
    size_t n;
    fo_err err = {0};
    FUZZ_CHECK(tokenizer_encode_alloc(t, text, len, flags, &ids, &n, &err) == FO_OK);
    FUZZ_CHECK(tokenizer_count(t, text, len, flags) == (int64_t)n);
    fo_buf whole = {0}, parts = {0}, raw = {0};
    detokenizer d;
    detokenizer_init(&d, t, true, false);
    for (size_t i = 0; i < n; i++) {
        FUZZ_CHECK(ids[i] >= 0 && ids[i] < tokenizer_vocab_size(t));
        FUZZ_CHECK(detokenizer_push(&d, ids[i], &parts, &err) == FO_OK);
        FUZZ_CHECK(!parts.len || fo_utf8_valid(parts.data, parts.len, NULL));
        tokenizer_string p = tokenizer_piece(t, ids[i]);
        fo_buf_add(&raw, p.data, p.len);
    }
    FUZZ_CHECK(detokenizer_end(&d, &parts, &err) == FO_OK);
    FUZZ_CHECK(tokenizer_decode(t, ids, n, true, &whole, &err) == FO_OK);
    FUZZ_CHECK(whole.len == parts.len &&
               (!whole.len || !memcmp(whole.data, parts.data, whole.len)));
    if (lossless) FUZZ_CHECK(raw.len == len && (!len || !memcmp(raw.data, text, len)));
    fo_buf_free(&whole);
    fo_buf_free(&parts);
    fo_buf_free(&raw);
    free(ids);
    if (tokenizer_get_kind(t) == TOKENIZER_WORDPIECE) check_spans(t, text, len);
}

/* Lines of the data are tokens; a line with a space also serves as a merge. */
static void check_vocabulary(const uint8_t *data, size_t size) {
    tokenizer_string s[256], merges[256];
    int32_t types[256];
    float scores[256];
    size_t n = 0, n_merges = 0, at = 1;
    const uint8_t *zero = size > 1 ? memchr(data + 1, 0, size - 1) : NULL;
    size_t end = zero ? (size_t)(zero - data) : size;
    while (at < end && n < 256) {
        const uint8_t *nl = memchr(data + at, '\n', end - at);
        size_t stop = nl ? (size_t)(nl - data) : end;
        s[n] = (tokenizer_string){(const char *)data + at, stop - at};
        types[n] = stop > at ? 1 + data[at] % 6 : 1;
        scores[n] = -(float)n;
        if (stop > at && memchr(data + at, ' ', stop - at)) merges[n_merges++] = s[n];
        n++;
        at = stop + 1;
    }
    const char *text = zero ? (const char *)zero + 1 : "";
    size_t len = zero ? size - end - 1 : 0;
    for (int kind = TOKENIZER_WORDPIECE; kind <= TOKENIZER_SPM; kind++) {
        tokenizer_spec spec = tokenizer_spec_default((tokenizer_kind)kind);
        spec.tokens = s;
        spec.n_tokens = n;
        spec.types = data[0] & 1 ? types : NULL;
        spec.scores = scores;
        spec.merges = merges;
        spec.n_merges = n_merges;
        spec.unk = data[0] & 2 ? 0 : -1;
        spec.strip_special = data[0] & 4;
        spec.remove_extra_whitespaces = data[0] & 8;
        tokenizer *t = NULL;
        fo_err err = {0};
        if (tokenizer_create(&t, &spec, &err)) {
            FUZZ_CHECK(!t && err.msg[0]);
            continue;
        }
        check_text(t, text, len, data[0] >> 4 & 3, false);
        tokenizer_free(t);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static tokenizer *made[N_KINDS];
    if (!size) return 0;
    if (data[0] >= 128) {
        check_vocabulary(data, size);
        return 0;
    }
    int kind = data[0] % N_KINDS;
    unsigned flags = data[0] >> 5 & 3;
    if (!made[kind]) made[kind] = make(kind);
    check_text(made[kind], (const char *)data + 1, size - 1, flags,
               kind < N_PRE && !(flags & TOKENIZER_ADD_SPECIAL));
    return 0;
}
