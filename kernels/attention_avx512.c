#define ATTENTION_TABLE attention_avx512
#define TILE_ROWS       6
#define MID_ROWS        4
#define FEW_ROWS        2
#define QK_BLOCKS       4
#define FEW_BLOCKS      4
#define PV_VECTORS      4
#include "kernels/attention_impl.h"
