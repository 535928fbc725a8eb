/* leading_test.c - chunks that belong before those which both lists rank higher: of a question about a command those of
 * its own page; and that looking for them costs no further reading of what is answered from. */
#include <stdatomic.h>

#include "data/sqlite/sqlite_store.h"
#include "data/store/store_backend.h"
#include "retrieval/service/service.h"
#include "tests/retrieval/service/home_fixture.h"

enum { OTHERS = 40 };

/* How many of the contexts, top_k at most, are of documents whose ids begin so. */
static size_t contexts_among(service *s, const char *question, size_t top_k, const char *id) {
    fo_err err = {0};
    query_result r = {0};
    query_request q = {.tenant = "default",
                       .collection = "default",
                       .query = question,
                       .generate = true,
                       .strict = true,
                       .cache = CACHE_BYPASS,
                       .top_k = top_k,
                       .search = {.alpha = -1}};
    assert_ok(service_query(s, &q, NULL, &r, &err), &err);
    size_t n = 0;
    for (size_t i = 0; i < r.n_contexts; i++)
        n += strncmp(r.contexts[i].chunk.document_id, id, strlen(id)) == 0;
    query_result_deinit(&r);
    return n;
}

static size_t contexts_of(service *s, const char *question, const char *id) {
    return contexts_among(s, question, 8, id);
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
    assert_true(
        contexts_of(s, "How do I leave out some files when I pack a folder in tar?", "tar") > 0);
    assert_int_equal(contexts_of(s, "How do I leave out some files when I pack a folder?", "tar"),
                     0);
    service_close(s);
    test_remove(home);
}

/* What each of two does, the first lines of their pages say, which share least with a question about both. */
static void the_first_lines_of_commands_that_are_compared_are_read(void **state) {
    (void)state;
    fo_err err = {0};
    char *home = test_folder(), text[32768];
    service *s;
    service_options o = {.home = home, .n_threads = 2};
    static const char *const names[] = {"takr", "givr"};
    enum { PARTS = 30, LINES = 14 }; /* more chunks than there are contexts */
    assert_ok(service_open(&s, &o, &err), &err);
    for (int k = 0; k < 2; k++) {
        size_t n =
            (size_t)snprintf(text, sizeof text, ".TH %s 8\n.SH NAME\n%s \\- hand over\n.SH USE\n",
                             names[k], names[k]);
        for (int i = 0; i < LINES; i++) /* its own words are few in the chunk of the first line */
            n += (size_t)snprintf(text + n, sizeof text - n,
                                  k ? "What stands in the yard goes to whoever holds paper %d.\n"
                                    : "Nobody may ask for number %d before the bell was heard.\n",
                                  i);
        for (int i = 0; i < PARTS; i++) {
            n += (size_t)snprintf(text + n, sizeof text - n, ".SH PART %d\n", i);
            for (int j = 0; j < LINES; j++)
                n += (size_t)snprintf(text + n, sizeof text - n,
                                      "The difference between %s and others is told in part %d.\n",
                                      names[k], i);
        }
        put(s, "default", names[k], text, n, 256);
    }
    query_result r = {0};
    query_request q = {.tenant = "default",
                       .collection = "default",
                       .query = "What is the difference between takr and givr?",
                       .generate = true,
                       .cache = CACHE_BYPASS,
                       .search = {.alpha = -1}};
    assert_ok(service_query(s, &q, NULL, &r, &err), &err);
    assert_non_null(r.answer);
    if (!strstr(r.answer, "takr - hand over") || !strstr(r.answer, "givr - hand over"))
        fail_msg("%s", r.answer);
    query_result_deinit(&r);
    service_close(s);
    test_remove(home);
}

/* The daemon's own page is long and speaks of nothing else; what it does by default stands in the page of its settings. */
static void the_page_of_a_commands_settings_is_read_beside_its_own(void **state) {
    (void)state;
    fo_err err = {0};
    char *home = test_folder(), text[32768];
    service *s;
    service_options o = {.home = home, .n_threads = 2};
    assert_ok(service_open(&s, &o, &err), &err);
    enum { PARTS = 10, LINES = 14 }; /* more chunks than there are contexts */
    size_t n = (size_t)snprintf(text, sizeof text, ".TH TOLLD 8\n.SH NAME\ntolld \\- a daemon\n");
    for (int i = 0; i < PARTS; i++) {
        n += (size_t)snprintf(text + n, sizeof text - n, ".SH PART %d\n", i);
        for (int k = 0; k < LINES; k++)
            n += (size_t)snprintf(text + n, sizeof text - n,
                                  "What tolld allows of wrong things is told in part %d.\n", i);
    }
    put(s, "default", "daemon", text, n, 256);
    /* what lies in a folder of the command's name is of it, too; what lies elsewhere is not */
    static const char often[] =
        "Questions\n\nQ: Can I get tolld to keep its wrong cards on disk when I shut it down?\n\n"
        "A: No, that is not provided.\n";
    put(s, "default", "doc/tolld-base/FAQ", often, strlen(often), 256);
    assert_true(contexts_of(s, "Can tolld save wrong cards to disk on shutdown?",
                            "doc/tolld-base/FAQ") > 0);
    static const char settings[] =
        ".TH TOLLD_CONFIG 5\n.SH NAME\ntolld_config \\- settings\n.SH KEYWORDS\n.TP\nMaxTries\n"
        "How often a card may be read wrongly. The default is 6.\n";
    put(s, "default", "settings", settings, strlen(settings), 256);
    assert_true(contexts_of(s, "How many wrong cards does tolld allow?", "settings") > 0);
    service_close(s);
    test_remove(home);
}

/* "Sort by ...": the word is English, too, and others say it oftener. */
static void the_page_of_a_command_called_as_the_task_is_read(void **state) {
    (void)state;
    fo_err err = {0};
    char *home = test_folder(), id[32], text[512];
    service *s;
    service_options o = {.home = home, .n_threads = 2};
    assert_ok(service_open(&s, &o, &err), &err);
    for (int i = 0; i < OTHERS; i++) {
        snprintf(id, sizeof id, "other%d", i);
        snprintf(text, sizeof text,
                 ".TH SHOW%d 1\n.SH NAME\nshow%d \\- sort a table by columns\n.SH OPTIONS\n"
                 ".TP\n-%c\nSort table %d by the second column, or another column.\n",
                 i, i, 'a' + i % 26, i);
        put(s, "default", id, text, strlen(text), 200);
    }
    static const char sort[] = ".TH SORT 1\n.SH NAME\nsort \\- lines of text in order\n.SH "
                               "OPTIONS\n.TP\n-k, --key=KEYDEF\nSort via a key, a "
                               "number that says which field of a line it begins in.\n";
    put(s, "default", "sort", sort, strlen(sort), 200);
    assert_true(contexts_of(s, "sort by the second column", "sort") > 0);
    assert_int_equal(contexts_of(s, "Who sorts by the second column?", "sort"), 0);
    service_close(s);
    test_remove(home);
}

/* What is asked about is what the page is called by: others say the word oftener. */
static void the_page_called_by_the_term_is_read(void **state) {
    (void)state;
    fo_err err = {0};
    char *home = test_folder(), id[32], text[512];
    service *s;
    service_options o = {.home = home, .n_threads = 2};
    assert_ok(service_open(&s, &o, &err), &err);
    for (int i = 0; i < OTHERS; i++) {
        snprintf(id, sizeof id, "other%d", i);
        snprintf(text, sizeof text,
                 ".TH MAKE%d 8\n.SH NAME\nmake%d \\- make a levee\n.SH OPTIONS\n.TP\n-%c\nLevee "
                 "of size %d. A levee that is a levee.\n",
                 i, i, 'a' + i % 26, i);
        put(s, "default", id, text, strlen(text), 200);
    }
    static const char page[] =
        ".TH LEVEE 7\n.SH NAME\nlevee \\- a bank\n.SH DESCRIPTION\nEach canal has "
        "a levee, which keeps the water out of the fields and gardens of those who live there.\n";
    put(s, "default", "levee", page, strlen(page), 200);
    assert_true(contexts_of(s, "what is a levee", "levee") > 0);
    assert_int_equal(contexts_of(s, "Who made a levee?", "levee"), 0);
    service_close(s);
    test_remove(home);
}

/* Other texts speak of it oftener than its entry does. */
static void the_entry_of_the_option_asked_about_is_read(void **state) {
    (void)state;
    fo_err err = {0};
    char *home = test_folder(), id[32], text[512];
    service *s;
    service_options o = {.home = home, .n_threads = 2};
    assert_ok(service_open(&s, &o, &err), &err);
    for (int i = 0; i < OTHERS; i++) {
        snprintf(id, sizeof id, "other%d", i);
        snprintf(
            text, sizeof text,
            "With the noatime option mount does less, says note %d: what the noatime mount option "
            "does is asked in note %d again.",
            i, i + 1);
        put(s, "default", id, text, strlen(text), 200);
    }
    static const char entries[] = "Options of all file systems\n\natime\n    Leave it to the "
                                  "kernel.\n\nnoatime\n    Times are "
                                  "not updated when somebody reads.\n\nnodev\n    No devices.\n";
    put(s, "default", "entries", entries, strlen(entries), 200);
    assert_true(contexts_of(s, "What does the noatime mount option do?", "entries") > 0);
    assert_int_equal(contexts_of(s, "What does noatime do for mount?", "entries"), 0);
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

/* ---- a store that counts what is read of it ------------------------------------------------ */

static store_ops ops;
static int (*get_chunks)(store *s, const int64_t *ids, size_t n, store_chunk *out, fo_err *err);
static atomic_size_t chunks_read;

static int get_chunks_counted(store *s, const int64_t *ids, size_t n, store_chunk *out,
                              fo_err *err) {
    chunks_read += n;
    return get_chunks(s, ids, n, out, err);
}

static int open_counted(store **out, const char *home, const store_options *opt, fo_err *err) {
    int rc = sqlite_store_backend.open(out, home, opt, err);
    if (rc) return rc;
    ops = *(*out)->ops;
    get_chunks = ops.get_chunks;
    ops.get_chunks = get_chunks_counted;
    (*out)->ops = &ops;
    return FO_OK;
}

static void what_was_read_to_see_what_leads_is_not_read_again(void **state) {
    (void)state;
    fo_err err = {0};
    char *home = test_folder(), id[32], text[128];
    service *s;
    store_backend backend = sqlite_store_backend;
    backend.open = open_counted;
    service_options o = {.home = home, .store = &backend, .n_threads = 2};
    assert_ok(service_open(&s, &o, &err), &err);
    enum { FEW = 6 };
    for (int i = 0; i < FEW; i++) {
        snprintf(id, sizeof id, "shed%d", i);
        snprintf(text, sizeof text, "Shed %d\n\nThe key of shed %d hangs on hook %d.\n", i, i,
                 9 - i);
        put(s, "default", id, text, strlen(text), 200);
    }
    static const char *const asked[] = {
        "Where does the key of shed 3 hang?", /* are pages of commands among the best? */
        "Where does -z of shed 3 hang?",      /* which of all hold the option? */
    };
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        chunks_read = 0;
        assert_true(contexts_of(s, asked[i], "shed") > 0);
        assert_true(chunks_read <= FEW);
    }
    service_close(s);
    test_remove(home);
}

/* A list of contents names the section that answers, whose text has other words than the question. */
static void the_section_that_a_list_names_is_read(void **state) {
    (void)state;
    fo_err err = {0};
    char *home = test_folder(), id[32], text[512];
    service *s;
    service_options o = {.home = home, .n_threads = 2};
    assert_ok(service_open(&s, &o, &err), &err);
    for (int i = 0; i < OTHERS; i++) {
        snprintf(id, sizeof id, "note%d", i);
        snprintf(text, sizeof text,
                 "Note %d\n\nFree tea. Repository of space errors, space, errors, free. %d\n", i,
                 i);
        put(s, "default", id, text, strlen(text), 200);
    }
    static const char contents[] =
        "Handbook of the repository, its free space and its errors\n\n- Moving to another hall\n"
        "- Recovering the repository from free space errors\n- Looking at what was kept\n",
                      section[] =
                          "Recovering the repository from free space errors\n\nRun it with "
                          "the option max at 0, "
                          "which keeps only what other things do not hold yet, and then once "
                          "more without. It takes an hour in "
                          "which nothing else can be done with it, and a day where disks "
                          "are old, slow or far away.\n";
    put(s, "default", "contents", contents, strlen(contents), 200);
    put(s, "default", "section", section, strlen(section), 200);
    /* of 42, those that are read */
    assert_true(contexts_among(s, "Repository errors of free space?", 20, "section") > 0);
    service_close(s);
    test_remove(home);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_page_of_the_command_asked_about_is_read),
        cmocka_unit_test(the_page_of_a_commands_settings_is_read_beside_its_own),
        cmocka_unit_test(the_first_lines_of_commands_that_are_compared_are_read),
        cmocka_unit_test(the_page_of_a_command_called_as_the_task_is_read),
        cmocka_unit_test(the_page_called_by_the_term_is_read),
        cmocka_unit_test(the_entry_of_the_option_asked_about_is_read),
        cmocka_unit_test(a_guide_of_a_city_is_no_page_of_a_command),
        cmocka_unit_test(the_section_that_a_list_names_is_read),
        cmocka_unit_test(what_was_read_to_see_what_leads_is_not_read_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
