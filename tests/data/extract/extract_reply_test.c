/* Answers of a worker that is no longer its own master: places whose names cost more than they say. */
#include "tests/test.h"

#include <sys/mman.h>
#include <unistd.h>

#include "data/extract/extract_reply.h"
#include "kernels/clock.h"
#include "kernels/file.h"

/* An answer without text: n places, all on the sheet of this name. */
static int answer_of(size_t n, const char *sheet) {
    wire_head head = {.magic = WIRE_MAGIC, .names = strlen(sheet) + 1, .n_places = n};
    wire_place *places = calloc(n, sizeof *places);
    int fd = memfd_create("answer", MFD_CLOEXEC);
    assert_true(places && fd >= 0);
    for (size_t i = 0; i < n; i++) places[i] = (wire_place){.page = (uint32_t)i, .sheet = 1};
    assert_true(fo_write_all(fd, &head, sizeof head) &&
                fo_write_all(fd, places, n * sizeof *places) &&
                fo_write_all(fd, sheet, head.names));
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    free(places);
    return fd;
}

static void take(builder *b, doc_budget *budget, size_t n_places, size_t n_name) {
    char name[8192];
    memset(name, 's', n_name);
    name[n_name] = 0;
    extract_reply r = {
        .fd = answer_of(n_places, name), .deadline = fo_now_ms() + 60000, .budget = budget};
    *b = (builder){.max_bytes = 1 << 20, .budget = budget};
    int rc;
    fo_err err = {0};
    doc_budget_begin(budget);
    assert_true(extract_reply_answer(&r, b, &rc, &err));
    assert_int_equal(rc, FO_OK);
    close(r.fd);
}

static void names_of_places_are_short(void **state) {
    (void)state;
    for (int longer = 0; longer < 2; longer++) {
        builder b;
        doc_budget budget = {0};
        take(&b, &budget, 1, longer ? 4096 : 4095);
        assert_int_equal(b.failure, FO_OK);
        assert_int_equal(b.n_places, 1);
        if (longer)
            assert_null(b.places[0].sheet);
        else
            assert_int_equal(strlen(b.places[0].sheet), 4095);
        builder_free(&b);
    }
}

static void many_places_end_with_the_budget(void **state) {
    (void)state;
    builder b;
    doc_budget budget = {.cpu_ms = 3};
    take(&b, &budget, 65536, 4000);
    assert_int_equal(b.failure, FO_ELIMIT);
    assert_in_range(b.n_places, 1, 65535);
    builder_free(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_places_are_short),
        cmocka_unit_test(many_places_end_with_the_budget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
