/* jinja_methods.c - what strings, lists and dicts can be asked: Python's methods. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <utf8proc.h>

#include "engine/chat/jinja.h"
#include "engine/tokenizer/unicode.h"
#include "kernels/utf8.h"

/* ---- string helpers that filters share ---- */

bool jinja_is_blank(int32_t cp) {
    return (unicode_flags(cp) & UNICODE_SPACE) || (cp >= 0x1C && cp <= 0x1F);
}

static bool in_set(int32_t cp, const jstr *set) {
    if (!set) return jinja_is_blank(cp);
    for (size_t i = 0; i < set->n;) {
        int32_t other;
        i += fo_utf8_decode(set->p + i, set->n - i, &other);
        if (other == cp) return true;
    }
    return false;
}

jval jstr_strip(jinja *c, jstr s, const jval *chars, bool left, bool right) {
    if (chars && chars->type != J_STRING && chars->type != J_NONE)
        return jinja_fail(c, FO_EINVAL, "strip() needs a str, not a %s", j_type_name(*chars));
    const jstr *set = chars && chars->type == J_STRING ? chars->s : NULL;
    const size_t looks = set ? (1 + s.n / 16) * (1 + set->n / 16) : s.n / 64;
    if (!jinja_charge(c, looks)) return J_UNDEF;
    int32_t cp;
    while (left && s.n) {
        size_t n = fo_utf8_decode(s.p, s.n, &cp);
        if (!in_set(cp, set)) break;
        s.p += n;
        s.n -= n;
    }
    while (right && s.n) {
        size_t at = s.n - 1;
        while (at && !fo_utf8_boundary(s.p[at])) at--;
        fo_utf8_decode(s.p + at, s.n - at, &cp);
        if (!in_set(cp, set)) break;
        s.n = at;
    }
    return j_string_at(c, s.p, s.n);
}

/* The next place of `what` in s at or behind `from`; s.n + 1 if there is none. */
static size_t find(jstr s, jstr what, size_t from) {
    if (from > s.n) return s.n + 1;
    if (!what.n) return from;
    const char *p = s.n > from ? memmem(s.p + from, s.n - from, what.p, what.n) : NULL;
    return p ? (size_t)(p - s.p) : s.n + 1;
}

static size_t next_char(jstr s, size_t at) {
    int32_t cp;
    return at < s.n ? at + fo_utf8_decode(s.p + at, s.n - at, &cp) : at + 1;
}

jval jstr_replace(jinja *c, jstr s, jstr from, jstr to, int64_t limit) {
    fo_buf b = {0};
    size_t at = 0, scan = 0;
    while (limit != 0 && jinja_charge(c, 1)) {
        size_t hit = find(s, from, scan);
        if (hit > s.n) break;
        if (jinja_too_long(c, &b)) break;
        fo_buf_add(&b, s.p + at, hit - at);
        fo_buf_add(&b, to.p, to.n);
        at = hit + from.n;
        scan = from.n ? at : next_char(s, hit);
        limit -= limit > 0;
    }
    if (at < s.n) fo_buf_add(&b, s.p + at, s.n - at);
    jinja_charge(c, s.n / 64);
    return j_from_buf(c, &b);
}

jval jstr_case(jinja *c, jstr s, jcase how) {
    fo_buf b = {0};
    bool in_word = false;
    for (size_t i = 0; i < s.n;) {
        int32_t cp;
        char out[4];
        bool first = i == 0;
        i += fo_utf8_decode(s.p + i, s.n - i, &cp);
        bool letter = unicode_flags(cp) & UNICODE_LETTER;
        bool upper = how == J_UPPER || (how == J_TITLE && letter && !in_word) ||
                     (how == J_CAPITALIZE && first);
        in_word = letter;
        if (upper && cp == 0xDF) { /* the one full mapping that ordinary text meets */
            fo_buf_str(&b, how == J_UPPER ? "SS" : "Ss");
            continue;
        }
        cp = upper ? (how == J_UPPER ? utf8proc_toupper(cp) : utf8proc_totitle(cp))
                   : utf8proc_tolower(cp);
        fo_buf_add(&b, out, fo_utf8_encode(cp, out));
    }
    jinja_charge(c, s.n / 16);
    return j_from_buf(c, &b);
}

static void format_text(jinja *c, fo_buf *out, jval v, char kind, int precision) {
    if (kind == 's')
        j_print(c, out, v);
    else
        j_repr(c, out, v);
    jinja_charge(c, out->len / 64); /* also for what is cut off */
    if (precision >= 0 && out->len)
        out->len = fo_utf8_offset(out->data, out->len, (size_t)precision);
}

static void format_number(jinja *c, fo_buf *out, jval v, char kind, char sign, int precision) {
    if (!j_is_number(v) || !(fabs(j_number(v)) < 0x1p63)) {
        jinja_fail(c, FO_EINVAL, "%%%c cannot print a %s", kind, j_type_name(v));
        return;
    }
    const double f = j_number(v);
    const int64_t i = v.type == J_INT ? v.i : (int64_t)f;
    const unsigned long long size = i < 0 ? 0 - (unsigned long long)i : (unsigned long long)i;
    if (kind == 'f' ? signbit(f) : i < 0) sign = '-';
    if (sign) fo_buf_char(out, sign);
    if (kind == 'f')
        fo_buf_printf(out, "%.*f", precision < 0 ? 6 : precision, fabs(f));
    else if (kind == 'x')
        fo_buf_printf(out, "%.*llx", precision < 0 ? 1 : precision, size);
    else
        fo_buf_printf(out, "%.*llu", precision < 0 ? 1 : precision, size);
}

/* printf style: %s %d %i %r %f %.2f %x %%, with flags and width. */
jval jstr_format(jinja *c, jstr s, const jval *args, size_t n) {
    fo_buf b = {0};
    size_t used = 0;
    jinja_charge(c, s.n / 64);
    for (size_t i = 0; i < s.n && !jinja_too_long(c, &b); i++) {
        if (s.p[i] != '%') {
            fo_buf_char(&b, s.p[i]);
            continue;
        }
        bool left = false, zero = false;
        char sign = 0; /* of what is not negative */
        for (i++; i < s.n && memchr("-0+ ", s.p[i], 4); i++) {
            left |= s.p[i] == '-';
            zero |= s.p[i] == '0';
            if (s.p[i] == '+' || (s.p[i] == ' ' && !sign)) sign = s.p[i];
        }
        int width = 0, precision = -1;
        for (; i < s.n && s.p[i] >= '0' && s.p[i] <= '9' && width < 1000; i++)
            width = width * 10 + s.p[i] - '0';
        if (i < s.n && s.p[i] == '.')
            for (i++, precision = 0; i < s.n && s.p[i] >= '0' && s.p[i] <= '9' && precision < 100;
                 i++)
                precision = precision * 10 + s.p[i] - '0';
        char kind = i < s.n ? s.p[i] : 0;
        if (kind == '%') {
            fo_buf_char(&b, '%');
            continue;
        }
        if (!kind || !strchr("sdirfx", kind) || used >= n) {
            jinja_fail(c, FO_EINVAL, "a format string and its arguments do not fit");
            break;
        }
        jval v = args[used++];
        fo_buf part = {0};
        if (kind == 's' || kind == 'r')
            format_text(c, &part, v, kind, precision);
        else
            format_number(c, &part, v, kind, sign, precision);
        size_t len = part.data ? fo_utf8_count(part.data, part.len) : 0;
        size_t pad = (size_t)width > len ? (size_t)width - len : 0;
        zero &= kind != 's' && kind != 'r';
        const bool ahead = zero && !left && part.len && strchr("-+ ", *part.data);
        if (ahead) fo_buf_char(&b, *part.data);
        for (size_t k = 0; k < pad && !left; k++) fo_buf_char(&b, zero ? '0' : ' ');
        if (part.len) fo_buf_add(&b, part.data + ahead, part.len - ahead);
        for (size_t k = 0; k < pad && left; k++) fo_buf_char(&b, ' ');
        fo_buf_free(&part);
    }
    if (used < n && !c->failed && n > 1)
        jinja_fail(c, FO_EINVAL, "a format string and its arguments do not fit");
    return j_from_buf(c, &b);
}

jval jdict_items(jinja *c, const jdict *d) {
    jval out = j_list(c, J_LIST, d->n);
    for (size_t i = 0; i < d->n && !c->failed; i++) {
        jval pair = j_list(c, J_TUPLE, 2);
        if (c->failed) break;
        j_push(c, pair.list, d->k[i]);
        j_push(c, pair.list, d->v[i]);
        j_push(c, out.list, pair);
    }
    return c->failed ? J_UNDEF : out;
}

/* ---- methods of strings ---- */

static jval need_string(jinja *c, const jcall *a, size_t i, const char *method) {
    jval v = jarg(a, i, "", J_UNDEF);
    if (v.type != J_STRING)
        return jinja_fail(c, FO_EINVAL, "%s() needs a str, not a %s", method, j_type_name(v));
    return v;
}

static int64_t need_int(jinja *c, const jcall *a, size_t i, const char *name, int64_t otherwise) {
    jval v = jarg(a, i, name, j_int(otherwise));
    if (v.type == J_INT) return v.i;
    if (v.type != J_NONE) jinja_fail(c, FO_EINVAL, "an int is needed, not a %s", j_type_name(v));
    return otherwise;
}

static bool push_part(jinja *c, jval list, jstr s, size_t from, size_t to) {
    jval v = j_string_at(c, s.p + from, to - from);
    return j_push(c, list.list, v);
}

static void reverse(jlist *l) {
    for (size_t i = 0; i < l->n / 2; i++) {
        jval v = l->v[i];
        l->v[i] = l->v[l->n - 1 - i];
        l->v[l->n - 1 - i] = v;
    }
}

/* Every place may cost a look at nearly all of `what`, and is charged so. */
static size_t find_last(jinja *c, jstr s, jstr what, size_t end) {
    if (!jinja_charge(c, end / 64 * (1 + what.n / 64))) return s.n + 1;
    for (size_t at = end >= what.n ? end - what.n + 1 : 0; at-- > 0;)
        if (memcmp(s.p + at, what.p, what.n) == 0) return at;
    return s.n + 1;
}

/* Behind the blanks that stand at s[at], or behind what is none. */
static size_t skip_while(jstr s, size_t at, bool blank) {
    while (at < s.n) {
        int32_t cp;
        size_t n = fo_utf8_decode(s.p + at, s.n - at, &cp);
        if (jinja_is_blank(cp) != blank) break;
        at += n;
    }
    return at;
}

/* The caller charged for a look at all of s. */
static jval split_blanks(jinja *c, jstr s, int64_t limit) {
    jval out = j_list(c, J_LIST, 0);
    for (size_t at = skip_while(s, 0, true), end; at < s.n && !c->failed; limit--) {
        end = limit ? skip_while(s, at, false) : s.n;
        push_part(c, out, s, at, end);
        at = skip_while(s, end, true);
    }
    return out;
}

static jval split(jinja *c, jstr s, const jcall *a, bool from_right) {
    jval sep = jarg(a, 0, "sep", J_NULL);
    int64_t limit = need_int(c, a, 1, "maxsplit", -1);
    if (!jinja_charge(c, s.n / 16)) return J_UNDEF;
    if (sep.type == J_NONE && (!from_right || limit < 0)) return split_blanks(c, s, limit);
    if (sep.type != J_STRING || !sep.s->n)
        return jinja_fail(c, FO_EINVAL, "split() needs a separator that is not empty");
    jval out = j_list(c, J_LIST, 0);
    size_t at = 0, end = s.n;
    if (from_right && limit >= 0) {
        for (; limit && jinja_charge(c, 1 + end / 16); limit--) {
            size_t hit = find_last(c, s, *sep.s, end);
            if (hit > s.n) break;
            push_part(c, out, s, hit + sep.s->n, end);
            end = hit;
        }
        push_part(c, out, s, 0, end);
        if (!c->failed) reverse(out.list);
        return out;
    }
    for (; limit && jinja_charge(c, 1); limit--) {
        size_t hit = find(s, *sep.s, at);
        if (hit > s.n) break;
        push_part(c, out, s, at, hit);
        at = hit + sep.s->n;
    }
    push_part(c, out, s, at, s.n);
    return out;
}

size_t jstr_line_end(jstr s, size_t at, size_t *behind) {
    for (size_t n; at < s.n; at += n) {
        int32_t cp;
        n = fo_utf8_decode(s.p + at, s.n - at, &cp);
        const bool ends = (cp >= '\n' && cp <= '\r') || (cp >= 0x1C && cp <= 0x1E) || cp == 0x85 ||
                          cp == 0x2028 || cp == 0x2029;
        if (!ends) continue;
        *behind = at + n + (cp == '\r' && at + 1 < s.n && s.p[at + 1] == '\n');
        return at;
    }
    *behind = s.n;
    return s.n;
}

static jval split_lines(jinja *c, jstr s, bool keep) {
    jval out = j_list(c, J_LIST, 0);
    if (!jinja_charge(c, s.n / 16)) return J_UNDEF;
    for (size_t at = 0, behind; at < s.n && !c->failed; at = behind) {
        const size_t end = jstr_line_end(s, at, &behind);
        push_part(c, out, s, at, keep ? behind : end);
    }
    return out;
}

/* The part of *s that the arguments `start` and `end` leave, if there are any, and how many characters stand before
 * it. False: it begins behind the end of s, or something failed. */
static bool narrow(jinja *c, const jcall *a, jstr *s, int64_t *before) {
    *before = 0;
    if (a->n < 2) return true;
    const jval bounds[3] = {jarg(a, 1, "", J_NULL), jarg(a, 2, "", J_NULL), J_NULL};
    const int64_t length = (int64_t)j_length(*s), start = need_int(c, a, 1, "", 0);
    const jval part = j_slice_string(c, *s, bounds);
    if (c->failed || start > length) return false;
    *before = start >= 0 ? start : start + length > 0 ? start + length : 0;
    *s = *part.s;
    return true;
}

static bool edge_is(jinja *c, jstr s, jstr part, bool end) {
    return part.n <= s.n && jinja_charge(c, part.n / 64) &&
           (!part.n || memcmp(s.p + (end ? s.n - part.n : 0), part.p, part.n) == 0);
}

static jval starts_or_ends(jinja *c, jstr s, const jcall *a, bool end) {
    jval v = jarg(a, 0, "prefix", J_UNDEF);
    int64_t before;
    if (!narrow(c, a, &s, &before)) return j_bool(false);
    if (v.type == J_STRING) return j_bool(edge_is(c, s, *v.s, end));
    if (v.type != J_TUPLE)
        return jinja_fail(c, FO_EINVAL, "%s() needs a str, not a %s",
                          end ? "endswith" : "startswith", j_type_name(v));
    for (size_t i = 0; i < v.list->n && jinja_charge(c, 1); i++)
        if (v.list->v[i].type == J_STRING && edge_is(c, s, *v.list->v[i].s, end))
            return j_bool(true);
    return j_bool(false);
}

static jval partition(jinja *c, jstr s, const jcall *a, bool last) {
    jval sep = need_string(c, a, 0, "partition"), out = j_list(c, J_TUPLE, 3);
    if (c->failed || !sep.s->n || !jinja_charge(c, s.n / 16))
        return jinja_fail(c, FO_EINVAL, "partition() needs a separator that is not empty");
    size_t hit = last ? find_last(c, s, *sep.s, s.n) : find(s, *sep.s, 0);
    bool found = hit <= s.n;
    size_t behind = found ? hit + sep.s->n : last ? 0 : s.n;
    push_part(c, out, s, 0, found ? hit : last ? 0 : s.n);
    j_push(c, out.list, found ? sep : j_string_at(c, "", 0));
    push_part(c, out, s, behind, s.n);
    return out;
}

static jval position(jinja *c, jstr s, const jcall *a, bool last, bool must) {
    jval what = need_string(c, a, 0, "find");
    int64_t before;
    if (!jinja_charge(c, s.n / 16)) return J_UNDEF;
    const bool within = narrow(c, a, &s, &before);
    if (c->failed) return J_UNDEF;
    size_t hit = last ? find_last(c, s, *what.s, s.n) : find(s, *what.s, 0);
    if (within && hit <= s.n) return j_int(before + (int64_t)fo_utf8_count(s.p, hit));
    return must ? jinja_fail(c, FO_EINVAL, "index(): the part is not there") : j_int(-1);
}

static jval count(jinja *c, jstr s, const jcall *a) {
    jval what = need_string(c, a, 0, "count");
    int64_t before;
    if (c->failed || !narrow(c, a, &s, &before)) return j_int(0);
    int64_t n = 0;
    for (size_t at = 0; jinja_charge(c, 1) && (at = find(s, *what.s, at)) <= s.n; n++)
        at = what.s->n ? at + what.s->n : next_char(s, at);
    return j_int(n);
}

static jval join(jinja *c, jstr sep, const jcall *a) {
    jval items = j_iterate(c, jarg(a, 0, "iterable", J_UNDEF));
    fo_buf b = {0};
    for (size_t i = 0; !c->failed && i < items.list->n; i++) {
        if (items.list->v[i].type != J_STRING)
            jinja_fail(c, FO_EINVAL, "join() needs strings, not a %s",
                       j_type_name(items.list->v[i]));
        else if (!jinja_too_long(c, &b)) {
            if (i) fo_buf_add(&b, sep.p, sep.n);
            fo_buf_add(&b, items.list->v[i].s->p, items.list->v[i].s->n);
        }
    }
    return j_from_buf(c, &b);
}

/* All characters have one of the bits, and there is one. */
static bool all_have(jstr s, unsigned bits) {
    for (size_t i = 0; i < s.n;) {
        int32_t cp;
        i += fo_utf8_decode(s.p + i, s.n - i, &cp);
        if (!(unicode_flags(cp) & bits)) return false;
    }
    return s.n > 0;
}

static bool all_digits(jstr s) {
    for (size_t i = 0; i < s.n;) {
        int32_t cp;
        i += fo_utf8_decode(s.p + i, s.n - i, &cp);
        if (utf8proc_category(cp) != UTF8PROC_CATEGORY_ND) return false;
    }
    return s.n > 0;
}

static bool cased(jstr s, unsigned want, unsigned not_want) {
    bool any = false;
    for (size_t i = 0; i < s.n;) {
        int32_t cp;
        i += fo_utf8_decode(s.p + i, s.n - i, &cp);
        if (unicode_flags(cp) & not_want) return false;
        any |= (unicode_flags(cp) & want) != 0;
    }
    return any;
}

/* where: -1 in front, 1 behind, 0 on both sides; fill '0' goes behind a sign. */
static jval pad(jinja *c, jstr s, const jcall *a, char fill, int where) {
    int64_t width = need_int(c, a, 0, "width", 0);
    jstr with = {&fill, 1};
    if (fill == ' ' && a->n > 1) {
        jval given = need_string(c, a, 1, "padding");
        if (c->failed || j_length(*given.s) != 1)
            return jinja_fail(c, FO_EINVAL, "what is padded with is one character");
        with = *given.s;
    }
    if (width > 100000) return jinja_fail(c, FO_ELIMIT, "a width of %lld", (long long)width);
    int64_t missing = width - (int64_t)j_length(s);
    int64_t middle = missing / 2 + (missing & width & 1); /* as Python halves it */
    int64_t left = missing <= 0 || where > 0 ? 0 : where < 0 ? missing : middle;
    fo_buf b = {0};
    bool sign = fill == '0' && s.n && (s.p[0] == '-' || s.p[0] == '+');
    if (sign) fo_buf_char(&b, s.p[0]);
    for (int64_t i = 0; i < left; i++) fo_buf_add(&b, with.p, with.n);
    fo_buf_add(&b, s.p + sign, s.n - sign);
    for (int64_t i = left; i < missing; i++) fo_buf_add(&b, with.p, with.n);
    return j_from_buf(c, &b);
}

/* "{} {0} {name}".format(): without format specifications. */
static jval format_braces(jinja *c, jstr s, const jcall *a) {
    fo_buf b = {0};
    size_t next = 0;
    for (size_t i = 0; i < s.n && !jinja_too_long(c, &b); i++) {
        char ch = s.p[i];
        if ((ch == '{' || ch == '}') && i + 1 < s.n && s.p[i + 1] == ch) {
            fo_buf_char(&b, ch);
            i++;
            continue;
        }
        if (ch != '{') {
            fo_buf_char(&b, ch);
            continue;
        }
        if (!jinja_charge(c, 1 + a->n_kw / 16)) break;
        const char *close = memchr(s.p + i, '}', s.n - i);
        jstr name = {s.p + i + 1, close ? (size_t)(close - s.p) - i - 1 : 0};
        jval v = J_UNDEF;
        bool found = false;
        if (close && (!name.n || (name.n == 1 && *name.p >= '0' && *name.p <= '9'))) {
            size_t k = name.n ? (size_t)(*name.p - '0') : next++;
            found = k < a->n;
            if (found) v = a->v[k];
        }
        for (size_t k = 0; k < a->n_kw && !found; k++) {
            found =
                close && a->kw_name[k].n == name.n && memcmp(a->kw_name[k].p, name.p, name.n) == 0;
            if (found) v = a->kw[k];
        }
        if (!found)
            jinja_fail(c, FO_EUNSUPPORTED, "format() cannot fill every brace");
        else
            j_print(c, &b, v);
        i += name.n + 1;
    }
    return j_from_buf(c, &b);
}

static jval string_method(jinja *c, jstr s, jstr m, const jcall *a) {
    const jval *first = a->n ? &a->v[0] : NULL;
    if (j_is(m, "strip")) return jstr_strip(c, s, first, true, true);
    if (j_is(m, "lstrip")) return jstr_strip(c, s, first, true, false);
    if (j_is(m, "rstrip")) return jstr_strip(c, s, first, false, true);
    if (j_is(m, "split")) return split(c, s, a, false);
    if (j_is(m, "rsplit")) return split(c, s, a, true);
    if (j_is(m, "splitlines")) return split_lines(c, s, j_truth(jarg(a, 0, "keepends", J_UNDEF)));
    if (j_is(m, "startswith")) return starts_or_ends(c, s, a, false);
    if (j_is(m, "endswith")) return starts_or_ends(c, s, a, true);
    if (j_is(m, "upper")) return jstr_case(c, s, J_UPPER);
    if (j_is(m, "lower")) return jstr_case(c, s, J_LOWER);
    if (j_is(m, "title")) return jstr_case(c, s, J_TITLE);
    if (j_is(m, "capitalize")) return jstr_case(c, s, J_CAPITALIZE);
    if (j_is(m, "join")) return join(c, s, a);
    if (j_is(m, "find")) return position(c, s, a, false, false);
    if (j_is(m, "rfind")) return position(c, s, a, true, false);
    if (j_is(m, "index")) return position(c, s, a, false, true);
    if (j_is(m, "count")) return count(c, s, a);
    if (j_is(m, "partition")) return partition(c, s, a, false);
    if (j_is(m, "rpartition")) return partition(c, s, a, true);
    if (j_is(m, "format")) return format_braces(c, s, a);
    if (j_is(m, "zfill")) return pad(c, s, a, '0', -1);
    if (j_is(m, "rjust")) return pad(c, s, a, ' ', -1);
    if (j_is(m, "ljust")) return pad(c, s, a, ' ', 1);
    if (j_is(m, "center")) return pad(c, s, a, ' ', 0);
    if (j_is(m, "isdigit") || j_is(m, "isdecimal")) return j_bool(all_digits(s));
    if (j_is(m, "isnumeric")) return j_bool(all_have(s, UNICODE_NUMBER));
    if (j_is(m, "isalpha")) return j_bool(all_have(s, UNICODE_LETTER));
    if (j_is(m, "isalnum")) return j_bool(all_have(s, UNICODE_LETTER | UNICODE_NUMBER));
    if (j_is(m, "isspace")) return j_bool(s.n && skip_while(s, 0, true) == s.n);
    if (j_is(m, "isupper")) return j_bool(cased(s, UNICODE_UPPER, UNICODE_LOWER));
    if (j_is(m, "islower")) return j_bool(cased(s, UNICODE_LOWER, UNICODE_UPPER));
    jval part = need_string(c, a, 0, "this method"); /* the rest take one */
    if (c->failed) return J_UNDEF;
    if (j_is(m, "removeprefix")) {
        size_t cut = edge_is(c, s, *part.s, false) ? part.s->n : 0;
        return j_string_at(c, s.p + cut, s.n - cut);
    }
    if (j_is(m, "removesuffix"))
        return j_string_at(c, s.p, s.n - (edge_is(c, s, *part.s, true) ? part.s->n : 0));
    jval to = need_string(c, a, 1, "replace");
    if (c->failed) return J_UNDEF;
    return jstr_replace(c, s, *part.s, *to.s, need_int(c, a, 2, "count", -1));
}

/* ---- methods of lists and dicts ---- */

static jval list_method(jinja *c, jlist *l, jstr m, const jcall *a) {
    jval v = jarg(a, 0, "", J_UNDEF);
    if (j_is(m, "append")) {
        j_push(c, l, v);
        return J_NULL;
    }
    if (j_is(m, "extend")) {
        jval items = j_iterate(c, v);
        for (size_t i = 0; !c->failed && i < items.list->n; i++) j_push(c, l, items.list->v[i]);
        return J_NULL;
    }
    if (j_is(m, "pop")) {
        int64_t i = need_int(c, a, 0, "", -1);
        if (i < 0) i += (int64_t)l->n;
        if (c->failed || i < 0 || i >= (int64_t)l->n)
            return jinja_fail(c, FO_EINVAL, "pop(): no such item");
        if (!jinja_charge(c, (l->n - (size_t)i) / 64)) return J_UNDEF;
        v = l->v[i];
        memmove(&l->v[i], &l->v[i + 1], (l->n - (size_t)i - 1) * sizeof v);
        l->n--;
        return v;
    }
    int64_t n = 0; /* index, count */
    for (size_t i = 0; i < l->n && jinja_charge(c, 1); i++) {
        if (!j_equal(c, l->v[i], v)) continue;
        if (j_is(m, "index")) return j_int((int64_t)i);
        n++;
    }
    if (j_is(m, "count")) return j_int(n);
    return jinja_fail(c, FO_EINVAL, "index(): the item is not there");
}

static jval dict_method(jinja *c, jval self, jstr m, const jcall *a) {
    jdict *d = self.dict;
    if (j_is(m, "items")) return jdict_items(c, d);
    if (j_is(m, "keys")) return j_iterate(c, self);
    jval key = jarg(a, 0, "", J_UNDEF);
    if (j_is(m, "get")) {
        const jval *at = j_get(c, d, key);
        return at ? *at : jarg(a, 1, "default", J_NULL);
    }
    if (j_is(m, "setdefault")) {
        const jval *at = j_get(c, d, key);
        if (at) return *at;
        jval v = jarg(a, 1, "default", J_NULL);
        j_put(c, d, key, v);
        return v;
    }
    if (j_is(m, "update")) {
        for (size_t i = 0; key.type == J_DICT && i < key.dict->n && !c->failed; i++)
            j_put(c, d, key.dict->k[i], key.dict->v[i]);
        for (size_t i = 0; i < a->n_kw && !c->failed; i++) {
            jval name = j_string_at(c, a->kw_name[i].p, a->kw_name[i].n);
            j_put(c, d, name, a->kw[i]);
        }
        return J_NULL;
    }
    if (j_is(m, "copy")) {
        jval out = j_dict(c, J_DICT, d->n);
        for (size_t i = 0; i < d->n && !c->failed; i++) j_put(c, out.dict, d->k[i], d->v[i]);
        return out;
    }
    if (j_is(m, "pop")) {
        const jval *at = j_get(c, d, key);
        if (!at) {
            if (a->n > 1) return a->v[1];
            return jinja_fail(c, FO_EINVAL, "pop(): no such key");
        }
        size_t i = (size_t)(at - d->v);
        jval v = *at;
        memmove(&d->k[i], &d->k[i + 1], (d->n - i - 1) * sizeof v);
        memmove(&d->v[i], &d->v[i + 1], (d->n - i - 1) * sizeof v);
        d->n--;
        return v;
    }
    jval out = j_list(c, J_LIST, d->n); /* values */
    for (size_t i = 0; i < d->n && !c->failed; i++) j_push(c, out.list, d->v[i]);
    return out;
}

static bool listed(const char *const *names, jstr name) {
    for (; *names; names++)
        if (j_is(name, *names)) return true;
    return false;
}

bool jinja_has_method(jval self, jstr name) {
    static const char *const of_strings[] = {
        "strip",      "lstrip",    "rstrip",       "split",        "rsplit",  "splitlines",
        "startswith", "endswith",  "upper",        "lower",        "title",   "capitalize",
        "join",       "find",      "rfind",        "index",        "count",   "partition",
        "rpartition", "format",    "zfill",        "rjust",        "ljust",   "center",
        "isdigit",    "isnumeric", "isdecimal",    "isalpha",      "isalnum", "isspace",
        "isupper",    "islower",   "removeprefix", "removesuffix", "replace", NULL};
    static const char *const of_lists[] = {"append", "extend", "pop", "index", "count", NULL};
    static const char *const of_dicts[] = {"items", "keys",   "values", "get", "setdefault",
                                           "copy",  "update", "pop",    NULL};
    if (self.type == J_STRING) return listed(of_strings, name);
    if (j_is_list(self)) return listed(of_lists, name);
    return self.type == J_DICT && listed(of_dicts, name);
}

jval jinja_method(jinja *c, jval self, jstr name, const jcall *args) {
    /* Most methods of a string look at all of it. */
    if (!jinja_charge(c, 1 + (self.type == J_STRING ? self.s->n / 64 : 0))) return J_UNDEF;
    jval v = J_UNDEF;
    if (self.type == J_STRING)
        v = string_method(c, *self.s, name, args);
    else if (self.type == J_LIST)
        v = list_method(c, self.list, name, args);
    else if (self.type == J_DICT)
        v = dict_method(c, self, name, args);
    else
        v = jinja_fail(c, FO_EINVAL, "a %s cannot be changed", j_type_name(self));
    return c->failed ? J_UNDEF : v;
}
