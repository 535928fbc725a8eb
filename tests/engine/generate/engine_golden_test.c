/* engine_golden_test.c - the real SmolLM2 through the running engine: its chat template, its
 * tokens, its greedy answers. Needs the shared folder and what `make models` fetches. */
#include "tests/test.h"

#include <cjson/cJSON.h>

#include "engine/chat/chat_prompt.h"
#include "engine/generate/engine.h"
#include "kernels/file.h"

static fo_err err;
static const char model_path[] = "models/smollm2-135m-instruct-q4_1.gguf";

enum { CASES = 12 };

typedef struct figures {
    int compared, equal;
} figures;

/* Tokens equal as far as the golden margins exceed `margin`. */
static void compare(const cJSON *c, const generation_token *t, size_t n, double margin, int index,
                    figures *f) {
    const cJSON *want = cJSON_GetObjectItem(c, "greedy"), *m = cJSON_GetObjectItem(c, "margin");
    int n_want = cJSON_GetArraySize(want), k = 0;
    for (; k < n_want && cJSON_GetArrayItem(m, k)->valuedouble >= margin; k++) {
        int token = cJSON_GetArrayItem(want, k)->valueint;
        if (k == (int)n) { /* the end token is no part of the answer */
            assert_int_equal(k, n_want - 1);
            break;
        }
        if (token != t[k].token)
            fail_msg("case %d: token %d is %d, not %d (margin %g)", index, k, t[k].token, token,
                     cJSON_GetArrayItem(m, k)->valuedouble);
    }
    f->compared++;
    f->equal += k >= n_want - 1;
}

static figures run_cases(bool exact, double margin) {
    figures f = {0};
    char *text;
    size_t size;
    const char *file = test_shared("golden/smollm2/greedy.jsonl");
    assert_ok(fo_file_read(file, 1 << 24, &text, &size, &err), &err);
    engine *e;
    engine_options o = {.model = model_path, .exact = exact, .kv_ram = 256 << 20};
    assert_ok(engine_open(&e, &o, &err), &err);
    chat_prompt *chat;
    fo_err why = {0};
    assert_ok(chat_prompt_create(&chat, engine_gguf(e), engine_tokenizer(e), &why, &err), &err);
    assert_int_equal(why.code, 0);
    cJSON *cases[CASES];
    generation *g[CASES];
    int n_cases = 0;
    for (char *save, *line = strtok_r(text, "\n", &save); line;
         line = strtok_r(NULL, "\n", &save)) {
        assert_true(n_cases < CASES);
        cJSON *c = cases[n_cases] = cJSON_Parse(line);
        const cJSON *tokens = cJSON_GetObjectItem(c, "tokens");
        int32_t *ids;
        size_t n;
        assert_ok(chat_prompt_tokens(chat, cJSON_GetObjectItem(c, "messages"), false, &ids, &n,
                                     NULL, &err),
                  &err);
        assert_int_equal(n, cJSON_GetArraySize(tokens));
        for (size_t i = 0; i < n; i++)
            assert_int_equal(ids[i], cJSON_GetArrayItem(tokens, (int)i)->valueint);
        generation_request r = {.prompt = ids,
                                .n_prompt = n,
                                .max_tokens = 48,
                                .sampling = sampler_params_default(),
                                .n_logprobs = -1};
        assert_ok(engine_submit(e, &r, &g[n_cases++], NULL, &err), &err); /* all at once */
        free(ids);
    }
    assert_int_equal(n_cases, CASES);
    for (int i = 0; i < CASES; i++) {
        generation_event ev;
        do generation_next(g[i], -1, &ev, NULL);
        while (!ev.done);
        assert_int_equal(ev.error, 0);
        size_t n;
        const generation_token *t = generation_tokens(g[i], &n);
        compare(cases[i], t, n, margin, i, &f);
        generation_free(g[i]);
        cJSON_Delete(cases[i]);
    }
    chat_prompt_free(chat);
    engine_close(e);
    free(text);
    print_message("# %s: %d of %d whole answers compared equal\n", exact ? "exact" : "fast",
                  f.equal, f.compared);
    return f;
}

static void need_files(void) {
    if (access(model_path, R_OK) != 0 || !test_shared("golden/smollm2/greedy.jsonl")) skip();
}

static void exact_path_writes_the_golden_answers(void **state) {
    (void)state;
    need_files();
    figures f = run_cases(true, .01);
    assert_true(f.equal >= CASES - 1); /* one of them has a margin that is closer */
}

static void serving_path_writes_the_same_where_the_choice_is_clear(void **state) {
    (void)state;
    need_files();
    run_cases(false, .25); /* int8 activations turn choices up to .21 */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_path_writes_the_golden_answers),
        cmocka_unit_test(serving_path_writes_the_same_where_the_choice_is_clear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
