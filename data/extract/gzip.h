/* gzip.h - gzip data becomes the bytes that it holds, within a document's budget. */
#ifndef FORAGE_DATA_GZIP_H
#define FORAGE_DATA_GZIP_H

#include "data/extract/doc_budget.h"
#include "kernels/buf.h"

bool gzip_is(const unsigned char *in, size_t n);

/* Append what in[0..n) unpacks to: all members, padding after them left out. What is appended is
 * taken from the budget (NULL: none). FO_EINVAL names the byte at fault; FO_ELIMIT past max_bytes;
 * and what doc_budget_fail says. */
int gzip_unpack(fo_buf *out, const unsigned char *in, size_t n, size_t max_bytes,
                doc_budget *budget, fo_err *err);

/* The first bytes that it unpacks to, at most cap of them, into out: how many. */
size_t gzip_peek(const unsigned char *in, size_t n, unsigned char *out, size_t cap);

/* About how many bytes it unpacks to, by what its end says of itself; never more than deflate can
 * reach. Only a hint: the end may lie. */
size_t gzip_size_hint(const unsigned char *in, size_t n);

#endif
