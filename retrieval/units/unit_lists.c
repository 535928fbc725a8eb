#include "retrieval/units/unit_lists.h"

#include <string.h>
#include <utf8proc.h>

#include "kernels/utf8.h"
#include "retrieval/units/unit_headings.h"

enum {
    WHOLE_STEPS = 1100, /* a list up to here can be an answer whole */
    WHOLE_NAMED = 240,  /* ... of a list below a heading alone */
    SHORT_STEPS = 12,   /* items of it */
    WHOLE_TITLED = 120, /* an item up to here stays whole though it begins with a title */
    TITLE_WORDS = 4,    /* of it */
    TITLE_ALONE =
        2,      /* ... where it has a line of its own, as "Turn off the power." of a step may */
    TITLE = 40, /* bytes of it */
    WHOLE_NAME = 60,   /* an item up to here may only name what stands in it */
    WHOLE_GROUP = 480, /* ... and be an answer with all of that */
    DEEPEST = 6,       /* items in items */
    DEEPER = 2,        /* columns, at least, as Markdown has it */
};

/* Where the title ends that an item begins with, "2. Water. The pump broke twice ...", of few words and with more
 * behind it; 0: there is none. */
static uint32_t title_of_item(const unit_reader *r, uint32_t start, uint32_t end) {
    const uint32_t from = start + (uint32_t)text_item_mark(r->in.text + start, end - start);
    const size_t stop = unit_reader_stop(r, end, from);
    uint32_t last = (uint32_t)stop;
    if (from == start || stop >= end) return 0;
    while (last > from && fo_is_blank(r->in.text[last - 1])) last--;
    size_t words = 1;
    for (uint32_t i = from; i < last; i++) words += fo_is_blank(r->in.text[i]);
    const size_t most = r->in.text[last] == '\n' ? TITLE_ALONE : TITLE_WORDS;
    return last - from <= TITLE && words <= most && r->in.text[last - 1] == '.' ? last : 0;
}

/* A paragraph with a number before it is no step: its sentences are units. *title: where its title ends; 0: it has none. */
static bool is_paragraph_item(const unit_reader *r, uint32_t start, uint32_t end, uint32_t *title) {
    *title = end - start > WHOLE_TITLED ? title_of_item(r, start, end) : 0;
    return *title || end - start > UNIT_WHOLE_ENTRY;
}

/* Columns before the text of a line; one of the lines before the text may be where it begins. */
static size_t indent_of(const unit_reader *r, size_t i) {
    enum { TAB = 4 };
    const char *from = r->in.text - r->in.before, *at = r->in.text + r->in.v[i].start, *line = at;
    size_t columns = 0;
    while (line > from && line[-1] != '\n') line--;
    for (; line < at; line++) columns = *line == '\t' ? (columns / TAB + 1) * TAB : columns + 1;
    return columns;
}

/* "- Canoe" above its prices is what they are of, and says nothing by itself; "- Canoe: for 3 persons" does. */
static bool only_names(const char *s, size_t n) {
    const size_t mark = text_item_mark(s, n);
    s += mark, n -= mark;
    while (n && strchr(" *_:", s[n - 1])) n--;
    if (!mark || !n || n > WHOLE_NAME || strchr(".!?", s[n - 1])) return false;
    for (size_t i = 0; i < n; i++)
        if (fo_is_digit(s[i]) || s[i] == ':') return false;
    return true;
}

/* What stands in the item hangs on it: on its title, or on what leads in at its end; one that is a paragraph is context. */
static text_unit head_in_item(const unit_reader *r, uint32_t start, uint32_t end,
                              const text_unit *above) {
    uint32_t title;
    if (is_paragraph_item(r, start, end, &title) && title)
        end = title;
    else if (end - start > WHOLE_TITLED && r->in.text[end - 1] == ':')
        start = unit_reader_last_sentence(r, start, end);
    const bool shown = end - start <= WHOLE_TITLED;
    return (text_unit){.head_start = start,
                       .head_end = end,
                       .head_kind = shown ? TEXT_UNIT_ITEM : TEXT_UNIT_HEADING,
                       .nested = shown,
                       .outer_start = above->head_start,
                       .outer_end = above->head_end};
}

/* The units from `first` on stand in the item that heads them, if one does. */
static void stand_in(unit_reader *r, size_t first, const text_unit *head) {
    for (size_t i = first; i < r->out->n; i++) {
        text_unit *u = &r->out->v[i];
        u->nested = head->nested;
        u->outer_start = head->outer_start;
        u->outer_end = head->outer_end;
    }
}

/* An item is a unit; of a paragraph its sentences are, below the title. */
static int add_item(unit_reader *r, uint32_t start, uint32_t end, const text_unit *head) {
    const size_t first = r->out->n;
    uint32_t title;
    int rc = FO_OK;
    if (!is_paragraph_item(r, start, end, &title)) {
        rc = unit_reader_add(r, start, end, TEXT_UNIT_ITEM, head->head_start, head->head_end,
                             head->head_kind);
    } else if (!title) {
        rc = unit_reader_add_sentences(r, start, end, TEXT_UNIT_SENTENCE, head->head_start,
                                       head->head_end, head->head_kind);
    } else {
        rc = unit_reader_add(r, start, title, TEXT_UNIT_HEADING, head->head_start, head->head_end,
                             head->head_kind);
    }
    if (!rc) stand_in(r, first, head);
    if (!rc && title)
        rc = unit_reader_add_sentences(r, title, end, TEXT_UNIT_SENTENCE, start, title,
                                       TEXT_UNIT_HEADING);
    return rc;
}

/* An item that only names those in it is an answer with them, up to `whole`; where they are many, it is a heading. */
static int add_name(unit_reader *r, uint32_t start, uint32_t end, uint32_t whole,
                    const text_unit *head) {
    const bool group = whole - start <= WHOLE_GROUP;
    const size_t first = r->out->n;
    int rc = FO_OK;
    if (group)
        rc = unit_reader_add(r, start, whole, TEXT_UNIT_STEPS, head->head_start, head->head_end,
                             head->nested ? head->head_kind : TEXT_UNIT_HEADING);
    if (!rc) stand_in(r, first, head);
    if (!rc && group) r->out->v[first].named = r->out->v[first].lines = true;
    if (!rc) rc = add_item(r, start, end, head);
    text_unit *name = rc ? NULL : &r->out->v[r->out->n - 1];
    if (name) name->names = group;
    if (name && !group) name->kind = TEXT_UNIT_HEADING;
    return rc;
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

/* ---- the lines of a list -------------------------------------------------------------------- */

/* The number of the item on line i of a list that is indented so far; 0: it has none, or is of another list. */
static size_t step_number(const unit_reader *r, size_t i, size_t indent) {
    size_t n, number = 0;
    const char *s = unit_lines_text(&r->in, i, &n);
    if (!text_item_mark(s, n) || indent_of(r, i) >= indent + DEEPER) return 0;
    for (; fo_is_digit(*s); s++) number = 10 * number + (size_t)(*s - '0');
    return number;
}

/* Does the last line before line i, blank ones aside, end in a colon? */
static bool is_led_in(const unit_reader *r, size_t i) {
    while (i > 0 && r->in.v[i - 1].class == LINE_BLANK) i--;
    return i > 0 && r->in.text[r->in.v[i - 1].end - 1] == ':';
}

/* Does line i, below a step, head what is below it? What is indented as the step's text is, or led in by it, does not. */
static bool is_heading_below(const unit_reader *r, size_t i, size_t indent) {
    return indent_of(r, i) < indent + DEEPER && !is_led_in(r, i) && unit_is_heading(&r->in, i);
}

/* May line i, no item, stand below a step of which it is a further paragraph or an example? A row of a table may not. */
static bool may_be_of_step(const unit_reader *r, size_t i, size_t indent) {
    const text_line *l = &r->in.v[i];
    switch (l->class) {
    case LINE_BLANK:
    case LINE_OPTION:
    case LINE_SETTING:
        return true;
    case LINE_TEXT:
        return !is_heading_below(r, i, indent);
    case LINE_ROW: /* "gzip -cd a | grep b" */
        return l[-1].class != LINE_ROW && (i + 1 == r->in.n || l[1].class != LINE_ROW);
    default:
        return false;
    }
}

/* The line of the step with that number, where what stands from line i on belongs to the one before it; 0: it does not. */
static size_t next_step(const unit_reader *r, size_t i, size_t number, size_t indent) {
    enum { LINES = 16 };
    for (size_t k = i; k < r->in.n && k - i < LINES; k++) {
        if (r->in.v[k].class != LINE_ITEM) {
            if (!may_be_of_step(r, k, indent)) return 0;
        } else if (indent_of(r, k) < indent + DEEPER) {
            return step_number(r, k, indent) == number ? k : 0;
        }
    }
    return 0;
}

static bool begins_with_capital(const char *s, size_t n) {
    int32_t cp = 0;
    return fo_utf8_decode(s, n, &cp) && cp > 0 && utf8proc_category(cp) == UTF8PROC_CATEGORY_LU;
}

/* "Porter: Rosa Holt" above "The key of the terrace is with the porter.": does line k begin a sentence of its own below an entry
 * of a label and a few words that ended its line on purpose? */
static bool begins_below_entry(const unit_reader *r, size_t k) {
    size_t n, n_entry;
    const char *s = unit_lines_text(&r->in, k, &n),
               *entry = unit_lines_text(&r->in, k - 1, &n_entry);
    return r->in.v[k - 1].class == LINE_ITEM && !text_item_mark(entry, n_entry) &&
           !strchr(",;:-/&(", entry[n_entry - 1]) && unit_breaks_on_purpose(&r->in, k - 1) &&
           begins_with_capital(s, n) && unit_ends_sentence(s, n);
}

/* Does line k, which is no item, go on with the list by itself, as the rest of an item or a blank line before the next? */
static bool goes_on(const unit_reader *r, size_t k) {
    const text_line *l = &r->in.v[k], *before = l - 1;
    if (l->class == LINE_BLANK) return k + 1 < r->in.n && l[1].class == LINE_ITEM;
    if (l->class != LINE_TEXT || before->class == LINE_BLANK) return false;
    if (unit_is_led(&r->in, k - 1)) return !unit_reader_ends_line(r, k - 1);
    if (begins_below_entry(r, k)) return false;
    /* else a new paragraph right below the list */
    return !(unit_ends_sentence(r->in.text + before->start, before->end - before->start) &&
             unit_breaks_on_purpose(&r->in, k - 1));
}

typedef struct list_lines {
    size_t end, n_items; /* end: one past the last line */
    bool numbered;
    bool examples; /* below a step one stands that it leads in */
} list_lines;

/* "2. Build the program:" and the commands below it, among lines [i, end). */
static bool has_example(const unit_reader *r, size_t i, size_t end) {
    for (size_t k = i + 1; k < end; k++) {
        const text_line *l = &r->in.v[k];
        if (l->class != LINE_BLANK && l->class != LINE_ITEM && is_led_in(r, k) &&
            !strchr(".!?:;,", r->in.text[l->end - 1]))
            return true;
    }
    return false;
}

/* The list that begins on line i. */
static list_lines find_lines(const unit_reader *r, size_t i) {
    const size_t indent = indent_of(r, i);
    size_t step = step_number(r, i, indent), next = 0;
    list_lines out = {.end = i, .numbered = step > 0};
    bool apart = false;
    for (size_t k = i; k < r->in.n; k = next) {
        const bool item = r->in.v[k].class == LINE_ITEM;
        next = k + 1;
        if (item) {
            const size_t number = step_number(r, k, indent);
            step = number ? number : step;
            out.n_items++;
        } else if (!goes_on(r, k)) {
            next = out.numbered ? next_step(r, k, step + 1, indent) : 0;
            if (!next) break;
            apart = true;
        }
        if (item || (next == k + 1 && r->in.v[k].class != LINE_BLANK)) out.end = k + 1;
    }
    out.examples = apart && has_example(r, i, out.end);
    return out;
}

/* Where what stands in the item ends that is indented by that much; next: the item behind it. */
static uint32_t group_end(const unit_reader *r, size_t next, size_t end, size_t indent) {
    uint32_t stop = 0;
    while (next < end && indent_of(r, next) >= indent + DEEPER)
        next = item_end(r, next, end, &stop);
    return stop;
}

/* The items on lines [i, end): what is indented deeper than the item before it stands in that one, and hangs on it.
 * examples: there are some among them. */
static int add_items(unit_reader *r, size_t i, size_t end, bool examples, const text_unit *head) {
    struct {
        size_t indent;
        text_unit head; /* of what stands in it */
    } open[DEEPEST];
    size_t n = 0, next;
    int rc = FO_OK;
    for (size_t k = i; !rc && k < end; k = next) {
        const uint32_t start = r->in.v[k].start;
        const char *s = r->in.text + start;
        const size_t indent = indent_of(r, k);
        uint32_t stop;
        next = item_end(r, k, end, &stop);
        while (n && indent < open[n - 1].indent + DEEPER) n--;
        const text_unit *above = n ? &open[n - 1].head : head;
        const bool opens = next < end && n < DEEPEST && indent_of(r, next) >= indent + DEEPER &&
                           text_item_mark(s, stop - start) > 0;
        rc = opens && !fo_is_digit(s[0]) && only_names(s, stop - start)
                 ? add_name(r, start, stop, group_end(r, next, end, indent), above)
                 : add_item(r, start, stop, above);
        text_unit *item = rc ? NULL : &r->out->v[r->out->n - 1];
        if (item && examples && item->kind == TEXT_UNIT_ITEM) item->lines = has_example(r, k, next);
        if (!opens) continue;
        open[n].head = head_in_item(r, start, stop, above);
        open[n++].indent = indent;
    }
    return rc;
}

size_t unit_lists_read(unit_reader *r, size_t i, uint32_t lead_start, uint32_t lead_end, int *rc) {
    const list_lines l = find_lines(r, i);
    const uint32_t stop = r->in.v[l.end - 1].end;
    const bool has_lead = lead_end > lead_start;
    const uint32_t from = has_lead ? lead_start : r->in.v[i].start;
    /* "In the box" right above a few words each: what it is asked for is the list */
    const bool named = stop - from <= WHOLE_NAMED && is_named_by_heading(r, i);
    if (l.n_items > 1 && l.n_items <= SHORT_STEPS && (l.numbered || has_lead || named) &&
        stop - from <= WHOLE_STEPS && !has_paragraphs(r, i, l.end)) {
        *rc = unit_reader_add(r, from, stop, TEXT_UNIT_STEPS, r->heading_start, r->heading_end,
                              TEXT_UNIT_HEADING);
        text_unit *list = *rc ? NULL : &r->out->v[r->out->n - 1];
        if (list) list->named = !l.numbered && !has_lead;
        if (list) list->lines = list->named || l.examples;
    }
    const text_unit head = {.head_start = has_lead ? lead_start : r->heading_start,
                            .head_end = has_lead ? lead_end : r->heading_end,
                            .head_kind = has_lead ? TEXT_UNIT_ITEM : TEXT_UNIT_HEADING};
    *rc = *rc ? *rc : add_items(r, i, l.end, l.examples, &head);
    return l.end;
}
