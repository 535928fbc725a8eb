#include "retrieval/answer/asked_settings.h"

#include <string.h>

#include "kernels/utf8.h"
#include "retrieval/answer/dated_headings.h"

static const char nouns[] =
    "option options setting settings directive directives variable variables "
    "parameter parameters keyword keywords flag flags switch";

bool asked_settings_which(const char *asked, size_t len) {
    enum { AMONG = 4 }; /* "which Quercus configuration setting" */
    size_t at = 0;
    word_token t = word_token_next(asked, len, &at);
    if (!word_token_in("which what", &t)) return false;
    for (size_t i = 0; i < AMONG; i++) {
        t = word_token_next(asked, len, &at);
        if (word_token_in(nouns, &t)) return true;
        if (word_token_in("is are was do does did the of", &t)) return false;
    }
    return false;
}

word_token asked_settings_named(const char *asked, size_t len) {
    static const char no_name[] =
        "which what the a an this that any no some other same each every its your my command line "
        "configuration config default boolean s main global special of";
    static const char kinds[] =
        "mount boot kernel compiler linker build"; /* "noatime mount option" */
    word_token first = {0}, before = {0}, t;
    for (size_t at = 0; (t = word_token_next(asked, len, &at)).n; first = before, before = t) {
        if (!before.letters || !word_token_in(nouns, &t) || word_token_in(no_name, &before))
            continue;
        const bool of_kind = word_token_in(kinds, &before) && first.letters;
        return of_kind && !word_token_in(no_name, &first) ? first : before;
    }
    return (word_token){0};
}

/* Could it be what a setting is called? "--all", "idle_close", "log.level", "maxSize", "%name". */
static bool is_like_a_name(const char *s, size_t n) {
    if (!n) return false;
    if (strchr("`%", s[0])) return n > 2;
    if (s[0] == '-') return n > 1 && (fo_is_letter(s[1]) || (s[1] == '-' && n > 3));
    for (size_t i = 1; i + 1 < n; i++) {
        if (strchr("_=", s[i])) return true;
        if (strchr(".:-", s[i]) && fo_is_letter(s[i - 1]) && fo_is_letter(s[i + 1]) && s[i] != '-')
            return true;
        if (fo_is_upper(s[i]) && fo_is_letter(s[i - 1])) return true; /* "maxSize", "TMPDIR" */
    }
    return false;
}

static bool says_a_name(const char *text, uint32_t at, uint32_t end) {
    while (at < end) {
        while (at < end && (fo_is_blank(text[at]) || strchr("([{", text[at]))) at++;
        const uint32_t from = at;
        while (at < end && !fo_is_blank(text[at])) at++;
        if (is_like_a_name(text + from, at - from)) return true;
    }
    return false;
}

/* Does it, or what it stands below: an entry, or a heading of one word that is not that of all changes, "Fixed"? */
static bool may_name_one(const candidate_passage *p, const candidate *c) {
    const text_unit *u = &c->unit;
    const char *text = p->text.text;
    const size_t n = u->head_end - u->head_start;
    if (u->kind == TEXT_UNIT_DEFINITION || u->kind == TEXT_UNIT_ROW || u->kind == TEXT_UNIT_STEPS)
        return true;
    if (n && u->head_kind == TEXT_UNIT_DEFINITION) return true;
    if (n && u->head_kind == TEXT_UNIT_HEADING && !memchr(text + u->head_start, ' ', n) &&
        !dated_heading_of_changes(text + u->head_start, n))
        return true;
    return says_a_name(text, u->start, u->end) || says_a_name(text, u->head_start, u->head_end);
}

/* The first word of what an entry is called. */
static word_token called(const candidate_passage *p, const text_unit *u) {
    const char *s = p->text.text + u->start;
    size_t n = u->kind == TEXT_UNIT_DEFINITION && u->body > u->start ? u->body - u->start : 0,
           at = 0;
    while (n && strchr("-+", *s)) s++, n--;
    return n ? word_token_next(s, n, &at) : (word_token){0};
}

static bool is_called(const candidate_passage *p, const text_unit *u, const word_token *name) {
    const word_token own = called(p, u);
    return own.n == name->n && memcmp(own.s, name->s, own.n) == 0 &&
           !strchr("-_.", own.s[own.n]); /* "database" is not "database-file" */
}

static void mark_others(candidate_set *set) {
    const word_token name = asked_settings_named(set->q.text.text, set->q.text.len);
    bool there = false;
    for (size_t i = 0; name.n && !there && i < set->n; i++)
        there = is_called(&set->passages[set->c[i].passage], &set->c[i].unit, &name);
    for (size_t i = 0; there && i < set->n; i++) {
        candidate *c = &set->c[i];
        const candidate_passage *p = &set->passages[c->passage];
        if (is_called(p, &c->unit, &name))
            c->f[CAND_TOPIC] = 1;
        else if (c->unit.kind == TEXT_UNIT_DEFINITION)
            c->f[CAND_OTHER_THING] = CAND_RIVAL;
    }
}

/* "src/window.c" */
static bool is_source_file(const candidate_passage *p, const text_unit *u) {
    static const char *const ends[] = {".c",  ".h",  ".cc", ".cpp", ".py",
                                       ".pl", ".rs", ".go", ".js"};
    if (u->kind != TEXT_UNIT_DEFINITION || u->body <= u->start) return false;
    const char *s = p->text.text + u->start;
    size_t n = u->body - u->start;
    while (n && fo_is_blank(s[n - 1])) n--;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        const size_t k = strlen(ends[i]);
        if (n > k && memcmp(s + n - k, ends[i], k) == 0) return !memchr(s, ' ', n);
    }
    return false;
}

void asked_settings_mark(candidate_set *set) {
    const bool which = asked_settings_which(set->q.text.text, set->q.text.len);
    mark_others(set);
    for (size_t i = 0; i < set->n; i++) {
        candidate *c = &set->c[i];
        const candidate_passage *p = &set->passages[c->passage];
        if (c->f[CAND_NO_AMOUNT] < 1 &&
            ((which && !may_name_one(p, c)) || (set->q.procedure && is_source_file(p, &c->unit))))
            c->f[CAND_NO_AMOUNT] = 1;
    }
}
