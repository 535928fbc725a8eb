/* Anything as if pdftotext had said it of a PDF: pages come out as valid UTF-8 in ordered blocks, each with
 * a page that there is and a box of numbers, within the budget. */
#include <math.h>
#include <string.h>

#include "data/extract/extract.h"
#include "kernels/utf8.h"
#include "tests/fuzz/fuzz.h"

enum { LIMIT = 1 << 20, MAX_BYTES = 8 << 20 };

typedef struct source {
    const uint8_t *data;
    size_t n, at;
    int status;
} source;

/* In pieces of odd lengths, as pipes give them. */
static ptrdiff_t read_piece(void *ctx, char *buf, size_t n) {
    source *s = ctx;
    size_t k = 1 + (s->at * 7919) % 4093;
    if (k > n) k = n;
    if (k > s->n - s->at) k = s->n - s->at;
    memcpy(buf, s->data + s->at, k);
    s->at += k;
    return (ptrdiff_t)k;
}

static int end(void *ctx) {
    return ((source *)ctx)->status;
}

static const extract_format *pdf;
static source *now, tool;

/* pdftohtml says the same once more: an outline may stand in it. */
static int start_tool(void *ctx, uint32_t number, uint32_t page, const void *input, size_t n,
                      extract_stream *to, fo_err *err) {
    (void)ctx, (void)number, (void)page, (void)input, (void)n, (void)err;
    tool = (source){now->data, now->n, 0, 0};
    *to = (extract_stream){read_piece, end, &tool};
    return 0;
}

static int extract_here(struct builder *b, extract_input *in, fo_err *err) {
    extract_stream from = {read_piece, end, now};
    extract_tools tools = {start_tool, NULL};
    in->program = &from;
    in->tools = &tools;
    return pdf->extract(b, in, err);
}

static bool anything(const extract_input *in) {
    (void)in;
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1) return 0;
    for (size_t i = 0; !pdf; i++)
        if (extract_format_at(i)->program) pdf = extract_format_at(i);
    source s = {data + 1, size - 1, 0, data[0] & 1 ? 0 : (int)(data[0] >> 1) - 64};
    now = &s;
    const extract_format row = {.name = "pdf",
                                .what = "a PDF",
                                .media_types = "",
                                .endings = "",
                                .is = anything,
                                .extract = extract_here};
    doc_budget budget = {.cpu_ms = 2000, .max_bytes = MAX_BYTES};
    doc_budget_begin(&budget);
    extracted x;
    fo_err err = {0};
    extract_request rq = {.bytes = "%PDF-1.7 /Encrypt /Outlines",
                          .n = 27,
                          .max_text_bytes = LIMIT,
                          .budget = &budget,
                          .formats = &row,
                          .n_formats = 1};
    int rc = extract_text(&x, &rq, &err);
    FUZZ_CHECK(budget.most <= MAX_BYTES);
    if (rc) {
        FUZZ_CHECK(err.msg[0] && budget.used == 0 && !x.text);
        return 0;
    }
    FUZZ_CHECK(strlen(x.text) == x.len && fo_utf8_valid(x.text, x.len, NULL));
    size_t at = 0;
    for (size_t i = 0; i < x.n_blocks; i++) {
        const text_block *b = &x.blocks[i];
        const text_place *p = extracted_place(&x, b);
        FUZZ_CHECK(b->start >= at && b->end > b->start && b->end <= x.len);
        FUZZ_CHECK(p && p->page > 0);
        for (int k = 0; k < 4; k++) FUZZ_CHECK(isfinite(p->box[k]));
        at = b->end;
    }
    extracted_deinit(&x);
    return 0;
}
