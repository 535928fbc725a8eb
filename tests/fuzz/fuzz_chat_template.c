/* A template, then optionally a zero byte and JSON: messages (an array), or an object with any of
 * messages, tools, extra and add_generation_prompt. It may fail, never misbehave: an error leaves
 * the output as it was, and the fallback gives a prompt wherever the messages can be used. */
#include <cjson/cJSON.h>
#include <string.h>

#include "engine/chat/chat_template.h"
#include "kernels/utf8.h"
#include "tests/fuzz/fuzz.h"

static const char ordinary[] =
    "[{\"role\":\"system\",\"content\":\"Be brief.\"},{\"role\":\"user\",\"content\":\"Hi "
    "\\u00e9\"},"
    "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"type\":\"function\",\"function\":"
    "{\"name\":\"f\",\"arguments\":{\"a\":1.5,\"b\":[true,null]}}}]},"
    "{\"role\":\"tool\",\"content\":\"{}\"},{\"role\":\"user\",\"content\":\"More?\"}]";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const char *text = (const char *)data;
    const uint8_t *zero = memchr(data, 0, size);
    size_t len = zero ? (size_t)(zero - data) : size;
    cJSON *json = zero ? cJSON_ParseWithLength((const char *)zero + 1, size - len - 1) : NULL;
    if (!cJSON_IsArray(json) && !cJSON_IsObject(json)) {
        cJSON_Delete(json);
        json = cJSON_Parse(ordinary);
    }
    chat_template_input in = {.messages = json,
                              .add_generation_prompt = true,
                              .bos = "<s>",
                              .eos = "</s>",
                              .year = 2026,
                              .month = 11,
                              .day = 20};
    if (cJSON_IsObject(json)) {
        in.messages = cJSON_GetObjectItemCaseSensitive(json, "messages");
        in.tools = cJSON_GetObjectItemCaseSensitive(json, "tools");
        in.extra = cJSON_GetObjectItemCaseSensitive(json, "extra");
        in.add_generation_prompt =
            cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(json, "add_generation_prompt"));
    }
    chat_template *t = NULL;
    fo_err err = {0}, why = {0};
    if (chat_template_parse(&t, text, len, &err)) {
        FUZZ_CHECK(!t && err.code && err.msg[0]);
    } else {
        fo_buf out = {0};
        fo_buf_str(&out, "before");
        int rc = chat_template_render(t, &in, &out, &err);
        FUZZ_CHECK(out.len >= 6 && memcmp(out.data, "before", 6) == 0);
        FUZZ_CHECK(!rc || (out.len == 6 && err.msg[0]));
        FUZZ_CHECK(rc || fo_utf8_valid(out.data, out.len, NULL));
        size_t first = out.len;
        bool fell_back;
        fo_buf again = {0};
        fo_buf_str(&again, "before");
        int second = chat_template_render_or_chatml(t, &in, &again, &fell_back, &why, &err);
        FUZZ_CHECK(again.len >= 6 && memcmp(again.data, "before", 6) == 0);
        if (!rc) { /* the same once more: nothing of a run may stay in the template */
            FUZZ_CHECK(second == FO_OK && !fell_back && again.len == first &&
                       memcmp(again.data, out.data, first) == 0);
        } else { /* ChatML, unless the messages cannot be used at all */
            FUZZ_CHECK(fell_back && why.msg[0]);
            FUZZ_CHECK(second == FO_OK || (second == FO_EINVAL && again.len == 6 && err.msg[0]));
        }
        fo_buf_free(&again);
        fo_buf_free(&out);
        chat_template_free(t);
    }
    cJSON_Delete(json);
    return 0;
}
