/* mime.h - what mail is made of: header fields, encoded words, transfer encodings. Characters are those of
 * encoding.h, for a worker may load no tables of the C library. Sources: RFC 5322, RFC 2045-2047, RFC 2231. */
#ifndef FORAGE_DATA_MIME_H
#define FORAGE_DATA_MIME_H

#include "data/extract/builder.h"

typedef struct mime_part { /* into the message's bytes */
    const char *head, *body;
    size_t n_head, n_body;
} mime_part;

/* Head and body of a message or part: a blank line is between them. */
mime_part mime_split(const char *s, size_t n);

/* How much of a field is read: of one that people write much into, and of any other. */
enum { MIME_LONG_FIELD = 1 << 20, MIME_FIELD = 64 << 10 };

/* The value of a field, unfolded, appended to *out as it is; false where there is none. Of one that is longer than
 * MIME_FIELD the beginning, up to the end of a line or, where it is one line, of a character, and a sign of omission. */
bool mime_field(const mime_part *p, const char *name, fo_buf *out);
/* The same with its encoded words ("=?utf-8?Q?caf=C3=A9?=") as UTF-8, and with up to `most` bytes. */
bool mime_field_text(const mime_part *p, const char *name, size_t most, fo_buf *out);
/* A parameter of a field's value ("charset" of "text/plain; charset=utf-8"), without quotes, its pieces ("name*0",
 * "name*1") joined; cut at cap - 1 bytes. False where there is none, or an empty one. */
bool mime_parameter(const char *value, const char *name, char *out, size_t cap);
/* The same as UTF-8, appended to *out: of the character set that it names, and its encoded words decoded. */
bool mime_parameter_text(const char *value, const char *name, fo_buf *out);

/* The body without its transfer encoding ("base64", "quoted-printable"; any other: as it is). */
void mime_decode(const char *encoding, const char *s, size_t n, fo_buf *out);

#endif
