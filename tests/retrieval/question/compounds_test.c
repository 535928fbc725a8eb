/* compounds_test.c - which words of a text a question's words are part of, in languages that join them. */
#include "retrieval/question/compounds.h"

#include "tests/test.h"

/* Is the last word of `text` made of a term of the question, and of which word of it? "": of none. */
static void expect(const char *language, const char *asked, const char *text, const char *want) {
    fo_err err = {0};
    analyzer *a = NULL;
    question q = {0};
    fact_text t = {0};
    assert_ok(analyzer_create(&a, language, &err), &err);
    const lexicon lx = {.analyzer = a};
    assert_ok(question_read(&q, &lx, asked, strlen(asked), &err), &err);
    assert_ok(fact_text_read(&t, a, text, strlen(text), &err), &err);
    assert_true(t.n_words > 0);
    const int term = compound_term_of(&q, &t, t.n_words - 1);
    const char *got = "";
    size_t n = 0;
    for (size_t i = 0; term >= 0 && i < q.text.n_words; i++)
        if (q.text.words[i].id == q.terms[term].id) {
            got = asked + q.text.words[i].start;
            n = q.text.words[i].end - q.text.words[i].start;
        }
    if (n != strlen(want) || memcmp(got, want, n))
        fail_msg("%s: of '%s' it is '%.*s', not '%s'", asked, text, (int)n, got, want);
    fact_text_deinit(&t);
    question_deinit(&q);
    analyzer_free(a);
}

static void a_word_may_be_part_of_another(void **state) {
    (void)state;
    expect("german", "Darf ich mit Kohle grillen?", "Holzkohle", "Kohle");
    expect("german", "Wie oft wird das Sieb sauber gemacht?", "Flusensieb", "Sieb");
    expect("german", "Was kostet ein Reifen?", "Autoreifen", "Reifen");
    expect("german", "Wer belegt die Halle?", "Hallenbelegung", "Halle");
    expect("dutch", "Waar staat mijn fiets?", "huurfiets", "fiets");
    expect("german", "Was kostet ein Reifen?", "Reifen",
           "");                                          /* the word itself is another's business */
    expect("german", "Was kostet ein Ei?", "Eimer", ""); /* too short to tell */
    expect("german", "Was kostet der Bus?", "Buch", "");
    expect("english", "Where is the ball?", "football", ""); /* English writes most apart */
}

static void what_stands_before_may_make_it_another(void **state) {
    (void)state;
    expect("german", "Wo kann ich Karten kaufen?", "verkaufen", "");
    expect("german", "In welchem Fall zahlt die Kasse?", "Unfall", "");
    expect("german", "Wie schalte ich den Ton aus?", "ausschalten", "schalte");
    expect("german", "Wie schalte ich den Ton aus?", "einschalten", "");
}

/* A word of the text is held against as many words as a question has terms, however long it is. */
static void a_long_question_is_looked_through_once(void **state) {
    (void)state;
    enum { MANY = 5000 };
    fo_err err = {0};
    analyzer *a = NULL;
    question q = {0};
    fact_text t = {0};
    fo_buf asked = {0};
    for (int i = 0; i < MANY; i++) {
        char word[] = "Kohle xxxxx ";
        for (int k = 0, rest = i; k < 5; k++, rest /= 26) word[6 + k] = (char)('a' + rest % 26);
        fo_buf_str(&asked, word);
    }
    assert_ok(analyzer_create(&a, "german", &err), &err);
    const lexicon lx = {.analyzer = a};
    const char *text = "Holzkohle";
    assert_ok(question_read(&q, &lx, asked.data, asked.len, &err), &err);
    assert_ok(fact_text_read(&t, a, text, strlen(text), &err), &err);
    assert_true(q.text.n_words >= MANY && q.n_words == q.n_terms);
    assert_int_equal(compound_term_of(&q, &t, 0), question_term_of(&q, q.text.words[0].id));
    fact_text_deinit(&t);
    question_deinit(&q);
    analyzer_free(a);
    fo_buf_free(&asked);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_word_may_be_part_of_another),
        cmocka_unit_test(what_stands_before_may_make_it_another),
        cmocka_unit_test(a_long_question_is_looked_through_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
