/* How fast documents become text, format by format: each file again and again for a while, by a worker process and,
 * where a format needs no program beside it, in this process; the difference is what the process costs. The two take
 * turns of DOCUMENTS, as many as a call brings, so that what else runs on the machine meets both.
 *
 *     make build/tests/bench/extract
 *     build/tests/bench/extract [alone] [MILLISECONDS] FILE...
 *
 * alone: as if each document had come by itself, so that none shares a worker with others of its call.
 *
 * One JSON object a file: bytes, MB/s and milliseconds a document both ways, of the clock and of computing (this process,
 * the server of workers and all its workers), and what the worker takes on top; in the end of all files together. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "data/extract/extract.h"
#include "data/extract/extract_host.h"
#include "kernels/clock.h"
#include "kernels/file.h"

enum { MAX_ROWS = 64, LIMIT = 64 << 20, DOCUMENTS = 48 };

static extract_format here[MAX_ROWS];
static size_t n_here;
static extract_host *host;
static uint64_t call;
static bool alone;

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
                          .call = call,
                          .formats = here,
                          .n_formats = apart ? 0 : n_here};
    extracted x;
    int rc = extract_text(&x, &rq, err);
    if (!rc) snprintf(format, 32, "%s", x.format);
    if (!rc) extracted_deinit(&x);
    return rc;
}

/* ---- computing time -------------------------------------------------------------------------------- */

/* Of a process and of the children that it has seen end, in milliseconds; to the tick of the system. parent: of which it
 * must be a child; 0: of any. */
static double process_ms(int pid, int parent) {
    char path[64], line[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *f = fopen(path, "re");
    size_t n = f ? fread(line, 1, sizeof line - 1, f) : 0;
    if (f) fclose(f);
    line[n] = 0;
    const char *at = strrchr(line, ')');
    int of;
    unsigned long t[4];
    if (!at ||
        sscanf(at, ") %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %lu %lu", &of, &t[0],
               &t[1], &t[2], &t[3]) != 5 ||
        (parent && of != parent))
        return 0;
    return (double)(t[0] + t[1] + t[2] + t[3]) * 1e3 / (double)sysconf(_SC_CLK_TCK);
}

/* The server of workers, and those that live. */
static double workers_ms(void) {
    int server = extract_host_pid(host), pid;
    double sum = server ? process_ms(server, 0) : 0;
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", server, server);
    FILE *f = fopen(path, "re");
    while (f && fscanf(f, "%d", &pid) == 1) sum += process_ms(pid, server);
    if (f) fclose(f);
    return sum;
}

static double own_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* ---- both ways ------------------------------------------------------------------------------------- */

typedef struct way {
    double wall_ms, own_ms;
    size_t n;
} way;

/* As many documents as a call brings. False: one could not be read. */
static bool take_turn(way *w, const char *path, const char *bytes, size_t n, bool apart) {
    char format[32];
    fo_err err = {0};
    double began = fo_now_ms(), own = own_ms();
    if (!alone) call++;
    for (int i = 0; i < DOCUMENTS; i++)
        if (read_once(path, bytes, n, apart, format, &err)) return false;
    extract_host_end_call(host, call);
    w->wall_ms += fo_now_ms() - began;
    w->own_ms += own_ms() - own;
    w->n += DOCUMENTS;
    return true;
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

/* Over all files that are read both ways, of each as many: what the processes take of the whole. */
static struct {
    double worker_ms, here_ms;
    size_t n;
} sum;

static void print(const char *path, const char *format, size_t n, const way *worker, const way *in,
                  double workers) {
    double ms = worker->wall_ms / (double)worker->n,
           cpu = (worker->own_ms + workers) / (double)worker->n;
    printf("{\"file\":\"%s\",\"format\":\"%s\",\"bytes\":%zu,\"ms\":%.3f,\"cpu_ms\":%.3f,\"mb_per_"
           "s\":%.2f",
           path, format, n, ms, cpu, (double)n / ms / 1e3);
    if (in->n) {
        double here_ms = in->wall_ms / (double)in->n, here_cpu = in->own_ms / (double)in->n;
        sum.worker_ms += cpu;
        sum.here_ms += here_cpu;
        sum.n++;
        printf(",\"in_process_ms\":%.3f,\"in_process_cpu_ms\":%.3f,\"in_process_mb_per_s\":%.2f,"
               "\"worker_share\":%.3f,\"worker_cpu_share\":%.3f",
               here_ms, here_cpu, (double)n / here_ms / 1e3, ms / here_ms - 1, cpu / here_cpu - 1);
    }
    printf("}\n");
    fflush(stdout);
}

static void measure(const char *path, double ms) {
    char *bytes, format[32] = "";
    size_t n;
    fo_err err = {0};
    way worker = {0}, in_process = {0};
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
    bool both = false, well = true; /* is it read here in the one case and there in the other? */
    for (size_t i = 0; i < n_here; i++) both = both || !strcmp(here[i].name, format);
    double before = workers_ms();
    do {
        well = take_turn(&worker, path, bytes, n, true);
        if (both && well) well = take_turn(&in_process, path, bytes, n, false);
    } while (well && worker.wall_ms < ms);
    if (well) print(path, format, n, &worker, &in_process, workers_ms() - before);
    free(bytes);
}

int main(int argc, char **argv) {
    if (extract_is_worker(argc, argv)) return extract_worker_main(NULL, 0);
    fo_err err = {0};
    setenv("TZ", "UTC0",
           1); /* as workers have it: else libzip asks for the file of the zone with each member */
    alone = argc > 1 && !strcmp(argv[1], "alone");
    argc -= alone;
    argv += alone;
    double ms = argc > 1 ? atof(argv[1]) : 0;
    if (argc < 2 || (ms > 0 && argc < 3)) {
        fprintf(stderr, "usage: %s [alone] [MILLISECONDS] FILE...\n", argv[0]);
        return 2;
    }
    if (extract_host_create(&host, &(extract_host_options){.program = "/proc/self/exe"}, &err))
        return 1;
    fill_here();
    for (int i = ms > 0 ? 2 : 1; i < argc; i++) measure(argv[i], ms > 0 ? ms : 500);
    if (sum.n > 1)
        printf("{\"files\":%zu,\"cpu_ms\":%.3f,\"in_process_cpu_ms\":%.3f,\"worker_cpu_share\":%."
               "3f}\n",
               sum.n, sum.worker_ms, sum.here_ms, sum.worker_ms / sum.here_ms - 1);
    extract_host_free(host);
    return 0;
}
