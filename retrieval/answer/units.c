/* Lines are classed by how they begin and end; runs of lines of a class make paragraphs, lists,
 * tables and definitions; paragraphs are cut at sentence_end. Ours: rules for the layouts that
 * data/extract leaves, tested in tests/retrieval/answer/units_test.c. */
#include "retrieval/answer/units.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "data/chunk/chunk.h"
#include "data/chunk/line_break.h"
#include "kernels/buf.h"
#include "kernels/utf8.h"
#include "retrieval/answer/table_row.h"
#include "retrieval/answer/unit_headings.h"
#include "retrieval/answer/unit_lines.h"

enum {
    MAX_QUESTION = 200, /* ... a question that what follows answers */
    WHOLE_ENTRY = 420,  /* a description up to here stays one unit with its option */
    SEVERAL = 3,        /* sentences below a word, of which each is a unit of its own */
    WHOLE_STEPS = 1100, /* a list up to here can be an answer whole */
    WHOLE_NAMED = 240,  /* ... of a list below a heading alone */
    SHORT_STEPS = 12,   /* items of it */
    WHOLE_TITLED = 120, /* an item up to here stays whole though it begins with a title */
    TITLE_WORDS = 4,    /* of it */
    TITLE = 40,         /* bytes of it */
};

typedef struct unit_reader {
    unit_lines in;
    bool asks; /* its paragraphs begin with questions: asks_often */
    text_units *out;
    uint32_t heading_start, heading_end; /* the last heading seen */
    fo_err *err;
} unit_reader;

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
    u->v[u->n++] = (text_unit){.start = start,
                               .end = end,
                               .head_start = head_start,
                               .head_end = head_end,
                               .body = start,
                               .kind = kind,
                               .head_kind = head_kind};
    return FO_OK;
}

/* Where the sentence that begins at `at` ends, which the lines before the text have a say in. */
static size_t stop_of(const unit_reader *r, size_t end, size_t at) {
    return sentence_end(r->in.text - r->in.before, r->in.before + end, r->in.before + at) -
           r->in.before;
}

/* [*a, *b) without the white space at its ends. */
static void trim(const unit_reader *r, uint32_t *a, uint32_t *b) {
    while (*a < *b && fo_is_blank(r->in.text[*a])) ++*a;
    while (*b > *a && fo_is_blank(r->in.text[*b - 1])) --*b;
}

/* "No. Below 20 euros we charge for handling.": one word says too little by itself. */
static bool is_one_word(const char *s, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (fo_is_blank(s[i]) || fo_is_digit(s[i])) return false;
    return n > 1;
}

/* The sentences of a stretch, each hanging on the same head; one of a single word with the next. */
static int add_sentences(unit_reader *r, uint32_t start, uint32_t end, uint8_t kind,
                         uint32_t head_start, uint32_t head_end, uint8_t head_kind) {
    int rc = FO_OK;
    for (uint32_t at = start; !rc && at < end;) {
        size_t stop = stop_of(r, end, at);
        if (stop <= at || stop > end) stop = end;
        uint32_t a = at, b = (uint32_t)stop;
        trim(r, &a, &b);
        if (stop < end && is_one_word(r->in.text + a, b - a)) {
            stop = stop_of(r, end, stop);
            if (stop <= b || stop > end) stop = end;
            b = (uint32_t)stop;
            trim(r, &a, &b);
        }
        at = (uint32_t)stop;
        rc = add_unit(r, a, b, kind, head_start, head_end, head_kind);
    }
    return rc;
}

/* Does nothing say that the sentence of line i goes on in the next one? */
static bool ends_here(const unit_reader *r, size_t i) {
    size_t newline = r->in.v[i].end;
    while (newline < r->in.len && r->in.text[newline] != '\n') newline++;
    return line_break_ends(r->in.text - r->in.before, r->in.before + r->in.len,
                           r->in.before + r->in.v[i].start, r->in.before + newline);
}

/* A question that a mail quotes above its answer: "> Can we bring guests?" */
static bool is_quoted_question(const unit_reader *r, size_t i) {
    const text_line *l = &r->in.v[i];
    return r->in.text[l->start] == '>' && l[1].class == LINE_TEXT && r->in.text[l[1].start] != '>';
}

/* A question with a line of its own before what answers it, as pages of frequent questions have them: what stands before
 * has ended, and what follows did not have to begin a new line. */
static bool is_asked(const unit_reader *r, size_t i) {
    const text_line *l = &r->in.v[i];
    if (l->class != LINE_TEXT || l->end - l->start > MAX_QUESTION || (i == 0 && r->in.goes_on))
        return false;
    if (r->in.text[l->end - 1] != '?' || i + 1 >= r->in.n) return false;
    if (is_quoted_question(r, i)) return true;
    const text_line *before = i > 0 ? l - 1 : NULL;
    if (before && before->class == LINE_TEXT &&
        !(unit_ends_sentence(r->in.text + before->start, before->end - before->start) &&
          unit_breaks_on_purpose(&r->in, i - 1)))
        return false;
    const uint8_t next = r->in.v[i + 1].class;
    return next == LINE_TEXT ? unit_breaks_on_purpose(&r->in, i)
                             : next == LINE_BLANK && i + 2 < r->in.n;
}

/* The end of the question that line i begins with and goes on to answer, "Is it free? For three people."; 0: none */
static uint32_t asked_first(const unit_reader *r, size_t i) {
    const text_line *l = &r->in.v[i];
    const size_t end = stop_of(r, l->end, l->start);
    if (end >= l->end || end > l->start + MAX_QUESTION) return 0;
    uint32_t last = (uint32_t)end;
    while (last > l->start && (fo_is_blank(r->in.text[last - 1]) || r->in.text[last - 1] == '*'))
        last--;
    return last > l->start && r->in.text[last - 1] == '?' ? last : 0;
}

/* One such paragraph is a way of writing; where there are several, they are a page of frequent questions. */
static bool asks_often(const unit_reader *r) {
    size_t n = 0;
    for (size_t i = 0; i < r->in.n && n < 2; i++) {
        const bool begins = i > 0 ? r->in.v[i - 1].class == LINE_BLANK : !r->in.goes_on;
        n += begins && r->in.v[i].class == LINE_TEXT && asked_first(r, i) > 0;
    }
    return n > 1;
}

/* In capitals: between options only such a line is a heading, for a description may be as short as one. */
static bool is_shouted(const unit_reader *r, size_t i) {
    const text_line *l = &r->in.v[i];
    bool letters = false;
    for (uint32_t k = l->start; k < l->end; k++) {
        if (r->in.text[k] >= 'a' && r->in.text[k] <= 'z') return false;
        letters |= fo_is_upper(r->in.text[k]) || (unsigned char)r->in.text[k] >= 0x80;
    }
    return letters && l->end - l->start > 2;
}

/* Are there at least `least` sentences in [start, end)? */
static bool has_sentences(const unit_reader *r, uint32_t start, uint32_t end, size_t least) {
    for (uint32_t at = start; at < end && least; least--) {
        const size_t stop = stop_of(r, end, at);
        if (stop <= at) break;
        at = (uint32_t)stop;
        while (at < end && fo_is_blank(r->in.text[at])) at++;
    }
    return least == 0;
}

/* "Child lock" right above what it names, sentences or a list, as people write who leave out the blank line between: a few
 * words without a stop, behind a blank line. A single word above sentences is a term with what is said of it. */
static bool is_right_above(const unit_reader *r, size_t i) {
    enum { WIDEST = 48, MOST_WORDS = 6 };
    const text_line *l = &r->in.v[i], *next = l + 1;
    const char *s = r->in.text + l->start;
    const size_t n = l->end - l->start;
    size_t words = 1;
    if (n > WIDEST || l->class != LINE_TEXT || i + 1 >= r->in.n) return false;
    if (i > 0 ? l[-1].class != LINE_BLANK : r->in.goes_on) return false;
    if (!fo_is_upper(s[0]) || strchr(".!?:;,", s[n - 1]) || is_shouted(r, i)) return false;
    for (size_t k = 0; k < n; k++) {
        if (strchr("[]{}<>%$=/\\|@_\"", s[k])) return false;
        words += s[k] == ' ';
    }
    if (words > MOST_WORDS) return false;
    if (next->class == LINE_ITEM || next->class == LINE_ROW) return true;
    if (words == 1 || next->class != LINE_TEXT) return false;
    const char first = r->in.text[next->start];
    if (!(fo_is_upper(first) || fo_is_digit(first)) || next->end - next->start <= n ||
        !unit_breaks_on_purpose(&r->in, i) || is_shouted(r, i + 1))
        return false;
    const text_line *last = &r->in.v[unit_paragraph_end(&r->in, i + 1) - 1];
    return unit_ends_sentence(r->in.text + last->start, last->end - last->start);
}

/* Does line i stand alone between blank lines, short and without a stop, or above what it names? */
static bool is_heading(const unit_reader *r, size_t i) {
    const text_line *l = &r->in.v[i];
    size_t n = l->end - l->start;
    const char *s = r->in.text + l->start;
    if (is_asked(r, i)) return true;
    if (n > UNIT_HEADING_BYTES || l->class != LINE_TEXT || (i == 0 && r->in.goes_on)) return false;
    if (s[0] == '#') return true;
    if (s[0] >= 'a' && s[0] <= 'z') return false;
    if (i + 1 >= r->in.n || (i > 0 && r->in.v[i - 1].class != LINE_BLANK)) return false;
    const uint8_t next = r->in.v[i + 1].class;
    if (strchr(".!?:;,", s[n - 1])) return false;
    if (next == LINE_BLANK)
        return true; /* else "PROGRAMS" above rows, "BEFORE FIRST USE" above a text */
    const bool several = memchr(s, ' ', n) != NULL;
    if (is_right_above(r, i)) return true;
    return is_shouted(r, i) && (next == LINE_ITEM || next == LINE_ROW ||
                                (next == LINE_TEXT && several && !is_shouted(r, i + 1)));
}

/* A term before its description: "d", "%H", "LESSOPEN", "pop [--index]" on a line of its own with
 * the description on the very next line, or, where it is no plain words, behind a blank one. */
static bool is_term(const unit_reader *r, size_t i) {
    const text_line *l = &r->in.v[i];
    size_t n = l->end - l->start;
    const char *s = r->in.text + l->start;
    if (l->class != LINE_TEXT || n > UNIT_HEADING_BYTES || strchr(".!?:;,", s[n - 1])) return false;
    if (i == 0 && r->in.goes_on) return false;
    if (i + 1 >= r->in.n || (i > 0 && r->in.v[i - 1].class == LINE_TEXT &&
                             !unit_ends_sentence(r->in.text + r->in.v[i - 1].start,
                                                 r->in.v[i - 1].end - r->in.v[i - 1].start)))
        return false;
    if (r->in.v[i + 1].class == LINE_TEXT && is_shouted(r, i + 1)) return false;
    if (is_right_above(r, i)) return false;
    bool odd = n <= 3, blank = false; /* signs of syntax: never words alone */
    for (size_t k = 0; k < n; k++) {
        odd |= strchr("[]{}<>%$=/\\|@_", s[k]) != NULL;
        odd |= k + 2 < n && s[k] == ' ' && s[k + 1] == '-' && !fo_is_blank(s[k + 2]) &&
               s[k + 2] != '-';
        odd |= k + 3 < n && memcmp(s + k, " --", 3) == 0 && fo_is_letter(s[k + 3]);
        blank |= s[k] == ' ';
    }
    if (r->in.v[i + 1].class == LINE_TEXT)
        return (odd || !blank) && n <= 48 && unit_breaks_on_purpose(&r->in, i) && ends_here(r, i) &&
               (r->in.v[i + 1].end - r->in.v[i + 1].start) > n;
    return odd && i + 2 < r->in.n && r->in.v[i + 1].class == LINE_BLANK &&
           r->in.v[i + 2].class == LINE_TEXT && !is_shouted(r, i + 2) &&
           !(blank && is_heading(r, i + 2)); /* a command above the next section */
}

/* "Cleaning": a word as a section is called, not the name of an option or a variable. */
static bool is_word(const unit_reader *r, size_t i) {
    const text_line *l = &r->in.v[i];
    for (uint32_t k = l->start + 1; k < l->end; k++)
        if (r->in.text[k] < 'a' || r->in.text[k] > 'z') return false;
    return fo_is_upper(r->in.text[l->start]);
}

/* An option or term and what is said of it: line i, and further options right below. */
static size_t read_definition(unit_reader *r, size_t i, int *rc) {
    bool option = r->in.v[i].class == LINE_OPTION;
    size_t last = i;
    while (option) { /* "-0" NEWLINE "--null": one entry */
        size_t next = unit_lines_skip_blank(&r->in, last + 1);
        if (next >= r->in.n || next > last + 2 || r->in.v[next].class != LINE_OPTION) break;
        last = next;
    }
    uint32_t head_start = r->in.v[i].start, head_end = r->in.v[last].end;
    size_t at = unit_lines_skip_blank(&r->in, last + 1);
    if (at >= r->in.n || r->in.v[at].class != LINE_TEXT ||
        (option && is_heading(r, at) && is_shouted(r, at))) {
        /* nothing is said of it here: a list of options, or the text ends */
        *rc = add_unit(r, head_start, head_end, last > i ? TEXT_UNIT_DEFINITION : TEXT_UNIT_HEADING,
                       r->heading_start, r->heading_end, TEXT_UNIT_HEADING);
        return last + 1;
    }
    size_t end = at;
    while (end < r->in.n && r->in.v[end].class == LINE_TEXT && !(end > at && is_term(r, end)))
        end++;
    uint32_t body_start = r->in.v[at].start, body_end = r->in.v[end - 1].end;
    uint32_t cut = body_end;
    if (body_end - head_start > WHOLE_ENTRY ||
        (is_word(r, i) && has_sentences(r, body_start, body_end, SEVERAL))) {
        size_t stop = stop_of(r, body_end, body_start);
        cut = stop > body_start && stop < body_end ? (uint32_t)stop : body_end;
        while (cut > body_start && fo_is_blank(r->in.text[cut - 1])) cut--;
    }
    *rc = add_unit(r, head_start, cut, TEXT_UNIT_DEFINITION, r->heading_start, r->heading_end,
                   TEXT_UNIT_HEADING);
    if (!*rc) r->out->v[r->out->n - 1].body = body_start;
    if (!*rc && cut < body_end)
        *rc = add_sentences(r, cut, body_end, TEXT_UNIT_SENTENCE, head_start, head_end,
                            TEXT_UNIT_DEFINITION);
    /* Further paragraphs may belong to it, or stand behind the last entry of a list: it is context. */
    while (!*rc) {
        size_t next = unit_lines_skip_blank(&r->in, end);
        if (next >= r->in.n || next == end || r->in.v[next].class != LINE_TEXT ||
            is_heading(r, next) || is_term(r, next) || !option)
            break;
        end = unit_paragraph_end(&r->in, next);
        *rc = add_sentences(r, r->in.v[next].start, r->in.v[end - 1].end, TEXT_UNIT_SENTENCE,
                            head_start, head_end, TEXT_UNIT_HEADING);
    }
    return end;
}

/* The text begins within a table: the line before it is a row, too. */
static bool goes_on_with_rows(const unit_reader *r) {
    size_t n;
    const char *line = unit_lines_above(&r->in, &n);
    return memchr(line + n, '\n', (size_t)(r->in.text - line) - n) && unit_is_row(line, n);
}

/* Do records with the names that row i holds follow? */
static bool names_records(const unit_reader *r, size_t i) {
    const size_t next = unit_lines_skip_blank(&r->in, i + 1);
    size_t n, n_next;
    const char *s = unit_lines_text(&r->in, i, &n);
    if (next >= r->in.n || r->in.v[next].class != LINE_RECORD) return false;
    const char *record = unit_lines_text(&r->in, next, &n_next);
    return table_row_is_alike(s, n, record, n_next);
}

/* Columns are named in words: a cell that is a number is a value. */
static bool names_columns(const char *s, size_t n) {
    for (size_t at = 0; at < n;) {
        const char *bar = memchr(s + at, '|', n - at);
        size_t stop = bar ? (size_t)(bar - s) : n, digits = 0, others = 0;
        for (size_t i = at; i < stop; i++) {
            digits += fo_is_digit(s[i]);
            others += !fo_is_digit(s[i]) && !strchr(" .,+-%:", s[i]);
        }
        if (digits && !others) return false;
        at = stop + 1;
    }
    return true;
}

/* "Capacity | 0.5 l": two cells, of which the second has a figure, say what something has, and name no columns. Where the
 * first is empty, "| | Kestrel 2", they do. */
static bool is_pair(const char *s, size_t n) {
    const char *cell = "";
    size_t cells = 0, bytes = 0;
    for (size_t at = 0; table_row_cell(s, n, &at, &cell, &bytes); cells++)
        if (!cells && !bytes) return false;
    return cells == 2 && fo_has_digit(cell, bytes);
}

/* Is row i, with another one below it, the names of the columns? */
static bool has_header(const unit_reader *r, size_t i) {
    size_t n, n_next;
    const char *s = unit_lines_text(&r->in, i, &n), *next = unit_lines_text(&r->in, i + 1, &n_next);
    if (memchr(s, '|', n)) return names_columns(s, n) && !is_pair(s, n);
    return unit_is_rule(next, n_next) || table_row_names_columns(s, n, next, n_next);
}

/* Rows: the first of several is the header of the others, where the table begins with it. */
static size_t read_table(unit_reader *r, size_t i, int *rc) {
    size_t end = i;
    while (end < r->in.n && r->in.v[end].class == LINE_ROW) end++;
    bool headed = end > i + 1 && !(i == 0 && goes_on_with_rows(r)) && has_header(r, i);
    for (size_t k = i; !*rc && k < end; k++) {
        const text_line *l = &r->in.v[k];
        if (unit_is_rule(r->in.text + l->start, l->end - l->start)) continue;
        if ((k == i && headed) || (k + 1 == end && names_records(r, k)))
            *rc = add_unit(r, l->start, l->end, TEXT_UNIT_HEADER, r->heading_start, r->heading_end,
                           TEXT_UNIT_HEADING);
        else
            *rc = add_unit(r, l->start, l->end, TEXT_UNIT_ROW, headed ? r->in.v[i].start : 0,
                           headed ? r->in.v[i].end : 0, TEXT_UNIT_HEADER);
    }
    return end;
}

/* Where the title ends that an item begins with, "2. Water. The pump broke twice ...", of few words and with more
 * behind it; 0: there is none. */
static uint32_t title_of_item(const unit_reader *r, uint32_t start, uint32_t end) {
    const uint32_t from = start + (uint32_t)text_item_mark(r->in.text + start, end - start);
    const size_t stop = stop_of(r, end, from);
    uint32_t last = (uint32_t)stop;
    if (from == start || stop >= end) return 0;
    while (last > from && fo_is_blank(r->in.text[last - 1])) last--;
    size_t words = 1;
    for (uint32_t i = from; i < last; i++) words += fo_is_blank(r->in.text[i]);
    return last - from <= TITLE && words <= TITLE_WORDS && r->in.text[last - 1] == '.' ? last : 0;
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
    while (next < end && r->in.v[next].class != LINE_ITEM) next++;
    size_t last = next;
    while (last > k + 1 && r->in.v[last - 1].class == LINE_BLANK) last--;
    *stop = r->in.v[last - 1].end;
    return next;
}

/* Is one of the items on lines [i, end) a paragraph? */
static bool has_paragraphs(const unit_reader *r, size_t i, size_t end) {
    for (uint32_t item, title; i < end;) {
        const uint32_t start = r->in.v[i].start;
        i = item_end(r, i, end, &item);
        if (is_paragraph_item(r, start, item, &title)) return true;
    }
    return false;
}

/* Does nothing stand between the last heading and line i? */
static bool is_named_by_heading(const unit_reader *r, size_t i) {
    size_t before = i;
    while (before > 0 && r->in.v[before - 1].class == LINE_BLANK) before--;
    return before > 0 && r->heading_end > r->heading_start &&
           r->in.v[before - 1].end == r->heading_end;
}

/* The items of a list from line i on; lead: the sentence that ends in a colon before it. */
static size_t read_list(unit_reader *r, size_t i, uint32_t lead_start, uint32_t lead_end, int *rc) {
    size_t end = i, n_items = 0, last_text = i;
    const text_line *first = &r->in.v[i];
    const char *s = r->in.text + first->start;
    bool numbered = fo_is_digit(s[0]) && text_item_mark(s, first->end - first->start) > 0;
    for (size_t k = i; k < r->in.n; k++) {
        uint8_t c = r->in.v[k].class;
        if (c == LINE_ITEM) {
            n_items++;
        } else if (c == LINE_BLANK) {
            if (k + 1 >= r->in.n || r->in.v[k + 1].class != LINE_ITEM) break;
            continue;
        } else if (c != LINE_TEXT || (k > 0 && r->in.v[k - 1].class == LINE_BLANK)) {
            break;
        } else if (unit_ends_sentence(r->in.text + r->in.v[k - 1].start,
                                      r->in.v[k - 1].end - r->in.v[k - 1].start) &&
                   unit_breaks_on_purpose(&r->in, k - 1)) {
            break; /* a new paragraph right below the list */
        }
        last_text = k;
        end = k + 1;
    }
    uint32_t stop = r->in.v[last_text].end;
    bool has_lead = lead_end > lead_start;
    uint32_t from = has_lead ? lead_start : r->in.v[i].start;
    /* "In the box" right above a few words each: what it is asked for is the list */
    const bool named = stop - from <= WHOLE_NAMED && is_named_by_heading(r, i);
    if (n_items > 1 && n_items <= SHORT_STEPS && (numbered || has_lead || named) &&
        stop - from <= WHOLE_STEPS && !has_paragraphs(r, i, end)) {
        *rc = add_unit(r, from, stop, TEXT_UNIT_STEPS, r->heading_start, r->heading_end,
                       TEXT_UNIT_HEADING);
        text_unit *list = *rc ? NULL : &r->out->v[r->out->n - 1];
        if (list) list->named = list->lines = !numbered && !has_lead;
    }
    const text_unit head = {.head_start = has_lead ? lead_start : r->heading_start,
                            .head_end = has_lead ? lead_end : r->heading_end,
                            .head_kind = has_lead ? TEXT_UNIT_ITEM : TEXT_UNIT_HEADING};
    for (size_t k = i; !*rc && k < end;) {
        uint32_t item;
        const size_t next = item_end(r, k, end, &item);
        *rc = add_item(r, r->in.v[k].start, item, &head);
        k = next;
    }
    return end;
}

/* The lines of an example from line i on, "go install ..." below "You need Go 1.21:", as sentences are no part of one: one
 * past its last line; i: there is none. */
static size_t example_end(const unit_reader *r, size_t i) {
    enum { LINES = 8, BYTES = 480 };
    const size_t end = unit_paragraph_end(&r->in, i);
    if (end == i || end - i > LINES || r->in.v[end - 1].end - r->in.v[i].start > BYTES) return i;
    const text_line *last = &r->in.v[end - 1];
    const bool heads = end == i + 1 && is_heading(r, i),
               ends = end == r->in.n || r->in.v[end].class == LINE_BLANK;
    return heads || !ends || strchr(".!?:;,", r->in.text[last->end - 1]) ? i : end;
}

/* Where the last sentence of a stretch begins. */
static uint32_t last_sentence(const unit_reader *r, uint32_t start, uint32_t stop) {
    uint32_t last = start;
    for (uint32_t at = start; at < stop;) {
        const size_t end = stop_of(r, stop, at);
        if (end <= at || end >= stop) break;
        at = (uint32_t)end;
        while (at < stop && fo_is_blank(r->in.text[at])) at++;
        last = at;
    }
    return last;
}

/* A paragraph: its sentences. One that ends in a colon leads in what follows. */
static size_t read_paragraph(unit_reader *r, size_t i, int *rc) {
    size_t end = i + 1;
    while (end < r->in.n && r->in.v[end].class == LINE_TEXT && !is_term(r, end) &&
           !is_asked(r, end))
        end++;
    uint32_t start = r->in.v[i].start, stop = r->in.v[end - 1].end;
    const uint32_t asked = r->asks ? asked_first(r, i) : 0;
    if (asked) {
        *rc = add_unit(r, start, asked, TEXT_UNIT_HEADING, 0, 0, TEXT_UNIT_HEADING);
        if (*rc) return end;
        r->heading_start = start;
        r->heading_end = asked;
        start = asked;
        while (start < stop && (fo_is_blank(r->in.text[start]) || r->in.text[start] == '*'))
            start++;
    }
    if (r->heading_end && r->in.text[r->heading_end - 1] == '?')
        start += (uint32_t)unit_answer_mark(r->in.text + start, stop - start);
    size_t next = unit_lines_skip_blank(&r->in, end);
    bool leads = r->in.text[stop - 1] == ':' && next < r->in.n && next <= end + 1;
    const size_t example = leads ? example_end(r, next) : next;
    leads = leads &&
            (r->in.v[next].class == LINE_ITEM || r->in.v[next].class == LINE_ROW || example > next);
    if (!leads) {
        *rc = add_sentences(r, start, stop, TEXT_UNIT_SENTENCE, r->heading_start, r->heading_end,
                            TEXT_UNIT_HEADING);
        return end;
    }
    const uint32_t lead = last_sentence(r, start, stop);
    if (lead > start)
        *rc = add_sentences(r, start, lead, TEXT_UNIT_SENTENCE, r->heading_start, r->heading_end,
                            TEXT_UNIT_HEADING);
    if (!*rc && r->in.v[next].class == LINE_ITEM) return read_list(r, next, lead, stop, rc);
    if (!*rc && example > next) {
        *rc = add_unit(r, r->in.v[next].start, r->in.v[example - 1].end, TEXT_UNIT_ITEM, lead, stop,
                       TEXT_UNIT_ITEM);
        if (!*rc) r->out->v[r->out->n - 1].lines = true;
        return example;
    }
    if (!*rc)
        *rc = add_unit(r, lead, stop, TEXT_UNIT_HEADING, r->heading_start, r->heading_end,
                       TEXT_UNIT_HEADING);
    return end;
}

/* What one person said: the line with the time and the lines that go on. What was said before is
 * what it hangs on, and is part of the answer where it was a question. */
static size_t read_turn(unit_reader *r, size_t i, int *rc) {
    size_t end = unit_paragraph_end(&r->in, i + 1);
    uint32_t before_start = 0, before_end = 0;
    bool asked = false;
    if (r->out->n && r->out->v[r->out->n - 1].kind == TEXT_UNIT_TURN) {
        before_start = r->out->v[r->out->n - 1].start;
        before_end = r->out->v[r->out->n - 1].end;
        asked = r->in.text[before_end - 1] == '?';
    }
    *rc = add_unit(r, r->in.v[i].start, r->in.v[end - 1].end, TEXT_UNIT_TURN, before_start,
                   before_end, asked ? TEXT_UNIT_TURN : TEXT_UNIT_HEADING);
    return end;
}

/* The lines that a mail begins with are one unit: none of them answers what it is about. */
static size_t read_mail(unit_reader *r, size_t i, int *rc) {
    size_t end = i + 1;
    while (end < r->in.n && r->in.v[end].class == LINE_MAIL) end++;
    *rc = add_unit(r, r->in.v[i].start, r->in.v[end - 1].end, TEXT_UNIT_ITEM, 0, 0,
                   TEXT_UNIT_HEADING);
    if (!*rc) r->out->v[r->out->n - 1].lines = true;
    return end;
}

/* A setting with the comment above it, or a comment that stands alone. */
static size_t read_setting(unit_reader *r, size_t i, int *rc) {
    size_t end = i, n;
    bool sets = false;
    while (end < r->in.n && r->in.v[end].class == LINE_SETTING && !sets) {
        const char *s = unit_lines_text(&r->in, end++, &n);
        sets = !unit_is_comment(s, n);
    }
    *rc = add_unit(r, r->in.v[i].start, r->in.v[end - 1].end,
                   sets ? TEXT_UNIT_ITEM : TEXT_UNIT_SENTENCE, r->heading_start, r->heading_end,
                   TEXT_UNIT_HEADING);
    if (!*rc) r->out->v[r->out->n - 1].lines = true;
    return end;
}

/* Of what a mail quotes only the question at the end heads what answers it: "> We are four. Can we bring the dog?" */
static size_t read_heading(unit_reader *r, size_t i, int *rc) {
    const text_line *l = &r->in.v[i];
    const bool quoted = r->in.text[l->start] == '>';
    const uint32_t start = quoted ? last_sentence(r, l->start, l->end) : l->start;
    if (start > l->start)
        *rc = add_sentences(r, l->start, start, TEXT_UNIT_SENTENCE, r->heading_start,
                            r->heading_end, TEXT_UNIT_HEADING);
    if (!*rc) *rc = add_unit(r, start, l->end, TEXT_UNIT_HEADING, 0, 0, TEXT_UNIT_HEADING);
    r->heading_start = start;
    r->heading_end = l->end;
    return i + 1;
}

static size_t read_block(unit_reader *r, size_t i, int *rc) {
    const text_line *l = &r->in.v[i];
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
    case LINE_MAIL:
        return read_mail(r, i, rc);
    case LINE_SETTING:
        return read_setting(r, i, rc);
    case LINE_HEADING:
        break;
    default:
        if (is_term(r, i)) return read_definition(r, i, rc);
        if (!is_heading(r, i)) return read_paragraph(r, i, rc);
    }
    return read_heading(r, i, rc);
}

/* Such lines one below the other are items; one alone may be a sentence with a colon. */
static void find_tags(unit_reader *r) {
    for (size_t i = 0; i + 1 < r->in.n; i++) {
        size_t n = 0, last = i;
        for (size_t k = i; k < r->in.n && r->in.v[k].class == LINE_TEXT; k++) {
            const text_line *l = &r->in.v[k];
            const bool begins =
                k == i || unit_ends_sentence(r->in.text + l[-1].start, l[-1].end - l[-1].start) ||
                unit_breaks_on_purpose(&r->in, k - 1);
            if (begins && !unit_is_tagged(&r->in, k)) break;
            n += begins;
            last = k;
        }
        for (size_t k = i; n > 1 && k <= last; k++)
            if (unit_is_tagged(&r->in, k)) r->in.v[k].class = LINE_ITEM;
        i = last; /* what is wrapped is not looked at again: so much text, so much time */
    }
}

/* A single such line right below a heading is an item of it; of several, find_points tells more. */
static void find_fields(unit_reader *r) {
    for (size_t i = 0; i < r->in.n; i++) {
        const size_t field = unit_lines_skip_blank(&r->in, i + 1);
        if (field >= r->in.n || !unit_is_field(&r->in, field) || unit_is_field(&r->in, i)) continue;
        const size_t next = unit_lines_skip_blank(&r->in, field + 1);
        const bool alone = next > field + 1 || next == r->in.n;
        const bool several = next < r->in.n && unit_is_field(&r->in, next);
        if (alone && !several && is_heading(r, i) && !is_asked(r, i))
            r->in.v[field].class = LINE_ITEM;
    }
}

/* Short lines between blank ones, one after the other with nothing below any: not headings all of them, but what a slide
 * or a form has of points. The first heads the others; the last may head what follows. */
static void find_points(unit_reader *r) {
    enum { FEWEST = 4 }; /* a title, a chapter and a section may stand so */
    for (size_t i = 0; i < r->in.n; i++) {
        size_t n = 0, last = i;
        for (size_t k = i; k < r->in.n && is_heading(r, k) && !is_asked(r, k);
             k = unit_lines_skip_blank(&r->in, k + 1)) {
            last = k;
            n++;
        }
        const bool ends = unit_lines_skip_blank(&r->in, last + 1) == r->in.n;
        for (size_t k = unit_lines_skip_blank(&r->in, i + 1); n >= FEWEST && k <= last;
             k = unit_lines_skip_blank(&r->in, k + 1))
            if (k < last || ends) r->in.v[k].class = LINE_ITEM;
        if (n > 1) i = last;
    }
}

/* "150 g flour", line for line: where most lines of a paragraph begin with a figure and none of them goes on, each is an
 * item. */
static void find_amounts(unit_reader *r) {
    enum { FEWEST = 3, WIDEST = 64 };
    for (size_t i = 0, end; i < r->in.n; i = end + 1) {
        size_t figures = 0, others = 0;
        bool alone = true;
        for (end = i; end < r->in.n && r->in.v[end].class == LINE_TEXT; end++) {
            const text_line *l = &r->in.v[end];
            const char first = r->in.text[l->start], last = r->in.text[l->end - 1];
            const bool next = end + 1 < r->in.n && l[1].class == LINE_TEXT;
            fo_is_digit(first) ? figures++ : others++;
            alone &= l->end - l->start <= WIDEST && !strchr(".!?:;,", last) &&
                     (!next || unit_breaks_on_purpose(&r->in, end));
        }
        if (figures < FEWEST || figures < 2 * others || !alone || (i == 0 && r->in.goes_on))
            continue;
        for (size_t k = i; k < end; k++) r->in.v[k].class = LINE_ITEM;
    }
}

int text_units_read(text_units *out, const char *text, size_t len, size_t before, fo_err *err) {
    out->n = 0;
    if (len >= UINT32_MAX) return fo_fail(err, FO_ELIMIT, "a text of 4 GiB or more");
    unit_reader r = {.in = {.text = text, .len = len, .before = before}, .out = out, .err = err};
    int rc = unit_lines_read(&r.in, err);
    for (size_t i = 0; !rc && i < r.in.n; i++)
        if (unit_is_underlined(&r.in, i)) {
            r.in.v[i].class = LINE_HEADING;
            r.in.v[i + 1].class = LINE_BLANK;
        } else if (unit_is_rule_between(&r.in, i)) {
            r.in.v[i].class = LINE_BLANK;
        } else if (unit_is_numbered_heading(&r.in, i) || unit_is_section(&r.in, i)) {
            r.in.v[i].class = LINE_HEADING;
        }
    if (!rc) find_tags(&r);
    if (!rc) find_fields(&r);
    if (!rc) find_amounts(&r);
    if (!rc) find_points(&r);
    r.asks = !rc && asks_often(&r);
    for (size_t i = 0; !rc && i < r.in.n;) i = read_block(&r, i, &rc);
    unit_lines_deinit(&r.in);
    return rc;
}

void text_units_deinit(text_units *u) {
    free(u->v);
    *u = (text_units){0};
}
