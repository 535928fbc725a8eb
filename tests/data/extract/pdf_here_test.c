/* A PDF is read in a process of its own, which leaves nothing of itself behind, and so cannot be looked into. Here the same
 * files are read in this process, from what pdftotext and pdftohtml say of them: it comes to the same text, blocks, places
 * and title as in a worker's bounds. */
#include "tests/test.h"

#include "data/extract/extract.h"
#include "data/extract/extract_host.h"
#include "kernels/buf.h"
#include "kernels/file.h"

#define FOLDER "tests/data/formats/"
enum { LIMIT = 8 << 20 };

static const char *const files[] = {"background-checks.pdf",
                                    "boxes.pdf",
                                    "captions.pdf",
                                    "claim.pdf",
                                    "columns.pdf",
                                    "court.pdf",
                                    "energy.pdf",
                                    "margins.pdf",
                                    "outline.pdf",
                                    "slides.pdf",
                                    "toolkit.pdf",
                                    "various.pdf",
                                    "welsh.pdf",
                                    "narrow-tables.pdf",
                                    "word365.pdf",
                                    "cid-fonts.pdf"};

/* ---- in this process ------------------------------------------------------------------------------ */

typedef struct program {
    FILE *f;
} program;

static ptrdiff_t read_program(void *ctx, char *buf, size_t n) {
    return (ptrdiff_t)fread(buf, 1, n, ((program *)ctx)->f);
}

static int end_program(void *ctx) {
    program *p = ctx;
    int status = p->f ? pclose(p->f) : 0;
    p->f = NULL;
    return status;
}

static const extract_format *pdf;
static const char *path; /* of the file at hand */

static void start(program *p, const char *command, const char *end) {
    char line[512];
    snprintf(line, sizeof line, "%s '%s'%s", command, path, end);
    p->f = popen(line, "r");
    assert_non_null(p->f);
}

static program outline;
static int start_outline(void *ctx, uint32_t number, uint32_t page, const void *input, size_t n,
                         extract_stream *to, fo_err *err) {
    (void)ctx, (void)page, (void)input, (void)n;
    if (number != 0) return fo_fail(err, FO_EUNSUPPORTED, "nothing is drawn here");
    start(&outline, "pdftohtml -q -xml -i -stdout -f 1 -l 1 -enc UTF-8", "");
    *to = (extract_stream){read_program, end_program, &outline};
    return FO_OK;
}

static int extract_here(struct builder *b, extract_input *in, fo_err *err) {
    program text;
    start(&text, "pdftotext -q -bbox-layout -enc UTF-8", " -");
    extract_stream from = {read_program, end_program, &text};
    extract_tools tools = {start_outline, NULL};
    in->program = &from;
    in->tools = &tools;
    int rc = pdf->extract(b, in, err);
    end_program(&text);
    end_program(&outline);
    return rc;
}

static bool anything(const extract_input *in) {
    (void)in;
    return true;
}

/* ---- both ------------------------------------------------------------------------------------------ */

static extract_host *host;

static extracted read_pdf(const char *bytes, size_t n, bool here) {
    const extract_format row = {.name = "pdf",
                                .what = "a PDF",
                                .media_types = "",
                                .endings = "",
                                .is = anything,
                                .extract = extract_here};
    doc_budget budget = {.cpu_ms = DOC_BUDGET_CPU_MS, .max_bytes = 64 << 20};
    doc_budget_begin(&budget);
    extract_request rq = {.bytes = bytes,
                          .n = n,
                          .file_name = "x.pdf",
                          .max_text_bytes = LIMIT,
                          .budget = &budget,
                          .host = here ? NULL : host,
                          .formats = here ? &row : NULL,
                          .n_formats = here};
    extracted x;
    fo_err err = {0};
    assert_ok(extract_text(&x, &rq, &err), &err);
    return x;
}

static void reads_what_a_worker_reads(void **state) {
    (void)state;
    size_t blocks = 0, rows = 0;
    if (system("pdftotext -v 2>/dev/null") != 0) skip();
    for (size_t i = 0; !pdf; i++)
        if (extract_format_at(i)->program) pdf = extract_format_at(i);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char name[256], *bytes;
        size_t n;
        fo_err err = {0};
        snprintf(name, sizeof name, FOLDER "%s", files[i]);
        path = name;
        assert_ok(fo_file_read(name, 8 << 20, &bytes, &n, &err), &err);
        extracted there = read_pdf(bytes, n, false), here = read_pdf(bytes, n, true);
        if (strcmp(here.text, there.text) != 0) fail_msg("%s: another text", name);
        assert_string_equal(here.title ? here.title : "", there.title ? there.title : "");
        assert_int_equal(here.n_blocks, there.n_blocks);
        for (size_t k = 0; k < here.n_blocks; k++) {
            const text_block *a = &here.blocks[k], *b = &there.blocks[k];
            assert_true(a->start == b->start && a->end == b->end && a->kind == b->kind &&
                        a->level == b->level);
            const text_place *p = extracted_place(&here, a), *q = extracted_place(&there, b);
            assert_true(p && q && p->page == q->page);
            assert_memory_equal(p->box, q->box, sizeof p->box);
            rows += a->kind == TEXT_TABLE_ROW;
        }
        blocks += here.n_blocks;
        extracted_deinit(&here);
        extracted_deinit(&there);
        free(bytes);
    }
    print_message("# %zu files, %zu blocks, %zu rows of tables\n", sizeof files / sizeof *files,
                  blocks, rows);
    assert_true(rows > 20);
}

static int set_up(void **state) {
    (void)state;
    fo_err err = {0};
    return extract_host_create(&host, &(extract_host_options){.program = "/proc/self/exe"}, &err);
}

static int tear_down(void **state) {
    (void)state;
    extract_host_free(host);
    return 0;
}

int main(int argc, char **argv) {
    if (extract_is_worker(argc, argv)) return extract_worker_main(NULL, 0);
    const struct CMUnitTest tests[] = {cmocka_unit_test(reads_what_a_worker_reads)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
