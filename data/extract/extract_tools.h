/* extract_tools.h - programs that a worker may ask for while it reads a document. A worker that has given
 * up what it needs no more can start none; so it forks a process before, which runs programs of the row's
 * list when it is asked by number, and nothing else:
 *
 *   worker  --- number, page --->  runner ---> program [| program], in their own bounds
 *           <--- what it writes ---
 *
 * The runner looks at no byte of what goes through it. What is handed to a program instead of the document has
 * at most 64 MiB, or as much as the document has; for more, no program is run (127). It ends with its worker. */
#ifndef FORAGE_DATA_EXTRACT_TOOLS_H
#define FORAGE_DATA_EXTRACT_TOOLS_H

#include <sys/types.h>

#include "data/extract/extract.h"
#include "data/extract/extract_wire.h"
#include "data/extract/sandbox.h"

typedef struct tool_runner {
    extract_tools tools;   /* for the format; its ctx is this */
    int requests, answers; /* pipes; -1: none */
    uint32_t left;         /* bytes of the frame at hand that are not read yet */
    bool running;          /* a program is, or its end is not read yet */
    int status;            /* of the last one */
} tool_runner;

/* In a worker: fork the runner of these tools. FO_EIO. */
int tool_runner_start(tool_runner *r, const extract_program *const *tools, int document,
                      const wire_job *job, const sandbox *box, fo_err *err);

/* Run a program (and what it is piped into) with `document` as its standard input; it dies with its
 * parent. *out: what it writes; pids[2]: those to wait for, 0: none. */
int tool_spawn(const extract_program *p, uint32_t page, int document, const wire_job *job,
               const sandbox *box, int *out, pid_t pids[2], fo_err *err);
/* Exit status of what was spawned, or minus the signal: of the one that feeds the other, if it failed and
 * the other did not complain. */
int tool_wait(const pid_t pids[2]);
/* Is the program anywhere where programs are looked for? */
bool tool_exists(const char *name);

#endif
