/* jinja_parse.c - statements: from tokens to the tree that jinja_eval.c walks. */
#include <string.h>

#include "engine/chat/jinja.h"

/* ---- helpers that jinja_parse_expr.c shares ---- */

jnode *jparse_new(jparser *p, jkind kind) {
    jnode *n = jinja_alloc(p->c, 1, sizeof *n);
    if (!n) return NULL;
    n->kind = kind;
    n->line = p->at->line;
    return n;
}

/* Grows at powers of two, so that no capacity need be kept. */
bool jparse_add(jparser *p, jnode ***list, size_t *n, jnode *item) {
    if ((*n & (*n - 1)) == 0) {
        jnode **grown = jinja_alloc(p->c, *n ? *n * 2 : 1, sizeof *grown);
        if (!grown) return false;
        if (*n) memcpy(grown, *list, *n * sizeof *grown);
        *list = grown;
    }
    (*list)[(*n)++] = item;
    return true;
}

uint32_t jparse_name(jparser *p, jstr name) {
    jinja_charge(p->c, 1 + p->n_names / 16);
    for (size_t i = 0; i < p->n_names; i++)
        if (p->names[i].n == name.n && memcmp(p->names[i].p, name.p, name.n) == 0)
            return (uint32_t)i;
    if (p->n_names == p->cap_names) {
        size_t cap = p->cap_names ? p->cap_names * 2 : 32;
        jstr *grown = jinja_alloc(p->c, cap, sizeof *grown);
        if (!grown) return 0;
        if (p->n_names) memcpy(grown, p->names, p->n_names * sizeof *grown);
        p->names = grown;
        p->cap_names = cap;
    }
    p->names[p->n_names] = name;
    return (uint32_t)p->n_names++;
}

bool jparse_is_op(const jparser *p, int op) {
    return p->at->type == T_OP && p->at->op == op;
}

bool jparse_is_name(const jparser *p, const char *name) {
    return p->at->type == T_NAME && j_is(p->at->text, name);
}

bool jparse_skip_op(jparser *p, int op) {
    bool yes = jparse_is_op(p, op);
    p->at += yes;
    return yes;
}

bool jparse_skip_name(jparser *p, const char *name) {
    bool yes = jparse_is_name(p, name);
    p->at += yes;
    return yes;
}

void jparse_fail(jparser *p, const char *wanted) {
    const jtoken *t = p->at;
    p->c->line = t->line;
    if (t->type == T_NAME || t->type == T_STRING)
        jinja_fail(p->c, FO_EINVAL, "expected %s before \"%.*s\"", wanted,
                   (int)(t->text.n < 40 ? t->text.n : 40), t->text.p);
    else if (t->type == T_OP)
        jinja_fail(p->c, FO_EINVAL, "expected %s before \"%c%c\"", wanted, t->op & 255,
                   t->op > 255 ? t->op >> 8 : ' ');
    else
        jinja_fail(p->c, FO_EINVAL, "expected %s before the end of the tag", wanted);
}

bool jparse_expect_op(jparser *p, int op) {
    if (jparse_skip_op(p, op)) return true;
    char wanted[4] = {'\'', (char)op, '\'', 0};
    jparse_fail(p, wanted);
    return false;
}

/* ---- statements ---- */

static jnode *parse_body(jparser *p, const char *const *ends);

static bool end_of_tag(jparser *p) {
    if (p->at->type == T_BLOCK_END) {
        p->at++;
        return true;
    }
    jparse_fail(p, "the end of the tag");
    return false;
}

/* Behind the tag's name and arguments: the body, then the name of the end tag. */
static jnode *block_body(jparser *p, const char *end) {
    const char *const ends[] = {end, NULL};
    jnode *body = end_of_tag(p) ? parse_body(p, ends) : NULL;
    return body && jparse_skip_name(p, end) ? body : NULL;
}

static jnode *parse_if(jparser *p) {
    static const char *const ends[] = {"elif", "else", "endif", NULL};
    jnode *first = NULL, *last = NULL;
    for (;;) {
        jnode *n = jparse_new(p, N_IF);
        if (!n) return NULL;
        n->a = jparse_tuple(p, false);
        if (!n->a || !end_of_tag(p)) return NULL;
        n->b = parse_body(p, ends);
        if (!n->b) return NULL;
        if (!first)
            first = n;
        else
            last->c = n;
        last = n;
        if (jparse_skip_name(p, "elif")) continue;
        if (jparse_skip_name(p, "else")) {
            last->c = block_body(p, "endif");
            return last->c ? first : NULL;
        }
        return jparse_skip_name(p, "endif") ? first : NULL;
    }
}

static jnode *parse_for(jparser *p) {
    static const char *const ends[] = {"else", "endfor", NULL};
    jnode *n = jparse_new(p, N_FOR);
    if (!n) return NULL;
    n->a = jparse_target(p);
    if (!n->a) return NULL;
    if (!jparse_skip_name(p, "in")) {
        jparse_fail(p, "\"in\"");
        return NULL;
    }
    n->b = jparse_tuple(p, true);
    if (!n->b) return NULL;
    if (jparse_skip_name(p, "if")) {
        n->c = jparse_expression(p);
        if (!n->c) return NULL;
    }
    if (jparse_is_name(p, "recursive")) {
        p->c->line = p->at->line;
        jinja_fail(p->c, FO_EUNSUPPORTED, "recursive loops are not supported");
        return NULL;
    }
    p->loops++;
    jnode *body = end_of_tag(p) ? parse_body(p, ends) : NULL;
    p->loops--;
    if (!body || !jparse_add(p, &n->kids, &n->n_kids, body)) return NULL;
    if (jparse_skip_name(p, "else")) {
        n->d = block_body(p, "endfor");
        return n->d ? n : NULL;
    }
    return jparse_skip_name(p, "endfor") ? n : NULL;
}

static jnode *parse_set(jparser *p) {
    jnode *target = jparse_target(p);
    if (!target) return NULL;
    jnode *n = jparse_new(p, N_SET);
    if (!n) return NULL;
    n->a = target;
    if (jparse_skip_op(p, '=')) {
        n->b = jparse_tuple(p, false);
        return n->b ? n : NULL;
    }
    n->kind = N_SET_BLOCK;
    if (jparse_skip_op(p, '|')) {
        n->b = jparse_filters(p, NULL);
        if (!n->b) return NULL;
    }
    n->c = block_body(p, "endset");
    return n->c ? n : NULL;
}

/* (a, b=1) of a macro or call tag: names in kw_name, defaults or NULL in kw. */
static jargs *parse_parameters(jparser *p) {
    jargs *a = jinja_alloc(p->c, 1, sizeof *a);
    while (a && !jparse_is_op(p, ')')) {
        if (a->n_kw && !jparse_expect_op(p, ',')) return NULL;
        if (jparse_is_op(p, ')')) break;
        if (p->at->type != T_NAME) {
            jparse_fail(p, "the name of a parameter");
            return NULL;
        }
        jstr *names = jinja_alloc(p->c, a->n_kw + 1, sizeof *names);
        if (!names) return NULL;
        if (a->n_kw) memcpy(names, a->kw_name, a->n_kw * sizeof *names);
        names[a->n_kw] = p->at->text;
        a->kw_name = names;
        jparse_name(p, p->at->text);
        p->at++;
        jnode *value = NULL;
        if (jparse_skip_op(p, '=') && !(value = jparse_expression(p))) return NULL;
        if (!jparse_add(p, &a->kw, &a->n_kw, value)) return NULL;
    }
    return a && jparse_expect_op(p, ')') ? a : NULL;
}

static jnode *parse_macro(jparser *p) {
    jnode *n = jparse_new(p, N_MACRO);
    if (!n) return NULL;
    if (p->at->type != T_NAME) {
        jparse_fail(p, "the name of a macro");
        return NULL;
    }
    n->text = p->at->text;
    n->name = jparse_name(p, p->at->text);
    jparse_name(p, (jstr){"caller", 6});
    p->at++;
    if (!jparse_expect_op(p, '(')) return NULL;
    n->args = parse_parameters(p);
    int loops = p->loops; /* break inside a macro does not leave a loop outside */
    p->loops = 0;
    n->b = n->args ? block_body(p, "endmacro") : NULL;
    p->loops = loops;
    return n->b ? n : NULL;
}

static jnode *parse_call_block(jparser *p) {
    jnode *n = jparse_new(p, N_CALL_BLOCK);
    if (!n) return NULL;
    n->text = (jstr){"caller", 6};
    n->args = jparse_skip_op(p, '(') ? parse_parameters(p) : jinja_alloc(p->c, 1, sizeof *n->args);
    if (!n->args) return NULL;
    n->a = jparse_expression(p);
    if (!n->a) return NULL;
    if (n->a->kind != N_CALL) {
        jparse_fail(p, "a call of a macro");
        return NULL;
    }
    int loops = p->loops;
    p->loops = 0;
    n->b = block_body(p, "endcall");
    p->loops = loops;
    return n->b ? n : NULL;
}

static jnode *parse_with(jparser *p) {
    jnode *n = jparse_new(p, N_WITH);
    while (n && p->at->type != T_BLOCK_END) {
        if (n->n_kids && !jparse_expect_op(p, ',')) return NULL;
        jnode *set = jparse_new(p, N_SET);
        if (!set) return NULL;
        set->a = jparse_target(p);
        if (!set->a || !jparse_expect_op(p, '=')) return NULL;
        set->b = jparse_expression(p);
        if (!set->b || !jparse_add(p, &n->kids, &n->n_kids, set)) return NULL;
    }
    if (n) n->b = block_body(p, "endwith");
    return n && n->b ? n : NULL;
}

static jnode *parse_loop_control(jparser *p, jkind kind) {
    if (!p->loops) {
        jparse_fail(p, "a loop around break and continue");
        return NULL;
    }
    return jparse_new(p, kind);
}

static jnode *parse_tag(jparser *p) {
    const jtoken *t = p->at;
    if (t->type != T_NAME) {
        jparse_fail(p, "a statement");
        return NULL;
    }
    p->at++;
    jnode *n;
    if (j_is(t->text, "if")) return parse_if(p);
    if (j_is(t->text, "for")) return parse_for(p);
    if (j_is(t->text, "set")) return parse_set(p);
    if (j_is(t->text, "macro")) return parse_macro(p);
    if (j_is(t->text, "call")) return parse_call_block(p);
    if (j_is(t->text, "with")) return parse_with(p);
    if (j_is(t->text, "break")) return parse_loop_control(p, N_BREAK);
    if (j_is(t->text, "continue")) return parse_loop_control(p, N_CONTINUE);
    if (j_is(t->text, "generation")) { /* of its own: a scope */
        n = jparse_new(p, N_WITH);
        if (n) n->b = block_body(p, "endgeneration");
        return n && n->b ? n : NULL;
    }
    if (j_is(t->text, "filter")) {
        n = jparse_new(p, N_FILTER_BLOCK);
        if (n) n->b = jparse_filters(p, NULL);
        if (!n || !n->b) return NULL;
        n->c = block_body(p, "endfilter");
        return n->c ? n : NULL;
    }
    if (j_is(t->text, "do")) {
        n = jparse_new(p, N_DO);
        if (n) n->a = jparse_tuple(p, false);
        return n && n->a ? n : NULL;
    }
    p->at = t;
    p->c->line = t->line;
    jinja_fail(p->c, FO_EUNSUPPORTED, "the statement \"%.*s\" is not known here",
               (int)(t->text.n < 40 ? t->text.n : 40), t->text.p);
    return NULL;
}

static bool at_end_name(const jparser *p, const char *const *ends) {
    for (size_t i = 0; ends && ends[i]; i++)
        if (jparse_is_name(p, ends[i])) return true;
    return false;
}

/* Statements up to one of the end tags; the parser then stands on that tag's name. */
static jnode *parse_body(jparser *p, const char *const *ends) {
    if (!jinja_enter(p->c)) return NULL;
    jnode *body = jparse_new(p, N_BODY);
    while (body && !p->c->failed) {
        jnode *n = NULL;
        if (p->at->type == T_END) {
            if (!ends) break;
            p->c->line = p->at->line;
            jinja_fail(p->c, FO_EINVAL, "the template ends where \"%s\" is missing", ends[0]);
            break;
        }
        if (p->at->type == T_DATA) {
            n = jparse_new(p, N_TEXT);
            if (n) n->text = p->at->text;
            p->at++;
        } else if (p->at->type == T_VAR_BEGIN) {
            p->at++;
            n = jparse_new(p, N_PRINT);
            if (n) n->a = jparse_tuple(p, false);
            if (n && n->a && p->at->type != T_VAR_END) jparse_fail(p, "the end of the tag");
            p->at++;
        } else {
            p->at++; /* T_BLOCK_BEGIN: nothing else can stand here */
            if (at_end_name(p, ends)) break;
            n = parse_tag(p);
            if (n && !end_of_tag(p)) n = NULL;
        }
        if (!p->c->failed && n) jparse_add(p, &body->kids, &body->n_kids, n);
    }
    p->c->depth--;
    return p->c->failed ? NULL : body;
}

bool jinja_parse(jinja *c, const char *text, size_t n, jtemplate *out) {
    const jtoken *tokens;
    if (!jinja_lex(c, text, n, &tokens)) return false;
    jparser p = {.c = c, .at = tokens};
    jparse_name(&p, (jstr){"loop", 4}); /* number 0: see jinja_eval.c */
    jnode *root = parse_body(&p, NULL);
    if (!root || c->failed) return false;
    *out = (jtemplate){root, p.names, p.n_names};
    return true;
}
