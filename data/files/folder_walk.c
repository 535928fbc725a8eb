#include "data/files/folder_walk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "data/files/ignore_rules.h"
#include "kernels/buf.h"
#include "kernels/order.h"
#include "kernels/paths.h"

void folder_listing_deinit(folder_listing *l) {
    for (size_t i = 0; i < l->n; i++) free(l->files[i].path);
    for (size_t i = 0; i < l->n_unseen; i++) free(l->unseen[i]);
    free(l->files);
    free(l->unseen);
    *l = (folder_listing){0};
}

int64_t folder_time_ns(const struct timespec *t) {
    return (int64_t)t->tv_sec * 1000000000 + t->tv_nsec;
}

/* ---- files ------------------------------------------------------------------------------- */

int folder_open(const char *path, fo_err *err) {
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) return fd;
    if (errno == ENOTDIR) return fo_fail(err, FO_EINVAL, "%.400s is no folder", path);
    return fo_fail_errno(err, "cannot open the folder %.400s", path);
}

int folder_open_file(int folder, const char *path, struct stat *st, fo_err *err) {
    int at = folder;
    for (const char *p = path;;) {
        size_t n = strcspn(p, "/");
        char name[256];
        bool last = !p[n];
        if (!n || n >= sizeof name) {
            errno = n ? ENAMETOOLONG : ENOENT;
        } else {
            memcpy(name, p, n);
            name[n] = 0;
            int fd =
                openat(at, name,
                       O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | (last ? 0 : O_DIRECTORY));
            int why = errno;
            if (at != folder) close(at);
            at = fd;
            errno = why;
        }
        if (!n || n >= sizeof name || at < 0) {
            if (at >= 0 && at != folder) close(at);
            if (errno == ELOOP) return fo_fail(err, FO_EIO, "cannot open it: it has become a link");
            return fo_fail_errno(err, "cannot open it");
        }
        if (last) break;
        p += n + 1;
    }
    if (fstat(at, st) == 0 && S_ISREG(st->st_mode)) return at;
    close(at);
    return fo_fail(err, FO_EIO, "it is no file");
}

int folder_read_file(int folder, const char *path, int64_t max_bytes, char **data, size_t *n,
                     struct stat *st, fo_err *err) {
    int fd = folder_open_file(folder, path, st, err);
    if (fd < 0) return fd;
    int rc = FO_OK;
    fo_buf b = {0};
    struct stat after;
    size_t most = max_bytes > 0 ? (size_t)max_bytes : SIZE_MAX;
    if (st->st_size > 0 && (uint64_t)st->st_size < most)
        fo_buf_reserve(&b, (size_t)st->st_size + 1);
    while (!rc && !b.failed) {
        if (!fo_buf_reserve(&b, 64 << 10)) break;
        ssize_t got = read(fd, b.data + b.len, b.cap - b.len - 1);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) rc = fo_fail_errno(err, "cannot read it");
        if (got <= 0) break;
        b.len += (size_t)got;
        if (b.len > most)
            rc = fo_fail(err, FO_ELIMIT, "it is larger than the %lld bytes that a file may have",
                         (long long)max_bytes);
    }
    if (!rc && b.failed) rc = fo_no_memory(err);
    if (!rc && fstat(fd, &after) != 0) rc = fo_fail_errno(err, "cannot read it");
    close(fd);
    if (rc) {
        fo_buf_free(&b);
        return rc;
    }
    b.data[b.len] = 0;
    if ((uint64_t)after.st_size != b.len || after.st_size != st->st_size ||
        folder_time_ns(&after.st_mtim) != folder_time_ns(&st->st_mtim))
        after.st_mtim = (struct timespec){0};
    *st = after;
    *data = fo_buf_take(&b, n);
    return FO_OK;
}

/* ---- the walk ---------------------------------------------------------------------------- */

typedef struct walk {
    const folder_walk *w;
    folder_listing *out;
    fo_buf path; /* of what is looked at, below the folder */
} walk;

static int unseen(walk *k, const fo_err *why, fo_err *err) {
    const char *path = k->path.data ? k->path.data : "";
    if (k->w->failed) k->w->failed(k->w->ctx, path, why);
    char **more = realloc(k->out->unseen, (k->out->n_unseen + 1) * sizeof *more);
    if (!more) return fo_no_memory(err);
    k->out->unseen = more;
    if (!(more[k->out->n_unseen] = strdup(path))) return fo_no_memory(err);
    k->out->n_unseen++;
    return FO_OK;
}

static int add_file(walk *k, const struct stat *st, fo_err *err) {
    folder_listing *l = k->out;
    if (l->n == l->cap) {
        size_t cap = l->cap ? l->cap * 2 : 256;
        folder_file *more = realloc(l->files, cap * sizeof *more);
        if (!more) return fo_no_memory(err);
        l->files = more;
        l->cap = cap;
    }
    char *path = strdup(k->path.data);
    if (!path) return fo_no_memory(err);
    l->files[l->n++] = (folder_file){.path = path,
                                     .size = st->st_size,
                                     .mtime_ns = folder_time_ns(&st->st_mtim),
                                     .ctime_ns = folder_time_ns(&st->st_ctim),
                                     .inode = (uint64_t)st->st_ino};
    return FO_OK;
}

/* Rules of one file, if it is there; as for git, a link or a folder of that name has none. An error: they are not known,
 * and so nothing that lies here. */
static int add_rules(int fd, const char *name, ignore_rules *to, fo_err *err) {
    struct stat st;
    char *text;
    size_t n;
    if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(st.st_mode)) return FO_OK;
    int rc = folder_read_file(fd, name, FOLDER_RULES_MAX_BYTES, &text, &n, &st, err);
    if (rc) return fo_fail_prefix(err, "%s", name);
    rc = ignore_rules_add(to, text, n, err);
    free(text);
    return rc;
}

static void free_names(char **names, size_t n) {
    for (size_t i = 0; i < n; i++) free(names[i]);
    free(names);
}

/* Takes fd. Names in byte order; rc of what cannot be read in *why. */
static int read_names(int fd, char ***names, size_t *n, fo_err *why, fo_err *err) {
    *names = NULL;
    *n = 0;
    DIR *d = fdopendir(fd);
    if (!d) {
        close(fd);
        return fo_no_memory(err);
    }
    int rc = FO_OK;
    for (;;) {
        errno = 0;
        struct dirent *e = readdir(d);
        if (!e) break;
        if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..")) continue;
        if ((*n & (*n - 1)) == 0) { /* 0, 1, 2, 4, ...: it is full */
            char **more = realloc(*names, (*n ? *n * 2 : 1) * sizeof *more);
            if (!more) {
                rc = fo_no_memory(err);
                break;
            }
            *names = more;
        }
        if (!((*names)[*n] = strdup(e->d_name))) {
            rc = fo_no_memory(err);
            break;
        }
        ++*n;
    }
    if (!rc && errno) fo_fail_errno(why, "cannot read the folder");
    closedir(d);
    if (*n) qsort(*names, *n, sizeof **names, fo_order_strings);
    return rc;
}

/* What machines write for machines, though its ending is that of a document: indexes that a page searches in, lists of words,
 * packed scripts, versions that were locked. */
static bool is_machine_made(const char *name) {
    static const char *const names[] = {
        "searchindex.js",   "search_index.json", "genindex.html",     "genindex-all.html",
        "py-modindex.html", "search.html",       "package-lock.json", "npm-shrinkwrap.json",
        "yarn.lock",        "pnpm-lock.yaml",    "composer.lock",     "poetry.lock",
        "Cargo.lock",       "Gemfile.lock",      "Pipfile.lock",      "go.sum"};
    static const char *const ends[] = {".min.js", ".min.css", ".min.mjs", ".js.map", ".css.map"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(name, names[i])) return true;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (fo_ends_with(name, ends[i])) return true;
    return !strncmp(name, "genindex-", 9) && fo_ends_with(name, ".html");
}

static int walk_folder(walk *k, int fd, const ignore_rules *above, int depth, fo_err *err);

/* What k->path names, `name` in the folder fd. */
static int walk_entry(walk *k, int fd, const char *name, const ignore_rules *rules, int depth,
                      fo_err *err) {
    struct stat st;
    skip_counts *skipped = &k->out->skipped;
    fo_err why = {0};
    if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0) {
        if (errno == ENOENT) return FO_OK; /* it went meanwhile */
        fo_fail_errno(&why, "cannot open it");
        return unseen(k, &why, err);
    }
    bool folder = S_ISDIR(st.st_mode);
    enum ignore_verdict v = ignore_rules_judge(rules, k->path.data, folder);
    const char *kind = !strcmp(name, ".git")                          ? "hidden"
                       : v == IGNORE_OUT                              ? "ignored"
                       : v == IGNORE_IN                               ? NULL
                       : *name == '.'                                 ? "hidden"
                       : folder && !strcmp(name, "node_modules")      ? "node_modules"
                       : S_ISREG(st.st_mode) && is_machine_made(name) ? "machine-made"
                                                                      : NULL;
    const struct stat *except = k->w->except;
    if (folder && except && st.st_dev == except->st_dev && st.st_ino == except->st_ino)
        kind = "home";
    if (!kind && S_ISLNK(st.st_mode)) kind = "link";
    if (!kind && !folder && !S_ISREG(st.st_mode)) kind = "no file"; /* a socket, a pipe, a device */
    if (kind) return skip_counts_add(skipped, kind), FO_OK;
    if (folder) {
        int below =
            depth < FOLDER_DEPTH_MAX
                ? openat(fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
                : fo_fail(&why, FO_ELIMIT, "nested deeper than %d folders", FOLDER_DEPTH_MAX);
        if (below >= 0) return walk_folder(k, below, rules, depth + 1, err);
        if (!why.code) fo_fail_errno(&why, "cannot open the folder");
        return unseen(k, &why, err);
    }
    int wanted = k->w->wanted ? k->w->wanted(name) : 1;
    if (!wanted) return skip_counts_add_file(skipped, name), FO_OK;
    int64_t most = wanted == 2 ? 0 : k->w->max_file_bytes;
    kind = !st.st_size ? "empty" : most && st.st_size > most ? "too large" : NULL;
    if (!kind) return add_file(k, &st, err);
    skip_counts_add(skipped, kind);
    if (k->w->left_out) k->w->left_out(k->w->ctx, k->path.data, kind, st.st_size);
    return FO_OK;
}

/* Asked before each entry: rules can be such that a long name takes its time, and a folder may hold very many. */
static int go_on(const walk *k, fo_err *err) {
    if (!k->w->cancel || !atomic_load(k->w->cancel)) return FO_OK;
    return fo_fail(err, FO_ECANCELLED, "cancelled");
}

/* The folder that k->path names; takes fd. */
static int walk_folder(walk *k, int fd, const ignore_rules *above, int depth, fo_err *err) {
    ignore_rules *rules = NULL;
    char **names = NULL;
    size_t n = 0, len = k->path.len;
    fo_err why = {0};
    int rc = go_on(k, err);
    if (!rc) rc = ignore_rules_create(&rules, above, len ? k->path.data : "", err);
    int copy = rc ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0); /* readdir takes one */
    if (!rc && copy < 0) rc = fo_fail_errno(err, "cannot open the folder");
    if (!rc && k->w->entering) k->w->entering(k->w->ctx, len ? k->path.data : "");
    if (!rc) rc = read_names(copy, &names, &n, &why, err);
    if (!rc && !why.code && !add_rules(fd, ".gitignore", rules, &why))
        add_rules(fd, ".forageignore", rules, &why);
    if (!rc && why.code) rc = unseen(k, &why, err);
    for (size_t i = 0; i < n && !rc && !why.code; i++) {
        if (len) fo_buf_char(&k->path, '/');
        fo_buf_str(&k->path, names[i]);
        rc = k->path.failed ? fo_no_memory(err) : go_on(k, err);
        if (!rc) rc = walk_entry(k, fd, names[i], rules, depth, err);
        k->path.len = len;
        if (k->path.data) k->path.data[len] = 0;
    }
    free_names(names, n);
    ignore_rules_free(rules);
    close(fd);
    return rc;
}

static int compare_files(const void *a, const void *b) {
    return strcmp(((const folder_file *)a)->path, ((const folder_file *)b)->path);
}

int folder_walk_run(const folder_walk *w, int folder, folder_listing *out, fo_err *err) {
    *out = (folder_listing){0};
    walk k = {.w = w, .out = out};
    int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC); /* read from its begin */
    if (fd < 0) return fo_fail_errno(err, "cannot open the folder");
    int rc = walk_folder(&k, fd, NULL, 0, err);
    fo_buf_free(&k.path);
    if (out->n) qsort(out->files, out->n, sizeof *out->files, compare_files);
    return rc;
}
