#include "engine/generate/engine_request.h"

#include "kernels/stop_match.h"

enum { MAX_MARKER = 9999 };

/* One prefix, chunks, one tail, each where the one before it ends. */
static int check_pieces(const generation_request *r, fo_err *err) {
    size_t at = 0;
    for (size_t i = 0; i < r->n_pieces; i++) {
        const generation_piece *p = &r->pieces[i];
        bool last = i + 1 == r->n_pieces;
        enum generation_piece_kind kind = i == 0                           ? PIECE_PREFIX
                                          : last && p->kind != PIECE_CHUNK ? PIECE_TAIL
                                                                           : PIECE_CHUNK;
        if (p->kind != kind || p->start != at || p->n < 1 || p->n > r->n_prompt - at)
            return fo_fail_field(err, FO_EINVAL, "pieces",
                                 "piece %zu of the prompt is no %s of tokens from %zu on", i,
                                 kind == PIECE_PREFIX  ? "prefix"
                                 : kind == PIECE_CHUNK ? "chunk"
                                                       : "tail",
                                 at);
        at += p->n;
    }
    if (r->n_pieces && at != r->n_prompt)
        return fo_fail_field(err, FO_EINVAL, "pieces", "the pieces end at %zu of %zu tokens", at,
                             r->n_prompt);
    if (r->n_pieces && r->pieces[r->n_pieces - 1].kind != PIECE_TAIL && !r->prefill_only)
        return fo_fail_field(err, FO_EINVAL, "pieces", "a prompt to be answered ends with a tail");
    return FO_OK;
}

int engine_check_request(const generation_request *r, const model_info *info, size_t kv_tokens,
                         fo_err *err) {
    if (r->n_prompt < 1) return fo_fail_field(err, FO_EINVAL, "prompt", "the prompt is empty");
    for (size_t i = 0; i < r->n_prompt; i++)
        if (r->prompt[i] < 0 || r->prompt[i] >= info->n_vocab)
            return fo_fail_field(err, FO_EINVAL, "prompt",
                                 "token %zu of the prompt is %d, not one "
                                 "of %d",
                                 i, r->prompt[i], info->n_vocab);
    if (r->n_logprobs > GENERATION_LOGPROBS)
        return fo_fail_field(err, FO_EINVAL, "logprobs", "at most %d logprobs",
                             GENERATION_LOGPROBS);
    if (r->priority < -100 || r->priority > 100)
        return fo_fail_field(err, FO_EINVAL, "priority", "priority must be between -100 and 100");
    if (!r->prefill_only && r->max_tokens < 1)
        return fo_fail_field(err, FO_EINVAL, "max_tokens", "max_tokens must be at least 1");
    size_t total;
    if (!fo_add_size(r->n_prompt, r->max_tokens, &total) || total > (size_t)info->n_context)
        return fo_fail_field(err, FO_ELIMIT, "max_tokens",
                             "prompt (%zu tokens) and answer (%zu) do not fit the model's window "
                             "of %d",
                             r->n_prompt, r->max_tokens, info->n_context);
    if (total > kv_tokens)
        return fo_fail_field(err, FO_ELIMIT, "max_tokens",
                             "prompt and answer (%zu tokens) do not fit the KV cache of %zu; raise "
                             "--kv-ram",
                             total, kv_tokens);
    if (r->max_marker < 0 || r->max_marker > MAX_MARKER)
        return fo_fail_field(err, FO_EINVAL, "max_marker", "max_marker must be between 0 and %d",
                             MAX_MARKER);
    int rc = stop_match_check(r->stop, r->n_stop, err); /* before they are copied */
    if (rc) return rc;
    if (r->n_stop_tokens > GENERATION_STOP_TOKENS)
        return fo_fail_field(err, FO_EINVAL, "stop_token_ids", "at most %d stop_token_ids",
                             GENERATION_STOP_TOKENS);
    for (size_t i = 0; i < r->n_stop_tokens; i++)
        if (r->stop_tokens[i] < 0 || r->stop_tokens[i] >= info->n_vocab)
            return fo_fail_field(err, FO_EINVAL, "stop_token_ids",
                                 "stop_token_ids[%zu] is %d, not one of %d tokens", i,
                                 r->stop_tokens[i], info->n_vocab);
    if (r->kv_chunk_budget > 1)
        return fo_fail_field(err, FO_EINVAL, "kv_chunk_budget",
                             "kv_chunk_budget is a share of at most 1");
    rc = check_pieces(r, err);
    return rc ? rc : sampler_params_check(&r->sampling, info->n_vocab, err);
}

/* What is decided token by token, or computed of a prompt alone, has no meaning on a canvas. */
int engine_check_diffusion(const generation_request *r, bool denoises, bool dream, fo_err *err) {
    if (!denoises && r->diffusion)
        return fo_fail_field(err, FO_EINVAL, "diffusion",
                             "diffusion is for diffusion models: this one writes token by token");
    if (!denoises) return FO_OK;
    const sampler_params *p = &r->sampling;
    const char *field = r->prefill_only                          ? "prefill_only"
                        : r->n_logprobs >= 0                     ? "logprobs"
                        : r->rule.schema                         ? "response_format"
                        : p->n_bias                              ? "logit_bias"
                        : p->top_k && !dream                     ? "top_k"
                        : p->top_p < 1 && !dream                 ? "top_p"
                        : p->min_p > 0                           ? "min_p"
                        : p->repetition < 1 || p->repetition > 1 ? "repetition_penalty"
                        : p->presence < 0 || p->presence > 0     ? "presence_penalty"
                        : p->frequency < 0 || p->frequency > 0   ? "frequency_penalty"
                                                                 : NULL;
    if (field)
        return fo_fail_field(err, FO_EUNSUPPORTED, field,
                             "a diffusion model does not take %s: it writes all of an answer's "
                             "places together",
                             field);
    return FO_OK;
}

int engine_check_sparse(sparse_params *p, const generation_request *r, const model_info *info,
                        fo_err *err) {
    const bool asked = r->sparse && r->sparse->retention >= 0 && r->sparse->retention < 1;
    if (asked && r->prefill_only)
        return fo_fail_field(err, FO_EINVAL, "sparse",
                             "sparse is for answers: KV of a prompt alone is kept whole");
    if (r->prefill_only) p->retention = 1;
    if (p->retention < 1 && info->sliding_window)
        return fo_fail_field(err, FO_EUNSUPPORTED, "sparse",
                             "sparse is not for models whose attention has a sliding window");
    return FO_OK;
}

int engine_check_canvas(const generation_request *r, const diffusion_params *p, int batch_tokens,
                        size_t n_pages, size_t page_tokens, fo_err *err) {
    const size_t n = r->n_prompt + r->max_tokens, canvases = p->guidance > 0 ? 2 : 1;
    if (n * canvases > (size_t)batch_tokens)
        return fo_fail_field(err, FO_ELIMIT, "max_tokens",
                             "a pass over prompt and answer has %zu rows%s, a step takes %d; raise "
                             "--max-batch-tokens",
                             n * canvases, canvases > 1 ? " with guidance" : "", batch_tokens);
    if ((n + page_tokens - 1) / page_tokens * canvases > n_pages)
        return fo_fail_field(err, FO_ELIMIT, "max_tokens",
                             "prompt and answer (%zu tokens%s) do not fit the KV cache of %zu; "
                             "raise --kv-ram",
                             n, canvases > 1 ? ", twice with guidance" : "", n_pages * page_tokens);
    return FO_OK;
}
