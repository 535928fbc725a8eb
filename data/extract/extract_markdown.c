/* Markdown by md4c, rendered as readable text: markup goes, code, bullets and cells stay. */
#include <md4c.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "data/extract/extract_internal.h"

enum { MAX_LIST_DEPTH = 32 };

typedef struct reader {
    builder *b;
    fo_buf html;   /* a block of raw HTML, or a whole inline run of it */
    size_t budget; /* callbacks left: md4c can be made to call quadratically often */
    size_t list_depth;
    unsigned item_number[MAX_LIST_DEPTH]; /* 0: bullets */
    size_t cells;
    bool in_html, in_code, item_fresh, in_row;
} reader;

/* A place for text: the block that a paragraph, or a tight list item, has begun. */
static void begin_item(reader *r) {
    size_t depth = r->list_depth < MAX_LIST_DEPTH ? r->list_depth : MAX_LIST_DEPTH;
    builder_begin(r->b, TEXT_LIST_ITEM, 0);
    for (size_t i = 1; i < depth; i++) builder_str(r->b, "  ");
    unsigned *number = depth ? &r->item_number[depth - 1] : NULL;
    if (number && *number) {
        char mark[16];
        snprintf(mark, sizeof mark, "%u. ", (*number)++ % 1000000000u);
        builder_str(r->b, mark);
    } else {
        builder_str(r->b, "- ");
    }
    r->item_fresh = true;
}

static bool spend(reader *r) {
    if (r->b->failure || r->budget == 0) return false;
    r->budget--;
    return true;
}

static int enter_block(MD_BLOCKTYPE type, void *detail, void *arg) {
    reader *r = arg;
    if (!spend(r)) return 1;
    switch (type) {
    case MD_BLOCK_UL:
    case MD_BLOCK_OL:
        builder_end(r->b);
        if (r->list_depth < MAX_LIST_DEPTH) {
            unsigned first = type == MD_BLOCK_OL ? ((MD_BLOCK_OL_DETAIL *)detail)->start : 0;
            r->item_number[r->list_depth] = type == MD_BLOCK_OL && first == 0 ? 1 : first;
        }
        r->list_depth++;
        break;
    case MD_BLOCK_LI:
        begin_item(r);
        break;
    case MD_BLOCK_P:
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
    case MD_BLOCK_TR:
        builder_begin(r->b, TEXT_TABLE_ROW, 0);
        r->cells = 0;
        r->in_row = true;
        break;
    case MD_BLOCK_TH:
    case MD_BLOCK_TD:
        if (r->cells++ && !builder_block_empty(r->b)) builder_str(r->b, " | ");
        break;
    default:
        break;
    }
    return 0;
}

static int leave_block(MD_BLOCKTYPE type, void *detail, void *arg) {
    (void)detail;
    reader *r = arg;
    if (!spend(r)) return 1;
    builder *b = r->b;
    switch (type) {
    case MD_BLOCK_UL:
    case MD_BLOCK_OL:
        r->list_depth--;
        break;
    case MD_BLOCK_H:
        if (!builder_block_empty(b))
            builder_set_title(b, b->text.data + b->start, b->text.len - b->start);
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
        if (r->html.len) extract_html(b, r->html.data, r->html.len);
        builder_end(b);
        break;
    case MD_BLOCK_TR:
        r->in_row = false;
        builder_end(b);
        break;
    case MD_BLOCK_P:
        builder_end(b);
        break;
    default:
        break;
    }
    return 0;
}

static int span(MD_SPANTYPE type, void *detail, void *arg) {
    (void)type;
    (void)detail;
    return spend(arg) ? 0 : 1;
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

static int text(MD_TEXTTYPE type, const MD_CHAR *s, MD_SIZE n, void *arg) {
    reader *r = arg;
    if (!spend(r)) return 1;
    if (r->in_html) {
        fo_buf_add(&r->html, s, n);
        return r->html.failed;
    }
    r->item_fresh = false;
    switch (type) {
    case MD_TEXT_NULLCHAR:
        break; /* decoding has left none */
    case MD_TEXT_BR:
        builder_str(r->b, r->in_row ? " " : "\n");
        break;
    case MD_TEXT_SOFTBR:
        builder_str(r->b, " ");
        break;
    case MD_TEXT_ENTITY:
        add_entity(r->b, s, n);
        break;
    case MD_TEXT_HTML: /* a tag within a line; its content comes as text */
        if (n >= 3 && strncasecmp(s, "<br", 3) == 0) builder_str(r->b, r->in_row ? " " : "\n");
        break;
    default:
        builder_add(r->b, s, n);
    }
    return 0;
}

/* A block of "key: value" lines between --- lines at the very top: not text, but a title. */
static size_t skip_front_matter(builder *b, const char *s, size_t n) {
    if (n < 8 || memcmp(s, "---\n", 4) != 0) return 0;
    const char *end = memmem(s + 3, n - 3 < 65536 ? n - 3 : 65536, "\n---", 4);
    if (!end) return 0;
    size_t stop = (size_t)(end - s) + 4;
    if (stop < n && s[stop] != '\n' && s[stop] != ' ') return 0;
    for (size_t at = 4; at < stop;) {
        const char *newline = memchr(s + at, '\n', n - at);
        size_t line_end = newline ? (size_t)(newline - s) : n;
        if (line_end - at > 6 && memcmp(s + at, "title:", 6) == 0) {
            size_t from = at + 6, to = line_end;
            while (from < to && s[from] == ' ') from++;
            while (to > from && s[to - 1] == ' ') to--;
            if (to - from >= 2 && (s[from] == '"' || s[from] == '\'') && s[to - 1] == s[from])
                from++, to--;
            builder_set_title(b, s + from, to - from);
        }
        at = line_end + 1;
    }
    return stop;
}

void extract_markdown(builder *b, const char *s, size_t n) {
    size_t skip = skip_front_matter(b, s, n);
    s += skip;
    n -= skip;
    reader r = {.b = b, .budget = 65536};
    size_t budget;
    if (fo_mul_size(n, 16, &budget)) r.budget += budget;
    MD_PARSER parser = {
        .flags = MD_FLAG_TABLES | MD_FLAG_STRIKETHROUGH | MD_FLAG_TASKLISTS |
                 MD_FLAG_PERMISSIVEURLAUTOLINKS,
        .enter_block = enter_block,
        .leave_block = leave_block,
        .enter_span = span,
        .leave_span = span,
        .text = text,
    };
    size_t n_blocks = b->n_blocks, len = b->text.len;
    int rc = n > UINT32_MAX / 2 ? 1 : md_parse(s, (MD_SIZE)n, &parser, &r);
    fo_buf_free(&r.html);
    builder_end(b);
    if (rc == 0 || b->failure) return;
    /* What md4c cannot finish is still text. */
    b->n_blocks = n_blocks;
    b->text.len = len;
    extract_plain(b, s, n);
}
