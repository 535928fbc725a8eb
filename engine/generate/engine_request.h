/* engine_request.h - what a generation_request must be, before it costs anything. */
#ifndef FORAGE_ENGINE_ENGINE_REQUEST_H
#define FORAGE_ENGINE_ENGINE_REQUEST_H

#include "engine/generate/engine.h"

/* FO_EINVAL or FO_ELIMIT, naming the field. kv_tokens: what the KV cache holds. */
int engine_check_request(const generation_request *r, const model_info *info, size_t kv_tokens,
                         fo_err *err);

/* FO_EINVAL for diffusion where the model does not denoise, FO_EUNSUPPORTED for what it then does not
 * do (dream: Dream does more), naming the field. */
int engine_check_diffusion(const generation_request *r, bool denoises, bool dream, fo_err *err);

/* p: resolved; its retention becomes 1 where nothing can be dropped and nobody asked for it. FO_EINVAL
 * or FO_EUNSUPPORTED names the field. */
int engine_check_sparse(sparse_params *p, const generation_request *r, const model_info *info,
                        fo_err *err);

/* p: resolved. FO_ELIMIT where the canvases do not fit a step or the pages. */
int engine_check_canvas(const generation_request *r, const diffusion_params *p, int batch_tokens,
                        size_t n_pages, size_t page_tokens, fo_err *err);

#endif
