#include "retrieval/pipeline/spelt.h"

#include <stdlib.h>
#include <string.h>

#include "engine/tokenizer/tokenizer.h"
#include "retrieval/collections/service_internal.h"
#include "retrieval/question/spelling.h"

enum {
    MOST_TERMS = 1 << 20, /* of a collection, that are looked through: some 30 ms */
    WORD_MOST = 160,
};

typedef struct known {
    run *r;
    analyzer *words;
    const tokenizer *vocabulary; /* WordPiece; NULL: no words are known of the language */
    int rc;                      /* of what failed first, said in r->err */
} known;

/* A piece that begins a word is the word with a blank before it. */
static bool is_word(void *ctx, const char *word, size_t len) {
    const known *k = ctx;
    char piece[WORD_MOST + 1];
    if (!k->vocabulary || len > WORD_MOST) return false;
    piece[0] = ' ';
    memcpy(piece + 1, word, len);
    return tokenizer_find(k->vocabulary, piece, len + 1) >= 0;
}

static void each_word(void *ctx, spelling_word_fn *fn, void *fn_ctx) {
    const known *k = ctx;
    const int32_t n = k->vocabulary ? tokenizer_vocab_size(k->vocabulary) : 0;
    for (int32_t id = 0; id < n; id++) {
        const tokenizer_string s = tokenizer_piece(k->vocabulary, id);
        if (s.len > 1 && s.len <= WORD_MOST && s.data[0] == ' ') fn(fn_ctx, s.data + 1, s.len - 1);
    }
}

/* The best chunk with the term that the asker may see; false: there is none, or the search failed (k->rc). */
static bool chunk_of(known *k, const char *term, size_t len, int64_t *chunk) {
    const search_term wanted = {term, len, 1};
    search_hit hit;
    size_t n = 0;
    if (!k->rc)
        k->rc = search_sparse_beside(k->r->snapshot, "", &wanted, 1, 1, k->r->filter, &hit, &n,
                                     k->r->err);
    if (k->rc || !n) return false;
    *chunk = hit.chunk;
    return true;
}

/* What stands only in documents that the asker does not see is not there: else what is mended would tell. */
static bool has_term(void *ctx, const char *term, size_t len) {
    known *k = ctx;
    int64_t chunk;
    return search_has_term(k->r->snapshot, term, len) &&
           (!k->r->q->sees || chunk_of(k, term, len, &chunk));
}

static void each_term(void *ctx, spelling_word_fn *fn, void *fn_ctx) {
    search_each_term(((known *)ctx)->r->snapshot, MOST_TERMS, fn, fn_ctx);
}

static double idf(void *ctx, const char *term, size_t len) {
    return search_idf(((known *)ctx)->r->snapshot, term, len);
}

typedef struct finding {
    const char *term;
    size_t n_term;
    size_t start, end; /* of the word that becomes the term */
} finding;

static int find_word(void *ctx, const analyzed_term *t) {
    finding *f = ctx;
    if (t->len != f->n_term || memcmp(t->term, f->term, t->len) != 0) return 0;
    f->start = t->start;
    f->end = t->end;
    return 1;
}

/* The word of that chunk which becomes the term. */
static bool word_of(void *ctx, const char *term, size_t len, fo_buf *out) {
    known *k = ctx;
    store_chunk chunk = {0};
    int64_t id;
    if (!chunk_of(k, term, len, &id)) return false;
    k->rc = run_read_chunks(k->r, &id, 1, &chunk);
    if (!k->rc && chunk.id) {
        finding f = {.term = term, .n_term = len};
        analyzer *of_text = analyzer_for_text(k->words, chunk.text, chunk.text_len, NULL);
        if (analyze(of_text, chunk.text, chunk.text_len, find_word, &f) == 1)
            fo_buf_add(out, chunk.text + f.start, f.end - f.start);
        else /* it stands in the title */
            fo_buf_add(out, term, len);
    }
    store_chunk_deinit(&chunk);
    return out->len > 0;
}

int spelt_mend(run *r, analyzer *words) {
    const int language = search_query_language(r->snapshot, r->asked);
    const tokenizer *t = r->c->embedder ? embedder_tokenizer(r->c->embedder) : NULL;
    if (t && tokenizer_get_kind(t) != TOKENIZER_WORDPIECE) t = NULL;
    known k = {.r = r, .words = analyzer_in(words, language)};
    k.vocabulary = language < 0 ? t : NULL;
    const spelling_source source = {
        .words = k.words,
        .english = k.vocabulary != NULL,
        .ctx = &k,
        .is_word = is_word,
        .each_word = each_word,
        .has_term = has_term,
        .each_term = each_term,
        .idf = idf,
        .word_of = word_of,
    };
    const bool mended = spelling_mend(&r->spelt, r->asked, &source);
    if (r->spelt.failed) return fo_no_memory(r->err);
    if (!k.rc && mended) r->asked = r->sought = r->spelt.data;
    return k.rc;
}
