/* jinja_expr.c - expressions: names, operators, attributes, calls. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "engine/chat/jinja.h"
#include "kernels/utf8.h"

static jval undefined(jinja *c, jstr name) {
    jstr *s = jinja_alloc(c, 1, sizeof *s);
    if (!s) return J_UNDEF;
    *s = name;
    return (jval){.type = J_UNDEFINED, .s = s};
}

static jval fail_undefined(jinja *c, jval v) {
    if (!v.s) return jinja_fail(c, FO_EINVAL, "a value is undefined");
    return jinja_fail(c, FO_EINVAL, "'%.*s' is undefined", (int)(v.s->n < 60 ? v.s->n : 60),
                      v.s->p);
}

/* ---- attributes and items ---- */

static jval loop_attr(jinja *c, const jloop *l, jstr name) {
    int64_t i = (int64_t)l->index0, n = (int64_t)l->length;
    if (j_is(name, "index0")) return j_int(i);
    if (j_is(name, "index")) return j_int(i + 1);
    if (j_is(name, "revindex0")) return j_int(n - i - 1);
    if (j_is(name, "revindex")) return j_int(n - i);
    if (j_is(name, "first")) return j_bool(i == 0);
    if (j_is(name, "last")) return j_bool(i == n - 1);
    if (j_is(name, "length")) return j_int(n);
    if (j_is(name, "depth")) return j_int(1); /* counts recursion, which there is none of */
    if (j_is(name, "depth0")) return j_int(0);
    if (j_is(name, "previtem") && i > 0) return l->items->v[i - 1];
    if (j_is(name, "nextitem") && i + 1 < n) return l->items->v[i + 1];
    return undefined(c, name);
}

static jval bind_method(jinja *c, jval self, jstr name) {
    jmethod *m = jinja_alloc(c, 1, sizeof *m);
    if (!m) return J_UNDEF;
    *m = (jmethod){self, name};
    return (jval){.type = J_METHOD, .method = m};
}

/* v.name: as Python does, methods come before keys. */
jval jinja_attr(jinja *c, jval v, jstr name) {
    if (v.type == J_UNDEFINED) return fail_undefined(c, v);
    if (jinja_has_method(v, name)) return bind_method(c, v, name);
    if (v.type == J_LOOP) return loop_attr(c, v.loop, name);
    if (v.type == J_DICT || v.type == J_NAMESPACE) {
        const jval *at = j_get_str(c, v.dict, name);
        if (at) return *at;
    }
    return undefined(c, name);
}

/* v[key]: items first, then attributes. */
jval jinja_item(jinja *c, jval v, jval key) {
    if (v.type == J_UNDEFINED) return fail_undefined(c, v);
    if (c->failed) return J_UNDEF;
    bool whole = key.type == J_INT || key.type == J_BOOL;
    int64_t i = !whole ? 0 : key.type == J_BOOL ? key.b : key.i;
    if (j_is_list(v) && whole) {
        int64_t n = (int64_t)v.list->n;
        if (i < 0) i += n;
        return i >= 0 && i < n ? v.list->v[i] : J_UNDEF;
    }
    if (v.type == J_STRING && whole) {
        if (!jinja_charge(c, v.s->n / 16)) return J_UNDEF;
        int64_t n = (int64_t)j_length(*v.s);
        if (i < 0) i += n;
        if (i < 0 || i >= n) return J_UNDEF;
        size_t from = fo_utf8_offset(v.s->p, v.s->n, (size_t)i);
        size_t len = fo_utf8_offset(v.s->p + from, v.s->n - from, 1);
        return j_string_at(c, v.s->p + from, len);
    }
    if (v.type == J_DICT || v.type == J_NAMESPACE) {
        const jval *at = j_get(c, v.dict, key);
        if (at) return *at;
    }
    return key.type == J_STRING && !c->failed ? jinja_attr(c, v, *key.s) : J_UNDEF;
}

bool jinja_contains(jinja *c, jval container, jval item) {
    switch (container.type) {
    case J_UNDEFINED:
        return false;
    case J_STRING:
        if (item.type != J_STRING) {
            jinja_fail(c, FO_EINVAL, "a str cannot contain a %s", j_type_name(item));
            return false;
        }
        return jinja_charge(c, container.s->n / 64) &&
               (!item.s->n ||
                (container.s->n && memmem(container.s->p, container.s->n, item.s->p, item.s->n)));
    case J_LIST:
    case J_TUPLE:
        for (size_t i = 0; i < container.list->n && jinja_charge(c, 1); i++)
            if (j_equal(c, container.list->v[i], item)) return true;
        return false;
    case J_DICT:
    case J_NAMESPACE:
        return j_get(c, container.dict, item) != NULL;
    default:
        jinja_fail(c, FO_EINVAL, "cannot look for something in a %s", j_type_name(container));
        return false;
    }
}

/* ---- operators ---- */

static jval overflow(jinja *c) {
    return jinja_fail(c, FO_EINVAL, "an integer does not fit in 64 bits");
}

static jval fail_operands(jinja *c, int op, jval a, jval b) {
    if (a.type == J_UNDEFINED) return fail_undefined(c, a);
    if (b.type == J_UNDEFINED) return fail_undefined(c, b);
    char name[3] = {(char)(op & 255), (char)(op >> 8), 0};
    return jinja_fail(c, FO_EINVAL, "%s does not join a %s and a %s", name, j_type_name(a),
                      j_type_name(b));
}

static jval power(jinja *c, int64_t base, int64_t exponent) {
    if (exponent < 0) return j_float(pow((double)base, (double)exponent));
    int64_t v = 1;
    for (; exponent; exponent >>= 1) {
        if ((exponent & 1) && __builtin_mul_overflow(v, base, &v)) return overflow(c);
        if (exponent > 1 && __builtin_mul_overflow(base, base, &base)) return overflow(c);
    }
    return j_int(v);
}

static jval integer_op(jinja *c, int op, int64_t a, int64_t b) {
    int64_t v;
    switch (op) {
    case '+':
        return __builtin_add_overflow(a, b, &v) ? overflow(c) : j_int(v);
    case '-':
        return __builtin_sub_overflow(a, b, &v) ? overflow(c) : j_int(v);
    case '*':
        return __builtin_mul_overflow(a, b, &v) ? overflow(c) : j_int(v);
    case J_OP2('*', '*'):
        return power(c, a, b);
    default:
        break;
    }
    if (b == 0) return jinja_fail(c, FO_EINVAL, "division by zero");
    if (op == '/') return j_float((double)a / (double)b);
    if (b == -1) return op == '%' ? j_int(0) : a == INT64_MIN ? overflow(c) : j_int(-a);
    int64_t quotient = a / b, rest = a % b;
    if (rest && (rest < 0) != (b < 0)) { /* towards minus infinity, as Python */
        quotient--;
        rest += b;
    }
    return j_int(op == '%' ? rest : quotient);
}

static jval float_op(jinja *c, int op, double a, double b) {
    switch (op) {
    case '+':
        return j_float(a + b);
    case '-':
        return j_float(a - b);
    case '*':
        return j_float(a * b);
    case J_OP2('*', '*'):
        return j_float(pow(a, b));
    default:
        break;
    }
    if (b == 0) return jinja_fail(c, FO_EINVAL, "division by zero");
    if (op == '/') return j_float(a / b);
    double rest = fmod(a, b);
    if (rest != 0 && (rest < 0) != (b < 0)) rest += b;
    return j_float(op == '%' ? rest : floor(a / b));
}

static jval join_strings(jinja *c, jstr a, jstr b) {
    char *p = jinja_alloc(c, a.n + b.n + 1, 1);
    if (!p || !jinja_charge(c, (a.n + b.n) / 64)) return J_UNDEF;
    if (a.n) memcpy(p, a.p, a.n);
    if (b.n) memcpy(p + a.n, b.p, b.n);
    return j_string_at(c, p, a.n + b.n);
}

static jval repeat(jinja *c, jval v, int64_t times) {
    if (times < 0) times = 0;
    size_t n = v.type == J_STRING ? v.s->n : v.list->n, total;
    if (!fo_mul_size(n, (size_t)times, &total) || total > c->max_bytes)
        return jinja_fail(c, FO_ELIMIT, "a repetition makes %lld times %zu", (long long)times, n);
    if (!jinja_charge(c, total / 16)) return J_UNDEF;
    if (v.type != J_STRING) {
        jval out = j_list(c, v.type, total);
        for (size_t i = 0; i < total && !c->failed; i++) j_push(c, out.list, v.list->v[i % n]);
        return c->failed ? J_UNDEF : out;
    }
    char *p = jinja_alloc(c, total + 1, 1);
    if (!p) return J_UNDEF;
    for (size_t i = 0; i < total; i += n) memcpy(p + i, v.s->p, n);
    return j_string_at(c, p, total);
}

static jval join_lists(jinja *c, jval a, jval b) {
    jval out = j_list(c, a.type, a.list->n + b.list->n);
    for (size_t i = 0; i < a.list->n && !c->failed; i++) j_push(c, out.list, a.list->v[i]);
    for (size_t i = 0; i < b.list->n && !c->failed; i++) j_push(c, out.list, b.list->v[i]);
    jinja_charge(c, a.list->n + b.list->n);
    return c->failed ? J_UNDEF : out;
}

static jval binary(jinja *c, int op, jval a, jval b) {
    if (op == '~') {
        a = j_to_string(c, a);
        b = j_to_string(c, b);
        return c->failed ? J_UNDEF : join_strings(c, *a.s, *b.s);
    }
    if (j_is_number(a) && j_is_number(b)) {
        if (a.type == J_FLOAT || b.type == J_FLOAT)
            return float_op(c, op, j_number(a), j_number(b));
        return integer_op(c, op, a.type == J_BOOL ? a.b : a.i, b.type == J_BOOL ? b.b : b.i);
    }
    if (op == '+' && a.type == J_STRING && b.type == J_STRING) return join_strings(c, *a.s, *b.s);
    if (op == '+' && j_is_list(a) && a.type == b.type) return join_lists(c, a, b);
    if (op == '*' && b.type == J_INT && (a.type == J_STRING || j_is_list(a)))
        return repeat(c, a, b.i);
    if (op == '*' && a.type == J_INT && (b.type == J_STRING || j_is_list(b)))
        return repeat(c, b, a.i);
    if (op == '%' && a.type == J_STRING) {
        if (b.type == J_TUPLE) return jstr_format(c, *a.s, b.list->v, b.list->n);
        return jstr_format(c, *a.s, &b, 1);
    }
    return fail_operands(c, op, a, b);
}

static bool compare(jinja *c, int op, jval a, jval b) {
    switch (op) {
    case 1:
        return jinja_contains(c, b, a);
    case 2:
        return !jinja_contains(c, b, a);
    case J_OP2('=', '='):
        return j_equal(c, a, b);
    case J_OP2('!', '='):
        return !j_equal(c, a, b);
    default:
        break;
    }
    if (a.type == J_UNDEFINED || b.type == J_UNDEFINED) {
        fail_operands(c, op, a, b);
        return false;
    }
    int d = j_compare(c, a, b);
    switch (op) {
    case '<':
        return d < 0;
    case '>':
        return d > 0;
    case J_OP2('<', '='):
        return d <= 0;
    default:
        return d >= 0;
    }
}

/* ---- calls ---- */

jval jarg(const jcall *a, size_t i, const char *name, jval otherwise) {
    if (i < a->n) return a->v[i];
    for (size_t k = 0; k < a->n_kw; k++)
        if (j_is(a->kw_name[k], name)) return a->kw[k];
    return otherwise;
}

static jval make_range(jinja *c, const jcall *a) {
    int64_t v[3] = {0, 0, 1};
    for (size_t i = 0; i < a->n && i < 3; i++) {
        if (a->v[i].type != J_INT)
            return jinja_fail(c, FO_EINVAL, "range() needs integers, not a %s",
                              j_type_name(a->v[i]));
        v[a->n == 1 ? 1 : i] = a->v[i].i;
    }
    if (a->n < 1 || a->n > 3 || v[2] == 0)
        return jinja_fail(c, FO_EINVAL, "range() needs one to three integers, the step not 0");
    jval out = j_list(c, J_LIST, 0);
    /* Python's sandbox has the same limit. */
    for (int64_t i = v[0]; (v[2] > 0 ? i < v[1] : i > v[1]) && jinja_charge(c, 1);) {
        if (!j_push(c, out.list, j_int(i))) break;
        if (out.list->n > 100000) jinja_fail(c, FO_ELIMIT, "range() of more than 100000");
        if (__builtin_add_overflow(i, v[2], &i)) break;
    }
    return c->failed ? J_UNDEF : out;
}

/* dict(a=1) and namespace(a=1), or from a dict. */
static jval make_dict(jinja *c, jtype type, const jcall *a) {
    jval out = j_dict(c, type, 0);
    for (size_t i = 0; i < a->n && !c->failed; i++) {
        if (a->v[i].type != J_DICT)
            return jinja_fail(c, FO_EINVAL, "a %s makes no dict", j_type_name(a->v[i]));
        const jdict *from = a->v[i].dict;
        for (size_t k = 0; k < from->n && !c->failed; k++)
            j_put(c, out.dict, from->k[k], from->v[k]);
    }
    for (size_t k = 0; k < a->n_kw && !c->failed; k++) {
        jval key = j_string_at(c, a->kw_name[k].p, a->kw_name[k].n);
        j_put(c, out.dict, key, a->kw[k]);
    }
    return c->failed ? J_UNDEF : out;
}

static jval raise_exception(jinja *c, const jcall *a) {
    jval text = j_to_string(c, jarg(a, 0, "message", J_NULL));
    if (c->failed) return J_UNDEF;
    c->raised = true;
    return jinja_fail(c, FO_EINVAL, "%.*s", (int)(text.s->n < 300 ? text.s->n : 300), text.s->p);
}

static const char *const months[] = {"January",   "February", "March",    "April",
                                     "May",       "June",     "July",     "August",
                                     "September", "October",  "November", "December"};
static const char *const days[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                   "Thursday", "Friday", "Saturday"};

/* One directive of strftime in the C locale, at midnight. False: not known. */
static bool print_date(const struct tm *t, char directive, bool pad, fo_buf *out) {
    int width = pad ? 2 : 1;
    switch (directive) {
    case 'Y':
        fo_buf_printf(out, "%d", t->tm_year + 1900);
        return true;
    case 'y':
        fo_buf_printf(out, "%02d", t->tm_year % 100);
        return true;
    case 'm':
        fo_buf_printf(out, "%0*d", width, t->tm_mon + 1);
        return true;
    case 'd':
        fo_buf_printf(out, "%0*d", width, t->tm_mday);
        return true;
    case 'e':
        fo_buf_printf(out, "%*d", width, t->tm_mday);
        return true;
    case 'j':
        fo_buf_printf(out, "%0*d", pad ? 3 : 1, t->tm_yday + 1);
        return true;
    case 'B':
        fo_buf_str(out, months[t->tm_mon]);
        return true;
    case 'b':
    case 'h':
        fo_buf_add(out, months[t->tm_mon], 3);
        return true;
    case 'A':
        fo_buf_str(out, days[t->tm_wday]);
        return true;
    case 'a':
        fo_buf_add(out, days[t->tm_wday], 3);
        return true;
    case 'w':
        fo_buf_printf(out, "%d", t->tm_wday);
        return true;
    case 'H':
    case 'M':
    case 'S':
        fo_buf_str(out, pad ? "00" : "0");
        return true;
    case 'I':
        fo_buf_str(out, "12");
        return true;
    case 'p':
        fo_buf_str(out, "AM");
        return true;
    case 'F':
        fo_buf_printf(out, "%d-%02d-%02d", t->tm_year + 1900, t->tm_mon + 1, t->tm_mday);
        return true;
    case 'T':
        fo_buf_str(out, "00:00:00");
        return true;
    case 'Z':
    case 'z':
        return true; /* nothing, as for a date without a zone */
    case '%':
        fo_buf_char(out, '%');
        return true;
    default:
        return false;
    }
}

static jval strftime_now(jinja *c, const jcall *a) {
    jval format = jarg(a, 0, "format", J_UNDEF);
    if (format.type != J_STRING) return jinja_fail(c, FO_EINVAL, "strftime_now() needs a format");
    struct tm day = {.tm_year = c->year - 1900, .tm_mon = c->month - 1, .tm_mday = c->day};
    timegm(&day); /* fills in the day of the week and of the year */
    fo_buf out = {0};
    const char *p = format.s->p, *end = p + format.s->n;
    if (!jinja_charge(c, format.s->n / 64)) return J_UNDEF;
    for (; p < end && !jinja_too_long(c, &out); p++) {
        bool pad = true;
        if (*p == '%' && end - p > 2 && p[1] == '-') {
            pad = false;
            p++;
        } else if (*p != '%' || end - p < 2) {
            fo_buf_char(&out, *p);
            continue;
        }
        if (!print_date(&day, *++p, pad, &out))
            jinja_fail(c, FO_EUNSUPPORTED, "strftime_now() does not know the directive %%%c", *p);
    }
    return j_from_buf(c, &out);
}

static jval call_function(jinja *c, int64_t f, const jcall *a) {
    switch (f) {
    case F_RANGE:
        return make_range(c, a);
    case F_NAMESPACE:
        return make_dict(c, J_NAMESPACE, a);
    case F_DICT:
        return make_dict(c, J_DICT, a);
    case F_RAISE:
        return raise_exception(c, a);
    default:
        return strftime_now(c, a);
    }
}

static jval call_loop(jinja *c, jloop *l, jstr name, const jcall *a) {
    if (j_is(name, "cycle")) {
        if (!a->n) return jinja_fail(c, FO_EINVAL, "loop.cycle() needs arguments");
        return a->v[l->index0 % a->n];
    }
    if (!j_is(name, "changed"))
        return jinja_fail(c, FO_EINVAL, "loop.%.*s is not callable", (int)name.n, name.p);
    jval now = j_list(c, J_TUPLE, a->n);
    for (size_t i = 0; i < a->n && !c->failed; i++) j_push(c, now.list, a->v[i]);
    if (c->failed) return J_UNDEF;
    bool changed = l->changed.type != J_TUPLE || !j_equal(c, l->changed, now);
    l->changed = now;
    return j_bool(changed);
}

jval jinja_call_value(jinja *c, jval f, const jcall *args, const jval *caller) {
    if (c->failed) return J_UNDEF;
    switch (f.type) {
    case J_MACRO:
        return jinja_call_macro(c, f.macro, args, caller);
    case J_FUNCTION:
        return call_function(c, f.i, args);
    case J_METHOD:
        return jinja_method(c, f.method->self, f.method->name, args);
    case J_UNDEFINED:
        return fail_undefined(c, f);
    default:
        return jinja_fail(c, FO_EINVAL, "a %s cannot be called", j_type_name(f));
    }
}

enum { FEW_ARGS = 6 };

/* Evaluate arguments into room for FEW_ARGS, or into the arena. False: failed. */
static bool eval_args(jinja *c, jscope *s, const jargs *a, jval *few, jcall *call) {
    jval *v = few;
    if (a->n + a->n_kw > FEW_ARGS) {
        v = jinja_alloc(c, a->n + a->n_kw, sizeof *v);
        if (!v) return false;
    }
    *call = (jcall){v, a->n, a->kw_name, v + a->n, a->n_kw};
    for (size_t i = 0; i < a->n && !c->failed; i++) v[i] = jinja_eval(c, s, a->v[i]);
    for (size_t i = 0; i < a->n_kw && !c->failed; i++) v[a->n + i] = jinja_eval(c, s, a->kw[i]);
    return !c->failed;
}

static jval eval_call(jinja *c, jscope *s, const jnode *n) {
    jval few[FEW_ARGS], f;
    jcall call;
    if (n->a->kind != N_ATTR) {
        f = jinja_eval(c, s, n->a);
        return eval_args(c, s, n->args, few, &call) ? jinja_call_value(c, f, &call, NULL) : J_UNDEF;
    }
    jval self = jinja_eval(c, s, n->a->a);
    if (c->failed || !eval_args(c, s, n->args, few, &call)) return J_UNDEF;
    jstr name = n->a->text;
    if (self.type == J_LOOP) return call_loop(c, self.loop, name, &call);
    if (jinja_has_method(self, name)) return jinja_method(c, self, name, &call);
    f = jinja_attr(c, self, name);
    if (!c->failed && f.type == J_UNDEFINED)
        return jinja_fail(c, FO_EUNSUPPORTED, "a %s has no method %.*s", j_type_name(self),
                          (int)(name.n < 60 ? name.n : 60), name.p);
    return jinja_call_value(c, f, &call, NULL);
}

/* ---- the rest ---- */

static jval eval_name(jinja *c, jscope *s, const jnode *n) {
    for (const jscope *at = s; at; at = at->parent) {
        if (!jinja_charge(c, at->n / 16)) return J_UNDEF;
        for (size_t i = 0; i < at->n; i++)
            if (at->vars[i].name == n->name) return at->vars[i].v;
    }
    return undefined(c, n->text);
}

static jval eval_items(jinja *c, jscope *s, const jnode *n) {
    if (n->kind == N_DICT) {
        jval d = j_dict(c, J_DICT, n->n_kids / 2);
        for (size_t i = 0; i + 1 < n->n_kids && !c->failed; i += 2) {
            jval key = jinja_eval(c, s, n->kids[i]), v = jinja_eval(c, s, n->kids[i + 1]);
            if (!c->failed) j_put(c, d.dict, key, v);
        }
        return d;
    }
    jval l = j_list(c, n->kind == N_TUPLE ? J_TUPLE : J_LIST, n->n_kids);
    for (size_t i = 0; i < n->n_kids && !c->failed; i++) {
        jval v = jinja_eval(c, s, n->kids[i]);
        j_push(c, l.list, v);
    }
    return l;
}

static jval eval_slice(jinja *c, jscope *s, const jnode *n) {
    jval v = jinja_eval(c, s, n->a), bounds[3];
    for (int i = 0; i < 3; i++) bounds[i] = n->kids[i] ? jinja_eval(c, s, n->kids[i]) : J_NULL;
    if (c->failed) return J_UNDEF;
    if (v.type == J_STRING) return j_slice_string(c, *v.s, bounds);
    if (j_is_list(v)) return j_slice_list(c, v, bounds);
    if (v.type == J_UNDEFINED) return fail_undefined(c, v);
    return jinja_fail(c, FO_EINVAL, "a %s cannot be sliced", j_type_name(v));
}

static jval eval_compare(jinja *c, jscope *s, const jnode *n) {
    jval left = jinja_eval(c, s, n->a);
    for (size_t i = 0; i < n->n_kids && !c->failed; i++) {
        jval right = jinja_eval(c, s, n->kids[i]->a);
        if (c->failed || !compare(c, n->kids[i]->op, left, right)) return j_bool(false);
        left = right;
    }
    return j_bool(true);
}

static jval eval_filter(jinja *c, jscope *s, const jnode *n, jval v) {
    jval few[FEW_ARGS];
    jcall call;
    if (!eval_args(c, s, n->args, few, &call)) return J_UNDEF;
    return jinja_filter(c, n->text, v, &call);
}

static jval eval_test(jinja *c, jscope *s, const jnode *n) {
    jval few[FEW_ARGS], v = jinja_eval(c, s, n->a);
    jcall call;
    if (c->failed || !eval_args(c, s, n->args, few, &call)) return J_UNDEF;
    return j_bool(jinja_test(c, n->text, v, &call));
}

static jval negate(jinja *c, const jnode *n, jval v) {
    if (!j_is_number(v)) return fail_operands(c, n->kind == N_NEGATE ? '-' : '+', v, v);
    if (v.type == J_FLOAT) return j_float(n->kind == N_NEGATE ? -v.f : v.f);
    int64_t i = v.type == J_BOOL ? v.b : v.i;
    return n->kind == N_NEGATE ? integer_op(c, '-', 0, i) : j_int(i);
}

static jval eval(jinja *c, jscope *s, const jnode *n) {
    jval v;
    switch (n->kind) {
    case N_CONST:
        return n->val;
    case N_NAME:
        return eval_name(c, s, n);
    case N_LIST:
    case N_TUPLE:
    case N_DICT:
        return eval_items(c, s, n);
    case N_ATTR:
        v = jinja_eval(c, s, n->a);
        return c->failed ? v : jinja_attr(c, v, n->text);
    case N_ITEM: {
        v = jinja_eval(c, s, n->a);
        jval key = jinja_eval(c, s, n->b);
        return c->failed ? J_UNDEF : jinja_item(c, v, key);
    }
    case N_SLICE:
        return eval_slice(c, s, n);
    case N_CALL:
        return eval_call(c, s, n);
    case N_FILTER:
        v = jinja_eval(c, s, n->a);
        return c->failed ? v : eval_filter(c, s, n, v);
    case N_TEST:
        return eval_test(c, s, n);
    case N_NEGATE:
    case N_PLUS:
        v = jinja_eval(c, s, n->a);
        return c->failed ? v : negate(c, n, v);
    case N_NOT:
        v = jinja_eval(c, s, n->a);
        return j_bool(!j_truth(v));
    case N_AND:
        v = jinja_eval(c, s, n->a);
        return j_truth(v) ? jinja_eval(c, s, n->b) : v;
    case N_OR:
        v = jinja_eval(c, s, n->a);
        return j_truth(v) ? v : jinja_eval(c, s, n->b);
    case N_BINARY: {
        v = jinja_eval(c, s, n->a);
        jval right = jinja_eval(c, s, n->b);
        return c->failed ? J_UNDEF : binary(c, n->op, v, right);
    }
    case N_COMPARE:
        return eval_compare(c, s, n);
    case N_COND:
        v = jinja_eval(c, s, n->a);
        if (c->failed) return J_UNDEF;
        if (j_truth(v)) return jinja_eval(c, s, n->b);
        return n->c ? jinja_eval(c, s, n->c) : J_UNDEF;
    default:
        return jinja_fail(c, FO_EINVAL, "not an expression");
    }
}

jval jinja_eval(jinja *c, jscope *s, const jnode *n) {
    if (!jinja_enter(c)) return J_UNDEF;
    c->line = n->line;
    jval v = eval(c, s, n);
    c->depth--;
    return c->failed ? J_UNDEF : v;
}

jval jinja_eval_filters(jinja *c, jscope *s, const jnode *n, jval input) {
    if (!jinja_enter(c)) return J_UNDEF;
    jval v = n->a ? jinja_eval_filters(c, s, n->a, input) : input;
    if (!c->failed) v = eval_filter(c, s, n, v);
    c->depth--;
    return c->failed ? J_UNDEF : v;
}
