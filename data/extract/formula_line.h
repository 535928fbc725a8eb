/* formula_line.h - fractions and roots of a formula as text on a line, 1/2, (a + b)/(2c), √(x + 1): what is above and what is below
 * would be one number otherwise, 12.
 *
 *     formula_line f = {.text = &text, .add = add, .ctx = r};
 *     formula_open(&f, "num"); ... text is added ... formula_close(&f, "num");     // of Office's <m:f>
 *     formula_open(&f, "den"); ... formula_close(&f, "den");
 *
 *     formula_tag_open(&f, "mfrac"); ... formula_tag_close(&f);                    // of every element of a page
 *
 * A side is bracketed where it is more than a number or a name. Formulas deeper than FORMULA_DEPTH are read without signs. */
#ifndef FORAGE_DATA_FORMULA_LINE_H
#define FORAGE_DATA_FORMULA_LINE_H

#include "kernels/buf.h"

#include <stdint.h>

enum { FORMULA_DEPTH = 16 };

typedef struct formula_line { /* zero-initialised but for the caller's three */
    /* the caller's: where the text goes, and how something is added to it */
    fo_buf *text;
    void (*add)(void *ctx, const char *s);
    void *ctx;
    size_t begin; /* of the block in the text: sides begin no further ahead */
    struct {
        uint8_t what;
        bool said; /* the sign of the root */
        size_t from;
    } sides[FORMULA_DEPTH];
    int n_sides, deeper;
    bool above; /* of the fraction at hand: something is */
    /* MathML says by their order what children are */
    struct {
        uint8_t what;
        int level, children;
    } tags[FORMULA_DEPTH];
    int n_tags, level;
} formula_line;

/* Office Math: "num", "den", "rad", "deg", "e"; other names are nothing. */
void formula_open(formula_line *f, const char *name);
void formula_close(formula_line *f, const char *name);
/* MathML: mfrac, msqrt and mroot, and what is in them. */
void formula_tag_open(formula_line *f, const char *name);
void formula_tag_close(formula_line *f);
/* The text was taken: what was open goes on in none. */
void formula_drop(formula_line *f);

static inline bool formula_has_tags(const formula_line *f) {
    return f->n_tags > 0;
}

#endif
