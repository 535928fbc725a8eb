#include "retrieval/text/word_table.h"

#include <string.h>
#include <utf8proc.h>
#include "index/format/term_hash.h"
#include "kernels/utf8.h"

enum { LONGEST = 48 };

/* Of the word, or of the free slot where it belongs. */
static size_t slot_of(const word_table *t, int language, const char *word, size_t len) {
    for (uint32_t h = term_hash(word, len) + 0x9E3779B9u * (uint32_t)language;; h++) {
        const size_t s = h % WORD_TABLE_SLOTS;
        if (!t->slots[s].word || (t->slots[s].language == language && t->slots[s].len == len &&
                                  !memcmp(t->slots[s].word, word, len)))
            return s;
    }
}

static void add(word_table *t, int language, const char *words, uint32_t value, uint32_t keep) {
    for (const char *w = words; *w;) {
        const size_t n = strcspn(w, " "), s = slot_of(t, language, w, n);
        if (!t->slots[s].word) {
            t->slots[s].word = w;
            t->slots[s].len = (uint32_t)n;
            t->slots[s].language = language;
        }
        if (!(t->slots[s].value & keep)) t->slots[s].value |= value;
        w += n + (w[n] == ' ');
    }
}

void word_table_add(word_table *t, int language, const char *words, uint32_t value) {
    add(t, language, words, value, 0);
}

void word_table_add_first(word_table *t, int language, const char *words, uint32_t value) {
    add(t, language, words, value, UINT32_MAX);
}

uint32_t word_table_find(const word_table *t, int language, const char *word, size_t len) {
    char lower[LONGEST + 4];
    size_t n = 0;
    if (language < 0 || len > LONGEST) return 0;
    for (size_t i = 0; i < len && n <= LONGEST;) {
        int32_t cp;
        i += fo_utf8_decode(word + i, len - i, &cp);
        if (cp < 0) return 0;
        n += fo_utf8_encode(utf8proc_tolower(cp), lower + n);
    }
    return n <= LONGEST ? t->slots[slot_of(t, language, lower, n)].value : 0;
}
