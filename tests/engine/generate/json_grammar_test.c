/* The automaton against texts that are, begin, or are not a JSON object. */
#include "tests/test.h"

#include <cjson/cJSON.h>
#include <string.h>

#include "engine/generate/json_grammar.h"

static bool reads(const char *text, bool *complete) {
    json_state s = json_state_start();
    bool ok = json_read(&s, text, strlen(text));
    *complete = ok && json_complete(&s);
    return ok;
}

static void whole_objects_are_complete(void **state) {
    (void)state;
    static const char *const good[] = {"{}",
                                       " {\n}",
                                       "{\"a\":1}",
                                       "{\"a\" : [ ] , \"b\":{}}",
                                       "{\"a\":-0.5e+10}",
                                       "{\"a\":[1,2,[3,{\"b\":null}],true,false]}",
                                       "{\"\\u00e4\\n\\\"\":\"\xc3\xa4\"}",
                                       "{\"a\":0}",
                                       "{\"a\":[0,10,-1.25E-3]}",
                                       "{\"\\ud7ff\":\"\\uE000\"}"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        bool complete;
        if (!reads(good[i], &complete) || !complete) fail_msg("refused: %s", good[i]);
        cJSON *j = cJSON_Parse(good[i]);
        if (!j) fail_msg("cJSON does not read %s", good[i]);
        cJSON_Delete(j);
    }
}

static void what_is_no_object_is_refused(void **state) {
    (void)state;
    static const char *const bad[] = {
        "[",          "1",           "\"a\"",       "{a",
        "{,",         "{\"a\"}",     "{\"a\":}",    "{\"a\":1,}",
        "{\"a\":01",  "{\"a\":1.}",  "{\"a\":.5",   "{\"a\":+1",
        "{\"a\":1e}", "{\"a\":tru}", "{\"a\":nulL", "{\"a\":[1,]",
        "{\"a\":[1}", "{\"a\":{]",   "{\"a\":\"\n", "{\"\\x",
        "{\"\\u12g",  "{\"\\ud800",  "{\"\\uDC00",  "{}x",
        "{} ",        "{\"a\":--1",  "{\"a\":1 2",  "{                     "};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        bool complete;
        if (reads(bad[i], &complete)) fail_msg("taken: %s", bad[i]);
    }
}

/* A walk that takes any byte the automaton allows, and closes what is open after a while, always
 * ends in a text that a parser reads. */
static void every_walk_ends_in_json(void **state) {
    (void)state;
    uint64_t rng = test_seed();
    size_t longest = 0;
    for (int walk = 0; walk < 2000; walk++) {
        char text[4096];
        size_t n = 0;
        json_state s = json_state_start();
        while (!json_complete(&s) && n < sizeof text - 1) {
            static const char alphabet[] = "{}[]\",:0123456789.eE+-\\untrfalsb/dx \n";
            static const char closing[] = "\"}]0:ruelsa,";
            bool close = n > 200;
            const char *from = close ? closing : alphabet;
            size_t n_from = strlen(from);
            bool taken = false;
            size_t first = close ? 0 : test_random(&rng) % n_from;
            for (size_t k = 0; k < n_from && !taken; k++) {
                json_state next = s;
                char c = from[(first + k) % n_from];
                if (!json_read(&next, &c, 1)) continue;
                s = next;
                text[n++] = c;
                taken = true;
            }
            if (!taken) fail_msg("stuck after %.*s", (int)n, text);
        }
        text[n] = 0;
        assert_true(json_complete(&s));
        cJSON *j = cJSON_Parse(text);
        if (!j) fail_msg("no JSON: %s", text);
        cJSON_Delete(j);
        if (n > longest) longest = n;
    }
    assert_true(longest > 200);
}

static void nesting_is_bounded(void **state) {
    (void)state;
    json_state s = json_state_start();
    assert_true(json_read(&s, "{\"a\":", 5));
    for (int i = 1; i < 62; i++) assert_true(json_read(&s, "[", 1));
    assert_false(json_read(&s, "[", 1));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_objects_are_complete),
        cmocka_unit_test(what_is_no_object_is_refused),
        cmocka_unit_test(every_walk_ends_in_json),
        cmocka_unit_test(nesting_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
