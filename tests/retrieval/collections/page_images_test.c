/* Pages of PDFs as images: copies are kept for one version of a document, go with it, are never more than is allowed, and one
 * that is damaged is none; a page is drawn apart, and what cannot be drawn says why. */
#include "tests/test.h"

#include <sys/stat.h>
#include <unistd.h>

#include "data/extract/extract_host.h"
#include "kernels/hex.h"
#include "kernels/sha256.h"
#include "retrieval/home/home_backup.h"
#include "retrieval/collections/page_images.h"
#include "tests/retrieval/service/home_fixture.h"

static extract_host *host;
static const unsigned char version[32] = {1}, other[32] = {2};

static bool is_png(const char *p, size_t n) {
    return n > 1000 && memcmp(p, "\x89PNG\r\n\x1a\n", 8) == 0;
}

static int draw_in(page_images *p, int64_t collection_id, const char *id, const unsigned char v[32],
                   uint32_t page, fo_err *err) {
    char *png = NULL;
    size_t n = 0;
    int rc = page_images_draw(p, host, collection_id, id, v, page, NULL, &png, &n, err);
    if (!rc) assert_true(is_png(png, n));
    free(png);
    return rc;
}

static int draw(page_images *p, const char *id, const unsigned char v[32], uint32_t page,
                fo_err *err) {
    return draw_in(p, 7, id, v, page, err);
}

static char *path_of_copy(const char *home, const char *id) {
    static char path[600];
    unsigned char digest[32];
    char hex[65];
    fo_sha256_of(digest, id, strlen(id));
    fo_hex_write(hex, digest, 32);
    snprintf(path, sizeof path, "%s/originals/7/%s", home, hex);
    return path;
}

/* A home with room for copies of so many bytes, and a PDF. */
typedef struct shelf {
    char *home, *pdf;
    size_t n;
    page_images *p;
} shelf;

static void open_images(shelf *h, size_t max_bytes) {
    fo_err err = {0};
    assert_ok(page_images_create(&h->p, h->home, max_bytes, &err), &err);
}

/* times: the room is for the PDF so often, and more. */
static shelf open_shelf(size_t times, size_t more) {
    shelf h = {.home = test_folder()};
    h.pdf = read_sample("slides.pdf", &h.n);
    open_images(&h, times * h.n + more);
    return h;
}

static void keep(shelf *h, int64_t collection_id, const char *id, const unsigned char v[32]) {
    page_images_keep(h->p, collection_id, id, v, h->pdf, h->n);
}

static bool is_kept(const shelf *h, const char *id) {
    return access(path_of_copy(h->home, id), F_OK) == 0;
}

static void close_shelf(shelf *h) {
    page_images_free(h->p);
    free(h->pdf);
    test_remove(h->home);
}

static void a_copy_is_of_one_version(void **state) {
    (void)state;
    fo_err err = {0};
    shelf h = open_shelf(0, 1 << 20);
    assert_int_equal(draw(h.p, "a", version, 1, &err), FO_ENOTFOUND);
    keep(&h, 7, "a", version);
    assert_ok(draw(h.p, "a", version, 2, &err), &err);
    assert_ok(draw(h.p, "a", version, 2, &err), &err); /* from memory */
    assert_int_equal(draw(h.p, "a", other, 2, &err), FO_ENOTFOUND);
    assert_int_equal(draw(h.p, "a", version, 99, &err), FO_ENOTFOUND);
    assert_non_null(strstr(err.msg, "page 99"));
    assert_int_equal(draw(h.p, "b", version, 1, &err), FO_ENOTFOUND);
    page_images_keep(h.p, 7, "t", version, "no PDF", 6);
    assert_false(is_kept(&h, "t"));
    page_images_forget(h.p, 7, "a");
    assert_false(is_kept(&h, "a"));
    assert_int_equal(draw(h.p, "a", version, 1, &err), FO_ENOTFOUND);
    keep(&h, 7, "a", version);
    page_images_forget_all(h.p, 7);
    assert_int_equal(draw(h.p, "a", version, 3, &err), FO_ENOTFOUND);
    close_shelf(&h);
}

/* A process ended while it deleted collection 8. */
static void copies_of_no_collection_go(void **state) {
    (void)state;
    char path[600];
    fo_err err = {0};
    static const int64_t ids[] = {3, 7, 80};
    shelf h = open_shelf(0, 1 << 20);
    keep(&h, 7, "a", version);
    keep(&h, 8, "a", version);
    snprintf(path, sizeof path, "%s/originals/other", h.home);
    assert_int_equal(mkdir(path, 0700), 0);
    page_images_forget_others(h.p, ids, 3);
    assert_ok(draw_in(h.p, 7, "a", version, 1, &err), &err);
    assert_int_equal(draw_in(h.p, 8, "a", version, 1, &err), FO_ENOTFOUND);
    assert_int_equal(access(path, F_OK), 0); /* somebody else's */
    close_shelf(&h);
}

static char *path_of_unfinished(const char *home, const char *id) {
    static char path[700];
    snprintf(path, sizeof path, "%s.new", path_of_copy(home, id));
    return path;
}

static void leave_unfinished(const shelf *h, const char *id) {
    fo_err err = {0};
    assert_ok(fo_file_put(path_of_unfinished(h->home, id), h->pdf, h->n, &err), &err);
}

static bool is_unfinished(const shelf *h, const char *id) {
    return access(path_of_unfinished(h->home, id), F_OK) == 0;
}

/* A process ended while it wrote copies: their bytes do not outlive it, nor their documents, and take no room. */
static void what_was_not_written_to_its_end_goes(void **state) {
    (void)state;
    static const int64_t ids[] = {7};
    shelf h = open_shelf(2, 200);
    keep(&h, 7, "a", version);
    leave_unfinished(&h, "a");
    leave_unfinished(&h, "b");
    page_images_free(h.p);
    open_images(&h, 2 * h.n + 200);
    keep(&h, 7, "c", version); /* they are counted */
    assert_false(is_kept(&h, "c"));
    page_images_forget(h.p, 7, "b");
    assert_false(is_unfinished(&h, "b"));
    assert_true(is_unfinished(&h, "a"));
    page_images_forget_others(h.p, ids, 1);
    assert_false(is_unfinished(&h, "a"));
    assert_true(is_kept(&h, "a"));
    keep(&h, 7, "c", version);
    assert_true(is_kept(&h, "c"));
    close_shelf(&h);
}

/* Of a home opened anew the first copy takes the place of one that was there. */
static void what_is_replaced_first_is_counted_once(void **state) {
    (void)state;
    enum { TWO = 2 * 64 + 32 }; /* there is room for two */
    shelf h = open_shelf(2, TWO);
    keep(&h, 7, "a", version);
    keep(&h, 7, "b", version);
    page_images_free(h.p);
    open_images(&h, 2 * h.n + TWO);
    keep(&h, 7, "a", other);
    keep(&h, 7, "c", version);
    assert_true(is_kept(&h, "a"));
    assert_true(is_kept(&h, "b"));
    assert_false(is_kept(&h, "c"));
    close_shelf(&h);
}

/* The same file in two collections: what was drawn of the one is not shown, sooner or at all, of the other. */
static void an_image_is_of_one_collection(void **state) {
    (void)state;
    fo_err err = {0};
    shelf h = open_shelf(0, 1 << 20);
    keep(&h, 7, "a", version);
    assert_ok(draw(h.p, "a", version, 2, &err), &err);
    assert_int_equal(draw_in(h.p, 8, "a", version, 2, &err), FO_ENOTFOUND);
    keep(&h, 8, "a", version);
    assert_ok(draw_in(h.p, 8, "a", version, 2, &err), &err);
    page_images_forget_all(h.p, 7);
    page_images_forget_all(h.p, 8);
    assert_ok(draw(h.p, "a", version, 2, &err), &err); /* each from memory */
    assert_ok(draw_in(h.p, 8, "a", version, 2, &err), &err);
    close_shelf(&h);
}

static void a_damaged_copy_is_none(void **state) {
    (void)state;
    fo_err err = {0};
    shelf h = open_shelf(0, 1 << 20);
    keep(&h, 7, "a", version);
    FILE *f = fopen(path_of_copy(h.home, "a"), "r+");
    assert_non_null(f);
    fseek(f, 500, SEEK_SET);
    int c = fgetc(f);
    fseek(f, 500, SEEK_SET);
    fputc(c ^ 1, f);
    fclose(f);
    assert_int_equal(draw(h.p, "a", version, 1, &err), FO_ENOTFOUND);
    assert_int_equal(truncate(path_of_copy(h.home, "a"), 40), 0);
    assert_int_equal(draw(h.p, "a", version, 1, &err), FO_ENOTFOUND);
    close_shelf(&h);
}

static void there_is_room_for_so_many(void **state) {
    (void)state;
    shelf h = open_shelf(2, 200);
    keep(&h, 7, "a", version);
    keep(&h, 7, "b", version);
    keep(&h, 7, "b", other); /* in its own place */
    keep(&h, 7, "c", version);
    assert_true(is_kept(&h, "b"));
    assert_false(is_kept(&h, "c"));
    page_images_free(h.p);
    open_images(&h, 2 * h.n + 200); /* counted anew */
    keep(&h, 7, "c", version);
    assert_false(is_kept(&h, "c"));
    page_images_forget(h.p, 7, "a");
    keep(&h, 7, "c", version);
    assert_true(is_kept(&h, "c"));
    close_shelf(&h);
}

static void what_cannot_be_drawn_says_why(void **state) {
    (void)state;
    fo_err err = {0};
    fo_buf png = {0};
    const char broken[] = "%PDF-1.4\nnothing of the kind\n";
    assert_int_not_equal(page_image_draw(host, broken, sizeof broken - 1, 1, NULL, &png, &err), 0);
    assert_non_null(strstr(err.msg, "page 1"));
    assert_int_equal(page_image_draw(host, "text", 4, 1, NULL, &png, &err), FO_EUNSUPPORTED);
    assert_int_equal(page_image_draw(NULL, broken, 20, 1, NULL, &png, &err), FO_EUNSUPPORTED);
    fo_buf_free(&png);
}

/* Through a service: it goes with its document, and who may not see that sees no page of it. */
static void a_service_keeps_and_forgets(void **state) {
    (void)state;
    static const char text[] = "A text in its place.";
    char *home = test_folder(), path[600], *png = NULL;
    size_t n, n_png = 0;
    fo_err err = {0};
    const service_options opt = {.home = home, .n_threads = 1, .worker_program = "/proc/self/exe"};
    service *s = open_home_with(opt);
    char *pdf = read_sample("slides.pdf", &n);
    assert_int_equal(put_note(s, "a", "slides.pdf", pdf, n), INGEST_CREATED);
    free(pdf);
    assert_ok(service_draw_page(s, "default", "notes", "a", NULL, 1, NULL, &png, &n_png, &err),
              &err);
    assert_true(is_png(png, n_png));
    free(png);
    assert_int_equal(put_note(s, "a", "a.txt", text, strlen(text)), INGEST_UPDATED);
    assert_int_equal(
        service_draw_page(s, "default", "notes", "a", NULL, 1, NULL, &png, &n_png, &err),
        FO_ENOTFOUND);
    snprintf(path, sizeof path, "%s/originals/1", home);
    assert_int_equal(rmdir(path), 0); /* empty */
    service_close(s);
    for (int id = 1; id <= 99; id += 98) { /* the one of this collection, and one of none */
        snprintf(path, sizeof path, "%s/originals/%d", home, id);
        assert_int_equal(mkdir(path, 0700), 0);
    }
    s = open_home_with(opt);
    assert_int_not_equal(access(path, F_OK), 0);
    snprintf(path, sizeof path, "%s/originals/1", home);
    assert_int_equal(access(path, F_OK), 0);
    service_close(s);
    test_remove(home);
}

/* The document is in, and its copy is not: a backup came back, or there was no room. */
static void ingested_once_more_a_copy_is_there_again(void **state) {
    (void)state;
    char *home = test_folder(), path[600], *png = NULL;
    size_t n, n_png = 0;
    fo_err err = {0};
    service *s = open_home_with(
        (service_options){.home = home, .n_threads = 1, .worker_program = "/proc/self/exe"});
    char *pdf = read_sample("slides.pdf", &n);
    assert_int_equal(put_note(s, "a", "slides.pdf", pdf, n), INGEST_CREATED);
    snprintf(path, sizeof path, "%s/originals", home);
    assert_ok(fo_remove_tree(path, &err), &err);
    assert_int_equal(put_note(s, "a", "slides.pdf", pdf, n), INGEST_UNCHANGED);
    assert_ok(service_draw_page(s, "default", "notes", "a", NULL, 1, NULL, &png, &n_png, &err),
              &err);
    free(png);
    free(pdf);
    service_close(s);
    test_remove(home);
}

/* The document that it is of is none of the new home's. */
static void a_restored_home_keeps_no_copy_of_the_old_one(void **state) {
    (void)state;
    char *home = test_folder(), *aside = test_folder(), path[600];
    size_t n;
    fo_err err = {0};
    const service_options opt = {.home = home, .n_threads = 1, .worker_program = "/proc/self/exe"};
    service *s = open_home_with(opt);
    assert_int_equal(put_note(s, "t", NULL, "A text.", 7), INGEST_CREATED);
    service_close(s);
    snprintf(path, sizeof path, "%s/backup", aside);
    assert_ok(home_backup(home, path, &err), &err);
    s = open_home_with(opt);
    char *pdf = read_sample("slides.pdf", &n);
    assert_int_equal(put_note(s, "a", "slides.pdf", pdf, n), INGEST_CREATED);
    service_close(s);
    assert_ok(home_restore(home, path, true, &err), &err);
    snprintf(path, sizeof path, "%s/originals", home);
    assert_int_not_equal(access(path, F_OK), 0);
    free(pdf);
    test_remove(home);
    test_remove(aside);
}

/* As a deletion does that ends at once, that is refused, that meets a newer copy, that never ends. */
static void what_is_put_aside_goes_or_comes_back(void **state) {
    (void)state;
    static const int64_t ids[] = {7};
    fo_err err = {0};
    shelf h = open_shelf(1, 200);
    keep(&h, 7, "a", version);
    page_images_put_aside(h.p, 7, "a");
    assert_int_equal(draw(h.p, "a", version, 1, &err), FO_ENOTFOUND);
    page_images_end_aside(h.p, 7, "a", true);
    assert_ok(draw(h.p, "a", version, 1, &err), &err);
    page_images_put_aside(h.p, 7, "a");
    keep(&h, 7, "a", other);
    page_images_end_aside(h.p, 7, "a", true);
    assert_ok(draw(h.p, "a", other, 1, &err), &err);
    page_images_put_aside(h.p, 7, "a");
    page_images_end_aside(h.p, 7, "a", false);
    assert_false(is_kept(&h, "a") || is_unfinished(&h, "a"));
    keep(&h, 7, "b", version); /* its room is free */
    assert_true(is_kept(&h, "b"));
    page_images_put_aside(h.p, 7, "b");
    page_images_forget_others(h.p, ids, 1);
    assert_false(is_kept(&h, "b") || is_unfinished(&h, "b"));
    close_shelf(&h);
}

static int set_up(void **state) {
    (void)state;
    fo_err err = {0};
    return extract_host_create(&host, &(extract_host_options){.program = "/proc/self/exe"}, &err);
}

static int tear_down(void **state) {
    (void)state;
    extract_host_free(host);
    return 0;
}

int main(int argc, char **argv) {
    if (extract_is_worker(argc, argv)) return extract_worker_main(NULL, 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_copy_is_of_one_version),
        cmocka_unit_test(an_image_is_of_one_collection),
        cmocka_unit_test(copies_of_no_collection_go),
        cmocka_unit_test(what_was_not_written_to_its_end_goes),
        cmocka_unit_test(what_is_replaced_first_is_counted_once),
        cmocka_unit_test(a_damaged_copy_is_none),
        cmocka_unit_test(there_is_room_for_so_many),
        cmocka_unit_test(what_cannot_be_drawn_says_why),
        cmocka_unit_test(a_service_keeps_and_forgets),
        cmocka_unit_test(ingested_once_more_a_copy_is_there_again),
        cmocka_unit_test(a_restored_home_keeps_no_copy_of_the_old_one),
        cmocka_unit_test(what_is_put_aside_goes_or_comes_back),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
