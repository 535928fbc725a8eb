#include "retrieval/units/unit_lines.h"

#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

#include "data/chunk/leaders.h"
#include "data/extract/list_marker.h"
#include "data/extract/text_columns.h"
#include "kernels/buf.h"
#include "kernels/utf8.h"
#include "kernels/words.h"
#include "retrieval/units/table_row.h"
#include "retrieval/units/unit_code.h"
#include "retrieval/units/unit_turns.h"
#include "retrieval/units/units.h"

enum {
    MAX_TAG = 160, /* bytes of a line that may be an option or a term */
    TAG = 40,      /* bytes of what a line says something of: "E2: water does not drain." */
    TAG_WORDS = 4, /* of it */
};

/* Does it end with a letter that has a capital or is one, "lunedì", or with a dash? Letters of other scripts are not looked
 * at: without a stop a line of theirs may have ended all the same. */
static bool goes_on_in_letters(const char *s, size_t n) {
    size_t at = n - 1;
    int32_t cp;
    while (at > 0 && !fo_utf8_boundary(s[at])) at--;
    if (!fo_utf8_decode(s + at, n - at, &cp) || cp < 0) return false;
    const utf8proc_category_t c = utf8proc_category(cp);
    return c == UTF8PROC_CATEGORY_LU || c == UTF8PROC_CATEGORY_LL || c == UTF8PROC_CATEGORY_PD;
}

bool unit_ends_sentence(const char *s, size_t n) {
    while (n && strchr(")\"'`*_]", s[n - 1])) n--;
    if (!n) return false;
    if ((unsigned char)s[n - 1] >= 0x80) return !goes_on_in_letters(s, n);
    return strchr(".!?", s[n - 1]) != NULL;
}

/* Without the dots that say "and more of them" behind an argument: "--list PATTERN...". */
static size_t without_dots(const char *s, size_t n) {
    static const char *const dots[] = {"...", "\xE2\x80\xA6"};
    for (size_t i = 0; i < sizeof dots / sizeof *dots; i++) {
        size_t k = strlen(dots[i]);
        if (n > k && memcmp(s + n - k, dots[i], k) == 0) return n - k;
    }
    return n;
}

size_t unit_option_said(const char *s, size_t n) {
    enum { WIDEST = 60 };
    size_t words =
        0; /* behind the name: "-t tag   where", but not "-t tag Says  the  tag" of justified text */
    if (n < 2 || s[0] != '-') return 0;
    for (size_t i = 0, next; i < n && i < WIDEST; i = next) {
        size_t end = i;
        while (end < n && !fo_is_blank(s[end])) end++;
        words = s[i] == '-' ? 0 : words + fo_is_letter(s[i]);
        if (words > 1) return 0;
        for (next = end; next < n && fo_is_blank(s[next]);) next++;
        if (next < n && (next > end + 1 || s[end] == '\t') && !strchr("-|", s[next])) return next;
    }
    return 0;
}

/* "-a, --all", "--size=N", "+x": not "- item", not "-5 degrees are enough." */
static bool is_option_line(const char *s, size_t n) {
    if (n < 2 || n > MAX_TAG || s[0] != '-') return false;
    size_t i = s[1] == '-' ? 2 : 1;
    if (i >= n || !(fo_is_letter(s[i]) || (i == 1 && (fo_is_digit(s[i]) || strchr("?#@", s[i])))))
        return false;
    return !unit_ends_sentence(s, without_dots(s, n)) || n < 8 || unit_option_said(s, n);
}

size_t text_item_mark(const char *s, size_t n) {
    size_t i = 0;
    if (n > 2 && strchr("-*+", s[0]) && s[1] == ' ') return 2;
    const size_t bullet = list_bullet(s, n);
    if (bullet && n > bullet + 1) return bullet + (s[bullet] == ' ');
    while (i < n && i < 3 && fo_is_digit(s[i])) i++;
    if (i == 0 && n > 2 && fo_is_letter(s[0])) { /* "b)", "iv)" */
        while (i < n && i < 5 && strchr("ivxIVX", s[i])) i++;
        if (i >= n || s[i] != ')') i = s[1] == ')' ? 1 : 0;
    }
    if (i == 0 || i + 1 >= n) return 0;
    return (s[i] == '.' || s[i] == ')') && s[i + 1] == ' ' ? i + 2 : 0;
}

size_t text_label(const char *s, size_t n, size_t most_words) {
    size_t words = 1;
    for (size_t i = 0; i + 1 < n && words <= most_words; i++) {
        if (s[i] == ':' && fo_is_blank(s[i + 1])) return i;
        if (strchr(".;!?|\"\n", s[i])) return 0;
        words += s[i] == ' ';
    }
    return 0;
}

bool unit_is_row(const char *s, size_t n) {
    for (size_t i = 0; i + 2 < n; i++)
        if (s[i] == ' ' && s[i + 1] == '|' && s[i + 2] == ' ') return true;
    return n > 2 && s[0] == '|' && s[n - 1] == '|';
}

/* A row of a table of options, "--port N | 8080 | where it listens"; not the names of one option, "-v |
 * --verbose", nor a choice, "--color {always | never}". */
static bool is_option_row(const char *s, size_t n) {
    int open = 0;
    for (size_t i = 0; i + 3 < n; i++) {
        if (strchr("[{(<", s[i]) && s[i]) open++;
        if (strchr("]})>", s[i]) && s[i]) open--;
        if (s[i] == ' ' && s[i + 1] == '|' && s[i + 2] == ' ') return !open && s[i + 3] != '-';
    }
    return false;
}

static uint8_t class_of(const char *s, size_t n) {
    size_t start;
    if (n == 0) return LINE_BLANK;
    if (is_option_line(s, n) && !is_option_row(s, n)) return LINE_OPTION;
    if (unit_is_row(s, n)) return LINE_ROW;
    if (unit_turns_begins(s, n, &start)) return LINE_TURN;
    return text_item_mark(s, n) ? LINE_ITEM : LINE_TEXT;
}

/* What a wrapped line happens to begin with ("... fell to" / "12. Then it rose.") is no mark of an
 * item, and the rest of a line is of no class of its own. */
static uint8_t class_of_line(const unit_lines *l, size_t a, size_t b) {
    uint8_t class = class_of(l->text + a, b - a);
    const char *all = l->text - l->before;
    size_t len = l->before + l->len, at = l->before + a;
    int number;
    if (l->goes_on && l->n == 0) return class == LINE_BLANK ? LINE_BLANK : LINE_TEXT;
    bool wrapped =
        class == LINE_ITEM && list_marker(all, len, at, &number) && !list_item_begins(all, len, at);
    return wrapped ? LINE_TEXT : class;
}

bool unit_is_rule(const char *s, size_t n) {
    size_t i = 0;
    while (i < n && s[i] && strchr("|-=: ", s[i])) i++;
    return i == n;
}

const char *unit_lines_text(const unit_lines *l, size_t i, size_t *n) {
    *n = l->v[i].end - l->v[i].start;
    return l->text + l->v[i].start;
}

/* "- Kestrel    men's four    10:15": a row with a bullet before it. */
static bool is_row_with_bullet(const unit_lines *l, size_t i) {
    size_t n, at = 0, cells = 0, bytes;
    const char *s = unit_lines_text(l, i, &n), *cell;
    if (l->v[i].class != LINE_ITEM || !strchr("-*+", s[0])) return false;
    while (table_row_cell(s, n, &at, &cell, &bytes)) cells++;
    return cells > 2;
}

const char *unit_lines_indented(const unit_lines *l, size_t i, size_t *n) {
    const char *end = l->text + l->v[i].end, *from = l->text + l->v[i].start,
               *first = l->text - l->before;
    if (!(i == 0 && l->goes_on))
        while (from > first && from[-1] != '\n') from--;
    *n = (size_t)(end - from);
    return from;
}

/* The columns of two lines: their indents count. */
static bool is_below(const unit_lines *l, size_t above, size_t i) {
    const size_t pair[2] = {above, i};
    for (int k = 0; k < 2; k++)
        if (l->v[pair[k]].class != LINE_TEXT && !is_row_with_bullet(l, pair[k])) return false;
    size_t n_above, n;
    const char *from = unit_lines_indented(l, above, &n_above),
               *from_below = unit_lines_indented(l, i, &n);
    return text_columns_are_below(from, n_above, from_below, n);
}

/* Rows from line i on: a line right above them that names all columns, or all but the first, is one, too, and begins with
 * its indent. */
static void find_names_above(unit_lines *l, size_t i) {
    size_t n_above, n;
    if (i == 0 || l->v[i - 1].class != LINE_TEXT || (i == 1 && l->goes_on)) return;
    const char *above = unit_lines_indented(l, i - 1, &n_above),
               *row = unit_lines_indented(l, i, &n);
    const bool others =
        above[0] == ' ' && above >= l->text && text_columns_name_others(above, n_above, row, n);
    if (!others && !text_columns_name_all(above, n_above, row, n)) return;
    if (others) l->v[i - 1].start = (uint32_t)(above - l->text);
    l->v[i - 1].class = LINE_ROW;
}

/* Lines of text whose columns stand below each other are rows. */
static void find_columns(unit_lines *l) {
    for (size_t i = 0, last; i < l->n; i = last + 1) {
        size_t n, rows = 1;
        last = i;
        for (size_t k = i + 1; k < l->n; k++) {
            const char *s = unit_lines_text(l, k, &n);
            if (k == i + 1 && n && unit_is_rule(s, n)) {
                continue;
            }
            if (!is_below(l, last, k)) break;
            last = k;
            rows++;
        }
        if (rows < TEXT_COLUMNS_ROWS) {
            last = i;
            continue;
        }
        for (size_t k = i; k <= last; k++) {
            text_line *row = &l->v[k];
            if (row->class == LINE_ITEM)
                row->start += (uint32_t)text_item_mark(l->text + row->start, row->end - row->start);
            row->class = LINE_ROW;
        }
        find_names_above(l, i);
    }
}

const char *unit_lines_above(const unit_lines *l, size_t *n) {
    const char *from = l->text - l->before, *end = l->text;
    while (end > from && fo_is_blank(end[-1])) end--;
    const char *line = end;
    while (line > from && line[-1] != '\n') line--;
    *n = (size_t)(end - line);
    return line;
}

size_t unit_lines_skip_blank(const unit_lines *l, size_t i) {
    while (i < l->n && l->v[i].class == LINE_BLANK) i++;
    return i;
}

/* Lines that could be records are some where the line before or behind them, blank ones aside, is of the same table. */
static void find_records(unit_lines *l) {
    size_t n_above, n;
    const char *above = unit_lines_above(l, &n_above);
    for (size_t i = unit_lines_skip_blank(l, 0), next; i < l->n; i = next) {
        const char *s = unit_lines_text(l, i, &n);
        next = unit_lines_skip_blank(l, i + 1);
        if (l->v[i].class != LINE_TURN && !(l->goes_on && i == 0) && table_row_is_record(s, n)) {
            bool alike = n_above && table_row_is_alike(above, n_above, s, n);
            if (!alike && next < l->n) {
                size_t n_below;
                const char *below = unit_lines_text(l, next, &n_below);
                alike =
                    table_row_is_record(below, n_below) && table_row_is_alike(s, n, below, n_below);
            }
            if (alike) l->v[i].class = LINE_RECORD;
        }
        above = s;
        n_above = n;
    }
}

/* From, to, subject and date, as a mail or one quoted in it begins: what it says stands below them. */
static void find_mail(unit_lines *l) {
    static const char names[] =
        "From To Cc Bcc Subject Date Sent Reply-To Von An Betreff Datum Gesendet De "
        "Para Asunto Objet Envoy\xC3\xA9";
    enum { FEWEST = 3 };
    for (size_t i = 0, end; i < l->n; i = end + 1) {
        for (end = i; end < l->n; end++) {
            size_t n;
            const char *s = unit_lines_text(l, end, &n), *colon = memchr(s, ':', n);
            if (l->v[end].class != LINE_TEXT || !colon ||
                !fo_words_have(names, s, (size_t)(colon - s)))
                break;
        }
        for (size_t k = i; end - i >= FEWEST && k < end; k++) l->v[k].class = LINE_MAIL;
    }
}

bool unit_is_led(const unit_lines *l, size_t i) {
    return leaders_in_line(l->text - l->before, l->before + l->len, l->before + l->v[i].start);
}

/* Lines with dots that lead from a name to what it has are items. */
static void find_led(unit_lines *l) {
    for (size_t i = l->goes_on; i < l->n; i++)
        if (l->v[i].class == LINE_TEXT && unit_is_led(l, i)) l->v[i].class = LINE_ITEM;
}

bool unit_is_comment(const char *s, size_t n) {
    return n > 1 && (s[0] == '#' || s[0] == ';' || (s[0] == '/' && s[1] == '/'));
}

/* "port = 9631", "export LEVEL=info", "port: 9631": a name without blanks, and what it is set to. */
static bool is_setting(const char *s, size_t n) {
    enum { WIDEST = 48 };
    size_t i = n > 7 && memcmp(s, "export ", 7) == 0 ? 7 : 0;
    const size_t from = i;
    while (i < n && (fo_is_letter(s[i]) || fo_is_digit(s[i]) || strchr("_.-", s[i]))) i++;
    if (i == from || i - from > WIDEST || !(fo_is_letter(s[from]) || s[from] == '_')) return false;
    const bool colon = i + 1 < n && s[i] == ':' && s[i + 1] == ' ' && !fo_is_upper(s[from]);
    while (i < n && fo_is_blank(s[i])) i++;
    return colon || (i < n && s[i] == '=' && !(i + 1 < n && s[i + 1] == '='));
}

/* A file of settings is one where nearly all lines are settings, comments on them, and names of sections. */
static void find_settings(unit_lines *l) {
    enum { FEWEST = 3 };
    size_t n, settings = 0, beside = 0, others = 0;
    for (size_t i = 0; i < l->n; i++) {
        const char *s = unit_lines_text(l, i, &n);
        if (n == 0) continue;
        if (is_setting(s, n))
            settings++;
        else if (unit_is_comment(s, n) || s[0] == '[')
            beside++;
        else
            others++;
    }
    if (settings < FEWEST || others * 5 > settings + beside) return;
    for (size_t i = 0; i < l->n; i++) {
        const char *s = unit_lines_text(l, i, &n);
        if (n == 0 || (i == 0 && l->goes_on)) continue;
        if (is_setting(s, n) || unit_is_comment(s, n))
            l->v[i].class = LINE_SETTING;
        else if (s[0] == '[' && s[n - 1] == ']')
            l->v[i].class = LINE_HEADING;
    }
}

/* Bytes of the blank, of ASCII or as wide as a Chinese character (U+3000), that n bytes at s begin with. */
static size_t blank_at(const char *s, size_t n) {
    if (n && fo_is_blank(*s)) return 1;
    return n >= 3 && memcmp(s, "\xE3\x80\x80", 3) == 0 ? 3 : 0;
}

/* Bytes of the sign that a web page has behind a heading, as a link to it: "Can I stop a backup?\xC2\xB6". */
static size_t link_sign(const char *s, size_t n) {
    static const char pilcrow[] = "\xC2\xB6";
    const size_t k = sizeof pilcrow - 1;
    return n > k && memcmp(s + n - k, pilcrow, k) == 0 ? k : 0;
}

int unit_lines_read(unit_lines *l, fo_err *err) {
    for (size_t i = 1; i <= l->before && l->text[-(ptrdiff_t)i] != '\n' && !l->goes_on; i++)
        l->goes_on = !fo_is_blank(l->text[-(ptrdiff_t)i]);
    for (size_t at = 0; at < l->len;) {
        const char *stop = memchr(l->text + at, '\n', l->len - at);
        size_t next = stop ? (size_t)(stop - l->text) + 1 : l->len;
        size_t a = at, b = next, unseen;
        while (a < b && blank_at(l->text + a, b - a)) a += blank_at(l->text + a, b - a);
        while (b > a && fo_is_blank(l->text[b - 1])) b--;
        b -= link_sign(l->text + a, b - a);
        at = next;
        if (l->n == l->cap) {
            size_t cap = l->cap ? 2 * l->cap : 64, bytes;
            text_line *p = fo_mul_size(cap, sizeof *p, &bytes) ? realloc(l->v, bytes) : NULL;
            if (!p) return fo_fail(err, FO_ENOMEM, "out of memory for the lines of a text");
            l->v = p;
            l->cap = cap;
        }
        uint8_t class = class_of_line(l, a, b);
        if (class == LINE_TURN && unit_turns_begins(l->text + a, b - a, &unseen)) a += unseen;
        l->v[l->n++] = (text_line){(uint32_t)a, (uint32_t)b, class};
    }
    find_settings(l);
    find_mail(l);
    find_records(l);
    find_columns(l);
    find_led(l);
    size_t n_above;
    const char *above = unit_lines_above(l, &n_above);
    const bool in_table =
        !l->goes_on && above + n_above + 1 == l->text && unit_is_row(above, n_above);
    for (size_t i = 0; i < l->n; i++) { /* a bar in prose: "gzip -cd a | grep b" */
        text_line *at = &l->v[i];
        bool beside = (i > 0 ? l->v[i - 1].class == LINE_ROW : in_table) ||
                      (i + 1 < l->n && l->v[i + 1].class == LINE_ROW);
        const char *s = l->text + at->start;
        const size_t n = at->end - at->start;
        if (at->class == LINE_ROW && !beside &&
            (unit_ends_sentence(s, n) || unit_code_is_typed(s, n)))
            at->class = LINE_TEXT;
        if (at->class == LINE_TEXT && at->end - at->start > l->width)
            l->width = at->end - at->start;
    }
    return FO_OK;
}

size_t unit_answer_mark(const char *s, size_t n) {
    static const char *const marks[] = {"A: ", "A. ", "Answer: "};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        const size_t m = strlen(marks[i]);
        if (n > m && memcmp(s, marks[i], m) == 0 && !fo_is_blank(s[m])) return m;
    }
    return 0;
}

/* Bytes of "E2" in "E2: water does not drain" and "E2 - water does not drain"; 0: nothing of the kind. */
static size_t tag_of(const char *s, size_t n) {
    static const char *const marks[] = {": ", " - ", " \xE2\x80\x93 "};
    const size_t most = n < TAG ? n : TAG;
    for (size_t i = 1; i < most; i++)
        for (size_t k = 0; k < sizeof marks / sizeof *marks; k++) {
            const size_t m = strlen(marks[k]);
            if (i + m < n && memcmp(s + i, marks[k], m) == 0) return i;
        }
    return 0;
}

bool unit_is_tagged(const unit_lines *l, size_t i) {
    size_t n;
    const char *s = unit_lines_text(l, i, &n);
    const size_t tag = tag_of(s, n);
    if (l->v[i].class != LINE_TEXT || (i == 0 && l->goes_on)) return false;
    if (!tag || !(fo_is_upper(s[0]) || fo_is_digit(s[0]))) return false;
    if (unit_answer_mark(s, n) || s[n - 1] == '?') return false;
    size_t words = 1;
    for (size_t k = 0; k < tag; k++) {
        if (strchr(".,;!?\"", s[k])) return false;
        words += fo_is_blank(s[k]);
    }
    return words <= TAG_WORDS;
}

bool unit_is_field(const unit_lines *l, size_t i) {
    size_t n;
    const char *s = unit_lines_text(l, i, &n);
    if (!unit_is_tagged(l, i)) return false;
    const size_t tag = tag_of(s, n);
    return s[tag] == ':' && !fo_has_digit(s, tag) && fo_is_digit(s[tag + 2]);
}

bool unit_breaks_on_purpose(const unit_lines *l, size_t i) {
    const text_line *at = &l->v[i], *next = at + 1;
    size_t word = 0;
    while (next->start + word < next->end && !fo_is_blank(l->text[next->start + word])) word++;
    const size_t width = l->width > 60 ? l->width : 60;
    return at->end - at->start + 1 + word + 8 < width;
}

size_t unit_paragraph_end(const unit_lines *l, size_t i) {
    while (i < l->n && l->v[i].class == LINE_TEXT) i++;
    return i;
}

void unit_lines_deinit(unit_lines *l) {
    free(l->v);
    l->v = NULL;
    l->n = l->cap = 0;
}
