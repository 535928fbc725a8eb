/* documents_json.h - documents, collections and deletions as JSON, the same from the service and from
 * the command line. */
#ifndef FORAGE_SERVER_DOCUMENTS_JSON_H
#define FORAGE_SERVER_DOCUMENTS_JSON_H

#include "retrieval/service/service.h"
#include "server/base/json.h"

/* A moment as every reply writes one, "2026-01-31T09:30:00.000Z". ms: since 1970. */
void documents_json_time(json_out *o, const char *key, int64_t ms);
/* "metadata", and "acl" where there is one (with_acl: or null), of what is stored as metadata. */
void documents_json_metadata(json_out *o, const char *stored, bool with_acl);
/* An object; the text where d has it. */
void documents_json_document(json_out *o, const store_document *d);
/* Into the open object, a page of a list: "data", "has_more", "last_id". */
void documents_json_page(json_out *o, const store_document *docs, size_t n, bool more);
void documents_json_collection(json_out *o, const store_collection *c);
/* Into the open object: "dry_run", "matched", "deleted", "chunks", "changed", "unreadable", "epoch". */
void documents_json_deletion(json_out *o, const delete_report *r, bool dry_run);

/* "ids":[...] of a deletion: the first hundred. */
enum { DOCUMENTS_JSON_IDS = 100 };
typedef struct documents_ids {
    fo_buf text; /* the array without its brackets */
    size_t n;    /* all */
} documents_ids;
void documents_ids_add(void *ids, const store_document *d); /* a delete_request's `each` */
void documents_ids_write(json_out *o, const documents_ids *ids);
void documents_ids_deinit(documents_ids *ids);

#endif
