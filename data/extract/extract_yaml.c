/* YAML by libyaml, event by event: data_text.h says what becomes of it. Aliases are not filled in, so that no
 * document grows by them: a plain value that has a name is repeated, of all else the name stands. Comments on
 * lines of their own are kept: settings are explained by them. */
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "data/extract/data_text.h"
#include "data/extract/encoding.h"
#include "data/extract/extract_internal.h"
#include "data/extract/text_lines.h"

enum { MAX_ANCHORS = 64, MAX_ANCHORED = 200 };

typedef struct anchor {
    char *name, *value;
} anchor;

typedef struct reader {
    data_text d;
    text_lines lines; /* up to which comments have been written */
    fo_buf comment;
    uint32_t comment_line;
    bool list[DATA_MAX_DEPTH + 1], wants_key[DATA_MAX_DEPTH + 1];
    int depth, in_key; /* in_key: depth of a key that is no plain value; 0: none */
    anchor anchors[MAX_ANCHORS];
    size_t n_anchors;
} reader;

static void write_comment(reader *r) {
    if (r->comment.failed) r->d.b->failure = FO_ENOMEM;
    if (r->comment.len) data_text_remark(&r->d, r->comment.data, r->comment.len, r->comment_line);
    fo_buf_clear(&r->comment);
}

/* Comments that stand before line number `line` (from 0). */
static void comments_before(reader *r, size_t line) {
    text_line l;
    while (r->lines.number < line && text_lines_next(&r->lines, &l)) {
        const char *s = l.s + l.blanks;
        size_t n = l.n - l.blanks;
        if (!n || *s != '#') {
            write_comment(r);
            continue;
        }
        while (n && *s == '#') s++, n--;
        while (n && *s == ' ') s++, n--;
        while (n && (s[n - 1] == '#' || s[n - 1] == '-' || s[n - 1] == '='))
            n--; /* a rule says nothing */
        if (!n) continue;
        if (!r->comment.len)
            r->comment_line = r->lines.number;
        else
            fo_buf_char(&r->comment, '\n');
        fo_buf_add(&r->comment, s, n);
    }
    write_comment(r);
}

/* What stands up to this line belongs to a value: no comments are looked for in it. */
static void pass(reader *r, size_t line) {
    text_line l;
    while (r->lines.number < line && text_lines_next(&r->lines, &l)) {
    }
}

static const char *anchored(const reader *r, const char *name) {
    for (size_t i = r->n_anchors; i > 0; i--)
        if (!strcmp(r->anchors[i - 1].name, name)) return r->anchors[i - 1].value;
    return NULL;
}

/* The name is given again: what it meant is no more what its aliases mean. */
static void forget_anchor(reader *r, const char *name) {
    for (size_t i = 0; i < r->n_anchors; i++) {
        if (strcmp(r->anchors[i].name, name) != 0) continue;
        free(r->anchors[i].name);
        free(r->anchors[i].value);
        r->anchors[i] = r->anchors[--r->n_anchors];
        return;
    }
}

static void keep_anchor(reader *r, const char *name, const char *value, size_t n) {
    forget_anchor(r, name);
    if (r->n_anchors == MAX_ANCHORS || n > MAX_ANCHORED) return;
    anchor a = {strdup(name), strndup(value, n)};
    if (a.name && a.value) {
        r->anchors[r->n_anchors++] = a;
    } else {
        free(a.name);
        free(a.value);
        r->d.b->failure = FO_ENOMEM;
    }
}

/* A plain value: a key where one is due, a value elsewhere. */
static void scalar(reader *r, const char *s, size_t n, bool plain, size_t line) {
    if (r->in_key) return;
    bool *key = &r->wants_key[r->depth];
    if (r->depth && !r->list[r->depth] && *key) {
        data_text_key(&r->d, s, n);
    } else {
        bool null = plain && ((n == 1 && *s == '~') || (n == 4 && !strncasecmp(s, "null", 4)));
        data_text_value(&r->d, s, null ? 0 : n, (uint32_t)line + 1);
    }
    *key = !*key;
}

static int begin(reader *r, bool list, size_t line, fo_err *err) {
    if (r->depth == DATA_MAX_DEPTH)
        return fo_fail(err, FO_EINVAL, "it is nested deeper than %d levels at line %zu",
                       DATA_MAX_DEPTH, line + 1);
    bool as_key = r->depth && !r->list[r->depth] && r->wants_key[r->depth];
    if (as_key && !r->in_key) { /* "? [a, b]": a key of several values has no name */
        data_text_key(&r->d, "?", 1);
        r->in_key = r->depth + 1;
    }
    int rc = r->in_key ? FO_OK : data_text_begin(&r->d, list, (uint32_t)line + 1, err);
    r->depth++;
    r->list[r->depth] = list;
    r->wants_key[r->depth] = true;
    return rc;
}

static void end(reader *r) {
    if (!r->in_key) data_text_end(&r->d);
    if (r->in_key == r->depth) r->in_key = 0;
    r->depth--;
    r->wants_key[r->depth] = !r->wants_key[r->depth];
}

static int take(reader *r, const yaml_event_t *e, fo_err *err) {
    size_t line = e->start_mark.line;
    bool content = e->type == YAML_SCALAR_EVENT || e->type == YAML_ALIAS_EVENT ||
                   e->type == YAML_MAPPING_START_EVENT || e->type == YAML_SEQUENCE_START_EVENT;
    if (content) comments_before(r, line);
    switch (e->type) {
    case YAML_SCALAR_EVENT: {
        fo_buf clean = {0};
        size_t replaced = 0;
        encoding_clean(&clean, (const char *)e->data.scalar.value, e->data.scalar.length,
                       &replaced);
        if (clean.failed) r->d.b->failure = FO_ENOMEM;
        const char *s = clean.data ? clean.data : "";
        if (e->data.scalar.anchor)
            keep_anchor(r, (const char *)e->data.scalar.anchor, s, clean.len);
        scalar(r, s, clean.len, e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE, line);
        fo_buf_free(&clean);
        pass(r, e->end_mark.line);
        return FO_OK;
    }
    case YAML_ALIAS_EVENT: {
        const char *name = (const char *)e->data.alias.anchor, *value = anchored(r, name);
        scalar(r, value ? value : name, strlen(value ? value : name), false, line);
        return FO_OK;
    }
    case YAML_MAPPING_START_EVENT:
        if (e->data.mapping_start.anchor)
            forget_anchor(r, (const char *)e->data.mapping_start.anchor);
        return begin(r, false, line, err);
    case YAML_SEQUENCE_START_EVENT:
        if (e->data.sequence_start.anchor)
            forget_anchor(r, (const char *)e->data.sequence_start.anchor);
        return begin(r, true, line, err);
    case YAML_MAPPING_END_EVENT:
    case YAML_SEQUENCE_END_EVENT:
        end(r);
        return FO_OK;
    case YAML_DOCUMENT_END_EVENT:
        data_text_flush(&r->d);
        return FO_OK;
    default:
        return FO_OK;
    }
}

static int read_events(reader *r, yaml_parser_t *parser, fo_err *err) {
    int rc = FO_OK;
    for (bool more = true; more && !rc && builder_go_on(r->d.b, 64);) {
        yaml_event_t e;
        if (!yaml_parser_parse(parser, &e)) {
            if (parser->error == YAML_MEMORY_ERROR) return fo_no_memory(err);
            return fo_fail(err, FO_EINVAL, "it is no YAML at line %zu: %.200s",
                           parser->problem_mark.line + 1,
                           parser->problem ? parser->problem : "it is damaged");
        }
        rc = take(r, &e, err);
        more = e.type != YAML_STREAM_END_EVENT;
        yaml_event_delete(&e);
    }
    if (!rc) comments_before(r, SIZE_MAX);
    return rc;
}

/* Templates of YAML are none until they are filled in. */
static bool is_template(const fo_buf *text) {
    return memmem(text->data, text->len, "{{", 2) || memmem(text->data, text->len, "{%", 2);
}

int extract_yaml(builder *b, extract_input *in, fo_err *err) {
    fo_buf text = {0};
    yaml_parser_t parser;
    reader *r = calloc(1, sizeof *r);
    int rc = r ? extract_decode(b, in, "utf-8", &text, err) : fo_no_memory(err);
    if (!rc && !yaml_parser_initialize(&parser)) rc = fo_no_memory(err);
    if (!rc) {
        *r = (reader){.d = {.b = b}, .lines = {.s = text.data, .n = text.len}};
        yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
        yaml_parser_set_input_string(&parser, (const unsigned char *)text.data, text.len);
        rc = read_events(r, &parser, err);
        yaml_parser_delete(&parser);
        if (rc == FO_EINVAL && !b->failure && is_template(&text)) {
            if (err) *err = (fo_err){0};
            rc = FO_OK;
            builder_rewind(b, 0, 0);
            builder_set_place(b, NULL);
            extract_code_text(b, NULL, text.data, text.len);
        }
        data_text_free(&r->d);
        fo_buf_free(&r->comment);
        for (size_t i = 0; i < r->n_anchors; i++) {
            free(r->anchors[i].name);
            free(r->anchors[i].value);
        }
    }
    free(r);
    extract_drop(b, &text);
    return rc;
}
