/* model_memory.h - the memory that there is, and what a model will take of it. */
#ifndef FORAGE_ENGINE_MODEL_MEMORY_H
#define FORAGE_ENGINE_MODEL_MEMORY_H

#include <stdint.h>
#include "engine/model/model.h"

/* MemAvailable, or what a cgroup or the limit of addresses (ulimit -v) leaves, in bytes; 0 when
 * none can be read. */
uint64_t model_memory_available(void);

/* Activations of a batch, an estimate from the shapes, on the large side; bytes. */
uint64_t model_memory_of_batch(const model_info *info, int batch_tokens);

/* What an encoder (embedder or cross-encoder) at `path` will take; 0 where it is no GGUF model,
 * such as a static table, which is small. FO_EIO, FO_ECORRUPT, FO_EUNSUPPORTED. */
int model_memory_of_encoder(uint64_t *out, const char *path, fo_err *err);

#endif
