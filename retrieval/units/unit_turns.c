#include "retrieval/units/unit_turns.h"

#include <string.h>

#include "data/extract/chat_turn.h"
#include "kernels/utf8.h"
#include "kernels/words.h"
#include "retrieval/text/word_tokens.h"

/* "[09:02] ...", "[2026-01-27T10:02:11] ...", "09:02 <...": a time first. */
static bool has_time_first(const char *s, size_t n) {
    size_t i = n && s[0] == '[';
    size_t digits = 0, colons = 0;
    for (; i < n && i < 24 && (fo_is_digit(s[i]) || strchr(":-T. /", s[i])); i++) {
        digits += fo_is_digit(s[i]);
        colons += s[i] == ':';
    }
    return digits >= 3 && colons >= 1 && i < n && (s[i] == ']' || s[i] == '<' || s[0] == '[');
}

bool unit_turns_begins(const char *s, size_t n, size_t *start) {
    chat_turn turn;
    const bool is_turn = chat_turn_read(s, n, &turn);
    *start = is_turn ? turn.start : 0;
    return is_turn || has_time_first(s, n);
}

/* ---- questions ----------------------------------------------------------------------------- */

/* "Who takes her home", "can I bring the dog": in a chat few write the mark. With a subject behind it, "when we arrive", the first
 * word asks nothing; a verb does only before one. */
static bool asks_by_words(const char *s, size_t n) {
    enum { LONGEST = 14 };
    static const char before[] = "and but so ok okay oh hey hi hello good great thanks also then "
                                 "well und aber ja ok gut et y";
    static const char asking[] =
        "who whose what when where which how why wer was wann wo wohin wie warum wieso welche "
        "welcher "
        "welches quand combien comment pourquoi quel quelle qui\xC3\xA9n qu\xC3\xA9 cu\xC3\xA1ndo "
        "d\xC3\xB3nde cu\xC3\xA1nto c\xC3\xB3mo";
    static const char verbs[] =
        "do does did is are was were can could shall should will would has have may might";
    static const char subjects[] =
        "i we you he she it they there this that these those the a an my our your his her their "
        "anybody anyone everybody everyone somebody someone ich wir du er sie es ihr man der die "
        "das";
    size_t at = 0, words = 0;
    word_token first = word_token_next(s, n, &at);
    while (first.n && (word_token_in(before, &first) || !(first.letters || first.digits)))
        first = word_token_next(s, n, &at);
    if (!first.n) return false;
    const word_token second = word_token_next(s, n, &at);
    const bool subject = second.n && word_token_in(subjects, &second);
    for (word_token t = second; t.n && words <= LONGEST; t = word_token_next(s, n, &at))
        words += t.letters || t.digits;
    if (words > LONGEST || strchr(".!", s[n - 1])) return false;
    return (word_token_in(asking, &first) && !subject) || (word_token_in(verbs, &first) && subject);
}

/* Where the last sentence of [start, end) begins; in a chat most begin with small letters. */
static uint32_t last_sentence(const char *s, uint32_t start, uint32_t end) {
    uint32_t last = end;
    while (last > start + 1 && !(fo_is_blank(s[last - 1]) && strchr(".!?", s[last - 2]))) last--;
    return last > start + 1 ? last : start;
}

/* What stands before the last sentence says something where it has more than a few words: "good. who picks her up?" only asks. */
static bool only_asks(const char *s, uint32_t start, uint32_t end) {
    enum { FEW_WORDS = 3 };
    const uint32_t last = last_sentence(s, start, end);
    size_t words = 0, at = 0;
    for (word_token t; (t = word_token_next(s + start, last - start, &at)).n;)
        words += t.letters || t.digits;
    return words <= FEW_WORDS && (s[end - 1] == '?' || asks_by_words(s + last, end - last));
}

/* ---- turns ------------------------------------------------------------------------------------ */

/* Lines that go on with what line i - 1 begins: text, and short lists. *lines: there is one. */
static size_t end_of(const unit_reader *r, size_t i, bool *lines) {
    const uint32_t start = r->in.v[i - 1].start;
    *lines = false;
    for (; i < r->in.n; i++) {
        const text_line *l = &r->in.v[i];
        const bool item = l->class == LINE_ITEM && l->end - start <= UNIT_WHOLE_ENTRY;
        if (l->class != LINE_TEXT && !item) break;
        *lines |= item;
    }
    return i;
}

static chat_turn turn_of(const unit_reader *r, const text_unit *u) {
    chat_turn turn;
    if (!chat_turn_read(r->in.text + u->start, u->end - u->start, &turn)) turn = (chat_turn){0};
    return turn;
}

static bool is_of_one_speaker(const unit_reader *r, const text_unit *a, const text_unit *b) {
    const chat_turn x = turn_of(r, a), y = turn_of(r, b);
    return x.n_name && x.n_name == y.n_name &&
           !memcmp(r->in.text + a->start + x.name, r->in.text + b->start + y.name, x.n_name);
}

size_t unit_turns_read(unit_reader *r, size_t i, int *rc) {
    bool lines;
    const size_t end = end_of(r, i + 1, &lines);
    const size_t n_before = r->out->n;
    *rc = unit_reader_add(r, r->in.v[i].start, r->in.v[end - 1].end, TEXT_UNIT_TURN, 0, 0,
                          TEXT_UNIT_HEADING);
    if (*rc) return end;
    text_unit *u = &r->out->v[n_before];
    const chat_turn turn = turn_of(r, u);
    const uint32_t said = u->start + (uint32_t)turn.said;
    u->lines = lines;
    if (u->start + turn.name < u->end) u->body = u->start + (uint32_t)turn.name;
    u->asks = said < u->end && only_asks(r->in.text, said, u->end);
    if (!n_before || u[-1].kind != TEXT_UNIT_TURN) return end;
    u->head_start = u[-1].start;
    u->head_end = u[-1].end;
    if ((u[-1].asks || r->in.text[u[-1].end - 1] == '?') && !is_of_one_speaker(r, u - 1, u))
        u->head_kind = TEXT_UNIT_TURN;
    return end;
}
