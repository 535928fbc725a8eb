/* Documents on their way to the service: how much of them a batch holds, and what becomes of parts and of the whole where a
 * text is sent again in another size. */
#include "tests/test.h"

#include "retrieval/collections/catalog.h"
#include "server/routes/ingest_batch.h"

enum { LARGE_BYTES = 3 * TEXT_PART_BYTES };

typedef struct fixture {
    char *dir;
    service *service;
    ingest_batch *batch;
    char failed_id[64];
    fo_err failed; /* the last one */
} fixture;

static void note_failure(void *ctx, const char *id, const fo_err *why) {
    fixture *f = ctx;
    snprintf(f->failed_id, sizeof f->failed_id, "%s", id ? id : "");
    f->failed = *why;
}

/* A batch is one call's. */
static void begin_call(fixture *f) {
    fo_err err = {0};
    ingest_batch_free(f->batch);
    f->batch = NULL;
    f->failed = (fo_err){0};
    ingest_batch_options opt = {.service = f->service,
                                .ingest = {.tenant = "default",
                                           .collection = "default",
                                           .max_tokens = 8192, /* few chunks: none is asked for */
                                           .overlap = 0},
                                .failed = note_failure,
                                .ctx = f};
    assert_ok(ingest_batch_create(&f->batch, &opt, &err), &err);
}

static int setup(void **state) {
    fixture *f = calloc(1, sizeof *f);
    fo_err err = {0};
    f->dir = test_folder();
    assert_ok(service_open(&f->service, &(service_options){.home = f->dir}, &err), &err);
    begin_call(f);
    *state = f;
    return 0;
}

static int teardown(void **state) {
    fixture *f = *state;
    ingest_batch_free(f->batch);
    service_close(f->service);
    test_remove(f->dir);
    free(f);
    return 0;
}

static size_t count(const fixture *f, enum ingest_status s) {
    return ingest_batch_totals(f->batch)->n[s];
}

static bool is_there(const fixture *f, const char *id) {
    store_document d = {0};
    fo_err err = {0};
    int rc = catalog_get_document(service_catalog(f->service), "default", "default", id, NULL,
                                  false, &d, &err);
    store_document_deinit(&d);
    if (rc != FO_ENOTFOUND) assert_ok(rc, &err);
    return !rc;
}

/* {"id": id, "text": ..., "metadata": {"note": n letters}} */
static void add_noted(fixture *f, const char *id, size_t n) {
    fo_err err = {0};
    fo_buf line = {0};
    fo_buf_printf(&line, "{\"id\":\"%s\",\"text\":\"Herons wade.\",\"metadata\":{\"note\":\"", id);
    for (size_t i = 0; i < n; i++) fo_buf_char(&line, 'x');
    fo_buf_str(&line, "\"}}");
    assert_false(line.failed);
    assert_ok(ingest_batch_add_json(f->batch, line.data, line.len, "line 1", &err), &err);
    fo_buf_free(&line);
}

static void add_whole(fixture *f, ingest_document d, const char *text) {
    fo_err err = {0};
    d.bytes = text;
    d.n_bytes = strlen(text);
    assert_ok(ingest_batch_add(f->batch, &d, &err), &err);
    assert_ok(ingest_batch_flush(f->batch, &err), &err);
}

static void add_json(fixture *f, const char *line) {
    fo_err err = {0};
    assert_ok(ingest_batch_add_json(f->batch, line, strlen(line), "line 1", &err), &err);
    assert_ok(ingest_batch_flush(f->batch, &err), &err);
}

/* By parts, four of them; word stands in each line. */
static void add_parts(fixture *f, const ingest_document *d, const char *word) {
    fo_err err = {0};
    fo_buf text = {0};
    for (size_t i = 0; text.len < LARGE_BYTES; i++)
        fo_buf_printf(&text, "%s of the log of the lock, entry %zu: the water stood high.\n", word,
                      i);
    assert_false(text.failed);
    int rc = ingest_batch_begin_parts(f->batch, d, &(text_kind){0}, &err);
    if (!rc) rc = ingest_batch_feed_parts(f->batch, text.data, text.len, &err);
    rc = ingest_batch_end_parts(f->batch, rc, &err);
    assert_ok(rc, &err);
    fo_buf_free(&text);
}

/* ---- what a batch holds ------------------------------------------------------------------------ */

static void metadata_counts_as_held(void **state) {
    fixture *f = *state;
    const size_t n = 300 << 10;
    add_noted(f, "a", n);
    assert_in_range(ingest_batch_held(f->batch), n, n + 1024);
    add_noted(f, "b", n);
    add_noted(f, "c", n);
    assert_int_equal(count(f, INGEST_CREATED), 0);
    add_noted(f, "d", n); /* more than the 1 MiB of a batch: those before go in */
    assert_int_equal(count(f, INGEST_CREATED), 3);
    assert_in_range(ingest_batch_held(f->batch), n, n + 1024);
}

static void metadata_past_its_limit_is_never_held(void **state) {
    fixture *f = *state;
    add_noted(f, "a", 1 << 20);
    assert_int_equal(count(f, INGEST_FAILED), 1);
    assert_int_equal(ingest_batch_held(f->batch), 0);
    assert_string_equal(f->failed_id, "a");
    assert_string_equal(f->failed.field, "metadata");
    assert_string_equal(f->failed.msg, "metadata is longer than 1048576 bytes");
    add_noted(f, "b", (1 << 20) - (sizeof "{\"note\":\"\"}" - 1));
    assert_int_equal(count(f, INGEST_FAILED), 1);
    assert_int_equal(count(f, INGEST_CREATED), 1);
}

/* ---- parts and the whole ----------------------------------------------------------------------- */

static void one_without_an_address_goes_where_parts_come(void **state) {
    fixture *f = *state;
    add_whole(f, (ingest_document){.id = "app.log"}, "The lock is red.");
    assert_true(is_there(f, "app.log"));
    add_parts(f, &(ingest_document){.id = "app.log"}, "Entry");
    assert_true(is_there(f, "app.log/part-000004"));
    assert_false(is_there(f, "app.log"));
    assert_int_equal(ingest_batch_totals(f->batch)->n_outdated, 1);
}

static void what_is_only_called_so_stays(void **state) {
    fixture *f = *state;
    add_whole(f, (ingest_document){.id = "app.log/part-000005"}, "Mine.");
    add_parts(f, &(ingest_document){.id = "app.log"}, "Entry");
    assert_true(is_there(f, "app.log/part-000005"));
    add_whole(f, (ingest_document){.id = "form.log"}, "Mine.");
    add_parts(f, &(ingest_document){.file_name = "form.log"}, "Entry"); /* no id was given */
    assert_true(is_there(f, "form.log"));
    add_whole(f, (ingest_document){.id = "at.log", .uri = "https://example.org/a"}, "Mine.");
    add_parts(f, &(ingest_document){.id = "at.log", .uri = "at.log"}, "Entry"); /* a file's path */
    assert_true(is_there(f, "at.log"));
    add_whole(f, (ingest_document){.id = "at.log/part-000005", .uri = "https://example.org/b"},
              "Mine.");
    add_parts(f, &(ingest_document){.id = "at.log"}, "Entry");
    assert_true(is_there(f, "at.log/part-000005"));
}

/* Whoever gave the id means the same document, whatever its address was. */
static void what_had_another_address_goes_too(void **state) {
    fixture *f = *state;
    static const char *const addresses[] = {NULL, "https://example.org/a", "https://example.org/b",
                                            NULL};
    for (size_t i = 0; i + 1 < sizeof addresses / sizeof *addresses; i++) {
        const char *before = addresses[i], *now = addresses[i + 1];
        begin_call(f);
        add_parts(f, &(ingest_document){.id = "rep", .uri = before}, "Entry");
        add_whole(f, (ingest_document){.id = "rep", .uri = now}, "The lock is red.");
        assert_true(is_there(f, "rep"));
        assert_false(is_there(f, "rep/part-000001"));
        assert_false(is_there(f, "rep/part-000004"));
        add_parts(f, &(ingest_document){.id = "rep", .uri = before}, "Entry");
        assert_false(is_there(f, "rep"));
        assert_true(is_there(f, "rep/part-000004"));
    }
}

static void parts_go_where_a_json_document_comes(void **state) {
    fixture *f = *state;
    add_parts(f, &(ingest_document){.id = "app.log"}, "Entry");
    add_json(f, "{\"id\":\"app.log\",\"text\":\"The lock is red.\"}");
    assert_true(is_there(f, "app.log"));
    assert_false(is_there(f, "app.log/part-000001"));
    assert_false(is_there(f, "app.log/part-000004"));
}

/* As a process leaves it that is killed behind the commit of the one document. */
static void parts_that_were_left_go_the_next_time(void **state) {
    fixture *f = *state;
    static const char *const texts[] = {"The lock is red.", "The lock is green."};
    const enum ingest_status want[] = {INGEST_UNCHANGED, INGEST_UPDATED};
    for (int i = 0; i < 2; i++) {
        begin_call(f);
        add_parts(f, &(ingest_document){.id = "app.log"}, "Entry");
        ingest_document d = {.id = "app.log", .bytes = texts[0], .n_bytes = strlen(texts[0])};
        ingest_options o = {
            .tenant = "default", .collection = "default", .max_tokens = 8192, .overlap = 0};
        ingest_result result = {0};
        ingest_report report;
        fo_err err = {0};
        assert_ok(service_ingest(f->service, &o, &d, 1, &result, &report, &err), &err);
        ingest_result_deinit(&result);
        assert_true(is_there(f, "app.log/part-000001"));
        add_whole(f, (ingest_document){.id = "app.log"}, texts[i]);
        assert_int_equal(count(f, want[i]), 1);
        assert_true(is_there(f, "app.log"));
        assert_false(is_there(f, "app.log/part-000001"));
        assert_false(is_there(f, "app.log/part-000004"));
    }
}

/* ---- names of parts ---------------------------------------------------------------------------- */

static void a_second_text_of_a_name_needs_an_id(void **state) {
    fixture *f = *state;
    const ingest_document d = {.file_name = "app.log", .uri = "app.log"};
    add_parts(f, &d, "First");
    add_parts(f, &d, "Second");
    assert_int_equal(count(f, INGEST_CREATED), 4);
    assert_int_equal(count(f, INGEST_UPDATED), 0);
    assert_int_equal(count(f, INGEST_FAILED), 1);
    assert_string_equal(f->failed_id, "app.log");
    assert_string_equal(f->failed.field, "id");
    assert_non_null(strstr(f->failed.msg, "'app.log' came before"));
    add_parts(f, &(ingest_document){.file_name = "other.log"}, "Third");
    add_parts(f, &(ingest_document){.id = "mine", .file_name = "app.log"}, "Second");
    assert_true(is_there(f, "other.log/part-000001"));
    assert_true(is_there(f, "mine/part-000001"));
    assert_int_equal(count(f, INGEST_FAILED), 1);
    begin_call(f); /* another call replaces them */
    add_parts(f, &d, "Fourth");
    assert_int_equal(count(f, INGEST_UPDATED), 4);
}

static void an_id_that_leaves_no_room_for_a_part_is_refused(void **state) {
    fixture *f = *state;
    char id[502];
    memset(id, 'x', sizeof id);
    id[501] = 0;
    add_parts(f, &(ingest_document){.id = id}, "Entry");
    assert_int_equal(ingest_batch_totals(f->batch)->n_all, 1);
    assert_int_equal(count(f, INGEST_FAILED), 1);
    assert_string_equal(f->failed.field, "id");
    assert_non_null(strstr(f->failed.msg, "longer than 500 bytes"));
    /* The path of a file is a name that nobody chose. */
    add_parts(f, &(ingest_document){.id = id, .uri = id}, "Entry");
    assert_int_equal(count(f, INGEST_CREATED), 4);
    id[500] = 0;
    add_parts(f, &(ingest_document){.id = id}, "Entry");
    assert_int_equal(count(f, INGEST_CREATED), 8);
    assert_int_equal(count(f, INGEST_FAILED), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(metadata_counts_as_held, setup, teardown),
        cmocka_unit_test_setup_teardown(metadata_past_its_limit_is_never_held, setup, teardown),
        cmocka_unit_test_setup_teardown(one_without_an_address_goes_where_parts_come, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(what_is_only_called_so_stays, setup, teardown),
        cmocka_unit_test_setup_teardown(what_had_another_address_goes_too, setup, teardown),
        cmocka_unit_test_setup_teardown(parts_go_where_a_json_document_comes, setup, teardown),
        cmocka_unit_test_setup_teardown(parts_that_were_left_go_the_next_time, setup, teardown),
        cmocka_unit_test_setup_teardown(a_second_text_of_a_name_needs_an_id, setup, teardown),
        cmocka_unit_test_setup_teardown(an_id_that_leaves_no_room_for_a_part_is_refused, setup,
                                        teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
