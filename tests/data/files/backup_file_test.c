/* data/files/backup_file.c: what was put in comes out; any bit changed, anything cut off or added is
 * refused; names and members that lead out of the folder are refused though their checksum is right. */
#include "tests/test.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "data/files/backup_file.h"
#include "kernels/file.h"
#include "kernels/sha256.h"

static char *path_in(const char *dir, const char *name) {
    char *path;
    assert_true(asprintf(&path, "%s/%s", dir, name) > 0);
    return path;
}

static void make(const char *path, const char *source) {
    fo_err err = {0};
    backup_writer *w;
    assert_ok(backup_create(&w, path, &err), &err);
    assert_ok(backup_add_bytes(w, "HEAD", "first\n", 6, &err), &err);
    assert_ok(backup_add_bytes(w, "a/b/empty", "", 0, &err), &err);
    assert_ok(backup_add_file(w, "a/b/large", source, &err), &err);
    assert_ok(backup_commit(w, &err), &err);
}

static void expect_file(const char *dir, const char *name, const void *want, size_t n) {
    fo_err err = {0};
    char *path = path_in(dir, name), *data;
    size_t size;
    struct stat st;
    assert_ok(fo_file_read(path, 1 << 24, &data, &size, &err), &err);
    assert_int_equal(size, n);
    assert_memory_equal(data, want, n);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    free(data);
    free(path);
}

static void what_was_put_in_comes_out(void **state) {
    (void)state;
    fo_err err = {0};
    uint64_t seed = test_seed();
    char *dir = test_folder(), *source = path_in(dir, "source"), *file = path_in(dir, "x.tar.zst"),
         *out = path_in(dir, "out");
    enum { N = 700001 };
    unsigned char *bytes = malloc(N);
    for (size_t i = 0; i < N; i++) bytes[i] = (unsigned char)(test_random(&seed) >> (i / 1000 % 8));
    assert_ok(fo_file_put(source, bytes, N, &err), &err);
    make(file, source);
    bool is = false;
    assert_ok(backup_is(file, &is, &err), &err);
    assert_true(is);
    assert_ok(backup_is(source, &is, &err), &err);
    assert_false(is);
    assert_ok(backup_extract(file, out, &err), &err);
    expect_file(out, "HEAD", "first\n", 6);
    expect_file(out, "a/b/empty", "", 0);
    expect_file(out, "a/b/large", bytes, N);
    free(bytes), free(source), free(file), free(out);
    test_remove(dir);
}

static void any_change_is_refused(void **state) {
    (void)state;
    fo_err err = {0};
    char *dir = test_folder(), *source = path_in(dir, "source"), *file = path_in(dir, "x.tar.zst"),
         *bad = path_in(dir, "bad"), *out = path_in(dir, "out"), *data;
    size_t n;
    assert_ok(fo_file_put(source, "the weir is closed", 18, &err), &err);
    make(file, source);
    assert_ok(fo_file_read(file, 1 << 20, &data, &n, &err), &err);
    assert_ok(fo_file_put(bad, data, n, &err), &err);
    int fd = open(bad, O_WRONLY | O_CLOEXEC);
    for (size_t bit = 0; bit < 8 * n; bit++) {
        char byte = (char)(data[bit / 8] ^ 1 << bit % 8);
        assert_int_equal(pwrite(fd, &byte, 1, (off_t)(bit / 8)), 1);
        if (backup_check(bad, &err) != FO_ECORRUPT) fail_msg("bit %zu is not seen", bit);
        assert_int_equal(pwrite(fd, &data[bit / 8], 1, (off_t)(bit / 8)), 1);
    }
    assert_ok(backup_check(bad, &err), &err);
    for (size_t cut = n; cut-- > 0;) {
        assert_int_equal(ftruncate(fd, (off_t)cut), 0);
        if (backup_extract(bad, out, &err) != FO_ECORRUPT) fail_msg("cut to %zu is not seen", cut);
    }
    close(fd);
    assert_int_not_equal(access(out, F_OK), 0); /* nothing was unpacked of any */
    print_message("# %zu bits, %zu lengths\n", 8 * n, n);
    free(data), free(source), free(file), free(bad), free(out);
    test_remove(dir);
}

/* With a checksum that fits; 48 bytes more have room in buffer. */
static void seal(const char *path, unsigned char *buffer, size_t n) {
    unsigned char tail[48] = {0x5b, 0x2a, 0x4d, 0x18, 40,  0,   0,   0,
                              'F',  'O',  'R',  'A',  'G', 'E', 'B', '1'};
    fo_err err = {0};
    memcpy(buffer + n, tail, sizeof tail);
    fo_sha256_of(tail + 16, buffer, n + 16);
    memcpy(buffer + n + 16, tail + 16, 32);
    assert_ok(fo_file_put(path, buffer, n + 48, &err), &err);
}

/* An archive that is no work of ours, with a checksum that fits. */
static void forge(const char *path, const char *name, mode_t type, const char *link) {
    unsigned char buffer[1 << 16];
    size_t n = 0;
    struct archive *a = archive_write_new();
    archive_write_set_format_pax_restricted(a);
    archive_write_add_filter_zstd(a);
    archive_write_set_bytes_in_last_block(a, 1);
    assert_int_equal(archive_write_open_memory(a, buffer, sizeof buffer, &n), ARCHIVE_OK);
    struct archive_entry *e = archive_entry_new();
    archive_entry_set_pathname(e, name);
    archive_entry_set_filetype(e, type);
    archive_entry_set_perm(e, 0777);
    if (type == AE_IFLNK) archive_entry_set_symlink(e, link);
    if (type == AE_IFREG && link) archive_entry_set_hardlink(e, link);
    archive_entry_set_size(e, type == AE_IFREG && !link ? 4 : 0);
    assert_int_equal(archive_write_header(a, e), ARCHIVE_OK);
    if (type == AE_IFREG && !link) archive_write_data(a, "evil", 4);
    archive_entry_free(e);
    archive_write_close(a);
    archive_write_free(a);
    seal(path, buffer, n);
}

/* A head alone, of a file of so many bytes. */
static void forge_size(const char *path, uint64_t bytes) {
    unsigned char buffer[1 << 16], head[512] = "large";
    size_t n = 0;
    unsigned sum = 8 * ' ';
    memcpy(head + 100, "0000600", 7);
    head[124] = 0x80; /* in binary */
    for (int i = 0; i < 8; i++) head[135 - i] = (unsigned char)(bytes >> (8 * i));
    head[156] = '0';
    memcpy(head + 257, "ustar\00000", 8);
    for (size_t i = 0; i < sizeof head; i++) sum += head[i];
    snprintf((char *)head + 148, 8, "%06o", sum);
    struct archive *a = archive_write_new();
    archive_write_set_format_raw(a);
    archive_write_add_filter_zstd(a);
    archive_write_set_bytes_in_last_block(a, 1);
    assert_int_equal(archive_write_open_memory(a, buffer, sizeof buffer, &n), ARCHIVE_OK);
    struct archive_entry *e = archive_entry_new();
    archive_entry_set_filetype(e, AE_IFREG);
    assert_int_equal(archive_write_header(a, e), ARCHIVE_OK);
    assert_int_equal(archive_write_data(a, head, sizeof head), sizeof head);
    archive_entry_free(e);
    archive_write_close(a);
    archive_write_free(a);
    seal(path, buffer, n);
}

static void what_has_no_room_is_not_begun(void **state) {
    (void)state;
    char *dir = test_folder(), *file = path_in(dir, "x.tar.zst"), *out = path_in(dir, "out"),
         *large = path_in(out, "large");
    fo_err err = {0};
    forge_size(file, 1ull << 60);
    assert_ok(backup_check(file, &err), &err);
    assert_int_equal(backup_extract(file, out, &err), FO_ENOSPC);
    assert_non_null(strstr(err.msg, "1152921504606846976 bytes"));
    assert_int_not_equal(access(large, F_OK), 0);
    free(file), free(out), free(large);
    test_remove(dir);
}

static void members_stay_in_the_folder(void **state) {
    (void)state;
    static const struct {
        const char *name;
        mode_t type;
        const char *link;
        int code;
    } rows[] = {{"fine", AE_IFREG, NULL, FO_OK},
                {"../out-of-it", AE_IFREG, NULL, FO_ECORRUPT},
                {"a/../../out-of-it", AE_IFREG, NULL, FO_ECORRUPT},
                {"/tmp/forage-out-of-it", AE_IFREG, NULL, FO_ECORRUPT},
                {"a//b", AE_IFREG, NULL, FO_ECORRUPT},
                {"./a", AE_IFREG, NULL, FO_ECORRUPT},
                {"link", AE_IFLNK, "/etc/passwd", FO_ECORRUPT},
                {"hard", AE_IFREG, "../source", FO_ECORRUPT},
                {"folder", AE_IFDIR, NULL, FO_ECORRUPT},
                {"pipe", AE_IFIFO, NULL, FO_ECORRUPT}};
    char *dir = test_folder(), *file = path_in(dir, "x.tar.zst"), *out = path_in(dir, "out"),
         *outside = path_in(dir, "out-of-it");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fo_err err = {0};
        forge(file, rows[i].name, rows[i].type, rows[i].link);
        assert_ok(backup_check(file, &err), &err);
        int rc = backup_extract(file, out, &err);
        if (rc != rows[i].code) fail_msg("%s: %d %s", rows[i].name, rc, err.msg);
        assert_int_not_equal(access(outside, F_OK), 0);
    }
    assert_int_not_equal(access("/tmp/forage-out-of-it", F_OK), 0);
    free(file), free(out), free(outside);
    test_remove(dir);
}

static void nothing_is_there_before_the_end(void **state) {
    (void)state;
    fo_err err = {0};
    char *dir = test_folder(), *file = path_in(dir, "x.tar.zst");
    backup_writer *w;
    assert_ok(backup_create(&w, file, &err), &err);
    assert_ok(backup_add_bytes(w, "a", "b", 1, &err), &err);
    assert_int_equal(backup_add_bytes(w, "../a", "b", 1, &err), FO_EINVAL);
    assert_int_not_equal(access(file, F_OK), 0);
    backup_abort(w);
    assert_int_equal(rmdir(dir), 0); /* nothing is left behind */
    assert_int_equal(mkdir(dir, 0700), 0);
    const atomic_bool gone = true;
    assert_ok(backup_create(&w, file, &err), &err);
    backup_set_cancel(w, &gone);
    assert_int_equal(backup_add_file(w, "a", "/proc/self/exe", &err), FO_ECANCELLED);
    backup_abort(w);
    assert_int_equal(rmdir(dir), 0);
    assert_int_equal(backup_create(&w, "/nonexistent-folder/x", &err), FO_ENOTFOUND);
    free(file);
    free(dir);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_put_in_comes_out),
        cmocka_unit_test(any_change_is_refused),
        cmocka_unit_test(members_stay_in_the_folder),
        cmocka_unit_test(what_has_no_room_is_not_begun),
        cmocka_unit_test(nothing_is_there_before_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
