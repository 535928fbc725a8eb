/* alloc_guard.h - "this thread must not allocate now": set around what has to run without malloc.
 *
 * The guard itself only counts; a test puts its own malloc in front of the library's and fails when
 * it is called while the count is not zero (tests/engine/generate/alloc_test.c). The threads of a
 * pool take it over from the caller of a loop. A build with NDEBUG leaves it out. */
#ifndef FORAGE_KERNELS_ALLOC_GUARD_H
#define FORAGE_KERNELS_ALLOC_GUARD_H

#include <stdbool.h>

#ifdef NDEBUG
static inline void fo_alloc_forbid(void) {}
static inline void fo_alloc_allow(void) {}
static inline bool fo_alloc_is_forbidden(void) {
    return false;
}
#else
extern _Thread_local volatile int
    fo_alloc_forbidden; /* depth; the compiler knows that malloc reads no variable */
static inline void fo_alloc_forbid(void) {
    fo_alloc_forbidden++;
}
static inline void fo_alloc_allow(void) {
    fo_alloc_forbidden--;
}
static inline bool fo_alloc_is_forbidden(void) {
    return fo_alloc_forbidden > 0;
}
#endif

#endif
