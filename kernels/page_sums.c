#include "kernels/page_sums.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { OP_BEGIN = 0x464f5042, OP_ON = 0x464f5051 }; /* file controls of our own */

typedef struct sums_vfs {
    sqlite3_vfs vfs;
    sqlite3_vfs *real;
    struct sums_vfs *next;
    char name[64];
} sums_vfs;

/* A main database file; every other file is the real VFS's own. The real one lies behind it. */
typedef struct sums_file {
    sqlite3_file base;
    sqlite3_file *real;
    bool on;
    unsigned char *copy; /* of a page on its way out */
    int n_copy;
} sums_file;

static pthread_mutex_t list_mu = PTHREAD_MUTEX_INITIALIZER;
static sums_vfs *list; /* guarded by list_mu; entries stay */
static _Thread_local int64_t failed;

static const unsigned char mark[4] = {'P', 'S', 'U', 'M'};

static void sum_of(const unsigned char *page, size_t n, int64_t number, unsigned char out[8]) {
    uint32_t k = (uint32_t)number;
    uint32_t crc = (uint32_t)crc32_z(0, (const void *)&k, sizeof k);
    crc = (uint32_t)crc32_z(crc, page, n - FO_PAGE_SUM_BYTES);
    memcpy(out, &crc, 4);
    memcpy(out + 4, mark, 4);
}

bool fo_page_sum_good(const unsigned char *page, size_t n, int64_t number) {
    unsigned char want[FO_PAGE_SUM_BYTES];
    if (n < 512) return false;
    sum_of(page, n, number, want);
    return memcmp(page + n - sizeof want, want, sizeof want) == 0;
}

int64_t fo_page_sums_failed(void) {
    return failed;
}

/* ---- a file ------------------------------------------------------------------------------ */

#define REAL(f) (((sums_file *)(f))->real)

static bool is_page(int n, sqlite3_int64 at) {
    return n >= 512 && (n & (n - 1)) == 0 && at % n == 0;
}

/* The database header tells whether its pages carry sums. */
static void look_at_header(sums_file *f, const unsigned char *p, int n, sqlite3_int64 at) {
    if (at == 0 && n >= 100 && memcmp(p, "SQLite format 3", 16) == 0)
        f->on = p[20] == FO_PAGE_SUM_BYTES;
}

static int f_close(sqlite3_file *f) {
    free(((sums_file *)f)->copy);
    return REAL(f)->pMethods->xClose(REAL(f));
}

static int f_read(sqlite3_file *f, void *p, int n, sqlite3_int64 at) {
    int rc = REAL(f)->pMethods->xRead(REAL(f), p, n, at);
    if (rc != SQLITE_OK) return rc;
    look_at_header((sums_file *)f, p, n, at);
    if (!((sums_file *)f)->on || !is_page(n, at)) return rc;
    if (fo_page_sum_good(p, (size_t)n, at / n + 1)) return rc;
    failed = at / n + 1;
    return SQLITE_IOERR_DATA;
}

static int f_write(sqlite3_file *file, const void *p, int n, sqlite3_int64 at) {
    sums_file *f = (sums_file *)file;
    look_at_header(f, p, n, at);
    if (!f->on || !is_page(n, at)) return f->real->pMethods->xWrite(f->real, p, n, at);
    if (f->n_copy < n) {
        free(f->copy);
        f->copy = malloc((size_t)n);
        f->n_copy = f->copy ? n : 0;
        if (!f->copy) return SQLITE_IOERR_NOMEM;
    }
    memcpy(f->copy, p, (size_t)n);
    sum_of(f->copy, (size_t)n, at / n + 1, f->copy + n - FO_PAGE_SUM_BYTES);
    return f->real->pMethods->xWrite(f->real, f->copy, n, at);
}

static int f_truncate(sqlite3_file *f, sqlite3_int64 size) {
    return REAL(f)->pMethods->xTruncate(REAL(f), size);
}
static int f_sync(sqlite3_file *f, int flags) {
    return REAL(f)->pMethods->xSync(REAL(f), flags);
}
static int f_size(sqlite3_file *f, sqlite3_int64 *size) {
    return REAL(f)->pMethods->xFileSize(REAL(f), size);
}
static int f_lock(sqlite3_file *f, int level) {
    return REAL(f)->pMethods->xLock(REAL(f), level);
}
static int f_unlock(sqlite3_file *f, int level) {
    return REAL(f)->pMethods->xUnlock(REAL(f), level);
}
static int f_reserved(sqlite3_file *f, int *out) {
    return REAL(f)->pMethods->xCheckReservedLock(REAL(f), out);
}
static int f_control(sqlite3_file *f, int op, void *arg) {
    if (op == OP_BEGIN) {
        ((sums_file *)f)->on = true;
        return SQLITE_OK;
    }
    if (op == OP_ON) {
        *(bool *)arg = ((sums_file *)f)->on;
        return SQLITE_OK;
    }
    return REAL(f)->pMethods->xFileControl(REAL(f), op, arg);
}
static int f_sector(sqlite3_file *f) {
    return REAL(f)->pMethods->xSectorSize(REAL(f));
}
static int f_traits(sqlite3_file *f) {
    return REAL(f)->pMethods->xDeviceCharacteristics(REAL(f));
}
static int f_shm_map(sqlite3_file *f, int page, int size, int extend, void volatile **out) {
    return REAL(f)->pMethods->xShmMap(REAL(f), page, size, extend, out);
}
static int f_shm_lock(sqlite3_file *f, int at, int n, int flags) {
    return REAL(f)->pMethods->xShmLock(REAL(f), at, n, flags);
}
static void f_shm_barrier(sqlite3_file *f) {
    REAL(f)->pMethods->xShmBarrier(REAL(f));
}
static int f_shm_unmap(sqlite3_file *f, int drop) {
    return REAL(f)->pMethods->xShmUnmap(REAL(f), drop);
}

/* Version 2: shared memory for the WAL, no mapping of pages past the check. */
static const sqlite3_io_methods methods = {
    2,          f_close,       f_read,      f_write,   f_truncate, f_sync,   f_size,
    f_lock,     f_unlock,      f_reserved,  f_control, f_sector,   f_traits, f_shm_map,
    f_shm_lock, f_shm_barrier, f_shm_unmap, NULL,      NULL,
};

/* ---- the VFS ----------------------------------------------------------------------------- */

#define VFS(v) (((sums_vfs *)(v))->real)

static int v_open(sqlite3_vfs *v, const char *path, sqlite3_file *out, int flags, int *got) {
    if (!(flags & SQLITE_OPEN_MAIN_DB)) return VFS(v)->xOpen(VFS(v), path, out, flags, got);
    sums_file *f = (sums_file *)out;
    memset(f, 0, (size_t)v->szOsFile);
    f->real = (sqlite3_file *)(f + 1);
    int rc = VFS(v)->xOpen(VFS(v), path, f->real, flags, got);
    if (rc == SQLITE_OK && f->real->pMethods->iVersion < 2) {
        f->real->pMethods->xClose(f->real);
        return SQLITE_CANTOPEN;
    }
    if (rc == SQLITE_OK) f->base.pMethods = &methods;
    return rc;
}
static int v_delete(sqlite3_vfs *v, const char *path, int sync_dir) {
    return VFS(v)->xDelete(VFS(v), path, sync_dir);
}
static int v_access(sqlite3_vfs *v, const char *path, int flags, int *out) {
    return VFS(v)->xAccess(VFS(v), path, flags, out);
}
static int v_full_path(sqlite3_vfs *v, const char *path, int n, char *out) {
    return VFS(v)->xFullPathname(VFS(v), path, n, out);
}
static int v_randomness(sqlite3_vfs *v, int n, char *out) {
    return VFS(v)->xRandomness(VFS(v), n, out);
}
static int v_sleep(sqlite3_vfs *v, int us) {
    return VFS(v)->xSleep(VFS(v), us);
}
static int v_time(sqlite3_vfs *v, double *out) {
    return VFS(v)->xCurrentTime(VFS(v), out);
}
static int v_last_error(sqlite3_vfs *v, int n, char *out) {
    return VFS(v)->xGetLastError(VFS(v), n, out);
}

static sums_vfs *make(const char *base) {
    sqlite3_vfs *real = sqlite3_vfs_find(base);
    sums_vfs *v = real ? calloc(1, sizeof *v) : NULL;
    if (!v) return NULL;
    snprintf(v->name, sizeof v->name, "forage-%.50s", real->zName);
    v->real = real;
    v->vfs = (sqlite3_vfs){.iVersion = 1,
                           .szOsFile = (int)sizeof(sums_file) + real->szOsFile,
                           .mxPathname = real->mxPathname,
                           .zName = v->name,
                           .xOpen = v_open,
                           .xDelete = v_delete,
                           .xAccess = v_access,
                           .xFullPathname = v_full_path,
                           .xRandomness = v_randomness,
                           .xSleep = v_sleep,
                           .xCurrentTime = v_time,
                           .xGetLastError = v_last_error};
    if (sqlite3_vfs_register(&v->vfs, 0) == SQLITE_OK) return v;
    free(v);
    return NULL;
}

const char *fo_page_sums_vfs(const char *base) {
    pthread_mutex_lock(&list_mu);
    sums_vfs *v = list;
    while (v && base && strcmp(v->real->zName, base) != 0) v = v->next;
    while (v && !base && v->real != sqlite3_vfs_find(NULL)) v = v->next;
    if (!v && (v = make(base))) {
        v->next = list;
        list = v;
    }
    pthread_mutex_unlock(&list_mu);
    return v ? v->name : NULL;
}

void fo_page_sums_reserve(sqlite3 *db) {
    int n = FO_PAGE_SUM_BYTES;
    sqlite3_file_control(db, "main", SQLITE_FCNTL_RESERVE_BYTES, &n);
}

void fo_page_sums_begin(sqlite3 *db) {
    sqlite3_file_control(db, "main", OP_BEGIN, NULL);
}

char *fo_sqlite_unchanging(const char *path) {
    char *uri = malloc(3 * strlen(path) + 32), *to = uri;
    if (!uri) return NULL;
    /* Behind "file:" two slashes begin a host's name, and a path may begin with two. */
    to += sprintf(to, *path == '/' ? "file://" : "file:");
    for (const unsigned char *p = (const unsigned char *)path; *p; p++) {
        if (*p == '%' || *p == '?' || *p == '#')
            to += sprintf(to, "%%%02x", *p);
        else
            *to++ = (char)*p;
    }
    strcpy(to, "?immutable=1");
    return uri;
}

bool fo_page_sums_on(sqlite3 *db) {
    bool on = false;
    return sqlite3_exec(db, "SELECT 1 FROM sqlite_schema LIMIT 1", NULL, NULL, NULL) == SQLITE_OK &&
           sqlite3_file_control(db, "main", OP_ON, &on) == SQLITE_OK && on;
}
