#include "data/extract/markup.h"

#include <stdlib.h>
#include <string.h>

bool markup_next(markup *m, text_line *l) {
    return text_lines_next(&m->in, l) && builder_go_on(m->b, l->n + 1);
}

static void stand_here(markup *m) {
    builder_set_place(m->b, &(text_place){.line = m->in.number ? m->in.number : 1});
}

static void strip(markup *m, const char *s, size_t n) {
    fo_buf_clear(&m->clean);
    m->strip(m, s, n, &m->clean);
    if (m->clean.failed || m->words.failed) m->b->failure = FO_ENOMEM;
    if (!m->clean.data) fo_buf_str(&m->clean, "");
}

void markup_close(markup *m) {
    markup_code_end(m);
    if (m->table) table_spans_end(m->table); /* a row of names may wait for a second */
    if (!m->open) return;
    m->open = false;
    strip(m, m->words.data ? m->words.data : "", m->words.len);
    if (!m->b->failure) builder_add_flowing(m->b, m->clean.data, m->clean.len);
    builder_end(m->b);
    fo_buf_clear(&m->words);
}

void markup_open(markup *m, uint8_t kind, uint8_t level) {
    markup_close(m);
    stand_here(m);
    builder_begin(m->b, kind, level);
    m->open = true;
    fo_buf_clear(&m->words);
}

void markup_words(markup *m, const char *s, size_t n) {
    if (!m->open) markup_open(m, TEXT_PARAGRAPH, 0);
    if (m->words.len) fo_buf_char(&m->words, ' ');
    fo_buf_add(&m->words, s, n);
}

void markup_heading(markup *m, uint8_t level, const char *s, size_t n) {
    markup_open(m, TEXT_HEADING, level < 1 ? 1 : level > 6 ? 6 : level);
    markup_words(m, s, n);
    markup_close(m);
    if (m->clean.data) builder_title_heading(m->b, level, m->clean.data, m->clean.len);
}

void markup_item(markup *m, const char *mark, size_t n_mark, const char *s, size_t n) {
    markup_open(m, TEXT_LIST_ITEM, 0);
    builder_add(m->b, mark, n_mark);
    builder_add(m->b, " ", 1);
    markup_words(m, s, n);
}

void markup_code(markup *m, const text_line *l) {
    if (!m->in_code) {
        if (!l->n) return;
        markup_close(m);
        stand_here(m);
        builder_begin(m->b, TEXT_CODE, 0);
        m->code_indent = l->blanks;
        m->in_code = true;
    } else {
        builder_add(m->b, "\n", 1);
    }
    size_t cut = l->blanks < m->code_indent ? l->blanks : m->code_indent;
    builder_add(m->b, l->s + cut, l->n - cut);
}

void markup_code_end(markup *m) {
    if (m->in_code) builder_end(m->b);
    m->in_code = false;
}

void markup_table(markup *m) {
    markup_close(m);
    if (!m->table) m->table = calloc(1, sizeof *m->table);
    if (!m->table)
        m->b->failure = FO_ENOMEM;
    else
        table_spans_begin(m->table, m->b, false);
}

void markup_cell(markup *m, uint32_t column, const char *s, size_t n) {
    markup_cell_over(m, column, 1, 1, s, n);
}

void markup_cell_over(markup *m, uint32_t column, uint32_t width, uint32_t height, const char *s,
                      size_t n) {
    if (!m->table) return;
    strip(m, s, n);
    table_spans_cell(m->table, column, width, height, m->clean.data, m->clean.len);
}

bool markup_covered(markup *m, uint32_t column) {
    if (!m->table || column >= m->table->n_below || !m->table->below[column].rows) return false;
    table_spans_covered(m->table, column, 1);
    return true;
}

void markup_row_end(markup *m, bool header) {
    if (!m->table) return;
    uint32_t line = m->row_line ? m->row_line : m->in.number;
    table_spans_end_row(m->table, &(text_place){.line = line}, 0, header);
    table_spans_row(m->table);
    m->row_line = 0;
}

void markup_end(markup *m) {
    markup_close(m);
    if (m->table) table_spans_free(m->table);
    free(m->table);
    m->table = NULL;
    fo_buf_free(&m->words);
    fo_buf_free(&m->clean);
}
