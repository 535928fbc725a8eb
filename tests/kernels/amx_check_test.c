/* amx_check_test.c - the check that stands before the AMX kernels lets good ones through, and finds
 * wrong sums and refused instructions without harm to the process. */
#include "tests/test.h"

#include <cpuid.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#include "kernels/amx_check.h"
#include "kernels/cpu.h"

static const amx_tables generic = {&mm_generic, &attention_generic};

static const char *check(const mm_kernels *mm) {
    return amx_check(&(amx_tables){mm, &attention_generic}, &generic);
}

static void lets_kernels_through_that_give_the_same_bits(void **state) {
    (void)state;
    const char *const names[] = {"generic", "avx2", "avxvnni", "avx512", "amx"};
    for (int i = 0; i < 5; i++) {
        const mm_kernels *t = mm_get_named(names[i]);
        if (t && !t->int16_sums) assert_null(check(t)); /* int16_sums: wants rows rounded for it */
    }
    for (int level = 0; level <= FO_CPU_AMX; level++) {
        const attention_kernels *a = attention_get_level(level);
        if (a) assert_null(amx_check(&(amx_tables){&mm_generic, a}, &generic));
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

static void nearly_end(attention_tile *t) {
    attention_generic.end(t);
    t->o[(t->n_rows - 1) * t->v_stride] += 1e-3f;
}

static void trap(const mm_weights *w, const mm_input *in, int row0, int row1, int panel0,
                 int panel1, float *out, size_t out_stride) {
    (void)w, (void)in, (void)row0, (void)row1, (void)panel0, (void)panel1, (void)out;
    (void)out_stride;
    raise(SIGILL);
}

#ifndef __SANITIZE_ADDRESS__
static void no_memory(const mm_weights *w, const mm_input *in, int row0, int row1, int panel0,
                      int panel1, float *out, size_t out_stride) {
    (void)w, (void)in, (void)row0, (void)row1, (void)panel0, (void)panel1, (void)out;
    (void)out_stride;
    raise(SIGSEGV);
}
#endif

static void finds_one_wrong_bit_in_any_kind(void **state) {
    (void)state;
    for (mm_kind kind = MM_W8; kind < MM_KIND_END; kind++) {
        mm_kernels t = mm_generic;
        t.run[kind] = nearly;
        const char *why = check(&t);
        assert_non_null(why);
        assert_non_null(strstr(why, "differ"));
    }
}

static void finds_wrong_attention(void **state) {
    (void)state;
    attention_kernels a = attention_generic;
    a.end = nearly_end;
    const char *why = amx_check(&(amx_tables){&mm_generic, &a}, &generic);
    assert_non_null(why);
    assert_non_null(strstr(why, "attention"));
}

static void survives_instructions_that_the_processor_refuses(void **state) {
    (void)state;
    struct sigaction before, after;
    sigaction(SIGILL, NULL, &before);
    for (int i = 0; i < 3; i++) {
        mm_kernels t = mm_generic;
        t.run[MM_W8 + i] = trap;
        const char *why = check(&t);
        assert_non_null(why);
        assert_non_null(strstr(why, "refuses"));
#ifndef __SANITIZE_ADDRESS__ /* tests/run.sh has it take every SIGSEGV for itself */
        t.run[MM_W8 + i] = no_memory;
        assert_non_null(strstr(check(&t), "no memory"));
#endif
    }
    sigaction(SIGILL, NULL, &after);
    assert_true(before.sa_handler == after.sa_handler);
    assert_null(check(&mm_generic)); /* and works again */
}

/* The real ones, where there is no AMX: the very case. */
static void finds_that_the_processor_has_no_amx(void **state) {
    (void)state;
    unsigned eax, ebx, ecx, edx;
    if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) && edx & (1u << 24)) skip();
    const char *why = amx_check(&(amx_tables){&mm_amx, &attention_amx}, &generic);
    assert_non_null(why);
    assert_non_null(strstr(why, "refuses"));
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
    const char *why = check(&t);
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
        cmocka_unit_test(finds_wrong_attention),
        cmocka_unit_test(survives_instructions_that_the_processor_refuses),
        cmocka_unit_test(finds_that_the_processor_has_no_amx),
        cmocka_unit_test(leaves_signals_of_other_threads_to_their_handler),
        cmocka_unit_test(amx_is_reported_only_where_its_kernels_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
