/* What somebody said in a chat: whole, with who said it, and behind a question that somebody else asked. */
#include "tests/retrieval/units/units_fixture.h"

/* The unit with this text. */
static const text_unit *unit_of(const char *text, const char *unit) {
    for (size_t i = 0; i < units.n; i++)
        if (is(text, units.v[i].start, units.v[i].end, unit)) return &units.v[i];
    fail_msg("no unit '%s'", unit);
    return NULL;
}

static void a_turn_of_a_chat_follows_the_one_before(void **state) {
    (void)state;
    const char *text = "[09:26] Imke: ok. Who is on call?\n[09:27] Sunniva: Bo has the pager\n"
                       "until Friday, then me.";
    read_units(text);
    expect(text, "[09:27] Sunniva: Bo has the pager\nuntil Friday, then me.", TEXT_UNIT_TURN,
           "[09:26] Imke: ok. Who is on call?");
}

/* Several sentences without a stop at the end, of which the next message is no part. */
static void a_message_is_whole(void **state) {
    (void)state;
    const char *text = "[28/05/2026, 18:02:11] Imke: oats are Bo's. Barley is Sunniva\n"
                       "\xE2\x80\x8E[28/05/2026, 18:02:40] Sunniva: \xE2\x80\x8E<attached: 3.jpg>\n"
                       "[28/05/2026, 18:03:01] Bo: bring\n- tea\n- two cups\n"
                       "[28/05/2026, 18:04:30] Imke: I will";
    read_units(text);
    assert_int_equal(units.n, 4);
    expect(text, "[28/05/2026, 18:02:11] Imke: oats are Bo's. Barley is Sunniva", TEXT_UNIT_TURN,
           "");
    expect(text, "[28/05/2026, 18:03:01] Bo: bring\n- tea\n- two cups", TEXT_UNIT_TURN,
           "[28/05/2026, 18:02:40] Sunniva: \xE2\x80\x8E<attached: 3.jpg>");
    const text_unit *last = unit_of(text, "[28/05/2026, 18:04:30] Imke: I will");
    assert_memory_equal(text + last->body, "Imke: I will", 12);
    text = "28.05.26, 18:02 - Imke added Bo\n28.05.26, 18:04 - Bo: I take 3\nof the 4 keys\n"
           "28.05.26, 18:05 - Imke: 12 is my number";
    read_units(text);
    expect(text, "28.05.26, 18:04 - Bo: I take 3\nof the 4 keys", TEXT_UNIT_TURN,
           "28.05.26, 18:02 - Imke added Bo");
}

static void a_question_needs_no_mark(void **state) {
    (void)state;
    const char *text =
        "[09:26] Imke: good. and who locks the shed\n[09:27] Bo: Sunniva, with the blue key\n"
        "[09:28] Imke: when we come she is gone\n[09:29] Imke: is there a second key\n"
        "[09:30] Imke: found it\n"
        "[09:31] Bo: it hangs behind the clock. do you see it?\n[09:32] Imke: yes";
    read_units(text);
    assert_true(unit_of(text, "[09:26] Imke: good. and who locks the shed")->asks);
    assert_false(unit_of(text, "[09:28] Imke: when we come she is gone")->asks);
    assert_true(unit_of(text, "[09:29] Imke: is there a second key")->asks);
    /* it says something, too */
    assert_false(unit_of(text, "[09:31] Bo: it hangs behind the clock. do you see it?")->asks);
    assert_int_equal(unit_of(text, "[09:27] Bo: Sunniva, with the blue key")->head_kind,
                     TEXT_UNIT_TURN);
    assert_int_equal(unit_of(text, "[09:28] Imke: when we come she is gone")->head_kind,
                     TEXT_UNIT_HEADING);
    /* whoever asks does not answer */
    assert_int_equal(unit_of(text, "[09:30] Imke: found it")->head_kind, TEXT_UNIT_HEADING);
    assert_int_equal(unit_of(text, "[09:32] Imke: yes")->head_kind, TEXT_UNIT_TURN);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_turn_of_a_chat_follows_the_one_before),
        cmocka_unit_test(a_message_is_whole),
        cmocka_unit_test(a_question_needs_no_mark),
    };
    return cmocka_run_group_tests(tests, NULL, forget);
}
