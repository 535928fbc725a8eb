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
                 {"tar -xzf", "documents do not"},
                 {"", "documents do not"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *said = refusal_text(cases[i].question, true);
        if (!strstr(said, cases[i].word)) fail_msg("%s: %s", cases[i].question, said);
        const char *none = refusal_text(cases[i].question, false);
        assert_string_not_equal(said, none);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_said_in_the_language_of_the_question),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
