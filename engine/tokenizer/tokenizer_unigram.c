/* tokenizer_unigram.c - SentencePiece's unigram model (T5, XLM-RoBERTa and the multilingual
 * encoders made of it): of all ways to cut a text into pieces, the one whose scores
 * (log-probabilities) add up highest. Source: Kudo 2018, "Subword Regularization", and the
 * behaviour of sentencepiece.
 *
 * Text is normalised by the model's charsmap, then white space is squeezed and a space is put in
 * front where the model says so. A character that is in no piece is "unknown", at a price below
 * that of any piece; neighbouring unknown characters are one unknown token. Where no piece has a
 * space behind another character, words are cut one by one, each with a few hundred bytes of
 * scratch. */
#include <stdlib.h>
#include <string.h>

#include "engine/tokenizer/charsmap.h"
#include "engine/tokenizer/tokenizer_impl.h"
#include "kernels/buf.h"
#include "kernels/utf8.h"

enum { SHORT_WORD = 256 };
static const double unknown_penalty = 10; /* sentencepiece's kUnkPenalty */

struct unigram {
    trie pieces;
    double *score;  /* per token; user-defined ones: 0 */
    double unknown; /* score of a character that is in no piece */
    charsmap map;
    bool words; /* pieces never cross into the next word */
};

/* The best way to a byte: from where, by which piece (-1: an unknown character). */
typedef struct step {
    double score;
    uint32_t from;
    int32_t id;
} step;

static bool is_piece(const tokenizer *t, int32_t id) {
    return (t->attr[id] & (TOKENIZER_NORMAL | TOKENIZER_USER_DEFINED)) && piece_of(t, id).len;
}

static int take_scores(const tokenizer *t, const float *scores, fo_err *err) {
    struct unigram *u = t->unigram;
    double least = 0;
    for (int32_t id = 0; id < t->n_vocab; id++) {
        double v = scores ? (double)scores[id] : 0;
        if (!(v > -1e30 && v < 1e30))
            return fo_fail(err, FO_ECORRUPT, "tokenizer.ggml.scores[%d] is not a number", (int)id);
        if (t->attr[id] & TOKENIZER_USER_DEFINED)
            v = 0;
        else if (is_piece(t, id) && v < least)
            least = v;
        u->score[id] = v;
    }
    u->unknown = least - unknown_penalty;
    return FO_OK;
}

static int index_words(tokenizer *t, fo_err *err) {
    struct unigram *u = t->unigram;
    trie_key *keys = malloc((size_t)t->n_vocab * sizeof *keys);
    if (!keys) return fo_fail(err, FO_ENOMEM, "tokenizer: out of memory");
    size_t n = 0;
    u->words = true;
    for (int32_t id = 0; id < t->n_vocab; id++) {
        if (!is_piece(t, id)) continue;
        tokenizer_string p = piece_of(t, id);
        keys[n++] = (trie_key){p.data, p.len, id};
        if (piece_crosses_words(p)) u->words = false;
    }
    int rc = trie_build(&u->pieces, keys, n, err);
    free(keys);
    return rc;
}

int tokenizer_unigram_create(tokenizer *t, const tokenizer_spec *spec, fo_err *err) {
    struct unigram *u = t->unigram = calloc(1, sizeof *u);
    if (!u) return fo_fail(err, FO_ENOMEM, "tokenizer: out of memory");
    u->score = malloc((size_t)t->n_vocab * sizeof *u->score);
    if (!u->score) return fo_fail(err, FO_ENOMEM, "tokenizer: out of memory");
    int rc = take_scores(t, spec->scores, err);
    if (!rc) rc = index_words(t, err);
    if (!rc && spec->charsmap.len)
        rc = charsmap_init(&u->map, spec->charsmap.data, spec->charsmap.len, err);
    return rc;
}

void tokenizer_unigram_free(struct unigram *u) {
    if (!u) return;
    trie_deinit(&u->pieces);
    charsmap_deinit(&u->map);
    free(u->score);
    free(u);
}

/* ---- normalising ---- */

typedef struct writer {
    fo_buf *out;
    fo_buf
        *origin;   /* NULL, or for each byte of out where what it was made of begins, as uint32_t */
    uint32_t from; /* ... of what is written now */
    bool squeeze, blank; /* white space is squeezed; the last character was some, or none was yet */
    bool prefix;         /* a space is due before the first character */
} writer;

static void put_byte(writer *w, char c) {
    fo_buf_char(w->out, c);
    if (w->origin) fo_buf_add(w->origin, &w->from, sizeof w->from);
}

static void put(writer *w, const char *s, size_t n) {
    for (size_t i = 0; i < n;) {
        bool mark = n - i >= 3 && memcmp(s + i, "\xE2\x96\x81", 3) == 0;
        char c = mark ? ' ' : s[i];
        i += mark ? 3 : 1;
        if (c == ' ' && w->squeeze && w->blank) continue;
        if (w->prefix) put_byte(w, ' ');
        w->prefix = false;
        w->blank = c == ' ';
        put_byte(w, c);
    }
}

static void normalise(const tokenizer *t, const char *s, size_t n, bool prefix, fo_buf *out,
                      fo_buf *origin) {
    const charsmap *map = &t->unigram->map;
    writer w = {.out = out,
                .origin = origin,
                .squeeze = t->remove_extra_whitespaces,
                .blank = true,
                .prefix = prefix};
    for (size_t i = 0; i < n;) {
        const char *text = s + i;
        size_t len, used = charsmap_match(map, s + i, n - i, &text, &len);
        if (!used) {
            int32_t cp;
            used = len = fo_utf8_decode(s + i, n - i, &cp);
            if (cp < 0) {
                text = "\xEF\xBF\xBD";
                len = 3;
            }
        }
        w.from = (uint32_t)i;
        put(&w, text, len);
        i += used;
    }
    if (w.squeeze)
        while (out->len && out->data[out->len - 1] == ' ') out->len--;
}

/* ---- the best cut ---- */

static void relax(step *to, double score, uint32_t from, int32_t id) {
    if (score > to->score) *to = (step){score, from, id};
}

/* best[i]: the best way from 0 to byte i; only bytes between characters are reached. */
static void find_best(const struct unigram *u, const char *s, size_t n, step *best) {
    best[0] = (step){0, 0, -1};
    for (size_t i = 1; i <= n; i++) best[i] = (step){-1e300, 0, -1};
    for (size_t i = 0, one; i < n; i += one) {
        int32_t cp, node = 0;
        one = fo_utf8_decode(s + i, n - i, &cp);
        bool known = false;
        for (size_t k = i; k < n; k++) {
            node = trie_step(&u->pieces, node, (unsigned char)s[k]);
            if (node < 0) break;
            int32_t id = u->pieces.nodes[node].value;
            if (id < 0) continue;
            known |= k + 1 - i == one;
            relax(&best[k + 1], best[i].score + u->score[id], (uint32_t)i, id);
        }
        if (!known) relax(&best[i + one], best[i].score + u->unknown, (uint32_t)i, -1);
    }
}

/* The normalised text, and which bytes of the caller's its bytes were made of. */
typedef struct normal_text {
    const char *s;
    size_t n;
    const uint32_t *origin; /* [n], or NULL */
    uint32_t base,
        len; /* the caller's text begins so far behind the sink's, and has so many bytes */
} normal_text;

/* What bytes [begin, end) were made of, without the space before a word. */
static tokenizer_span span_of(const normal_text *t, size_t begin, size_t end) {
    if (!t->origin) return (tokenizer_span){0, 0};
    while (begin + 1 < end && t->s[begin] == ' ') begin++;
    while (end < t->n && t->origin[end] <= t->origin[begin]) end++; /* a space that was put in */
    const uint32_t stop = end < t->n ? t->origin[end] : t->len;
    return (tokenizer_span){t->base + t->origin[begin], t->base + stop};
}

/* Emits the pieces of `text` from byte `at` on, n of them; best has room for n + 1. `unknown` carries from word to word
 * whether the last token was an unknown one. */
static void cut(const tokenizer *t, const normal_text *text, size_t at, size_t n, step *best,
                bool *unknown, token_sink *sink) {
    const char *s = text->s + at;
    find_best(t->unigram, s, n, best);
    uint32_t next = (uint32_t)n;
    for (uint32_t i = next; i > 0;) { /* turn the links round: from[i] becomes "where to" */
        uint32_t from = best[i].from;
        best[i].from = next;
        next = i;
        i = from;
    }
    int32_t unk = t->special_id[TOKENIZER_UNK];
    for (uint32_t i = next, end = 0; n > 0 && end < n; i = best[i].from) {
        const tokenizer_span span = span_of(text, at + end, at + i);
        if (best[i].id >= 0)
            sink_add_span(sink, best[i].id, span);
        else if (!*unknown && unk >= 0)
            sink_add_span(sink, unk, span);
        else if (sink->spans && sink->n && sink->n <= sink->cap) /* one more of the same token */
            sink->spans[sink->n - 1].end = span.end;
        *unknown = best[i].id < 0;
        end = i;
    }
}

int tokenizer_unigram_encode(const tokenizer *t, const char *s, size_t n, bool after_special,
                             token_sink *sink) {
    fo_buf text = {0}, origin = {0};
    step few[SHORT_WORD + 1], *many = NULL;
    size_t room = 0;
    bool unknown = false;
    normalise(t, s, n, after_special && t->add_space_prefix, &text, sink->spans ? &origin : NULL);
    int rc = text.failed || origin.failed ? FO_ENOMEM
             : text.len > UINT32_MAX / 2  ? FO_ELIMIT
                                          : FO_OK;
    const normal_text normal = {.s = text.data,
                                .n = text.len,
                                .origin =
                                    sink->spans ? (const uint32_t *)(void *)origin.data : NULL,
                                .base = sink->spans ? (uint32_t)(s - sink->origin) : 0,
                                .len = (uint32_t)n};
    for (size_t i = 0, end; i < text.len && !rc; i = end) {
        if (sink->spans && sink->n > sink->cap) break;
        end = t->unigram->words ? word_end(text.data, i, text.len) : text.len;
        if (end - i > SHORT_WORD && end - i > room) {
            free(many);
            room = end - i;
            many = malloc((room + 1) * sizeof *many);
            if (!many) rc = FO_ENOMEM;
        }
        if (!rc) cut(t, &normal, i, end - i, end - i > SHORT_WORD ? many : few, &unknown, sink);
    }
    free(many);
    fo_buf_free(&text);
    fo_buf_free(&origin);
    return rc;
}
