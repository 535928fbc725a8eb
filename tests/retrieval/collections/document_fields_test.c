/* What a document says of itself as its metadata: behind what the caller says, and never a reason to fail. */
#include "retrieval/collections/document_fields.h"

#include "retrieval/collections/catalog.h"
#include "tests/retrieval/service/home_fixture.h"

static void the_callers_words_stand(void **state) {
    (void)state;
    static const struct {
        const char *stored, *fields, *joined;
    } cases[] = {
        {NULL, NULL, NULL},
        {NULL, "{\"year\":2024}", "{\"year\":2024}"},
        {"{}", "{\"year\":2024}", "{\"year\":2024}"},
        {"{\"n\":1.50, \"year\": 1999 } ", "{\"year\":2024,\"tags\":[\"a\",\"}\"],\"final\":true}",
         "{\"n\":1.50, \"year\": 1999,\"tags\":[\"a\",\"}\"],\"final\":true}"},
        {"{\"$acl\":[\"staff\"]}", "{\"k \\\"q\\\"\":\"x\"}",
         "{\"$acl\":[\"staff\"],\"k \\\"q\\\"\":\"x\"}"},
        {"{\"year\":1999 }", "{\"year\":2024}", "{\"year\":1999 }"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fo_err err = {0};
        char *stored = cases[i].stored ? strdup(cases[i].stored) : NULL;
        assert_ok(document_fields_join(&stored, cases[i].fields, &err), &err);
        if (cases[i].joined)
            assert_string_equal(stored, cases[i].joined);
        else
            assert_null(stored);
        free(stored);
    }
}

/* With as many values as an index takes already, it is as the caller has it. */
static void what_no_index_takes_is_left_out(void **state) {
    (void)state;
    fo_buf b = {0};
    fo_err err = {0};
    fo_buf_str(&b, "{\"n\":[0");
    for (int i = 1; i < 1024; i++) fo_buf_printf(&b, ",%d", i);
    fo_buf_str(&b, "]}");
    char *stored = strdup(b.data);
    assert_ok(document_fields_join(&stored, "{\"year\":2024}", &err), &err);
    assert_string_equal(stored, b.data);
    free(stored);
    fo_buf_free(&b);
}

static void front_matter_is_metadata(void **state) {
    (void)state;
    char *home = test_folder();
    service *s = open_home(home);
    static const char note[] =
        "---\nyear: 2024\nteam: pumps\nsource: hand\n---\n# Pump\n\nIt pumps.\n";
    ingest_options into = {.tenant = "default", .collection = "notes", .overlap = SIZE_MAX};
    ingest_document d = {.id = "a",
                         .file_name = "a.md",
                         .metadata = "{\"team\":\"wells\"}",
                         .acl = "[\"staff\"]",
                         .bytes = note,
                         .n_bytes = sizeof note - 1};
    assert_int_equal(ingest_one(s, &into, &d), INGEST_CREATED);
    assert_int_equal(ingest_one(s, &into, &d), INGEST_UNCHANGED);
    store_document there;
    fo_err err = {0};
    assert_ok(catalog_get_document(service_catalog(s), "default", "notes", "a", NULL, false, &there,
                                   &err),
              &err);
    assert_string_equal(there.metadata, "{\"$acl\":[\"staff\"],\"team\":\"wells\",\"year\":2024}");
    store_document_deinit(&there);
    service_close(s);
    test_remove(home);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_callers_words_stand),
        cmocka_unit_test(what_no_index_takes_is_left_out),
        cmocka_unit_test(front_matter_is_metadata),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
