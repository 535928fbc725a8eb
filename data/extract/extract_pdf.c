/* A PDF, by pdftotext (poppler-utils): a program of its own, which is run in a worker's bounds. Blocks
 * of its layout become paragraphs in its reading order; lines are joined, with hyphens at their ends
 * taken away; what stands in larger letters than most of the text are headings. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/extract/extract_internal.h"
#include "data/extract/list_marker.h"
#include "data/extract/pdf_layout.h"
#include "data/extract/table_rows.h"
#include "kernels/utf8.h"

static const char *const arguments[] = {
    "pdftotext", "-q", "-bbox-layout", "-enc", "UTF-8", "/dev/stdin", "-", NULL};
const extract_program extract_pdf_program = {"pdftotext", "poppler-utils", arguments, NULL};

/* The outline stands behind the pages: of those, one is enough. */
static const char *const outline_arguments[] = {"pdftohtml", "-q",         "-xml", "-i", "-stdout",
                                                "-f",        "1",          "-l",   "1",  "-enc",
                                                "UTF-8",     "/dev/stdin", NULL};
static const extract_program outline_program = {"pdftohtml", "poppler-utils", outline_arguments,
                                                NULL};

/* A page as an image goes through tesseract: 300 dots an inch are what it was made for. */
static const char *const draw_arguments[] = {"pdftoppm", "-q", "-gray", "-r",         "300", "-f",
                                             "%page",    "-l", "%page", "/dev/stdin", NULL};
static const extract_program draw_program = {"pdftoppm", "poppler-utils", draw_arguments,
                                             &extract_ocr_program};
static const float POINTS_OF_A_DOT = 72.f / 300;

/* For people to look at: PAGE_IMAGE_DOTS_PER_POINT of page_image.h, which is 108 dots an inch. */
static const char *const show_arguments[] = {"pdftoppm", "-q", "-png",  "-r",         "108", "-f",
                                             "%page",    "-l", "%page", "/dev/stdin", NULL};
const extract_program extract_pdf_draw = {"pdftoppm", "poppler-utils", show_arguments, NULL};

enum { TOOL_OUTLINE, TOOL_OCR };
const extract_program *const extract_pdf_tools[] = {&outline_program, &draw_program, NULL};

/* ---- a PDF within another document ----------------------------------------------------------------- */

const extract_program *const extract_part_tools[] = {&extract_pdf_program, &outline_program,
                                                     &draw_program, NULL};
enum { PART_PDFTOTEXT, PART_TOOLS };

typedef struct part {
    const extract_input *in, *whole;
} part;

/* The PDF's own tools are those of the whole, which are given its bytes. */
static int start_for_part(void *ctx, uint32_t tool, uint32_t page, const void *input, size_t n,
                          extract_stream *to, fo_err *err) {
    const part *p = ctx;
    (void)input, (void)n;
    const extract_tools *t = p->whole->tools;
    return t->start(t->ctx, PART_TOOLS + tool, page, p->in->bytes, p->in->n, to, err);
}

int extract_pdf_part(builder *b, extract_input *in, const extract_input *whole, fo_err *err) {
    part p = {in, whole};
    extract_tools tools = {start_for_part, &p};
    extract_stream from;
    const extract_tools *t = whole->tools;
    int rc = t->start(t->ctx, PART_PDFTOTEXT, 0, in->bytes, in->n, &from, err);
    if (rc) return rc;
    extract_input with = *in;
    with.program = &from;
    with.tools = &tools;
    with.ocr = whole->ocr;
    return extract_pdf(b, &with, err);
}

/* ---- headings ------------------------------------------------------------------------------------ */

enum { MAX_HEADING = 200, MAX_HEADING_LINES = 3, HEIGHTS = 400 };

static bool left_out(const pdf_line *l) {
    return l->is_running || !l->n;
}

static float height_of(const pdf_line *l) {
    return l->box[3] - l->box[1];
}

/* Is it written from foot to top or from top to foot, as the name of an axis is and the stamp in a margin? The letters of a
 * line that lies are wide enough together: of four, the narrowest are still two thirds of their height. */
static bool stands(const pdf_layout *p, const pdf_line *l) {
    enum { FEWEST = 4 };
    return height_of(l) > 1.5f * (l->box[2] - l->box[0]) &&
           fo_utf8_count(p->text.data + l->at, l->n) >= FEWEST;
}

/* The height of most letters, in points: the median over the text. */
static float body_height(const pdf_layout *p) {
    size_t by_height[HEIGHTS] = {0}, all = 0; /* tenths of a point... */
    for (size_t i = 0; i < p->n_lines; i++) {
        const pdf_line *l = &p->lines[i];
        float h = height_of(l) * 5; /* ... or rather fifths */
        if (stands(p, l)) h = (l->box[2] - l->box[0]) * 5;
        if (l->is_running || h < 1 || h >= HEIGHTS) continue;
        by_height[(int)h] += l->n;
        all += l->n;
    }
    size_t sum = 0;
    for (int h = 0; h < HEIGHTS; h++)
        if ((sum += by_height[h]) * 2 > all) return (float)(h + 1) / 5;
    return 0;
}

/* 1 to 3, 0: no heading. */
static uint8_t heading_level(const pdf_layout *p, size_t first, size_t end, float body) {
    size_t n = 0;
    float least = 1e9f;
    for (size_t i = first; i < end; i++) {
        n += p->lines[i].n;
        if (p->lines[i].level) return p->lines[i].level; /* the outline's word */
        if (stands(p, &p->lines[i])) body = 0;
        if (height_of(&p->lines[i]) < least) least = height_of(&p->lines[i]);
    }
    if (body <= 0 || end - first > MAX_HEADING_LINES || n > MAX_HEADING || n < 2) return 0;
    float ratio = least / body;
    if (p->lines[first].is_recognised) ratio /= 1.25f; /* boxes of letters, not of their lines */
    return ratio >= 1.7f ? 1 : ratio >= 1.35f ? 2 : ratio >= 1.15f ? 3 : 0;
}

/* ---- paragraphs ---------------------------------------------------------------------------------- */

/* Bytes of a hyphen at the end of s, 0 if there is none that parts a word. */
static size_t hyphen_at_end(const char *s, size_t n) {
    static const char soft[] = "\xC2\xAD", hard[] = "\xE2\x80\x90";
    if (n > 2 && memcmp(s + n - 2, soft, 2) == 0) return 2;
    size_t k = n > 1 && s[n - 1] == '-' ? 1 : n > 3 && memcmp(s + n - 3, hard, 3) == 0 ? 3 : 0;
    unsigned char before = k ? (unsigned char)s[n - k - 1] : 0;
    return isalpha(before) || before >= 0x80 ? k : 0;
}

/* Lowercase, or a letter beyond ASCII: a word may go on with it. */
static bool goes_on(const char *s, size_t n) {
    return n && (islower((unsigned char)s[0]) || (unsigned char)s[0] >= 0xC3);
}

/* cut: bytes of a hyphen at the end of the last line that goes on behind the block. */
static void add_lines(builder *b, const pdf_layout *p, size_t first, size_t end, size_t cut_last) {
    for (size_t i = first; i < end; i++) {
        const pdf_line *l = &p->lines[i], *next = i + 1 < end ? &p->lines[i + 1] : NULL;
        const char *s = p->text.data + l->at;
        if (left_out(l)) continue;
        size_t cut = next ? 0 : cut_last;
        if (next && goes_on(p->text.data + next->at, next->n)) cut = hyphen_at_end(s, l->n);
        builder_add(b, s, l->n - cut);
        bool joined =
            next && hyphen_at_end(s, l->n) && isalnum((unsigned char)p->text.data[next->at]);
        if (next && !cut && !joined) builder_add(b, " ", 1); /* "Runge-" and "Kutta" are one word */
    }
}

static text_place place_of(const pdf_layout *p, size_t first, size_t end) {
    text_place to = {.page = p->lines[first].page};
    memcpy(to.box, p->lines[first].box, sizeof to.box);
    for (size_t i = first + 1; i < end; i++) {
        const float *box = p->lines[i].box;
        for (int k = 0; k < 2; k++) {
            if (box[k] < to.box[k]) to.box[k] = box[k];
            if (box[2 + k] > to.box[2 + k]) to.box[2 + k] = box[2 + k];
        }
    }
    return to;
}

/* "letter.docx", "page_4.html": one word that ends as files do that people print. */
static bool is_file_name(const char *s, size_t n) {
    static const char *const endings[] = {
        ".doc",  ".docx", ".odt", ".rtf",  ".html", ".htm", ".xlsx", ".xls",  ".ods",
        ".pptx", ".ppt",  ".odp", ".txt",  ".md",   ".pdf", ".tex",  ".indd", ".pages",
        ".dvi",  ".ps",   ".eps", ".qxd",  ".fm",   ".pub", ".wpd",  ".cdr",  ".ai",
        ".dwg",  ".exe",  ".tif", ".tiff", ".jpg",  ".png", ".csv"};
    for (size_t i = 0; i < n; i++)
        if (fo_is_blank(s[i])) return false;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        const size_t k = strlen(endings[i]);
        if (n > k && strncasecmp(s + n - k, endings[i], k) == 0) return true;
    }
    return false;
}

/* The document's own title, where it is not the name of a file that it was made from, nor what a program calls whatever
 * nobody has given a name. */
static void set_title(builder *b, const pdf_layout *p) {
    static const char *const made[] = {"Microsoft Word - ", "Microsoft PowerPoint - ",
                                       "Microsoft Excel - "};
    static const char *const none[] = {"untitled",
                                       "(anonymous)",
                                       "PowerPoint Presentation",
                                       "PowerPoint-Präsentation",
                                       "Présentation PowerPoint",
                                       "Presentation1",
                                       "Document1",
                                       "Slide 1"};
    const char *s = p->title.data ? p->title.data : "";
    const size_t n = p->title.len;
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        if (n > strlen(made[i]) && memcmp(s, made[i], strlen(made[i])) == 0) return;
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        if (n == strlen(none[i]) && strncasecmp(s, none[i], n) == 0) return;
    if (is_file_name(s, n)) return;
    builder_set_title(b, s, n);
}

/* A sign that begins an item of a list, alone in its block: its text is the next one. */
static bool is_bullet(const char *s, size_t n) {
    static const char *const bullets[] = {"\xE2\x80\xA2",
                                          "\xE2\x80\x93",
                                          "\xE2\x80\x94",
                                          "\xE2\x96\xAA",
                                          "\xE2\x97\xA6",
                                          "\xE2\x97\x8F",
                                          "\xE2\x96\xA0",
                                          "\xC2\xB7",
                                          "\xE2\x88\x97",
                                          "-",
                                          "*",
                                          "o"};
    for (size_t i = 0; i < sizeof bullets / sizeof *bullets; i++)
        if (n == strlen(bullets[i]) && memcmp(s, bullets[i], n) == 0) return true;
    return false;
}

typedef struct pdf_block {
    size_t first, end; /* lines, without running ones at its edges */
    uint32_t table;    /* it is this table; 0: none */
    uint8_t level;     /* of a heading; 0: none */
    bool bullet;       /* it begins with a line that is nothing but one */
} pdf_block;

/* pdftotext's next block from line *i on. False: none is left. */
static bool one_block(const pdf_layout *p, size_t *i, pdf_block *out) {
    while (*i < p->n_lines) {
        size_t end = *i + 1;
        while (end < p->n_lines && p->lines[end].block == p->lines[*i].block) end++;
        *out = (pdf_block){.first = *i, .end = end};
        *i = end;
        while (out->first < out->end && left_out(&p->lines[out->first])) out->first++;
        while (out->end > out->first && left_out(&p->lines[out->end - 1])) out->end--;
        if (out->first < out->end) return true;
    }
    return false;
}

/* A number and its heading, a term and what it means, cells of a row: next stands to the right of the
 * single short line l, at its height. */
static bool is_beside(const pdf_line *l, const pdf_line *next) {
    enum { SHORT = 48, FAR = 160 };
    float top = l->box[1] > next->box[1] ? l->box[1] : next->box[1];
    float foot = l->box[3] < next->box[3] ? l->box[3] : next->box[3];
    float gap = next->box[0] - l->box[2];
    return l->page == next->page && !next->table && l->level == next->level && l->n <= SHORT &&
           gap > -1 && gap < FAR && foot - top > 0.6f * height_of(l) &&
           foot - top > 0.4f * height_of(next);
}

/* The next block, with those that stand beside it. */
static bool next_block(const pdf_layout *p, size_t *i, float body, pdf_block *out) {
    if (!one_block(p, i, out)) return false;
    const pdf_line *l = &p->lines[out->first];
    out->bullet = is_bullet(p->text.data + l->at, l->n);
    out->table = l->table;
    if (l->table) return true;
    size_t ahead = *i, from = out->first;
    for (pdf_block more; out->end - from == 1 && one_block(p, &ahead, &more) &&
                         is_beside(&p->lines[from], &p->lines[more.first]);) {
        from = more.first;
        out->end = more.end;
        *i = ahead;
    }
    out->level = out->bullet ? 0 : heading_level(p, out->first, out->end, body);
    return true;
}

/* ---- lists within a block -------------------------------------------------------------------------- */

/* The mark of an item that line i begins with; *number as list_marker says it. 0: none, and so has what is nothing else. */
static size_t mark_of(const pdf_layout *p, size_t i, int *number) {
    const pdf_line *l = &p->lines[i];
    const char *s = p->text.data + l->at;
    *number = -1;
    const size_t n = list_bullet(s, l->n) ? list_bullet(s, l->n) : list_marker(s, l->n, 0, number);
    return n + 1 < l->n && s[n] == ' ' && (*number >= 0 || list_bullet(s, l->n)) ? n : 0;
}

/* Is the number behind that of line i in the line too, "3. Turn it to START. 4. Wait"? Steps of running text are no lines. */
static bool goes_on_counting(const pdf_layout *p, size_t i, int number) {
    char next[16];
    const pdf_line *l = &p->lines[i];
    const int n = snprintf(next, sizeof next, " %d%c", number + 1,
                           strcspn(p->text.data + l->at, ".") < 4 ? '.' : ')');
    return memmem(p->text.data + l->at, l->n, next, (size_t)n) != NULL;
}

enum { NEAR_LINES = 64 };

/* Does line i of the block begin an item whose neighbour bears that out: one above or below it that begins as far left has the
 * same bullet, or the number before or behind? */
static bool is_marked(const pdf_layout *p, const pdf_block *k, size_t i) {
    int number, other;
    const size_t mark = mark_of(p, i, &number);
    if (!mark) return false;
    bool borne_out = false;
    size_t end = k->end - i > NEAR_LINES ? i + NEAR_LINES : k->end;
    const char *s = p->text.data + p->lines[i].at;
    for (size_t j = i - k->first > NEAR_LINES ? i - NEAR_LINES : k->first; j < end; j++) {
        const size_t its = mark_of(p, j, &other);
        const float apart = p->lines[j].box[0] - p->lines[i].box[0];
        if (its && other >= 0 && goes_on_counting(p, j, other)) return false;
        if (j == i || !its || apart > 3 || apart < -3) continue;
        borne_out |= number < 0 ? its == mark && memcmp(s, p->text.data + p->lines[j].at, mark) == 0
                                : other == (j < i ? number - 1 : number + 1);
    }
    return borne_out;
}

static float width_of_first_word(const pdf_layout *p, const pdf_line *l) {
    const pdf_word *w = l->n_words ? &p->words[l->word] : NULL;
    return w ? w->x1 - w->x0 : 1e9f;
}

/* How far the lines of a page reach that begin at the block's left or before it, and have text beside it. */
static float margin_of(const pdf_layout *p, const pdf_block *k) {
    const float left = p->lines[k->first].box[0];
    const uint32_t page = p->lines[k->first].page;
    float to = 0;
    size_t i = k->first;
    while (i > 0 && p->lines[i - 1].page == page) i--;
    for (; i < p->n_lines && p->lines[i].page == page; i++) {
        const pdf_line *l = &p->lines[i];
        if (!left_out(l) && l->box[0] <= left + 1 && l->box[2] > left && l->box[2] > to)
            to = l->box[2];
    }
    return to;
}

/* Are the lines of the block items whose bullets are drawn and no letters? It stands farther in than the text above it, its lines
 * are of very different lengths, and each but the last would have had room for the word that the next begins with. */
static bool is_bare_list(const pdf_layout *p, const pdf_block *k) {
    enum { FEWEST = 2, MOST = 40 };
    const size_t n = k->end - k->first;
    if (!k->first || n < FEWEST || n > MOST) return false;
    const pdf_line *l = &p->lines[k->first], *above = l - 1;
    const float in = l->box[0] - above->box[0], height = height_of(l);
    if (above->page != l->page || left_out(above) || above->table || in < .8f * height ||
        in > 6 * height || above->box[3] > l->box[1] + .5f * height)
        return false;
    const float margin = margin_of(p, k);
    float least = 1e9f, most = 0;
    for (size_t i = k->first; i < k->end; i++) {
        const float width = p->lines[i].box[2] - l->box[0], off = p->lines[i].box[0] - l->box[0];
        if (left_out(&p->lines[i]) || off > 3 || off < -3 || is_marked(p, k, i)) return false;
        if (strchr("{}\\.;", p->text.data[p->lines[i].at])) return false; /* of a program */
        if (width > most) most = width;
        if (i + 1 == k->end) break;
        if (width < least) least = width;
        const float next = width_of_first_word(p, &p->lines[i + 1]);
        if (p->lines[i].box[2] + next + .5f * height > margin) return false;
    }
    return least < .75f * most;
}

/* Where the item or the paragraph ends that begins with line i of the block. */
static size_t item_end(const pdf_layout *p, const pdf_block *k, size_t i, bool bare) {
    if (bare) return i + 1;
    while (++i < k->end && !is_marked(p, k, i)) {
    }
    return i;
}

/* Does the paragraph go on in the next block (over a column, over a page)? As far as can be seen: it ends
 * in the middle of a sentence, and what comes begins in one. */
static bool runs_on(const pdf_layout *p, const pdf_block *k, const pdf_block *next) {
    const pdf_line *l = &p->lines[k->end - 1], *n = &p->lines[next->first];
    if (k->level || next->level || next->bullet || k->table || next->table ||
        n->page > l->page + 1 || l->n < 20)
        return false;
    const char *s = p->text.data + l->at;
    bool ended = strchr(".!?:;", s[l->n - 1]) != NULL,
         listed = s[l->n - 1] == ',' && n->page > l->page;
    bool text = n->n >= 20 || p->text.data[n->at + n->n - 1] == '.';
    return !ended && text && (listed || islower((unsigned char)p->text.data[n->at]));
}

/* ---- tables -------------------------------------------------------------------------------------- */

typedef struct table_writer {
    table_rows *rows;
    const pdf_table *last;
    fo_buf cell, head; /* the text of the last table's first row, to know it again */
} table_writer;

static bool near(float a, float b) {
    return a - b < 12 && b - a < 12;
}

/* The last table goes on here, in the same columns: on the next page, or behind a remark. */
static bool is_continued(const pdf_table *last, const pdf_table *t) {
    return last && t->page <= last->page + 1 && t->n_columns == last->n_columns &&
           near(t->left, last->left) && near(t->right, last->right);
}

/* The row's pieces, from the first on: the end of it. */
static size_t row_end(const pdf_layout *p, const pdf_table *t, size_t i) {
    size_t end = i + 1;
    while (end < t->piece + t->n_pieces && p->pieces[end].row == p->pieces[i].row) end++;
    return end;
}

/* Pieces [first, end) are one cell: lines, joined as those of a paragraph are. */
static void join_cell(fo_buf *out, const pdf_layout *p, size_t first, size_t end) {
    fo_buf_clear(out);
    for (size_t i = first; i < end; i++) {
        const pdf_piece *k = &p->pieces[i], *next = i + 1 < end ? k + 1 : NULL;
        const char *s = p->text.data + k->at;
        size_t cut = next && goes_on(p->text.data + next->at, next->n) ? hyphen_at_end(s, k->n) : 0;
        fo_buf_add(out, s, k->n - cut);
        if (next && !cut) fo_buf_char(out, ' ');
    }
}

static void write_row(builder *b, table_writer *w, const pdf_layout *p, const pdf_table *t,
                      size_t first, size_t end, bool header) {
    text_place place = {.page = t->page};
    memcpy(place.box, p->pieces[first].box, sizeof place.box);
    for (size_t i = first, k; i < end; i = k) {
        for (k = i; k < end && p->pieces[k].column == p->pieces[i].column; k++) {
            const float *box = p->pieces[k].box;
            for (int j = 0; j < 2; j++) {
                if (box[j] < place.box[j]) place.box[j] = box[j];
                if (box[2 + j] > place.box[2 + j]) place.box[2 + j] = box[2 + j];
            }
        }
        join_cell(&w->cell, p, i, k);
        if (w->cell.failed) b->failure = FO_ENOMEM;
        table_rows_cell(w->rows, p->pieces[i].column, w->cell.data ? w->cell.data : "",
                        w->cell.len);
    }
    table_rows_end_row(w->rows, &place, header);
}

static void write_table(builder *b, table_writer *w, const pdf_layout *p, const pdf_table *t) {
    if (!w->rows && !(w->rows = calloc(1, sizeof *w->rows))) {
        b->failure = FO_ENOMEM;
        return;
    }
    size_t i = t->piece, all = t->piece + t->n_pieces, end = row_end(p, t, i);
    join_cell(&w->cell, p, i, end);
    bool same_head = w->head.len == w->cell.len && w->cell.len &&
                     memcmp(w->head.data, w->cell.data, w->cell.len) == 0;
    bool continued =
        is_continued(w->last, t) && (!t->headed || (same_head && t->page > w->last->page));
    if (!continued) {
        /* Of two columns only figures below words tell that the first row names them: head_rows. */
        table_rows_begin(w->rows, b, t->n_columns > 2);
        fo_buf_clear(&w->head);
        fo_buf_add(&w->head, w->cell.data ? w->cell.data : "", w->cell.len);
    } else if (same_head) { /* said again at the page's top */
        i = end;
    }
    bool header = t->headed && !continued;
    for (; i < all && !b->failure; i = end, header = false) {
        end = row_end(p, t, i);
        write_row(b, w, p, t, i, end, header);
    }
    w->last = t;
}

/* ---- a title ------------------------------------------------------------------------------------- */

/* What stands in the largest letters of the first page: the title of a document that says none. */
typedef struct page_title {
    const pdf_line *last; /* of its lines; NULL: none yet */
    size_t start, end;    /* of the text */
    float height;         /* of its letters, points */
    bool small;           /* hardly larger than the text, but the first of all */
    size_t above;         /* bytes of paragraphs before the block at hand */
    bool name_follows;    /* the block before says NAME, as a manual page begins */
    bool bold;            /* no larger than a paragraph */
    bool settled;         /* no larger letters take its place */
    size_t
        opens; /* end of the first block of all, where that stands out of its page; 0: it does not */
} page_title;

/* Does the line stand in the middle between the outermost ends of its page's lines? within: and reaches neither. */
static bool is_centred(const pdf_layout *p, const pdf_line *l, bool within) {
    float left = 1e9f, right = 0;
    for (size_t i = 0; i < p->n_lines && p->lines[i].page <= l->page; i++) {
        const pdf_line *o = &p->lines[i];
        if (o->page != l->page || left_out(o) || stands(p, o)) continue;
        if (o->box[0] < left) left = o->box[0];
        if (o->box[2] > right) right = o->box[2];
    }
    const float off = l->box[0] - left - (right - l->box[2]), most = .05f * (right - left);
    return off < most && off > -most && (!within || l->box[0] - left > 2 * most);
}

/* The first block of all, a few lines that are centred, above another that is: a title that is only bold. */
static bool is_bold_title(const pdf_layout *p, const pdf_block *k, float body, size_t n) {
    enum { MOST_LINES = 3 };
    if (k->table || k->bullet || k->end - k->first > MOST_LINES || n > MAX_HEADING ||
        height_of(&p->lines[k->first]) < 1.05f * body || k->end >= p->n_lines)
        return false;
    for (size_t i = k->first; i <= k->end; i++)
        if (p->lines[i].page > 1 || left_out(&p->lines[i]) || !is_centred(p, &p->lines[i], true))
            return false;
    return true;
}

/* The first block of all, a line or a few in larger letters than all others of the first page: the title of slides, whose text is
 * as large on the pages that follow. */
static bool stands_out(const pdf_layout *p, const pdf_block *k, size_t n) {
    enum { MOST_LINES = 3 };
    if (k->table || k->bullet || k->end - k->first > MOST_LINES || n > MAX_HEADING) return false;
    size_t n_others = 0;
    for (size_t i = 0; i < p->n_lines && p->lines[i].page <= 1; i++) {
        const pdf_line *l = &p->lines[i];
        if ((i >= k->first && i < k->end) || left_out(l) || stands(p, l)) continue;
        if (l->is_recognised || height_of(&p->lines[k->first]) < 1.15f * height_of(l)) return false;
        n_others++;
    }
    return n_others > 0;
}

/* "gvpr - graph pattern scanning", below NAME: what a manual page is of. */
static bool is_name_of_manual(const char *s, size_t n) {
    static const char *const dashes[] = {" - ", " \xE2\x88\x92 ", " \xE2\x80\x93 ",
                                         " \xE2\x80\x94 ", " \xE2\x80\x90 "};
    for (size_t i = 0; n <= MAX_HEADING && i < sizeof dashes / sizeof *dashes; i++)
        if (memmem(s, n, dashes[i], strlen(dashes[i]))) return true;
    return false;
}

/* The block, or an item of it, was written as text[start, end). A title goes on in the block that touches it from below
 * in letters as large. Behind this much of running text none begins: what is large there is a formula or a part. */
static void look_for_title(page_title *t, const builder *b, const pdf_layout *p, const pdf_block *k,
                           float body, size_t start) {
    enum { MOST_ABOVE = 600 };
    const size_t end = b->text.len;
    const char *s = b->text.data + start;
    const bool name = t->name_follows && is_name_of_manual(s, end - start);
    t->name_follows = !start && end == 4 && memcmp(s, "NAME", 4) == 0;
    const pdf_line *first = &p->lines[k->first];
    const float height = height_of(first), than = height - t->height;
    if (first->page > 1 || stands(p, first) || t->settled) return;
    if (!start && stands_out(p, k, end)) t->opens = end;
    const bool bold = !start && !k->level && is_bold_title(p, k, body, end);
    if (name || bold) {
        *t = (page_title){.last = &p->lines[k->end - 1],
                          .start = start,
                          .end = end,
                          .height = height,
                          .small = true,
                          .above = t->above,
                          .bold = bold,
                          .settled = name};
        return;
    }
    if (!k->level && !t->bold) {
        t->above += end - start;
        return;
    }
    if (t->last && than < .5f && than > -.5f && t->last->block + 1 >= first->block &&
        first->box[1] - t->last->box[3] < (t->bold ? .5f : .2f) * height &&
        end - t->start <= MAX_HEADING) {
        t->end = end;
        t->last = &p->lines[k->end - 1];
        return;
    }
    t->bold = false;
    if (!k->level) {
        t->above += end - start;
        return;
    }
    const bool small = k->level > 2;
    if (small ? start || (height < 1.25f * body && !is_centred(p, first, false))
              : than < (t->small ? .25f * t->height : .5f))
        return;
    if (t->above > MOST_ABOVE) return;
    *t = (page_title){.last = &p->lines[k->end - 1],
                      .start = start,
                      .end = end,
                      .height = height,
                      .small = small,
                      .above = t->above};
}

/* Without the sign of a footnote behind it. */
static void set_title_of_page(builder *b, const page_title *t) {
    static const char *const signs[] = {" *", " \xE2\x88\x97", " \xE2\x80\xA0", " \xE2\x80\xA1"};
    const char *s = b->text.data + t->start;
    size_t n = t->end - t->start;
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        const size_t k = strlen(signs[i]);
        if (n > k && memcmp(s + n - k, signs[i], k) == 0) n -= k;
    }
    builder_set_title(b, s, n);
}

/* ---- blocks -------------------------------------------------------------------------------------- */

static void write_blocks(builder *b, const pdf_layout *p, table_writer *tables) {
    float body = body_height(p);
    size_t i = 0, cut = 0;
    page_title title = {0};
    pdf_block k, next;
    bool more = next_block(p, &i, body, &next), item = false, joined = false;
    while (more) {
        k = next;
        more = next_block(p, &i, body, &next);
        if (!builder_go_on(b, (k.end - k.first) * sizeof *p->lines)) return;
        if (k.table) {
            write_table(b, tables, p, &p->tables[k.table - 1]);
            joined = item = false;
            cut = 0;
            continue;
        }
        if (k.bullet && k.end - k.first == 1 && more &&
            !next.table) { /* the item's text is the next block */
            item = true;
            continue;
        }
        const bool bare = !k.level && !item && !k.bullet && is_bare_list(p, &k);
        const pdf_line *last = &p->lines[k.end - 1];
        const bool after = joined;
        joined = more && !bare && runs_on(p, &k, &next);
        const size_t cut_last = joined ? hyphen_at_end(p->text.data + last->at, last->n) : 0;
        for (size_t at = k.first, end; at < k.end; at = end) {
            end = k.level ? k.end : item_end(p, &k, at, bare);
            text_place place = place_of(p, at, end);
            builder_set_place(b, &place);
            const bool listed = item || k.bullet || bare || (!k.level && is_marked(p, &k, at));
            uint8_t kind = k.level ? TEXT_HEADING : listed ? TEXT_LIST_ITEM : TEXT_PARAGRAPH;
            if (after && at == k.first)
                builder_go_on_with(b, kind, k.level, cut ? "" : " ");
            else
                builder_begin(b, kind, k.level);
            if ((item && at == k.first) || bare) builder_str(b, "\xE2\x80\xA2 ");
            size_t from = b->text.len;
            add_lines(b, p, at, end, end == k.end ? cut_last : 0);
            look_for_title(&title, b, p, &k, body, from);
            builder_end(b);
        }
        cut = cut_last;
        item = false;
    }
    if (!title.last) title.end = title.opens;
    if (title.end && !b->failure) set_title_of_page(b, &title);
}

/* ---- the whole ----------------------------------------------------------------------------------- */

/* pdftotext's exit status, where it is not 0. */
static int refuse(const extract_input *in, const pdf_layout *p, int status, fo_err *err) {
    bool encrypted = memmem(in->bytes, in->n, "/Encrypt", 8) != NULL;
    if (status == 1 && encrypted && !p->n_pages)
        return fo_fail(err, FO_EUNSUPPORTED, "it is encrypted and asks for a password");
    if (status == 3)
        return fo_fail(err, FO_EUNSUPPORTED, "its author does not allow its text to be copied");
    if (status == 127)
        return fo_fail(err, FO_EIO, "pdftotext could not be run; is poppler-utils whole?");
    if (status == -9 || status == -24)
        return fo_fail(err, FO_ELIMIT, "pdftotext took longer than one of its size is given");
    if (status < 0)
        return fo_fail(err, FO_EINVAL,
                       "pdftotext crashed on it (signal %d); it is damaged or made to do that",
                       -status);
    return fo_fail(err, FO_EINVAL, "pdftotext cannot read it (status %d): it is damaged", status);
}

/* A PDF without an outline, or one that pdftohtml cannot read, has headings by their size alone. */
static void mark_outline(builder *b, const extract_input *in, pdf_layout *p) {
    extract_stream from;
    fo_err ignored;
    if (!in->tools || !memmem(in->bytes, in->n, "/Outlines", 9)) {
        /* It may stand in a compressed object, as PDF 1.5 has them. */
        if (!in->tools || !memmem(in->bytes, in->n, "/ObjStm", 7)) return;
    }
    if (in->tools->start(in->tools->ctx, TOOL_OUTLINE, 1, NULL, 0, &from, &ignored)) return;
    pdf_layout_mark_outline(p, b, &from);
    from.end(from.ctx);
}

/* ---- letters in images --------------------------------------------------------------------------- */

static int by_page(const void *a, const void *b) {
    const pdf_line *x = a, *y = b;
    if (x->page != y->page) return x->page < y->page ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

/* The pages without text are recognised, or all of them. */
static int recognise(builder *b, const extract_input *in, pdf_layout *p, fo_err *err) {
    if (in->ocr == EXTRACT_OCR_FORCE) p->n_lines = 0;
    size_t was = p->n_lines, at = 0;
    int rc = FO_OK;
    for (uint32_t page = 1; !rc && page <= p->n_pages && builder_go_on(b, 1024); page++) {
        bool has_text = false;
        for (; at < was && p->lines[at].page <= page; at++)
            has_text |= p->lines[at].page == page && p->lines[at].n;
        builder_page_read(b);
        if (has_text) continue;
        extract_stream from;
        rc = in->tools->start(in->tools->ctx, TOOL_OCR, page, NULL, 0, &from, err);
        if (rc) break;
        pdf_layout_read_ocr(p, b, &from, page, POINTS_OF_A_DOT);
        int status = from.end(from.ctx);
        if (status && !b->failure) rc = extract_ocr_refuse(status, page, err);
    }
    if (!rc && p->n_lines > was) qsort(p->lines, p->n_lines, sizeof *p->lines, by_page);
    return rc;
}

/* ---- all of it ----------------------------------------------------------------------------------- */

/* An image is a stream, whose dictionary lies in no compressed object. */
static bool has_images(const extract_input *in) {
    return memmem(in->bytes, in->n, "/Subtype/Image", 14) ||
           memmem(in->bytes, in->n, "/Subtype /Image", 15);
}

void extract_layout(builder *b, const extract_input *in, pdf_layout *p) {
    if (!b->failure) pdf_layout_mark_running(p, b);
    /* What is stamped on each page of a scan is not its text. */
    if (!b->failure && !has_images(in)) (void)pdf_layout_keep_what_repeats(p);
    if (!b->failure) pdf_layout_order_columns(p, b);
    if (!b->failure) mark_outline(b, in, p);
    if (b->failure) return;
    table_writer tables = {0};
    set_title(b, p);
    write_blocks(b, p, &tables);
    if (tables.rows) table_rows_free(tables.rows);
    free(tables.rows);
    fo_buf_free(&tables.cell);
    fo_buf_free(&tables.head);
}

int extract_pdf(builder *b, extract_input *in, fo_err *err) {
    if (!in->program) return fo_fail(err, FO_EUNSUPPORTED, "a PDF is read by pdftotext alone");
    pdf_layout p;
    pdf_layout_read(&p, b, in->program, in->ocr && in->tools);
    int status = in->program->end(in->program->ctx);
    int rc = FO_OK;
    if (!b->failure && (status || !p.ended)) rc = refuse(in, &p, status, err);
    if (!rc && !b->failure && !p.n_pages) rc = fo_fail(err, FO_EINVAL, "it has no pages");
    if (!rc && !b->failure && in->ocr && in->tools) rc = recognise(b, in, &p, err);
    if (!rc && !b->failure && !p.text.len)
        rc =
            fo_fail(err, FO_EUNSUPPORTED, "its %u page%s no text, images alone: it was scanned; %s",
                    p.n_pages, p.n_pages == 1 ? " holds" : "s hold",
                    in->ocr ? "tesseract recognises no letters in them"
                            : "with --ocr auto (\"ocr\": \"auto\") its letters are recognised");
    if (!rc) extract_layout(b, in, &p);
    pdf_layout_free(&p, b);
    return rc;
}
