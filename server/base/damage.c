#include "server/base/damage.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "server/base/log.h"
#include "server/base/printable.h"

static const struct {
    const char *kind;
    enum log_level level;
} kinds[] = {
    /* what was lost */
    {"commits_lost", LOG_LEVEL_ERROR},
    {"store_lost", LOG_LEVEL_ERROR},
    {"counts_differ", LOG_LEVEL_ERROR},
    {"document_damaged", LOG_LEVEL_ERROR},
    {"chunk_left_out", LOG_LEVEL_ERROR},
    {"ledger_missing", LOG_LEVEL_ERROR},
    {"ledger_damaged", LOG_LEVEL_ERROR},
    {"ledger_failed", LOG_LEVEL_ERROR},
    {"index_dropped", LOG_LEVEL_ERROR},
    {"index_missing", LOG_LEVEL_ERROR},
    {"index_ahead", LOG_LEVEL_ERROR},
    {"index_stuck", LOG_LEVEL_ERROR},
    /* what was made good */
    {"index_refilled", LOG_LEVEL_WARN},
    {"metadata_left_out", LOG_LEVEL_WARN},
    {"ledger_short", LOG_LEVEL_WARN},
    {"kv_damaged", LOG_LEVEL_WARN},
    {"hot_damaged", LOG_LEVEL_WARN},
    {"hot_missing", LOG_LEVEL_WARN},
    {"modes_tightened", LOG_LEVEL_WARN},
    {"modes_open", LOG_LEVEL_WARN},
    /* what is told in passing */
    {"schema_migrated", LOG_LEVEL_INFO},
    {"commit_unfinished", LOG_LEVEL_INFO},
    {"index_caught_up", LOG_LEVEL_INFO},
    {"index_leftover", LOG_LEVEL_INFO},
    {"index_goes_on", LOG_LEVEL_INFO},
    /* what has no row */
    {"other", LOG_LEVEL_WARN},
};
enum { N_KINDS = sizeof kinds / sizeof *kinds };
static atomic_uint_fast64_t counts[N_KINDS];

static size_t row_of(const char *kind) {
    size_t i = 0;
    while (i + 1 < N_KINDS && strcmp(kinds[i].kind, kind) != 0) i++;
    return i;
}

void damage_log(void *ctx, const char *kind, const char *text) {
    (void)ctx;
    size_t i = row_of(kind);
    atomic_fetch_add_explicit(&counts[i], 1, memory_order_relaxed);
    log_event(kinds[i].level, NULL, kind, LOG_STR("what", text));
}

void damage_print(void *ctx, const char *kind, const char *text) {
    (void)ctx;
    if (kinds[row_of(kind)].level > LOG_LEVEL_INFO) printable_say(stderr, "forage: %s", text);
}

const char *damage_kind(size_t i) {
    return i < N_KINDS ? kinds[i].kind : NULL;
}

uint64_t damage_count(size_t i) {
    return atomic_load_explicit(&counts[i], memory_order_relaxed);
}
