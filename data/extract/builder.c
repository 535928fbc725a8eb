/* See builder.h. */
#include "data/extract/builder.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/utf8.h"

/* A string that places point to. */
struct place_name {
    struct place_name *next;
    char s[];
};

static void fail(builder *b, int code) {
    if (b->failure == FO_OK) b->failure = code;
}

/* Room for one more element, counted by the budget: the array itself, or NULL. */
static void *grow(builder *b, void *array, size_t n, size_t *cap, size_t size) {
    if (b->failure || !doc_budget_take(b->budget, size)) {
        fail(b, b->budget ? b->budget->failure : FO_ENOMEM);
        return NULL;
    }
    if (n < *cap) return array;
    size_t more = *cap ? *cap * 2 : 32, bytes;
    void *grown = fo_mul_size(more, size, &bytes) ? realloc(array, bytes) : NULL;
    if (!grown) {
        fail(b, FO_ENOMEM);
        return NULL;
    }
    *cap = more;
    return grown;
}

static void add_block(builder *b, text_block block) {
    text_block *blocks = grow(b, b->blocks, b->n_blocks, &b->cap_blocks, sizeof *blocks);
    if (!blocks) return;
    b->blocks = blocks;
    b->blocks[b->n_blocks++] = block;
}

void builder_mark(builder *b, size_t start, size_t end, uint8_t kind, uint8_t level) {
    add_block(b, (text_block){start, end, b->place, 0, kind, level, 0});
}

void builder_name(builder *b, size_t at, size_t n) {
    if (!b->n_blocks || n > UINT8_MAX || at > UINT32_MAX) return;
    b->blocks[b->n_blocks - 1].name = (uint32_t)at;
    b->blocks[b->n_blocks - 1].n_name = (uint8_t)n;
}

void builder_begin(builder *b, uint8_t kind, uint8_t level) {
    builder_end(b);
    uint8_t last = b->n_blocks ? b->blocks[b->n_blocks - 1].kind : TEXT_PARAGRAPH;
    bool close = last == kind && (kind == TEXT_LIST_ITEM || kind == TEXT_TABLE_ROW);
    builder_go_on_with(b, kind, level, close ? "\n" : "\n\n");
}

void builder_go_on_with(builder *b, uint8_t kind, uint8_t level, const char *space) {
    builder_end(b);
    if (b->n_blocks) {
        if (doc_budget_take(b->budget, strlen(space))) fo_buf_str(&b->text, space);
    }
    b->start = b->text.len;
    b->block_place = b->place;
    b->kind = kind;
    b->level = level;
    b->open = true;
    b->inked = b->parted = false;
    b->cells = b->lead = b->bars = 0;
}

static void cut(builder *b, size_t len) {
    if (!b->text.data) return;
    doc_budget_give(b->budget, b->text.len - len);
    b->text.len = len;
    b->text.data[len] = 0;
}

/* Bars before a row whose first cells are empty. */
static void write_lead(builder *b) {
    const size_t n = 2 * ((size_t)b->lead + 1), end = b->text.len;
    if (!doc_budget_take(b->budget, n)) {
        fail(b, b->budget->failure);
        return;
    }
    for (size_t i = 0; i < n; i++) fo_buf_char(&b->text, ' ');
    if (b->text.failed) return;
    memmove(b->text.data + b->start + n, b->text.data + b->start, end - b->start);
    for (size_t i = 0; i < n; i += 2) memcpy(b->text.data + b->start + i, "| ", 2);
}

void builder_end(builder *b) {
    if (!b->open) return;
    if (b->parted && b->lead && !b->failure) write_lead(b);
    b->open = false;
    size_t start = b->start, end = b->text.len;
    while (end > start && fo_is_blank(b->text.data[end - 1])) end--;
    if (b->kind == TEXT_CODE) /* indentation of the first line counts, empty lines do not */
        for (size_t i = start; i < end && fo_is_blank(b->text.data[i]); i++)
            if (b->text.data[i] == '\n') start = i + 1;
    if (end > start) {
        cut(b, end);
        add_block(b, (text_block){start, end, b->block_place, 0, b->kind, b->level, 0});
        return;
    }
    size_t len = b->n_blocks ? b->blocks[b->n_blocks - 1].end : 0;
    cut(b, len);
}

static const char *keep_name(builder *b, const char *s, const char *last) {
    if (!s) return NULL;
    if (last && strcmp(s, last) == 0) return last;
    size_t n = strlen(s) + 1;
    struct place_name *name = malloc(sizeof *name + n);
    if (!name || !doc_budget_take(b->budget, sizeof *name + n)) {
        free(name);
        fail(b, b->budget && b->budget->failure ? b->budget->failure : FO_ENOMEM);
        return NULL;
    }
    memcpy(name->s, s, n);
    name->next = b->place_names;
    b->place_names = name;
    return name->s;
}

void builder_set_place(builder *b, const text_place *p) {
    b->place = 0;
    if (!p || b->failure) return;
    text_place *places = grow(b, b->places, b->n_places, &b->cap_places, sizeof *places);
    if (!places) return;
    b->places = places;
    const text_place *last = b->n_places ? &places[b->n_places - 1] : &(text_place){0};
    text_place kept = *p;
    kept.sheet = keep_name(b, p->sheet, last->sheet);
    kept.range = keep_name(b, p->range, last->range);
    if (b->failure) return;
    places[b->n_places++] = kept;
    b->place = (uint32_t)b->n_places;
}

bool builder_go_on(builder *b, size_t bytes) {
    if (b->failure) return false;
    if (!doc_budget_go_on(b->budget, bytes)) b->failure = b->budget->failure;
    return b->failure == FO_OK;
}

/* May n bytes of text be added? */
static bool room(builder *b, size_t n) {
    if (b->failure) return false;
    if (n > b->max_bytes || b->text.len > b->max_bytes - n) b->failure = FO_ELIMIT;
    if (b->text.failed || b->title.failed) b->failure = FO_ENOMEM;
    return b->failure == FO_OK;
}

static void append(builder *b, const char *s, size_t n) {
    if (!room(b, n)) return;
    if (!doc_budget_take(b->budget, n)) {
        b->failure = b->budget->failure;
        return;
    }
    fo_buf_add(&b->text, s, n);
}

/* What parts a cell that has text from the last one that had some. */
static void write_bars(builder *b) {
    size_t end = b->text.len;
    while (end > b->start && fo_is_blank(b->text.data[end - 1])) end--;
    cut(b, end);
    for (; b->bars && !b->failure; b->bars--) append(b, " | ", 3);
    b->bars = 0;
    b->parted = true;
}

void builder_add(builder *b, const char *s, size_t n) {
    if (!b->open) builder_begin(b, TEXT_PARAGRAPH, 0);
    bool ink = false;
    for (size_t i = 0; (!b->inked || b->bars) && !ink && i < n; i++) ink = !fo_is_blank(s[i]);
    if (b->bars && ink) write_bars(b);
    b->inked |= ink;
    append(b, s, n);
}

void builder_extend(builder *b, const char *s) {
    if (b->open || !b->n_blocks || b->text.len != b->blocks[b->n_blocks - 1].end) return;
    append(b, s, strlen(s));
    if (!b->failure) b->blocks[b->n_blocks - 1].end = b->text.len;
}

void builder_cell(builder *b) {
    if (!b->open || !b->cells++) return;
    if (b->inked)
        b->bars++;
    else
        b->lead++;
}

void builder_str(builder *b, const char *s) {
    builder_add(b, s, strlen(s));
}

bool builder_block_empty(const builder *b) {
    return !b->open || !b->inked;
}

void builder_add_flowing(builder *b, const char *s, size_t n) {
    if (!room(b, n)) return;
    size_t at = 0;
    while (at < n) {
        size_t word = at;
        while (at < n && !fo_is_blank(s[at])) at++;
        if (at > word) builder_add(b, s + word, at - word);
        if (at == n) return;
        while (at < n && fo_is_blank(s[at])) at++;
        if (b->open && b->text.len > b->start && !fo_is_blank(b->text.data[b->text.len - 1]))
            builder_add(b, " ", 1);
    }
}

void builder_add_cp(builder *b, int32_t cp) {
    if (cp == '\n' || cp == '\t' || cp == '\r') {
        builder_add(b, " ", 1);
        return;
    }
    if (cp < 0x20 || (cp >= 0x7F && cp < 0xA0) || (cp >= 0xD800 && cp < 0xE000) || cp > 0x10FFFF)
        return;
    char s[4];
    builder_add(b, s, fo_utf8_encode(cp, s));
}

void builder_set_title(builder *b, const char *s, size_t n) {
    while (n && fo_is_blank(*s)) s++, n--;
    while (n && fo_is_blank(s[n - 1])) n--;
    if (b->title.len || !n) return;
    b->title_level = 0;
    n = fo_utf8_cut(s, n, BUILDER_TITLE_BYTES);
    for (size_t i = 0; i < n; i++) {
        bool space = fo_is_blank(s[i]);
        if (space && i + 1 < n && fo_is_blank(s[i + 1])) continue;
        fo_buf_char(&b->title, space ? ' ' : s[i]);
    }
}

/* What may stand above a title: no rows, and no more than so many bytes and blocks. */
enum { ABOVE_BYTES = 160, ABOVE_BLOCKS = 64 };

static bool ends_sentence(const char *s, size_t n) {
    while (n && strchr("\"')]*_", s[n - 1])) n--;
    return n && (strchr(".!?:;", s[n - 1]) || (n > 3 && !memcmp(s + n - 3, "\xE3\x80\x82", 3)));
}

bool builder_may_title(const builder *b, uint8_t level) {
    size_t bytes = 0;
    if (b->title.len && level >= b->title_level) return false;
    if (b->n_blocks > ABOVE_BLOCKS) return false;
    for (size_t i = b->n_ahead; i < b->n_blocks; i++) {
        const text_block *k = &b->blocks[i];
        if (k->kind == TEXT_HEADING) continue;
        bytes += k->end - k->start;
        if (k->kind == TEXT_TABLE_ROW || bytes > ABOVE_BYTES) return false;
        /* The first rank is the title's more often than that of a part: a remark may stand above it. */
        if (level > 1 && ends_sentence(b->text.data + k->start, k->end - k->start)) return false;
    }
    return true;
}

void builder_title_heading(builder *b, uint8_t level, const char *s, size_t n) {
    if (fo_only_blanks(s, n) || !builder_may_title(b, level)) return;
    fo_buf_clear(&b->title);
    builder_set_title(b, s, n);
    b->title_level = level;
}

void builder_adopt(builder *b, fo_buf *text) {
    if (text->len > b->max_bytes) {
        fail(b, FO_ELIMIT);
        return;
    }
    fo_buf_free(&b->text);
    b->text = *text;
    *text = (fo_buf){0};
}

void builder_rewind(builder *b, size_t n_blocks, size_t n_text) {
    doc_budget_give(b->budget, (b->n_blocks - n_blocks) * sizeof *b->blocks);
    b->n_blocks = n_blocks;
    b->open = false;
    cut(b, n_text);
}

void builder_free_names(struct place_name *names) {
    while (names) {
        struct place_name *next = names->next;
        free(names);
        names = next;
    }
}

void builder_free(builder *b) {
    fo_buf_free(&b->text);
    fo_buf_free(&b->title);
    fo_buf_free(&b->fields);
    free(b->blocks);
    free(b->places);
    builder_free_names(b->place_names);
    *b = (builder){0};
}
