/* scenario.h - what the trials with faults let a service do: open a home, take documents in, write over
 * and delete some, answer, merge its index, back itself up, close. Whatever fails, it goes on. It tells a
 * pipe what it began and what was acknowledged; scenario_audit holds a home against that. */
#ifndef FORAGE_TESTS_TRIALS_SCENARIO_H
#define FORAGE_TESTS_TRIALS_SCENARIO_H

#include "kernels/file.h"
#include "retrieval/collections/catalog.h"
#include "retrieval/service/service_store.h"
#include "retrieval/service/service.h"
#include "tests/trials/auditor.h"

enum { SCENARIO_DOCUMENTS = 24, SCENARIO_BATCH = 6, SCENARIO_STEPS = 5 };

typedef struct scenario_word { /* in a pipe */
    int document;
    uint32_t version;
    bool acknowledged; /* else it begins */
} scenario_word;
typedef void scenario_tell(const scenario_word *w);

static const service_options scenario_options = {
    .n_threads = 1, .seal_chunks = 4, .merge_bytes_per_s = -1};

static void scenario_put(service *s, int step, uint32_t *version, scenario_tell *tell) {
    char ids[SCENARIO_BATCH][24], titles[SCENARIO_BATCH][24], texts[SCENARIO_BATCH][200];
    ingest_document docs[SCENARIO_BATCH];
    ingest_result results[SCENARIO_BATCH] = {0};
    scenario_word words[SCENARIO_BATCH];
    ingest_options into = {.tenant = "default", .collection = "default", .overlap = SIZE_MAX};
    fo_err err = {0};
    for (int i = 0; i < SCENARIO_BATCH; i++) {
        words[i] = (scenario_word){(step * SCENARIO_BATCH * 2 / 3 + i) % SCENARIO_DOCUMENTS,
                                   ++*version, false};
        snprintf(ids[i], sizeof ids[i], "d%d", words[i].document);
        snprintf(titles[i], sizeof titles[i], "%u", words[i].version);
        snprintf(texts[i], sizeof texts[i],
                 "Gauge %d of the weir says level%u. It is read at noon. The keeper notes it.",
                 words[i].document, words[i].version);
        docs[i] = (ingest_document){.id = ids[i],
                                    .title = titles[i],
                                    .bytes = texts[i],
                                    .n_bytes = strlen(texts[i]),
                                    .is_text = true};
        tell(&words[i]);
    }
    int rc = service_ingest(s, &into, docs, SCENARIO_BATCH, results, NULL, &err);
    for (int i = 0; i < SCENARIO_BATCH; i++) {
        words[i].acknowledged = true;
        if (!rc && results[i].status != INGEST_FAILED) tell(&words[i]);
        if (!rc) ingest_result_deinit(&results[i]);
    }
}

static void scenario_delete(service *s, int k, scenario_tell *tell) {
    char id[24];
    int64_t epoch;
    fo_err err = {0};
    scenario_word w = {k, 0, false};
    snprintf(id, sizeof id, "d%d", k);
    tell(&w);
    int rc = service_delete_document(s, "default", "default", id, NULL, &epoch, &err);
    w.acknowledged = true;
    if (!rc || rc == FO_ENOTFOUND) tell(&w);
}

/* read: an answer, by the reader, which takes its time. */
static void scenario_ask(service *s, int k, bool read) {
    char question[80];
    fo_err err = {0};
    query_result r = {0};
    snprintf(question, sizeof question, "What does gauge %d of the weir say?", k);
    query_request q = {.tenant = "default",
                       .collection = "default",
                       .query = question,
                       .top_k = 2,
                       .generate = read,
                       .strict = true,
                       .search = {.alpha = -1}};
    if (service_query(s, &q, NULL, &r, &err) == FO_OK) query_result_deinit(&r);
}

static int scenario_compact(void *ctx, const char *tenant, const char *collection, search_index *ix,
                            fo_err *err) {
    (void)ctx, (void)tenant, (void)collection;
    return search_index_compact(ix, err);
}

/* One run over a home; version goes on from where it was. */
static void scenario_run(const char *home, uint32_t *version, bool read, scenario_tell *tell) {
    service_options opt = scenario_options;
    service *s;
    fo_err err = {0};
    char copy[1100];
    opt.home = home;
    if (service_open(&s, &opt, &err)) return;
    for (int step = 0; step < SCENARIO_STEPS; step++) {
        scenario_put(s, step, version, tell);
        scenario_ask(s, step, read && step == 1);
        if (step) scenario_delete(s, step * 3 % SCENARIO_DOCUMENTS, tell);
        if (step == 2) service_each_index(s, NULL, NULL, scenario_compact, NULL, &err);
    }
    snprintf(copy, sizeof copy, "%s/backups", home);
    if (fo_make_dirs(copy, &err) == FO_OK) {
        snprintf(copy, sizeof copy, "%s/backups/copy.tar.zst", home);
        service_backup(s, copy, NULL, &err);
    }
    service_close(s);
}

/* What a home turned out to be. DOUBT: only the last commit is not there, and it was said that it had been begun. */
enum scenario_end {
    SCENARIO_KEPT,
    SCENARIO_REFUSED,
    SCENARIO_TOLD,
    SCENARIO_SILENT,
    SCENARIO_DOUBT,
    N_SCENARIO_ENDS
};

typedef struct scenario_notices {
    int told, unfinished;
} scenario_notices;

static void scenario_count(void *ctx, const char *kind, const char *text) {
    (void)text;
    scenario_notices *n = ctx;
    bool unfinished = strcmp(kind, "commit_unfinished") == 0;
    n->told += !unfinished;
    n->unfinished += unfinished;
}

/* Open the home and hold it against the auditor; where it is not KEPT `why` says what. doubt: what may be there
 * instead, as the ledger did not know its last commit as made (ledger.h: `done` is synced soon); NULL: nothing. */
static enum scenario_end scenario_audit(const char *home, auditor *a, const auditor *doubt,
                                        char why[600]) {
    service_options opt = scenario_options;
    service *s;
    fo_err err = {0};
    scenario_notices heard = {0};
    int told = 0, wrong = 0, doubtful = 0;
    opt.home = home;
    opt.notices = (fo_notices){scenario_count, &heard};
    why[0] = 0;
    if (service_open(&s, &opt, &err)) {
        snprintf(why, 600, "%s", err.msg);
        return SCENARIO_REFUSED;
    }
    for (int k = 0; k < SCENARIO_DOCUMENTS; k++) {
        char id[24];
        store_document d = {0};
        query_result r = {0};
        snprintf(id, sizeof id, "d%d", k);
        int rc = catalog_get_document(service_catalog(s), "default", "default", id, NULL, true, &d,
                                      &err);
        uint32_t version = !rc && d.title ? (uint32_t)atoi(d.title) : 0;
        if (rc && rc != FO_ENOTFOUND) { /* refused by name: seen */
            told++;
            snprintf(why, 600, "%s", err.msg);
            continue;
        }
        if (!audit_allows(a, k, version)) {
            snprintf(why, 600,
                     "document %d: version %u is there, %u was acknowledged, %u asked for", k,
                     version, a->sure[k], a->maybe[k]);
            bool may_lack = doubt && audit_allows(doubt, k, version);
            doubtful += may_lack;
            wrong += !may_lack;
        }
        if (version) { /* it is found by the word that it alone has */
            char question[40];
            snprintf(question, sizeof question, "level%u", version);
            query_request q = {.tenant = "default",
                               .collection = "default",
                               .query = question,
                               .top_k = 8,
                               .search = {.mode = SEARCH_SPARSE, .alpha = -1}};
            bool found = false;
            int asked = service_query(s, &q, NULL, &r, &err);
            for (size_t i = 0; !asked && i < r.n_contexts; i++)
                found |=
                    r.contexts[i].chunk.document_id && !strcmp(r.contexts[i].chunk.document_id, id);
            if (!asked) query_result_deinit(&r);
            if (asked) {
                snprintf(why, 600, "%s", err.msg);
                told++;
            } else if (!found) {
                snprintf(why, 600, "document %d of version %u is stored and not found", k, version);
                wrong++;
            }
        }
        store_document_deinit(&d);
    }
    if (store_verify(service_store(s), &err)) {
        told++;
        snprintf(why, 600, "%s", err.msg);
    }
    service_close(s);
    told += heard.told;
    if (!wrong && !doubtful) return SCENARIO_KEPT;
    if (told) return SCENARIO_TOLD;
    return !wrong && heard.unfinished ? SCENARIO_DOUBT : SCENARIO_SILENT;
}

#endif
