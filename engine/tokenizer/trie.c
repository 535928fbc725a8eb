#include "engine/tokenizer/trie.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Children of one node still to be placed: keys[lo, hi) agree in their first `depth` bytes. */
typedef struct group {
    int32_t node;
    size_t lo, hi, depth;
} group;

enum { MAX_NODES = 1 << 30, SPARE = 256, N_FROM = 32 };

typedef struct builder {
    trie *t;
    size_t cap;          /* nodes allocated */
    size_t used;         /* one past the highest node in use */
    size_t from[N_FROM]; /* per number of children: where to look for a place */
    group *todo;
    size_t n_todo, cap_todo;
} builder;

static int key_order(const void *a, const void *b) {
    const trie_key *x = a, *y = b;
    size_t n = x->len < y->len ? x->len : y->len;
    int c = n ? memcmp(x->data, y->data, n) : 0;
    if (c) return c;
    if (x->len != y->len) return x->len < y->len ? -1 : 1;
    return (x->value > y->value) - (x->value < y->value);
}

static int grow(builder *b, size_t need, fo_err *err) {
    if (need <= b->cap) return FO_OK;
    if (need > MAX_NODES) return fo_fail(err, FO_ELIMIT, "trie: more than 2^30 nodes");
    size_t cap = b->cap ? b->cap : 1024;
    while (cap < need) cap *= 2;
    trie_node *p = realloc(b->t->nodes, cap * sizeof *p);
    if (!p) return fo_fail(err, FO_ENOMEM, "trie: out of memory");
    for (size_t i = b->cap; i < cap; i++) p[i] = (trie_node){.base = 0, .check = -1, .value = -1};
    b->t->nodes = p;
    b->cap = cap;
    return FO_OK;
}

static int push(builder *b, group g, fo_err *err) {
    if (b->n_todo == b->cap_todo) {
        size_t cap = b->cap_todo ? b->cap_todo * 2 : 256;
        group *p = realloc(b->todo, cap * sizeof *p);
        if (!p) return fo_fail(err, FO_ENOMEM, "trie: out of memory");
        b->todo = p;
        b->cap_todo = cap;
    }
    b->todo[b->n_todo++] = g;
    return FO_OK;
}

/* Find a base at which all n children fit into free nodes. First fit, but never further back than
 * the last node of as many children went: the search is linear over the whole build, and nodes
 * of one child, the most common, fill the gaps that the others leave. */
static int find_base(builder *b, const unsigned char *labels, int n, size_t *base, fo_err *err) {
    size_t *from = &b->from[n < N_FROM ? n : N_FROM - 1];
    size_t pos = *from > labels[0] ? *from : (size_t)labels[0] + 1;
    for (;; pos++) {
        int rc = grow(b, pos + 2 * SPARE, err);
        if (rc) return rc;
        if (b->t->nodes[pos].check >= 0) continue;
        size_t at = pos - labels[0];
        bool fits = true;
        for (int i = 1; i < n && fits; i++) fits = b->t->nodes[at + labels[i]].check < 0;
        if (!fits) continue;
        *base = at;
        *from = pos;
        return FO_OK;
    }
}

static int place(builder *b, const trie_key *keys, group g, fo_err *err) {
    unsigned char labels[256];
    size_t from[257];
    int n = 0;
    size_t i = g.lo;
    while (i < g.hi && keys[i].len == g.depth) {
        trie_node *self = &b->t->nodes[g.node];
        if (g.depth > 0 && self->value < 0) self->value = keys[i].value;
        i++;
    }
    while (i < g.hi) {
        unsigned char c = (unsigned char)keys[i].data[g.depth];
        labels[n] = c;
        from[n++] = i;
        while (i < g.hi && (unsigned char)keys[i].data[g.depth] == c) i++;
    }
    if (n == 0) return FO_OK; /* base 0: no child can have this node as its parent */
    from[n] = g.hi;
    size_t base;
    int rc = find_base(b, labels, n, &base, err);
    if (rc) return rc;
    b->t->nodes[g.node].base = (int32_t)base;
    for (int k = 0; k < n; k++) {
        size_t child = base + labels[k];
        b->t->nodes[child].check = g.node;
        if (child + 1 > b->used) b->used = child + 1;
    }
    for (int k = n - 1; k >= 0 && !rc; k--)
        rc = push(b, (group){(int32_t)(base + labels[k]), from[k], from[k + 1], g.depth + 1}, err);
    return rc;
}

int trie_build(trie *out, trie_key *keys, size_t n_keys, fo_err *err) {
    trie t = {0};
    builder b = {.t = &t, .used = 1};
    if (n_keys) qsort(keys, n_keys, sizeof *keys, key_order);
    int rc = grow(&b, 2 * SPARE, err);
    if (!rc) {
        t.nodes[0].check = 0;
        rc = push(&b, (group){0, 0, n_keys, 0}, err);
    }
    while (!rc && b.n_todo) rc = place(&b, keys, b.todo[--b.n_todo], err);
    free(b.todo);
    if (rc) {
        free(t.nodes);
        return rc;
    }
    t.n_nodes = b.used + SPARE;
    trie_node *fit = realloc(t.nodes, t.n_nodes * sizeof *fit);
    if (fit) t.nodes = fit;
    *out = t;
    return FO_OK;
}

void trie_deinit(trie *t) {
    free(t->nodes);
    *t = (trie){0};
}
