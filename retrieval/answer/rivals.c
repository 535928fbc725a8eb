#include "retrieval/answer/rivals.h"

#include "kernels/utf8.h"
#include "kernels/words.h"

/* A row for each kind; words of one string are the same. */
enum { KINDS = 7, WORDS = 9 };
static const char *const rivals[KINDS][WORDS] = {
    {"breakfast breakfasts", "lunch lunches", "dinner dinners supper suppers", "brunch"},
    {"north northern", "south southern", "east eastern", "west western"},
    {"spring", "summer", "autumn", "winter"},
    {"red", "green", "blue", "yellow", "white", "black", "purple", "brown", "grey gray"},
    {"upper", "lower"},
    {"indoor indoors", "outdoor outdoors"},
    {"front", "rear"},
};

uint64_t rivals_in(const char *text, size_t len) {
    uint64_t found = 0;
    for (size_t i = 0, n; i < len; i += n ? n : 1) {
        n = 0;
        while (i + n < len && fo_is_letter(text[i + n])) n++;
        if (n < 3) continue;
        for (int k = 0; k < KINDS; k++)
            for (int w = 0; w < WORDS && rivals[k][w]; w++)
                if (fo_words_have_any_case(rivals[k][w], text + i, n))
                    found |= 1ull << (k * WORDS + w);
    }
    return found;
}

bool rivals_exclude(uint64_t asked, uint64_t said) {
    for (int k = 0; k < KINDS; k++) {
        const uint64_t kind = ((1ull << WORDS) - 1) << (k * WORDS);
        if ((asked & kind) && (said & kind) && !(asked & said & kind)) return true;
    }
    return false;
}
