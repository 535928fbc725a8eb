/* file_form.h - files as a form, as POST /ingest takes them: several that are held, or one that is read while it is sent.
 *
 *     file_form_draw(&err);                                         // once, before any form
 *     fo_buf form = {0};
 *     file_form_begin(&form, "notes/a.md", "notes/a.md", "a.md");   // fields, and what stands before the file
 *     fo_buf_add(&form, data, n);
 *     file_form_next(&form);                                        // any number of times, then
 *     file_form_end(&form);
 *
 *     file_form_stream f = {.fd = fd};                              // or
 *     file_form_begin(&f.begins, ...);
 *     client_post_stream(c, "/ingest", file_form_type(), file_form_read, file_form_rewind, &f, &reply, &err);
 *     fo_buf_free(&f.begins);
 *
 * The boundary is drawn for each process: what a file holds cannot end its part and begin others. */
#ifndef FORAGE_SERVER_FILE_FORM_H
#define FORAGE_SERVER_FILE_FORM_H

#include <stdbool.h>
#include <sys/types.h>
#include "kernels/buf.h"
#include "kernels/error.h"

int file_form_draw(fo_err *err); /* the boundary of this process's forms. FO_EIO: no random bytes */
const char *file_form_type(void); /* the content type, with that boundary */

/* id NULL: it has none. name is the file's, without its folders. */
void file_form_begin(fo_buf *b, const char *id, const char *uri, const char *name);
void file_form_next(fo_buf *b); /* behind a file's bytes */
void file_form_end(fo_buf *b);  /* behind the last file */

typedef struct file_form_stream {
    fo_buf begins; /* the caller's */
    int fd;        /* stays open */
    /* file_form.c's */
    size_t sent; /* of what stands before the file; then of what stands behind it */
    bool ended;  /* the file is through */
} file_form_stream;

/* A client_source and a client_rewind (server/http/client.h) of such a form. */
ssize_t file_form_read(void *stream, char *buf, size_t n, fo_err *err);
bool file_form_rewind(void *stream); /* to the file's first byte */

#endif
