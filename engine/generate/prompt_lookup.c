#include "engine/generate/prompt_lookup.h"

#include <stdlib.h>
#include <string.h>

enum {
    SHORTEST = 2,
    LONGEST = 16, /* a match that long is as good as any */
    CANDIDATES = 24
};

/* Before anything is known: how often a guess comes true, and how many outcomes that is worth. */
static const double first_rate[PROMPT_LOOKUP_CLASSES] = {.3, .45, .65, .85};
static const double first_weight = 2, forget = .9;

static const double known_row_cost = .12; /* until it is measured */
static const double forget_step = .98;

int prompt_lookup_init(prompt_lookup *p, int cap, fo_err *err) {
    *p = (prompt_lookup){.bits = 6, .cap = cap};
    while (p->bits < 20 && (1 << p->bits) < cap) p->bits++;
    p->head = malloc(sizeof *p->head << p->bits);
    p->before = malloc(((size_t)cap + 1) * sizeof *p->before);
    if (!p->head || !p->before) {
        prompt_lookup_deinit(p);
        return fo_no_memory(err);
    }
    memset(p->head, -1, sizeof *p->head << p->bits);
    for (int i = 0; i < PROMPT_LOOKUP_CLASSES; i++) {
        p->tried[i] = first_weight;
        p->kept[i] = first_weight * first_rate[i];
    }
    return FO_OK;
}

void prompt_lookup_deinit(prompt_lookup *p) {
    free(p->head);
    free(p->before);
    *p = (prompt_lookup){0};
}

static int32_t *slot(const prompt_lookup *p, const int32_t *end) {
    uint64_t pair = (uint64_t)(uint32_t)end[-2] << 32 | (uint32_t)end[-1];
    return &p->head[pair * 0x9E3779B97F4A7C15u >> (64 - p->bits)];
}

/* Every pair that something follows. */
static void index_tokens(prompt_lookup *p, const int32_t *tokens, int n) {
    for (int i = p->n_indexed < SHORTEST ? SHORTEST : p->n_indexed; i < n; i++) {
        int32_t *s = slot(p, tokens + i);
        p->before[i] = *s;
        *s = i;
        p->n_indexed = i + 1;
    }
}

static int common_end(const int32_t *tokens, int a, int b) {
    int k = 0;
    while (k < LONGEST && k < a && tokens[a - 1 - k] == tokens[b - 1 - k]) k++;
    return k;
}

/* Where the longest end of tokens[0, n) stood before, of equal ones the latest; its length in
 * *length (0: nowhere). Returns the position of what followed. */
static int find_match(const prompt_lookup *p, const int32_t *tokens, int n, int *length) {
    int best = -1, at = *slot(p, tokens + n);
    *length = 0;
    for (int i = 0; i < CANDIDATES && at >= 0 && *length < LONGEST; i++, at = p->before[at]) {
        int k = common_end(tokens, at, n);
        if (k < SHORTEST || k <= *length) continue;
        *length = k;
        best = at;
    }
    return best;
}

static int class_of(int length) {
    return length >= 6 ? 3 : length >= 4 ? 2 : length - SHORTEST;
}

/* The length with the most tokens a time: rows + rate + rate^2 + ... of them in 1 + cost k. */
static int best_length(double rate, int most, int n_rows, double cost) {
    int best = 0;
    double expected = n_rows, chance = 1, top = expected;
    for (int k = 1; k <= most; k++) {
        chance *= rate;
        expected += chance;
        double speed = expected / (1 + cost * k);
        if (speed > top) {
            top = speed;
            best = k;
        }
    }
    return best;
}

int prompt_lookup_draft(prompt_lookup *p, const int32_t *tokens, int n, int most, int n_rows,
                        double row_cost, int32_t *draft) {
    index_tokens(p, tokens, n);
    if (most > PROMPT_LOOKUP_MAX) most = PROMPT_LOOKUP_MAX;
    if (most < 1 || n < SHORTEST) return 0;
    p->n_quiet++;
    int length, at = find_match(p, tokens, n, &length);
    if (at < 0) return 0;
    p->last_class = class_of(length);
    double rate = p->kept[p->last_class] / p->tried[p->last_class];
    int k = best_length(rate, most, n_rows, row_cost);
    if (k == 0 && p->n_quiet >= PROMPT_LOOKUP_PROBE) k = 1;
    if (k == 0) return 0;
    p->n_quiet = 0;
    for (int i = 0; i < k; i++) /* past the end the guess goes on with itself: a loop */
        draft[i] = at + i < n ? tokens[at + i] : draft[at + i - n];
    return k;
}

void prompt_lookup_learn(prompt_lookup *p, int n_tried, int n_kept) {
    double *kept = &p->kept[p->last_class], *tried = &p->tried[p->last_class];
    *kept = *kept * forget + n_kept;
    *tried = *tried * forget + n_kept + (n_kept < n_tried);
}

void step_cost_add(step_cost *c, int n_rows, double ms) {
    double predicted = c->base + c->slope * n_rows;
    if (c->base > 0 && ms > 4 * predicted) ms = 4 * predicted; /* the machine was away */
    c->n = c->n * forget_step + 1;
    c->rows = c->rows * forget_step + n_rows;
    c->ms = c->ms * forget_step + ms;
    c->rows2 = c->rows2 * forget_step + (double)n_rows * n_rows;
    c->rows_ms = c->rows_ms * forget_step + n_rows * ms;
    double spread = c->rows2 - c->rows * c->rows / c->n;
    if (c->n < 4 || spread < .25 * c->n) return; /* too much alike: what is known stays */
    double slope = (c->rows_ms - c->rows * c->ms / c->n) / spread;
    double base = (c->ms - slope * c->rows) / c->n;
    if (slope < 0) slope = 0, base = c->ms / c->n;
    if (base < 0) base = 0, slope = c->ms / c->rows;
    c->base = base;
    c->slope = slope;
}

double step_cost_row(const step_cost *c, int n_rows) {
    double time = c->base + c->slope * n_rows,
           cost = known_row_cost / (1 + known_row_cost * n_rows);
    if (time > 0) cost = c->slope / time;
    return cost < .01 ? .01 : cost > 1 ? 1 : cost;
}
