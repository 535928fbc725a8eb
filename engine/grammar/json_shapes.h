/* json_shapes.h - a compiled schema from within: what json_schema.c makes and json_reader.c walks.
 *
 * A node is a place where a value stands, and the shapes that the value may have: any one of them.
 * A shape is of one kind and has no choices but those of its children, which are nodes. */
#ifndef FORAGE_ENGINE_JSON_SHAPES_H
#define FORAGE_ENGINE_JSON_SHAPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "engine/grammar/pattern.h"

__extension__ typedef __int128 json_units; /* of a bounded number: of 10^-12 */

enum {
    JSON_MAX_LEVELS = 62,
    JSON_NEVER = 255, /* height of what cannot be written */
    JSON_NO_NODE = 0xffff,
    JSON_DECIMALS = 12,
    JSON_DIGITS = 18, /* of a bounded number, before the point */
    JSON_ENDLESS = 0x7fffffff,
    JSON_FREE_NAMES = 16, /* that are not declared and count towards minProperties */
};

enum json_kind { JSON_OBJECT, JSON_ARRAY, JSON_STRING, JSON_NUMBER, JSON_LITERALS };

typedef struct json_property {
    const char *key; /* as JSON writes it, quotes included */
    uint32_t len;
    uint16_t node;
    uint16_t n_required; /* of its shape, from this one on */
    uint16_t by_key; /* the property that has this one's place in the order of the shape's keys */
    bool required;
} json_property;

typedef struct json_literal {
    const char *text;
    uint32_t len;
} json_literal;

typedef struct json_shape {
    uint8_t kind;
    uint8_t height;    /* levels that the lowest value of it needs; JSON_NEVER: there is none */
    uint16_t rest;     /* node of further properties or items; JSON_NO_NODE: none may come */
    uint32_t first, n; /* properties, nodes of items, or literals */
    uint32_t min, max; /* properties, items, code points (without a pattern); max JSON_ENDLESS */
    bool integer, bounded;      /* JSON_NUMBER */
    json_units low, high, step; /* bounded; step 0: any */
    const pattern *pattern;     /* JSON_STRING; NULL: any text */
} json_shape;

typedef struct json_node {
    uint32_t first, n; /* shapes */
    uint8_t height;    /* of the lowest */
} json_node;

struct json_schema {
    json_node *nodes;
    json_shape *shapes;
    json_property *properties;
    uint16_t *items;
    json_literal *literals;
    pattern **patterns;
    char **texts; /* owned: of keys and literals */
    uint32_t n_nodes, n_shapes, n_properties, n_items, n_literals, n_patterns, n_texts;
    uint32_t cap_nodes, cap_shapes, cap_properties, cap_items, cap_literals, cap_patterns,
        cap_texts;
    uint16_t root;
    size_t effort; /* of the compiler so far (json_spend) */
};

/* Is there a multiple of step (0: any) from low to high? */
bool json_units_any(json_units low, json_units high, json_units step);

#endif
