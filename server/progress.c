#include "server/progress.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

struct progress {
    /* immutable after begin */
    char what[32], unit[32];
    bool terminal;
    double began_s;
    pthread_t thread;
    bool has_thread;
    /* atomic */
    atomic_ullong done, total;
    /* guarded by mu */
    pthread_mutex_t mu;
    pthread_cond_t wake;
    bool stop;
};

static double now_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void duration(char out[32], double s) {
    if (s < 0 || s > 359999)
        snprintf(out, 32, "--:--");
    else if (s >= 3600)
        snprintf(out, 32, "%d:%02d:%02d", (int)(s / 3600), (int)(s / 60) % 60, (int)s % 60);
    else
        snprintf(out, 32, "%02d:%02d", (int)(s / 60), (int)s % 60);
}

static void draw(progress *p, bool last) {
    uint64_t done = p->done, total = p->total;
    double elapsed = now_s() - p->began_s;
    double rate = elapsed > 0 ? (double)done / elapsed : 0;
    double left = total && rate > 0 && done <= total ? (double)(total - done) / rate : -1;
    if (!p->terminal) {
        char line[320], tail[96] = "";
        if (total)
            snprintf(tail, sizeof tail, ",\"total\":%llu,\"left_s\":%.1f",
                     (unsigned long long)total, left < 0 ? 0 : left);
        snprintf(line, sizeof line,
                 "{\"progress\":\"%s\",\"unit\":\"%s\",\"done\":%llu,\"per_s\":%.1f,"
                 "\"elapsed_s\":%.1f%s,\"finished\":%s}\n",
                 p->what, p->unit, (unsigned long long)done, rate, elapsed, tail,
                 last ? "true" : "false");
        fputs(line, stderr);
        return;
    }
    struct winsize w;
    int columns = ioctl(STDERR_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col > 20 ? w.ws_col : 80;
    char text[160], time_text[32];
    duration(time_text, last ? elapsed : left);
    if (total)
        snprintf(text, sizeof text, " %llu/%llu %s  %.0f/s  %s%s", (unsigned long long)done,
                 (unsigned long long)total, p->unit, rate, time_text, last ? "" : " left");
    else
        snprintf(text, sizeof text, " %llu %s  %.0f/s", (unsigned long long)done, p->unit, rate);
    int room = columns - (int)strlen(text) - (int)strlen(p->what) - 4;
    fprintf(stderr, "\r%s ", p->what);
    if (total && room >= 8) {
        if (room > 40) room = 40;
        int filled = done >= total ? room : (int)((double)room * (double)done / (double)total);
        fputc('[', stderr);
        for (int i = 0; i < room; i++) fputc(i < filled ? '#' : '.', stderr);
        fputc(']', stderr);
    }
    fprintf(stderr, "%s\033[K%s", text, last ? "\n" : "");
    fflush(stderr);
}

static void *run(void *arg) {
    progress *p = arg;
    pthread_mutex_lock(&p->mu);
    while (!p->stop) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += p->terminal ? 200000000 : 999999999;
        if (until.tv_nsec >= 1000000000) until.tv_sec++, until.tv_nsec -= 1000000000;
        pthread_cond_timedwait(&p->wake, &p->mu, &until);
        if (!p->stop) draw(p, false);
    }
    pthread_mutex_unlock(&p->mu);
    return NULL;
}

progress *progress_begin(const char *what, const char *unit, uint64_t total, bool json) {
    progress *p = calloc(1, sizeof *p);
    if (!p) return NULL;
    snprintf(p->what, sizeof p->what, "%s", what);
    snprintf(p->unit, sizeof p->unit, "%s", unit);
    p->terminal = !json && isatty(STDERR_FILENO);
    p->began_s = now_s();
    p->total = total;
    pthread_mutex_init(&p->mu, NULL);
    pthread_cond_init(&p->wake, NULL);
    p->has_thread = pthread_create(&p->thread, NULL, run, p) == 0;
    return p;
}

void progress_add(progress *p, uint64_t n) {
    if (p) atomic_fetch_add(&p->done, n);
}

void progress_set(progress *p, uint64_t done) {
    if (p) p->done = done;
}

void progress_set_total(progress *p, uint64_t total) {
    if (p) p->total = total;
}

void progress_end(progress *p) {
    if (!p) return;
    pthread_mutex_lock(&p->mu);
    p->stop = true;
    pthread_cond_signal(&p->wake);
    pthread_mutex_unlock(&p->mu);
    if (p->has_thread) pthread_join(p->thread, NULL);
    draw(p, true);
    pthread_cond_destroy(&p->wake);
    pthread_mutex_destroy(&p->mu);
    free(p);
}
