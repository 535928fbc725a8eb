/* jinja_value.c - memory and values of the template interpreter (jinja.h). */
#include <cjson/cJSON.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#include "engine/chat/jinja.h"
#include "kernels/utf8.h"

/* ---- memory and errors ---- */

typedef struct jchunk {
    struct jchunk *next;
    size_t used, size;
    _Alignas(16) char data[];
} jchunk;

jval jinja_fail(jinja *c, int code, const char *fmt, ...) {
    if (c->failed) return J_UNDEF;
    c->failed = code;
    char text[400];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    fo_fail(c->err, code, "template line %u: %s", c->line, text);
    return J_UNDEF;
}

bool jinja_charge(jinja *c, size_t steps) {
    if (c->failed) return false;
    c->steps += steps;
    if (c->steps <= c->max_steps) return true;
    jinja_fail(c, FO_ELIMIT, "more than %llu steps", (unsigned long long)c->max_steps);
    return false;
}

bool jinja_enter(jinja *c) {
    if (!jinja_charge(c, 1)) return false;
    if (c->depth >= c->max_depth) {
        jinja_fail(c, FO_ELIMIT, "nested deeper than %d levels", c->max_depth);
        return false;
    }
    c->depth++;
    return true;
}

void *jinja_alloc(jinja *c, size_t n, size_t size) {
    size_t bytes;
    if (c->failed) return NULL;
    if (!fo_mul_size(n, size, &bytes) || bytes > c->max_bytes - c->bytes) {
        jinja_fail(c, FO_ELIMIT, "more than %zu MiB of memory", c->max_bytes >> 20);
        return NULL;
    }
    bytes = (bytes + 15) & ~(size_t)15;
    jchunk *k = c->chunks;
    if (!k || k->size - k->used < bytes) {
        size_t room = bytes > 16384 ? bytes : 16384;
        k = malloc(sizeof *k + room);
        if (!k) {
            jinja_fail(c, FO_ENOMEM, "out of memory");
            return NULL;
        }
        *k = (jchunk){.next = c->chunks, .size = room};
        c->chunks = k;
    }
    void *p = k->data + k->used;
    k->used += bytes;
    c->bytes += bytes < c->max_bytes - c->bytes ? bytes : c->max_bytes - c->bytes;
    memset(p, 0, bytes);
    return p;
}

bool jinja_too_long(jinja *c, const fo_buf *text) {
    if (text->len > c->max_bytes - c->bytes)
        jinja_fail(c, FO_ELIMIT, "more than %zu MiB of text", c->max_bytes >> 20);
    return c->failed;
}

void jinja_deinit(jinja *c) {
    while (c->chunks) {
        jchunk *next = c->chunks->next;
        free(c->chunks);
        c->chunks = next;
    }
}

/* ---- making values ---- */

jval j_string_at(jinja *c, const char *p, size_t n) {
    jstr *s = jinja_alloc(c, 1, sizeof *s);
    if (!s) return J_UNDEF;
    *s = (jstr){p, n};
    return (jval){.type = J_STRING, .s = s};
}

jval j_string(jinja *c, const char *p, size_t n) {
    char *copy = jinja_alloc(c, n + 1, 1);
    if (!copy || !jinja_charge(c, n / 64)) return J_UNDEF;
    if (n) memcpy(copy, p, n);
    return j_string_at(c, copy, n);
}

jval j_from_buf(jinja *c, fo_buf *b) {
    jval v = b->failed ? jinja_fail(c, FO_ENOMEM, "out of memory") : j_string(c, b->data, b->len);
    fo_buf_free(b);
    return v;
}

jval j_list(jinja *c, jtype type, size_t cap) {
    jlist *l = jinja_alloc(c, 1, sizeof *l);
    jval *v = l && cap ? jinja_alloc(c, cap, sizeof *v) : NULL;
    if (!l || (cap && !v)) return J_UNDEF;
    *l = (jlist){v, 0, cap};
    return (jval){.type = type, .list = l};
}

bool j_push(jinja *c, jlist *l, jval v) {
    if (c->failed) return false;
    if (l->n == l->cap) {
        size_t cap = l->cap ? l->cap * 2 : 8;
        jval *grown = jinja_alloc(c, cap, sizeof *grown);
        if (!grown) return false;
        if (l->n) memcpy(grown, l->v, l->n * sizeof *grown);
        l->v = grown;
        l->cap = cap;
    }
    l->v[l->n++] = v;
    return true;
}

jval j_dict(jinja *c, jtype type, size_t cap) {
    jdict *d = jinja_alloc(c, 1, sizeof *d);
    if (!d) return J_UNDEF;
    d->cap = cap ? cap : 4;
    d->k = jinja_alloc(c, d->cap, sizeof *d->k);
    d->v = jinja_alloc(c, d->cap, sizeof *d->v);
    return d->k && d->v ? (jval){.type = type, .dict = d} : J_UNDEF;
}

const jval *j_get_str(jinja *c, const jdict *d, jstr key) {
    if (!jinja_charge(c, d->n / 8)) return NULL;
    for (size_t i = 0; i < d->n; i++)
        if (d->k[i].type == J_STRING && d->k[i].s->n == key.n && jinja_charge(c, key.n / 64) &&
            (!key.n || memcmp(d->k[i].s->p, key.p, key.n) == 0))
            return &d->v[i];
    return NULL;
}

const jval *j_get(jinja *c, const jdict *d, jval key) {
    if (key.type == J_STRING) return j_get_str(c, d, *key.s);
    if (!jinja_charge(c, d->n / 8)) return NULL;
    for (size_t i = 0; i < d->n; i++)
        if (d->k[i].type != J_STRING && j_equal(c, d->k[i], key)) return &d->v[i];
    return NULL;
}

bool j_put(jinja *c, jdict *d, jval key, jval value) {
    if (c->failed) return false;
    if (key.type == J_LIST || key.type == J_DICT || key.type == J_NAMESPACE) {
        jinja_fail(c, FO_EINVAL, "a %s cannot be a key", j_type_name(key));
        return false;
    }
    jval *at = (jval *)j_get(c, d, key);
    if (c->failed) return false;
    if (at) {
        *at = value;
        return true;
    }
    if (d->n == d->cap) {
        size_t cap = d->cap * 2;
        jval *k = jinja_alloc(c, cap, sizeof *k), *v = jinja_alloc(c, cap, sizeof *v);
        if (!k || !v) return false;
        memcpy(k, d->k, d->n * sizeof *k);
        memcpy(v, d->v, d->n * sizeof *v);
        d->k = k;
        d->v = v;
        d->cap = cap;
    }
    d->k[d->n] = key;
    d->v[d->n++] = value;
    return true;
}

/* A whole number was most likely written as an integer. Of one that no double holds the digits stand beside it. */
static jval from_number(const cJSON *json) {
    double v = json->valuedouble;
    if (json->valuestring) {
        char *end;
        errno = 0;
        int64_t exact = strtoll(json->valuestring, &end, 10);
        if (!errno && !*end && end != json->valuestring) return j_int(exact);
    }
    if (v == floor(v) && fabs(v) < 0x1p63) return j_int((int64_t)v);
    return j_float(v);
}

jval j_from_json(jinja *c, const cJSON *json) {
    if (!json || cJSON_IsNull(json)) return J_NULL;
    if (cJSON_IsBool(json)) return j_bool(cJSON_IsTrue(json));
    if (cJSON_IsNumber(json)) return from_number(json);
    if (cJSON_IsString(json)) {
        size_t n = strlen(json->valuestring), bad;
        if (!fo_utf8_valid(json->valuestring, n, &bad))
            return jinja_fail(c, FO_EINVAL, "a string given is not UTF-8 at byte %zu", bad);
        return j_string_at(c, json->valuestring, n);
    }
    if (!jinja_enter(c)) return J_UNDEF;
    jval v = cJSON_IsArray(json) ? j_list(c, J_LIST, 0) : j_dict(c, J_DICT, 0);
    for (const cJSON *k = json->child; k && !c->failed; k = k->next) {
        jval item = j_from_json(c, k);
        if (c->failed) break;
        if (v.type == J_LIST) {
            j_push(c, v.list, item);
            continue;
        }
        jval key = j_string_at(c, k->string, strlen(k->string));
        if (!c->failed && fo_utf8_valid(key.s->p, key.s->n, NULL))
            j_put(c, v.dict, key, item);
        else
            jinja_fail(c, FO_EINVAL, "a key given is not UTF-8");
    }
    c->depth--;
    return c->failed ? J_UNDEF : v;
}

/* ---- questions ---- */

bool j_is(jstr s, const char *text) {
    return strlen(text) == s.n && memcmp(s.p, text, s.n) == 0;
}

const char *j_type_name(jval v) {
    static const char *const names[] = {
        "undefined value", "none", "bool",      "int",  "float", "str",      "list",
        "tuple",           "dict", "namespace", "loop", "macro", "function", "method"};
    return names[v.type];
}

bool j_truth(jval v) {
    switch (v.type) {
    case J_UNDEFINED:
    case J_NONE:
        return false;
    case J_BOOL:
        return v.b;
    case J_INT:
        return v.i != 0;
    case J_FLOAT:
        return v.f != 0;
    case J_STRING:
        return v.s->n > 0;
    case J_LIST:
    case J_TUPLE:
        return v.list->n > 0;
    case J_DICT:
        return v.dict->n > 0;
    default:
        return true;
    }
}

double j_number(jval v) {
    return v.type == J_FLOAT ? v.f : v.type == J_BOOL ? v.b : (double)v.i;
}

bool j_equal(jinja *c, jval a, jval b) {
    if (j_is_number(a) && j_is_number(b)) {
        if (a.type != J_FLOAT && b.type != J_FLOAT)
            return (a.type == J_BOOL ? a.b : a.i) == (b.type == J_BOOL ? b.b : b.i);
        return j_number(a) == j_number(b);
    }
    if (a.type != b.type) return false;
    switch (a.type) {
    case J_UNDEFINED:
    case J_NONE:
        return true;
    case J_STRING:
        return a.s->n == b.s->n && jinja_charge(c, a.s->n / 64) &&
               (!a.s->n || memcmp(a.s->p, b.s->p, a.s->n) == 0);
    case J_FUNCTION:
        return a.i == b.i;
    case J_LIST:
    case J_TUPLE:
    case J_DICT:
        break;
    default:
        return a.dict == b.dict; /* the same object */
    }
    if (!jinja_enter(c)) return false;
    bool same;
    if (a.type == J_DICT) {
        same = a.dict->n == b.dict->n;
        for (size_t i = 0; same && i < a.dict->n; i++) {
            const jval *other = j_get(c, b.dict, a.dict->k[i]);
            same = other && j_equal(c, a.dict->v[i], *other);
        }
    } else {
        same = a.list->n == b.list->n && jinja_charge(c, a.list->n / 16);
        for (size_t i = 0; same && i < a.list->n; i++)
            same = j_equal(c, a.list->v[i], b.list->v[i]);
    }
    c->depth--;
    return same && !c->failed;
}

int j_compare(jinja *c, jval a, jval b) {
    if (j_is_number(a) && j_is_number(b)) {
        if (a.type != J_FLOAT && b.type != J_FLOAT) {
            int64_t x = a.type == J_BOOL ? a.b : a.i, y = b.type == J_BOOL ? b.b : b.i;
            return (x > y) - (x < y);
        }
        double x = j_number(a), y = j_number(b);
        return (x > y) - (x < y);
    }
    if (a.type == J_STRING && b.type == J_STRING) {
        size_t n = a.s->n < b.s->n ? a.s->n : b.s->n;
        jinja_charge(c, n / 64);
        int d = n ? memcmp(a.s->p, b.s->p, n) : 0;
        return d ? d : (a.s->n > b.s->n) - (a.s->n < b.s->n);
    }
    if (a.type == b.type && j_is_list(a)) {
        if (!jinja_enter(c)) return 0;
        int d = 0;
        jinja_charge(c, (a.list->n < b.list->n ? a.list->n : b.list->n) / 16);
        for (size_t i = 0; !d && i < a.list->n && i < b.list->n && !c->failed; i++)
            d = j_compare(c, a.list->v[i], b.list->v[i]);
        c->depth--;
        return d ? d : (a.list->n > b.list->n) - (a.list->n < b.list->n);
    }
    jinja_fail(c, FO_EINVAL, "cannot order a %s and a %s", j_type_name(a), j_type_name(b));
    return 0;
}

/* ---- text ---- */

/* The shortest decimal that reads back as v, as Python writes it. */
static void print_float(fo_buf *out, double v) {
    if (isnan(v) || isinf(v)) {
        fo_buf_str(out, isnan(v) ? "nan" : v > 0 ? "inf" : "-inf");
        return;
    }
    char digits[40];
    int precision = 1;
    for (; precision < 17; precision++) {
        snprintf(digits, sizeof digits, "%.*e", precision - 1, v);
        if (strtod(digits, NULL) == v) break;
    }
    snprintf(digits, sizeof digits, "%.*e", precision - 1, v);
    int exponent = atoi(strchr(digits, 'e') + 1);
    if (exponent >= 16 || exponent < -4) {
        char *e = strchr(digits, 'e');
        fo_buf_add(out, digits, (size_t)(e - digits));
        fo_buf_printf(out, "e%c%02d", exponent < 0 ? '-' : '+', abs(exponent));
        return;
    }
    int decimals = precision - 1 - exponent;
    fo_buf_printf(out, "%.*f", decimals > 0 ? decimals : 1, v);
}

/* As str.isprintable() has it. */
static bool printable(int32_t cp) {
    switch (utf8proc_category(cp)) {
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
        return false;
    case UTF8PROC_CATEGORY_ZS:
        return cp == ' ';
    default:
        return true;
    }
}

static void repr_string(jinja *c, fo_buf *out, jstr s) {
    bool one = s.n && memchr(s.p, '\'', s.n), two = s.n && memchr(s.p, '"', s.n);
    char quote = one && !two ? '"' : '\'';
    fo_buf_char(out, quote);
    for (size_t i = 0, n; i < s.n && !jinja_too_long(c, out); i += n) {
        int32_t ch;
        n = fo_utf8_decode(s.p + i, s.n - i, &ch);
        if (ch == '\n')
            fo_buf_str(out, "\\n");
        else if (ch == '\r')
            fo_buf_str(out, "\\r");
        else if (ch == '\t')
            fo_buf_str(out, "\\t");
        else if (ch == '\\' || ch == quote)
            fo_buf_printf(out, "\\%c", (int)ch);
        else if (ch < 127 ? ch >= 32 : printable(ch))
            fo_buf_add(out, s.p + i, n);
        else if (ch < 0x100)
            fo_buf_printf(out, "\\x%02x", (unsigned)ch);
        else
            fo_buf_printf(out, ch < 0x10000 ? "\\u%04x" : "\\U%08x", (unsigned)ch);
    }
    fo_buf_char(out, quote);
}

static void repr_items(jinja *c, fo_buf *out, jval v) {
    fo_buf_char(out, v.type == J_TUPLE ? '(' : '[');
    for (size_t i = 0; i < v.list->n && !jinja_too_long(c, out); i++) {
        if (i) fo_buf_str(out, ", ");
        j_repr(c, out, v.list->v[i]);
    }
    if (v.type == J_TUPLE && v.list->n == 1) fo_buf_char(out, ',');
    fo_buf_char(out, v.type == J_TUPLE ? ')' : ']');
}

static void repr_dict(jinja *c, fo_buf *out, const jdict *d) {
    fo_buf_char(out, '{');
    for (size_t i = 0; i < d->n && !jinja_too_long(c, out); i++) {
        if (i) fo_buf_str(out, ", ");
        j_repr(c, out, d->k[i]);
        fo_buf_str(out, ": ");
        j_repr(c, out, d->v[i]);
    }
    fo_buf_char(out, '}');
}

void j_repr(jinja *c, fo_buf *out, jval v) {
    if (!jinja_enter(c)) return;
    switch (v.type) {
    case J_UNDEFINED:
        fo_buf_str(out, "Undefined");
        break;
    case J_NONE:
        fo_buf_str(out, "None");
        break;
    case J_BOOL:
        fo_buf_str(out, v.b ? "True" : "False");
        break;
    case J_INT:
        fo_buf_printf(out, "%lld", (long long)v.i);
        break;
    case J_FLOAT:
        print_float(out, v.f);
        break;
    case J_STRING:
        repr_string(c, out, *v.s);
        break;
    case J_LIST:
    case J_TUPLE:
        repr_items(c, out, v);
        break;
    case J_NAMESPACE:
    case J_DICT:
        repr_dict(c, out, v.dict);
        break;
    default:
        fo_buf_printf(out, "<%s>", j_type_name(v));
    }
    c->depth--;
}

void j_print(jinja *c, fo_buf *out, jval v) {
    if (v.type == J_STRING)
        fo_buf_add(out, v.s->p, v.s->n);
    else if (v.type != J_UNDEFINED)
        j_repr(c, out, v);
}

jval j_to_string(jinja *c, jval v) {
    if (v.type == J_STRING) return v;
    fo_buf b = {0};
    j_print(c, &b, v);
    return j_from_buf(c, &b);
}

/* ---- JSON, as Python's json.dumps writes it ---- */

static void dump_string(jinja *c, fo_buf *out, jstr s, bool ascii) {
    fo_buf_char(out, '"');
    for (size_t i = 0; i < s.n && !jinja_too_long(c, out);) {
        int32_t cp;
        size_t n = fo_utf8_decode(s.p + i, s.n - i, &cp);
        switch (cp) {
        case '"':
            fo_buf_str(out, "\\\"");
            break;
        case '\\':
            fo_buf_str(out, "\\\\");
            break;
        case '\n':
            fo_buf_str(out, "\\n");
            break;
        case '\r':
            fo_buf_str(out, "\\r");
            break;
        case '\t':
            fo_buf_str(out, "\\t");
            break;
        case '\b':
            fo_buf_str(out, "\\b");
            break;
        case '\f':
            fo_buf_str(out, "\\f");
            break;
        default:
            if (cp < 32 || (ascii && cp > 126 && cp < 0x10000))
                fo_buf_printf(out, "\\u%04x", (unsigned)cp);
            else if (ascii && cp >= 0x10000)
                fo_buf_printf(out, "\\u%04x\\u%04x", 0xD800u + ((unsigned)(cp - 0x10000) >> 10),
                              0xDC00u + ((unsigned)(cp - 0x10000) & 0x3FF));
            else
                fo_buf_add(out, s.p + i, n);
        }
        i += n;
    }
    fo_buf_char(out, '"');
}

static void dump_break(fo_buf *out, const jdump *how, int level) {
    if (how->indent < 0) return;
    fo_buf_char(out, '\n');
    for (int i = 0; i < level * how->indent; i++) fo_buf_add(out, how->unit.p, how->unit.n);
}

static int key_order(const void *a, const void *b) {
    const jstr *x = (*(const jval *const *)a)->s, *y = (*(const jval *const *)b)->s;
    int d = memcmp(x->p, y->p, x->n < y->n ? x->n : y->n);
    return d ? d : (x->n > y->n) - (x->n < y->n);
}

static void dump(jinja *c, fo_buf *out, jval v, const jdump *how, int level);

static void dump_key(jinja *c, fo_buf *out, jval k, const jdump *how) {
    if (k.type == J_STRING) {
        dump_string(c, out, *k.s, how->ascii);
        return;
    }
    fo_buf_char(out, '"');
    dump(c, out, k, how, 0);
    fo_buf_char(out, '"');
}

static void dump_dict(jinja *c, fo_buf *out, const jdict *d, const jdump *how, int level) {
    const jval **order = jinja_alloc(c, d->n, sizeof *order);
    if (!order) return;
    bool strings = true;
    for (size_t i = 0; i < d->n; i++) {
        order[i] = &d->k[i];
        strings &= d->k[i].type == J_STRING;
    }
    if (how->sort && strings) qsort(order, d->n, sizeof *order, key_order);
    fo_buf_char(out, '{');
    for (size_t i = 0; i < d->n && !jinja_too_long(c, out); i++) {
        if (i) fo_buf_add(out, how->item_sep.p, how->item_sep.n);
        dump_break(out, how, level + 1);
        dump_key(c, out, *order[i], how);
        fo_buf_add(out, how->key_sep.p, how->key_sep.n);
        dump(c, out, d->v[order[i] - d->k], how, level + 1);
    }
    if (d->n) dump_break(out, how, level);
    fo_buf_char(out, '}');
}

static void dump(jinja *c, fo_buf *out, jval v, const jdump *how, int level) {
    if (!jinja_enter(c)) return;
    switch (v.type) {
    case J_NONE:
        fo_buf_str(out, "null");
        break;
    case J_BOOL:
        fo_buf_str(out, v.b ? "true" : "false");
        break;
    case J_INT:
        fo_buf_printf(out, "%lld", (long long)v.i);
        break;
    case J_FLOAT:
        if (isfinite(v.f))
            print_float(out, v.f);
        else
            fo_buf_str(out, isnan(v.f) ? "NaN" : v.f > 0 ? "Infinity" : "-Infinity");
        break;
    case J_STRING:
        dump_string(c, out, *v.s, how->ascii);
        break;
    case J_LIST:
    case J_TUPLE:
        fo_buf_char(out, '[');
        for (size_t i = 0; i < v.list->n && !jinja_too_long(c, out); i++) {
            if (i) fo_buf_add(out, how->item_sep.p, how->item_sep.n);
            dump_break(out, how, level + 1);
            dump(c, out, v.list->v[i], how, level + 1);
        }
        if (v.list->n) dump_break(out, how, level);
        fo_buf_char(out, ']');
        break;
    case J_DICT:
        dump_dict(c, out, v.dict, how, level);
        break;
    default:
        jinja_fail(c, FO_EINVAL, "a %s has no JSON form", j_type_name(v));
    }
    c->depth--;
}

void j_dump(jinja *c, fo_buf *out, jval v, const jdump *how) {
    dump(c, out, v, how, 0);
}

/* ---- sequences ---- */

size_t j_length(jstr s) {
    return fo_utf8_count(s.p, s.n);
}

/* Python's slice.indices: first index, step, count. */
static bool slice_range(jinja *c, const jval bounds[3], size_t length, int64_t *start,
                        int64_t *step, size_t *count) {
    int64_t n = (int64_t)length, v[3] = {0, 0, 1};
    bool given[3];
    for (int i = 0; i < 3; i++) {
        given[i] = bounds[i].type != J_NONE;
        if (!given[i]) continue;
        if (bounds[i].type != J_INT && bounds[i].type != J_BOOL) {
            jinja_fail(c, FO_EINVAL, "a slice needs integers, not a %s", j_type_name(bounds[i]));
            return false;
        }
        v[i] = bounds[i].type == J_BOOL ? bounds[i].b : bounds[i].i;
        if (v[i] < -INT64_MAX / 4) v[i] = -INT64_MAX / 4;
        if (v[i] > INT64_MAX / 4) v[i] = INT64_MAX / 4;
    }
    if (v[2] == 0) {
        jinja_fail(c, FO_EINVAL, "a slice's step is 0");
        return false;
    }
    int64_t low = v[2] > 0 ? 0 : -1, high = v[2] > 0 ? n : n - 1;
    for (int i = 0; i < 2; i++) {
        if (!given[i]) {
            v[i] = (v[2] > 0) == (i == 0) ? low : high;
            continue;
        }
        if (v[i] < 0) v[i] += n;
        v[i] = v[i] < low ? low : v[i] > high ? high : v[i];
    }
    int64_t span = v[2] > 0 ? v[1] - v[0] : v[0] - v[1];
    int64_t stride = v[2] > 0 ? v[2] : -v[2];
    *start = v[0];
    *step = v[2];
    *count = span > 0 ? (size_t)((span + stride - 1) / stride) : 0;
    return true;
}

jval j_slice_string(jinja *c, jstr s, const jval bounds[3]) {
    int64_t start, step;
    size_t count;
    if (!jinja_charge(c, s.n / 16) || !slice_range(c, bounds, j_length(s), &start, &step, &count))
        return J_UNDEF;
    if (!count) return j_string_at(c, "", 0);
    if (step == 1) {
        size_t from = fo_utf8_offset(s.p, s.n, (size_t)start);
        size_t len = fo_utf8_offset(s.p + from, s.n - from, count);
        return j_string_at(c, s.p + from, len);
    }
    jval all = j_iterate(c, (jval){.type = J_STRING, .s = &s});
    fo_buf b = {0};
    for (size_t i = 0; i < count && !c->failed; i++) {
        const jstr *ch = all.list->v[start + (int64_t)i * step].s;
        fo_buf_add(&b, ch->p, ch->n);
    }
    return j_from_buf(c, &b);
}

jval j_slice_list(jinja *c, jval list, const jval bounds[3]) {
    int64_t start, step;
    size_t count;
    if (!slice_range(c, bounds, list.list->n, &start, &step, &count)) return J_UNDEF;
    jval out = j_list(c, list.type, count);
    for (size_t i = 0; i < count && !c->failed; i++)
        j_push(c, out.list, list.list->v[start + (int64_t)i * step]);
    jinja_charge(c, count);
    return c->failed ? J_UNDEF : out;
}

jval j_iterate(jinja *c, jval v) {
    jval out = j_list(c, J_LIST, 0);
    if (c->failed) return J_UNDEF;
    switch (v.type) {
    case J_UNDEFINED:
        break;
    case J_LIST:
    case J_TUPLE:
        for (size_t i = 0; i < v.list->n; i++)
            if (!j_push(c, out.list, v.list->v[i])) break;
        break;
    case J_DICT:
        for (size_t i = 0; i < v.dict->n; i++)
            if (!j_push(c, out.list, v.dict->k[i])) break;
        break;
    case J_STRING:
        for (size_t i = 0; i < v.s->n && !c->failed;) {
            int32_t cp;
            size_t n = fo_utf8_decode(v.s->p + i, v.s->n - i, &cp);
            jval ch = j_string_at(c, v.s->p + i, n);
            j_push(c, out.list, ch);
            i += n;
        }
        break;
    default:
        return jinja_fail(c, FO_EINVAL, "a %s cannot be iterated over", j_type_name(v));
    }
    jinja_charge(c, out.list->n / 4);
    return c->failed ? J_UNDEF : out;
}
