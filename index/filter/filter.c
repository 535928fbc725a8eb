#include "index/filter/filter.h"

#include <cJSON.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "index/filter/filter_tree.h"

enum { MAX_DEPTH = 32, MAX_NODES = 1024, MAX_VALUES = 65536, PATH_ROOM = 1024 };

static const char *const type_names[] = {"eq", "ne",  "gt",     "gte", "lt", "lte",
                                         "in", "nin", "exists", "and", "or", "not"};

typedef struct parse {
    size_t n_nodes, n_values;
    int depth;
    char path[PATH_ROOM];
    fo_err *err;
} parse;

static int wrong(parse *p, const char *field, int code, const char *message) {
    char where[PATH_ROOM + 64];
    snprintf(where, sizeof where, "%s%s%s", p->path, *field ? "." : "", field);
    return fo_fail_field(p->err, code, where, "%.200s %s", where, message);
}

void search_filter_free(search_filter *f) {
    if (!f) return;
    free(f->key);
    for (size_t i = 0; i < f->n_values; i++) free(f->values[i].string);
    free(f->values);
    for (size_t i = 0; !f->borrows && i < f->n_children; i++) search_filter_free(f->children[i]);
    free(f->children);
    free(f);
}

size_t search_filter_count(const search_filter *f) {
    size_t n = 1;
    for (size_t i = 0; i < f->n_children; i++) n += search_filter_count(f->children[i]);
    return n;
}

static void write_text(fo_buf *b, const char *s) {
    uint64_t n = s ? strlen(s) : UINT64_MAX;
    fo_buf_add(b, &n, sizeof n);
    if (s) fo_buf_str(b, s);
}

void search_filter_write(const search_filter *f, fo_buf *b) {
    uint64_t head[3] = {f->type, f->n_values, f->n_children};
    fo_buf_add(b, head, sizeof head);
    write_text(b, f->key);
    for (size_t i = 0; i < f->n_values; i++) {
        const filter_value *v = &f->values[i];
        uint64_t kind = v->kind;
        fo_buf_add(b, &kind, sizeof kind);
        if (v->kind == VALUE_STRING)
            write_text(b, v->string);
        else
            fo_buf_add(b, &v->number, sizeof v->number);
    }
    for (size_t i = 0; i < f->n_children; i++) search_filter_write(f->children[i], b);
}

/* Rounded, it would find its neighbours: columns hold doubles, and metadata with such a number is refused. */
static int refuse_rounded(parse *p, const char *field, const char *digits) {
    char message[224];
    snprintf(message, sizeof message,
             "is %.63s, a whole number of more digits than a number holds here: send it as a "
             "string, as metadata has it",
             digits);
    return wrong(p, field, FO_EINVAL, message);
}

static int parse_value(parse *p, const cJSON *json, const char *field, filter_value *v) {
    if (cJSON_IsString(json)) {
        v->kind = VALUE_STRING;
        v->string = strdup(json->valuestring);
        if (!v->string) return wrong(p, field, FO_ENOMEM, "does not fit into memory");
    } else if (cJSON_IsNumber(json) && json->valuestring) {
        return refuse_rounded(p, field, json->valuestring);
    } else if (cJSON_IsNumber(json) && isfinite(json->valuedouble)) {
        v->kind = VALUE_NUMBER;
        v->number = json->valuedouble;
    } else if (cJSON_IsBool(json)) {
        v->kind = VALUE_BOOL;
        v->number = cJSON_IsTrue(json);
    } else if (cJSON_IsNull(json)) {
        v->kind = VALUE_NULL;
    } else {
        return wrong(p, field, FO_EINVAL, "must be a string, a finite number, a boolean or null");
    }
    return FO_OK;
}

static int parse_values(parse *p, const cJSON *json, search_filter *f) {
    bool list = f->type == FILTER_IN || f->type == FILTER_NIN;
    if (list && !cJSON_IsArray(json)) return wrong(p, "value", FO_EINVAL, "must be an array");
    size_t n = list ? (size_t)cJSON_GetArraySize(json) : 1;
    p->n_values += n;
    if (p->n_values > MAX_VALUES) return wrong(p, "value", FO_ELIMIT, "holds too many values");
    f->values = calloc(n + 1, sizeof *f->values);
    if (!f->values) return wrong(p, "value", FO_ENOMEM, "does not fit into memory");
    if (!list) {
        f->n_values = 1;
        int rc = parse_value(p, json, "value", &f->values[0]);
        value_kind k = f->values[0].kind;
        if (!rc && f->type >= FILTER_GT && f->type <= FILTER_LTE && k != VALUE_NUMBER &&
            k != VALUE_STRING)
            return wrong(p, "value", FO_EINVAL, "must be a number or a string for a comparison");
        return rc;
    }
    const cJSON *item;
    cJSON_ArrayForEach(item, json) {
        char field[48];
        snprintf(field, sizeof field, "value[%zu]", f->n_values);
        int rc = parse_value(p, item, field, &f->values[f->n_values++]);
        if (rc) return rc;
    }
    return FO_OK;
}

static int parse_node(parse *p, const cJSON *json, search_filter **out);

/* A child under path.NAME. */
static int parse_child(parse *p, const cJSON *json, const char *name, search_filter *f) {
    size_t len = strlen(p->path);
    snprintf(p->path + len, sizeof p->path - len, ".%s", name);
    int rc = parse_node(p, json, &f->children[f->n_children]);
    if (rc) return rc;
    f->n_children++;
    p->path[len] = 0;
    return FO_OK;
}

static const char *kind_name(const search_filter *bound) {
    return bound->values[0].kind == VALUE_NUMBER ? "number" : "string";
}

static bool is_bound(const search_filter *f) {
    return f->type >= FILTER_GT && f->type <= FILTER_LTE;
}

/* A number and a string never compare: bounds of a key by both at once are a slip, which would match nothing. */
static int check_bounds(parse *p, const search_filter *f) {
    const search_filter *last = f->children[f->n_children - 1];
    for (size_t i = 0; f->type == FILTER_AND && is_bound(last) && i + 1 < f->n_children; i++) {
        const search_filter *other = f->children[i];
        if (!is_bound(other) || strcmp(other->key, last->key) != 0 ||
            other->values[0].kind == last->values[0].kind)
            continue;
        char field[64], message[192];
        snprintf(field, sizeof field, "filters[%zu].value", f->n_children - 1);
        snprintf(message, sizeof message,
                 "is a %s where the other bound of %.63s is a %s: bounds of a key are of one type",
                 kind_name(last), last->key, kind_name(other));
        return wrong(p, field, FO_EINVAL, message);
    }
    return FO_OK;
}

static int parse_children(parse *p, const cJSON *filters, const cJSON *one, search_filter *f) {
    if (f->type == FILTER_NOT && one) {
        f->children = calloc(1, sizeof *f->children);
        if (!f->children) return wrong(p, "filter", FO_ENOMEM, "does not fit into memory");
        return parse_child(p, one, "filter", f);
    }
    if (!cJSON_IsArray(filters))
        return wrong(p, "filters", FO_EINVAL, filters ? "must be an array" : "is missing");
    size_t n = (size_t)cJSON_GetArraySize(filters);
    if (f->type == FILTER_NOT && n != 1)
        return wrong(p, "filters", FO_EINVAL, "must hold one filter under not");
    f->children = calloc(n + 1, sizeof *f->children);
    if (!f->children) return wrong(p, "filters", FO_ENOMEM, "does not fit into memory");
    const cJSON *item;
    cJSON_ArrayForEach(item, filters) {
        char name[48];
        snprintf(name, sizeof name, "filters[%zu]", f->n_children);
        int rc = parse_child(p, item, name, f);
        if (!rc) rc = check_bounds(p, f);
        if (rc) return rc;
    }
    return FO_OK;
}

static int parse_leaf(parse *p, const cJSON *key, const cJSON *value, search_filter *f) {
    if (!cJSON_IsString(key))
        return wrong(p, "key", FO_EINVAL, key ? "must be a string" : "is missing");
    if (!*key->valuestring) return wrong(p, "key", FO_EINVAL, "must not be empty");
    if (!strncmp(key->valuestring, FILTER_ACL_KEY, sizeof FILTER_ACL_KEY - 1))
        return wrong(p, "key", FO_EINVAL, "must not begin with " FILTER_ACL_KEY);
    f->key = strdup(key->valuestring);
    if (!f->key) return wrong(p, "key", FO_ENOMEM, "does not fit into memory");
    if (f->type == FILTER_EXISTS) {
        if (value) return wrong(p, "value", FO_EINVAL, "has no meaning under exists");
        return FO_OK;
    }
    if (!value) return wrong(p, "value", FO_EINVAL, "is missing");
    return parse_values(p, value, f);
}

static int parse_fields(parse *p, const cJSON *json, search_filter *f) {
    const cJSON *type = NULL, *key = NULL, *value = NULL, *filters = NULL, *one = NULL, *field;
    cJSON_ArrayForEach(field, json) {
        const char *name = field->string;
        const cJSON **slot = strcmp(name, "type") == 0      ? &type
                             : strcmp(name, "key") == 0     ? &key
                             : strcmp(name, "value") == 0   ? &value
                             : strcmp(name, "filters") == 0 ? &filters
                             : strcmp(name, "filter") == 0  ? &one
                                                            : NULL;
        if (!slot) return wrong(p, name, FO_EINVAL, "is not a field of a filter");
        *slot = field;
    }
    if (!cJSON_IsString(type))
        return wrong(p, "type", FO_EINVAL, type ? "must be a string" : "is missing");
    size_t t = 0, n_types = sizeof type_names / sizeof *type_names;
    while (t < n_types && strcmp(type_names[t], type->valuestring) != 0) t++;
    if (t == n_types)
        return wrong(p, "type", FO_EINVAL,
                     "must be eq, ne, gt, gte, lt, lte, in, nin, exists, and, or or not");
    f->type = (filter_type)t;
    bool group = f->type >= FILTER_AND;
    if (group && (key || value))
        return wrong(p, key ? "key" : "value", FO_EINVAL, "has no meaning under and, or and not");
    if (one && (f->type != FILTER_NOT || filters))
        return wrong(p, "filter", FO_EINVAL, "is for not alone, instead of filters");
    if (!group && filters) return wrong(p, "filters", FO_EINVAL, "is for and, or and not alone");
    return group ? parse_children(p, filters, one, f) : parse_leaf(p, key, value, f);
}

static int parse_node(parse *p, const cJSON *json, search_filter **out) {
    if (!cJSON_IsObject(json)) return wrong(p, "", FO_EINVAL, "must be an object");
    if (++p->n_nodes > MAX_NODES) return wrong(p, "", FO_ELIMIT, "has more than 1,024 conditions");
    if (++p->depth > MAX_DEPTH) return wrong(p, "", FO_ELIMIT, "is nested deeper than 32");
    search_filter *f = calloc(1, sizeof *f);
    if (!f) return wrong(p, "", FO_ENOMEM, "does not fit into memory");
    int rc = parse_fields(p, json, f);
    p->depth--;
    if (rc) {
        search_filter_free(f);
        return rc;
    }
    *out = f;
    return FO_OK;
}

static uint64_t next_id(void) {
    static atomic_ulong last_id;
    return atomic_fetch_add(&last_id, 1) + 1;
}

int search_filter_parse(search_filter **out, const struct cJSON *json, fo_err *err) {
    parse p = {.path = "filter", .err = err};
    int rc = parse_node(&p, json, out);
    if (!rc) (*out)->id = next_id();
    return rc;
}

/* ---- made by the program ------------------------------------------------------------------- */

static search_filter *make_leaf(filter_type type, size_t n_values) {
    search_filter *f = calloc(1, sizeof *f);
    if (!f) return NULL;
    f->type = type;
    f->key = strdup(FILTER_ACL_KEY);
    f->values = calloc(n_values + 1, sizeof *f->values);
    if (f->key && f->values) return f;
    search_filter_free(f);
    return NULL;
}

static search_filter *make_group(filter_type type, search_filter *a, search_filter *b) {
    search_filter *f = calloc(1, sizeof *f);
    if (f) f->children = calloc(2, sizeof *f->children);
    if (!f || !f->children) {
        free(f);
        return NULL;
    }
    f->type = type;
    if (a) f->children[f->n_children++] = a;
    if (b) f->children[f->n_children++] = b;
    return f;
}

int search_filter_sees(search_filter **out, const char *const *groups, size_t n, fo_err *err) {
    search_filter *of = make_leaf(FILTER_IN, n), *has = make_leaf(FILTER_EXISTS, 0);
    search_filter *open = has ? make_group(FILTER_NOT, has, NULL) : NULL;
    search_filter *f = of && open ? make_group(FILTER_OR, open, of) : NULL;
    bool ok = f != NULL;
    for (size_t i = 0; ok && i < n; i++) {
        of->values[i] = (filter_value){VALUE_STRING, 0, strdup(groups[i])};
        of->n_values++;
        ok = of->values[i].string != NULL;
    }
    if (!ok) {
        if (f) return search_filter_free(f), fo_no_memory(err);
        search_filter_free(of);
        search_filter_free(open ? open : has);
        return fo_no_memory(err);
    }
    f->id = next_id();
    *out = f;
    return FO_OK;
}

int search_filter_both(search_filter **out, const search_filter *a, const search_filter *b,
                       fo_err *err) {
    *out = NULL;
    if (!a && !b) return FO_OK;
    search_filter *f = make_group(FILTER_AND, (search_filter *)a, (search_filter *)b);
    if (!f) return fo_no_memory(err);
    f->borrows = true;
    f->id = a && b ? next_id() : (a ? a : b)->id; /* the bitmaps of a lone one serve again */
    *out = f;
    return FO_OK;
}

int search_filter_within(search_filter **out, const int64_t *documents, size_t n,
                         const search_filter *also, fo_err *err) {
    search_filter *f = make_group(FILTER_AND, NULL, NULL);
    if (!f) return fo_no_memory(err);
    f->documents = documents;
    f->n_documents = n;
    f->also = also;
    f->id = next_id();
    *out = f;
    return FO_OK;
}
