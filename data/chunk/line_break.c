#include "data/chunk/line_break.h"

#include <stdint.h>
#include <string.h>
#include <utf8proc.h>

#include "data/chunk/leaders.h"
#include "data/extract/chat_turn.h"
#include "data/extract/list_marker.h"
#include "kernels/utf8.h"

enum {
    LINES_BEFORE = 24, /* of the block, looked at for the width of the text */
    LINES_AFTER = 12,
    AROUND_BYTES = 2048, /* on either side */
    MARGIN = 10,         /* room that a writer may leave at a line's end: a word kept together */
    PROSE_WORDS = 6,     /* a line of so many is no heading, unless it looks like one */
    MAX_WORD = 16,
    MAX_OPEN = 200, /* bytes behind which an open bracket is forgotten */
};

/* Words that no line ends with unless it goes on. */
static const char *const leading_on[] = {
    "within", "against", "after", "before",  "about", "near",   "per",   "through",  "since",
    "in",     "on",      "a",     "an",      "the",   "of",     "to",    "at",       "by",
    "for",    "from",    "with",  "without", "and",   "or",     "nor",   "but",      "than",
    "whose",  "which",   "who",   "is",      "are",   "was",    "were",  "be",       "been",
    "has",    "have",    "had",   "may",     "might", "can",    "could", "will",     "would",
    "shall",  "should",  "must",  "not",     "as",    "into",   "onto",  "between",  "during",
    "its",    "their",   "his",   "our",     "your",  "my",     "every", "each",     "very",
    "if",     "when",    "while", "because", "until", "unless", "where", "although", "that",
    "under",  "upon",    "der",   "die",     "das",   "den",    "dem",   "des",      "ein",
    "eine",   "und",     "oder",  "mit",     "von",   "zu",     "im",    "le",       "la",
    "les",    "un",      "une",   "et",      "ou",    "de",     "du",    "pour",     "el",
    "los",    "las",     "y",     "o",       "con",   "para",   "che",   "di",       "il",
    "com",
};
/* Words that begin a sentence far more often than they go on with a name. */
static const char *const beginning[] = {
    "the",  "a",     "an",    "it",     "he",    "she",   "they", "we",  "you", "i",
    "this", "that",  "these", "those",  "there", "in",    "on",   "at",  "for", "from",
    "when", "while", "after", "before", "as",    "if",    "but",  "and", "or",  "however",
    "some", "many",  "most",  "all",    "each",  "every", "one",  "to",  "not", "no",
    "what", "who",   "where", "why",    "how",   "also",  "then", "do",  "use", "see",
};

#define LISTED(list, word) listed(list, sizeof(list) / sizeof *(list), word)
static bool listed(const char *const *list, size_t n, const char *word) {
    for (size_t i = 0; i < n; i++)
        if (strcmp(list[i], word) == 0) return true;
    return false;
}

static size_t skip_blanks(const char *s, size_t len, size_t at) {
    while (at < len && (s[at] == ' ' || s[at] == '\t' || s[at] == '\r')) at++;
    return at;
}

static size_t line_end(const char *s, size_t len, size_t at) {
    const char *p = at < len ? memchr(s + at, '\n', len - at) : NULL;
    return p ? (size_t)(p - s) : len;
}

static utf8proc_category_t category_at(const char *s, size_t len, size_t at) {
    int32_t cp = 0;
    size_t n = fo_utf8_decode(s + at, len - at, &cp);
    return n && cp > 0 ? utf8proc_category(cp) : UTF8PROC_CATEGORY_CN;
}

static bool is_lower(const char *s, size_t len, size_t at) {
    return category_at(s, len, at) == UTF8PROC_CATEGORY_LL;
}

/* The ASCII letters from `at` on, lower-cased; "" where there are none or too many. */
static void word_at(const char *s, size_t len, size_t at, char out[MAX_WORD]) {
    size_t n = 0;
    for (; at < len && n < MAX_WORD - 1; at++) {
        char c = (char)(s[at] | 0x20);
        if (c < 'a' || c > 'z') break;
        out[n++] = c;
    }
    out[at < len && !fo_is_blank(s[at]) && !strchr(",.;:!?", s[at]) ? 0 : n] = 0;
}

/* ---- what a line is ------------------------------------------------------------------------ */

/* "-x", "--long": what a manual explains in the lines that follow. */
static bool is_option(const char *s, size_t len, size_t at) {
    enum { MAX_DASHES = 8 }; /* more of them are a rule */
    if (at >= len || s[at] != '-') return false;
    for (int dashes = 0; at < len && s[at] == '-'; at++)
        if (++dashes > MAX_DASHES) return false;
    if (at >= len) return false;
    utf8proc_category_t c = category_at(s, len, at);
    return (c >= UTF8PROC_CATEGORY_LU && c <= UTF8PROC_CATEGORY_LO) ||
           (s[at] >= '0' && s[at] <= '9');
}

/* "key: value" and "key = value". */
static bool is_entry(const char *s, size_t end, size_t at) {
    enum { MAX_KEY = 32 };
    size_t n = 0;
    while (at < end && n < MAX_KEY && !strchr(" \t:=", s[at])) at++, n++;
    size_t mark = at < end && s[at] == ' ' ? at + 1 : at;
    if (n == 0 || mark + 1 >= end) return false;
    return (s[mark] == '=' || (s[mark] == ':' && mark == at)) && fo_is_blank(s[mark + 1]);
}

static bool is_row(const char *s, size_t end, size_t at) {
    for (; at + 2 < end; at++)
        if (s[at] == ' ' && s[at + 1] == '|' && s[at + 2] == ' ') return true;
    return false;
}

/* Many words, and most of them begin with small letters: no heading. */
static bool is_prose(const char *s, size_t end, size_t at) {
    size_t words = 0, small = 0;
    while (at < end) {
        while (at < end && fo_is_blank(s[at])) at++;
        if (at == end) break;
        small += is_lower(s, end, at);
        words++;
        while (at < end && !fo_is_blank(s[at])) at++;
    }
    return words >= PROSE_WORDS && 2 * small >= words;
}

/* Lines that begin with a small letter and know no stop: entries of a list without marks. With a
 * stop among them they are prose, if only the rest of a sentence. */
static bool are_entries(const char *s, size_t len, size_t first) {
    size_t lines = 0, stop = len - first < AROUND_BYTES ? len : first + AROUND_BYTES;
    for (size_t at = skip_blanks(s, stop, first); at < stop && lines <= LINES_AFTER; lines++) {
        size_t end = line_end(s, stop, at);
        if (!is_lower(s, len, at)) return false;
        for (size_t i = at; i < end; i++)
            if (strchr(".!?", s[i]) && (i + 1 == end || fo_is_blank(s[i + 1]))) return false;
        at = skip_blanks(s, stop, end + 1);
        if (at < stop && s[at] == '\n') break;
    }
    return true;
}

/* ---- signs that the sentence goes on ------------------------------------------------------- */

/* Text of the line that ends at `end` (blanks behind it cut off) asks for more. */
static bool leads_on(const char *s, size_t first, size_t end) {
    static const char *const marks[] = {"\xE2\x80\x93", "\xE2\x80\x94",
                                        "\xE2\x80\x90"}; /* dashes */
    if (end == first) return false;
    if (strchr(",([{&/-", s[end - 1])) return true;
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (end - first >= 3 && memcmp(s + end - 3, marks[i], 3) == 0) return true;
    int open = 0;
    for (size_t i = end; i > first && end - i < MAX_OPEN; i--) {
        open += s[i - 1] == '(' ? 1 : s[i - 1] == ')' ? -1 : 0;
        if (open > 0) return true;
    }
    size_t from = end;
    while (from > first && end - from < MAX_WORD && !fo_is_blank(s[from - 1])) from--;
    char word[MAX_WORD];
    word_at(s, end, from, word);
    return word[0] && strlen(word) == end - from && LISTED(leading_on, word);
}

/* ---- width --------------------------------------------------------------------------------- */

/* Of s[from..to) in bytes, but a letter of the scripts of India is one: a line of them with figures would look short. */
static size_t width(const char *s, size_t from, size_t to) {
    enum { INDIC = 0xE0, BYTES = 3 };
    size_t n = 0;
    for (; from < to; n++) from += (unsigned char)s[from] == INDIC ? BYTES : 1;
    return n;
}

/* The width that most lines of the block keep (three quarters of those with more than one word are
 * no wider): text that is wrapped is wrapped there. An address or a formula that sticks out does
 * not count. */
static size_t usual_width(const char *s, size_t len, size_t newline) {
    size_t widths[LINES_BEFORE + LINES_AFTER + 1], n = 0;
    size_t from = newline, stop = len - newline < AROUND_BYTES ? len : newline + AROUND_BYTES;
    for (size_t lines = 0; from > 0 && newline - from < AROUND_BYTES; from--) {
        if (s[from - 1] != '\n') continue;
        if (s[skip_blanks(s, newline, from)] == '\n' && from < newline) break; /* an empty line */
        if (++lines > LINES_BEFORE) break;
    }
    for (size_t at = from, after = 0; at < stop && after <= LINES_AFTER; after += at > newline) {
        size_t end = line_end(s, stop, at), text = skip_blanks(s, end, at);
        if (text >= end && at > newline) break;
        if (text < end && memchr(s + text, ' ', end - text) && n < sizeof widths / sizeof *widths) {
            const size_t wide = width(s, at, end);
            size_t i = n++; /* in order: they are few */
            for (; i > 0 && widths[i - 1] > wide; i--) widths[i] = widths[i - 1];
            widths[i] = wide;
        }
        at = end + 1;
    }
    return n ? widths[(3 * (n - 1) + 3) / 4] : 0;
}

/* Would the next line's first word still have gone onto this one? Then its writer ended the line.
 */
static bool is_deliberate(const char *s, size_t len, size_t line, size_t newline, size_t next) {
    size_t word = next;
    while (word < len && !fo_is_blank(s[word])) word++;
    const size_t needs = width(s, line, newline) + 1 + width(s, next, word) + MARGIN;
    return needs <= usual_width(s, len, newline);
}

/* ---- the whole ----------------------------------------------------------------------------- */

/* Does an entry with leaders, on the line that begins at s[line], end with it? What is indented deeper below it, or begins
 * with a small letter, is the rest of it, unless that is the next one. */
static bool ends_entry(const char *s, size_t len, size_t line, size_t next) {
    size_t below = next;
    while (below > line && s[below - 1] != '\n') below--;
    if (leaders_in_line(s, len, next)) return true;
    return next - below <= skip_blanks(s, len, line) - line && !is_lower(s, len, next);
}

/* A message of a chat ends where the next one begins, with a stop or without. */
static bool begins_turn(const char *s, size_t len, size_t at) {
    chat_turn turn;
    return chat_turn_read(s + at, line_end(s, len, at) - at, &turn);
}

bool line_break_ends_block(const char *s, size_t len, size_t newline) {
    size_t next = skip_blanks(s, len, newline + 1);
    return next >= len || s[next] == '\n' || list_item_begins(s, len, next) ||
           begins_turn(s, len, next);
}

bool line_break_ends(const char *s, size_t len, size_t first, size_t newline) {
    if (line_break_ends_block(s, len, newline)) return true;
    size_t next = skip_blanks(s, len, newline + 1);
    size_t line = newline, end = newline;
    while (line > 0 && newline - line < AROUND_BYTES && s[line - 1] != '\n') line--;
    while (end > first && fo_is_blank(s[end - 1])) end--;
    size_t text = skip_blanks(s, newline, line), next_end = line_end(s, len, next);
    if (is_row(s, newline, text)) return true;
    if (leaders_in_line(s, len, text))
        return !leads_on(s, first, end) && ends_entry(s, len, line, next);
    if (is_option(s, len, next) && is_option(s, len, first)) return true;
    if (is_entry(s, end, text) && is_entry(s, next_end, next)) return true;
    if (leads_on(s, first, end) || s[next] == '-') return false;
    bool digit = s[next] >= '0' && s[next] <= '9';
    if (digit && !(s[text] >= '0' && s[text] <= '9')) return false;
    if (is_lower(s, len, next) && !are_entries(s, len, first)) return false;
    char word[MAX_WORD];
    word_at(s, len, next, word);
    /* A line that another sentence ends in is no heading, nor one that goes on in small letters. */
    bool prose = text < first || (first < line && is_lower(s, len, text)) || is_prose(s, end, text);
    if (prose && !LISTED(beginning, word)) return false;
    if (!is_deliberate(s, len, line, newline, next)) return false;
    if (is_option(s, len, text)) return is_option(s, len, next);
    bool is_name = !memchr(s + text, ' ', newline - text);
    return !is_name || category_at(s, len, next) == UTF8PROC_CATEGORY_LU;
}
