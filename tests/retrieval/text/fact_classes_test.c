/* fact_classes.h by what it is for: what a question in another language asks for, and denials, numbers and
 * names of such a text as hard checks of a sentence. */
#include "tests/test.h"

#include "index/sparse/language.h"
#include "retrieval/claims/citations.h"
#include "retrieval/text/fact_classes.h"
#include "retrieval/question/question.h"
#include "tests/retrieval/text/lexicon_fixture.h"

static lexicon in_language(const char *language) {
    int number = language_number(language);
    assert_true(number >= 0);
    return (lexicon){analyzer_in(lx.analyzer, number), NULL, NULL};
}

static void a_question_word_says_what_is_asked_for(void **state) {
    (void)state;
    static const struct {
        const char *language, *question;
        enum question_kind kind;
    } asked[] = {
        {"german", "Wer hat die Pumpe gebaut?", ASK_PERSON},
        {"german", "Seit wann läuft sie?", ASK_TIME},
        {"german", "In welchem Jahr wurde sie gebaut?", ASK_TIME},
        {"german", "Wie viele Leute warten sie?", ASK_NUMBER},
        {"german", "Wie wird sie gewartet?", ASK_OTHER},
        {"german", "In welcher Stadt steht sie?", ASK_PLACE},
        {"german", "WARUM steht sie still?", ASK_REASON},
        {"french", "Quand a-t-elle été construite ?", ASK_TIME},
        {"french", "Combien de personnes ?", ASK_NUMBER},
        {"french", "Où se trouve l'huile ?", ASK_PLACE},
        {"french", "Dans quel pays est-elle ?", ASK_PLACE},
        {"spanish", "¿Quién construyó la bomba?", ASK_PERSON},
        {"spanish", "¿En qué año se construyó?", ASK_TIME},
        {"spanish", "¿Cuántas personas la revisan?", ASK_NUMBER},
        {"english", "What percentage of pumps leak?", ASK_NUMBER},
        {"english", "What kind of pump leaks?", ASK_OTHER},
        {"italian", "Chi ha costruito la pompa?", ASK_PERSON},
        {"italian", "Quanti sono?", ASK_NUMBER},
        {"portuguese", "Onde fica o óleo?", ASK_PLACE},
        {"portuguese", "Qual é a altura da bomba?",
         ASK_OTHER}, /* nothing but the next two words count */
        {"russian", "Кто построил насос?", ASK_PERSON},
        {"russian", "В каком году он построен?", ASK_TIME},
        {"russian", "Сколько людей его обслуживают?", ASK_NUMBER},
        {"italian", "Qual è il nome della pompa?", ASK_NAME},
        {"italian", "Quale squadra la cura?", ASK_NAME},
        {"italian", "Quale temperatura ha l'olio?", ASK_NUMBER},
        {"arabic", "متى بنيت المضخة؟", ASK_TIME},
        {"arabic", "من بنى المضخة؟", ASK_PERSON},
        {"arabic", "من أين يأتي الزيت؟", ASK_PLACE},
        {"arabic", "في أي عام بنيت المضخة؟", ASK_TIME},
        {"arabic", "ما مساحة الغرفة؟", ASK_NUMBER},
        {"arabic", "في اي مدينة تقع المضخة؟", ASK_PLACE},
        {"arabic", "ماهي المضخة؟", ASK_OTHER},
        {"hindi", "पंप किसने बनाया?", ASK_PERSON},
        {"hindi", "पंप किस दिन चलता है?", ASK_TIME},
        {"hindi", "पंप कौन से दिन चलता है?", ASK_TIME},
        {"hindi", "पंप में कौन-सा तेल लगता है?", ASK_OTHER},
        {"hindi", "चाबी किससे मिलती है?", ASK_PERSON},
        {"hindi", "पंप कितनों के लिए है?", ASK_NUMBER},
        {"chinese", "谁建造了水泵？", ASK_PERSON},
        {"chinese", "水泵是什么时候建造的？", ASK_TIME},
        {"chinese", "有多少人保养水泵？", ASK_NUMBER},
        {"japanese", "ポンプはどこにありますか。", ASK_PLACE},
        {"japanese", "なぜポンプは止まりましたか。", ASK_REASON},
    };
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        question q = {0};
        fo_err err = {0};
        lexicon own = in_language(asked[i].language);
        assert_ok(question_read(&q, &own, asked[i].question, strlen(asked[i].question), &err),
                  &err);
        if (q.kind != asked[i].kind) fail_msg("%s: %d", asked[i].question, (int)q.kind);
        question_deinit(&q);
    }
}

static void the_words_of_another_language_mean_nothing_in_english(void **state) {
    (void)state;
    question q = {0};
    fo_err err = {0};
    const char *text = "quand combien where"; /* English reads on to "where" */
    assert_ok(question_read(&q, &lx, text, strlen(text), &err), &err);
    assert_int_equal(q.kind, ASK_PLACE);
    question_deinit(&q);
    assert_int_equal(fact_class_of(-1, "zwei", 4), 0);
    assert_int_equal(fact_class_of(language_number("german"), "zwei", 4), WORD_NUMERAL);
    assert_int_equal(fact_class_of(language_number("german"), "dos", 3), 0);
    assert_int_equal(fact_class_of(language_number("thai"), "zwei", 4), 0);
}

static void expect(const char *language, const char *sentence, const char *quote,
                   const char *reason) {
    support_check c;
    fo_err err = {0};
    lexicon own = in_language(language);
    assert_ok(citation_check(&c, &own,
                             &(citation_claim){.sentence = sentence,
                                               .sentence_len = strlen(sentence),
                                               .quote = quote,
                                               .quote_len = strlen(quote),
                                               .stored = quote,
                                               .stored_len = strlen(quote),
                                               .end = strlen(quote),
                                               .title = ""},
                             &err),
              &err);
    if (strcmp(c.reason, reason)) fail_msg("%s: '%s', not '%s'", sentence, c.reason, reason);
}

static void denials_numbers_and_names_are_held_against_the_quote(void **state) {
    (void)state;
    expect("german", "Die Pumpe ist aus Stahl.", "Die Pumpe ist aus Stahl.", "");
    expect("german", "Die Pumpe ist nicht aus Stahl.", "Die Pumpe ist aus Stahl.", "negation");
    expect("german", "Die Pumpe ist aus Stahl.", "Die Pumpe ist nirgends aus Stahl.", "negation");
    expect("german", "Die Pumpe läuft 400 Stunden.", "Die Pumpe läuft 500 Stunden.", "number");
    expect("german", "Die Pumpe baute Schulze.", "Die Pumpe baute Meier.", "name");
    expect("spanish", "La bomba tampoco es de acero.", "La bomba es de acero.", "negation");
    expect("italian", "La pompa non è di acciaio.", "La pompa è di acciaio.", "negation");
    expect("portuguese", "A bomba nunca é de aço.", "A bomba é de aço.", "negation");
    expect("french", "La pompe n'est jamais en acier.", "La pompe est en acier.", "negation");
    expect("russian", "Насос никогда не стоит.", "Насос стоит.", "negation");
    expect("russian", "Насос построил Иванов.", "Насос построил Петров.", "name");
    expect("hindi", "पंप इस्पात का नहीं है।", "पंप इस्पात का है।", "negation");
    expect("arabic", "ليست المضخة من الفولاذ.", "المضخة من الفولاذ.", "negation");
    expect("chinese", "水泵不是钢制的。", "水泵是钢制的。", "negation");
    expect("chinese", "水泵是1950年建造的。", "水泵是1960年建造的。", "number");
}

/* Else a heading "Combien et combien de temps ?" has what every question with these words asks for. */
static void words_that_ask_are_no_terms_of_a_question(void **state) {
    (void)state;
    static const struct {
        const char *language, *question, *terms;
    } asked[] = {
        {"french", "Combien de temps faut-il pour la traversée ?", "traversée"},
        {"french", "Puis-je fumer ? Doit-on payer ? Peut-on fumer ?", "fumer payer"},
        {"german", "Wie lange muss ich auf die Fähre warten?", "Fähre warten"},
        {"german", "Wieviel Geld brauche ich, welche Karte kriege ich?", "Geld Karte"},
        {"spanish", "¿Cuánto tiempo puedo dejar el coche?", "dejar coche"},
        {"spanish", "¿Cuándo tengo que pagar? ¿Hay que pagar?", "pagar"},
        {"italian", "Quanto tempo devo aspettare?", "aspettare"},
        {"portuguese", "Quanto tempo posso ficar?", "ficar"},
        {"portuguese", "Até quando dá pra ficar numa sala pelas regras?", "ficar sala regras"},
        {"german", "Wie lange?", "wie lange"},
        {"hindi", "साइकिल के कितने पैसे देने होंगे?", "साइकिल"},
        {"russian", "Кому нам нужно звонить насчёт лифта?", "звонить насчёт лифта"},
        {"russian", "До скольких лет какой билет нужен?", "лет билет"},
        {"russian", "Как часто чистить фильтр?", "чистить фильтр"},
        {"arabic", "بماذا تميزت المدينة؟", "تميزت المدينة"},
        {"arabic", "ماهي أعراض الجرب؟", "أعراض الجرب"},
        {"arabic", "أريد تجديد الكتاب، هل يمكنني ذلك؟", "تجديد الكتاب"},
        /* a pair that touches what asks is no word: "报谁", "谁做" */
        {"chinese", "海报谁做？", "海报 做"},
        {"chinese", "电脑坏了怎么办？", "电脑坏了"},
        {"chinese", "我可以退票吗？", "退票"},
        {"chinese", "馆的门票怎么退？", "馆 门票 退"},
        {"japanese", "ポスターはどこですか。", "ポスターは"},
    };
    fo_err err = {0};
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        lexicon own = in_language(asked[i].language);
        question q = {0}, terms = {0};
        assert_ok(question_read(&q, &own, asked[i].question, strlen(asked[i].question), &err),
                  &err);
        assert_ok(question_read(&terms, &own, asked[i].terms, strlen(asked[i].terms), &err), &err);
        if (q.n_terms != terms.n_terms) fail_msg("%s: %zu", asked[i].question, q.n_terms);
        for (size_t k = 0; k < terms.n_terms; k++)
            if (question_term_of(&q, terms.terms[k].id) < 0) fail_msg("%s", asked[i].question);
        question_deinit(&q);
        question_deinit(&terms);
    }
    lexicon french = in_language("french");
    fact_text heading = {0};
    const char *text = "Combien et combien de temps pour un livre ?";
    assert_ok(fact_text_read(&heading, french.analyzer, text, strlen(text), &err), &err);
    for (size_t i = 0; i < heading.n_words; i++)
        if (fact_is_content(&heading.words[i]))
            assert_int_equal(question_only_asks(&heading, i),
                             text[heading.words[i].start] != 'l'); /* "livre" */
    fact_text_deinit(&heading);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_question_word_says_what_is_asked_for),
        cmocka_unit_test(words_that_ask_are_no_terms_of_a_question),
        cmocka_unit_test(the_words_of_another_language_mean_nothing_in_english),
        cmocka_unit_test(denials_numbers_and_names_are_held_against_the_quote),
    };
    return cmocka_run_group_tests(tests, open_lexicon, close_lexicon);
}
