/* set_home.h - what benches over a set of tests/bench stand on: its files, and a home filled with
 * its corpus. A set is a folder with corpus.jsonl and queries.jsonl. */
#ifndef FORAGE_TESTS_BENCH_SET_HOME_H
#define FORAGE_TESTS_BENCH_SET_HOME_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cjson/cJSON.h>

#include "retrieval/service/service.h"

enum { SET_BATCH = 256 };

static fo_err err;

static inline void die(const char *what) {
    fprintf(stderr, "%s: %s\n", what, err.msg);
    exit(1);
}

static inline FILE *open_in(const char *set, const char *name) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", set, name);
    FILE *f = fopen(path, "r");
    if (!f) {
        perror(path);
        exit(1);
    }
    return f;
}

static inline const char *string_of(const cJSON *o, const char *key) {
    const char *s = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(o, key));
    return s ? s : "";
}

/* The metadata of a document of the corpus, as JSON that fill() frees. */
typedef char *metadata_fn(const cJSON *document);

static inline void fill(service *s, const char *set, metadata_fn *metadata_of) {
    FILE *f = open_in(set, "corpus.jsonl");
    char *line = NULL;
    size_t cap = 0, n = 0;
    cJSON *parsed[SET_BATCH];
    char *metadata[SET_BATCH];
    ingest_document docs[SET_BATCH];
    ingest_result results[SET_BATCH];
    ingest_report report;
    for (bool more = true; more;) {
        more = getline(&line, &cap, f) > 0;
        if (more) {
            cJSON *d = parsed[n] = cJSON_Parse(line);
            const char *text = string_of(d, "text");
            metadata[n] = metadata_of ? metadata_of(d) : NULL;
            docs[n] = (ingest_document){.id = string_of(d, "id"),
                                        .title = string_of(d, "title"),
                                        .content_type = "text/plain",
                                        .metadata = metadata[n],
                                        .bytes = text,
                                        .n_bytes = strlen(text)};
            n++;
        }
        if (n < SET_BATCH && more) continue;
        ingest_options o = {.tenant = "default", .collection = "default", .overlap = SIZE_MAX};
        if (n && service_ingest(s, &o, docs, n, results, &report, &err)) die("ingest");
        for (size_t i = 0; i < n; i++) {
            if (results[i].status == INGEST_FAILED) {
                err = results[i].error;
                die(docs[i].id);
            }
            ingest_result_deinit(&results[i]);
            cJSON_Delete(parsed[i]);
            free(metadata[i]);
        }
        n = 0;
    }
    free(line);
    fclose(f);
}

/* A service on the home, filled with the set unless it holds documents already; metadata_of may be
 * NULL. */
static inline service *open_filled(const char *home, const char *set, metadata_fn *metadata_of) {
    service *s;
    service_stats stats;
    if (service_open(&s, &(service_options){.home = home}, &err)) die("open");
    if (service_get_stats(s, &stats, &err)) die("stats");
    if (stats.n_documents == 0) fill(s, set, metadata_of);
    return s;
}

#endif
