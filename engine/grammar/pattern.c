#include "engine/grammar/pattern.h"

#include <stdlib.h>
#include <string.h>

#include "engine/grammar/pattern_syntax.h"

enum {
    MAX_NODES = 16384,
    MAX_STATES = 8192,
    MAX_SET = 1 << 20, /* node numbers of all states together */
    MAX_WORK = 1 << 24,
    HASH = 4 * MAX_STATES,
};

struct pattern {
    uint16_t *next; /* [n_states][n_classes] */
    bool *accepts;  /* [n_states] */
    int n_states, n_classes;
    uint16_t start;
    uint8_t class_of[256];
};

/* ---- nodes: an automaton with choices -------------------------------------------------------- */

enum node_kind { NODE_BYTES, NODE_SPLIT, NODE_BEGIN, NODE_END, NODE_ACCEPT };

typedef struct node {
    uint8_t kind, first, last; /* bytes */
    int a, b;                  /* where it leads; b of NODE_SPLIT, or -1 */
} node;

typedef struct builder {
    const pattern_tree *t;
    node *nodes;
    int n_nodes;
    fo_err *err;
    /* states: sets of nodes, with the number of code points read where that counts */
    int *members; /* [MAX_SET] */
    int n_members;
    struct {
        int from, n;
        uint32_t chars;
        bool begin; /* nothing was read: ^ holds */
    } * sets;       /* [MAX_STATES] */
    int n_sets;
    int *hash;    /* [HASH] set + 1 */
    int *mark;    /* [MAX_NODES] the closure that saw it last */
    int *scratch; /* [MAX_NODES] */
    int *stack;   /* [MAX_NODES] */
    int n_scratch, round;
    size_t min_chars, max_chars, work;
    bool counts;
} builder;

static int too_large(const builder *b) {
    return fo_fail(b->err, FO_ELIMIT, "the pattern has too many states");
}

static int add_node(builder *b, node n, int *out) {
    if (b->n_nodes == MAX_NODES) return too_large(b);
    *out = b->n_nodes;
    b->nodes[b->n_nodes++] = n;
    return FO_OK;
}

static int either(builder *b, int x, int y, int *out) {
    return add_node(b, (node){NODE_SPLIT, 0, 0, x, y}, out);
}

static int encode(uint32_t v, uint8_t out[4]) {
    if (v < 0x80) return out[0] = (uint8_t)v, 1;
    int n = v < 0x800 ? 2 : v < 0x10000 ? 3 : 4;
    for (int i = n - 1; i > 0; i--, v >>= 6) out[i] = (uint8_t)(0x80 | (v & 0x3f));
    out[0] = (uint8_t)(v | (n == 2 ? 0xc0u : n == 3 ? 0xe0u : 0xf0u));
    return n;
}

/* A range of code points whose encodings are equally long and differ so that each byte has a range
 * of its own: a chain of bytes to `next`. */
static int add_chain(builder *b, uint32_t first, uint32_t last, int next, int *out) {
    uint8_t lo[4], hi[4];
    int n = encode(first, lo), rc = FO_OK;
    encode(last, hi);
    *out = next;
    for (int i = n - 1; !rc && i >= 0; i--)
        rc = add_node(b, (node){NODE_BYTES, lo[i], hi[i], *out, -1}, out);
    return rc;
}

/* Cut [first, last] where encodings grow longer, at the surrogates, and where a byte behind the
 * first that differs has not its whole range. */
static int add_points(builder *b, uint32_t first, uint32_t last, int next, int *out) {
    static const uint32_t ends[] = {0x7f, 0x7ff, 0xd7ff, 0xdfff, 0xffff, 0x10ffff};
    int rc = FO_OK;
    while (!rc && first <= last) {
        uint32_t to = last;
        for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
            if (first <= ends[i] && ends[i] < to) to = ends[i];
        if (first >= 0xd800 && first <= 0xdfff) {
            first = to + 1;
            continue;
        }
        for (int bits = 6; bits <= 18; bits += 6) {
            uint32_t low = (1u << bits) - 1;
            if ((first & ~low) == (to & ~low)) break;
            if (first & low) {
                to = first | low;
                break;
            }
            if ((to & low) != low) to = (to & ~low) - 1;
        }
        int chain = 0;
        rc = add_chain(b, first, to, next, &chain);
        if (!rc) rc = *out < 0 ? (*out = chain, FO_OK) : either(b, *out, chain, out);
        first = to + 1;
    }
    return rc;
}

static int build(builder *b, int term, int next, int *out);

static int build_repeat(builder *b, const pattern_term *t, int next, int *out) {
    int rc = FO_OK;
    *out = next;
    if (t->max == PATTERN_ENDLESS) {
        int loop = 0, body = 0;
        rc = either(b, -1, next, &loop);
        if (!rc) rc = build(b, t->a, loop, &body);
        if (!rc) b->nodes[loop].a = body;
        *out = loop;
    } else {
        for (int i = t->min; !rc && i < t->max; i++) {
            int body = 0;
            rc = build(b, t->a, *out, &body);
            if (!rc) rc = either(b, body, next, out);
        }
    }
    for (int i = 0; !rc && i < t->min; i++) rc = build(b, t->a, *out, out);
    return rc;
}

/* The nodes of a term that lead to `next`; *out: where they begin. */
static int build(builder *b, int term, int next, int *out) {
    const pattern_term *t = &b->t->terms[term];
    int rc = FO_OK, mid = 0;
    if (++b->work > MAX_WORK) return too_large(b);
    switch (t->kind) {
    case PATTERN_SET:
        *out = -1;
        for (int i = 0; !rc && i < t->b; i++) {
            const pattern_range *r = &b->t->ranges[t->a + i];
            rc = add_points(b, r->first, r->last, next, out);
        }
        if (!rc && *out < 0) rc = add_node(b, (node){NODE_BYTES, 1, 0, next, -1}, out);
        return rc;
    case PATTERN_CAT:
        rc = build(b, t->b, next, &mid);
        return rc ? rc : build(b, t->a, mid, out);
    case PATTERN_EITHER:
        rc = build(b, t->b, next, &mid);
        if (!rc) rc = build(b, t->a, next, out);
        return rc ? rc : either(b, *out, mid, out);
    case PATTERN_REPEAT:
        return build_repeat(b, t, next, out);
    case PATTERN_BEGIN:
        return add_node(b, (node){NODE_BEGIN, 0, 0, next, -1}, out);
    case PATTERN_END:
        return add_node(b, (node){NODE_END, 0, 0, next, -1}, out);
    default:
        *out = next;
        return FO_OK;
    }
}

/* Any text before and behind: a pattern matches anywhere. */
static int build_all(builder *b, int *out) {
    int accept = 0, any = 0, start = 0, body = 0;
    int rc = add_node(b, (node){NODE_ACCEPT, 0, 0, -1, -1}, &accept);
    if (!rc) rc = either(b, -1, accept, &start);
    any = -1;
    if (!rc) rc = add_points(b, 0, 0x10ffff, start, &any);
    if (rc) return rc;
    b->nodes[start].a = any;
    rc = build(b, b->t->root, start, &body);
    int loop = 0;
    if (!rc) rc = either(b, -1, body, &loop);
    any = -1;
    if (!rc) rc = add_points(b, 0, 0x10ffff, loop, &any);
    if (!rc) b->nodes[loop].a = any;
    *out = loop;
    return rc;
}

/* ---- states ---------------------------------------------------------------------------------- */

/* Into scratch: from a node to all that no byte is needed for. begin, end: ^ or $ hold here. */
static void close_over(builder *b, int from, bool begin, bool end) {
    int n = 0;
    if (from < 0 || b->mark[from] == b->round) return;
    b->mark[from] = b->round;
    b->stack[n++] = from;
    while (n) {
        int at = b->stack[--n];
        const node *x = &b->nodes[at];
        b->work++;
        bool goes = x->kind == NODE_SPLIT || (x->kind == NODE_BEGIN && begin) ||
                    (x->kind == NODE_END && end);
        if (x->kind == NODE_BYTES || x->kind == NODE_ACCEPT || x->kind == NODE_END)
            b->scratch[b->n_scratch++] = at;
        const int next[] = {goes ? x->a : -1, goes ? x->b : -1};
        for (int i = 0; i < 2; i++)
            if (next[i] >= 0 && b->mark[next[i]] != b->round) {
                b->mark[next[i]] = b->round;
                b->stack[n++] = next[i];
            }
    }
}

static int by_number(const void *a, const void *b) {
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

/* The state of the nodes in scratch. */
static int intern(builder *b, uint32_t chars, bool begin, int *out) {
    size_t n = (size_t)b->n_scratch;
    qsort(b->scratch, n, sizeof *b->scratch, by_number);
    uint32_t h = chars * 2654435761u + 1;
    for (size_t i = 0; i < n; i++) h = (h ^ (uint32_t)b->scratch[i]) * 16777619u;
    uint32_t at = h % HASH;
    for (; b->hash[at]; at = (at + 1) % HASH) {
        int s = b->hash[at] - 1;
        if (b->sets[s].n == b->n_scratch && b->sets[s].chars == chars &&
            b->sets[s].begin == begin &&
            !memcmp(b->members + b->sets[s].from, b->scratch, n * sizeof *b->scratch))
            return *out = s, FO_OK;
    }
    if (b->n_sets == MAX_STATES || b->n_members + b->n_scratch > MAX_SET) return too_large(b);
    memcpy(b->members + b->n_members, b->scratch, n * sizeof *b->scratch);
    b->sets[b->n_sets].from = b->n_members;
    b->sets[b->n_sets].n = b->n_scratch;
    b->sets[b->n_sets].chars = chars;
    b->sets[b->n_sets].begin = begin;
    b->n_members += b->n_scratch;
    b->hash[at] = b->n_sets + 1;
    *out = b->n_sets++;
    return FO_OK;
}

static bool set_accepts(builder *b, int s) {
    if (b->counts && (b->sets[s].chars < b->min_chars || b->sets[s].chars > b->max_chars))
        return false;
    b->round++;
    b->n_scratch = 0;
    for (int i = 0; i < b->sets[s].n; i++)
        close_over(b, b->members[b->sets[s].from + i], b->sets[s].begin, true);
    for (int i = 0; i < b->n_scratch; i++)
        if (b->nodes[b->scratch[i]].kind == NODE_ACCEPT) return true;
    return false;
}

/* Bytes that no node tells apart are of one class. */
static int find_classes(const builder *b, uint8_t class_of[256]) {
    bool cut[257] = {false};
    cut[0x80] = cut[0xc0] = true; /* where a code point begins matters to its count */
    for (int i = 0; i < b->n_nodes; i++)
        if (b->nodes[i].kind == NODE_BYTES && b->nodes[i].first <= b->nodes[i].last)
            cut[b->nodes[i].first] = cut[b->nodes[i].last + 1] = true;
    static const unsigned char written[] = "\b\t\n\f\r";
    cut[0x20] = true;
    for (int i = 0; i < 5; i++) cut[written[i]] = cut[written[i] + 1] = true;
    int n = 0;
    for (int c = 0; c < 256; c++) class_of[c] = (uint8_t)(n += c && cut[c]);
    return n + 1;
}

static uint32_t chars_behind(const builder *b, uint32_t chars, unsigned char byte) {
    if (!b->counts || (byte & 0xc0) == 0x80) return chars;
    /* Without an upper bound all counts from min on are alike. */
    return b->max_chars == SIZE_MAX && chars >= b->min_chars ? chars : chars + 1;
}

static int make_row(builder *b, pattern *p, int s) {
    int rc = FO_OK;
    for (int c = 0; !rc && c < 256; c++) {
        int k = p->class_of[c];
        if (c && p->class_of[c - 1] == k) continue;
        uint16_t *to = &p->next[s * p->n_classes + k];
        *to = PATTERN_DEAD;
        uint32_t chars = chars_behind(b, b->sets[s].chars, (unsigned char)c);
        if (b->counts && chars > b->max_chars) continue;
        b->round++;
        b->n_scratch = 0;
        for (int i = 0; i < b->sets[s].n; i++) {
            const node *x = &b->nodes[b->members[b->sets[s].from + i]];
            if (x->kind == NODE_BYTES && x->first <= c && c <= x->last)
                close_over(b, x->a, false, false);
        }
        if ((b->work += (size_t)b->sets[s].n) > MAX_WORK) return too_large(b);
        int next = 0;
        if (b->n_scratch) rc = intern(b, chars, false, &next);
        if (!rc && b->n_scratch) *to = (uint16_t)next;
    }
    return rc;
}

static bool writable(int c) {
    return c >= 0x20 || c == '\b' || c == '\t' || c == '\n' || c == '\f' || c == '\r';
}

/* States from which no match can be written any more are dead. */
static int drop_dead(builder *b, pattern *p, bool *alive) {
    bool class_writable[256] = {false};
    for (int c = 0; c < 256; c++) class_writable[p->class_of[c]] |= writable(c);
    bool changed = true;
    memcpy(alive, p->accepts, (size_t)p->n_states * sizeof *alive);
    while (changed) {
        changed = false;
        if (b->work > 2 * (size_t)MAX_WORK) return too_large(b); /* as much as the states took */
        for (int s = p->n_states; s-- > 0;)
            for (int k = 0; !alive[s] && k < p->n_classes; k++) {
                uint16_t to = p->next[s * p->n_classes + k];
                b->work++;
                if (to != PATTERN_DEAD && class_writable[k] && alive[to]) changed = alive[s] = true;
            }
    }
    for (int i = 0; i < p->n_states * p->n_classes; i++)
        if (p->next[i] != PATTERN_DEAD && !alive[p->next[i]]) p->next[i] = PATTERN_DEAD;
    if (!alive[0]) p->start = PATTERN_DEAD;
    return FO_OK;
}

static int determine(builder *b, pattern *p, int first) {
    int start = 0;
    b->round++;
    b->n_scratch = 0;
    close_over(b, first, true, false);
    int rc = intern(b, 0, true, &start);
    p->n_classes = find_classes(b, p->class_of);
    int room = 0;
    for (int s = 0; !rc && s < b->n_sets; s++) {
        if (s >= room) {
            room = room ? 2 * room : 64;
            size_t n = (size_t)room * (size_t)p->n_classes * sizeof *p->next;
            uint16_t *next = realloc(p->next, n);
            bool *accepts = realloc(p->accepts, (size_t)room * sizeof *accepts);
            if (next) p->next = next;
            if (accepts) p->accepts = accepts;
            if (!next || !accepts) return fo_no_memory(b->err);
        }
        rc = make_row(b, p, s);
        if (!rc) p->accepts[s] = set_accepts(b, s);
        p->n_states = s + 1;
    }
    bool *alive = rc ? NULL : malloc((size_t)p->n_states * sizeof *alive);
    if (!rc && !alive) rc = fo_no_memory(b->err);
    if (!rc) rc = drop_dead(b, p, alive);
    free(alive);
    return rc;
}

int pattern_compile(pattern **out, const char *text, size_t min_chars, size_t max_chars,
                    size_t *work, fo_err *err) {
    builder b = {.err = err, .min_chars = min_chars, .max_chars = max_chars};
    pattern *p = calloc(1, sizeof *p);
    pattern_tree *tree = malloc(sizeof *tree);
    b.counts = min_chars > 0 || max_chars != SIZE_MAX;
    b.nodes = malloc(MAX_NODES * sizeof *b.nodes);
    b.members = malloc(MAX_SET * sizeof *b.members);
    b.sets = malloc(MAX_STATES * sizeof *b.sets);
    b.hash = calloc(HASH, sizeof *b.hash);
    b.mark = calloc(MAX_NODES, sizeof *b.mark);
    b.scratch = malloc(MAX_NODES * sizeof *b.scratch);
    b.stack = malloc(MAX_NODES * sizeof *b.stack);
    bool ok =
        p && tree && b.nodes && b.members && b.sets && b.hash && b.mark && b.scratch && b.stack;
    int first = 0, rc = ok ? pattern_parse(tree, text, err) : fo_no_memory(err);
    b.t = tree;
    if (!rc) rc = build_all(&b, &first);
    if (!rc) rc = determine(&b, p, first);
    *work = b.work;
    free(tree);
    free(b.nodes);
    free(b.members);
    free(b.sets);
    free(b.hash);
    free(b.mark);
    free(b.scratch);
    free(b.stack);
    if (rc)
        pattern_free(p);
    else
        *out = p;
    return rc;
}

void pattern_free(pattern *p) {
    if (!p) return;
    free(p->next);
    free(p->accepts);
    free(p);
}

uint16_t pattern_start(const pattern *p) {
    return p->start;
}

uint16_t pattern_step(const pattern *p, uint16_t state, unsigned char byte) {
    return p->next[state * p->n_classes + p->class_of[byte]];
}

bool pattern_accepts(const pattern *p, uint16_t state) {
    return p->accepts[state];
}
