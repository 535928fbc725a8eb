/* text_labels.h - lines below each other that each begin with what they say something of: "Claims: 0345 1". A paragraph whose
 * lines flow would lose them.
 *
 *     text_labels l = text_labels_find(s, n, at);      // where such lines stand in a paragraph
 *
 * Ours: how people write down telephone numbers, times and addresses in Markdown, without a list. */
#ifndef FORAGE_DATA_TEXT_LABELS_H
#define FORAGE_DATA_TEXT_LABELS_H

#include <stdbool.h>
#include <stddef.h>

enum {
    TEXT_LABELS_LINES = 3, /* two lines may be alike by chance */
    TEXT_LABEL_WORDS = 4,
    TEXT_LABEL_BYTES = 40,
};

typedef struct text_labels {
    size_t start,
        end; /* of lines, the last one's line break left out; start == end: there are none */
} text_labels;

/* The first three lines or more of a paragraph that each begin with a label, from the line that begins at s[at] on. The paragraph ends at a line
 * without text. */
text_labels text_labels_find(const char *s, size_t n, size_t at);

/* Is the line break behind them, before s[at..n), made on purpose? The next word would have fit. */
bool text_labels_are_behind(text_labels l, const char *s, size_t n, size_t at);

#endif
