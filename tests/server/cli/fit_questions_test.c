/* fit_questions_test.c - a collection fitted to questions that a model writes over it: what passes for a question, what is
 * chosen by one half and checked by the other, and that only a gain is stored. The model is a script. */
#include "server/cli/fit_questions.h"

#include <cjson/cJSON.h>

#include "kernels/file.h"
#include "retrieval/collections/catalog.h"
#include "retrieval/service/own_questions.h"
#include "tests/retrieval/scripted_generator.h"

static void a_question_is_told_from_other_writing(void **state) {
    (void)state;
    static const struct {
        const char *written, *question; /* NULL: none */
    } cases[] = {
        {"How deep is the lake near the mill?", "How deep is the lake near the mill?"},
        {"  \"How deep is the lake near the mill?\"\nA: 4 m",
         "How deep is the lake near the mill?"},
        {"Question: How deep is the lake here?", "How deep is the lake here?"},
        {"1. How deep is the lake here?", "How deep is the lake here?"},
        {"2) How deep is the lake here?", "How deep is the lake here?"},
        {"3.5 million people live in which city?", "3.5 million people live in which city?"},
        {"1. 3.5 million people live in which city?", "3.5 million people live in which city?"},
        {"- **How deep is the lake here?**", "How deep is the lake here?"},
        {"The lake is deep.", NULL},
        {"How deep?", NULL},
        {"What does the passage say about lakes?", NULL},
        {"According to the text, how deep is the lake?", NULL},
        {"?", NULL},
        {"", NULL},
    };
    char out[100];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const bool is =
            own_question_of(cases[i].written, strlen(cases[i].written), out, sizeof out);
        if (is != (cases[i].question != NULL)) fail_msg("'%s'", cases[i].written);
        if (is) assert_string_equal(out, cases[i].question);
    }
    assert_false(own_question_of("How deep is the lake here?", 26, out, 20)); /* no room */
}

static void a_passage_begins_and_ends_with_sentences(void **state) {
    (void)state;
    fo_buf text = {0};
    for (int i = 0; i < 200; i++)
        fo_buf_printf(&text, "Sentence %d tells of \xC3\xBC and more. ", i);
    for (size_t at = 0; at < text.len; at += 37) {
        size_t a, b;
        own_question_passage(text.data, text.len, at, &a, &b);
        assert_true(a <= b && b <= text.len && b - a <= 1300);
        assert_memory_equal(text.data + a, "Sentence", b - a > 8 ? 8 : b - a);
        if (b < text.len) assert_memory_equal(text.data + b - 2, ". ", 2);
    }
    size_t a, b;
    own_question_passage("", 0, 0, &a, &b);
    assert_true(a == 0 && b == 0);
    fo_buf_free(&text);
}

static void a_threshold_tells_two_lists_apart(void **state) {
    (void)state;
    const double high[] = {.7, .8, .62, .9}, low[] = {.3, .5, .58, .1};
    assert_true(fit_threshold(high, 4, low, 4, .45) == .59); /* the nearest of .59 .. .62 */
    assert_true(fit_threshold(high, 4, low, 4, .8) == .62);
    assert_true(fit_threshold(high, 4, low, 4, .6) == .6); /* no better one */
    assert_true(fit_threshold(high, 0, low, 4, .45) == .45);
}

/* ---- a service --------------------------------------------------------------------------------- */

enum { DOCUMENTS = 80 };
static const char *const animals[] = {"heron", "otter", "badger", "kestrel", "adder", "salmon"};
static const char *const places[] = {"weir",   "mill",  "marsh",  "quarry", "orchard",
                                     "bridge", "ferry", "chapel", "meadow", "harbour",
                                     "cave",   "ridge", "spring", "dyke",   "moor",
                                     "copse",  "ford",  "lock",   "jetty",  "barn"};

static void text_of(int i, char out[400]) {
    snprintf(out, 400,
             "The %s of the %s was counted by the warden in the spring of the year %d. It was seen "
             "on %d "
             "mornings, mostly in the rain, and the warden wrote down its weight as %d grams.",
             animals[i % 6], places[i / 6], 1900 + i, 3 + i, 1000 + 7 * i);
}

/* What a good model would ask: animal and place are those of the prompt. */
static const char *ask_well(const char *prompt) {
    static char out[200];
    const char *the = strstr(prompt, "The ");
    char animal[20] = "", place[20] = "";
    if (!the || sscanf(the, "The %19s of the %19s", animal, place) != 2) return "I do not know.";
    snprintf(out, sizeof out, "How heavy was the %s near the %s?", animal, place);
    return out;
}

static service *open_home(script *p, const char *dir, bool read_only) {
    service *s;
    fo_err err = {0};
    const service_options o = {
        .home = dir, .generator = scripted_generator(p), .n_threads = 2, .read_only = read_only};
    assert_ok(service_open(&s, &o, &err), &err);
    return s;
}

static void put_text(service *s, const char *id, const char *title, const char *text) {
    fo_err err = {0};
    ingest_document d = {.id = id, .title = title, .bytes = text, .n_bytes = strlen(text)};
    ingest_result result;
    ingest_report report;
    ingest_options opt = {.tenant = "default", .collection = "default", .overlap = SIZE_MAX};
    assert_ok(service_ingest(s, &opt, &d, 1, &result, &report, &err), &err);
    assert_int_equal(result.status, INGEST_CREATED);
    ingest_result_deinit(&result);
}

static void fill(service *s) {
    for (int i = 0; i < DOCUMENTS; i++) {
        char id[8], text[400];
        snprintf(id, sizeof id, "d%d", i);
        text_of(i, text);
        put_text(s, id, NULL, text);
    }
}

static cJSON *fit_home(service *s, const fit_questions_options *o) {
    fo_buf report = {0};
    fo_err err = {0};
    assert_ok(fit_questions_run(s, o, &report, &err), &err);
    cJSON *root = cJSON_ParseWithLength(report.data, report.len);
    assert_non_null(root);
    fo_buf_free(&report);
    return root;
}

static double number(const cJSON *root, const char *a, const char *b, const char *c) {
    const cJSON *v = cJSON_GetObjectItem(root, a);
    if (b) v = cJSON_GetObjectItem(v, b);
    if (c) v = cJSON_GetObjectItem(v, c);
    assert_true(cJSON_IsNumber(v));
    return v->valuedouble;
}

static double alpha_of(service *s) {
    store_collection c;
    fo_err err = {0};
    assert_ok(catalog_get_collection(service_catalog(s), "default", "default", &c, &err), &err);
    const double alpha = c.alpha;
    store_collection_deinit(&c);
    return alpha;
}

static void what_is_better_on_other_questions_is_stored(void **state) {
    (void)state;
    static script p;
    p = (script){.says_of = ask_well};
    char *dir = test_folder(), path[300], qrels[310];
    service *s = open_home(&p, dir, false);
    fill(s);
    snprintf(path, sizeof path, "%s/q.jsonl", dir);
    snprintf(qrels, sizeof qrels, "%s.qrels", path);
    fit_questions_options o = {
        .collection = "default", .out = path, .count = DOCUMENTS, .seed = 3, .dry_run = true};
    cJSON *dry = fit_home(s, &o);
    assert_true(alpha_of(s) == -1);
    o.dry_run = false;
    cJSON *r = fit_home(s, &o);
    assert_true(cJSON_Compare(cJSON_GetObjectItem(dry, "dense_weight"),
                              cJSON_GetObjectItem(r, "dense_weight"), true));
    const double n = number(r, "questions", NULL, NULL);
    assert_true(n > DOCUMENTS / 2 && n <= DOCUMENTS);
    const double before = number(r, "dense_weight", "held_out", "before");
    const double after = number(r, "dense_weight", "held_out", "after");
    const bool kept =
        cJSON_IsTrue(cJSON_GetObjectItem(cJSON_GetObjectItem(r, "dense_weight"), "kept"));
    assert_true(kept ? after > before : after < before + .006); /* figures are rounded to .001 */
    assert_true(kept ? alpha_of(s) == number(r, "dense_weight", "chosen", NULL)
                     : alpha_of(s) == -1);
    size_t size;
    char *text = NULL;
    fo_err err = {0};
    assert_ok(fo_file_read(qrels, 1 << 20, &text, &size, &err), &err);
    size_t lines = 0;
    for (size_t i = 0; i < size; i++) lines += text[i] == '\n';
    assert_int_equal(lines, (size_t)n);
    free(text);
    cJSON_Delete(dry);
    cJSON_Delete(r);
    service_close(s);
    test_remove(dir);
}

static void what_cannot_be_fitted_is_refused(void **state) {
    (void)state;
    static script p;
    p = (script){.says = "I would rather not."};
    char *dir = test_folder();
    fo_err err = {0};
    fo_buf report = {0};
    service *s = open_home(&p, dir, false);
    fit_questions_options o = {.collection = "default", .count = 50, .seed = 1};
    assert_int_equal(fit_questions_run(s, &o, &report, &err), FO_ENOTFOUND);
    fill(s);
    assert_int_equal(fit_questions_run(s, &o, &report, &err), FO_EIO);
    assert_non_null(strstr(err.msg, "no question"));
    p.says = "How many animals are there in all?"; /* always the same */
    assert_int_equal(fit_questions_run(s, &o, &report, &err), FO_EINVAL);
    assert_non_null(strstr(err.msg, "--count"));
    service_close(s);
    s = NULL;
    assert_ok(service_open(&s, &(service_options){.home = dir, .n_threads = 1}, &err), &err);
    assert_int_equal(fit_questions_run(s, &o, &report, &err), FO_EUNSUPPORTED);
    service_close(s);
    fo_buf_free(&report);
    test_remove(dir);
}

/* Its title alone is more than the prompt takes. */
static void put_long_title(service *s) {
    fo_buf title = {0};
    char text[400];
    fo_buf_char(&title, 'x'); /* so that the cut falls within a character */
    for (int i = 0; i < 1300; i++) fo_buf_str(&title, "\xC3\xBC ");
    text_of(1, text);
    put_text(s, "long", title.data, text);
    fo_buf_free(&title);
}

/* Is one of the questions of that document? */
static bool is_asked_about(service *s, const char *document) {
    own_question *list;
    size_t n;
    fo_err err = {0};
    bool is = false;
    const own_question_request q = {
        .tenant = "default", .collection = "default", .n = 8, .seed = 1};
    assert_ok(service_write_questions(s, &q, &list, &n, &err), &err);
    for (size_t i = 0; i < n; i++) is |= !strcmp(list[i].document, document);
    own_questions_free(list, n);
    return is;
}

static void a_long_title_is_cut_and_ends_nothing(void **state) {
    (void)state;
    static script p;
    for (int small = 0; small < 2; small++) {
        char *dir = test_folder(), text[400];
        p = (script){.says_of = ask_well, .window = small ? 135 : 0};
        service *s = open_home(&p, dir, false);
        put_long_title(s);
        text_of(8, text);
        put_text(s, "short", NULL, text);
        assert_true(is_asked_about(s, "short"));
        assert_int_equal(is_asked_about(s, "long"), !small);
        bool cut = false; /* between characters */
        for (int i = 0; i < p.n_prompts && i < SCRIPT_PROMPTS; i++)
            cut |= strstr(p.prompts[i], "\xC3\xBC \". Write one") != NULL;
        assert_int_equal(cut, !small);
        service_close(s);
        test_remove(dir);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_question_is_told_from_other_writing),
        cmocka_unit_test(a_passage_begins_and_ends_with_sentences),
        cmocka_unit_test(a_threshold_tells_two_lists_apart),
        cmocka_unit_test(what_is_better_on_other_questions_is_stored),
        cmocka_unit_test(what_cannot_be_fitted_is_refused),
        cmocka_unit_test(a_long_title_is_cut_and_ends_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
