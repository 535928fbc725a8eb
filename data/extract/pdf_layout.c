/* pdftotext's output is XHTML in form, but words may hold what XML does not allow, and it is long:
 * 100 bytes a word. So it is gone through tag by tag as it comes, and what no word, line, block or page
 * is made of is passed over. */
#include "data/extract/pdf_layout.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/extract/encoding.h"
#include "data/extract/pdf_scan.h"
#include "kernels/utf8.h"

enum { MAX_PAGES = 1 << 20 };

static void read_box(const char *tag, size_t n, float box[4]) {
    static const char *const names[] = {"xMin", "yMin", "xMax", "yMax"};
    for (int i = 0; i < 4; i++) box[i] = pdf_scan_number(tag, n, names[i]);
}

/* ---- words --------------------------------------------------------------------------------------- */

/* &amp; and the like. Returns the bytes it takes, 0 where it is none. */
static size_t read_entity(const char *s, size_t n, int32_t *cp) {
    static const struct {
        const char *name;
        int32_t cp;
    } known[] = {{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        size_t k = strlen(known[i].name);
        if (n < k || memcmp(s, known[i].name, k) != 0) continue;
        *cp = known[i].cp;
        return k;
    }
    if (n < 4 || s[0] != '&' || s[1] != '#') return 0;
    bool hex = s[2] == 'x';
    char digits[12] = "";
    size_t at = hex ? 3 : 2, k = 0;
    while (at < n && k < sizeof digits - 1 && s[at] != ';') digits[k++] = s[at++];
    if (at == n || s[at] != ';') return 0;
    long v = strtol(digits, NULL, hex ? 16 : 10);
    *cp = v > 0 && v < 0x110000 && (v < 0xD800 || v > 0xDFFF) ? (int32_t)v : 0xFFFD;
    return at + 1;
}

/* Letters that fonts have as one: what is sought is the letters. */
static const char *ligature(int32_t cp) {
    static const char *const letters[] = {"ff", "fi", "fl", "ffi", "ffl", "st", "st"};
    return cp >= 0xFB00 && cp <= 0xFB06 ? letters[cp - 0xFB00] : NULL;
}

void pdf_layout_add_xml(fo_buf *out, const char *s, size_t n, size_t *n_replaced) {
    fo_buf plain = {0};
    for (size_t at = 0; at < n;) {
        int32_t cp = 0;
        size_t k = s[at] == '&' ? read_entity(s + at, n - at, &cp) : 0;
        if (!k) {
            k = fo_utf8_decode(s + at, n - at, &cp);
            const char *letters = ligature(cp);
            if (letters)
                fo_buf_str(&plain, letters);
            else
                fo_buf_add(&plain, s + at, k);
        } else {
            char one[4];
            fo_buf_add(&plain, one, fo_utf8_encode(cp, one));
        }
        at += k;
    }
    for (size_t i = 0; i < plain.len; i++)
        if (plain.data[i] == '\n' || plain.data[i] == '\r') plain.data[i] = ' ';
    if (plain.failed) out->failed = true;
    if (plain.len) encoding_clean(out, plain.data, plain.len, n_replaced);
    fo_buf_free(&plain);
}

/* ---- pages, blocks, lines ------------------------------------------------------------------------ */

bool pdf_layout_grow(builder *b, void **array, size_t n, size_t *cap, size_t size) {
    if (n < *cap) return true;
    size_t more = *cap ? *cap * 2 : 256;
    if (!doc_budget_take(b->budget, (more - *cap) * size)) {
        b->failure = b->budget->failure;
        return false;
    }
    void *grown = realloc(*array, more * size);
    if (!grown) {
        b->failure = FO_ENOMEM;
        return false;
    }
    *array = grown;
    *cap = more;
    return true;
}

static bool begin_page(pdf_layout *p, builder *b, const char *tag, size_t n) {
    if (p->n_pages >= MAX_PAGES) b->failure = FO_ELIMIT;
    if (b->failure ||
        !pdf_layout_grow(b, (void **)&p->heights, p->n_pages, &p->cap_pages, sizeof *p->heights))
        return false;
    p->heights[p->n_pages++] = pdf_scan_number(tag, n, "height");
    if (!p->recognised_later) builder_page_read(b);
    return true;
}

static bool begin_line(pdf_layout *p, builder *b, const char *tag, size_t n) {
    if (!p->n_pages || !p->n_blocks ||
        !pdf_layout_grow(b, (void **)&p->lines, p->n_lines, &p->cap_lines, sizeof *p->lines))
        return false;
    pdf_line *l = &p->lines[p->n_lines++];
    *l =
        (pdf_line){.at = p->text.len, .word = p->n_words, .page = p->n_pages, .block = p->n_blocks};
    read_box(tag, n, l->box);
    return true;
}

/* Capitals that are set up or down without a gap, as in a logo (TeX's), are one word with those before. */
static bool is_one_word(const pdf_layout *p, const pdf_line *l, const char *s, const float box[4]) {
    if (!l->n_words || !(s[0] >= 'A' && s[0] <= 'Z')) return false;
    char last = p->text.data[p->text.len - 1];
    return last >= 'A' && last <= 'Z' && box[0] - p->words[p->n_words - 1].x1 < .5f;
}

void pdf_layout_add_word(pdf_layout *p, builder *b, const char *s, size_t n, const float box[4]) {
    if (!p->n_lines || !n || b->failure) return;
    pdf_line *l = &p->lines[p->n_lines - 1];
    size_t before = p->text.len;
    if (p->text.len > l->at && !is_one_word(p, l, s, box)) fo_buf_char(&p->text, ' ');
    size_t at = p->text.len;
    fo_buf_add(&p->text, s, n);
    if (p->text.failed) b->failure = FO_ENOMEM;
    if (p->text.len > b->max_bytes) b->failure = FO_ELIMIT;
    if (!b->failure && !doc_budget_take(b->budget, p->text.len - before))
        b->failure = b->budget->failure;
    l->n = p->text.len - l->at;
    if (!pdf_layout_grow(b, (void **)&p->words, p->n_words, &p->cap_words, sizeof *p->words))
        return;
    p->words[p->n_words++] = (pdf_word){at, box[0], box[2]};
    l->n_words = p->n_words - l->word;
}

static void take_word(pdf_layout *p, builder *b, const char *s, size_t n, const float box[4]) {
    fo_buf word = {0};
    pdf_layout_add_xml(&word, s, n, &b->n_replaced);
    if (word.failed) b->failure = FO_ENOMEM;
    pdf_layout_add_word(p, b, word.data ? word.data : "", word.len, box);
    fo_buf_free(&word);
}

void pdf_layout_read(pdf_layout *out, builder *b, const extract_stream *from,
                     bool recognised_later) {
    *out = (pdf_layout){.recognised_later = recognised_later};
    pdf_scanner s;
    pdf_scan_begin(&s, b, from);
    const char *tag;
    size_t n;
    bool in_line = false;
    while (!b->failure && pdf_scan_until(&s, '<', &n) && (tag = pdf_scan_until(&s, '>', &n))) {
        if (pdf_scan_is(tag, n, "word")) {
            float box[4];
            read_box(tag, n, box);
            const char *word = in_line ? pdf_scan_until(&s, '<', &n) : NULL;
            if (word) take_word(out, b, word, n, box);
            if (!word || !pdf_scan_until(&s, '>', &n)) continue;
        } else if (pdf_scan_is(tag, n, "line")) {
            in_line = begin_line(out, b, tag, n);
        } else if (pdf_scan_is(tag, n, "block")) {
            if (out->n_blocks < UINT32_MAX) out->n_blocks++;
            in_line = false;
        } else if (pdf_scan_is(tag, n, "page")) {
            if (!begin_page(out, b, tag, n)) break;
            in_line = false;
        } else if (pdf_scan_is(tag, n, "title") && !out->n_pages) {
            const char *title = pdf_scan_until(&s, '<', &n);
            if (title && n < 4096) pdf_layout_add_xml(&out->title, title, n, &b->n_replaced);
            if (!pdf_scan_until(&s, '>', &n)) break;
        } else if (pdf_scan_is(tag, n, "/doc")) {
            out->ended = true;
        }
    }
    pdf_scan_end(&s);
}

void pdf_layout_free(pdf_layout *p, builder *b) {
    doc_budget_give(b->budget,
                    p->text.len + p->cap_lines * sizeof *p->lines +
                        p->cap_words * sizeof *p->words + p->cap_tables * sizeof *p->tables +
                        p->cap_pieces * sizeof *p->pieces + p->cap_pages * sizeof *p->heights);
    fo_buf_free(&p->text);
    fo_buf_free(&p->title);
    free(p->lines);
    free(p->words);
    free(p->tables);
    free(p->pieces);
    free(p->heights);
    *p = (pdf_layout){0};
}

/* ---- running heads ------------------------------------------------------------------------------- */

/* Of a page's height, at its top and at its foot. */
static const float BAND = 0.17f;
enum { AT_EDGE = 3 };      /* the outermost lines of a page that may be running ones */
enum { CELLS_OF_ROW = 4 }; /* lines at one height: more than a head has, left, middle and right */

typedef struct edge_line {   /* a line that may be a running one */
    uint64_t key;            /* of its text without numbers, and of which edge it stands at */
    uint64_t exact;          /* of its text with them */
    size_t line, first, end; /* first, end: the lines of its page */
    uint32_t page;
    bool foot, numbers_only;
    bool words_and_numbers;
} edge_line;

static bool is_roman(const char *s, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (!strchr("ivxlcIVXLC", s[i])) return false;
    return n > 0 && n < 8;
}

/* FNV-1a of the text, with each number as one sign in its key. numbers_only: "12", "- 12 -", "xii", "Page 3 of 9". */
static void read_text(edge_line *e, const char *s, size_t n) {
    const uint64_t prime = 0x100000001b3u;
    uint64_t h = e->foot ? 0xcbf29ce484222325u : 0x84222325cbf29ce4u, exact = h;
    size_t letters = 0, numbers = 0;
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)s[i];
        if (c >= '0' && c <= '9') {
            for (; i + 1 < n && s[i + 1] >= '0' && s[i + 1] <= '9'; i++)
                exact = (exact ^ (unsigned char)s[i]) * prime;
            exact = (exact ^ (unsigned char)s[i]) * prime;
            c = '#';
            numbers++;
        } else if (c == ' ') {
            continue;
        } else if ((c | 32) >= 'a' && (c | 32) <= 'z') {
            c |= 32;
            letters++;
        } else if (c >= 0x80) {
            letters++;
        }
        h = (h ^ c) * prime;
        exact = (exact ^ c) * prime;
    }
    bool roman = is_roman(s, n);
    bool paged = n > 4 && strncasecmp(s, "page", 4) == 0 && letters <= 6;
    e->key = !roman ? h : e->foot ? 1 : 2;
    e->exact = exact;
    e->numbers_only = roman || (numbers && !letters) || (numbers && paged);
    e->words_and_numbers = numbers && !e->numbers_only;
}

static int by_key_and_page(const void *a, const void *b) {
    const edge_line *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return (x->page > y->page) - (x->page < y->page);
}

/* How many lines of the page stand further out than l (above it, or below). */
static int lines_beyond(const pdf_layout *p, size_t first, size_t end, const pdf_line *l,
                        bool foot) {
    int n = 0;
    for (size_t i = first; i < end && n < AT_EDGE; i++) {
        const pdf_line *o = &p->lines[i];
        n += foot ? o->box[1] >= l->box[3] - 1 : o->box[3] <= l->box[1] + 1;
    }
    return n;
}

static bool at_one_height(const pdf_line *a, const pdf_line *b) {
    float middle = (b->box[1] + b->box[3]) / 2;
    return middle > a->box[1] && middle < a->box[3];
}

/* pdftotext gives each cell of a table as a line. Names of columns repeat on each of its pages as heads do, and figures
 * differ as page numbers do. */
static bool is_in_row(const pdf_layout *p, size_t first, size_t end, const pdf_line *l) {
    int n = 0;
    for (size_t i = first; i < end && n < CELLS_OF_ROW; i++) n += at_one_height(l, &p->lines[i]);
    return n >= CELLS_OF_ROW;
}

/* The first number of what has numbers alone; -1: letters stand with it ("Page 3", "xii"). */
static long number_in(const pdf_layout *p, const pdf_line *l) {
    const char *s = p->text.data + l->at;
    long v = -1;
    for (size_t i = 0; i < l->n; i++) {
        if ((s[i] | 32) >= 'a' && (s[i] | 32) <= 'z') return -1;
        if (s[i] < '0' || s[i] > '9' || v >= 0) continue;
        for (v = 0; i < l->n && s[i] >= '0' && s[i] <= '9' && v < MAX_PAGES; i++)
            v = v * 10 + (s[i] - '0');
    }
    return v;
}

enum { NEAR = 8 }; /* lines of a group that are looked at before one, and behind it */

/* Does it grow by one with each page, as far as the lines like it that stand next in the list say? */
static bool counts_pages(const pdf_layout *p, const edge_line *edges, size_t n, size_t i) {
    const edge_line *e = &edges[i];
    long first = number_in(p, &p->lines[e->line]) - (long)e->page;
    for (size_t k = i > NEAR ? i - NEAR : 0; k < n && k <= i + NEAR; k++)
        if (edges[k].page != e->page &&
            number_in(p, &p->lines[edges[k].line]) - (long)edges[k].page == first)
            return true;
    return false;
}

/* The next number from s[*at] on; -1: there is none. */
static long next_number(const char *s, size_t n, size_t *at) {
    while (*at < n && (s[*at] < '0' || s[*at] > '9')) ++*at;
    if (*at >= n) return -1;
    long v = 0;
    for (; *at < n && s[*at] >= '0' && s[*at] <= '9'; ++*at)
        if (v < MAX_PAGES) v = v * 10 + (s[*at] - '0');
    return v;
}

/* Of two lines of the same words on different pages: does one of their numbers grow as the pages do? */
static bool grows_with_pages(const pdf_layout *p, const edge_line *a, const edge_line *b) {
    const pdf_line *l = &p->lines[a->line], *o = &p->lines[b->line];
    const long pages = (long)b->page - (long)a->page;
    for (size_t at = 0, other = 0;;) {
        const long x = next_number(p->text.data + l->at, l->n, &at),
                   y = next_number(p->text.data + o->at, o->n, &other);
        if (x < 0 || y < 0) return false;
        if (y - x == pages && x < MAX_PAGES && y < MAX_PAGES) return true;
    }
}

/* "The fen 12", "The fen 13": one of its numbers counts the pages, by the line like it on the page before, or behind. */
static bool has_page_number(const pdf_layout *p, const edge_line *edges, size_t n, size_t i) {
    const edge_line *e = &edges[i];
    for (int back = 0; back < 2; back++) {
        uint32_t next = e->page;
        for (size_t step = 1; step <= NEAR && (back ? step <= i : step < n - i); step++) {
            const edge_line *o = &edges[back ? i - step : i + step];
            if (o->page != next && next != e->page) break;
            next = o->page;
            if (next != e->page && grows_with_pages(p, e, o)) return true;
        }
    }
    return false;
}

/* Words with numbers that differ: "Total due: 120.00" is the page's own where the next says another amount. A head has the number
 * of the page, or is that of a chapter, "Chapter 3", on a few of them. */
static bool is_head(const pdf_layout *p, const edge_line *edges, size_t n, size_t i) {
    enum { CHAPTER = 3 };
    int pages = 0;
    uint32_t last = 0;
    for (size_t k = i > NEAR ? i - NEAR : 0; k < n && k <= i + NEAR; k++) {
        if (edges[k].exact != edges[i].exact || edges[k].page == last) continue;
        last = edges[k].page;
        pages++;
    }
    return pages >= CHAPTER || has_page_number(p, edges, n, i);
}

/* Of a narrower table: what has numbers alone stands beside what does not run, or beside more of its kind. */
static bool is_figure(const pdf_layout *p, const edge_line *e) {
    for (size_t i = e->first; i < e->end; i++) {
        const pdf_line *o = &p->lines[i];
        edge_line other = {.foot = e->foot};
        if (i == e->line || !o->n || !at_one_height(&p->lines[e->line], o)) continue;
        read_text(&other, p->text.data + o->at, o->n);
        if (other.numbers_only ? other.key == e->key : !o->is_running) return true;
    }
    return false;
}

static size_t find_edges(const pdf_layout *p, builder *b, edge_line *edges) {
    size_t n = 0;
    for (size_t first = 0, end; first < p->n_lines; first = end) {
        uint32_t page = p->lines[first].page;
        for (end = first; end < p->n_lines && p->lines[end].page == page;) end++;
        float height = p->heights[page - 1];
        for (size_t i = first; i < end && builder_go_on(b, 0); i++) {
            const pdf_line *l = &p->lines[i];
            bool head = l->box[3]<height * BAND, foot = l->box[1]> height * (1 - BAND);
            if (!(head || foot) || l->n > 200 || lines_beyond(p, first, end, l, foot) >= AT_EDGE ||
                is_in_row(p, first, end, l))
                continue;
            edge_line *e = &edges[n++];
            *e = (edge_line){.line = i, .first = first, .end = end, .page = page, .foot = foot};
            read_text(e, p->text.data + l->at, l->n);
        }
    }
    return n;
}

/* Lines of the same words. What says them in larger letters than the others is the title that they repeat. */
static void mark_group(pdf_layout *p, builder *b, const edge_line *edges, size_t n) {
    const float larger = 1.3f;
    float least = 1e9f;
    bool differ = false;
    for (size_t i = 0; i < n; i++) {
        const float *box = p->lines[edges[i].line].box;
        if (box[3] - box[1] < least) least = box[3] - box[1];
        differ |= edges[i].exact != edges[0].exact;
    }
    for (size_t i = 0; i < n && builder_go_on(b, 0); i++) {
        pdf_line *l = &p->lines[edges[i].line];
        bool runs = l->box[3] - l->box[1] <= larger * least;
        if (runs && edges[i].numbers_only && number_in(p, l) >= 0)
            runs = !is_figure(p, &edges[i]) || counts_pages(p, edges, n, i);
        else if (runs && differ && edges[i].words_and_numbers)
            runs = is_head(p, edges, n, i);
        l->is_running = l->is_running || runs;
    }
}

/* Those of numbers alone, or the others. */
static void mark_groups(pdf_layout *p, builder *b, const edge_line *edges, size_t n,
                        bool numbers_only) {
    size_t often = p->n_pages < 5 ? 2 : 3; /* first pages often have none */
    for (size_t i = 0, k; i < n; i = k) {
        size_t pages = 1;
        for (k = i + 1; k < n && edges[k].key == edges[i].key; k++)
            pages += edges[k].page != edges[k - 1].page;
        if (edges[i].numbers_only == numbers_only && pages >= (numbers_only ? 2 : often))
            mark_group(p, b, edges + i, k - i);
    }
}

void pdf_layout_mark_running(pdf_layout *p, builder *b) {
    size_t bytes = (p->n_lines + 1) * sizeof(edge_line);
    if (!p->n_lines || p->n_pages < 2) return;
    edge_line *edges = doc_budget_take(b->budget, bytes) ? malloc(bytes) : NULL;
    if (!edges) {
        b->failure = b->budget && b->budget->failure ? b->budget->failure : FO_ENOMEM;
        return;
    }
    size_t n = find_edges(p, b, edges);
    qsort(edges, n, sizeof *edges, by_key_and_page);
    mark_groups(p, b, edges, n, false);
    mark_groups(p, b, edges, n, true); /* beside which of the others do they stand? */
    free(edges);
    doc_budget_give(b->budget, bytes);
}

bool pdf_layout_keep_what_repeats(pdf_layout *p) {
    uint32_t page = 0;
    for (size_t i = 0; i < p->n_lines; i++)
        if (p->lines[i].n && !p->lines[i].is_running) return false;
    for (size_t i = 0; i < p->n_lines; i++) {
        pdf_line *l = &p->lines[i];
        if (!l->n || number_in(p, l) >= 0 || (page && l->page != page)) continue;
        l->is_running = false;
        page = l->page;
    }
    return page > 0;
}
