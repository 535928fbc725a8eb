/* Unpacked rows of real GGUF files against another implementation's output, bit for bit. */
#include "tests/test.h"

#include <cjson/cJSON.h>
#include "engine/gguf/gguf.h"
#include "kernels/file.h"

static const char *const types[] = {"F16",  "BF16", "Q8_0", "Q4_0", "Q4_1",   "Q5_0",  "Q2_K",
                                    "Q3_K", "Q4_K", "Q5_K", "Q6_K", "IQ4_NL", "IQ4_XS"};

static void check_type(const char *type) {
    char name[128];
    fo_err err = {0};
    snprintf(name, sizeof name, "golden/dequant/%s.json", type);
    const char *path = test_shared(name);
    if (!path) skip();
    char *text;
    size_t size;
    assert_ok(fo_file_read(path, 64 << 20, &text, &size, &err), &err);
    cJSON *root = cJSON_ParseWithLength(text, size);
    assert_non_null(root);
    snprintf(name, sizeof name, "golden/%s", cJSON_GetObjectItem(root, "file")->valuestring);
    gguf *g;
    assert_ok(gguf_open(&g, test_shared(name), &err), &err);
    const gguf_tensor *t = gguf_find_tensor(g, cJSON_GetObjectItem(root, "tensor")->valuestring);
    assert_non_null(t);
    assert_string_equal(quant_type_traits(t->type)->name, type);
    size_t n = (size_t)t->dims[0], row = 0;
    assert_int_equal(n, cJSON_GetObjectItem(root, "row_length")->valueint);
    float *y = malloc(n * sizeof *y);
    cJSON *values, *v;
    cJSON_ArrayForEach(values, cJSON_GetObjectItem(root, "rows")) {
        quant_unpack_row(t->type, (const char *)t->data + row++ * t->row_bytes, y, n);
        size_t i = 0;
        cJSON_ArrayForEach(v, values) {
            if (y[i] != (float)v->valuedouble)
                fail_msg("%s row %zu value %zu: %.9g, not %.9g", type, row - 1, i, (double)y[i],
                         v->valuedouble);
            i++;
        }
        assert_int_equal(i, n);
    }
    assert_int_equal(row, 2);
    free(y);
    gguf_close(g);
    cJSON_Delete(root);
    free(text);
}

static void unpacks_every_golden_type_bit_for_bit(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) check_type(types[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unpacks_every_golden_type_bit_for_bit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
