/* What a file is called as a document: one name however its path is typed, links, --base; and the
 * counts of what a folder holds beside. */
#include "tests/test.h"

#include <limits.h>
#include <sys/stat.h>

#include "server/cli/file_names.h"
#include "data/files/skip_counts.h"

/* A folder `top` with top/work (the working folder), top/work/notes, top/other and a link
 * top/work/docs -> top/other. */
typedef struct place {
    char *top;
    char back[PATH_MAX], root[PATH_MAX];
} place;

static void make(const char *path) {
    assert_int_equal(mkdir(path, 0700), 0);
}

static int enter(void **state) {
    place *p = calloc(1, sizeof *p);
    p->top = test_folder();
    assert_non_null(getcwd(p->back, sizeof p->back));
    assert_non_null(realpath(p->top, p->root));
    assert_int_equal(chdir(p->top), 0);
    make("work");
    make("work/notes");
    make("other");
    assert_int_equal(symlink("../other", "work/docs"), 0);
    assert_int_equal(chdir("work"), 0);
    *state = p;
    return 0;
}

static int leave(void **state) {
    place *p = *state;
    assert_int_equal(chdir(p->back), 0);
    test_remove(p->top);
    free(p);
    return 0;
}

/* "%" in a name stands for the folder top. NULL: there is no such name. */
static void is(const place *p, const char *what, const char *got, const char *want) {
    char name[2 * PATH_MAX] = "";
    if (want && *want == '%')
        snprintf(name, sizeof name, "%s%s", p->root, want + 1);
    else if (want)
        snprintf(name, sizeof name, "%s", want);
    if (!want && got) fail_msg("%s: '%s' where there is none", what, got);
    if (want && (!got || strcmp(got, name) != 0)) fail_msg("%s: '%s', not '%s'", what, got, name);
}

static void names(const place *p, const char *path, const char *base, const char *root,
                  const char *below, const char *typed) {
    fo_err err = {0};
    file_names n;
    char given[2 * PATH_MAX];
    snprintf(given, sizeof given, "%s%s", *path == '%' ? p->root : "", path + (*path == '%'));
    assert_ok(file_names_make(&n, given, base, &err), &err);
    is(p, path, n.name[0], root);
    is(p, path, n.name[1], below);
    is(p, path, n.name[2], typed);
    is(p, path, n.new_name, below ? below : root);
    file_names_deinit(&n);
}

static void a_path_has_one_name_however_it_is_typed(void **state) {
    const place *p = *state;
    const char *const ways[] = {"notes",       "./notes",      "notes/",        "notes//",
                                "././notes/.", "%/work/notes", "%/work//notes/"};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        names(p, ways[i], NULL, "%/work/notes", "notes", NULL);
    names(p, "../work/notes", NULL, "%/work/notes", "notes", NULL);
    names(p, "notes/../notes", NULL, "%/work/notes", "notes", NULL);
    names(p, ".", NULL, "%/work", "", NULL);
    names(p, "..", NULL, "%", NULL, NULL);
    names(p, "../other", NULL, "%/other", NULL, NULL);
    names(p, "%/other", NULL, "%/other", NULL, NULL);
}

static void a_link_keeps_its_name_and_those_before_it_do_not(void **state) {
    const place *p = *state;
    names(p, "docs", NULL, "%/work/docs", "docs", NULL);
    assert_int_equal(mkdir("../other/in", 0700), 0);
    names(p, "docs/in", NULL, "%/other/in", NULL, "docs/in");
    names(p, "%/work/docs/in", NULL, "%/other/in", NULL, "%/work/docs/in");
}

static void a_base_takes_the_place_of_the_working_folder(void **state) {
    const place *p = *state;
    names(p, "notes", "..", "%/work/notes", "work/notes", NULL);
    names(p, "notes", "notes", "%/work/notes", "", NULL);
    names(p, "../other", "notes", "%/other", NULL, NULL);
    assert_int_equal(mkdir("notes2", 0700), 0);
    names(p, "notes2", "notes", "%/work/notes2", NULL, NULL); /* no part of a name */
    names(p, "notes", "/", "%/work/notes", NULL, NULL);       /* everything is below that */
    fo_err err = {0};
    file_names n;
    assert_int_not_equal(file_names_make(&n, "notes", "none", &err), FO_OK);
    assert_non_null(strstr(err.msg, "none"));
    assert_int_not_equal(file_names_make(&n, "none/x", NULL, &err), FO_OK);
}

static void names_are_joined_with_one_slash(void **state) {
    (void)state;
    static const char *const rows[][3] = {{"", "a", "a"}, {"n", "a/b", "n/a/b"}, {"/", "a", "/a"},
                                          {"n", "", "n"}, {"n/", "a", "n/a"},    {"", "", ""}};
    fo_buf b = {0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        file_names_join(&b, rows[i][0], rows[i][1]);
        assert_string_equal(b.data, rows[i][2]);
    }
    fo_buf_free(&b);
}

static void skipped_files_are_counted_by_their_endings(void **state) {
    (void)state;
    static const char *const files[] = {
        "a.pdf", "b.PDF",      "c.tar.gz", "d.gz",       "e.1.gz",
        "f",     "g.",         ".h",       "i.docx",     "j.docx",
        "k.pdf", "l.1234.zst", "m..gz",    "n.\xC3\xA9", "o.an-ending-that-is-too-long-to-be-one"};
    skip_counts c = {0};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) skip_counts_add_file(&c, files[i]);
    skip_counts_add(&c, "link");
    fo_buf b = {0};
    skip_counts_write(&c, &b);
    assert_string_equal(b.data, "16 skipped: no ending 6, .pdf 3, .docx 2, .tar.gz 1, .zst 1, "
                                ".\xC3\xA9 1, link 1, other 1");
    fo_buf_free(&b);
}

static void there_are_never_more_kinds_than_rows(void **state) {
    (void)state;
    skip_counts c = {0};
    for (int i = 0; i < 1000; i++) {
        char name[32];
        snprintf(name, sizeof name, "x.e%d", i % 200);
        skip_counts_add_file(&c, name);
    }
    assert_int_equal(c.n, 1000);
    assert_int_equal(c.n_kinds, SKIP_KINDS);
    skip_counts_sort(&c);
    assert_string_equal(c.by[0].kind, "other");
    assert_int_equal(c.by[0].n, 1000 - 5 * (SKIP_KINDS - 1));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_path_has_one_name_however_it_is_typed, enter, leave),
        cmocka_unit_test_setup_teardown(a_link_keeps_its_name_and_those_before_it_do_not, enter,
                                        leave),
        cmocka_unit_test_setup_teardown(a_base_takes_the_place_of_the_working_folder, enter, leave),
        cmocka_unit_test(names_are_joined_with_one_slash),
        cmocka_unit_test(skipped_files_are_counted_by_their_endings),
        cmocka_unit_test(there_are_never_more_kinds_than_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
