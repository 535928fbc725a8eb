#include "server/cli/json_lines.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "kernels/utf8.h"

static const char mark[] = "\xEF\xBB\xBF"; /* of byte order: editors of Windows put it there */
static const size_t mark_bytes = sizeof mark - 1;

int json_lines_read(FILE *f, const char *name, json_lines_fn *each, void *ctx, fo_err *err) {
    char *line = NULL;
    size_t cap = 0, number = 0;
    ssize_t got;
    int rc = FO_OK;
    errno = 0;
    while (!rc && (got = getline(&line, &cap, f)) >= 0) {
        const char *from = line;
        size_t n = (size_t)got;
        number++;
        while (n && (from[n - 1] == '\n' || from[n - 1] == '\r' || from[n - 1] == ' ')) n--;
        if (number == 1 && n >= mark_bytes && !memcmp(from, mark, mark_bytes)) {
            from += mark_bytes;
            n -= mark_bytes;
        }
        if (!n) continue;
        char label[JSON_LINES_LABEL];
        fo_utf8_print(label, sizeof label, "%.64s:%zu", name, number);
        rc = each(ctx, from, n, label, err);
    }
    if (!rc && ferror(f)) rc = fo_fail_errno(err, "cannot read %s", name);
    free(line);
    return rc;
}

int json_lines_sent_add(json_lines_sent *s, const char *label, fo_err *err) {
    if (s->n == s->cap) {
        size_t cap = s->cap ? 2 * s->cap : 64;
        void *more = realloc(s->labels, cap * sizeof *s->labels);
        if (!more) return fo_no_memory(err);
        s->labels = more;
        s->cap = cap;
    }
    snprintf(s->labels[s->n++], sizeof *s->labels, "%s", label);
    return FO_OK;
}

void json_lines_sent_name(const json_lines_sent *s, fo_err *why) {
    static const char word[] = "line ";
    char *at = strstr(why->msg, word), *end = NULL;
    if (!at || (at > why->msg && isalnum((unsigned char)at[-1]))) return;
    size_t number = strtoul(at + sizeof word - 1, &end, 10);
    if (!number || number > s->n) return;
    char rest[sizeof why->msg];
    snprintf(rest, sizeof rest, "%s", end);
    fo_utf8_print(at, sizeof why->msg - (size_t)(at - why->msg), "%s%s", s->labels[number - 1],
                  rest);
}

void json_lines_sent_deinit(json_lines_sent *s) {
    free(s->labels);
    *s = (json_lines_sent){0};
}
