/* jinja_filters.c - filters (value | name) and tests (value is name). */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/chat/jinja.h"
#include "engine/tokenizer/unicode.h"
#include "kernels/utf8.h"

typedef jval filter_fn(jinja *c, jval v, const jcall *a);

static jval wrong(jinja *c, const char *filter, jval v) {
    return jinja_fail(c, FO_EINVAL, "%s cannot be applied to a %s", filter, j_type_name(v));
}

/* ---- of anything ---- */

static jval f_default(jinja *c, jval v, const jcall *a) {
    jval otherwise = jarg(a, 0, "default_value", J_UNDEF);
    if (otherwise.type == J_UNDEFINED) otherwise = j_string_at(c, "", 0);
    bool falsy = j_truth(jarg(a, 1, "boolean", j_bool(false)));
    return v.type == J_UNDEFINED || (falsy && !j_truth(v)) ? otherwise : v;
}

static jval f_string(jinja *c, jval v, const jcall *a) {
    (void)a;
    return j_to_string(c, v);
}

static jval f_safe(jinja *c, jval v, const jcall *a) {
    (void)c, (void)a;
    return v;
}

static jval f_length(jinja *c, jval v, const jcall *a) {
    (void)a;
    switch (v.type) {
    case J_UNDEFINED:
        return j_int(0);
    case J_STRING:
        jinja_charge(c, v.s->n / 64);
        return j_int((int64_t)j_length(*v.s));
    case J_LIST:
    case J_TUPLE:
        return j_int((int64_t)v.list->n);
    case J_DICT:
        return j_int((int64_t)v.dict->n);
    default:
        return wrong(c, "length", v);
    }
}

/* Its arguments in the order that Hugging Face's own tojson has them in. */
static jval f_tojson(jinja *c, jval v, const jcall *a) {
    jdump how = {.indent = -1, .unit = {" ", 1}, .item_sep = {", ", 2}, .key_sep = {": ", 2}};
    how.ascii = j_truth(jarg(a, 0, "ensure_ascii", j_bool(false)));
    how.sort = j_truth(jarg(a, 3, "sort_keys", j_bool(false)));
    jval indent = jarg(a, 1, "indent", J_NULL), sep = jarg(a, 2, "separators", J_NULL);
    if (indent.type == J_INT) {
        if (indent.i > 32) return jinja_fail(c, FO_ELIMIT, "tojson(indent=%d)", (int)indent.i);
        how.indent = indent.i < 0 ? 0 : (int)indent.i;
        how.item_sep = (jstr){",", 1};
    } else if (indent.type == J_STRING) {
        if (indent.s->n > 32) return jinja_fail(c, FO_ELIMIT, "tojson() indents by at most 32");
        how.indent = 1;
        how.unit = *indent.s;
        how.item_sep = (jstr){",", 1};
    }
    if (j_is_list(sep) && sep.list->n == 2 && sep.list->v[0].type == J_STRING &&
        sep.list->v[1].type == J_STRING) {
        how.item_sep = *sep.list->v[0].s;
        how.key_sep = *sep.list->v[1].s;
    }
    fo_buf b = {0};
    j_dump(c, &b, v, &how);
    return j_from_buf(c, &b);
}

/* ---- numbers ---- */

/* The number a whole string spells; false if it spells none. whole: *i is it, which fits. */
static bool parse_number(jstr s, double *f, int64_t *i, bool *whole) {
    char text[64];
    while (s.n && (unsigned char)*s.p <= ' ') s.p++, s.n--;
    while (s.n && (unsigned char)s.p[s.n - 1] <= ' ') s.n--;
    if (!s.n || s.n >= sizeof text || s.p[0] == 'n' || s.p[0] == 'N') return false;
    memcpy(text, s.p, s.n);
    text[s.n] = 0;
    if (strpbrk(text, "xX")) return false; /* strtod would read hexadecimal */
    char *end;
    *f = strtod(text, &end);
    if (*end) return false;
    errno = 0;
    *i = strtoll(text, &end, 10);
    *whole = !*end && !errno;
    return true;
}

/* Python's integers have no end, ours do. */
static jval f_int(jinja *c, jval v, const jcall *a) {
    double f;
    int64_t i;
    bool whole = false;
    if (v.type == J_BOOL) return j_int(v.b);
    if (v.type == J_INT) return v;
    const jval base = jarg(a, 1, "base", j_int(10));
    if (v.type == J_STRING && (base.type != J_INT || base.i != 10))
        return jinja_fail(c, FO_EUNSUPPORTED, "int() reads decimal numbers alone");
    if (v.type == J_FLOAT)
        f = v.f;
    else if (v.type != J_STRING || !parse_number(*v.s, &f, &i, &whole))
        return jarg(a, 0, "default", j_int(0));
    if (whole) return j_int(i);
    if (!isfinite(f)) return jarg(a, 0, "default", j_int(0));
    if (fabs(f) < 0x1p63) return j_int((int64_t)f);
    return jinja_fail(c, FO_EINVAL, "an integer does not fit in 64 bits");
}

static jval f_float(jinja *c, jval v, const jcall *a) {
    (void)c;
    double f;
    int64_t i;
    bool whole;
    if (j_is_number(v)) return j_float(j_number(v));
    if (v.type == J_STRING && parse_number(*v.s, &f, &i, &whole)) return j_float(f);
    return jarg(a, 0, "default", j_float(0));
}

static jval f_abs(jinja *c, jval v, const jcall *a) {
    (void)a;
    if (v.type == J_FLOAT) return j_float(fabs(v.f));
    if (v.type == J_BOOL) return j_int(v.b);
    if (v.type != J_INT || v.i == INT64_MIN) return wrong(c, "abs", v);
    return j_int(v.i < 0 ? -v.i : v.i);
}

/* The nearest number of so many decimals, of two the even one, as Python's round(). An integer stays one. */
static jval round_to(jval v, int64_t decimals) {
    char text[400];
    if (v.type != J_FLOAT && decimals >= 0) return j_int(v.type == J_BOOL ? v.b : v.i);
    if (decimals > 0 && fabs(j_number(v)) < 1e22) { /* else all its digits stand before the point */
        snprintf(text, sizeof text, "%.*f", (int)(decimals < 323 ? decimals : 323), v.f);
        return j_float(strtod(text, NULL));
    }
    const double scale = decimals < 0 ? pow(10, (double)-decimals) : 1;
    const double x = rint(j_number(v) / scale) * scale;
    return v.type == J_FLOAT || fabs(x) >= 0x1p63 ? j_float(x) : j_int((int64_t)x);
}

static jval f_round(jinja *c, jval v, const jcall *a) {
    if (!j_is_number(v)) return wrong(c, "round", v);
    jval precision = jarg(a, 0, "precision", j_int(0));
    jval method = jarg(a, 1, "method", J_UNDEF);
    const int64_t decimals = precision.type == J_INT ? precision.i : 0;
    bool up = method.type == J_STRING && j_is(*method.s, "ceil");
    bool down = method.type == J_STRING && j_is(*method.s, "floor");
    if (!up && !down) return round_to(v, decimals);
    const double scale = pow(10, (double)decimals), x = j_number(v) * scale;
    return j_float((up ? ceil(x) : floor(x)) / scale);
}

/* ---- strings ---- */

static jval f_trim(jinja *c, jval v, const jcall *a) {
    jval text = j_to_string(c, v), chars = jarg(a, 0, "chars", J_NULL);
    return c->failed ? J_UNDEF : jstr_strip(c, *text.s, &chars, true, true);
}

static jval change_case(jinja *c, jval v, jcase how) {
    jval text = j_to_string(c, v);
    return c->failed ? J_UNDEF : jstr_case(c, *text.s, how);
}

static jval f_upper(jinja *c, jval v, const jcall *a) {
    (void)a;
    return change_case(c, v, J_UPPER);
}

static jval f_lower(jinja *c, jval v, const jcall *a) {
    (void)a;
    return change_case(c, v, J_LOWER);
}

static jval f_capitalize(jinja *c, jval v, const jcall *a) {
    (void)a;
    return change_case(c, v, J_CAPITALIZE);
}

/* Words after white space and - ( { [ <, which is not what str.title() does. */
static jval f_title(jinja *c, jval v, const jcall *a) {
    (void)a;
    jval text = j_to_string(c, v);
    fo_buf b = {0};
    size_t from = 0;
    for (size_t i = 0; !c->failed && i <= text.s->n; i++) {
        bool edge = i == text.s->n || strchr(" \t\n\r-({[<", text.s->p[i]);
        if (!edge) continue;
        jval word = jstr_case(c, (jstr){text.s->p + from, i - from}, J_CAPITALIZE);
        if (c->failed) break;
        fo_buf_add(&b, word.s->p, word.s->n);
        if (i < text.s->n) fo_buf_char(&b, text.s->p[i]);
        from = i + 1;
    }
    return j_from_buf(c, &b);
}

static jval f_replace(jinja *c, jval v, const jcall *a) {
    jval text = j_to_string(c, v), from = j_to_string(c, jarg(a, 0, "old", J_UNDEF)),
         to = j_to_string(c, jarg(a, 1, "new", J_UNDEF)), limit = jarg(a, 2, "count", J_NULL);
    if (c->failed) return J_UNDEF;
    return jstr_replace(c, *text.s, *from.s, *to.s, limit.type == J_INT ? limit.i : -1);
}

static jval f_indent(jinja *c, jval v, const jcall *a) {
    jval text = j_to_string(c, v), width = jarg(a, 0, "width", j_int(4));
    bool first = j_truth(jarg(a, 1, "first", j_bool(false)));
    bool blank = j_truth(jarg(a, 2, "blank", j_bool(false)));
    if (c->failed) return J_UNDEF;
    char spaces[128];
    jstr with = {spaces, 0};
    if (width.type == J_STRING)
        with = *width.s;
    else if (width.type == J_INT && width.i >= 0 && width.i <= (int64_t)sizeof spaces) {
        with.n = (size_t)width.i;
        memset(spaces, ' ', with.n);
    } else {
        return jinja_fail(c, FO_ELIMIT, "indent() by at most 128");
    }
    fo_buf b = {0};
    jinja_charge(c, text.s->n / 16);
    for (size_t at = 0, behind, line = 0; jinja_charge(c, 1); at = behind, line++) {
        const size_t end = jstr_line_end(*text.s, at, &behind);
        if (line) fo_buf_char(&b, '\n');
        if (line ? end > at || blank : first) fo_buf_add(&b, with.p, with.n);
        fo_buf_add(&b, text.s->p + at, end - at);
        if (jinja_too_long(c, &b)) break;
        /* A newline is put behind the text first, and a \r at its end is part of that. */
        if (end == text.s->n || (behind == text.s->n && text.s->p[end] == '\r')) break;
    }
    return j_from_buf(c, &b);
}

static jval f_escape(jinja *c, jval v, const jcall *a) {
    (void)a;
    jval text = j_to_string(c, v);
    fo_buf b = {0};
    for (size_t i = 0; !jinja_too_long(c, &b) && i < text.s->n; i++) {
        switch (text.s->p[i]) {
        case '&':
            fo_buf_str(&b, "&amp;");
            break;
        case '<':
            fo_buf_str(&b, "&lt;");
            break;
        case '>':
            fo_buf_str(&b, "&gt;");
            break;
        case '"':
            fo_buf_str(&b, "&#34;");
            break;
        case '\'':
            fo_buf_str(&b, "&#39;");
            break;
        default:
            fo_buf_char(&b, text.s->p[i]);
        }
    }
    return j_from_buf(c, &b);
}

static jval f_format(jinja *c, jval v, const jcall *a) {
    jval text = j_to_string(c, v);
    return c->failed ? J_UNDEF : jstr_format(c, *text.s, a->v, a->n);
}

static jval f_wordcount(jinja *c, jval v, const jcall *a) {
    (void)a;
    jval text = j_to_string(c, v);
    int64_t n = 0;
    bool inside = false;
    for (size_t i = 0; !c->failed && i < text.s->n;) {
        int32_t cp;
        i += fo_utf8_decode(text.s->p + i, text.s->n - i, &cp);
        bool word = cp == '_' || (unicode_flags(cp) & (UNICODE_LETTER | UNICODE_NUMBER));
        n += word && !inside;
        inside = word;
    }
    return j_int(n);
}

/* ---- sequences ---- */

/* The attribute named by "a.b.0" of v; on the way, what is undefined becomes `otherwise`. */
static jval attribute_or(jinja *c, jval v, jval name, jval otherwise) {
    if (name.type == J_INT) return jinja_item(c, v, name);
    if (name.type != J_STRING) return jinja_fail(c, FO_EINVAL, "an attribute's name is a str");
    jstr rest = *name.s;
    while (jinja_charge(c, 1)) {
        const char *dot = rest.n ? memchr(rest.p, '.', rest.n) : NULL;
        jstr part = {rest.p, dot ? (size_t)(dot - rest.p) : rest.n};
        bool number = part.n > 0 && part.n < 10;
        int64_t i = 0;
        for (size_t k = 0; k < part.n && number; k++) {
            number = part.p[k] >= '0' && part.p[k] <= '9';
            i = i * 10 + part.p[k] - '0';
        }
        jval key = number ? j_int(i) : j_string_at(c, part.p, part.n);
        v = jinja_item(c, v, key);
        if (v.type == J_UNDEFINED && otherwise.type != J_UNDEFINED) v = otherwise;
        if (!dot) return v;
        rest = (jstr){dot + 1, rest.n - part.n - 1};
    }
    return J_UNDEF;
}

static jval attribute(jinja *c, jval v, jval name) {
    return attribute_or(c, v, name, J_UNDEF);
}

static jval f_attr(jinja *c, jval v, const jcall *a) {
    jval name = jarg(a, 0, "name", J_UNDEF);
    if (name.type != J_STRING) return jinja_fail(c, FO_EINVAL, "attr() needs a name");
    return jinja_attr(c, v, *name.s);
}

static jval f_list(jinja *c, jval v, const jcall *a) {
    (void)a;
    return j_iterate(c, v);
}

static jval f_first(jinja *c, jval v, const jcall *a) {
    (void)a;
    jval l = j_iterate(c, v);
    return c->failed || !l.list->n ? J_UNDEF : l.list->v[0];
}

static jval f_last(jinja *c, jval v, const jcall *a) {
    (void)a;
    jval l = j_iterate(c, v);
    return c->failed || !l.list->n ? J_UNDEF : l.list->v[l.list->n - 1];
}

static jval f_reverse(jinja *c, jval v, const jcall *a) {
    (void)a;
    const jval all[3] = {J_NULL, J_NULL, j_int(-1)};
    if (v.type == J_STRING) return j_slice_string(c, *v.s, all);
    jval l = j_iterate(c, v);
    return c->failed ? J_UNDEF : j_slice_list(c, l, all);
}

static jval f_join(jinja *c, jval v, const jcall *a) {
    jval l = j_iterate(c, v), sep = j_to_string(c, jarg(a, 0, "d", J_UNDEF)),
         name = jarg(a, 1, "attribute", J_NULL);
    fo_buf b = {0};
    for (size_t i = 0; !jinja_too_long(c, &b) && i < l.list->n && jinja_charge(c, 1); i++) {
        if (i) fo_buf_add(&b, sep.s->p, sep.s->n);
        jval item = l.list->v[i];
        if (name.type != J_NULL.type) item = attribute(c, item, name);
        j_print(c, &b, item);
    }
    return j_from_buf(c, &b);
}

static jval fold_case(jinja *c, jval v, bool case_sensitive) {
    return v.type == J_STRING && !case_sensitive ? jstr_case(c, *v.s, J_LOWER) : v;
}

/* Merge sort: stable, and errors of the comparison end it. keys and items move together. */
static void sort_by(jinja *c, jval *keys, jval *items, size_t n, bool down, jval *spare) {
    if (n < 2 || !jinja_enter(c)) return;
    size_t half = n / 2;
    sort_by(c, keys, items, half, down, spare);
    sort_by(c, keys + half, items + half, n - half, down, spare);
    size_t i = 0, j = half, k = 0;
    while (i < half && j < n && !c->failed) {
        jinja_charge(c, 1);
        int d = j_compare(c, keys[i], keys[j]);
        size_t *from = (down ? d < 0 : d > 0) ? &j : &i;
        spare[2 * k] = keys[*from];
        spare[2 * k++ + 1] = items[(*from)++];
    }
    for (; i < half; i++, k++) spare[2 * k] = keys[i], spare[2 * k + 1] = items[i];
    for (; j < n; j++, k++) spare[2 * k] = keys[j], spare[2 * k + 1] = items[j];
    for (size_t m = 0; m < n; m++) keys[m] = spare[2 * m], items[m] = spare[2 * m + 1];
    c->depth--;
}

static jval sorted(jinja *c, jlist *items, jval *keys, bool down) {
    jval *spare = jinja_alloc(c, items->n * 2 + 1, sizeof *spare);
    if (!spare) return J_UNDEF;
    sort_by(c, keys, items->v, items->n, down, spare);
    return c->failed ? J_UNDEF : (jval){.type = J_LIST, .list = items};
}

static jval f_sort(jinja *c, jval v, const jcall *a) {
    bool down = j_truth(jarg(a, 0, "reverse", j_bool(false)));
    bool sensitive = j_truth(jarg(a, 1, "case_sensitive", j_bool(false)));
    jval name = jarg(a, 2, "attribute", J_NULL), l = j_iterate(c, v);
    if (c->failed) return J_UNDEF;
    jval *keys = jinja_alloc(c, l.list->n + 1, sizeof *keys);
    for (size_t i = 0; i < l.list->n && !c->failed; i++) {
        jval key = l.list->v[i];
        if (name.type != J_NONE) key = attribute(c, key, name);
        keys[i] = fold_case(c, key, sensitive);
    }
    return c->failed ? J_UNDEF : sorted(c, l.list, keys, down);
}

static jval f_dictsort(jinja *c, jval v, const jcall *a) {
    if (v.type != J_DICT) return wrong(c, "dictsort", v);
    bool sensitive = j_truth(jarg(a, 0, "case_sensitive", j_bool(false)));
    jval by = jarg(a, 1, "by", J_UNDEF);
    bool by_value = by.type == J_STRING && j_is(*by.s, "value");
    bool down = j_truth(jarg(a, 2, "reverse", j_bool(false)));
    jval l = jdict_items(c, v.dict);
    if (c->failed) return J_UNDEF;
    jval *keys = jinja_alloc(c, l.list->n + 1, sizeof *keys);
    for (size_t i = 0; i < l.list->n && !c->failed; i++)
        keys[i] = fold_case(c, l.list->v[i].list->v[by_value], sensitive);
    return c->failed ? J_UNDEF : sorted(c, l.list, keys, down);
}

static jval f_items(jinja *c, jval v, const jcall *a) {
    (void)a;
    if (v.type == J_UNDEFINED) return j_list(c, J_LIST, 0);
    return v.type == J_DICT ? jdict_items(c, v.dict) : wrong(c, "items", v);
}

static jval f_unique(jinja *c, jval v, const jcall *a) {
    bool sensitive = j_truth(jarg(a, 0, "case_sensitive", j_bool(false)));
    jval name = jarg(a, 1, "attribute", J_NULL);
    jval l = j_iterate(c, v), out = j_list(c, J_LIST, 0), seen = j_list(c, J_LIST, 0);
    for (size_t i = 0; !c->failed && i < l.list->n; i++) {
        jval key = l.list->v[i];
        if (name.type != J_NONE) key = attribute(c, key, name);
        key = fold_case(c, key, sensitive);
        if (c->failed || jinja_contains(c, seen, key)) continue;
        j_push(c, seen.list, key);
        j_push(c, out.list, l.list->v[i]);
    }
    return c->failed ? J_UNDEF : out;
}

static jval extreme(jinja *c, jval v, const jcall *a, int sign) {
    jval name = jarg(a, 1, "attribute", J_NULL), l = j_iterate(c, v), best_key = J_UNDEF;
    size_t best = 0;
    for (size_t i = 0; !c->failed && i < l.list->n; i++) {
        jval key = l.list->v[i];
        if (name.type != J_NONE) key = attribute(c, key, name);
        key = fold_case(c, key, j_truth(jarg(a, 0, "case_sensitive", j_bool(false))));
        if (c->failed) break;
        if (i && j_compare(c, key, best_key) * sign <= 0) continue;
        best = i;
        best_key = key;
    }
    return c->failed || !l.list->n ? J_UNDEF : l.list->v[best];
}

static jval f_min(jinja *c, jval v, const jcall *a) {
    return extreme(c, v, a, -1);
}

static jval f_max(jinja *c, jval v, const jcall *a) {
    return extreme(c, v, a, 1);
}

static jval f_sum(jinja *c, jval v, const jcall *a) {
    jval name = jarg(a, 0, "attribute", J_NULL), l = j_iterate(c, v);
    jval total = jarg(a, 1, "start", j_int(0));
    for (size_t i = 0; !c->failed && i < l.list->n; i++) {
        jval x = l.list->v[i];
        if (name.type != J_NONE) x = attribute(c, x, name);
        if (!j_is_number(x) || !j_is_number(total)) return wrong(c, "sum", x);
        if (x.type == J_FLOAT || total.type == J_FLOAT) {
            total = j_float(j_number(total) + j_number(x));
            continue;
        }
        int64_t s;
        if (__builtin_add_overflow(total.type == J_BOOL ? total.b : total.i,
                                   x.type == J_BOOL ? x.b : x.i, &s))
            return jinja_fail(c, FO_EINVAL, "an integer does not fit in 64 bits");
        total = j_int(s);
    }
    return total;
}

/* ---- filters that take the name of a filter or test ---- */

/* The items, none where the value is false: templates ask a `tools` that is none for its code
 * tools. */
static jval items_if_any(jinja *c, jval v) {
    return j_truth(v) ? j_iterate(c, v) : j_list(c, J_LIST, 0);
}

static jval f_map(jinja *c, jval v, const jcall *a) {
    jval name = jarg(a, a->n, "attribute", J_UNDEF), otherwise = jarg(a, a->n, "default", J_UNDEF);
    jval l = items_if_any(c, v), out = j_list(c, J_LIST, 0);
    bool by_filter = a->n && a->v[0].type == J_STRING;
    if (!by_filter && name.type == J_UNDEFINED)
        return jinja_fail(c, FO_EINVAL, "map() needs a filter or attribute=");
    jcall rest = *a;
    if (by_filter) {
        rest.v++;
        rest.n--;
    }
    for (size_t i = 0; !c->failed && i < l.list->n; i++) {
        jval item = l.list->v[i];
        if (by_filter) {
            item = jinja_filter(c, *a->v[0].s, item, &rest);
        } else {
            item = attribute_or(c, item, name, otherwise);
        }
        j_push(c, out.list, item);
    }
    return c->failed ? J_UNDEF : out;
}

/* Those for which the test (of an attribute) says `want`. */
static jval select_by(jinja *c, jval v, const jcall *a, bool by_attribute, bool want) {
    if (by_attribute && !a->n) return jinja_fail(c, FO_EINVAL, "selectattr() needs a name");
    jval l = items_if_any(c, v), out = j_list(c, J_LIST, 0);
    jcall rest = *a;
    rest.v += by_attribute;
    rest.n -= by_attribute;
    bool named = rest.n > 0;
    jstr test = {"", 0};
    if (named) {
        if (rest.v[0].type != J_STRING)
            return jinja_fail(c, FO_EINVAL, "the name of a test is a str");
        test = *rest.v[0].s;
        rest.v++;
        rest.n--;
    }
    for (size_t i = 0; !c->failed && i < l.list->n; i++) {
        jval x = l.list->v[i];
        if (by_attribute) x = attribute(c, x, a->v[0]);
        if (c->failed) break;
        bool pass = named ? jinja_test(c, test, x, &rest) : j_truth(x);
        if (pass == want) j_push(c, out.list, l.list->v[i]);
    }
    return c->failed ? J_UNDEF : out;
}

static jval f_select(jinja *c, jval v, const jcall *a) {
    return select_by(c, v, a, false, true);
}

static jval f_reject(jinja *c, jval v, const jcall *a) {
    return select_by(c, v, a, false, false);
}

static jval f_selectattr(jinja *c, jval v, const jcall *a) {
    return select_by(c, v, a, true, true);
}

static jval f_rejectattr(jinja *c, jval v, const jcall *a) {
    return select_by(c, v, a, true, false);
}

static const struct {
    const char *name;
    filter_fn *fn;
} filters[] = {
    {"abs", f_abs},
    {"attr", f_attr},
    {"capitalize", f_capitalize},
    {"count", f_length},
    {"d", f_default},
    {"default", f_default},
    {"dictsort", f_dictsort},
    {"e", f_escape},
    {"escape", f_escape},
    {"first", f_first},
    {"float", f_float},
    {"format", f_format},
    {"indent", f_indent},
    {"int", f_int},
    {"items", f_items},
    {"join", f_join},
    {"last", f_last},
    {"length", f_length},
    {"list", f_list},
    {"lower", f_lower},
    {"map", f_map},
    {"max", f_max},
    {"min", f_min},
    {"reject", f_reject},
    {"rejectattr", f_rejectattr},
    {"replace", f_replace},
    {"reverse", f_reverse},
    {"round", f_round},
    {"safe", f_safe},
    {"select", f_select},
    {"selectattr", f_selectattr},
    {"sort", f_sort},
    {"string", f_string},
    {"sum", f_sum},
    {"title", f_title},
    {"tojson", f_tojson},
    {"trim", f_trim},
    {"unique", f_unique},
    {"upper", f_upper},
    {"wordcount", f_wordcount},
};

/* What a look at all of a string costs, for those that take it so. */
static size_t looking(jval v) {
    return 1 + (v.type == J_STRING ? v.s->n / 64 : 0);
}

jval jinja_filter(jinja *c, jstr name, jval v, const jcall *args) {
    if (!jinja_charge(c, looking(v))) return J_UNDEF;
    for (size_t i = 0; i < sizeof filters / sizeof *filters; i++) {
        if (!j_is(name, filters[i].name)) continue;
        jval out = filters[i].fn(c, v, args);
        return c->failed ? J_UNDEF : out;
    }
    return jinja_fail(c, FO_EUNSUPPORTED, "there is no filter \"%.*s\"",
                      (int)(name.n < 60 ? name.n : 60), name.p);
}

/* ---- tests ---- */

static bool parity(jinja *c, jval v, int64_t odd) {
    if (v.type == J_INT) return (v.i & 1) == odd;
    jinja_fail(c, FO_EINVAL, "odd and even are asked of a %s", j_type_name(v));
    return false;
}

static bool string_cased(jinja *c, jval v, unsigned want, unsigned not_want) {
    bool any = false;
    if (v.type != J_STRING || !jinja_charge(c, looking(v))) return false;
    for (size_t i = 0; i < v.s->n;) {
        int32_t cp;
        i += fo_utf8_decode(v.s->p + i, v.s->n - i, &cp);
        if (unicode_flags(cp) & not_want) return false;
        any |= (unicode_flags(cp) & want) != 0;
    }
    return any;
}

static bool order_test(jinja *c, jstr name, jval v, jval other) {
    int d = j_compare(c, v, other);
    if (j_is(name, "lt") || j_is(name, "lessthan") || j_is(name, "<")) return d < 0;
    if (j_is(name, "le") || j_is(name, "<=")) return d <= 0;
    if (j_is(name, "gt") || j_is(name, "greaterthan") || j_is(name, ">")) return d > 0;
    if (j_is(name, "ge") || j_is(name, ">=")) return d >= 0;
    jinja_fail(c, FO_EUNSUPPORTED, "there is no test \"%.*s\"", (int)(name.n < 60 ? name.n : 60),
               name.p);
    return false;
}

static bool is_known_filter(jval v) {
    for (size_t i = 0; v.type == J_STRING && i < sizeof filters / sizeof *filters; i++)
        if (j_is(*v.s, filters[i].name)) return true;
    return false;
}

bool jinja_test(jinja *c, jstr name, jval v, const jcall *a) {
    if (!jinja_charge(c, 1)) return false;
    bool list = j_is_list(v), dict = v.type == J_DICT;
    if (j_is(name, "defined")) return v.type != J_UNDEFINED;
    if (j_is(name, "undefined")) return v.type == J_UNDEFINED;
    if (j_is(name, "none")) return v.type == J_NONE;
    if (j_is(name, "string")) return v.type == J_STRING;
    if (j_is(name, "mapping")) return dict;
    if (j_is(name, "sequence") || j_is(name, "iterable"))
        return list || dict || v.type == J_STRING || v.type == J_UNDEFINED;
    if (j_is(name, "number")) return j_is_number(v);
    if (j_is(name, "integer")) return v.type == J_INT;
    if (j_is(name, "float")) return v.type == J_FLOAT;
    if (j_is(name, "boolean")) return v.type == J_BOOL;
    if (j_is(name, "true")) return v.type == J_BOOL && v.b;
    if (j_is(name, "false")) return v.type == J_BOOL && !v.b;
    if (j_is(name, "callable"))
        return v.type == J_MACRO || v.type == J_FUNCTION || v.type == J_METHOD;
    if (j_is(name, "odd")) return parity(c, v, 1);
    if (j_is(name, "even")) return parity(c, v, 0);
    if (j_is(name, "upper")) return string_cased(c, v, UNICODE_UPPER, UNICODE_LOWER);
    if (j_is(name, "lower")) return string_cased(c, v, UNICODE_LOWER, UNICODE_UPPER);
    if (j_is(name, "escaped")) return false;
    if (j_is(name, "filter")) return is_known_filter(v);
    jval other = jarg(a, 0, "", J_UNDEF);
    if (j_is(name, "eq") || j_is(name, "equalto") || j_is(name, "==") || j_is(name, "sameas"))
        return j_equal(c, v, other) && (!j_is(name, "sameas") || v.type == other.type);
    if (j_is(name, "ne") || j_is(name, "!=")) return !j_equal(c, v, other);
    if (j_is(name, "in")) return jinja_contains(c, other, v);
    if (j_is(name, "contains")) return jinja_contains(c, v, other);
    if (j_is(name, "divisibleby")) {
        if (v.type == J_INT && other.type == J_INT && other.i != 0)
            return other.i == -1 || v.i % other.i == 0;
        jinja_fail(c, FO_EINVAL, "divisibleby needs integers, the second not 0");
        return false;
    }
    return order_test(c, name, v, other);
}
