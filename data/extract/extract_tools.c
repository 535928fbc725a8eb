/* See extract_tools.h. */
#include "data/extract/extract_tools.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernels/file.h"

enum {
    PROGRAM_FILES = 64,
    PIPE_BYTES = 1 << 20,
    MAX_ARGUMENTS = 32,
    FRAME = 64 << 10,
    INPUT = 64 << 20
};

/* ---- one program ---------------------------------------------------------------------------------- */

static const char *find_program(const char *name, char path[64]) {
    static const char *const folders[] = {"/usr/bin", "/bin", "/usr/local/bin"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        snprintf(path, 64, "%s/%s", folders[i], name);
        if (access(path, X_OK) == 0) return path;
    }
    return NULL;
}

bool tool_exists(const char *name) {
    char path[64];
    return find_program(name, path) != NULL;
}

static _Noreturn void become(const extract_program *p, const char *path, uint32_t page, int in,
                             int out, const wire_job *job, const sandbox *box) {
    /* One thread: a program may start no other. */
    static char path_of[] = "PATH=/usr/bin:/bin", language[] = "LC_ALL=C.UTF-8";
    static char one_thread[] = "OMP_THREAD_LIMIT=1";
    static char *const environment[] = {path_of, language, one_thread, NULL};
    char number[16], *argv[MAX_ARGUMENTS + 1];
    snprintf(number, sizeof number, "%u", page);
    size_t n = 0;
    for (; n < MAX_ARGUMENTS && p->argv[n]; n++) {
        const char *a = p->argv[n];
        argv[n] = strcmp(a, "%page") == 0       ? number
                  : strcmp(a, "%language") == 0 ? (char *)job->language
                                                : (char *)a;
    }
    argv[n] = NULL;
    signal(SIGPIPE, SIG_DFL);
    if (dup2(in, 0) < 0 || dup2(out, 1) < 0 ||
        !sandbox_limit(job->program_cpu_ms, job->max_address, PROGRAM_FILES))
        _exit(127);
    sandbox_enter(box);
    execve(path, argv, environment);
    _exit(127);
}

static void close_pair(int ends[2]) {
    for (int i = 0; i < 2; i++)
        if (ends[i] >= 0) close(ends[i]);
}

int tool_spawn(const extract_program *p, uint32_t page, int document, const wire_job *job,
               const sandbox *box, int *out, pid_t pids[2], fo_err *err) {
    const extract_program *parts[2] = {p, p->into};
    char paths[2][64];
    pids[0] = pids[1] = 0;
    for (int i = 0; i < 2 && parts[i]; i++)
        if (!find_program(parts[i]->name, paths[i]))
            return fo_fail(err, FO_EUNSUPPORTED,
                           "reading it needs the program %s, which this machine lacks: install the "
                           "package %s",
                           parts[i]->name, parts[i]->package);
    int between[2] = {-1, -1}, ends[2] = {-1, -1};
    if (pipe2(ends, O_CLOEXEC) != 0 || (p->into && pipe2(between, O_CLOEXEC) != 0)) {
        close_pair(ends);
        return fo_fail_errno(err, "cannot make a pipe");
    }
    fcntl(ends[1], F_SETPIPE_SZ, PIPE_BYTES);
    pid_t parent = getpid();
    for (int i = 0; i < 2 && parts[i]; i++) {
        pids[i] = fork();
        if (pids[i] < 0) {
            pids[i] = 0;
            int failed = errno;
            close_pair(ends);
            close_pair(between);
            tool_wait(pids); /* the first reads and writes nothing any more */
            errno = failed;
            return fo_fail_errno(err, "cannot start %s", parts[i]->name);
        }
        if (pids[i]) continue;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) _exit(127);
        become(parts[i], paths[i], page, i ? between[0] : document,
               p->into && i == 0 ? between[1] : ends[1], job, box);
    }
    close_pair(between);
    close(ends[1]);
    *out = ends[0];
    return FO_OK;
}

int tool_wait(const pid_t pids[2]) {
    int result = 0;
    for (int i = 0; i < 2; i++) {
        if (!pids[i]) continue;
        int status;
        pid_t rc;
        do rc = waitpid(pids[i], &status, 0);
        while (rc < 0 && errno == EINTR);
        int is = rc != pids[i] ? 255 : WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
        if (i == 0 || is) result = is;
    }
    return result;
}

/* ---- the runner ----------------------------------------------------------------------------------- */

typedef struct request {
    uint32_t tool, page;
    uint64_t input; /* bytes that come behind it; 0: the document itself is read */
} request;

static bool read_all(int fd, void *bytes, size_t n) {
    for (size_t at = 0; at < n;) {
        ssize_t got = read(fd, (char *)bytes + at, n - at);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        at += (size_t)got;
    }
    return true;
}

/* Frames of what it writes, each behind its length; 0 and the status at the end. */
static bool pass_on(int from, int to) {
    static char frame[FRAME];
    for (;;) {
        ssize_t got = read(from, frame, sizeof frame);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return true;
        uint32_t n = (uint32_t)got;
        if (!fo_write_all(to, &n, sizeof n) || !fo_write_all(to, frame, n)) return false;
    }
}

/* What the worker hands over becomes a file of memory, as the document is one. -1: there is no room for it, or it is
 * longer than `most`, for no limit of the process counts such a file. */
static int take_input(int from, uint64_t n, uint64_t most) {
    static char piece[FRAME];
    int fd = n <= most ? memfd_create("part", MFD_CLOEXEC) : -1;
    for (uint64_t left = n; left;) {
        size_t k = left < sizeof piece ? (size_t)left : sizeof piece;
        if (!read_all(from, piece, k)) _exit(0);
        if (fd >= 0 && !fo_write_all(fd, piece, k)) {
            close(fd);
            fd = -1; /* the rest is read all the same */
        }
        left -= k;
    }
    if (fd >= 0) lseek(fd, 0, SEEK_SET);
    return fd;
}

static _Noreturn void run(const extract_program *const *tools, int document, const wire_job *job,
                          const sandbox *box, int requests, int answers) {
    size_t n = 0;
    while (tools[n]) n++;
    const uint64_t most = job->n > INPUT ? job->n : INPUT;
    for (request rq; read_all(requests, &rq, sizeof rq);) {
        int from = -1, status = 127;
        pid_t pids[2];
        fo_err ignored;
        lseek(document, 0, SEEK_SET);
        bool here = true;
        int input = rq.input ? take_input(requests, rq.input, most) : document;
        if (rq.tool < n && input >= 0 &&
            tool_spawn(tools[rq.tool], rq.page, input, job, box, &from, pids, &ignored) == 0) {
            here = pass_on(from, answers);
            close(from);
            status = tool_wait(pids);
        }
        if (input >= 0 && input != document) close(input);
        uint32_t end = 0;
        if (!here || !fo_write_all(answers, &end, sizeof end) ||
            !fo_write_all(answers, &status, sizeof status))
            break;
    }
    _exit(0);
}

/* ---- the worker's side ----------------------------------------------------------------------------- */

static ptrdiff_t runner_read(void *ctx, char *buf, size_t n) {
    tool_runner *r = ctx;
    if (!r->running) return 0;
    if (!r->left) {
        if (!read_all(r->answers, &r->left, sizeof r->left)) r->left = 0;
        if (!r->left) {
            r->running = false;
            if (!read_all(r->answers, &r->status, sizeof r->status)) r->status = 255;
            return 0;
        }
    }
    if (n > r->left) n = r->left;
    ssize_t got;
    do got = read(r->answers, buf, n);
    while (got < 0 && errno == EINTR);
    if (got <= 0) {
        r->running = false;
        r->status = 255;
        return 0;
    }
    r->left -= (uint32_t)got;
    return got;
}

/* What is not wanted any more is read to its end: the program is bound in time. */
static int runner_end(void *ctx) {
    tool_runner *r = ctx;
    char rest[4096];
    while (runner_read(r, rest, sizeof rest) > 0) {
    }
    return r->status;
}

static int runner_ask(void *ctx, uint32_t tool, uint32_t page, const void *input, size_t n,
                      extract_stream *to, fo_err *err) {
    tool_runner *r = ctx;
    if (r->running) runner_end(r);
    request rq = {tool, page, input ? n : 0};
    r->left = 0;
    r->status = 255;
    if (!fo_write_all(r->requests, &rq, sizeof rq) ||
        (input && !fo_write_all(r->requests, input, n)))
        return fo_fail(err, FO_EIO, "the process that starts programs for it ended");
    r->running = true;
    *to = (extract_stream){runner_read, runner_end, r};
    return FO_OK;
}

int tool_runner_start(tool_runner *r, const extract_program *const *tools, int document,
                      const wire_job *job, const sandbox *box, fo_err *err) {
    int requests[2] = {-1, -1}, answers[2] = {-1, -1};
    *r = (tool_runner){.requests = -1, .answers = -1};
    pid_t parent = getpid(), pid = -1;
    if (pipe2(requests, O_CLOEXEC) == 0 && pipe2(answers, O_CLOEXEC) == 0) pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) _exit(0);
        close(requests[1]); /* so that the worker's end is seen */
        close(answers[0]);
        run(tools, document, job, box, requests[0], answers[1]);
    }
    if (pid < 0) {
        int failed = errno;
        close_pair(requests);
        close_pair(answers);
        errno = failed;
        return fo_fail_errno(err, "cannot start the process that starts programs for it");
    }
    close(requests[0]);
    close(answers[1]);
    r->requests = requests[1];
    r->answers = answers[0];
    r->tools = (extract_tools){runner_ask, r};
    return FO_OK;
}
