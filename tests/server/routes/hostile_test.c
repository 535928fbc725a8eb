/* hostile_test.c - requests that mean no good, over HTTP. Wrong types, ranges and lengths come from
 * openapi.json itself: whatever it says of a field, the service must hold to and name the field. */
#include "tests/test.h"

#include <arpa/inet.h>
#include <math.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "kernels/buf.h"
#include "tests/server/routes/http_fixture.h"

/* ---- what openapi.json allows --------------------------------------------------------------- */

static const cJSON *resolve(const cJSON *api, const cJSON *s) {
    const char *ref;
    while ((ref = cJSON_GetStringValue(cJSON_GetObjectItem(s, "$ref"))))
        s = cJSON_GetObjectItem(at(api, "components.schemas"), strrchr(ref, '/') + 1);
    assert_non_null(s);
    return s;
}

static bool is_type(const char *type, const cJSON *v) {
    return !strcmp(type, "string")    ? cJSON_IsString(v)
           : !strcmp(type, "integer") ? cJSON_IsNumber(v) && floor(v->valuedouble) == v->valuedouble
           : !strcmp(type, "number")  ? cJSON_IsNumber(v)
           : !strcmp(type, "boolean") ? cJSON_IsBool(v)
           : !strcmp(type, "array")   ? cJSON_IsArray(v)
           : !strcmp(type, "object")  ? cJSON_IsObject(v)
                                      : cJSON_IsNull(v);
}

static bool has_type(const cJSON *s, const cJSON *v) {
    const cJSON *type = cJSON_GetObjectItem(s, "type"), *t;
    if (!cJSON_IsArray(type)) return !type || is_type(type->valuestring, v);
    cJSON_ArrayForEach(t, type) if (is_type(t->valuestring, v)) return true;
    return false;
}

static double limit_of(const cJSON *s, const char *name, double none) {
    const cJSON *v = cJSON_GetObjectItem(s, name);
    return v ? v->valuedouble : none;
}

static bool allows(const cJSON *api, const cJSON *schema, const cJSON *v) {
    const cJSON *s = resolve(api, schema), *one, *item;
    const cJSON *choices = cJSON_GetObjectItem(s, "oneOf");
    bool ok = !choices;
    cJSON_ArrayForEach(one, choices) ok |= allows(api, one, v);
    if (!ok || !has_type(s, v)) return false;
    const cJSON *names = cJSON_GetObjectItem(s, "enum");
    ok = !names;
    cJSON_ArrayForEach(one, names) ok |= cJSON_Compare(one, v, true);
    double size = cJSON_IsNumber(v)   ? v->valuedouble
                  : cJSON_IsString(v) ? (double)strlen(v->valuestring)
                                      : (double)cJSON_GetArraySize(v);
    const char *least = cJSON_IsNumber(v)   ? "minimum"
                        : cJSON_IsString(v) ? "minLength"
                                            : "minItems";
    const char *most = cJSON_IsNumber(v) ? "maximum" : cJSON_IsString(v) ? "maxLength" : "maxItems";
    ok &= size >= limit_of(s, least, -1e308) && size <= limit_of(s, most, 1e308);
    if (cJSON_IsArray(v) && cJSON_GetObjectItem(s, "items"))
        cJSON_ArrayForEach(item, v) ok &= allows(api, cJSON_GetObjectItem(s, "items"), item);
    if (!cJSON_IsObject(v)) return ok;
    const cJSON *fields = cJSON_GetObjectItem(s, "properties");
    cJSON_ArrayForEach(item, v) {
        const cJSON *field = cJSON_GetObjectItem(fields, item->string);
        ok &= field ? allows(api, field, item)
                    : !cJSON_IsFalse(cJSON_GetObjectItem(s, "additionalProperties"));
    }
    cJSON_ArrayForEach(one, cJSON_GetObjectItem(s, "required")) ok &=
        cJSON_HasObjectItem(v, one->valuestring);
    return ok;
}

/* ---- every field, wrong --------------------------------------------------------------------- */

typedef struct target {
    const char *method, *route, *path, *body; /* a body that is right */
} target;

/* A field's place in the body: the names on the way, and how errors write it. */
typedef struct place {
    char pointer[128], param[128];
} place;

static cJSON *replaced(const char *body, const place *p, const cJSON *value) {
    cJSON *root = cJSON_Parse(body), *in = root;
    char copy[128], *save = NULL;
    snprintf(copy, sizeof copy, "%s", p->pointer);
    char *name = strtok_r(copy, ".", &save);
    for (char *next; (next = strtok_r(NULL, ".", &save)); name = next) {
        cJSON *inner = cJSON_IsArray(in) ? cJSON_GetArrayItem(in, atoi(name))
                                         : cJSON_GetObjectItemCaseSensitive(in, name);
        if (!inner) inner = cJSON_AddObjectToObject(in, name);
        in = inner;
    }
    if (cJSON_IsArray(in)) {
        cJSON_ReplaceItemInArray(in, atoi(name), cJSON_Duplicate(value, true));
    } else {
        cJSON_DeleteItemFromObjectCaseSensitive(in, name);
        cJSON_AddItemToObject(in, name, cJSON_Duplicate(value, true));
    }
    return root;
}

/* One lies in the other: who is wrong inside a list may be told by the list, and the other way. */
static bool names(const char *param, const char *want) {
    size_t n = strlen(param), m = strlen(want);
    return n && !strncmp(param, want, n < m ? n : m);
}

static int n_sent;

static void expect_refusal(fixture *f, const target *t, const place *p, const cJSON *wrong) {
    cJSON *body = replaced(t->body, p, wrong);
    char *sent = cJSON_PrintUnformatted(body);
    fo_buf got = {0};
    long status = send_method(f, t->method, t->path, sent, &got, false);
    cJSON *reply = cJSON_ParseWithLength(got.data ? got.data : "", got.len);
    /* A document of several fails alone. */
    const cJSON *error = at(reply, status == 200 ? "results.0.error" : "error");
    n_sent++;
    if ((status != 400 && (status != 200 || !cJSON_IsObject(error))) ||
        !names(text(error, "param"), p->param))
        fail_msg("%s %.300s: %ld %.300s", t->path, sent, status, got.data ? got.data : "");
    cJSON_Delete(reply);
    cJSON_Delete(body);
    free(sent);
    fo_buf_free(&got);
}

static const char *const values[] = {
    "true", "7",      "-7",      "1.5",  "1e300", "-1e300", "\"evil\"",  "\"\"",   "[]",   "{}",
    "[7]",  "[true]", "[\"e\"]", "[[]]", "[{}]",  "0",      "{\"a\":1}", "[null]", "65537"};

static void try_field(fixture *f, const cJSON *api, const target *t, const place *p,
                      const cJSON *schema) {
    const cJSON *s = resolve(api, schema);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        cJSON *v = cJSON_Parse(values[i]);
        if (!allows(api, s, v)) expect_refusal(f, t, p, v);
        cJSON_Delete(v);
    }
    const double edges[] = {limit_of(s, "minimum", 0) - 1, limit_of(s, "maximum", -2) + 1};
    for (int i = 0; i < 2; i++) {
        cJSON *v = cJSON_CreateNumber(edges[i]);
        if (!allows(api, s, v)) expect_refusal(f, t, p, v);
        cJSON_Delete(v);
    }
    size_t most = (size_t)limit_of(s, "maxLength", 0);
    if (most) {
        char *longer = malloc(most + 2);
        memset(longer, 'a', most + 1);
        longer[most + 1] = 0;
        cJSON *v = cJSON_CreateString(longer);
        expect_refusal(f, t, p, v);
        cJSON_Delete(v);
        free(longer);
    }
}

static place inside(const place *outer, const char *name, bool index) {
    place p;
    bool top = !*outer->pointer;
    snprintf(p.pointer, sizeof p.pointer, "%.60s%s%.60s", outer->pointer, top ? "" : ".", name);
    snprintf(p.param, sizeof p.param, index ? "%.60s%s[%.60s]" : "%.60s%s%.60s", outer->param,
             index || top ? "" : ".", name);
    return p;
}

static void try_schema(fixture *f, const cJSON *api, const target *t, const place *outer,
                       const cJSON *schema) {
    const cJSON *s = resolve(api, schema), *field;
    cJSON_ArrayForEach(field, cJSON_GetObjectItem(s, "properties")) {
        place p = inside(outer, field->string, false);
        try_field(f, api, t, &p, field);
        const cJSON *inner = resolve(api, field), *items = cJSON_GetObjectItem(inner, "items");
        if (cJSON_GetObjectItem(inner, "properties")) try_schema(f, api, t, &p, inner);
        if (!items) continue;
        /* Only where the right body has an item to spoil. */
        cJSON *body = cJSON_Parse(t->body);
        bool there = cJSON_IsObject(at(body, inside(&p, "0", true).pointer));
        cJSON_Delete(body);
        if (!there) continue;
        p = inside(&p, "0", true);
        try_schema(f, api, t, &p, items);
    }
    if (!cJSON_IsFalse(cJSON_GetObjectItem(s, "additionalProperties"))) return;
    place p = inside(outer, "no_such_field", false);
    cJSON *v = cJSON_CreateNumber(1);
    expect_refusal(f, t, &p, v);
    cJSON_Delete(v);
}

static void what_the_description_forbids_is_refused_by_name(void **state) {
    fixture *f = *state;
    static const target targets[] = {
        {"POST", "/query", "/query",
         "{\"query\":\"x\",\"messages\":[{\"role\":\"user\",\"content\":\"y\"}]}"},
        {"POST", "/search", "/search",
         "{\"query\":\"x\",\"messages\":[{\"role\":\"user\",\"content\":\"y\"}]}"},
        {"POST", "/ingest", "/ingest", "{\"documents\":[{\"id\":\"a\",\"text\":\"x\"}]}"},
        {"PUT", "/collections/{name}", "/collections/other", "{}"},
        {"POST", "/v1/embeddings", "/v1/embeddings", "{\"input\":\"x\"}"},
        {"POST", "/v1/rerank", "/v1/rerank", "{\"query\":\"x\",\"documents\":[\"a\"]}"},
        {"POST", "/v1/tokenize", "/v1/tokenize", "{\"text\":\"x\"}"},
        {"POST", "/v1/chat/completions", "/v1/chat/completions",
         "{\"model\":\"forage/default\",\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}"},
    };
    cJSON *r = ask(f, "/openapi.json", NULL, 200), *api = r;
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        const target *t = &targets[i];
        char method[8] = "";
        for (size_t k = 0; k < sizeof method - 1 && t->method[k]; k++)
            method[k] = (char)(t->method[k] | 32);
        const cJSON *route = cJSON_GetObjectItem(cJSON_GetObjectItem(api, "paths"), t->route);
        const cJSON *content = at(cJSON_GetObjectItem(route, method), "requestBody.content");
        const cJSON *schema =
            cJSON_GetObjectItem(cJSON_GetObjectItem(content, "application/json"), "schema");
        assert_non_null(schema);
        int before = n_sent;
        try_schema(f, api, t, &(place){"", ""}, schema);
        print_message("# %s: %d bodies refused\n", t->path, n_sent - before);
        assert_true(n_sent - before > 3);
    }
    cJSON_Delete(r);
}

/* ---- bodies that are no JSON, or too much of it ---------------------------------------------- */

static void repeat(fo_buf *b, const char *what, int n) {
    for (int i = 0; i < n; i++) fo_buf_str(b, what);
}

/* Raw: bodies may hold zero bytes. Returns the status. */
static long post(fixture *f, const char *path, const char *type, const void *body, size_t n,
                 fo_buf *out) {
    CURL *c = curl_easy_init();
    char url[512], header[128];
    snprintf(url, sizeof url, "http://%s%s", http_address(f->app->http), path);
    snprintf(header, sizeof header, "Content-Type: %s", type);
    struct curl_slist *h = curl_slist_append(NULL, header);
    h = curl_slist_append(h, "Expect:");
    curl_easy_setopt(c, CURLOPT_URL, url);
    curl_easy_setopt(c, CURLOPT_HTTPHEADER, h);
    curl_easy_setopt(c, CURLOPT_POSTFIELDSIZE, (long)n);
    curl_easy_setopt(c, CURLOPT_POSTFIELDS, body);
    curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, take);
    curl_easy_setopt(c, CURLOPT_WRITEDATA, out);
    assert_int_equal(curl_easy_perform(c), CURLE_OK);
    long status = 0;
    curl_easy_getinfo(c, CURLINFO_RESPONSE_CODE, &status);
    curl_slist_free_all(h);
    curl_easy_cleanup(c);
    return status;
}

static void expect_400(fixture *f, const char *path, const void *body, size_t n) {
    fo_buf got = {0};
    long status = post(f, path, "application/json", body, n, &got);
    fo_buf_char(&got, 0);
    cJSON *r = cJSON_Parse(got.data);
    if (status != 400 || !*text(r, "error.message"))
        fail_msg("%s: %.100s: %ld %.300s", path, (const char *)body, status, got.data);
    cJSON_Delete(r);
    fo_buf_free(&got);
}

static double n_documents(fixture *f) {
    cJSON *r = ask(f, "/stats", NULL, 200);
    double n = number(r, "documents");
    cJSON_Delete(r);
    return n;
}

static void bodies_that_are_no_json_are_refused_whole(void **state) {
    fixture *f = *state;
    double before = n_documents(f);
#define B(s)                                                                                       \
    { s, sizeof s - 1 }
    static const struct {
        const char *body;
        size_t n;
    } bodies[] = {
        B(""),
        B(" \n"),
        B("{"),
        B("}"),
        B("nul"),
        B("\"query\""),
        B("\xEF\xBB\xBF{\"query\":\"x\",\"documents\":[]}"), /* a byte order mark is no JSON */
        B("{\"query\":\"x\",\"documents\":[]}{}"),
        B("{\"query\":\"a\0b\",\"documents\":[{\"text\":\"a\0b\"}]}"),
        B("{\"query\":\"x\",\"documents\":[]}\0"),
        B("{\"query\":\"\\u0000\",\"documents\":[{\"text\":\"\\u0000\"}]}"),
        B("{\"query\":\"\\ud800\",\"documents\":[{\"text\":\"\\ud800\"}]}"),
        B("{\"query\":\"\xff\",\"documents\":[{\"text\":\"\xff\"}]}"),
        B("{\"query\":\"\xC0\x80\",\"documents\":[{\"text\":\"\xC0\x80\"}]}"),
        B("{\"query\":\"\xED\xA0\x80\",\"documents\":[{\"text\":\"\xED\xA0\x80\"}]}"),
        B("{\"query\":\"x\",\"query\":\"y\",\"documents\":[],\"documents\":[]}"),
        B("{'query':'x','documents':[]}"),
        B("{\"query\":\"x\",\"documents\":[],}"),
        B("{\"query\":\"x\",\"top_k\":01,\"documents\":[],\"wait\":tru}"),
        B("{\"query\":\"x\",\"top_k\":NaN,\"documents\":[{\"text\":\"x\",\"metadata\":{\"a\":NaN}}]"
          "}"),
        B("{\"query\":\"x\",\"documents\":[{\"text\":\"x\",\"metadata\":{\"a\":1,\"a\":2}}],"
          "\"search\":{\"ef\":1,\"ef\":2}}"),
    };
#undef B
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        expect_400(f, "/query", bodies[i].body, bodies[i].n);
        expect_400(f, "/search", bodies[i].body, bodies[i].n);
        expect_400(f, "/ingest", bodies[i].body, bodies[i].n);
    }
    fo_buf b = {0}; /* deep, and deep where the field may hold anything */
    repeat(&b, "[", 100000);
    expect_400(f, "/query", b.data, b.len);
    expect_400(f, "/ingest", b.data, b.len);
    fo_buf_clear(&b);
    repeat(&b, "{\"query\":", 50000);
    expect_400(f, "/query", b.data, b.len);
    fo_buf_clear(&b);
    fo_buf_str(&b, "{\"documents\":[{\"text\":\"x\",\"metadata\":{\"a\":");
    repeat(&b, "[", 5000);
    repeat(&b, "]", 5000);
    fo_buf_str(&b, "}}]}");
    expect_400(f, "/ingest", b.data, b.len);
    fo_buf_clear(&b);
    fo_buf_str(&b, "{\"query\":\"x\",\"filter\":");
    repeat(&b, "{\"type\":\"not\",\"filters\":[", 5000);
    fo_buf_str(&b, "{\"type\":\"exists\",\"key\":\"k\"}");
    repeat(&b, "]}", 5000);
    fo_buf_str(&b, "}");
    expect_400(f, "/query", b.data, b.len);
    fo_buf_clear(&b); /* a number of a hundred thousand digits */
    fo_buf_str(&b, "{\"query\":\"x\",\"top_k\":");
    repeat(&b, "9", 100000);
    fo_buf_str(&b, "}");
    expect_400(f, "/query", b.data, b.len);
    fo_buf_free(&b);
    assert_true(n_documents(f) == before);
}

static void lines_that_are_no_document_fail_alone(void **state) {
    fixture *f = *state;
    static const char lines[] = "{\"id\":\"l1\",\"text\":\"first\"}\n"
                                "{\"id\":\"l2\",\"text\":\"a\0b\"}\n"
                                "[[[[\n"
                                "{\"id\":\"l3\",\"text\":\"\xff\"}\n"
                                "{\"id\":\"l4\",\"text\":7}\n"
                                "{\"id\":\"l5\",\"text\":\"last\"}";
    double before = n_documents(f);
    fo_buf got = {0};
    assert_int_equal(post(f, "/ingest", "application/x-ndjson", lines, sizeof lines - 1, &got),
                     200);
    cJSON *r = cJSON_ParseWithLength(got.data, got.len);
    static const char *const want[] = {"created", "failed", "failed",
                                       "failed",  "failed", "created"};
    for (int i = 0; i < 6; i++) {
        char path[32];
        snprintf(path, sizeof path, "results.%d.status", i);
        if (strcmp(text(r, path), want[i])) fail_msg("line %d: %s", i + 1, got.data);
    }
    cJSON_Delete(r);
    fo_buf_free(&got);
    assert_true(n_documents(f) == before + 2);
}

/* A line without an end is given up before it is held whole. */
static void a_line_has_a_limit(void **state) {
    fixture *f = *state;
    enum { LONG = 66 << 20 };
    char *line = malloc(LONG);
    memset(line, 'a', LONG);
    memcpy(line, "{\"text\":\"", 9);
    double before = n_documents(f);
    fo_buf got = {0};
    long status = post(f, "/ingest", "application/x-ndjson", line, LONG, &got);
    fo_buf_char(&got, 0);
    if (status != 413 || !strstr(got.data, "line 1 is longer"))
        fail_msg("%ld %s", status, got.data);
    assert_true(n_documents(f) == before);
    fo_buf_free(&got);
    free(line);
}

static void names_lead_nowhere_else(void **state) {
    fixture *f = *state;
    static const char *const bad[] = {"..",  "%2e%2e", ".hidden", "a%2Fb", "..%2F..%2Fetc",
                                      "a b", "a%5Cb",  "%C3%A9"};
    char path[300], body[400];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        fo_buf got = {0};
        snprintf(path, sizeof path, "/collections/%s", bad[i]);
        for (char *c = path; *c; c++)
            if (*c == ' ') *c = '+';
        long status = send_method(f, "PUT", path, "{}", &got, false);
        if (status != 400 && status != 404) fail_msg("PUT %s: %ld", path, status);
        snprintf(path, sizeof path, "/assets/%s", strchr(bad[i], ' ') ? "x" : bad[i]);
        status = send_method(f, "GET", path, NULL, &got, false);
        if (status != 404) fail_msg("GET %s: %ld", path, status);
        fo_buf_free(&got);
    }
    static const char *const collections[] = {"..",     ".",   "../x",    "a/b",
                                              "a\\\\b", "a b", "\xC3\xA9"};
    for (size_t i = 0; i < sizeof collections / sizeof *collections; i++) {
        snprintf(body, sizeof body, "{\"query\":\"x\",\"collection\":\"%s\",\"documents\":[]}",
                 collections[i]);
        fo_buf got = {0};
        for (int k = 0; k < 2; k++) {
            char wanted[400];
            snprintf(wanted, sizeof wanted,
                     k ? "{\"collection\":\"%s\",\"documents\":[]}"
                       : "{\"collection\":\"%s\",\"query\":\"x\"}",
                     collections[i]);
            fo_buf_clear(&got);
            long status = send_method(f, "POST", k ? "/ingest" : "/query", wanted, &got, false);
            fo_buf_char(&got, 0);
            if (status != 400 || !strstr(got.data, "\"param\":\"collection\""))
                fail_msg("%s: %ld %s", wanted, status, got.data);
        }
        fo_buf_free(&got);
    }
    cJSON *r = ask(f, "/collections", NULL, 200);
    const cJSON *one, *list = at(r, "data");
    assert_true(cJSON_GetArraySize(list) >= 1);
    cJSON_ArrayForEach(one, list) if (strcmp(text(one, "name"), "default") &&
                                      strcmp(text(one, "name"), "other"))
        fail_msg("there is a collection '%s'", text(one, "name"));
    cJSON_Delete(r);
}

/* ---- what is wrong with the bytes on the wire ------------------------------------------------ */

static int dial(fixture *f) {
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)http_port(f->app->http))};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
    struct timeval t = {120, 0};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof t);
    return fd;
}

/* All that comes back until the server ends the connection; caller frees. half: nothing more is
 * sent, which is what a client that went away looks like. */
static char *talk(fixture *f, const char *request, size_t n, bool half) {
    int fd = dial(f);
    for (size_t done = 0; done < n;) {
        ssize_t k = send(fd, request + done, n - done, MSG_NOSIGNAL);
        if (k <= 0) break;
        done += (size_t)k;
    }
    if (half) shutdown(fd, SHUT_WR);
    fo_buf b = {0};
    char some[4096];
    for (ssize_t k; (k = recv(fd, some, sizeof some, 0)) > 0;) fo_buf_add(&b, some, (size_t)k);
    close(fd);
    fo_buf_char(&b, 0);
    return b.data;
}

static int count_replies(const char *s) {
    int n = 0;
    while ((s = strstr(s, "HTTP/1.1 "))) s++, n++;
    return n;
}

#define QUERY  "{\"query\":\"x\"}"
#define INGEST "POST /ingest HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
#define HEAD   "POST /query HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"

/* A second request must never come out of a first one's body. */
static void lengths_that_lie_smuggle_nothing(void **state) {
    fixture *f = *state;
    static const char hidden[] = "DELETE /collections/precious HTTP/1.1\r\nHost: localhost\r\n"
                                 "Connection: close\r\n\r\n";
    static const char *const heads[] = {
        "Content-Length: -5\r\n",
        "Content-Length: +13\r\n",
        "Content-Length: 0x0d\r\n",
        "Content-Length: 13, 13\r\n",
        "Content-Length: 13\r\nContent-Length: 0\r\n",
        "Content-Length: 0\r\nContent-Length: 13\r\n",
        "Content-Length: 13\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 13\r\n",
        "Transfer-Encoding: gzip, chunked\r\nContent-Length: 13\r\n",
        "Content-Length: 18446744073709551617\r\n",
        "Transfer-Encoding: xchunked\r\n",
        "Content-Length : 13\r\n",
    };
    cJSON_Delete(ask(f, "/ingest",
                     "{\"collection\":\"precious\",\"documents\":[{\"id\":\"p\","
                     "\"text\":\"Gold.\"}]}",
                     200));
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        fo_buf b = {0};
        fo_buf_printf(&b, "%s%s\r\n" QUERY "%s", HEAD, heads[i], hidden);
        char *got = talk(f, b.data, b.len, false);
        fo_buf out = {0};
        long status = send_method(f, "GET", "/documents/p?collection=precious", NULL, &out, false);
        if (status != 200) fail_msg("%s smuggled a request in: %s", heads[i], got);
        fo_buf_free(&out);
        fo_buf_free(&b);
        free(got);
    }
    cJSON_Delete(ask(f, "/health", NULL, 200));
}

static void a_body_that_ends_early_leaves_nothing(void **state) {
    fixture *f = *state;
    double before = n_documents(f);
    fo_buf b = {0};
    fo_buf_str(&b,
               "POST /ingest HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
               "Content-Length: 5000\r\n\r\n{\"documents\":[{\"id\":\"half\",\"text\":\"x\"}]}");
    free(talk(f, b.data, b.len, true));
    fo_buf_clear(&b);
    fo_buf_str(&b, "POST /ingest HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                   "Transfer-Encoding: chunked\r\n\r\n"
                   "29\r\n{\"documents\":[{\"id\":\"half\",\"text\":\"x\"}]}\r\n");
    free(talk(f, b.data, b.len, true)); /* whole JSON, but the last chunk is missing */
    fo_buf_free(&b);
    assert_true(n_documents(f) == before);
}

static void bodies_have_a_limit_however_they_come(void **state) {
    fixture *f = *state;
    fo_buf b = {0};
    fo_buf_printf(&b, "%sTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n", HEAD);
    char *got = talk(f, b.data, b.len, false);
    assert_null(strstr(got, "HTTP/1.1 2"));
    free(got);
    fo_buf_clear(&b);
    fo_buf_printf(&b, "%sTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n", HEAD);
    for (int i = 0; i < 3 << 10; i++) { /* 48 MiB in 16 KiB chunks, or until it is cut off */
        fo_buf_str(&b, "4000\r\n");
        repeat(&b, "                                                                ", 256);
        fo_buf_str(&b, "\r\n");
    }
    fo_buf_str(&b, "0\r\n\r\n");
    got = talk(f, b.data, b.len, false);
    assert_non_null(strstr(got, "HTTP/1.1 413"));
    free(got);
    fo_buf_clear(&b); /* of what is known beforehand nothing need come */
    fo_buf_printf(&b, "%sContent-Length: %zu\r\n\r\n", INGEST, f->app->max_document_bytes + 1);
    got = talk(f, b.data, b.len, false);
    assert_non_null(strstr(got, "HTTP/1.1 413"));
    assert_non_null(strstr(got, "--max-body"));
    free(got);
    fo_buf_free(&b);
    cJSON_Delete(ask(f, "/health", NULL, 200));
}

static void a_hundred_requests_at_once_are_answered_in_order(void **state) {
    fixture *f = *state;
    fo_buf b = {0};
    for (int i = 0; i < 100; i++)
        fo_buf_printf(&b, "%sX-Request-Id: n%02d\r\n%sContent-Length: %zu\r\n\r\n%s", HEAD, i,
                      i == 99 ? "Connection: close\r\n" : "", strlen(QUERY) - (size_t)(i % 3 == 2),
                      i % 3 == 2 ? "{\"query\":\"x\"" : QUERY); /* some of them wrong */
    char *got = talk(f, b.data, b.len, false), *at_reply = got;
    assert_int_equal(count_replies(got), 100);
    for (int i = 0; i < 100; i++) {
        char id[32];
        snprintf(id, sizeof id, "X-Request-Id: n%02d\r\n", i);
        at_reply = strstr(at_reply, "HTTP/1.1 ");
        assert_memory_equal(at_reply + 9, i % 3 == 2 ? "400" : "200", 3);
        char *end = strstr(at_reply, "\r\n\r\n"), *found = strstr(at_reply, id);
        assert_true(found && found < end);
        at_reply = end;
    }
    free(got);
    fo_buf_free(&b);
}

static int setup(void **state) {
    fixture *f = fixture_open(test_folder(), NULL, (engine_options){0});
    cJSON_Delete(ask(f, "/ingest",
                     "{\"documents\":[{\"id\":\"a\",\"text\":\"Morels must be cooked "
                     "for ten minutes.\"}]}",
                     200));
    *state = f;
    return 0;
}

static int teardown(void **state) {
    fixture_close(*state);
    return 0;
}

int main(void) {
    curl_global_init(CURL_GLOBAL_ALL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_description_forbids_is_refused_by_name),
        cmocka_unit_test(bodies_that_are_no_json_are_refused_whole),
        cmocka_unit_test(lines_that_are_no_document_fail_alone),
        cmocka_unit_test(a_line_has_a_limit),
        cmocka_unit_test(names_lead_nowhere_else),
        cmocka_unit_test(lengths_that_lie_smuggle_nothing),
        cmocka_unit_test(a_body_that_ends_early_leaves_nothing),
        cmocka_unit_test(bodies_have_a_limit_however_they_come),
        cmocka_unit_test(a_hundred_requests_at_once_are_answered_in_order),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
