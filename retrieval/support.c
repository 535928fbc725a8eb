/* Two logistic models, one for when the dense side is known. Fitted on half answerable, half
 * unanswerable questions; how, on what and how well: docs/answers.md. */
#include "retrieval/support.h"

#include <math.h>

const double support_threshold = 0.32;

double support_probability(const support_features *f) {
    double x;
    if (isfinite(f->dense))
        x = -5.06 + 3.22 * f->cover_near + 3.96 * f->lead - 3.27 * f->missing_names +
            1.44 * f->pairs + 5.66 * f->dense;
    else
        x = -3.98 + 5.15 * f->bm25 + 3.06 * f->cover + 4.28 * f->lead - 3.41 * f->missing_names -
            4.40 * f->best_idf + 0.86 * f->pairs;
    return 1 / (1 + exp(-x));
}
