/* tool_calls.h - calls of tools out of the text in which a model writes them (tool_prompt.h), as the
 * text comes: plain text and the arguments of a call are known as soon as they are written.
 *
 *     tool_calls_add(&t, text, len);       // then look at t.text and t.calls
 *     tool_calls_end(&t);                  // what was held back is text after all */
#ifndef FORAGE_SERVER_TOOL_CALLS_H
#define FORAGE_SERVER_TOOL_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include "kernels/buf.h"

typedef struct tool_call {
    char id[32];
    char *name;       /* NULL: not known yet */
    fo_buf arguments; /* JSON, as far as it is written */
} tool_call;

typedef struct tool_calls {
    fo_buf text; /* outside of calls; blanks before a call are no part of it */
    tool_call *calls;
    size_t n_calls;
    bool failed; /* no memory */
    /* private */
    int where;
    fo_buf held; /* of text: what may begin a call; of a call: what stands before its arguments */
    int depth;
    bool in_string, escaped;
} tool_calls;

void tool_calls_add(tool_calls *t, const char *text, size_t len);
void tool_calls_end(tool_calls *t);
void tool_calls_deinit(tool_calls *t);

#endif
