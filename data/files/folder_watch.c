#include "data/files/folder_watch.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "kernels/clock.h"

enum { MAX_QUIETS = 10 };

struct folder_watch {
    char *folder;
    int changes, wake;
    char trouble[200]; /* owned: who walks and waits */
};

int folder_watch_create(folder_watch **out, const char *folder, fo_err *err) {
    folder_watch *w = calloc(1, sizeof *w);
    if (!w || !(w->folder = strdup(folder))) {
        free(w);
        return fo_no_memory(err);
    }
    w->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (w->wake < 0) {
        int rc = fo_fail_errno(err, "cannot watch %.300s", folder);
        free(w->folder);
        free(w);
        return rc;
    }
    w->changes = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (w->changes < 0)
        snprintf(w->trouble, sizeof w->trouble, "folders cannot be watched: %s", strerror(errno));
    *out = w;
    return FO_OK;
}

void folder_watch_free(folder_watch *w) {
    if (!w) return;
    if (w->changes >= 0) close(w->changes);
    close(w->wake);
    free(w->folder);
    free(w);
}

const char *folder_watch_trouble(const folder_watch *w) {
    return w->trouble;
}

void folder_watch_enter(void *watch, const char *path) {
    folder_watch *w = watch;
    char whole[PATH_MAX];
    if (w->changes < 0) return;
    int n = snprintf(whole, sizeof whole, "%s%s%s", w->folder, *path ? "/" : "", path);
    /* The same folder again gives the watch that it has; one that goes takes its own along. */
    if (n < (int)sizeof whole &&
        inotify_add_watch(w->changes, whole,
                          IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO |
                              IN_MODIFY | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR |
                              (*path ? IN_DONT_FOLLOW : 0)) >= 0)
        return;
    if (errno == ENOENT || errno == ENOTDIR) return; /* it went meanwhile */
    snprintf(w->trouble, sizeof w->trouble, "not every folder can be watched: %s%s",
             strerror(errno), errno == ENOSPC ? " (fs.inotify.max_user_watches)" : "");
}

void folder_watch_wake(folder_watch *w) {
    uint64_t one = 1;
    ssize_t n = write(w->wake, &one, sizeof one);
    (void)n; /* full is woken, too */
}

/* Takes what there is; true: something was. */
static bool drain(int fd) {
    _Alignas(struct inotify_event) char events[16 << 10];
    bool any = false;
    while (fd >= 0 && read(fd, events, sizeof events) > 0) any = true;
    return any;
}

int folder_watch_wait(folder_watch *w, int timeout_ms, enum folder_watch_event *out, fo_err *err) {
    double now = fo_now_ms(), end = now + timeout_ms, latest = 0;
    bool changed = false;
    for (;; now = fo_now_ms()) {
        double until = changed && now + FOLDER_WATCH_QUIET_MS < latest ? now + FOLDER_WATCH_QUIET_MS
                       : changed                                       ? latest
                                                                       : end;
        int left = until > now ? (int)(until - now) + 1 : 0;
        struct pollfd fds[2] = {{w->wake, POLLIN, 0}, {w->changes, POLLIN, 0}};
        int n = poll(fds, 2, left); /* a negative descriptor is passed over */
        if (n < 0 && errno != EINTR) return fo_fail_errno(err, "cannot wait for changes");
        if (drain(w->wake)) {
            *out = FOLDER_WATCH_WOKEN;
            return FO_OK;
        }
        bool more = drain(w->changes);
        if (more && !changed) latest = fo_now_ms() + FOLDER_WATCH_QUIET_MS * MAX_QUIETS;
        changed = changed || more;
        bool over = !more && fo_now_ms() >= until;
        if (!over && !(changed && fo_now_ms() >= latest)) continue;
        *out = changed ? FOLDER_WATCH_CHANGED : FOLDER_WATCH_TIME;
        return FO_OK;
    }
}
