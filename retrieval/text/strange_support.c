#include "retrieval/text/strange_support.h"

#include <math.h>

enum { MOST_AHEAD = 4 }; /* more says no more */

/* Half of the way from the weights of English to those that were fitted on 583 questions in German, French, Spanish, Italian and
 * Portuguese, of which the documents answer 435. Each language held against the fit of the other four: 314 right for 299, 9 wrong for
 * 8, and 17 of those that nothing answers for 21. */
double strange_support(double support, const support_features *f, double type_near, double ahead) {
    const double x = log(support / (1 - support));
    const double more = 2.62 - 1.66 * f->lead + 0.9 * f->missing_names + 1.73 * f->pairs -
                        4.98 * f->align + 1.17 * type_near + 0.24 * fmin(ahead, MOST_AHEAD) +
                        1.6 * f->bm25;
    return 1 / (1 + exp(-(x + more)));
}
