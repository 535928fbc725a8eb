/* unit_reader_test.c - which sentences stand together as one unit. */
#include "tests/retrieval/units/units_fixture.h"

static void a_short_denial_stands_with_the_sentence_before(void **state) {
    (void)state;
    const char *text = "Animais\n\nAceitamos um c\u00E3o at\u00E9 15 kg. Gatos, n\u00E3o. O "
                       "c\u00E3o fica na sala.\n";
    read_units(text);
    expect(text, "Aceitamos um c\u00E3o at\u00E9 15 kg. Gatos, n\u00E3o.", TEXT_UNIT_SENTENCE,
           "Animais");
    expect(text, "O c\u00E3o fica na sala.", TEXT_UNIT_SENTENCE, "Animais");
    /* also below a word that the first of several sentences explains */
    text = "ANIMAIS\nAceitamos um c\u00E3o. Gatos, n\u00E3o. Ele dorme na sala. Paga 8 euros.\n\n"
           "PISCINA\nAbre em maio. Fecha em setembro. \u00C9 fria. Tem escada.\n";
    read_units(text);
    expect(text, "ANIMAIS\nAceitamos um c\u00E3o. Gatos, n\u00E3o.", TEXT_UNIT_DEFINITION, "");
    text =
        "Pets\n\nDogs are welcome in all rooms. Whether they may swim we do not know. It is not.\n";
    read_units(text);
    expect(text, "Dogs are welcome in all rooms.", TEXT_UNIT_SENTENCE, "Pets");
    expect(text, "It is not.", TEXT_UNIT_SENTENCE, "Pets");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_short_denial_stands_with_the_sentence_before),
    };
    return cmocka_run_group_tests(tests, NULL, forget);
}
