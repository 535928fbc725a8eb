#include "retrieval/answer/contents_lists.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "kernels/splitmix.h"
#include "kernels/utf8.h"

enum { FEWEST_WORDS = 4 };

/* A line of a passage; its words are without the number that it begins with, which an entry has otherwise than the heading: "19.", "(19)". */
typedef struct line {
    const candidate_passage *p;
    uint32_t start, end; /* bytes, without the newline */
    fact_sentence words;
} line;

static bool line_at(line *out, const candidate_passage *p, uint32_t at) {
    const char *s = p->text.text;
    const uint32_t len = (uint32_t)p->text.len;
    if (at > len) return false;
    const char *newline = memchr(s + at, '\n', len - at);
    *out = (line){.p = p, .start = at, .end = newline ? (uint32_t)(newline - s) : len};
    return true;
}

static void read_words(line *l) {
    const fact_text *t = &l->p->text;
    l->words = candidate_words(t, l->start, l->end);
    while (l->words.w0 < l->words.w1 && (t->words[l->words.w0].flags & WORD_DIGIT)) l->words.w0++;
}

static bool is_blank(const line *l) {
    for (uint32_t i = l->start; i < l->end; i++)
        if (!fo_is_blank(l->p->text.text[i])) return false;
    return true;
}

static bool is_item(const line *l) {
    const char *s = l->p->text.text;
    uint32_t at = l->start;
    while (at < l->end && fo_is_blank(s[at])) at++;
    return text_item_mark(s + at, l->end - at) > 0;
}

static bool line_before(line *out, const line *l) {
    const char *s = l->p->text.text;
    uint32_t at = l->start;
    if (!at) return false;
    for (at--; at > 0 && s[at - 1] != '\n';) at--;
    return line_at(out, l->p, at);
}

static bool line_behind(line *out, const line *l) {
    return l->end < l->p->text.len && line_at(out, l->p, l->end + 1);
}

/* An item right beside another one? */
static bool is_entry(const line *l) {
    line o;
    return is_item(l) &&
           ((line_before(&o, l) && is_item(&o)) || (line_behind(&o, l) && is_item(&o)));
}

/* Alone between blank lines, with something below it? A passage may begin with it. */
static bool is_heading(const line *l) {
    line o;
    return !is_blank(l) && (!line_before(&o, l) || is_blank(&o)) && line_behind(&o, l) &&
           is_blank(&o) && o.end < l->p->text.len;
}

static bool are_same(const line *a, const line *b) {
    const uint32_t n = a->words.w1 - a->words.w0;
    if (n < FEWEST_WORDS || b->words.w1 - b->words.w0 != n) return false;
    for (uint32_t i = 0; i < n; i++)
        if (a->p->text.words[a->words.w0 + i].id != b->p->text.words[b->words.w0 + i].id)
            return false;
    return true;
}

/* ---- lines that may stand again ---------------------------------------------------------------- */

/* A heading or an entry. Few of the lines are, and each is looked up: held against each other they took seconds for a passage of
 * nothing else. */
typedef struct known_line {
    uint64_t words; /* of the ids of its words */
    bool entry;
    line l;
} known_line;

typedef struct known_lines {
    const candidate_set *set;
    known_line *list; /* by by_words; of the same words in one passage the first line */
    size_t n, cap;
    bool read, failed; /* the list is made when it is asked first */
} known_lines;

static uint64_t hash_of(const line *l) {
    uint64_t h = 0;
    for (uint32_t i = l->words.w0; i < l->words.w1; i++) h = fo_mix64(h + l->p->text.words[i].id);
    return h;
}

static bool has_few_words(const line *l) {
    return l->words.w1 - l->words.w0 < FEWEST_WORDS;
}

static int by_words(const void *a, const void *b) {
    const known_line *x = a, *y = b;
    if (x->words != y->words) return x->words < y->words ? -1 : 1;
    if (x->entry != y->entry) return x->entry ? 1 : -1;
    if (x->l.p != y->l.p) return x->l.p < y->l.p ? -1 : 1;
    return (x->l.start > y->l.start) - (x->l.start < y->l.start);
}

static void keep_line(known_lines *k, line *l, bool entry) {
    read_words(l);
    if (has_few_words(l)) return;
    if (k->n == k->cap) {
        const size_t more = k->cap ? 2 * k->cap : 64;
        known_line *grown = realloc(k->list, more * sizeof *grown);
        k->failed |= !grown;
        if (!grown) return;
        k->list = grown;
        k->cap = more;
    }
    k->list[k->n++] = (known_line){.words = hash_of(l), .entry = entry, .l = *l};
}

static void read_lines(known_lines *k) {
    line l;
    k->read = true;
    for (size_t i = 0; !k->failed && i < k->set->n_passages; i++)
        for (uint32_t at = 0; !k->failed && line_at(&l, &k->set->passages[i], at); at = l.end + 1) {
            if (is_heading(&l)) keep_line(k, &l, false);
            if (is_entry(&l)) keep_line(k, &l, true);
        }
    if (k->n) qsort(k->list, k->n, sizeof *k->list, by_words);
    size_t n = 0;
    for (size_t i = 0; i < k->n; i++) {
        const known_line *one = &k->list[i], *before = n ? &k->list[n - 1] : NULL;
        if (before && before->words == one->words && before->entry == one->entry &&
            before->l.p == one->l.p && are_same(&before->l, &one->l))
            continue;
        k->list[n++] = *one;
    }
    k->n = n;
}

/* Stands the line again in what was found of its document, or of any, as a heading where it is an entry, and as an entry where not? Its
 * words are read here: most lines are neither. */
static bool stands_again(known_lines *k, line *l, bool entry, bool anywhere) {
    read_words(l);
    if (has_few_words(l)) return false;
    if (!k->read) read_lines(k);
    const known_line wanted = {.words = hash_of(l), .entry = !entry};
    size_t low = 0, high = k->n;
    while (low < high) {
        const size_t mid = low + (high - low) / 2;
        if (by_words(&k->list[mid], &wanted) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    for (; low < k->n && k->list[low].words == wanted.words; low++) {
        const known_line *o = &k->list[low];
        if (o->entry == wanted.entry && are_same(l, &o->l) &&
            (anywhere || candidate_one_document(o->l.p, l->p)))
            return true;
    }
    return false;
}

/* The line that byte `at` of the passage is in. */
static line line_of(const candidate_passage *p, uint32_t at) {
    line l;
    while (at > 0 && p->text.text[at - 1] != '\n') at--;
    line_at(&l, p, at);
    return l;
}

/* Is an entry of the list a heading, and one a question? A list of steps whose sections say more asks nothing. */
static bool is_of_questions(known_lines *k, const candidate_passage *p, const text_unit *u) {
    bool asks = false, again = false;
    for (uint32_t at = u->start; at < u->end;) {
        line l = line_of(p, at);
        if (is_entry(&l)) {
            uint32_t end = l.end;
            while (end > l.start && fo_is_blank(p->text.text[end - 1])) end--;
            asks |= end > l.start && p->text.text[end - 1] == '?';
            again = again || stands_again(k, &l, true, false);
        }
        at = l.end + 1;
    }
    return asks && again;
}

/* "- Recovering from no space errors": a bullet, and as few words as a heading has; an item that says something has a colon or
 * several sentences. */
static bool may_name_section(const line *l) {
    enum { WIDEST = 120 };
    const char *s = l->p->text.text + l->start, *end = l->p->text.text + l->end;
    while (s < end && fo_is_blank(*s)) s++;
    while (end > s && fo_is_blank(end[-1])) end--;
    const size_t n = (size_t)(end - s);
    return n && n <= WIDEST && !fo_is_digit(s[0]) && text_item_mark(s, n) && end[-1] != ':' &&
           !memmem(s, n, ": ", 2) && !memmem(s, n, ". ", 2);
}

/* A list of names, whose lines are items one below the other. */
typedef struct names_list {
    const candidate_passage *p;
    uint32_t start, end; /* bytes of the passage */
    bool contents;       /* an entry of it heads a section */
} names_list;

/* Does a line lead in the list that begins with l? Then it says what the entries are. */
static bool is_led_in(const line *l) {
    line o = *l;
    while (line_before(&o, &o) && is_blank(&o)) continue;
    uint32_t end = o.end;
    while (end > o.start && fo_is_blank(o.p->text.text[end - 1])) end--;
    return o.start < l->start && end > o.start && o.p->text.text[end - 1] == ':';
}

/* The list of names that line l is in, of which one entry, whether it was found in this document or another, heads a section. What
 * is no such list is told to its end too: none of its other lines is then looked at for itself. */
static names_list list_around(known_lines *k, line l) {
    names_list out = {l.p, l.start, l.end, false};
    line first = l, o;
    if (!may_name_section(&l)) return out;
    while (line_before(&o, &first) && is_item(&o)) first = o;
    bool names = !is_led_in(&first), again = false;
    size_t n = 0;
    for (o = first;; n++) {
        line entry = o;
        out.end = o.end;
        names = names && may_name_section(&o);
        again = again || (names && stands_again(k, &entry, true, true));
        if (!line_behind(&o, &o) || !is_item(&o)) break;
    }
    out.start = first.start;
    out.contents = names && again && n > 0;
    return out;
}

/* Is the unit at this byte of line l an entry of such a list, or the list? *of: the one that was looked at last. */
static bool is_of_contents(known_lines *k, const line *l, uint32_t at, names_list *of) {
    if (of->p != l->p || at < of->start || at >= of->end) *of = list_around(k, *l);
    return of->contents;
}

/* A line of units, of which it may have thousands: what is asked about it is asked once. */
typedef struct unit_line {
    line l;
    bool again; /* it is a heading or an entry, and stands again as the other */
} unit_line;

static const line *look_at_line(unit_line *u, known_lines *k, const candidate_passage *p,
                                uint32_t at) {
    if (u->l.p == p && at >= u->l.start && at <= u->l.end) return &u->l;
    u->l = line_of(p, at);
    const bool entry = is_entry(&u->l);
    u->again = (entry || is_heading(&u->l)) && stands_again(k, &u->l, entry, false);
    return &u->l;
}

int contents_lists_mark(candidate_set *set, fo_err *err) {
    names_list of = {0};
    known_lines known = {.set = set};
    unit_line at = {0};
    for (size_t i = 0; i < set->n; i++) {
        candidate *c = &set->c[i];
        const candidate_passage *p = &set->passages[c->passage];
        const bool steps = c->unit.kind == TEXT_UNIT_STEPS;
        const line *l = look_at_line(&at, &known, p, c->unit.start);
        const bool listed =
            steps ? is_of_questions(&known, p, &c->unit) : c->unit.end <= l->end && at.again;
        if (listed || ((steps || c->unit.kind == TEXT_UNIT_ITEM) &&
                       is_of_contents(&known, l, c->unit.start, &of)))
            c->f[CAND_QUESTION] = 1;
    }
    free(known.list);
    return known.failed ? fo_no_memory(err) : FO_OK;
}

/* ---- the section that an entry names --------------------------------------------------------- */

/* Without the marks of a heading or an item and what stands around a name: "- Caching.", "## Caching", "Caching\xC2\xB6". */
static const char *bare_name(const char *s, size_t *n) {
    static const char around[] = " \t\r#*_.:\xC2\xB6";
    while (*n && strchr(" \t#", *s)) s++, --*n;
    const size_t mark = text_item_mark(s, *n);
    s += mark, *n -= mark;
    while (*n && s[*n - 1] && strchr(around, s[*n - 1])) --*n;
    return s;
}

/* How much of the question n bytes at s say; 0 where they are too few words. */
static int share_of(double *share, const question *q, const lexicon *lx, const char *s, size_t n,
                    fact_text *words, fo_err *err) {
    uint64_t set = 0;
    *share = 0;
    const int rc = fact_text_read(words, lx->analyzer, s, n, err);
    for (size_t i = 0; !rc && i < words->n_words; i++) {
        const int term = question_term_of(q, words->words[i].id);
        if (term >= 0) set |= UINT64_C(1) << term;
    }
    if (!rc && words->n_words >= FEWEST_WORDS && (set & (set - 1))) *share = question_share(q, set);
    return rc;
}

int contents_lists_named(char name[CONTENTS_NAME], const question *q, const lexicon *lx,
                         const char *text, size_t len, fo_err *err) {
    static const double much = 0.5;
    const candidate_passage p = {.text = {.text = text, .len = len}};
    fact_text words = {0};
    double most = much;
    int rc = FO_OK;
    bool led = false, before = false; /* the list is led in; the line before is an item */
    line l;
    name[0] = '\0';
    for (uint32_t at = 0; !rc && line_at(&l, &p, at); at = l.end + 1) {
        const bool item = is_item(&l);
        if (item && !before) led = is_led_in(&l);
        before = item;
        if (!item || led || !may_name_section(&l) || !is_entry(&l)) continue;
        double share;
        size_t n = l.end - l.start;
        const char *s = bare_name(text + l.start, &n);
        rc = share_of(&share, q, lx, s, n, &words, err);
        if (rc || share < most || n >= CONTENTS_NAME) continue;
        most = share;
        memcpy(name, s, n);
        name[n] = '\0';
    }
    fact_text_deinit(&words);
    return rc;
}

bool contents_lists_begins(const char *name, const char *text, size_t len) {
    const char *newline = memchr(text, '\n', len);
    size_t n = newline ? (size_t)(newline - text) : len;
    const char *s = bare_name(text, &n);
    return n && n == strlen(name) && strncasecmp(name, s, n) == 0;
}
