#include "retrieval/answer/unit_persons.h"

#include <string.h>

#include "kernels/utf8.h"
#include "kernels/words.h"
#include "retrieval/question/demand_words.h"
#include "retrieval/text/word_tokens.h"

/* ---- the question ------------------------------------------------------------------------ */

/* "Who leads the workshop?", not "Who is Emeka Ward?", which names the person. */
static bool asks_who(const question *q) {
    const fact_text *t = &q->text;
    if (t->language >= 0 || q->kind != ASK_PERSON || t->n_words < 3) return false;
    const char *text = t->text;
    const fact_word *first = &t->words[0], *verb = &t->words[1];
    if (!fo_words_have_any_case("who whom", text + first->start, first->end - first->start))
        return false;
    return !fo_words_have_any_case("is are was were", text + verb->start,
                                   verb->end - verb->start) ||
           !fact_is_named(t, 2);
}

/* Words of who made something, in a question and, "Directed by Hugh Sorley", before who did. */
static const char makes[] =
    "write writes wrote written writing author authors writer compose composes composed composer "
    "paint paints painted painter artist draw draws drew drawn illustrated illustrator make makes "
    "made maker create creates created creator design designs designed designer direct directs "
    "directed director build builds built builder produce produces produced producer translate "
    "translated translator edit edits edited editor publish published publisher photographed "
    "photographer invented sculptor choreographed choreographer arranged";

static bool asks_who_made(const question *q) {
    return word_tokens_say(makes, q->text.text, q->text.len) ||
           word_tokens_say("by play playwright music behind leads led heads headed runs "
                           "charge responsible",
                           q->text.text, q->text.len);
}

/* "Who designed the church?", not "Who is behind it?": that somebody made it is said, too. "Who made the decision?" asks for no
 * maker, but "Who made the cake, what was her name?" does. */
static bool asks_for_the_maker(const question *q, bool by_name) {
    const fact_text *t = &q->text;
    if (!asks_who(q)) return false;
    const fact_word *verb = &t->words[1];
    const char *s = t->text + verb->start;
    const size_t n = verb->end - verb->start;
    return (by_name && fo_words_have_any_case("made", s, n)) ||
           fo_words_have_any_case("wrote composed painted drew created designed directed built "
                                  "produced invented sculpted founded",
                                  s, n);
}

/* ---- the text ---------------------------------------------------------------------------- */

/* By its ending, "visitor", "tenants", or from a list; "you" and "nobody" are people, too. */
static bool is_for_people(const char *word, size_t n) {
    static const char *const endings[] = {"er", "or",  "ist", "ant",  "ent", "ian",
                                          "ee", "man", "men", "body", "one", "ess"};
    static const char people[] =
        "i we you he she they us them who whoever whom our your his her their himself herself "
        "people person persons child children kids boy boys girl girls lady ladies husband wife "
        "couple couples "
        "staff team crew committee board council court government police company firm bank office "
        "agency department ministry "
        "association club school church city town state public landlord landlady host guard guards "
        "nurse nurses "
        "chef chefs cook clerk pilot coach chief head chair boss king queen judge friend friends "
        "bride groom colleague colleagues neighbour neighbours witness warden wardens steward "
        "stewards "
        "adult youth youths those any all others each either both authority authorities family "
        "families";
    if (fo_words_have_any_case(people, word, n)) return true;
    if (n > 3 && (word[n - 1] == 's' || word[n - 1] == 'S')) n--;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        const size_t m = strlen(endings[i]);
        if (n > m + 1 && !strncasecmp(word + n - m, endings[i], m)) return true;
    }
    return false;
}

typedef struct persons {
    bool capitals; /* the text has some: in small letters alone no name is told */
    bool people;   /* may be said to be somebody */
    bool names;    /* ... by a name */
    bool makers;   /* ... or, "by Emeka Ward", to have made something */
} persons;

/* "The Salt Road by", "Directed by": what stands before "by" is a title's last word, or says that somebody made it. */
static bool is_made(const fact_text *t, size_t i) {
    const uint32_t flags = t->words[i].flags;
    const bool title = (flags & WORD_CAPITAL) && !(flags & WORD_INITIAL);
    return title || fact_word_in(t, i, makes);
}

/* "Cake: anna", "(anna)": in small letters too it may be somebody. */
static bool is_behind_mark(const fact_text *t, const fact_word *w) {
    size_t at = w->start;
    while (at > 0 && t->text[at - 1] == ' ') at--;
    return at > 0 && (t->text[at - 1] == ':' || t->text[at - 1] == '(');
}

static void look(persons *out, const question *q, const candidate_passage *p, uint32_t start,
                 uint32_t end) {
    const fact_text *t = &p->text;
    const fact_sentence s = candidate_words(t, start, end);
    bool behind_by = false;
    for (size_t i = s.w0; i < s.w1; i++) {
        const fact_word *w = &t->words[i];
        const bool capital = (w->flags & WORD_CAPITAL) != 0;
        out->capitals |= capital;
        if (behind_by && (!capital || (w->flags & WORD_CLAUSE))) behind_by = false;
        if (i + 1 < s.w1 && fact_word_in(t, i + 1, "by") && is_made(t, i)) {
            behind_by = true;
            i++;
            continue;
        }
        if (w->flags & (WORD_DIGIT | WORD_CALENDAR)) continue;
        const bool name = !question_says(q, w->id) &&
                          ((capital && !(w->flags & WORD_STOP)) || is_behind_mark(t, w));
        const bool counted =
            i + 1 < s.w1 && (t->words[i + 1].flags & WORD_DIGIT); /* "Years 4 to 6" */
        out->names |= name && !counted;
        if (behind_by)
            out->makers = true;
        else if (name ||
                 (!question_says(q, w->id) && is_for_people(t->text + w->start, w->end - w->start)))
            out->people = true;
    }
}

/* "(Lloyd, et al. 2007)": a name and a number in brackets, as sources are named. */
static bool has_source(const char *s, size_t n) {
    for (size_t i = 0; i + 1 < n; i++) {
        if (s[i] != '(' || !fo_is_upper(s[i + 1])) continue;
        const char *end = memchr(s + i, ')', n - i);
        if (end && fo_has_digit(s + i, (size_t)(end - s) - i)) return true;
    }
    return false;
}

/* Does the text say that something was made, or whose work it is: by the question's verb or another one for it, "by", "her first
 * novel", "the architect was ...", or, as a label does, with a colon? */
static bool says_that_it_is_made(const question *q, const candidate_passage *p, uint32_t start,
                                 uint32_t end) {
    const char *s = p->text.text + start;
    const size_t n = end - start;
    const fact_sentence words = candidate_words(&p->text, start, end);
    return memchr(s, ':', n) || fact_says(&p->text, words.w0, words.w1, q->text.words[1].id) ||
           word_tokens_say(makes, s, n) ||
           word_tokens_say("by from his her their work works did founder founded founders "
                           "architect architects engineer engineers sculptor inventor novelist "
                           "poet constructed erected developed developer wrote penned style "
                           "commissioned attributed credited responsible",
                           s, n);
}

/* "Jan Berg", "by Berg": a name that the question does not say. */
static bool is_persons_name(const question *q, const fact_text *t, const fact_word *w,
                            const fact_word *next) {
    const char *s = t->text + w->start;
    const bool capital = (w->flags & WORD_CAPITAL) && fact_is_content(w) &&
                         !(w->flags & (WORD_DIGIT | WORD_CALENDAR)) && !question_says(q, w->id);
    return next->start == w->end + 1 && (next->flags & WORD_CAPITAL) && fact_is_content(next) &&
           !question_says(q, next->id) &&
           !(next->flags & (WORD_DIGIT | WORD_CALENDAR | WORD_CLAUSE)) &&
           (capital ||
            fo_words_have_any_case("by of to from under with for and", s, w->end - w->start));
}

/* "Petra Holm": two of them side by side. A heading has capitals for other things, too. */
static bool has_whole_name(const question *q, const candidate_passage *p, uint32_t start,
                           uint32_t end) {
    const fact_text *t = &p->text;
    const fact_sentence s = candidate_words(t, start, end);
    for (size_t i = s.w0; i + 1 < s.w1; i++)
        if ((t->words[i].flags & WORD_CAPITAL) &&
            is_persons_name(q, t, &t->words[i], &t->words[i + 1]))
            return true;
    return false;
}

/* "The church, begun in 1266, is taller than the town hall": the thing asked about is what it speaks of, and how it is; nobody is
 * named. */
static bool says_how_it_is(const question *q, const candidate_passage *p, uint32_t start,
                           uint32_t end) {
    static const char being[] = "is are was were has have had stands stood lies lay measures "
                                "measured weighs weighed begun began opened covers contains holds "
                                "puts says shows finds found gives lists ranks counts";
    const fact_text *t = &p->text;
    const fact_sentence s = candidate_words(t, start, end);
    bool thing = false, is = false;
    for (size_t i = s.w0; i < s.w1; i++) {
        const fact_word *w = &t->words[i];
        const bool asked = p->terms[i] >= 0 && fact_is_content(w);
        if (i + 1 < s.w1 && is_persons_name(q, t, w, &w[1])) return false;
        if (!thing && !asked && (w->flags & WORD_CAPITAL) && fact_is_content(w)) return false;
        thing |= asked;
        is |= thing && fact_word_in(t, i, being);
    }
    return is;
}

/* Does the unit say what somebody is asked to have made, the first noun behind the verb? */
static bool says_what_is_made(const question *q, const candidate_passage *p, const text_unit *u) {
    const uint64_t said = candidate_terms(p, u->start, u->end) | candidate_head_terms(p, u);
    for (size_t i = 2; i < q->text.n_words; i++) {
        const int k =
            fact_is_content(&q->text.words[i]) ? question_term_of(q, q->text.words[i].id) : -1;
        if (k >= 0) return said >> k & 1;
    }
    return true;
}

/* "It was given to us by the widow of Dr Pryce": somebody did something else with what was built. The question's verb stands nowhere. */
static bool is_done_otherwise(const question *q, const candidate_passage *p, const text_unit *u) {
    enum { REACH = 4 }; /* words from the verb to "by" */
    static const char others[] =
        "given donated presented bought purchased sold lent left owned used "
        "opened restored repaired replaced paid visited found named";
    const fact_text *t = &p->text;
    const fact_sentence s = candidate_words(t, u->start, u->end);
    size_t since = REACH + 1;
    bool otherwise = false;
    if (fact_says(t, s.w0, s.w1, q->text.words[1].id) ||
        word_tokens_say(makes, t->text + u->start, u->end - u->start))
        return false;
    for (size_t i = s.w0; i < s.w1; i++) {
        if (fact_word_in(t, i, "by")) {
            if (since > REACH) return false;
            otherwise = true;
        }
        since = fact_word_in(t, i, others) ? 0 : since + 1;
    }
    return otherwise;
}

/* "Who is the president?" is not answered by "the board is the president, the secretary and two others", nor by "the president may be
 * elected again". */
static bool only_names_offices(const question *q, const candidate_passage *p, const text_unit *u) {
    static const char offices[] = "president chair chairman chairwoman chairperson secretary "
                                  "treasurer director manager captain warden deputy";
    const fact_text *asked = &q->text, *t = &p->text;
    const fact_sentence s = candidate_words(t, u->start, u->end);
    bool office = false, named = false;
    size_t n = 0;
    for (size_t i = 0; i < asked->n_words; i++) office |= fact_word_in(asked, i, offices);
    for (size_t i = s.w0; i < s.w1; i++) {
        const fact_word *w = &t->words[i];
        n += fact_word_in(t, i, offices);
        named |= (w->flags & WORD_CAPITAL) && !(w->flags & (WORD_STOP | WORD_CALENDAR)) &&
                 !fact_word_in(t, i, offices) && !question_says(q, w->id);
    }
    return office && !named &&
           (n > 1 || (n && word_tokens_say("elected elects may must shall chosen appointed votes",
                                           t->text + u->start, u->end - u->start)));
}

/* ---- offices in other languages ---------------------------------------------------------- */

/* The folded word of the question that begins at byte `at`. */
static const char *asked_word(const question *q, size_t at, char folded[DEMAND_WORD_MOST]) {
    const word_token t = word_token_next(q->text.text, q->text.len, &at);
    return demand_word_fold(folded, &t);
}

/* Do bytes [start, end) of the passage say it, or a word of the same beginning: "préside" for "président"? */
static bool says_office(const question *q, size_t at, const candidate_passage *p, size_t start,
                        size_t end) {
    enum { BEGINNING = 10, SHORT = 5 }; /* bytes: of two in Cyrillic */
    const fact_text *t = &p->text;
    char office[DEMAND_WORD_MOST], said[DEMAND_WORD_MOST];
    const size_t n = strlen(asked_word(q, at, office));
    const size_t same = (unsigned char)office[0] >= 0x80 ? BEGINNING : SHORT;
    int term = -1;
    for (size_t i = 0; i < q->text.n_words; i++)
        if (q->text.words[i].start == at) term = question_term_of(q, q->text.words[i].id);
    for (size_t i = 0; i < t->n_words; i++) {
        const fact_word *w = &t->words[i];
        if (w->start < start || w->end > end) continue;
        if (term >= 0 && p->terms[i] == term) return true;
        const word_token word = {.s = t->text + w->start, .n = w->end - w->start, .letters = true};
        demand_word_fold(said, &word);
        if (n >= same && !strncmp(office, said, same)) return true;
    }
    return false;
}

/* "Qui est le trésorier ?" is answered by nothing that speaks of no treasurer. */
static bool office_is_lacking(const question *q, size_t at, const candidate_passage *p,
                              const text_unit *u) {
    return at && !says_office(q, at, p, u->start, u->end) &&
           !says_office(q, at, p, u->head_start, u->head_end) &&
           !says_office(q, at, p, u->outer_start, u->outer_end);
}

/* "Where: The Foundry", "Repeats: every week": what it says it is is nobody. */
static bool is_labelled_otherwise(const candidate_passage *p, const text_unit *u) {
    const char *s = p->text.text + u->start;
    const size_t n = u->end - u->start;
    size_t at = 0;
    const word_token label = word_token_next(s, n, &at), colon = word_token_next(s, n, &at);
    return word_token_in("where when repeats location time date address telephone email", &label) &&
           word_token_is(&colon, ":");
}

double unit_person_lacking(const question *q, const candidate_passage *p, const text_unit *u) {
    persons found = {0};
    const bool name = q->asks.name, persons_name = q->asks.persons_name;
    if (office_is_lacking(q, q->demands.office, p, u) ||
        office_is_lacking(q, q->demands.deputy, p, u))
        return 2;
    if (!(asks_who(q) || name || persons_name) || u->kind == TEXT_UNIT_TURN ||
        u->kind == TEXT_UNIT_ROW)
        return 0;
    if (is_labelled_otherwise(p, u)) return 2;
    if (u->kind == TEXT_UNIT_SENTENCE && !name && !persons_name &&
        (only_names_offices(q, p, u) || (asks_who_made(q) && is_done_otherwise(q, p, u))))
        return 2;
    look(&found, q, p, u->start, u->end);
    if (name && found.capitals && !found.names && !found.makers) return 2;
    if (persons_name) {
        const bool named = found.names || found.makers ||
                           has_whole_name(q, p, u->head_start, u->head_end) ||
                           has_whole_name(q, p, u->outer_start, u->outer_end);
        return found.capitals && !named ? 2 : 0;
    }
    look(&found, q, p, u->head_start, u->head_end);
    look(&found, q, p, u->outer_start, u->outer_end);
    if (found.people && u->kind == TEXT_UNIT_SENTENCE && asks_for_the_maker(q, name) &&
        !has_source(p->text.text + u->start, u->end - u->start) &&
        (name ? !says_what_is_made(q, p, u) : says_how_it_is(q, p, u->start, u->end)) &&
        !says_that_it_is_made(q, p, u->start, u->end) &&
        !says_that_it_is_made(q, p, u->head_start, u->head_end))
        return 1;
    if (found.people || !found.capitals) return 0;
    if (!found.makers) return 1;
    return asks_who_made(q) ? 0 : 2;
}
