/* last_word.h - what a service says before a page that cannot be read ends it.
 *
 * Files that Forage maps itself are guarded (kernels/map_guard.h): what the disk does not give of them is an
 * error of one request. What others map is not: SQLite's forage.db-shm, the program, its libraries. There
 * the system ends the process by SIGBUS; the last line of the log then names the file, with its name as a
 * text and as JSON, whatever the log's level. */
#ifndef FORAGE_SERVER_LAST_WORD_H
#define FORAGE_SERVER_LAST_WORD_H

#include <stdbool.h>

/* Before the first file is mapped, so that what is not guarded comes here. As the log has it: JSON or text. */
void last_word_install(bool as_json);

#endif
