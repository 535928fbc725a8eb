#include "data/extract/list_marker.h"

#include <string.h>

/* Lines on either side, and bytes of them, that are searched for the item's neighbours. */
enum { AROUND_LINES = 24, AROUND_BYTES = 2048 };
enum { FULL_LINE = 40 }; /* bytes of the shortest line that looks like wrapped prose */

size_t list_bullet(const char *s, size_t n) {
    static const char *const bullets[] = {"\xE2\x96\xAA", "\xE2\x97\xA6", "\xE2\x80\xA3",
                                          "\xC2\xB7",     "\xE2\x97\x8B", "\xE2\x96\xA0",
                                          "\xE2\x97\x8F", "\xE2\x80\x93", "\xE2\x80\x94"};
    if (n > 3 && memcmp(s, "\xE2\x80\xA2", 3) == 0) return 3;
    if (n > 3 && memcmp(s, "\xE3\x83\xBB", 3) == 0) return 3; /* "・" of Japanese */
    for (size_t i = 0; i < sizeof bullets / sizeof *bullets; i++) {
        const size_t k = strlen(bullets[i]);
        if (n > k + 1 && memcmp(s, bullets[i], k) == 0 && s[k] == ' ') return k;
    }
    return 0;
}

/* "・", which stands between two words, too: a line may happen to begin with it. */
static bool is_dot_of_words(const char *s, size_t mark) {
    return mark == 3 && memcmp(s, "\xE3\x83\xBB", 3) == 0;
}

/* A dash may stand in prose, too, or begin what somebody says. */
static bool is_dash(const char *s, size_t mark) {
    return mark == 3 && (memcmp(s, "\xE2\x80\x93", 3) == 0 || memcmp(s, "\xE2\x80\x94", 3) == 0);
}

static const char wide_blank[] = "\xE3\x80\x80"; /* U+3000 */

static size_t skip_blanks(const char *s, size_t len, size_t at) {
    for (;;)
        if (at < len && (s[at] == ' ' || s[at] == '\t' || s[at] == '\r'))
            at++;
        else if (len - at >= 3 && memcmp(s + at, wide_blank, 3) == 0)
            at += 3;
        else
            return at;
}

size_t list_marker(const char *s, size_t len, size_t at, int *number) {
    *number = -1;
    size_t left = len - at;
    if (left > 1 && s[at] && strchr("-*+o", s[at]) && s[at + 1] == ' ') return 1;
    const size_t bullet = list_bullet(s + at, left);
    if (bullet) return bullet;
    size_t digits = 0;
    int value = 0;
    while (digits < left && digits < 4 && s[at + digits] >= '0' && s[at + digits] <= '9')
        value = value * 10 + (s[at + digits++] - '0');
    if (digits < 1 || digits > 3 || left < digits + 2) return 0;
    if ((s[at + digits] != '.' && s[at + digits] != ')') || s[at + digits + 1] != ' ') return 0;
    *number = value;
    return digits + 1;
}

/* The mark of an item: where it stands, bytes of it, its number or -1. */
typedef struct item_mark {
    size_t at, n;
    int number;
} item_mark;

/* Is the mark at s[at] that of the item before or behind m? */
static bool is_neighbour(const char *s, size_t len, size_t at, const item_mark *m, int step) {
    int number;
    const size_t n = list_marker(s, len, at, &number);
    if (!n || m->number >= 0) return n && number == m->number + step;
    return n == m->n && memcmp(s + at, s + m->at, n) == 0;
}

/* "... the second one / - the older of them - leaks": a dash in prose, which happens to begin a line.
 * What stands before it is a full line of it, and no item. own: where the line of s[at] begins. */
static bool is_put_in(const char *s, size_t len, size_t own, const item_mark *m) {
    const size_t at = m->at, word = at + m->n + 1;
    const char *newline = memchr(s + at, '\n', len - at);
    size_t length = (newline ? (size_t)(newline - s) : len) - own, line = own ? own - 1 : 0;
    int number;
    if (word >= len || own == 0) return false;
    if (!is_dash(s + at, m->n) && !(strchr("-+", s[at]) && s[word] >= 'a' && s[word] <= 'z'))
        return false;
    while (line > 0 && own - line < AROUND_BYTES && s[line - 1] != '\n') line--;
    size_t before = own - 1 - line;
    return before >= FULL_LINE && 4 * before >= 3 * length && s[line] != ' ' && s[line] != '\t' &&
           !list_marker(s, len, line, &number);
}

/* Within `most` lines, of a "・" only across lines that are indented, as an item goes on. own: where the line of s[at] begins. */
static bool has_neighbour(const char *s, size_t len, size_t own, const item_mark *m, size_t most) {
    const size_t at = m->at;
    const bool dot = is_dot_of_words(s + at, m->n);
    for (size_t end = own, lines = 0; end > 0 && lines < most; lines++) {
        size_t line = --end; /* the line break */
        while (line > 0 && at - line < AROUND_BYTES && s[line - 1] != '\n') line--;
        size_t text = skip_blanks(s, end, line);
        if (text == end || (line > 0 && s[line - 1] != '\n')) break; /* empty, or too long */
        if (is_neighbour(s, len, text, m, -1)) return true;
        if (dot && text == line) break; /* no line of an item */
        end = line;
    }
    const char *next = memchr(s + at, '\n', len - at);
    for (size_t lines = 0; next && lines < most; lines++) {
        const size_t line = (size_t)(next - s) + 1, text = skip_blanks(s, len, line);
        if (text >= len || text - at > AROUND_BYTES || s[text] == '\n') break;
        if (is_neighbour(s, len, text, m, 1)) return true;
        if (dot && text == line) break;
        next = memchr(s + text, '\n', len - text);
    }
    return false;
}

bool list_item_begins(const char *s, size_t len, size_t at) {
    int number;
    size_t mark = list_marker(s, len, at, &number), own = at;
    if (!mark) return false;
    const item_mark m = {at, mark, number};
    for (;;)
        if (own > 0 && (s[own - 1] == ' ' || s[own - 1] == '\t'))
            own--;
        else if (own >= 3 && memcmp(s + own - 3, wide_blank, 3) == 0)
            own -= 3;
        else
            break;
    if (is_dot_of_words(s + at, mark)) return has_neighbour(s, len, own, &m, AROUND_LINES);
    if (is_dash(s + at, mark)) /* one alone is none */
        return has_neighbour(s, len, own, &m, 1) ||
               (!is_put_in(s, len, own, &m) && has_neighbour(s, len, own, &m, AROUND_LINES));
    if (own == 0) return true;
    size_t before = own - 1; /* the line break */
    while (before > 0 && (s[before - 1] == ' ' || s[before - 1] == '\t' || s[before - 1] == '\r'))
        before--;
    if (before == 0 || s[before - 1] == '\n' || strchr(".:;!?", s[before - 1])) return true;
    if (s[at] == 'o' && own == at) return false; /* a word of Portuguese, say */
    if (is_put_in(s, len, own, &m)) return has_neighbour(s, len, own, &m, 1);
    if (has_neighbour(s, len, own, &m, AROUND_LINES)) return true;
    if (number >= 0) return number < 2;
    if (s[at] == 'o') return false;
    /* A dash before a word that goes on, and no other dash begins a line: a thought put in. */
    size_t word = skip_blanks(s, len, at + mark);
    return !strchr("-+", s[at]) || word >= len || !(s[word] >= 'a' && s[word] <= 'z');
}
