/* Plain text: it stays as it is, blocks are marked in it. */
#include <string.h>

#include "data/extract/extract_internal.h"
#include "data/extract/list_marker.h"
#include "kernels/utf8.h"

typedef struct line {
    size_t start, end, next; /* end without trailing white space; next line's start */
} line;

static line line_at(const char *s, size_t n, size_t at) {
    const char *newline = memchr(s + at, '\n', n - at);
    line l = {at, newline ? (size_t)(newline - s) : n, 0};
    l.next = newline ? l.end + 1 : n;
    while (l.end > l.start && (s[l.end - 1] == ' ' || s[l.end - 1] == '\t')) l.end--;
    return l;
}

static bool is_underline(const char *s, line l) {
    if (l.end - l.start < 3 || !strchr("=-~", s[l.start])) return false;
    for (size_t i = l.start; i < l.end; i++)
        if (s[i] != s[l.start]) return false;
    return true;
}

static bool is_item(const char *s, size_t n, line l) {
    size_t at = l.start;
    while (at < l.end && (s[at] == ' ' || s[at] == '\t')) at++;
    return at + 1 < l.end && list_item_begins(s, n, at);
}

/* A line that stands alone and reads like a heading: short, no stop at its end. */
static bool is_title(const char *s, size_t n, line l) {
    return l.end > l.start && l.end - l.start <= 80 && s[l.start] > ' ' &&
           !strchr(".,;:!?", s[l.end - 1]) && !is_item(s, n, l);
}

/* No small letter of ASCII, and four capitals or more; and no columns, as the names of a table's have. */
static bool in_capitals(const char *s, line l) {
    size_t capitals = 0;
    for (size_t i = l.start; i < l.end; i++) {
        const bool gap = s[i] == ' ' && i && s[i - 1] == ' ';
        if (gap || (s[i] >= 'a' && s[i] <= 'z') || strchr("\t|,;=<>{}[]", s[i])) return false;
        capitals += fo_is_upper(s[i]);
    }
    return capitals >= 4;
}

/* Words of a sentence that goes on or ends in its line, "Keep this booklet near the": a capital, then small letters. */
static bool begins_sentence(const char *s, line l) {
    size_t words = 0, small = 0;
    if (l.start == l.end || !fo_is_upper(s[l.start])) return false;
    for (size_t i = l.start; i < l.end; i++) {
        words += i == l.start || s[i - 1] == ' ';
        small += s[i] >= 'a' && s[i] <= 'z';
        if (strchr("\t|=<>{}", s[i]) || (s[i] == ':' && words < 4)) return false;
    }
    return words >= 4 && 2 * small > l.end - l.start;
}

/* A title in capitals with the text right below it: "LAVANTA 600 - SHORT MANUAL\nKeep this booklet near the machine." */
static bool leads_in_capitals(const char *s, size_t n, line l, line below) {
    return is_title(s, n, l) && in_capitals(s, l) && begins_sentence(s, below);
}

/* What a title in capitals is about, which names the kind of document alone: "Dolprex 300 mg film-coated tablets" below "PACKAGE
 * LEAFLET", a line of its own in small letters; empty: there is none. from: behind the title's line. */
static line subtitle_of(const char *s, size_t n, line title, size_t from) {
    enum { LONGEST = 60 };
    line l = title;
    if (!in_capitals(s, title)) return (line){from, from, from};
    for (size_t at = from; at < n; at = l.next) {
        l = line_at(s, n, at);
        if (l.start < l.end) break;
    }
    if (l.start < from || !is_title(s, n, l) || l.end - l.start > LONGEST || in_capitals(s, l) ||
        !fo_is_upper(s[l.start]) || memchr(s + l.start, ':', l.end - l.start))
        return (line){from, from, from};
    for (size_t i = l.start + 1; i < l.end; i++)
        if (strchr("\t|=", s[i]) || (s[i] == ' ' && s[i - 1] == ' '))
            return (line){from, from, from};
    const line below = l.next < n ? line_at(s, n, l.next) : (line){n, n, n};
    const bool ends = below.start == below.end || s[below.start] == '(';
    return ends && l.next < n ? l : (line){from, from, from};
}

/* The title, and behind a dash what it is about. */
static void take_title(builder *b, const char *s, line title, line about) {
    fo_buf both = {0};
    fo_buf_add(&both, s + title.start, title.end - title.start);
    if (about.end > about.start) {
        fo_buf_str(&both, " - ");
        fo_buf_add(&both, s + about.start, about.end - about.start);
    }
    if (!both.failed) builder_title_heading(b, 1, both.data, both.len);
    fo_buf_free(&both);
}

/* A heading of one or two lines that stands behind a drawn line at s[rule]: one to be that ends in another drawn line, "====="
 * above and below "Meeting of 3 May", or in a blank line with text behind it, as press releases have theirs below a line.
 * Empty: there is none. *stop: behind all of it. */
static line ruled_heading(const char *s, size_t n, line rule, size_t *stop) {
    enum { LINES = 2 };
    const line none = {rule.next, rule.next, rule.next};
    line found = none, l = rule;
    if (!is_underline(s, rule)) return none;
    for (int lines = 0; l.next < n && lines <= LINES; lines++) {
        const bool opens = memmem(s + l.start, l.end - l.start, ": ", 2) != NULL;
        l = line_at(s, n, l.next);
        if (found.end > found.start && is_underline(s, l)) {
            *stop = l.end;
            return found;
        }
        if (found.end > found.start && l.start == l.end) {
            while (l.next < n && l.start == l.end) l = line_at(s, n, l.next);
            *stop = found.end;
            return opens || l.start == l.end || is_underline(s, l) ? none : found;
        }
        if (!is_title(s, n, l) || lines == LINES || (lines && opens)) return none;
        if (!lines) found.start = l.start;
        found.end = l.end;
        found.next = l.next;
    }
    return none;
}

/* Mark the blocks of the n bytes that end b's text. */
static void mark_plain(builder *b, size_t n) {
    const size_t base = b->text.len - n;
    const char *s = b->text.data + base;
    bool first = true, after_blank = true;
    size_t start = 0, end = 0; /* of the open block; empty: none */
    uint8_t kind = TEXT_PARAGRAPH;
    for (size_t at = 0; at < n;) {
        line l = line_at(s, n, at);
        if (!builder_go_on(b, l.next - at)) return;
        at = l.next;
        bool blank = l.start == l.end;
        bool item = !blank && is_item(s, n, l);
        if (end > start && (blank || item)) {
            builder_mark(b, base + start, base + end, kind, 0);
            start = end = 0;
        }
        if (blank) {
            after_blank = true;
            continue;
        }
        size_t stop = 0;
        const line ruled = after_blank ? ruled_heading(s, n, l, &stop) : (line){0};
        if (ruled.end > ruled.start) {
            builder_mark(b, base + l.start, base + stop, TEXT_HEADING, 2);
            builder_title_heading(b, 2, s + ruled.start, ruled.end - ruled.start);
            at = line_at(s, n, stop).next;
            first = false;
            continue;
        }
        line below = at < n ? line_at(s, n, at) : (line){n, n, n};
        bool underlined =
            after_blank && below.end > below.start && is_underline(s, below) && is_title(s, n, l);
        bool alone = first && at < n && below.start == below.end && is_title(s, n, l);
        bool capitals = first && leads_in_capitals(s, n, l, below);
        if (underlined || alone || capitals) {
            uint8_t level = underlined && s[below.start] != '=' ? 2 : 1;
            /* The rule belongs to no block worth keeping apart. */
            stop = underlined ? below.end : l.end;
            builder_mark(b, base + l.start, base + stop, TEXT_HEADING, level);
            if (alone && !underlined)
                take_title(b, s, l, subtitle_of(s, n, l, at));
            else
                builder_title_heading(b, level, s + l.start, l.end - l.start);
            if (underlined) at = below.next;
            first = false;
            after_blank = true;
            continue;
        }
        if (end == start) {
            start = l.start;
            kind = item ? TEXT_LIST_ITEM : TEXT_PARAGRAPH;
        }
        end = l.end;
        first = after_blank = false;
    }
    if (end > start) builder_mark(b, base + start, base + end, kind, 0);
}

void extract_plain_text(builder *b, const char *s, size_t n) {
    builder_add(b, s, n);
    if (b->failure) return;
    b->open = false;
    mark_plain(b, n);
}

/* The text is kept as it was decoded; one that is a part of a document goes behind what there is. */
int extract_plain(builder *b, extract_input *in, fo_err *err) {
    fo_buf text = {0};
    bool part = b->text.len > 0;
    int rc = extract_decode(b, in, NULL, &text, err);
    if (!rc && part)
        extract_plain_text(b, text.data, text.len);
    else if (!rc)
        builder_adopt(b, &text);
    extract_drop(b, &text);
    if (!rc && !part && !b->failure) mark_plain(b, b->text.len);
    return rc;
}
