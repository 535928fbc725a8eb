#include "retrieval/values/short_clauses.h"

#include <string.h>

#include "kernels/utf8.h"
#include "retrieval/values/cell_times.h"
#include "retrieval/values/cell_values.h"
#include "retrieval/question/demand_days.h"
#include "retrieval/values/value_bounds.h"

enum {
    VALUES = 12, /* of a unit; one with more is a list */
    PARTS = 16,  /* clauses of a unit */
    NO_PART = PARTS + 1,
    SHORT_CLAUSE =
        2, /* words of its own that a clause has which leaves out the verb: "a half plot £36" */
    CLOCK = 256,
    MONEY,
    COUNTED, /* and a hash of what is counted */
};

/* Bytes of the unit. */
typedef struct value {
    uint32_t from, to;
    uint32_t kind; /* 0: of none that is told apart */
} value;

typedef struct values {
    value v[VALUES];
    size_t n;
    bool more;
} values;

/* ---- values ---------------------------------------------------------------------------------- */

static word_token token_behind(const char *s, size_t n, size_t at) {
    return word_token_next(s, n, &at);
}

/* The token that ends before byte `at`, which begins one: the last of those from the nearest line or bracket on. */
static word_token token_before(const char *s, size_t at) {
    enum { FAR = 24 };
    size_t from = at > FAR ? at - FAR : 0, k;
    while (from > 0 && from < at && !fo_is_blank(s[from - 1])) from++;
    word_token last = {0}, t;
    for (k = from; k < at && (t = word_token_next(s, at, &k)).n;) last = t;
    return last;
}

/* Money, a time of the day, or a number of a known unit or of what is counted; where it begins and ends with its sign and
 * unit. */
static value value_of(const char *s, size_t n, const fact_number *f) {
    value v = {f->start, f->end, 0};
    const word_token before = token_before(s, f->start), behind = token_behind(s, n, f->end);
    const size_t gap = behind.n ? (size_t)(behind.s - s) - f->end : n;
    const bool near = behind.n && gap <= 1;
    cell_clock clock;
    const size_t read = cell_clock_at(s + f->start, n - f->start, &clock);
    if (demand_currency_named(&before) && before.s + before.n == s + f->start) {
        v.from = (uint32_t)(before.s - s);
        v.kind = MONEY;
    } else if (near && demand_currency_named(&behind)) {
        v.to = (uint32_t)(behind.s + behind.n - s);
        v.kind = MONEY;
    } else if (read &&
               (clock.told || (word_token_in("at until till by before after from", &before) &&
                               clock.minutes <= 24 * 60 && !(behind.letters && near && f->unit)))) {
        v.kind = CLOCK;
        if (f->start + read > v.to) v.to = (uint32_t)(f->start + read);
    } else if (f->unit != UNIT_NONE && near) {
        v.kind = f->unit;
        if (!(f->unit == UNIT_CLOCK)) v.to = (uint32_t)(behind.s + behind.n - s);
    } else if (near && behind.letters && behind.n > 3 && !f->weak && !f->version) {
        v.kind = COUNTED + cell_kind_of(0, behind.s, behind.n) % 100000;
        v.to = (uint32_t)(behind.s + behind.n - s);
    }
    return v;
}

/* Does nothing but "to", "until" or a dash stand between? */
static bool is_range(const char *s, size_t from, size_t to) {
    size_t at = from;
    const word_token t = word_token_next(s, to, &at), more = word_token_next(s, to, &at);
    return (word_token_is_dash(&t) || word_token_in("to until till", &t)) && !more.n;
}

/* "9-18": the second is a time, or the first, so both are. */
static int read_values(values *out, const char *s, size_t n, fo_err *err) {
    fact_numbers f = {0};
    int rc = fact_numbers_read(&f, s, n, err);
    *out = (values){0};
    for (size_t i = 0; !rc && i < f.n && !out->more; i++) {
        value v = value_of(s, n, &f.v[i]);
        value *last = out->n ? &out->v[out->n - 1] : NULL;
        if (last && last->to <= v.from && is_range(s, last->to, v.from) &&
            (!v.kind || !last->kind || v.kind == last->kind)) {
            if (!last->kind) last->kind = v.kind;
            if (!last->kind && f.v[i].value <= 24) last->kind = CLOCK;
            last->to = v.to;
            continue;
        }
        out->more = out->n == VALUES;
        if (!out->more) out->v[out->n++] = v;
    }
    fact_numbers_deinit(&f);
    return rc;
}

static void keep_kind(values *v, uint32_t kind) {
    size_t kept = 0;
    for (size_t i = 0; i < v->n; i++)
        if (v->v[i].kind == kind) v->v[kept++] = v->v[i];
    v->n = kept;
}

/* ---- clauses --------------------------------------------------------------------------------- */

typedef struct clause {
    size_t from, to; /* bytes of the unit */
    value v;
    size_t own; /* words of content */
    size_t before;
} clause;

static bool ends_sentence(const char *s, size_t n, size_t i) {
    return (s[i] == '.' || s[i] == '!' || s[i] == '?') && i + 2 < n && fo_is_blank(s[i + 1]) &&
           fo_is_upper(s[i + 2]);
}

/* How well the text is divided at byte i; *n: bytes of what divides. 0: not at all. */
static int divides(const char *s, size_t len, size_t i, size_t *n) {
    *n = 1;
    if (ends_sentence(s, len, i)) return 5;
    if (s[i] == ';') return 4;
    if (s[i] == ',' && i + 1 < len && fo_is_blank(s[i + 1])) return 3;
    if (fo_is_blank(s[i])) {
        size_t at = i;
        const word_token t = word_token_next(s, len, &at);
        *n = at - i;
        if (word_token_in("and but while", &t)) return 2;
    }
    return s[i] == '(' ? 1 : 0;
}

/* Where bytes [from, to) are divided best: from the first such mark to behind the last; false: nowhere. */
static bool divide(const char *s, size_t len, size_t from, size_t to, size_t *a, size_t *b) {
    int best = 0;
    for (size_t i = from, n; i < to; i++) {
        const int how = divides(s, len, i, &n);
        if (how < best || !how || i + n > to) continue;
        if (how > best) *a = i;
        *b = i + n;
        best = how;
    }
    return best > 0;
}

static size_t content_in(const fact_text *t, size_t from, size_t to) {
    size_t n = 0;
    for (size_t i = 0; i < t->n_words; i++)
        n += t->words[i].start >= from && t->words[i].end <= to && fact_is_content(&t->words[i]) &&
             !(t->words[i].flags & WORD_DIGIT);
    return n;
}

/* The end of the clause of the last value: "€90, and are arranged by the office". */
static size_t last_end(const fact_text *t, size_t from) {
    size_t i = from, n;
    while (i < t->len && divides(t->text, t->len, i, &n) < 3) i++;
    return i;
}

/* One for each value; false: two of them are not divided. */
static bool clauses_of(clause *c, const values *v, const fact_text *t) {
    size_t from = 0, a = 0, b = 0;
    for (size_t i = 0; i < v->n; i++) {
        const value *x = &v->v[i];
        const bool last = i + 1 == v->n;
        if (!last && !divide(t->text, t->len, x->to, v->v[i + 1].from, &a, &b)) return false;
        c[i] = (clause){.from = from, .to = last ? last_end(t, x->to) : a, .v = *x};
        c[i].before = content_in(t, c[i].from, x->from);
        c[i].own = c[i].before + content_in(t, x->to, c[i].to);
        from = b;
    }
    return true;
}

/* Where nothing stands before the next value, what stands before this one is said of both: "Puncture: £12 front wheel, £15 rear
 * wheel". */
static void share_beginning(clause *c, size_t n) {
    for (size_t i = 0; i + 1 < n; i++)
        if (!c[i + 1].before) c[i].from = c[i].v.from;
}

/* Does the reader take of the value? */
static bool takes(const short_input *in, const value *v) {
    return in->start + v->from < in->best_to && in->start + v->to > in->best_from;
}

static size_t taken(const short_input *in, const values *v) {
    size_t n = 0;
    for (size_t i = 0; i < v->n; i++) n += takes(in, &v->v[i]);
    return n;
}

/* The clause of the day or month that is asked about; n: none, or several. */
static size_t of_day(const asked_tier *t, const fact_text *unit, const clause *c, size_t n) {
    const demands *d = &t->q.demands;
    size_t found = n, met = 0;
    for (size_t i = 0; i < n; i++) {
        const char *s = unit->text + c[i].from;
        const size_t bytes = c[i].to - c[i].from;
        if ((d->days && demands_day_in(d, s, bytes) == DAY_MET) ||
            (d->months && !d->days && demands_month_in(d, s, bytes) == DAY_MET)) {
            found = i;
            met++;
        }
    }
    return met == 1 ? found : n;
}

static bool says_one(const fact_text *unit, const clause *c, const char *words) {
    return word_tokens_say(words, unit->text + c->from, c->to - c->from);
}

/* Terms of the question that clause i says without denying them, as it does itself: what stands before the first value may
 * be said of all, unless something stands before the next one, too. */
static uint64_t affirmed(const asked_tier *t, const fact_text *unit, const clause *c, size_t n,
                         size_t i) {
    const bool own = i > 0 || (n > 1 && c[1].before > 0);
    if (says_one(unit, &c[i], "non not no without")) return 0;
    return (own ? asked_words_in(t, unit, c[i].from, c[i].v.from) : 0) |
           asked_words_in(t, unit, c[i].v.to, c[i].to);
}

/* Who asks for non-members is told what is for others, where a clause is for members; n: there is no such, or several. */
static size_t of_others(const asked_tier *t, const fact_text *unit, const clause *c, size_t n) {
    size_t found = n, n_others = 0;
    bool denied = false;
    for (size_t i = 0; t->denied && i < n; i++) {
        if (affirmed(t, unit, c, n, i) & t->denied) {
            denied = true;
        } else if (says_one(unit, &c[i],
                            "others else non not without everyone everybody anyone anybody guests "
                            "visitors public rest")) {
            found = i;
            n_others++;
        }
    }
    return denied && n_others == 1 ? found : n;
}

/* The clause that says of the question what no other does; of several that say as much the one that the reader takes, if any;
 * n: none. */
static size_t of_words(const asked_tier *t, const fact_text *unit, const clause *c, size_t n,
                       size_t read) {
    uint64_t said[VALUES];
    int own[VALUES];
    int most = 0;
    size_t best = of_others(t, unit, c, n), later = n, n_later = 0;
    if (best < n) return best;
    for (size_t i = 0; i < n; i++) {
        const bool against =
            t->denied_things && (affirmed(t, unit, c, n, i) & t->denied_things) != 0;
        said[i] = against ? 0
                          : (asked_words_in(t, unit, c[i].from, c[i].v.from) |
                             asked_words_in(t, unit, c[i].v.to, c[i].to)) &
                                ~t->denied;
    }
    for (size_t i = 0; i < n; i++) {
        uint64_t others = 0;
        for (size_t k = 0; k < n; k++) others |= k != i ? said[k] : 0;
        own[i] = __builtin_popcountll(said[i] & ~others);
        if (own[i] && i && c[i].own <= SHORT_CLAUSE) {
            later = i;
            n_later++;
        }
        if (own[i] == most) best = n;
        if (own[i] > most) best = i, most = own[i];
    }
    /* "Tours cost €75, on weekends €90": what both are of stands before the first */
    if (n_later == 1 && (best == 0 || best == n)) return later;
    return best == n && most && read < n && own[read] == most ? read : best;
}

/* "In September we open at 10 and the last boat goes out at 4.30 pm": the month alone, that was asked now, stands before the
 * first value and may be said of all, while the whole question speaks of another, which is no "a half plot £36". */
static bool is_said_of_all(const clause *c, size_t found, size_t whole, size_t n) {
    return found == 0 && c[0].from < c[0].v.from && whole > 0 && whole < n &&
           c[whole].own > SHORT_CLAUSE;
}

static size_t meant(const short_input *in, const fact_text *unit, const clause *c, size_t n) {
    size_t read = 0;
    while (read < n && !takes(in, &c[read].v)) read++;
    for (size_t i = 0; i < in->asked->n; i++) {
        const asked_tier *t = &in->asked->tier[i];
        size_t found = of_words(t, unit, c, n, read);
        if (found == n) found = of_day(t, unit, c, n);
        if (i + 1 < in->asked->n) {
            const size_t whole = of_words(t + 1, unit, c, n, read);
            if (is_said_of_all(c, found, whole, n)) return whole;
        }
        if (found < n) return found;
    }
    return n;
}

/* ---- what is asked for ----------------------------------------------------------------------- */

bool short_says_amount(const short_input *in, size_t from, size_t to) {
    if (asked_words_money(in->asked) != ASKED_MONEY) return true;
    return demand_amount_in(AMOUNT_MONEY, in->passage->text + from, to - from) != AMOUNT_NOT_STATED;
}

/* The kind of value that is asked for, or that the reader takes; 0: it takes none. */
static uint32_t asked_kind(const short_input *in, const values *v) {
    const enum asked_money money = asked_words_money(in->asked);
    bool has = money == ASKED_MONEY;
    for (size_t i = 0; i < v->n; i++) has |= v->v[i].kind == MONEY;
    if (money != ASKED_NO_MONEY && has) return MONEY;
    for (size_t i = 0; i < v->n; i++)
        if (v->v[i].kind && takes(in, &v->v[i])) return v->v[i].kind;
    return 0;
}

/* ---- parts ----------------------------------------------------------------------------------- */

/* The sentences of the unit, and what semicolons part. */
static size_t parts_of(clause *c, const fact_text *t) {
    size_t n = 0, from = 0, bytes;
    for (size_t i = 0; i < t->len && n + 1 < PARTS; i++)
        if (divides(t->text, t->len, i, &bytes) >= 4) {
            c[n++] = (clause){.from = from, .to = i};
            from = i + 1;
        }
    c[n++] = (clause){.from = from, .to = t->len};
    return n;
}

/* The terms that name a thing: behind an article or the like, and what was taken over from the turns before. */
static uint64_t things_of(const asked_words *w, size_t tier) {
    const asked_tier *t = &w->tier[tier];
    const fact_text *q = &t->q.text;
    uint64_t things = 0;
    for (size_t i = 0; i < q->n_words; i++) {
        const int k = question_term_of(&t->q, q->words[i].id);
        const bool behind = i > 0 && (q->words[i - 1].flags & WORD_STOP);
        const bool taken_over = tier > 0 && !question_says(&w->tier[0].q, q->words[i].id);
        if (k >= 0 && (taken_over || (behind && question_names_thing(q, i)))) things |= 1ull << k;
    }
    return things;
}

/* Is the amount of the question within a bound of the part: 2 days before in "less than 4 days before"? */
static bool bounds_asked(const asked_words *w, const char *s, size_t n) {
    value_bound asked[VALUE_BOUNDS_MAX], bounds[VALUE_BOUNDS_MAX];
    const fact_text *q = &w->tier[0].q.text;
    const size_t n_asked = value_amounts_in(q->text, q->len, asked),
                 n_bounds = value_bounds_in(s, n, bounds);
    for (size_t i = 0; i < n_asked; i++)
        for (size_t k = 0; k < n_bounds; k++)
            if (value_bound_is_for(&bounds[k], &asked[i]) &&
                value_bound_holds(&bounds[k], &asked[i]))
                return true;
    return false;
}

/* Does what the reader takes begin in it? */
static bool is_taken(const short_input *in, const clause *c) {
    return in->best_from >= in->start + c->from && in->best_from < in->start + c->to;
}

/* The part that names a thing of the question, where that which the reader takes names none; n: no other is better, NO_PART:
 * several are. */
static size_t other_part(const short_input *in, const fact_text *unit, const clause *c, size_t n) {
    for (size_t k = 0; k < n; k++)
        if (is_taken(in, &c[k]) &&
            bounds_asked(in->asked, unit->text + c[k].from, c[k].to - c[k].from))
            return n;
    for (size_t i = 0; i < in->asked->n; i++) {
        const uint64_t things = things_of(in->asked, i);
        uint64_t said[PARTS], here = 0, all = 0, twice = 0;
        size_t best = n;
        int most = 0;
        for (size_t k = 0; k < n; k++) {
            said[k] = asked_words_in(&in->asked->tier[i], unit, c[k].from, c[k].to) & things;
            twice |= all & said[k];
            all |= said[k];
        }
        for (size_t k = 0; k < n; k++) {
            const int own = __builtin_popcountll(said[k] & ~twice);
            if (is_taken(in, &c[k])) here |= said[k] & ~twice;
            if (own == most) best = n;
            if (own > most) best = k, most = own;
        }
        if (here) return n; /* the reader's own is as good */
        if (most) return best == n ? NO_PART : best;
    }
    return n;
}

bool short_is_beside(const asked_words *asked, const fact_text *unit, const fact_text *quote) {
    const asked_tier *t = &asked->tier[0];
    const uint64_t things = things_of(asked, 0);
    return asked->n > 1 && !(things & asked_words_in(t, unit, 0, unit->len)) &&
           (things & asked_words_in(t, quote, 0, quote->len));
}

int short_clause_find(enum short_told *told, short_clause *out, const short_input *in,
                      const fact_text *unit, fo_err *err) {
    values v;
    clause c[PARTS];
    int rc = read_values(&v, unit->text, unit->len, err);
    *told = SHORT_OPEN;
    if (rc || v.more) return rc;
    const uint32_t kind = asked_kind(in, &v);
    keep_kind(&v, kind);
    if (kind && v.n > 1) {
        size_t found = v.n;
        if (clauses_of(c, &v, unit)) {
            share_beginning(c, v.n);
            found = meant(in, unit, c, v.n);
        }
        /* "22:30, on Fridays at 23:00": all of it, where nothing but what comes before speaks for the first */
        const bool all = taken(in, &v) == v.n;
        if (all && found == 0 && c[0].from < c[0].v.from) return FO_OK;
        if (found < v.n) {
            *told = SHORT_TOLD;
            *out = (short_clause){in->start + c[found].from, in->start + c[found].to,
                                  in->start + c[found].v.from, in->start + c[found].v.to};
        } else if (!all) {
            *told = SHORT_NOT_TOLD;
        }
        return FO_OK;
    }
    const size_t n = parts_of(c, unit);
    if (kind == MONEY && v.n == 1 && asked_words_money(in->asked) != ASKED_NO_MONEY) {
        size_t part = 0;
        while (part + 1 < n && c[part].to <= v.v[0].from) part++;
        *told = SHORT_TOLD;
        *out = (short_clause){in->start + c[part].from, in->start + c[part].to,
                              in->start + v.v[0].from, in->start + v.v[0].to};
        return FO_OK;
    }
    const size_t other = other_part(in, unit, c, n);
    if (other == n) return FO_OK;
    /* a reason stands beside what it is for */
    const bool reason = asked_words_whole(in->asked)->demands.reason;
    *told = other < n && !reason ? SHORT_TOLD : SHORT_NOT_TOLD;
    if (*told == SHORT_TOLD)
        *out = (short_clause){in->start + c[other].from, in->start + c[other].to, 0, 0};
    return FO_OK;
}
