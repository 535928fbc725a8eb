/* jinja.h - the Jinja subset that chat templates are written in: what its files share. Callers use
 * engine/chat/chat_template.h.
 *
 *   jinja_lex.c      template text -> tokens, white-space control
 *   jinja_parse.c    tokens -> statements;  jinja_parse_expr.c  -> expressions
 *   jinja_eval.c     statements and scopes; jinja_expr.c  expressions, calls
 *   jinja_filters.c  filters and tests;     jinja_methods.c  methods of strings, lists, dicts
 *   jinja_value.c    values: memory, text, JSON, comparison
 *
 * Templates come out of model files: they are hostile. Memory, steps, nesting and output are
 * bounded (struct jinja). The first error sticks in `failed`; whatever loops checks it; functions
 * that failed return undefined. Everything lives in one arena that is freed as a whole.
 * Source: the Jinja template designer documentation; behaviour as Jinja 3.1 with trim_blocks and
 * lstrip_blocks, in Python's sandbox. Indices and lengths of strings count code points. */
#ifndef FORAGE_ENGINE_JINJA_H
#define FORAGE_ENGINE_JINJA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "kernels/buf.h"
#include "kernels/error.h"

struct cJSON;

/* ---- values ---- */

typedef enum jtype {
    J_UNDEFINED, /* s: the name that was looked up */
    J_NONE,
    J_BOOL,
    J_INT,
    J_FLOAT,
    J_STRING,
    J_LIST,
    J_TUPLE,
    J_DICT,
    J_NAMESPACE,
    J_LOOP,
    J_MACRO,
    J_FUNCTION, /* i: one of the built-in functions */
    J_METHOD,
} jtype;

typedef struct jstr {
    const char *p; /* valid UTF-8 */
    size_t n;      /* bytes */
} jstr;

typedef struct jval {
    jtype type;
    union {
        bool b;
        int64_t i;
        double f;
        const jstr *s;
        struct jlist *list; /* list and tuple */
        struct jdict *dict; /* dict and namespace */
        struct jloop *loop;
        struct jmacro *macro;
        struct jmethod *method;
    };
} jval;

typedef struct jlist {
    jval *v;
    size_t n, cap;
} jlist;

typedef struct jdict { /* in order of insertion */
    jval *k, *v;
    size_t n, cap;
} jdict;

typedef struct jloop {
    const jlist *items;
    size_t index0, length;
    jval changed; /* what loop.changed() saw last */
} jloop;

typedef struct jmethod {
    jval self;
    jstr name;
} jmethod;

typedef struct jcall { /* arguments of a filter, test, function, method or macro */
    const jval *v;
    size_t n;
    const jstr *kw_name;
    const jval *kw;
    size_t n_kw;
} jcall;

/* ---- the machine ---- */

typedef struct jinja {
    struct jchunk *chunks; /* arena */
    size_t bytes, max_bytes;
    uint64_t steps, max_steps;
    int depth, max_depth;
    size_t out_bytes, max_out;
    uint32_t line; /* of the node at work, for messages */
    int failed;    /* FO_*; 0 while all is well */
    bool raised;   /* it was raise_exception */
    fo_err *err;
    /* rendering only */
    fo_buf *out;
    const struct jtemplate *template;
    int year, month, day; /* what strftime_now says */
} jinja;

/* Record the first error, "template line N: ..."; returns undefined. */
jval jinja_fail(jinja *c, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
bool jinja_charge(jinja *c, size_t steps); /* false: failed (now or before) */
bool jinja_enter(jinja *c);                /* one level deeper; pair with c->depth-- if true */
void *jinja_alloc(jinja *c, size_t n, size_t size); /* zeroed; NULL: failed */
/* Is a text that is being made longer than what the arena has room for? Then it fails, now or before. Whatever makes text
 * longer than what it is made of asks after each piece. */
bool jinja_too_long(jinja *c, const fo_buf *text);
void jinja_deinit(jinja *c); /* frees the arena */

/* ---- jinja_value.c ---- */

#define J_UNDEF ((jval){.type = J_UNDEFINED})
#define J_NULL  ((jval){.type = J_NONE})

static inline jval j_bool(bool b) {
    return (jval){.type = J_BOOL, .b = b};
}
static inline jval j_int(int64_t i) {
    return (jval){.type = J_INT, .i = i};
}
static inline jval j_float(double f) {
    return (jval){.type = J_FLOAT, .f = f};
}
static inline bool j_is_list(jval v) {
    return v.type == J_LIST || v.type == J_TUPLE;
}
static inline bool j_is_number(jval v) {
    return v.type == J_INT || v.type == J_FLOAT || v.type == J_BOOL;
}

jval j_string(jinja *c, const char *p, size_t n);    /* copied */
jval j_string_at(jinja *c, const char *p, size_t n); /* p outlives the arena */
jval j_from_buf(jinja *c, fo_buf *b);                /* copied; b is freed; fails if b failed */
jval j_list(jinja *c, jtype list_or_tuple, size_t cap);
bool j_push(jinja *c, jlist *l, jval v);
jval j_dict(jinja *c, jtype dict_or_namespace, size_t cap);
bool j_put(jinja *c, jdict *d, jval key, jval value);
const jval *j_get(jinja *c, const jdict *d, jval key); /* NULL: none */
const jval *j_get_str(jinja *c, const jdict *d, jstr key);
/* Strings stay in the cJSON tree. Of a number that has a valuestring those are the digits, which no double holds. */
jval j_from_json(jinja *c, const struct cJSON *json);
bool j_is(jstr s, const char *text);

bool j_truth(jval v);
bool j_equal(jinja *c, jval a, jval b);
int j_compare(jinja *c, jval a, jval b); /* <0, 0, >0; fails where Python would */
const char *j_type_name(jval v);
double j_number(jval v); /* of bool, int or float */

/* Append str(v) (quoted as repr(v) inside containers). */
void j_print(jinja *c, fo_buf *out, jval v);
void j_repr(jinja *c, fo_buf *out, jval v);
jval j_to_string(jinja *c, jval v); /* itself if it is a string */
typedef struct jdump {
    int indent; /* how often `unit` is written a level; -1: all on one line */
    jstr unit;
    bool ascii, sort;
    jstr item_sep, key_sep;
} jdump;
void j_dump(jinja *c, fo_buf *out, jval v, const jdump *how);

/* Code points, and slices by them. */
size_t j_length(jstr s);
jval j_slice_string(jinja *c, jstr s, const jval bounds[3]);
jval j_slice_list(jinja *c, jval list, const jval bounds[3]);

/* A fresh list of what iterating over v gives: items, keys, characters. Undefined: nothing. */
jval j_iterate(jinja *c, jval v);

/* ---- tokens ---- */

typedef enum jtok {
    T_END,
    T_DATA,
    T_VAR_BEGIN,
    T_VAR_END,
    T_BLOCK_BEGIN,
    T_BLOCK_END,
    T_NAME,
    T_INT,
    T_FLOAT,
    T_STRING,
    T_OP, /* op: its one or two characters */
} jtok;

#define J_OP2(a, b) ((a) | (b) << 8)

typedef struct jtoken {
    jtok type;
    int op;
    uint32_t line;
    jstr text;  /* data, name, decoded string */
    jval value; /* numbers */
} jtoken;

/* Tokens in the arena, the last of them T_END. False: failed. */
bool jinja_lex(jinja *c, const char *text, size_t n, const jtoken **tokens);

/* ---- syntax tree ---- */

typedef enum jkind {
    /* expressions */
    N_CONST, /* val */
    N_NAME,  /* name */
    N_LIST,  /* kids */
    N_TUPLE,
    N_DICT,   /* kids: key, value, ... */
    N_ATTR,   /* a, text */
    N_ITEM,   /* a [b] */
    N_SLICE,  /* a, kids[3], each may be NULL */
    N_CALL,   /* a, args */
    N_FILTER, /* a (NULL in a filter block), text, args */
    N_TEST,   /* a, text, args */
    N_NEGATE,
    N_PLUS,
    N_NOT,
    N_AND,
    N_OR,
    N_BINARY,  /* a op b */
    N_COMPARE, /* a, then kids with their op fields */
    N_OPERAND, /* of a comparison: op, a */
    N_COND,    /* b if a else c (NULL) */
    /* statements */
    N_TEXT,         /* text */
    N_PRINT,        /* a */
    N_IF,           /* a: test, body; c: else (N_BODY or N_IF) */
    N_FOR,          /* a: target, b: iterable, c: filter; body; d: else */
    N_SET,          /* a: target, b: value */
    N_SET_BLOCK,    /* a: target, b: filters or NULL, body */
    N_MACRO,        /* name, args->kw: parameters with defaults, body */
    N_CALL_BLOCK,   /* a: call, args: the caller's parameters, body */
    N_FILTER_BLOCK, /* b: filters, body */
    N_WITH,         /* args->kw; body */
    N_DO,           /* a */
    N_BREAK,
    N_CONTINUE,
    N_BODY, /* body */
} jkind;

typedef struct jargs {
    struct jnode **v;
    size_t n;
    jstr *kw_name;
    struct jnode **kw; /* NULL: a parameter without a default */
    size_t n_kw;
} jargs;

typedef struct jnode {
    jkind kind;
    int op;
    uint32_t line, name;
    jval val;
    jstr text;
    struct jnode *a, *b, *c, *d;
    struct jnode **kids; /* of expressions, or the statements of a body */
    size_t n_kids;
    jargs *args;
} jnode;

typedef struct jtemplate { /* immutable after parsing */
    jnode *root;
    const jstr *names; /* identifiers by number */
    size_t n_names;
} jtemplate;

bool jinja_parse(jinja *c, const char *text, size_t n, jtemplate *out);

/* Between jinja_parse.c and jinja_parse_expr.c. */
typedef struct jparser {
    jinja *c;
    const jtoken *at;
    jstr *names;
    size_t n_names, cap_names;
    int loops; /* open for loops, for break and continue */
} jparser;

jnode *jparse_new(jparser *p, jkind kind); /* NULL: failed */
bool jparse_add(jparser *p, jnode ***list, size_t *n, jnode *item);
uint32_t jparse_name(jparser *p, jstr name);
bool jparse_is_op(const jparser *p, int op);
bool jparse_is_name(const jparser *p, const char *name);
bool jparse_skip_op(jparser *p, int op);
bool jparse_skip_name(jparser *p, const char *name);
bool jparse_expect_op(jparser *p, int op);
void jparse_fail(jparser *p, const char *wanted);
jnode *jparse_expression(jparser *p);
/* a, b, c: a tuple where there is a comma; ends where no_cond also before `if`. */
jnode *jparse_tuple(jparser *p, bool no_cond);
jnode *jparse_target(jparser *p);                /* names to assign to */
jnode *jparse_filters(jparser *p, jnode *value); /* name(args)|name ... */

/* ---- running ---- */

typedef struct jvar {
    uint32_t name;
    jval v;
} jvar;

typedef struct jscope {
    struct jscope *parent;
    jvar *vars;
    size_t n, cap;
} jscope;

typedef struct jmacro {
    const jnode *node; /* N_MACRO or N_CALL_BLOCK */
    jscope *scope;     /* where it was defined */
} jmacro;

enum { F_RANGE, F_NAMESPACE, F_DICT, F_RAISE, F_STRFTIME };

bool jscope_set(jinja *c, jscope *s, uint32_t name, jval v);

jval jinja_eval(jinja *c, jscope *s, const jnode *n);
jval jinja_eval_filters(jinja *c, jscope *s, const jnode *n, jval input); /* of a filter block */
void jinja_run(jinja *c, const jtemplate *t, jscope *globals);
jval jinja_call_macro(jinja *c, const jmacro *m, const jcall *args, const jval *caller);

jval jinja_attr(jinja *c, jval v, jstr name);
jval jinja_item(jinja *c, jval v, jval key);
bool jinja_contains(jinja *c, jval container, jval item);
jval jinja_call_value(jinja *c, jval f, const jcall *args, const jval *caller);

/* Argument number i, or by keyword; `otherwise` where it was not given. */
jval jarg(const jcall *a, size_t i, const char *name, jval otherwise);
jval jinja_filter(jinja *c, jstr name, jval v, const jcall *args);
bool jinja_test(jinja *c, jstr name, jval v, const jcall *args);
bool jinja_has_method(jval self, jstr name);
jval jinja_method(jinja *c, jval self, jstr name, const jcall *args);

/* Shared between filters and methods. */
bool jinja_is_blank(int32_t cp); /* as strip() and split() see it */
/* Where the line that begins at s[at] ends; *behind: its break, as splitlines() knows them; s.n: it has none. */
size_t jstr_line_end(jstr s, size_t at, size_t *behind);
jval jstr_strip(jinja *c, jstr s, const jval *chars, bool left, bool right);
jval jstr_replace(jinja *c, jstr s, jstr from, jstr to, int64_t limit);
typedef enum jcase { J_UPPER, J_LOWER, J_CAPITALIZE, J_TITLE } jcase;
jval jstr_case(jinja *c, jstr s, jcase how);
jval jstr_format(jinja *c, jstr s, const jval *args, size_t n); /* printf style */
jval jdict_items(jinja *c, const jdict *d);

#endif
