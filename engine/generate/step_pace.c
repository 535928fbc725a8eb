#include "engine/generate/step_pace.h"

static const double learn = .2, margin = .9;
enum { OUTLIER = 4 }; /* times what was expected: the machine was away */

static void approach(double *known, double ms) {
    if (*known <= 0) {
        *known = ms;
        return;
    }
    if (ms > OUTLIER * *known) ms = OUTLIER * *known;
    *known += learn * (ms - *known);
}

void step_pace_add(step_pace *p, int n_written, int n_read, double ms) {
    if (n_read <= 0) {
        if (n_written > 0) approach(&p->write_ms, ms);
        return;
    }
    if (n_written > 0) p->spent += n_read;
    if (n_written <= 0) { /* says what rows cost at least as long as nothing better is known */
        if (p->row_ms <= 0) p->row_ms = ms / n_read;
        return;
    }
    if (p->write_ms <= 0) return; /* whose time it was cannot be told */
    /* A step can be faster than one that only writes was: not even then a row costs nothing. */
    const double least = ms / n_read / 64, row = (ms - p->write_ms) / n_read;
    approach(&p->row_ms, row > least ? row : least);
}

/* Of every step. */
static double steady_rows(const step_pace *p, double stretch) {
    double rows = STEP_PACE_FIRST;
    if (p->write_ms > 0 && p->row_ms > 0) rows = (stretch * margin - 1) * p->write_ms / p->row_ms;
    return rows < STEP_PACE_LEAST ? STEP_PACE_LEAST : rows;
}

int step_pace_rows(const step_pace *p, double stretch, int most) {
    double rows = steady_rows(p, stretch);
    if (rows < STEP_PACE_BURST - p->spent) rows = STEP_PACE_BURST - p->spent;
    if (rows > most) rows = most;
    const int n = (int)rows;
    return n > STEP_PACE_LEAST ? n / 4 * 4 : n; /* kernels take rows by fours and more */
}

void step_pace_rest(step_pace *p, double stretch) {
    p->spent -= steady_rows(p, stretch);
    if (p->spent < 0) p->spent = 0;
}
