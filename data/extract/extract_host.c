/* The service's side of extract_host.h: a document goes out in a sealed file of memory, an answer
 * comes back through a pipe and is checked (extract_reply.h), for the worker that wrote it may have been
 * taken over by its document. */
#include "data/extract/extract_host.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "data/extract/archive.h"
#include "data/extract/extract_internal.h"
#include "data/extract/extract_lease.h"
#include "data/extract/extract_reply.h"
#include "data/extract/page_image.h"
#include "kernels/clock.h"
#include "kernels/paths.h"

enum {
    GRACE_MS = 5000, /* past a document's deadline: then it is the server that hangs */
};
static const double DEFAULT_WALL_MS = 60e3, DEFAULT_WALL_MS_PER_MIB = 60e3;
static const double DEFAULT_CPU_MS = 20e3, DEFAULT_CPU_MS_PER_MIB = 10e3;
static const double DEFAULT_OCR_WALL_MS = 600e3;
static const size_t DEFAULT_MEMORY = (size_t)1 << 30;

struct extract_host {
    /* immutable */
    char *program;
    extract_host_options opt;
    pthread_mutex_t mu;
    /* guarded by mu */
    int socket; /* to the server; -1: none runs */
    pid_t pid;
    lease_list leases; /* its own lock */
};

#define ANYBODY UINT64_MAX /* the company of formats of text: extract_format.company */

int extract_host_create(extract_host **out, const extract_host_options *opt, fo_err *err) {
    extract_host *h = calloc(1, sizeof *h);
    if (!h || !(h->program = strdup(opt->program))) {
        free(h);
        return fo_no_memory(err);
    }
    h->opt = *opt;
    if (!h->opt.wall_ms) h->opt.wall_ms = DEFAULT_WALL_MS;
    if (!h->opt.wall_ms_per_mib) h->opt.wall_ms_per_mib = DEFAULT_WALL_MS_PER_MIB;
    if (!h->opt.cpu_ms) h->opt.cpu_ms = DEFAULT_CPU_MS;
    if (!h->opt.cpu_ms_per_mib) h->opt.cpu_ms_per_mib = DEFAULT_CPU_MS_PER_MIB;
    if (!h->opt.ocr_wall_ms) h->opt.ocr_wall_ms = DEFAULT_OCR_WALL_MS;
    if (!h->opt.memory_bytes) h->opt.memory_bytes = DEFAULT_MEMORY;
    h->socket = -1;
    pthread_mutex_init(&h->mu, NULL);
    leases_init(&h->leases);
    *out = h;
    return FO_OK;
}

/* ---- the server of workers ------------------------------------------------------------------------ */

/* Under mu: the server, if there is one, ends. */
static void stop_server(extract_host *h, bool at_once) {
    if (h->socket >= 0) close(h->socket); /* it ends when it reads that */
    h->socket = -1;
    if (!h->pid) return;
    if (at_once) kill(h->pid, SIGKILL);
    while (waitpid(h->pid, NULL, 0) < 0 && errno == EINTR) {
    }
    h->pid = 0;
}

/* Under mu: one that runs. A new process image, not a fork: threads of this process may hold locks,
 * and its memory is nobody's business there. */
static int start_server(extract_host *h, fo_err *err) {
    if (h->socket >= 0) return FO_OK;
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return fo_fail_errno(err, "cannot make a socket for reading documents");
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    sigset_t none, usual;
    sigemptyset(&none);
    sigfillset(&usual);
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attr);
    posix_spawnattr_setsigmask(&attr, &none);
    posix_spawnattr_setsigdefault(&attr, &usual);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    for (int fd = 0; fd <= 2; fd++)
        posix_spawn_file_actions_addopen(&files, fd, "/dev/null", O_RDWR, 0);
    posix_spawn_file_actions_adddup2(&files, ends[1], WIRE_CONTROL_FD);
    /* Of time zones nothing is read: archives have times, which nobody asks for. */
    static char name[] = "forage", word[] = "--extract-worker", zone[] = "TZ=UTC0";
    static char *const argv[] = {name, word, NULL}, *const environment[] = {zone, NULL};
    pid_t pid;
    int failed = posix_spawn(&pid, h->program, &files, &attr, argv, environment);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attr);
    close(ends[1]);
    if (failed) {
        close(ends[0]);
        errno = failed;
        return fo_fail_errno(err, "cannot start %s to read documents", h->program);
    }
    h->socket = ends[0];
    h->pid = pid;
    return FO_OK;
}

void extract_host_free(extract_host *h) {
    if (!h) return;
    leases_deinit(&h->leases);
    stop_server(h, false);
    pthread_mutex_destroy(&h->mu);
    free(h->program);
    free(h);
}

int extract_host_pid(extract_host *h) {
    pthread_mutex_lock(&h->mu);
    int pid = h->pid;
    pthread_mutex_unlock(&h->mu);
    return pid;
}

/* A server that is gone (the kernel was short of memory, somebody ended it) is started again. */
int extract_host_send(extract_host *h, const wire_job *job, const int fds[WIRE_FDS], int *pid,
                      fo_err *err) {
    pthread_mutex_lock(&h->mu);
    int rc = start_server(h, err);
    if (!rc && !wire_send_job(h->socket, job, fds, WIRE_FDS)) {
        stop_server(h, true);
        rc = start_server(h, err);
        if (!rc && !wire_send_job(h->socket, job, fds, WIRE_FDS))
            rc = fo_fail_errno(err, "cannot hand a document to the process that reads it");
    }
    *pid = h->pid;
    pthread_mutex_unlock(&h->mu);
    return rc;
}

/* The server itself does not answer: away with it, unless another one has taken its place. */
static void drop_server(extract_host *h, int pid) {
    pthread_mutex_lock(&h->mu);
    if (h->pid == pid) stop_server(h, true);
    pthread_mutex_unlock(&h->mu);
}

/* ---- the document goes out ------------------------------------------------------------------------ */

static int make_file(const void *bytes, size_t n, int *fd, fo_err *err) {
    *fd = memfd_create("document", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (*fd < 0) return fo_fail_errno(err, "cannot make a file of memory for the document");
    for (size_t at = 0; at < n;) {
        ssize_t wrote = write(*fd, (const char *)bytes + at, n - at);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote <= 0) return fo_fail_errno(err, "cannot copy the document");
        at += (size_t)wrote;
    }
    lseek(*fd, 0, SEEK_SET);
    if (fcntl(*fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
        return fo_fail_errno(err, "cannot seal the document");
    return FO_OK;
}

/* A job on its way: its answer and its end come through these. */
typedef struct exchange {
    int answer, ended, pid;
} exchange;

/* ---- the whole ------------------------------------------------------------------------------------ */

/* The worker ended without an answer. */
static int explain_end(const wire_job *job, const wire_end *end, fo_err *err) {
    switch (end->kind) {
    case WIRE_LATE:
        return fo_fail(err, FO_ELIMIT,
                       "reading it did not end within the %.0f s that one of its size is given",
                       job->wall_ms / 1e3);
    case WIRE_SIGNALLED:
        if (end->value == SIGXCPU || end->value == SIGKILL)
            return fo_fail(err, FO_ELIMIT,
                           "reading it was ended: it took more computing time or memory than one "
                           "of its size is given");
        return fo_fail(err, FO_EINVAL,
                       "the process that read it crashed (signal %d); the document is damaged or "
                       "made to do that",
                       end->value);
    case WIRE_NOT_STARTED:
        errno = end->value;
        return fo_fail_errno(err, "cannot start a process to read it");
    default:
        return fo_fail(err, FO_EIO,
                       "the process that read it gave an answer that contradicts "
                       "itself (status %d)",
                       end->value);
    }
}

/* There was no whole answer, as r says: what became of the worker? *gone: not even the server has a word to say. */
static int explain_silence(extract_host *h, const wire_job *job, extract_reply *r, int ended,
                           int pid, bool *gone, fo_err *err) {
    wire_end end = {WIRE_EXITED, 0};
    r->fd = ended;
    r->ended = false;
    r->at = r->n = 0;
    if (r->failure || !extract_reply_bytes(r, &end, sizeof end)) {
        if (r->failure == FO_ECANCELLED) return fo_fail(err, FO_ECANCELLED, "cancelled");
        drop_server(h, pid);
        *gone = r->ended;
        return fo_fail(err, FO_EIO,
                       "the process that reads documents ended or hangs; it is started "
                       "anew with the next one");
    }
    return explain_end(job, &end, err);
}

/* What came of it; the worker's end is known where there was no whole answer. */
static int receive(extract_host *h, const wire_job *job, const exchange *x, builder *b,
                   atomic_size_t *pages, bool *gone, fo_err *err) {
    extract_reply r = {.fd = x->answer,
                       .deadline = fo_now_ms() + job->wall_ms + GRACE_MS,
                       .budget = b->budget,
                       .pages = pages};
    int rc;
    if (!extract_reply_answer(&r, b, &rc, err))
        rc = explain_silence(h, job, &r, x->ended, x->pid, gone, err);
    /* Nothing comes of them, or they are read once more, with more memory. */
    if (pages && (rc || b->failure)) atomic_fetch_sub(pages, r.n_pages);
    return rc;
}

static void fill_job(wire_job *job, const extract_host *h, size_t row, const extract_input *in,
                     const builder *b) {
    const doc_budget *k = b->budget;
    double mib = (double)in->n / (1 << 20);
    *job = (wire_job){.magic = WIRE_MAGIC,
                      .row = (uint32_t)row,
                      .n = in->n,
                      .max_text = b->max_bytes,
                      .max_address = h->opt.memory_bytes,
                      .cpu_ms = k ? k->cpu_ms : 0,
                      .cpu_ms_per_mib = k ? k->cpu_ms_per_mib : 0,
                      .program_cpu_ms = h->opt.cpu_ms + h->opt.cpu_ms_per_mib * mib,
                      .wall_ms = h->opt.wall_ms + h->opt.wall_ms_per_mib * mib,
                      .is_text = in->is_text,
                      .ocr = in->ocr};
    if (in->ocr) job->wall_ms += h->opt.ocr_wall_ms;
    snprintf(job->language, sizeof job->language, "%s",
             in->ocr_language ? in->ocr_language : "eng");
    if (k && k->max_bytes) job->max_kept = k->max_bytes > k->used ? k->max_bytes - k->used : 1;
    if (in->charset) snprintf(job->charset, sizeof job->charset, "%s", in->charset);
    if (in->file_name) {
        const char *name = fo_base_name(in->file_name);
        size_t n = strlen(name); /* its ending matters more than its beginning */
        if (n >= sizeof job->file_name) name += n - sizeof job->file_name + 1;
        memcpy(job->file_name, name, strlen(name));
    }
}

static int begin_exchange(extract_host *h, const wire_job *job, const void *bytes, exchange *x,
                          fo_err *err) {
    int fds[WIRE_FDS] = {-1, -1, -1}, answer[2] = {-1, -1}, ended[2] = {-1, -1};
    int rc = make_file(bytes, job->n, &fds[0], err);
    if (!rc && (pipe2(answer, O_CLOEXEC) != 0 || pipe2(ended, O_CLOEXEC) != 0))
        rc = fo_fail_errno(err, "cannot make pipes for reading the document");
    fds[1] = answer[1];
    fds[2] = ended[1];
    *x = (exchange){answer[0], ended[0], 0};
    if (!rc) {
        fcntl(answer[1], F_SETPIPE_SZ, EXTRACT_REPLY_PIECE);
        rc = extract_host_send(h, job, fds, &x->pid, err);
    }
    /* The worker's copies alone stay: their end is seen as the end. */
    for (int i = 0; i < WIRE_FDS; i++)
        if (fds[i] >= 0) close(fds[i]);
    return rc;
}

/* ---- a worker for several ---------------------------------------------------------------------------- */

static uint64_t company_of(const extract_format *f, const extract_input *in) {
    return f->company == EXTRACT_WITH_ANY        ? ANYBODY
           : f->company == EXTRACT_WITH_ITS_CALL ? in->call
                                                 : 0;
}

/* The answer of a worker that is leased. *lost: there was none, and err says what became of the process. */
static int read_leased(extract_host *h, lease *l, const wire_job *job, const void *bytes,
                       builder *b, bool *lost, bool *gone, fo_err *err) {
    extract_reply r = {
        .fd = l->channel, .deadline = fo_now_ms() + job->wall_ms, .budget = b->budget};
    int rc;
    bool sent = lease_send(l, job, bytes);
    if (sent && extract_reply_answer(&r, b, &rc, err)) {
        if (rc || b->failure)
            lease_close(l); /* whatever is wrong with it, no other follows it */
        else
            lease_keep(&h->leases, l);
        return rc;
    }
    if (r.failure == FO_ECANCELLED) {
        rc = fo_fail(err, FO_ECANCELLED, "cancelled");
    } else if (r.failure) {
        rc = explain_end(job, &(wire_end){WIRE_LATE, 0}, err);
    } else {
        *lost = true;
        shutdown(l->channel, SHUT_RDWR); /* one that said what is no answer ends, too */
        r.deadline = fo_now_ms() + GRACE_MS;
        rc = explain_silence(h, job, &r, l->ended, l->pid, gone, err);
    }
    lease_close(l);
    return rc;
}

/* By a worker that may have read others of its company. Where the process fails and had read others, it may be the fault of
 * one of these: then, as where the server was gone, the document gets a fresh one. */
static int read_in_company(extract_host *h, uint64_t company, const wire_job *job,
                           const void *bytes, builder *b, fo_err *err) {
    int rc = FO_OK;
    bool again = true, used_one = false;
    for (int tries = 0; again && tries < 3 && !b->n_blocks && !b->text.len; tries++) {
        lease *l = used_one ? NULL : lease_find(&h->leases, company);
        bool lost = false, gone = false;
        rc = l ? FO_OK : lease_open(&l, h, company, job, err);
        if (rc) return rc;
        used_one = l->n_read > 0;
        rc = read_leased(h, l, job, bytes, b, &lost, &gone, err);
        again = lost && (used_one || gone);
    }
    return rc;
}

void extract_host_end_call(extract_host *h, uint64_t call) {
    if (h && call) leases_end(&h->leases, call);
}

/* ---- a document --------------------------------------------------------------------------------------- */

static void end_exchange(exchange *x) {
    if (x->answer >= 0) close(x->answer);
    if (x->ended >= 0) close(x->ended); /* the server ends a worker that still runs */
}

int extract_apart(extract_host *h, const extract_format *f, size_t row, const extract_input *in,
                  builder *b, fo_err *err) {
    wire_job job;
    fill_job(&job, h, row, in, b);
    uint64_t company = company_of(f, in);
    int rc = FO_EUNSUPPORTED;
    if (company && in->n <= LEASE_BYTES) rc = read_in_company(h, company, &job, in->bytes, b, err);
    if (rc != FO_EUNSUPPORTED) return rc; /* else this kernel leases none */
    rc = FO_OK;
    bool gone =
        true; /* one that is gone takes with it what it was just handed: that is read by the next */
    for (int tries = 0; gone && tries < 2 && !b->n_blocks && !b->text.len; tries++) {
        exchange x;
        gone = false;
        rc = begin_exchange(h, &job, in->bytes, &x, err);
        if (!rc) rc = receive(h, &job, &x, b, in->pages, &gone, err);
        end_exchange(&x);
    }
    return rc;
}

/* A job of which pieces come, and members where bounds allow any. */
static int take_parts(extract_host *h, const wire_job *job, const void *bytes,
                      archive_bounds *bounds, const archive_sink *sink, const atomic_bool *cancel,
                      fo_err *err) {
    doc_budget budget = {.cancel = cancel};
    exchange x;
    int rc = begin_exchange(h, job, bytes, &x, err);
    char *piece = malloc(EXTRACT_REPLY_PIECE);
    if (!rc && !piece) rc = fo_no_memory(err);
    extract_reply r = {
        .fd = x.answer, .deadline = fo_now_ms() + job->wall_ms + GRACE_MS, .budget = &budget};
    bool over = false;
    while (!rc && !over && extract_reply_part(&r, bounds, sink, piece, &over, &rc, err)) {
    }
    bool gone; /* what came out stands: it is not begun anew */
    if (!rc && !over) rc = explain_silence(h, job, &r, x.ended, x.pid, &gone, err);
    free(piece);
    end_exchange(&x);
    return rc;
}

int archive_unpack(extract_host *h, const archive_request *rq, const archive_sink *sink,
                   fo_err *err) {
    if (!h)
        return fo_fail(err, FO_EUNSUPPORTED,
                       "archives are read in a process of their own, and this program starts none");
    builder none = {0};
    extract_input in = {.n = rq->n, .file_name = rq->file_name};
    wire_job job;
    fill_job(&job, h, 0, &in, &none);
    job.unpack = true;
    job.unpack_members = rq->bounds->n_members;
    job.unpack_bytes = rq->bounds->bytes;
    job.unpack_member = rq->bounds->member;
    return take_parts(h, &job, rq->bytes, rq->bounds, sink, rq->cancel, err);
}

/* ---- pages as images ------------------------------------------------------------------------------ */

/* Somebody waits before a screen. */
static const double DRAW_WALL_MS = 20e3, DRAW_CPU_MS = 10e3;

bool page_image_has(const void *bytes, size_t n) {
    const extract_format *f = extract_format_certain(bytes, n);
    return f && f->draw;
}

static int add_to_image(void *ctx, const void *p, size_t n, fo_err *err) {
    fo_buf *png = ctx;
    fo_buf_add(png, p, n);
    return png->failed ? fo_no_memory(err) : FO_OK;
}

int page_image_draw(extract_host *h, const void *bytes, size_t n, uint32_t page,
                    const atomic_bool *cancel, fo_buf *png, fo_err *err) {
    const extract_format *f = extract_format_certain(bytes, n);
    if (!h || !f || !f->draw || !page)
        return fo_fail(err, FO_EUNSUPPORTED, "it has no pages that could be shown");
    size_t row = 0;
    while (extract_format_at(row) != f) row++;
    builder none = {0};
    extract_input in = {.n = n};
    wire_job job;
    fill_job(&job, h, row, &in, &none);
    job.draw = page;
    job.wall_ms = DRAW_WALL_MS;
    job.program_cpu_ms = DRAW_CPU_MS;
    archive_bounds bounds = {.bytes = PAGE_IMAGE_MAX_BYTES}; /* no members: pieces, and the end */
    archive_sink sink = {.bytes = add_to_image, .ctx = png};
    return take_parts(h, &job, bytes, &bounds, &sink, cancel, err);
}
