/* cli_models.h - the flags that say which models a home is opened with: every command that opens
 * one takes the same and opens it here. */
#ifndef FORAGE_SERVER_CLI_MODELS_H
#define FORAGE_SERVER_CLI_MODELS_H

#include "retrieval/service.h"
#include "server/cli.h"

typedef struct cli_models {
    const char *embed, *query_prefix, *passage_prefix, *rerank, *model, *kv_type;
    int64_t max_batch_tokens, max_sequences, kv_page_tokens, kv_ram, batch_wait_us;
    double defrag_threshold, max_qps, max_tps;
} cli_models;
extern cli_models cli_model_flags;

/* Rows of an option table. */
/* clang-format off */
#define CLI_EMBED_OPTIONS \
    {"embed-model", CLI_STRING, &cli_model_flags.embed, "FILE", \
     "embedder: a GGUF file or model2vec folder (default: the built-in table)"}, \
    {"query-prefix", CLI_STRING, &cli_model_flags.query_prefix, "TEXT", \
     "an encoder reads it before each question (default: what its file says)"}, \
    {"passage-prefix", CLI_STRING, &cli_model_flags.passage_prefix, "TEXT", \
     "an encoder reads it before each passage (default: what its file says)"}
#define CLI_RERANK_OPTION \
    {"rerank-model", CLI_STRING, &cli_model_flags.rerank, "FILE", \
     "a cross-encoder (GGUF) for search.rerank and /v1/rerank"}
#define CLI_ENGINE_OPTIONS \
    {"model", CLI_STRING, &cli_model_flags.model, "FILE", \
     "a language model (GGUF) that writes answers (default: none)"}, \
    {"max-batch-tokens", CLI_INT, &cli_model_flags.max_batch_tokens, "N", \
     "tokens of one step of the language model (default 512)", .min = 1, .max = 65536}, \
    {"max-sequences", CLI_INT, &cli_model_flags.max_sequences, "N", \
     "answers written at once (default 16)", .min = 1, .max = 1024}, \
    {"kv-page-tokens", CLI_INT, &cli_model_flags.kv_page_tokens, "N", \
     "tokens of a KV page (default 16)", .min = 1, .max = 256}, \
    {"kv-ram", CLI_BYTES, &cli_model_flags.kv_ram, "BYTES", \
     "memory for keys and values (default: a quarter of what is free)"}, \
    {"kv-type", CLI_STRING, &cli_model_flags.kv_type, "TYPE", \
     "f32, bf16 or q8_0: how keys and values are kept (default: bf16)"}, \
    {"defrag-threshold", CLI_DOUBLE, &cli_model_flags.defrag_threshold, "SHARE", \
     "fragmentation from which KV pages are moved together (default .5)", .max = 1}, \
    {"batch-wait-us", CLI_INT, &cli_model_flags.batch_wait_us, "US", \
     "an idle engine waits so long for company (default 0)", .max = 1000000}, \
    {"max-qps", CLI_DOUBLE, &cli_model_flags.max_qps, "N", \
     "generations begun a second; more are 429 (default: no limit)", .max = 1e6}, \
    {"max-tps", CLI_DOUBLE, &cli_model_flags.max_tps, "N", \
     "tokens admitted a second; more are 429 (default: no limit)", .max = 1e9}
/* clang-format on */

/* service_open with what the flags say put into *o. FO_EINVAL: --kv-type. */
int cli_models_open(service **out, const service_options *o, fo_err *err);

#endif
