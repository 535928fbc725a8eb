#define ATTENTION_TABLE attention_avx512
#define QK_ROWS         8
#define PV_ROWS         4
#define PV_VECTORS      4
#include "kernels/attention_impl.h"
