/* A home opened in the process of somebody else, and what all calls to it share. */
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "retrieval/local/local_generator.h"
#include "server/sdk/forage_internal.h"
#include "kernels/utf8.h"

_Static_assert((int)FORAGE_EDENIED == FO_EDENIED && (int)FORAGE_EMISMATCH == FO_EMISMATCH &&
                   (int)FORAGE_ENOTFOUND == FO_ENOTFOUND && (int)FORAGE_ECANCELLED == FO_ECANCELLED,
               "codes are the same inside and outside");

const char *forage_version(void) {
    return FORAGE_VERSION;
}

/* ---- errors, listeners, options --------------------------------------------------------------- */

int forage_hand_out(int rc, const fo_err *err, forage_error *error) {
    if (!error) return rc;
    *error = (forage_error){.code = rc};
    if (!rc) return rc;
    fo_utf8_print(error->field, sizeof error->field, "%s", err->field);
    fo_utf8_print(error->message, sizeof error->message, "%s",
                  err->msg[0] ? err->msg : fo_code_name(rc));
    return rc;
}

int forage_check(const void *f, const void *out, fo_err *err) {
    if (!f) return fo_fail_field(err, FO_EINVAL, "f", "no home is open: f is NULL");
    return out ? FO_OK : fo_fail_field(err, FO_EINVAL, "out", "out is NULL");
}

struct forage_stop {
    pthread_mutex_t mu;
    /* guarded by mu */
    bool now;
    forage_call *calls; /* that it ends */
};

forage_stop *forage_stop_create(void) {
    forage_stop *s = calloc(1, sizeof *s);
    if (s) pthread_mutex_init(&s->mu, NULL);
    return s;
}

void forage_stop_now(forage_stop *s) {
    if (!s) return;
    pthread_mutex_lock(&s->mu);
    s->now = true;
    for (forage_call *c = s->calls; c; c = c->next) atomic_store(&c->ended, true);
    pthread_mutex_unlock(&s->mu);
}

void forage_stop_free(forage_stop *s) {
    if (!s) return;
    pthread_mutex_destroy(&s->mu);
    free(s);
}

void forage_call_begin(forage_call *c, const forage_listener *listener) {
    forage_stop *s = listener ? listener->stop : NULL;
    c->listener = listener;
    atomic_init(&c->ended, false);
    if (!s) return;
    pthread_mutex_lock(&s->mu);
    atomic_store(&c->ended, s->now);
    c->next = s->calls;
    s->calls = c;
    pthread_mutex_unlock(&s->mu);
}

void forage_call_end(forage_call *c) {
    forage_stop *s = c->listener ? c->listener->stop : NULL;
    if (!s) return;
    pthread_mutex_lock(&s->mu);
    forage_call **at = &s->calls;
    while (*at != c) at = &(*at)->next;
    *at = c->next;
    pthread_mutex_unlock(&s->mu);
}

int forage_call_check(const forage_call *c, fo_err *err) {
    return atomic_load(&c->ended) ? fo_fail(err, FO_ECANCELLED, "the call was ended") : FO_OK;
}

int forage_call_tell(forage_call *c, const char *event, fo_buf *data) {
    forage_reply *r = NULL;
    int rc = FO_OK;
    if (!c->listener || !c->listener->event)
        fo_buf_free(data);
    else if (!(rc = forage_reply_make(&r, data, NULL)))
        rc = c->listener->event(c->listener->ctx, event, r);
    forage_reply_free(r);
    if (rc) atomic_store(&c->ended, true);
    return rc;
}

int forage_options(json_in *in, cJSON **root, const char *options, fo_err *err) {
    *root = NULL;
    size_t n = options ? strlen(options) : 0;
    if (n > FORAGE_OPTIONS_MAX)
        return fo_fail_field(err, FO_ELIMIT, "options", "options have more than %d bytes",
                             FORAGE_OPTIONS_MAX);
    int rc = n ? json_parse(options, n, root, err) : FO_OK;
    if (!rc && n && !cJSON_IsObject(*root))
        rc = fo_fail_field(err, FO_EINVAL, "options", "options must be a JSON object");
    json_in_object(in, rc ? NULL : *root, "", err);
    return rc;
}

/* ---- opening ------------------------------------------------------------------------------------ */

static void on_notice(void *ctx, const char *kind, const char *text) {
    const forage *f = ctx;
    fo_buf b = {0};
    json_out o = {&b, false};
    json_out_open(&o, NULL, '{');
    json_out_string(&o, "kind", kind);
    json_out_string(&o, "text", text);
    json_out_close(&o, '}');
    forage_call_tell(&(forage_call){.listener = &f->listener}, "notice", &b);
}

/* The program that reads documents apart: beside the library, or in a folder of its own there. false: neither. */
static bool find_extractor(char out[PATH_MAX]) {
    Dl_info self;
    char library[PATH_MAX];
    if (!dladdr((const void *)forage_version, &self) || !self.dli_fname ||
        !strchr(self.dli_fname, '/') || !realpath(self.dli_fname, library))
        return false;
    *strrchr(library, '/') = 0;
    static const char *const places[] = {"forage-extract", "forage/forage-extract"};
    for (size_t i = 0; i < 2; i++) {
        int n = snprintf(out, PATH_MAX, "%s/%s", library, places[i]);
        if (n > 0 && n < PATH_MAX && access(out, X_OK) == 0) return true;
    }
    return false;
}

typedef struct open_options {
    service_options service;
    engine_options engine;
    const char *extractor;
} open_options;

static int read_open_options(json_in *in, open_options *o) {
    static const char *const ocr[] = {"off", "auto", "force", NULL};
    const int64_t most = (int64_t)1 << 50;
    service_options *s = &o->service;
    s->read_only = json_in_bool(in, "read_only", false);
    s->force_empty = json_in_bool(in, "force_empty", false);
    s->n_threads = (int)json_in_int(in, "threads", 0, 1, 1024);
    s->embed_model = json_in_string(in, "embed_model", NULL, 1, PATH_MAX);
    s->query_prefix = json_in_string(in, "query_prefix", NULL, 0, 1024);
    s->passage_prefix = json_in_string(in, "passage_prefix", NULL, 0, 1024);
    s->rerank_model = json_in_string(in, "rerank_model", NULL, 1, PATH_MAX);
    s->reader = json_in_string(in, "reader", NULL, 1, PATH_MAX);
    o->engine.model = json_in_string(in, "model", NULL, 1, PATH_MAX);
    o->engine.max_sequences = (int)json_in_int(in, "max_sequences", 0, 1, 1024);
    o->engine.kv_ram = (uint64_t)json_in_int(in, "kv_ram", 0, 1, most);
    o->engine.kv_disk = (uint64_t)json_in_int(in, "kv_disk", 0, 0, most);
    int when = json_in_enum(in, "ocr", -1, ocr);
    s->ocr = when < 0 ? INGEST_OCR_DEFAULT : INGEST_OCR_OFF + when;
    s->ocr_language = json_in_string(in, "ocr_language", NULL, 1, 64);
    s->ingest_memory = (uint64_t)json_in_int(in, "ingest_memory", 0, 1 << 20, most);
    s->original_bytes = json_in_int(in, "keep_originals", -1, 0, most);
    if (!s->original_bytes) s->original_bytes = -1;
    s->cache_bytes = json_in_int(in, "cache_bytes", -1, 0, most);
    if (!s->cache_bytes)
        s->cache_bytes = -1;
    else if (s->cache_bytes < 0)
        s->cache_bytes = 0; /* the usual */
    s->primes_per_s = -1;   /* a program's questions are its own: none is asked behind its back */
    s->max_open_collections = (size_t)json_in_int(in, "max_open_collections", 0, 1, 1 << 20);
    o->extractor = json_in_string(in, "extractor", NULL, 1, PATH_MAX);
    return json_in_end(in);
}

int forage_open(forage **out, const char *home, const char *options,
                const forage_listener *listener, forage_error *error) {
    fo_err err = {0};
    json_in in;
    cJSON *root = NULL;
    open_options o = {.engine = {.kv_type = KV_BF16, .defrag_threshold = .5}};
    char beside[PATH_MAX];
    int rc = out ? FO_OK : fo_fail_field(&err, FO_EINVAL, "out", "out is NULL");
    if (!rc && (!home || !*home))
        rc = fo_fail_field(&err, FO_EINVAL, "home", "a home folder is needed");
    if (!rc) rc = forage_options(&in, &root, options, &err);
    if (!rc) rc = read_open_options(&in, &o);
    forage *f = rc ? NULL : calloc(1, sizeof *f);
    if (!rc && !f) rc = fo_no_memory(&err);
    if (!rc) {
        if (listener) f->listener = *listener;
        f->read_only = o.service.read_only;
        o.service.home = home;
        o.service.generator = local_generator(&o.engine);
        o.service.notices = (fo_notices){on_notice, f};
        o.service.worker_program = o.extractor              ? o.extractor
                                   : find_extractor(beside) ? beside
                                                            : NULL;
        rc = service_open(&f->service, &o.service, &err);
    }
    cJSON_Delete(root);
    if (rc)
        free(f);
    else
        *out = f;
    return forage_hand_out(rc, &err, error);
}

void forage_close(forage *f) {
    if (!f) return;
    service_close(f->service);
    free(f);
}

static void write_info(json_out *o, const forage *f, const service_stats *st) {
    embedder *e = service_embedder(f->service);
    generator *g = service_generator(f->service);
    json_out_open(o, NULL, '{');
    json_out_string(o, "version", FORAGE_VERSION);
    json_out_string(o, "home", service_home(f->service));
    json_out_bool(o, "read_only", f->read_only);
    json_out_open(o, "embedder", '{');
    json_out_string(o, "name", embedder_name(e));
    json_out_int(o, "dim", (int64_t)embedder_dim(e));
    json_out_int(o, "max_tokens", (int64_t)embedder_max_tokens(e));
    json_out_close(o, '}');
    json_out_string(o, "model", g ? generator_get_info(g)->name : NULL);
    json_out_bool(o, "reranker", service_reranker(f->service) != NULL);
    json_out_bool(o, "reader", service_has_reader(f->service));
    json_out_int(o, "documents", (int64_t)st->n_documents);
    json_out_int(o, "chunks", (int64_t)st->n_chunks);
    json_out_int(o, "collections", (int64_t)st->n_collections);
    json_out_close(o, '}');
}

int forage_info(forage *f, forage_reply **out, forage_error *error) {
    fo_err err = {0};
    fo_buf b = {0};
    service_stats st;
    int rc = forage_check(f, out, &err);
    if (!rc) rc = service_get_stats(f->service, &st, &err);
    if (!rc) {
        json_out o = {&b, false};
        write_info(&o, f, &st);
        rc = forage_reply_make(out, &b, &err);
    }
    return forage_hand_out(rc, &err, error);
}
