#include "retrieval/text/passage.h"

#include <string.h>
#include "index/sparse/language.h"

bool passage_is_english(const passage *p, const analyzer *a) {
    const char *expected = language_name(analyzer_language(a));
    const int told = language_of(p->text, p->len, expected ? expected : "english");
    return told < 0 ? !expected || !strcmp(expected, "english") : language_is(told, "english");
}
