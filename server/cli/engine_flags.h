/* engine_flags.h - the engine's options, the same for every command that runs a model: one table,
 * one place where they become engine_options. */
#ifndef FORAGE_SERVER_ENGINE_FLAGS_H
#define FORAGE_SERVER_ENGINE_FLAGS_H

#include "engine/generate/engine.h"
#include "server/cli/cli.h"

typedef struct engine_flags {
    int64_t threads, max_batch_tokens, max_sequences, kv_page_tokens, kv_ram, kv_disk,
        batch_wait_us;
    const char *kv_type;
    double defrag_threshold, kv_chunk_budget, read_stretch, max_qps, max_tps;
    bool no_lookup;
} engine_flags;
extern engine_flags engine_flag_values; /* what ENGINE_FLAGS read */

/* Rows for a command's table of options. */
/* clang-format off */
#define ENGINE_FLAGS \
    {"max-batch-tokens", CLI_INT, &engine_flag_values.max_batch_tokens, "N", \
     "tokens of a step, all sequences together (default 512; of a diffusion model its window, up " \
     "to 4096)", .min = 1, .max = 65536}, \
    {"read-stretch", CLI_DOUBLE, &engine_flag_values.read_stretch, "X", \
     "while others write, a step that reads a prompt beside takes about X times as long as theirs " \
     "(default 2; 0: as long as max-batch-tokens take)", .min = 0, .max = 1e6}, \
    {"max-sequences", CLI_INT, &engine_flag_values.max_sequences, "N", \
     "sequences in work at a time (default 16)", .min = 1, .max = 1024}, \
    {"kv-page-tokens", CLI_INT, &engine_flag_values.kv_page_tokens, "N", \
     "tokens of a KV page, a multiple of 16 (default 16; of a block-causal model its block)", \
     .min = 16, .max = 1024}, \
    {"kv-ram", CLI_BYTES, &engine_flag_values.kv_ram, "BYTES", \
     "of the KV cache's pages (default: a quarter of free memory, at most 8 windows); chunks' " \
     "KV may take a quarter more"}, \
    {"kv-type", CLI_STRING, &engine_flag_values.kv_type, "TYPE", \
     "f32, bf16 or q8_0 (default bf16)"}, \
    {"kv-chunk-budget", CLI_DOUBLE, &engine_flag_values.kv_chunk_budget, "SHARE", \
     "of the tokens of chunks met at a new place that kv_reuse \"chunk\" computes again " \
     "(default .15)", .min = 0, .max = 1}, \
    {"defrag-threshold", CLI_DOUBLE, &engine_flag_values.defrag_threshold, "SHARE", \
     "compact the KV cache when so much of its used part is free (default .5)", .min = 0.01, \
     .max = 1}, \
    {"no-lookup", CLI_BOOL, &engine_flag_values.no_lookup, NULL, \
     "write token by token, without guesses from the prompt"}, \
    {"batch-wait-us", CLI_INT, &engine_flag_values.batch_wait_us, "N", \
     "an idle engine waits so long for company of a request (default 0)", .min = 0, \
     .max = 1000000}, \
    {"max-qps", CLI_DOUBLE, &engine_flag_values.max_qps, "N", \
     "generations a second let in; beyond: 429 (default: all)", .min = 0, .max = 1e9}, \
    {"max-tps", CLI_DOUBLE, &engine_flag_values.max_tps, "N", \
     "tokens a second let in, prompt and answer; beyond: 429 (default: all)", .min = 0, \
     .max = 1e12}
/* Where there is a home to keep it in. */
#define ENGINE_DISK_FLAG \
    {"kv-disk", CLI_BYTES, &engine_flag_values.kv_disk, "BYTES", \
     "of KV kept on disk, in HOME/kv, over evictions and restarts; 0: none (default: 2G for " \
     "serve, 0 else)"}
/* --threads on top, where the command has none of its own. */
#define ENGINE_THREADS_FLAG \
    {"threads", CLI_INT, &engine_flag_values.threads, "N", "threads (default: one a core)", .max = 1024}
/* clang-format on */

/* Fill what the flags say into *out (model, progress and exactness are the caller's). FO_EINVAL for
 * a value that no table can check. */
int engine_flags_apply(engine_options *out, fo_err *err);

#endif
