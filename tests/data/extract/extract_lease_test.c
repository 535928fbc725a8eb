/* A worker that is kept for several documents: it waits for its first one as long as whoever it was started for has it on its
 * way, and ends with them; between two it does not wait for ever. */
#include "tests/test.h"

#include <poll.h>
#include <sys/socket.h>

#include "data/extract/extract_lease.h"
#include "data/extract/extract_reply.h"
#include "data/extract/extract_host.h"
#include "kernels/clock.h"

static extract_host *host;

static size_t row_of(const char *name) {
    size_t row = 0;
    while (strcmp(extract_format_at(row)->name, name) != 0) row++;
    return row;
}

static wire_job job_of(size_t n) {
    return (wire_job){.magic = WIRE_MAGIC,
                      .row = (uint32_t)row_of("rst"),
                      .n = n,
                      .max_text = 1 << 20,
                      .max_address = 256 << 20,
                      .cpu_ms = 10e3,
                      .program_cpu_ms = 10e3,
                      .wall_ms = 10e3};
}

static lease *open_one(void) {
    fo_err err = {0};
    lease *l = NULL;
    wire_job job = job_of(0);
    assert_ok(lease_open(&l, host, UINT64_MAX, &job, &err), &err);
    return l;
}

/* Where every processor is busy with others, seconds pass between asking for a worker and handing it its document. */
static void a_fresh_worker_waits_for_its_document(void **state) {
    (void)state;
    static const char text[] = "Mill\n====\n\nThe mill opens at nine.\n";
    lease *l = open_one();
    poll(NULL, 0, WIRE_IDLE_MS + 500);
    wire_job job = job_of(sizeof text - 1);
    fo_err err = {0};
    builder b = {.max_bytes = 1 << 20};
    extract_reply r = {.fd = l->channel, .deadline = fo_now_ms() + 20e3};
    int rc = FO_EIO;
    assert_true(lease_send(l, &job, text));
    assert_true(extract_reply_answer(&r, &b, &rc, &err));
    assert_ok(rc, &err);
    assert_non_null(strstr(b.text.data, "opens at nine"));
    builder_free(&b);
    lease_close(l);
}

/* Nothing comes to it: it is gone with the one who has asked for it. */
static void a_fresh_worker_ends_with_its_lease(void **state) {
    (void)state;
    lease *l = open_one();
    int ended = l->ended;
    shutdown(l->channel, SHUT_RDWR);
    wire_end end = {0};
    extract_reply r = {.fd = ended, .deadline = fo_now_ms() + 20e3};
    assert_true(extract_reply_bytes(&r, &end, sizeof end));
    assert_int_equal(end.kind, WIRE_EXITED);
    lease_close(l);
}

static int set_up(void **state) {
    (void)state;
    fo_err err = {0};
    extract_host_options opt = {.program = "/proc/self/exe"};
    return extract_host_create(&host, &opt, &err);
}

static int tear_down(void **state) {
    (void)state;
    extract_host_free(host);
    return 0;
}

int main(int argc, char **argv) {
    if (extract_is_worker(argc, argv)) return extract_worker_main(NULL, 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fresh_worker_waits_for_its_document),
        cmocka_unit_test(a_fresh_worker_ends_with_its_lease),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
