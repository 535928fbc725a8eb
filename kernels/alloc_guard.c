#include "kernels/alloc_guard.h"

#ifndef NDEBUG
_Thread_local volatile int fo_alloc_forbidden;
#else
typedef int alloc_guard_is_off; /* a file must declare something */
#endif
