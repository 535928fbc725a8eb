/* conversations.h - what people asked and want to see again, and what they thought of the answers.
 *
 * A conversation belongs to an owner of a tenant; nobody else changes it. Who owns it is told, so that whoever
 * serves it decides who may read it: its owner, and where it is shared others of the tenant that may see
 * what it quotes. Bounds: store_records.h.
 *
 *     store_conversation c;
 *     service_get_conversation(s, "default", "c_0123456789abcdef", true, NULL, &c, &err);
 *     ... c.turns[0].answer
 *     store_conversation_deinit(&c);
 *
 * Any thread; each call that writes is a commit of its own, durable when it returns. Strings are the caller's
 * and are copied. FO_ELIMIT says what is full. *cancel (NULL: none) ends a call, with nothing changed
 * (FO_ECANCELLED). */
#ifndef FORAGE_RETRIEVAL_CONVERSATIONS_H
#define FORAGE_RETRIEVAL_CONVERSATIONS_H

#include "retrieval/service/service.h"

/* Whose it is. */
typedef struct conversation_owner {
    const char *tenant, *name; /* name "": nobody in particular */
} conversation_owner;

/* in: id (a new one), collection, title, shared, created_ms, and its first turns, a copy's: it is there with all of them or
 * not at all. Whose it is there is not read. */
int service_create_conversation(service *s, conversation_owner of, const store_conversation *in,
                                const atomic_bool *cancel, fo_err *err);
/* FO_ENOTFOUND (field "id") where the tenant has none of that id. Caller deinits *out. */
int service_get_conversation(service *s, const char *tenant, const char *id, bool with_turns,
                             const atomic_bool *cancel, store_conversation *out, fo_err *err);

typedef struct conversation_search {
    const char *text;  /* that its title, a question or an answer has; NULL: any */
    const char *after; /* id of the last one of the page before; NULL: from the first */
    size_t limit;
} conversation_search;
/* The last changed first, without their turns; caller deinits each and frees *out. */
int service_list_conversations(service *s, conversation_owner of, const conversation_search *q,
                               const atomic_bool *cancel, store_conversation **out, size_t *n,
                               bool *has_more, fo_err *err);
/* title NULL, shared < 0: as it is. FO_ENOTFOUND where that owner has no such one. */
int service_change_conversation(service *s, conversation_owner of, const char *id,
                                const char *title, int shared, const atomic_bool *cancel,
                                fo_err *err);
int service_delete_conversation(service *s, conversation_owner of, const char *id,
                                const atomic_bool *cancel, fo_err *err);
/* Turn number `at`, from 0: their count, a new one, or one that is there: then those after it go.
 * FO_EINVAL (field "turn"). n_known: the count that the caller knows of, < 0: any; FO_ECONFLICT (field "turns"),
 * with nothing written, where it is another: somebody else has gone on with it. */
int service_write_turn(service *s, conversation_owner of, const char *id, size_t at,
                       int64_t n_known, const store_turn *in, const atomic_bool *cancel,
                       fo_err *err);

/* The owner's last word on the answer to a question of a collection; rating 0 takes it back. in: collection,
 * query, rating, documents, comment, t_ms. */
int service_put_feedback(service *s, conversation_owner of, const store_feedback *in, fo_err *err);
/* Since since_ms, the newest first; of.name NULL: of everybody; collections, names with
 * commas between them, NULL: of all. Caller deinits each
 * and frees *out. */
int service_list_feedback(service *s, conversation_owner of, const char *collections,
                          int64_t since_ms, size_t limit, store_feedback **out, size_t *n,
                          fo_err *err);

#endif
