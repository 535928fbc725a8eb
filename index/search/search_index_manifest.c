/* The manifest: which files make up the index, what is dead in them, and the epoch they cover.
 *
 *   magic "FORAGEMF", version, CRC-32 of the rest, then varints: epoch (zigzag), next file number,
 *   number of files; for each: its number, documents, dead ones, and the gaps between them; from
 *   version 2 on, bytes written to files and bytes of what was ingested, since the beginning; from
 *   version 3 on the newest epoch (zigzag) that any of this knows of: tombstones may be newer than the
 *   epoch that the files cover.
 *
 * It is replaced whole. A file that it does not name is a leftover of a crash and is removed. */
#include "index/search/search_index_internal.h"

#include <dirent.h>
#include <unistd.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include "index/format/varint.h"
#include "kernels/bits.h"
#include "kernels/buf.h"

enum {
    MANIFEST_VERSION = 3,
    MANIFEST_HEADER = 16,
    MANIFEST_MAX_BYTES = 1 << 28,
    TRIES = 100, /* to open what it names beside a process that merges */
};
static const char magic[8] = {'F', 'O', 'R', 'A', 'G', 'E', 'M', 'F'};

static void put(fo_buf *b, uint64_t v) {
    uint8_t bytes[VARINT_MAX_BYTES];
    fo_buf_add(b, bytes, varint_put(bytes, v));
}

static void put_dead(fo_buf *b, const search_segment *s) {
    put(b, s->n_docs - search_segment_n_live(s));
    if (!s->live) return;
    uint32_t from = 0;
    for (uint32_t w = 0; w * 64 < s->n_docs; w++) {
        uint64_t dead = ~s->live->words[w];
        if (s->n_docs - w * 64 < 64) dead &= ((uint64_t)1 << (s->n_docs - w * 64)) - 1;
        for (; dead; dead &= dead - 1) {
            uint32_t doc = w * 64 + (uint32_t)__builtin_ctzll(dead);
            put(b, doc - from);
            from = doc + 1;
        }
    }
}

static char *manifest_path(const search_index *ix) {
    fo_buf b = {0};
    fo_buf_printf(&b, "%s/MANIFEST", ix->dir);
    return fo_buf_take(&b, NULL);
}

int search_manifest_write(search_index *ix, const search_snapshot *s, int64_t epoch, fo_err *err) {
    fo_buf b = {0};
    size_t n = 0;
    for (size_t i = 0; i < s->n_segments; i++) n += s->segments[i].file != 0;
    const int64_t covered = ix->has_gap ? -1 : epoch;
    put(&b, zigzag_encode(covered));
    put(&b, ix->next_file);
    put(&b, n);
    for (size_t i = 0; i < s->n_segments; i++) {
        const search_segment *h = &s->segments[i];
        if (!h->file) continue;
        put(&b, h->file);
        put(&b, h->n_docs);
        put_dead(&b, h);
    }
    put(&b, atomic_load(&ix->bytes_written));
    put(&b, atomic_load(&ix->bytes_ingested));
    int64_t newest = atomic_load(&ix->newest);
    if (newest < s->epoch) newest = s->epoch;
    if (newest < epoch) newest = epoch;
    put(&b, zigzag_encode(newest));
    char *path = manifest_path(ix);
    if (b.failed || !path) {
        fo_buf_free(&b);
        free(path);
        return fo_fail(err, FO_ENOMEM, "out of memory for the manifest");
    }
    unsigned char head[MANIFEST_HEADER];
    uint32_t version = MANIFEST_VERSION, crc = (uint32_t)crc32_z(0, (const void *)b.data, b.len);
    memcpy(head, magic, 8);
    memcpy(head + 8, &version, 4);
    memcpy(head + 12, &crc, 4);
    fo_file_writer *w;
    int rc = fo_file_create(&w, path, err);
    if (!rc) {
        rc = fo_file_write(w, head, sizeof head, err);
        if (!rc) rc = fo_file_write(w, b.data, b.len, err);
        if (!rc)
            rc = fo_file_commit(w, err);
        else
            fo_file_abort(w);
    }
    if (!rc) {
        atomic_fetch_add(&ix->bytes_written, sizeof head + b.len);
        atomic_store(&ix->sealed_epoch, covered);
        atomic_store(&ix->newest, newest);
    }
    fo_buf_free(&b);
    free(path);
    return rc;
}

/* Out of the way, but not lost: somebody may want to look at it. */
void search_put_aside(const search_index *ix, const char *path) {
    if (ix->read_only) return;
    fo_buf bad = {0};
    fo_buf_printf(&bad, "%s.bad", path);
    if (!bad.failed) (void)rename(path, bad.data);
    fo_buf_free(&bad);
}

static const uint8_t *read_dead(const uint8_t *p, const uint8_t *end, search_segment *s,
                                uint64_t n_dead, fo_err *failed) {
    if (n_dead == 0) return p;
    s->live = search_bitmap_create(s->n_docs, NULL);
    if (!s->live) {
        fo_no_memory(failed);
        return NULL;
    }
    uint64_t doc = 0, gap;
    for (uint64_t i = 0; i < n_dead; i++) {
        p = varint_get(p, end, &gap);
        if (!p || gap >= s->n_docs || doc + gap >= s->n_docs) return NULL;
        doc += gap;
        fo_bits_clear(s->live->words, doc);
        s->live->n_set--;
        doc++;
    }
    return p;
}

static const uint8_t *skip_dead(const uint8_t *p, const uint8_t *end, uint64_t n_dead) {
    uint64_t gap;
    while (p && n_dead-- > 0) p = varint_get(p, end, &gap);
    return p;
}

/* What a manifest names, while it is opened. */
typedef struct opening {
    search_index *ix;
    search_segment *segments;
    size_t n, n_dropped;
    uint32_t crc;  /* of the manifest at hand */
    bool again;    /* a file that is gone: the manifest is read again, and nothing is dropped yet */
    fo_err failed; /* why it cannot go on, which tells nothing of the files */
} opening;

/* One file's entry; a file that cannot be used is put aside. NULL: the manifest itself makes no
 * sense, or (o->failed) the machine is at its end, or the file may be merged away: that is no reason
 * to put a file aside. */
static const uint8_t *read_entry(opening *o, const uint8_t *p, const uint8_t *end) {
    uint64_t file, n_docs, n_dead;
    search_segment *s = &o->segments[o->n];
    if (!(p = varint_get(p, end, &file)) || !(p = varint_get(p, end, &n_docs)) ||
        !(p = varint_get(p, end, &n_dead)) || file == 0 || n_dead > n_docs)
        return NULL;
    char *path = search_file_path(o->ix, file);
    fo_err why = {0};
    int rc = path ? search_segment_open(s, o->ix, path, file, &why) : fo_no_memory(&why);
    if (!rc && s->n_docs != n_docs) {
        rc = fo_fail(&why, FO_ECORRUPT, "%s: %u documents, the manifest says %llu", path, s->n_docs,
                     (unsigned long long)n_docs);
        search_segment_drop(s);
    }
    if (rc == FO_ENOMEM || rc == FO_EIO || (rc == FO_ENOTFOUND && o->again)) {
        o->failed = why;
        o->failed.code = rc;
        free(path);
        return NULL;
    }
    if (rc) {
        search_put_aside(o->ix, path);
        fo_notice(&o->ix->notices, "index_dropped", "%s", why.msg);
        free(path);
        o->n_dropped++;
        return skip_dead(p, end, n_dead);
    }
    free(path);
    p = read_dead(p, end, s, n_dead, &o->failed);
    if (p)
        o->n++;
    else
        search_segment_drop(s);
    return p;
}

static bool is_named(const search_segment *segments, size_t n, uint64_t file) {
    for (size_t i = 0; i < n; i++)
        if (segments[i].file == file) return true;
    return false;
}

bool search_segment_name(const char *name, uint64_t *file, const char **rest) {
    unsigned long long number;
    int used = 0;
    if (sscanf(name, "%16llx.seg%n", &number, &used) != 1 || used != 20) return false;
    *file = number;
    *rest = name + used;
    return true;
}

/* What a crash left: files that were written and never named, files that were being written. */
static size_t remove_leftovers(search_index *ix, const search_segment *segments, size_t n) {
    DIR *d = opendir(ix->dir);
    size_t removed = 0;
    if (!d) return 0;
    for (struct dirent *e; (e = readdir(d));) {
        uint64_t file = 0;
        const char *rest = "";
        bool is_segment = search_segment_name(e->d_name, &file, &rest);
        if (is_segment && file >= ix->next_file) ix->next_file = file + 1;
        if (is_segment && !rest[0] && is_named(segments, n, file)) continue;
        if (is_segment ? rest[0] && strncmp(rest, ".tmp-", 5) != 0
                       : strncmp(e->d_name, "MANIFEST.tmp-", 13) != 0)
            continue;
        char path[4096];
        if (snprintf(path, sizeof path, "%s/%s", ix->dir, e->d_name) >= (int)sizeof path) continue;
        if (unlink(path) == 0) removed++;
    }
    closedir(d);
    return removed;
}

static bool read_all(opening *o, const uint8_t *p, const uint8_t *end, uint32_t version) {
    search_index *ix = o->ix;
    uint64_t epoch, next_file, count, written = 0, ingested = 0, newest = 0;
    if (!(p = varint_get(p, end, &epoch)) || !(p = varint_get(p, end, &next_file)) ||
        !(p = varint_get(p, end, &count)) || count > (uint64_t)(end - p))
        return false;
    o->segments = calloc(count + 1, sizeof *o->segments);
    if (!o->segments) {
        fo_no_memory(&o->failed);
        return false;
    }
    ix->next_file = next_file ? next_file : 1;
    for (uint64_t i = 0; i < count; i++)
        if (!(p = read_entry(o, p, end))) return false;
    if (version >= 2 &&
        (!(p = varint_get(p, end, &written)) || !(p = varint_get(p, end, &ingested))))
        return false;
    if (version >= 3 && !(p = varint_get(p, end, &newest))) return false;
    atomic_store(&ix->newest, zigzag_decode(version >= 3 ? newest : epoch));
    atomic_store(&ix->bytes_written, written);
    atomic_store(&ix->bytes_ingested, ingested);
    atomic_store(&ix->sealed_epoch, zigzag_decode(epoch));
    return p == end;
}

/* magic, version, CRC. *body and *end are what they vouch for. */
static bool check_head(const char *data, size_t size, uint32_t *version, const uint8_t **body,
                       const uint8_t **end) {
    uint32_t crc;
    if (size < MANIFEST_HEADER || memcmp(data, magic, 8) != 0) return false;
    memcpy(version, data + 8, 4);
    memcpy(&crc, data + 12, 4);
    *body = (const uint8_t *)data + MANIFEST_HEADER;
    *end = (const uint8_t *)data + size;
    return *version >= 1 && *version <= MANIFEST_VERSION &&
           crc == (uint32_t)crc32_z(0, *body, size - MANIFEST_HEADER);
}

static void drop_opened(opening *o) {
    for (size_t i = 0; i < o->n; i++) search_segment_drop(&o->segments[i]);
    free(o->segments);
    o->segments = NULL;
    o->n = o->n_dropped = 0;
}

/* FO_ENOTFOUND: where o->again. */
static int open_files(opening *o, const char *path, const char *data, size_t size) {
    uint32_t version;
    const uint8_t *body, *end;
    if (check_head(data, size, &version, &body, &end) && read_all(o, body, end, version))
        return FO_OK;
    drop_opened(o);
    if (o->failed.code) return o->failed.code;
    o->n_dropped = 1;
    atomic_store(&o->ix->sealed_epoch, -1);
    atomic_store(&o->ix->newest, -1);
    search_put_aside(o->ix, path);
    fo_notice(&o->ix->notices, "index_dropped", "%s is damaged: no file of its folder can be used",
              path);
    return FO_OK;
}

/* Beside a process that writes there (read-only), a merge may remove the name of a file between the
 * reading of the manifest and the opening of the file; its new manifest was in place by then. Where
 * the manifest is still the same one, the file is lost. */
static int read_manifest(opening *o, const char *path) {
    int rc = FO_ENOTFOUND;
    for (int i = 0; rc == FO_ENOTFOUND; i++) {
        char *data = NULL;
        size_t size = 0;
        uint32_t crc = 0;
        o->failed = (fo_err){0};
        o->ix->is_new = access(path, F_OK) != 0;
        if (o->ix->is_new) return FO_OK;
        if ((rc = fo_file_read(path, MANIFEST_MAX_BYTES, &data, &size, &o->failed))) return rc;
        if (size >= MANIFEST_HEADER) memcpy(&crc, data + 12, 4);
        o->again = o->ix->read_only && i < TRIES && (i == 0 || crc != o->crc);
        o->crc = crc;
        rc = open_files(o, path, data, size);
        free(data);
    }
    return rc;
}

int search_manifest_read(search_index *ix, search_segment **out, size_t *n, size_t *n_dropped,
                         fo_err *err) {
    char *path = manifest_path(ix);
    if (!path) return fo_fail(err, FO_ENOMEM, "out of memory for the manifest");
    opening o = {.ix = ix};
    int rc = read_manifest(&o, path);
    if (rc && err) *err = o.failed;
    if (!rc && !ix->read_only) {
        size_t removed = remove_leftovers(ix, o.segments, o.n);
        if (removed && ix->is_new) {
            o.n_dropped++;
            fo_notice(&ix->notices, "index_dropped",
                      "%s is gone: no file of its folder can be used", path);
        } else if (removed) {
            fo_notice(&ix->notices, "index_leftover",
                      "%zu files in %s that the manifest does not name were removed", removed,
                      ix->dir);
        }
    }
    free(path);
    *out = o.segments;
    *n = o.n;
    *n_dropped = o.n_dropped;
    return rc;
}

/* The files that the bytes of a manifest name. */
static int list_files(const char *data, size_t size, search_manifest_file **files, size_t *n,
                      fo_err *err) {
    int rc = FO_OK;
    uint32_t version;
    const uint8_t *p, *end;
    uint64_t epoch, next_file, count = 0, unused;
    bool good = check_head(data, size, &version, &p, &end) && (p = varint_get(p, end, &epoch)) &&
                (p = varint_get(p, end, &next_file)) && (p = varint_get(p, end, &count)) &&
                count <= (uint64_t)(end - p);
    *files = good ? calloc(count + 1, sizeof **files) : NULL;
    if (good && !*files) rc = fo_fail(err, FO_ENOMEM, "out of memory for the manifest");
    for (; !rc && good && *n < count; ++*n) {
        search_manifest_file *f = &(*files)[*n];
        uint64_t n_dead;
        good = (p = varint_get(p, end, &f->file)) && (p = varint_get(p, end, &f->n_docs)) &&
               (p = varint_get(p, end, &n_dead)) && f->file && n_dead <= f->n_docs &&
               (p = skip_dead(p, end, n_dead));
    }
    if (good && version >= 2)
        good = (p = varint_get(p, end, &unused)) && (p = varint_get(p, end, &unused));
    if (good && version >= 3) good = (p = varint_get(p, end, &unused));
    if (!rc && (!good || p != end))
        rc = fo_fail(err, FO_ECORRUPT, "it is damaged: its checksum is wrong");
    return rc;
}

int search_manifest_load(const char *dir, char **data, size_t *size, search_manifest_file **files,
                         size_t *n, fo_err *err) {
    char path[4096];
    *data = NULL;
    *files = NULL;
    *n = 0;
    snprintf(path, sizeof path, "%s/MANIFEST", dir);
    int rc = fo_file_read(path, MANIFEST_MAX_BYTES, data, size, err);
    if (rc) return rc;
    rc = list_files(*data, *size, files, n, err);
    if (!rc) return FO_OK;
    free(*files);
    free(*data);
    *files = NULL;
    *data = NULL;
    *n = 0;
    return rc;
}

int search_manifest_list(const char *dir, search_manifest_file **files, size_t *n, fo_err *err) {
    char *data;
    size_t size;
    int rc = search_manifest_load(dir, &data, &size, files, n, err);
    if (!rc) free(data);
    return rc;
}
