/* kv_reuse_test.c - kv_reuse over HTTP: what a reply says was met, and what /analytics/cache and
 * /metrics count of it, in pages, as a moved chunk, and from disk after a restart. The model says
 * what the test wants (chain_model.h). */
#include <math.h>
#include "tests/server/routes/http_fixture.h"
#include "tests/retrieval/chain_model.h"

static const char HERON[] =
    "{\"documents\":[{\"id\":\"heron\",\"text\":\"The grey heron stands one metre tall. It eats "
    "fish and frogs, and it waits for them without a move at the edge of the lake from the first "
    "light on until the boats of the village come home in the evening.\"}]}";

/* Pages for about three of the model's longest prompts. */
static fixture *open_at(const char *dir, uint64_t kv_disk) {
    engine_options engine_wanted = {
        .kv_ram = 800 << 10, .kv_store_ram = 4 << 20, .kv_disk = kv_disk};
    char path[4096];
    snprintf(path, sizeof path, "%s/chain.gguf", dir);
    if (access(path, R_OK) != 0) chain_model_write(path, "The grey heron stands one metre tall.");
    return fixture_open(strdup(dir), strdup(path), engine_wanted);
}

/* Its folder stays. */
static void close_it(fixture *f) {
    app_stop(f->app, 5000, NULL);
    service_close(f->service);
    free(f->dir);
    free(f->model);
    free(f);
}

static cJSON *query(fixture *f, const char *question, const char *more) {
    char body[512];
    snprintf(body, sizeof body, "{\"query\":\"%s\",\"cache\":\"bypass\"%s}", question, more);
    cJSON *r = ask(f, "/query", body, 200);
    if (strcmp(text(r, "answer_source"), "generated") != 0)
        fail_msg("%s: %s: %s", question, text(r, "answer_source"), text(r, "answer"));
    double cached = number(r, "cache.kv.prefix_tokens") + number(r, "cache.kv.chunk_tokens") -
                    number(r, "cache.kv.recomputed_tokens");
    assert_true(number(r, "usage.prompt_tokens_details.cached_tokens") == cached);
    return r;
}

/* Other documents are read until none of the pages is left that the first question left behind. */
static void push_out(fixture *f) {
    static const char *const words[] = {"granite", "marble", "slate", "basalt"};
    for (int i = 0; i < 4; i++) {
        fo_buf b = {0};
        fo_buf_printf(&b, "{\"documents\":[{\"id\":\"%s\",\"text\":\"", words[i]);
        while (b.len < 950) fo_buf_printf(&b, "Much %s was carried down. ", words[i]);
        fo_buf_str(&b, "\"}]}");
        cJSON_Delete(ask(f, "/ingest", b.data, 200));
        fo_buf_clear(&b);
        fo_buf_printf(&b,
                      "{\"query\":\"Who carried %s down?\",\"cache\":\"bypass\","
                      "\"prefill_only\":true}",
                      words[i]);
        cJSON_Delete(ask(f, "/query", b.data, 200));
        fo_buf_free(&b);
    }
}

/* The rows of the query log are written soon, not at once: a minute at most. */
static void wait_for_lookups(fixture *f, const char *layer, double lookups, double hits) {
    char path[64];
    double seen[2] = {-1, -1};
    for (int k = 0; k < 600; k++) {
        cJSON *r = ask(f, "/analytics/cache?window=1h&step=1m", NULL, 200);
        snprintf(path, sizeof path, "totals.%s.lookups", layer);
        seen[0] = number(r, path);
        snprintf(path, sizeof path, "totals.%s.hits", layer);
        seen[1] = number(r, path);
        snprintf(path, sizeof path, "totals.%s.saved_tokens", layer);
        bool saved = number(r, path) > 0;
        cJSON_Delete(r);
        if (seen[0] == lookups && seen[1] == hits && saved == (hits > 0)) return;
        usleep(100000);
    }
    fail_msg("%s: %g look-ups and %g hits instead of %g and %g", layer, seen[0], seen[1], lookups,
             hits);
}

static double metric(fixture *f, const char *name) {
    fo_buf b = {0};
    assert_int_equal(send_body(f, "/metrics", NULL, &b, false), 200);
    const char *line = strstr(b.data, name);
    double v = line ? atof(line + strlen(name)) : -1;
    fo_buf_free(&b);
    return v;
}

/* What the first question brought is computed again, alone, once nobody asks: a minute at most. */
static void wait_for_chunks(fixture *f) {
    for (int k = 0; k < 600; k++) {
        if (metric(f, "forage_kv_store_records{tier=\"ram\"}") > 0) return;
        usleep(100000);
    }
    fail_msg("no chunk in the store");
}

static void a_moved_chunk_is_seen_in_the_reply_and_counted(void **state) {
    (void)state;
    char *dir = test_folder();
    fixture *f = open_at(dir, 0);
    cJSON_Delete(ask(f, "/ingest", HERON, 200));
    cJSON *r = query(f, "How tall is the grey heron?", ",\"kv_reuse\":\"chunk\"");
    assert_string_equal(text(r, "cache.kv.note"), "its chunks are not known yet");
    assert_true(number(r, "cache.kv.chunk_tokens") == 0);
    char *wanted = strdup(text(r, "answer"));
    cJSON_Delete(r);
    wait_for_chunks(f);
    push_out(f); /* and the next question can meet the chunk alone */
    r = query(f, "How tall does a grey heron stand?", ",\"kv_reuse\":\"chunk\"");
    double moved = number(r, "cache.kv.chunk_tokens");
    assert_true(moved > 100);
    double again = number(r, "cache.kv.recomputed_tokens");
    assert_true(again == round(.15 * moved));
    assert_true(number(r, "cache.kv.disk_tokens") == 0);
    assert_null(at(r, "cache.kv.note"));
    assert_string_equal(text(r, "answer"), wanted);
    cJSON_Delete(r);
    wait_for_lookups(f, "kv_chunk", 2, 1);
    wait_for_lookups(f, "kv_prefix", 6, 5); /* those that pushed out met the prefix */
    assert_true(metric(f, "forage_cache_hits_total{layer=\"kv_chunk\"}") == 1);
    assert_true(metric(f, "forage_cache_lookups_total{layer=\"kv_chunk\"}") == 2);
    assert_true(metric(f, "forage_cache_saved_tokens_total{layer=\"kv_chunk\"}") == moved - again);
    assert_true(metric(f, "forage_kv_store_hits_total{kind=\"chunk\"}") >= 1);
    close_it(f);

    f = open_at(dir, 16 << 20);
    /* Exact requests look for pages alone, and `off` for nothing. */
    cJSON_Delete(query(f, "How tall is the grey heron?", ""));
    r = query(f, "How tall is the grey heron?", "");
    assert_true(number(r, "cache.kv.prefix_tokens") > 100);
    assert_true(number(r, "cache.kv.chunk_tokens") == 0);
    cJSON_Delete(r);
    r = query(f, "How tall is the grey heron?", ",\"kv_reuse\":\"off\"");
    assert_true(number(r, "cache.kv.prefix_tokens") == 0);
    cJSON_Delete(r);
    wait_for_lookups(f, "kv_prefix", 8, 6);
    wait_for_lookups(f, "kv_chunk", 2, 1);
    close_it(f);

    f = open_at(dir, 16 << 20);
    r = query(f, "How tall does the grey heron stand?", ",\"kv_reuse\":\"chunk\"");
    assert_true(number(r, "cache.kv.disk_tokens") > 100);
    assert_string_equal(text(r, "answer"), wanted);
    cJSON_Delete(r);
    wait_for_lookups(f, "kv_disk", 2, 1); /* one in the life before */
    assert_true(metric(f, "forage_cache_hits_total{layer=\"kv_disk\"}") == 1);
    assert_true(metric(f, "forage_kv_store_corrupt_total") == 0);
    free(wanted);
    close_it(f);
    test_remove(dir);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_moved_chunk_is_seen_in_the_reply_and_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
