#include "retrieval/claims/claim_reading.h"

#include <string.h>

/* Of a word that was put in for another, the mean over its tokens of their best cosines is below
 * this in 9 of 10 cases; of words that stand in the support, in 1 of 50. */
static const float near_enough = 0.53f;
/* A title is about the passage, not of this sentence. */
static const float title_weight = 0.9f;

enum { SENTENCE, PASSAGE, TITLE, TEXTS };

static bool is_near(const reader_text *sentence, const float *best, const claim_word *w) {
    reader_part part = reader_part_of(sentence, w->start, w->end, 1);
    float sum = 0;
    for (uint32_t k = part.begin; k < part.end; k++) sum += best[k];
    /* A word without a token lies behind all that is read of a sentence: nothing speaks for it. */
    return part.end > part.begin && sum / (float)(part.end - part.begin) >= near_enough;
}

int claim_reading_holds(bool *holds, const claim_reading_input *in, fo_err *err) {
    *holds = true;
    if (in->n_words == 0) return FO_OK;
    const char *title = in->title ? in->title : "";
    const char *texts[TEXTS] = {in->sentence, in->passage, title};
    size_t lens[TEXTS] = {in->sentence_len, in->passage_len, strlen(title)};
    reader_text *t[TEXTS];
    int rc = reader_encode(in->reader, texts, lens, TEXTS, NULL, t, err);
    if (rc) return rc;
    bool inside = in->end <= reader_text_bytes(t[PASSAGE]);
    reader_text *alone = NULL;
    if (!inside) {
        const char *s = in->passage + in->start;
        size_t n = in->end - in->start;
        rc = reader_encode(in->reader, &s, &n, 1, NULL, &alone, err);
    }
    if (!rc) {
        reader_part parts[] = {
            inside ? reader_part_of(t[PASSAGE], in->start, in->end, 1)
                   : (reader_part){alone, 0, (uint32_t)reader_text_tokens(alone), 1},
            {t[TITLE], 0, (uint32_t)reader_text_tokens(t[TITLE]), title_weight},
        };
        reader_unit support = {parts, 2};
        float best[READER_MAX_TOKENS];
        rc = reader_align(t[SENTENCE], &support, 1, best, err);
        for (size_t i = 0; !rc && *holds && i < in->n_words; i++)
            *holds = is_near(t[SENTENCE], best, &in->words[i]);
    }
    if (alone) reader_text_release(alone);
    reader_texts_release(t, TEXTS);
    return rc;
}
