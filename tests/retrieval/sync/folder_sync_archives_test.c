/* folder_sync_archives_test.c - a member of an archive comes as it was listed, or not at all; what is known of a large
 * text that cannot be read stays; a large text comes by its parts, in an archive as in the folder. */
#include "tests/test.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <zlib.h>

#include "data/extract/extract_host.h"
#include "kernels/buf.h"
#include "kernels/file.h"
#include "retrieval/service/service.h"
#include "retrieval/sync/folder_sync_archives.h"

/* The disk does not give what lies here of any file. */
static off_t unreadable = -1;

ssize_t pread(int fd, void *to, size_t n, off_t at) {
    if (unreadable >= 0 && at <= unreadable && unreadable < at + (off_t)n) {
        errno = EIO;
        return -1;
    }
    return syscall(SYS_pread64, fd, to, n, at);
}

enum { BLOCK = 512, LARGE = 17 << 20 };

/* One file of a tar. */
static void add_bytes(fo_buf *tar, const char *name, const char *bytes, size_t n) {
    static const char none[BLOCK];
    char head[BLOCK] = {0};
    unsigned sum = 0;
    snprintf(head, 100, "%s", name);
    memcpy(head + 100, "0000644", 7);
    memcpy(head + 108, "0000000", 7);
    memcpy(head + 116, "0000000", 7);
    snprintf(head + 124, 12, "%011o", (unsigned)n);
    memcpy(head + 136, "00000000000", 11);
    memset(head + 148, ' ', 8);
    head[156] = '0';
    memcpy(head + 257, "ustar\00000", 8);
    for (size_t i = 0; i < BLOCK; i++) sum += (unsigned char)head[i];
    snprintf(head + 148, 8, "%06o", sum);
    fo_buf_add(tar, head, BLOCK);
    fo_buf_add(tar, bytes, n);
    fo_buf_add(tar, none, (BLOCK - n % BLOCK) % BLOCK);
}

static void add_file(fo_buf *tar, const char *name, const char *text) {
    add_bytes(tar, name, text, strlen(text));
}

static void write_file(const char *folder, const char *name, const fo_buf *bytes) {
    char path[4096];
    assert_false(bytes->failed);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes->data, bytes->len, 1, f), 1);
    assert_int_equal(fclose(f), 0);
}

/* The archive ends. */
static void write_ended(const char *folder, fo_buf *tar) {
    static const char end[2 * BLOCK];
    fo_buf_add(tar, end, sizeof end);
    write_file(folder, "pack.tar", tar);
    fo_buf_free(tar);
}

static void write_tar(const char *folder) {
    fo_buf tar = {0};
    add_file(&tar, "a.md", "The ferry leaves at nine.");
    add_file(&tar, "b.md", "The ferry leaves at noon.");
    add_file(&tar, "c.md", "The bus leaves at six.");
    write_ended(folder, &tar);
}

static void expect(sync_archives *a, const folder_file *f, const char *text) {
    ingest_document d = {0};
    fo_err why = {0};
    int rc = sync_archives_get(a, f->member, &d, &why);
    assert_int_equal(rc, text ? FO_OK : FO_EBUSY); /* the next run looks again */
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

/* A file of which two parts are known: is it found to be unreadable, and do they stay? */
static bool keeps_parts(const char *folder, const char *name, off_t at) {
    char path[2][64];
    snprintf(path[0], sizeof path[0], "%s/part-000001", name);
    snprintf(path[1], sizeof path[1], "%s/part-000002", name);
    sync_known rows[] = {{.path = name},
                         {.path = path[0], .stored = true, .held = true},
                         {.path = path[1], .stored = true, .held = true}};
    known_files known = {.files = rows, .n = 3};
    sync_archives a = {.folder = open(folder, O_RDONLY | O_DIRECTORY)};
    assert_true(a.folder >= 0);
    folder_walk walk = {0};
    folder_listing found;
    fo_err err = {0};
    assert_ok(folder_walk_run(&walk, a.folder, &found, &err), &err);
    unreadable = at;
    assert_ok(sync_archives_expand(&a, &found, &known, false, &err), &err);
    unreadable = -1;
    bool kept = found.n_unseen == 1 && !strcmp(found.unseen[0], name) && found.n == 0 && a.n == 1 &&
                a.list[0].bad.code == FO_EIO;
    close(a.folder);
    sync_archives_deinit(&a);
    folder_listing_deinit(&found);
    return kept;
}

static void parts_of_a_text_that_cannot_be_read_stay(void **state) {
    (void)state;
    char *folder = test_folder(), path[4096];
    snprintf(path, sizeof path, "%s/big.txt", folder);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(ftruncate(fileno(f), LARGE), 0);
    assert_int_equal(fclose(f), 0);
    assert_true(keeps_parts(folder, "big.txt", 0));
    assert_int_equal(unlink(path), 0);
    snprintf(path, sizeof path, "%s/big.txt.gz", folder);
    assert_non_null(f = fopen(path, "wb"));
    assert_int_equal(fwrite("\x1f\x8b", 2, 1, f), 1);
    assert_int_equal(ftruncate(fileno(f), 100 << 10), 0);
    assert_int_equal(fclose(f), 0);
    assert_true(keeps_parts(folder, "big.txt.gz", 0));
    assert_true(keeps_parts(folder, "big.txt.gz", (100 << 10) - 1)); /* its size stands there */
    test_remove(folder);
}

/* ---- a large text, by its parts ------------------------------------------------------------------ */

/* Rows of a table of this name, or lines of a list. */
static void write_rows(fo_buf *out, bool table, size_t n) {
    fo_buf_clear(out);
    if (table) fo_buf_str(out, "Day,Water,Remark\n");
    for (unsigned i = 1; out->len < n; i++)
        if (table)
            fo_buf_printf(out, "%u,%u,%08x\n", i, i * 7919 % 907, i * 2654435761u);
        else
            fo_buf_printf(out, "- **%u**: the water stood at %u\n", i, i * 7919 % 907);
    assert_false(out->failed);
}

/* Packed by gzip, and what proves it is another sum. */
static void pack_damaged(fo_buf *out, const fo_buf *text) {
    size_t n = compressBound(text->len) + 64;
    unsigned char *packed = malloc(n);
    z_stream z = {.next_in = (unsigned char *)text->data,
                  .avail_in = (unsigned)text->len,
                  .next_out = packed,
                  .avail_out = (unsigned)n};
    assert_non_null(packed);
    assert_int_equal(deflateInit2(&z, 1, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    packed[z.total_out - 8] ^= 1;
    fo_buf_add(out, packed, z.total_out);
    deflateEnd(&z);
    free(packed);
}

static const folder_file *listed(const folder_listing *l, const char *path) {
    for (size_t i = 0; i < l->n; i++)
        if (!strcmp(l->files[i].path, path)) return &l->files[i];
    return NULL;
}

/* Part `number` of the text, with the name that its form is told by. */
static ingest_document part_of(sync_archives *a, const folder_listing *l, const char *text,
                               unsigned number) {
    char path[128];
    ingest_document d = {0};
    fo_err why = {0};
    const char *slash = strrchr(text, '/');
    snprintf(path, sizeof path, "%s/part-%06u", text, number);
    const folder_file *f = listed(l, path);
    assert_non_null(f);
    assert_ok(sync_archives_get(a, f->member, &d, &why), &why);
    assert_non_null(d.file_name);
    assert_string_equal(d.file_name, slash ? slash + 1 : text);
    return d;
}

static void drop(ingest_document d) {
    free((char *)d.bytes);
}

/* Of a table: its names first, then rows of which it knows where they stand. */
static void expect_rows(ingest_document d) {
    assert_int_equal(d.header_rows, 1);
    assert_true(d.first_row > 1000);
    assert_memory_equal(d.bytes, "Day,Water,Remark\n", 17);
    drop(d);
}

static void a_large_text_comes_by_its_parts_in_an_archive_too(void **state) {
    (void)state;
    char *home = test_folder(), *folder = test_folder();
    fo_err err = {0};
    service *s;
    service_options opt = {
        .home = home, .n_threads = 1, .primes_per_s = -1, .worker_program = "/proc/self/exe"};
    assert_ok(service_open(&s, &opt, &err), &err);
    fo_buf tar = {0}, text = {0}, packed = {0};
    add_file(&tar, "twice.md", "A small one, and then a large one.");
    write_rows(&text, false, LARGE);
    write_file(folder, "big.md", &text);
    add_bytes(&tar, "twice.md", text.data, text.len);
    add_bytes(&tar, "shrunk.md", text.data, text.len);
    add_file(&tar, "shrunk.md", "It was large before.");
    write_rows(&text, true, LARGE);
    add_bytes(&tar, "in/days.csv", text.data, text.len);
    pack_damaged(&packed, &text);
    add_bytes(&tar, "torn.csv.gz", packed.data, packed.len);
    write_ended(folder, &tar);
    sync_archives a = {.s = s, .folder = open(folder, O_RDONLY | O_DIRECTORY)};
    assert_true(a.folder >= 0);
    folder_walk walk = {0};
    folder_listing found;
    known_files known = {0};
    assert_ok(folder_walk_run(&walk, a.folder, &found, &err), &err);
    assert_ok(sync_archives_expand(&a, &found, &known, false, &err), &err);

    drop(part_of(&a, &found, "big.md", 2));
    expect_rows(part_of(&a, &found, "pack.tar/in/days.csv", 9));
    expect_rows(part_of(&a, &found, "pack.tar/in/days.csv", 3)); /* from the start again */
    drop(part_of(&a, &found, "pack.tar/twice.md", 1));
    assert_null(listed(&found, "pack.tar/in/days.csv"));
    assert_null(listed(&found, "pack.tar/twice.md")); /* what comes last counts */
    assert_null(listed(&found, "pack.tar/shrunk.md/part-000001"));
    assert_non_null(listed(&found, "pack.tar/shrunk.md"));

    expect_rows(part_of(&a, &found, "pack.tar/torn.csv.gz", 2)); /* before the damage */
    const folder_file *torn = listed(&found, "pack.tar/torn.csv.gz");
    ingest_document d = {0};
    assert_non_null(torn);
    assert_int_equal(sync_archives_get(&a, torn->member, &d, &err), FO_EINVAL);
    assert_non_null(strstr(err.msg, "gzip"));
    assert_int_equal(found.n_unseen, 1); /* parts of it that are known stay */
    assert_string_equal(found.unseen[0], "pack.tar/torn.csv.gz");
    close(a.folder);
    sync_archives_deinit(&a);
    folder_listing_deinit(&found);
    fo_buf_free(&text);
    fo_buf_free(&packed);
    service_close(s);
    test_remove(home);
    test_remove(folder);
}

int main(int argc, char **argv) {
    if (extract_is_worker(argc, argv)) return extract_worker_main(NULL, 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_member_is_the_one_that_was_listed),
        cmocka_unit_test(parts_of_a_text_that_cannot_be_read_stay),
        cmocka_unit_test(a_large_text_comes_by_its_parts_in_an_archive_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
