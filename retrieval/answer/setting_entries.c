#include "retrieval/answer/setting_entries.h"

#include <strings.h>

#include "kernels/utf8.h"
#include "kernels/words.h"
#include "retrieval/answer/default_figures.h"
#include "retrieval/text/word_tokens.h"
#include "retrieval/units/table_row.h"

const double setting_entries_support = 0.9;

enum { MOST_NAMES = 4, LONGEST_TAG = 160 };

typedef struct stretch {
    const char *s;
    size_t n;
} stretch;

/* ---- names ----------------------------------------------------------------------------------- */

static bool in_name(char c) {
    return fo_is_letter(c) || fo_is_digit(c) || c == '_' || c == '-' || c == '.';
}

/* The name at or behind byte *at of text[len], which moves behind it; empty: there is none. "-nat-lease", "mail.max_size". */
static stretch next_name(const char *text, size_t len, size_t *at) {
    size_t i = *at;
    while (i < len && !in_name(text[i])) i++;
    const size_t from = i;
    while (i < len && in_name(text[i])) i++;
    *at = i;
    while (i > from && strchr(".-", text[i - 1])) i--; /* the end of a sentence */
    return (stretch){text + from, i - from};
}

static bool is_option(stretch x) {
    const size_t dashes = x.n > 1 && x.s[0] == '-' ? 1 + (x.s[1] == '-') : 0;
    return dashes && x.n > dashes && fo_is_letter(x.s[dashes]);
}

/* Is it like no word of the language: "MAX_SIZE", "maxSize", "-size", "nat-lease", "mail.size"? */
static bool is_setting(stretch x) {
    bool inside = false, letter = false;
    if (is_option(x)) return true;
    for (size_t i = 0; i < x.n; i++) {
        letter |= fo_is_letter(x.s[i]);
        if (i == 0) continue;
        inside |= strchr("_-.", x.s[i]) != NULL;
        inside |= fo_is_upper(x.s[i]) && fo_is_letter(x.s[i - 1]) && !fo_is_upper(x.s[i - 1]);
    }
    return inside && letter && fo_is_letter(x.s[0]);
}

/* Is the name of an entry the one that was asked for? Dashes before it may be left out, and what it is a part of:
 * "options.maxSize". */
static bool is_named(stretch entry, stretch asked) {
    if (!is_option(asked))
        while (entry.n && entry.s[0] == '-') entry.s++, entry.n--;
    if (entry.n < asked.n || memcmp(entry.s + entry.n - asked.n, asked.s, asked.n) != 0)
        return false;
    return entry.n == asked.n || (entry.s[entry.n - asked.n - 1] == '.' && !is_option(asked));
}

/* Does the text say the name, as a word of its own? */
static bool says_name(const char *text, size_t len, stretch asked) {
    for (size_t at = 0;;) {
        const stretch x = next_name(text, len, &at);
        if (!x.n && at >= len) return false;
        if (x.n && is_named(x, asked)) return true;
    }
}

/* The text without marks of a heading, a list or code. */
static stretch unmarked(const char *s, size_t n) {
    while (n && strchr("#*`~[ \t\r\n", s[0])) s++, n--;
    while (n && strchr("*`~:] \t\r\n", s[n - 1])) n--;
    return (stretch){s, n};
}

/* What the names of an entry end before: "=<num>", " <path>", "[=on]", ": text". */
static size_t before_value(stretch tag) {
    for (size_t i = 0; i < tag.n; i++)
        if (strchr("=<[({:$\n", tag.s[i])) return i;
    return tag.n;
}

/* Are the bytes between two names of one entry those that part such, "-L, --length", "-p | --port"? */
static bool parts_names(const char *s, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (!strchr(" ,|/`*", s[i])) return false;
    return true;
}

/* "docker-compose" may be a program, a page or a compound: as a setting it has a value behind it, or dashes before. */
static bool is_compound(stretch x) {
    for (size_t i = 0; i < x.n; i++)
        if (strchr("_.", x.s[i]) || fo_is_upper(x.s[i])) return false;
    return !is_option(x);
}

/* Is the heading or tag the name of a setting, or several of one, "-L, --length <length>", and nothing else but the value it
 * takes? *first: the first name. *named: is the asked one among them? */
static bool heads_entry(const char *s, size_t n, const stretch *asked, stretch *first,
                        bool *named) {
    const stretch tag = unmarked(s, n);
    const size_t end = before_value(tag);
    const char *behind = tag.s;
    *first = (stretch){0};
    *named = false;
    if (!tag.n || tag.n > LONGEST_TAG ||
        (end < tag.n && tag.s[end] == '(' && end && tag.s[end - 1] != ' '))
        return false;
    for (size_t at = 0, count = 0; at < end; count++) {
        const stretch x = next_name(tag.s, end, &at);
        if (!x.n) break;
        const bool value = count > 0 && is_option(*first) && !is_option(x); /* "-o FILE" */
        if (!parts_names(behind, (size_t)(x.s - behind)) || (!value && !is_setting(x)))
            return false;
        if (!value && is_compound(x) && !(end < tag.n && strchr("=:", tag.s[end]))) return false;
        behind = x.s + x.n;
        if (!first->n) *first = x;
        *named |= !value && is_named(x, *asked);
    }
    return first->n > 0 && parts_names(behind, (size_t)(tag.s + end - behind));
}

/* ---- what states a default ------------------------------------------------------------------- */

enum stated {
    STATES_NONE,
    STATES_LOOSELY,
    STATES_OF_SOMETHING,
    STATES_PLAINLY,
    STATES_ALONE, /* ... and says nothing else before that */
};

/* What a default is said of is the setting itself: nothing, a bracket, "it", "this", the end of a sentence before it. */
static bool is_of_the_setting(const word_token *before) {
    return !before->n || (!before->letters && !before->digits) ||
           word_token_in("it this which that and value setting option parameter the its", before);
}

/* What a word that means a default states, by the word before it and what stands behind byte `at`. */
static enum stated stated_by(const char *s, size_t n, size_t at, const word_token *last) {
    word_token behind = word_token_next(s, n, &at);
    if (word_token_in("value setting", &behind)) behind = word_token_next(s, n, &at);
    const bool value =
        behind.n && (word_token_in("to is", &behind) || behind.digits ||
                     strchr(":=|\"'`", behind.s[0]) || (last->n && strchr("([", last->s[0])));
    if (!value) return word_token_in("by", last) ? STATES_LOOSELY : STATES_NONE;
    if (!last->n) return STATES_ALONE;
    return is_of_the_setting(last) ? STATES_PLAINLY : STATES_OF_SOMETHING;
}

/* Does a word of each of these lists stand behind byte `at`, one after the other? NULL ends them. */
static bool goes_on(const char *s, size_t n, size_t at, const char *const lists[3]) {
    for (size_t i = 0; i < 3 && lists[i]; i++) {
        const word_token t = word_token_next(s, n, &at);
        if (!word_token_in(lists[i], &t)) return false;
    }
    return true;
}

/* "out of the box", "If you leave it out", "Without it, 16 are used" (and not: "it does not start"). */
static bool states_in_words(const char *s, size_t n, size_t at, const word_token *t,
                            bool condition) {
    static const char *const of_the_box[3] = {"of", "the", "box"};
    static const char *const it_out[3] = {"it this them", "out"};
    static const char *const out[3] = {"out"}, *const it[3] = {"it"};
    if (word_token_in("out", t)) return goes_on(s, n, at, of_the_box);
    if (word_token_in("leave leaves leaving", t)) return condition && goes_on(s, n, at, it_out);
    if (word_token_in("left", t)) return condition && goes_on(s, n, at, out);
    return word_token_in("without", t) && goes_on(s, n, at, it) &&
           !word_tokens_say("not no never nothing cannot fails", s + at, n - at);
}

/* "Defaults to 3", "(default 60)", "[Default: on]", "The default is 10", "by default", "If unset, ...", "unless set otherwise". */
static enum stated states_default(const char *s, size_t n) {
    static const char otherwise[] =
        "set given specified defined configured changed overridden otherwise";
    enum stated most = STATES_NONE, now;
    word_token last = {0};
    bool condition = false, unless = false;
    for (size_t at = 0;;) {
        const word_token t = word_token_next(s, n, &at);
        if (!t.n) return most;
        now = STATES_NONE;
        if (word_token_in("default defaults", &t))
            now = stated_by(s, n, at, &last);
        else if (condition && (word_token_in("unset omitted absent empty", &t) ||
                               (word_token_in("not", &last) &&
                                word_token_in("set given specified defined", &t))))
            now = STATES_LOOSELY;
        else if ((unless && word_token_in(otherwise, &t)) ||
                 states_in_words(s, n, at, &t, condition))
            now = STATES_LOOSELY;
        unless |= word_token_in("unless", &t);
        condition |= word_token_in("if when unless while", &t);
        if (t.letters || t.digits || strchr("([", t.s[0])) last = t;
        if (now > most) most = now;
    }
}

/* The tag of a definition, "-z, --gzip"; empty: the unit is none. */
static stretch tag_of(const candidate_passage *p, const text_unit *u) {
    if (u->kind != TEXT_UNIT_DEFINITION || u->body <= u->start) return (stretch){0};
    return (stretch){p->text.text + u->start, u->body - u->start};
}

/* "Default", "Default value": what a column is called that holds defaults. */
static bool is_default_column(const char *s, size_t n) {
    bool has = false;
    for (size_t at = 0;;) {
        const word_token t = word_token_next(s, n, &at);
        if (!t.n) return has;
        has |= word_token_in("default defaults", &t);
        if (t.digits || (t.letters && !word_token_in("default defaults value values setting", &t)))
            return false;
    }
}

/* Has the row a cell, not empty, in a column of defaults? */
static bool row_states(const candidate_passage *p, const text_unit *u) {
    const char *text = p->text.text, *name, *cell;
    size_t n_name, n_cell, at_name = 0, at = 0;
    if (u->kind != TEXT_UNIT_ROW || u->record || u->head_end <= u->head_start) return false;
    while (table_row_cell(text + u->head_start, u->head_end - u->head_start, &at_name, &name,
                          &n_name) &&
           table_row_cell(text + u->start, u->end - u->start, &at, &cell, &n_cell))
        if (n_cell && is_default_column(name, n_name)) return true;
    return false;
}

static enum stated unit_states(const candidate_passage *p, const text_unit *u) {
    if (u->kind == TEXT_UNIT_HEADER || u->kind == TEXT_UNIT_STEPS || u->named) return STATES_NONE;
    if (row_states(p, u)) return STATES_PLAINLY;
    const size_t tag = tag_of(p, u).n; /* "-default-size" states none */
    const enum stated states =
        states_default(p->text.text + u->start + tag, u->end - u->start - tag);
    return u->kind == TEXT_UNIT_HEADING && states < STATES_ALONE ? STATES_NONE : states;
}

/* ---- entries --------------------------------------------------------------------------------- */

/* Which entry the units of a passage stand in, one after the other. */
typedef struct entry_walk {
    stretch name; /* the first one of the entry; empty: in none */
    bool named;   /* it is the one that was asked for */
    bool begins;  /* the unit that was read last is its heading or definition */
} entry_walk;

/* "!!! note", "Example:" part nothing from the entry that they stand in. */
static bool is_aside(stretch heading) {
    return heading.n &&
           (heading.s[0] == '!' || heading.s[0] == '?' || heading.s[heading.n - 1] == ':');
}

static entry_walk walk_from(const candidate_passage *p, const stretch *asked) {
    entry_walk w = {0};
    if (!heads_entry(p->heading, strlen(p->heading), asked, &w.name, &w.named)) w = (entry_walk){0};
    return w;
}

static void walk_on(entry_walk *w, const candidate_passage *p, const text_unit *u,
                    const stretch *asked) {
    const stretch heading = {p->text.text + u->start, u->end - u->start};
    const bool is_heading = u->kind == TEXT_UNIT_HEADING;
    const stretch tag = is_heading ? heading : tag_of(p, u);
    stretch first;
    bool named;
    w->begins = tag.n && heads_entry(tag.s, tag.n, asked, &first, &named);
    if (w->begins) {
        w->name = first;
        w->named = named;
    } else if (is_heading && !is_aside(heading) && unit_states(p, u) == STATES_NONE) {
        *w = (entry_walk){0};
    }
}

/* The next line of a text that is an entry of its own, "-l, --lower: Lower case. [Default: on]", at or behind byte *at, which moves
 * behind it; *tag: bytes before the colon. False: there are no more. */
static bool next_line(const char *s, size_t n, size_t *at, stretch *line, size_t *tag) {
    while (*at < n) {
        const char *stop = memchr(s + *at, '\n', n - *at);
        const size_t end = stop ? (size_t)(stop - s) : n;
        *line = (stretch){s + *at, end - *at};
        *at = end + 1;
        while (line->n && line->s[0] == ' ') line->s++, line->n--;
        if (!is_option(*line)) continue;
        for (*tag = 0; *tag + 1 < line->n; ++*tag)
            if (line->s[*tag] == ':' && line->s[*tag + 1] == ' ') return true;
    }
    return false;
}

/* ... that is the asked option's; empty: there is none. */
static stretch line_of(const candidate_passage *p, const stretch *asked, size_t *tag) {
    stretch line, first;
    bool named;
    for (size_t at = 0; next_line(p->text.text, p->text.len, &at, &line, tag);)
        if (heads_entry(line.s, *tag, asked, &first, &named) && named) return line;
    return (stretch){0};
}

/* "--kv-ram" of "--kv-ram BYTES" and "--mode <name>": behind the option stands what is put in its place. */
static stretch without_value(stretch cell) {
    const char *blank = memchr(cell.s, ' ', cell.n);
    if (!blank || !is_option(cell)) return cell;
    for (const char *s = blank; s < cell.s + cell.n; s++)
        if (*s >= 'a' && *s <= 'z' && blank[1] != '<' && blank[1] != '[') return cell;
    return (stretch){cell.s, (size_t)(blank - cell.s)};
}

/* The setting that a row's first cell names; empty: it names none. */
static stretch named_by_row(const candidate_passage *p, const text_unit *u) {
    table_pair first;
    if (u->kind != TEXT_UNIT_ROW ||
        !table_row_first(p->text.text + u->start, u->end - u->start, u->record, &first))
        return (stretch){0};
    const stretch name = without_value(unmarked(first.value, first.n_value));
    for (size_t i = 0; i < name.n; i++)
        if (!in_name(name.s[i])) return (stretch){0};
    return is_setting(name) ? name : (stretch){0};
}

static bool is_row_beside(const candidate_passage *p, size_t order, size_t other) {
    const text_unit *u = p->units.v;
    return other < p->units.n && u[other].kind == TEXT_UNIT_ROW &&
           u[other].head_start == u[order].head_start;
}

/* How plainly unit `order` states the default of the asked setting, whose entry it stands in if `within`. A row does that of the one
 * that its first cell names, or, where it is its table's only one, of the one it stands below. */
static enum stated states_asked(const candidate_passage *p, size_t order, const stretch *asked,
                                bool within) {
    const text_unit *u = &p->units.v[order];
    const stretch name = named_by_row(p, u);
    if (name.n) return is_named(name, *asked) ? unit_states(p, u) : STATES_NONE;
    if (!within) return STATES_NONE;
    if (u->kind == TEXT_UNIT_ROW &&
        (is_row_beside(p, order, order + 1) || (order && is_row_beside(p, order, order - 1))))
        return STATES_NONE;
    return unit_states(p, u);
}

/* Does one of the passages have an entry of that name? */
static bool has_entry(const candidate_set *set, stretch asked) {
    size_t tag;
    for (size_t i = 0; i < set->n_passages; i++) {
        const candidate_passage *p = &set->passages[i];
        entry_walk w = walk_from(p, &asked);
        if (w.named || line_of(p, &asked, &tag).n) return true;
        for (size_t k = 0; k < p->units.n; k++) {
            const stretch row = named_by_row(p, &p->units.v[k]);
            walk_on(&w, p, &p->units.v[k], &asked);
            if (w.named || (row.n && is_named(row, asked))) return true;
        }
    }
    return false;
}

/* ---- the question ---------------------------------------------------------------------------- */

/* Words about a setting that say nothing of whose it is. */
static const char generic[] =
    "default defaults unset set given specified what's setting settings option options "
    "variable variables environment value values parameter parameters flag argument config "
    "configuration key nothing";

typedef struct names_asked {
    stretch v[MOST_NAMES];
    size_t n;
    bool by_default; /* the default is asked for */
    bool plainly;    /* ... and not how it is changed, or why it is so */
} names_asked;

static bool is_within(const names_asked *x, const char *s) {
    for (size_t i = 0; i < x->n; i++)
        if (s >= x->v[i].s && s < x->v[i].s + x->v[i].n) return true;
    return false;
}

static void read_default(names_asked *out, const question *q) {
    static const char not_so[] = "change override overriding restore reset why";
    bool negated = false;
    out->plainly = !q->procedure && q->kind != ASK_REASON;
    size_t at = 0;
    for (word_token t; (t = word_token_next(q->text.text, q->text.len, &at)).n;) {
        if (is_within(out, t.s)) continue;
        out->by_default |= word_token_in("default defaults unset", &t) ||
                           (negated && word_token_in("set given specified give pass specify", &t));
        negated |= word_token_in("not don doesn isn nothing", &t);
        out->plainly &= !word_token_in(not_so, &t);
    }
}

static bool is_part_of_name(const names_asked *x, const char *s, size_t n) {
    for (size_t i = 0; i < x->n; i++)
        for (size_t k = 0; k + n <= x->v[i].n; k++)
            if (strncasecmp(x->v[i].s + k, s, n) == 0) return true;
    return false;
}

static bool says_word(const char *text, const char *s, size_t n) {
    for (const char *at = text; (at = strchr(at, s[0])); at++)
        if (strncasecmp(at, s, n) == 0) return true;
    return false;
}

/* Is the word in the name of a document? */
static bool names_document(const candidate_set *set, const fact_word *w) {
    const char *s = set->q.text.text + w->start;
    const int term = question_term_of(&set->q, w->id);
    for (size_t i = 0; i < set->n_passages; i++) {
        const candidate_passage *p = &set->passages[i];
        if (term >= 0 && ((p->title | p->named) >> term & 1)) return true;
        if (says_word(p->document, s, w->end - w->start)) return true;
    }
    return false;
}

/* Is the nearest word that says anything, from word `at` on in steps of `step`, one of another thing than the settings? */
static bool meets_another_thing(const candidate_set *set, const names_asked *x, size_t at,
                                int step) {
    const fact_text *t = &set->q.text;
    for (; at < t->n_words; at += (size_t)step) { /* before the first one it wraps */
        const fact_word *w = &t->words[at];
        const char *s = t->text + w->start;
        const size_t n = w->end - w->start;
        if (is_within(x, s)) return false;
        if ((w->flags & (WORD_STOP | WORD_PART)) || !fact_is_content(w) ||
            fo_words_have_any_case(generic, s, n))
            continue;
        return !is_part_of_name(x, s, n) && !names_document(set, w);
    }
    return false;
}

/* "Which port is the default if log_level is debug?": a default of something else than the settings. Right before "by default" stands
 * what is done by default: "How long does it wait by default?" */
static bool is_of_something_else(const candidate_set *set, const names_asked *x) {
    const fact_text *t = &set->q.text;
    for (size_t i = 0; i < t->n_words; i++) {
        const fact_word *w = &t->words[i];
        const char *s = t->text + w->start;
        if (is_within(x, s) || !fo_words_have_any_case("default defaults", s, w->end - w->start))
            continue;
        const fact_word *by = i ? w - 1 : NULL;
        size_t before = i - 1;
        if (by && fo_words_have_any_case("by", t->text + by->start, by->end - by->start)) {
            before--;
            if (before < i && !is_within(x, t->text + t->words[before].start)) before--;
        }
        if (meets_another_thing(set, x, before, -1) || meets_another_thing(set, x, i + 1, 1))
            return true;
    }
    return false;
}

/* The question's settings that have entries in the passages. */
static names_asked read_names(const candidate_set *set) {
    names_asked out = {0};
    const question *q = &set->q;
    for (size_t at = 0; at < q->text.len && out.n < MOST_NAMES;) {
        const stretch x = next_name(q->text.text, q->text.len, &at);
        if (x.n && is_setting(x) && has_entry(set, x)) out.v[out.n++] = x;
    }
    read_default(&out, q);
    out.plainly &= !is_of_something_else(set, &out);
    return out;
}

/* ---- marks ----------------------------------------------------------------------------------- */

static bool says_any(const candidate_passage *p, const text_unit *u, const names_asked *asked) {
    for (size_t i = 0; i < asked->n; i++)
        if (says_name(p->text.text + u->start, u->end - u->start, asked->v[i])) return true;
    return false;
}

/* Does unit `order` stand below the name of a setting, and of none that was asked for? */
static bool is_below_another(const candidate_passage *p, size_t order, const names_asked *asked) {
    bool other = false;
    for (size_t i = 0; i < asked->n; i++) {
        entry_walk w = walk_from(p, &asked->v[i]);
        for (size_t k = 0; k <= order; k++) walk_on(&w, p, &p->units.v[k], &asked->v[i]);
        if (w.named) return false;
        other = w.name.n > 0;
    }
    return other;
}

static bool passage_states(const candidate_passage *p, const stretch *asked) {
    entry_walk w = walk_from(p, asked);
    size_t tag;
    const stretch line = line_of(p, asked, &tag);
    if (line.n && states_default(line.s + tag, line.n - tag)) return true;
    for (size_t i = 0; i < p->units.n; i++) {
        const text_unit *u = &p->units.v[i];
        walk_on(&w, p, u, asked);
        if (states_asked(p, i, asked, w.named)) return true;
        if (says_name(p->text.text + u->start, u->end - u->start, *asked) && unit_states(p, u))
            return true;
    }
    return false;
}

/* Is a default of the asked settings stated in words that are known here? */
static bool is_stated(const candidate_set *set, const names_asked *asked) {
    for (size_t i = 0; i < set->n_passages; i++)
        for (size_t k = 0; k < asked->n; k++)
            if (passage_states(&set->passages[i], &asked->v[k])) return true;
    return false;
}

/* Might it state a value in words that are not known here: has it a figure, a path or something quoted? "Since version 7.32.0" has none. */
static bool may_state(const candidate_passage *p, const text_unit *u) {
    const char *s = p->text.text + u->start;
    bool version = false; /* its digits follow */
    size_t at = 0;
    for (word_token t; (t = word_token_next(s, u->end - u->start, &at)).n;) {
        if (memchr("`\"/", t.s[0], 3) || (t.digits && !version)) return true;
        if (t.letters) version = word_token_in("version versions v", &t);
    }
    return false;
}

/* "Syntax: reload-time <number>", "Example: reload-time 120": lines of an entry that state no default. */
static bool is_labelled_otherwise(const candidate_passage *p, const text_unit *u) {
    size_t at = 0;
    const char *s = p->text.text + u->start;
    const word_token label = word_token_next(s, u->end - u->start, &at);
    const word_token behind = word_token_next(s, u->end - u->start, &at);
    return word_token_in("example examples syntax usage eg e.g", &label) &&
           (word_token_is(&behind, ":") || word_token_is(&behind, "."));
}

const text_unit *setting_entries_line_of_default(const candidate_passage *p, size_t order) {
    enum { REACH = 6 };
    /* above a term with what is said of it the entry before ends */
    for (int step = p->units.v[order].kind == TEXT_UNIT_DEFINITION ? 1 : -1; step <= 1; step += 2)
        for (size_t i = order + (size_t)step, n = 0; i < p->units.n && n < REACH;
             i += (size_t)step, n++) { /* before the first one it wraps */
            const text_unit *u = &p->units.v[i];
            if (unit_states(p, u) == STATES_ALONE) return u;
            if (u->kind == TEXT_UNIT_HEADING || u->kind == TEXT_UNIT_DEFINITION) break;
        }
    return NULL;
}

/* Who asks for a default is not told an example. */
static void mark_examples(candidate_set *set) {
    names_asked asked = {0};
    read_default(&asked, &set->q);
    for (size_t i = 0; asked.by_default && asked.plainly && i < set->n; i++) {
        candidate *c = &set->c[i];
        const candidate_passage *p = &set->passages[c->passage];
        if (c->f[CAND_NO_AMOUNT] < 1 && is_labelled_otherwise(p, &c->unit) &&
            unit_states(p, &c->unit) == STATES_NONE && setting_entries_line_of_default(p, c->order))
            c->f[CAND_NO_AMOUNT] = 1;
    }
}

/* The question's terms that tell whose default it asks for: neither words about settings nor what a document is called. */
static uint64_t terms_of_its_own(const candidate_set *set) {
    static const char of_any[] = "number amount many much maximum minimum limit size time length";
    uint64_t own = 0;
    for (size_t i = 0; i < set->q.text.n_words; i++) {
        const fact_word *w = &set->q.text.words[i];
        const char *s = set->q.text.text + w->start;
        const int term = question_term_of(&set->q, w->id);
        if (term >= 0 && !fo_words_have_any_case(generic, s, w->end - w->start) &&
            !fo_words_have_any_case(of_any, s, w->end - w->start) && !names_document(set, w))
            own |= UINT64_C(1) << term;
    }
    return own;
}

/* What is said in the entry that unit `order` of a passage stands in, from its heading on. */
static uint64_t terms_of_entry(const candidate_passage *p, size_t order) {
    enum { REACH = 12 };
    const text_unit *u = p->units.v;
    uint64_t said = candidate_head_terms(p, &u[order]);
    for (size_t i = order, n = 0; n < REACH; i--, n++) {
        said |= candidate_terms(p, u[i].start, u[i].end);
        if (i == 0) return said | p->said; /* it may begin in the passage before */
        if (u[i].kind == TEXT_UNIT_HEADING) break;
    }
    for (size_t i = order + 1; i < p->units.n && u[i].kind != TEXT_UNIT_HEADING; i++)
        said |= candidate_terms(p, u[i].start, u[i].end);
    return said;
}

/* "Default: 15" is the default of what its entry speaks of: where that says nothing of what was asked for, `own`, of something else. */
static bool is_default_of_another(const candidate_passage *p, size_t order, uint64_t own) {
    return own && !(terms_of_entry(p, order) & own);
}

static void mark_defaults_of_others(candidate_set *set) {
    names_asked asked = {0};
    read_default(&asked, &set->q);
    if (!asked.by_default || !asked.plainly) return;
    const uint64_t own = terms_of_its_own(set);
    for (size_t i = 0; i < set->n; i++) {
        candidate *c = &set->c[i];
        const candidate_passage *p = &set->passages[c->passage];
        if (c->f[CAND_NO_AMOUNT] < 1 && unit_states(p, &c->unit) == STATES_ALONE &&
            is_default_of_another(p, c->order, own))
            c->f[CAND_NO_AMOUNT] = 1;
    }
}

void setting_entries_mark(candidate_set *set) {
    const names_asked asked = read_names(set);
    mark_examples(set);
    mark_defaults_of_others(set);
    const bool by_default = asked.n && asked.by_default && asked.plainly;
    const bool stated = by_default && is_stated(set, &asked);
    for (size_t i = 0; i < set->n && asked.n; i++) {
        candidate *c = &set->c[i];
        const candidate_passage *p = &set->passages[c->passage];
        const bool of_it = says_any(p, &c->unit, &asked);
        if (!of_it && is_below_another(p, c->order, &asked)) c->f[CAND_OTHER_THING] = CAND_RIVAL;
        if (by_default && !unit_states(p, &c->unit) && (stated || !may_state(p, &c->unit)) &&
            c->f[CAND_NO_AMOUNT] < 1)
            c->f[CAND_NO_AMOUNT] = 1;
    }
}

/* ---- the answer ------------------------------------------------------------------------------ */

/* Does the question say nothing that neither the passage nor its document's name has: whose setting it is? */
static bool is_its_own(const question *q, const candidate_passage *p, const names_asked *asked) {
    for (size_t i = 0; i < q->text.n_words; i++) {
        const fact_word *w = &q->text.words[i];
        const char *s = q->text.text + w->start;
        const size_t n = w->end - w->start;
        if ((w->flags & (WORD_STOP | WORD_PART)) || is_within(asked, s) || !fact_is_content(w) ||
            fo_words_have_any_case(generic, s, n))
            continue;
        const int term = question_term_of(q, w->id);
        if (term >= 0 && ((p->said | p->title | p->named) >> term & 1)) continue;
        if (says_word(p->document, s, n)) continue;
        return false;
    }
    return true;
}

/* A unit with the name of its entry before it; `begins`: it has that itself. */
static candidate said_of(const candidate_passage *p, size_t index, size_t order, stretch name,
                         bool begins) {
    text_unit u = p->units.v[order];
    if (begins) return candidate_whole(p, index, order, u);
    if (tag_of(p, &u).n) u.start = u.body; /* a line before it that is taken for a term */
    u.body = u.start;
    if (u.kind == TEXT_UNIT_DEFINITION || u.kind == TEXT_UNIT_HEADING) u.kind = TEXT_UNIT_SENTENCE;
    u.head_start = name.n ? (uint32_t)(name.s - p->text.text) : 0;
    u.head_end = u.head_start + (uint32_t)name.n;
    u.outer_start = u.outer_end = 0;
    u.head_kind = TEXT_UNIT_HEADING;
    u.nested = false;
    candidate c = candidate_whole(p, index, order, u);
    c.headed = name.n > 0;
    return c;
}

/* The line of an option that has one to itself, as it stands. */
static candidate line_whole(const candidate_passage *p, size_t index, stretch line) {
    text_unit u = {.start = (uint32_t)(line.s - p->text.text), .kind = TEXT_UNIT_SENTENCE};
    u.body = u.start;
    u.end = u.start + (uint32_t)line.n;
    size_t order = 0;
    while (order + 1 < p->units.n && p->units.v[order + 1].start <= u.start) order++;
    return candidate_whole(p, index, order, u);
}

typedef struct found {
    candidate c;
    enum stated states;
} found;

/* What states the default of one name in one passage most plainly, if more so than *best. */
static void find_default(found *best, const candidate_passage *p, size_t index,
                         const stretch *asked) {
    entry_walk w = walk_from(p, asked);
    bool here = false; /* the name stands in the text, not only above it */
    size_t tag = 0;
    const stretch line = line_of(p, asked, &tag);
    if (line.n) {
        const enum stated states = states_default(line.s + tag, line.n - tag);
        if (states > best->states) *best = (found){line_whole(p, index, line), states};
        return;
    }
    for (size_t i = 0; i < p->units.n; i++) {
        walk_on(&w, p, &p->units.v[i], asked);
        here |= w.begins;
        const enum stated states = states_asked(p, i, asked, w.named);
        if (states <= best->states) continue;
        if (p->units.v[i].kind == TEXT_UNIT_ROW) { /* its columns are its head */
            *best = (found){candidate_whole(p, index, i, p->units.v[i]), states};
            continue;
        }
        const stretch name = here ? w.name : (stretch){0};
        *best = (found){said_of(p, index, i, name, w.begins), states};
        if (!here) best->c.section = p->heading; /* the passage begins behind the name */
    }
}

size_t setting_entries_default(const candidate_set *set, const extractive_input *in,
                               size_t max_chars, candidate *chosen, bool *plainly) {
    const names_asked asked = read_names(set);
    size_t n = 0, used = 0;
    bool loosely = false;
    *plainly = false;
    if (!asked.n || !asked.by_default || !asked.plainly) return 0;
    for (size_t k = 0; k < asked.n; k++) {
        found best = {0};
        for (size_t i = 0; i < set->n_passages && i < in->n_passages; i++)
            if (is_its_own(&set->q, &set->passages[i], &asked))
                find_default(&best, &set->passages[i], i, &asked.v[k]);
        if (!best.states || used + (best.c.end - best.c.start) > max_chars) return 0;
        used += best.c.end - best.c.start;
        chosen[n++] = best.c;
        loosely |= best.states == STATES_LOOSELY;
    }
    *plainly = !loosely;
    return n;
}

size_t setting_entries_default_beside(const candidate_set *set, size_t most, size_t max_chars,
                                      candidate *chosen, size_t n) {
    names_asked asked = {0};
    read_default(&asked, &set->q);
    if (n == 0 || !asked.plainly) return n;
    if (!asked.by_default &&
        !default_figures_wanted(&set->q, &set->passages[chosen[0].passage], &chosen[0].unit))
        return n;
    size_t used = 0;
    for (size_t i = 0; i < n; i++) {
        if (unit_states(&set->passages[chosen[i].passage], &chosen[i].unit)) return n;
        used += chosen[i].end - chosen[i].start;
    }
    const candidate_passage *p = &set->passages[chosen[0].passage];
    const text_unit *u = setting_entries_line_of_default(p, chosen[0].order);
    if (!u || is_default_of_another(p, chosen[0].order, terms_of_its_own(set))) return n;
    const candidate c = candidate_whole(p, chosen[0].passage, (size_t)(u - p->units.v), *u);
    while (n > 1 && (n == most || used + (c.end - c.start) > max_chars)) {
        n--;
        used -= chosen[n].end - chosen[n].start;
    }
    if (n == most || used + (c.end - c.start) > max_chars) return n;
    chosen[n] = c;
    return n + 1;
}

/* "-P password: Password of the user to run as": an option with what it does, or one of its sentences. */
static bool describes_option(const candidate_set *set, const candidate *c) {
    const candidate_passage *p = &set->passages[c->passage];
    const text_unit *u = &c->unit;
    const uint32_t from = u->head_kind == TEXT_UNIT_DEFINITION && u->head_end > u->head_start
                              ? u->head_start
                              : u->start;
    const bool entry = u->kind == TEXT_UNIT_DEFINITION || from != u->start;
    return entry && is_option((stretch){p->text.text + from, u->end - u->start});
}

bool setting_entries_default_missing(const candidate_set *set, const candidate *chosen, size_t n) {
    names_asked asked = {0};
    read_default(&asked, &set->q);
    if (!asked.by_default || !asked.plainly) return false;
    if (set->q.kind != ASK_NUMBER && set->q.demands.amount == AMOUNT_NONE &&
        !(n && describes_option(set, &chosen[0])) && !read_names(set).n)
        return false;
    for (size_t i = 0; i < n; i++) {
        const candidate_passage *p = &set->passages[chosen[i].passage];
        if (unit_states(p, &chosen[i].unit) || may_state(p, &chosen[i].unit)) return false;
    }
    return n > 0;
}
