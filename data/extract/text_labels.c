#include "data/extract/text_labels.h"

#include <string.h>

#include "kernels/utf8.h"

static bool is_mark(char c) {
    return c == '*' || c == '_' || c == '`';
}

/* Does the line begin with a label and a colon, and say something behind it? Marks of Markdown around the label, and of quotes
 * before it, are none of it. */
static bool begins_with_label(const char *s, size_t n) {
    size_t i = 0, words = 1;
    while (i < n && (fo_is_blank(s[i]) || s[i] == '>')) i++;
    while (i < n && is_mark(s[i])) i++;
    const size_t from = i;
    if (i == n || !(fo_is_letter(s[i]) || fo_is_digit(s[i]) || (unsigned char)s[i] >= 0x80))
        return false;
    for (; i < n && s[i] != ':'; i++) {
        const bool stop = s[i] == '.' && !(i + 1 < n && s[i + 1] == ':'); /* "Tel.: 0345 1" */
        if (stop || !s[i] || strchr(",;!?\"|<>[]", s[i]) || i - from > TEXT_LABEL_BYTES)
            return false;
        words += fo_is_blank(s[i]);
    }
    for (i++; i < n && is_mark(s[i]);) i++;
    return i < n && fo_is_blank(s[i]) && !fo_only_blanks(s + i, n - i) && words <= TEXT_LABEL_WORDS;
}

text_labels text_labels_find(const char *s, size_t n, size_t at) {
    size_t lines = 0, start = at, end = at;
    while (at < n) {
        const char *newline = memchr(s + at, '\n', n - at);
        const size_t stop = newline ? (size_t)(newline - s) : n;
        const bool label = begins_with_label(s + at, stop - at);
        if (!label && lines >= TEXT_LABELS_LINES) break;
        if (fo_only_blanks(s + at, stop - at)) return (text_labels){stop, stop};
        if (!label) lines = 0;
        if (label && !lines++) start = at;
        end = stop;
        at = newline ? stop + 1 : n;
    }
    return lines >= TEXT_LABELS_LINES ? (text_labels){start, end} : (text_labels){end, end};
}

bool text_labels_are_behind(text_labels l, const char *s, size_t n, size_t at) {
    enum { WIDTH = 60, NEAR = 8 };
    if (l.end == l.start || at != l.end + 1) return false;
    size_t line = l.end, word = at;
    while (line > l.start && s[line - 1] != '\n') line--;
    while (word < n && !fo_is_blank(s[word])) word++;
    return l.end - line + 1 + (word - at) + NEAR < WIDTH;
}
