/* error.h - one error type for the whole program.
 *
 * A function that can fail returns int: FO_OK (0) or a negative code, and takes a `fo_err *`
 * as its last parameter. The sentence in it is written for the person who will read it: it
 * names the field, the file or the byte offset; a name that is too long for it ("%.100s") is cut
 * between characters. A broken invariant is an assert, not a code.
 *
 *     if (n > max) return fo_fail(err, FO_EINVAL, "top_k must be between 1 and %d", max);
 *
 * Codes are forwarded in one form: the variable is called rc and tested by itself.
 *
 *     int rc = open_first(&a, err);
 *     if (!rc) rc = open_second(&b, err);
 *     if (rc) return rc;
 */
#ifndef FORAGE_KERNELS_ERROR_H
#define FORAGE_KERNELS_ERROR_H

enum {
    FO_OK = 0,
    FO_EINVAL = -1,       /* bad argument or input; the caller can mend it */
    FO_EIO = -2,          /* the operating system refused */
    FO_ECORRUPT = -3,     /* a file's bytes contradict its format or checksum */
    FO_ENOMEM = -4,       /* allocation failed or a memory budget is spent */
    FO_ENOTFOUND = -5,    /* the named thing does not exist */
    FO_ECONFLICT = -6,    /* it exists already, or somebody else holds it */
    FO_EUNSUPPORTED = -7, /* well-formed, but this build or model cannot do it */
    FO_ELIMIT = -8,       /* larger than a stated limit */
    FO_ECANCELLED = -9,   /* the caller asked to stop */
    FO_ETIMEOUT = -10,    /* a deadline passed */
    FO_EBUSY = -11,       /* try again later */
    FO_ENOSPC = -12,      /* the disk is full or nearly so */
    FO_EMISMATCH = -13,   /* made by another embedder, model or format version */
    FO_EDENIED = -14,     /* who asks may not */
};

/* Filled by the function that fails; the caller owns it, usually on its stack. */
typedef struct fo_err {
    int code;       /* FO_*; 0 while nothing failed */
    char field[64]; /* the request field at fault, "" if none */
    char msg[512];  /* NUL-terminated sentence without a full stop */
} fo_err;

/* Store code and sentence in *err (NULL is fine) and return code. */
int fo_fail(fo_err *err, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* The same, naming the request field that is at fault. */
int fo_fail_field(fo_err *err, int code, const char *field, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* fo_fail(FO_EIO, FO_ENOSPC (also a file at its limit), FO_ENOMEM or FO_ENOTFOUND) with
 * strerror(errno) appended, for which a sentence that is too long is cut. */
int fo_fail_errno(fo_err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* fo_fail(FO_ENOMEM): a plain allocation failed. Where a budget or a size is to blame, say which
 * with fo_fail instead. */
int fo_no_memory(fo_err *err);

/* Put "prefix: " before the sentence that is there already; returns err->code. */
int fo_fail_prefix(fo_err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* "FO_EIO" and so on, for logs. Static string. */
const char *fo_code_name(int code);

#endif
