/* See doc_budget.h. */
#include "data/extract/doc_budget.h"

#include <time.h>

static double thread_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static double granted_ms(const doc_budget *b) {
    return b->cpu_ms + b->cpu_ms_per_mib * b->granted / (1 << 20);
}

void doc_budget_begin(doc_budget *b) {
    if (!b) return;
    b->began_ms = thread_ms();
    b->granted = 0;
    b->used = b->most = b->wanted = b->owed = 0;
    b->failure = FO_OK;
}

void doc_budget_grant(doc_budget *b, size_t bytes) {
    if (b) b->granted += (double)bytes;
}

bool doc_budget_look(doc_budget *b) {
    b->owed = 0;
    if (b->failure) return false;
    if (b->cancel && atomic_load_explicit(b->cancel, memory_order_relaxed))
        b->failure = FO_ECANCELLED;
    else if (b->cpu_ms > 0 && thread_ms() - b->began_ms > granted_ms(b))
        b->failure = FO_ELIMIT;
    return b->failure == FO_OK;
}

bool doc_budget_take(doc_budget *b, size_t bytes) {
    if (!b) return true;
    if (b->failure) return false;
    if (b->max_bytes && (b->used > b->max_bytes || bytes > b->max_bytes - b->used)) {
        b->failure = FO_ENOMEM;
        if (__builtin_add_overflow(b->used, bytes, &b->wanted)) b->wanted = (size_t)-1;
        return false;
    }
    b->used += bytes;
    if (b->used > b->most) b->most = b->used;
    return true;
}

void doc_budget_give(doc_budget *b, size_t bytes) {
    if (b) b->used -= bytes < b->used ? bytes : b->used;
}

int doc_budget_fail(const doc_budget *b, fo_err *err) {
    switch (b ? b->failure : FO_OK) {
    case FO_OK:
        return FO_OK;
    case FO_ECANCELLED:
        return fo_fail(err, FO_ECANCELLED, "cancelled");
    case FO_ELIMIT:
        return fo_fail(err, FO_ELIMIT,
                       "reading the document took longer than the %.1f s of computing that one of "
                       "its size is given",
                       granted_ms(b) / 1e3);
    default:
        return fo_fail(err, FO_ENOMEM, "reading the document needs more than %zu MiB of memory",
                       b->max_bytes >> 20);
    }
}
