/* What is done to bring documents in step with a folder: told from a listing and from what was known, no file needed. */
#include "tests/test.h"

#include "data/files/sync_plan.h"

enum { MOST = 64 };

typedef struct scene {
    folder_file files[MOST];
    sync_hash hashes[MOST];
    sync_known known[MOST];
    char *unseen[4];
    folder_listing found;
    size_t n_known;
    sync_options opt;
    sync_plan plan;
} scene;

static scene make_scene(void) {
    return (scene){.opt = {.limit = {.n = -1}}};
}

/* A file whose content is the letter; files and what is known are added in order of their paths. */
static folder_file *file(scene *s, const char *path, int64_t mtime, char content) {
    folder_file *f = &s->files[s->found.n];
    *f = (folder_file){.path = (char *)path,
                       .size = 100,
                       .mtime_ns = mtime,
                       .ctime_ns = mtime,
                       .inode = (uint64_t)(1000 + s->found.n)};
    s->hashes[s->found.n++] = (sync_hash){true, {(unsigned char)content}};
    return f;
}

static sync_known *known(scene *s, const char *path, int64_t mtime, char content) {
    sync_known *k = &s->known[s->n_known];
    *k = (sync_known){.path = path,
                      .size = 100,
                      .mtime_ns = mtime,
                      .ctime_ns = mtime,
                      .inode = 1000 + s->n_known,
                      .sha256 = {(unsigned char)content},
                      .stored = true,
                      .held = true};
    s->n_known++;
    return k;
}

static void plan(scene *s) {
    fo_err err = {0};
    s->found.files = s->files;
    s->found.unseen = s->unseen;
    sync_plan_deinit(&s->plan);
    assert_ok(sync_plan_make(&s->plan, &s->found, s->hashes, s->known, s->n_known, &s->opt, &err),
              &err);
}

static void expect(const scene *s, size_t at, enum sync_kind kind, const char *path,
                   const char *known_path) {
    assert_true(at < s->plan.n);
    const sync_step *p = &s->plan.steps[at];
    const char *is = p->file ? p->file->path : p->known->path;
    if (p->kind != kind || strcmp(is, path) != 0)
        fail_msg("step %zu: %d of %s, not %d of %s", at, p->kind, is, kind, path);
    if (known_path) assert_string_equal(p->known->path, known_path);
}

static void what_is_the_same_new_changed_and_gone(void **state) {
    (void)state;
    scene s = make_scene();
    file(&s, "a", 1, 'a'), known(&s, "a", 1, 'a');
    file(&s, "b", 9, 'B'), known(&s, "b", 1, 'b');
    file(&s, "c", 9, 'c'), known(&s, "c", 1, 'c'); /* touched */
    known(&s, "d", 1, 'd');
    file(&s, "e", 1, 'e');
    plan(&s);
    assert_int_equal(s.plan.n, 5);
    expect(&s, 0, SYNC_UNCHANGED, "a", "a");
    expect(&s, 1, SYNC_NOTED, "c", "c");
    expect(&s, 2, SYNC_PUT, "b", "b");
    expect(&s, 3, SYNC_PUT, "e", NULL);
    assert_null(s.plan.steps[3].known);
    expect(&s, 4, SYNC_REMOVED, "d", "d");
    sync_plan_deinit(&s.plan);
}

static void content_is_asked_for_only_in_doubt(void **state) {
    (void)state;
    scene s = make_scene();
    bool doubt[MOST];
    fo_err err = {0};
    file(&s, "a", 1, 'a'), known(&s, "a", 1, 'a');
    file(&s, "b", 9, 'b'), known(&s, "b", 1, 'b');               /* touched */
    file(&s, "c", 9, 'c')->size = 7, known(&s, "c", 1, 'c');     /* another size: changed */
    file(&s, "d", 5, 'd'), known(&s, "d", 5, 'd')->inode = 1;    /* another file, moved over it */
    file(&s, "e", 0, 'e'), known(&s, "e", 0, 'e');               /* it was too young to be sure */
    file(&s, "f", 1, 'f')->ctime_ns = 2, known(&s, "f", 1, 'f'); /* its mtime was put back */
    file(&s, "g", 1, 'g'), known(&s, "g", 1, 'g')->held = false; /* its document is gone */
    known(&s, "h", 1, 'h')->size = 5;
    file(&s, "i", 1, 'h')->size = 5; /* may be h */
    file(&s, "j", 1, 'j')->size = 6; /* may not */
    s.found.files = s.files;
    assert_ok(sync_plan_doubts(&s.found, s.known, s.n_known, &s.opt, doubt, &err), &err);
    static const bool want[] = {false, true, false, true, true, true, false, true, false};
    for (size_t i = 0; i < s.found.n; i++)
        if (doubt[i] != want[i]) fail_msg("%s: doubt %d", s.files[i].path, doubt[i]);
    plan(&s);
    assert_int_equal(s.plan.count[SYNC_UNCHANGED], 1);
    assert_int_equal(s.plan.count[SYNC_NOTED], 4);
    assert_int_equal(s.plan.count[SYNC_PUT], 3);
    assert_int_equal(s.plan.count[SYNC_MOVED], 1);
    sync_plan_deinit(&s.plan);
}

static void a_move_is_known_by_the_content(void **state) {
    (void)state;
    scene s = make_scene();
    known(&s, "a.md", 1, 'x')->inode =
        7; /* two of the same content: the inode says which moved where */
    known(&s, "b.md", 1, 'x')->inode = 8;
    known(&s, "c.md", 1, 'y');
    file(&s, "n/b.md", 1, 'z'); /* another content under an old name is no move */
    file(&s, "n/c.md", 9, 'y'); /* copied and deleted: another inode */
    file(&s, "n/d.md", 1, 'x')->inode = 8;
    file(&s, "n/e.md", 1, 'x')->inode = 99;
    file(&s, "n/f.md", 1, 'x')->inode = 98; /* a third one is new */
    plan(&s);
    expect(&s, 0, SYNC_MOVED, "n/c.md", "c.md");
    expect(&s, 1, SYNC_MOVED, "n/d.md", "b.md");
    expect(&s, 2, SYNC_MOVED, "n/e.md", "a.md");
    expect(&s, 3, SYNC_PUT, "n/b.md", NULL);
    expect(&s, 4, SYNC_PUT, "n/f.md", NULL);
    assert_int_equal(s.plan.n, 5);
    sync_plan_deinit(&s.plan);

    s = make_scene(); /* the place is taken by another file: b is updated, a is gone */
    known(&s, "a", 1, 'a'), known(&s, "b", 1, 'b');
    file(&s, "b", 9, 'a');
    plan(&s);
    expect(&s, 0, SYNC_PUT, "b", "b");
    expect(&s, 1, SYNC_REMOVED, "a", NULL);
    known(&s, "c", 1, 'c')->held = false; /* no document to keep: it is put anew */
    file(&s, "d", 1, 'c');
    plan(&s);
    assert_int_equal(s.plan.count[SYNC_MOVED], 0);
    assert_int_equal(s.plan.count[SYNC_PUT], 2);
    sync_plan_deinit(&s.plan);
}

static void what_cannot_be_seen_stays(void **state) {
    (void)state;
    scene s = make_scene();
    known(&s, "a/b/c", 1, 'c'), known(&s, "a/bc", 1, 'b'), known(&s, "a/d", 1, 'd');
    file(&s, "z", 1, 'z');
    static char other[] = "x", folder[] = "a/b", root[] = "";
    s.unseen[0] = other, s.unseen[1] = folder;
    s.found.n_unseen = 2;
    plan(&s);
    expect(&s, 0, SYNC_PUT, "z", NULL);
    expect(&s, 1, SYNC_REMOVED, "a/bc", NULL);
    expect(&s, 2, SYNC_REMOVED, "a/d", NULL);
    expect(&s, 3, SYNC_KEPT, "a/b/c", NULL);
    s.unseen[1] = root; /* the folder itself */
    plan(&s);
    assert_int_equal(s.plan.count[SYNC_KEPT], 3);
    assert_int_equal(s.plan.count[SYNC_REMOVED], 0);
    sync_plan_deinit(&s.plan);
}

static void failures_are_tried_again_when_asked_or_changed(void **state) {
    (void)state;
    scene s = make_scene();
    file(&s, "a", 1, 'a'), known(&s, "a", 1, 'a')->error = "encrypted";
    file(&s, "b", 2, 'B'), known(&s, "b", 1, 'b')->error = "encrypted";
    sync_known *c = known(&s, "c", 1, 'c');
    c->error = "encrypted", c->stored = c->held = false;
    plan(&s);
    expect(&s, 0, SYNC_FAILED, "a", "a");
    expect(&s, 1, SYNC_PUT, "b", "b");
    expect(&s, 2, SYNC_FORGOTTEN, "c", "c");
    s.opt.retry_failed = true;
    plan(&s);
    assert_int_equal(s.plan.count[SYNC_PUT], 2);
    sync_plan_deinit(&s.plan);
}

static void fill(scene *s, size_t n_known, size_t n_left) {
    static char names[MOST][32];
    for (size_t i = 0; i < n_known; i++) {
        snprintf(names[i], sizeof names[i], "f%02zu", i);
        known(s, names[i], 1, (char)i);
        if (i < n_left) file(s, names[i], 1, (char)i);
    }
}

static void too_many_removals_are_refused_together(void **state) {
    (void)state;
    static const struct {
        const char *limit;
        size_t n, left;
        bool refused;
    } cases[] = {{"3", 10, 7, false},    {"2", 10, 7, true},    {"30%", 10, 7, false},
                 {"29%", 10, 7, true},   {"0", 10, 10, false},  {"0", 10, 9, true},
                 {"100%", 10, 1, false}, {"100%", 10, 0, true}, {NULL, 20, 10, false},
                 {NULL, 20, 9, true},    {NULL, 6, 1, false},   {NULL, 12, 5, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        scene s = make_scene();
        s.opt.limit = SYNC_LIMIT_DEFAULT;
        if (cases[i].limit) assert_true(sync_limit_read(&s.opt.limit, cases[i].limit));
        fill(&s, cases[i].n, cases[i].left);
        plan(&s);
        size_t gone = cases[i].n - cases[i].left;
        if ((s.plan.withheld.code != 0) != cases[i].refused)
            fail_msg("case %zu: %s", i, s.plan.withheld.msg);
        assert_int_equal(s.plan.count[SYNC_REMOVED], cases[i].refused ? 0 : gone);
        assert_int_equal(s.plan.count[SYNC_WITHHELD], cases[i].refused ? gone : 0);
        assert_int_equal(s.plan.count[SYNC_UNCHANGED], cases[i].left);
        sync_plan_deinit(&s.plan);
    }
    sync_limit l;
    static const char *const none[] = {"",   "%",   "-1", "101%",
                                       "3x", "3%%", " 3", "99999999999999999999"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_false(sync_limit_read(&l, none[i]));
}

/* A move that was interrupted: the document is there under both paths, and the old one goes. */
static void what_stands_elsewhere_does_not_count(void **state) {
    (void)state;
    scene s = make_scene();
    s.opt.limit = (sync_limit){.n = 0};
    known(&s, "a", 1, 'x');
    known(&s, "b", 1, 'y');
    file(&s, "c", 1, 'x'), known(&s, "c", 1, 'x');
    file(&s, "d", 1, 'y'), known(&s, "d", 0, 'y')->held = false; /* it was never noted */
    plan(&s);
    assert_int_equal(s.plan.withheld.code, 0);
    assert_int_equal(s.plan.count[SYNC_REMOVED], 2);
    bool doubt[MOST];
    fo_err err = {0};
    assert_ok(sync_plan_doubts(&s.found, s.known, s.n_known, &s.opt, doubt, &err), &err);
    assert_true(doubt[1]);
    s.hashes[1].sha256[0] = 'z'; /* the content is another by now */
    plan(&s);
    assert_int_equal(s.plan.count[SYNC_REMOVED], 1);
    assert_int_equal(s.plan.count[SYNC_WITHHELD], 1);
    sync_plan_deinit(&s.plan);
}

/* It moved, and failed under its new name, known by then: the document under the old one is all there is of it. */
static void what_failed_elsewhere_stays(void **state) {
    (void)state;
    scene s = make_scene();
    s.opt.limit = (sync_limit){.n = 0};
    known(&s, "a", 1, 'x');
    known(&s, "b", 1, 0)->size = 7; /* nothing is known of these contents: they are not the same */
    sync_known *failed = (file(&s, "c", 1, 'x'), known(&s, "c", 1, 'x'));
    failed->error = "no";
    failed->stored = failed->held = false;
    failed->inode = s.files[0].inode;
    failed = (file(&s, "d", 1, 0), known(&s, "d", 1, 0));
    failed->error = "no";
    failed->stored = failed->held = false;
    failed->inode = s.files[1].inode;
    s.hashes[0].known = s.hashes[1].known = false;
    plan(&s);
    expect(&s, 0, SYNC_FAILED, "c", "c");
    expect(&s, 1, SYNC_FAILED, "d", "d");
    expect(&s, 2, SYNC_KEPT, "a", "a");
    expect(&s, 3, SYNC_WITHHELD, "b", "b");
    sync_plan_deinit(&s.plan);
}

/* A member of an archive that stays closed, which could never be read, comes with the hash of nothing, as the row of a file
 * has it that could not be read at last: that one is gone all the same. */
static void what_was_never_read_stands_nowhere_else(void **state) {
    (void)state;
    scene s = make_scene();
    known(&s, "a", 1, 0);
    sync_known *member = (file(&s, "z.zip/m", 1, 0), known(&s, "z.zip/m", 1, 0));
    member->error = "encrypted";
    member->stored = member->held = false;
    member->inode = s.files[0].inode;
    file(&s, "z.zip/r", 1, 'r'), known(&s, "z.zip/r", 1, 'r')->inode = s.files[1].inode;
    plan(&s);
    expect(&s, 0, SYNC_UNCHANGED, "z.zip/r", "z.zip/r");
    expect(&s, 1, SYNC_FAILED, "z.zip/m", "z.zip/m");
    expect(&s, 2, SYNC_REMOVED, "a", "a");
    assert_false(s.plan.steps[2].elsewhere);
    s.opt.limit = (sync_limit){.n = 0}; /* and it counts */
    plan(&s);
    expect(&s, 2, SYNC_WITHHELD, "a", "a");
    sync_plan_deinit(&s.plan);
}

/* Whatever happened: every file and everything known is in exactly one step, and nothing goes that is there. */
static void every_file_has_its_step(void **state) {
    (void)state;
    uint64_t seed = test_seed();
    for (int round = 0; round < 3000; round++) {
        static const char *const names[] = {"a", "a/b", "a/c", "b", "b/c/d", "b/d", "c", "d"};
        scene s = make_scene();
        s.opt.retry_failed = test_random(&seed) % 2;
        for (size_t i = 0; i < 8; i++) {
            uint64_t r = test_random(&seed);
            char was = (char)(r >> 8 & 3), is = (char)(r >> 10 & 3);
            if (r & 1) file(&s, names[i], (int64_t)(r >> 12 & 1), is);
            if (r & 2) {
                sync_known *k = known(&s, names[i], (int64_t)(r >> 13 & 1), was);
                k->held = r & 4;
                k->stored = k->held || r & 8;
                if (r & 16) k->error = "x";
            }
        }
        bool doubt[MOST];
        fo_err err = {0};
        s.found.files = s.files;
        assert_ok(sync_plan_doubts(&s.found, s.known, s.n_known, &s.opt, doubt, &err), &err);
        for (size_t i = 0; i < s.found.n; i++)
            if (!doubt[i]) s.hashes[i].known = false; /* the plan needs no more than it asked for */
        plan(&s);
        size_t n_files = 0, n_known = 0;
        for (size_t i = 0; i < s.plan.n; i++) {
            const sync_step *p = &s.plan.steps[i];
            n_files += p->file != NULL;
            n_known += p->known != NULL;
            if (p->kind == SYNC_REMOVED)
                for (size_t j = 0; j < s.found.n; j++)
                    assert_string_not_equal(s.files[j].path, p->known->path);
            if (p->kind == SYNC_MOVED || p->kind == SYNC_NOTED)
                assert_memory_equal(s.hashes[p->file - s.files].sha256, p->known->sha256, 32);
        }
        assert_int_equal(n_files, s.found.n);
        assert_int_equal(n_known, s.n_known);
        sync_plan_deinit(&s.plan);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_the_same_new_changed_and_gone),
        cmocka_unit_test(content_is_asked_for_only_in_doubt),
        cmocka_unit_test(a_move_is_known_by_the_content),
        cmocka_unit_test(what_cannot_be_seen_stays),
        cmocka_unit_test(failures_are_tried_again_when_asked_or_changed),
        cmocka_unit_test(too_many_removals_are_refused_together),
        cmocka_unit_test(what_stands_elsewhere_does_not_count),
        cmocka_unit_test(what_failed_elsewhere_stays),
        cmocka_unit_test(what_was_never_read_stands_nowhere_else),
        cmocka_unit_test(every_file_has_its_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
