/* cli_models.h - the flags that say which models a home is opened with: every command that opens
 * one takes the same and opens it here. */
#ifndef FORAGE_SERVER_CLI_MODELS_H
#define FORAGE_SERVER_CLI_MODELS_H

#include "retrieval/service/service.h"
#include "server/cli/cli.h"
#include "server/cli/engine_flags.h"

typedef struct cli_models {
    const char *embed, *query_prefix, *passage_prefix, *rerank, *reader, *model;
    const char *ocr, *ocr_language;
    int64_t ingest_memory; /* 0: the usual */
    int64_t keep_originals;
} cli_models;
extern cli_models cli_model_flags; /* what the rows below read */

/* Rows of an option table. */
/* clang-format off */
#define CLI_EMBED_OPTIONS \
    {"embed-model", CLI_STRING, &cli_model_flags.embed, "FILE", \
     "embedder: a GGUF file or model2vec folder, builtin (default: a table, quick) or builtin-encoder"}, \
    {"query-prefix", CLI_STRING, &cli_model_flags.query_prefix, "TEXT", \
     "an encoder reads it before each question (default: what its file says)"}, \
    {"passage-prefix", CLI_STRING, &cli_model_flags.passage_prefix, "TEXT", \
     "an encoder reads it before each passage (default: what its file says)"}
#define CLI_OCR_OPTIONS \
    {"ocr", CLI_STRING, &cli_model_flags.ocr, "WHEN", \
     "recognise letters in images by tesseract: off (default), auto (pages without text, images), force"}, \
    {"ocr-language", CLI_STRING, &cli_model_flags.ocr_language, "NAME", \
     "of those letters, as tesseract calls it: eng (default), eng+deu, ..."}
#define CLI_ORIGINALS_OPTION \
    {"keep-originals", CLI_BYTES, &cli_model_flags.keep_originals, "BYTES", \
     "of PDFs that are kept in the home, so that the page can show theirs; 0: none (default 1G)"}
#define CLI_INGEST_MEMORY_OPTION \
    {"ingest-memory", CLI_BYTES, &cli_model_flags.ingest_memory, "BYTES", \
     "that documents on their way in take together; seven eighths bound a single one (default 256M)", .min = 1 << 20}
/* How the documents of a collection are cut; `o` has language, max_tokens and overlap. */
#define CLI_CHUNK_OPTIONS(o) \
    {"language", CLI_STRING, &(o).language, "NAME", \
     "of a new collection: english (default), german, ... or none"}, \
    {"max-tokens", CLI_INT, &(o).max_tokens, "N", "tokens of a chunk (default 256)", .min = 16, \
     .max = 8192}, \
    {"overlap", CLI_INT, &(o).overlap, "N", "tokens that neighbouring chunks share (default 32)", \
     .min = 0, .max = 4095}
#define CLI_RERANK_OPTION \
    {"rerank-model", CLI_STRING, &cli_model_flags.rerank, "FILE", \
     "a cross-encoder (GGUF) for search.rerank and /v1/rerank"}
/* The same for a command whose every question is put to it: cli_reranks. */
#define CLI_RERANKED_OPTION \
    {"rerank-model", CLI_STRING, &cli_model_flags.rerank, "FILE", \
     "a cross-encoder (GGUF) that puts what was found in order (default: none)"}
#define CLI_READER_OPTION \
    {"reader", CLI_STRING, &cli_model_flags.reader, "FILE", \
     "reads the passages of every answer: builtin (default), none, or an encoder (GGUF)"}
#define CLI_GENERATE_OPTIONS \
    {"model", CLI_STRING, &cli_model_flags.model, "FILE", \
     "a language model (GGUF) that writes answers (default: none)"}, \
    ENGINE_DISK_FLAG, ENGINE_FLAGS
/* All models of a command that answers questions, and its threads. */
#define CLI_ANSWER_OPTIONS \
    CLI_EMBED_OPTIONS, CLI_RERANKED_OPTION, CLI_READER_OPTION, CLI_GENERATE_OPTIONS, ENGINE_THREADS_FLAG
/* clang-format on */

/* Are images documents, by --ocr? */
bool cli_ocr_is_on(void);

/* Was a cross-encoder named? Then questions to the home are to be put to it. */
bool cli_reranks(void);

/* A service was started with its own settings: prints which flag of this table (not of the environment) says how a
 * home is opened, and returns 2; 0 where none was given. --ocr and --ocr-language are for the command to judge. */
int cli_models_refuse_for_url(const cli_option *options);

/* The embedder, as the flags say. */
void cli_models_apply(service_options *o);

/* service_open with what the flags say put into *o. FO_EINVAL names a flag. Where nobody listens to
 * notices they go to stderr. */
int cli_models_open(service **out, const service_options *o, fo_err *err);

#endif
