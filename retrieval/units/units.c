/* Lines are classed by how they begin and end; runs of lines of a class make paragraphs, lists,
 * tables and definitions; paragraphs are cut at sentence_end. Ours: rules for the layouts that
 * data/extract leaves, tested in tests/retrieval/units/units_test.c. */
#include "retrieval/units/units.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/utf8.h"
#include "kernels/words.h"
#include "retrieval/units/table_row.h"
#include "retrieval/units/unit_code.h"
#include "retrieval/units/unit_hanging.h"
#include "retrieval/units/unit_headings.h"
#include "retrieval/units/unit_lines.h"
#include "retrieval/units/unit_lists.h"
#include "retrieval/units/unit_names.h"
#include "retrieval/units/unit_pairs.h"
#include "retrieval/units/unit_reader.h"
#include "retrieval/units/unit_turns.h"

enum {
    SEVERAL = 3, /* sentences below a word, of which each is a unit of its own */
    WIDEST_TERM = 48,
};

/* The end of the question that line i begins with and goes on to answer, "Is it free? For three people."; 0: none */
static uint32_t asked_first(const unit_reader *r, size_t i) {
    const text_line *l = &r->in.v[i];
    const size_t end = unit_reader_stop(r, l->end, l->start);
    if (end >= l->end || end > l->start + UNIT_QUESTION_BYTES) return 0;
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

/* Are there at least `least` sentences in [start, end)? */
static bool has_sentences(const unit_reader *r, uint32_t start, uint32_t end, size_t least) {
    for (uint32_t at = start; at < end && least; least--) {
        const size_t stop = unit_reader_stop(r, end, at);
        if (stop <= at) break;
        at = (uint32_t)stop;
        while (at < end && fo_is_blank(r->in.text[at])) at++;
    }
    return least == 0;
}

/* "recache (CACHE_RECACHE or CACHE_NORECACHE, see Boolean values)": one name, and in brackets to the end of its line what it is called
 * elsewhere or of which kind it is. It may be longer than other terms. */
static bool is_name_with_aside(const char *s, size_t n) {
    size_t name = 0;
    bool setting = false;
    while (name < n && (fo_is_letter(s[name]) || fo_is_digit(s[name]) || strchr("_-.", s[name])))
        name++;
    if (!name || name + 3 > n || s[name] != ' ' || s[name + 1] != '(' || s[n - 1] != ')')
        return false;
    for (size_t k = 0; k < n; k++) setting |= s[k] == '_';
    return setting && !memchr(s + name + 2, '(', n - name - 2);
}

/* A term before its description: "d", "%H", "LESSOPEN", "pop [--index]" on a line of its own with
 * the description on the very next line, or, where it is no plain words, behind a blank one. */
static bool is_term(const unit_reader *r, size_t i) {
    const text_line *l = &r->in.v[i];
    size_t n = l->end - l->start;
    const char *s = r->in.text + l->start;
    if (l->class != LINE_TEXT || n > UNIT_HEADING_BYTES || strchr(".!?:;,", s[n - 1])) return false;
    if (i == 0 && r->in.goes_on) return false;
    /* between two examples, or a piece of one in markup */
    if (fo_words_have("to or and with by into", s, n) || (s[0] == '<' && memmem(s, n, "=\"", 2)))
        return false;
    if (i + 1 >= r->in.n || (i > 0 && r->in.v[i - 1].class == LINE_TEXT &&
                             !unit_ends_sentence(r->in.text + r->in.v[i - 1].start,
                                                 r->in.v[i - 1].end - r->in.v[i - 1].start)))
        return false;
    if (r->in.v[i + 1].class == LINE_TEXT && unit_is_shouted(&r->in, i + 1)) return false;
    if (unit_is_right_above(&r->in, i) || unit_is_section_of_manual(&r->in, i) ||
        unit_code_is_example(&r->in, i))
        return false;
    bool odd = n <= 3, blank = false; /* signs of syntax: never words alone */
    for (size_t k = 0; k < n; k++) {
        odd |= strchr("[]{}<>%$=/\\|@_", s[k]) != NULL;
        odd |= k + 2 < n && s[k] == ' ' && s[k + 1] == '-' && !fo_is_blank(s[k + 2]) &&
               s[k + 2] != '-';
        odd |= k + 3 < n && memcmp(s + k, " --", 3) == 0 && fo_is_letter(s[k + 3]);
        blank |= s[k] == ' ';
    }
    if (r->in.v[i + 1].class == LINE_TEXT)
        return (odd || !blank) && (n <= WIDEST_TERM || is_name_with_aside(s, n)) &&
               unit_breaks_on_purpose(&r->in, i) && unit_reader_ends_line(r, i) &&
               (r->in.v[i + 1].end - r->in.v[i + 1].start) > n;
    size_t body = i + 2; /* behind "(alias: has)" */
    if (body < r->in.n && unit_code_is_aside(&r->in, body)) body += 2;
    return odd && body < r->in.n && r->in.v[i + 1].class == LINE_BLANK &&
           r->in.v[body].class == LINE_TEXT && !unit_is_shouted(&r->in, body) &&
           !(blank && unit_is_heading(&r->in, body)); /* a command above the next section */
}

/* "Cleaning", "CARE": a word as a section is called, not the name of an option or of most variables. */
static bool is_word(const unit_reader *r, size_t i) {
    const text_line *l = &r->in.v[i];
    size_t small = 0, capitals = 0;
    for (uint32_t k = l->start; k < l->end; k++) {
        small += r->in.text[k] >= 'a' && r->in.text[k] <= 'z';
        capitals += fo_is_upper(r->in.text[k]);
    }
    const size_t n = l->end - l->start;
    return fo_is_upper(r->in.text[l->start]) && (small + 1 == n || (capitals == n && n > 2));
}

/* "-W, --words <count>: Sets how many words it has [Default: 7]": an option with what is said of it on its line. Where that
 * begins; 0: nothing is said there. */
static uint32_t said_of_option(const unit_reader *r, size_t i) {
    enum { WORDS = 3 };
    size_t n, words = 1;
    const char *s = unit_lines_text(&r->in, i, &n), *colon = memmem(s, n, ": ", 2);
    if (r->in.v[i].class != LINE_OPTION || !colon) return 0;
    const uint32_t body = r->in.v[i].start + (uint32_t)(colon - s) + 2;
    for (uint32_t k = body; k < r->in.v[i].end; k++) words += r->in.text[k] == ' ';
    return words >= WORDS ? body : 0;
}

static size_t indent_of(const unit_reader *r, size_t i) {
    size_t n;
    const char *from = unit_lines_indented(&r->in, i, &n);
    return (size_t)(r->in.text + r->in.v[i].start - from);
}

/* One past the lines of text from line i on that are indented deeper than the option on line `option`, which go on with what is said
 * of it. */
static size_t below_option(const unit_reader *r, size_t i, size_t option) {
    while (i < r->in.n && r->in.v[i].class == LINE_TEXT && indent_of(r, i) > indent_of(r, option))
        i++;
    return i;
}

/* The end of what is said at first of an entry, [from, end): a sentence, and behind "ATA only." or "Silent mode." the next one, with what
 * only denies. */
static uint32_t first_said(const unit_reader *r, uint32_t from, uint32_t end) {
    enum { SHORT = 3 }; /* words that say hardly anything */
    uint32_t cut = from, word = from;
    for (size_t words = 0; words <= SHORT && word < end;) {
        const size_t stop = unit_reader_stop(r, end, word);
        if (stop <= word || stop >= end) return end;
        for (; word < stop; word++)
            words += !fo_is_blank(r->in.text[word]) &&
                     (word == from || fo_is_blank(r->in.text[word - 1]));
        for (cut = word; cut > from && fo_is_blank(r->in.text[cut - 1]); cut--) continue;
        while (word < end && fo_is_blank(r->in.text[word])) word++;
    }
    return unit_reader_denial_end(r, end, cut);
}

/* "-e, --export   writes all feeds": the option on line i and, right below or behind a blank line and indented deeper, the rest of what
 * is said of it from byte `said` on. What stands below no deeper is of something else. */
static size_t read_option_beside(unit_reader *r, size_t i, uint32_t said, int *rc) {
    const uint32_t start = r->in.v[i].start;
    size_t end = below_option(r, i + 1, i);
    uint32_t name_end = said, stop = r->in.v[end - 1].end, cut = stop;
    while (name_end > start && fo_is_blank(r->in.text[name_end - 1])) name_end--;
    if (stop - start > UNIT_WHOLE_ENTRY) cut = first_said(r, said, stop);
    *rc = unit_reader_add(r, start, cut, TEXT_UNIT_DEFINITION, r->heading_start, r->heading_end,
                          TEXT_UNIT_HEADING);
    if (!*rc) r->out->v[r->out->n - 1].body = said;
    if (!*rc && cut < stop)
        *rc = unit_reader_add_sentences(r, cut, stop, TEXT_UNIT_SENTENCE, start, name_end,
                                        TEXT_UNIT_DEFINITION);
    while (!*rc) {
        const size_t next = unit_lines_skip_blank(&r->in, end), last = below_option(r, next, i);
        if (last == next) break;
        end = last;
        *rc = unit_reader_add_sentences(r, r->in.v[next].start, r->in.v[end - 1].end,
                                        TEXT_UNIT_SENTENCE, start, name_end, TEXT_UNIT_HEADING);
    }
    return end;
}

/* Does line i begin with an option's name, whatever else it says? */
static bool begins_option(const unit_reader *r, size_t i) {
    size_t n;
    if (i >= r->in.n) return false;
    const char *s = unit_lines_text(&r->in, i, &n);
    return n > 2 && s[0] == '-' && (fo_is_letter(s[1]) || (s[1] == '-' && fo_is_letter(s[2])));
}

/* An option or term and what is said of it: line i, and further options right below. */
static size_t read_definition(unit_reader *r, size_t i, int *rc) {
    bool option = r->in.v[i].class == LINE_OPTION;
    size_t last = i, n;
    const char *line = unit_lines_text(&r->in, i, &n);
    const size_t beside = option ? unit_option_said(line, n) : 0;
    if (beside) return read_option_beside(r, i, r->in.v[i].start + (uint32_t)beside, rc);
    while (option && !said_of_option(r, last)) { /* "-0" NEWLINE "--null": one entry */
        size_t next = unit_lines_skip_blank(&r->in, last + 1);
        if (next >= r->in.n || next > last + 2 || r->in.v[next].class != LINE_OPTION) break;
        last = next;
    }
    const size_t aside = unit_lines_skip_blank(&r->in, last + 1);
    if (aside < r->in.n && unit_code_is_aside(&r->in, aside)) last = aside;
    uint32_t head_start = r->in.v[i].start, head_end = r->in.v[last].end;
    size_t at = unit_lines_skip_blank(&r->in, last + 1);
    const uint32_t said = said_of_option(r, last);
    if (said && (at > last + 1 || begins_option(r, at))) {
        *rc = unit_reader_add(r, head_start, head_end, TEXT_UNIT_DEFINITION, r->heading_start,
                              r->heading_end, TEXT_UNIT_HEADING);
        if (!*rc) r->out->v[r->out->n - 1].body = said;
        return last + 1;
    }
    if (at >= r->in.n || r->in.v[at].class != LINE_TEXT ||
        (option && unit_is_heading(&r->in, at) && unit_is_shouted(&r->in, at))) {
        /* nothing is said of it here: a list of options, or the text ends */
        const bool ends = at >= r->in.n && r->in.followed; /* in the next passage it is said */
        *rc = unit_reader_add(r, head_start, head_end,
                              last > i && !ends ? TEXT_UNIT_DEFINITION : TEXT_UNIT_HEADING,
                              r->heading_start, r->heading_end, TEXT_UNIT_HEADING);
        return last + 1;
    }
    size_t end = at;
    while (end < r->in.n && r->in.v[end].class == LINE_TEXT && !(end > at && is_term(r, end)))
        end++;
    uint32_t body_start = r->in.v[at].start, body_end = r->in.v[end - 1].end;
    uint32_t cut = body_end;
    if (body_end - head_start > UNIT_WHOLE_ENTRY ||
        (is_word(r, i) && has_sentences(r, body_start, body_end, SEVERAL)))
        cut = first_said(r, body_start, body_end);
    *rc = unit_reader_add(r, head_start, cut, TEXT_UNIT_DEFINITION, r->heading_start,
                          r->heading_end, TEXT_UNIT_HEADING);
    if (!*rc) r->out->v[r->out->n - 1].body = body_start;
    if (!*rc && cut < body_end)
        *rc = unit_reader_add_sentences(r, cut, body_end, TEXT_UNIT_SENTENCE, head_start, head_end,
                                        TEXT_UNIT_DEFINITION);
    /* Further paragraphs may belong to it, or stand behind the last entry of a list: it is context. */
    while (!*rc) {
        size_t next = unit_lines_skip_blank(&r->in, end);
        if (next >= r->in.n || next == end || r->in.v[next].class != LINE_TEXT ||
            unit_is_heading(&r->in, next) || is_term(r, next) || !option)
            break;
        end = unit_paragraph_end(&r->in, next);
        *rc =
            unit_reader_add_sentences(r, r->in.v[next].start, r->in.v[end - 1].end,
                                      TEXT_UNIT_SENTENCE, head_start, head_end, TEXT_UNIT_HEADING);
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

/* Years name columns where the row below, behind a rule or not, has something else in them: "Founded | 1998 | 2001" above
 * "Closed | 2010 | 2015" does not. */
static bool has_years(const unit_reader *r, size_t i) {
    size_t n, next = i + 1;
    const char *s = unit_lines_text(&r->in, i, &n);
    if (!table_row_names_years(s, n)) return false;
    s = unit_lines_text(&r->in, next, &n);
    if (unit_is_rule(s, n) && next + 1 < r->in.n) s = unit_lines_text(&r->in, next + 1, &n);
    return !table_row_names_years(s, n);
}

/* Is row i, with another one below it, the names of the columns? */
static bool has_header(const unit_reader *r, size_t i) {
    size_t n, n_next;
    const char *s = unit_lines_text(&r->in, i, &n), *next = unit_lines_text(&r->in, i + 1, &n_next);
    if (has_years(r, i) || s[0] == ' ') return true;
    if (memchr(s, '|', n)) return names_columns(s, n) && !is_pair(s, n);
    return unit_is_rule(next, n_next) || table_row_names_columns(s, n, next, n_next);
}

/* "|---|---|": a rule that Markdown has between the names of columns and what is below them. */
static bool is_rule_of_bars(const unit_reader *r, size_t i) {
    size_t n;
    const char *s = unit_lines_text(&r->in, i, &n);
    return r->in.v[i].class == LINE_ROW && unit_is_rule(s, n) && memchr(s, '|', n);
}

/* Does another table begin with row i, right below a row of the one that begins with `first`: names of columns above a rule? A
 * rule like the table's own parts its rows. */
static bool begins_another(const unit_reader *r, size_t first, size_t i) {
    size_t n, n_own, n_rule;
    if (i < first + 3 || i + 2 >= r->in.n || r->in.v[i + 2].class != LINE_ROW) return false;
    if (!is_rule_of_bars(r, first + 1) || !is_rule_of_bars(r, i + 1)) return false;
    if (is_rule_of_bars(r, i - 1) || is_rule_of_bars(r, i + 2)) return false;
    const char *own = unit_lines_text(&r->in, first + 1, &n_own),
               *rule = unit_lines_text(&r->in, i + 1, &n_rule), *s = unit_lines_text(&r->in, i, &n),
               *cell;
    size_t at = 0, bytes = 0;
    return !(n_own == n_rule && memcmp(own, rule, n_own) == 0) && has_header(r, i) &&
           table_row_cell(s, n, &at, &cell, &bytes) && bytes;
}

/* Rows: the first of several is the header of the others, where the table begins with it. */
static size_t read_table(unit_reader *r, size_t i, int *rc) {
    size_t end = i;
    while (end < r->in.n && r->in.v[end].class == LINE_ROW && !begins_another(r, i, end)) end++;
    bool headed = end > i + 1 && !(i == 0 && goes_on_with_rows(r)) && has_header(r, i);
    for (size_t k = i; !*rc && k < end; k++) {
        const text_line *l = &r->in.v[k];
        if (unit_is_rule(r->in.text + l->start, l->end - l->start)) continue;
        if ((k == i && headed) || (k + 1 == end && names_records(r, k)))
            *rc = unit_reader_add(r, l->start, l->end, TEXT_UNIT_HEADER, r->heading_start,
                                  r->heading_end, TEXT_UNIT_HEADING);
        else
            *rc = unit_reader_add(r, l->start, l->end, TEXT_UNIT_ROW, headed ? r->in.v[i].start : 0,
                                  headed ? r->in.v[i].end : 0, TEXT_UNIT_HEADER);
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
    const bool heads = end == i + 1 && unit_is_heading(&r->in, i),
               ends = end == r->in.n || r->in.v[end].class == LINE_BLANK;
    return heads || !ends || strchr(".!?:;,", r->in.text[last->end - 1]) ? i : end;
}

/* ... and what is typed behind a blank line below it: "$ restic init", "$ restic backup ~/work". */
static size_t examples_end(const unit_reader *r, size_t i, size_t end) {
    enum { BYTES = 480 };
    while (end > i && end + 1 < r->in.n && r->in.v[end].class == LINE_BLANK) {
        const size_t next = unit_paragraph_end(&r->in, end + 1);
        bool typed = next > end + 1;
        for (size_t k = end + 1; k < next; k++) {
            size_t n;
            const char *s = unit_lines_text(&r->in, k, &n);
            typed &= unit_code_is_typed(s, n);
        }
        if (!typed || r->in.v[next - 1].end - r->in.v[i].start > BYTES) break;
        end = next;
    }
    return end;
}

/* "Search for it:" right above "$ grep -r word .": does line i end the paragraph that it is in? */
static bool is_typed_below_colon(const unit_reader *r, size_t i) {
    size_t n;
    const char *s = unit_lines_text(&r->in, i, &n);
    return r->in.text[r->in.v[i - 1].end - 1] == ':' && unit_code_is_typed(s, n);
}

/* "Ask a doctor first if you" right above "- are over 65;": a sentence without an end leads in the items that end it. */
static bool is_open(const unit_reader *r, size_t end, uint32_t stop) {
    if (unit_is_open(&r->in, end - 1)) return true;
    return end < r->in.n && r->in.v[end].class == LINE_ITEM &&
           !strchr(".!?:;,\"')]*_", r->in.text[stop - 1]);
}

/* A paragraph that begins with the name of what it is about, which heads its other sentences. */
static int read_named(unit_reader *r, uint32_t start, uint32_t name, uint32_t stop) {
    int rc = unit_reader_add(r, start, name, TEXT_UNIT_SENTENCE, r->heading_start, r->heading_end,
                             TEXT_UNIT_HEADING);
    const size_t first = r->out->n;
    if (!rc)
        rc = unit_reader_add_sentences(r, name, stop, TEXT_UNIT_SENTENCE, start, name,
                                       TEXT_UNIT_HEADING);
    for (size_t i = first; i < r->out->n; i++) {
        r->out->v[i].outer_start = r->heading_start;
        r->out->v[i].outer_end = r->heading_end;
    }
    return rc;
}

/* A paragraph of bytes [start, stop) whose last sentence an example stands in, and goes on in line `rest`: it is one sentence with it. */
static size_t read_around_example(unit_reader *r, uint32_t start, uint32_t stop, size_t rest,
                                  int *rc) {
    const size_t end = unit_paragraph_end(&r->in, rest);
    const uint32_t from = unit_reader_last_sentence(r, start, stop), to = r->in.v[end - 1].end;
    const size_t cut = unit_reader_stop(r, to, r->in.v[rest].start);
    uint32_t whole = cut > r->in.v[rest].start && cut < to ? (uint32_t)cut : to;
    const uint32_t behind = whole;
    while (whole > from && fo_is_blank(r->in.text[whole - 1])) whole--;
    if (from > start)
        *rc = unit_reader_add_sentences(r, start, from, TEXT_UNIT_SENTENCE, r->heading_start,
                                        r->heading_end, TEXT_UNIT_HEADING);
    if (!*rc)
        *rc = unit_reader_add(r, from, whole, TEXT_UNIT_SENTENCE, r->heading_start, r->heading_end,
                              TEXT_UNIT_HEADING);
    if (!*rc && behind < to)
        *rc = unit_reader_add_sentences(r, behind, to, TEXT_UNIT_SENTENCE, r->heading_start,
                                        r->heading_end, TEXT_UNIT_HEADING);
    return end;
}

/* A paragraph: its sentences. One that ends in a colon, or is not at its end, leads in what follows. */
static size_t read_paragraph(unit_reader *r, size_t i, int *rc) {
    size_t end = i + 1;
    while (end < r->in.n && r->in.v[end].class == LINE_TEXT && !is_term(r, end) &&
           !unit_is_asked(&r->in, end) && !is_typed_below_colon(r, end))
        end++;
    uint32_t start = r->in.v[i].start, stop = r->in.v[end - 1].end;
    const uint32_t asked = r->asks ? asked_first(r, i) : 0;
    if (asked) {
        *rc = unit_reader_add(r, start, asked, TEXT_UNIT_HEADING, 0, 0, TEXT_UNIT_HEADING);
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
    const bool colon = (r->in.text[stop - 1] == ':' || unit_code_is_led_in(&r->in, end - 1)) &&
                       next < r->in.n && next <= end + 1;
    const size_t example = colon ? examples_end(r, next, example_end(r, next)) : next;
    const bool leads =
        is_open(r, end, stop) || (colon && (r->in.v[next].class == LINE_ITEM ||
                                            r->in.v[next].class == LINE_ROW || example > next));
    const uint32_t named = leads || start > r->in.v[i].start ? 0 : unit_names_first(r, i, end);
    if (named) {
        *rc = read_named(r, start, named, stop);
        return end;
    }
    const size_t amidst = leads ? 0 : unit_code_amidst(&r->in, end - 1);
    if (amidst) return read_around_example(r, start, stop, amidst, rc);
    if (!leads) {
        *rc = unit_reader_add_sentences(r, start, stop, TEXT_UNIT_SENTENCE, r->heading_start,
                                        r->heading_end, TEXT_UNIT_HEADING);
        return end;
    }
    const uint32_t lead = unit_reader_last_sentence(r, start, stop);
    if (lead > start)
        *rc = unit_reader_add_sentences(r, start, lead, TEXT_UNIT_SENTENCE, r->heading_start,
                                        r->heading_end, TEXT_UNIT_HEADING);
    if (!*rc && r->in.v[next].class == LINE_ITEM) return unit_lists_read(r, next, lead, stop, rc);
    if (!*rc && example > next) {
        *rc = unit_reader_add(r, r->in.v[next].start, r->in.v[example - 1].end, TEXT_UNIT_ITEM,
                              lead, stop, TEXT_UNIT_ITEM);
        if (!*rc) r->out->v[r->out->n - 1].lines = true;
        return example;
    }
    if (!*rc)
        *rc = unit_reader_add(r, lead, stop, TEXT_UNIT_HEADING, r->heading_start, r->heading_end,
                              TEXT_UNIT_HEADING);
    return end;
}

/* The lines that a mail begins with are one unit: none of them answers what it is about. */
static size_t read_mail(unit_reader *r, size_t i, int *rc) {
    size_t end = i + 1;
    while (end < r->in.n && r->in.v[end].class == LINE_MAIL) end++;
    *rc = unit_reader_add(r, r->in.v[i].start, r->in.v[end - 1].end, TEXT_UNIT_ITEM, 0, 0,
                          TEXT_UNIT_HEADING);
    if (!*rc) r->out->v[r->out->n - 1].lines = r->out->v[r->out->n - 1].mail = true;
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
    *rc = unit_reader_add(r, r->in.v[i].start, r->in.v[end - 1].end,
                          sets ? TEXT_UNIT_ITEM : TEXT_UNIT_SENTENCE, r->heading_start,
                          r->heading_end, TEXT_UNIT_HEADING);
    if (!*rc) r->out->v[r->out->n - 1].lines = true;
    return end;
}

/* Of what a mail quotes only the question at the end heads what answers it: "> We are four. Can we bring the dog?" */
static size_t read_heading(unit_reader *r, size_t i, int *rc) {
    const text_line *l = &r->in.v[i];
    const bool quoted = r->in.text[l->start] == '>';
    const uint32_t start = quoted ? unit_reader_last_sentence(r, l->start, l->end) : l->start;
    if (start > l->start)
        *rc = unit_reader_add_sentences(r, l->start, start, TEXT_UNIT_SENTENCE, r->heading_start,
                                        r->heading_end, TEXT_UNIT_HEADING);
    if (!*rc) *rc = unit_reader_add(r, start, l->end, TEXT_UNIT_HEADING, 0, 0, TEXT_UNIT_HEADING);
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
        return unit_lists_read(r, i, 0, 0, rc);
    case LINE_RECORD:
        *rc = unit_reader_add(r, l->start, l->end, TEXT_UNIT_ROW, 0, 0, TEXT_UNIT_HEADER);
        if (!*rc) r->out->v[r->out->n - 1].record = true;
        return i + 1;
    case LINE_TURN:
        return unit_turns_read(r, i, rc);
    case LINE_MAIL:
        return read_mail(r, i, rc);
    case LINE_SETTING:
        return read_setting(r, i, rc);
    case LINE_HEADING:
        break;
    default:
        if (is_term(r, i)) return read_definition(r, i, rc);
        if (!unit_is_heading(&r->in, i)) return read_paragraph(r, i, rc);
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

/* Has the line several sentences, of which no more than half begin with labels? Then each answers by itself; else it is a list of
 * whom to ask, which stays whole. */
static bool is_paragraph_of_field(const unit_reader *r, const text_line *l) {
    enum { LABEL_WORDS = 5 }; /* "Complaints: within 14 days" */
    size_t sentences = 0, labels = 0;
    for (size_t at = l->start, stop; at < l->end; at = stop) {
        stop = unit_reader_stop(r, l->end, at);
        if (stop <= at) break;
        while (at < stop && fo_is_blank(r->in.text[at])) at++;
        labels += text_label(r->in.text + at, stop - at, LABEL_WORDS) > 0;
        sentences++;
    }
    return sentences > 1 && 2 * labels <= sentences;
}

/* A single such line right below a heading is an item of it; of several, find_points tells more. */
static void find_fields(unit_reader *r) {
    for (size_t i = 0; i < r->in.n; i++) {
        const size_t field = unit_lines_skip_blank(&r->in, i + 1);
        if (field >= r->in.n || !unit_is_field(&r->in, field) || unit_is_field(&r->in, i)) continue;
        const size_t next = unit_lines_skip_blank(&r->in, field + 1);
        const bool alone = next > field + 1 || next == r->in.n;
        const bool several = next < r->in.n && unit_is_field(&r->in, next);
        if (is_paragraph_of_field(r, &r->in.v[field])) continue;
        if (alone && !several && unit_is_heading(&r->in, i) && !unit_is_asked(&r->in, i))
            r->in.v[field].class = LINE_ITEM;
    }
}

/* Short lines between blank ones, one after the other with nothing below any: not headings all of them, but what a slide
 * or a form has of points. The first heads the others; the last may head what follows. */
static void find_points(unit_reader *r) {
    enum { FEWEST = 4 }; /* a title, a chapter and a section may stand so */
    for (size_t i = 0; i < r->in.n; i++) {
        size_t n = 0, last = i;
        for (size_t k = i;
             k < r->in.n && unit_stands_as_heading(&r->in, k) && !unit_is_asked(&r->in, k);
             k = unit_lines_skip_blank(&r->in, k + 1)) {
            last = k;
            n++;
        }
        const bool ends = unit_lines_skip_blank(&r->in, last + 1) == r->in.n;
        for (size_t k = unit_lines_skip_blank(&r->in, i + 1); n >= FEWEST && k <= last;
             k = unit_lines_skip_blank(&r->in, k + 1))
            if (k < last || ends || !unit_is_heading(&r->in, k)) r->in.v[k].class = LINE_ITEM;
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

/* A heading between drawn lines is one line, and they are blank ones. */
static bool find_ruled(unit_lines *l, size_t i) {
    bool below;
    const size_t end = unit_ruled_heading(l, i, &below);
    if (!end) return false;
    l->v[i].class = LINE_BLANK;
    l->v[i + 1].class = LINE_HEADING;
    l->v[i + 1].end = l->v[end - 1].end;
    for (size_t k = i + 2; k < end + below; k++) l->v[k].class = LINE_BLANK;
    return true;
}

int text_units_read(text_units *out, const char *text, size_t len, size_t before, fo_err *err) {
    return text_units_read_part(out, text, len, before, false, err);
}

int text_units_read_part(text_units *out, const char *text, size_t len, size_t before,
                         bool followed, fo_err *err) {
    out->n = 0;
    if (len >= UINT32_MAX) return fo_fail(err, FO_ELIMIT, "a text of 4 GiB or more");
    unit_reader r = {.in = {.text = text, .len = len, .before = before, .followed = followed},
                     .out = out,
                     .err = err};
    int rc = unit_lines_read(&r.in, err);
    for (size_t i = 0; !rc && i < r.in.n; i++)
        if (find_ruled(&r.in, i)) {
            continue;
        } else if (unit_is_underlined(&r.in, i)) {
            r.in.v[i].class = LINE_HEADING;
            r.in.v[i + 1].class = LINE_BLANK;
        } else if (unit_is_rule_between(&r.in, i)) {
            r.in.v[i].class = LINE_BLANK;
        } else if (unit_is_numbered_heading(&r.in, i) || unit_is_section(&r.in, i) ||
                   unit_is_setting_name(&r.in, i)) {
            r.in.v[i].class = LINE_HEADING;
        }
    if (!rc) unit_pairs_find(&r.in);
    if (!rc) unit_hanging_find(&r.in);
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
