#include "engine/generate/engine_file.h"

#include "engine/chat/chat_prompt.h"
#include "engine/tokenizer/tokenizer_gguf.h"

enum {
    DRAFT_ROWS = 16,     /* rows of a step that are guesses, all sequences together */
    CANVAS_ROWS = 4096,  /* of a step, unless said otherwise: a pass over a canvas is never cut */
    DENOISE_LOGITS = 32, /* rows of logits that are there at a time: each becomes one token */
};

static void take_limits(engine_file *c, const engine_options *opt) {
    c->denoises = diffusion_is(&c->info);
    c->max_batch_tokens = opt->max_batch_tokens > 0         ? opt->max_batch_tokens
                          : !c->denoises                    ? 512
                          : c->info.n_context < CANVAS_ROWS ? c->info.n_context
                                                            : CANVAS_ROWS;
    c->max_sequences = opt->max_sequences > 0 ? opt->max_sequences : 16;
    if (c->max_sequences > c->max_batch_tokens) c->max_sequences = c->max_batch_tokens;
    c->max_drafts = c->max_batch_tokens - c->max_sequences;
    if (c->max_drafts > DRAFT_ROWS) c->max_drafts = DRAFT_ROWS;
    if (opt->no_lookup || c->denoises) c->max_drafts = 0;
    c->logit_rows = c->max_sequences + c->max_drafts;
    if (c->denoises)
        c->logit_rows = c->max_batch_tokens < DENOISE_LOGITS ? c->max_batch_tokens : DENOISE_LOGITS;
}

static int check_writes(const model_info *info, const char *path, fo_err *err) {
    if (info->encoder)
        return fo_fail(err, FO_EUNSUPPORTED, "%s is an encoder: it embeds, it does not write",
                       path);
    return FO_OK;
}

static int open_vocabulary(engine_file *c, const char *path, fo_err *err) {
    gguf *g;
    gguf_str chat;
    int rc = gguf_open(&g, path, err);
    if (rc) return rc;
    rc = tokenizer_from_gguf(&c->tokenizer, g, err);
    if (!rc && c->denoises) rc = diffusion_model_read(&c->diffusion, &c->info, g, err);
    if (!rc) rc = sparse_params_read(&c->sparse, g, err);
    if (!rc) rc = chat_prompt_source(g, &chat, err);
    gguf_close(g);
    return rc && err ? fo_fail_prefix(err, "%s", path) : rc;
}

int engine_file_check(engine_file *out, const engine_options *opt, fo_err *err) {
    *out = (engine_file){0};
    int rc = model_probe(&out->info, opt->model, !opt->exact, err);
    if (!rc) take_limits(out, opt);
    if (!rc) rc = check_writes(&out->info, opt->model, err);
    if (!rc) rc = open_vocabulary(out, opt->model, err);
    if (!rc)
        rc = engine_memory_check(&out->memory, &out->info, opt, out->max_batch_tokens,
                                 out->logit_rows, err);
    if (rc) {
        tokenizer_free(out->tokenizer);
        out->tokenizer = NULL;
    }
    return rc;
}
