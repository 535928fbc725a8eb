#include "retrieval/text/path_names.h"

#include <string.h>

#include "kernels/utf8.h"

static bool in_path(char c) {
    return fo_is_letter(c) || fo_is_digit(c) || strchr("/-_.~+@", c) != NULL ||
           (unsigned char)c >= 0x80;
}

size_t path_name_start(const char *s, size_t i) {
    while (i > 0 && in_path(s[i - 1])) i--;
    return i;
}

size_t path_name_at(const char *s, size_t len, size_t i) {
    size_t end = i, parts = 0;
    if (i > 0 && in_path(s[i - 1])) return 0;
    if (!(s[i] == '/' || (s[i] == '~' && i + 1 < len && s[i + 1] == '/'))) return 0;
    if (i + 1 < len && s[i] == '/' && s[i + 1] == '/') return 0; /* of an address */
    while (end < len && in_path(s[end])) parts += s[end++] == '/';
    while (end > i && strchr(".-", s[end - 1])) end--;
    return parts > 1 || s[i] == '~' ? end - i : 0;
}

size_t path_name_asked(const char **path, const char *question, size_t len) {
    size_t n = 0;
    for (size_t at = 0; at < len && !n; at++) {
        n = path_name_at(question, len, at);
        *path = question + at;
    }
    return n;
}

bool path_names_other(const char *path, size_t n_path, const char *text, size_t n) {
    bool other = false;
    for (size_t i = 0; n_path && i + n_path <= n; i++) {
        if (memcmp(text + i, path, n_path) != 0) continue;
        size_t end = i + n_path;
        if (end < n && text[end] == '.' && (end + 1 == n || !in_path(text[end + 1])))
            end = n; /* of a sentence */
        if (end == n || !in_path(text[end])) return false;
        other = true;
    }
    return other;
}
