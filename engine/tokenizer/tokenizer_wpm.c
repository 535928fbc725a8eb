/* tokenizer_wpm.c - WordPiece: BERT's normaliser, its pre-tokeniser, greedy longest match.
 *
 * Follows Hugging Face's BertTokenizerFast: control characters go, white space and CJK ideographs
 * divide, accents go (canonical decomposition without nonspacing marks; spacing vowel signs stay),
 * lower case, punctuation stands alone, a word of more than 100 characters or with a part that is
 * in no piece becomes [UNK] as a whole. One pass, a word buffer on the stack, no allocation.
 *
 * Pieces are kept as " word" (begins a word) and "rest" (goes on): so they read in running text. */
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#include "engine/tokenizer/tokenizer_impl.h"
#include "engine/tokenizer/unicode.h"
#include "kernels/utf8.h"

enum { MAX_WORD_CHARS = 100, MAX_WORD_BYTES = MAX_WORD_CHARS * 4 };

struct wpm {
    trie pieces;        /* keys as above; control tokens are not in it */
    int32_t word_start; /* the node behind the space; -1: no piece begins a word */
    bool lower;         /* lower-case and strip accents */
    uint8_t ascii[128]; /* what to do with an ASCII byte: an enum below, or the byte to add */
};

enum { DROP = 0, SPACE = 1, PUNCT = 2, WORD = 3 /* and above: the byte itself, >= '0' */ };

typedef struct word {
    char bytes[MAX_WORD_BYTES];
    size_t n_bytes, n_chars; /* n_chars goes on counting past the limit */
    /* Where it stands in the text, if anybody asks: the character that comes now, the whole word,
     * and the character behind each of `bytes` (NULL: nobody asks). */
    tokenizer_span now, all, *at;
} word;

static bool is_cjk(int32_t cp) { /* the blocks that BERT's authors chose */
    return (cp >= 0x4E00 && cp <= 0x9FFF) || (cp >= 0x3400 && cp <= 0x4DBF) ||
           (cp >= 0x20000 && cp <= 0x2A6DF) || (cp >= 0x2A700 && cp <= 0x2B73F) ||
           (cp >= 0x2B740 && cp <= 0x2B81F) || (cp >= 0x2B820 && cp <= 0x2CEAF) ||
           (cp >= 0xF900 && cp <= 0xFAFF) || (cp >= 0x2F800 && cp <= 0x2FA1F);
}

static bool is_ascii_punct(int c) {
    return (c >= 33 && c <= 47) || (c >= 58 && c <= 64) || (c >= 91 && c <= 96) ||
           (c >= 123 && c <= 126);
}

/* Emit the word's pieces, or one [UNK] in their place. */
static void flush(const tokenizer *t, word *w, token_sink *sink) {
    if (w->n_chars == 0) return;
    const struct wpm *m = t->wpm;
    size_t before = sink->n, at = 0;
    bool known = w->n_chars <= MAX_WORD_CHARS;
    int32_t node = m->word_start;
    while (known && at < w->n_bytes) {
        int32_t id = -1;
        size_t n =
            node < 0 ? 0 : trie_longest(&m->pieces, node, w->bytes + at, w->n_bytes - at, &id);
        known = n > 0;
        if (known && w->at)
            sink_add_span(sink, id, (tokenizer_span){w->at[at].begin, w->at[at + n - 1].end});
        else if (known)
            sink_add(sink, id);
        at += n;
        node = 0;
    }
    if (!known) {
        sink->n = before;
        sink_add_span(sink, t->special_id[TOKENIZER_UNK], w->all);
    }
    w->n_bytes = w->n_chars = 0;
}

/* The character that comes now takes bytes [from, n_bytes) of the word. */
static void note_place(word *w, size_t from) {
    if (!w->n_chars) w->all.begin = w->now.begin;
    w->all.end = w->now.end;
    for (size_t i = from; i < w->n_bytes; i++) w->at[i] = w->now;
}

/* It is an accent that goes: its bytes are the last character's. */
static void note_accent(word *w) {
    if (!w->n_chars) return;
    w->all.end = w->now.end;
    if (w->n_chars <= MAX_WORD_CHARS) w->at[w->n_bytes - 1].end = w->now.end;
}

static void add_char(word *w, int32_t cp) {
    size_t from = w->n_bytes;
    if (w->n_chars < MAX_WORD_CHARS) w->n_bytes += fo_utf8_encode(cp, w->bytes + w->n_bytes);
    if (w->at) note_place(w, from);
    w->n_chars++;
}

static void add_alone(const tokenizer *t, word *w, int32_t cp, token_sink *sink) {
    flush(t, w, sink);
    add_char(w, cp);
    flush(t, w, sink);
}

/* One character that the normaliser let through. */
static void add_normal(const tokenizer *t, word *w, int32_t cp, token_sink *sink) {
    unsigned f = unicode_flags(cp);
    if (f & UNICODE_SPACE)
        flush(t, w, sink);
    else if ((f & UNICODE_PUNCT) || (cp < 128 && is_ascii_punct(cp)))
        add_alone(t, w, cp, sink);
    else
        add_char(w, cp);
}

static void add_other(const tokenizer *t, word *w, int32_t cp, token_sink *sink) {
    unsigned f = unicode_flags(cp);
    if (cp < 0 || cp == 0xFFFD || (f & UNICODE_CONTROL)) return;
    if (f & UNICODE_SPACE) {
        flush(t, w, sink);
        return;
    }
    bool cjk = is_cjk(cp);
    if (cjk) flush(t, w, sink);
    if (t->wpm->lower) {
        utf8proc_int32_t parts[32];
        utf8proc_ssize_t n = utf8proc_decompose_char(cp, parts, 32, UTF8PROC_DECOMPOSE, NULL);
        if (n < 0 || n > 32) n = 0;
        for (utf8proc_ssize_t i = 0; i < n; i++)
            if (!(unicode_flags(parts[i]) & UNICODE_NONSPACING))
                add_normal(t, w, utf8proc_tolower(parts[i]), sink);
            else if (w->at)
                note_accent(w);
    } else {
        add_normal(t, w, cp, sink);
    }
    if (cjk) flush(t, w, sink);
}

/* One body, compiled with and without places: most callers want ids alone. */
static inline __attribute__((always_inline)) void
encode(const tokenizer *t, const char *s, size_t n, token_sink *sink, const bool places) {
    const uint8_t *ascii = t->wpm->ascii;
    tokenizer_span at[MAX_WORD_BYTES];
    word w = {.n_bytes = 0, .at = places ? at : NULL};
    const size_t base = places ? (size_t)(s - sink->origin) : 0;
    size_t i = 0;
    while (i < n && !(places && sink->n > sink->cap)) {
        unsigned char c = (unsigned char)s[i];
        if (c >= 128) {
            int32_t cp;
            size_t took = fo_utf8_decode(s + i, n - i, &cp);
            if (places) w.now = (tokenizer_span){(uint32_t)(base + i), (uint32_t)(base + i + took)};
            i += took;
            add_other(t, &w, cp, sink);
            continue;
        }
        if (places) w.now = (tokenizer_span){(uint32_t)(base + i), (uint32_t)(base + i + 1)};
        i++;
        uint8_t what = ascii[c];
        if (what >= WORD) {
            if (w.n_chars < MAX_WORD_CHARS) w.bytes[w.n_bytes++] = (char)what;
            if (places) note_place(&w, w.n_chars < MAX_WORD_CHARS ? w.n_bytes - 1 : w.n_bytes);
            w.n_chars++;
        } else if (what == SPACE) {
            flush(t, &w, sink);
        } else if (what == PUNCT) {
            add_alone(t, &w, c, sink);
        }
    }
    flush(t, &w, sink);
}

void tokenizer_wpm_encode(const tokenizer *t, const char *s, size_t n, token_sink *sink) {
    if (sink->spans)
        encode(t, s, n, sink, true);
    else
        encode(t, s, n, sink, false);
}

static bool has_capitals(const tokenizer *t) {
    for (int32_t id = 0; id < t->n_vocab; id++) {
        tokenizer_string p = piece_of(t, id);
        if (t->attr[id] != TOKENIZER_NORMAL || (p.len && p.data[0] == '[')) continue;
        if (p.len > 1 && p.data[0] == ' ' && p.data[1] == '[') continue; /* [unused7] */
        for (size_t i = 0; i < p.len; i++)
            if (p.data[i] >= 'A' && p.data[i] <= 'Z') return true;
    }
    return false;
}

int tokenizer_wpm_create(tokenizer *t, fo_err *err) {
    if (t->special_id[TOKENIZER_UNK] < 0)
        return fo_fail(err, FO_ECORRUPT, "WordPiece vocabulary without an unknown token");
    struct wpm *m = calloc(1, sizeof *m);
    trie_key *keys = malloc((size_t)t->n_vocab * sizeof *keys);
    t->wpm = m;
    if (!m || !keys) {
        free(keys);
        return fo_fail(err, FO_ENOMEM, "tokenizer: out of memory");
    }
    size_t n = 0;
    for (int32_t id = 0; id < t->n_vocab; id++) {
        tokenizer_string p = piece_of(t, id);
        if (t->attr[id] & (TOKENIZER_CONTROL | TOKENIZER_UNKNOWN)) continue;
        keys[n++] = (trie_key){p.data, p.len, id};
    }
    int rc = trie_build(&m->pieces, keys, n, err);
    free(keys);
    if (rc) return rc;
    m->word_start = trie_step(&m->pieces, 0, ' ');
    m->lower = !has_capitals(t);
    for (int c = 0; c < 128; c++) {
        unsigned f = unicode_ascii[c];
        if (c == '\t' || c == '\n' || c == '\r' || c == ' ')
            m->ascii[c] = SPACE;
        else if (f & UNICODE_CONTROL)
            m->ascii[c] = DROP;
        else if (is_ascii_punct(c))
            m->ascii[c] = PUNCT;
        else
            m->ascii[c] = (uint8_t)(m->lower && (f & UNICODE_UPPER) ? c + 32 : c);
    }
    return FO_OK;
}

void tokenizer_wpm_free(struct wpm *m) {
    if (!m) return;
    trie_deinit(&m->pieces);
    free(m);
}
