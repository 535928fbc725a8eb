/* One run, in this order: what is known (source, files, documents) -> walk -> doubts hashed -> plan -> files read and
 * ingested, documents of moved files deleted under their old ids, those of files that are gone deleted.
 *
 * 1. The store is told of new files before their documents are made, and of what became of them after: killed in
 *    between, the next run knows that there may be documents. Those that name the source and of whose files nothing is
 *    known all the same (orphans) are its own, too.
 * 2. A file that moved is ingested under its new id before the old one goes, and what is removed here because it stands
 *    elsewhere goes only where a document was made of it there. */
#include "retrieval/sync/folder_sync.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "data/extract/extract.h"
#include "kernels/clock.h"
#include "kernels/hex.h"
#include "kernels/paths.h"
#include "kernels/sha256.h"
#include "retrieval/sync/folder_sync_archives.h"
#include "retrieval/collections/service_internal.h"

enum {
    BATCH_DOCUMENTS = 256,
    BATCH_BYTES = 4 << 20,
    REMOVALS = 512,   /* in one commit */
    RECENT_MS = 2000, /* a file that changed so lately may change again and keep its mtime */
};

typedef struct run {
    service *s;
    const folder_sync_request *q;
    folder_sync_report *r;
    store_source source;
    bool same_folder; /* as the run before */
    bool begun;       /* the store knows of this run */
    int folder;
    known_files known;
    folder_listing found;
    sync_hash *hashes;
    sync_archives archives;
    sync_plan plan;
    size_t done, all;          /* steps that read a file */
    unsigned char (*made)[32]; /* of which contents there is a document; NULL: no step asks that */
    size_t n_made;
} run;

/* ---- what failed ------------------------------------------------------------------------- */

static void note_failure(run *k, const char *path, const char *why) {
    folder_sync_report *r = k->r;
    r->failed++;
    if (r->n_failures == FOLDER_SYNC_FAILURES) return;
    folder_sync_failure *more = realloc(r->failures, (r->n_failures + 1) * sizeof *more);
    if (!more) return; /* it is counted */
    r->failures = more;
    folder_sync_failure f = {strdup(path), strdup(why)};
    if (f.path && f.why) {
        r->failures[r->n_failures++] = f;
    } else {
        free(f.path);
        free(f.why);
    }
}

static void on_failed(void *ctx, const char *path, const fo_err *why) {
    run *k = ctx;
    note_failure(k, path, why->msg);
    if (k->q->failed) k->q->failed(k->q->ctx, path, why);
}

static void on_left_out(void *ctx, const char *path, const char *kind, int64_t size) {
    run *k = ctx;
    if (k->q->left_out) k->q->left_out(k->q->ctx, path, kind, size);
}

static void on_entering(void *ctx, const char *path) {
    run *k = ctx;
    if (k->q->entering) k->q->entering(k->q->ctx, path);
}

static void tell(run *k, enum sync_kind kind, const char *path, const char *from) {
    if (k->q->step) k->q->step(k->q->ctx, kind, path, from);
}

static bool cancelled(const run *k, fo_err *err) {
    if (!k->q->cancel || !atomic_load(k->q->cancel)) return false;
    fo_fail(err, FO_ECANCELLED, "cancelled");
    return true;
}

/* ---- before: the source, the walk, the plan ----------------------------------------------- */

static char *copy(const char *s, int *rc, fo_err *err) {
    char *c = strdup(s);
    if (!c) *rc = fo_no_memory(err);
    return c;
}

/* By what files are read: other readers, texts taken apart otherwise, or letters in images recognised, make other documents of
 * them. */
static void name_reading(const service *s, char out[128]) {
    enum { PARTS_VERSION = 2 }; /* 2: by their file's form, and in archives, too */
    snprintf(out, 128, "%u parts %d ocr %d %.80s", extract_versions(), PARTS_VERSION,
             s->ocr - INGEST_OCR_OFF,
             s->ocr != INGEST_OCR_OFF && s->ocr_language ? s->ocr_language : "");
}

/* The source as it was, or a new one; what the request says of it. */
static int take_source(run *k, fo_err *err) {
    const folder_sync_request *q = k->q;
    store_source *to = &k->source;
    fo_err own = {0};
    int rc = store_get_source(k->s->store, q->tenant, q->name, to, &own);
    if (rc && rc != FO_ENOTFOUND) {
        if (err) *err = own;
        return rc;
    }
    int64_t max_tokens = q->max_tokens ? (int64_t)q->max_tokens : 256;
    int64_t overlap = q->overlap == SIZE_MAX ? -1 : (int64_t)q->overlap;
    if (!rc && !q->relocate && strcmp(to->path, q->path) != 0)
        return fo_fail_field(err, FO_ECONFLICT, "path",
                             "the source '%s' is the folder %.300s: give this one another name, or "
                             "say that the folder has moved (relocate)",
                             q->name, to->path);
    if (!rc && q->collection && strcmp(to->collection, q->collection) != 0)
        return fo_fail_field(err, FO_ECONFLICT, "collection",
                             "the source '%s' fills the collection '%s': give this one another "
                             "name, or delete that source first",
                             q->name, to->collection);
    char reading[128];
    name_reading(k->s, reading);
    k->same_folder = !rc && !strcmp(to->path, q->path);
    k->known.other_settings = !rc && (to->max_tokens != max_tokens || to->overlap != overlap ||
                                      strcmp(to->reading ? to->reading : "", reading) != 0);
    if (rc) to->collection = copy(q->collection ? q->collection : "default", &rc, err);
    rc = to->collection ? FO_OK : fo_no_memory(err);
    if (!to->name && !rc) to->name = copy(q->name, &rc, err);
    if (!to->tenant && !rc) to->tenant = copy(q->tenant, &rc, err);
    free(to->path);
    to->path = rc ? NULL : copy(q->path, &rc, err);
    free(to->reading);
    to->reading = rc ? NULL : copy(reading, &rc, err);
    to->max_tokens = max_tokens;
    to->overlap = overlap;
    if (!rc) k->r->collection = copy(to->collection, &rc, err);
    return rc;
}

static int begin_source(run *k, fo_err *err) {
    k->source.started_ms = fo_unix_ms();
    k->source.finished_ms = 0;
    free(k->source.error);
    k->source.error = NULL;
    k->begun = !k->q->dry_run;
    store_source to = k->source;
    if (k->known.other_settings) to.reading = NULL; /* killed midway, some were read the old way */
    return k->begun ? store_put_source(k->s->store, &to, &k->source.id, err) : FO_OK;
}

/* A folder that is new to the store is written down when it is there: a path told by mistake leaves no source behind. */
static int open_source(run *k, fo_err *err) {
    int rc = k->same_folder ? begin_source(k, err) : FO_OK;
    if (!rc && (k->folder = folder_open(k->q->path, err)) < 0) rc = k->folder;
    if (!rc && !k->same_folder) rc = begin_source(k, err);
    return rc;
}

static int hash_file(int folder, const folder_file *f, unsigned char out[32]) {
    struct stat st;
    int fd = folder_open_file(folder, f->path, &st, NULL);
    if (fd < 0) return fd;
    fo_sha256 h;
    fo_sha256_begin(&h);
    char piece[64 << 10];
    ssize_t n;
    int64_t all = 0;
    while ((n = read(fd, piece, sizeof piece)) > 0 && all <= f->size) {
        fo_sha256_add(&h, piece, (size_t)n);
        all += n;
    }
    close(fd);
    fo_sha256_end(&h, out);
    return n < 0 || all != f->size ? FO_EIO : FO_OK; /* it is read again, then: as something new */
}

static int make_plan(run *k, fo_err *err) {
    sync_options opt = {.retry_failed = k->q->retry_failed || k->known.other_settings,
                        .limit = k->q->limit};
    size_t n = k->found.n;
    bool *doubt = calloc(n + 1, sizeof *doubt);
    k->hashes = calloc(n + 1, sizeof *k->hashes);
    int rc = doubt && k->hashes ? FO_OK : fo_no_memory(err);
    if (!rc) rc = sync_plan_doubts(&k->found, k->known.files, k->known.n, &opt, doubt, err);
    for (size_t i = 0; i < n && !rc; i++) {
        if (cancelled(k, err)) rc = FO_ECANCELLED;
        size_t member = k->found.files[i].member;
        if (!rc && member)
            k->hashes[i] = *sync_archives_hash(&k->archives, member);
        else if (!rc && doubt[i])
            k->hashes[i].known = !hash_file(k->folder, &k->found.files[i], k->hashes[i].sha256);
    }
    if (!rc)
        rc = sync_plan_make(&k->plan, &k->found, k->hashes, k->known.files, k->known.n, &opt, err);
    free(doubt);
    if (rc) return rc;
    k->r->refused = k->plan.withheld;
    k->r->withheld = k->plan.count[SYNC_WITHHELD];
    k->r->kept = k->plan.count[SYNC_KEPT];
    k->r->unchanged = k->plan.count[SYNC_UNCHANGED] + k->plan.count[SYNC_NOTED];
    k->all = k->plan.count[SYNC_MOVED] + k->plan.count[SYNC_PUT];
    return FO_OK;
}

/* What no batch does: failures of before, what stays; and of a dry run everything. */
static void tell_plan(run *k) {
    for (size_t i = 0; i < k->plan.n; i++) {
        const sync_step *p = &k->plan.steps[i];
        const char *path = p->file ? p->file->path : p->known->path;
        if (p->kind == SYNC_FAILED) {
            fo_err why = {0};
            fo_fail(&why, FO_EINVAL, "%.500s", p->known->error);
            on_failed(k, path, &why);
        }
        if (p->kind == SYNC_WITHHELD || p->kind == SYNC_KEPT) tell(k, p->kind, path, NULL);
        if (!k->q->dry_run) continue;
        folder_sync_report *r = k->r;
        bool stored = p->known && p->known->stored;
        if (p->kind == SYNC_MOVED) r->moved++, tell(k, p->kind, path, p->known->path);
        if (p->kind == SYNC_REMOVED) r->removed++, tell(k, p->kind, path, NULL);
        if (p->kind != SYNC_PUT) continue;
        *(stored ? &r->updated : &r->created) += 1;
        tell(k, p->kind, path, stored ? path : NULL);
    }
}

/* ---- what is there elsewhere ------------------------------------------------------------- */

static void add_made(run *k, const unsigned char sha256[32]) {
    if (k->made) memcpy(k->made[k->n_made++], sha256, 32);
}

/* Before anything is put: contents whose documents are as they were. */
static int begin_made(run *k, fo_err *err) {
    bool asked = false;
    for (size_t i = 0; i < k->plan.n; i++) asked = asked || k->plan.steps[i].elsewhere;
    if (!asked) return FO_OK;
    k->made = malloc(k->plan.n * sizeof *k->made); /* a step adds one at most */
    if (!k->made) return fo_no_memory(err);
    for (size_t i = 0; i < k->plan.n; i++) {
        const sync_step *p = &k->plan.steps[i];
        if (p->kind == SYNC_UNCHANGED || p->kind == SYNC_NOTED) add_made(k, p->known->sha256);
    }
    return FO_OK;
}

static int compare_made(const void *a, const void *b) {
    return memcmp(a, b, 32);
}

/* Removals of what stands elsewhere where no document came of it there: these stay. */
static void keep_unmade(run *k) {
    if (k->n_made) qsort(k->made, k->n_made, sizeof *k->made, compare_made);
    for (size_t i = 0; i < k->plan.n && k->made; i++) {
        sync_step *p = &k->plan.steps[i];
        if (p->kind != SYNC_REMOVED || !p->elsewhere) continue;
        if (k->n_made &&
            bsearch(p->known->sha256, k->made, k->n_made, sizeof *k->made, compare_made))
            continue;
        p->kind = SYNC_KEPT;
        k->r->kept++;
        tell(k, SYNC_KEPT, p->known->path, NULL);
    }
}

/* ---- batches ----------------------------------------------------------------------------- */

typedef struct batch {
    const sync_step *steps[BATCH_DOCUMENTS];
    ingest_document docs[BATCH_DOCUMENTS];
    ingest_result results[BATCH_DOCUMENTS];
    store_source_file rows[BATCH_DOCUMENTS]; /* path, error: not owned */
    size_t n, bytes;
    const char *gone[2 * BATCH_DOCUMENTS]; /* paths of which nothing is known any more */
    char *old[BATCH_DOCUMENTS];            /* ids whose documents are there under new ones */
    size_t n_gone, n_old;
    char metadata[128];
} batch;

static void batch_clear(batch *b) {
    for (size_t i = 0; i < b->n; i++) {
        free((char *)b->docs[i].id);
        free((char *)b->docs[i].bytes);
        ingest_result_deinit(&b->results[i]);
    }
    for (size_t i = 0; i < b->n_old; i++) free(b->old[i]);
    b->n = b->bytes = b->n_gone = b->n_old = 0;
}

static char *id_of(const store_source *s, const char *path) {
    fo_buf b = {0};
    fo_buf_printf(&b, "%s/%s", s->name, path);
    return fo_buf_take(&b, NULL);
}

static store_source_file row_of(const folder_file *f) {
    return (store_source_file){.path = f->path,
                               .size = f->size,
                               .mtime_ns = f->mtime_ns,
                               .ctime_ns = f->ctime_ns,
                               .inode = (int64_t)f->inode};
}

/* The row says no more of a file that failed than that; a document of an earlier version stays. */
static void row_failed(store_source_file *row, const sync_known *before, const char *why) {
    row->error = (char *)why;
    row->stored = before && before->stored;
    if (row->stored) memcpy(row->content_sha256, before->content_sha256, 32);
}

/* The machine had no memory or no room, or what reads documents broke down: that is no fault of the file's. */
static bool is_passing(const fo_err *why) {
    return why->code == FO_ENOMEM || why->code == FO_EIO || why->code == FO_EBUSY ||
           why->code == FO_ENOSPC;
}

/* ... then the row is such that the next run puts the file again, of whatever content a document stays. */
static void row_again(store_source_file *row, const sync_known *before) {
    row->mtime_ns = 0;
    row->stored = before && before->stored;
    memset(row->content_sha256, 0, sizeof row->content_sha256);
}

/* What became of document i of the batch. */
static void count_result(run *k, batch *b, size_t i) {
    const sync_step *p = b->steps[i];
    const ingest_result *g = &b->results[i];
    folder_sync_report *r = k->r;
    const char *path = p->file->path;
    if (g->status == INGEST_FAILED) {
        on_failed(k, path, &g->error);
        return;
    }
    if (p->kind == SYNC_MOVED) {
        r->moved++;
    } else if (g->status == INGEST_UNCHANGED) { /* by somebody else's hand it was there */
        r->unchanged++;
        return;
    } else {
        *(g->status == INGEST_CREATED ? &r->created : &r->updated) += 1;
    }
    r->chunks += g->chunks;
    tell(k, p->kind, path,
         p->kind == SYNC_MOVED         ? p->known->path
         : g->status == INGEST_UPDATED ? path
                                       : NULL);
    if (g->chunks || g->status == INGEST_UNCHANGED) return;
    r->textless++;
    if (k->q->textless) k->q->textless(k->q->ctx, path);
}

/* Files that are new to the store: their content, and no document yet. */
static int announce(run *k, const batch *b, fo_err *err) {
    store_source_file rows[BATCH_DOCUMENTS];
    size_t n = 0;
    for (size_t i = 0; i < b->n; i++) {
        if (b->steps[i]->kind != SYNC_MOVED && b->steps[i]->known) continue;
        rows[n] = b->rows[i];
        rows[n++].mtime_ns = 0;
    }
    return n ? store_write_source_files(k->s->store, k->source.id, rows, n, NULL, 0, err) : FO_OK;
}

/* What is known of document i from now on: its row in rows[*n], what goes. */
static int settle(run *k, batch *b, size_t i, store_source_file *rows, size_t *n, fo_err *err) {
    const sync_step *p = b->steps[i];
    const ingest_result *g = &b->results[i];
    store_source_file *row = &b->rows[i];
    bool moved = p->kind == SYNC_MOVED, failed = g->status == INGEST_FAILED;
    if (failed && moved) { /* it has not moved, then: the next run sees that again */
        b->gone[b->n_gone++] = row->path;
        return FO_OK;
    }
    if (failed && is_passing(&g->error))
        row_again(row, p->known);
    else if (failed)
        row_failed(row, p->known, g->error.msg);
    else
        row->stored = fo_hex_read(row->content_sha256, 32, g->content_sha256);
    rows[(*n)++] = *row;
    if (!failed) add_made(k, row->sha256);
    if (!moved) return FO_OK;
    b->gone[b->n_gone++] = p->known->path;
    char *id = id_of(&k->source, p->known->path);
    if (!id) return fo_no_memory(err);
    b->old[b->n_old++] = id;
    return FO_OK;
}

static int batch_write(run *k, batch *b, fo_err *err) {
    if (!b->n) return FO_OK;
    ingest_options opt = {.tenant = k->q->tenant,
                          .collection = k->source.collection,
                          .language = k->q->language,
                          .max_tokens = k->q->max_tokens,
                          .overlap = k->q->overlap,
                          .cancel = k->q->cancel,
                          .counts = k->q->counts};
    memset(b->results, 0, sizeof b->results);
    int rc = announce(k, b, err);
    if (!rc) rc = service_ingest(k->s, &opt, b->docs, b->n, b->results, NULL, err);
    store_source_file rows[BATCH_DOCUMENTS];
    bool went[BATCH_DOCUMENTS]; /* of somebody else's it is no matter: the file has moved */
    size_t n_rows = 0;
    for (size_t i = 0; i < b->n && !rc; i++) {
        const ingest_result *g = &b->results[i];
        if (g->status == INGEST_FAILED && g->error.code == FO_ECANCELLED) {
            if (err) *err = g->error;
            rc = g->error.code;
            break;
        }
        ingest_error_of_file(&b->results[i].error);
        count_result(k, b, i);
        rc = settle(k, b, i, rows, &n_rows, err);
    }
    if (!rc && b->n_old) rc = known_documents_delete(k->s, &k->source, b->old, b->n_old, went, err);
    if (!rc)
        rc = store_write_source_files(k->s->store, k->source.id, rows, n_rows, b->gone, b->n_gone,
                                      err);
    k->done += b->n;
    if (k->q->progress) k->q->progress(k->q->ctx, k->done, k->all);
    batch_clear(b);
    return rc;
}

/* A file that cannot be read is written down as such, beside those of the batch. */
static int unreadable(run *k, const sync_step *p, const fo_err *why, fo_err *err) {
    on_failed(k, p->file->path, why);
    k->done++;
    if (p->kind == SYNC_MOVED) return FO_OK; /* as it was: the next run sees it again */
    store_source_file row = row_of(p->file);
    row.mtime_ns = 0;
    if (is_passing(why))
        row_again(&row, p->known);
    else
        row_failed(&row, p->known, why->msg);
    return store_write_source_files(k->s->store, k->source.id, &row, 1, NULL, 0, err);
}

static int batch_add(run *k, batch *b, const sync_step *p, fo_err *err) {
    char *data = NULL;
    size_t n = 0;
    struct stat st;
    fo_err why = {0};
    int64_t now = fo_unix_ms();
    size_t member = p->file->member;
    ingest_document of = {0};
    int rc = member ? sync_archives_get(&k->archives, member, &of, &why)
                    : folder_read_file(k->folder, p->file->path, k->q->max_file_bytes, &data, &n,
                                       &st, &why);
    if (rc == FO_ENOMEM || rc == FO_ECANCELLED) {
        if (err) *err = why;
        return rc;
    }
    if (rc) return unreadable(k, p, &why, err);
    if (member) {
        data = (char *)of.bytes;
        n = of.n_bytes;
    }
    if (b->n && (b->n == BATCH_DOCUMENTS || b->bytes + n > BATCH_BYTES))
        rc = batch_write(k, b, err);
    char *id = rc ? NULL : id_of(&k->source, p->file->path);
    if (!id) {
        free(data);
        return rc ? rc : fo_no_memory(err);
    }
    store_source_file *row = &b->rows[b->n];
    *row = row_of(p->file);
    if (!member) {
        row->size = st.st_size;
        row->mtime_ns = folder_time_ns(&st.st_mtim);
        row->ctime_ns = folder_time_ns(&st.st_ctim);
        row->inode = (int64_t)st.st_ino;
    }
    if (row->mtime_ns / 1000000 > now - RECENT_MS) row->mtime_ns = 0;
    if (member)
        memcpy(row->sha256, sync_archives_hash(&k->archives, member)->sha256, 32);
    else
        fo_sha256_of(row->sha256, data, n);
    b->steps[b->n] = p;
    b->docs[b->n++] =
        (ingest_document){.id = id,
                          .uri = id,
                          .file_name = of.file_name ? of.file_name : fo_base_name(p->file->path),
                          .metadata = b->metadata,
                          .bytes = data,
                          .n_bytes = n,
                          .first_row = of.first_row,
                          .header_rows = of.header_rows};
    b->bytes += n;
    return FO_OK;
}

static int put_all(run *k, fo_err *err) {
    batch *b = calloc(1, sizeof *b);
    if (!b) return fo_no_memory(err);
    snprintf(b->metadata, sizeof b->metadata, "{\"source\":\"%s\"}", k->q->name);
    int rc = FO_OK;
    for (size_t i = 0; i < k->plan.n && !rc; i++) {
        const sync_step *p = &k->plan.steps[i];
        if (p->kind != SYNC_MOVED && p->kind != SYNC_PUT) continue;
        rc = cancelled(k, err) ? FO_ECANCELLED : batch_add(k, b, p, err);
    }
    if (!rc) rc = batch_write(k, b, err);
    batch_clear(b);
    free(b);
    return rc;
}

static int remove_all(run *k, fo_err *err) {
    char *ids[REMOVALS];
    bool went[REMOVALS];
    const char *gone[REMOVALS];
    int rc = FO_OK;
    for (size_t i = 0; i < k->plan.n && !rc;) {
        size_t n_ids = 0, n_gone = 0;
        for (; i < k->plan.n && n_gone < REMOVALS && !rc; i++) {
            const sync_step *p = &k->plan.steps[i];
            if (p->kind != SYNC_REMOVED && p->kind != SYNC_FORGOTTEN) continue;
            gone[n_gone++] = p->known->path;
            if (p->kind == SYNC_FORGOTTEN) continue;
            if (!(ids[n_ids] = id_of(&k->source, p->known->path))) rc = fo_no_memory(err);
            n_ids += !rc;
        }
        if (!rc && cancelled(k, err)) rc = FO_ECANCELLED;
        if (!rc && n_ids) rc = known_documents_delete(k->s, &k->source, ids, n_ids, went, err);
        if (!rc && n_gone)
            rc = store_write_source_files(k->s->store, k->source.id, NULL, 0, gone, n_gone, err);
        for (size_t j = 0; j < n_ids; j++) {
            bool removed = !rc && went[j];
            k->r->removed += removed;
            if (removed) tell(k, SYNC_REMOVED, ids[j] + strlen(k->q->name) + 1, NULL);
            free(ids[j]);
        }
    }
    return rc;
}

/* Files whose content is the same, with what else is known of them now. */
static int note_all(run *k, fo_err *err) {
    size_t n = k->plan.count[SYNC_NOTED], at = 0;
    if (!n) return FO_OK;
    store_source_file *rows = calloc(n, sizeof *rows);
    if (!rows) return fo_no_memory(err);
    int64_t now = fo_unix_ms();
    for (size_t i = 0; i < k->plan.n; i++) {
        const sync_step *p = &k->plan.steps[i];
        if (p->kind != SYNC_NOTED) continue;
        store_source_file *row = &rows[at++];
        *row = row_of(p->file);
        if (row->mtime_ns / 1000000 > now - RECENT_MS) row->mtime_ns = 0;
        memcpy(row->sha256, p->known->sha256, 32);
        row->stored = true;
        memcpy(row->content_sha256, p->known->content_sha256, 32);
    }
    int rc = store_write_source_files(k->s->store, k->source.id, rows, n, NULL, 0, err);
    free(rows);
    return rc;
}

/* ---- a run ------------------------------------------------------------------------------- */

static int is_read(const char *name) {
    return extract_knows_file(name) || archive_knows_file(name);
}

/* With images, where their letters are recognised. */
static int is_read_or_image(const char *name) {
    return is_read(name) || extract_knows_image(name);
}

static int expand_archives(run *k, fo_err *err) {
    k->archives = (sync_archives){.s = k->s,
                                  .folder = k->folder,
                                  .max_file_bytes = k->q->max_file_bytes,
                                  .cancel = k->q->cancel};
    int rc = sync_archives_expand(&k->archives, &k->found, &k->known,
                                  k->q->retry_failed || k->known.other_settings, err);
    for (size_t i = 0; i < k->archives.n && !rc; i++) {
        sync_archive *a = &k->archives.list[i];
        if (a->bad.code) on_failed(k, a->file.path, &a->bad);
    }
    return rc;
}

/* At the end: before that, a run that is killed leaves archives that the next one looks into. */
static int note_archives(run *k, fo_err *err) {
    int64_t now = fo_unix_ms();
    int rc = FO_OK;
    for (size_t i = 0; i < k->archives.n && !rc; i++) {
        const sync_archive *a = &k->archives.list[i];
        store_source_file row = row_of(&a->file);
        bool again = a->bad.code && is_passing(&a->bad); /* it may be readable tomorrow, as it is */
        if (again || row.mtime_ns / 1000000 > now - RECENT_MS) row.mtime_ns = 0;
        memcpy(row.sha256, a->sha256, 32);
        row.error = a->bad.code ? (char *)a->bad.msg : NULL;
        rc = store_write_source_files(k->s->store, k->source.id, &row, 1, NULL, 0, err);
    }
    return rc;
}

static int run_all(run *k, fo_err *err) {
    const folder_sync_request *q = k->q;
    int rc = take_source(k, err);
    if (!rc) rc = open_source(k, err);
    struct stat home; /* what a run writes is no change of the folder */
    bool at_home = stat(k->s->home, &home) == 0;
    folder_walk w = {.wanted = k->s->ocr == INGEST_OCR_OFF ? is_read : is_read_or_image,
                     .except = at_home ? &home : NULL,
                     .max_file_bytes = q->max_file_bytes,
                     .cancel = q->cancel,
                     .failed = on_failed,
                     .left_out = on_left_out,
                     .entering = on_entering,
                     .ctx = k};
    if (!rc) rc = folder_walk_run(&w, k->folder, &k->found, err);
    if (!rc) rc = known_files_load(&k->known, k->s, &k->source, err);
    if (!rc) rc = expand_archives(k, err);
    k->r->skipped = k->found.skipped;
    if (!rc) rc = make_plan(k, err);
    if (!rc) tell_plan(k);
    if (rc || q->dry_run) return rc;
    rc = begin_made(k, err);
    if (!rc) rc = put_all(k, err);
    if (!rc) rc = note_all(k, err);
    if (!rc) keep_unmade(k);
    if (!rc) rc = remove_all(k, err);
    if (!rc) rc = note_archives(k, err);
    return rc;
}

/* What came of it stands in the store, whatever it was. */
static int end_source(run *k, int rc, const fo_err *why, fo_err *err) {
    if (!k->begun || !k->source.id) return rc;
    store_source to = k->source;
    to.finished_ms = fo_unix_ms();
    to.error = rc ? (char *)why->msg : NULL;
    if (rc && k->known.other_settings) to.reading = NULL;
    to.report = folder_sync_report_json(k->r);
    fo_err own = {0};
    int noted = to.report ? store_put_source(k->s->store, &to, &to.id, &own) : fo_no_memory(&own);
    free(to.report);
    if (!rc && noted) {
        if (err) *err = own;
        return noted;
    }
    return rc;
}

int folder_sync_run(service *s, const folder_sync_request *q, folder_sync_report *r, fo_err *err) {
    *r = (folder_sync_report){.dry_run = q->dry_run};
    double began = fo_now_ms();
    if (!service_name_valid(q->name))
        return fo_fail_field(err, FO_EINVAL, "name",
                             "a source's name is 1 to 64 of A-Z a-z 0-9 _ - . and does not begin "
                             "with a dot");
    fo_err own = {0};
    int rc = service_enter(s, err);
    if (rc) return rc;
    run k = {.s = s, .q = q, .r = r, .folder = -1};
    rc = s->read_only && !q->dry_run ? fo_fail(&own, FO_EUNSUPPORTED, "this service is read-only")
                                     : run_all(&k, &own);
    r->seconds = (fo_now_ms() - began) / 1000;
    if (rc && err) *err = own;
    rc = end_source(&k, rc, &own, err);
    if (k.folder >= 0) close(k.folder);
    sync_plan_deinit(&k.plan);
    sync_archives_deinit(&k.archives);
    known_files_deinit(&k.known);
    folder_listing_deinit(&k.found);
    store_source_deinit(&k.source);
    free(k.hashes);
    free(k.made);
    service_leave(s);
    return rc;
}

/* ---- a source goes ----------------------------------------------------------------------- */

static int forget_documents(service *s, const store_source *of, bool dry_run,
                            const atomic_bool *cancel, size_t *n, fo_err *err) {
    known_files known = {0};
    char *ids[REMOVALS];
    bool went[REMOVALS];
    int rc = known_files_load(&known, s, of, err);
    for (size_t i = 0; i < known.n && !rc;) {
        size_t k = 0;
        if (cancel && atomic_load(cancel)) {
            rc = fo_fail(err, FO_ECANCELLED, "cancelled");
            break;
        }
        for (; i < known.n && k < REMOVALS && !rc; i++) {
            if (!known.files[i].stored) continue;
            if (!(ids[k] = id_of(of, known.files[i].path))) rc = fo_no_memory(err);
            k += !rc;
        }
        if (!rc && k && !dry_run) rc = known_documents_delete(s, of, ids, k, went, err);
        for (size_t j = 0; j < k; j++) {
            *n += !rc && (dry_run || went[j]);
            free(ids[j]);
        }
    }
    known_files_deinit(&known);
    return rc;
}

int folder_sync_forget(service *s, const char *tenant, const char *name, bool keep_documents,
                       bool dry_run, const atomic_bool *cancel, size_t *n, fo_err *err) {
    *n = 0;
    int rc = service_enter(s, err);
    if (rc) return rc;
    store_source of = {0};
    rc = s->read_only && !dry_run ? fo_fail(err, FO_EUNSUPPORTED, "this service is read-only")
                                  : store_get_source(s->store, tenant, name, &of, err);
    if (!rc && !keep_documents) rc = forget_documents(s, &of, dry_run, cancel, n, err);
    if (!rc && !dry_run) rc = store_delete_source(s->store, tenant, name, err);
    store_source_deinit(&of);
    service_leave(s);
    return rc;
}
