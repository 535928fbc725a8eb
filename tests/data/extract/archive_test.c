/* Archives of each kind give their members in order, by a worker as in this process; what is left out and what is wrong
 * is said by name; bounds are held; and damaged variants of them all end, soon, with members or with a sentence. */
#include "tests/test.h"

#include <archive.h>
#include <archive_entry.h>
#include <locale.h>

#include "data/extract/archive.h"
#include "data/extract/extract_host.h"
#include "kernels/buf.h"
#include "kernels/clock.h"
#include "kernels/utf8.h"
#include "tests/data/extract/worker_time.h"

enum { ROOM = 1 << 20, VARIANTS = 200 };

static extract_host *host;

/* ---- archives that are made here ----------------------------------------------------------------- */

typedef struct file {
    const char *name, *text; /* text NULL: a link to "a.txt" */
} file;

static const file files[] = {{"a.txt", "The ferry leaves at eight."},
                             {"in/Fähre – plan.md", "# Plan\n\nAt noon too."},
                             {"../up.txt", "No way out."},
                             {"/etc/passwd.txt", "Not there."},
                             {".hidden/x.txt", "hidden"},
                             {"in/picture.png", "none"},
                             {"link.txt", NULL},
                             {"last.txt", "The end."}};
enum { N_FILES = sizeof files / sizeof *files };

static size_t pack(const char *kind, const file *list, size_t n, unsigned char *out) {
    struct archive *a = archive_write_new();
    size_t used = 0;
    assert_non_null(a);
    if (strncmp(kind, "zip", 3) == 0) archive_write_set_format_zip(a);
    if (strncmp(kind, "7z", 2) == 0) archive_write_set_format_7zip(a);
    if (strncmp(kind, "tar", 3) == 0) archive_write_set_format_pax_restricted(a);
    if (strstr(kind, ".gz")) archive_write_add_filter_gzip(a);
    if (strstr(kind, ".xz")) archive_write_add_filter_xz(a);
    if (strstr(kind, ".bz2")) archive_write_add_filter_bzip2(a);
    if (strstr(kind, ".zst")) archive_write_add_filter_zstd(a);
    if (strstr(kind, "locked")) {
        assert_int_equal(archive_write_set_options(a, "zip:encryption=traditional"), ARCHIVE_OK);
        archive_write_set_passphrase(a, "otter");
    }
    assert_int_equal(archive_write_open_memory(a, out, ROOM, &used), ARCHIVE_OK);
    for (size_t i = 0; i < n; i++) {
        struct archive_entry *e = archive_entry_new();
        archive_entry_set_pathname_utf8(e, list[i].name);
        archive_entry_set_perm(e, 0644);
        archive_entry_set_filetype(e, list[i].text ? AE_IFREG : AE_IFLNK);
        if (list[i].text)
            archive_entry_set_size(e, (la_int64_t)strlen(list[i].text));
        else
            archive_entry_set_symlink(e, "a.txt");
        assert_true(archive_write_header(a, e) >= ARCHIVE_WARN);
        if (list[i].text) archive_write_data(a, list[i].text, strlen(list[i].text));
        archive_entry_free(e);
    }
    assert_int_equal(archive_write_close(a), ARCHIVE_OK);
    archive_write_free(a);
    return used;
}

/* ---- what comes out ------------------------------------------------------------------------------- */

typedef struct taken {
    fo_buf said, bytes;
} taken;

static int on_bytes(void *ctx, const void *p, size_t n, fo_err *err) {
    (void)err;
    fo_buf_add(&((taken *)ctx)->bytes, p, n);
    return FO_OK;
}

static int on_member(void *ctx, const archive_member *m, fo_err *err) {
    (void)err;
    taken *t = ctx;
    static const char *const words[] = {"read", "skipped", "failed"};
    assert_true(fo_utf8_valid(m->name, strlen(m->name), NULL));
    fo_buf_printf(&t->said, "%s %s %s%.*s|", words[m->outcome], m->name, m->why, (int)t->bytes.len,
                  t->bytes.data ? t->bytes.data : "");
    fo_buf_clear(&t->bytes);
    return FO_OK;
}

static int take(taken *t, bool apart, const void *bytes, size_t n, const char *name,
                archive_bounds bounds, fo_err *err) {
    archive_request rq = {.bytes = bytes, .n = n, .file_name = name, .bounds = &bounds};
    archive_sink sink = {on_bytes, on_member, t};
    *t = (taken){0};
    *err = (fo_err){0};
    int rc = apart ? archive_unpack(host, &rq, &sink, err) : archive_walk(&rq, &sink, err);
    fo_buf_char(&t->said, 0);
    return rc;
}

static void drop(taken *t) {
    fo_buf_free(&t->said);
    fo_buf_free(&t->bytes);
}

static const archive_bounds plenty = {1000, 1 << 20, 1 << 20};

static void members_come_in_order(void **state) {
    (void)state;
    static const char *const kinds[] = {"zip",     "tar",     "tar.gz", "tar.xz",
                                        "tar.bz2", "tar.zst", "7z"};
    static const char expected[] = "read a.txt The ferry leaves at eight.|read in/Fähre – plan.md "
                                   "# Plan\n\nAt noon too.|read ../up.txt No way "
                                   "out.|read etc/passwd.txt Not there.|skipped .hidden/x.txt "
                                   "hidden|skipped in/picture.png .png|skipped link.txt "
                                   "link|read last.txt The end.|";
    unsigned char *out = malloc(ROOM);
    assert_non_null(out);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        size_t n = pack(kinds[k], files, N_FILES, out);
        assert_true(archive_is(out, n));
        for (int apart = 0; apart < 2; apart++) {
            taken t;
            fo_err err;
            assert_ok(take(&t, apart, out, n, "pack", plenty, &err), &err);
            /* libarchive writes the links of a 7-Zip archive last */
            if (strcmp(kinds[k], "7z") != 0 && strcmp(t.said.data, expected) != 0)
                fail_msg("%s, apart %d: %s", kinds[k], apart, t.said.data);
            assert_non_null(strstr(t.said.data, "read in/Fähre – plan.md # Plan"));
            assert_non_null(strstr(t.said.data, "skipped link.txt link"));
            drop(&t);
        }
    }
    free(out);
}

static void a_packed_file_is_one_member(void **state) {
    (void)state;
    unsigned char *out = malloc(ROOM);
    size_t used = 0;
    assert_non_null(out);
    struct archive *a = archive_write_new();
    archive_write_set_format_raw(a);
    archive_write_add_filter_xz(a);
    archive_write_open_memory(a, out, ROOM, &used);
    struct archive_entry *e = archive_entry_new();
    archive_entry_set_filetype(e, AE_IFREG);
    archive_write_header(a, e);
    archive_write_data(a, "The ferry.", 10);
    archive_entry_free(e);
    archive_write_close(a);
    archive_write_free(a);
    taken t;
    fo_err err;
    assert_true(archive_is(out, used));
    assert_ok(take(&t, true, out, used, "in/ferry.txt.xz", plenty, &err), &err);
    assert_string_equal(t.said.data, "read ferry.txt The ferry.|");
    drop(&t);
    free(out);
}

static void what_is_locked_says_so(void **state) {
    (void)state;
    unsigned char *out = malloc(ROOM);
    size_t n = pack("zip locked", files, 1, out);
    taken t;
    fo_err err;
    take(&t, true, out, n, "locked.zip", plenty, &err);
    assert_string_equal(t.said.data, "failed a.txt it is encrypted and asks for a password|");
    drop(&t);
    free(out);
}

static void bounds_are_held(void **state) {
    (void)state;
    unsigned char *out = malloc(ROOM);
    fo_err err;
    taken t;
    size_t n = pack("zip", files, 2, out);
    assert_int_equal(take(&t, true, out, n, "a.zip", (archive_bounds){1, 1000, 1000}, &err),
                     FO_ELIMIT);
    assert_string_equal(t.said.data, "read a.txt The ferry leaves at eight.|");
    assert_non_null(strstr(
        err.msg, "files that are allowed; in/Fähre – plan.md and what follows it was not read"));
    drop(&t);
    assert_int_equal(take(&t, true, out, n, "a.zip", (archive_bounds){9, 30, 1000}, &err),
                     FO_ELIMIT);
    assert_non_null(strstr(err.msg, "it unpacks to more than is allowed"));
    drop(&t);
    assert_ok(take(&t, true, out, n, "a.zip", (archive_bounds){9, 1000, 24}, &err), &err);
    assert_non_null(strstr(t.said.data, "failed a.txt it is larger than 24 bytes"));
    assert_non_null(strstr(t.said.data, "read in/Fähre – plan.md"));
    drop(&t);
    /* A bomb: 64 MiB of one letter in 64 KiB. */
    size_t big = 64 << 20;
    char *letters = malloc(big + 1);
    assert_non_null(letters);
    memset(letters, 'a', big);
    letters[big] = 0;
    n = pack("zip", (file[]){{"bomb.txt", letters}}, 1, out);
    assert_int_equal(
        take(&t, true, out, n, "bomb.zip", (archive_bounds){9, 1 << 30, 1 << 30}, &err), FO_ELIMIT);
    assert_non_null(strstr(err.msg, "it is made to do that"));
    drop(&t);
    free(letters);
    free(out);
}

/* A document that is a ZIP archive is none, nor is what holds one as it is; and the other way round. */
static void documents_are_no_archives(void **state) {
    (void)state;
    unsigned char *out = malloc(ROOM), *outer = malloc(ROOM);
    size_t n = pack("zip", (file[]){{"word/document.xml", "<a/>"}}, 1, out);
    assert_false(archive_is(out, n));
    n = pack("zip", (file[]){{"a.txt", "It speaks of word/document.xml and of xl/workbook.xml."}},
             1, out);
    assert_true(archive_is(out, n));
    n = pack("zip", (file[]){{"META-INF/MANIFEST.MF", "x"}}, 1, out);
    assert_false(archive_is(out, n));
    assert_false(archive_is("plain text", 10));
    assert_false(archive_is("", 0));
    free(out);
    free(outer);
}

static void damaged_variants_end(void **state) {
    (void)state;
    static const char *const kinds[] = {"zip",     "tar",     "tar.gz", "tar.xz",
                                        "tar.bz2", "tar.zst", "7z"};
    uint64_t seed = test_seed();
    unsigned char *out = malloc(ROOM), *copy = malloc(ROOM);
    assert_true(out && copy);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        size_t n = pack(kinds[k], files, N_FILES, out);
        for (size_t v = 0; v < test_rounds(VARIANTS); v++) {
            memcpy(copy, out, n);
            size_t left = test_random(&seed) % 3 ? n : test_random(&seed) % n;
            for (size_t i = 0; i < 1 + test_random(&seed) % 12; i++)
                copy[test_random(&seed) % n] ^= (unsigned char)(1u << test_random(&seed) % 8);
            taken t;
            fo_err err;
            worker_time before = worker_time_begin(host);
            int rc = take(&t, true, copy, left, kinds[k], plenty, &err);
            worker_time_check(host, before, kinds[k]);
            if (rc && (!err.msg[0] || !fo_utf8_valid(err.msg, strlen(err.msg), NULL)))
                fail_msg("%s: no sentence", kinds[k]);
            if (rc && (strstr(err.msg, "contradicts itself") || strstr(err.msg, "process that") ||
                       strstr(err.msg, "did not end within")))
                fail_msg("%s: %s", kinds[k], err.msg);
            drop(&t);
        }
    }
    free(out);
    free(copy);
}

static int set_up(void **state) {
    (void)state;
    fo_err err = {0};
    setlocale(LC_CTYPE, "C.UTF-8");
    return extract_host_create(&host, &(extract_host_options){.program = "/proc/self/exe"}, &err);
}

static int tear_down(void **state) {
    (void)state;
    extract_host_free(host);
    return 0;
}

int main(int argc, char **argv) {
    if (extract_is_worker(argc, argv)) return extract_worker_main(NULL, 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_come_in_order),     cmocka_unit_test(a_packed_file_is_one_member),
        cmocka_unit_test(what_is_locked_says_so),    cmocka_unit_test(bounds_are_held),
        cmocka_unit_test(documents_are_no_archives), cmocka_unit_test(damaged_variants_end),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
