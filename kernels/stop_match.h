/* stop_match.h - stop strings in a stream of text: what might be the beginning of one is held back
 * until it is known. Bytes come out in order; nothing of a stop string ever comes out. */
#ifndef FORAGE_KERNELS_STOP_MATCH_H
#define FORAGE_KERNELS_STOP_MATCH_H

#include <stdint.h>

#include "kernels/buf.h"
#include "kernels/error.h"

enum { STOP_MATCH_STRINGS = 16, STOP_MATCH_BYTES = 1024 /* of one */ };

typedef struct stop_match {
    const char *const *strings; /* the caller's */
    uint16_t lengths[STOP_MATCH_STRINGS];
    size_t n_strings;
    fo_buf held;
    int found; /* index of the string that was met, -1 so far */
} stop_match;

/* Refuses (FO_EINVAL, field "stop") more than STOP_MATCH_STRINGS, empty strings and such of more than
 * STOP_MATCH_BYTES bytes: what is held back is compared with all of them at every byte. */
int stop_match_check(const char *const *strings, size_t n, fo_err *err);
/* As stop_match_check refuses. strings must outlive m. */
int stop_match_init(stop_match *m, const char *const *strings, size_t n, fo_err *err);
void stop_match_deinit(stop_match *m);

/* Append to *out what of the text so far can no longer be part of a stop string. Returns 1 when a
 * stop string was met (the text before it is in *out), else 0. */
int stop_match_push(stop_match *m, const char *text, size_t len, fo_buf *out);
/* The end of the text: what was held back comes out, up to a stop string that stands in it. Returns
 * as above. */
int stop_match_end(stop_match *m, fo_buf *out);
/* The same of the text so far: what is pushed from now on comes out as it is. */
int stop_match_cease(stop_match *m, fo_buf *out);

#endif
