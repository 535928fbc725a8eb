/* How fast documents become text, format by format: each file again and again for a while, by a worker process and,
 * where a format needs no program beside it, in this process; the difference is what the process costs.
 *
 *     make build/tests/bench/extract
 *     build/tests/bench/extract [MILLISECONDS] FILE...
 *
 * One JSON object a file: bytes, MB/s and milliseconds a document both ways, and what the worker takes on top. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/extract/extract.h"
#include "data/extract/extract_host.h"
#include "kernels/clock.h"
#include "kernels/file.h"

enum { MAX_ROWS = 64, LIMIT = 64 << 20 };

static extract_format here[MAX_ROWS];
static size_t n_here;
static extract_host *host;

static int read_once(const char *path, const char *bytes, size_t n, bool apart, char format[32],
                     fo_err *err) {
    doc_budget budget = {.cpu_ms = 20e3, .cpu_ms_per_mib = 20e3};
    doc_budget_begin(&budget);
    extract_request rq = {.bytes = bytes,
                          .n = n,
                          .file_name = path,
                          .max_text_bytes = LIMIT,
                          .budget = &budget,
                          .host = host,
                          .formats = here,
                          .n_formats = apart ? 0 : n_here};
    extracted x;
    int rc = extract_text(&x, &rq, err);
    if (!rc) snprintf(format, 32, "%s", x.format);
    if (!rc) extracted_deinit(&x);
    return rc;
}

/* Milliseconds a document, over rounds that take `ms` together. */
static double time_it(const char *path, const char *bytes, size_t n, bool apart, double ms) {
    char format[32];
    fo_err err = {0};
    size_t rounds = 0;
    double began = fo_now_ms(), now = began;
    do {
        if (read_once(path, bytes, n, apart, format, &err)) return -1;
        rounds++;
        now = fo_now_ms();
    } while (now - began < ms);
    return (now - began) / (double)rounds;
}

/* Rows that are read apart, to be read here: not those that ask a program. */
static void fill_here(void) {
    const extract_format *f;
    for (size_t i = 0; (f = extract_format_at(i)) && n_here < MAX_ROWS; i++) {
        if (!f->apart || f->program || f->tools) continue;
        here[n_here] = *f;
        here[n_here++].apart = false;
    }
}

static void measure(const char *path, double ms) {
    char *bytes, format[32] = "";
    size_t n;
    fo_err err = {0};
    if (fo_file_read(path, LIMIT, &bytes, &n, &err)) {
        fprintf(stderr, "%s: %s\n", path, err.msg);
        return;
    }
    if (read_once(path, bytes, n, true, format,
                  &err)) { /* the server of workers is started by it, too */
        fprintf(stderr, "%s\n", err.msg);
        free(bytes);
        return;
    }
    double worker = time_it(path, bytes, n, true, ms),
           in_process = time_it(path, bytes, n, false, ms);
    bool both = false; /* is it read here in the one case and there in the other? */
    for (size_t i = 0; i < n_here; i++) both = both || !strcmp(here[i].name, format);
    printf("{\"file\":\"%s\",\"format\":\"%s\",\"bytes\":%zu,\"ms\":%.3f,\"mb_per_s\":%.2f", path,
           format, n, worker, (double)n / worker / 1e3);
    if (both)
        printf(",\"in_process_ms\":%.3f,\"in_process_mb_per_s\":%.2f,\"worker_ms\":%.3f,\"worker_"
               "share\":%.3f",
               in_process, (double)n / in_process / 1e3, worker - in_process,
               (worker - in_process) / in_process);
    printf("}\n");
    fflush(stdout);
    free(bytes);
}

int main(int argc, char **argv) {
    if (extract_is_worker(argc, argv)) return extract_worker_main(NULL, 0);
    fo_err err = {0};
    double ms = argc > 1 ? atof(argv[1]) : 0;
    if (argc < 2 || (ms > 0 && argc < 3)) {
        fprintf(stderr, "usage: %s [MILLISECONDS] FILE...\n", argv[0]);
        return 2;
    }
    if (extract_host_create(&host, &(extract_host_options){.program = "/proc/self/exe"}, &err))
        return 1;
    fill_here();
    for (int i = ms > 0 ? 2 : 1; i < argc; i++) measure(argv[i], ms > 0 ? ms : 500);
    extract_host_free(host);
    return 0;
}
