/* Calls inside a service, which service_close waits for. */
#include "retrieval/collections/service_internal.h"

int service_enter(service *s, fo_err *err) {
    pthread_mutex_lock(&s->mu);
    bool closing = s->closing;
    if (!closing) s->n_running++;
    pthread_mutex_unlock(&s->mu);
    return closing ? fo_fail(err, FO_EBUSY, "the service is shutting down") : FO_OK;
}

void service_leave(service *s) {
    pthread_mutex_lock(&s->mu);
    if (--s->n_running == 0) pthread_cond_broadcast(&s->idle);
    pthread_mutex_unlock(&s->mu);
}
