#include "retrieval/answer/pointers.h"

#include <string.h>

#include "retrieval/text/word_tokens.h"

enum { MOST_WORDS = 32 };

static const char places[] =
    "section sections chapter chapters document documents documentation page pages guide manual "
    "reference appendix tutorial howto faq readme below above elsewhere later";

/* The words of a sentence; n is 0 where they are too many for it to say nothing else. */
typedef struct words {
    word_token t[MOST_WORDS];
    size_t n;
} words;

static void read_words(words *w, const char *s, size_t n) {
    w->n = 0;
    for (size_t at = 0;;) {
        const word_token t = word_token_next(s, n, &at);
        if (!t.n) return;
        if (!w->n && !t.letters) continue; /* "- ", "(2) " */
        if (w->n == MOST_WORDS) {
            w->n = 0;
            return;
        }
        w->t[w->n++] = t;
    }
}

static bool is(const words *w, size_t i, const char *list) {
    return i < w->n && word_token_in(list, &w->t[i]);
}

/* The first word of the list from word i on; w->n: none. */
static size_t find(const words *w, size_t i, const char *list) {
    while (i < w->n && !word_token_in(list, &w->t[i])) i++;
    return i;
}

/* Is something to be read named from word i on: a section, a name, a title in quotes, "ssh(1)", an address; and nobody: "a doctor if it
 * is lime", "your dentist"? */
static bool names_a_text(const words *w, size_t i) {
    if (is(w, i, "a an your our my his her their any somebody someone"))
        return is(w, i + 1, places);
    if (find(w, i, places) < w->n) return true;
    if (is(w, i, "the")) i++;
    for (const size_t first = i; i < w->n; i++) {
        const char c = w->t[i].s[0];
        if ((i == first && c >= 'A' && c <= 'Z') || strchr("\"'`([</", c) || (c & 0x80))
            return true;
    }
    return false;
}

/* "... for hints on how it is set up", "... for more details" from word i on. */
static bool is_for_more(const words *w, size_t i) {
    for (; i + 1 < w->n; i++)
        if (is(w, i, "for") &&
            is(w, i + 1, "hints more further additional details information instructions examples"))
            return true;
    return false;
}

/* "see Caching", "please refer to the manual" at word i; not "see that", "see if", "see a doctor". */
static bool sends(const words *w, size_t i) {
    if (is(w, i, "please")) i++;
    if (is(w, i, "see") && is_for_more(w, i + 1)) return true;
    if (is(w, i, "see"))
        return !is(w, i + 1, "that if whether to how it you") && names_a_text(w, i + 1);
    if (is(w, i, "refer") && is(w, i + 1, "to")) return names_a_text(w, i + 2);
    return is(w, i, "consult") && names_a_text(w, i + 1);
}

/* "For more information about backups, see ...", "For other systems please refer to ..." */
static bool sends_for(const words *w) {
    if (!is(w, 0, "for")) return false;
    for (size_t i = 1; i < w->n; i++)
        if (sends(w, i) && (word_token_is(&w->t[i - 1], ",") || is(w, i, "please") ||
                            is(w, 1, "more further additional details information full complete")))
            return true;
    return false;
}

/* "More information can be found in ...", "Further details are available at ..." */
static bool tells_of_more(const words *w) {
    return is(w, 0, "more further additional detailed") &&
           is(w, 1, "information details documentation examples") &&
           find(w, 2, "found available see described given") < w->n;
}

/* "The cache is described in the section Caching", "These are explained below" */
static bool is_told_elsewhere(const words *w) {
    const size_t verb = find(w, 1,
                             "described explained documented discussed covered detailed outlined "
                             "listed");
    if (verb >= w->n || !is(w, verb - 1, "is are be been further also fully")) return false;
    return is(w, verb + 1, "in under at below above elsewhere later here further") &&
           find(w, verb + 1, places) < w->n;
}

/* "This section explains how ...": what is below says it. */
static bool is_of_its_place(const words *w) {
    return is(w, 0, "this the following") &&
           find(w, 1, "section chapter document page guide manual tutorial article") <= 2 &&
           find(w, 1,
                "describes explains discusses covers attempts shows lists gives documents "
                "provides contains explores outlines introduces supplements") <= 4;
}

bool pointer_is_all(const char *s, size_t n) {
    words w;
    read_words(&w, s, n);
    if (w.n < 2) return false;
    if (sends(&w, 0) || sends_for(&w) || tells_of_more(&w) || is_told_elsewhere(&w) ||
        is_of_its_place(&w))
        return true;
    /* "It depends on the system; see Caching." */
    const size_t depends = find(&w, 1, "depends depend varies vary"), see = find(&w, 1, "see");
    return depends < see && see < w.n && sends(&w, see);
}

/* "Where is it documented?", "Which page tells of ...?" */
static bool asks_for_a_place(const question *q) {
    return word_tokens_say(
        "documented described explained section chapter document documentation page manual guide "
        "read link url website information tutorial see",
        q->text.text, q->text.len);
}

void pointers_mark(candidate_set *set) {
    if (set->q.demands.language >= 0 || asks_for_a_place(&set->q)) return;
    for (size_t i = 0; i < set->n; i++) {
        candidate *c = &set->c[i];
        const char *text = set->passages[c->passage].text.text;
        if ((c->unit.kind == TEXT_UNIT_SENTENCE || c->unit.kind == TEXT_UNIT_ITEM) &&
            pointer_is_all(text + c->start, c->end - c->start))
            c->f[CAND_QUESTION] = 1;
    }
}
