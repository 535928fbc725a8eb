/* Questions and answers that are marked as such, in several languages: the question heads its answer, and no other one's. */
#include "tests/retrieval/units/units_fixture.h"

static void a_marked_question_heads_its_answer(void **state) {
    (void)state;
    const char *text = "D: Le reti si asciugano\nall'aperto.\nR: Solo d'estate.\n\n"
                       "D: C'e' ruggine.\nR: Olio, due gocce.\nD: E i remi?\nR: Cera.";
    read_units(text);
    expect(text, "D: Le reti si asciugano\nall'aperto.", TEXT_UNIT_HEADING, "");
    expect(text, "Solo d'estate.", TEXT_UNIT_SENTENCE, "D: Le reti si asciugano\nall'aperto.");
    expect(text, "Olio, due gocce.", TEXT_UNIT_SENTENCE, "D: C'e' ruggine.");
    expect(text, "Cera.", TEXT_UNIT_SENTENCE, "D: E i remi?");
    static const char *const languages[][2] = {
        {"问：渔网怎么晾？", "答：挂起来。"},
        {"Вопрос: Где весла?", "Ответ: В сарае."},
        {"P: ¿Dónde están los remos?", "R: En el cobertizo."},
        {"F: Wo sind die Ruder?", "A: Im Schuppen."},
        {"**F:** Wo sind die Ruder?", "**A:** Im Schuppen."}};
    for (size_t i = 0; i < sizeof languages / sizeof *languages; i++) {
        char both[256];
        snprintf(both, sizeof both, "%s\n%s\n", languages[i][0], languages[i][1]);
        const char *said = strpbrk(languages[i][1], " ");
        if (!said) said = languages[i][1] + strlen("答：") - 1;
        read_units(both);
        expect(both, languages[i][0], TEXT_UNIT_HEADING, "");
        expect(both, said + 1, TEXT_UNIT_SENTENCE, languages[i][0]);
    }
}

static void marks_stand_on_lines_of_their_own(void **state) {
    (void)state;
    const char *text =
        "Q: How long is the guarantee?\nA:\nTwo years from the day you bought it.\n\n"
        "Q:\nWho mends it?\n\nA:\n\nThe dealer mends it.";
    read_units(text);
    expect(text, "Two years from the day you bought it.", TEXT_UNIT_SENTENCE,
           "Q: How long is the guarantee?");
    expect(text, "The dealer mends it.", TEXT_UNIT_SENTENCE, "Q:\nWho mends it?");
    for (size_t i = 0; i < units.n; i++)
        assert_false(is(text, units.v[i].start, units.v[i].end, "A:"));
}

/* One letter with a colon may stand for anything. */
static void wide_blanks_stand_behind_the_marks_of_japanese(void **state) {
    (void)state;
    const char *text =
        "問　水漏れが起きたときは。\n答　水栓を閉めてください。次に電話で知らせます。\n"
        "問　鍵をなくしました。\n答　管理人に届け出てください。\n";
    read_units(text);
    expect(text, "問　水漏れが起きたときは。", TEXT_UNIT_HEADING, "");
    expect(text, "管理人に届け出てください。", TEXT_UNIT_SENTENCE, "問　鍵をなくしました。");
    for (size_t i = 0; i < units.n; i++)
        assert_false(is(text, units.v[i].start, units.v[i].end, "答　管理人に届け出てください。"));
}

static void a_wide_blank_that_a_paragraph_begins_with_is_no_part_of_it(void **state) {
    (void)state;
    const char *text = "音\n\n　楽器の演奏は二十時までとします。届け出は要りません。\n";
    read_units(text);
    for (size_t i = 0; i < units.n; i++)
        assert_memory_not_equal(text + units.v[i].start, "　", strlen("　"));
}

static void dots_of_japanese_begin_items_of_a_list(void **state) {
    (void)state;
    const char *text = "演奏会\n　・入場料　当日千円\n　・会場　市の文化会館\n\n会場にはピアノとマ"
                       "イクと\n・照明の設備が大きくあります。\n";
    read_units(text);
    size_t items = 0;
    for (size_t i = 0; i < units.n; i++)
        items += !memcmp(text + units.v[i].start, "会場　", strlen("会場　")) ||
                 !memcmp(text + units.v[i].start, "・会場　", strlen("・会場　"));
    assert_int_equal(items, 1);
    for (size_t i = 0; i < units.n; i++)
        assert_memory_not_equal(text + units.v[i].start, "照明", strlen("照明"));
}

static void a_line_of_japanese_that_goes_on_with_a_dot_is_no_item(void **state) {
    (void)state;
    const char *text = "持ち物の一覧\n・水筒\n　と茶\n・弁当\n会費は500円\n・税込です。\nジョン\n・"
                       "レノンの曲です。\n";
    read_units(text);
    size_t items = 0;
    for (size_t i = 0; i < units.n; i++) {
        const char *unit = text + units.v[i].start;
        if (!memcmp(unit, "・", strlen("・"))) unit += strlen("・");
        items += !memcmp(unit, "水筒", strlen("水筒")) || !memcmp(unit, "弁当", strlen("弁当"));
        assert_memory_not_equal(unit, "税込", strlen("税込"));
        assert_memory_not_equal(unit, "レノン", strlen("レノン"));
    }
    assert_int_equal(items, 2);
}

static void letters_alone_mark_no_pairs(void **state) {
    (void)state;
    const char *text = "D: Dublin\nR: Rosslare\nThe ferries are white.";
    read_units(text);
    for (size_t i = 0; i < units.n; i++)
        assert_int_not_equal(units.v[i].head_end, strlen("D: Dublin"));
    text = "P: parking\nD: dogs\nR: rain shelter";
    read_units(text);
    expect(text, "D: dogs", TEXT_UNIT_ITEM, "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_marked_question_heads_its_answer),
        cmocka_unit_test(marks_stand_on_lines_of_their_own),
        cmocka_unit_test(wide_blanks_stand_behind_the_marks_of_japanese),
        cmocka_unit_test(a_wide_blank_that_a_paragraph_begins_with_is_no_part_of_it),
        cmocka_unit_test(a_line_of_japanese_that_goes_on_with_a_dot_is_no_item),
        cmocka_unit_test(dots_of_japanese_begin_items_of_a_list),
        cmocka_unit_test(letters_alone_mark_no_pairs),
    };
    return cmocka_run_group_tests(tests, NULL, forget);
}
