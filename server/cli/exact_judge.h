/* exact_judge.h - is an answer right? By expressions that a person wrote beside the question.
 *
 * A question is a line of JSON with either
 *     "accept": ["-c, --count", ["open both valves", "1[.]5 bar"]]   ways to be right, or
 *     "refuse": true                                                 the documents do not answer it.
 * and, beside accept,
 *     "reject": ["Grebe"]                                            what a right answer does not say.
 * A way is an expression (POSIX extended, case ignored) that the answer must contain, or a list of
 * parts that it must contain all. Ours: one answer in other words may be missed, none is let pass
 * that lacks the fact. */
#ifndef FORAGE_SERVER_EXACT_JUDGE_H
#define FORAGE_SERVER_EXACT_JUDGE_H

#include <cjson/cJSON.h>
#include <stdbool.h>

#include "kernels/error.h"

typedef struct exact_judge exact_judge; /* of one question; immutable, any thread may ask it */

enum exact_verdict {
    EXACT_RIGHT,   /* one way is there whole; or it was to be refused and was */
    EXACT_PARTIAL, /* some parts of a way, no way whole */
    EXACT_WRONG,   /* answered with something else, or where it should have been refused */
    EXACT_REFUSED, /* refused although the documents answer */
    EXACT_VERDICTS
};
extern const char *const exact_verdict_names[EXACT_VERDICTS];

/* *out: NULL where the question says neither. FO_EINVAL names a malformed field or expression. */
int exact_judge_create(exact_judge **out, const cJSON *question, fo_err *err);
void exact_judge_free(exact_judge *j); /* NULL is fine */
bool exact_judge_wants_refusal(const exact_judge *j);
/* answer: NUL-terminated, without markers; NULL: refused. */
enum exact_verdict exact_judge_answer(const exact_judge *j, const char *answer);

#endif
