#include "server/completions/json_values.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/buf.h"
#include "server/base/json.h"

typedef struct walk {
    json_values *out;
    const char *text;
    size_t at, len;
    fo_buf path;
    bool over;   /* the text ends here, or there are values enough */
    bool failed; /* no memory */
} walk;

static void skip_blanks(walk *w) {
    while (w->at < w->len && strchr(" \t\r\n", w->text[w->at]) && w->text[w->at]) w->at++;
    w->over |= w->at >= w->len;
}

/* The string that begins here, decoded; NULL where it does not end. *start: behind its quote. */
static char *read_string(walk *w, size_t *start, size_t *end) {
    size_t from = w->at++;
    while (w->at < w->len && w->text[w->at] != '"') w->at += w->text[w->at] == '\\' ? 2 : 1;
    if (w->at >= w->len) {
        w->over = true;
        return NULL;
    }
    *start = from + 1;
    *end = w->at++;
    cJSON *s = cJSON_ParseWithLength(w->text + from, w->at - from);
    const char *value = cJSON_GetStringValue(s);
    char *copy = value ? strdup(value) : NULL;
    if (!copy) w->failed = w->over = true;
    cJSON_Delete(s);
    return copy;
}

static void keep(walk *w, enum json_value_kind kind, char *text, size_t start, size_t end) {
    json_values *v = w->out;
    char *path = w->path.data ? strndup(w->path.data, w->path.len) : strdup("");
    json_value *list = v->n < JSON_MAX_VALUES ? realloc(v->list, (v->n + 1) * sizeof *list) : NULL;
    if (list) v->list = list;
    if (list && path && text) {
        list[v->n++] = (json_value){kind, path, text, start, end};
        return;
    }
    v->more = v->n == JSON_MAX_VALUES;
    w->failed = !v->more;
    w->over = true;
    free(path);
    free(text);
}

static void read_value(walk *w, int depth);

static void read_text(walk *w) {
    size_t start, end;
    char *text = read_string(w, &start, &end);
    if (text) keep(w, JSON_VALUE_TEXT, text, start, end);
}

/* A number or word is whole where something follows it: 12 may be the beginning of 123. */
static void read_literal(walk *w, int depth) {
    size_t start = w->at;
    while (w->at < w->len && !strchr(",]} \t\r\n", w->text[w->at])) w->at++;
    if ((w->at >= w->len && depth) || w->at == start) {
        w->over = true;
        return;
    }
    bool number = w->text[start] == '-' || (w->text[start] >= '0' && w->text[start] <= '9');
    keep(w, number ? JSON_VALUE_NUMBER : JSON_VALUE_WORD, strndup(w->text + start, w->at - start),
         start, w->at);
}

static void push_key(walk *w, const char *key) {
    fo_buf_char(&w->path, '/');
    for (; *key; key++) {
        if (*key == '~' || *key == '/')
            fo_buf_str(&w->path, *key == '~' ? "~0" : "~1");
        else
            fo_buf_char(&w->path, *key);
    }
}

/* The members of an object or the items of an array, whose bracket is here. */
static void read_members(walk *w, int depth) {
    bool object = w->text[w->at++] == '{';
    for (size_t i = 0; !w->over; i++) {
        size_t before = w->path.len, start, end;
        skip_blanks(w);
        if (w->over || w->text[w->at] == '}' || w->text[w->at] == ']') break;
        if (object) {
            char *key = w->text[w->at] == '"' ? read_string(w, &start, &end) : NULL;
            w->over |= !key;
            if (key) push_key(w, key);
            free(key);
            skip_blanks(w);
            w->over |= w->over || w->text[w->at++] != ':';
        } else {
            fo_buf_printf(&w->path, "/%zu", i);
        }
        w->failed |= w->path.failed;
        if (!w->over) read_value(w, depth + 1);
        w->path.len = before;
        skip_blanks(w);
        if (!w->over && w->text[w->at] == ',') w->at++;
    }
    if (!w->over) w->at++;
}

static void read_value(walk *w, int depth) {
    skip_blanks(w);
    if (w->over || depth >= JSON_MAX_DEPTH || w->failed) {
        w->over = true;
        return;
    }
    char c = w->text[w->at];
    if (c == '{' || c == '[')
        read_members(w, depth);
    else if (c == '"')
        read_text(w);
    else
        read_literal(w, depth);
}

int json_values_read(json_values *out, const char *text, size_t len, fo_err *err) {
    *out = (json_values){0};
    walk w = {.out = out, .text = text, .len = len};
    read_value(&w, 0);
    fo_buf_free(&w.path);
    if (!w.failed) return FO_OK;
    json_values_deinit(out);
    return fo_no_memory(err);
}

void json_values_deinit(json_values *v) {
    for (size_t i = 0; i < v->n; i++) {
        free(v->list[i].path);
        free(v->list[i].text);
    }
    free(v->list);
    *v = (json_values){0};
}
