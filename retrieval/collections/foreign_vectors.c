/* Collections whose vectors another embedder made than the one that is loaded: they answer by their
 * words alone, and take no documents in, until they are embedded anew. */
#include "retrieval/collections/service_internal.h"

int service_foreign_sentence(const service *s, const char *name, fo_err *err) {
    return fo_fail_field(err, FO_EMISMATCH, "collection",
                         "collection '%s' was embedded by another model than the one loaded (%s): "
                         "start with that model, run 'forage index rebuild', or delete the "
                         "collection",
                         name, embedder_name(s->embedder));
}

int collection_refuse_foreign(const service *s, const collection *c, fo_err *err) {
    return c->foreign_vectors ? service_foreign_sentence(s, c->name, err) : FO_OK;
}

/* The store forgets the embedder of a collection with its last chunk; an open index knows it still. */
void collection_forget_foreign(service *s, collection *c) {
    if (!c->foreign_vectors) return;
    fo_err err = {0};
    store_collection now = {0};
    pthread_mutex_lock(&s->admin_mu);
    writer_take(s);
    /* Where this fails the collection stays as it is, and is opened right at the next start. */
    if (store_get_collection(s->store, c->tenant, c->name, &now, &err) == FO_OK &&
        now.id == c->id && !now.embedder[0])
        collection_renew(s, c, &err);
    writer_yield(s);
    pthread_mutex_unlock(&s->admin_mu);
    store_collection_deinit(&now);
}
