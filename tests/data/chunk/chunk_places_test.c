/* Places of chunks, as the store keeps them: what is written is read again, and of a chunk over several places
 * the time goes from the first one's beginning to the last one's end. */
#include "tests/test.h"

#include "data/chunk/chunk_places.h"
#include "data/extract/builder.h"

static void write_all(fo_buf *out, builder *b) {
    extracted x = {.text = b->text.data,
                   .len = b->text.len,
                   .blocks = b->blocks,
                   .n_blocks = b->n_blocks,
                   .places = b->places,
                   .n_places = b->n_places};
    chunk c = {.start = 0, .end = x.len, .end_cp = x.len};
    chunk_places_write(out, &x, &c);
    assert_false(out->failed);
    fo_buf_char(out, 0);
}

static void say(builder *b, const text_place *p, const char *s) {
    builder_set_place(b, p);
    builder_begin(b, TEXT_PARAGRAPH, 0);
    builder_str(b, s);
    builder_end(b);
}

static void times_are_kept_and_stretched(void **state) {
    (void)state;
    builder b = {.max_bytes = 1000};
    fo_buf out = {0};
    say(&b, &(text_place){.start_ms = 0, .end_ms = 1500}, "One.");
    say(&b, &(text_place){.start_ms = 754250, .end_ms = 757500}, "Two.");
    write_all(&out, &b);
    chunk_place p;
    assert_true(chunk_places_find(out.data, 3, &p));
    assert_true(p.has_time && p.time[0] == 0 && p.time[1] == 1.5);
    assert_true(chunk_places_find(out.data, 7, &p));
    assert_true(p.has_time && p.time[0] == 754.25 && p.time[1] == 757.5);
    assert_true(chunk_places_whole(out.data, &p));
    assert_true(p.has_time && p.time[0] == 0 && p.time[1] == 757.5);
    assert_int_equal(p.line, 0);
    fo_buf_free(&out);
    builder_free(&b);
}

static void lines_are_kept(void **state) {
    (void)state;
    builder b = {.max_bytes = 1000};
    fo_buf out = {0};
    say(&b, &(text_place){.line = 12}, "One.");
    say(&b, &(text_place){.line = 40}, "Two.");
    write_all(&out, &b);
    chunk_place p;
    assert_true(chunk_places_find(out.data, 7, &p));
    assert_int_equal(p.line, 40);
    assert_false(p.has_time);
    assert_true(chunk_places_whole(out.data, &p));
    assert_int_equal(p.line, 12);
    fo_buf_free(&out);
    builder_free(&b);
}

/* However many rows a chunk has, each has its own. */
static void rows_behind_many_are_their_own(void **state) {
    (void)state;
    enum { ROWS = 200 };
    builder b = {.max_bytes = 10000};
    fo_buf out = {0};
    for (int i = 1; i <= ROWS; i++) {
        char range[16], row[16];
        snprintf(range, sizeof range, "A%d:B%d", i, i);
        snprintf(row, sizeof row, "row %03d;", i);
        say(&b, &(text_place){.range = range}, row);
    }
    const char *at = strstr(b.text.data, "row 150;");
    assert_non_null(at);
    size_t at_cp = (size_t)(at - b.text.data);
    write_all(&out, &b);
    chunk_place p;
    assert_true(chunk_places_find(out.data, at_cp, &p));
    assert_string_equal(p.range, "A150:B150");
    assert_true(chunk_places_whole(out.data, &p));
    assert_string_equal(p.range, "A1:B200");
    fo_buf_free(&out);
    builder_free(&b);
}

static void what_is_no_time_is_none(void **state) {
    (void)state;
    chunk_place p;
    assert_false(chunk_places_find("[{\"at\":0,\"time\":[1]}]", 0, &p));
    assert_false(chunk_places_find("[{\"at\":0,\"time\":[1,\"2\"]}]", 0, &p));
    assert_false(chunk_places_find("[{\"at\":0,\"line\":-4}]", 0, &p));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_are_kept_and_stretched),
        cmocka_unit_test(lines_are_kept),
        cmocka_unit_test(rows_behind_many_are_their_own),
        cmocka_unit_test(what_is_no_time_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
