/* The service's side of extract_host.h: a document goes out in a sealed file of memory, an answer
 * comes back through a pipe and is checked field by field, for the worker that wrote it may have been
 * taken over by its document. */
#include "data/extract/extract_host.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
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
#include "data/extract/extract_wire.h"
#include "data/extract/page_image.h"
#include "kernels/clock.h"
#include "kernels/utf8.h"

enum {
    LOOK_MS = 50,    /* how often the word of who waits is looked at */
    GRACE_MS = 5000, /* past a document's deadline: then it is the server that hangs */
    PIPE_BYTES = 1 << 20,
    MAX_NAMES = 64 << 20, /* bytes of names of places */
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
};

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
static int send_job(extract_host *h, const wire_job *job, const int fds[WIRE_FDS], int *pid,
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

/* ---- the answer comes in -------------------------------------------------------------------------- */

typedef struct reply {
    int fd;
    double deadline;
    doc_budget *budget; /* who waits may leave */
    int failure;        /* FO_OK, FO_ECANCELLED, FO_ETIMEOUT (the server hangs), FO_EIO */
    bool ended;         /* nothing more comes */
} reply;

/* Exactly n bytes; false: r says why. */
static bool take_bytes(reply *r, void *out, size_t n) {
    for (size_t at = 0; at < n;) {
        struct pollfd p = {.fd = r->fd, .events = POLLIN};
        int ready = poll(&p, 1, LOOK_MS);
        if (r->budget && r->budget->cancel && atomic_load(r->budget->cancel)) {
            r->failure = FO_ECANCELLED;
            return false;
        }
        if (fo_now_ms() > r->deadline) {
            r->failure = FO_ETIMEOUT;
            return false;
        }
        if (ready <= 0) continue;
        ssize_t got = read(r->fd, (char *)out + at, n - at);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) {
            r->ended = true;
            return false;
        }
        at += (size_t)got;
    }
    return true;
}

/* Sizes that an honest worker would say: what comes is bounded before it is allocated. */
static bool head_holds(const wire_head *h, size_t max_text) {
    return h->magic == WIRE_MAGIC && h->text <= max_text && h->title <= 4096 &&
           h->names <= MAX_NAMES && h->n_blocks <= max_text / 2 + 1 &&
           h->n_places <= h->n_blocks + 65536 && memchr(h->err.msg, 0, sizeof h->err.msg) &&
           memchr(h->err.field, 0, sizeof h->err.field) && h->rc <= 0 && h->failure <= 0 &&
           h->budget_failure <= 0 && (h->failure || !h->budget_failure);
}

static bool blocks_hold(const builder *b) {
    size_t at = 0;
    for (size_t i = 0; i < b->n_blocks; i++) {
        const text_block *k = &b->blocks[i];
        if (k->start < at || k->end <= k->start || k->end > b->text.len || k->place > b->n_places ||
            k->kind > TEXT_TABLE_ROW || k->level > 6 || !fo_utf8_boundary(b->text.data[k->start]) ||
            (k->end < b->text.len && !fo_utf8_boundary(b->text.data[k->end])))
            return false;
        size_t name = k->start + k->name, name_end = name + k->n_name;
        if (name_end > k->end || !fo_utf8_boundary(b->text.data[name]) ||
            !fo_utf8_boundary(b->text.data[name_end]))
            return false;
        at = k->end;
    }
    return true;
}

static bool text_holds(const char *s, size_t n) {
    return !memchr(s, 0, n) && fo_utf8_valid(s, n, NULL);
}

/* The name at this offset of the blob (from 1; 0 is none), NULL where it is none. */
static const char *name_at(const char *names, size_t n, uint32_t at) {
    if (!at || at > n || !memchr(names + at - 1, 0, n - at + 1)) return NULL;
    return text_holds(names + at - 1, strlen(names + at - 1)) ? names + at - 1 : NULL;
}

static bool take_places(reply *r, builder *b, const wire_head *h) {
    if (!h->n_places && !h->names) return true;
    size_t bytes = h->n_places * sizeof(wire_place) + h->names;
    if (!doc_budget_take(b->budget, bytes)) {
        b->failure = b->budget->failure;
        return false;
    }
    wire_place *places = calloc(h->n_places + 1, sizeof *places);
    char *names = malloc(h->names + 1);
    bool ok = places && names && take_bytes(r, places, h->n_places * sizeof *places) &&
              take_bytes(r, names, h->names);
    for (size_t i = 0; ok && i < h->n_places; i++) {
        const wire_place *p = &places[i];
        text_place to = {.page = p->page,
                         .slide = p->slide,
                         .line = p->line,
                         .start_ms = isfinite(p->start_ms) ? p->start_ms : 0,
                         .end_ms = isfinite(p->end_ms) ? p->end_ms : 0,
                         .sheet = name_at(names, h->names, p->sheet),
                         .range = name_at(names, h->names, p->range)};
        for (int k = 0; k < 4; k++) to.box[k] = isfinite(p->box[k]) ? p->box[k] : 0;
        builder_set_place(b, &to);
        ok = !b->failure;
    }
    free(places);
    free(names);
    doc_budget_give(b->budget, bytes);
    return ok;
}

static bool take_title(reply *r, builder *b, size_t n) {
    char title[4096];
    if (!take_bytes(r, title, n)) return false;
    if (text_holds(title, n)) builder_set_title(b, title, n);
    return true;
}

/* Behind the head: b is empty and gets it all. False: r or b says why, or it contradicts itself. */
static bool take_body(reply *r, builder *b, const wire_head *h) {
    size_t blocks = h->n_blocks * sizeof *b->blocks;
    if (!doc_budget_take(b->budget, h->text + blocks)) {
        b->failure = b->budget->failure;
        return false;
    }
    if (!fo_buf_reserve(&b->text, h->text + 1)) {
        b->failure = FO_ENOMEM;
        return false;
    }
    if (!take_bytes(r, b->text.data, h->text)) return false;
    b->text.len = h->text;
    b->text.data[h->text] = 0;
    if (!text_holds(b->text.data, b->text.len) || !take_title(r, b, h->title)) return false;
    b->blocks = calloc(h->n_blocks + 1, sizeof *b->blocks);
    if (!b->blocks) {
        b->failure = FO_ENOMEM;
        return false;
    }
    b->cap_blocks = h->n_blocks + 1;
    if (!take_bytes(r, b->blocks, blocks)) return false;
    b->n_blocks = h->n_blocks;
    b->n_replaced = h->n_replaced;
    return take_places(r, b, h) && blocks_hold(b);
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
static int explain_silence(extract_host *h, const wire_job *job, reply *r, int ended, int pid,
                           bool *gone, fo_err *err) {
    wire_end end = {WIRE_EXITED, 0};
    r->fd = ended;
    r->ended = false;
    if (r->failure || !take_bytes(r, &end, sizeof end)) {
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
static int receive(extract_host *h, const wire_job *job, const exchange *x, builder *b, bool *gone,
                   fo_err *err) {
    reply r = {
        .fd = x->answer, .deadline = fo_now_ms() + job->wall_ms + GRACE_MS, .budget = b->budget};
    wire_head head;
    if (take_bytes(&r, &head, sizeof head) && head_holds(&head, b->max_bytes)) {
        b->failure = head.failure;
        if (b->budget && head.budget_failure) { /* said by doc_budget_fail, in the words of here */
            b->budget->failure = head.budget_failure;
            b->budget->wanted = b->budget->used + head.wanted;
        }
        if (head.rc) {
            if (err) *err = head.err;
            if (err) err->code = head.rc;
            return head.rc;
        }
        if (head.failure || take_body(&r, b, &head) || b->failure) return FO_OK;
    }
    return explain_silence(h, job, &r, x->ended, x->pid, gone, err);
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
        const char *slash = strrchr(in->file_name, '/'), *name = slash ? slash + 1 : in->file_name;
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
        fcntl(answer[1], F_SETPIPE_SZ, PIPE_BYTES);
        rc = send_job(h, job, fds, &x->pid, err);
    }
    /* The worker's copies alone stay: their end is seen as the end. */
    for (int i = 0; i < WIRE_FDS; i++)
        if (fds[i] >= 0) close(fds[i]);
    return rc;
}

static void end_exchange(exchange *x) {
    if (x->answer >= 0) close(x->answer);
    if (x->ended >= 0) close(x->ended); /* the server ends a worker that still runs */
}

int extract_apart(extract_host *h, size_t row, const extract_input *in, builder *b, fo_err *err) {
    wire_job job;
    fill_job(&job, h, row, in, b);
    int rc = FO_OK;
    bool gone =
        true; /* one that is gone takes with it what it was just handed: that is read by the next */
    for (int tries = 0; gone && tries < 2 && !b->n_blocks && !b->text.len; tries++) {
        exchange x;
        gone = false;
        rc = begin_exchange(h, &job, in->bytes, &x, err);
        if (!rc) rc = receive(h, &job, &x, b, &gone, err);
        end_exchange(&x);
    }
    return rc;
}

/* ---- archives ------------------------------------------------------------------------------------- */

/* A member's name, or why it is not read: text of at most cap - 1 bytes. */
static bool take_text(reply *r, char *out, size_t n, size_t cap) {
    if (n >= cap || !take_bytes(r, out, n)) return false;
    out[n] = 0;
    return text_holds(out, n);
}

/* One part of what comes out. *rc: the sink's word, or the archive's where *over. False: r says why, or it contradicts
 * itself. */
static bool take_part(reply *r, archive_bounds *left, const archive_sink *sink, char *piece,
                      bool *over, int *rc, fo_err *err) {
    enum { MAX_WHY = 256 };
    wire_part part;
    if (!take_bytes(r, &part, sizeof part) || part.magic != WIRE_MAGIC) return false;
    if (part.kind == WIRE_PIECE) {
        if (part.n > PIPE_BYTES || part.n > left->bytes || !take_bytes(r, piece, part.n))
            return false;
        left->bytes -= part.n;
        *rc = sink->bytes(sink->ctx, piece, part.n, err);
        return true;
    }
    if (part.kind == WIRE_MEMBER) {
        char name[ARCHIVE_MAX_NAME + 64], why[MAX_WHY];
        if (!left->n_members || part.outcome > MEMBER_FAILED ||
            !take_text(r, name, part.n, sizeof name) || !take_text(r, why, part.n_why, sizeof why))
            return false;
        left->n_members--;
        archive_member m = {name, part.outcome, why};
        *rc = sink->member(sink->ctx, &m, err);
        return true;
    }
    wire_unpacked end;
    if (part.kind != WIRE_UNPACKED || !take_bytes(r, &end, sizeof end) || end.rc > 0 ||
        !memchr(end.err.msg, 0, sizeof end.err.msg) ||
        !memchr(end.err.field, 0, sizeof end.err.field))
        return false;
    *over = true;
    *rc = end.rc;
    if (end.rc && err) {
        *err = end.err;
        err->code = end.rc;
    }
    return true;
}

/* A job of which pieces come, and members where bounds allow any. */
static int take_parts(extract_host *h, const wire_job *job, const void *bytes,
                      archive_bounds *bounds, const archive_sink *sink, const atomic_bool *cancel,
                      fo_err *err) {
    doc_budget budget = {.cancel = cancel};
    exchange x;
    int rc = begin_exchange(h, job, bytes, &x, err);
    char *piece = malloc(PIPE_BYTES);
    if (!rc && !piece) rc = fo_no_memory(err);
    reply r = {
        .fd = x.answer, .deadline = fo_now_ms() + job->wall_ms + GRACE_MS, .budget = &budget};
    bool over = false;
    while (!rc && !over && take_part(&r, bounds, sink, piece, &over, &rc, err)) {
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
