#include "retrieval/question/plurals.h"

#include <strings.h>

#include "kernels/words.h"

enum { SHORTEST = 3 }; /* bytes of a word that has a plural */

bool plural_is_of(const char *a, size_t n, const char *b, size_t m, const char *ends) {
    if (n < m) return plural_is_of(b, m, a, n, ends);
    return m >= SHORTEST && n > m && !strncasecmp(a, b, m) &&
           fo_words_have_any_case(ends, a + m, n - m);
}
