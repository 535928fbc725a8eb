/* folder_sync_test.c - no document is lost to a name under which its file fails: what has moved goes out when it is in. And
 * what fails by no fault of the file is put again. What somebody put by hand stays; a folder that is none leaves no source. */
#include "tests/test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "data/extract/extract_host.h"
#include "kernels/file.h"
#include "retrieval/collections/catalog.h"
#include "retrieval/sync/folder_sync.h"
#include "tests/retrieval/service/home_fixture.h"

/* The disk does not give what lies behind the first bytes of this file. */
static ino_t unreadable;
/* ... nor this one's first bytes, when they are asked for the second time. */
static ino_t unreadable_later;
static int n_looks;

ssize_t read(int fd, void *to, size_t n) {
    struct stat st;
    if (unreadable && fstat(fd, &st) == 0 && st.st_ino == unreadable &&
        lseek(fd, 0, SEEK_CUR) >= 1 << 20) {
        errno = EIO;
        return -1;
    }
    if (unreadable_later && fstat(fd, &st) == 0 && st.st_ino == unreadable_later &&
        lseek(fd, 0, SEEK_CUR) == 0 && ++n_looks == 2) {
        errno = EIO;
        return -1;
    }
    return syscall(SYS_read, fd, to, n);
}

static const char FERRY[] = "The ferry leaves at nine.";

/* A folder, and a home that is kept in step with it. */
typedef struct synced {
    char *home, *folder;
    service *s;
    folder_sync_request q;
} synced;

/* Old enough for its times to tell whether it has changed. */
static void write_file(const char *folder, const char *name, const char *bytes, size_t n) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, n, 1, f), 1);
    assert_int_equal(fclose(f), 0);
    struct timespec old[2] = {{.tv_sec = 1700000000}, {.tv_sec = 1700000000}};
    assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0);
}

static void rename_file(const char *folder, const char *from, const char *to) {
    char a[4096], b[4096];
    snprintf(a, sizeof a, "%s/%s", folder, from);
    snprintf(b, sizeof b, "%s/%s", folder, to);
    char *slash = strrchr(b, '/');
    *slash = 0;
    assert_int_equal(fo_make_dirs(b, NULL), FO_OK);
    *slash = '/';
    assert_int_equal(rename(a, b), 0);
}

static folder_sync_request source(const char *folder) {
    return (folder_sync_request){.tenant = "default",
                                 .name = "notes",
                                 .path = folder,
                                 .overlap = SIZE_MAX,
                                 .limit = {.n = 0}}; /* no document may be lost */
}

static service *open_with(const char *home, const char *worker) {
    return open_home_with((service_options){
        .home = home, .n_threads = 1, .primes_per_s = -1, .worker_program = worker});
}

static synced set_up(const char *worker) {
    synced t = {.home = test_folder(), .folder = test_folder()};
    t.q = source(t.folder);
    t.s = open_with(t.home, worker);
    return t;
}

static void open_again(synced *t, const char *worker) {
    service_close(t->s);
    t->s = open_with(t->home, worker);
}

static void tear_down(synced *t) {
    service_close(t->s);
    test_remove(t->home);
    test_remove(t->folder);
}

static folder_sync_report sync_again(synced *t) {
    folder_sync_report r;
    fo_err err = {0};
    assert_ok(folder_sync_run(t->s, &t->q, &r, &err), &err);
    folder_sync_report counts = r;
    folder_sync_report_deinit(&r);
    return counts; /* and no strings */
}

static bool has(service *s, const char *id) {
    store_document d = {0};
    bool there = catalog_get_document(service_catalog(s), "default", "default", id, NULL, false, &d,
                                      NULL) == FO_OK;
    if (there) store_document_deinit(&d);
    return there;
}

/* Two files that are in. */
static synced ferry_and_bus(bool retry) {
    synced t = set_up("/proc/self/exe");
    t.q.retry_failed = retry;
    write_file(t.folder, "a.md", FERRY, strlen(FERRY));
    write_file(t.folder, "z.md", "The bus leaves at six.", 22);
    assert_int_equal(sync_again(&t).created, 2);
    return t;
}

/* Whether runs try again what failed, or not. */
static void move_and_fail(const char *to, bool retry) {
    synced t = ferry_and_bus(retry);
    rename_file(t.folder, "a.md", to);
    for (int i = 0; i < 3; i++) {
        folder_sync_report r = sync_again(&t);
        assert_int_equal(r.failed, 1);
        assert_int_equal(r.removed, 0);
        assert_true(has(t.s, "notes/a.md"));
    }
    rename_file(t.folder, to, "c.md");
    assert_int_equal(sync_again(&t).moved, 1);
    assert_true(has(t.s, "notes/c.md"));
    assert_false(has(t.s, "notes/a.md"));
    tear_down(&t);
}

static void a_file_that_fails_under_its_new_name_keeps_its_old_document(void **state) {
    (void)state;
    move_and_fail("b\x01.md", false);
    move_and_fail("b\x01.md", true);
    char deep[3 * 200 + 16]; /* no id is so long */
    memset(deep, 'd', sizeof deep);
    for (size_t i = 1; i <= 3; i++) deep[i * 200] = '/';
    snprintf(deep + 601, sizeof deep - 601, "b.md");
    move_and_fail(deep, false);
    move_and_fail(deep, true);
}

/* All files are read again, then, and a move is a new file and one that is gone. */
static void with_other_settings_it_does_too(void **state) {
    (void)state;
    for (int retry = 0; retry < 2; retry++) {
        synced t = ferry_and_bus(retry);
        rename_file(t.folder, "a.md", "b\x01.md");
        t.q.max_tokens = 100;
        for (int i = 0; i < 3; i++) {
            folder_sync_report r = sync_again(&t);
            assert_int_equal(r.failed, 1);
            assert_int_equal(r.removed, 0);
            assert_int_equal(r.kept, 1);
            assert_true(has(t.s, "notes/a.md"));
        }
        rename_file(t.folder, "b\x01.md", "c.md");
        t.q.max_tokens = 120; /* the document goes in before the old one goes out */
        folder_sync_report r = sync_again(&t);
        assert_int_equal(r.created, 1);
        assert_int_equal(r.removed, 1);
        assert_true(has(t.s, "notes/c.md"));
        assert_false(has(t.s, "notes/a.md"));
        tear_down(&t);
    }
}

/* The program that reads documents ends at once: a machine short of memory, say. */
static void what_is_no_fault_of_the_file_is_tried_again(void **state) {
    (void)state;
    synced t = set_up("/bin/false");
    size_t n;
    char *pdf = read_sample("slides.pdf", &n);
    write_file(t.folder, "a.pdf", pdf, n);
    free(pdf);
    assert_int_equal(sync_again(&t).failed, 1);
    open_again(&t, "/proc/self/exe");
    folder_sync_report r = sync_again(&t);
    assert_int_equal(r.failed, 0);
    assert_int_equal(r.created, 1);
    /* Cut otherwise, and the program away once more: the document stays as it is until it comes back. */
    t.q.max_tokens = 100;
    open_again(&t, "/bin/false");
    assert_int_equal(sync_again(&t).failed, 1);
    assert_true(has(t.s, "notes/a.pdf"));
    open_again(&t, "/proc/self/exe");
    assert_int_equal(sync_again(&t).updated, 1);
    assert_int_equal(sync_again(&t).unchanged, 1);
    tear_down(&t);
}

static void a_large_text_that_cannot_be_read_fails_alone(void **state) {
    (void)state;
    enum { LARGE = 17 << 20 };
    synced t = set_up("/proc/self/exe");
    char *text = malloc(LARGE), path[4096];
    assert_non_null(text);
    for (size_t i = 0; i < LARGE; i++) text[i] = i % 64 == 63 ? '\n' : "ferry at nine "[i % 14];
    write_file(t.folder, "big.log", text, LARGE);
    write_file(t.folder, "z.md", FERRY, strlen(FERRY));
    free(text);
    struct stat st;
    snprintf(path, sizeof path, "%s/big.log", t.folder);
    assert_int_equal(stat(path, &st), 0);
    unreadable = st.st_ino;
    for (int i = 0; i < 2; i++) {
        folder_sync_report r;
        fo_err err = {0};
        assert_ok(folder_sync_run(t.s, &t.q, &r, &err), &err);
        assert_true(r.failed >= 1);
        assert_string_equal(r.failures[0].path, "big.log");
        assert_non_null(strstr(r.failures[0].why, "cannot read it"));
        folder_sync_report_deinit(&r);
        assert_true(has(t.s, "notes/z.md"));
    }
    unreadable = 0;
    tear_down(&t);
}

static void by_shell(const synced *t, const char *command) {
    char line[4096];
    snprintf(line, sizeof line, "cd '%s' && %s", t->folder, command);
    assert_int_equal(system(line), 0);
}

/* With two archives the first is opened once more when its members are read: that look may fail. */
static void a_member_that_a_second_look_lost_is_tried_again(void **state) {
    (void)state;
    synced t = set_up("/proc/self/exe");
    by_shell(&t, "echo 'The ferry leaves at nine.' >f.md && tar cf a.tar f.md && "
                 "echo 'The bus leaves at six.' >f.md && tar cf b.tar f.md && rm f.md && "
                 "touch -d @1700000000 a.tar b.tar");
    struct stat st;
    char path[4096];
    snprintf(path, sizeof path, "%s/a.tar", t.folder);
    assert_int_equal(stat(path, &st), 0);
    n_looks = 0;
    unreadable_later = st.st_ino;
    folder_sync_report r = sync_again(&t);
    unreadable_later = 0;
    assert_int_equal(n_looks, 2);
    assert_int_equal(r.failed, 1);
    assert_int_equal(r.created, 1);
    assert_false(has(t.s, "notes/a.tar/f.md"));
    r = sync_again(&t);
    assert_int_equal(r.failed, 0);
    assert_int_equal(r.created, 1);
    assert_true(has(t.s, "notes/a.tar/f.md"));
    assert_int_equal(sync_again(&t).unchanged, 2);
    tear_down(&t);
}

/* Somebody puts a document of his own under the id of a file's. */
static void put_by_hand(const synced *t, const char *id, const char *text) {
    ingest_options into = {.tenant = "default", .collection = "default", .overlap = SIZE_MAX};
    ingest_document d = {.id = id, .bytes = text, .n_bytes = strlen(text)};
    assert_int_equal(ingest_one(t->s, &into, &d), INGEST_UPDATED);
}

static void a_document_put_by_hand_is_not_removed(void **state) {
    (void)state;
    synced t = ferry_and_bus(false);
    t.q.limit = (sync_limit){.n = -1};
    put_by_hand(&t, "notes/a.md", "My own words.");
    put_by_hand(&t, "notes/z.md", "More of my own words.");
    assert_int_equal(sync_again(&t).updated, 2); /* it is put back while there is a file */
    put_by_hand(&t, "notes/a.md", "My own words.");
    put_by_hand(&t, "notes/z.md", "More of my own words.");
    by_shell(&t, "mv a.md b.md");
    folder_sync_report r = sync_again(&t);
    assert_int_equal(r.removed, 0);
    assert_int_equal(r.created, 1);
    assert_int_equal(r.updated, 1);
    assert_true(has(t.s, "notes/a.md"));
    put_by_hand(&t, "notes/z.md", "More of my own words.");
    size_t n;
    fo_err err = {0};
    assert_ok(folder_sync_forget(t.s, "default", "notes", false, false, NULL, &n, &err), &err);
    assert_int_equal(n, 1);
    assert_true(has(t.s, "notes/a.md"));
    assert_true(has(t.s, "notes/z.md"));
    assert_false(has(t.s, "notes/b.md"));
    tear_down(&t);
}

/* While a run is under way: as soon as it has put something. */
static void put_meanwhile(void *ctx, enum sync_kind kind, const char *path, const char *from) {
    const synced *t = ctx;
    (void)path;
    (void)from;
    if (kind == SYNC_PUT || kind == SYNC_MOVED) put_by_hand(t, "notes/a.md", "My own words.");
}

static void a_document_put_by_hand_meanwhile_is_not_removed(void **state) {
    (void)state;
    static const char *const changes[] = {"rm a.md && echo 'The bus leaves at ten.' >z.md",
                                          "mv a.md b.md"};
    for (size_t i = 0; i < 2; i++) {
        synced t = ferry_and_bus(false);
        t.q.limit = (sync_limit){.n = -1};
        t.q.step = put_meanwhile;
        t.q.ctx = &t;
        by_shell(&t, changes[i]);
        folder_sync_report r = sync_again(&t);
        assert_int_equal(r.updated + r.moved, 1);
        assert_int_equal(r.removed, 0);
        t.q.step = NULL;
        assert_true(has(t.s, "notes/a.md"));
        assert_int_equal(sync_again(&t).removed, 0);
        assert_true(has(t.s, "notes/a.md"));
        tear_down(&t);
    }
}

static size_t forget(const synced *t, bool dry_run) {
    size_t n;
    fo_err err = {0};
    assert_ok(folder_sync_forget(t->s, "default", "notes", false, dry_run, NULL, &n, &err), &err);
    return n;
}

/* Somebody deletes the document of a file. */
static void delete_by_hand(const synced *t, const char *id) {
    fo_err err = {0};
    assert_ok(service_delete_document(t->s, "default", "default", id, NULL, NULL, &err), &err);
}

/* While a run is under way, as above. */
static void delete_meanwhile(void *ctx, enum sync_kind kind, const char *path, const char *from) {
    (void)path;
    (void)from;
    if (kind == SYNC_PUT) delete_by_hand(ctx, "notes/a.md");
}

static void only_documents_that_were_there_are_removed(void **state) {
    (void)state;
    synced t = ferry_and_bus(false);
    delete_by_hand(&t, "notes/a.md");
    by_shell(&t, "rm a.md");
    t.q.dry_run = true;
    assert_int_equal(sync_again(&t).removed, 0);
    t.q.dry_run = false;
    assert_int_equal(sync_again(&t).removed, 0); /* and none is held back */
    by_shell(&t, "echo 'The ferry leaves at ten.' >a.md");
    assert_int_equal(sync_again(&t).created, 1);
    by_shell(&t, "rm a.md && echo 'The bus leaves at seven.' >z.md");
    t.q.limit = (sync_limit){.n = -1};
    t.q.step = delete_meanwhile;
    t.q.ctx = &t;
    folder_sync_report r = sync_again(&t);
    t.q.step = NULL;
    assert_int_equal(r.updated, 1);
    assert_int_equal(r.removed, 0);
    assert_int_equal(forget(&t, true), 1);
    fo_err err = {0};
    assert_ok(service_delete_collection(t.s, "default", "default", NULL, &err), &err);
    assert_int_equal(forget(&t, true), 0);
    assert_int_equal(forget(&t, false), 0);
    tear_down(&t);
}

/* Files of documents that are gone are none of those of which the limit takes its share. */
static void a_limit_is_a_share_of_what_is_there(void **state) {
    (void)state;
    synced t = set_up("/proc/self/exe");
    for (char name[] = "a.md"; *name <= 'j'; ++*name) write_file(t.folder, name, name, 4);
    assert_int_equal(sync_again(&t).created, 10);
    for (char id[] = "notes/a.md"; id[6] <= 'f'; id[6]++) delete_by_hand(&t, id);
    by_shell(&t, "rm [a-i].md");
    t.q.limit = (sync_limit){.share = true, .n = 50};
    folder_sync_report r = sync_again(&t);
    assert_int_equal(r.removed, 0);
    assert_int_equal(r.withheld, 3); /* of 4 */
    t.q.limit.n = 75;
    assert_int_equal(sync_again(&t).removed, 3);
    tear_down(&t);
}

static void expect_error(synced *t, const char *path, bool relocate, int expected) {
    folder_sync_report r;
    fo_err err = {0};
    folder_sync_request q = t->q;
    q.path = path;
    q.relocate = relocate;
    assert_int_equal(folder_sync_run(t->s, &q, &r, &err), expected);
    folder_sync_report_deinit(&r);
}

static void a_source_is_not_begun_with_a_folder_that_is_none(void **state) {
    (void)state;
    synced t = set_up("/proc/self/exe");
    char path[4096];
    snprintf(path, sizeof path, "%s/a.md", t.folder);
    write_file(t.folder, "a.md", FERRY, strlen(FERRY));
    store_source of = {0};
    fo_err err = {0};
    expect_error(&t, path, false, FO_EINVAL);
    assert_int_equal(folder_sync_get(t.s, "default", "notes", &of, &err), FO_ENOTFOUND);
    assert_int_equal(sync_again(&t).created, 1);
    expect_error(&t, "/nowhere/at/all", true, FO_ENOTFOUND);
    assert_ok(folder_sync_get(t.s, "default", "notes", &of, &err), &err);
    assert_string_equal(of.path, t.folder);
    assert_null(of.error);
    store_source_deinit(&of);
    /* Of the folder that it is of, the failure is told. */
    by_shell(&t, "mv \"$PWD\" \"$PWD.away\"");
    expect_error(&t, t.folder, false, FO_ENOTFOUND);
    assert_ok(folder_sync_get(t.s, "default", "notes", &of, &err), &err);
    assert_non_null(of.error);
    store_source_deinit(&of);
    snprintf(path, sizeof path, "mv '%s.away' '%s'", t.folder, t.folder);
    assert_int_equal(system(path), 0);
    tear_down(&t);
}

int main(int argc, char **argv) {
    if (extract_is_worker(argc, argv)) return extract_worker_main(NULL, 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_that_fails_under_its_new_name_keeps_its_old_document),
        cmocka_unit_test(with_other_settings_it_does_too),
        cmocka_unit_test(a_large_text_that_cannot_be_read_fails_alone),
        cmocka_unit_test(what_is_no_fault_of_the_file_is_tried_again),
        cmocka_unit_test(a_member_that_a_second_look_lost_is_tried_again),
        cmocka_unit_test(a_document_put_by_hand_is_not_removed),
        cmocka_unit_test(a_document_put_by_hand_meanwhile_is_not_removed),
        cmocka_unit_test(only_documents_that_were_there_are_removed),
        cmocka_unit_test(a_limit_is_a_share_of_what_is_there),
        cmocka_unit_test(a_source_is_not_begun_with_a_folder_that_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
