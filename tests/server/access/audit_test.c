/* audit_test.c - the audit log: lines whole or not at all, and none lost where several move a full file away; what of
 * refused requests it tells. */
#include "server/access/audit.h"
#include "server/access/audit_refusals.h"
#include "tests/test.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <sys/file.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "kernels/file.h"

enum { FULL = (16 << 20) + 1, WRITERS = 8 };

static const audit_act act = {.act = "keys create", .what = "k_1", .who = "command line"};

static atomic_int n_syncs, n_folder_syncs;
static atomic_bool disk_fails;

/* In the place of the C library's, for this program. */
int fdatasync(int fd) {
    n_syncs++;
    if (disk_fails) return errno = EIO, -1;
    return (int)syscall(SYS_fdatasync, fd);
}

int fsync(int fd) {
    struct stat st;
    n_folder_syncs += fstat(fd, &st) == 0 && S_ISDIR(st.st_mode);
    return (int)syscall(SYS_fsync, fd);
}

static char *path_of(const char *home, const char *name) {
    char path[4200];
    snprintf(path, sizeof path, "%s/%s", home, name);
    return strdup(path);
}

static off_t size_of(const char *home, const char *name) {
    struct stat st;
    char *path = path_of(home, name);
    off_t size = stat(path, &st) ? -1 : st.st_size;
    free(path);
    return size;
}

/* Lines of the log, each of which must be JSON by itself. */
static int count_lines(const char *home) {
    char *path = path_of(home, "audit.log"), *data, *rest, *line;
    size_t size;
    fo_err err = {0};
    assert_ok(fo_file_read(path, 1 << 20, &data, &size, &err), &err);
    assert_true(size > 0 && data[size - 1] == '\n');
    int n = 0;
    for (rest = data; (line = strsep(&rest, "\n")) && *line; n++) {
        cJSON *root = cJSON_Parse(line);
        if (!root) fail_msg("no line of JSON: %s", line);
        cJSON_Delete(root);
    }
    free(data);
    free(path);
    return n;
}

static void a_line_is_there_whole(void **state) {
    (void)state;
    char *home = test_folder(), *path = path_of(home, "audit.log");
    fo_err err = {0};
    struct stat st;
    for (int i = 0; i < 3; i++) assert_ok(audit_write(home, &act, &err), &err);
    assert_int_equal(count_lines(home), 3);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    free(path);
    test_remove(home);
}

static void a_full_disk_leaves_no_part_of_a_line(void **state) {
    (void)state;
    char *home = test_folder();
    fo_err err = {0};
    struct rlimit had, little;
    assert_ok(audit_write(home, &act, &err), &err);
    const off_t before = size_of(home, "audit.log");
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &had), 0);
    little = had;
    little.rlim_cur = (rlim_t)before + 10; /* ten bytes of the next line find room */
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
    errno = EACCES; /* of something else */
    int rc = audit_write(home, &act, &err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &had), 0);
    assert_int_equal(rc, FO_ENOSPC);
    assert_non_null(strstr(err.msg, "No space left"));
    assert_int_equal(size_of(home, "audit.log"), before);
    assert_ok(audit_write(home, &act, &err), &err);
    assert_int_equal(count_lines(home), 2);
    test_remove(home);
}

static void what_is_not_on_the_disk_is_told(void **state) {
    (void)state;
    char *home = test_folder();
    fo_err err = {0};
    n_folder_syncs = 0;
    assert_ok(audit_write(home, &act, &err), &err);
    assert_int_equal(n_folder_syncs, 1); /* of a new file its name, too */
    assert_ok(audit_write(home, &act, &err), &err);
    assert_int_equal(n_folder_syncs, 1);
    disk_fails = true;
    int rc = audit_write(home, &act, &err);
    disk_fails = false;
    assert_int_equal(rc, FO_EIO);
    test_remove(home);
}

static cJSON *last_line(const char *home) {
    char *path = path_of(home, "audit.log"), *data;
    size_t size;
    fo_err err = {0};
    assert_ok(fo_file_read(path, 1 << 20, &data, &size, &err), &err);
    data[size - 1] = 0;
    const char *line = strrchr(data, '\n');
    cJSON *root = cJSON_Parse(line ? line + 1 : data);
    assert_non_null(root);
    free(data);
    free(path);
    return root;
}

static void a_line_says_all_of_an_act(void **state) {
    (void)state;
    char *home = test_folder(), what[AUDIT_WHAT_BYTES + 40];
    fo_err err = {0};
    memset(what, 'a', sizeof what);
    memcpy(what + AUDIT_WHAT_BYTES - 1, "\xC3\xA9", 2); /* a character that the bound would halve */
    what[sizeof what - 1] = 0;
    const audit_act whole = {.act = "DELETE /collections/{name}",
                             .what = what,
                             .who = "k_1",
                             .tenant = "acme",
                             .from = "192.0.2.7",
                             .status = 403,
                             .refused = true,
                             .left_out = 12};
    assert_ok(audit_write(home, &whole, &err), &err);
    cJSON *root = last_line(home);
    assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(root, "from")), "192.0.2.7");
    assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(root, "tenant")), "acme");
    assert_int_equal(cJSON_GetObjectItem(root, "status")->valueint, 403);
    assert_int_equal(cJSON_GetObjectItem(root, "left_out")->valueint, 12);
    what[AUDIT_WHAT_BYTES - 1] = 0;
    assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(root, "what")), what);
    cJSON_Delete(root);
    assert_ok(audit_write(home, &act, &err), &err);
    root = last_line(home);
    assert_null(cJSON_GetObjectItem(root, "from"));
    assert_null(cJSON_GetObjectItem(root, "status"));
    assert_null(cJSON_GetObjectItem(root, "left_out"));
    cJSON_Delete(root);
    test_remove(home);
}

/* Whoever may write into the home leads no line to another file. */
static void a_link_is_not_followed(void **state) {
    (void)state;
    char *home = test_folder(), *path = path_of(home, "audit.log"), *other = path_of(home, "other");
    fo_err err = {0};
    assert_int_equal(symlink(other, path), 0);
    assert_int_not_equal(audit_write(home, &act, &err), FO_OK);
    assert_int_equal(size_of(home, "other"), -1);
    free(path);
    free(other);
    test_remove(home);
}

/* Keys that were made once are told of by either file, whoever made them, and by nothing that a client sent. */
static void the_log_tells_whether_keys_were_made(void **state) {
    (void)state;
    static const struct {
        const char *act, *what;
        bool tells;
    } cases[] = {{"keys create", "k_1", true},
                 {"POST /keys", "/keys", true},
                 {"DELETE /collections/{name}", "/collections/a", false},
                 {"DELETE /collections/{name}", "\"act\":\"keys create\"", false}};
    for (size_t i = 0; i < 2 * (sizeof cases / sizeof *cases); i++) {
        char *home = test_folder(), *path = path_of(home, "audit.log"),
             *older = path_of(home, "audit.log.1");
        fo_err err = {0};
        const audit_act one = {
            .act = cases[i / 2].act, .what = cases[i / 2].what, .who = "command line"};
        assert_false(audit_tells_of_keys(home));
        assert_ok(audit_write(home, &one, &err), &err);
        if (i % 2) assert_int_equal(rename(path, older), 0);
        assert_int_equal(audit_tells_of_keys(home), cases[i / 2].tells);
        free(path);
        free(older);
        test_remove(home);
    }
}

/* 16 MiB are not past 16 MiB. */
static void a_file_that_is_just_full_enough_stays(void **state) {
    (void)state;
    char *home = test_folder(), *path = path_of(home, "audit.log");
    fo_err err = {0};
    int fd = open(path, O_WRONLY | O_CREAT, 0600);
    assert_int_equal(ftruncate(fd, FULL - 1), 0);
    close(fd);
    assert_ok(audit_write(home, &act, &err), &err);
    assert_true(size_of(home, "audit.log") > FULL);
    assert_int_equal(size_of(home, "audit.log.1"), -1);
    free(path);
    test_remove(home);
}

typedef struct writer {
    const char *home;
    pthread_barrier_t *start;
} writer;

static void *write_one(void *arg) {
    writer *w = arg;
    fo_err err = {0};
    pthread_barrier_wait(w->start);
    assert_ok(audit_write(w->home, &act, &err), &err);
    return NULL;
}

/* Threads here, as processes would: each opens the file for itself. */
static void a_full_file_is_moved_away_once(void **state) {
    (void)state;
    char *home = test_folder(), *path = path_of(home, "audit.log");
    pthread_barrier_t start;
    pthread_barrier_init(&start, NULL, WRITERS);
    for (size_t round = 0; round < test_rounds(160); round++) {
        pthread_t t[WRITERS];
        writer w = {home, &start};
        unlink(path);
        int fd = open(path, O_WRONLY | O_CREAT, 0600);
        assert_int_equal(ftruncate(fd, FULL), 0);
        close(fd);
        for (int i = 0; i < WRITERS; i++) pthread_create(&t[i], NULL, write_one, &w);
        for (int i = 0; i < WRITERS; i++) pthread_join(t[i], NULL);
        assert_int_equal(size_of(home, "audit.log.1"), FULL);
        assert_int_equal(count_lines(home), WRITERS);
    }
    pthread_barrier_destroy(&start);
    free(path);
    test_remove(home);
}

/* One that waits while another moves the file away goes on with the new one. */
static void whoever_waited_writes_into_the_new_file(void **state) {
    (void)state;
    char *home = test_folder(), *path = path_of(home, "audit.log"),
         *older = path_of(home, "audit.log.1");
    fo_err err = {0};
    pthread_t waiting;
    pthread_barrier_t start;
    pthread_barrier_init(&start, NULL, 1);
    writer w = {home, &start};
    int fd = open(path, O_WRONLY | O_CREAT, 0600);
    assert_int_equal(ftruncate(fd, FULL), 0);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    pthread_create(&waiting, NULL, write_one, &w);
    usleep(200000);
    assert_int_equal(size_of(home, "audit.log"), FULL); /* nobody moves it but who has the lock */
    assert_int_equal(rename(path, older), 0);
    assert_ok(audit_write(home, &act, &err), &err);
    close(fd);
    pthread_join(waiting, NULL);
    assert_int_equal(size_of(home, "audit.log.1"), FULL);
    assert_int_equal(count_lines(home), 2);
    pthread_barrier_destroy(&start);
    free(path);
    free(older);
    test_remove(home);
}

/* A file that cannot be moved away is written on: a folder stands in its way. */
static void what_cannot_be_moved_goes_on(void **state) {
    (void)state;
    char *home = test_folder(), *path = path_of(home, "audit.log"),
         *in_the_way = path_of(home, "audit.log.1");
    fo_err err = {0};
    assert_int_equal(mkdir(in_the_way, 0700), 0);
    int fd = open(path, O_WRONLY | O_CREAT, 0600);
    assert_int_equal(ftruncate(fd, FULL), 0);
    close(fd);
    assert_ok(audit_write(home, &act, &err), &err);
    assert_true(size_of(home, "audit.log") > FULL);
    free(path);
    free(in_the_way);
    test_remove(home);
}

/* ---- what was refused --------------------------------------------------------------------------- */

static void nobody_waits_for_the_disk_where_nothing_was_done(void **state) {
    (void)state;
    char *home = test_folder();
    fo_err err = {0};
    audit_act no = act;
    no.refused = true;
    n_syncs = 0;
    assert_ok(audit_write(home, &no, &err), &err);
    assert_int_equal(n_syncs, 0);
    assert_ok(audit_write(home, &act, &err), &err);
    assert_int_equal(n_syncs, 1);
    assert_int_equal(count_lines(home), 2);
    test_remove(home);
}

static void a_key_has_a_few_lines_a_minute_and_one_of_the_others(void **state) {
    (void)state;
    audit_refusals l = {0};
    audit_refused some;
    size_t told = 0;
    for (int i = 0; i < 100; i++) told += audit_refusals_take(&l, "k_1", "acme", 1e6 + i);
    assert_int_equal(told, AUDIT_REFUSALS_A_MINUTE);
    assert_true(audit_refusals_take(&l, "k_2", "acme", 1e6 + 100)); /* by itself */
    assert_true(audit_refusals_take(&l, NULL, NULL, 1e6 + 100));
    assert_false(audit_refusals_due(&l, 1e6 + 59999, &some));
    assert_true(audit_refusals_due(&l, 1e6 + 60000, &some));
    assert_string_equal(some.who, "k_1");
    assert_string_equal(some.tenant, "acme");
    assert_int_equal(some.n, 100 - AUDIT_REFUSALS_A_MINUTE);
    assert_false(audit_refusals_due(&l, INFINITY, &some)); /* the others had none but their own */
    assert_true(audit_refusals_take(&l, "k_1", "acme", 1e6 + 60001));
}

static void more_keys_than_are_told_apart_are_counted_together(void **state) {
    (void)state;
    audit_refusals l = {0};
    audit_refused some;
    char who[32];
    for (int i = 0; i < AUDIT_REFUSERS + 10; i++) {
        snprintf(who, sizeof who, "k_%d", i);
        assert_int_equal(audit_refusals_take(&l, who, "acme", 1e6), i < AUDIT_REFUSERS);
    }
    assert_true(audit_refusals_due(&l, 1e6 + 60000, &some));
    assert_string_equal(some.who, AUDIT_REFUSED_OTHERS);
    assert_string_equal(some.tenant, "");
    assert_int_equal(some.n, 10);
    assert_true(
        audit_refusals_take(&l, "k_new", "acme", 1e6 + 60000)); /* in a place that is free again */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_is_there_whole),
        cmocka_unit_test(a_full_disk_leaves_no_part_of_a_line),
        cmocka_unit_test(what_is_not_on_the_disk_is_told),
        cmocka_unit_test(a_line_says_all_of_an_act),
        cmocka_unit_test(a_link_is_not_followed),
        cmocka_unit_test(the_log_tells_whether_keys_were_made),
        cmocka_unit_test(a_file_that_is_just_full_enough_stays),
        cmocka_unit_test(a_full_file_is_moved_away_once),
        cmocka_unit_test(whoever_waited_writes_into_the_new_file),
        cmocka_unit_test(what_cannot_be_moved_goes_on),
        cmocka_unit_test(nobody_waits_for_the_disk_where_nothing_was_done),
        cmocka_unit_test(a_key_has_a_few_lines_a_minute_and_one_of_the_others),
        cmocka_unit_test(more_keys_than_are_told_apart_are_counted_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
