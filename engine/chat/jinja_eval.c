/* jinja_eval.c - statements: scopes, loops, macros, output.
 *
 * Scopes are chains of short arrays. A for loop's body has a fresh one in every iteration (what it sets
 * does not outlive that), and so has a body that is captured; `if` has none, a macro's hangs below the one it was
 * defined in. */
#include <string.h>

#include "engine/chat/jinja.h"

typedef enum flow { FLOW_ON, FLOW_BREAK, FLOW_CONTINUE } flow;

enum { NAME_LOOP = 0 }; /* jinja_parse interns it first */

static flow run(jinja *c, jscope *s, const jnode *n);

bool jscope_set(jinja *c, jscope *s, uint32_t name, jval v) {
    if (!jinja_charge(c, s->n / 16)) return false;
    for (size_t i = 0; i < s->n; i++)
        if (s->vars[i].name == name) {
            s->vars[i].v = v;
            return true;
        }
    if (s->n == s->cap) {
        size_t cap = s->cap ? s->cap * 2 : 8;
        jvar *grown = jinja_alloc(c, cap, sizeof *grown);
        if (!grown) return false;
        if (s->n) memcpy(grown, s->vars, s->n * sizeof *grown);
        s->vars = grown;
        s->cap = cap;
    }
    s->vars[s->n++] = (jvar){name, v};
    return true;
}

static bool jinja_assign(jinja *c, jscope *s, const jnode *target, jval v) {
    if (c->failed) return false;
    if (target->kind == N_NAME) return jscope_set(c, s, target->name, v);
    if (target->kind == N_ATTR) {
        jval ns = jinja_eval(c, s, target->a);
        if (c->failed) return false;
        if (ns.type != J_NAMESPACE) {
            jinja_fail(c, FO_EINVAL, "cannot assign an attribute to a %s, only to a namespace",
                       j_type_name(ns));
            return false;
        }
        jval key = j_string_at(c, target->text.p, target->text.n);
        return j_put(c, ns.dict, key, v);
    }
    jval items = j_iterate(c, v); /* a tuple of targets */
    if (c->failed) return false;
    if (items.list->n != target->n_kids) {
        jinja_fail(c, FO_EINVAL, "%zu values for %zu names", items.list->n, target->n_kids);
        return false;
    }
    for (size_t i = 0; i < target->n_kids; i++)
        if (!jinja_assign(c, s, target->kids[i], items.list->v[i])) return false;
    return true;
}

static void jinja_write(jinja *c, const char *p, size_t n) {
    if (!n || !jinja_charge(c, n / 64)) return;
    if (n > c->max_out - c->out_bytes) {
        jinja_fail(c, FO_ELIMIT, "more than %zu MiB of output", c->max_out >> 20);
        return;
    }
    c->out_bytes += n;
    fo_buf_add(c->out, p, n);
    if (c->out->failed) jinja_fail(c, FO_ENOMEM, "out of memory");
}

static void print(jinja *c, jval v) {
    if (v.type == J_STRING) {
        jinja_write(c, v.s->p, v.s->n);
    } else if (v.type != J_UNDEFINED) {
        jval text = j_to_string(c, v);
        if (!c->failed) jinja_write(c, text.s->p, text.s->n);
    }
}

/* What a body prints, as a string, and how it was left. */
static jval capture(jinja *c, jscope *s, const jnode *body, flow *left) {
    fo_buf b = {0}, *outer = c->out;
    jscope *scope = jinja_alloc(c, 1, sizeof *scope);
    *left = FLOW_ON;
    if (!scope) return J_UNDEF;
    scope->parent = s;
    c->out = &b;
    *left = run(c, scope, body);
    c->out = outer;
    return j_from_buf(c, &b);
}

/* {% set x %}...{% endset %} and {% filter f %}...{% endfilter %}: left by break or continue, it is as if the block
 * had not been there. */
static flow run_captured(jinja *c, jscope *s, const jnode *n) {
    flow left;
    jval v = capture(c, s, n->c, &left);
    if (c->failed || left != FLOW_ON) return left;
    if (n->b) v = jinja_eval_filters(c, s, n->b, v);
    if (c->failed) return FLOW_ON;
    if (n->kind == N_SET_BLOCK)
        jinja_assign(c, s, n->a, v);
    else
        print(c, v);
    return FLOW_ON;
}

static flow run_body(jinja *c, jscope *s, const jnode *n) {
    for (size_t i = 0; i < n->n_kids && !c->failed; i++) {
        flow f = run(c, s, n->kids[i]);
        if (f != FLOW_ON) return f;
    }
    return FLOW_ON;
}

static flow run_if(jinja *c, jscope *s, const jnode *n) {
    for (; n && !c->failed; n = n->c) {
        if (n->kind == N_BODY) return run(c, s, n);
        c->line = n->line;
        jval test = jinja_eval(c, s, n->a);
        if (c->failed) break;
        if (j_truth(test)) return run(c, s, n->b);
    }
    return FLOW_ON;
}

/* The items that pass `for ... if`: the condition sees the loop's names, but not `loop`. */
static jval filter_items(jinja *c, jscope *s, const jnode *n, jval items) {
    jval kept = j_list(c, J_LIST, 0);
    for (size_t i = 0; i < items.list->n && !c->failed; i++) {
        jscope scope = {.parent = s};
        if (!jinja_assign(c, &scope, n->a, items.list->v[i])) break;
        jval pass = jinja_eval(c, &scope, n->c);
        if (!c->failed && j_truth(pass)) j_push(c, kept.list, items.list->v[i]);
    }
    return c->failed ? J_UNDEF : kept;
}

static flow run_for(jinja *c, jscope *s, const jnode *n) {
    jval source = jinja_eval(c, s, n->b);
    if (c->failed) return FLOW_ON;
    jval items = j_iterate(c, source);
    if (!c->failed && n->c) items = filter_items(c, s, n, items);
    if (c->failed) return FLOW_ON;
    if (!items.list->n) return n->d ? run(c, s, n->d) : FLOW_ON;
    jloop *loop = jinja_alloc(c, 1, sizeof *loop);
    if (!loop) return FLOW_ON;
    *loop = (jloop){.items = items.list, .length = items.list->n};
    for (size_t i = 0; i < loop->length && jinja_charge(c, 1); i++) {
        /* On the heap, not here: a macro defined in the body keeps it. */
        jscope *scope = jinja_alloc(c, 1, sizeof *scope);
        if (!scope) break;
        scope->parent = s;
        loop->index0 = i;
        jscope_set(c, scope, NAME_LOOP, (jval){.type = J_LOOP, .loop = loop});
        if (!jinja_assign(c, scope, n->a, items.list->v[i])) break;
        if (run(c, scope, n->kids[0]) == FLOW_BREAK) break;
    }
    return FLOW_ON;
}

static void define_macro(jinja *c, jscope *s, const jnode *n) {
    jmacro *m = jinja_alloc(c, 1, sizeof *m);
    if (!m) return;
    *m = (jmacro){n, s};
    jscope_set(c, s, n->name, (jval){.type = J_MACRO, .macro = m});
}

static uint32_t name_number(jinja *c, jstr name) {
    const jtemplate *t = c->template;
    if (!jinja_charge(c, t->n_names / 16)) return UINT32_MAX;
    for (size_t i = 0; i < t->n_names; i++)
        if (t->names[i].n == name.n && memcmp(t->names[i].p, name.p, name.n) == 0)
            return (uint32_t)i;
    return UINT32_MAX; /* the parser interned every parameter and "caller" */
}

jval jinja_call_macro(jinja *c, const jmacro *m, const jcall *args, const jval *caller) {
    const jargs *params = m->node->args;
    /* Names of arguments are looked for among the parameters'. */
    if (!jinja_charge(c, args->n_kw * params->n_kw / 16) || !jinja_enter(c)) return J_UNDEF;
    jscope *scope = jinja_alloc(c, 1, sizeof *scope);
    jstr name = m->node->text;
    if (scope && args->n > params->n_kw)
        jinja_fail(c, FO_EINVAL, "%.*s() takes %zu arguments, not %zu", (int)name.n, name.p,
                   params->n_kw, args->n);
    for (size_t k = 0; k < args->n_kw && !c->failed; k++) {
        bool known = false;
        for (size_t i = 0; i < params->n_kw; i++)
            known |= params->kw_name[i].n == args->kw_name[k].n &&
                     memcmp(params->kw_name[i].p, args->kw_name[k].p, args->kw_name[k].n) == 0;
        if (!known)
            jinja_fail(c, FO_EINVAL, "%.*s() has no parameter %.*s", (int)name.n, name.p,
                       (int)args->kw_name[k].n, args->kw_name[k].p);
    }
    if (scope) scope->parent = m->scope;
    for (size_t i = 0; i < params->n_kw && !c->failed; i++) {
        jval v = J_UNDEF;
        bool given = i < args->n;
        if (given) v = args->v[i];
        for (size_t k = 0; k < args->n_kw && !given; k++)
            if (params->kw_name[i].n == args->kw_name[k].n &&
                memcmp(params->kw_name[i].p, args->kw_name[k].p, args->kw_name[k].n) == 0) {
                v = args->kw[k];
                given = true;
            }
        if (!given && params->kw[i]) v = jinja_eval(c, scope, params->kw[i]);
        jscope_set(c, scope, name_number(c, params->kw_name[i]), v);
    }
    jval out = J_UNDEF;
    flow left;
    if (!c->failed && m->node->kind == N_MACRO)
        jscope_set(c, scope, name_number(c, (jstr){"caller", 6}), caller ? *caller : J_UNDEF);
    if (!c->failed) out = capture(c, scope, m->node->b, &left);
    c->depth--;
    return out;
}

static void run_call_block(jinja *c, jscope *s, const jnode *n) {
    jmacro *m = jinja_alloc(c, 1, sizeof *m);
    if (!m) return;
    *m = (jmacro){n, s};
    jval caller = {.type = J_MACRO, .macro = m};
    jval f = jinja_eval(c, s, n->a->a);
    jval v[8], kw[8];
    jargs *a = n->a->args;
    if (a->n > 8 || a->n_kw > 8) {
        jinja_fail(c, FO_ELIMIT, "more than 8 arguments in a call block");
        return;
    }
    for (size_t i = 0; i < a->n && !c->failed; i++) v[i] = jinja_eval(c, s, a->v[i]);
    for (size_t i = 0; i < a->n_kw && !c->failed; i++) kw[i] = jinja_eval(c, s, a->kw[i]);
    if (c->failed) return;
    jcall call = {v, a->n, a->kw_name, kw, a->n_kw};
    jval out = jinja_call_value(c, f, &call, &caller);
    if (!c->failed) print(c, out);
}

static flow run_with(jinja *c, jscope *s, const jnode *n) {
    jscope *scope = jinja_alloc(c, 1, sizeof *scope);
    if (!scope) return FLOW_ON;
    scope->parent = s;
    for (size_t i = 0; i < n->n_kids && !c->failed; i++) {
        jval v = jinja_eval(c, s, n->kids[i]->b);
        if (!c->failed) jinja_assign(c, scope, n->kids[i]->a, v);
    }
    return c->failed ? FLOW_ON : run(c, scope, n->b);
}

static flow run(jinja *c, jscope *s, const jnode *n) {
    if (!jinja_enter(c)) return FLOW_ON;
    c->line = n->line;
    flow f = FLOW_ON;
    jval v;
    switch (n->kind) {
    case N_BODY:
        f = run_body(c, s, n);
        break;
    case N_TEXT:
        jinja_write(c, n->text.p, n->text.n);
        break;
    case N_PRINT:
        v = jinja_eval(c, s, n->a);
        if (!c->failed) print(c, v);
        break;
    case N_IF:
        f = run_if(c, s, n);
        break;
    case N_FOR:
        f = run_for(c, s, n);
        break;
    case N_SET:
        v = jinja_eval(c, s, n->b);
        jinja_assign(c, s, n->a, v);
        break;
    case N_SET_BLOCK:
    case N_FILTER_BLOCK:
        f = run_captured(c, s, n);
        break;
    case N_MACRO:
        define_macro(c, s, n);
        break;
    case N_CALL_BLOCK:
        run_call_block(c, s, n);
        break;
    case N_WITH:
        f = run_with(c, s, n);
        break;
    case N_DO:
        jinja_eval(c, s, n->a);
        break;
    case N_BREAK:
        f = FLOW_BREAK;
        break;
    case N_CONTINUE:
        f = FLOW_CONTINUE;
        break;
    default:
        jinja_fail(c, FO_EINVAL, "not a statement");
    }
    c->depth--;
    return c->failed ? FLOW_ON : f;
}

void jinja_run(jinja *c, const jtemplate *t, jscope *globals) {
    jscope *module = jinja_alloc(c, 1, sizeof *module);
    if (!module) return;
    module->parent = globals;
    c->template = t;
    run(c, module, t->root);
}
