/* leading_test.c - chunks that belong before those which both lists rank higher: of a question about a command those of
 * its own page. */
#include "retrieval/service/service.h"
#include "tests/retrieval/service/home_fixture.h"

enum { OTHERS = 40 };

/* How many of the contexts are of documents whose ids begin so. */
static size_t contexts_of(service *s, const char *question, const char *id) {
    fo_err err = {0};
    query_result r = {0};
    query_request q = {.tenant = "default",
                       .collection = "default",
                       .query = question,
                       .generate = true,
                       .strict = true,
                       .cache = CACHE_BYPASS,
                       .search = {.alpha = -1}};
    assert_ok(service_query(s, &q, NULL, &r, &err), &err);
    size_t n = 0;
    for (size_t i = 0; i < r.n_contexts; i++)
        n += strncmp(r.contexts[i].chunk.document_id, id, strlen(id)) == 0;
    query_result_deinit(&r);
    return n;
}

static void the_page_of_the_command_asked_about_is_read(void **state) {
    (void)state;
    fo_err err = {0};
    char *home = test_folder(), id[32], text[512];
    service *s;
    service_options o = {.home = home, .n_threads = 2};
    assert_ok(service_open(&s, &o, &err), &err);
    for (int i = 0; i < OTHERS; i++) { /* all of them share more words with the questions */
        snprintf(id, sizeof id, "other%d", i);
        snprintf(text, sizeof text,
                 ".TH PACK%d 1\n.SH NAME\npack%d \\- pack a folder, leave out files\n.SH OPTIONS\n"
                 ".TP\n-%c\nLeave out some files of number %d when a folder is packed with tar.\n",
                 i, i, 'a' + i % 26, i);
        put(s, "default", id, text, strlen(text), 200);
    }
    static const char tar[] =
        ".TH TAR 1\n.SH NAME\ntar \\- an archiving utility\n.SH OPTIONS\n.TP\n--exclude=PATTERN\n"
        "Exclude files matching PATTERN, a glob(3)-style wildcard pattern.\n";
    put(s, "default", "tar", tar, strlen(tar), 200);
    assert_true(
        contexts_of(s, "How do I leave out some files when I pack a folder with tar?", "tar") > 0);
    assert_int_equal(contexts_of(s, "How do I leave out some files when I pack a folder?", "tar"),
                     0);
    service_close(s);
    test_remove(home);
}

static void a_guide_of_a_city_is_no_page_of_a_command(void **state) {
    (void)state;
    fo_err err = {0};
    char *home = test_folder(), id[32], text[512];
    service *s;
    service_options o = {.home = home, .n_threads = 2};
    assert_ok(service_open(&s, &o, &err), &err);
    for (int i = 0; i < OTHERS; i++) {
        snprintf(id, sizeof id, "paris%d", i);
        snprintf(text, sizeof text,
                 ".TH PARIS 1\n.SH NAME\nParis \\- city guide\n.SH WALKS\n"
                 "Walk %d in Paris leads along old houses and takes %d minutes.\n",
                 i, 30 + i);
        put(s, "default", id, text, strlen(text), 200);
    }
    static const char fares[] = "Fares. The trains between Paris and Lyon cost 62 euros.\n";
    put(s, "default", "fares", fares, strlen(fares), 200);
    assert_true(contexts_of(s, "How much is the train from Paris to Lyon?", "fares") > 0);
    assert_true(contexts_of(s, "How much is the train for Paris?", "fares") > 0);
    service_close(s);
    test_remove(home);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_page_of_the_command_asked_about_is_read),
        cmocka_unit_test(a_guide_of_a_city_is_no_page_of_a_command),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
