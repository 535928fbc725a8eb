#include "server/routes/documents_json.h"

#include <stdlib.h>

#include "retrieval/collections/document_acl.h"
#include "server/base/log.h"

void documents_json_time(json_out *o, const char *key, int64_t ms) {
    char t[32];
    log_time(t, ms);
    json_out_string(o, key, t);
}

static void write_raw(json_out *o, const char *key, const char *json) {
    if (json && *json)
        json_out_raw(o, key, json);
    else
        json_out_null(o, key);
}

void documents_json_metadata(json_out *o, const char *stored, bool with_acl) {
    char *rest, *acl;
    bool has = document_acl_split(stored, &rest, &acl, NULL);
    write_raw(o, "metadata", has ? rest : stored);
    if (with_acl) write_raw(o, "acl", acl);
    free(rest);
    free(acl);
}

void documents_json_document(json_out *o, const store_document *d) {
    json_out_open(o, NULL, '{');
    json_out_string(o, "id", d->id);
    if (d->damaged) { /* in a list: nothing else of it is given out */
        json_out_bool(o, "damaged", true);
        json_out_close(o, '}');
        return;
    }
    json_out_string(o, "title", d->title);
    json_out_string(o, "uri", d->uri);
    json_out_string(o, "content_type", d->content_type);
    documents_json_metadata(o, d->metadata, true);
    json_out_string(o, "content_sha256", d->content_sha256);
    json_out_int(o, "chunks", (int64_t)d->n_chunks);
    json_out_int(o, "text_bytes", (int64_t)d->text_bytes);
    documents_json_time(o, "created_at", d->created_ms);
    documents_json_time(o, "updated_at", d->updated_ms);
    if (d->text) json_out_string(o, "text", d->text);
    json_out_close(o, '}');
}

void documents_json_page(json_out *o, const store_document *docs, size_t n, bool more) {
    json_out_open(o, "data", '[');
    for (size_t i = 0; i < n; i++) documents_json_document(o, &docs[i]);
    json_out_close(o, ']');
    json_out_bool(o, "has_more", more);
    json_out_string(o, "last_id", n ? docs[n - 1].id : NULL);
}

void documents_json_collection(json_out *o, const store_collection *c) {
    json_out_open(o, NULL, '{');
    json_out_string(o, "name", c->name);
    json_out_string(o, "language", c->language);
    json_out_int(o, "documents", c->n_documents);
    json_out_int(o, "chunks", c->n_chunks);
    json_out_int(o, "epoch", c->epoch);
    json_out_string(o, "embedder", c->embedder && *c->embedder ? c->embedder : NULL);
    json_out_int(o, "dim", c->dim);
    if (c->alpha >= 0)
        json_out_number(o, "alpha", c->alpha);
    else
        json_out_null(o, "alpha");
    documents_json_time(o, "created_at", c->created_ms);
    json_out_close(o, '}');
}

void documents_json_deletion(json_out *o, const delete_report *r, bool dry_run) {
    json_out_bool(o, "dry_run", dry_run);
    json_out_int(o, "matched", (int64_t)r->matched);
    json_out_int(o, "deleted", (int64_t)r->deleted);
    json_out_int(o, "chunks", (int64_t)r->chunks);
    json_out_int(o, "changed", (int64_t)r->changed);
    json_out_int(o, "unreadable", (int64_t)r->unreadable);
    json_out_int(o, "epoch", r->epoch);
}

void documents_ids_add(void *ctx, const store_document *d) {
    documents_ids *ids = ctx;
    if (ids->n++ >= DOCUMENTS_JSON_IDS) return;
    json_out o = {&ids->text, ids->n > 1};
    json_out_string(&o, NULL, d->id);
}

void documents_ids_write(json_out *o, const documents_ids *ids) {
    json_out_open(o, "ids", '[');
    if (ids->text.len) fo_buf_add(o->b, ids->text.data, ids->text.len);
    json_out_close(o, ']');
}

void documents_ids_deinit(documents_ids *ids) {
    fo_buf_free(&ids->text);
}
