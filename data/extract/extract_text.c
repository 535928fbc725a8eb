/* Plain text: it stays as it is, blocks are marked in it. */
#include <string.h>
#include <utf8proc.h>

#include "data/extract/chat_turn.h"
#include "data/extract/extract_internal.h"
#include "data/extract/list_marker.h"
#include "data/extract/man_printed.h"
#include "kernels/utf8.h"

enum { COVER_LINES = 4 };

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

/* Does the line end with a stop, a comma or a colon, of Chinese, too? */
static bool has_stop(const char *s, line l) {
    static const char *const wide[] = {"\u3002", "\uFF0C", "\uFF1A", "\uFF1B", "\uFF01", "\uFF1F"};
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
        if (l.end - l.start > 3 && !memcmp(s + l.end - 3, wide[i], 3)) return true;
    return strchr(".,;:!?", s[l.end - 1]) != NULL;
}

/* The first line of a message in a chat: a chunk that can begins with one. */
static bool is_turn(const char *s, line l) {
    chat_turn turn;
    return chat_turn_read(s + l.start, l.end - l.start, &turn);
}

/* A line that stands alone and reads like a heading: short, no stop at its end, nothing drawn and nothing said in a chat. */
static bool is_title(const char *s, size_t n, line l) {
    enum { BYTES = 320, CHARACTERS = 80 };
    return l.end > l.start && l.end - l.start <= BYTES && (unsigned char)s[l.start] > ' ' &&
           fo_utf8_count(s + l.start, l.end - l.start) <= CHARACTERS && !has_stop(s, l) &&
           !is_item(s, n, l) && !is_underline(s, l) && !is_turn(s, l);
}

/* The general category of the character at s[*at], which goes on behind it. */
static utf8proc_category_t next_category(const char *s, size_t end, size_t *at) {
    int32_t cp = 0;
    *at += fo_utf8_decode(s + *at, end - *at, &cp);
    return cp > 0 ? utf8proc_category(cp) : UTF8PROC_CATEGORY_CN;
}

/* Two blanks part columns, but for those beside a dash: "ACME  -  WARRANTY CARD". */
static bool has_columns(const char *s, line l) {
    for (size_t i = l.start; i + 1 < l.end; i++) {
        if (s[i] == '\t') return true;
        if (s[i] != ' ' || s[i + 1] != ' ') continue;
        size_t next = i;
        while (next < l.end && s[next] == ' ') next++;
        if (s[next] != '-' && !(i > l.start && s[i - 1] == '-')) return true;
        i = next - 1;
    }
    return false;
}

/* Names of columns: such are in the next line that has something, too, but for a drawn one. */
static bool names_columns(const char *s, size_t n, line l) {
    if (!has_columns(s, l)) return false;
    for (size_t at = l.next; at < n;) {
        const line below = line_at(s, n, at);
        at = below.next;
        if (below.start < below.end && !is_underline(s, below)) return has_columns(s, below);
    }
    return false;
}

/* No small letter, and four capitals or more; and no columns, as the names of a table's have. */
static bool in_capitals(const char *s, line l) {
    size_t capitals = 0;
    if (has_columns(s, l)) return false;
    for (size_t i = l.start; i < l.end;) {
        if (strchr("\t|,;=<>{}[]", s[i])) return false;
        const utf8proc_category_t c = next_category(s, l.end, &i);
        if (c == UTF8PROC_CATEGORY_LL) return false;
        capitals += c == UTF8PROC_CATEGORY_LU;
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

static line without_indent(const char *s, line l) {
    while (l.start < l.end && (s[l.start] == ' ' || s[l.start] == '\t')) l.start++;
    return l;
}

static bool has_figure(const char *s, line l) {
    return fo_has_digit(s + l.start, l.end - l.start);
}

static bool begins_bracket(const char *s, line l) {
    return s[l.start] == '(' || (l.end - l.start > 3 && !memcmp(s + l.start, "\uFF08", 3));
}

static bool begins_small(const char *s, line l) {
    size_t at = l.start;
    return next_category(s, l.end, &at) == UTF8PROC_CATEGORY_LL;
}

/* The first lines of a text, up to a blank one, where they are no sentences but what a cover has: "GENERAL TERMS" above "of Acme,
 * shop for yarn" and "(as of May)". One of them is in capitals, or the second is in brackets; a letter's address has a line that
 * begins with a figure. Their number, with the lines; 0: they are none. */
static size_t cover_lines(const char *s, size_t n, size_t at, line lines[], size_t most) {
    size_t count = 0;
    bool capitals = false;
    line l = {at, at, at};
    for (; at < n; at = l.next) {
        l = without_indent(s, line_at(s, n, at));
        if (l.start == l.end) break;
        if (count == most || !is_title(s, n, l) || has_columns(s, l) || fo_is_digit(s[l.start]) ||
            memmem(s + l.start, l.end - l.start, ": ", 2))
            return 0;
        capitals |= in_capitals(s, l);
        lines[count++] = l;
    }
    while (at < n && fo_is_blank(s[at])) at++;
    if (count < 2 || at == n) return 0;
    return capitals || (count == 2 && begins_bracket(s, lines[1])) ? count : 0;
}

/* The title of such lines: the first, and the second where it names something; the third where that goes on in it. */
static void take_cover(builder *b, const char *s, const line lines[], size_t count) {
    fo_buf both = {0};
    fo_buf_add(&both, s + lines[0].start, lines[0].end - lines[0].start);
    for (size_t i = 1; i < count && i < 3; i++) {
        const line l = lines[i];
        const bool small = begins_small(s, l);
        if (begins_bracket(s, l) || (has_figure(s, l) && !in_capitals(s, l))) break;
        if (i == 2 && !small) break;
        fo_buf_str(&both, small ? " " : " - ");
        fo_buf_add(&both, s + l.start, l.end - l.start);
    }
    if (!both.failed) builder_title_heading(b, 1, both.data, both.len);
    fo_buf_free(&both);
}

/* Does the same line come again behind the drawn one, with no more than an entry and no blank line between? Such lines part the
 * entries of a list: "-----" "Bob Smith" "Room 100" "-----" "Ann Jones" "Room 200" "-----". */
static bool comes_again(const char *s, size_t n, line rule) {
    enum { LINES = 3 };
    line l = rule;
    for (int lines = 0; l.next < n && lines <= LINES; lines++) {
        l = line_at(s, n, l.next);
        if (l.start == l.end) return false;
        if (l.end - l.start == rule.end - rule.start &&
            memcmp(s + l.start, s + rule.start, l.end - l.start) == 0)
            return true;
    }
    return false;
}

/* May the lines from first to last be a heading that ends in a drawn line? "Bob Smith" above "Room 100" is an entry. */
static bool may_be_ruled(const char *s, size_t n, line first, line last, line rule) {
    const bool entry = last.start != first.start && has_figure(s, last) && !in_capitals(s, last) &&
                       !in_capitals(s, first);
    return !entry && !comes_again(s, n, rule);
}

/* A heading of one or two lines that stands behind a drawn line at s[rule]: one to be that ends in another drawn line, "====="
 * above and below "Meeting of 3 May", or in a blank line with text behind it, as press releases have theirs below a line. The
 * names of columns are none. Empty: there is none. *stop: behind all of it. */
static line ruled_heading(const char *s, size_t n, line rule, size_t *stop) {
    enum { LINES = 2 };
    const line none = {rule.next, rule.next, rule.next};
    line found = none, first = rule, last = rule, l = rule;
    if (!is_underline(s, rule)) return none;
    for (int lines = 0; l.next < n && lines <= LINES; lines++) {
        const bool opens = memmem(s + l.start, l.end - l.start, ": ", 2) != NULL;
        l = line_at(s, n, l.next);
        if (found.end > found.start && is_underline(s, l)) {
            *stop = l.end;
            return may_be_ruled(s, n, first, last, l) ? found : none;
        }
        if (found.end > found.start && l.start == l.end) {
            while (l.next < n && l.start == l.end) l = line_at(s, n, l.next);
            *stop = found.end;
            return opens || l.start == l.end || is_underline(s, l) ? none : found;
        }
        if (!is_title(s, n, l) || has_columns(s, l) || lines == LINES || (lines && opens))
            return none;
        if (!lines) found.start = l.start, first = l;
        last = l;
        found.end = l.end;
        found.next = l.next;
    }
    return none;
}

/* Mark line l of the n bytes that begin at b's base as a heading, if it is one: where to read on; 0: it is none. first: nothing
 * but blank and drawn lines is above it. */
static size_t mark_heading(builder *b, size_t base, size_t n, line l, bool after_blank,
                           bool first) {
    const char *s = b->text.data + base;
    size_t stop = 0;
    const line ruled = after_blank ? ruled_heading(s, n, l, &stop) : (line){0};
    if (ruled.end > ruled.start) {
        builder_mark(b, base + l.start, base + stop, TEXT_HEADING, 2);
        builder_title_heading(b, 2, s + ruled.start, ruled.end - ruled.start);
        return line_at(s, n, stop).next;
    }
    const line below = l.next < n ? line_at(s, n, l.next) : (line){n, n, n};
    const bool underlined = after_blank && below.end > below.start && is_underline(s, below) &&
                            is_title(s, n, l) && !names_columns(s, n, l);
    line cover[COVER_LINES];
    const size_t n_cover = first ? cover_lines(s, n, l.start, cover, COVER_LINES) : 0;
    if (first) l = without_indent(s, l);
    const bool alone = first && l.next < n && below.start == below.end && is_title(s, n, l) &&
                       !names_columns(s, n, l);
    if (!underlined && !alone && !n_cover && !(first && leads_in_capitals(s, n, l, below)))
        return 0;
    const uint8_t level = underlined && s[below.start] != '=' ? 2 : 1;
    /* The rule belongs to no block worth keeping apart. */
    builder_mark(b, base + l.start, base + (underlined ? below.end : l.end), TEXT_HEADING, level);
    if (n_cover)
        take_cover(b, s, cover, n_cover);
    else if (alone && !underlined)
        take_title(b, s, l, subtitle_of(s, n, l, l.next));
    else
        builder_title_heading(b, level, s + l.start, l.end - l.start);
    return underlined ? below.next : l.next;
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
        if (end > start && (blank || item || is_turn(s, l))) {
            builder_mark(b, base + start, base + end, kind, 0);
            start = end = 0;
        }
        if (blank) {
            after_blank = true;
            continue;
        }
        const size_t behind = mark_heading(b, base, n, l, after_blank, first);
        if (behind) {
            at = behind;
            first = false;
            after_blank = true;
            continue;
        }
        if (first && end == start && is_underline(s, l)) { /* it may stand above the title */
            after_blank = false;
            continue;
        }
        if (end == start) {
            start = l.start;
            kind = item ? TEXT_LIST_ITEM : TEXT_PARAGRAPH;
        }
        end = l.end;
        first = false;
        after_blank = false;
    }
    if (end > start) builder_mark(b, base + start, base + end, kind, 0);
}

void extract_plain_text(builder *b, const char *s, size_t n) {
    builder_add(b, s, n);
    if (b->failure) return;
    b->open = false;
    mark_plain(b, n);
}

/* The text is kept as it was decoded, but for a printed manual page; one that is a part of a document goes behind what there is. */
int extract_plain(builder *b, extract_input *in, fo_err *err) {
    fo_buf text = {0};
    bool part = b->text.len > 0;
    int rc = extract_decode(b, in, NULL, &text, err);
    const bool manual = !rc && !part && man_printed_is(text.data, text.len);
    if (manual)
        man_printed_read(b, text.data, text.len);
    else if (!rc && part)
        extract_plain_text(b, text.data, text.len);
    else if (!rc)
        builder_adopt(b, &text);
    extract_drop(b, &text);
    if (!rc && !part && !manual && !b->failure) mark_plain(b, b->text.len);
    return rc;
}
