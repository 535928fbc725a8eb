/* priority.h - work that gives way: documents come in and indexes are merged while somebody waits
 * for an answer, and both want the same processors. */
#ifndef FORAGE_KERNELS_PRIORITY_H
#define FORAGE_KERNELS_PRIORITY_H

/* How much nicer than its process a thread of the background is: it gets a tenth of a processor
 * that another wants, and all of one that is idle. */
enum { FO_BACKGROUND_NICE = 10 };

/* From now on the calling thread gives way, and so do threads that it creates. For good: going back
 * takes a privilege. Where the system refuses, nothing changes. (Linux keeps a nice value by
 * thread: sched(7), setpriority(2).) */
void fo_thread_background(void);

#endif
