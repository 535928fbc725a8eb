/* Parsing of filters, and their evaluation on columns against a plain walk over the JSON. */
#include "tests/test.h"

#include <cJSON.h>
#include <time.h>
#include "index/filter/filter_tree.h"
#include "index/filter/metadata.h"
#include "kernels/buf.h"
#include "tests/index/crafted_terms.h"

static search_filter *parse(const char *text) {
    cJSON *json = cJSON_Parse(text);
    assert_non_null(json);
    search_filter *f = NULL;
    fo_err err = {0};
    assert_ok(search_filter_parse(&f, json, &err), &err);
    cJSON_Delete(json);
    return f;
}

static void expect_error(const char *text, int code, const char *field) {
    cJSON *json = cJSON_Parse(text);
    assert_non_null(json);
    search_filter *f = NULL;
    fo_err err = {0};
    assert_int_equal(search_filter_parse(&f, json, &err), code);
    assert_string_equal(err.field, field);
    assert_true(err.msg[0]);
    cJSON_Delete(json);
}

static void errors_name_the_field_at_fault(void **state) {
    (void)state;
    expect_error("[]", FO_EINVAL, "filter");
    expect_error("{}", FO_EINVAL, "filter.type");
    expect_error("{\"type\":\"equals\"}", FO_EINVAL, "filter.type");
    expect_error("{\"type\":\"eq\",\"value\":1}", FO_EINVAL, "filter.key");
    expect_error("{\"type\":\"eq\",\"key\":7,\"value\":1}", FO_EINVAL, "filter.key");
    expect_error("{\"type\":\"eq\",\"key\":\"a\"}", FO_EINVAL, "filter.value");
    expect_error("{\"type\":\"eq\",\"key\":\"a\",\"value\":{}}", FO_EINVAL, "filter.value");
    expect_error("{\"type\":\"gt\",\"key\":\"a\",\"value\":true}", FO_EINVAL, "filter.value");
    expect_error("{\"type\":\"in\",\"key\":\"a\",\"value\":1}", FO_EINVAL, "filter.value");
    expect_error("{\"type\":\"in\",\"key\":\"a\",\"value\":[1,[]]}", FO_EINVAL, "filter.value[1]");
    expect_error("{\"type\":\"eq\",\"key\":\"a\",\"value\":1,\"vaule\":2}", FO_EINVAL,
                 "filter.vaule");
    expect_error("{\"type\":\"and\",\"key\":\"a\",\"filters\":[]}", FO_EINVAL, "filter.key");
    expect_error("{\"type\":\"and\"}", FO_EINVAL, "filter.filters");
    expect_error("{\"type\":\"not\",\"filters\":[]}", FO_EINVAL, "filter.filters");
    expect_error("{\"type\":\"or\",\"filters\":[{\"type\":\"exists\",\"key\":\"a\"},"
                 "{\"type\":\"eq\",\"value\":1}]}",
                 FO_EINVAL, "filter.filters[1].key");
#define BOUND(type, value) "{\"type\":\"" type "\",\"key\":\"a\",\"value\":" value "}"
    expect_error("{\"type\":\"and\",\"filters\":[" BOUND("gte", "1") "," BOUND("lte", "\"2\"") "]}",
                 FO_EINVAL, "filter.filters[1].value");
    expect_error("{\"type\":\"not\",\"filter\":{\"type\":\"and\",\"filters\":[" BOUND(
                     "eq", "1") "," BOUND("lt", "\"2\"") "," BOUND("gt", "1") "]}}",
                 FO_EINVAL, "filter.filter.filters[2].value");
    static const char *const sound[] = {
        "{\"type\":\"and\",\"filters\":[" BOUND("gte", "1") "," BOUND("lte", "2") "]}",
        "{\"type\":\"or\",\"filters\":[" BOUND("gte", "1") "," BOUND("lte", "\"2\"") "]}",
        "{\"type\":\"and\",\"filters\":[" BOUND("gte", "1") "," BOUND("ne", "\"2\"") "]}"};
    for (size_t i = 0; i < sizeof sound / sizeof *sound; i++) {
        cJSON *good = cJSON_Parse(sound[i]);
        search_filter *parsed = NULL;
        fo_err none = {0};
        assert_ok(search_filter_parse(&parsed, good, &none), &none);
        search_filter_free(parsed);
        cJSON_Delete(good);
    }
    char deep[4096] = "";
    for (int i = 0; i < 40; i++) strcat(deep, "{\"type\":\"not\",\"filter\":");
    strcat(deep, "{\"type\":\"exists\",\"key\":\"a\"}");
    for (int i = 0; i < 40; i++) strcat(deep, "}");
    cJSON *json = cJSON_Parse(deep);
    search_filter *f;
    fo_err err = {0};
    assert_int_equal(search_filter_parse(&f, json, &err), FO_ELIMIT);
    cJSON_Delete(json);
}

enum { MAX_DOCS = 200 };

static segment *build(const char *const *docs, size_t n, metadata *out) {
    metadata_builder *b;
    segment_writer *w;
    segment *s;
    fo_err err = {0};
    assert_ok(metadata_builder_create(&b, &err), &err);
    for (size_t i = 0; i < n; i++)
        assert_ok(metadata_builder_add(b, (uint32_t)i, docs[i], &err), &err);
    /* As where a first publish failed after this: what is built again is the same. */
    assert_ok(segment_writer_create(&w, NULL, &err), &err);
    assert_ok(metadata_build(b, (uint32_t)n, w, &err), &err);
    segment_writer_abort(w);
    assert_ok(segment_writer_create(&w, NULL, &err), &err);
    assert_ok(metadata_build(b, (uint32_t)n, w, &err), &err);
    assert_ok(segment_writer_adopt(w, &s, &err), &err);
    assert_ok(metadata_open(out, s, (uint32_t)n, &err), &err);
    metadata_builder_free(b);
    return s;
}

/* "+" and "-" for each document. */
static void expect_match(const metadata *m, const char *filter, const char *expect) {
    search_filter *f = parse(filter);
    uint64_t bits[MAX_DOCS / 64 + 1] = {0};
    char got[MAX_DOCS + 1] = "";
    fo_err err = {0};
    assert_ok(metadata_match(m, f, bits, &err), &err);
    for (uint32_t d = 0; d < m->n_docs; d++) got[d] = bits[d / 64] >> (d % 64) & 1 ? '+' : '-';
    assert_string_equal(got, expect);
    assert_int_equal(bits[m->n_docs / 64] >> (m->n_docs % 64), 0); /* nothing behind the end */
    search_filter_free(f);
}

static void every_operator_does_what_it_says(void **state) {
    (void)state;
    const char *docs[] = {
        "{\"year\":2024,\"tag\":[\"a\",\"b\"],\"ok\":true,\"author\":{\"name\":\"Ann\"}}",
        "{\"year\":2023.5,\"tag\":\"b\",\"ok\":false,\"none\":null}",
        "{\"year\":\"2024\",\"tag\":[],\"ok\":1}",
        "",
        "{\"year\":-1,\"tag\":[\"c\",7]}",
    };
    metadata m;
    segment *s = build(docs, 5, &m);
    expect_match(&m, "{\"type\":\"eq\",\"key\":\"year\",\"value\":2024}", "+----");
    expect_match(&m, "{\"type\":\"ne\",\"key\":\"year\",\"value\":2024}", "-++++");
    expect_match(&m, "{\"type\":\"eq\",\"key\":\"year\",\"value\":\"2024\"}", "--+--");
    expect_match(&m, "{\"type\":\"gt\",\"key\":\"year\",\"value\":2023.5}", "+----");
    expect_match(&m, "{\"type\":\"gte\",\"key\":\"year\",\"value\":2023.5}", "++---");
    expect_match(&m, "{\"type\":\"lt\",\"key\":\"year\",\"value\":2023.5}", "----+");
    expect_match(&m, "{\"type\":\"lte\",\"key\":\"year\",\"value\":2023.5}", "-+--+");
    expect_match(&m, "{\"type\":\"eq\",\"key\":\"tag\",\"value\":\"b\"}", "++---");
    expect_match(&m, "{\"type\":\"ne\",\"key\":\"tag\",\"value\":\"b\"}", "--+++");
    expect_match(&m, "{\"type\":\"gt\",\"key\":\"tag\",\"value\":\"a\"}", "++--+");
    expect_match(&m, "{\"type\":\"lte\",\"key\":\"tag\",\"value\":\"aa\"}", "+----");
    expect_match(&m, "{\"type\":\"lt\",\"key\":\"tag\",\"value\":\"b\"}", "+----");
    expect_match(&m, "{\"type\":\"in\",\"key\":\"tag\",\"value\":[\"c\",\"a\"]}", "+---+");
    expect_match(&m, "{\"type\":\"nin\",\"key\":\"tag\",\"value\":[\"c\",\"a\"]}", "-+++-");
    expect_match(&m, "{\"type\":\"in\",\"key\":\"tag\",\"value\":[]}", "-----");
    expect_match(&m, "{\"type\":\"eq\",\"key\":\"ok\",\"value\":true}", "+----");
    expect_match(&m, "{\"type\":\"eq\",\"key\":\"ok\",\"value\":false}", "-+---");
    expect_match(&m, "{\"type\":\"eq\",\"key\":\"none\",\"value\":null}", "-+---");
    expect_match(&m, "{\"type\":\"exists\",\"key\":\"tag\"}", "+++-+");
    expect_match(&m, "{\"type\":\"exists\",\"key\":\"none\"}", "-+---");
    expect_match(&m, "{\"type\":\"exists\",\"key\":\"nothing\"}", "-----");
    expect_match(&m, "{\"type\":\"eq\",\"key\":\"author.name\",\"value\":\"Ann\"}", "+----");
    expect_match(
        &m,
        "{\"type\":\"and\",\"filters\":[{\"type\":\"eq\",\"key\":\"tag\",\"value\":\"b\"},"
        "{\"type\":\"not\",\"filters\":[{\"type\":\"eq\",\"key\":\"ok\",\"value\":true}]}]}",
        "-+---");
    expect_match(&m,
                 "{\"type\":\"or\",\"filters\":[{\"type\":\"eq\",\"key\":\"tag\",\"value\":7},"
                 "{\"type\":\"eq\",\"key\":\"year\",\"value\":2024}]}",
                 "+---+");
    expect_match(&m, "{\"type\":\"and\",\"filters\":[]}", "+++++");
    expect_match(&m, "{\"type\":\"or\",\"filters\":[]}", "-----");
    segment_close(s);
}

static void a_merge_keeps_what_matches(void **state) {
    (void)state;
    uint64_t seed = test_seed();
    char texts[MAX_DOCS][128];
    const char *docs[MAX_DOCS];
    for (int i = 0; i < MAX_DOCS; i++) {
        snprintf(texts[i], sizeof texts[i], "{\"n\":%d,\"w\":[\"w%d\",\"w%d\"],\"k%d\":\"x\"}",
                 (int)(test_random(&seed) % 10), (int)(test_random(&seed) % 30),
                 (int)(test_random(&seed) % 30), i % 5);
        docs[i] = texts[i];
    }
    metadata a, b, merged;
    segment *sa = build(docs, 80, &a), *sb = build(docs + 80, MAX_DOCS - 80, &b), *s;
    uint32_t map[MAX_DOCS], kept = 0;
    for (uint32_t i = 0; i < MAX_DOCS; i++) map[i] = i % 3 ? kept++ : UINT32_MAX;
    metadata_builder *builder;
    segment_writer *w;
    fo_err err = {0};
    assert_ok(metadata_builder_create(&builder, &err), &err);
    assert_ok(metadata_builder_merge(builder, &a, map, &err), &err);
    assert_ok(metadata_builder_merge(builder, &b, map + 80, &err), &err);
    assert_ok(segment_writer_create(&w, NULL, &err), &err);
    assert_ok(metadata_build(builder, kept, w, &err), &err);
    assert_ok(segment_writer_adopt(w, &s, &err), &err);
    assert_ok(metadata_open(&merged, s, kept, &err), &err);
    for (uint32_t i = 0; i < MAX_DOCS; i++)
        if (map[i] != UINT32_MAX) docs[map[i]] = docs[i];
    metadata fresh;
    segment *sf = build(docs, kept, &fresh);
    for (int i = 0; i < 40; i++) {
        char text[256];
        snprintf(text, sizeof text, "{\"type\":\"%s\",\"key\":\"%s\",\"value\":%s%d%s}",
                 i % 2 ? "lte" : "eq", i < 20 ? "w" : "n", i < 20 ? "\"w" : "", i % 20,
                 i < 20 ? "\"" : "");
        search_filter *f = parse(text);
        uint64_t u[MAX_DOCS / 64 + 1] = {0}, v[MAX_DOCS / 64 + 1] = {0};
        assert_ok(metadata_match(&merged, f, u, &err), &err);
        assert_ok(metadata_match(&fresh, f, v, &err), &err);
        assert_memory_equal(u, v, sizeof u);
        search_filter_free(f);
    }
    metadata_builder_free(builder);
    segment_close(sa);
    segment_close(sb);
    segment_close(s);
    segment_close(sf);
}

/* Documents of no index are matched as those of one. */
static void json_by_itself_matches_as_in_an_index(void **state) {
    (void)state;
    uint64_t seed = test_seed();
    char texts[MAX_DOCS][128];
    const char *docs[MAX_DOCS];
    for (int i = 0; i < MAX_DOCS; i++) {
        snprintf(texts[i], sizeof texts[i], "{\"n\":%d,\"w\":[\"w%d\"],\"k%d\":\"x\"}",
                 (int)(test_random(&seed) % 10), (int)(test_random(&seed) % 30), i % 5);
        docs[i] = i % 7 ? texts[i] : i % 2 ? NULL : "";
    }
    metadata m;
    segment *s = build(docs, MAX_DOCS, &m);
    static const char *const filters[] = {
        "{\"type\":\"gte\",\"key\":\"n\",\"value\":4}",
        "{\"type\":\"ne\",\"key\":\"w\",\"value\":\"w3\"}",
        "{\"type\":\"exists\",\"key\":\"k2\"}",
        "{\"type\":\"not\",\"filter\":{\"type\":\"in\",\"key\":\"n\",\"value\":[1,2]}}",
        "{\"type\":\"and\",\"filters\":[]}",
    };
    for (size_t i = 0; i < sizeof filters / sizeof *filters; i++) {
        search_filter *f = parse(filters[i]);
        uint64_t u[MAX_DOCS / 64 + 1] = {0}, v[MAX_DOCS / 64 + 1] = {0};
        uint64_t refused[MAX_DOCS / 64 + 1];
        fo_err err = {0};
        assert_ok(metadata_match(&m, f, u, &err), &err);
        assert_ok(metadata_match_json(docs, MAX_DOCS, f, v, refused, &err), &err);
        assert_memory_equal(u, v, sizeof u);
        for (size_t w = 0; w < (MAX_DOCS + 63) / 64; w++) assert_true(refused[w] == 0);
        docs[3] = "[]"; /* what no index would take is pointed out, the others are judged */
        assert_ok(metadata_match_json(docs, MAX_DOCS, f, v, refused, &err), &err);
        docs[3] = texts[3];
        assert_true(refused[0] == 8);
        u[0] |= 8, v[0] |= 8;
        assert_memory_equal(u, v, sizeof u);
        search_filter_free(f);
    }
    segment_close(s);
}

/* A mapped file may change after it was opened: numbers out of their bounds then lead nowhere. */
/* Sections whose searches by halves would miss something. */
static void the_full_check_finds_columns_and_strings_out_of_order(void **state) {
    (void)state;
    const char *docs[] = {"{\"a\":\"xx\",\"b\":\"y\"}"};
    metadata m, bad;
    segment *s = build(docs, 1, &m);
    fo_err err = {0};
    assert_ok(metadata_verify(&m, &err), &err);
    assert_true(m.n_columns == 2 && m.n_strings == 4 && m.strings_bytes == 5);
    uint32_t rows[6];
    char strings[5];
    const char *const wrong[] = {"baxxy", "ayxxb", "aaxxy"}; /* the first two, one too far, equal */
    memcpy(rows, m.columns, sizeof rows);
    bad = m;
    bad.columns = rows;
    for (uint32_t first = 0; first <= 1; first++) { /* falling, equal */
        rows[0] = 1 - first;
        rows[3] = 0;
        assert_int_equal(metadata_verify(&bad, &err), FO_ECORRUPT);
        assert_non_null(strstr(err.msg, "column 1 is out of order"));
    }
    bad = m;
    bad.strings = strings;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        memcpy(strings, wrong[i], sizeof strings);
        assert_int_equal(metadata_verify(&bad, &err), FO_ECORRUPT);
        assert_non_null(strstr(err.msg, "is out of order"));
    }
    segment_close(s);
}

static void numbers_out_of_bounds_are_skipped(void **state) {
    (void)state;
    static const char *const filters[] = {
        "{\"type\":\"exists\",\"key\":\"k\"}",
        "{\"type\":\"gte\",\"key\":\"k\",\"value\":0}",
        "{\"type\":\"gte\",\"key\":\"k\",\"value\":\"\"}",
        "{\"type\":\"eq\",\"key\":\"k\",\"value\":true}",
        "{\"type\":\"in\",\"key\":\"k\",\"value\":[1,\"a\",true,null]}",
    };
    enum { N_FILTERS = sizeof filters / sizeof *filters, N = 4, BEYOND = 64 * 16 + 1 };
    const char *docs[N] = {"{\"k\":[1,\"a\",true,null]}", "{\"k\":[1,\"a\",true,null]}",
                           "{\"k\":1}", ""};
    metadata m;
    segment *s = build(docs, N, &m);
    assert_true(m.n_entries == 9 && m.n_columns == 1);
    for (int damage = 0; damage < 5; damage++) {
        uint32_t doc[9], row[3];
        uint64_t value[9], bits[32];
        uint8_t kind[9];
        memcpy(doc, m.docs, sizeof doc);
        memcpy(row, m.columns, sizeof row);
        memcpy(value, m.values, sizeof value);
        memcpy(kind, m.kinds, sizeof kind);
        for (int i = 0; i < 4 && damage == 0; i++) doc[i] = BEYOND;
        for (int i = 0; i < 9 && damage == 1; i++)
            if (kind[i] == VALUE_STRING) value[i] = 1u << 30;
        if (damage == 2) row[1] = UINT32_MAX - 1;
        if (damage == 3) row[2] = UINT32_MAX;
        if (damage == 4) memset(kind, 0xEE, sizeof kind);
        metadata bad = m;
        bad.docs = doc, bad.columns = row, bad.values = value, bad.kinds = kind;
        for (size_t f = 0; f < N_FILTERS; f++) {
            search_filter *filter = parse(filters[f]);
            fo_err err = {0};
            memset(bits, 0, sizeof bits);
            assert_ok(metadata_match(&bad, filter, bits, &err), &err);
            assert_true(bits[0] < 1 << N);
            for (size_t w = 1; w < sizeof bits / sizeof *bits; w++) assert_int_equal(bits[w], 0);
            search_filter_free(filter);
        }
        /* What comes of a merge is sound. */
        uint32_t map[BEYOND + 1];
        for (uint32_t i = 0; i <= BEYOND; i++) map[i] = i < N ? i : BEYOND;
        metadata_builder *b;
        segment_writer *w;
        segment *joined;
        metadata after;
        fo_err err = {0};
        assert_ok(metadata_builder_create(&b, &err), &err);
        assert_ok(metadata_builder_merge(b, &bad, map, &err), &err);
        assert_ok(segment_writer_create(&w, NULL, &err), &err);
        assert_ok(metadata_build(b, N, w, &err), &err);
        assert_ok(segment_writer_adopt(w, &joined, &err), &err);
        assert_ok(metadata_open(&after, joined, N, &err), &err);
        segment_close(joined);
        metadata_builder_free(b);
    }
    segment_close(s);
}

enum { LIST_VALUES = 65536, LIST_KINDS = 5, LIST_ENTRIES = 1000 };

/* Value i of a kind, as JSON: numbers, halves, strings, truths and null, some of them the same. */
static void add_value(fo_buf *b, int kind, uint64_t i) {
    if (kind == 0) fo_buf_printf(b, "%lld", (long long)(i % 40000) - 20);
    if (kind == 1) fo_buf_printf(b, "%llu.5", (unsigned long long)(i % 40000));
    if (kind == 2) fo_buf_printf(b, "\"%llu\"", (unsigned long long)(i % 40000));
    if (kind == 3) fo_buf_str(b, i % 2 ? "true" : "false");
    if (kind == 4) fo_buf_str(b, "null");
}

static search_filter *make_list(const char *type, const char *values, size_t n) {
    fo_buf b = {0};
    fo_buf_printf(&b, "{\"type\":\"%s\",\"key\":\"v\",\"value\":[", type);
    fo_buf_add(&b, values, n);
    fo_buf_str(&b, "]}");
    fo_buf_char(&b, 0);
    search_filter *f = parse(b.data);
    fo_buf_free(&b);
    return f;
}

/* In a list means equal to one of it: asked one by one. */
static void a_list_matches_as_its_values_one_by_one(void **state) {
    (void)state;
    uint64_t seed = test_seed();
    char texts[MAX_DOCS][160];
    const char *docs[MAX_DOCS];
    for (int i = 0; i < MAX_DOCS; i++) {
        fo_buf b = {0};
        fo_buf_str(&b, i % 11 ? "{\"v\":[[]" : "{\"v\":[-0.0");
        for (int k = 0; k < i % 4; k++) {
            fo_buf_char(&b, ',');
            add_value(&b, (int)(test_random(&seed) % LIST_KINDS), test_random(&seed) % 30);
        }
        fo_buf_str(&b, "]}");
        snprintf(texts[i], sizeof texts[i], "%.*s", (int)b.len, b.data);
        docs[i] = texts[i];
        fo_buf_free(&b);
    }
    metadata m;
    segment *s = build(docs, MAX_DOCS, &m);
    for (int round = 0; round < 100; round++) {
        uint64_t want[MAX_DOCS / 64 + 1] = {0}, got[MAX_DOCS / 64 + 1] = {0},
                                      not_in[MAX_DOCS / 64 + 1] = {0};
        fo_err err = {0};
        fo_buf list = {0};
        for (uint64_t n = test_random(&seed) % 12; n > 0; n--) {
            fo_buf one = {0};
            add_value(&one, (int)(test_random(&seed) % LIST_KINDS), test_random(&seed) % 60);
            search_filter *f = make_list("in", one.data, one.len);
            assert_ok(metadata_match(&m, f, got, &err), &err);
            for (size_t w = 0; w < (MAX_DOCS + 63) / 64; w++) want[w] |= got[w];
            search_filter_free(f);
            if (list.len) fo_buf_char(&list, ',');
            fo_buf_add(&list, one.data, one.len);
            fo_buf_free(&one);
        }
        search_filter *in = make_list("in", list.data, list.len),
                      *nin = make_list("nin", list.data, list.len);
        assert_ok(metadata_match(&m, in, got, &err), &err);
        assert_ok(metadata_match(&m, nin, not_in, &err), &err);
        for (uint32_t d = 0; d < MAX_DOCS; d++) {
            assert_int_equal(got[d / 64] >> (d % 64) & 1, want[d / 64] >> (d % 64) & 1);
            assert_int_not_equal(got[d / 64] >> (d % 64) & 1, not_in[d / 64] >> (d % 64) & 1);
        }
        search_filter_free(in);
        search_filter_free(nin);
        fo_buf_free(&list);
    }
    segment_close(s);
}

static double cpu_ms(void) { /* of this thread: whatever else runs */
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* 65,536 values and 200,000 entries: each against each would be 13 thousand million looks. */
static void a_long_list_costs_one_look_at_each_entry(void **state) {
    (void)state;
    fo_buf doc = {0}, list = {0};
    fo_buf_str(&doc, "{\"v\":[0");
    for (uint64_t i = 1; i < LIST_ENTRIES; i++) {
        fo_buf_char(&doc, ',');
        add_value(&doc, (int)(i % 3), i);
    }
    fo_buf_str(&doc, "]}");
    fo_buf_char(&doc, 0);
    for (uint64_t i = 0; i < LIST_VALUES; i++) {
        if (i) fo_buf_char(&list, ',');
        add_value(&list, (int)(i % 3), i % 2 ? 30000 + i % 1000 : 39000 + i % 1000);
    }
    const char *docs[MAX_DOCS];
    for (int i = 0; i < MAX_DOCS; i++) docs[i] = doc.data;
    docs[7] = "{\"v\":29983}";       /* value 3 of the list */
    docs[8] = "{\"v\":[\"39002\"]}"; /* value 2 */
    docs[9] = "{\"v\":[\"29983\",1.25]}";
    metadata m;
    segment *s = build(docs, MAX_DOCS, &m);
    search_filter *f = make_list("in", list.data, list.len);
    uint64_t bits[MAX_DOCS / 64 + 1] = {0};
    fo_err err = {0};
    double began = cpu_ms();
    assert_ok(metadata_match(&m, f, bits, &err), &err);
    assert_true(cpu_ms() - began < 1500);
    assert_int_equal(bits[0], 1 << 7 | 1 << 8);
    for (size_t w = 1; w < sizeof bits / sizeof *bits; w++) assert_int_equal(bits[w], 0);
    search_filter_free(f);
    segment_close(s);
    fo_buf_free(&doc);
    fo_buf_free(&list);
}

static int check(fo_buf *json) {
    fo_buf_char(json, 0);
    assert_false(json->failed);
    fo_err err = {0};
    int rc = metadata_check(json->data, &err);
    assert_int_equal(rc, err.code);
    if (rc) assert_string_equal(err.field, "metadata");
    fo_buf_free(json);
    return rc;
}

static void add_many(fo_buf *b, char c, size_t n) {
    for (size_t i = 0; i < n; i++) fo_buf_char(b, c);
}

/* `outer` bytes of name around as many members as there may be, of 4 bytes each. */
static int check_nested(size_t outer) {
    fo_buf b = {0};
    fo_buf_str(&b, "{\"");
    add_many(&b, 'k', outer);
    fo_buf_str(&b, "\":{\"0000\":1");
    for (int i = 1; i < 1024; i++) fo_buf_printf(&b, ",\"%04d\":%d", i, i);
    fo_buf_str(&b, "}}");
    return check(&b);
}

/* n strings of so many bytes under one key, between two of its own. */
static int check_strings(size_t n, size_t bytes) {
    fo_buf b = {0};
    fo_buf_str(&b, "{\"a\":1,\"list\":[");
    for (size_t i = 0; i < n; i++) {
        fo_buf_printf(&b, "%s\"%04zu", i ? "," : "", i);
        add_many(&b, 'x', bytes - 4);
        fo_buf_char(&b, '"');
    }
    fo_buf_str(&b, "],\"b\":1}");
    return check(&b);
}

/* A number so many names deep, or in as many lists. */
static int check_depth(int levels, const char *opens, char shuts) {
    fo_buf b = {0};
    fo_buf_str(&b, "{\"a\":");
    for (int i = 1; i < levels; i++) fo_buf_str(&b, opens);
    fo_buf_char(&b, '1');
    for (int i = 1; i < levels; i++) fo_buf_char(&b, shuts);
    fo_buf_char(&b, '}');
    return check(&b);
}

static void values_are_eight_deep_at_most(void **state) {
    (void)state;
    assert_int_equal(check_depth(8, "{\"a\":", '}'), FO_OK);
    assert_int_equal(check_depth(9, "{\"a\":", '}'), FO_ELIMIT);
    assert_int_equal(check_depth(8, "[", ']'), FO_OK);
    assert_int_equal(check_depth(9, "[", ']'), FO_ELIMIT);
}

/* What a document puts into an index is bounded by what it brought. */
static void keys_and_strings_are_bounded(void **state) {
    (void)state;
    assert_int_equal(check_nested(512 - 5), FO_OK);
    assert_int_equal(check_nested(512 - 4), FO_ELIMIT);
    assert_int_equal(check_nested(1000000), FO_ELIMIT);
    const size_t rest = (1 << 20) - 6; /* "a", "list", "b" */
    assert_int_equal(check_strings(1, rest), FO_OK);
    assert_int_equal(check_strings(1, rest + 1), FO_ELIMIT);
    assert_int_equal(check_strings(1000, rest / 1000), FO_OK);
    assert_int_equal(check_strings(1000, rest / 1000 + 1), FO_ELIMIT);
}

/* Whoever writes metadata adds no group to a document's list: the reserved column is made by the root's
 * member alone, however the names of those below it join. */
static void no_nesting_makes_the_reserved_column(void **state) {
    (void)state;
    const char *docs[] = {
        "{\"$acl\":[\"board\"],\"\":{\"$acl\":[\"staff\"]}}",
        "{\"$acl\":[\"board\"],\"\":{\"\":[{\"\":{\"$acl\":\"staff\"}}]}}",
        "{\"$acl\":[\"board\"],\"\":[[{\"$acl\":\"staff\"}]],\"$\":{\"acl\":\"staff\"}}",
        "{\"\":{\"$acl\":[\"board\"],\"$acl2\":1}}", /* of no list: everybody's */
        "{\"$acl\":[\"staff\"]}",
    };
    metadata m;
    segment *s = build(docs, 5, &m);
    search_filter *staff;
    uint64_t bits[1];
    fo_err err = {0};
    assert_ok(search_filter_sees(&staff, (const char *const[]){"staff"}, 1, &err), &err);
    assert_ok(metadata_match(&m, staff, bits, &err), &err);
    assert_int_equal(bits[0], 0x18);
    search_filter_free(staff);
    const size_t lead = sizeof FILTER_ACL_KEY - 1;
    int n_reserved = 0;
    for (uint32_t c = 0; c < m.n_columns; c++) {
        const uint32_t *at = m.offsets + m.columns[3 * c];
        n_reserved += at[1] - at[0] >= lead && !memcmp(m.strings + at[0], FILTER_ACL_KEY, lead);
    }
    assert_int_equal(n_reserved, 1);
    expect_match(&m, "{\"type\":\"eq\",\"key\":\".$acl\",\"value\":\"staff\"}", "+-+--");
    segment_close(s);
}

static void metadata_that_is_too_much_is_refused_and_leaves_nothing(void **state) {
    (void)state;
    metadata_builder *b;
    fo_err err = {0};
    assert_ok(metadata_builder_create(&b, &err), &err);
    assert_int_equal(metadata_builder_add(b, 0, "nonsense", &err), FO_EINVAL);
    assert_int_equal(metadata_builder_add(b, 0, "{\"a\":[[[[[[[[[[1]]]]]]]]]]}", &err), FO_ELIMIT);
    char *big = malloc(20000);
    strcpy(big, "{\"a\":[0");
    for (int i = 0; i < 2000; i++) strcat(big, ",1");
    strcat(big, "]}");
    assert_int_equal(metadata_builder_add(b, 0, big, &err), FO_ELIMIT);
    free(big);
    metadata_builder_free(b);
}

static void a_number_that_no_double_holds_is_refused_by_its_digits(void **state) {
    (void)state;
    static const char digits[] = "9007199254740993";
    static const char *const types[] = {"eq", "ne", "gt", "gte", "lt", "lte"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        cJSON *json = cJSON_CreateObject();
        cJSON_AddStringToObject(json, "type", types[i]);
        cJSON_AddStringToObject(json, "key", "n");
        cJSON *value = cJSON_AddNumberToObject(json, "value", 9007199254740992);
        search_filter *f = NULL;
        fo_err err = {0};
        assert_ok(search_filter_parse(&f, json, &err), &err);
        search_filter_free(f);
        value->valuestring = strdup(digits);
        assert_int_equal(search_filter_parse(&f, json, &err), FO_EINVAL);
        assert_string_equal(err.field, "filter.value");
        assert_non_null(strstr(err.msg, digits));
        cJSON_Delete(json);
    }
}

/* Processor time of documents with 20,000 strings, crafted to fall together under the public hash or not. */
static double adding_strings(bool crafted) {
    enum { EACH = 1000, DOCS = 20 };
    metadata_builder *b;
    fo_err err = {0};
    double took = 0;
    uint32_t number = 0;
    assert_ok(metadata_builder_create(&b, &err), &err);
    for (uint32_t doc = 0; doc < DOCS; doc++) {
        fo_buf json = {0};
        fo_buf_str(&json, "{\"k\":[\"first\"");
        for (int i = 0; i < EACH;) {
            char s[CRAFTED_BYTES + 1];
            if (crafted)
                crafted_term(0xBEE, number++, s);
            else
                snprintf(s, sizeof s, "%08x", number++);
            if (strlen(s) < CRAFTED_BYTES || strpbrk(s, "\"\\")) continue;
            fo_buf_printf(&json, ",\"%s\"", s);
            i++;
        }
        fo_buf_str(&json, "]}");
        assert_false(json.failed);
        const double begun = processor_seconds();
        assert_ok(metadata_builder_add(b, doc, json.data, &err), &err);
        took += processor_seconds() - begun;
        fo_buf_free(&json);
    }
    metadata_builder_free(b);
    return took;
}

static void strings_that_fall_together_take_no_longer_to_add(void **state) {
    (void)state;
    const double others = adding_strings(false), crafted = adding_strings(true);
    if (crafted > 30 * others) fail_msg("%.4f s, others %.4f", crafted, others);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_number_that_no_double_holds_is_refused_by_its_digits),
        cmocka_unit_test(errors_name_the_field_at_fault),
        cmocka_unit_test(every_operator_does_what_it_says),
        cmocka_unit_test(a_merge_keeps_what_matches),
        cmocka_unit_test(json_by_itself_matches_as_in_an_index),
        cmocka_unit_test(the_full_check_finds_columns_and_strings_out_of_order),
        cmocka_unit_test(strings_that_fall_together_take_no_longer_to_add),
        cmocka_unit_test(numbers_out_of_bounds_are_skipped),
        cmocka_unit_test(a_list_matches_as_its_values_one_by_one),
        cmocka_unit_test(a_long_list_costs_one_look_at_each_entry),
        cmocka_unit_test(values_are_eight_deep_at_most),
        cmocka_unit_test(keys_and_strings_are_bounded),
        cmocka_unit_test(no_nesting_makes_the_reserved_column),
        cmocka_unit_test(metadata_that_is_too_much_is_refused_and_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
