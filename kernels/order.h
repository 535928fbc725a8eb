/* order.h - what qsort and bsearch ask of things that have one order: text by its bytes, numbers from the smallest.
 *
 *     qsort(names, n, sizeof *names, fo_order_strings);
 */
#ifndef FORAGE_KERNELS_ORDER_H
#define FORAGE_KERNELS_ORDER_H

#include <stdint.h>
#include <string.h>

static inline int fo_order_strings(const void *a, const void *b) { /* char *[] */
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static inline int fo_order_int64(const void *a, const void *b) { /* int64_t[] */
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static inline int fo_order_doubles(const void *a,
                                   const void *b) { /* double[], all of them numbers */
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

#endif
