/* word_notes.h - foot- and endnotes of a Word document, which lie in parts of their own: their words by their numbers.
 *
 *     word_notes notes = {0};
 *     rc = word_notes_read(&notes, z, b, err);
 *     if (word_notes_take(&notes, false, 3, &s, &n)) ... the words of footnote 3 ...
 *     while (word_notes_left(&notes, &s, &n)) ... one that nothing referred to ...
 *     word_notes_free(&notes);
 */
#ifndef FORAGE_DATA_WORD_NOTES_H
#define FORAGE_DATA_WORD_NOTES_H

#include "data/extract/zip_parts.h"

typedef struct word_note {
    long id;
    size_t at, n; /* of the text */
    bool end;     /* an endnote */
    bool taken;
} word_note;

typedef struct word_notes { /* zero-initialised */
    fo_buf text;
    word_note *notes; /* read: by their kind and id */
    size_t n, cap, next, left;
    /* while they are read */
    builder *b;
    int skip; /* depth below what is passed over */
    bool in_text, end;
} word_notes;

/* A document without notes has none. What lies behind the 65,536th note is part of that. Errors as of xml_part_read. */
int word_notes_read(word_notes *w, zip_parts *z, builder *b, fo_err *err);
/* Each note once, and none that is empty: what refers to it again gets nothing. The words stay until word_notes_free. */
bool word_notes_take(word_notes *w, bool endnote, long id, const char **s, size_t *n);
bool word_notes_left(word_notes *w, const char **s, size_t *n);
void word_notes_free(word_notes *w);

#endif
