/* embedders.c - which embedder serves which collection.
 *
 * A collection's vectors are all of one embedder, whose fingerprint the store keeps. A service has the one that
 * it was opened with, for new collections; where that is inside the binary (the table or the encoder), the other one
 * is there too, opened when a collection turns out to need it. */
#include <stdlib.h>
#include <string.h>

#include "kernels/clock.h"
#include "retrieval/collections/service_internal.h"

static bool is_encoder(const embedder *e) {
    char encoder[65];
    embedder_encoder_fingerprint(encoder);
    return !strcmp(embedder_fingerprint(e), encoder);
}

/* The one of the binary's that the service was not opened with. */
static int take_other(service *s, embedder **out, fo_err *err) {
    pthread_mutex_lock(&s->embedders_mu);
    int rc = FO_OK;
    if (!s->other_builtin)
        rc = embedder_open_with(&s->other_builtin,
                                is_encoder(s->embedder) ? EMBEDDER_TABLE : EMBEDDER_ENCODER,
                                &s->embed_how, err);
    *out = s->other_builtin;
    pthread_mutex_unlock(&s->embedders_mu);
    return rc;
}

int service_embedder_of(service *s, const char *fingerprint, embedder **out, fo_err *err) {
    const bool own = !strcmp(embedder_fingerprint(s->embedder), fingerprint);
    *out = own ? s->embedder : NULL;
    if (own || !s->builtins) return FO_OK;
    char encoder[65];
    embedder_encoder_fingerprint(encoder);
    embedder *other = NULL;
    /* The encoder takes time to open: only for vectors that are its own. */
    if (!is_encoder(s->embedder) && strcmp(encoder, fingerprint) != 0) return FO_OK;
    fo_err why = {0};
    int rc = take_other(s, &other, &why);
    if (rc == FO_ENOMEM) { /* not that there is none */
        if (err) *err = why;
        return rc;
    }
    if (!rc && !strcmp(embedder_fingerprint(other), fingerprint)) *out = other;
    return FO_OK;
}

embedder *service_embedder_for(service *s, const char *tenant, const char *name) {
    store_collection c = {0};
    embedder *made = NULL;
    if (!store_get_collection(s->store, tenant, name, &c, NULL) && c.embedder[0])
        service_embedder_of(s, c.embedder, &made, NULL);
    store_collection_deinit(&c);
    return made ? made : s->embedder;
}

int service_take_encoder(service *s, embedder **out, fo_err *err) {
    if (!s->builtins)
        return fo_fail(err, FO_EUNSUPPORTED,
                       "the embedder of this service (%s) is not the built-in one",
                       embedder_name(s->embedder));
    *out = s->embedder;
    return is_encoder(s->embedder) ? FO_OK : take_other(s, out, err);
}

int service_foreign_collections(service *s, const char *tenant, const char *name, size_t limit,
                                store_collection **out, size_t *n, size_t *n_all, fo_err *err) {
    char encoder[65];
    const char *also = NULL;
    embedder *table = NULL;
    embedder_encoder_fingerprint(encoder);
    if (s->builtins && !is_encoder(s->embedder))
        also = encoder;
    else if (s->builtins && !take_other(s, &table, NULL))
        also = embedder_fingerprint(table);
    return store_foreign_collections(s->store, tenant, name, embedder_fingerprint(s->embedder),
                                     also, limit, out, n, n_all, err);
}

/* ---- documents on their way in, and an exchange ------------------------------------------- */

void service_ingest_begin(service *s) {
    pthread_mutex_lock(&s->mu);
    while (s->exchanging) pthread_cond_wait(&s->idle, &s->mu);
    s->n_ingesting++;
    pthread_mutex_unlock(&s->mu);
}

void service_ingest_end(service *s) {
    pthread_mutex_lock(&s->mu);
    s->ingested_ms = fo_now_ms();
    if (--s->n_ingesting == 0) pthread_cond_broadcast(&s->idle);
    pthread_mutex_unlock(&s->mu);
}
