/* fleeting_vowels_test.c - which words of a Russian text are other forms of a question's. */
#include "tests/test.h"

#include "index/sparse/language.h"
#include "retrieval/question/fleeting_vowels.h"
#include "tests/retrieval/text/lexicon_fixture.h"

/* Is a word of the text, which is no term of the question itself, one of its terms? */
static bool says(const char *language, const char *asked, const char *text) {
    const lexicon own = {analyzer_in(lx.analyzer, language_number(language)), NULL, NULL};
    question q = {0};
    fact_text t = {0};
    fo_err err = {0};
    bool same = false;
    assert_ok(question_read(&q, &own, asked, strlen(asked), &err), &err);
    assert_ok(fact_text_read(&t, own.analyzer, text, strlen(text), &err), &err);
    for (size_t i = 0; i < t.n_words; i++)
        same |= question_term_of(&q, t.words[i].id) < 0 && fleeting_vowel_term_of(&q, &t, i) >= 0;
    fact_text_deinit(&t);
    question_deinit(&q);
    return same;
}

static void a_vowel_comes_and_goes(void **state) {
    (void)state;
    static const struct {
        const char *language, *asked, *text;
        bool same;
    } cases[] = {
        {"russian", "Сколько игрушек?", "Игрушка лежит здесь.", true},
        {"russian", "Сколько окон?", "Окно моют весной.", true},
        {"russian", "Где копейка?", "Сорок копеек.", true},
        {"russian", "Где ребёнок?", "Ребёнка забирают родители.", true},
        {"russian", "город большой", "гордый сосед", false},
        {"russian", "урок музыки", "рук не мыть", false},
        {"russian", "сон", "сн", false},
        {"russian", "Где порок?", "Прок есть.", false},
        {"russian", "Сколько троек?", "Трок лежит здесь.", false}, /* no vowel behind a vowel */
        /* A stem is looked at to its end, and not at the word behind it. */
        {"russian", "Где крюкток?", "Крюк ток держит.", false},
        /* Letters of one byte among those of two. */
        {"russian", "Сколько игрушек?", "Игрушxк лежит здесь.", false},
        {"russian", "Где xигрек?", "Здесь xигрyк.", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (says(cases[i].language, cases[i].asked, cases[i].text) != cases[i].same)
            fail_msg("%s: %s", cases[i].asked, cases[i].text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_vowel_comes_and_goes),
    };
    return cmocka_run_group_tests(tests, open_lexicon, close_lexicon);
}
