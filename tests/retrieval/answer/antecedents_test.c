/* antecedents_test.c - what stands beside a sentence and has to be said with it: what it points back at, its reason, the heading
 * that names or denies it. With the reader inside the binary. */
#include "tests/retrieval/answer/reader_fixture.h"

#include "retrieval/answer/antecedents.h"

static void what_points_back_is_told_from_what_stands_alone(void **state) {
    (void)state;
    static const char *const back[] = {"It includes water.",
                                       "This is not possible in the first year.",
                                       "(3) This does not hold for flats.",
                                       "That is not allowed.",
                                       "There a day pass costs £6.",
                                       "During it either side may give two weeks' notice.",
                                       "Beyond it each megabyte costs 36p.",
                                       "In that case ring the bell.",
                                       "Under those circumstances the gate stays shut.",
                                       "Note that this takes a minute.",
                                       "Such flats are let for a month.",
                                       "The default value is 5%.",
                                       "Default is 200.",
                                       "Water does so only down to four degrees.",
                                       "For contracts made in our shop there is none."};
    static const char *const alone[] = {
        "There is a lift.",
        "There's a lift.",
        "There must be two of you.",
        "That members vote is new.",
        "During lunch we are shut.",
        "In this house dogs are welcome.",
        "The default shell of the system is short.",
        "The default value for the port is 80.",
        "Averages are kept for a year; on the free plan there are none.",
        "None is left over.",
        "Trains run hourly.",
        "Note that the gate is shut.",
        "Note that that gate is shut.",
        "Such a flat costs more.",
        ""};
    for (size_t i = 0; i < sizeof back / sizeof *back; i++)
        if (!antecedent_is_meant(back[i], strlen(back[i]))) fail_msg("%s", back[i]);
    for (size_t i = 0; i < sizeof alone / sizeof *alone; i++)
        if (antecedent_is_meant(alone[i], strlen(alone[i]))) fail_msg("%s", alone[i]);
}

static void what_goes_on_from_before_is_told_from_what_does_not(void **state) {
    (void)state;
    static const char *const linked[] = {"However, there is an app for iOS.",
                                         "Then set the port.",
                                         "- Again, never do this to a public commit.",
                                         "As an example, suppose that it broke.",
                                         "You could then open that port.",
                                         "To do so, hold the key.",
                                         "By doing this you keep the price.",
                                         "Rather, ask the porter.",
                                         "For example, a cat."};
    static const char *const alone[] = {"However you pay, it costs the same.",
                                        "Instead of a key there is a card.",
                                        "Again and again it fails.",
                                        "For example files see below.",
                                        "As an owner you pay.",
                                        "Rather than a key, take the card.",
                                        "To do the wash, hold the key.",
                                        "You should know what then happens.",
                                        ""};
    for (size_t i = 0; i < sizeof linked / sizeof *linked; i++)
        if (!antecedent_is_linked(linked[i], strlen(linked[i]))) fail_msg("%s", linked[i]);
    for (size_t i = 0; i < sizeof alone / sizeof *alone; i++)
        if (antecedent_is_linked(alone[i], strlen(alone[i]))) fail_msg("%s", alone[i]);
    static const char *const entries[] = {"This variable specifies the editor.",
                                          "If set, this option names the path."};
    static const char *const others[] = {"This is the editor.", "This house has a garden.",
                                         "The editor is named in a file by this variable.", ""};
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
        if (!antecedent_is_entry(entries[i], strlen(entries[i]))) fail_msg("%s", entries[i]);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (antecedent_is_entry(others[i], strlen(others[i]))) fail_msg("%s", others[i]);
}

static const char minutes[] = "3. Head office. The owner of the house will not pay for the repair "
                              "of the roof. The board decided "
                              "to give up the move of the head office. Tea was served.";
static const char status[] = "Overall: red. The heat exchanger that was delivered on 2 September "
                             "failed its pressure test. All "
                             "pipes are laid.";
static const char outage[] =
    "# The portal was down on 9 October\n\n## Summary\n\nThe portal outage lasted eight hours.\n\n"
    "## Root cause\n\nA certificate for the database expired at 21:10.\n\n## Lessons\n\n"
    "The restart made things worse: the outage alone would have lost nothing.";
static const char loan[] = "3.1 Rates are paid on the first.\n\n3.2 Once a year you may skip one "
                           "rate if you tell us 10 days "
                           "before. This is not possible in the first year.";
static const char probation[] =
    "(1) After the probation period the notice is six weeks to the end of a quarter.\n\n(2) The "
    "first "
    "six months are a probation period. During it either side may give two weeks' notice.";
static const char pumps[] = "# Three heat pumps\n\n## Calora Mono\n\nThe app is poor. It can cool "
                            "in summer, which the other "
                            "two cannot.\n\n## Pellam Eco\n\nCheap to buy, but loud.";
static const char policy[] =
    "# Contents policy\n\n## What is not insured\n\n- flood and rising ground water, unless the "
    "module "
    "Elements is shown;\n- war and nuclear energy;\n\n## Payment\n\nWe pay within 14 days.";

static const char animals[] = "# Contents policy\n\n## Limits\n\n4.1 We do not pay for damage "
                              "by\n\n- animals that gnaw at cables;\n- "
                              "war and nuclear energy;\n\n## Payment\n\nWe pay within 14 days.";
static const char glossary[] =
    "# Terms\n\n## Cooling-off period\n\nThe 14 days in which a customer can withdraw from a new "
    "contract. For contracts made in our shop there is none.\n\n## Curtailment\n\nA park is "
    "throttled.";

static const char mailer[] =
    "# Kestrel reference\n\n## visual_tool\n\nType: path\nDefault: (empty)\n\nThis variable "
    "specifies which editor "
    "is used by the program for letters.\n\n## bin_folder\n\nType: path\nDefault: (empty)\n\nIf "
    "set, this variable "
    "specifies the path of the folder where deleted letters will be moved.\n";
static const char news[] =
    "# Reader of feeds\n\n## Heron service\n\nTo use it, set the source:\n\n    source "
    "\"heron\"\n\nThen, configure the login and the password of the account in the file.\n\n## "
    "Overview\n\nThis program shows feeds in a terminal.\n";
static const char ignored[] =
    "# Common issues\n\nA list of ignored files keeps files which are not tracked from being "
    "added. However, a file may have been tracked before it was added to the list of ignored "
    "files, "
    "and hence is still tracked.\n";

static void what_has_to_be_said_with_it_is_said(void **state) {
    (void)state;
    static const struct {
        const char *question, *text, *said, *never;
    } cases[] = {
        {"Why was the move of the head office called off?", minutes,
         "The owner of the house will not", "Tea"},
        {"Why is the project status red?", status, "The heat exchanger", "pipes"},
        {"Why do the carp die when the pump stops?",
         "The pond was dug in 1990. The pump brings air down to the bottom. If it stops, carp of "
         "the bottom die, but the ducks do not mind.",
         "air down to the bottom. If it stops, carp", "1990"},
        {"What caused the portal outage?", outage, "A certificate for the database expired",
         "restart"},
        {"Can I skip a rate in the first year?", loan, "before. This is not possible", "3.1"},
        {"What is the notice period during probation?", probation,
         "The first six months are a probation period. During it either side", "\n\n"},
        {"Which of the three can also cool the house in summer?", pumps, "Calora Mono: ", "Pellam"},
        {"Can I change my mind about a contract made in the shop?", glossary,
         "Cooling-off period: The 14 days", "Curtailment"},
        {"Are gnawed cables covered by the policy?", animals,
         "We do not pay for damage by: animals", "14 days"},
        {"Which editor is used for letters?", mailer, "visual_tool: This variable", "bin_folder"},
        {"Can deleted letters be moved to a folder?", mailer, "bin_folder: If set, this variable",
         "editor"},
        {"Where do I configure the login and the password of the account?", news,
         "Heron service: Then, configure", "terminal"},
        {"Are feeds shown in a terminal?", news, "This program shows", "Overview:"},
        {"Is a file still tracked that was added to the list later?", ignored,
         "added. However, a file", "Common"},
        {"Is flood covered by the policy?", policy, "What is not insured: flood", "14 days"},
    };
    int failed = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        failed += !answer_says(cases[i].question, cases[i].text, cases[i].said, cases[i].never);
    }
    assert_int_equal(failed, 0);
}

/* Who asks about what the title names knows what "it" is: a long sentence before, that answers nothing, is left out. */
static void a_long_antecedent_that_the_title_names_is_left_out(void **state) {
    (void)state;
    static const char plant[] =
        "# Snow lantern\n\nThe snow lantern, also called frost bell or, by herders, widow's lamp, "
        "is "
        "a perennial plant of the bellflower family which grows on limestone scree and in thin "
        "turf "
        "in the mountains. It flowers while snow still lies, usually from the middle of March to "
        "the end of April.\n\n## Roots\n\nThe work began in April. It took five years.\n";
    static const struct {
        const char *question, *title, *said, *never;
    } cases[] = {
        {"When does the snow lantern flower?", "Snow lantern", "middle of March", "widow"},
        {"When does it flower in the mountains?", "Plants of the alps", "widow", "took five"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const passage p = {
            .text = plant, .len = strlen(plant), .title = cases[i].title, .sparse = 5};
        extractive_answer a = ask_passages(cases[i].question, &p, 1);
        if (!strstr(a.text, cases[i].said) || strstr(a.text, cases[i].never))
            fail_msg("%s: %s", cases[i].question, a.text);
        extractive_answer_deinit(&a);
    }
}

/* ... but not one that says more of it than what it is, nor where what is meant is asked for. */
static void an_antecedent_that_says_more_is_said(void **state) {
    (void)state;
    static const char pump[] =
        "# Kestrel pump manual\n\nThe Kestrel pump has at its inlet a fine filter of felt that "
        "keeps "
        "sand and leaves away from the wheel and from the seals inside the housing. It must be "
        "changed every year. The housing is of steel.\n";
    static const char ticket[] = "# Ticket Flex\n\nThe ticket Flex is a paper that can be returned "
                                 "until one hour before the "
                                 "train leaves if it was bought on the website or in the app and "
                                 "not at a machine. It is then "
                                 "paid back in full.\n";
    static const struct {
        const char *question, *title, *text, *said;
    } cases[] = {
        {"Which part of the Kestrel pump must be changed every year?", "Kestrel pump manual", pump,
         "filter"},
        {"How often must the filter of the Kestrel pump be changed?", "Kestrel pump manual", pump,
         "filter"},
        {"Is the ticket Flex paid back in full?", "Ticket Flex", ticket, "until one hour before"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const passage p = {.text = cases[i].text,
                           .len = strlen(cases[i].text),
                           .title = cases[i].title,
                           .sparse = 5};
        extractive_answer a = ask_passages(cases[i].question, &p, 1);
        if (!strstr(a.text, cases[i].said)) fail_msg("%s: %s", cases[i].question, a.text);
        extractive_answer_deinit(&a);
    }
}

/* A long sentence before a case, and what is done so by what the question names, stay unsaid. */
static void what_adds_nothing_is_not_said_before(void **state) {
    (void)state;
    static const char boiler[] =
        "# Boiler\n\nThe boiler has a valve on the left side, a gauge in the middle, and a door "
        "for "
        "ashes below, which is opened with the long key. When it whistles, water is low. Fill it "
        "up.\n";
    static const char wood[] =
        "# Heating\n\nBeech burns slowly and gives off much heat for hours, and it is sold by the "
        "cubic metre at the saw mill for 95 euros. Birch does so too, but it smells good.\n";
    assert_true(answer_says("Why does the boiler whistle?", boiler, "water is low", "valve"));
    assert_true(answer_says("How does birch smell?", wood, "smells good", "Beech"));
}

/* What only sounds like a reason, and speaks of something else, is none. */
static void another_thing_beside_it_is_no_reason(void **state) {
    (void)state;
    static const struct {
        const char *question, *text, *never;
    } cases[] = {
        {"Why is the lift locked on Sunday?",
         "The lift is locked on Sunday. The stairs are too steep for prams.", "stairs"},
        {"Why did the sales fall in Spain?",
         "The sales fell by 4 percent in Spain. The plant in Leeds was closed in May and not sold.",
         "Leeds"},
        {"Why is the shed locked at night?",
         "The shed is locked at night. Children do not play here.", "Children"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const passage p = {
            .text = cases[i].text, .len = strlen(cases[i].text), .title = "Papers", .sparse = 5};
        extractive_answer a = ask_passages(cases[i].question, &p, 1);
        if (!a.lead || strstr(a.text, cases[i].never))
            fail_msg("%s: %s", cases[i].question, a.text);
        extractive_answer_deinit(&a);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_points_back_is_told_from_what_stands_alone),
        cmocka_unit_test(what_goes_on_from_before_is_told_from_what_does_not),
        cmocka_unit_test(what_has_to_be_said_with_it_is_said),
        cmocka_unit_test(a_long_antecedent_that_the_title_names_is_left_out),
        cmocka_unit_test(an_antecedent_that_says_more_is_said),
        cmocka_unit_test(what_adds_nothing_is_not_said_before),
        cmocka_unit_test(another_thing_beside_it_is_no_reason),
    };
    return cmocka_run_group_tests(tests, open_reader, close_reader);
}
