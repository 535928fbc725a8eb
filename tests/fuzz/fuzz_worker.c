/* The boundary between the service and the processes that read documents, both ways, with anything for a message. The
 * first byte says which: the answer of a worker that is no longer its own master, the parts of an archive or of an image that
 * it sends, or a job as it arrives at the server of workers. What is taken for good keeps all promises that a format of
 * this process keeps; nothing makes more memory be taken than is granted, and everything ends. */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "data/extract/extract_reply.h"
#include "kernels/clock.h"
#include "kernels/utf8.h"
#include "tests/fuzz/fuzz.h"

enum { MAX_TEXT = 1 << 18, MAX_BYTES = 4 << 20 };

static int file_of(const uint8_t *data, size_t n) {
    int fd = memfd_create("answer", MFD_CLOEXEC);
    FUZZ_CHECK(fd >= 0 && write(fd, data, n) == (ssize_t)n && lseek(fd, 0, SEEK_SET) == 0);
    return fd;
}

static bool is_text(const char *s, size_t n) {
    return !memchr(s, 0, n) && fo_utf8_valid(s, n, NULL);
}

static void check_blocks(const builder *b) {
    size_t at = 0;
    for (size_t i = 0; i < b->n_blocks; i++) {
        const text_block *k = &b->blocks[i];
        FUZZ_CHECK(k->start >= at && k->end > k->start && k->end <= b->text.len);
        FUZZ_CHECK(fo_utf8_boundary(b->text.data[k->start]) &&
                   (k->end == b->text.len || fo_utf8_boundary(b->text.data[k->end])));
        FUZZ_CHECK(k->place <= b->n_places && k->kind <= TEXT_TABLE_ROW && k->level <= 6);
        FUZZ_CHECK(k->start + k->name + k->n_name <= k->end);
        at = k->end;
    }
    for (size_t i = 0; i < b->n_places; i++) {
        const text_place *p = &b->places[i];
        FUZZ_CHECK(!p->sheet || is_text(p->sheet, strlen(p->sheet)));
        FUZZ_CHECK(!p->range || is_text(p->range, strlen(p->range)));
        for (int k = 0; k < 4; k++) FUZZ_CHECK(p->box[k] - p->box[k] == 0); /* finite */
    }
}

static void try_answer(extract_reply *r) {
    doc_budget budget = {.cpu_ms = 20000, .max_bytes = MAX_BYTES};
    doc_budget_begin(&budget);
    builder b = {.max_bytes = MAX_TEXT, .budget = &budget};
    fo_err err = {0};
    int rc = 1;
    atomic_size_t pages = 0;
    r->budget = &budget;
    r->pages = &pages;
    bool whole = extract_reply_answer(r, &b, &rc, &err);
    FUZZ_CHECK(budget.most <= MAX_BYTES);
    FUZZ_CHECK(pages == r->n_pages);
    if (whole && rc) FUZZ_CHECK(rc < 0 && memchr(err.msg, 0, sizeof err.msg));
    if (whole && !rc && !b.failure) {
        FUZZ_CHECK(b.text.len <= MAX_TEXT && (!b.text.len || is_text(b.text.data, b.text.len)));
        FUZZ_CHECK(!b.title.len || is_text(b.title.data, b.title.len));
        check_blocks(&b);
    }
    builder_free(&b);
}

/* ---- parts ---------------------------------------------------------------------------------------- */

typedef struct taken {
    uint64_t bytes;
    size_t members;
} taken;

static int on_bytes(void *ctx, const void *p, size_t n, fo_err *err) {
    taken *t = ctx;
    (void)err;
    FUZZ_CHECK(n <= EXTRACT_REPLY_PIECE);
    t->bytes += n;
    FUZZ_CHECK(n == 0 || p);

    return FO_OK;
}

static int on_member(void *ctx, const archive_member *m, fo_err *err) {
    taken *t = ctx;
    (void)err;
    t->members++;
    FUZZ_CHECK(m->outcome <= MEMBER_FAILED && is_text(m->name, strlen(m->name)) &&
               is_text(m->why, strlen(m->why)));
    return FO_OK;
}

static void try_parts(extract_reply *r) {
    static char piece[EXTRACT_REPLY_PIECE];
    taken t = {0};
    archive_bounds left = {8, 1 << 16, 1 << 15};
    archive_sink sink = {on_bytes, on_member, &t};
    bool over = false;
    int rc = 0, n = 0;
    fo_err err = {0};
    while (!rc && !over && extract_reply_part(r, &left, &sink, piece, &over, &rc, &err)) n++;
    FUZZ_CHECK(t.members <= 8 && t.bytes <= 1 << 16 && rc <= 0);
    if (over && rc) FUZZ_CHECK(memchr(err.msg, 0, sizeof err.msg));
}

/* ---- jobs ----------------------------------------------------------------------------------------- */

/* A packet with so many files. */
static void try_job(const uint8_t *data, size_t n, int n_files) {
    int ends[2], fds[WIRE_FDS] = {-1, -1, -1};
    union {
        char bytes[CMSG_SPACE(WIRE_FDS * sizeof(int))];
        struct cmsghdr align;
    } control = {0};
    FUZZ_CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
    struct iovec io = {(void *)data, n};
    struct msghdr m = {.msg_iov = &io, .msg_iovlen = 1};
    if (n_files) {
        m.msg_control = &control;
        m.msg_controllen = CMSG_SPACE((size_t)n_files * sizeof(int));
        struct cmsghdr *c = CMSG_FIRSTHDR(&m);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN((size_t)n_files * sizeof(int));
        int own[WIRE_FDS] = {ends[0], ends[0], ends[0]};
        memcpy(CMSG_DATA(c), own, (size_t)n_files * sizeof(int));
    }
    bool sent = sendmsg(ends[0], &m, MSG_NOSIGNAL) == (ssize_t)n;
    wire_job job;
    memset(&job, 0xff, sizeof job);
    if (sent && wire_receive_job(ends[1], &job, fds, WIRE_FDS)) {
        FUZZ_CHECK(n == sizeof job && n_files == WIRE_FDS && job.magic == WIRE_MAGIC);
        FUZZ_CHECK(memchr(job.charset, 0, sizeof job.charset) &&
                   memchr(job.file_name, 0, sizeof job.file_name) &&
                   memchr(job.language, 0, sizeof job.language));
    }
    close(ends[0]);
    close(ends[1]);
    for (int i = 0; i < WIRE_FDS; i++)
        if (fds[i] >= 0) close(fds[i]);
    int next = dup(0); /* none is left open: numbers do not rise */
    FUZZ_CHECK(next < 100);
    if (next >= 0) close(next);
}

/* Numbers that hold are few among all: where a seed has them right, what is behind them is reached. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1) return 0;
    if (data[0] % 4 > 1) {
        if (size - 1 < 4 * sizeof(wire_job))
            try_job(data + 1, size - 1, data[0] / 4 % (WIRE_FDS + 1));
        return 0;
    }
    extract_reply r = {.fd = file_of(data + 1, size - 1), .deadline = fo_now_ms() + 10000};
    if (data[0] % 4 == 0)
        try_answer(&r);
    else
        try_parts(&r);
    FUZZ_CHECK(r.failure != FO_ETIMEOUT);
    close(r.fd);
    return 0;
}
