/* Answers made of the documents' own sentences: which comes first, when there is none, what is no
 * answer, repetitions, markers. */
#include "tests/test.h"

#include <math.h>

#include "retrieval/answer/extractive.h"
#include "retrieval/question/demand_days.h"
#include "tests/retrieval/text/lexicon_fixture.h"

static const passage library[] = {
    {"The Harbour Bridge opened in 1932. It is 503 metres long and carries eight lanes of traffic. "
     "Did you know that tolls were paid until 1988? Painters never stop working on it.",
     0, "Harbour Bridge", 0.9f, 0.8f, 9, false, false, 0, NULL, false, NULL},
    {"# Ferries\n\nFerries cross the harbour every ten minutes. The first ferry sailed in 1861, "
     "when "
     "the toll was two pence.",
     0, "Ferries", 0.5f, 0.4f, 4, false, false, 0, NULL, false, NULL},
    {"Opera houses need good acoustics. The hall seats 2,679 people.", 0, "Opera", 0.2f, 0.3f, 1,
     false, false, 0, NULL, false, NULL},
};

static extractive_answer ask(const char *question, const passage *p, size_t n, size_t sentences,
                             double min_support) {
    passage copy[8];
    for (size_t i = 0; i < n; i++) {
        copy[i] = p[i];
        if (!copy[i].len) copy[i].len = strlen(copy[i].text);
    }
    extractive_answer a;
    fo_err err = {0};
    assert_ok(extractive_answer_make(&a,
                                     &(extractive_input){.question = question,
                                                         .passages = copy,
                                                         .n_passages = n,
                                                         .lx = &lx,
                                                         .max_sentences = sentences,
                                                         .min_support = min_support},
                                     &err),
              &err);
    return a;
}

static double support_in_japanese(const char *question, const char *text) {
    fo_err err = {0};
    lexicon japanese = {0};
    assert_ok(analyzer_create(&japanese.analyzer, "japanese", &err), &err);
    const passage p = {
        .text = text, .len = strlen(text), .title = "市民テニス協会のしおり", .dense = NAN};
    extractive_answer a;
    assert_ok(extractive_answer_make(&a,
                                     &(extractive_input){.question = question,
                                                         .passages = &p,
                                                         .n_passages = 1,
                                                         .lx = &japanese,
                                                         .max_sentences = 1},
                                     &err),
              &err);
    const double support = a.support;
    extractive_answer_deinit(&a);
    analyzer_free(japanese.analyzer);
    return support;
}

static void what_only_says_its_title_hardly_answers_a_japanese_question(void **state) {
    (void)state;
    const char *asked = "テニス協会の役員の任期はどのくらいですか？";
    const double title = support_in_japanese(
                     asked, "市民テニス協会は市のコートで二年前から活動しています。"),
                 more = support_in_japanese(asked, "市民テニス協会の役員の任期は二年です。");
    if (title > .1 || more < .45) fail_msg("%f, %f", title, more);
    const char *judges = "テニス協会の審判は何人ですか？";
    assert_true(support_in_japanese(judges, "テニス協会の会員は80名います。") < .3);
    const char *how_many = "テニス協会は何人ですか？", *who = "テニス協会の先生は誰ですか？";
    assert_true(support_in_japanese(how_many, "テニス協会の定員は12名です。") > support_threshold);
    assert_true(support_in_japanese(who, "テニス協会の講師長は山田太郎です。") > support_threshold);
}

static void one_character_of_another_word_hardly_answers_a_japanese_question(void **state) {
    (void)state;
    const char *asked = "会長は誰ですか";
    const double part = support_in_japanese(asked, "長年の努力が大切です。"),
                 whole = support_in_japanese(asked, "会長は山田太郎です。"),
                 two = support_in_japanese("昼休みは何時からですか",
                                           "昼食の休憩時間は12時から13時までです。");
    if (part > .1 || whole < .45 || two < .2) fail_msg("%f, %f, %f", part, whole, two);
}

static void one_word_is_enough_to_ask_for_in_japanese(void **state) {
    (void)state;
    static const struct {
        const char *question, *text;
    } cases[] = {
        {"バスはいつですか", "バスは8時に出ます。"},
        {"ゴミはいつ？", "ゴミは月曜日に出します。"},
        {"鍵はどこですか", "鍵は管理人室にあります。"},
        {"薬はどこですか", "薬は棚の二段目です。"},
        {"傘はどこ？", "傘は玄関で借ります。"},
        {"ガスはいつですか", "ガスの点検は6月です。"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double support = support_in_japanese(cases[i].question, cases[i].text);
        if (support < support_threshold) fail_msg("%s %f", cases[i].question, support);
    }
    const double other = support_in_japanese("鍵はどこですか", "傘は玄関で借ります。");
    if (other >= support_threshold) fail_msg("%f", other);
}

static void the_sentence_that_answers_comes_first(void **state) {
    (void)state;
    static const struct {
        const char *question, *answer;
    } cases[] = {
        {"When did the Harbour Bridge open?", "The Harbour Bridge opened in 1932. [1]"},
        {"How long is the Harbour Bridge?",
         "It is 503 metres long and carries eight lanes of traffic. [1]"},
        {"When did the first ferry sail?",
         "The first ferry sailed in 1861, when the toll was two pence. [1]"},
        {"How many people does the hall seat?", "The hall seats 2,679 people. [1]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        extractive_answer a = ask(cases[i].question, library, 3, 1, 0);
        assert_false(a.abstain);
        assert_string_equal(a.text, cases[i].answer);
        assert_int_equal(a.n_citations, 1);
        assert_true(a.citations[0].verified);
        extractive_answer_deinit(&a);
    }
}

/* What a term heads is said of it: "Israel: … " before a later sentence is borne out, names and numbers too. */
static void a_term_before_its_sentence_is_supported(void **state) {
    (void)state;
    static const passage p[] = {
        {"Israel\nThree quarters of the people are Jews of many backgrounds . About 77 % of them "
         "are born there , "
         "16 % came from Europe and the Americas , and 7 % from Asia and Africa . Those from "
         "Europe and from the "
         "former Soviet Union , with their descendants , are about half of them . Jews who left "
         "Arab countries , "
         "both Mizrahi and Sephardi Jews , form most of the rest of the Jewish population . "
         "Marriages between them "
         "run at over 35 % , and a quarter of the children in schools come of them .",
         0, "Peoples", 0.9f, 0.8f, 9, false, false, 0, NULL, false, NULL}};
    extractive_answer a = ask("Who forms most of the rest of the Jewish population?", p, 1, 1, -1);
    if (!strstr(a.text, "Israel: … Jews who left")) fail_msg("%s", a.text);
    assert_int_equal(a.n_citations, 1);
    assert_true(a.citations[0].verified);
    extractive_answer_deinit(&a);
}

static void rows_that_are_not_asked_about_stay_away(void **state) {
    (void)state;
    static const passage p[] = {
        {"Boat: Rowing boat; Persons: 4; Half day: 25; Licence needed: no\n"
         "Boat: Electric boat; Persons: 6; Half day: 68; Licence needed: no\n"
         "Boat: Motor boat; Persons: 8; Half day: 130; Licence needed: yes\n"
         "Boat: Sailing dinghy; Persons: 3; Half day: 50; Licence needed: yes\n",
         0, "Boats", 0.9f, 0.8f, 9, false, false, 0, NULL, false, NULL}};
    extractive_answer a = ask("How many persons fit in the electric boat?", p, 1, 3, -1);
    if (!strstr(a.text, "Electric boat") || strstr(a.text, "Rowing")) fail_msg("%s", a.text);
    extractive_answer_deinit(&a);
    a = ask("Which boats need a licence?", p, 1, 3, -1);
    if (!strstr(a.text, "Motor boat") || !strstr(a.text, "dinghy") || strstr(a.text, "Rowing"))
        fail_msg("%s", a.text);
    extractive_answer_deinit(&a);
    a = ask("Which boat needs no licence?", p, 1, 3, -1); /* what is denied is asked for */
    if (strstr(a.text, "Motor") && !strstr(a.text, "no")) fail_msg("%s", a.text);
    extractive_answer_deinit(&a);
}

/* Of a table a row says what stands in it, not what only the whole table says. */
static void a_row_says_what_it_is_of(void **state) {
    (void)state;
    static const passage p[] = {
        {"Ticket | Zone 1 | Zone 2 | Zone 3\nSingle, adult | 2.10 | 3.20 | 4.50\n"
         "Single, child | 1.05 | 1.60 | 2.25\nDay, adult | 5.40 | 7.80 | 10.20\n",
         0, "Fares", 0.9f, 0.8f, 9, false, false, 0, NULL, false, NULL},
        {"Name: Old Bess; Species: Oak; Planted: 1790; Height m: 31\n"
         "Name: Granny; Species: Yew; Planted: 1655; Height m: 12\n",
         0, "Trees", 0.9f, 0.8f, 9, false, false, 0, NULL, false, NULL},
        {"Bird | Seen\nCrane | 12\nHeron | 4\n", 0, "Birds", 0.9f, 0.8f, 9, false, false, 0, NULL,
         false, NULL},
        {"Tariff | Data at home | Data abroad\nBreeze S | 5 GB | 3 GB\nBreeze M | 25 GB | 12 GB\n"
         "Breeze L | 100 GB | 30 GB\n",
         0, "Tariffs", 0.9f, 0.8f, 9, false, false, 0, NULL, false, NULL},
        {"Fact | Value\nAmount of the loan | 24,000 EUR\nYearly interest rate | 5.61 %\n", 0,
         "Loan offer", 0.9f, 0.8f, 9, false, false, 0, NULL, false, NULL},
    };
    static const struct {
        const char *question, *says, *says_not;
    } cases[] = {
        {"How much is a single ticket for a child in zone 2?", "1.60", "adult"},
        {"How much is an adult day ticket for zone 3?", "10.20", "Single"},
        {"How much is a single ticket for a child in zone 4?", NULL, NULL},
        {"How many cranes were seen?", "12", "Heron"},
        {"How many oaks are there?", NULL, NULL},
        {"Which species is the oldest?", NULL, NULL},
        {"How many GB does Breeze M have abroad?", "12 GB", "Breeze S"},
        {"How many GB does Breeze M have in Canada?", NULL, NULL},
        {"What is the yearly interest rate of the loan?", "5.61", "24,000"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        extractive_answer a = ask(cases[i].question, p, 5, 3, 0);
        if (a.abstain != !cases[i].says || (cases[i].says && (!strstr(a.text, cases[i].says) ||
                                                              strstr(a.text, cases[i].says_not))))
            fail_msg("%s: %s (%.2f)", cases[i].question, a.text, a.support);
        extractive_answer_deinit(&a);
    }
}

/* A heading is said, once, where it alone says what the answer is about. */
static void an_answer_says_what_it_is_about(void **state) {
    (void)state;
    static const passage p[] = {
        {"## Child lock\n\nHold the key for three seconds. The same again releases it.\n\n"
         "## Extras\n\n- Oat milk costs 2.40.\n- Soup costs 5.\n\n"
         "## Cleaning the oven\n\nClean the oven with a soft cloth.\n",
         0, "Manual", 0.9f, 0.8f, 9, false, false, 0, NULL, false, NULL}};
    static const struct {
        const char *question, *answer;
        size_t sentences;
    } cases[] = {
        {"How does the child lock work?", "Child lock: Hold the key for three seconds. [1]", 1},
        {"How do I clean the oven?", "Clean the oven with a soft cloth. [1]", 1},
        {"Which extras are there?", "Extras:\n- Oat milk costs 2.40.\n- Soup costs 5. [1]", 1},
        {"What does soup cost?", "- Soup costs 5. [1]", 1},
        {"How wide is the oven?", "", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        extractive_answer a =
            ask(cases[i].question, p, 1, cases[i].sentences, cases[i].answer[0] ? -1 : 0);
        assert_string_equal(a.text, cases[i].answer);
        if (a.n_citations) assert_true(a.citations[0].verified);
        extractive_answer_deinit(&a);
    }
    extractive_answer a = ask("How does the child lock work?", p, 1, 3, -1);
    const char *said = strstr(a.text, "Child lock:");
    assert_non_null(said);
    if (strstr(said + 1, "Child lock:")) fail_msg("twice: %s", a.text);
    extractive_answer_deinit(&a);
}

static void a_change_is_of_its_version(void **state) {
    (void)state;
    static const passage p[] = {{"## 3.2.0 (2026-08-14)\n\n### Removed\n\n- The old theme.\n\n"
                                 "## 3.0.0 (2025-10-20)\n\n### Removed\n\n- The import of XML.\n",
                                 0, "Changelog", 0.9f, 0.8f, 9, false, false, 0, NULL, false,
                                 NULL}};
    extractive_answer a = ask("What was removed in 3.0?", p, 1, 1, -1);
    if (!strstr(a.text, "XML")) fail_msg("%s", a.text);
    extractive_answer_deinit(&a);
    a = ask("What was removed in version 3.2?", p, 1, 1, -1);
    if (!strstr(a.text, "theme")) fail_msg("%s", a.text);
    extractive_answer_deinit(&a);
    a = ask("What was removed in 3.1?", p, 1, 1, 0);
    assert_true(a.abstain);
    extractive_answer_deinit(&a);
    /* what the passage begins with is of the version that stands above it */
    static const char document[] = "## 3.2.0\n\n### Removed\n\n- The removed old theme.\n\n"
                                   "## 3.0.0\n\n### Removed\n\n- The import of XML.\n";
    const size_t above = (size_t)(strstr(document, "###") - document);
    const passage later[] = {
        {document + above, 0, "Changelog", 0.9f, 0.8f, 9, false, false, above, NULL, false, NULL}};
    a = ask("What was removed in 3.0?", later, 1, 1, -1);
    if (!strstr(a.text, "XML")) fail_msg("%s", a.text);
    extractive_answer_deinit(&a);
}

/* What stands below another day, model or entry is not said of the one that is asked about. */
static void an_earlier_number_says_nothing_of_a_later_one(void **state) {
    (void)state;
    static const struct {
        const char *question, *text, *other;
    } cases[] = {
        {"What is for supper on 9.3.2026?",
         "## 8.3.2026\n\nBean stew for supper.\n\n## 9.3.2026\n\nClosed.\n", "stew"},
        {"How loud is the 6.2?",
         "## Model 3.5\n\nThe noise is 52 dB.\n\n## Model 6.2\n\nIt makes 70 dB.\n", "52"},
        {"What is the default timeout in 2.6?",
         "## 2.6.0 (2026-02-10)\n\n- Calls wait 90 s now.\n\n## 2.4.0 (2025-04-04)\n\n- The "
         "default timeout is 30 s.\n",
         "30"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const passage p[] = {
            {cases[i].text, 0, "Notes", 0.9f, 0.8f, 9, false, false, 0, NULL, false, NULL}};
        extractive_answer a = ask(cases[i].question, p, 1, 1, 0);
        if (strstr(a.text, cases[i].other)) fail_msg("%s: %s", cases[i].question, a.text);
        extractive_answer_deinit(&a);
    }
}

static void days_are_asked_as_they_are_written(void **state) {
    (void)state;
    static const struct {
        const char *question, *text, *asked; /* NULL: as it is */
    } cases[] = {
        {"When is it open on Saturday?", "Fri 9-12\nSat 9-17", "When is it open on Sat?"},
        {"Which Thursdays, and which Fridays?", "Thurs: 9, Friday: 10",
         "Which Thurs, and which Fridays?"},
        {"How many on Saturdays?", "Bread | Fri | Sat\nRye | 30 | 50", "How many on Sat?"},
        {"How many on Saturdays?", "Bread   Fri   Sat\nRye      30    50", "How many on Sat?"},
        {"When is it open on Saturday?", "Saturdays from 9; Sat: hens", NULL},
        {"When is it open on Saturday?", "where the cat\nsat\n", NULL},
        {"When is it open on Saturday?", "The cat sat in the Sun.", NULL},
        {"When is it open?", "Sat: 9-17", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const passage p = {.text = cases[i].text, .len = strlen(cases[i].text)};
        fo_buf asked = {0};
        assert_int_equal(demand_days_as_written(&asked, cases[i].question, &p, 1),
                         cases[i].asked != NULL);
        if (cases[i].asked) assert_string_equal(asked.data, cases[i].asked);
        fo_buf_free(&asked);
    }
}

static void an_answer_is_refused_where_nothing_supports_it(void **state) {
    (void)state;
    static const char *const questions[] = {
        "Who composed the Moonlight Sonata?",
        "What is the boiling point of tungsten?",
        "",
        "???",
    };
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
        extractive_answer a = ask(questions[i], library, 3, 3, 0);
        assert_true(a.abstain);
        assert_string_equal(a.text, "");
        assert_int_equal(a.n_citations, 0);
        assert_true(a.support < support_threshold);
        extractive_answer_deinit(&a);
    }
    extractive_answer unrelated = ask("xyzzy plugh", library, 3, 3, -1);
    assert_true(unrelated.abstain);
    extractive_answer_deinit(&unrelated);
    extractive_answer none = ask("When did the Harbour Bridge open?", library, 0, 3, -1);
    assert_true(none.abstain);
    extractive_answer_deinit(&none);
}

/* Where something fits, the support decides, and the threshold is where it is said to be. */
static void weak_support_is_refused_at_the_threshold(void **state) {
    (void)state;
    static const char weak[] = "When was the toll of the Brenner pass through Austria raised?";
    extractive_answer a = ask(weak, library, 3, 1, -1);
    double support = a.support;
    assert_false(a.abstain);
    if (!(support > .001 && support < support_threshold)) fail_msg("support %g", support);
    extractive_answer_deinit(&a);
    const struct {
        double least;
        bool abstain;
    } cases[] = {{0, true}, {support * 1.01, true}, {support * .99, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        a = ask(weak, library, 3, 1, cases[i].least);
        assert_int_equal(a.abstain, cases[i].abstain);
        assert_true(a.support == support);
        extractive_answer_deinit(&a);
    }
}

static void headings_and_questions_are_not_answers(void **state) {
    (void)state;
    extractive_answer a = ask("How often do ferries cross the harbour?", library, 3, 3, -1);
    assert_null(strstr(a.text, "#"));
    assert_null(strstr(a.text, "Did you know"));
    assert_non_null(strstr(a.text, "every ten minutes"));
    extractive_answer_deinit(&a);
}

/* The list of questions at the head of an FAQ shares every word with who asks one of them. */
static void a_question_is_never_the_answer(void **state) {
    (void)state;
    static const passage faq[] = {
        {"8.5 How can I find out what package produced a particular file? 8.6 How is a package "
         "removed again?",
         0, "Questions", 0.9f, 0.8f, 9, false, false, 0, NULL, false, NULL},
        {"8.5 How can I find out what package produced a particular file? Run dpkg -S with the "
         "file.",
         0, "Questions", 0.9f, 0.8f, 9, false, false, 0, NULL, false, NULL}};
    static const char question[] = "How do I find out which package produced a file?";
    extractive_answer a = ask(question, faq, 1, 3, 0);
    if (!a.abstain) fail_msg("%s (%g)", a.text, a.support);
    extractive_answer_deinit(&a);
    a = ask(question, faq + 1, 1, 3, 0);
    assert_string_equal(a.text, "Run dpkg -S with the file. [1]");
    extractive_answer_deinit(&a);
}

/* Words alone cannot tell -z from -Z, nor the option from a line that mentions it. */
static void an_option_is_explained_or_refused(void **state) {
    (void)state;
    static const passage pages[] = {
        {"EXIT STATUS\n\nWhere the -z option of tar was used and the compressor fails, tar exits "
         "with 2.\n",
         0, "tar - an archiving utility", 0.9f, 0.8f, 9, false, false, 0, NULL, false, NULL},
        {"OPTIONS\n\n-z, --gzip\nFilter the archive through gzip(1).\n\n-Z, --compress\nFilter the "
         "archive through compress(1).\n\n-x, --extract\nTake files out of an archive.\n",
         0, "tar - an archiving utility", 0.5f, 0.4f, 8, false, false, 0, NULL, false, NULL},
        {"OPTIONS\n\n-q, --quiet\nSay nothing.\n", 0, "zip - package files", 0.4f, 0.4f, 3, false,
         false, 0, NULL, false, NULL},
    };
    static const struct {
        const char *question, *answer;
    } cases[] = {
        {"What does the -z option of tar do?",
         "-z, --gzip: Filter the archive through gzip(1). [1]"},
        {"What does tar -Z do?", "-Z, --compress: Filter the archive through compress(1). [1]"},
        {"What is --extract of tar for?", "-x, --extract: Take files out of an archive. [1]"},
        {"What does the -y option of tar do?", ""},
        {"What does tar -q do?", ""}, /* zip has one */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        extractive_answer a = ask(cases[i].question, pages, 3, 1, 0);
        assert_string_equal(a.text, cases[i].answer);
        extractive_answer_deinit(&a);
    }
}

/* In prose, in a list and in a table an option stands before what is said of it, too. */
static void an_option_is_explained_outside_of_manual_pages(void **state) {
    (void)state;
    static const passage pages[] = {
        {"Where a disk gives --read-only as the reason, what --read-only does is told below.\n\n"
         "--read-only serves a home that nobody writes to.\n",
         0, "Running it", 0.9f, 0.8f, 9, false, false, 0, NULL, false, NULL},
        {"- --jobs N: files worked on at a time.\n- --quiet: as --jobs, and says nothing.\n", 0,
         "Running it", 0.5f, 0.4f, 8, false, false, 0, NULL, false, NULL},
        {"Option | Meaning\n--depth N | how far down folders are read\n--flat | no --depth at "
         "all\n",
         0, "Running it", 0.4f, 0.4f, 7, false, false, 0, NULL, false, NULL},
    };
    static const char *const cases[][2] = {
        {"What does --read-only do?", "--read-only serves a home that nobody writes to. [1]"},
        {"What does --jobs do?", "- --jobs N: files worked on at a time. [1]"},
        {"What does --depth do?", "Option: --depth N; Meaning: how far down folders are read [1]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        extractive_answer a = ask(cases[i][0], pages, 3, 1, 0);
        assert_string_equal(a.text, cases[i][1]);
        extractive_answer_deinit(&a);
    }
}

static void steps_keep_their_lines(void **state) {
    (void)state;
    static const struct {
        const char *text, *answer;
    } cases[] = {
        {"To change the filter:\n1. Close the tap.\n2. Turn the bowl to the left.\n3. Put in the "
         "new "
         "one.\n",
         "To change the filter:\n1. Close the tap.\n2. Turn the bowl to the left.\n3. Put in the "
         "new "
         "one. [1]"},
        {"To change the filter:\na) Close the tap.\nb) Turn the bowl to the left.\nc) Put in the "
         "new "
         "one.\n",
         "To change the filter:\na) Close the tap.\nb) Turn the bowl to the left.\nc) Put in the "
         "new "
         "one. [1]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        passage p = {cases[i].text, 0,     "Kitchen", 0.9f, 0.9f,  9,
                     false,         false, 0,         NULL, false, NULL};
        extractive_answer a = ask("How do I change the filter?", &p, 1, 1, -1);
        assert_string_equal(a.text, cases[i].answer);
        extractive_answer_deinit(&a);
    }
}

/* What an option is for is said in the words of who asks for it. */
static void the_words_of_a_question_are_no_question(void **state) {
    (void)state;
    static const passage options = {"Option | Default | Meaning\n"
                                    "--keep-daily N | 14 | how many daily versions are kept\n"
                                    "--keep-monthly N | 12 | how many monthly versions are kept\n",
                                    0,
                                    "Tern",
                                    0.9f,
                                    0.9f,
                                    9,
                                    false,
                                    false,
                                    0,
                                    NULL,
                                    false,
                                    NULL};
    extractive_answer a = ask("How many daily versions are kept?", &options, 1, 1, -1);
    assert_string_equal(a.text,
                        "Option: --keep-daily N; Default: 14; Meaning: how many daily versions "
                        "are kept [1]");
    extractive_answer_deinit(&a);
}

/* An example of how to ask holds every word of the question. */
static void the_question_itself_is_no_answer(void **state) {
    (void)state;
    static const passage pages[] = {
        {"Ask like this:\n\n    forage query \"How long are the batteries kept?\"\n", 0, "Asking",
         0.9f, 0.9f, 9, false, false, 0, NULL, false, NULL},
        {"The batteries of the traps are kept for two years.", 0, "Power", 0.5f, 0.5f, 5, false,
         false, 0, NULL, false, NULL},
    };
    extractive_answer a = ask("How long are the batteries kept?", pages, 2, 1, -1);
    assert_string_equal(a.text, "The batteries of the traps are kept for two years. [1]");
    extractive_answer_deinit(&a);
    a = ask("How long are the batteries kept?", pages, 1, 3, 0);
    assert_true(a.abstain);
    extractive_answer_deinit(&a);
    /* Neither does a block of examples that ends in it; a row that goes on behind it does. */
    static const passage block = {"forage serve --home home   # the service\nforage ingest notes "
                                  "--home home   # again: in step\n"
                                  "forage query \"How long are the batteries kept?\" --home home\n",
                                  0,
                                  "Use",
                                  0.9f,
                                  0.9f,
                                  9,
                                  false,
                                  false,
                                  0,
                                  NULL,
                                  false,
                                  NULL};
    a = ask("How long are the batteries kept?", &block, 1, 3, -1);
    assert_null(strstr(a.text, "batteries"));
    extractive_answer_deinit(&a);
    /* Quoted in the middle of a line, too. */
    static const passage goes_on = {
        "Use\n\nforage serve --home home\nforage query \"How long are the batteries "
        "kept?\" --url http://127.0.0.1:8080\n",
        0,
        "Use",
        0.9f,
        0.9f,
        9,
        false,
        false,
        0,
        NULL,
        false,
        NULL};
    a = ask("How long are the batteries kept?", &goes_on, 1, 3, -1);
    assert_null(strstr(a.text, "batteries"));
    extractive_answer_deinit(&a);
    static const passage asked_often = {"question | answer\nHow long are the batteries kept? | two "
                                        "years\nWho keeps them? | the warden\n",
                                        0,
                                        "Asked often",
                                        0.9f,
                                        0.9f,
                                        9,
                                        false,
                                        false,
                                        0,
                                        NULL,
                                        false,
                                        NULL};
    a = ask("How long are the batteries kept?", &asked_often, 1, 1, -1);
    assert_non_null(strstr(a.text, "two years"));
    extractive_answer_deinit(&a);
}

/* Words alone would take the first sentence, or the wrong row. */
static void what_a_question_demands_is_met_or_refused(void **state) {
    (void)state;
    static const passage hours[] = {
        {"| day | open |\n|---|---|\n| Tuesday to Friday | 10 to 19 |\n| Saturday | 10 to 14 |\n",
         0, "Opening hours of the library", 0.9f, 0.8f, 9, false, false, 0, NULL, false, NULL}};
    static const passage pump[] = {
        {"The heat pump needs 40 cm of free space. Clean the filter of the heat pump in May.", 0,
         "The heat pump", 0.9f, 0.8f, 9, false, false, 0, NULL, false, NULL}};
    static const passage priced[] = {
        {"The heat pump needs 40 cm of free space. The whole set comes to 900 euros.", 0,
         "The heat pump", 0.9f, 0.8f, 9, false, false, 0, NULL, false, NULL}};
    static const passage poultry[] = {{"Not allowed on the market: weapons, live poultry.", 0,
                                       "Market rules", 0.9f, 0.8f, 9, false, false, 0, NULL, false,
                                       NULL}};
    static const passage reasons[] = {{"Live poultry is not allowed on the market, because of the "
                                       "bird flu. Stalls open at seven.",
                                       0, "Market rules", 0.9f, 0.8f, 9, false, false, 0, NULL,
                                       false, NULL}};
    static const struct {
        const char *question;
        const passage *p;
        const char *answer; /* NULL: refused */
    } cases[] = {
        {"Why is live poultry not allowed on the market?", poultry, NULL},
        {"Why is live poultry not allowed on the market?", reasons,
         "Live poultry is not allowed on the market, because of the bird flu. [1]"},
        {"When is the library open on Wednesday?", hours,
         "day: Tuesday to Friday; open: 10 to 19 [1]"},
        {"When is the library open on Saturday?", hours, "day: Saturday; open: 10 to 14 [1]"},
        {"When is the library open on Sunday?", hours, NULL},
        {"What is the price of the heat pump?", pump, NULL},
        {"How heavy is the heat pump?", pump, NULL},
        {"What is the price of the heat pump?", priced, "The whole set comes to 900 euros. [1]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        extractive_answer a = ask(cases[i].question, cases[i].p, 1, 1, 0);
        if (a.abstain != !cases[i].answer) fail_msg("%s: %s", cases[i].question, a.text);
        if (!a.abstain) assert_string_equal(a.text, cases[i].answer);
        extractive_answer_deinit(&a);
    }
}

static const passage exa[] = {
    {"-s, --sort=SORT_FIELD\n    Which field to sort by.\n\n-r, --reverse\n    Reverse the sort "
     "order.\n",
     0, "exa \xE2\x80\x94 a modern replacement for ls", 0.9f, 0.8f, 9, false, false, 0, NULL, false,
     NULL}};

/* An option alone says nothing to somebody who does not know whose it is. */
static void an_option_says_whose_it_is(void **state) {
    (void)state;
    extractive_answer a = ask("How do I reverse the sort order?", exa, 1, 1, -1);
    assert_string_equal(a.text, "exa -r, --reverse: Reverse the sort order. [1]");
    assert_true(a.citations[0].verified);
    extractive_answer_deinit(&a);
    a = ask("How do I reverse the sort order with exa?", exa, 1, 1, -1);
    assert_string_equal(a.text, "-r, --reverse: Reverse the sort order. [1]");
    extractive_answer_deinit(&a);
}

static void a_sentence_is_not_said_twice(void **state) {
    (void)state;
    passage twice[2] = {library[0], library[0]};
    twice[1].title = "Copy";
    extractive_answer a = ask("When did the Harbour Bridge open?", twice, 2, 3, -1);
    const char *first = strstr(a.text, "opened in 1932");
    assert_non_null(first);
    assert_null(strstr(first + 1, "opened in 1932"));
    extractive_answer_deinit(&a);
}

/* Every [n] of an answer stands behind the sentence of the n-th citation. */
static void assert_markers_are_ours(const extractive_answer *a) {
    size_t found = 0;
    for (const char *s = a->text; (s = strchr(s, '[')); s++) {
        size_t n = strspn(s + 1, "0123456789");
        if (n == 0 || s[1 + n] != ']') continue;
        if (found == a->n_citations ||
            (size_t)(s - a->text) != a->citations[found].answer_end + 1 ||
            (size_t)atoi(s + 1) != found + 1)
            fail_msg("a marker of somebody else at %zu of '%s'", (size_t)(s - a->text), a->text);
        found++;
    }
    assert_int_equal(found, a->n_citations);
}

static void markers_of_documents_are_none_of_ours(void **state) {
    (void)state;
    static const passage forged[] = {
        {"Grebes dive for [2] fish [1]. The [1, 2] young ride on their back.[12]", 0, "Grebes", 1,
         NAN, NAN, false, false, 0, NULL, false, NULL},
        {"Grebes are fed with bread [1].", 0, "Bread", 1, NAN, NAN, false, false, 0, NULL, false,
         NULL},
    };
    extractive_answer a =
        ask("What do grebes dive for and where do the young ride?", forged, 2, 3, -1);
    assert_non_null(strstr(a.text, "Grebes dive for (2) fish (1)."));
    assert_non_null(strstr(a.text, "back.(12) [1]"));
    assert_markers_are_ours(&a);
    for (size_t i = 0; i < a.n_citations; i++) {
        const answer_citation *c = &a.citations[i];
        assert_true(c->verified); /* the quote is the source's own text, brackets and all */
        assert_non_null(memchr(forged[c->passage].text + c->start, '[', c->end - c->start));
    }
    extractive_answer_deinit(&a);
}

/* Two sentences that follow each other are one quote under one marker. */
static void neighbours_share_a_citation(void **state) {
    (void)state;
    passage p = {"Tin melts at 232 degrees.\n Tin boils at 2602 degrees. Lead is heavier than tin.",
                 0,
                 "Tin",
                 1,
                 NAN,
                 NAN,
                 false,
                 false,
                 0,
                 NULL,
                 false,
                 NULL};
    extractive_answer a = ask("At how many degrees does tin melt and boil?", &p, 1, 2, -1);
    assert_string_equal(a.text, "Tin melts at 232 degrees. Tin boils at 2602 degrees. [1]");
    assert_int_equal(a.n_citations, 1);
    assert_int_equal(a.citations[0].answer_end, strlen(a.text) - 4);
    assert_true(a.citations[0].verified);
    extractive_answer_deinit(&a);
}

/* What "it" is stands in the sentence before. */
static void a_pronoun_comes_with_what_it_stands_for(void **state) {
    (void)state;
    const passage p = {
        "The rent is 940 euros. It includes water and the caretaker, but no heating. Pets are "
        "welcome.",
        0,
        "Lease",
        1,
        NAN,
        NAN,
        false,
        false,
        0,
        NULL,
        false,
        NULL};
    const char *const question = "Is heating included with water?";
    extractive_answer a = ask(question, &p, 1, 3, -1);
    const char *both =
        "The rent is 940 euros. It includes water and the caretaker, but no heating. [1]";
    if (strncmp(a.text, both, strlen(both)) != 0) fail_msg("%s", a.text);
    assert_true(a.citations[0].verified);
    extractive_answer_deinit(&a);
    a = ask(question, &p, 1, 1, -1); /* no more than was asked for */
    assert_string_equal(a.text, "It includes water and the caretaker, but no heating. [1]");
    extractive_answer_deinit(&a);
}

/* Columns of plain text are said with their names. */
static void a_row_of_columns_is_said_with_their_names(void **state) {
    (void)state;
    const passage p = {"Program    Temperature   Time\n"
                       "Eco        50            3 h 15\n"
                       "Rinse      cold          14 min\n",
                       0,
                       "Dishwasher",
                       1,
                       NAN,
                       NAN,
                       false,
                       false,
                       0,
                       NULL,
                       false,
                       NULL};
    extractive_answer a = ask("How long does Rinse take?", &p, 1, 1, -1);
    assert_string_equal(a.text, "Program: Rinse; Temperature: cold; Time: 14 min [1]");
    assert_true(a.citations[0].verified);
    extractive_answer_deinit(&a);
}

/* An extension is no salary, and a number of pieces no hour. */
static void a_label_is_no_amount(void **state) {
    (void)state;
    static const passage p[] = {{.text = "Topic: Payroll; Person: Hanna Ek; Extension: 4410\n\n"
                                         "Topic: Computers; Person: Service desk; Extension: 4400",
                                 .title = "Salary and other topics"},
                                {.text = "Grade: clerk; Salary: 2900\n\nGrade: head; Salary: 4400",
                                 .title = "Salary and other topics"}};
    extractive_answer a = ask("How much is the salary of Hanna Ek?", p, 1, 1, -1);
    assert_true(a.features.no_amount == 1);
    extractive_answer_deinit(&a);
    a = ask("How much is the salary of the head?", p + 1, 1, 1, -1);
    assert_true(a.features.no_amount == 0);
    assert_non_null(strstr(a.text, "Salary: 4400"));
    extractive_answer_deinit(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sentence_that_answers_comes_first),
        cmocka_unit_test(one_character_of_another_word_hardly_answers_a_japanese_question),
        cmocka_unit_test(one_word_is_enough_to_ask_for_in_japanese),
        cmocka_unit_test(what_only_says_its_title_hardly_answers_a_japanese_question),
        cmocka_unit_test(a_term_before_its_sentence_is_supported),
        cmocka_unit_test(rows_that_are_not_asked_about_stay_away),
        cmocka_unit_test(a_row_says_what_it_is_of),
        cmocka_unit_test(an_answer_says_what_it_is_about),
        cmocka_unit_test(a_change_is_of_its_version),
        cmocka_unit_test(an_earlier_number_says_nothing_of_a_later_one),
        cmocka_unit_test(days_are_asked_as_they_are_written),
        cmocka_unit_test(an_answer_is_refused_where_nothing_supports_it),
        cmocka_unit_test(weak_support_is_refused_at_the_threshold),
        cmocka_unit_test(headings_and_questions_are_not_answers),
        cmocka_unit_test(a_question_is_never_the_answer),
        cmocka_unit_test(an_option_is_explained_or_refused),
        cmocka_unit_test(an_option_is_explained_outside_of_manual_pages),
        cmocka_unit_test(steps_keep_their_lines),
        cmocka_unit_test(the_question_itself_is_no_answer),
        cmocka_unit_test(the_words_of_a_question_are_no_question),
        cmocka_unit_test(what_a_question_demands_is_met_or_refused),
        cmocka_unit_test(an_option_says_whose_it_is),
        cmocka_unit_test(a_sentence_is_not_said_twice),
        cmocka_unit_test(markers_of_documents_are_none_of_ours),
        cmocka_unit_test(neighbours_share_a_citation),
        cmocka_unit_test(a_pronoun_comes_with_what_it_stands_for),
        cmocka_unit_test(a_row_of_columns_is_said_with_their_names),
        cmocka_unit_test(a_label_is_no_amount),
    };
    return cmocka_run_group_tests(tests, open_lexicon, close_lexicon);
}
