/* amx_check_test.c - the check that stands before the AMX kernels lets good ones through, and finds
 * wrong sums and refused instructions without harm to the process. */
#include "tests/test.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#include "kernels/amx_check.h"
#include "kernels/cpu.h"

static void lets_kernels_through_that_give_the_same_bits(void **state) {
    (void)state;
    const char *const names[] = {"generic", "avx2", "avxvnni", "avx512", "amx"};
    for (int i = 0; i < 5; i++) {
        const mm_kernels *t = mm_get_named(names[i]);
        if (t) assert_null(amx_check(t, &mm_generic));
    }
}

/* The generic kernel, but for one bit of one result. */
static void nearly(const mm_weights *w, const mm_input *in, int row0, int row1, int panel0,
                   int panel1, float *out, size_t out_stride) {
    mm_generic.run[w->kind](w, in, row0, row1, panel0, panel1, out, out_stride);
    uint32_t bits;
    float *last = out + (size_t)(row1 - 1) * out_stride + panel1 * MM_PANEL - 1;
    memcpy(&bits, last, sizeof bits);
    bits ^= 1;
    memcpy(last, &bits, sizeof bits);
}

static void trap(const mm_weights *w, const mm_input *in, int row0, int row1, int panel0,
                 int panel1, float *out, size_t out_stride) {
    (void)w, (void)in, (void)row0, (void)row1, (void)panel0, (void)panel1, (void)out;
    (void)out_stride;
    raise(SIGILL);
}

static void no_memory(const mm_weights *w, const mm_input *in, int row0, int row1, int panel0,
                      int panel1, float *out, size_t out_stride) {
    (void)w, (void)in, (void)row0, (void)row1, (void)panel0, (void)panel1, (void)out;
    (void)out_stride;
    raise(SIGSEGV);
}

static void finds_one_wrong_bit_in_any_kind(void **state) {
    (void)state;
    for (mm_kind kind = MM_W8; kind <= MM_W4M; kind++) {
        mm_kernels t = mm_generic;
        t.run[kind] = nearly;
        const char *why = amx_check(&t, &mm_generic);
        assert_non_null(why);
        assert_non_null(strstr(why, "differ"));
    }
}

static void survives_instructions_that_the_processor_refuses(void **state) {
    (void)state;
    struct sigaction before, after;
    sigaction(SIGILL, NULL, &before);
    for (int i = 0; i < 3; i++) {
        mm_kernels t = mm_generic;
        t.run[MM_W8 + i] = trap;
        const char *why = amx_check(&t, &mm_generic);
        assert_non_null(why);
        assert_non_null(strstr(why, "refuses"));
        t.run[MM_W8 + i] = no_memory;
        assert_non_null(strstr(amx_check(&t, &mm_generic), "no memory"));
    }
    sigaction(SIGILL, NULL, &after);
    assert_true(before.sa_handler == after.sa_handler);
    assert_null(amx_check(&mm_generic, &mm_generic)); /* and works again */
}

static atomic_int n_other;
static void count_other(int signal) {
    (void)signal;
    n_other++;
}

static void *raise_in_thread(void *arg) {
    (void)arg;
    raise(SIGILL);
    return NULL;
}

/* While the check runs, another thread's signal: its old handler is put back and the fault, met
 * again, would go there. raise() does not repeat, so the second one is ours. */
static void elsewhere(const mm_weights *w, const mm_input *in, int row0, int row1, int panel0,
                      int panel1, float *out, size_t out_stride) {
    for (int i = 0; i < 2; i++) {
        pthread_t t;
        assert_int_equal(pthread_create(&t, NULL, raise_in_thread, NULL), 0);
        pthread_join(t, NULL);
    }
    mm_generic.run[w->kind](w, in, row0, row1, panel0, panel1, out, out_stride);
}

static void leaves_signals_of_other_threads_to_their_handler(void **state) {
    (void)state;
    struct sigaction mine = {.sa_handler = count_other}, old;
    sigaction(SIGILL, &mine, &old);
    mm_kernels t = mm_generic;
    t.run[MM_W8] = elsewhere;
    n_other = 0;
    const char *why = amx_check(&t, &mm_generic);
    sigaction(SIGILL, &old, NULL);
    assert_null(why);
    assert_int_equal(n_other, 1);
}

static void amx_is_reported_only_where_its_kernels_work(void **state) {
    (void)state;
    const fo_cpu_info *cpu = fo_cpu();
    print_message("# %s, level %s%s%s\n", cpu->name, fo_cpu_level_name(cpu->level),
                  cpu->note[0] ? ": " : "", cpu->note);
    assert_true((mm_get_named("amx") != NULL) == (cpu->level == FO_CPU_AMX));
    assert_true(cpu->level < FO_CPU_AMX || !cpu->note[0]);
    if (cpu->level == FO_CPU_AMX) assert_ptr_equal(mm_get(), &mm_amx);
    fo_cpu_cap(FO_CPU_AVX512);
    assert_null(mm_get_named("amx"));
}

int main(void) {
    test_seed();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lets_kernels_through_that_give_the_same_bits),
        cmocka_unit_test(finds_one_wrong_bit_in_any_kind),
        cmocka_unit_test(survives_instructions_that_the_processor_refuses),
        cmocka_unit_test(leaves_signals_of_other_threads_to_their_handler),
        cmocka_unit_test(amx_is_reported_only_where_its_kernels_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
