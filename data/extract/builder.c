/* See builder.h. */
#include "data/extract/builder.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/utf8.h"

static bool is_space(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

void builder_mark(builder *b, size_t start, size_t end, uint8_t kind, uint8_t level) {
    if (b->n_blocks == b->cap_blocks) {
        size_t cap = b->cap_blocks ? b->cap_blocks * 2 : 32, bytes;
        text_block *grown =
            fo_mul_size(cap, sizeof *grown, &bytes) ? realloc(b->blocks, bytes) : NULL;
        if (!grown) {
            b->failure = FO_ENOMEM;
            return;
        }
        b->blocks = grown;
        b->cap_blocks = cap;
    }
    b->blocks[b->n_blocks++] = (text_block){start, end, kind, level};
}

void builder_begin(builder *b, uint8_t kind, uint8_t level) {
    builder_end(b);
    if (b->n_blocks) {
        uint8_t last = b->blocks[b->n_blocks - 1].kind;
        bool close = last == kind && (kind == TEXT_LIST_ITEM || kind == TEXT_TABLE_ROW);
        fo_buf_str(&b->text, close ? "\n" : "\n\n");
    }
    b->start = b->text.len;
    b->kind = kind;
    b->level = level;
    b->open = true;
}

static void cut(builder *b, size_t len) {
    if (!b->text.data) return;
    b->text.len = len;
    b->text.data[len] = 0;
}

void builder_end(builder *b) {
    if (!b->open) return;
    b->open = false;
    size_t start = b->start, end = b->text.len;
    while (end > start && is_space(b->text.data[end - 1])) end--;
    if (b->kind == TEXT_CODE) /* indentation of the first line counts, empty lines do not */
        for (size_t i = start; i < end && is_space(b->text.data[i]); i++)
            if (b->text.data[i] == '\n') start = i + 1;
    if (end > start) {
        cut(b, end);
        builder_mark(b, start, end, b->kind, b->level);
        return;
    }
    size_t len = b->n_blocks ? b->blocks[b->n_blocks - 1].end : 0;
    cut(b, len);
}

static bool room(builder *b, size_t n) {
    if (b->failure) return false;
    if (n > b->max_bytes || b->text.len > b->max_bytes - n) {
        b->failure = FO_ELIMIT;
        return false;
    }
    if (b->text.failed || b->title.failed) b->failure = FO_ENOMEM;
    return b->failure == FO_OK;
}

void builder_add(builder *b, const char *s, size_t n) {
    if (!room(b, n)) return;
    if (!b->open) builder_begin(b, TEXT_PARAGRAPH, 0);
    fo_buf_add(&b->text, s, n);
}

void builder_str(builder *b, const char *s) {
    builder_add(b, s, strlen(s));
}

bool builder_block_empty(const builder *b) {
    if (!b->open) return true;
    for (size_t i = b->start; i < b->text.len; i++)
        if (!is_space(b->text.data[i])) return false;
    return true;
}

void builder_add_flowing(builder *b, const char *s, size_t n) {
    if (!room(b, n)) return;
    size_t at = 0;
    while (at < n) {
        size_t word = at;
        while (at < n && !is_space(s[at])) at++;
        if (at > word) builder_add(b, s + word, at - word);
        if (at == n) return;
        while (at < n && is_space(s[at])) at++;
        if (b->open && b->text.len > b->start && !is_space(b->text.data[b->text.len - 1]))
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
    while (n && is_space(*s)) s++, n--;
    while (n && is_space(s[n - 1])) n--;
    if (b->title.len || !n) return;
    if (n > 1000) {
        n = 1000;
        while (n && !fo_utf8_boundary(s[n])) n--;
    }
    for (size_t i = 0; i < n; i++) {
        bool space = is_space(s[i]);
        if (space && i + 1 < n && is_space(s[i + 1])) continue;
        fo_buf_char(&b->title, space ? ' ' : s[i]);
    }
}

void builder_free(builder *b) {
    fo_buf_free(&b->text);
    fo_buf_free(&b->title);
    free(b->blocks);
    *b = (builder){0};
}
