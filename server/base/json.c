#include "server/base/json.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/order.h"
#include "server/base/request_limits.h"
#include "kernels/utf8.h"
#include "server/base/printable.h"

/* ---- the scanner ---------------------------------------------------------------------------- */

typedef struct scan {
    const unsigned char *s;
    size_t n, i;
    fo_err *err;
} scan;

static int bad(scan *c, const char *what) {
    return fo_fail(c->err, FO_EINVAL, "malformed JSON at byte %zu: %s", c->i, what);
}

static void skip_space(scan *c) {
    while (c->i < c->n &&
           (c->s[c->i] == ' ' || c->s[c->i] == '\n' || c->s[c->i] == '\r' || c->s[c->i] == '\t'))
        c->i++;
}

static int hex4(scan *c, size_t at, unsigned *out) {
    *out = 0;
    for (size_t k = 0; k < 4; k++) {
        unsigned char h = at + k < c->n ? c->s[at + k] : 0;
        unsigned d = 16;
        if (h >= '0' && h <= '9')
            d = h - (unsigned)'0';
        else if ((h | 32) >= 'a' && (h | 32) <= 'f')
            d = (h | 32u) - 'a' + 10;
        if (d > 15) return bad(c, "\\u needs four hexadecimal digits");
        *out = *out * 16 + d;
    }
    return FO_OK;
}

static int scan_string(scan *c) {
    c->i++;
    while (c->i < c->n) {
        unsigned char ch = c->s[c->i];
        if (ch == '"') return c->i++, FO_OK;
        if (ch < 0x20) return bad(c, "a control character in a string must be escaped");
        if (ch >= 0x80) {
            int32_t cp;
            size_t len = fo_utf8_decode((const char *)c->s + c->i, c->n - c->i, &cp);
            if (cp < 0) return bad(c, "invalid UTF-8");
            c->i += len;
            continue;
        }
        if (ch != '\\') {
            c->i++;
            continue;
        }
        unsigned char e = c->i + 1 < c->n ? c->s[c->i + 1] : 0;
        if (e == 'u') {
            unsigned u, low;
            if (hex4(c, c->i + 2, &u)) return FO_EINVAL;
            if (u == 0) return bad(c, "\\u0000 is not allowed");
            if (u >= 0xDC00 && u <= 0xDFFF) return bad(c, "a lone surrogate");
            if (u >= 0xD800 && u <= 0xDBFF) {
                if (c->i + 7 >= c->n || c->s[c->i + 6] != '\\' || c->s[c->i + 7] != 'u')
                    return bad(c, "a lone surrogate");
                if (hex4(c, c->i + 8, &low)) return FO_EINVAL;
                if (low < 0xDC00 || low > 0xDFFF) return bad(c, "a lone surrogate");
                c->i += 6;
            }
            c->i += 6;
        } else if (e && strchr("\"\\/bfnrt", e)) {
            c->i += 2;
        } else {
            return bad(c, "an unknown escape");
        }
    }
    return bad(c, "a string without its end");
}

static bool digit(const scan *c) {
    return c->i < c->n && c->s[c->i] >= '0' && c->s[c->i] <= '9';
}

/* cJSON reads 63 characters of a number, and makes an infinity of what no double holds. */
enum { NUMBER_MOST = 63 };

static int scan_number(scan *c) {
    size_t from = c->i;
    if (c->s[c->i] == '-') c->i++;
    if (!digit(c)) return bad(c, "a digit is missing");
    if (c->s[c->i] == '0')
        c->i++;
    else
        while (digit(c)) c->i++;
    if (digit(c)) return bad(c, "a number with a leading zero");
    if (c->i < c->n && c->s[c->i] == '.') {
        c->i++;
        if (!digit(c)) return bad(c, "a digit is missing");
        while (digit(c)) c->i++;
    }
    if (c->i < c->n && (c->s[c->i] | 32) == 'e') {
        c->i++;
        if (c->i < c->n && (c->s[c->i] == '+' || c->s[c->i] == '-')) c->i++;
        if (!digit(c)) return bad(c, "a digit is missing");
        while (digit(c)) c->i++;
    }
    char copy[NUMBER_MOST + 1];
    size_t n = c->i - from;
    bool fits = n <= NUMBER_MOST;
    if (fits) memcpy(copy, c->s + from, n);
    copy[fits ? n : 0] = 0;
    if (fits && isfinite(strtod(copy, NULL))) return FO_OK;
    c->i = from;
    return bad(c, fits ? "a number too large" : "a number of more than 63 characters");
}

static int scan_word(scan *c, const char *word) {
    size_t n = strlen(word);
    if (c->n - c->i < n || memcmp(c->s + c->i, word, n)) return bad(c, "an unknown word");
    c->i += n;
    return FO_OK;
}

/* Without recursion: the stack holds the closing bracket of every open container. */
int json_validate(const char *text, size_t len, fo_err *err) {
    scan c = {(const unsigned char *)text, len, 0, err};
    char stack[JSON_MAX_DEPTH];
    size_t depth = 0, n_values = 0;
    skip_space(&c);
    if (c.i == c.n) return bad(&c, "a value was expected, the text is empty");
    for (;;) { /* a value begins here */
        int rc = FO_OK;
        bool opened = false;
        if (c.i == c.n) return bad(&c, "a value was expected, the text ends");
        if (++n_values > JSON_MOST_VALUES)
            return fo_fail(err, FO_ELIMIT, "the JSON has more than %d values", JSON_MOST_VALUES);
        switch (c.s[c.i]) {
        case '{':
        case '[':
            if (depth == JSON_MAX_DEPTH || (size_t)depth >= request_limits_now()->json_depth)
                return bad(&c, "nested too deep");
            stack[depth++] = c.s[c.i] == '{' ? '}' : ']';
            c.i++;
            opened = true;
            break;
        case '"':
            rc = scan_string(&c);
            break;
        case 't':
            rc = scan_word(&c, "true");
            break;
        case 'f':
            rc = scan_word(&c, "false");
            break;
        case 'n':
            rc = scan_word(&c, "null");
            break;
        default:
            if (c.s[c.i] != '-' && !digit(&c)) return bad(&c, "a value was expected");
            rc = scan_number(&c);
        }
        if (rc) return rc;
        for (;;) { /* after a value, or just inside a container */
            skip_space(&c);
            if (depth == 0) {
                if (c.i != c.n) return bad(&c, "more text after the value");
                return FO_OK;
            }
            if (c.i == c.n) return bad(&c, "the text ends inside an object or array");
            char close = stack[depth - 1];
            if (c.s[c.i] == (unsigned char)close) {
                c.i++;
                depth--;
                opened = false;
                continue;
            }
            if (!opened) {
                if (c.s[c.i] != ',') return bad(&c, "a comma or closing bracket was expected");
                c.i++;
                skip_space(&c);
            }
            if (close == '}') {
                if (c.i == c.n || c.s[c.i] != '"') return bad(&c, "a key was expected");
                if ((rc = scan_string(&c))) return rc;
                skip_space(&c);
                if (c.i == c.n || c.s[c.i] != ':') return bad(&c, "a colon was expected");
                c.i++;
                skip_space(&c);
            }
            break;
        }
    }
}

static int check_duplicates(const cJSON *item, fo_err *err) {
    for (; item; item = item->next) {
        if (cJSON_IsObject(item) && item->child && item->child->next) {
            size_t n = 0;
            for (const cJSON *k = item->child; k; k = k->next) n++;
            const char **names = malloc(n * sizeof *names);
            if (!names) return fo_no_memory(err);
            n = 0;
            for (const cJSON *k = item->child; k; k = k->next) names[n++] = k->string;
            qsort(names, n, sizeof *names, fo_order_strings);
            for (size_t i = 1; i < n; i++)
                if (!strcmp(names[i - 1], names[i])) {
                    int rc = fo_fail_field(err, FO_EINVAL, names[i], "'%.200s' stands there twice",
                                           names[i]);
                    free(names);
                    return rc;
                }
            free(names);
        }
        int rc = check_duplicates(item->child, err);
        if (rc) return rc;
    }
    return FO_OK;
}

/* ---- whole numbers that no double holds ------------------------------------------------------- */

enum { DIGITS_HELD = 15 }; /* so many every double has */

/* Is it a whole number that reading rounds? */
static bool is_rounded(const char *s, size_t n) {
    char copy[NUMBER_MOST + 1], held[400];
    if (n <= DIGITS_HELD || n > NUMBER_MOST) return false;
    memcpy(copy, s, n);
    copy[n] = 0;
    if (strpbrk(copy, ".eE")) return false;
    snprintf(held, sizeof held, "%.0f", strtod(copy, NULL));
    return strcmp(copy, held) != 0;
}

/* The next number of a text that is valid; false: there is none. */
static bool next_number(const char *text, size_t len, size_t *at, size_t *n) {
    static const char of_number[] = "+-.0123456789eE";
    for (bool quoted = false; *at < len; ++*at) {
        char ch = text[*at];
        if (ch == '"') quoted = !quoted;
        if (quoted) {
            *at += ch == '\\';
            continue;
        }
        if (ch != '-' && (ch < '0' || ch > '9')) continue;
        *n = 1;
        while (*at + *n < len && memchr(of_number, text[*at + *n], sizeof of_number - 1)) ++*n;
        return true;
    }
    return false;
}

/* Numbers of the tree stand in the text's order. */
static int keep_digits_of(cJSON *item, const char *text, size_t len, size_t *at, fo_err *err) {
    size_t n = 0;
    for (; item; item = item->next) {
        if (cJSON_IsNumber(item) && next_number(text, len, at, &n)) {
            if (is_rounded(text + *at, n)) {
                item->valuestring = cJSON_malloc(n + 1);
                if (!item->valuestring) return fo_no_memory(err);
                memcpy(item->valuestring, text + *at, n);
                item->valuestring[n] = 0;
            }
            *at += n;
        }
        int rc = keep_digits_of(item->child, text, len, at, err);
        if (rc) return rc;
    }
    return FO_OK;
}

static int keep_digits(cJSON *root, const char *text, size_t len, fo_err *err) {
    size_t n;
    for (size_t at = 0; next_number(text, len, &at, &n); at += n) {
        if (!is_rounded(text + at, n)) continue;
        at = 0;
        return keep_digits_of(root, text, len, &at, err);
    }
    return FO_OK; /* nearly always */
}

int json_refuse_rounded(const cJSON *tree, const char *path, fo_err *err) {
    if (cJSON_IsNumber(tree) && tree->valuestring)
        return fo_fail_field(err, FO_EINVAL, path,
                             "%s is %.63s, a whole number of more digits than a number holds here: "
                             "send it as a string",
                             path, tree->valuestring);
    json_in in = {0};
    snprintf(in.path, sizeof in.path, "%s", path);
    size_t i = 0;
    for (const cJSON *c = tree->child; c; c = c->next, i++) {
        char below[64], index[32];
        snprintf(index, sizeof index, "[%zu]", i);
        json_in_path(&in, c->string ? c->string : index, below);
        int rc = json_refuse_rounded(c, below, err);
        if (rc) return rc;
    }
    return FO_OK;
}

int json_parse(const char *text, size_t len, cJSON **out, fo_err *err) {
    int rc = json_validate(text, len, err);
    if (rc) return rc;
    cJSON *root = cJSON_ParseWithLength(text, len);
    if (!root) return fo_fail(err, FO_ENOMEM, "out of memory while reading JSON");
    rc = check_duplicates(root, err);
    if (!rc) rc = keep_digits(root, text, len, err);
    if (rc) {
        cJSON_Delete(root);
        return rc;
    }
    *out = root;
    return FO_OK;
}

/* ---- reading -------------------------------------------------------------------------------- */

static const char *type_name(const cJSON *item) {
    return cJSON_IsString(item)   ? "a string"
           : cJSON_IsNumber(item) ? "a number"
           : cJSON_IsBool(item)   ? "true or false"
           : cJSON_IsArray(item)  ? "an array"
           : cJSON_IsObject(item) ? "an object"
                                  : "null";
}

bool json_in_failed(const json_in *in) {
    return in->err->code != FO_OK;
}

void json_in_path(const json_in *in, const char *key, char out[64]) {
    const bool dot = *in->path && *key && *key != '[';
    fo_utf8_print(out, 64, "%s%s%s", in->path, dot ? "." : "", key);
}

static void fail_type(json_in *in, const char *key, const char *want, const cJSON *item) {
    char path[64];
    json_in_path(in, key, path);
    fo_fail_field(in->err, FO_EINVAL, path, "%s must be %s, not %s", *path ? path : "the body",
                  want, type_name(item));
}

void json_in_object(json_in *in, const cJSON *item, const char *path, fo_err *err) {
    *in = (json_in){.err = err};
    size_t n = strnlen(path, sizeof in->path - 1);
    memcpy(in->path, path, n);
    if (!item || cJSON_IsNull(item) || err->code) return;
    if (!cJSON_IsObject(item)) {
        fail_type(in, "", "an object", item);
        return;
    }
    in->object = item;
}

const cJSON *json_in_any(json_in *in, const char *key) {
    assert(in->n_known < sizeof in->known / sizeof *in->known);
    in->known[in->n_known++] = key;
    if (!in->object || json_in_failed(in)) return NULL;
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(in->object, key);
    return item && !cJSON_IsNull(item) ? item : NULL;
}

void json_in_child(json_in *in, json_in *parent, const char *key) {
    char path[64];
    json_in_path(parent, key, path);
    json_in_object(in, json_in_any(parent, key), path, parent->err);
}

int json_in_end(json_in *in) {
    if (json_in_failed(in)) return in->err->code;
    if (!in->object) return FO_OK;
    for (const cJSON *item = in->object->child; item; item = item->next) {
        bool known = false;
        for (size_t i = 0; i < in->n_known && !known; i++)
            known = !strcmp(in->known[i], item->string);
        if (known) continue;
        char path[64];
        json_in_path(in, item->string, path);
        return fo_fail_field(in->err, FO_EINVAL, path, "unknown field '%s'", path);
    }
    return FO_OK;
}

const char *json_in_string(json_in *in, const char *key, const char *def, size_t min_len,
                           size_t max_len) {
    const cJSON *item = json_in_any(in, key);
    if (!item) return def;
    if (!cJSON_IsString(item)) return fail_type(in, key, "a string", item), def;
    size_t n = strlen(item->valuestring);
    char path[64];
    json_in_path(in, key, path);
    if (n < min_len) {
        if (n == 0)
            fo_fail_field(in->err, FO_EINVAL, path, "%s must not be empty", path);
        else
            fo_fail_field(in->err, FO_EINVAL, path, "%s must have at least %zu bytes", path,
                          min_len);
        return def;
    }
    if (n > max_len) {
        fo_fail_field(in->err, FO_EINVAL, path, "%s must have at most %zu bytes", path, max_len);
        return def;
    }
    return item->valuestring;
}

int64_t json_in_int(json_in *in, const char *key, int64_t def, int64_t min, int64_t max) {
    const cJSON *item = json_in_any(in, key);
    if (!item) return def;
    if (!cJSON_IsNumber(item)) return fail_type(in, key, "a whole number", item), def;
    double v = item->valuedouble;
    char path[64];
    json_in_path(in, key, path);
    if (v != floor(v) || fabs(v) > 9007199254740992.0) {
        fo_fail_field(in->err, FO_EINVAL, path, "%s must be a whole number", path);
        return def;
    }
    if (v < (double)min || v > (double)max) {
        fo_fail_field(in->err, FO_EINVAL, path, "%s must be between %lld and %lld", path,
                      (long long)min, (long long)max);
        return def;
    }
    return (int64_t)v;
}

double json_in_number(json_in *in, const char *key, double def, double min, double max) {
    const cJSON *item = json_in_any(in, key);
    if (!item) return def;
    if (!cJSON_IsNumber(item)) return fail_type(in, key, "a number", item), def;
    double v = item->valuedouble;
    if (!(v >= min && v <= max)) {
        char path[64];
        json_in_path(in, key, path);
        fo_fail_field(in->err, FO_EINVAL, path, "%s must be between %g and %g", path, min, max);
        return def;
    }
    return v;
}

bool json_in_bool(json_in *in, const char *key, bool def) {
    const cJSON *item = json_in_any(in, key);
    if (!item) return def;
    if (!cJSON_IsBool(item)) return fail_type(in, key, "true or false", item), def;
    return cJSON_IsTrue(item);
}

int json_in_enum(json_in *in, const char *key, int def, const char *const *names) {
    const cJSON *item = json_in_any(in, key);
    if (!item) return def;
    if (!cJSON_IsString(item)) return fail_type(in, key, "a string", item), def;
    fo_buf all = {0};
    for (int i = 0; names[i]; i++) {
        if (!strcmp(names[i], item->valuestring)) {
            fo_buf_free(&all);
            return i;
        }
        fo_buf_printf(&all, "%s%s", i ? ", " : "", names[i]);
    }
    char path[64];
    json_in_path(in, key, path);
    fo_fail_field(in->err, FO_EINVAL, path, "%s must be one of %s", path, all.data);
    fo_buf_free(&all);
    return def;
}

const cJSON *json_in_array(json_in *in, const char *key, size_t max) {
    const cJSON *item = json_in_any(in, key);
    if (!item) return NULL;
    if (!cJSON_IsArray(item)) return fail_type(in, key, "an array", item), NULL;
    size_t n = 0;
    for (const cJSON *e = item->child; e; e = e->next) n++;
    if (n > max) {
        char path[64];
        json_in_path(in, key, path);
        fo_fail_field(in->err, FO_EINVAL, path, "%s must have at most %zu items", path, max);
        return NULL;
    }
    return item;
}

/* ---- writing -------------------------------------------------------------------------------- */

void json_write_string(fo_buf *b, const char *s, size_t len) {
    fo_buf_char(b, '"');
    size_t from = 0;
    for (size_t i = 0; i < len;) {
        unsigned char ch = (unsigned char)s[i];
        if (ch >= 0x20 && ch < 0x7f && ch != '"' && ch != '\\') {
            i++;
            continue;
        }
        size_t n = 1;
        int32_t cp = ch;
        if (ch >= 0x80) {
            n = fo_utf8_decode(s + i, len - i, &cp);
            if (cp >= 0 && !printable_escapes(cp)) {
                i += n;
                continue;
            }
        }
        fo_buf_add(b, s + from, i - from);
        if (cp < 0)
            fo_buf_str(b, "\xEF\xBF\xBD");
        else if (ch == '"' || ch == '\\')
            fo_buf_char(b, '\\'), fo_buf_char(b, (char)ch);
        else if (ch == '\n')
            fo_buf_str(b, "\\n");
        else if (ch == '\r')
            fo_buf_str(b, "\\r");
        else if (ch == '\t')
            fo_buf_str(b, "\\t");
        else
            fo_buf_printf(b, "\\u%04x", (unsigned)cp);
        i += n;
        from = i;
    }
    fo_buf_add(b, s + from, len - from);
    fo_buf_char(b, '"');
}

void json_write_number(fo_buf *b, double v) {
    if (!isfinite(v)) {
        fo_buf_str(b, "null");
        return;
    }
    char text[32];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, v);
        if (strtod(text, NULL) == v) break;
    }
    fo_buf_str(b, text);
}

static void write_tree(fo_buf *b, const cJSON *tree);

static void write_members(fo_buf *b, const cJSON *tree) {
    bool object = cJSON_IsObject(tree);
    fo_buf_char(b, object ? '{' : '[');
    for (const cJSON *c = tree->child; c; c = c->next) {
        if (object) {
            json_write_string(b, c->string, strlen(c->string));
            fo_buf_char(b, ':');
        }
        write_tree(b, c);
        if (c->next) fo_buf_char(b, ',');
    }
    fo_buf_char(b, object ? '}' : ']');
}

/* Of a whole number every digit: 1111111111111111168 is a double, of which 1.1111111111111112e+18 is enough to tell
 * it by, but who reads it as text (a model, a client with integers) reads another. */
static void write_tree_number(fo_buf *b, const cJSON *number) {
    double v = number->valuedouble;
    if (number->valuestring)
        fo_buf_str(b, number->valuestring);
    else if (fabs(v) < 0x1p63 && v == floor(v))
        fo_buf_printf(b, "%.0f", v);
    else
        json_write_number(b, v);
}

static void write_tree(fo_buf *b, const cJSON *tree) {
    if (cJSON_IsObject(tree) || cJSON_IsArray(tree))
        write_members(b, tree);
    else if (cJSON_IsString(tree))
        json_write_string(b, tree->valuestring, strlen(tree->valuestring));
    else if (cJSON_IsNumber(tree))
        write_tree_number(b, tree);
    else
        fo_buf_str(b, cJSON_IsTrue(tree) ? "true" : cJSON_IsFalse(tree) ? "false" : "null");
}

char *json_tree_text(const cJSON *tree) {
    fo_buf b = {0};
    write_tree(&b, tree);
    return fo_buf_take(&b, NULL);
}

static void begin_value(json_out *o, const char *key) {
    if (o->comma) fo_buf_char(o->b, ',');
    o->comma = true;
    if (key) {
        json_write_string(o->b, key, strlen(key));
        fo_buf_char(o->b, ':');
    }
}

void json_out_open(json_out *o, const char *key, char bracket) {
    begin_value(o, key);
    fo_buf_char(o->b, bracket);
    o->comma = false;
}

void json_out_close(json_out *o, char bracket) {
    fo_buf_char(o->b, bracket);
    o->comma = true;
}

void json_out_bytes(json_out *o, const char *key, const char *s, size_t len) {
    begin_value(o, key);
    json_write_string(o->b, s, len);
}

void json_out_string(json_out *o, const char *key, const char *s) {
    if (s)
        json_out_bytes(o, key, s, strlen(s));
    else
        json_out_null(o, key);
}

void json_out_int(json_out *o, const char *key, int64_t v) {
    begin_value(o, key);
    fo_buf_printf(o->b, "%lld", (long long)v);
}

void json_out_number(json_out *o, const char *key, double v) {
    begin_value(o, key);
    json_write_number(o->b, v);
}

void json_out_bool(json_out *o, const char *key, bool v) {
    begin_value(o, key);
    fo_buf_str(o->b, v ? "true" : "false");
}

void json_out_null(json_out *o, const char *key) {
    begin_value(o, key);
    fo_buf_str(o->b, "null");
}

void json_out_raw(json_out *o, const char *key, const char *json) {
    begin_value(o, key);
    printable_add(o->b, json, strlen(json), PRINTABLE_JSON);
}
