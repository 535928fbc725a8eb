/* engine_request.h - what a generation_request must be, before it costs anything. */
#ifndef FORAGE_ENGINE_ENGINE_REQUEST_H
#define FORAGE_ENGINE_ENGINE_REQUEST_H

#include "engine/generate/engine.h"

/* FO_EINVAL or FO_ELIMIT, naming the field. kv_tokens: what the KV cache holds. */
int engine_check_request(const generation_request *r, const model_info *info, size_t kv_tokens,
                         fo_err *err);

#endif
