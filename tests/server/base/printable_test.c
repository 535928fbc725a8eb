/* Text of strangers on a terminal: what acts on one is escaped, what does not stays as it is. */
#include "tests/test.h"

#include "kernels/utf8.h"
#include "server/base/json.h"
#include "server/base/printable.h"

static void becomes(enum printable_form form, const char *s, size_t n, const char *want) {
    fo_buf b = {0};
    printable_add(&b, s, n, form);
    if (strcmp(b.data ? b.data : "", want) != 0) fail_msg("'%s' instead of '%s'", b.data, want);
    fo_buf_free(&b);
    char *text = NULL;
    size_t len = 0;
    FILE *f = open_memstream(&text, &len);
    assert_non_null(f);
    printable_put(f, s, n, form);
    fclose(f);
    if (strcmp(text, want) != 0) fail_msg("put: '%s' instead of '%s'", text, want);
    free(text);
}
#define BECOMES(form, s, want) becomes(form, s, sizeof(s) - 1, want)

static void what_acts_on_a_terminal_is_escaped(void **state) {
    (void)state;
    BECOMES(PRINTABLE_LINE, "\033]0;title\007x", "\\u{1b}]0;title\\u{7}x");
    BECOMES(PRINTABLE_LINE, "a\r\nb\tc", "a\\r\\nb\\tc");
    BECOMES(PRINTABLE_TEXT, "a\r\nb\tc", "a\\r\nb\tc");
    BECOMES(PRINTABLE_LINE, "a\0b\177", "a\\u{0}b\\u{7f}");
    BECOMES(PRINTABLE_LINE,
            "csi \xC2\x9B"
            "2J",
            "csi \\u{9b}2J"); /* C1 as UTF-8 */
    BECOMES(PRINTABLE_LINE,
            "csi \x9B"
            "2J",
            "csi \\x9b2J"); /* and as a byte */
    BECOMES(PRINTABLE_LINE,
            "\xE2\x80\xAE"
            "fdp.exe",
            "\\u{202e}fdp.exe");
    BECOMES(PRINTABLE_LINE, "\xE2\x81\xA6x\xE2\x81\xA9\xD8\x9C", "\\u{2066}x\\u{2069}\\u{61c}");
    BECOMES(PRINTABLE_TEXT, "one\xE2\x80\xA8two", "one\\u{2028}two");
}

static void bytes_that_are_no_utf_8_are_shown_one_by_one(void **state) {
    (void)state;
    BECOMES(PRINTABLE_LINE, "\xE2\x82", "\\xe2\\x82");
    BECOMES(PRINTABLE_LINE, "\xE2\x82z\xFF", "\\xe2\\x82z\\xff");
    BECOMES(PRINTABLE_LINE, "\xC0\x9B", "\\xc0\\x9b");
    BECOMES(PRINTABLE_JSON, "\"\xE2\x82z\"", "\"\\ufffdz\"");
}

static void harmless_text_stays_as_it_is(void **state) {
    (void)state;
    BECOMES(PRINTABLE_LINE, "", "");
    BECOMES(PRINTABLE_LINE, "plain \"text\" \\n", "plain \"text\" \\n");
    BECOMES(PRINTABLE_LINE, "Zo\xC3\xAB \xE2\x82\xAC \xF0\x9F\x98\x80 \xD7\xA9\xD7\x9C",
            "Zo\xC3\xAB \xE2\x82\xAC \xF0\x9F\x98\x80 \xD7\xA9\xD7\x9C");
    BECOMES(PRINTABLE_JSON, "{\n\t\"a\": [1,\r\n 2]}", "{\n\t\"a\": [1,\r\n 2]}");
}

/* Whatever the bytes: what comes out is UTF-8 and holds nothing that is to be escaped, and JSON
 * means the same as before. */
static void nothing_gets_through(void **state) {
    (void)state;
    uint64_t seed = test_seed();
    static const char *const parts[] = {"\033",         "\xC2\x85", "\xE2\x80\xAE", "\x9B", "a",
                                        "\xF0\x9F\x98", "\n",       "\xD8\x9C",     "\"",   "\\"};
    for (int round = 0; round < 20000; round++) {
        char in[64];
        size_t n = 0;
        while (n < 48 && test_random(&seed) % 16) {
            const char *p = parts[test_random(&seed) % 10];
            if (test_random(&seed) % 4 == 0) {
                in[n++] = (char)test_random(&seed);
            } else {
                memcpy(in + n, p, strlen(p));
                n += strlen(p);
            }
        }
        for (int form = PRINTABLE_LINE; form <= PRINTABLE_JSON; form++) {
            fo_buf b = {0};
            if (form == PRINTABLE_JSON)
                json_write_string(&b, in, n);
            else
                printable_add(&b, in, n, (enum printable_form)form);
            for (size_t i = 0; i < b.len;) {
                int32_t cp;
                i += fo_utf8_decode(b.data + i, b.len - i, &cp);
                assert_true(cp >= 0);
                if (form == PRINTABLE_TEXT && (cp == '\n' || cp == '\t')) continue;
                assert_false(printable_escapes(cp));
            }
            if (form == PRINTABLE_JSON && fo_utf8_valid(in, n, NULL) && !memchr(in, 0, n)) {
                cJSON *back = cJSON_ParseWithLength(b.data, b.len);
                assert_non_null(back);
                assert_int_equal(strlen(back->valuestring), n);
                assert_memory_equal(back->valuestring, in, n);
                cJSON_Delete(back);
            }
            fo_buf_free(&b);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_acts_on_a_terminal_is_escaped),
        cmocka_unit_test(bytes_that_are_no_utf_8_are_shown_one_by_one),
        cmocka_unit_test(harmless_text_stays_as_it_is),
        cmocka_unit_test(nothing_gets_through),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
