/* A schema becomes nodes and shapes (json_shapes.h) in four steps:
 *
 * 1. A node is a set of schemas that must all hold. Each is taken apart: $ref and allOf add to the
 *    set, anyOf and oneOf cut it into alternatives (expand), until only plain schemas are left.
 * 2. Each alternative is intersected, keyword by keyword, into one shape a type (json_keywords.c).
 *    The children of a shape are nodes again, known by their sets: so recursion ends.
 * 3. Heights: how deep the lowest value of a node is. What has none can never be finished and is
 *    never begun.
 * 4. Literals that other keywords beside enum refuse are dropped; alternatives of a oneOf are held
 *    against each other (json_exclusive.c). */
#include "engine/grammar/json_schema.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

#include "engine/grammar/json_compile.h"

/* ---- places ---------------------------------------------------------------------------------- */

/* The path from `at` to `target`, behind what stands in *out. */
static bool find_place(const cJSON *at, const cJSON *target, fo_buf *out) {
    if (at == target) return true;
    const cJSON *item;
    int i = 0;
    cJSON_ArrayForEach(item, at) {
        size_t len = out->len;
        if (cJSON_IsArray(at))
            fo_buf_printf(out, "/%d", i++);
        else
            fo_buf_printf(out, "/%.80s", item->string);
        if (find_place(item, target, out)) return true;
        out->len = len;
    }
    return false;
}

int json_refuse(const compiling *c, int code, const cJSON *where, const char *key,
                const char *what) {
    fo_buf place = {0};
    fo_buf_str(&place, "#");
    find_place(c->root, where, &place);
    fo_fail(c->err, code, "%.300s%s%s: %s", place.len ? place.data : "#", key ? "/" : "",
            key ? key : "", what);
    fo_buf_free(&place);
    return code;
}

int json_spend(const compiling *c, size_t n) {
    c->s->effort = n < SCHEMA_MAX_EFFORT - c->s->effort ? c->s->effort + n : SCHEMA_MAX_EFFORT;
    if (c->s->effort < SCHEMA_MAX_EFFORT) return FO_OK;
    return fo_fail(c->err, FO_ELIMIT,
                   "the schema is too large: too much is to be compared or computed");
}

/* ---- growing lists --------------------------------------------------------------------------- */

void *json_grow(void *list, uint32_t n, uint32_t *cap, size_t size, uint32_t most,
                const compiling *c) {
    if (n < *cap) return list;
    if (n >= most) {
        fo_fail(c->err, FO_ELIMIT, "the schema is too large: more than %u parts of a kind", most);
        return NULL;
    }
    uint32_t cap_new = *cap ? 2 * *cap : 16;
    void *more = realloc(list, cap_new * size);
    if (!more) {
        fo_no_memory(c->err);
        return NULL;
    }
    *cap = cap_new;
    return more;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static int by_pointer(const void *a, const void *b) {
    const cJSON *const *x = a, *const *y = b;
    return (*x > *y) - (*x < *y);
}

int json_node_of(compiling *c, const schema_set *set, uint16_t *out) {
    struct json_schema *s = c->s;
    schema_set key = *set;
    qsort(key.of, (size_t)key.n, sizeof *key.of, by_pointer);
    int n = 0;
    for (int i = 0; i < key.n; i++)
        if (!n || key.of[n - 1] != key.of[i]) key.of[n++] = key.of[i];
    key.n = n;
    int rc = json_spend(c, s->n_nodes);
    if (rc) return rc;
    for (uint32_t i = 0; i < s->n_nodes; i++)
        if (c->keys[i].n == n && !c->keys[i].bare &&
            !memcmp(c->keys[i].of, key.of, (size_t)n * sizeof *key.of))
            return *out = (uint16_t)i, FO_OK;
    return json_node_add(c, &key, out);
}

int json_node_add(compiling *c, const schema_set *key, uint16_t *out) {
    struct json_schema *s = c->s;
    json_node *nodes =
        json_grow(s->nodes, s->n_nodes, &s->cap_nodes, sizeof *nodes, SCHEMA_MAX_NODES, c);
    if (!nodes) return c->err->code;
    s->nodes = nodes;
    schema_set *keys =
        json_grow(c->keys, s->n_nodes, &c->cap_keys, sizeof *keys, SCHEMA_MAX_NODES, c);
    if (!keys) return c->err->code;
    c->keys = keys;
    keys[s->n_nodes] = *key;
    nodes[s->n_nodes] = (json_node){0, 0, JSON_NEVER};
    *out = (uint16_t)s->n_nodes++;
    return FO_OK;
}

/* ---- taking apart ---------------------------------------------------------------------------- */

/* Keywords that say nothing about a value. */
static const char annotations[] =
    " $schema $id $comment $defs definitions title description default examples example deprecated "
    "readOnly writeOnly contentEncoding contentMediaType discriminator ";

static bool is_word_of(const char *list, const char *word) {
    char padded[80];
    if (strlen(word) > 70) return false;
    snprintf(padded, sizeof padded, " %s ", word);
    return strstr(list, padded) != NULL;
}

static int check_keywords(const compiling *c, const cJSON *schema) {
    enum {
        LOOKS = 32
    }; /* that the keywords of a schema are looked for, each time from the first on */
    static const char known[] =
        " type enum const properties required additionalProperties minProperties maxProperties "
        "items prefixItems minItems maxItems minLength maxLength pattern format minimum maximum "
        "exclusiveMinimum exclusiveMaximum multipleOf anyOf allOf oneOf $ref ";
    const cJSON *k;
    int rc = json_spend(c, LOOKS * (size_t)cJSON_GetArraySize(schema));
    if (rc) return rc;
    cJSON_ArrayForEach(k, schema) {
        if (is_word_of(known, k->string) || is_word_of(annotations, k->string)) continue;
        if (!strncmp(k->string, "x-", 2)) continue;
        if (!strcmp(k->string, "uniqueItems") && cJSON_IsFalse(k)) continue;
        return json_refuse(c, FO_EUNSUPPORTED, schema, k->string, "this keyword is not supported");
    }
    return FO_OK;
}

static int take_reference(const compiling *c, const cJSON *schema, const cJSON **out) {
    const char *ref = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(schema, "$ref"));
    if (!ref || ref[0] != '#' || (ref[1] && ref[1] != '/'))
        return json_refuse(c, FO_EUNSUPPORTED, schema, "$ref",
                           "only references within the schema, such as #/$defs/name");
    const cJSON *at = c->root;
    for (const char *p = ref + 1; at && *p == '/';) {
        char name[256];
        size_t n = 0;
        for (p++; *p && *p != '/' && n < sizeof name - 1; p++) {
            bool escaped = *p == '~' && (p[1] == '0' || p[1] == '1');
            name[n++] = !escaped ? *p : *++p == '0' ? '~' : '/';
        }
        name[n] = 0;
        int rc = json_spend(c, 8 * (size_t)cJSON_GetArraySize(at));
        if (rc) return rc;
        char *end;
        long i = strtol(name, &end, 10);
        if (cJSON_IsArray(at))
            at = *end || !n || i < 0 ? NULL : cJSON_GetArrayItem(at, (int)i);
        else
            at = cJSON_IsObject(at) ? cJSON_GetObjectItemCaseSensitive(at, name) : NULL;
    }
    if (!at) return json_refuse(c, FO_EINVAL, schema, "$ref", "there is nothing at this place");
    *out = at;
    return FO_OK;
}

_Static_assert(SCHEMA_MAX_SET <= 32, "the members of a set are bits");

/* Member `from` (none: -1) leads to member `to` with no value between. Were there a way back, nothing would say what
 * either is; two ways to one member are none. */
static int lead(const compiling *c, alternative *a, int from, int to) {
    if (from < 0) return FO_OK;
    if (a->above[from] >> to & 1)
        return json_refuse(c, FO_EINVAL, a->plain.of[to], NULL,
                           "this schema refers to itself with nothing between");
    for (int i = 0; i < a->plain.n; i++)
        if (a->above[i] >> to & 1) a->above[i] |= a->above[from];
    return FO_OK;
}

/* Add a schema to an alternative, and what it refers to. from: the member that leads to it, or -1. */
static int flatten(compiling *c, alternative *a, const cJSON *schema, int from, int depth) {
    if (depth > SCHEMA_MAX_DEPTH)
        return json_refuse(c, FO_ELIMIT, schema, NULL, "too many schemas in each other");
    if (cJSON_IsTrue(schema)) return FO_OK;
    if (cJSON_IsFalse(schema)) return a->never = true, FO_OK;
    if (!cJSON_IsObject(schema))
        return json_refuse(c, FO_EINVAL, schema, NULL, "a schema is an object, true or false");
    for (int i = 0; i < a->plain.n; i++)
        if (a->plain.of[i] == schema) return lead(c, a, from, i);
    int rc = check_keywords(c, schema);
    if (rc) return rc;
    if (a->plain.n == SCHEMA_MAX_SET)
        return json_refuse(c, FO_ELIMIT, schema, NULL, "too many schemas hold at once");
    const int own = a->plain.n++;
    a->plain.of[own] = schema;
    a->above[own] = 1u << own | (from < 0 ? 0 : a->above[from]);
    const cJSON *target = NULL, *item;
    if (cJSON_GetObjectItemCaseSensitive(schema, "$ref")) {
        rc = take_reference(c, schema, &target);
        if (!rc) rc = flatten(c, a, target, own, depth + 1);
    }
    static const char *const lists[] = {"allOf", "anyOf", "oneOf"};
    for (int i = 0; !rc && i < 3; i++) {
        const cJSON *list = cJSON_GetObjectItemCaseSensitive(schema, lists[i]);
        if (!list) continue;
        if (!cJSON_IsArray(list) || !list->child)
            return json_refuse(c, FO_EINVAL, schema, lists[i], "must be an array of schemas");
        rc = json_spend(c, (size_t)cJSON_GetArraySize(list));
        if (rc) break;
        if (i == 0) {
            cJSON_ArrayForEach(item, list) if (!rc) rc = flatten(c, a, item, own, depth + 1);
        } else if (a->n_choices == SCHEMA_MAX_CHOICES) {
            return json_refuse(c, FO_ELIMIT, schema, lists[i], "too many choices hold at once");
        } else {
            a->choices[a->n_choices++] = (choice){list, own, -1, i == 2};
        }
    }
    return rc;
}

/* Alternatives of *a: the first choice that is open is taken every way. */
static int expand(compiling *c, const alternative *a, alternative *list, int *n) {
    int open = 0, rc = FO_OK, i = 0;
    if (a->never) return FO_OK;
    while (open < a->n_choices && a->choices[open].taken >= 0) open++;
    if (open == a->n_choices) {
        if (*n == SCHEMA_MAX_ALTERNATIVES)
            return json_refuse(c, FO_ELIMIT, a->n_choices ? a->choices[0].list : c->root, NULL,
                               "more than 60 alternatives");
        list[(*n)++] = *a;
        return FO_OK;
    }
    alternative *next = malloc(sizeof *next);
    const cJSON *item;
    if (!next) return fo_no_memory(c->err);
    cJSON_ArrayForEach(item, a->choices[open].list) {
        if (rc) break;
        if (++c->work > SCHEMA_MAX_WORK) {
            rc = json_refuse(c, FO_ELIMIT, a->choices[open].list, NULL, "too many combinations");
            break;
        }
        *next = *a;
        next->choices[open].taken = i++;
        rc = flatten(c, next, item, a->choices[open].of, 0);
        if (!rc) rc = expand(c, next, list, n);
    }
    free(next);
    return rc;
}

/* Do two alternatives differ in a choice that only one of may hold? */
static const cJSON *exclusive(const alternative *a, const alternative *b) {
    for (int i = 0; i < a->n_choices; i++)
        for (int k = 0; k < b->n_choices; k++)
            if (a->choices[i].only_one && a->choices[i].list == b->choices[k].list &&
                a->choices[i].taken != b->choices[k].taken)
                return a->choices[i].list;
    return NULL;
}

static int note_pairs(compiling *c, const json_node *node, const alternative *list,
                      const int *of_shape) {
    for (uint32_t i = 0; i < node->n; i++)
        for (uint32_t k = i + 1; k < node->n; k++) {
            const cJSON *where = exclusive(&list[of_shape[i]], &list[of_shape[k]]);
            if (!where) continue;
            exclusive_pair *more =
                json_grow(c->pairs, c->n_pairs, &c->cap_pairs, sizeof *more, SCHEMA_MAX_PAIRS, c);
            if (!more) return c->err->code;
            c->pairs = more;
            c->pairs[c->n_pairs++] = (exclusive_pair){node->first + i, node->first + k, where};
        }
    return FO_OK;
}

/* The alternatives of a node. A bare one was taken apart with the values that it is for: its choices, taken anew, would
 * only come to more shapes. */
static int take_apart(compiling *c, const schema_set *key, alternative *list, int *n) {
    if (key->bare) {
        list[(*n)++] = (alternative){.plain = *key};
        return FO_OK;
    }
    alternative *whole = calloc(1, sizeof *whole);
    int rc = whole ? FO_OK : fo_no_memory(c->err);
    for (int i = 0; !rc && i < key->n; i++) rc = flatten(c, whole, key->of[i], -1, 0);
    if (!rc) rc = expand(c, whole, list, n);
    free(whole);
    return rc;
}

static int compile_node(compiling *c, uint32_t number) {
    struct json_schema *s = c->s;
    const schema_set key = c->keys[number];
    alternative *list = malloc(SCHEMA_MAX_ALTERNATIVES * sizeof *list);
    int *of_shape = malloc(SCHEMA_MAX_ALTERNATIVES * 8 * sizeof *of_shape);
    int n = 0, rc = list && of_shape ? FO_OK : fo_no_memory(c->err);
    if (!rc) rc = take_apart(c, &key, list, &n);
    json_node node = {s->n_shapes, 0, JSON_NEVER};
    for (int i = 0; !rc && i < n; i++) {
        uint32_t before = s->n_shapes;
        rc = json_shapes_of(c, &list[i].plain, key.bare);
        for (uint32_t k = before; k < s->n_shapes; k++) of_shape[k - node.first] = i;
    }
    node.n = s->n_shapes - node.first;
    if (!rc && node.n >= JSON_MAX_WAYS)
        rc = json_refuse(c, FO_ELIMIT, key.n ? key.of[0] : c->root, NULL, "too many alternatives");
    s->nodes[number] = node;
    if (!rc && !key.bare) rc = note_pairs(c, &node, list, of_shape);
    free(list);
    free(of_shape);
    return rc;
}

/* ---- heights --------------------------------------------------------------------------------- */

static uint8_t over(uint8_t height) {
    return height >= JSON_MAX_LEVELS ? JSON_NEVER : (uint8_t)(height + 1);
}

static uint8_t object_height(const struct json_schema *s, const json_shape *k) {
    uint8_t most = 0, rest = k->rest == JSON_NO_NODE ? JSON_NEVER : s->nodes[k->rest].height;
    uint32_t n_required = 0, n_possible = 0;
    for (uint32_t i = 0; i < k->n; i++) {
        const json_property *p = &s->properties[k->first + i];
        uint8_t h = s->nodes[p->node].height;
        n_required += p->required;
        n_possible += h != JSON_NEVER;
        if (p->required && h > most) most = h;
    }
    if (n_required > k->max || k->min > k->max) return JSON_NEVER;
    if (k->min > n_required) { /* others are needed: any of them, to be on the safe side all */
        const uint32_t n_free = rest == JSON_NEVER ? 0 : JSON_FREE_NAMES;
        if (k->min > n_possible + n_free) return JSON_NEVER;
        if (k->min > n_possible && rest > most) most = rest;
        for (uint32_t i = 0; i < k->n; i++) {
            uint8_t h = s->nodes[s->properties[k->first + i].node].height;
            if (h != JSON_NEVER && h > most) most = h;
        }
    }
    return over(most);
}

static uint8_t array_height(const struct json_schema *s, const json_shape *k) {
    uint8_t most = 0;
    if (k->min > k->max) return JSON_NEVER;
    for (uint32_t i = 0; i < k->min && i <= k->n; i++) {
        uint16_t node = i < k->n ? s->items[k->first + i] : k->rest;
        uint8_t h = node == JSON_NO_NODE ? JSON_NEVER : s->nodes[node].height;
        if (h > most) most = h;
    }
    return over(most);
}

static uint8_t shape_height(const struct json_schema *s, const json_shape *k) {
    switch ((enum json_kind)k->kind) {
    case JSON_OBJECT:
        return object_height(s, k);
    case JSON_ARRAY:
        return array_height(s, k);
    case JSON_STRING:
        if (k->pattern) return pattern_start(k->pattern) == PATTERN_DEAD ? JSON_NEVER : 0;
        return k->min > k->max ? JSON_NEVER : 0;
    case JSON_NUMBER:
        return k->bounded && !json_units_any(k->low, k->high, k->step) ? JSON_NEVER : 0;
    default:
        return k->n ? 0 : JSON_NEVER;
    }
}

/* The lowest fixed point: heights begin at never and fall. */
static void find_heights(struct json_schema *s) {
    for (uint32_t i = 0; i < s->n_nodes; i++) s->nodes[i].height = JSON_NEVER;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < s->n_nodes; i++) {
            json_node *d = &s->nodes[i];
            for (uint32_t k = 0; k < d->n; k++) {
                json_shape *shape = &s->shapes[d->first + k];
                shape->height = shape_height(s, shape);
                if (shape->height >= d->height) continue;
                d->height = shape->height;
                changed = true;
            }
        }
    }
}

/* Literals that the keywords beside enum and const refuse. Children come behind their parents and are
 * looked at before them. */
static int filter_literals(compiling *c) {
    struct json_schema *s = c->s;
    for (uint32_t i = c->n_filters; i-- > 0;) {
        json_shape *shape = &s->shapes[c->filters[i].shape];
        uint32_t kept = 0;
        for (uint32_t k = 0; k < shape->n; k++) {
            json_literal l = s->literals[shape->first + k];
            enum json_answer is = json_literal_is(s, &l, c->filters[i].node, 0);
            int rc = json_spend(c, 0);
            if (rc) return rc;
            if (is == JSON_YES) s->literals[shape->first + kept++] = l;
        }
        shape->n = kept;
    }
    return FO_OK;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static int compile(compiling *c) {
    struct json_schema *s = c->s;
    int rc = json_node_of(c, &(schema_set){.of = {c->root}, .n = 1}, &s->root);
    for (uint32_t i = 0; !rc && i < s->n_nodes; i++) rc = compile_node(c, i);
    if (rc) return rc;
    find_heights(s);
    rc = filter_literals(c);
    if (!rc) find_heights(s);
    for (uint32_t i = 0; !rc && i < c->n_pairs; i++)
        if (!json_shapes_exclude(s, c->pairs[i].a, c->pairs[i].b, 0) && !(rc = json_spend(c, 0)))
            rc = json_refuse(c, FO_EUNSUPPORTED, c->pairs[i].where, NULL,
                             "two of these might both hold; use anyOf, or tell them apart by "
                             "type or by a required property of fixed value");
    if (!rc && s->nodes[s->root].height > JSON_MAX_LEVELS)
        rc = fo_fail(c->err, FO_EINVAL, "#: no value satisfies this schema");
    return rc;
}

int json_schema_compile_next(json_schema **out, const cJSON *root, size_t *effort, fo_err *err) {
    fo_err unasked;
    compiling c = {.root = root, .err = err ? err : &unasked, .s = calloc(1, sizeof *c.s)};
    if (!c.s) return fo_no_memory(err);
    c.s->effort = *effort;
    /* Also of a schema that names none: readers count from where they begin. */
    c.s->properties =
        json_grow(NULL, 0, &c.s->cap_properties, sizeof *c.s->properties, SCHEMA_MAX_PARTS, &c);
    int rc = c.s->properties ? compile(&c) : FO_ENOMEM;
    *effort = c.s->effort;
    free(c.keys);
    free(c.pairs);
    free(c.filters);
    if (rc)
        json_schema_free(c.s);
    else
        *out = c.s;
    return rc;
}

int json_schema_compile(json_schema **out, const cJSON *root, fo_err *err) {
    size_t effort = 0;
    return json_schema_compile_next(out, root, &effort, err);
}

int json_schema_any_object(json_schema **out, fo_err *err) {
    cJSON *root = cJSON_Parse("{\"type\":\"object\"}");
    int rc = root ? json_schema_compile(out, root, err) : fo_no_memory(err);
    cJSON_Delete(root);
    return rc;
}

void json_schema_free(json_schema *s) {
    if (!s) return;
    for (uint32_t i = 0; i < s->n_patterns; i++) pattern_free(s->patterns[i]);
    for (uint32_t i = 0; i < s->n_texts; i++) free(s->texts[i]);
    free(s->patterns);
    free(s->texts);
    free(s->nodes);
    free(s->shapes);
    free(s->properties);
    free(s->items);
    free(s->literals);
    free(s);
}
