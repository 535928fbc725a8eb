/* The service as its users meet it: the real binary is not needed, the routes run in-process on a
 * fresh home and are asked through the command line's own client and raw sockets. */
#include "tests/test.h"

#include <arpa/inet.h>
#include <cjson/cJSON.h>
#include <curl/curl.h>
#include <netinet/in.h>
#include <sqlite3.h>
#include <sys/socket.h>

#include "kernels/words.h"
#include "server/routes/app.h"
#include "server/http/client.h"
#include "server/routes/jobs.h"
#include "server/base/log.h"
#include "tests/niceness.h"

typedef struct fixture {
    char *dir;
    service *service;
    app *app;
    char url[64];
} fixture;

static int setup(void **state) {
    log_open(LOG_LEVEL_OFF, false);
    fixture *f = calloc(1, sizeof *f);
    fo_err err = {0};
    f->dir = test_folder();
    assert_ok(service_open(&f->service, &(service_options){.home = f->dir}, &err), &err);
    assert_ok(app_create(&f->app, f->service, false, &err), &err);
    http_options h = {.listen = "127.0.0.1:0"};
    assert_ok(app_serve(f->app, &h, &err), &err);
    snprintf(f->url, sizeof f->url, "http://%s", http_address(f->app->http));
    *state = f;
    return 0;
}

static int teardown(void **state) {
    fixture *f = *state;
    app_stop(f->app, 5000, NULL);
    service_close(f->service);
    test_remove(f->dir);
    free(f);
    return 0;
}

static size_t take(char *data, size_t size, size_t n, void *b) {
    fo_buf_add(b, data, size * n);
    return size * n;
}

/* method path, headers ("A: b\nC: d"), body -> status; *reply: the parsed body (caller deletes). */
static long ask(fixture *f, const char *method, const char *path, const char *headers,
                const char *body, cJSON **reply) {
    CURL *c = curl_easy_init();
    char url[1024];
    snprintf(url, sizeof url, "%s%s", f->url, path);
    struct curl_slist *list = NULL;
    char *copy = strdup(headers), *save = NULL;
    for (char *h = strtok_r(copy, "\n", &save); h; h = strtok_r(NULL, "\n", &save))
        list = curl_slist_append(list, h);
    fo_buf b = {0};
    curl_easy_setopt(c, CURLOPT_URL, url);
    curl_easy_setopt(c, CURLOPT_CUSTOMREQUEST, method);
    curl_easy_setopt(c, CURLOPT_HTTPHEADER, list);
    curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, take);
    curl_easy_setopt(c, CURLOPT_WRITEDATA, &b);
    if (body) curl_easy_setopt(c, CURLOPT_POSTFIELDS, body);
    assert_int_equal(curl_easy_perform(c), CURLE_OK);
    long status = 0;
    curl_easy_getinfo(c, CURLINFO_RESPONSE_CODE, &status);
    *reply = cJSON_ParseWithLength(b.data ? b.data : "", b.len);
    if (!*reply && b.len) *reply = cJSON_CreateString(b.data);
    fo_buf_free(&b);
    curl_slist_free_all(list);
    curl_easy_cleanup(c);
    free(copy);
    return status;
}

static const cJSON *at(const cJSON *root, const char *path) { /* "results.0.status" */
    char *copy = strdup(path), *save = NULL;
    for (char *p = strtok_r(copy, ".", &save); p && root; p = strtok_r(NULL, ".", &save))
        root = cJSON_IsArray(root) ? cJSON_GetArrayItem(root, atoi(p))
                                   : cJSON_GetObjectItemCaseSensitive(root, p);
    free(copy);
    return root;
}

static const char *text(const cJSON *root, const char *path) {
    const char *s = cJSON_GetStringValue(at(root, path));
    return s ? s : "";
}

static double number(const cJSON *root, const char *path) {
    const cJSON *n = at(root, path);
    return cJSON_IsNumber(n) ? n->valuedouble : -1;
}

#define JSON "Content-Type: application/json"
#define MOREL                                                                                      \
    "{\"documents\":[{\"id\":\"kb-1\",\"title\":\"Morels\",\"text\":\"Morels must be cooked for "  \
    "at least ten minutes before they are eaten. They grow in spring.\",\"metadata\":{\"year\":"   \
    "2026}}]}"

static void expect_error(fixture *f, const char *method, const char *path, const char *headers,
                         const char *body, long status, const char *param) {
    cJSON *r;
    long got = ask(f, method, path, headers, body, &r);
    if (got != status || strcmp(text(r, "error.param"), param) || !*text(r, "error.message") ||
        !*text(r, "error.code") || !*text(r, "error.request_id"))
        fail_msg("%s %s %s: %ld, param '%s': %s", method, path, body ? body : "", got,
                 text(r, "error.param"), text(r, "error.message"));
    cJSON_Delete(r);
}

static void what_went_in_is_found_and_cited(void **state) {
    fixture *f = *state;
    cJSON *r;
    assert_int_equal(ask(f, "POST", "/ingest", JSON, MOREL, &r), 200);
    assert_string_equal(text(r, "results.0.status"), "created");
    assert_int_equal(strlen(text(r, "results.0.content_sha256")), 64);
    assert_true(number(r, "results.0.chunks") == 1);
    double epoch = number(r, "epoch");
    cJSON_Delete(r);
    assert_int_equal(ask(f, "POST", "/ingest", JSON, MOREL, &r), 200);
    assert_string_equal(text(r, "results.0.status"), "unchanged");
    assert_true(number(r, "epoch") == epoch);
    cJSON_Delete(r);

    const char *question = "{\"query\":\"How long must morels be cooked?\"}";
    assert_int_equal(ask(f, "POST", "/query", JSON, question, &r), 200);
    assert_string_equal(text(r, "status"), "answered");
    assert_non_null(strstr(text(r, "answer"), "ten minutes"));
    assert_true(cJSON_IsTrue(at(r, "citations.0.verified")));
    assert_string_equal(text(r, "citations.0.source.document_id"), "kb-1");
    assert_string_equal(text(r, "contexts.0.chunk_id"), "kb-1#0");
    assert_memory_equal(text(r, "id"), "q_", 2);
    /* the cited span is the quote */
    size_t start = (size_t)number(r, "citations.0.source.start");
    size_t end = (size_t)number(r, "citations.0.source.end");
    char *quote = strdup(text(r, "citations.0.quote"));
    cJSON_Delete(r);
    assert_int_equal(ask(f, "GET", "/documents/kb-1", "", NULL, &r), 200);
    assert_int_equal(end - start, strlen(quote));
    assert_memory_equal(text(r, "text") + start, quote, end - start);
    free(quote);
    cJSON_Delete(r);

    assert_int_equal(ask(f, "POST", "/query", JSON,
                         "{\"query\":\"How long must morels be cooked?\",\"stream\":true}", &r),
                     200);
    const char *events = cJSON_GetStringValue(r);
    assert_non_null(events);
    const char *contexts = strstr(events, "event: contexts\ndata: {\"contexts\":[");
    const char *token = strstr(events, "event: token\ndata: {\"text\":");
    const char *citation = strstr(events, "event: citation\ndata: {\"index\":1");
    const char *done = strstr(events, "event: done\ndata: {\"id\":\"q_");
    assert_true(contexts && token > contexts && citation && done > token && done > citation);
    cJSON_Delete(r);

    assert_int_equal(ask(f, "POST", "/search", JSON,
                         "{\"query\":\"morels\",\"filter\":{\"type\":\"lt\",\"key\":\"year\","
                         "\"value\":2026}}",
                         &r),
                     200);
    assert_int_equal(cJSON_GetArraySize(at(r, "contexts")), 0);
    assert_string_equal(text(r, "status"), "no_context");
    cJSON_Delete(r);
    assert_int_equal(ask(f, "DELETE", "/documents/kb-1", "", NULL, &r), 200);
    cJSON_Delete(r);
    expect_error(f, "GET", "/documents/kb-1", "", NULL, 404, "id");
}

static void bad_requests_name_their_field(void **state) {
    fixture *f = *state;
    cJSON *r;
    assert_int_equal(ask(f, "POST", "/ingest", JSON, MOREL, &r), 200);
    cJSON_Delete(r);
    const struct {
        const char *body;
        long status;
        const char *param;
    } rows[] = {
        {"{\"query\":\"x\",\"topk\":1}", 400, "topk"},
        {"{\"query\":\"x\",\"top_k\":0}", 400, "top_k"},
        {"{\"query\":\"x\",\"top_k\":1001}", 400, "top_k"},
        {"{\"query\":\"x\",\"top_k\":\"8\"}", 400, "top_k"},
        {"{\"query\":\"\"}", 400, "query"},
        {"{}", 400, "query"},
        {"{\"query\":\"x\",\"search\":{\"alpha\":2}}", 400, "search.alpha"},
        {"{\"query\":\"x\",\"search\":{\"mode\":\"vector\"}}", 400, "search.mode"},
        {"{\"query\":\"x\",\"search\":{\"rerank\":true}}", 422, "search.rerank"},
        {"{\"query\":\"x\",\"prefill_only\":true}", 422, "prefill_only"},
        {"{\"query\":\"x\",\"temperature\":3}", 400, "temperature"},
        {"{\"query\":\"x\",\"kv_reuse\":\"some\"}", 400, "kv_reuse"},
        {"{\"query\":\"x\",\"stop\":[1]}", 400, "stop"},
        {"{\"query\":\"x\",\"include\":[\"text\"]}", 400, "include"},
        {"{\"query\":\"x\",\"timeout_ms\":0}", 400, "timeout_ms"},
        {"{\"query\":\"x\",\"today\":\"2026-02-30\"}", 400, "today"},
        {"{\"query\":\"x\",\"today\":20785}", 400, "today"},
        {"{\"query\":\"x\",\"messages\":[{\"role\":\"bot\",\"content\":\"\"}]}", 400,
         "messages[0].role"},
        {"{\"query\":\"x\",\"collection\":\"../etc\"}", 400, "collection"},
        {"{\"query\":\"x\",\"collection\":\"none\"}", 404, "collection"},
        {"{\"query\":\"x\",\"filter\":{\"type\":\"like\"}}", 400, "filter.type"},
        {"{\"query\":\"x\"", 400, ""},
        {"[]", 400, ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        expect_error(f, "POST", "/query", JSON, rows[i].body, rows[i].status, rows[i].param);
    expect_error(f, "POST", "/search", JSON, "{\"query\":\"x\",\"stream\":true}", 400, "stream");
    expect_error(f, "POST", "/query", "Content-Type: text/plain", "x", 415, "");
    expect_error(f, "POST", "/ingest", JSON, "{\"documents\":1}", 400, "documents");
    expect_error(f, "POST", "/ingest", JSON, "{\"docs\":[]}", 400, "docs");
    expect_error(f, "POST", "/ingest", JSON,
                 "{\"documents\":[],\"chunking\":{\"max_tokens\":64,\"overlap\":40}}", 400,
                 "chunking.overlap");
    expect_error(f, "POST", "/ingest", "Content-Type: image/png", "x", 415, "");
    expect_error(f, "POST", "/ingest?id=a", JSON, "{\"documents\":[]}", 400, "id");
    expect_error(f, "GET", "/documents?limit=0", "", NULL, 400, "limit");
    expect_error(f, "GET", "/jobs/job_99", "", NULL, 404, "");
    expect_error(f, "GET", "/jobs/x", "", NULL, 404, "id");
    expect_error(f, "DELETE", "/collections/none", "", NULL, 404, "collection");
    expect_error(f, "PUT", "/collections/.x", JSON, "{}", 400, "name");
}

static void every_body_kind_is_taken(void **state) {
    fixture *f = *state;
    cJSON *r;
    const char *lines = "{\"id\":\"n1\",\"text\":\"Alpha beta.\"}\r\n{\"id\":\"bad\"}\nnot json\n\n"
                        "{\"id\":\"n2\",\"text\":\"Gamma.\"}";
    assert_int_equal(
        ask(f, "POST", "/ingest?collection=nd", "Content-Type: application/x-ndjson", lines, &r),
        200);
    assert_int_equal(cJSON_GetArraySize(at(r, "results")), 4);
    assert_string_equal(text(r, "results.0.status"), "created");
    assert_string_equal(text(r, "results.1.status"), "failed");
    assert_string_equal(text(r, "results.1.error.param"), "line 2.text");
    assert_string_equal(text(r, "results.2.status"), "failed");
    assert_string_equal(text(r, "results.3.id"), "n2");
    assert_string_equal(text(r, "results.3.status"), "created");
    cJSON_Delete(r);

    const char *form =
        "--B\r\nContent-Disposition: form-data; name=\"collection\"\r\n\r\nforms\r\n"
        "--B\r\nContent-Disposition: form-data; name=\"id\"\r\n\r\nfile-1\r\n"
        "--B\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.md\"\r\n"
        "Content-Type: text/markdown\r\n\r\n# Title\n\nBody of --B the file.\r\n"
        "--B\r\nContent-Disposition: form-data; name=\"file\"; filename=\"b.txt\"\r\n"
        "\r\nSecond file.\r\n--B--\r\n";
    const char *type = "Content-Type: multipart/form-data; boundary=B";
    assert_int_equal(ask(f, "POST", "/ingest", type, form, &r), 200);
    assert_string_equal(text(r, "collection"), "forms");
    assert_string_equal(text(r, "results.0.id"), "file-1");
    assert_string_equal(text(r, "results.1.status"), "created");
    cJSON_Delete(r);
    assert_int_equal(ask(f, "GET", "/documents/file-1?collection=forms", "", NULL, &r), 200);
    assert_string_equal(text(r, "uri"), "a.md");
    assert_string_equal(text(r, "title"), "Title");
    cJSON_Delete(r);
    form = /* what cannot be read is known by the name of its file, not by a digest */
        "--B\r\nContent-Disposition: form-data; name=\"file\"; filename=\"report.png\"\r\n"
        "\r\n\x89PNG\r\n\x1a\n....\r\n"
        "--B\r\nContent-Disposition: form-data; name=\"file\"; filename=\"c.txt\"\r\n"
        "\r\nThird file.\r\n--B--\r\n";
    assert_int_equal(ask(f, "POST", "/ingest", type, form, &r), 200);
    assert_string_equal(text(r, "results.0.status"), "failed");
    assert_string_equal(text(r, "results.0.id"), "report.png");
    assert_string_equal(text(r, "results.0.file"), "report.png");
    assert_string_equal(text(r, "results.1.status"), "created");
    assert_string_equal(text(r, "results.1.file"), "c.txt");
    assert_int_equal(strlen(text(r, "results.1.id")), 32); /* of its content */
    cJSON_Delete(r);
    expect_error(f, "POST", "/ingest", type,
                 "--B\r\nContent-Disposition: form-data; name=\"x\"\r\n"
                 "\r\n1\r\n--B--\r\n",
                 400, "x");
    expect_error(f, "POST", "/ingest", type,
                 "--B\r\nContent-Disposition: form-data; name=\"file\"; "
                 "filename=\"a\"\r\n\r\nabc",
                 400, "");
    char deep[1200]; /* a name that is too long makes the file no field */
    snprintf(deep, sizeof deep,
             "--B\r\nContent-Disposition: form-data; name=\"file\"; filename=\"%01024d\"\r\n"
             "\r\nabc\r\n--B--\r\n",
             1);
    expect_error(f, "POST", "/ingest", type, deep, 400, "");

    assert_int_equal(ask(f, "POST", "/ingest?id=page&title=A%20page", "Content-Type: text/html",
                         "<html><body><p>Hello <b>there</b>.</p></body></html>", &r),
                     200);
    assert_string_equal(text(r, "results.0.id"), "page");
    cJSON_Delete(r);
    assert_int_equal(ask(f, "GET", "/documents/page", "", NULL, &r), 200);
    assert_string_equal(text(r, "title"), "A page");
    assert_non_null(strstr(text(r, "text"), "Hello there."));
    cJSON_Delete(r);
}

static void a_key_is_answered_once(void **state) {
    fixture *f = *state;
    cJSON *first, *again, *r;
    const char *headers = JSON "\nIdempotency-Key: key-1";
    assert_int_equal(ask(f, "POST", "/ingest", headers, MOREL, &first), 200);
    assert_string_equal(text(first, "results.0.status"), "created");
    assert_int_equal(ask(f, "POST", "/ingest", headers, MOREL, &again), 200);
    assert_true(cJSON_Compare(first, again, true)); /* created, not unchanged */
    cJSON_Delete(first);
    cJSON_Delete(again);
    expect_error(f, "POST", "/ingest", headers, "{\"documents\":[]}", 422, "Idempotency-Key");
    /* bytes are another text in another character set */
    assert_int_equal(ask(f, "POST", "/ingest?id=cafe",
                         "Content-Type: text/plain; charset=windows-1252\nIdempotency-Key: key-3",
                         "Caf\xE9", &r),
                     200);
    cJSON_Delete(r);
    expect_error(f, "POST", "/ingest?id=cafe",
                 "Content-Type: text/plain; charset=windows-1251\nIdempotency-Key: key-3",
                 "Caf\xE9", 422, "Idempotency-Key");
    /* a request that failed may be tried again with the same key */
    headers = JSON "\nIdempotency-Key: key-2";
    expect_error(f, "POST", "/ingest", headers, "{\"documents\":1}", 400, "documents");
    assert_int_equal(ask(f, "POST", "/ingest", headers, MOREL, &r), 200);
    cJSON_Delete(r);
}

static void a_job_runs_after_the_answer(void **state) {
    fixture *f = *state;
    cJSON *r;
    fo_buf lines = {0};
    for (int i = 0; i < 300; i++)
        fo_buf_printf(&lines, "{\"id\":\"d%d\",\"text\":\"Document number %d of many.\"}\n", i, i);
    assert_int_equal(
        ask(f, "POST", "/ingest?wait=false", "Content-Type: application/x-ndjson", lines.data, &r),
        202);
    char path[64];
    snprintf(path, sizeof path, "/jobs/%s", text(r, "job_id"));
    cJSON_Delete(r);
    for (int i = 0; i < 600; i++) {
        assert_int_equal(ask(f, "GET", path, "", NULL, &r), 200);
        if (!strcmp(text(r, "status"), "succeeded")) break;
        assert_string_not_equal(text(r, "status"), "failed");
        cJSON_Delete(r);
        usleep(50000);
    }
    assert_string_equal(text(r, "status"), "succeeded");
    assert_true(number(r, "progress.done") == 300);
    assert_true(number(r, "result.created") == 300);
    cJSON_Delete(r);
    expect_error(f, "DELETE", path, "", NULL, 409, "");
    assert_int_equal(ask(f, "GET", "/documents?limit=7&after=d10", "", NULL, &r), 200);
    assert_int_equal(cJSON_GetArraySize(at(r, "data")), 7);
    assert_string_equal(text(r, "data.0.id"), "d100");
    assert_true(cJSON_IsTrue(at(r, "has_more")));
    cJSON_Delete(r);
    fo_buf_free(&lines);
}

/* In the body or in the address: where its documents go is what its record says. */
static void a_job_tells_the_collection_of_its_documents(void **state) {
    static const char form[] =
        "--B\r\nContent-Disposition: form-data; name=\"collection\"\r\n\r\nin_form\r\n"
        "--B\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\r\n"
        "A heron.\r\n--B--\r\n";
    static const struct {
        const char *path, *headers, *body, *want;
    } rows[] = {
        {"/ingest?collection=other", JSON,
         "{\"collection\":\"in_json\",\"wait\":false,\"documents\":[{\"text\":\"x\"}]}", "in_json"},
        {"/ingest?collection=other&wait=false", JSON,
         "{\"collection\":\"in_json\",\"documents\":[{\"text\":\"x\"}]}", "in_json"},
        {"/ingest?collection=other&wait=false", JSON, "{\"documents\":[{\"text\":\"x\"}]}",
         "other"},
        {"/ingest?collection=other&wait=false", "Content-Type: multipart/form-data; boundary=B",
         form, "in_form"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cJSON *r;
        char path[64];
        assert_int_equal(ask(*state, "POST", rows[i].path, rows[i].headers, rows[i].body, &r), 202);
        assert_string_equal(text(r, "collection"), rows[i].want);
        snprintf(path, sizeof path, "/jobs/%s", text(r, "job_id"));
        cJSON_Delete(r);
        for (int k = 0; k < 200; k++, usleep(20000)) {
            assert_int_equal(ask(*state, "GET", path, "", NULL, &r), 200);
            assert_string_equal(text(r, "collection"), rows[i].want);
            bool over = !strcmp(text(r, "status"), "succeeded");
            if (over) assert_string_equal(text(r, "result.collection"), rows[i].want);
            cJSON_Delete(r);
            if (over) break;
        }
    }
    expect_error(*state, "POST", "/ingest?wait=false", JSON,
                 "{\"collection\":\"a name\",\"documents\":[{\"text\":\"x\"}]}", 400, "collection");
}

/* What it committed in its time stays; the next job runs. */
static void a_job_ends_when_its_time_is_over(void **state) {
    enum { MANY = 30000 };
    fixture *f = *state;
    cJSON *r;
    fo_buf lines = {0};
    for (int i = 0; i < MANY; i++)
        fo_buf_printf(&lines, "{\"id\":\"d%d\",\"text\":\"Document number %d of many.\"}\n", i, i);
    const char *const paths[] = {"/ingest?wait=false&timeout_ms=1000", "/ingest?wait=false"};
    for (int k = 0; k < 2; k++) {
        char path[64];
        if (k) lines.len = (size_t)(strchr(lines.data, '\n') + 1 - lines.data);
        lines.data[lines.len] = 0;
        assert_int_equal(
            ask(f, "POST", paths[k], "Content-Type: application/x-ndjson", lines.data, &r), 202);
        snprintf(path, sizeof path, "/jobs/%s", text(r, "job_id"));
        cJSON_Delete(r);
        for (int i = 0; i < 600; i++) {
            assert_int_equal(ask(f, "GET", path, "", NULL, &r), 200);
            if (strcmp(text(r, "status"), "queued") && strcmp(text(r, "status"), "running")) break;
            cJSON_Delete(r);
            usleep(50000);
        }
        assert_string_equal(text(r, "status"), k ? "succeeded" : "failed");
        if (!k) {
            assert_non_null(strstr(text(r, "error"), "timeout_ms = 1000"));
            assert_true(number(r, "progress.done") > 0 && number(r, "progress.done") < MANY);
        }
        cJSON_Delete(r);
    }
    assert_int_equal(ask(f, "GET", "/documents/d1", "", NULL, &r), 200);
    cJSON_Delete(r);
    fo_buf_free(&lines);
}

static void questions_are_logged(void **state) {
    fixture *f = *state;
    cJSON *r;
    assert_int_equal(ask(f, "POST", "/ingest", JSON, MOREL, &r), 200);
    cJSON_Delete(r);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(ask(f, "POST", "/query", JSON, "{\"query\":\"Morels?\"}", &r), 200);
        cJSON_Delete(r);
    }
    app_stop(f->app, 5000, NULL); /* writes what is left */
    f->app = NULL;
    char path[4200];
    snprintf(path, sizeof path, "%s/forage.db", f->dir);
    sqlite3 *db;
    sqlite3_stmt *st;
    assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db,
                                        "SELECT count(*) FROM query_log WHERE query = 'Morels?' "
                                        "AND answer_source IS NOT NULL",
                                        -1, &st, NULL),
                     SQLITE_OK);
    assert_int_equal(sqlite3_step(st), SQLITE_ROW);
    assert_int_equal(sqlite3_column_int(st, 0), 5);
    sqlite3_finalize(st);
    sqlite3_close(db);
}

/* Each closed list of words in the description is the list of names that the service goes by. */
static void every_choice_is_described(void **state) {
    fixture *f = *state;
    cJSON *r;
    const struct {
        const char *schema, *field, *below; /* below: of a field of that object */
        const char *const *names;
    } choices[] = {
        {"SearchRequest", "search", "mode", search_mode_names},
        {"SearchRequest", "search", "fusion", fusion_names},
        {"QueryRequest", "search", "fusion", fusion_names},
        {"QueryRequest", "cache", NULL, cache_mode_names},
        {"QueryRequest", "order", NULL, context_order_names},
        {"QueryRequest", "kv_reuse", NULL, generator_reuse_names},
        {"QueryReply", "status", NULL, query_status_names},
        {"QueryReply", "answer_source", NULL, answer_source_names},
        {"CacheReport", "answer", NULL, cache_outcome_names},
    };
    assert_int_equal(ask(f, "GET", "/openapi.json", "", NULL, &r), 200);
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
        const cJSON *field =
            at(at(at(at(at(r, "components"), "schemas"), choices[i].schema), "properties"),
               choices[i].field);
        if (choices[i].below) field = at(at(field, "properties"), choices[i].below);
        const cJSON *words = at(field, "enum"), *word;
        int n = 0;
        while (choices[i].names[n]) n++;
        assert_int_equal(cJSON_GetArraySize(words), n);
        cJSON_ArrayForEach(word, words) if (fo_names_find(choices[i].names, word->valuestring) < 0)
            fail_msg("%s.%s: no '%s'", choices[i].schema, choices[i].field, word->valuestring);
    }
    cJSON_Delete(r);
}

static void every_route_is_described(void **state) {
    fixture *f = *state;
    cJSON *r;
    assert_int_equal(ask(f, "GET", "/openapi.json", "", NULL, &r), 200);
    assert_memory_equal(text(r, "openapi"), "3.1", 3);
    size_t described = 0;
    const cJSON *paths = at(r, "paths"), *path, *m;
    cJSON_ArrayForEach(path, paths) cJSON_ArrayForEach(m, path) described +=
        strcmp(m->string, "parameters") != 0;
    assert_int_equal(described, app_n_routes);
    for (size_t i = 0; i < app_n_routes; i++) {
        char method[8] = "";
        for (size_t k = 0; k < 7 && app_routes[i].method[k]; k++)
            method[k] = (char)(app_routes[i].method[k] | 32);
        const cJSON *p = cJSON_GetObjectItemCaseSensitive(paths, app_routes[i].pattern);
        const cJSON *op = cJSON_GetObjectItemCaseSensitive(p, method);
        if (!op) fail_msg("%s %s is not described", app_routes[i].method, app_routes[i].pattern);
        /* what writes is refused by a server that only reads, and says so */
        const cJSON *answers = cJSON_GetObjectItemCaseSensitive(op, "responses");
        bool refuses = cJSON_GetObjectItemCaseSensitive(answers, "403") != NULL;
        assert_int_equal(refuses, app_routes[i].lane == HTTP_LANE_INGEST);
        /* who may ask */
        const cJSON *needs = cJSON_GetObjectItemCaseSensitive(op, "security");
        const char *scope = access_scope_name(app_routes[i].scope);
        assert_string_equal(text(op, "x-scope"), scope);
        assert_non_null(needs);
        assert_int_equal(cJSON_GetArraySize(needs), strcmp(scope, "open") != 0);
        /* and every query argument of it */
        char *args = strdup(app_routes[i].args ? app_routes[i].args : ""), *save = NULL;
        for (char *a = strtok_r(args, " *", &save); a; a = strtok_r(NULL, " *", &save)) {
            bool found = false;
            const cJSON *lists[] = {cJSON_GetObjectItemCaseSensitive(op, "parameters"),
                                    cJSON_GetObjectItemCaseSensitive(p, "parameters")};
            for (int k = 0; k < 2; k++) {
                const cJSON *q;
                cJSON_ArrayForEach(q, lists[k]) found = found || !strcmp(text(q, "name"), a);
            }
            if (!found) fail_msg("?%s= of %s is not described", a, app_routes[i].pattern);
        }
        free(args);
    }
    cJSON_Delete(r);
}

static void documents_are_deleted_by_a_condition(void **state) {
    fixture *f = *state;
    cJSON *r;
    assert_int_equal(ask(f, "POST", "/ingest", JSON,
                         "{\"documents\":[{\"id\":\"a\",\"text\":\"One.\",\"metadata\":{\"y\":1}},"
                         "{\"id\":\"b\",\"text\":\"Two.\",\"metadata\":{\"y\":2}},"
                         "{\"id\":\"c\",\"text\":\"Three.\"}]}",
                         &r),
                     200);
    cJSON_Delete(r);
#define UP_TO_2 "%7B%22type%22:%22lte%22,%22key%22:%22y%22,%22value%22:2%7D"
    expect_error(f, "DELETE", "/documents", "", NULL, 400, "filter");
    expect_error(f, "DELETE", "/documents?filter=", "", NULL, 400, "filter");
    expect_error(f, "DELETE", "/documents?filter=%7B", "", NULL, 400, "filter");
    expect_error(f, "DELETE", "/documents?filter=%7B%22type%22:%22eq%22%7D", "", NULL, 400,
                 "filter.key");
    expect_error(f, "DELETE", "/documents?filter=" UP_TO_2 "&dryrun=true", "", NULL, 400, "dryrun");
    expect_error(f, "DELETE", "/documents?filter=" UP_TO_2 "&dry_run=maybe", "", NULL, 400,
                 "dry_run");
    expect_error(f, "DELETE", "/documents?collection=none&filter=" UP_TO_2, "", NULL, 404,
                 "collection");
    assert_int_equal(ask(f, "DELETE", "/documents?dry_run=true&filter=" UP_TO_2, "", NULL, &r),
                     200);
    assert_true(cJSON_IsTrue(at(r, "dry_run")));
    assert_true(number(r, "matched") == 2 && number(r, "deleted") == 0 && number(r, "chunks") == 2);
    assert_string_equal(text(r, "ids.0"), "a");
    assert_string_equal(text(r, "ids.1"), "b");
    cJSON_Delete(r);
    assert_int_equal(ask(f, "GET", "/documents/a", "", NULL, &r), 200);
    cJSON_Delete(r);
    assert_int_equal(ask(f, "DELETE", "/documents?filter=" UP_TO_2, "", NULL, &r), 200);
    assert_string_equal(text(r, "collection"), "default");
    assert_true(cJSON_IsFalse(at(r, "dry_run")));
    assert_true(number(r, "matched") == 2 && number(r, "deleted") == 2 && number(r, "epoch") == 2);
    cJSON_Delete(r);
    expect_error(f, "GET", "/documents/a", "", NULL, 404, "id");
    assert_int_equal(ask(f, "GET", "/documents/c", "", NULL, &r), 200);
    cJSON_Delete(r);
}

/* By every door: {"n":NUMBER} as metadata of a document of its own. */
static void send_number(fixture *f, int door, const char *id, const char *n, long want,
                        const char *field) {
    static const char *const types[] = {JSON, "Content-Type: application/x-ndjson",
                                        "Content-Type: multipart/form-data; boundary=B"};
    static const char *const around[][3] = {
        {"{\"documents\":[{\"id\":\"", "\",\"text\":\"Of a mill.\",\"metadata\":{\"n\":", "}}]}"},
        {"{\"id\":\"", "\",\"text\":\"Of a mill.\",\"metadata\":{\"n\":", "}}\n"},
        {"--B\r\nContent-Disposition: form-data; name=\"id\"\r\n\r\n",
         "\r\n--B\r\nContent-Disposition: form-data; name=\"metadata\"\r\n\r\n{\"n\":",
         "}\r\n--B\r\nContent-Disposition: form-data; name=\"f\"; filename=\"a.txt\"\r\n\r\nOf a "
         "mill.\r\n--B--\r\n"}};
    char body[600];
    cJSON *r;
    snprintf(body, sizeof body, "%s%s%s%s%s", around[door][0], id, around[door][1], n,
             around[door][2]);
    assert_int_equal(ask(f, "POST", "/ingest", types[door], body, &r), want);
    assert_string_equal(text(r, want == 200 ? "results.0.error.param" : "error.param"), field);
    cJSON_Delete(r);
}

static void numbers_of_metadata_stay_what_they_are(void **state) {
    fixture *f = *state;
    static const char *const numbers[] = {"5555555555554441", "5000000000000001",
                                          "9007199254740991", "0.30000000000000004"};
    char id[32], path[256];
    cJSON *r;
    for (int door = 0; door < 3; door++)
        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
            snprintf(id, sizeof id, "d%d-%zu", door, i);
            send_number(f, door, id, numbers[i], 200, "");
            snprintf(path, sizeof path, "/documents/%s", id);
            assert_int_equal(ask(f, "GET", path, "", NULL, &r), 200);
            assert_true(number(r, "metadata.n") == strtod(numbers[i], NULL));
            cJSON_Delete(r);
            snprintf(path, sizeof path,
                     "/documents?filter=%%7B%%22type%%22:%%22eq%%22,%%22key%%22:%%22n%%22,"
                     "%%22value%%22:%s%%7D",
                     numbers[i]);
            assert_int_equal(ask(f, "GET", path, "", NULL, &r), 200);
            assert_int_equal(cJSON_GetArraySize(at(r, "data")), door + 1);
            cJSON_Delete(r);
        }
    send_number(f, 0, "x", "9007199254740993", 200, "documents[0].metadata.n");
    send_number(f, 1, "x", "9007199254740993", 200, "line 1.metadata.n");
    send_number(f, 2, "x", "9007199254740993", 400, "metadata.n");
    /* A condition would find the neighbour. */
    send_number(f, 0, "x", "9007199254740992", 200, "");
    expect_error(f, "GET",
                 "/documents?filter=%7B%22type%22:%22eq%22,%22key%22:%22n%22,"
                 "%22value%22:9007199254740993%7D",
                 "", NULL, 400, "filter.value");
    expect_error(f, "POST", "/search", JSON,
                 "{\"query\":\"mill\",\"filter\":{\"type\":\"not\",\"filter\":{\"type\":\"in\","
                 "\"key\":\"n\",\"value\":[1,-9007199254740993]}}}",
                 400, "filter.filter.value[1]");
    /* A reply that a turn keeps is nobody's to judge: it comes back as it was. */
    assert_int_equal(ask(f, "POST", "/conversations", JSON, "{}", &r), 201);
    snprintf(path, sizeof path, "/conversations/%s/turns/0", text(r, "id"));
    cJSON_Delete(r);
    assert_int_equal(
        ask(f, "PUT", path, JSON, "{\"question\":\"x\",\"reply\":{\"seed\":5000000000000001}}", &r),
        200);
    assert_true(number(r, "turns.0.reply.seed") == 5000000000000001);
    cJSON_Delete(r);
}

static void documents_of_mcp_are_counted(void **state) {
    static const char message[] =
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"ingest\","
        "\"arguments\":{\"documents\":[{\"text\":\"The weir is opened in March.\"},"
        "{\"text\":\"It is shut in May.\"},{\"txt\":\"x\"}]}}}";
    cJSON *r;
    assert_int_equal(ask(*state, "POST", "/mcp", JSON, message, &r), 200);
    cJSON_Delete(r);
    assert_int_equal(ask(*state, "GET", "/metrics", "", NULL, &r), 200);
    const char *told = cJSON_GetStringValue(r);
    assert_non_null(strstr(told, "forage_documents_ingested_total{status=\"created\"} 2\n"));
    assert_non_null(strstr(told, "forage_documents_ingested_total{status=\"failed\"} 1\n"));
    cJSON_Delete(r);
}

static void operations_answer(void **state) {
    fixture *f = *state;
    cJSON *r;
    assert_int_equal(ask(f, "POST", "/ingest", JSON, MOREL, &r), 200);
    cJSON_Delete(r);
    assert_int_equal(ask(f, "GET", "/health", "", NULL, &r), 200);
    cJSON_Delete(r);
    assert_int_equal(ask(f, "GET", "/ready", "", NULL, &r), 200);
    cJSON_Delete(r);
    assert_int_equal(ask(f, "GET", "/stats", "", NULL, &r), 200);
    assert_true(number(r, "documents") == 1);
    cJSON_Delete(r);
    assert_int_equal(ask(f, "GET", "/metrics", "", NULL, &r), 200);
    assert_non_null(strstr(cJSON_GetStringValue(r), "forage_http_requests_total{method=\"POST\""));
    assert_non_null(
        strstr(cJSON_GetStringValue(r), "forage_documents_ingested_total{status=\"created\"} 1\n"));
    cJSON_Delete(r);
    assert_int_equal(ask(f, "POST", "/admin/snapshot", "", "", &r), 200);
    assert_int_equal(access(text(r, "path"), R_OK), 0);
    cJSON_Delete(r);
    assert_int_equal(ask(f, "GET", "/", "", NULL, &r), 200);
    assert_non_null(strstr(cJSON_GetStringValue(r), "<title>Forage</title>"));
    cJSON_Delete(r);
    assert_int_equal(ask(f, "PUT", "/collections/neu", JSON, "{\"language\":\"german\"}", &r), 201);
    cJSON_Delete(r);
    assert_int_equal(ask(f, "PUT", "/collections/neu", JSON, "{}", &r), 200);
    assert_string_equal(text(r, "language"), "german");
    cJSON_Delete(r);
    expect_error(f, "PUT", "/collections/neu", JSON, "{\"language\":\"english\"}", 409, "language");
    assert_int_equal(ask(f, "GET", "/collections", "", NULL, &r), 200);
    assert_int_equal(cJSON_GetArraySize(at(r, "data")), 2);
    cJSON_Delete(r);
    assert_int_equal(ask(f, "DELETE", "/collections/neu", "", NULL, &r), 200);
    cJSON_Delete(r);
}

static void a_folder_for_what_waits_may_be_elsewhere(void **state) {
    (void)state;
    char *home = test_folder(), *disk = test_folder(), link[4200], file[4200];
    snprintf(link, sizeof link, "%s/tmp", home);
    snprintf(file, sizeof file, "%s/somebody-else", disk);
    assert_int_equal(symlink(disk, link), 0);
    assert_int_equal(mkdir(file, 0700), 0);
    fo_err err = {0};
    service *s;
    app *a;
    assert_ok(service_open(&s, &(service_options){.home = home}, &err), &err);
    assert_ok(app_create(&a, s, false, &err), &err);
    char to[4200];
    assert_true(readlink(link, to, sizeof to) > 0);
    assert_int_equal(access(file, F_OK), 0);
    spool *body;
    assert_ok(spool_create(&body, a->spool_dir, &err), &err);
    spool_free(body);
    app_stop(a, 0, NULL);
    assert_int_equal(rmdir(file), 0);
    assert_int_equal(rmdir(disk), 0); /* and one that leads nowhere is told */
    assert_int_not_equal(app_create(&a, s, false, &err), FO_OK);
    assert_non_null(strstr(err.msg, "/tmp"));
    service_close(s);
    test_remove(home);
    free(disk);
}

/* What was changed is never told as not done: a time-out means that nothing was. */
static void a_change_is_told_once_it_is_kept(void **state) {
    fixture *f = *state;
    cJSON *r;
    char path[128], wanted[64];
    assert_int_equal(ask(f, "POST", "/conversations", JSON, "{}", &r), 201);
    snprintf(wanted, sizeof wanted, "/conversations/%s", text(r, "id"));
    cJSON_Delete(r);
    char *answer = malloc(200001), *body = malloc(201000), last[32] = "";
    memset(answer, 'x', 200000);
    answer[200000] = 0;
    for (int i = 0; i < 20; i++) { /* long to read back */
        snprintf(path, sizeof path, "%s/turns/%d", wanted, i);
        snprintf(body, 201000, "{\"question\":\"q\",\"answer\":\"%s\"}", answer);
        assert_int_equal(ask(f, "PUT", path, JSON, body, &r), 200);
        cJSON_Delete(r);
    }
    free(answer);
    free(body);
    for (int i = 0; i < 80; i++) {
        char change[64], title[32];
        snprintf(title, sizeof title, "title %d", i);
        snprintf(change, sizeof change, "{\"title\":\"%s\"}", title);
        snprintf(path, sizeof path, "%s?timeout_ms=%d", wanted, 1 + i % 10);
        long status = ask(f, "PATCH", path, JSON, change, &r);
        cJSON_Delete(r);
        assert_true(status == 200 || status == 408);
        if (status == 200) snprintf(last, sizeof last, "%s", title);
        assert_int_equal(ask(f, "GET", "/conversations", "", NULL, &r), 200);
        assert_string_equal(text(r, "data.0.title"), last);
        cJSON_Delete(r);
    }
}

static void jobs_give_way_to_questions(void **state) {
    (void)state;
    jobs *q;
    fo_err err;
    const int others = threads_that_give_way();
    assert_ok(jobs_create(&q, NULL, 1, &err), &err); /* nothing is ever added: no store */
    await_threads_that_give_way(others + 1);
    jobs_stop(q);
}

int main(void) {
    curl_global_init(CURL_GLOBAL_DEFAULT);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_went_in_is_found_and_cited, setup, teardown),
        cmocka_unit_test_setup_teardown(bad_requests_name_their_field, setup, teardown),
        cmocka_unit_test_setup_teardown(every_body_kind_is_taken, setup, teardown),
        cmocka_unit_test_setup_teardown(a_key_is_answered_once, setup, teardown),
        cmocka_unit_test(jobs_give_way_to_questions),
        cmocka_unit_test(a_folder_for_what_waits_may_be_elsewhere),
        cmocka_unit_test_setup_teardown(a_change_is_told_once_it_is_kept, setup, teardown),
        cmocka_unit_test_setup_teardown(a_job_runs_after_the_answer, setup, teardown),
        cmocka_unit_test_setup_teardown(a_job_tells_the_collection_of_its_documents, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_job_ends_when_its_time_is_over, setup, teardown),
        cmocka_unit_test_setup_teardown(questions_are_logged, setup, teardown),
        cmocka_unit_test_setup_teardown(every_route_is_described, setup, teardown),
        cmocka_unit_test_setup_teardown(every_choice_is_described, setup, teardown),
        cmocka_unit_test_setup_teardown(documents_are_deleted_by_a_condition, setup, teardown),
        cmocka_unit_test_setup_teardown(numbers_of_metadata_stay_what_they_are, setup, teardown),
        cmocka_unit_test_setup_teardown(documents_of_mcp_are_counted, setup, teardown),
        cmocka_unit_test_setup_teardown(operations_answer, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
