/* What tesseract recognises on a page or in an image: its table of words (TSV) becomes lines of the
 * layout. Levels: 2 a block, 3 a paragraph, 4 a line, 5 a word; each has a box in dots. */
#include <stdlib.h>
#include <string.h>

#include "data/extract/encoding.h"
#include "data/extract/pdf_layout.h"
#include "data/extract/pdf_scan.h"

enum {
    MAX_PAGES = 10000,
    COLUMNS = 12,
    LEAST_CONFIDENCE = 20
}; /* per cent: below, it is the grain of a picture */

typedef struct fields {
    const char *s[COLUMNS];
    size_t n[COLUMNS];
    size_t count;
} fields;

static fields split(const char *line, size_t n) {
    fields f = {.count = 0};
    for (size_t at = 0; at <= n && f.count < COLUMNS;) {
        const char *tab = at < n ? memchr(line + at, '\t', n - at) : NULL;
        size_t end = tab && f.count < COLUMNS - 1 ? (size_t)(tab - line) : n;
        f.s[f.count] = line + at;
        f.n[f.count++] = end - at;
        at = end + 1;
    }
    return f;
}

static float number(const fields *f, size_t i) {
    char digits[16] = "";
    size_t n = f->n[i] < sizeof digits - 1 ? f->n[i] : sizeof digits - 1;
    memcpy(digits, f->s[i], n);
    double d = strtod(digits, NULL);
    return d > -1e6 && d < 1e6 ? (float)d : 0;
}

static void box_of(const fields *f, float points, float box[4]) {
    float left = number(f, 6), top = number(f, 7);
    box[0] = left * points;
    box[1] = top * points;
    box[2] = (left + number(f, 8)) * points;
    box[3] = (top + number(f, 9)) * points;
}

static void take_line(pdf_layout *p, builder *b, const fields *f, float points, uint32_t page) {
    if (!pdf_layout_grow(b, (void **)&p->lines, p->n_lines, &p->cap_lines, sizeof *p->lines))
        return;
    pdf_line *l = &p->lines[p->n_lines++];
    *l = (pdf_line){.at = p->text.len,
                    .word = p->n_words,
                    .page = page,
                    .block = p->n_blocks,
                    .is_recognised = true};
    box_of(f, points, l->box);
}

static void take_word(pdf_layout *p, builder *b, const fields *f, float points) {
    const char *s = f->s[11];
    size_t n = f->n[11];
    while (n && (*s == ' ' || *s == '\r')) s++, n--;
    while (n && (s[n - 1] == ' ' || s[n - 1] == '\r')) n--;
    if (!n || number(f, 10) < LEAST_CONFIDENCE) return;
    /* What tesseract makes of a bullet, which its data lack. */
    if (n == 2 && memcmp(s, "\xC2\xA2", 2) == 0 && !p->lines[p->n_lines - 1].n)
        s = "\xE2\x80\xA2", n = 3;
    fo_buf word = {0};
    encoding_clean(&word, s, n, &b->n_replaced);
    float box[4];
    box_of(f, points, box);
    pdf_layout_add_word(p, b, word.data ? word.data : "", word.len, box);
    if (word.failed) b->failure = FO_ENOMEM;
    fo_buf_free(&word);
}

static void begin_page(pdf_layout *p, builder *b, const fields *f, float points) {
    if (p->n_pages >= MAX_PAGES) b->failure = FO_ELIMIT;
    if (b->failure ||
        !pdf_layout_grow(b, (void **)&p->heights, p->n_pages, &p->cap_pages, sizeof *p->heights))
        return;
    p->heights[p->n_pages++] = number(f, 9) * points;
}

void pdf_layout_read_ocr(pdf_layout *p, builder *b, const extract_stream *from, uint32_t page,
                         float points) {
    pdf_scanner s;
    pdf_scan_begin(&s, b, from);
    const char *line;
    size_t n;
    bool in_line = false;
    while (!b->failure && (line = pdf_scan_until(&s, '\n', &n))) {
        fields f = split(line, n);
        if (f.count < COLUMNS - 1 || f.n[0] != 1) continue; /* the head */
        uint32_t at = page ? page : p->n_pages;
        if (*f.s[0] == '1' && !page) {
            begin_page(p, b, &f, points);
            in_line = false;
        } else if (*f.s[0] == '2' || *f.s[0] == '3') {
            if (p->n_blocks < UINT32_MAX) p->n_blocks++;
            in_line = false;
        } else if (*f.s[0] == '4' && at) {
            take_line(p, b, &f, points, at);
            in_line = true;
        } else if (*f.s[0] == '5' && in_line && f.count == COLUMNS) {
            take_word(p, b, &f, points);
        }
    }
    pdf_scan_end(&s);
}
