#define ATTENTION_TABLE attention_avx2
#define TILE_ROWS       6
#define MID_ROWS        4
#define FEW_ROWS        2
#define QK_BLOCKS       1
#define FEW_BLOCKS      2
#define PV_VECTORS      1
#include "kernels/attention_impl.h"
