/* document_fields.h - what a document says of itself (extracted.fields) becomes metadata of it, so that filters can ask. */
#ifndef FORAGE_RETRIEVAL_DOCUMENT_FIELDS_H
#define FORAGE_RETRIEVAL_DOCUMENT_FIELDS_H

#include "kernels/error.h"

/* *stored (as document_acl_join made it; NULL: none) gets those members of the JSON object `fields` (NULL: none) whose names
 * it lacks: what the caller said of the document stands. What an index would not take with them is left as it was, for no
 * document fails by what it says of itself. */
int document_fields_join(char **stored, const char *fields, fo_err *err);

#endif
