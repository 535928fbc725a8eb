/* opening_words_test.c - the words and hours of a text that a question about being open means, in six languages. */
#include "retrieval/question/opening_words.h"

#include "tests/test.h"

/* Is word i of the text the question's word `want`? "": it is none of it. */
static void expect(const char *language, const char *asked, const char *text, size_t i,
                   const char *want) {
    fo_err err = {0};
    analyzer *a;
    question q = {0};
    fact_text t = {0};
    assert_ok(analyzer_create(&a, language, &err), &err);
    const lexicon lx = {.analyzer = a};
    assert_ok(question_read(&q, &lx, asked, strlen(asked), &err), &err);
    assert_ok(fact_text_read(&t, a, text, strlen(text), &err), &err);
    assert_true(i < t.n_words);
    const int term = opening_term_of(&q, &t, i);
    const char *got = "";
    size_t n = 0;
    for (size_t k = 0; term >= 0 && k < q.text.n_words; k++)
        if (q.text.words[k].id == q.terms[term].id) {
            got = asked + q.text.words[k].start;
            n = q.text.words[k].end - q.text.words[k].start;
        }
    if (n != strlen(want) || memcmp(got, want, n))
        fail_msg("%s: word %zu of '%s' is '%.*s', not '%s'", asked, i, text, (int)n, got, want);
    fact_text_deinit(&t);
    question_deinit(&q);
    analyzer_free(a);
}

static void hours_are_what_being_open_is_asked_by(void **state) {
    (void)state;
    expect("german", "Habt ihr samstags offen?", "Öffnungszeiten: Mo-Fr 9-18 Uhr", 0, "offen");
    expect("german", "Wann schließt das Bad?", "Geöffnet von elf bis neun.", 0, "schließt");
    expect("french", "Est-ce ouvert le dimanche ?", "Horaires : dim 7h-13h", 0, "ouvert");
    expect("spanish", "¿A qué hora cierra la piscina?", "Abierta de once a nueve.", 0, "cierra");
    expect("italian", "È aperto il sabato?", "Orario: sab 8.30-12", 0, "aperto");
    expect("portuguese", "A loja abre ao sábado?", "Horário: sáb 9h-13h", 0, "abre");
    expect("russian", "Магазин открыт в субботу?", "Режим: сб 11:00-16:00", 0, "открыт");
}

static void a_timetable_is_none_of_a_question_without_a_time(void **state) {
    (void)state;
    expect("french", "Qui ouvre la porte ?", "Horaires : dim 7h-13h", 0, "");
    expect("italian", "Quanto costa il biglietto il sabato?", "Orario: sab 8.30-12", 0, "");
    expect("english", "Is it open on Sunday?", "Opening hours: Sun 9-12", 1, "");
}

static void an_hour_is_of_a_part_of_the_day(void **state) {
    (void)state;
    expect("spanish", "¿Abre el taller los viernes por la tarde?", "vie 16:00-19:30", 1, "tarde");
    expect("spanish", "¿Abre el taller los viernes por la tarde?", "vie 8:30-10:00", 1, "");
    expect("italian", "È aperto il sabato mattina?", "sab 8-12", 1, "mattina");
    expect("italian", "Che si fa il sabato mattina?", "sab 8-12", 1, "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hours_are_what_being_open_is_asked_by),
        cmocka_unit_test(a_timetable_is_none_of_a_question_without_a_time),
        cmocka_unit_test(an_hour_is_of_a_part_of_the_day),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
