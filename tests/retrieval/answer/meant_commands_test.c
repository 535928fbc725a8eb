/* What is to be done is answered by the command whose title means that, though no word of the question stands there. */
#include "tests/retrieval/answer/reader_fixture.h"

static const char swap_title[] = "mkpond - set up an area for overflowing water",
                  swap_text[] =
                      "NAME\n\nmkpond - set up an area for overflowing water\n\nDESCRIPTION\n\n"
                      "The signature is written to the first page of the device.\n",
                  other_title[] = "pondwatch - tell of the level of ponds",
                  other_text[] = "NAME\n\npondwatch - tell of the level of ponds\n\nOPTIONS\n\n"
                                 "-s, --space\nMake room for the columns of the report.\n";

typedef struct manual_page {
    passage passage;
    float meant;
} manual_page;

static manual_page page(const char *document, const char *title, const char *text, float meant) {
    return (manual_page){.passage = {.document = document,
                                     .text = text,
                                     .len = strlen(text),
                                     .title = title,
                                     .sparse = 5},
                         .meant = meant};
}

static extractive_answer ask(const char *question, const manual_page *p, size_t n) {
    passage passages[2];
    float meant[2];
    fo_err err = {0};
    extractive_answer a;
    for (size_t i = 0; i < n; i++) {
        passages[i] = p[i].passage;
        meant[i] = p[i].meant;
    }
    const extractive_input in = {.question = question,
                                 .passages = passages,
                                 .n_passages = n,
                                 .meant = meant,
                                 .lx = &lx,
                                 .min_support = 0.01,
                                 .reader = model};
    assert_ok(extractive_answer_make(&a, &in, &err), &err);
    return a;
}

/* How sure it is, of an answer that begins so. */
static double begins(const char *question, const manual_page *p, size_t n, const char *with) {
    extractive_answer a = ask(question, p, n);
    const double support = a.support;
    if (with && strncmp(a.text, with, strlen(with)) != 0) fail_msg("%s: %s", question, a.text);
    if (!with && !strncmp(a.text, "mkpond", 6)) fail_msg("%s: %s", question, a.text);
    extractive_answer_deinit(&a);
    return support;
}

static void a_command_is_told_by_what_its_title_means(void **state) {
    (void)state;
    manual_page p[] = {page("man8/pondwatch.8", other_title, other_text, 0.1f),
                       page("man8/mkpond.8.gz", swap_title, swap_text, 0.8f)};
    static const char question[] = "make room when it rains too hard";
    assert_true(begins(question, p, 2, swap_title) >= support_threshold);
    p[1].meant = 0.4f; /* less likely than not */
    assert_true(begins(question, p, 2, NULL) < support_threshold);
    p[1].meant = 0; /* not known */
    assert_true(begins(question, p, 2, NULL) < support_threshold);
}

/* Which and what are asked of many other things: it has to be likelier there, and nothing else an answer. */
static void which_it_is_may_be_told_by_a_command(void **state) {
    (void)state;
    manual_page p[] = {page("man8/pondwatch.8", other_title, other_text, 0.1f),
                       page("man8/mkpond.8.gz", swap_title, swap_text, 0.8f)};
    static const char question[] = "which basins hold the water of a storm?";
    const double likely = begins(question, p, 2, swap_title);
    p[1].meant = 0.6f;
    const double less_likely = begins(question, p, 2, swap_title);
    if (likely < support_threshold || less_likely >= support_threshold)
        fail_msg("%.2f %.2f", likely, less_likely);
}

static void only_where_a_command_is_asked_for(void **state) {
    (void)state;
    const manual_page p[] = {page("man8/pondwatch.8", other_title, other_text, 0.1f),
                             page("man8/mkpond.8.gz", swap_title, swap_text, 0.8f)},
                      of_a_format[] = {page("man8/pondwatch.8", other_title, other_text, 0.1f),
                                       page("man5/mkpond.5.gz", swap_title, swap_text, 0.8f)};
    begins("room when it rains too hard", p, 2, NULL);
    begins("Why is there room when it rains too hard?", p, 2, NULL);
    begins("What is room?", p, 2, NULL);
    begins("How does pondwatch make room when it rains too hard?", p, 2, NULL);
    begins("make room when it rains too hard", of_a_format, 2, NULL);
    begins("make room with -s when it rains too hard", p, 2, NULL);
}

/* Its option that is an answer is said, and another command's that surely is one, too. */
static void what_is_read_as_an_answer_stays(void **state) {
    (void)state;
    static const char own_title[] = "pondcount - count what swims",
                      own[] = "NAME\n\npondcount - count what swims\n\nOPTIONS\n\n"
                              "-l, --longest=NUM\nList only the NUM longest fish.\n";
    const manual_page p = page("man1/pondcount.1", own_title, own, 0.8f),
                      q[] = {page("man1/pondcount.1", own_title, own, 0.1f),
                             page("man8/mkpond.8.gz", swap_title, swap_text, 0.8f)};
    extractive_answer a = ask("list only the longest fish", &p, 1);
    if (!strstr(a.text, "--longest")) fail_msg("%s", a.text);
    extractive_answer_deinit(&a);
    a = ask("list only the longest fish", q, 2);
    if (!strstr(a.text, "--longest")) fail_msg("%s", a.text);
    extractive_answer_deinit(&a);
}

/* What tells how it is done does not say with what. */
static void the_name_is_said_beside(void **state) {
    (void)state;
    static const char title[] = "pondcount - list what swims",
                      text[] = "NAME\n\npondcount - list what swims\n\nDESCRIPTION\n\nPrint the "
                               "longest ten fish of each pond to standard output.\n";
    const manual_page p = page("man1/pondcount.1", title, text, 0.1f);
    extractive_answer a = ask("print the longest fish of each pond", &p, 1);
    if (!strstr(a.text, "longest ten fish") || !strstr(a.text, title)) fail_msg("%s", a.text);
    for (size_t i = 0; i < a.n_citations; i++) assert_true(a.citations[i].verified);
    extractive_answer_deinit(&a);
    a = ask("Does pondcount print the longest fish of each pond?", &p, 1);
    if (strstr(a.text, title)) fail_msg("%s", a.text);
    extractive_answer_deinit(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_command_is_told_by_what_its_title_means),
        cmocka_unit_test(which_it_is_may_be_told_by_a_command),
        cmocka_unit_test(only_where_a_command_is_asked_for),
        cmocka_unit_test(what_is_read_as_an_answer_stays),
        cmocka_unit_test(the_name_is_said_beside),
    };
    return cmocka_run_group_tests(tests, open_reader, close_reader);
}
