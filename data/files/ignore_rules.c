/* A rule is compiled into tokens, which are matched as an automaton over all places at once: no rule, however many
 * stars it has, takes more than its length times that of the path. */
#include "data/files/ignore_rules.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/bits.h"
#include "kernels/paths.h"

enum token_kind {
    TOKEN_BYTE, /* this one */
    TOKEN_ANY,  /* one, but no slash */
    TOKEN_SET,  /* one of a set, but no slash */
    TOKEN_STAR, /* any number, no slash among them */
    TOKEN_DIRS, /* any number of whole folders, each with its slash: the two stars of "**" + "/" */
    TOKEN_REST, /* all that is left: the two stars of "/" + "**" at the end */
};

typedef struct token {
    unsigned char kind, byte;
    uint16_t set; /* into rule.sets */
} token;

typedef struct rule {
    token *tokens;
    uint64_t (*sets)[4]; /* bitmaps of bytes */
    size_t n, n_sets;
    bool negated, folders_only,
        anchored; /* anchored: to its folder; else the last name is matched */
} rule;

struct ignore_rules {
    const ignore_rules *above;
    size_t prefix; /* bytes of a path that are the folder's, with the slash */
    rule *rules;
    size_t n, cap;
};

int ignore_rules_create(ignore_rules **out, const ignore_rules *above, const char *folder,
                        fo_err *err) {
    ignore_rules *r = calloc(1, sizeof *r);
    if (!r) return fo_no_memory(err);
    r->above = above;
    r->prefix = *folder ? strlen(folder) + 1 : 0;
    *out = r;
    return FO_OK;
}

static void rule_deinit(rule *r) {
    free(r->tokens);
    free(r->sets);
}

void ignore_rules_free(ignore_rules *r) {
    if (!r) return;
    for (size_t i = 0; i < r->n; i++) rule_deinit(&r->rules[i]);
    free(r->rules);
    free(r);
}

/* ---- compiling --------------------------------------------------------------------------- */

static bool in_class(const char *name, size_t n, int c) {
    static const struct {
        const char *name;
        int (*is)(int);
    } classes[] = {{"alnum", isalnum}, {"alpha", isalpha}, {"blank", isblank},
                   {"cntrl", iscntrl}, {"digit", isdigit}, {"graph", isgraph},
                   {"lower", islower}, {"print", isprint}, {"punct", ispunct},
                   {"space", isspace}, {"upper", isupper}, {"xdigit", isxdigit}};
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (strlen(classes[i].name) == n && !memcmp(classes[i].name, name, n))
            return c < 0 || (c < 128 && classes[i].is(c)); /* c < 0: is there such a class? */
    return false;
}

/* The set that begins behind `[`; where it ends, behind its `]`; NULL: it is malformed. */
static const char *compile_set(const char *p, const char *end, uint64_t set[4]) {
    memset(set, 0, 32);
    bool negated = p < end && (*p == '!' || *p == '^');
    if (negated) p++;
    int before = -1; /* what a range may begin with */
    for (bool first = true;; first = false) {
        if (p >= end) return NULL;
        if (*p == ']' && !first) break;
        if (*p == '[' && p + 1 < end && p[1] == ':') {
            const char *close = memchr(p + 2, ']', (size_t)(end - p - 2));
            if (!close) return NULL;
            if (close > p + 2 && close[-1] == ':') {
                const char *name = p + 2;
                size_t n = (size_t)(close - 1 - name);
                if (!in_class(name, n, -1)) return NULL;
                for (int c = 1; c < 128; c++)
                    if (in_class(name, n, c)) fo_bits_set(set, (size_t)c);
                before = -1;
                p = close + 1;
                continue;
            }
        }
        bool range = *p == '-' && before >= 0 && p + 1 < end && p[1] != ']';
        if (range) p++;
        if (*p == '\\' && ++p >= end) return NULL;
        int c = (unsigned char)*p++;
        for (int k = range ? before : c; k <= c; k++) fo_bits_set(set, (size_t)k);
        before = range ? -1 : c;
    }
    for (int i = 0; negated && i < 4; i++) set[i] = ~set[i];
    fo_bits_clear(set, '/');
    return p + 1;
}

/* Two stars or more at p: what they mean there. */
static enum token_kind stars(const char *text, const char *p, const char *behind, const char *end,
                             bool anchored) {
    bool begins = p == text || p[-1] == '/';
    if (behind - p != 2 || !begins) return TOKEN_STAR;
    if (behind < end && *behind == '/') return TOKEN_DIRS;
    return behind == end && anchored ? TOKEN_REST : TOKEN_STAR;
}

/* false: it matches nothing. */
static bool compile(rule *r, const char *text, const char *end) {
    for (const char *p = text; p < end;) {
        token *t = &r->tokens[r->n++];
        *t = (token){TOKEN_BYTE, (unsigned char)*p, 0};
        if (*p == '\\') {
            if (++p == end) return false;
            t->byte = (unsigned char)*p++;
        } else if (*p == '?') {
            t->kind = TOKEN_ANY;
            p++;
        } else if (*p == '[') {
            t->kind = TOKEN_SET;
            t->set = (uint16_t)r->n_sets;
            p = compile_set(p + 1, end, r->sets[r->n_sets++]);
            if (!p) return false;
        } else if (*p == '*') {
            const char *behind = p;
            while (behind < end && *behind == '*') behind++;
            t->kind = (unsigned char)stars(text, p, behind, end, r->anchored);
            p = behind + (t->kind == TOKEN_DIRS); /* its slash is part of it */
        } else {
            p++;
        }
    }
    return r->n > 0;
}

/* One line, without its end. */
static int add_line(ignore_rules *to, const char *p, const char *end, fo_err *err) {
    if (end > p && end[-1] == '\r') end--;
    while (end > p && end[-1] == ' ') { /* unless it is quoted */
        size_t n_quotes = 0;
        for (const char *q = end - 1; q > p && q[-1] == '\\'; q--) n_quotes++;
        if (n_quotes % 2) break;
        end--;
    }
    if (p == end || *p == '#' || end - p > IGNORE_RULE_BYTES) return FO_OK;
    rule r = {0};
    if (*p == '!') {
        r.negated = true;
        p++;
    }
    if (end > p && end[-1] == '/') {
        r.folders_only = true;
        end--;
    }
    if (p == end) return FO_OK;
    r.anchored = memchr(p, '/', (size_t)(end - p)) != NULL;
    if (*p == '/') p++;
    if (to->n == to->cap) {
        size_t cap = to->cap ? to->cap * 2 : 16;
        rule *more = realloc(to->rules, cap * sizeof *more);
        if (!more) return fo_no_memory(err);
        to->rules = more;
        to->cap = cap;
    }
    size_t n_sets = 1;
    for (const char *q = p; q < end; q++) n_sets += *q == '[';
    r.tokens = malloc((size_t)(end - p + 1) * sizeof *r.tokens);
    r.sets = malloc(n_sets * sizeof *r.sets);
    if (!r.tokens || !r.sets) {
        rule_deinit(&r);
        return fo_no_memory(err);
    }
    if (compile(&r, p, end))
        to->rules[to->n++] = r;
    else
        rule_deinit(&r);
    return FO_OK;
}

int ignore_rules_add(ignore_rules *r, const char *text, size_t n, fo_err *err) {
    const char *p = text, *end = text + n;
    if (n >= 3 && !memcmp(p, "\xEF\xBB\xBF", 3)) p += 3;
    int rc = FO_OK;
    while (!rc && p < end) {
        const char *stop = memchr(p, '\n', (size_t)(end - p));
        if (!stop) stop = end;
        rc = add_line(r, p, stop, err);
        p = stop + 1;
    }
    return rc;
}

/* ---- matching ---------------------------------------------------------------------------- */

/* A place of the automaton: READY to match token i, or in the MIDDLE of a folder that a TOKEN_DIRS spans. */
enum { READY = 1, MIDDLE = 2 };

/* Where a place is READY, those that its stars let follow are too: each is gone through once for a byte of the path. */
static void enter(const rule *r, unsigned char *at, size_t i) {
    for (; !(at[i] & READY); i++) {
        at[i] |= READY;
        if (i == r->n || r->tokens[i].kind < TOKEN_STAR) return; /* the others match nothing, too */
    }
}

static bool match(const rule *r, const char *path) {
    unsigned char places[2][IGNORE_RULE_BYTES + 1];
    memset(places[0], 0, r->n + 1);
    enter(r, places[0], 0);
    int now = 0;
    for (const char *p = path; *p; p++, now = 1 - now) {
        unsigned char *at = places[now], *next = places[1 - now];
        unsigned char c = (unsigned char)*p;
        bool any = false;
        memset(next, 0, r->n + 1);
        for (size_t i = 0; i < r->n; i++) {
            if (!at[i]) continue;
            const token *t = &r->tokens[i];
            any = true;
            switch (t->kind) {
            case TOKEN_BYTE:
                if (c == t->byte) enter(r, next, i + 1);
                break;
            case TOKEN_ANY:
                if (c != '/') enter(r, next, i + 1);
                break;
            case TOKEN_SET:
                if (fo_bits_get(r->sets[t->set], c)) enter(r, next, i + 1);
                break;
            case TOKEN_STAR:
                if (c != '/') enter(r, next, i);
                break;
            case TOKEN_DIRS:
                if (c == '/')
                    enter(r, next, i);
                else
                    next[i] |= MIDDLE;
                break;
            default:
                enter(r, next, i);
                break;
            }
        }
        if (!any) return false;
    }
    return places[now][r->n] & READY;
}

enum ignore_verdict ignore_rules_judge(const ignore_rules *r, const char *path, bool is_folder) {
    const char *name = fo_base_name(path);
    for (; r; r = r->above) {
        for (size_t i = r->n; i > 0; i--) {
            const rule *k = &r->rules[i - 1];
            if (k->folders_only && !is_folder) continue;
            if (match(k, k->anchored ? path + r->prefix : name))
                return k->negated ? IGNORE_IN : IGNORE_OUT;
        }
    }
    return IGNORE_UNDECIDED;
}
