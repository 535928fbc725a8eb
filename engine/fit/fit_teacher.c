#include "engine/fit/fit_teacher.h"

#include <stdlib.h>
#include <string.h>
#include "engine/model/encoder.h"
#include "engine/tokenizer/tokenizer_gguf.h"
#include "kernels/buf.h"

enum { PIECES_AT_ONCE = 512 };

void fit_teacher_deinit(fit_teacher *t) {
    vocabulary_free(&t->words);
    free(t->pieces);
    *t = (fit_teacher){0};
}

static int embed_pieces(fit_teacher *out, encoder *e, int32_t cls, int32_t sep,
                        void (*progress)(void *, uint64_t, uint64_t), void *arg, fo_err *err) {
    size_t n = out->words.n, cells;
    if (!fo_mul_size(n, out->dim * sizeof *out->pieces, &cells) || !(out->pieces = malloc(cells)))
        return fo_fail(err, FO_ENOMEM, "out of memory for the vectors of %zu pieces", n);
    for (size_t first = 0; first < n; first += PIECES_AT_ONCE) {
        int32_t ids[PIECES_AT_ONCE][3];
        encoder_text texts[PIECES_AT_ONCE];
        size_t take = n - first < PIECES_AT_ONCE ? n - first : PIECES_AT_ONCE;
        for (size_t i = 0; i < take; i++) {
            ids[i][0] = cls;
            ids[i][1] = (int32_t)(first + i);
            ids[i][2] = sep;
            texts[i] = (encoder_text){.tokens = ids[i], .n_tokens = 3};
        }
        int rc = encoder_embed(e, texts, take, out->pieces + first * out->dim, err);
        if (rc) return rc;
        if (progress) progress(arg, first + take, n);
    }
    return FO_OK;
}

int fit_teacher_read(fit_teacher *out, const char *path, fo_pool *pool,
                     void (*progress)(void *arg, uint64_t done, uint64_t total), void *arg,
                     fo_err *err) {
    fit_teacher t = {0};
    model *m = NULL;
    encoder *e = NULL;
    tokenizer *words = NULL;
    int rc = model_open(&m, path, &(model_options){.pool = pool, .fast = true}, err);
    if (!rc) rc = encoder_create(&e, m, &(encoder_limits){0}, err);
    if (!rc) rc = tokenizer_from_gguf(&words, model_gguf(m), err);
    if (!rc && tokenizer_get_kind(words) != TOKENIZER_WORDPIECE)
        rc = fo_fail(err, FO_EUNSUPPORTED, "%s has no WordPiece vocabulary", path);
    if (!rc) rc = vocabulary_read_gguf(&t.words, model_gguf(m), err);
    if (!rc) {
        t.dim = (size_t)model_get_info(m)->d_model;
        int32_t cls = tokenizer_special_id(words, TOKENIZER_CLS);
        int32_t sep = tokenizer_special_id(words, TOKENIZER_SEP);
        rc = cls < 0 || sep < 0
                 ? fo_fail(err, FO_ECORRUPT, "%s: the vocabulary has no [CLS] and [SEP]", path)
                 : embed_pieces(&t, e, cls, sep, progress, arg, err);
    }
    tokenizer_free(words);
    encoder_free(e);
    model_close(m);
    if (rc)
        fit_teacher_deinit(&t);
    else
        *out = t;
    return rc;
}
