/* Rules of .gitignore files as git reads them: a table of cases from gitignore(5), and time that no rule can
 * make long. (tests/server/sync_test.sh holds a whole tree against git itself.) */
#include "tests/test.h"

#include <time.h>

#include "data/files/ignore_rules.h"
#include "kernels/clock.h"

static enum ignore_verdict judge(const char *lines, const char *path, bool folder) {
    ignore_rules *r;
    fo_err err = {0};
    assert_ok(ignore_rules_create(&r, NULL, "", &err), &err);
    assert_ok(ignore_rules_add(r, lines, strlen(lines), &err), &err);
    enum ignore_verdict v = ignore_rules_judge(r, path, folder);
    ignore_rules_free(r);
    return v;
}

static void reads_rules_as_git_does(void **state) {
    (void)state;
    static const struct {
        const char *lines, *path;
        bool folder;
        enum ignore_verdict want;
    } cases[] = {
        {"*.log", "a.log", false, IGNORE_OUT},
        {"*.log", "deep/er/a.log", false, IGNORE_OUT},
        {"*.log", "a.logs", false, IGNORE_UNDECIDED},
        {"*.log", ".log", false, IGNORE_OUT},
        {"/a.txt", "a.txt", false, IGNORE_OUT},
        {"/a.txt", "b/a.txt", false, IGNORE_UNDECIDED},
        {"b/a.txt", "b/a.txt", false, IGNORE_OUT},
        {"b/a.txt", "c/b/a.txt", false, IGNORE_UNDECIDED},
        {"build/", "build", true, IGNORE_OUT},
        {"build/", "x/build", true, IGNORE_OUT},
        {"build/", "build", false, IGNORE_UNDECIDED},
        {"b/c/", "b/c", true, IGNORE_OUT},
        {"b/c/", "x/b/c", true, IGNORE_UNDECIDED},
        {"*.log\n!keep.log", "keep.log", false, IGNORE_IN},
        {"!keep.log\n*.log", "keep.log", false, IGNORE_OUT},
        {"\\!a", "!a", false, IGNORE_OUT},
        {"# a\n\n   \n", "# a", false, IGNORE_UNDECIDED},
        {"\\#a", "#a", false, IGNORE_OUT},
        {"a ", "a", false, IGNORE_OUT},
        {"a\\ ", "a ", false, IGNORE_OUT},
        {"a\\ ", "a", false, IGNORE_UNDECIDED},
        {"a\r\nb\r\n", "b", false, IGNORE_OUT},
        {"\xEF\xBB\xBFz", "z", false, IGNORE_OUT},
        {"**/foo", "foo", false, IGNORE_OUT},
        {"**/foo", "a/b/foo", false, IGNORE_OUT},
        {"**/foo/bar", "a/foo/bar", false, IGNORE_OUT},
        {"**/foo/bar", "a/foo/x/bar", false, IGNORE_UNDECIDED},
        {"abc/**", "abc/x/y", false, IGNORE_OUT},
        {"abc/**", "abc", true, IGNORE_UNDECIDED},
        {"a/**/b", "a/b", false, IGNORE_OUT},
        {"a/**/b", "a/x/y/b", false, IGNORE_OUT},
        {"a/**/b", "ax/b", false, IGNORE_UNDECIDED},
        {"a**b", "axxb", false, IGNORE_OUT},
        {"x/a**b", "x/a/b", false, IGNORE_UNDECIDED},
        {"**", "any/thing", false, IGNORE_OUT},
        {"/*", "any", true, IGNORE_OUT},
        {"/*", "any/thing", false, IGNORE_UNDECIDED},
        {"a?c", "abc", false, IGNORE_OUT},
        {"x/a?c", "x/a/c", false, IGNORE_UNDECIDED},
        {"[a-c]x", "bx", false, IGNORE_OUT},
        {"[!a-c]x", "bx", false, IGNORE_UNDECIDED},
        {"[^a-c]x", "dx", false, IGNORE_OUT},
        {"[]x]", "]", false, IGNORE_OUT},
        {"[a-]", "-", false, IGNORE_OUT},
        {"[\\]]", "]", false, IGNORE_OUT},
        {"v[[:digit:]]", "v7", false, IGNORE_OUT},
        {"v[[:digit:]]", "vx", false, IGNORE_UNDECIDED},
        {"v[[:none:]]", "vn", false, IGNORE_UNDECIDED},
        {"v[[:digit:]", "v7", false, IGNORE_UNDECIDED},
        {"[a", "[a", false, IGNORE_UNDECIDED},
        {"a\\", "a\\", false, IGNORE_UNDECIDED},
        {"\\*", "*", false, IGNORE_OUT},
        {"\\*", "x", false, IGNORE_UNDECIDED},
        {"/", "a", true, IGNORE_UNDECIDED},
        {"x/*.md\n!x/b.md", "x/b.md", false, IGNORE_IN},
        {"x/*.md\n!x/b.md", "x/a.md", false, IGNORE_OUT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        enum ignore_verdict v = judge(cases[i].lines, cases[i].path, cases[i].folder);
        if (v != cases[i].want)
            fail_msg("'%s' of '%s'%s: %d, not %d", cases[i].lines, cases[i].path,
                     cases[i].folder ? " (a folder)" : "", v, cases[i].want);
    }
}

static void the_rules_of_deeper_folders_go_first(void **state) {
    (void)state;
    ignore_rules *top, *deep;
    fo_err err = {0};
    assert_ok(ignore_rules_create(&top, NULL, "", &err), &err);
    assert_ok(ignore_rules_add(top, "*.md\n/docs/x\n", 14, &err), &err);
    assert_ok(ignore_rules_create(&deep, top, "docs", &err), &err);
    assert_ok(ignore_rules_add(deep, "!b.md\n/a.txt\n", 13, &err), &err);
    assert_int_equal(ignore_rules_judge(deep, "docs/a.md", false), IGNORE_OUT);
    assert_int_equal(ignore_rules_judge(deep, "docs/b.md", false), IGNORE_IN);
    assert_int_equal(ignore_rules_judge(deep, "docs/x", false), IGNORE_OUT);
    assert_int_equal(ignore_rules_judge(deep, "docs/a.txt", false), IGNORE_OUT);
    assert_int_equal(ignore_rules_judge(deep, "docs/c/a.txt", false), IGNORE_UNDECIDED);
    assert_int_equal(ignore_rules_judge(NULL, "a", false), IGNORE_UNDECIDED);
    ignore_rules_free(deep);
    ignore_rules_free(top);
}

static void no_rule_takes_long(void **state) {
    (void)state;
    char lines[IGNORE_RULE_BYTES * 2], path[4000];
    size_t n = 0;
    while (n < 600) n += (size_t)snprintf(lines + n, sizeof lines - n, "*a**/");
    snprintf(lines + n, sizeof lines - n, "b");
    for (size_t i = 0; i < sizeof path; i++) path[i] = i % 50 == 49 ? '/' : 'a';
    path[sizeof path - 1] = 0;
    double began = fo_now_ms();
    assert_int_equal(judge(lines, path, false), IGNORE_UNDECIDED);
    assert_true(fo_now_ms() - began < 1000);
    memset(lines, 'a', IGNORE_RULE_BYTES + 1); /* too long a rule matches nothing */
    lines[IGNORE_RULE_BYTES + 1] = 0;
    assert_int_equal(judge(lines, lines, false), IGNORE_UNDECIDED);
    lines[IGNORE_RULE_BYTES] = 0;
    assert_int_equal(judge(lines, lines, false), IGNORE_OUT);
}

/* Computing time to hold a long path against many rules made of this piece. */
static double cost_of(const char *piece) {
    static char rules[20 * IGNORE_RULE_BYTES];
    char path[4000];
    size_t n = 0, line = 0;
    while (n + IGNORE_RULE_BYTES < sizeof rules) {
        for (line = n; n - line + strlen(piece) < IGNORE_RULE_BYTES - 1;)
            n += (size_t)sprintf(rules + n, "%s", piece);
        n += (size_t)sprintf(rules + n, "b\n");
    }
    for (size_t i = 0; i + 1 < sizeof path; i++) path[i] = i % 2 ? '/' : 'a';
    path[sizeof path - 1] = 0;
    clock_t began = clock();
    assert_int_equal(judge(rules, path, false), IGNORE_UNDECIDED);
    return (double)(clock() - began) * 1e3 / CLOCKS_PER_SEC;
}

/* Of stars behind stars no more than of stars with letters between them, of which as many are matched at a time. */
static void stars_behind_stars_take_no_square(void **state) {
    (void)state;
    double apart = cost_of("**/a/"), together = cost_of("**/");
    print_message("# %.0f ms, %.0f ms\n", apart, together);
    assert_true(together < 5 * apart + 50);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_rules_as_git_does),
        cmocka_unit_test(the_rules_of_deeper_folders_go_first),
        cmocka_unit_test(no_rule_takes_long),
        cmocka_unit_test(stars_behind_stars_take_no_square),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
