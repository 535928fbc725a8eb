/* contact_cards_test.c - what stands in the card of somebody else than the question names. */
#include "retrieval/answer/contact_cards.h"

#include "tests/retrieval/text/lexicon_fixture.h"
#include "tests/test.h"

static const char *const cards =
    "Kieran Dunmore\n\nOrganization: Dunmore Roofing\nTitle: Roofer\n"
    "Telephone (mobile): 07700 900412\n\nDid the porch in 2023.\n\n"
    "Bruna Orsini\n\nTitle: Architect\nTelephone (work): 01632 960745\n\n"
    "Wilf Pask\n\nTitle: Plumber\nBirthday: 1961-11-03\n\nBrother of Kieran Dunmore.\n";

/* What the unit that begins with `line` has for CAND_OTHER_THING. */
static double other_thing(const char *asked, const char *text, const char *line) {
    fo_err err = {0};
    candidate_set set = {0};
    const passage p = {.text = text, .len = strlen(text), .title = "", .document = "a.vcf"};
    const extractive_input in = {.question = asked, .passages = &p, .n_passages = 1, .lx = &lx};
    assert_ok(candidate_set_read(&set, &in, &err), &err);
    double found = -1;
    for (size_t i = 0; i < set.n; i++)
        if (strncmp(text + set.c[i].unit.start, line, strlen(line)) == 0)
            found = set.c[i].f[CAND_OTHER_THING];
    candidate_set_deinit(&set);
    if (found < 0) fail_msg("no unit '%s'", line);
    return found;
}

static void a_card_says_nothing_of_who_has_another(void **state) {
    (void)state;
    const char *q = "When is Kieran Dunmore's birthday?";
    assert_float_equal(other_thing(q, cards, "Birthday"), CAND_RIVAL, 0);
    assert_float_equal(other_thing(q, cards, "Telephone (mobile)"), 0, 0);
    assert_float_equal(other_thing(q, cards, "Brother of Kieran"), 0, 0);
    assert_float_equal(other_thing("When is Wilf's birthday?", cards, "Birthday"), 0, 0);
    assert_float_equal(other_thing("Whose birthday is in November?", cards, "Birthday"), 0, 0);
}

static void nor_of_who_is_something_else(void **state) {
    (void)state;
    const char *q = "What is the architect's mobile number?";
    assert_float_equal(other_thing(q, cards, "Telephone (mobile)"), CAND_RIVAL, 0);
    assert_float_equal(other_thing(q, cards, "Telephone (work)"), 0, 0);
}

static void other_documents_have_no_cards(void **state) {
    (void)state;
    static const char *const notes =
        "Kieran came at noon.\n\nThe roof leaks above the porch. Wilf was not there.\n\n"
        "Birthday: 3 November, at the Swan\n";
    assert_float_equal(other_thing("When is Kieran's birthday?", notes, "The roof leaks"), 0, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_card_says_nothing_of_who_has_another),
        cmocka_unit_test(nor_of_who_is_something_else),
        cmocka_unit_test(other_documents_have_no_cards),
    };
    return cmocka_run_group_tests(tests, open_lexicon, close_lexicon);
}
