#include "data/store/store_records.h"

#include <stdlib.h>

void store_collection_deinit(store_collection *c) {
    if (!c) return;
    free(c->tenant);
    free(c->name);
    free(c->language);
    free(c->embedder);
    *c = (store_collection){0};
}

void store_document_deinit(store_document *d) {
    if (!d) return;
    free(d->id);
    free(d->title);
    free(d->uri);
    free(d->content_type);
    free(d->metadata);
    free(d->text);
    *d = (store_document){0};
}

void store_source_deinit(store_source *s) {
    if (!s) return;
    free(s->tenant);
    free(s->name);
    free(s->collection);
    free(s->path);
    free(s->reading);
    free(s->error);
    free(s->report);
    *s = (store_source){0};
}

void store_source_file_deinit(store_source_file *f) {
    if (!f) return;
    free(f->path);
    free(f->error);
    *f = (store_source_file){0};
}

void store_turn_deinit(store_turn *t) {
    if (!t) return;
    free(t->collection);
    free(t->question);
    free(t->answer);
    free(t->reply);
    *t = (store_turn){0};
}

void store_conversation_deinit(store_conversation *c) {
    if (!c) return;
    free(c->id);
    free(c->tenant);
    free(c->owner);
    free(c->collection);
    free(c->title);
    for (size_t i = 0; c->turns && i < c->n_turns; i++) store_turn_deinit(&c->turns[i]);
    free(c->turns);
    *c = (store_conversation){0};
}

void store_feedback_deinit(store_feedback *f) {
    if (!f) return;
    free(f->tenant);
    free(f->owner);
    free(f->collection);
    free(f->query);
    free(f->documents);
    free(f->comment);
    *f = (store_feedback){0};
}

void store_chunk_deinit(store_chunk *c) {
    if (!c) return;
    if (c->text) free(c->text - c->n_before);
    free(c->heading);
    free(c->place);
    free(c->document_id);
    free(c->title);
    free(c->uri);
    free(c->metadata);
    *c = (store_chunk){0};
}

void store_job_deinit(store_job *j) {
    if (!j) return;
    free(j->tenant);
    free(j->kind);
    free(j->state);
    free(j->collection);
    free(j->error);
    free(j->result);
    *j = (store_job){0};
}

const char *store_cache_layer_name(enum store_cache_layer layer) {
    static const char *const names[STORE_N_LAYERS] = {"answer", "retrieval", "kv_prefix",
                                                      "kv_chunk", "kv_disk"};
    return names[layer];
}

const char *store_stage_name(enum store_stage stage) {
    static const char *const names[STORE_N_STAGES] = {"queue",  "embed",  "dense",   "sparse",
                                                      "fuse",   "rerank", "prefill", "first_token",
                                                      "decode", "total"};
    return names[stage];
}

void store_query_rows_free(store_query_row *rows, size_t n) {
    for (size_t i = 0; rows && i < n; i++) {
        free(rows[i].query);
        free(rows[i].collection);
    }
    free(rows);
}

const char *store_timing_name(enum store_timing which) {
    static const char *const names[STORE_N_TIMINGS] = {"turn", "write", "commit", "read"};
    return names[which];
}
