#include "kernels/heap.h"

#include <malloc.h>

#include "kernels/cpu.h"

enum { LEAST_ARENAS = 4, KEPT_BYTES = 1 << 20, MAPPED_FROM_BYTES = 1 << 20 };

#ifdef __GLIBC__
void fo_heap_bound(void) {
    int n = fo_cpu_count();
    mallopt(M_ARENA_MAX, n > LEAST_ARENAS ? n : LEAST_ARENAS);
    /* Either one ends glibc's own moving of both. */
    mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
    mallopt(M_MMAP_THRESHOLD, MAPPED_FROM_BYTES);
}

fo_heap_stats fo_heap_get_stats(void) {
    struct mallinfo2 m = mallinfo2();
    return (fo_heap_stats){m.uordblks, m.fordblks, m.hblkhd};
}
#else
void fo_heap_bound(void) {}

fo_heap_stats fo_heap_get_stats(void) {
    return (fo_heap_stats){0};
}
#endif
