/* pdf_finder.h - what is known of a page while tables are looked for on it: its rows of words, and the columns of the table
 * at hand. Of pdf_tables.c and of what it is made of; nobody else includes it. */
#ifndef FORAGE_DATA_PDF_FINDER_H
#define FORAGE_DATA_PDF_FINDER_H

#include "data/extract/pdf_layout.h"

enum {
    STEPS = 512,         /* a page's width is looked at in so many steps */
    MAX_COLUMNS = 64,    /* of a table */
    MAX_ROWS = 1000,     /* of one page's part of a table */
    MAX_SEGMENTS = 8000, /* of a page: more are no page that anybody reads */
    MAX_TRIES = 300,     /* of a page: places where a table might begin */
    MAX_FOUND = 64,      /* tables of a page by wide gaps */
    EDGES = 3,           /* of a cell: left, right, middle */
    EDGE_ROWS = 64,      /* of a table, whose edges are looked at */
};

typedef struct segment { /* words of a line without a wide gap between them */
    pdf_line *line;
    size_t word, n_words;
    float x0, x1;
    uint32_t row;
    float y0, y1;  /* of the line, or of all cells that are centred on each other: pdf_centred.h */
    uint32_t cell; /* another segment of its cell, with a smaller index, or itself */
    uint32_t own_line,
        lines;   /* of its cell: which it is, from 1; how many the cell has, of its first segment */
    bool joined; /* the first of a cell: others are centred on it */
    float above,
        below; /* points to the nearest line that may be of its cell; large where there is none */
} segment;

typedef struct row {
    size_t first, n; /* segments, from left to right */
    float y0, y1;
    bool leader; /* dots lead to a page's number */
} row;

typedef struct span {
    float x0, x1;
} span;

typedef struct extent {
    float y0, y1; /* of a table on its page */
    size_t rows, columns;
} extent;

typedef struct finder {
    pdf_layout *p;
    builder *b;
    segment *s;
    size_t n;
    row *rows;
    size_t n_rows;
    float left, width; /* of all segments */
    float gutter;      /* of the page: only tables that reach over it are sought; 0: all are */
    float gap;         /* of a line's height: parts cells */
    bool narrow;       /* it is so small that edges must tell a table from text */
    bool only_looks;   /* what is found goes to `found` alone */
    extent found[MAX_FOUND];
    size_t n_found;
    float edges[MAX_COLUMNS][EDGES][EDGE_ROWS]; /* of the cells of the table at hand: edges_meet */
    /* the table at hand */
    uint16_t covered[STEPS]; /* by how many rows */
    span columns[MAX_COLUMNS];
    size_t n_columns, wide_rows; /* rows of two segments or more */
    size_t row, n_table_rows;    /* of the page, once it is taken */
} finder;

typedef struct lines_of { /* what is known of a row of a page */
    uint64_t columns;
    size_t numbers;
    bool spans; /* it reaches over columns */
} lines_of;

/* In points, between bounds. */
float pdf_finder_height_of(const pdf_line *l);
/* One past a word of the line, of f->p->text. */
size_t pdf_finder_word_end(const finder *f, const pdf_line *l, size_t word);
/* The column of a stretch, that which it shares most with; *crossed: it reaches into others too. */
size_t pdf_finder_column_of(const finder *f, float x0, float x1, bool *crossed);
/* A superscript is none. */
bool pdf_finder_is_number(const finder *f, const segment *s);
size_t pdf_finder_count(uint64_t columns);
lines_of pdf_finder_look_at(const finder *f, const row *r);

#endif
