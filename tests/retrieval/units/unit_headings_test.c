/* unit_headings_test.c - which lines of plain text head what stands below them. */
#include "tests/retrieval/units/units_fixture.h"

static void a_heading_may_stand_between_drawn_lines(void **state) {
    (void)state;
    const char *text = "Minutes of the board\n\n=====\nMeeting of 3 May, 18:00\n=====\n"
                       "Present: all. The chair thanked them.\n\n"
                       "-----\n4 June\nThe boathouse opens again\n\nIt was wet inside.\n\n"
                       "-----\nPrinted by: Holt\n\nOn paper.\n";
    read_units(text);
    expect(text, "Present: all.", TEXT_UNIT_SENTENCE, "Meeting of 3 May, 18:00");
    expect(text, "It was wet inside.", TEXT_UNIT_SENTENCE, "4 June\nThe boathouse opens again");
    expect(text, "-----\nPrinted by: Holt", TEXT_UNIT_SENTENCE,
           "4 June\nThe boathouse opens again");
}

static void each_sentence_below_a_label_answers_by_itself(void **state) {
    (void)state;
    const char *text =
        "Savings\n\nSavings book: 0.60 % a year. Up to 2,000 euros may be drawn in a "
        "month. It ends with the holder.\n\nBoxes\n\nWhen: 21 December\n\n"
        "CARE\nClean the filter each day. Run a drum cleaning now and then.\n"
        "Descale twice a year where the water is hard.\n";
    read_units(text);
    expect(text, "Savings book: 0.60 % a year.", TEXT_UNIT_SENTENCE, "Savings");
    expect(text, "Up to 2,000 euros may be drawn in a month.", TEXT_UNIT_SENTENCE, "Savings");
    expect(text, "When: 21 December", TEXT_UNIT_ITEM, "Boxes");
    expect(text, "CARE\nClean the filter each day.", TEXT_UNIT_DEFINITION, "Boxes");
    expect(text, "Descale twice a year where the water is hard.", TEXT_UNIT_SENTENCE, "CARE");
    text = "Contact\n\nDesk: 0800 1, all day. Claims: within 14 days. Sites: ask for "
           "Jo.\n\nEnd\n\nOn.";
    read_units(text); /* of whom to ask the list stays whole */
    expect(text, "Desk: 0800 1, all day. Claims: within 14 days. Sites: ask for Jo.",
           TEXT_UNIT_ITEM, "Contact");
}

static void read_part(const char *text, bool followed) {
    fo_err err = {0};
    assert_ok(text_units_read_part(&units, text, strlen(text), 0, followed, &err), &err);
}

/* A passage may end with the heading of the next one: that answers nothing. What ends the document does. */
static void a_heading_may_be_the_last_line(void **state) {
    (void)state;
    static const char *const headings[] = {"7. GARANZIA E RICAMBI", "4. Животные", "ПРАВИЛА",
                                           "OPENING TIMES"};
    static const char *const others[] = {"OPEN: 9 TO 5", "3. Total 40 euros", "Twelve oars"};
    char text[160];
    for (size_t i = 0; i < sizeof headings / sizeof *headings; i++) {
        snprintf(text, sizeof text, "Boats are for hire.\n\n%s", headings[i]);
        read_part(text, true);
        expect(text, headings[i], TEXT_UNIT_HEADING, "");
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        snprintf(text, sizeof text, "Boats are for hire.\n\n%s", others[i]);
        read_part(text, true);
        assert_int_not_equal(units.v[units.n - 1].kind, TEXT_UNIT_HEADING);
    }
    const char *notice = "# Park\n\nRoses grow by the door.\n\nNO DOGS ALLOWED";
    read_units(notice);
    expect(notice, "NO DOGS ALLOWED", TEXT_UNIT_SENTENCE, "# Park");
    notice = "Dear guests,\n\nthe lift is closed.\n\nYour warden Ulla Stern\n\nLINDEN HOUSE";
    read_units(notice); /* whoever signs it heads nothing */
    expect(notice, "Your warden Ulla Stern", TEXT_UNIT_SENTENCE, "");
    notice = "The lift is closed.\n\nYour room\n\nNO SMOKING";
    read_units(notice);
    expect(notice, "NO SMOKING", TEXT_UNIT_SENTENCE, "Your room");
    const char *steps = "1. Open the lid\n\n2. Close the lid"; /* no headings but steps */
    read_units(steps);
    expect(steps, "2. Close the lid", TEXT_UNIT_ITEM, "");
}

static void a_number_above_points_is_that_of_a_section(void **state) {
    (void)state;
    const char *text = "4. Child lock\nPress both keys for five seconds until the light is on.\n\n"
                       "5. Cleaning\n- Filter: rinse it each week.\n- Seal: wipe it each month.\n";
    read_units(text);
    expect(text, "- Seal: wipe it each month.", TEXT_UNIT_ITEM, "5. Cleaning");
    text = "1. Prepare\n- the cup\n- the tea\n2. Pour\n"; /* steps */
    read_units(text);
    expect(text, "1. Prepare", TEXT_UNIT_ITEM, "");
}

/* Letters of Cyrillic are small or capitals, too: a sentence of theirs is no heading in capitals. */
static void capitals_are_those_of_any_script(void **state) {
    (void)state;
    const char *text = "Правила\nСобаки в лодке на поводке. Детей берут бесплатно.\n\n"
                       "ОБЩИЕ ПРАВИЛА\nБагаж до 20 кг берут бесплатно.\n";
    read_units(text);
    expect(text, "Багаж до 20 кг берут бесплатно.", TEXT_UNIT_SENTENCE, "ОБЩИЕ ПРАВИЛА");
    for (size_t i = 0; i < units.n; i++)
        if (units.v[i].kind == TEXT_UNIT_HEADING)
            assert_true(is(text, units.v[i].start, units.v[i].end, "ОБЩИЕ ПРАВИЛА"));
}

/* Article 3: pets; 4: parking; "the first, and the second" is no number of a part. */
static void parts_of_chinese_rules_are_headings(void **state) {
    (void)state;
    const char *text =
        "第三条 宠物\n  每户最多饲养两只犬。犬只出户必须牵绳。\n四、停车\n车位月租 350 元。\n"
        "第五条 本公约自公布之日起施行。\n";
    read_units(text);
    expect(text, "每户最多饲养两只犬。", TEXT_UNIT_SENTENCE, "第三条 宠物");
    expect(text, "犬只出户必须牵绳。", TEXT_UNIT_SENTENCE, "第三条 宠物");
    expect(text, "车位月租 350 元。", TEXT_UNIT_SENTENCE, "四、停车");
    expect(text, "第五条 本公约自公布之日起施行。", TEXT_UNIT_SENTENCE, "四、停车");
}

static void a_numbered_line_of_arabic_heads_what_is_below(void **state) {
    (void)state;
    static const char text[] = "أهلًا بكم.\n\n٣. ضبط الحرارة\nالمستوى الافتراضي 3. اختر المستوى 5 "
                               "في الشتاء.\n\nمادة ٤: السطح\nنشر الغسيل "
                               "مسموح حتى الغروب.\n\n١. افتح الباب\n٢. أغلق الباب\nانتظر قليلًا.\n";
    read_units(text);
    expect(text, "اختر المستوى 5 في الشتاء.", TEXT_UNIT_SENTENCE, "٣. ضبط الحرارة");
    expect(text, "نشر الغسيل مسموح حتى الغروب.", TEXT_UNIT_SENTENCE, "مادة ٤: السطح");
    static const char office[] =
        "أهلًا بكم.\n\nمكتب المفقودات\nفي مستودع الحافلات بشارع الورد، الطابق الأرضي.\n";
    read_units(office);
    expect(office, "في مستودع الحافلات بشارع الورد، الطابق الأرضي.", TEXT_UNIT_SENTENCE,
           "مكتب المفقودات");
}

/* A diary has the day of each entry right above it. */
static void a_day_heads_its_entry(void **state) {
    (void)state;
    const char *text = "DIARY OF THE MILL\n\n9 March\nThe wheel is stuck. Ice was in the race.\n\n"
                       "Tuesday, 2 June 2026\nFlour for the fair was ground.\n\n"
                       "The miller came on\n\n4 May\nand left again. It rained.\n\n"
                       "3 May 2026 the dam broke\nAll were safe.\n";
    read_units(text);
    expect(text, "The wheel is stuck.", TEXT_UNIT_SENTENCE, "9 March");
    expect(text, "Ice was in the race.", TEXT_UNIT_SENTENCE, "9 March");
    expect(text, "Flour for the fair was ground.", TEXT_UNIT_SENTENCE, "Tuesday, 2 June 2026");
    expect(text, "4 May\nand left again.", TEXT_UNIT_SENTENCE, "The miller came on");
    expect(text, "3 May 2026 the dam broke\nAll were safe.", TEXT_UNIT_SENTENCE,
           "The miller came on");
}

/* "The pool opens at nine each day." between blank lines says so itself; "Fees" heads; what is asked heads its answer. */
static void a_sentence_of_any_script_is_no_heading(void **state) {
    (void)state;
    const char *text = "# 泳池\n\n泳池每天九点开放。\n\n停车每小时五元。\n\n收费\n\n食堂在一楼。\n";
    read_units(text);
    expect(text, "泳池每天九点开放。", TEXT_UNIT_SENTENCE, "# 泳池");
    expect(text, "停车每小时五元。", TEXT_UNIT_SENTENCE, "# 泳池");
    expect(text, "食堂在一楼。", TEXT_UNIT_SENTENCE, "收费");
    text = "# 規則\n\n猫は二匹まで飼えます！\n\n当館は坂の上にあります。\n";
    read_units(text);
    expect(text, "猫は二匹まで飼えます！", TEXT_UNIT_SENTENCE, "# 規則");
    text = "泳池几点开放？\n\n每天九点。\n";
    read_units(text);
    expect(text, "泳池几点开放？", TEXT_UNIT_HEADING, "");
    expect(text, "每天九点。", TEXT_UNIT_SENTENCE, "泳池几点开放？");
}

/* A page of settings has one word above each, right below the text of the one before. */
static void the_name_of_a_setting_heads_what_is_said_of_it(void **state) {
    (void)state;
    const char *text = "Quoted text is drawn in grey by the pager, whatever its level is.\n"
                       "drawer\n\nType: number\nDefault: 10\n\nHow many cards it holds.\n"
                       "sig_on_top\n\nType: boolean\nDefault: no\n\n"
                       "If set, the name is put before the text.\n"
                       "Cards\n\nare kept in drawers.\n";
    read_units(text);
    expect(text, "How many cards it holds.", TEXT_UNIT_SENTENCE, "drawer");
    expect(text, "If set, the name is put before the text.", TEXT_UNIT_SENTENCE, "sig_on_top");
    expect(text, "are kept in drawers.", TEXT_UNIT_SENTENCE, "sig_on_top"); /* "Cards" is none */
    text = "Settings\n\ndrawer.log_size\n\nType: number. Default: 12. How many lines it has. It is "
           "read "
           "whole.\n"; /* one paragraph is a term with all that is said of it */
    read_units(text);
    expect(text,
           "drawer.log_size\n\nType: number. Default: 12. How many lines it has. It is read whole.",
           TEXT_UNIT_DEFINITION, "Settings");
}

/* "NAME ps - report a snapshot" would say the heading, too. */
static void sections_of_a_manual_head_what_is_indented_below(void **state) {
    (void)state;
    const char *text =
        "NAME\n  tide - when the water is high\n\nNOTES\n\tThe gauges are old.\n\n"
        "OPTIONS\n  -q, --quiet\n  Say nothing.\n\nATM\n  The machine that gives money.\n\n"
        "FILES\nThe gates are in it.\n";
    read_units(text);
    expect(text, "tide - when the water is high", TEXT_UNIT_SENTENCE, "NAME");
    expect(text, "The gauges are old.", TEXT_UNIT_SENTENCE, "NOTES");
    expect(text, "-q, --quiet\n  Say nothing.", TEXT_UNIT_DEFINITION, "OPTIONS");
    expect(text, "ATM\n  The machine that gives money.", TEXT_UNIT_DEFINITION, "OPTIONS");
    expect(text, "FILES\nThe gates are in it.", TEXT_UNIT_DEFINITION, "OPTIONS"); /* not indented */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_name_of_a_setting_heads_what_is_said_of_it),
        cmocka_unit_test(a_heading_may_stand_between_drawn_lines),
        cmocka_unit_test(each_sentence_below_a_label_answers_by_itself),
        cmocka_unit_test(a_heading_may_be_the_last_line),
        cmocka_unit_test(a_number_above_points_is_that_of_a_section),
        cmocka_unit_test(capitals_are_those_of_any_script),
        cmocka_unit_test(parts_of_chinese_rules_are_headings),
        cmocka_unit_test(a_numbered_line_of_arabic_heads_what_is_below),
        cmocka_unit_test(a_day_heads_its_entry),
        cmocka_unit_test(a_sentence_of_any_script_is_no_heading),
        cmocka_unit_test(sections_of_a_manual_head_what_is_indented_below),
    };
    return cmocka_run_group_tests(tests, NULL, forget);
}
