/* search_beside_test.c - what a question in another language than English finds by forms, parts of compounds and words that are the
 * same; of questions in English nothing is looked for beside their words. */
#include "retrieval/pipeline/search_beside.h"

#include "retrieval/collections/service_internal.h"
#include "tests/retrieval/service/home_fixture.h"

static const char *const documents[] = {
    "Die Reparatur des Kühlschranks übernimmt der Vermieter, wenn er mit der Wohnung vermietet "
    "worden ist.",
    "Wer seinen Schlüssel verliert, meldet das sofort beim Hausmeister, und der lässt das Schloss "
    "tauschen.",
    "Das Schwimmbecken ist am ersten Samstag im Juli voll, und die Kinder bringen dazu einen "
    "Kuchen mit.",
    "In der Kita wird um zwölf Uhr gegessen, und danach schlafen die Kleinen in der Halle.",
    "Das Wasser wird am Montag für drei Stunden abgestellt, weil die Leitung erneuert wird.",
    "La piscine est ouverte de mai à septembre, et les enfants y viennent avec leurs parents.",
    "La perte de la carte est à signaler au guichet, et une nouvelle carte est faite dans la "
    "semaine.",
    "The pool is open from May to September. Whoever loses the key pays for a new lock.",
};

static char *home;
static service *s;

/* The number of the document that words alone find first; -1: none. */
static int first(const char *question) {
    fo_err err = {0};
    query_result r = {0};
    const query_request q = {.tenant = "default",
                             .collection = "default",
                             .query = question,
                             .cache = CACHE_BYPASS,
                             .search = {.mode = SEARCH_SPARSE, .alpha = -1}};
    assert_ok(service_query(s, &q, NULL, &r, &err), &err);
    const int found = r.n_contexts ? atoi(r.contexts[0].chunk.document_id + 1) : -1;
    query_result_deinit(&r);
    return found;
}

static void parts_of_a_compound_are_found(void **state) {
    (void)state;
    assert_int_equal(first("Wer zahlt eine Kühlschrankreparatur?"), 0);
}

static void a_compound_is_found_by_its_part(void **state) {
    (void)state;
    assert_int_equal(first("Wann wird das Becken gebaut?"), 2);
}

static void other_forms_and_other_words_are_found(void **state) {
    (void)state;
    assert_int_equal(first("Ich habe ihn verloren, was mache ich?"), 1);
    assert_int_equal(first("Was gibt es im Kindergarten?"), 3);
    assert_int_equal(first("Que faire si je perds mon badge ?"), 6);
}

static void of_english_nothing_is_looked_for_beside_its_words(void **state) {
    (void)state;
    fo_err err = {0};
    collection *c;
    analyzer *a;
    assert_ok(collection_acquire(s, "default", "default", &c, &err), &err);
    assert_ok(analyzer_create(&a, "english", &err), &err);
    search_snapshot *snapshot = search_index_acquire(c->index);
    search_beside b = {0};
    assert_ok(search_beside_read(&b, snapshot, a, "Who lost the key to the pool?", &err), &err);
    assert_int_equal(b.n, 0);
    assert_ok(search_beside_read(&b, snapshot, a, "Wer hat den Schlüssel verloren?", &err), &err);
    assert_true(b.n > 0);
    search_beside_deinit(&b);
    search_index_release(snapshot);
    analyzer_free(a);
    collection_release(s, c);
}

static int set_up(void **state) {
    (void)state;
    home = test_folder();
    s = open_home(home);
    for (size_t i = 0; i < sizeof documents / sizeof *documents; i++) {
        char id[8];
        snprintf(id, sizeof id, "d%zu", i);
        put(s, "default", id, documents[i], strlen(documents[i]), 200);
    }
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    service_close(s);
    test_remove(home);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_of_a_compound_are_found),
        cmocka_unit_test(a_compound_is_found_by_its_part),
        cmocka_unit_test(other_forms_and_other_words_are_found),
        cmocka_unit_test(of_english_nothing_is_looked_for_beside_its_words),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
