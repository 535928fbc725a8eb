/* folder_watch.h - waits until something changes in a folder, by inotify.
 *
 *     folder_watch *w;
 *     folder_watch_create(&w, "/home/me/notes", &err);
 *     for (;;) {
 *         walk.entering = folder_watch_enter, walk.ctx = w; ... the walk ...
 *         folder_watch_wait(w, 600000, &why, &err);
 *     }
 *
 * A walk tells of each folder before it reads it, so that no change after that is missed. Where the system
 * allows no (more) watches, waiting goes by time alone: who waits gives the time after which to look
 * anyway. One thread waits; any may wake it. */
#ifndef FORAGE_DATA_FOLDER_WATCH_H
#define FORAGE_DATA_FOLDER_WATCH_H

#include <stdbool.h>
#include "kernels/error.h"

/* Changes that come together are told of together: once it has been quiet for so long, and at the latest
 * after ten times that. */
enum { FOLDER_WATCH_QUIET_MS = 300 };

enum folder_watch_event { FOLDER_WATCH_TIME, FOLDER_WATCH_CHANGED, FOLDER_WATCH_WOKEN };

typedef struct folder_watch folder_watch;

/* The folder need not be there (yet). */
int folder_watch_create(folder_watch **out, const char *folder, fo_err *err);
void folder_watch_free(folder_watch *w); /* nobody waits; NULL is fine */

/* For folder_walk.entering: path is below the folder. */
void folder_watch_enter(void *watch, const char *path);
/* Why not all folders are watched, "" where they are: a sentence, valid until the next call. */
const char *folder_watch_trouble(const folder_watch *w);

int folder_watch_wait(folder_watch *w, int timeout_ms, enum folder_watch_event *out, fo_err *err);
void folder_watch_wake(folder_watch *w); /* from any thread, and from a signal handler */

#endif
