/* read_ahead_test.c - what the disk tier does to requests under the running engine: a slow disk is
 * waited for by the one who needs it alone, a damaged record costs its own computation. A small
 * random model; the disk's reads are held up and counted here. */
#include "tests/test.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "tests/engine/generate/engine_fixture.h"

/* ---- a disk that can be held up ------------------------------------------------------------ */

enum { PATIENCE_MS = 60000 };
static atomic_bool gate_closed, gave_up;
static atomic_int n_held, n_reads;

/* Stands before the C library's: kv_segment.c reads with it. */
ssize_t preadv(int fd, const struct iovec *parts, int n, off_t offset) {
    atomic_fetch_add(&n_reads, 1);
    if (atomic_load(&gate_closed)) {
        atomic_fetch_add(&n_held, 1);
        int ms = 0;
        for (; atomic_load(&gate_closed) && ms < PATIENCE_MS; ms++) usleep(1000);
        if (ms == PATIENCE_MS) atomic_store(&gave_up, true);
        atomic_fetch_sub(&n_held, 1);
    }
    return syscall(SYS_preadv, fd, parts, (unsigned long)n, (unsigned long)offset, 0ul);
}

/* ---- requests ------------------------------------------------------------------------------ */

enum { ANSWER = 6, PREFIX = 30, CHUNK = 70, CHUNKS = 4, TAIL = 9 };
static int32_t prefix[PREFIX], chunks[CHUNKS][CHUNK], tail[TAIL];

static engine *open_with_disk(const char *dir) {
    return open_engine(
        (engine_options){.kv_ram = 2 << 20, .kv_dir = dir, .kv_disk = 16 << 20, .no_lookup = true});
}

/* order: which chunks, "120" */
static void make_ask(ask *a, const char *order, enum kv_reuse reuse) {
    ask_begin(a, ANSWER, reuse);
    ask_add(a, prefix, PREFIX, PIECE_PREFIX);
    for (; *order; order++) ask_add(a, chunks[*order - '0'], CHUNK, PIECE_CHUNK);
    ask_add(a, tail, TAIL, PIECE_TAIL);
}

static result answer(engine *e, const char *order, enum kv_reuse reuse) {
    ask a;
    result r;
    make_ask(&a, order, reuse);
    run(e, &a.r, &r);
    assert_int_equal(r.n, ANSWER);
    return r;
}

/* Chunks 0, 1 and 2 computed, and all of it on disk. */
static char *fill_disk(void) {
    char *dir = test_folder();
    engine *e = open_with_disk(dir);
    answer(e, "012", KV_REUSE_CHUNK);
    wait_idle(e);
    engine_close(e);
    return dir;
}

/* ---- a slow disk --------------------------------------------------------------------------- */

typedef struct asker {
    engine *e;
    const char *order;
    enum kv_reuse reuse;
    result r;
    atomic_bool done;
} asker;

static void *ask_aside(void *arg) {
    asker *a = arg;
    a->r = answer(a->e, a->order, a->reuse);
    atomic_store(&a->done, true);
    return NULL;
}

static void only_who_needs_the_disk_waits_for_it(void **state) {
    (void)state;
    static const struct {
        const char *order;
        enum kv_reuse reuse;
    } cases[] = {{"012", KV_REUSE_EXACT}, {"210", KV_REUSE_CHUNK}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *dir = fill_disk();
        engine *e = open_with_disk(dir);
        result want = answer(e, cases[i].order, KV_REUSE_OFF);
        asker slow[2] = {{.e = e, .order = cases[i].order, .reuse = cases[i].reuse},
                         {.e = e, .order = cases[i].order, .reuse = cases[i].reuse}};
        pthread_t threads[2];
        atomic_store(&gate_closed, true);
        for (int k = 0; k < 2; k++)
            assert_int_equal(pthread_create(&threads[k], NULL, ask_aside, &slow[k]), 0);
        for (int ms = 0; atomic_load(&n_held) == 0 && ms < PATIENCE_MS; ms++) usleep(1000);
        assert_true(atomic_load(&n_held) > 0);
        answer(e, "3", KV_REUSE_OFF); /* others are served, and may look */
        engine_stats st;
        engine_get_stats(e, &st);
        assert_int_equal(st.n_running + st.n_waiting, 0);
        assert_true(st.store.staged_bytes > 0);
        assert_false(atomic_load(&slow[0].done) || atomic_load(&slow[1].done));
        atomic_store(&gate_closed, false);
        for (int k = 0; k < 2; k++) pthread_join(threads[k], NULL);
        for (int k = 0; k < 2; k++) same_tokens(&slow[k].r, &want, "from a slow disk");
        assert_true(slow[0].r.ev.disk_tokens + slow[1].r.ev.disk_tokens >= 2 * CHUNK);
        assert_false(atomic_load(&gave_up));
        wait_idle(e);
        engine_get_stats(e, &st);
        assert_int_equal(st.store.staged_bytes, 0);
        assert_ok(engine_check(e, &err), &err);
        engine_close(e);
        test_remove(dir);
    }
}

static void what_is_read_ahead_is_not_read_again(void **state) {
    (void)state;
    char *dir = fill_disk();
    engine *e = open_with_disk(dir);
    engine_stats st;
    atomic_store(&n_reads, 0);
    result r = answer(e, "210", KV_REUSE_CHUNK);
    assert_true(r.ev.disk_asked && r.ev.disk_tokens >= 2 * CHUNK);
    engine_get_stats(e, &st);
    /* As many reads as records, and as many hits of the disk. */
    assert_int_equal(st.store.disk.hits, atomic_load(&n_reads));
    assert_int_equal(st.store.staged_bytes, 0);
    engine_close(e);
    test_remove(dir);
}

/* ---- a damaged disk ------------------------------------------------------------------------ */

/* Turn a byte in the payload of every chunk's record (kv_segment.h). */
static int damage_chunks(const char *dir) {
    int n = 0;
    DIR *d = opendir(dir);
    assert_non_null(d);
    for (struct dirent *entry; (entry = readdir(d));) {
        size_t len = strlen(entry->d_name), size;
        if (len < 3 || strcmp(entry->d_name + len - 3, ".kv") != 0) continue;
        char file[4096];
        snprintf(file, sizeof file, "%s/%s", dir, entry->d_name);
        FILE *f = fopen(file, "r+b");
        assert_non_null(f);
        static unsigned char bytes[4 << 20];
        size = fread(bytes, 1, sizeof bytes, f);
        for (size_t at = 0; at + 512 < size; at += 512) {
            if (memcmp(bytes + at, "KVR1", 4) != 0 || bytes[at + 4] != KV_STORE_CHUNK) continue;
            bytes[at + 200] ^= 1;
            n++;
        }
        rewind(f);
        assert_int_equal(fwrite(bytes, 1, size, f), size);
        fclose(f);
    }
    closedir(d);
    return n;
}

static void a_damaged_chunk_is_dropped_and_computed_again(void **state) {
    (void)state;
    char *dir = fill_disk();
    assert_int_equal(damage_chunks(dir), 3);
    engine *e = open_with_disk(dir);
    engine_stats st;
    result want = answer(e, "210", KV_REUSE_OFF);
    result got = answer(e, "210", KV_REUSE_CHUNK);
    same_tokens(&got, &want, "damaged chunks");
    assert_int_equal(got.ev.chunk_tokens, 0);
    assert_string_equal(got.ev.kv_note, "its chunks are not known yet");
    engine_get_stats(e, &st);
    assert_int_equal(st.store.corrupt, 3);
    assert_ok(engine_check(e, &err), &err);
    wait_idle(e); /* made anew in the background */
    got = answer(e, "120", KV_REUSE_CHUNK);
    want = answer(e, "120", KV_REUSE_OFF);
    same_tokens(&got, &want, "made anew");
    assert_true(got.ev.chunk_tokens > 0);
    wait_idle(e);
    engine_close(e);
    e = open_with_disk(dir); /* and they are whole on disk */
    got = answer(e, "120", KV_REUSE_CHUNK);
    same_tokens(&got, &want, "made anew, after a restart");
    assert_true(got.ev.disk_tokens > 0);
    engine_get_stats(e, &st);
    assert_int_equal(st.store.corrupt, 0);
    engine_close(e);
    test_remove(dir);
}

static int setup(void **state) {
    open_folder(state);
    random_tokens(prefix, PREFIX);
    for (int c = 0; c < CHUNKS; c++) random_tokens(chunks[c], CHUNK);
    random_tokens(tail, TAIL);
    return 0;
}

int main(void) {
    seed = test_seed();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_who_needs_the_disk_waits_for_it),
        cmocka_unit_test(what_is_read_ahead_is_not_read_again),
        cmocka_unit_test(a_damaged_chunk_is_dropped_and_computed_again),
    };
    return cmocka_run_group_tests(tests, setup, remove_folder);
}
