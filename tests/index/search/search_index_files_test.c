/* The files of an index when it is opened again: what was not sealed is gone, what is damaged or foreign is put aside, older
 * manifests are read, and who only reads changes nothing. */
#include "tests/index/search/unique_chunks_fixture.h"

#include <dirent.h>
#include <unistd.h>
#include <zlib.h>

#include "index/format/segment.h"
#include "index/format/varint.h"
#include "index/sparse/analyze.h"
#include "kernels/file.h"

static void what_was_not_sealed_is_gone_after_a_crash_and_the_epoch_says_so(void **state) {
    (void)state;
    char *dir = test_folder();
    search_index *ix = open_index(dir, 1000, 0);
    fo_err err = {0};
    for (int64_t id = 1; id <= 4; id++) add(ix, id); /* one dead of four calls for no rewriting */
    publish(ix, 3);
    assert_ok(search_index_seal(ix, &err), &err);
    add(ix, 5);
    assert_int_equal(search_index_remove(ix, 1, NULL), FO_OK);
    publish(ix, 4);
    assert_ok(search_index_close(ix, false, &err), &err);
    ix = open_index(dir, 1000, 0);
    assert_int_equal(search_index_epoch(ix), 3);
    search_snapshot *s = search_index_acquire(ix);
    assert_true(sparse_finds(s, 1) && sparse_finds(s, 2));
    assert_false(sparse_finds(s, 5));
    search_index_release(s);
    assert_int_equal(search_index_remove(ix, 1, NULL), FO_OK);
    publish(ix, 4);
    assert_ok(search_index_seal(ix, &err), &err); /* tombstones alone */
    assert_ok(search_index_close(ix, false, &err), &err);
    ix = open_index(dir, 1000, 0);
    assert_int_equal(search_index_epoch(ix), 4);
    s = search_index_acquire(ix);
    assert_false(sparse_finds(s, 1));
    search_index_release(s);
    assert_ok(search_index_close(ix, false, &err), &err);
    test_remove(dir);
}

static void first_segment(const char *dir, char *path, size_t room) {
    DIR *d = opendir(dir);
    assert_non_null(d);
    *path = 0;
    for (struct dirent *e; (e = readdir(d));)
        if (strlen(e->d_name) == 20 && strcmp(e->d_name + 16, ".seg") == 0)
            snprintf(path, room, "%s/%s", dir, e->d_name);
    closedir(d);
    assert_true(*path);
}

static void damage(const char *path, long at) {
    FILE *f = fopen(path, "r+b");
    assert_non_null(f);
    fseek(f, at, at < 0 ? SEEK_END : SEEK_SET);
    int c = fgetc(f);
    fseek(f, -1, SEEK_CUR);
    fputc(c ^ 0x5A, f);
    fclose(f);
}

static void keep_notice(void *ctx, const char *kind, const char *text) {
    if (strcmp(kind, "index_dropped") == 0) snprintf(ctx, 4096, "%s", text);
}

static void puts_damaged_and_foreign_files_aside(void **state) {
    (void)state;
    for (int kind = 0; kind < 5; kind++) {
        char *dir = test_folder(), path[4096];
        search_index *ix = open_index(dir, 1000, 0);
        fo_err err = {0};
        for (int64_t id = 1; id < 30; id++) add(ix, id);
        publish(ix, 3);
        assert_ok(search_index_close(ix, true, &err), &err);
        first_segment(dir, path, sizeof path);
        search_index_options o = options(1000);
        if (kind == 0) damage(path, 3);
        if (kind == 1) damage(path, 2000);
        if (kind == 2) o.fingerprint = "beef";
        if (kind == 3) o.language = "german";
        if (kind == 4) {
            snprintf(path, sizeof path, "%s/MANIFEST", dir);
            damage(path, -1);
        }
        size_t dropped;
        char notice[4096] = "";
        o.notices = (fo_notices){keep_notice, notice};
        assert_ok(search_index_open(&ix, dir, &o, &dropped, &err), &err);
        assert_int_equal(dropped, 1);
        assert_int_equal(strncmp(notice, path, strlen(path)), 0);
        search_snapshot *s = search_index_acquire(ix);
        assert_int_equal(search_snapshot_count(s), 0);
        search_index_release(s);
        if (kind != 4) assert_int_not_equal(access(path, F_OK), 0); /* that one is made anew */
        strcat(path, ".bad");
        assert_int_equal(access(path, F_OK), 0);
        assert_ok(search_index_close(ix, true, &err), &err);
        assert_ok(search_index_open(&ix, dir, &o, &dropped, &err), &err);
        assert_int_equal(dropped, 0);
        assert_ok(search_index_close(ix, true, &err), &err);
        test_remove(dir);
    }
}

/* The first segment as a program wrote it whose analysis had no edition: its checksums are right. */
static void make_analysis_older(const char *dir) {
    enum { HEADER = 64, ROW = 32 };
    char path[4096], *data;
    fo_err err = {0};
    size_t size;
    first_segment(dir, path, sizeof path);
    assert_ok(fo_file_read(path, 1 << 24, &data, &size, &err), &err);
    for (size_t i = 0; i < SEGMENT_MAX_SECTIONS; i++) {
        char *row = data + HEADER + i * ROW;
        uint32_t type, crc;
        uint64_t at;
        memcpy(&type, row, 4);
        memcpy(&at, row + 8, 8);
        if (type != SECTION_INFO) continue;
        assert_int_equal(data[at + offsetof(segment_info, analysis)], ANALYZER_EDITION);
        data[at + offsetof(segment_info, analysis)] = 0;
        crc = (uint32_t)crc32_z(0, (const void *)(data + at), sizeof(segment_info));
        memcpy(row + 4, &crc, 4);
    }
    uint32_t table =
        (uint32_t)crc32_z(0, (const void *)(data + HEADER), SEGMENT_MAX_SECTIONS * ROW);
    memcpy(data + 24, &table, 4);
    const uint32_t head = (uint32_t)crc32_z(0, (const void *)data, 60);
    memcpy(data + 60, &head, 4);
    assert_ok(fo_file_put(path, data, size, &err), &err);
    free(data);
}

/* Of an older analysis a file goes on where that reads its scripts as today's does. */
static void words_that_are_read_otherwise_by_now_are_indexed_anew(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t n_dropped;
    } cases[] = {{"The library is open.", 0},
                 {"\xD8\xA7\xD9\x84\xD9\x85\xD9\x83\xD8\xAA\xD8\xA8\xD9\x87", 1},
                 {"Hindi: \xE0\xA4\x95\xE0\xA4\xAC", 1},
                 {"A library, \xD9\x85\xD9\x83\xD8\xAA\xD8\xA8\xD9\x87, \xE5\x9B\xBE", 1},
                 {"\xD0\xBA\xD0\xBD\xD0\xB8\xD0\xB3\xD0\xB0, \xE5\x9B\xBE\xE4\xB9\xA6", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *dir = test_folder();
        fo_err err = {0};
        float v[DIM];
        search_index *ix = open_index(dir, 1000, 0);
        for (int64_t id = 1; id <= 300; id++) add(ix, id); /* several blocks of the dictionary */
        vector_of(301, v);
        search_chunk_in c = {.chunk = 301,
                             .document = 301,
                             .title = "",
                             .text = cases[i].text,
                             .text_len = strlen(cases[i].text),
                             .vector = v};
        assert_ok(search_index_add(ix, &c, &err), &err);
        publish(ix, 3);
        assert_ok(search_index_close(ix, true, &err), &err);
        make_analysis_older(dir);
        ix = open_index(dir, 1000, cases[i].n_dropped);
        assert_ok(search_index_close(ix, false, &err), &err);
        test_remove(dir);
    }
}

/* The manifest as a program of that version wrote it: all of it is varints, and each added some. */
static void write_older_manifest(const char *path, uint32_t version) {
    fo_err err = {0};
    char *data;
    size_t size, starts[64], n = 0;
    assert_ok(fo_file_read(path, 4096, &data, &size, &err), &err);
    const uint8_t *p = (const uint8_t *)data + 16, *end = (const uint8_t *)data + size;
    for (uint64_t v; p < end; n++) {
        assert_true(n < 64);
        starts[n] = (size_t)(p - (const uint8_t *)data);
        assert_non_null(p = varint_get(p, end, &v));
    }
    size_t cut = version == 2 ? starts[n - 1] : version == 1 ? starts[n - 3] : size;
    uint32_t crc = (uint32_t)crc32_z(0, (const void *)(data + 16), cut - 16);
    memcpy(data + 8, &version, 4);
    memcpy(data + 12, &crc, 4);
    assert_ok(fo_file_put(path, data, cut, &err), &err);
    free(data);
}

static void reads_manifests_of_every_version_and_refuses_newer_ones(void **state) {
    (void)state;
    for (uint32_t version = 1; version <= 4; version++) {
        char *dir = test_folder(), path[4096];
        fo_err err = {0};
        search_index *ix = open_index(dir, 1000, 0);
        for (int64_t id = 1; id < 30; id++) add(ix, id);
        publish(ix, 3);
        assert_ok(search_index_seal(ix, &err), &err);
        assert_int_equal(search_index_remove(ix, 7, NULL), FO_OK);
        publish(ix, 4);
        assert_ok(search_index_close(ix, true, &err), &err);
        snprintf(path, sizeof path, "%s/MANIFEST", dir);
        write_older_manifest(path, version);
        ix = open_index(dir, 1000, version == 4);
        assert_int_equal(search_index_epoch(ix), version == 4 ? -1 : 4);
        assert_int_equal(search_index_newest(ix), version == 4 ? -1 : 4);
        search_snapshot *s = search_index_acquire(ix);
        assert_true(sparse_finds(s, 8) == (version < 4));
        assert_false(sparse_finds(s, 7));
        search_index_release(s);
        assert_ok(search_index_close(ix, true, &err), &err);
        test_remove(dir);
    }
}

/* What merges write has the tombstones of now, and the epoch of the last seal: the store must know both. */
static void a_manifest_tells_of_newer_tombstones(void **state) {
    (void)state;
    char *dir = test_folder();
    fo_err err = {0};
    search_index *ix = open_index(dir, 1000, 0);
    for (int64_t id = 1; id < 10; id++) add(ix, id);
    publish(ix, 3);
    assert_ok(search_index_seal(ix, &err), &err);
    for (int64_t id = 1; id < 8; id++)
        assert_int_equal(search_index_remove(ix, id, NULL), FO_OK); /* so many that it is merged */
    add(ix, 20);                                                    /* what no file holds */
    publish(ix, 5);
    for (int i = 0; i < 600 && search_index_newest(ix) < 5; i++) usleep(50000);
    assert_int_equal(search_index_newest(ix), 5);
    assert_int_equal(search_index_epoch(ix), 3);
    assert_ok(search_index_close(ix, false, &err), &err);
    ix = open_index(dir, 1000, 0);
    assert_int_equal(search_index_epoch(ix), 3);
    assert_int_equal(search_index_newest(ix), 5);
    assert_ok(search_index_close(ix, false, &err), &err);
    test_remove(dir);
}

static void a_read_only_index_serves_and_changes_nothing(void **state) {
    (void)state;
    char *dir = test_folder();
    fo_err err = {0};
    search_index *ix = open_index(dir, 1000, 0), *reader;
    for (int64_t id = 1; id < 30; id++) add(ix, id);
    publish(ix, 3);
    assert_ok(search_index_seal(ix, &err), &err);
    search_index_options o = options(1000);
    o.read_only = true;
    assert_ok(search_index_open(&reader, dir, &o, NULL, &err), &err);
    assert_ok(search_index_compact(ix, &err), &err); /* the writer goes on beside it */
    search_snapshot *s = search_index_acquire(reader);
    assert_true(sparse_finds(s, 7) && dense_finds(s, 7));
    search_index_release(s);
    add(reader, 40); /* what a writer has not sealed yet comes from the store, into memory */
    publish(reader, 9);
    s = search_index_acquire(reader);
    assert_true(sparse_finds(s, 40) && dense_finds(s, 40));
    search_index_release(s);
    assert_int_equal(search_index_seal(reader, &err), FO_EUNSUPPORTED);
    assert_ok(search_index_close(reader, true, &err), &err);
    assert_ok(search_index_close(ix, true, &err), &err);
    ix = open_index(dir, 1000, 0);
    s = search_index_acquire(ix);
    assert_false(sparse_finds(s, 40)); /* it left no trace in the folder */
    search_index_release(s);
    assert_ok(search_index_close(ix, true, &err), &err);
    test_remove(dir);
}

/* A file that is damaged is the writer's to put aside: whoever only reads leaves it where it is. */
static void a_read_only_index_puts_nothing_aside(void **state) {
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        char *dir = test_folder(), path[4096];
        fo_err err = {0};
        search_index *ix = open_index(dir, 1000, 0);
        for (int64_t id = 1; id < 30; id++) add(ix, id);
        publish(ix, 3);
        assert_ok(search_index_close(ix, true, &err), &err);
        first_segment(dir, path, sizeof path);
        if (kind) snprintf(path, sizeof path, "%s/MANIFEST", dir);
        damage(path, kind ? -1 : 3);
        search_index_options o = options(1000);
        o.read_only = true;
        size_t dropped = 0;
        assert_ok(search_index_open(&ix, dir, &o, &dropped, &err), &err);
        assert_int_equal(dropped, 1);
        assert_ok(search_index_close(ix, true, &err), &err);
        assert_int_equal(access(path, F_OK), 0);
        strcat(path, ".bad");
        assert_int_not_equal(access(path, F_OK), 0);
        test_remove(dir);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_not_sealed_is_gone_after_a_crash_and_the_epoch_says_so),
        cmocka_unit_test(puts_damaged_and_foreign_files_aside),
        cmocka_unit_test(reads_manifests_of_every_version_and_refuses_newer_ones),
        cmocka_unit_test(words_that_are_read_otherwise_by_now_are_indexed_anew),
        cmocka_unit_test(a_manifest_tells_of_newer_tombstones),
        cmocka_unit_test(a_read_only_index_serves_and_changes_nothing),
        cmocka_unit_test(a_read_only_index_puts_nothing_aside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
