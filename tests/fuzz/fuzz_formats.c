/* Bytes of any kind through the readers of text formats that go by a file's name (markup, subtitles, calendars,
 * data, source code), in this process: what comes out is valid UTF-8 in ordered blocks with places that are there,
 * and what goes in ends within its budget. The first byte chooses the name. */
#include <string.h>

#include "data/chunk/chunk.h"
#include "kernels/utf8.h"
#include "tests/fuzz/extract_here.h"
#include "tests/fuzz/fuzz.h"

enum { LIMIT = 1 << 20, MAX_BYTES = 6 << 20, CPU_MS = 500, GRACE_MS = 1500 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const names[] = {"a.rst", "a.adoc", "a.org",   "a.tex",  "a.srt",  "a.vtt",
                                        "a.ass", "a.ics",  "a.vcf",   "a.json", "a.yaml", "a.xml",
                                        "a.c",   "a.py",   "a.js",    "a.rb",   "a.sql",  "a.lua",
                                        "a.sh",  "a.go",   "a.jsonl", "a.php",  "a.pl",   "a.r"};
    if (size < 1) return 0;
    extract_format here[MAX_ROWS];
    doc_budget budget = {.cpu_ms = CPU_MS, .max_bytes = MAX_BYTES};
    doc_budget_begin(&budget);
    extracted x;
    extract_request rq = {.bytes = data + 1,
                          .n = size - 1,
                          .file_name = names[data[0] % (sizeof names / sizeof *names)],
                          .max_text_bytes = LIMIT,
                          .budget = &budget,
                          .formats = here,
                          .n_formats = rows_of_here(here)};
    double began = thread_ms();
    fo_err err = {0};
    int rc = extract_text(&x, &rq, &err);
    FUZZ_CHECK(thread_ms() - began < CPU_MS + GRACE_MS);
    FUZZ_CHECK(budget.most <= MAX_BYTES);
    if (rc) {
        FUZZ_CHECK(err.msg[0] && fo_utf8_valid(err.msg, strlen(err.msg), NULL));
        FUZZ_CHECK(budget.used == 0 && !x.text && !x.blocks);
        return 0;
    }
    FUZZ_CHECK(x.len <= LIMIT && strlen(x.text) == x.len && fo_utf8_valid(x.text, x.len, NULL));
    FUZZ_CHECK(!x.title || fo_utf8_valid(x.title, strlen(x.title), NULL));
    size_t at = 0;
    for (size_t i = 0; i < x.n_blocks; i++) {
        const text_block *b = &x.blocks[i];
        FUZZ_CHECK(b->start >= at && b->end > b->start && b->end <= x.len);
        FUZZ_CHECK(b->place <= x.n_places);
        FUZZ_CHECK(fo_utf8_boundary(x.text[b->start]) && fo_utf8_boundary(x.text[b->end]));
        at = b->end;
    }
    chunk *chunks;
    size_t n_chunks;
    chunk_options opt = {.max_tokens = 64, .overlap = 16, .budget = &budget};
    rc = chunk_text(&chunks, &n_chunks, &x, &opt, NULL);
    FUZZ_CHECK(!rc || rc == budget.failure);
    free(chunks);
    extracted_deinit(&x);
    return 0;
}
