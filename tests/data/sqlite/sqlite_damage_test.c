/* Damage to what is stored: text changed by hand, flipped bits in any file, and that nothing of it
 * is given out as if it were true. */
#include "tests/test.h"
#include "tests/data/sqlite/older_schemas.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include "data/sqlite/sqlite_store.h"
#include "kernels/file.h"
#include "kernels/page_sums.h"
#include "tests/data/store/store_fixture.h"

/* A file is whole when it is mapped, and ends there as soon as it is: the linker leads every call here. */
static const char *cut_name; /* of which file: how its name ends */
static off_t cut_at;
int __real_fo_map_open(fo_map *out, const char *path, fo_err *err);
int __wrap_fo_map_open(fo_map *out, const char *path, fo_err *err);
int __wrap_fo_map_open(fo_map *out, const char *path, fo_err *err) {
    int rc = __real_fo_map_open(out, path, err);
    const size_t n = strlen(path), m = cut_name ? strlen(cut_name) : 0;
    if (!rc && m && n > m && strcmp(path + n - m, cut_name) == 0)
        assert_int_equal(truncate(path, cut_at), 0);
    return rc;
}

typedef struct env {
    char *dir, path[900];
    store *s;
    int64_t collection;
    fo_err err;
} env;

enum { DOCUMENTS = 12 };

static void open_store(env *e) {
    assert_ok(sqlite_store_open(&e->s, e->path, NULL, &e->err), &e->err);
}

/* bare: in a file that reserves no bytes for sums. */
static void begin_with(env *e, bool bare) {
    *e = (env){.dir = test_folder()};
    snprintf(e->path, sizeof e->path, "%s/forage.db", e->dir);
    sqlite3 *db;
    if (bare) {
        assert_int_equal(sqlite3_open(e->path, &db), SQLITE_OK);
        sqlite3_exec(db, "CREATE TABLE x (y); DROP TABLE x", NULL, NULL, NULL);
        sqlite3_close(db);
    }
    open_store(e);
    store_collection c;
    assert_ok(store_create_collection(e->s, "t", "docs", NULL, &c, &e->err), &e->err);
    e->collection = c.id;
    store_collection_deinit(&c);
    for (size_t i = 0; i < DOCUMENTS; i++) {
        uint64_t seed = i;
        fixture_document d;
        store_put_result res;
        fixture_make(&d, e->collection, i, 3000, &seed);
        assert_ok(fixture_put(e->s, &d, &res, &e->err), &e->err);
        fixture_free(&d);
    }
}

static void begin(env *e) {
    begin_with(e, false);
}

static void end(env *e) {
    store_close(e->s);
    test_remove(e->dir);
}

/* As by a person with the sqlite3 shell. With `vfs`, page sums are kept: only digests can tell. */
static void by_hand(env *e, const char *sql, const char *vfs) {
    sqlite3 *db;
    assert_int_equal(sqlite3_open_v2(e->path, &db, SQLITE_OPEN_READWRITE, vfs), SQLITE_OK);
    char *why = NULL;
    if (sqlite3_exec(db, sql, NULL, NULL, &why) != SQLITE_OK) fail_msg("%s: %s", sql, why);
    sqlite3_close(db);
}

static void flip(const char *path, uint64_t at, int bit) {
    int fd = open(path, O_RDWR);
    unsigned char b;
    assert_true(fd >= 0 && pread(fd, &b, 1, (off_t)at) == 1);
    b ^= (unsigned char)(1 << bit);
    assert_int_equal(pwrite(fd, &b, 1, (off_t)at), 1);
    close(fd);
}

typedef struct findings {
    int n;
    char documents[2000];
} findings;

static void collect(void *ctx, const store_finding *f) {
    findings *to = ctx;
    size_t n = strlen(to->documents);
    to->n++;
    snprintf(to->documents + n, sizeof to->documents - n, "%s ", f->document ? f->document : "-");
    print_message("# %s: %s\n", f->document ? f->document : "-", f->what);
}

static findings check(env *e) {
    findings f = {0};
    assert_ok(store_check(e->s, collect, &f, NULL, &e->err), &e->err);
    return f;
}

static void what_was_changed_by_hand_is_not_served(void **state) {
    (void)state;
    static const struct {
        const char *sql;
        bool listed;  /* the list knows at once: the row itself is changed */
        bool chunked; /* a chunk that is served shows it */
    } harm[] = {
        {"UPDATE texts SET bytes = CAST(replace(CAST(bytes AS TEXT), 'a', 'o') AS BLOB) "
         "WHERE id = (SELECT id * 65536 FROM documents WHERE name = 'doc-3')",
         false, true},
        {"UPDATE documents SET title = 'Another' WHERE name = 'doc-3'", true, true},
        {"UPDATE documents SET metadata = '{\"k\":2}' WHERE name = 'doc-3'", true, true},
        {"UPDATE documents SET uri = 'http://elsewhere' WHERE name = 'doc-3'", true, true},
        {"UPDATE documents SET content_type = 'text/html' WHERE name = 'doc-3'", true, false},
        {"UPDATE documents SET created_ms = 5 WHERE name = 'doc-3'", true, false},
        {"UPDATE chunks SET start_cp = start_cp + 1 WHERE document = "
         "(SELECT id FROM documents WHERE name = 'doc-3')",
         false, true},
        {"UPDATE chunks SET start = start + 1, stop = stop + 1 WHERE ordinal = 1 AND document = "
         "(SELECT id FROM documents WHERE name = 'doc-3')",
         false, true},
        {"UPDATE chunks SET digest = x'' WHERE ordinal = 1 AND document = "
         "(SELECT id FROM documents WHERE name = 'doc-3')",
         false, true},
    };
    for (size_t h = 0; h < sizeof harm / sizeof *harm; h++) {
        env e;
        begin(&e);
        assert_int_equal(check(&e).n, 0);
        by_hand(&e, harm[h].sql, fo_page_sums_vfs(NULL));
        findings f = check(&e);
        assert_int_equal(f.n, 1);
        assert_string_equal(f.documents, "doc-3 ");
        assert_int_equal(store_verify(e.s, &e.err), FO_ECORRUPT);
        assert_non_null(strstr(e.err.msg, "doc-3"));
        store_document d;
        bool text = h == 0 || harm[h].listed;
        assert_int_equal(store_get_document(e.s, e.collection, "doc-3", true, &d, &e.err),
                         text ? FO_ECORRUPT : FO_OK);
        if (!text) store_document_deinit(&d);
        assert_ok(store_get_document(e.s, e.collection, "doc-4", true, &d, &e.err), &e.err);
        store_document_deinit(&d);
        store_document *list;
        size_t n;
        bool more;
        assert_ok(store_list_documents(e.s, e.collection, NULL, 100, &list, &n, &more, &e.err),
                  &e.err);
        assert_int_equal(n, DOCUMENTS); /* it can be seen, and so deleted */
        for (size_t i = 0; i < n; i++) {
            bool bad = harm[h].listed && strcmp(list[i].id, "doc-3") == 0;
            assert_int_equal(list[i].damaged, bad);
            assert_true(!bad || !list[i].title);
            store_document_deinit(&list[i]);
        }
        free(list);
        int64_t *ids, epoch;
        assert_ok(store_chunk_ids(e.s, e.collection, &ids, NULL, &n, &epoch, &e.err), &e.err);
        size_t n_refused = 0;
        for (size_t i = 0; i < n; i++) {
            store_chunk c;
            int rc = store_get_chunks(e.s, &ids[i], 1, &c, &e.err);
            assert_true(!rc || rc == FO_ECORRUPT);
            n_refused += rc != 0;
            if (!rc) store_chunk_deinit(&c);
        }
        free(ids);
        assert_int_equal(n_refused > 0, harm[h].chunked);
        assert_int_equal(store_n_refused(e.s), n_refused + text);
        /* What was found damaged is taken again, though its content is known. */
        fixture_document again;
        store_put_result res;
        uint64_t seed = 3;
        fixture_make(&again, e.collection, 3, 3000, &seed);
        assert_ok(fixture_put(e.s, &again, &res, &e.err), &e.err);
        assert_int_equal(res.status, n_refused + text ? STORE_UPDATED : STORE_UNCHANGED);
        free(res.removed);
        if (n_refused + text) assert_int_equal(check(&e).n, 0);
        fixture_free(&again);
        end(&e);
    }
}

/* The page that holds this document's text fails its sum from now on. */
static void damage_text(env *e, const char *id) {
    store_document d;
    assert_ok(store_get_document(e->s, e->collection, id, true, &d, &e->err), &e->err);
    char text[64];
    memcpy(text, d.text, sizeof text);
    store_document_deinit(&d);
    store_close(e->s);
    struct stat st;
    int fd = open(e->path, O_RDONLY);
    assert_true(fd >= 0 && fstat(fd, &st) == 0);
    char *bytes = malloc((size_t)st.st_size);
    assert_true(bytes && pread(fd, bytes, (size_t)st.st_size, 0) == st.st_size);
    const char *at = memmem(bytes, (size_t)st.st_size, text, sizeof text);
    assert_non_null(at);
    flip(e->path, (uint64_t)(at - bytes), 1);
    close(fd);
    free(bytes);
    open_store(e);
}

typedef struct walk {
    size_t whole, damaged;
} walk;

static int count_chunk(void *ctx, const store_index_row *row) {
    walk *w = ctx;
    w->whole += !row->damaged && row->text_len > 0;
    w->damaged += row->damaged;
    return 0;
}

/* One text cannot be read, in the middle of a walk over all: those behind it are. */
static void an_unreadable_text_hides_no_other(void **state) {
    (void)state;
    env e;
    begin(&e);
    walk before = {0}, after = {0};
    assert_ok(store_each_chunk(e.s, e.collection, 0, count_chunk, &before, NULL, &e.err), &e.err);
    assert_int_equal(before.damaged, 0);
    damage_text(&e, "doc-5");
    assert_ok(store_each_chunk(e.s, e.collection, 0, count_chunk, &after, NULL, &e.err), &e.err);
    assert_int_equal(after.damaged, before.whole / DOCUMENTS);
    assert_int_equal(after.whole, before.whole - after.damaged);
    end(&e);
}

static void a_marked_document_is_taken_again(void **state) {
    (void)state;
    env e;
    begin(&e);
    int64_t rowid;
    store_document d;
    assert_ok(store_get_document(e.s, e.collection, "doc-5", false, &d, &e.err), &e.err);
    rowid = d.rowid;
    store_document_deinit(&d);
    by_hand(&e, "UPDATE chunks SET n_tokens = 7 WHERE ordinal = 0", fo_page_sums_vfs(NULL));
    assert_ok(store_mark_damaged(e.s, rowid, &e.err), &e.err);
    store_close(e.s);
    open_store(&e);
    fixture_document again;
    store_put_result res;
    uint64_t seed = 5;
    fixture_make(&again, e.collection, 5, 3000, &seed);
    assert_ok(fixture_put(e.s, &again, &res, &e.err), &e.err);
    assert_int_equal(res.status, STORE_UPDATED);
    free(res.removed);
    fixture_free(&again);
    assert_int_equal(check(&e).n, DOCUMENTS - 1);
    end(&e);
}

/* The number of its chunks is what a deletion goes by: the table knows better. */
static void a_wrong_number_of_chunks_holds_nothing_up(void **state) {
    (void)state;
    static const char *const wrong[] = {"1", "0", "-7", "1 << 60"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        env e;
        begin(&e);
        char sql[200];
        snprintf(sql, sizeof sql,
                 "UPDATE documents SET n_chunks = %s WHERE name IN ('doc-3', 'doc-4')", wrong[i]);
        by_hand(&e, sql, fo_page_sums_vfs(NULL));
        fixture_document again;
        store_put_result res;
        uint64_t seed = 3;
        fixture_make(&again, e.collection, 3, 3000, &seed);
        assert_ok(fixture_put(e.s, &again, &res, &e.err), &e.err);
        assert_int_equal(res.status, STORE_UPDATED);
        assert_int_equal(res.n_removed, again.n_chunks);
        free(res.removed);
        fixture_free(&again);
        store_txn *t;
        int64_t *removed;
        size_t n;
        assert_ok(store_begin(e.s, &t, &e.err), &e.err);
        assert_ok(store_delete_document(t, e.collection, "doc-4", &removed, &n, &e.err), &e.err);
        assert_ok(store_commit(t, &e.err), &e.err);
        assert_int_equal(n, 5);
        free(removed);
        assert_int_equal(check(&e).n, 0); /* the collection's counts too */
        store_collection c;
        assert_ok(store_get_collection(e.s, "t", "docs", &c, &e.err), &e.err);
        assert_int_equal(c.n_chunks, (DOCUMENTS - 1) * 5);
        store_collection_deinit(&c);
        end(&e);
    }
}

static void a_changed_vector_is_found(void **state) {
    (void)state;
    env e;
    begin(&e);
    by_hand(&e, "UPDATE embeddings SET vector = zeroblob(32) WHERE chunk = 7",
            fo_page_sums_vfs(NULL));
    findings f = check(&e);
    assert_int_equal(f.n, 1);
    assert_string_equal(f.documents, "doc-1 ");
    end(&e);
}

/* Of the document all is as it was ingested, but for what its chunk is found by. */
static void a_document_that_is_marked_for_a_vector_is_read(void **state) {
    (void)state;
    env e;
    begin(&e);
    by_hand(&e, "UPDATE embeddings SET vector = zeroblob(32) WHERE chunk = 7",
            fo_page_sums_vfs(NULL));
    store_document d;
    assert_ok(store_get_document(e.s, e.collection, "doc-1", false, &d, &e.err), &e.err);
    int64_t rowid = d.rowid;
    store_document_deinit(&d);
    assert_ok(store_mark_damaged(e.s, rowid, &e.err), &e.err);
    assert_ok(store_get_document(e.s, e.collection, "doc-1", true, &d, &e.err), &e.err);
    store_document_deinit(&d);
    assert_int_equal(check(&e).n, 1); /* the vector */
    fixture_document again;
    store_put_result res;
    uint64_t seed = 1;
    fixture_make(&again, e.collection, 1, 3000, &seed);
    assert_ok(fixture_put(e.s, &again, &res, &e.err), &e.err);
    assert_int_equal(res.status, STORE_UPDATED);
    free(res.removed);
    fixture_free(&again);
    assert_int_equal(check(&e).n, 0);
    end(&e);
}

/* Where the rows of documents lie, not their texts: the page of this title fails its sum from now on. */
static void damage_row(env *e, const char *title) {
    size_t n;
    char *bytes;
    store_close(e->s);
    assert_ok(fo_file_read(e->path, 64 << 20, &bytes, &n, &e->err), &e->err);
    const char *at = memmem(bytes, n, title, strlen(title));
    assert_non_null(at);
    flip(e->path, (uint64_t)(at - bytes), 1);
    free(bytes);
    open_store(e);
}

/* Rows that somebody changed on both sides of a page that cannot be read. */
static void an_unreadable_page_hides_no_other_row(void **state) {
    (void)state;
    enum { MANY = 600, OF_A_PAGE = 40 };
    env e;
    begin(&e);
    for (size_t i = DOCUMENTS; i < MANY; i++) {
        uint64_t seed = i;
        fixture_document d;
        store_put_result res;
        fixture_make(&d, e.collection, i, 50, &seed);
        assert_ok(fixture_put(e.s, &d, &res, &e.err), &e.err);
        fixture_free(&d);
    }
    by_hand(&e, "UPDATE documents SET title = 'Another' WHERE name IN ('doc-20', 'doc-580')",
            fo_page_sums_vfs(NULL));
    by_hand(&e,
            "UPDATE embeddings SET vector = zeroblob(32) WHERE chunk = "
            "(SELECT min(c.id) FROM chunks c JOIN documents d ON d.id = c.document "
            "WHERE d.name = 'doc-30')",
            fo_page_sums_vfs(NULL));
    damage_row(&e, "Title 300");
    findings f = {0};
    store_check_counts counts;
    assert_ok(store_check(e.s, collect, &f, &counts, &e.err), &e.err);
    assert_non_null(strstr(f.documents, "doc-20 "));
    assert_non_null(strstr(f.documents, "doc-580 "));
    assert_non_null(strstr(f.documents, "doc-30 "));
    assert_in_range(counts.n_documents, MANY - OF_A_PAGE, MANY - 1);
    end(&e);
}

/* Without the VFS, as the shell writes: the pages no longer carry their sums. */
static void a_stranger_s_writing_is_found(void **state) {
    (void)state;
    env e;
    begin(&e);
    store_close(e.s);
    by_hand(&e,
            "UPDATE jobs SET error = 'x'; INSERT INTO query_log (t_ms, tenant, total_ms, "
            "n_contexts, cache_hit) VALUES (1, 't', 1, 1, 0)",
            NULL);
    findings f = {0};
    assert_ok(sqlite_check_files(e.path, collect, &f, &e.err), &e.err);
    assert_true(f.n > 0);
    e.s = NULL;
    end(&e);
}

/* A name that leads out of index/, and what would act on whatever is written later: no Forage makes these, a stranger's
 * backup may hold them. */
static void what_leads_out_or_runs_by_itself_is_found(void **state) {
    (void)state;
    static const struct {
        const char *sql, *what;
    } harm[] = {
        {"UPDATE collections SET tenant = '../../out'", "its tenant, is none"},
        {"UPDATE collections SET name = '/tmp/out'", "its name"},
        {"UPDATE collections SET name = '..'", "its name"},
        {"UPDATE collections SET name = ''", "its name"},
        {"CREATE TRIGGER t AFTER INSERT ON documents BEGIN DELETE FROM collections; END",
         "trigger t: no Forage made it"},
        {"DROP TRIGGER documents_delete_texts; CREATE TRIGGER documents_delete_texts AFTER DELETE "
         "ON "
         "documents BEGIN DELETE FROM jobs; END",
         "trigger documents_delete_texts: no Forage made it"},
        {"CREATE VIEW v AS SELECT 1", "view v: no Forage made it"},
    };
    for (size_t h = 0; h < sizeof harm / sizeof *harm; h++) {
        env e;
        begin(&e);
        assert_ok(store_verify(e.s, &e.err), &e.err);
        by_hand(&e, harm[h].sql, fo_page_sums_vfs(NULL));
        assert_int_equal(store_verify(e.s, &e.err), FO_ECORRUPT);
        if (!strstr(e.err.msg, harm[h].what)) fail_msg("%s: %s", harm[h].sql, e.err.msg);
        end(&e);
    }
}

/* Any bit of the database file, also where nothing is kept. */
static void every_bit_of_the_file_counts(void **state) {
    (void)state;
    uint64_t seed = test_seed();
    env e;
    begin(&e);
    store_close(e.s);
    struct stat st;
    assert_int_equal(stat(e.path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    int refused = 0, checked = 0;
    for (int i = 0; i < 400; i++) {
        uint64_t at = test_random(&seed) % (uint64_t)st.st_size;
        if (i < 100) at = (uint64_t)i; /* all of SQLite's header */
        int bit = (int)(test_random(&seed) % 8);
        flip(e.path, at, bit);
        findings f = {0};
        fo_err err = {0};
        sqlite_options ro = {.store.read_only = true};
        store *s;
        assert_ok(sqlite_check_files(e.path, collect, &f, &err), &err);
        if (f.n == 0) fail_msg("bit %d of byte %llu", bit, (unsigned long long)at);
        if (sqlite_store_open(&s, e.path, &ro, &err) == FO_OK) {
            checked += store_verify(s, &err) != FO_OK;
            store_close(s);
        } else {
            refused++;
        }
        flip(e.path, at, bit);
    }
    print_message("# 400 bits: all found in the file, %d refused at opening, %d by SQLite\n",
                  refused, checked);
    for (int i = 0; i < 40; i++) {
        char copy[1000], command[3000];
        snprintf(copy, sizeof copy, "%s.cut", e.path);
        snprintf(command, sizeof command, "head -c %llu '%s' >'%s'",
                 (unsigned long long)(test_random(&seed) % (uint64_t)st.st_size), e.path, copy);
        assert_int_equal(system(command), 0);
        findings f = {0};
        assert_ok(sqlite_check_files(copy, collect, &f, &e.err), &e.err);
        assert_true(f.n > 0);
    }
    test_remove(e.dir);
}

typedef struct words {
    int n, n_unused;
    char all[20000]; /* a line each */
} words;

static void collect_words(void *ctx, const store_finding *f) {
    words *w = ctx;
    size_t n = strlen(w->all);
    w->n++;
    w->n_unused += f->fault == STORE_FAULT_UNUSED;
    snprintf(w->all + n, sizeof w->all - n, "%s\n", f->what);
}

/* What is found in copies of the database and, where it has one, of its log, of one of which (name) no
 * more can be read than `at` bytes. */
static words look_at_part(env *e, const char *name, off_t at) {
    words w = {0};
    char copy[1000], from[1000], to[1100];
    snprintf(copy, sizeof copy, "%s/part.db", e->dir);
    snprintf(from, sizeof from, "%s-wal", e->path);
    snprintf(to, sizeof to, "%s-wal", copy);
    assert_ok(fo_file_copy(e->path, copy, &e->err), &e->err);
    if (access(from, F_OK) == 0) assert_ok(fo_file_copy(from, to, &e->err), &e->err);
    cut_name = name;
    cut_at = at;
    int rc = sqlite_check_files(copy, collect_words, &w, &e->err);
    cut_name = NULL;
    assert_ok(rc, &e->err);
    unlink(to);
    return w;
}

static void what_the_disk_does_not_give_is_told(void **state) {
    (void)state;
    env e;
    begin(&e);
    assert_int_equal(look_at_part(&e, NULL, 0).n, 0);
    static const off_t log_at[] = {0, 8192};
    for (size_t i = 0; i < 2; i++) {
        words log = look_at_part(&e, ".db-wal", log_at[i]);
        assert_non_null(strstr(log.all, "its log cannot be read at byte "));
        assert_true(log.n > log.n_unused);
    }
    words newer = look_at_part(&e, "part.db", 0);
    assert_non_null(strstr(newer.all, "its header cannot be read; its log has a newer one\n"));
    assert_int_equal(newer.n, newer.n_unused);
    store_close(e.s);
    struct stat st;
    assert_int_equal(stat(e.path, &st), 0);
    words header = look_at_part(&e, "part.db", 0);
    assert_string_equal(header.all, "its header cannot be read\n");
    words pages = look_at_part(&e, "part.db", 8192);
    assert_int_equal(pages.n, st.st_size / 4096 - 2);
    assert_memory_equal(pages.all, "page 3 (byte 8192) cannot be read\npage 4 ", 41);
    assert_int_equal(pages.n_unused, 0);
    e.s = NULL;
    end(&e);
}

static void put_big(unsigned char *p, uint32_t v) {
    for (int i = 0; i < 4; i++) p[i] = (unsigned char)(v >> (24 - 8 * i));
}

/* The header of a log, its checksum right, whatever the size of pages that it tells. */
static void forge_log(const char *path, uint32_t page_size, fo_err *err) {
    unsigned char log[4096] = {0};
    uint32_t s[2] = {0, 0};
    put_big(log, 0x377f0683);
    put_big(log + 4, 3007000);
    put_big(log + 8, page_size);
    for (int i = 0; i < 24; i += 8) {
        uint32_t v[2];
        for (int j = 0; j < 2; j++) {
            const unsigned char *p = log + i + 4 * j;
            v[j] = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
        }
        s[0] += v[0] + s[1];
        s[1] += v[1] + s[0];
    }
    put_big(log + 24, s[0]);
    put_big(log + 28, s[1]);
    assert_ok(fo_file_put(path, log, sizeof log, err), err);
}

/* Beside a database that cannot say how long its pages are. */
static void a_log_of_pages_of_no_size_is_damaged(void **state) {
    (void)state;
    static const struct {
        uint32_t page_size;
        bool good;
    } logs[] = {{0, false},          {1, false},         {2, false},     {3, false},
                {7, false},          {256, false},       {512, true},    {1000, false},
                {4096, true},        {65536, true},      {65537, false}, {131072, false},
                {0x80000000, false}, {UINT32_MAX, false}};
    char *dir = test_folder(), path[1000], log[1100], bytes[4096];
    fo_err err = {0};
    memset(bytes, 'x', sizeof bytes);
    snprintf(path, sizeof path, "%s/forage.db", dir);
    snprintf(log, sizeof log, "%s-wal", path);
    assert_ok(fo_file_put(path, bytes, sizeof bytes, &err), &err);
    for (size_t i = 0; i < sizeof logs / sizeof *logs; i++) {
        words w = {0};
        forge_log(log, logs[i].page_size, &err);
        assert_ok(sqlite_check_files(path, collect_words, &w, &err), &err);
        assert_non_null(strstr(w.all, "its header is damaged: it is no SQLite database\n"));
        bool told = strstr(w.all, "the header of its log is damaged: nothing of it is read\n");
        if (told == logs[i].good) fail_msg("pages of %u bytes: %s", logs[i].page_size, w.all);
    }
    test_remove(dir);
}

static void a_copy_keeps_its_sums_and_proves_itself(void **state) {
    (void)state;
    uint64_t seed = test_seed();
    env e;
    begin(&e);
    char copy[1000], sum[1100];
    snprintf(copy, sizeof copy, "%s/copy.db", e.dir);
    snprintf(sum, sizeof sum, "%s.sha256", copy);
    assert_ok(store_backup(e.s, copy, NULL, &e.err), &e.err);
    findings f = {0};
    assert_ok(sqlite_check_files(copy, collect, &f, &e.err), &e.err);
    assert_int_equal(f.n, 0);
    assert_int_equal(store_backup_check(copy, &e.err), FO_ENOTFOUND);
    assert_ok(store_backup_seal(copy, &e.err), &e.err);
    assert_ok(store_backup_check(copy, &e.err), &e.err);
    char command[3000];
    snprintf(command, sizeof command, "cd '%s' && sha256sum -c copy.db.sha256 >/dev/null", e.dir);
    assert_int_equal(system(command), 0);
    struct stat st;
    assert_int_equal(stat(copy, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    for (int i = 0; i < 20; i++) {
        const char *path = i % 4 ? copy : sum;
        assert_int_equal(stat(path, &st), 0);
        uint64_t at = test_random(&seed) % (uint64_t)st.st_size;
        flip(path, at, i % 8);
        assert_int_equal(store_backup_check(copy, &e.err), FO_ECORRUPT);
        flip(path, at, i % 8);
    }
    assert_int_equal(stat(sum, &st), 0); /* a part of the checksum is none, nor is nothing */
    for (off_t n = st.st_size - 1; n >= 0; n--) {
        assert_int_equal(truncate(sum, n), 0);
        assert_int_equal(store_backup_check(copy, &e.err), FO_ECORRUPT);
    }
    end(&e);
}

/* A database of the version before: digests are made of what it holds, pages get their sums when it
 * is written anew. */
static void an_older_database_gets_digests(void **state) {
    (void)state;
    env e;
    begin_with(&e, true);
    schema_go_back(e.path, 2, NULL);
    store_close(e.s);
    open_store(&e);
    store_check_counts counts;
    findings f = {0};
    assert_ok(store_check(e.s, collect, &f, &counts, &e.err), &e.err);
    assert_int_equal(f.n, 0);
    assert_int_equal(counts.n_documents, DOCUMENTS);
    store_document d;
    assert_ok(store_get_document(e.s, e.collection, "doc-3", true, &d, &e.err), &e.err);
    store_document_deinit(&d);
    assert_non_null(counts.wants_rewrite);
    assert_ok(store_rewrite(e.s, &e.err), &e.err);
    store_close(e.s);
    open_store(&e);
    assert_ok(store_check(e.s, collect, &f, &counts, &e.err), &e.err);
    assert_true(!counts.wants_rewrite && f.n == 0);
    store_close(e.s);
    flip(e.path, 4096 * 3 + 100, 2);
    assert_ok(sqlite_check_files(e.path, collect, &f, &e.err), &e.err);
    assert_int_equal(f.n, 1);
    test_remove(e.dir);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_changed_by_hand_is_not_served),
        cmocka_unit_test(an_unreadable_text_hides_no_other),
        cmocka_unit_test(a_marked_document_is_taken_again),
        cmocka_unit_test(a_wrong_number_of_chunks_holds_nothing_up),
        cmocka_unit_test(a_changed_vector_is_found),
        cmocka_unit_test(a_document_that_is_marked_for_a_vector_is_read),
        cmocka_unit_test(an_unreadable_page_hides_no_other_row),
        cmocka_unit_test(a_stranger_s_writing_is_found),
        cmocka_unit_test(what_leads_out_or_runs_by_itself_is_found),
        cmocka_unit_test(every_bit_of_the_file_counts),
        cmocka_unit_test(what_the_disk_does_not_give_is_told),
        cmocka_unit_test(a_log_of_pages_of_no_size_is_damaged),
        cmocka_unit_test(a_copy_keeps_its_sums_and_proves_itself),
        cmocka_unit_test(an_older_database_gets_digests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
