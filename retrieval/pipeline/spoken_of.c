#include "retrieval/pipeline/spoken_of.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/utf8.h"
#include "retrieval/conversation/courtesy.h"
#include "retrieval/text/facts.h"
#include "retrieval/conversation/rewrite.h"

enum {
    EXCHANGES = 3, /* looked at, the last one first */
    HITS = 4,      /* of each */
    QUESTION_BYTES = 1024,
    ANSWER_BYTES = 1024, /* the first sentences are of the best document */
};
static const double most_of_it = 0.5; /* of what the words of an answer weigh */

/* How much of what the answer says stands in the chunk, by weight. */
static int share_said(double *share, const lexicon *lx, const char *answer, size_t n,
                      const store_chunk *k, fo_err *err) {
    fact_text said = {0}, chunk = {0};
    double met = 0, all = 0;
    int rc = fact_text_read(&said, lx->analyzer, answer, n, err);
    if (!rc) rc = fact_text_read(&chunk, lx->analyzer, k->text, k->text_len, err);
    for (size_t i = 0; !rc && i < said.n_words; i++) {
        const fact_word *w = &said.words[i];
        if (!fact_is_content(w)) continue;
        const double idf = (double)fact_word_idf(lx, &said, w);
        all += idf;
        met += fact_says(&chunk, 0, chunk.n_words, w->id) ? idf : 0;
    }
    *share = all > 0 ? met / all : 0;
    fact_text_deinit(&said);
    fact_text_deinit(&chunk);
    return rc;
}

/* As an answer begins that quotes it? */
static bool quotes(const store_chunk *k, const char *answer, size_t n) {
    enum { FEWEST = 12, ENOUGH = 60 }; /* bytes */
    while (n && fo_is_blank(answer[n - 1])) n--;
    if (n > ENOUGH) n = ENOUGH;
    return n >= FEWEST && memmem(k->text, k->text_len, answer, n) != NULL;
}

/* Of the chunks that have most of the answer in common with it the one that it quotes, else the one that says most of it, half at least. */
static int choose(run *r, const lexicon *lx, const search_hit *hits, size_t n_hits,
                  const char *answer, size_t n_answer) {
    store_chunk chunks[HITS] = {0};
    int64_t ids[HITS];
    const store_chunk *best = NULL;
    for (size_t i = 0; i < n_hits; i++) ids[i] = hits[i].chunk;
    int rc = n_hits ? run_read_chunks(r, ids, n_hits, chunks) : FO_OK;
    for (size_t i = 0; !rc && i < n_hits && !best; i++)
        if (chunks[i].id && quotes(&chunks[i], answer, n_answer)) best = &chunks[i];
    const bool quoted = best != NULL;
    double most = 0;
    for (size_t i = 0; !rc && i < n_hits && !quoted; i++) {
        double share = 0;
        if (chunks[i].id) rc = share_said(&share, lx, answer, n_answer, &chunks[i], r->err);
        if (share < most_of_it || share <= most) continue;
        best = &chunks[i];
        most = share;
    }
    if (!rc && best && !(r->spoken_of = strdup(best->document_id))) rc = fo_no_memory(r->err);
    for (size_t i = 0; i < n_hits; i++) store_chunk_deinit(&chunks[i]);
    return rc;
}

/* The document of one exchange, into r->spoken_of: none where no chunk has most of the answer. */
static int of_exchange(run *r, const lexicon *lx, const char *asked, const char *answer) {
    const char *marker = strstr(answer, "[1]"); /* what comes behind may be of other documents */
    size_t n_answer = strnlen(answer, ANSWER_BYTES), n = 0;
    if (marker && (size_t)(marker - answer) < n_answer) n_answer = (size_t)(marker - answer);
    fo_buf text = {0};
    search_hit hits[HITS];
    fo_buf_add(&text, asked, strnlen(asked, QUESTION_BYTES));
    fo_buf_char(&text, ' ');
    fo_buf_add(&text, answer, n_answer);
    fo_buf_char(&text, 0);
    int rc = text.failed ? fo_no_memory(r->err)
                         : search_sparse(r->snapshot, text.data, HITS, r->filter, hits, &n, r->err);
    if (!rc) rc = choose(r, lx, hits, n, answer, n_answer);
    fo_buf_free(&text);
    return rc;
}

/* Does the question say itself what it is about? */
static int says_all(bool *says, const lexicon *lx, const char *asked, fo_err *err) {
    enum { FEW_WORDS = 4 };
    fact_text t = {0};
    size_t wanted = 0, n = 0;
    int rc = query_rewrite_wants(&wanted, lx, asked, err);
    if (!rc) rc = fact_text_read(&t, lx->analyzer, asked, strlen(asked), err);
    for (size_t i = 0; !rc && i < t.n_words; i++) n += fact_is_content(&t.words[i]);
    *says = !wanted && n > FEW_WORDS;
    fact_text_deinit(&t);
    return rc;
}

int spoken_of_find(run *r, const lexicon *lx, const prompt_turn *turns, size_t n_turns) {
    bool alone = false;
    int rc = says_all(&alone, lx, r->asked, r->err);
    if (rc || alone) return rc;
    for (size_t i = n_turns, seen = 0; !rc && !r->spoken_of && i-- > 1 && seen < EXCHANGES;) {
        if (!turns[i].assistant || turns[i - 1].assistant) continue;
        seen++;
        rc = of_exchange(r, lx, question_behind_courtesy(turns[i - 1].text), turns[i].text);
    }
    return rc;
}
