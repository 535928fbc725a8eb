#include "data/chunk/leaders.h"

#include <string.h>

#include "kernels/utf8.h"

enum {
    FEWEST = 3,     /* dots */
    SHORT = 2,      /* ... of an entry whose name leaves no room for more, beside others */
    CERTAIN = 4,    /* so many are no ellipsis */
    LONGEST = 512,  /* bytes of a line */
    NAME = 120,     /* before the dots */
    BEHIND = 120,   /* behind them */
    FEW_WORDS = 48, /* behind three dots, or where no other line has some: more is a sentence */
    NEAR = 3,       /* lines */
};

typedef struct span {
    size_t start, end;
} span;

static bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

/* The line of s[at] without blanks at its ends; empty where it is long. */
static span line_of(const char *s, size_t len, size_t at) {
    span l = {at, at};
    while (l.start > 0 && s[l.start - 1] != '\n' && at - l.start <= LONGEST) l.start--;
    while (l.end < len && s[l.end] != '\n' && l.end - l.start <= LONGEST) l.end++;
    if (l.end - l.start > LONGEST) return (span){at, at};
    while (l.start < l.end && is_space(s[l.start])) l.start++;
    while (l.end > l.start && is_space(s[l.end - 1])) l.end--;
    return l;
}

/* Bytes of a dot at s[at], and how many dots it stands for; 0: it is none. */
static size_t dot_at(const char *s, size_t end, size_t at, size_t *dots) {
    *dots = 1;
    if (at < end && s[at] == '.') return 1;
    *dots = FEWEST;
    return at + 3 <= end && memcmp(s + at, "\xE2\x80\xA6", 3) == 0 ? 3 : 0;
}

/* Dots from s[at] on, single blanks between them: how many; *stop: where they end. */
static size_t count_dots(const char *s, size_t end, size_t at, size_t *stop) {
    size_t sum = 0, dots, n;
    while ((n = dot_at(s, end, at, &dots)) > 0) {
        sum += dots;
        *stop = at += n;
        if (at < end && s[at] == ' ' && dot_at(s, end, at + 1, &dots)) at++;
    }
    return sum;
}

typedef struct leaders {
    size_t n; /* dots, the first of the line; 0: it has none between two texts */
    size_t behind;
    bool figure, open; /* what stands behind them has a figure, has no stop at its end */
} leaders;

static bool has_words(const char *s, size_t at, size_t end) {
    while (at < end && !fo_is_digit(s[at]) && !fo_is_letter(s[at]) && (unsigned char)s[at] < 0x80)
        at++;
    return at < end;
}

static leaders find_in(const char *s, span l) {
    leaders out = {0};
    size_t at = l.start, n = 0, stop = 0;
    for (; at < l.end && at - l.start <= NAME; at = n ? stop : at + 1) {
        n = count_dots(s, l.end, at, &stop);
        if (n >= FEWEST) break;
        if (n == SHORT && at > l.start && is_space(s[at - 1]) && stop < l.end && is_space(s[stop]))
            break;
    }
    if (n < SHORT || at == l.start || at >= l.end || stop == l.end) return out;
    const bool apart = is_space(s[at - 1]) && is_space(s[stop]);
    if (n < CERTAIN && !apart) return out;
    for (size_t i = stop; i < l.end; i++) out.figure |= fo_is_digit(s[i]);
    out.behind = l.end - stop;
    out.open = !strchr(".!?", s[l.end - 1]);
    out.n = out.behind <= BEHIND && has_words(s, stop, l.end) ? n : 0;
    return out;
}

/* Three dots and many words may be a sentence. */
static bool may_lead(const leaders *l) {
    return l->n >= CERTAIN || (l->n >= FEWEST && l->behind <= FEW_WORDS && l->open);
}

/* Is one of the next lines above, or below, an entry, too? A blank one parts it from what is a sentence. */
static bool has_neighbour(const char *s, size_t len, size_t at, bool below, bool open) {
    for (int i = 0; i < NEAR; i++) {
        const char *newline = below ? memchr(s + at, '\n', len - at) : memrchr(s, '\n', at);
        if (!newline) return false;
        at = (size_t)(newline - s) + below;
        const span line = line_of(s, len, at);
        const leaders l = find_in(s, line);
        if (may_lead(&l)) return true;
        if (line.start == line.end && !open) return false;
    }
    return false;
}

static bool is_entry(const char *s, size_t len, size_t at, leaders *l) {
    *l = find_in(s, line_of(s, len, at));
    const bool is_short = l->n == SHORT && l->figure && l->behind <= FEW_WORDS && l->open;
    if (!may_lead(l) && !is_short) return false;
    return (l->n >= CERTAIN && l->figure && l->behind <= FEW_WORDS) ||
           has_neighbour(s, len, at, false, l->open) || has_neighbour(s, len, at, true, l->open);
}

bool leaders_in_line(const char *s, size_t len, size_t at) {
    leaders l;
    return is_entry(s, len, at, &l);
}

/* A line may have several: "Car ...... 30.00 single ...... 55.00 return". */
size_t leaders_end(const char *s, size_t len, size_t at) {
    leaders l;
    size_t stop = 0;
    const size_t end = len - at < LONGEST ? len : at + LONGEST;
    if (count_dots(s, end, at, &stop) < SHORT || !is_entry(s, len, at, &l)) return 0;
    return has_words(s, stop, line_of(s, len, at).end) ? stop : 0;
}
