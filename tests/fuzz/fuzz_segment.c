/* A sound segment with bytes changed behind the back of its checksums (they are made anew, as an
 * attacker would), opened, searched, filtered, merged and verified: it may fail or answer wrongly,
 * never misbehave. An input is a string of edits of four bytes: section, offset (two bytes, as a
 * share of the section), value to xor. An odd first byte instead means: the rest is a whole file.
 */
#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "index/sparse/inverted.h"
#include "index/filter/metadata.h"
#include "tests/fuzz/fuzz.h"

enum { DOCS = 300 };
static const bm25_params params = {0.9, 0.4};
static const unsigned sections[] = {SECTION_INVERTED,    SECTION_POSTINGS,  SECTION_DICT,
                                    SECTION_DICT_BLOCKS, SECTION_DICT_HASH, SECTION_LENGTHS,
                                    SECTION_NORMS,       SECTION_METADATA};
enum { N_SECTIONS = sizeof sections / sizeof *sections };

static segment *sound(void) {
    static segment *made;
    if (made) return made;
    inverted_builder *b;
    metadata_builder *m;
    segment_writer *w;
    FUZZ_CHECK(inverted_builder_create(&b, NULL) == 0 && metadata_builder_create(&m, NULL) == 0);
    for (uint32_t d = 0; d < DOCS; d++) {
        char text[64];
        for (unsigned i = 0; i < 6 + d % 7; i++) {
            int n = snprintf(text, sizeof text, "w%u", i * i * (d % (i + 1)) % 40);
            inverted_builder_word(b, text, (size_t)n);
        }
        snprintf(text, sizeof text, "{\"n\":%u,\"s\":[\"a%u\",true]}", d, d % 9);
        FUZZ_CHECK(inverted_builder_end_document(b, NULL) == 0);
        FUZZ_CHECK(metadata_builder_add(m, d, text, NULL) == 0);
    }
    FUZZ_CHECK(segment_writer_create(&w, NULL, NULL) == 0);
    FUZZ_CHECK(inverted_build(b, &params, w, NULL) == 0);
    FUZZ_CHECK(metadata_build(m, DOCS, w, NULL) == 0);
    FUZZ_CHECK(segment_writer_adopt(w, &made, NULL) == 0);
    inverted_builder_free(b);
    metadata_builder_free(m);
    return made;
}

static segment *edited(const uint8_t *data, size_t size) {
    segment_writer *w;
    segment *out;
    FUZZ_CHECK(segment_writer_create(&w, NULL, NULL) == 0);
    for (size_t i = 0; i < N_SECTIONS; i++) {
        size_t n;
        const void *p = segment_get(sound(), sections[i], &n);
        uint8_t *copy = malloc(n + 1);
        FUZZ_CHECK(copy);
        memcpy(copy, p, n);
        for (size_t e = 0; e + 4 <= size; e += 4)
            if (data[e] % N_SECTIONS == i && n > 0)
                copy[(size_t)(data[e + 1] << 8 | data[e + 2]) * n >> 16] ^= data[e + 3];
        FUZZ_CHECK(segment_writer_section(w, sections[i], copy, n, NULL) == 0);
        free(copy);
    }
    FUZZ_CHECK(segment_writer_adopt(w, &out, NULL) == 0);
    return out;
}

static void search(const inverted *inv) {
    static int64_t ids[1 << 16];
    inverted_query_term terms[] = {{"w0", 2, 1},  {"w1", 2, 1},  {"w4", 2, 2},
                                   {"w16", 3, 1}, {"w18", 3, 1}, {"nothing", 7, 1}};
    inverted_part part = {.inv = inv, .ids = ids};
    inverted_hit hits[10];
    size_t n;
    inverted_scratch *s = inverted_scratch_create();
    FUZZ_CHECK(s);
    for (size_t k = 1; k <= 10; k += 9)
        if (inverted_search(&part, 1, &params, terms, 6, k, s, hits, &n, NULL) == 0)
            for (size_t i = 0; i < n; i++) FUZZ_CHECK(hits[i].doc < inv->n_docs);
    inverted_scratch_free(s);
}

static void merge(const inverted *inv) {
    uint32_t *map = malloc(((size_t)inv->n_docs + 1) * sizeof *map), kept = 0;
    segment_writer *w;
    FUZZ_CHECK(map && segment_writer_create(&w, NULL, NULL) == 0);
    for (uint32_t i = 0; i < inv->n_docs; i++) map[i] = i % 5 ? kept++ : UINT32_MAX;
    inverted_merge_input in = {inv, map};
    (void)inverted_merge(&in, 1, kept, &params, w, NULL);
    segment_writer_abort(w);
    free(map);
}

static void filter(const segment *s, uint32_t n_docs) {
    metadata m;
    if (metadata_open(&m, s, n_docs, NULL) != 0) return;
    cJSON *json =
        cJSON_Parse("{\"type\":\"or\",\"filters\":[{\"type\":\"lt\",\"key\":\"n\",\"value\":"
                    "40},{\"type\":\"nin\",\"key\":\"s\",\"value\":[\"a3\",true]}]}");
    search_filter *f;
    uint64_t *bits = malloc(((size_t)n_docs / 64 + 1) * 8);
    FUZZ_CHECK(json && bits && search_filter_parse(&f, json, NULL) == 0);
    FUZZ_CHECK(metadata_match(&m, f, bits, NULL) == 0);
    metadata_builder *b;
    uint32_t *map = calloc((size_t)n_docs + 1, sizeof *map);
    FUZZ_CHECK(map && metadata_builder_create(&b, NULL) == 0);
    (void)metadata_builder_merge(b, &m, map, NULL);
    metadata_builder_free(b);
    free(map);
    free(bits);
    search_filter_free(f);
    cJSON_Delete(json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    segment *s;
    if (size > 0 && data[0] % 2) {
        void *copy = malloc(size);
        FUZZ_CHECK(copy);
        memcpy(copy, data + 1, size - 1);
        if (segment_adopt(&s, copy, size - 1, NULL) != 0) return 0;
    } else {
        s = edited(data, size);
    }
    inverted inv;
    if (inverted_open(&inv, s, NULL) == 0 && inv.n_docs <= 1 << 16) {
        search(&inv);
        merge(&inv);
        (void)inverted_verify(&inv, NULL);
        filter(s, inv.n_docs);
    }
    segment_close(s);
    return 0;
}
