#include "retrieval/service/conversations.h"

#include "retrieval/service/service_store.h"

int service_create_conversation(service *s, conversation_owner of, const store_conversation *in,
                                const atomic_bool *cancel, fo_err *err) {
    store_conversation as = *in;
    as.tenant = (char *)of.tenant;
    as.owner = (char *)of.name;
    return store_create_conversation(service_store(s), &as, cancel, err);
}

int service_get_conversation(service *s, const char *tenant, const char *id, bool with_turns,
                             const atomic_bool *cancel, store_conversation *out, fo_err *err) {
    return store_get_conversation(service_store(s), tenant, id, with_turns, cancel, out, err);
}

int service_list_conversations(service *s, conversation_owner of, const conversation_search *q,
                               const atomic_bool *cancel, store_conversation **out, size_t *n,
                               bool *has_more, fo_err *err) {
    return store_list_conversations(service_store(s), of.tenant, of.name, q->text, q->after,
                                    q->limit, cancel, out, n, has_more, err);
}

int service_change_conversation(service *s, conversation_owner of, const char *id,
                                const char *title, int shared, const atomic_bool *cancel,
                                fo_err *err) {
    return store_change_conversation(service_store(s), of.tenant, of.name, id, title, shared,
                                     cancel, err);
}

int service_delete_conversation(service *s, conversation_owner of, const char *id,
                                const atomic_bool *cancel, fo_err *err) {
    return store_delete_conversation(service_store(s), of.tenant, of.name, id, cancel, err);
}

int service_write_turn(service *s, conversation_owner of, const char *id, size_t at,
                       int64_t n_known, const store_turn *in, const atomic_bool *cancel,
                       fo_err *err) {
    return store_write_turn(service_store(s), of.tenant, of.name, id, at, n_known, in, cancel, err);
}

int service_put_feedback(service *s, conversation_owner of, const store_feedback *in, fo_err *err) {
    store_feedback as = *in;
    as.tenant = (char *)of.tenant;
    as.owner = (char *)of.name;
    return store_put_feedback(service_store(s), &as, err);
}

int service_list_feedback(service *s, conversation_owner of, const char *collections,
                          int64_t since_ms, size_t limit, store_feedback **out, size_t *n,
                          fo_err *err) {
    return store_list_feedback(service_store(s), of.tenant, of.name, collections, since_ms, limit,
                               out, n, err);
}
