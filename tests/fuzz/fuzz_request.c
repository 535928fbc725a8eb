/* Bodies of requests as JSON, read into what they ask for: questions and searches, chats and completions of
 * the OpenAI routes, /v1/responses, filters. The first byte says for which. Promises: a body is refused with
 * a code and a sentence, or what came of it is within the documented bounds; JSON that was taken is
 * taken again when it is written out, and means the same. */
#include <cjson/cJSON.h>
#include <math.h>
#include <string.h>

#include "kernels/utf8.h"
#include "server/base/request_limits.h"
#include "server/openai/openai.h"
#include "server/openai/openai_responses.h"
#include "server/routes/query_json.h"
#include "tests/fuzz/fuzz.h"

enum { VOCABULARY = 1000, WRITTEN_MOST = 1 << 16 };

static void check_refusal(int rc, const fo_err *err) {
    size_t bad;
    FUZZ_CHECK(rc < 0 && rc != FO_ENOMEM && err->code == rc && err->msg[0]);
    FUZZ_CHECK(fo_utf8_valid(err->msg, strlen(err->msg), &bad));
}

static void check_text(const char *s, size_t most) {
    size_t bad, n = s ? strlen(s) : 0;
    FUZZ_CHECK(n <= most && fo_utf8_valid(s ? s : "", n, &bad));
}

static void check_options(const double numbers[6]) {
    for (int i = 0; i < 6; i++) FUZZ_CHECK(isfinite(numbers[i]));
}

static void question(const char *body, size_t n, bool search_only) {
    query_call c;
    fo_err err = {0};
    int rc = query_json_read(&c, body, n, search_only, &err);
    if (rc) {
        check_refusal(rc, &err);
        return;
    }
    const query_request *q = &c.request;
    const request_limits *most = request_limits_now();
    check_text(q->query, most->query_bytes);
    check_text(q->collection, 64);
    FUZZ_CHECK(q->query[0] && q->top_k >= 1 && q->top_k <= most->top_k);
    FUZZ_CHECK(q->n_stop <= QUERY_STOP_MAX && q->timeout_ms >= 0 && q->timeout_ms <= 600000);
    FUZZ_CHECK(!q->n_messages == !q->messages || q->n_messages);
    for (size_t i = 0; i < q->n_stop; i++) check_text(q->stop[i], n);
    for (size_t i = 0; i < q->n_messages; i++) check_text(q->messages[i].content, n);
    check_options((double[]){q->temperature, q->top_p, q->min_p, q->presence_penalty,
                             q->frequency_penalty, q->repetition_penalty});
    FUZZ_CHECK(q->search.alpha == -1 || (q->search.alpha >= 0 && q->search.alpha <= 1));
    if (c.filter) FUZZ_CHECK(search_filter_count(c.filter) <= most->conditions);
    query_call_deinit(&c);
}

/* given: of /v1/responses, whose fields errors name. */
static void call(const char *body, size_t n, bool chat, const cJSON *given) {
    static openai_call c;
    fo_err err = {0};
    int rc = openai_call_read(&c, chat, VOCABULARY, body, n, &err);
    if (rc) {
        if (given) openai_responses_name(given, &err);
        check_refusal(rc, &err);
        return;
    }
    FUZZ_CHECK(c.n >= 1 && c.n <= OPENAI_MAX_CHOICES && c.n_bias <= OPENAI_MAX_BIAS);
    FUZZ_CHECK(c.n_stop_tokens <= OPENAI_MAX_STOP_TOKENS);
    FUZZ_CHECK(c.n_logprobs >= -1 && c.n_logprobs <= OPENAI_MAX_LOGPROBS);
    for (size_t i = 0; i < c.n_bias; i++)
        FUZZ_CHECK(c.bias[i].token >= 0 && c.bias[i].token < VOCABULARY && !isnan(c.bias[i].bias));
    for (size_t i = 0; i < c.n_stop_tokens; i++)
        FUZZ_CHECK(c.stop_tokens[i] >= 0 && c.stop_tokens[i] < VOCABULARY);
    if (chat) FUZZ_CHECK(cJSON_GetArraySize(c.messages) > 0);
    rc = openai_call_check(&c, true, &err);
    if (rc) check_refusal(rc, &err);
    openai_call_deinit(&c);
}

static void response(const char *body, size_t n) {
    char *chat;
    cJSON *given;
    fo_err err = {0};
    int rc = openai_responses_translate(body, n, &chat, &given, &err);
    if (rc) {
        openai_responses_name(given, &err);
        check_refusal(rc, &err);
        return;
    }
    call(chat, strlen(chat), true, given);
    cJSON_Delete(given);
    free(chat);
}

static void filter(const char *body, size_t n) {
    cJSON *root = NULL, *again = NULL;
    search_filter *f = NULL, *same = NULL;
    fo_err err = {0};
    int rc = json_parse(body, n, &root, &err);
    if (rc) {
        check_refusal(rc, &err);
        FUZZ_CHECK(json_validate(body, n, &err) || err.msg[0]);
        return;
    }
    FUZZ_CHECK(json_validate(body, n, NULL) == FO_OK);
    char *text = n <= WRITTEN_MOST ? cJSON_PrintUnformatted(root) : NULL;
    if (text) {
        FUZZ_CHECK(json_parse(text, strlen(text), &again, &err) == FO_OK);
        FUZZ_CHECK(cJSON_Compare(root, again, true));
    }
    rc = query_json_filter(&f, root, &err);
    if (rc) {
        check_refusal(rc, &err);
    } else if (again) { /* the same filter has the same bytes */
        fo_buf a = {0}, b = {0};
        FUZZ_CHECK(query_json_filter(&same, again, &err) == FO_OK);
        search_filter_write(f, &a);
        search_filter_write(same, &b);
        FUZZ_CHECK(a.len == b.len && memcmp(a.data, b.data, a.len) == 0);
        fo_buf_free(&a);
        fo_buf_free(&b);
        search_filter_free(same);
    }
    search_filter_free(f);
    free(text);
    cJSON_Delete(again);
    cJSON_Delete(root);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) return 0;
    const char *body = (const char *)data + 1;
    switch (data[0] % 6) {
    case 0:
    case 1:
        question(body, size - 1, data[0] % 6);
        break;
    case 2:
    case 3:
        call(body, size - 1, data[0] % 6 == 2, NULL);
        break;
    case 4:
        response(body, size - 1);
        break;
    default:
        filter(body, size - 1);
    }
    return 0;
}
