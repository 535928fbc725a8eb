#include "retrieval/answer/mail_quotes.h"

#include "retrieval/answer/cross_reading.h"
#include "retrieval/text/word_tokens.h"

/* Does it stand in a line that a mail quotes? */
static bool is_quoted(const candidate_set *set, const candidate *c) {
    const char *text = set->passages[c->passage].text.text;
    uint32_t line = c->unit.start;
    while (line > 0 && text[line - 1] != '\n') line--;
    return text[line] == '>';
}

bool mail_quotes_before(const candidate_set *set, const candidate *c) {
    const candidate *best = &set->c[0];
    return candidate_one_document(&set->passages[c->passage], &set->passages[best->passage]) &&
           is_quoted(set, c) && !is_quoted(set, best);
}

/* "One correction to the list: Merryn no longer has a key": it says of itself that what was said holds no more. English. */
static bool takes_back(const candidate_set *set, const candidate *c) {
    const char *s = set->passages[c->passage].text.text + c->unit.start;
    const size_t n = c->unit.end - c->unit.start;
    static const char words[] = "correction corrected corrections wrong mistake mistaken instead";
    word_token before = {0};
    for (size_t at = 0;;) {
        const word_token t = word_token_next(s, n, &at);
        if (!t.n) return false;
        if (word_token_in(words, &t)) return true;
        if (word_token_in("longer more", &t) && word_token_in("no any", &before)) return true;
        if (word_token_in("all", &t) && word_token_in("after", &before)) return true;
        before = t;
    }
}

/* Does c say most of what the best says, in its words? What corrects a mail repeats what was wrong in it; half is enough of what says that it
 * does. */
static bool says_it_again(const candidate_set *set, const candidate *c) {
    enum { FEWEST = 3 };
    const candidate *best = &set->c[0];
    const fact_text *of = &set->passages[best->passage].text, *in = &set->passages[c->passage].text;
    size_t n = 0, shared = 0;
    for (uint32_t i = best->w0; i < best->w1; i++) {
        if (!fact_is_content(&of->words[i])) continue;
        n++;
        shared += fact_says(in, c->w0, c->w1, of->words[i].id);
    }
    return shared >= FEWEST && (2 * shared > n || (2 * shared == n && takes_back(set, c)));
}

bool mail_quotes_corrected(const candidate_set *set, const candidate *c) {
    static const double near = 3.9, answers = -1; /* as what is said beside the best */
    static const double far = 12; /* what takes it back need not read as an answer itself */
    const candidate *best = &set->c[0];
    if (best->score - c->score > far || c->f[CAND_FRAGMENT] >= 1) return false;
    const bool back = takes_back(set, c);
    return (back || best->score - c->score <= near) &&
           c->f[CAND_QUESTION] <= best->f[CAND_QUESTION] &&
           c->f[CAND_NO_AMOUNT] <= best->f[CAND_NO_AMOUNT] &&
           candidate_one_document(&set->passages[c->passage], &set->passages[best->passage]) &&
           is_quoted(set, best) && !is_quoted(set, c) &&
           (back || !set->crossed || cross_reading_of(c) >= answers) && says_it_again(set, c);
}
