/* Bytes of any kind through the readers of Office files, books, rich text and mail, in this process: what comes out is
 * valid UTF-8 in ordered blocks with places that are there, and what goes in ends within its budget. */
#include <string.h>

#include "data/extract/extract.h"
#include "kernels/utf8.h"
#include "tests/fuzz/extract_here.h"
#include "tests/fuzz/fuzz.h"

enum { LIMIT = 1 << 20, MAX_BYTES = 4 << 20, CPU_MS = 500, GRACE_MS = 1500 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    extract_format here[MAX_ROWS];
    doc_budget budget = {.cpu_ms = CPU_MS, .max_bytes = MAX_BYTES};
    doc_budget_begin(&budget);
    extracted x;
    extract_request rq = {.bytes = data,
                          .n = size,
                          .max_text_bytes = LIMIT,
                          .budget = &budget,
                          .formats = here,
                          .n_formats = rows_of_here(here)};
    double began = thread_ms();
    fo_err err = {0};
    int rc = extract_text(&x, &rq, &err);
    FUZZ_CHECK(thread_ms() - began < CPU_MS + GRACE_MS + (double)budget.granted / 4096);
    FUZZ_CHECK(budget.most <= MAX_BYTES);
    if (rc) {
        FUZZ_CHECK(err.msg[0] && fo_utf8_valid(err.msg, strlen(err.msg), NULL));
        FUZZ_CHECK(budget.used == 0 && !x.text && !x.blocks);
        return 0;
    }
    FUZZ_CHECK(x.len <= LIMIT && strlen(x.text) == x.len && fo_utf8_valid(x.text, x.len, NULL));
    size_t at = 0;
    for (size_t i = 0; i < x.n_blocks; i++) {
        const text_block *b = &x.blocks[i];
        FUZZ_CHECK(b->start >= at && b->end > b->start && b->end <= x.len);
        FUZZ_CHECK(b->place <= x.n_places);
        at = b->end;
    }
    extracted_deinit(&x);
    return 0;
}
