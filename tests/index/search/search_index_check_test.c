/* The full check of an open index finds what checksums cannot: sections that were written wrongly. */
#include "tests/test.h"

#include "index/format/segment.h"
#include "index/search/search_index.h"
#include "tests/index/search/index_fixture.h"

/* The file with other bytes in one section, under checksums that are right. */
static void rewrite(const char *path, unsigned type, const void *data, size_t n) {
    fo_err err = {0};
    segment *s;
    segment_writer *w;
    assert_ok(segment_open(&s, path, &err), &err);
    assert_ok(segment_writer_create(&w, path, &err), &err);
    for (unsigned t = SECTION_INFO; t <= SECTION_METADATA; t++) {
        size_t size;
        const void *p = segment_get(s, t, &size);
        if (t == type) assert_int_equal(size, n);
        assert_ok(segment_writer_section(w, t, t == type ? data : p, size, &err), &err);
    }
    assert_ok(segment_writer_commit(w, &err), &err);
    segment_close(s);
}

/* Chunks staged in this order, with this order of their ids in the file. */
static int check(const int64_t *chunks, const uint32_t *order, size_t n) {
    char *dir = test_folder(), path[4200];
    fo_err err = {0};
    search_index *ix = open_default_index(dir);
    for (size_t i = 0; i < n; i++) add(ix, chunks[i]);
    assert_ok(search_index_publish(ix, 1, &err), &err);
    assert_ok(search_index_seal(ix, &err), &err);
    assert_ok(search_index_verify(ix, &err), &err);
    assert_ok(search_index_close(ix, true, &err), &err);
    snprintf(path, sizeof path, "%s/%016x.seg", dir, 1);
    rewrite(path, SECTION_ID_ORDER, order, n * sizeof *order);
    ix = open_default_index(dir);
    int rc = search_index_verify(ix, &err);
    if (rc) assert_non_null(strstr(err.msg, "the order of chunk ids is damaged at 1"));
    assert_ok(search_index_close(ix, false, &err), &err);
    test_remove(dir);
    return rc;
}

static void chunk_ids_that_do_not_ascend_are_found(void **state) {
    (void)state;
    const int64_t falling[] = {9, 3}, rising[] = {3, 9}, equal[] = {7, 7};
    const uint32_t as_they_lie[] = {0, 1}, turned[] = {1, 0}, doubled[] = {0, 0};
    assert_int_equal(check(falling, turned, 2), FO_OK);
    assert_int_equal(check(falling, as_they_lie, 2), FO_ECORRUPT);
    assert_int_equal(check(rising, as_they_lie, 2), FO_OK);
    assert_int_equal(check(rising, turned, 2), FO_ECORRUPT);
    assert_int_equal(check(rising, doubled, 2), FO_ECORRUPT);
    assert_int_equal(check(equal, as_they_lie, 2), FO_OK);
    assert_int_equal(check(equal, turned, 2), FO_ECORRUPT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chunk_ids_that_do_not_ascend_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
