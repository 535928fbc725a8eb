/* sparse_json.h - which share of its KV an answer keeps, in requests and replies. */
#ifndef FORAGE_SERVER_SPARSE_JSON_H
#define FORAGE_SERVER_SPARSE_JSON_H

#include "retrieval/generator/generator.h"
#include "server/base/json.h"

/* The field "sparse" of a request, an object; errors name its fields as "sparse.retention". Absent:
 * *out is {0}. */
void sparse_json_read(json_in *in, generator_sparse *out);

/* The same object out of text, as commands take it. FO_EINVAL. */
int sparse_json_parse(const char *text, generator_sparse *out, fo_err *err);

/* "sparse" of a reply; nothing where all KV was kept. */
void sparse_json_write(json_out *o, const generator_held *held);

#endif
