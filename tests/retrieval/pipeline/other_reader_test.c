/* other_reader_test.c - which reader reads: the one inside the binary what is in English, and the embedder, where it knows more
 * languages, the rest. The embedder is a small one with random weights: what it says of texts is not looked at. */
#include "retrieval/service/budgets.h"
#include "retrieval/collections/service_internal.h"
#include "tests/engine/tiny_model.h"
#include "tests/retrieval/service/home_fixture.h"

static const tiny_shape languages = {.arch = "bert",
                                     .type = QUANT_Q8_0,
                                     .d = 64,
                                     .layers = 2,
                                     .heads = 4,
                                     .kv_heads = 4,
                                     .head_dim = 16,
                                     .ff = 96,
                                     .vocab = TINY_VOCAB,
                                     .unigram = true};

static const char german[] =
    "Hausordnung\n\nDie Ruhezeit beginnt um 22 Uhr und endet um 6 Uhr. Hunde sind an der Leine zu "
    "f\xC3\xBChren. Das Grillen ist auf den Balkonen nicht erlaubt, wohl aber hinter dem Haus. Die "
    "Waschk\xC3\xBC"
    "che ist jeden Tag bis 20 Uhr offen.";
static const char english[] =
    "House rules\n\nQuiet hours begin at 10 pm and end at 6 am. Dogs are kept on a lead. Barbecues "
    "are "
    "not allowed on the balconies, but they are behind the house. The laundry is open until 8 pm.";

static char *home, *folder, model_path[4200];

static void ask(service *s, const char *question) {
    fo_err err = {0};
    query_result r = {0};
    query_request q = {.tenant = "default",
                       .collection = "default",
                       .query = question,
                       .generate = true,
                       .strict = true,
                       .cache = CACHE_BYPASS,
                       .search = {.alpha = 0}};
    assert_ok(service_query(s, &q, NULL, &r, &err), &err);
    assert_true(r.n_contexts > 0);
    query_result_deinit(&r);
}

static service_budget reader_budget(service *s) {
    service_budget all[SERVICE_MAX_BUDGETS];
    const size_t n = service_get_budgets(s, all);
    for (size_t i = 0; i < n; i++)
        if (!strcmp(all[i].name, "reader")) return all[i];
    fail_msg("no budget of the reader");
    return all[0];
}

static service *open_with(const char *model, const char *read_by) {
    return open_home_with((service_options){.home = home,
                                            .n_threads = 2,
                                            .primes_per_s = -1,
                                            .embed_model = model,
                                            .reader = read_by,
                                            .reader_cache_bytes = 1 << 20});
}

static void each_reads_what_it_knows(void **state) {
    (void)state;
    service *s = open_with(model_path, NULL);
    put(s, "default", "de.txt", german, strlen(german), 200);
    put(s, "default", "en.txt", english, strlen(english), 200);
    assert_int_equal(reader_budget(s).budget_bytes, 2 << 20);
    assert_null(s->other_reader);
    ask(s, "Wann beginnt die Ruhezeit, und wann endet sie?");
    assert_non_null(s->other_reader);
    assert_null(s->reader);
    assert_true(reader_budget(s).bytes > 0);
    ask(s, "When do quiet hours begin?");
    assert_non_null(s->reader);
    service_close(s);
}

/* Without a reader nobody reads, and one that was named reads everything. */
static void the_option_decides(void **state) {
    (void)state;
    service *s = open_with(model_path, "none");
    assert_int_equal(reader_budget(s).budget_bytes, 0);
    ask(s, "Wann beginnt die Ruhezeit, und wann endet sie?");
    assert_true(!s->other_reader && !s->reader);
    service_close(s);
    s = open_with(model_path, model_path);
    assert_int_equal(reader_budget(s).budget_bytes, 1 << 20);
    ask(s, "Wann beginnt die Ruhezeit, und wann endet sie?");
    assert_true(s->reader && !s->other_reader);
    service_close(s);
}

static int set_up(void **state) {
    (void)state;
    uint64_t seed = 7;
    home = test_folder();
    folder = test_folder();
    snprintf(model_path, sizeof model_path, "%s/languages.gguf", folder);
    tiny_model_write(model_path, &languages, &seed);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    test_remove(home);
    test_remove(folder);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_reads_what_it_knows),
        cmocka_unit_test(the_option_decides),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
