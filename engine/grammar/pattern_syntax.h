/* pattern_syntax.h - the text of a regular expression as a tree (pattern.h says which dialect). */
#ifndef FORAGE_ENGINE_PATTERN_SYNTAX_H
#define FORAGE_ENGINE_PATTERN_SYNTAX_H

#include <stdint.h>
#include "kernels/error.h"

enum pattern_kind {
    PATTERN_EMPTY,
    PATTERN_SET,    /* one code point out of ranges */
    PATTERN_CAT,    /* a, then b */
    PATTERN_EITHER, /* a or b */
    PATTERN_REPEAT, /* a, min to max times */
    PATTERN_BEGIN,  /* ^ */
    PATTERN_END,    /* $ */
};

enum {
    PATTERN_MAX_TERMS = 2048,
    PATTERN_MAX_RANGES = 4096,
    PATTERN_ENDLESS = 0x7fffffff, /* max of a repeat */
};

typedef struct pattern_range {
    uint32_t first, last; /* code points, both included */
} pattern_range;

typedef struct pattern_term {
    enum pattern_kind kind;
    int a, b;     /* terms; of PATTERN_SET: first range and number of them */
    int min, max; /* of PATTERN_REPEAT */
} pattern_term;

typedef struct pattern_tree {
    pattern_term terms[PATTERN_MAX_TERMS];
    pattern_range ranges[PATTERN_MAX_RANGES];
    int n_terms, n_ranges, root;
} pattern_tree;

/* FO_EINVAL, FO_EUNSUPPORTED, FO_ELIMIT. */
int pattern_parse(pattern_tree *out, const char *text, fo_err *err);

#endif
