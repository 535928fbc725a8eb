/* The server of workers, and what one worker does. Nothing here runs in a service's own process: see
 * extract_host.h. */
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "data/extract/archive.h"
#include "data/extract/encoding.h"
#include "data/extract/extract_host.h"
#include "data/extract/extract_internal.h"
#include "data/extract/extract_tools.h"
#include "data/extract/extract_wire.h"
#include "data/extract/sandbox.h"
#include "kernels/clock.h"

enum {
    MAX_WORKERS = 256,
    GRACE_MS = 1000, /* a worker stops by its own clock first, and says so better */
    WORKER_FILES = 16,
};

static const char WORD[] = "--extract-worker";

bool extract_is_worker(int argc, char **argv) {
    return argc == 2 && strcmp(argv[1], WORD) == 0;
}

/* ---- one worker: a program that helps ------------------------------------------------------------ */

typedef struct helper {
    int fd; /* what it writes; -1: it has been closed */
    pid_t pids[2];
} helper;

static ptrdiff_t helper_read(void *ctx, char *buf, size_t n) {
    helper *h = ctx;
    ssize_t got;
    do got = read(h->fd, buf, n);
    while (got < 0 && errno == EINTR);
    return got;
}

static int helper_end(void *ctx) {
    helper *h = ctx;
    if (h->fd >= 0) close(h->fd); /* whatever it has still to say is not wanted: it ends */
    h->fd = -1;
    return tool_wait(h->pids);
}

/* ---- one worker ----------------------------------------------------------------------------------- */

typedef struct server {
    const extract_format *formats;
    size_t n_formats;
    sandbox *reader, *program;
    size_t address_bytes; /* that the server itself takes: part of every worker's */
} server;

static const extract_format *row_at(const server *s, size_t i) {
    return i < s->n_formats ? &s->formats[i] : extract_format_at(i - s->n_formats);
}

static int read_document(const server *s, builder *b, const wire_job *job, int document,
                         fo_err *err) {
    const extract_format *f = row_at(s, job->row);
    if (!f || !f->extract) return fo_fail(err, FO_EUNSUPPORTED, "no format has this number");
    extract_input in = {.bytes = (const unsigned char *)"",
                        .n = job->n,
                        .charset = encoding_find(job->charset, strlen(job->charset)),
                        .file_name = job->file_name[0] ? job->file_name : NULL,
                        .is_text = job->is_text,
                        .ocr = job->ocr,
                        .head = ""};
    if (job->n) {
        void *map = mmap(NULL, job->n, PROT_READ, MAP_PRIVATE, document, 0);
        if (map == MAP_FAILED) return fo_fail_errno(err, "cannot map the document");
        in.bytes = map;
    }
    helper h = {.fd = -1};
    extract_stream from = {helper_read, helper_end, &h};
    if (f->program) {
        int rc = tool_spawn(f->program, 0, document, job, s->program, &h.fd, h.pids, err);
        if (rc) return rc;
        in.program = &from;
    }
    tool_runner runner;
    if (f->tools) {
        int rc = tool_runner_start(&runner, f->tools, document, job, s->program, err);
        if (rc) return rc;
        in.tools = &runner.tools;
    }
    close(document);
    double cpu_ms = job->cpu_ms + job->cpu_ms_per_mib * (double)job->n / (1 << 20);
    if (!sandbox_limit(4 * cpu_ms + job->program_cpu_ms, s->address_bytes + job->max_address,
                       WORKER_FILES))
        return fo_fail_errno(err, "cannot set limits");
    sandbox_enter(s->reader);
    doc_budget_begin(b->budget);
    doc_budget_grant(b->budget, job->n);
    return f->extract(b, &in, err);
}

/* ---- one worker: an archive is taken apart --------------------------------------------------------- */

static int send_piece(void *ctx, const void *p, size_t n, fo_err *err) {
    const int fd = *(const int *)ctx;
    wire_part part = {.magic = WIRE_MAGIC, .kind = WIRE_PIECE, .n = (uint32_t)n};
    if (wire_write_all(fd, &part, sizeof part) && wire_write_all(fd, p, n)) return FO_OK;
    return fo_fail(err, FO_ECANCELLED, "nobody waits for it");
}

static int send_member(void *ctx, const archive_member *m, fo_err *err) {
    const int fd = *(const int *)ctx;
    wire_part part = {.magic = WIRE_MAGIC,
                      .kind = WIRE_MEMBER,
                      .n = (uint32_t)strlen(m->name),
                      .n_why = (uint32_t)strlen(m->why),
                      .outcome = m->outcome};
    if (wire_write_all(fd, &part, sizeof part) && wire_write_all(fd, m->name, part.n) &&
        wire_write_all(fd, m->why, part.n_why))
        return FO_OK;
    return fo_fail(err, FO_ECANCELLED, "nobody waits for it");
}

static _Noreturn void unpack(const server *s, const wire_job *job, int document, int answer) {
    fo_err err = {0};
    const void *map = job->n ? mmap(NULL, job->n, PROT_READ, MAP_PRIVATE, document, 0) : "";
    int rc = map == MAP_FAILED ? fo_fail_errno(&err, "cannot map the archive") : FO_OK;
    close(document);
    if (!rc &&
        !sandbox_limit(job->program_cpu_ms, s->address_bytes + job->max_address, WORKER_FILES))
        rc = fo_fail_errno(&err, "cannot set limits");
    if (!rc) {
        sandbox_enter(s->reader);
        archive_bounds bounds = {job->unpack_members, job->unpack_bytes, job->unpack_member};
        archive_request rq = {
            .bytes = map, .n = job->n, .file_name = job->file_name, .bounds = &bounds};
        archive_sink sink = {send_piece, send_member, &answer};
        rc = archive_walk(&rq, &sink, &err);
    }
    wire_part part = {.magic = WIRE_MAGIC, .kind = WIRE_UNPACKED};
    wire_unpacked end = {.rc = rc, .err = err};
    bool told =
        wire_write_all(answer, &part, sizeof part) && wire_write_all(answer, &end, sizeof end);
    _exit(told ? 0 : 1);
}

static _Noreturn void work(const server *s, const wire_job *job, const int fds[WIRE_FDS]) {
    signal(SIGPIPE, SIG_IGN); /* who reads the answer may have left */
    close(fds[2]);
    close(WIRE_CONTROL_FD);
    if (job->unpack) unpack(s, job, fds[0], fds[1]);
    doc_budget budget = {
        .cpu_ms = job->cpu_ms, .cpu_ms_per_mib = job->cpu_ms_per_mib, .max_bytes = job->max_kept};
    builder b = {.max_bytes = job->max_text, .budget = &budget};
    fo_err err = {0};
    int rc = read_document(s, &b, job, fds[0], &err);
    _exit(wire_write_answer(fds[1], &b, rc, &err) ? 0 : 1);
}

/* ---- the server ----------------------------------------------------------------------------------- */

typedef struct worker {
    pid_t pid;
    int end_fd; /* told how it ended; nobody reads it any more: its work is not wanted */
    double deadline;
    bool late;
} worker;

typedef struct workers {
    worker list[MAX_WORKERS];
    size_t n;
} workers;

static void tell(int fd, wire_end end) {
    ssize_t wrote = write(fd, &end, sizeof end); /* an empty pipe has room for it */
    (void)wrote;
    close(fd);
}

static void kill_worker(const worker *w) {
    kill(-w->pid, SIGKILL); /* its program too */
}

static void reap(workers *ws) {
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
        for (size_t i = 0; i < ws->n; i++) {
            worker *w = &ws->list[i];
            if (w->pid != pid) continue;
            kill_worker(w); /* what it may have left behind */
            wire_end end = w->late             ? (wire_end){WIRE_LATE, 0}
                           : WIFEXITED(status) ? (wire_end){WIRE_EXITED, WEXITSTATUS(status)}
                                               : (wire_end){WIRE_SIGNALLED, WTERMSIG(status)};
            tell(w->end_fd, end);
            *w = ws->list[--ws->n];
            break;
        }
}

static void close_all(const int *fds, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (fds[i] >= 0) close(fds[i]);
}

/* The next job and its files. False: the service is gone. */
static bool receive(wire_job *job, int fds[WIRE_FDS]) {
    union {
        char bytes[CMSG_SPACE(WIRE_FDS * sizeof(int))];
        struct cmsghdr align;
    } control = {0};
    struct iovec io = {job, sizeof *job};
    struct msghdr m = {
        .msg_iov = &io, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    ssize_t n;
    do n = recvmsg(WIRE_CONTROL_FD, &m, MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    if (n <= 0) return false;
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    bool complete = c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
                    c->cmsg_len == CMSG_LEN(WIRE_FDS * sizeof(int));
    if (complete) memcpy(fds, CMSG_DATA(c), WIRE_FDS * sizeof(int));
    return complete && n == sizeof *job && job->magic == WIRE_MAGIC;
}

static void start(const server *s, workers *ws, const wire_job *job, const int fds[WIRE_FDS]) {
    pid_t pid = ws->n < MAX_WORKERS ? fork() : -1;
    if (pid == 0) {
        setpgid(0, 0);
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        for (size_t i = 0; i < ws->n; i++) close(ws->list[i].end_fd);
        work(s, job, fds);
    }
    if (pid < 0) {
        tell(fds[2], (wire_end){WIRE_NOT_STARTED, ws->n < MAX_WORKERS ? errno : EAGAIN});
    } else {
        setpgid(pid, pid); /* whichever of the two comes first */
        ws->list[ws->n++] =
            (worker){.pid = pid, .end_fd = fds[2], .deadline = fo_now_ms() + job->wall_ms};
    }
    close_all(fds, WIRE_FDS - 1);
}

static void end_those_that_are_due(workers *ws, const struct pollfd *ends, size_t n_polled) {
    double now = fo_now_ms();
    for (size_t i = 0; i < ws->n; i++) {
        worker *w = &ws->list[i];
        bool left = i < n_polled && ends[i].revents & (POLLERR | POLLHUP);
        if (!w->late && (left || now > w->deadline)) {
            w->late = true;
            kill_worker(w);
        }
    }
}

static int next_wait(const workers *ws) {
    double first = 3600e3, now = fo_now_ms();
    for (size_t i = 0; i < ws->n; i++)
        if (!ws->list[i].late && ws->list[i].deadline - now < first)
            first = ws->list[i].deadline - now;
    return first < 0 ? 0 : (int)first + 1;
}

static void serve(const server *s, int signals) {
    static workers ws;
    static struct pollfd polled[MAX_WORKERS + 2];
    for (;;) {
        polled[0] = (struct pollfd){.fd = WIRE_CONTROL_FD, .events = POLLIN};
        polled[1] = (struct pollfd){.fd = signals, .events = POLLIN};
        size_t n = ws.n;
        for (size_t i = 0; i < n; i++) polled[2 + i] = (struct pollfd){.fd = ws.list[i].end_fd};
        if (poll(polled, n + 2, next_wait(&ws)) < 0 && errno != EINTR) break;
        end_those_that_are_due(&ws, polled + 2, n);
        if (polled[1].revents) {
            struct signalfd_siginfo ignored;
            ssize_t got = read(signals, &ignored, sizeof ignored);
            (void)got;
        }
        reap(&ws);
        if (polled[0].revents) {
            wire_job job;
            int fds[WIRE_FDS] = {-1, -1, -1};
            if (!receive(&job, fds)) break;
            job.charset[sizeof job.charset - 1] = 0;
            job.file_name[sizeof job.file_name - 1] = 0;
            job.language[sizeof job.language - 1] = 0;
            start(s, &ws, &job, fds);
        }
    }
    for (size_t i = 0; i < ws.n; i++) kill_worker(&ws.list[i]);
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
    encoding_load_all();
    setlocale(LC_CTYPE, "C.UTF-8"); /* names in archives are converted by it */
    sigset_t ended;
    sigemptyset(&ended);
    sigaddset(&ended, SIGCHLD);
    sigprocmask(SIG_SETMASK, &ended, NULL);
    int signals = signalfd(-1, &ended, SFD_CLOEXEC | SFD_NONBLOCK);
    server s = {.formats = formats,
                .n_formats = n_formats,
                .reader = sandbox_create(SANDBOX_READER),
                .program = sandbox_create(SANDBOX_PROGRAM),
                .address_bytes = address_bytes()};
    if (signals >= 0) serve(&s, signals);
    sandbox_free(s.reader);
    sandbox_free(s.program);
    return 0;
}
