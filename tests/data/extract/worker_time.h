/* worker_time.h - computing time of the processes that read documents, so that "it hangs" does not depend on what else the
 * machine does. One that waits for nothing without computing is ended by its host's deadline, and its sentence says so.
 *
 *     worker_time t = worker_time_begin(host);
 *     ... read a document ...
 *     worker_time_check(host, t, "a.pdf");
 */
#ifndef FORAGE_TESTS_WORKER_TIME_H
#define FORAGE_TESTS_WORKER_TIME_H

#include "data/extract/extract_host.h"
#include "tests/test.h"

enum { WORKER_MAX_MS = 20000 };

typedef struct worker_time {
    int pid;
    double ms; /* of the server of workers and all whose end it has seen */
} worker_time;

static inline worker_time worker_time_begin(extract_host *host) {
    worker_time t = {extract_host_pid(host), 0};
    char path[64], line[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", t.pid);
    FILE *f = t.pid ? fopen(path, "re") : NULL;
    char *behind = f && fgets(line, sizeof line, f) ? strrchr(line, ')') : NULL;
    unsigned long of[4] = {0};
    if (behind && sscanf(behind + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %lu %lu",
                         &of[0], &of[1], &of[2], &of[3]) == 4)
        t.ms = (double)(of[0] + of[1] + of[2] + of[3]) * 1e3 / (double)sysconf(_SC_CLK_TCK);
    if (f) fclose(f);
    return t;
}

static inline void worker_time_check(extract_host *host, worker_time before, const char *name) {
    worker_time now = worker_time_begin(host);
    double ms = now.pid == before.pid ? now.ms - before.ms : now.ms;
    if (ms > WORKER_MAX_MS) fail_msg("%s: it took %.0f s of computing", name, ms / 1e3);
}

#endif
