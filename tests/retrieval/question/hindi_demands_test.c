/* hindi_demands.c and hindi_tokens.c through demands.h: what a question in Hindi demands, and which texts state it. */
#include "tests/test.h"

#include <string.h>

#include "index/sparse/language.h"
#include "retrieval/question/demands.h"

static demands asked(const char *question) {
    return demands_read(question, strlen(question), language_number("hindi"));
}

static void an_amount_or_a_detail_is_demanded_in_its_words(void **state) {
    (void)state;
    static const struct {
        const char *question;
        enum demand_amount amount;
        enum demand_detail detail;
    } cases[] = {
        {"हॉल का शुल्क कितना है?", AMOUNT_MONEY, DETAIL_NONE},
        {"फ़िल्टर की क़ीमत क्या है?", AMOUNT_MONEY, DETAIL_NONE},
        {"जूते कितने में मिलते हैं?", AMOUNT_MONEY, DETAIL_NONE},
        {"कितने पैसे लगेंगे?", AMOUNT_MONEY, DETAIL_NONE},
        {"क्लब में कितने कोर्ट हैं?", AMOUNT_COUNT, DETAIL_NONE},
        {"कक्षा में कितने बच्चे हैं?", AMOUNT_ANY, DETAIL_NONE}, /* or pupils */
        {"बोनस कितने प्रतिशत मिलता है?", AMOUNT_SHARE, DETAIL_NONE},
        {"कितने दिन की छुट्टी मिलती है?", AMOUNT_LONG, DETAIL_NONE},
        {"नोटिस अवधि कितनी है?", AMOUNT_LONG, DETAIL_NONE},
        {"गाँव की दूरी कितने किलोमीटर है?", AMOUNT_LENGTH, DETAIL_NONE},
        {"वाई-फ़ाई कितनी स्पीड का है?", AMOUNT_ANY, DETAIL_NONE},
        {"कितना पानी चाहिए?", AMOUNT_ANY, DETAIL_NONE},
        {"दुकान कितने बजे खुलती है?", AMOUNT_NONE, DETAIL_CLOCK},
        {"वेतन कब मिलता है?", AMOUNT_NONE, DETAIL_WHEN},
        {"बैठक किस तारीख को है?", AMOUNT_NONE, DETAIL_WHEN},
        {"कक्षा कौन-से दिन होती है?", AMOUNT_NONE, DETAIL_WHEN},
        {"प्लंबर का मोबाइल नंबर क्या है?", AMOUNT_NONE, DETAIL_PHONE},
        {"यूनिफ़ॉर्म का रंग क्या है?", AMOUNT_NONE, DETAIL_COLOUR},
        {"लाल बत्ती का क्या अर्थ है?", AMOUNT_NONE, DETAIL_NONE},
        {"चाबी कौन देता है?", AMOUNT_NONE, DETAIL_NONE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const demands d = asked(cases[i].question);
        if (d.amount != cases[i].amount || d.detail != cases[i].detail)
            fail_msg("%s: %d, %d", cases[i].question, (int)d.amount, (int)d.detail);
    }
}

static void what_states_it_is_known_by_its_words(void **state) {
    (void)state;
    static const struct {
        const char *question, *text;
        bool stated;
    } cases[] = {
        {"शुल्क कितना है?", "शुल्क 500 रु. प्रति माह है।", true},
        {"शुल्क कितना है?", "शुल्क ₹५०० है।", true},
        {"शुल्क कितना है?", "वरिष्ठ नागरिकों के लिए निःशुल्क।", true},
        {"शुल्क कितना है?", "शुल्क 7 तारीख तक जमा करें।", false},
        {"किराया कितना है?", "मार्ग 12, समय-सारणी एवं किराया, 1 जुलाई 2026 से", false},
        {"कितनी रकम मंज़ूर हुई?", "अधिकतम रु. १५,००० स्वीकृत हुए।", true},
        {"4 BHK का शुल्क कितना है?", "शुल्क 2 BHK के लिए 800 रु. और 3 BHK के लिए 900 रु. है।", false},
        {"3 BHK का शुल्क कितना है?", "शुल्क 2 BHK के लिए 800 रु. और 3 BHK के लिए 900 रु. है।", true},
        {"4 BHK का शुल्क कितना है?", "शुल्क 900 रु. है।", true},
        {"शुल्क कितना है?", "1. रख-रखाव शुल्क", false},
        {"शुल्क कितना है?", "शुल्क एकमुश्त देने पर 5 प्रतिशत की छूट है।", false},
        {"कितनी छूट है?", "शुल्क एकमुश्त देने पर 5 प्रतिशत की छूट है।", true},
        {"जुर्माना कितना है?", "जुर्माना किराए का दस गुना है।", true},
        {"किराया कितना है?", "किराया 40 है।", true},
        {"शुल्क कितना है?", "शुल्क काउंटर पर जमा करें।", false},
        {"कितने कोर्ट हैं?", "क्लब में 4 कोर्ट हैं।", true},
        {"कितने कोर्ट हैं?", "क्लब में चार कोर्ट हैं।", true},
        {"कितने कोर्ट हैं?", "एक सदस्य 2 स्लॉट ले सकता है।", false},
        {"कितने कोर्ट हैं?", "रैकेट ₹40 में मिलता है।", false},
        {"कितने प्रतिशत मिलता है?", "बोनस अक्टूबर में मिलता है।", false},
        {"कितने प्रतिशत मिलता है?", "बोनस 8 फ़ीसदी है।", true},
        {"कितनी स्पीड का है?", "यह घर 6 लोगों के लिए है।", false},
        {"कितनी स्पीड का है?", "वाई-फ़ाई 50 Mbps का है।", true},
        {"दूरी कितने किलोमीटर है?", "कोटला 12 किमी दूर है।", true},
        {"दूरी कितने किलोमीटर है?", "किराया 12 रु. है।", false},
        {"कितने बजे खुलती है?", "दुकान सुबह ९ बजे खुलती है।", true},
        {"कितने बजे खुलती है?", "दुकान चौक पर है।", false},
        {"मोबाइल नंबर क्या है?", "प्लंबर: रामदीन, फ़्लैट 004, इंटरकॉम 101", false},
        {"मोबाइल नंबर क्या है?", "प्लंबर: 98765 43210", true},
        {"फ़ोन नंबर क्या है?", "इंटरकॉम 101", true},
        {"रंग क्या है?", "दीवार नीली है।", true},
        {"रंग क्या है?", "यूनिफ़ॉर्म दुकान से लें।", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const demands d = asked(cases[i].question);
        const char *text = cases[i].text;
        const bool stated = demands_amount_in(&d, d.amount, text, strlen(text)) == AMOUNT_STATED &&
                            demands_detail_in(&d, text, strlen(text));
        if (stated != cases[i].stated) fail_msg("%s %s", cases[i].question, text);
    }
}

static void a_column_says_what_its_numbers_are(void **state) {
    (void)state;
    const demands way = asked("दूरी कितने किलोमीटर है?"), fee = asked("शुल्क कितना है?");
    assert_true(demands_amount_column_in(&way, "दूरी", strlen("दूरी")));
    assert_false(demands_amount_column_in(&way, "किराया", strlen("किराया")));
    assert_true(demands_amount_column_in(&fee, "मासिक", strlen("मासिक")));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_amount_or_a_detail_is_demanded_in_its_words),
        cmocka_unit_test(what_states_it_is_known_by_its_words),
        cmocka_unit_test(a_column_says_what_its_numbers_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
