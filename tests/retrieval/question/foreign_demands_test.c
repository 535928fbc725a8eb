/* foreign_demands.c, foreign_amounts.c and demand_words.c through demands.h: what a question in another language than English
 * demands, and which texts of that language state it. */
#include "tests/test.h"

#include <string.h>

#include "index/sparse/language.h"
#include "retrieval/question/demands.h"
#include "retrieval/question/foreign_amounts.h"

static demands asked(const char *language, const char *question) {
    const int number = language_number(language);
    assert_true(number >= 0);
    return demands_read(question, strlen(question), number);
}

static void an_amount_is_demanded_in_the_words_of_its_language(void **state) {
    (void)state;
    static const struct {
        const char *language, *question;
        enum demand_amount amount;
    } cases[] = {
        {"german", "Was kostet ein Waschgang?", AMOUNT_MONEY},
        {"german", "WAS KOSTET EIN WASCHGANG?", AMOUNT_MONEY},
        {"german", "Wie teuer ist die Biotonne?", AMOUNT_MONEY},
        {"german", "Wie viel zahlt ein Student?", AMOUNT_MONEY},
        {"german", "Was muss ich blechen, wenn ich zu spät komme?", AMOUNT_MONEY},
        {"german", "Wie hoch ist der Jahresbeitrag für Kinder?", AMOUNT_MONEY},
        {"german", "Wie hoch ist die Kurtaxe?", AMOUNT_MONEY},
        {"german", "Welche Gebühr fällt an?", AMOUNT_MONEY},
        {"german", "Wie hoch ist der Turm?", AMOUNT_ANY},
        {"german", "Wie laut ist der Bus?", AMOUNT_LOUDNESS},
        {"german", "Wie schwer ist das Rad?", AMOUNT_WEIGHT},
        {"german", "Wie breit ist das Modell?", AMOUNT_LENGTH},
        {"german", "Wie lange ist die Garantie?", AMOUNT_LONG},
        {"german", "Wie viele Betten hat die Wohnung?", AMOUNT_COUNT},
        {"german", "Wie viele Tage bekomme ich frei?", AMOUNT_ANY},
        {"german", "Wieviel Wasser braucht es?", AMOUNT_ANY},
        {"french", "Combien coûtent les jetons ?", AMOUNT_MONEY},
        {"french", "combien coutent les jetons", AMOUNT_MONEY},
        {"french", "Quel est le prix du jeton ?", AMOUNT_MONEY},
        {"french", "Quelle caution faut-il laisser ?", AMOUNT_MONEY},
        {"french", "À combien s'élèvent les charges ?", AMOUNT_MONEY},
        {"french", "Combien de temps dure la traversée ?", AMOUNT_LONG},
        {"french", "Combien d'enfants y a-t-il ?", AMOUNT_COUNT},
        {"french", "Combien de jours de congé ?", AMOUNT_ANY},
        {"spanish", "¿Cuánto cuesta el gorro?", AMOUNT_MONEY},
        {"spanish", "¿CUÁNTO CUESTA EL GORRO?", AMOUNT_MONEY},
        {"spanish", "cuanto vale un mando", AMOUNT_MONEY},
        {"spanish", "¿Cuánto es la tasa al año?", AMOUNT_MONEY},
        {"spanish", "¿Qué precio tiene?", AMOUNT_MONEY},
        {"spanish", "¿Cuánto ruido hace?", AMOUNT_LOUDNESS},
        {"spanish", "¿Cuánto pesa?", AMOUNT_WEIGHT},
        {"spanish", "¿Cuántas camas hay?", AMOUNT_COUNT},
        {"spanish", "¿Cuántos metros tiene la piscina?", AMOUNT_LENGTH},
        {"italian", "Quanto costa il biglietto?", AMOUNT_MONEY},
        {"italian", "Quanti letti ci sono?", AMOUNT_COUNT},
        {"italian", "Quanto è profondo il pozzo?", AMOUNT_LENGTH},
        {"italian", "Quanto è larga la porta?", AMOUNT_LENGTH},
        {"italian", "Quanto è alta la siepe?", AMOUNT_ANY},
        {"italian", "Quanto è alta la quota?", AMOUNT_MONEY},
        {"italian", "Quanto è alto il deposito?", AMOUNT_ANY},
        {"italian", "Quanto è lungo il congedo?", AMOUNT_ANY},
        {"italian", "Quanto è lungo il molo?", AMOUNT_ANY},
        {"italian", "Quanto è lungo il corso?", AMOUNT_LONG},
        {"italian", "Quanto è pesante il tavolo?", AMOUNT_WEIGHT},
        {"spanish", "¿Cuánto mide la valla?", AMOUNT_LENGTH},
        {"spanish", "¿Qué profundidad tiene el pozo?", AMOUNT_LENGTH},
        {"french", "Quelle est la profondeur du puits ?", AMOUNT_LENGTH},
        {"french", "Combien mesure la haie ?", AMOUNT_LENGTH},
        {"portuguese", "Quanto mede o muro?", AMOUNT_LENGTH},
        {"portuguese", "Qual é a altura do muro?", AMOUNT_LENGTH},
        {"portuguese", "Quanto custa o bilhete?", AMOUNT_MONEY},
        {"portuguese", "Quantos quartos há?", AMOUNT_COUNT},
        {"russian", "Сколько стоит детский билет?", AMOUNT_MONEY},
        {"russian", "СКОЛЬКО СТОЯТ ТРЕНИРОВКИ?", AMOUNT_MONEY},
        {"russian", "Какой членский взнос установили?", AMOUNT_MONEY},
        {"german", "Wie oft wird der Filter gereinigt?", AMOUNT_OFTEN},
        {"german", "In welchen Abständen wird geprüft?", AMOUNT_OFTEN},
        {"french", "À quelle fréquence faut-il nettoyer le filtre ?", AMOUNT_OFTEN},
        {"french", "Tous les combien passe le bus ?", AMOUNT_OFTEN},
        {"spanish", "¿Cada cuánto se limpia el filtro?", AMOUNT_OFTEN},
        {"spanish", "¿Con qué frecuencia pasa el autobús?", AMOUNT_OFTEN},
        {"italian", "Ogni quanto bisogna pulire il filtro?", AMOUNT_OFTEN},
        {"italian", "Con quale frequenza passa?", AMOUNT_OFTEN},
        {"portuguese", "De quanto em quanto tempo se limpa o filtro?", AMOUNT_OFTEN},
        {"portuguese", "Com que frequência passa o autocarro?", AMOUNT_OFTEN},
        {"russian", "Как часто чистить фильтр?", AMOUNT_OFTEN},
        {"russian", "Как чистить фильтр?", AMOUNT_NONE},
        {"italian", "Quanto spesso è il muro?", AMOUNT_ANY},
        {"arabic", "كم سعر الدراجة؟", AMOUNT_MONEY},
        {"arabic", "ما هي أجرةُ القاعة؟", AMOUNT_MONEY},
        {"arabic", "بكم تذكرة المسرح؟", AMOUNT_MONEY},
        {"arabic", "كم يجب أن أدفع؟", AMOUNT_MONEY},
        {"arabic", "كم عمق البئر؟", AMOUNT_LENGTH},
        {"arabic", "ما درجة حرارة الفرن؟", AMOUNT_TEMPERATURE},
        {"arabic", "كم وزن الصندوق؟", AMOUNT_WEIGHT},
        {"arabic", "ما مدّة العرض؟", AMOUNT_LONG},
        {"arabic", "كم يومًا يستغرق الإصلاح؟", AMOUNT_LONG},
        {"arabic", "كم عدد الكراسي؟", AMOUNT_ANY},
        {"arabic", "ما لون الباب؟", AMOUNT_NONE},
        {"arabic", "من يفتح الباب؟", AMOUNT_NONE},
        {"russian", "Какая зарплата у бухгалтера?", AMOUNT_MONEY},
        {"russian", "где взять ласты и почём?", AMOUNT_MONEY},
        {"russian", "Цена билета в июле?", AMOUNT_MONEY},
        {"russian", "Во сколько обойдётся ремонт?", AMOUNT_MONEY},
        {"russian", "Какой взнос покрывает страховку?", AMOUNT_NONE},
        {"russian", "Сколько окон в доме?", AMOUNT_COUNT},
        {"russian", "Сколько детских стульев в зале?", AMOUNT_COUNT},
        {"russian", "Сколько комнат в квартире?", AMOUNT_COUNT},
        {"russian", "Сколько соли насыпать?", AMOUNT_ANY},
        {"russian", "Сколько лет нужно работать?", AMOUNT_ANY},
        {"russian", "Сколько действует справка?", AMOUNT_LONG},
        {"russian", "Какой гарантийный срок на мотор?", AMOUNT_LONG},
        {"russian", "Какой глубины бассейн?", AMOUNT_LENGTH},
        {"russian", "Сколько метров в квартире?", AMOUNT_LENGTH},
        {"russian", "Какая температура у программы?", AMOUNT_TEMPERATURE},
        {"russian", "Сколько децибел шумит машина?", AMOUNT_LOUDNESS},
        {"russian", "Как сделать, чтобы вода пошла?", AMOUNT_NONE},
        /* yes or no, what it means, how it is done, how often */
        {"german", "Muss man beim Tennis etwas zahlen?", AMOUNT_NONE},
        {"german", "Was passiert, wenn ich nicht bezahle?", AMOUNT_NONE},
        {"german", "Wie oft kann ich verlängern?", AMOUNT_NONE},
        {"french", "Tous les combien faut-il nettoyer le filtre ?", AMOUNT_OFTEN},
        {"spanish", "¿Cada cuánto hay que limpiar el filtro?", AMOUNT_OFTEN},
        {"spanish", "¿Qué significa el código E2?", AMOUNT_NONE},
        /* which of several, not how much: a sum that has, covers or wins something */
        {"german", "Welche Miete umfasst Heizung und Wasser?", AMOUNT_NONE},
        {"german", "Welche Eintrittspreise übernimmt der Verein?", AMOUNT_NONE},
        {"german", "Welcher Beitrag umfasst die Vereinszeitung?", AMOUNT_NONE},
        {"german", "Welche Gebühr ist fällig?", AMOUNT_MONEY},
        {"german", "Was zahlt die Versicherung?", AMOUNT_NONE},
        {"german", "Was muss der Mieter bezahlen?", AMOUNT_NONE},
        {"german", "Was ist eine Mahngebühr?", AMOUNT_NONE},
        {"german", "Was ist der Preis für Kinder?", AMOUNT_MONEY},
        {"german", "Welche Größe haben die Trikots?", AMOUNT_NONE},
        {"german", "Wie viel Prozent zahlt die Kasse?", AMOUNT_ANY},
        {"french", "Quelles charges sont comprises dans le loyer ?", AMOUNT_NONE},
        {"french", "Quels sont les droits du locataire ?", AMOUNT_NONE},
        {"french", "Quel prix a gagné le film ?", AMOUNT_NONE},
        {"french", "Quels frais des bénévoles sont remboursés ?", AMOUNT_NONE},
        {"french", "Quel tarif pour les enfants ?", AMOUNT_MONEY},
        {"french", "Quelle mesure faut-il prendre ?", AMOUNT_NONE},
        {"french", "Quel temps fait-il en hiver ?", AMOUNT_NONE},
        {"french", "Quelle hauteur fait la haie ?", AMOUNT_LENGTH},
        {"french", "Combien d'eau faut-il verser ?", AMOUNT_ANY},
        {"spanish", "¿Qué matrícula lleva el autobús?", AMOUNT_NONE},
        {"spanish", "¿Qué es la fianza?", AMOUNT_NONE},
        {"spanish", "¿Cuál es la fianza?", AMOUNT_MONEY},
        {"spanish", "¿Qué tarifa incluye el desayuno?", AMOUNT_NONE},
        {"italian", "Che cosa paga l'inquilino?", AMOUNT_NONE},
        {"italian", "Quale tariffa comprende la colazione?", AMOUNT_NONE},
        /* the words of one language in another */
        {"french", "Was kostet das?", AMOUNT_NONE},
        {"german", "cuánto cuesta", AMOUNT_NONE},
        /* an English question about German texts */
        {"german", "How much does a pack of 20 tablets cost?", AMOUNT_EXPENSE},
        {"german", "", AMOUNT_NONE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const demands d = asked(cases[i].language, cases[i].question);
        if (d.amount != cases[i].amount)
            fail_msg("%s: %d, not %d", cases[i].question, (int)d.amount, (int)cases[i].amount);
    }
}

static void a_text_states_an_amount_of_the_kind_or_none(void **state) {
    (void)state;
    static const struct {
        const char *language;
        enum demand_amount amount;
        const char *text;
        enum amount_stated stated;
    } cases[] = {
        {"german", AMOUNT_MONEY, "Ein Waschgang kostet 1,80 EUR.", AMOUNT_STATED},
        {"german", AMOUNT_MONEY, "Die Gebühr beträgt 12 €.", AMOUNT_STATED},
        {"german", AMOUNT_MONEY, "Ersatzausweis | 4,00", AMOUNT_STATED},
        {"german", AMOUNT_OFTEN, "Den Filter zweiwöchentlich reinigen.", AMOUNT_STATED},
        {"german", AMOUNT_OFTEN, "Der Filter kommt nach jedem Gebrauch unter Wasser.",
         AMOUNT_STATED},
        {"german", AMOUNT_OFTEN, "Den Filter und das Sieb reinigen.", AMOUNT_NOT_STATED},
        {"french", AMOUNT_OFTEN, "Le filtre se nettoie chaque semaine.", AMOUNT_STATED},
        {"french", AMOUNT_OFTEN, "Nettoyer le filtre et le siphon.", AMOUNT_NOT_STATED},
        {"spanish", AMOUNT_OFTEN, "El filtro se limpia mensualmente.", AMOUNT_STATED},
        {"spanish", AMOUNT_OFTEN, "Limpiar el filtro con agua.", AMOUNT_NOT_STATED},
        {"italian", AMOUNT_OFTEN, "Filtro ogni settimana sotto l'acqua corrente", AMOUNT_STATED},
        {"italian", AMOUNT_OFTEN, "E2: Pulire il filtro e fare un lavaggio a 70 °C.",
         AMOUNT_NOT_STATED},
        {"portuguese", AMOUNT_OFTEN, "O filtro limpa-se duas vezes por mês.", AMOUNT_STATED},
        {"portuguese", AMOUNT_OFTEN, "Limpar o filtro com água.", AMOUNT_NOT_STATED},
        {"russian", AMOUNT_OFTEN, "Фильтр чистят каждый месяц.", AMOUNT_STATED},
        {"russian", AMOUNT_OFTEN, "Фильтр чистят водой.", AMOUNT_NOT_STATED},
        {"arabic", AMOUNT_MONEY, "رسم الدخول ٤٢٠ جنيهًا", AMOUNT_STATED},
        {"arabic", AMOUNT_MONEY, "الطباعة 25 قرشًا، والماء للجميع", AMOUNT_STATED},
        {"arabic", AMOUNT_MONEY, "الدخول مجانًا.", AMOUNT_STATED},
        {"arabic", AMOUNT_MONEY, "الأحد 4:30 م", AMOUNT_NOT_STATED},
        {"arabic", AMOUNT_LENGTH, "عمقه ٣ أمتار؟", AMOUNT_STATED},
        {"arabic", AMOUNT_LENGTH, "لا يدخل الأطفال دون العاشرة", AMOUNT_NOT_STATED},
        {"arabic", AMOUNT_TEMPERATURE, "الماء 28 درجة", AMOUNT_STATED},
        {"arabic", AMOUNT_TEMPERATURE, "4 دنانير في أيام الأسبوع", AMOUNT_NOT_STATED},
        {"arabic", AMOUNT_LONG, "كل أسبوعين", AMOUNT_STATED},
        {"arabic", AMOUNT_ANY, "في القاعة ٣٠ كرسيًّا", AMOUNT_STATED},
        {"arabic", AMOUNT_ANY, "في القاعة كراسٍ كثيرة", AMOUNT_NOT_STATED},
        {"german", AMOUNT_MONEY, "Kinder bis 15 Jahre zahlen nichts.", AMOUNT_STATED},
        {"german", AMOUNT_MONEY, "Danach werden 50 % fällig.", AMOUNT_STATED},
        {"german", AMOUNT_MONEY, "Der Ausweis kostet 7 pro Jahr.", AMOUNT_STATED},
        {"german", AMOUNT_MONEY, "Jugendliche | keine", AMOUNT_STATED},
        {"german", AMOUNT_MONEY,
         "Eine Packung enthält 10, 20 oder 50 Tabletten; 50 nur auf Rezept.", AMOUNT_NOT_STATED},
        {"german", AMOUNT_MONEY, "Die Kurtaxe ist nicht im Preis enthalten.", AMOUNT_NOT_STATED},
        {"german", AMOUNT_MONEY, "Eco | 0,83 kWh", AMOUNT_NOT_STATED},
        {"german", AMOUNT_LOUDNESS, "Samstags fährt der Bus um 9:15 Uhr.", AMOUNT_NOT_STATED},
        {"german", AMOUNT_LOUDNESS, "Geräusch: 44 dB(A)", AMOUNT_STATED},
        {"german", AMOUNT_WEIGHT, "etwa 1,2 kg Salz", AMOUNT_STATED},
        {"german", AMOUNT_WEIGHT, "Platz 4 um 9 Uhr", AMOUNT_NOT_STATED},
        {"german", AMOUNT_LENGTH, "60 cm", AMOUNT_STATED},
        {"german", AMOUNT_LENGTH, "60 EUR", AMOUNT_NOT_STATED},
        {"german", AMOUNT_LONG, "auf die Pumpe 5 Jahre", AMOUNT_STATED},
        {"german", AMOUNT_LONG, "auf die Pumpe", AMOUNT_NOT_STATED},
        {"german", AMOUNT_COUNT, "Die Wohnung hat vier Betten.", AMOUNT_STATED},
        {"german", AMOUNT_COUNT, "Stellplatz 6 im Hof, ab 16 Uhr.", AMOUNT_NOT_STATED},
        {"german", AMOUNT_COUNT, "Am 14. März 2025 um 9:30 Uhr.", AMOUNT_NOT_STATED},
        {"german", AMOUNT_COUNT, "Ein Bett kostet 12 € je Nacht.", AMOUNT_NOT_STATED},
        {"french", AMOUNT_MONEY, "Jeton de lavage: 2,50 euros", AMOUNT_STATED},
        {"french", AMOUNT_MONEY, "Les cours ont lieu le mercredi.", AMOUNT_NOT_STATED},
        {"french", AMOUNT_MONEY, "12-18, rue du Puits-Carré, 49300 Vauclaire", AMOUNT_NOT_STATED},
        {"french", AMOUNT_MONEY, "L'entrée est gratuite.", AMOUNT_STATED},
        {"french", AMOUNT_COUNT, "Le groupe compte au plus huit enfants.", AMOUNT_STATED},
        {"spanish", AMOUNT_MONEY, "tiene un 10 % de rebaja en la tasa de basuras",
         AMOUNT_NOT_STATED},
        {"spanish", AMOUNT_MONEY, "el segundo hermano paga un 20 % menos", AMOUNT_STATED},
        {"spanish", AMOUNT_MONEY, "El gorro es obligatorio para todos.", AMOUNT_NOT_STATED},
        {"spanish", AMOUNT_MONEY, "Cuesta 38 €.", AMOUNT_STATED},
        {"spanish", AMOUNT_MONEY, "Se entrega gratis en la oficina.", AMOUNT_PERHAPS},
        {"spanish", AMOUNT_COUNT, "la cama supletoria, 15 € por noche", AMOUNT_NOT_STATED},
        {"spanish", AMOUNT_COUNT, "## 4. Normas de uso", AMOUNT_NOT_STATED},
        {"spanish", AMOUNT_ANY, "## 4. Normas de uso", AMOUNT_NOT_STATED},
        {"german", AMOUNT_ANY, "Leuchtet die Anzeige E4, rufen Sie den Kundendienst.",
         AMOUNT_NOT_STATED},
        {"italian", AMOUNT_ANY, "Errore A01: manca il gas.", AMOUNT_NOT_STATED},
        {"italian", AMOUNT_ANY, "Errore A01: mancano 2 litri.", AMOUNT_STATED},
        {"italian", AMOUNT_ANY, "Lo sconto è del 10 %.", AMOUNT_STATED}, /* quanto è alto */
        {"italian", AMOUNT_ANY, "Il congedo dura dieci giorni.", AMOUNT_STATED},
        {"italian", AMOUNT_ANY, "Il voltaggio è basso.", AMOUNT_NOT_STATED},
        {"italian", AMOUNT_MONEY, "Il biglietto costa 3 euro.", AMOUNT_STATED},
        /* what is said in place of a price */
        {"german", AMOUNT_MONEY, "Der Parkplatz am Haus ist inklusive.", AMOUNT_STATED},
        {"german", AMOUNT_MONEY, "Das Zimmer hat inklusive Balkon 30 m².", AMOUNT_NOT_STATED},
        {"german", AMOUNT_MONEY, "Im Zimmerpreis ist das Frühstück enthalten.", AMOUNT_PERHAPS},
        {"french", AMOUNT_MONEY, "Le café est compris dans le prix de la chambre.", AMOUNT_PERHAPS},
        {"german", AMOUNT_MONEY, "Auf Anfrage verleihen wir Zelte.", AMOUNT_NOT_STATED},
        {"german", AMOUNT_MONEY, "Der Preis gilt auf Anfrage.", AMOUNT_STATED},
        {"german", AMOUNT_MONEY, "Der Eintritt ist frei.", AMOUNT_STATED},
        {"german", AMOUNT_MONEY, "Der Platz am Fenster ist frei.", AMOUNT_NOT_STATED},
        {"german", AMOUNT_MONEY, "Die Kosten übernimmt die Krankenkasse.", AMOUNT_STATED},
        {"german", AMOUNT_MONEY, "Die Leitung übernimmt Frau Adler.", AMOUNT_NOT_STATED},
        {"french", AMOUNT_MONEY, "Le petit-déjeuner est compris.", AMOUNT_STATED},
        {"french", AMOUNT_MONEY, "Le ménage n'est pas compris.", AMOUNT_NOT_STATED},
        {"spanish", AMOUNT_MONEY, "La ropa de cama está incluida en el precio.", AMOUNT_STATED},
        {"italian", AMOUNT_MONEY, "Il parcheggio è compreso nel prezzo.", AMOUNT_STATED},
        {"portuguese", AMOUNT_COUNT, "O bibe da sala dos 5, aos quadrados.", AMOUNT_NOT_STATED},
        {"portuguese", AMOUNT_COUNT, "A sala dos 5 rapazes.", AMOUNT_STATED},
        {"portuguese", AMOUNT_MONEY, "O lanche está incluído no preço.", AMOUNT_STATED},
        /* how many, without a figure */
        {"german", AMOUNT_COUNT, "Sie dürfen beliebig viele Bücher ausleihen.", AMOUNT_STATED},
        {"german", AMOUNT_COUNT, "Höchstens ein Koffer.", AMOUNT_STATED},
        {"german", AMOUNT_COUNT, "Ein Koffer steht im Flur.", AMOUNT_NOT_STATED},
        {"german", AMOUNT_COUNT, "2 kg Kartoffeln", AMOUNT_STATED},
        {"french", AMOUNT_ANY, "Autant de fois que vous voulez.", AMOUNT_STATED},
        {"french", AMOUNT_COUNT, "Une seule valise.", AMOUNT_STATED},
        {"french", AMOUNT_ANY, "Il faut être majeur.", AMOUNT_STATED},
        {"spanish", AMOUNT_COUNT, "tantos libros como quiera", AMOUNT_STATED},
        {"italian", AMOUNT_COUNT, "un numero illimitato di libri", AMOUNT_STATED},
        {"german", AMOUNT_LONG, "so lange Sie wollen, unbegrenzt", AMOUNT_STATED},
        {"portuguese", AMOUNT_MONEY, "O bilhete custa R$ 3.", AMOUNT_STATED},
        {"russian", AMOUNT_MONEY, "Уборка при выезде: 1 500 руб.", AMOUNT_STATED},
        {"russian", AMOUNT_MONEY, "Взрослые | 4 200 ₽", AMOUNT_STATED},
        {"russian", AMOUNT_MONEY, "Билет 150 р. в кассе", AMOUNT_STATED},
        {"russian", AMOUNT_MONEY, "Дети до 7 лет едут бесплатно.", AMOUNT_STATED},
        {"russian", AMOUNT_MONEY, "Батарейки принимает библиотека, с 9 до 18.", AMOUNT_NOT_STATED},
        {"russian", AMOUNT_COUNT, "В доме восемь окон.", AMOUNT_STATED},
        {"russian", AMOUNT_COUNT, "Ключ под залог 500 руб., с 9:00 до 18:00.", AMOUNT_NOT_STATED},
        {"russian", AMOUNT_COUNT, "Рейс № 3 по будням", AMOUNT_NOT_STATED},
        {"russian", AMOUNT_LONG, "раз в неделю", AMOUNT_STATED},
        {"russian", AMOUNT_LONG, "прочистить фильтр и шланг", AMOUNT_NOT_STATED},
        {"russian", AMOUNT_LENGTH, "глубина 1,8 м", AMOUNT_STATED},
        {"russian", AMOUNT_LENGTH, "Глубина указана на бортике.", AMOUNT_NOT_STATED},
        {"russian", AMOUNT_LOUDNESS, "уровень шума 44 дБ", AMOUNT_STATED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const enum amount_stated got =
            foreign_amount_in(language_number(cases[i].language), cases[i].amount, cases[i].text,
                              strlen(cases[i].text));
        if (got != cases[i].stated)
            fail_msg("%s: %d, not %d", cases[i].text, (int)got, (int)cases[i].stated);
    }
}

static void a_time_an_address_and_a_person_are_demanded(void **state) {
    (void)state;
    static const struct {
        const char *language, *question;
        enum demand_detail detail;
        const char *has, *lacks;
    } cases[] = {
        {"german", "Bis wann muss ich kündigen?", DETAIL_WHEN, "spätestens 30. September",
         "schriftlich beim Vorstand"},
        {"arabic", "متى يفتح المتحف؟", DETAIL_WHEN, "كل يوم أربعاء", "من باب الحديقة"},
        {"arabic", "متى يفتح المتحف؟", DETAIL_WHEN, "في 9 أيلول", "إعلان رقم 7/2025"},
        {"arabic", "في أي ساعة يبدأ العرض؟", DETAIL_CLOCK, "الساعة ٨:٣٠", "في القاعة الكبيرة"},
        {"arabic", "ما رقم هاتف الحارس؟", DETAIL_PHONE, "0550 001 482", "عند المدخل"},
        {"german", "Um wie viel Uhr beginnt es?", DETAIL_CLOCK, "jeweils um 9:30 Uhr",
         "im Gemeindehaus"},
        {"german", "Wie lautet die Telefonnummer?", DETAIL_PHONE, "Tel. 04121 55 01 73",
         "am Telefon"},
        {"german", "Wie ist die Nummer von Herrn Wulff?", DETAIL_PHONE, "0170 55 61 220",
         "Herr Wulff aus dem Erdgeschoss"},
        {"german", "Welche Nummer hat der Strandkorb?", DETAIL_NONE, "", ""},
        {"german", "Wie lautet die E-Mail-Adresse des Kassenwarts?", DETAIL_MAIL,
         "kasse@tc.example", "per E-Mail"},
        {"french", "Quelle est l'adresse e-mail du club ?", DETAIL_MAIL, "a@b.example", "par mail"},
        {"french", "Quel est le numéro de téléphone du gardien ?", DETAIL_PHONE, "02 41 00 57 12",
         "chez le gardien"},
        {"italian", "A che ora apre?", DETAIL_CLOCK, "alle 9.30", "in piazza"},
        {"german", "Wer leitet den Chor?", DETAIL_PERSON, "Leitung: Jonas Imhof",
         "Der Chor probt montags."},
        {"french", "Jusqu'à quand peut-on annuler ?", DETAIL_WHEN, "le jeudi à midi", "par écrit"},
        {"french", "À quelle heure commence la garderie ?", DETAIL_CLOCK, "7 h 30", "à la porte"},
        {"french", "quel numéro appeler en cas de panne", DETAIL_PHONE, "02 41 00 57 12",
         "le syndic"},
        {"spanish", "¿Cuándo es el concierto?", DETAIL_WHEN, "el 25 de abril", "en el teatro"},
        {"spanish", "CUANDO ES EL CONCIERTO", DETAIL_WHEN, "el sábado", "en el teatro"},
        {"spanish", "¿Cuál es el teléfono de la biblioteca?", DETAIL_PHONE, "900 010 417",
         "por teléfono o en la web"},
        {"spanish", "¿Cuál es el correo de la oficina?", DETAIL_MAIL, "info@x.example",
         "por correo"},
        {"spanish", "¿Quién dirige la banda?", DETAIL_PERSON, "la dirige Sonia Belda",
         "Los alumnos no pagan cuota (33 € al mes)."},
        {"italian", "Quando apre il museo?", DETAIL_WHEN, "dal lunedì", "in piazza"},
        {"portuguese", "Quando abre o museu?", DETAIL_WHEN, "às 9 horas", "na praça"},
        {"portuguese", "Quando ocorre a renovação?", DETAIL_WHEN, "ocorre, semestralmente,",
         "na UFMS"},
        {"portuguese", "Quando se lançam as notas?", DETAIL_WHEN, "após a liberação do plano",
         "no sistema"},
        {"portuguese", "Qual é a morada da Casa do Cais?", DETAIL_ADDRESS, "Rua do Cais, 12, Olhão",
         "Leiam este guia com calma."},
        {"portuguese", "Qual é o endereço da escola?", DETAIL_ADDRESS, "Travessa do Poço",
         "A escola tem um jardim."},
        {"portuguese", "Qual é o endereço IP do servidor?", DETAIL_NONE, "", ""},
        {"french", "Quelle est l'adresse du club ?", DETAIL_ADDRESS, "12 rue des Lilas",
         "Le club est ouvert."},
        {"french", "Quelle est l'adresse du club ?", DETAIL_ADDRESS, "au 8 square Victor Hugo",
         "Le club compte 45 membres de Lyon."},
        {"french", "Quelle est l'adresse du club ?", DETAIL_ADDRESS, "3 sente de la Marne",
         "9 heures de Paris"},
        {"french", "Quelle est l'adresse du club ?", DETAIL_ADDRESS, "route de Lyon",
         "au cours de la Fête"},
        {"spanish", "¿Cuál es la dirección de la biblioteca?", DETAIL_ADDRESS,
         "Carretera de Burgos, km 3", "La biblioteca tiene 30 mesas."},
        {"german", "Wann wird das Filter gereinigt?", DETAIL_WHEN, "vierteljährlich", "im Hof"},
        {"french", "Quand contrôle-t-on les freins ?", DETAIL_WHEN, "chaque printemps",
         "au garage"},
        {"russian", "Во сколько заезд?", DETAIL_CLOCK, "с 15:00", "у двери"},
        {"russian", "До скольки открыта касса?", DETAIL_CLOCK, "до 18 ч.", "на вокзале"},
        {"russian", "В какое время закрывают бассейн?", DETAIL_CLOCK, "в 21:30", "ключом"},
        {"russian", "Когда назначен субботник?", DETAIL_WHEN, "13 июня", "сбор у ворот"},
        {"russian", "В какой день вывозят бак?", DETAIL_WHEN, "по чт", "к воротам"},
        {"russian", "До какого числа платить?", DETAIL_WHEN, "до 10-го", "в банке"},
        {"russian", "Какой телефон у сантехника?", DETAIL_PHONE, "8-800-555-04-40", "по телефону"},
        {"russian", "куда звонить, если застрял лифт?", DETAIL_PHONE, "8 800 555 04 40",
         "звоните мастеру"},
        {"russian", "Какой телефон подходит для приложения?", DETAIL_NONE, "", ""},
        {"russian", "Кто ведёт кружок?", DETAIL_PERSON, "ведёт Антон Зуев", "по вторникам"},
        {"russian", "Когда идёт дождь, где проходит праздник?", DETAIL_NONE, "", ""},
        /* a role or a group is who, and an event or a case is when */
        {"german", "Wer ist von der Gebühr befreit?", DETAIL_NONE, "", ""},
        {"german", "Wer ist für die Reinigung der Halle verantwortlich?", DETAIL_NONE, "", ""},
        {"italian", "Come si chiama l'allenatore della squadra di scherma?", DETAIL_PERSON,
         "l'allenatore è Ugo Brandi", "La squadra di scherma entra con il certificato."},
        {"french", "Comment s'appelle la trésorière ?", DETAIL_PERSON, "avec Mathilde Aubrac",
         "La caisse est fermée."},
        {"italian", "Come si chiama il programma breve?", DETAIL_NONE, "", ""},
        {"german", "Wie heißt die Kassenwartin?", DETAIL_PERSON, "Frau Adler",
         "Sie führt die Kasse."},
        {"german", "Wer ist Kassenwart?", DETAIL_PERSON, "Frau Adler", "Er führt die Kasse."},
        {"german", "Wer leitet die Versammlung?", DETAIL_PERSON, "die Vorsitzende leitet sie",
         "Die Versammlung ist im Mai."},
        {"french", "Qui est responsable de la sortie des poubelles ?", DETAIL_NONE, "", ""},
        {"french", "Qui est exonéré de cotisation ?", DETAIL_NONE, "", ""},
        {"french", "Qui est la trésorière du club ?", DETAIL_PERSON, "avec Mathilde Aubrac",
         "La caisse est fermée."},
        {"spanish", "¿Quién es responsable de la limpieza?", DETAIL_NONE, "", ""},
        {"french", "Quand le casque est-il obligatoire ?", DETAIL_CASE,
         "pour tous les travaux en hauteur", "Le casque est rouge."},
        {"spanish", "¿Cuándo son obligatorios los guantes?", DETAIL_CASE, "para manejar lejía",
         "de goma"},
        {"german", "Wann probt der Chor?", DETAIL_WHEN, "montags", "bei Frau Adler, beim Verein"},
        {"spanish", "¿Cuándo ensaya la banda?", DETAIL_WHEN, "los lunes", "al lugar de costumbre"},
        {"german", "Wann bekomme ich die Kaution zurück?", DETAIL_WHEN,
         "bei Rückgabe der Schlüssel", "auf Ihr Konto"},
        {"spanish", "¿Cuándo se devuelve la fianza?", DETAIL_WHEN, "al entregar las llaves",
         "en efectivo"},
        /* things, not addresses and numbers */
        {"french", "Quel site accepte les déchets verts ?", DETAIL_NONE, "", ""},
        {"french", "Quel est votre site ?", DETAIL_WEB, "www.mairie.example", "sur le site"},
        {"french", "Quel téléphone est fourni aux gardiens ?", DETAIL_NONE, "", ""},
        {"spanish", "¿Qué móvil necesita la aplicación?", DETAIL_NONE, "", ""},
        {"german", "Welche E-Mail bekomme ich?", DETAIL_NONE, "", ""},
        {"german", "An welche E-Mail-Adresse schreibe ich?", DETAIL_MAIL, "a@b.example",
         "per Post"},
        {"spanish", "Cuando llueve, ¿dónde se celebra la fiesta?", DETAIL_NONE, "", ""},
        {"french", "Quand il pleut, où a lieu la fête ?", DETAIL_NONE, "", ""},
        {"french", "Quand a lieu la fête, et où ?", DETAIL_WHEN, "samedi", "sur la place"},
        /* "when" and "who" that join clauses; "wen" without an office */
        {"spanish", "se me apaga cuando llueve, ¿por qué?", DETAIL_NONE, "", ""},
        {"french", "où sont les fusibles quand le four saute", DETAIL_NONE, "", ""},
        {"german", "Wen rufe ich nachts an?", DETAIL_NONE, "", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const demands d = asked(cases[i].language, cases[i].question);
        if (d.detail != cases[i].detail) fail_msg("%s: %d", cases[i].question, (int)d.detail);
        if (!demands_detail_in(&d, cases[i].has, strlen(cases[i].has)))
            fail_msg("%s: %s", cases[i].question, cases[i].has);
        if (d.detail != DETAIL_NONE &&
            demands_detail_in(&d, cases[i].lacks, strlen(cases[i].lacks)))
            fail_msg("%s: %s", cases[i].question, cases[i].lacks);
    }
}

static void what_is_counted_is_found(void **state) {
    (void)state;
    static const struct {
        const char *language, *question, *counted;
    } cases[] = {
        {"german", "Wie viele Mannschaften hat der Club?", "Mannschaften"},
        {"german", "Und wie viele freie Plätze gibt es?", "Plätze"},
        {"french", "Combien de livres numériques y a-t-il ?", "livres"},
        {"spanish", "¿Cuántas camas hay?", "camas"},
        {"spanish", "¿Cuántas personas caben?", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const demands d = asked(cases[i].language, cases[i].question);
        const char *at = cases[i].counted ? strstr(cases[i].question, cases[i].counted) : NULL;
        assert_int_equal(d.counted, at ? (size_t)(at - cases[i].question) : 0);
    }
}

/* One is a number where it is of what is counted, in the middle of what is said. */
static void one_of_what_is_counted_is_stated(void **state) {
    (void)state;
    static const struct {
        const char *language, *question, *text;
        enum amount_stated stated;
    } cases[] = {
        {"german", "Wie viele Koffer darf ein Gast im Keller abstellen?",
         "Jeder Gast darf einen Koffer im Keller abstellen.", AMOUNT_STATED},
        {"german", "Wie viele Hunde sind pro Wohnung erlaubt?", "Erlaubt ist ein kleiner Hund.",
         AMOUNT_STATED},
        {"german", "Wie viele Bücher bekommt ein Kind?", "Jedes Kind bekommt ein Buch.",
         AMOUNT_STATED},
        {"german", "Wie viele Personen dürfen mit?", "Es darf eine Person mit.", AMOUNT_STATED},
        {"german", "Wie viele Betten hat das Zimmer?", "Ein Bett steht am Fenster.",
         AMOUNT_PERHAPS},
        {"german", "Wie viele Betten gibt es?", "Ein Bett kostet 12 € je Nacht.",
         AMOUNT_NOT_STATED},
        {"german", "Wie viele Betten gibt es?", "Sie zahlen für ein Bett 12 € je Nacht.",
         AMOUNT_PERHAPS},
        {"german", "Wie viele Betten hat das Zimmer?", "Das Zimmer hat einen Balkon.",
         AMOUNT_NOT_STATED},
        {"french", "Combien de valises peut-on prendre ?", "On peut prendre une valise.",
         AMOUNT_STATED},
        {"spanish", "¿Cuántas maletas se pueden llevar?", "Se puede llevar una maleta.",
         AMOUNT_STATED},
        {"italian", "Quante valigie si possono portare?", "Si può portare una valigia.",
         AMOUNT_STATED},
        {"russian", "Сколько участков в товариществе?", "Взнос с участка — 4,5 тысячи рублей.",
         AMOUNT_NOT_STATED},
        {"russian", "Сколько участков в товариществе?", "В товариществе 4 тысячи участков.",
         AMOUNT_STATED},
        {"french", "Combien d'habitants y a-t-il ?", "Le pont a coûté deux millions d'euros.",
         AMOUNT_NOT_STATED},
        {"german", "Wie viele Wohnungen hat das Haus?", "Das Haus kostet 2 Mio. Euro.",
         AMOUNT_NOT_STATED},
        {"russian", "Сколько квартир в доме?", "При протечке звоните: 112-40-40.",
         AMOUNT_NOT_STATED},
        {"french", "Combien d'appartements y a-t-il ?", "Le gardien répond au 06 12 45 78 90.",
         AMOUNT_NOT_STATED},
        {"french", "Combien d'arbres y a-t-il ?", "On compte 1 200 000 arbres.", AMOUNT_STATED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const demands d = asked(cases[i].language, cases[i].question);
        const enum amount_stated got =
            demands_amount_in(&d, d.amount, cases[i].text, strlen(cases[i].text));
        if (got != cases[i].stated) fail_msg("%s: %d", cases[i].text, (int)got);
    }
}

/* "Die" and "war" are no English words there, and "may" is no month of a French text. */
static void english_words_are_not_read_in_other_languages(void **state) {
    (void)state;
    const demands d = asked("german", "Was hat im August am Sonntag offen?");
    assert_int_equal(d.months, 0);
    assert_false(d.whether || d.place || d.reason || d.which);
    const demands swedish = asked("swedish", "Vad kostar biljetten?"); /* no lists */
    assert_int_equal(swedish.amount, AMOUNT_NONE);
}

static void any_bytes_are_taken(void **state) {
    (void)state;
    static const char *const languages[] = {"german",  "french",     "spanish",
                                            "italian", "portuguese", "russian"};
    char bytes[64];
    unsigned seed = 7;
    for (size_t round = 0; round < 20000; round++) {
        const size_t n = round % sizeof bytes;
        for (size_t i = 0; i < n; i++) {
            static const char signs[] = "wie viel 12,-\xC3\xA9 \xE2\x82\xAC|:.%\n\xF0\x9F\xFF'";
            seed = seed * 1103515245u + 12345u;
            bytes[i] = signs[(seed >> 16) % (sizeof signs - 1)];
        }
        char *tight = malloc(n + !n); /* a byte read behind it is the sanitizers' to find */
        memcpy(tight, bytes, n);
        const int language =
            language_number(languages[round % (sizeof languages / sizeof *languages)]);
        const demands d = demands_read(tight, n, language);
        (void)demands_amount_in(&d, (enum demand_amount)(round % (AMOUNT_COUNT + 1)), tight, n);
        for (int k = DETAIL_NONE; k <= DETAIL_LETTERS; k++)
            (void)foreign_detail_in(language, (enum demand_detail)k, tight, n);
        free(tight);
    }
}

static void a_question_about_english_texts_is_read_in_its_own_language(void **state) {
    (void)state;
    const char *q = "Wie viel kostet das Frühstück für ein Kind?";
    demands d = demands_read(q, strlen(q), -1);
    assert_int_equal(d.amount, AMOUNT_MONEY);
    const char *no = "Breakfast is served from seven to nine.", *yes = "Breakfast costs 8 euros.";
    assert_int_equal(demands_amount_in(&d, d.amount, no, strlen(no)), AMOUNT_NOT_STATED);
    assert_int_equal(demands_amount_in(&d, d.amount, yes, strlen(yes)), AMOUNT_STATED);
    q = "¿Cuál es el teléfono de la biblioteca?";
    d = demands_read(q, strlen(q), -1);
    assert_int_equal(d.detail, DETAIL_PHONE);
    assert_false(demands_detail_in(&d, no, strlen(no)));
    q = "How much does breakfast cost?";
    assert_int_not_equal(demands_read(q, strlen(q), -1).amount, AMOUNT_NONE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_amount_is_demanded_in_the_words_of_its_language),
        cmocka_unit_test(a_text_states_an_amount_of_the_kind_or_none),
        cmocka_unit_test(a_time_an_address_and_a_person_are_demanded),
        cmocka_unit_test(what_is_counted_is_found),
        cmocka_unit_test(one_of_what_is_counted_is_stated),
        cmocka_unit_test(english_words_are_not_read_in_other_languages),
        cmocka_unit_test(a_question_about_english_texts_is_read_in_its_own_language),
        cmocka_unit_test(any_bytes_are_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
