/* Logistic models: of what the reader saw, of words and the dense side, of words alone. Fitted on half answerable, half
 * unanswerable questions; how, on what and how well: docs/measurements/answers.md. The intercepts are moved so
 * that both keep 90 % of the answerable at the one threshold. */
#include "retrieval/answer/support.h"

#include <math.h>

const double support_threshold = 0.35;

double support_probability(const support_features *f) {
    double x;
    if (isfinite(f->align))
        x = -10.85 + 3.24 * f->cover_near + 2.64 * f->lead - 2.02 * f->missing_names +
            0.60 * f->pairs + 5.70 * f->align + 2.61 * f->least + 5.02 * f->align_passage +
            2.38 * f->back + 3.0 * f->follow_up;
    else if (isfinite(f->dense))
        x = -5.14 + 3.05 * f->cover_near + 4.03 * f->lead - 3.40 * f->missing_names +
            1.41 * f->pairs + 6.52 * f->dense;
    else
        x = -3.95 + 5.18 * f->bm25 + 3.02 * f->cover + 4.49 * f->lead - 3.48 * f->missing_names -
            4.42 * f->best_idf + 0.89 * f->pairs;
    /* By hand: another code is another thing, and the fitted questions name no options. */
    x += 3 * f->option - 10 * f->missing_code;
    return 1 / (1 + exp(-x));
}
