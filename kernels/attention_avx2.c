#define ATTENTION_TABLE attention_avx2
#define QK_ROWS         4
#define PV_ROWS         2
#define PV_VECTORS      2
#include "kernels/attention_impl.h"
