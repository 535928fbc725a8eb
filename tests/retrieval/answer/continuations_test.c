/* continuations_test.c - what is said behind the best because it belongs to it, and what stands there and does not. With the
 * reader inside the binary. */
#include "tests/retrieval/answer/reader_fixture.h"

static const char home[] =
    "Accidental damage to televisions, computers and mirrors is included. Accidental damage to "
    "carpets and furniture (spilt paint, wine and the like) is covered only with the Plus option, "
    "which costs £3.20 a month. You do not have the Plus option.";
static const char phone[] =
    "A plan with a handset has a minimum term of 24 months.\n\nIf you leave before the minimum "
    "term "
    "is over, you pay 60% of the monthly charges that remain. The charge for the handset itself is "
    "always payable in full.";
static const char leaflet[] =
    "If you took too much: ring the poisons line, also if you feel well. If you forgot a dose: "
    "take "
    "it when you think of it, unless the next is due within 2 hours. Do not take a double dose.";
static const char car[] =
    "Warning lamps\n\nRed thermometer: The engine is too hot. Stop, let it run idle for two "
    "minutes, "
    "then switch off.\n\nAmber engine symbol, steady: Fault in the exhaust system. Have it looked "
    "at "
    "within a week. Amber engine symbol, flashing: Misfire. Drive below 40 mph to the nearest "
    "workshop, or the catalyst will be damaged.\n\nRed battery: The battery is not being charged.";
static const char pump[] = "The outdoor unit needs 40 cm of free space on every side except the "
                           "wall side. Do not start the "
                           "pump when the outdoor temperature is below minus 20 degrees.";

static const char fees[] = "2. FEES\n\nThe second child pays half of the care fee. For a third "
                           "child no care fee is charged. "
                           "Lunch is always paid in full.";
static const char gym[] = "You may pause for one to three months a year. A pause costs €5 a month; "
                          "with a doctor's note it "
                          "is free. Flex members cannot pause.";
static const char exits[] =
    "Notice is 30 days. Before the minimum term ends, we charge an early exit fee of 60% of the "
    "remaining monthly prices. This does not apply under section 3.";
static const char contract[] = "The electricity contract has a fixed term of 24 months, the gas "
                               "contract one of 12 months. After "
                               "the term either contract goes on without limit.";
static const char late[] =
    "Up to ten minutes late we treat you for the time that is left. After that the session is lost "
    "and is charged like a late cancellation. Towels are lent for 2 euros.";
static const char phones[] =
    "A call-back line was discussed; the call-back line would cost 190 a month. The council was in "
    "favour, "
    "five votes to one. It is to start on 15 January. The library opens in May.";
static const char board[] =
    "Minutes are kept for a year. The chair of the board is Renate Oduya; her deputy is Marek "
    "Stohl. Appeals against grades given by the chair are decided by the deputy.";
static const char honey[] =
    "The first harvest was in June. The water content is 17.2 % at the lane and 18.6 % at the "
    "quarry. Over 18 % we do not sell honey; that of the quarry is kept for baking.";
static const char lanterns[] =
    "On the last Saturday in August some 3,000 paper lanterns float down the Osk in memory of the "
    "ferry. If the river is higher than 2.8 metres, the lanterns are hung in the market instead.";
static const char folder[] =
    "Folders\n\nWhen a folder is out of step, a red \"Override\" button is shown below it.\n\n"
    "Clicking this button sends the state of this machine to all others.";
static void what_belongs_to_the_best_is_said_behind_it(void **state) {
    (void)state;
    static const struct {
        const char *question, *text, *said, *never;
    } cases[] = {
        {"Would the home insurance pay if I spill red wine on the sofa?", home,
         "a month. You do not have the Plus option.", "televisions"},
        {"What happens if I quit my phone contract early?", phone,
         "that remain. The charge for the handset itself is always payable in full.", "24 months"},
        {"What should I do if I forget to take my dose?", leaflet,
         "within 2 hours. Do not take a double dose.", "poisons"},
        {"What should I do when the engine symbol flashes?", car,
         "flashing: Misfire. Drive below 40 mph to the nearest workshop", "Red battery"},
        /* what holds beyond it, the other half of the question, who is meant */
        {"What happens if I am ten minutes late for the treatment?", late,
         "is left. After that the session is lost", "Towels"},
        {"How much would the call-back line cost and when does it begin?", phones,
         "190 a month. [1] It is to start on 15 January", "library"},
        {"How much would the call-back line cost?", phones, "190 a month.", "January"},
        {"Who decides appeals against grades that Renate Oduya gave?", board,
         "her deputy is Marek Stohl. Appeals against grades", "Minutes"},
        {"What happens to the lanterns when the Osk is too high?", lanterns,
         "If the river is higher", "paper lanterns"},
        {"Who decides appeals against grades of the chair?", board, "decided by the deputy",
         "Minutes"},
        {"Why isn't the quarry honey sold?", honey, "at the quarry. Over 18 % we do not", "June"},
        /* the best is a name alone */
        {"What is the sixth column of the list?",
         "The fifth column (dump).\n\nThis column is kept for old programs.\n\nThe sixth column "
         "(pass).\n\nThis column is used to order the checks. They are made at night.\n",
         "This column is used to order the checks.", "old programs"},
        /* it takes something of it back */
        {"What do we pay for a third child?", fees, "is charged. Lunch is always paid", "\n"},
        {"What does a pause of my gym membership cost?", gym, "free. Flex members cannot pause.",
         "\n"},
        {"How high is the early exit fee?", exits, "prices. This does not apply", "Notice"},
        {"What does a red \"Override\" button do?", folder, "Clicking this button sends the state",
         "without limit"},
        {"What should I do when Quill says that its index of papers is corrupt?",
         "Memory\n\nIndexes are small.\n\nBad memory\n\nWhen the index of papers is found to be "
         "corrupt Quill says so in "
         "its log and exits. To overcome this delete the folder called db and start anew. Bad "
         "memory is slow.",
         "and exits. To overcome this delete", "small"},
        /* what it is in another case */
        {"How much interest do I pay when I go over my agreed overdraft limit?",
         "You may be granted an overdraft. The interest is 9.9 % a year. If you go beyond it, it "
         "is "
         "14.4 % a year on the sum beyond. We may close it by letter.",
         "9.9 % a year. If you go beyond it, it is 14.4 %", "letter"},
        {"What does it cost when a glass breaks?",
         "For a glass that breaks the deposit is reduced by 20 euros. The deposit is reduced by "
         "half "
         "if the set comes late. Spoons are lent, too.",
         "20 euros. The deposit is reduced by half", "Spoons"},
        /* a figure further on is none of the value */
        {"How much is a return ticket?",
         "A return ticket costs 14 euros. When there is a storm, it is cancelled and runs again "
         "after 6 hours at the earliest. Dogs travel free.",
         "14 euros.", "storm"},
        {"What does a bicycle cost?",
         "A bicycle costs 4 euros. If the deck is full, this is possible only on the next ferry at "
         "15:30. Prams travel free.",
         "4 euros.", "deck"},
        {"May I fell a cherry tree in my garden?",
         "Trees of 80 cm or more in girth may be felled only with leave of the Environment Office. "
         "Fruit trees are exempt, except walnut. Hedges may be trimmed all year.",
         "Office. Fruit trees are exempt", "Hedges"},
        /* what the question says that it is without */
        {"Which grants can informal groups without a registered association get?",
         "## Who may apply\n\n- Registered charities and associations with their seat in the "
         "region.\n- Public bodies and schools: project and partnership grants only.\n- Informal "
         "groups of at least three adults from three different households: micro grants only.\n",
         "micro grants only", "Registered charities"},
        /* "without limit" takes nothing back */
        {"How long is the gas contract fixed for?", contract, "of 12 months.", "without limit"},
        {"My child threw up ten minutes after the dose, should I give it again?",
         "If it was less than 15 minutes ago, take the dose again. If it was longer ago, do not. "
         "Use the syringe in the box.",
         "again. If it was longer ago, do not.", "syringe"},
        {"How much is every extra sensor on Business?",
         "On Starter you pay 2 euros a month for each sensor beyond the plan, on Business 1.20 "
         "euros. On the free plan none can be added.",
         "1.20 euros. On the free plan none", "\n"},
        /* it says of the same thing something else */
        {"How many people does the van seat?",
         "The van seats nine people. The van is only washed by hand.", "nine people.", "washed"},
        {"What does the swimming course cost?",
         "The swimming course starts on 4 May and costs 90 euros. The swimming course is not held "
         "on the beach.",
         "90 euros.", "beach"},
        {"How many people does the lift take?",
         "The lift takes four people. The lift must not be used in a fire.", "four people.",
         "fire"},
        /* that is not asked */
        {"What does the engine symbol mean when it flashes?", car, "flashing: Misfire.", "Drive"},
        {"How much free space does the outdoor unit need?", pump, "40 cm", "Do not start"},
    };
    int failed = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        failed += !answer_says(cases[i].question, cases[i].text, cases[i].said, cases[i].never);
    }
    assert_int_equal(failed, 0);
}

/* Of two documents that say of the question the same, the one that says it best is enough. */
static void another_document_that_says_no_more_is_left_out(void **state) {
    (void)state;
    static const char policy[] =
        "You may leave the home unoccupied for up to 45 days in a row. In winter (1 November to 31 "
        "March), if you are away for more than 4 nights, you must "
        "either "
        "drain the water system or leave the heating on at no less than 15 °C. If you do neither, "
        "damage by frozen pipes will not be paid.";
    static const char tenancy[] = "From November to March the Tenant must keep the "
                                  "heating at 12 degrees or more, also when "
                                  "away, to keep pipes from freezing.";
    const passage p[] = {
        {.text = policy, .len = strlen(policy), .document = "policy.md", .sparse = 6},
        {.text = tenancy, .len = strlen(tenancy), .document = "tenancy.txt", .sparse = 5}};
    extractive_answer a =
        ask_passages("If I go on holiday for a week in January, what do I have to do so frozen "
                     "pipes are covered?",
                     p, 2);
    if (strstr(a.text, "Tenant")) fprintf(stderr, "%s\n", a.text);
    assert_non_null(strstr(a.text, "drain the water system"));
    assert_null(strstr(a.text, "Tenant"));
    extractive_answer_deinit(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_belongs_to_the_best_is_said_behind_it),
        cmocka_unit_test(another_document_that_says_no_more_is_left_out),
    };
    return cmocka_run_group_tests(tests, open_reader, close_reader);
}
