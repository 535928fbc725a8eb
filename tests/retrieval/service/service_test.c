/* The service as a whole, without HTTP: documents in, found, cited, updated and deleted; filters,
 * modes, conversations, a full disk, commits that fail, writers and readers at once. */
#include "tests/retrieval/service/both_stores_fixture.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cJSON.h>

#include "kernels/buf.h"
#include "kernels/file.h"
#include "kernels/utf8.h"

static void a_document_is_findable_cited_updated_and_gone(void **state) {
    (void)state;
    fo_err err = {0};
    char *home = test_folder();
    service *s = open_home(home);
    assert_int_equal(put(s, "heron", "The grey heron stands one metre tall. It eats fish.", NULL),
                     INGEST_CREATED);
    assert_int_equal(put(s, "owl", "The barn owl hunts mice at night and nests in barns.", NULL),
                     INGEST_CREATED);
    assert_int_equal(put(s, "heron", "The grey heron stands one metre tall. It eats fish.", NULL),
                     INGEST_UNCHANGED);
    assert_string_equal(best(s, "What does the heron eat?"), "heron");

    query_request q = question("How tall is the grey heron?");
    query_result r;
    assert_ok(service_query(s, &q, NULL, &r, &err), &err);
    assert_int_equal(r.status, QUERY_ANSWERED);
    assert_int_equal(r.source, ANSWER_EXTRACTIVE);
    assert_non_null(strstr(r.answer, "one metre"));
    assert_true(r.n_citations >= 1);
    for (size_t i = 0; i < r.n_citations; i++) {
        const query_citation *c = &r.citations[i];
        assert_true(c->verified);
        store_document d;
        const char *id = r.contexts[c->context].chunk.document_id;
        store_collection col;
        assert_ok(store_get_collection(service_store(s), "default", "notes", &col, &err), &err);
        assert_ok(store_get_document(service_store(s), col.id, id, true, &d, &err), &err);
        size_t n = strlen(d.text), a = fo_utf8_offset(d.text, n, c->source_start),
               b = fo_utf8_offset(d.text, n, c->source_end);
        assert_int_equal(b - a, strlen(c->quote));
        assert_memory_equal(d.text + a, c->quote, b - a);
        store_document_deinit(&d);
        store_collection_deinit(&col);
    }
    int64_t epoch = r.epoch;
    query_result_deinit(&r);

    assert_int_equal(put(s, "heron", "The grey heron wades through shallow ponds.", NULL),
                     INGEST_UPDATED);
    search_id_report ids; /* nothing of the old version takes a place among the hits */
    assert_ok(service_compare_ids(s, "default", "notes", &ids, &err), &err);
    q = question("How tall is the grey heron?");
    assert_ok(service_query(s, &q, NULL, &r, &err), &err);
    assert_true(r.epoch > epoch);
    for (size_t i = 0; i < r.n_contexts; i++)
        assert_null(strstr(r.contexts[i].chunk.text, "one metre"));
    query_result_deinit(&r);

    assert_ok(service_delete_document(s, "default", "notes", "heron", NULL, &epoch, &err), &err);
    assert_ok(service_compare_ids(s, "default", "notes", &ids, &err), &err);
    assert_int_equal(service_delete_document(s, "default", "notes", "heron", NULL, NULL, &err),
                     FO_ENOTFOUND);
    assert_string_equal(best(s, "grey heron ponds"), "owl");
    service_close(s);
    forget(home);
}

static bool finds(service *s, const char *text, const char *id) {
    fo_err err = {0};
    query_request q = question(text);
    q.generate = false;
    q.search.mode = SEARCH_SPARSE;
    query_result r;
    bool found = false;
    assert_ok(service_query(s, &q, NULL, &r, &err), &err);
    for (size_t i = 0; i < r.n_contexts; i++) found |= !strcmp(r.contexts[i].chunk.document_id, id);
    query_result_deinit(&r);
    return found;
}

static void nothing_goes_in_where_the_disk_is_nearly_full(void **state) {
    (void)state;
    fo_err err = {0};
    char *home = test_folder();
    service *s = NULL;
    service_options opt = {
        .home = home, .store = backend, .n_threads = 2, .min_free_bytes = UINT64_MAX};
    assert_ok(service_open(&s, &opt, &err), &err);
    ingest_document d = {.id = "owl", .bytes = "The owl hunts.", .n_bytes = 14};
    ingest_result r = {0};
    assert_int_equal(service_ingest(s, &into, &d, 1, &r, NULL, &err), FO_ENOSPC);
    assert_non_null(strstr(err.msg, "MiB are free"));
    ingest_result_deinit(&r);
    service_close(s);
    forget(home);
}

/* The log of the database cannot grow: what is not durable is told, and found nowhere. */
static void a_failed_commit_leaves_no_trace(void **state) {
    (void)state;
    fo_err err = {0};
    char *home = test_folder(), path[4200];
    service *s = open_home(home);
    put(s, "owl", "The barn owl hunts mice at night and nests in barns.", NULL);
    store_collection before, after;
    assert_ok(store_get_collection(service_store(s), "default", "notes", &before, &err), &err);
    fo_buf text = {0};
    fo_buf_str(&text, "The walrus keeps a diary.");
    for (int i = 0; i < 40000; i++) fo_buf_printf(&text, " Its page %d is blank.", i);
    fo_buf_char(&text, 0);
    snprintf(path, sizeof path, "%s/forage.db-wal", home);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    struct rlimit old, full;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    full = old;
    full.rlim_cur = (rlim_t)st.st_size + 8192;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &full), 0);
    ingest_document d = {.id = "walrus", .bytes = text.data, .n_bytes = text.len - 1};
    ingest_result r = {0};
    int rc = service_ingest(s, &into, &d, 1, &r, NULL, &err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    if (!rc) fail_msg("acknowledged with status %d", (int)r.status);
    ingest_result_deinit(&r);
    assert_false(finds(s, "walrus diary", "walrus"));
    assert_ok(store_get_collection(service_store(s), "default", "notes", &after, &err), &err);
    assert_int_equal(after.epoch, before.epoch);
    assert_int_equal(after.n_documents, 1);
    search_id_report ids;
    assert_ok(service_compare_ids(s, "default", "notes", &ids, &err), &err);
    store_collection_deinit(&before);
    store_collection_deinit(&after);
    assert_int_equal(put(s, "walrus", text.data, NULL), INGEST_CREATED); /* there is room again */
    assert_true(finds(s, "walrus diary", "walrus"));
    assert_ok(service_compare_ids(s, "default", "notes", &ids, &err), &err);
    fo_buf_free(&text);
    service_close(s);
    forget(home);
}

static void one_bad_document_fails_alone(void **state) {
    (void)state;
    fo_err err = {0};
    char *home = test_folder();
    service *s = open_home(home);
    ingest_document d[5] = {
        {.id = "good", .bytes = "Lichens grow slowly.", .n_bytes = 20},
        {.id = "", .bytes = "x", .n_bytes = 1},
        {.id = "pdf",
         .bytes = "\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
         .n_bytes = 16,
         .content_type = "image/png"},
        {.id = "list", .bytes = "x", .n_bytes = 1, .metadata = "[1]"},
        {.id = "nothing known", .bytes = "\xF0\x9F\xA6\x86 \xF0\x9F\xA6\x89", .n_bytes = 9},
    };
    ingest_result r[5];
    ingest_report report;
    assert_ok(service_ingest(s, &into, d, 5, r, &report, &err), &err);
    assert_int_equal(r[0].status, INGEST_CREATED);
    assert_int_equal(r[1].status, INGEST_FAILED);
    assert_string_equal(r[1].error.field, "id");
    assert_int_equal(r[2].status, INGEST_FAILED);
    assert_int_equal(r[2].error.code, FO_EUNSUPPORTED);
    assert_int_equal(r[3].status, INGEST_FAILED);
    assert_string_equal(r[3].error.field, "metadata");
    assert_int_equal(r[4].status, INGEST_CREATED);
    for (int i = 0; i < 5; i++) ingest_result_deinit(&r[i]);
    assert_string_equal(best(s, "lichens"), "good");
    assert_true(report.epoch > 0);
    service_close(s);
    forget(home);
}

typedef struct gone {
    size_t n;
    char last[32];
} gone;

static void note_gone(void *ctx, const store_document *d) {
    gone *g = ctx;
    assert_true(strcmp(d->id, g->last) > 0); /* in order */
    snprintf(g->last, sizeof g->last, "%s", d->id);
    g->n++;
}

static void what_a_filter_matches_is_deleted_and_nothing_else(void **state) {
    (void)state;
    enum { N = 1200 };
    fo_err err = {0};
    char *home = test_folder(), id[32], text[64], metadata[64];
    service *s = open_home(home);
    ingest_document *d = calloc(N, sizeof *d);
    ingest_result *r = calloc(N, sizeof *r);
    for (int i = 0; i < N; i++) {
        snprintf(id, sizeof id, "d%04d", i);
        snprintf(text, sizeof text, "Basalt number%d.", i);
        snprintf(metadata, sizeof metadata, "{\"n\":%d,\"odd\":%s}", i, i % 2 ? "true" : "false");
        d[i] = (ingest_document){
            .id = strdup(id), .bytes = strdup(text), .metadata = strdup(metadata)};
        d[i].n_bytes = i % 100 ? strlen(text) : 0; /* some without a chunk: no index knows them */
    }
    assert_ok(service_ingest(s, &into, d, N, r, NULL, &err), &err);
    for (int i = 0; i < N; i++) {
        assert_int_equal(r[i].status, INGEST_CREATED);
        ingest_result_deinit(&r[i]);
        free((char *)d[i].id), free((char *)d[i].bytes), free((char *)d[i].metadata);
    }
    free(d);
    free(r);
    assert_int_equal(put(s, "plain", "Basalt without metadata.", NULL), INGEST_CREATED);

    cJSON *json = cJSON_Parse("{\"type\":\"and\",\"filters\":[{\"type\":\"gte\",\"key\":\"n\","
                              "\"value\":100},{\"type\":\"eq\",\"key\":\"odd\",\"value\":false}]}");
    search_filter *f;
    assert_ok(search_filter_parse(&f, json, &err), &err);
    cJSON_Delete(json);
    gone g = {0};
    delete_request q = {.tenant = into.tenant,
                        .collection = into.collection,
                        .filter = f,
                        .dry_run = true,
                        .each = note_gone,
                        .ctx = &g};
    delete_report done;
    assert_ok(service_delete_documents(s, &q, &done, &err), &err);
    assert_int_equal(done.matched, 550);
    assert_int_equal(done.chunks, 539);
    assert_int_equal(done.deleted + done.changed + done.unreadable, 0);
    assert_int_equal(g.n, 550);
    int64_t epoch = done.epoch;
    assert_true(finds(s, "number102", "d0102"));

    g = (gone){0};
    q.dry_run = false;
    atomic_bool cancel = true; /* nothing is done for who went away */
    q.cancel = &cancel;
    assert_int_equal(service_delete_documents(s, &q, &done, &err), FO_ECANCELLED);
    assert_int_equal(done.deleted, 0);
    cancel = false;
    err = (fo_err){0};
    assert_ok(service_delete_documents(s, &q, &done, &err), &err);
    assert_int_equal(done.matched, 550);
    assert_int_equal(done.deleted, 550);
    assert_int_equal(g.n, 550);
    assert_int_equal(done.epoch, epoch + 3); /* a commit every 512 that were looked at */
    assert_false(finds(s, "number102", "d0102"));
    assert_true(finds(s, "number103", "d0103"));
    assert_true(finds(s, "number98", "d0098"));
    assert_true(finds(s, "metadata", "plain"));
    store_collection c;
    assert_ok(store_get_collection(service_store(s), into.tenant, into.collection, &c, &err), &err);
    assert_int_equal(c.n_documents, N + 1 - 550);
    store_collection_deinit(&c);
    assert_ok(service_delete_documents(s, &q, &done, &err), &err);
    assert_int_equal(done.matched, 0);
    expect_sound(s);
    search_id_report ids;
    assert_ok(service_compare_ids(s, into.tenant, into.collection, &ids, &err), &err);
    q.collection = "absent";
    assert_int_equal(service_delete_documents(s, &q, &done, &err), FO_ENOTFOUND);
    service_close(s);

    service_options opt = {.home = home, .store = backend, .n_threads = 2, .read_only = true};
    assert_ok(service_open(&s, &opt, &err), &err);
    q.collection = into.collection;
    assert_int_equal(service_delete_documents(s, &q, &done, &err), FO_EUNSUPPORTED);
    q.dry_run = true;
    assert_ok(service_delete_documents(s, &q, &done, &err), &err);
    service_close(s);
    search_filter_free(f);
    forget(home);
}

static void of_two_versions_in_one_call_the_later_stands(void **state) {
    (void)state;
    fo_err err = {0};
    char *home = test_folder();
    service *s = open_home(home);
    ingest_document d[3] = {
        {.id = "rock", .bytes = "Granite is hard.", .n_bytes = 16},
        {.id = "rock", .bytes = "Chalk is soft.", .n_bytes = 14},
        {.id = "rock", .bytes = "Granite is hard.", .n_bytes = 16},
    };
    ingest_result r[3];
    assert_ok(service_ingest(s, &into, d, 1, r, NULL, &err), &err);
    ingest_result_deinit(&r[0]);
    /* The last is what stands already, but no longer once the one before it is written. */
    assert_ok(service_ingest(s, &into, d + 1, 2, r, NULL, &err), &err);
    assert_int_equal(r[0].status, INGEST_UPDATED);
    assert_int_equal(r[1].status, INGEST_UPDATED);
    for (int i = 0; i < 2; i++) ingest_result_deinit(&r[i]);
    query_request q = {.tenant = "default",
                       .collection = into.collection,
                       .query = "granite",
                       .top_k = 3,
                       .search = {.alpha = -1}};
    query_result found;
    assert_ok(service_query(s, &q, NULL, &found, &err), &err);
    assert_int_equal(found.n_contexts, 1);
    assert_non_null(strstr(found.contexts[0].chunk.text, "Granite"));
    query_result_deinit(&found);
    service_close(s);
    forget(home);
}

/* What stands there already came to nothing, and what fails neither. */
static void documents_are_counted_once_they_are_stored(void **state) {
    (void)state;
    fo_err err = {0};
    char *home = test_folder();
    service *s = open_home(home);
    const ingest_document d[3] = {
        {.id = "rock", .bytes = "Granite is hard.", .n_bytes = 16},
        {.id = "rock", .bytes = "Granite is hard.", .n_bytes = 16},
        {.id = "sand", .bytes = "Sand is fine.", .n_bytes = 13},
    };
    ingest_result r[3];
    service_stats st;
    assert_ok(service_ingest(s, &into, d, 3, r, NULL, &err), &err);
    assert_int_equal(r[1].status, INGEST_UNCHANGED);
    for (int i = 0; i < 3; i++) ingest_result_deinit(&r[i]);
    assert_ok(service_get_stats(s, &st, &err), &err);
    assert_int_equal(st.n_ingested, 2);
    service_close(s);
    forget(home);
}

/* The file goes to a process of its own, which this service has not: it is not taken for the text that stands there. */
static void a_text_that_looks_like_a_notebook_is_another_document_than_the_notebook(void **state) {
    (void)state;
    static const char bytes[] = "{\"cells\": [{\"cell_type\": \"markdown\", \"source\": "
                                "\"Granite is hard.\"}], \"nbformat\": 4}";
    static const enum ingest_status expected[] = {INGEST_CREATED, INGEST_UNCHANGED, INGEST_FAILED};
    char *home = test_folder();
    service *s = open_home(home);
    fo_err err = {0};
    for (int i = 0; i < 3; i++) {
        const ingest_document d = {
            .id = "rock", .is_text = i < 2, .bytes = bytes, .n_bytes = sizeof bytes - 1};
        ingest_result r;
        assert_ok(service_ingest(s, &into, &d, 1, &r, NULL, &err), &err);
        assert_int_equal(r.status, expected[i]);
        if (i == 2) assert_non_null(strstr(r.error.msg, "a Jupyter notebook"));
        ingest_result_deinit(&r);
    }
    service_close(s);
    forget(home);
}

static void a_call_that_is_cancelled_fails_as_a_whole(void **state) {
    (void)state;
    char *home = test_folder();
    service *s = open_home(home);
    atomic_bool cancel = true;
    ingest_options of = into;
    of.cancel = &cancel;
    const ingest_document d[2] = {{.id = "rock", .bytes = "Granite is hard.", .n_bytes = 16},
                                  {.id = "sand", .bytes = "Sand is fine.", .n_bytes = 13}};
    for (size_t n = 1; n <= 2; n++) {
        ingest_result r[2];
        fo_err err = {0};
        assert_int_equal(service_ingest(s, &of, d, n, r, NULL, &err), FO_ECANCELLED);
        for (size_t i = 0; i < n; i++) ingest_result_deinit(&r[i]);
    }
    service_close(s);
    forget(home);
}

static void a_reopened_home_answers_as_before(void **state) {
    (void)state;
    char *home = test_folder();
    service *s = open_home(home);
    fill(s, 0, 60);
    service_close(s);
    s = open_home(home);
    assert_string_equal(best(s, "marker37"), "doc37");
    fill(s, 60, 70);
    assert_string_equal(best(s, "marker65"), "doc65");
    service_close(s);

    /* The index is derived: without it, or with a damaged file, the store brings it back. */
    char path[4096], command[4300];
    snprintf(path, sizeof path, "%s/index", home);
    fo_err err = {0};
    assert_ok(fo_remove_tree(path, &err), &err);
    s = open_home(home);
    assert_string_equal(best(s, "marker65"), "doc65");
    assert_string_equal(best(s, "marker3"), "doc3");
    service_close(s);
    snprintf(
        command, sizeof command,
        "find '%s/index' -type f -size +1k -exec sh -c 'for f; do printf XXXXXXXX | dd of=\"$f\" "
        "bs=1 seek=4 conv=notrunc status=none; done' _ {} +",
        home);
    assert_int_equal(system(command), 0);
    s = open_home(home);
    assert_string_equal(best(s, "marker65"), "doc65");
    assert_string_equal(best(s, "marker3"), "doc3");
    service_close(s);
    forget(home);
}

static void a_second_writer_and_a_bad_name_are_refused(void **state) {
    (void)state;
    fo_err err = {0};
    char *home = test_folder();
    service *s = open_home(home), *second = NULL;
    service_options opt = {.home = home, .store = backend};
    assert_int_equal(service_open(&second, &opt, &err), FO_EBUSY);
    assert_null(second);
    ingest_options bad = into;
    bad.collection = "../escape";
    ingest_document d = {.id = "x", .bytes = "y", .n_bytes = 1};
    ingest_result r;
    assert_int_equal(service_ingest(s, &bad, &d, 1, &r, NULL, &err), FO_EINVAL);
    assert_string_equal(err.field, "collection");
    query_request q = question("anything");
    q.collection = "absent";
    query_result out;
    assert_int_equal(service_query(s, &q, NULL, &out, &err), FO_ENOTFOUND);
    assert_ok(service_create_collection(s, "default", "absent", NULL, &err), &err);
    assert_int_equal(service_create_collection(s, "default", "absent", NULL, &err), FO_ECONFLICT);
    assert_ok(service_query(s, &q, NULL, &out, &err), &err);
    assert_int_equal(out.status, QUERY_NO_CONTEXT);
    query_result_deinit(&out);
    q.query = "";
    assert_int_equal(service_query(s, &q, NULL, &out, &err), FO_EINVAL);
    assert_string_equal(err.field, "query");
    q.query = "bad \xff bytes";
    assert_int_equal(service_query(s, &q, NULL, &out, &err), FO_EINVAL);
    assert_ok(service_delete_collection(s, "default", "absent", NULL, &err), &err);
    assert_int_equal(service_delete_collection(s, "default", "absent", NULL, &err), FO_ENOTFOUND);
    service_close(s);
    forget(home);
}

static void without_a_question_there_is_an_error_that_names_the_field(void **state) {
    (void)state;
    char *home = test_folder();
    service *s = open_home(home);
    query_request q = {
        .tenant = "default", .collection = "notes", .generate = true, .search = {.alpha = -1}};
    query_result out;
    fo_err err = {0};
    assert_int_equal(service_query(s, &q, NULL, &out, &err), FO_EINVAL);
    assert_string_equal(err.field, "query");
    query_result_deinit(&out);
    service_close(s);
    test_remove(home);
}

static void every_mode_and_fusion_finds_the_entry(void **state) {
    (void)state;
    fo_err err = {0};
    char *home = test_folder();
    service *s = open_home(home);
    fill(s, 0, 40);
    for (int mode = SEARCH_HYBRID; mode <= SEARCH_SPARSE; mode++) {
        for (int fusion = FUSION_WEIGHTED; fusion <= FUSION_DBSF; fusion++) {
            query_request q = question("entry number 17 near marker17");
            q.generate = false;
            q.top_k = 40;
            q.search.mode = (enum search_mode)mode;
            q.search.fusion = (enum fusion_kind)fusion;
            query_result r;
            assert_ok(service_query(s, &q, NULL, &r, &err), &err);
            assert_true(r.n_contexts > 0 && r.n_contexts <= 40);
            if (mode != SEARCH_DENSE) assert_string_equal(r.contexts[0].chunk.document_id, "doc17");
            for (size_t i = 1; i < r.n_contexts; i++)
                assert_true(r.contexts[i - 1].score >= r.contexts[i].score);
            query_result_deinit(&r);
        }
    }
    service_close(s);
    forget(home);
}

static void a_follow_up_is_understood_from_the_turns_before(void **state) {
    (void)state;
    fo_err err = {0};
    char *home = test_folder();
    service *s = open_home(home);
    put(s, "bridge", "The Harbour Bridge carries eight lanes. It was built by the railway company.",
        NULL);
    put(s, "tower", "The water tower was built by the town. It holds two hundred tonnes.", NULL);
    put(s, "mill", "The old mill was built by farmers and ground rye.", NULL);
    query_message turns[] = {{"user", "How many lanes does the Harbour Bridge carry?"},
                             {"assistant", "The Harbour Bridge carries eight lanes."},
                             {"user", "And who built it?"}};
    query_request q = question(NULL);
    q.query = NULL; /* the last turn is the question */
    q.messages = turns;
    q.n_messages = 3;
    query_result r;
    assert_ok(service_query(s, &q, NULL, &r, &err), &err);
    assert_string_equal(r.contexts[0].chunk.document_id, "bridge");
    query_result_deinit(&r);
    service_close(s);
    forget(home);
}

/* Which document the talk is of, the last answer tells that quotes one; a refusal or thanks are of none. */
static void a_conversation_stays_with_the_document_that_it_was_answered_from(void **state) {
    (void)state;
    fo_err err = {0};
    char *home = test_folder();
    service *s = open_home(home);
    put(s, "boats", "Canoes are hired out by the hour. The deposit is 20 crowns.", NULL);
    put(s, "hall", "The great hall seats ninety people. The deposit is 150 crowns.", NULL);
    static const struct {
        const char *asked, *answer, *said;
    } cases[] = {
        {"How are canoes hired out?", "Canoes are hired out by the hour. [1]", "20 crowns"},
        {"How many people does the great hall seat?", "The great hall seats ninety people. [1]",
         "150 crowns"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        query_message turns[] = {{"user", cases[i].asked},
                                 {"assistant", cases[i].answer},
                                 {"user", "Who won the world cup?"},
                                 {"assistant", "The documents do not answer this question."},
                                 {"user", "How much is the deposit?"}};
        query_request q = question(NULL);
        q.query = NULL;
        q.messages = turns;
        q.n_messages = 5;
        q.max_sentences = 1;
        q.strict = false;
        query_result r;
        assert_ok(service_query(s, &q, NULL, &r, &err), &err);
        if (!strstr(r.answer, cases[i].said)) fail_msg("%s: %s", cases[i].asked, r.answer);
        query_result_deinit(&r);
    }
    service_close(s);
    forget(home);
}

static void copies_of_a_text_are_one_context_of_an_answer(void **state) {
    (void)state;
    fo_err err = {0};
    char *home = test_folder();
    service *s = open_home(home);
    const char *text = "The observatory on the ridge opens its dome at nine in the evening, "
                       "when the last of the daylight has gone from the valley below it.";
    put(s, "a", text, NULL);
    put(s, "b", text, NULL);
    put(s, "c", "The observatory has a library of star charts.", NULL);
    query_request q = question("When does the observatory open its dome?");
    query_result r;
    assert_ok(service_query(s, &q, NULL, &r, &err), &err);
    assert_int_equal(r.n_contexts, 2);
    assert_int_equal(r.n_collapsed, 1);
    query_result_deinit(&r);
    q.generate = false;
    assert_ok(service_query(s, &q, NULL, &r, &err), &err);
    assert_int_equal(r.n_contexts, 3); /* a search shows what is there */
    query_result_deinit(&r);
    service_close(s);
    forget(home);
}

/* ---- many at once ------------------------------------------------------------------------ */

enum { WRITERS = 4, EACH = 25 };
typedef struct crowd {
    service *s;
    int number;
    atomic_bool *stop;
} crowd;

static void *write_some(void *v) {
    crowd *c = v;
    for (int i = 0; i < EACH; i++) {
        char id[32], text[200];
        snprintf(id, sizeof id, "w%d-%d", c->number, i);
        snprintf(text, sizeof text, "Writer %d left note token%dx%d on the board.", c->number,
                 c->number, i);
        put(c->s, id, text, NULL);
        /* A 200 means findable: at once, for whoever asks. */
        snprintf(text, sizeof text, "token%dx%d", c->number, i);
        if (strcmp(best(c->s, text), id) != 0) return (void *)"not found";
        if (i % 5 == 4) {
            fo_err err = {0};
            if (service_delete_document(c->s, "default", "notes", id, NULL, NULL, &err) != FO_OK)
                return (void *)"not deleted";
        }
    }
    return NULL;
}

static void *read_some(void *v) {
    crowd *c = v;
    int64_t last = 0;
    while (!atomic_load(c->stop)) {
        fo_err err = {0};
        query_request q = question("note on the board");
        query_result r;
        if (service_query(c->s, &q, NULL, &r, &err) != FO_OK) return (void *)"query failed";
        if (r.epoch < last) return (void *)"the epoch went back";
        last = r.epoch;
        query_result_deinit(&r);
    }
    return NULL;
}

static void writers_and_readers_do_not_disturb_each_other(void **state) {
    (void)state;
    char *home = test_folder();
    service *s = open_home(home);
    put(s, "first", "A note on the board.", NULL);
    atomic_bool stop = false;
    pthread_t w[WRITERS], r[2];
    crowd c[WRITERS];
    crowd reader = {s, 0, &stop};
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&r[i], NULL, read_some, &reader), 0);
    for (int i = 0; i < WRITERS; i++) {
        c[i] = (crowd){s, i, &stop};
        assert_int_equal(pthread_create(&w[i], NULL, write_some, &c[i]), 0);
    }
    void *what;
    for (int i = 0; i < WRITERS; i++) {
        pthread_join(w[i], &what);
        if (what) fail_msg("writer: %s", (char *)what);
    }
    atomic_store(&stop, true);
    for (int i = 0; i < 2; i++) {
        pthread_join(r[i], &what);
        if (what) fail_msg("reader: %s", (char *)what);
    }
    fo_err err = {0};
    store_collection col;
    assert_ok(store_get_collection(service_store(s), "default", "notes", &col, &err), &err);
    assert_int_equal(col.n_documents, 1 + WRITERS * EACH * 4 / 5);
    store_collection_deinit(&col);
    service_close(s);
    forget(home);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_document_is_findable_cited_updated_and_gone),
        cmocka_unit_test(one_bad_document_fails_alone),
        cmocka_unit_test(what_a_filter_matches_is_deleted_and_nothing_else),
        cmocka_unit_test(of_two_versions_in_one_call_the_later_stands),
        cmocka_unit_test(documents_are_counted_once_they_are_stored),
        cmocka_unit_test(a_text_that_looks_like_a_notebook_is_another_document_than_the_notebook),
        cmocka_unit_test(a_call_that_is_cancelled_fails_as_a_whole),
        cmocka_unit_test(a_reopened_home_answers_as_before),
        cmocka_unit_test(a_second_writer_and_a_bad_name_are_refused),
        cmocka_unit_test(without_a_question_there_is_an_error_that_names_the_field),
        cmocka_unit_test(every_mode_and_fusion_finds_the_entry),
        cmocka_unit_test(a_follow_up_is_understood_from_the_turns_before),
        cmocka_unit_test(a_conversation_stays_with_the_document_that_it_was_answered_from),
        cmocka_unit_test(copies_of_a_text_are_one_context_of_an_answer),
        cmocka_unit_test(writers_and_readers_do_not_disturb_each_other),
    };
    const struct CMUnitTest of_disks[] = {
        cmocka_unit_test(nothing_goes_in_where_the_disk_is_nearly_full),
        cmocka_unit_test(a_failed_commit_leaves_no_trace),
    };
    int failed = cmocka_run_group_tests_name("service", tests, NULL, NULL);
    failed += cmocka_run_group_tests_name("service and the disk", of_disks, NULL, NULL);
    backend = &memory_store_backend;
    return failed + cmocka_run_group_tests_name("service over another store", tests, NULL, NULL);
}
