/* Lines are classed by how they begin and end; runs of lines of a class make paragraphs, lists,
 * tables and definitions; paragraphs are cut at sentence_end. Ours: rules for the layouts that
 * data/extract leaves, tested in tests/retrieval/answer/units_test.c. */
#include "retrieval/answer/units.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "data/chunk/chunk.h"
#include "data/chunk/line_break.h"
#include "data/extract/list_marker.h"
#include "kernels/buf.h"
#include "kernels/utf8.h"
#include "retrieval/answer/table_row.h"

enum {
    MAX_TAG = 160,      /* bytes of a line that may be an option or a term */
    MAX_HEADING = 90,   /* ... a heading */
    MAX_QUESTION = 200, /* ... a question that what follows answers */
    WHOLE_ENTRY = 420,  /* a description up to here stays one unit with its option */
    WHOLE_STEPS = 1100, /* a list up to here can be an answer whole */
    SHORT_STEPS = 12,   /* items of it */
    WHOLE_TITLED = 120, /* an item up to here stays whole though it begins with a title */
    TITLE_WORDS = 4,    /* of it */
    TITLE = 40, /* bytes of it, or of what a line says something of: "E2: water does not drain." */
    FEW_ROWS = 3, /* rows of columns: two lines may be alike by chance */
};

enum line_class {
    LINE_BLANK,
    LINE_TEXT,
    LINE_OPTION,
    LINE_ITEM,
    LINE_ROW,
    LINE_RECORD, /* a row whose cells say which columns they are of */
    LINE_TURN,
    LINE_NUMBERED, /* a heading with a number: is_numbered_heading */
};

typedef struct text_line {
    uint32_t start, end; /* without white space at the ends */
    uint8_t class;       /* enum line_class */
} text_line;

typedef struct unit_reader {
    const char *text;
    size_t len, before;
    bool goes_on; /* the first line began before the text */
    bool asks;    /* its paragraphs begin with questions: asks_often */
    text_line *lines;
    size_t n_lines, cap_lines;
    size_t width; /* of the longest line of text: where wrapping would have happened */
    text_units *out;
    uint32_t heading_start, heading_end; /* the last heading seen */
    fo_err *err;
} unit_reader;

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
static bool is_upper(char c) {
    return c >= 'A' && c <= 'Z';
}
static bool is_letter(char c) {
    return is_upper(c) || (c >= 'a' && c <= 'z');
}

/* ---- lines ---------------------------------------------------------------------------------- */

static bool ends_sentence(const char *s, size_t n) {
    while (n && strchr(")\"'`*_]", s[n - 1])) n--;
    return n && (strchr(".!?", s[n - 1]) || (unsigned char)s[n - 1] >= 0x80);
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

/* "-a, --all", "--size=N", "+x": not "- item", not "-5 degrees are enough." */
static bool is_option_line(const char *s, size_t n) {
    if (n < 2 || n > MAX_TAG || s[0] != '-') return false;
    size_t i = s[1] == '-' ? 2 : 1;
    if (i >= n || !(is_letter(s[i]) || (i == 1 && (is_digit(s[i]) || strchr("?#@", s[i])))))
        return false;
    return !ends_sentence(s, without_dots(s, n)) || n < 8;
}

size_t text_item_mark(const char *s, size_t n) {
    size_t i = 0;
    if (n > 2 && strchr("-*+", s[0]) && s[1] == ' ') return 2;
    if (n > 4 && memcmp(s, "\xE2\x80\xA2", 3) == 0) return 3 + (s[3] == ' ');
    while (i < n && i < 3 && is_digit(s[i])) i++;
    if (i == 0 && n > 2 && is_letter(s[0])) i = s[1] == ')' ? 1 : 0;
    if (i == 0 || i + 1 >= n) return 0;
    return (s[i] == '.' || s[i] == ')') && s[i + 1] == ' ' ? i + 2 : 0;
}

static bool is_row(const char *s, size_t n) {
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

/* "[09:02] Imke: ..." or "09:02 <imke> ...": a time first. */
static bool is_turn(const char *s, size_t n) {
    size_t i = n && s[0] == '[';
    size_t digits = 0, colons = 0;
    for (; i < n && i < 24 && (is_digit(s[i]) || strchr(":-T. /", s[i])); i++) {
        digits += is_digit(s[i]);
        colons += s[i] == ':';
    }
    return digits >= 3 && colons >= 1 && i < n && (s[i] == ']' || s[i] == '<' || s[0] == '[');
}

static uint8_t class_of(const char *s, size_t n) {
    if (n == 0) return LINE_BLANK;
    if (is_option_line(s, n) && !is_option_row(s, n)) return LINE_OPTION;
    if (is_row(s, n)) return LINE_ROW;
    if (is_turn(s, n)) return LINE_TURN;
    return text_item_mark(s, n) ? LINE_ITEM : LINE_TEXT;
}

/* What a wrapped line happens to begin with ("... fell to" / "12. Then it rose.") is no mark of an
 * item, and the rest of a line is of no class of its own. */
static uint8_t class_of_line(const unit_reader *r, size_t a, size_t b) {
    uint8_t class = class_of(r->text + a, b - a);
    const char *all = r->text - r->before;
    size_t len = r->before + r->len, at = r->before + a;
    int number;
    if (r->goes_on && r->n_lines == 0) return class == LINE_BLANK ? LINE_BLANK : LINE_TEXT;
    bool wrapped =
        class == LINE_ITEM && list_marker(all, len, at, &number) && !list_item_begins(all, len, at);
    return wrapped ? LINE_TEXT : class;
}

/* The line between header and rows: "| --- | :-: |", "=====  ====". */
static bool is_rule(const char *s, size_t n) {
    size_t i = 0;
    while (i < n && s[i] && strchr("|-=: ", s[i])) i++;
    return i == n;
}

static const char *text_of(const unit_reader *r, size_t i, size_t *n) {
    *n = r->lines[i].end - r->lines[i].start;
    return r->text + r->lines[i].start;
}

/* The columns of two lines: their indents count. */
static bool is_below(const unit_reader *r, size_t above, size_t i) {
    const text_line *pair[2] = {&r->lines[above], &r->lines[i]};
    size_t from[2];
    for (int k = 0; k < 2; k++) {
        if (pair[k]->class != LINE_TEXT) return false;
        from[k] = pair[k]->start;
        while (from[k] > 0 && r->text[from[k] - 1] != '\n') from[k]--;
    }
    return table_row_is_below(r->text + from[0], pair[0]->end - from[0], r->text + from[1],
                              pair[1]->end - from[1]);
}

/* Lines of text whose columns stand below each other are rows. */
static void find_columns(unit_reader *r) {
    for (size_t i = 0, last; i < r->n_lines; i = last + 1) {
        size_t n, rows = 1;
        last = i;
        for (size_t k = i + 1; k < r->n_lines; k++) {
            const char *s = text_of(r, k, &n);
            if (k == i + 1 && n && is_rule(s, n)) {
                continue;
            }
            if (!is_below(r, last, k)) break;
            last = k;
            rows++;
        }
        if (rows < FEW_ROWS) {
            last = i;
            continue;
        }
        for (size_t k = i; k <= last; k++) r->lines[k].class = LINE_ROW;
    }
}

/* The last line before the text that is not blank. */
static const char *line_before(const unit_reader *r, size_t *n) {
    const char *from = r->text - r->before, *end = r->text;
    while (end > from && fo_is_blank(end[-1])) end--;
    const char *line = end;
    while (line > from && line[-1] != '\n') line--;
    *n = (size_t)(end - line);
    return line;
}

static size_t skip_blank(const unit_reader *r, size_t i) {
    while (i < r->n_lines && r->lines[i].class == LINE_BLANK) i++;
    return i;
}

/* Lines that could be records are some where the line before or behind them, blank ones aside, is of the same table. */
static void find_records(unit_reader *r) {
    size_t n_above, n;
    const char *above = line_before(r, &n_above);
    for (size_t i = skip_blank(r, 0), next; i < r->n_lines; i = next) {
        const char *s = text_of(r, i, &n);
        next = skip_blank(r, i + 1);
        if (!(r->goes_on && i == 0) && table_row_is_record(s, n)) {
            bool alike = n_above && table_row_is_alike(above, n_above, s, n);
            if (!alike && next < r->n_lines) {
                size_t n_below;
                const char *below = text_of(r, next, &n_below);
                alike = table_row_is_record(below, n_below) && table_row_is_alike(s, n, below, n_below);
            }
            if (alike) r->lines[i].class = LINE_RECORD;
        }
        above = s;
        n_above = n;
    }
}

static int read_lines(unit_reader *r) {
    for (size_t at = 0; at < r->len;) {
        const char *stop = memchr(r->text + at, '\n', r->len - at);
        size_t next = stop ? (size_t)(stop - r->text) + 1 : r->len;
        size_t a = at, b = next;
        while (a < b && fo_is_blank(r->text[a])) a++;
        while (b > a && fo_is_blank(r->text[b - 1])) b--;
        at = next;
        if (r->n_lines == r->cap_lines) {
            size_t cap = r->cap_lines ? 2 * r->cap_lines : 64, bytes;
            text_line *p = fo_mul_size(cap, sizeof *p, &bytes) ? realloc(r->lines, bytes) : NULL;
            if (!p) return fo_fail(r->err, FO_ENOMEM, "out of memory for the lines of a text");
            r->lines = p;
            r->cap_lines = cap;
        }
        uint8_t class = class_of_line(r, a, b);
        r->lines[r->n_lines++] = (text_line){(uint32_t)a, (uint32_t)b, class};
    }
    find_records(r);
    find_columns(r);
    for (size_t i = 0; i < r->n_lines; i++) { /* a bar in prose: "gzip -cd a | grep b" */
        text_line *l = &r->lines[i];
        bool beside = (i > 0 && r->lines[i - 1].class == LINE_ROW) ||
                      (i + 1 < r->n_lines && r->lines[i + 1].class == LINE_ROW);
        if (l->class == LINE_ROW && !beside && ends_sentence(r->text + l->start, l->end - l->start))
            l->class = LINE_TEXT;
        if (l->class == LINE_TEXT && l->end - l->start > r->width) r->width = l->end - l->start;
    }
    return FO_OK;
}

/* ---- units ---------------------------------------------------------------------------------- */

static int add_unit(unit_reader *r, uint32_t start, uint32_t end, uint8_t kind, uint32_t head_start,
                    uint32_t head_end, uint8_t head_kind) {
    text_units *u = r->out;
    if (start >= end) return FO_OK;
    if (u->n == u->cap) {
        size_t cap = u->cap ? 2 * u->cap : 32, bytes;
        text_unit *p = fo_mul_size(cap, sizeof *p, &bytes) ? realloc(u->v, bytes) : NULL;
        if (!p) return fo_fail(r->err, FO_ENOMEM, "out of memory for the units of a text");
        u->v = p;
        u->cap = cap;
    }
    u->v[u->n++] = (text_unit){start, end, head_start, head_end, start, kind, head_kind, false};
    return FO_OK;
}

/* Where the sentence that begins at `at` ends, which the lines before the text have a say in. */
static size_t stop_of(const unit_reader *r, size_t end, size_t at) {
    return sentence_end(r->text - r->before, r->before + end, r->before + at) - r->before;
}

/* The sentences of a stretch, each hanging on the same head. */
static int add_sentences(unit_reader *r, uint32_t start, uint32_t end, uint8_t kind,
                         uint32_t head_start, uint32_t head_end, uint8_t head_kind) {
    int rc = FO_OK;
    for (uint32_t at = start; !rc && at < end;) {
        size_t stop = stop_of(r, end, at);
        if (stop <= at || stop > end) stop = end;
        uint32_t a = at, b = (uint32_t)stop;
        while (a < b && fo_is_blank(r->text[a])) a++;
        while (b > a && fo_is_blank(r->text[b - 1])) b--;
        at = (uint32_t)stop;
        rc = add_unit(r, a, b, kind, head_start, head_end, head_kind);
    }
    return rc;
}

/* True when the break after line i was made on purpose: the next line's first word would have fit. */
static bool breaks_on_purpose(const unit_reader *r, size_t i) {
    const text_line *l = &r->lines[i], *next = l + 1;
    size_t word = 0;
    while (next->start + word < next->end && !fo_is_blank(r->text[next->start + word])) word++;
    size_t width = r->width > 60 ? r->width : 60;
    return l->end - l->start + 1 + word + 8 < width;
}

/* Does nothing say that the sentence of line i goes on in the next one? */
static bool ends_here(const unit_reader *r, size_t i) {
    size_t newline = r->lines[i].end;
    while (newline < r->len && r->text[newline] != '\n') newline++;
    return line_break_ends(r->text - r->before, r->before + r->len, r->before + r->lines[i].start,
                           r->before + newline);
}

/* The paragraph of text lines from line i: one past its last line. */
static size_t paragraph_end(const unit_reader *r, size_t i) {
    while (i < r->n_lines && r->lines[i].class == LINE_TEXT) i++;
    return i;
}

/* Is the line before or behind i, blank ones aside, a numbered item too, or is there none behind it? */
static bool is_beside_items(const unit_reader *r, size_t i) {
    size_t before = i, next = i + 1;
    while (before > 0 && r->lines[before - 1].class == LINE_BLANK) before--;
    while (next < r->n_lines && r->lines[next].class == LINE_BLANK) next++;
    const text_line *l = before > 0 ? &r->lines[before - 1] : NULL;
    return next >= r->n_lines || (l && l->class == LINE_ITEM && is_digit(r->text[l->start])) ||
           (r->lines[next].class == LINE_ITEM && is_digit(r->text[r->lines[next].start]));
}

/* "4. Fees", a line of its own above sentences, as minutes and contracts have them: no item of a list. */
static bool is_numbered_heading(const unit_reader *r, size_t i) {
    const text_line *l = &r->lines[i];
    const char *s = r->text + l->start;
    const size_t n = l->end - l->start;
    if (l->class != LINE_ITEM || !is_digit(s[0]) || n > MAX_HEADING || strchr(".!?:;,", s[n - 1]))
        return false;
    if (i + 1 >= r->n_lines || (i > 0 ? r->lines[i - 1].class != LINE_BLANK : r->goes_on))
        return false;
    if (l[1].class == LINE_BLANK) return !is_beside_items(r, i);
    const text_line *next = l + 1, *last = &r->lines[paragraph_end(r, i + 1) - 1];
    const char first = r->text[next->start];
    return next->class == LINE_TEXT && !(first >= 'a' && first <= 'z') &&
           next->end - next->start > n && breaks_on_purpose(r, i) &&
           ends_sentence(r->text + last->start, last->end - last->start);
}

/* A question with a line of its own before what answers it, as pages of frequent questions have them: what stands before
 * has ended, and what follows did not have to begin a new line. */
static bool is_asked(const unit_reader *r, size_t i) {
    const text_line *l = &r->lines[i];
    if (l->class != LINE_TEXT || l->end - l->start > MAX_QUESTION || (i == 0 && r->goes_on))
        return false;
    if (r->text[l->end - 1] != '?' || i + 1 >= r->n_lines) return false;
    const text_line *before = i > 0 ? l - 1 : NULL;
    if (before && before->class == LINE_TEXT &&
        !(ends_sentence(r->text + before->start, before->end - before->start) &&
          breaks_on_purpose(r, i - 1)))
        return false;
    const uint8_t next = r->lines[i + 1].class;
    return next == LINE_TEXT ? breaks_on_purpose(r, i) : next == LINE_BLANK && i + 2 < r->n_lines;
}

/* The end of the question that line i begins with and goes on to answer, "Is it free? For three people."; 0: none */
static uint32_t asked_first(const unit_reader *r, size_t i) {
    const text_line *l = &r->lines[i];
    const size_t end = stop_of(r, l->end, l->start);
    if (end >= l->end || end > l->start + MAX_QUESTION) return 0;
    uint32_t last = (uint32_t)end;
    while (last > l->start && (fo_is_blank(r->text[last - 1]) || r->text[last - 1] == '*')) last--;
    return last > l->start && r->text[last - 1] == '?' ? last : 0;
}

/* One such paragraph is a way of writing; where there are several, they are a page of frequent questions. */
static bool asks_often(const unit_reader *r) {
    size_t n = 0;
    for (size_t i = 0; i < r->n_lines && n < 2; i++) {
        const bool begins = i > 0 ? r->lines[i - 1].class == LINE_BLANK : !r->goes_on;
        n += begins && r->lines[i].class == LINE_TEXT && asked_first(r, i) > 0;
    }
    return n > 1;
}

/* "A: ", "Answer: " before what answers a question: bytes of it. */
static size_t answer_mark(const char *s, size_t n) {
    static const char *const marks[] = {"A: ", "A. ", "Answer: "};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        const size_t m = strlen(marks[i]);
        if (n > m && memcmp(s, marks[i], m) == 0 && !fo_is_blank(s[m])) return m;
    }
    return 0;
}

/* In capitals: between options only such a line is a heading, for a description may be as short as one. */
static bool is_shouted(const unit_reader *r, size_t i) {
    const text_line *l = &r->lines[i];
    bool letters = false;
    for (uint32_t k = l->start; k < l->end; k++) {
        if (r->text[k] >= 'a' && r->text[k] <= 'z') return false;
        letters |= is_upper(r->text[k]) || (unsigned char)r->text[k] >= 0x80;
    }
    return letters && l->end - l->start > 2;
}

/* Does line i stand alone between blank lines, short and without a stop, or in capitals above what it names? */
static bool is_heading(const unit_reader *r, size_t i) {
    const text_line *l = &r->lines[i];
    size_t n = l->end - l->start;
    const char *s = r->text + l->start;
    if (is_asked(r, i)) return true;
    if (n > MAX_HEADING || l->class != LINE_TEXT || (i == 0 && r->goes_on)) return false;
    if (s[0] == '#') return true;
    if (s[0] >= 'a' && s[0] <= 'z') return false;
    if (i + 1 >= r->n_lines || (i > 0 && r->lines[i - 1].class != LINE_BLANK)) return false;
    const uint8_t next = r->lines[i + 1].class;
    if (strchr(".!?:;,", s[n - 1])) return false;
    if (next == LINE_BLANK)
        return true; /* else "PROGRAMS" above rows, "BEFORE FIRST USE" above a text */
    const bool several = memchr(s, ' ', n) != NULL;
    return is_shouted(r, i) && (next == LINE_ITEM || next == LINE_ROW ||
                                (next == LINE_TEXT && several && !is_shouted(r, i + 1)));
}

/* A term before its description: "d", "%H", "LESSOPEN", "pop [--index]" on a line of its own with
 * the description on the very next line, or, where it is no plain words, behind a blank one. */
static bool is_term(const unit_reader *r, size_t i) {
    const text_line *l = &r->lines[i];
    size_t n = l->end - l->start;
    const char *s = r->text + l->start;
    if (l->class != LINE_TEXT || n > MAX_HEADING || strchr(".!?:;,", s[n - 1])) return false;
    if (i == 0 && r->goes_on) return false;
    if (i + 1 >= r->n_lines || (i > 0 && r->lines[i - 1].class == LINE_TEXT &&
                                !ends_sentence(r->text + r->lines[i - 1].start,
                                               r->lines[i - 1].end - r->lines[i - 1].start)))
        return false;
    if (r->lines[i + 1].class == LINE_TEXT && is_shouted(r, i + 1)) return false;
    bool odd = n <= 3, blank = false; /* signs of syntax: never words alone */
    for (size_t k = 0; k < n; k++) {
        odd |= strchr("[]{}<>%$=/\\|@_", s[k]) != NULL;
        odd |= k + 2 < n && s[k] == ' ' && s[k + 1] == '-' && !fo_is_blank(s[k + 2]) &&
               s[k + 2] != '-';
        odd |= k + 3 < n && memcmp(s + k, " --", 3) == 0 && is_letter(s[k + 3]);
        blank |= s[k] == ' ';
    }
    if (r->lines[i + 1].class == LINE_TEXT)
        return (odd || !blank) && n <= 48 && breaks_on_purpose(r, i) && ends_here(r, i) &&
               (r->lines[i + 1].end - r->lines[i + 1].start) > n;
    return odd && i + 2 < r->n_lines && r->lines[i + 1].class == LINE_BLANK &&
           r->lines[i + 2].class == LINE_TEXT && !is_shouted(r, i + 2);
}

/* An option or term and what is said of it: line i, and further options right below. */
static size_t read_definition(unit_reader *r, size_t i, int *rc) {
    bool option = r->lines[i].class == LINE_OPTION;
    size_t last = i;
    while (option) { /* "-0" NEWLINE "--null": one entry */
        size_t next = skip_blank(r, last + 1);
        if (next >= r->n_lines || next > last + 2 || r->lines[next].class != LINE_OPTION) break;
        last = next;
    }
    uint32_t head_start = r->lines[i].start, head_end = r->lines[last].end;
    size_t at = skip_blank(r, last + 1);
    if (at >= r->n_lines || r->lines[at].class != LINE_TEXT ||
        (option && is_heading(r, at) && is_shouted(r, at))) {
        /* nothing is said of it here: a list of options, or the text ends */
        *rc = add_unit(r, head_start, head_end, last > i ? TEXT_UNIT_DEFINITION : TEXT_UNIT_HEADING,
                       r->heading_start, r->heading_end, TEXT_UNIT_HEADING);
        return last + 1;
    }
    size_t end = at;
    while (end < r->n_lines && r->lines[end].class == LINE_TEXT && !(end > at && is_term(r, end)))
        end++;
    uint32_t body_start = r->lines[at].start, body_end = r->lines[end - 1].end;
    uint32_t cut = body_end;
    if (body_end - head_start > WHOLE_ENTRY) {
        size_t stop = stop_of(r, body_end, body_start);
        cut = stop > body_start && stop < body_end ? (uint32_t)stop : body_end;
        while (cut > body_start && fo_is_blank(r->text[cut - 1])) cut--;
    }
    *rc = add_unit(r, head_start, cut, TEXT_UNIT_DEFINITION, r->heading_start, r->heading_end,
                   TEXT_UNIT_HEADING);
    if (!*rc) r->out->v[r->out->n - 1].body = body_start;
    if (!*rc && cut < body_end)
        *rc = add_sentences(r, cut, body_end, TEXT_UNIT_SENTENCE, head_start, head_end,
                            TEXT_UNIT_DEFINITION);
    /* Further paragraphs may belong to it, or stand behind the last entry of a list: it is context. */
    while (!*rc) {
        size_t next = skip_blank(r, end);
        if (next >= r->n_lines || next == end || r->lines[next].class != LINE_TEXT ||
            is_heading(r, next) || is_term(r, next) || !option)
            break;
        end = paragraph_end(r, next);
        *rc = add_sentences(r, r->lines[next].start, r->lines[end - 1].end, TEXT_UNIT_SENTENCE,
                            head_start, head_end, TEXT_UNIT_HEADING);
    }
    return end;
}

/* The text begins within a table: the line before it is a row, too. */
static bool goes_on_with_rows(const unit_reader *r) {
    size_t n;
    const char *line = line_before(r, &n);
    return memchr(line + n, '\n', (size_t)(r->text - line) - n) && is_row(line, n);
}

/* Do records with the names that row i holds follow? */
static bool names_records(const unit_reader *r, size_t i) {
    const size_t next = skip_blank(r, i + 1);
    size_t n, n_next;
    const char *s = text_of(r, i, &n);
    if (next >= r->n_lines || r->lines[next].class != LINE_RECORD) return false;
    const char *record = text_of(r, next, &n_next);
    return table_row_is_alike(s, n, record, n_next);
}

/* Columns are named in words: a cell that is a number is a value. */
static bool names_columns(const char *s, size_t n) {
    for (size_t at = 0; at < n;) {
        const char *bar = memchr(s + at, '|', n - at);
        size_t stop = bar ? (size_t)(bar - s) : n, digits = 0, others = 0;
        for (size_t i = at; i < stop; i++) {
            digits += is_digit(s[i]);
            others += !is_digit(s[i]) && !strchr(" .,+-%:", s[i]);
        }
        if (digits && !others) return false;
        at = stop + 1;
    }
    return true;
}

/* Is row i, with another one below it, the names of the columns? */
static bool has_header(const unit_reader *r, size_t i) {
    size_t n, n_next;
    const char *s = text_of(r, i, &n), *next = text_of(r, i + 1, &n_next);
    if (memchr(s, '|', n)) return names_columns(s, n);
    return is_rule(next, n_next) || table_row_names_columns(s, n, next, n_next);
}

/* Rows: the first of several is the header of the others, where the table begins with it. */
static size_t read_table(unit_reader *r, size_t i, int *rc) {
    size_t end = i;
    while (end < r->n_lines && r->lines[end].class == LINE_ROW) end++;
    bool headed = end > i + 1 && !(i == 0 && goes_on_with_rows(r)) && has_header(r, i);
    for (size_t k = i; !*rc && k < end; k++) {
        const text_line *l = &r->lines[k];
        if (is_rule(r->text + l->start, l->end - l->start)) continue;
        if ((k == i && headed) || (k + 1 == end && names_records(r, k)))
            *rc = add_unit(r, l->start, l->end, TEXT_UNIT_HEADER, r->heading_start, r->heading_end,
                           TEXT_UNIT_HEADING);
        else
            *rc = add_unit(r, l->start, l->end, TEXT_UNIT_ROW, headed ? r->lines[i].start : 0,
                           headed ? r->lines[i].end : 0, TEXT_UNIT_HEADER);
    }
    return end;
}

/* Where the title ends that an item begins with, "2. Water. The pump broke twice ...", of few words and with more
 * behind it; 0: there is none. */
static uint32_t title_of_item(const unit_reader *r, uint32_t start, uint32_t end) {
    const uint32_t from = start + (uint32_t)text_item_mark(r->text + start, end - start);
    const size_t stop = stop_of(r, end, from);
    uint32_t last = (uint32_t)stop;
    if (from == start || stop >= end) return 0;
    while (last > from && fo_is_blank(r->text[last - 1])) last--;
    size_t words = 1;
    for (uint32_t i = from; i < last; i++) words += fo_is_blank(r->text[i]);
    return last - from <= TITLE && words <= TITLE_WORDS && r->text[last - 1] == '.' ? last : 0;
}

/* A paragraph with a number before it is no step: its sentences are units. *title: where its title ends; 0: it has none. */
static bool is_paragraph_item(const unit_reader *r, uint32_t start, uint32_t end, uint32_t *title) {
    *title = end - start > WHOLE_TITLED ? title_of_item(r, start, end) : 0;
    return *title || end - start > WHOLE_ENTRY;
}

/* An item is a unit; of a paragraph its sentences are, below the title. */
static int add_item(unit_reader *r, uint32_t start, uint32_t end, const text_unit *head) {
    uint32_t title;
    if (!is_paragraph_item(r, start, end, &title))
        return add_unit(r, start, end, TEXT_UNIT_ITEM, head->head_start, head->head_end,
                        head->head_kind);
    if (!title)
        return add_sentences(r, start, end, TEXT_UNIT_SENTENCE, head->head_start, head->head_end,
                             head->head_kind);
    int rc = add_unit(r, start, title, TEXT_UNIT_HEADING, head->head_start, head->head_end,
                      head->head_kind);
    return rc ? rc
              : add_sentences(r, title, end, TEXT_UNIT_SENTENCE, start, title, TEXT_UNIT_HEADING);
}

/* The lines of the item at line k: one past the last. *stop: where its text ends. */
static size_t item_end(const unit_reader *r, size_t k, size_t end, uint32_t *stop) {
    size_t next = k + 1;
    while (next < end && r->lines[next].class != LINE_ITEM) next++;
    size_t last = next;
    while (last > k + 1 && r->lines[last - 1].class == LINE_BLANK) last--;
    *stop = r->lines[last - 1].end;
    return next;
}

/* Is one of the items on lines [i, end) a paragraph? */
static bool has_paragraphs(const unit_reader *r, size_t i, size_t end) {
    for (uint32_t item, title; i < end;) {
        const uint32_t start = r->lines[i].start;
        i = item_end(r, i, end, &item);
        if (is_paragraph_item(r, start, item, &title)) return true;
    }
    return false;
}

/* The items of a list from line i on; lead: the sentence that ends in a colon before it. */
static size_t read_list(unit_reader *r, size_t i, uint32_t lead_start, uint32_t lead_end, int *rc) {
    size_t end = i, n_items = 0, last_text = i;
    const text_line *first = &r->lines[i];
    const char *s = r->text + first->start;
    bool numbered = is_digit(s[0]) && text_item_mark(s, first->end - first->start) > 0;
    for (size_t k = i; k < r->n_lines; k++) {
        uint8_t c = r->lines[k].class;
        if (c == LINE_ITEM) {
            n_items++;
        } else if (c == LINE_BLANK) {
            if (k + 1 >= r->n_lines || r->lines[k + 1].class != LINE_ITEM) break;
            continue;
        } else if (c != LINE_TEXT || (k > 0 && r->lines[k - 1].class == LINE_BLANK)) {
            break;
        } else if (ends_sentence(r->text + r->lines[k - 1].start,
                                 r->lines[k - 1].end - r->lines[k - 1].start) &&
                   breaks_on_purpose(r, k - 1)) {
            break; /* a new paragraph right below the list */
        }
        last_text = k;
        end = k + 1;
    }
    uint32_t stop = r->lines[last_text].end;
    bool has_lead = lead_end > lead_start;
    uint32_t from = has_lead ? lead_start : r->lines[i].start;
    if (n_items > 1 && n_items <= SHORT_STEPS && (numbered || has_lead) &&
        stop - from <= WHOLE_STEPS && !has_paragraphs(r, i, end))
        *rc = add_unit(r, from, stop, TEXT_UNIT_STEPS, r->heading_start, r->heading_end,
                       TEXT_UNIT_HEADING);
    const text_unit head = {.head_start = has_lead ? lead_start : r->heading_start,
                            .head_end = has_lead ? lead_end : r->heading_end,
                            .head_kind = has_lead ? TEXT_UNIT_ITEM : TEXT_UNIT_HEADING};
    for (size_t k = i; !*rc && k < end;) {
        uint32_t item;
        const size_t next = item_end(r, k, end, &item);
        *rc = add_item(r, r->lines[k].start, item, &head);
        k = next;
    }
    return end;
}

/* A paragraph: its sentences. One that ends in a colon leads in what follows. */
static size_t read_paragraph(unit_reader *r, size_t i, int *rc) {
    size_t end = i + 1;
    while (end < r->n_lines && r->lines[end].class == LINE_TEXT && !is_term(r, end) &&
           !is_asked(r, end))
        end++;
    uint32_t start = r->lines[i].start, stop = r->lines[end - 1].end;
    const uint32_t asked = r->asks ? asked_first(r, i) : 0;
    if (asked) {
        *rc = add_unit(r, start, asked, TEXT_UNIT_HEADING, 0, 0, TEXT_UNIT_HEADING);
        if (*rc) return end;
        r->heading_start = start;
        r->heading_end = asked;
        start = asked;
        while (start < stop && (fo_is_blank(r->text[start]) || r->text[start] == '*')) start++;
    }
    if (r->heading_end && r->text[r->heading_end - 1] == '?')
        start += (uint32_t)answer_mark(r->text + start, stop - start);
    size_t next = skip_blank(r, end);
    bool leads = r->text[stop - 1] == ':' && next < r->n_lines && next <= end + 1 &&
                 (r->lines[next].class == LINE_ITEM || r->lines[next].class == LINE_ROW);
    if (!leads) {
        *rc = add_sentences(r, start, stop, TEXT_UNIT_SENTENCE, r->heading_start, r->heading_end,
                            TEXT_UNIT_HEADING);
        return end;
    }
    uint32_t lead = start; /* the last sentence alone */
    for (uint32_t at = start; at < stop;) {
        size_t s = stop_of(r, stop, at);
        if (s <= at || s >= stop) break;
        at = (uint32_t)s;
        while (at < stop && fo_is_blank(r->text[at])) at++;
        lead = at;
    }
    if (lead > start)
        *rc = add_sentences(r, start, lead, TEXT_UNIT_SENTENCE, r->heading_start, r->heading_end,
                            TEXT_UNIT_HEADING);
    if (!*rc && r->lines[next].class == LINE_ITEM) return read_list(r, next, lead, stop, rc);
    if (!*rc)
        *rc = add_unit(r, lead, stop, TEXT_UNIT_HEADING, r->heading_start, r->heading_end,
                       TEXT_UNIT_HEADING);
    return end;
}

/* What one person said: the line with the time and the lines that go on. What was said before is
 * what it hangs on, and is part of the answer where it was a question. */
static size_t read_turn(unit_reader *r, size_t i, int *rc) {
    size_t end = paragraph_end(r, i + 1);
    uint32_t before_start = 0, before_end = 0;
    bool asked = false;
    if (r->out->n && r->out->v[r->out->n - 1].kind == TEXT_UNIT_TURN) {
        before_start = r->out->v[r->out->n - 1].start;
        before_end = r->out->v[r->out->n - 1].end;
        asked = r->text[before_end - 1] == '?';
    }
    *rc = add_unit(r, r->lines[i].start, r->lines[end - 1].end, TEXT_UNIT_TURN, before_start,
                   before_end, asked ? TEXT_UNIT_TURN : TEXT_UNIT_HEADING);
    return end;
}

static size_t read_block(unit_reader *r, size_t i, int *rc) {
    const text_line *l = &r->lines[i];
    switch (l->class) {
    case LINE_BLANK:
        return i + 1;
    case LINE_OPTION:
        return read_definition(r, i, rc);
    case LINE_ROW:
        return read_table(r, i, rc);
    case LINE_ITEM:
        return read_list(r, i, 0, 0, rc);
    case LINE_RECORD:
        *rc = add_unit(r, l->start, l->end, TEXT_UNIT_ROW, 0, 0, TEXT_UNIT_HEADER);
        if (!*rc) r->out->v[r->out->n - 1].record = true;
        return i + 1;
    case LINE_TURN:
        return read_turn(r, i, rc);
    case LINE_NUMBERED:
        break;
    default:
        if (is_term(r, i)) return read_definition(r, i, rc);
        if (!is_heading(r, i)) return read_paragraph(r, i, rc);
    }
    *rc = add_unit(r, l->start, l->end, TEXT_UNIT_HEADING, 0, 0, TEXT_UNIT_HEADING);
    r->heading_start = l->start;
    r->heading_end = l->end;
    return i + 1;
}

/* "E2: water does not drain. ...": a line that begins with what it speaks of. Who asks and who answers are no such things. */
static bool is_tagged(const unit_reader *r, size_t i) {
    size_t n;
    const char *s = text_of(r, i, &n), *colon = memchr(s, ':', n < TITLE ? n : TITLE);
    if (r->lines[i].class != LINE_TEXT || (i == 0 && r->goes_on) || !colon) return false;
    const size_t tag = (size_t)(colon - s);
    if (!tag || tag + 2 >= n || s[tag + 1] != ' ' || !(is_upper(s[0]) || is_digit(s[0])))
        return false;
    if (answer_mark(s, n) || s[n - 1] == '?') return false;
    size_t words = 1;
    for (size_t k = 0; k < tag; k++) {
        if (strchr(".,;!?\"", s[k])) return false;
        words += fo_is_blank(s[k]);
    }
    return words <= TITLE_WORDS;
}

/* Such lines one below the other are items; one alone may be a sentence with a colon. */
static void find_tags(unit_reader *r) {
    for (size_t i = 0; i + 1 < r->n_lines; i++) {
        size_t n = 0, last = i;
        for (size_t k = i; k < r->n_lines && r->lines[k].class == LINE_TEXT; k++) {
            const text_line *l = &r->lines[k];
            const bool begins = k == i ||
                                ends_sentence(r->text + l[-1].start, l[-1].end - l[-1].start) ||
                                breaks_on_purpose(r, k - 1);
            if (begins && !is_tagged(r, k)) break;
            n += begins;
            last = k;
        }
        for (size_t k = i; n > 1 && k <= last; k++)
            if (is_tagged(r, k)) r->lines[k].class = LINE_ITEM;
        i = last; /* what is wrapped is not looked at again: so much text, so much time */
    }
}

int text_units_read(text_units *out, const char *text, size_t len, size_t before, fo_err *err) {
    out->n = 0;
    if (len >= UINT32_MAX) return fo_fail(err, FO_ELIMIT, "a text of 4 GiB or more");
    unit_reader r = {.text = text, .len = len, .before = before, .out = out, .err = err};
    for (size_t i = 1; i <= before && text[-(ptrdiff_t)i] != '\n' && !r.goes_on; i++)
        r.goes_on = !fo_is_blank(text[-(ptrdiff_t)i]);
    int rc = read_lines(&r);
    for (size_t i = 0; !rc && i < r.n_lines; i++)
        if (is_numbered_heading(&r, i)) r.lines[i].class = LINE_NUMBERED;
    if (!rc) find_tags(&r);
    r.asks = !rc && asks_often(&r);
    for (size_t i = 0; !rc && i < r.n_lines;) i = read_block(&r, i, &rc);
    free(r.lines);
    return rc;
}

void text_units_deinit(text_units *u) {
    free(u->v);
    *u = (text_units){0};
}
