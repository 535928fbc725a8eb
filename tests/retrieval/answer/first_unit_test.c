/* first_unit_test.c - which of several units that are about as likely is said first: the one that names what is asked about,
 * counts it, is the row for the amount, or reads as a better answer than a list of steps. With the reader inside the binary. */
#include "tests/retrieval/answer/reader_fixture.h"

static void what_names_or_is_what_is_asked_for_leads(void **state) {
    (void)state;
    static const struct {
        const char *question, *title, *text, *first, *never;
    } cases[] = {
        {"How many days of skiing are covered?", "Travel Cover: summary of benefits",
         "Length of trips\n\nEach trip may last up to 31 days. Winter sports are covered for 17 "
         "days "
         "in the whole year, and only because the winter sports extra has been paid for.\n\n"
         "Benefits\n\nBenefit | Limit per person | Excess\nCash | £250 | £75\nPassport | £200 | "
         "none\nSkiing pack, covered | £400 | £75\n",
         "Winter sports are covered for 17 days", "Skiing pack"},
        {"What dose of Allernil does a 4 year old get?", "Allernil oral solution: leaflet",
         "How much to take\n\nAge | Dose | How often\n2 to 5 years | 2.5 ml | twice a day\n"
         "6 to 11 years | 5 ml | twice a day\n12 years and over | 10 ml | once a day\n\n"
         "Children below 2 years must not have Allernil.\n\nUse the syringe in the box. For hay "
         "fever, begin one week before the pollen season. Without a doctor's advice, do not use it "
         "for longer than 30 days; for children under 6, not longer than 14 days.\n",
         "Age: 2 to 5 years; Dose: 2.5 ml", "longer than 30 days"},
        {"My luggage arrived two days late, what do I get from the travel insurance?",
         "Travel Cover: summary of benefits",
         "Benefits\n\nBenefit | Limit per person | Excess\nCash | £250 | £75\n"
         "Baggage delayed more than 12 hours | £150 | none\nPassport | £200 | none\n\n"
         "How to claim\n\n1. Theft: get a police report within 48 hours.\n"
         "2. Baggage lost by an airline: get a report before you leave the airport.\n"
         "3. Send the claim form within 60 days after you come home.\n",
         "Benefit: Baggage delayed more than 12 hours; Limit per person: £150", "3. Send"},
        {"Can I have a beer while taking Allernil?", "Allernil oral solution: leaflet",
         "Warnings\n\n- Driving: Do not drive or use machines until you know how it affects you.\n"
         "- Alcohol: One glass of wine does no harm. More than that strengthens the drowsiness.\n"
         "- Epilepsy: Talk to your doctor before using it.\n\n"
         "Contains sorbitol. People who cannot tolerate fructose should not take it. It contains "
         "no "
         "sugar and no alcohol.\n",
         "- Alcohol: One glass of wine does no harm.", "People who cannot"},
    };
    int failed = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const passage p = {.text = cases[i].text,
                           .len = strlen(cases[i].text),
                           .title = cases[i].title,
                           .sparse = 5};
        extractive_answer a = ask_passages(cases[i].question, &p, 1);
        const bool met = !strncmp(a.text, cases[i].first, strlen(cases[i].first)) &&
                         !strstr(a.text, cases[i].never);
        if (!met) fprintf(stderr, "%s\n  %s\n", cases[i].question, a.text);
        failed += !met;
        extractive_answer_deinit(&a);
    }
    assert_int_equal(failed, 0);
}

/* What a mail quotes may hold no longer: where it says the same anew that leads, and else what is quoted answers. */
static void what_a_mail_says_goes_before_what_it_quotes(void **state) {
    (void)state;
    static const char mail[] =
        "Hi Ada,\n\nabout the boat: I gave you the wrong time in my first mail. The\nboat leaves "
        "at "
        "9:15, not 9:45, so please be at the east pier by 8:50.\n\nSee you, Bo\n\n"
        "On Mon, 9 Mar 2026, Bo wrote:\n\n> - The boat leaves at 9:45 from the east pier.\n"
        "> - Dogs travel for 4 pounds and stay on a lead.\n";
    const passage p = {.text = mail, .len = strlen(mail), .title = "Re: outing", .sparse = 5};
    extractive_answer a = ask_passages("When does the boat leave from the east pier?", &p, 1);
    assert_int_equal(strncmp(a.text, "The boat leaves at 9:15, not 9:45", 33), 0);
    assert_null(strstr(a.text, "at 9:45 from"));
    extractive_answer_deinit(&a);
    a = ask_passages("How much do dogs cost?", &p, 1);
    assert_non_null(strstr(a.text, "Dogs travel for 4 pounds"));
    extractive_answer_deinit(&a);
}

/* What says that it corrects the quoted need not read as an answer of its own; what is quoted and not taken back answers. */
static void what_takes_back_what_a_mail_quotes_goes_before_it(void **state) {
    (void)state;
    static const char mail[] =
        "Hello,\n\none correction to Wanda's list: Nils no longer has a bunk, he gave it to Vera "
        "on Monday.\n\nThe cook is ill and somebody else has to do it.\n\nTove\n\n"
        "Wanda Holm wrote on 6 May:\n\n"
        "> These have bunks in the cabin: Wanda, Nils, Wim, Tove. The cabin is locked at ten.\n";
    const passage p = {.text = mail, .len = strlen(mail), .title = "Re: cabin", .sparse = 5};
    extractive_answer a = ask_passages("Who has a bunk in the cabin now?", &p, 1);
    if (!strstr(a.text, "Nils no longer has a bunk") || strstr(a.text, "These have"))
        fail_msg("%s", a.text);
    extractive_answer_deinit(&a);
    a = ask_passages("When is the cabin locked?", &p, 1);
    assert_non_null(strstr(a.text, "locked at ten"));
    assert_null(strstr(a.text, "no longer"));
    extractive_answer_deinit(&a);
}

/* In a thread the newest word on a day holds, whatever words it uses: it names the day again that holds no longer, or says all that the older
 * one says. What is asked of the first plan is told it. */
static void the_newest_day_of_a_thread_leads(void **state) {
    (void)state;
    static const char mail[] =
        "The carrier has just rung. They cannot do the 14th after all, it will be the 17th.\n\n"
        "Ola\n\nDilys wrote on 1 Sep 2026:\n\n> Good. And who puts it up?\n\n"
        "> Ola wrote on 31 Aug 2026:\n\n>> Delivery of the shed is on Monday 14 September.\n\n"
        ">> Dilys wrote on 28 Aug 2026:\n\n>>> I will take the bigger one then.\n\n"
        ">>> Ola wrote on 27 Aug 2026:\n\n"
        ">>>> Delivery of the shed would be on the 10th of September and costs 35 pounds.\n";
    const passage p = {.text = mail, .len = strlen(mail), .title = "Re: delivery", .sparse = 5};
    extractive_answer a = ask_passages("When is the delivery of the shed?", &p, 1);
    if (!strstr(a.text, "after all, it will be the 17th") || strstr(a.text, "10th") ||
        strstr(a.text, "Monday 14"))
        fail_msg("%s", a.text);
    extractive_answer_deinit(&a);
    a = ask_passages("When was the delivery of the shed to be originally?", &p, 1);
    assert_null(strstr(a.text, "They cannot"));
    extractive_answer_deinit(&a);
    static const char other[] =
        "The invoice is due on 30 September now.\n\nOla\n\nOla wrote on 31 Aug 2026:\n\n"
        "> Delivery of the shed is on Monday 14 September.\n";
    const passage of_other = {
        .text = other, .len = strlen(other), .title = "Re: delivery", .sparse = 5};
    a = ask_passages("When is the delivery of the shed?", &of_other, 1);
    assert_int_equal(strncmp(a.text, "Delivery of the shed is on", 26), 0);
    extractive_answer_deinit(&a);
}

/* Prices of other things are not said beside that of what is asked about. */
static void the_price_of_what_is_asked_about_is_said_alone(void **state) {
    (void)state;
    static const char classes[] =
        "Classes\n-------\nClasses are included in Peak and Family memberships. Others pay £4.50 "
        "a\nclass. Booking opens 7 days ahead, at 8 am. Hot yoga and personal training always "
        "cost\nextra: £8 and £32 a session.\n";
    static const char prices[] =
        "Memberships\n-----------\nPeak (any time)                      £39 a month\n"
        "Student (with a valid card)          £24 a month\n"
        "Swim only                            £22 a month\n"
        "Day visitor                          £9 a visit\n";
    const passage p[] = {
        {.text = classes, .len = strlen(classes), .title = "Leisure Club", .sparse = 5},
        {.text = prices, .len = strlen(prices), .title = "Leisure Club", .sparse = 4}};
    extractive_answer a = ask_passages("How much is the gym for students?", p, 2);
    assert_string_equal(a.text, "Student (with a valid card) £24 a month [1]");
    extractive_answer_deinit(&a);
}

/* ... of two that say the same of a thing, the one without a condition of which nothing was asked. */
static void what_holds_without_a_condition_leads(void **state) {
    (void)state;
    static const char text[] =
        "The lockers of the hall are numbered from 1 to 80 and may be booked for a day.\n\n"
        "If it is set to false then whenever a visitor books the same locker as another existing "
        "visitor then the new visitor's booking will be closed and the deposit returned.\n\n"
        "As a rule, whenever a visitor books the same locker as another existing visitor then the "
        "existing visitor's booking will be closed and the deposit returned.\n";
    const passage p = {.text = text, .len = strlen(text), .title = "Lockers", .sparse = 5};
    extractive_answer a =
        ask_passages("Two visitors book the same locker, what happens to the first one?", &p, 1);
    if (!a.lead || strncmp(a.lead, "As a rule", 9)) fail_msg("%s", a.lead);
    extractive_answer_deinit(&a);
    a = ask_passages("What happens to the new booking of the same locker if it is set to false?",
                     &p, 1);
    if (!a.lead || strncmp(a.lead, "If it", 5)) fail_msg("%s", a.lead);
    extractive_answer_deinit(&a);
}

/* ... and of things of one kind the one that is named by its ordinal, its title or its number; the others are not said beside it. */
static void the_one_that_is_named_is_said_alone(void **state) {
    (void)state;
    static const char music[] =
        "# Ottilie Brand\n\n## Career\n\nThe First Symphony (1868) was received coolly, and the "
        "critic Emil Tarr called it dull. The Second, in D major, first heard in 1875 under the "
        "conductor Ludvig Aaren, became her greatest success. The Third (1884) is slow. The "
        "Fourth, finished in 1898, was not heard during her lifetime; it was given for the first "
        "time in 1931 in Vess, conducted by Irma Lodd.\n";
    static const char review[] =
        "A review of \"The Tide Clerk\" by Leonard Fask.\n\nRuth Abend's translation is a delight. "
        "\"Salt Ration\" had been translated by Colin Perr, who smoothed away what he lets stand. "
        "The maps are by Minna Lorn.\n";
    static const char codes[] =
        "Errors\n\nStatus | Meaning | Retry\n409 | Conflict | no\n502 | The carrier does not "
        "answer | yes, after 30 seconds\n\nLimits\n\nWhen a limit is hit, the reply is 429 with a "
        "time to retry after in seconds.\n";
    static const char firm[] =
        "# Lindgar\n\nThe director of the works, Harald Stenn, had to go in 1995; his successor "
        "was "
        "Yvonne Castell. She stayed until 2011. Since then the works have been led by Farid Amran, "
        "who came from research.\n";
    assert_true(
        answer_says("Who conducted the Second Symphony of Brand?", music, "Ludvig Aaren", "Tarr"));
    assert_true(
        answer_says("Who conducted the Second Symphony of Brand?", music, "Ludvig Aaren", "Lodd"));
    assert_true(
        answer_says("When was the Fourth Symphony of Brand first heard?", music, "1931", "1875"));
    assert_true(answer_says("Who translated The Tide Clerk?", review, "Ruth Abend", "Colin"));
    assert_true(answer_says("Who translated Salt Ration?", review, "Colin Perr", "Minna"));
    assert_true(answer_says("Should I retry when I get a 502?", codes, "after 30 seconds", "429"));
    assert_true(
        answer_says("Who leads the works of Lindgar at present?", firm, "Farid Amran", "Castell"));
    assert_true(answer_says("Who was the director of Lindgar in 1995?", firm, "Harald Stenn",
                            "works have been led"));
}

/* A word in quotes that the question only uses, what came after a title or stands on it, and the ordinal of another thing set nothing
 * apart. */
static void what_is_only_named_alike_is_not_set_apart(void **state) {
    (void)state;
    static const char buttons[] = "# Drawing program\n\n\"Save\" writes the drawing to a file. "
                                  "\"Discard\" throws changes away. "
                                  "\"Print\" sends it to the printer.\n";
    static const char singer[] =
        "# Mira Lund\n\nMira Lund sings in Welsh. Her first album, \"Harbour Lights\", came out in "
        "2012.\n\n\"Winter Road\" opens it and runs for seven minutes. Her band has five "
        "members.\n";
    static const char dose[] =
        "# Vaccine\n\nThe basic course has two doses four weeks apart. A booster follows after ten "
        "years.\n\nThe first day after it you may feel tired. The third page is for the doctor.\n";
    static const char lunch[] =
        "# School lunch\n\nThe first year eats at 12. The second year eats at "
        "12:30.\n\nThe second helping is free.\n";
    static const double least = 0.3;
    assert_true(answer_surely_says("How do I get rid of changes I do not want to save?", buttons,
                                   "throws changes away", "printer", least));
    assert_true(answer_surely_says("How long is the opening song of Harbour Lights?", singer,
                                   "seven minutes", "band", least));
    assert_true(answer_says("How long after the first dose is the second?", dose,
                            "four weeks apart", "third page"));
    assert_true(answer_says("When does the second year eat?", lunch, "12:30", "helping"));
}

/* ... nor is beside a sure answer a value of the same kind that another section says of another thing. */
static void a_value_of_another_thing_is_not_added(void **state) {
    (void)state;
    static const char plant[] =
        "# Snow lantern\n\nThe snow lantern is a perennial plant of the mountains. It flowers "
        "while "
        "snow still lies on the ground, usually from the middle of March to the end of April, and "
        "at the upper limit until late May.\n";
    static const char *const others[] = {
        "## Description\n\nThe plant reaches 8 to 15 centimetres. Its leaves come up under the "
        "snow "
        "in February and wither in June.\n",
        "## Description\n\nThe plant reaches 8 to 15 centimetres. The lesser bell, which is "
        "smaller, flowers in June and July.\n"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        const passage p[] = {
            {.text = plant, .len = strlen(plant), .title = "Snow lantern", .sparse = 5},
            {.text = others[i], .len = strlen(others[i]), .title = "Snow lantern", .sparse = 4.7}};
        extractive_answer a = ask_passages("In which months does the snow lantern bloom?", p, 2);
        if (!strstr(a.text, "March") || strstr(a.text, "June")) fail_msg("%s", a.text);
        extractive_answer_deinit(&a);
    }
}

/* ... but what it is at another time of the year is. */
static void a_value_at_another_season_is_added(void **state) {
    (void)state;
    static const char island[] =
        "# Guide to Skarn island\n\n## Getting there\n\nThe ferry to "
        "Skarn leaves from Marl at 9 and "
        "at 15 every day in summer.\n\n## In winter\n\nBetween November "
        "and March boats to the island "
        "go on Tuesday and Friday at 10.\n\n## By air\n\nPlanes of Odell Air fly there from Dorn "
        "on Saturdays at noon.\n\n## Doctor\n\nThe doctor comes "
        "to the island at 10 on the "
        "first Monday of the month.\n";
    const passage p = {
        .text = island, .len = strlen(island), .title = "Guide to Skarn island", .sparse = 5};
    extractive_answer a = ask_passages("When can I get to Skarn?", &p, 1);
    if (!strstr(a.text, "at 15") || !strstr(a.text, "Friday")) fail_msg("%s", a.text);
    extractive_answer_deinit(&a);
}

/* ... and of what was decided at one meeting and another, the last, where that is asked for. */
static void what_was_decided_last_leads(void **state) {
    (void)state;
    static const char text[] =
        "# Minutes of the rowing club\n\n## Meeting of 18 January 2024\n\n"
        "The yearly fee for a locker in the boat house is set at 40 euros.\n\n"
        "## Meeting of 11 April 2024\n\n"
        "The yearly fee for a locker is raised to 55 euros.\n\n"
        "## Meeting of 2 March 2024\n\nThe painter is paid.\n";
    const passage p = {.text = text, .len = strlen(text), .title = "Minutes", .sparse = 5};
    extractive_answer a =
        ask_passages("What is the yearly fee for a locker in the boat house now?", &p, 1);
    if (!strstr(a.text, "55 euros") || strstr(a.text, "40 euros")) fail_msg("%s", a.text);
    extractive_answer_deinit(&a);
    a = ask_passages("What is the yearly fee for a locker in the boat house?", &p, 1);
    if (!strstr(a.text, "40 euros")) fail_msg("%s", a.text);
    extractive_answer_deinit(&a);
    /* what only mentions it later replaces nothing */
    static const char club[] = "# Minutes of the club\n\n## 12 January 2025\n\n"
                               "The logo of the club is blue and white.\n\n"
                               "## 9 March 2025\n\nThe logo was printed on shirts.\n";
    const passage logo = {.text = club, .len = strlen(club), .title = "Minutes", .sparse = 5};
    a = ask_passages("How does the logo of the club look now?", &logo, 1);
    if (!strstr(a.text, "blue and white")) fail_msg("%s", a.text);
    extractive_answer_deinit(&a);
}

/* ... and whoever held an office before is not said beside who holds it now. */
static void what_is_said_anew_of_another_replaces(void **state) {
    (void)state;
    static const struct {
        const char *text, *question, *now, *before;
    } cases[] = {
        {"# Rowing club Tarn: minutes\n\n## 3 March 2025\n\nThe treasurer is Ann Roe. The "
         "boathouse "
         "key is with Ann Roe.\n\n## 5 May 2025\n\nThe treasurer is Bo Keane. The boathouse key is "
         "with Bo Keane.\n",
         "Who is the treasurer now?", "Bo Keane", "The treasurer is Ann Roe"},
        {"# Choir of Alm: minutes\n\n## 12 January 2025\n\nThe rehearsal day of the choir is "
         "Tuesday.\n\n## 9 June 2025\n\nThe rehearsal day of the choir is Thursday.\n",
         "What is the rehearsal day of the choir now?", "Thursday", "Tuesday"},
        {"# Chess club: minutes\n\n## 12 January 2025\n\nIda Moe is the secretary.\n\n"
         "## 9 June 2025\n\nPer Dahl is the secretary.\n",
         "Who is the secretary now?", "Per Dahl", "Ida Moe"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const passage p = {
            .text = cases[i].text, .len = strlen(cases[i].text), .title = "Minutes", .sparse = 5};
        extractive_answer a = ask_passages(cases[i].question, &p, 1);
        if (!strstr(a.text, cases[i].now) || strstr(a.text, cases[i].before))
            fail_msg("%s", a.text);
        extractive_answer_deinit(&a);
    }
}

/* The item that has what is asked for is said without the others of its list. */
static void the_item_that_answers_is_said_without_its_list(void **state) {
    (void)state;
    static const char visit[] =
        "# Visit of Professor Okada\n\nThen I sum up what was settled:\n\n"
        "- The talk is in the Green Hall, on 3 December at 17:15. It holds 180 people.\n"
        "- The title is \"Rivers after the dam\". Professor Yumi Okada speaks for 50 minutes.\n"
        "- The hotel is the Linden, two nights from 2 to 4 December. The booking can be cancelled "
        "free of charge until 27 November; after that we pay the first night.\n"
        "- Her train arrives on 2 December at 16:38.\n";
    const passage p = {.text = visit, .len = strlen(visit), .title = "Mail", .sparse = 5};
    extractive_answer a =
        ask_passages("Until when can the hotel for Professor Okada be cancelled for free?", &p, 1);
    if (!strstr(a.text, "27 November") || strstr(a.text, "Green Hall")) fail_msg("%s", a.text);
    extractive_answer_deinit(&a);
    static const char modules[] =
        "# Modules\n\n## SOIL-101 Introduction to Soil Science\n\n- Credits: 6\n"
        "- Lecturer: Dr. Hanna Brook\n- Prerequisites: none\n- Offered: every autumn\n";
    const passage m = {.text = modules, .len = strlen(modules), .title = "Modules", .sparse = 5};
    a = ask_passages("Who teaches soil science?", &m, 1);
    if (!strstr(a.text, "Hanna Brook") || strstr(a.text, "Credits")) fail_msg("%s", a.text);
    extractive_answer_deinit(&a);
}

/* What a notice calls out at its end stands beside no answer that it shares nothing with. */
static void what_is_called_out_at_the_end_is_said_for_itself(void **state) {
    (void)state;
    static const char orders[] =
        "Orders of the week\n\nAnn Roe, 2 chairs: oak, oiled, to be delivered on Friday\n    by "
        "the "
        "van. Paid 340 euros.\nBo Keane, 1 table: beech. Paid 520 euros.\nCid Lorn, 4 stools: "
        "pine, unoiled, collected by himself\n    on Monday. Paid 200 euros.\n\nNO DOGS ALLOWED\n";
    const passage p = {.text = orders, .len = strlen(orders), .title = "Orders", .sparse = 5};
    extractive_answer a = ask_passages("Who ordered 4 stools?", &p, 1);
    if (!strstr(a.text, "Cid Lorn") || strstr(a.text, "DOGS")) fail_msg("%s", a.text);
    extractive_answer_deinit(&a);
    a = ask_passages("Are dogs allowed?", &p, 1);
    if (!strstr(a.text, "NO DOGS")) fail_msg("%s", a.text);
    extractive_answer_deinit(&a);
}

/* Where the best is sure, what is far behind it is not said because it stands beside it. */
static void what_is_far_behind_a_sure_answer_is_not_said(void **state) {
    (void)state;
    static const char rent[] =
        "# Ashby House, tenants' guide\n\n## 1. Rent and deposit\n\n"
        "A single room costs 312 euros, a room in a shared flat 268 euros, a studio 405 euros; "
        "heating, water and internet are included, electricity in studios is not. If a debit "
        "bounces, 7 euros are charged. The deposit is 600 euros for rooms and 900 euros for "
        "studios.\n\n## 2. Keys\n\nA lost key costs 45 euros.\n";
    const passage p = {
        .text = rent, .len = strlen(rent), .title = "Ashby House, tenants' guide", .sparse = 5};
    extractive_answer a =
        ask_passages("How much is the deposit for a studio in Ashby House?", &p, 1);
    if (!strstr(a.text, "900 euros for studios") || strstr(a.text, "bounces"))
        fail_msg("%s", a.text);
    extractive_answer_deinit(&a);
    /* but right behind it may stand what was asked for */
    static const char bath[] =
        "Sauna and pool: The outdoor pool is open from mid-May to the end of September, 8 a.m. to "
        "8 p.m. The sauna runs in winter only, daily from 4 to 9 p.m., and is free for guests; in "
        "summer it is heated on request for 18 euros. Towels lie in the changing room.\n";
    const passage q = {
        .text = bath, .len = strlen(bath), .title = "Information for guests", .sparse = 5};
    a = ask_passages("When is the sauna open?", &q, 1);
    if (!strstr(a.text, "from 4 to 9 p.m.")) fail_msg("%s", a.text);
    extractive_answer_deinit(&a);
}

/* What the section of a question begins with says yes or no, and what follows is understood behind it. */
static void yes_or_no_leads_below_a_question(void **state) {
    (void)state;
    static const char faq[] =
        "Questions about Stow\n\nCan I backup from multiple servers into a single repository?\n\n"
        "Yes, this is possible from the technical standpoint, but it is not recommended from the "
        "security perspective. Stow is built upon a defined attack model that cannot provide its "
        "guarantees for multiple clients using the same repository.\n\n"
        "Also, in order for the deduplication used by Stow to work, it needs to keep a local cache "
        "containing checksums of all file chunks already stored in the repository.\n\n"
        "Which file types are not preserved?\n\nSockets are left out.\n";
    const passage p = {
        .text = faq, .len = strlen(faq), .title = "Questions about Stow", .sparse = 5};
    extractive_answer a =
        ask_passages("can I back up several computers to the same repository with Stow?", &p, 1);
    /* said with its question, which has words that were not asked */
    static const char want[] =
        "Can I backup from multiple servers into a single repository? Yes, this is possible";
    if (strncmp(a.text, want, sizeof want - 1) != 0) fail_msg("%s", a.text);
    extractive_answer_deinit(&a);
}

/* "No" is the answer to what stands above it, not to what is asked. */
static void no_to_another_question_is_not_said(void **state) {
    (void)state;
    static const char faq[] = "Does Stow work with Ollama or OpenAI?\n\n"
                              "No, Stow asks no other server: it runs the model itself. "
                              "The GGUF files that such programs download can be loaded by it.\n\n"
                              "Which file types are not preserved?\n\nSockets are left out.\n";
    const passage p = {
        .text = faq, .len = strlen(faq), .title = "Questions about Stow", .sparse = 5};
    extractive_answer a = ask_passages("Can I load a GGUF file with Stow?", &p, 1);
    if (strncmp(a.text, "The GGUF files", 14) != 0) fail_msg("%s", a.text);
    extractive_answer_deinit(&a);
}

/* What is so on one system is no answer to who names none. */
static void what_holds_on_any_system_leads(void **state) {
    (void)state;
    static const char text[] =
        "The book of the clerk is a file. On Windows, the clerk looks for the file of his "
        "book below the folder %BOOKS%, and makes it. Else the clerk looks for the file of his "
        "book below the folder $BOOKS, and makes it.\n";
    const passage p = {.text = text, .len = strlen(text), .title = "Books", .sparse = 5};
    extractive_answer a =
        ask_passages("Where does the clerk look for the file of his book?", &p, 1);
    if (!a.lead || strncmp(a.lead, "Else", 4)) fail_msg("%s", a.lead);
    extractive_answer_deinit(&a);
    a = ask_passages("Where does the clerk look for the file of his book on Windows?", &p, 1);
    if (!a.lead || strncmp(a.lead, "On Windows", 10)) fail_msg("%s", a.lead);
    extractive_answer_deinit(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(yes_or_no_leads_below_a_question),
        cmocka_unit_test(no_to_another_question_is_not_said),
        cmocka_unit_test(what_names_or_is_what_is_asked_for_leads),
        cmocka_unit_test(the_item_that_answers_is_said_without_its_list),
        cmocka_unit_test(what_is_far_behind_a_sure_answer_is_not_said),
        cmocka_unit_test(the_one_that_is_named_is_said_alone),
        cmocka_unit_test(what_is_only_named_alike_is_not_set_apart),
        cmocka_unit_test(a_value_of_another_thing_is_not_added),
        cmocka_unit_test(a_value_at_another_season_is_added),
        cmocka_unit_test(what_was_decided_last_leads),
        cmocka_unit_test(what_is_called_out_at_the_end_is_said_for_itself),
        cmocka_unit_test(what_is_said_anew_of_another_replaces),
        cmocka_unit_test(what_holds_without_a_condition_leads),
        cmocka_unit_test(what_holds_on_any_system_leads),
        cmocka_unit_test(what_a_mail_says_goes_before_what_it_quotes),
        cmocka_unit_test(what_takes_back_what_a_mail_quotes_goes_before_it),
        cmocka_unit_test(the_newest_day_of_a_thread_leads),
        cmocka_unit_test(the_price_of_what_is_asked_about_is_said_alone),
    };
    return cmocka_run_group_tests(tests, open_reader, close_reader);
}
