#define ATTENTION_TABLE attention_generic
#define QK_ROWS         2
#define PV_ROWS         1
#define PV_VECTORS      1
#include "kernels/attention_impl.h"
