/* compound_words_test.c - compounds of a question that the documents write as two words. */
#include "retrieval/question/compound_words.h"

#include "tests/test.h"

static void expect(const char *asked, const char *text, const char *want) {
    fo_buf out = {0};
    const passage p = {.text = text, .len = strlen(text)};
    const bool changed = compound_words_as_written(&out, asked, &p, 1);
    if (changed != (want != NULL) || (changed && strcmp(out.data, want)))
        fail_msg("%s: '%s'", asked, changed ? out.data : "");
    fo_buf_free(&out);
}

static void a_compound_is_asked_for_by_its_parts(void **state) {
    (void)state;
    expect("Wie viele Plätze hat der Italienischkurs?", "Kurs: Italienisch A1; Plätze: 15",
           "Wie viele Plätze hat der Italienisch kurs?");
    expect("Wie hoch ist der Jahresbeitrag?", "Der Beitrag im Jahr beläuft sich auf 40 Euro.",
           "Wie hoch ist der Jahr beitrag?");
    expect("Wann ist die Mitgliederversammlung?", "Die Mitglieder treffen sich zur Versammlung.",
           "Wann ist die Mitglieder versammlung?");
}

static void what_the_documents_do_not_say_so_stays(void **state) {
    (void)state;
    expect("Wie hoch ist der Jahresbeitrag?", "Der Jahresbeitrag ist ein Beitrag im Jahr.", NULL);
    expect("Wie hoch ist die Katzensteuer?", "Die Steuer für Hunde ist 96 Euro.", NULL);
    expect("How high is the membership fee?", "The member fee of the ship", NULL);
    expect("Wie hoch ist er?", "Der Beitrag", NULL);
    expect("Wie laut ist der Geschirrspüler?", "Bleibt Geschirr nass, fehlt Klarspüler.", NULL);
}

static void the_parts_stand_in_one_passage(void **state) {
    (void)state;
    static const char first[] = "Katzen sind erlaubt.", second[] = "Die Steuer beträgt 96 Euro.";
    const passage apart[] = {{.text = first, .len = strlen(first)},
                             {.text = second, .len = strlen(second)}};
    fo_buf out = {0};
    assert_false(compound_words_as_written(&out, "Wie hoch ist die Katzensteuer?", apart, 2));
    fo_buf_free(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_compound_is_asked_for_by_its_parts),
        cmocka_unit_test(what_the_documents_do_not_say_so_stays),
        cmocka_unit_test(the_parts_stand_in_one_passage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
