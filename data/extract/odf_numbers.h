/* odf_numbers.h - the numbers that an OpenDocument text or presentation puts before items of lists and before headings: "1.",
 * "b)", "2.1". They stand nowhere in the text: styles of lists say how a level looks, and counting is the reader's.
 *
 *     odf_numbers n = {0};
 *     ... on each element that opens: if (odf_numbers_style(&n, e)) return;
 *     odf_numbers_begin_list(&n, e);
 *     odf_numbers_begin_item(&n, e);
 *     switch (odf_numbers_next(&n, mark)) ...              // the item's paragraph begins
 *     odf_numbers_end_list(&n);
 *     ... odf_numbers_heading(&n, e, level, mark) ...      // one that stands in no list
 *     odf_numbers_free(&n);
 *
 * A list begins anew unless it says that it goes on with what came before it; a level starts again below each number of a
 * higher one. 1,024 styles and 10 levels are known. Source: OpenDocument 1.2, part 1, sections 5.3 and 16.30. */
#ifndef FORAGE_DATA_ODF_NUMBERS_H
#define FORAGE_DATA_ODF_NUMBERS_H

#include "data/extract/list_number.h"
#include "data/extract/xml_part.h"

enum { ODF_LEVELS = 10, ODF_MARK_BYTES = 512 };

typedef struct odf_level {
    uint8_t form;   /* enum list_form */
    uint8_t levels; /* that the number shows */
    int32_t start;
    char before[32], behind[32];
    int32_t count; /* of the last number, where begun */
    bool begun;    /* since the last number of a higher level */
} odf_level;

typedef struct odf_list_style {
    char name[64]; /* "": of headings */
    odf_level levels[ODF_LEVELS];
} odf_list_style;

typedef struct odf_open_list {
    int32_t style;    /* -1: not known */
    bool fresh;       /* an item has begun, whose first paragraph is still to come */
    int32_t restarts; /* the number that the item says it has, + 1; 0: none */
} odf_open_list;

typedef struct odf_numbers { /* zero-initialised */
    odf_list_style *styles;
    size_t n_styles, cap_styles;
    int32_t style; /* that is being told, + 1 */
    odf_open_list open[ODF_LEVELS];
    int n_open;        /* lists, also those that are too deep */
    fo_buf unnumbered; /* styles of headings without numbers, each between blanks */
    bool failed;       /* no memory */
} odf_numbers;

typedef enum odf_mark { ODF_BULLET, ODF_NUMBER, ODF_GOES_ON } odf_mark;

/* True: the element is a part of a list's style, and was taken. Styles of paragraphs are looked at, and the reader's. */
bool odf_numbers_style(odf_numbers *n, const xml_element *e);
void odf_numbers_begin_list(odf_numbers *n, const xml_element *e);
void odf_numbers_end_list(odf_numbers *n);
/* list-item, or list-header, which has no number. */
void odf_numbers_begin_item(odf_numbers *n, const xml_element *e);
/* A paragraph of the innermost list comes: what stands before it. mark: of a number, else "". GOES_ON: nothing, in a list of
 * numbers. */
odf_mark odf_numbers_next(odf_numbers *n, char mark[ODF_MARK_BYTES]);
/* mark: "" where headings of this level, from 1, or this one, have no number. */
void odf_numbers_heading(odf_numbers *n, const xml_element *e, long level,
                         char mark[ODF_MARK_BYTES]);
void odf_numbers_free(odf_numbers *n);

#endif
