/* convert.h - a Hugging Face folder of a BERT-type encoder to a GGUF file.
 *
 * Read: config.json, vocab.txt or tokenizer.json, model.safetensors, and where they exist
 * modules.json with the pooling folder it names (default: mean), sentence_bert_config.json (longest
 * text) and config_sentence_transformers.json (prefixes of queries and passages). Written:
 * architecture "bert" with llama.cpp's keys and tensor names. Sequence classifiers become rerankers
 * (pooling "rank", cls.* tensors). */
#ifndef FORAGE_ENGINE_CONVERT_H
#define FORAGE_ENGINE_CONVERT_H

#include <stddef.h>
#include <stdint.h>
#include "kernels/error.h"
#include "kernels/quant.h"

typedef struct convert_options {
    quant_type type;  /* of the matrices: QUANT_F32, QUANT_F16 or QUANT_Q8_0; a row that does not
                         fit becomes F16 */
    const char *name; /* stored as general.name; NULL: the output's name without its ending */
    void (*progress)(void *arg, uint64_t done_bytes, uint64_t total_bytes); /* may be NULL */
    void *progress_arg;
} convert_options;

typedef struct convert_result {
    size_t n_tensors;
    uint64_t out_bytes; /* of tensor data */
    int n_layers, d_model, n_vocab;
    char pooling[8]; /* "mean", "cls", "last", "rank" */
} convert_result;

/* FO_ENOTFOUND (a file or tensor lacks), FO_ECORRUPT, FO_EUNSUPPORTED (another architecture,
 * activation, position scheme or pooling), FO_EIO, FO_ENOMEM. result may be NULL. */
int convert_folder(const char *folder, const char *out_path, const convert_options *options,
                   convert_result *result, fo_err *err);

#endif
