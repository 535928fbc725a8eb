/* alloc_test.c - a decode step, and any forward pass, allocates nothing: our malloc stands in front
 * of the library's and counts calls from a thread that has forbidden them (kernels/alloc_guard.h).
 */
#include "tests/test.h"

#include <errno.h>
#include <stdatomic.h>

#include "engine/engine.h"
#include "kernels/alloc_guard.h"
#include "kernels/pool.h"
#include "tests/engine/tiny_model.h"

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

static uint64_t seed;
static fo_err err;

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
    char *folder = test_folder(), path[512];
    snprintf(path, sizeof path, "%s/tiny.gguf", folder);
    tiny_shape shape = {.arch = "llama",
                        .type = QUANT_Q8_0,
                        .d = 64,
                        .layers = 2,
                        .heads = 4,
                        .kv_heads = 2,
                        .head_dim = 32,
                        .ff = 96,
                        .vocab = 200};
    tiny_model_write(path, &shape, &seed);
    engine *e;
    engine_options o = {.model = path, .n_threads = 2, .kv_ram = 8 << 20};
    assert_ok(engine_open(&e, &o, &err), &err);
    int32_t p[100];
    for (int i = 0; i < 100; i++) p[i] = 3 + (int32_t)(test_random(&seed) % 197);
    atomic_store(&n_forbidden, 0);
    static const char *const stops[] = {"\x01zz", "\x02"};
    generation *g[4];
    for (int i = 0; i < 4; i++) { /* every kind of work that a step may have to do */
        generation_request r = {.prompt = p + i,
                                .n_prompt = (size_t)(90 - 20 * i),
                                .max_tokens = 300,
                                .sampling = sampler_params_default(),
                                .ignore_end = true,
                                .n_logprobs = i == 1 ? 5 : -1,
                                .max_marker = i == 2 ? 3 : 0,
                                .kv_reuse = i == 3 ? KV_REUSE_OFF : KV_REUSE_EXACT};
        if (i) r.sampling.temperature = 1, r.sampling.top_p = .9f, r.sampling.repetition = 1.1f;
        if (i == 2) r.stop = stops, r.n_stop = 2;
        assert_ok(engine_submit(e, &r, &g[i], NULL, &err), &err);
    }
    for (int i = 0; i < 4; i++) {
        generation_event ev;
        do generation_next(g[i], -1, &ev, NULL);
        while (!ev.done);
        assert_int_equal(ev.completion_tokens, 300);
        generation_free(g[i]);
    }
    engine_stats st;
    engine_get_stats(e, &st);
    assert_true(st.steps >= 300);
    engine_close(e);
    test_remove(folder);
    assert_int_equal(n_forbidden, 0);
}

int main(void) {
    seed = test_seed();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_guard_sees_an_allocation),
        cmocka_unit_test(the_guard_sees_allocations_of_a_pools_threads),
        cmocka_unit_test(decode_steps_and_forward_passes_allocate_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
