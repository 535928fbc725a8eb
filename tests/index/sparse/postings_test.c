/* Blocks of postings as a damaged file has them: what lies outside of a block, or adds up only by wrapping around, is refused. */
#include "tests/test.h"

#include "index/format/varint.h"
#include "index/sparse/postings.h"

enum { HEADER = 4, BASE = 7 };

/* 128 documents of which all follow each other but for two gaps, which stand as exceptions to numbers of no bits. */
static size_t two_gaps(uint8_t *b, uint8_t first, uint64_t gap, uint8_t second, uint64_t other) {
    size_t n = 0;
    b[n++] = 0; /* bits of a gap, of a frequency, and how many exceptions each has */
    b[n++] = 0;
    b[n++] = 2;
    b[n++] = 0;
    b[n++] = first;
    n += varint_put(b + n, gap);
    b[n++] = second;
    return n + varint_put(b + n, other);
}

static bool decodes(const uint8_t *b, size_t n, uint32_t last, uint32_t *docs) {
    uint32_t tfs[POSTINGS_BLOCK];
    bool has_tfs;
    /* Of its own size, so that a sanitizer sees a byte read behind it. */
    uint8_t *copy = malloc(n);
    memcpy(copy, b, n);
    const bool ok = postings_decode_docs(copy, n, POSTINGS_BLOCK, BASE, last, docs, tfs, &has_tfs);
    free(copy);
    return ok;
}

static void exceptions_stand_within_the_block(void **state) {
    (void)state;
    uint8_t b[64];
    uint32_t docs[2 * POSTINGS_BLOCK] = {0};
    const uint32_t last = BASE + 100 + 50 + POSTINGS_BLOCK - 1;
    size_t n = two_gaps(b, 10, 100, 20, 50);
    assert_true(decodes(b, n, last, docs));
    assert_int_equal(docs[9], BASE + 9);
    assert_int_equal(docs[10], BASE + 110);
    assert_int_equal(docs[POSTINGS_BLOCK - 1], last);
    for (size_t cut = HEADER; cut < n; cut++) assert_false(decodes(b, cut, last, docs));
    for (int place = POSTINGS_BLOCK; place < 256; place++) {
        n = two_gaps(b, 10, 150, (uint8_t)place, 1);
        assert_false(decodes(b, n, last, docs));
        assert_int_equal(docs[place], 0); /* nothing was written there */
    }
}

/* Two gaps of 2^31 and some come to a sum of 32 bits that looks right, with documents between that are not there. */
static void gaps_do_not_wrap_around(void **state) {
    (void)state;
    uint8_t b[64];
    uint32_t docs[POSTINGS_BLOCK];
    const uint64_t half = (uint64_t)1 << 31;
    const uint32_t last = BASE + 100 + 50 + POSTINGS_BLOCK - 1;
    size_t n = two_gaps(b, 10, half + 100, 20, half + 50);
    assert_false(decodes(b, n, last, docs));
}

/* Few documents, or irregular ones, are integers of a varying number of bytes: a document below 2 bits, the lowest of which says
 * that its frequency follows. */
static void the_short_form_ends_where_it_says(void **state) {
    (void)state;
    uint8_t b[64] = {0xFF};
    uint32_t docs[POSTINGS_BLOCK], tfs[POSTINGS_BLOCK];
    bool has_tfs;
    size_t n = 1;
    n += varint_put(b + n, 3 << 1 | 1);
    n += varint_put(b + n, 5);
    n += varint_put(b + n, 4 << 1);
    assert_true(postings_decode_docs(b, n, 2, 0, 8, docs, tfs, &has_tfs));
    assert_true(has_tfs && docs[0] == 3 && docs[1] == 8 && tfs[0] == 7 && tfs[1] == 1);
    assert_false(postings_decode_docs(b, n, 2, 0, 9, docs, tfs, &has_tfs)); /* not the last */
    assert_false(postings_decode_docs(b, n, 2, 0, 7, docs, tfs, &has_tfs));
    n = 1;
    n += varint_put(b + n, 3 << 1 | 1);
    n += varint_put(b + n, (uint64_t)1 << 32); /* would be 2 in 32 bits */
    assert_false(postings_decode_docs(b, n, 1, 0, 3, docs, tfs, &has_tfs));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exceptions_stand_within_the_block),
        cmocka_unit_test(gaps_do_not_wrap_around),
        cmocka_unit_test(the_short_form_ends_where_it_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
