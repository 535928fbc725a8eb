/* titled.h - documents whose titles come near the question (retrieval/collections/title_vectors.h).
 *
 *     titled_compare(r);      // once it is known what is sought: r->titled
 *     titled_put_in(r);       // behind fusion: their best chunks stand among those that are read
 *     titled_near(r, document);
 *
 * For answers and for the reader's order alone: which of the chunks that are read comes first, the reader says, with the
 * title's nearness beside what it sees of the text. Fused lists that are shown as they are have no part in it. */
#ifndef FORAGE_RETRIEVAL_TITLED_H
#define FORAGE_RETRIEVAL_TITLED_H

#include <stddef.h>
#include <stdint.h>

struct title_vectors;
typedef struct run run;

enum { TITLED_BEST = 8 };

typedef struct titled_documents {
    struct title_vectors *of; /* counted; NULL: there are none */
    float *cosines;           /* of its titles with what is sought; NULL: not compared */
    int64_t best
        [TITLED_BEST]; /* documents with the nearest titles, nearest first, of those that the asker sees */
    size_t n_best;
} titled_documents;

/* FO_ENOMEM, the store's errors. */
int titled_take(run *r);    /* r->titled.of, where the question reads */
int titled_compare(run *r); /* and the cosines */
/* Adds to r->fused what is nearest in the documents with the best titles: within the number of chunks that are read, behind
 * the best of the lists. Where chunks lead (leading.h), their documents are the ones to read. FO_ENOMEM, the searches' errors. */
int titled_put_in(run *r);
/* Cosine of the question with the title of a document; NAN: not known. */
double titled_near(const run *r, int64_t document);
/* How likely a command is for what is asked, 0..1, by how near its page's title comes and how much nearer than any other; 0: not known. */
double titled_meant(const run *r, int64_t document);
/* Where a command is likely so: the chunk with the line that says what it does is among the contexts, in the last one's place if
 * need be. FO_ENOMEM, the store's errors. */
int titled_keep_name(run *r);
void titled_deinit(titled_documents *t);

#endif
