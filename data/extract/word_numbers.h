/* word_numbers.h - the numbers that Word puts before paragraphs: "1.", "b)", "2.1", "Article IV". They stand nowhere in the
 * text: a paragraph names its list and level, and counting is the reader's.
 *
 *     word_numbers *w = calloc(1, sizeof *w);
 *     rc = word_numbers_read(w, z, b, err);
 *     switch (word_numbers_next(w, num_id, level, mark)) ...
 *     free(w);
 *
 * Lists that are made of the same definition go on counting, unless one says where it starts; a level starts again
 * below each number of a higher one. A list may have levels of its own, which look and start as it says. Of lists, those with numbers up to 8,191 made of definitions up to 1,023 are known.
 * Source: ECMA-376 part 1, section 17.9. */
#ifndef FORAGE_DATA_WORD_NUMBERS_H
#define FORAGE_DATA_WORD_NUMBERS_H

#include "data/extract/zip_parts.h"

enum {
    WORD_LEVELS = 9,
    WORD_LISTS = 8192,
    WORD_DEFINITIONS = 1024,
    WORD_LEVEL_STYLES = 256,
    WORD_OWN_LEVELS = 1024, /* of lists */
    WORD_STYLE_BYTES = 64,
    WORD_MARK_BYTES = 352, /* a text of 39 bytes, in which each two may become 16 */
};

typedef struct word_level {
    int32_t start;   /* of the definition, or of the list that said so last */
    int32_t count;   /* of the last number, where begun */
    bool begun;      /* since the last number of a higher level */
    bool legal;      /* all its numbers are decimal */
    bool known;      /* the definition has it */
    uint8_t form;    /* word_numbers.c's */
    uint8_t restart; /* below numbers of so many upper levels */
    char text[40];   /* "%1.%2)" */
} word_level;

typedef struct word_definition {
    word_level levels[WORD_LEVELS];
    char link[WORD_STYLE_BYTES]; /* style of lists that it defines, or whose definition it takes */
    bool takes;
} word_definition;

typedef struct word_list {
    uint16_t definition; /* + 1; 0: there is no such list */
    bool used;
    int32_t start[WORD_LEVELS]; /* + 1; 0: the level's */
    uint16_t own[WORD_LEVELS];  /* own_levels, + 1; 0: the definition's level */
} word_list;

typedef struct word_numbers { /* zero-initialised; owns nothing; 1.3 MB */
    word_definition definitions[WORD_DEFINITIONS];
    word_list lists[WORD_LISTS];
    word_level
        own_levels[WORD_OWN_LEVELS]; /* how they look and start; counted are the definition's */
    uint16_t n_own_levels;
    struct {
        uint16_t definition;
        uint8_t level;
        char style[WORD_STYLE_BYTES];
    } styles[WORD_LEVEL_STYLES]; /* levels that styles of paragraphs have */
    size_t n_styles;
    /* while it is read */
    word_definition *definition;
    word_list *list;
    word_level *level;
    int at_level;
} word_numbers;

typedef enum word_mark { WORD_UNKNOWN, WORD_BULLET, WORD_NUMBER, WORD_UNMARKED } word_mark;

/* A document without lists has none. Errors as of xml_part_read. */
int word_numbers_read(word_numbers *w, zip_parts *z, builder *b, fo_err *err);
/* The level that paragraphs of this style have in this list: 0 where it says nothing. */
int word_numbers_level(const word_numbers *w, long list, const char *style);
/* A paragraph of this list comes, at a level from 0: what stands before it. mark: of a number, "2.1", else "". UNKNOWN: there
 * is no such list; UNMARKED: nothing stands there. */
word_mark word_numbers_next(word_numbers *w, long list, long level, char mark[WORD_MARK_BYTES]);

#endif
