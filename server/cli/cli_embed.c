/* cli_embed.c - `forage embed`: texts in, unit vectors out, one JSON array a line. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/model/encoder.h"
#include "engine/tokenizer/tokenizer_gguf.h"
#include "kernels/vec.h"
#include "server/cli/cli.h"

enum { BATCH_TEXTS = 32 };

static struct {
    const char *model, *text;
    bool exact;
    int64_t threads;
} o;

static const cli_option options[] = {
    {"model", CLI_STRING, &o.model, "FILE", "a GGUF encoder", .required = true},
    {"text", CLI_STRING, &o.text, "S", "the text (default: the lines of stdin)", .flag_only = true},
    {"exact", CLI_BOOL, &o.exact, NULL, "F32 arithmetic instead of the serving path"},
    {"threads", CLI_INT, &o.threads, "N", "threads (default: one a core)", .min = 0, .max = 1024},
    {0}};

typedef struct batch {
    encoder *e;
    tokenizer *t;
    int d_model, n_context, n;
    int32_t *ids;   /* [BATCH_TEXTS][n_context] */
    float *vectors; /* [BATCH_TEXTS][d_model] */
    encoder_text texts[BATCH_TEXTS];
} batch;

/* Longer texts are cut to the context, the closing special token kept. */
static int add_text(batch *b, const char *text, size_t len, fo_err *err) {
    int32_t *ids = b->ids + (size_t)b->n * (size_t)b->n_context;
    int64_t n = tokenizer_encode(b->t, text, len, TOKENIZER_ADD_SPECIAL, ids, (size_t)b->n_context);
    if (n < 0) return fo_fail(err, (int)n, "the text could not be tokenised");
    if (n > b->n_context) {
        n = b->n_context;
        int32_t first, last;
        if (tokenizer_adds_eos(b->t) && tokenizer_text_ends(b->t, &first, &last)) ids[n - 1] = last;
    }
    if (n == 0) return fo_fail(err, FO_EINVAL, "the text has no tokens");
    b->texts[b->n++] = (encoder_text){ids, (int)n, 0};
    return FO_OK;
}

static int flush(batch *b, fo_err *err) {
    int rc = encoder_embed(b->e, b->texts, (size_t)b->n, b->vectors, err);
    for (int i = 0; !rc && i < b->n; i++) {
        const float *v = b->vectors + (size_t)i * (size_t)b->d_model;
        double norm = sqrt((double)vec_get()->dot(v, v, b->d_model));
        for (int j = 0; j < b->d_model; j++)
            printf("%s%.7g", j ? "," : "[", norm > 0 ? (double)v[j] / norm : 0.0);
        puts("]");
    }
    b->n = 0;
    return rc;
}

static int embed_lines(batch *b, fo_err *err) {
    char *line = NULL;
    size_t cap = 0;
    ssize_t len;
    int rc = FO_OK;
    while (!rc && (len = getline(&line, &cap, stdin)) >= 0) {
        while (len && (line[len - 1] == '\n' || line[len - 1] == '\r')) len--;
        rc = add_text(b, line, (size_t)len, err);
        if (!rc && b->n == BATCH_TEXTS) rc = flush(b, err);
    }
    if (!rc && ferror(stdin)) rc = fo_fail_errno(err, "cannot read standard input");
    free(line);
    return rc;
}

static int run(int argc, char **argv) {
    (void)argc, (void)argv;
    fo_err err = {0};
    batch b = {0};
    model *m = NULL;
    fo_pool *pool = fo_pool_create_bound((int)o.threads, NULL);
    int rc = pool ? FO_OK : fo_fail(&err, FO_ENOMEM, "no memory for threads");
    if (!rc) rc = model_open(&m, o.model, &(model_options){.pool = pool, .fast = !o.exact}, &err);
    if (!rc) rc = encoder_create(&b.e, m, NULL, &err);
    if (!rc) rc = tokenizer_from_gguf(&b.t, model_gguf(m), &err);
    if (!rc) {
        b.d_model = model_get_info(m)->d_model;
        b.n_context = model_get_info(m)->n_context;
        b.ids = malloc((size_t)BATCH_TEXTS * (size_t)b.n_context * sizeof *b.ids);
        b.vectors = malloc((size_t)BATCH_TEXTS * (size_t)b.d_model * sizeof *b.vectors);
        if (!b.ids || !b.vectors) rc = fo_fail(&err, FO_ENOMEM, "no memory for a batch of texts");
    }
    if (!rc) rc = o.text ? add_text(&b, o.text, strlen(o.text), &err) : embed_lines(&b, &err);
    if (!rc && b.n) rc = flush(&b, &err);
    free(b.ids);
    free(b.vectors);
    tokenizer_free(b.t);
    encoder_free(b.e);
    model_close(m);
    fo_pool_free(pool);
    return rc ? cli_fail(&err) : 0;
}

const cli_command cli_command_embed = {"embed",
                                       "sentence vectors of texts",
                                       "forage embed --model e.gguf [--text S | < lines]",
                                       "Prints one JSON array of floats a line, of unit length.",
                                       options,
                                       0,
                                       0,
                                       run};
