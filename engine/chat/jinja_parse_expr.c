/* jinja_parse_expr.c - expressions, by recursive descent, in Jinja's own order of binding:
 * if-else, or, and, not, comparison, + -, ~, * / // %, **, unary, postfix, filters and tests. */
#include <string.h>

#include "engine/chat/jinja.h"

static jnode *parse_or(jparser *p);
static jnode *parse_unary(jparser *p, bool with_filters);

/* Every way back into expression() passes here, so that nesting in the text is bounded. */
jnode *jparse_expression(jparser *p) {
    if (!jinja_enter(p->c)) return NULL;
    jnode *n = parse_or(p);
    while (n && jparse_skip_name(p, "if")) {
        jnode *cond = jparse_new(p, N_COND);
        if (!cond) break;
        cond->b = n;
        cond->a = parse_or(p);
        if (jparse_skip_name(p, "else")) cond->c = jparse_expression(p);
        n = cond;
    }
    p->c->depth--;
    return p->c->failed ? NULL : n;
}

static jnode *binary(jparser *p, jkind kind, int op, jnode *left, jnode *right) {
    jnode *n = left && right ? jparse_new(p, kind) : NULL;
    if (!n) return NULL;
    n->op = op;
    n->a = left;
    n->b = right;
    return n;
}

static jnode *parse_pow(jparser *p) {
    jnode *n = parse_unary(p, true);
    while (n && jparse_skip_op(p, J_OP2('*', '*')))
        n = binary(p, N_BINARY, J_OP2('*', '*'), n, parse_unary(p, true));
    return n;
}

static int op_of(const jparser *p, const char *singles, bool floor_div) {
    if (p->at->type != T_OP) return 0;
    if (floor_div && p->at->op == J_OP2('/', '/')) return p->at->op;
    return p->at->op < 256 && strchr(singles, p->at->op) ? p->at->op : 0;
}

static jnode *parse_product(jparser *p) {
    jnode *n = parse_pow(p);
    for (int op; n && (op = op_of(p, "*/%", true));) {
        p->at++;
        n = binary(p, N_BINARY, op, n, parse_pow(p));
    }
    return n;
}

static jnode *parse_concat(jparser *p) {
    jnode *n = parse_product(p);
    while (n && jparse_skip_op(p, '~')) n = binary(p, N_BINARY, '~', n, parse_product(p));
    return n;
}

static jnode *parse_sum(jparser *p) {
    jnode *n = parse_concat(p);
    for (int op; n && (op = op_of(p, "+-", false));) {
        p->at++;
        n = binary(p, N_BINARY, op, n, parse_concat(p));
    }
    return n;
}

enum { OP_IN = 1, OP_NOT_IN = 2 };

static int compare_op(jparser *p) {
    if (p->at->type == T_OP) {
        int op = p->at->op;
        if (op == '<' || op == '>' || op == J_OP2('=', '=') || op == J_OP2('!', '=') ||
            op == J_OP2('<', '=') || op == J_OP2('>', '=')) {
            p->at++;
            return op;
        }
        return 0;
    }
    if (jparse_skip_name(p, "in")) return OP_IN;
    if (jparse_is_name(p, "not") && p->at[1].type == T_NAME && j_is(p->at[1].text, "in")) {
        p->at += 2;
        return OP_NOT_IN;
    }
    return 0;
}

static jnode *parse_compare(jparser *p) {
    jnode *n = parse_sum(p), *chain = NULL;
    for (int op; n && (op = compare_op(p));) {
        if (!chain) {
            chain = jparse_new(p, N_COMPARE);
            if (!chain) return NULL;
            chain->a = n;
        }
        jnode *operand = jparse_new(p, N_OPERAND);
        if (!operand) return NULL;
        operand->op = op;
        operand->a = parse_sum(p);
        if (!operand->a || !jparse_add(p, &chain->kids, &chain->n_kids, operand)) return NULL;
    }
    return chain ? chain : n;
}

static jnode *parse_not(jparser *p) {
    int nots = 0;
    while (jparse_skip_name(p, "not")) nots++;
    jnode *n = parse_compare(p);
    for (; n && nots; nots--) {
        jnode *outer = jparse_new(p, N_NOT);
        if (!outer) return NULL;
        outer->a = n;
        n = outer;
        if (nots > 2) nots -= 2; /* pairs cancel: a thousand nots need no tree */
    }
    return n;
}

static jnode *parse_and(jparser *p) {
    jnode *n = parse_not(p);
    while (n && jparse_skip_name(p, "and")) n = binary(p, N_AND, 0, n, parse_not(p));
    return n;
}

static jnode *parse_or(jparser *p) {
    jnode *n = parse_and(p);
    while (n && jparse_skip_name(p, "or")) n = binary(p, N_OR, 0, n, parse_and(p));
    return n;
}

/* ---- primaries ---- */

static jnode *constant(jparser *p, jval v) {
    jnode *n = jparse_new(p, N_CONST);
    if (n) n->val = v;
    return n;
}

static jnode *parse_name(jparser *p) {
    static const struct {
        const char *name;
        jtype type;
        bool b;
    } words[] = {{"true", J_BOOL, true},   {"True", J_BOOL, true}, {"false", J_BOOL, false},
                 {"False", J_BOOL, false}, {"none", J_NONE, 0},    {"None", J_NONE, 0}};
    jstr name = p->at->text;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (!j_is(name, words[i].name)) continue;
        p->at++;
        return constant(p, words[i].type == J_NONE ? J_NULL : j_bool(words[i].b));
    }
    jnode *n = jparse_new(p, N_NAME);
    if (!n) return NULL;
    n->name = jparse_name(p, name);
    n->text = name;
    p->at++;
    return n;
}

/* Neighbouring literals are one string. */
static jnode *parse_string(jparser *p) {
    jstr first = p->at->text;
    if (p->at[1].type != T_STRING) {
        p->at++;
        jval v = j_string_at(p->c, first.p, first.n);
        return p->c->failed ? NULL : constant(p, v);
    }
    fo_buf b = {0};
    for (; p->at->type == T_STRING; p->at++) fo_buf_add(&b, p->at->text.p, p->at->text.n);
    jval v = j_from_buf(p->c, &b);
    return p->c->failed ? NULL : constant(p, v);
}

static jnode *parse_dict(jparser *p) {
    jnode *n = jparse_new(p, N_DICT);
    while (n && !jparse_is_op(p, '}')) {
        if (n->n_kids && !jparse_expect_op(p, ',')) return NULL;
        if (jparse_is_op(p, '}')) break;
        jnode *key = jparse_expression(p);
        if (!key || !jparse_expect_op(p, ':')) return NULL;
        jnode *value = jparse_expression(p);
        if (!value || !jparse_add(p, &n->kids, &n->n_kids, key) ||
            !jparse_add(p, &n->kids, &n->n_kids, value))
            return NULL;
    }
    return n && jparse_expect_op(p, '}') ? n : NULL;
}

static jnode *parse_list(jparser *p) {
    jnode *n = jparse_new(p, N_LIST);
    while (n && !jparse_is_op(p, ']')) {
        if (n->n_kids && !jparse_expect_op(p, ',')) return NULL;
        if (jparse_is_op(p, ']')) break;
        jnode *item = jparse_expression(p);
        if (!item || !jparse_add(p, &n->kids, &n->n_kids, item)) return NULL;
    }
    return n && jparse_expect_op(p, ']') ? n : NULL;
}

static jnode *parse_primary(jparser *p) {
    const jtoken *t = p->at;
    if (t->type == T_NAME) return parse_name(p);
    if (t->type == T_STRING) return parse_string(p);
    if (t->type == T_INT || t->type == T_FLOAT) {
        p->at++;
        return constant(p, t->value);
    }
    if (jparse_skip_op(p, '[')) return parse_list(p);
    if (jparse_skip_op(p, '{')) return parse_dict(p);
    if (jparse_skip_op(p, '(')) {
        jnode *n;
        if (jparse_is_op(p, ')'))
            n = jparse_new(p, N_TUPLE);
        else
            n = jparse_tuple(p, false);
        return n && jparse_expect_op(p, ')') ? n : NULL;
    }
    jparse_fail(p, "an expression");
    return NULL;
}

/* ---- what follows a primary ---- */

/* Behind the "(". */
static jargs *jparse_args(jparser *p) {
    jargs *a = jinja_alloc(p->c, 1, sizeof *a);
    bool first = true;
    while (a && !jparse_is_op(p, ')')) {
        if (!first && !jparse_expect_op(p, ',')) return NULL;
        if (jparse_is_op(p, ')')) break;
        first = false;
        bool keyword = p->at->type == T_NAME && p->at[1].type == T_OP && p->at[1].op == '=';
        jstr name = p->at->text;
        if (keyword) p->at += 2;
        jnode *v = jparse_expression(p);
        if (!v) return NULL;
        if (!keyword) {
            if (a->n_kw) {
                jparse_fail(p, "no positional argument behind keyword arguments");
                return NULL;
            }
            if (!jparse_add(p, &a->v, &a->n, v)) return NULL;
            continue;
        }
        size_t n = a->n_kw;
        if (!jparse_add(p, &a->kw, &n, v)) return NULL;
        jstr *names = jinja_alloc(p->c, n, sizeof *names);
        if (!names) return NULL;
        if (a->n_kw) memcpy(names, a->kw_name, a->n_kw * sizeof *names);
        names[a->n_kw] = name;
        a->kw_name = names;
        a->n_kw = n;
    }
    return a && jparse_expect_op(p, ')') ? a : NULL;
}

/* [i], [a:b], [a:b:c], [i, j] */
static jnode *parse_subscript(jparser *p, jnode *value) {
    jnode *bound[3] = {NULL, NULL, NULL};
    int colons = 0;
    for (;;) {
        if (jparse_skip_op(p, ':')) {
            if (++colons > 2) break;
            continue;
        }
        if (jparse_is_op(p, ']')) break;
        bound[colons] = jparse_expression(p);
        if (!bound[colons]) return NULL;
        if (!jparse_is_op(p, ':')) break;
    }
    if (!jparse_expect_op(p, ']')) return NULL;
    jnode *n = jparse_new(p, colons ? N_SLICE : N_ITEM);
    if (!n) return NULL;
    n->a = value;
    if (!colons) {
        n->b = bound[0];
        if (!n->b) jparse_fail(p, "an index between the brackets");
        return n->b ? n : NULL;
    }
    n->kids = jinja_alloc(p->c, 3, sizeof *n->kids);
    if (!n->kids) return NULL;
    memcpy(n->kids, bound, sizeof bound);
    n->n_kids = 3;
    return n;
}

static jnode *parse_call(jparser *p, jnode *value) {
    jnode *n = jparse_new(p, N_CALL);
    if (!n) return NULL;
    n->a = value;
    n->args = jparse_args(p);
    return n->args ? n : NULL;
}

static jnode *parse_postfix(jparser *p, jnode *n) {
    while (n) {
        if (jparse_skip_op(p, '.')) {
            jnode *outer = jparse_new(p, p->at->type == T_INT ? N_ITEM : N_ATTR);
            if (!outer) return NULL;
            outer->a = n;
            if (p->at->type == T_INT)
                outer->b = constant(p, p->at->value);
            else if (p->at->type == T_NAME)
                outer->text = p->at->text;
            else {
                jparse_fail(p, "a name behind the dot");
                return NULL;
            }
            p->at++;
            n = outer;
        } else if (jparse_skip_op(p, '[')) {
            n = parse_subscript(p, n);
        } else if (jparse_skip_op(p, '(')) {
            n = parse_call(p, n);
        } else {
            break;
        }
    }
    return n;
}

static jnode *parse_test(jparser *p, jnode *value) {
    bool negated = jparse_skip_name(p, "not");
    if (p->at->type != T_NAME) {
        jparse_fail(p, "the name of a test");
        return NULL;
    }
    jnode *n = jparse_new(p, N_TEST);
    if (!n) return NULL;
    n->a = value;
    n->text = p->at->text;
    p->at++;
    static const char *const no_argument[] = {"else", "or", "and", "is", "if", "not", "in"};
    bool argument = p->at->type == T_NAME || p->at->type == T_STRING || p->at->type == T_INT ||
                    p->at->type == T_FLOAT || jparse_is_op(p, '[') || jparse_is_op(p, '{');
    for (size_t i = 0; i < sizeof no_argument / sizeof *no_argument; i++)
        if (jparse_is_name(p, no_argument[i])) argument = false;
    if (jparse_skip_op(p, '(')) {
        n->args = jparse_args(p);
        if (!n->args) return NULL;
    } else {
        n->args = jinja_alloc(p->c, 1, sizeof *n->args);
        if (!n->args) return NULL;
        if (argument) {
            jnode *v = parse_postfix(p, parse_primary(p));
            if (!v || !jparse_add(p, &n->args->v, &n->args->n, v)) return NULL;
        }
    }
    if (!negated) return n;
    jnode *outer = jparse_new(p, N_NOT);
    if (outer) outer->a = n;
    return outer;
}

static jnode *parse_filter(jparser *p, jnode *value) {
    if (p->at->type != T_NAME) {
        jparse_fail(p, "the name of a filter");
        return NULL;
    }
    jnode *n = jparse_new(p, N_FILTER);
    if (!n) return NULL;
    n->a = value;
    n->text = p->at->text;
    p->at++;
    n->args = jparse_skip_op(p, '(') ? jparse_args(p) : jinja_alloc(p->c, 1, sizeof *n->args);
    return n->args ? n : NULL;
}

jnode *jparse_filters(jparser *p, jnode *value) {
    jnode *n = parse_filter(p, value);
    while (n && jparse_skip_op(p, '|')) n = parse_filter(p, n);
    return n;
}

static jnode *parse_unary(jparser *p, bool with_filters) {
    if (!jinja_enter(p->c)) return NULL;
    jnode *n;
    if (jparse_is_op(p, '-') || jparse_is_op(p, '+')) {
        jkind kind = jparse_is_op(p, '-') ? N_NEGATE : N_PLUS;
        p->at++;
        n = jparse_new(p, kind);
        if (n) n->a = parse_unary(p, false);
    } else {
        n = parse_primary(p);
    }
    n = parse_postfix(p, n);
    while (n && with_filters && !p->c->failed) {
        if (jparse_skip_op(p, '|'))
            n = parse_filter(p, n);
        else if (jparse_skip_name(p, "is"))
            n = parse_test(p, n);
        else if (jparse_skip_op(p, '('))
            n = parse_call(p, n);
        else
            break;
    }
    p->c->depth--;
    return p->c->failed ? NULL : n;
}

/* ---- tuples and targets ---- */

static bool tuple_ends(const jparser *p) {
    return p->at->type == T_VAR_END || p->at->type == T_BLOCK_END || jparse_is_op(p, ')') ||
           jparse_is_op(p, '=') || jparse_is_name(p, "in");
}

jnode *jparse_tuple(jparser *p, bool no_cond) {
    jnode *first = no_cond ? parse_or(p) : jparse_expression(p);
    if (!first || !jparse_is_op(p, ',')) return first;
    jnode *n = jparse_new(p, N_TUPLE);
    if (!n || !jparse_add(p, &n->kids, &n->n_kids, first)) return NULL;
    while (jparse_skip_op(p, ',') && !tuple_ends(p)) {
        jnode *item = no_cond ? parse_or(p) : jparse_expression(p);
        if (!item || !jparse_add(p, &n->kids, &n->n_kids, item)) return NULL;
    }
    return n;
}

static jnode *parse_one_target(jparser *p) {
    if (jparse_skip_op(p, '(')) {
        jnode *n = jinja_enter(p->c) ? jparse_target(p) : NULL;
        if (n) p->c->depth--;
        return n && jparse_expect_op(p, ')') ? n : NULL;
    }
    if (p->at->type != T_NAME) {
        jparse_fail(p, "a name to assign to");
        return NULL;
    }
    jnode *n = jparse_new(p, N_NAME);
    if (!n) return NULL;
    n->text = p->at->text;
    n->name = jparse_name(p, p->at->text);
    p->at++;
    if (!jparse_skip_op(p, '.')) return n;
    jnode *attr = jparse_new(p, N_ATTR);
    if (!attr || p->at->type != T_NAME) {
        jparse_fail(p, "a name behind the dot");
        return NULL;
    }
    attr->a = n;
    attr->text = p->at->text;
    p->at++;
    return attr;
}

jnode *jparse_target(jparser *p) {
    jnode *first = parse_one_target(p);
    if (!first || !jparse_is_op(p, ',')) return first;
    jnode *n = jparse_new(p, N_TUPLE);
    if (!n || !jparse_add(p, &n->kids, &n->n_kids, first)) return NULL;
    while (jparse_skip_op(p, ',') && !tuple_ends(p)) {
        jnode *item = parse_one_target(p);
        if (!item || !jparse_add(p, &n->kids, &n->n_kids, item)) return NULL;
    }
    return n;
}
