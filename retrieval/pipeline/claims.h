/* claims.h - are pieces of a text that somebody wrote from a question's contexts borne out by them?
 *
 *     query_citation found[2] = {{0}};
 *     service_check_claims(s, &request, &result, claims, 2, found, &err);
 *     if (found[0].quote) ...                 // claims[0] is what that quote says
 *     free(found[0].quote);
 *
 * For text that the service did not check while it was written: values of a JSON object, sentences
 * beside a tool's result. A claim that is words is held to what `verified` means (citations.h); one
 * that is a number must be a number that a sentence of a context states: to its last digit, 3.1 not by a
 * version 3.10, and none that is beyond what a double holds (1e999). */
#ifndef FORAGE_RETRIEVAL_CLAIMS_H
#define FORAGE_RETRIEVAL_CLAIMS_H

#include "retrieval/pipeline/query.h"

typedef struct service_claim {
    const char *text; /* UTF-8 */
    size_t len;       /* 0: nothing is claimed, and nothing found */
    bool number;      /* text is one, as JSON writes it */
} service_claim;

/* q and result: as service_query had and gave them; the result's citations, where it has any, are
 * looked at before the contexts, since they answer the question. found[n]: zeroed by the caller; the
 * quote (the caller frees it) is NULL where nothing bears a claim out, and answer_start, answer_end
 * and index are left to the caller. FO_ENOTFOUND where the collection is gone, FO_ECANCELLED,
 * FO_ENOMEM. Any thread. */
int service_check_claims(service *s, const query_request *q, const query_result *result,
                         const service_claim *claims, size_t n, query_citation *found, fo_err *err);

#endif
