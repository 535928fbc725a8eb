/* engine_internal.h - the engine and its generations from within: engine.c (what is opened and
 * asked of it), generation.c (requests, by the threads that make them), engine_thread.c (their
 * tokens), denoise_step.c (those of diffusion models).
 *
 * Lock order: engine.mu -> generation.mu. The engine's thread holds mu while it plans and takes
 * news in, never during a forward pass. */
#ifndef FORAGE_ENGINE_ENGINE_INTERNAL_H
#define FORAGE_ENGINE_ENGINE_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "engine/diffusion/denoiser.h"
#include "engine/generate/admission.h"
#include "engine/generate/chunk_task.h"
#include "engine/generate/engine.h"
#include "engine/generate/markers.h"
#include "engine/generate/prompt_lookup.h"
#include "engine/generate/scheduler.h"
#include "engine/generate/step_pace.h"
#include "kernels/stop_match.h"

struct generation {
    engine *e;
    /* immutable after submit */
    sampler_params sampling;
    sampler_bias *bias;
    char **stop;
    bool ignore_end;
    int32_t stop_tokens[GENERATION_STOP_TOKENS];
    size_t n_stop_tokens;
    int n_logprobs;
    size_t max_tokens;
    double submitted_ms;
    int32_t *tokens; /* prompt and answer: the task's array */
    size_t n_prompt;

    int task; /* guarded by engine.mu; -1 once finished */
    atomic_bool cancel;

    /* owned: engine's thread while running */
    detokenizer detok;
    stop_match stops;
    marker_filter markers;
    answer_filter *filter; /* NULL: anything may be written */
    prompt_lookup lookup;  /* without memory where the request wants none */
    fo_buf piece;
    double last_token_ms;
    denoiser *canvas; /* of a diffusion model; else NULL */
    /* With verify: canvases that a pass may compute beside, pages of each that are its own, and room
     * for their block tables [n_ahead][pages of the canvas]. */
    int n_ahead, ahead_pages;
    int32_t *ahead_tables;
    kv_sparse *sparse, *guide_sparse; /* NULL: all KV is kept */
    chunk_task *chunk;                /* NULL: none */
    kv_store_stage *stage; /* read from disk for it, until it has attached; NULL: nothing */
    /* What makes its chunks known for the next time, ready to be added once it is done; NULL: none.
     * Such a one is the engine's own and frees itself. */
    generation *warm;
    bool internal;
    unsigned char salt[32];

    pthread_mutex_t mu;
    pthread_cond_t news;
    /* guarded by mu */
    generation_token *out;    /* [max_tokens] */
    size_t n_pushed, n_given; /* bytes of text that tokens made, and that were taken */
    sampler_logprob *top;     /* [max_tokens][n_logprobs] */
    size_t n_out, n_seen;
    fo_buf text; /* not yet read */
    generation_event ev;
};

struct engine {
    /* immutable after open */
    fo_pool *pool;
    model *model;
    tokenizer *tokenizer;
    kv_cache *kv;
    kv_store *store;
    double kv_chunk_budget;
    admission *admission;
    int batch_wait_us, max_batch_tokens, max_sequences;
    int max_drafts; /* guesses of a step; 0: none are made */
    int logit_rows; /* that are computed at a time */
    bool denoises;  /* the model is a diffusion model, which this describes: */
    diffusion_model diffusion;
    sparse_params sparse; /* the model's own */
    double row_cost;      /* 0: by cost */
    double read_stretch;  /* engine_options; 0: no limit */
    size_t kv_tokens;     /* the KV cache holds so many */

    pthread_t thread;
    bool has_thread;
    pthread_mutex_t mu;
    pthread_cond_t wake;
    /* guarded by mu */
    scheduler sched;
    bool stop;
    engine_stats stats;
    chunk_world world;
    int n_warming; /* tasks of the engine's own */

    fo_histogram first_token, inter_token; /* atomic */
    atomic_bool give_way; /* who computes in the background looks here between two layers */

    /* owned: engine's thread */
    model_context *ctx;
    model_context *background_ctx; /* of a step that may have given way in the middle */
    sampler *sampler;
    float *logits; /* [logit_rows][n_vocab] */
    step_cost cost;
    step_pace pace;
    model_sequence *seqs; /* [max_sequences], of canvases 1 + DENOISER_AHEAD times as many */
    int32_t *rows;        /* [2 max_batch_tokens]: tokens and positions of rows computed again */
};

/* Of g, which nobody waits for any more, or which was never added. */
void generation_destroy(generation *g);

/* g becomes task number i of the scheduler, as r wants it. engine.mu is held. */
void engine_add_task(engine *e, generation *g, const generation_request *r, int i);

/* Give up the warming that was left longest ago, but not what is in work. False: there is none.
 * engine.mu is held. */
bool engine_drop_warming(engine *e);

/* A task of which `token` was chosen: print it, see whether it is the last. logits: the row that it
 * comes from, for log-probabilities; NULL: there are none. False: the task has ended. engine.mu is
 * held. */
bool engine_take_token(engine *e, int task, int32_t token, const float *logits);

/* g ends: error is FO_OK or says why, reason as generation_event has it. engine.mu is held. */
void engine_finish(engine *e, generation *g, const char *reason, int error, const char *message);

/* Run the planned step of an engine that denoises. mu is held on entry and on return, not during the
 * forward pass. */
void engine_denoise_step(engine *e);

/* What the engine's thread runs: steps, until e->stop. */
void *engine_thread(void *e);

#endif
