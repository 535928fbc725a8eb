#include "retrieval/service/home_verify.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/files/backup_file.h"
#include "engine/kv/kv_check.h"
#include "engine/kv/kv_store_index.h"
#include "kernels/file.h"
#include "kernels/order.h"
#include "kernels/paths.h"
#include "kernels/utf8.h"
#include "retrieval/cache/hot_queries.h"
#include "retrieval/home/home.h"
#include "retrieval/home/home_store.h"
#include "retrieval/service/service_store.h"

enum { PATH = 4096 };

/* What a finding asks for. */
enum remedy {
    NO_REMEDY,     /* only a backup helps */
    BUILD_INDEX,   /* `path`: the folder goes, the store fills a new one */
    DROP_FILE,     /* `path`: derived; it goes */
    RENEW_KV,      /* kv/index.db: an empty one, which the next start fills from the segments */
    PUT_ASIDE,     /* `path`: nobody needs it */
    BEGIN_LEDGER,  /* opening does it */
    ACCEPT_LOSS,   /* the log goes aside, epochs go on past what was lost */
    REWRITE,       /* what is damaged is not in use */
    MARK_DOCUMENT, /* `row` */
    SEAL_BACKUP    /* `path`: it is sound and lacks its checksum */
};

typedef struct remedy_row {
    enum remedy remedy;
    int64_t row;
    char path[PATH]; /* below the home, "" none */
    char name[256];  /* of the document */
} remedy_row;

/* Faults of the store that lie in one collection. */
typedef struct store_faults {
    char *tenant, *collection;
    size_t n;
} store_faults;

typedef struct check {
    const store_backend *backend;
    const char *home, *only;
    const home_listener *to;
    home_report out;
    const char *tenant, *collection; /* at hand; NULL: none */
    size_t n_here; /* faults of the collection at hand, those of the store among them */
    bool in_use;
    remedy_row *rows; /* what to do about it */
    size_t n_rows, cap_rows;
    store_faults *by_collection; /* found before collections are looked at one by one */
    size_t n_by_collection;
    bool failed; /* no memory for rows or counts */
} check;

static void remember(check *k, enum remedy r, int64_t row, const char *path, const char *name) {
    for (size_t i = 0; i < k->n_rows; i++)
        if (k->rows[i].remedy == r && k->rows[i].row == row &&
            strcmp(k->rows[i].path, path ? path : "") == 0)
            return;
    if (k->n_rows == k->cap_rows) {
        size_t cap = k->cap_rows ? 2 * k->cap_rows : 16;
        remedy_row *grown = realloc(k->rows, cap * sizeof *grown);
        if (!grown) {
            k->failed = true;
            return;
        }
        k->rows = grown;
        k->cap_rows = cap;
    }
    remedy_row *to = &k->rows[k->n_rows++];
    *to = (remedy_row){.remedy = r, .row = row};
    snprintf(to->path, sizeof to->path, "%s", path ? path : "");
    snprintf(to->name, sizeof to->name, "%s", name ? name : "");
}

static void tell(check *k, bool fault, const char *file, const char *document, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
static void tell(check *k, bool fault, const char *file, const char *document, const char *fmt,
                 ...) {
    char what[800];
    va_list ap;
    va_start(ap, fmt);
    fo_utf8_vprint(what, sizeof what, fmt, ap);
    va_end(ap);
    k->out.n_faults += fault;
    k->n_here += fault;
    bool of_store = file && strcmp(file, k->backend->file) == 0;
    home_finding f = {file, k->tenant, k->collection, document, what, of_store, fault};
    if (k->to->found) k->to->found(k->to->ctx, &f);
}

static bool join(char out[PATH], const char *dir, const char *name) {
    return snprintf(out, PATH, "%s/%s", dir, name) < PATH;
}

static bool is_dots(const char *name) {
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* ---- the store ---------------------------------------------------------------------------- */

static void on_file(void *ctx, const store_finding *f) {
    check *k = ctx;
    k->out.n_store_faults++;
    remember(k, f->fault == STORE_FAULT_UNUSED ? REWRITE : NO_REMEDY, 0, NULL, NULL);
    tell(k, true, k->backend->file, NULL, "%s", f->what);
}

static store_faults *faults_of(const check *k, const char *tenant, const char *collection) {
    for (size_t i = 0; i < k->n_by_collection; i++) {
        store_faults *f = &k->by_collection[i];
        if (!strcmp(f->tenant, tenant) && !strcmp(f->collection, collection)) return f;
    }
    return NULL;
}

static void count_fault(check *k, const char *tenant, const char *collection) {
    store_faults *f = faults_of(k, tenant, collection);
    if (!f) {
        store_faults *grown = realloc(k->by_collection, (k->n_by_collection + 1) * sizeof *grown);
        if (grown) k->by_collection = grown;
        char *t = grown ? strdup(tenant) : NULL, *c = t ? strdup(collection) : NULL;
        if (!c) {
            free(t);
            k->failed = true;
            return;
        }
        f = &grown[k->n_by_collection++];
        *f = (store_faults){.tenant = t, .collection = c};
    }
    f->n++;
}

static void check_deinit(check *k) {
    for (size_t i = 0; i < k->n_by_collection; i++) {
        free(k->by_collection[i].tenant);
        free(k->by_collection[i].collection);
    }
    free(k->by_collection);
    free(k->rows);
}

static void on_store(void *ctx, const store_finding *f) {
    check *k = ctx;
    if (k->only && f->collection && strcmp(k->only, f->collection) != 0) return;
    const char *tenant = k->tenant, *collection = k->collection;
    k->tenant = f->tenant;
    k->collection = f->collection;
    k->out.n_store_faults++;
    bool document = f->fault == STORE_FAULT_DOCUMENT || f->fault == STORE_FAULT_VECTOR;
    if (document && f->rowid)
        remember(k, MARK_DOCUMENT, f->rowid, NULL, f->document);
    else
        remember(k, NO_REMEDY, 0, NULL, NULL);
    if (f->tenant && f->collection) count_fault(k, f->tenant, f->collection);
    tell(k, true, k->backend->file, f->document, "%s", f->what);
    k->tenant = tenant;
    k->collection = collection;
}

static void on_notice(void *ctx, const char *kind, const char *text) {
    check *k = ctx;
    bool lost = strcmp(kind, "commits_lost") == 0, of_ledger = strncmp(kind, "ledger_", 7) == 0;
    bool counts = strcmp(kind, "counts_differ") == 0;
    const char *ledger = k->backend->ledger;
    if (!lost && !of_ledger && !counts) {
        tell(k, false, ledger, NULL, "%s", text);
        return;
    }
    k->out.n_store_faults += lost || counts;
    remember(k, lost ? ACCEPT_LOSS : of_ledger ? BEGIN_LEDGER : NO_REMEDY, 0, NULL, NULL);
    tell(k, true, lost || counts ? k->backend->file : ledger, NULL, "%s", text);
}

/* ---- indexes ------------------------------------------------------------------------------ */

typedef struct folder {
    check *k;
    char path[PATH]; /* below the home */
    size_t n_faults;
} folder;

static void on_index_file(void *ctx, const char *file, bool extra, const char *what) {
    folder *f = ctx;
    char path[PATH];
    bool aside = fo_ends_with(file, ".bad"), crash = strstr(file, ".tmp-") != NULL;
    if (!join(path, f->path, file)) return;
    if (!aside && !crash) {
        f->n_faults++;
        if (extra)
            remember(f->k, PUT_ASIDE, 0, path, NULL);
        else
            remember(f->k, BUILD_INDEX, 0, f->path, NULL);
    }
    tell(f->k, !aside && !crash, path, NULL, "%s", what);
}

/* The index as a reader opens it, against the chunks of the store. What it does not hold yet, since
 * nothing was sealed behind it, is no fault: the next start adds it. */
static int compare(check *k, store *s, const store_collection *row, const char *dir,
                   const char *below, fo_err *err) {
    search_index *ix = NULL;
    int64_t *chunks = NULL, *documents = NULL, *have = NULL, epoch = 0;
    size_t n = 0, n_have = 0, n_dropped = 0;
    fo_err why = {0};
    search_index_options opt = {.language = row->language,
                                .dim = row->dim,
                                .fingerprint = row->embedder,
                                .tenant = row->tenant,
                                .read_only = true};
    int rc = search_index_open(&ix, dir, &opt, &n_dropped, err);
    /* Beside a server a merge may have taken files away since the manifest was read: look again. */
    for (int tries = 0; !rc && n_dropped && k->in_use && tries < 5; tries++) {
        search_index_close(ix, false, NULL);
        ix = NULL;
        rc = search_index_open(&ix, dir, &opt, &n_dropped, err);
    }
    if (!rc && n_dropped) {
        remember(k, BUILD_INDEX, 0, below, NULL);
        tell(k, true, below, NULL, "%zu of its files cannot be used", n_dropped);
    }
    if (!rc) rc = store_chunk_ids(s, row->id, &chunks, &documents, &n, &epoch, err);
    if (!rc && n_dropped == 0) {
        int64_t sealed = search_index_epoch(ix);
        search_id_report ids;
        if (search_index_verify(ix, &why) != FO_OK) {
            remember(k, BUILD_INDEX, 0, below, NULL);
            tell(k, true, below, NULL, "%s", why.msg);
        } else if (sealed > epoch && !k->in_use) {
            remember(k, BUILD_INDEX, 0, below, NULL);
            tell(k, true, below, NULL, "it is of epoch %lld, the store of %lld", (long long)sealed,
                 (long long)epoch);
        } else if (sealed == epoch) {
            if (search_index_compare(ix, chunks, documents, n, &ids, &why) != FO_OK) {
                remember(k, BUILD_INDEX, 0, below, NULL);
                tell(k, true, below, NULL, "%s", why.msg);
            }
        } else if ((rc = search_index_ids(ix, &have, &n_have, err)) == FO_OK && !k->in_use) {
            size_t n_missing = 0, at = 0;
            qsort(have, n_have, sizeof *have, fo_order_int64);
            for (size_t i = 0; i < n; i++) {
                while (at < n_have && have[at] < chunks[i]) at++;
                n_missing += at == n_have || have[at] != chunks[i];
            }
            tell(k, false, below, NULL,
                 "its files are of epoch %lld, the store of %lld: the next start indexes %zu "
                 "chunks that they lack",
                 (long long)sealed, (long long)epoch, n_missing);
        }
    }
    search_index_close(ix, false, NULL);
    free(chunks);
    free(documents);
    free(have);
    return rc;
}

static int check_index(check *k, store *s, const store_collection *row, fo_err *err) {
    /* What such a row leads to is not of this home, and a repair would remove it. The store's own check names the row. */
    if (!service_name_valid(row->tenant) || !service_name_valid(row->name)) return FO_OK;
    folder f = {.k = k};
    char dir[PATH];
    int edition = -1;
    for (int e = 0; e < 2 && edition < 0; e++) {
        snprintf(f.path, sizeof f.path, "index/%s/%s-%lld.%d", row->tenant, row->name,
                 (long long)row->id, e);
        if (join(dir, k->home, f.path) && access(dir, F_OK) == 0) edition = e;
    }
    if (edition < 0) {
        snprintf(f.path, sizeof f.path, "index/%s/%s-%lld.0", row->tenant, row->name,
                 (long long)row->id);
        if (row->n_chunks) {
            remember(k, BUILD_INDEX, 0, f.path, NULL);
            tell(k, true, f.path, NULL, "it is gone: the next start builds it from the store");
        }
        return FO_OK;
    }
    int rc = k->in_use ? FO_OK : search_index_check_folder(dir, on_index_file, &f, err);
    if (rc || f.n_faults || !row->embedder[0]) return rc;
    return compare(k, s, row, dir, f.path, err);
}

/* Folders below index/ that belong to no collection. */
static void find_orphans(check *k, const store_collection *list, size_t n) {
    char top[PATH], tenant[PATH], path[PATH];
    DIR *d = join(top, k->home, "index") ? opendir(top) : NULL;
    for (struct dirent *e; d && (e = readdir(d));) {
        if (is_dots(e->d_name) || !join(tenant, top, e->d_name)) continue;
        DIR *t = opendir(tenant);
        if (!t) {
            snprintf(path, sizeof path, "index/%s", e->d_name);
            remember(k, PUT_ASIDE, 0, path, NULL);
            tell(k, true, path, NULL, "it is no folder of a tenant");
            continue;
        }
        for (struct dirent *f; (f = readdir(t));) {
            bool known = false, second = false;
            if (is_dots(f->d_name)) continue;
            for (size_t i = 0; i < n; i++)
                for (int edition = 0; edition < 2; edition++) {
                    snprintf(path, sizeof path, "%s-%lld.%d", list[i].name, (long long)list[i].id,
                             edition);
                    if (strcmp(e->d_name, list[i].tenant) != 0 || strcmp(path, f->d_name) != 0)
                        continue;
                    char first[PATH], zero[PATH];
                    snprintf(zero, sizeof zero, "%s-%lld.0", list[i].name, (long long)list[i].id);
                    known = true;
                    second = edition == 1 && join(first, tenant, zero) && access(first, F_OK) == 0;
                }
            snprintf(path, sizeof path, "index/%s/%s", e->d_name, f->d_name);
            if (second)
                tell(k, false, path, NULL, "left by a rebuild that did not end");
            else if (!known) {
                remember(k, PUT_ASIDE, 0, path, NULL);
                tell(k, true, path, NULL, "it belongs to no collection");
            }
        }
        closedir(t);
    }
    if (d) closedir(d);
}

static int check_collections(check *k, store *s, fo_err *err) {
    store_collection *list = NULL;
    size_t n = 0, n_seen = 0;
    int rc = store_list_collections(s, NULL, &list, &n, err);
    for (size_t i = 0; !rc && i < n; i++) {
        if (k->only && strcmp(k->only, list[i].name) != 0) continue;
        n_seen++;
        k->tenant = list[i].tenant;
        k->collection = list[i].name;
        const store_faults *f = faults_of(k, list[i].tenant, list[i].name);
        k->n_here = f ? f->n : 0;
        rc = check_index(k, s, &list[i], err);
        if (!rc && k->to->checked)
            k->to->checked(k->to->ctx, list[i].tenant, list[i].name, k->n_here);
        k->tenant = k->collection = NULL;
    }
    if (!rc && !k->only && !k->in_use) find_orphans(k, list, n);
    for (size_t i = 0; i < n; i++) store_collection_deinit(&list[i]);
    free(list);
    if (!rc && k->only && !n_seen)
        rc = fo_fail_field(err, FO_ENOTFOUND, "collection", "collection '%s' does not exist",
                           k->only);
    return rc;
}

/* ---- the rest of the folder ---------------------------------------------------------------- */

#define KV_INDEX "kv/index.db"

static void on_kv(void *ctx, const char *file, bool extra, const char *what) {
    check *k = ctx;
    char path[PATH];
    snprintf(path, sizeof path, "kv/%s", file);
    if (extra) {
        remember(k, PUT_ASIDE, 0, path, NULL);
    } else { /* the index must not go on to tell of a segment that was dropped */
        if (strcmp(path, KV_INDEX) != 0) remember(k, DROP_FILE, 0, path, NULL);
        remember(k, RENEW_KV, 0, KV_INDEX, NULL);
    }
    tell(k, true, path, NULL, "%s", what);
}

static int check_kv(check *k, fo_err *err) {
    char dir[PATH];
    if (!join(dir, k->home, "kv") || access(dir, F_OK) != 0) return FO_OK;
    return kv_check(dir, on_kv, k, err);
}

static void check_hot(check *k) {
    char dir[PATH], path[PATH], below[PATH];
    DIR *d = join(dir, k->home, "hot") ? opendir(dir) : NULL;
    bool any = false;
    for (struct dirent *e; d && (e = readdir(d));) {
        hot_queries *h = NULL;
        fo_err why = {0};
        if (is_dots(e->d_name) || !join(path, dir, e->d_name)) continue;
        snprintf(below, sizeof below, "hot/%s", e->d_name);
        if (fo_ends_with(e->d_name, ".priming") || strstr(e->d_name, ".tmp-")) {
            tell(k, false, below, NULL, "left by a process that did not end by itself");
        } else if (!fo_ends_with(e->d_name, ".hot")) {
            remember(k, PUT_ASIDE, 0, below, NULL);
            tell(k, true, below, NULL, "it is no file of hot questions");
        } else if (hot_queries_create(&h, &(hot_options){0}, NULL) == FO_OK) {
            any = true;
            if (hot_queries_load(h, path, &why) != FO_OK) {
                remember(k, DROP_FILE, 0, below, NULL);
                tell(k, true, below, NULL, "%s", why.msg);
            }
            hot_queries_free(h);
        }
    }
    if (d && !any) {
        remember(k, DROP_FILE, 0, "hot", NULL);
        tell(k, true, "hot/default.hot", NULL, "it is gone: questions are counted anew");
    }
    if (d) closedir(d);
}

static void on_backup_page(void *ctx, const store_finding *f) {
    fo_err *first = ctx;
    if (first->code == FO_OK) fo_fail(first, FO_ECORRUPT, "%s", f->what);
}

static int check_backup(check *k, const char *dir, const char *name, fo_err *err) {
    char path[PATH], below[PATH];
    fo_err why = {0}, page = {0};
    if (!join(path, dir, name)) return FO_OK;
    snprintf(below, sizeof below, "backups/%s", name);
    bool whole = fo_ends_with(name, ".tar.zst");
    int rc = whole ? backup_check(path, &why) : store_backup_check(path, &why);
    if (!rc) return FO_OK;
    if (rc == FO_ENOMEM || rc == FO_EIO) {
        if (err) *err = why;
        return rc;
    }
    const store_backend *be = k->backend;
    int got =
        be->check_backup && !whole ? be->check_backup(path, on_backup_page, &page, err) : FO_OK;
    if (got != FO_OK) return got;
    if (rc == FO_ENOTFOUND && page.code == FO_OK) remember(k, SEAL_BACKUP, 0, below, NULL);
    tell(k, true, below, NULL, "%s%s%s", why.msg, page.code ? "; " : "", page.code ? page.msg : "");
    return FO_OK;
}

static int check_backups(check *k, fo_err *err) {
    char dir[PATH], path[PATH], below[PATH];
    DIR *d = join(dir, k->home, "backups") ? opendir(dir) : NULL;
    int rc = FO_OK;
    for (struct dirent *e; !rc && d && (e = readdir(d));) {
        if (is_dots(e->d_name)) continue;
        snprintf(below, sizeof below, "backups/%s", e->d_name);
        if (home_is_backup(e->d_name)) {
            rc = check_backup(k, dir, e->d_name, err);
        } else if (fo_ends_with(e->d_name, ".db.sha256")) {
            if (!join(path, dir, e->d_name)) continue;
            path[strlen(path) - strlen(".sha256")] = 0;
            if (access(path, F_OK) == 0) continue;
            remember(k, PUT_ASIDE, 0, below, NULL);
            tell(k, true, below, NULL, "the copy it belongs to is gone");
        } else {
            bool crash = strstr(e->d_name, ".tmp-") != NULL;
            if (!crash) remember(k, PUT_ASIDE, 0, below, NULL);
            tell(k, !crash, below, NULL, "%s",
                 crash ? "it was being written when a process ended" : "it is no backup");
        }
    }
    if (d) closedir(d);
    return rc;
}

static void check_top(check *k) {
    static const char *const known[] = {"lock",      "forage.conf", "index",    "kv",
                                        "hot",       "backups",     "tmp",      "keys",
                                        "audit.log", "audit.log.1", "originals"};
    DIR *d = opendir(k->home);
    for (struct dirent *e; d && (e = readdir(d));) {
        bool ours = is_dots(e->d_name);
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
            ours |= strcmp(e->d_name, known[i]) == 0;
        for (size_t i = 0; k->backend->files[i]; i++)
            ours |= strcmp(e->d_name, k->backend->files[i]) == 0;
        if (ours) continue;
        bool aside = strncmp(e->d_name, "lost-", 5) == 0 || fo_ends_with(e->d_name, ".bad");
        tell(k, false, e->d_name, NULL, "%s",
             aside ? "it was put aside" : "it is no file of Forage's");
    }
    if (d) closedir(d);
}

/* ---- the whole ----------------------------------------------------------------------------- */

/* The lock a server holds. -1 and in_use: somebody has it; -1 alone: it cannot be taken, as on a
 * file system that nobody may write to. */
static int lock_home(const char *home, bool *in_use) {
    char path[PATH];
    *in_use = false;
    if (!join(path, home, "lock")) return -1;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return -1;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0) return fd;
    *in_use = errno == EWOULDBLOCK;
    close(fd);
    return -1;
}

static int check_store(check *k, fo_err *err) {
    const store_backend *be = k->backend;
    int rc = FO_OK;
    if (!k->in_use && be->check_files) rc = be->check_files(k->home, on_file, k, err);
    if (rc) return rc;
    store *s;
    store_check_counts counts = {0};
    fo_err why = {0};
    store_options opt = {.read_only = true, .notices = {on_notice, k}};
    rc = store_open(&s, be, k->home, &opt, &why);
    if (rc == FO_EMISMATCH) { /* of an older or newer version, and no less sound for that */
        if (err) *err = why;
        return rc;
    }
    if (rc) { /* nothing more can be said about it */
        k->out.n_store_faults++;
        remember(k, NO_REMEDY, 0, NULL, NULL);
        tell(k, true, k->backend->file, NULL, "%s", why.msg);
        return FO_OK;
    }
    rc = store_check(s, on_store, k, &counts, &why);
    if (rc == FO_EUNSUPPORTED) {
        tell(k, false, be->file, NULL, "%s", why.msg);
        rc = FO_OK;
    } else if (rc && err) {
        *err = why;
    }
    k->out.n_documents = counts.n_documents;
    k->out.n_chunks = counts.n_chunks;
    if (!rc && counts.wants_rewrite) {
        remember(k, REWRITE, 0, NULL, NULL);
        tell(k, false, be->file, NULL, "%s", counts.wants_rewrite);
    }
    if (!rc) rc = check_collections(k, s, err);
    store_close(s);
    return rc;
}

static int verify(check *k, fo_err *err) {
    struct stat st;
    if (stat(k->home, &st) != 0 && errno == ENOENT) return home_must_exist(k->home, err);
    if (stat(k->home, &st) != 0) return fo_fail_errno(err, "cannot read %s", k->home);
    if (!S_ISDIR(st.st_mode)) return home_fail_file(k->home, err);
    fo_err why = {0};
    int rc = home_check_store(k->backend, k->home, &why);
    char path[PATH];
    if (!rc && join(path, k->home, k->backend->file) && access(path, F_OK) != 0)
        return fo_fail(err, FO_ENOTFOUND, "%s is no home: it holds no %s", k->home,
                       k->backend->file);
    if (rc) {
        k->out.n_store_faults++;
        remember(k, NO_REMEDY, 0, NULL, NULL);
        tell(k, true, k->backend->file, NULL, "%s", why.msg);
        rc = FO_OK;
    } else {
        rc = check_store(k, err);
    }
    if (k->only) return rc;
    if (!rc && !k->in_use) rc = check_kv(k, err);
    if (!rc && !k->in_use) check_hot(k);
    if (!rc) rc = check_backups(k, err);
    if (!rc) check_top(k);
    if (!rc && k->in_use)
        tell(k, false, NULL, NULL,
             "a server works on this home: files that it writes to were not looked at as they lie");
    return rc;
}

int home_verify(const char *home, const char *collection, const home_listener *to, home_report *out,
                fo_err *err) {
    check k = {.backend = home_backend(), .home = home, .only = collection, .to = to};
    int fd = lock_home(home, &k.in_use);
    k.out.in_use = k.in_use;
    int rc = verify(&k, err);
    if (!rc && k.failed) rc = fo_no_memory(err);
    for (size_t i = 0; i < k.n_rows; i++) k.out.repairable |= k.rows[i].remedy != NO_REMEDY;
    if (fd >= 0) close(fd);
    check_deinit(&k);
    if (out) *out = k.out;
    return rc;
}

/* ---- mending ------------------------------------------------------------------------------- */

static void done(const home_listener *to, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
static void done(const home_listener *to, const char *fmt, ...) {
    char what[800];
    va_list ap;
    va_start(ap, fmt);
    fo_utf8_vprint(what, sizeof what, fmt, ap);
    va_end(ap);
    if (to->repaired) to->repaired(to->ctx, what);
}

/* Through the open service: documents, pages, and that every index is opened and so filled up. */
static int touch_index(void *ctx, const char *tenant, const char *collection, search_index *ix,
                       fo_err *err) {
    (void)ctx, (void)tenant, (void)collection, (void)ix, (void)err;
    return FO_OK;
}

static int mend_store(check *k, service *s, fo_err *err) {
    int rc = service_each_index(s, NULL, NULL, touch_index, NULL, err);
    bool rewrite = false;
    for (size_t i = 0; !rc && i < k->n_rows; i++) {
        const remedy_row *r = &k->rows[i];
        rewrite |= r->remedy == REWRITE;
        if (r->remedy != MARK_DOCUMENT) continue;
        rc = store_mark_damaged(service_store(s), r->row, err);
        if (!rc)
            done(k->to,
                 "document '%s' cannot be mended: ingest it again, which replaces it now, "
                 "or delete it",
                 r->name);
    }
    if (!rc && rewrite) {
        rc = store_rewrite(service_store(s), err);
        if (!rc) done(k->to, "%s: written anew, every page with its checksum", k->backend->file);
    }
    return rc;
}

static void retell(void *ctx, const char *kind, const char *text) {
    if (strcmp(kind, "commit_unfinished") != 0) done(ctx, "%s", text);
}

/* Files first: what they hold must not be read again. */
static int mend_files(check *k, bool *loss, fo_err *err) {
    int rc = FO_OK;
    for (size_t i = 0; !rc && i < k->n_rows; i++) {
        const remedy_row *r = &k->rows[i];
        char path[PATH];
        const char *aside[2] = {r->path, NULL};
        if (!join(path, k->home, r->path)) continue;
        switch (r->remedy) {
        case BUILD_INDEX:
        case DROP_FILE:
            rc = fo_remove_tree(path, err);
            if (!rc && r->remedy == DROP_FILE) done(k->to, "%s: removed", r->path);
            break;
        case RENEW_KV:
            if (!join(path, k->home, "kv")) break;
            rc = kv_store_index_renew(path, err);
            if (!rc) done(k->to, "%s: made anew", r->path);
            break;
        case PUT_ASIDE:
            rc = home_put_aside(k->home, aside, err);
            if (!rc) done(k->to, "%s: put aside", r->path);
            break;
        case SEAL_BACKUP:
            rc = store_backup_seal(path, err);
            if (!rc) done(k->to, "%s: its checksum was written", r->path);
            break;
        case ACCEPT_LOSS: /* what of the log is whole still belongs to the database: a copy */
            *loss = true;
            if (k->backend->log && join(path, k->home, k->backend->log) && access(path, F_OK) == 0)
                rc = home_copy_aside(k->home, k->backend->log, err);
            break;
        default:
            break;
        }
    }
    return rc;
}

int home_repair(const service_options *opt, const home_listener *to, home_report *out,
                fo_err *err) {
    check k = {.backend = opt->store ? opt->store : home_backend(), .home = opt->home, .to = to};
    bool loss = false;
    int fd = lock_home(opt->home, &k.in_use);
    int rc = k.in_use ? fo_fail(err, FO_EBUSY, "a server works on %s: stop it first", opt->home)
                      : verify(&k, err);
    bool old = rc == FO_EMISMATCH; /* opening brings it up to date, or says why not */
    if (old) rc = FO_OK;
    if (!rc && k.failed) rc = fo_no_memory(err);
    if (!rc) rc = mend_files(&k, &loss, err);
    if (fd >= 0) close(fd);
    if (!rc && (k.n_rows || old)) {
        service_options with = *opt;
        with.read_only = false;
        with.accept_loss = loss;
        with.notices = (fo_notices){retell, (void *)(uintptr_t)to};
        service *s;
        rc = service_open(&s, &with, err);
        if (!rc) {
            if (old) done(to, "%s: brought up to this version", k.backend->file);
            rc = mend_store(&k, s, err);
            service_close(s);
        }
    }
    check_deinit(&k);
    if (out) *out = k.out;
    return rc;
}
