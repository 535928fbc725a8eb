/* GET, POST /conversations; GET, PATCH, DELETE /conversations/{id}; PUT /conversations/{id}/turns/{turn}; GET
 * /suggestions, to begin one with. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/order.h"
#include "kernels/utf8.h"
#include "retrieval/collections/catalog.h"
#include "retrieval/service/conversations.h"
#include "retrieval/service/suggestions.h"
#include "server/base/json.h"
#include "server/base/log.h"
#include "server/routes/app.h"
#include "server/routes/documents_json.h"

enum {
    TITLE_MAX = 400,
    QUESTION_MAX = 64 * 1024,
    ANSWER_MAX = 256 * 1024,
    FOUND_BY_MAX = 400,
    SUGGESTIONS_MS = 3000,
    NAMED_MAX = 1024 /* documents that a turn may name for others to see it */
};

static conversation_owner owner_of(const http_request *r) {
    return (conversation_owner){app_tenant(r), app_owner(r)};
}

/* What ends a change: its timeout_ms. That a client has left does not: a page is closed while it keeps a turn. */
static const atomic_bool *ends_change(http_request *r) {
    return http_arg(r, "timeout_ms") ? http_cancel(r) : NULL;
}

/* All but the closing bracket. */
static void write_summary(json_out *o, const store_conversation *c, bool own) {
    json_out_open(o, NULL, '{');
    json_out_string(o, "id", c->id);
    json_out_string(o, "title", c->title);
    json_out_string(o, "collection", c->collection);
    json_out_bool(o, "shared", c->shared);
    json_out_bool(o, "own", own);
    json_out_int(o, "n_turns", (int64_t)c->n_turns);
    documents_json_time(o, "created_at", c->created_ms);
    documents_json_time(o, "updated_at", c->updated_ms);
}

static void write_turn(json_out *o, const store_turn *t, bool own) {
    static const char *const ratings[] = {"down", NULL, "up"};
    json_out_open(o, NULL, '{');
    json_out_string(o, "collection", t->collection);
    json_out_string(o, "question", t->question);
    json_out_string(o, "answer", t->answer);
    json_out_string(o, "rating", own ? ratings[(t->rating > 0) - (t->rating < 0) + 1] : NULL);
    documents_json_time(o, "created_at", t->created_ms);
    json_out_raw(o, "reply", t->reply);
    json_out_close(o, '}');
}

void route_conversations(http_request *r, void *ctx) {
    app *a = ctx;
    int64_t limit;
    conversation_search q = {.text = http_arg(r, "q"), .after = http_arg(r, "after")};
    if (!app_timeout_arg(r) || !http_arg_int(r, "limit", 50, 1, 500, &limit)) return;
    if (q.text && strlen(q.text) > FOUND_BY_MAX) {
        http_error(r, 400, "bad_field", "q", "q must have at most %d bytes", FOUND_BY_MAX);
        return;
    }
    if (q.text && !*q.text) q.text = NULL;
    q.limit = (size_t)limit;
    store_conversation *list;
    size_t n;
    bool more;
    fo_err err = {0};
    if (service_list_conversations(a->service, owner_of(r), &q, http_cancel(r), &list, &n, &more,
                                   &err)) {
        http_error_from(r, &err);
        return;
    }
    fo_buf b = {0};
    json_out o = {&b, false};
    json_out_open(&o, NULL, '{');
    json_out_open(&o, "data", '[');
    for (size_t i = 0; i < n; i++) {
        write_summary(&o, &list[i], true);
        json_out_close(&o, '}');
    }
    json_out_close(&o, ']');
    json_out_bool(&o, "has_more", more);
    json_out_string(&o, "last_id", n ? list[n - 1].id : NULL);
    json_out_close(&o, '}');
    for (size_t i = 0; i < n; i++) store_conversation_deinit(&list[i]);
    free(list);
    http_reply_json(r, 200, &b);
}

/* ---- one of them ---------------------------------------------------------------------------- */

/* Documents that a reply names, wherever in it: its citations, its contexts, and what a client put there. */
typedef struct named {
    const char *ids[NAMED_MAX]; /* the reply's */
    size_t n;
    bool odd; /* too many, or one that is no string: what it is of is not known */
} named;

static void find_named(const cJSON *of, named *out) {
    const cJSON *c;
    cJSON_ArrayForEach(c, of) {
        if (c->string && !strcmp(c->string, "document_id")) {
            if (cJSON_IsString(c) && out->n < NAMED_MAX)
                out->ids[out->n++] = c->valuestring;
            else
                out->odd = true;
        } else if (!out->odd) {
            find_named(c, out); /* json_parse bounds the depth */
        }
    }
}

/* May who asks see every document that a turn quotes? One that is gone may have been anybody's, and so may
 * what is quoted without its document. */
static bool sees_quoted(app *a, http_request *r, const store_turn *t) {
    fo_err err = {0};
    cJSON *reply = NULL;
    const cJSON *c;
    named *docs = malloc(sizeof *docs);
    if (!docs || json_parse(t->reply, strlen(t->reply), &reply, &err)) return free(docs), false;
    docs->n = 0, docs->odd = false;
    cJSON_ArrayForEach(c, cJSON_GetObjectItemCaseSensitive(reply, "citations")) {
        const cJSON *source = cJSON_GetObjectItemCaseSensitive(c, "source");
        if (!cJSON_HasObjectItem(source, "document_id")) docs->odd = true;
    }
    find_named(reply, docs);
    qsort(docs->ids, docs->n, sizeof *docs->ids, fo_order_strings);
    bool sees = !docs->odd;
    for (size_t i = 0; sees && i < docs->n; i++) {
        if (i && !strcmp(docs->ids[i], docs->ids[i - 1])) continue;
        store_document d = {0};
        sees = !*http_cancel(r) &&
               !catalog_get_document(service_catalog(a->service), app_tenant(r), t->collection,
                                     docs->ids[i], app_sees(r), false, &d, &err);
        store_document_deinit(&d);
    }
    cJSON_Delete(reply);
    free(docs);
    return sees;
}

/* A conversation of somebody else: shared, and nothing in it that who asks may not see. */
static bool may_read(app *a, http_request *r, const store_conversation *c) {
    bool may = c->shared;
    for (size_t i = 0; may && i < c->n_turns; i++)
        may = app_may_use(r, c->turns[i].collection) &&
              (!app_sees(r) || sees_quoted(a, r, &c->turns[i]));
    return may;
}

/* cancel NULL: what was changed is told, also once its time is over: it is done. */
static void reply_conversation(http_request *r, app *a, const char *id, int status,
                               const atomic_bool *cancel) {
    store_conversation c = {0};
    fo_err err = {0};
    int rc = service_get_conversation(a->service, app_tenant(r), id, true, cancel, &c, &err);
    bool own = !rc && !strcmp(c.owner, app_owner(r));
    if (!rc && !own && !may_read(a, r, &c))
        rc = *http_cancel(r)
                 ? fo_fail(&err, FO_ECANCELLED, "cancelled")
                 : fo_fail_field(&err, FO_ENOTFOUND, "id", "there is no conversation '%.64s'", id);
    if (rc) {
        store_conversation_deinit(&c);
        http_error_from(r, &err);
        return;
    }
    fo_buf b = {0};
    json_out o = {&b, false};
    write_summary(&o, &c, own);
    json_out_open(&o, "turns", '[');
    for (size_t i = 0; i < c.n_turns; i++) write_turn(&o, &c.turns[i], own);
    json_out_close(&o, ']');
    json_out_close(&o, '}');
    store_conversation_deinit(&c);
    http_reply_json(r, status, &b);
}

void route_conversation(http_request *r, void *ctx) {
    if (app_timeout_arg(r)) reply_conversation(r, ctx, http_param(r, "id"), 200, http_cancel(r));
}

/* The reply to a call that changed, or made, one. */
static void end_call(http_request *r, app *a, cJSON *root, const char *id, int rc, int status,
                     const fo_err *err) {
    cJSON_Delete(root);
    if (rc)
        http_error_from(r, err);
    else
        reply_conversation(r, a, id, status, NULL);
}

/* A collection's name that who asks may use; a sticky error of `in` else. */
static const char *collection_field(const http_request *r, json_in *in) {
    const char *name = json_in_string(in, "collection", "default", 1, 64);
    if (json_in_failed(in)) return NULL;
    if (!service_name_valid(name))
        fo_fail_field(in->err, FO_EINVAL, "collection",
                      "collection must be 1 to 64 of A-Z a-z 0-9 _ - . and not begin with a dot");
    else if (!app_may_use(r, name))
        app_no_collection(name, in->err);
    return name;
}

/* Of blanks alone it could be neither read in a list nor chosen. */
static int check_title(const char *title, fo_err *err) {
    size_t n = strlen(title), blank = 1;
    for (; n && blank; title += blank, n -= blank)
        blank = fo_is_blank(*title) ? 1 : fo_utf8_wide_blank(title, n);
    return blank ? fo_fail_field(err, FO_EINVAL, "title", "title must not be blank") : FO_OK;
}

/* The conversation that a new one is to be a copy of, if who asks may read it and use what it asked. */
static int get_copied(http_request *r, app *a, const char *of, store_conversation *out,
                      fo_err *err) {
    int rc =
        service_get_conversation(a->service, app_tenant(r), of, true, ends_change(r), out, err);
    bool may = !rc && app_may_use(r, out->collection) &&
               (!strcmp(out->owner, app_owner(r)) || may_read(a, r, out));
    for (size_t i = 0; may && i < out->n_turns; i++) may = app_may_use(r, out->turns[i].collection);
    if ((rc && rc != FO_ENOTFOUND) || may) return rc;
    if (*http_cancel(r)) return fo_fail(err, FO_ECANCELLED, "cancelled");
    return fo_fail_field(err, FO_ENOTFOUND, "copy_of", "there is no conversation '%.64s'", of);
}

void route_conversation_create(http_request *r, void *ctx) {
    app *a = ctx;
    json_in in;
    fo_err err = {0};
    char id[32];
    cJSON *root = app_timeout_arg(r) ? app_read_object(r, &in, &err) : NULL;
    if (!root) return;
    app_make_id(id, "c_");
    store_conversation c = {.id = id, .created_ms = log_now_ms()}, of = {0};
    const char *title = json_in_string(&in, "title", NULL, 0, TITLE_MAX);
    const char *copy_of = json_in_string(&in, "copy_of", NULL, 1, 64);
    if (!copy_of) c.collection = (char *)collection_field(r, &in);
    int rc = json_in_end(&in);
    if (!rc && title && title[0]) rc = check_title(title, &err);
    if (!rc && copy_of) rc = get_copied(r, a, copy_of, &of, &err);
    c.title = (char *)(title ? title : of.title ? of.title : "");
    if (copy_of) c.collection = of.collection;
    c.turns = of.turns;
    c.n_turns = of.n_turns;
    if (!rc) rc = service_create_conversation(a->service, owner_of(r), &c, ends_change(r), &err);
    store_conversation_deinit(&of);
    end_call(r, a, root, id, rc, 201, &err);
}

void route_conversation_change(http_request *r, void *ctx) {
    app *a = ctx;
    json_in in;
    fo_err err = {0};
    const char *id = http_param(r, "id");
    cJSON *root = app_timeout_arg(r) ? app_read_object(r, &in, &err) : NULL;
    if (!root) return;
    const char *title = json_in_string(&in, "title", NULL, 0, TITLE_MAX);
    int shared = json_in_any(&in, "shared") ? json_in_bool(&in, "shared", false) : -1;
    int rc = json_in_end(&in);
    if (!rc && title) rc = check_title(title, &err);
    if (!rc)
        rc = service_change_conversation(a->service, owner_of(r), id, title, shared, ends_change(r),
                                         &err);
    end_call(r, a, root, id, rc, 200, &err);
}

void route_conversation_delete(http_request *r, void *ctx) {
    app *a = ctx;
    fo_err err = {0};
    const char *id = http_param(r, "id");
    if (!app_timeout_arg(r)) return;
    int rc = service_delete_conversation(a->service, owner_of(r), id, ends_change(r), &err);
    app_reply_done(r, rc, &err, "id", id, "deleted");
}

/* ---- turns ---------------------------------------------------------------------------------- */

/* false after an error reply. */
static bool turn_param(http_request *r, size_t *out) {
    const char *text = http_param(r, "turn");
    char *end;
    errno = 0;
    unsigned long v = strtoul(text, &end, 10);
    if (text[0] >= '0' && text[0] <= '9' && !*end && !errno && v < STORE_TURNS_MAX) {
        *out = v;
        return true;
    }
    http_error(r, 400, "bad_field", "turn", "turn must be a number from 0 to %d",
               STORE_TURNS_MAX - 1);
    return false;
}

void route_turn_put(http_request *r, void *ctx) {
    app *a = ctx;
    json_in in;
    fo_err err = {0};
    size_t at;
    int64_t n_known;
    const char *id = http_param(r, "id");
    if (!app_timeout_arg(r) || !turn_param(r, &at) ||
        !http_arg_int(r, "turns", -1, 0, STORE_TURNS_MAX, &n_known))
        return;
    cJSON *root = app_read_object(r, &in, &err);
    if (!root) return;
    store_turn t = {.created_ms = log_now_ms()};
    t.question = (char *)json_in_string(&in, "question", NULL, 1, QUESTION_MAX);
    t.answer = (char *)json_in_string(&in, "answer", "", 0, ANSWER_MAX);
    t.collection = (char *)collection_field(r, &in);
    const cJSON *reply = json_in_any(&in, "reply");
    int rc = json_in_end(&in);
    if (!rc && !t.question) rc = fo_fail_field(&err, FO_EINVAL, "question", "question is missing");
    if (!rc && reply && !cJSON_IsObject(reply))
        rc = fo_fail_field(&err, FO_EINVAL, "reply", "reply must be an object");
    if (!rc) {
        t.reply = reply ? json_tree_text(reply) : strdup("{}");
        rc = t.reply ? service_write_turn(a->service, owner_of(r), id, at, n_known, &t,
                                          ends_change(r), &err)
                     : fo_no_memory(&err);
        free(t.reply);
    }
    end_call(r, a, root, id, rc, 200, &err);
}

/* ---- first questions ------------------------------------------------------------------------- */

void route_suggestions(http_request *r, void *ctx) {
    app *a = ctx;
    int64_t limit;
    const char *collection;
    if (!http_arg_int(r, "limit", 4, 1, 8, &limit) || !(collection = app_collection_arg(r))) return;
    suggestion_request q = {.tenant = app_tenant(r),
                            .owner = app_owner(r),
                            .collection = collection,
                            .sees = app_sees(r),
                            .limit = (size_t)limit,
                            .budget_ms = SUGGESTIONS_MS,
                            .cancel = http_cancel(r)};
    suggestion *list;
    size_t n;
    fo_err err = {0};
    if (service_suggest(a->service, &q, &list, &n, &err)) {
        http_error_from(r, &err);
        return;
    }
    fo_buf b = {0};
    json_out o = {&b, false};
    json_out_open(&o, NULL, '{');
    json_out_open(&o, "data", '[');
    for (size_t i = 0; i < n; i++) {
        json_out_open(&o, NULL, '{');
        json_out_string(&o, "query", list[i].query);
        json_out_number(&o, "support", list[i].support);
        json_out_close(&o, '}');
        free(list[i].query);
    }
    free(list);
    json_out_close(&o, ']');
    json_out_close(&o, '}');
    http_reply_json(r, 200, &b);
}
