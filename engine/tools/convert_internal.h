/* convert_internal.h - what the two converters share; nobody else includes it. */
#ifndef FORAGE_ENGINE_CONVERT_INTERNAL_H
#define FORAGE_ENGINE_CONVERT_INTERNAL_H

#include "engine/gguf/gguf.h"
#include "engine/tools/convert.h"

/* What every encoder's file says of its shape, under llama.cpp's keys. */
typedef struct convert_shape {
    uint64_t n_layers, n_context, d_model, d_ff, n_heads, n_vocab;
    double epsilon;
    int pooling; /* as pooling_type has it: 1 mean, 2 cls, 3 last, 4 rank */
} convert_shape;

/* name NULL: the output's without its folder and ending. */
void convert_put_shape(gguf_writer *w, const convert_shape *s, quant_type type, const char *name,
                       const char *out_path);

/* `type`, or F16 where rows of `cols` do not divide into its blocks. */
quant_type convert_row_type(quant_type type, uint64_t cols);

#endif
