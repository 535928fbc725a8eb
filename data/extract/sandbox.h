/* sandbox.h - a process gives up what it needs no more, before it looks at bytes from outside.
 *
 * Limits of time, memory and files hold everywhere. Beyond them, where the kernel has seccomp: no
 * sockets, no new processes, nothing opened for writing (a reader opens nothing at all; a program that
 * is about to be run may open what it can read). Where it has Landlock: of the file system a program
 * sees the folders of programs and libraries alone, a reader nothing. Neither can be taken back. */
#ifndef FORAGE_DATA_SANDBOX_H
#define FORAGE_DATA_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>

typedef enum sandbox_kind {
    SANDBOX_READER,  /* of bytes that are there already: memory, its pipes and nothing else */
    SANDBOX_PROGRAM, /* runs another program: execve, and files for reading */
} sandbox_kind;

typedef struct sandbox sandbox; /* immutable; entered by forked children */

/* NULL where the kernel has neither filter, or memory ran out: sandbox_enter takes that. */
sandbox *sandbox_create(sandbox_kind kind);
void sandbox_free(sandbox *s);

/* The calling process, for good. False where limits could not be set: it should end. */
bool sandbox_limit(double cpu_ms, size_t address_bytes, int n_files);
/* Returns which of the two took effect, as bits: 1 seccomp, 2 Landlock. */
int sandbox_enter(const sandbox *s);

#endif
