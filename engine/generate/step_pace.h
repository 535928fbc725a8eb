/* step_pace.h - how much of a prompt may be read in a step beside tokens that are being written, so
 * that those who write go on at nearly their own pace. Learnt from the engine's own steps: what a
 * step costs that only writes, and what a row of a prompt adds to it.
 *
 *     step_pace p = {0};
 *     int rows = step_pace_rows(&p, 2, 512);      // for the next step, where somebody writes
 *     step_pace_add(&p, n_written, n_read, ms);   // what it took
 *
 * No throughput is lost by it: the step reads the weights for those who write anyway, and a row
 * costs nearly the same among eight as among five hundred. Threads: one. */
#ifndef FORAGE_ENGINE_STEP_PACE_H
#define FORAGE_ENGINE_STEP_PACE_H

typedef struct step_pace {
    double write_ms; /* of a step that only writes; 0: not known yet */
    double row_ms;   /* that a row of a prompt adds; 0: not known yet */
    double spent;    /* rows that were read lately beyond what a step may take */
} step_pace;

/* A step of so many rows of written tokens and of prompts took `ms`. */
void step_pace_add(step_pace *p, int n_written, int n_read, double ms);

/* Rows of prompts with which a step takes `stretch` (> 1) times as long as one that only writes, less
 * a tenth for what no step foresees: at least STEP_PACE_LEAST, so that prompts are read whatever
 * they cost, and at most `most`. Now and then it may be STEP_PACE_BURST: a question over contexts
 * that are known is read in one step, and only then those who write have been spared for so long
 * as makes up for it. */
int step_pace_rows(const step_pace *p, double stretch, int most);
/* Before each step: some of what was spent is made up for. */
void step_pace_rest(step_pace *p, double stretch);

enum {
    STEP_PACE_LEAST = 4,
    STEP_PACE_FIRST = 8 /* before anything is known */,
    STEP_PACE_BURST = 48
};

#endif
