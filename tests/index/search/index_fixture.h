/* index_fixture.h - chunks of one word each for tests of an index, and one without options of its own. */
#ifndef FORAGE_TESTS_INDEX_FIXTURE_H
#define FORAGE_TESTS_INDEX_FIXTURE_H

#include "index/search/search_index.h"
#include "tests/test.h"

static inline search_index *open_default_index(const char *dir) {
    search_index *ix;
    fo_err err = {0};
    assert_ok(search_index_open(&ix, dir, &(search_index_options){.tenant = "default"}, NULL, &err),
              &err);
    return ix;
}

/* Stages the chunk, a document of its own, with the text "wordN". */
static inline void add(search_index *ix, int64_t chunk) {
    char text[40];
    fo_err err = {0};
    int n = snprintf(text, sizeof text, "word%lld", (long long)chunk);
    search_chunk_in c = {
        .chunk = chunk, .document = chunk, .title = "", .text = text, .text_len = (size_t)n};
    assert_ok(search_index_add(ix, &c, &err), &err);
}

#endif
