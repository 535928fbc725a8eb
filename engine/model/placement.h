/* placement.h - which thread reads which part of a matrix, and so which node its pages lie on.
 *
 * A product is cut into strips: as many panels as a tile takes, parts one after the other, no strip
 * in two parts. Each thread of the pool has its share of the strips (fo_pool_share). Where the pool
 * is bound to several nodes, pages are touched first by the threads that will read them. */
#ifndef FORAGE_ENGINE_PLACEMENT_H
#define FORAGE_ENGINE_PLACEMENT_H

#include "engine/model/model_internal.h"

/* first[p]: the first strip of part p; first[n_parts]: their number, which is returned. */
int placement_strips(const linear *w, int panels, int first[LINEAR_PARTS + 1]);

/* For a matrix that has its memory, of which nothing was touched. Without a pool that is bound,
 * nothing is done. */
void placement_touch(const model *m, const linear *w);

#endif
