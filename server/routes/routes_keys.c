/* GET /session: who asks; GET, POST /keys and DELETE /keys/{id}: the keys of the home. */
#include <string.h>

#include "server/base/json.h"
#include "server/base/log.h"
#include "server/routes/app.h"

#define DAY_MS INT64_C(86400000)

static const char *const scope_names[] = {"read", "ingest", "admin", "metrics", NULL};

void route_session(http_request *r, void *ctx) {
    app *a = ctx;
    const access_grant *g = app_grant(r);
    fo_buf b = {0};
    json_out o = {&b, false};
    json_out_open(&o, NULL, '{');
    json_out_bool(&o, "keys", a->keys && key_ring_on(a->keys));
    json_out_string(&o, "key", g ? g->key->id : NULL);
    json_out_string(&o, "name", app_owner(r));
    json_out_string(&o, "tenant", app_tenant(r));
    json_out_bool(&o, "read_only", a->read_only);
    json_out_int(&o, "max_document_bytes", (int64_t)a->max_document_bytes);
    json_out_open(&o, "may", '{');
    for (int i = 0; scope_names[i]; i++)
        json_out_bool(&o, scope_names[i], app_may(a, r, ACCESS_READ + i));
    json_out_bool(&o, "operate", app_may(a, r, ACCESS_OPERATE));
    json_out_close(&o, '}');
    json_out_string(&o, "version", FORAGE_VERSION);
    json_out_close(&o, '}');
    http_reply_json(r, 200, &b);
}

void route_keys(http_request *r, void *ctx) {
    app *a = ctx;
    fo_err err = {0};
    key_table *t = NULL;
    int rc = keys_read(&t, service_home(a->service), &err);
    if (rc && rc != FO_ENOTFOUND) {
        http_error_from(r, &err);
        return;
    }
    fo_buf b = {0};
    json_out o = {&b, false};
    json_out_open(&o, NULL, '{');
    json_out_open(&o, "data", '[');
    for (size_t i = 0; t && i < key_table_count(t); i++) access_key_write(&o, key_table_at(t, i));
    json_out_close(&o, ']');
    json_out_close(&o, '}');
    key_table_drop(t);
    http_reply_json(r, 200, &b);
}

/* ---- making one ------------------------------------------------------------------------------ */

/* Strings of an array into list[KEY_LIST_MAX]; how many, 0 after an error of `in`. */
static size_t read_list(json_in *in, const char *field, const char *list[KEY_LIST_MAX]) {
    const cJSON *items = json_in_array(in, field, KEY_LIST_MAX), *item;
    size_t n = 0;
    cJSON_ArrayForEach(item, items) {
        if (!cJSON_IsString(item)) {
            fo_fail_field(in->err, FO_EINVAL, field, "%s must hold names", field);
            return 0;
        }
        list[n++] = item->valuestring;
    }
    return n;
}

static unsigned read_scopes(json_in *in) {
    const char *names[KEY_LIST_MAX];
    size_t n = read_list(in, "scopes", names);
    unsigned scopes = 0;
    for (size_t i = 0; i < n; i++) {
        int k = 0;
        while (scope_names[k] && strcmp(scope_names[k], names[i])) k++;
        if (scope_names[k])
            scopes |= 1u << (ACCESS_READ + k);
        else
            fo_fail_field(in->err, FO_EINVAL, "scopes",
                          "scopes must be of read, ingest, admin and metrics");
    }
    if (!scopes && !json_in_failed(in))
        fo_fail_field(in->err, FO_EINVAL, "scopes",
                      "scopes must name read, ingest, admin or metrics");
    return scopes;
}

void route_key_create(http_request *r, void *ctx) {
    app *a = ctx;
    fo_err err = {0};
    json_in in;
    cJSON *root = app_read_object(r, &in, &err);
    if (!root) return;
    const char *collections[KEY_LIST_MAX], *groups[KEY_LIST_MAX];
    key_spec spec = {.collections = collections, .groups = groups};
    spec.name = json_in_string(&in, "name", NULL, 1, KEY_NAME_MAX);
    spec.tenant = json_in_string(&in, "tenant", NULL, 1, 64);
    spec.tier = json_in_string(&in, "tier", NULL, 1, 64);
    spec.scopes = read_scopes(&in);
    spec.n_collections = read_list(&in, "collections", collections);
    spec.n_groups = read_list(&in, "groups", groups);
    int64_t days = json_in_int(&in, "expires_days", 0, 1, 36500);
    if (days) spec.expires_ms = log_now_ms() + days * DAY_MS;
    access_secret secret;
    int rc = json_in_end(&in);
    if (!rc) rc = keys_create(service_home(a->service), &spec, &secret, &err);
    cJSON_Delete(root);
    if (rc) {
        http_error_from(r, &err);
        return;
    }
    log_event(LOG_LEVEL_INFO, http_id(r), "key_made", LOG_STR("key", secret.id));
    fo_buf b = {0};
    json_out o = {&b, false};
    json_out_open(&o, NULL, '{');
    json_out_string(&o, "id", secret.id);
    json_out_string(&o, "key", secret.text);
    json_out_close(&o, '}');
    http_set_header(r, "Cache-Control", "no-store");
    http_reply_json(r, 201, &b);
}

void route_key_revoke(http_request *r, void *ctx) {
    app *a = ctx;
    const char *id = http_param(r, "id");
    const access_grant *g = app_grant(r);
    fo_err err = {0};
    int rc = g && !strcmp(g->key->id, id)
                 ? fo_fail_field(&err, FO_ECONFLICT, "id",
                                 "this is the key that you came with: revoke it with another, or "
                                 "on the command line")
                 : keys_revoke(service_home(a->service), id, &err);
    app_reply_done(r, rc, &err, "id", id, "revoked");
}
