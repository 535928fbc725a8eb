/* arabic_ranges.h - what a question in Arabic names by its number, and ranges of such: "الدور السادس" (the sixth floor) and "الدور 6"
 * fall within "الدور ٤ إلى ٩" and not within "الدور ١ إلى ٣". */
#ifndef FORAGE_RETRIEVAL_ARABIC_RANGES_H
#define FORAGE_RETRIEVAL_ARABIC_RANGES_H

#include <stdbool.h>
#include <stddef.h>

/* A noun and its number, in digits or as an ordinal up to the twelfth. */
typedef struct arabic_numbered {
    char noun[48]; /* as arabic_words.h makes it plain; "": the question names nothing so */
    unsigned number;
    size_t start, end; /* bytes of the number in the question */
} arabic_numbered;

/* The first that is named so; not the hours of a time, nor the ends of a range. */
arabic_numbered arabic_numbered_in(const char *question, size_t len);

enum arabic_range { RANGE_NOT_SAID, RANGE_HOLDS, RANGE_OTHER };

/* Does the text say a range of that noun, and does it hold the number? */
enum arabic_range arabic_range_in(const arabic_numbered *x, const char *text, size_t len);

#endif
