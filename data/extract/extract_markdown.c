/* Markdown by md4c, rendered as readable text: markup goes, code, bullets and cells stay. */
#include <inttypes.h>
#include <md4c.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "data/extract/extract_internal.h"
#include "data/extract/front_matter.h"
#include "data/extract/markdown_boxes.h"
#include "data/extract/markdown_components.h"
#include "data/extract/superscript.h"
#include "data/extract/term_words.h"
#include "data/extract/text_columns.h"
#include "data/extract/text_labels.h"
#include "data/extract/text_table.h"
#include "kernels/utf8.h"

enum { MAX_LIST_DEPTH = 32 };

typedef struct reader {
    builder *b;
    fo_buf html;  /* a block of raw HTML, or a whole inline run of it */
    size_t calls; /* callbacks left: md4c can be made to call quadratically often */
    size_t list_depth;
    int64_t item_number[MAX_LIST_DEPTH]; /* -1: bullets */
    text_table table;
    bool in_html, in_code, item_fresh, in_row;
    bool
        in_mark; /* a list of numbers has begun where an item's text would: its first mark stands there */
    bool raised, link; /* a <sup>, a link has begun, and no text since */
    bool begins, soft; /* a paragraph, and nothing of it was said; a line of it has ended */
    bool hard;         /* a line has ended as it was written */
    bool bold_first;   /* the paragraph has begun with bold letters, which go on */
    size_t n_bold;     /* spans of bold letters that are open */
    size_t
        asked; /* bytes of text behind a question in bold that a paragraph begins with; 0: it does not */
    const char *source;
    size_t n_source;
    bool in_rows; /* the last text stands in rows */
    /* The next rows and the next lines that begin with labels, each up to its end: where that lies behind, as at first, what
     * follows is not known. Apart, as a line may be of both. They outlive a paragraph: one that ends without an empty line,
     * above a heading or in a quote, would have those below looked for from each paragraph to the end of the text. */
    text_rows rows;
    text_labels labels;
} reader;

/* A place for text: the block that a paragraph, or a tight list item, has begun. */
static void begin_item(reader *r, const MD_BLOCK_LI_DETAIL *item) {
    size_t depth = r->list_depth < MAX_LIST_DEPTH ? r->list_depth : MAX_LIST_DEPTH;
    if (!r->in_mark) {
        builder_begin(r->b, TEXT_LIST_ITEM, 0);
        for (size_t i = 1; i < depth; i++) builder_str(r->b, "  ");
    }
    r->in_mark = false;
    int64_t *number = depth ? &r->item_number[depth - 1] : NULL;
    if (number && *number >= 0) {
        char mark[32];
        snprintf(mark, sizeof mark, "%" PRId64 ". ", (*number)++);
        builder_str(r->b, mark);
    } else {
        builder_str(r->b, "- ");
    }
    if (item->is_task) builder_str(r->b, item->task_mark == ' ' ? "[ ] " : "[x] ");
    r->item_fresh = true;
}

static bool spend(reader *r, size_t bytes) {
    if (!builder_go_on(r->b, bytes) || r->calls == 0) return false;
    r->calls--;
    return true;
}

static int enter_block(MD_BLOCKTYPE type, void *detail, void *arg) {
    reader *r = arg;
    if (!spend(r, 0)) return 1;
    switch (type) {
    case MD_BLOCK_UL:
    case MD_BLOCK_OL:
        r->in_mark = type == MD_BLOCK_OL && r->item_fresh; /* "- 23. March: concert" */
        if (!r->in_mark) builder_end(r->b);
        if (r->list_depth < MAX_LIST_DEPTH) {
            int64_t *number = &r->item_number[r->list_depth];
            *number = -1;
            if (type == MD_BLOCK_OL) *number = ((MD_BLOCK_OL_DETAIL *)detail)->start;
        }
        r->list_depth++;
        break;
    case MD_BLOCK_LI:
        begin_item(r, detail);
        break;
    case MD_BLOCK_P:
        r->begins = !r->list_depth;
        r->bold_first = false;
        r->asked = 0;
        r->soft = r->hard = r->in_rows = false;
        if (!r->item_fresh) builder_begin(r->b, r->list_depth ? TEXT_LIST_ITEM : TEXT_PARAGRAPH, 0);
        r->item_fresh = false;
        break;
    case MD_BLOCK_H:
        builder_begin(r->b, TEXT_HEADING, (uint8_t)((MD_BLOCK_H_DETAIL *)detail)->level);
        break;
    case MD_BLOCK_CODE:
        builder_begin(r->b, TEXT_CODE, 0);
        r->in_code = true;
        break;
    case MD_BLOCK_HTML:
        builder_end(r->b);
        r->in_html = true;
        fo_buf_clear(&r->html);
        break;
    case MD_BLOCK_TABLE:
        text_table_begin(&r->table, r->b);
        break;
    case MD_BLOCK_TR:
        text_table_row(&r->table);
        r->in_row = true;
        break;
    case MD_BLOCK_TH:
    case MD_BLOCK_TD:
        text_table_cell(&r->table, type == MD_BLOCK_TH, 1, 1);
        break;
    default:
        break;
    }
    return 0;
}

static int leave_block(MD_BLOCKTYPE type, void *detail, void *arg) {
    (void)detail;
    reader *r = arg;
    if (!spend(r, 0)) return 1;
    builder *b = r->b;
    switch (type) {
    case MD_BLOCK_UL:
    case MD_BLOCK_OL:
        r->list_depth--;
        break;
    case MD_BLOCK_H:
        if (!builder_block_empty(b))
            builder_title_heading(b, b->level, b->text.data + b->start, b->text.len - b->start);
        builder_end(b);
        break;
    case MD_BLOCK_LI:
        r->item_fresh = false;
        builder_end(b);
        break;
    case MD_BLOCK_CODE:
        r->in_code = false;
        builder_end(b);
        break;
    case MD_BLOCK_HTML:
        r->in_html = false;
        if (r->html.len) extract_html_text(b, r->html.data, r->html.len);
        builder_end(b);
        break;
    case MD_BLOCK_TR:
        r->in_row = false;
        text_table_end_row(&r->table);
        break;
    case MD_BLOCK_P:
        builder_end(b);
        r->begins = r->soft = false;
        break;
    default:
        break;
    }
    return 0;
}

static bool ends_as_question(const char *s, size_t n) {
    return (n >= 1 && s[n - 1] == '?') || (n >= 3 && memcmp(s + n - 3, "\xEF\xBC\x9F", 3) == 0) ||
           (n >= 2 && memcmp(s + n - 2, "\xD8\x9F", 2) == 0); /* of Chinese, of Arabic */
}

static int enter_span(MD_SPANTYPE type, void *detail, void *arg) {
    (void)detail;
    reader *r = arg;
    r->link |= type == MD_SPAN_A;
    if (type == MD_SPAN_STRONG && r->n_bold++ == 0)
        r->bold_first = r->begins && builder_block_empty(r->b);
    return spend(r, 0) ? 0 : 1;
}

static int leave_span(MD_SPANTYPE type, void *detail, void *arg) {
    (void)detail;
    reader *r = arg;
    r->link &= type != MD_SPAN_A;
    if (type == MD_SPAN_STRONG && --r->n_bold == 0 && r->bold_first) {
        const fo_buf *t = &r->b->text;
        r->bold_first = false;
        if (ends_as_question(t->data + r->b->start, t->len - r->b->start)) r->asked = t->len;
    }
    return spend(r, 0) ? 0 : 1;
}

static bool is_tag(const char *s, size_t n, const char *begins) {
    const size_t k = strlen(begins);
    return n > k && !strncasecmp(s, begins, k) && (s[k] == '>' || s[k] == '/' || fo_is_blank(s[k]));
}

/* A tag within a line; its content comes as text. */
static void read_tag(reader *r, const char *s, size_t n) {
    if (n >= 3 && strncasecmp(s, "<br", 3) == 0) builder_str(r->b, r->in_row ? " " : "\n");
    r->raised = (r->raised || is_tag(s, n, "<sup")) && !is_tag(s, n, "</sup");
    r->link = (r->link || is_tag(s, n, "<a")) && !is_tag(s, n, "</a");
}

static void add_entity(builder *b, const char *s, size_t n) {
    int32_t cp = 0;
    if (n > 3 && s[1] == '#') {
        bool hex = s[2] == 'x' || s[2] == 'X';
        for (size_t i = hex ? 3 : 2; i + 1 < n && cp <= 0x10FFFF; i++) {
            int digit = s[i] <= '9' ? s[i] - '0' : (s[i] | 32) - 'a' + 10;
            cp = cp * (hex ? 16 : 10) + digit;
        }
    } else if (n > 2) {
        cp = extract_html_entity(s + 1, n - 2);
    }
    if (cp)
        builder_add_cp(b, cp);
    else
        builder_add(b, s, n);
}

/* Is the text of the last block, or of the open one, a term? */
static bool is_term(const builder *b) {
    bool several;
    size_t start = b->start, n = b->text.len;
    if (builder_block_empty(b)) {
        if (!b->n_blocks || b->blocks[b->n_blocks - 1].kind != TEXT_PARAGRAPH) return false;
        start = b->blocks[b->n_blocks - 1].start;
        n = b->blocks[b->n_blocks - 1].end;
    } else if (b->kind != TEXT_PARAGRAPH) {
        return false;
    }
    return term_words_are(b->text.data + start, n - start, &several);
}

/* "Black bin" NEWLINE ": Nappies, cat litter": a term and what it means, on one line; a blank one may stand between the two.
 * What a heading has below it so is text. Bytes of the mark. */
static size_t join_meaning(reader *r, const MD_CHAR *s, size_t n) {
    builder *b = r->b;
    if (!(r->begins || r->soft) || n < 2 || s[0] != ':' || !(s[1] == ' ' || s[1] == '\t')) return 0;
    const bool term = is_term(b);
    if (!term && !(r->begins && b->n_blocks)) return 0;
    if (term && r->begins)
        builder_go_on_with(b, TEXT_PARAGRAPH, 0, ": ");
    else if (term)
        builder_str(b, ": ");
    size_t mark = 1;
    while (mark < n && (s[mark] == ' ' || s[mark] == '\t')) mark++;
    r->begins = r->soft = false;
    return mark;
}

/* Text at s is of a paragraph, and that of no list. *line: where its line begins. */
static bool find_line(const reader *r, const char *s, const char **line) {
    *line = s;
    if (r->list_depth || s < r->source || s >= r->source + r->n_source) return false;
    while (*line > r->source && (*line)[-1] != '\n') --*line;
    return true;
}

/* Does text that begins at s stand in rows whose columns stand below each other? *line: where its line begins. */
static bool is_in_rows(reader *r, const char *s, const char **line) {
    if (!find_line(r, s, line)) return false;
    const size_t at = (size_t)(*line - r->source);
    if (at >= r->rows.end) r->rows = text_columns_find(r->source, r->n_source, at);
    return at >= r->rows.start && at < r->rows.end;
}

/* Does text that begins at s stand on one of several lines that begin with labels, or right below them? */
static bool is_labelled(reader *r, const char *s) {
    const char *line;
    if (r->b->kind != TEXT_PARAGRAPH || !find_line(r, s, &line)) return false;
    const size_t at = (size_t)(line - r->source);
    if (text_labels_are_behind(r->labels, r->source, r->n_source, at)) return true;
    if (at >= r->labels.end) r->labels = text_labels_find(r->source, r->n_source, at);
    return at >= r->labels.start && at < r->labels.end;
}

/* The end of a line is a blank, once it is known what the next one begins with; rows keep their lines and indents, and lines
 * with labels their lines. */
static void end_line(reader *r, const char *s) {
    if ((r->soft || r->hard) && r->asked && r->b->text.len - r->hard == r->asked) {
        /* "**Is it free?**" NEWLINE "For children it is.": what answers a question is a paragraph of its own. */
        builder_end(r->b);
        builder_begin(r->b, TEXT_PARAGRAPH, 0);
        r->soft = r->hard = false;
    }
    if (r->begins || r->soft || r->hard) {
        const char *line;
        const bool before = r->in_rows;
        r->in_rows = is_in_rows(r, s, &line);
        const bool labelled = is_labelled(r, s);
        if (r->soft) builder_str(r->b, r->in_rows || before || labelled ? "\n" : " ");
        for (; r->in_rows && !r->begins && *line == ' '; line++) builder_str(r->b, " ");
    }
    r->begins = r->soft = r->hard = false;
}

static int text(MD_TEXTTYPE type, const MD_CHAR *s, MD_SIZE n, void *arg) {
    reader *r = arg;
    if (!spend(r, n)) return 1;
    if (r->in_html) {
        fo_buf_add(&r->html, s, n);
        return r->html.failed;
    }
    r->item_fresh = false;
    if (type == MD_TEXT_NORMAL) {
        size_t mark = join_meaning(r, s, n);
        s += mark, n -= (MD_SIZE)mark;
    }
    end_line(r, s);
    switch (type) {
    case MD_TEXT_NULLCHAR:
        break; /* decoding has left none */
    case MD_TEXT_BR:
        builder_str(r->b, r->in_row ? " " : "\n");
        r->hard = true;
        break;
    case MD_TEXT_SOFTBR:
        r->soft = true;
        break;
    case MD_TEXT_ENTITY:
        add_entity(r->b, s, n);
        break;
    case MD_TEXT_HTML:
        read_tag(r, s, n);
        return 0;
    default:
        if (r->raised) builder_str(r->b, superscript_mark_in(r->b, s, n, r->link));
        builder_add(r->b, s, n);
    }
    r->raised = r->link = false;
    return 0;
}

/* How much work md4c may make of a paragraph, found before it is asked: nothing can stop it within
 * one. Each "[" is looked for among the paragraph's lines, and each address that stands without
 * brackets among the addresses and brackets before it. Nor can anything stop it at a blank line, at
 * which it goes through the lists that are open. */
typedef struct forecast {
    double brackets, addresses; /* of the worst paragraph */
    double nesting;             /* of all blank lines */
} forecast;

/* Lists and quotes that are open behind a line, at most, of those before it. A list goes on under a
 * line that is indented by two columns for it, and wherever the line may be of a paragraph in it. */
static double nested_behind(const char *s, size_t n, double before, bool after_blank) {
    double marks = 0, columns = 0;
    size_t at = 0;
    for (; at < n; at++) {
        size_t number = at;
        while (number < n && s[number] >= '0' && s[number] <= '9') number++;
        bool list = number < n &&
                    (number > at ? strchr(".)", s[number]) : strchr("-+*", s[number])) &&
                    (number + 1 == n || fo_is_blank(s[number + 1]));
        if (s[at] == ' ' || s[at] == '\t')
            columns += s[at] == ' ' ? 1 : 4;
        else if (s[at] == '>' || list)
            marks++;
        else
            break;
        if (list) at = number;
    }
    double goes_on = before < columns / 2 ? before : columns / 2;
    if (after_blank || marks + goes_on > before) return marks + goes_on;
    return before;
}

/* "- x", "# x": a line that begins a paragraph of its own wherever it stands. */
static bool begins_block(const char *s, size_t n) {
    size_t at = 0;
    while (at < n && at < 4 && s[at] == ' ') at++;
    return at < 4 && n - at > 2 && strchr("-*+#", s[at]) && s[at] && s[at + 1] == ' ' &&
           s[at + 2] > ' ';
}

static forecast forecast_work(builder *b, const char *s, size_t n) {
    forecast worst = {0};
    double lines = 0, brackets = 0, addresses = 0, nested = 0;
    bool after_blank = true;
    for (size_t at = 0; at < n && builder_go_on(b, 0);) {
        const char *newline = memchr(s + at, '\n', n - at);
        size_t end = newline ? (size_t)(newline - s) : n;
        if (begins_block(s + at, end - at)) lines = brackets = addresses = 0;
        bool blank = true, quotes = true; /* no more than marks of quotes: blank in them */
        for (size_t i = at; i < end; i++) {
            blank = blank && (s[i] == ' ' || s[i] == '\t');
            quotes = quotes && (s[i] == ' ' || s[i] == '\t' || s[i] == '>');
            brackets += s[i] == '[';
            addresses += s[i] == ':' && i + 1 < end && s[i + 1] == '/';
        }
        lines++;
        if (quotes) worst.nesting += nested;
        if (!blank) nested = nested_behind(s + at, end - at, nested, after_blank);
        after_blank = blank;
        at = end + 1;
        if (brackets * lines > worst.brackets) worst.brackets = brackets * lines;
        double among = addresses * (addresses + brackets);
        if (among > worst.addresses) worst.addresses = among;
        if (blank) lines = brackets = addresses = 0;
    }
    return worst;
}

void extract_markdown_text(builder *b, const char *s, size_t n) {
    /* Hundredths of a second: nothing that somebody wrote comes near. */
    const double most_brackets = 1e8, most_addresses = 1e7, most_nesting = 1e8;
    reader r = {.b = b, .calls = 65536, .source = s, .n_source = n};
    size_t calls;
    if (fo_mul_size(n, 16, &calls)) r.calls += calls;
    forecast work = forecast_work(b, s, n);
    if (b->failure) return;
    MD_PARSER parser = {
        .flags = MD_FLAG_TABLES | MD_FLAG_STRIKETHROUGH | MD_FLAG_TASKLISTS |
                 (work.addresses < most_addresses ? MD_FLAG_PERMISSIVEURLAUTOLINKS : 0),
        .enter_block = enter_block,
        .leave_block = leave_block,
        .enter_span = enter_span,
        .leave_span = leave_span,
        .text = text,
    };
    size_t n_blocks = b->n_blocks, len = b->text.len;
    bool fits = n <= UINT32_MAX / 2 && work.brackets < most_brackets && work.nesting < most_nesting;
    int rc = fits ? md_parse(s, (MD_SIZE)n, &parser, &r) : 1;
    fo_buf_free(&r.html);
    builder_end(b);
    if (rc == 0 || b->failure) return;
    /* What md4c cannot finish is still text. */
    builder_rewind(b, n_blocks, len);
    extract_plain_text(b, s, n);
}

/* What the front matter says is a record above the text, a paragraph, so that a table that the text begins with has no row
 * more; what a text that is a part of a document says of itself, it does not say of that. */
static void write_front(builder *b, front_matter *front) {
    const bool whole = !b->n_blocks;
    if (front->record.failed || front->fields.failed) b->failure = FO_ENOMEM;
    if (front->n_title) builder_set_title(b, front->title, front->n_title);
    if (!front->record.len) return;
    builder_begin(b, TEXT_PARAGRAPH, 0);
    builder_add(b, front->record.data, front->record.len);
    builder_end(b);
    if (!whole) return;
    b->n_ahead = b->n_blocks;
    fo_buf_add(&b->fields, front->fields.data, front->fields.len);
}

/* The Markdown that is read: what the extensions of it say is written as Markdown without them. */
static void read_plain(builder *b, const char *s, size_t n) {
    static bool (*const steps[])(fo_buf *, const char *, size_t) = {markdown_boxes_write,
                                                                    markdown_components_write};
    fo_buf plain = {0};
    for (size_t i = 0; i < sizeof steps / sizeof *steps && !b->failure; i++) {
        fo_buf next = {0};
        const bool other = steps[i](&next, s, n);
        if (next.failed) b->failure = FO_ENOMEM;
        if (!other) {
            fo_buf_free(&next);
            continue;
        }
        fo_buf_free(&plain);
        plain = next;
        s = plain.data, n = plain.len;
    }
    if (!b->failure) extract_markdown_text(b, s, n);
    fo_buf_free(&plain);
}

int extract_markdown(builder *b, extract_input *in, fo_err *err) {
    fo_buf text = {0};
    front_matter front = {0};
    int rc = extract_decode(b, in, NULL, &text, err);
    if (!rc) {
        front_matter_read(&front, text.data, text.len);
        write_front(b, &front);
        read_plain(b, text.data + front.n, text.len - front.n);
    }
    front_matter_free(&front);
    extract_drop(b, &text);
    return rc;
}
