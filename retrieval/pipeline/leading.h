/* leading.h - chunks that belong before those which both lists rank higher: to words and vectors an option (-z) is
 * a letter like any other, and a text that uses a term often says it oftener than the one that explains it. */
#ifndef FORAGE_RETRIEVAL_LEADING_H
#define FORAGE_RETRIEVAL_LEADING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct leading {
    int64_t *ids; /* of chunks; NULL: none */
    size_t n;
} leading;

typedef struct run run;
/* Puts the leading ones of r->fused in front, in their order, and fills r->leading: of a question that
 * names options or codes those that hold them, of one that asks what a term means those that explain it, of one that
 * names a command ("with tar") those of its page.
 * FO_ENOMEM, FO_ELIMIT, the store's errors. */
int leading_put_first(run *r);

bool leading_has(const leading *l, int64_t chunk);
void leading_deinit(leading *l);

#endif
