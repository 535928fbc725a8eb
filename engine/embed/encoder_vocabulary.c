#include "engine/embed/encoder_vocabulary.h"

#include "engine/tokenizer/tokenizer_gguf.h"

enum {
    SMALLEST_WINDOW = 3,       /* a token between its two ends */
    SMALLEST_PAIR_WINDOW = 16, /* some of a question and some of a passage */
};

int encoder_vocabulary(tokenizer **out, int32_t *first, int32_t *last, const gguf *g,
                       const model_info *info, fo_err *err) {
    tokenizer *t;
    int rc = tokenizer_from_gguf(&t, g, err);
    if (rc) return rc;
    int least = info->n_scores ? SMALLEST_PAIR_WINDOW : SMALLEST_WINDOW;
    if (!tokenizer_text_ends(t, first, last))
        rc = fo_fail(err, FO_ECORRUPT, "the vocabulary has no [CLS] and [SEP]");
    else if (info->n_context < least)
        rc = fo_fail(err, FO_ECORRUPT, "a window of %d tokens has no room for %s", info->n_context,
                     info->n_scores ? "a pair of texts" : "a text");
    if (rc)
        tokenizer_free(t);
    else
        *out = t;
    return rc;
}
