#include "data/extract/list_number.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { MAX_ROMAN = 3999, MAX_LETTERS = 8 };

static size_t add_letters(char *out, size_t cap, int32_t n, char first) {
    size_t times = (size_t)(n - 1) / 26 + 1; /* z is followed by aa, bb */
    if (times >= cap) return 0;
    memset(out, first + (n - 1) % 26, times);
    return times;
}

static size_t add_roman(char *out, size_t cap, int32_t n, bool lower) {
    static const struct {
        int32_t value;
        const char *upper, *lower;
    } signs[] = {{1000, "M", "m"}, {900, "CM", "cm"}, {500, "D", "d"}, {400, "CD", "cd"},
                 {100, "C", "c"},  {90, "XC", "xc"},  {50, "L", "l"},  {40, "XL", "xl"},
                 {10, "X", "x"},   {9, "IX", "ix"},   {5, "V", "v"},   {4, "IV", "iv"},
                 {1, "I", "i"}};
    size_t k = 0;
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        for (; n >= signs[i].value && k + 2 < cap; n -= signs[i].value)
            k += (size_t)snprintf(out + k, cap - k, "%s", lower ? signs[i].lower : signs[i].upper);
    return k;
}

static size_t add_column(char *out, size_t cap, int32_t n, char first) {
    char turned[17];
    size_t k = 0;
    for (; n > 0 && k + 1 < cap; n = (n - 1) / 26) turned[k++] = (char)(first + (n - 1) % 26);
    for (size_t i = 0; i < k; i++) out[i] = turned[k - 1 - i];
    return k;
}

size_t list_number_write(char out[17], int32_t n, uint8_t form) {
    const bool lower = form == LIST_LOWER_LETTER || form == LIST_LOWER_ROMAN ||
                       form == LIST_LOWER_COLUMN,
               letters = form == LIST_LOWER_LETTER || form == LIST_UPPER_LETTER,
               columns = form == LIST_LOWER_COLUMN || form == LIST_UPPER_COLUMN,
               roman = form == LIST_LOWER_ROMAN || form == LIST_UPPER_ROMAN;
    size_t k = 0;
    if (form == LIST_BULLET || form == LIST_NONE)
        k = 0;
    else if (letters && n > 0 && n <= 26 * MAX_LETTERS)
        k = add_letters(out, 17, n, lower ? 'a' : 'A');
    else if (columns && n > 0)
        k = add_column(out, 17, n, lower ? 'a' : 'A');
    else if (roman && n > 0 && n <= MAX_ROMAN)
        k = add_roman(out, 17, n, lower);
    else
        k = (size_t)snprintf(out, 17, form == LIST_PADDED ? "%02d" : "%d", n);
    out[k] = 0;
    return k;
}
