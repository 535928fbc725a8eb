#include "retrieval/answer/version_changes.h"

#include "kernels/utf8.h"
#include "kernels/words.h"
#include "retrieval/answer/dated_headings.h"
#include "retrieval/answer/extractive_text.h"
#include "retrieval/text/word_tokens.h"

const double version_changes_support = 0.9;

/* ---- the question ---------------------------------------------------------------------------- */

/* Words of a question for one kind of change, and of the headings that it stands below. */
static const struct {
    const char *asked, *heading;
} kinds[] = {
    {"added add adds features feature", "added new features feature"},
    {"removed removes remove dropped", "removed"},
    {"fixed fixes fix bugs bugfixes repaired", "fixed fixes bug bugs bugfixes"},
    {"deprecated", "deprecated"},
    {"improved improvements enhancements", "improved improvement improvements enhancements"},
};
enum { KINDS = sizeof kinds / sizeof *kinds, EVERY_KIND = KINDS };

typedef struct changes_asked {
    size_t kind;    /* of `kinds`, or EVERY_KIND */
    uint64_t owner; /* terms that say whose version it is */
} changes_asked;

static bool is_of_version(const question *q, const fact_word *w) {
    const exact_name *v = &q->exact.versions[0];
    const char *s = q->text.text + w->start;
    return s >= v->s && s < v->s + v->n;
}

/* Is the question for what changed in one version? */
static bool asks_for_changes(changes_asked *out, const question *q) {
    static const char asking[] = "what whats which list show tell";
    static const char around[] = "version versions release releases update v changelog notes s";
    static const char changes[] = "new changed change changes happened different brings bring";
    static const char elsewhere[] = "since after before until till than from to not between";
    bool asks = false, change = false;
    *out = (changes_asked){.kind = EVERY_KIND};
    if (q->exact.n_versions != 1 || q->kind != ASK_OTHER) return false;
    for (size_t i = 0; i < q->text.n_words; i++) {
        const fact_word *w = &q->text.words[i];
        const char *s = q->text.text + w->start;
        const size_t n = w->end - w->start;
        size_t kind = 0;
        while (kind < KINDS && !fo_words_have_any_case(kinds[kind].asked, s, n)) kind++;
        if (kind < KINDS) out->kind = change ? EVERY_KIND : kind;
        change |= kind < KINDS || fo_words_have_any_case(changes, s, n);
        asks |= fo_words_have_any_case(asking, s, n);
        if (fo_words_have_any_case(elsewhere, s, n)) return false;
        if (kind < KINDS || (w->flags & WORD_STOP) || is_of_version(q, w) ||
            fo_words_have_any_case(asking, s, n) || fo_words_have_any_case(around, s, n) ||
            fo_words_have_any_case(changes, s, n))
            continue;
        const int term = question_term_of(q, w->id);
        if (term < 0) return false;
        out->owner |= 1ull << term;
    }
    return asks && change;
}

/* ---- the log --------------------------------------------------------------------------------- */

typedef struct changes {
    candidate *chosen;
    size_t n, n_sure; /* n_sure: before the first heading of another thing */
    size_t used, room;
    bool inside, wanted, elsewhere, full;
} changes;

static bool is_of_kind(size_t kind, const char *s, size_t n) {
    return kind == EVERY_KIND || word_tokens_say(kinds[kind].heading, s, n);
}

/* A heading of another thing may be of a part of the version, where the next version follows. */
static void read_heading(changes *x, const changes_asked *asked, const exact_names *exact,
                         const char *s, size_t n) {
    if (dated_heading_of_version(s, n)) {
        if (x->inside) x->n_sure = x->n; /* all that stands before it was the version's */
        x->full |= x->inside;
        x->inside = exact_names_versions_in(exact, s, n, NULL);
        x->wanted = asked->kind == EVERY_KIND;
    } else if (dated_heading_of_changes(s, n)) {
        x->wanted = is_of_kind(asked->kind, s, n);
    } else if (x->inside && !x->elsewhere) {
        x->elsewhere = true;
        x->n_sure = x->n;
        x->wanted = asked->kind == EVERY_KIND;
    }
}

/* A unit below the version joins those below the same heading. */
static void read_unit(changes *x, size_t index, size_t order, const text_unit *u) {
    candidate *last = x->n ? &x->chosen[x->n - 1] : NULL;
    if (last && u->start < last->end) return; /* an item of a procedure */
    const bool joins = last && last->unit.head_start == u->head_start;
    const size_t bytes = u->end - (joins ? last->end : u->start);
    if (x->used + bytes > x->room || (!joins && x->n == EXTRACTIVE_MOST_SENTENCES)) {
        if (last) last->cut_end = true;
        x->full = true;
        return;
    }
    x->used += bytes;
    if (!joins) {
        last = &x->chosen[x->n++];
        *last = (candidate){
            .passage = (uint32_t)index, .order = (uint32_t)order, .start = u->start, .unit = *u};
        last->headed = u->head_end > u->head_start && u->head_kind == TEXT_UNIT_HEADING;
        last->unit.kind = TEXT_UNIT_STEPS; /* its lines are kept */
        last->unit.named = last->unit.lines = true;
    }
    last->end = last->unit.end = u->end;
}

static size_t of_passage(const candidate_set *set, const extractive_input *in, size_t index,
                         const changes_asked *asked, size_t max_chars, candidate *chosen) {
    const candidate_passage *p = &set->passages[index];
    const passage *from = &in->passages[index];
    changes x = {.chosen = chosen, .room = max_chars};
    for (size_t i = 0; i < p->units.n && !x.full; i++) {
        const text_unit *u = &p->units.v[i];
        if (u->kind == TEXT_UNIT_HEADING)
            read_heading(&x, asked, &set->q.exact, p->text.text + u->start, u->end - u->start);
        else if (x.inside && x.wanted && !u->named)
            read_unit(&x, index, i, u);
    }
    if (x.elsewhere && x.n_sure < x.n) x.n = x.n_sure;
    if (!x.n) return 0;
    candidate *last = &chosen[x.n - 1];
    last->cut_end |=
        from->open_end && fo_only_blanks(from->text + last->end, from->len - last->end);
    return x.n;
}

size_t version_changes_take(const candidate_set *set, const extractive_input *in, size_t max_chars,
                            candidate *chosen) {
    changes_asked asked;
    if (!asks_for_changes(&asked, &set->q)) return 0;
    for (size_t i = 0; i < set->n_passages; i++) {
        const candidate_passage *p = &set->passages[i];
        if (p->command || (asked.owner & ~(p->named | p->title))) continue;
        const size_t n = of_passage(set, in, i, &asked, max_chars, chosen);
        if (n) return n;
    }
    return 0;
}
