/* fit_texts.h - the texts that a fit learns from: documents whole, or stretches drawn from them. */
#ifndef FORAGE_SERVER_FIT_TEXTS_H
#define FORAGE_SERVER_FIT_TEXTS_H

#include <stddef.h>
#include "kernels/error.h"

/* One text; a negative code stops the walk and is returned. */
typedef int fit_text_fn(void *arg, const char *text, size_t len, fo_err *err);
/* A file, or a line of a corpus, that cannot be read, and why. */
typedef void fit_left_out_fn(void *arg, const char *name, const char *why);

/* Walk `path`: a .jsonl corpus (title, text, content_type a line) or a folder of files that
 * `forage ingest` reads. per_document 0: each document whole, behind its title. Otherwise so many
 * stretches of each: a paragraph, or a sentence of a long one, every other time behind the title.
 * The draw depends on the order of documents alone. What cannot be read is
 * passed over, and told to left_out (NULL: to nobody). Formats that are read apart are read by this program
 * (data/extract/extract_host.h: main has to know that role). */
int fit_texts_walk(const char *path, int per_document, fit_text_fn *fn, fit_left_out_fn *left_out,
                   void *arg, fo_err *err);

#endif
