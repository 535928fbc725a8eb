/* local_generator.h - the language model of this process (engine/generate/engine.h) as a generator.
 *
 *     engine_options e = {.model = "m.gguf", .kv_ram = 1 << 30};
 *     service_open(&s, &(service_options){.home = "home", .generator = local_generator(&e)}, &err);
 *
 * It keeps the KV of what it reads: whole prefixes, bit for bit, and contexts by themselves; with
 * engine_options.kv_disk in the home's folder kv/, too. */
#ifndef FORAGE_RETRIEVAL_LOCAL_GENERATOR_H
#define FORAGE_RETRIEVAL_LOCAL_GENERATOR_H

#include "engine/generate/engine.h"
#include "retrieval/generator/generator.h"

/* What the service opens: of *opt all counts but n_threads, reserved_bytes, kv_dir and notices,
 * which the service decides. opt lives until it is opened; without a model: no generator. */
generator_source local_generator(const engine_options *opt);

/* What d asks for, for generation_request.diffusion. Returns room, or NULL where nothing was asked. */
const diffusion_params *local_diffusion(const generator_diffusion *d, diffusion_params *room);
/* The same for generation_request.sparse. */
const sparse_params *local_sparse(const generator_sparse *s, sparse_params *room);
/* What a generation held of KV. */
generator_held local_held(const generation_event *ev);

/* The one way to the engine itself, for what only a model of this process has: tokens, their
 * probabilities, the state of the KV cache. NULL: no generator (g NULL), or another kind. */
engine *local_generator_engine(generator *g);

/* Why its prompts are ChatML and not what the model's own chat template makes of them (local_prompt.h); NULL: they
 * are that template's, or it is not a model of this process. Lives as long as g. */
const char *local_generator_chatml(generator *g);

#endif
