/* folder_sync_archives_test.c - a member of an archive comes as it was listed, or not at all. */
#include "tests/test.h"

#include <fcntl.h>

#include "data/extract/extract_host.h"
#include "kernels/buf.h"
#include "kernels/file.h"
#include "retrieval/service/folder_sync_archives.h"

enum { BLOCK = 512 };

/* One file of a tar. */
static void add_file(fo_buf *tar, const char *name, const char *text) {
    char head[BLOCK] = {0}, body[BLOCK] = {0};
    unsigned sum = 0;
    assert_true(strlen(text) < BLOCK);
    snprintf(head, 100, "%s", name);
    memcpy(head + 100, "0000644", 7);
    memcpy(head + 108, "0000000", 7);
    memcpy(head + 116, "0000000", 7);
    snprintf(head + 124, 12, "%011o", (unsigned)strlen(text) % BLOCK);
    memcpy(head + 136, "00000000000", 11);
    memset(head + 148, ' ', 8);
    head[156] = '0';
    memcpy(head + 257, "ustar\00000", 8);
    for (size_t i = 0; i < BLOCK; i++) sum += (unsigned char)head[i];
    snprintf(head + 148, 8, "%06o", sum);
    memcpy(body, text, strlen(text));
    fo_buf_add(tar, head, BLOCK);
    fo_buf_add(tar, body, BLOCK);
}

static void write_tar(const char *folder) {
    static const char end[2 * BLOCK];
    char path[4096];
    fo_buf tar = {0};
    add_file(&tar, "a.md", "The ferry leaves at nine.");
    add_file(&tar, "b.md", "The ferry leaves at noon.");
    add_file(&tar, "c.md", "The bus leaves at six.");
    fo_buf_add(&tar, end, sizeof end);
    assert_false(tar.failed);
    snprintf(path, sizeof path, "%s/pack.tar", folder);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(tar.data, tar.len, 1, f), 1);
    assert_int_equal(fclose(f), 0);
    fo_buf_free(&tar);
}

static void expect(sync_archives *a, const folder_file *f, const char *text) {
    ingest_document d = {0};
    fo_err why = {0};
    int rc = sync_archives_get(a, f->member, &d, &why);
    assert_int_equal(rc, text ? FO_OK : FO_EINVAL);
    if (text) {
        assert_int_equal(d.n_bytes, strlen(text));
        assert_memory_equal(d.bytes, text, d.n_bytes);
    } else {
        assert_non_null(strstr(why.msg, "other files on a second look"));
        assert_null(d.bytes);
    }
    free((char *)d.bytes);
}

static void a_member_is_the_one_that_was_listed(void **state) {
    (void)state;
    char *home = test_folder(), *folder = test_folder();
    fo_err err = {0};
    service *s;
    service_options opt = {
        .home = home, .n_threads = 1, .primes_per_s = -1, .worker_program = "/proc/self/exe"};
    assert_ok(service_open(&s, &opt, &err), &err);
    write_tar(folder);
    sync_archives a = {.s = s, .folder = open(folder, O_RDONLY | O_DIRECTORY)};
    assert_true(a.folder >= 0);
    folder_walk walk = {0};
    folder_listing found;
    known_files known = {0};
    assert_ok(folder_walk_run(&walk, a.folder, &found, &err), &err);
    assert_ok(sync_archives_expand(&a, &found, &known, false, &err), &err);
    assert_int_equal(found.n, 3);
    assert_string_equal(found.files[1].path, "pack.tar/b.md");
    expect(&a, &found.files[0], "The ferry leaves at nine.");
    expect(&a, &found.files[1], "The ferry leaves at noon.");
    /* As it is where the first look lost a.md, so that b.md was the first: of the same size, too. */
    a.members[found.files[1].member - 1].at = 0;
    expect(&a, &found.files[1], NULL);
    a.members[found.files[1].member - 1].at = 1;
    expect(&a, &found.files[1], "The ferry leaves at noon.");
    /* One that could not be read at the first look is none of those that can be now. */
    a.members[found.files[2].member - 1].hash.known = false;
    expect(&a, &found.files[2], NULL);
    close(a.folder);
    sync_archives_deinit(&a);
    folder_listing_deinit(&found);
    service_close(s);
    test_remove(home);
    test_remove(folder);
}

int main(int argc, char **argv) {
    if (extract_is_worker(argc, argv)) return extract_worker_main(NULL, 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_member_is_the_one_that_was_listed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
