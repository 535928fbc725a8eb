/* Subtitles of SubStation Alpha: who says it, and what is drawn. */
#include "tests/data/extract/formats_here.h"

#define EVENTS(format, lines) "[Script Info]\n\n[Events]\nFormat: " format "\n" lines
#define COLUMNS               "Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text"
#define LINE(second, name, text)                                                                   \
    "Dialogue: 0,0:00:0" #second ".00,0:00:0" #second ".90,Default," name ",0,0,0,," text "\n"

static void who_says_it_is_told(void **state) {
    (void)state;
    read_one(EVENTS(COLUMNS, LINE(1, "Mary", "The ferry leaves") LINE(2, "Mary", "at eight.")
                                 LINE(3, "Tom ", "When?") LINE(4, "", "A bell rings.")
                                     LINE(5, "Tom", "Too late.") LINE(5, "Tom", "Too late.")),
             "subtitles",
             "Mary: The ferry leaves at eight.\n\nTom: When?\n\nA bell rings.\n\nTom: Too late.");
    read_one(EVENTS("Start, End, Text", "Dialogue: 0:00:01.00,0:00:02.00,Off, at last.\n"),
             "subtitles", "Off, at last.");
}

static void drawings_are_no_text(void **state) {
    (void)state;
    read_one(EVENTS(COLUMNS, LINE(1, "Sign", "{\\an7\\p1}m 0 0 l 100 0 100 20{\\p0}")
                                 LINE(2, "", "{\\pos(4,5)}Pier{\\p1}m 0 0 l 9 9{\\p0} A.")),
             "subtitles", "Pier A.");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_says_it_is_told),
        cmocka_unit_test(drawings_are_no_text),
    };
    return cmocka_run_group_tests(tests, formats_here, NULL);
}
