/* catalog.h - what a home holds, to look at: its collections and their documents.
 *
 * A running service has a catalog. Without one, catalog_open reads a home as it is, also beside a
 * server: no model is loaded and no index opened.
 *
 *     catalog *c;
 *     catalog_open(&c, "home", &err);
 *     catalog_get_document(c, "default", "notes", "kb-1", true, &doc, &err);
 *     store_document_deinit(&doc);
 *     catalog_close(c);
 *
 * Any thread may ask. Of a collection that is not there, FO_ENOTFOUND has the field "collection". */
#ifndef FORAGE_RETRIEVAL_CATALOG_H
#define FORAGE_RETRIEVAL_CATALOG_H

#include "retrieval/collections/collections.h"

typedef struct catalog catalog;

catalog *service_catalog(service *s); /* owned by s */
/* FO_ENOTFOUND: there is no home in that folder; nothing is made. */
int catalog_open(catalog **out, const char *home, fo_err *err);
void catalog_close(catalog *c); /* of catalog_open alone; NULL is fine */

/* Caller deinits *out, which is untouched on an error. */
int catalog_get_collection(catalog *c, const char *tenant, const char *name, store_collection *out,
                           fo_err *err);
/* All of a tenant (NULL: all tenants), by name; caller deinits each and frees *out. */
int catalog_list_collections(catalog *c, const char *tenant, store_collection **out, size_t *n,
                             fo_err *err);

/* FO_ENOTFOUND (field "id"); FO_ECORRUPT: what is stored is not what was ingested. Caller deinits
 * *out. */
/* sees: what the caller sees, NULL: everything; another document is as one that is not there. */
int catalog_get_document(catalog *c, const char *tenant, const char *collection, const char *id,
                         const search_filter *sees, bool with_text, store_document *out,
                         fo_err *err);
/* A page in order of id, ids > after (NULL: from the first), without their text. Caller deinits each
 * and frees *out. */
int catalog_list_documents(catalog *c, const char *tenant, const char *collection,
                           const char *after, size_t limit, store_document **out, size_t *n,
                           bool *has_more, fo_err *err);
/* The same of those that a condition on metadata matches (NULL: all) and that came from a source (NULL:
 * whatever they came from). Damaged documents match no condition. */
enum catalog_order { CATALOG_BY_ID, CATALOG_BY_TITLE, CATALOG_BY_UPDATED, CATALOG_BY_SIZE };
typedef struct catalog_search {
    const search_filter *filter;
    const char *source;
    const char
        *text; /* that the title, the uri or the id has, whatever its case (of ASCII); NULL: any */
    /* After the document `after` in this order. Any but ascending ids looks at all documents for each page, and asks
     * for a document `after` that is there (FO_ENOTFOUND, field "after"). */
    enum catalog_order order;
    bool descending;
    const char *after;
    /* What the caller sees, NULL: everything; `filter` has it in it. Any other `after` is as one that is not there. */
    const search_filter *sees;
    size_t limit;
    const atomic_bool
        *cancel; /* NULL, or ends it (FO_ECANCELLED): all documents may have to be looked at */
} catalog_search;
int catalog_find_documents(catalog *c, const char *tenant, const char *collection,
                           const catalog_search *q, store_document **out, size_t *n, bool *has_more,
                           fo_err *err);
/* Has a document this text in its title, uri or id? As catalog_search.text. */
bool catalog_is_named(const store_document *d, const char *text);
/* Did this document come from this source: by its id and its metadata? */
bool catalog_is_of_source(const store_document *d, const char *source);
/* The collection that a source fills; caller frees *out. FO_ENOTFOUND has the field "source". */
int catalog_source_collection(catalog *c, const char *tenant, const char *source, char **out,
                              fo_err *err);

#endif
