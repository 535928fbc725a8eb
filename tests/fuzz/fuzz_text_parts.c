/* Texts that go in by parts: anything as packed text, as UTF-16, as a table, in pieces of any size. The first byte says what it
 * is taken for, the second how long the pieces are. What comes out does not depend on the pieces, is UTF-8 where it was
 * wide, is cut where a part is full, and each part of a table can be read. */
#include <string.h>

#include "data/extract/extract.h"
#include "data/extract/text_parts.h"
#include "data/extract/text_unwrap.h"
#include "kernels/sha256.h"
#include "kernels/utf8.h"
#include "tests/fuzz/fuzz.h"

typedef struct parts {
    text_kind kind;
    fo_sha256 all;
    size_t n;
    uint64_t at;
    uint32_t row;
} parts;

static void read_part(const text_part *p) {
    doc_budget budget = {.cpu_ms = 20000, .max_bytes = 64 << 20};
    doc_budget_begin(&budget);
    extracted x;
    extract_request rq = {.bytes = p->bytes,
                          .n = p->n,
                          .file_name = "t.csv",
                          .max_text_bytes = 16 << 20,
                          .budget = &budget,
                          .first_row = p->first_row,
                          .header_rows = p->header_rows};
    if (extract_text(&x, &rq, NULL)) return;
    for (size_t i = 0; i < x.n_blocks; i++) FUZZ_CHECK(x.blocks[i].end <= x.len);
    extracted_deinit(&x);
}

static int on_part(void *ctx, const text_part *p, fo_err *err) {
    (void)err;
    parts *to = ctx;
    FUZZ_CHECK(p->number == ++to->n && p->n > p->n_repeated && p->n <= TEXT_PART_BYTES);
    FUZZ_CHECK(p->at == to->at);
    FUZZ_CHECK(!p->header_rows == !p->n_repeated && p->first_row >= to->row);
    FUZZ_CHECK(!to->kind.wide || fo_utf8_valid(p->bytes, p->n, NULL));
    to->at += p->n - p->n_repeated;
    to->row = p->first_row;
    fo_sha256_add(&to->all, p->bytes, p->n);
    if (to->kind.table) read_part(p);
    return FO_OK;
}

/* True: nothing is wrong with it. */
static bool cut(parts *to, text_kind kind, const uint8_t *s, size_t n, size_t piece,
                unsigned char sha256[32]) {
    fo_err err = {0};
    *to = (parts){.kind = kind};
    fo_sha256_begin(&to->all);
    text_cutter c = {.kind = kind, .part = on_part, .ctx = to};
    for (size_t at = 0; at < n; at += piece)
        FUZZ_CHECK(!text_cutter_feed(&c, s + at, n - at < piece ? n - at : piece, &err));
    FUZZ_CHECK(!text_cutter_end(&c, FO_OK, &err));
    fo_sha256_end(&to->all, sha256);
    return !c.bad.code;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2) return 0;
    text_kind kind = {.gzip = data[0] & 1, .table = data[0] & 2, .wide = (data[0] >> 2) % 3};
    unsigned char a[32], b[32];
    parts one, other;
    text_kind said;
    extract_in_parts(data + 2, size - 2, NULL, kind.table ? "t.csv" : "t.txt", &said);
    bool well = cut(&one, kind, data + 2, size - 2, size, a);
    if (cut(&other, kind, data + 2, size - 2, 1u + data[1], b) && well) {
        FUZZ_CHECK(one.n == other.n && one.at == other.at);
        FUZZ_CHECK(!memcmp(a, b, 32));
    }
    return 0;
}
