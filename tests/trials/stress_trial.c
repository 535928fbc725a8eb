/* Everything at once: threads that take documents in, write over and delete them, ask in every mode, make,
 * drop and rebuild collections, merge, verify, back up and look at statistics, over more collections than may
 * be open, with small segments.
 *
 *     stress_trial [SECONDS [SEED]]     (make stress STRESS_SECONDS=180, SAN=thread for the sanitizer)
 *
 * What was acknowledged must be there in the end, and the indexes must hold it; no two locks may be taken in
 * both orders (tests/lock_order.c ends it where they are), and their order is printed. Status 1 otherwise. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/clock.h"
#include "kernels/file.h"
#include "tests/lock_order.h"
#include "retrieval/collections/catalog.h"
#include "retrieval/service/service.h"
#include "tests/trials/auditor.h"

enum { WRITERS = 3, SHARE = 60, ASKERS = 3 };

static struct {
    service *s;
    char home[1000];
    auditor documents;
    atomic_bool over;
    atomic_ulong done[8], refused;
    uint64_t seed;
} t;

static uint64_t next_random(uint64_t *s) {
    uint64_t z = (*s += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}
static int below(uint64_t *s, int n) {
    return (int)(next_random(s) % (uint64_t)n);
}

static const char *collection_of(int k) {
    static const char *const names[] = {"a", "b", "c", "d"};
    return names[k % 4];
}

static bool put(int k, const char *collection, uint32_t version) {
    char id[24], title[24], text[300];
    ingest_result r = {0};
    fo_err err = {0};
    snprintf(id, sizeof id, "d%d", k);
    snprintf(title, sizeof title, "%u", version);
    snprintf(text, sizeof text,
             "Gauge %d of the weir says level%u. It is read at noon. The keeper of "
             "sluice %d notes it down.",
             k, version, k % 9);
    ingest_document d = {
        .id = id, .title = title, .bytes = text, .n_bytes = strlen(text), .is_text = true};
    ingest_options into = {.tenant = "default", .collection = collection, .overlap = SIZE_MAX};
    int rc = service_ingest(t.s, &into, &d, 1, &r, NULL, &err);
    bool good = !rc && r.status != INGEST_FAILED;
    if (!rc) ingest_result_deinit(&r);
    if (!good) t.refused++;
    return good;
}

static void *writer(void *arg) {
    int me = (int)(intptr_t)arg;
    uint64_t seed = t.seed + (uint64_t)me;
    while (!t.over) {
        int k = me * SHARE + below(&seed, SHARE);
        if (below(&seed, 4)) {
            audit_begin(&t.documents, k, audit_version(&t.documents));
            audit_end(&t.documents, k, put(k, collection_of(k), t.documents.maybe[k]));
        } else {
            char id[24];
            int64_t epoch;
            fo_err err = {0};
            snprintf(id, sizeof id, "d%d", k);
            audit_begin(&t.documents, k, 0);
            int rc =
                service_delete_document(t.s, "default", collection_of(k), id, NULL, &epoch, &err);
            audit_end(&t.documents, k, !rc || rc == FO_ENOTFOUND);
        }
        t.done[0]++;
    }
    return NULL;
}

static void *asker(void *arg) {
    uint64_t seed = t.seed + 100 + (uint64_t)(intptr_t)arg;
    while (!t.over) {
        char text[80];
        query_result r = {0};
        fo_err err = {0};
        snprintf(text, sizeof text, "What does gauge %d of the weir say?",
                 below(&seed, WRITERS * SHARE));
        query_request q = {.tenant = "default",
                           .collection = collection_of(below(&seed, 4)),
                           .query = text,
                           .top_k = (size_t)below(&seed, 12),
                           .generate = below(&seed, 8) == 0,
                           .strict = true,
                           .cache = (enum cache_mode)below(&seed, 3),
                           .search = {.mode = (enum search_mode)below(&seed, 3), .alpha = -1}};
        if (service_query(t.s, &q, NULL, &r, &err) == FO_OK) query_result_deinit(&r);
        t.done[1]++;
    }
    return NULL;
}

static int work_on(void *ctx, const char *tenant, const char *collection, search_index *ix,
                   fo_err *err) {
    (void)tenant, (void)collection;
    return *(int *)ctx ? search_index_verify(ix, err) : search_index_compact(ix, err);
}

static void *keeper(void *arg) { /* backups, merges, checks, rebuilds, statistics */
    uint64_t seed = t.seed + 200;
    char copy[1100];
    (void)arg;
    snprintf(copy, sizeof copy, "%s.tar.zst", t.home);
    while (!t.over) {
        fo_err err = {0};
        service_stats st;
        int verify = below(&seed, 2), rc = 0;
        switch (below(&seed, 5)) {
        case 0:
            rc = service_backup(t.s, copy, NULL, &err);
            break;
        case 1:
            rc = verify ? service_each_index(t.s, NULL, NULL, work_on, &verify, &err) : 0;
            break;
        case 2:
            rc = service_rebuild(t.s, "default", collection_of(below(&seed, 4)), NULL, NULL, &err);
            break;
        case 3:
            rc = service_get_stats(t.s, &st, &err);
            break;
        default:
            usleep(20000);
        }
        if (rc && rc != FO_ENOTFOUND) printf("# keeper: %s\n", err.msg);
        t.done[2]++;
    }
    return NULL;
}

static void *builder(void *arg) { /* a collection that comes and goes */
    (void)arg;
    while (!t.over) {
        fo_err err = {0};
        for (int i = 0; i < 5; i++) put(4000 + i, "brief", 1);
        service_delete_collection(t.s, "default", "brief", NULL, &err);
        t.done[3]++;
    }
    return NULL;
}

int main(int argc, char **argv) {
    double seconds = argc > 1 ? atof(argv[1]) : 3;
    const char *tmp = getenv("TMPDIR");
    char dir[900];
    fo_err err = {0};
    t.seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 20261124;
    printf("# SEED=%llu\n", (unsigned long long)t.seed);
    snprintf(dir, sizeof dir, "%s/forage-stress-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (!mkdtemp(dir)) return perror(dir), 1;
    snprintf(t.home, sizeof t.home, "%s/home", dir);
    service_options opt = {.home = t.home,
                           .n_threads = 2,
                           .seal_chunks = 8,
                           .merge_bytes_per_s = -1,
                           .max_open_collections = 3};
    if (service_open(&t.s, &opt, &err)) return printf("# %s\n", err.msg), 1;
    pthread_t threads[WRITERS + ASKERS + 2];
    int n = 0;
    for (int i = 0; i < WRITERS; i++)
        pthread_create(&threads[n++], NULL, writer, (void *)(intptr_t)i);
    for (int i = 0; i < ASKERS; i++)
        pthread_create(&threads[n++], NULL, asker, (void *)(intptr_t)i);
    pthread_create(&threads[n++], NULL, keeper, NULL);
    pthread_create(&threads[n++], NULL, builder, NULL);
    for (double until = fo_now_ms() + seconds * 1000; fo_now_ms() < until;) usleep(50000);
    t.over = true;
    for (int i = 0; i < n; i++) pthread_join(threads[i], NULL);
    service_close(t.s);

    size_t bad = 0;
    if (service_open(&t.s, &opt, &err)) return printf("# %s\n", err.msg), 1;
    for (int k = 0; k < WRITERS * SHARE; k++) {
        char id[24];
        store_document d = {0};
        snprintf(id, sizeof id, "d%d", k);
        int rc = catalog_get_document(service_catalog(t.s), "default", collection_of(k), id, NULL,
                                      false, &d, &err);
        bad += !audit_see(&t.documents, k, !rc && d.title ? (uint32_t)atoi(d.title) : 0);
        if (!rc) store_document_deinit(&d);
    }
    for (int i = 0; i < 4; i++) {
        search_id_report report;
        int rc = service_compare_ids(t.s, "default", collection_of(i), &report, &err);
        if (rc && rc != FO_ENOTFOUND)
            printf("# index of %s: %s\n", collection_of(i), err.msg), bad++;
    }
    service_close(t.s);
    lock_order_report();
    printf("# %.0f s: %lu changes, %lu questions, %lu tasks, %lu collections made and dropped, %lu "
           "refused; %zu wrong in the end\n",
           seconds, t.done[0], t.done[1], t.done[2], t.done[3], (unsigned long)t.refused, bad);
    fo_remove_tree(dir, NULL);
    return bad != 0;
}
