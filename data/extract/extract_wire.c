/* See extract_wire.h: jobs on their way to a worker, an answer on its way out of it. */
#include "data/extract/extract_wire.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "kernels/file.h"

/* ---- jobs ------------------------------------------------------------------------------------------ */

typedef union wire_files {
    char bytes[CMSG_SPACE(WIRE_FDS * sizeof(int))];
    struct cmsghdr align;
} wire_files;

bool wire_send_job(int socket, const wire_job *job, const int *fds, size_t n_fds) {
    wire_files control = {0};
    struct iovec io = {(void *)job, sizeof *job};
    struct msghdr m = {.msg_iov = &io,
                       .msg_iovlen = 1,
                       .msg_control = &control,
                       .msg_controllen = CMSG_SPACE(n_fds * sizeof(int))};
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(n_fds * sizeof(int));
    memcpy(CMSG_DATA(c), fds, n_fds * sizeof(int));
    ssize_t n;
    do n = sendmsg(socket, &m, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    return n == (ssize_t)sizeof *job;
}

static void end_strings(wire_job *job) {
    job->charset[sizeof job->charset - 1] = 0;
    job->file_name[sizeof job->file_name - 1] = 0;
    job->language[sizeof job->language - 1] = 0;
}

bool wire_receive_job(int socket, wire_job *job, int *fds, size_t n_fds) {
    wire_files control = {0};
    struct iovec io = {job, sizeof *job};
    struct msghdr m = {
        .msg_iov = &io, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    ssize_t n;
    do n = recvmsg(socket, &m, MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    if (n <= 0) return false;
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) return false;
    int came[WIRE_FDS];
    size_t n_came = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    memcpy(came, CMSG_DATA(c), n_came * sizeof(int));
    bool whole = n == sizeof *job && !(m.msg_flags & (MSG_TRUNC | MSG_CTRUNC));
    if (n_came == n_fds && whole && job->magic == WIRE_MAGIC) {
        memcpy(fds, came, n_fds * sizeof(int));
        end_strings(job);
        return true;
    }
    for (size_t i = 0; i < n_came; i++) close(came[i]);
    return false;
}

bool wire_next_job(int socket, wire_job *job, size_t n) {
    for (size_t at = 0; at < sizeof *job;) {
        ssize_t got = read(socket, (char *)job + at, sizeof *job - at);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        at += (size_t)got;
    }
    end_strings(job);
    return job->magic == WIRE_MAGIC && job->n <= n;
}

/* ---- answers --------------------------------------------------------------------------------------- */

/* All at once where the pipe has room: who reads it wakes up once. */
static bool write_parts(int fd, const struct iovec *parts, size_t n) {
    ssize_t wrote;
    do wrote = writev(fd, parts, (int)n);
    while (wrote < 0 && errno == EINTR);
    if (wrote < 0) return false;
    size_t done = (size_t)wrote;
    for (size_t i = 0; i < n; i++) {
        size_t k = done < parts[i].iov_len ? done : parts[i].iov_len;
        if (!fo_write_all(fd, (const char *)parts[i].iov_base + k, parts[i].iov_len - k))
            return false;
        done -= k;
    }
    return true;
}

/* Where a name stands in the blob, from 1; names of neighbouring places are the same string. */
static uint32_t put_name(fo_buf *names, const char *s, const char *last, uint32_t last_at) {
    if (!s) return 0;
    if (s == last) return last_at;
    uint32_t at = (uint32_t)names->len + 1;
    fo_buf_add(names, s, strlen(s) + 1);
    return at;
}

static wire_place *put_places(const builder *b, fo_buf *names) {
    wire_place *out = calloc(b->n_places + 1, sizeof *out);
    const text_place *last = &(text_place){0};
    uint32_t sheet = 0, range = 0;
    for (size_t i = 0; out && i < b->n_places; i++) {
        const text_place *p = &b->places[i];
        sheet = put_name(names, p->sheet, last->sheet, sheet);
        range = put_name(names, p->range, last->range, range);
        out[i] = (wire_place){.page = p->page,
                              .slide = p->slide,
                              .line = p->line,
                              .box = {p->box[0], p->box[1], p->box[2], p->box[3]},
                              .start_ms = p->start_ms,
                              .end_ms = p->end_ms,
                              .sheet = sheet,
                              .range = range};
        last = p;
    }
    return out;
}

bool wire_write_answer(int fd, builder *b, int rc, const fo_err *err) {
    builder_end(b);
    fo_buf_str(&b->text, "");
    fo_buf names = {0};
    wire_place *places = put_places(b, &names);
    int failure = b->failure, budget_failure = b->budget ? b->budget->failure : FO_OK;
    if (!failure) failure = budget_failure;
    if (b->text.failed || b->title.failed || names.failed || !places) failure = FO_ENOMEM;
    bool whole = !rc && !failure;
    wire_head head = {.magic = WIRE_MAGIC,
                      .rc = rc,
                      .failure = failure,
                      .budget_failure = budget_failure,
                      .wanted = b->budget ? b->budget->wanted : 0,
                      .n_replaced = b->n_replaced,
                      .err = *err};
    if (whole) {
        head.text = b->text.len;
        head.title = b->title.len;
        head.names = names.len;
        head.n_blocks = b->n_blocks;
        head.n_places = b->n_places;
    }
    const struct iovec parts[] = {
        {&head, sizeof head},
        {b->text.data, head.text},
        {b->title.data, head.title},
        {b->blocks, head.n_blocks * sizeof *b->blocks},
        {places, head.n_places * sizeof *places},
        {names.data, head.names},
    };
    bool ok = write_parts(fd, parts, sizeof parts / sizeof *parts);
    free(places);
    fo_buf_free(&names);
    return ok;
}
