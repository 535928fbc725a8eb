/* Can one value have both of two shapes? Only what is sure counts: types that begin differently,
 * literals that the other does not hold, bounds that do not meet, and of objects a property that
 * one of them requires and that the other forbids or gives other values. */
#include <string.h>

#include "engine/grammar/json_compile.h"

enum { MAX_LEVELS = 4 };

static bool nodes_exclude(struct json_schema *s, uint16_t a, uint16_t b, int depth) {
    const json_node *x = &s->nodes[a], *y = &s->nodes[b];
    for (uint32_t i = 0; i < x->n; i++)
        for (uint32_t k = 0; k < y->n; k++)
            if (!json_shapes_exclude(s, x->first + i, y->first + k, depth)) return false;
    return true;
}

/* Does a shape surely have none of the literals? */
static bool literals_exclude(struct json_schema *s, uint32_t literals, uint32_t shape) {
    const json_shape *k = &s->shapes[literals];
    for (uint32_t i = 0; i < k->n; i++)
        if (json_literal_is(s, &s->literals[k->first + i], JSON_NO_NODE, shape) != JSON_NO)
            return false;
    return true;
}

static const json_property *find(const struct json_schema *s, const json_shape *k,
                                 const char *key) {
    for (uint32_t i = 0; i < k->n; i++)
        if (!strcmp(s->properties[k->first + i].key, key)) return &s->properties[k->first + i];
    return NULL;
}

/* Does a require a property that b forbids, or whose value tells them apart? */
static bool required_tells(struct json_schema *s, const json_shape *a, const json_shape *b,
                           int depth) {
    for (uint32_t i = 0; i < a->n; i++) {
        const json_property *p = &s->properties[a->first + i];
        if (!p->required) continue;
        const json_property *q = find(s, b, p->key);
        s->effort += b->n * JSON_NAME_LOOKS(p->len);
        uint16_t other = q ? q->node : b->rest;
        if (other == JSON_NO_NODE || s->nodes[other].height == JSON_NEVER) return true;
        if (nodes_exclude(s, p->node, other, depth)) return true;
    }
    return false;
}

bool json_shapes_exclude(struct json_schema *s, uint32_t a, uint32_t b, int depth) {
    const json_shape *x = &s->shapes[a], *y = &s->shapes[b];
    if (++s->effort >= SCHEMA_MAX_EFFORT) return false;
    if (x->height == JSON_NEVER || y->height == JSON_NEVER) return true;
    if (depth > MAX_LEVELS) return false;
    if (x->kind == JSON_LITERALS) return literals_exclude(s, a, b);
    if (y->kind == JSON_LITERALS) return literals_exclude(s, b, a);
    if (x->kind != y->kind) return true;
    switch ((enum json_kind)x->kind) {
    case JSON_OBJECT:
        return required_tells(s, x, y, depth + 1) || required_tells(s, y, x, depth + 1);
    case JSON_NUMBER:
        return x->bounded && y->bounded && (x->low > y->high || y->low > x->high);
    case JSON_STRING:
        return !x->pattern && !y->pattern && (x->min > y->max || y->min > x->max);
    default:
        return x->min > y->max || y->min > x->max;
    }
}
