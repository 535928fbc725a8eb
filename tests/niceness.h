/* niceness.h - which threads of this process give way (kernels/priority.h). */
#ifndef FORAGE_TESTS_NICENESS_H
#define FORAGE_TESTS_NICENESS_H

#include <dirent.h>
#include <sys/resource.h>

#include "kernels/clock.h"
#include "kernels/priority.h"
#include "tests/test.h"

/* Threads that are nicer than the calling one by FO_BACKGROUND_NICE, or as nice as can be. */
static inline int threads_that_give_way(void) {
    int low = getpriority(PRIO_PROCESS, 0) + FO_BACKGROUND_NICE, n = 0;
    if (low > 19) low = 19;
    DIR *d = opendir("/proc/self/task");
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));)
        if (e->d_name[0] != '.') n += getpriority(PRIO_PROCESS, (id_t)atoi(e->d_name)) == low;
    closedir(d);
    return n;
}

/* Waits until there are n of them: a thread that was just made says so itself, and one that was just joined
 * may stand in /proc a moment longer. */
static inline void await_threads_that_give_way(int n) {
    const double late = fo_now_ms() + 10000;
    while (threads_that_give_way() != n) {
        if (fo_now_ms() > late) fail_msg("%d threads give way, not %d", threads_that_give_way(), n);
        usleep(1000);
    }
}

#endif
