#include "data/extract/list_marker.h"

#include <string.h>

/* Lines on either side, and bytes of them, that are searched for the item's neighbours. */
enum { AROUND_LINES = 24, AROUND_BYTES = 2048 };
enum { FULL_LINE = 40 }; /* bytes of the shortest line that looks like wrapped prose */

static size_t skip_blanks(const char *s, size_t len, size_t at) {
    while (at < len && (s[at] == ' ' || s[at] == '\t' || s[at] == '\r')) at++;
    return at;
}

size_t list_marker(const char *s, size_t len, size_t at, int *number) {
    *number = -1;
    size_t left = len - at;
    if (left > 1 && s[at] && strchr("-*+o", s[at]) && s[at + 1] == ' ') return 1;
    if (left > 3 && memcmp(s + at, "\xE2\x80\xA2", 3) == 0) return 3;
    size_t digits = 0;
    int value = 0;
    while (digits < left && digits < 4 && s[at + digits] >= '0' && s[at + digits] <= '9')
        value = value * 10 + (s[at + digits++] - '0');
    if (digits < 1 || digits > 3 || left < digits + 2) return 0;
    if ((s[at + digits] != '.' && s[at + digits] != ')') || s[at + digits + 1] != ' ') return 0;
    *number = value;
    return digits + 1;
}

/* Is the mark at s[at] that of the item before or behind one marked by `c` or `number`? */
static bool is_neighbour(const char *s, size_t len, size_t at, char c, int number, int step) {
    int n;
    if (!list_marker(s, len, at, &n)) return false;
    return number < 0 ? n < 0 && s[at] == c : n == number + step;
}

/* "... the second one / - the older of them - leaks": a dash in prose, which happens to begin a line.
 * What stands before it is a full line of it, and no item. own: where the line of s[at] begins. */
static bool is_put_in(const char *s, size_t len, size_t own, size_t at) {
    const char *newline = memchr(s + at, '\n', len - at);
    size_t length = (newline ? (size_t)(newline - s) : len) - own, line = own - 1;
    int number;
    if (!strchr("-+", s[at]) || len - at < 3 || !(s[at + 2] >= 'a' && s[at + 2] <= 'z'))
        return false;
    while (line > 0 && own - line < AROUND_BYTES && s[line - 1] != '\n') line--;
    size_t before = own - 1 - line;
    return before >= FULL_LINE && 4 * before >= 3 * length && s[line] != ' ' && s[line] != '\t' &&
           !list_marker(s, len, line, &number);
}

/* own: where the line of s[at] begins. */
static bool has_neighbour(const char *s, size_t len, size_t own, size_t at, int number) {
    for (size_t end = own, lines = 0; end > 0 && lines < AROUND_LINES; lines++) {
        size_t line = --end; /* the line break */
        while (line > 0 && at - line < AROUND_BYTES && s[line - 1] != '\n') line--;
        size_t text = skip_blanks(s, end, line);
        if (text == end || (line > 0 && s[line - 1] != '\n')) break; /* empty, or too long */
        if (is_neighbour(s, len, text, s[at], number, -1)) return true;
        end = line;
    }
    const char *next = memchr(s + at, '\n', len - at);
    for (size_t lines = 0; next && lines < AROUND_LINES; lines++) {
        size_t text = skip_blanks(s, len, (size_t)(next - s) + 1);
        if (text >= len || text - at > AROUND_BYTES || s[text] == '\n') break;
        if (is_neighbour(s, len, text, s[at], number, 1)) return true;
        next = memchr(s + text, '\n', len - text);
    }
    return false;
}

bool list_item_begins(const char *s, size_t len, size_t at) {
    int number;
    size_t mark = list_marker(s, len, at, &number), own = at;
    if (!mark) return false;
    while (own > 0 && (s[own - 1] == ' ' || s[own - 1] == '\t')) own--;
    if (own == 0) return true;
    size_t before = own - 1; /* the line break */
    while (before > 0 && (s[before - 1] == ' ' || s[before - 1] == '\t' || s[before - 1] == '\r'))
        before--;
    if (before == 0 || s[before - 1] == '\n' || strchr(".:;!?", s[before - 1])) return true;
    if (s[at] == 'o' && own == at) return false; /* a word of Portuguese, say */
    if (is_put_in(s, len, own, at)) return false;
    if (has_neighbour(s, len, own, at, number)) return true;
    if (number >= 0) return number < 2;
    if (s[at] == 'o') return false;
    /* A dash before a word that goes on, and no other dash begins a line: a thought put in. */
    size_t word = skip_blanks(s, len, at + mark);
    return !strchr("-+", s[at]) || word >= len || !(s[word] >= 'a' && s[word] <= 'z');
}
