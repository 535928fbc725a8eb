/* engine.h - text out of a language model for many callers at once: the scheduler's public face.
 *
 *     engine *e;
 *     engine_open(&e, &(engine_options){.model = "m.gguf", .n_threads = 2}, &err);
 *     generation *g;
 *     engine_submit(e, &(generation_request){.prompt = ids, .n_prompt = n, .max_tokens = 64,
 *                                            .sampling = sampler_params_default()}, &g, &err);
 *     generation_event ev;
 *     do {
 *         generation_next(g, -1, &ev, &text);          // appends what is new to text
 *     } while (!ev.done);
 *     generation_free(g);                              // cancels what still runs
 *
 * One thread runs steps: continuous batching, prefill in chunks beside decode, pages shared by
 * content between requests (kv_cache.h). The same request gives the same tokens whatever runs
 * beside it, however it was cut, preempted or attached (row invariance, model.h). */
#ifndef FORAGE_ENGINE_ENGINE_H
#define FORAGE_ENGINE_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "engine/diffusion/diffusion.h"
#include "engine/grammar/answer_filter.h"
#include "engine/kv/kv_cache.h"
#include "engine/kv/kv_sparse.h"
#include "engine/model/model.h"
#include "engine/generate/sampler.h"
#include "engine/tokenizer/tokenizer.h"
#include "kernels/buf.h"
#include "kernels/error.h"
#include "kernels/histogram.h"

typedef struct engine engine;         /* any thread */
typedef struct generation generation; /* one consumer; cancel from any thread */

typedef struct engine_options {
    const char *model;    /* GGUF file */
    int n_threads;        /* < 1: fo_core_count() */
    bool exact;           /* F32 arithmetic instead of the serving path */
    int max_batch_tokens; /* tokens of a step; 0: 512, of a diffusion model its window up to 4096 */
    int max_sequences;    /* sequences in work at a time; 0: 16 */
    int max_waiting;      /* requests that may wait for a place; 0: 1024 */
    int kv_page_tokens;   /* 0: 16 */
    uint64_t kv_ram;      /* bytes of KV; 0: a quarter of the memory that is available, at most
                                8 full contexts */
    uint64_t reserved_bytes; /* what the caller takes beside: counted when memory is */
    kv_type kv_type;
    bool no_lookup;  /* never guess ahead (prompt_lookup.h) */
    double row_cost; /* of a guess, as a share of a step's time; 0: measured as it runs */
    /* Beyond the pages (kv_store.h): chunks' KV in RAM, and a folder on disk for chunks and for
     * blocks that fall out of the pages, which survives restarts. */
    uint64_t kv_store_ram;   /* 0: a quarter of the pages' bytes, less where memory is short */
    const char *kv_dir;      /* NULL: nothing on disk */
    uint64_t kv_disk;        /* bytes there; 0: nothing on disk */
    uint64_t kv_queue;       /* kv_store_options.queue_bytes */
    double defrag_threshold; /* kv_cache_options; 0: .5 */
    /* Share of a prompt's moved chunk tokens that KV_REUSE_CHUNK computes again: those that the
     * question attends to most (docs/measurements/kv.md); 0: .15, < 0: none. */
    double kv_chunk_budget;
    /* A step that reads prompts beside tokens that others write takes about so many times as long
     * as one that only writes (step_pace.h); 0: 2; < 0: as long as max_batch_tokens take. */
    double read_stretch;
    int batch_wait_us;       /* an idle engine waits so long for company of the first request */
    double max_qps, max_tps; /* admission; 0: no limit */
    fo_notices notices;      /* kv_store_options */
    void (*progress)(void *arg, uint64_t done, uint64_t total); /* of loading */
    void *progress_arg;
} engine_options;

/* Loads the model. FO_ENOMEM with a sentence that counts weights, KV and scratch when they cannot
 * fit into the memory that is available. */
int engine_open(engine **out, const engine_options *opt, fo_err *err);
/* Cancels what still runs. Every generation must have been freed before. NULL is fine. */
void engine_close(engine *e);

const model_info *engine_model(const engine *e);
const tokenizer *engine_tokenizer(const engine *e);
int engine_intact(const engine *e,
                  fo_err *err); /* of the model's file, as gguf_intact; any thread */
const gguf *engine_gguf(const engine *e);
bool engine_denoises(const engine *e); /* the model is a diffusion model */

/* A stretch of a prompt, for kv_reuse chunk. */
enum generation_piece_kind {
    PIECE_PREFIX, /* before all chunks, the same for many requests: template, instructions */
    PIECE_CHUNK,  /* a context, its label included: its KV may be met again anywhere */
    PIECE_TAIL    /* turns, question, the beginning of the answer */
};
typedef struct generation_piece {
    size_t start, n; /* tokens [start, start + n) of the prompt */
    enum generation_piece_kind kind;
} generation_piece;

typedef struct generation_request {
    const int32_t *prompt;   /* copied */
    size_t n_prompt;         /* at least 1 */
    size_t max_tokens;       /* of the answer; prompt and answer must fit the model's window */
    sampler_params sampling; /* bias: copied */
    const char *const
        *stop; /* stop strings (stop_match_check), copied; of a rule's text none is one */
    size_t n_stop;
    bool ignore_end;        /* go on past the end token (benchmarks) */
    int priority;           /* -100 .. 100; higher is sooner */
    int64_t deadline_ms;    /* milliseconds from now by which it should be done; 0: none */
    unsigned char salt[32]; /* of the tenant: KV is shared only where it is equal */
    enum kv_reuse kv_reuse;
    /* With KV_REUSE_CHUNK: what the prompt is made of, in order and without gaps: one prefix, any
     * number of chunks, one tail; copied. None: as KV_REUSE_EXACT. Without a tail it must be
     * prefill_only: every chunk is computed behind prefix and lead (chunk_lead.h) alone and stored,
     * and the prompt as it stands is computed, too, unless drop_kv (--warm). */
    const generation_piece *pieces;
    size_t n_pieces;
    /* 0: engine_options; < 0: recompute nothing; 1: all, which is exact and saves nothing (tests)
     */
    double kv_chunk_budget;
    bool background;   /* only while nobody else has work: gives way between two layers */
    bool prefill_only; /* compute and keep the KV of the prompt, write nothing */
    bool no_lookup;    /* decode token by token, without guesses (prompt_lookup.h) */
    double
        expected_uses; /* of its KV by later requests (a sketch's estimate): weighs at eviction */
    bool drop_kv;      /* free its pages at the end instead of keeping them findable */
    int n_logprobs;    /* 0 .. 20 alternatives to report a token; -1: no logprobs at all */
    int max_marker;    /* 1 .. 9999: citation markers [n] may only name 1 .. max_marker */
    answer_rule
        rule; /* what the answer must look like; what it points to outlives the generation */
    /* Of a diffusion model (temperature and seed are sampling's); NULL: its own choices. It takes of
     * the sampling nothing else, and no n_logprobs, rule or prefill_only; markers are not held to. */
    const diffusion_params *diffusion;
    /* Which share of its KV every head keeps; NULL: the model's own choice. Not with prefill_only.
     * KV_REUSE_CHUNK is served as KV_REUSE_EXACT then, and nothing is guessed ahead. */
    const sparse_params *sparse;
    const int32_t *stop_tokens; /* that end it, beside the model's own; copied; as stop */
    size_t n_stop_tokens;       /* at most 64 */
} generation_request;

enum { GENERATION_LOGPROBS = 20, GENERATION_STOP_TOKENS = 64 };

typedef struct generation_token {
    int32_t token;
    float logprob;
    int n_top;
    const sampler_logprob *top; /* [n_top], best first; the generation's; NULL: not asked for */
    size_t
        text_end; /* it is written whole once so many bytes of text are out; those of a stop string never are */
} generation_token;

typedef struct generation_event {
    size_t n_new; /* tokens since the last call: generation_tokens() gives all of them */
    bool done;
    int error; /* FO_*; 0: none */
    char message[200];
    const char *finish_reason; /* static, once done: "stop" (end token), "stop_sequence", "length",
                                  "cancelled", "timeout", "error" */
    int stop_index;            /* of the stop string that ended it, -1 */
    int32_t stop_token;        /* of stop_tokens the one that ended it, -1 */
    size_t text_bytes;         /* of the text, given out so far, with this call */
    size_t prompt_tokens, completion_tokens;
    /* Of the prompt: not computed because their KV was there = prefix_tokens (attached, bit for
     * bit) + chunk_tokens (chunks' KV moved to its place) - recomputed_tokens (of chunk_tokens,
     * computed again in the prompt's context). */
    size_t cached_tokens;
    size_t prefix_tokens, chunk_tokens, recomputed_tokens;
    size_t disk_tokens; /* of prefix_tokens and chunk_tokens: read back from disk */
    bool disk_asked;    /* something was looked for on disk */
    const char
        *kv_note; /* static: why kv_reuse chunk was served as exact, or what is approximate */
    float
        retention; /* sparse_params', 1: dense; and what its pages had room for at most, those counted
                        that it held for a moment to pack into, and at the end */
    size_t kv_peak_tokens, kv_end_tokens;
    int passes; /* of a diffusion model over its canvas, so far: steps that changed it */
    double queue_ms, prefill_ms, decode_ms, first_token_ms; /* first_token: since the submit */
} generation_event;

/* FO_EINVAL (names the field), FO_ELIMIT (does not fit the window or the KV), FO_EBUSY with
 * *retry_after_ms (may be NULL) when admission refuses or too many wait. */
int engine_submit(engine *e, const generation_request *r, generation **out, int64_t *retry_after_ms,
                  fo_err *err);

/* Wait for news at most timeout_ms (< 0: for ever, 0: look). Appends new text, whole code points
 * with nothing of a stop string, to *text (NULL: thrown away). Returns 1 when there was news. */
int generation_next(generation *g, int timeout_ms, generation_event *ev, fo_buf *text);
/* Tokens written so far: valid until the next call with g. */
const generation_token *generation_tokens(generation *g, size_t *n);
void generation_cancel(generation *g);
void generation_free(generation *g); /* cancels first; NULL is fine */

/* Of a prompt, how many tokens the cache would attach now (a hint: it may change). */
int engine_probe(engine *e, const unsigned char salt[32], const int32_t *prompt, int n);

typedef struct engine_stats {
    kv_cache_stats kv;
    kv_store_stats store;
    uint64_t steps;
    uint64_t background_steps; /* of these; and how often one gave way to a request that came */
    uint64_t gave_way;
    uint64_t prefill_tokens; /* computed of prompts, and of answers again after a preemption */
    uint64_t decode_tokens;  /* chosen */
    /* of diffusion models: passes over canvases, the rows they computed, and of these those whose
     * logits were computed */
    uint64_t denoise_passes, denoise_rows, denoise_logit_rows;
    uint64_t drafted_tokens, kept_tokens; /* guesses computed, and those that came true */
    uint64_t preemptions, finished, cancelled, refused;
    /* kv_reuse chunk: requests served from moved chunks, and sums of their generation_event */
    uint64_t chunk_requests, chunk_tokens, recomputed_tokens;
    uint64_t chunk_lookups, chunk_hits; /* chunks looked up in the store, and found */
    int n_waiting, n_running;
    double busy_ms; /* inside steps */
} engine_stats;
void engine_get_stats(engine *e, engine_stats *out);
void engine_forget_peak(engine *e); /* kv.most_used begins with what is used now */

/* Of all requests since the start: submit to first token, and one token to the next. Valid until
 * engine_close. */
typedef struct engine_latencies {
    const fo_histogram *first_token, *inter_token;
} engine_latencies;
engine_latencies engine_get_latencies(const engine *e);

/* The state of each KV page, in their order, at most max of them: how many were written. */
int engine_kv_map(engine *e, unsigned char *states, int max);

/* Check the invariants of scheduler and KV cache; the first violation is the sentence (tests). */
int engine_check(engine *e, fo_err *err);

#endif
