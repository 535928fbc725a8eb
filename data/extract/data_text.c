#include "data/extract/data_text.h"

#include <string.h>

#include "kernels/utf8.h"

enum {
    LONG_VALUE = 240, /* bytes: a text of its own from here on */
    FULL_ROW = 900,   /* bytes: what comes then begins another one */
    FULL_LIST = 400,
    MAX_KEY = 200, /* bytes of a key that are kept */
};

static void stand(data_text *d, uint32_t line) {
    builder_set_place(d->b, &(text_place){.line = line ? line : 1});
}

static void write_row(data_text *d) {
    if (d->row.failed || d->path.failed || d->values.failed) d->b->failure = FO_ENOMEM;
    if (d->row.len) {
        stand(d, d->row_line);
        builder_go_on_with(d->b, TEXT_TABLE_ROW, 0, d->remarked ? "\n" : "\n\n");
        builder_add(d->b, d->row.data, d->row.len);
        builder_end(d->b);
        d->remarked = false;
    }
    fo_buf_clear(&d->row);
}

/* Part of the path with its keys parted by `between`. */
static void add_path(data_text *d, size_t from, size_t to, const char *between, fo_buf *out) {
    for (size_t i = from; i < to; i++) {
        if (d->path.data[i] != '\n')
            fo_buf_char(out, d->path.data[i]);
        else if (i + 1 < to)
            fo_buf_str(out, between);
    }
}

static void write_heading(data_text *d, size_t to, uint32_t line) {
    write_row(d);
    fo_buf name = {0};
    add_path(d, 0, to, " > ", &name);
    uint8_t level = 0;
    for (size_t i = 0; i < to; i++)
        level = (uint8_t)(level + (d->path.data[i] == '\n' && level < 6));
    if (name.failed) d->b->failure = FO_ENOMEM;
    if (name.len) {
        stand(d, line);
        d->remarked = false;
        builder_begin(d->b, TEXT_HEADING, level ? level : 1);
        builder_add_flowing(d->b, name.data, name.len);
        builder_end(d->b);
    }
    fo_buf_free(&name);
    d->elsewhere = false;
}

static void write_long(data_text *d, const char *key, size_t n_key, const char *s, size_t n,
                       uint32_t line) {
    write_row(d);
    stand(d, line);
    d->remarked = false;
    bool first = true;
    for (size_t at = 0; at < n;) {
        const char *stop = memmem(s + at, n - at, "\n\n", 2);
        size_t end = stop ? (size_t)(stop - s) : n;
        builder_begin(d->b, TEXT_PARAGRAPH, 0);
        if (first && n_key) {
            builder_add(d->b, key, n_key);
            builder_add(d->b, ": ", 2);
        }
        builder_add(d->b, s + at, end - at);
        builder_end(d->b);
        first = false;
        at = end + 2;
    }
}

void data_text_pair(data_text *d, const char *key, size_t n_key, const char *s, size_t n,
                    uint32_t line) {
    while (n && (*s == ' ' || *s == '\n' || *s == '\t')) s++, n--;
    while (n && (s[n - 1] == ' ' || s[n - 1] == '\n' || s[n - 1] == '\t')) n--;
    if (!n) return;
    if (n > LONG_VALUE) return write_long(d, key, n_key, s, n, line);
    if (d->row.len + n_key + n > FULL_ROW) write_row(d);
    if (!d->row.len)
        d->row_line = line;
    else
        fo_buf_str(&d->row, "; ");
    fo_buf_add(&d->row, key, n_key);
    if (n_key) fo_buf_str(&d->row, ": ");
    for (size_t i = 0; i < n; i++) {
        bool space = s[i] == '\n' || s[i] == '\t' || s[i] == ' ';
        if (space && (s[i + 1] == '\n' || s[i + 1] == '\t' || s[i + 1] == ' '))
            continue; /* s[n - 1] is none */
        fo_buf_char(&d->row, space ? ' ' : s[i]);
    }
}

/* A value whose key the path ends with, as far as no heading says it. */
static void write_pair(data_text *d, const char *s, size_t n, uint32_t line) {
    if (d->elsewhere && !d->in_record) {
        size_t above = d->depth ? d->stack[d->depth - 1].path : 0;
        write_heading(d, above ? above : d->path.len, line);
        d->base = above;
    }
    fo_buf name = {0};
    size_t base = d->base < d->path.len ? d->base : d->path.len;
    if (d->path.len) add_path(d, base, d->path.len, ".", &name);
    if (name.failed) d->b->failure = FO_ENOMEM;
    data_text_pair(d, name.data ? name.data : "", name.len, s, n, line);
    fo_buf_free(&name);
}

static void write_values(data_text *d) {
    if (d->values.len) write_pair(d, d->values.data, d->values.len, d->values_line);
    fo_buf_clear(&d->values);
}

static void cut_path(data_text *d, size_t to) {
    if (!d->path.data) return;
    d->path.len = to;
    d->path.data[to] = 0;
}

/* The value that the key at hand was given has been dealt with. */
static void drop_key(data_text *d) {
    if (d->keyed) cut_path(d, d->key);
    d->keyed = false;
}

int data_text_begin(data_text *d, bool list, uint32_t line, fo_err *err) {
    if (d->depth == DATA_MAX_DEPTH)
        return fo_fail(err, FO_EINVAL, "it is nested deeper than %d levels at line %u",
                       DATA_MAX_DEPTH, line);
    data_frame *above = d->depth ? &d->stack[d->depth - 1] : NULL;
    data_frame *f = &d->stack[d->depth++];
    *f = (data_frame){.list = list, .path = d->path.len, .base = d->base};
    if (above && above->list) write_values(d);
    bool element = !above || above->list;
    if (above && above->list && !above->said && !d->in_record) {
        above->said = true;
        write_heading(d, d->path.len, line);
        d->base = d->path.len;
    }
    if (!list && element && !d->in_record) {
        if (above) f->record = d->in_record = true;
        write_row(d);
        d->base = d->path.len;
    } else if (!list && !element && !d->in_record) {
        write_heading(d, d->path.len, line);
        d->base = d->path.len;
    } else if (list && element && above) {
        write_row(d); /* a row of a list of lists */
    }
    d->keyed = false;
    return FO_OK;
}

void data_text_end(data_text *d) {
    if (!d->depth) return;
    data_frame *f = &d->stack[d->depth - 1];
    if (f->list) write_values(d);
    d->depth--;
    if (f->record) {
        write_row(d);
        d->in_record = false;
    }
    if (!d->in_record && !f->list && d->depth) {
        write_row(d);
        d->elsewhere = !f->record;
    }
    if (f->list && f->said) {
        write_row(d);
        d->elsewhere = true;
    }
    d->base = f->base;
    /* The key that led here, if one did, stands at the end of the path. */
    cut_path(d, f->path);
    data_frame *above = d->depth ? &d->stack[d->depth - 1] : NULL;
    if (above && !above->list) cut_path(d, above->path);
}

void data_text_key(data_text *d, const char *s, size_t n) {
    drop_key(d);
    d->key = d->path.len;
    if (n > MAX_KEY) {
        n = MAX_KEY;
        while (n && !fo_utf8_boundary(s[n])) n--;
    }
    for (size_t i = 0; i < n; i++) fo_buf_char(&d->path, s[i] == '\n' ? ' ' : s[i]);
    fo_buf_char(&d->path, '\n');
    d->keyed = true;
}

void data_text_value(data_text *d, const char *s, size_t n, uint32_t line) {
    const data_frame *f = d->depth ? &d->stack[d->depth - 1] : NULL;
    if (f && f->list && n <= LONG_VALUE) {
        if (d->values.len + n > FULL_LIST) write_values(d);
        if (!d->values.len)
            d->values_line = line;
        else
            fo_buf_str(&d->values, ", ");
        fo_buf_add(&d->values, s, n);
    } else {
        if (f && f->list) write_values(d);
        write_pair(d, s, n, line);
    }
    drop_key(d);
}

void data_text_remark(data_text *d, const char *s, size_t n, uint32_t line) {
    if (!n) return;
    write_row(d);
    stand(d, line);
    builder_begin(d->b, TEXT_PARAGRAPH, 0);
    builder_add(d->b, s, n);
    builder_end(d->b);
    d->remarked = true;
}

void data_text_flush(data_text *d) {
    write_values(d);
    write_row(d);
}

void data_text_free(data_text *d) {
    fo_buf_free(&d->path);
    fo_buf_free(&d->row);
    fo_buf_free(&d->values);
}
