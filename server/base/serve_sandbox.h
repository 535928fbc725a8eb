/* serve_sandbox.h - what a service gives up once it needs it no more, so that who takes it over by a fault
 * of its own gets little: where the kernel has Landlock, it writes nothing but its home and temporary
 * files and starts no program but those of the system and itself; where it has seccomp, it opens no
 * connection and no further socket, and makes none of the calls that only administrators, debuggers and exploits need.
 * Neither can be taken back; processes that read documents have tighter ones (data/extract/sandbox.h). */
#ifndef FORAGE_SERVER_SERVE_SANDBOX_H
#define FORAGE_SERVER_SERVE_SANDBOX_H

#include <stdbool.h>

/* Before any thread starts. writes: folders that may be written (NULL: none), beside those for temporary
 * files. False: the kernel has no Landlock, or one of them cannot be named. */
bool serve_sandbox_files(const char *const *writes, int n);
/* Once the service listens; of all threads. */
bool serve_sandbox_calls(void);
/* Of the process that sends spans (server/http/trace.h), before it has a thread: it may connect, and reads what the
 * resolver and TLS need; it writes no file, reads no home, starts nothing and lets nobody connect to it. False: the kernel
 * lacks Landlock or seccomp; what it has holds. */
bool serve_sandbox_sender(void);

#endif
