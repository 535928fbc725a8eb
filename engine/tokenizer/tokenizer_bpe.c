/* tokenizer_bpe.c - byte-level BPE (GPT-2 and its children).
 * Source: Sennrich 2016 for the merges; Radford 2019 for the alphabet of bytes.
 *
 * Pieces are kept as raw bytes, so the detour over printable characters that the files take is
 * gone after loading. A merge is a pair of token ids -> rank and the id they become. A word that is
 * a token and that the merges do build is found with one hash lookup; whether they build it is
 * worked out when the word is first met (an atomic per token: the same answer from any thread). */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "engine/tokenizer/pretokenize.h"
#include "engine/tokenizer/tokenizer_impl.h"
#include "engine/tokenizer/tokenizer_merge.h"
#include "kernels/utf8.h"

typedef struct pair { /* 16 bytes; four to a cache line */
    int32_t left, right;
    uint32_t rank; /* MERGE_NEVER: the slot is free */
    int32_t id;
} pair;

struct bpe {
    const pretokenizer *pre;
    pair *pairs;
    uint32_t pair_shift, pair_mask;
    uint64_t keys[2]; /* the tokenizer's */
    int32_t byte_id[256];
    atomic_uchar *whole; /* per token, a `whole_state` */
};

enum whole_state { WHOLE_UNKNOWN = 0, WHOLE_YES = 1, WHOLE_NO = 2 };

/* GPT-2's alphabet: printable Latin-1 stands for itself, the other 68 bytes follow from U+0100. */
static int32_t byte_of(int32_t cp) {
    if ((cp >= 0x21 && cp <= 0x7E) || (cp >= 0xA1 && cp <= 0xAC) || (cp >= 0xAE && cp <= 0xFF))
        return cp;
    if (cp >= 0x100 && cp <= 0x120) return cp - 0x100;        /* 00-20 */
    if (cp >= 0x121 && cp <= 0x142) return cp - 0x121 + 0x7F; /* 7F-A0 */
    return cp == 0x143 ? 0xAD : -1;
}

int64_t tokenizer_bpe_unmap(const char *s, size_t n, char *out) {
    int64_t len = 0;
    for (size_t i = 0; i < n;) {
        int32_t cp;
        i += fo_utf8_decode(s + i, n - i, &cp);
        int32_t b = byte_of(cp);
        if (b < 0) return -1;
        out[len++] = (char)b;
    }
    return len;
}

static inline uint32_t pair_slot(const struct bpe *b, int32_t left, int32_t right) {
    uint64_t both = (uint64_t)(uint32_t)left << 32 | (uint32_t)right;
    return (uint32_t)(tokenizer_fold(both ^ b->keys[0], b->keys[1]) >> b->pair_shift);
}

static inline uint32_t pair_lookup(const void *ctx, const char *s, const merge_symbol *left,
                                   const merge_symbol *right, int32_t *id) {
    (void)s;
    const struct bpe *b = ctx;
    for (uint32_t i = pair_slot(b, left->id, right->id);; i = (i + 1) & b->pair_mask) {
        const pair *p = &b->pairs[i];
        if (p->rank == MERGE_NEVER) return MERGE_NEVER;
        if (p->left == left->id && p->right == right->id) {
            *id = p->id;
            return p->rank;
        }
    }
}

static void pair_add(struct bpe *b, pair p) {
    uint32_t i = pair_slot(b, p.left, p.right);
    for (; b->pairs[i].rank != MERGE_NEVER; i = (i + 1) & b->pair_mask)
        if (b->pairs[i].left == p.left && b->pairs[i].right == p.right) return; /* first wins */
    b->pairs[i] = p;
}

/* One line "left right" of the merges, in the file's alphabet. Merges whose parts or result are
 * no tokens can never be used and are left out. */
static int add_merge(tokenizer *t, tokenizer_string m, uint32_t rank, char *bytes, fo_err *err) {
    const char *space = m.len > 1 ? memchr(m.data + 1, ' ', m.len - 1) : NULL;
    if (!space || space + 1 == m.data + m.len)
        return fo_fail(err, FO_ECORRUPT, "tokenizer.ggml.merges[%u] is not two parts", rank);
    size_t n_left = (size_t)(space - m.data);
    int64_t a = tokenizer_bpe_unmap(m.data, n_left, bytes);
    int64_t c = a < 0 ? -1 : tokenizer_bpe_unmap(space + 1, m.len - n_left - 1, bytes + a);
    if (c < 0) return FO_OK;
    pair p = {.left = tokenizer_vocab_find(t, bytes, (size_t)a),
              .right = tokenizer_vocab_find(t, bytes + a, (size_t)c),
              .rank = rank,
              .id = tokenizer_vocab_find(t, bytes, (size_t)(a + c))};
    if (p.left >= 0 && p.right >= 0 && p.id >= 0) pair_add(t->bpe, p);
    return FO_OK;
}

int tokenizer_bpe_create(tokenizer *t, const tokenizer_spec *spec, fo_err *err) {
    struct bpe *b = t->bpe = calloc(1, sizeof *b);
    if (!b) return fo_fail(err, FO_ENOMEM, "tokenizer: out of memory");
    b->pre = pretokenizer_find(spec->pre);
    if (!b->pre)
        return fo_fail(err, FO_EUNSUPPORTED, "tokenizer.ggml.pre is \"%s\", which is not known",
                       spec->pre);
    if (spec->n_merges > 1u << 26)
        return fo_fail(err, FO_ECORRUPT, "tokenizer.ggml.merges has %zu lines", spec->n_merges);
    if (spec->add_bos < 0) t->add_bos = b->pre->add_bos;
    uint32_t bits = 4;
    while ((size_t)1 << bits < spec->n_merges * 2) bits++;
    b->pair_shift = 64 - bits;
    memcpy(b->keys, t->keys, sizeof b->keys);
    b->pair_mask = (1u << bits) - 1;
    b->pairs = malloc(((size_t)1 << bits) * sizeof *b->pairs);
    b->whole = calloc((size_t)t->n_vocab, sizeof *b->whole);
    size_t longest = 0;
    for (size_t i = 0; i < spec->n_merges; i++)
        if (spec->merges[i].len > longest) longest = spec->merges[i].len;
    char *bytes = malloc(longest + 1);
    int rc =
        b->pairs && b->whole && bytes ? FO_OK : fo_fail(err, FO_ENOMEM, "tokenizer: out of memory");
    if (!rc)
        for (size_t i = 0; i <= b->pair_mask; i++) b->pairs[i].rank = MERGE_NEVER;
    for (size_t i = 0; i < spec->n_merges && !rc; i++)
        rc = add_merge(t, spec->merges[i], (uint32_t)i, bytes, err);
    for (int c = 0; c < 256 && !rc; c++) {
        char byte = (char)c;
        b->byte_id[c] = tokenizer_vocab_find(t, &byte, 1);
    }
    free(bytes);
    return rc;
}

void tokenizer_bpe_free(struct bpe *b) {
    if (!b) return;
    free(b->pairs);
    free(b->whole);
    free(b);
}

typedef struct encoding {
    const tokenizer *t;
    token_sink *sink;
} encoding;

static int encode_word(void *arg, const char *s, size_t n) {
    encoding *e = arg;
    const tokenizer *t = e->t;
    const struct bpe *b = t->bpe;
    int32_t whole = tokenizer_vocab_find(t, s, n);
    if (whole >= 0) {
        unsigned char state = atomic_load_explicit(&b->whole[whole], memory_order_relaxed);
        if (b->pre->whole_words || state == WHOLE_YES) {
            sink_add(e->sink, whole);
            return FO_OK;
        }
        if (state == WHOLE_NO) whole = -1;
    }
    merge_symbol few[MERGE_SHORT], *sym = few;
    if (n > MERGE_SHORT) {
        sym = malloc(n * sizeof *sym);
        if (!sym) return FO_ENOMEM;
    }
    for (size_t i = 0; i < n; i++)
        sym[i] = (merge_symbol){b->byte_id[(unsigned char)s[i]], (uint32_t)i, 1};
    size_t left = merge_word(pair_lookup, b, s, sym, n);
    if (left != SIZE_MAX) {
        if (whole >= 0)
            atomic_store_explicit(&b->whole[whole],
                                  left == 1 && sym[0].id == whole ? WHOLE_YES : WHOLE_NO,
                                  memory_order_relaxed);
        int32_t unk = t->special_id[TOKENIZER_UNK];
        for (size_t i = 0; i < left; i++) {
            int32_t id = sym[i].id >= 0 ? sym[i].id : unk;
            if (id >= 0) sink_add(e->sink, id);
        }
    }
    if (sym != few) free(sym);
    return left == SIZE_MAX ? FO_ENOMEM : FO_OK;
}

int tokenizer_bpe_encode(const tokenizer *t, const char *s, size_t n, token_sink *sink) {
    encoding e = {t, sink};
    return pretokenize(t->bpe->pre, s, n, encode_word, &e);
}
