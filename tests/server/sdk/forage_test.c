/* forage_test.c - libforage through its public header: what goes in and comes out, errors as values, events,
 * calls that are ended, many threads, hostile arguments. */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>

#include "kernels/buf.h"
#include "kernels/clock.h"
#include "server/sdk/forage.h"
#include "tests/retrieval/chain_model.h"
#include "tests/test.h"

static const char pumps[] =
    "The north pump is serviced every 400 hours. The south pump is serviced every 250 "
    "hours.";

typedef struct fixture {
    char *dir;
    forage *f;
} fixture;

static fixture open_with(const char *options) {
    fixture x = {.dir = test_folder()};
    forage_error e;
    if (forage_open(&x.f, x.dir, options, NULL, &e)) fail_msg("%s: %s", e.field, e.message);
    return x;
}

static void close_fixture(fixture *x) {
    forage_close(x->f);
    test_remove(x->dir);
}

static forage_reply *ingest(forage *f, const forage_document *d, size_t n, const char *options) {
    forage_reply *r = NULL;
    forage_error e;
    if (forage_ingest(f, d, n, options, NULL, &r, &e)) fail_msg("%s: %s", e.field, e.message);
    return r;
}

static void put(forage *f, const char *id, const char *text, const char *metadata) {
    forage_reply *r =
        ingest(f, &(forage_document){.id = id, .text = text, .metadata = metadata}, 1, NULL);
    assert_string_equal(forage_reply_string(r, "/results/0/status"), "created");
    forage_reply_free(r);
}

static forage_reply *ask(forage *f, const char *question, const char *options) {
    forage_reply *r = NULL;
    forage_error e;
    if (forage_query(f, question, options, NULL, &r, &e)) fail_msg("%s: %s", e.field, e.message);
    return r;
}

static void answers_cite_the_documents_that_were_put_in(void **state) {
    (void)state;
    fixture x = open_with(NULL);
    put(x.f, "kb-1", pumps, NULL);
    forage_reply *r = ask(x.f, "How often is the \"north\" pump serviced?", NULL);
    assert_string_equal(forage_reply_string(r, "/status"), "answered");
    assert_non_null(strstr(forage_reply_string(r, "/answer"), "400 hours"));
    assert_true(forage_reply_count(r, "/citations") >= 1);
    assert_int_equal(forage_reply_number(r, "/citations/0/verified"), 1);
    assert_string_equal(forage_reply_string(r, "/citations/%d/source/document_id", 0), "kb-1");
    size_t start = (size_t)forage_reply_number(r, "/citations/0/source/start");
    const char *quote = forage_reply_string(r, "/citations/0/quote");
    assert_int_equal(strncmp(pumps + start, quote, strlen(quote)), 0);
    forage_reply_free(r);

    r = ask(x.f, "Who won the war of the roses?", NULL);
    assert_string_not_equal(forage_reply_string(r, "/status"), "answered");
    assert_true(strlen(forage_reply_string(r, "/refusal")) > 0);
    forage_reply_free(r);

    r = ask(
        x.f, NULL,
        "{\"messages\": [{\"role\": \"user\", \"content\": \"How often is the north pump "
        "serviced?\"}, {\"role\": \"assistant\", \"content\": \"Every 400 hours.\"}, {\"role\": "
        "\"user\", \"content\": \"And the south pump?\"}]}  ");
    assert_non_null(strstr(forage_reply_string(r, "/answer"), "250 hours"));
    forage_reply_free(r);

    assert_int_equal(forage_search(x.f, "pump", "{\"top_k\": 1}", NULL, &r, NULL), FORAGE_OK);
    assert_int_equal(forage_reply_count(r, "/contexts"), 1);
    assert_null(forage_reply_string(r, "/answer"));
    forage_reply_free(r);

    assert_int_equal(forage_info(x.f, &r, NULL), FORAGE_OK);
    assert_string_equal(forage_reply_string(r, "/version"), forage_version());
    assert_int_equal(forage_reply_number(r, "/documents"), 1);
    assert_null(forage_reply_string(r, "/model"));
    forage_reply_free(r);
    close_fixture(&x);
}

static void replies_are_read_by_pointers(void **state) {
    (void)state;
    fixture x = open_with(NULL);
    put(x.f, "a/b~c", "Herons stand in the reed.", "{\"a/b\": {\"~\": [1, true, \"x\"]}, \"\": 3}");
    forage_reply *r;
    assert_int_equal(forage_get(x.f, "a/b~c", NULL, &r, NULL), FORAGE_OK);
    size_t n;
    const char *json = forage_reply_json(r, &n);
    assert_int_equal(strlen(json), n);
    assert_string_equal(forage_reply_string(r, "/id"), "a/b~c");
    assert_string_equal(forage_reply_string(r, "/text"), "Herons stand in the reed.");
    assert_int_equal(forage_reply_number(r, "/metadata/a~1b/~0/0"), 1);
    assert_int_equal(forage_reply_number(r, "/metadata/a~1b/~0/1"), 1);
    assert_string_equal(forage_reply_string(r, "/metadata/%s/~0/%zu", "a~1b", (size_t)2), "x");
    assert_int_equal(forage_reply_number(r, "/metadata/"), 3);
    assert_int_equal(forage_reply_count(r, "/metadata"), 2);
    assert_true(forage_reply_count(r, "%s", "") > 5); /* the whole */
    static const char *const none[] = {"id",
                                       "/none",
                                       "/id/0",
                                       "/metadata/a~1b/~0/00",
                                       "/metadata/a~1b/~0/3",
                                       "/metadata/a~1b/~0/-1",
                                       "/metadata/a~1b/~0/99999999999999999999",
                                       "//",
                                       "/metadata"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        assert_null(forage_reply_string(r, "%s", none[i]));
        assert_true(isnan(forage_reply_number(r, "%s", none[i])));
    }
    char longer[2000];
    memset(longer, '/', sizeof longer - 1);
    longer[sizeof longer - 1] = 0;
    assert_null(forage_reply_string(r, "%s", longer));
    assert_int_equal(forage_reply_count(r, "/text"), 0);
    forage_reply_free(r);
    assert_null(forage_reply_string(NULL, "/a"));
    assert_null(forage_reply_json(NULL, &n));
    forage_reply_free(NULL);
    close_fixture(&x);
}

/* Forwards and backwards: 100,000 times 100,000 steps took minutes. */
static void a_loop_over_an_array_takes_time_by_its_length(void **state) {
    (void)state;
    enum { N = 100000 };
    fixture x = open_with(NULL);
    forage_document *d = calloc(N, sizeof *d);
    for (size_t i = 0; i < N; i++) d[i] = (forage_document){.text = "a", .id = ""};
    forage_reply *r = ingest(x.f, d, N, NULL);
    char param[64];
    double began = fo_now_ms();
    for (size_t i = 0; i < forage_reply_count(r, "/results"); i++) {
        snprintf(param, sizeof param, "documents[%zu].id", i);
        assert_string_equal(forage_reply_string(r, "/results/%zu/error/param", i), param);
    }
    for (size_t i = N; i-- > 0;) {
        snprintf(param, sizeof param, "documents[%zu].id", i);
        assert_string_equal(forage_reply_string(r, "/results/%zu/error/param", i), param);
    }
    assert_true(fo_now_ms() - began < 20000);
    assert_int_equal(forage_reply_count(r, "/results"), N);
    assert_null(forage_reply_string(r, "/results/%d/status", N));
    forage_reply_free(r);
    free(d);
    close_fixture(&x);
}

/* In any order, in more arrays than are remembered. */
static void elements_are_where_their_numbers_say(void **state) {
    (void)state;
    enum { ARRAYS = 20, N = 10 };
    fixture x = open_with(NULL);
    fo_buf b = {0};
    for (int k = 0; k < ARRAYS; k++)
        for (int i = 0; i < N; i++)
            i ? fo_buf_printf(&b, ",%d", k * N + i)
              : fo_buf_printf(&b, "%s\"a%d\":[%d", k ? "]," : "{", k, k * N);
    fo_buf_str(&b, "]}");
    put(x.f, "kb-1", pumps, b.data);
    fo_buf_free(&b);
    forage_reply *r;
    assert_int_equal(forage_get(x.f, "kb-1", NULL, &r, NULL), FORAGE_OK);
    uint64_t seed = test_seed();
    for (int round = 0; round < 20000; round++) {
        int k = (int)(test_random(&seed) % (round % 2 ? ARRAYS : 3));
        int i = (int)(test_random(&seed) % (N + 1));
        double v = forage_reply_number(r, "/metadata/a%d/%d", k, i);
        assert_true(i < N ? v == k * N + i : isnan(v));
        if (round % 5 == 0) assert_int_equal(forage_reply_count(r, "/metadata/a%d", k), N);
    }
    assert_int_equal(forage_reply_count(r, "/metadata"), ARRAYS);
    forage_reply_free(r);
    close_fixture(&x);
}

/* What a call says: its code, and words of its sentence or its field. */
static void says(int rc, const forage_error *e, int code, const char *words) {
    assert_int_equal(rc, code);
    assert_int_equal(e->code, code);
    if (!strstr(e->message, words) && !strstr(e->field, words))
        fail_msg("\"%s\" (%s) does not say %s", e->message, e->field, words);
}

static void errors_are_values_that_name_the_field(void **state) {
    (void)state;
    fixture x = open_with(NULL);
    forage_error e;
    forage_reply *r = NULL;
    forage *second = NULL;
    says(forage_query(x.f, "q", "{\"top_q\": 1}", NULL, &r, &e), &e, FORAGE_EINVAL, "top_q");
    says(forage_query(x.f, "q", "{\"top_k\": 0}", NULL, &r, &e), &e, FORAGE_EINVAL, "top_k");
    says(forage_query(x.f, "q", "{\"query\": \"p\"}", NULL, &r, &e), &e, FORAGE_EINVAL, "query");
    says(forage_query(x.f, "q", "[1]", NULL, &r, &e), &e, FORAGE_EINVAL, "options");
    says(forage_query(x.f, "q", "{} {}", NULL, &r, &e), &e, FORAGE_EINVAL, "byte 3");
    says(forage_query(x.f, "q", "{\"a\":", NULL, &r, &e), &e, FORAGE_EINVAL, "options");
    says(forage_query(x.f, "\xff", NULL, NULL, &r, &e), &e, FORAGE_EINVAL, "query");
    says(forage_query(x.f, NULL, NULL, NULL, &r, &e), &e, FORAGE_EINVAL, "query");
    says(forage_query(x.f, "q", NULL, NULL, &r, &e), &e, FORAGE_ENOTFOUND, "collection");
    says(forage_search(x.f, "q", "{\"max_tokens\": 3}", NULL, &r, &e), &e, FORAGE_EINVAL,
         "max_tokens");
    says(forage_generate(x.f, "p", NULL, NULL, &r, &e), &e, FORAGE_EUNSUPPORTED, "model");
    says(forage_get(x.f, "none", NULL, &r, &e), &e, FORAGE_ENOTFOUND, "collection");
    says(forage_delete(x.f, NULL, NULL, &r, &e), &e, FORAGE_EINVAL, "filter");
    says(forage_list(x.f, "{\"collection\": \"a/b\"}", &r, &e), &e, FORAGE_EINVAL, "collection");
    says(forage_delete_collection(x.f, "none", &e), &e, FORAGE_ENOTFOUND, "none");
    says(forage_sync(x.f, "notes", "/nowhere/at/all", NULL, NULL, &r, &e), &e, FORAGE_ENOTFOUND,
         "/nowhere/at/all");
    says(forage_sync(x.f, "../x", "/tmp", NULL, NULL, &r, &e), &e, FORAGE_EINVAL, "name");
    says(forage_ingest(x.f, NULL, 1, NULL, NULL, &r, &e), &e, FORAGE_EINVAL, "documents");
    says(forage_open(&second, x.dir, NULL, NULL, &e), &e, FORAGE_EBUSY, "in use");
    says(forage_open(&second, NULL, NULL, NULL, &e), &e, FORAGE_EINVAL, "home");
    says(forage_open(&second, "/proc/none/home", NULL, NULL, &e), &e, FORAGE_ENOTFOUND, "/proc");
    says(forage_open(&second, x.dir, "{\"modell\": \"x\"}", NULL, &e), &e, FORAGE_EINVAL, "modell");
    says(forage_open(&second, x.dir, "{\"read_only\": true, \"model\": \"/none.gguf\"}", NULL, &e),
         &e, FORAGE_ENOTFOUND, "none.gguf");
    assert_null(second);
    assert_null(r);
    /* Nothing is there to be filled, or to be asked. */
    assert_int_equal(forage_query(x.f, "q", NULL, NULL, NULL, NULL), FORAGE_EINVAL);
    assert_int_equal(forage_query(NULL, "q", NULL, NULL, &r, NULL), FORAGE_EINVAL);
    assert_int_equal(forage_open(NULL, x.dir, NULL, NULL, NULL), FORAGE_EINVAL);
    assert_int_equal(forage_embed(x.f, NULL, 1, 0, (float[1]){0}, NULL), FORAGE_EINVAL);
    assert_int_equal(forage_embed_dim(NULL), 0);
    forage_close(NULL);
    /* And what went well says so. */
    put(x.f, "kb-1", pumps, NULL);
    says(forage_list(x.f, NULL, &r, &e), &e, FORAGE_OK, "");
    forage_reply_free(r);
    close_fixture(&x);
}

static void a_home_is_read_beside_the_one_that_writes_it(void **state) {
    (void)state;
    fixture x = open_with(NULL), other = open_with("{\"threads\": 1, \"cache_bytes\": 0}");
    put(x.f, "kb-1", pumps, NULL);
    forage *reader = NULL;
    forage_error e;
    forage_reply *r = NULL;
    assert_int_equal(forage_open(&reader, x.dir, "{\"read_only\": true}", NULL, &e), FORAGE_OK);
    r = ask(reader, "How often is the south pump serviced?", NULL);
    assert_non_null(strstr(forage_reply_string(r, "/answer"), "250"));
    forage_reply_free(r);
    says(forage_ingest(reader, &(forage_document){.text = "x"}, 1, NULL, NULL, &r, &e), &e,
         FORAGE_EUNSUPPORTED, "read-only");
    says(forage_delete(reader, "kb-1", NULL, &r, &e), &e, FORAGE_EUNSUPPORTED, "read-only");
    says(forage_query(other.f, "pump?", NULL, NULL, &r, &e), &e, FORAGE_ENOTFOUND, "collection");
    forage_close(reader);
    close_fixture(&other);
    close_fixture(&x);
}

static void write_file(const char *path, const char *text) {
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static void documents_come_as_text_bytes_and_files(void **state) {
    (void)state;
    fixture x = open_with(NULL);
    char *files = test_folder(), page[4200], pipe[4200], none[4200];
    snprintf(page, sizeof page, "%s/page.html", files);
    snprintf(pipe, sizeof pipe, "%s/pipe", files);
    snprintf(none, sizeof none, "%s/none.txt", files);
    write_file(page, "<title>Boats</title><p>The boat Grebe carries four people.</p>");
    assert_int_equal(mkfifo(pipe, 0600), 0);
    static const char markdown[] = "# Weirs\n\nThe weir is opened in March.\n";
    const forage_document d[] = {
        {.path = page, .metadata = "{\"kind\": \"boat\"}"},
        {.path = none},
        {.path = pipe},
        {.bytes = markdown, .n_bytes = strlen(markdown), .id = "weirs", .type = "text/markdown"},
        {.text = "<p>No markup, text.</p>"}};
    forage_reply *r = ingest(x.f, d, 5,
                             "{\"collection\": \"site\", \"chunking\": {\"max_tokens\": 64, "
                             "\"overlap\": 8}}");
    assert_string_equal(forage_reply_string(r, "/collection"), "site");
    static const char *const status[] = {"created", "failed", "failed", "created", "created"};
    for (int i = 0; i < 5; i++)
        assert_string_equal(forage_reply_string(r, "/results/%d/status", i), status[i]);
    assert_string_equal(forage_reply_string(r, "/results/0/id"), page);
    assert_non_null(strstr(forage_reply_string(r, "/results/1/error/message"), "none.txt"));
    assert_non_null(strstr(forage_reply_string(r, "/results/2/error/message"), "no file"));
    forage_reply_free(r);

    const char *in_site = "{\"collection\": \"site\"}";
    assert_int_equal(forage_get(x.f, page, in_site, &r, NULL), FORAGE_OK);
    assert_string_equal(forage_reply_string(r, "/title"), "Boats");
    assert_string_equal(forage_reply_string(r, "/metadata/kind"), "boat");
    forage_reply_free(r);
    assert_int_equal(forage_list(x.f, "{\"collection\": \"site\", \"limit\": 2}", &r, NULL),
                     FORAGE_OK);
    assert_int_equal(forage_reply_count(r, "/data"), 2);
    assert_int_equal(forage_reply_number(r, "/has_more"), 1);
    forage_reply_free(r);
    assert_int_equal(forage_collections(x.f, &r, NULL), FORAGE_OK);
    assert_string_equal(forage_reply_string(r, "/data/0/name"), "site");
    assert_int_equal(forage_reply_number(r, "/data/0/documents"), 3);
    forage_reply_free(r);

    assert_int_equal(forage_delete(x.f, "weirs", in_site, &r, NULL), FORAGE_OK);
    assert_int_equal(forage_reply_number(r, "/deleted"), 1);
    forage_reply_free(r);
    for (int i = 0; i < 2; i++) {
        char options[300];
        snprintf(options, sizeof options,
                 "{\"collection\": \"site\", \"dry_run\": %s, \"filter\": {\"type\": \"eq\", "
                 "\"key\": \"kind\", \"value\": \"boat\"}}",
                 i ? "false" : "true");
        assert_int_equal(forage_delete(x.f, NULL, options, &r, NULL), FORAGE_OK);
        assert_int_equal(forage_reply_number(r, "/matched"), 1);
        assert_int_equal(forage_reply_number(r, "/deleted"), i);
        forage_reply_free(r);
    }
    assert_int_equal(forage_delete_collection(x.f, "site", NULL), FORAGE_OK);
    assert_int_equal(forage_collections(x.f, &r, NULL), FORAGE_OK);
    assert_int_equal(forage_reply_count(r, "/data"), 0);
    forage_reply_free(r);
    test_remove(files);
    close_fixture(&x);
}

static void wrong_uses_are_refused_before_anything_is_stored(void **state) {
    (void)state;
    fixture x = open_with(NULL);
    const struct {
        forage_document d;
        const char *words;
    } wrong[] = {
        {{0}, "none of text"},
        {{.text = "a", .path = "b"}, "more than one"},
        {{.text = "a", .reserved = {NULL, "x"}}, "reserved[1]"},
    };
    forage_error e;
    forage_reply *r = NULL;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const forage_document d[] = {{.text = "It is well."}, wrong[i].d};
        says(forage_ingest(x.f, d, 2, NULL, NULL, &r, &e), &e, FORAGE_EINVAL, wrong[i].words);
    }
    says(forage_ingest(x.f, &(forage_document){.text = "a"}, 1,
                       "{\"chunking\": {\"max_tokens\": 32, \"overlap\": 16}}", NULL, &r, &e),
         &e, FORAGE_EINVAL, "overlap");
    says(forage_ingest(x.f, &(forage_document){.text = "a"}, 1, "{\"wait\": true}", NULL, &r, &e),
         &e, FORAGE_EINVAL, "wait");
    assert_null(r);
    assert_int_equal(forage_info(x.f, &r, NULL), FORAGE_OK);
    assert_int_equal(forage_reply_number(r, "/documents"), 0);
    forage_reply_free(r);
    close_fixture(&x);
}

/* As POST /ingest has it: the others go in, and the rows keep their order. */
static void a_wrong_document_fails_alone(void **state) {
    (void)state;
    fixture x = open_with(NULL);
    static char longer[5001];
    memset(longer, 'x', sizeof longer - 1);
    const struct {
        forage_document d;
        const char *param, *id;
    } wrong[] = {
        {{.text = "a", .id = ""}, "id", NULL},
        {{.text = "a", .id = longer}, "id", NULL},
        {{.text = "a", .id = "\xc3"}, "id", NULL},
        {{.text = "a", .id = "b", .title = longer}, "title", "b"},
        {{.text = "a", .title = "\xc3"}, "title", NULL},
        {{.path = "/none/such", .metadata = "[]"}, "metadata", "/none/such"},
        {{.text = "a", .metadata = "{\"a\":1,\"a\":2}"}, "metadata", NULL},
        {{.text = "a", .acl = "{}"}, "acl", NULL},
        {{.text = "a", .acl = "[1]"}, "acl", NULL},
    };
    enum { WRONG = sizeof wrong / sizeof *wrong };
    forage_document d[2 * WRONG];
    for (size_t i = 0; i < WRONG; i++) {
        d[2 * i] = wrong[i].d;
        d[2 * i + 1] = (forage_document){.text = "It is well.", .id = wrong[i].param};
    }
    forage_reply *r = ingest(x.f, d, 2 * WRONG, NULL);
    assert_int_equal(forage_reply_count(r, "/results"), 2 * WRONG);
    for (size_t i = 0; i < WRONG; i++) {
        char param[64];
        snprintf(param, sizeof param, "documents[%zu].%s", 2 * i, wrong[i].param);
        assert_string_equal(forage_reply_string(r, "/results/%zu/status", 2 * i), "failed");
        assert_string_equal(forage_reply_string(r, "/results/%zu/error/param", 2 * i), param);
        const char *id = forage_reply_string(r, "/results/%zu/id", 2 * i);
        assert_true(wrong[i].id ? id && !strcmp(id, wrong[i].id) : !id);
        assert_string_equal(forage_reply_string(r, "/results/%zu/id", 2 * i + 1), wrong[i].param);
        assert_string_not_equal(forage_reply_string(r, "/results/%zu/status", 2 * i + 1), "failed");
    }
    forage_reply_free(r);
    close_fixture(&x);
}

static void archives_are_read_apart_or_refused(void **state) {
    (void)state;
    char *files = test_folder(), command[9000], archive[4200], options[4300];
    const char *build = getenv("BUILD");
    snprintf(archive, sizeof archive, "%s/notes.tar.gz", files);
    snprintf(command, sizeof command,
             "cd '%s' && echo 'Swans are white.' >swans.txt && tar czf notes.tar.gz swans.txt",
             files);
    assert_int_equal(system(command), 0);
    snprintf(options, sizeof options, "{\"extractor\": \"%s/forage-extract\"}",
             build ? build : "build");
    for (int i = 0; i < 2; i++) {
        fixture x = open_with(i ? options : NULL);
        forage_reply *r = ingest(x.f, &(forage_document){.path = archive, .id = "notes"}, 1, NULL);
        assert_string_equal(forage_reply_string(r, "/results/0/status"), i ? "created" : "failed");
        if (i)
            assert_string_equal(forage_reply_string(r, "/results/0/id"), "notes/swans.txt");
        else
            assert_non_null(strstr(forage_reply_string(r, "/results/0/error/message"), "process"));
        forage_reply_free(r);
        close_fixture(&x);
    }
    test_remove(files);
}

static void a_folder_is_kept_in_step(void **state) {
    (void)state;
    fixture x = open_with(NULL);
    char *files = test_folder(), path[4200];
    forage_reply *r;
    forage_error e;
    snprintf(path, sizeof path, "%s/b.txt", files);
    write_file(path, "Birches are white.");
    snprintf(path, sizeof path, "%s/a.txt", files);
    write_file(path, "Alders grow at the water.");
    for (int i = 0; i < 2; i++) {
        assert_int_equal(forage_sync(x.f, "notes", files, NULL, NULL, &r, &e), FORAGE_OK);
        assert_int_equal(forage_reply_number(r, "/created"), i ? 0 : 2);
        assert_int_equal(forage_reply_number(r, "/removed"), i);
        forage_reply_free(r);
        unlink(path);
    }
    r = NULL;
    says(forage_sync(x.f, "notes", files, "{\"max_deletes\": \"many\"}", NULL, &r, &e), &e,
         FORAGE_EINVAL, "max_deletes");
    test_remove(files);
    close_fixture(&x);
}

static void large_files_are_left_out_and_failed_ones_tried_again(void **state) {
    (void)state;
    static char page[2 << 20];
    fixture x = open_with("{\"ingest_memory\": 1048576}");
    char *files = test_folder(), path[4200];
    forage_reply *r = NULL;
    forage_error e;
    snprintf(path, sizeof path, "%s/larger.txt", files);
    write_file(path, "Larger than 64 MiB.");
    assert_int_equal(truncate(path, (64 << 20) + 1), 0);
    for (size_t i = 0; i + 1 < sizeof page; i++) page[i] = "<p>Reeds. "[i % 10];
    snprintf(path, sizeof path, "%s/page.html", files);
    write_file(path, page);
    for (int i = 0; i < 3; i++) {
        if (i == 2) forage_close(x.f); /* the page has not changed, and there is room for it now */
        if (i == 2) assert_int_equal(forage_open(&x.f, x.dir, NULL, NULL, &e), FORAGE_OK);
        const char *options = i ? NULL : "{\"max_file\": 100}";
        assert_int_equal(forage_sync(x.f, "large", files, options, NULL, &r, &e), FORAGE_OK);
        assert_int_equal(forage_reply_number(r, "/failed"), i == 1);
        assert_int_equal(forage_reply_number(r, "/skipped"), i ? 1 : 2);
        forage_reply_free(r);
    }
    test_remove(files);
    close_fixture(&x);
}

/* ---- events ----------------------------------------------------------------------------------- */

typedef struct heard {
    int n[6];   /* by name */
    int end_at; /* the event that ends the call; 0: none */
    int all;
    char text[4096];
} heard;

static int listen(void *ctx, const char *name, const forage_reply *data) {
    static const char *const names[] = {"contexts", "draft",    "token",
                                        "citation", "progress", "notice"};
    heard *h = ctx;
    size_t i = 0;
    while (i < 6 && strcmp(names[i], name)) i++;
    assert_true(i < 6);
    h->n[i]++;
    if (i == 2) strncat(h->text, forage_reply_string(data, "/text"), 1000);
    if (i == 0) assert_true(forage_reply_count(data, "/contexts") > 0);
    return ++h->all == h->end_at;
}

static void answers_and_progress_are_told_as_they_come(void **state) {
    (void)state;
    fixture x = open_with(NULL);
    heard h = {0};
    forage_listener l = {listen, &h, NULL};
    forage_reply *r = NULL;
    forage_error e;
    enum { MANY = 300 };
    static char ids[MANY][16];
    static forage_document d[MANY];
    for (int i = 0; i < MANY; i++) {
        snprintf(ids[i], sizeof ids[i], "n-%d", i);
        d[i] = (forage_document){.id = ids[i], .text = "Nothing is said of pumps here."};
    }
    d[0].text = pumps;
    assert_int_equal(forage_ingest(x.f, d, MANY, NULL, &l, &r, &e), FORAGE_OK);
    assert_true(h.n[4] >= 2);
    forage_reply_free(r);

    h = (heard){0};
    assert_int_equal(forage_query(x.f, "How often is the north pump serviced?", NULL, &l, &r, &e),
                     FORAGE_OK);
    assert_int_equal(h.n[0], 1);
    assert_true(h.n[2] >= 1 && h.n[3] >= 1);
    assert_string_equal(h.text, forage_reply_string(r, "/answer"));
    forage_reply_free(r);
    r = NULL;

    h = (heard){.end_at = 1};
    says(forage_query(x.f, "How often is the south pump serviced?", NULL, &l, &r, &e), &e,
         FORAGE_ECANCELLED, "");
    h = (heard){.end_at = 1};
    says(forage_ingest(x.f, d, MANY, "{\"collection\": \"b\"}", &l, &r, &e), &e, FORAGE_ECANCELLED,
         "");
    assert_null(r);
    assert_int_equal(h.all, 1);
    close_fixture(&x);
}

static void a_stop_ends_calls_that_run_and_that_begin(void **state) {
    (void)state;
    fixture x = open_with(NULL);
    put(x.f, "kb-1", pumps, NULL);
    forage_stop *stop = forage_stop_create();
    heard h = {0};
    forage_listener l = {.stop = stop}, both = {listen, &h, stop};
    forage_reply *r = NULL;
    forage_error e;
    assert_int_equal(forage_search(x.f, "pump", NULL, &l, &r, &e), FORAGE_OK);
    forage_reply_free(r);
    r = NULL;
    /* The end of one call is not that of others that the stop could end. */
    h = (heard){.end_at = 1};
    says(forage_query(x.f, "How often is the north pump serviced?", NULL, &both, &r, &e), &e,
         FORAGE_ECANCELLED, "");
    assert_int_equal(forage_search(x.f, "north pump", NULL, &l, &r, &e), FORAGE_OK);
    forage_reply_free(r);
    r = NULL;
    forage_stop_now(stop);
    says(forage_query(x.f, "How often is the north pump serviced?", NULL, &l, &r, &e), &e,
         FORAGE_ECANCELLED, "");
    says(forage_ingest(x.f, &(forage_document){.text = "a"}, 1, NULL, &l, &r, &e), &e,
         FORAGE_ECANCELLED, "");
    assert_null(r);
    forage_stop_free(stop);
    forage_stop_free(NULL);
    forage_stop_now(NULL);
    close_fixture(&x);
}

static void notices_say_what_was_mended(void **state) {
    (void)state;
    char *dir = test_folder();
    heard h = {0};
    forage_listener l = {listen, &h, NULL};
    forage *f = NULL;
    assert_int_equal(forage_open(&f, dir, NULL, NULL, NULL), FORAGE_OK);
    forage_close(f);
    assert_int_equal(chmod(dir, 0755), 0);
    assert_int_equal(forage_open(&f, dir, NULL, &l, NULL), FORAGE_OK);
    forage_close(f);
    assert_true(h.n[5] >= 1);
    test_remove(dir);
}

/* ---- models ----------------------------------------------------------------------------------- */

static void a_model_writes_and_is_held_to_a_schema(void **state) {
    (void)state;
    char *dir = test_folder(), path[4200], options[4400];
    snprintf(path, sizeof path, "%s/m.gguf", dir);
    chain_model_write(path, "The heron stands @");
    snprintf(options, sizeof options, "{\"model\": \"%s\", \"kv_ram\": 16777216}", path);
    fixture x = open_with(options);
    heard h = {0};
    forage_listener l = {listen, &h, NULL};
    forage_reply *r = NULL;
    forage_error e;
    assert_int_equal(forage_generate(x.f, "Say it.", "{\"max_tokens\": 7}", &l, &r, &e), FORAGE_OK);
    assert_non_null(strstr(forage_reply_string(r, "/text"), "The heron stands"));
    assert_string_equal(h.text, forage_reply_string(r, "/text"));
    assert_string_equal(forage_reply_string(r, "/finish_reason"), "length");
    assert_int_equal(forage_reply_number(r, "/usage/completion_tokens"), 7);
    forage_reply_free(r);
    assert_int_equal(
        forage_generate(x.f, NULL,
                        "{\"messages\": [{\"role\": \"system\", \"content\": \"Be brief.\"}, "
                        "{\"role\": \"user\", \"content\": \"Go.\"}], \"stop\": [\"stands\"]}",
                        NULL, &r, &e),
        FORAGE_OK);
    assert_null(strstr(forage_reply_string(r, "/text"), "stands"));
    assert_string_equal(forage_reply_string(r, "/finish_reason"), "stop_sequence");
    forage_reply_free(r);
    assert_int_equal(
        forage_generate(x.f, "A", "{\"schema\": {\"enum\": [\"yes\", \"no\"]}}", NULL, &r, &e),
        FORAGE_OK);
    const char *text = forage_reply_string(r, "/text");
    text += strspn(text, " \t\r\n"); /* JSON may begin with blanks */
    assert_true(!strcmp(text, "\"yes\"") || !strcmp(text, "\"no\""));
    forage_reply_free(r);
    r = NULL;
    h = (heard){.end_at = 2};
    says(forage_generate(x.f, "Say it.", "{\"max_tokens\": 1000}", &l, &r, &e), &e,
         FORAGE_ECANCELLED, "");
    assert_true(h.all < 100);
    says(forage_generate(x.f, NULL, NULL, NULL, &r, &e), &e, FORAGE_EINVAL, "prompt");
    says(forage_generate(x.f, "p", "{\"messages\": [{\"role\": \"tool\", \"content\": \"x\"}]}",
                         NULL, &r, &e),
         &e, FORAGE_EINVAL, "role");
    says(forage_generate(x.f, "p", "{\"schema\": {\"type\": \"nothing\"}}", NULL, &r, &e), &e,
         FORAGE_EINVAL, "#/type");
    char long_stop[1100];
    snprintf(long_stop, sizeof long_stop, "{\"stop\": [\"%01025d\"]}", 0);
    says(forage_generate(x.f, "p", long_stop, NULL, &r, &e), &e, FORAGE_EINVAL, "stop");
    says(forage_generate(x.f, "p", "{\"stop\": [\"\"]}", NULL, &r, &e), &e, FORAGE_EINVAL, "stop");
    assert_null(r);
    assert_int_equal(forage_info(x.f, &r, NULL), FORAGE_OK);
    assert_non_null(forage_reply_string(r, "/model"));
    forage_reply_free(r);
    close_fixture(&x);
    test_remove(dir);
}

static void vectors_have_unit_length_and_depend_on_their_text_alone(void **state) {
    (void)state;
    fixture x = open_with(NULL);
    size_t dim = forage_embed_dim(x.f);
    assert_true(dim > 0);
    float *v = malloc(3 * dim * sizeof *v), *alone = malloc(dim * sizeof *v);
    const char *const texts[] = {"a rowing boat", "the weir in March", "a rowing boat"};
    forage_error e;
    assert_int_equal(forage_embed(x.f, texts, 3, 0, v, &e), FORAGE_OK);
    assert_int_equal(forage_embed(x.f, texts + 1, 1, 0, alone, &e), FORAGE_OK);
    assert_memory_equal(v, v + 2 * dim, dim * sizeof *v);
    assert_memory_equal(alone, v + dim, dim * sizeof *v);
    double length = 0;
    for (size_t i = 0; i < dim; i++) length += (double)v[i] * (double)v[i];
    assert_true(fabs(length - 1) < 1e-4);
    says(forage_embed(x.f, (const char *const[]){"a", NULL}, 2, 1, v, &e), &e, FORAGE_EINVAL,
         "texts[1]");
    assert_int_equal(forage_embed(x.f, texts, 0, 1, v, &e), FORAGE_OK);
    free(v);
    free(alone);
    close_fixture(&x);
}

/* ---- many threads, hostile words ---------------------------------------------------------------- */

typedef struct crowd {
    forage *f;
    int number;
    forage_stop *stop;
    atomic_int *n_right;
} crowd;

static void *work(void *arg) {
    const crowd *c = arg;
    forage_listener l = {.stop = c->stop};
    for (int i = 0; i < 12; i++) {
        forage_reply *r = NULL;
        char id[32], text[100];
        snprintf(id, sizeof id, "t-%d-%d", c->number, i);
        snprintf(text, sizeof text, "Lamp %d of room %d is blue.", i, c->number);
        forage_document d = {.id = id, .text = text};
        if (c->number % 2 && !forage_ingest(c->f, &d, 1, NULL, NULL, &r, NULL))
            forage_reply_free(r);
        if (!forage_query(c->f, "How often is the south pump serviced?", "{\"cache\": \"bypass\"}",
                          &l, &r, NULL)) {
            if (strstr(forage_reply_string(r, "/answer"), "250 hours"))
                atomic_fetch_add(c->n_right, 1);
            forage_reply_free(r);
        }
    }
    return NULL;
}

static void many_threads_use_one_home(void **state) {
    (void)state;
    fixture x = open_with(NULL);
    put(x.f, "kb-1", pumps, NULL);
    atomic_int n_right = 0;
    forage_stop *stop = forage_stop_create();
    pthread_t threads[6];
    crowd c[6];
    for (int i = 0; i < 6; i++) {
        c[i] = (crowd){x.f, i, stop, &n_right};
        assert_int_equal(pthread_create(&threads[i], NULL, work, &c[i]), 0);
    }
    for (int i = 0; i < 6; i++) pthread_join(threads[i], NULL);
    assert_int_equal(n_right, 6 * 12);
    forage_stop_free(stop);
    close_fixture(&x);
}

static void damaged_options_are_refused_and_hurt_nothing(void **state) {
    (void)state;
    fixture x = open_with(NULL);
    put(x.f, "kb-1", pumps, NULL);
    static const char whole[] =
        "{\"top_k\": 3, \"search\": {\"mode\": \"sparse\"}, \"filter\": {\"type\": \"and\", "
        "\"filters\": []}, "
        "\"stop\": [\"a\\u00e9\"], \"include\": [\"contexts\"], \"max_tokens\": 12}";
    uint64_t seed = test_seed();
    for (size_t round = 0; round < test_rounds(4000); round++) {
        char o[sizeof whole];
        memcpy(o, whole, sizeof whole);
        size_t n = sizeof whole - 1;
        for (uint64_t k = test_random(&seed) % 4 + 1; k; k--) {
            size_t at = test_random(&seed) % n;
            uint64_t how = test_random(&seed) % 3;
            if (how == 0)
                o[at] = (char)(test_random(&seed) % 255 + 1);
            else if (how == 1)
                o[at] = "{}[]\",:0-\\"[test_random(&seed) % 10];
            else
                o[n = at + 1] = 0;
        }
        forage_reply *r = NULL;
        forage_error e;
        int rc = round % 3 == 0   ? forage_query(x.f, "pump?", o, NULL, &r, &e)
                 : round % 3 == 1 ? forage_list(x.f, o, &r, &e)
                                  : forage_ingest(x.f, NULL, 0, o, NULL, &r, &e);
        assert_int_equal(rc, e.code);
        if (rc) {
            assert_true(e.message[0]);
            assert_null(r);
        }
        forage_reply_free(r);
    }
    char *deep = malloc(200001);
    memset(deep, '[', 200000);
    memcpy(deep, "{\"a\":", 5);
    deep[200000] = 0;
    forage_error e;
    forage_reply *r = NULL;
    assert_int_equal(forage_query(x.f, "q", deep, NULL, &r, &e), FORAGE_EINVAL);
    assert_int_equal(forage_list(x.f, deep, &r, &e), FORAGE_EINVAL);
    free(deep);
    char *longer = malloc(200001);
    memset(longer, 'q', 200000);
    longer[200000] = 0;
    assert_int_equal(forage_query(x.f, longer, NULL, NULL, &r, &e), FORAGE_EINVAL);
    assert_int_equal(forage_open(&(forage *){NULL}, longer, NULL, NULL, &e) != FORAGE_OK, 1);
    free(longer);
    close_fixture(&x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_cite_the_documents_that_were_put_in),
        cmocka_unit_test(replies_are_read_by_pointers),
        cmocka_unit_test(a_loop_over_an_array_takes_time_by_its_length),
        cmocka_unit_test(elements_are_where_their_numbers_say),
        cmocka_unit_test(errors_are_values_that_name_the_field),
        cmocka_unit_test(a_home_is_read_beside_the_one_that_writes_it),
        cmocka_unit_test(documents_come_as_text_bytes_and_files),
        cmocka_unit_test(wrong_uses_are_refused_before_anything_is_stored),
        cmocka_unit_test(a_wrong_document_fails_alone),
        cmocka_unit_test(archives_are_read_apart_or_refused),
        cmocka_unit_test(a_folder_is_kept_in_step),
        cmocka_unit_test(large_files_are_left_out_and_failed_ones_tried_again),
        cmocka_unit_test(answers_and_progress_are_told_as_they_come),
        cmocka_unit_test(a_stop_ends_calls_that_run_and_that_begin),
        cmocka_unit_test(notices_say_what_was_mended),
        cmocka_unit_test(a_model_writes_and_is_held_to_a_schema),
        cmocka_unit_test(vectors_have_unit_length_and_depend_on_their_text_alone),
        cmocka_unit_test(many_threads_use_one_home),
        cmocka_unit_test(damaged_options_are_refused_and_hurt_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
