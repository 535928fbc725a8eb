/* Formats: sqlite.org/fileformat2.html. In the log a frame is valid while its salts are those of the
 * log's header and its checksum, which runs on from frame to frame, holds. What follows may be left
 * over: from before, or from a transaction that was rolled back. But a frame that commits, with these
 * salts, behind one that fails, was written after it: so the one that fails was valid once. */
#include "kernels/sqlite_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/file.h"
#include "kernels/map_guard.h"
#include "kernels/page_sums.h"

enum { WAL_HEADER = 32, FRAME_HEADER = 24, MAX_FINDINGS = 200 };

typedef struct scan {
    fo_sqlite_files_fn *fn;
    void *ctx;
    int n_findings;
    size_t page_size;
    unsigned char *in_log; /* bit per page: a committed frame takes its place */
    size_t n_bytes;        /* of in_log */
    bool has_commits;      /* the log holds any */
} scan;

static void found(scan *k, bool unused, const char *fmt, ...) {
    char what[600];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    if (k->n_findings++ < MAX_FINDINGS) k->fn(k->ctx, unused, what);
}

static uint32_t big32(const unsigned char *p) {
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* ---- the log ------------------------------------------------------------------------------ */

static void wal_sum(uint32_t s[2], const unsigned char *p, size_t n, bool big) {
    for (size_t i = 0; i + 8 <= n; i += 8) {
        uint32_t a, b;
        if (big) {
            a = big32(p + i);
            b = big32(p + i + 4);
        } else {
            memcpy(&a, p + i, 4);
            memcpy(&b, p + i + 4, 4);
        }
        s[0] += a + s[1];
        s[1] += b + s[0];
    }
}

static bool keep_page(scan *k, uint32_t page) {
    size_t byte = page / 8;
    if (byte >= k->n_bytes) {
        size_t n = byte + byte / 2 + 1024;
        unsigned char *grown = realloc(k->in_log, n);
        if (!grown) return false;
        memset(grown + k->n_bytes, 0, n - k->n_bytes);
        k->in_log = grown;
        k->n_bytes = n;
    }
    k->in_log[byte] |= (unsigned char)(1 << page % 8);
    return true;
}

static int scan_frames(scan *k, const fo_map *m, bool big, uint32_t s[2], fo_err *err) {
    const unsigned char *w = m->data;
    size_t frame = FRAME_HEADER + k->page_size, n = (m->size - WAL_HEADER) / frame;
    size_t good = 0, committed = 0;
    for (; good < n; good++) {
        const unsigned char *f = w + WAL_HEADER + good * frame;
        uint32_t next[2] = {s[0], s[1]};
        if (memcmp(f + 8, w + 16, 8) != 0 || big32(f) == 0) break;
        wal_sum(next, f, 8, big);
        wal_sum(next, f + FRAME_HEADER, k->page_size, big);
        if (next[0] != big32(f + 16) || next[1] != big32(f + 20)) break;
        memcpy(s, next, sizeof next);
        if (big32(f + 4)) committed = good + 1;
    }
    for (size_t i = 0; i < committed; i++)
        if (!keep_page(k, big32(w + WAL_HEADER + i * frame))) return fo_no_memory(err);
    k->has_commits = committed > 0;
    for (size_t i = good + 1; i < n; i++)
        if (memcmp(w + WAL_HEADER + i * frame + 8, w + 16, 8) == 0 &&
            big32(w + WAL_HEADER + i * frame + 4)) {
            found(k, false,
                  "its log is damaged in frame %zu (byte %zu): %zu frames that follow cannot be "
                  "read",
                  good + 1, WAL_HEADER + good * frame, n - good - 1);
            break;
        }
    return FO_OK;
}

/* What SQLite takes for one. */
static bool is_page_size(size_t n) {
    return n >= 512 && n <= 65536 && (n & (n - 1)) == 0;
}

static int scan_whole_log(scan *k, const fo_map *m, fo_err *err) {
    if (m->size < WAL_HEADER) {
        found(k, false, "its log is cut off in the header");
        return FO_OK;
    }
    uint32_t s[2] = {0, 0}, magic = big32(m->data);
    bool big = magic == 0x377f0683;
    size_t page_size = big32(m->data + 8);
    wal_sum(s, m->data, 24, big);
    if ((!big && magic != 0x377f0682) || s[0] != big32(m->data + 24) ||
        s[1] != big32(m->data + 28) || !is_page_size(page_size)) {
        found(k, false, "the header of its log is damaged: nothing of it is read");
        return FO_OK;
    }
    if (k->page_size && page_size != k->page_size) {
        found(k, false, "its log has pages of %zu bytes", page_size);
        return FO_OK;
    }
    k->page_size = page_size;
    return scan_frames(k, m, big, s, err);
}

static int scan_log(scan *k, const char *path, fo_err *err) {
    char *name = NULL;
    fo_guarded_file f = {0};
    size_t at;
    if (asprintf(&name, "%s-wal", path) < 0) return fo_no_memory(err);
    int rc = access(name, F_OK) == 0 ? fo_guarded_file_open(&f, name, err) : FO_OK;
    free(name);
    if (!rc && f.map.size) rc = scan_whole_log(k, &f.map, err);
    if (!rc && fo_guarded_file_failed(&f, &at))
        found(k, false, "its log cannot be read at byte %zu", at);
    fo_guarded_file_close(&f);
    return rc;
}

/* ---- the database ------------------------------------------------------------------------- */

static bool is_zero(const unsigned char *p, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (p[i]) return false;
    return true;
}

static bool in_log(const scan *k, size_t page) {
    return page / 8 < k->n_bytes && (k->in_log[page / 8] >> page % 8 & 1);
}

/* Did the disk not give a part of these bytes, which were looked at last? */
static bool is_lost(const fo_guarded_file *f, size_t from, size_t n) {
    size_t at;
    return fo_guarded_file_failed(f, &at) && at < from + n &&
           from < at + (size_t)sysconf(_SC_PAGESIZE);
}

static void scan_pages(scan *k, const fo_guarded_file *f) {
    const unsigned char *d = f->map.data;
    size_t size = k->page_size, n = f->map.size / size, said = big32(d + 28);
    bool counted = said && memcmp(d + 24, d + 92, 4) == 0; /* else an old SQLite wrote it */
    if (f->map.size % size)
        found(k, false, "it ends in the middle of a page");
    else if (counted && !k->has_commits && said != n)
        found(k, n > said, "it has %zu pages, its header says %zu", n, said);
    /* Two witnesses: one bit must not talk all the others out of being checked. */
    if (n == 0 || (d[20] != FO_PAGE_SUM_BYTES && memcmp(d + size - 4, "PSUM", 4) != 0)) return;
    for (size_t i = 0; i < n; i++) {
        const unsigned char *p = d + i * size;
        if (fo_page_sum_good(p, size, (int64_t)i + 1)) continue;
        bool lost = is_lost(f, i * size, size), newer = in_log(k, i + 1);
        /* made with the file and never used: else SQLite tells. What is lost reads as zeroes, too. */
        if (!lost && is_zero(p, size)) continue;
        if (((size_t)1 << 30) / size == i) continue; /* SQLite's locks live there, nothing else */
        found(k, newer, "page %zu (byte %zu) %s%s", i + 1, i * size,
              lost ? "cannot be read" : "fails its checksum",
              newer ? "; its log has a newer one" : "");
    }
}

/* The database's header; false: there is none that is sound. */
static bool read_header(scan *k, const fo_map *m) {
    static const char magic[16] = "SQLite format 3";
    if (m->size < 512 || memcmp(m->data, magic, sizeof magic) != 0) return false;
    size_t n = (size_t)m->data[16] << 8 | m->data[17];
    if (n == 1) n = 65536;
    if (is_page_size(n)) k->page_size = n;
    return k->page_size != 0;
}

/* There is no sound one. */
static void tell_header(scan *k, const fo_map *m, bool lost) {
    if (m->size == 0 && !in_log(k, 1)) found(k, false, "it is empty");
    if (m->size == 0) return;
    if (in_log(k, 1))
        found(k, true, "its header %s; its log has a newer one",
              lost ? "cannot be read" : "is damaged");
    else
        found(k, false, "its header %s",
              lost ? "cannot be read" : "is damaged: it is no SQLite database");
}

int fo_sqlite_check_files(const char *path, fo_sqlite_files_fn *fn, void *ctx, fo_err *err) {
    fo_guarded_file f;
    scan k = {.fn = fn, .ctx = ctx};
    int rc = fo_guarded_file_open(&f, path, err);
    if (rc) return rc;
    bool header = read_header(&k, &f.map);
    rc = scan_log(&k, path, err);
    if (!rc && !header) tell_header(&k, &f.map, fo_guarded_file_failed(&f, NULL));
    if (!rc && k.page_size && f.map.size >= 512) scan_pages(&k, &f);
    if (k.n_findings > MAX_FINDINGS) fn(ctx, false, "and more of the kind");
    free(k.in_log);
    fo_guarded_file_close(&f);
    return rc;
}
