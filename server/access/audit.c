#include "server/access/audit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernels/file.h"
#include "kernels/utf8.h"
#include "server/base/json.h"
#include "server/base/log.h"

enum { FILE_BYTES = 16 << 20, TRIES = 100 };

/* What may be as long as a path of a request: as much of it as tells what it is. */
static size_t what_bytes(const char *what) {
    size_t n = strnlen(what, AUDIT_WHAT_BYTES + 1);
    if (n <= AUDIT_WHAT_BYTES) return n;
    for (n = AUDIT_WHAT_BYTES; n && !fo_utf8_boundary(what[n]);) n--;
    return n;
}

static void write_line(fo_buf *b, const audit_act *a) {
    char t[32];
    json_out o = {b, false};
    log_time(t, log_now_ms());
    json_out_open(&o, NULL, '{');
    json_out_string(&o, "t", t);
    json_out_string(&o, "act", a->act);
    json_out_bytes(&o, "what", a->what, what_bytes(a->what));
    json_out_string(&o, "who", a->who);
    json_out_string(&o, "tenant", a->tenant);
    if (a->from) json_out_string(&o, "from", a->from);
    if (a->status) json_out_int(&o, "status", a->status);
    if (a->left_out) json_out_int(&o, "left_out", (int64_t)a->left_out);
    json_out_close(&o, '}');
    fo_buf_char(b, '\n');
}

/* Is the file that is open and locked still the one at `path`? A process that waited for the lock may have
 * that which another has moved away meanwhile. */
static bool is_at(const struct stat *open_file, const char *path) {
    struct stat st;
    return lstat(path, &st) == 0 && st.st_ino == open_file->st_ino &&
           st.st_dev == open_file->st_dev;
}

/* The log, locked, with room for a line: what is too large is moved to `older` by whoever holds its lock.
 * *size: its bytes. */
static int open_locked(const char *path, const char *older, int *fd, off_t *size, fo_err *err) {
    for (int i = 0; i < TRIES; i++) {
        struct stat st;
        *fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (*fd < 0) return fo_fail_errno(err, "cannot open %s", path);
        if (flock(*fd, LOCK_EX) != 0 || fstat(*fd, &st) != 0)
            return fo_fail_errno(err, "cannot lock %s", path);
        *size = st.st_size;
        bool ours = is_at(&st, path);
        /* Where it cannot be moved it goes on growing: no line is lost for that. */
        if (ours && (st.st_size <= FILE_BYTES || rename(path, older) != 0)) return FO_OK;
        close(*fd);
        *fd = -1;
    }
    return fo_fail(err, FO_EBUSY, "%s was moved away again and again", path);
}

/* All of the line or nothing of it: what is left of one would be glued to the next. */
static int append(int fd, off_t size, const fo_buf *line, const char *path, fo_err *err) {
    ssize_t n = write(fd, line->data, line->len);
    if (n == (ssize_t)line->len) return FO_OK;
    int why = n < 0 ? errno : ENOSPC;
    if (n > 0 && ftruncate(fd, size) != 0) why = errno;
    errno = why;
    return fo_fail_errno(err, "cannot write %s", path);
}

int audit_write(const char *home, const audit_act *a, fo_err *err) {
    char path[4200], older[4210];
    int n = snprintf(path, sizeof path, "%s/audit.log", home), fd = -1;
    if (n < 0 || (size_t)n >= sizeof path)
        return fo_fail(err, FO_EIO, "the path of the home is too long");
    snprintf(older, sizeof older, "%s.1", path);
    fo_buf line = {0};
    off_t size = 0;
    write_line(&line, a);
    int rc = line.failed ? fo_no_memory(err) : open_locked(path, older, &fd, &size, err);
    if (!rc) rc = append(fd, size, &line, path, err);
    if (fd >= 0) flock(fd, LOCK_UN); /* others need not wait for the disk */
    const bool wait = !rc && !a->refused;
    if (wait && fdatasync(fd) != 0) rc = fo_fail_errno(err, "cannot write %s", path);
    if (wait && !rc && size == 0) rc = fo_sync_dir_of(path, err); /* it is new: so is its name */
    if (fd >= 0) close(fd);
    fo_buf_free(&line);
    return rc;
}

static bool holds(const char *path, const char *what) {
    char *data = NULL;
    size_t n = 0;
    if (fo_file_read(path, 2 * FILE_BYTES, &data, &n, NULL)) return false;
    const bool is = memmem(data, n, what, strlen(what)) != NULL;
    free(data);
    return is;
}

bool audit_tells_of_keys(const char *home) {
    static const char *const names[] = {"audit.log", "audit.log.1"};
    char path[4210];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%.4190s/%s", home, names[i]);
        /* What a client sends is a string within the line, its quotes escaped. */
        if (holds(path, "\"act\":\"keys create\"") || holds(path, "\"act\":\"POST /keys\""))
            return true;
    }
    return false;
}
