/* language.h: sentences of our own in many languages, told; English ones, names, code and numbers, left. */
#include "tests/test.h"

#include "index/sparse/analyze.h"
#include "index/sparse/language.h"

static const char *told(const char *text, const char *expected) {
    return language_name(language_of(text, strlen(text), expected));
}

static void a_paragraph_is_told_by_its_function_words_or_its_script(void **state) {
    (void)state;
    static const struct {
        const char *language, *text;
    } texts[] = {
        {"german",
         "Die Pumpe am nördlichen Ufer wird alle vierhundert Stunden gewartet, und zwar von zwei "
         "Leuten, die dafür ausgebildet sind. Das Öl ist in der Werkstatt zu finden."},
        {"french",
         "La pompe du nord est révisée toutes les quatre cents heures par deux personnes qui ont "
         "été formées pour cela. L'huile se trouve dans l'atelier."},
        {"spanish",
         "La bomba del norte se revisa cada cuatrocientas horas por dos personas que han sido "
         "formadas para ello. El aceite está en el taller, junto a la puerta."},
        {"italian",
         "La pompa del nord viene controllata ogni quattrocento ore da due persone che sono "
         "state istruite per questo. L'olio si trova nell'officina, vicino alla porta."},
        {"portuguese",
         "A bomba do norte é revista a cada quatrocentas horas por duas pessoas que foram "
         "formadas para isso. O óleo não está na cave, mas na oficina ao lado da porta."},
        {"dutch",
         "De pomp aan de noordelijke oever wordt om de vierhonderd uur nagekeken door twee mensen "
         "die daarvoor zijn opgeleid. De olie is in de werkplaats te vinden."},
        {"swedish",
         "Pumpen vid den norra stranden ses över var fyrahundrade timme av två personer som har "
         "utbildats för det. Oljan finns i verkstaden och inte i källaren."},
        {"finnish",
         "Pohjoisrannan pumppu huolletaan neljänsadan tunnin välein, ja sen tekevät ne kaksi "
         "jotka on siihen koulutettu. Öljy ei ole kellarissa vaan se on verstaalla."},
        {"russian", "Северный насос обслуживают каждые четыреста часов два обученных человека."},
        {"arabic", "تتم صيانة المضخة الشمالية كل أربعمائة ساعة من قبل شخصين مدربين."},
        {"hindi", "उत्तरी पंप की मरम्मत हर चार सौ घंटे में दो लोग करते हैं।"},
        {"chinese", "北岸的水泵每四百小时由两名受过培训的人员保养一次。"},
        {"japanese", "北岸のポンプは、訓練を受けた二人が四百時間ごとに点検する。"},
        {"korean", "북쪽 펌프는 훈련받은 두 사람이 사백 시간마다 점검한다."},
        {"thai", "ปั๊มทางเหนือได้รับการบำรุงรักษาทุกสี่ร้อยชั่วโมง"},
        {"greek", "Η βόρεια αντλία συντηρείται κάθε τετρακόσιες ώρες."},
        {"hungarian",
         "Az északi part szivattyúját négyszáz óránként két kiképzett ember tartja karban, akik "
         "az olajat a műhelyben találják meg, és soha nem a pincében keresik azt."},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char *is = told(texts[i].text, "english");
        if (!is || strcmp(is, texts[i].language)) fail_msg("%s: %s", texts[i].text, is ? is : "-");
        is = told(texts[i].text, texts[i].language); /* as expected */
        if (is) fail_msg("%s: %s", texts[i].text, is);
    }
}

static void what_is_expected_stays_where_a_text_does_not_say_otherwise(void **state) {
    (void)state;
    static const char *const english[] = {
        "The pump on the north shore is serviced every four hundred hours.",
        "Johann Sebastian Bach, Der Kunst der Fuge, and Die Zauberflöte are on the list of the "
        "museum.",
        "El Niño and La Niña are the names of two phases; the terms are Spanish and mean the boy "
        "and the girl.",
        "for (int i = 0; i < n; i++) { es[i] = de(la, el, un, le); } // die, der, das",
        "tar -xzf archive.tar.gz --directory /usr/share/doc",
        "1,234.5 67 89 10-11 +12 3e8",
        "q-Bessel Functions In(t), J. M. S. Pereira, S. M. Fosdick, L. D. Caviness, C. A.; t-test; "
        "n, m, d",
        "Established 1976 ha 3,400 ha Occidental Mindoro ha 8,401 la ha 75 ha Leyte ha ha ha",
        "Paris, Berlin, Madrid, Roma, São Paulo, Zürich",
        "",
        "a",
        "Ça va?",
    };
    for (size_t i = 0; i < sizeof english / sizeof *english; i++)
        if (told(english[i], "english"))
            fail_msg("%s: %s", english[i], told(english[i], "english"));
    /* Letters of Ukrainian and Persian: not Russian, not Arabic. */
    assert_null(told("Північний насос обслуговують кожні чотириста годин двоє людей.", "english"));
    assert_null(told("پمپ شمالی هر چهارصد ساعت یک بار توسط دو نفر سرویس "
                     "می‌شود.",
                     "english"));
    assert_string_equal(
        told("The pump on the north shore is serviced every four hundred hours by two "
             "people who have been taught how to do it, and it is not in the cellar.",
             "german"),
        "english");
}

static void a_table_has_a_row_a_language(void **state) {
    (void)state;
    static const struct {
        const char *language;
        int days;
    } table[] = {{"german", 1}, {"russian", 2}, {"chinese", 3}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const int number = language_number(table[i].language);
        assert_ptr_equal(LANGUAGE_ROW(table, number), &table[i]);
        assert_true(language_is(number, table[i].language));
    }
    assert_null(LANGUAGE_ROW(table, language_number("french")));
    assert_null(LANGUAGE_ROW(table, -1));
    assert_null(LANGUAGE_ROW(table, LANGUAGE_MAX)); /* beyond the last */
    assert_false(language_is(-1, "german"));
    assert_false(language_is(language_number("french"), "german"));
}

static void a_question_is_told_among_the_languages_that_there_are(void **state) {
    (void)state;
    uint64_t de = 1ull << language_number("german"), fr = 1ull << language_number("french"),
             zh = 1ull << language_number("chinese");
    const char *q = "Wo ist die Pumpe?";
    assert_int_equal(language_of_question(q, strlen(q), "english", de | fr),
                     language_number("german"));
    assert_int_equal(language_of_question(q, strlen(q), "english", fr), LANGUAGE_UNTOLD);
    q = "Where is the pump?";
    assert_int_equal(language_of_question(q, strlen(q), "english", de | fr | zh), -1);
    q = "水泵在哪里?";
    assert_int_equal(language_of_question(q, strlen(q), "english", de | zh),
                     language_number("chinese"));
    uint64_t es = 1ull << language_number("spanish");
    q = "\u00BFCu\u00E1nto vale la ruta?";
    assert_int_equal(language_of_question(q, strlen(q), "english", de | fr | es),
                     language_number("spanish"));
    q = "Could you show me a pump?";
    assert_int_equal(language_of_question(q, strlen(q), "english", de | fr | es), -1);
    q = "Pumpe Wartung";
    assert_int_equal(language_of_question(q, strlen(q), "english", de | fr), LANGUAGE_UNTOLD);
}

static int across(const char *question, const char *of_texts) {
    return language_across(question, strlen(question), of_texts);
}

static void a_question_may_plainly_be_in_another_language(void **state) {
    (void)state;
    assert_int_equal(across("How long should I wait between two doses?", "german"),
                     language_number("english"));
    assert_int_equal(across("Wie lange muss ich zwischen zwei Gaben warten?", "english"),
                     language_number("german"));
    assert_int_equal(across("水泵在哪里?", "english"), language_number("chinese"));
    assert_int_equal(across("How long should I wait between two doses?", "english"), -1);
    assert_int_equal(across("Wie lange muss ich warten?", "german"), -1);
    assert_int_equal(across("pump manual", "german"), -1); /* two words tell nothing */
    /* one does that a question begins with, where no other word is of the texts' language */
    assert_int_equal(across("Welcher Tierarzt operiert Katzen?", "english"),
                     language_number("german"));
    assert_int_equal(across("Combien co\xC3\xBBte ce billet ?", "english"),
                     language_number("french"));
    assert_int_equal(across("Welcher Tierarzt operiert Katzen", "english"), -1);
    assert_int_equal(across("Quanta of light?", "english"), -1);
    assert_int_equal(across("Katzen operiert welcher Tierarzt?", "english"), -1);
}

static void scripts_are_told_from_latin(void **state) {
    (void)state;
    assert_false(language_has_other_script(-1));
    assert_false(language_has_other_script(language_number("english")));
    assert_false(language_has_other_script(language_number("german")));
    assert_true(language_has_other_script(language_number("russian")));
    assert_true(language_has_other_script(language_number("chinese")));
}

static int take_first(void *ctx, const analyzed_term *t) {
    snprintf(ctx, 64, "%.*s", (int)t->len, t->term);
    return 1;
}

static void an_analyzer_reads_a_text_in_its_language(void **state) {
    (void)state;
    analyzer *a, *none;
    fo_err err = {0};
    char term[64];
    int language;
    assert_ok(analyzer_create(&a, "english", &err), &err);
    assert_ok(analyzer_create(&none, "none", &err), &err);
    const char *text =
        "Häuser sind in der Stadt nicht so alt wie die auf dem Land, und das ist auch gut so.";
    analyzer *own = analyzer_for_text(a, text, strlen(text), &language);
    assert_ptr_not_equal(own, a);
    assert_string_equal(language_name(language), "german");
    analyze(own, text, strlen(text), take_first, term);
    assert_string_equal(term, "haus");
    assert_ptr_equal(analyzer_for_text(a, text, strlen(text), &language), own); /* made once */
    assert_ptr_equal(analyzer_for_text(none, text, strlen(text), &language), none);
    assert_int_equal(language, -1);
    text = "Houses in the town are not as old as those of the country.";
    assert_ptr_equal(analyzer_for_text(a, text, strlen(text), NULL), a);
    analyzer_free(a);
    analyzer_free(none);
}

/* A table's rows have no function words: they are read in the language of the question. */
static void what_is_of_no_language_is_read_in_that_of_the_question(void **state) {
    (void)state;
    analyzer *a, *german;
    fo_err err = {0};
    assert_ok(analyzer_create(&a, "english", &err), &err);
    german = analyzer_in(a, language_number("german"));
    static const char rows[] = "Kurs: Schach; Leitung: Viktor Lem; Raum: 7",
                      english[] = "The course of the club is on Friday, and it is free.",
                      asked[] = "Welcher Kurs findet in der Werkstatt statt?",
                      in_english[] = "Who is the leader of the course?";
    assert_ptr_equal(analyzer_for_answer(a, rows, strlen(rows), asked), german);
    assert_ptr_equal(analyzer_for_answer(a, rows, strlen(rows), in_english), a);
    assert_ptr_equal(analyzer_for_answer(a, english, strlen(english), asked), a);
    analyzer_free(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_of_no_language_is_read_in_that_of_the_question),
        cmocka_unit_test(a_paragraph_is_told_by_its_function_words_or_its_script),
        cmocka_unit_test(what_is_expected_stays_where_a_text_does_not_say_otherwise),
        cmocka_unit_test(a_table_has_a_row_a_language),
        cmocka_unit_test(a_question_is_told_among_the_languages_that_there_are),
        cmocka_unit_test(a_question_may_plainly_be_in_another_language),
        cmocka_unit_test(scripts_are_told_from_latin),
        cmocka_unit_test(an_analyzer_reads_a_text_in_its_language),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
