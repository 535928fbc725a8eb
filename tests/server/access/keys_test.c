/* keys_test.c - the file of keys: what is kept of one, who is found by what, damage, two at a time. */
#include "kernels/file.h"
#include "kernels/hex.h"
#include "kernels/sha256.h"
#include "server/base/log.h"
#include "server/access/key_ring.h"
#include "tests/test.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/stat.h>

static access_secret make(const char *home, const key_spec *spec) {
    fo_err err = {0};
    access_secret s;
    assert_ok(keys_create(home, spec, &s, &err), &err);
    return s;
}

static const key_spec reader = {.name = "reader", .scopes = 1 << ACCESS_READ};

static char *contents(const char *home, size_t *n) {
    char path[4200], *data;
    fo_err err = {0};
    snprintf(path, sizeof path, "%s/keys", home);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    data = calloc(1, (64 << 20) + 2);
    *n = fread(data, 1, (64 << 20) + 1, f);
    fclose(f);
    (void)err;
    return data;
}

static void a_key_is_found_by_its_secret_alone(void **state) {
    (void)state;
    char *home = test_folder();
    const char *const collections[] = {"a", "b"}, *const groups[] = {"staff"};
    key_spec spec = {.name = "site",
                     .tenant = "bee",
                     .tier = "pro",
                     .scopes = 1 << ACCESS_READ | 1 << ACCESS_INGEST,
                     .collections = collections,
                     .n_collections = 2,
                     .groups = groups,
                     .n_groups = 1};
    access_secret one = make(home, &spec), two = make(home, &reader);
    assert_string_not_equal(one.text, two.text);
    key_table *t;
    fo_err err = {0};
    assert_ok(keys_read(&t, home, &err), &err);
    assert_int_equal(key_table_count(t), 2);
    const access_key *k = key_table_find(t, one.text);
    assert_non_null(k);
    assert_string_equal(k->id, one.id);
    assert_string_equal(k->tenant, "bee");
    assert_string_equal(k->tier, "pro");
    assert_true(access_key_has(k, ACCESS_READ) && access_key_has(k, ACCESS_INGEST));
    assert_false(access_key_has(k, ACCESS_ADMIN) || access_key_has(k, ACCESS_METRICS));
    assert_true(access_key_may_use(k, "a") && !access_key_may_use(k, "c"));
    assert_non_null(k->sees);
    assert_ptr_not_equal(key_table_find(t, two.text), k);
    /* Another's secret behind its name, one digit changed, a name nobody has, no key at all. */
    char wrong[128];
    snprintf(wrong, sizeof wrong, "%.20s%s", one.text, two.text + 20);
    assert_null(key_table_find(t, wrong));
    for (size_t i = 0; i < strlen(one.text); i++) {
        strcpy(wrong, one.text);
        wrong[i] = wrong[i] == '0' ? '1' : '0';
        assert_null(key_table_find(t, wrong));
    }
    static const char *const others[] = {"", "fk_", "Bearer", "k_0000000000000000"};
    for (size_t i = 0; i < 4; i++) assert_null(key_table_find(t, others[i]));
    snprintf(wrong, sizeof wrong, "%sx", one.text);
    assert_null(key_table_find(t, wrong));
    key_table_drop(t);

    /* The file has neither secret, and belongs to its owner alone. */
    size_t n;
    char *data = contents(home, &n), path[4200];
    assert_null(strstr(data, one.text + 20));
    assert_null(strstr(data, two.text + 20));
    free(data);
    struct stat st;
    snprintf(path, sizeof path, "%s/keys", home);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    test_remove(home);
}

static void a_revoked_key_opens_nothing(void **state) {
    (void)state;
    char *home = test_folder();
    access_secret one = make(home, &reader), two = make(home, &reader);
    fo_err err = {0};
    assert_ok(keys_revoke(home, one.id, &err), &err);
    assert_int_equal(keys_revoke(home, one.id, &err), FO_ECONFLICT);
    assert_int_equal(keys_revoke(home, "k_0000000000000000", &err), FO_ENOTFOUND);
    key_table *t;
    assert_ok(keys_read(&t, home, &err), &err);
    assert_null(key_table_find(t, one.text));
    assert_non_null(key_table_find(t, two.text));
    assert_true(key_table_at(t, 0)->revoked_ms > 0);
    key_table_drop(t);
    test_remove(home);
}

static void a_key_opens_nothing_once_its_time_is_over(void **state) {
    (void)state;
    char *home = test_folder();
    fo_err err = {0};
    key_spec soon = reader, later = reader, before = reader;
    soon.expires_ms = log_now_ms() + 1000;
    later.expires_ms = log_now_ms() + 3600000;
    before.expires_ms = log_now_ms() - 1;
    access_secret one = make(home, &soon), two = make(home, &later), out;
    assert_int_equal(keys_create(home, &before, &out, &err), FO_EINVAL);
    assert_string_equal(err.field, "expires");
    key_table *t;
    assert_ok(keys_read(&t, home, &err), &err);
    assert_int_equal(key_table_at(t, 1)->expires_ms, later.expires_ms); /* the file has it */
    const bool found = key_table_find(t, one.text) != NULL;
    if (log_now_ms() < soon.expires_ms)
        assert_true(found); /* a slow disk may have taken its time */
    while (log_now_ms() < soon.expires_ms) usleep(10000);
    assert_null(key_table_find(t, one.text)); /* though nobody read the file again */
    assert_non_null(key_table_find(t, two.text));
    key_table_drop(t);
    test_remove(home);
}

static void what_is_no_key_is_refused_by_name(void **state) {
    (void)state;
    char *home = test_folder();
    const char *const bad[] = {"a/b"}, *const star[] = {"*"};
    const struct {
        key_spec spec;
        const char *field;
    } cases[] = {
        {{.name = "", .scopes = 1 << ACCESS_READ}, "name"},
        {{.name = "\xff", .scopes = 1 << ACCESS_READ}, "name"}, /* more bytes in the file */
        {{.name = "x"}, "scope"},
        {{.name = "x", .scopes = 1 << ACCESS_READ, .tenant = "a b"}, "tenant"},
        {{.name = "x", .scopes = 1 << ACCESS_READ, .tenant = "../x"}, "tenant"},
        {{.name = "x", .scopes = 1 << ACCESS_READ, .tier = ""}, "tier"},
        {{.name = "x", .scopes = 1 << ACCESS_METRICS, .tenant = "bee"}, "scope"},
        {{.name = "x", .scopes = 1 << ACCESS_READ, .collections = bad, .n_collections = 1},
         "collections"},
        {{.name = "x", .scopes = 1 << ACCESS_READ, .collections = star, .n_collections = 1},
         "collections"},
        {{.name = "x", .scopes = 1 << ACCESS_READ, .groups = bad, .n_groups = 1}, "groups"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fo_err err = {0};
        access_secret s;
        assert_int_equal(keys_create(home, &cases[i].spec, &s, &err), FO_EINVAL);
        assert_string_equal(err.field, cases[i].field);
    }
    key_table *t;
    assert_int_equal(keys_read(&t, home, NULL), FO_ENOTFOUND);
    test_remove(home);
}

/* The file with a name of a collection, "fill", drawn out until the whole has n bytes. */
static void draw_out(const char *home, size_t n) {
    enum { HEAD = 14 + 64 + 1 };
    static const char name[] = "\"fill";
    size_t had;
    char path[4200], *data = contents(home, &had), *file = malloc(n);
    char *at = strstr(data, name) + sizeof name - 1;
    size_t before = (size_t)(at - data), behind = had - before;
    memset(file, 'x', n);
    memcpy(file, data, before);
    while (*at == 'x') at++, behind--; /* what an earlier call put there */
    memcpy(file + n - behind, at, behind);
    unsigned char sum[32];
    char hex[65];
    fo_sha256_of(sum, file + HEAD, n - HEAD);
    fo_hex_write(hex, sum, sizeof sum);
    memcpy(file + 14, hex, 64);
    snprintf(path, sizeof path, "%s/keys", home);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(file, 1, n, f), n);
    fclose(f);
    free(file);
    free(data);
}

static size_t file_size(const char *home) {
    char path[4200];
    struct stat st;
    snprintf(path, sizeof path, "%s/keys", home);
    assert_int_equal(stat(path, &st), 0);
    return (size_t)st.st_size;
}

/* No key is made that the file would be too large to be read again for, or that could not be revoked. */
static void a_file_stays_small_enough_to_be_read(void **state) {
    (void)state;
    enum { MOST = 64 << 20, REVOKED = 18 };
    char *home = test_folder();
    const char *const fill[] = {"fill"};
    key_spec filling = reader;
    filling.collections = fill;
    filling.n_collections = 1;
    access_secret one = make(home, &filling), two;
    size_t before = file_size(home);
    make(home, &reader);
    const size_t takes = file_size(home) - before;
    const struct {
        size_t left;
        int want;
    } cases[] = {
        {takes - 1, FO_ELIMIT}, {takes + 3 * REVOKED - 1, FO_ELIMIT}, {takes + 3 * REVOKED, FO_OK}};
    for (size_t i = 0; i < 3; i++) {
        fo_err err = {0};
        key_table *t;
        draw_out(home, MOST - cases[i].left);
        assert_int_equal(keys_create(home, &reader, &two, &err), cases[i].want);
        if (cases[i].want) assert_non_null(strstr(err.msg, "64 MiB"));
        assert_ok(keys_read(&t, home, &err), &err);
        assert_int_equal(key_table_count(t), cases[i].want ? 2 : 3);
        assert_non_null(key_table_find(t, one.text));
        key_table_drop(t);
    }
    fo_err err = {0};
    key_table *t;
    assert_ok(keys_revoke(home, one.id, &err), &err);
    assert_ok(keys_revoke(home, two.id, &err), &err);
    assert_ok(keys_read(&t, home, &err), &err);
    assert_null(key_table_find(t, one.text));
    key_table_drop(t);
    test_remove(home);
}

/* The file's JSON is `json`, which is freed. */
static void put_json(const char *home, fo_buf *json) {
    unsigned char sum[32];
    char hex[65], path[4200];
    fo_buf file = {0};
    fo_err err = {0};
    fo_sha256_of(sum, json->data, json->len);
    fo_hex_write(hex, sum, sizeof sum);
    fo_buf_printf(&file, "forage keys 1 %.64s\n", hex);
    fo_buf_add(&file, json->data, json->len);
    snprintf(path, sizeof path, "%s/keys", home);
    assert_ok(fo_file_put(path, file.data, file.len, &err), &err);
    fo_buf_free(&file);
    fo_buf_free(json);
}

/* One more, of 14 values and those of its collections. */
static void add_json_key(fo_buf *json, int number, int n_collections) {
    fo_buf_printf(json,
                  "%s{\"id\":\"k_%016x\",\"name\":\"a\",\"tenant\":\"t\",\"scopes\":[\"read\"],"
                  "\"groups\":[],\"all_groups\":false,\"tier\":null,\"salt\":\"%032x\","
                  "\"hash\":\"%064x\",\"created_ms\":1,\"revoked_ms\":0,\"collections\":[",
                  number ? "," : "", number, number, number);
    for (int i = 0; i < n_collections; i++) fo_buf_str(json, i ? ",\"c\"" : "\"c\"");
    fo_buf_str(json, "]}");
}

/* As many values as are read of one JSON at most, but for 13: a key more would have 14. */
static void a_file_has_no_more_values_than_are_read(void **state) {
    (void)state;
    enum { LEFT = 13, EACH = 14 + KEY_LIST_MAX, VALUES = JSON_MOST_VALUES - 2 - LEFT };
    char *home = test_folder();
    fo_err err = {0};
    access_secret s;
    key_table *t;
    fo_buf json = {0};
    const int n = VALUES / EACH;
    fo_buf_str(&json, "{\"keys\":[");
    for (int i = 0; i < n - 1; i++) add_json_key(&json, i, KEY_LIST_MAX);
    const int rest = VALUES - (n - 1) * EACH; /* one key's and less than another's */
    add_json_key(&json, n - 1, (rest - 28) / 2);
    add_json_key(&json, n, rest - 28 - (rest - 28) / 2);
    fo_buf_str(&json, "]}\n");
    put_json(home, &json);
    assert_int_equal(keys_create(home, &reader, &s, &err), FO_ELIMIT);
    assert_non_null(strstr(err.msg, "4000000"));
    assert_ok(keys_read(&t, home, &err), &err); /* those of before open as they did */
    assert_int_equal(key_table_count(t), n + 1);
    key_table_drop(t);

    fo_buf_str(&json, "{\"keys\":[0");
    for (int i = 0; i < JSON_MOST_VALUES; i++) fo_buf_str(&json, ",0");
    fo_buf_str(&json, "]}\n");
    put_json(home, &json);
    assert_int_equal(keys_read(&t, home, &err), FO_ELIMIT);
    assert_null(strstr(err.msg, "damaged"));
    test_remove(home);
}

/* Any byte of the file changed, and any end cut off: it is said, and nobody gets in. */
static void damage_lets_nobody_in(void **state) {
    (void)state;
    char *home = test_folder(), path[4200];
    access_secret one = make(home, &reader);
    size_t n;
    char *data = contents(home, &n);
    snprintf(path, sizeof path, "%s/keys", home);
    for (size_t i = 0; i <= n + 3; i++) {
        char *copy = malloc(n + 1);
        memcpy(copy, data, n);
        size_t len = n;
        if (i < n)
            copy[i] ^= 1 << (i % 7);
        else
            len = (i - n) * n / 4;
        FILE *f = fopen(path, "wb");
        assert_int_equal(fwrite(copy, 1, len, f), len);
        fclose(f);
        fo_err err = {0};
        key_table *t = NULL;
        assert_int_equal(keys_read(&t, home, &err), FO_ECORRUPT);
        assert_non_null(strstr(err.msg, "is damaged"));
        assert_int_equal(keys_revoke(home, one.id, &err),
                         FO_ECORRUPT); /* and it is not written over */
        key_ring *r = NULL;
        assert_int_equal(key_ring_open(&r, home, false, &err), FO_ECORRUPT);
        free(copy);
    }
    free(data);
    test_remove(home);
}

static bool admitted(key_ring *r, const access_secret *s) {
    access_grant *g = key_ring_admit(r, s->text);
    access_grant_drop(g);
    return g != NULL;
}

static bool becomes(key_ring *r, const access_secret *s, bool wanted) {
    for (int i = 0; i < 100; i++) {
        if (admitted(r, s) == wanted) return true;
        usleep(50000);
    }
    return false;
}

static void a_running_ring_sees_what_is_done(void **state) {
    (void)state;
    char *home = test_folder(), path[4200];
    fo_err err = {0};
    key_ring *r;
    assert_ok(key_ring_open(&r, home, false, &err), &err);
    assert_false(key_ring_on(r));
    access_secret one = make(home, &reader);
    assert_true(becomes(r, &one, true));
    assert_true(key_ring_on(r));
    assert_int_equal(key_ring_count(r), 1);
    access_grant *held = key_ring_admit(r, one.text);
    assert_ok(keys_revoke(home, one.id, &err), &err);
    assert_true(becomes(r, &one, false));
    assert_string_equal(held->key->id, one.id); /* whoever holds it still may look at it */
    access_grant_drop(held);
    access_secret two = make(home, &reader);
    assert_true(becomes(r, &two, true));
    /* A file that goes away, or that nobody can read, lets nobody in, and does not open the door. */
    snprintf(path, sizeof path, "%s/keys", home);
    unlink(path);
    assert_true(becomes(r, &two, false));
    assert_true(key_ring_on(r));
    FILE *f = fopen(path, "w");
    fputs("forage keys 1 nonsense", f);
    fclose(f);
    usleep(300000);
    assert_false(admitted(r, &two));
    assert_true(key_ring_on(r));
    key_ring_close(r);
    /* Where keys are required, none are made by not being there. */
    unlink(path);
    assert_ok(key_ring_open(&r, home, true, &err), &err);
    assert_true(key_ring_on(r));
    key_ring_close(r);
    test_remove(home);
}

static void a_file_that_cannot_be_read_now_is_read_later(void **state) {
    (void)state;
    char *home = test_folder();
    fo_err err = {0};
    key_ring *r;
    access_secret one = make(home, &reader);
    assert_ok(key_ring_open(&r, home, false, &err), &err);
    assert_true(admitted(r, &one));
    access_secret two = make(home, &reader);
    struct rlimit had, none;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &had), 0);
    none = had;
    none.rlim_cur = 0; /* no file may be opened */
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    usleep(300000);
    const bool let_in = admitted(r, &one) || admitted(r, &two), on = key_ring_on(r);
    usleep(300000); /* another look */
    const bool later = admitted(r, &one);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &had), 0);
    assert_false(let_in || later);
    assert_true(on);
    assert_true(becomes(r, &one, true)); /* though the file is the same still */
    assert_true(admitted(r, &two));
    key_ring_close(r);
    test_remove(home);
}

/* What the ring says to the log, by standard error, while `act` runs. */
static char *log_of(void (*act)(key_ring *r, const char *path), key_ring *r, const char *path) {
    char *said = calloc(1, 1 << 16);
    FILE *f = tmpfile();
    fflush(stderr);
    int was = dup(STDERR_FILENO);
    assert_true(was >= 0 && dup2(fileno(f), STDERR_FILENO) >= 0);
    act(r, path);
    fflush(stderr);
    assert_true(dup2(was, STDERR_FILENO) >= 0);
    close(was);
    rewind(f);
    assert_true(fread(said, 1, (1 << 16) - 1, f) < (1 << 16) - 1);
    fclose(f);
    return said;
}

static int times(const char *text, const char *part) {
    int n = 0;
    for (; (text = strstr(text, part)); text += strlen(part)) n++;
    return n;
}

static void look_for_a_second(key_ring *r, const char *path) {
    (void)path;
    for (int i = 0; i < 5; i++, usleep(220000)) key_ring_on(r);
}

static void remove_and_look(key_ring *r, const char *path) {
    unlink(path);
    look_for_a_second(r, path);
}

static void spoil_and_look(key_ring *r, const char *path) {
    FILE *f = fopen(path, "w");
    fputs("forage keys 1 nonsense", f);
    fclose(f);
    look_for_a_second(r, path);
}

/* What becomes of the file is told once, not at each look; what was so from the beginning is not. */
static void what_becomes_of_the_file_is_told_once(void **state) {
    (void)state;
    char *home = test_folder(), path[4200];
    fo_err err = {0};
    key_ring *r;
    snprintf(path, sizeof path, "%s/keys", home);
    assert_ok(key_ring_open(&r, home, false, &err), &err);
    char *said = log_of(look_for_a_second, r, path);
    assert_string_equal(said, "");
    free(said);
    access_secret one = make(home, &reader);
    access_secret two = make(home, &reader);
    assert_ok(keys_revoke(home, two.id, &err), &err);
    said = log_of(look_for_a_second, r, path);
    assert_int_equal(times(said, "keys_on"), 1);
    free(said);
    assert_int_equal(key_ring_count(r), 1); /* the other is revoked */
    key_ring_close(r);
    assert_ok(key_ring_open(&r, home, false, &err), &err);
    said = log_of(look_for_a_second, r, path);
    assert_string_equal(said, "");
    free(said);
    assert_true(admitted(r, &one));
    said = log_of(remove_and_look, r, path);
    assert_int_equal(times(said, "keys_gone"), 1);
    assert_int_equal(times(said, "keys_damaged"), 0);
    free(said);
    said = log_of(spoil_and_look, r, path);
    assert_int_equal(times(said, "keys_damaged"), 1);
    free(said);
    key_ring_close(r);
    test_remove(home);
}

typedef struct maker {
    const char *home;
    key_ring *ring;
    atomic_bool *stop;
} maker;

static void *make_many(void *arg) {
    maker *m = arg;
    for (int i = 0; i < 20; i++) {
        access_secret s = make(m->home, &reader);
        fo_err err = {0};
        if (i % 2) assert_ok(keys_revoke(m->home, s.id, &err), &err);
    }
    return NULL;
}

static void *ask_always(void *arg) {
    maker *m = arg;
    access_secret nobody = {
        .text = "fk_0000000000000000_000000000000000000000000000000000000000000000000"};
    while (!*m->stop) {
        assert_false(admitted(m->ring, &nobody));
        key_ring_count(m->ring);
    }
    return NULL;
}

static void none_of_many_makers_loses_a_key(void **state) {
    (void)state;
    char *home = test_folder();
    fo_err err = {0};
    atomic_bool stop = false;
    maker m = {home, NULL, &stop};
    assert_ok(key_ring_open(&m.ring, home, false, &err), &err);
    pthread_t makers[3], asker;
    pthread_create(&asker, NULL, ask_always, &m);
    for (int i = 0; i < 3; i++) pthread_create(&makers[i], NULL, make_many, &m);
    for (int i = 0; i < 3; i++) pthread_join(makers[i], NULL);
    stop = true;
    pthread_join(asker, NULL);
    key_table *t;
    assert_ok(keys_read(&t, home, &err), &err);
    assert_int_equal(key_table_count(t), 60);
    size_t revoked = 0;
    for (size_t i = 0; i < 60; i++) revoked += key_table_at(t, i)->revoked_ms != 0;
    assert_int_equal(revoked, 30);
    key_table_drop(t);
    key_ring_close(m.ring);
    test_remove(home);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_is_found_by_its_secret_alone),
        cmocka_unit_test(a_revoked_key_opens_nothing),
        cmocka_unit_test(a_key_opens_nothing_once_its_time_is_over),
        cmocka_unit_test(what_is_no_key_is_refused_by_name),
        cmocka_unit_test(a_file_stays_small_enough_to_be_read),
        cmocka_unit_test(a_file_has_no_more_values_than_are_read),
        cmocka_unit_test(damage_lets_nobody_in),
        cmocka_unit_test(a_running_ring_sees_what_is_done),
        cmocka_unit_test(a_file_that_cannot_be_read_now_is_read_later),
        cmocka_unit_test(what_becomes_of_the_file_is_told_once),
        cmocka_unit_test(none_of_many_makers_loses_a_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
