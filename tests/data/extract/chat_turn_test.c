/* Lines that messages begin with, as chat programs of several countries save them, and lines that only look like one. */
#include "tests/test.h"

#include "data/extract/chat_turn.h"

/* The message's speaker and what is said. */
static void is_said(const char *line, const char *name, const char *said) {
    chat_turn turn;
    if (!chat_turn_read(line, strlen(line), &turn)) fail_msg("no message: %s", line);
    char who[64] = {0};
    memcpy(who, line + turn.name, turn.n_name);
    assert_string_equal(who, name);
    assert_string_equal(line + turn.said, said);
}

static void a_date_and_a_time_begin_a_message(void **state) {
    (void)state;
    is_said("[28/05/2026, 18:02:11] Imke: ok", "Imke", "ok");
    is_said("\xE2\x80\x8E[28/05/2026, 18:02:11] Imke: \xE2\x80\x8E<attached>", "Imke",
            "<attached>");
    is_said("[28.05.26, 18:02:11] Imke: ok", "Imke", "ok");
    is_said("[5/28/26, 6:02:11\xE2\x80\xAFPM] Aunt Bo: ok", "Aunt Bo", "ok");
    is_said("[28/5/26, 6:02:11 p. m.] Bo: ok", "Bo", "ok");
    is_said("[2026-05-28 18:02:11] Dr. Weir: ok", "Dr. Weir", "ok");
    is_said("28/05/2026, 18:02 - Imke: ok: yes", "Imke", "ok: yes");
    is_said("28.05.26, 18:02 - Imke: ok", "Imke", "ok");
    is_said("28/05/2026 18:02 - Imke: ok", "Imke", "ok");
    is_said("28/05/2026 \xC3\xA0 18:02 - Imke : ok", "Imke", "ok");
    is_said("5/28/26, 6:02 PM - +49 170 0000000: ok", "+49 170 0000000", "ok");
    is_said("18:02, 28/05/2026 - Imke: ok", "Imke", "ok");
}

static void a_time_alone_begins_what_a_name_says(void **state) {
    (void)state;
    is_said("[09:02] Imke: ok", "Imke", "ok");
    is_said("09:02 <imke> ok", "imke", "ok");
}

/* What the program says itself has no speaker. */
static void nobody_need_be_named_behind_a_date(void **state) {
    (void)state;
    is_said("28.05.26, 18:02 - Imke added Bo", "", "Imke added Bo");
    is_said("[28.05.26, 18:02:11] Is it 12:30? Yes: then", "", "Is it 12:30? Yes: then");
}

static void other_lines_begin_none(void **state) {
    (void)state;
    static const char *const lines[] = {"",
                                        "[",
                                        "28/05/2026",
                                        "28/05/2026, 18:02",
                                        "28/05/2026, 18:02 Imke: ok",
                                        "09:02 Imke: ok",
                                        "09:02 - 10:00 swimming",
                                        "[3:16] For so it was",
                                        "[12] Weir, 2019: a survey",
                                        "1. Imke: ok",
                                        "28/05-2026, 18:02 - Imke: ok",
                                        "[28/05/2026, 18:02:11]"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        chat_turn turn;
        if (chat_turn_read(lines[i], strlen(lines[i]), &turn)) fail_msg("a message: %s", lines[i]);
    }
}

static void reads_no_further_than_the_line(void **state) {
    (void)state;
    const char line[] = "[28/05/2026, 18:02:11] Imke: ok";
    for (size_t n = 0; n < sizeof line; n++) {
        chat_turn turn;
        char *cut = malloc(n + 1);
        memcpy(cut, line, n);
        if (chat_turn_read(cut, n, &turn))
            assert_true(turn.name + turn.n_name <= turn.said && turn.said <= n);
        free(cut);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_date_and_a_time_begin_a_message),
        cmocka_unit_test(a_time_alone_begins_what_a_name_says),
        cmocka_unit_test(nobody_need_be_named_behind_a_date),
        cmocka_unit_test(other_lines_begin_none),
        cmocka_unit_test(reads_no_further_than_the_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
