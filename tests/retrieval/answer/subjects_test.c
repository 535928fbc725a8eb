/* Whose answer is asked for: what another document says of the same thing is set behind. */
#include "tests/test.h"

#include "retrieval/text/file_title.h"
#include "retrieval/answer/subjects.h"
#include "tests/retrieval/text/lexicon_fixture.h"

enum { MUSEUM, HOTEL, HOTEL_DOGS, LS, N };

static passage all[N] = {
    {"Only guide dogs may come in, there is no charge for guide dogs.", 0, "Museum of Seafaring",
     .9f, .8f, 9, false, false, 0, NULL, false, NULL},
    {"The rooms are cleaned daily.", 0, "The Larkspur Hotel: House Rules", .5f, .4f, 4, false,
     false, 0, NULL, false, NULL},
    {"There is no charge for assistance dogs.", 0, "The Larkspur Hotel: House Rules", .5f, .4f, 4,
     false, false, 0, NULL, false, NULL},
    {"Lists the files of a hotel.", 0, "ls - list files", .5f, .4f, 4, false, false, 0, NULL, false,
     NULL},
};

static bool is_off_subject(const candidate_set *set, size_t i) {
    return set->passages[i].off_subject;
}

static bool has_lost_a_name(const candidate_set *set, size_t i) {
    return subjects_lose_a_name(set, &set->passages[i]);
}

/* Bit i: it is so of passage i. */
static unsigned passages_that(const char *asked,
                              bool (*is_so)(const candidate_set *set, size_t i)) {
    candidate_set set = {0};
    fo_err err = {0};
    for (size_t i = 0; i < N; i++) all[i].len = strlen(all[i].text);
    const extractive_input in = {.question = asked, .passages = all, .n_passages = N, .lx = &lx};
    assert_ok(candidate_set_read(&set, &in, &err), &err);
    unsigned found = 0;
    for (size_t i = 0; i < N; i++) found |= (unsigned)is_so(&set, i) << i;
    candidate_set_deinit(&set);
    return found;
}

/* Bit i: passage i is of another document than the question. */
static unsigned off_subject(const char *asked) {
    return passages_that(asked, is_off_subject);
}

/* Bit i: what passage i's document says has not all names of the question. */
static unsigned loses_a_name(const char *asked) {
    return passages_that(asked, has_lost_a_name);
}

static void what_a_title_names_is_said_by_its_document(void **state) {
    (void)state;
    assert_int_equal(off_subject("What is the charge for a guide dog in the hotel?"), 1u << MUSEUM);
    assert_int_equal(off_subject("Are dogs let into the museum?"), 1u << HOTEL | 1u << HOTEL_DOGS);
    assert_int_equal(off_subject("What does Larkspur charge for dogs?"), 1u << MUSEUM);
    /* anybody's, or nobody's */
    all[LS].title = "The 10 rules of May";
    assert_int_equal(off_subject("Is there a charge for dogs on 10 May?"), 0);
    all[LS].title = "ls - list files";
    assert_int_equal(off_subject("What is the charge for a guide dog?"), 0);
    assert_int_equal(off_subject("May I bring a dog to this hotel?"), 0);
    assert_int_equal(off_subject("How do I list the files?"), 0);
}

/* Of two documents that answer alike, the one that the talk is of is quoted first; one that answers better is not kept back. */
static void a_talk_stays_with_its_document(void **state) {
    (void)state;
    static const struct {
        const char *spoken_of, *asked, *said, *not_said;
    } cases[] = {
        {"inn.md", "how late can I still get in?", "until 23:00", "until 17:00"},
        {"museum.md", "how late can I still get in?", "until 17:00", "until 23:00"},
        {"inn.md", "Where is the whale skeleton?", "whale skeleton", "23:00"},
    };
    const passage two[] = {
        {.text = "You can get in late until 17:00. The whale skeleton hangs in the great hall.",
         .title = "Museum of Seafaring",
         .document = "museum.md"},
        {.text = "You can get in late until 23:00. Breakfast is at eight.",
         .title = "The Larkspur Inn",
         .document = "inn.md"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        passage p[] = {two[0], two[1]};
        for (size_t k = 0; k < 2; k++) p[k].len = strlen(p[k].text);
        extractive_answer a;
        fo_err err = {0};
        const extractive_input in = {.question = cases[i].asked,
                                     .spoken_of = cases[i].spoken_of,
                                     .passages = p,
                                     .n_passages = 2,
                                     .lx = &lx,
                                     .max_sentences = 1,
                                     .min_support = -1};
        assert_ok(extractive_answer_make(&a, &in, &err), &err);
        if (!strstr(a.text, cases[i].said) || strstr(a.text, cases[i].not_said))
            fail_msg("%s: %s", cases[i].asked, a.text);
        extractive_answer_deinit(&a);
    }
}

/* An amount that some other document states is no answer in a conversation, where nothing of the question stands by it. */
static void an_amount_alone_is_none_of_the_talk(void **state) {
    (void)state;
    passage p[] = {
        {.text = "The trial period is four months.", .document = "work.md"},
        {.text = "The tenant pays for small repairs up to 80 euros.", .document = "lease.md"}};
    for (size_t k = 0; k < 2; k++) {
        p[k].len = strlen(p[k].text);
        p[k].sparse = 5;
        p[k].dense = 0.9f;
        p[k].title = "";
    }
    for (int talks = 0; talks < 2; talks++) {
        extractive_answer a;
        fo_err err = {0};
        const extractive_input in = {.question = "And what is the salary then?",
                                     .spoken_of = talks ? "work.md" : NULL,
                                     .passages = p,
                                     .n_passages = 2,
                                     .lx = &lx,
                                     .dense_floor = 0.1,
                                     .min_support = 0.01};
        assert_ok(extractive_answer_make(&a, &in, &err), &err);
        if (talks && a.support > support_threshold) fail_msg("%.2f %s", a.support, a.text);
        if (!talks && a.support <= support_threshold) fail_msg("%.2f %s", a.support, a.text);
        extractive_answer_deinit(&a);
    }
}

/* "And what do they cost?" of the boats is not answered by what the van's trips cost, but by a document that speaks of boats, or
 * by that of the talk. */
static void an_amount_of_another_thing_is_none_of_the_talk(void **state) {
    (void)state;
    static const char asked[] = "And what do they cost?";
    static const struct {
        const char *text, *document;
        size_t n_asked;
        bool answers;
    } cases[] = {
        {"Private trips cost 0.30 euros a kilometre.", "van.md", 0, true}, /* words of no talk */
        {"Private trips cost 0.30 euros a kilometre.", "van.md", sizeof asked - 1, false},
        {"Private trips by boat cost 0.30 euros.", "ferry.md", sizeof asked - 1, true},
        {"Private trips cost 0.30 euros a kilometre.", "boats.md", sizeof asked - 1, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        passage p[] = {{.text = cases[i].text, .document = cases[i].document},
                       {.text = "They are drawn up in November.", .document = "boats.md"}};
        for (size_t k = 0; k < 2; k++) {
            p[k].len = strlen(p[k].text);
            p[k].sparse = 5;
            p[k].dense = 0.9f;
            p[k].title = "";
        }
        extractive_answer a;
        fo_err err = {0};
        const extractive_input in = {.question = "And what do they cost? boats",
                                     .follow_up = true,
                                     .n_asked = cases[i].n_asked,
                                     .spoken_of = "boats.md",
                                     .passages = p,
                                     .n_passages = 2,
                                     .lx = &lx,
                                     .dense_floor = 0.1,
                                     .min_support = 0.01};
        assert_ok(extractive_answer_make(&a, &in, &err), &err);
        if ((a.support > support_threshold) != cases[i].answers)
            fail_msg("%zu: %.2f %s", i, a.support, a.text);
        extractive_answer_deinit(&a);
    }
}

static void the_document_that_was_asked_about_answers(void **state) {
    (void)state;
    extractive_answer a;
    fo_err err = {0};
    const extractive_input in = {.question = "Is there a charge for guide dogs in the hotel?",
                                 .passages = all,
                                 .n_passages = N,
                                 .lx = &lx,
                                 .max_sentences = 3,
                                 .min_support = -1};
    for (size_t i = 0; i < N; i++) all[i].len = strlen(all[i].text);
    assert_ok(extractive_answer_make(&a, &in, &err), &err);
    assert_true(strstr(a.text, "assistance dogs") && !strstr(a.text, "guide"));
    extractive_answer_deinit(&a);
}

static void a_name_that_no_passage_says_is_lost(void **state) {
    (void)state;
    const unsigned others = 1u << MUSEUM | 1u << LS;
    assert_int_equal(loses_a_name("What do dogs from Hungary cost?"), (1u << N) - 1);
    assert_int_equal(loses_a_name("What does the Larkspur charge for dogs?"), others);
    assert_int_equal(loses_a_name("Hungary, dogs, charge?"),
                     0); /* a capital begins every sentence */
    assert_int_equal(loses_a_name("May I bring 20 KG of dogs on Monday, and I'll pay?"), 0);
    all[MUSEUM].title = NULL; /* what it is about, nobody says */
    assert_int_equal(loses_a_name("What do dogs from Hungary cost?"), (1u << N) - 1);
    assert_int_equal(loses_a_name("What does the Larkspur charge for dogs?"), 1u << LS);
    all[MUSEUM].title = "Museum of Seafaring";
}

static bool has_lost_a_kind(const candidate_set *set, size_t i) {
    return subjects_lose_a_kind(set, &set->passages[i]);
}

/* Of meals the hotel says nothing, of adults nobody; supper is dinner. */
static void a_kind_that_is_not_said_is_lost(void **state) {
    (void)state;
    assert_int_equal(passages_that("When is dinner in the hotel?", has_lost_a_kind), (1u << N) - 1);
    assert_int_equal(passages_that("What do adults pay for dogs?", has_lost_a_kind), (1u << N) - 1);
    assert_int_equal(passages_that("What does a season ticket cost?", has_lost_a_kind),
                     (1u << N) - 1);
    /* what is not its price holds for any ticket */
    assert_int_equal(passages_that("Where is a season ticket sold?", has_lost_a_kind), 0);
    assert_int_equal(passages_that("What is the charge for dogs in the season?", has_lost_a_kind),
                     0);
    all[HOTEL].text = "Supper is at seven, grown ups pay 9.";
    const unsigned others = 1u << MUSEUM | 1u << LS;
    assert_int_equal(passages_that("When is dinner in the hotel?", has_lost_a_kind), others);
    assert_int_equal(passages_that("What do adults pay for dogs?", has_lost_a_kind), others);
    assert_int_equal(passages_that("What do dogs pay?", has_lost_a_kind), 0);
    all[HOTEL].text = "A summer card is 60 euros.";
    assert_int_equal(passages_that("What does a season card cost?", has_lost_a_kind), others);
    static const struct {
        const char *asked, *text;
    } kinds[] = {
        {"What does a family ticket cost?", "Adults with children together pay 20 euros."},
        {"What does a family ticket cost?", "2 adults and up to 3 children: 20 euros."},
        {"What does a group ticket cost?", "From 10 persons, 5 euros each."},
        {"What does a group ticket cost?", "15 people or more pay 5 euros each."},
        {"What does an annual pass cost?", "For twelve months it is 60 euros."},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        all[HOTEL].text = kinds[i].text;
        if (passages_that(kinds[i].asked, has_lost_a_kind) != others) fail_msg("%s", kinds[i].text);
    }
    all[HOTEL].text = "Adults and children pay 3 euros per person.";
    assert_int_equal(passages_that("What does a family ticket cost?", has_lost_a_kind),
                     (1u << N) - 1);
    assert_int_equal(passages_that("What does a group ticket cost?", has_lost_a_kind),
                     (1u << N) - 1);
    all[HOTEL].text = "The rooms are cleaned daily.";
}

/* Files without a title: they are told apart by what they are, and called as their files are. */
static void an_untitled_document_is_called_as_its_file(void **state) {
    (void)state;
    static const char *files[N] = {"trip/museum.txt", "trip/larkspur-hotel.txt",
                                   "trip/larkspur-hotel.txt", "trip/ls.txt"};
    const char *titles[N];
    for (size_t i = 0; i < N; i++) {
        titles[i] = all[i].title;
        all[i].title = NULL;
        all[i].document = files[i];
    }
    const unsigned others = 1u << MUSEUM | 1u << LS;
    assert_int_equal(off_subject("What is the charge for a guide dog in the hotel?"), 1u << MUSEUM);
    assert_int_equal(loses_a_name("What does the Larkspur charge for dogs?"), others);
    for (size_t i = 0; i < N; i++) all[i].title = "Stay"; /* one title, several documents */
    assert_int_equal(loses_a_name("What does the Larkspur charge for dogs?"), (1u << N) - 1);
    for (size_t i = 0; i < N; i++) {
        all[i].title = titles[i];
        all[i].document = NULL;
    }
}

/* "The care home" is the contract's by its file; the hospital speaks of home and of care, and of no care home. */
static void two_words_that_name_a_document_are_met_together(void **state) {
    (void)state;
    passage p[] = {{.text = "Guests sleep in the guest room for 38 a night.",
                    .title = "Willowmere Residential Home",
                    .document = "care_home_contract.md"},
                   {.text =
                        "A parent may stay overnight free of charge. Bring help at home.\n\nCare "
                        "is given by the ward.",
                    .title = "St. Brigid's Hospital",
                    .document = "leaflet.txt"}};
    static const struct {
        const char *asked, *leaflet;
        bool off;
    } cases[] = {
        {"What does it cost to stay overnight at the care home?", "leaflet.txt", true},
        {"What does it cost to stay overnight at home?", "leaflet.txt", false},
        {"What does care at the home cost?", "leaflet.txt", false},
        {"What does it cost to stay overnight at the care home?", "care-home-visits.txt", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        candidate_set set = {0};
        fo_err err = {0};
        p[1].document = cases[i].leaflet;
        for (size_t k = 0; k < 2; k++) p[k].len = strlen(p[k].text);
        const extractive_input in = {
            .question = cases[i].asked, .passages = p, .n_passages = 2, .lx = &lx};
        assert_ok(candidate_set_read(&set, &in, &err), &err);
        assert_false(set.passages[0].off_subject);
        if (set.passages[1].off_subject != cases[i].off) fail_msg("%s", cases[i].asked);
        candidate_set_deinit(&set);
    }
}

static void a_file_is_called_by_its_names(void **state) {
    (void)state;
    static const struct {
        const char *question, *document;
        bool asked;
    } cases[] = {
        {"What is the dose of Dolofen?", "home/dolofen.txt", true},
        {"Is the dose of DOLOFEN daily?", "Dolofen-leaflet.md", true},
        {"Does the 47 stop at school?", "bus-47.md", true},
        {"What does it cost in Norway?", "trip_norway_2026.txt", true},
        {"what is the dose of dolofen?", "dolofen.txt",
         false},                                      /* nothing shows that it is a name */
        {"Dolofen: how much?", "dolofen.txt", false}, /* a sentence begins so */
        {"What does the holiday flat cost?", "holiday-flat.txt", false},
        {"What does 1 day cost?", "kb-1.txt", false},
        {"Does the 47 stop at school?", "bus-47", false}, /* an id, not a file */
        {"Does the 47 stop at school?", "", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (file_title_is_asked(cases[i].question, cases[i].document) != cases[i].asked)
            fail_msg("%s: %s", cases[i].question, cases[i].document);
    fo_buf title = {0};
    file_title_add(&title, "docs/ferry-timetable_2026.old.txt");
    assert_string_equal(title.data, "ferry timetable 2026 old");
    fo_buf_free(&title);
}

/* "At Harrow" is met by all that Harrow says, and of mortgages it says nothing. */
static void a_word_that_the_named_document_never_says_is_lost(void **state) {
    (void)state;
    static const char text[] = "The interest on savings is 2 %.";
    const passage p = {.text = text, .len = strlen(text), .title = "Prices Harrow", .sparse = 5};
    const size_t harrow = strlen("Harrow"), none = 0;
    const struct {
        const char *question;
        const size_t *n_own;
        bool lost;
    } cases[] = {{"What is the interest on mortgages at Harrow?", &harrow, true},
                 {"What is the interest on mortgages at Harrow?", &none, false},
                 {"What is the interest on mortgages at Harrow?", NULL, false},
                 {"What is the interest on savings at Harrow?", &harrow, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        candidate_set set = {0};
        fo_err err = {0};
        const extractive_input in = {.question = cases[i].question,
                                     .passages = &p,
                                     .n_passages = 1,
                                     .n_own = cases[i].n_own,
                                     .lx = &lx};
        assert_ok(candidate_set_read(&set, &in, &err), &err);
        assert_int_equal(subjects_lose_a_word(&set, &set.passages[0]), cases[i].lost);
        candidate_set_deinit(&set);
    }
}

/* Is the item that says these words of another thing than is asked about? */
static bool is_set_apart(const char *asked, const char *says) {
    static const char text[] = "Not covered\n\n- Damage caused by pets\n"
                               "- Mobile phones, unless the Gadget Extension was bought\n"
                               "- Business equipment worth more than £4,000\n";
    const passage p = {.text = text, .len = strlen(text), .title = "Policy", .sparse = 5};
    const extractive_input in = {.question = asked, .passages = &p, .n_passages = 1, .lx = &lx};
    candidate_set set = {0};
    fo_err err = {0};
    bool apart = false;
    assert_ok(candidate_set_read(&set, &in, &err), &err);
    for (size_t i = 0; i < set.n; i++) {
        const candidate *c = &set.c[i];
        const bool is_it = memmem(text + c->start, c->end - c->start, says, strlen(says)) != NULL;
        apart |= is_it && c->unit.kind == TEXT_UNIT_ITEM && c->f[CAND_OTHER_THING] > 0;
    }
    candidate_set_deinit(&set);
    return apart;
}

static void an_amount_beside_the_item_that_is_named_is_of_another_thing(void **state) {
    (void)state;
    assert_true(is_set_apart("How much does the Gadget Extension cost?", "Business"));
    assert_false(is_set_apart("How much does the Gadget Extension cost?", "Gadget"));
    assert_false(is_set_apart("How much is business equipment worth?", "Business"));
    assert_false(is_set_apart("Is the Gadget Extension part of it?", "Business"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_title_names_is_said_by_its_document),
        cmocka_unit_test(a_talk_stays_with_its_document),
        cmocka_unit_test(an_amount_alone_is_none_of_the_talk),
        cmocka_unit_test(an_amount_of_another_thing_is_none_of_the_talk),
        cmocka_unit_test(the_document_that_was_asked_about_answers),
        cmocka_unit_test(a_name_that_no_passage_says_is_lost),
        cmocka_unit_test(a_kind_that_is_not_said_is_lost),
        cmocka_unit_test(a_word_that_the_named_document_never_says_is_lost),
        cmocka_unit_test(an_untitled_document_is_called_as_its_file),
        cmocka_unit_test(two_words_that_name_a_document_are_met_together),
        cmocka_unit_test(a_file_is_called_by_its_names),
        cmocka_unit_test(an_amount_beside_the_item_that_is_named_is_of_another_thing),
    };
    return cmocka_run_group_tests(tests, open_lexicon, close_lexicon);
}
