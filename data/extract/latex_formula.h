/* latex_formula.h - a formula of LaTeX as a line of text: signs and Greek letters are characters, \frac{1}{2} is 1/2, 10^{8} is
 * 10^8, \SI{5}{\kilo\metre} is 5 kilometre. What has no such form (\hat{x}, a matrix) stays as it is written.
 *
 *     latex_formula(&words, "a \\leq 5", 8);      a ≤ 5
 */
#ifndef FORAGE_DATA_LATEX_FORMULA_H
#define FORAGE_DATA_LATEX_FORMULA_H

#include <stdbool.h>
#include <stddef.h>

#include "kernels/buf.h"

/* What stands between the marks of the formula, behind out's text: a lone index of digits joins a letter there (H$_2$O). */
void latex_formula(fo_buf *out, const char *s, size_t n);

/* The character of \NAME in formulas (times: ×, alpha: α), *n_sign bytes without an end of their own; NULL: it has none.
 * *apart, unless apart is NULL: blanks stand around it, as of a relation. */
const char *latex_symbol(const char *name, size_t n, size_t *n_sign, bool *apart);

/* The groups that \NAME takes which is read as a formula within text too (\SI, \nicefrac); 0: it is none of those. */
int latex_formula_groups(const char *name, size_t n);

#endif
