/* stop_match.h - stop strings in a stream of text: what might be the beginning of one is held back
 * until it is known. Bytes come out in order; nothing of a stop string ever comes out. */
#ifndef FORAGE_KERNELS_STOP_MATCH_H
#define FORAGE_KERNELS_STOP_MATCH_H

#include "kernels/buf.h"
#include "kernels/error.h"

typedef struct stop_match {
    const char *const *strings; /* the caller's */
    size_t n_strings;
    fo_buf held;
    int found; /* index of the string that was met, -1 so far */
} stop_match;

/* Empty strings are refused (FO_EINVAL, field "stop"), as are more than 16. */
int stop_match_init(stop_match *m, const char *const *strings, size_t n, fo_err *err);
void stop_match_deinit(stop_match *m);

/* Append to *out what of the text so far can no longer be part of a stop string. Returns 1 when a
 * stop string was met (the text before it is in *out), else 0. */
int stop_match_push(stop_match *m, const char *text, size_t len, fo_buf *out);
/* The end of the text: what was held back comes out, up to a stop string that stands in it. Returns
 * as above. */
int stop_match_end(stop_match *m, fo_buf *out);

#endif
