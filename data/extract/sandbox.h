/* sandbox.h - a process gives up what it needs no more, before it looks at bytes from outside.
 *
 * Limits of time, memory and files hold everywhere. Beyond them, where the kernel has seccomp: no
 * sockets, no new processes, no signal to another one, nothing opened for writing (a reader opens
 * nothing at all; a program that is about to be run may open what it can read). Where it has
 * Landlock: of the file system a program sees the folders of programs and libraries alone, a reader
 * nothing. Neither can be taken back. */
#ifndef FORAGE_DATA_SANDBOX_H
#define FORAGE_DATA_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

typedef enum sandbox_kind {
    SANDBOX_READER, /* of bytes that are there already, or come through its socket: its memory, its pipes */
    SANDBOX_PROGRAM, /* runs another program: execve, and files for reading */
} sandbox_kind;

typedef struct sandbox sandbox; /* immutable; entered by forked children */

/* NULL where the kernel has neither filter, or memory ran out: sandbox_enter takes that. */
sandbox *sandbox_create(sandbox_kind kind);
void sandbox_free(sandbox *s);

/* The calling process, for good. False where limits could not be set: it should end. */
bool sandbox_limit(double cpu_ms, size_t address_bytes, int n_files);
/* The same in two steps, for a child that waits for what it is to do: what it may write and open, by itself; then, by its
 * parent, what computing time it may take beyond what it has taken, and its addresses. */
bool sandbox_limit_files(int n_files);
bool sandbox_limit_child(pid_t pid, double cpu_ms, size_t address_bytes);
/* Returns which of the two took effect, as bits: 1 seccomp, 2 Landlock. */
int sandbox_enter(const sandbox *s);

#endif
