/* multilingual-e5-small out of its packed file (make models), against an oracle in numpy over the same
 * 4-bit matrices: e5_golden.py. Ten texts in eight scripts. */
#include "tests/test.h"

#include <math.h>
#include <unistd.h>
#include "engine/embed/embedder.h"
#include "engine/embed/reader_cross.h"
#include "engine/tokenizer/tokenizer.h"
#include "tests/engine/embed/e5_golden.h"

#define MODEL "models/multilingual-e5-small-q4_0.gguf"
enum { DIM = 384, N_GOLDEN = sizeof golden / sizeof *golden };

static embedder *open_model(bool exact) {
    embedder *e;
    fo_err err = {0};
    if (access(MODEL, R_OK)) skip();
    assert_ok(embedder_open_with(&e, MODEL, &(embedder_options){.exact = exact}, &err), &err);
    assert_int_equal(embedder_dim(e), DIM);
    return e;
}

static double cosine(const float *v, const int8_t *w) {
    double dot = 0, vv = 0, ww = 0;
    for (size_t i = 0; i < DIM; i++) {
        dot += (double)v[i] * w[i];
        vv += (double)v[i] * (double)v[i];
        ww += (double)w[i] * w[i];
    }
    return dot / sqrt(vv * ww);
}

static double least_cosine(embedder *e) {
    double least = 1;
    for (size_t i = 0; i < N_GOLDEN; i++) {
        fo_err err = {0};
        float v[DIM];
        const char *text = golden[i].text;
        size_t len = strlen(text);
        assert_ok(embedder_embed(e, golden[i].query ? EMBED_QUERY : EMBED_PASSAGE, &text, &len, 1,
                                 v, &err),
                  &err);
        double c = cosine(v, golden[i].vector);
        if (c < least) least = c;
    }
    return least;
}

static void texts_of_eight_scripts_are_cut_as_the_oracle_cuts_them(void **state) {
    (void)state;
    embedder *e = open_model(false);
    for (size_t i = 0; i < N_GOLDEN; i++) {
        char text[512];
        int32_t ids[64];
        int n = snprintf(text, sizeof text, "%s: %s", golden[i].query ? "query" : "passage",
                         golden[i].text);
        int64_t got = tokenizer_encode(embedder_tokenizer(e), text, (size_t)n, 0, ids, 64);
        assert_int_equal(got, golden[i].n_ids - 2);
        assert_memory_equal(ids, golden[i].ids + 1, (size_t)got * sizeof *ids);
    }
    embedder_close(e);
}

static void exact_vectors_are_those_of_the_oracle(void **state) {
    (void)state;
    embedder *e = open_model(true);
    double least = least_cosine(e);
    print_message("least cosine, F32: %.5f\n", least);
    assert_true(least > 0.9998); /* the oracle's are rounded to bytes */
    embedder_close(e);
}

static void served_vectors_are_near_those_of_the_oracle(void **state) {
    (void)state;
    embedder *e = open_model(false);
    double least = least_cosine(e);
    print_message("least cosine, as served: %.5f\n", least);
    assert_true(least > 0.99);
    embedder_close(e);
}

/* Its vectors lie in a narrow cone; less their mean, a question is nearest to what answers it, in another language too. */
static void a_reader_of_it_tells_texts_apart(void **state) {
    (void)state;
    static const char *const texts[] = {"Wann kommt der Lohn auf das Konto?",
                                        "Das Gehalt wird am 28. des Monats \xC3\xBC"
                                        "berwiesen.",
                                        "The salary is paid on the 28th of the month.",
                                        "Die Tonne wird am Freitag geleert.",
                                        "The dishwasher is emptied in the evening."};
    enum { N = sizeof texts / sizeof *texts };
    fo_err err = {0};
    embedder *e = open_model(false);
    reader *r = NULL;
    reader_text *t[N];
    size_t lens[N];
    reader_part parts[N];
    reader_unit units[N];
    for (size_t i = 0; i < N; i++) lens[i] = strlen(texts[i]);
    assert_ok(reader_open(&r, "e5", &(reader_options){.weights = embedder_model(e)}, &err), &err);
    assert_ok(reader_encode(r, texts, lens, N, NULL, t, &err), &err);
    for (size_t i = 0; i < N; i++) {
        parts[i] = reader_part_of(t[i], 0, lens[i], 1);
        units[i] = (reader_unit){&parts[i], 1};
    }
    float best[N][READER_MAX_TOKENS], score[N];
    const size_t n = reader_text_tokens(t[0]);
    float flat[N * READER_MAX_TOKENS];
    assert_ok(reader_align(t[0], units, N, flat, &err), &err);
    for (size_t i = 0; i < N; i++) {
        score[i] = 0;
        for (size_t k = 0; k < n; k++)
            best[i][k] = flat[i * n + k], score[i] += best[i][k] / (float)n;
    }
    print_message("same %.2f; answers %.2f, %.2f; others %.2f, %.2f\n", (double)score[0],
                  (double)score[1], (double)score[2], (double)score[3], (double)score[4]);
    assert_true(score[1] > score[3] + .05f && score[1] > score[4] + .05f);
    assert_true(score[2] > score[4] + .05f);
    assert_true(score[4] < .5f);
    reader_texts_release(t, N);
    reader_close(r);
    embedder_close(e);
}

/* What data/models/reader/train/cross_train.py computes in F32 with the weights that it wrote; here changes and matrices are rounded
 * to 8 bits. Two of five questions are in no language that it was trained on, and one is answered by nothing. */
static void question_and_passage_are_read_together(void **state) {
    (void)state;
    static const char *const parts[] = {"Der Bibliotheksausweis kostet zehn Euro im Jahr.",
                                        "B\xC3\xBC"
                                        "cher d\xC3\xBCrfen vier Wochen behalten werden.",
                                        "\xE5\x9B\xBE\xE4\xB9\xA6\xE9\xA6\x86\xE6\xAF\x8F\xE5\x91"
                                        "\xA8\xE4\xB8\x80\xE5\x85\xB3\xE9\x97\xA8\xE3\x80\x82",
                                        "Hunde bleiben drau\xC3\x9F"
                                        "en."};
    enum { N = sizeof parts / sizeof *parts };
    static const struct {
        const char *question;
        double want[N];
    } asked[] = {
        {"Wie lange darf ich ein Buch behalten?", {-4.7499, 3.0656, -4.8763, -6.3923}},
        {"Was kostet der Ausweis?", {1.6154, -5.3437, -6.1616, -6.3659}},
        {"\xE5\x9B\xBE\xE4\xB9\xA6\xE9\xA6\x86\xE4\xBB\x80\xE4\xB9\x88\xE6\x97\xB6\xE5\x80\x99\xE5"
         "\x85\xB3\xE9\x97\xA8?",
         {-5.7441, -4.9129, 0.9795, -5.1685}},
        {"Darf ich meinen Hund mitbringen?", {-5.0174, -5.4116, -4.5437, 0.5676}},
        {"Wann wurde die Bibliothek gebaut?", {-7.0415, -7.4737, -6.7486, -7.4451}},
    };
    char text[400] = "";
    reader_span units[N];
    for (size_t i = 0; i < N; i++) {
        units[i].begin = (uint32_t)strlen(text);
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", parts[i],
                 i + 1 < N ? " " : "");
        units[i].end = units[i].begin + (uint32_t)strlen(parts[i]);
    }
    const reader_passage p = {"Hausordnung der B\xC3\xBC"
                              "cherei",
                              text, strlen(text), units, N};
    fo_err err = {0};
    for (int exact = 0; exact < 2; exact++) {
        embedder *e = open_model(exact);
        reader *r = NULL;
        assert_ok(reader_open(&r, "e5",
                              &(reader_options){.weights = embedder_model(e), .exact = exact},
                              &err),
                  &err);
        assert_true(reader_has_cross(r));
        for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
            float odds[N];
            assert_ok(reader_cross(r, asked[i].question, &p, 1, NULL, odds, &err), &err);
            for (size_t k = 0; k < N; k++)
                if (fabs((double)odds[k] - asked[i].want[k]) > 0.6)
                    fail_msg("%s: sentence %zu: %f, not %f", asked[i].question, k, (double)odds[k],
                             asked[i].want[k]);
        }
        reader_close(r);
        embedder_close(e);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_of_eight_scripts_are_cut_as_the_oracle_cuts_them),
        cmocka_unit_test(exact_vectors_are_those_of_the_oracle),
        cmocka_unit_test(served_vectors_are_near_those_of_the_oracle),
        cmocka_unit_test(a_reader_of_it_tells_texts_apart),
        cmocka_unit_test(question_and_passage_are_read_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
