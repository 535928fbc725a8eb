/* notice.h - what a library has to tell beside its errors: things found out of order that it went
 * on from (a file put aside, an index filled up again), for whoever keeps the log.
 *
 * kind is a short word that counts are kept by ("index_dropped"), text a sentence that names the
 * file. From the thread that found it; no lock of the library's is held that fn could need. */
#ifndef FORAGE_KERNELS_NOTICE_H
#define FORAGE_KERNELS_NOTICE_H

#include <stddef.h>

typedef struct fo_notices { /* all zero: nobody listens */
    void (*fn)(void *ctx, const char *kind, const char *text);
    void *ctx;
} fo_notices;

/* to NULL is fine. Text past 1,000 bytes is cut. */
void fo_notice(const fo_notices *to, const char *kind, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
