/* Writing a charsmap. The trie is laid out greedily: of the keys that share a prefix, the bytes that
 * follow it take the first place where all of them are free. A few thousand keys of a few bytes, as
 * SentencePiece's NFKC has them, take milliseconds. */
#include "engine/tokenizer/charsmap.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* An offset has 21 bits, and so have the places that it leads to. */
enum { MAX_UNITS = 1 << 21, FIRST_UNITS = 1 << 12 };

typedef struct layout {
    const charsmap_rule *rules; /* ascending by key */
    const uint32_t *values;     /* where each rule's text begins */
    uint32_t *units;
    bool *used, *taken; /* places; offsets from which children were placed */
    size_t n;           /* places there is room for */
    uint32_t first_free;
    bool no_memory, full;
} layout;

static bool grow(layout *l, size_t n) {
    if (n <= l->n) return true;
    if (n > MAX_UNITS) {
        l->full = true;
        return false;
    }
    size_t cap = l->n ? l->n : FIRST_UNITS;
    while (cap < n) cap *= 2;
    uint32_t *units = realloc(l->units, cap * sizeof *units);
    if (units) l->units = units;
    bool *used = realloc(l->used, cap * sizeof *used);
    if (used) l->used = used;
    bool *taken = realloc(l->taken, cap * sizeof *taken);
    if (taken) l->taken = taken;
    if (!units || !used || !taken) {
        l->no_memory = true;
        return false;
    }
    memset(units + l->n, 0, (cap - l->n) * sizeof *units);
    memset(used + l->n, 0, (cap - l->n) * sizeof *used);
    memset(taken + l->n, 0, (cap - l->n) * sizeof *taken);
    l->n = cap;
    return true;
}

/* The first place where labels[n] can hang: place ^ label is free for each. 0: none. */
static uint32_t find_place(layout *l, const unsigned char *labels, size_t n) {
    while (l->first_free < l->n && l->used[l->first_free]) l->first_free++;
    for (uint32_t at = l->first_free;; at++) {
        uint32_t place = at ^ labels[0];
        if (!grow(l, (size_t)(place | 255) + 1)) return 0;
        if (!place || l->used[at] || l->taken[place]) continue;
        size_t i = 1;
        while (i < n && !l->used[place ^ labels[i]]) i++;
        if (i == n) return place;
    }
}

/* The children of the unit at `at`, whose prefix of `depth` bytes rules[from..to) share. */
static void place_children(layout *l, uint32_t at, size_t from, size_t to, size_t depth) {
    unsigned char labels[256];
    size_t n = 0, leaf = SIZE_MAX;
    for (size_t i = from; i < to; i++) {
        const charsmap_rule *r = &l->rules[i];
        unsigned char c = 0; /* no key has one: the place of the value */
        if (r->key_len > depth)
            c = (unsigned char)r->key[depth];
        else
            leaf = i;
        if (!n || labels[n - 1] != c) labels[n++] = c;
    }
    uint32_t place = find_place(l, labels, n);
    if (!place) return;
    l->taken[place] = true;
    for (size_t i = 0; i < n; i++) l->used[place ^ labels[i]] = true;
    l->units[at] |= (at ^ place) << 10 | (leaf != SIZE_MAX ? 1u << 8 : 0);
    for (size_t i = 0; i < n; i++)
        if (labels[i]) l->units[place ^ labels[i]] = labels[i];
    if (leaf != SIZE_MAX) l->units[place] = l->values[leaf] | 1u << 31;
    for (size_t i = from, end; i < to && !l->no_memory && !l->full; i = end) {
        end = i + 1;
        if (l->rules[i].key_len <= depth) continue;
        while (end < to && l->rules[end].key[depth] == l->rules[i].key[depth]) end++;
        place_children(l, place ^ (unsigned char)l->rules[i].key[depth], i, end, depth + 1);
    }
}

static int by_key(const void *a, const void *b) {
    const charsmap_rule *x = a, *y = b;
    size_t n = x->key_len < y->key_len ? x->key_len : y->key_len;
    int order = memcmp(x->key, y->key, n);
    return order ? order : (x->key_len > y->key_len) - (x->key_len < y->key_len);
}

static int check_rules(const charsmap_rule *rules, size_t n, fo_err *err) {
    for (size_t i = 0; i < n; i++) {
        const charsmap_rule *r = &rules[i];
        if (!r->key_len || r->key_len > CHARSMAP_MAX_KEY || memchr(r->key, 0, r->key_len) ||
            memchr(r->text, 0, r->text_len))
            return fo_fail(
                err, FO_EINVAL,
                "a rule of a charsmap is empty, longer than %d bytes, or has a zero byte",
                CHARSMAP_MAX_KEY);
        if (i && by_key(r - 1, r) == 0)
            return fo_fail(err, FO_EINVAL, "a charsmap has two rules for the same characters");
    }
    return FO_OK;
}

int charsmap_build(charsmap_rule *rules, size_t n, fo_buf *out, fo_err *err) {
    qsort(rules, n, sizeof *rules, by_key);
    int rc = check_rules(rules, n, err);
    if (rc) return rc;
    layout l = {.rules = rules, .first_free = 1};
    uint32_t *values = malloc((n + 1) * sizeof *values);
    fo_buf texts = {0};
    l.no_memory = !values;
    for (size_t i = 0; values && i < n; i++) {
        values[i] = (uint32_t)texts.len;
        fo_buf_add(&texts, rules[i].text, rules[i].text_len);
        fo_buf_char(&texts, 0);
    }
    l.values = values;
    if (!l.no_memory && grow(&l, FIRST_UNITS)) {
        l.used[0] = true;
        if (n) place_children(&l, 0, 0, n, 0);
    }
    uint32_t bytes = (uint32_t)(l.n * sizeof *l.units);
    fo_buf_add(out, &bytes, sizeof bytes);
    if (l.units) fo_buf_add(out, l.units, bytes);
    fo_buf_add(out, texts.data ? texts.data : "", texts.len);
    if (l.full)
        rc = fo_fail(err, FO_ELIMIT, "%zu rules are too many for a charsmap", n);
    else if (l.no_memory || texts.failed || out->failed)
        rc = fo_no_memory(err);
    free(l.units);
    free(l.used);
    free(l.taken);
    free(values);
    fo_buf_free(&texts);
    return rc;
}
