#include "retrieval/answer/continuations.h"

#include <ctype.h>
#include <string.h>

#include "kernels/utf8.h"
#include "kernels/words.h"
#include "retrieval/answer/cross_reading.h"
#include "retrieval/answer/past_states.h"
#include "retrieval/text/word_tokens.h"

/* "Work outside of these hours needs permission.": it begins with what points back at what was said, and leaves that. */
static bool points_past(const char *s, size_t n) {
    enum { FIRST_WORDS = 6 };
    static const char *const phrases[] = {" outside these hours ",
                                          " outside those hours ",
                                          " outside of these hours ",
                                          " outside of those hours ",
                                          " at other times ",
                                          " in other cases ",
                                          " any other ",
                                          " all others "};
    char words[96] = " "; /* in small letters, a blank around each */
    size_t len = 1;
    int n_words = 0;
    for (size_t i = 0; i < n && n_words < FIRST_WORDS && len + 2 < sizeof words; i++) {
        if (isalpha((unsigned char)s[i]) || (unsigned char)s[i] >= 0x80) {
            words[len++] = (char)tolower((unsigned char)s[i]);
        } else if (words[len - 1] != ' ') {
            words[len++] = ' ';
            n_words++;
        }
    }
    if (words[len - 1] != ' ') words[len++] = ' ';
    words[len] = 0;
    for (size_t i = 0; i < sizeof phrases / sizeof *phrases; i++)
        if (strstr(words, phrases[i])) return true;
    return false;
}

bool continuation_answers(const candidate_set *set, const candidate *c) {
    const candidate *best = &set->c[0];
    return set->crossed && c->passage == best->passage && c->order == best->order + 1 &&
           c->unit.kind == TEXT_UNIT_SENTENCE && best->unit.kind == TEXT_UNIT_SENTENCE &&
           cross_reading_of(c) >= 0 && cross_reading_of(c) >= cross_reading_of(best);
}

bool continuation_completes(const candidate_set *set, const candidate *c) {
    static const double much = 0.25;
    enum { FIRST_WORDS = 3 };
    const candidate *best = &set->c[0];
    const candidate_passage *p = &set->passages[c->passage];
    if (c->passage != best->passage || c->order != best->order + 1 ||
        c->unit.kind != TEXT_UNIT_SENTENCE || best->unit.kind != TEXT_UNIT_SENTENCE ||
        question_share(&set->q, c->set & ~best->set & ~p->title) < much)
        return false;
    for (size_t i = c->w0; i < c->w1 && i < c->w0 + FIRST_WORDS; i++) {
        const fact_word *w = &p->text.words[i];
        if (fo_words_have_any_case("it its they their them this these that those afterwards then",
                                   p->text.text + w->start, w->end - w->start))
            return true;
    }
    return false;
}

/* ---- what belongs to it whatever is asked ---------------------------------------------------- */

/* Do both stand in one paragraph below the same heading, the best before c? */
static bool is_of_its_paragraph(const candidate_set *set, const candidate *c) {
    const candidate *best = &set->c[0];
    if (c->passage != best->passage || c->order <= best->order ||
        c->unit.kind != TEXT_UNIT_SENTENCE || best->unit.kind != TEXT_UNIT_SENTENCE ||
        c->unit.head_start != best->unit.head_start)
        return false;
    const char *text = set->passages[c->passage].text.text;
    return !memmem(text + best->unit.end, c->unit.start - best->unit.end, "\n\n", 2);
}

static bool is_right_behind(const candidate_set *set, const candidate *c) {
    return is_of_its_paragraph(set, c) && c->order == set->c[0].order + 1;
}

/* How many words of weight c has, and of them the best too; a negation has none. */
static size_t words_of(const candidate_set *set, const candidate *c, size_t *shared) {
    const candidate *best = &set->c[0];
    const fact_text *t = &set->passages[c->passage].text;
    size_t n = 0;
    *shared = 0;
    for (uint32_t i = c->w0; i < c->w1; i++) {
        const fact_word *w = &t->words[i];
        if (!fact_is_content(w) || (w->flags & WORD_NEGATION)) continue;
        n++;
        *shared += fact_says(t, best->w0, best->w1, w->id);
    }
    return n;
}

static bool denies(const fact_text *t, const candidate *c) {
    for (uint32_t i = c->w0; i < c->w1; i++)
        if (t->words[i].flags & WORD_NEGATION) return true;
    return false;
}

/* "Do not take a double dose", "Never do so twice". */
static bool forbids(const char *s, size_t n) {
    size_t at = 0;
    const word_token first = word_token_next(s, n, &at), second = word_token_next(s, n, &at);
    return word_token_in("never", &first) ||
           (word_token_in("do don", &first) &&
            (word_token_in("not", &second) || word_token_is(&second, "'")));
}

/* Behind the words that it begins with, up to the verb: "Flex members", "The van". "If it was longer ago" and "On the free plan" are
 * no subjects. */
static uint32_t subject_end(const fact_text *t, const candidate *c) {
    static const char articles[] = "the a an all each every our your its their";
    uint32_t i = c->w0;
    while (i < c->w1 && fact_word_in(t, i, articles)) i++;
    while (i < c->w1 && fact_is_content(&t->words[i]) &&
           !(t->words[i].flags & (WORD_NEGATION | (i > c->w0 ? WORD_CLAUSE : 0))))
        i++;
    return i;
}

/* "The van is only washed by hand" says of the van something else than how many it seats: does a sentence share more with the
 * best or the question than the one word that it begins with? */
static bool shares_more_than_the_subject(const candidate_set *set, const candidate *c) {
    const candidate *best = &set->c[0];
    const candidate_passage *p = &set->passages[c->passage];
    const fact_text *t = &p->text;
    for (uint32_t i = subject_end(t, c); i < c->w1; i++) {
        const fact_word *w = &t->words[i];
        if (!fact_is_content(w) || (w->flags & WORD_NEGATION)) continue;
        if (p->terms[i] >= 0 || fact_says(t, best->w0, best->w1, w->id)) return true;
    }
    return false;
}

/* Is it about what the best is about: pointing at it, "This does not apply to flats", or for a third of its words, "Flex members
 * cannot pause"? */
static bool is_about_the_same(const candidate_set *set, const candidate *c, const char *s,
                              size_t n) {
    size_t shared, at = 0;
    const word_token first = word_token_next(s, n, &at);
    const size_t words = words_of(set, c, &shared);
    return word_token_in("this that these those", &first) ||
           (shared && 3 * shared >= words && shares_more_than_the_subject(set, c));
}

/* Is there something in the best that "always" or "still" holds against? "No fee is charged. Lunch is always paid." */
static bool holds_all_the_same(const candidate_set *set, const char *s, size_t n) {
    const candidate *best = &set->c[0];
    const fact_text *t = &set->passages[best->passage].text;
    return word_tokens_say("always still nevertheless nonetheless", s, n) &&
           (denies(t, best) ||
            word_tokens_say("free half waived", t->text + best->start, best->end - best->start));
}

/* "Amber lamp, flashing: Misfire": does the sentence begin with what it is about, and a colon? "H: and T:" are none. */
static bool has_label(const char *s, size_t n) {
    enum { MOST_WORDS = 8 };
    const size_t label = text_label(s, n, MOST_WORDS);
    return label && label + 2 < n && isupper((unsigned char)s[label + 2]);
}

/* "Fruit trees are exempt": of what the best speaks of, or of what the question asks for. */
static bool exempts(const candidate_set *set, const candidate *c, const char *s, size_t n) {
    size_t shared;
    (void)words_of(set, c, &shared);
    return (shared || c->set) && word_tokens_say("exempt exempted excepted", s, n);
}

/* Right behind the best, in one paragraph, does it take something back of that? What forbids is something else to be done. */
static bool takes_back(const candidate_set *set, const candidate *c) {
    if (!is_right_behind(set, c)) return false;
    const char *s = set->passages[c->passage].text.text + c->start;
    const size_t n = c->end - c->start;
    if (forbids(s, n) || has_label(s, n)) return false; /* what has a label is another entry */
    const bool limits = word_tokens_say("not no never nor none cannot only unless except", s, n);
    return (limits && is_about_the_same(set, c, s, n)) || exempts(set, c, s, n) ||
           holds_all_the_same(set, s, n);
}

/* "Up to ten minutes late we treat you. After that the session is lost.": what holds beyond the bound that the best states. */
static bool goes_beyond(const candidate_set *set, const candidate *c) {
    if (!is_right_behind(set, c)) return false;
    const candidate *best = &set->c[0];
    const fact_text *t = &set->passages[c->passage].text;
    bool bound = false;
    size_t at = 0;
    for (uint32_t i = best->w0; i + 1 < best->w1; i++)
        bound |= (t->words[i + 1].flags & (WORD_DIGIT | WORD_NUMERAL)) &&
                 fo_words_have_any_case("to until till within", t->text + t->words[i].start,
                                        t->words[i].end - t->words[i].start);
    const word_token first = word_token_next(t->text + c->start, c->end - c->start, &at),
                     second = word_token_next(t->text + c->start, c->end - c->start, &at);
    return bound && ((word_token_in("after beyond above past", &first) &&
                      word_token_in("that this", &second)) ||
                     word_token_in("afterwards thereafter", &first));
}

/* "We wrote that nobody was hurt. In fact three people were.": what was said wrongly is never said without what is right. */
static bool sets_right(const candidate_set *set, const candidate *c) {
    const candidate *best = &set->c[0];
    if (!is_right_behind(set, c)) return false;
    size_t shared;
    (void)words_of(set, c, &shared);
    const char *text = set->passages[c->passage].text.text;
    size_t at = 0;
    const word_token first = word_token_next(text + c->start, c->end - c->start, &at),
                     second = word_token_next(text + c->start, c->end - c->start, &at);
    const bool otherwise =
        word_token_in("actually", &first) ||
        (word_token_in("in", &first) && word_token_in("fact reality truth", &second));
    if (past_states_reports_an_error(set, best)) return otherwise || shared;
    return otherwise && shared &&
           word_tokens_say("wrote said stated reported claimed announced thought assumed "
                           "believed supposed expected",
                           text + best->start, best->end - best->start);
}

bool continuation_restricts(const candidate_set *set, const candidate *c) {
    const candidate *best = &set->c[0];
    const char *s = set->passages[c->passage].text.text + c->start;
    size_t n = 0;
    while (c->start + n < c->end && isalpha((unsigned char)s[n])) n++;
    return c->passage == best->passage && c->order == best->order + 1 &&
           (takes_back(set, c) || goes_beyond(set, c) || sets_right(set, c) ||
            fo_words_have_any_case(
                "not no but only except exceptions however never unless otherwise "
                "though without outside",
                s, n) ||
            points_past(s, c->end - c->start));
}

bool continuation_settles(const candidate_set *set, const candidate *c) {
    enum { FEWEST = 2 };
    const candidate *best = &set->c[0];
    size_t shared;
    if (!is_right_behind(set, c)) return false;
    const fact_text *t = &set->passages[c->passage].text;
    const size_t n = words_of(set, c, &shared);
    return n >= FEWEST && shared == n && denies(t, c) &&
           word_tokens_say("only if unless provided with without", t->text + best->start,
                           best->end - best->start);
}

/* Asked what to do, or what happens then, does it forbid something or say what holds always, in words of the best? */
static bool says_more_of_it(const candidate_set *set, const candidate *c) {
    const question *q = &set->q;
    const char *s = set->passages[c->passage].text.text + c->start;
    const size_t n = c->end - c->start;
    size_t shared;
    if (!is_right_behind(set, c)) return false;
    (void)words_of(set, c, &shared);
    return shared && ((q->procedure && forbids(s, n)) ||
                      (word_tokens_say("happen happens", q->text.text, q->text.len) &&
                       word_tokens_say("always itself", s, n)));
}

/* Is c of the entry that the best begins: behind it, with no other label up to there? */
static bool is_of_its_entry(const candidate_set *set, const candidate *c) {
    const candidate *best = &set->c[0];
    if (!set->q.procedure || !is_of_its_paragraph(set, c)) return false;
    const candidate_passage *p = &set->passages[c->passage];
    const char *text = p->text.text;
    if (!has_label(text + best->start, best->end - best->start)) return false;
    for (uint32_t i = best->order + 1; i <= c->order; i++) {
        const text_unit *u = &p->units.v[i];
        if (has_label(text + u->start, u->end - u->start)) return false;
    }
    return true;
}

/* "What does it cost, and when does it begin?": is a time asked for beside something else, by another half of the question? */
static bool asks_when_too(const question *q) {
    const fact_text *t = &q->text;
    bool halves = false, when = false, other = false;
    for (size_t i = 0; i + 1 < t->n_words; i++)
        halves |=
            fo_words_have_any_case("and", t->text + t->words[i].start,
                                   t->words[i].end - t->words[i].start) &&
            fo_words_have_any_case("when where who how what which", t->text + t->words[i + 1].start,
                                   t->words[i + 1].end - t->words[i + 1].start);
    for (size_t i = 0; halves && i < t->n_words; i++) {
        const char *word = t->text + t->words[i].start;
        const size_t n = t->words[i].end - t->words[i].start;
        when |= fo_words_have_any_case("when", word, n);
        other |= fo_words_have_any_case("where who how what which", word, n);
    }
    return when && other;
}

static bool says_when(const candidate_passage *p, const text_unit *u) {
    const fact_sentence s = candidate_words(&p->text, u->start, u->end);
    for (uint32_t i = s.w0; i < s.w1; i++)
        if (p->text.words[i].flags & WORD_CALENDAR) return true;
    return false;
}

/* The first sentence of its paragraph behind the best that names a day or a month, where the best names none. */
static bool says_when_too(const candidate_set *set, const candidate *c) {
    enum { FARTHEST = 3 };
    const candidate *best = &set->c[0];
    const candidate_passage *p = &set->passages[c->passage];
    if (!is_of_its_paragraph(set, c) || c->order > best->order + FARTHEST ||
        !asks_when_too(&set->q))
        return false;
    for (uint32_t i = best->order; i < c->order; i++)
        if (says_when(p, &p->units.v[i])) return false;
    return says_when(p, &c->unit);
}

/* "What does the red button do?", "What happens if I press it?" */
static bool asks_what_it_does(const question *q) {
    word_token last = {0};
    bool what = false, does = false;
    for (size_t at = 0;;) {
        const word_token t = word_token_next(q->text.text, q->text.len, &at);
        if (!t.n) return what && does && word_token_in("do happens happen", &last);
        what |= word_token_in("what", &t);
        does |= what && word_token_in("does do did happens happen will", &t);
        if (t.letters && !word_token_in("happens happen", &last)) last = t;
    }
}

/* Behind a sentence that says where it is, or when it is shown, does one begin with "this button", of which the question asks what it
 * does: "Clicking this button will ..."? */
static bool says_what_it_does(const candidate_set *set, const candidate *c) {
    enum { FIRST_WORDS = 4 };
    const candidate *best = &set->c[0];
    const candidate_passage *p = &set->passages[c->passage];
    if (c->passage != best->passage || c->order != best->order + 1 ||
        c->unit.kind != TEXT_UNIT_SENTENCE || best->unit.kind != TEXT_UNIT_SENTENCE ||
        c->unit.head_start != best->unit.head_start || !asks_what_it_does(&set->q))
        return false;
    for (uint32_t i = c->w0; i + 1 < c->w1 && i < c->w0 + FIRST_WORDS; i++) {
        const fact_word *w = &p->text.words[i], *next = w + 1;
        if (fo_words_have_any_case("this that these those", p->text.text + w->start,
                                   w->end - w->start))
            return p->terms[i + 1] >= 0 && fact_says(&p->text, best->w0, best->w1, next->id);
    }
    return false;
}

/* "The sixth field (fs_passno)." says nothing by itself: what is said of it begins with "This field". */
static bool says_what_is_named(const candidate_set *set, const candidate *c) {
    enum { LONGEST = 6 }; /* words of a name */
    const candidate *best = &set->c[0];
    const fact_text *t = &set->passages[c->passage].text;
    if (c->passage != best->passage || c->order != best->order + 1 ||
        c->unit.kind != TEXT_UNIT_SENTENCE || best->unit.kind != TEXT_UNIT_SENTENCE ||
        c->unit.head_start != best->unit.head_start || best->w1 - best->w0 > LONGEST ||
        best->w0 == best->w1 || c->w0 + 1 >= c->w1)
        return false;
    for (uint32_t i = best->w0; i < best->w1; i++)
        if (fact_word_in(t, i,
                         "is are was were has have had can could may must will would does do"))
            return false;
    return fact_word_in(t, best->w0, "the a an each") && fact_word_in(t, c->w0, "this these") &&
           fact_is_content(&t->words[c->w0 + 1]) &&
           fact_says(t, best->w0, best->w1, t->words[c->w0 + 1].id);
}

/* ---- another case of the same ---------------------------------------------------------------- */

/* "If you go beyond it, it is 14.4 %." behind "The interest is 9.9 %.": a case that comes first, and the value behind its comma. */
static bool gives_it_for_a_case(const fact_text *t, const candidate *c) {
    enum { FARTHEST = 2 }; /* words from "is" to its figure */
    if (!fo_words_have_any_case("if when", t->text + t->words[c->w0].start,
                                t->words[c->w0].end - t->words[c->w0].start))
        return false;
    for (uint32_t i = c->w0 + 1; i + 1 < c->w1; i++) {
        const fact_word *w = &t->words[i], *next = w + 1;
        const bool behind_comma = t->text[w[-1].end] == ',';
        if (!behind_comma ||
            !fo_words_have_any_case("it this", t->text + w->start, w->end - w->start) ||
            !fo_words_have_any_case("is are rises falls", t->text + next->start,
                                    next->end - next->start))
            continue;
        for (uint32_t k = i + 2; k < c->w1 && k <= i + 1 + FARTHEST; k++)
            if (t->words[k].flags & WORD_DIGIT) return true;
    }
    return false;
}

/* "You bear the whole loss if you acted with intent." behind "You bear losses up to 50 euros.": more than half of what stands before
 * the condition, two words at least, is the best's. */
static bool says_it_under_a_condition(const candidate_set *set, const candidate *c) {
    enum { FEWEST = 2 };
    const candidate *best = &set->c[0];
    const fact_text *t = &set->passages[c->passage].text;
    size_t n = 0, shared = 0;
    for (uint32_t i = c->w0; i < c->w1; i++) {
        const fact_word *w = &t->words[i];
        if (i > c->w0 && fo_words_have_any_case("if unless", t->text + w->start, w->end - w->start))
            return shared >= FEWEST && 2 * shared > n;
        if (!fact_is_content(w)) continue;
        n++;
        shared += fact_says(t, best->w0, best->w1, w->id);
    }
    return false;
}

static bool has_figure(const fact_text *t, const candidate *c) {
    for (uint32_t i = c->w0; i < c->w1; i++)
        if (t->words[i].flags & WORD_DIGIT) return true;
    return false;
}

/* Right behind a value, does the sentence say what it is in another case? A case that the best states itself is its own. */
static bool is_another_case(const candidate_set *set, const candidate *c) {
    const candidate *best = &set->c[0];
    if (!is_right_behind(set, c) || c->w0 == c->w1) return false;
    const fact_text *t = &set->passages[c->passage].text;
    return has_figure(t, best) && (gives_it_for_a_case(t, c) || says_it_under_a_condition(set, c));
}

/* Right behind what is the matter, where what to do is asked: "To overcome this, delete the folder." */
static bool tells_remedy(const candidate_set *set, const candidate *c) {
    if (!set->q.procedure || !is_right_behind(set, c)) return false;
    const char *s = set->passages[c->passage].text.text + c->start;
    const size_t n = c->end - c->start;
    size_t at = 0;
    const word_token first = word_token_next(s, n, &at), second = word_token_next(s, n, &at),
                     third = word_token_next(s, n, &at);
    return word_token_in("to", &first) &&
           word_token_in("overcome fix solve resolve avoid prevent cure remedy correct repair",
                         &second) &&
           word_token_in("this that it the these", &third);
}

bool continuation_belongs(const candidate_set *set, const candidate *c) {
    return is_another_case(set, c) || says_when_too(set, c) || continuation_settles(set, c) ||
           says_more_of_it(set, c) || is_of_its_entry(set, c) || says_what_it_does(set, c) ||
           says_what_is_named(set, c) || tells_remedy(set, c);
}
