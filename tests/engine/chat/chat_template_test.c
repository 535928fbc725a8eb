/* Chat templates (engine/chat/): golden prompts byte for byte, Jinja's own rules, errors with
 * their line, templates that would run for ever, and what happens where a template fails or
 * refuses the system message. */
#include "tests/test.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/chat/chat_template.h"
#include "kernels/file.h"

static char *read_file(const char *path) {
    fo_err err = {0};
    char *data;
    size_t size;
    assert_ok(fo_file_read(path, 1u << 26, &data, &size, &err), &err);
    return data;
}

static const char *text_at(const cJSON *o, const char *key) {
    return cJSON_GetStringValue(cJSON_GetObjectItem(o, key));
}

/* Render with the golden data's bos, eos and date; the code is returned. */
static int render(const char *template, const cJSON *messages, const cJSON *extra, fo_buf *out,
                  fo_err *err) {
    chat_template *t = NULL;
    int rc = chat_template_parse(&t, template, strlen(template), err);
    if (rc) return rc;
    chat_template_input in = {.messages = messages,
                              .extra = extra,
                              .add_generation_prompt = true,
                              .bos = "<|endoftext|>",
                              .eos = "<|im_end|>",
                              .year = 2026,
                              .month = 11,
                              .day = 20};
    rc = chat_template_render(t, &in, out, err);
    chat_template_free(t);
    return rc;
}

/* A template on one user message "Hi". */
static int try(const char *template, fo_buf *out, fo_err *err) {
    cJSON *messages = cJSON_Parse("[{\"role\":\"user\",\"content\":\"Hi\"}]");
    int rc = render(template, messages, NULL, out, err);
    cJSON_Delete(messages);
    return rc;
}

static void renders_every_golden_template_byte_for_byte(void **state) {
    (void)state;
    const char *path = test_shared("golden/chat_templates/templates.jsonl");
    if (!path) skip();
    char *lines = read_file(path);
    int wrong = 0, n = 0;
    for (char *line = strtok(lines, "\n"); line; line = strtok(NULL, "\n")) {
        cJSON *o = cJSON_Parse(line);
        const cJSON *one;
        cJSON_ArrayForEach(one, cJSON_GetObjectItem(o, "cases")) {
            fo_buf out = {0};
            fo_err err = {0};
            int rc = render(text_at(o, "template"), cJSON_GetObjectItem(one, "messages"), NULL,
                            &out, &err);
            n++;
            if (!rc && out.data && strcmp(out.data, text_at(one, "prompt")) == 0) {
                fo_buf_free(&out);
                continue;
            }
            wrong++;
            fprintf(stderr, "# %s: %s\n#  got: %s\n# want: %s\n", text_at(o, "name"), err.msg,
                    out.data ? out.data : "", text_at(one, "prompt"));
            fo_buf_free(&out);
        }
        cJSON_Delete(o);
    }
    free(lines);
    assert_int_equal(wrong, 0);
    assert_int_equal(n, 36);
}

/* Our own templates; the outputs are what Jinja 3.1 gives. */
static void renders_as_jinja_does(void **state) {
    (void)state;
    char *lines = read_file("tests/engine/chat/chat_template_cases.jsonl");
    int wrong = 0, n = 0;
    for (char *line = strtok(lines, "\n"); line; line = strtok(NULL, "\n"), n++) {
        cJSON *o = cJSON_Parse(line);
        assert_non_null(o);
        cJSON *messages = cJSON_CreateArray();
        fo_buf out = {0};
        fo_err err = {0};
        fo_buf_str(&out, "");
        int rc =
            render(text_at(o, "template"), messages, cJSON_GetObjectItem(o, "vars"), &out, &err);
        const char *want = text_at(o, "want");
        if (want ? rc || strcmp(out.data ? out.data : "", want) : !rc) {
            wrong++;
            fprintf(stderr, "# %s\n#  got: %s [%s]\n# want: %s\n", text_at(o, "template"),
                    out.data ? out.data : "", err.msg, want ? want : "an error");
        }
        fo_buf_free(&out);
        cJSON_Delete(messages);
        cJSON_Delete(o);
    }
    free(lines);
    assert_int_equal(wrong, 0);
    assert_in_range(n, 50, 1000);
}

/* A number whose digits stand beside it, as the server's parser leaves one that no double holds. */
static void add_digits(cJSON *list, const char *digits, bool beside) {
    cJSON *n = cJSON_CreateNumber(strtod(digits, NULL));
    if (beside) n->valuestring = strdup(digits);
    cJSON_AddItemToArray(list, n);
}

static void large_whole_numbers_keep_their_digits(void **state) {
    (void)state;
    cJSON *messages = cJSON_CreateArray(), *vars = cJSON_CreateObject();
    cJSON *list = cJSON_AddArrayToObject(vars, "ids");
    add_digits(list, "9007199254740993", true);
    add_digits(list, "-9223372036854775807", true);
    add_digits(list, "1111111111111111168", false); /* a double holds it */
    add_digits(list, "9223372036854775808", false); /* more than an integer holds */
    add_digits(list, "99999999999999999999", true);
    fo_buf out = {0};
    fo_err err = {0};
    assert_ok(render("{{ ids | tojson }}", messages, vars, &out, &err), &err);
    assert_string_equal(out.data, "[9007199254740993, -9223372036854775807, 1111111111111111168, "
                                  "9.223372036854776e+18, 1e+20]");
    fo_buf_free(&out);
    cJSON_Delete(vars);
    cJSON_Delete(messages);
}

static void errors_name_the_line(void **state) {
    (void)state;
    static const struct {
        const char *template, *want;
    } bad[] = {
        {"a\n{% if x %}", "line 2"},
        {"\n\n{{ 1 + }}", "line 3"},
        {"{{ 'abc }}", "not closed"},
        {"{# abc", "not closed"},
        {"{% frobnicate %}", "frobnicate"},
        {"{{ x.y }}", "'x' is undefined"},
        {"{{ 1 | nofilter }}", "nofilter"},
        {"{{ 'a' + 1 }}", "str and a int"},
        {"\n{{ raise_exception('too many roles') }}", "line 2: too many roles"},
        {"{{ 1 // 0 }}", "zero"},
        {"{% break %}", "loop"},
        {"{{ \xFF }}", "UTF-8"},
        {"{{ 9223372036854775 * 10000 }}", "64 bits"},
        {"{% set x.y = 1 %}", "namespace"},
        {"{{ '99999999999999999999' | int }}", "64 bits"},
        {"{{ '1e30' | int }}", "64 bits"},
        {"{{ -1e30 | int }}", "64 bits"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        fo_buf out = {0};
        fo_err err = {0};
        assert_int_not_equal(try(bad[i].template, &out, &err), FO_OK);
        if (!strstr(err.msg, bad[i].want))
            fail_msg("%s: \"%s\" does not say \"%s\"", bad[i].template, err.msg, bad[i].want);
        assert_int_equal(out.len, 0);
        fo_buf_free(&out);
    }
}

static void hostile_templates_hit_a_limit(void **state) {
    (void)state;
#if defined(__SANITIZE_THREAD__)
    skip(); /* one thread, and a quarter of an hour */
#endif
    static const char *const hostile[] = {
        "{% for i in range(100000000) %}{% endfor %}",
        "{% for i in range(2000) %}{% for j in range(2000) %}{{ i }}{% endfor %}{% endfor %}",
        "{{ 'x' * 1000000000 }}",
        "{% set ns = namespace(s='xxxxxxxx') %}{% for i in range(64) %}{% set ns.s = ns.s + ns.s %}"
        "{% endfor %}",
        "{% macro f(n) %}{{ f(n + 1) }}{% endmacro %}{{ f(0) }}",
        "{% set l = [] %}{% set _ = l.append(l) %}{{ l }}",
        "{% for i in range(400) %}{{ 'x' * 100000 }}{% endfor %}",
        "{{ 'a' | indent(100000) }}",
        "{{ '%999d' % 1 | center(100000000) }}",
        "{% set ns = namespace(s='aaaaaaaa') %}{% for i in range(40) %}"
        "{% set ns.s = ns.s | replace('a', 'aaaa') %}{% endfor %}",
        /* Work that is long without a step of its own: it is charged before it is done. */
        "{{ ('a' * 20000000).rfind('a' * 9999999 ~ 'b') }}",
        "{{ ('a' * 20000000).rpartition('a' * 9999999 ~ 'b') }}",
        "{{ ('a' * 20000000).rsplit('a' * 9999999 ~ 'b', 1) }}",
        "{% set a = 'a' * 9999999 ~ 'b' %}{% set b = 'a' * 9999999 ~ 'c' %}"
        "{% for i in range(1000000) %}{% if a == b %}{% endif %}{% endfor %}",
        "{% set a = 'a' * 9999999 ~ 'b' %}{% set b = 'a' * 9999999 ~ 'c' %}"
        "{% for i in range(1000000) %}{% if a.startswith(b) %}{% endif %}{% endfor %}",
        "{% set a = 'a' * 9999999 ~ 'b' %}{% set b = 'a' * 9999999 ~ 'c' %}{% set d = {a: 1} %}"
        "{% for i in range(1000000) %}{% if d[b] %}{% endif %}{% endfor %}",
        "{% set a = 'a' * 9999999 %}"
        "{% for i in range(1000000) %}{% if a.isalpha() or a is lower %}{% endif %}{% endfor %}",
        "{% set x = 'a' * 20000000 %}{% for i in range(40) %}{{ '%.0s' % x }}{% endfor %}",
        "{% set f = '%' ~ '-' * 20000000 ~ 's' %}{% for i in range(40) %}{{ f % 'a' }}{% endfor %}",
        "{% set f = '%Z' * 10000000 %}{% for i in range(40) %}{{ strftime_now(f) }}{% endfor %}",
        "{% set s = 'ab' * 5000000 %}{% for i in range(40) %}{{ 'ccccccccccccccc'.strip(s) }}"
        "{% endfor %}",
        "{% set l = range(100000) | list %}{% for i in range(20000) %}{% set _ = l.pop(0) %}"
        "{% endfor %}",
        "{% set a = range(100000) | list %}{% set b = range(100000) | list %}"
        "{% for i in range(1000) %}{% if a != b %}{% endif %}{% endfor %}",
        "{% set a = range(100000) | list %}{% set b = range(100000) | list %}"
        "{% for i in range(1000) %}{% if a < b %}{% endif %}{% endfor %}",
        "{% set l = [] %}{% set _ = l.append(l) %}{% set p = '0.' * 1000000 ~ '0' %}"
        "{% for i in range(10) %}{% set _ = [l] | map(attribute=p) | list %}{% endfor %}",
    };
    for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++) {
        fo_buf out = {0};
        fo_err err = {0};
        int rc = try(hostile[i], &out, &err);
        if (rc != FO_ELIMIT && rc != FO_EUNSUPPORTED)
            fail_msg("%s: %d %s", hostile[i], rc, err.msg);
        fo_buf_free(&out);
    }
    size_t n = 200000;
    char *deep = malloc(n + 1);
    deep[n] = 0;
    static const char *const units[] = {"{{ (", "{{ -", "{{ [", "{{ not ", "{% if 1 %}", "{{ a.b"};
    for (size_t k = 0; k < sizeof units / sizeof *units; k++) {
        size_t len = strlen(units[k]), skip_head = k == 4 ? 0 : 3;
        memcpy(deep, units[k], len);
        for (size_t i = len; i < n; i++)
            deep[i] = units[k][skip_head + (i - len) % (len - skip_head)];
        fo_buf out = {0};
        fo_err err = {0};
        assert_int_not_equal(try(deep, &out, &err), FO_OK);
        fo_buf_free(&out);
    }
    free(deep);
}

/* Each brace is looked for among all arguments. */
static void many_arguments_and_braces_hit_a_limit(void **state) {
    (void)state;
    fo_buf text = {0}, out = {0};
    fo_err err = {0};
    fo_buf_str(&text, "{{ ('{x}' * 100000).format(");
    for (int i = 0; i < 2000; i++) fo_buf_printf(&text, "a%d='',", i);
    fo_buf_str(&text, "x='') }}");
    assert_int_equal(try(text.data, &out, &err), FO_ELIMIT);
    fo_buf_free(&text);
    fo_buf_free(&out);
}

/* Each name is looked for among those that were there before it. */
static void many_names_hit_a_limit(void **state) {
    (void)state;
    fo_buf text = {0}, out = {0};
    fo_err err = {0};
    fo_buf_str(&text, "{{ [");
    for (int i = 0; i < 60000; i++) fo_buf_printf(&text, "n%d,", i);
    fo_buf_str(&text, "] }}");
    assert_int_equal(try(text.data, &out, &err), FO_ELIMIT);
    assert_non_null(strstr(err.msg, "steps"));
    fo_buf_free(&text);
    fo_buf_free(&out);
}

/* The code of a template in a process of its own, which gets so many bytes beside what it has. */
static int code_within(const char *template, size_t bytes) {
    const pid_t child = fork();
    if (!child) {
        char line[256] = "";
        FILE *f = fopen("/proc/self/statm", "r");
        if (!f || !fgets(line, sizeof line, f)) _exit(100);
        const rlim_t most = strtoull(line, NULL, 10) * (rlim_t)sysconf(_SC_PAGESIZE) + bytes;
        if (setrlimit(RLIMIT_AS, &(struct rlimit){most, most})) _exit(101);
        fo_buf out = {0};
        fo_err err = {0};
        const int rc = try(template, &out, &err);
        _exit(rc == FO_ELIMIT && !strstr(err.msg, "MiB") ? 102 : -rc); /* 102: another limit */
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return -WEXITSTATUS(status);
}

/* What is longer than the text that it is made of ends where the arena would be full, not behind that. */
static void text_that_grows_takes_no_more_than_there_is(void **state) {
    (void)state;
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
    skip(); /* they take the addresses for themselves */
#endif
#define MILLIONS(c, n) "{% set x = (['" c "' * 10000000] * " #n ") | join %}"
    static const char *const growing[] = {
        MILLIONS("&", 8) "{{ x | escape }}",
        MILLIONS("\\x01", 8) "{{ x | tojson }}",
        MILLIONS("\\x01", 8) "{{ {x: 1} | tojson }}",
        MILLIONS("\\x01", 8) "{{ [x] }}",
        MILLIONS("a", 4) "{{ '%s%s%s%s%s%s%s%s%s%s' | format(x, x, x, x, x, x, x, x, x, x) }}",
        MILLIONS("a", 4) "{{ ('{0}' * 200).format(x) }}",
        MILLIONS("a", 4) "{{ ([x] * 200) | join }}",
        MILLIONS("a", 4) "{{ ''.join([x] * 200) }}",
        MILLIONS("a", 4) "{{ ('b' * 200).replace('b', x) }}",
        MILLIONS("a", 4) "{{ ('\\n' * 200) | indent(x, blank=true) }}",
        MILLIONS("a", 4) "{{ [x] * 200 }}",
        MILLIONS("a", 4) "{{ ([x] * 200) | tojson }}",
    };
    for (size_t i = 0; i < sizeof growing / sizeof *growing; i++) {
        const int rc = code_within(growing[i], (size_t)400 << 20);
        if (rc != FO_ELIMIT) fail_msg("%s: %d", growing[i], rc);
    }
}

static void a_refused_system_message_joins_the_first_question(void **state) {
    (void)state;
    static const char refuses[] =
        "{% if messages[0].role == 'system' %}"
        "{{ raise_exception('no system') }}{% endif %}"
        "{% for m in messages %}[{{ m.role }}] {{ m.content }}{% endfor %}";
    static const char drops[] = "{% for m in messages if m.role != 'system' %}"
                                "[{{ m.role }}] {{ m.content }}{% endfor %}";
    cJSON *messages = cJSON_Parse("[{\"role\":\"system\",\"content\":\"Be brief.\"},"
                                  "{\"role\":\"user\",\"content\":\"Hi\"}]");
    fo_buf out = {0};
    fo_err err = {0};
    assert_ok(render(refuses, messages, NULL, &out, &err), &err);
    assert_string_equal(out.data, "[user] Be brief.\nHi");
    fo_buf_clear(&out);
    assert_ok(render(drops, messages, NULL, &out, &err), &err);
    assert_string_equal(out.data, "[user] Be brief.\nHi");
    fo_buf_free(&out);
    cJSON_Delete(messages);
}

static void falls_back_to_chatml_and_says_so(void **state) {
    (void)state;
    cJSON *messages =
        cJSON_Parse("[{\"role\":\"system\",\"content\":\"S\"},{\"role\":\"user\",\"content\":"
                    "[{\"type\":\"text\",\"text\":\"Hi\"}]}]");
    chat_template_input in = {.messages = messages, .add_generation_prompt = true};
    static const char want[] = "<|im_start|>system\nS<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n"
                               "<|im_start|>assistant\n";
    fo_buf out = {0};
    fo_err err = {0}, why = {0};
    bool fell_back = false;
    assert_ok(chat_template_render_or_chatml(NULL, &in, &out, &fell_back, &why, &err), &err);
    assert_true(fell_back);
    assert_string_equal(out.data, want);
    fo_buf_clear(&out);
    chat_template *t = NULL;
    static const char fails[] = "text before {{ nothing.at.all }}";
    assert_ok(chat_template_parse(&t, fails, sizeof fails - 1, &err), &err);
    assert_ok(chat_template_render_or_chatml(t, &in, &out, &fell_back, &why, &err), &err);
    assert_true(fell_back);
    assert_string_equal(out.data, want);
    assert_non_null(strstr(why.msg, "'nothing' is undefined"));
    chat_template_free(t);
    fo_buf_clear(&out);
    assert_ok(chat_template_parse(&t, "ok", 2, &err), &err);
    assert_ok(chat_template_render_or_chatml(t, &in, &out, &fell_back, &why, &err), &err);
    assert_false(fell_back);
    chat_template_free(t);
    fo_buf_free(&out);
    cJSON_Delete(messages);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(renders_every_golden_template_byte_for_byte),
        cmocka_unit_test(renders_as_jinja_does),
        cmocka_unit_test(large_whole_numbers_keep_their_digits),
        cmocka_unit_test(errors_name_the_line),
        cmocka_unit_test(hostile_templates_hit_a_limit),
        cmocka_unit_test(many_arguments_and_braces_hit_a_limit),
        cmocka_unit_test(many_names_hit_a_limit),
        cmocka_unit_test(text_that_grows_takes_no_more_than_there_is),
        cmocka_unit_test(a_refused_system_message_joins_the_first_question),
        cmocka_unit_test(falls_back_to_chatml_and_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
