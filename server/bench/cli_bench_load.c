/* cli_bench_load.c - `forage bench load`: how long a model takes to open, beside reading its file
 * alone, and what memory it takes meanwhile and afterwards. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "engine/model/model.h"
#include "kernels/clock.h"
#include "kernels/cpu.h"
#include "server/cli/cli.h"

enum { PIECE_BYTES = 4 << 20 };

static struct {
    const char *model;
    int64_t threads;
    bool cold, json;
} o;

static const cli_option options[] = {
    {"model", CLI_STRING, &o.model, "FILE", "the GGUF file", .required = true},
    {"cold", CLI_BOOL, &o.cold, NULL,
     "first ask the system to give up what it keeps of the file, before each of both",
     .flag_only = true},
    {"threads", CLI_INT, &o.threads, "N", "threads (default: one a core)", .min = 0, .max = 1024},
    {"json", CLI_BOOL, &o.json, NULL, "one JSON object on stdout (always)"},
    {0}};

/* In bytes, of a line of /proc/self/status; 0 where there is none. */
static double status_bytes(const char *name) {
    FILE *f = fopen("/proc/self/status", "re");
    char line[256];
    double kib = 0;
    const size_t n = strlen(name);
    while (f && fgets(line, sizeof line, f))
        if (!strncmp(line, name, n) && line[n] == ':') kib = strtod(line + n + 1, NULL);
    if (f) fclose(f);
    return kib * 1024;
}

static double cpu_seconds(void) {
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)u.ru_utime.tv_sec + (double)u.ru_stime.tv_sec +
           1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

/* Seconds that reading the file from end to end takes. */
static int read_file(double *seconds, fo_err *err) {
    int fd = open(o.model, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return fo_fail_errno(err, "cannot open %s", o.model);
    if (o.cold) (void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    char *piece = malloc(PIECE_BYTES);
    int rc = piece ? FO_OK : fo_no_memory(err);
    const double start = fo_now_ms();
    ssize_t n = 1;
    while (!rc && n > 0) {
        n = read(fd, piece, PIECE_BYTES);
        if (n < 0) rc = fo_fail_errno(err, "cannot read %s", o.model);
    }
    *seconds = (fo_now_ms() - start) / 1e3;
    if (o.cold) (void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    free(piece);
    close(fd);
    return rc;
}

static int run(int argc, char **argv) {
    (void)argc, (void)argv;
    fo_err err = {0};
    double read_seconds = 0;
    int rc = read_file(&read_seconds, &err);
    fo_pool *pool = fo_pool_create_bound((int)o.threads, NULL);
    if (!rc && !pool) rc = fo_no_memory(&err);
    model *m = NULL;
    const double before = status_bytes("VmRSS"), cpu = cpu_seconds(), start = fo_now_ms();
    if (!rc) rc = model_open(&m, o.model, &(model_options){.pool = pool, .fast = true}, &err);
    const double seconds = (fo_now_ms() - start) / 1e3;
    if (!rc) {
        const model_info *i = model_get_info(m);
        const double file = (double)i->file_bytes, resident = status_bytes("VmRSS") - before,
                     peak = status_bytes("VmHWM") - before;
        printf("{\"seconds\":%.2f,\"cpu_seconds\":%.2f,\"read_seconds\":%.2f,\"file_bytes\":%.0f,"
               "\"weight_bytes\":%llu,\"resident_share\":%.3f,\"peak_share\":%.3f,\"cold\":%s,"
               "\"isa\":\"%s\"}\n",
               seconds, cpu_seconds() - cpu, read_seconds, file,
               (unsigned long long)i->weight_bytes, resident / file, peak / file,
               o.cold ? "true" : "false", fo_cpu_level_name(fo_cpu()->level));
    }
    model_close(m);
    fo_pool_free(pool);
    return rc ? cli_fail(&err) : 0;
}

const cli_command cli_command_bench_load = {
    "bench load",
    "how long a model takes to open, and what memory",
    "forage bench load --model M [--cold] --json",
    "\"resident_share\" and \"peak_share\" are memory of the process, after it and at most "
    "meanwhile,\n"
    "over the file's bytes.",
    options,
    0,
    0,
    run};
