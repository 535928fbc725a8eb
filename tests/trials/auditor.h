/* auditor.h - what a witness outside of the service knows: of each document which version was
 * acknowledged, or that a request for it was under way when the service died.
 *
 * A document is NAME of the numbers 0 .. AUDIT_MOST-1; its text and title say its version. Version 0: it is
 * not there. Between audit_begin and audit_end of a document either version will do; afterwards one. Of what
 * was refused each version will do until another is acknowledged: an error may leave a commit behind. The
 * numbers are shared out among threads, one owner each, so that nothing here needs a lock. */
#ifndef FORAGE_TESTS_TRIALS_AUDITOR_H
#define FORAGE_TESTS_TRIALS_AUDITOR_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { AUDIT_MOST = 4096, AUDIT_TRIES = 7 };

typedef struct auditor {
    uint32_t sure[AUDIT_MOST];               /* the version acknowledged last */
    uint32_t maybe[AUDIT_MOST];              /* the one that was asked for since; = sure: none */
    uint32_t tried[AUDIT_MOST][AUDIT_TRIES]; /* those before it, refused since, + 1 */
    uint32_t next;                           /* version numbers are never used twice */
    uint64_t n_acknowledged, n_lost, n_risen, n_audited;
} auditor;

static inline uint32_t audit_version(auditor *a) {
    return __atomic_add_fetch(&a->next, 1, __ATOMIC_RELAXED);
}
static inline void audit_begin(auditor *a, int k, uint32_t version) {
    if (a->maybe[k] != a->sure[k]) {
        memmove(a->tried[k] + 1, a->tried[k], (AUDIT_TRIES - 1) * sizeof a->tried[k][0]);
        a->tried[k][0] = a->maybe[k] + 1;
    }
    a->maybe[k] = version;
}
static inline void audit_settle(auditor *a, int k, uint32_t version) {
    a->sure[k] = a->maybe[k] = version;
    memset(a->tried[k], 0, sizeof a->tried[k]);
}
/* May this be what is there? */
static inline bool audit_allows(const auditor *a, int k, uint32_t version) {
    bool good = version == a->sure[k] || version == a->maybe[k];
    for (int i = 0; i < AUDIT_TRIES; i++) good |= version + 1 == a->tried[k][i];
    return good;
}
static inline void audit_end(auditor *a, int k, bool acknowledged) {
    if (!acknowledged) return; /* either, until somebody looks */
    audit_settle(a, k, a->maybe[k]);
    __atomic_add_fetch(&a->n_acknowledged, 1, __ATOMIC_RELAXED);
}
/* What is there: version 0, nothing. From here on that is what is sure. False: neither of both. */
static inline bool audit_see(auditor *a, int k, uint32_t version) {
    bool good = audit_allows(a, k, version);
    if (!good && version)
        a->n_risen++; /* of a version that was overwritten or deleted, or nobody's */
    else if (!good)
        a->n_lost++;
    if (!good)
        printf("# document %d: version %u is there, %u was acknowledged, %u asked for\n", k,
               version, a->sure[k], a->maybe[k]);
    audit_settle(a, k, version);
    a->n_audited++;
    return good;
}

#endif
