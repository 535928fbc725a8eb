/* Markdown: its marks, rows and lines with labels that stay lines, and front matter. */
#include "tests/data/extract/extract_fixture.h"

#include "kernels/buf.h"

static void markdown_becomes_readable_text(void **state) {
    (void)state;
    extracted x = read_string("# The *Pond*\n\nWater is [clear](http://x) &amp; cold\nin `May`.\n\n"
                              "- one\n- two\n  1. deep\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n"
                              "```c\nint  x;\n```\n\n<div>raw<br>html</div>\n",
                              "text/markdown", NULL);
    assert_string_equal(x.text, "The Pond\n\nWater is clear & cold in May.\n\n- one\n- two\n"
                                "  1. deep\n\na | b\n1 | 2\n\nint  x;\n\nraw\nhtml");
    assert_string_equal(x.title, "The Pond");
    assert_string_equal(x.format, "markdown");
    assert_int_equal(x.blocks[0].kind, TEXT_HEADING);
    assert_int_equal(x.blocks[0].level, 1);
    extracted_deinit(&x);
    x = read_string("---\ntitle: \"Front\"\nx: y\n---\n# Other\n\n```\nnever closed\n", NULL,
                    "a.md");
    assert_string_equal(x.title, "Front");
    assert_string_equal(x.text, "x: y\n\nOther\n\nnever closed");
    extracted_deinit(&x);
}

/* A title may go on in the lines below it. */
static void titles_of_several_lines_are_whole(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"---\ntitle: >-\n  Care of\n  ponds\nslug: y\n---\n# Other\n", "Care of ponds"},
        {"---\ntitle: |2+ \n\n  Care of\n\n  ponds\n  \n---\n# Other\n", "Care of ponds"},
        {"---\ntitle: \"Care of\n  ponds\"\nslug: y\n  z\n---\n# Other\n", "Care of ponds"},
        {"---\ntitle: > 5 ponds\n---\n# Other\n", "> 5 ponds"},
        {"---\ntitle: >-\nslug: y\n---\n# Other\n", "Other"},
        {"---\ntitle:\n  en: Ponds\n---\n# Other\n", "Other"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        extracted x = read_string(cases[i][0], "text/markdown", NULL);
        assert_string_equal(x.title, cases[i][1]);
        assert_string_equal(x.text, "Other");
        extracted_deinit(&x);
    }
}

/* A rule at the top of a text is followed by text; lines of keys alone are no text. */
static void a_rule_at_the_top_costs_no_text(void **state) {
    (void)state;
    static const struct {
        const char *markdown, *text;
    } cases[] = {
        {"---\n\n# Title\n\nFirst part\n\n---\n\nrest\n", "Title\n\nFirst part\n\nrest"},
        {"---\n\nFirst part\n\nSetext\n---\n\nrest\n", "First part\n\nSetext\n\nrest"},
        {"---\nWords: first,\nthen others\n\n---\nrest\n", "Words: first, then others\n\nrest"},
        {"---\n- one\n---\nrest\n", "- one\n\nrest"},
        {"---\nx: y\n----\nrest\n", "x: y\n\nrest"},
        {"---\n# of Hugo\ntitle: T\ntags:\n- a\n  - b\n\nlast change: 2024\n--- \nrest\n",
         "last change: 2024\n\nrest"},
        {"---\nx:\n...\nrest\n", "rest"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        extracted x = read_string(cases[i].markdown, "text/markdown", NULL);
        assert_string_equal(x.text, cases[i].text);
        extracted_deinit(&x);
    }
}

/* Columns that are set with blanks keep their lines and gaps; prose, and two lines that are alike by chance, flow. */
static void rows_of_markdown_that_blanks_part_stay_rows(void **state) {
    (void)state;
    static const struct {
        const char *markdown, *text;
    } cases[] = {
        {"Prices\nfor all:\nSeason    From      Night\nLow       01.11.    58 EUR  \nMiddle    "
         "01.04.    79 EUR\n"
         "*High*    15.06.    112 EUR\nNothing else is\nto pay.\n",
         "Prices for all:\nSeason    From      Night\nLow       01.11.    58 EUR\nMiddle    01.04. "
         "   79 EUR\n"
         "High    15.06.    112 EUR\nNothing else is to pay."},
        {"Hours\n           Gym    Pool\nSunday     7-9    10-12\nMonday     8-9    11-12\n  "
         "Tuesday  8-10   12-13\n",
         "Hours\n           Gym    Pool\nSunday     7-9    10-12\nMonday     8-9    11-12\n  "
         "Tuesday  8-10   12-13"},
        {"The boat left at nine.  It was cold.\nThe mate saw the land.  He was glad.\n"
         "The dog saw the gulls.  It was loud.\n",
         "The boat left at nine.  It was cold. The mate saw the land.  He was glad. "
         "The dog saw the gulls.  It was loud."},
        {"one   two\nsix   ten\n", "one   two six   ten"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        extracted x = read_string(cases[i].markdown, "text/markdown", NULL);
        assert_string_equal(x.text, cases[i].text);
        extracted_deinit(&x);
    }
}

/* Paragraphs that end without an empty line cost what those do that have one. */
static void many_short_paragraphs_take_time_by_their_length(void **state) {
    (void)state;
    static const struct {
        const char *unit;
        int n;
    } cases[] = {
        {"## Entry\nThe keeper wrote down how high the water stood, who came by boat and which of "
         "the gates was opened for them.\n",
         20000},
        {"# h\na\n", 100000},
        {"<A x={", 500000},
        {"> The keeper wrote down how high the water stood at the gate, and who came by.\n>\n",
         24000},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fo_buf b = {0};
        for (int k = 0; k < cases[i].n; k++) fo_buf_str(&b, cases[i].unit);
        assert_false(b.failed);
        doc_budget budget = {.cpu_ms = 20000}; /* a fortieth of it does, a fifth with a sanitizer */
        doc_budget_begin(&budget);
        extracted x = {0};
        fo_err err = {0};
        const extract_request rq = {.bytes = b.data,
                                    .n = b.len,
                                    .content_type = "text/markdown",
                                    .max_text_bytes = LIMIT,
                                    .budget = &budget};
        assert_ok(extract_text(&x, &rq, &err), &err);
        extracted_deinit(&x);
        fo_buf_free(&b);
    }
}

/* Lines of a paragraph that each say what they are about stay lines; two do by chance, and so does prose. */
static void lines_of_markdown_with_labels_stay_lines(void **state) {
    (void)state;
    static const struct {
        const char *markdown, *text;
    } cases[] = {
        {"Claims: 0345 1\nChanges: 0345 2\nComplaints: Mrs Vroom\n",
         "Claims: 0345 1\nChanges: 0345 2\nComplaints: Mrs Vroom"},
        {"Call us,\nday or night:\n**Claims:** 0345 1\n*Changes of plan*: [0345 2](tel:03452)  "
         "\nTel.: 0345 3\n"
         "We are there all day,\nand at night.\n\nAfter.\n",
         "Call us, day or night:\nClaims: 0345 1\nChanges of plan: 0345 2\nTel.: 0345 3\n"
         "We are there all day, and at night.\n\nAfter."},
        {"> Mon: 9\n> Tue: 10\n> Wed: 11 to twelve, unless there is a feast, on which\n> we are "
         "closed\n",
         "Mon: 9\nTue: 10\nWed: 11 to twelve, unless there is a feast, on which we are closed"},
        {"Claims: 0345 1\nChanges: 0345 2\n", "Claims: 0345 1 Changes: 0345 2"},
        {"Claims: 0345 1\nand others\nChanges: 0345 2\nComplaints: x\n",
         "Claims: 0345 1 and others Changes: 0345 2 Complaints: x"},
        {"He said, of all: no\nThis is what they all say: yes\nhttp://a.b: c\nNine, ten: d\n",
         "He said, of all: no This is what they all say: yes http://a.b: c Nine, ten: d"},
        {"A: b\nC: d\nE: f\n---\n", "A: b C: d E: f"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        extracted x = read_string(cases[i].markdown, "text/markdown", NULL);
        assert_string_equal(x.text, cases[i].text);
        extracted_deinit(&x);
    }
}

/* "**Is it free?**" on a line of its own above what answers it. */
static void a_question_in_bold_stands_before_its_answer(void **state) {
    (void)state;
    static const struct {
        const char *markdown, *text;
    } cases[] = {
        {"**Is it free?**\nFor children\nit is.\n\n**And food?**  \nThat is not.\n",
         "Is it free?\n\nFor children it is.\n\nAnd food?\n\nThat is not."},
        {"__Wo ist **es**?__\nHier.\n", "Wo ist es?\n\nHier."},
        {"**\xE5\x8F\xAF\xE4\xBB\xA5\xE5\x90\x97\xEF\xBC\x9F**\n\xE5\x8F\xAF\n",
         "\xE5\x8F\xAF\xE4\xBB\xA5\xE5\x90\x97\xEF\xBC\x9F\n\n\xE5\x8F\xAF"},
        {"**Is it free?** For children\nit is.\n", "Is it free? For children it is."},
        {"He asked: **is it free?**\nIt was.\n", "He asked: is it free? It was."},
        {"**Mind the step.**\nIt is high.\n", "Mind the step. It is high."},
        {"Is it **free?**\nIt is.\n", "Is it free? It is."},
        {"- **Is it free?**\n  It is.\n", "- Is it free? It is."},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        extracted x = read_string(cases[i].markdown, "text/markdown", NULL);
        assert_string_equal(x.text, cases[i].text);
        extracted_deinit(&x);
    }
}

/* What a text says of itself above its title is a record of it, and short values are fields of the document. */
static void front_matter_is_a_record(void **state) {
    (void)state;
    static const struct {
        const char *front, *record, *fields;
    } cases[] = {
        {"year: 2024\nteam: pumps\nauthor: Zebulon Pike\n",
         "year: 2024; team: pumps; author: Zebulon Pike",
         "{\"year\":2024,\"team\":\"pumps\",\"author\":\"Zebulon Pike\"}"},
        {"tags: [pumps, \"a, b\", 3]\nwho:\n- Ann\n- 'O''Neil' # since May\nsites:\n  - north\n\n  "
         "- south\n",
         "tags: pumps, a, b, 3; who: Ann, O'Neil; sites: north, south",
         "{\"tags\":[\"pumps\",\"a, "
         "b\",3],\"who\":[\"Ann\",\"O'Neil\"],\"sites\":[\"north\",\"south\"]}"},
        {"date: 2024-05-01 # first\nfinal: True\nno: 007\ntel: +49 30\nshare: -1.5\nversion: "
         "\"2.10\"\n",
         "date: 2024-05-01; final: True; no: 007; tel: +49 30; share: -1.5; version: 2.10",
         "{\"date\":\"2024-05-01\",\"final\":true,\"no\":\"007\",\"tel\":\"+49 "
         "30\",\"share\":-1.5,\"version\":\"2.10\"}"},
        {"about: >-\n  Care # of\n  ponds\nquote: \"say \\\"hi\\\"\"\nlink: http://a.b/#c\nlong: "
         "one\n  two\n",
         "about: Care # of ponds; quote: say \"hi\"; link: http://a.b/#c; long: one two",
         "{\"about\":\"Care # of ponds\",\"quote\":\"say \\\"hi\\\"\",\"link\":\"http://a.b/#c\","
         "\"long\":\"one two\"}"},
        /* What is nested, empty, a setting of a site or comes again. */
        {"Layout: post\nslug: x\na: {b: c}\nd:\n  e: f\ng:\n- h: i\nj: [[k]]\nl: *m\nn:\no: ~\np: "
         "1\np: 2\n",
         "p: 1", "{\"p\":1}"},
        /* Names that mean something else as metadata are in the text alone. */
        {"source: manual\na.b: 1\n", "source: manual; a.b: 1", NULL},
        {"tags: # none yet\n- a\n# more\n- b\n", "tags: a, b", "{\"tags\":[\"a\",\"b\"]}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char markdown[1024], text[1024];
        snprintf(markdown, sizeof markdown, "---\n%s---\n## Pump\n\nIt pumps.\n", cases[i].front);
        snprintf(text, sizeof text, "%s\n\nPump\n\nIt pumps.", cases[i].record);
        extracted x = read_string(markdown, "text/markdown", NULL);
        assert_string_equal(x.text, text);
        assert_string_equal(x.title, "Pump");
        if (cases[i].fields)
            assert_string_equal(x.fields, cases[i].fields);
        else
            assert_null(x.fields);
        extracted_deinit(&x);
    }
}

/* The same between lines of plus signs, as TOML. */
static void front_matter_may_be_toml(void **state) {
    (void)state;
    extracted x = read_string(
        "+++\ntitle = \"The north pump\" # of two\ndate = 2024-05-01T10:00:00Z\ndraft = false\n"
        "tags = [\"pumps\", 'a, b', 3]\n\n# who\nwho = [\n  \"Ann # 1\", # since May\n  "
        "'O\\Neil',\n"
        "]\n  year=2024\nshare = -1.5\nfinal = true\nquote = \"say \\\"hi\\\"\"\n"
        "about = \"\"\"\nCare \\\n  of\nponds\"\"\"\nat = {x = 1, y = [2]}\nnested = [[1], "
        "[2]]\nnone = []\n"
        "year = 2023\n[params]\nauthor = \"Zoe\"\n[[menu]]\nname = \"main\"\n+++\nIt pumps.\n",
        "text/markdown", NULL);
    assert_string_equal(x.title, "The north pump");
    assert_string_equal(x.text,
                        "date: 2024-05-01T10:00:00Z; tags: pumps, a, b, 3; who: Ann # 1, O\\Neil; "
                        "year: 2024; share: "
                        "-1.5; final: true; quote: say \"hi\"; about: Care of ponds\n\nIt pumps.");
    assert_string_equal(
        x.fields,
        "{\"date\":\"2024-05-01T10:00:00Z\",\"tags\":[\"pumps\",\"a, b\",3],\"who\":[\"Ann # 1\","
        "\"O\\\\Neil\"],\"year\":2024,\"share\":-1.5,\"final\":true,\"quote\":\"say "
        "\\\"hi\\\"\",\"about\":\"Care of ponds\"}");
    extracted_deinit(&x);
    x = read_string("+++\ntitle = '''Pump'''\n+++\n\n# Care\n\nIt pumps.\n", "text/markdown", NULL);
    assert_string_equal(x.title, "Pump");
    assert_string_equal(x.text, "Care\n\nIt pumps.");
    extracted_deinit(&x);
    /* What is none is text. */
    static const char *const texts[] = {"+++\nIt pumps.\n+++\nOn.\n",
                                        "+++\na = 1\nOn.\n",
                                        "+++\na = [1,\n+++\nOn.\n",
                                        "+++\na =\n+++\nOn.\n",
                                        "+++\n+++\nOn.\n",
                                        "+++\na = \"\"\"x\n",
                                        "+++\n",
                                        "+++\nx ="};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        x = read_string(texts[i], "text/markdown", NULL);
        assert_non_null(strstr(x.text, "+++"));
        assert_null(x.fields);
        extracted_deinit(&x);
    }
}

/* Names without bound cost no work without bound, and a table below keeps its own header. */
static void long_front_matter_is_bounded(void **state) {
    (void)state;
    fo_buf b = {0};
    fo_buf_str(&b, "---\n");
    for (int i = 0; i < 4000; i++) fo_buf_printf(&b, "k%d: %d\n", i, i);
    fo_buf_str(&b, "---\n| a | b |\n|---|---|\n| x | 2 |\n");
    extracted x = read_string(b.data, "text/markdown", NULL);
    assert_non_null(strstr(x.text, "k255: 255\n\na | b\n"));
    assert_non_null(strstr(x.fields, "\"k63\":63}"));
    extracted_deinit(&x);
    fo_buf_free(&b);
}

/* Pages of components (MDX): what a reader sees of them is text. */
static void what_components_say_is_text(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"import Tabs from '@theme/Tabs';\n\n# Cameras {#cameras-1}\n\n"
         "<FaqItem id=\"no\" question=\"No frames received?\">\n\nOpen <NavPath path=\"Settings > "
         "Logs\" /> first.\n\n</FaqItem>\n\n<FaqItem id=\"b\" question={'Why is it \"slow\"?'}>\n\n"
         "Look.\n\n</FaqItem>\n",
         "Cameras\n\nNo frames received?\n\nOpen Settings > Logs first.\n\nWhy is it \"slow\"?\n\n"
         "Look."},
        {"<Tabs>\n<TabItem value=\"y\" label=\"In YAML\">\n\nSet it.\n\n</TabItem>\n</Tabs>\n",
         "In YAML\n\nSet it."},
        {"<Note\n  title={<>Use <b>gloves</b></>}\n  closed\n>\n\nIt is hot.\n\n</Note>\n",
         "Use gloves\n\nIt is hot."},
        {"<Ask question={\"Is it \\\"on\\\"?\"}>\n\nYes.\n\n</Ask>\n", "Is it \"on\"?\n\nYes."},
        /* code is none, nor what has no text, nor what ends nowhere */
        {"Write `<Nav path=\"x\" />` so:\n\n```mdx\nimport A from 'a';\n<Nav path=\"y\" />\n```\n\n"
         "Import rules, too.\n\nimport sites from the list\n",
         "Write <Nav path=\"x\" /> so:\n\nimport A from 'a';\n<Nav path=\"y\" />\n\n"
         "Import rules, too.\n\nimport sites from the list"},
        {"\nimport A from 'a'\nimport B from \"b\";\n\nimport C from 'c'\n\nWrite it:\n\nimport "
         "Foo from 'foo'\n\n<Foo />\n",
         "Write it:\n\nimport Foo from 'foo'"},
        {"## Sets {1, 2}\n\nA <Tag title=\"never\n\nends.\n",
         "Sets {1, 2}\n\nA <Tag title=\"never\n\nends."},
        {"<Note title={`a ${b({c: {d: {}}})}`}>\n\nA.\n\n</Note>\n\n<A x={ <Nav path={\"Logs\"} "
         "/>\n",
         "a ${b({c: {d: {}}})}\n\nA.\n\n<A x={ Logs"},
        /* braces within each other are looked through to a bounded depth, so that a tag is not read to 4 KB for nothing */
        {"A <B c={{{{{{{{{{{{{{{{1}}}}}}}}}}}}}}}} title=\"16\" />, <B "
         "c={{{{{{{{{{{{{{{{{1}}}}}}}}}}}}}}}}} title=\"17\" />\n",
         "A 16,"},
        /* words do not run into each other */
        {"<Step title=\"Install\">Run the installer.</Step>\n", "Install: Run the installer."},
        {"<Card title=\"Linux\" /><Card title=\"Windows\" />\n", "Linux Windows"},
        {"Open<Nav path=\"Logs\" />, **<Nav path=\"Users\" />** or <Nav path=\"A\" />now\n",
         "Open Logs, Users or A now"},
        {"* item\n  <Note title=\"Careful\">Hot surface.</Note>\n", "- item Careful: Hot surface."},
        /* nor are they code where they are indented */
        {"<Faq>\n    <FaqItem question=\"No frames?\">\n        Look at the **camera**.\n\n"
         "        ```sh\n        ls\n          -l\n        ```\n    </FaqItem>\n"
         "    <FaqItem question=\"No sound?\">\n        Sing.\n    </FaqItem>\n</Faq>\nDone.\n",
         "No frames?\n\nLook at the camera.\n\nls\n  -l\n\nNo sound?\n\nSing.\n\nDone."},
        {"<Tabs>\n<TabItem value=\"a\" label=\"Docker\">\n\n  Use this file:\n\n"
         "```yaml\nservices:\n  web:\n    image: x\n```\n\n</TabItem>\n</Tabs>\n",
         "Docker\n\nUse this file:\n\nservices:\n  web:\n    image: x"},
        {"Write:\n\n    <Nav path=\"y\" />\n\n    <Panel>\n      <Nav path=\"z\" />\n    "
         "</Panel>\n\n"
         "so.\n",
         "Write:\n\n<Nav path=\"y\" />\n\n<Panel>\n  <Nav path=\"z\" />\n</Panel>\n\nso."},
        {"```foo``` is how inline code looks.\n\n<Nav path=\"y\" />\n",
         "foo is how inline code looks.\n\ny"},
        {"Write \\<Panel title=\"Left\">.\n", "Write <Panel title=\"Left\">."},
        {"<pre>\nuse:\nimport A from 'a';\n</pre>\n\n<Nav path=\"y\" />\n",
         "\nuse:\nimport A from 'a';\n\ny"},
        {"Replace it by:\n\n<Name>\n\nThen\n\n    $ tool <Step title=\"x\">\n",
         "Replace it by:\n\nThen\n\n$ tool <Step title=\"x\">"},
        {"<Name>\n\n- `<Name>ok</Name>`, a Name: <Name>it</Name>\n\nThen\n\n    $ tool <Step "
         "title=\"x\">\n",
         "- <Name>ok</Name>, a Name: it\n\nThen\n\n$ tool <Step title=\"x\">"},
        {"<Note>\n    Use **gloves**.</Note>\n", "Use gloves."},
        /* nor do they end the item of a list that they are in */
        {"1. Step one\n\n    <Note>\n    Text of the **note**.\n    </Note>\n\n    More about "
         "[step one](https://example.org/x), see **here**.\n\n2. Step two\n",
         "1. Step one\nText of the note.\nMore about step one, see here.\n2. Step two"},
        {"- One\n\n  <Tabs>\n    <TabItem label=\"Docker\">\n      Use **it**:\n\n      ```yaml\n  "
         "    a:\n        b: c\n      ```\n    </TabItem>\n  </Tabs>\n\n  More **here**.\n\n- "
         "Two\n",
         "- One\nDocker\nUse it:\n\na:\n  b: c\n\nMore here.\n- Two"},
        {"So:\n\n<Steps>\n  1. Do **it**.\n\n     <Note title=\"Hot\">\n       Use **gloves**.\n   "
         "  "
         "</Note>\n\n     Rest.\n  2. Go.\n</Steps>\n\n<Note>\n    No **item**.\n</Note>\n",
         "So:\n\n1. Do it.\nHot\nUse gloves.\nRest.\n2. Go.\n\nNo item."},
        /* names of headings */
        {"## {#key}\n\nIt.\n", "{#key}\n\nIt."},
        {"## Advanced {#advanced_compose data-toc-label=\"Advanced\"}\n\n## More { #more "
         "}\n\nIt.\n",
         "Advanced\n\nMore\n\nIt."},
        {"## Loops {#each items as item}\n\n## Words {#words .wide title=\"All of them\"}\n\nIt.\n",
         "Loops {#each items as item}\n\nWords\n\nIt."},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        extracted x = read_string(cases[i][0], "text/markdown", NULL);
        assert_string_equal(x.text, cases[i][1]);
        if (i == 0) assert_int_equal(x.blocks[1].kind, TEXT_HEADING);
        extracted_deinit(&x);
    }
}

/* Definitions below headings and boxes ("!!! note") as MkDocs has them: their indented paragraphs are text. */
static void what_definitions_and_boxes_hold_is_text(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"#### [`LANG=<lang>`](#LANG) {#LANG}\n\n: Customize the language of\ndocuments.\n\n"
         "    See the [list](https://a.b/c).\n\n    Defaults to **eng**.\n\n        code\n\n"
         "    !!! note\n\n        Use `chi_sim`.\n\n#### Next\n\n: It.\n\nText.\n\n    code 2\n",
         "LANG=<lang>\n\nCustomize the language of documents.\n\nSee the list.\n\nDefaults to "
         "eng.\n\n"
         "code\n\nUse chi_sim.\n\nNext\n\nIt.\n\nText.\n\ncode 2"},
        {"Bin\n: Nappies.\n\n    And **litter**.\n", "Bin: Nappies.\n\nAnd litter."},
        {"!!! warning \"Hot\"\n    Use **gloves**.\n\n=== \"Linux\"\n\n    ```sh\n    ls\n      "
         "-l\n    ```\n"
         "\nEnd\n",
         "Hot\n\nUse gloves.\n\nLinux\n\nls\n  -l\n\nEnd"},
        {"1. Do it.\n\n    ??? tip\n\n        With **care**.\n\n    Then rest.\n",
         "1. Do it.\nWith care.\nThen rest."},
        /* which a fence further left ends, and so keeps its indents */
        {"!!! note\n    Be careful.\n\n```yaml\nserver:\n    port: 80\n    tls:\n        on: "
         "true\n```\n",
         "Be careful.\n\nserver:\n    port: 80\n    tls:\n        on: true"},
        {"Pump\n: It drains.\n```\na\n    b\n```\n", "Pump: It drains.\n\na\n    b"},
        /* indented with tabs, too */
        {"!!! note\n\n\tUse **gloves**.\n\n\t??? tip\n\t\tOr not.\n\n  \tAnd\n\n\t\tcode\n",
         "Use gloves.\n\nOr not.\n\nAnd\n\ncode"},
        {"Pump\n:\tIt drains.\n\n\tInto a *bin*.\n\n\t```\n\t\ta\n\t```\n",
         "Pump: It drains.\n\nInto a bin.\n\n    a"},
        {"-\tDo it.\n\n\t??? tip\n\n\t\tWith **care**.\n", "- Do it.\nWith care."},
        /* which an item further left ends, and so keeps those below it */
        {"Apple\n: A fruit.\n- red\n    - dark red\n    - light red\n- green\n",
         "Apple: A fruit.\n\n- red\n  - dark red\n  - light red\n- green"},
        {"!!! note\n    Wear:\n    - gloves\n        - thick\n1. Do it.\n    - now\n",
         "Wear:\n\n- gloves\n  - thick\n1. Do it.\n  - now"},
        /* without a title the kind is one, where it tells something */
        {"Now:\n!!! deprecated\n    The old **pump**.\n\n??? danger inline end\n\n    Hot.\n",
         "Now:\n\nDeprecated\n\nThe old pump.\n\nDanger\n\nHot."},
        {"!!! warning \"\"\n    Hot.\n\n!!! info inline\n    Cold.\n\n!!! Hint\n    Warm.\n",
         "Hot.\n\nCold.\n\nWarm."},
        /* what only looks like it */
        {"```\n!!! note\n\n    x\n```\n\nThree!!! marks\n\n    a: b\n",
         "!!! note\n\n    x\n\nThree!!! marks\n\na: b"},
        {"!!! DO NOT RUN THIS ON A LIVE SERVER\n\nIt wipes it.\n",
         "!!! DO NOT RUN THIS ON A LIVE SERVER\n\nIt wipes it."},
        {"??? nobody knows why yet", "??? nobody knows why yet"},
        {"Wow\n!!! this is great\nand more.\n", "Wow !!! this is great and more."},
        {"1. Do it.\n\n    !!! now\n\n    Then rest.\n", "1. Do it.\n!!! now\nThen rest."},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        extracted x = read_string(cases[i][0], "text/markdown", NULL);
        assert_string_equal(x.text, cases[i][1]);
        extracted_deinit(&x);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(markdown_becomes_readable_text),
        cmocka_unit_test(rows_of_markdown_that_blanks_part_stay_rows),
        cmocka_unit_test(many_short_paragraphs_take_time_by_their_length),
        cmocka_unit_test(titles_of_several_lines_are_whole),
        cmocka_unit_test(a_rule_at_the_top_costs_no_text),
        cmocka_unit_test(lines_of_markdown_with_labels_stay_lines),
        cmocka_unit_test(a_question_in_bold_stands_before_its_answer),
        cmocka_unit_test(front_matter_is_a_record),
        cmocka_unit_test(front_matter_may_be_toml),
        cmocka_unit_test(long_front_matter_is_bounded),
        cmocka_unit_test(what_components_say_is_text),
        cmocka_unit_test(what_definitions_and_boxes_hold_is_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
