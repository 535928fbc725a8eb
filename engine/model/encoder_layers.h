/* encoder_layers.h - the layers of an encoder over the rows of a step: attention in both
 * directions, the norm after each half.
 *
 * Many rows are cut into tiles, and a thread takes a tile through a whole layer, up to the next
 * one's keys and values: its activations stay in the second cache, and the threads meet once a
 * layer. Few rows go product by product, each shared by all threads. Both give the same bits. */
#ifndef FORAGE_ENGINE_ENCODER_LAYERS_H
#define FORAGE_ENGINE_ENCODER_LAYERS_H

#include "engine/model/forward.h"

/* A page is a span of attention, which reads it in place. */
enum { ENCODER_PAGE = ATTENTION_SPAN };

typedef struct encoder_row {
    int32_t token;
    bool second_segment;
} encoder_row;

typedef struct encoder_layers {
    forward f;         /* the step's: x, qkv, places */
    forward *tiles;    /* [n_tiles]: each thread's scratch; its x, qkv and places are f's */
    int n_tiles;       /* threads */
    kv_pages *kv;      /* two layers: the one that is read and the one that is written */
    encoder_row *rows; /* [cap_rows] */
} encoder_layers;

/* Room for steps of `rows` rows whose texts take `pages` pages. pool: NULL is the calling thread.
 */
int encoder_layers_create(encoder_layers *l, const model *m, fo_pool *pool, int rows, int pages,
                          fo_err *err);
void encoder_layers_free(encoder_layers *l); /* zeroed is fine */

/* Run the first `rows` rows, described by l->rows and l->f.places (whose block tables name
 * pages below `pages`); l->f.x[rows][d_stride] holds the last layer then. */
void encoder_layers_run(encoder_layers *l, int rows);

#endif
