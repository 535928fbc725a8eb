#define ATTENTION_TABLE attention_generic
#define TILE_ROWS       2
#define MID_ROWS        1
#define FEW_ROWS        1
#define QK_BLOCKS       1
#define FEW_BLOCKS      1
#define PV_VECTORS      1
#include "kernels/attention_impl.h"
