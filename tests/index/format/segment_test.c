/* segment_test.c - the container: what was written comes back, and no row of the table is believed
 * because its checksum is right. */
#include "tests/test.h"

#include <unistd.h>
#include <zlib.h>

#include "index/format/segment.h"

enum {
    HEADER = 64,
    ROW = 32,
    TABLE = SEGMENT_MAX_SECTIONS * ROW,
    LARGE = SEGMENT_EAGER_BYTES + 70
};

static unsigned char small[100], large[LARGE];

/* A file's bytes: a small section and one that opening does not read. */
static unsigned char *write_segment(const char *path, size_t *size) {
    fo_err err = {0};
    segment_writer *w;
    for (size_t i = 0; i < sizeof small; i++) small[i] = (unsigned char)(i * 7);
    for (size_t i = 0; i < LARGE; i++) large[i] = (unsigned char)(i * 13);
    assert_ok(segment_writer_create(&w, path, &err), &err);
    assert_ok(segment_writer_section(w, SECTION_LENGTHS, small, sizeof small, &err), &err);
    assert_ok(segment_writer_section(w, SECTION_POSTINGS, large, LARGE, &err), &err);
    assert_ok(segment_writer_commit(w, &err), &err);
    char *data;
    assert_ok(fo_file_read(path, 1 << 24, &data, size, &err), &err);
    return (unsigned char *)data;
}

static int adopt(segment **out, const unsigned char *data, size_t size, fo_err *err) {
    void *copy = malloc(size);
    memcpy(copy, data, size);
    return segment_adopt(out, copy, size, err);
}

/* As a writer would have it: header and table with right checksums whatever they say. */
static void sign(unsigned char *data) {
    uint32_t table = (uint32_t)crc32_z(0, data + HEADER, TABLE), head;
    memcpy(data + 24, &table, 4);
    head = (uint32_t)crc32_z(0, data, 60);
    memcpy(data + 60, &head, 4);
}

static void what_was_written_comes_back(void **state) {
    (void)state;
    char *dir = test_folder(), path[4096];
    snprintf(path, sizeof path, "%s/s", dir);
    size_t size, n;
    unsigned char *data = write_segment(path, &size);
    fo_err err = {0};
    segment *s;
    assert_ok(segment_open(&s, path, &err), &err);
    const void *p = segment_get(s, SECTION_LENGTHS, &n);
    assert_int_equal(n, sizeof small);
    assert_memory_equal(p, small, n);
    assert_int_equal((uintptr_t)p % SEGMENT_ALIGN, 0);
    p = segment_get(s, SECTION_POSTINGS, &n);
    assert_int_equal(n, LARGE);
    assert_memory_equal(p, large, n);
    assert_null(segment_get(s, SECTION_NORMS, &n));
    assert_int_equal(segment_get_array(s, SECTION_LENGTHS, 25, 4, &p, &err), FO_OK);
    assert_int_equal(segment_get_array(s, SECTION_LENGTHS, 26, 4, &p, &err), FO_ECORRUPT);
    assert_int_equal(segment_get_array(s, SECTION_LENGTHS, SIZE_MAX / 2, 4, &p, &err), FO_ECORRUPT);
    assert_ok(segment_verify(s, &err), &err);
    segment_close(s);
    free(data);
    test_remove(dir);
}

static void every_damaged_byte_is_found(void **state) {
    (void)state;
    uint64_t seed = test_seed();
    char *dir = test_folder(), path[4096];
    snprintf(path, sizeof path, "%s/s", dir);
    size_t size;
    unsigned char *data = write_segment(path, &size);
    fo_err err = {0};
    segment *s;
    assert_ok(adopt(&s, data, size, &err), &err);
    size_t at_small = 0, at_large = 0; /* both sections, found by what they hold */
    while (memcmp(data + at_small, small, sizeof small)) at_small++;
    at_large = size - LARGE;
    while (memcmp(data + at_large, large, LARGE)) at_large--;
    segment_close(s);
    for (int i = 0; i < 300; i++) {
        bool eager = i % 2;
        size_t at = eager ? test_random(&seed) % (HEADER + TABLE + sizeof small)
                          : at_large + test_random(&seed) % LARGE;
        if (eager && at >= HEADER + TABLE) at = at_small + at - HEADER - TABLE;
        unsigned char damage = (unsigned char)(1 + test_random(&seed) % 255);
        data[at] ^= damage;
        int rc = adopt(&s, data, size, &err);
        if (eager && !rc) fail_msg("byte %zu is not looked at", at);
        if (!eager) {
            assert_int_equal(rc, FO_OK); /* too large to be read at the opening */
            assert_int_equal(segment_verify(s, &err), FO_ECORRUPT);
            segment_check c = {0};
            bool done = false;
            while (!done && (rc = segment_verify_some(s, &c, 1 << 18, &done, &err)) == FO_OK)
                continue;
            assert_int_equal(rc, FO_ECORRUPT);
            segment_close(s);
        }
        data[at] ^= damage;
    }
    for (size_t cut = 0; cut < size; cut += cut < 1000 ? 37 : 99991) /* and every missing one */
        assert_int_equal(adopt(&s, data, cut ? cut : 1, &err), FO_ECORRUPT);
    data = realloc(data, size + 64); /* or one too many */
    memset(data + size, 0, 64);
    assert_int_equal(adopt(&s, data, size + 1, &err), FO_ECORRUPT);
    assert_int_equal(adopt(&s, data, size + 64, &err), FO_ECORRUPT);
    free(data);
    test_remove(dir);
}

static int verify_in_slices(const segment *s, fo_err *err) {
    segment_check c = {0};
    bool done = false;
    int rc = FO_OK;
    while (!rc && !done) rc = segment_verify_some(s, &c, 1 << 18, &done, err);
    return rc;
}

/* What is mapped of a file that was cut short cannot be looked at: it is a signal. */
static void a_file_that_is_cut_short_in_use_is_damaged(void **state) {
    (void)state;
    char *dir = test_folder(), path[4096];
    snprintf(path, sizeof path, "%s/s", dir);
    size_t size;
    free(write_segment(path, &size));
    fo_err err = {0};
    segment *s;
    const size_t cuts[] = {size - 1, size / 2, HEADER + TABLE + 5, 0};
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
        free(write_segment(path, &size));
        assert_ok(segment_open(&s, path, &err), &err);
        assert_int_equal(truncate(path, (off_t)cuts[i]), 0);
        assert_int_equal(segment_verify(s, &err), FO_ECORRUPT);
        assert_int_equal(verify_in_slices(s, &err), FO_ECORRUPT);
        segment_close(s);
    }
    test_remove(dir);
}

static void a_file_without_a_name_is_checked_where_it_is_mapped(void **state) {
    (void)state;
    char *dir = test_folder(), path[4096];
    snprintf(path, sizeof path, "%s/s", dir);
    size_t size;
    free(write_segment(path, &size));
    fo_err err = {0};
    segment *s;
    assert_ok(segment_open(&s, path, &err), &err);
    assert_int_equal(unlink(path), 0);
    assert_ok(segment_verify(s, &err), &err);
    assert_ok(verify_in_slices(s, &err), &err);
    segment_close(s);
    test_remove(dir);
}

static void a_row_with_a_right_checksum_is_not_believed(void **state) {
    (void)state;
    char *dir = test_folder(), path[4096];
    snprintf(path, sizeof path, "%s/s", dir);
    size_t size;
    unsigned char *data = write_segment(path, &size);
    fo_err err = {0};
    segment *s;
    uint64_t offset, length;
    memcpy(&offset, data + HEADER + ROW + 8, 8);
    memcpy(&length, data + HEADER + ROW + 16, 8);
    assert_int_equal(length, LARGE);
    const struct {
        uint64_t offset, size;
    } bad[] = {
        {offset, size - offset + 1},       /* one byte too long */
        {offset, UINT64_MAX},              /* the sum wraps round */
        {offset, UINT64_MAX - offset + 1}, /* to exactly nothing */
        {offset + 1, LARGE - 1},           /* not aligned */
        {0, LARGE},                        /* over the header */
        {(uint64_t)1 << 40, LARGE},        /* far outside */
        {UINT64_MAX - 63, SEGMENT_EAGER_BYTES + 1},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        memcpy(data + HEADER + ROW + 8, &bad[i].offset, 8);
        memcpy(data + HEADER + ROW + 16, &bad[i].size, 8);
        sign(data);
        err = (fo_err){0};
        if (adopt(&s, data, size, &err) != FO_ECORRUPT || !strstr(err.msg, "outside the file"))
            fail_msg("row %zu: %s", i, err.msg);
    }
    memcpy(data + HEADER + ROW + 8, &offset, 8);
    memcpy(data + HEADER + ROW + 16, &length, 8);
    sign(data);
    assert_ok(adopt(&s, data, size, &err), &err);
    segment_close(s);
    uint32_t many = SEGMENT_MAX_SECTIONS + 1;
    memcpy(data + 12, &many, 4);
    sign(data);
    assert_int_equal(adopt(&s, data, size, &err), FO_ECORRUPT);
    free(data);
    test_remove(dir);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_written_comes_back),
        cmocka_unit_test(every_damaged_byte_is_found),
        cmocka_unit_test(a_file_that_is_cut_short_in_use_is_damaged),
        cmocka_unit_test(a_file_without_a_name_is_checked_where_it_is_mapped),
        cmocka_unit_test(a_row_with_a_right_checksum_is_not_believed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
