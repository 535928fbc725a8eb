/* same_words_test.c - which words of a text are a question's by the lists of forms and of everyday words, and what a question's
 * lead-in says nothing of. */
#include "retrieval/question/same_words.h"

#include "tests/test.h"

typedef struct read_pair {
    analyzer *a;
    question q;
    fact_text t;
} read_pair;

static void read_both(read_pair *r, const char *language, const char *asked, const char *text) {
    fo_err err = {0};
    *r = (read_pair){0};
    assert_ok(analyzer_create(&r->a, language, &err), &err);
    const lexicon lx = {.analyzer = r->a};
    assert_ok(question_read(&r->q, &lx, asked, strlen(asked), &err), &err);
    assert_ok(fact_text_read(&r->t, r->a, text, strlen(text), &err), &err);
}

static void free_both(read_pair *r) {
    fact_text_deinit(&r->t);
    question_deinit(&r->q);
    analyzer_free(r->a);
}

/* Is the word of `text` that has so many behind it the question's word `want`? "": it is none of it. */
static void expect_before(size_t behind, const char *language, const char *asked, const char *text,
                          const char *want) {
    read_pair r;
    read_both(&r, language, asked, text);
    assert_true(r.t.n_words > behind);
    const int term = same_words_term_of(&r.q, &r.t, r.t.n_words - 1 - behind);
    const char *got = "";
    size_t n = 0;
    for (size_t i = 0; term >= 0 && i < r.q.text.n_words; i++)
        if (r.q.text.words[i].id == r.q.terms[term].id) {
            got = asked + r.q.text.words[i].start;
            n = r.q.text.words[i].end - r.q.text.words[i].start;
        }
    if (n != strlen(want) || memcmp(got, want, n))
        fail_msg("%s: of '%s' it is '%.*s', not '%s'", asked, text, (int)n, got, want);
    free_both(&r);
}

/* Is the last one? */
static void expect(const char *language, const char *asked, const char *text, const char *want) {
    expect_before(0, language, asked, text, want);
}

static void a_verb_whose_particle_stands_behind_it_is_the_whole_verb(void **state) {
    (void)state;
    expect_before(4, "german", "Wann beginnt der Kurs?", "Der Kurs fängt um halb acht an",
                  "beginnt");
    expect_before(4, "german", "Wann endet der Kurs?", "Der Kurs hört gegen halb zehn auf",
                  "endet");
    expect_before(3, "german", "Wann endet der Kurs?", "Der Kurs hört gegen halb zehn", "");
    expect_before(0, "german", "Wann fängt der Kurs an?", "Kursbeginn: Beginn", "fängt");
}

static void an_english_word_in_letters_of_hindi_is_the_hindi_one(void **state) {
    (void)state;
    expect("hindi", "सैलरी कब आती है?", "वेतन", "सैलरी");
    expect("hindi", "मैगज़ीन कितने दिन रख सकते हैं?", "पत्रिकाएँ", "मैगज़ीन");
    expect("hindi", "संडे को कौन खोलता है?", "रविवार", "संडे");
    expect("hindi", "लाइब्रेरी की किताब", "पुस्तक", "किताब");
    expect("hindi", "टिकट का दाम", "किराया", "");
}

static void an_irregular_form_is_its_verb(void **state) {
    (void)state;
    expect("italian", "Cosa faccio se ho perso la chiave?", "perde", "perso");
    expect("italian", "Chi rompe un vetro?", "rotto", "rompe");
    expect("italian", "Quando chiude il museo?", "chiuso", "chiude");
    expect("italian", "Cosa facciamo se piove?", "pioggia", "piove");
    expect("spanish", "¿Qué hago si se rompe el cristal?", "roto", "rompe");
    expect("spanish", "¿Está abierto el museo?", "abre", "abierto");
    expect("french", "Que faire si je perds la clé ?", "perdu", "perds");
    expect("french", "Le musée est-il ouvert ?", "ouvre", "ouvert");
    expect("portuguese", "Quando é que o museu está aberto?", "abre", "aberto");
    expect("portuguese", "Posso imprimir uma folha?", "impressão", "imprimir");
    expect("portuguese", "Quem saiu do clube?", "saída", "saiu");
    expect("portuguese", "Onde ponho a tábua?", "coloque", "ponho");
    expect("portuguese", "Quem adoece avisa quem?", "doente", "adoece");
    expect("portuguese", "Quando foi o casamento?", "casou", "casamento");
    expect("portuguese", "Posso fazer obras?", "obra", "obras");
    expect("portuguese", "Que folga tem quem se casa?", "casamento", "casa");
    expect("portuguese", "Quem casa a filha?", "casamento", "");
    expect("german", "Ich habe den Schlüssel verloren, was nun?", "verliert", "verloren");
    expect("french", "Qui peut venir ?", "vient", "venir");
    expect("spanish", "¿Quién dice eso?", "dicho", "dice");
    expect("italian", "Chi tiene la chiave?", "tenuto", "tiene");
    expect("italian", "A che ora escono i bambini?", "uscita", "escono");
    expect("german", "Wann ist das Museum geschlossen?", "schließt", "geschlossen");
    expect("english", "undo a commit", "revert", "undo");
    expect("german", "Wann fängt der Kurs an?", "beginnt", "fängt");
    expect("german", "Wann fängt der Kurs an?", "aufhört", "");
    expect("german", "Wann fängt der Kurs an?", "Anfang", "fängt");
    expect("german", "Wann endet der Kurs?", "aufhört", "endet");
    expect("english", "I lost my key, what now?", "lose", "lost");
    expect("english", "How many children fit in the boat?", "child", "children");
}

static void portuguese_plurals_and_spellings_are_the_same_word(void **state) {
    (void)state;
    expect("portuguese", "Quantas viagens há por dia?", "viagem", "viagens");
    expect("portuguese", "Onde ficam os botões?", "botão", "botões");
    expect("portuguese", "Onde ficam os jardins?", "jardim", "jardins");
    expect("portuguese", "Onde entrego o papel?", "papéis", "papel");
    expect("portuguese", "Onde está a erva?", "ervas", "erva");
    expect("portuguese", "Quem joga tênis?", "ténis", "tênis");
    expect("portuguese", "Qual é o prêmio?", "prémios", "prêmio");
    expect("portuguese", "Onde vive a avó?", "avô", "");
    expect("spanish", "¿Quién juega al ténis?", "tênis", "");
}

static void forms_of_a_german_verb_are_one_word(void **state) {
    (void)state;
    expect("german", "Wer mietet den Saal?", "vermieten", "");
    expect("german", "Wer reinigt die Treppe?", "gereinigt", "reinigt");
    expect("german", "Wann dürfen wir besichtigen?", "Besichtigung", "besichtigen");
    expect("german", "Was muss ich mitbringen?", "Mitzubringen", "mitbringen");
    expect("german", "Was bringe ich zum Fest mit?", "mitzubringen", "bringe");
    expect("german", "Was bringe ich zum Fest her?", "mitzubringen", "");
    expect("german", "Wo kann ich mein Rad abstellen?", "abgestellt", "abstellen");
    expect("german", "Wo kann ich mein Rad abstellen?", "angestellt", "");
    expect("german", "Wer zeigt das?", "Zeit", "");
    expect("german", "Wie lange gilt die Karte?", "gültig", "gilt");
}

static void a_plural_that_stems_part_is_its_word(void **state) {
    (void)state;
    expect("french", "Où ranger mon vélo ?", "vélos", "vélo");
    expect("french", "Où sont les menus ?", "menu", "menus");
    expect("french", "Où est le vélo ?", "vélodrome", "");
    expect("spanish", "¿Dónde están los kayaks?", "kayak", "kayaks");
    expect("spanish", "¿Dónde está el kayak?", "kayakista", "");
}

static void an_everyday_word_is_its_other_name(void **state) {
    (void)state;
    expect("italian", "Dove lascio la vettura?", "auto", "vettura");
    expect("italian", "Posso annullare la visita?", "disdetta", "annullare");
    expect("spanish", "¿Dónde dejo el coche?", "automóvil", "coche");
    expect("french", "Où laisser ma voiture ?", "automobile", "voiture");
    expect("german", "Darf ich das Handy benutzen?", "Mobiltelefon", "Handy");
    expect("portuguese", "Onde fica a geladeira?", "frigorífico", "geladeira");
    expect("portuguese", "O cachorro pode entrar?", "cães", "cachorro");
    expect("portuguese", "Onde deixo as embalagens?", "pacotes", "embalagens");
    expect("portuguese", "Abre ao sábado?", "sáb", "sábado");
    expect("portuguese", "Abre à terça?", "ter", "");
    expect("portuguese", "A coima é alta?", "multa", "coima");
    expect("portuguese", "Onde como uma piza?", "pizza", "piza");
    expect("portuguese", "Onde fica a equipa?", "equipe", "equipa");
    expect("portuguese", "A morada mudou?", "endereço", "morada");
    expect("english", "Is there a telephone?", "phone", "telephone");
    expect("english", "What port is it?", "=\"0.0.0.0:9090\"", "port");
    expect("english", "What port is it?", "localhost:5432", "port");
    expect("english", "What port is it?", "at 10:30", "");
    expect("english", "What port is it?", "in 9090", "");
    expect("english", "I am ill before the examination", "sick", "ill");
    expect("english", "I am ill before the examination", "exam", "examination");
    expect("english", "How many loaves do we bake?", "loaf", "loaves");
    expect("english", "What do employees pay?", "staff", "employees");
    expect("portuguese", "Onde fica o elevador?", "ascensor", "elevador");
    expect("english", "Is there an elevator?", "lift", "elevator");
    expect("english", "What is the yearly rent?", "annual", "yearly");
    expect("english", "What is the fee?", "dues", "fee");
    expect("english", "I was bitten by a snake, what now?", "Adders", "snake");
    expect("english", "How high may a fence to the road be?", "street", "road");
    expect("english", "How heavy is the splitter?", "Weight", "heavy");
    expect("english", "How high may a fence to the road be?", "The street", "road");
    expect("english", "When does the shop in Mill Street open?", "Mill Road", "");
    expect("english", "How high may a fence to the road be?", "Mill Street", "");
    expect("english", "When are bins emptied in Mill Road?", "Street", "");
    expect("english", "How deep is the pond?", "depth", "deep");
    expect("english", "How old is the hut?", "Age", "old");
    expect("english", "How old is the barrier?", "minimum age", "");
    expect("english", "How old must I be for a contract?", "minimum age", "old");
    expect("english", "Which heavy tools are there?", "weight", "");
    expect("english", "How hot must the oven be?", "Temperature", "");
    expect("spanish", "He perdido el carnet.", "carné", "carnet");
    expect("spanish", "¿Dónde juega el crío?", "niños", "crío");
    expect("italian", "Quando parte il treno?", "Partenza", "parte");
    expect("french", "À quelle heure part le bus ?", "départ", "part");
    expect("english", "Where does the garbage go?", "rubbish", "garbage");
    expect("english", "What is the yearly fee?", "annual", "yearly");
    expect("english", "Can I have hens?", "chickens", "hens");
}

static void what_holds_for_a_kind_holds_for_what_is_one(void **state) {
    (void)state;
    expect("english", "Is it paid if my cat scratches the door?", "pets", "cat");
    expect("english", "Is the sofa insured?", "furniture", "sofa");
    expect("english", "May I fell a cherry tree?", "fruit", "cherry");
    expect("english", "Are pets allowed?", "dogs", "");
    expect("english", "Is furniture insured?", "sofa", "");
    expect("english", "Is my cat insured?", "dog", "");
    /* not of others, nor where the text speaks of the thing itself, nor of what only sounds so */
    expect("english", "Is my dog allowed?", "Other pets", "");
    expect("english", "Where do vans park?", "All other motor vehicles", "");
    expect("english", "Is my dog allowed?", "Dogs are welcome. Most days also pets", "");
    expect("english", "How were the spirits at the party?", "alcohol", "");
    expect("english", "Where can I watch the match?", "valuables", "");
    expect("english", "Who is the chair?", "furniture", "");
    expect("english", "Where is the Apple repair desk?", "fruit", "");
    expect("german", "Darf ich mit dem Van fahren?", "vehicle", "");
}

static void other_words_are_other_words(void **state) {
    (void)state;
    expect("italian", "Chi ha perso la chiave?", "persona", "");
    expect("spanish", "¿Dónde está la casa?", "boda", "");
    expect("french", "Où est la voiture ?", "vélo", "");
    expect("german", "Wo ist der Kindergarten?", "Garten", "");
    expect("english", "Is there an elevator?", "stairs", "");
    /* whose stem is that of another word, or which is the other only among other things */
    expect("english", "What is the elevation?", "lift", "");
    expect("english", "When does the bus leave?", "leaf", "");
    expect("english", "Who is the photographer?", "photo", "");
    expect("english", "What if the tyre is flat?", "apartment", "");
    expect("german", "Welche Gefahr besteht?", "fährt", "");
    expect("french", "À quelle heure est la partie ?", "départ", "");
    expect("french", "Où est la prise ?", "prend", "");
    expect("french", "Qui a livré le piano ?", "bouquin", "");
    expect("spanish", "¿Qué carne hay?", "carnet", "");
    expect("spanish", "¿Dónde se crían?", "niños", "");
    expect("spanish", "¿En qué orden salen?", "computadora", "");
    expect("italian", "Quando comincia la partita?", "partenza", "");
    expect("italian", "A che ora è la messa?", "metto", "");
    expect("italian", "Come si pulisce la macchina del caffè?", "auto", "");
    expect("portuguese", "Qual é o valor elevado?", "ascensor", "");
    expect("portuguese", "Onde fica a casa?", "casamento", "");
    expect("portuguese", "Quem morava aqui?", "endereço", "");
    expect("portuguese", "Quando é a reforma do prédio?", "aposentado", "");
}

/* Is a word of the text, which is no term of the question itself, one of its terms? */
static void of_other_scripts_too(void **state) {
    (void)state;
    static const struct {
        const char *language, *asked, *text;
        bool same;
    } cases[] = {
        {"russian", "Сколько заплатить?", "Оплачивается сразу.", true},
        {"russian", "фильтр посудомойки", "посудомоечная машина", true},
        {"russian", "двигатель шумит", "на мотор пять лет", true},
        {"russian", "работает в среду", "пн, ср 10:00", true},
        {"russian", "работает в воскресенье", "пн, ср 10:00", false},
        {"russian", "двигатель шумит", "насос и шланг", false},
        {"chinese", "星期五上课", "周五", true},
        {"chinese", "养狗", "犬证", true},
        {"chinese", "丢了", "遗失后补办", true},
        {"chinese", "晚上", "夜间", true},
        {"chinese", "养狗", "养鱼", false},
        {"arabic", "متى يعود الطفل؟", "الأطفال", true},
        {"arabic", "كم عضوًا حضر؟", "أعضاء", true},
        {"arabic", "أقساط المدرسة", "تقسيط", true},
        {"arabic", "أين الحافلة؟", "الباص", true},
        {"arabic", "في شهر أيلول", "سبتمبر", true},
        {"arabic", "متى يعود الطفل؟", "القط", false},
        {"arabic", "هل الهدية لمدير المدرسة؟", "المدير", true}, /* "for" is written with its word */
        {"arabic", "هدية لعيد", "أعياد", true},
        {"arabic", "كم الاشتراك لشقة صغيرة؟", "شقة", true},
        {"arabic", "ما لون الباب؟", "ون", false},
        {"arabic", "أين البطاقة؟", "الطاقة", false},
        {"german", "Hund", "犬", false},
        {"japanese", "うちの子が吐いた", "嘔吐のときは休む", true},
        {"japanese", "ベランダで吸ってもいい？", "バルコニーの手すり", true},
        {"japanese", "タバコはどこ？", "喫煙は禁止です", true},
        {"japanese", "会を辞めたい", "退会の届けを出す", true},
        {"japanese", "会を辞めたい", "退院の届けを出す", false},
        {"japanese", "猫は飼えますか", "犬を飼うことができる", true},
        {"japanese", "何冊借られますか", "カウンターで借りること", true},
        {"japanese", "荷物が上がる", "上の階の人", false},
        {"japanese", "支払いはいつ？", "月末に納付する", true},
        {"japanese", "払い戻しはいつ？", "月末に納付する", false},
        {"japanese", "払い戻しはいつ？", "返金は翌月", true},
        {"japanese", "購入はどこ？", "売店で買えます", true},
        {"japanese", "購入はどこ？", "買い取りはしない", false},
        {"japanese", "買い物はどこ？", "購入した人", false},
        {"japanese", "返却はいつ？", "本を返します", true},
        {"japanese", "返却はいつ？", "繰り返します", false},
        {"japanese", "返却はいつ？", "裏返します", false},
        {"japanese", "食事はどこ？", "食べ物を持ち込む", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        read_pair r;
        bool same = false;
        read_both(&r, cases[i].language, cases[i].asked, cases[i].text);
        for (size_t k = 0; k < r.t.n_words; k++)
            same |=
                question_term_of(&r.q, r.t.words[k].id) < 0 &&
                (same_words_term_of(&r.q, &r.t, k) >= 0 || japanese_term_of(&r.q, &r.t, k) >= 0);
        if (same != cases[i].same) fail_msg("%s: %s", cases[i].asked, cases[i].text);
        free_both(&r);
    }
}

/* Terms of the question, all of them. */
static void terms(const char *language, const char *asked, size_t want) {
    read_pair r;
    read_both(&r, language, asked, "x");
    if (r.q.n_terms != want) fail_msg("%s: %zu terms", asked, r.q.n_terms);
    free_both(&r);
}

static void who_asks_and_what_is_whose_is_no_part_of_what_is_asked(void **state) {
    (void)state;
    terms("italian", "Mio figlio ha avuto la varicella, quando può tornare?", 3);
    terms("italian", "Possiamo portare il nostro cane?", 2);
    terms("arabic", "أين أجد المفقودات؟", 1);
    terms("arabic", "هل يمكنني حجز القاعة؟", 2);
    terms("arabic", "كم عدد الكراسي؟", 1);
    terms("italian", "Che certificato ci vuole per il nuoto?", 2);
    terms("spanish", "¿Podemos llevar a nuestro perro?", 2);
    terms("french", "Pouvons-nous amener notre chien ?", 2);
    terms("portuguese", "Podemos levar o nosso cão?", 2);
    terms("portuguese", "Você gostaria de um bolo pro aniversário?", 2);
    terms("portuguese", "Quem vai fazer o bolo?", 1);
    terms("german", "Dürfen wir unseren Hund mitbringen?", 2);
    terms("german", "Ab wann brauche ich ein Attest?", 1);
    terms("german", "Was kostet es, die Katze impfen zu lassen?", 3);
    terms("german", "Was mache ich, wenn etwas kaputt ist?", 1);
    terms("german", "Wie oft wird der Hof gefegt?", 2);
    terms("german", "Wie hoch ist die Kaution?", 1);
    terms("german", "Wie hoch ist der Turm?", 2);
    terms("french", "Que dois-je faire si je suis malade ?", 1);
    terms("french", "Jusqu'à quand peut-on payer ?", 1);
    terms("spanish", "¿Qué hacer si hay fuego?", 1);
    terms("spanish", "¿Hasta cuándo estoy asegurado?", 1);
    terms("italian", "Fino a quando viene pagata la rata?", 2);
    terms("portuguese", "Até quando está aberto o bar?", 2);
}

/* Particles, endings and where two words meet are none: "辞", "辞め", "届", "届け", "出", "出せ". */
static void japanese_endings_only_ask(void **state) {
    (void)state;
    terms("japanese", "辞めたいときはいつまでに届けを出せばいいですか？", 6);
    terms("japanese", "犬を飼ってもいいの？", 3);     /* 犬, 飼, 飼っ */
    terms("japanese", "油はどうやって捨てるの？", 3); /* 油, 捨, 捨て */
    terms("japanese", "任期は何年ですか", 3);         /* 任, 期, 任期 */
    terms("japanese", "昼の弁当って何時？", 4);       /* 昼, 弁, 当, 弁当 */
    terms("japanese", "ごみの日は？", 2);             /* ごみ, 日 */
    terms("japanese", "コートの料金はいくら？", 2);   /* コー, ート: the amount is demanded */
    terms("japanese", "料金はいくら？", 3);           /* of nothing else */
    terms("japanese", "コートの料金は？", 5);
    terms("japanese", "バスの切符ってどこで買えますか", 6); /* バス, 切, 符, 切符, 買, 買え */
}

/* "ート" of both is no word of both, nor is "払い". */
static void a_pair_of_another_word_is_another(void **state) {
    (void)state;
    static const struct {
        const char *asked, *text;
        bool other;
    } cases[] = {
        {"パスポートの更新は？", "シートの色と、コートの色", true},
        {"コートの予約は？", "ハードコートの予約", false},
        {"テニスコートの予約は？", "コートの予約", false},
        {"払い戻しはいつ？", "会費の支払い", true},
        {"払い戻しはいつ？", "払い戻しの日", false},
        {"買い物はどこ？", "買い取りは行わない", true},
        {"どこで買いますか", "買い方", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        read_pair r;
        read_both(&r, "japanese", cases[i].asked, cases[i].text);
        bool other = false;
        for (size_t k = 0; k < r.t.n_words; k++)
            other |= question_term_of(&r.q, r.t.words[k].id) >= 0 &&
                     japanese_is_other_word(&r.q, &r.t, k);
        if (other != cases[i].other) fail_msg("%s", cases[i].asked);
        free_both(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_verb_whose_particle_stands_behind_it_is_the_whole_verb),
        cmocka_unit_test(an_irregular_form_is_its_verb),
        cmocka_unit_test(portuguese_plurals_and_spellings_are_the_same_word),
        cmocka_unit_test(forms_of_a_german_verb_are_one_word),
        cmocka_unit_test(a_plural_that_stems_part_is_its_word),
        cmocka_unit_test(an_english_word_in_letters_of_hindi_is_the_hindi_one),
        cmocka_unit_test(an_everyday_word_is_its_other_name),
        cmocka_unit_test(what_holds_for_a_kind_holds_for_what_is_one),
        cmocka_unit_test(other_words_are_other_words),
        cmocka_unit_test(of_other_scripts_too),
        cmocka_unit_test(japanese_endings_only_ask),
        cmocka_unit_test(a_pair_of_another_word_is_another),
        cmocka_unit_test(who_asks_and_what_is_whose_is_no_part_of_what_is_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
