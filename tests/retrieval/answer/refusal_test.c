/* refusal_test.c - that the documents do not answer is said in the question's language. */
#include "retrieval/answer/refusal.h"
#include "tests/test.h"

static void it_is_said_in_the_language_of_the_question(void **state) {
    (void)state;
    static const struct {
        const char *question, *word;
    } cases[] = {{"How high is the moon?", "documents do not"},
                 {"Wie hoch ist der Mond?", "Dokumente"},
                 {"Quelle est la hauteur de la lune ?", "ne répondent pas"},
                 {"¿Cuál es la altura de la luna?", "no responden"},
                 {"Qual è l'altezza della luna?", "non rispondono"},
                 {"Qual é a altura da lua?", "não respondem"},
                 {"Какова высота луны?", "нет ответа"},
                 {"月亮有多高?", "没有回答"},
                 {"月の高さはどのくらいですか?", "答えがありません"},
                 {"ما هو ارتفاع القمر؟", "لا تجيب"},
                 {"चाँद कितना ऊँचा है?", "उत्तर नहीं"},
                 {"¿Cuánto cuesta la entrada?", "no responden"},
                 {"¿Cuánto vale la ruta?", "no responden"},
                 {"¿Cuándo viene la grúa?", "no responden"},
                 {"cuanto vale la ruta", "no responden"},
                 {"¿Puedo fumar?", "no responden"},
                 {"¿Cuándo nació Cervantes?", "no responden"},
                 {"could you write me a poem", "documents do not"},
                 {"Can I come on Monday?", "documents do not"},
                 {"Combien faut-il payer ?", "ne répondent pas"},
                 {"Puis-je fumer ?", "ne répondent pas"},
                 {"Darf geraucht werden?", "Dokumente"},
                 {"Quanto costa l'ingresso?", "non rispondono"},
                 {"Quanto custa a entrada?", "não respondem"},
                 {"tar -xzf", "documents do not"},
                 {"", "documents do not"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *said = refusal_text(cases[i].question, NULL, true);
        if (!strstr(said, cases[i].word)) fail_msg("%s: %s", cases[i].question, said);
        const char *none = refusal_text(cases[i].question, NULL, false);
        assert_string_not_equal(said, none);
    }
}

static void where_it_does_not_tell_it_is_said_in_that_of_the_documents(void **state) {
    (void)state;
    assert_non_null(strstr(refusal_text("Größe?", "german", true), "Dokumente"));
    assert_non_null(strstr(refusal_text("Poissons rouges", "french", true), "ne répondent pas"));
    assert_non_null(strstr(refusal_text("la ruta", "spanish", true), "no responden"));
    assert_non_null(strstr(refusal_text("Where is it?", "french", true), "documents do not"));
    assert_non_null(strstr(refusal_text("tar -xzf", "dutch", true), "documents do not"));
    assert_non_null(strstr(refusal_text("tar -xzf", NULL, true), "documents do not"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_said_in_the_language_of_the_question),
        cmocka_unit_test(where_it_does_not_tell_it_is_said_in_that_of_the_documents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
