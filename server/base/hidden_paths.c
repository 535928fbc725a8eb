#include "server/base/hidden_paths.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* strerror() says "Input/output error". */
static const char IO[] = "Input/output";

static bool starts(const char *p, const char *word) {
    return strncmp(p, word, strlen(word)) == 0;
}

/* The end of a path that begins with '/': quote is what stands before it, where that is a quote. */
static const char *end_of_path(const char *p, char quote) {
    for (; *p; p++) {
        if (quote ? *p == quote : strchr("'\"()\n", *p) != NULL) break;
        if (starts(p, ": ") || starts(p, ", ") || starts(p, "; ") || starts(p, " /")) break;
    }
    return p;
}

static const char *end_of_word(const char *p) {
    while (*p && !strchr(" '\"()\n", *p) && !starts(p, ": ") && !starts(p, ", ")) p++;
    return p;
}

/* Behind the last '/' of [p, end) that something follows; p: there is none. */
static const char *file_of(const char *p, const char *end) {
    const char *file = p;
    for (const char *q = p; q + 1 < end; q++)
        if (*q == '/') file = q + 1;
    return file;
}

void hide_paths(char *text) {
    char *out = text;
    const char *in = text;
    while (*in) {
        const char before = out > text ? out[-1] : ' ', *end = NULL;
        const char quote = before == '\'' || before == '"' ? before : 0;
        const bool id = quote && out - text >= 10 && starts(out - 10, "document ");
        if (!strchr(" '\"(=\n", before) || id) {
            *out++ = *in++;
            continue;
        }
        if (*in == '/') {
            end = end_of_path(in, quote);
        } else {
            const char *word = end_of_word(in);
            if (!quote && !starts(in, IO) && !memmem(in, (size_t)(word - in), "://", 3)) end = word;
        }
        if (end) {
            in = file_of(in, end);
            memmove(out, in, (size_t)(end - in));
            out += end - in;
            in = end;
        }
        if (*in) *out++ = *in++;
    }
    *out = 0;
}
