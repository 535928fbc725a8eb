#include "retrieval/text/file_title.h"

#include <string.h>
#include <strings.h>

#include "kernels/paths.h"
#include "kernels/utf8.h"

static const char *name_of(const char *document, size_t *n) {
    const char *name = fo_base_name(document), *dot = strrchr(name, '.');
    *n = dot && dot > name ? (size_t)(dot - name) : strlen(name);
    return name;
}

static bool parts_words(char c) {
    return strchr("-_.+ ", c) != NULL;
}

void file_title_add(fo_buf *b, const char *document) {
    size_t n;
    const char *name = name_of(document, &n);
    for (size_t i = 0; i < n; i++) fo_buf_char(b, parts_words(name[i]) ? ' ' : name[i]);
}

/* Is s[n] a word of the file's name? */
static bool has_word(const char *name, size_t n_name, const char *s, size_t n) {
    for (size_t i = 0; i < n_name;) {
        size_t end = i;
        while (end < n_name && !parts_words(name[end])) end++;
        if (end - i == n && n && !strncasecmp(name + i, s, n)) return true;
        i = end + 1;
    }
    return false;
}

bool file_title_is_asked(const char *question, const char *document) {
    enum { SHORTEST_NAME = 3, SHORTEST_NUMBER = 2 };
    size_t n_name;
    const char *name = name_of(document, &n_name);
    bool first = true;
    if (name[n_name] != '.') return false; /* an id that somebody gave is no file */
    for (const char *s = question; *s;) {
        if (!fo_is_of_word(*s)) {
            first |= strchr(".!?:", *s) != NULL;
            s++;
            continue;
        }
        const char *end = s;
        while (fo_is_of_word(*end)) end++;
        const size_t n = (size_t)(end - s);
        const bool is_name = !first && fo_is_upper(*s) && n >= SHORTEST_NAME;
        const bool is_number = fo_is_digit(*s) && n >= SHORTEST_NUMBER;
        if ((is_name || is_number) && has_word(name, n_name, s, n)) return true;
        first = false;
        s = end;
    }
    return false;
}
