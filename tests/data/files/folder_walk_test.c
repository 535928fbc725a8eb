/* Folders walked: what is listed, what is left out and counted, what cannot be seen; files read without a link on
 * the way; and a watch that tells of changes. */
#include "tests/test.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>

#include "data/files/folder_walk.h"
#include "data/files/folder_watch.h"
#include "kernels/clock.h"

typedef struct env {
    char *dir;
    int fd;
    folder_listing found;
    char told[2000]; /* of failures and of what was left out, by path */
    fo_err err;
} env;

static env begin(void) {
    env e = {.dir = test_folder()};
    e.fd = folder_open(e.dir, &e.err);
    assert_true(e.fd >= 0);
    return e;
}

static void end(env *e) {
    folder_listing_deinit(&e->found);
    close(e->fd);
    test_remove(e->dir);
}

static void by_shell(const env *e, const char *command) {
    char line[4000];
    snprintf(line, sizeof line, "cd '%s' && %s", e->dir, command);
    assert_int_equal(system(line), 0);
}

static int is_md(const char *name) {
    const char *dot = strrchr(name, '.');
    return dot && !strcmp(dot, ".md") ? 1 : dot && !strcmp(dot, ".any") ? 2 : 0;
}

static void on_failed(void *ctx, const char *path, const fo_err *why) {
    env *e = ctx;
    size_t n = strlen(e->told);
    snprintf(e->told + n, sizeof e->told - n, "%s: %.30s;", path, why->msg);
}

static void on_left_out(void *ctx, const char *path, const char *kind, int64_t size) {
    env *e = ctx;
    size_t n = strlen(e->told);
    snprintf(e->told + n, sizeof e->told - n, "%s %s %d;", path, kind, (int)size);
}

static int walk(env *e, const struct stat *except) {
    folder_listing_deinit(&e->found);
    e->told[0] = 0;
    folder_walk w = {.wanted = is_md,
                     .max_file_bytes = 100,
                     .except = except,
                     .failed = on_failed,
                     .left_out = on_left_out,
                     .ctx = e};
    return folder_walk_run(&w, e->fd, &e->found, &e->err);
}

static void expect(env *e, const char *paths, const char *skipped) {
    char got[4000] = "";
    for (size_t i = 0; i < e->found.n; i++) {
        size_t n = strlen(got);
        snprintf(got + n, sizeof got - n, "%s ", e->found.files[i].path);
    }
    assert_string_equal(got, paths);
    fo_buf b = {0};
    skip_counts_write(&e->found.skipped, &b);
    assert_string_equal(b.data ? b.data : "", skipped);
    fo_buf_free(&b);
}

static void lists_what_is_wanted_and_counts_the_rest(void **state) {
    (void)state;
    env e = begin();
    by_shell(
        &e, "mkdir -p a/b .git node_modules out home && for f in z.md a/x.md a/b/y.md .git/c.md "
            ".h.md node_modules/n.md out/o.md a/out.md home/h.md a.c a-.md; do echo 1 >$f; done && "
            ": >e.md && head -c 101 /dev/zero >big.md && cp big.md big.any && ln -s .. a/b/up && "
            "ln -s /etc etc && ln -s z.md l.md && mkfifo p.md && "
            "printf 'out/\\n' >.gitignore && printf '!.h.md\\n!out/\\n' >.forageignore");
    struct stat home;
    char path[4200];
    snprintf(path, sizeof path, "%s/home", e.dir);
    assert_int_equal(stat(path, &home), 0);
    assert_ok(walk(&e, &home), &e.err);
    expect(&e, ".h.md a-.md a/b/y.md a/out.md a/x.md big.any out/o.md z.md ",
           "12 skipped: hidden 3, link 3, .c 1, empty 1, home 1, no file 1, node_modules 1, too "
           "large 1");
    assert_string_equal(e.told, "big.md too large 101;e.md empty 0;");
    assert_int_equal(e.found.n_unseen, 0);
    by_shell(&e, "printf '!node_modules\\n!.git\\n' >>.forageignore");
    assert_ok(walk(&e, NULL), &e.err);
    expect(
        &e,
        ".h.md a-.md a/b/y.md a/out.md a/x.md big.any home/h.md node_modules/n.md out/o.md z.md ",
        "10 skipped: hidden 3, link 3, .c 1, empty 1, no file 1, too large 1");
    end(&e);
}

/* Machines read these; a rule takes one in again. */
static void files_made_by_machines_are_counted(void **state) {
    (void)state;
    env e = begin();
    by_shell(&e, "for f in search.html genindex.html genindex-A.html py-modindex.html a.min.js "
                 "searchindex.js app.js.map poetry.lock package-lock.json go.sum a.md; do echo 1 "
                 ">$f; done; mkdir maps && echo 1 >maps/b.md && mkdir search.html.d && echo 1 "
                 ">search.html.d/c.md && echo 1 >k.min.js.md");
    assert_ok(walk(&e, NULL), &e.err);
    expect(&e, "a.md k.min.js.md maps/b.md search.html.d/c.md ", "10 skipped: machine-made 10");
    end(&e);
}

static void what_it_cannot_read_is_unseen(void **state) {
    (void)state;
    env e = begin();
    by_shell(&e,
             "p=deep && i=0 && while [ $i -lt 70 ]; do p=$p/d; i=$((i+1)); done && mkdir -p $p && "
             "echo 1 >$p/x.md && mkdir rules && echo 1 >rules/x.md && "
             "yes no.md | head -c 65541 >rules/.gitignore && mkdir most && "
             "head -c 65536 rules/.gitignore >most/.gitignore && echo 1 >most/no.md && "
             "echo 1 >ok.md");
    assert_ok(walk(&e, NULL), &e.err);
    expect(&e, "ok.md ", "2 skipped: hidden 1, ignored 1");
    assert_int_equal(e.found.n_unseen, 2);
    assert_string_equal(e.found.unseen[1], "rules"); /* nobody knows what is to be left out there */
    assert_non_null(strstr(e.told, "nested deeper than 64 folders"));
    assert_non_null(strstr(e.told, "rules: .gitignore: "));
    atomic_bool stop = true;
    folder_walk w = {.cancel = &stop};
    folder_listing_deinit(&e.found);
    assert_int_equal(folder_walk_run(&w, e.fd, &e.found, &e.err), FO_ECANCELLED);
    assert_int_equal(folder_open("/nowhere/at/all", &e.err), FO_ENOTFOUND);
    assert_int_equal(folder_open("/etc/passwd", &e.err), FO_EINVAL);
    end(&e);
}

static void stop_walking(void *ctx, const char *path) {
    (void)path;
    atomic_store((atomic_bool *)ctx, true);
}

/* A folder may hold very many files, each to be held against very many rules. */
static void it_ends_within_a_folder_too(void **state) {
    (void)state;
    env e = begin();
    by_shell(&e, "echo 1 >a.md && echo 1 >b.md");
    atomic_bool stop = false;
    folder_walk w = {.cancel = &stop, .entering = stop_walking, .ctx = &stop};
    assert_int_equal(folder_walk_run(&w, e.fd, &e.found, &e.err), FO_ECANCELLED);
    assert_int_equal(e.found.n, 0);
    end(&e);
}

/* git does not follow such a link either, and goes on without its rules. */
static void rules_that_are_no_file_are_none(void **state) {
    (void)state;
    env e = begin();
    by_shell(&e, "mkdir -p a/.gitignore b && echo '*.md' >b/rules && ln -s rules b/.gitignore && "
                 "ln -s nowhere .forageignore && for d in . a b; do echo 1 >$d/x.md; done");
    assert_ok(walk(&e, NULL), &e.err);
    expect(&e, "a/x.md b/x.md x.md ", "4 skipped: hidden 3, no ending 1");
    assert_int_equal(e.found.n_unseen, 0);
    end(&e);
}

static void no_link_is_followed_to_a_file(void **state) {
    (void)state;
    env e = begin();
    by_shell(&e, "mkdir -p real/deep && printf 12345 >real/deep/f && ln -s real away && ln -s f "
                 "real/deep/l");
    char *data;
    size_t n;
    struct stat st;
    assert_ok(folder_read_file(e.fd, "real/deep/f", 5, &data, &n, &st, &e.err), &e.err);
    assert_int_equal(n, 5);
    assert_memory_equal(data, "12345", 6);
    assert_true(folder_time_ns(&st.st_mtim) > 0);
    free(data);
    assert_int_equal(folder_read_file(e.fd, "real/deep/f", 4, &data, &n, &st, &e.err), FO_ELIMIT);
    static const char *const none[] = {
        "away/deep/f", "real/deep/l", "real/deep", "real//deep/f", "", "real/no"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        if (folder_open_file(e.fd, none[i], &st, &e.err) >= 0) fail_msg("%s was opened", none[i]);
    end(&e);
}

typedef struct writer {
    const char *dir;
    int delay_ms;
} writer;

static void *write_later(void *arg) {
    const writer *w = arg;
    char path[4200];
    for (int i = 0; i < 3; i++) { /* three changes that come together */
        usleep((useconds_t)w->delay_ms * 1000);
        snprintf(path, sizeof path, "%s/sub/new%d.md", w->dir, i);
        int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
        assert_true(fd >= 0);
        close(fd);
    }
    return NULL;
}

static void *wake_later(void *arg) {
    usleep(50000);
    folder_watch_wake(arg);
    return NULL;
}

static void a_watch_tells_of_changes_once(void **state) {
    (void)state;
    env e = begin();
    by_shell(&e, "mkdir sub");
    folder_watch *w;
    enum folder_watch_event event;
    assert_ok(folder_watch_create(&w, e.dir, &e.err), &e.err);
    folder_walk k = {.entering = folder_watch_enter, .ctx = w};
    assert_ok(folder_walk_run(&k, e.fd, &e.found, &e.err), &e.err);
    assert_string_equal(folder_watch_trouble(w), "");
    double began = fo_now_ms();
    assert_ok(folder_watch_wait(w, 50, &event, &e.err), &e.err);
    assert_int_equal(event, FOLDER_WATCH_TIME);
    assert_true(fo_now_ms() - began >= 50);
    pthread_t t;
    assert_int_equal(pthread_create(&t, NULL, write_later, &(writer){e.dir, 40}), 0);
    began = fo_now_ms();
    assert_ok(folder_watch_wait(w, 60000, &event, &e.err), &e.err);
    assert_int_equal(event, FOLDER_WATCH_CHANGED);
    assert_true(fo_now_ms() - began < 10000);
    pthread_join(t, NULL);
    assert_ok(folder_watch_wait(w, 50, &event, &e.err), &e.err);
    assert_int_equal(event, FOLDER_WATCH_TIME);
    assert_int_equal(pthread_create(&t, NULL, wake_later, w), 0);
    assert_ok(folder_watch_wait(w, 60000, &event, &e.err), &e.err);
    assert_int_equal(event, FOLDER_WATCH_WOKEN);
    pthread_join(t, NULL);
    folder_watch_free(w);
    folder_watch_free(NULL);
    end(&e);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_what_is_wanted_and_counts_the_rest),
        cmocka_unit_test(files_made_by_machines_are_counted),
        cmocka_unit_test(what_it_cannot_read_is_unseen),
        cmocka_unit_test(it_ends_within_a_folder_too),
        cmocka_unit_test(rules_that_are_no_file_are_none),
        cmocka_unit_test(no_link_is_followed_to_a_file),
        cmocka_unit_test(a_watch_tells_of_changes_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
