/* Which words of a document are its title, where it does not say: the heading before its text. */
#include "tests/data/extract/formats_here.h"

#include "kernels/buf.h"

static extracted read_as_type(const char *s, const char *type) {
    extracted x;
    fo_err err = {0};
    extract_request rq = {.bytes = s,
                          .n = strlen(s),
                          .content_type = type,
                          .max_text_bytes = LIMIT,
                          .formats = here,
                          .n_formats = n_here};
    assert_ok(extract_text(&x, &rq, &err), &err);
    return x;
}

/* A heading that stands behind text is that of a part: the last section of a timetable is not its title. */
static void a_heading_is_the_title_before_the_text_alone(void **state) {
    (void)state;
    static const char prose[] = "Buses leave the harbour every twenty minutes, on Sundays every "
                                "forty, and call at the airport on their way to the old mill.";
    static const struct {
        const char *type, *text, *title; /* %s: prose */
    } cases[] = {
        {"text/markdown", "~\n\n## Fares\n\nTwo pounds.\n", NULL},
        {"text/markdown", "~\n\n~\n\n# Fares\n\nTwo pounds.\n", NULL},
        {"text/markdown", "| a | b |\n|---|---|\n| 6:10 | 6:40 |\n\n# Fares\n\nTwo.\n", NULL},
        {"text/markdown", "[Home](/) > Buses\n\n12 March 2026\n\n## Line 7\n\n~\n", "Line 7"},
        {"text/markdown", "> This page moves soon.\n\n# Line 7\n\n~\n", "Line 7"},
        {"text/markdown", "### Harbour buses\n\n# Line 7\n\n~\n\n# Fares\n", "Line 7"},
        {"text/markdown", "## Line 7\n\n~\n\n~\n\n# Fares\n", "Line 7"},
        {"text/markdown", "<p align=center>badge</p>\n<h1>Line 7</h1>\n\n# Stops\n", "Line 7"},
        {"text/html", "<p>~</p><h2>Fares</h2><p>Two pounds.</p>", NULL},
        {"text/html", "<p>~</p><p>~</p><h1>Fares</h1><p>Two pounds.</p>", NULL},
        {"text/html", "<p>Home > Buses</p><h3>Harbour</h3><h1>Line 7</h1><p>~</p>", "Line 7"},
        {"text/html", "<title>Line 7</title><p>~</p><h1>Fares</h1>", "Line 7"},
        {"text/plain", "~\n~\n\nFares\n=====\n\nTwo pounds.\n", NULL},
        {"text/x-rst", "~\n~\n\nFares\n=====\n\nTwo pounds.\n", NULL},
        {"text/x-rst", "Line 7\n======\n\n~\n\nFares\n=====\n", "Line 7"},
        {"text/asciidoc", "~\n\n== Fares\n\nTwo pounds.\n", NULL},
        {"text/org", "~\n~\n\n* Fares\nTwo pounds.\n", NULL},
        {"text/x-tex", "~\n\n~\n\n\\section{Fares}\n\nTwo pounds.\n", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fo_buf b = {0};
        for (const char *c = cases[i].text; *c; c++)
            if (*c == '~')
                fo_buf_str(&b, prose);
            else
                fo_buf_char(&b, *c);
        extracted x = read_as_type(b.data, cases[i].type);
        const bool same = cases[i].title ? x.title && !strcmp(x.title, cases[i].title) : !x.title;
        if (!same) fail_msg("case %zu, %s: '%s'", i, x.format, x.title ? x.title : "");
        if (!cases[i].title) assert_non_null(strstr(x.text, "Fares"));
        extracted_deinit(&x);
        fo_buf_free(&b);
    }
}

/* A title in capitals that says what kind of document it is goes on with what that is about. */
static void a_title_in_capitals_has_its_subject(void **state) {
    (void)state;
    static const struct {
        const char *text, *title;
    } cases[] = {
        {"PACKAGE LEAFLET\n\nDolprex 300 mg tablets\n(fenaprofen)\n\nRead all of it.",
         "PACKAGE LEAFLET - Dolprex 300 mg tablets"},
        {"HOUSE RULES\n\nGarden Street 5\n\nDogs are kept on a lead.",
         "HOUSE RULES - Garden Street 5"},
        {"MINUTES\n\nPresent: Ann, Bob\n\nThe roof leaks.", "MINUTES"},
        {"NOTICE\n\nDear neighbours,\n\nThe roof leaks.", "NOTICE"},
        {"NOTICE\n\nThe roof leaks, and nobody may go below it\nuntil Monday.\n", "NOTICE"},
        {"PRICES\n\nName    Price\n\nTea     2", "PRICES"},
        {"House rules\n\nGarden Street 5\n\nDogs are kept on a lead.", "House rules"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        extracted x = read_as_type(cases[i].text, "text/plain");
        if (!x.title || strcmp(x.title, cases[i].title))
            fail_msg("case %zu: '%s'", i, x.title ? x.title : "");
        assert_string_equal(x.text, cases[i].text);
        extracted_deinit(&x);
    }
}

/* A first line of capitals right above a sentence is a title, and none of the sentence. */
static void capitals_right_above_the_text_are_a_title(void **state) {
    (void)state;
    static const struct {
        const char *text, *title;
    } cases[] = {
        {"LAVANTA 600 WASHING MACHINE - SHORT MANUAL\nKeep this booklet near the machine.\nIt "
         "helps.",
         "LAVANTA 600 WASHING MACHINE - SHORT MANUAL"},
        {"MIT LICENSE\nCopyright of the letters is held by nobody.", "MIT LICENSE"},
        {"NAME  AGE\nAnna is the oldest of them.", NULL},
        {"ACME GMBH\nHarbour Road 5\n12345 Berlin", NULL},
        {"WARNING: HOT.\nDo not touch the plate.", NULL},
        {"HOUSE OF CARDS\nAND OTHER GAMES\nThese are the rules of the house.", NULL},
        {"Lavanta 600\nKeep this booklet near the machine.", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        extracted x = read_as_type(cases[i].text, "text/plain");
        if (cases[i].title) {
            assert_string_equal(x.title, cases[i].title);
            assert_int_equal(x.blocks[0].kind, TEXT_HEADING);
            assert_int_equal(x.blocks[0].end, strlen(cases[i].title));
            assert_int_equal(x.blocks[1].kind, TEXT_PARAGRAPH);
        } else if (x.title) {
            fail_msg("case %zu: %s", i, x.title);
        }
        assert_string_equal(x.text, cases[i].text);
        extracted_deinit(&x);
    }
}

/* The first lines of contracts, minutes and rules, of any script: none of them is a sentence. */
static void the_lines_of_a_cover_are_a_title(void **state) {
    (void)state;
    static const struct {
        const char *text, *title;
    } cases[] = {
        {"GENERAL TERMS\nof Reed & Holt, shop for yarn\n(as of May 2025)\n\n1 Contract\n",
         "GENERAL TERMS of Reed & Holt, shop for yarn"},
        {"Клуб «Волна»\nПРОТОКОЛ № 7\nобщего собрания\n\nДата: 3 мая\n",
         "Клуб «Волна» - ПРОТОКОЛ № 7 общего собрания"},
        {"ПАМЯТКА ДЛЯ ГОСТЕЙ\nпос. Сосновый, ул. Береговая, д. 9\n\nДобро пожаловать!\n",
         "ПАМЯТКА ДЛЯ ГОСТЕЙ"},
        {"Правила клуба\n\nСобаки на поводке.\n", "Правила клуба"},
        /* rules of the residents; passed by the owners on 20 September 2025 */
        {"      小区居民公约\n   （业主委员会 2025 年 9 月 20 日表决通过）\n\n第一条\n",
         "小区居民公约"},
        {"ACME  -  WARRANTY CARD\nKeep this card together with the receipt.\n\nModel: 5\n",
         "ACME - WARRANTY CARD"},
        {"ACME GMBH\nHarbour Road\n12345 Berlin\n\nDear Sir or Madam,\n", NULL},
        {"This is a line of text that\ngoes on in the next one\n\nAnd here.\n", NULL},
        {"NAME   AGE\nAnna   12\n\nEnd.\n", NULL},
        {"我们的船\n在湖上。\n\n完\n", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        extracted x = read_as_type(cases[i].text, "text/plain");
        const bool same = cases[i].title ? x.title && !strcmp(x.title, cases[i].title) : !x.title;
        if (!same) fail_msg("case %zu: '%s'", i, x.title ? x.title : "");
        if (cases[i].title) assert_int_equal(x.blocks[0].kind, TEXT_HEADING);
        assert_string_equal(x.text, cases[i].text);
        extracted_deinit(&x);
    }
}

/* "=====" above and below it, or above it alone and a blank line below: what follows stands below this heading. */
static void drawn_lines_part_headings_from_text(void **state) {
    (void)state;
    static const char text[] = "ROWING CLUB\n\nMinutes of the board.\n\n"
                               "=====\nMeeting of 3 May, 18:00 to 20:00\n=====\n"
                               "Present: all members.\n\n"
                               "-----\n4 June\nThe boathouse opens again\n\nIt was wet.\n\n"
                               "-----\nEditor: the board\n\nPrinted by hand.\n\n"
                               "-----\nThis line goes on in\nthe next one and\nthat.\n";
    extracted x = read_as_type(text, "text/plain");
    const char *headings[] = {"ROWING CLUB", "=====\nMeeting of 3 May, 18:00 to 20:00\n=====",
                              "-----\n4 June\nThe boathouse opens again"};
    size_t n = 0;
    assert_string_equal(x.title, "ROWING CLUB");
    for (size_t i = 0; i < x.n_blocks; i++) {
        const text_block *b = &x.blocks[i];
        if (b->kind != TEXT_HEADING) continue;
        assert_true(n < 3);
        assert_int_equal(b->end - b->start, strlen(headings[n]));
        assert_memory_equal(x.text + b->start, headings[n], b->end - b->start);
        n++;
    }
    assert_int_equal(n, 3);
    extracted_deinit(&x);
}

/* Lines are drawn around the entries of a list and the names of columns, too; and no such line is a title itself. */
static void drawn_lines_part_other_things_too(void **state) {
    (void)state;
    static const struct {
        const char *text, *title;
    } cases[] = {
        {"-----\nBob Smith\nRoom 100\n-----\nAnn Jones\nRoom 200\n-----\n", NULL},
        {"-----\nBob Smith\nthe porter\n-----\nAnn Jones\nthe cook\n-----\n", NULL},
        {"-----\nBob Smith\nRoom 100\n-----\n\nThey work here.\n", NULL},
        {"=====\nANNUAL REPORT\nof May 2026\n=====\n\nIt was good.\n", "ANNUAL REPORT of May 2026"},
        {"=====\nMeeting of 3 May\n=====\nNobody came.\n\n=====\nMeeting of 4 May\n=====\n",
         "Meeting of 3 May"},
        {"=====\n\nAnnual report 2026\n\n=====\n\nIt was good.\n", "Annual report 2026"},
        {"=====\n=====\nReport of 3 May\n\nIt was good.\n", "Report of 3 May"},
        {"---------------\nName      Price\n---------------\nTea       2\nCoffee    3\n", NULL},
        {"---------------\nName      Price\n\nTea       2\nCoffee    3\n", NULL},
        {"Name      Price\n---------------\nTea       2\nCoffee    3\n", NULL},
        {"[09:02] Imke: ok\n\n[09:03] Bob: The pump is broken.\n", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        extracted x = read_as_type(cases[i].text, "text/plain");
        const bool same = cases[i].title ? x.title && !strcmp(x.title, cases[i].title) : !x.title;
        if (!same) fail_msg("case %zu: '%s'", i, x.title ? x.title : "");
        for (size_t k = 0; k < x.n_blocks && !cases[i].title; k++)
            assert_int_not_equal(x.blocks[k].kind, TEXT_HEADING);
        assert_string_equal(x.text, cases[i].text);
        extracted_deinit(&x);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_heading_is_the_title_before_the_text_alone),
        cmocka_unit_test(a_title_in_capitals_has_its_subject),
        cmocka_unit_test(capitals_right_above_the_text_are_a_title),
        cmocka_unit_test(drawn_lines_part_headings_from_text),
        cmocka_unit_test(the_lines_of_a_cover_are_a_title),
        cmocka_unit_test(drawn_lines_part_other_things_too),
    };
    return cmocka_run_group_tests(tests, formats_here, NULL);
}
