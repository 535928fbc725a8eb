/* The outline of a PDF (its bookmarks), which pdftohtml tells: what it names on a page are headings of
 * that depth there, whatever they look like. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "data/extract/pdf_layout.h"
#include "data/extract/pdf_scan.h"

enum {
    MAX_ITEMS = 20000,
    MAX_DEPTH = 64, /* of lists in lists; headings have six levels */
    MAX_LEVEL = 6,
    LINES = 4, /* of a heading, at most */
    MAX_BYTES = 300,
};

/* Letters and figures alone, small: what a heading and its bookmark share, however they are set. */
static size_t letters_of(char out[MAX_BYTES], size_t used, const char *s, size_t n) {
    for (size_t i = 0; i < n && used < MAX_BYTES; i++) {
        unsigned char c = (unsigned char)s[i];
        if (isalnum(c) || c >= 0x80) out[used++] = (char)tolower(c);
    }
    return used;
}

/* Bytes of "2.1.3" or "A.4" or "IV" before the title of a section. */
static size_t number_before(const char *s, size_t n) {
    size_t k = 0;
    while (k < n && (isdigit((unsigned char)s[k]) || s[k] == '.')) k++;
    if (!k && n > 2 && isupper((unsigned char)s[0]) && (s[1] == '.' || s[1] == ' ')) k = 1;
    while (k && k < n && (isdigit((unsigned char)s[k]) || s[k] == '.')) k++;
    return k && k < n && s[k] == ' ' ? k + 1 : 0;
}

typedef struct title {
    char all[MAX_BYTES];
    size_t n, number; /* bytes of them; of its number, part of the first */
} title;

static title title_of(const char *s, size_t n) {
    title t = {.n = 0};
    t.n = letters_of(t.all, 0, s, n);
    char number[MAX_BYTES];
    t.number = letters_of(number, 0, s, number_before(s, n));
    return t;
}

static bool same(const char *a, size_t n, const char *b, size_t m) {
    return n && n == m && memcmp(a, b, n) == 0;
}

/* How many of the lines from i on, which share a page, are this title; 0: they are not. */
static size_t lines_of_title(const pdf_layout *p, size_t i, size_t end, const title *t) {
    char text[MAX_BYTES];
    size_t n = 0, number = 0;
    for (size_t k = i; k < end && k < i + LINES && n < t->n + 16; k++) {
        const pdf_line *l = &p->lines[k];
        const char *s = p->text.data + l->at;
        if (l->is_running || l->table || l->level) return 0;
        if (k == i) {
            char ignored[MAX_BYTES];
            number = letters_of(ignored, 0, s, number_before(s, l->n));
        }
        n = letters_of(text, n, s, l->n);
        /* Either of them may lack the section's number. */
        if (same(text, n, t->all, t->n) ||
            (number && same(text + number, n - number, t->all, t->n)) ||
            (t->number && same(text, n, t->all + t->number, t->n - t->number)))
            return k + 1 - i;
    }
    return 0;
}

/* The heading that is named so on this page: its lines get the level and are parted from the rest of their
 * blocks later on. */
static void mark(pdf_layout *p, builder *b, const size_t *pages, uint32_t page, const title *t,
                 unsigned depth) {
    if (!page || page > p->n_pages || !t->n) return;
    size_t first = pages[page - 1], end = pages[page];
    for (size_t i = first; i < end && builder_go_on(b, 0); i++) {
        size_t n = lines_of_title(p, i, end, t);
        if (!n) continue;
        for (size_t k = i; k < i + n; k++)
            p->lines[k].level = (uint8_t)(depth < MAX_LEVEL ? depth : MAX_LEVEL);
        return;
    }
}

/* Where each page's lines begin; one more than there are pages. */
static size_t *find_pages(const pdf_layout *p) {
    size_t *pages = calloc(p->n_pages + 1, sizeof *pages), at = 0;
    for (uint32_t k = 0; pages && k <= p->n_pages; k++) {
        while (at < p->n_lines && p->lines[at].page <= k) at++;
        pages[k] = at;
    }
    return pages;
}

/* Lines of a heading are a block of their own. */
static void part_blocks(pdf_layout *p) {
    uint32_t block = 0, was = 0;
    for (size_t i = 0; i < p->n_lines; i++) {
        pdf_line *l = &p->lines[i];
        const pdf_line *before = i ? l - 1 : NULL;
        bool parted = !before || l->block != was || (l->level != before->level);
        was = l->block;
        block += parted;
        l->block = block;
    }
}

void pdf_layout_mark_outline(pdf_layout *p, builder *b, const extract_stream *from) {
    pdf_scanner s;
    pdf_scan_begin(&s, b, from);
    size_t bytes = (p->n_pages + 1) * sizeof(size_t), n, items = 0;
    size_t *pages = doc_budget_take(b->budget, bytes) ? find_pages(p) : NULL;
    if (!pages && !b->failure)
        b->failure = b->budget && b->budget->failure ? b->budget->failure : FO_ENOMEM;
    unsigned depth = 0;
    const char *tag;
    while (!b->failure && items < MAX_ITEMS && pdf_scan_until(&s, '<', &n) &&
           (tag = pdf_scan_until(&s, '>', &n))) {
        if (pdf_scan_is(tag, n, "outline")) {
            depth += depth < MAX_DEPTH;
        } else if (pdf_scan_is(tag, n, "/outline")) {
            depth -= depth > 0;
        } else if (depth && pdf_scan_is(tag, n, "item")) {
            float page = pdf_scan_number(tag, n, "page");
            const char *text = pdf_scan_until(&s, '<', &n);
            if (!text) break;
            fo_buf plain = {0};
            if (n < 4096) pdf_layout_add_xml(&plain, text, n, &b->n_replaced);
            title t = title_of(plain.data ? plain.data : "", plain.len);
            fo_buf_free(&plain);
            mark(p, b, pages, page > 0 ? (uint32_t)page : 0, &t, depth);
            items++;
            if (!pdf_scan_until(&s, '>', &n)) break;
        }
    }
    pdf_scan_end(&s);
    if (pages) {
        doc_budget_give(b->budget, bytes);
        if (!b->failure) part_blocks(p);
    }
    free(pages);
}
