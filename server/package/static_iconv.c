/* static_iconv.c - iconv over ICU, in the program of `make static` alone.
 *
 * The C library decodes most charsets by modules that it loads from /usr/lib. A static program must not: on another
 * system they are of another C library, and where there are none, a Russian mail could not be read. ICU's tables are
 * within the program. These three functions stand before those of libc.a for all that is linked with them.
 *
 * Differences to the C library's: what a name says behind "//" (TRANSLIT, IGNORE) is left out, so that what cannot be
 * written is EILSEQ; and ICU has no ISO-8859-16. */
#include <errno.h>
#include <iconv.h>
#include <langinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unicode/ucnv.h>

typedef struct converter {
    UConverter *from, *to;
} converter;

static UConverter *open_charset(const char *name) {
    char plain[64];
    size_t n = strcspn(name, "/");
    if (n >= sizeof plain) return NULL;
    memcpy(plain, name, n);
    plain[n] = 0;
    const char *own = strcmp(plain, "CP949") ? plain : "windows-949"; /* "CP949" is IBM's there */
    UErrorCode status = U_ZERO_ERROR;
    /* Of no name: that of the locale. ICU's own default is another. */
    UConverter *c = ucnv_open(n ? own : nl_langinfo(CODESET), &status);
    if (U_FAILURE(status)) return NULL;
    ucnv_setToUCallBack(c, UCNV_TO_U_CALLBACK_STOP, NULL, NULL, NULL, &status);
    ucnv_setFromUCallBack(c, UCNV_FROM_U_CALLBACK_STOP, NULL, NULL, NULL, &status);
    return c;
}

static void free_converter(converter *c) {
    if (c->from) ucnv_close(c->from);
    if (c->to) ucnv_close(c->to);
    free(c);
}

iconv_t iconv_open(const char *to, const char *from) {
    converter *c = calloc(1, sizeof *c);
    if (!c) return (iconv_t)-1;
    c->from = open_charset(from);
    c->to = open_charset(to);
    if (c->from && c->to) return (iconv_t)c;
    free_converter(c);
    errno = EINVAL;
    return (iconv_t)-1;
}

int iconv_close(iconv_t cd) {
    free_converter((converter *)cd);
    return 0;
}

/* One character at a time: what is left of input and output is then exact wherever it ends. */
size_t iconv(iconv_t cd, char **in, size_t *n_in, char **out, size_t *n_out) {
    converter *c = (converter *)cd;
    if (!in ||
        !*in) { /* back to the first state; what UTF-7 and the like would still write is left out */
        ucnv_reset(c->from);
        ucnv_reset(c->to);
        return 0;
    }
    while (*n_in) {
        UErrorCode status = U_ZERO_ERROR;
        const char *at = *in, *end = *in + *n_in;
        UChar32 cp = ucnv_getNextUChar(c->from, &at, end, &status);
        if (status ==
            U_INDEX_OUTOFBOUNDS_ERROR) { /* nothing but marks of a state or of an order of bytes */
            *in += *n_in;
            *n_in = 0;
            return 0;
        }
        if (U_FAILURE(status)) {
            errno = status == U_TRUNCATED_CHAR_FOUND ? EINVAL : EILSEQ;
            return (size_t)-1;
        }
        UChar units[2];
        int n_units = 0;
        if (cp > 0xFFFF) units[n_units++] = (UChar)(0xD7C0 + (cp >> 10));
        units[n_units++] = cp > 0xFFFF ? (UChar)(0xDC00 | (cp & 0x3FF)) : (UChar)cp;
        char piece[32], *to = piece;
        const UChar *unit = units;
        ucnv_fromUnicode(c->to, &to, piece + sizeof piece, &unit, units + n_units, NULL, false,
                         &status);
        size_t n = (size_t)(to - piece);
        if (U_FAILURE(status) || n > *n_out) {
            errno = U_FAILURE(status) ? EILSEQ : E2BIG;
            return (size_t)-1;
        }
        memcpy(*out, piece, n);
        *out += n;
        *n_out -= n;
        *n_in -= (size_t)(at - *in);
        *in += at - *in;
    }
    return 0;
}
