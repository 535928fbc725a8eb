/* Logistic models: of what the reader saw, of words and the dense side, of words alone. Fitted on answerable and
 * unanswerable questions; how, on what and how well: docs/measurements/answers.md. The intercepts without the reader
 * are moved so that those two keep 90 % of the answerable at the one threshold. */
#include "retrieval/text/support.h"

#include <math.h>

const double support_threshold = 0.45;

/* By hand, in log odds: another code is another thing, and the fitted questions name no options and no days; a demand
 * for an amount can be misread. */
static double by_hand(const support_features *f) {
    return 3 * f->option - 3 * f->lost_name - 9 * f->lost_kind - 10 * f->missing_code -
           6 * f->no_amount - 4 * f->no_place - 10 * f->other_day - 4 * f->other_thing -
           3 * f->run_on - 8 * f->question - 8 * f->restated;
}

/* Words that meet and what both texts say together are weighed against each other: a question about what is not there
 * shares few words, one that a passage nearly answers shares many. */
static double with_cross(double words, double cross, double hand) {
    return 0.36 * words + 0.55 * cross + 0.05 + 0.44 * hand;
}

enum { MOST_AHEAD = 4 }; /* more says no more */

/* The built-in reader learnt English. Of German or Spanish it sees which letters are alike: a sentence about something else in words
 * like those of the question comes near, and one that answers does not. So that weighs less there, and words that meet, and meet side
 * by side, weigh more. Half of the way from the weights of English to those that were fitted on 583 questions in German, French,
 * Spanish, Italian and Portuguese, of which the documents answer 435. Each language held against the fit of the other four: 314 right
 * for 299, 9 wrong for 8, and 17 of those that nothing answers for 21. */
static double moved_for_strange(const support_features *f) {
    return 2.62 - 1.66 * f->lead + 0.9 * f->missing_names + 1.73 * f->pairs - 4.98 * f->align +
           1.17 * f->type_near + 0.24 * fmin(f->ahead, MOST_AHEAD) + 1.6 * f->bm25;
}

/* What a reader of many languages says of one of them is on another scale than the English one's, and how far the best unit is ahead
 * tells more; a name that the text writes in another way is no lost one. Fitted on 1,182 questions about paragraphs in French,
 * Italian, Spanish, Chinese and Arabic, asked with their paragraph and of half of them without, and on 750 about files in ten
 * languages: docs/measurements/quality.md. */
static double in_other_languages(const support_features *f) {
    return -5.92 + 3.24 * f->cover_near + 0.46 * f->lead + 3.46 * f->align + 2.94 * f->back +
           0.83 * fmin(f->ahead, MOST_AHEAD) + 2.2 * f->lost_name;
}

/* The same where question and text were read together (engine/embed/reader_cross.h) as well. How alike single words are says nothing
 * more then. Fitted on 960 questions about paragraphs in Spanish and Italian, with their paragraph and of half of them without, and on
 * 750 about files in ten languages, none of whose texts the cross-encoder had learnt from: docs/measurements/quality.md. */
static double read_together_in_other_languages(const support_features *f, double cross) {
    return -2.1 + 2.43 * f->cover_near + 0.61 * fmin(f->ahead, MOST_AHEAD) + 0.52 * cross +
           0.9 * f->lost_name;
}

/* The question in another language than the text: no words meet. Fitted on 150 questions about English files in seven languages, each
 * set of files held against the fit of the other three. */
static double read_together_across(const support_features *f, double cross) {
    return -4.21 + 8.84 * f->align + 0.38 * fmin(f->ahead, MOST_AHEAD) + 0.55 * cross;
}

/* What was read together and how is weighed with what else there is. By hand: what is of a rival, or says a question for a reason
 * again, is read as an answer as a rule. */
static double with_reading(const support_features *f, double words) {
    const double cross = f->rival || f->restated > 0 ? fmin(f->cross, 0) : f->cross;
    if (f->across) return read_together_across(f, cross) + 0.44 * by_hand(f);
    if (f->languages) return read_together_in_other_languages(f, cross) + 0.44 * by_hand(f);
    return with_cross(words, cross, by_hand(f));
}

double support_probability(const support_features *f) {
    /* By hand: "the price of gold" is no row below "Price" in which nothing is of gold. */
    static const double of_another = 1.2, amount_of_another = 4;
    double x;
    if (f->across) /* no words meet; moved on 383 questions in other languages than their documents */
        x = -6.5 + 11 * f->align + 5 * f->back;
    else if (isfinite(f->align) && f->languages)
        x = in_other_languages(f);
    else if (isfinite(f->align))
        x = -10.73 + 2.82 * f->cover_near + 4.03 * f->lead - 1.89 * f->missing_names +
            0.85 * f->pairs + 11.09 * f->align + 3.49 * f->back + 3.16 * f->follow_up;
    else if (isfinite(f->dense))
        x = -4.72 + 3.05 * f->cover_near + 4.03 * f->lead - 3.40 * f->missing_names +
            1.41 * f->pairs + 6.52 * f->dense;
    else if (
        f->other_script) /* fitted on questions in three such languages, but for what is unmet */
        x = -(f->amount ? amount_of_another : of_another) * f->unmet - 3.85 + 2.90 * f->cover +
            3.75 * f->cover_near + 2.80 * f->lead - 3.00 * f->missing_names + 0.93 * f->pairs -
            5.13 * f->best_idf;
    else
        x = -3.53 + 5.18 * f->bm25 + 3.02 * f->cover + 4.49 * f->lead - 3.48 * f->missing_names -
            4.42 * f->best_idf + 0.89 * f->pairs;
    x = isfinite(f->cross) ? with_reading(f, x) : x + by_hand(f);
    /* By hand: what a section on the question's topic begins with need not say its words. */
    x += 3 * f->topic + 2 * f->summary + 3 * f->by_table;
    /* Of 58 answers to questions that name no command, 20 of them right, this was so of 4 right ones and 23 others. */
    x -= 2.5 * f->other_purpose;
    /* By hand: it says no word of the question, nor does what stands around it. Of 10 such answers to questions of our own the 9 right
     * ones keep theirs, and of three to questions about what is not there none is left. */
    if (isfinite(f->cross) && !f->languages && f->cover_near < 1e-9 && f->topic <= 0) x -= 0.4;
    /* Words that were added from the turns before make what is read together with the text no sentence. */
    if (isfinite(f->cross)) x += 0.8 * f->follow_up;
    /* A conversation stays with its document more often than not. */
    x += 0.5 * f->spoken_of + f->task;
    if (f->strange) x += moved_for_strange(f);
    /* By hand, on 75 questions in each: they share more with what nearly answers them. Without it 2 of 55 more are answered in
     * Japanese, and 3 of the 20 that nothing answers (of 77 others over other texts none is); in Arabic 3 of 55, and of 117
     * paragraphs and as many questions of others 5, 3 wrong ones and 4 that nothing answers. */
    if (f->met_sooner) x -= 0.25;
    /* Characters and short stems meet by chance more often; fitted on questions in five languages. */
    if (f->other_script && isfinite(f->dense)) x = 1.14 * x - 1.58;
    return 1 / (1 + exp(-x));
}
