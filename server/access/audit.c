#include "server/access/audit.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernels/utf8.h"
#include "server/base/json.h"
#include "server/base/log.h"

enum { FILE_BYTES = 16 << 20 };

/* What may be as long as a path of a request: as much of it as tells what it is. */
static size_t what_bytes(const char *what) {
    size_t n = strnlen(what, AUDIT_WHAT_BYTES + 1);
    if (n <= AUDIT_WHAT_BYTES) return n;
    for (n = AUDIT_WHAT_BYTES; n && !fo_utf8_boundary(what[n]);) n--;
    return n;
}

int audit_write(const char *home, const audit_act *a, fo_err *err) {
    char path[4200], older[4210], t[32];
    int n = snprintf(path, sizeof path, "%s/audit.log", home);
    if (n < 0 || (size_t)n >= sizeof path)
        return fo_fail(err, FO_EIO, "the path of the home is too long");
    snprintf(older, sizeof older, "%s.1", path);
    struct stat st;
    if (stat(path, &st) == 0 && st.st_size > FILE_BYTES) rename(path, older);
    fo_buf b = {0};
    json_out o = {&b, false};
    log_time(t, log_now_ms());
    json_out_open(&o, NULL, '{');
    json_out_string(&o, "t", t);
    json_out_string(&o, "act", a->act);
    json_out_bytes(&o, "what", a->what, what_bytes(a->what));
    json_out_string(&o, "who", a->who);
    json_out_string(&o, "tenant", a->tenant);
    if (a->from) json_out_string(&o, "from", a->from);
    if (a->status) json_out_int(&o, "status", a->status);
    json_out_close(&o, '}');
    fo_buf_char(&b, '\n');
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
    int rc = b.failed ? fo_no_memory(err) : fd < 0 ? fo_fail_errno(err, "cannot open %s", path) : 0;
    if (!rc && (write(fd, b.data, b.len) != (ssize_t)b.len || fdatasync(fd) != 0))
        rc = fo_fail_errno(err, "cannot write %s", path);
    if (fd >= 0) close(fd);
    fo_buf_free(&b);
    return rc;
}
