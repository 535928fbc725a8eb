/* alloc_test.c - a decode step, and any forward pass, allocates nothing: our malloc stands in front
 * of the library's and counts calls from a thread that has forbidden them (kernels/alloc_guard.h).
 */
#include "tests/test.h"

#include <errno.h>
#include <stdatomic.h>

#include "kernels/alloc_guard.h"
#include "kernels/pool.h"
#include "tests/engine/generate/engine_fixture.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { CAN_COUNT = 0 }; /* the sanitizers have put theirs there */
#else
enum { CAN_COUNT = 1 };
void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t n);
void *__libc_memalign(size_t align, size_t n);
#endif

static atomic_int n_forbidden;

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
static void count(void) {
    if (fo_alloc_forbidden > 0) atomic_fetch_add(&n_forbidden, 1);
}

void *malloc(size_t n) {
    count();
    return __libc_malloc(n);
}

void *calloc(size_t n, size_t size) {
    count();
    return __libc_calloc(n, size);
}

void *realloc(void *p, size_t n) {
    count();
    return __libc_realloc(p, n);
}

int posix_memalign(void **out, size_t align, size_t n) {
    count();
    void *p = __libc_memalign(align, n);
    if (!p) return ENOMEM;
    *out = p;
    return 0;
}
#endif

static void the_guard_sees_an_allocation(void **state) {
    (void)state;
    if (!CAN_COUNT) skip();
    fo_alloc_forbid();
    char *volatile p = malloc(10);
    fo_alloc_allow();
    free(p);
    assert_int_equal(atomic_exchange(&n_forbidden, 0), 1);
    p = malloc(10);
    free(p);
    assert_int_equal(n_forbidden, 0);
}

static void allocate_some(void *arg, size_t begin, size_t end, int thread) {
    (void)arg, (void)thread;
    for (size_t i = begin; i < end; i++) {
        char *volatile p = malloc(10);
        free(p);
    }
}

static void the_guard_sees_allocations_of_a_pools_threads(void **state) {
    (void)state;
    if (!CAN_COUNT) skip();
    fo_pool *pool = fo_pool_create(3);
    fo_alloc_forbid();
    fo_pool_run(pool, 500, 1, allocate_some, NULL);
    fo_alloc_allow();
    assert_int_equal(atomic_exchange(&n_forbidden, 0), 500);
    fo_pool_run(pool, 500, 1, allocate_some, NULL);
    assert_int_equal(n_forbidden, 0);
    fo_pool_free(pool);
}

static void decode_steps_and_forward_passes_allocate_nothing(void **state) {
    (void)state;
    if (!CAN_COUNT) skip();
    engine *e = open_engine((engine_options){.n_threads = 2});
    int32_t p[100];
    random_tokens(p, 100);
    atomic_store(&n_forbidden, 0);
    static const char *const stops[] = {"\x01zz", "\x02"};
    generation *g[4];
    for (int i = 0; i < 4; i++) { /* every kind of work that a step may have to do */
        generation_request r = request(p + i, (size_t)(90 - 20 * i), 300);
        r.n_logprobs = i == 1 ? 5 : -1;
        r.max_marker = i == 2 ? 3 : 0;
        r.kv_reuse = i == 3 ? KV_REUSE_OFF : KV_REUSE_EXACT;
        if (i) r.sampling.temperature = 1, r.sampling.top_p = .9f, r.sampling.repetition = 1.1f;
        if (i == 2) r.stop = stops, r.n_stop = 2;
        g[i] = submit(e, &r);
    }
    for (int i = 0; i < 4; i++) {
        result got;
        finish(g[i], &got);
        assert_int_equal(got.n, 300);
    }
    engine_stats st;
    engine_get_stats(e, &st);
    assert_true(st.steps >= 300);
    close_engine(e);
    assert_int_equal(n_forbidden, 0);
}

int main(void) {
    seed = test_seed();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_guard_sees_an_allocation),
        cmocka_unit_test(the_guard_sees_allocations_of_a_pools_threads),
        cmocka_unit_test(decode_steps_and_forward_passes_allocate_nothing),
    };
    return cmocka_run_group_tests(tests, open_folder, remove_folder);
}
