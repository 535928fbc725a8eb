/* list_number.h - how the number of a list's item is written: "3", "03", "c", "iii". */
#ifndef FORAGE_DATA_LIST_NUMBER_H
#define FORAGE_DATA_LIST_NUMBER_H

#include <stddef.h>
#include <stdint.h>

enum list_form {
    LIST_DECIMAL,
    LIST_PADDED,
    LIST_LOWER_LETTER, /* z is followed by aa, bb */
    LIST_UPPER_LETTER,
    LIST_LOWER_ROMAN,
    LIST_UPPER_ROMAN,
    LIST_BULLET,
    LIST_NONE,
    LIST_LOWER_COLUMN, /* z is followed by aa, ab */
    LIST_UPPER_COLUMN,
};

/* At most 16 bytes of out, and a NUL. What has no such form is decimal; of bullets nothing is written. */
size_t list_number_write(char out[17], int32_t n, uint8_t form);

#endif
