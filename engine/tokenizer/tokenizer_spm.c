/* tokenizer_spm.c - SentencePiece BPE (llama, mistral, gemma): characters merge while the result
 * is a piece, the piece of the highest score first; what is no piece falls back to byte tokens.
 * Source: Kudo & Richardson 2018, and the behaviour of sentencepiece's BPE model.
 *
 * A space belongs to the word behind it. Where no piece has a space after another character, the
 * text can be cut before every such space without changing the result, and each word is then
 * looked up or merged alone; vocabularies with such pieces (some have runs of code indentation
 * only, which is fine) are merged over the whole text. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "engine/tokenizer/tokenizer_impl.h"
#include "engine/tokenizer/tokenizer_merge.h"
#include "kernels/utf8.h"

struct spm {
    uint32_t *rank; /* per token: 0 for the highest score; equal scores, equal ranks */
    int32_t byte_id[256];
    int32_t ascii_id[128]; /* of one-character pieces, -1: none */
    uint32_t longest;      /* bytes of the longest piece */
    bool words;            /* pieces never cross into the next word */
    atomic_uchar *whole;   /* per token, as in tokenizer_bpe.c */
};

enum whole_state { WHOLE_UNKNOWN = 0, WHOLE_YES = 1, WHOLE_NO = 2 };

typedef struct scored {
    float score;
    int32_t id;
} scored;

static int score_order(const void *a, const void *b) {
    const scored *x = a, *y = b;
    if (x->score != y->score) return x->score > y->score ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

static int rank_scores(tokenizer *t, const float *scores, fo_err *err) {
    struct spm *m = t->spm;
    size_t n = (size_t)t->n_vocab;
    scored *s = malloc(n * sizeof *s);
    m->rank = malloc(n * sizeof *m->rank);
    if (!s || !m->rank) {
        free(s);
        return fo_fail(err, FO_ENOMEM, "tokenizer: out of memory");
    }
    for (size_t i = 0; i < n; i++) {
        float v = scores ? scores[i] : 0;
        if (v != v) {
            free(s);
            return fo_fail(err, FO_ECORRUPT, "tokenizer.ggml.scores[%zu] is not a number", i);
        }
        s[i] = (scored){v, (int32_t)i};
    }
    qsort(s, n, sizeof *s, score_order);
    uint32_t rank = 0;
    for (size_t i = 0; i < n; i++) {
        if (i && s[i].score != s[i - 1].score) rank++;
        m->rank[s[i].id] = rank;
    }
    free(s);
    return FO_OK;
}

int tokenizer_spm_create(tokenizer *t, const tokenizer_spec *spec, fo_err *err) {
    struct spm *m = t->spm = calloc(1, sizeof *m);
    if (!m) return fo_fail(err, FO_ENOMEM, "tokenizer: out of memory");
    int rc = rank_scores(t, spec->scores, err);
    if (rc) return rc;
    m->whole = calloc((size_t)t->n_vocab, sizeof *m->whole);
    if (!m->whole) return fo_fail(err, FO_ENOMEM, "tokenizer: out of memory");
    memset(m->byte_id, -1, sizeof m->byte_id);
    for (int c = 0; c < 128; c++) {
        char ch = (char)c;
        m->ascii_id[c] = tokenizer_vocab_find(t, &ch, 1);
    }
    m->words = true;
    for (int32_t id = 0; id < t->n_vocab; id++) {
        tokenizer_string p = piece_of(t, id);
        if (p.len > m->longest) m->longest = (uint32_t)p.len;
        if (t->attr[id] & TOKENIZER_BYTE) {
            if (p.len == 1) m->byte_id[(unsigned char)p.data[0]] = id;
        } else if (!(t->attr[id] & (TOKENIZER_CONTROL | TOKENIZER_UNKNOWN)) &&
                   piece_crosses_words(p)) {
            m->words = false;
        }
    }
    return FO_OK;
}

void tokenizer_spm_free(struct spm *m) {
    if (!m) return;
    free(m->rank);
    free(m->whole);
    free(m);
}

static inline uint32_t span_lookup(const void *ctx, const char *s, const merge_symbol *left,
                                   const merge_symbol *right, int32_t *id) {
    const tokenizer *t = ctx;
    uint32_t len = left->len + right->len;
    *id = len > t->spm->longest ? -1 : tokenizer_vocab_find(t, s + left->start, len);
    return *id < 0 ? MERGE_NEVER : t->spm->rank[*id];
}

static void emit(const tokenizer *t, const char *s, const merge_symbol *sym, token_sink *sink) {
    if (sym->id >= 0) {
        sink_add(sink, sym->id);
        return;
    }
    int32_t unk = t->special_id[TOKENIZER_UNK];
    bool bytes = true;
    for (uint32_t i = 0; i < sym->len; i++)
        bytes &= t->spm->byte_id[(unsigned char)s[sym->start + i]] >= 0;
    if (!bytes) {
        if (unk >= 0) sink_add(sink, unk);
        return;
    }
    for (uint32_t i = 0; i < sym->len; i++)
        sink_add(sink, t->spm->byte_id[(unsigned char)s[sym->start + i]]);
}

static int encode_word(const tokenizer *t, const char *s, size_t n, token_sink *sink) {
    const struct spm *m = t->spm;
    int32_t whole = n > m->longest ? -1 : tokenizer_vocab_find(t, s, n);
    if (whole >= 0) {
        unsigned char state = atomic_load_explicit(&m->whole[whole], memory_order_relaxed);
        if (state == WHOLE_YES) {
            sink_add(sink, whole);
            return FO_OK;
        }
        if (state == WHOLE_NO) whole = -1;
    }
    merge_symbol few[MERGE_SHORT], *sym = few;
    if (n > MERGE_SHORT) {
        sym = malloc(n * sizeof *sym);
        if (!sym) return FO_ENOMEM;
    }
    size_t n_sym = 0;
    for (size_t i = 0; i < n; n_sym++) {
        unsigned char c = (unsigned char)s[i];
        int32_t cp, id;
        size_t len = c < 128 ? 1 : fo_utf8_decode(s + i, n - i, &cp);
        id = c < 128 ? m->ascii_id[c] : tokenizer_vocab_find(t, s + i, len);
        sym[n_sym] = (merge_symbol){id, (uint32_t)i, (uint32_t)len};
        i += len;
    }
    size_t left = merge_word(span_lookup, t, s, sym, n_sym);
    if (left != SIZE_MAX) {
        if (whole >= 0)
            atomic_store_explicit(&m->whole[whole],
                                  left == 1 && sym[0].id == whole ? WHOLE_YES : WHOLE_NO,
                                  memory_order_relaxed);
        for (size_t i = 0; i < left; i++) emit(t, s, &sym[i], sink);
    }
    if (sym != few) free(sym);
    return left == SIZE_MAX ? FO_ENOMEM : FO_OK;
}

/* The text as pieces spell it: a space in front where the model wants one, U+2581 as a space. */
static size_t normalise(const tokenizer *t, const char *s, size_t n, bool prefix, char *out) {
    size_t len = 0;
    bool squeeze = t->remove_extra_whitespaces, blank = squeeze;
    if (prefix) out[len++] = ' ';
    for (size_t i = 0; i < n;) {
        bool mark = n - i >= 3 && memcmp(s + i, "\xE2\x96\x81", 3) == 0;
        char c = mark ? ' ' : s[i];
        i += mark ? 3 : 1;
        if (squeeze && c == ' ' && blank) continue;
        blank = c == ' ';
        out[len++] = c;
    }
    if (squeeze && len > prefix && out[len - 1] == ' ') len--;
    return len;
}

int tokenizer_spm_encode(const tokenizer *t, const char *s, size_t n, bool after_special,
                         token_sink *sink) {
    char *text = malloc(n + 1);
    if (!text) return FO_ENOMEM;
    size_t len = normalise(t, s, n, after_special && t->add_space_prefix, text);
    int rc = FO_OK;
    for (size_t i = 0; i < len && !rc;) {
        size_t end = t->spm->words ? word_end(text, i, len) : len;
        rc = encode_word(t, text + i, end - i, sink);
        i = end;
    }
    free(text);
    return rc;
}
