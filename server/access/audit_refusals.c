#include "server/access/audit_refusals.h"

#include <stdio.h>
#include <string.h>

enum { MINUTE_MS = 60000 };

static bool is_over(const audit_refused *r, double now_ms) {
    return now_ms - r->since_ms >= MINUTE_MS;
}

/* The key's place, or one that is free: nobody's, or of one whose minute is over and who has nothing to tell. */
static audit_refused *place_of(audit_refusals *l, const char *who, double now_ms) {
    audit_refused *free_one = NULL;
    for (size_t i = 0; i < AUDIT_REFUSERS; i++) {
        audit_refused *r = &l->of[i];
        bool used = r->n_told > 0;
        if (used && !strcmp(r->who, who)) return r;
        if (!free_one && (!used || (!r->n && is_over(r, now_ms)))) free_one = r;
    }
    if (!free_one) return &l->of[AUDIT_REFUSERS];
    *free_one = (audit_refused){.since_ms = now_ms};
    return free_one;
}

bool audit_refusals_take(audit_refusals *l, const char *who, const char *tenant, double now_ms) {
    audit_refused *r = place_of(l, who ? who : "", now_ms);
    const bool others = r == &l->of[AUDIT_REFUSERS];
    if (!r->n && is_over(r, now_ms)) *r = (audit_refused){.since_ms = now_ms};
    snprintf(r->who, sizeof r->who, "%s", others ? AUDIT_REFUSED_OTHERS : who ? who : "");
    snprintf(r->tenant, sizeof r->tenant, "%s", others || !tenant ? "" : tenant);
    if (!others && r->n_told < AUDIT_REFUSALS_A_MINUTE) {
        r->n_told++;
        return true;
    }
    l->n_waiting += r->n++ == 0;
    return false;
}

bool audit_refusals_due(audit_refusals *l, double now_ms, audit_refused *out) {
    for (size_t i = 0; l->n_waiting && i <= AUDIT_REFUSERS; i++) {
        if (!l->of[i].n || !is_over(&l->of[i], now_ms)) continue;
        *out = l->of[i];
        l->of[i] = (audit_refused){0};
        l->n_waiting--;
        return true;
    }
    return false;
}
