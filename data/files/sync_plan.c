#include "data/files/sync_plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/order.h"
#include "kernels/paths.h"

enum { CANDIDATES = 256 }; /* of equal content that are looked at, for each file that moved */

bool sync_limit_read(sync_limit *out, const char *text) {
    char *end;
    errno = 0;
    long long n = strtoll(text, &end, 10);
    if (end == text || errno || n < 0 || *text < '0' || *text > '9') return false;
    bool share = *end == '%';
    if (end[share] || (share && n > 100)) return false;
    *out = (sync_limit){.share = share, .n = n};
    return true;
}

void sync_plan_deinit(sync_plan *p) {
    free(p->steps);
    *p = (sync_plan){0};
}

/* ---- both lists, side by side ------------------------------------------------------------ */

typedef struct pair {
    const folder_file *file;
    const sync_known *known;
    size_t at; /* of file */
} pair;

typedef struct merge {
    const folder_listing *found;
    const sync_known *known;
    size_t n, i, k;
} merge;

static bool next_pair(merge *m, pair *out) {
    bool files = m->i < m->found->n, rows = m->k < m->n;
    if (!files && !rows) return false;
    int order = !files ? 1 : !rows ? -1 : strcmp(m->found->files[m->i].path, m->known[m->k].path);
    *out = (pair){order <= 0 ? &m->found->files[m->i] : NULL, order >= 0 ? &m->known[m->k] : NULL,
                  m->i};
    m->i += order <= 0;
    m->k += order >= 0;
    return true;
}

bool sync_same_stat(const folder_file *f, const sync_known *k) {
    return k->mtime_ns && f->size == k->size && f->mtime_ns == k->mtime_ns &&
           f->ctime_ns == k->ctime_ns && f->inode == k->inode;
}

/* It has to be read and stored again whatever its content is. */
static bool must_put(const sync_known *k, const sync_options *opt) {
    return k->error ? opt->retry_failed : !k->held;
}

/* ---- of which files the content must be known -------------------------------------------- */

static int compare_sizes(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

int sync_plan_doubts(const folder_listing *found, const sync_known *known, size_t n,
                     const sync_options *opt, bool *doubt, fo_err *err) {
    int64_t *gone =
        malloc((n + 1) * sizeof *gone); /* sizes of files that are not where they were */
    size_t n_gone = 0;
    if (!gone) return fo_no_memory(err);
    pair p;
    for (merge m = {found, known, n, 0, 0}; next_pair(&m, &p);)
        if (!p.file && p.known->stored) gone[n_gone++] = p.known->size;
    if (n_gone) qsort(gone, n_gone, sizeof *gone, compare_sizes);
    for (merge m = {found, known, n, 0, 0}; next_pair(&m, &p);) {
        if (!p.file) continue;
        if (p.known && !must_put(p.known, opt))
            doubt[p.at] = p.file->size == p.known->size && !sync_same_stat(p.file, p.known);
        else /* what went may be this */
            doubt[p.at] =
                n_gone && bsearch(&p.file->size, gone, n_gone, sizeof *gone, compare_sizes);
    }
    free(gone);
    return FO_OK;
}

/* ---- the plan ---------------------------------------------------------------------------- */

/* Is path below one of these folders, or one of them? */
static bool is_unseen(char *const *folders, size_t n, const char *path) {
    if (!n) return false;
    char copy[4096], *at = copy;
    size_t len = strlen(path);
    if (len >= sizeof copy) return true; /* no listing tells of such a path */
    memcpy(copy, path, len + 1);
    for (;;) {
        if (bsearch(&at, folders, n, sizeof *folders, fo_order_strings)) return true;
        char *slash = strrchr(copy, '/');
        if (!*copy) return false;
        *(slash ? slash : copy) = 0;
    }
}

static int compare_content(const void *a, const void *b) {
    const sync_known *x = *(const sync_known *const *)a, *y = *(const sync_known *const *)b;
    int order = memcmp(x->sha256, y->sha256, 32);
    return order ? order : strcmp(x->path, y->path);
}

/* The one of gone[n] (in order of content; NULL where taken) that f may have been, or n. */
static size_t find_moved(const sync_known *const *gone, const bool *taken, size_t n,
                         const folder_file *f, const unsigned char sha256[32]) {
    size_t low = 0, high = n, best = n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (memcmp(gone[mid]->sha256, sha256, 32) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    int best_score = -1;
    for (size_t i = low, looked = 0; i < n && looked < CANDIDATES; i++) {
        if (memcmp(gone[i]->sha256, sha256, 32) != 0) break;
        if (taken[i] || gone[i]->size != f->size) continue;
        looked++;
        int score = 2 * (gone[i]->inode == f->inode) +
                    !strcmp(fo_base_name(gone[i]->path), fo_base_name(f->path));
        if (score > best_score) best = i, best_score = score;
    }
    return best;
}

static void add(sync_plan *p, enum sync_kind kind, const folder_file *f, const sync_known *k) {
    p->steps[p->n++] = (sync_step){.kind = kind, .file = f, .known = k};
}

static enum sync_kind kind_of(const folder_file *f, const sync_known *k, const sync_hash *hash,
                              const sync_options *opt) {
    if (must_put(k, opt) || f->size != k->size) return SYNC_PUT;
    if (sync_same_stat(f, k)) return k->error ? SYNC_FAILED : SYNC_UNCHANGED;
    if (!hash->known || memcmp(hash->sha256, k->sha256, 32) != 0) return SYNC_PUT;
    return k->error ? SYNC_FAILED : SYNC_NOTED;
}

static int compare_steps(const void *a, const void *b) {
    const sync_step *x = a, *y = b;
    if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
    return strcmp(x->file ? x->file->path : x->known->path,
                  y->file ? y->file->path : y->known->path);
}

/* SHA-256 of contents, to be looked through. */
typedef struct contents {
    unsigned char (*list)[32];
    size_t n;
} contents;

static int compare_hashes(const void *a, const void *b) {
    return memcmp(a, b, 32);
}

/* Nothing is known of the bytes of a file that could never be read. */
static bool is_hash(const unsigned char sha256[32]) {
    static const unsigned char none[32];
    return memcmp(sha256, none, sizeof none) != 0;
}

/* What is unknown is like nothing else that is. */
static void contents_add(contents *c, const unsigned char sha256[32]) {
    if (is_hash(sha256)) memcpy(c->list[c->n++], sha256, 32);
}

static void contents_sort(contents *c) {
    if (c->n) qsort(c->list, c->n, sizeof *c->list, compare_hashes);
}

static bool contents_have(const contents *c, const unsigned char sha256[32]) {
    return c->n && bsearch(sha256, c->list, c->n, sizeof *c->list, compare_hashes);
}

/* What is removed here, and stands there: which contents does the folder hold, as far as they are known? Of a file that
 * failed there is no document, and the old one of its content stays. */
static int mark_elsewhere(sync_plan *p, const folder_listing *found, const sync_hash *hashes,
                          fo_err *err) {
    contents held = {.list = malloc((found->n + 1) * sizeof *held.list)};
    contents failed = {.list = malloc((found->n + 1) * sizeof *failed.list)};
    int rc = held.list && failed.list ? FO_OK : fo_no_memory(err);
    for (size_t i = 0; i < p->n && !rc; i++) {
        const sync_step *s = &p->steps[i];
        const sync_hash *h = s->file ? &hashes[s->file - found->files] : NULL;
        if (s->kind == SYNC_FAILED && is_hash(s->known->sha256))
            contents_add(&failed, s->known->sha256);
        else if (h && h->known)
            contents_add(&held, h->sha256);
        else if (s->kind == SYNC_UNCHANGED)
            contents_add(&held, s->known->sha256);
    }
    contents_sort(&held);
    contents_sort(&failed);
    for (size_t i = 0; i < p->n && !rc; i++) {
        sync_step *s = &p->steps[i];
        if (s->kind != SYNC_REMOVED) continue;
        s->elsewhere = contents_have(&held, s->known->sha256);
        if (!s->elsewhere && contents_have(&failed, s->known->sha256)) s->kind = SYNC_KEPT;
    }
    free(held.list);
    free(failed.list);
    return rc;
}

/* None of the removals, where they are too many. */
static void hold_back(sync_plan *p, const folder_listing *found, size_t n_stored,
                      const sync_options *opt) {
    size_t n = 0;
    for (size_t i = 0; i < p->n; i++) {
        n += p->steps[i].kind == SYNC_REMOVED && !p->steps[i].elsewhere;
        n_stored -= p->steps[i].elsewhere;
    }
    const sync_limit *l = &opt->limit;
    int64_t most = l->share ? (int64_t)((double)n_stored * (double)l->n / 100) : l->n;
    if (l->share && most < l->at_least) most = l->at_least;
    if (n && !found->n)
        fo_fail(&p->withheld, FO_ECONFLICT,
                "the folder holds no file to take in, though %zu documents came from it: nothing "
                "is removed; if they are to go, 'forage delete --source' deletes them by its name",
                n_stored);
    else if (l->n >= 0 && (int64_t)n > most)
        fo_fail(&p->withheld, FO_ECONFLICT,
                "%zu of %zu documents would be removed and %lld may: nothing is removed; if the "
                "files are meant to be gone, --max-deletes %zu allows it (max_deletes over HTTP)",
                n, n_stored, (long long)most, n);
    for (size_t i = 0; i < p->n && p->withheld.code; i++)
        if (p->steps[i].kind == SYNC_REMOVED && !p->steps[i].elsewhere)
            p->steps[i].kind = SYNC_WITHHELD;
}

int sync_plan_make(sync_plan *out, const folder_listing *found, const sync_hash *hashes,
                   const sync_known *known, size_t n, const sync_options *opt, fo_err *err) {
    *out = (sync_plan){.steps = malloc((found->n + n + 1) * sizeof *out->steps)};
    const sync_known **gone = malloc((n + 1) * sizeof *gone);
    bool *taken = calloc(n + 1, sizeof *taken);
    char **unseen = malloc((found->n_unseen + 1) * sizeof *unseen);
    size_t n_gone = 0, n_stored = 0;
    pair p;
    if (!out->steps || !gone || !taken || !unseen) {
        free(gone);
        free(taken);
        free(unseen);
        sync_plan_deinit(out);
        return fo_no_memory(err);
    }
    for (size_t i = 0; i < found->n_unseen; i++) unseen[i] = found->unseen[i];
    if (found->n_unseen) qsort(unseen, found->n_unseen, sizeof *unseen, fo_order_strings);
    for (size_t i = 0; i < n; i++) n_stored += known[i].stored;
    for (merge m = {found, known, n, 0, 0}; next_pair(&m, &p);) {
        if (p.file) continue;
        if (is_unseen(unseen, found->n_unseen, p.known->path))
            add(out, SYNC_KEPT, NULL, p.known);
        else
            gone[n_gone++] = p.known;
    }
    if (n_gone) qsort(gone, n_gone, sizeof *gone, compare_content);
    for (merge m = {found, known, n, 0, 0}; next_pair(&m, &p);) {
        if (!p.file) continue;
        const sync_hash *h = &hashes[p.at];
        if (p.known) {
            add(out, kind_of(p.file, p.known, h, opt), p.file, p.known);
            continue;
        }
        size_t from = h->known ? find_moved(gone, taken, n_gone, p.file, h->sha256) : n_gone;
        bool moved = from < n_gone && gone[from]->held && !gone[from]->error;
        if (moved) taken[from] = true;
        add(out, moved ? SYNC_MOVED : SYNC_PUT, p.file, moved ? gone[from] : NULL);
    }
    for (size_t i = 0; i < n_gone; i++)
        if (!taken[i]) add(out, gone[i]->stored ? SYNC_REMOVED : SYNC_FORGOTTEN, NULL, gone[i]);
    int rc = mark_elsewhere(out, found, hashes, err);
    hold_back(out, found, n_stored, opt);
    for (size_t i = 0; i < out->n; i++) out->count[out->steps[i].kind]++;
    if (out->n) qsort(out->steps, out->n, sizeof *out->steps, compare_steps);
    free(gone);
    free(taken);
    free(unseen);
    if (rc) sync_plan_deinit(out);
    return rc;
}
