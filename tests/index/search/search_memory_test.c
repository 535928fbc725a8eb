/* search_memory_test.c - an index without memory for what is to be removed: nothing is written where there is no room,
 * and what could not be noted is not published as if it had been. Our realloc stands in front of the library's. */
#include "tests/test.h"

#include <stdatomic.h>

#include "index/search/search_index.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { CAN_FAIL = 0 }; /* the sanitizers have put theirs there */
#else
enum { CAN_FAIL = 1 };
void *__libc_realloc(void *p, size_t n);
#endif

static atomic_bool fails;

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
void *realloc(void *p, size_t n) {
    return atomic_load(&fails) ? NULL : __libc_realloc(p, n);
}
#endif

static void a_removal_that_was_not_noted_is_not_published(void **state) {
    (void)state;
    if (!CAN_FAIL) skip();
    char *folder = test_folder();
    search_index *ix;
    fo_err err = {0};
    size_t dropped;
    const search_index_options o = {.fingerprint = "feed", .tenant = "default", .seal_chunks = 100};
    assert_ok(search_index_open(&ix, folder, &o, &dropped, &err), &err);
    search_chunk_in c = {.chunk = 1, .document = 1, .title = "", .text = "a heron", .text_len = 7};
    assert_ok(search_index_add(ix, &c, &err), &err);
    assert_ok(search_index_publish(ix, 1, &err), &err);
    for (int with_room = 0; with_room < 2; with_room++) { /* none was ever noted; some were */
        if (with_room) {
            for (int i = 0; i < 64; i++) search_index_remove(ix, 1000 + i);
            assert_ok(search_index_publish(ix, 2, &err), &err);
            for (int i = 0; i < 64; i++) search_index_remove(ix, 1000 + i);
        }
        atomic_store(&fails, true);
        for (int i = 0; i < 1000; i++) search_index_remove(ix, 1);
        atomic_store(&fails, false);
        assert_int_equal(search_index_publish(ix, 3, &err), FO_ENOMEM);
        search_snapshot *s = search_index_acquire(ix);
        assert_int_equal(search_snapshot_count(s), 1);
        search_index_release(s);
    }
    search_index_remove(ix, 1); /* and then it goes on */
    assert_ok(search_index_publish(ix, 3, &err), &err);
    search_snapshot *s = search_index_acquire(ix);
    assert_int_equal(search_snapshot_count(s), 0);
    search_index_release(s);
    assert_ok(search_index_close(ix, false, &err), &err);
    test_remove(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_removal_that_was_not_noted_is_not_published),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
