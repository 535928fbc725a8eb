/* embed_static.h - text vectors from a static table: the weighted sum of the vectors of a text's
 * word pieces, brought to unit length. No context, no matrix product; tens of thousands of
 * passages a second on one core.
 *
 * The GGUF form (architecture "forage-static", written by fit.c):
 *   forage-static.embedding_length u32      forage-static.alpha f32 (weight in fusion; optional)
 *   forage-static.tf_power f32 (optional; 1)   a piece that stands c times weighs c^tf_power
 *   tokenizer.ggml.*                        WordPiece, as any "bert" file
 *   token_embd.weight [dim, n_vocab]        I8 (with token_embd.scale), F16, F32 or a block type
 *   token_embd.scale  [n_vocab] F32         value = number * scale of the row; optional
 *   output.bias       [dim] F32             added to the weighted MEAN of the rows; optional
 *
 * The model2vec form: a folder with config.json, tokenizer.json (WordPiece) and model.safetensors
 * (`embeddings` [n_rows, dim]; optionally `weights` and `mapping`, one a token).
 * Source: Tulkens and van Dongen, Model2Vec (2024). */
#ifndef FORAGE_ENGINE_EMBED_STATIC_H
#define FORAGE_ENGINE_EMBED_STATIC_H

#define EMBED_STATIC_ARCH "forage-static"

/* Measured on eight sets (docs/measurements/quality.md): with a static table on the dense side, weighted fusion
 * is best around here. */
#define EMBED_STATIC_ALPHA 0.4f

#endif
