#include "engine/model/placement.h"

enum { PAGE_BYTES = 4096 };

int placement_strips(const linear *w, int panels, int first[LINEAR_PARTS + 1]) {
    first[0] = 0;
    for (int p = 0; p < w->n_parts; p++)
        first[p + 1] = first[p] + (w->w[p].n_panels + panels - 1) / panels;
    return first[w->n_parts];
}

typedef struct touch_job {
    const model *m;
    const linear *w;
    int first[LINEAR_PARTS + 1];
} touch_job;

typedef struct range {
    unsigned char *at;
    size_t bytes;
} range;

/* Strips [begin, end) in memory: neighbouring parts follow each other where a block has room. */
static int find_ranges(const touch_job *j, size_t begin, size_t end, range out[LINEAR_PARTS]) {
    const int panels = j->m->mm->panels;
    int n = 0;
    for (int p = 0; p < j->w->n_parts; p++) {
        const mm_weights *w = &j->w->w[p];
        const int from = (int)begin > j->first[p] ? (int)begin : j->first[p];
        const int to = (int)end < j->first[p + 1] ? (int)end : j->first[p + 1];
        if (from >= to) continue;
        const int p0 = (from - j->first[p]) * panels, p1 = (to - j->first[p]) * panels;
        unsigned char *at = w->data + (size_t)p0 * w->panel_bytes;
        const size_t bytes = (size_t)((p1 < w->n_panels ? p1 : w->n_panels) - p0) * w->panel_bytes;
        if (n && out[n - 1].at + out[n - 1].bytes == at)
            out[n - 1].bytes += bytes;
        else
            out[n++] = (range){at, bytes};
    }
    return n;
}

static void touch_share(void *arg, size_t begin, size_t end, int thread) {
    const touch_job *j = arg;
    range r[LINEAR_PARTS];
    fo_pool_share(j->m->pool, (size_t)j->first[j->w->n_parts], thread, &begin, &end);
    for (int n = find_ranges(j, begin, end, r); n-- > 0;) {
        volatile unsigned char *at = r[n].at;
        const volatile unsigned char *stop = at + r[n].bytes;
        for (; at < stop; at += PAGE_BYTES - (uintptr_t)at % PAGE_BYTES) *at = 0;
    }
}

void placement_touch(const model *m, const linear *w) {
    const fo_pool *pool = m->pool;
    if (!pool || !fo_pool_is_bound(pool)) return;
    touch_job job = {.m = m, .w = w};
    const size_t strips = (size_t)placement_strips(w, m->mm->panels, job.first);
    const int threads = fo_pool_threads(pool);
    for (int t = 0, last; t < threads; t = last + 1) { /* the threads of a node */
        size_t begin, end, next;
        for (last = t; last + 1 < threads; last++)
            if (fo_pool_node(pool, last + 1) != fo_pool_node(pool, t)) break;
        fo_pool_share(pool, strips, t, &begin, &end);
        fo_pool_share(pool, strips, last, &next, &end);
        range r[LINEAR_PARTS];
        for (int n = find_ranges(&job, begin, end, r); n-- > 0;)
            fo_huge_place(r[n].at, r[n].bytes, fo_pool_node_number(pool, t));
    }
    fo_pool_each(m->pool, touch_share, &job);
}
