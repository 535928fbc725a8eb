/* Integers of a varying number of bytes: what is written is read back, in as many bytes as are said, and what is too large or cut
 * off is refused. */
#include "tests/test.h"

#include "index/format/varint.h"

static void what_is_written_is_read(void **state) {
    (void)state;
    for (int bits = 0; bits <= 64; bits++)
        for (int less = 0; less < 2; less++) {
            const uint64_t v = (bits == 64 ? 0 : (uint64_t)1 << bits) - (uint64_t)less;
            uint8_t b[VARINT_MAX_BYTES + 1];
            uint64_t is = ~v;
            uint32_t is32 = 0;
            const size_t n = varint_put(b, v);
            assert_int_equal(n, varint_size(v));
            assert_ptr_equal(varint_get(b, b + sizeof b, &is), b + n);
            assert_int_equal(is, v);
            for (size_t cut = 0; cut < n; cut++) assert_null(varint_get(b, b + cut, &is));
            const uint8_t *end = varint_get32(b, b + n, &is32);
            assert_ptr_equal(end, v <= UINT32_MAX ? b + n : NULL);
            if (end) assert_int_equal(is32, v);
        }
}

static void more_than_64_bits_are_refused(void **state) {
    (void)state;
    uint64_t v;
    uint8_t most[] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1};
    assert_non_null(varint_get(most, most + sizeof most, &v));
    assert_true(v == UINT64_MAX);
    most[9] = 2; /* the 65th bit */
    assert_null(varint_get(most, most + sizeof most, &v));
    const uint8_t long_zero[] = {0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0};
    assert_null(varint_get(long_zero, long_zero + sizeof long_zero, &v));
}

static void signed_ones_are_small_where_they_are_near_zero(void **state) {
    (void)state;
    static const int64_t values[] = {0, -1, 1, -2, 2, INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        const uint64_t code = zigzag_encode(values[i]);
        if (i < 5) assert_int_equal(code, i);
        assert_true(zigzag_decode(code) == values[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(more_than_64_bits_are_refused),
        cmocka_unit_test(signed_ones_are_small_where_they_are_near_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
