/* Documents on their way to the service: how much of them a batch holds, and what becomes of parts and of the whole where a
 * text is sent again in another size. */
#include "tests/test.h"

#include "retrieval/service/catalog.h"
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(metadata_counts_as_held, setup, teardown),
        cmocka_unit_test_setup_teardown(metadata_past_its_limit_is_never_held, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
