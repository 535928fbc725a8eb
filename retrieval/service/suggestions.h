/* suggestions.h - first questions for who does not know yet what to ask: what this owner asked before and called well
 * answered, then questions made of documents: of sentences that tell when, where, how often, of lines
 * that are questions, of titles that say what something does, of headings, of rows. Each was put to the service, and only those that it answers with good support
 * are handed out. That is tried without a language model. Where there is none, their answers are kept where answers are,
 * so that whoever takes one up is answered at once; where there is one, which writes another answer, only what was found
 * for them is at hand. Of texts that are many mebibytes long none is made.
 *
 * Source: ours; what is made of documents is told by form alone, in English. */
#ifndef FORAGE_RETRIEVAL_SUGGESTIONS_H
#define FORAGE_RETRIEVAL_SUGGESTIONS_H

#include "retrieval/service/service.h"

typedef struct suggestion {
    char *query;
    double support; /* of its answer, 0..1 */
} suggestion;

typedef struct suggestion_request {
    const char *tenant, *owner, *collection;
    const search_filter *sees; /* what the asker sees of the collection; NULL: everything */
    size_t limit;              /* that are wanted, at most 8 */
    int budget_ms;             /* no document is read and no new question tried after that */
    atomic_bool *cancel;       /* NULL, or ends it (FO_ECANCELLED) */
} suggestion_request;

#define SUGGESTION_SUPPORT .7 /* of an answer: less is not suggested */

/* At most q->limit, in no order; none of an empty collection, or of one whose vectors are of another model. FO_ENOTFOUND (field "collection"). Caller frees each
 * query and *out. Any thread. */
int service_suggest(service *s, const suggestion_request *q, suggestion **out, size_t *n,
                    fo_err *err);

/* The question that a line of a document makes: a question itself, a heading; a title only one of the form "name - what
 * it does". false where it makes none. Into out[cap]. */
bool suggestion_of_line(const char *line, size_t len, bool title, char *out, size_t cap);
/* The same of a row whose cells are named: "Name: Amira Holt; Phone: 555-0101" makes "What is the phone of Amira Holt?" */
bool suggestion_of_row(const char *row, size_t len, char *out, size_t cap);
/* The same of a sentence without its full stop: "When the lamp is red, ..." and "The pump is serviced every ..."
 * make one. */
bool suggestion_of_sentence(const char *sentence, size_t len, char *out, size_t cap);

#endif
