/* The group commit: calls that wait together stand and fall by themselves. The tests hold the write lock
 * until all calls of a group are queued. */
#include "tests/retrieval/service/home_fixture.h" /* before service_internal.h, whose names it uses otherwise */

#include <pthread.h>

#include "data/extract/extract_host.h"
#include "kernels/file.h"
#include "kernels/hex.h"
#include "kernels/sha256.h"
#include "retrieval/sync/folder_sync.h"
#include "retrieval/collections/page_images.h"
#include "retrieval/collections/service_internal.h"

static atomic_bool no_publish;

int __real_search_index_publish(search_index *ix, int64_t epoch, fo_err *err);
int __wrap_search_index_publish(search_index *ix, int64_t epoch, fo_err *err);

int __wrap_search_index_publish(search_index *ix, int64_t epoch, fo_err *err) {
    return no_publish ? fo_no_memory(err) : __real_search_index_publish(ix, epoch, err);
}

typedef struct call {
    service *s;
    const char *tenant, *collection, *id, *acl;
    const search_filter *sees;
    pthread_t thread;
    int rc;
    ingest_result r;
    size_t n;
    fo_err err;
} call;

static void *ingest_it(void *arg) {
    call *k = arg;
    const char *text = "The pump stands beside the well.";
    ingest_options into = {.tenant = k->tenant, .collection = k->collection, .overlap = SIZE_MAX};
    into.sees = k->sees;
    ingest_document d = {.id = k->id, .acl = k->acl, .bytes = text, .n_bytes = strlen(text)};
    k->rc = service_ingest(k->s, &into, &d, 1, &k->r, NULL, &k->err);
    return NULL;
}

static void *forget_it(void *arg) {
    call *k = arg;
    k->rc = folder_sync_forget(k->s, k->tenant, k->id, false, false, NULL, &k->n, &k->err);
    return NULL;
}

static size_t n_queued(service *s) {
    size_t n = 0;
    pthread_mutex_lock(&s->write_mu);
    for (write_op *op = s->queue; op; op = *(write_op **)op) n++; /* it begins with the next one */
    pthread_mutex_unlock(&s->write_mu);
    return n;
}

/* The write lock is the caller's: returns when the call waits for it as number n. */
static void start(call *k, void *(*run)(void *), size_t n) {
    assert_int_equal(pthread_create(&k->thread, NULL, run, k), 0);
    while (n_queued(k->s) < n) usleep(1000);
}

static void end(call *k) {
    pthread_join(k->thread, NULL);
}

static bool has(service *s, const char *tenant, const char *in, const char *id) {
    store_document d = {0};
    fo_err err = {0};
    int rc = catalog_get_document(service_catalog(s), tenant, in, id, NULL, false, &d, &err);
    store_document_deinit(&d);
    assert_true(rc == FO_OK || rc == FO_ENOTFOUND);
    return !rc;
}

static void sync_folder(service *s, const char *folder) {
    char path[512];
    fo_err err = {0};
    folder_sync_report r;
    snprintf(path, sizeof path, "%s/a.txt", folder);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs("A lighthouse.", f);
    fclose(f);
    folder_sync_request q = {.tenant = "default",
                             .collection = "notes",
                             .name = "src",
                             .path = folder,
                             .overlap = SIZE_MAX,
                             .limit = SYNC_LIMIT_DEFAULT};
    assert_ok(folder_sync_run(s, &q, &r, &err), &err);
    assert_int_equal(r.created, 1);
    folder_sync_report_deinit(&r);
}

static void a_deleted_collection_fails_its_own_calls_alone(void **state) {
    (void)state;
    char *home = test_folder(), *folder = test_folder();
    fo_err err = {0};
    service *s = open_home(home);
    put(s, "doomed", "old", "Once.", 5, 256);
    sync_folder(s, folder);
    assert_true(has(s, "default", "notes", "src/a.txt"));
    call doomed = {.s = s, .tenant = "default", .collection = "doomed", .id = "new"};
    call other = {.s = s, .tenant = "elsewhere", .collection = "kept", .id = "one"};
    call source = {.s = s, .tenant = "default", .id = "src"};
    writer_take(s);
    start(&doomed, ingest_it, 1);
    start(&other, ingest_it, 2);
    start(&source, forget_it, 3);
    assert_ok(store_delete_collection(s->store, "default", "doomed", NULL, &err), &err);
    writer_yield(s);
    end(&doomed);
    end(&other);
    end(&source);
    assert_int_equal(doomed.rc, FO_ENOTFOUND);
    assert_string_equal(doomed.err.field, "collection");
    assert_ok(other.rc, &other.err);
    assert_int_equal(other.r.status, INGEST_CREATED);
    assert_true(has(s, "elsewhere", "kept", "one"));
    assert_ok(source.rc, &source.err);
    assert_false(has(s, "default", "notes", "src/a.txt"));
    ingest_result_deinit(&doomed.r);
    ingest_result_deinit(&other.r);
    service_close(s);
    test_remove(home);
    test_remove(folder);
}

/* Stored, and not to be found: no call is told that all is well. */
static void who_is_not_findable_is_told(void **state) {
    (void)state;
    char *home = test_folder();
    service *s = open_home(home);
    put(s, "notes", "old", "Once.", 5, 256);
    call calls[3];
    writer_take(s);
    for (size_t i = 0; i < 3; i++) {
        static const char *const ids[] = {"a", "b", "c"};
        calls[i] = (call){.s = s, .tenant = "default", .collection = "notes", .id = ids[i]};
        start(&calls[i], ingest_it, i + 1);
    }
    no_publish = true;
    writer_yield(s);
    for (size_t i = 0; i < 3; i++) {
        end(&calls[i]);
        assert_int_equal(calls[i].rc, FO_ENOMEM);
        assert_non_null(strstr(calls[i].err.msg, "memory"));
        assert_true(has(s, "default", "notes", calls[i].id));
        ingest_result_deinit(&calls[i].r);
    }
    no_publish = false;
    service_close(s);
    test_remove(home);
}

static void what_came_unseen_meanwhile_is_not_written_over(void **state) {
    (void)state;
    char *home = test_folder();
    fo_err err = {0};
    const char *const groups[] = {"staff"};
    search_filter *staff = NULL;
    service *s = open_home(home);
    put(s, "notes", "old", "Once.", 5, 256);
    assert_ok(search_filter_sees(&staff, groups, 1, &err), &err);
    call board = {.s = s, .tenant = "default", .collection = "notes", .id = "a"};
    call late = board, beside = board;
    board.acl = "[\"board\"]";
    late.sees = beside.sees = staff;
    beside.id = "b";
    writer_take(s);
    start(&board, ingest_it, 1);
    start(&late, ingest_it, 2);
    start(&beside, ingest_it, 3);
    writer_yield(s);
    end(&board);
    end(&late);
    end(&beside);
    assert_ok(board.rc, &board.err);
    assert_int_equal(board.r.status, INGEST_CREATED);
    assert_ok(late.rc, &late.err);
    assert_int_equal(late.r.status, INGEST_FAILED);
    assert_int_equal(late.r.error.code, FO_EDENIED);
    assert_string_equal(late.r.error.field, "id");
    assert_int_equal(beside.r.status, INGEST_CREATED);
    store_document d = {0};
    assert_ok(
        catalog_get_document(service_catalog(s), "default", "notes", "a", NULL, false, &d, &err),
        &err);
    assert_non_null(strstr(d.metadata, "board"));
    store_document_deinit(&d);
    ingest_result_deinit(&board.r);
    ingest_result_deinit(&late.r);
    ingest_result_deinit(&beside.r);
    service_close(s);
    search_filter_free(staff);
    test_remove(home);
}

typedef struct pdf_call {
    call k;
    char *bytes;
    size_t n;
} pdf_call;

static void *ingest_pdf(void *arg) {
    call *k = arg;
    const pdf_call *p = arg;
    ingest_options into = {.tenant = k->tenant, .collection = k->collection, .overlap = SIZE_MAX};
    ingest_document d = {
        .id = k->id, .file_name = "slides.pdf", .bytes = p->bytes, .n_bytes = p->n};
    k->rc = service_ingest(k->s, &into, &d, 1, &k->r, NULL, &k->err);
    return NULL;
}

static void *delete_it(void *arg) {
    call *k = arg;
    k->rc = service_delete_document(k->s, k->tenant, k->collection, k->id, NULL, NULL, &k->err);
    return NULL;
}

static bool is_kept(const char *home, int64_t collection_id, const char *id) {
    char path[600], hex[65];
    unsigned char digest[32];
    fo_sha256_of(digest, id, strlen(id));
    fo_hex_write(hex, digest, 32);
    snprintf(path, sizeof path, "%s/originals/%lld/%s", home, (long long)collection_id, hex);
    return access(path, F_OK) == 0;
}

/* A copy is kept after the commit: a deletion may be in between, or begin before it and end after. */
static void no_copy_stays_of_a_document_deleted_meanwhile(void **state) {
    (void)state;
    char *home = test_folder();
    fo_err err = {0};
    service *s = NULL;
    service_options opt = {
        .home = home, .n_threads = 1, .primes_per_s = -1, .worker_program = "/proc/self/exe"};
    assert_ok(service_open(&s, &opt, &err), &err);
    pdf_call pdf = {.k = {.s = s, .tenant = "default", .collection = "notes", .id = "a"}};
    assert_ok(fo_file_read("tests/data/formats/slides.pdf", 64 << 20, &pdf.bytes, &pdf.n, &err),
              &err);
    ingest_pdf(&pdf);
    assert_ok(pdf.k.rc, &pdf.k.err);
    assert_int_equal(pdf.k.r.status, INGEST_CREATED);
    store_collection c = {0};
    assert_ok(store_get_collection(s->store, "default", "notes", &c, &err), &err);
    assert_true(is_kept(home, c.id, "a"));
    call gone = {.s = s, .tenant = "default", .collection = "notes", .id = "a"};
    unsigned char version[32];
    assert_true(fo_hex_read(version, 32, pdf.k.r.content_sha256));
    writer_take(s);
    start(&gone, delete_it, 1);
    page_images_keep(s->page_images, c.id, "a", version, pdf.bytes, pdf.n);
    writer_yield(s);
    end(&gone);
    assert_ok(gone.rc, &gone.err);
    assert_false(is_kept(home, c.id, "a"));
    /* In one commit with the document. */
    ingest_result_deinit(&pdf.k.r);
    writer_take(s);
    start(&pdf.k, ingest_pdf, 1);
    start(&gone, delete_it, 2);
    writer_yield(s);
    end(&pdf.k);
    end(&gone);
    assert_ok(pdf.k.rc, &pdf.k.err);
    assert_int_equal(pdf.k.r.status, INGEST_CREATED);
    assert_ok(gone.rc, &gone.err);
    assert_false(is_kept(home, c.id, "a"));
    ingest_result_deinit(&pdf.k.r);
    store_collection_deinit(&c);
    service_close(s);
    free(pdf.bytes);
    test_remove(home);
}

/* A deletion that is refused leaves the copy where it was; one that fails after its commit does not. */
static void a_copy_goes_when_its_document_does(void **state) {
    (void)state;
    char *home = test_folder();
    fo_err err = {0};
    service *s = open_home_with((service_options){
        .home = home, .n_threads = 1, .primes_per_s = -1, .worker_program = "/proc/self/exe"});
    size_t n;
    char *pdf = read_sample("slides.pdf", &n);
    assert_int_equal(put_note(s, "a", "slides.pdf", pdf, n), INGEST_CREATED);
    collection *c = NULL;
    assert_ok(collection_acquire(s, "default", "notes", &c, &err), &err);
    const unsigned char other[32] = {1};
    write_deletion d = {.id = "a", .sha256 = other};
    assert_ok(writer_delete(s, c, &d, 1, NULL, &err), &err);
    assert_int_equal(d.rc, FO_ECONFLICT);
    assert_true(is_kept(home, c->id, "a"));
    d.sha256 = NULL;
    no_publish = true;
    assert_int_equal(writer_delete(s, c, &d, 1, NULL, &err), FO_ENOMEM);
    no_publish = false;
    assert_false(has(s, "default", "notes", "a"));
    assert_false(is_kept(home, c->id, "a"));
    collection_release(s, c);
    service_close(s);
    free(pdf);
    test_remove(home);
}

enum { PAGES_BYTES = 60000 };

/* Numbered lines, as many as lie on pages of their own. */
static char *long_text(void) {
    char *text = calloc(1, PAGES_BYTES + 32);
    assert_non_null(text);
    for (size_t n = 0, i = 0; n < PAGES_BYTES; i++)
        n += (size_t)sprintf(text + n, "Line %zu.\n", i);
    return text;
}

/* A bit in the middle of that text, which the database has in one place. */
static void damage_database(const char *home, const char *text) {
    char path[512], *bytes = NULL, needle[2048];
    size_t n;
    fo_err err = {0};
    snprintf(path, sizeof path, "%s/forage.db", home);
    memcpy(needle, text + PAGES_BYTES / 2, sizeof needle);
    assert_ok(fo_file_read(path, 64 << 20, &bytes, &n, &err), &err);
    for (size_t len = sizeof needle; len > 256; len /= 2) { /* a page may end within it */
        char *at = memmem(bytes, n, needle, len);
        if (!at) continue;
        *at ^= 1;
        FILE *f = fopen(path, "r+b");
        assert_true(f && fwrite(bytes, 1, n, f) == n && fclose(f) == 0);
        free(bytes);
        return;
    }
    fail_msg("the text was not found");
}

static void a_document_that_cannot_be_read_fails_alone(void **state) {
    (void)state;
    char *home = test_folder(), *text = long_text();
    fo_err err = {0};
    service *s = open_home(home);
    put(s, "notes", "bad", text, strlen(text), 256);
    put(s, "notes", "old", "Once.", 5, 256);
    service_close(s);
    damage_database(home, text);
    s = open_home(home);
    ingest_options into = {.tenant = "default", .collection = "notes", .overlap = SIZE_MAX};
    ingest_document docs[] = {{.id = "first", .bytes = "One.", .n_bytes = 4},
                              {.id = "bad", .bytes = "Changed.", .n_bytes = 8},
                              {.id = "new", .bytes = "A new one.", .n_bytes = 10}};
    ingest_result r[3];
    assert_ok(service_ingest(s, &into, docs, 3, r, NULL, &err), &err);
    assert_int_equal(r[0].status, INGEST_CREATED);
    assert_int_equal(r[1].status, INGEST_FAILED);
    assert_int_equal(r[1].error.code, FO_ECORRUPT);
    assert_int_equal(r[2].status, INGEST_CREATED);
    assert_int_equal(r[2].error.code, FO_OK);
    for (size_t i = 0; i < 3; i++) ingest_result_deinit(&r[i]);
    assert_true(has(s, "default", "notes", "first") && has(s, "default", "notes", "new"));
    call bad = {.s = s, .tenant = "default", .collection = "notes", .id = "bad"};
    call old = {.s = s, .tenant = "default", .collection = "notes", .id = "old"};
    writer_take(s);
    start(&bad, delete_it, 1);
    start(&old, delete_it, 2);
    writer_yield(s);
    end(&bad);
    end(&old);
    assert_int_equal(bad.rc, FO_ECORRUPT);
    assert_int_equal(bad.err.code, FO_ECORRUPT);
    assert_ok(old.rc, &old.err);
    assert_false(has(s, "default", "notes", "old"));
    service_close(s);
    free(text);
    test_remove(home);
}

int main(int argc, char **argv) {
    if (extract_is_worker(argc, argv)) return extract_worker_main(NULL, 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_deleted_collection_fails_its_own_calls_alone),
        cmocka_unit_test(who_is_not_findable_is_told),
        cmocka_unit_test(what_came_unseen_meanwhile_is_not_written_over),
        cmocka_unit_test(no_copy_stays_of_a_document_deleted_meanwhile),
        cmocka_unit_test(a_copy_goes_when_its_document_does),
        cmocka_unit_test(a_document_that_cannot_be_read_fails_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
