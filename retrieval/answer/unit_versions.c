#include "retrieval/answer/unit_versions.h"

#include "kernels/utf8.h"
#include "kernels/words.h"

/* The term whose version is asked for: "which version of nginx", "what MinIO version"; -1: of none. */
static int thing_asked(const question *q) {
    const fact_text *t = &q->text;
    bool which = false;
    for (size_t i = 0; i < t->n_words; i++) {
        const char *s = t->text + t->words[i].start;
        const size_t n = t->words[i].end - t->words[i].start;
        which |= fo_words_have_any_case("which what", s, n);
        if (!which || !fo_words_have_any_case("version", s, n)) continue;
        size_t k = i, before = i;
        while (before > 0 && (t->words[before - 1].flags & WORD_PART)) before--;
        if (i + 2 < t->n_words &&
            fo_words_have_any_case("of", t->text + t->words[i + 1].start,
                                   t->words[i + 1].end - t->words[i + 1].start))
            k = i + 2;
        else if (before > 0 && fact_is_content(&t->words[before - 1]))
            k = before - 1;
        return k == i ? -1 : question_term_of(q, t->words[k].id);
    }
    return -1;
}

/* Where the clause ends, or begins, that word w is of. */
static bool ends_clause(const candidate_passage *p, const fact_word *w, const fact_word *next) {
    for (uint32_t i = w->end; i < next->start; i++)
        if (strchr(",;:()", p->text.text[i])) return true;
    return false;
}

bool unit_is_of_another_version(const question *q, const candidate_passage *p, const text_unit *u) {
    const int thing = q->text.language < 0 ? thing_asked(q) : -1;
    const fact_sentence s = candidate_words(&p->text, u->start, u->end);
    bool said = false, others = false, here = false, number = false;
    const fact_word *before = NULL; /* the last that is no part */
    if (thing < 0 || !(u->kind == TEXT_UNIT_SENTENCE || u->kind == TEXT_UNIT_ITEM)) return false;
    for (uint32_t i = s.w0; i < s.w1; i++) {
        const fact_word *w = &p->text.words[i];
        here |= p->terms[i] == thing;
        said |= here;
        if (w->flags & WORD_PART) continue;
        if (before && ends_clause(p, before, w)) {
            here = p->terms[i] == thing;
            number = false;
        }
        if (w->flags & (WORD_DIGIT | WORD_NUMERAL)) {
            number = true;
            /* "since 2.3", "3.8 or newer": whose it is the sentence says elsewhere */
            if (!before || !fact_is_content(before)) return false;
            others = true;
        }
        if (here && number) return false;
        before = w;
    }
    return said && others;
}
