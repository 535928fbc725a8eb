/* Bytes of any kind through the registry and the chunker. The first byte chooses type and file name;
 * whatever comes out must be valid UTF-8 without NUL, in ordered blocks; and whatever goes in must
 * end within the budget of time and memory that it was given. */
#include <string.h>

#include "data/chunk/chunk.h"
#include "kernels/utf8.h"
#include "tests/fuzz/extract_here.h"
#include "tests/fuzz/fuzz.h"

enum { LIMIT = 1 << 20, MAX_BYTES = 3 << 20, CPU_MS = 300 };

/* Past its time a document may go on for what lies between two looks at the clock; the sanitizers
 * make that longer. */
enum { GRACE_MS = 700 };

static void check_blocks(const extracted *x) {
    FUZZ_CHECK(x->len <= LIMIT && strlen(x->text) == x->len);
    FUZZ_CHECK(fo_utf8_valid(x->text, x->len, NULL));
    FUZZ_CHECK(!x->title || fo_utf8_valid(x->title, strlen(x->title), NULL));
    size_t at = 0;
    for (size_t i = 0; i < x->n_blocks; i++) {
        const text_block *b = &x->blocks[i];
        FUZZ_CHECK(b->start >= at && b->end > b->start && b->end <= x->len);
        FUZZ_CHECK(b->place <= x->n_places);
        at = b->end;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const types[] = {NULL,
                                        "text/html",
                                        "text/markdown",
                                        "text/troff",
                                        "text/plain",
                                        "text/html; charset=shift_jis",
                                        "text/plain; charset=utf-16be",
                                        "text/plain; charset=iso-2022-jp"};
    static const char *const names[] = {NULL, "a.3", "b.md.gz", "README"};
    if (size < 1) return 0;
    doc_budget budget = {.cpu_ms = CPU_MS, .max_bytes = MAX_BYTES};
    doc_budget_begin(&budget);
    extracted x;
    extract_request rq = {.bytes = data + 1,
                          .n = size - 1,
                          .content_type = types[data[0] & 7],
                          .file_name = names[data[0] >> 3 & 3],
                          .is_text = data[0] >> 5 & 1,
                          .max_text_bytes = LIMIT,
                          .budget = &budget};
    double began = thread_ms();
    int rc = extract_text(&x, &rq, NULL);
    FUZZ_CHECK(thread_ms() - began < CPU_MS + GRACE_MS);
    FUZZ_CHECK(budget.most <= MAX_BYTES);
    if (rc) {
        FUZZ_CHECK(budget.used == 0 && !x.text && !x.blocks);
        return 0;
    }
    check_blocks(&x);
    chunk *chunks;
    size_t n_chunks;
    chunk_options opt = {.max_tokens = 64, .overlap = 16, .budget = &budget};
    rc = chunk_text(&chunks, &n_chunks, &x, &opt, NULL);
    FUZZ_CHECK(thread_ms() - began < CPU_MS + GRACE_MS);
    FUZZ_CHECK(budget.most <= MAX_BYTES);
    FUZZ_CHECK(!rc || rc == budget.failure);
    free(chunks);
    extracted_deinit(&x);
    return 0;
}
