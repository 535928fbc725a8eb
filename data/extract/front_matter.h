/* front_matter.h - lines of "key: value" between "---" lines at the very top of a Markdown, or of "key = value" between "+++"
 * lines: what a text says of itself.
 *
 *     front_matter f;
 *     front_matter_read(&f, text, n);
 *     ... the text goes on at text + f.n; f.record is "year: 2024; team: pumps", f.fields {"year":2024,"team":"pumps"}
 *     front_matter_free(&f);
 *
 * Not all of YAML or TOML: plain, quoted and block values, and flat lists of such, "[a, b]" or a line for each. Maps within, what
 * stands below the name of a table, aliases and tags are left out, and so are settings of site generators ("layout", "slug"), empty values, a key that comes again and
 * all behind the 256th. */
#ifndef FORAGE_DATA_FRONT_MATTER_H
#define FORAGE_DATA_FRONT_MATTER_H

#include "kernels/buf.h"

typedef struct front_matter {
    size_t n; /* bytes of it; 0: there is none */
    const char
        *title; /* n_title bytes of the text, without its quotes; it may go over several lines */
    size_t n_title;
    fo_buf record; /* all values, those of a list parted by ", "; without the title */
    fo_buf
        fields; /* the short ones as members of a JSON object, at most 64 values of 256 bytes; len 0: none */
} front_matter;

/* s: clean UTF-8. A failed allocation leaves record or fields failed. */
void front_matter_read(front_matter *f, const char *s, size_t n);
void front_matter_free(front_matter *f);

#endif
