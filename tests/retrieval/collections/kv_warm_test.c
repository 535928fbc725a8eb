/* kv_warm_test.c - chunks read before anybody asks: what a question then finds, over a restart too,
 * within a budget, and nothing of it for another tenant. */
#include "tests/test.h"

#include "retrieval/local/local_generator.h"
#include "retrieval/service/service.h"
#include "tests/retrieval/chain_model.h"
#include "tests/retrieval/service/damaged_page.h"

static fo_err err;
static char *folder, path[512], home[512];

static service *open_home(enum kv_warm_mode warm, engine_options e) {
    if (!e.kv_ram) e.kv_ram = 64 << 20;
    e.model = path;
    service_options o = {.home = home,
                         .generator = local_generator(&e),
                         .n_threads = 1,
                         .warm = warm,
                         .cache_bytes = -1};
    service *s = NULL;
    assert_ok(service_open(&s, &o, &err), &err);
    return s;
}

/* Birds, each with a text of its own of some length. */
static void ingest_birds(service *s, const char *tenant, int first, int n) {
    for (int i = first; i < first + n; i++) {
        char id[32], text[2048];
        int at = snprintf(text, sizeof text, "The bird number %d stands %d feet tall.", i, i + 2);
        for (int k = 0; k < 8; k++)
            at += snprintf(text + at, sizeof text - (size_t)at,
                           " In year %d it laid %d eggs by the lake.", 1900 + 7 * i + k, k + i);
        snprintf(id, sizeof id, "bird-%d", i);
        ingest_document d = {.id = id, .bytes = text, .n_bytes = strlen(text)};
        ingest_options o = {.tenant = tenant, .collection = "birds"};
        ingest_result r;
        ingest_report report;
        assert_ok(service_ingest(s, &o, &d, 1, &r, &report, &err), &err);
        assert_int_equal(r.status, INGEST_CREATED);
        ingest_result_deinit(&r);
    }
}

/* Bounded: a minute at most. */
static service_warm_stats wait_for_chunks(service *s, uint64_t n) {
    service_warm_stats st = {0};
    for (int k = 0; k < 3000; k++) {
        service_get_warm_stats(s, &st);
        if (st.chunks >= n) break;
        usleep(20000);
    }
    return st;
}

typedef struct use {
    size_t prompt, cached, disk;
} use;

static use ask(service *s, const char *tenant, int bird) {
    char question[64];
    snprintf(question, sizeof question, "How tall is the bird number %d?", bird);
    query_request q = {.tenant = tenant,
                       .collection = "birds",
                       .query = question,
                       .top_k = 1,
                       .search = {.alpha = -1},
                       .generate = true,
                       .answer_by = ANSWER_BY_MODEL,
                       .max_tokens = 4,
                       .cache = CACHE_BYPASS};
    query_result r;
    assert_ok(service_query(s, &q, NULL, &r, &err), &err);
    use u = {r.usage.prompt_tokens, r.usage.cached_tokens, r.usage.disk_tokens};
    assert_int_equal(r.prompt.n_contexts, 1);
    query_result_deinit(&r);
    return u;
}

static void must_be_warm(use u) {
    if (u.cached * 10 < u.prompt * 6) fail_msg("%zu of %zu tokens were there", u.cached, u.prompt);
}

static void what_comes_in_is_read_before_it_is_asked_for(void **state) {
    (void)state;
    service *s = open_home(KV_WARM_OFF, (engine_options){0});
    ingest_birds(s, "default", 0, 2); /* before: not "what comes in" */
    service_warm_stats st;
    service_get_warm_stats(s, &st);
    assert_int_equal(st.mode, KV_WARM_OFF);
    use cold = ask(s, "default", 0);
    assert_int_equal(cold.cached, 0);
    service_close(s);

    s = open_home(KV_WARM_INGEST, (engine_options){.kv_disk = 64 << 20});
    ingest_birds(s, "default", 10, 6);
    ingest_birds(s, "other", 10, 1);
    st = wait_for_chunks(s, 7);
    assert_int_equal(st.chunks, 7);
    assert_true(st.tokens > 7 * 100 && st.computed_tokens > 0);
    assert_true(st.bytes > 0 && st.bytes <= st.budget_bytes);
    /* All but the question and the last block is there. */
    must_be_warm(ask(s, "default", 12));
    must_be_warm(ask(s, "other", 10));
    service_close(s);

    s = open_home(KV_WARM_OFF, (engine_options){.kv_disk = 64 << 20});
    use later = ask(s, "default", 14); /* nobody has ever asked for it */
    must_be_warm(later);
    assert_true(later.disk > 0);
    service_close(s);
}

static void idle_time_goes_through_everything_within_a_budget(void **state) {
    (void)state;
    service *s = open_home(KV_WARM_OFF, (engine_options){0});
    ingest_birds(s, "default", 100, 30);
    service_close(s);
    s = open_home(KV_WARM_IDLE, (engine_options){0});
    service_warm_stats st = wait_for_chunks(s, 30);
    assert_true(st.chunks >= 30);
    assert_true(ask(s, "default", 120).cached > 0);
    uint64_t a_chunk = st.bytes / st.chunks;
    service_close(s);
    s = open_home(KV_WARM_IDLE, (engine_options){.kv_store_ram = 8 * a_chunk});
    st = wait_for_chunks(s, 6);
    usleep(200000);
    service_get_warm_stats(s, &st);
    assert_true(st.chunks >= 5 && st.chunks <= 8); /* three quarters of the room for eight */
    service_close(s);
}

static void closes_in_the_middle_of_its_work(void **state) {
    (void)state;
    for (int k = 0; k < 5; k++) {
        service *s = open_home(k % 2 ? KV_WARM_IDLE : KV_WARM_INGEST, (engine_options){0});
        ingest_birds(s, "default", 1000 + 10 * k, 4);
        usleep((useconds_t)(3000 * k));
        service_close(s);
    }
}

static int setup(void **state) {
    (void)state;
    folder = test_folder();
    snprintf(path, sizeof path, "%s/chain.gguf", folder);
    snprintf(home, sizeof home, "%s/home", folder);
    chain_model_write(path, "It stands tall.");
    return 0;
}

static int teardown(void **state) {
    (void)state;
    test_remove(folder);
    return 0;
}

static void a_damaged_document_holds_no_other_up(void **state) {
    (void)state;
    snprintf(home, sizeof home, "%s/damaged", folder);
    service *s = open_home(KV_WARM_OFF, (engine_options){0});
    char *text = long_text("The hay shed is locked at night. ");
    ingest_document d = {.id = "a", .bytes = text, .n_bytes = LONG_TEXT};
    ingest_options o = {.tenant = "default", .collection = "birds", .max_tokens = 2000};
    ingest_result r;
    assert_ok(service_ingest(s, &o, &d, 1, &r, NULL, &err), &err);
    assert_true(r.status == INGEST_CREATED && r.chunks < 4);
    ingest_result_deinit(&r);
    free(text);
    ingest_birds(s, "default", 0, 4);
    service_close(s);
    damage_mark(home);
    s = open_home(KV_WARM_IDLE, (engine_options){.kv_disk = 64 << 20});
    service_warm_stats st = wait_for_chunks(s, 4);
    assert_true(st.chunks >= 4);
    service_close(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_comes_in_is_read_before_it_is_asked_for),
        cmocka_unit_test(idle_time_goes_through_everything_within_a_budget),
        cmocka_unit_test(closes_in_the_middle_of_its_work),
        cmocka_unit_test(a_damaged_document_holds_no_other_up),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
