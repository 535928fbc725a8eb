/* What was acknowledged survives kill -9: a child ingests and reports each commit over a pipe, is
 * killed at a random moment, and everything it reported must be there, whole. */
#include "tests/test.h"

#include <signal.h>
#include <sys/wait.h>

#include "data/sqlite/sqlite_store.h"
#include "tests/data/store/store_fixture.h"

enum { KILLS = 24 };

/* In the child: a document for every number, some rewritten, some deleted; each acknowledged by
 * its number after the commit (negative: a deletion). */
static void ingest_forever(const char *path, int64_t collection, int32_t from, uint64_t seed,
                           int pipe) {
    store *s;
    fo_err err = {0};
    if (sqlite_store_open(&s, path, NULL, &err) != FO_OK) _exit(3);
    for (int32_t k = from;; k++) {
        uint64_t content = (uint64_t)k; /* the same number, the same document */
        fixture_document d;
        fixture_make(&d, collection, (size_t)k, 500 + (size_t)(test_random(&seed) % 90000),
                     &content);
        store_put_result res;
        if (fixture_put(s, &d, &res, &err) != FO_OK) _exit(4);
        free(res.removed);
        fixture_free(&d);
        if (write(pipe, &k, sizeof k) != sizeof k) _exit(5);
        if (k % 7 != 6) continue;
        store_txn *t;
        int64_t *removed;
        size_t n;
        char id[32];
        snprintf(id, sizeof id, "doc-%d", k - 3);
        if (store_begin(s, &t, &err) != FO_OK ||
            store_delete_document(t, collection, id, &removed, &n, &err) != FO_OK ||
            store_commit(t, &err) != FO_OK)
            _exit(6);
        free(removed);
        int32_t gone = -(k - 3);
        if (write(pipe, &gone, sizeof gone) != sizeof gone) _exit(7);
    }
}

static void acknowledged_documents_survive_kill_9(void **state) {
    (void)state;
    uint64_t seed = test_seed();
    char *dir = test_folder();
    char path[4096];
    snprintf(path, sizeof path, "%s/forage.db", dir);
    fo_err err = {0};
    store *s;
    store_collection c;
    assert_ok(sqlite_store_open(&s, path, NULL, &err), &err);
    assert_ok(store_create_collection(s, "t", "docs", NULL, &c, &err), &err);
    store_close(s);
    enum { MAX_DOCUMENTS = 100000 };
    static uint8_t there[MAX_DOCUMENTS]; /* 1 acknowledged, 2 acknowledged as deleted */
    int32_t next = 1;
    size_t n_acknowledged = 0;
    for (int round = 0; round < KILLS; round++) {
        int ends[2];
        assert_int_equal(pipe(ends), 0);
        pid_t child = fork();
        if (child == 0) {
            close(ends[0]);
            ingest_forever(path, c.id, next, test_random(&seed), ends[1]);
        }
        close(ends[1]);
        usleep((useconds_t)(5000 + test_random(&seed) % 120000));
        kill(child, SIGKILL);
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status)); /* it was working, not failed */
        int32_t k;
        while (read(ends[0], &k, sizeof k) == sizeof k) {
            assert_true(k < MAX_DOCUMENTS - 1);
            there[k > 0 ? k : -k] = k > 0 ? 1 : 2;
            if (k >= next) next = k + 1;
            n_acknowledged++;
        }
        close(ends[0]);
        assert_ok(sqlite_store_open(&s, path, NULL, &err), &err);
        assert_ok(store_verify(s, &err), &err);
        for (int32_t i = 1; i < next; i++) {
            char id[32];
            snprintf(id, sizeof id, "doc-%d", i);
            store_document got;
            int rc = store_get_document(s, c.id, id, true, &got, &err);
            if (there[i] == 2) {
                assert_int_equal(rc, FO_ENOTFOUND);
                continue;
            }
            /* Deleted and committed, but killed before it could say so: only the round's last. */
            if (rc == FO_ENOTFOUND && i == next - 4 && (next - 1) % 7 == 6) {
                there[i] = 2;
                continue;
            }
            assert_int_equal(rc, FO_OK);
            uint64_t content = (uint64_t)i;
            for (size_t b = 0; b < got.text_bytes; b++)
                if (got.text[b] != (char)('a' + test_random(&content) % 26))
                    fail_msg("document %d differs at byte %zu", i, b);
            store_document_deinit(&got);
        }
        store_close(s);
    }
    print_message("# %d kills, %zu acknowledged changes\n", KILLS, n_acknowledged);
    assert_true(n_acknowledged > 0); /* a busy machine may kill most before their first */
    store_collection_deinit(&c);
    test_remove(dir);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(acknowledged_documents_survive_kill_9)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
