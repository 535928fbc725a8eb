/* See page_images.h. A copy: the document's content hash, SHA-256 of the bytes, the bytes. It is written to a name of its
 * own and renamed, and not synced: one that a power cut tore is seen by its checksum. */
#include "retrieval/collections/page_images.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kernels/file.h"
#include "kernels/hex.h"
#include "kernels/sha256.h"
#include "retrieval/collections/service_internal.h"

enum {
    HEAD = 64, /* bytes before those of the PDF */
    N_KEPT = 16,
    KEPT_BYTES = 2 << 20, /* an image of more is drawn each time */
    MAX_DRAWING = 2,
};
#define MAX_ORIGINAL_BYTES ((size_t)1 << 30)

typedef struct kept_image {
    int64_t collection_id;
    unsigned char version[32];
    uint32_t page; /* 0: an empty place */
    uint64_t used;
    char *png;
    size_t n;
} kept_image;

struct page_images {
    /* immutable */
    char *dir; /* HOME/originals */
    uint64_t most;
    pthread_mutex_t mu;
    /* guarded by mu */
    uint64_t bytes; /* of all copies */
    bool counted;   /* bytes is known */
    uint64_t clock;
    int n_drawing;
    kept_image kept[N_KEPT];
};

int page_images_create(page_images **out, const char *home, uint64_t most_bytes, fo_err *err) {
    page_images *p = calloc(1, sizeof *p);
    fo_buf dir = {0};
    fo_buf_printf(&dir, "%s/originals", home);
    if (!p || !(p->dir = fo_buf_take(&dir, NULL))) {
        fo_buf_free(&dir);
        free(p);
        return fo_no_memory(err);
    }
    p->most = most_bytes;
    pthread_mutex_init(&p->mu, NULL);
    *out = p;
    return FO_OK;
}

void page_images_free(page_images *p) {
    if (!p) return;
    for (int i = 0; i < N_KEPT; i++) free(p->kept[i].png);
    pthread_mutex_destroy(&p->mu);
    free(p->dir);
    free(p);
}

/* ---- the copies -------------------------------------------------------------------------------- */

#define MAKING                                                                                     \
    ".new" /* behind the name of a copy that is being written, or of one that is put aside */

/* id NULL: the collection's folder. Caller frees; NULL: no memory. */
static char *path_of(const page_images *p, int64_t collection_id, const char *id) {
    fo_buf b = {0};
    fo_buf_printf(&b, "%s/%lld", p->dir, (long long)collection_id);
    if (id) {
        unsigned char digest[32];
        char hex[65];
        fo_sha256_of(digest, id, strlen(id));
        fo_hex_write(hex, digest, 32);
        fo_buf_printf(&b, "/%s", hex);
    }
    return fo_buf_take(&b, NULL);
}

static uint64_t folder_bytes(const char *path, int depth) {
    uint64_t sum = 0;
    DIR *d = opendir(path);
    for (struct dirent *e; d && (e = readdir(d));) {
        struct stat st;
        if (e->d_name[0] == '.' || fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW)) continue;
        fo_buf below = {0};
        if (S_ISDIR(st.st_mode) && depth) fo_buf_printf(&below, "%s/%s", path, e->d_name);
        sum += below.data ? folder_bytes(below.data, depth - 1) : (uint64_t)st.st_size;
        fo_buf_free(&below);
    }
    if (d) closedir(d);
    return sum;
}

/* Under mu: before any copy goes, or it would be counted out twice. */
static void count_copies(page_images *p) {
    if (!p->counted) p->bytes = folder_bytes(p->dir, 1);
    p->counted = true;
}

/* Under mu: it counts this many bytes more, if there is room. */
static bool take_room(page_images *p, uint64_t n) {
    if (n > p->most || p->bytes > p->most - n) return false;
    p->bytes += n;
    return true;
}

static uint64_t size_of(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 ? (uint64_t)st.st_size : 0;
}

/* The name beside a copy's; caller frees. NULL: no memory. */
static char *making_of(const char *path) {
    fo_buf b = {0};
    fo_buf_printf(&b, "%s" MAKING, path);
    return fo_buf_take(&b, NULL);
}

static bool write_copy(const char *path, const char *making, const unsigned char version[32],
                       const void *bytes, size_t n) {
    unsigned char digest[32];
    fo_sha256_of(digest, bytes, n);
    int fd = open(making, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    bool ok = fd >= 0 && fo_write_all(fd, version, 32) && fo_write_all(fd, digest, 32) &&
              fo_write_all(fd, bytes, n);
    if (fd >= 0) close(fd);
    ok = ok && rename(making, path) == 0;
    if (!ok) unlink(making);
    return ok;
}

/* Under mu. */
static void drop(page_images *p, const char *path) {
    uint64_t n = size_of(path);
    if (unlink(path) == 0 && p->counted) p->bytes -= n < p->bytes ? n : p->bytes;
}

void page_images_keep(page_images *p, int64_t collection_id, const char *id,
                      const unsigned char version[32], const void *bytes, size_t n) {
    if (!page_image_has(bytes, n)) return;
    char *folder = path_of(p, collection_id, NULL), *path = path_of(p, collection_id, id);
    char *making = path ? making_of(path) : NULL;
    if (folder && making) {
        pthread_mutex_lock(&p->mu);
        count_copies(p);
        drop(p, path); /* of another version, whatever comes of this one */
        drop(p, making);
        if (take_room(p, HEAD + n) &&
            (fo_make_dirs(folder, NULL) || !write_copy(path, making, version, bytes, n)))
            p->bytes -= HEAD + n;
        pthread_mutex_unlock(&p->mu);
    }
    free(folder);
    free(path);
    free(making);
}

/* Calls fn under mu with the names of a copy and beside it. */
static void with_copy(page_images *p, int64_t collection_id, const char *id,
                      void (*fn)(page_images *p, const char *path, const char *making)) {
    char *path = path_of(p, collection_id, id), *making = path ? making_of(path) : NULL;
    if (making) {
        pthread_mutex_lock(&p->mu);
        fn(p, path, making);
        pthread_mutex_unlock(&p->mu);
    }
    free(path);
    free(making);
}

static void drop_both(page_images *p, const char *path, const char *making) {
    drop(p, path);
    drop(p, making); /* of a process that ended while it wrote one */
}

static void put_aside(page_images *p, const char *path, const char *making) {
    if (access(path, F_OK) != 0) return;
    drop(p, making);
    if (rename(path, making) != 0) drop(p, path);
}

/* Unless another one was kept meanwhile. */
static void take_back(page_images *p, const char *path, const char *making) {
    if (access(path, F_OK) == 0 || rename(making, path) != 0) drop(p, making);
}

static void drop_aside(page_images *p, const char *path, const char *making) {
    (void)path;
    drop(p, making);
}

void page_images_forget(page_images *p, int64_t collection_id, const char *id) {
    with_copy(p, collection_id, id, drop_both);
}

void page_images_put_aside(page_images *p, int64_t collection_id, const char *id) {
    with_copy(p, collection_id, id, put_aside);
}

void page_images_end_aside(page_images *p, int64_t collection_id, const char *id, bool back) {
    with_copy(p, collection_id, id, back ? take_back : drop_aside);
}

bool page_images_version(const page_images *p, int64_t collection_id, const char *id,
                         unsigned char version[32]) {
    char *path = path_of(p, collection_id, id);
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
    bool found = fd >= 0 && read(fd, version, 32) == 32;
    if (fd >= 0) close(fd);
    free(path);
    return found;
}

void page_images_forget_all(page_images *p, int64_t collection_id) {
    char *folder = path_of(p, collection_id, NULL);
    if (!folder) return;
    pthread_mutex_lock(&p->mu);
    fo_remove_tree(folder, NULL);
    p->counted = false;
    pthread_mutex_unlock(&p->mu);
    free(folder);
}

/* The id of the collection whose folder has this name; 0: it is no such folder. */
static int64_t collection_named(const char *name) {
    char *end;
    errno = 0;
    const long long id = strtoll(name, &end, 10);
    return *name < '1' || *name > '9' || *end || errno ? 0 : id;
}

static bool is_among(int64_t id, const int64_t *ids, size_t n) {
    while (n && ids[n - 1] != id) n--;
    return n > 0;
}

/* Copies that were never whole. */
static void forget_unfinished(page_images *p, int64_t collection_id) {
    char *folder = path_of(p, collection_id, NULL);
    DIR *d = folder ? opendir(folder) : NULL;
    pthread_mutex_lock(&p->mu);
    for (struct dirent *e; d && (e = readdir(d));) {
        const char *mark = strrchr(e->d_name, '.');
        if (mark && !strcmp(mark, MAKING) && unlinkat(dirfd(d), e->d_name, 0) == 0)
            p->counted = false;
    }
    pthread_mutex_unlock(&p->mu);
    if (d) closedir(d);
    free(folder);
}

void page_images_forget_others(page_images *p, const int64_t *ids, size_t n) {
    DIR *d = opendir(p->dir);
    for (struct dirent *e; d && (e = readdir(d));) {
        const int64_t id = collection_named(e->d_name);
        if (!id) continue;
        if (is_among(id, ids, n))
            forget_unfinished(p, id);
        else
            page_images_forget_all(p, id);
    }
    if (d) closedir(d);
}

/* The PDF of that version: *whole is freed by the caller, bytes begin at HEAD of it. */
static int read_copy(const page_images *p, int64_t collection_id, const char *id,
                     const unsigned char version[32], char **whole, size_t *n, fo_err *err) {
    unsigned char digest[32];
    char *path = path_of(p, collection_id, id);
    *whole = NULL;
    int rc = path ? fo_file_read(path, MAX_ORIGINAL_BYTES, whole, n, NULL) : fo_no_memory(err);
    free(path);
    if (rc == FO_ENOMEM) return fo_no_memory(err);
    bool ok = !rc && *n >= HEAD && !memcmp(*whole, version, 32);
    if (ok) fo_sha256_of(digest, *whole + HEAD, *n - HEAD);
    if (ok && !memcmp(*whole + 32, digest, 32)) return FO_OK;
    free(*whole);
    *whole = NULL;
    return fo_fail_field(err, FO_ENOTFOUND, "id",
                         "no image can be made of '%.200s': what it was made of is not kept", id);
}

/* ---- images ------------------------------------------------------------------------------------ */

/* By its collection, too: how soon an image comes tells nothing of what others have stored. */
static bool is_image_of(const kept_image *k, int64_t collection_id, const unsigned char version[32],
                        uint32_t page) {
    return k->page == page && k->collection_id == collection_id && !memcmp(k->version, version, 32);
}

/* Under mu: the image, if it is kept, or the place that was used longest ago. */
static kept_image *find_kept(page_images *p, int64_t collection_id, const unsigned char version[32],
                             uint32_t page) {
    kept_image *oldest = &p->kept[0];
    for (int i = 0; i < N_KEPT; i++) {
        kept_image *k = &p->kept[i];
        if (is_image_of(k, collection_id, version, page)) return k;
        if (k->used < oldest->used) oldest = k;
    }
    return oldest;
}

/* A copy of the kept image. False: there is none. */
static bool get_kept(page_images *p, int64_t collection_id, const unsigned char version[32],
                     uint32_t page, char **png, size_t *n) {
    pthread_mutex_lock(&p->mu);
    kept_image *k = find_kept(p, collection_id, version, page);
    bool found = is_image_of(k, collection_id, version, page);
    *png = found ? malloc(k->n) : NULL;
    if (*png) {
        memcpy(*png, k->png, *n = k->n);
        k->used = ++p->clock;
    }
    pthread_mutex_unlock(&p->mu);
    return *png != NULL;
}

static void put_kept(page_images *p, int64_t collection_id, const unsigned char version[32],
                     uint32_t page, const char *png, size_t n) {
    char *own = n <= KEPT_BYTES ? malloc(n) : NULL;
    if (!own) return;
    memcpy(own, png, n);
    pthread_mutex_lock(&p->mu);
    kept_image *k = find_kept(p, collection_id, version, page);
    free(k->png);
    *k = (kept_image){
        .collection_id = collection_id, .page = page, .used = ++p->clock, .png = own, .n = n};
    memcpy(k->version, version, 32);
    pthread_mutex_unlock(&p->mu);
}

int page_images_draw(page_images *p, struct extract_host *h, int64_t collection_id, const char *id,
                     const unsigned char version[32], uint32_t page, const atomic_bool *cancel,
                     char **png, size_t *n, fo_err *err) {
    if (get_kept(p, collection_id, version, page, png, n)) return FO_OK;
    pthread_mutex_lock(&p->mu);
    bool busy = p->n_drawing == MAX_DRAWING;
    if (!busy) p->n_drawing++;
    pthread_mutex_unlock(&p->mu);
    if (busy) return fo_fail(err, FO_EBUSY, "other pages are being drawn: try again");
    char *whole;
    size_t n_whole = 0;
    fo_buf image = {0};
    int rc = read_copy(p, collection_id, id, version, &whole, &n_whole, err);
    if (!rc) rc = page_image_draw(h, whole + HEAD, n_whole - HEAD, page, cancel, &image, err);
    free(whole);
    pthread_mutex_lock(&p->mu);
    p->n_drawing--;
    pthread_mutex_unlock(&p->mu);
    if (rc) {
        fo_buf_free(&image);
        return rc;
    }
    put_kept(p, collection_id, version, page, image.data, image.len);
    *png = fo_buf_take(&image, n);
    return *png ? FO_OK : fo_no_memory(err);
}

void service_settle_original(service *s, int64_t collection_id, const char *id) {
    unsigned char kept[32], stored[32];
    store_document d = {0};
    if (!page_images_version(s->page_images, collection_id, id, kept)) return;
    int rc = store_get_document(s->store, collection_id, id, false, &d, NULL);
    bool other =
        !rc && (!fo_hex_read(stored, 32, d.content_sha256) || memcmp(stored, kept, 32) != 0);
    store_document_deinit(&d);
    if (rc == FO_ENOTFOUND || other) page_images_forget(s->page_images, collection_id, id);
}

void service_forget_lost_originals(service *s) {
    store_collection *list = NULL;
    size_t n = 0;
    if (store_list_collections(s->store, NULL, &list, &n, NULL)) return;
    int64_t *ids = calloc(n + 1, sizeof *ids);
    for (size_t i = 0; i < n; i++) {
        if (ids) ids[i] = list[i].id;
        store_collection_deinit(&list[i]);
    }
    if (ids) page_images_forget_others(s->page_images, ids, n);
    free(ids);
    free(list);
}

int service_draw_page(service *s, const char *tenant, const char *name, const char *id,
                      const search_filter *sees, uint32_t page, const atomic_bool *cancel,
                      char **png, size_t *n, fo_err *err) {
    store_collection c = {0};
    store_document d = {0};
    unsigned char version[32];
    int rc = service_enter(s, err);
    if (rc) return rc;
    rc = catalog_get_document(&s->catalog, tenant, name, id, sees, false, &d, err);
    if (!rc) rc = catalog_get_collection(&s->catalog, tenant, name, &c, err);
    if (!rc && !fo_hex_read(version, 32, d.content_sha256))
        rc = fo_fail(err, FO_ECORRUPT, "document '%.200s' is damaged", id);
    if (!rc)
        rc = page_images_draw(s->page_images, s->extract_host, c.id, id, version, page, cancel, png,
                              n, err);
    store_document_deinit(&d);
    store_collection_deinit(&c);
    service_leave(s);
    return rc;
}
