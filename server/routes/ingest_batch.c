#include "server/routes/ingest_batch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/extract/archive.h"
#include "data/extract/text_parts.h"
#include "retrieval/collections/catalog.h"
#include "retrieval/collections/document_acl.h"
#include "server/http/http.h"
#include "server/base/json.h"
#include "server/routes/ingest_archive.h"
#include "kernels/utf8.h"

enum {
    MAX_ID_BYTES = 512,
    MAX_METADATA_BYTES = 1 << 20, /* as service_ingest has it */
    PARTS_HEAD = 32 << 10,
    NAMES_BYTES = 4 << 10, /* that a batch may have beyond max_bytes: two whole parts are one */
};

struct ingest_batch {
    ingest_batch_options opt;
    ingest_document *docs;
    ingest_result *results;
    size_t n, bytes;
    ingest_totals totals;
    bool wrote;            /* a result stands in the spool already */
    ingest_document whole; /* that goes in by parts, strings owned, without its bytes */
    bool chosen;           /* its id is one that the caller gave, no name of a file */
    text_cutter cutter;
    fo_buf in_parts; /* the names of those that went in by parts, each with its NUL */
};

int ingest_batch_create(ingest_batch **out, const ingest_batch_options *opt, fo_err *err) {
    ingest_batch *b = calloc(1, sizeof *b);
    if (!b) return fo_no_memory(err);
    b->opt = *opt;
    if (!b->opt.max_docs) b->opt.max_docs = 64;
    if (!b->opt.max_bytes) b->opt.max_bytes = 1u << 20;
    b->docs = calloc(b->opt.max_docs, sizeof *b->docs);
    b->results = calloc(b->opt.max_docs, sizeof *b->results);
    if (!b->docs || !b->results) {
        ingest_batch_free(b);
        return fo_no_memory(err);
    }
    *out = b;
    return FO_OK;
}

static void document_free(ingest_document *d) {
    free((char *)d->id);
    free((char *)d->title);
    free((char *)d->uri);
    free((char *)d->content_type);
    free((char *)d->file_name);
    free((char *)d->metadata);
    free((char *)d->acl);
    free((void *)d->bytes);
    *d = (ingest_document){0};
}

static void clear(ingest_batch *b) {
    for (size_t i = 0; i < b->n; i++) document_free(&b->docs[i]);
    b->n = b->bytes = 0;
}

void ingest_batch_free(ingest_batch *b) {
    if (!b) return;
    clear(b);
    document_free(&b->whole);
    text_cutter_end(&b->cutter, FO_ECANCELLED, NULL);
    fo_buf_free(&b->in_parts);
    free(b->docs);
    free(b->results);
    free(b);
}

const ingest_totals *ingest_batch_totals(const ingest_batch *b) {
    return &b->totals;
}

size_t ingest_batch_held(const ingest_batch *b) {
    return b->bytes;
}

/* An entry of the results, into *text. */
static json_out begin_entry(ingest_batch *b, fo_buf *text, const char *id) {
    if (b->wrote) fo_buf_char(text, ',');
    b->wrote = true;
    json_out o = {text, false};
    json_out_open(&o, NULL, '{');
    json_out_string(&o, "id", id);
    return o;
}

static int end_entry(ingest_batch *b, json_out *o, fo_err *err) {
    fo_buf *text = o->b;
    json_out_close(o, '}');
    const int rc =
        text->failed ? fo_no_memory(err) : spool_write(b->opt.results, text->data, text->len, err);
    fo_buf_free(text);
    return rc;
}

/* file: the name that the document was uploaded under, NULL: none. */
static int write_result(ingest_batch *b, const ingest_result *r, const char *given_id,
                        const char *file, fo_err *err) {
    b->totals.n[r->status]++;
    b->totals.n_all++;
    b->totals.n_chunks += r->status == INGEST_FAILED ? 0 : r->chunks;
    const char *id = r->id ? r->id : given_id;
    /* What failed and was to get its id from its content is known to nobody by that. */
    if (r->status == INGEST_FAILED && !given_id && file) id = file;
    if (r->status == INGEST_FAILED && b->opt.failed) b->opt.failed(b->opt.ctx, id, &r->error);
    if ((r->status == INGEST_CREATED || r->status == INGEST_UPDATED) && r->chunks == 0) {
        b->totals.n_textless++;
        if (b->opt.textless) b->opt.textless(b->opt.ctx, given_id || !file ? id : file);
    }
    if (!b->opt.results) return FO_OK;
    fo_buf text = {0};
    json_out o = begin_entry(b, &text, id);
    if (file) json_out_string(&o, "file", file);
    json_out_string(&o, "status", ingest_status_name(r->status));
    json_out_string(&o, "content_sha256", r->content_sha256[0] ? r->content_sha256 : NULL);
    json_out_int(&o, "chunks", (int64_t)r->chunks);
    if (r->n_replaced) json_out_int(&o, "replaced", (int64_t)r->n_replaced);
    if (r->status == INGEST_FAILED) {
        json_out_open(&o, "error", '{');
        const char *code;
        char told[HTTP_MESSAGE];
        http_status_of(&r->error, &code);
        json_out_string(&o, "code", code);
        json_out_string(&o, "message", http_message_of(&r->error, told));
        json_out_string(&o, "param", r->error.field[0] ? r->error.field : NULL);
        json_out_close(&o, '}');
    } else {
        json_out_null(&o, "error");
    }
    return end_entry(b, &o, err);
}

/* ---- what an earlier version left -------------------------------------------------------------- */

/* A document that an earlier version may have left. None that somebody else made and called so: the address tells. */
typedef struct former {
    const char *id;
    const char *uri; /* its address; NULL: any */
    bool ends;       /* its address only ends so, as that of a part does */
} former;

static bool has_address(const former *f, const char *uri) {
    if (!f->uri) return true;
    const size_t n = uri ? strlen(uri) : 0, k = strlen(f->uri);
    return uri && (f->ends ? n > k && !strcmp(uri + n - k, f->uri) : !strcmp(uri, f->uri));
}

static int is_there(ingest_batch *b, const former *f, bool *is, fo_err *err) {
    const ingest_options *o = &b->opt.ingest;
    store_document d = {0};
    fo_err why = {0};
    int rc = catalog_get_document(service_catalog(b->opt.service), o->tenant, o->collection, f->id,
                                  NULL, false, &d, &why);
    *is = !rc && has_address(f, d.uri);
    store_document_deinit(&d);
    if (rc && rc != FO_ENOTFOUND && rc != FO_ECORRUPT) {
        if (err) *err = why;
        return rc;
    }
    return FO_OK;
}

static int delete_if_there(ingest_batch *b, const former *f, fo_err *err) {
    const ingest_options *o = &b->opt.ingest;
    fo_err why = {0};
    int64_t epoch;
    bool there;
    int rc = is_there(b, f, &there, err);
    if (rc || !there) return rc;
    rc = service_delete_document(b->opt.service, o->tenant, o->collection, f->id, o->sees, &epoch,
                                 &why);
    b->totals.n_outdated += !rc;
    if (!rc) b->totals.report.epoch = epoch;
    if (rc == FO_ENOTFOUND || rc == FO_ECONFLICT) return FO_OK; /* unseen, or somebody was first */
    if (rc && err) *err = why;
    return rc;
}

/* Part n of `name`, whatever address the text had: that may have been given, changed or taken away since. id is written. */
static int former_part(former *out, fo_buf *id, const char *name, size_t n, fo_err *err) {
    fo_buf_clear(id);
    text_part_name(id, name, n);
    if (id->failed) return fo_no_memory(err);
    *out = (former){.id = id->data, .uri = strrchr(id->data, '/'), .ends = true};
    return FO_OK;
}

/* A text has so many parts now (0: it is one document): those of before that are behind them go, the last first so that one
 * that is killed goes on the next time; and what was one document of this address (NULL: of any, as its id is one that the
 * caller gave). */
static int delete_outdated(ingest_batch *b, const char *name, const char *address, size_t n_parts,
                           fo_err *err) {
    fo_buf id = {0};
    former part;
    bool there = true;
    size_t n = n_parts;
    int rc = FO_OK;
    while (!rc && there) {
        rc = former_part(&part, &id, name, ++n, err);
        if (!rc) rc = is_there(b, &part, &there, err);
    }
    while (!rc && --n > n_parts) {
        rc = former_part(&part, &id, name, n, err);
        if (!rc) rc = delete_if_there(b, &part, err);
    }
    const former whole = {.id = name, .uri = address};
    if (!rc && n_parts) rc = delete_if_there(b, &whole, err);
    fo_buf_free(&id);
    return rc;
}

/* ---- batches ---------------------------------------------------------------------------------- */

int ingest_batch_flush(ingest_batch *b, fo_err *err) {
    if (!b->n) return FO_OK;
    ingest_report report = {0};
    memset(b->results, 0, b->n * sizeof *b->results);
    int rc =
        service_ingest(b->opt.service, &b->opt.ingest, b->docs, b->n, b->results, &report, err);
    ingest_report *sum = &b->totals.report;
    if (!rc) {
        sum->epoch = report.epoch;
        sum->extract_ms += report.extract_ms;
        sum->chunk_ms += report.chunk_ms;
        sum->embed_ms += report.embed_ms;
        sum->index_ms += report.index_ms;
        sum->commit_ms += report.commit_ms;
        sum->total_ms += report.total_ms;
    }
    for (size_t i = 0; i < b->n; i++) {
        const ingest_document *d = &b->docs[i];
        bool stands = b->results[i].status != INGEST_FAILED;
        if (!rc) rc = write_result(b, &b->results[i], d->id, d->file_name, err);
        /* What was parts before; of one that stood already, too: who deleted them may have been killed. */
        if (!rc && stands && d->id) rc = delete_outdated(b, d->id, NULL, 0, err);
        ingest_result_deinit(&b->results[i]);
    }
    clear(b);
    if (!rc && b->opt.progress) b->opt.progress(b->opt.ctx, &b->totals);
    return rc;
}

static char *copy(const char *s, bool *failed) {
    if (!s) return NULL;
    char *c = strdup(s);
    if (!c) *failed = true;
    return c;
}

/* What doc says, its bytes left out; false: there was no memory for all of it. */
static bool copy_document(const ingest_batch *b, const ingest_document *doc, ingest_document *to) {
    bool failed = false;
    *to = (ingest_document){.id = copy(doc->id, &failed),
                            .title = copy(doc->title, &failed),
                            .uri = copy(doc->uri, &failed),
                            .content_type = copy(doc->content_type, &failed),
                            .file_name = copy(doc->file_name, &failed),
                            .is_text = doc->is_text,
                            .first_row = doc->first_row,
                            .header_rows = doc->header_rows,
                            .metadata = copy(doc->metadata, &failed),
                            .acl = copy(doc->acl ? doc->acl : b->opt.acl, &failed)};
    return !failed;
}

/* What is held of it once it is copied. */
static size_t copied_bytes(const ingest_batch *b, const ingest_document *doc) {
    const char *strings[] = {doc->id,
                             doc->title,
                             doc->uri,
                             doc->content_type,
                             doc->file_name,
                             doc->metadata,
                             doc->acl ? doc->acl : b->opt.acl};
    size_t n = doc->n_bytes;
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++)
        n += strings[i] ? strlen(strings[i]) : 0;
    return n;
}

static int add_document(ingest_batch *b, const ingest_document *doc, fo_err *err) {
    size_t n_copied = copied_bytes(b, doc);
    if (b->n == b->opt.max_docs || (b->n && b->bytes + n_copied > b->opt.max_bytes + NAMES_BYTES)) {
        int rc = ingest_batch_flush(b, err);
        if (rc) return rc;
    }
    ingest_document *d = &b->docs[b->n];
    bool copied = copy_document(b, doc, d);
    char *bytes = malloc(doc->n_bytes + 1);
    d->bytes = bytes;
    d->n_bytes = doc->n_bytes;
    b->n++; /* so that clear frees it whatever happened */
    if (!copied || !bytes) return fo_no_memory(err);
    if (doc->n_bytes) memcpy(bytes, doc->bytes, doc->n_bytes);
    bytes[doc->n_bytes] = 0;
    b->bytes += n_copied;
    return b->bytes < b->opt.max_bytes ? FO_OK : ingest_batch_flush(b, err);
}

/* One that never reaches the service: its failure keeps its place among the results. */
static int add_failed_file(ingest_batch *b, const char *id, const char *file, const fo_err *why,
                           fo_err *err) {
    int rc = ingest_batch_flush(b, err);
    if (rc) return rc;
    ingest_result r = {.status = INGEST_FAILED, .error = *why};
    return write_result(b, &r, id, file, err);
}

int ingest_batch_add_failed(ingest_batch *b, const char *id, const fo_err *why, fo_err *err) {
    return add_failed_file(b, id, NULL, why, err);
}

/* A member of an archive that nobody reads keeps its place as well. */
static int add_skipped(ingest_batch *b, const char *id, const char *kind, fo_err *err) {
    int rc = ingest_batch_flush(b, err);
    if (rc) return rc;
    if (b->opt.skipped) b->opt.skipped(b->opt.ctx, id, kind);
    if (!b->opt.results) return FO_OK;
    fo_buf text = {0};
    json_out o = begin_entry(b, &text, id);
    json_out_string(&o, "status", "skipped");
    json_out_string(&o, "kind", kind);
    json_out_null(&o, "error");
    return end_entry(b, &o, err);
}

/* ---- a text that goes in by parts -------------------------------------------------------------- */

static const char *name_of_parts(const ingest_document *w) {
    return w->id ? w->id : w->file_name ? w->file_name : w->uri;
}

/* Both of id and uri are as members of an archive have them: what they are parts of, and which. */
static int add_part(void *ctx, const text_part *part, fo_err *err) {
    ingest_batch *b = ctx;
    const ingest_document *w = &b->whole;
    const char *name = name_of_parts(w);
    fo_buf id = {0}, uri = {0};
    if (name) text_part_name(&id, name, part->number);
    if (w->uri || name) text_part_name(&uri, w->uri ? w->uri : name, part->number);
    ingest_document doc = *w;
    doc.id = name && id.len <= MAX_ID_BYTES ? id.data : NULL;
    doc.uri = uri.data;
    doc.bytes = part->bytes;
    doc.n_bytes = part->n;
    doc.first_row = part->first_row;
    doc.header_rows = part->header_rows;
    int rc = id.failed || uri.failed ? fo_no_memory(err) : add_document(b, &doc, err);
    fo_buf_free(&id);
    fo_buf_free(&uri);
    return rc;
}

bool ingest_batch_in_parts(const ingest_document *doc, text_kind *kind) {
    const char *name = doc->file_name ? doc->file_name : doc->uri;
    size_t n = doc->n_bytes < PARTS_HEAD ? doc->n_bytes : PARTS_HEAD;
    return extract_in_parts(doc->bytes, n, doc->content_type, name, kind);
}

/* Parts of what was in UTF-16 are in UTF-8: the type without its parameters. */
static void drop_charset(ingest_document *whole) {
    char *type = (char *)whole->content_type;
    if (type) type[strcspn(type, "; \t")] = 0;
}

static bool went_in_by_parts(const ingest_batch *b, const char *name) {
    bool there = false;
    for (size_t at = 0; !there && at < b->in_parts.len; at += strlen(b->in_parts.data + at) + 1)
        there = !strcmp(b->in_parts.data + at, name);
    return there;
}

/* why: its parts cannot have the id that the caller gave, or would be written over those of another text, without a word. */
static int check_name(ingest_batch *b, const ingest_document *doc, bool chosen, fo_err *why,
                      fo_err *err) {
    enum { MOST = MAX_ID_BYTES - (sizeof "/part-000001" - 1) };
    const char *name = name_of_parts(doc);
    if (!name) return FO_OK;
    if (doc->id && chosen && strlen(doc->id) > MOST) {
        fo_fail_field(why, FO_EINVAL, "id",
                      "id is longer than %d bytes, and the text goes in by parts, ID/part-000001 "
                      "and so on",
                      MOST);
        return FO_OK;
    }
    if (!doc->id && went_in_by_parts(b, name)) {
        fo_fail_field(why, FO_EINVAL, "id",
                      "a large text of the name '%.200s' came before; give it an id", name);
        return FO_OK;
    }
    fo_buf_add(&b->in_parts, name, strlen(name) + 1);
    return b->in_parts.failed ? fo_no_memory(err) : FO_OK;
}

static int begin_parts(ingest_batch *b, const ingest_document *doc, const text_kind *kind,
                       bool chosen, fo_err *err) {
    document_free(&b->whole);
    b->chosen = chosen;
    b->cutter = (text_cutter){.kind = *kind, .part = add_part, .ctx = b};
    if (!copy_document(b, doc, &b->whole)) return fo_no_memory(err);
    if (kind->wide) drop_charset(&b->whole);
    return check_name(b, doc, chosen, &b->cutter.bad, err);
}

/* An id that is the address too is the path of a file. */
static bool id_is_chosen(const ingest_document *doc) {
    return doc->id && !(doc->uri && !strcmp(doc->id, doc->uri));
}

int ingest_batch_begin_parts(ingest_batch *b, const ingest_document *doc, const text_kind *kind,
                             fo_err *err) {
    return begin_parts(b, doc, kind, id_is_chosen(doc), err);
}

int ingest_batch_feed_parts(ingest_batch *b, const void *p, size_t n, fo_err *err) {
    if (b->cutter.bad.code)
        return FO_OK; /* refused by its name, or damaged: the rest is passed over */
    return text_cutter_feed(&b->cutter, p, n, err);
}

int ingest_batch_end_parts(ingest_batch *b, int rc, fo_err *err) {
    rc = text_cutter_end(&b->cutter, rc, err);
    const ingest_document *w = &b->whole;
    const char *name = name_of_parts(w), *address = w->uri ? w->uri : name;
    if (!rc) rc = ingest_batch_flush(b, err);
    if (!rc && b->cutter.bad.code)
        rc = add_failed_file(b, name, w->file_name, &b->cutter.bad, err); /* what is there stands */
    else if (!rc && name)
        rc = delete_outdated(b, name, b->chosen ? NULL : address, b->cutter.n_parts, err);
    document_free(&b->whole);
    return rc;
}

static int add_in_parts(ingest_batch *b, const ingest_document *doc, const text_kind *kind,
                        bool chosen, fo_err *err) {
    int rc = begin_parts(b, doc, kind, chosen, err);
    if (!rc) rc = ingest_batch_feed_parts(b, doc->bytes, doc->n_bytes, err);
    return ingest_batch_end_parts(b, rc, err);
}

static bool is_large_text(const ingest_document *doc, text_kind *kind) {
    const char *end = (const char *)doc->bytes + doc->n_bytes;
    size_t n_end = doc->n_bytes < 4 ? 0 : 4;
    return text_may_be_large(doc->n_bytes, doc->bytes, doc->n_bytes, end - n_end, n_end) &&
           ingest_batch_in_parts(doc, kind);
}

static int add_member(ingest_batch *b, const ingest_document *doc, fo_err *err) {
    text_kind kind;
    if (is_large_text(doc, &kind)) return add_in_parts(b, doc, &kind, false, err);
    ingest_document d = *doc;
    if (strlen(d.id) > MAX_ID_BYTES) d.id = NULL;
    return add_document(b, &d, err);
}

int ingest_batch_add(ingest_batch *b, const ingest_document *doc, fo_err *err) {
    text_kind kind;
    if (!doc->is_text && is_large_text(doc, &kind))
        return add_in_parts(b, doc, &kind, id_is_chosen(doc), err);
    if (doc->is_text || !archive_is(doc->bytes, doc->n_bytes)) return add_document(b, doc, err);
    int rc = ingest_batch_flush(b, err); /* in order, and no more held than need be */
    archive_door door = {.service = b->opt.service,
                         .spool_dir = b->opt.spool_dir ? b->opt.spool_dir : "/tmp",
                         .cancel = b->opt.ingest.cancel,
                         .add = add_member,
                         .failed = add_failed_file,
                         .skipped = add_skipped,
                         .batch = b};
    return rc ? rc : ingest_archive_add(&door, doc, err);
}

int ingest_batch_add_object(ingest_batch *b, const cJSON *doc, const char *label, fo_err *err) {
    fo_err why = {0};
    json_in in;
    json_in_object(&in, doc, label, &why);
    if (!in.object && !why.code)
        fo_fail_field(&why, FO_EINVAL, label, "%s must be an object, not null", label);
    const char *id = json_in_string(&in, "id", NULL, 1, 512);
    const char *text = json_in_string(&in, "text", NULL, 0, SIZE_MAX);
    const char *title = json_in_string(&in, "title", NULL, 0, 4096);
    const char *uri = json_in_string(&in, "uri", NULL, 0, 8192);
    const char *type = json_in_string(&in, "content_type", NULL, 0, 256);
    const cJSON *metadata = json_in_any(&in, "metadata"),
                *acl = json_in_array(&in, "acl", ACL_GROUPS_MAX);
    char path[64];
    if (!json_in_failed(&in) && metadata && !cJSON_IsObject(metadata)) {
        json_in_path(&in, "metadata", path);
        fo_fail_field(&why, FO_EINVAL, path, "%s must be an object", path);
    }
    if (!json_in_failed(&in) && metadata) {
        json_in_path(&in, "metadata", path);
        json_refuse_rounded(metadata, path, &why);
    }
    json_in_end(&in);
    if (!why.code && !text) {
        json_in_path(&in, "text", path);
        fo_fail_field(&why, FO_EINVAL, path, "%s is missing", path);
    }
    char *acl_text = acl && !why.code ? cJSON_PrintUnformatted(acl) : NULL, *joined = NULL;
    if (acl_text && document_acl_join(&joined, NULL, acl_text, &why))
        json_in_path(&in, "acl", why.field); /* told by where it stands */
    free(joined);
    char *metadata_text = metadata && !why.code ? json_tree_text(metadata) : NULL;
    /* Here, because a batch would hold it until service_ingest refuses it. */
    if (metadata_text && strlen(metadata_text) > MAX_METADATA_BYTES)
        fo_fail_field(&why, FO_EINVAL, "metadata", "metadata is longer than %d bytes",
                      MAX_METADATA_BYTES);
    if (why.code) {
        free(metadata_text);
        cJSON_free(acl_text);
        return ingest_batch_add_failed(b, id, &why, err);
    }
    if ((metadata && !metadata_text) || (acl && !acl_text)) {
        free(metadata_text);
        cJSON_free(acl_text);
        return fo_no_memory(err);
    }
    /* Text in a JSON field is text: it is sniffed as a format only where a type was given. */
    ingest_document d = {.id = id,
                         .title = title,
                         .uri = uri,
                         .content_type = type ? type : "text/plain; charset=utf-8",
                         .is_text = true,
                         .metadata = metadata_text,
                         .acl = acl_text,
                         .bytes = text,
                         .n_bytes = strlen(text)};
    int rc = ingest_batch_add(b, &d, err);
    free(metadata_text);
    cJSON_free(acl_text);
    return rc;
}

int ingest_batch_add_json(ingest_batch *b, const char *text, size_t len, const char *label,
                          fo_err *err) {
    fo_err why = {0};
    cJSON *root;
    if (json_parse(text, len, &root, &why)) {
        if (!why.field[0]) fo_utf8_print(why.field, sizeof why.field, "%s", label);
        fo_fail_prefix(&why, "%s", label);
        return ingest_batch_add_failed(b, NULL, &why, err);
    }
    int rc = ingest_batch_add_object(b, root, label, err);
    cJSON_Delete(root);
    return rc;
}

void ingest_write_timings(fo_buf *b, const ingest_report *r, double total_ms) {
    json_out o = {b, false};
    json_out_open(&o, NULL, '{');
    const struct {
        const char *name;
        double v;
    } rows[] = {{"extract", r->extract_ms}, {"chunk", r->chunk_ms},   {"embed", r->embed_ms},
                {"index", r->index_ms},     {"commit", r->commit_ms}, {"total", total_ms}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        json_out_number(&o, rows[i].name, round(rows[i].v * 1000) / 1000);
    json_out_close(&o, '}');
}
