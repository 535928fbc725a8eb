/* passage.h - a context of a question, as the makers of answers see it. */
#ifndef FORAGE_RETRIEVAL_PASSAGE_H
#define FORAGE_RETRIEVAL_PASSAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "index/sparse/analyze.h"

/* Scores that are unknown are NAN. */
typedef struct passage {
    const char *text; /* UTF-8 */
    size_t len;
    const char *title;    /* NULL or "": none */
    float score;          /* fused, only its order and relative size matter */
    float dense;          /* cosine with the question */
    float sparse;         /* BM25 */
    bool open_start;      /* the text begins in the middle of a sentence */
    bool open_end;        /* and ends in the middle of one */
    size_t before;        /* bytes of the document that stand before text[0] in memory: facts.h */
    const char *heading;  /* of the section that the text begins in; NULL or "": none */
    bool whole_tables;    /* no table goes on before its first or behind its last line */
    const char *document; /* id of the document that it is of; NULL or "": not known */
} passage;

/* The models that read question and passage together learnt English, which is what a text is in if nothing says otherwise and the
 * index has no other language. */
bool passage_is_english(const passage *p, const analyzer *a);

#endif
