/* trie.h - a read-only set of byte strings for longest-prefix lookups: a double-array trie.
 * One step of a walk is two loads. Source: Aoe 1989 ("An efficient digital search algorithm by
 * using a double-array structure"). */
#ifndef FORAGE_ENGINE_TRIE_H
#define FORAGE_ENGINE_TRIE_H

#include <stddef.h>
#include <stdint.h>
#include "kernels/error.h"

typedef struct trie_node {
    int32_t base;  /* child for byte c is base + c, if that node's check is this node */
    int32_t check; /* parent, -1 while free */
    int32_t value; /* -1: no key ends here */
} trie_node;

/* Immutable after build; any thread may walk. Zero-initialise before trie_build. */
typedef struct trie {
    trie_node *nodes; /* nodes[0] is the root; 256 spare nodes follow the last used one */
    size_t n_nodes;
} trie;

typedef struct trie_key {
    const char *data;
    size_t len;
    int32_t value; /* >= 0 */
} trie_key;

/* Build from keys in any order (they are sorted in place). Of equal keys the one with the smallest
 * value counts; empty keys are ignored. FO_ENOMEM, FO_ELIMIT (more than 2^30 nodes). */
int trie_build(trie *out, trie_key *keys, size_t n_keys, fo_err *err);
void trie_deinit(trie *t); /* a zeroed trie is fine */

/* The child of `node` for byte c, or -1. A zeroed trie has no nodes: do not walk it. */
static inline int32_t trie_step(const trie *t, int32_t node, unsigned char c) {
    int32_t next = t->nodes[node].base + c;
    return t->nodes[next].check == node ? next : -1;
}

/* Length of the longest key that begins s[0..n), walking on from `node` (0: the root); 0 if none.
 * *value is that key's. */
static inline size_t trie_longest(const trie *t, int32_t node, const char *s, size_t n,
                                  int32_t *value) {
    size_t best = 0;
    for (size_t i = 0; i < n; i++) {
        node = trie_step(t, node, (unsigned char)s[i]);
        if (node < 0) break;
        if (t->nodes[node].value >= 0) {
            *value = t->nodes[node].value;
            best = i + 1;
        }
    }
    return best;
}

#endif
