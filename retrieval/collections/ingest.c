/* Documents in: bytes -> text -> chunks -> vectors -> one commit -> findable. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <cjson/cJSON.h>

#include "data/chunk/chunk_places.h"
#include "data/extract/archive.h"
#include "data/extract/extract.h"
#include "data/extract/extract_host.h"
#include "data/extract/gzip.h"
#include "index/filter/metadata.h"
#include "kernels/buf.h"
#include "kernels/clock.h"
#include "kernels/hex.h"
#include "kernels/sha256.h"
#include "kernels/utf8.h"
#include "retrieval/collections/kv_warm.h"
#include "retrieval/collections/document_acl.h"
#include "retrieval/collections/document_fields.h"
#include "retrieval/collections/page_images.h"
#include "retrieval/collections/service_internal.h"

enum {
    BASE_BYTES = 16 << 10,  /* of memory that a document is taken to need, and */
    BYTES_PER_BYTE = 3,     /* this many times its own: text, chunks, vectors, growth */
    MEMORY_WAIT_MS = 30000, /* for others to be done with theirs */
    SLICE_SHARE = 4,        /* of all memory for documents, one in so many goes to a slice */
    METADATA_COPIES =
        3, /* of metadata's values while a chunk goes into the index: growth, columns */
    MAX_ID_BYTES = 512,
    MAX_FIELD_BYTES = 64 << 10,
    SLICE_DOCUMENTS = 512, /* prepared and committed at a time: bounds memory of a large call */
    OFFLINE_SLICE_DOCUMENTS = 2048, /* nobody waits for a commit */
    EMBED_PIECE = 64,               /* chunks embedded between two looks at whether to go on */
};

const char *ingest_status_name(enum ingest_status s) {
    static const char *const names[] = {"created", "updated", "unchanged", "failed"};
    return names[s];
}

void ingest_error_of_file(fo_err *e) {
    char says[sizeof e->msg];
    if (!e->code || strcmp(e->field, "id") != 0 || strncmp(e->msg, "id ", 3) != 0) return;
    snprintf(says, sizeof says, "%s", e->msg + 3);
    fo_fail(e, e->code, "its name %.480s: rename it", says);
}

void ingest_result_deinit(ingest_result *r) {
    free(r->id);
    *r = (ingest_result){0};
}

/* Times of the stages, added up over threads. */
typedef struct stage_times {
    double extract, chunk, embed;
} stage_times;

typedef struct prepared {
    const ingest_document *doc;
    extracted text;
    store_chunk_in *chunks;
    char *metadata; /* with the acl in it; NULL: none */
    fo_buf places;  /* of the chunks, each with a NUL */
    float *vectors; /* [n_chunks, dim] */
    size_t n_chunks;
    size_t n_values;  /* of the metadata: the index has them once for each chunk */
    bool many_values; /* those are what there is no memory for */
    unsigned char sha256[32];
    stage_times ms;
    size_t granted; /* bytes of memory that it may take */
    size_t held;    /* that it keeps until it is stored */
    size_t wanted;  /* what it would have needed, where that was more: to be done again; else 0 */
    bool settled;   /* failed or unchanged: nothing to write */
    bool again;     /* an earlier document of the call has the same id */
    int stage;      /* counted so far */
} prepared;

typedef struct prepare_job {
    service *s;
    collection *c;
    const ingest_options *opt;
    size_t max_tokens, overlap;
    uint8_t ocr; /* enum extract_ocr */
    const char *ocr_language;
    uint64_t call;     /* its number */
    const bool *again; /* of all documents of the call */
    size_t *need;      /* bytes of memory, of each of them: estimates until they are known */
    prepared *docs;
    ingest_result *results;
} prepare_job;

enum { STAGE_EXTRACTED = 1, STAGE_CHUNKED, STAGE_EMBEDDED };

/* The document is past this stage and all before it. */
static void count(const prepare_job *job, prepared *p, int stage) {
    ingest_counts *c = job->opt->counts;
    if (!c) return;
    atomic_size_t *const of[] = {NULL, &c->extracted, &c->chunked, &c->embedded};
    while (p->stage < stage) atomic_fetch_add(of[++p->stage], 1);
}

/* It will be done again, from the beginning. */
static void uncount(const prepare_job *job, prepared *p) {
    ingest_counts *c = job->opt->counts;
    if (!c) return;
    atomic_size_t *const of[] = {NULL, &c->extracted, &c->chunked, &c->embedded};
    while (p->stage > 0) atomic_fetch_sub(of[p->stage--], 1);
}

static void prepared_deinit(prepared *p) {
    extracted_deinit(&p->text);
    free(p->chunks);
    free(p->vectors);
    free(p->metadata);
    p->metadata = NULL;
    fo_buf_free(&p->places);
    p->chunks = NULL;
    p->vectors = NULL;
    p->held = 0;
}

/* ---- the content hash -------------------------------------------------------------------- */

static void hash_field(fo_sha256 *h, const void *p, size_t n, bool present) {
    uint64_t head = present ? (uint64_t)n + 1 : 0;
    fo_sha256_add(h, &head, sizeof head);
    if (present) fo_sha256_add(h, p, n);
}

static void hash_string(fo_sha256 *h, const char *s) {
    hash_field(h, s, s ? strlen(s) : 0, s != NULL);
}

/* The name's ending, where it decides what is made of the bytes. That of the uri stands in the hash with the uri. */
static void hash_ending(fo_sha256 *h, const ingest_document *d) {
    size_t n, n_uri = 0;
    const char *e = extract_name_matters(d->bytes, d->n_bytes, d->content_type, d->file_name, &n);
    if (!e || n == 0) return;
    const char *uri = extract_name_matters(d->bytes, d->n_bytes, d->content_type, d->uri, &n_uri);
    if (uri && n == n_uri && strncasecmp(e, uri, n) == 0) return;
    hash_string(h, "ending");
    hash_field(h, e, n, true);
}

/* Over all that decides what is stored: the same again changes nothing and costs nothing. */
static void content_hash(const prepare_job *job, const ingest_document *d, unsigned char out[32]) {
    fo_sha256 h;
    fo_sha256_begin(&h);
    uint64_t sizes[2] = {job->max_tokens, job->overlap};
    hash_string(&h, "forage-content-1");
    hash_field(&h, sizes, sizeof sizes, true);
    hash_string(&h, d->title);
    hash_string(&h, d->uri);
    hash_string(&h, d->content_type);
    hash_string(&h, d->metadata);
    hash_field(&h, d->bytes, d->n_bytes, true);
    if (d->acl) {
        hash_string(&h, "acl");
        hash_string(&h, d->acl);
    }
    if (job->ocr && extract_ocr_matters(d->bytes, d->n_bytes)) { /* another text may come of it */
        hash_string(&h, job->ocr == EXTRACT_OCR_FORCE ? "ocr force" : "ocr auto");
        hash_string(&h, job->ocr_language);
    }
    if (d->first_row) {
        uint32_t rows[2] = {d->first_row, d->header_rows};
        hash_string(&h, "rows");
        hash_field(&h, rows, sizeof rows, true);
    }
    if (d->is_text && extract_text_matters(d->bytes, d->n_bytes)) hash_string(&h, "text");
    const char *name = d->file_name ? d->file_name : d->uri;
    uint32_t version = extract_version(d->bytes, d->n_bytes, d->content_type, name);
    if (version) hash_field(&h, &version, sizeof version, true);
    hash_ending(&h, d);
    fo_sha256_end(&h, out);
}

/* ---- one document ------------------------------------------------------------------------ */

static int check_field(const char *name, const char *value, size_t max, fo_err *err) {
    if (!value) return FO_OK;
    size_t n = strlen(value), bad;
    if (n > max)
        return fo_fail_field(err, FO_EINVAL, name, "%s is longer than %zu bytes", name, max);
    if (!fo_utf8_valid(value, n, &bad))
        return fo_fail_field(err, FO_EINVAL, name, "%s is not UTF-8 at byte %zu", name, bad);
    return FO_OK;
}

static int check_document(const ingest_document *d, fo_err *err) {
    if (d->id && !d->id[0]) return fo_fail_field(err, FO_EINVAL, "id", "id must not be empty");
    for (const char *p = d->id; p && *p; p++)
        if ((unsigned char)*p < 0x20 || *p == 0x7f)
            return fo_fail_field(err, FO_EINVAL, "id", "id holds a control character");
    int rc = check_field("id", d->id, MAX_ID_BYTES, err);
    if (!rc) rc = check_field("title", d->title, MAX_FIELD_BYTES, err);
    if (!rc) rc = check_field("uri", d->uri, MAX_FIELD_BYTES, err);
    return rc ? rc : check_field("metadata", d->metadata, 1 << 20, err);
}

/* Work spared, not the verdict: the writer judges once more within the commit. */
static int refuse_unseen(const prepare_job *job, const char *id, fo_err *err) {
    store_document there = {0};
    fo_err why = {0};
    int rc = store_get_document(job->s->store, job->c->id, id, false, &there, &why);
    if (rc == FO_ENOTFOUND) return FO_OK;
    if (!rc) rc = document_acl_refuse_unseen(job->opt->sees, there.metadata, id, &why);
    store_document_deinit(&there);
    if (rc) *err = why;
    return rc;
}

int embed_passages(embedder *e, const titled_text *in, size_t n, float *vectors, fo_err *err) {
    fo_buf joined = {0};
    size_t *lens = calloc(n + 1, sizeof *lens);
    const char **texts = calloc(n + 1, sizeof *texts);
    for (size_t i = 0; lens && i < n; i++) {
        size_t before = joined.len;
        const char *title = in[i].title ? in[i].title : "";
        size_t n_title = strlen(title);
        /* A title that is the text's first line stands there already. */
        bool there =
            n_title == 0 || (n_title <= in[i].len && memcmp(in[i].text, title, n_title) == 0 &&
                             (n_title == in[i].len || in[i].text[n_title] == '\n'));
        if (!there) {
            fo_buf_add(&joined, title, n_title);
            fo_buf_char(&joined, ' ');
        }
        fo_buf_add(&joined, in[i].text, in[i].len);
        lens[i] = joined.len - before;
    }
    int rc = FO_OK;
    if (!lens || !texts || joined.failed) {
        rc = fo_no_memory(err);
    } else {
        const char *at = joined.data ? joined.data : "";
        for (size_t i = 0; i < n; at += lens[i++]) texts[i] = at;
        rc = embedder_embed(e, EMBED_PASSAGE, texts, lens, n, vectors, err);
    }
    fo_buf_free(&joined);
    free(lens);
    free(texts);
    return rc;
}

static int embed_chunks(embedder *e, prepared *p, const chunk *chunks, const char *title,
                        const atomic_bool *cancel, ingest_counts *counts, fo_err *err) {
    size_t dim = embedder_dim(e), n = p->n_chunks, n_floats, n_bytes;
    if (!fo_mul_size(n, dim, &n_floats) || !fo_mul_size(n_floats, sizeof(float), &n_bytes))
        return fo_fail(err, FO_ELIMIT, "document has too many chunks");
    p->vectors = malloc(n_bytes);
    int rc = p->vectors ? FO_OK : fo_no_memory(err);
    /* In pieces, because a long document takes an encoder minutes: who waits may leave. */
    for (size_t first = 0; !rc && first < n; first += EMBED_PIECE) {
        titled_text in[EMBED_PIECE];
        size_t k = n - first < EMBED_PIECE ? n - first : EMBED_PIECE;
        if (cancel && atomic_load(cancel)) return fo_fail(err, FO_ECANCELLED, "cancelled");
        for (size_t i = 0; i < k; i++)
            in[i] = (titled_text){title, p->text.text + chunks[first + i].start,
                                  chunks[first + i].end - chunks[first + i].start};
        rc = embed_passages(e, in, k, p->vectors + first * dim, err);
        if (!rc && counts) atomic_fetch_add(&counts->passages, k);
    }
    for (size_t i = 0; !rc && i < n; i++) p->chunks[i].vector = p->vectors + i * dim;
    return rc;
}

/* What the store is told of the chunks' places. */
static int note_places(prepared *p, const chunk *chunks, doc_budget *budget, fo_err *err) {
    if (!p->text.n_places) return FO_OK;
    for (size_t i = 0; i < p->n_chunks; i++) {
        size_t before = p->places.len;
        chunk_places_write(&p->places, &p->text, &chunks[i]);
        fo_buf_char(&p->places, 0);
        if (!doc_budget_take(budget, p->places.len - before)) return doc_budget_fail(budget, err);
    }
    if (p->places.failed) return fo_no_memory(err);
    const char *at = p->places.data;
    for (size_t i = 0; i < p->n_chunks; i++, at += strlen(at) + 1) p->chunks[i].place = at;
    return FO_OK;
}

static int take_values(prepared *p, doc_budget *budget, fo_err *err) {
    size_t n;
    bool fits = fo_mul_size(p->n_values, p->n_chunks, &n) &&
                fo_mul_size(n, (size_t)METADATA_VALUE_BYTES * METADATA_COPIES, &n);
    p->many_values = !doc_budget_take(budget, fits ? n : SIZE_MAX);
    return p->many_values ? doc_budget_fail(budget, err) : FO_OK;
}

static int take_fields(prepared *p, fo_err *err) {
    int rc = document_fields_join(&p->metadata, p->text.fields, err);
    if (!rc && p->metadata) rc = metadata_count(p->metadata, &p->n_values, err);
    return rc;
}

/* Not even all the memory that there is for one document is enough. */
static int fail_for_good(const service *s, const prepared *p, fo_err *err) {
    size_t mib = s->document_bytes >> 20;
    if (p->many_values)
        return fo_fail_field(
            err, FO_ELIMIT, "metadata",
            "metadata of %zu values for each of %zu chunks needs more than the %zu "
            "MiB of memory that a document may take: seven eighths of "
            "--ingest-memory",
            p->n_values, p->n_chunks, mib);
    return fo_fail(err, FO_ELIMIT,
                   "the document needs more than the %zu MiB of memory that one may take: "
                   "seven eighths of --ingest-memory",
                   mib);
}

/* Text, chunks and vectors of a document, within its budget. */
static int prepare_text(prepare_job *job, prepared *p, ingest_result *r, doc_budget *budget,
                        fo_err *err) {
    const ingest_document *d = p->doc;
    service *s = job->s;
    double t0 = fo_now_ms();
    extract_request rq = {.bytes = d->bytes,
                          .n = d->n_bytes,
                          .content_type = d->content_type,
                          .file_name = d->file_name,
                          .is_text = d->is_text,
                          .max_text_bytes = s->document_bytes / 2,
                          .budget = budget,
                          .host = s->extract_host,
                          .ocr = job->ocr,
                          .ocr_language = job->ocr_language,
                          .pages = job->opt->counts ? &job->opt->counts->pages : NULL,
                          .call = job->call,
                          .first_row = d->first_row,
                          .header_rows = d->header_rows};
    int rc = extract_text(&p->text, &rq, err);
    if (rc) return rc;
    r->n_replaced = p->text.n_replaced;
    rc = take_fields(p, err);
    if (rc) return rc;
    double t1 = fo_now_ms();
    count(job, p, STAGE_EXTRACTED);
    chunk_options copt = {job->max_tokens, job->overlap, embedder_count_tokens, job->c->embedder,
                          budget};
    chunk *chunks = NULL;
    rc = chunk_text(&chunks, &p->n_chunks, &p->text, &copt, err);
    if (rc) return rc;
    double t2 = fo_now_ms();
    count(job, p, STAGE_CHUNKED);
    size_t each = sizeof *p->chunks + embedder_dim(job->c->embedder) * sizeof(float), all;
    if (!fo_mul_size(p->n_chunks, each, &all))
        rc = fo_fail(err, FO_ELIMIT, "the document has too many chunks");
    else if (!doc_budget_take(budget, all))
        rc = doc_budget_fail(budget, err);
    else if (!(p->chunks = calloc(p->n_chunks + 1, sizeof *p->chunks)))
        rc = fo_no_memory(err);
    for (size_t i = 0; !rc && i < p->n_chunks; i++) {
        const chunk *k = &chunks[i];
        p->chunks[i] = (store_chunk_in){.start = k->start,
                                        .end = k->end,
                                        .start_cp = k->start_cp,
                                        .end_cp = k->end_cp,
                                        .heading_start = k->heading_start,
                                        .heading_end = k->heading_end,
                                        .n_tokens = (uint32_t)k->n_tokens};
    }
    r->chunks = p->n_chunks;
    if (!rc) rc = take_values(p, budget, err);
    if (!rc) rc = note_places(p, chunks, budget, err);
    if (!rc && p->n_chunks)
        rc = embed_chunks(job->c->embedder, p, chunks, d->title ? d->title : p->text.title,
                          job->opt->cancel, job->opt->counts, err);
    free(chunks);
    double t3 = fo_now_ms();
    p->ms = (stage_times){t1 - t0, t2 - t1, t3 - t2};
    return rc;
}

static int prepare_one(prepare_job *job, prepared *p, ingest_result *r, fo_err *err) {
    const ingest_document *d = p->doc;
    service *s = job->s;
    int rc = check_document(d, err);
    free(p->metadata); /* done again, with more memory */
    p->metadata = NULL;
    if (!rc) rc = document_acl_join(&p->metadata, d->metadata, d->acl, err);
    /* What the index would refuse must fail here: in the writer it would fail all that share a commit. */
    if (!rc) rc = metadata_count(p->metadata, &p->n_values, err);
    if (rc) return rc;
    content_hash(job, d, p->sha256);
    fo_hex_write(r->content_sha256, p->sha256, 32);
    r->id = d->id ? strdup(d->id) : strndup(r->content_sha256, 32);
    if (!r->id) return fo_no_memory(err);
    if (job->opt->sees && (rc = refuse_unseen(job, r->id, err))) return rc;

    /* Work spared, not the verdict: the store judges once more as it writes. What stands there does
     * not count where an earlier document of the call is about to replace it. */
    bool unchanged = false;
    if (!p->again)
        rc = store_document_unchanged(s->store, job->c->id, r->id, p->sha256, &unchanged,
                                      &r->chunks, err);
    if (rc) return rc;
    if (unchanged) {
        r->status = INGEST_UNCHANGED;
        p->settled = true;
        return FO_OK;
    }
    rc = collection_refuse_foreign(s, job->c, err);
    if (rc) return rc;
    doc_budget budget = {.cancel = job->opt->cancel,
                         .cpu_ms = DOC_BUDGET_CPU_MS,
                         .cpu_ms_per_mib = DOC_BUDGET_CPU_MS_PER_MIB,
                         .max_bytes = p->granted};
    doc_budget_begin(&budget);
    rc = prepare_text(job, p, r, &budget, err);
    p->held = budget.used;
    if (rc == FO_ENOMEM && budget.failure == FO_ENOMEM) {
        if (p->granted < s->document_bytes)
            p->wanted = budget.wanted;
        else
            rc = fail_for_good(s, p, err);
    }
    if (rc) prepared_deinit(p);
    return rc;
}

static void prepare_range(void *arg, size_t begin, size_t end, int thread) {
    (void)thread;
    prepare_job *job = arg;
    for (size_t i = begin; i < end; i++) {
        prepared *p = &job->docs[i];
        ingest_result *r = &job->results[i];
        if (job->opt->cancel && atomic_load(job->opt->cancel)) {
            fo_fail(&r->error, FO_ECANCELLED, "cancelled");
        } else {
            prepare_one(job, p, r, &r->error);
        }
        if (p->wanted) { /* not failed: it comes again with more */
            uncount(job, p);
            continue;
        }
        if (r->error.code != FO_OK) {
            r->status = INGEST_FAILED;
            r->chunks = 0;
            p->settled = true;
        }
        count(job, p, STAGE_EMBEDDED);
    }
}

/* ---- a call ------------------------------------------------------------------------------ */

/* Documents prepared together and then committed together, by a thread of its own while the next
 * slice is prepared. */
typedef struct slice {
    service *s;
    collection *c;
    prepared *docs;
    write_document *writes;
    ingest_result *results;
    ingest_counts *counts;
    const atomic_bool *cancel;
    size_t n, n_writes;
    memory_budget *memory;
    pthread_t thread;
    bool running; /* the thread is to be joined */
    /* the thread's, once it runs */
    size_t held; /* bytes of `memory` */
    int rc;
    fo_err err;
    double index_ms, commit_ms;
    int64_t epoch;
} slice;

/* Give back what the slice holds beyond `keep`. */
static void slice_release(slice *w, size_t keep) {
    if (w->held > keep) memory_budget_give(w->memory, w->held - keep);
    if (w->held > keep) w->held = keep;
}

static void slice_free(slice *w) {
    for (size_t i = 0; w->docs && i < w->n; i++) prepared_deinit(&w->docs[i]);
    slice_release(w, 0);
    free(w->docs);
    free(w->writes);
    *w = (slice){0};
}

typedef struct named {
    const char *id;
    size_t at;
} named;

static int by_id_and_place(const void *a, const void *b) {
    const named *x = a, *y = b;
    int order = strcmp(x->id, y->id);
    return order ? order : x->at < y->at ? -1 : x->at > y->at;
}

/* again[i]: a document before docs[i] has its id. (Where none is given, equal ids are equal texts.)
 */
static int find_again(const ingest_document *docs, size_t n, bool *again, fo_err *err) {
    named *ids = calloc(n + 1, sizeof *ids);
    if (!ids) return fo_no_memory(err);
    size_t k = 0;
    for (size_t i = 0; i < n; i++)
        if (docs[i].id) ids[k++] = (named){docs[i].id, i};
    qsort(ids, k, sizeof *ids, by_id_and_place);
    for (size_t i = 1; i < k; i++) again[ids[i].at] = strcmp(ids[i].id, ids[i - 1].id) == 0;
    free(ids);
    return FO_OK;
}

/* What a document is taken to need before anything is known of it but its bytes. */
static size_t estimate(const service *s, const ingest_document *d) {
    size_t n = d->n_bytes, need;
    if (gzip_is(d->bytes, n)) {
        size_t says = gzip_size_hint(d->bytes, n);
        if (says > n) n = says;
    }
    if (!fo_mul_size(n, BYTES_PER_BYTE, &need) || !fo_add_size(need, BASE_BYTES, &need) ||
        need > s->document_bytes)
        need = s->document_bytes;
    return need;
}

/* How many documents from `first` on go into one slice: no more than its share of memory allows,
 * but one. *bytes: what they need together. */
static size_t fitting(prepare_job *job, const ingest_document *docs, size_t first, size_t n,
                      size_t *bytes) {
    size_t share = job->s->document_bytes / SLICE_SHARE, i = 0;
    for (*bytes = 0; i < n; i++) {
        size_t *need = &job->need[first + i];
        if (!*need) *need = estimate(job->s, &docs[first + i]);
        if (i && (*bytes >= share || *need > share - *bytes)) break;
        *bytes += *need;
    }
    return i;
}

/* Documents from the first on that wants more memory than it was granted leave the slice, in order
 * that all are written in their order. More is known of them now. */
static void leave_out_from(slice *w, prepare_job *job, size_t first, size_t at) {
    const size_t all = w->s->document_bytes;
    for (size_t i = at; i < w->n; i++) {
        prepared *p = &w->docs[i];
        size_t *need = &job->need[first + i];
        /* By much: to read it is the most that it costs. */
        if (p->wanted) *need = *need > all / 4 ? all : *need * 4;
        if (p->wanted > *need) *need = p->wanted < all ? p->wanted : all;
        uncount(job, p);
        prepared_deinit(p);
        ingest_result_deinit(&w->results[i]);
    }
    w->n = at;
}

/* Prepare a slice of the next n documents; w->n becomes how many of them it holds: none, where the
 * first one turned out to need more memory than it was given. */
static int slice_prepare(slice *w, prepare_job *job, const ingest_document *docs, size_t first,
                         size_t n, ingest_result *results, ingest_report *report, fo_err *err) {
    service *s = job->s;
    size_t bytes;
    n = fitting(job, docs, first, n, &bytes);
    *w = (slice){.s = s,
                 .c = job->c,
                 .n = n,
                 .results = results,
                 .counts = job->opt->counts,
                 .cancel = job->opt->cancel,
                 .docs = calloc(n, sizeof *w->docs),
                 .writes = calloc(n, sizeof *w->writes)};
    if (!w->docs || !w->writes) return fo_no_memory(err);
    /* The slice before this one is being written and gives its own back by itself. */
    w->memory = bytes <= s->small_bytes ? s->small_memory : s->ingest_memory;
    int rc = memory_budget_take(w->memory, bytes, MEMORY_WAIT_MS, job->opt->cancel, err);
    if (rc == FO_EBUSY)
        fo_fail(err, rc,
                "other documents on their way in hold the memory that there is for them; this one "
                "needs %zu MiB of %zu: try again later",
                (bytes + (1 << 20) - 1) >> 20, s->document_bytes >> 20);
    if (rc) return rc;
    w->held = bytes;
    job->docs = w->docs;
    job->results = results;
    for (size_t i = 0; i < n; i++) {
        w->docs[i].doc = &docs[first + i];
        w->docs[i].again = job->again[first + i];
        w->docs[i].granted = job->need[first + i];
    }
    if (n > 1)
        fo_pool_run(s->pool, n, 1, prepare_range, job);
    else
        prepare_range(job, 0, 1, 0); /* one, maybe long: others need not wait for the pool */
    /* Not a call whose documents failed: who asks again would be told so for good. */
    if (job->opt->cancel && atomic_load(job->opt->cancel))
        return fo_fail(err, FO_ECANCELLED, "cancelled");
    for (size_t i = 0; i < w->n; i++)
        if (w->docs[i].wanted) leave_out_from(w, job, first, i);
    size_t kept = 0;
    for (size_t i = 0; i < w->n; i++) kept += w->docs[i].held;
    slice_release(w, kept);
    for (size_t i = 0; i < w->n; i++) {
        prepared *p = &w->docs[i];
        report->extract_ms += p->ms.extract;
        report->chunk_ms += p->ms.chunk;
        report->embed_ms += p->ms.embed;
        if (p->settled) continue;
        const ingest_document *d = p->doc;
        write_document *to = &w->writes[w->n_writes++];
        *to = (write_document){.in = {.collection = job->c->id,
                                      .id = results[i].id,
                                      .title = d->title ? d->title : p->text.title,
                                      .uri = d->uri,
                                      .content_type = d->content_type,
                                      .metadata = p->metadata,
                                      .text = p->text.text,
                                      .text_len = p->text.len,
                                      .embedder = embedder_fingerprint(job->c->embedder),
                                      .dim = (uint32_t)embedder_dim(job->c->embedder)},
                               .chunks = p->chunks,
                               .n_chunks = p->n_chunks,
                               .sees = job->opt->sees,
                               .result = &results[i]};
        memcpy(to->in.content_sha256, p->sha256, 32);
    }
    return FO_OK;
}

static bool is_copy_there(const slice *w, const ingest_result *r, const prepared *p) {
    unsigned char version[32];
    return page_images_version(w->s->page_images, w->c->id, r->id, version) &&
           !memcmp(version, p->sha256, 32);
}

/* What their pages can be drawn of; of a version before, nothing stays. Of one that is unchanged the copy may be missing: no
 * backup holds it, and there may have been no room. */
static void keep_originals(const slice *w) {
    for (size_t i = 0; i < w->n; i++) {
        const prepared *p = &w->docs[i];
        const ingest_result *r = &w->results[i];
        const ingest_document *d = p->doc;
        const bool same = r->status == INGEST_UNCHANGED;
        if (r->status == INGEST_FAILED) continue;
        if (!page_image_has(d->bytes, d->n_bytes)) {
            if (!same) page_images_forget(w->s->page_images, w->c->id, r->id);
            continue;
        }
        if (same && is_copy_there(w, r, p)) continue;
        page_images_keep(w->s->page_images, w->c->id, r->id, p->sha256, d->bytes, d->n_bytes);
        service_settle_original(w->s, w->c->id, r->id);
    }
}

/* The writer may have refused one, or found that it stands there already. */
static size_t count_stored(const slice *w) {
    size_t n = 0;
    for (size_t i = 0; i < w->n_writes; i++) {
        const enum ingest_status status = w->writes[i].result->status;
        n += status == INGEST_CREATED || status == INGEST_UPDATED;
    }
    return n;
}

static void *slice_write(void *arg) {
    slice *w = arg;
    if (w->n_writes)
        w->rc = writer_submit(w->s, w->c, w->writes, w->n_writes, w->cancel, &w->index_ms,
                              &w->commit_ms, &w->epoch, &w->err);
    if (!w->rc) {
        atomic_fetch_add_explicit(&w->s->n_ingested, count_stored(w), memory_order_relaxed);
        if (w->counts) atomic_fetch_add(&w->counts->stored, w->n);
        kv_warm_notify(w->s->warm);
        keep_originals(w);
    }
    for (size_t i = 0; i < w->n; i++) prepared_deinit(&w->docs[i]);
    slice_release(w, 0);
    return NULL;
}

static int slice_end(slice *w, ingest_report *report, fo_err *err) {
    if (w->running) pthread_join(w->thread, NULL);
    int rc = w->rc;
    if (rc && err) *err = w->err;
    report->index_ms += w->index_ms;
    report->commit_ms += w->commit_ms;
    if (!rc && w->n_writes) report->epoch = w->epoch;
    slice_free(w);
    return rc;
}

/* Slices are written in the order of the documents: the last version of one stands. */
static int ingest_slices(prepare_job *job, const ingest_document *docs, size_t n,
                         ingest_result *results, ingest_report *report, fo_err *err) {
    size_t most = job->s->offline ? OFFLINE_SLICE_DOCUMENTS : SLICE_DOCUMENTS;
    slice slot[2] = {0};
    int rc = FO_OK, k = 0;
    for (size_t i = 0; !rc && i < n; k = 1 - k) {
        slice *w = &slot[k];
        rc = slice_prepare(w, job, docs, i, n - i < most ? n - i : most, results + i, report, err);
        int before = slice_end(&slot[1 - k], report, !rc ? err : NULL);
        if (!rc) rc = before;
        if (rc) break;
        i += w->n;
        w->running = i < n && pthread_create(&w->thread, NULL, slice_write, w) == 0;
        if (!w->running) slice_write(w); /* the last one: nothing to do meanwhile */
    }
    /* On an error one slice may be there that was prepared and is not to be written. */
    for (int i = 0; i < 2; i++) {
        if (rc) {
            slice_free(&slot[i]);
        } else {
            rc = slice_end(&slot[i], report, err);
        }
    }
    return rc;
}

static int ingest_all(prepare_job *job, const ingest_document *docs, size_t n,
                      ingest_result *results, ingest_report *report, fo_err *err) {
    bool *again = calloc(n + 1, sizeof *again);
    job->again = again;
    job->need = calloc(n + 1, sizeof *job->need);
    int rc = again && job->need ? find_again(docs, n, again, err) : fo_no_memory(err);
    if (!rc) rc = ingest_slices(job, docs, n, results, report, err);
    free(again);
    free(job->need);
    return rc;
}

static int check_room(service *s, fo_err *err) {
    int64_t room = store_free_disk_bytes(s->store);
    if (room >= 0 && (uint64_t)room < s->min_free_bytes)
        return fo_fail(err, FO_ENOSPC,
                       "only %lld MiB are free on the disk of the home folder, fewer than "
                       "--min-free-disk asks for: make room there",
                       (long long)(room >> 20));
    return FO_OK;
}

int service_unpack(service *s, const archive_request *rq, const archive_sink *sink, fo_err *err) {
    return archive_unpack(s->extract_host, rq, sink, err);
}

int service_ingest(service *s, const ingest_options *opt, const ingest_document *docs, size_t n,
                   ingest_result *results, ingest_report *report, fo_err *err) {
    double started = fo_now_ms();
    ingest_report local;
    if (!report) report = &local;
    *report = (ingest_report){0};
    memset(results, 0, n * sizeof *results);
    size_t max_tokens = opt->max_tokens ? opt->max_tokens : 256;
    size_t overlap = opt->overlap == SIZE_MAX ? 32 : opt->overlap;
    if (max_tokens < 16 || max_tokens > 8192)
        return fo_fail_field(err, FO_EINVAL, "chunking.max_tokens",
                             "chunking.max_tokens must be between 16 and 8192");
    if (overlap >= max_tokens / 2) {
        if (opt->overlap != SIZE_MAX)
            return fo_fail_field(err, FO_EINVAL, "chunking.overlap",
                                 "chunking.overlap must be less than half of max_tokens");
        overlap = max_tokens / 8;
    }
    int ocr = opt->ocr ? opt->ocr : s->ocr, rc = FO_OK;
    const char *ocr_language = opt->ocr_language ? opt->ocr_language : s->ocr_language;
    if ((opt->ocr && ocr != INGEST_OCR_OFF) || opt->ocr_language)
        rc = extract_ocr_check(opt->ocr_language, err);
    if (!rc) rc = service_enter(s, err);
    if (rc) return rc;
    collection *c = NULL;
    rc = collection_finish_exchange(s, opt->tenant, opt->collection, err);
    if (rc) {
        service_leave(s);
        return rc;
    }
    service_ingest_begin(s);
    rc = s->read_only ? fo_fail(err, FO_EUNSUPPORTED, "this service is read-only")
                      : check_room(s, err);
    if (!rc) rc = collection_ensure(s, opt->tenant, opt->collection, opt->language, &c, err);
    if (!rc) {
        search_snapshot *now = search_index_acquire(c->index);
        report->epoch = search_snapshot_epoch(now);
        search_index_release(now);
    }
    prepare_job job = {.s = s,
                       .c = c,
                       .opt = opt,
                       .max_tokens = max_tokens,
                       .overlap = overlap,
                       .ocr = (uint8_t)(ocr - INGEST_OCR_OFF),
                       .ocr_language = ocr_language,
                       .call = 1 + atomic_fetch_add(&s->n_calls, 1)};
    if (!rc) rc = ingest_all(&job, docs, n, results, report, err);
    extract_host_end_call(s->extract_host, job.call);
    if (c) collection_release(s, c);
    service_ingest_end(s);
    service_leave(s);
    report->total_ms = fo_now_ms() - started;
    return rc;
}
