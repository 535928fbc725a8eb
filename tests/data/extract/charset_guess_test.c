/* Texts whose character set nobody declares: Cyrillic, Greek and Hebrew are found by their letters, and what is Western, or
 * of an alphabet that is not looked for, stays what it was. */
#include "tests/data/extract/extract_fixture.h"

#include <iconv.h>

#include "data/extract/charset_guess.h"

static const char russian[] =
    "Насос стоит в подвале рядом с баком для воды. Проверяйте давление каждую неделю и "
    "записывайте его в журнал. Если стрелка опускается ниже двух бар, закройте кран и позовите "
    "мастера. Ёлки убирают до конца января.";
static const char ukrainian[] =
    "Бібліотека працює щодня, крім понеділка, з дев'ятої до шостої години. Книжки можна взяти "
    "додому на два тижні. Якщо ви загубили квиток, зверніться до чергового на першому поверсі. Їжу "
    "приносити не можна.";
static const char bulgarian[] =
    "Помпата се намира в мазето до резервоара за вода. Проверявайте налягането всяка седмица и го "
    "записвайте в дневника. Ако стрелката падне под два бара, затворете крана и извикайте "
    "майстора.";
static const char greek[] =
    "Η αντλία βρίσκεται στο υπόγειο δίπλα στη δεξαμενή του νερού. Ελέγχετε την πίεση κάθε εβδομάδα "
    "και γράφετε την τιμή στο ημερολόγιο. Όταν ο δείκτης πέσει κάτω από δύο, κλείστε τη βάνα και "
    "καλέστε τον τεχνικό.";
static const char hebrew[] =
    "המשאבה נמצאת במרתף ליד מיכל המים. יש לבדוק את הלחץ בכל שבוע ולרשום אותו ביומן. אם המחט יורדת "
    "מתחת לשתיים, סגרו את הברז וקראו לטכנאי. הספרייה פתוחה בכל יום מלבד יום שבת.";

static size_t encode(const char *text, const char *charset, char *out, size_t cap) {
    iconv_t cd = iconv_open(charset, "UTF-8");
    assert_true(cd != (iconv_t)-1);
    char *in = (char *)text, *to = out;
    size_t left = strlen(text), room = cap;
    assert_int_equal(iconv(cd, &in, &left, &to, &room), 0);
    iconv_close(cd);
    return cap - room;
}

/* The text in this character set is taken as that one. */
static void expect_charset(const char *text, const char *charset, const char *taken_as) {
    char bytes[4096];
    size_t n = encode(text, charset, bytes, sizeof bytes);
    extracted x = read_as(bytes, n, "text/plain", NULL);
    assert_string_equal(x.encoding, taken_as);
    if (!strcmp(charset, taken_as)) assert_string_equal(x.text, text);
    extracted_deinit(&x);
}

static void letters_of_other_alphabets_are_found(void **state) {
    (void)state;
    expect_charset(russian, "windows-1251", "windows-1251");
    expect_charset(russian, "koi8-r", "koi8-r");
    expect_charset(ukrainian, "windows-1251", "windows-1251");
    expect_charset(ukrainian, "koi8-u", "koi8-u");
    expect_charset(bulgarian, "windows-1251", "windows-1251");
    expect_charset(greek, "windows-1253", "windows-1253");
    expect_charset(hebrew, "windows-1255", "windows-1255");
}

/* One sentence is enough, in capitals too, and between words of English. */
static void a_sentence_is_enough(void **state) {
    (void)state;
    static const char one[] = "Насос стоит в подвале рядом с баком для воды.",
                      capitals[] = "ПРОВЕРЯЙТЕ ДАВЛЕНИЕ КАЖДУЮ НЕДЕЛЮ И ЗАПИСЫВАЙТЕ ЕГО В ЖУРНАЛ.",
                      mixed[] = "The pump: /* Насос стоит в подвале рядом с баком. */ int pressure "
                                "= read_pressure(PUMP_CELLAR, 2); // Проверяйте каждую неделю";
    expect_charset(one, "windows-1251", "windows-1251");
    expect_charset(one, "koi8-r", "koi8-r");
    expect_charset(capitals, "windows-1251", "windows-1251");
    expect_charset(capitals, "koi8-r", "koi8-r");
    expect_charset(mixed, "windows-1251", "windows-1251");
    expect_charset("Насос", "windows-1251", "windows-1252");
}

static void western_texts_stay_what_they_are(void **state) {
    (void)state;
    static const struct {
        const char *text, *charset;
    } texts[] = {
        {"Die Öffnungszeiten ändern sich über die Feiertage: für größere Gruppen müssen Führungen "
         "früher gebucht werden. Äußere Türen schließt der Wärter um fünf.",
         "windows-1252"},
        {"L’été dernier, la pièce a été créée à Orléans. Où êtes-vous né ? Ça dépend des "
         "élèves, même s’ils sont fatigués ; l’œuvre reste à déchiffrer.",
         "windows-1252"},
        {"Båtarna på ön åker över älven även på våren. Färjan går åtta gånger om dagen, och på "
         "lördagar även på kvällen. Åå, så skönt.",
         "windows-1252"},
        {"Þjóðin bjó við þröngan kost. Þýðing bókarinnar er góð og það er ágætt að lesa hana á "
         "íslensku. Sjórinn er ókyrr í dag.",
         "windows-1252"},
        {"Hääyöaie ja öylätti. Tämä käyttöohje näyttää, että pöydällä päällä ei säilytetä mitään.",
         "windows-1252"},
        {"Święta zaczynają się już w piątek. Proszę przynieść łyżkę, książkę i źródło światła; "
         "żółte "
         "kartki są dla gości. Chrząszcz brzmi w trzcinie.",
         "windows-1250"},
        {"Příliš žluťoučký kůň úpěl ďábelské ódy. Všechny dveře se zavírají v šest hodin večer.",
         "windows-1250"},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        expect_charset(texts[i].text, texts[i].charset, "windows-1252");
}

/* They were wrong before, and are not taken for Russian now. */
static void other_scripts_are_not_taken_for_these(void **state) {
    (void)state;
    static const struct {
        const char *text, *charset;
    } texts[] = {
        {"المضخة في القبو بجانب خزان الماء. افحص الضغط كل أسبوع وسجله في الدفتر.", "windows-1256"},
        {"ปั๊มน้ำอยู่ในห้องใต้ดินข้างถังน้ำ ตรวจสอบแรงดันทุกสัปดาห์และจดบันทึกไว้ในสมุด", "tis-620"},
        {"水泵在地下室的水箱旁边。请每周检查压力并记录在日志中。", "gb18030"},
        {"ポンプは地下室の水タンクの横にあります。毎週圧力を確認してください。", "euc-jp"},
        {"펌프는 지하실의 물탱크 옆에 있습니다. 매주 압력을 확인하고 기록하십시오.", "euc-kr"},
        {"╔════════════════════╗\n║ ────────────────── ║\n╚════════════════════╝", "ibm437"},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char bytes[4096];
        size_t n = encode(texts[i].text, texts[i].charset, bytes, sizeof bytes);
        assert_null(charset_guess((const unsigned char *)bytes, n));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(letters_of_other_alphabets_are_found),
        cmocka_unit_test(a_sentence_is_enough),
        cmocka_unit_test(western_texts_stay_what_they_are),
        cmocka_unit_test(other_scripts_are_not_taken_for_these),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
