/* logprobs_test.c - the names of tokens beside their log probabilities: parts of characters, letters that are bytes
 * too, pieces that are long, and what was banned. */
#include "server/completions/logprobs.h"

#include <cjson/cJSON.h>
#include <math.h>

#include "tests/test.h"

enum { N_TOKENS = 10, LONG_BYTES = 400 };

static char lengthy[2][LONG_BYTES + 1]; /* of two-byte characters; they differ in the last */

static tokenizer *open_tokenizer(void) {
    const char *names[N_TOKENS] = {"<unk>",  "<s>", "</s>",     "<0xF0>",   "<0x9F>",
                                   "<0x41>", "A",   lengthy[0], lengthy[1], "<0x00>"};
    static const int32_t types[N_TOKENS] = {2, 3, 3, 6, 6, 6, 1, 1, 1, 6};
    tokenizer_string pieces[N_TOKENS];
    for (int k = 0; k < 2; k++) {
        for (size_t i = 0; i < LONG_BYTES; i += 2) memcpy(lengthy[k] + i, "\xc3\xa9", 2);
        lengthy[k][LONG_BYTES - 1] += (char)k;
    }
    for (int i = 0; i < N_TOKENS; i++) pieces[i] = (tokenizer_string){names[i], strlen(names[i])};
    tokenizer_spec spec = tokenizer_spec_default(TOKENIZER_SPM);
    spec.tokens = pieces, spec.n_tokens = N_TOKENS, spec.types = types, spec.unk = 0;
    tokenizer *t = NULL;
    fo_err err = {0};
    assert_ok(tokenizer_create(&t, &spec, &err), &err);
    return t;
}

/* All tokens, from the first on less likely; the last one is banned. */
static cJSON *written(const tokenizer *t, bool chat) {
    sampler_logprob top[N_TOKENS];
    for (int i = 0; i < N_TOKENS; i++)
        top[i] = (sampler_logprob){i, i + 1 < N_TOKENS ? (float)-i : -INFINITY};
    const generation_token list[] = {{.token = 3, .logprob = -3, .n_top = N_TOKENS, .top = top},
                                     {.token = 7, .logprob = -7, .n_top = 1, .top = top + 7}};
    fo_buf b = {0};
    json_out o = {&b, false};
    json_out_open(&o, NULL, '{');
    size_t chars = 0;
    if (chat)
        logprobs_write_chat(&o, t, list, 2);
    else
        logprobs_write_text(&o, t, list, 2, &chars);
    json_out_close(&o, '}');
    assert_false(b.failed);
    cJSON *r = chat ? cJSON_ParseWithLength(b.data, b.len) : NULL;
    fo_err err = {0};
    if (!chat) { /* no key stands twice */
        assert_ok(json_parse(b.data, b.len, &r, &err), &err);
    }
    assert_non_null(r);
    fo_buf_free(&b);
    return r;
}

static void expect(const cJSON *top, const char *name, double logprob) {
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(top, name);
    if (!cJSON_IsNumber(v) || v->valuedouble != logprob) fail_msg("%s", name);
}

static void each_token_of_a_completion_has_a_name_of_its_own(void **state) {
    (void)state;
    tokenizer *t = open_tokenizer();
    cJSON *r = written(t, false);
    const cJSON *tokens = cJSON_GetObjectItem(r, "tokens");
    const cJSON *top = cJSON_GetArrayItem(cJSON_GetObjectItem(r, "top_logprobs"), 0);
    assert_string_equal(cJSON_GetArrayItem(tokens, 0)->valuestring, "bytes:\\xf0");
    assert_string_equal(cJSON_GetArrayItem(tokens, 1)->valuestring, lengthy[0]);
    assert_int_equal(cJSON_GetArraySize(top), N_TOKENS);
    expect(top, "bytes:\\xf0", -3);
    expect(top, "bytes:\\x9f", -4);
    expect(top, "A", -5); /* the byte, which is likelier */
    expect(top, "bytes:\\x41", -6);
    expect(top, lengthy[0], -7);
    expect(top, lengthy[1], -8);
    expect(top, "bytes:\\x00", -9999);
    cJSON_Delete(r);
    tokenizer_free(t);
}

static void a_chat_has_the_bytes_of_each(void **state) {
    (void)state;
    tokenizer *t = open_tokenizer();
    cJSON *r = written(t, true);
    const cJSON *first = cJSON_GetArrayItem(cJSON_GetObjectItem(r, "content"), 0), *token;
    int i = 0;
    cJSON_ArrayForEach(token, cJSON_GetObjectItem(first, "top_logprobs")) {
        const cJSON *bytes = cJSON_GetObjectItem(token, "bytes"), *byte;
        const tokenizer_string s = tokenizer_piece(t, i++);
        size_t n = 0;
        cJSON_ArrayForEach(byte, bytes) {
            assert_true(n < s.len);
            assert_int_equal(byte->valueint, (unsigned char)s.data[n++]);
        }
        assert_int_equal(n, s.len);
    }
    assert_int_equal(i, N_TOKENS);
    cJSON_Delete(r);
    tokenizer_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_token_of_a_completion_has_a_name_of_its_own),
        cmocka_unit_test(a_chat_has_the_bytes_of_each),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
