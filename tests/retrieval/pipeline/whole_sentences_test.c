/* However a document is wrapped and however small its chunks are, an answer shows whole sentences of
 * it, or an ellipsis where something is missing. */
#include "tests/test.h"

#include <cjson/cJSON.h>
#include <dirent.h>

#include "data/chunk/chunk.h"
#include "kernels/file.h"
#include "kernels/utf8.h"
#include "retrieval/service/service_store.h"
#include "retrieval/service/service.h"
#include "tests/retrieval/service/home_fixture.h"

#define ELLIPSIS "\xE2\x80\xA6"
static const size_t chunk_sizes[] = {16, 24, 48, 256};
enum { N_SIZES = sizeof chunk_sizes / sizeof *chunk_sizes };

static query_result ask(service *s, const char *collection, const char *question,
                        size_t sentences) {
    fo_err err = {0};
    query_request q = {.tenant = "default",
                       .collection = collection,
                       .query = question,
                       .top_k = 5,
                       .generate = true,
                       .max_sentences = sentences,
                       .cache = CACHE_BYPASS,
                       .search = {.alpha = -1}};
    query_result r;
    assert_ok(service_query(s, &q, NULL, &r, &err), &err);
    return r;
}

/* ---- what the answer shows ----------------------------------------------------------------- */

static bool is_mark(char c) { /* of an item: not shown */
    return strchr(" \t\n-*+>|", c) && c;
}

static void check_edges(const char *document, const char *answer, const query_citation *c) {
    size_t len = strlen(document), n = strlen(answer);
    size_t start = fo_utf8_offset(document, len, c->source_start);
    size_t end = fo_utf8_offset(document, len, c->source_end);
    assert_int_equal(end - start, strlen(c->quote));
    assert_memory_equal(document + start, c->quote, end - start); /* the quote is exact */
    size_t from = fo_utf8_offset(answer, n, c->answer_start);
    size_t to = fo_utf8_offset(answer, n, c->answer_end);
    bool at_start = false, at_end = false;
    for (size_t at = 0; at < len;) {
        while (at < len && strchr(" \t\n", document[at])) at++;
        if (at >= len) break;
        size_t marks = at, stop = sentence_end(document, len, at);
        while (marks < start && is_mark(document[marks])) marks++;
        at_start |= marks == start;
        at_end |= stop == end;
        at = stop;
    }
    bool open_start = strncmp(answer + from, ELLIPSIS " ", 4) == 0;
    bool open_end = to >= 3 && strncmp(answer + to - 3, ELLIPSIS, 3) == 0;
    if (at_start == open_start || at_end == open_end)
        fail_msg("'%.*s' stands for [%s]", (int)(to - from), answer + from, c->quote);
}

static size_t check_answer(service *s, const char *collection, const query_result *r) {
    fo_err err = {0};
    for (size_t i = 0; i < r->n_citations; i++) {
        const query_citation *c = &r->citations[i];
        store_collection in;
        store_document d;
        store *st = service_store(s);
        assert_true(c->verified);
        assert_ok(store_get_collection(st, "default", collection, &in, &err), &err);
        assert_ok(store_get_document(st, in.id, r->contexts[c->context].chunk.document_id, true, &d,
                                     &err),
                  &err);
        check_edges(d.text, r->answer, c);
        store_document_deinit(&d);
        store_collection_deinit(&in);
    }
    return r->n_citations;
}

/* ---- generated ----------------------------------------------------------------------------- */

enum { N_BOATS = 24, MAX_TEXT = 65536 };

/* The sentence about boat k, of up to some two hundred words. */
static void write_sentence(char *out, size_t k, uint64_t *seed) {
    static const char *const more[] = {
        ", with the consent of the warden",
        ", which Anna Lindqvist of the Fen Trust has to give in writing",
        ", between 15 March and 31 July",
        ", when no cranes are resting on the ice",
        ", or where No. 5 was lost (in 1932, as the book of the station says)",
        ", unless the wind is above 10 m/s",
    };
    size_t n = (size_t)sprintf(out, "The boat Grebe%zu is the only one that may be used", k);
    for (size_t i = test_random(seed) % (k % 6 == 0 ? 36 : 5); i-- > 0;)
        n += (size_t)sprintf(out + n, "%s", more[test_random(seed) % (sizeof more / sizeof *more)]);
    sprintf(out + n, " on the lake of Teal%zu.", k);
}

/* Blanks become line breaks, so that no line is longer than `width`. */
static void wrap(char *text, size_t width) {
    size_t line = 0, blank = SIZE_MAX;
    for (size_t i = 0; text[i]; i++) {
        if (text[i] == '\n') line = i + 1, blank = SIZE_MAX;
        if (text[i] == ' ') blank = i;
        if (i - line >= width && blank != SIZE_MAX && blank >= line) {
            text[blank] = '\n';
            line = blank + 1;
        }
    }
}

static void generated_texts_answer_in_whole_sentences(void **state) {
    (void)state;
    uint64_t seed = test_seed();
    char *home = test_folder();
    service *s = open_home(home);
    static char text[MAX_TEXT], sentence[N_BOATS][4096];
    size_t n_shown = 0, n_open = 0;
    for (size_t round = 0; round < 3 * N_SIZES; round++) {
        size_t n = 0;
        char collection[16], question[64];
        snprintf(collection, sizeof collection, "c%zu", round);
        for (size_t k = 0; k < N_BOATS; k++) {
            write_sentence(sentence[k], k, &seed);
            n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", sentence[k],
                                  k % 7 == 6 ? "\n\n" : " ");
        }
        wrap(text, 40 + 30 * (round / N_SIZES));
        put(s, collection, "boats.txt", text, strlen(text), chunk_sizes[round % N_SIZES]);
        for (size_t k = 0; k < N_BOATS; k++) {
            snprintf(question, sizeof question, "Where may the boat Grebe%zu be used?", k);
            query_result r = ask(s, collection, question, 1);
            n_shown += check_answer(s, collection, &r);
            char want[4200];
            snprintf(want, sizeof want, "%.4190s [1]", sentence[k]);
            if (strlen(sentence[k]) > 1200) {
                assert_non_null(strstr(r.answer, ELLIPSIS));
                n_open++;
            } else if (strcmp(r.answer, want) != 0) {
                fail_msg("chunks of %zu: '%s' instead of '%s'", chunk_sizes[round % N_SIZES],
                         r.answer, want);
            }
            query_result_deinit(&r);
        }
    }
    print_message("%zu quotes, %zu of them of sentences that are too long\n", n_shown, n_open);
    assert_true(n_open > 0);
    service_close(s);
    test_remove(home);
}

/* ---- the sample corpus --------------------------------------------------------------------- */

static void the_sample_answers_in_whole_sentences(void **state) {
    (void)state;
    DIR *d = opendir("data/sample");
    FILE *questions = fopen("tests/server/sample_questions.jsonl", "r");
    if (!d || !questions) skip();
    char *home = test_folder(), line[4096];
    service *s = open_home(home);
    for (struct dirent *e; (e = readdir(d));) {
        char path[512], *bytes;
        size_t n;
        fo_err err = {0};
        if (e->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "data/sample/%.255s", e->d_name);
        assert_ok(fo_file_read(path, 1 << 20, &bytes, &n, &err), &err);
        for (size_t i = 0; i < N_SIZES; i++) {
            char collection[16];
            snprintf(collection, sizeof collection, "c%zu", chunk_sizes[i]);
            put(s, collection, e->d_name, bytes, n, chunk_sizes[i]);
        }
        free(bytes);
    }
    closedir(d);
    size_t n_shown = 0;
    while (fgets(line, sizeof line, questions)) {
        cJSON *j = cJSON_Parse(line);
        const char *text = cJSON_GetStringValue(cJSON_GetObjectItem(j, "text"));
        assert_non_null(text);
        for (size_t i = 0; i < N_SIZES; i++) {
            char collection[16];
            snprintf(collection, sizeof collection, "c%zu", chunk_sizes[i]);
            query_result r = ask(s, collection, text, 3);
            n_shown += check_answer(s, collection, &r);
            query_result_deinit(&r);
        }
        cJSON_Delete(j);
    }
    fclose(questions);
    print_message("%zu quotes\n", n_shown);
    assert_true(n_shown > 100);
    service_close(s);
    test_remove(home);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(generated_texts_answer_in_whole_sentences),
        cmocka_unit_test(the_sample_answers_in_whole_sentences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
