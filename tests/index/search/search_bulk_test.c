/* Metadata in the bulk building of an index: each chunk has its document's, which counts towards the memory that a
 * segment may take; and a load that fails is not taken for one that did not. */
#include "tests/test.h"

#include <cJSON.h>
#include <sys/stat.h>
#include <unistd.h>

#include "index/search/search_bulk.h"
#include "kernels/buf.h"

enum { CHUNKS = 120, VALUES = 500 };

static void count_files(void *ctx, enum search_bulk_stage stage, uint64_t done) {
    (void)done;
    *(int *)ctx += stage == SEARCH_BULK_COMMIT;
}

/* Documents of ten chunks; document d has the numbers from d on. */
static char *metadata_of(int document, int n_values) {
    fo_buf b = {0};
    fo_buf_str(&b, "{\"n\":[");
    for (int i = 0; i < n_values; i++) fo_buf_printf(&b, "%s%d", i ? "," : "", document + i);
    fo_buf_str(&b, "]}");
    return fo_buf_take(&b, NULL);
}

static size_t n_with(search_index *ix, int number) {
    char text[100];
    fo_err err = {0};
    search_filter *f;
    search_hit hits[CHUNKS];
    size_t n;
    snprintf(text, sizeof text, "{\"type\":\"eq\",\"key\":\"n\",\"value\":%d}", number);
    cJSON *json = cJSON_Parse(text);
    assert_ok(search_filter_parse(&f, json, &err), &err);
    cJSON_Delete(json);
    search_snapshot *s = search_index_acquire(ix);
    assert_ok(search_sparse(s, "word", CHUNKS, f, hits, &n, &err), &err);
    search_index_release(s);
    search_filter_free(f);
    return n;
}

static int files_with(int n_values) {
    char *dir = test_folder();
    fo_err err = {0};
    int n_files = 0;
    search_index *ix;
    search_bulk *b;
    search_index_options opt = {.tenant = "default"};
    search_bulk_options how = {.memory_bytes = 1 << 20, .progress = count_files, .ctx = &n_files};
    assert_ok(search_index_open(&ix, dir, &opt, NULL, &err), &err);
    assert_ok(search_bulk_begin(&b, ix, &how, &err), &err);
    for (int i = 0; i < CHUNKS; i++) {
        char *json = metadata_of(i / 10, n_values);
        search_chunk_in c = {
            .chunk = i + 1, .document = i / 10, .text = "a word", .text_len = 6, .metadata = json};
        assert_ok(search_bulk_add(b, &c, &err), &err);
        free(json);
    }
    assert_ok(search_bulk_finish(b, 1, &err), &err);
    assert_int_equal(n_with(ix, 0), 10); /* the first document alone */
    assert_int_equal(n_with(ix, 11 + n_values - 1), 10);
    assert_int_equal(n_with(ix, 11 + n_values), 0);
    if (n_values > 11) assert_int_equal(n_with(ix, 11), CHUNKS);
    assert_ok(search_index_close(ix, true, &err), &err);
    test_remove(dir);
    return n_files;
}

static void values_count_towards_a_segment_s_memory(void **state) {
    (void)state;
    assert_int_equal(files_with(1), 1);
    assert_true(files_with(VALUES) >= 5);
}

/* The manifest cannot be written: what a seal says later does not cover the chunks that are lost, and they can be
 * added again. */
static void a_load_that_fails_is_not_covered_later(void **state) {
    (void)state;
    char *dir = test_folder(), manifest[4200], away[4200];
    fo_err err = {0};
    search_index *ix;
    const search_index_options opt = {.tenant = "default"};
    const search_chunk_in c = {.chunk = 1, .document = 1, .text = "a word", .text_len = 6};
    snprintf(manifest, sizeof manifest, "%s/MANIFEST", dir);
    snprintf(away, sizeof away, "%s/away", dir);
    for (int round = 0; round < 2; round++) {
        search_bulk *b;
        assert_ok(search_index_open(&ix, dir, &opt, NULL, &err), &err);
        assert_int_equal(search_index_epoch(ix), -1);
        assert_ok(search_bulk_begin(&b, ix, &(search_bulk_options){0}, &err), &err);
        assert_ok(search_bulk_add(b, &c, &err), &err);
        if (round == 0) {
            assert_int_equal(rename(manifest, away), 0);
            assert_int_equal(mkdir(manifest, 0700), 0);
            assert_int_not_equal(search_bulk_finish(b, 7, &err), FO_OK);
            assert_int_equal(rmdir(manifest), 0);
            assert_int_equal(rename(away, manifest), 0);
        } else {
            assert_ok(search_bulk_finish(b, 7, &err), &err);
        }
        assert_ok(search_index_seal(ix, &err), &err);
        assert_int_equal(search_index_epoch(ix), round ? 7 : -1);
        assert_ok(search_index_close(ix, true, &err), &err);
    }
    test_remove(dir);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_load_that_fails_is_not_covered_later),
        cmocka_unit_test(values_count_towards_a_segment_s_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
