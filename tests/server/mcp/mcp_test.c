/* mcp_test.c - messages of the Model Context Protocol against a service: both eras, the tools, what a key
 * may see, lists in pages, and messages that are none. */
#include <cjson/cJSON.h>

#include "server/base/json.h"
#include "server/mcp/mcp.h"
#include "tests/test.h"

#define META(version)                                                                              \
    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"" version                            \
    "\",\"io.modelcontextprotocol/clientCapabilities\":{}}"

typedef struct fixture {
    char *dir;
    service *service;
    mcp_host host;
} fixture;

static void ingest(service *s, const char *collection, const char *id, const char *title,
                   const char *acl, const char *text) {
    fo_err err = {0};
    ingest_document d = {.id = id,
                         .title = title,
                         .acl = acl,
                         .content_type = "text/plain",
                         .is_text = true,
                         .bytes = text,
                         .n_bytes = strlen(text)};
    ingest_result r;
    ingest_report report;
    assert_ok(
        service_ingest(
            s,
            &(ingest_options){.tenant = "default", .collection = collection, .overlap = SIZE_MAX},
            &d, 1, &r, &report, &err),
        &err);
    assert_int_not_equal(r.status, INGEST_FAILED);
    ingest_result_deinit(&r);
}

static fixture open_fixture(void) {
    fixture f = {.dir = test_folder()};
    fo_err err = {0};
    assert_ok(service_open(&f.service, &(service_options){.home = f.dir, .n_threads = 2}, &err),
              &err);
    ingest(f.service, "boats", "grebe", "Boats", NULL,
           "The rowing boat Grebe carries four people. It may be used only on the lake.");
    f.host = (mcp_host){.service = f.service, .tenant = "default", .may_ingest = true};
    return f;
}

static void close_fixture(fixture *f) {
    service_close(f->service);
    test_remove(f->dir);
}

/* The reply, parsed; NULL where there is none. */
static cJSON *say(const fixture *f, const mcp_headers *h, const char *message, int *status) {
    fo_buf reply = {0};
    int got = mcp_answer(&f->host, h, message, strlen(message), &reply);
    cJSON *root = reply.len ? cJSON_ParseWithLength(reply.data, reply.len) : NULL;
    assert_true(!reply.len == (got == 202));
    assert_true(got == 202 || root);
    if (status) *status = got;
    fo_buf_free(&reply);
    return root;
}

static const cJSON *at(const cJSON *o, const char *path) {
    char copy[200], *rest = copy;
    snprintf(copy, sizeof copy, "%s", path);
    for (char *key; o && (key = strsep(&rest, "/"));)
        o = key[0] >= '0' && key[0] <= '9' ? cJSON_GetArrayItem(o, atoi(key))
                                           : cJSON_GetObjectItemCaseSensitive(o, key);
    return o;
}

static const char *text_at(const cJSON *o, const char *path) {
    const char *s = cJSON_GetStringValue(at(o, path));
    return s ? s : "";
}

static int code_of(const fixture *f, const mcp_headers *h, const char *message, int status) {
    int got;
    cJSON *r = say(f, h, message, &got);
    assert_int_equal(got, status);
    int code = (int)cJSON_GetNumberValue(at(r, "error/code"));
    assert_true(text_at(r, "error/message")[0]);
    cJSON_Delete(r);
    return code;
}

/* A call of a tool; the result. Caller deletes. */
static cJSON *call(const fixture *f, const char *tool, const char *arguments) {
    char *message = NULL;
    assert_true(asprintf(&message,
                         "{\"jsonrpc\":\"2.0\",\"id\":\"c\",\"method\":\"tools/call\",\"params\":{"
                         "\"name\":\"%s\",\"arguments\":%s}}",
                         tool, arguments) > 0);
    cJSON *r = say(f, NULL, message, NULL);
    free(message);
    assert_string_equal(text_at(r, "id"), "c");
    return r;
}

static void older_clients_begin_with_initialize(void **state) {
    (void)state;
    fixture f = open_fixture();
    static const char *const asked[] = {"2025-11-25", "2025-03-26", "1999-01-01"};
    static const char *const given[] = {"2025-11-25", "2025-03-26", "2025-11-25"};
    for (int i = 0; i < 3; i++) {
        char m[300];
        snprintf(m, sizeof m,
                 "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{"
                 "\"protocolVersion\":\"%s\",\"capabilities\":{}}}",
                 asked[i]);
        cJSON *r = say(&f, &(mcp_headers){0}, m, NULL);
        assert_string_equal(text_at(r, "result/protocolVersion"), given[i]);
        assert_string_equal(text_at(r, "result/serverInfo/name"), "forage");
        assert_true(cJSON_IsNumber(at(r, "id")) && at(r, "id")->valuedouble == 0);
        assert_null(at(r, "result/resultType"));
        cJSON_Delete(r);
    }
    int status;
    assert_null(
        say(&f, NULL, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}", &status));
    cJSON *r = say(&f, &(mcp_headers){.version = "2025-06-18"},
                   "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}", &status);
    assert_int_equal(status, 200);
    assert_string_equal(text_at(r, "result/tools/0/name"), "search");
    assert_int_equal(cJSON_GetArraySize(at(r, "result/tools")), 5);
    cJSON_Delete(r);
    /* Only those of 2026-07-28 have it. */
    assert_int_equal(code_of(&f, &(mcp_headers){.version = "2025-11-25"},
                             "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"prompts/list\"}", 200),
                     -32601);
    close_fixture(&f);
}

static void newer_clients_say_who_they_are_each_time(void **state) {
    (void)state;
    fixture f = open_fixture();
    static const char discover[] =
        "{\"jsonrpc\":\"2.0\",\"id\":\"d\",\"method\":\"server/discover\",\"params\":{" META(
            MCP_VERSION) "}}";
    mcp_headers h = {MCP_VERSION, "server/discover", NULL};
    int status;
    cJSON *r = say(&f, &h, discover, &status);
    assert_int_equal(status, 200);
    assert_string_equal(text_at(r, "result/resultType"), "complete");
    assert_string_equal(text_at(r, "result/supportedVersions/0"), MCP_VERSION);
    assert_true(cJSON_IsNumber(at(r, "result/ttlMs")));
    cJSON_Delete(r);
    cJSON_Delete(say(&f, NULL, discover, &status)); /* no headers on standard input */
    assert_int_equal(status, 200);
    /* What HTTP says has to be there, and to agree. */
    assert_int_equal(code_of(&f, &(mcp_headers){NULL, "server/discover", NULL}, discover, 400),
                     -32020);
    assert_int_equal(code_of(&f, &(mcp_headers){MCP_VERSION, NULL, NULL}, discover, 400), -32020);
    assert_int_equal(code_of(&f, &(mcp_headers){MCP_VERSION, "tools/list", NULL}, discover, 400),
                     -32020);
    assert_int_equal(
        code_of(&f, &(mcp_headers){"2025-11-25", "server/discover", NULL}, discover, 400), -32020);
    static const char future[] =
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{" META(
            "2031-01-01") "}}";
    r = say(&f, &(mcp_headers){"2031-01-01", "tools/list", NULL}, future, &status);
    assert_int_equal(status, 400);
    assert_true(at(r, "error/code")->valuedouble == -32022);
    assert_string_equal(text_at(r, "error/data/supported/0"), MCP_VERSION);
    assert_string_equal(text_at(r, "error/data/requested"), "2031-01-01");
    cJSON_Delete(r);
    /* Its message need not say what today's says. */
    r = say(&f, &(mcp_headers){.version = "1999-01-01"},
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}", &status);
    assert_int_equal(status, 400);
    assert_true(at(r, "error/code")->valuedouble == -32022);
    assert_string_equal(text_at(r, "error/data/requested"), "1999-01-01");
    cJSON_Delete(r);
    assert_int_equal(
        code_of(&f, &h, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"server/discover\"}", 400),
        -32602);
    assert_int_equal(code_of(&f, &(mcp_headers){MCP_VERSION, "x", NULL},
                             "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\",\"params\":{" META(
                                 MCP_VERSION) "}}",
                             404),
                     -32601);
    assert_int_equal(code_of(&f, NULL,
                             "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{"
                             "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"" MCP_VERSION
                             "\"}}}",
                             400),
                     -32602);
    close_fixture(&f);
}

static void the_name_of_a_tool_stands_in_a_header(void **state) {
    (void)state;
    fixture f = open_fixture();
    static const char m[] =
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/read\",\"params\":{" META(
            MCP_VERSION) ",\"uri\":\"forage://boats/grebe\"}}";
    mcp_headers h = {MCP_VERSION, "resources/read", "forage://boats/grebe"};
    int status;
    cJSON *r = say(&f, &h, m, &status);
    assert_int_equal(status, 200);
    assert_non_null(strstr(text_at(r, "result/contents/0/text"), "Grebe"));
    cJSON_Delete(r);
    h.name = "=?base64?Zm9yYWdlOi8vYm9hdHMvZ3JlYmU=?=";
    cJSON_Delete(say(&f, &h, m, &status));
    assert_int_equal(status, 200);
    static const char *const wrong[] = {
        NULL, "forage://boats/gre", "",
        "=?base64?"
        "?=",
        "=?base64?=?=",
        /* the name, and more behind it */
        "=?base64?Zm9yYWdlOi8vYm9hdHMvZ3JlYmV4?=", "=?base64?Zm9yYWdl?=", "=?base64?****?="};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        h.name = wrong[i];
        assert_int_equal(code_of(&f, &h, m, 400), -32020);
    }
    close_fixture(&f);
}

static void tools_find_answer_and_read(void **state) {
    (void)state;
    fixture f = open_fixture();
    cJSON *r = call(&f, "ask", "{\"question\":\"How many people does the Grebe carry?\"}");
    assert_string_equal(text_at(r, "result/structuredContent/status"), "answered");
    assert_non_null(strstr(text_at(r, "result/structuredContent/answer"), "four people"));
    assert_true(cJSON_IsTrue(at(r, "result/structuredContent/citations/0/verified")));
    assert_string_equal(text_at(r, "result/structuredContent/citations/0/id"), "boats/grebe");
    assert_non_null(strstr(text_at(r, "result/content/0/text"), "[1] Boats (boats/grebe)"));
    assert_true(cJSON_IsFalse(at(r, "result/isError")));
    cJSON_Delete(r);
    r = call(&f, "ask", "{\"question\":\"Who won the chess championship in 1972?\"}");
    assert_string_equal(text_at(r, "result/structuredContent/status"), "abstained");
    assert_string_equal(text_at(r, "result/content/0/text"),
                        "The documents do not answer this question.");
    cJSON_Delete(r);
    r = call(&f, "search", "{\"query\":\"rowing boat\",\"collection\":\"boats\"}");
    assert_int_equal(cJSON_GetArraySize(at(r, "result/structuredContent/results")), 1);
    assert_string_equal(text_at(r, "result/structuredContent/results/0/url"),
                        "forage://boats/grebe");
    cJSON *again = cJSON_Parse(text_at(r, "result/content/0/text")); /* the same as text */
    assert_true(cJSON_Compare(again, at(r, "result/structuredContent"), true));
    cJSON_Delete(again);
    cJSON_Delete(r);
    r = call(&f, "fetch", "{\"id\":\"forage://boats/grebe\",\"offset\":4,\"max_chars\":6}");
    assert_string_equal(text_at(r, "result/structuredContent/text"), "rowing");
    assert_true(at(r, "result/structuredContent/next_offset")->valuedouble == 10);
    cJSON_Delete(r);
    r = call(&f, "fetch", "{\"id\":\"boats/grebe\",\"offset\":70,\"max_chars\":1000}");
    assert_true(cJSON_IsNull(at(r, "result/structuredContent/next_offset")));
    cJSON_Delete(r);
    r = call(&f, "list_collections", "{}");
    assert_string_equal(text_at(r, "result/structuredContent/collections/0/name"), "boats");
    cJSON_Delete(r);
    close_fixture(&f);
}

static void what_is_found_is_put_in_order_by_a_cross_encoder_that_was_given(void **state) {
    (void)state;
    fixture f = open_fixture();
    f.host.reranks = true; /* there is none: both tools want it */
    static const char *const calls[][2] = {{"search", "{\"query\":\"Grebe\"}"},
                                           {"ask", "{\"question\":\"Who rows?\"}"}};
    for (size_t i = 0; i < 2; i++) {
        cJSON *r = call(&f, calls[i][0], calls[i][1]);
        assert_true(cJSON_IsTrue(at(r, "result/isError")));
        char *all = cJSON_PrintUnformatted(r);
        assert_non_null(strstr(all, "no reranking model"));
        cJSON_free(all);
        cJSON_Delete(r);
    }
    close_fixture(&f);
}

static void a_result_is_read_by_its_url(void **state) {
    (void)state;
    fixture f = open_fixture();
    cJSON_Delete(call(&f, "ingest",
                      "{\"collection\":\"cars\",\"documents\":["
                      "{\"id\":\"a\",\"uri\":\"https://example.org/cars/beetle/more\",\"text\":"
                      "\"More of it.\"},"
                      "{\"id\":\"b\",\"uri\":\"https://example.org/cars/beetle\",\"text\":\"The "
                      "Beetle has its engine in the rear.\"},"
                      "{\"id\":\"c\",\"uri\":\"https://example.org/secret\",\"acl\":[\"board\"],"
                      "\"text\":\"Gold.\"}]}"));
    cJSON *r = call(&f, "search", "{\"query\":\"engine of the Beetle\",\"collection\":\"cars\"}");
    const char *url = text_at(r, "result/structuredContent/results/0/url");
    assert_string_equal(url, "https://example.org/cars/beetle");
    char arguments[200];
    snprintf(arguments, sizeof arguments, "{\"id\":\"%s\"}", url);
    cJSON_Delete(r);
    r = call(&f, "fetch", arguments);
    assert_string_equal(text_at(r, "result/structuredContent/id"), "cars/b");
    assert_string_equal(text_at(r, "result/structuredContent/text"),
                        "The Beetle has its engine in the rear.");
    cJSON_Delete(r);
    r = call(&f, "fetch", "{\"id\":\"https://example.org/none\"}");
    assert_non_null(strstr(text_at(r, "result/content/0/text"), "no document here came from"));
    cJSON_Delete(r);
    /* Who may not see it is told the same. */
    fo_err err = {0};
    search_filter *sees = NULL;
    const char *const groups[] = {"crew"};
    assert_ok(search_filter_sees(&sees, groups, 1, &err), &err);
    r = call(&f, "fetch", "{\"id\":\"https://example.org/secret\"}");
    assert_string_equal(text_at(r, "result/structuredContent/id"), "cars/c");
    cJSON_Delete(r);
    f.host.sees = sees;
    r = call(&f, "fetch", "{\"id\":\"https://example.org/secret\"}");
    assert_non_null(strstr(text_at(r, "result/content/0/text"), "no document here came from"));
    cJSON_Delete(r);
    search_filter_free(sees);
    close_fixture(&f);
}

/* The model reads what was wrong, and can ask again. */
static void what_is_wrong_with_a_call_is_told(void **state) {
    (void)state;
    fixture f = open_fixture();
    ingest(f.service, "cars", "beetle", NULL, NULL, "The Beetle is a car.");
    static const struct {
        const char *tool, *arguments, *told;
    } wrong[] = {
        {"search", "{}", "query is missing"},
        {"search", "{\"query\":7}", "query must be a string"},
        {"search", "{\"query\":\"x\",\"limit\":99}", "limit must be between 1 and 50"},
        {"search", "{\"query\":\"x\",\"colection\":\"boats\"}", "unknown field 'colection'"},
        {"search", "{\"query\":\"x\",\"collection\":\"planes\"}", "boats, cars"},
        {"search", "{\"query\":\"x\"}", "say which collection; there are: boats, cars"},
        {"search", "{\"query\":\"x\",\"collection\":\"boats\",\"filter\":{\"type\":\"like\"}}",
         "filter"},
        {"search", "[]", "object"},
        {"fetch", "{\"id\":\"grebe\"}", "names no document"},
        {"fetch", "{\"id\":\"/grebe\"}", "no collection"},
        {"fetch", "{\"id\":\"boats/\"}", "names no document"},
        {"fetch", "{\"id\":\"boats/heron\"}", "does not exist"},
        {"fetch", "{\"id\":\"forage://boats/%zz\"}", "percent"},
        {"fetch", "{\"id\":\"forage://boats/a%00b\"}", "percent"},
        {"ingest", "{\"documents\":[]}", "documents"},
        {"ingest", "{\"documents\":[{\"text\":\"x\"}],\"collection\":\"../x\"}", "collection"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        cJSON *r = call(&f, wrong[i].tool, wrong[i].arguments);
        if (!cJSON_IsTrue(at(r, "result/isError")) ||
            !strstr(text_at(r, "result/content/0/text"), wrong[i].told))
            fail_msg("%s %s: %s", wrong[i].tool, wrong[i].arguments,
                     text_at(r, "result/content/0/text"));
        assert_null(at(r, "result/structuredContent"));
        cJSON_Delete(r);
    }
    /* nobody waits for an answer that comes later than a question may take */
    f.host.waited_ms = 60000;
    cJSON *late = call(&f, "ask", "{\"question\":\"What is a Beetle?\",\"collection\":\"cars\"}");
    assert_true(cJSON_IsTrue(at(late, "result/isError")));
    assert_non_null(strstr(text_at(late, "result/content/0/text"), "waited 60000 ms"));
    cJSON_Delete(late);
    f.host.waited_ms = 0;
    /* a name that is too long for the sentence is cut between characters */
    char name[200] = "a";
    for (size_t i = 1; i + 2 < sizeof name; i += 2) memcpy(name + i, "\xC3\xA4", 3);
    cJSON *r = call(&f, name, "{}");
    const char *told = text_at(r, "error/message");
    if (!strstr(told, "\xC3\xA4'") || strstr(told, "\xEF\xBF\xBD")) fail_msg("%s", told);
    cJSON_Delete(r);
    close_fixture(&f);
}

static void documents_come_in_where_that_is_allowed(void **state) {
    (void)state;
    fixture f = open_fixture();
    cJSON *r =
        call(&f, "ingest",
             "{\"collection\":\"cars\",\"documents\":[{\"id\":\"b\",\"text\":\"The Beetle has "
             "its engine in the rear.\"},{\"txt\":\"x\"}]}");
    assert_true(at(r, "result/structuredContent/created")->valuedouble == 1);
    assert_true(at(r, "result/structuredContent/failed")->valuedouble == 1);
    assert_non_null(
        strstr(text_at(r, "result/structuredContent/results/1/error/message"), "documents[1].txt"));
    cJSON_Delete(r);
    r = call(&f, "ask",
             "{\"question\":\"Where is the engine of the Beetle?\",\"collection\":\"cars\"}");
    assert_non_null(strstr(text_at(r, "result/structuredContent/answer"), "rear"));
    cJSON_Delete(r);
    f.host.may_ingest = false;
    r = call(&f, "ingest", "{\"documents\":[{\"text\":\"x\"}]}");
    assert_true(at(r, "error/code")->valuedouble == -32602);
    cJSON_Delete(r);
    r = say(&f, NULL, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}", NULL);
    assert_int_equal(cJSON_GetArraySize(at(r, "result/tools")), 4);
    cJSON_Delete(r);
    close_fixture(&f);
}

/* A key of one collection and one group: nothing else is found, listed or read, nor told to be there. */
static void a_key_sees_what_is_its_own(void **state) {
    (void)state;
    fixture f = open_fixture();
    ingest(f.service, "boats", "secret", NULL, "[\"board\"]", "The Grebe carries gold.");
    ingest(f.service, "staff", "wages", NULL, NULL, "Wages are paid in gold.");
    fo_err err = {0};
    access_secret secret;
    const char *const collections[] = {"boats"}, *const groups[] = {"crew"};
    assert_ok(keys_create(f.dir,
                          &(key_spec){.name = "k",
                                      .scopes = 1 << ACCESS_READ,
                                      .collections = collections,
                                      .n_collections = 1,
                                      .groups = groups,
                                      .n_groups = 1},
                          &secret, &err),
              &err);
    key_table *t;
    assert_ok(keys_read(&t, f.dir, &err), &err);
    f.host.key = key_table_find(t, secret.text);
    f.host.sees = f.host.key->sees;
    static const struct {
        const char *tool, *arguments;
    } tries[] = {
        {"search", "{\"query\":\"gold\"}"},
        {"search", "{\"query\":\"gold\",\"collection\":\"staff\"}"},
        {"ask", "{\"question\":\"What does the Grebe carry?\"}"},
        {"fetch", "{\"id\":\"boats/secret\"}"},
        {"fetch", "{\"id\":\"staff/wages\"}"},
        {"list_collections", "{}"},
    };
    for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
        cJSON *r = call(&f, tries[i].tool, tries[i].arguments);
        char *all = cJSON_PrintUnformatted(r);
        if (strstr(all, "gold") || strstr(all, "wages") != strstr(tries[i].arguments, "wages"))
            assert_true(cJSON_IsTrue(at(r, "result/isError")));
        assert_null(strstr(all, "carries gold"));
        assert_null(strstr(all, "paid"));
        free(all);
        cJSON_Delete(r);
    }
    cJSON *r = say(&f, NULL, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/list\"}", NULL);
    assert_int_equal(cJSON_GetArraySize(at(r, "result/resources")), 1);
    assert_string_equal(text_at(r, "result/resources/0/uri"), "forage://boats/grebe");
    cJSON_Delete(r);
    /* A document that is there reads as one that is not. */
    static const char read[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/read\","
                               "\"params\":{\"uri\":\"forage://%s\"}}";
    static const char *const hidden[] = {"boats/secret", "staff/wages", "none/wages"};
    for (int i = 0; i < 3; i++) {
        char m[200];
        snprintf(m, sizeof m, read, hidden[i]);
        assert_int_equal(code_of(&f, NULL, m, 200), -32602);
    }
    key_table_drop(t);
    close_fixture(&f);
}

static void resources_come_in_pages(void **state) {
    (void)state;
    enum { EACH = 130 };
    fixture f = open_fixture();
    ingest(f.service, "boats", "a b/\xC3\xBC%41.txt", NULL, NULL, "An odd name.");
    for (int i = 0; i < EACH; i++) {
        char id[32], text[64];
        snprintf(id, sizeof id, "n%03d", i);
        snprintf(text, sizeof text, "Note number %d of the log.", i);
        ingest(f.service, "notes", id, NULL, NULL, text);
    }
    fo_buf seen = {0};
    char cursor[400] = "";
    int n = 0, pages = 0;
    do {
        char m[700];
        snprintf(m, sizeof m,
                 "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/list\",\"params\":{%s%s%s}}",
                 *cursor ? "\"cursor\":\"" : "", cursor, *cursor ? "\"" : "");
        cJSON *r = say(&f, NULL, m, NULL);
        const cJSON *item;
        cJSON_ArrayForEach(item, at(r, "result/resources")) {
            const char *uri = text_at(item, "uri");
            assert_true(!seen.data || !strstr(seen.data, uri));
            fo_buf_printf(&seen, "%s\n", uri);
            char read[400];
            snprintf(read, sizeof read,
                     "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/read\",\"params\":{"
                     "\"uri\":\"%s\"}}",
                     uri);
            cJSON *one = say(&f, NULL, read, NULL);
            assert_true(text_at(one, "result/contents/0/text")[0]);
            cJSON_Delete(one);
            n++;
        }
        snprintf(cursor, sizeof cursor, "%s", text_at(r, "result/nextCursor"));
        cJSON_Delete(r);
        assert_true(++pages < 10);
    } while (*cursor);
    assert_int_equal(n, EACH + 2);
    assert_int_equal(pages, 2);
    fo_buf_free(&seen);
    assert_int_equal(code_of(&f, NULL,
                             "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/list\","
                             "\"params\":{\"cursor\":\"xyz\"}}",
                             200),
                     -32602);
    close_fixture(&f);
}

/* As JSON-RPC 2.0 has it: an error that no id can be read for has one that is null. */
static void an_error_without_a_readable_id_has_null_for_it(void **state) {
    (void)state;
    fixture f = open_fixture();
    static const struct {
        const char *message, *id;
    } cases[] = {{"garbage", "\"id\":null,"},
                 {"{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}", "\"id\":null,"},
                 {"[]", "\"id\":null,"},
                 {"{\"jsonrpc\":\"1.0\",\"id\":7,\"method\":\"ping\"}", "\"id\":7,"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fo_buf reply = {0};
        assert_int_equal(
            mcp_answer(&f.host, NULL, cases[i].message, strlen(cases[i].message), &reply), 400);
        assert_non_null(strstr(reply.data, cases[i].id));
        fo_buf_free(&reply);
    }
    close_fixture(&f);
}

/* Whatever number of 64 bits a client counts with comes back digit by digit, beside a result and beside an error. */
static void an_id_comes_back_as_it_was_sent(void **state) {
    (void)state;
    fixture f = open_fixture();
    static const char *const ids[] = {"0",
                                      "-1",
                                      "9007199254740991",
                                      "9007199254740992",
                                      "9007199254740993",
                                      "-9007199254740993",
                                      "1111111111111111168",
                                      "9223372036854775807",
                                      "-9223372036854775808",
                                      "12345678901234567890",
                                      "18446744073709551615",
                                      "\"\"",
                                      "\"9007199254740993\"",
                                      "\"\u00FC \\\"x\\\"\""};
    static const char *const methods[] = {"ping", "none"};
    for (size_t i = 0; i < 2 * sizeof ids / sizeof *ids; i++) {
        fo_buf reply = {0};
        char message[200], want[80];
        snprintf(message, sizeof message, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"%s\"}",
                 ids[i / 2], methods[i % 2]);
        snprintf(want, sizeof want, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"%s\":", ids[i / 2],
                 i % 2 ? "error" : "result");
        assert_int_equal(mcp_answer(&f.host, NULL, message, strlen(message), &reply), 200);
        if (strncmp(reply.data, want, strlen(want)) != 0) fail_msg("%s: %s", want, reply.data);
        fo_buf_free(&reply);
    }
    close_fixture(&f);
}

/* What cannot be given back is refused by name, with null for it. */
static void an_id_that_is_too_large_is_refused(void **state) {
    (void)state;
    fixture f = open_fixture();
    char longest[MCP_ID_MAX + 3], longer[MCP_ID_MAX + 4];
    snprintf(longest, sizeof longest, "\"%0*d\"", MCP_ID_MAX, 0);
    snprintf(longer, sizeof longer, "\"%0*d\"", MCP_ID_MAX + 1, 0);
    const struct {
        const char *id, *why; /* NULL: it is taken */
    } cases[] = {
        {longest, NULL},
        {longer, "id is longer than 1,024 bytes"},
        {"18446744073709551616", NULL}, /* the least that 64 bits do not hold, which is exact */
        {"36893488147419103232", "id is a number of more than 64 bits"},
        {"-36893488147419103233", "id is a number of more than 64 bits"},
        {"1e300", "id is a number of more than 64 bits"},
        {"1.5", "id must be a string or a whole number"},
        {"true", "id must be a string or a whole number"},
        {"{}", "id must be a string or a whole number"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fo_buf message = {0}, reply = {0};
        fo_buf_printf(&message, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"ping\"}", cases[i].id);
        const int status = mcp_answer(&f.host, NULL, message.data, message.len, &reply);
        assert_int_equal(status, cases[i].why ? 400 : 200);
        assert_non_null(strstr(reply.data, cases[i].why ? "\"id\":null," : cases[i].id));
        if (cases[i].why) assert_non_null(strstr(reply.data, cases[i].why));
        cJSON *root = cJSON_Parse(message.data);
        fo_buf_clear(&reply);
        mcp_write_failure(&reply, cJSON_GetObjectItemCaseSensitive(root, "id"), "gone");
        assert_true(cases[i].why != NULL || strstr(reply.data, "\"id\":null,") == NULL);
        assert_true(!cases[i].why || strstr(reply.data, "\"id\":null,"));
        cJSON_Delete(root);
        fo_buf_free(&message);
        fo_buf_free(&reply);
    }
    close_fixture(&f);
}

static void ids_are_the_same_by_all_of_their_digits(void **state) {
    (void)state;
    static const struct {
        const char *a, *b;
        bool same;
    } cases[] = {{"1", "1", true},
                 {"1", "1.0", true},
                 {"1", "\"1\"", false},
                 {"4503599627370497", "4503599627370498", false},
                 {"9007199254740992", "9007199254740993", false},
                 {"9007199254740993", "9007199254740993", true},
                 {"\"a\"", "\"a\"", true},
                 {"\"a\"", "\"b\"", false},
                 {"1.5", "1.5", false},
                 {"{}", "{}", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cJSON *a, *b;
        fo_err err = {0};
        assert_ok(json_parse(cases[i].a, strlen(cases[i].a), &a, &err), &err);
        assert_ok(json_parse(cases[i].b, strlen(cases[i].b), &b, &err), &err);
        if (mcp_same_id(a, b) != cases[i].same) fail_msg("%s, %s", cases[i].a, cases[i].b);
        assert_false(mcp_same_id(NULL, b) || mcp_same_id(a, NULL));
        cJSON_Delete(a);
        cJSON_Delete(b);
    }
}

static void what_is_no_message_is_told(void **state) {
    (void)state;
    fixture f = open_fixture();
    static const struct {
        const char *message;
        int code;
    } wrong[] = {
        {"", -32700},
        {"{", -32700},
        {"null", -32600},
        {"[]", -32600},
        {"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]", -32600},
        {"{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}", -32600},
        {"{\"jsonrpc\":\"2.0\",\"id\":1}", -32600},
        {"{\"jsonrpc\":\"2.0\"}", -32600},
        {"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", -32600},
        {"{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}", -32600},
        {"{\"jsonrpc\":\"2.0\",\"id\":1e300,\"method\":\"ping\"}", -32600},
        {"{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}", -32600},
        {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":5}", -32600},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(code_of(&f, NULL, wrong[i].message, 400), wrong[i].code);
    assert_int_equal(
        code_of(&f, NULL, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":[]}", 200),
        -32602);
    int status;
    assert_null(say(&f, NULL, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}", &status));
    assert_int_equal(status, 202);
    close_fixture(&f);
}

/* Bytes changed, left out and doubled: always one reply that is JSON, or none. */
static void messages_of_any_bytes_are_answered(void **state) {
    (void)state;
    fixture f = open_fixture();
    static const char *const seeds[] = {
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"search\","
        "\"arguments\":{\"query\":\"boat\",\"limit\":3}}}",
        "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"resources/read\",\"params\":{\"uri\":"
        "\"forage://boats/gr%65be\"," META(MCP_VERSION) "}}",
        "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"resources/list\",\"params\":{\"cursor\":"
        "\"626f6174732f67\"}}",
        "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\",\"params\":{\"name\":\"fetch\","
        "\"arguments\":{\"id\":\"boats/grebe\",\"offset\":3}}}",
    };
    unsigned x = 12345, answered = 0;
    for (int i = 0; i < 3000; i++) {
        char m[400];
        snprintf(m, sizeof m, "%s", seeds[i % 4]);
        size_t n = strlen(m);
        for (int k = 0; k < 1 + i % 3; k++) {
            x = x * 1103515245 + 12345;
            size_t where = x / 65536 % n;
            x = x * 1103515245 + 12345;
            m[where] = x >> 16 & 1 ? (char)(x >> 20) : "\"{}[]:,%\\0"[(x >> 20) % 10];
        }
        fo_buf reply = {0};
        int status = mcp_answer(&f.host, NULL, m, n, &reply);
        cJSON *r = reply.len ? cJSON_ParseWithLength(reply.data, reply.len) : NULL;
        assert_true(status == 200 || status == 202 || status == 400 || status == 404);
        assert_true((r != NULL) == (status != 202));
        answered += at(r, "result") != NULL;
        cJSON_Delete(r);
        fo_buf_free(&reply);
    }
    assert_true(answered > 50); /* some of them were still messages */
    close_fixture(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(older_clients_begin_with_initialize),
        cmocka_unit_test(newer_clients_say_who_they_are_each_time),
        cmocka_unit_test(the_name_of_a_tool_stands_in_a_header),
        cmocka_unit_test(tools_find_answer_and_read),
        cmocka_unit_test(what_is_found_is_put_in_order_by_a_cross_encoder_that_was_given),
        cmocka_unit_test(a_result_is_read_by_its_url),
        cmocka_unit_test(what_is_wrong_with_a_call_is_told),
        cmocka_unit_test(documents_come_in_where_that_is_allowed),
        cmocka_unit_test(a_key_sees_what_is_its_own),
        cmocka_unit_test(resources_come_in_pages),
        cmocka_unit_test(an_error_without_a_readable_id_has_null_for_it),
        cmocka_unit_test(an_id_comes_back_as_it_was_sent),
        cmocka_unit_test(an_id_that_is_too_large_is_refused),
        cmocka_unit_test(ids_are_the_same_by_all_of_their_digits),
        cmocka_unit_test(what_is_no_message_is_told),
        cmocka_unit_test(messages_of_any_bytes_are_answered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
