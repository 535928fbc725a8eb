/* See extract_worker.h. */
#include "data/extract/extract_worker.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "data/extract/archive.h"
#include "data/extract/encoding.h"
#include "data/extract/extract_internal.h"
#include "data/extract/extract_tools.h"
#include "data/extract/extract_wire.h"
#include "kernels/clock.h"
#include "kernels/file.h"

enum { WORKER_FILES = 16 };

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

const extract_format *worker_row(const worker_setup *s, size_t i) {
    return i < s->n_formats ? &s->formats[i] : extract_format_at(i - s->n_formats);
}

bool worker_needs_programs(const extract_format *f) {
    return f && (f->program || f->tools);
}

/* The document as a format is given it. */
static extract_input input_of(const wire_job *job, const void *bytes) {
    return (extract_input){.bytes = bytes,
                           .n = job->n,
                           .charset = encoding_find(job->charset, strlen(job->charset)),
                           .file_name = job->file_name[0] ? job->file_name : NULL,
                           .is_text = job->is_text,
                           .ocr = job->ocr,
                           .head = ""};
}

/* The same; *in holds a mapping of job->n bytes. */
static int map_document(extract_input *in, const wire_job *job, int document, fo_err *err) {
    *in = input_of(job, "");
    if (!job->n) return FO_OK;
    void *map = mmap(NULL, job->n, PROT_READ, MAP_PRIVATE, document, 0);
    if (map == MAP_FAILED) return fo_fail_errno(err, "cannot map the document");
    in->bytes = map;
    return FO_OK;
}

static int run_format(const extract_format *f, builder *b, const wire_job *job, extract_input *in,
                      fo_err *err) {
    doc_budget_begin(b->budget);
    doc_budget_grant(b->budget, job->n);
    return f->extract(b, in, err);
}

double worker_cpu_ms(const wire_job *job) {
    double of_its_own = job->cpu_ms + job->cpu_ms_per_mib * (double)job->n / (1 << 20);
    return 4 * of_its_own + job->program_cpu_ms;
}

size_t worker_address_bytes(const worker_setup *s, const wire_job *job) {
    return s->address_bytes + job->max_address;
}

static int read_with_programs(const worker_setup *s, builder *b, const wire_job *job, int document,
                              fo_err *err) {
    const extract_format *f = worker_row(s, job->row);
    extract_input in;
    int mapped = map_document(&in, job, document, err);
    if (mapped) return mapped;
    /* The one that starts programs first: it would hold the other end of what this one writes, and keep it from ending. */
    tool_runner runner;
    if (f->tools) {
        int rc = tool_runner_start(&runner, f->tools, document, job, s->program, err);
        if (rc) return rc;
        in.tools = &runner.tools;
    }
    helper h = {.fd = -1};
    extract_stream from = {helper_read, helper_end, &h};
    if (f->program) {
        int rc = tool_spawn(f->program, 0, document, job, s->program, &h.fd, h.pids, err);
        if (rc) return rc;
        in.program = &from;
    }
    close(document);
    if (!sandbox_limit(worker_cpu_ms(job), worker_address_bytes(s, job), WORKER_FILES))
        return fo_fail_errno(err, "cannot set limits");
    sandbox_enter(s->reader);
    return run_format(f, b, job, &in, err);
}

/* ---- one worker: an archive is taken apart --------------------------------------------------------- */

static int send_piece(void *ctx, const void *p, size_t n, fo_err *err) {
    const int fd = *(const int *)ctx;
    wire_part part = {.magic = WIRE_MAGIC, .kind = WIRE_PIECE, .n = (uint32_t)n};
    if (fo_write_all(fd, &part, sizeof part) && fo_write_all(fd, p, n)) return FO_OK;
    return fo_fail(err, FO_ECANCELLED, "nobody waits for it");
}

static int send_member(void *ctx, const archive_member *m, fo_err *err) {
    const int fd = *(const int *)ctx;
    wire_part part = {.magic = WIRE_MAGIC,
                      .kind = WIRE_MEMBER,
                      .n = (uint32_t)strlen(m->name),
                      .n_why = (uint32_t)strlen(m->why),
                      .outcome = m->outcome};
    if (fo_write_all(fd, &part, sizeof part) && fo_write_all(fd, m->name, part.n) &&
        fo_write_all(fd, m->why, part.n_why))
        return FO_OK;
    return fo_fail(err, FO_ECANCELLED, "nobody waits for it");
}

static _Noreturn void end_parts(int answer, int rc, const fo_err *err) {
    wire_part part = {.magic = WIRE_MAGIC, .kind = WIRE_UNPACKED};
    wire_unpacked end = {.rc = rc, .err = *err};
    bool told = fo_write_all(answer, &part, sizeof part) && fo_write_all(answer, &end, sizeof end);
    _exit(told ? 0 : 1);
}

static _Noreturn void unpack(const worker_setup *s, const wire_job *job, int document, int answer) {
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
    end_parts(answer, rc, &err);
}

/* ---- one worker: a page is drawn -------------------------------------------------------------------- */

static _Noreturn void draw(const worker_setup *s, const wire_job *job, int document, int answer) {
    static char piece[64 << 10];
    const extract_format *f = worker_row(s, job->row);
    helper h = {.fd = -1};
    fo_err err = {0};
    int rc = f && f->draw
                 ? tool_spawn(f->draw, job->draw, document, job, s->program, &h.fd, h.pids, &err)
                 : fo_fail(&err, FO_EUNSUPPORTED, "its format has no pages to show");
    close(document);
    if (rc) end_parts(answer, rc, &err);
    if (!sandbox_limit(worker_cpu_ms(job), worker_address_bytes(s, job), WORKER_FILES)) _exit(1);
    sandbox_enter(s->reader);
    bool any = false;
    for (ptrdiff_t n; !rc && (n = helper_read(&h, piece, sizeof piece)) > 0; any = true)
        rc = send_piece(&answer, piece, (size_t)n, &err);
    int status = helper_end(&h);
    if (!rc && status < 0)
        rc = fo_fail(&err, FO_ELIMIT,
                     "drawing page %u took more time or memory than a page is given", job->draw);
    else if (!rc && status == 127)
        rc = fo_fail(&err, FO_EUNSUPPORTED, "drawing a page needs the program %s", f->draw->name);
    else if (!rc && (status || !any)) /* pdftoppm: 99 where there is no such page */
        rc = fo_fail(&err, status == 99 || !any ? FO_ENOTFOUND : FO_EINVAL,
                     "page %u cannot be drawn", job->draw);
    end_parts(answer, rc, &err);
}

/* ---- how far it is ------------------------------------------------------------------------------------ */

typedef struct page_counter {
    int answer;
    uint32_t n; /* that were not told yet */
    double told_ms;
} page_counter;

static void tell_pages(page_counter *c) {
    wire_pages p = {WIRE_PAGES, c->n};
    if (c->n && fo_write_all(c->answer, &p, sizeof p)) c->n = 0;
}

/* Some times a second: who waits looks no more often. */
static void count_page(void *ctx) {
    enum { TELL_MS = 100 };
    page_counter *c = ctx;
    double now = fo_now_ms();
    c->n++;
    if (now - c->told_ms < TELL_MS) return;
    tell_pages(c);
    c->told_ms = now;
}

/* ---- the two kinds --------------------------------------------------------------------------------- */

_Noreturn void worker_with_programs(const worker_setup *s, const wire_job *job, int document,
                                    int answer) {
    signal(SIGPIPE, SIG_IGN); /* who reads the answer may have left */
    if (job->unpack) unpack(s, job, document, answer);
    if (job->draw) draw(s, job, document, answer);
    doc_budget budget = {
        .cpu_ms = job->cpu_ms, .cpu_ms_per_mib = job->cpu_ms_per_mib, .max_bytes = job->max_kept};
    page_counter pages = {.answer = answer};
    builder b = {
        .max_bytes = job->max_text, .budget = &budget, .page_read = count_page, .page_ctx = &pages};
    fo_err err = {0};
    int rc = read_with_programs(s, &b, job, document, &err);
    tell_pages(&pages);
    _exit(wire_write_answer(answer, &b, rc, &err) ? 0 : 1);
}

/* A document that a worker was handed; rc and err: what has gone wrong already. True: it went well, and another may follow. */
static bool read_handed(const worker_setup *s, const wire_job *job, extract_input *in, int rc,
                        fo_err *err, int answer) {
    const extract_format *f = worker_row(s, job->row);
    doc_budget budget = {
        .cpu_ms = job->cpu_ms, .cpu_ms_per_mib = job->cpu_ms_per_mib, .max_bytes = job->max_kept};
    builder b = {.max_bytes = job->max_text, .budget = &budget};
    if (!rc && (!f || !f->extract || worker_needs_programs(f)))
        rc = fo_fail(err, FO_EUNSUPPORTED, "no format has this number");
    if (!rc) rc = run_format(f, &b, job, in, err);
    bool told = wire_write_answer(answer, &b, rc, err), well = !rc && !b.failure;
    builder_free(&b);
    return told && well;
}

/* Documents of a lease, each in the memory that both sides hold. */
static void read_leased(const worker_setup *s, const wire_job *of, int memory, int channel) {
    const void *map = mmap(NULL, of->n, PROT_READ, MAP_SHARED, memory, 0);
    if (map == MAP_FAILED) _exit(1);
    close(memory);
    /* The first is on its way: where processors are busy with others, that may take seconds. Who does not send it closes the
     * channel. */
    int wait_ms = -1;
    for (bool well = true; well; wait_ms = WIRE_IDLE_MS) {
        wire_job job;
        struct pollfd next = {.fd = channel, .events = POLLIN};
        if (poll(&next, 1, wait_ms) <= 0 || !wire_next_job(channel, &job, of->n)) break;
        extract_input in = input_of(&job, map);
        well = read_handed(s, &job, &in, FO_OK, &(fo_err){0}, channel);
    }
}

_Noreturn void worker_in_waiting(const worker_setup *s, int control) {
    signal(SIGPIPE, SIG_IGN);
    if (!sandbox_limit_files(WORKER_FILES)) _exit(1);
    sandbox_enter(s->reader);
    wire_job job;
    int fds[WIRE_FDS];
    if (!wire_receive_job(control, &job, fds, WIRE_FDS - 1)) _exit(0);
    if (job.lease) {
        read_leased(s, &job, fds[0], fds[1]);
        _exit(0);
    }
    fo_err err = {0};
    extract_input in;
    int rc = map_document(&in, &job, fds[0], &err);
    close(fds[0]);
    read_handed(s, &job, &in, rc, &err, fds[1]);
    _exit(0);
}
