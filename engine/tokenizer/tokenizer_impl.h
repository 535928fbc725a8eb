/* tokenizer_impl.h - what the tokenizer_*.c files share; nobody else includes it. */
#ifndef FORAGE_ENGINE_TOKENIZER_IMPL_H
#define FORAGE_ENGINE_TOKENIZER_IMPL_H

#include <string.h>

#include "engine/tokenizer/tokenizer.h"
#include "engine/tokenizer/trie.h"

/* Attribute bits beside the public eight. */
enum {
    TOKENIZER_END = 256, /* generation ends here */
    TOKENIZER_RAW = 512, /* byte-level BPE: not in the alphabet of bytes, so no text makes it */
};

struct bpe;
struct spm;
struct unigram;
struct wpm;

struct tokenizer { /* immutable after creation, but for the atomics in bpe and spm */
    tokenizer_kind kind;
    int32_t n_vocab;
    char *pool;       /* the bytes of all pieces, one after the other */
    uint32_t *offset; /* n_vocab + 1 */
    uint16_t *attr;   /* n_vocab */
    uint64_t *slots;  /* piece -> id: hash in the upper half, id + 1 in the lower; 0 is free */
    uint32_t slot_mask;
    uint64_t keys[2];     /* of the hashes, random; the second is odd */
    trie special;         /* names of control, user-defined and unknown tokens */
    bool first_any[256];  /* first bytes of those */
    bool first_user[256]; /* first bytes of user-defined ones */
    bool has_user;
    int32_t special_id[TOKENIZER_N_SPECIAL];
    bool add_bos, add_eos, add_space_prefix, remove_extra_whitespaces;
    struct bpe *bpe;
    struct spm *spm;
    struct unigram *unigram;
    struct wpm *wpm;
};

/* Where ids go: the first cap are kept, all are counted. With spans (WordPiece, unigram) nobody needs
 * the count of more than cap + 1. */
typedef struct token_sink {
    int32_t *out;
    size_t cap, n;
    tokenizer_span *spans; /* [cap] or NULL */
    const char *origin;    /* the text that they count from */
} token_sink;

static inline void sink_add(token_sink *s, int32_t id) {
    if (s->n < s->cap) s->out[s->n] = id;
    s->n++;
}

static inline tokenizer_string piece_of(const tokenizer *t, int32_t id) {
    return (tokenizer_string){t->pool + t->offset[id], t->offset[id + 1] - t->offset[id]};
}

static inline void sink_add_span(token_sink *s, int32_t id, tokenizer_span span) {
    if (s->spans && s->n < s->cap) s->spans[s->n] = span;
    sink_add(s, id);
}

/* SentencePiece, where a space belongs to the word behind it: is one behind another character? */
static inline bool piece_crosses_words(tokenizer_string p) {
    for (size_t i = 1; i < p.len; i++)
        if (p.data[i] == ' ' && p.data[i - 1] != ' ') return true;
    return false;
}

/* Where the word that begins at text[at], spaces in front included, ends. */
static inline size_t word_end(const char *text, size_t at, size_t len) {
    while (at < len && text[at] == ' ') at++;
    const char *space = at < len ? memchr(text + at, ' ', len - at) : NULL;
    return space ? (size_t)(space - text) : len;
}

__extension__ typedef unsigned __int128 tokenizer_wide;

/* Half of a hash: what x becomes by a key that whoever chose x does not know. Of two such x the difference behind it
 * depends on the key, so none can be undone by the bytes that follow (with a known multiplier the top bit's can). */
static inline uint64_t tokenizer_fold(uint64_t x, uint64_t key) {
    tokenizer_wide p = (tokenizer_wide)x * key;
    return (uint64_t)p ^ (uint64_t)(p >> 64);
}

/* The id whose piece is s[0..n), or -1. Normal tokens win over others of the same bytes. */
int32_t tokenizer_vocab_find(const tokenizer *t, const char *s, size_t n);

/* Each family: make its tables from the spec (pieces, attributes and ids are set already), free
 * them, encode text without special tokens in it. after_special: nothing or a special token stands
 * before this text. encode returns 0, FO_ENOMEM or FO_ELIMIT. */
int tokenizer_wpm_create(tokenizer *t, fo_err *err);
void tokenizer_wpm_free(struct wpm *w);
void tokenizer_wpm_encode(const tokenizer *t, const char *s, size_t n, token_sink *sink);

int tokenizer_bpe_create(tokenizer *t, const tokenizer_spec *spec, fo_err *err);
void tokenizer_bpe_free(struct bpe *b);
int tokenizer_bpe_encode(const tokenizer *t, const char *s, size_t n, token_sink *sink);

int tokenizer_spm_create(tokenizer *t, const tokenizer_spec *spec, fo_err *err);
void tokenizer_spm_free(struct spm *m);
int tokenizer_spm_encode(const tokenizer *t, const char *s, size_t n, bool after_special,
                         token_sink *sink);

int tokenizer_unigram_create(tokenizer *t, const tokenizer_spec *spec, fo_err *err);
void tokenizer_unigram_free(struct unigram *u);
int tokenizer_unigram_encode(const tokenizer *t, const char *s, size_t n, bool after_special,
                             token_sink *sink);

/* Bytes of a GPT-2 style token: each of its characters stands for one byte. Returns the length in
 * out[0..n), or -1 if a character stands for none. */
int64_t tokenizer_bpe_unmap(const char *s, size_t n, char *out);

#endif
