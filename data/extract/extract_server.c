/* The server of workers: one thread that takes jobs from the service, forks, hands documents over and ends who is late. See
 * extract_host.h for the whole, extract_worker.h for what a worker does.
 *
 *            fork              job or lease
 *   (none) --------> waiting -----------------+
 *      |                |                     v
 *      | fork with      | IDLE_MS without   reading   ends: by itself, at its deadline, when nobody wants its
 *      | a job          v a job               ^       answer (of a lease: when that is closed)
 *      |               ends                   |
 *      +--------------------------------------+
 *
 * A worker that waits has given up all it can already, so that a document need not wait for a fork: N_FRESH are kept while
 * they are asked for. One that is leased (extract_lease.h) gets its documents from the service itself. */
#include "data/extract/extract_host.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "data/extract/encoding.h"
#include "data/extract/extract_worker.h"
#include "kernels/clock.h"

enum {
    MAX_WORKERS = 256,
    N_FRESH = 2, /* that wait while workers are asked for */
    IDLE_MS = 10000,
    HEAP_KEPT_BYTES = 8 << 20,
};

static const char WORD[] = "--extract-worker";

bool extract_is_worker(int argc, char **argv) {
    return argc == 2 && strcmp(argv[1], WORD) == 0;
}

typedef struct worker {
    pid_t pid;
    int control; /* to one that waits; -1: it has its job, or is ending */
    int end_fd;  /* told how it ended; -1: it has no job */
    double
        deadline; /* of its document, 0: it is leased; of one that waits: when it has waited long enough */
    bool waiting, late, left; /* left: nobody reads end_fd any more */
} worker;

typedef struct workers {
    const worker_setup *setup;
    pid_t server;
    worker list[MAX_WORKERS];
    size_t n;
    size_t n_fresh_wanted;
    const int *fds; /* WIRE_FDS of the job at hand; NULL: none is */
} workers;

/* ---- ends ------------------------------------------------------------------------------------------ */

static void tell(worker *w, wire_end end) {
    if (w->end_fd < 0) return;
    ssize_t wrote = write(w->end_fd, &end, sizeof end); /* an empty pipe has room for it */
    (void)wrote;
    close(w->end_fd);
    w->end_fd = -1;
}

static void kill_worker(const worker *w) {
    kill(-w->pid, SIGKILL); /* its program too */
}

/* One that waits ends when it sees that. */
static void close_control(worker *w) {
    if (w->control >= 0) close(w->control);
    w->control = -1;
    w->waiting = false;
}

static void reap(workers *ws) {
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
        for (size_t i = 0; i < ws->n; i++) {
            worker *w = &ws->list[i];
            if (w->pid != pid) continue;
            kill_worker(w); /* what it may have left behind */
            tell(w, w->late             ? (wire_end){WIRE_LATE, 0}
                    : WIFEXITED(status) ? (wire_end){WIRE_EXITED, WEXITSTATUS(status)}
                                        : (wire_end){WIRE_SIGNALLED, WTERMSIG(status)});
            close_control(w);
            *w = ws->list[--ws->n];
            break;
        }
}

/* ---- beginnings ------------------------------------------------------------------------------------ */

/* In a new process: what it is to have of the job at hand comes to it another way, or is kept. */
static void forget_others(const workers *ws, bool keeps_job) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* whatever ends the server ends its workers */
    if (getppid() != ws->server) _exit(1);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    close(WIRE_CONTROL_FD);
    for (size_t i = 0; ws->fds && i < WIRE_FDS; i++)
        if (!keeps_job || i == WIRE_FDS - 1) close(ws->fds[i]);
    for (size_t i = 0; i < ws->n; i++) {
        if (ws->list[i].end_fd >= 0) close(ws->list[i].end_fd);
        if (ws->list[i].control >= 0) close(ws->list[i].control);
    }
}

/* In the server: whichever of the two comes first. */
static worker *add(workers *ws, pid_t pid, worker is) {
    setpgid(pid, pid);
    is.pid = pid;
    ws->list[ws->n] = is;
    return &ws->list[ws->n++];
}

/* A worker that waits; NULL: errno says why there is none. */
static worker *fork_waiting(workers *ws) {
    int ends[2];
    errno = EAGAIN;
    if (ws->n == MAX_WORKERS || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return NULL;
    pid_t pid = fork();
    if (pid == 0) {
        forget_others(ws, false);
        close(ends[0]);
        worker_in_waiting(ws->setup, ends[1]);
    }
    int failed = errno;
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        errno = failed;
        return NULL;
    }
    return add(
        ws, pid,
        (worker){
            .control = ends[0], .end_fd = -1, .waiting = true, .deadline = fo_now_ms() + IDLE_MS});
}

static worker *find_waiting(workers *ws) {
    for (size_t i = 0; i < ws->n; i++)
        if (ws->list[i].waiting) return &ws->list[i];
    return NULL;
}

/* The job to one that waits. False: errno says why it could not be. */
static bool hand_over(workers *ws, const wire_job *job, const int fds[WIRE_FDS]) {
    worker *w = find_waiting(ws);
    if (!w) w = fork_waiting(ws);
    if (!w) return false;
    ws->n_fresh_wanted = N_FRESH;
    if (!sandbox_limit_child(w->pid, worker_cpu_ms(job), worker_address_bytes(ws->setup, job)) ||
        !wire_send_job(w->control, job, fds, WIRE_FDS - 1)) {
        int failed = errno;
        kill_worker(w);
        close_control(w);
        errno = failed;
        return false;
    }
    close_control(w); /* what is on its way to it arrives */
    w->end_fd = fds[2];
    w->deadline = job->lease ? 0 : fo_now_ms() + job->wall_ms;
    return true;
}

/* A process for this job alone. */
static bool fork_with(workers *ws, const wire_job *job, const int fds[WIRE_FDS]) {
    errno = EAGAIN;
    pid_t pid = ws->n < MAX_WORKERS ? fork() : -1;
    if (pid == 0) {
        forget_others(ws, true);
        worker_with_programs(ws->setup, job, fds[0], fds[1]);
    }
    if (pid < 0) return false;
    add(ws, pid, (worker){.control = -1, .end_fd = fds[2], .deadline = fo_now_ms() + job->wall_ms});
    return true;
}

static void start(workers *ws, const wire_job *job, const int fds[WIRE_FDS]) {
    const extract_format *f = worker_row(ws->setup, job->row);
    bool alone = job->unpack || job->draw || worker_needs_programs(f);
    ws->fds = fds;
    if (!(alone ? fork_with(ws, job, fds) : hand_over(ws, job, fds))) {
        worker none = {.end_fd = fds[2]};
        tell(&none, (wire_end){WIRE_NOT_STARTED, errno});
    }
    for (size_t i = 0; i < WIRE_FDS - 1; i++) close(fds[i]);
    ws->fds = NULL;
}

/* ---- the loop -------------------------------------------------------------------------------------- */

/* Whatever one that waits says: it is ending, or is not what it should be. */
static void hear(worker *w) {
    char byte;
    if (w->control < 0) return;
    ssize_t n = recv(w->control, &byte, 1, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n > 0) kill_worker(w);
    close_control(w);
}

static void end_who_is_due(workers *ws) {
    double now = fo_now_ms();
    for (size_t i = 0; i < ws->n; i++) {
        worker *w = &ws->list[i];
        if (w->late || !w->deadline || now <= w->deadline) continue;
        if (w->waiting) {
            close_control(w);
            ws->n_fresh_wanted = 0; /* nobody has asked for a while */
        } else if (w->end_fd >= 0) {
            w->late = true;
            kill_worker(w);
        }
    }
}

/* Nobody wants what it does, or does any more. */
static void leave(worker *w) {
    w->left = true;
    kill_worker(w);
}

static int next_wait(const workers *ws) {
    double first = 3600e3, now = fo_now_ms();
    for (size_t i = 0; i < ws->n; i++) {
        const worker *w = &ws->list[i];
        if (w->deadline && (w->waiting || w->end_fd >= 0) && !w->late && w->deadline - now < first)
            first = w->deadline - now;
    }
    return first < 0 ? 0 : (int)first + 1;
}

static bool wants_fresh(const workers *ws) {
    size_t n = 0;
    for (size_t i = 0; i < ws->n; i++) n += ws->list[i].waiting;
    return n < ws->n_fresh_wanted && ws->n < MAX_WORKERS / 2;
}

/* Two descriptors a worker: who waits for its end, and the end of one that waits. */
static void poll_workers(const workers *ws, struct pollfd *polled) {
    for (size_t i = 0; i < ws->n; i++) {
        const worker *w = &ws->list[i];
        polled[2 * i] = (struct pollfd){.fd = w->left || w->late ? -1 : w->end_fd};
        polled[2 * i + 1] = (struct pollfd){.fd = w->control, .events = POLLIN};
    }
}

static void serve(workers *ws, int signals) {
    static struct pollfd polled[2 + 2 * MAX_WORKERS];
    for (;;) {
        polled[0] = (struct pollfd){.fd = WIRE_CONTROL_FD, .events = POLLIN};
        polled[1] = (struct pollfd){.fd = signals, .events = POLLIN};
        poll_workers(ws, polled + 2);
        size_t n = ws->n;
        bool fresh = wants_fresh(ws); /* when there is nothing else to do */
        int ready = poll(polled, 2 + 2 * n, fresh ? 0 : next_wait(ws));
        if (ready < 0 && errno != EINTR) break;
        if (ready < 0) continue;
        if (ready == 0 && fresh && !fork_waiting(ws)) ws->n_fresh_wanted = 0;
        for (size_t i = 0; i < n; i++) {
            if (polled[2 + 2 * i + 1].revents) hear(&ws->list[i]);
            if (polled[2 + 2 * i].revents && ws->list[i].end_fd >= 0) leave(&ws->list[i]);
        }
        end_who_is_due(ws);
        if (polled[1].revents) {
            struct signalfd_siginfo ignored;
            ssize_t got = read(signals, &ignored, sizeof ignored);
            (void)got;
        }
        reap(ws);
        if (polled[0].revents) {
            wire_job job;
            int fds[WIRE_FDS];
            if (!wire_receive_job(WIRE_CONTROL_FD, &job, fds, WIRE_FDS)) break;
            start(ws, &job, fds);
        }
    }
    for (size_t i = 0; i < ws->n; i++) kill_worker(&ws->list[i]);
}

static size_t address_bytes(void) {
    size_t pages = 0;
    FILE *f = fopen("/proc/self/statm", "re");
    if (!f || fscanf(f, "%zu", &pages) != 1) pages = 0;
    if (f) fclose(f);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

int extract_worker_main(const extract_format *formats, size_t n_formats) {
    if (fcntl(WIRE_CONTROL_FD, F_SETFD, FD_CLOEXEC) != 0) return 2; /* typed by hand */
    close_range(WIRE_CONTROL_FD + 1, ~0u, 0);
    setpgid(0, 0); /* Ctrl-C is the service's affair: it ends in order, and this with it */
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    prctl(PR_SET_NAME, "forage-extract");
    if (getpriority(PRIO_PROCESS, 0) < 10) setpriority(PRIO_PROCESS, 0, 10); /* as ingest has it */
    /* What one document gives back the next one needs: a worker that reads several keeps it. */
    mallopt(M_TRIM_THRESHOLD, HEAP_KEPT_BYTES);
    mallopt(M_MMAP_THRESHOLD, HEAP_KEPT_BYTES);
    encoding_load_all();
    setlocale(LC_CTYPE, "C.UTF-8"); /* names in archives are converted by it */
    sigset_t ended;
    sigemptyset(&ended);
    sigaddset(&ended, SIGCHLD);
    sigprocmask(SIG_SETMASK, &ended, NULL);
    int signals = signalfd(-1, &ended, SFD_CLOEXEC | SFD_NONBLOCK);
    worker_setup setup = {.formats = formats,
                          .n_formats = n_formats,
                          .reader = sandbox_create(SANDBOX_READER),
                          .program = sandbox_create(SANDBOX_PROGRAM),
                          .address_bytes = address_bytes()};
    static workers ws;
    ws.setup = &setup;
    ws.server = getpid();
    if (signals >= 0) serve(&ws, signals);
    sandbox_free(setup.reader);
    sandbox_free(setup.program);
    return 0;
}
