/* Sealing and merging: from segments to one file, then a snapshot in which it stands for them. What
 * died while the file was written is carried over as tombstones.
 *
 * Policy: four sealed segments of about the same size (same power of four of their living
 * documents) become one; a segment of which a third is dead is written anew; an empty one goes. So a
 * document is written once per power of four that the collection grows by. A segment with more than a
 * quarter of the metadata that one may have stays: any four of the others come to no more than all of it. */
#include "index/search/search_index_internal.h"
#include "kernels/bits.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MERGE_WIDTH = 4, MERGE_MAX_DOCS = (1 << 24) - 1, TIERS = 16 };

/* As an epoch: that which files cover when the manifest is written. A merge adds nothing to it, and a seal
 * may have ended since the merge began. */
enum { COVERED = -2 };

static int no_memory(fo_err *err) {
    return fo_fail(err, FO_ENOMEM, "out of memory merging segments");
}

static bool is_sealed(const search_segment *s) {
    return s->file != 0;
}

static size_t find_serial(const search_snapshot *s, uint64_t serial) {
    for (size_t i = 0; i < s->n_segments; i++)
        if (s->segments[i].serial == serial) return i;
    return SIZE_MAX;
}

/* Tombstones that the sources got since their documents were read. */
static int carry_dead(search_segment *fresh, const search_segment *source, const uint32_t *map,
                      fo_err *err) {
    for (uint32_t d = 0; source->live && d < source->n_docs; d++) {
        if (map[d] == UINT32_MAX || search_segment_alive(source, d)) continue;
        if (!fresh->live) fresh->live = search_bitmap_create(fresh->n_docs, NULL);
        if (!fresh->live) return no_memory(err);
        fo_bits_clear(fresh->live->words, map[d]);
        fresh->live->n_set--;
    }
    return FO_OK;
}

/* Put `fresh` (n_docs 0: nothing) in the place of the sources (none: beside what is there), on disk
 * and then in memory. Takes fresh over. `epoch`: of the manifest. */
static int install(search_index *ix, const search_snapshot *old, const size_t *sources, size_t n,
                   search_segment *fresh, uint32_t **maps, int64_t epoch, fo_err *err) {
    pthread_mutex_lock(&ix->mu);
    if (epoch == COVERED) epoch = search_index_epoch(ix);
    search_snapshot *now = search_snapshot_current(ix);
    search_snapshot *s = search_snapshot_create(ix, now->n_segments + 1, now->epoch, err);
    int rc = s ? FO_OK : FO_ENOMEM;
    bool placed = fresh->n_docs == 0;
    fresh->serial = ix->next_serial++;
    for (size_t i = 0; i < n && !rc && fresh->n_docs; i++) {
        size_t at = find_serial(now, old->segments[sources[i]].serial);
        rc = carry_dead(fresh, &now->segments[at], maps[i], err);
    }
    for (size_t i = 0; i < now->n_segments && !rc; i++) {
        bool replaced = false;
        for (size_t j = 0; j < n; j++)
            replaced |= old->segments[sources[j]].serial == now->segments[i].serial;
        if (replaced) {
            if (!placed) {
                s->segments[s->n_segments++] = *fresh;
                *fresh = (search_segment){0};
            }
            placed = true;
            continue;
        }
        if (n == 0 && !placed &&
            !is_sealed(&now->segments[i])) { /* the open segment stays the last */
            s->segments[s->n_segments++] = *fresh;
            *fresh = (search_segment){0};
            placed = true;
        }
        rc = search_segment_copy(&s->segments[s->n_segments], &now->segments[i], err);
        if (!rc) s->n_segments++;
    }
    if (!rc && !placed) {
        s->segments[s->n_segments++] = *fresh;
        *fresh = (search_segment){0};
    }
    if (!rc && epoch > s->epoch) /* a bulk load: the files are ahead of what was visible */
        s->epoch = epoch;
    if (!rc) rc = search_manifest_write(ix, s, epoch, err);
    if (!rc) {
        /* Not before: the next seal would say that files cover what this one did not write. */
        if (epoch > ix->published) ix->published = epoch;
        search_snapshot_publish(ix, s);
    } else if (s) {
        search_index_release(s);
    }
    pthread_mutex_unlock(&ix->mu);
    search_segment_drop(fresh);
    return rc;
}

static void unlink_file(const search_index *ix, uint64_t file) {
    char *path = file ? search_file_path(ix, file) : NULL;
    if (path) (void)unlink(path);
    free(path);
}

/* Does the manifest that lies in the folder name the file, as far as can be told? */
static bool may_be_named(const search_index *ix, uint64_t file) {
    search_manifest_file *files;
    size_t n;
    if (search_manifest_list(ix->dir, &files, &n, NULL)) return true;
    bool named = false;
    for (size_t i = 0; i < n; i++) named |= files[i].file == file;
    free(files);
    return named;
}

/* A file that was not installed. A manifest whose folder could not be synced is in its place all the same: the file
 * that it names goes once another one lies there, and else the next opening sees to it. */
static void take_back(search_index *ix, uint64_t file) {
    if (file && may_be_named(ix, file)) {
        pthread_mutex_lock(&ix->mu);
        int rc =
            search_manifest_write(ix, search_snapshot_current(ix), search_index_epoch(ix), NULL);
        pthread_mutex_unlock(&ix->mu);
        if (rc) return;
    }
    unlink_file(ix, file);
}

/* The checksums of the files among the sources: what has changed in one since it was written would be
 * written on under a sound checksum, and the file that tells is removed. *damaged: whose it is; left alone
 * where no descriptor or no memory is left to look with. */
static int verify_sources(search_index *ix, const search_segment *in, size_t n, bool paced,
                          uint64_t *damaged, fo_err *err) {
    int rc = FO_OK;
    for (size_t i = 0; i < n && !rc; i++) {
        segment_check at = {0};
        for (bool done = !is_sealed(&in[i]); !done && !rc;) {
            if (paced && atomic_load(&ix->cancel))
                return fo_fail(err, FO_ECANCELLED, "the merge was stopped");
            rc = segment_verify_some(in[i].parts[0]->file, &at, BACKGROUND_SLICE, &done, err);
        }
        if (rc == FO_ECORRUPT) *damaged = in[i].serial; /* else the file may be whole */
        if (rc) fo_fail_prefix(err, "segment %016llx", (unsigned long long)in[i].file);
    }
    return rc;
}

/* Write the living documents of the given segments of snapshot `old` as one file and install it.
 * *damaged: serial of the source that fails its checksums, which leaves all as it was. */
static int replace(search_index *ix, const search_snapshot *old, const size_t *sources, size_t n,
                   int64_t epoch, bool paced, uint64_t *damaged, fo_err *err) {
    search_segment in[SEARCH_MAX_MERGE], fresh = {0};
    uint32_t *maps[SEARCH_MAX_MERGE] = {0};
    size_t n_live = 0;
    for (size_t i = 0; i < n; i++) {
        in[i] = old->segments[sources[i]];
        n_live += search_segment_n_live(&in[i]);
    }
    uint64_t file = 0;
    int rc = n_live ? verify_sources(ix, in, n, paced, damaged, err) : FO_OK;
    if (rc) return rc;
    if (n_live) {
        pthread_mutex_lock(&ix->mu);
        file = ix->next_file++;
        pthread_mutex_unlock(&ix->mu);
        const int64_t covered = epoch == COVERED ? search_index_epoch(ix) : epoch;
        rc = search_segments_write(&fresh, ix, in, n, file, covered, paced, maps, err);
    }
    if (!rc) rc = install(ix, old, sources, n, &fresh, maps, epoch, err);
    if (rc) {
        take_back(ix, file);
    } else {
        for (size_t i = 0; i < n; i++) unlink_file(ix, in[i].file);
    }
    for (size_t i = 0; i < n; i++) free(maps[i]);
    return rc;
}

int search_segment_seal(search_index *ix, const search_segment *source, int64_t epoch,
                        fo_err *err) {
    search_segment fresh = {0};
    uint32_t *map = NULL;
    uint64_t file = 0;
    int rc = FO_OK;
    if (source->n_docs) {
        pthread_mutex_lock(&ix->mu);
        file = ix->next_file++;
        pthread_mutex_unlock(&ix->mu);
        rc = search_segments_write(&fresh, ix, source, 1, file, epoch, false, &map, err);
    }
    if (!rc) rc = install(ix, NULL, NULL, 0, &fresh, NULL, epoch, err);
    if (rc) take_back(ix, file);
    free(map);
    return rc;
}

int search_seal_frozen(search_index *ix, fo_err *err) {
    for (;;) {
        search_snapshot *s = search_index_acquire(ix);
        size_t i = 0;
        while (i < s->n_segments && !s->segments[i].frozen) i++;
        int rc = FO_OK;
        bool found = i < s->n_segments;
        uint64_t none; /* a segment in memory has no checksums to fail */
        if (found) rc = replace(ix, s, &i, 1, s->segments[i].epoch, false, &none, err);
        search_index_release(s);
        if (!found || rc) return rc;
    }
}

/* Sealed segments of s from *at on that one may take the place of; *at: behind them. n 0: there are no more. */
static size_t take_group(const search_index *ix, const search_snapshot *s, size_t *at,
                         size_t sources[SEARCH_MAX_MERGE], bool *to_write) {
    size_t n = 0, n_docs = 0, n_dead = 0;
    uint64_t weight = 0;
    for (; *at < s->n_segments && n < SEARCH_MAX_MERGE; ++*at) {
        const search_segment *h = &s->segments[*at];
        if (!is_sealed(h)) continue;
        const size_t live = search_segment_n_live(h);
        n_docs += live;
        weight += search_segment_metadata(h);
        if (n && (n_docs > MERGE_MAX_DOCS || weight > ix->segment_metadata)) break;
        n_dead += h->n_docs - live;
        sources[n++] = *at;
    }
    *to_write = n > 1 || n_dead;
    return n;
}

int search_compact_all(search_index *ix, fo_err *err) {
    search_snapshot *s = search_index_acquire(ix);
    size_t sources[SEARCH_MAX_MERGE], n, at = 0;
    uint64_t damaged; /* the caller is told by the error */
    bool to_write;
    int rc = FO_OK;
    while (!rc && (n = take_group(ix, s, &at, sources, &to_write)))
        if (to_write) rc = replace(ix, s, sources, n, COVERED, false, &damaged, err);
    search_index_release(s);
    return rc;
}

static unsigned tier_of(const search_index *ix, size_t n_live) {
    unsigned tier = 0;
    for (size_t size = ix->seal_chunks; n_live > size + size / 2; size *= 4) tier++;
    return tier;
}

/* Does it take part in merges by size? TIERS: no. */
static unsigned merge_tier(const search_index *ix, const search_segment *h) {
    if (!is_sealed(h) || search_segment_metadata(h) > ix->segment_metadata / MERGE_WIDTH)
        return TIERS;
    const unsigned tier = tier_of(ix, search_segment_n_live(h));
    return tier < TIERS ? tier : TIERS;
}

/* What to merge next; 0: nothing. */
static size_t choose_merge(const search_index *ix, const search_snapshot *s, size_t *sources) {
    size_t count[TIERS + 1] = {0};
    for (size_t i = 0; i < s->n_segments; i++) {
        const search_segment *h = &s->segments[i];
        if (!is_sealed(h)) continue;
        size_t live = search_segment_n_live(h);
        if (live == 0 || (h->n_docs - live) * 3 > h->n_docs) {
            sources[0] = i;
            return 1;
        }
        count[merge_tier(ix, h)]++;
    }
    for (unsigned tier = 0; tier < TIERS; tier++) {
        if (count[tier] < MERGE_WIDTH) continue;
        size_t n = 0, n_docs = 0;
        for (size_t i = 0; i < s->n_segments && n < MERGE_WIDTH; i++) {
            const search_segment *h = &s->segments[i];
            if (merge_tier(ix, h) != tier) continue;
            sources[n++] = i;
            n_docs += search_segment_n_live(h);
        }
        if (n_docs <= MERGE_MAX_DOCS) return n;
    }
    return 0;
}

bool search_has_merge(search_index *ix) {
    size_t sources[SEARCH_MAX_MERGE];
    search_snapshot *s = search_index_acquire(ix);
    size_t n = choose_merge(ix, s, sources);
    search_index_release(s);
    return n > 0;
}

int search_merge_once(search_index *ix, bool *did, uint64_t *damaged, fo_err *err) {
    *damaged = 0;
    pthread_mutex_lock(&ix->merging);
    search_snapshot *s = search_index_acquire(ix);
    size_t sources[SEARCH_MAX_MERGE];
    size_t n = choose_merge(ix, s, sources);
    *did = n > 0;
    int rc = n ? replace(ix, s, sources, n, COVERED, true, damaged, err) : FO_OK;
    search_index_release(s);
    pthread_mutex_unlock(&ix->merging);
    return rc;
}
