#include "server/cli/progress.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "server/base/json.h"
#include "server/base/printable.h"
#include "kernels/clock.h"
#include "kernels/cond.h"

const char *progress_form = "auto";

static const double STILL_S = 2;

typedef struct bar {
    char what[32], unit[32]; /* immutable once counted in n_bars */
    /* atomic */
    atomic_ullong done, total;
    /* owned: the thread that draws */
    double began_s, ended_s; /* 0: not yet */
    uint64_t drawn;
} bar;

struct progress {
    /* immutable after begin */
    bool bar; /* else JSON lines */
    void (*refresh)(void *ctx);
    void *ctx;
    pthread_t thread;
    bool has_thread;
    atomic_int n_bars;
    bar bars[PROGRESS_MAX_STAGES];
    const ingest_counts *counts; /* NULL: none; immutable after begin */
    bool answers;                /* Ctrl-C is answered; owned: who begins and ends it */
    /* owned: the thread that draws */
    int n_lines;         /* on the terminal */
    int pages, passages; /* their stages; 0: not shown */
    uint64_t still_at;   /* documents, and since when they have been so many */
    double still_s;
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

typedef struct state { /* of a bar, as it is drawn */
    uint64_t done, total;
    double elapsed, rate, left; /* left < 0: unknown */
    bool last;
} state;

static void write_line(const bar *b, const state *s) {
    fo_buf line = {0};
    fo_buf_str(&line, "{\"progress\":");
    json_write_string(&line, b->what, strlen(b->what));
    fo_buf_printf(&line, ",\"unit\":\"%s\",\"done\":%llu,\"per_s\":%.1f,\"elapsed_s\":%.1f",
                  b->unit, (unsigned long long)s->done, s->rate, s->elapsed);
    if (s->total)
        fo_buf_printf(&line, ",\"total\":%llu,\"left_s\":%.1f", (unsigned long long)s->total,
                      s->left < 0 ? 0 : s->left);
    fo_buf_printf(&line, ",\"finished\":%s}\n", s->last ? "true" : "false");
    if (!line.failed) fputs(line.data, stderr);
    fo_buf_free(&line);
}

static void draw_bar(const bar *b, const state *s, int columns) {
    char text[160], time_text[32];
    duration(time_text, s->last ? s->elapsed : s->left);
    if (s->total)
        snprintf(text, sizeof text, " %llu/%llu %s  %.0f/s  %s%s", (unsigned long long)s->done,
                 (unsigned long long)s->total, b->unit, s->rate, time_text, s->last ? "" : " left");
    else
        snprintf(text, sizeof text, " %llu %s  %.0f/s", (unsigned long long)s->done, b->unit,
                 s->rate);
    int room = columns - (int)strlen(text) - (int)strlen(b->what) - 4;
    fprintf(stderr, "\r%s ", b->what);
    if (s->total && room >= 8) {
        if (room > 40) room = 40;
        int filled =
            s->done >= s->total ? room : (int)((double)room * (double)s->done / (double)s->total);
        fputc('[', stderr);
        for (int i = 0; i < room; i++) fputc(i < filled ? '#' : '.', stderr);
        fputc(']', stderr);
    }
    fprintf(stderr, "%s\033[K", text);
}

static state measure(bar *b, bool last) {
    state s = {.done = b->done, .total = b->total, .left = -1};
    double now = now_s();
    bool full = s.total && s.done >= s.total;
    if (b->began_s == 0 && s.done) b->began_s = now;
    if (b->ended_s == 0 && full) b->ended_s = now;
    if (b->began_s > 0) s.elapsed = (full ? b->ended_s : now) - b->began_s;
    s.rate = s.elapsed > 0 ? (double)s.done / s.elapsed : 0;
    if (s.total && s.rate > 0 && s.done <= s.total) s.left = (double)(s.total - s.done) / s.rate;
    s.last = last || full;
    return s;
}

/* A stage for what has been counted, from the first on. */
static void show_count(progress *p, int *stage, const char *what, const char *unit, size_t n) {
    if (!*stage && n) *stage = progress_stage(p, what, unit, 0);
    if (*stage) progress_stage_set(p, *stage, n);
}

/* Within documents, where their number has stood still for a while. */
static void look_within(progress *p) {
    uint64_t done = p->bars[0].done;
    double now = now_s();
    if (done != p->still_at || p->still_s == 0) p->still_s = now;
    p->still_at = done;
    if (!p->pages && !p->passages && now - p->still_s < STILL_S) return;
    show_count(p, &p->pages, "reading", "pages", atomic_load(&p->counts->pages));
    show_count(p, &p->passages, "embedding", "passages", atomic_load(&p->counts->passages));
}

static void draw(progress *p, bool last) {
    if (p->counts && p->n_bars) look_within(p);
    int n = p->n_bars;
    if (p->refresh) p->refresh(p->ctx);
    struct winsize w;
    int columns = ioctl(STDERR_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col > 20 ? w.ws_col : 80;
    if (p->bar && p->n_lines > 1) fprintf(stderr, "\033[%dA", p->n_lines - 1);
    for (int i = 0; i < n; i++) {
        bar *b = &p->bars[i];
        bool was_full = b->ended_s > 0;
        state s = measure(b, last);
        if (p->bar) {
            draw_bar(b, &s, columns);
            if (i + 1 < n) fputc('\n', stderr);
        } else if (n == 1 || (last ? !was_full : s.done != b->drawn)) {
            write_line(b, &s); /* of several stages only those that move */
        }
        b->drawn = s.done;
    }
    p->n_lines = n;
    if (p->bar && last && n) fputc('\n', stderr);
    fflush(stderr);
}

static void *run(void *arg) {
    progress *p = arg;
    pthread_mutex_lock(&p->mu);
    while (!p->stop) {
        fo_cond_wait_until(&p->wake, &p->mu, fo_now_ms() + (p->bar ? 200 : 1000));
        if (!p->stop) draw(p, false);
    }
    pthread_mutex_unlock(&p->mu);
    return NULL;
}

static progress *begin(void (*refresh)(void *ctx), void *ctx, const ingest_counts *counts,
                       bool json) {
    bool automatic = !strcmp(progress_form, "auto"), draws = !strcmp(progress_form, "bar");
    if (automatic && !json) draws = isatty(STDERR_FILENO);
    bool lines = !strcmp(progress_form, "json") || (automatic && json);
    progress *p = draws || lines ? calloc(1, sizeof *p) : NULL;
    if (!p) return NULL;
    p->bar = draws;
    p->refresh = refresh;
    p->ctx = ctx;
    p->counts = counts;
    pthread_mutex_init(&p->mu, NULL);
    fo_cond_init(&p->wake);
    p->has_thread = pthread_create(&p->thread, NULL, run, p) == 0;
    return p;
}

progress *progress_begin_stages(void (*refresh)(void *ctx), void *ctx, bool json) {
    return begin(refresh, ctx, NULL, json);
}

/* One bar that is there from the beginning. */
static progress *with_bar(progress *p, const char *what, const char *unit, uint64_t total) {
    if (!p) return NULL;
    p->bars[0].began_s = now_s();
    progress_stage(p, what, unit, total);
    return p;
}

/* Ctrl-C ends it there and then; who pressed it is told that it was no loss. */
static void on_interrupt(int sig) {
    static const char word[] =
        "\nforage: stopped; what is in stays in, and the same command goes on from there\n";
    const ssize_t ignored = write(STDERR_FILENO, word, sizeof word - 1);
    (void)ignored;
    signal(sig, SIG_DFL);
    raise(sig);
}

progress *progress_begin_ingest(const char *what, const ingest_counts *counts, bool json) {
    progress *p = with_bar(begin(NULL, NULL, counts, json), what, "documents", 0);
    struct sigaction was, act = {.sa_handler = on_interrupt};
    /* A watch has a handler of its own, and a command in the background none. */
    if (p && p->bar && !sigaction(SIGINT, NULL, &was) && was.sa_handler == SIG_DFL)
        p->answers = sigaction(SIGINT, &act, NULL) == 0;
    return p;
}

progress *progress_begin(const char *what, const char *unit, uint64_t total, bool json) {
    return with_bar(begin(NULL, NULL, NULL, json), what, unit, total);
}

int progress_stage(progress *p, const char *what, const char *unit, uint64_t total) {
    if (!p) return 0;
    int i = p->n_bars;
    if (i == PROGRESS_MAX_STAGES) return i;
    bar *b = &p->bars[i];
    fo_buf shown = {0}; /* the name of a collection, it may be */
    printable_add(&shown, what, strlen(what), PRINTABLE_LINE);
    snprintf(b->what, sizeof b->what, "%s", shown.data ? shown.data : "");
    fo_buf_free(&shown);
    snprintf(b->unit, sizeof b->unit, "%s", unit);
    b->total = total;
    p->n_bars = i + 1;
    return i;
}

void progress_stage_set(progress *p, int stage, uint64_t done) {
    if (p && stage < PROGRESS_MAX_STAGES) p->bars[stage].done = done;
}

void progress_stage_set_total(progress *p, int stage, uint64_t total) {
    if (p && stage < PROGRESS_MAX_STAGES) p->bars[stage].total = total;
}

void progress_add(progress *p, uint64_t n) {
    if (p) atomic_fetch_add(&p->bars[0].done, n);
}

void progress_set(progress *p, uint64_t done) {
    progress_stage_set(p, 0, done);
}

void progress_set_total(progress *p, uint64_t total) {
    progress_stage_set_total(p, 0, total);
}

void progress_end(progress *p) {
    if (!p) return;
    if (p->answers) signal(SIGINT, SIG_DFL);
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
