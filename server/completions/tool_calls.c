#include "server/completions/tool_calls.h"

#include <stdlib.h>
#include <string.h>

#include "server/completions/tool_prompt.h"

enum { IN_TEXT, IN_HEAD, IN_ARGUMENTS, IN_TAIL };

static bool is_blank(char c) {
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* held: blanks, then a beginning of TOOL_OPEN, or only blanks. */
static bool may_open(const fo_buf *held) {
    size_t at = 0;
    while (at < held->len && is_blank(held->data[at])) at++;
    size_t n = held->len - at;
    return n < sizeof TOOL_OPEN && !memcmp(held->data + at, TOOL_OPEN, n);
}

static void begin_call(tool_calls *t) {
    tool_call *more = realloc(t->calls, (t->n_calls + 1) * sizeof *more);
    if (!more) {
        t->failed = true;
        return;
    }
    t->calls = more;
    tool_call *c = &more[t->n_calls++];
    *c = (tool_call){.name = NULL};
    app_make_id(c->id, "call_");
    t->where = IN_HEAD;
    fo_buf_clear(&t->held);
}

static void read_text(tool_calls *t, char c) {
    fo_buf_char(&t->held, c);
    while (t->held.len && !may_open(&t->held)) { /* its first byte is text */
        fo_buf_char(&t->text, t->held.data[0]);
        memmove(t->held.data, t->held.data + 1, t->held.len--);
    }
    size_t n = sizeof TOOL_OPEN - 1;
    if (t->held.len >= n && !memcmp(t->held.data + t->held.len - n, TOOL_OPEN, n)) begin_call(t);
}

/* {"name": "f", "arguments": */
static void read_head(tool_calls *t, char c) {
    fo_buf_char(&t->held, c);
    const char *arguments = strstr(t->held.data, "\"arguments\"");
    if (!arguments || (c != '{' || !strchr(arguments, ':'))) return;
    tool_call *call = &t->calls[t->n_calls - 1];
    const char *name = strstr(t->held.data, "\"name\"");
    name = name ? strchr(name + 6, '"') : NULL;
    if (name) call->name = strndup(name + 1, strcspn(name + 1, "\""));
    t->failed |= !call->name;
    fo_buf_char(&call->arguments, '{');
    t->where = IN_ARGUMENTS;
    t->depth = 1;
    t->in_string = t->escaped = false;
    fo_buf_clear(&t->held);
}

static void read_arguments(tool_calls *t, char c) {
    fo_buf_char(&t->calls[t->n_calls - 1].arguments, c);
    if (t->in_string) {
        if (c == '"' && !t->escaped) t->in_string = false;
        t->escaped = c == '\\' && !t->escaped;
        return;
    }
    if (c == '"') t->in_string = true;
    t->depth += (c == '{' || c == '[') - (c == '}' || c == ']');
    if (t->depth == 0) t->where = IN_TAIL;
}

static void read_tail(tool_calls *t, char c) {
    size_t n = sizeof TOOL_CLOSE - 1;
    fo_buf_char(&t->held, c);
    if (t->held.len < n || memcmp(t->held.data + t->held.len - n, TOOL_CLOSE, n) != 0) return;
    fo_buf_clear(&t->held);
    t->where = IN_TEXT;
}

void tool_calls_add(tool_calls *t, const char *text, size_t len) {
    static void (*const read[])(tool_calls *, char) = {read_text, read_head, read_arguments,
                                                       read_tail};
    for (size_t i = 0; i < len && !t->failed; i++) read[t->where](t, text[i]);
    t->failed |= t->text.failed || t->held.failed;
    for (size_t i = 0; i < t->n_calls; i++) t->failed |= t->calls[i].arguments.failed;
}

void tool_calls_end(tool_calls *t) {
    if (t->where == IN_TEXT && !t->n_calls) fo_buf_add(&t->text, t->held.data, t->held.len);
    /* A call whose name never came is none. */
    if (t->where == IN_HEAD && t->n_calls) fo_buf_free(&t->calls[--t->n_calls].arguments);
    fo_buf_clear(&t->held);
    t->where = IN_TEXT; /* ended again, nothing more comes of it */
}

void tool_calls_deinit(tool_calls *t) {
    for (size_t i = 0; i < t->n_calls; i++) {
        free(t->calls[i].name);
        fo_buf_free(&t->calls[i].arguments);
    }
    free(t->calls);
    fo_buf_free(&t->text);
    fo_buf_free(&t->held);
}
