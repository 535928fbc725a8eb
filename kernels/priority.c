#include "kernels/priority.h"

#include <errno.h>
#include <sys/resource.h>
#include <unistd.h>

void fo_thread_background(void) {
    errno = 0;
    const int process = getpriority(PRIO_PROCESS, (id_t)getpid()); /* of its first thread */
    if (errno) return;
    const int nice = process + FO_BACKGROUND_NICE;
    if (nice > getpriority(PRIO_PROCESS, 0)) (void)setpriority(PRIO_PROCESS, 0, nice);
}
