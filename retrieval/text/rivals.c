#include "retrieval/text/rivals.h"

#include "kernels/utf8.h"
#include "kernels/words.h"

/* Rows of one kind exclude each other; words of one string are the same. A bit for each row. */
static const struct {
    int kind;
    const char *words;
} rivals[] = {
    {0, "breakfast breakfasts"},
    {0, "lunch lunches"},
    {0, "dinner dinners supper suppers"},
    {0, "brunch"},
    {1, "north northern"},
    {1, "south southern"},
    {1, "east eastern"},
    {1, "west western"},
    {2, "spring"},
    {2, "summer"},
    {2, "autumn"},
    {2, "winter"},
    {3, "red"},
    {3, "green"},
    {3, "blue"},
    {3, "yellow"},
    {3, "white"},
    {3, "black"},
    {3, "purple"},
    {3, "brown"},
    {3, "grey gray"},
    {4, "upper"},
    {4, "lower"},
    {5, "indoor indoors"},
    {5, "outdoor outdoors"},
    {6, "front"},
    {6, "rear"},
    {7, "petrol gasoline"},
    {7, "diesel"},
    {8, "male males"},
    {8, "female females"},
    {9, "single"},
    {9, "double"},
    {10, "arrival arrivals"},
    {10, "departure departures"},
    {11, "domestic"},
    {11, "international"},
    {12, "minimum"},
    {12, "maximum"},
    {13, "premium premiums"},
    {13, "insured excess deductible"}, /* the sum insured */
    {14, "advantage advantages benefit benefits"},
    {14, "disadvantage disadvantages drawback drawbacks"},
    {15, "fridge refrigerator refrigerated"},
    {15, "freezer frozen"},
};
enum { N = sizeof rivals / sizeof *rivals };
_Static_assert(N <= 64, "a bit for each");

uint64_t rivals_in(const char *text, size_t len) {
    uint64_t found = 0;
    for (size_t i = 0, n; i < len; i += n ? n : 1) {
        n = 0;
        while (i + n < len && fo_is_letter(text[i + n])) n++;
        if (n < 3) continue;
        for (int k = 0; k < N; k++)
            if (fo_words_have_any_case(rivals[k].words, text + i, n)) found |= 1ull << k;
    }
    return found;
}

bool rivals_exclude(uint64_t asked, uint64_t said) {
    for (int from = 0, end; from < N; from = end) {
        uint64_t kind = 0;
        for (end = from; end < N && rivals[end].kind == rivals[from].kind; end++)
            kind |= 1ull << end;
        if ((asked & kind) && (said & kind) && !(asked & said & kind)) return true;
    }
    return false;
}
