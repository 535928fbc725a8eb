/* json_compile.h - what the parts of the schema compiler share (json_schema.c says how it goes). */
#ifndef FORAGE_ENGINE_JSON_COMPILE_H
#define FORAGE_ENGINE_JSON_COMPILE_H

#include <cjson/cJSON.h>
#include <stdio.h>

#include "engine/grammar/json_reader.h"
#include "engine/grammar/json_shapes.h"
#include "kernels/buf.h"
#include "kernels/error.h"

enum {
    SCHEMA_MAX_NODES = 4096,
    SCHEMA_MAX_SHAPES = 32768,
    SCHEMA_MAX_PARTS = 32768,     /* properties, items, literals, texts */
    SCHEMA_MAX_PROPERTIES = 1024, /* of one object */
    SCHEMA_MAX_PATTERNS = 64,
    SCHEMA_MAX_SET = 24,
    SCHEMA_MAX_CHOICES = 8,
    SCHEMA_MAX_ALTERNATIVES = 60,
    SCHEMA_MAX_DEPTH = 64,
    SCHEMA_MAX_PAIRS = 65536,
    SCHEMA_MAX_WORK = 100000,
    SCHEMA_MAX_EFFORT =
        256 << 20, /* looks at a key or a value, an eighth of a byte kept: a second */
};

/* Schemas that all hold. bare: enum and const aside. */
typedef struct schema_set {
    const cJSON *of[SCHEMA_MAX_SET];
    int n;
    bool bare;
} schema_set;

typedef struct choice {
    const cJSON *list; /* of anyOf or oneOf */
    int of;            /* the member of `plain` that has it */
    int taken;         /* -1: none yet */
    bool only_one;
} choice;

typedef struct alternative {
    schema_set plain;
    uint32_t above[SCHEMA_MAX_SET]; /* of each: bits of itself and of those that lead to it */
    choice choices[SCHEMA_MAX_CHOICES];
    int n_choices;
    bool never;
} alternative;

typedef struct exclusive_pair {
    uint32_t a, b; /* shapes */
    const cJSON *where;
} exclusive_pair;

typedef struct literal_filter {
    uint32_t shape;
    uint16_t node; /* what its literals must be values of, too */
} literal_filter;

/* What a pattern of the schema was made of: the same is made once. */
typedef struct kept_pattern {
    const char *text;
    uint32_t min, max;
} kept_pattern;

typedef struct compiling {
    const cJSON *root;
    struct json_schema *s;
    schema_set *keys; /* [n_nodes] */
    exclusive_pair *pairs;
    literal_filter *filters;
    kept_pattern patterns[SCHEMA_MAX_PATTERNS]; /* [n_patterns] */
    uint32_t cap_keys, n_pairs, cap_pairs, n_filters, cap_filters;
    size_t work;
    fo_err *err;
} compiling;

/* That comparing a name of so many bytes counts as. */
#define JSON_NAME_LOOKS(len) (1 + (size_t)(len) / 32)

/* "#/place/key: what". */
int json_refuse(const compiling *c, int code, const cJSON *where, const char *key,
                const char *what);
/* Every loop over what the schema's author may make long says here how long it is: schemas that would take
 * minutes, or gigabytes, are refused (FO_ELIMIT). */
int json_spend(const compiling *c, size_t n);
/* Room for one more; NULL with c->err set. */
void *json_grow(void *list, uint32_t n, uint32_t *cap, size_t size, uint32_t most,
                const compiling *c);

/* The node of a set; new ones are compiled later. */
int json_node_of(compiling *c, const schema_set *set, uint16_t *out);
int json_node_add(compiling *c, const schema_set *key, uint16_t *out);

/* Add the shapes of what satisfies all of `plain` (json_keywords.c). */
int json_shapes_of(compiling *c, const schema_set *plain, bool bare);

/* What looking at a byte of a value's text counts as. */
enum { JSON_VALUE_LOOKS = 4 };

/* Values against shapes (json_value.c). What that took is added to s->effort; past SCHEMA_MAX_EFFORT it is
 * not sure. */
enum json_answer { JSON_NO, JSON_UNSURE, JSON_YES };
/* Of a literal: is it a value of the node, or with JSON_NO_NODE of the shape? */
enum json_answer json_literal_is(struct json_schema *s, const json_literal *l, uint16_t node,
                                 uint32_t shape);
/* A literal as it is written: numbers with all digits that make them out, whole ones without an exponent. Caller frees;
 * NULL: no memory. */
char *json_literal_text(const cJSON *v);
/* A decimal as units of 10^-12; false: it has more decimals, or is too large. */
bool json_to_units(double v, json_units *out);

/* Is there surely no value that both shapes have (json_exclusive.c)? What it looks at is added to s->effort; past
 * SCHEMA_MAX_EFFORT it says no. */
bool json_shapes_exclude(struct json_schema *s, uint32_t a, uint32_t b, int depth);

#endif
