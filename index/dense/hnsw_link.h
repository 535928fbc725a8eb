/* hnsw_link.h - putting points into the graph; shared by hnsw_build.c and hnsw_merge.c. */
#ifndef FORAGE_INDEX_HNSW_LINK_H
#define FORAGE_INDEX_HNSW_LINK_H

#include "index/dense/hnsw_internal.h"

enum { HNSW_CANDIDATES = 512 }; /* most points weighed for one list, besides ef_construction */

/* One writing thread's memory. */
struct hnsw_writer {
    hnsw_scratch s;
    hnsw_probe base, other; /* the point whose list is made; a candidate weighed against others */
    float *x;               /* [dim]: a prepared vector */
    uint64_t *keys;         /* [n_keys]: candidates */
    size_t n_keys;
    uint32_t chosen[HNSW_MAX_LEVEL + 1][2 * HNSW_MAX_M];
    uint32_t n_chosen[HNSW_MAX_LEVEL + 1];
};

/* Room for the upper levels of a new point, drawn from the seed; call in order of id. */
void hnsw_place(hnsw *h, uint32_t id, uint32_t level);
uint32_t hnsw_draw_level(const hnsw *h, uint32_t id);

/* Put the encoded, placed point id into the graph. FO_ENOMEM. */
int hnsw_link(hnsw *h, hnsw_writer *w, uint32_t id, fo_err *err);

/* From n candidates, descending keys of their score to the point with bias `bias`: the diverse
 * ones, at most max -> out. Malkov & Yashunin, algorithm 4. */
uint32_t hnsw_choose(const hnsw *h, hnsw_writer *w, float bias, const uint64_t *keys, size_t n,
                     uint32_t max, uint32_t *out);

/* Make the list of id at level hold exactly ids[n] (its lock is taken). */
void hnsw_set_links(hnsw *h, uint32_t id, uint32_t level, const uint32_t *ids, uint32_t n);

/* Add the link from -> to, thinning the list of `from` when it is full. */
void hnsw_link_back(hnsw *h, hnsw_writer *w, uint32_t from, uint32_t to, uint32_t level);

/* Raise the entry point to id if that reaches higher (or there is none). */
void hnsw_offer_entry(hnsw *h, uint32_t id);

/* Points reachable from the entry at level 0 -> bits of seen[n/64 + 1], zeroed by the caller;
 * stack[n]. Starts at `from`; returns how many were new. */
size_t hnsw_flood(const hnsw *h, uint32_t from, uint64_t *seen, uint32_t *stack);

/* A writer for each thread of the pool. */
typedef struct hnsw_crew {
    int n;
    hnsw_writer **writers;
} hnsw_crew;
int hnsw_crew_init(hnsw_crew *c, const hnsw *h, fo_pool *pool, fo_err *err);
void hnsw_crew_deinit(hnsw_crew *c);
/* fo_pool_run, or the loop in this thread when pool is NULL. */
void hnsw_run(fo_pool *pool, size_t n, size_t grain, fo_pool_fn *fn, void *arg);

#endif
