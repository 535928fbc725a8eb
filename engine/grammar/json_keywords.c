/* The keywords of plain schemas that must all hold, intersected: one shape a type. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/grammar/json_compile.h"
#include "kernels/order.h"

enum {
    T_OBJECT = 1,
    T_ARRAY = 2,
    T_STRING = 4,
    T_INTEGER = 8,
    T_FRACTION = 16,
    T_BOOL = 32,
    T_NULL = 64,
    T_ALL = 127
};

typedef struct bounds {
    bool given; /* something is bounded */
    json_units low, high, step;
} bounds;

static const cJSON *get(const cJSON *schema, const char *key) {
    return cJSON_GetObjectItemCaseSensitive(schema, key);
}

/* ---- types ----------------------------------------------------------------------------------- */

static int type_bit(const compiling *c, const cJSON *schema, const cJSON *item, unsigned *bits) {
    static const struct {
        const char *name;
        unsigned bits;
    } types[] = {{"object", T_OBJECT},   {"array", T_ARRAY},
                 {"string", T_STRING},   {"number", T_INTEGER | T_FRACTION},
                 {"integer", T_INTEGER}, {"boolean", T_BOOL},
                 {"null", T_NULL}};
    const char *name = cJSON_GetStringValue(item);
    for (size_t i = 0; name && i < sizeof types / sizeof *types; i++)
        if (!strcmp(types[i].name, name)) return *bits |= types[i].bits, FO_OK;
    return json_refuse(c, FO_EINVAL, schema, "type",
                       "must be object, array, string, number, integer, boolean or null, or an "
                       "array of these");
}

static int read_types(const compiling *c, const cJSON *schema, unsigned *types) {
    const cJSON *type = get(schema, "type"), *item;
    unsigned bits = 0;
    int rc = FO_OK;
    if (!type) return FO_OK;
    if (!cJSON_IsArray(type))
        rc = type_bit(c, schema, type, &bits);
    else
        cJSON_ArrayForEach(item, type) if (!rc) rc = type_bit(c, schema, item, &bits);
    *types &= bits;
    return rc;
}

static unsigned type_of(const cJSON *v) {
    if (cJSON_IsObject(v)) return T_OBJECT;
    if (cJSON_IsArray(v)) return T_ARRAY;
    if (cJSON_IsString(v)) return T_STRING;
    if (cJSON_IsBool(v)) return T_BOOL;
    if (cJSON_IsNull(v)) return T_NULL;
    return v->valuedouble == floor(v->valuedouble) ? T_INTEGER : T_FRACTION;
}

/* ---- small readers --------------------------------------------------------------------------- */

static int read_count(const compiling *c, const cJSON *schema, const char *key, uint32_t *out,
                      bool least) {
    const cJSON *v = get(schema, key);
    if (!v) return FO_OK;
    if (!cJSON_IsNumber(v) || v->valuedouble < 0 || v->valuedouble != floor(v->valuedouble))
        return json_refuse(c, FO_EINVAL, schema, key, "must be a whole number, not negative");
    uint32_t n = v->valuedouble > JSON_ENDLESS ? JSON_ENDLESS : (uint32_t)v->valuedouble;
    if (least ? n > *out : n < *out) *out = n;
    return FO_OK;
}

/* A whole number that no double holds comes with its digits (json_schema.h). */
static int refuse_rounded(const compiling *c, const cJSON *schema, const char *key,
                          const cJSON *v) {
    char what[160];
    if (!cJSON_IsNumber(v) || !v->valuestring) return FO_OK;
    snprintf(what, sizeof what, "%.63s is a whole number of more digits than a number holds here",
             v->valuestring);
    return json_refuse(c, FO_EUNSUPPORTED, schema, key, what);
}

static int no_room(const compiling *c) {
    return fo_no_memory(c->err);
}

/* Text that lives as long as the schema. */
static int keep_text(compiling *c, char *text, const char **out) {
    struct json_schema *s = c->s;
    char **texts =
        text ? json_grow(s->texts, s->n_texts, &s->cap_texts, sizeof *texts, SCHEMA_MAX_PARTS, c)
             : NULL;
    if (!texts) {
        free(text);
        return text ? c->err->code : no_room(c);
    }
    s->texts = texts;
    s->texts[s->n_texts++] = text;
    *out = text;
    return json_spend(c, 8 * strlen(text) + 64);
}

static int add_shape(compiling *c, json_shape shape) {
    struct json_schema *s = c->s;
    json_shape *shapes =
        json_grow(s->shapes, s->n_shapes, &s->cap_shapes, sizeof *shapes, SCHEMA_MAX_SHAPES, c);
    if (!shapes) return c->err->code;
    s->shapes = shapes;
    s->shapes[s->n_shapes++] = shape;
    return FO_OK;
}

/* ---- literals -------------------------------------------------------------------------------- */

static int add_literal(compiling *c, const char *text) {
    struct json_schema *s = c->s;
    json_literal *list =
        json_grow(s->literals, s->n_literals, &s->cap_literals, sizeof *list, SCHEMA_MAX_PARTS, c);
    if (!list) return c->err->code;
    s->literals = list;
    s->literals[s->n_literals++] = (json_literal){text, (uint32_t)strlen(text)};
    return FO_OK;
}

static int by_text(const void *a, const void *b) {
    const json_literal *x = a, *y = b;
    return strcmp(x->text, y->text);
}

static int end_literals(compiling *c, uint32_t first) {
    struct json_schema *s = c->s;
    uint32_t n = first;
    if (s->n_literals == first) return FO_OK;
    qsort(s->literals + first, s->n_literals - first, sizeof *s->literals, by_text);
    for (uint32_t i = first; i < s->n_literals; i++)
        if (n == first || strcmp(s->literals[n - 1].text, s->literals[i].text))
            s->literals[n++] = s->literals[i];
    s->n_literals = n;
    return add_shape(
        c,
        (json_shape){.kind = JSON_LITERALS, .rest = JSON_NO_NODE, .first = first, .n = n - first});
}

static int by_key(const void *a, const void *b) {
    return strcmp((*(const cJSON *const *)a)->string, (*(const cJSON *const *)b)->string);
}

/* A value's text, the same for all that are equal: of objects the keys are sorted. */
static void write_value(fo_buf *b, const cJSON *v) {
    if (!cJSON_IsObject(v) && !cJSON_IsArray(v)) {
        char *text = json_literal_text(v);
        if (text)
            fo_buf_str(b, text);
        else
            b->failed = true;
        free(text);
        return;
    }
    size_t n = (size_t)cJSON_GetArraySize(v), i = 0;
    const cJSON **items = malloc((n ? n : 1) * sizeof *items), *item;
    if (!items) {
        b->failed = true;
        return;
    }
    cJSON_ArrayForEach(item, v) items[i++] = item;
    if (cJSON_IsObject(v)) qsort(items, n, sizeof *items, by_key);
    fo_buf_char(b, cJSON_IsObject(v) ? '{' : '[');
    for (i = 0; i < n; i++) {
        if (cJSON_IsObject(v))
            fo_buf_printf(b, "%zu %s:", strlen(items[i]->string), items[i]->string);
        write_value(b, items[i]);
        fo_buf_char(b, ',');
    }
    fo_buf_char(b, cJSON_IsObject(v) ? '}' : ']');
    free(items);
}

/* Caller frees *out. */
static int value_text(compiling *c, const cJSON *v, char **out) {
    fo_buf b = {0};
    write_value(&b, v);
    size_t n = b.len;
    *out = fo_buf_take(&b, NULL);
    return *out ? json_spend(c, 8 * n + 128) : no_room(c);
}

/* The values of an enum, or a const, as sorted texts. */
typedef struct value_list {
    char **texts;
    size_t n;
} value_list;

static int collect(compiling *c, const cJSON *first, bool one, value_list *out) {
    size_t n = 0;
    for (const cJSON *v = first; v; v = one ? NULL : v->next) n++;
    out->texts = calloc(n, sizeof *out->texts);
    int rc = out->texts ? FO_OK : no_room(c);
    for (const cJSON *v = first; !rc && v; v = one ? NULL : v->next)
        rc = value_text(c, v, &out->texts[out->n++]);
    if (!rc) qsort(out->texts, out->n, sizeof *out->texts, fo_order_strings);
    return rc;
}

static bool has(const value_list *set, const char *text) {
    return bsearch(&text, set->texts, set->n, sizeof *set->texts, fo_order_strings) != NULL;
}

static bool has_values(const cJSON *schema) {
    return get(schema, "enum") || get(schema, "const");
}

/* Numbers of values must be held as they were written: one of more digits would be another. */
static int check_values(const compiling *c, const cJSON *v) {
    const cJSON *item;
    int rc = v ? refuse_rounded(c, v, NULL, v) : FO_OK;
    cJSON_ArrayForEach(item, v) {
        if (!rc) rc = json_spend(c, 1);
        if (!rc) rc = check_values(c, item);
    }
    return rc;
}

static int literals_of(compiling *c, const schema_set *plain, unsigned types) {
    const cJSON *from = NULL, *v;
    uint32_t first = c->s->n_literals;
    int rc = FO_OK;
    for (int i = 0; i < plain->n; i++) {
        const cJSON *list = get(plain->of[i], "enum");
        if (list && (!cJSON_IsArray(list) || !list->child))
            return json_refuse(c, FO_EINVAL, plain->of[i], "enum", "must be an array of values");
        rc = check_values(c, list);
        if (!rc) rc = check_values(c, get(plain->of[i], "const"));
        if (rc) return rc;
        if (!from && has_values(plain->of[i])) from = plain->of[i];
    }
    v = get(from, "const");
    bool one = v != NULL;
    if (!one) v = get(from, "enum")->child;
    value_list sets[2 * SCHEMA_MAX_SET] = {
        0}; /* that a value must be in, beside that which it is of */
    int n_sets = 0;
    for (int i = 0; !rc && i < plain->n; i++) {
        const cJSON *schema = plain->of[i], *list = get(schema, "enum"),
                    *only = get(schema, "const");
        if (list && (schema != from || one)) rc = collect(c, list->child, false, &sets[n_sets++]);
        if (!rc && only && schema != from) rc = collect(c, only, true, &sets[n_sets++]);
    }
    for (; !rc && v; v = one ? NULL : v->next) {
        bool all = (type_of(v) & types) != 0;
        char *value = NULL;
        rc = all && n_sets ? value_text(c, v, &value) : json_spend(c, 1);
        for (int i = 0; !rc && all && i < n_sets; i++) all = has(&sets[i], value);
        free(value);
        if (rc) break;
        const char *text = NULL;
        if (all) rc = keep_text(c, json_literal_text(v), &text);
        if (all && !rc) rc = add_literal(c, text);
    }
    for (int i = 0; i < n_sets; i++) {
        for (size_t k = 0; k < sets[i].n; k++) free(sets[i].texts[k]);
        free(sets[i].texts);
    }
    uint32_t shape = c->s->n_shapes;
    if (!rc) rc = end_literals(c, first);
    if (rc || c->s->n_shapes == shape) return rc;
    literal_filter *more =
        json_grow(c->filters, c->n_filters, &c->cap_filters, sizeof *more, SCHEMA_MAX_PARTS, c);
    if (!more) return c->err->code;
    c->filters = more;
    schema_set bare = *plain;
    bare.bare = true;
    uint16_t node = 0;
    rc = json_node_add(c, &bare, &node);
    c->filters[c->n_filters++] = (literal_filter){shape, node};
    return rc;
}

static int words(compiling *c, unsigned types) {
    uint32_t first = c->s->n_literals;
    int rc = FO_OK;
    if (types & T_BOOL) rc = add_literal(c, "true");
    if (!rc && types & T_BOOL) rc = add_literal(c, "false");
    if (!rc && types & T_NULL) rc = add_literal(c, "null");
    return rc ? rc : end_literals(c, first);
}

/* ---- objects --------------------------------------------------------------------------------- */

static bool is_schema(const cJSON *v) {
    return cJSON_IsObject(v) || cJSON_IsBool(v);
}

/* What holds for the value of a property, or (name NULL) of one that nobody declares. */
static void schemas_of(const schema_set *plain, const char *name, schema_set *out) {
    *out = (schema_set){.n = 0};
    for (int i = 0; i < plain->n; i++) {
        const cJSON *own = name ? get(get(plain->of[i], "properties"), name) : NULL;
        if (!own) own = get(plain->of[i], "additionalProperties");
        if (own && !cJSON_IsTrue(own)) out->of[out->n++] = own;
    }
}

static bool forbids(const schema_set *set) {
    for (int i = 0; i < set->n; i++)
        if (cJSON_IsFalse(set->of[i])) return true;
    return false;
}

static bool is_required(const schema_set *plain, const char *name) {
    const cJSON *item;
    for (int i = 0; i < plain->n; i++) cJSON_ArrayForEach(item, get(plain->of[i], "required")) {
            const char *s = cJSON_GetStringValue(item);
            if (s && !strcmp(s, name)) return true;
        }
    return false;
}

typedef struct names {
    const char *of[SCHEMA_MAX_PROPERTIES];
    uint32_t n;
} names;

static int add_name(const compiling *c, names *list, const cJSON *where, const char *key,
                    const char *name) {
    int rc = json_spend(c, list->n * JSON_NAME_LOOKS(strlen(name)));
    if (rc) return rc;
    for (uint32_t i = 0; i < list->n; i++)
        if (!strcmp(list->of[i], name)) return FO_OK;
    if (list->n == SCHEMA_MAX_PROPERTIES)
        return json_refuse(c, FO_ELIMIT, where, key, "more than 1024 properties");
    list->of[list->n++] = name;
    return FO_OK;
}

static int find_names(const compiling *c, const schema_set *plain, names *list) {
    int rc = FO_OK;
    for (int i = 0; !rc && i < plain->n; i++) {
        const cJSON *schema = plain->of[i], *p = get(schema, "properties"), *item;
        if (p && !cJSON_IsObject(p))
            return json_refuse(c, FO_EINVAL, schema, "properties", "must be an object of schemas");
        cJSON_ArrayForEach(item, p) {
            if (!is_schema(item))
                return json_refuse(c, FO_EINVAL, item, NULL,
                                   "a schema is an object, true or false");
            if (!rc) rc = add_name(c, list, schema, "properties", item->string);
        }
    }
    for (int i = 0; !rc && i < plain->n; i++) {
        const cJSON *schema = plain->of[i], *r = get(schema, "required"), *item;
        if (r && !cJSON_IsArray(r))
            return json_refuse(c, FO_EINVAL, schema, "required", "must be an array of names");
        cJSON_ArrayForEach(item, r) {
            if (!cJSON_IsString(item))
                return json_refuse(c, FO_EINVAL, schema, "required", "must be an array of names");
            if (!rc) rc = add_name(c, list, schema, "required", item->valuestring);
        }
        const cJSON *more = get(schema, "additionalProperties");
        if (!rc && more && !is_schema(more))
            return json_refuse(c, FO_EINVAL, schema, "additionalProperties",
                               "a schema is an object, true or false");
    }
    return rc;
}

static int add_property(compiling *c, const schema_set *plain, const char *name) {
    struct json_schema *s = c->s;
    schema_set set;
    json_property p = {.required = is_required(plain, name)};
    schemas_of(plain, name, &set);
    size_t looks = 0;
    for (int i = 0; i < plain->n; i++)
        looks += (size_t)cJSON_GetArraySize(get(plain->of[i], "properties")) +
                 (size_t)cJSON_GetArraySize(get(plain->of[i], "required"));
    int rc = json_spend(c, 2 * looks * JSON_NAME_LOOKS(strlen(name)));
    if (rc) return rc;
    rc = json_node_of(c, &set, &p.node);
    cJSON *quoted = cJSON_CreateString(name);
    if (!rc) rc = keep_text(c, quoted ? cJSON_PrintUnformatted(quoted) : NULL, &p.key);
    cJSON_Delete(quoted);
    if (rc) return rc;
    p.len = (uint32_t)strlen(p.key);
    json_property *list = json_grow(s->properties, s->n_properties, &s->cap_properties,
                                    sizeof *list, SCHEMA_MAX_PARTS, c);
    if (!list) return c->err->code;
    s->properties = list;
    s->properties[s->n_properties++] = p;
    return FO_OK;
}

static int by_key_text(const void *a, const void *b, void *properties) {
    const json_property *p = properties;
    return strcmp(p[*(const uint16_t *)a].key, p[*(const uint16_t *)b].key);
}

/* What a reader asks of the properties of a shape at every byte. */
static void index_properties(struct json_schema *s, uint32_t first) {
    uint16_t order[SCHEMA_MAX_PROPERTIES], n_required = 0;
    const uint32_t n = s->n_properties - first;
    for (uint32_t i = n; i-- > 0;) {
        json_property *p = &s->properties[first + i];
        p->n_required = n_required += p->required;
        order[i] = (uint16_t)(first + i);
    }
    qsort_r(order, n, sizeof *order, by_key_text, s->properties);
    for (uint32_t i = 0; i < n; i++) s->properties[first + i].by_key = order[i];
}

static int object_of(compiling *c, const schema_set *plain) {
    json_shape k = {.kind = JSON_OBJECT, .rest = JSON_NO_NODE, .max = JSON_ENDLESS};
    const cJSON *where = NULL; /* of minProperties */
    names *list = calloc(1, sizeof *list);
    int rc = list ? find_names(c, plain, list) : no_room(c);
    for (int i = 0; !rc && i < plain->n; i++) {
        const uint32_t before = k.min;
        rc = read_count(c, plain->of[i], "minProperties", &k.min, true);
        if (k.min > before) where = plain->of[i];
        if (!rc) rc = read_count(c, plain->of[i], "maxProperties", &k.max, false);
    }
    k.first = c->s->n_properties;
    for (uint32_t i = 0; !rc && i < list->n; i++) rc = add_property(c, plain, list->of[i]);
    k.n = c->s->n_properties - k.first;
    index_properties(c->s, k.first);
    if (!rc && k.min != JSON_ENDLESS && k.min > k.n + JSON_FREE_NAMES)
        rc = json_refuse(c, FO_EUNSUPPORTED, where, "minProperties",
                         "at most 16 more than are declared");
    schema_set rest;
    schemas_of(plain, NULL, &rest);
    if (!rc && !forbids(&rest)) rc = json_node_of(c, &rest, &k.rest);
    free(list);
    return rc ? rc : add_shape(c, k);
}

/* ---- arrays ---------------------------------------------------------------------------------- */

static int items_of(compiling *c, const schema_set *plain, uint32_t at, schema_set *out) {
    *out = (schema_set){.n = 0};
    for (int i = 0; i < plain->n; i++) {
        const cJSON *schema = plain->of[i], *items = get(schema, "items");
        const cJSON *first = get(schema, "prefixItems");
        if (cJSON_IsArray(items))
            return json_refuse(c, FO_EUNSUPPORTED, schema, "items",
                               "an array of schemas is prefixItems now");
        if ((items && !is_schema(items)) || (first && !cJSON_IsArray(first)))
            return json_refuse(c, FO_EINVAL, schema, items ? "items" : "prefixItems",
                               "must be a schema, prefixItems an array of them");
        const cJSON *own =
            at < (uint32_t)cJSON_GetArraySize(first) ? cJSON_GetArrayItem(first, (int)at) : items;
        if (own && !cJSON_IsTrue(own)) out->of[out->n++] = own;
    }
    return FO_OK;
}

static int array_of(compiling *c, const schema_set *plain) {
    struct json_schema *s = c->s;
    json_shape k = {.kind = JSON_ARRAY, .rest = JSON_NO_NODE, .max = JSON_ENDLESS};
    schema_set set;
    uint32_t n = 0;
    int rc = FO_OK;
    for (int i = 0; !rc && i < plain->n; i++) {
        rc = read_count(c, plain->of[i], "minItems", &k.min, true);
        if (!rc) rc = read_count(c, plain->of[i], "maxItems", &k.max, false);
        int own = cJSON_GetArraySize(get(plain->of[i], "prefixItems"));
        if (own > SCHEMA_MAX_PROPERTIES)
            return json_refuse(c, FO_ELIMIT, plain->of[i], "prefixItems", "more than 1024 items");
        if ((uint32_t)own > n) n = (uint32_t)own;
    }
    k.first = s->n_items;
    for (uint32_t i = 0; !rc && i < n; i++) {
        uint16_t node = 0;
        rc = json_spend(c, (size_t)plain->n * n);
        if (!rc) rc = items_of(c, plain, i, &set);
        if (!rc) rc = json_node_of(c, &set, &node);
        uint16_t *list =
            rc ? NULL
               : json_grow(s->items, s->n_items, &s->cap_items, sizeof *list, SCHEMA_MAX_PARTS, c);
        if (!list) return rc ? rc : c->err->code;
        s->items = list;
        s->items[s->n_items++] = node;
    }
    k.n = n;
    if (!rc) rc = items_of(c, plain, n, &set);
    if (!rc && !forbids(&set)) rc = json_node_of(c, &set, &k.rest);
    return rc ? rc : add_shape(c, k);
}

/* ---- strings --------------------------------------------------------------------------------- */

#define LEAP_YEAR "(\\d\\d(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)"
#define DATE                                                                                       \
    "(\\d{4}-((0[13578]|1[02])-(0[1-9]|[12]\\d|3[01])|(0[469]|11)-(0[1-9]|[12]\\d|30)|02-(0[1-9]|" \
    "1\\d|2[0-8]))|" LEAP_YEAR "-02-29)"
#define TIME  "([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(\\.\\d{1,9})?(Z|[+-]([01]\\d|2[0-3]):[0-5]\\d)"
#define OCTET "(25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)"
#define LABEL "[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?"

static const char *format_pattern(const char *name) {
    static const char *const formats[][2] = {
        {"date-time", "^" DATE "T" TIME "$"},
        {"date", "^" DATE "$"},
        {"time", "^" TIME "$"},
        {"uuid", "^[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$"},
        {"ipv4", "^" OCTET "(\\." OCTET "){3}$"},
        {"hostname", "^" LABEL "(\\." LABEL ")*$"},
        {"email", "^[A-Za-z0-9_+-]+(\\.[A-Za-z0-9_+-]+)*@[A-Za-z0-9-]+(\\.[A-Za-z0-9-]+)+$"}};
    for (size_t i = 0; name && i < sizeof formats / sizeof *formats; i++)
        if (!strcmp(formats[i][0], name)) return formats[i][1];
    return NULL;
}

static int read_pattern(const compiling *c, const cJSON *schema, const char *key,
                        const cJSON **where, const char **text) {
    const cJSON *v = get(schema, key);
    if (!v) return FO_OK;
    const char *own = cJSON_GetStringValue(v);
    if (!own) return json_refuse(c, FO_EINVAL, schema, key, "must be a string");
    if (!strcmp(key, "format") && !(own = format_pattern(own)))
        return json_refuse(c, FO_EUNSUPPORTED, schema, key,
                           "the formats are date-time, date, time, uuid, ipv4, hostname and email");
    if (*text && strcmp(*text, own))
        return json_refuse(c, FO_EUNSUPPORTED, schema, key,
                           "a string is held to one pattern or format, not to two at once");
    *text = own;
    *where = schema;
    return FO_OK;
}

/* A pattern that the schema has already; NULL: there is none. */
static const pattern *find_pattern(const compiling *c, const char *text, const json_shape *k) {
    for (uint32_t i = 0; i < c->s->n_patterns; i++) {
        const kept_pattern *p = &c->patterns[i];
        if (p->min == k->min && p->max == k->max && !strcmp(p->text, text))
            return c->s->patterns[i];
    }
    return NULL;
}

static int keep_pattern(compiling *c, const cJSON *where, const char *text, json_shape *k) {
    enum {
        LOOKS = 2,
        ROOM = 1 << 15
    }; /* that a pattern's work, and the memory it is made in, count as */
    struct json_schema *s = c->s;
    pattern *p = NULL;
    fo_err why = {0};
    size_t work = 0;
    int rc = json_spend(c, strlen(text));
    if (rc || (k->pattern = find_pattern(c, text, k))) return rc;
    pattern **list = json_grow(s->patterns, s->n_patterns, &s->cap_patterns, sizeof *list,
                               SCHEMA_MAX_PATTERNS, c);
    if (!list) return c->err->code;
    s->patterns = list;
    rc = pattern_compile(&p, text, k->min, k->max == JSON_ENDLESS ? SIZE_MAX : k->max, &work, &why);
    int spent = json_spend(c, LOOKS * work + ROOM);
    if (rc) return json_refuse(c, rc, where, get(where, "pattern") ? "pattern" : "format", why.msg);
    c->patterns[s->n_patterns] = (kept_pattern){text, k->min, k->max};
    k->pattern = s->patterns[s->n_patterns++] = p;
    return spent;
}

static int string_of(compiling *c, const schema_set *plain) {
    json_shape k = {.kind = JSON_STRING, .rest = JSON_NO_NODE, .max = JSON_ENDLESS};
    const cJSON *where = NULL;
    const char *text = NULL;
    int rc = FO_OK;
    for (int i = 0; !rc && i < plain->n; i++) {
        rc = read_count(c, plain->of[i], "minLength", &k.min, true);
        if (!rc) rc = read_count(c, plain->of[i], "maxLength", &k.max, false);
        if (!rc) rc = read_pattern(c, plain->of[i], "pattern", &where, &text);
        if (!rc) rc = read_pattern(c, plain->of[i], "format", &where, &text);
    }
    if (!rc && text) rc = keep_pattern(c, where, text, &k);
    return rc ? rc : add_shape(c, k);
}

/* ---- numbers --------------------------------------------------------------------------------- */

bool json_to_units(double v, json_units *out) {
    char text[400];
    if (fabs(v) < 1e18 && v == floor(v)) { /* 17 digits are too few for those of 18 */
        *out = (json_units)v;
        for (int i = 0; i < JSON_DECIMALS; i++) *out *= 10;
        return true;
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, v);
        if (strtod(text, NULL) == v) break;
    }
    json_units u = 0;
    int exponent = 0, decimals = -1;
    const char *p = text + (*text == '-');
    for (; *p; p++) {
        if (*p == '.') {
            decimals = 0;
        } else if (*p == 'e') {
            exponent = atoi(p + 1);
            break;
        } else {
            if (*p < '0' || *p > '9') return false;
            u = u * 10 + (*p - '0');
            decimals += decimals >= 0;
        }
    }
    int scale = JSON_DECIMALS + exponent - (decimals > 0 ? decimals : 0);
    if (u == 0) return *out = 0, true;
    if (scale > JSON_DECIMALS + JSON_DIGITS || fabs(v) >= 1e18) return false;
    for (; scale > 0; scale--) u *= 10;
    for (; scale < 0; scale++) {
        if (u % 10) return false;
        u /= 10;
    }
    *out = *text == '-' ? -u : u;
    return true;
}

static int read_bound(const compiling *c, const cJSON *schema, const char *key, bounds *b) {
    const cJSON *v = get(schema, key);
    json_units u;
    if (!v) return FO_OK;
    if (!cJSON_IsNumber(v)) return json_refuse(c, FO_EINVAL, schema, key, "must be a number");
    int rc = refuse_rounded(c, schema, key, v);
    if (rc) return rc;
    if (!json_to_units(v->valuedouble, &u))
        return json_refuse(c, FO_EUNSUPPORTED, schema, key,
                           "numbers are bounded to 12 decimals and 18 digits before the point");
    b->given = true;
    if (!strcmp(key, "multipleOf")) {
        if (u <= 0) return json_refuse(c, FO_EINVAL, schema, key, "must be more than 0");
        if (b->step && b->step != u)
            return json_refuse(c, FO_EUNSUPPORTED, schema, key, "two of them hold at once");
        b->step = u;
    } else {
        bool low = strstr(key, "inimum") != NULL;
        if (!strncmp(key, "exclusive", 9)) u += low ? 1 : -1;
        if (low ? u > b->low : u < b->high) *(low ? &b->low : &b->high) = u;
    }
    return FO_OK;
}

static json_units lcm(json_units a, json_units b) {
    json_units x = a, y = b;
    while (y) {
        json_units t = x % y;
        x = y;
        y = t;
    }
    return a / x * b;
}

static int number_of(compiling *c, const schema_set *plain, bool integer) {
    static const char *const keys[] = {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
                                       "multipleOf"};
    json_units one = 1;
    for (int i = 0; i < JSON_DECIMALS; i++) one *= 10;
    json_units most = one;
    for (int i = 0; i < JSON_DIGITS; i++) most *= 10;
    bounds b = {.low = 1 - most, .high = most - 1};
    int rc = FO_OK;
    for (int i = 0; !rc && i < plain->n; i++)
        for (size_t k = 0; !rc && k < sizeof keys / sizeof *keys; k++)
            rc = read_bound(c, plain->of[i], keys[k], &b);
    if (rc) return rc;
    if (integer && b.given) b.step = b.step ? lcm(b.step, one) : one;
    return add_shape(c, (json_shape){.kind = JSON_NUMBER,
                                     .rest = JSON_NO_NODE,
                                     .integer = integer,
                                     .bounded = b.given,
                                     .low = b.low,
                                     .high = b.high,
                                     .step = b.step});
}

/* ---- the whole ------------------------------------------------------------------------------- */

int json_shapes_of(compiling *c, const schema_set *plain, bool bare) {
    unsigned types = T_ALL;
    bool values = false;
    int rc = FO_OK;
    for (int i = 0; !rc && i < plain->n; i++) {
        rc = read_types(c, plain->of[i], &types);
        values |= has_values(plain->of[i]);
    }
    if (rc) return rc;
    /* An integer is a number: where fractions are allowed, so are integers, in one shape. */
    if (values && !bare)
        return literals_of(c, plain, types & T_FRACTION ? types | T_INTEGER : types);
    if (types & T_OBJECT) rc = object_of(c, plain);
    if (!rc && types & T_ARRAY) rc = array_of(c, plain);
    if (!rc && types & T_STRING) rc = string_of(c, plain);
    if (!rc && types & (T_INTEGER | T_FRACTION)) rc = number_of(c, plain, !(types & T_FRACTION));
    if (!rc && types & (T_BOOL | T_NULL)) rc = words(c, types);
    return rc;
}
