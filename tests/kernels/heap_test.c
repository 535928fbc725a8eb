/* kernels/heap.h: threads that allocate and end leave few arenas and little free memory behind. */
#include "kernels/heap.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "tests/test.h"

enum { THREADS = 64, BLOCKS = 64, BYTES = 100000 };

static void *churn(void *arg) {
    char *blocks[BLOCKS];
    pthread_barrier_wait(arg); /* all at once: each would take an arena of its own */
    for (int i = 0; i < BLOCKS; i++) {
        blocks[i] = malloc(BYTES);
        if (!blocks[i]) abort();
        memset(blocks[i], i, BYTES);
    }
    for (int i = 0; i < BLOCKS; i++) free(blocks[i]);
    pthread_barrier_wait(arg);
    return NULL;
}

/* glibc's first arena grows by the program break; where something stands in its way, it goes on in maps that are never
 * trimmed. Linux leaves room for all of it, qemu 32 MiB, which threads that run side by side soon fill. */
static bool break_can_grow(size_t bytes) {
    char *end = sbrk(0);
    return brk(end + bytes) == 0 && brk(end) == 0;
}

static void what_threads_freed_is_given_back(void **state) {
    (void)state;
    if (!break_can_grow((size_t)THREADS * BLOCKS * BYTES)) skip();
    pthread_t threads[THREADS];
    pthread_barrier_t all;
    char *volatile large =
        malloc(20 << 20); /* after this glibc by itself keeps 40 MiB of each arena */
    free(large);
    pthread_barrier_init(&all, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, churn, &all), 0);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&all);
    fo_heap_stats st = fo_heap_get_stats();
    if (!st.used_bytes) skip(); /* another allocator: a sanitizer's */
    /* Of 400 MB. At most 1 MiB at the end of each arena, and what fragments. */
    size_t arenas = (size_t)(sysconf(_SC_NPROCESSORS_ONLN) < 4 ? 4 : sysconf(_SC_NPROCESSORS_ONLN));
    assert_true(st.free_bytes < (arenas + 4) * (size_t)(2 << 20));
}

static void a_large_block_is_mapped_and_gone_when_freed(void **state) {
    (void)state;
    size_t before = fo_heap_get_stats().mapped_bytes;
    void *block = malloc(5 << 20);
    assert_non_null(block);
    if (!fo_heap_get_stats().used_bytes) { /* another allocator */
        free(block);
        skip();
    }
    assert_true(fo_heap_get_stats().mapped_bytes >= before + (5 << 20));
    free(block);
    assert_int_equal(fo_heap_get_stats().mapped_bytes, before);
    block = malloc(5 << 20); /* glibc by itself would have moved its threshold past this */
    assert_non_null(block);
    assert_true(fo_heap_get_stats().mapped_bytes >= before + (5 << 20));
    free(block);
}

int main(void) {
    fo_heap_bound();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_threads_freed_is_given_back),
        cmocka_unit_test(a_large_block_is_mapped_and_gone_when_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
