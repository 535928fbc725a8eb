/* own_names_test.c - names that a document bears as a whole: those of its first lines and of its path are met by all of it. */
#include "tests/test.h"

#include "retrieval/service/service.h"
#include "retrieval/text/own_names.h"
#include "tests/retrieval/service/home_fixture.h"

static const char beginning[] =
    "CONTRACT OF EMPLOYMENT\nbetween Harrow Optics Ltd and Ms Ines Vidal\n"
    "\nThe office is in Leeds.\n1. Work begins on 1 March in York.\n";

static void named(const char *title, const char *question, const char *document, const char *text,
                  const char *want) {
    fo_buf b = {0};
    fo_buf_str(&b, title);
    own_names_add(&b, question, document, beginning, sizeof beginning - 1, text, strlen(text));
    if (strcmp(b.data ? b.data : "", want)) fail_msg("%s: %s, not %s", question, b.data, want);
    fo_buf_free(&b);
}

static void first_lines_and_path_name_a_document(void **state) {
    (void)state;
    named("", "When do I get paid at Harrow Optics?", "a.txt", "Pay is monthly.", "Harrow Optics");
    named("Contract", "Is there a bonus at Harrow?", "a.txt", "", "Contract Harrow");
    named("Harrow Optics", "Is there a bonus at Harrow?", "a.txt", "", "Harrow Optics");
    named("", "How many days off has Ines Vidal?", "a.txt", "25 days.", "Ines Vidal");
    named("", "Is the office in Leeds?", "a.txt", "", "");       /* a sentence says so */
    named("", "When does work in York begin?", "a.txt", "", ""); /* below the first lines */
    named("", "Harrow: is there a bonus?", "a.txt", "", "");     /* a sentence begins so */
    named("", "what does optics pay?", "a.txt", "", ""); /* nothing shows that it is a name */
    named("", "Does the cache of Petrel fill up?", "petrel/docs/cache.md", "It has one.", "Petrel");
    /* what is said of it further on is told apart by it */
    named("", "What does Ines pay?", "a.txt", "Ines pays 20. Tom pays 30.", "");
    named("", "What does one pay at Harrow?", "a.txt", "Harrow asks 20.", "Harrow");
    /* another thing of theirs, which is to be said */
    named("Pay", "What does one get at Harrow in Kent?", "a.txt", "In York 20.", "Pay");
    named("Pay", "What does one get at Harrow in York?", "a.txt", "In York 20.", "Pay Harrow");
    named("Pay", "What does one get at Harrow on Sunday?", "a.txt", "In York 20.", "Pay Harrow");
    assert_false(own_names_any("When is it? on Mo?"));
    assert_true(own_names_any("When is it in May?"));
}

/* In small letters: by the file's name and by how the document writes it. */
static void a_name_in_small_letters_is_one_of_the_file(void **state) {
    (void)state;
    static const char log[] =
        "# Changelog\n\nAll notable changes of Quillbox, the note server, are "
        "listed here. Port numbers are TCP.\n";
    static const struct {
        const char *question, *document, *beginning, *want;
    } cases[] = {
        {"what port does quillbox use", "a/CHANGELOG-quillbox.md", log, "quillbox"},
        {"what port does quillbox use", "quillbox/notes.md", log, ""},
        {"what port does quillbox use", "CHANGELOG-quillbox.md", "All of a quillbox.", ""},
        {"who leads choir", "choir.md", "The rules of the Choir.", ""},   /* of a kind */
        {"what port does the server use", "a/server.md", log, ""},        /* no name */
        {"which port numbers are there", "port.md", log, ""},             /* a sentence begins so */
        {"what port does quillbox use in leeds", "quillbox.md", log, ""}, /* said nowhere */
        {"how many were sold in june", "june.md", "Figures of the month of June.", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fo_buf b = {0};
        own_names_add(&b, cases[i].question, cases[i].document, cases[i].beginning,
                      strlen(cases[i].beginning), "", 0);
        if (strcmp(b.data ? b.data : "", cases[i].want))
            fail_msg("%s, %s: %s", cases[i].question, cases[i].document, b.data);
        fo_buf_free(&b);
    }
    assert_true(own_names_filed("what does quillbox do", "a/b-quillbox.md"));
    assert_false(own_names_filed("what does quillbox do", "quillbox/b.md"));
    assert_false(own_names_filed("what does quillbox do", NULL));
}

static void lines_that_say_more_name_nobody(void **state) {
    (void)state;
    static const char *const beginnings[] = {
        "Prices\nSilver costs 19 euros, Gold is agreed on.\n", "Help\n**What does Gold cost?**\n",
        "- Gold\n- Silver\n", "Plan | Price\nGold | agreed on\n",
        "The plan of Gold is the only\none. It is dear.\n\nMore"};
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++) {
        fo_buf b = {0};
        own_names_add(&b, "What does one pay with Gold?", "a.md", beginnings[i],
                      strlen(beginnings[i]), "", 0);
        assert_int_equal(b.len, 0);
        fo_buf_free(&b);
    }
}

static void ask(service *s, const char *question, const char *want) {
    fo_err err = {0};
    query_request q = {.tenant = "default",
                       .collection = "default",
                       .query = question,
                       .generate = true,
                       .strict = true,
                       .search = {.alpha = -1}};
    query_result r;
    assert_ok(service_query(s, &q, NULL, &r, &err), &err);
    if (!strstr(r.answer, want)) fail_msg("%s: %s (%.2f)", question, r.answer, r.support);
    query_result_deinit(&r);
}

static const char harrow[] =
    "CONTRACT OF EMPLOYMENT\nbetween Harrow Optics Ltd and Ms Ines Vidal\n\n"
    "1. Work\n\nThe working week has 38 hours, from Monday to Friday, and work begins at seven in "
    "the "
    "summer, so that nobody has to sit in the hall when the sun is on its roof.\n\n"
    "2. Leave\n\nUnpaid leave must be requested six weeks ahead, in writing, and the head of the "
    "laboratory says yes or no within ten days; what is not taken by the end of March is lost.\n";
static const char marlow[] =
    "CONTRACT OF EMPLOYMENT\nbetween Marlow Bakeries and Mr Jon Pike\n\n"
    "1. Work\n\nThe working week has 40 hours, from Sunday to Thursday, and work begins at three "
    "in "
    "the morning, since bread has to be in the shops when they open.\n\n"
    "2. Leave\n\nUnpaid leave must be requested two weeks ahead, by telephone, and the master says "
    "yes or no on the same day; what is not taken by the end of the year is lost.\n";

static void what_a_document_says_is_of_whom_it_names_at_its_head(void **state) {
    (void)state;
    char *home = test_folder();
    service *s = open_home(home);
    put(s, "default", "harrow.txt", harrow, sizeof harrow - 1, 48);
    put(s, "default", "second.txt", marlow, sizeof marlow - 1, 48);
    ask(s, "When must unpaid leave be requested at Harrow Optics?", "six weeks");
    ask(s, "When must unpaid leave be requested at Marlow Bakeries?", "two weeks");
    service_close(s);
    test_remove(home);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_lines_and_path_name_a_document),
        cmocka_unit_test(a_name_in_small_letters_is_one_of_the_file),
        cmocka_unit_test(lines_that_say_more_name_nobody),
        cmocka_unit_test(what_a_document_says_is_of_whom_it_names_at_its_head),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
