/* interpose.h - between the service and the machine: every call that takes memory, writes, syncs, renames,
 * maps or starts a thread passes here and may be made to fail, or is noted down.
 *
 * Calls of Forage's own code come by the linker's --wrap (the Makefile names them), those of SQLite by its
 * tables of functions (memory, and a VFS over the system's), cJSON's by its hooks. One includer a program.
 *
 *     interpose_sqlite();                       // before anything opens a database
 *     faults = (struct faults){.kind = CALL_FSYNC, .n = 7};   // the 7th from here fails
 *     interpose_note = note;                    // NULL: nothing is noted
 */
#ifndef FORAGE_TESTS_TRIALS_INTERPOSE_H
#define FORAGE_TESTS_TRIALS_INTERPOSE_H

#include <cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum call {
    CALL_NONE,
    CALL_MALLOC,
    CALL_OPEN,
    CALL_READ,
    CALL_WRITE,
    CALL_FSYNC,
    CALL_TRUNCATE,
    CALL_RENAME,
    CALL_UNLINK,
    CALL_MKDIR,
    CALL_MMAP,
    CALL_THREAD,
    N_CALLS
};
static const char *const call_names[N_CALLS] = {"",       "malloc", "open",      "read",
                                                "write",  "fsync",  "ftruncate", "rename",
                                                "unlink", "mkdir",  "mmap",      "pthread_create"};

static struct faults {
    enum call kind;
    bool on;    /* every one from the n-th on, not that one alone */
    long n;     /* from 1 */
    int number; /* errno; 0: the kind's own */
} faults;
static atomic_long calls_made[N_CALLS];
static atomic_long faults_made;
static void (*on_call)(enum call kind, long n); /* of each call; NULL: nobody asks */

/* Does this call fail? errno is set. */
static bool fails(enum call kind) {
    static const int numbers[N_CALLS] = {0,   ENOMEM, EMFILE, EIO, ENOSPC, EIO,
                                         EIO, EIO,    EIO,    EIO, ENOMEM, EAGAIN};
    long n = atomic_fetch_add(&calls_made[kind], 1) + 1;
    if (on_call) on_call(kind, n);
    if (faults.kind != kind || (faults.on ? n < faults.n : n != faults.n)) return false;
    atomic_fetch_add(&faults_made, 1);
    errno = faults.number ? faults.number : numbers[kind];
    return true;
}

/* ---- what is noted ------------------------------------------------------------------------- */

enum note {
    NOTE_MAKE,
    NOTE_WRITE,
    NOTE_TRUNCATE,
    NOTE_SYNC,
    NOTE_SYNC_DIR,
    NOTE_RENAME,
    NOTE_UNLINK
};
/* file: the number that the file of that path has (interpose_file). Called under a lock. */
static void (*interpose_note)(enum note what, int file, const char *path, const char *to,
                              uint64_t at, const void *data, size_t n);

enum { NOTED_FILES = 100000, NOTED_FDS = 4096, NOTED_PATH = 400 };
static pthread_mutex_t note_mu = PTHREAD_MUTEX_INITIALIZER;
static struct {
    char path[NOTED_PATH];
    int file;
} names[NOTED_FILES]; /* guarded by note_mu: what lies where now; "" is free */
static int n_names, n_files;
static struct {
    int file; /* 0: not noted */
    bool folder;
    char path[NOTED_PATH];
} fds[NOTED_FDS]; /* guarded by note_mu */

static int find_name(const char *path) {
    for (int i = 0; i < n_names; i++)
        if (strcmp(names[i].path, path) == 0) return i;
    return -1;
}

/* The number of the file at a path; a new one (and a note) where there is none. note_mu held. */
static int file_at(const char *path) {
    int i = find_name(path);
    if (i >= 0) return names[i].file;
    for (i = 0; i < n_names && names[i].path[0]; i++) {
    }
    if (i == n_names) n_names++;
    snprintf(names[i].path, NOTED_PATH, "%s", path);
    names[i].file = ++n_files;
    interpose_note(NOTE_MAKE, n_files, path, NULL, 0, NULL, 0);
    return n_files;
}

static void note_rename(const char *from, const char *to) {
    pthread_mutex_lock(&note_mu);
    int i = find_name(from), k = find_name(to);
    interpose_note(NOTE_RENAME, i < 0 ? 0 : names[i].file, from, to, 0, NULL, 0);
    if (k >= 0) names[k].path[0] = 0;
    if (i >= 0) snprintf(names[i].path, NOTED_PATH, "%s", to);
    for (int fd = 0; fd < NOTED_FDS; fd++) /* what is open goes by the new name */
        if (fds[fd].file > 0 && strcmp(fds[fd].path, from) == 0)
            snprintf(fds[fd].path, NOTED_PATH, "%s", to);
    size_t n = strlen(from); /* a folder takes along what lies in it */
    for (k = 0; k < n_names; k++)
        if (!strncmp(names[k].path, from, n) && names[k].path[n] == '/') {
            char rest[NOTED_PATH];
            snprintf(rest, sizeof rest, "%s", names[k].path + n);
            snprintf(names[k].path, NOTED_PATH, "%.190s%.200s", to, rest);
        }
    pthread_mutex_unlock(&note_mu);
}

static void note_unlink(const char *path) {
    pthread_mutex_lock(&note_mu);
    int i = find_name(path);
    interpose_note(NOTE_UNLINK, i < 0 ? 0 : names[i].file, path, NULL, 0, NULL, 0);
    if (i >= 0) names[i].path[0] = 0;
    pthread_mutex_unlock(&note_mu);
}

static void note_fd(enum note what, int fd, uint64_t at, const void *data, size_t n) {
    pthread_mutex_lock(&note_mu);
    if (fd >= 0 && fd < NOTED_FDS && fds[fd].file)
        interpose_note(what == NOTE_SYNC && fds[fd].folder ? NOTE_SYNC_DIR : what, fds[fd].file,
                       fds[fd].path, NULL, at, data, n);
    pthread_mutex_unlock(&note_mu);
}

static void note_open(int fd, const char *path, int flags) {
    if (fd < 0 || fd >= NOTED_FDS) return;
    struct stat st;
    pthread_mutex_lock(&note_mu);
    fds[fd].file = 0;
    fds[fd].folder = fstat(fd, &st) == 0 && S_ISDIR(st.st_mode);
    if (fds[fd].folder)
        fds[fd].file = -1;
    else if ((flags & O_ACCMODE) != O_RDONLY && S_ISREG(st.st_mode))
        fds[fd].file = file_at(path);
    snprintf(fds[fd].path, NOTED_PATH, "%s", path);
    pthread_mutex_unlock(&note_mu);
}

static void note_dup(int from, int fd) {
    if (from < 0 || from >= NOTED_FDS || fd < 0 || fd >= NOTED_FDS) return;
    pthread_mutex_lock(&note_mu);
    fds[fd] = fds[from];
    pthread_mutex_unlock(&note_mu);
}

/* ---- Forage's own calls --------------------------------------------------------------------- */

#define WRAP(type, name, ...)                                                                      \
    type __real_##name(__VA_ARGS__);                                                               \
    type __wrap_##name(__VA_ARGS__);                                                               \
    type __wrap_##name(__VA_ARGS__)

WRAP(void *, malloc, size_t n) {
    return fails(CALL_MALLOC) ? NULL : __real_malloc(n);
}
WRAP(void *, calloc, size_t n, size_t size) {
    return fails(CALL_MALLOC) ? NULL : __real_calloc(n, size);
}
WRAP(void *, realloc, void *p, size_t n) {
    return fails(CALL_MALLOC) ? NULL : __real_realloc(p, n);
}
WRAP(void *, aligned_alloc, size_t a, size_t n) {
    return fails(CALL_MALLOC) ? NULL : __real_aligned_alloc(a, n);
}
WRAP(int, posix_memalign, void **p, size_t a, size_t n) {
    return fails(CALL_MALLOC) ? ENOMEM : __real_posix_memalign(p, a, n);
}
WRAP(char *, strdup, const char *s) {
    return fails(CALL_MALLOC) ? NULL : __real_strdup(s);
}
WRAP(char *, strndup, const char *s, size_t n) {
    return fails(CALL_MALLOC) ? NULL : __real_strndup(s, n);
}
int __wrap_asprintf(char **out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int __wrap_asprintf(char **out, const char *fmt, ...) {
    if (fails(CALL_MALLOC)) return -1;
    va_list ap;
    va_start(ap, fmt);
    int n = vasprintf(out, fmt, ap);
    va_end(ap);
    return n;
}
int __wrap___asprintf_chk(char **out, int flag, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
int __wrap___asprintf_chk(char **out, int flag, const char *fmt, ...) {
    (void)flag;
    if (fails(CALL_MALLOC)) return -1;
    va_list ap;
    va_start(ap, fmt);
    int n = vasprintf(out, fmt, ap);
    va_end(ap);
    return n;
}
int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...) {
    va_list ap;
    va_start(ap, flags);
    mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(ap, mode_t) : 0;
    va_end(ap);
    if (fails(CALL_OPEN)) return -1;
    int fd = __real_open(path, flags, mode);
    if (interpose_note) note_open(fd, path, flags);
    return fd;
}
WRAP(FILE *, fopen, const char *path, const char *mode) {
    return fails(CALL_OPEN) ? NULL : __real_fopen(path, mode);
}
int __real_fcntl(int fd, int what, ...);
int __wrap_fcntl(int fd, int what, ...);
int __wrap_fcntl(int fd, int what, ...) {
    va_list ap;
    va_start(ap, what);
    void *arg = va_arg(ap, void *); /* a number or an address, as the kernel takes either */
    va_end(ap);
    int rc = __real_fcntl(fd, what, arg);
    if (interpose_note && (what == F_DUPFD_CLOEXEC || what == F_DUPFD)) note_dup(fd, rc);
    return rc;
}
WRAP(ssize_t, read, int fd, void *p, size_t n) {
    return fails(CALL_READ) ? -1 : __real_read(fd, p, n);
}
WRAP(ssize_t, write, int fd, const void *p, size_t n) {
    if (fails(CALL_WRITE)) return -1;
    off_t at = interpose_note ? lseek(fd, 0, SEEK_CUR) : 0;
    ssize_t k = __real_write(fd, p, n);
    if (interpose_note && k > 0 && at >= 0) note_fd(NOTE_WRITE, fd, (uint64_t)at, p, (size_t)k);
    return k;
}
WRAP(ssize_t, pwrite, int fd, const void *p, size_t n, off_t at) {
    if (fails(CALL_WRITE)) return -1;
    ssize_t k = __real_pwrite(fd, p, n, at);
    if (interpose_note && k > 0) note_fd(NOTE_WRITE, fd, (uint64_t)at, p, (size_t)k);
    return k;
}
WRAP(int, fsync, int fd) {
    if (fails(CALL_FSYNC)) return -1;
    int rc = interpose_note ? 0 : __real_fsync(fd); /* what is noted is not the disk's business */
    if (interpose_note && !rc) note_fd(NOTE_SYNC, fd, 0, NULL, 0);
    return rc;
}
WRAP(int, fdatasync, int fd) {
    if (fails(CALL_FSYNC)) return -1;
    int rc = interpose_note ? 0 : __real_fdatasync(fd);
    if (interpose_note && !rc) note_fd(NOTE_SYNC, fd, 0, NULL, 0);
    return rc;
}
WRAP(int, ftruncate, int fd, off_t size) {
    if (fails(CALL_TRUNCATE)) return -1;
    int rc = __real_ftruncate(fd, size);
    if (interpose_note && !rc) note_fd(NOTE_TRUNCATE, fd, (uint64_t)size, NULL, 0);
    return rc;
}
WRAP(int, rename, const char *from, const char *to) {
    if (fails(CALL_RENAME)) return -1;
    int rc = __real_rename(from, to);
    if (interpose_note && !rc) note_rename(from, to);
    return rc;
}
WRAP(int, unlink, const char *path) {
    if (fails(CALL_UNLINK)) return -1;
    int rc = __real_unlink(path);
    if (interpose_note && !rc) note_unlink(path);
    return rc;
}
WRAP(int, mkdir, const char *path, mode_t mode) {
    return fails(CALL_MKDIR) ? -1 : __real_mkdir(path, mode);
}
WRAP(void *, mmap, void *at, size_t n, int prot, int flags, int fd, off_t from) {
    return fails(CALL_MMAP) ? MAP_FAILED : __real_mmap(at, n, prot, flags, fd, from);
}
WRAP(int, pthread_create, pthread_t *t, const pthread_attr_t *a, void *(*fn)(void *), void *arg) {
    return fails(CALL_THREAD) ? EAGAIN : __real_pthread_create(t, a, fn, arg);
}

/* ---- SQLite's ------------------------------------------------------------------------------- */

static sqlite3_mem_methods sqlite_memory;
static void *memory_malloc(int n) {
    return fails(CALL_MALLOC) ? NULL : sqlite_memory.xMalloc(n);
}
static void *memory_realloc(void *p, int n) {
    return fails(CALL_MALLOC) ? NULL : sqlite_memory.xRealloc(p, n);
}

static sqlite3_vfs trial_vfs, *system_vfs;
typedef struct trial_file {
    sqlite3_file base;
    char path[NOTED_PATH]; /* "": a temporary file */
    int file;
    sqlite3_file *real; /* behind it */
} trial_file;

#define REAL_FILE(f) (((trial_file *)(f))->real)
static void note_file(sqlite3_file *f, enum note what, uint64_t at, const void *p, size_t n) {
    trial_file *t = (trial_file *)f;
    if (!interpose_note || !t->path[0]) return;
    pthread_mutex_lock(&note_mu);
    interpose_note(what, t->file, t->path, NULL, at, p, n);
    pthread_mutex_unlock(&note_mu);
}
static int file_close(sqlite3_file *f) {
    return REAL_FILE(f)->pMethods->xClose(REAL_FILE(f));
}
static int file_read(sqlite3_file *f, void *p, int n, sqlite3_int64 at) {
    return fails(CALL_READ) ? SQLITE_IOERR_READ
                            : REAL_FILE(f)->pMethods->xRead(REAL_FILE(f), p, n, at);
}
static int file_write(sqlite3_file *f, const void *p, int n, sqlite3_int64 at) {
    if (fails(CALL_WRITE)) return errno == ENOSPC ? SQLITE_FULL : SQLITE_IOERR_WRITE;
    int rc = REAL_FILE(f)->pMethods->xWrite(REAL_FILE(f), p, n, at);
    if (rc == SQLITE_OK) note_file(f, NOTE_WRITE, (uint64_t)at, p, (size_t)n);
    return rc;
}
static int file_truncate(sqlite3_file *f, sqlite3_int64 size) {
    if (fails(CALL_TRUNCATE)) return SQLITE_IOERR_TRUNCATE;
    int rc = REAL_FILE(f)->pMethods->xTruncate(REAL_FILE(f), size);
    if (rc == SQLITE_OK) note_file(f, NOTE_TRUNCATE, (uint64_t)size, NULL, 0);
    return rc;
}
static int file_sync(sqlite3_file *f, int flags) {
    if (fails(CALL_FSYNC)) return SQLITE_IOERR_FSYNC;
    int rc = interpose_note ? SQLITE_OK : REAL_FILE(f)->pMethods->xSync(REAL_FILE(f), flags);
    if (rc == SQLITE_OK) note_file(f, NOTE_SYNC, 0, NULL, 0);
    return rc;
}
static int file_size(sqlite3_file *f, sqlite3_int64 *n) {
    return REAL_FILE(f)->pMethods->xFileSize(REAL_FILE(f), n);
}
static int file_lock(sqlite3_file *f, int k) {
    return REAL_FILE(f)->pMethods->xLock(REAL_FILE(f), k);
}
static int file_unlock(sqlite3_file *f, int k) {
    return REAL_FILE(f)->pMethods->xUnlock(REAL_FILE(f), k);
}
static int file_reserved(sqlite3_file *f, int *out) {
    return REAL_FILE(f)->pMethods->xCheckReservedLock(REAL_FILE(f), out);
}
static int file_control(sqlite3_file *f, int op, void *arg) {
    return REAL_FILE(f)->pMethods->xFileControl(REAL_FILE(f), op, arg);
}
static int file_sector(sqlite3_file *f) {
    (void)f;
    return 512;
}
static int file_traits(sqlite3_file *f) {
    (void)f;
    return 0; /* nothing is promised of a write that the power cuts */
}
static int file_shm_map(sqlite3_file *f, int page, int size, int extend, void volatile **out) {
    return fails(CALL_MMAP)
               ? SQLITE_IOERR_SHMMAP
               : REAL_FILE(f)->pMethods->xShmMap(REAL_FILE(f), page, size, extend, out);
}
static int file_shm_lock(sqlite3_file *f, int at, int n, int flags) {
    return REAL_FILE(f)->pMethods->xShmLock(REAL_FILE(f), at, n, flags);
}
static void file_shm_barrier(sqlite3_file *f) {
    REAL_FILE(f)->pMethods->xShmBarrier(REAL_FILE(f));
}
static int file_shm_unmap(sqlite3_file *f, int drop) {
    return REAL_FILE(f)->pMethods->xShmUnmap(REAL_FILE(f), drop);
}
static const sqlite3_io_methods file_methods = {
    2,           file_close,   file_read,     file_write,       file_truncate,  file_sync,
    file_size,   file_lock,    file_unlock,   file_reserved,    file_control,   file_sector,
    file_traits, file_shm_map, file_shm_lock, file_shm_barrier, file_shm_unmap, NULL,
    NULL};

static int vfs_open(sqlite3_vfs *v, const char *path, sqlite3_file *out, int flags, int *got) {
    (void)v;
    trial_file *f = (trial_file *)out;
    memset(f, 0, (size_t)trial_vfs.szOsFile);
    f->real = (sqlite3_file *)(f + 1);
    if (fails(CALL_OPEN)) return SQLITE_CANTOPEN;
    int rc = system_vfs->xOpen(system_vfs, path, f->real, flags, got);
    if (rc != SQLITE_OK) return rc;
    f->base.pMethods = &file_methods;
    if (!path || !interpose_note) return rc;
    snprintf(f->path, sizeof f->path, "%s", path);
    pthread_mutex_lock(&note_mu);
    f->file = file_at(path);
    pthread_mutex_unlock(&note_mu);
    return rc;
}
static int vfs_delete(sqlite3_vfs *v, const char *path, int sync_dir) {
    (void)v;
    if (fails(CALL_UNLINK)) return SQLITE_IOERR_DELETE;
    int rc = system_vfs->xDelete(system_vfs, path, 0);
    if (rc == SQLITE_OK && interpose_note) {
        note_unlink(path);
        pthread_mutex_lock(&note_mu);
        if (sync_dir) interpose_note(NOTE_SYNC_DIR, -1, path, "", 0, NULL, 0);
        pthread_mutex_unlock(&note_mu);
    }
    return rc;
}

static void *json_malloc(size_t n) {
    return fails(CALL_MALLOC) ? NULL : __real_malloc(n);
}

static void interpose_sqlite(void) {
    sqlite3_config(SQLITE_CONFIG_GETMALLOC, &sqlite_memory);
    sqlite3_mem_methods ours = sqlite_memory;
    ours.xMalloc = memory_malloc;
    ours.xRealloc = memory_realloc;
    sqlite3_config(SQLITE_CONFIG_MALLOC, &ours);
    sqlite3_initialize();
    system_vfs = sqlite3_vfs_find(NULL);
    trial_vfs = *system_vfs;
    trial_vfs.zName = "trial";
    trial_vfs.szOsFile = (int)sizeof(trial_file) + system_vfs->szOsFile;
    trial_vfs.xOpen = vfs_open;
    trial_vfs.xDelete = vfs_delete;
    sqlite3_vfs_register(&trial_vfs, 1);
    cJSON_InitHooks(&(cJSON_Hooks){json_malloc, free});
}

#endif
