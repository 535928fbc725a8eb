#include "data/extract/man_lines.h"

#include <stdbool.h>
#include <string.h>

#include "kernels/utf8.h"

man_arguments man_split(char *s) {
    man_arguments a = {0};
    char *to = NULL;
    for (;;) {
        while (*s == ' ' || *s == '\t') s++;
        if (!*s || (s[0] == '\\' && s[1] == '"')) break;
        bool quoted = *s == '"';
        s += quoted;
        if (a.n < MAN_MAX_ARGS)
            a.at[a.n++] = to = s;
        else
            *to++ = ' ';
        for (; *s; s++) {
            if (quoted && *s == '"') {
                if (s[1] != '"') break;
                s++;
            } else if (!quoted && (*s == ' ' || *s == '\t')) {
                break;
            } else if (*s == '\\' && s[1]) {
                *to++ = *s++;
            }
            *to++ = *s;
        }
        bool last = !*s;
        *to = 0;
        if (last) break;
        s++;
    }
    return a;
}

long man_braces(const char *s) {
    long depth = 0;
    for (; (s = strchr(s, '\\')) && s[1]; s += 2) depth += (s[1] == '{') - (s[1] == '}');
    return depth;
}

char *man_rest_of_row(char *s, char tab, size_t n_cells) {
    size_t blank = 0;
    while (s[blank] == tab) blank++;
    s += blank;
    return blank && blank + 1 == n_cells && fo_is_letter(*s) && !fo_is_upper(*s) && !strchr(s, tab)
               ? s
               : NULL;
}

size_t man_cells_of(const char *s, char tab) {
    size_t n = 1;
    while ((s = strchr(s, tab))) s++, n++;
    return n;
}
