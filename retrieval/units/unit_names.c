#include "retrieval/units/unit_names.h"

#include <string.h>

#include "kernels/utf8.h"
#include "retrieval/units/unit_headings.h"
#include "retrieval/text/word_tokens.h"

/* A name and what stands beside it say nothing of it by a verb. */
static const char verbs[] =
    "is are was were be been am has have had do does did can could may might must shall should "
    "will "
    "would i we you he she it they this that these those there please if when";

/* What may stand beside a name: "by Lotte Brandt", "for children". It tells English, too: in another language the verbs are not
 * known, and in German every noun has a capital. */
static const char beside[] = "by for from with of the";

/* "Winter Guests", "A House": two words with a capital, the first of them perhaps an article's. */
static bool begins_with_name(const char *s, size_t n) {
    size_t at = 0;
    const word_token first = word_token_next(s, n, &at), second = word_token_next(s, n, &at);
    return first.letters && second.letters && fo_is_upper(first.s[0]) && fo_is_upper(second.s[0]);
}

/* Where the name ends, of a paragraph that has two more sentences at least. */
static uint32_t name_end(const unit_reader *r, size_t i, size_t end) {
    enum { WIDEST = 80, MORE = 2 };
    const uint32_t start = r->in.v[i].start, stop = r->in.v[end - 1].end;
    const size_t first = unit_reader_stop(r, stop, start);
    if (first >= stop || first > start + WIDEST) return 0;
    uint32_t name = (uint32_t)first;
    while (name > start && fo_is_blank(r->in.text[name - 1])) name--;
    const char *s = r->in.text + start;
    const size_t n = name - start;
    if (!n || s[n - 1] != '.' || !begins_with_name(s, n) || word_tokens_say(verbs, s, n) ||
        !word_tokens_say(beside, s, n) || !(memchr(s, ',', n) || word_tokens_say("by", s, n)))
        return 0;
    size_t at = first, sentences = 0;
    while (at < stop && sentences < MORE) {
        const size_t next = unit_reader_stop(r, stop, at);
        if (next <= at) break;
        at = next;
        sentences++;
    }
    return sentences == MORE ? name : 0;
}

/* The paragraph before line i, or behind it, blank lines between: does it begin so, too? */
static bool has_neighbour(const unit_reader *r, size_t i, size_t end) {
    const unit_lines *l = &r->in;
    const size_t next = unit_lines_skip_blank(l, end);
    if (next > end && next < l->n && l->v[next].class == LINE_TEXT &&
        name_end(r, next, unit_paragraph_end(l, next)))
        return true;
    size_t before = i;
    while (before > 0 && l->v[before - 1].class == LINE_BLANK) before--;
    size_t from = before;
    while (from > 0 && l->v[from - 1].class == LINE_TEXT) from--;
    return before < i && from < before && name_end(r, from, before);
}

uint32_t unit_names_first(const unit_reader *r, size_t i, size_t end) {
    if (i > 0 ? r->in.v[i - 1].class == LINE_TEXT : r->in.goes_on) return 0;
    const uint32_t name = name_end(r, i, end);
    return name && has_neighbour(r, i, end) ? name : 0;
}
