/* metadata.h - the scalars of documents' metadata in columns, so that a filter becomes a bitmap.
 * A column is a key; nested objects give keys with dots (author.name; .name under an empty key); an
 * array gives an entry for each element. Strings are sorted and numbered, so that order and equality are integers'. */
#ifndef FORAGE_INDEX_METADATA_H
#define FORAGE_INDEX_METADATA_H

#include <stddef.h>
#include <stdint.h>
#include "index/filter/filter.h"
#include "index/format/segment.h"
#include "kernels/error.h"

typedef struct metadata_builder metadata_builder; /* one thread */

int metadata_builder_create(metadata_builder **out, fo_err *err);
void metadata_builder_free(metadata_builder *b);
/* The metadata of document `doc` (ascending calls): a JSON object, or "" for none. FO_EINVAL:
 * no object; FO_ELIMIT: more than 1,024 values, nested deeper than 8, a key with dots of more than
 * 512 bytes, or more than 1 MiB of keys and strings. */
int metadata_builder_add(metadata_builder *b, uint32_t doc, const char *json, fo_err *err);

/* Whether an index takes it, judged before anything is written: the errors of metadata_builder_add. */
int metadata_check(const char *json, fo_err *err);
/* The same, and how many values it has: each chunk under it costs as many entries. */
int metadata_count(const char *json, size_t *n_values, fo_err *err);
enum { METADATA_VALUE_BYTES = 24 }; /* of an entry while an index is built; built, it has 13 */

/* What bounds a section: the bytes of its distinct keys and strings, whose offsets have 32 bits, and one for each
 * entry, whose numbers have as many. A builder takes 2 GiB; those that fill one keep to half of that (segment_metadata
 * of search_index_options). */
uint64_t metadata_builder_weight(const metadata_builder *b);
/* What one document more adds to it at most: reckoned from the JSON's bytes, without parsing. */
uint64_t metadata_most_weight(const char *json);

typedef struct metadata {
    uint32_t n_docs, n_columns, n_strings, n_entries;
    const uint64_t *values;  /* of each entry: string number, bits of a double, or boolean */
    const uint32_t *columns; /* key (string number), first entry, number of entries */
    const uint32_t *offsets; /* of strings, n_strings + 1 */
    const uint32_t *docs;
    const uint8_t *kinds; /* value_kind */
    const char *strings;
    size_t strings_bytes;
} metadata;

uint64_t metadata_weight(const metadata *m); /* metadata_builder_weight of what it was built from */

/* All of another index's entries, documents renumbered by map (UINT32_MAX: dropped). */
int metadata_builder_merge(metadata_builder *b, const metadata *m, const uint32_t *map,
                           fo_err *err);
/* The section. It may be built again, should what becomes of it fail; what is added after it is as ever. */
int metadata_build(metadata_builder *b, uint32_t n_docs, segment_writer *w, fo_err *err);

/* A view, valid as long as the segment. FO_ECORRUPT: something is out of range. */
int metadata_open(metadata *out, const segment *s, uint32_t n_docs, fo_err *err);
/* Bit d of bits[(n_docs + 63) / 64] set: document d matches. */
int metadata_match(const metadata *m, const search_filter *f, uint64_t *bits, fo_err *err);
/* The same of documents that stand in no index: json[i] is the metadata of document i, NULL or ""
 * for none. bits and refused: [(n + 63) / 64]; in refused a bit is set for each document whose
 * metadata an index would refuse (metadata_builder_add): whether that one matches is not told. */
int metadata_match_json(const char *const *json, uint32_t n, const search_filter *f, uint64_t *bits,
                        uint64_t *refused, fo_err *err);
/* Entries in range, and columns and strings ascending, as searches take them to be: FO_ECORRUPT. */
int metadata_verify(const metadata *m, fo_err *err);

#endif
