/* Fitting a static table to an encoder's vectors (engine/fit/): exactness where there is one,
 * texts too few, threads, the files of vectors, and what is refused. */
#include "tests/test.h"

#include <math.h>
#include "engine/embed/embedder.h"
#include "engine/fit/fit.h"
#include "engine/fit/fit_teacher.h"
#include "engine/fit/fit_vectors.h"
#include "kernels/buf.h"
#include "kernels/file.h"
#include "kernels/pool.h"

/* A made-up world: every word has a hidden vector, a "teacher" gives a text the mean of its words'
 * vectors plus a constant. A fit must find vectors that rank texts as the teacher does. */
enum { WORDS = 60, DIM = 16, TEXTS = 3000, LENGTH = 12 };

typedef struct world {
    tokenizer_string pieces[WORDS + 3];
    char names[WORDS + 3][8];
    float hidden[WORDS][DIM], constant[DIM];
    uint64_t seed;
} world;

static void make_world(world *w, uint64_t seed) {
    w->seed = seed;
    const char *special[] = {"[UNK]", "[CLS]", "[SEP]"};
    for (int i = 0; i < WORDS + 3; i++) {
        if (i < 3)
            snprintf(w->names[i], sizeof w->names[i], "%s", special[i]);
        else
            snprintf(w->names[i], sizeof w->names[i], "%c%c", 'a' + (i - 3) / 8, 'a' + (i - 3) % 8);
        w->pieces[i] = (tokenizer_string){w->names[i], strlen(w->names[i])};
    }
    for (int i = 0; i < WORDS; i++)
        for (int k = 0; k < DIM; k++) w->hidden[i][k] = (float)(test_uniform(&w->seed) - .5);
    for (int k = 0; k < DIM; k++) w->constant[k] = 1;
}

/* A random text of `length` words and the teacher's vector of it. */
static void make_text(world *w, int length, char *text, float *vector) {
    memcpy(vector, w->constant, sizeof w->constant);
    *text = 0;
    for (int i = 0; i < length; i++) {
        double u = test_uniform(&w->seed);
        int word = (int)(u * u * WORDS); /* some words are common */
        strcat(strcat(text, w->names[word + 3]), " ");
        for (int k = 0; k < DIM; k++) vector[k] += 3 * w->hidden[word][k] / (float)length;
    }
}

static fit *fit_of(world *w, int n_texts, bool start, fo_pool *pool, fit_report *report) {
    fo_err err = {0};
    fit *f;
    assert_ok(fit_create(&f, w->pieces, WORDS + 3, DIM, &err), &err);
    char text[LENGTH * 4 + 1];
    float v[DIM];
    for (int i = 0; i < n_texts; i++) {
        make_text(w, LENGTH, text, v);
        assert_ok(fit_add_text(f, text, strlen(text), v, &err), &err);
    }
    if (start) {
        static float all[WORDS + 3][DIM];
        memset(all, 0, sizeof all);
        memcpy(all[3], w->hidden, sizeof w->hidden);
        assert_ok(fit_set_pieces(f, all[0], &err), &err);
    }
    fit_options o = {.dim = DIM, .lambda = 1e-3, .steps = 40, .whiten = 1e-9, .pool = pool};
    assert_ok(fit_solve(f, &o, report, &err), &err);
    return f;
}

static void a_fit_finds_the_vectors_behind_the_texts(void **state) {
    (void)state;
    world w;
    make_world(&w, test_seed());
    fit_report r;
    fit *f = fit_of(&w, TEXTS, false, NULL, &r);
    assert_int_equal(r.n_texts, TEXTS);
    assert_int_equal(r.n_held_out, TEXTS / 50);
    assert_int_equal(r.n_tokens, TEXTS * LENGTH);
    assert_true(r.start_cosine == 0); /* without piece vectors it starts from nothing */
    if (!(r.cosine > .97)) fail_msg("cosine %.4f", r.cosine);
    assert_true(r.kept_variance > .999);
    fit_free(f);
}

static void few_texts_leave_unseen_pieces_at_their_start(void **state) {
    (void)state;
    world w;
    make_world(&w, test_seed());
    fit_report with, without;
    fit_free(fit_of(&w, 30, true, NULL, &with));
    make_world(&w, 7);
    fit_free(fit_of(&w, 30, false, NULL, &without));
    assert_true(with.start_cosine > .5);
    assert_true(with.cosine > with.start_cosine);
}

static void the_table_does_not_depend_on_threads(void **state) {
    (void)state;
    char *dir = test_folder(), path[2][4096], *bytes[2];
    size_t size[2];
    fo_err err = {0};
    for (int i = 0; i < 2; i++) {
        world w;
        make_world(&w, 3);
        fo_pool *pool = i ? fo_pool_create(3) : NULL;
        fit_report r;
        fit *f = fit_of(&w, 800, true, pool, &r);
        snprintf(path[i], sizeof path[i], "%s/%d.gguf", dir, i);
        assert_ok(fit_write(f, path[i], &(fit_about){.name = "made up"}, &err), &err);
        assert_ok(fo_file_read(path[i], 1 << 20, &bytes[i], &size[i], &err), &err);
        fit_free(f);
        fo_pool_free(pool);
    }
    assert_int_equal(size[0], size[1]);
    assert_memory_equal(bytes[0], bytes[1], size[0]);
    free(bytes[0]);
    free(bytes[1]);
    test_remove(dir);
}

static double cosine(const float *a, const float *b, size_t n) {
    double aa = 0, bb = 0, ab = 0;
    for (size_t i = 0; i < n; i++) {
        aa += (double)a[i] * (double)a[i];
        bb += (double)b[i] * (double)b[i];
        ab += (double)a[i] * (double)b[i];
    }
    return ab / sqrt(aa * bb);
}

/* The written file, opened as an embedder, orders unseen texts as the teacher does. */
static void the_written_table_ranks_as_its_teacher(void **state) {
    (void)state;
    char *dir = test_folder(), path[4096];
    snprintf(path, sizeof path, "%s/t.gguf", dir);
    world w;
    make_world(&w, test_seed());
    fit_report r;
    fit *f = fit_of(&w, TEXTS, false, NULL, &r);
    fo_err err = {0};
    assert_ok(fit_write(f, path, &(fit_about){.name = "made up", .alpha = .4f}, &err), &err);
    fit_free(f);
    embedder *e;
    assert_ok(embedder_open(&e, path, &err), &err);
    assert_string_equal(embedder_name(e), "made up");
    assert_true(embedder_alpha(e) == .4f);
    enum { N = 60 };
    static float theirs[N][DIM], ours[N][DIM];
    float mean[DIM] = {0};
    int agree = 0, all = 0;
    for (int i = 0; i < N; i++) {
        char text[LENGTH * 4 + 1];
        make_text(&w, LENGTH, text, theirs[i]);
        for (int k = 0; k < DIM; k++) mean[k] += theirs[i][k] / N;
        const char *t = text;
        size_t len = strlen(text);
        assert_ok(embedder_embed(e, EMBED_PASSAGE, &t, &len, 1, ours[i], &err), &err);
    }
    for (int i = 0; i < N; i++)
        for (int k = 0; k < DIM; k++) theirs[i][k] -= mean[k];
    for (int i = 0; i + 2 < N; i++) {
        double a = cosine(theirs[i], theirs[i + 1], DIM) - cosine(theirs[i], theirs[i + 2], DIM);
        double b = cosine(ours[i], ours[i + 1], DIM) - cosine(ours[i], ours[i + 2], DIM);
        if (fabs(a) < .1) continue;
        all++;
        agree += (a > 0) == (b > 0);
    }
    assert_true(all > 20 && agree >= all - all / 10);
    embedder_close(e);
    test_remove(dir);
}

static void refuses_what_it_cannot_fit(void **state) {
    (void)state;
    world w;
    make_world(&w, 1);
    fo_err err = {0};
    fit *f;
    fit_report r;
    assert_int_equal(fit_create(&f, w.pieces, 0, DIM, &err), FO_EINVAL);
    assert_int_equal(fit_create(&f, w.pieces + 1, WORDS, DIM, &err), FO_ECORRUPT); /* no [UNK] */
    assert_ok(fit_create(&f, w.pieces, WORDS + 3, DIM, &err), &err);
    assert_int_equal(fit_solve(f, &(fit_options){.dim = DIM}, &r, &err), FO_EINVAL);
    float v[DIM] = {0};
    assert_int_equal(fit_add_text(f, "aa", 2, v, &err), FO_EINVAL);
    v[0] = NAN;
    assert_int_equal(fit_add_text(f, "aa", 2, v, &err), FO_EINVAL);
    v[0] = 1;
    assert_ok(fit_add_text(f, "?", 1, v, &err), &err); /* nothing known in it: left out */
    assert_ok(fit_add_text(f, "aa ab", 5, v, &err), &err);
    assert_int_equal(fit_solve(f, &(fit_options){.dim = DIM + 1}, &r, &err), FO_EINVAL);
    assert_int_equal(fit_write(f, "/tmp/never.gguf", &(fit_about){0}, &err), FO_EINVAL);
    assert_ok(fit_solve(f, &(fit_options){.dim = DIM}, &r, &err), &err);
    assert_int_equal(r.n_texts, 1);
    fit_free(f);
}

static void put(const char *path, const void *data, size_t n) {
    fo_err err = {0};
    fo_file_writer *w;
    assert_ok(fo_file_create(&w, path, &err), &err);
    assert_ok(fo_file_write(w, data, n, &err), &err);
    assert_ok(fo_file_commit(w, &err), &err);
}

static void vector_files_are_read_in_both_forms(void **state) {
    (void)state;
    char *dir = test_folder(), path[4096];
    fo_err err = {0};
    fit_vectors *v;
    float row[2];
    snprintf(path, sizeof path, "%s/v.f32", dir);
    put(path, (float[]){1, 2, 3, 4}, 16);
    assert_ok(fit_vectors_open(&v, path, 2, &err), &err);
    assert_int_equal(fit_vectors_count(v), 2);
    fit_vectors_row(v, 1, row);
    assert_true(row[0] == 3 && row[1] == 4);
    fit_vectors_close(v);
    assert_int_equal(fit_vectors_open(&v, path, 3, &err), FO_EINVAL);
    snprintf(path, sizeof path, "%s/v.scale.f32", dir);
    put(path, (float[]){.5f, 2}, 8);
    snprintf(path, sizeof path, "%s/v.i8", dir);
    put(path, (int8_t[]){1, -2, 3, -4}, 4);
    assert_ok(fit_vectors_open(&v, path, 2, &err), &err);
    fit_vectors_row(v, 1, row);
    assert_true(row[0] == 6 && row[1] == -8);
    fit_vectors_close(v);
    assert_int_equal(fit_vectors_open(&v, path, 4, &err), FO_EINVAL); /* one row, two scales */
    snprintf(path, sizeof path, "%s/v.npy", dir);
    assert_int_equal(fit_vectors_open(&v, path, 2, &err), FO_EINVAL);
    test_remove(dir);
}

/* Cut off behind its reader's back, as by a copy over it. */
static void a_vector_file_that_is_cut_off_is_an_error_and_no_end(void **state) {
    (void)state;
    enum { ROWS = 4096 }; /* several pages: the first stays */
    char *dir = test_folder(), path[4096], scales[4096];
    fo_err err = {0};
    fit_vectors *v;
    float row[2];
    float *numbers = calloc((size_t)ROWS * 2, sizeof *numbers);
    assert_non_null(numbers);
    numbers[2 * ROWS - 1] = 1;
    snprintf(path, sizeof path, "%s/v.f32", dir);
    put(path, numbers, (size_t)ROWS * 2 * sizeof *numbers);
    assert_ok(fit_vectors_open(&v, path, 2, &err), &err);
    assert_int_equal(truncate(path, 4096), 0);
    fit_vectors_row(v, 0, row);
    assert_ok(fit_vectors_intact(v, &err), &err);
    fit_vectors_row(v, ROWS - 1, row);
    assert_true(row[1] == 0);
    assert_int_equal(fit_vectors_intact(v, &err), FO_EIO);
    assert_non_null(strstr(err.msg, "v.f32: byte "));
    fit_vectors_close(v);
    snprintf(scales, sizeof scales, "%s/v.scale.f32", dir);
    put(scales, numbers, ROWS * sizeof *numbers);
    snprintf(path, sizeof path, "%s/v.i8", dir);
    put(path, numbers, (size_t)ROWS * 2);
    assert_ok(fit_vectors_open(&v, path, 2, &err), &err);
    assert_int_equal(truncate(scales, 0), 0);
    fit_vectors_row(v, 0, row);
    assert_int_equal(fit_vectors_intact(v, &err), FO_EIO);
    assert_non_null(strstr(err.msg, "v.scale.f32: byte 0 "));
    fit_vectors_close(v);
    free(numbers);
    test_remove(dir);
}

/* A teacher's vector of a piece is what its embedder says of that word alone. */
static void a_teacher_gives_its_vocabulary_and_its_vectors_of_pieces(void **state) {
    (void)state;
    const char *path = test_shared("models/all-minilm-l6-v2-f16.gguf");
    if (!path) skip();
    fo_err err = {0};
    fit_teacher t;
    fo_pool *pool = fo_pool_create(2);
    assert_ok(fit_teacher_read(&t, path, pool, NULL, NULL, &err), &err);
    assert_int_equal(t.words.n, 30522);
    assert_int_equal(t.dim, 384);
    embedder *e;
    assert_ok(embedder_open_with(&e, path, &(embedder_options){.pool = pool}, &err), &err);
    size_t checked = 0;
    for (size_t i = 2000; i < t.words.n; i += 3001) {
        tokenizer_string p = t.words.pieces[i];
        if (p.len < 4 || memcmp(p.data, "\xE2\x96\x81", 3)) continue;
        const char *word = p.data + 3;
        size_t len = p.len - 3;
        if (embedder_count_tokens(e, word, len) != 1) continue;
        float v[384];
        assert_ok(embedder_embed(e, EMBED_PASSAGE, &word, &len, 1, v, &err), &err);
        assert_true(cosine(v, t.pieces + i * t.dim, t.dim) > .9999);
        checked++;
    }
    assert_true(checked >= 5);
    embedder_close(e);
    fit_teacher_deinit(&t);
    assert_int_not_equal(
        fit_teacher_read(&t, "data/models/forage-embed-256.gguf", pool, NULL, NULL, &err), FO_OK);
    fo_pool_free(pool);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fit_finds_the_vectors_behind_the_texts),
        cmocka_unit_test(few_texts_leave_unseen_pieces_at_their_start),
        cmocka_unit_test(the_table_does_not_depend_on_threads),
        cmocka_unit_test(the_written_table_ranks_as_its_teacher),
        cmocka_unit_test(refuses_what_it_cannot_fit),
        cmocka_unit_test(a_teacher_gives_its_vocabulary_and_its_vectors_of_pieces),
        cmocka_unit_test(vector_files_are_read_in_both_forms),
        cmocka_unit_test(a_vector_file_that_is_cut_off_is_an_error_and_no_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
