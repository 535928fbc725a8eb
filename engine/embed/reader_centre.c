/* reader_centre.c - what the token vectors of a model have in common.
 *
 * Encoders that were trained with a low temperature (multilingual e5) put all their vectors into one narrow cone: tokens that
 * have nothing to do with each other have a cosine of .8. Less the mean over a few sentences, the rest tells them apart.
 * Source: Mu & Viswanath, "All-but-the-Top" (2018), their first step; what it brings: docs/measurements/quality.md. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "engine/embed/reader_impl.h"

/* Everyday sentences, so that the mean is of no topic and of no language. Other ones give another mean, and with it other
 * figures: the fingerprint of a reader does not tell. */
static const char *const sentences[] = {
    "The documents do not answer this question.",
    "The bus leaves at 9.30 on Monday, 12 March 2024, and costs 4.50 euros.",
    "Water, oil and salt are mixed in a bowl.",
    "Please call the office if the door does not open.",
    "Die Dokumente beantworten diese Frage nicht.",
    "Der Bus f\xC3\xA4hrt am Montag um 9.30 Uhr und kostet 4,50 \xE2\x82\xAC.",
    "Der Garten ist im Winter geschlossen, Hunde d\xC3\xBCrfen nicht hinein.",
    "Der Verein hat 300 Mitglieder.",
    "Les documents ne r\xC3\xA9pondent pas \xC3\xA0 cette question.",
    "Le jardin est ferm\xC3\xA9 en hiver, sauf le dimanche de 14 h \xC3\xA0 17 h.",
    "Los documentos no responden a esta pregunta.",
    "La piscina cierra a las ocho y los ni\xC3\xB1os pagan la mitad.",
    "I documenti non rispondono a questa domanda.",
    "La biglietteria apre alle nove e chiude alle diciotto.",
    "Os documentos n\xC3\xA3o respondem a esta pergunta.",
    "A loja fica aberta at\xC3\xA9 \xC3\xA0s 20h, exceto aos domingos.",
    "\xD0\x92 \xD0\xB4\xD0\xBE\xD0\xBA\xD1\x83\xD0\xBC\xD0\xB5\xD0\xBD\xD1\x82\xD0\xB0\xD1\x85 "
    "\xD0\xBD\xD0\xB5\xD1\x82 \xD0\xBE\xD1\x82\xD0\xB2\xD0\xB5\xD1\x82\xD0\xB0.",
    "\xE6\x96\x87\xE6\xA1\xA3\xE6\xB2\xA1\xE6\x9C\x89\xE5\x9B\x9E\xE7\xAD\x94\xE8\xBF\x99\xE4\xB8"
    "\xAA\xE9\x97\xAE\xE9\xA2\x98"
    "\xE3\x80\x82",
    "\xE6\x96\x87\xE6\x9B\xB8\xE3\x81\xAB\xE3\x81\xAF\xE7\xAD\x94\xE3\x81\x88\xE3\x81\x8C\xE3\x81"
    "\x82\xE3\x82\x8A\xE3\x81\xBE"
    "\xE3\x81\x9B\xE3\x82\x93\xE3\x80\x82",
};

enum { N_SENTENCES = sizeof sentences / sizeof *sentences, MOST_TOKENS = 128, ENDS = 2 };

/* Adds the unit vectors of the tokens of a sentence to sum[dim]; how many there are, or what failed. */
static int add_sentence(reader *r, const char *text, double *sum, size_t *tokens, fo_err *err) {
    int32_t ids[MOST_TOKENS + ENDS];
    tokenizer_span spans[MOST_TOKENS];
    const int64_t n =
        tokenizer_encode_spans(r->tokens, text, strlen(text), ids + 1, spans, MOST_TOKENS);
    if (n < 0) return fo_fail(err, (int)n, "the reader's vocabulary cannot be tried");
    if (n == 0 || n > MOST_TOKENS || (size_t)n > r->max_tokens) return FO_OK;
    ids[0] = r->first;
    ids[n + 1] = r->last;
    const encoder_text in = {.tokens = ids, .n_tokens = (int)n + ENDS};
    int rc = encoder_hidden(r->run, &in, 1, r->rows, err);
    for (int64_t i = 1; !rc && i <= n; i++) {
        const float *v = r->rows + (size_t)i * r->dim;
        double squares = 0;
        for (size_t d = 0; d < r->dim; d++) squares += (double)v[d] * (double)v[d];
        if (!(squares > 1e-30 && squares < 1e30)) continue;
        for (size_t d = 0; d < r->dim; d++) sum[d] += (double)v[d] / sqrt(squares);
        ++*tokens;
    }
    return rc;
}

int reader_centre_find(reader *r, fo_err *err) {
    static const double narrow =
        0.5; /* length of the mean of unit vectors; of scattered ones it is near 0 */
    double *sum = calloc(r->dim, sizeof *sum), squares = 0;
    float *centre = malloc(r->dim * sizeof *centre);
    size_t tokens = 0;
    int rc = sum && centre ? FO_OK : fo_no_memory(err);
    for (size_t i = 0; !rc && i < N_SENTENCES; i++)
        rc = add_sentence(r, sentences[i], sum, &tokens, err);
    for (size_t d = 0; !rc && tokens && d < r->dim; d++) {
        centre[d] = (float)(sum[d] / (double)tokens);
        squares += (double)centre[d] * (double)centre[d];
    }
    free(sum);
    if (rc || squares < narrow * narrow) {
        free(centre);
        return rc;
    }
    r->centre = centre;
    return FO_OK;
}
