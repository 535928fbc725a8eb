/* engine_file.h - all that the engine asks of a model file before it reads one of its weights:
 * engine_open refuses a file for it, and `forage inspect` tells what it would refuse. */
#ifndef FORAGE_ENGINE_ENGINE_FILE_H
#define FORAGE_ENGINE_ENGINE_FILE_H

#include "engine/generate/engine.h"
#include "engine/generate/engine_memory.h"

typedef struct engine_file {
    model_info info; /* as model_probe gives it */
    engine_memory_plan memory;
    int max_batch_tokens, max_sequences, max_drafts; /* options with their defaults in place */
    int logit_rows;                                  /* that are computed at a time */
    bool denoises;                                   /* a diffusion model, which this describes: */
    diffusion_model diffusion;
    sparse_params sparse; /* the model's own */
    tokenizer *tokenizer; /* the caller frees it; NULL on error */
} engine_file;

/* Of opt only the model, the arithmetic and what decides memory count. On error *out holds what was
 * found up to there: info.arch is "" where the file could not be read as a model, memory.weights 0
 * where it was not got to. FO_ENOMEM: too large for this machine now; FO_EIO, FO_ECORRUPT,
 * FO_EUNSUPPORTED, FO_EINVAL. */
int engine_file_check(engine_file *out, const engine_options *opt, fo_err *err);

#endif
