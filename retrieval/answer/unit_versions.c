#include "retrieval/answer/unit_versions.h"

#include "kernels/utf8.h"
#include "kernels/words.h"

/* Does a clause end, or begin, between the two words? */
static bool parts_clause(const candidate_passage *p, const fact_word *w, const fact_word *next) {
    for (uint32_t i = w->end; i < next->start; i++)
        if (p->text.text[i] && strchr(",;:()", p->text.text[i])) return true;
    return false;
}

/* "PostgreSQL", "nginx2": the name of something. "In version 3.9" names nothing. */
static bool is_name(const candidate_passage *p, const fact_word *w) {
    const char *s = p->text.text + w->start;
    const size_t n = w->end - w->start;
    return fact_is_content(w) && !(w->flags & (WORD_NUMERAL | WORD_CALENDAR)) &&
           ((w->flags & WORD_CAPITAL) || ((w->flags & WORD_DIGIT) && fo_is_letter(s[0]))) &&
           !fo_words_have_any_case("version release level edition v", s, n);
}

/* Do the words, 1 and 22, belong to one number with a dot? */
static bool goes_on(const candidate_passage *p, const fact_word *w, const fact_word *next) {
    return (w->flags & next->flags & WORD_DIGIT) && next->start == w->end + 1 &&
           p->text.text[w->end] == '.';
}

/* "..., nginx 1.22 in front": in small letters what begins a clause, with a number that has a dot behind it. */
static bool is_small_name(const candidate_passage *p, const fact_word *further, const fact_word *w,
                          const fact_word *number) {
    const char *s = p->text.text + w->start, *behind = p->text.text + number->end;
    return fact_is_content(w) && (!further || parts_clause(p, further, w)) &&
           !fo_words_have_any_case("version release level edition v", s, w->end - w->start) &&
           (memchr(p->text.text + number->start, '.', number->end - number->start) ||
            (behind[0] == '.' && fo_is_digit(behind[1])));
}

bool unit_is_of_another_version(const question *q, const candidate_passage *p, const text_unit *u) {
    const int thing = q->asks.version_of;
    const fact_sentence s = candidate_words(&p->text, u->start, u->end);
    bool said = false, others = false, own = false; /* own: the words before are the thing's name */
    const fact_word *further = NULL, *before = NULL; /* the last two that are no parts */
    if (thing < 0 || !(u->kind == TEXT_UNIT_SENTENCE || u->kind == TEXT_UNIT_ITEM)) return false;
    for (uint32_t i = s.w0; i < s.w1; i++) {
        const fact_word *w = &p->text.words[i];
        if (w->flags & WORD_PART || (before && goes_on(p, before, w))) continue;
        const bool its = p->terms[i] == thing;
        said |= its;
        if (!its && !is_name(p, w) && (w->flags & (WORD_DIGIT | WORD_NUMERAL))) {
            const bool behind = before && !own && !parts_clause(p, before, w);
            /* "since 2.3", "(version 3.9)": it may well be the thing's */
            if (!behind || !(is_name(p, before) || is_small_name(p, further, before, w)))
                return false;
            others = true;
        }
        own = its || (own && (w->flags & WORD_CAPITAL) && is_name(p, w) &&
                      !parts_clause(p, before, w)); /* "PostgreSQL Server 16" */
        further = before;
        before = w;
    }
    return said && others;
}
