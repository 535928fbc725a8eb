#include "retrieval/service/catalog.h"

#include <stdlib.h>

#include "retrieval/service/home.h"
#include "retrieval/service/service_internal.h"

catalog *service_catalog(service *s) {
    return &s->catalog;
}

int catalog_open(catalog **out, const char *home, fo_err *err) {
    int rc = home_must_exist(home, err);
    if (rc) return rc;
    catalog *c = calloc(1, sizeof *c);
    if (!c) return fo_no_memory(err);
    rc = store_open(&c->store, home_backend(), home,
                    &(store_options){.read_only = true, .no_ledger = true}, err);
    if (rc) {
        free(c);
        return rc;
    }
    *out = c;
    return FO_OK;
}

void catalog_close(catalog *c) {
    if (!c) return;
    store_close(c->store);
    free(c);
}

int catalog_get_collection(catalog *c, const char *tenant, const char *name, store_collection *out,
                           fo_err *err) {
    return store_get_collection(c->store, tenant, name, out, err);
}

int catalog_list_collections(catalog *c, const char *tenant, store_collection **out, size_t *n,
                             fo_err *err) {
    return store_list_collections(c->store, tenant, out, n, err);
}

static int find_collection(catalog *c, const char *tenant, const char *name, int64_t *id,
                           fo_err *err) {
    store_collection row = {0};
    int rc = store_get_collection(c->store, tenant, name, &row, err);
    *id = row.id;
    store_collection_deinit(&row);
    return rc;
}

int catalog_get_document(catalog *c, const char *tenant, const char *in, const char *id,
                         bool with_text, store_document *out, fo_err *err) {
    int64_t of;
    int rc = find_collection(c, tenant, in, &of, err);
    if (!rc) rc = store_get_document(c->store, of, id, with_text, out, err);
    return rc;
}

int catalog_list_documents(catalog *c, const char *tenant, const char *in, const char *after,
                           size_t limit, store_document **out, size_t *n, bool *has_more,
                           fo_err *err) {
    int64_t of;
    int rc = find_collection(c, tenant, in, &of, err);
    if (!rc) rc = store_list_documents(c->store, of, after, limit, out, n, has_more, err);
    return rc;
}
