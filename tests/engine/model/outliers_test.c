/* outliers_test.c - trained models have channels a hundred times the rest; a model made with such
 * (forage bench make-model --outliers) keeps its logits on the fast path, with each processor level
 * that the machine has. A level is chosen once a process (FORAGE_CPU): each runs in a child. */
#include "tests/test.h"

#include <math.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "engine/model/model.h"
#include "engine/tools/random_model.h"
#include "kernels/matmul.h"

enum { TOKENS = 64, VOCAB = 2048, N_LEVELS = 5, LACKS_IT = 77 };
static const char *const levels[N_LEVELS] = {"generic", "avx2", "avxvnni", "avx512", "amx"};

/* Logits of all tokens, and the model's fingerprint unless NULL; 0, LACKS_IT or 1. */
static int run_model(const char *path, bool fast, float *logits, unsigned char *fingerprint) {
    fo_err err = {0};
    model *m = NULL;
    kv_pages *kv = NULL;
    model_context *c = NULL;
    kv_layout l;
    int32_t tokens[TOKENS], table[TOKENS / 16];
    for (int i = 0; i < TOKENS; i++) tokens[i] = (7 * i * i + 37 * i + 11) % VOCAB;
    for (int i = 0; i < TOKENS / 16; i++) table[i] = i;
    int rc = model_open(&m, path, &(model_options){.fast = fast}, &err);
    if (!rc) rc = model_kv_layout(m, 16, fast ? KV_BF16 : KV_F32, &l, &err);
    if (!rc) rc = kv_pages_create(&kv, &l, TOKENS / 16, &err);
    if (!rc) rc = model_context_create(&c, m, &(model_limits){TOKENS, TOKENS}, &err);
    model_sequence s = {.tokens = tokens,
                        .n_tokens = TOKENS,
                        .pages = table,
                        .n_pages = TOKENS / 16,
                        .n_logits = TOKENS};
    if (!rc) rc = model_forward(c, kv, &s, 1, logits, &err);
    if (rc) fprintf(stderr, "# %s\n", err.msg);
    if (!rc && fingerprint) memcpy(fingerprint, model_get_info(m)->fingerprint, 32);
    model_context_free(c);
    kv_pages_free(kv);
    model_close(m);
    return rc != 0;
}

/* In a child, so that this process never asks for a level of its own. */
static int run_at(const char *level, const char *path, bool fast, float *logits,
                  unsigned char *fingerprint) {
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        setenv("FORAGE_CPU", level, 1);
        _exit(mm_get_named(level) ? run_model(path, fast, logits, fingerprint) : LACKS_IT);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static double cosine(const float *a, const float *b, size_t n) {
    double ab = 0, aa = 0, bb = 0;
    for (size_t i = 0; i < n; i++) {
        ab += (double)a[i] * (double)b[i];
        aa += (double)a[i] * (double)a[i];
        bb += (double)b[i] * (double)b[i];
    }
    return ab / sqrt(aa * bb);
}

static void write_model(const char *path, const char *type) {
    fo_err err = {0};
    random_model_options o = {.shape = "tiny", .outliers = true, .seed = 1};
    assert_true(quantize_target_from_name(type, &o.type));
    /* Writing it may ask for a level: not in this process. */
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) _exit(random_model_write(path, &o, &err) != 0);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* A model in this format keeps at least this cosine at every level. */
static void keeps_its_logits(const char *type, double least) {
    char *folder = test_folder(), path[4096];
    snprintf(path, sizeof path, "%s/outliers.gguf", folder);
    write_model(path, type);
    const size_t n = TOKENS * VOCAB, bytes = n * sizeof(float);
    float *exact = mmap(NULL, 2 * bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(exact != MAP_FAILED);
    float *fast = exact + n;
    assert_int_equal(run_at("generic", path, false, exact, NULL), 0);
    for (int i = 0; i < N_LEVELS; i++) {
        memset(fast, 0, bytes);
        int rc = run_at(levels[i], path, true, fast, NULL);
        if (rc == LACKS_IT) continue;
        assert_int_equal(rc, 0);
        double all = cosine(exact, fast, n), worst = 1;
        for (int t = 0; t < TOKENS; t++) {
            double c = cosine(exact + t * VOCAB, fast + t * VOCAB, VOCAB);
            if (!(c >= worst)) worst = c;
        }
        fprintf(stderr, "# %s, %s: cosine of all logits %.6f, of the worst row %.6f\n", type,
                levels[i], all, worst);
        assert_true(all >= least);
    }
    munmap(exact, 2 * bytes);
    test_remove(folder);
}

static void logits_keep_their_direction_beside_outliers(void **state) {
    (void)state;
    keeps_its_logits("q8_0", .999);
    keeps_its_logits("q4_k_m", .999);
}

/* Their weights are rounded: what reads a channel that a norm blows up has small ones. */
static void so_do_those_of_floats(void **state) {
    (void)state;
    keeps_its_logits("f16", .999);
}

/* KV is found by the fingerprint, on disk by a machine of another level too: what it finds must be what
 * it would have computed. */
static void levels_share_a_fingerprint_where_they_share_every_bit(void **state) {
    (void)state;
    char *folder = test_folder(), path[4096];
    snprintf(path, sizeof path, "%s/model.gguf", folder);
    write_model(path, "q8_0");
    typedef struct run {
        unsigned char fingerprint[32];
        float logits[TOKENS * VOCAB];
    } run;
    run *of = mmap(NULL, N_LEVELS * sizeof *of, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                   -1, 0);
    assert_true(of != MAP_FAILED);
    for (int fast = 0; fast < 2; fast++) {
        int n = 0, which[N_LEVELS];
        for (int i = 0; i < N_LEVELS; i++) {
            int rc = run_at(levels[i], path, fast, of[n].logits, of[n].fingerprint);
            if (rc == LACKS_IT) continue;
            assert_int_equal(rc, 0);
            which[n++] = i;
        }
        for (int a = 0; a < n; a++)
            for (int b = 0; b < a; b++) {
                bool one = !memcmp(of[a].fingerprint, of[b].fingerprint, 32);
                bool same = !memcmp(of[a].logits, of[b].logits, sizeof of[a].logits);
                if ((one && !same) || (same && !one && !fast))
                    fail_msg("%s and %s, %s: %s fingerprint, %s logits", levels[which[a]],
                             levels[which[b]], fast ? "fast" : "exact", one ? "one" : "two",
                             same ? "the same" : "different");
            }
    }
    munmap(of, N_LEVELS * sizeof *of);
    test_remove(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(logits_keep_their_direction_beside_outliers),
        cmocka_unit_test(so_do_those_of_floats),
        cmocka_unit_test(levels_share_a_fingerprint_where_they_share_every_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
