#include "retrieval/question/question_asks.h"

#include "retrieval/question/question.h"

const char question_asks_labels[] = "workaround solution cause resolution remedy",
           question_asks_qualities[] = "known root suggested temporary proposed possible",
           question_asks_fixes[] = "fix fixes fixed", question_asks_releases[] = "version release";

/* Words for somebody by what he is to others or does. */
static const char persons[] = "mayor coach trainer instructor teacher teachers tutor headteacher "
                              "headmaster director manager captain skipper mate "
                              "sister sisters brother brothers mother father mum dad parents wife "
                              "husband spouse partner son daughter child children "
                              "twin aunt uncle cousin niece nephew grandmother grandfather "
                              "grandson granddaughter girlfriend boyfriend friend friends "
                              "colleague neighbour neighbor boss landlord landlady tenant owner "
                              "owners doctor dentist vet nurse midwife surgeon "
                              "physiotherapist therapist chef cook baker butcher clerk secretary "
                              "treasurer chair chairman chairwoman chairperson "
                              "president author writer poet architect engineer founder founders "
                              "inventor artist painter sculptor composer conductor "
                              "organist singer actor actress driver pilot keeper warden caretaker "
                              "janitor gardener plumber electrician carpenter "
                              "minister priest vicar bishop pastor king queen prince princess "
                              "judge lawyer solicitor accountant referee umpire "
                              "lifeguard librarian archivist curator guide host hostess bride "
                              "groom winner woman man girl boy lady gentleman person";

static bool asks_for_the_latest(const question *q) {
    static const char now[] =
        "latest newest current currently now nowadays today presently finally eventually";
    word_token before = {0}, last = {0};
    size_t at = 0;
    for (word_token t; (t = word_token_next(q->text.text, q->text.len, &at)).n;) {
        if (word_token_in(now, &t)) return true;
        if (word_token_in("at", &last) && word_token_in("present", &t)) return true;
        if (word_token_in("these", &last) && word_token_in("days", &t)) return true;
        if (word_token_in("the", &last) &&
            ((word_token_in("at", &before) && word_token_in("moment", &t)) ||
             (word_token_in("in", &before) && word_token_in("end", &t))))
            return true;
        before = last;
        last = t;
    }
    return false;
}

static bool speaks_of_the_past(const question *q) {
    return word_tokens_say("superseded obsolete withdrawn outdated former formerly previous "
                           "previously old older earlier "
                           "original originally before history",
                           q->text.text, q->text.len);
}

/* "..., what was her name?": of a person, who is not named by what she did. "What does it cost to change their name?" asks for
 * another thing. */
static bool asks_for_a_name(const question *q) {
    static const char *const in_order[] = {"what", "is was s are were", "his her their its",
                                           "name names"};
    enum { WORDS = sizeof in_order / sizeof *in_order };
    size_t said = 0;
    if (q->text.language >= 0) return false;
    word_token t;
    for (size_t at = 0; (t = word_token_next(q->text.text, q->text.len, &at)).n;) {
        if (!t.letters && !t.digits) continue; /* the mark, that of "what's" */
        if (said < WORDS && word_token_in(in_order[said], &t))
            said++;
        else if (word_token_in("whats", &t))
            said = 2;
        else
            said = word_token_in("what", &t);
    }
    return said == WORDS;
}

/* Is the person the head of what is named: "the football coach from Odde", not "the coach company"? *at is where the text goes on
 * behind "name of". */
static bool is_name_of_person(const char *text, size_t len, size_t at) {
    static const char *const ends = "of from in at on for to who whom whose that which with and or "
                                    "by is was as";
    word_token last = {0};
    for (;;) {
        const word_token t = word_token_next(text, len, &at);
        const bool mark = t.n == 1 && !t.letters && !t.digits;
        if (mark && (*t.s == '\'' || *t.s == '-')) continue;
        if (!t.n || mark || word_token_in(ends, &t)) return word_token_in(persons, &last);
        if (!word_token_in("s", &t)) last = t;
    }
}

/* The next token of letters, from byte *at on. */
static word_token next_word(const char *text, size_t len, size_t *at) {
    word_token t = word_token_next(text, len, at);
    while (t.n && !t.letters) t = word_token_next(text, len, at);
    return t;
}

/* "What is the name of the football coach?", "What's Ida's sister called?", "What was the captain's name?" */
static bool asks_for_persons_name(const question *q) {
    const char *text = q->text.text;
    const size_t len = q->text.len;
    size_t at = 0;
    word_token t = word_token_next(text, len, &at), last = {0};
    if (q->text.language >= 0) return false;
    if (word_token_in("what", &t)) {
        t = next_word(text, len, &at);
        if (!word_token_in("is was s are were", &t)) return false;
    } else if (!word_token_in("whats", &t)) {
        return false;
    }
    while ((t = next_word(text, len, &at)).n) {
        if (word_token_in("s", &t)) continue;
        size_t further = at;
        const word_token next = word_token_next(text, len, &further);
        if (word_token_in("name names", &t) && word_token_in("of", &next))
            return is_name_of_person(text, len, further);
        if (word_token_in("name names called", &t))
            return word_token_in(persons, &last) && !next.letters;
        last = t;
    }
    return false;
}

/* The question's terms that it says it is without: "without a registered association". */
static uint64_t terms_without(const question *q) {
    const fact_text *t = &q->text;
    uint64_t terms = 0;
    bool without = false;
    for (size_t i = 0; i < t->n_words; i++) {
        const int k = question_term_of(q, t->words[i].id);
        if (without && terms && (k < 0 || (t->words[i].flags & WORD_CLAUSE))) break;
        if (without && k >= 0) terms |= 1ull << k;
        without |= fact_word_in(t, i, "without");
    }
    return terms;
}

/* The term whose version is asked for: "which version of nginx", "what MinIO version"; -1: of none. */
static int version_asked_of(const question *q) {
    const fact_text *t = &q->text;
    bool which = false;
    for (size_t i = 0; i < t->n_words; i++) {
        which |= fact_word_in(t, i, "which what");
        if (!which || !fact_word_in(t, i, "version")) continue;
        size_t k = i, before = i;
        while (before > 0 && (t->words[before - 1].flags & WORD_PART)) before--;
        if (i + 2 < t->n_words && fact_word_in(t, i + 1, "of"))
            k = i + 2;
        else if (before > 0 && fact_is_content(&t->words[before - 1]))
            k = before - 1;
        return k == i ? -1 : question_term_of(q, t->words[k].id);
    }
    return -1;
}

/* The term of what is counted, days and the like too: the first word behind "how many"; -1: nothing is. */
static int counted_term(const question *q) {
    const char *asked = q->text.text;
    bool how = false, many = false;
    for (size_t at = 0;;) {
        const word_token t = word_token_next(asked, q->text.len, &at);
        if (!t.n) return -1;
        for (size_t i = 0; many && i < q->text.n_words; i++)
            if (q->text.words[i].start == (size_t)(t.s - asked))
                return question_term_of(q, q->text.words[i].id);
        many = how && word_token_in("many", &t);
        how = word_token_in("how", &t);
    }
}

/* Does t, behind `last`, begin to ask for a label: "what is the", "what's the", "is there a", "any"? */
static bool leads_to_label(const word_token *before, const word_token *last, const word_token *t) {
    if (word_token_in("any", t)) return true;
    if (word_token_in("a an", t)) return word_token_in("there", last);
    return word_token_in("the", t) && word_token_in("is was s", last) &&
           (word_token_in("what", before) || !before->letters);
}

/* "What is the workaround for ...", "Is there any known workaround", where the label itself is asked for: "the root cause of the
 * outage", not "the solution be kept". */
static word_token asked_label(const question *q) {
    static const char goes_on[] = "for of to when that until";
    word_token before = {0}, last = {0};
    size_t at = 0;
    bool led = false;
    for (word_token t; (t = word_token_next(q->text.text, q->text.len, &at)).n;) {
        if (led && word_token_in(question_asks_labels, &t)) {
            size_t behind = at;
            const word_token next = word_token_next(q->text.text, q->text.len, &behind);
            if (!next.letters || word_token_in(goes_on, &next)) return t;
            break;
        }
        led = leads_to_label(&before, &last, &t) ||
              (led && word_token_in(question_asks_qualities, &t));
        before = last;
        last = t;
    }
    return (word_token){0};
}

/* "Which release contains the fix", "in what version is it fixed", "which Tarn release": of none that the question names. */
static bool asks_for_the_release_of_a_fix(const question *q) {
    word_token before = {0}, last = {0};
    size_t at = 0;
    bool asked = false;
    if (q->exact.n_versions || !word_tokens_say(question_asks_fixes, q->text.text, q->text.len))
        return false;
    for (word_token t; (t = word_token_next(q->text.text, q->text.len, &at)).n;
         before = last, last = t) {
        if (t.digits && word_token_in(question_asks_releases, &last)) return false;
        const bool name = last.letters && !word_token_in("is was does did the a which what", &last);
        asked |= word_token_in(question_asks_releases, &t) &&
                 word_token_in("which what", name ? &before : &last);
    }
    return asked;
}

question_asks question_asks_read(const question *q) {
    return (question_asks){.latest = asks_for_the_latest(q),
                           .past = speaks_of_the_past(q),
                           .name = asks_for_a_name(q),
                           .persons_name = asks_for_persons_name(q),
                           .without = terms_without(q),
                           .version_of = q->text.language < 0 ? version_asked_of(q) : -1,
                           .how_many = counted_term(q),
                           .label = asked_label(q),
                           .release_of_fix = asks_for_the_release_of_a_fix(q)};
}
