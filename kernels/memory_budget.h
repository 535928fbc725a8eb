/* memory_budget.h - a number of bytes that many callers share, each taking what it needs at once.
 *
 *     memory_budget *b;
 *     memory_budget_create(&b, 256 << 20, &err);
 *     if (memory_budget_take(b, n, 30000, &cancel, &err) == FO_OK) {
 *         ... allocate no more than n ...
 *         memory_budget_give(b, n);
 *     }
 *
 * Who holds some must not wait for more: two that did so would wait for each other. Whoever needs
 * more than it took gives all back and takes the larger number. Those that wait are served in the
 * order of their coming, so that a large one is not passed for ever by small ones. Any thread. */
#ifndef FORAGE_KERNELS_MEMORY_BUDGET_H
#define FORAGE_KERNELS_MEMORY_BUDGET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "kernels/error.h"

typedef struct memory_budget memory_budget;

int memory_budget_create(memory_budget **out, size_t bytes, fo_err *err);
void memory_budget_free(memory_budget *b); /* nobody may hold or wait; NULL is fine */

/* FO_ELIMIT: more than there is in all. FO_EBUSY: not free within wait_ms (0: not free now).
 * FO_ECANCELLED: *cancel (NULL: none) became true, which is seen within 50 ms. */
int memory_budget_take(memory_budget *b, size_t bytes, int wait_ms, const atomic_bool *cancel,
                       fo_err *err);
void memory_budget_give(memory_budget *b, size_t bytes);

typedef struct memory_budget_stats {
    size_t bytes, used, most; /* most: that was ever used at a time */
    size_t n_waiting;
    uint64_t n_waited, n_refused; /* calls that had to wait; of these, those that got nothing */
} memory_budget_stats;
void memory_budget_get_stats(memory_budget *b, memory_budget_stats *out);

#endif
