/* A schema; a zero byte; bytes that choose. Promises: a schema of any shape is refused with a sentence
 * or compiled; a walk that takes bytes the reader allows never gets stuck before the value is whole, and
 * what it wrote is JSON; and a reader takes nothing that its copy refuses. */
#include <cjson/cJSON.h>
#include <string.h>

#include "engine/grammar/json_reader.h"
#include "engine/grammar/json_schema.h"
#include "tests/fuzz/fuzz.h"

enum { LONGEST = 600 };

static bool take(json_reader *r, json_reader *trial, char c, char *text, size_t *n) {
    json_reader_copy(trial, r, JSON_MAX_WAYS);
    if (!json_read(trial, &c, 1)) return false;
    FUZZ_CHECK(json_read(r, &c, 1) && r->n == trial->n);
    text[(*n)++] = c;
    return true;
}

static void walk(const json_schema *s, const uint8_t *choices, size_t n_choices) {
    static const char closing[] = "\"}]0e1tanulsrf:,";
    json_reader *r = malloc(sizeof *r), *trial = malloc(sizeof *trial);
    char text[LONGEST + 1];
    size_t n = 0, at = 0;
    json_reader_start(r, s);
    while (!json_closed(r) && n < LONGEST) {
        bool taken = false;
        for (int k = 0; k < 4 && at < n_choices && !taken; k++)
            taken = take(r, trial, (char)choices[at++], text, &n);
        for (size_t k = 0; k < sizeof closing - 1 && !taken; k++)
            taken = take(r, trial, closing[k], text, &n);
        for (int c = 0; c < 256 && !taken; c++) taken = take(r, trial, (char)c, text, &n);
        FUZZ_CHECK(taken || json_complete(r));
        if (!taken) break;
    }
    if (json_complete(r)) {
        cJSON *value = cJSON_ParseWithLength(text, n);
        FUZZ_CHECK(value);
        cJSON_Delete(value);
    }
    free(r);
    free(trial);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const uint8_t *zero = memchr(data, 0, size);
    size_t n = zero ? (size_t)(zero - data) : size;
    cJSON *root = cJSON_ParseWithLength((const char *)data, n);
    if (!root) return 0;
    json_schema *s = NULL;
    fo_err err = {0};
    if (json_schema_compile(&s, root, &err)) {
        FUZZ_CHECK(!s && err.code && err.msg[0]);
    } else {
        walk(s, zero ? zero + 1 : data, zero ? size - n - 1 : size);
        json_schema_free(s);
    }
    cJSON_Delete(root);
    return 0;
}
